//! What every text needs that runs on a database: a connection to it, bounds, and the words for what fails.

use super::host::{Kill, StatementHost};
use crate::command::{CommandError, Context};
use crate::data::{DataError, sqldb};
use crate::engine::EngineError;
use crate::limits::{SQL_VALUE_FIRST_MAX_BYTES, SQL_VALUE_MAX_BYTES};
use crate::server::sql::Lease;
use crate::sql::{Access, Rows, SqlError, SqlLimits};

/// What takes the rows of a text, with a bound.
pub(super) trait Gathers: Rows {
    /// Whether it ended the text because it has no room for more.
    fn is_full(&self) -> bool {
        false
    }

    /// The number of rows that it may have, if it ended the text because there are more.
    fn too_many(&self) -> Option<usize> {
        None
    }
}

/// Why a text failed.
pub(super) struct Failed {
    /// The reply.
    pub error: CommandError,
    /// SQLite's extended result code, if it is SQLite that refuses.
    pub code: Option<i32>,
}

/// SQLite's codes for what may keep it from undoing a statement: no memory, the pages cannot be read or written, or are damaged,
/// no room.
const MAY_LEAVE_HALF: [i32; 4] = [7, 10, 11, 13];

impl Failed {
    /// Whether it is an error of one statement, of which SQLite has undone everything.
    pub fn is_of_statement(&self) -> bool {
        self.code.is_some_and(|code| !MAY_LEAVE_HALF.contains(&(code & 0xff)))
    }
}

impl From<CommandError> for Failed {
    fn from(error: CommandError) -> Failed {
        Failed { error, code: None }
    }
}

impl From<DataError> for Failed {
    fn from(error: DataError) -> Failed {
        CommandError::from(error).into()
    }
}

impl From<EngineError> for Failed {
    fn from(error: EngineError) -> Failed {
        CommandError::from(error).into()
    }
}

impl From<Failed> for CommandError {
    fn from(failed: Failed) -> CommandError {
        failed.error
    }
}

/// The error where there is no engine of SQL.
pub(super) const NO_SQL: CommandError = CommandError::text(
    "ERR there is no SQL on this server: it was built without, or its data is in a cluster",
);

/// A connection to a database that keeps nothing which does not count.
pub(super) fn lend(
    ctx: &mut Context<'_, '_>,
    (key, database): (&[u8], &mut sqldb::Database<'_>),
    access: Access,
) -> Result<Lease, Failed> {
    let (db, collection) = (ctx.db(), database.collection());
    let command = ctx.txn.command();
    let databases = &ctx.shared.sql;
    databases.bound_memory(ctx.shared.settings.sql_memory_max_bytes());
    let taken = ctx.sql.take(databases, (db, key), collection, command);
    let page_bytes = database.page_bytes();
    let mut host = StatementHost::new(ctx, database, access);
    let Some(mut lease) = taken else {
        let engine = databases.engine().ok_or(NO_SQL)?;
        let connection = engine.open(&mut host, page_bytes);
        let kill = host.kill;
        let connection = connection.map_err(|error| refusal(ctx, error, kill))?;
        return Ok(Lease::opened(databases, (db, key), collection, connection, command));
    };
    if lease.take_must_forget()
        && let Err(error) = lease.connection().forget(&mut host)
    {
        let kill = host.kill;
        lease.close(databases);
        return Err(refusal(ctx, error, kill));
    }
    Ok(lease)
}

/// What a text may take; to be asked before each use of a connection, since the bound of the memory is the engine's.
pub(super) fn limits(ctx: &Context<'_, '_>) -> SqlLimits {
    let settings = &ctx.shared.settings;
    ctx.shared.sql.bound_memory(settings.sql_memory_max_bytes());
    let value_bytes = if ctx.may_hand_over { SQL_VALUE_FIRST_MAX_BYTES } else { SQL_VALUE_MAX_BYTES };
    SqlLimits { text_bytes: settings.sql_text_max_bytes(), value_bytes }
}

/// The error of a text whose rows had no room.
pub(super) fn full(rows: &dyn Gathers) -> Option<CommandError> {
    if let Some(most) = rows.too_many() {
        let text = format!("ERR the result has more rows than a reply may have ({most}, sql-reply-max-rows)");
        return Some(CommandError::owned(text));
    }
    let text = "ERR the result does not fit into a reply; ask for fewer rows at a time";
    rows.is_full().then_some(CommandError::text(text))
}

/// Has the request wait if a transaction that another client has open keeps it from changing this database: it is thrown away and runs
/// again. Nothing of it may have happened that does not go with its transaction of the store. Not in a MULTI, a script or a function,
/// which have begun already.
pub(super) fn wait_for_other(ctx: &mut Context<'_, '_>, reserved: Option<u64>) {
    let (Some(collection), now_ms) = (reserved, ctx.now_ms()) else { return };
    let timeout_ms = ctx.shared.settings.sql_busy_timeout_ms();
    if ctx.later.is_none() || timeout_ms == 0 {
        return;
    }
    let until_ms = *ctx.client.sql_wait.until_ms.get_or_insert(now_ms.saturating_add(timeout_ms));
    if now_ms < until_ms {
        let waker = ctx.client.inbox.waker();
        let idle_ms = ctx.shared.sql.wait_for_reservation(collection, now_ms, waker).unwrap_or(now_ms);
        ctx.client.sql_wait.again_ms = Some(idle_ms.min(until_ms));
    }
}

/// Why a text failed, or that it is to run again.
pub(super) fn refusal(ctx: &Context<'_, '_>, error: SqlError, kill: Option<Kill>) -> Failed {
    if let Some(interrupted) = ctx.interrupted.clone() {
        return interrupted.into();
    }
    match (error, kill) {
        (_, Some(Kill::TakesLong)) => EngineError::TakesLong.into(),
        (_, Some(Kill::Stopping)) => {
            CommandError::text("ERR the statement was ended because the server stops").into()
        }
        (_, Some(Kill::Steps(most))) => {
            let text = format!("ERR the statement took more steps than it may take here ({most})");
            CommandError::owned(text).into()
        }
        (_, Some(Kill::Time(most_ms))) => {
            let text =
                format!("ERR the statement took longer than it may take ({most_ms} ms, sql-time-max-ms)");
            CommandError::owned(text).into()
        }
        (_, Some(Kill::Gone)) => {
            CommandError::text("ERR the database was removed or renamed while it was read").into()
        }
        (SqlError::Engine(error), _) => error.into(),
        // The text is one line of the protocol.
        (error, _) => {
            let text = error.to_string().replace(['\r', '\n'], " ");
            // A command that the statement called has its code.
            let is_coded = text.starts_with("ERR ");
            let code = if let SqlError::Failed { code, .. } = error { Some(code) } else { None };
            Failed { error: CommandError::owned(if is_coded { text } else { format!("ERR {text}") }), code }
        }
    }
}

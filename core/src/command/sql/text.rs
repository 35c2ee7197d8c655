//! Runs a text on a database, all of it or nothing, for every command that has one.

use super::host::StatementHost;
use super::lend::{Failed, Gathers, full, lend, limits, refusal, wait_for_other};
use super::open;
use crate::command::atomic::or_undone;
use crate::command::{CommandError, Context};
use crate::data::sqldb;
use crate::engine::EngineError;
use crate::limits::{SQL_DEPTH_MAX, SQL_TEXT_MAX_BYTES, SQL_VALUE_MAX_BYTES};
use crate::server::hub::notify;
use crate::sql::{Access, SqlDescription, SqlDone, SqlError, SqlText};

/// SQLite's code of what is too long.
const TOO_BIG: i32 = 18;

/// SQLite's code for too little memory.
const NO_MEMORY: i32 = 7;

/// Runs a text on the database with this key, which need not be there. After an error nothing of it has happened.
pub(super) fn run(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &SqlText<'_>,
    rows: &mut dyn Gathers,
) -> Result<SqlDone, CommandError> {
    Ok(try_run(ctx, key, text, rows)?)
}

/// The same for a caller that wants SQLite's code.
pub(super) fn try_run(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &SqlText<'_>,
    rows: &mut dyn Gathers,
) -> Result<SqlDone, Failed> {
    if text.text.len() > SQL_TEXT_MAX_BYTES {
        let error = CommandError::text("ERR the text of the statement is too long");
        return Err(Failed { error, code: Some(TOO_BIG) });
    }
    run_script(ctx, key, text, rows)
}

/// The same for a text that may be as long as that of SQL.SCRIPT.
pub(super) fn run_script(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &SqlText<'_>,
    rows: &mut dyn Gathers,
) -> Result<SqlDone, Failed> {
    let bytes_max = ctx.shared.settings.sql_text_max_bytes();
    if text.text.len() > bytes_max {
        let error = format!("ERR the text is longer than it may be ({bytes_max} bytes, sql-text-max-bytes)");
        return Err(Failed { error: CommandError::owned(error), code: Some(TOO_BIG) });
    }
    let db = ctx.db();
    if ctx.client.sql.as_ref().is_some_and(|open| open.has_transaction_on(db, key)) {
        return open::run_in_transaction(ctx, key, text, rows);
    }
    let opened = sqldb::open(ctx.txn, db, key)?;
    let mut database = opened.unwrap_or_else(|| sqldb::new(db, key, sqldb::PAGE_BYTES));
    if ctx.sql.depth() >= SQL_DEPTH_MAX {
        return Err(CommandError::text("ERR too many statements run inside each other").into());
    }
    if !ctx.sql.begin(db, key) {
        return Err(CommandError::text("ERR a statement on this database is running already").into());
    }
    let (done, has_written) = match text.access {
        Access::Any => or_undone(ctx, |ctx| run_to_the_end(ctx, (key, &mut database), text, rows)),
        _ => run_to_the_end(ctx, (key, &mut database), text, rows),
    }?;
    if has_written {
        ctx.notify(notify::MODULE, "sql.exec", key);
    }
    Ok(done)
}

/// Says what the first statement of a text is.
pub(super) fn describe(ctx: &mut Context<'_, '_>, key: &[u8], text: &[u8]) -> Result<SqlDescription, Failed> {
    let db = ctx.db();
    if let Some(described) = open::describe_in_transaction(ctx, key, text)? {
        return Ok(described);
    }
    let mut database =
        sqldb::open(ctx.txn, db, key)?.unwrap_or_else(|| sqldb::new(db, key, sqldb::PAGE_BYTES));
    let mut lease = lend(ctx, (key, &mut database), Access::ReadOnly)?;
    let mut host = StatementHost::new(ctx, &mut database, Access::ReadOnly);
    let described = lease.connection().describe(&mut host, text);
    let kill = host.kill;
    match &described {
        Err(SqlError::Engine(_)) => lease.close(&ctx.shared.sql),
        _ => ctx.sql.put_back(lease),
    }
    described.map_err(|error| refusal(ctx, error, kill))
}

/// Runs a text that has begun, and notes that it has ended; whether that has changed the database.
fn run_to_the_end(
    ctx: &mut Context<'_, '_>,
    (key, database): (&[u8], &mut sqldb::Database<'_>),
    text: &SqlText<'_>,
    rows: &mut dyn Gathers,
) -> Result<(SqlDone, bool), Failed> {
    let ran = run_in(ctx, (key, database), text, rows);
    ctx.sql.end();
    ran
}

/// Runs a text by a connection that is taken for it; whether that has changed the database.
fn run_in(
    ctx: &mut Context<'_, '_>,
    (key, database): (&[u8], &mut sqldb::Database<'_>),
    text: &SqlText<'_>,
    rows: &mut dyn Gathers,
) -> Result<(SqlDone, bool), Failed> {
    let mut lease = lend(ctx, (key, database), text.access)?;
    let (collection, databases) = (database.collection(), &ctx.shared.sql);
    let bounds = limits(ctx);
    let mut host = StatementHost::new(ctx, database, text.access);
    let ran = lease.connection().run(&mut host, text, &bounds, rows);
    let (has_written, kill, old) = (host.has_written, host.kill, host.take_old());
    let reserved = host.reserved.filter(|_| ran.is_err());
    if let (Some(old), Some(collection)) = (old, collection) {
        ctx.sql.put_old(collection, old);
    }
    if has_written {
        lease.set_written();
    }
    // After an error of the engine nobody knows what it keeps; it is opened again.
    match &ran {
        Err(SqlError::Engine(_)) => lease.close(databases),
        _ => ctx.sql.put_back(lease),
    }
    if let Err(SqlError::Failed { code: NO_MEMORY, .. }) = &ran
        && ctx.is_first_run
        && databases.close_idle()
    {
        *ctx.interrupted = Some(EngineError::OnceMore);
    }
    if let Err(SqlError::Failed { code: TOO_BIG, .. }) = &ran
        && bounds.value_bytes < SQL_VALUE_MAX_BYTES
    {
        *ctx.interrupted = Some(EngineError::TakesLong);
    }
    wait_for_other(ctx, reserved);
    match ran {
        Ok(done) => Ok((done, has_written)),
        Err(error) => Err(full(rows).map_or_else(|| refusal(ctx, error, kill), Failed::from)),
    }
}

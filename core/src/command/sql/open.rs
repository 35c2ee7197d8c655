//! SQL.BEGIN, SQL.COMMIT, SQL.ROLLBACK and SQL.CURSOR: what a client has open between its requests.
//!
//! A transaction runs on a connection that the client keeps. It reads the database as it was when it began, and what it changes stays
//! in its draft; the request with its COMMIT writes the draft, in one transaction of the store. Its statements are not repeatable, as other
//! requests are: SQLite would roll the transaction back if one were stopped half-way. So they run where they may take their time from the
//! beginning, and with the locks that they need.

use std::ops::ControlFlow;

use super::host::{Open, StatementHost};
use super::lend::{Failed, Gathers, full, lend, limits, refusal, wait_for_other};
use super::rows::ReplyRows;
use crate::catalog;
use crate::command::{CommandError, Context, Outcome, help};
use crate::data::sqldb;
use crate::engine::EngineError;
use crate::limits::{SQL_FETCH_DEFAULT_ROWS, SQL_FETCH_MAX_ROWS};
use crate::number::parse_i64;
use crate::server::hub::notify;
use crate::server::sql::{Cursor, Draft, Lease, OpenSql, Transaction};
use crate::sql::{Access, Rows, SqlDescription, SqlDone, SqlHost, SqlText, SqlValue};

const NOT_ALONE: &str =
    "ERR transactions of SQL.BEGIN and cursors cannot be used in MULTI, scripts and functions";
const IDLE: &str = "ERR the transaction was rolled back: it was not used for seconds, and another one wrote";
const GONE: &str = "ERR the database was removed, renamed or replaced since the transaction or cursor began";
const LOCKED: &str = "ERR database is locked";
const NONE_OPEN: &str = "ERR no transaction is open on this database";

/// Whether a command may use what its client has open here and now. Before anything of it is touched.
pub(super) fn check_place(ctx: &Context<'_, '_>) -> Outcome {
    if ctx.later.is_none() {
        return Err(CommandError::text(NOT_ALONE));
    }
    if ctx.may_hand_over {
        return Err(EngineError::TakesLong.into());
    }
    Ok(())
}

fn of_client<'c>(ctx: &'c mut Context<'_, '_>) -> &'c mut OpenSql {
    ctx.client.sql.get_or_insert_default()
}

/// Whether the client has a transaction open.
pub(super) fn is_in_transaction(ctx: &mut Context<'_, '_>) -> bool {
    of_client(ctx).transaction.is_some()
}

/// Undoes the transaction that the client has open, if there is one.
pub(super) fn close_transaction(ctx: &mut Context<'_, '_>) {
    of_client(ctx).transaction = None;
}

/// `SQL.BEGIN database [DEFERRED | IMMEDIATE | EXCLUSIVE]`
pub(super) fn begin(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let text: &[u8] = match args.get(2).map(|word| word.to_ascii_lowercase()).as_deref() {
        None | Some(b"deferred") => b"BEGIN",
        Some(b"immediate" | b"exclusive") => b"BEGIN IMMEDIATE",
        _ => return Err(CommandError::SYNTAX),
    };
    begin_with(ctx, args[1], Some(text))?;
    ctx.reply.ok();
    Ok(())
}

/// Opens a transaction of the client, and runs a text on it, which may begin it. Otherwise it begins with the first text that says BEGIN;
/// what statements before that change is written with their text.
pub(super) fn begin_with(ctx: &mut Context<'_, '_>, key: &[u8], text: Option<&[u8]>) -> Result<(), Failed> {
    check_place(ctx)?;
    if of_client(ctx).transaction.is_some() {
        return Err(CommandError::text("ERR a transaction is open already").into());
    }
    let db = ctx.db();
    let mut database =
        sqldb::open(ctx.txn, db, key)?.unwrap_or_else(|| sqldb::new(db, key, sqldb::PAGE_BYTES));
    let lease = lend(ctx, (key, &mut database), Access::Any)?;
    let (connection, view) = lease.keep(&ctx.shared.sql);
    let mut begun = Transaction::new((db, key), connection, view);
    let (connection, view, draft, reservation) = begun.parts();
    let open = Open { view, draft: Some((draft, reservation)) };
    let bounds = limits(ctx);
    let mut host = StatementHost::of_open(ctx, &mut database, Access::Any, open);
    let ran = connection.keep_open(&mut host, true);
    let ran = ran.and_then(|()| match text {
        Some(text) => {
            let text = SqlText { text, parameters: &[], access: Access::Any };
            connection.run(&mut host, &text, &bounds, &mut Nothing).map(|_| ())
        }
        None => Ok(()),
    });
    let (kill, reserved) = (host.kill, host.reserved.filter(|_| ran.is_err()));
    wait_for_other(ctx, reserved);
    ran.map_err(|error| refusal(ctx, error, kill))?;
    of_client(ctx).transaction = Some(begun);
    Ok(())
}

/// `SQL.COMMIT database`
pub(super) fn commit(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    end_with(ctx, args[1], b"COMMIT")
}

/// `SQL.ROLLBACK database`
pub(super) fn rollback(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    end_with(ctx, args[1], b"ROLLBACK")
}

fn end_with(ctx: &mut Context<'_, '_>, key: &[u8], text: &[u8]) -> Outcome {
    let db = ctx.db();
    if !of_client(ctx).has_transaction_on(db, key) {
        return Err(CommandError::text(NONE_OPEN));
    }
    let text = SqlText { text, parameters: &[], access: Access::Any };
    run_in_transaction(ctx, key, &text, &mut Nothing)?;
    ctx.reply.ok();
    Ok(())
}

/// Runs a text in the transaction that the client has open on this database.
pub(super) fn run_in_transaction(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &SqlText<'_>,
    rows: &mut dyn Gathers,
) -> Result<SqlDone, Failed> {
    check_place(ctx)?;
    let db = ctx.db();
    let opened = sqldb::open(ctx.txn, db, key)?;
    // From here on nothing asks to run again.
    let open = of_client(ctx).transaction.take();
    let mut open = open.ok_or(CommandError::text(NONE_OPEN))?;
    let now_ms = ctx.now_ms();
    if open.reservation.as_ref().is_some_and(|reservation| !reservation.holds(now_ms)) {
        return Err(CommandError::text(IDLE).into());
    }
    let mut database = opened.unwrap_or_else(|| sqldb::new(db, key, sqldb::PAGE_BYTES));
    if open.view.as_ref().is_some_and(|view| database.collection() != Some(view.collection())) {
        return Err(CommandError::text(GONE).into());
    }
    let (connection, view, draft, reservation) = open.parts();
    let was_open = connection.is_open();
    let bounds = limits(ctx);
    let reach = Open { view, draft: Some((draft, reservation)) };
    let mut host = StatementHost::of_open(ctx, &mut database, text.access, reach);
    let ran = connection.run(&mut host, text, &bounds, rows);
    let (kill, is_open) = (host.kill, connection.is_open());
    // Statements before the one that waits would run twice.
    let reserved = host.reserved.filter(|_| ran.is_err() && is_one_statement(text.text));
    wait_for_other(ctx, reserved);
    let ran = ran.map_err(|error| full(rows).map_or_else(|| refusal(ctx, error, kill), Failed::from));
    match ran {
        ran if is_open => {
            of_client(ctx).transaction = Some(open);
            ran
        }
        Ok(done) if done.is_rolled_back => Ok(done),
        Ok(done) => write(ctx, open, &mut database).map(|()| done),
        // Statements before the one that failed were committed, each by itself.
        Err(failed) if !was_open && failed.is_of_statement() => {
            write(ctx, open, &mut database).and(Err(failed))
        }
        Err(failed) => {
            let text = format!("{} (the transaction was rolled back)", failed.error.reply_text());
            Err(Failed { error: CommandError::owned(text), ..failed })
        }
    }
}

/// Whether a text has surely no more than one statement.
fn is_one_statement(text: &[u8]) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
    let end = text.iter().rposition(|byte| !ends(byte)).map_or(0, |last| last + 1);
    !text.iter().take(end).any(|byte| *byte == b';')
}

/// Says what the first statement of a text is, if the client has a transaction open on this database.
pub(super) fn describe_in_transaction(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
) -> Result<Option<SqlDescription>, Failed> {
    let db = ctx.db();
    if !of_client(ctx).has_transaction_on(db, key) {
        return Ok(None);
    }
    let mut database =
        sqldb::open(ctx.txn, db, key)?.unwrap_or_else(|| sqldb::new(db, key, sqldb::PAGE_BYTES));
    let Some(mut open) = of_client(ctx).transaction.take() else { return Ok(None) };
    if open.view.as_ref().is_some_and(|view| database.collection() != Some(view.collection())) {
        return Err(CommandError::text(GONE).into());
    }
    let (connection, view, draft, reservation) = open.parts();
    let reach = Open { view, draft: Some((draft, reservation)) };
    let mut host = StatementHost::of_open(ctx, &mut database, Access::ReadOnly, reach);
    let described = connection.describe(&mut host, text);
    let (kill, is_open) = (host.kill, connection.is_open());
    if is_open {
        of_client(ctx).transaction = Some(open);
    }
    described.map(Some).map_err(|error| refusal(ctx, error, kill))
}

/// Writes what a transaction has changed, which SQLite has committed.
fn write(
    ctx: &mut Context<'_, '_>,
    mut open: Transaction,
    database: &mut sqldb::Database<'_>,
) -> Result<(), Failed> {
    let draft = std::mem::take(&mut open.draft);
    // Nobody else may have it before the locks of this request are free.
    open.reservation = None;
    let (db, key, view) = (open.db, open.key.clone(), open.view.take());
    let has_changed = !draft.is_empty();
    let is_as_it_was = match &view {
        Some(view) => view.is_current(),
        None => database.collection().is_none(),
    };
    if has_changed && !is_as_it_was {
        return Err(CommandError::text(LOCKED).into());
    }
    let connection = open.into_connection();
    let mut lease = Lease::again(&ctx.shared.sql, (db, &key), (connection, view.as_ref()), ctx.txn.command());
    // A view of its own would have every page kept that it changes.
    let collection = view.as_ref().map(crate::server::sql::View::collection);
    drop(view);
    let mut host = StatementHost::new(ctx, database, Access::Any);
    let kept = lease.connection().keep_open(&mut host, false);
    let written = if has_changed { put(&mut host, &draft) } else { Ok(()) };
    let (kill, old) = (host.kill, host.take_old());
    if let (Some(old), Some(collection)) = (old, collection) {
        ctx.sql.put_old(collection, old);
    }
    if has_changed {
        lease.set_written();
    }
    ctx.sql.put_back(lease);
    written?;
    kept.map_err(|error| refusal(ctx, error, kill))?;
    if has_changed {
        ctx.notify(notify::MODULE, "sql.exec", &key);
    }
    Ok(())
}

/// Puts the pages of a draft into the store.
fn put(host: &mut StatementHost<'_, '_, '_, '_>, draft: &Draft) -> Result<(), EngineError> {
    if !host.may_write() {
        return Err(EngineError::Refused(LOCKED.into()));
    }
    if let Some(cut) = draft.cut() {
        host.truncate(cut)?;
    }
    draft.pages().into_iter().try_for_each(|(page, bytes)| host.write_page(page, bytes))
}

/// `SQL.CURSOR OPEN | FETCH | CLOSE | HELP …`
pub(super) fn cursor(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let rest = args.get(2..).unwrap_or_default();
    match (args[1].to_ascii_lowercase().as_slice(), rest) {
        (b"open", [key, text, parameters @ ..]) => open_cursor(ctx, key, text, parameters),
        (b"fetch", [key, number, options @ ..]) => fetch(ctx, key, number, options),
        (b"close", [key, number]) => close(ctx, key, number),
        (b"help", []) => help::reply_help(ctx.reply, catalog::spec(catalog::id("sql.cursor"))),
        _ => Err(help::unknown_subcommand("SQL.CURSOR", args[1])),
    }
}

/// The reply: the number of the cursor, and the names of its columns.
fn open_cursor(ctx: &mut Context<'_, '_>, key: &[u8], text: &[u8], parameters: &[&[u8]]) -> Outcome {
    check_place(ctx)?;
    let db = ctx.db();
    let open = of_client(ctx);
    if open.has_transaction_on(db, key) {
        return Err(CommandError::text(
            "ERR a transaction is open on this database; a cursor would not see its changes",
        ));
    }
    if !open.may_open_cursor() {
        return Err(CommandError::text("ERR too many cursors are open; close some"));
    }
    let Some(mut database) = sqldb::open(ctx.txn, db, key)? else {
        return Err(CommandError::text("ERR no such database"));
    };
    let parameters = super::parameters(parameters);
    let text = SqlText { text, parameters: &parameters, access: Access::ReadOnly };
    let lease = lend(ctx, (key, &mut database), Access::ReadOnly)?;
    let (mut connection, view) = lease.keep(&ctx.shared.sql);
    let Some(view) = view else { return Err(CommandError::text(GONE)) };
    let mut names = ReplyRows::beside(ctx.reply, None);
    let bounds = limits(ctx);
    let reach = Open { view: Some(&view), draft: None };
    let mut host = StatementHost::of_open(ctx, &mut database, Access::ReadOnly, reach);
    let opened = connection.open_cursor(&mut host, &text, &bounds, &mut names);
    let kill = host.kill;
    opened.map_err(|error| refusal(ctx, error, kill))?;
    let number = of_client(ctx).open_cursor(Cursor::new((db, key), connection, view));
    ctx.reply.array(2);
    ctx.reply.integer(i64::try_from(number).unwrap_or(i64::MAX));
    names.write_names(ctx.reply);
    Ok(())
}

/// The reply is that of HSCAN: the number of the cursor, or 0 if it has no more rows and is closed, and an array of rows.
fn fetch(ctx: &mut Context<'_, '_>, key: &[u8], number: &[u8], options: &[&[u8]]) -> Outcome {
    let most = match options {
        [] => SQL_FETCH_DEFAULT_ROWS,
        [word, count] if word.eq_ignore_ascii_case(b"count") => match parse_i64(count) {
            Some(count) if count > 0 => usize::try_from(count).unwrap_or(usize::MAX).min(SQL_FETCH_MAX_ROWS),
            _ => return Err(CommandError::NOT_INTEGER),
        },
        _ => return Err(CommandError::SYNTAX),
    };
    check_place(ctx)?;
    // A cursor goes on where it was, so it answers fewer rows instead of an error.
    let most = ctx.shared.settings.sql_rows_max().map_or(most, |rows| most.min(rows));
    ctx.shared.sql.bound_memory(ctx.shared.settings.sql_memory_max_bytes());
    let db = ctx.db();
    let opened = sqldb::open(ctx.txn, db, key)?;
    let (number, mut cursor) = take(ctx, key, number)?;
    let Some(mut database) = opened.filter(|found| found.collection() == Some(cursor.view.collection()))
    else {
        return Err(CommandError::text(GONE));
    };
    let (connection, view) = cursor.parts();
    let reach = Open { view: Some(view), draft: None };
    let mut fetched = Fetched { rows: ReplyRows::beside(ctx.reply, None), left: most };
    let mut host = StatementHost::of_open(ctx, &mut database, Access::ReadOnly, reach);
    let has_more = connection.fetch(&mut host, &mut fetched);
    let kill = host.kill;
    if let Some(error) = full(&fetched.rows) {
        return Err(error);
    }
    let has_more = has_more.map_err(|error| refusal(ctx, error, kill))?;
    ctx.reply.array(2);
    ctx.reply.integer(if has_more { i64::try_from(number).unwrap_or(i64::MAX) } else { 0 });
    fetched.rows.write_rows(ctx.reply);
    if has_more {
        of_client(ctx).put_cursor(number, cursor);
    } else {
        end(ctx, (db, key), cursor);
    }
    Ok(())
}

/// The reply: whether there was such a cursor.
fn close(ctx: &mut Context<'_, '_>, key: &[u8], number: &[u8]) -> Outcome {
    if ctx.later.is_none() {
        return Err(CommandError::text(NOT_ALONE));
    }
    let db = ctx.db();
    match take(ctx, key, number) {
        Ok((_, cursor)) => {
            // The connection of one that is not where it was is closed.
            let found = sqldb::open(ctx.txn, db, key)?.and_then(|found| found.collection());
            if found == Some(cursor.view.collection()) {
                end(ctx, (db, key), cursor);
            }
            ctx.reply.integer(1);
        }
        Err(_) => ctx.reply.integer(0),
    }
    Ok(())
}

/// Takes a cursor of the client.
fn take(ctx: &mut Context<'_, '_>, key: &[u8], number: &[u8]) -> Result<(u64, Cursor), CommandError> {
    let db = ctx.db();
    let open = of_client(ctx);
    let number = parse_i64(number).and_then(|number| u64::try_from(number).ok());
    let found = number.and_then(|number| Some((number, open.take_cursor(number)?)));
    match found {
        Some((number, cursor)) if cursor.db == db && *cursor.key == *key => Ok((number, cursor)),
        other => {
            if let Some((number, cursor)) = other {
                open.put_cursor(number, cursor);
            }
            Err(CommandError::text("ERR no such cursor"))
        }
    }
}

/// Gives the connection of a cursor back.
fn end(ctx: &mut Context<'_, '_>, place: (crate::engine::Db, &[u8]), cursor: Cursor) {
    let (mut connection, view) = cursor.into_parts();
    connection.close_cursor();
    let lease = Lease::again(&ctx.shared.sql, place, (connection, Some(&view)), ctx.txn.command());
    ctx.sql.put_back(lease);
}

/// Rows up to a number.
struct Fetched {
    rows: ReplyRows,
    left: usize,
}

impl Rows for Fetched {
    fn columns(&mut self, names: &[&[u8]]) {
        self.rows.columns(names);
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        self.left = self.left.saturating_sub(1);
        let flow = self.rows.row(values);
        if self.left == 0 { ControlFlow::Break(()) } else { flow }
    }
}

/// For texts without rows.
struct Nothing;

impl Rows for Nothing {
    fn columns(&mut self, _: &[&[u8]]) {}

    fn row(&mut self, _: &[SqlValue<'_>]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Gathers for Nothing {}

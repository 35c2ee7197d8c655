//! Prepared statements: texts with names, in a table of their database. So they last, and go where it goes.

use super::gather::{Gathered, be_of_one_moment, change, gather_as};
use super::{parameters, placed, reply_changed, reply_with, text};
use crate::command::{CommandError, Context, Outcome};
use crate::sql::{Access, SqlDone, SqlText, SqlValue};

const CREATE: &[u8] =
    b"CREATE TABLE IF NOT EXISTS edgecask_statements(name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID";
const PUT: &[u8] =
    b"INSERT INTO edgecask_statements VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET text = excluded.text";
const FIND: &[u8] = b"SELECT text FROM edgecask_statements WHERE name = ?";
const DROP: &[u8] = b"DELETE FROM edgecask_statements WHERE name = ?";

/// What SQLite says where nothing was prepared yet.
const NO_TABLE: &str = "ERR no such table: edgecask_statements";

/// `SQL.PREPARE database name text`
pub(super) fn prepare(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, name, text) = (args[1], args[2], args[3]);
    let described = gather_as(ctx, key, text, &[], Access::Describe)?;
    if described.rows.is_empty() {
        return Err(CommandError::text("ERR the text has no statement"));
    }
    let row = [name, text].map(|bytes| placed(SqlValue::Text(bytes)));
    crate::command::atomic::atomically(ctx, |ctx| {
        change(ctx, key, CREATE, &[])?;
        change(ctx, key, PUT, &row)
    })?;
    ctx.reply.ok();
    Ok(())
}

/// `SQL.EXECUTE database name [arg ...]`
pub(super) fn execute(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    execute_as(ctx, args, Access::Any)
}

/// `SQL.EXECUTE_RO database name [arg ...]`
pub(super) fn execute_ro(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    execute_as(ctx, args, Access::ReadOnly)
}

fn execute_as(ctx: &mut Context<'_, '_>, args: &[&[u8]], access: Access) -> Outcome {
    let (key, name) = (args[1], args[2]);
    let mut found = Gathered::default();
    let may_let_pass = ctx.may_let_pass;
    be_of_one_moment(ctx);
    let find = SqlText { text: FIND, parameters: &[placed(SqlValue::Text(name))], access: Access::ReadOnly };
    text::run(ctx, key, &find, &mut found).map_err(|error| match error {
        CommandError::Client(text) if text == NO_TABLE => not_prepared(name),
        error => error,
    })?;
    let text = found.first().ok_or_else(|| not_prepared(name))?.bytes();
    be_of_one_moment(ctx);
    // Its text is all that it needs of the moment before.
    ctx.may_let_pass = may_let_pass;
    reply_with(ctx, key, &text, &parameters(args.get(3..).unwrap_or_default()), access)
}

/// `SQL.DROPSTMT database name`
pub(super) fn dropstmt(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, name) = (args[1], args[2]);
    let changed_rows = match change(ctx, key, DROP, &[placed(SqlValue::Text(name))]) {
        Err(CommandError::Client(text)) if text == NO_TABLE => 0,
        dropped => dropped?,
    };
    reply_changed(ctx, &SqlDone { changed_rows, ..SqlDone::default() });
    Ok(())
}

fn not_prepared(name: &[u8]) -> CommandError {
    let name = crate::command::args::quoted(name, 128);
    CommandError::owned(format!("ERR no statement is prepared with the name '{name}'"))
}

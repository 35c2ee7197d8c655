//! SQL: statements on databases, each of which is a key.
//!
//! ```text
//!  SQL.EXEC, SQL.QUERY; prepared, schema, dump, store, morph; words gives Alchemy's words to them
//!     |
//!   text   runs one: the database is opened, a connection to it is taken (server/sql), a failure is undone
//!     |
//!   open   transactions and cursors that a client keeps between its requests
//!   hrana  bodies of libSQL's protocol over HTTP
//!   lend   a connection for a text, and the words for what fails
//!   host   what the statement reaches: its pages (data/sqldb) and commands, all in the same transaction
//!   rows   the result becomes the reply
//! ```
//!
//! A statement is one command of the transaction that it runs in: its pages are changes of subkeys like any others, so SQL and
//! Redis commands of one MULTI, script or trigger are one frame. SQLite undoes what a failed statement did to its pages; what
//! `redis(…)` did for it is undone by a savepoint, or with the whole transaction if it is the only command.

mod dump;
pub(super) mod gather;
mod host;
mod hrana;
mod lend;
mod morph;
mod open;
mod prepared;
mod rows;
mod schema;
mod store;
mod text;
mod tokens;
mod words;

use self::rows::ReplyRows;
pub(super) use self::rows::put;
use super::{CommandError, Context, Group, Outcome};
use crate::number::parse_i64;
use crate::sql::{Access, Parameter, SqlDone, SqlText, SqlValue};

pub(super) const HANDLERS: Group = &[
    ("sql.begin", open::begin),
    ("sql.commit", open::commit),
    ("sql.cursor", open::cursor),
    ("sql.denorm", morph::denorm),
    ("sql.desc", schema::desc),
    ("sql.dropstmt", prepared::dropstmt),
    ("sql.dump", dump::dump),
    ("sql.exec", exec),
    ("sql.execute", prepared::execute),
    ("sql.execute_ro", prepared::execute_ro),
    ("sql.explain", schema::explain),
    ("sql.hrana", hrana::hrana),
    ("sql.norm", morph::norm),
    ("sql.prepare", prepared::prepare),
    ("sql.query", query),
    ("sql.rollback", open::rollback),
    ("sql.script", script),
    ("sql.stats", schema::stats),
    ("sql.store", store::store),
    ("sql.tables", schema::tables),
    ("sql.words", words::words),
    ("sql.words_ro", words::words_ro),
];

/// `SQL.EXEC database text [arg ...]`
fn exec(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, text) = (args[1], args[2]);
    reply_with(ctx, key, text, &parameters(args.get(3..).unwrap_or_default()), Access::Any)
}

/// `SQL.QUERY database text [arg ...]`
fn query(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, text) = (args[1], args[2]);
    reply_with(ctx, key, text, &parameters(args.get(3..).unwrap_or_default()), Access::ReadOnly)
}

/// `SQL.SCRIPT database text`: the rows of its statements are dropped, as a program that reads a dump drops them.
fn script(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let text = SqlText { text: args[2], parameters: &[], access: Access::Any };
    ctx.expect_bytes(args[2].len() as u64)?;
    let done = text::run_script(ctx, args[1], &text, &mut gather::NoRows)?;
    reply_changed(ctx, &done);
    Ok(())
}

/// Runs a text and replies with its result, or with the number of changed rows.
fn reply_with(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    parameters: &[Parameter<'_>],
    access: Access,
) -> Outcome {
    let text = SqlText { text, parameters, access };
    let mut rows = ReplyRows::beside(ctx.reply, ctx.shared.settings.sql_rows_max());
    let done = text::run(ctx, key, &text, &mut rows)?;
    if done.has_result {
        rows.write(ctx.reply);
    } else {
        reply_changed(ctx, &done);
    }
    Ok(())
}

/// Runs a text that only reads and replies with its rows, without the names of the columns; none if it fails with this error.
pub(super) fn reply_with_rows(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    (text, parameters): (&[u8], &[Parameter<'_>]),
    means_none: impl FnOnce(&CommandError) -> bool,
) -> Outcome {
    let text = SqlText { text, parameters, access: Access::ReadOnly };
    let mut rows = ReplyRows::beside(ctx.reply, ctx.shared.settings.sql_rows_max());
    match text::run(ctx, key, &text, &mut rows) {
        Ok(_) => rows.write_rows(ctx.reply),
        Err(error) if means_none(&error) => ctx.reply.array(0),
        Err(error) => return Err(error),
    }
    Ok(())
}

fn reply_changed(ctx: &mut Context<'_, '_>, done: &SqlDone) {
    ctx.reply.integer(i64::try_from(done.changed_rows).unwrap_or(i64::MAX));
}

/// Arguments as parameters: by their names behind the word NAMED, else by their places.
fn parameters<'a>(args: &[&'a [u8]]) -> Vec<Parameter<'a>> {
    if let Some(named) = named_parameters(args) {
        return named;
    }
    args.iter().map(|argument| Parameter { name: None, value: value(argument) }).collect()
}

/// None if the word does not stand first, or what follows are no pairs whose names begin as SQLite's do: then it is a value.
fn named_parameters<'a>(args: &[&'a [u8]]) -> Option<Vec<Parameter<'a>>> {
    let (word, pairs) = args.split_first()?;
    let (pairs, rest) = pairs.as_chunks::<2>();
    let is_named = word.eq_ignore_ascii_case(b"NAMED") && !pairs.is_empty() && rest.is_empty();
    let has_names = || pairs.iter().all(|[name, _]| matches!(name, [b':' | b'@' | b'$', _, ..]));
    if !is_named || !has_names() {
        return None;
    }
    Some(
        pairs.iter().map(|[name, argument]| Parameter { name: Some(name), value: value(argument) }).collect(),
    )
}

/// An argument of a request as a parameter: what Redis calls an integer is one, so that `LIMIT ?` works; SQLite makes of any text
/// what the column wants.
pub(super) fn value(argument: &[u8]) -> SqlValue<'_> {
    match parse_i64(argument) {
        Some(number) => SqlValue::Integer(number),
        None => text_value(argument),
    }
}

/// Bytes as they are: text, or a blob if they are none.
pub(super) fn text_value(bytes: &[u8]) -> SqlValue<'_> {
    if std::str::from_utf8(bytes).is_ok() { SqlValue::Text(bytes) } else { SqlValue::Blob(bytes) }
}

/// A parameter that is known by its place.
pub(super) fn placed(value: SqlValue<'_>) -> Parameter<'_> {
    Parameter { name: None, value }
}

/// A name as SQL has it.
fn identifier(name: &[u8]) -> Vec<u8> {
    quoted(name, b'"')
}

/// Bytes between quotes, in which quotes are doubled.
fn quoted(bytes: &[u8], quote: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 2);
    out.push(quote);
    for byte in bytes {
        if *byte == quote {
            out.push(quote);
        }
        out.push(*byte);
    }
    out.push(quote);
    out
}

//! AlchemyDB's words: SQL without a database and without quotes around it, as its clients and people at redis-cli send it.
//!
//! The arguments are joined by blanks, and one of the other commands runs them on the database that `sql-default-database` names, for
//! which the user must have the rights. What the catalog takes for such a request is in `catalog/words.rs`.

use super::morph;
use super::tokens;
use crate::catalog::{self, CommandId};
use crate::command::admission::{self, Origin};
use crate::command::{CommandError, Context, Outcome};
use crate::resp::Reply;

const WRITES: CommandId = catalog::id("sql.words");
const READS: CommandId = catalog::id("sql.words_ro");

const NO_STATEMENT: CommandError = CommandError::text("ERR the words are no statement of SQL");

/// The words of a statement that may write, or `SQL.WORDS word [word ...]`
pub(super) fn words(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(ctx, statement(args, &[WRITES, READS])?)
}

/// The words of a statement that only reads, or `SQL.WORDS_RO word [word ...]`
pub(super) fn words_ro(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(ctx, statement(args, &[READS])?)
}

/// The words of a request without the command's name, if that stands before them.
fn statement<'r, 'a>(args: &'r [&'a [u8]], allowed: &[CommandId]) -> Result<&'r [&'a [u8]], CommandError> {
    let is_named = args.first().is_some_and(|first| {
        [WRITES, READS].iter().any(|row| first.eq_ignore_ascii_case(catalog::spec(*row).name.as_bytes()))
    });
    let words = args.get(usize::from(is_named)..).unwrap_or_default();
    let meant = catalog::lookup_meant(words).filter(|spec| allowed.contains(&spec.id));
    meant.map(|_| words).ok_or(NO_STATEMENT)
}

fn run(ctx: &mut Context<'_, '_>, words: &[&[u8]]) -> Outcome {
    let database = ctx.shared.settings.get("sql-default-database").unwrap_or_default();
    let key = database.as_bytes();
    let [first, rest @ ..] = words else { return Err(NO_STATEMENT) };
    let joined = words.join(&b' ');
    match (first.to_ascii_uppercase().as_slice(), rest) {
        (b"SELECT", [.., store, command, object]) if store.eq_ignore_ascii_case(b"STORE") => {
            let text = words.get(..words.len() - 3).unwrap_or_default().join(&b' ');
            store_rows(ctx, key, &text, (command, object))
        }
        (b"SELECT", _) => query(ctx, key, &joined),
        (b"SCAN", _) => query(ctx, key, &[b"SELECT ", rest.join(&b' ').as_slice()].concat()),
        (b"INSERT" | b"REPLACE", _) => say_ok(ctx, &[b"SQL.EXEC", key, &tokens::insert(&joined)]),
        (b"UPDATE" | b"DELETE", _) => relay(ctx, &[b"SQL.EXEC", key, &joined]),
        (b"CREATE", [table, name, of, command @ ..])
            if table.eq_ignore_ascii_case(b"TABLE")
                && of.eq_ignore_ascii_case(b"AS")
                && morph::makes_tables(command) =>
        {
            morph::create_as(ctx, key, name, command)
        }
        (b"CREATE" | b"ALTER", _) => say_ok(ctx, &[b"SQL.EXEC", key, &joined]),
        (b"DROP", _) => drop_counting(ctx, key, &joined),
        (b"DESC", [table]) => relay(ctx, &[b"SQL.DESC", key, table]),
        (b"DUMP", _) => relay(ctx, &[&[b"SQL.DUMP", key], rest].concat()),
        (b"EXPLAIN", _) => {
            let is = |at: usize, word: &str| {
                rest.get(at).is_some_and(|argument| argument.eq_ignore_ascii_case(word.as_bytes()))
            };
            let from = if is(0, "QUERY") && is(1, "PLAN") { 2 } else { 0 };
            let text = rest.get(from..).unwrap_or_default().join(&b' ');
            let text = match text.split_at_checked(5) {
                Some((scan, cols)) if scan.eq_ignore_ascii_case(b"SCAN ") => [b"SELECT ", cols].concat(),
                _ => text,
            };
            relay(ctx, &[b"SQL.EXPLAIN", key, &text])
        }
        (b"SHOW", [what]) if what.eq_ignore_ascii_case(b"TABLES") => relay(ctx, &[b"SQL.TABLES", key]),
        (b"SHOW", [_]) => relay(ctx, &[b"SQL.QUERY", key, INDEXES]),
        (b"PREPARE", [name, of, text @ ..]) if of.eq_ignore_ascii_case(b"AS") => {
            let text = tokens::numbered_parameters(&text.join(&b' '));
            relay(ctx, &[b"SQL.PREPARE", key, name, &text])
        }
        (b"EXECUTE", [name, values @ ..]) => relay(ctx, &[&[b"SQL.EXECUTE", key, name], values].concat()),
        (b"NORM", [pattern, secondary @ ..]) => {
            relay(ctx, &[&[b"SQL.NORM", key, pattern], secondary].concat())
        }
        (b"DENORM", [table, pattern]) => relay(ctx, &[b"SQL.DENORM", key, table, pattern]),
        _ => Err(NO_STATEMENT),
    }
}

const INDEXES: &[u8] =
    b"SELECT name, tbl_name AS \"table\" FROM sqlite_schema WHERE type = 'index' ORDER BY name";

/// Runs a command with the rights of the user; its reply.
fn call(ctx: &mut Context<'_, '_>, request: &[&[u8]]) -> Result<Reply, CommandError> {
    let spec = admission::find(request)?;
    let admitted = admission::admit(ctx.shared, ctx.client, spec, request, Origin::Nested, || {})?;
    let mut reply = ctx.reply.beside();
    ctx.run_nested(&admitted, &mut reply)?;
    Ok(reply)
}

/// Runs SQL.QUERY, in place of the request's own command: a long one lets others pass.
fn query(ctx: &mut Context<'_, '_>, key: &[u8], text: &[u8]) -> Outcome {
    let request: [&[u8]; 3] = [b"SQL.QUERY", key, text];
    admission::admit(ctx.shared, ctx.client, admission::find(&request)?, &request, Origin::Nested, || {})?;
    super::query(ctx, &request)
}

/// Runs a command and replies what it replies.
fn relay(ctx: &mut Context<'_, '_>, request: &[&[u8]]) -> Outcome {
    let reply = call(ctx, request)?;
    ctx.reply.append(&reply);
    Ok(())
}

/// The same, but OK instead of a number.
fn say_ok(ctx: &mut Context<'_, '_>, request: &[&[u8]]) -> Outcome {
    let reply = call(ctx, request)?;
    if number_of(&reply).is_some() {
        ctx.reply.ok();
    } else {
        ctx.reply.append(&reply);
    }
    Ok(())
}

/// The number that a reply is.
fn number_of(reply: &Reply) -> Option<i64> {
    let text = reply.as_bytes().strip_prefix(b":")?.strip_suffix(b"\r\n")?;
    crate::number::parse_i64(text)
}

/// Drops something, and answers how many indexes went with it.
fn drop_counting(ctx: &mut Context<'_, '_>, key: &[u8], text: &[u8]) -> Outcome {
    const COUNT: &[u8] = b"SELECT count(*) AS n FROM sqlite_schema WHERE type = 'index'";
    let count = |ctx: &mut Context<'_, '_>| -> Result<i64, CommandError> {
        let counted = super::gather::gather(ctx, key, COUNT, &[])?;
        Ok(counted.first().map_or(0, super::gather::Held::integer))
    };
    // Before anything else it is looked whether the user may do this.
    let request: [&[u8]; 3] = [b"SQL.EXEC", key, text];
    admission::admit(ctx.shared, ctx.client, admission::find(&request)?, &request, Origin::Nested, || {})?;
    let before = count(ctx)?;
    call(ctx, &request)?;
    let after = count(ctx)?;
    ctx.reply.integer(before.saturating_sub(after));
    Ok(())
}

/// `SELECT … STORE command object`: the values of each row behind the object's name, or, if that ends in `$`, behind its name and the
/// first value. INSERT makes a table of them.
fn store_rows(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    (command, object): (&[u8], &[u8]),
) -> Outcome {
    if command.eq_ignore_ascii_case(b"INSERT") {
        let text =
            [b"CREATE TABLE ".to_vec(), super::identifier(object), b" AS ".to_vec(), text.to_vec()].concat();
        return say_ok(ctx, &[b"SQL.EXEC", key, &text]);
    }
    match object.strip_suffix(b"$") {
        None => relay(ctx, &[b"SQL.STORE", command, &escaped(object), b"$*", key, text]),
        Some(object) => {
            let object = [escaped(object), b":$1".to_vec()].concat();
            relay(ctx, &[b"SQL.STORE", command, &object, b"$2*", key, text])
        }
    }
}

/// A name in which `$` stands for itself.
fn escaped(name: &[u8]) -> Vec<u8> {
    name.iter().flat_map(|byte| if *byte == b'$' { vec![b'$'; 2] } else { vec![*byte] }).collect()
}

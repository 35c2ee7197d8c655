//! Strings as numbers: the INCR family.

use crate::command::{CommandError, Context, Outcome, args};
use crate::data::long_double::LongDouble;
use crate::data::string;
use crate::server::hub::notify;

/// Longest text that is looked at as a floating-point number, in bytes.
const FLOAT_MAX_BYTES: u64 = 5 * 1024;

pub(super) fn incr(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    add(ctx, args[1], 1)
}

pub(super) fn decr(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    add(ctx, args[1], -1)
}

pub(super) fn incrby(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let increment = args::integer(args[2])?;
    add(ctx, args[1], increment)
}

pub(super) fn decrby(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let increment =
        args::integer(args[2])?.checked_neg().ok_or(CommandError::text("ERR decrement would overflow"))?;
    add(ctx, args[1], increment)
}

fn add(ctx: &mut Context<'_, '_>, key: &[u8], increment: i64) -> Outcome {
    let db = ctx.db();
    let root = string::root(ctx.txn, db, key)?;
    let old = string::integer(ctx.txn, db, key, root.as_ref())?.ok_or(CommandError::NOT_INTEGER)?;
    let sum =
        old.checked_add(increment).ok_or(CommandError::text("ERR increment or decrement would overflow"))?;
    let mut digits = itoa::Buffer::new();
    let expires_at_ms = root.and_then(|root| root.expires_at_ms);
    string::set(ctx.txn, db, key, digits.format(sum).as_bytes(), expires_at_ms)?;
    ctx.notify(notify::STRING, "incrby", key);
    ctx.reply.integer(sum);
    Ok(())
}

pub(super) fn incrbyfloat(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key) = (ctx.db(), args[1]);
    let root = string::root(ctx.txn, db, key)?;
    let mut old = None;
    match root {
        // As in Redis, whose buffer for such a number has this length.
        Some(root) if root.value_len > FLOAT_MAX_BYTES => {}
        Some(_) => {
            ctx.txn.read_value(db, key, (0, u64::MAX), &mut |bytes| old = LongDouble::parse(bytes))?;
        }
        None => old = LongDouble::parse(b"0"),
    }
    let old = old.ok_or(CommandError::NOT_FLOAT)?;
    let increment = LongDouble::parse(args[2]).ok_or(CommandError::NOT_FLOAT)?;
    let sum = old
        .add(increment)
        .ok_or(CommandError::text("ERR increment would produce NaN or Infinity"))?
        .to_string();
    let expires_at_ms = root.and_then(|root| root.expires_at_ms);
    string::put(ctx.txn, db, key, sum.as_bytes(), string::FLOAT, expires_at_ms)?;
    ctx.notify(notify::STRING, "incrbyfloat", key);
    ctx.reply.bulk(sum.as_bytes());
    Ok(())
}

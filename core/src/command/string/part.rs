//! Parts of strings: lengths, ranges, and changes in place.

use super::{check_length, reply_part};
use crate::command::{CommandError, Context, Outcome, args};
use crate::data::string;
use crate::server::hub::notify;

pub(super) fn strlen(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = ctx.db();
    let len = string::root(ctx.txn, db, args[1])?.map_or(0, |root| root.value_len);
    ctx.reply.integer(as_integer(len));
    Ok(())
}

/// GETRANGE, and SUBSTR which is its old name.
pub(super) fn getrange(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let start = args::integer(args[2])?;
    let end = args::integer(args[3])?;
    let db = ctx.db();
    let len = string::root(ctx.txn, db, args[1])?.map_or(0, |root| root.value_len);
    match range(start, end, len) {
        Some((start, len)) => reply_part(ctx, args[1], start, len),
        None => {
            ctx.reply.bulk(b"");
            Ok(())
        }
    }
}

/// Offset and length of what GETRANGE shows of `len` bytes; None if that is nothing. Unlike elsewhere in Redis, an end
/// before the first byte means the first byte, unless both bounds are negative and in the wrong order.
fn range(start: i64, end: i64, len: u64) -> Option<(u64, u64)> {
    if start < 0 && end < 0 && start > end {
        return None;
    }
    let resolve = |index: i64| match u64::try_from(index) {
        Ok(index) => index,
        Err(_) => len.saturating_sub(index.unsigned_abs()),
    };
    let start = resolve(start);
    let end = resolve(end).min(len.checked_sub(1)?);
    Some((start, end.checked_sub(start)? + 1))
}

pub(super) fn append(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key) = (ctx.db(), args[1]);
    let more = ctx.value(args, 2);
    let Some(root) = string::root(ctx.txn, db, key)? else {
        let len = more.byte_count();
        string::set(ctx.txn, db, key, more, None)?;
        ctx.notify(notify::STRING, "append", key);
        ctx.reply.integer(as_integer(len));
        return Ok(());
    };
    check_length(ctx, root.value_len, more.byte_count())?;
    let len = string::append(ctx.txn, db, key, &root, &more)?;
    ctx.notify(notify::STRING, "append", key);
    ctx.reply.integer(as_integer(len));
    Ok(())
}

pub(super) fn setrange(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key, patch) = (ctx.db(), args[1], args[3]);
    let offset = u64::try_from(args::integer(args[2])?)
        .map_err(|_| CommandError::text("ERR offset is out of range"))?;
    let root = string::root(ctx.txn, db, key)?;
    if patch.is_empty() {
        ctx.reply.integer(as_integer(root.map_or(0, |root| root.value_len)));
        return Ok(());
    }
    check_length(ctx, offset, patch.len() as u64)?;
    let len = string::overwrite(ctx.txn, db, key, root.as_ref(), offset, patch)?;
    ctx.notify(notify::STRING, "setrange", key);
    ctx.reply.integer(as_integer(len));
    Ok(())
}

/// A length as a reply; lengths never reach 2^63.
fn as_integer(len: u64) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}

//! Strings: GET and SET with all that hangs on them, counters, parts of strings, and the longest common subsequence.

mod lcs;
mod number;
mod part;
mod several;
mod whole;

use super::{CommandError, Context, Group};
use crate::data::string;
use crate::engine::{Piece, Root};
use crate::limits::STORED_REPLY_MIN_BYTES;
use crate::server::stored;

pub(super) const HANDLERS: Group = &[
    ("append", part::append),
    ("decr", number::decr),
    ("decrby", number::decrby),
    ("get", whole::get),
    ("getdel", whole::getdel),
    ("getex", whole::getex),
    ("getrange", part::getrange),
    ("getset", whole::getset),
    ("incr", number::incr),
    ("incrby", number::incrby),
    ("incrbyfloat", number::incrbyfloat),
    ("lcs", lcs::lcs),
    ("mget", several::mget),
    ("mset", several::mset),
    ("msetnx", several::msetnx),
    ("psetex", whole::psetex),
    ("set", whole::set),
    ("setex", whole::setex),
    ("setnx", whole::setnx),
    ("setrange", part::setrange),
    ("strlen", part::strlen),
    ("substr", part::getrange),
];

/// Replies with the whole string at a key, or null; returns what the key was.
fn reply_value(ctx: &mut Context<'_, '_>, key: &[u8]) -> Result<Option<Root>, CommandError> {
    let db = ctx.db();
    let root = string::root(ctx.txn, db, key)?;
    match &root {
        Some(root) => reply_part(ctx, key, 0, root.value_len)?,
        None => ctx.reply.null(),
    }
    Ok(root)
}

/// Replies with `len` bytes at `start`, all of which are there. The bytes go from the engine into the output at once,
/// those of a huge value not even there.
pub(super) fn reply_part(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    start: u64,
    len: u64,
) -> Result<(), CommandError> {
    ctx.reply.bulk_start(len);
    write_part(ctx, key, (start, len))?;
    ctx.reply.bulk_end();
    Ok(())
}

/// Writes `len` bytes at `start`, all of which are there, into a bulk that was begun.
pub(super) fn write_part(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    range: (u64, u64),
) -> Result<(), CommandError> {
    let db = ctx.db();
    let reply = &mut *ctx.reply;
    ctx.txn.show_value(db, key, range, &mut |piece| {
        if let Piece::Stored { len, .. } = &piece
            && *len >= STORED_REPLY_MIN_BYTES
        {
            piece.check()?;
        }
        match piece {
            Piece::Stored { source, offset, len } if len >= STORED_REPLY_MIN_BYTES => {
                reply.stored(stored(source), offset, len);
                Ok(())
            }
            piece => piece.read(&mut |bytes| {
                reply.raw(bytes);
                Ok(())
            }),
        }
    })?;
    Ok(())
}

/// Refuses a string that would be longer than `proto-max-bulk-len`.
fn check_length(ctx: &Context<'_, '_>, before: u64, more: u64) -> Result<(), CommandError> {
    match before.checked_add(more) {
        Some(total) if total <= ctx.shared.settings.bulk_max_bytes() => Ok(()),
        _ => Err(CommandError::text("ERR string exceeds maximum allowed size (proto-max-bulk-len)")),
    }
}

//! Strings as arrays of bits, the first bit of a byte being its highest.

mod combine;
mod count;
mod field;

use super::{CommandError, Context, Group, Outcome, args};
use crate::data::string;
use crate::server::hub::notify;

pub(super) const HANDLERS: Group = &[
    ("bitcount", count::bitcount),
    ("bitfield", field::bitfield),
    ("bitfield_ro", field::bitfield_ro),
    ("bitop", combine::bitop),
    ("bitpos", count::bitpos),
    ("getbit", getbit),
    ("setbit", setbit),
];

const OFFSET_OUT_OF_RANGE: CommandError =
    CommandError::text("ERR bit offset is not an integer or out of range");

fn getbit(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (byte, bit) = place(ctx, args[2])?;
    let db = ctx.db();
    string::root(ctx.txn, db, args[1])?;
    let found = read_byte(ctx, args[1], byte)?;
    ctx.reply.integer(i64::from(found >> bit & 1));
    Ok(())
}

fn setbit(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (byte, bit) = place(ctx, args[2])?;
    let wanted = match args[3] {
        b"0" => 0,
        b"1" => 1,
        _ => return Err(CommandError::text("ERR bit is not an integer or out of range")),
    };
    let (db, key) = (ctx.db(), args[1]);
    let root = string::root(ctx.txn, db, key)?;
    let before = read_byte(ctx, key, byte)?;
    let after = before & !(1 << bit) | wanted << bit;
    let is_inside = root.is_some_and(|root| byte < root.value_len);
    let is_changed = !is_inside || before != after;
    if is_changed || root.as_ref().is_some_and(string::is_compact) {
        string::overwrite(ctx.txn, db, key, root.as_ref(), byte, &[after])?;
    }
    if is_changed {
        ctx.notify(notify::STRING, "setbit", key);
    }
    ctx.reply.integer(i64::from(before >> bit & 1));
    Ok(())
}

/// The byte that a bit is in, and its place in the byte.
fn place(ctx: &Context<'_, '_>, offset: &[u8]) -> Result<(u64, u32), CommandError> {
    let offset = bit_offset(ctx, args::integer(offset).ok())?;
    Ok((offset / 8, 7 - (offset % 8) as u32))
}

/// The number of a bit that a string may have.
fn bit_offset(ctx: &Context<'_, '_>, offset: Option<i64>) -> Result<u64, CommandError> {
    let offset = offset.and_then(|offset| u64::try_from(offset).ok());
    offset.filter(|offset| offset / 8 < ctx.shared.settings.bulk_max_bytes()).ok_or(OFFSET_OUT_OF_RANGE)
}

/// A count of bits or bytes as a reply; it never reaches 2^63.
fn as_integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A byte of a string; 0 behind its end.
fn read_byte(ctx: &mut Context<'_, '_>, key: &[u8], byte: u64) -> Result<u8, CommandError> {
    let db = ctx.db();
    let mut found = 0;
    ctx.txn.read_value(db, key, (byte, 1), &mut |bytes| found = bytes.first().copied().unwrap_or(0))?;
    Ok(found)
}

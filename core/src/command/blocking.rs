//! The pops and moves that wait where there is nothing. Each tries what its sibling that never waits does; in a MULTI it
//! does nothing else.

use super::args::SeveralPop;
use super::list::{self, end};
use super::sorted_set::remove as zset;
use super::{CommandError, Context, Group, Outcome};
use crate::data::list::{End, List};
use crate::data::long_double::LongDouble;
use crate::engine::Kind;
use crate::resp;
use crate::server::hub::{Nothing, Wait, notify};

pub(super) const HANDLERS: Group = &[
    ("blmove", blmove),
    ("blmpop", blmpop),
    ("blpop", blpop),
    ("brpop", brpop),
    ("brpoplpush", brpoplpush),
    ("bzmpop", bzmpop),
    ("bzpopmax", bzpopmax),
    ("bzpopmin", bzpopmin),
];

const NOT_FLOAT: CommandError = CommandError::text("ERR timeout is not a float or out of range");
const NEGATIVE: CommandError = CommandError::text("ERR timeout is negative");
const OUT_OF_RANGE: CommandError = CommandError::text("ERR timeout is out of range");

/// The unix time in milliseconds at which a wait of so many seconds ends; None for a wait without end (0).
pub(super) fn deadline(ctx: &Context<'_, '_>, seconds: &[u8]) -> Result<Option<u64>, CommandError> {
    let millis = millis(seconds).ok_or(NOT_FLOAT)?;
    if millis > i64::MAX as f64 {
        return Err(OUT_OF_RANGE);
    }
    // What is within the range was just checked; what is below it is negative all the same.
    after(ctx, millis as i64)
}

/// Seconds as whole milliseconds, rounded up. Redis reads them as a `long double`, which holds numbers that a double does
/// not: one that is too large is out of range instead of no number, and one that is too small is a wait nevertheless.
fn millis(seconds: &[u8]) -> Option<f64> {
    if let Some(seconds) = hexadecimal(seconds) {
        return Some((seconds * 1000.0).ceil());
    }
    let exact = LongDouble::parse(seconds)?;
    let seconds: f64 = std::str::from_utf8(seconds).ok()?.parse().ok()?;
    let is_tiny = seconds == 0.0 && seconds.is_sign_positive() && Some(exact) != LongDouble::parse(b"0");
    Some(if is_tiny { 1.0 } else { (seconds * 1000.0).ceil() })
}

/// The same for a wait in milliseconds.
pub(super) fn deadline_ms(ctx: &Context<'_, '_>, millis: &[u8]) -> Result<Option<u64>, CommandError> {
    let millis =
        resp::parse_i64(millis).ok_or(CommandError::text("ERR timeout is not an integer or out of range"))?;
    after(ctx, millis)
}

/// Seconds in hexadecimal digits, `0x10`. Other numbers in hexadecimal are refused, but test suites write the largest
/// time-out like this.
fn hexadecimal(seconds: &[u8]) -> Option<f64> {
    let (sign, digits) = match seconds {
        [b'-', digits @ ..] => (-1.0, digits),
        [b'+', digits @ ..] => (1.0, digits),
        digits => (1.0, digits),
    };
    let [b'0', b'x' | b'X', digits @ ..] = digits else { return None };
    let add = |sum: f64, digit: &u8| Some(sum * 16.0 + f64::from(char::from(*digit).to_digit(16)?));
    let number = digits.iter().try_fold(0.0, add)?;
    (!digits.is_empty()).then_some(sign * number)
}

fn after(ctx: &Context<'_, '_>, millis: i64) -> Result<Option<u64>, CommandError> {
    let millis = u64::try_from(millis).map_err(|_| NEGATIVE)?;
    if millis == 0 {
        return Ok(None);
    }
    let end = ctx.now_ms().checked_add(millis).filter(|end| *end <= i64::MAX as u64);
    end.map(Some).ok_or(OUT_OF_RANGE)
}

/// Waits for one of these keys.
fn wait(
    ctx: &mut Context<'_, '_>,
    keys: &[&[u8]],
    kind: Kind,
    until_ms: Option<u64>,
    nothing: Nothing,
) -> Outcome {
    let keys = keys.iter().map(|key| key.to_vec()).collect();
    ctx.wait_for(Wait { keys, kind, takes: true, ends_without_key: false, until_ms, nothing, request: None });
    Ok(())
}

fn blpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop(ctx, args, End::Head)
}

fn brpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop(ctx, args, End::Tail)
}

fn pop(ctx: &mut Context<'_, '_>, args: &[&[u8]], end: End) -> Outcome {
    let [_, keys @ .., timeout] = args else { return Err(CommandError::SYNTAX) };
    let until_ms = deadline(ctx, timeout)?;
    let (db, shared, reply) = (ctx.db(), ctx.shared, &mut *ctx.reply);
    for key in keys {
        let Some(mut list) = List::open(ctx.txn, db, key)? else { continue };
        reply.array(2);
        reply.bulk(key);
        list.pop(end, 1, &|| list::fill(shared), &mut |element| reply.bulk(element))?;
        ctx.notify_taken(notify::LIST, list::popped(end), key);
        return Ok(());
    }
    wait(ctx, keys, Kind::List, until_ms, Nothing::Array)
}

fn blmpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, timeout, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let wanted = SeveralPop::parse(rest, end)?;
    let until_ms = deadline(ctx, timeout)?;
    if list::pop_several(ctx, &wanted)? {
        return Ok(());
    }
    wait(ctx, wanted.keys, Kind::List, until_ms, Nothing::Array)
}

fn blmove(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, source, target, from, to, timeout] = args else { return Err(CommandError::SYNTAX) };
    let (from, to) = (end(from)?, end(to)?);
    let until_ms = deadline(ctx, timeout)?;
    if list::move_one(ctx, (source, from), (target, to))? {
        return Ok(());
    }
    wait(ctx, &[source], Kind::List, until_ms, Nothing::Value)
}

fn brpoplpush(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, source, target, timeout] = args else { return Err(CommandError::SYNTAX) };
    let until_ms = deadline(ctx, timeout)?;
    if list::move_one(ctx, (source, End::Tail), (target, End::Head))? {
        return Ok(());
    }
    wait(ctx, &[source], Kind::List, until_ms, Nothing::Value)
}

fn bzpopmin(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop_scored(ctx, args, zset::End::Lowest)
}

fn bzpopmax(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop_scored(ctx, args, zset::End::Highest)
}

fn pop_scored(ctx: &mut Context<'_, '_>, args: &[&[u8]], end: zset::End) -> Outcome {
    let [_, keys @ .., timeout] = args else { return Err(CommandError::SYNTAX) };
    let until_ms = deadline(ctx, timeout)?;
    if zset::pop_first(ctx, keys, end)? {
        return Ok(());
    }
    wait(ctx, keys, Kind::SortedSet, until_ms, Nothing::Array)
}

fn bzmpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, timeout, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let wanted = SeveralPop::parse(rest, zset::named_end)?;
    let until_ms = deadline(ctx, timeout)?;
    if zset::pop_several(ctx, &wanted)? {
        return Ok(());
    }
    wait(ctx, wanted.keys, Kind::SortedSet, until_ms, Nothing::Array)
}

//! The commands over lists that never wait.

use std::ops::ControlFlow;

use super::args::{SeveralPop, index_range, integer, integer_between, integer_in, is_option, positive};
use super::{CommandError, Context, Group, Outcome};
use crate::data::list::{End, List, Side};
use crate::data::root_of_kind;
use crate::engine::Kind;
use crate::server::Shared;
use crate::server::hub::notify;

pub(super) const HANDLERS: Group = &[
    ("lindex", lindex),
    ("linsert", linsert),
    ("llen", llen),
    ("lmove", lmove),
    ("lmpop", lmpop),
    ("lpop", lpop),
    ("lpos", lpos),
    ("lpush", lpush),
    ("lpushx", lpushx),
    ("lrange", lrange),
    ("lrem", lrem),
    ("lset", lset),
    ("ltrim", ltrim),
    ("rpop", rpop),
    ("rpoplpush", rpoplpush),
    ("rpush", rpush),
    ("rpushx", rpushx),
];

const COUNT_NEGATIVE: CommandError = CommandError::text("ERR COUNT can't be negative");
const MAXLEN_NEGATIVE: CommandError = CommandError::text("ERR MAXLEN can't be negative");
const RANK_ZERO: CommandError = CommandError::text(
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from \
     the end of the list",
);

/// The number that says how large a listpack may be; asked for only when it matters.
pub(super) fn fill(shared: &Shared) -> i64 {
    shared.settings.number("list-max-listpack-size")
}

/// The event of a push to an end.
fn pushed(end: End) -> &'static str {
    if end == End::Head { "lpush" } else { "rpush" }
}

/// The event of a pop from an end.
pub(super) fn popped(end: End) -> &'static str {
    if end == End::Head { "lpop" } else { "rpop" }
}

pub(super) fn end(argument: &[u8]) -> Result<End, CommandError> {
    if is_option(argument, "LEFT") {
        Ok(End::Head)
    } else if is_option(argument, "RIGHT") {
        Ok(End::Tail)
    } else {
        Err(CommandError::SYNTAX)
    }
}

fn lpush(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    push(ctx, args, End::Head)
}

fn rpush(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    push(ctx, args, End::Tail)
}

fn push(ctx: &mut Context<'_, '_>, args: &[&[u8]], end: End) -> Outcome {
    let [_, key, elements @ ..] = args else { return Err(CommandError::SYNTAX) };
    let (db, shared) = (ctx.db(), ctx.shared);
    let len = List::open_or_make(ctx.txn, db, key)?.push(end, elements, &|| fill(shared))?;
    ctx.notify(notify::LIST, pushed(end), key);
    ctx.reply.integer(len as i64);
    Ok(())
}

fn lpushx(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    push_if_there(ctx, args, End::Head)
}

fn rpushx(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    push_if_there(ctx, args, End::Tail)
}

fn push_if_there(ctx: &mut Context<'_, '_>, args: &[&[u8]], end: End) -> Outcome {
    let [_, key, elements @ ..] = args else { return Err(CommandError::SYNTAX) };
    let (db, shared) = (ctx.db(), ctx.shared);
    let len = match List::open(ctx.txn, db, key)? {
        Some(mut list) => list.push(end, elements, &|| fill(shared))?,
        None => 0,
    };
    if len > 0 {
        ctx.notify(notify::LIST, pushed(end), key);
    }
    ctx.reply.integer(len as i64);
    Ok(())
}

fn lpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop(ctx, args, End::Head)
}

fn rpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop(ctx, args, End::Tail)
}

fn pop(ctx: &mut Context<'_, '_>, args: &[&[u8]], end: End) -> Outcome {
    let (key, count) = match args {
        [_, key] => (*key, None),
        [_, key, count] => (*key, Some(positive(count)?)),
        [name, ..] => {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            return Err(CommandError::owned(format!("ERR wrong number of arguments for '{name}' command")));
        }
        [] => return Err(CommandError::SYNTAX),
    };
    let (db, shared, reply) = (ctx.db(), ctx.shared, &mut *ctx.reply);
    let Some(mut list) = List::open(ctx.txn, db, key)? else {
        if count.is_some() {
            reply.null_array()
        } else {
            reply.null()
        }
        return Ok(());
    };
    if let Some(count) = count {
        reply.array(count.min(list.len()?) as usize);
    }
    if count != Some(0) {
        list.pop(end, count.unwrap_or(1), &|| fill(shared), &mut |element| reply.bulk(element))?;
        ctx.notify_taken(notify::LIST, popped(end), key);
    }
    Ok(())
}

fn lmpop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let wanted = SeveralPop::parse(args.get(1..).unwrap_or_default(), end)?;
    if !pop_several(ctx, &wanted)? {
        ctx.reply.null_array();
    }
    Ok(())
}

/// Pops from the first list there is and replies; false, without a reply, if there is none.
pub(super) fn pop_several(
    ctx: &mut Context<'_, '_>,
    wanted: &SeveralPop<'_, End>,
) -> Result<bool, CommandError> {
    let (db, shared, reply) = (ctx.db(), ctx.shared, &mut *ctx.reply);
    for key in wanted.keys {
        let Some(mut list) = List::open(ctx.txn, db, key)? else { continue };
        reply.array(2);
        reply.bulk(key);
        reply.array(wanted.count.min(list.len()?) as usize);
        list.pop(wanted.end, wanted.count, &|| fill(shared), &mut |element| reply.bulk(element))?;
        ctx.notify_taken(notify::LIST, popped(wanted.end), key);
        return Ok(true);
    }
    Ok(false)
}

fn lmove(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, source, target, from, to] = args else { return Err(CommandError::SYNTAX) };
    let is_moved = move_one(ctx, (source, end(from)?), (target, end(to)?))?;
    if !is_moved {
        ctx.reply.null();
    }
    Ok(())
}

fn rpoplpush(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, source, target] = args else { return Err(CommandError::SYNTAX) };
    let is_moved = move_one(ctx, (source, End::Tail), (target, End::Head))?;
    if !is_moved {
        ctx.reply.null();
    }
    Ok(())
}

/// Moves an element from one end to another and replies with it; false, without a reply, if there is no source.
pub(super) fn move_one(
    ctx: &mut Context<'_, '_>,
    (source, from): (&[u8], End),
    (target, to): (&[u8], End),
) -> Result<bool, CommandError> {
    let (db, shared, reply) = (ctx.db(), ctx.shared, &mut *ctx.reply);
    if root_of_kind(ctx.txn, db, source, Kind::List)?.is_none() {
        return Ok(false);
    }
    root_of_kind(ctx.txn, db, target, Kind::List)?;
    let Some(mut list) = List::open(ctx.txn, db, source)? else { return Ok(false) };
    if source == target {
        list.rotate(from, to, &mut |element| reply.bulk(element))?;
        ctx.notify(notify::LIST, pushed(to), target);
        ctx.notify(notify::LIST, popped(from), source);
        return Ok(true);
    }
    let mut moved = Vec::new();
    list.pop(from, 1, &|| fill(shared), &mut |element| moved.extend_from_slice(element))?;
    List::open_or_make(ctx.txn, db, target)?.push(to, &[&moved], &|| fill(shared))?;
    reply.bulk(&moved);
    ctx.notify(notify::LIST, pushed(to), target);
    ctx.notify_taken(notify::LIST, popped(from), source);
    Ok(true)
}

fn llen(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    let len = List::open(ctx.txn, db, key)?.map_or(Ok(0), |mut list| list.len())?;
    ctx.reply.integer(len as i64);
    Ok(())
}

fn lindex(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, index] = args else { return Err(CommandError::SYNTAX) };
    let (db, reply) = (ctx.db(), &mut *ctx.reply);
    let is_found = match List::open(ctx.txn, db, key)? {
        Some(mut list) => list.get(integer(index)?, &mut |element| reply.bulk(element))?,
        None => false,
    };
    if !is_found {
        reply.null();
    }
    Ok(())
}

fn lrange(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, start, stop] = args else { return Err(CommandError::SYNTAX) };
    let (start, stop) = (integer(start)?, integer(stop)?);
    let (db, work, reply) = (ctx.db(), ctx.work(), &mut *ctx.reply);
    let list = List::open(ctx.txn, db, key)?;
    let Some(mut list) = list else {
        reply.array(0);
        return Ok(());
    };
    let Some((from, to)) = index_range(start, stop, list.len()?) else {
        reply.array(0);
        return Ok(());
    };
    work.expect(to - from)?;
    reply.array((to - from) as usize);
    list.range(from, to - from, &mut |element| reply.bulk(element))?;
    Ok(())
}

fn ltrim(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, start, stop] = args else { return Err(CommandError::SYNTAX) };
    let (start, stop) = (integer(start)?, integer(stop)?);
    let (db, shared) = (ctx.db(), ctx.shared);
    if let Some(mut list) = List::open(ctx.txn, db, key)? {
        let kept = index_range(start, stop, list.len()?);
        list.trim(kept, &|| fill(shared))?;
        ctx.notify_taken(notify::LIST, "ltrim", key);
    }
    ctx.reply.ok();
    Ok(())
}

fn lset(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, index, element] = args else { return Err(CommandError::SYNTAX) };
    let (db, shared) = (ctx.db(), ctx.shared);
    let mut list = List::open(ctx.txn, db, key)?.ok_or(CommandError::NO_SUCH_KEY)?;
    if !list.set(integer(index)?, element, &|| fill(shared))? {
        return Err(CommandError::INDEX_OUT_OF_RANGE);
    }
    ctx.notify(notify::LIST, "lset", key);
    ctx.reply.ok();
    Ok(())
}

fn linsert(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, side, pivot, element] = args else { return Err(CommandError::SYNTAX) };
    let side = if is_option(side, "BEFORE") {
        Side::Before
    } else if is_option(side, "AFTER") {
        Side::After
    } else {
        return Err(CommandError::SYNTAX);
    };
    let (db, shared) = (ctx.db(), ctx.shared);
    let len = match List::open(ctx.txn, db, key)? {
        Some(mut list) => {
            let len = list.insert(side, pivot, element, &|| fill(shared))?;
            len.map_or(-1, |len| len as i64)
        }
        None => 0,
    };
    if len > 0 {
        ctx.notify(notify::LIST, "linsert", key);
    }
    ctx.reply.integer(len);
    Ok(())
}

fn lrem(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, count, element] = args else { return Err(CommandError::SYNTAX) };
    let count = integer(count)?;
    let from = if count < 0 { End::Tail } else { End::Head };
    let most = if count == 0 { u64::MAX } else { count.unsigned_abs() };
    let (db, shared) = (ctx.db(), ctx.shared);
    let removed = match List::open(ctx.txn, db, key)? {
        Some(mut list) => list.remove(from, most, element, &|| fill(shared))?,
        None => 0,
    };
    if removed > 0 {
        ctx.notify_taken(notify::LIST, "lrem", key);
    }
    ctx.reply.integer(removed as i64);
    Ok(())
}

fn lpos(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, element, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let (mut rank, mut count, mut compared) = (1, None, u64::MAX);
    let mut options = options;
    while let [name, rest @ ..] = options {
        let [value, rest @ ..] = rest else { return Err(CommandError::SYNTAX) };
        if is_option(name, "RANK") {
            rank = integer_between(value, -i64::MAX, i64::MAX)?;
            if rank == 0 {
                return Err(RANK_ZERO);
            }
        } else if is_option(name, "COUNT") {
            count = Some(integer_in(value, 0..=i64::MAX, COUNT_NEGATIVE)?.unsigned_abs());
        } else if is_option(name, "MAXLEN") {
            let most = integer_in(value, 0..=i64::MAX, MAXLEN_NEGATIVE)?.unsigned_abs();
            compared = if most == 0 { u64::MAX } else { most };
        } else {
            return Err(CommandError::SYNTAX);
        }
        options = rest;
    }
    let (db, reply) = (ctx.db(), &mut *ctx.reply);
    let Some(mut list) = List::open(ctx.txn, db, key)? else {
        if count.is_some() {
            reply.array(0)
        } else {
            reply.null()
        }
        return Ok(());
    };
    let from = if rank < 0 { End::Tail } else { End::Head };
    let mut skipped = rank.unsigned_abs() - 1;
    let wanted = match count {
        Some(0) => u64::MAX,
        Some(count) => count,
        None => 1,
    };
    let mark = count.map(|_| reply.defer());
    let mut found = 0;
    list.find(from, compared, element, &mut |index| {
        if skipped > 0 {
            skipped -= 1;
            return ControlFlow::Continue(());
        }
        reply.integer(index as i64);
        found += 1;
        if found == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    match mark {
        Some(mark) => reply.finish_array(mark, found as usize),
        None if found == 0 => reply.null(),
        None => {}
    }
    Ok(())
}

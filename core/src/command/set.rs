//! The commands over sets.

use std::ops::ControlFlow;

use super::args::{integer_between, integer_in, is_option, positive};
use super::scan::{self, SubScan};
use super::{CommandError, Context, Group, Outcome, random};
use crate::data::root_of_kind;
use crate::data::set::algebra::{Operation, Sources};
use crate::data::set::{Encoding, Limits, Set, is_small};
use crate::engine::{Kind, Want};
use crate::memory_budget::Gathered;
use crate::server::Shared;
use crate::server::hub::notify;

pub(super) const HANDLERS: Group = &[
    ("sadd", sadd),
    ("scard", scard),
    ("sdiff", sdiff),
    ("sdiffstore", sdiffstore),
    ("sinter", sinter),
    ("sintercard", sintercard),
    ("sinterstore", sinterstore),
    ("sismember", sismember),
    ("smembers", smembers),
    ("smismember", smismember),
    ("smove", smove),
    ("spop", spop),
    ("srandmember", srandmember),
    ("srem", srem),
    ("sscan", sscan),
    ("sunion", sunion),
    ("sunionstore", sunionstore),
];

const NUMKEYS: CommandError = CommandError::text("ERR numkeys should be greater than 0");
const NUMKEYS_TOO_MANY: CommandError =
    CommandError::text("ERR Number of keys can't be greater than number of args");
const LIMIT_NEGATIVE: CommandError = CommandError::text("ERR LIMIT can't be negative");

/// Up to where the small encodings go; asked for only when it matters.
pub(super) fn limits(shared: &Shared) -> Limits {
    let number = |name| u64::try_from(shared.settings.number(name)).unwrap_or(0);
    Limits {
        intset_entries: number("set-max-intset-entries"),
        listpack_entries: number("set-max-listpack-entries"),
        listpack_value_bytes: number("set-max-listpack-value"),
    }
}

/// Says how much work it is to walk these sets.
fn expect_walk(ctx: &mut Context<'_, '_>, keys: &[&[u8]]) -> Outcome {
    let db = ctx.db();
    let mut members = 0_u64;
    for key in keys {
        members = members.saturating_add(ctx.txn.sub_len(db, key)?);
    }
    ctx.expect_work(members)
}

/// So many members are added in order, which costs less than as they come.
const SORTED_MEMBERS_MIN: usize = 64;

fn sadd(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, members @ ..] = args else { return Err(CommandError::SYNTAX) };
    let [first, ..] = members else { return Err(CommandError::SYNTAX) };
    let (db, hint) = (ctx.db(), members.len() as u64);
    let ask = || limits(ctx.shared);
    let mut set = if root_of_kind(ctx.txn, db, key, Kind::Set)?.is_none() {
        Set::make(ctx.txn, db, key, Encoding::Fit { first, hint }, &ask)?
    } else {
        let Some(mut set) = Set::open(ctx.txn, db, key)? else { return Err(CommandError::NO_SUCH_KEY) };
        set.expect(hint, &ask);
        set
    };
    let added = if members.len() >= SORTED_MEMBERS_MIN && set.has_no_order() {
        let mut members = members.to_vec();
        members.sort_unstable();
        set.add(members.into_iter(), &ask)?
    } else {
        set.add(members.iter().copied(), &ask)?
    };
    if added > 0 {
        ctx.notify(notify::SET, "sadd", key);
    }
    ctx.reply.integer(added as i64);
    Ok(())
}

fn srem(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, members @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    let removed = match Set::open(ctx.txn, db, key)? {
        Some(mut set) => set.remove(members.iter().copied())?,
        None => 0,
    };
    if removed > 0 {
        ctx.notify_taken(notify::SET, "srem", key);
    }
    ctx.reply.integer(removed as i64);
    Ok(())
}

fn scard(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    let len = Set::open(ctx.txn, db, key)?.map_or(Ok(0), |mut set| set.len())?;
    ctx.reply.integer(len as i64);
    Ok(())
}

fn sismember(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, member] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    let is_there = Set::open(ctx.txn, db, key)?.map_or(Ok(false), |mut set| set.contains(member))?;
    ctx.reply.integer(i64::from(is_there));
    Ok(())
}

fn smismember(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, members @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    let mut set = Set::open(ctx.txn, db, key)?;
    ctx.reply.array(members.len());
    for member in members {
        let is_there = match &mut set {
            Some(set) => set.contains(member)?,
            None => false,
        };
        ctx.reply.integer(i64::from(is_there));
    }
    Ok(())
}

fn smembers(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key] = args else { return Err(CommandError::SYNTAX) };
    let (db, work, reply) = (ctx.db(), ctx.work(), &mut *ctx.reply);
    match Set::open(ctx.txn, db, key)? {
        Some(mut set) => {
            let len = set.len()?;
            work.expect(len)?;
            reply.set(len as usize);
            set.members(&mut |member| reply.bulk(member))?;
        }
        None => reply.set(0),
    }
    Ok(())
}

fn smove(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, source, target, member] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    if root_of_kind(ctx.txn, db, source, Kind::Set)?.is_none() {
        ctx.reply.integer(0);
        return Ok(());
    }
    // What is missing of both is fetched together.
    let target_root = root_of_kind(ctx.txn, db, target, Kind::Set);
    let mut set = Set::open(ctx.txn, db, source)?.ok_or(CommandError::NO_SUCH_KEY)?;
    let is_there = set.contains(member);
    let (has_target, is_there) = (target_root?.is_some(), is_there?);
    if source == target || !is_there {
        ctx.reply.integer(i64::from(is_there));
        return Ok(());
    }
    set.remove([*member].into_iter())?;
    ctx.notify_taken(notify::SET, "srem", source);
    let ask = || limits(ctx.shared);
    let mut set = if has_target {
        Set::open(ctx.txn, db, target)?.ok_or(CommandError::NO_SUCH_KEY)?
    } else {
        Set::make(ctx.txn, db, target, Encoding::Fit { first: member, hint: 1 }, &ask)?
    };
    if set.add([*member].into_iter(), &ask)? > 0 {
        ctx.notify(notify::SET, "sadd", target);
    }
    ctx.reply.integer(1);
    Ok(())
}

fn spop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, count) = match args {
        [_, key] => (*key, None),
        [_, key, count] => (*key, Some(positive(count)?)),
        _ => return Err(CommandError::SYNTAX),
    };
    let (db, reply) = (ctx.db(), &mut *ctx.reply);
    let Some(mut set) = Set::open(ctx.txn, db, key)? else {
        if count.is_some() {
            reply.set(0)
        } else {
            reply.null()
        }
        return Ok(());
    };
    let len = set.len()?;
    let taken = count.unwrap_or(1).min(len);
    if count.is_some() {
        reply.set(taken as usize);
    }
    if taken == len {
        set.members(&mut |member| reply.bulk(member))?;
        ctx.txn.remove(db, key)?;
    } else if taken > 0 {
        let ranks = random::ranks(&mut ctx.client.random, taken as i64, len)?;
        set.take(ranks, &mut |member| reply.bulk(member))?;
    }
    if taken > 0 {
        ctx.notify_taken(notify::SET, "spop", key);
    }
    Ok(())
}

fn srandmember(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, count) = match args {
        [_, key] => (*key, None),
        [_, key, count] => (*key, Some(integer_between(count, -i64::MAX, i64::MAX)?)),
        _ => return Err(CommandError::SYNTAX),
    };
    let (db, reply) = (ctx.db(), &mut *ctx.reply);
    let Some(mut set) = Set::open(ctx.txn, db, key)? else {
        if count.is_some() {
            reply.array(0)
        } else {
            reply.null()
        }
        return Ok(());
    };
    let len = set.len()?;
    if count.is_some_and(|count| count > 0 && count.unsigned_abs() >= len) {
        reply.array(len as usize);
        set.members(&mut |member| reply.bulk(member))?;
        return Ok(());
    }
    let ranks = random::ranks(&mut ctx.client.random, count.unwrap_or(1), len)?;
    if count.is_some() {
        reply.array(ranks.len());
    }
    if count.is_some_and(|count| count < 0) {
        set.announce_ranks(&ranks)?;
        for rank in ranks {
            set.select(rank, &mut |member| reply.bulk(member))?;
        }
    } else {
        set.pick(ranks, &mut |member| reply.bulk(member))?;
    }
    Ok(())
}

fn sscan(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, cursor, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let (db, cursor) = (ctx.db(), scan::cursor(cursor)?);
    let Some(root) = root_of_kind(ctx.txn, db, key, Kind::Set)? else {
        scan::reply_nothing(ctx.reply);
        return Ok(());
    };
    let options = scan::options(options, false)?;
    let ranks = 0..ctx.txn.sub_len(db, key)?;
    let is_small = is_small(&root);
    let walk = SubScan { key, cursor, options, ranks, is_small, want: Want::Subkeys };
    walk.reply(ctx, 1, |member| member, &mut |reply, member, _| reply.bulk(member))
}

fn sinter(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(ctx, args, Operation::Intersection)
}

fn sdiff(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(ctx, args, Operation::Difference)
}

fn sunion(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(ctx, args, Operation::Union)
}

fn combine(ctx: &mut Context<'_, '_>, args: &[&[u8]], operation: Operation) -> Outcome {
    let [_, keys @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    let sources = Sources::open(ctx.txn, db, operation, keys)?;
    expect_walk(ctx, keys)?;
    let reply = &mut *ctx.reply;
    let mark = reply.defer();
    let mut count = 0;
    sources.combine(ctx.txn, &mut |member| {
        reply.bulk(member);
        count += 1;
        ControlFlow::Continue(())
    })?;
    reply.finish_set(mark, count);
    Ok(())
}

fn sintercard(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, numkeys, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let numkeys = integer_in(numkeys, 1..=i64::MAX, NUMKEYS)?;
    let keys = usize::try_from(numkeys).ok().and_then(|count| rest.split_at_checked(count));
    let (keys, mut options) = keys.ok_or(NUMKEYS_TOO_MANY)?;
    let mut limit = 0;
    while let [name, rest @ ..] = options {
        let [value, rest @ ..] = rest else { return Err(CommandError::SYNTAX) };
        if !is_option(name, "LIMIT") {
            return Err(CommandError::SYNTAX);
        }
        limit = integer_in(value, 0..=i64::MAX, LIMIT_NEGATIVE)?;
        options = rest;
    }
    let db = ctx.db();
    let sources = Sources::open(ctx.txn, db, Operation::Intersection, keys)?;
    expect_walk(ctx, keys)?;
    let mut count = 0;
    sources.combine(ctx.txn, &mut |_| {
        count += 1;
        if count == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    ctx.reply.integer(count);
    Ok(())
}

fn sinterstore(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    store(ctx, args, Operation::Intersection, "sinterstore")
}

fn sdiffstore(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    store(ctx, args, Operation::Difference, "sdiffstore")
}

fn sunionstore(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    store(ctx, args, Operation::Union, "sunionstore")
}

fn store(ctx: &mut Context<'_, '_>, args: &[&[u8]], operation: Operation, event: &'static str) -> Outcome {
    let [_, target, keys @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    let sources = Sources::open(ctx.txn, db, operation, keys);
    if sources.is_ok() {
        expect_walk(ctx, keys)?;
    }
    ctx.note_reads(keys, sources.is_ok());
    let sources = sources?;
    // The target may be one of the sources, so the result is complete before anything is written.
    let mut members = Gathered::within(ctx.txn.share());
    sources.combine(ctx.txn, &mut |member| {
        members.push_with(member.len(), || member.to_vec());
        ControlFlow::Continue(())
    })?;
    let members: Vec<Vec<u8>> = members.all()?;
    if members.is_empty() {
        if ctx.txn.remove(db, target)? {
            ctx.notify(notify::GENERIC, "del", target);
        }
    } else {
        let ask = || limits(ctx.shared);
        let encoding = sources.encoding_for(ctx.txn, &members, &ask)?;
        let mut set = Set::make(ctx.txn, db, target, encoding, &ask)?;
        set.add(members.iter().map(Vec::as_slice), &ask)?;
        ctx.notify(notify::SET, event, target);
    }
    ctx.reply.integer(members.len() as i64);
    Ok(())
}

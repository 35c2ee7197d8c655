//! What is asked of single members, of counts, and of chance.

use std::collections::HashSet;

use super::Layout;
use super::bounds::{lex_range, score_range};
use crate::command::args::{integer, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::zset::{Slot, SortedSet};
use crate::engine::Direction;
use crate::limits::RANDOM_PICKS_MAX;

/// From this share of the set on (one in so many), unique random members are picked in one walk over all.
const WALK_SHARE: u64 = 8;

pub(super) fn zcard(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key] = args else { return Err(CommandError::SYNTAX) };
    let db = context.db();
    let len = SortedSet::open(context.txn, db, key)?.len(context.txn)?;
    context.reply.integer(len.cast_signed());
    Ok(())
}

pub(super) fn zscore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, member] = args else { return Err(CommandError::SYNTAX) };
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    match set.score(context.txn, &mut Slot::of(member))? {
        Some(score) => context.reply.double(score),
        None => context.reply.null(),
    }
    Ok(())
}

pub(super) fn zmscore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, members @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let mut slot = Slot::of(&[]);
    context.reply.array(members.len());
    for member in members {
        slot.reset(member);
        match set.score(context.txn, &mut slot)? {
            Some(score) => context.reply.double(score),
            None => context.reply.null(),
        }
    }
    Ok(())
}

pub(super) fn zrank(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    rank(context, args, Direction::Ascending)
}

pub(super) fn zrevrank(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    rank(context, args, Direction::Descending)
}

fn rank(context: &mut Context<'_, '_>, args: &[&[u8]], direction: Direction) -> Outcome {
    let (key, member, with_score) = match args {
        [_, key, member] => (key, member, false),
        [_, key, member, option] if is_option(option, "WITHSCORE") => (key, member, true),
        [_, _, _, _] => return Err(CommandError::SYNTAX),
        _ => {
            let name = if direction == Direction::Ascending { "zrank" } else { "zrevrank" };
            return Err(CommandError::owned(format!("ERR wrong number of arguments for '{name}' command")));
        }
    };
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let mut slot = Slot::of(member);
    let Some(score) = set.score(context.txn, &mut slot)? else {
        if with_score {
            context.reply.null_array();
        } else {
            context.reply.null();
        }
        return Ok(());
    };
    let mut rank = set.rank(context.txn, &mut slot, score)?;
    if direction == Direction::Descending {
        rank = set.len(context.txn)?.saturating_sub(rank + 1);
    }
    if with_score {
        context.reply.array(2);
    }
    context.reply.integer(rank.cast_signed());
    if with_score {
        context.reply.double(score);
    }
    Ok(())
}

pub(super) fn zcount(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, min, max] = args else { return Err(CommandError::SYNTAX) };
    let range = score_range(min, max)?;
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let ranks = set.ranks_by_score(context.txn, &range)?;
    context.reply.integer((ranks.end - ranks.start).cast_signed());
    Ok(())
}

pub(super) fn zlexcount(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, min, max] = args else { return Err(CommandError::SYNTAX) };
    let range = lex_range(min, max)?;
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let ranks = set.ranks_by_name(context.txn, &range)?;
    context.reply.integer((ranks.end - ranks.start).cast_signed());
    Ok(())
}

pub(super) fn zrandmember(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let Some(count) = rest.first() else { return random_member(context, key) };
    let count = integer(count)?;
    if count == i64::MIN {
        return Err(CommandError::text(
            "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807",
        ));
    }
    let with_scores = match rest {
        [_] => false,
        [_, option] if is_option(option, "WITHSCORES") => true,
        _ => return Err(CommandError::SYNTAX),
    };
    if with_scores && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err(CommandError::OUT_OF_RANGE);
    }
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let len = set.len(context.txn)?;
    let layout = Layout::of(with_scores, context.reply);
    if len == 0 || count == 0 {
        context.reply.array(0);
        Ok(())
    } else if count < 0 {
        repeated_members(context, &set, len, count.unsigned_abs(), layout)
    } else {
        unique_members(context, &set, len, count.unsigned_abs(), layout)
    }
}

fn random_member(context: &mut Context<'_, '_>, key: &[u8]) -> Outcome {
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let len = set.len(context.txn)?;
    if len == 0 {
        context.reply.null();
        return Ok(());
    }
    let rank = context.client.random.u64(0..len);
    let reply = &mut *context.reply;
    set.scan(context.txn, rank..rank + 1, Direction::Ascending, &mut |member, _| reply.bulk(member))?;
    Ok(())
}

/// `count` members, each picked from all.
fn repeated_members(
    context: &mut Context<'_, '_>,
    set: &SortedSet<'_>,
    len: u64,
    count: u64,
    layout: Layout,
) -> Outcome {
    if count > RANDOM_PICKS_MAX {
        return Err(CommandError::OUT_OF_RANGE);
    }
    let reply = &mut *context.reply;
    layout.begin(reply, count);
    for _ in 0..count {
        let rank = context.client.random.u64(0..len);
        set.scan(context.txn, rank..rank + 1, Direction::Ascending, &mut |member, score| {
            layout.write(reply, member, score);
        })?;
    }
    Ok(())
}

/// `count` different members, or all; in order, as in Redis' listpack.
fn unique_members(
    context: &mut Context<'_, '_>,
    set: &SortedSet<'_>,
    len: u64,
    count: u64,
    layout: Layout,
) -> Outcome {
    let count = count.min(len);
    let reply = &mut *context.reply;
    layout.begin(reply, count);
    let random = &mut context.client.random;
    if count >= len / WALK_SHARE {
        // Each member is taken with the chance that fills up the count exactly at the end.
        let (mut wanted, mut left) = (count, len);
        set.scan(context.txn, 0..len, Direction::Ascending, &mut |member, score| {
            if random.u64(0..left.max(1)) < wanted {
                layout.write(reply, member, score);
                wanted -= 1;
            }
            left = left.saturating_sub(1);
        })?;
        return Ok(());
    }
    // Floyd's sampling: the pick of step `top` is any rank up to `top`, or `top` itself if that one is taken.
    let mut picked = HashSet::new();
    for top in len - count..len {
        let rank = random.u64(0..=top);
        let rank = if picked.insert(rank) { continue } else { top };
        picked.insert(rank);
    }
    let mut ranks: Vec<u64> = picked.into_iter().collect();
    ranks.sort_unstable();
    for rank in ranks {
        set.scan(context.txn, rank..rank + 1, Direction::Ascending, &mut |member, score| {
            layout.write(reply, member, score);
        })?;
    }
    Ok(())
}

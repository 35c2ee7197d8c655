//! Removals by member, by range, and the pops.

use std::ops::Range;

use super::Layout;
use super::bounds::{lex_range, score_range};
use crate::command::args::{SeveralPop, index_range, integer, is_option, positive};
use crate::command::{CommandError, Context, Outcome};
use crate::data::zset::{Slot, SortedSet};
use crate::engine::Direction;
use crate::resp::Protocol;
use crate::server::hub::notify;

pub(super) fn zrem(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, members @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = context.db();
    let mut set = SortedSet::open(context.txn, db, key)?;
    let mut removed = 0;
    let mut slot = Slot::of(&[]);
    for member in members {
        slot.reset(member);
        removed += i64::from(set.remove(context.txn, &mut slot)?);
    }
    if removed > 0 {
        context.notify_taken(notify::SORTED_SET, "zrem", key);
    }
    context.reply.integer(removed);
    Ok(())
}

pub(super) fn zremrangebyrank(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, start, stop] = args else { return Err(CommandError::SYNTAX) };
    let (start, stop) = (integer(start)?, integer(stop)?);
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let len = set.len(context.txn)?;
    let (start, end) = index_range(start, stop, len).unwrap_or((0, 0));
    remove_range(context, (key, set), start..end, "zremrangebyrank")
}

pub(super) fn zremrangebyscore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, min, max] = args else { return Err(CommandError::SYNTAX) };
    let range = score_range(min, max)?;
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let ranks = set.ranks_by_score(context.txn, &range)?;
    remove_range(context, (key, set), ranks, "zremrangebyscore")
}

pub(super) fn zremrangebylex(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, min, max] = args else { return Err(CommandError::SYNTAX) };
    let range = lex_range(min, max)?;
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let ranks = set.ranks_by_name(context.txn, &range)?;
    remove_range(context, (key, set), ranks, "zremrangebylex")
}

fn remove_range(
    context: &mut Context<'_, '_>,
    (key, mut set): (&[u8], SortedSet<'_>),
    ranks: Range<u64>,
    event: &'static str,
) -> Outcome {
    let count = ranks.end - ranks.start;
    if count > 0 {
        set.remove_ranks(context.txn, ranks, Direction::Ascending, None)?;
        context.notify_taken(notify::SORTED_SET, event, key);
    }
    context.reply.integer(count.cast_signed());
    Ok(())
}

/// Which end of a sorted set is popped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum End {
    /// The lowest scores.
    Lowest,
    /// The highest scores.
    Highest,
}

impl End {
    /// The ranks of `count` members at this end.
    fn ranks(self, len: u64, count: u64) -> Range<u64> {
        match self {
            End::Lowest => 0..count.min(len),
            End::Highest => len.saturating_sub(count)..len,
        }
    }

    /// The event of a pop from this end.
    fn popped(self) -> &'static str {
        match self {
            End::Lowest => "zpopmin",
            End::Highest => "zpopmax",
        }
    }

    fn direction(self) -> Direction {
        match self {
            End::Lowest => Direction::Ascending,
            End::Highest => Direction::Descending,
        }
    }
}

pub(super) fn zpopmin(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop(context, args, End::Lowest)
}

pub(super) fn zpopmax(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    pop(context, args, End::Highest)
}

fn pop(context: &mut Context<'_, '_>, args: &[&[u8]], end: End) -> Outcome {
    let (key, count) = match args {
        [_, key] => (key, None),
        [_, key, count] => (key, Some(positive(count)?)),
        _ => return Err(CommandError::SYNTAX),
    };
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let is_nested = count.is_some() && context.reply.protocol() == Protocol::Resp3;
    let layout = if is_nested { Layout::Pairs } else { Layout::Flat };
    pop_from(context, (key, set), end, count.unwrap_or(1), layout)
}

/// Takes up to `count` members from one end and replies with them.
fn pop_from(
    context: &mut Context<'_, '_>,
    (key, mut set): (&[u8], SortedSet<'_>),
    end: End,
    count: u64,
    layout: Layout,
) -> Outcome {
    let ranks = end.ranks(set.len(context.txn)?, count);
    let reply = &mut *context.reply;
    layout.begin(reply, ranks.end - ranks.start);
    if !ranks.is_empty() {
        let mut write = |member: &[u8], score| layout.write(reply, member, score);
        set.remove_ranks(context.txn, ranks, end.direction(), Some(&mut write))?;
        context.notify_taken(notify::SORTED_SET, end.popped(), key);
    }
    Ok(())
}

pub(super) fn zmpop(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let wanted = SeveralPop::parse(args.get(1..).unwrap_or_default(), named_end)?;
    if !pop_several(context, &wanted)? {
        context.reply.null_array();
    }
    Ok(())
}

/// Which end MIN and MAX name.
pub(in crate::command) fn named_end(word: &[u8]) -> Result<End, CommandError> {
    if is_option(word, "MIN") {
        Ok(End::Lowest)
    } else if is_option(word, "MAX") {
        Ok(End::Highest)
    } else {
        Err(CommandError::SYNTAX)
    }
}

/// Pops from the first set there is and replies; false, without a reply, if there is none.
pub(in crate::command) fn pop_several(
    context: &mut Context<'_, '_>,
    wanted: &SeveralPop<'_, End>,
) -> Result<bool, CommandError> {
    let db = context.db();
    for key in wanted.keys {
        let set = SortedSet::open(context.txn, db, key)?;
        if set.is_there() {
            context.reply.array(2);
            context.reply.bulk(key);
            pop_from(context, (key, set), wanted.end, wanted.count, Layout::Pairs)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Pops one member from the first set there is and replies with key, member and score; false, without a reply, if there
/// is none.
pub(in crate::command) fn pop_first(
    context: &mut Context<'_, '_>,
    keys: &[&[u8]],
    end: End,
) -> Result<bool, CommandError> {
    let db = context.db();
    for key in keys {
        let mut set = SortedSet::open(context.txn, db, key)?;
        if set.is_there() {
            let reply = &mut *context.reply;
            reply.array(3);
            reply.bulk(key);
            let ranks = end.ranks(set.len(context.txn)?, 1);
            let mut write = |member: &[u8], score| {
                reply.bulk(member);
                reply.double(score);
            };
            set.remove_ranks(context.txn, ranks, end.direction(), Some(&mut write))?;
            context.notify_taken(notify::SORTED_SET, end.popped(), key);
            return Ok(true);
        }
    }
    Ok(false)
}

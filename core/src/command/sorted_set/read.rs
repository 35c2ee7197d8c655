//! What is asked of single members, of counts, and of chance.

use super::Layout;
use super::bounds::{lex_range, score_range};
use crate::command::args::{integer_between, is_option};
use crate::command::{CommandError, Context, Outcome, random};
use crate::data::zset::{Slot, SortedSet};
use crate::engine::Direction;

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
    let count = integer_between(count, -i64::MAX, i64::MAX)?;
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
    let reply = &mut *context.reply;
    let layout = Layout::of(with_scores, reply);
    if count.unsigned_abs() >= len && count > 0 {
        layout.begin(reply, len);
        set.scan(context.txn, 0..len, Direction::Ascending, &mut |member, score| {
            layout.write(reply, member, score);
        })?;
        return Ok(());
    }
    let ranks = random::ranks(&mut context.client.random, count, len)?;
    layout.begin(reply, ranks.len() as u64);
    set.announce_ranks(context.txn, &ranks)?;
    for rank in ranks {
        set.scan(context.txn, rank..rank + 1, Direction::Ascending, &mut |member, score| {
            layout.write(reply, member, score);
        })?;
    }
    Ok(())
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

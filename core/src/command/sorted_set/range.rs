//! ZRANGE, the older commands it took over, and ZRANGESTORE. All of them turn their range into a run of ranks first, so
//! the length of the reply is known and LIMIT costs nothing.

use std::ops::Range;

use super::bounds::{lex_range, score_range};
use super::{Layout, store};
use crate::command::args::{index_range, integer, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::zset::{LexRange, ScoreRange, SortedSet};
use crate::engine::{Direction, Txn};
use crate::memory_budget::Gathered;

type Result<T> = std::result::Result<T, CommandError>;

/// What the bounds of a range are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Name,
}

/// What a command fixes by its name; None is left to options.
#[derive(Clone, Copy, Debug)]
struct Form {
    by: Option<By>,
    direction: Option<Direction>,
    stores: bool,
}

/// A parsed range.
enum Bounds<'a> {
    Rank(i64, i64),
    Score(ScoreRange),
    Name(LexRange<'a>),
}

/// A parsed command.
struct Query<'a> {
    bounds: Bounds<'a>,
    direction: Direction,
    offset: i64,
    limit: i64,
    with_scores: bool,
}

pub(super) fn zrange(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply(context, args, Form { by: None, direction: None, stores: false })
}

pub(super) fn zrevrange(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply(context, args, Form { by: Some(By::Rank), direction: Some(Direction::Descending), stores: false })
}

pub(super) fn zrangebyscore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply(context, args, Form { by: Some(By::Score), direction: Some(Direction::Ascending), stores: false })
}

pub(super) fn zrevrangebyscore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply(context, args, Form { by: Some(By::Score), direction: Some(Direction::Descending), stores: false })
}

pub(super) fn zrangebylex(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply(context, args, Form { by: Some(By::Name), direction: Some(Direction::Ascending), stores: false })
}

pub(super) fn zrevrangebylex(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply(context, args, Form { by: Some(By::Name), direction: Some(Direction::Descending), stores: false })
}

fn reply(context: &mut Context<'_, '_>, args: &[&[u8]], form: Form) -> Outcome {
    let [_, key, min, max, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let query = Query::parse(min, max, options, form)?;
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    let ranks = query.ranks(context.txn, &set)?;
    context.expect_work(ranks.end - ranks.start)?;
    let layout = Layout::of(query.with_scores, context.reply);
    let reply = &mut *context.reply;
    layout.begin(reply, ranks.end - ranks.start);
    set.scan(context.txn, ranks, query.direction, &mut |member, score| layout.write(reply, member, score))?;
    Ok(())
}

pub(super) fn zrangestore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, target, key, min, max, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let query = Query::parse(min, max, options, Form { by: None, direction: None, stores: true })?;
    let db = context.db();
    let set = SortedSet::open(context.txn, db, key)?;
    context.note_reads(&[key], true);
    let ranks = query.ranks(context.txn, &set)?;
    context.expect_work(ranks.end - ranks.start)?;
    let mut members = Gathered::within(context.txn.share());
    set.scan(context.txn, ranks, query.direction, &mut |member, score| {
        members.push_with(member.len(), || (member.to_vec(), score))
    })?;
    store(context, target, &members.all()?, "zrangestore")
}

impl<'a> Query<'a> {
    fn parse(min: &'a [u8], max: &'a [u8], mut options: &[&[u8]], form: Form) -> Result<Query<'a>> {
        let Form { mut by, mut direction, stores } = form;
        let (mut offset, mut limit, mut with_scores) = (0, -1, false);
        while let [option, rest @ ..] = options {
            options = rest;
            if !stores && is_option(option, "WITHSCORES") {
                with_scores = true;
            } else if is_option(option, "LIMIT")
                && let [from, count, rest @ ..] = rest
            {
                (offset, limit) = (integer(from)?, integer(count)?);
                options = rest;
            } else if direction.is_none() && is_option(option, "REV") {
                direction = Some(Direction::Descending);
            } else if by.is_none() && is_option(option, "BYLEX") {
                by = Some(By::Name);
            } else if by.is_none() && is_option(option, "BYSCORE") {
                by = Some(By::Score);
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        let (by, direction) = (by.unwrap_or(By::Rank), direction.unwrap_or(Direction::Ascending));
        if by == By::Rank && limit != -1 {
            return Err(CommandError::text(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
            ));
        }
        if by == By::Name && with_scores {
            return Err(CommandError::text(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ));
        }
        // Backwards, ranges of scores and names are written with the upper end first; ranges of ranks are not.
        let (low, high) = if direction == Direction::Descending { (max, min) } else { (min, max) };
        let bounds = match by {
            By::Rank => Bounds::Rank(integer(min)?, integer(max)?),
            By::Score => Bounds::Score(score_range(low, high)?),
            By::Name => Bounds::Name(lex_range(low, high)?),
        };
        Ok(Query { bounds, direction, offset, limit, with_scores })
    }

    /// The ranks, counted from the lowest score, of the members in the reply.
    fn ranks(&self, txn: &mut Txn<'_>, set: &SortedSet<'_>) -> Result<Range<u64>> {
        let ranks = match &self.bounds {
            Bounds::Rank(start, stop) => {
                let len = set.len(txn)?;
                let Some((start, end)) = index_range(*start, *stop, len) else { return Ok(0..0) };
                return Ok(match self.direction {
                    Direction::Ascending => start..end,
                    Direction::Descending => len - end..len - start,
                });
            }
            Bounds::Score(range) => set.ranks_by_score(txn, range)?,
            Bounds::Name(range) => set.ranks_by_name(txn, range)?,
        };
        Ok(self.limited(ranks))
    }

    /// Applies LIMIT: a negative count is no limit, a negative offset leaves nothing.
    fn limited(&self, ranks: Range<u64>) -> Range<u64> {
        let Ok(offset) = u64::try_from(self.offset) else { return 0..0 };
        let count = u64::try_from(self.limit).unwrap_or(u64::MAX);
        match self.direction {
            Direction::Ascending => {
                let start = ranks.start.saturating_add(offset).min(ranks.end);
                start..start.saturating_add(count).min(ranks.end)
            }
            Direction::Descending => {
                let end = ranks.end.saturating_sub(offset).max(ranks.start);
                end.saturating_sub(count).max(ranks.start)..end
            }
        }
    }
}

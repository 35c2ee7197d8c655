//! Unions, intersections and differences of sorted sets and plain sets.
//!
//! The order in which scores are added up is Redis' own (smallest source first), since sums of doubles depend on it.

use std::collections::HashSet;
use std::ops::Range;

use super::{Layout, store};
use crate::command::args::{float, integer, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::zset::{MemberVisitor, Slot, Source};
use crate::engine::{Db, Txn};
use crate::memory_budget::Gathered;
use crate::sorted;

type Result<T> = std::result::Result<T, CommandError>;

/// Members are taken from a source in pages of so many: the source that is walked must be let go of while others are
/// asked, and holding all of a large set to count a few members would not do.
const PAGE_MEMBERS: u64 = 1024;

/// What is done with the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Union,
    Inter,
    Diff,
}

impl Operation {
    /// The event of a stored result.
    fn stored(self) -> &'static str {
        match self {
            Operation::Union => "zunionstore",
            Operation::Inter => "zinterstore",
            Operation::Diff => "zdiffstore",
        }
    }
}

/// What becomes of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Reply,
    Store,
    Count,
}

/// How the scores of one member are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn named(name: &[u8]) -> Result<Aggregate> {
        let names = [("SUM", Aggregate::Sum), ("MIN", Aggregate::Min), ("MAX", Aggregate::Max)];
        let named = names.into_iter().find(|(option, _)| is_option(name, option));
        named.map(|(_, aggregate)| aggregate).ok_or(CommandError::SYNTAX)
    }

    /// The sum of both infinities is 0; a score that is no number never wins a comparison.
    fn of(self, total: f64, score: f64) -> f64 {
        match self {
            Aggregate::Sum => or_zero(total + score),
            Aggregate::Min => {
                if score < total {
                    score
                } else {
                    total
                }
            }
            Aggregate::Max => {
                if score > total {
                    score
                } else {
                    total
                }
            }
        }
    }
}

/// Redis' convention for an infinite score with the weight 0.
fn or_zero(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

struct Input<'a> {
    source: Source<'a>,
    len: u64,
    weight: f64,
}

struct Options {
    aggregate: Aggregate,
    with_scores: bool,
    /// 0 is no limit.
    limit: u64,
}

type Scored = Vec<(Vec<u8>, f64)>;

/// Sees one member of a walk, with the transaction free for other reads, and says whether to go on.
type Walker<'w> = &'w mut dyn FnMut(&mut Txn<'_>, Vec<u8>, f64) -> Result<bool>;

pub(super) fn zunion(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(context, args, Operation::Union, Output::Reply)
}

pub(super) fn zinter(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(context, args, Operation::Inter, Output::Reply)
}

pub(super) fn zdiff(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(context, args, Operation::Diff, Output::Reply)
}

pub(super) fn zunionstore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(context, args, Operation::Union, Output::Store)
}

pub(super) fn zinterstore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(context, args, Operation::Inter, Output::Store)
}

pub(super) fn zdiffstore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(context, args, Operation::Diff, Output::Store)
}

pub(super) fn zintercard(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    combine(context, args, Operation::Inter, Output::Count)
}

fn combine(context: &mut Context<'_, '_>, args: &[&[u8]], operation: Operation, output: Output) -> Outcome {
    let target = if output == Output::Store { args.get(1).copied() } else { None };
    let numkeys = 1 + usize::from(target.is_some());
    let (rest, count) = split_keys(args, numkeys)?;
    let (keys, options) = rest.split_at(count);
    let db = context.db();
    let inputs = open_inputs(context.txn, db, keys);
    if target.is_some() {
        context.note_reads(keys, inputs.is_ok());
    }
    let mut inputs = inputs?;
    let members = inputs.iter().fold(0_u64, |sum, input| sum.saturating_add(input.len));
    context.expect_work(members)?;
    let txn = &mut *context.txn;
    let options = parse_options(options, operation, output, &mut inputs)?;
    if operation != Operation::Diff {
        sorted::all(&mut inputs, |one, other| one.len.cmp(&other.len));
    }
    if output == Output::Count {
        let count = count_common(txn, &inputs, options.limit)?;
        context.reply.integer(count.cast_signed());
        return Ok(());
    }
    let mut members = match operation {
        Operation::Union => unite(txn, &inputs, options.aggregate)?,
        Operation::Inter => intersect(txn, &inputs, options.aggregate)?,
        Operation::Diff => subtract(txn, keys, &inputs)?,
    };
    if let Some(target) = target {
        return store(context, target, &members, operation.stored());
    }
    // No score is NaN, and both zeros must count as one here.
    sorted::all(&mut members, |left, right| {
        let by_score = left.1.partial_cmp(&right.1).unwrap_or(std::cmp::Ordering::Equal);
        by_score.then_with(|| left.0.cmp(&right.0))
    });
    let layout = Layout::of(options.with_scores, context.reply);
    layout.begin(context.reply, members.len() as u64);
    for (member, score) in &members {
        layout.write(context.reply, member, *score);
    }
    Ok(())
}

fn open_inputs<'k>(txn: &mut Txn<'_>, db: Db, keys: &[&'k [u8]]) -> Result<Vec<Input<'k>>> {
    let mut inputs = Vec::with_capacity(keys.len());
    for key in keys {
        let source = Source::open(txn, db, key)?;
        inputs.push(Input { source, len: source.len(txn)?, weight: 1.0 });
    }
    Ok(inputs)
}

/// The arguments behind the number of source keys at `numkeys`, and how many of them are keys.
fn split_keys<'k, 'a>(args: &'k [&'a [u8]], numkeys: usize) -> Result<(&'k [&'a [u8]], usize)> {
    let (before, rest) = args.split_at_checked(numkeys + 1).ok_or(CommandError::SYNTAX)?;
    let count = integer(before.last().copied().unwrap_or_default())?;
    if count < 1 {
        let name = args.first().copied().unwrap_or_default().to_ascii_lowercase();
        let name = String::from_utf8_lossy(&name);
        return Err(CommandError::owned(format!("ERR at least 1 input key is needed for '{name}' command")));
    }
    let count = usize::try_from(count).ok().filter(|count| *count <= rest.len());
    count.map(|count| (rest, count)).ok_or(CommandError::SYNTAX)
}

fn parse_options(
    mut args: &[&[u8]],
    operation: Operation,
    output: Output,
    inputs: &mut [Input<'_>],
) -> Result<Options> {
    const NEGATIVE_LIMIT: CommandError = CommandError::text("ERR LIMIT can't be negative");
    const NO_WEIGHT: CommandError = CommandError::text("ERR weight value is not a float");
    let mut options = Options { aggregate: Aggregate::Sum, with_scores: false, limit: 0 };
    let combines_scores = operation != Operation::Diff && output != Output::Count;
    while let [option, rest @ ..] = args {
        args = if combines_scores
            && is_option(option, "WEIGHTS")
            && let Some((weights, rest)) = rest.split_at_checked(inputs.len())
        {
            for (input, weight) in inputs.iter_mut().zip(weights) {
                input.weight = float(weight).map_err(|_| NO_WEIGHT)?;
            }
            rest
        } else if combines_scores
            && is_option(option, "AGGREGATE")
            && let [name, rest @ ..] = rest
        {
            options.aggregate = Aggregate::named(name)?;
            rest
        } else if output == Output::Reply && is_option(option, "WITHSCORES") {
            options.with_scores = true;
            rest
        } else if output == Output::Count
            && is_option(option, "LIMIT")
            && let [limit, rest @ ..] = rest
        {
            options.limit =
                u64::try_from(integer(limit).map_err(|_| NEGATIVE_LIMIT)?).map_err(|_| NEGATIVE_LIMIT)?;
            rest
        } else {
            return Err(CommandError::SYNTAX);
        };
    }
    Ok(options)
}

/// The ranks of so many members, page by page.
fn page_ranks(len: u64) -> impl Iterator<Item = Range<u64>> {
    let starts = (0..len.div_ceil(PAGE_MEMBERS)).map(|page| page * PAGE_MEMBERS);
    starts.map(move |start| start..(start + PAGE_MEMBERS).min(len))
}

/// Shows all members of a source.
fn walk(txn: &mut Txn<'_>, input: &Input<'_>, visit: Walker<'_>) -> Result<()> {
    for ranks in page_ranks(input.len) {
        let mut page: Scored = Vec::new();
        input.source.scan(txn, ranks, &mut |member, score| page.push((member.to_vec(), score)))?;
        for (member, score) in page {
            if !visit(txn, member, score)? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Shows all members of a source to one who keeps them, as long as there is room.
fn pages(txn: &mut Txn<'_>, input: &Input<'_>, visit: MemberVisitor<'_>) -> Result<()> {
    for ranks in page_ranks(input.len) {
        txn.share().look()?;
        input.source.scan(txn, ranks, visit)?;
    }
    Ok(())
}

fn unite(txn: &mut Txn<'_>, inputs: &[Input<'_>], aggregate: Aggregate) -> Result<Scored> {
    let share = txn.share();
    let mut all = Gathered::within(share);
    for input in inputs {
        let mut add = |member: &[u8], score| {
            all.push_with(member.len(), || (member.to_vec(), or_zero(input.weight * score)));
        };
        input.source.scan_by_name(txn, PAGE_MEMBERS, &mut || Ok(share.look()?), &mut add)?;
    }
    // Each input is a run in order already, and a stable sort merges runs: so the scores of a member stay in the order of
    // the inputs.
    let mut all = all.all()?;
    sorted::all(&mut all, |left, right| left.0.cmp(&right.0));
    all.dedup_by(|next, total| {
        let is_same = next.0 == total.0;
        if is_same {
            total.1 = aggregate.of(total.1, next.1);
        }
        is_same
    });
    Ok(all)
}

/// The members that all inputs have.
fn intersect(txn: &mut Txn<'_>, inputs: &[Input<'_>], aggregate: Aggregate) -> Result<Scored> {
    let Some((smallest, others)) = inputs.split_first() else { return Ok(Vec::new()) };
    let mut members = Gathered::within(txn.share());
    let mut slot = Slot::of(&[]);
    walk(txn, smallest, &mut |txn, member, score| {
        slot.reset(&member);
        let mut total = or_zero(smallest.weight * score);
        for other in others {
            let Some(score) = other.source.score(txn, &mut slot)? else { return Ok(true) };
            total = aggregate.of(total, other.weight * score);
        }
        members.push_with(member.len(), || (member, total));
        Ok(true)
    })?;
    Ok(members.all()?)
}

/// How many members all inputs have, up to `limit` unless that is 0.
fn count_common(txn: &mut Txn<'_>, inputs: &[Input<'_>], limit: u64) -> Result<u64> {
    let Some((smallest, others)) = inputs.split_first() else { return Ok(0) };
    let mut count = 0;
    let mut slot = Slot::of(&[]);
    walk(txn, smallest, &mut |txn, member, _| {
        slot.reset(&member);
        for other in others {
            if !other.source.contains(txn, &mut slot)? {
                return Ok(true);
            }
        }
        count += 1;
        Ok(count != limit)
    })?;
    Ok(count)
}

/// The members of the first input that no other has. Like Redis it either asks all others for each member, or walks
/// the others, whichever is less work.
fn subtract(txn: &mut Txn<'_>, keys: &[&[u8]], inputs: &[Input<'_>]) -> Result<Scored> {
    let Some((first, others)) = inputs.split_first() else { return Ok(Vec::new()) };
    if keys.iter().skip(1).any(|key| Some(key) == keys.first()) {
        return Ok(Vec::new());
    }
    let asking = first.len.saturating_mul(inputs.len() as u64) / 2;
    let walking = inputs.iter().fold(0_u64, |sum, input| sum.saturating_add(input.len));
    let mut members = Gathered::within(txn.share());
    if asking <= walking {
        let mut slot = Slot::of(&[]);
        walk(txn, first, &mut |txn, member, score| {
            slot.reset(&member);
            for other in others {
                if other.source.contains(txn, &mut slot)? {
                    return Ok(true);
                }
            }
            members.push_with(member.len(), || (member, score));
            Ok(true)
        })?;
        return Ok(members.all()?);
    }
    let mut removed: HashSet<Vec<u8>> = HashSet::new();
    for other in others {
        pages(txn, other, &mut |member, _| {
            if !removed.contains(member) {
                removed.insert(member.to_vec());
            }
        })?;
    }
    first.source.scan(txn, 0..first.len, &mut |member, score| {
        if !removed.contains(member) {
            members.push_with(member.len(), || (member.to_vec(), score));
        }
    })?;
    Ok(members.all()?)
}

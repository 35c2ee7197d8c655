//! ZADD and ZINCRBY.

use super::listpack_limits;
use crate::command::args::{float, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::zset::{Slot, SortedSet};
use crate::server::hub::notify;

/// ZADD's options.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    only_new: bool,
    only_old: bool,
    only_greater: bool,
    only_less: bool,
    count_changed: bool,
    increment: bool,
}

impl Options {
    fn set(&mut self, argument: &[u8]) -> bool {
        let option = if is_option(argument, "NX") {
            &mut self.only_new
        } else if is_option(argument, "XX") {
            &mut self.only_old
        } else if is_option(argument, "GT") {
            &mut self.only_greater
        } else if is_option(argument, "LT") {
            &mut self.only_less
        } else if is_option(argument, "CH") {
            &mut self.count_changed
        } else if is_option(argument, "INCR") {
            &mut self.increment
        } else {
            return false;
        };
        *option = true;
        true
    }

    fn check(&self, pairs: usize) -> Outcome {
        if self.only_new && self.only_old {
            return Err(CommandError::text("ERR XX and NX options at the same time are not compatible"));
        }
        let directions = u8::from(self.only_new) + u8::from(self.only_greater) + u8::from(self.only_less);
        if directions > 1 {
            return Err(CommandError::text(
                "ERR GT, LT, and/or NX options at the same time are not compatible",
            ));
        }
        if self.increment && pairs > 1 {
            return Err(CommandError::text("ERR INCR option supports a single increment-element pair"));
        }
        Ok(())
    }

    /// The score a member with the score `old` gets; None if the options leave it alone.
    fn decide(&self, old: Option<f64>, score: f64) -> Result<Option<f64>, CommandError> {
        let Some(old) = old else { return Ok((!self.only_old).then_some(score)) };
        if self.only_new {
            return Ok(None);
        }
        let new = if self.increment { old + score } else { score };
        if new.is_nan() {
            return Err(CommandError::text("ERR resulting score is not a number (NaN)"));
        }
        let is_refused = (self.only_less && new >= old) || (self.only_greater && new <= old);
        Ok((!is_refused).then_some(new))
    }
}

pub(in crate::command) fn zadd(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    add(context, args, Options::default())
}

pub(super) fn zincrby(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    add(context, args, Options { increment: true, ..Options::default() })
}

fn add(context: &mut Context<'_, '_>, args: &[&[u8]], mut options: Options) -> Outcome {
    let [_, key, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let given = rest.iter().take_while(|argument| options.set(argument)).count();
    let pairs = rest.get(given..).unwrap_or_default();
    let (pairs, left) = pairs.as_chunks::<2>();
    if pairs.is_empty() || !left.is_empty() {
        return Err(CommandError::SYNTAX);
    }
    options.check(pairs.len())?;
    for [score, _] in pairs {
        float(score)?;
    }
    let db = context.db();
    let mut set = SortedSet::open(context.txn, db, key)?;
    let (mut added, mut updated, mut result) = (0, 0, None);
    let shared = context.shared;
    let mut known = None;
    let mut limits = || *known.get_or_insert_with(|| listpack_limits(shared));
    if pairs.len() > 1 && set.is_listpack() && (set.is_there() || !options.only_old) {
        let first_bytes = pairs.first().map_or(0, |[_, member]| member.len() as u64);
        set.expect(context.txn, pairs.len() as u64, first_bytes, limits())?;
    }
    let mut slot = Slot::of(&[]);
    for [score, member] in pairs {
        slot.reset(member);
        let old = set.score(context.txn, &mut slot)?;
        let Some(new) = options.decide(old, float(score)?)? else { continue };
        result = Some(new);
        if old.is_none() {
            added += 1;
        } else if old == result {
            continue;
        } else {
            updated += 1;
        }
        set.put(context.txn, &mut slot, old, new, &mut limits)?;
    }
    if added + updated > 0 {
        context.notify(notify::SORTED_SET, if options.increment { "zincr" } else { "zadd" }, key);
    }
    match (options.increment, result) {
        (true, Some(score)) => context.reply.double(score),
        (true, None) => context.reply.null(),
        (false, _) => context.reply.integer(if options.count_changed { added + updated } else { added }),
    }
    Ok(())
}

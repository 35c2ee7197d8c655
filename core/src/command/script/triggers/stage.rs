//! The stage: the triggers that a transaction causes run, until no change is left that concerns one.

use std::collections::BTreeSet;

use super::call::{Cause, call, too_deep};
use super::definitions::present;
use crate::command::{Context, Outcome};
use crate::engine::{CATALOG, Changed, Db, Kind};
use crate::limits::TRIGGER_DEPTH_MAX;
use crate::server::triggers::{Event, Trigger, TriggerSet};

/// A key of a database.
type Key = (Db, Vec<u8>);

/// Runs the triggers that concern what the transaction has changed so far.
///
/// # Errors
/// A trigger refuses the transaction, or cannot run; or an error of the engine that asks to run everything again.
pub(crate) fn run(ctx: &mut Context<'_, '_>) -> Outcome {
    let set = present(ctx);
    if !ctx.txn.has_changed(|key| set.concerns(key)) {
        return Ok(());
    }
    let mut round: BTreeSet<Key> = BTreeSet::new();
    add(&mut round, ctx.txn.changed(), &set);
    ctx.expect_work(round.len() as u64)?;
    // Keys whose expiry was told: what happens to them later is no expiry.
    let mut expired: BTreeSet<Key> = BTreeSet::new();
    let mut depth = 0;
    while !round.is_empty() {
        depth += 1;
        let mut next = BTreeSet::new();
        let mut expired_now = Vec::new();
        for key in &round {
            let is_first_look = !expired.contains(key);
            for trigger in set.triggers().filter(|trigger| key.1.starts_with(&trigger.prefix)) {
                for event in [Event::Expire, Event::Create, Event::Change, Event::Delete] {
                    // Asked again for each: the one before may have changed it.
                    let Some(cause) = cause(ctx, trigger, key, event, is_first_look) else { continue };
                    if depth > TRIGGER_DEPTH_MAX {
                        return Err(too_deep(ctx, trigger));
                    }
                    let mut changed = call(ctx, trigger, &cause)?;
                    changed.retain(|changed| (changed.db, &*changed.key) != (key.0, &*key.1));
                    add(&mut next, changed, &set);
                }
            }
            if is_first_look {
                expired_now.push(key.clone());
            }
        }
        expired.extend(expired_now);
        round = next;
    }
    Ok(())
}

/// Adds the keys that may concern a trigger.
fn add(round: &mut BTreeSet<Key>, changed: Vec<Changed>, set: &TriggerSet) {
    let meant = changed.into_iter().filter(|changed| changed.db != CATALOG && set.concerns(&changed.key));
    round.extend(meant.map(|changed| (changed.db, changed.key)));
}

/// The call of a trigger, if this event has happened to the key and concerns the trigger.
fn cause<'k>(
    ctx: &Context<'_, '_>,
    trigger: &Trigger,
    (db, key): &'k Key,
    event: Event,
    is_first_look: bool,
) -> Option<Cause<'k>> {
    if !trigger.events.has(event) {
        return None;
    }
    let changed = ctx.txn.change_of(*db, key)?;
    let has_expired = changed.old.is_some_and(|root| root.is_expired(ctx.now_ms()));
    let (old, new) = (changed.old.map(|root| root.kind), changed.new.map(|root| root.kind));
    let (before, after) = if event == Event::Expire {
        // What came instead is told as another event.
        (old, None)
    } else {
        (old.filter(|_| !has_expired), new)
    };
    let has_happened = match event {
        Event::Expire => has_expired && is_first_look,
        Event::Create => before.is_none() && after.is_some(),
        Event::Change => before.is_some() && after.is_some(),
        Event::Delete => before.is_some() && after.is_none(),
    };
    let is_meant = |kind: Kind| after.or(before) == Some(kind);
    let concerns = has_happened && trigger.kind.is_none_or(is_meant);
    concerns.then_some(Cause { db: *db, key, event, before, after })
}

//! Searches carried out: GEOSEARCH, GEOSEARCHSTORE, GEORADIUS and its variants.

use super::numbers::{reply_distance, reply_position};
use super::query::{Form, Order, Query, Shown, Target};
use crate::catalog;
use crate::command::sorted_set;
use crate::command::{CommandError, Context, Outcome};
use crate::data::geo::hash::integer_of;
use crate::data::geo::order::keep_first;
use crate::data::geo::{Found, search};
use crate::data::zset::SortedSet;

pub(super) fn geosearch(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(context, args, Form::Search)
}

pub(super) fn geosearchstore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(context, args, Form::SearchStore)
}

pub(super) fn georadius(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(context, args, Form::Around { stores: true })
}

pub(super) fn georadius_ro(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(context, args, Form::Around { stores: false })
}

pub(super) fn georadiusbymember(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(context, args, Form::AroundMember { stores: true })
}

pub(super) fn georadiusbymember_ro(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    run(context, args, Form::AroundMember { stores: false })
}

fn run(context: &mut Context<'_, '_>, args: &[&[u8]], form: Form) -> Outcome {
    let (db, key) = (context.db(), args.get(form.key_at()).copied().unwrap_or_default());
    let set = SortedSet::open(context.txn, db, key)?;
    if form.may_store() {
        context.note_reads(&[key], true);
    }
    let query = Query::parse(context.txn, &set, args, form)?;
    check_target(args, query.target)?;
    let (mut found, unit_m) = match query.shape() {
        Some(shape) if set.is_there() => {
            let most = query.count.filter(|_| query.is_any);
            (search(context.txn, &set, &shape, most)?, shape.unit_m)
        }
        _ => (Vec::new(), 1.0),
    };
    // Without an order a count would return any; ANY says that this is wanted.
    let nearest = query.count.filter(|_| !query.is_any).map(|_| Order::Ascending);
    let count = query.count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
    match query.order.or(nearest) {
        Some(Order::Ascending) => {
            keep_first(&mut found, count, &|a, b| a.distance_m.total_cmp(&b.distance_m))
        }
        Some(Order::Descending) => {
            keep_first(&mut found, count, &|a, b| b.distance_m.total_cmp(&a.distance_m))
        }
        None => found.truncate(count),
    }
    match query.target {
        Some(target) => store(context, found, target, unit_m, form.event()),
        None => {
            reply(context, &found, query.shown, unit_m);
            Ok(())
        }
    }
}

/// The table finds the first STORE of a request and the first STOREDIST, as Redis' own does, and what it does not find
/// the transaction must not touch. Only a request that names several targets runs into this.
fn check_target(args: &[&[u8]], target: Option<Target<'_>>) -> Outcome {
    let Some(target) = target else { return Ok(()) };
    let name = args.first().copied().unwrap_or_default();
    let keys = catalog::lookup(name).and_then(|spec| spec.keys.positions(args).ok()).unwrap_or_default();
    let is_found = keys.iter().any(|index| args.get(*index) == Some(&target.key));
    if is_found { Ok(()) } else { Err(CommandError::SYNTAX) }
}

fn store(
    context: &mut Context<'_, '_>,
    found: Vec<Found>,
    target: Target<'_>,
    unit_m: f64,
    event: &'static str,
) -> Outcome {
    let scored = |found: Found| {
        let score = if target.keeps_distance { found.distance_m / unit_m } else { found.score };
        (found.member, score)
    };
    let members: Vec<(Vec<u8>, f64)> = found.into_iter().map(scored).collect();
    sorted_set::store(context, target.key, &members, event)
}

fn reply(context: &mut Context<'_, '_>, found: &[Found], shown: Shown, unit_m: f64) {
    let reply = &mut *context.reply;
    reply.array(found.len());
    for found in found {
        if shown.count() > 0 {
            reply.array(1 + shown.count());
        }
        reply.bulk(&found.member);
        if shown.distance {
            reply_distance(reply, found.distance_m / unit_m);
        }
        if shown.hash {
            reply.integer(integer_of(found.score));
        }
        if shown.position {
            reply_position(reply, found.position);
        }
    }
}

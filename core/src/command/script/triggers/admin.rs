//! TRIGGER: makes, drops and shows triggers.

use std::sync::atomic::Ordering;

use super::super::definer::{Caller, check_joins};
use super::definitions::{TRIGGERS, add, parse, present, remove};
use super::old::old;
use crate::catalog;
use crate::command::{CommandError, Context, Outcome, help};
use crate::limits::{TRIGGER_PREFIX_MAX_BYTES, TRIGGERS_MAX};

pub(in crate::command::script) fn trigger(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let rest = args.get(2..).unwrap_or_default();
    match (args[1].to_ascii_lowercase().as_slice(), rest) {
        (b"create", [name, definition @ ..]) => create(ctx, name, definition),
        (b"drop", [name]) => drop_one(ctx, name),
        (b"help", []) => help::reply_help(ctx.reply, catalog::spec(catalog::id("trigger"))),
        (b"list", []) => list(ctx),
        (b"old", [key]) => old(ctx, key),
        (b"stats", []) => stats(ctx),
        _ => Err(help::unknown_subcommand("TRIGGER", args[1])),
    }
}

fn create(ctx: &mut Context<'_, '_>, name: &[u8], definition: &[&[u8]]) -> Outcome {
    TRIGGERS.check_new(ctx.txn, name)?;
    let mut trigger = parse(name, definition)?;
    if !trigger.definer.is_empty() {
        // Nobody lends the rights of others.
        return Err(CommandError::SYNTAX);
    }
    if trigger.prefix.len() > TRIGGER_PREFIX_MAX_BYTES {
        return Err(CommandError::owned(format!(
            "ERR the prefix of a trigger has {TRIGGER_PREFIX_MAX_BYTES} bytes at most"
        )));
    }
    check_joins(ctx, Caller::Trigger, &trigger.function, (present(ctx).len(), TRIGGERS_MAX))?;
    trigger.definer = ctx.client.access.user().name().into();
    add(ctx, trigger)?;
    ctx.reply.ok();
    Ok(())
}

fn drop_one(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    remove(ctx, name)?;
    ctx.reply.ok();
    Ok(())
}

fn list(ctx: &mut Context<'_, '_>) -> Outcome {
    let set = present(ctx);
    let reply = &mut *ctx.reply;
    reply.array(set.len());
    for trigger in set.triggers() {
        reply.map(6);
        reply.bulk(b"name");
        reply.bulk(&trigger.name);
        reply.bulk(b"events");
        reply.bulk(trigger.events.text().as_bytes());
        reply.bulk(b"prefix");
        reply.bulk(&trigger.prefix);
        reply.bulk(b"type");
        match trigger.kind {
            Some(kind) => reply.bulk(kind.name().as_bytes()),
            None => reply.null(),
        }
        reply.bulk(b"function");
        reply.bulk(&trigger.function);
        reply.bulk(b"definer");
        reply.bulk(&trigger.definer);
    }
    Ok(())
}

fn stats(ctx: &mut Context<'_, '_>) -> Outcome {
    let set = present(ctx);
    let reply = &mut *ctx.reply;
    reply.array(set.len());
    for trigger in set.triggers() {
        let counts = &trigger.counts;
        reply.map(5);
        reply.bulk(b"name");
        reply.bulk(&trigger.name);
        let took_us = counts.took_ns.load(Ordering::Relaxed) / 1000;
        for (name, count) in [
            ("runs", counts.runs.load(Ordering::Relaxed)),
            ("refusals", counts.refusals.load(Ordering::Relaxed)),
            ("failures", counts.failures.load(Ordering::Relaxed)),
            ("total_us", took_us),
        ] {
            reply.bulk(name.as_bytes());
            reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
    Ok(())
}

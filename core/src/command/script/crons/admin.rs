//! CRON: makes, drops and shows crons, and the failures of their runs.

use super::super::definer::{Caller, check_joins};
use super::definitions::{CRONS, add, parse_request, present, remove};
use crate::catalog;
use crate::command::args::integer;
use crate::command::{Context, Outcome, help};
use crate::limits::{CRON_FAILURES_MAX, CRON_FAILURES_SHOWN, CRONS_MAX};
use crate::resp::Reply;
use crate::server::outbox::Action;

pub(in crate::command::script) fn cron(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let rest = args.get(2..).unwrap_or_default();
    match (args[1].to_ascii_lowercase().as_slice(), rest) {
        (b"create", [name, definition @ ..]) => create(ctx, name, definition),
        (b"drop", [name]) => drop_one(ctx, name),
        (b"help", []) => help::reply_help(ctx.reply, catalog::spec(catalog::id("cron"))),
        (b"list", []) => list(ctx),
        (b"log", []) => log(ctx, CRON_FAILURES_SHOWN),
        (b"log", [word]) => log_or_reset(ctx, word),
        _ => Err(help::unknown_subcommand("CRON", args[1])),
    }
}

fn create(ctx: &mut Context<'_, '_>, name: &[u8], definition: &[&[u8]]) -> Outcome {
    CRONS.check_new(ctx.txn, name)?;
    let cron = parse_request(name, definition, ctx.db(), ctx.client.access.user().name())?;
    check_joins(ctx, Caller::Cron, &cron.function, (present(ctx).len(), CRONS_MAX))?;
    add(ctx, cron)?;
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
    for cron in set.values() {
        // One that this transaction makes has no state yet.
        let state = ctx.shared.crons.state(&cron.name);
        let counts = state.as_ref().map(|state| state.counts).unwrap_or_default();
        reply.map(11);
        reply.bulk(b"name");
        reply.bulk(&cron.name);
        put(reply, "every", cron.every_ms);
        reply.bulk(b"function");
        reply.bulk(&cron.function);
        put(reply, "database", cron.db.into());
        reply.bulk(b"definer");
        reply.bulk(&cron.definer);
        reply.bulk(b"next");
        match &state {
            Some(state) => put_number(reply, state.next_ms),
            None => reply.null(),
        }
        put(reply, "running", state.is_some_and(|state| state.is_running).into());
        put(reply, "runs", counts.runs);
        put(reply, "failures", counts.failures);
        put(reply, "missed", counts.missed);
        put(reply, "total_us", counts.took_ns / 1000);
    }
    Ok(())
}

fn put(reply: &mut Reply, name: &str, value: u64) {
    reply.bulk(name.as_bytes());
    put_number(reply, value);
}

fn put_number(reply: &mut Reply, value: u64) {
    reply.integer(i64::try_from(value).unwrap_or(i64::MAX));
}

fn log_or_reset(ctx: &mut Context<'_, '_>, word: &[u8]) -> Outcome {
    if word.eq_ignore_ascii_case(b"reset") {
        ctx.outbox.push(Action::ForgetCronFailures);
        ctx.reply.ok();
        return Ok(());
    }
    let count = integer(word)?;
    log(ctx, usize::try_from(count.max(0)).unwrap_or(CRON_FAILURES_MAX))
}

fn log(ctx: &mut Context<'_, '_>, most: usize) -> Outcome {
    let is_empty = ctx.outbox.has(&|action| matches!(action, Action::ForgetCronFailures));
    let failures = if is_empty { Vec::new() } else { ctx.shared.crons.failures(most) };
    let reply = &mut *ctx.reply;
    reply.array(failures.len());
    for failure in &failures {
        reply.map(5);
        put(reply, "id", failure.id);
        reply.bulk(b"name");
        reply.bulk(&failure.name);
        put(reply, "time", failure.due_ms);
        put(reply, "took_us", failure.took_ns / 1000);
        reply.bulk(b"error");
        reply.bulk(failure.error.as_bytes());
    }
    Ok(())
}

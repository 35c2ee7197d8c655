//! SLOWLOG: the latest commands that took longer than `slowlog-log-slower-than`.

use crate::catalog;
use crate::command::{CommandError, Context, Outcome, args as arguments, help};
use crate::server::outbox::Action;

/// Entries that SLOWLOG GET shows unless it is told how many.
const SHOWN: usize = 10;

/// Whether the transaction has emptied the log, which happens once it is committed.
fn is_reset(ctx: &Context<'_, '_>) -> bool {
    ctx.outbox.has(&|action| matches!(action, Action::ResetSlowLog))
}

pub(super) fn slowlog(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args[1].to_ascii_lowercase().as_slice() {
        b"get" => return get(ctx, args),
        b"help" => return help::reply_help(ctx.reply, catalog::spec(catalog::id("slowlog"))),
        b"len" => {
            let count = if is_reset(ctx) { 0 } else { ctx.shared.slow_log.len() };
            ctx.reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
        }
        _ => {
            ctx.outbox.push(Action::ResetSlowLog);
            ctx.reply.ok();
        }
    }
    Ok(())
}

fn get(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let most = match args {
        [_, _] => SHOWN,
        [_, _, count] => {
            let error = CommandError::text("ERR count should be greater than or equal to -1");
            let count = arguments::integer_in(count, -1..=i64::MAX, error)?;
            usize::try_from(count).unwrap_or(usize::MAX)
        }
        _ => return Err(help::unknown_subcommand("SLOWLOG", args[1])),
    };
    let entries = if is_reset(ctx) { Vec::new() } else { ctx.shared.slow_log.latest(most) };
    let reply = &mut *ctx.reply;
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    reply.array(entries.len());
    for entry in &entries {
        reply.array(6);
        reply.integer(number(entry.id));
        reply.integer(number(entry.at_s));
        reply.integer(number(entry.took_us));
        reply.array(entry.args.len());
        for argument in &entry.args {
            reply.bulk(argument);
        }
        reply.bulk(entry.address.as_bytes());
        reply.bulk(&entry.name);
    }
    Ok(())
}

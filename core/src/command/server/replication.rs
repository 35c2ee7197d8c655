//! Replication: there is none. What asks about it is answered as by a primary without replicas; what would begin it is
//! refused.

use crate::command::args::{integer, integer_between, is_option, positive};
use crate::command::{CommandError, Context, Outcome};
use crate::resp;

pub(super) fn role(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    ctx.reply.array(3);
    ctx.reply.bulk(b"master");
    ctx.reply.integer(0);
    ctx.reply.array(0);
    Ok(())
}

/// REPLICAOF and SLAVEOF
pub(super) fn replicaof(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    if is_option(args[1], "NO") && is_option(args[2], "ONE") {
        ctx.reply.ok();
        return Ok(());
    }
    match resp::parse_i64(args[2]) {
        Some(0..=65535) => {
            Err(CommandError::text("ERR This server has no replication and follows no other one"))
        }
        _ => Err(CommandError::text("ERR Invalid master port")),
    }
}

pub(super) fn failover(_ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    if let [_, option] = args
        && is_option(option, "ABORT")
    {
        return Err(CommandError::text("ERR No failover in progress."));
    }
    let (mut timeout_ms, mut has_target, mut is_forced) = (0, false, false);
    let mut rest = args.get(1..).unwrap_or_default();
    while let Some(option) = rest.first() {
        rest = match rest {
            [_, timeout, rest @ ..] if is_option(option, "TIMEOUT") && timeout_ms == 0 => {
                timeout_ms = integer(timeout)?;
                if timeout_ms <= 0 {
                    return Err(CommandError::text("ERR FAILOVER timeout must be greater than 0"));
                }
                rest
            }
            [_, _, port, rest @ ..] if is_option(option, "TO") && !has_target => {
                integer(port)?;
                has_target = true;
                rest
            }
            [_, rest @ ..] if is_option(option, "FORCE") && !is_forced => {
                is_forced = true;
                rest
            }
            _ => return Err(CommandError::SYNTAX),
        };
    }
    Err(CommandError::text("ERR FAILOVER requires connected replicas."))
}

/// The number of replicas is known at once, so nobody waits.
pub(super) fn wait(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    integer(args[1])?;
    check_timeout(args[2])?;
    ctx.reply.integer(0);
    Ok(())
}

/// With a local log to wait for, this syncs it, whatever the sync policy is.
pub(super) fn waitaof(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let wants_local = integer_between(args[1], 0, 1)? == 1;
    positive(args[2])?;
    check_timeout(args[3])?;
    let is_local = ctx.admin.is_synced(wants_local)?;
    ctx.reply.array(2);
    ctx.reply.integer(i64::from(is_local));
    ctx.reply.integer(0);
    Ok(())
}

fn check_timeout(argument: &[u8]) -> Outcome {
    match resp::parse_i64(argument) {
        None => Err(CommandError::text("ERR timeout is not an integer or out of range")),
        Some(timeout_ms) if timeout_ms < 0 => Err(CommandError::text("ERR timeout is negative")),
        Some(_) => Ok(()),
    }
}

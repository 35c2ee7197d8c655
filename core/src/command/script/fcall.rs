//! FCALL and FCALL_RO: functions of libraries.

use std::sync::Arc;

use super::eval::keys_and_arguments;
use super::job::{Job, What};
use super::libraries;
use super::run;
use crate::command::{CommandError, Context, Outcome};
use crate::script::ScriptFlags;
use crate::server::scripts::{Function, Library};

/// `FCALL function numkeys [key ...] [arg ...]`
pub(super) fn fcall(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    call(ctx, args, false)
}

/// `FCALL_RO function numkeys [key ...] [arg ...]`
pub(super) fn fcall_ro(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    call(ctx, args, true)
}

fn call(ctx: &mut Context<'_, '_>, args: &[&[u8]], reads: bool) -> Outcome {
    run::show_request(ctx, args);
    let set = libraries::present(ctx);
    let Some((library, function)) = set.function(args[1]) else {
        return Err(CommandError::text("ERR Function not found"));
    };
    let (keys, arguments) = keys_and_arguments(args, CommandError::text("ERR Bad number of keys provided"))?;
    call_function(ctx, (library, function), args, (keys, arguments), reads)
}

/// Calls a function; its reply is the reply.
fn call_function(
    ctx: &mut Context<'_, '_>,
    (library, function): (&Arc<Library>, &Function),
    request: &[&[u8]],
    (keys, arguments): (&[&[u8]], &[&[u8]]),
    reads: bool,
) -> Outcome {
    run::check_flags(ctx, Some(function.flags), reads)?;
    let job = Job {
        engine: &library.engine,
        what: What::Function(library, function),
        request,
        keys,
        arguments,
        reads: reads || function.flags.has(ScriptFlags::NO_WRITES),
        ignores_memory: function.flags.has(ScriptFlags::ALLOW_OOM),
    };
    run::run(ctx, &job)
}

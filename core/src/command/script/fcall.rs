//! FCALL and FCALL_RO: functions of libraries.

use std::sync::Arc;

use super::eval::keys_and_arguments;
use super::job::{Job, What};
use super::libraries::{self, FUNCTION_NOT_FOUND};
use super::run;
use crate::command::{CommandError, Context, Outcome};
use crate::script::ScriptFlags;
use crate::server::scripts::Library;

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
    // A function that SQL calls may run inside another one, for which the connection's place is taken.
    if ctx.outbox.changes_of_libraries().next().is_some() || ctx.sql.is_any_running() {
        let set = libraries::present(ctx);
        let (library, at) = set.place_of(args[1]).ok_or(FUNCTION_NOT_FOUND)?;
        return call_function(ctx, (library, at), args, reads);
    }
    let found = ctx.client.seen_function.take(&ctx.shared.scripts.libraries, args[1]);
    let (library, at) = found.ok_or(FUNCTION_NOT_FOUND)?;
    let outcome = call_function(ctx, (&library, at), args, reads);
    ctx.client.seen_function.put_back(library, at);
    outcome
}

/// Calls a function; its reply is the reply.
fn call_function(
    ctx: &mut Context<'_, '_>,
    (library, at): (&Arc<Library>, usize),
    request: &[&[u8]],
    reads: bool,
) -> Outcome {
    let function = library.functions.get(at).ok_or(FUNCTION_NOT_FOUND)?;
    let bad_count = CommandError::text("ERR Bad number of keys provided");
    let (keys, arguments) = keys_and_arguments(request, bad_count)?;
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

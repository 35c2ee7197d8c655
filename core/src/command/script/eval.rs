//! EVAL, EVALSHA, and their forms that only read.

use std::sync::Arc;

use super::job::{Job, What};
use super::run;
use super::shebang::{ENGINE, flags_of_script};
use crate::command::args::integer;
use crate::command::{CommandError, Context, Outcome};
use crate::script::ScriptFlags;
use crate::server::scripts::{Script, ScriptEngine, ScriptHash};

const NO_SCRIPT: CommandError = CommandError::text("NOSCRIPT No matching script. Please use EVAL.");

/// `EVAL script numkeys [key ...] [arg ...]`
pub(super) fn eval(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    eval_source(ctx, args, false)
}

/// `EVAL_RO script numkeys [key ...] [arg ...]`
pub(super) fn eval_ro(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    eval_source(ctx, args, true)
}

/// `EVALSHA sha1 numkeys [key ...] [arg ...]`
pub(super) fn evalsha(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    eval_hash(ctx, args, false)
}

/// `EVALSHA_RO sha1 numkeys [key ...] [arg ...]`
pub(super) fn evalsha_ro(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    eval_hash(ctx, args, true)
}

/// A part of a request.
pub(super) type Arguments<'a> = &'a [&'a [u8]];

/// The keys of a request, and the arguments behind them. The number of keys stands at 2.
pub(super) fn keys_and_arguments<'a>(
    args: &'a [&'a [u8]],
    not_a_number: CommandError,
) -> Result<(Arguments<'a>, Arguments<'a>), CommandError> {
    let number = match args.get(2) {
        // As nearly always.
        Some([digit @ b'0'..=b'9']) => i64::from(digit - b'0'),
        Some(number) => integer(number).map_err(|_| not_a_number)?,
        None => return Err(not_a_number),
    };
    let rest = args.get(3..).unwrap_or_default();
    if number < 0 {
        return Err(CommandError::text("ERR Number of keys can't be negative"));
    }
    let count = usize::try_from(number).ok();
    count
        .and_then(|count| rest.split_at_checked(count))
        .ok_or(CommandError::text("ERR Number of keys can't be greater than number of args"))
}

/// The language of EVAL, if this home has it.
fn engine(ctx: &Context<'_, '_>) -> Result<Arc<ScriptEngine>, CommandError> {
    let engine = ctx.shared.scripts.engine(ENGINE);
    engine.ok_or(CommandError::text("ERR this server was built without an interpreter of Lua"))
}

fn eval_source(ctx: &mut Context<'_, '_>, args: &[&[u8]], reads: bool) -> Outcome {
    let source = args[1];
    run::show_request(ctx, args);
    let hash = ScriptHash::of(source);
    let known = ctx.shared.scripts.cache.get(hash);
    let is_known = known.is_some();
    let (keys, arguments) = keys_and_arguments(args, CommandError::NOT_INTEGER)?;
    let script = match known {
        Some(script) => script,
        None => new_script(ctx, hash, source)?,
    };
    run_script(ctx, args, &script, (keys, arguments), reads)?;
    if !is_known {
        // It compiles, whatever it did.
        let most_bytes = ctx.shared.settings.bounds().scripts.sources_bytes;
        ctx.shared.scripts.cache.add_of_eval(script, most_bytes);
    }
    Ok(())
}

/// A script that is not kept yet.
pub(super) fn new_script(
    ctx: &Context<'_, '_>,
    hash: ScriptHash,
    source: &[u8],
) -> Result<Arc<Script>, CommandError> {
    let flags = flags_of_script(source)?;
    Ok(Arc::new(Script { hash, engine: engine(ctx)?, source: source.into(), flags }))
}

fn eval_hash(ctx: &mut Context<'_, '_>, args: &[&[u8]], reads: bool) -> Outcome {
    run::show_request(ctx, args);
    let (keys, arguments) = keys_and_arguments(args, CommandError::NOT_INTEGER)?;
    let script = ctx.client.seen_script.take(&ctx.shared.scripts.cache, args[1]).ok_or(NO_SCRIPT)?;
    let outcome = run_script(ctx, args, &script, (keys, arguments), reads);
    ctx.client.seen_script.put_back(script);
    outcome
}

/// Runs a script. An error that it raises is the reply.
fn run_script(
    ctx: &mut Context<'_, '_>,
    request: &[&[u8]],
    script: &Script,
    (keys, arguments): (&[&[u8]], &[&[u8]]),
    reads: bool,
) -> Outcome {
    run::check_flags(ctx, script.flags, reads)?;
    let flags = script.flags.unwrap_or(ScriptFlags::ALLOW_CROSS_SLOT_KEYS);
    let job = Job {
        engine: &script.engine,
        what: What::Script(script),
        request,
        keys,
        arguments,
        reads: reads || flags.has(ScriptFlags::NO_WRITES),
        ignores_memory: flags.has(ScriptFlags::ALLOW_OOM),
    };
    run::run(ctx, &job)
}

//! One run of a script or a function: an interpreter is borrowed, brought up to date, and its outcome becomes the reply.

use super::host::{Kill, ScriptHost};
use super::job::{Job, What};
use super::libraries;
use crate::catalog;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::EngineError;
use crate::limits::SCRIPTS_OF_EVAL_MAX;
use crate::script::{
    CompileError, Ended, Failure, Reader, Run, ScriptFlags, ScriptId, Value, returned_error, write_reply,
};
use crate::server::hub::Interest;
use crate::server::monitors;
use crate::server::outbox::Action;
use crate::server::scripts::{Interpreter, Script, ScriptEngine};

/// Shows a request to monitors before the commands that it calls.
pub(super) fn show_request(ctx: &mut Context<'_, '_>, args: &[&[u8]]) {
    if ctx.shared.hub.interest.has(Interest::MONITORS)
        && let Some(spec) = args.first().and_then(|name| catalog::lookup(name))
    {
        let address = ctx.client.card.lock().address.clone();
        let line = monitors::line(ctx.shared, (ctx.client.db, &address), spec, args, ctx.now_ms());
        ctx.outbox.push(Action::ShowMonitors(line));
    }
}

/// Looks whether flags allow a run at all.
///
/// # Errors
/// Redis' texts.
pub(super) fn check_flags(ctx: &Context<'_, '_>, flags: Option<ScriptFlags>, reads: bool) -> Outcome {
    // Without a first line that names flags each command is looked at instead.
    let Some(flags) = flags else { return Ok(()) };
    if flags.has(ScriptFlags::NO_WRITES) {
        return Ok(());
    }
    if let Some(text) = ctx.shared.shortage_text()
        && !flags.has(ScriptFlags::ALLOW_OOM)
    {
        return Err(CommandError::text(text));
    }
    if reads {
        return Err(CommandError::text("ERR Can not execute a script with write flag using *_ro command."));
    }
    Ok(())
}

/// Compiles a script, to see whether it can be.
///
/// # Errors
/// The compiler's.
pub(super) fn compile(ctx: &mut Context<'_, '_>, script: &Script) -> Outcome {
    let engine = &*script.engine;
    let job = Job {
        engine,
        what: What::Script(script),
        request: &[],
        keys: &[],
        arguments: &[],
        reads: true,
        ignores_memory: false,
    };
    let mut lent = take(ctx, engine);
    let outcome = prepare_script(ctx, &job, script, &mut lent).map(drop);
    engine.give_back(lent);
    outcome
}

/// Runs a script or a function. Its value is the reply, and so is the error that it raises: what it wrote before stays, as with
/// Redis, unless the language undoes it.
///
/// # Errors
/// It could not run, or was ended from outside: nothing of it stays.
pub(super) fn run(ctx: &mut Context<'_, '_>, job: &Job<'_>) -> Outcome {
    let mut lent = take(ctx, job.engine);
    let outcome = run_in(ctx, job, &mut lent);
    job.engine.give_back(lent);
    outcome
}

/// An interpreter that knows nothing which is not so any more.
fn take(ctx: &Context<'_, '_>, engine: &ScriptEngine) -> Box<Interpreter> {
    let scripts = &ctx.shared.scripts;
    let mut lent = engine.take();
    let flushes = scripts.cache.flushes();
    if lent.flushes != flushes {
        for (_, id) in lent.scripts.drain() {
            lent.runtime.drop_script(id);
        }
        lent.flushes = flushes;
    }
    let generation = scripts.libraries.generation();
    if lent.generation != generation {
        let present = scripts.libraries.present();
        libraries::forget(&mut lent, |number| !present.has(number));
        lent.generation = generation;
    }
    lent
}

/// The script in this interpreter, compiled if it is not yet.
fn prepare_script(
    ctx: &mut Context<'_, '_>,
    job: &Job<'_>,
    script: &Script,
    lent: &mut Interpreter,
) -> Result<ScriptId, CommandError> {
    if let Some(id) = lent.scripts.get(&script.hash) {
        return Ok(*id);
    }
    if lent.scripts.len() > 2 * SCRIPTS_OF_EVAL_MAX {
        let cache = &ctx.shared.scripts.cache;
        let runtime = &mut lent.runtime;
        lent.scripts.retain(|hash, id| {
            let is_kept = cache.get(*hash).is_some();
            if !is_kept {
                runtime.drop_script(*id);
            }
            is_kept
        });
    }
    let limits = ctx.shared.settings.bounds().script_limits();
    let mut host = ScriptHost::new(ctx, job, &mut lent.reply);
    let compiled = lent.runtime.compile(&script.source, limits, &mut host);
    let kill = host.end();
    match compiled {
        Ok(id) => {
            lent.scripts.insert(script.hash, id);
            Ok(id)
        }
        Err(
            CompileError::Syntax(text) | CompileError::Stopped(Ended::Failed(Failure { message: text, .. })),
        ) => Err(CommandError::owned(format!(
            "ERR Error compiling script (new function): {}",
            String::from_utf8_lossy(&text)
        ))),
        Err(CompileError::Stopped(ended)) => Err(stopped(ctx, job, ended, kill)),
    }
}

fn run_in(ctx: &mut Context<'_, '_>, job: &Job<'_>, lent: &mut Interpreter) -> Outcome {
    let db = ctx.client.db;
    // Drawn from the connection's numbers, which go back with a run that is thrown away.
    let run = Run {
        keys: job.keys,
        arguments: job.arguments,
        limits: ctx.shared.settings.bounds().script_limits(),
        seed: if job.what.is_deterministic() { 0 } else { ctx.client.random.i32(..) },
    };
    let undo = job.engine.undoes_traps().then(|| (ctx.txn.savepoint(), ctx.outbox.mark()));
    lent.value.reset(usize::try_from(run.limits.memory_bytes).unwrap_or(usize::MAX));
    let (ended, protocol, kill) = match job.what {
        What::Script(script) => {
            let id = prepare_script(ctx, job, script, lent)?;
            let mut host = ScriptHost::new(ctx, job, &mut lent.reply);
            let ended = lent.runtime.run(id, &run, &mut host, &mut lent.value);
            (ended, host.protocol(), host.end())
        }
        What::Function(library, function) => {
            let id = libraries::prepare(ctx.shared, library, function, lent)?;
            let mut host = ScriptHost::new(ctx, job, &mut lent.reply);
            let ended = lent.runtime.call_function(id, &run, &mut host, &mut lent.value);
            (ended, host.protocol(), host.end())
        }
    };
    ctx.client.db = db;
    if let Some(error) = ctx.interrupted.clone() {
        return Err(error.into());
    }
    let failed = match ended {
        Ok(()) => {
            let value = Reader::new(lent.value.as_bytes()).next().unwrap_or(Value::Nil);
            if let Some(error) = returned_error(value) {
                note_failure(ctx, job, (!error.is_counted).then_some(error.text));
            }
            write_reply(value, protocol, ctx.reply);
            None
        }
        Err(Ended::Failed(failure)) if !failure.is_out_of_memory() => Some(failure),
        Err(ended) => return Err(stopped(ctx, job, ended, kill)),
    };
    match (failed, undo) {
        (None, Some((savepoint, _))) => ctx.txn.release(savepoint),
        (None, None) => {}
        (Some(failure), undo) => {
            let text = failure.reply(&job.what.name());
            if let Some((savepoint, mark)) = undo {
                if failure.is_plain {
                    ctx.txn.rollback_to(&savepoint);
                    ctx.outbox.go_back(mark);
                    ctx.sql.went_back();
                }
                ctx.txn.release(savepoint);
            }
            note_failure(ctx, job, (!failure.is_counted).then_some(&text));
            ctx.reply.error_bytes(&text);
        }
    }
    Ok(())
}

/// Counts a run that failed, and its error if that is not counted yet.
fn note_failure(ctx: &mut Context<'_, '_>, job: &Job<'_>, error: Option<&[u8]>) {
    let spec = job.request.first().and_then(|name| catalog::lookup(name));
    if let Some(spec) = spec {
        ctx.tally.failed(spec.id);
    }
    if let Some(text) = error {
        ctx.tally.error(&String::from_utf8_lossy(text));
    }
}

/// The error of a run that was ended from outside. Nothing of it happens, and nothing of the transaction around it: what it wrote
/// cannot be told from what it would have written.
fn stopped(ctx: &Context<'_, '_>, job: &Job<'_>, ended: Ended, kill: Option<Kill>) -> CommandError {
    if let Some(error) = ctx.interrupted.clone() {
        return error.into();
    }
    let (name, empty) = (job.what.name(), || Failure {
        message: Vec::new(),
        place: None,
        is_plain: false,
        is_counted: false,
    });
    let (reason, mut failure) = match (ended, kill) {
        (Ended::OutOfSteps(failure), _) => {
            let most = libraries::steps_max(ctx.shared);
            (format!("ERR the script took more steps than it may take here ({most})"), failure)
        }
        // Redis' words, for FUNCTION KILL as well.
        (Ended::Killed(failure), Some(Kill::Wished)) => {
            ("ERR Script killed by user with SCRIPT KILL...".to_owned(), failure)
        }
        (Ended::Killed(failure), Some(Kill::NoMemory)) => {
            ("OOM the script needs more memory than is left".to_owned(), failure)
        }
        (Ended::Killed(failure), _) => {
            ("ERR the script was ended because the server stops".to_owned(), failure)
        }
        (Ended::Failed(mut failure), _) => {
            let most_bytes = ctx.shared.settings.bounds().scripts.memory_bytes;
            failure.message.extend_from_slice(format!(" (it may have {most_bytes} bytes here)").as_bytes());
            (String::new(), failure)
        }
        (Ended::Abandoned, _) => ("ERR the script was abandoned".to_owned(), empty()),
    };
    if !reason.is_empty() {
        // A language without lines has no place, which would name it.
        let named = if failure.place.is_none() && !failure.is_plain {
            format!("{reason} script: {name}")
        } else {
            reason
        };
        failure.message = named.into_bytes();
    }
    EngineError::Refused(String::from_utf8_lossy(&failure.reply(&name)).into_owned()).into()
}

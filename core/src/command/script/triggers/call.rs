//! One run of a trigger's function.

use std::sync::Arc;

use super::super::job::{Job, What};
use super::super::{libraries, run};
use crate::acl::Access;
use crate::command::args::quoted;
use crate::command::call::TriggerRun;
use crate::command::{CommandError, Context, pending_users};
use crate::engine::{Changed, Db, Drafts, EngineError, Kind};
use crate::limits::TRIGGER_DEPTH_MAX;
use crate::resp::Protocol;
use crate::script::{Level, ScriptFlags};
use crate::server::outbox::Action;
use crate::server::triggers::{Event, Trigger, TriggerEnd};

/// Names and keys in texts are cut to so many bytes.
const SHOWN_BYTES: usize = 128;

/// Why a trigger runs.
pub(super) struct Cause<'k> {
    pub db: Db,
    pub key: &'k [u8],
    pub event: Event,
    /// The type of the key before the transaction; None if it was missing.
    pub before: Option<Kind>,
    /// Its type now.
    pub after: Option<Kind>,
}

/// Why a run did not end well.
struct Failed {
    end: TriggerEnd,
    error: CommandError,
}

/// Runs a trigger's function; the keys that it has changed.
///
/// # Errors
/// The function refuses the transaction or cannot run. A key whose time has come goes whatever the function does: then the error
/// is logged, and nothing of the run stays.
pub(super) fn call(
    ctx: &mut Context<'_, '_>,
    trigger: &Arc<Trigger>,
    cause: &Cause<'_>,
) -> Result<Vec<Changed>, CommandError> {
    let begin_ns = ctx.shared.host.monotonic_ns();
    let (savepoint, mark) = (ctx.txn.savepoint(), ctx.outbox.mark());
    let outcome = run_function(ctx, trigger, cause);
    if let Some(error) = ctx.interrupted.clone() {
        return Err(error.into());
    }
    let took_ns = ctx.shared.host.monotonic_ns().saturating_sub(begin_ns);
    let end = outcome.as_ref().map_or_else(|failed| failed.end, |()| TriggerEnd::Ran);
    let is_ignored = cause.event == Event::Expire && end != TriggerEnd::Ran;
    let end = if is_ignored { TriggerEnd::Failed } else { end };
    ctx.tally.triggers.push(TriggerRun { trigger: trigger.clone(), end, took_ns });
    let changed = match outcome {
        Ok(()) => ctx.txn.changed_since(&savepoint),
        // Once the server runs again the key is still there, and has still expired.
        Err(failed) if !is_ignored || ctx.shared.scripts.long.is_stopping() => return Err(failed.error),
        Err(failed) => {
            ctx.txn.rollback_to(&savepoint);
            ctx.outbox.go_back(mark);
            let text = format!(
                "trigger '{}' failed at the expiry of key '{}' in database {}: {}",
                quoted(&trigger.name, SHOWN_BYTES),
                quoted(cause.key, SHOWN_BYTES),
                cause.db,
                failed.error.reply_text()
            );
            ctx.outbox.push(Action::Log(Level::Warning, text.into_bytes()));
            Vec::new()
        }
    };
    ctx.txn.release(savepoint);
    Ok(changed)
}

/// The error of triggers that cause each other without end.
pub(super) fn too_deep(ctx: &mut Context<'_, '_>, trigger: &Arc<Trigger>) -> CommandError {
    ctx.tally.triggers.push(TriggerRun { trigger: trigger.clone(), end: TriggerEnd::Failed, took_ns: 0 });
    cannot_run(trigger, &format!("triggers have caused each other {TRIGGER_DEPTH_MAX} deep"))
}

fn cannot_run(trigger: &Trigger, reason: &str) -> CommandError {
    let name = quoted(&trigger.name, SHOWN_BYTES);
    CommandError::owned(format!("ERR trigger '{name}' cannot run: {reason}"))
}

fn kind_name(kind: Option<Kind>) -> &'static [u8] {
    kind.map_or(&b"none"[..], |kind| kind.name().as_bytes())
}

/// Runs the function for the key's database with the rights of the trigger's definer.
fn run_function(ctx: &mut Context<'_, '_>, trigger: &Trigger, cause: &Cause<'_>) -> Result<(), Failed> {
    let failed = |error| Failed { end: TriggerEnd::Failed, error };
    let access = definer(ctx, trigger).map_err(failed)?;
    let set = libraries::present(ctx);
    let (library, function) = set.function(&trigger.function).ok_or_else(|| {
        let function = quoted(&trigger.function, SHOWN_BYTES);
        failed(cannot_run(
            trigger,
            &format!("function '{function}' is missing; load its library or drop the trigger"),
        ))
    })?;
    let database = cause.db.to_string();
    let arguments = [
        cause.event.name().as_bytes(),
        &trigger.name,
        kind_name(cause.before),
        kind_name(cause.after),
        database.as_bytes(),
    ];
    let job = Job {
        engine: &library.engine,
        what: What::Function(library, function),
        request: &[b"trigger", &trigger.name, cause.event.name().as_bytes(), cause.key],
        keys: &[cause.key],
        arguments: &arguments,
        reads: function.flags.has(ScriptFlags::NO_WRITES),
        // It is part of a write that was let in; and what frees memory must not need any.
        ignores_memory: true,
    };
    let mut reply = ctx.reply.beside();
    reply.set_protocol(Protocol::Resp2);
    let own_access = std::mem::replace(&mut ctx.client.access, access);
    // What the function reads, the connection has not read.
    let own_tracking = ctx.client.tracking.take();
    let own_db = std::mem::replace(&mut ctx.client.db, cause.db);
    let drafts = Drafts::new();
    let mut inner = ctx.inner(Some(&mut reply), &drafts);
    inner.in_trigger = true;
    let outcome = run::run(&mut inner, &job);
    ctx.client.access = own_access;
    ctx.client.tracking = own_tracking;
    ctx.client.db = own_db;
    outcome.map_err(failed)?;
    if reply.is_cut() {
        return Err(failed(cannot_run(trigger, "the reply of its function does not fit into memory")));
    }
    if reply.has_stored() {
        return Ok(());
    }
    match reply.as_bytes().strip_prefix(b"-") {
        None => Ok(()),
        Some(line) => {
            let text = line.strip_suffix(b"\r\n").unwrap_or(line);
            let error = EngineError::Refused(String::from_utf8_lossy(text).into_owned()).into();
            Err(Failed { end: TriggerEnd::Refused, error })
        }
    }
}

/// The rights of the user that made a trigger.
fn definer(ctx: &Context<'_, '_>, trigger: &Trigger) -> Result<Access, CommandError> {
    let acl = &ctx.shared.acl;
    let own = &ctx.client.access;
    let changes_users = ctx.outbox.changes_of_users().next().is_some();
    if !changes_users && own.is_fresh(acl) && own.user().name() == &*trigger.definer && own.user().is_on() {
        return Ok(own.clone());
    }
    match pending_users::user(ctx, &trigger.definer) {
        Some(user) if user.is_on() => Ok(Access::of(user, acl)),
        found => {
            let name = quoted(&trigger.definer, SHOWN_BYTES);
            let state = if found.is_some() { "off" } else { "gone" };
            Err(cannot_run(trigger, &format!("user '{name}', which made it, is {state}")))
        }
    }
}

//! One run of a trigger's function.

use std::sync::Arc;

use super::super::definer::{Caller, Definition, OwnCall, SHOWN_BYTES};
use crate::command::args::quoted;
use crate::command::call::TriggerRun;
use crate::command::{CommandError, Context};
use crate::engine::{Changed, Db, Kind};
use crate::limits::TRIGGER_DEPTH_MAX;
use crate::script::Level;
use crate::server::outbox::Action;
use crate::server::triggers::{Event, Trigger, TriggerEnd};

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
    definition(trigger).cannot_run(&format!("triggers have caused each other {TRIGGER_DEPTH_MAX} deep"))
}

fn kind_name(kind: Option<Kind>) -> &'static [u8] {
    kind.map_or(&b"none"[..], |kind| kind.name().as_bytes())
}

/// Runs the function for the key's database.
fn run_function(ctx: &mut Context<'_, '_>, trigger: &Trigger, cause: &Cause<'_>) -> Result<(), Failed> {
    let database = cause.db.to_string();
    let call = OwnCall {
        db: cause.db,
        request: &[b"trigger", &trigger.name, cause.event.name().as_bytes(), cause.key],
        keys: &[cause.key],
        arguments: &[
            cause.event.name().as_bytes(),
            &trigger.name,
            kind_name(cause.before),
            kind_name(cause.after),
            database.as_bytes(),
        ],
    };
    match definition(trigger).call(ctx, &call) {
        Ok(None) => Ok(()),
        Ok(Some(error)) => Err(Failed { end: TriggerEnd::Refused, error }),
        Err(error) => Err(Failed { end: TriggerEnd::Failed, error }),
    }
}

fn definition(trigger: &Trigger) -> Definition<'_> {
    Definition {
        caller: Caller::Trigger,
        name: &trigger.name,
        function: &trigger.function,
        definer: &trigger.definer,
    }
}

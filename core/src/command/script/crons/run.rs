//! One run of a cron's function.

use super::super::definer::{Caller, Definition, OwnCall};
use crate::command::{CommandError, Context};
use crate::server::crons::Cron;

/// Calls the function of a cron that is due for this time (unix milliseconds). The error that it raised or returned, if it did:
/// what it wrote before stays, as for FCALL.
///
/// # Errors
/// It could not run, or was ended from outside: nothing of it stays.
pub(crate) fn run(
    ctx: &mut Context<'_, '_>,
    cron: &Cron,
    due_ms: u64,
) -> Result<Option<CommandError>, CommandError> {
    let due = due_ms.to_string();
    let definition = Definition {
        caller: Caller::Cron,
        name: &cron.name,
        function: &cron.function,
        definer: &cron.definer,
    };
    let call = OwnCall {
        db: cron.db,
        request: &[b"cron", &cron.name, due.as_bytes()],
        keys: &[],
        arguments: &[&cron.name, due.as_bytes()],
    };
    if cron.db >= ctx.shared.settings.databases() {
        // It was made when the server had more.
        return Err(definition.cannot_run(&format!("there is no database {} any more", cron.db)));
    }
    let outcome = definition.call(ctx, &call);
    match ctx.interrupted.clone() {
        Some(error) => Err(error.into()),
        None => outcome,
    }
}

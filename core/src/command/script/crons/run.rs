//! One run of a cron's function.

use super::super::definer::{Caller, Definition, OwnCall};
use crate::command::definitions::Definitions;
use crate::command::{CommandError, Context};
use crate::server::crons::Cron;

/// For which time each cron ran last, where several processes serve the store: unix milliseconds as digits.
const RUNS: Definitions = Definitions::of("run", b"~cron-runs");

/// How a run went.
#[derive(Debug)]
pub(crate) enum CronRan {
    /// It took place; the error that the function raised or returned, if it did: what it wrote before stays, as for FCALL.
    Here(Option<CommandError>),
    /// Another process has run it for this time.
    Elsewhere,
}

/// Calls the function of a cron that is due for this time (unix milliseconds).
///
/// # Errors
/// It could not run, or was ended from outside: nothing of it stays.
pub(crate) fn run(ctx: &mut Context<'_, '_>, cron: &Cron, due_ms: u64) -> Result<CronRan, CommandError> {
    let due = due_ms.to_string();
    if ctx.shared.peers.are_possible() {
        let claimed = claim(ctx, &cron.name, due_ms);
        if let Some(error) = ctx.interrupted.clone() {
            return Err(error.into());
        }
        if !claimed? {
            return Ok(CronRan::Elsewhere);
        }
    }
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
        None => outcome.map(CronRan::Here),
    }
}

/// Notes that the cron runs for this time; false if one has run for it, or for a later time. The note is part of the transaction, so of
/// several processes only one can commit.
fn claim(ctx: &mut Context<'_, '_>, name: &[u8], due_ms: u64) -> Result<bool, CommandError> {
    let ran = RUNS.get(ctx.txn, name);
    if let Err(CommandError::Engine(error)) = &ran
        && error.asks_to_run_again()
    {
        *ctx.interrupted = Some(error.clone());
    }
    let ran_ms = ran?.and_then(|text| std::str::from_utf8(&text).ok()?.parse::<u64>().ok());
    if ran_ms.is_some_and(|ran_ms| ran_ms >= due_ms) {
        return Ok(false);
    }
    RUNS.set(ctx.txn, &[name, due_ms.to_string().as_bytes()])?;
    Ok(true)
}

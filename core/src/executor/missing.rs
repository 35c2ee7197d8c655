//! Runs of several commands that go on past what an engine must fetch, so that it is fetched for all of them together.
//!
//! A command that misses something has no reply, and those behind it may see a state that never was. So such a run ends as if
//! it had stopped at the miss: with [`EngineError::NotHere`], and everything that it did is thrown away. What runs code is left
//! out, since code may do anything with what never was, even go on for ever.

use crate::catalog::CommandSpec;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::EngineError;

/// Whether a run has missed something and goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Missing(bool);

impl Missing {
    /// Whether a command may run, to be asked before it does.
    pub(super) fn lets(&mut self, ctx: &mut Context<'_, '_>, spec: &CommandSpec) -> bool {
        let is_apart = spec.runs_code();
        ctx.txn.allow_guesses(!is_apart);
        let lets = !is_apart || !self.0 && !ctx.txn.has_guessed();
        self.0 |= !lets;
        lets
    }

    /// Whether an outcome is that something is to be fetched, and the run goes on.
    pub(super) fn goes_on<T>(
        &mut self,
        ctx: &mut Context<'_, '_>,
        outcome: &Result<T, CommandError>,
    ) -> bool {
        let is_miss = matches!(outcome, Err(CommandError::Engine(EngineError::NotHere)))
            || *ctx.interrupted == Some(EngineError::NotHere);
        if is_miss {
            *ctx.interrupted = None;
            self.0 = true;
        }
        is_miss
    }

    /// The outcome of the run.
    pub(super) fn end(self, ctx: &mut Context<'_, '_>, outcome: Outcome) -> Outcome {
        if !self.0 {
            return outcome;
        }
        *ctx.interrupted = Some(EngineError::NotHere);
        Err(EngineError::NotHere.into())
    }
}

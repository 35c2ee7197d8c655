//! What connections with caches have read, remembered so that they hear when it changes.
//!
//! Where the engine holds locks this happens under the locks of the transaction, so no change comes between the read and the note. Where
//! it does not, keys are remembered before they are read, and a run whose keys were not, or whose keys changed meanwhile, is repeated.

use super::{Caller, Executor, Plan};
use crate::command::{CommandError, Outcome};
use crate::engine::EngineError;
use crate::server::Shared;
use crate::server::hub::Reread;

/// A run is repeated so often at most because what it has read changes all the time.
const RUNS_MAX: u32 = 3;

impl Executor {
    /// Has the reads of a connection with a cache remembered; the keys that it read and did not change afterwards, in
    /// ascending order. The locks are held: no change of these keys may come between.
    pub(super) fn remember_reads(&mut self, shared: &Shared, caller: &Caller<'_>) -> Vec<Reread> {
        let mut reread = Vec::new();
        for (key, read) in self.reads.iter() {
            let was_remembered = shared.hub.tracking.remember(caller.client.id, key);
            let had_read = was_remembered && !self.remembered.contains(key) || read.before;
            if read.after {
                reread.push(Reread { key: key.to_vec(), had_read });
            }
        }
        reread
    }

    /// Has the keys of a transaction that is about to read remembered.
    pub(super) fn remember_ahead(&mut self, shared: &Shared, caller: &Caller<'_>, plan: &Plan<'_>) {
        let remembers = caller.client.tracking.as_ref().is_some_and(|tracking| tracking.remembers());
        if remembers && !plan.writes && plan.identity == 0 {
            for key in plan.keys {
                shared.hub.tracking.remember(caller.client.id, key);
            }
        }
    }

    /// Fails with [`EngineError::OnceMore`] if a key that was read was not remembered before. After some runs it has the connection
    /// told to forget the key again, behind the reply.
    pub(super) fn check_remembered(&mut self, shared: &Shared, caller: &Caller<'_>, runs: u32) -> Outcome {
        let id = caller.client.id;
        let mut missed: Vec<&[u8]> = Vec::new();
        for (key, _) in self.reads.iter() {
            if !shared.hub.tracking.remember(id, key) && shared.hub.tracking.has(id) {
                self.remembered.insert(key.to_vec());
                missed.push(key);
            }
        }
        if missed.is_empty() {
            return Ok(());
        }
        if runs <= RUNS_MAX {
            return Err(CommandError::Engine(EngineError::OnceMore));
        }
        missed.iter().for_each(|key| shared.hub.tracking.tell_one(id, key));
        Ok(())
    }
}

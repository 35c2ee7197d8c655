//! Definitions that other processes of the same store have changed: users, libraries, triggers, crons.

use super::definitions::Definition;
use super::script::{crons, libraries, triggers};
use super::users;
use crate::engine::{Engine, EngineError};
use crate::server::Server;

/// What a store had of definitions.
#[derive(Debug, Default)]
struct Stored {
    users: Vec<Definition>,
    libraries: Vec<Definition>,
    triggers: Vec<Definition>,
    crons: Vec<Definition>,
}

/// Reads definitions again, and knows what it has read last: what only the settings of this process make of them, as CONFIG SET
/// requirepass does, stays as long as nobody changes the store.
#[derive(Debug, Default)]
pub struct Reloading {
    last: Stored,
    /// How often this process had changed definitions by then.
    changes: u64,
}

impl Reloading {
    /// Reads all definitions and takes over those of a kind of which any may be other than when they were read last.
    ///
    /// # Errors
    /// The engine's; then nothing has changed here.
    pub fn reload<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Result<(), EngineError> {
        let (engine, shared) = (&server.engine, &server.shared);
        loop {
            let before = *shared.definition_changes.lock();
            let stored = Stored {
                users: users::USERS.read(engine, now_ms)?,
                libraries: libraries::LIBRARIES.read(engine, now_ms)?,
                triggers: triggers::TRIGGERS.read(engine, now_ms)?,
                crons: crons::CRONS.read(engine, now_ms)?,
            };
            let changes = shared.definition_changes.lock();
            // A commit of this process may be later than what was read.
            if *changes != before {
                continue;
            }
            let last = std::mem::replace(&mut self.last, stored);
            let stored = &self.last;
            // What this process has made since then may be gone again.
            let has_changed = std::mem::replace(&mut self.changes, before) != before;
            if has_changed || stored.users != last.users {
                users::take_over(shared, &stored.users);
            }
            if has_changed || stored.libraries != last.libraries {
                libraries::take_over(shared, &stored.libraries);
            }
            if has_changed || stored.triggers != last.triggers {
                triggers::take_over(shared, &stored.triggers);
            }
            if has_changed || stored.crons != last.crons {
                crons::take_over(shared, &stored.crons, now_ms);
            }
            return Ok(());
        }
    }
}

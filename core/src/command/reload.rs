//! Definitions that other processes of the same store have changed: users, libraries, triggers, crons.

use super::script::{crons, libraries, triggers};
use super::users;
use crate::engine::{Engine, EngineError};
use crate::server::Server;

/// Reads all definitions and takes over what is other than here.
///
/// # Errors
/// The engine's; then nothing has changed here.
pub fn reload<E: Engine>(server: &Server<E>, now_ms: u64) -> Result<(), EngineError> {
    let (engine, shared) = (&server.engine, &server.shared);
    loop {
        let before = *shared.definition_changes.lock();
        let users = users::stored(engine, now_ms)?;
        let libraries = libraries::stored(engine, now_ms)?;
        let triggers = triggers::stored(engine, now_ms)?;
        let crons = crons::stored(engine, now_ms)?;
        let changes = shared.definition_changes.lock();
        // A commit of this process may be later than what was read.
        if *changes == before {
            users::take_over(shared, &users);
            libraries::take_over(shared, &libraries);
            triggers::take_over(shared, triggers);
            crons::take_over(shared, crons, now_ms);
            return Ok(());
        }
    }
}

//! What a store says besides its data, taken over when it was opened: users, libraries of functions, triggers, crons and indexes.

use std::sync::Arc;

use edgecask_core::acl::User;
use edgecask_core::command::script::{crons, libraries, triggers};
use edgecask_core::command::{Unreadable, search, users};
use edgecask_core::engine::EngineError;
use tracing::warn;

use crate::clock::now_ms;
use crate::gateway::Gateway;

/// Why that could not be taken over.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionsError {
    /// The users cannot be kept in the store.
    #[error("the users cannot be kept in the store: {0}")]
    Users(EngineError),
    /// The libraries of functions cannot be read.
    #[error("the libraries of functions cannot be read: {0}")]
    Libraries(EngineError),
    /// The triggers or the crons cannot be read.
    #[error("triggers and crons cannot be read: {0}")]
    Callers(EngineError),
    /// The indexes cannot be read.
    #[error("the search indexes cannot be read: {0}")]
    Indexes(EngineError),
}

/// Takes everything over, and puts the users of a file, if there is one, into the store. What this version cannot read is logged and
/// does nothing.
///
/// # Errors
/// The store cannot be read, or a change of users cannot be written.
pub fn restore(gateway: &Gateway, users_of_file: Option<Vec<Arc<User>>>) -> Result<(), DefinitionsError> {
    restore_libraries(gateway)?;
    restore_callers(gateway)?;
    restore_indexes(gateway)?;
    restore_users(gateway, users_of_file)
}

/// Takes the users over from the store, or puts those of the file into it.
fn restore_users(gateway: &Gateway, of_file: Option<Vec<Arc<User>>>) -> Result<(), DefinitionsError> {
    let restored = users::restore(&gateway.server, of_file, now_ms()).map_err(DefinitionsError::Users)?;
    for name in restored.unreadable {
        let user = String::from_utf8_lossy(&name).into_owned();
        warn!(
            user,
            "a user is off, since this version cannot read its rules; ACL SETUSER makes it anew after ACL DELUSER"
        );
    }
    if !restored.is_reachable {
        warn!("every user is off: nobody can log in");
    }
    Ok(())
}

/// Takes the libraries of functions over from the store.
fn restore_libraries(gateway: &Gateway) -> Result<(), DefinitionsError> {
    let unusable = libraries::restore(&gateway.server, now_ms()).map_err(DefinitionsError::Libraries)?;
    for library in unusable {
        let name = String::from_utf8_lossy(&library.name).into_owned();
        warn!(
            library = name,
            reason = library.reason,
            "a library of functions cannot be used; it stays in the store"
        );
    }
    Ok(())
}

/// Takes triggers and crons over from the store.
fn restore_callers(gateway: &Gateway) -> Result<(), DefinitionsError> {
    let triggers = triggers::restore(&gateway.server, now_ms()).map_err(DefinitionsError::Callers)?;
    let crons = crons::restore(&gateway.server, now_ms()).map_err(DefinitionsError::Callers)?;
    for Unreadable { kind, name } in triggers.into_iter().chain(crons) {
        let name = String::from_utf8_lossy(&name).into_owned();
        warn!(name, "a {kind} does not run, since this version cannot read it; it stays in the store");
    }
    Ok(())
}

/// Opens the search indexes of the store.
fn restore_indexes(gateway: &Gateway) -> Result<(), DefinitionsError> {
    for Unreadable { name, .. } in
        search::open(&gateway.server, now_ms()).map_err(DefinitionsError::Indexes)?
    {
        let name = String::from_utf8_lossy(&name).into_owned();
        warn!(
            name,
            "a search index is not there, since this version cannot read its definition; it stays in the store"
        );
    }
    Ok(())
}

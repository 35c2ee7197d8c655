//! What a process asks the cluster before it serves anybody.

use super::asking;
use super::cluster::{Ask, Cluster, ClusterError, Write};
use super::databases::{Databases, FIRST_MADE};
use super::engine_error;
use super::names::Names;
use crate::engine::{Db, EngineError, Result};

/// Numbers of processes are below this.
const PROCESSES_MAX: u32 = 1 << 24;

/// So often another process may have been quicker.
const TRIES: u32 = 100;

/// The value of a key, and the transaction in which it was read.
fn read<C: Cluster>(
    cluster: &C,
    name: Vec<u8>,
) -> std::result::Result<(C::Transaction, Option<Vec<u8>>), ClusterError> {
    let (transaction, answers) = asking::read(cluster, None, vec![Ask::Get(name)])?;
    Ok((transaction, asking::value(answers.into_iter().next())?))
}

fn next_process_number<C: Cluster>(cluster: &C, names: &Names) -> std::result::Result<u32, ClusterError> {
    let (transaction, stored) = read(cluster, names.processes())?;
    let before = stored.as_deref().and_then(|stored| Some(u32::from_le_bytes(stored.try_into().ok()?)));
    let number = before.unwrap_or(0) + 1;
    if number >= PROCESSES_MAX {
        return Err(ClusterError::Refused("the store was opened too often".into()));
    }
    let write =
        Write { changes: vec![(names.processes(), Some(number.to_le_bytes().to_vec()))], ..Write::default() };
    asking::write(cluster, Some(transaction), write).map(|()| number)
}

/// Takes a number that no other process of the store has, or has had.
pub(super) fn take_process_number<C: Cluster>(cluster: &C, names: &Names) -> Result<u32> {
    for _ in 0..TRIES {
        match next_process_number(cluster, names) {
            // A number of which nobody knows is left out.
            Err(ClusterError::Conflict(_) | ClusterError::Moved(_) | ClusterError::Unknown(_)) => {}
            outcome => return outcome.map_err(engine_error),
        }
    }
    Err(EngineError::Unavailable("too many processes open the store at this moment".into()))
}

/// The secret of the store; if it has none yet, it gets this one.
pub(super) fn take_secret<C: Cluster>(cluster: &C, names: &Names, proposed: [u8; 32]) -> Result<Vec<u8>> {
    for _ in 0..TRIES {
        let (transaction, stored) = match read(cluster, names.secret()) {
            Err(ClusterError::Conflict(_) | ClusterError::Moved(_)) => continue,
            outcome => outcome.map_err(engine_error)?,
        };
        if let Some(stored) = stored {
            return Ok(stored);
        }
        let changes = vec![(names.secret(), Some(proposed.to_vec()))];
        match asking::write(cluster, Some(transaction), Write { changes, ..Write::default() }) {
            // Whose it is shows the next look.
            Ok(()) | Err(ClusterError::Conflict(_) | ClusterError::Moved(_) | ClusterError::Unknown(_)) => {}
            Err(error) => return Err(engine_error(error)),
        }
    }
    Err(EngineError::Unavailable("too many processes open the store at this moment".into()))
}

/// The first database beyond `count` that has something, as far as one look tells: databases that were flushed or swapped show other
/// spaces.
pub(super) fn database_beyond<C: Cluster>(cluster: &C, names: &Names, count: Db) -> Result<Option<Db>> {
    if let Some(db) = read_databases(cluster, names)?.moved_beyond(count) {
        return Ok(Some(db));
    }
    let range = (names.space(count.saturating_add(1)).0, names.space(FIRST_MADE).0);
    let (_, answers) =
        asking::read(cluster, None, vec![asking::scan_names(range, 1)]).map_err(engine_error)?;
    let found = asking::pairs(answers.into_iter().next()).map_err(engine_error)?;
    let space = found.first().and_then(|(name, _)| names.read_space(name));
    Ok(space.and_then(|space| space.checked_sub(1)))
}

/// The databases as they are now.
pub(super) fn read_databases<C: Cluster>(cluster: &C, names: &Names) -> Result<Databases> {
    for _ in 0..TRIES {
        match read(cluster, names.databases()) {
            Err(ClusterError::Conflict(_) | ClusterError::Moved(_)) => {}
            Err(error) => return Err(engine_error(error)),
            Ok((_, stored)) => return Databases::read(stored.as_deref()),
        }
    }
    Err(EngineError::Unavailable("the list of databases is being changed".into()))
}

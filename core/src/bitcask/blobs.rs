//! The blobs of an open store: which of them roots refer to, and when the others may go.
//!
//! Three rules keep a blob as safe as the record that refers to it:
//! 1. Before the log is synced up to a record, the blob the record refers to is ([`Log`](super::log::Log) does that).
//! 2. A blob is removed only after the log was synced beyond the record that took its last root away.
//! 3. Recovery reads the blobs of records that may not have been synced. If the power may have been lost, it takes a record
//!    whose blob does not carry its checksum for a part of the torn tail.
//!
//! A blob that is lost or damaged otherwise is noted as such: its key can be overwritten and removed, and reading it is an
//! error.
//!
//! So a blob that died before it was ever synced need not be: nothing that survives refers to it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::engine::{BlobRef, BlobStore, EngineError, Result, blob_error};
use crate::storage::{Blob, BlobId, Storage, StorageError};

/// The blobs of one store.
pub(super) struct Blobs {
    storage: Arc<dyn Storage>,
    state: Mutex<State>,
    /// The next number of a collection, space or blob.
    next_number: Arc<AtomicU64>,
}

#[derive(Default)]
struct State {
    /// Blobs with roots.
    roots: HashMap<BlobId, Referred>,
    /// Blobs without a root, with the position of the log at which they lost it.
    dead: HashMap<BlobId, u64>,
    /// Blobs that are being written for a commit that may come.
    drafts: HashSet<BlobId>,
    /// Blobs that cannot be read, with what is wrong with each.
    damaged: HashMap<BlobId, String>,
}

/// A blob to which roots refer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Referred {
    /// How many roots do; between the two halves of a RENAME it may be two, or none.
    pub(super) roots: u32,
    /// How long the value is that the last of them says it holds.
    pub(super) len: u64,
}

/// How many blobs there are.
pub(super) struct BlobCount {
    /// Those that roots refer to, and how long their values are together.
    pub(super) live: u64,
    pub(super) live_bytes: u64,
    /// Those that wait for their removal.
    pub(super) dead: u64,
}

/// The changes of references to blobs by a commit.
#[derive(Default)]
pub(super) struct BlobChanges {
    taken: Vec<BlobRef>,
    released: Vec<BlobId>,
}

impl BlobChanges {
    /// A root says this of a blob now.
    pub(super) fn take(&mut self, blob: BlobRef) {
        self.taken.push(blob);
    }

    /// A root that referred to this blob is gone.
    pub(super) fn release(&mut self, id: BlobId) {
        self.released.push(id);
    }
}

impl Blobs {
    /// The blobs that a recovery found roots for; what else the storage has is litter and goes.
    pub(super) fn open(
        storage: Arc<dyn Storage>,
        roots: HashMap<BlobId, Referred>,
        damaged: HashMap<BlobId, String>,
        next_number: Arc<AtomicU64>,
    ) -> std::result::Result<Blobs, StorageError> {
        for id in storage.list_blobs()? {
            if !roots.contains_key(&id) {
                storage.remove_blob(id)?;
            }
        }
        let state = Mutex::new(State { roots, damaged, ..State::default() });
        Ok(Blobs { storage, state, next_number })
    }

    /// Follows a commit that ends at this position of the log.
    pub(super) fn apply(&self, changes: &BlobChanges, position: u64) {
        if changes.taken.is_empty() && changes.released.is_empty() {
            return;
        }
        let state = &mut *self.state.lock();
        for blob in &changes.taken {
            let referred = state.roots.entry(blob.id).or_default();
            *referred = Referred { roots: referred.roots + 1, len: blob.len };
            state.drafts.remove(&blob.id);
        }
        for id in &changes.released {
            let Some(referred) = state.roots.get_mut(id) else { continue };
            referred.roots = referred.roots.saturating_sub(1);
            if referred.roots == 0 {
                state.roots.remove(id);
                state.dead.insert(*id, position);
            }
        }
    }

    /// Goes on with the roots that a recovery found while nobody commits. Of the blobs that are `there`, those that are
    /// neither referred to nor being written are dead since this position.
    pub(super) fn reopen(
        &self,
        roots: HashMap<BlobId, Referred>,
        found_damaged: HashMap<BlobId, String>,
        there: &BTreeSet<BlobId>,
        position: u64,
    ) {
        let State { roots: present, dead, drafts, damaged } = &mut *self.state.lock();
        *present = roots;
        damaged.extend(found_damaged);
        dead.retain(|id, _| !present.contains_key(id));
        for id in there.iter().filter(|id| !present.contains_key(id) && !drafts.contains(id)) {
            dead.entry(*id).or_insert(position);
        }
    }

    /// Whether the blob had lost its last root when the log had reached this position.
    pub(super) fn is_dead_at(&self, id: BlobId, position: u64) -> bool {
        self.state.lock().dead.get(&id).is_some_and(|died| *died <= position)
    }

    /// Removes dead blobs as far as the log is synced; returns how many are left.
    pub(super) fn sweep(&self, synced: u64) -> Result<usize> {
        let due: Vec<BlobId> = {
            let state = self.state.lock();
            state.dead.iter().filter(|(_, died)| **died <= synced).map(|(id, _)| *id).collect()
        };
        for id in due {
            match self.storage.remove_blob(id) {
                // A removal that failed may have happened all the same.
                Ok(()) | Err(StorageError::Missing(_)) => self.state.lock().dead.remove(&id),
                Err(error) => return Err(blob_error(error)),
            };
        }
        Ok(self.state.lock().dead.len())
    }

    /// A committed blob.
    pub(super) fn open_blob(&self, id: BlobId) -> Result<Arc<dyn Blob>> {
        if let Some(what) = self.state.lock().damaged.get(&id) {
            return Err(EngineError::Damaged(what.clone()));
        }
        self.storage.open_blob(id).map_err(blob_error)
    }

    /// How many there are.
    pub(super) fn count(&self) -> BlobCount {
        let state = self.state.lock();
        BlobCount {
            live: state.roots.len() as u64,
            live_bytes: state.roots.values().map(|referred| referred.len).sum(),
            dead: state.dead.len() as u64,
        }
    }
}

impl BlobStore for Blobs {
    fn create(&self) -> Result<(BlobId, Arc<dyn Blob>)> {
        let id = BlobId(self.next_number.fetch_add(1, Ordering::Relaxed));
        // Before it is there: a listing that shows it must find it noted.
        self.state.lock().drafts.insert(id);
        match self.storage.create_blob(id) {
            Ok(blob) => Ok((id, blob)),
            Err(error) => {
                self.state.lock().drafts.remove(&id);
                Err(blob_error(error))
            }
        }
    }

    fn discard(&self, id: BlobId) {
        self.state.lock().drafts.remove(&id);
        // What cannot be removed is litter, which the next process removes.
        let _ = self.storage.remove_blob(id);
    }
}

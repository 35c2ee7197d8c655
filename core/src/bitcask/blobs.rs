//! The blobs of an open store: which of them roots refer to, and when the others may go.
//!
//! Three rules keep a blob as safe as the record that refers to it:
//! 1. Before the log is synced up to a record, the blob the record refers to is ([`Log`](super::log::Log) does that).
//! 2. A blob is removed only after the log was synced beyond the record that took its last root away.
//! 3. Recovery reads the blobs of records that may not have been synced. If the power may have been lost, it takes a record
//!    whose blob does not carry its checksum for a part of the torn tail.
//!
//! A blob that is lost or damaged otherwise is the matter of its key: what is read of it is compared with checksums, which
//! the key has, and the key can be overwritten and removed.
//!
//! So a blob that died before it was ever synced need not be: nothing that survives refers to it.
//!
//! Below the length that any committed root gives a blob its file never changes: APPEND writes behind the longest of them,
//! and only that is ever cut off again. So a backup ([`super::backup`]) may share the file and go on with its own length.
//! The other store, opened from the backup, must not write behind that length as well: it takes a copy first.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::fault_injection::{Fault, is_injected};
use crate::engine::{BlobRef, BlobStore, Result, blob_error, sums_of_blob};
use crate::sorted;
use crate::storage::{Blob, BlobId, Part, Storage, StorageError};

/// The blobs of one store.
pub(super) struct Blobs {
    storage: Arc<dyn Storage>,
    state: Mutex<State>,
    /// The next number of a collection, space or blob.
    next_number: Arc<AtomicU64>,
    /// The files of blobs with smaller numbers may be another store's as well.
    shared_below: u64,
}

#[derive(Default)]
struct State {
    /// Blobs with roots.
    roots: HashMap<BlobId, Referred>,
    /// Blobs without a root.
    dead: HashMap<BlobId, Dead>,
    /// Blobs that are being written for a commit that may come.
    drafts: HashSet<BlobId>,
    /// Checksums of the pieces of blobs whose roots are an older build's, with the length of the value: such a blob is
    /// compared as a whole when it is first read, and piece by piece from then on.
    older_sums: HashMap<BlobId, (u64, Arc<[u32]>)>,
    /// How long the values of `roots` and of `dead` are together: both are asked for more often than they could be counted.
    live_bytes: u64,
    dead_bytes: u64,
    /// Backups that are under way: meanwhile no dead blob is removed.
    holds: u32,
}

impl State {
    /// Counts anew what all of them take together.
    fn count(&mut self) {
        self.live_bytes = self.roots.values().map(|referred| referred.len).sum();
        self.dead_bytes = self.dead.values().map(|dead| dead.len).sum();
    }
}

/// Keeps the blobs that there are for as long as it lives.
pub(super) struct Hold<'b>(&'b Blobs);

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.0.state.lock().holds -= 1;
    }
}

/// A blob that lost its last root.
#[derive(Clone, Copy, Debug)]
struct Dead {
    /// The position of the log at which it did.
    position: u64,
    /// How long its value was, as far as that is known.
    len: u64,
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
        next_number: Arc<AtomicU64>,
        shared_below: u64,
    ) -> std::result::Result<Blobs, StorageError> {
        for id in storage.list_blobs()? {
            if !roots.contains_key(&id) {
                storage.remove_blob(id)?;
            }
        }
        let mut state = State { roots, ..State::default() };
        state.count();
        Ok(Blobs { storage, state: Mutex::new(state), next_number, shared_below })
    }

    /// Keeps from being removed all blobs that are not removed yet.
    pub(super) fn hold(&self) -> Hold<'_> {
        self.state.lock().holds += 1;
        Hold(self)
    }

    /// The blobs that had a root when the log had reached a position, and perhaps some younger ones; with the lengths of their
    /// values. All frames up to there must have been applied, and the blobs be held since before.
    pub(super) fn referred_at(&self, position: u64) -> Vec<(BlobId, u64)> {
        let state = self.state.lock();
        let living = state.roots.iter().map(|(id, referred)| (*id, referred.len));
        let dead = state.dead.iter().filter(|(_, dead)| dead.position > position);
        let mut all: Vec<(BlobId, u64)> = living.chain(dead.map(|(id, dead)| (*id, dead.len))).collect();
        sorted::plainly(&mut all);
        all
    }

    /// Follows a commit that ends at this position of the log.
    pub(super) fn apply(&self, changes: &BlobChanges, position: u64) {
        if changes.taken.is_empty() && changes.released.is_empty() {
            return;
        }
        let state = &mut *self.state.lock();
        for blob in &changes.taken {
            let referred = state.roots.entry(blob.id).or_default();
            state.live_bytes = state.live_bytes.saturating_sub(referred.len).saturating_add(blob.len);
            *referred = Referred { roots: referred.roots + 1, len: blob.len };
            state.drafts.remove(&blob.id);
            if blob.has_sums {
                state.older_sums.remove(&blob.id);
            }
        }
        for id in &changes.released {
            let Some(referred) = state.roots.get_mut(id) else { continue };
            referred.roots = referred.roots.saturating_sub(1);
            if referred.roots == 0 {
                let len = referred.len;
                state.roots.remove(id);
                state.older_sums.remove(id);
                state.live_bytes = state.live_bytes.saturating_sub(len);
                state.dead_bytes = state.dead_bytes.saturating_add(len);
                state.dead.insert(*id, Dead { position, len });
            }
        }
    }

    /// Goes on with the roots that a recovery found while nobody commits. Of the blobs that are `there`, those that are
    /// neither referred to nor being written are dead since this position.
    pub(super) fn reopen(&self, roots: HashMap<BlobId, Referred>, there: &BTreeSet<BlobId>, position: u64) {
        let mut state = self.state.lock();
        let State { roots: present, dead, drafts, older_sums, .. } = &mut *state;
        *present = roots;
        older_sums.retain(|id, _| present.contains_key(id));
        dead.retain(|id, _| !present.contains_key(id));
        for id in there.iter().filter(|id| !present.contains_key(id) && !drafts.contains(id)) {
            dead.entry(*id).or_insert(Dead { position, len: 0 });
        }
        state.count();
    }

    /// Whether the blob had lost its last root when the log had reached this position.
    pub(super) fn is_dead_at(&self, id: BlobId, position: u64) -> bool {
        self.state.lock().dead.get(&id).is_some_and(|dead| dead.position <= position)
    }

    /// Removes dead blobs as far as the log is synced; returns how many are left.
    pub(super) fn sweep(&self, synced: u64) -> Result<usize> {
        let due: Vec<BlobId> = {
            let state = self.state.lock();
            if state.holds > 0 && !is_injected(Fault::BackupUnheld) {
                return Ok(state.dead.len());
            }
            state.dead.iter().filter(|(_, dead)| dead.position <= synced).map(|(id, _)| *id).collect()
        };
        for id in due {
            match self.storage.remove_blob(id) {
                // A removal that failed may have happened all the same.
                Ok(()) | Err(StorageError::Missing(_)) => {
                    let state = &mut *self.state.lock();
                    let len = state.dead.remove(&id).map_or(0, |dead| dead.len);
                    state.dead_bytes = state.dead_bytes.saturating_sub(len);
                }
                Err(error) => return Err(blob_error(error)),
            };
        }
        Ok(self.state.lock().dead.len())
    }

    /// How long the values in blobs are together, and those in blobs that wait for their removal.
    pub(super) fn lengths(&self) -> (u64, u64) {
        let state = self.state.lock();
        (state.live_bytes, state.dead_bytes)
    }

    /// A committed blob.
    pub(super) fn open_blob(&self, id: BlobId) -> Result<Arc<dyn Blob>> {
        self.storage.open_blob(id).map_err(blob_error)
    }

    /// The checksums of the pieces of a committed blob whose root has none; None if it is not what the root says.
    pub(super) fn older_sums(&self, reference: BlobRef) -> Result<Option<Arc<[u32]>>> {
        let known = self.state.lock().older_sums.get(&reference.id).cloned();
        if let Some((_, sums)) = known.filter(|(len, _)| *len == reference.len) {
            return Ok(Some(sums));
        }
        let blob = self.open_blob(reference.id)?;
        let sums: Option<Arc<[u32]>> = sums_of_blob(&*blob, reference)?.map(Arc::from);
        if let Some(sums) = &sums {
            self.state.lock().older_sums.insert(reference.id, (reference.len, sums.clone()));
        }
        Ok(sums)
    }

    /// How many there are.
    pub(super) fn count(&self) -> BlobCount {
        let state = self.state.lock();
        BlobCount {
            live: state.roots.len() as u64,
            live_bytes: state.live_bytes,
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

    fn is_shared(&self, id: BlobId) -> bool {
        id.0 < self.shared_below && !is_injected(Fault::SharedBlobWritten)
    }

    fn place(&self, id: BlobId) -> String {
        self.storage.place(Part::Blob(id))
    }
}

//! The manifest: which datafiles the store consists of, so that one that is lost, foreign or older is noticed.
//!
//! It is written whole, atomically and durably, whenever that set changes. The order makes every crash readable:
//! 1. A datafile is made with its header only, then the manifest lists it, then frames are appended.
//! 2. The output of a merge is published, then the manifest lists it in place of its inputs, then these are removed. Where
//!    the manifest cannot be written, on a full disk perhaps, they are removed all the same: the output names them. But the
//!    next output waits until the manifest lists this one.
//!
//! So a datafile that is not listed holds nothing (1), stands for listed ones (2), or was dropped and is litter;
//! [`super::listing`] decides which, and takes everything else for damage. The bytes are drawn in `core/FORMAT.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::fault_injection::{Fault, is_injected};
use super::record::{self, FileHeader, read_u32, read_u64};
use crate::storage::{BootId, Storage, StorageError};

/// First bytes of every manifest.
const MAGIC: &[u8; 8] = b"EDGEMANI";

/// Version of the manifest's own format.
const MANIFEST_VERSION: u32 = 1;

/// The same for one that says which blobs are shared: a build that did not know it would write to them.
const SHARING_VERSION: u32 = 2;

/// The same for one that lists a datafile that was begun before the one before it was sealed for sure. A build that did not know
/// of that would take the end of the latter for damage.
const AHEAD_VERSION: u32 = 3;

const FLAG_BOOT: u32 = 1;

/// What a manifest says of one datafile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// Format version of its header.
    pub(super) version: u32,
    pub(super) base_sequence: u64,
    /// Its length and the checksum of its last record, once it was sealed.
    pub(super) seal: Option<(u64, u32)>,
    /// So many bytes of it were on the disk at least.
    pub(super) synced_len: u64,
}

impl Listed {
    /// A datafile that was just made.
    pub(super) fn new(header: &FileHeader) -> Listed {
        Listed { version: header.version, base_sequence: header.base_sequence, seal: None, synced_len: 0 }
    }

    /// Whether it may have been appended to since.
    pub(super) fn is_open(&self) -> bool {
        self.seal.is_none() && self.version >= record::MANIFEST_VERSION
    }
}

/// The contents of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) seed: u64,
    /// How often it was written.
    pub(super) generation: u64,
    /// The run of the machine in which the store was last opened.
    pub(super) boot: Option<BootId>,
    /// Larger than the id of any datafile when it was written.
    pub(super) next_file: u32,
    pub(super) files: BTreeMap<u32, Listed>,
    /// Datafiles that were dropped and may still lie there.
    pub(super) dropped: Vec<u32>,
    /// The files of blobs with smaller numbers may be another store's as well: this one was opened from a backup.
    pub(super) shared_below: u64,
}

impl Manifest {
    pub(super) fn new(seed: u64) -> Manifest {
        Manifest {
            seed,
            generation: 0,
            boot: None,
            next_file: 1,
            files: BTreeMap::new(),
            dropped: Vec::new(),
            shared_below: 0,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let flags = if self.boot.is_some() { FLAG_BOOT } else { 0 };
        let version = match () {
            () if self.is_begun_ahead() => AHEAD_VERSION,
            () if self.shared_below > 0 => SHARING_VERSION,
            () => MANIFEST_VERSION,
        };
        out.extend_from_slice(&version.to_le_bytes());
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&self.seed.to_le_bytes());
        out.extend_from_slice(&self.generation.to_le_bytes());
        out.extend_from_slice(&self.boot.map_or([0; 16], |boot| boot.0));
        out.extend_from_slice(&self.next_file.to_le_bytes());
        out.extend_from_slice(&(self.files.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.dropped.len() as u32).to_le_bytes());
        for (id, listed) in &self.files {
            let (seal_len, seal_checksum) = listed.seal.unwrap_or_default();
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&listed.version.to_le_bytes());
            out.extend_from_slice(&listed.base_sequence.to_le_bytes());
            out.extend_from_slice(&seal_len.to_le_bytes());
            out.extend_from_slice(&seal_checksum.to_le_bytes());
            out.extend_from_slice(&listed.synced_len.to_le_bytes());
        }
        for id in &self.dropped {
            out.extend_from_slice(&id.to_le_bytes());
        }
        if version != MANIFEST_VERSION {
            out.extend_from_slice(&self.shared_below.to_le_bytes());
        }
        out.extend_from_slice(&crc32c::crc32c(&out).to_le_bytes());
        out
    }

    /// Whether a datafile is listed that was begun before the one before it was sealed for sure.
    fn is_begun_ahead(&self) -> bool {
        self.files.values().filter(|listed| listed.is_open()).count() > 1
    }

    /// Reads what [`Manifest::to_bytes`] wrote, and zeros behind it that the home preallocated; None if it is damaged or of a
    /// later version.
    pub(super) fn read(bytes: &[u8]) -> Option<Manifest> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let version = read_u32(&mut rest)?;
        if ![MANIFEST_VERSION, SHARING_VERSION, AHEAD_VERSION].contains(&version) {
            return None;
        }
        let flags = read_u32(&mut rest)?;
        let (seed, generation) = (read_u64(&mut rest)?, read_u64(&mut rest)?);
        let (boot, after) = rest.split_first_chunk::<16>()?;
        rest = after;
        let next_file = read_u32(&mut rest)?;
        let (files_count, dropped_count) = (read_u32(&mut rest)?, read_u32(&mut rest)?);
        let mut files = BTreeMap::new();
        for _ in 0..files_count {
            let id = read_u32(&mut rest)?;
            let (version, base_sequence) = (read_u32(&mut rest)?, read_u64(&mut rest)?);
            let (seal_len, seal_checksum) = (read_u64(&mut rest)?, read_u32(&mut rest)?);
            let seal = (seal_len > 0).then_some((seal_len, seal_checksum));
            files.insert(id, Listed { version, base_sequence, seal, synced_len: read_u64(&mut rest)? });
        }
        let dropped = (0..dropped_count).map(|_| read_u32(&mut rest)).collect::<Option<Vec<u32>>>()?;
        let shared_below = if version != MANIFEST_VERSION { read_u64(&mut rest)? } else { 0 };
        let body = bytes.get(..bytes.len() - rest.len())?;
        let is_whole = read_u32(&mut rest)? == crc32c::crc32c(body) && rest.iter().all(|byte| *byte == 0);
        let boot = (flags & FLAG_BOOT != 0).then_some(BootId(*boot));
        is_whole.then_some(Manifest { seed, generation, boot, next_file, files, dropped, shared_below })
    }
}

/// The manifest of an open store. Every change is made here first and then written; one whose write fails is taken back,
/// but for what only says more about a listed datafile.
pub(super) struct Keeper {
    storage: Arc<dyn Storage>,
    state: Mutex<State>,
}

struct State {
    manifest: Manifest,
    /// Dropped datafiles that were removed since, with the generation that was written last at that time. The next one
    /// makes the removal durable, and the one after that need not list them any more.
    removed: BTreeMap<u32, u64>,
    /// Whether what lies in the storage lists the datafiles as they are.
    is_written: bool,
    /// Whether a datafile was sealed since it was written.
    has_new_seals: bool,
}

impl Keeper {
    /// Goes on with a manifest that is about to be written.
    pub(super) fn new(storage: Arc<dyn Storage>, manifest: Manifest) -> Keeper {
        let state = State { manifest, removed: BTreeMap::new(), is_written: false, has_new_seals: false };
        Keeper { storage, state: Mutex::new(state) }
    }

    /// The manifest as it is now.
    pub(super) fn current(&self) -> Manifest {
        self.state.lock().manifest.clone()
    }

    /// Where the manifest lies.
    pub(super) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Goes on with what a recovery found, once that is written.
    pub(super) fn reopen(&self, mut manifest: Manifest) -> Result<(), StorageError> {
        {
            let state = self.state.lock();
            // Gone for now, but perhaps not for good yet.
            manifest.dropped.extend(state.removed.keys().copied());
            if state.is_written && state.manifest == manifest {
                return Ok(());
            }
        }
        self.change(|present| *present = manifest)
    }

    /// Writes the manifest unless it says the same as the one that was written last.
    pub(super) fn write_if_other(&self, before: Option<&Manifest>) -> Result<(), StorageError> {
        {
            let mut state = self.state.lock();
            if before.is_some_and(|before| *before == state.manifest) {
                state.is_written = true;
                return Ok(());
            }
        }
        self.change(|_| {})
    }

    /// Writes the manifest if the one that lies in the storage does not list the datafiles as they are. Before that nothing
    /// may be published: a later start would not know which datafiles it stands for.
    pub(super) fn ensure_written(&self) -> Result<(), StorageError> {
        if self.state.lock().is_written || is_injected(Fault::PublishBeforeManifest) {
            return Ok(());
        }
        self.change(|_| {})
    }

    /// Writes down how datafiles end, if that is only remembered.
    pub(super) fn write_seals(&self) -> Result<(), StorageError> {
        let has_new_seals = self.state.lock().has_new_seals;
        if has_new_seals { self.change(|_| {}) } else { Ok(()) }
    }

    /// Lists a datafile that was just made. Nothing may be appended to it before this has returned.
    pub(super) fn list(&self, header: &FileHeader) -> Result<(), StorageError> {
        if is_injected(Fault::AppendBeforeList) {
            self.state.lock().manifest.files.insert(header.id, Listed::new(header));
            return Ok(());
        }
        self.change(|manifest| {
            manifest.next_file = manifest.next_file.max(header.id.saturating_add(1));
            manifest.files.insert(header.id, Listed::new(header));
        })
    }

    /// Lists the published output of a merge in place of what it stands for, which may be removed afterwards. Does nothing
    /// if that was done before. Where there is no room for it, it is written later.
    pub(super) fn replace(&self, output: &FileHeader, seal: (u64, u32)) -> Result<(), StorageError> {
        let is_listed = self.state.lock().manifest.files.contains_key(&output.id);
        if is_listed || is_injected(Fault::RemoveBeforeReplace) {
            return Ok(());
        }
        match self.change(|manifest| manifest.replace(output, seal)) {
            Err(StorageError::Full(_) | StorageError::Exhausted(_)) => {
                let mut state = self.state.lock();
                state.manifest.replace(output, seal);
                state.is_written = false;
                Ok(())
            }
            written => written,
        }
    }

    /// Lists a datafile no more that has nothing but its header.
    pub(super) fn drop_file(&self, id: u32) -> Result<(), StorageError> {
        self.change(|manifest| {
            if manifest.files.remove(&id).is_some() {
                manifest.dropped.push(id);
            }
        })
    }

    /// Remembers how a datafile ends, for the next time the manifest is written.
    pub(super) fn note_sealed(&self, id: u32, seal: (u64, u32)) {
        let state = &mut *self.state.lock();
        if let Some(listed) = state.manifest.files.get_mut(&id) {
            (listed.seal, listed.synced_len) = (Some(seal), seal.0);
            state.has_new_seals = true;
        }
    }

    /// Remembers that a dropped datafile was removed.
    pub(super) fn note_removed(&self, id: u32) {
        let state = &mut *self.state.lock();
        if state.manifest.dropped.contains(&id) {
            state.removed.entry(id).or_insert(state.manifest.generation);
        }
    }

    /// Says how much of the active datafile is on the disk at least.
    pub(super) fn note_synced(&self, id: u32, synced_len: u64) -> Result<(), StorageError> {
        let is_known = |listed: &Listed| listed.seal.is_some() || listed.synced_len >= synced_len;
        if self.state.lock().manifest.files.get(&id).is_none_or(is_known) {
            return Ok(());
        }
        self.change(|manifest| {
            if let Some(listed) = manifest.files.get_mut(&id) {
                listed.synced_len = listed.synced_len.max(synced_len);
            }
        })
    }

    /// Makes a change, writes it and keeps it if that was possible.
    fn change(&self, change: impl FnOnce(&mut Manifest)) -> Result<(), StorageError> {
        let state = &mut *self.state.lock();
        let mut changed = state.manifest.clone();
        change(&mut changed);
        changed.generation += 1;
        let is_gone =
            |id: &u32| state.removed.get(id).is_some_and(|generation| generation + 1 < changed.generation);
        changed.dropped.retain(|id| !is_gone(id));
        self.storage.put_manifest(&changed.to_bytes())?;
        state.removed.retain(|id, _| changed.dropped.contains(id));
        state.manifest = changed;
        (state.is_written, state.has_new_seals) = (true, false);
        Ok(())
    }
}

impl Manifest {
    /// Lists a datafile in place of those that it stands for.
    pub(super) fn replace(&mut self, output: &FileHeader, seal: (u64, u32)) {
        for id in &output.replaces {
            if self.files.remove(id).is_some() {
                self.dropped.push(*id);
            }
        }
        self.next_file = self.next_file.max(output.id.saturating_add(1));
        self.files.insert(output.id, Listed { seal: Some(seal), synced_len: seal.0, ..Listed::new(output) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_reads_back_or_not_at_all() {
        let listed = |seal| Listed { version: 3, base_sequence: 77, seal, synced_len: 4096 };
        let manifest = Manifest {
            boot: Some(BootId([9; 16])),
            generation: 5,
            next_file: 12,
            files: [(3, listed(None)), (11, listed(Some((8192, 0xABCD))))].into(),
            dropped: vec![1, 2],
            ..Manifest::new(42)
        };
        for manifest in [manifest.clone(), Manifest { shared_below: 70_000, ..manifest }] {
            let bytes = manifest.to_bytes();
            assert_eq!(Manifest::read(&bytes), Some(manifest));
            for at in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                assert_eq!(Manifest::read(&flipped), None, "flip at {at}");
                assert_eq!(Manifest::read(&bytes[..at]), None, "cut to {at}");
            }
        }
    }
}

//! A backup of a store that is in use: everything that the log said at one moment, in a directory of its own.
//!
//! 1. *Moment*: the log is synced and the active datafile sealed. What the datafiles hold that are sealed then is the
//!    backup: every frame up to a point of the log, whole. It takes merge's lock, but no shard's for longer than a look, so
//!    commits wait no longer for it than when a datafile is full.
//! 2. *Blobs*: once every commit up to the moment has been applied, those that have a root, and those that lost it since,
//!    are listed. From before the moment to the end of the backup no dead blob is removed.
//! 3. *Taking*: datafiles and blobs are linked or copied. Merge goes on: a datafile that it removes meanwhile is copied from
//!    the handle that is open.
//! 4. *End*: a manifest of the backup's own lists the datafiles; [`Target::finish`] writes it last.
//!
//! Why a file may be linked: nothing is ever written to a sealed datafile; merge and salvage only take its name away. And a blob
//! never changes below the length that a root gives it ([`super::blobs`]). This store may go on to write behind it; the
//! manifest of the backup says that a store opened from it may not.
//!
//! Blobs of younger roots may come along. Opening the backup removes them, as any blob without a root.

use std::sync::Arc;

use super::Bitcask;
use super::files::File;
use super::manifest::Manifest;
use crate::engine::EngineError;
use crate::storage::{BlobId, DatafileId, Part, StorageError, Taken, Target};

/// What a backup consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backup {
    /// How many datafiles.
    pub datafiles: u64,
    /// How many blobs.
    pub blobs: u64,
    /// Bytes that the source and the backup share.
    pub linked_bytes: u64,
    /// Bytes that were copied.
    pub copied_bytes: u64,
    /// Blobs that are missing, or shorter than their values, in the store itself.
    pub damaged_blobs: Vec<BlobId>,
}

/// Why there is no backup.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackupError {
    /// The store cannot be brought to a moment: it is full or read-only.
    #[error(transparent)]
    Store(#[from] EngineError),
    /// The target cannot be written, or a file of the store not be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The contents of the log at one moment.
struct Moment {
    manifest: Manifest,
    files: Vec<Arc<File>>,
    blobs: Vec<(BlobId, u64)>,
}

impl Bitcask {
    /// Takes a backup while commits go on. There may be several at a time.
    ///
    /// # Errors
    /// The log cannot be synced or its datafile not be sealed, a file cannot be read, or the target fails. What the target has
    /// until then is no backup; this store goes on.
    pub fn backup(&self, target: &mut dyn Target) -> Result<Backup, BackupError> {
        let _held = self.blobs.hold();
        let Moment { mut manifest, files, blobs } = self.moment()?;
        let all_bytes = files.iter().map(|file| file.len()).chain(blobs.iter().map(|(_, len)| *len)).sum();
        target.expect_bytes(all_bytes);
        let storage = self.log.storage();
        let mut backup = Backup { datafiles: files.len() as u64, ..Backup::default() };
        for file in files {
            let id = DatafileId(file.id());
            let place = storage.place(Part::Datafile(id));
            let taken = target.take_datafile(id, &place, &*file.datafile, file.len())?;
            backup.count(taken, file.len());
        }
        manifest.shared_below = 0;
        for (id, len) in blobs {
            let blob = match storage.open_blob(id) {
                Err(StorageError::Missing(_)) => {
                    backup.damaged_blobs.push(id);
                    continue;
                }
                opened => opened?,
            };
            let there = blob.len()?;
            if there < len {
                backup.damaged_blobs.push(id);
            }
            let len = len.min(there);
            let taken = target.take_blob(id, &storage.place(Part::Blob(id)), &*blob, len)?;
            if taken == Taken::Linked {
                manifest.shared_below = manifest.shared_below.max(id.0.saturating_add(1));
            }
            backup.blobs += 1;
            backup.count(taken, len);
        }
        target.finish(&manifest.to_bytes())?;
        Ok(backup)
    }

    /// Brings the log to a moment. The blobs must be held.
    fn moment(&self) -> Result<Moment, BackupError> {
        // Most of what is to be synced, before anybody waits for it.
        self.sync()?;
        let _merging = self.merging.lock();
        let position = self.appended();
        self.log.seal_active()?;
        // At one look: a datafile is noted as sealed before the next one is listed, so what is sealed is a beginning of the log.
        let mut manifest = self.log.manifest.current();
        manifest.files.retain(|_, listed| listed.seal.is_some());
        let table = self.log.files();
        let file = |id: &u32| table.get(id).cloned().ok_or_else(|| missing(*id));
        let files = manifest.files.keys().map(file).collect::<Result<Vec<_>, _>>()?;
        // A power that was lost explains no hole here, and there is none.
        (manifest.boot, manifest.dropped) = (None, Vec::new());
        self.wait_for_commits();
        Ok(Moment { manifest, files, blobs: self.blobs.referred_at(position) })
    }
}

impl Backup {
    fn count(&mut self, taken: Taken, bytes: u64) {
        match taken {
            Taken::Linked => self.linked_bytes += bytes,
            Taken::Copied => self.copied_bytes += bytes,
        }
    }
}

fn missing(id: u32) -> EngineError {
    EngineError::Damaged(format!("datafile {id} is listed and not in use"))
}

/// The manifest of a copy of a backup that shares no file with any other store; None if these bytes are no manifest.
pub fn of_its_own(manifest: &[u8]) -> Option<Vec<u8>> {
    let manifest = Manifest::read(manifest)?;
    Some(Manifest { shared_below: 0, ..manifest }.to_bytes())
}

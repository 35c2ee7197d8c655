//! The metadata map on sled.
//!
//! All of it can be rebuilt from the datafiles, so a folder that sled cannot open is removed and an empty one takes its place;
//! the store then rebuilds it. If that is not possible either (on a full disk, say), the map is in memory until the next
//! start. sled has a log of its own and recovers a prefix of it, which is the order that the laws of the map require.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use edgecask_core::storage::{MemoryMeta, MetaMap, MetaOp, Result, StorageError};
use tracing::warn;

/// Memory sled may use for pages, in bytes. Hint blocks are read once, at the start.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;

/// A lazy change of more operations than this is applied in pieces, in order: sled needs some 40 kB of memory for each
/// operation of a batch. After a crash a beginning of such a change may be there, which its owner must be able to tell.
pub const LAZY_BATCH_MAX: usize = 256;

/// A lazy piece ends when its keys and values reach this many bytes.
pub const LAZY_BATCH_MAX_BYTES: usize = 1024 * 1024;

/// How often sled writes lazy changes to its file by itself.
const FLUSH_EVERY_MS: u64 = 1000;

/// This process holds the lock on the directory. A folder that sled finds locked all the same belongs to
/// a process that is ending, or to a child that a thread of this process is just making. It is free in a moment.
const LOCKED_MAX: Duration = Duration::from_secs(5);
const LOCKED_RETRY: Duration = Duration::from_millis(5);

/// The map in one folder.
pub struct SledMeta {
    db: sled::Db,
}

/// The map of a server.
pub enum Meta {
    /// In its folder.
    Sled(SledMeta),
    /// In memory, because the folder can be neither used nor replaced.
    Memory(MemoryMeta),
}

impl Meta {
    /// Opens the folder, makes or replaces it where needed, or does without.
    ///
    /// # Errors
    /// Another process uses it.
    pub fn open(folder: &Path) -> Result<Meta> {
        match SledMeta::open(folder) {
            Ok(meta) => Ok(Meta::Sled(meta)),
            Err(error @ StorageError::Refused(_)) => Err(error),
            Err(error) => {
                warn!(
                    folder = %folder.display(), %error,
                    "there is no room for hints: the next start reads the whole log"
                );
                Ok(Meta::Memory(MemoryMeta::default()))
            }
        }
    }

    fn map(&self) -> &dyn MetaMap {
        match self {
            Meta::Sled(meta) => meta,
            Meta::Memory(meta) => meta,
        }
    }
}

impl MetaMap for Meta {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.map().get(key)
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.map().scan(prefix, visit)
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        self.map().apply(changes)
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        self.map().apply_lazily(changes)
    }
}

impl SledMeta {
    /// Opens the folder, making or replacing it where needed.
    ///
    /// # Errors
    /// Another process uses it, or it can be neither opened nor replaced.
    pub fn open(folder: &Path) -> Result<SledMeta> {
        let begin = Instant::now();
        let mut opened = open_guarded(folder);
        while matches!(opened, Err(StorageError::Refused(_))) && begin.elapsed() < LOCKED_MAX {
            std::thread::sleep(LOCKED_RETRY);
            opened = open_guarded(folder);
        }
        match opened {
            Ok(db) => Ok(SledMeta { db }),
            Err(error @ StorageError::Refused(_)) => Err(error),
            Err(error) => {
                warn!(
                    folder = %folder.display(), %error,
                    "the metadata map cannot be read and will be rebuilt from the datafiles"
                );
                let shown = folder.display().to_string();
                fs::remove_dir_all(folder).map_err(|error| super::failed("cannot remove", &shown, &error))?;
                open_guarded(folder).map(|db| SledMeta { db })
            }
        }
    }

    fn change(&self, changes: &[MetaOp]) -> Result<()> {
        let mut batch = sled::Batch::default();
        for change in changes {
            match change {
                MetaOp::Put(key, value) => batch.insert(key.as_slice(), value.as_slice()),
                MetaOp::Delete(key) => batch.remove(key.as_slice()),
            }
        }
        self.db.apply_batch(batch).map_err(|error| failed(&error))
    }
}

impl MetaMap for SledMeta {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.db.get(key).map_err(|error| failed(&error))?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        for pair in self.db.scan_prefix(prefix) {
            let (key, value) = pair.map_err(|error| failed(&error))?;
            if !visit(&key, &value) {
                break;
            }
        }
        Ok(())
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        self.change(changes)?;
        self.db.flush().map_err(|error| failed(&error))?;
        Ok(())
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        let mut rest = changes;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |change: &&MetaOp| {
                bytes += size(change);
                bytes <= LAZY_BATCH_MAX_BYTES
            };
            let count = rest.iter().take(LAZY_BATCH_MAX).take_while(fits).count().max(1);
            let (piece, later) = rest.split_at(count);
            self.change(piece)?;
            rest = later;
        }
        Ok(())
    }
}

fn size(change: &MetaOp) -> usize {
    match change {
        MetaOp::Put(key, value) => key.len() + value.len(),
        MetaOp::Delete(key) => key.len(),
    }
}

/// Opens sled. On some damage it panics instead of returning an error; both come out as an error here.
fn open_guarded(folder: &Path) -> Result<sled::Db> {
    let config = sled::Config::new()
        .path(folder)
        .cache_capacity(CACHE_BYTES)
        .flush_every_ms(Some(FLUSH_EVERY_MS))
        .mode(sled::Mode::LowSpace);
    match catch_unwind(AssertUnwindSafe(|| config.open())) {
        Ok(Ok(db)) => Ok(db),
        Ok(Err(error)) => Err(failed(&error)),
        Err(_) => Err(StorageError::Io("sled panicked while opening".into())),
    }
}

fn failed(error: &sled::Error) -> StorageError {
    match error {
        sled::Error::Io(error) if error.to_string().contains("could not acquire lock") => {
            StorageError::Refused(format!("the metadata map is in use: {error}"))
        }
        sled::Error::Io(error) => super::failed("cannot use", "the metadata map", error),
        error => StorageError::Io(format!("the metadata map: {error}")),
    }
}

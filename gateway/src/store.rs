//! The engine that the gateway hosts, and the calls that it needs beyond the core's [`Engine`].
//!
//! [`Engine`]: edgecask_core::engine::Engine

use std::path::Path;
use std::sync::Arc;

use edgecask_core::bitcask::{Bitcask, OpenError, Options};
use edgecask_core::engine::{Admin, Result};
use edgecask_core::storage::DeviceStorage;
use tracing::{info, warn};

use crate::clock::seed;
use crate::storage::directory::{self, Directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::sled_meta::SledMeta;

/// The engine behind all sessions.
pub type Store = Bitcask;

/// The calls that the sync policy needs. Positions are counts of log bytes since the store was opened.
pub trait Durable: Send + Sync {
    /// The end of the appended bytes.
    fn appended(&self) -> u64;

    /// The end of the bytes that would survive the loss of power.
    fn synced(&self) -> u64;

    /// Syncs all bytes that were appended before the call, and returns their end.
    ///
    /// # Errors
    /// The disk fails. The store then accepts no more writes, and the sync must not be tried again.
    fn sync(&self) -> Result<u64>;
}

/// The calls that maintenance needs. Every call does a bounded step of work; true means that there is more to do. A call fails
/// where the store cannot be written.
pub trait Maintain: Send + Sync {
    /// Moves up to about `budget_bytes` of live data out of mostly dead datafiles.
    fn merge_step(&self, budget_bytes: u64) -> Result<bool>;

    /// Frees up to about `budget` entries that deleted collections left in the keydir.
    fn garbage_step(&self, budget: u64) -> bool;

    /// Removes the blobs of values that are gone.
    fn blob_step(&self) -> Result<()>;

    /// Writes hints, which make the next start quick.
    fn checkpoint(&self, now_ms: u64) -> Result<()>;
}

/// A store with the directory it has for itself.
pub struct Owned {
    /// The store.
    pub store: Store,
    /// Held as long as the store is open.
    pub lock: DirectoryLock,
}

/// Opens the store in `directory`, which is made if it is missing, and logs the recovery. A new store gets a seed of its own,
/// whatever the options say.
///
/// # Errors
/// The directory is in use or cannot be written, the disk fails, or a datafile is damaged before its end.
pub fn open(directory: &Path, options: &Options) -> std::result::Result<Owned, OpenError> {
    directory::make(directory)?;
    let lock = DirectoryLock::take(directory)?;
    let meta = SledMeta::open(&directory.join("meta"))?;
    let storage = DeviceStorage::open(Directory::open(directory)?, meta)?;
    let opened = Bitcask::open(Arc::new(storage), &Options { seed: seed(), ..*options })?;
    info!(
        datafiles = opened.datafiles,
        hinted = opened.hinted_datafiles,
        replayed_records = opened.replayed_records,
        "recovered"
    );
    if let Some((datafile, offset, bytes)) = opened.torn_tail {
        warn!(
            datafile,
            offset, bytes, "cut a torn end: the last writes before the crash were never acknowledged"
        );
    }
    if opened.rejected_hints > 0 {
        warn!(datafiles = opened.rejected_hints, "hints did not fit their datafiles and were left aside");
    }
    Ok(Owned { store: opened.store, lock })
}

impl Durable for Bitcask {
    fn appended(&self) -> u64 {
        Bitcask::appended(self)
    }

    fn synced(&self) -> u64 {
        Bitcask::synced(self)
    }

    fn sync(&self) -> Result<u64> {
        Bitcask::sync(self)
    }
}

impl Maintain for Bitcask {
    fn merge_step(&self, budget_bytes: u64) -> Result<bool> {
        Bitcask::merge_step(self, budget_bytes).map(|step| step.is_unfinished)
    }

    fn garbage_step(&self, budget: u64) -> bool {
        self.drain_garbage(budget) >= budget
    }

    fn blob_step(&self) -> Result<()> {
        self.sweep_blobs().map(drop)
    }

    fn checkpoint(&self, now_ms: u64) -> Result<()> {
        Admin::checkpoint(self, now_ms)
    }
}

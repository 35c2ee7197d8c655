//! Which engine the gateway hosts, and what it asks of it beyond the core's [`Engine`].
//!
//! [`Engine`]: edgecask_core::engine::Engine

use std::path::Path;

use edgecask_core::engine::memory::MemoryEngine;
use edgecask_core::engine::{Admin, EngineError, Result};
use edgecask_core::storage::device::DeviceStorage;
use edgecask_core::storage::StorageError;

use crate::storage::directory::{self, Directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::sled_meta::SledMeta;

/// The engine behind all sessions.
pub type Store = MemoryEngine;

/// The storage of a gateway.
pub type FileStorage = DeviceStorage<Directory, SledMeta>;

/// What the sync policy asks of a store. Positions are counts of log bytes since the store was opened.
pub trait Durable: Send + Sync {
    /// The end of what has been appended.
    fn appended(&self) -> u64;

    /// The end of what would survive the loss of power.
    fn synced(&self) -> u64;

    /// Syncs all that has been appended when it is called and returns the end of it.
    fn sync(&self) -> Result<u64>;
}

/// What maintenance asks of a store. Every call does a bounded piece of work; true means that there is more to do.
pub trait Maintain: Send + Sync {
    /// Collects up to `budget` expired keys; returns how many went and whether there may be more.
    fn expire_step(&self, now_ms: u64, budget: u64) -> Result<(u64, bool)>;

    /// Moves up to about `budget_bytes` of live data out of mostly dead datafiles.
    fn merge_step(&self, budget_bytes: u64, now_ms: u64) -> Result<bool>;

    /// Frees what deleted collections left in the keydir.
    fn garbage_step(&self, budget: u64) -> bool;

    /// Writes what speeds up the next start.
    fn checkpoint(&self, now_ms: u64) -> Result<()>;
}

/// A store with the directory it has for itself.
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Kept as long as the store.
    pub lock: DirectoryLock,
}

/// Opens the store in `directory`, making it if it is missing.
pub fn open(directory: &Path, databases: u32) -> std::result::Result<Opened, StorageError> {
    directory::make(directory)?;
    let lock = DirectoryLock::take(directory)?;
    let meta = SledMeta::open(&directory.join("meta"))?;
    let _storage: FileStorage = DeviceStorage::open(Directory::open(directory)?, meta)?;
    Ok(Opened { store: MemoryEngine::new(databases), lock })
}

impl Durable for MemoryEngine {
    fn appended(&self) -> u64 {
        0
    }

    fn synced(&self) -> u64 {
        0
    }

    fn sync(&self) -> Result<u64> {
        Ok(0)
    }
}

impl Maintain for MemoryEngine {
    fn expire_step(&self, now_ms: u64, budget: u64) -> Result<(u64, bool)> {
        self.expire_slice(now_ms, budget)
    }

    fn merge_step(&self, _budget_bytes: u64, _now_ms: u64) -> Result<bool> {
        Ok(false)
    }

    fn garbage_step(&self, _budget: u64) -> bool {
        false
    }

    fn checkpoint(&self, now_ms: u64) -> std::result::Result<(), EngineError> {
        Admin::checkpoint(self, now_ms)
    }
}

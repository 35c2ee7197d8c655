//! The engine that the gateway hosts, and the calls that it needs beyond the core's [`Engine`].
//!
//! [`Engine`]: edgecask_core::engine::Engine

use std::path::Path;
use std::sync::Arc;

use edgecask_core::bitcask::{Bitcask, OnDamage, OpenError, Opened, Options};
use edgecask_core::engine::{Admin, Result};
use edgecask_core::storage::DeviceStorage;
use tracing::{error, info, warn};

use crate::clock::seed;
use crate::findings;
use crate::storage::directory::{self, Directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::sled_meta::Meta;

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

/// Opens the store in `directory`, which is made if it is missing, and logs the recovery.
///
/// # Errors
/// The directory is in use or cannot be written, the disk fails, or the store is damaged and not to be salvaged.
pub fn open(directory: &Path, databases: u32, on_damage: OnDamage) -> std::result::Result<Owned, OpenError> {
    directory::make(directory)?;
    let lock = DirectoryLock::take(directory)?;
    let meta = Meta::open(&directory.join("meta"))?;
    let storage = DeviceStorage::open(Directory::open(directory)?, meta)?;
    let options = Options { databases, seed: seed(), on_damage, ..Options::default() };
    let opened = Bitcask::open(Arc::new(storage), &options)?;
    log_recovery(&opened);
    Ok(Owned { store: opened.store, lock })
}

fn log_recovery(opened: &Opened) {
    info!(
        datafiles = opened.datafiles,
        hinted = opened.hinted_datafiles,
        replayed_records = opened.replayed_records,
        "recovered"
    );
    match &opened.torn_tail {
        Some(torn) if torn.whole_frames > 0 => warn!(
            datafile = torn.file,
            offset = torn.offset,
            bytes = torn.bytes,
            whole_frames = torn.whole_frames,
            copied_to = torn.set_aside.as_deref().unwrap_or_default(),
            "cut the end of the log behind a hole: the machine was started again since the store was last open, and \
             what is cut was never synced"
        ),
        Some(torn) => warn!(
            datafile = torn.file,
            offset = torn.offset,
            bytes = torn.bytes,
            "cut an unfinished write off the end of the log: it was never synced, and acknowledged only if power was \
             lost under appendfsync everysec or no"
        ),
        None => {}
    }
    if opened.rejected_hints > 0 {
        warn!(datafiles = opened.rejected_hints, "hints did not fit their datafiles and were left aside");
    }
    for damage in &opened.damages {
        error!("{}", findings::damage(damage));
    }
    for loss in &opened.losses {
        error!("{}", findings::loss(loss));
    }
    for place in &opened.set_aside {
        warn!(file = place, "the damaged original is set aside");
    }
    for blob in &opened.damaged_blobs {
        error!("{}", findings::damaged_blob(blob));
    }
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

//! The engine that the gateway hosts, and the calls that it needs beyond the core's [`Engine`].
//!
//! A server has its engine from the start, and its store once that has been read: until then [`Store`] is an empty one in
//! memory, and the server refuses commands that need data.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use edgecask_core::bitcask::{Bitcask, OnDamage, OpenError, Opened, Options};
use edgecask_core::data::mend::mend;
use edgecask_core::engine::{
    Admin, Begun, Commit, Db, Draft, Engine, EngineError, Ordered, Overlay, Piece, Result, Rewriting, Root,
    Sample, Sampled, Scope, Sought, Stored, Ticket, Touch, Watch,
};
use edgecask_core::storage::{DeviceStorage, MemoryStorage};
use tracing::{error, info, warn};

use crate::clock::seed;
use crate::limits::HINT_AHEAD_BYTES;
use crate::storage::directory::{self, Directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::sled_meta::Meta;

/// The engine behind all sessions.
pub struct Store {
    loaded: OnceLock<Bitcask>,
    /// What sessions see before.
    empty: Bitcask,
}

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

    /// Whether [`Durable::prepare`] has something to do that writers would wait for otherwise.
    fn wants_preparation(&self) -> bool {
        false
    }

    /// Does ahead what writers would wait for when a datafile is full.
    ///
    /// # Errors
    /// As [`Durable::sync`].
    fn prepare(&self) -> Result<()> {
        Ok(())
    }
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

    /// Writes hints for what the next start would have to read otherwise, of one datafile at a time; true if it did.
    fn hint_step(&self) -> Result<bool>;

    /// Bytes of datafiles without hints.
    fn unhinted_bytes(&self) -> u64;

    /// Bytes of all datafiles but the dead ones that merge cannot free, and those of them that are in use.
    fn space(&self) -> (u64, u64);

    /// Looks how much room there is on the disk, as every step of merge does.
    fn look_at_room(&self);

    /// The error with which writes are refused at the moment, if they are.
    fn refusal(&self) -> Option<EngineError>;

    /// Gives back memory of what is not in use.
    fn rest(&self);
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
/// The directory is in use or cannot be written, the disk fails, or the store is damaged and not to be salvaged.
pub fn open(directory: &Path, options: &Options) -> std::result::Result<Owned, OpenError> {
    let lock = lock(directory)?;
    let store = Store::empty(options.databases)?;
    store.set(load(directory, options, &Arc::default())?);
    Ok(Owned { store, lock })
}

/// Makes the directory if it is missing, and locks it.
///
/// # Errors
/// It is in use or cannot be written.
pub fn lock(directory: &Path) -> std::result::Result<DirectoryLock, OpenError> {
    directory::make(directory)?;
    Ok(DirectoryLock::take(directory)?)
}

/// Reads the store in a locked directory, and logs the recovery. `progress` counts the bytes of datafiles that are done.
///
/// # Errors
/// The disk fails, or the store is damaged and not to be salvaged.
pub fn load(
    directory: &Path,
    options: &Options,
    progress: &Arc<AtomicU64>,
) -> std::result::Result<Bitcask, OpenError> {
    let meta = Meta::open(&directory.join("meta"));
    let device = Directory::open(directory)?.counting(progress.clone());
    let storage = DeviceStorage::open(device, meta)?;
    let opened = Bitcask::open(Arc::new(storage), &Options { seed: seed(), ..*options })?;
    log_recovery(&opened);
    // Not only after damage: an earlier salvage may have been cut short when all of its datafiles were mended, and their values not.
    if options.on_damage == OnDamage::Salvage || opened.earlier_report.is_some() {
        mend_values(&opened.store, options.databases);
    }
    Ok(opened.store)
}

/// Makes anew what a salvaged store can say of what was lost. What cannot be mended now, on a full disk perhaps, stays: commands
/// reply with an error for such a value.
fn mend_values(store: &Bitcask, databases: u32) {
    match mend(store, databases) {
        Ok(mended) => mended.iter().for_each(|mended| warn!("{mended}")),
        Err(error) => error!("values could not be mended after the salvage: {error}"),
    }
    if let Err(error) = store.sync() {
        error!("what was mended after the salvage is not synced: {error}");
    }
}

fn log_recovery(opened: &Opened) {
    info!(
        datafiles = opened.datafiles,
        hinted = opened.hinted_datafiles,
        replayed_records = opened.replayed_records,
        "recovered"
    );
    for torn in opened.torn_tail.iter().chain(&opened.cut_datafile) {
        match torn.whole_frames {
            0 => warn!(
                datafile = torn.file,
                offset = torn.offset,
                bytes = torn.bytes,
                copied_to = torn.set_aside.as_deref().unwrap_or_default(),
                "cut an unfinished write off the end of the log: nothing says that it had been synced"
            ),
            whole_frames => warn!(
                datafile = torn.file,
                offset = torn.offset,
                bytes = torn.bytes,
                whole_frames,
                copied_to = torn.set_aside.as_deref().unwrap_or_default(),
                "cut the end of the log behind a hole: the machine was started again since the store was last open, \
                 and what is cut was never synced"
            ),
        }
    }
    if opened.rejected_hints > 0 {
        warn!(datafiles = opened.rejected_hints, "hints did not fit their datafiles and were left aside");
    }
    for line in opened.earlier_report.iter().flat_map(|report| report.lines()) {
        error!("found by an earlier start, whose salvage was cut short: {line}");
    }
    for damage in &opened.damages {
        error!("{}", damage.line());
    }
    for loss in &opened.losses {
        error!("{loss}");
    }
    for place in &opened.set_aside {
        warn!(file = place, "the damaged original is set aside");
    }
    for place in &opened.reports {
        warn!(file = place, "the report of the salvage stays");
    }
    for blob in &opened.damaged_blobs {
        error!("{blob}");
    }
}

impl Store {
    /// A store that has yet to be read.
    ///
    /// # Errors
    /// Never in fact: memory has no file that could be damaged.
    pub fn empty(databases: u32) -> std::result::Result<Store, OpenError> {
        let options = Options { databases, seed: seed(), ..Options::default() };
        let empty = Bitcask::open(Arc::new(MemoryStorage::new()), &options)?.store;
        Ok(Store { loaded: OnceLock::new(), empty })
    }

    /// Shows what was read from now on. Only the first call counts.
    pub fn set(&self, store: Bitcask) {
        let _ = self.loaded.set(store);
    }
}

impl Deref for Store {
    type Target = Bitcask;

    #[inline]
    fn deref(&self) -> &Bitcask {
        self.loaded.get().unwrap_or(&self.empty)
    }
}

impl Engine for Store {
    type Snapshot<'e> = <Bitcask as Engine>::Snapshot<'e>;

    fn prefetch(&self, db: Db, keys: &[&[u8]]) {
        Engine::prefetch(&**self, db, keys);
    }

    #[inline]
    fn get_string(
        &self,
        db: Db,
        key: &[u8],
        now_ms: u64,
        touch: Option<Touch>,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Sought> {
        Engine::get_string(&**self, db, key, now_ms, touch, show)
    }

    #[inline]
    fn set_string(
        &self,
        db: Db,
        key: &[u8],
        value: &[u8],
        now_ms: u64,
        touch: Touch,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<Stored>> {
        Engine::set_string(&**self, db, key, value, now_ms, touch, scratch)
    }

    fn draft(&self) -> Result<Draft> {
        match self.loaded.get() {
            Some(store) => Engine::draft(store),
            // Its command is going to be refused; memory need not hold its bytes.
            None => Err(EngineError::Exhausted("the store is being read".into())),
        }
    }

    #[inline]
    fn begin(&self, scope: Scope<'_>) -> Result<Self::Snapshot<'_>> {
        Engine::begin(&**self, scope)
    }

    #[inline]
    fn begin_soon(&self, scope: Scope<'_>, waker: &dyn Fn() -> Waker) -> Result<Begun<Self::Snapshot<'_>>> {
        Engine::begin_soon(&**self, scope, waker)
    }

    fn begin_long(&self, scope: Scope<'_>, waker: &dyn Fn() -> Waker) -> Result<Begun<Self::Snapshot<'_>>> {
        Engine::begin_long(&**self, scope, waker)
    }

    fn resume(&self, ticket: Ticket, scope: Scope<'_>) -> Result<Option<Self::Snapshot<'_>>> {
        Engine::resume(&**self, ticket, scope)
    }

    fn forget(&self, ticket: Ticket) {
        Engine::forget(&**self, ticket);
    }

    #[inline]
    fn commit(
        &self,
        snapshot: Self::Snapshot<'_>,
        overlay: &mut Overlay,
        now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Commit> {
        Engine::commit(&**self, snapshot, overlay, now_ms, ordered)
    }

    fn expired_keys(&self, now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        Engine::expired_keys(&**self, now_ms, budget, visit)
    }

    fn sample_keys(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled> {
        Engine::sample_keys(&**self, sample, visit)
    }

    fn is_busy(&self, db: Db, key: &[u8]) -> bool {
        Engine::is_busy(&**self, db, key)
    }

    fn watch(&self, db: Db, key: &[u8], watch: &Watch) {
        match self.loaded.get() {
            Some(store) => Engine::watch(store, db, key, watch),
            // Nobody knows what the key is going to be.
            None => watch.trip(),
        }
    }

    fn unwatch(&self, db: Db, key: &[u8], watch: &Watch) {
        Engine::unwatch(&**self, db, key, watch);
    }
}

impl Admin for Store {
    fn checkpoint(&self, now_ms: u64) -> Result<()> {
        Admin::checkpoint(&**self, now_ms)
    }

    fn reopen(&self, access: u32) -> Result<()> {
        Admin::reopen(&**self, access)
    }

    fn is_synced(&self, sync: bool) -> Result<bool> {
        Admin::is_synced(&**self, sync)
    }

    fn begin_rewrite(&self) -> bool {
        Admin::begin_rewrite(&**self)
    }

    fn rewriting(&self) -> Rewriting {
        Admin::rewriting(&**self)
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        Admin::report(&**self)
    }

    fn wake_waiting(&self) {
        Admin::wake_waiting(&**self);
    }

    fn last_finding(&self) -> Option<String> {
        Admin::last_finding(&**self)
    }

    #[inline]
    fn held_bytes(&self) -> u64 {
        Admin::held_bytes(&**self)
    }

    fn garbage_bytes(&self) -> u64 {
        Admin::garbage_bytes(&**self)
    }

    fn lacks_space(&self) -> bool {
        Admin::lacks_space(&**self)
    }
}

impl Durable for Store {
    fn appended(&self) -> u64 {
        Bitcask::appended(self)
    }

    fn synced(&self) -> u64 {
        Bitcask::synced(self)
    }

    fn sync(&self) -> Result<u64> {
        Bitcask::sync(self)
    }

    #[inline]
    fn wants_preparation(&self) -> bool {
        Bitcask::wants_preparation(self)
    }

    fn prepare(&self) -> Result<()> {
        Bitcask::prepare(self)
    }
}

impl Maintain for Store {
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
        Admin::checkpoint(&**self, now_ms)
    }

    fn hint_step(&self) -> Result<bool> {
        self.hint_ahead(HINT_AHEAD_BYTES)
    }

    fn unhinted_bytes(&self) -> u64 {
        Bitcask::unhinted_bytes(self)
    }

    fn space(&self) -> (u64, u64) {
        Bitcask::space_to_merge(self)
    }

    fn look_at_room(&self) {
        Bitcask::look_at_room(self);
    }

    fn refusal(&self) -> Option<EngineError> {
        Bitcask::refusal(self)
    }

    fn rest(&self) {
        // A map that has failed is not used any more, and that was logged.
        let _ = self.rest_meta();
    }
}

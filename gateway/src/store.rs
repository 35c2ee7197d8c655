//! The engine that the gateway hosts, and the calls that it needs beyond the core's [`Engine`].
//!
//! A server has its engine from the start, and its store once that has been read: until then [`Store`] is an empty one in
//! memory, and the server refuses commands that need data. Or its data is in a cluster: then the log stays the empty one in memory,
//! so there is nothing to sync, to merge or to scrub, and what is about keys goes to the cluster.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use edgecask_core::bitcask::{Bitcask, OnDamage, OpenError, Opened, Options};
use edgecask_core::command::search;
use edgecask_core::data::mend::mend;
use edgecask_core::engine::{
    Admin, Begun, BlobRef, BlobStore, Commit, Db, Draft, Engine, EngineError, KeyVisitor,
    Ordered as CallOrdered, Overlay, Piece, Reader, Receipt, Result, Rewriting, Root, Sample, Sampled, Scope,
    Sought, Stored, SubVisitor, SubWalk, Ticket, Touch, Watch,
};
#[cfg(feature = "tikv")]
use edgecask_core::ordered::{Ordered, OrderedSnapshot};
use edgecask_core::storage::{Blob, BlobId, DeviceStorage, MemoryStorage, Storage};
use tracing::{error, info, warn};

use crate::clock::{now_ms, seed};
use crate::limits::HINT_AHEAD_BYTES;
use crate::storage::directory::{self, Directory};
use crate::storage::lock::DirectoryLock;
use crate::storage::sled_meta::Meta;
#[cfg(feature = "tikv")]
use crate::tikv::TikvCluster;

/// The engine behind all sessions.
pub struct Store {
    loaded: OnceLock<Bitcask>,
    /// What sessions see before.
    empty: Bitcask,
    /// Whether what was read is never written to.
    is_read_only: bool,
    #[cfg(feature = "tikv")]
    cluster: Option<Box<Ordered<TikvCluster>>>,
}

/// Reads of one transaction.
#[cfg_attr(
    feature = "tikv",
    expect(clippy::large_enum_variant, reason = "it stays on the stack, and the usual one is the small one")
)]
pub enum StoreSnapshot<'e> {
    /// Of the log.
    Log(<Bitcask as Engine>::Snapshot<'e>),
    /// Of a cluster.
    #[cfg(feature = "tikv")]
    Cluster(OrderedSnapshot<'e, TikvCluster>),
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

/// What an operator can do about a store that does not open.
pub fn help(error: &OpenError) -> &'static str {
    match error {
        OpenError::Damaged(_) => {
            ". Nothing was changed. `edgecask check DIR` lists all damage, `edgecask repair DIR --to NEWDIR` writes what can \
             be read to a new directory, and `edgecask serve --on-damage salvage` starts with it"
        }
        OpenError::Storage(_) => "",
    }
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
    read(Arc::new(DeviceStorage::open(device, meta)?), options)
}

/// Reads the store in a storage, and logs the recovery.
///
/// # Errors
/// As [`load`].
pub fn read(storage: Arc<dyn Storage>, options: &Options) -> std::result::Result<Bitcask, OpenError> {
    let opened = Bitcask::open(storage, &Options { seed: seed(), ..*options })?;
    log_recovery(&opened);
    // Not only after damage: an earlier salvage may have been cut short when all of its datafiles were mended, and their values not.
    if options.on_damage == OnDamage::Salvage || opened.is_unmended {
        mend_values(&opened.store, options.databases, opened.is_unmended);
    }
    Ok(opened.store)
}

/// Makes anew what a salvaged store can say of what was lost. What cannot be mended now, on a full disk perhaps, stays: commands
/// reply with an error for such a value, and the next start tries again.
fn mend_values(store: &Bitcask, databases: u32, is_unmended: bool) {
    let mended = mend(store, databases).and_then(|mended| {
        mended.iter().for_each(|mended| warn!("{mended}"));
        if is_unmended { search::forget_maps(store, now_ms()) } else { Ok(()) }
    });
    if let Err(error) = &mended {
        error!("values could not be mended after the salvage: {error}");
    }
    match store.sync() {
        Ok(_) if is_unmended && mended.is_ok() => {
            if let Err(error) = store.note_mended() {
                error!("the next start mends the values once more: {error}");
            }
        }
        Ok(_) => {}
        Err(error) => error!("what was mended after the salvage is not synced: {error}"),
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
        Ok(Store {
            loaded: OnceLock::new(),
            empty,
            is_read_only: false,
            #[cfg(feature = "tikv")]
            cluster: None,
        })
    }

    /// The same for one that is only to be read: every change of it fails.
    pub fn to_be_read(self) -> Store {
        Store { is_read_only: true, ..self }
    }

    /// Whether every change of it fails.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// # Errors
    /// The store is only to be read.
    #[inline]
    fn check_writable(&self) -> Result<()> {
        if self.is_read_only { Err(EngineError::OpenedToRead) } else { Ok(()) }
    }

    /// A store in a cluster.
    ///
    /// # Errors
    /// Never in fact, as [`Store::empty`].
    #[cfg(feature = "tikv")]
    pub fn of_cluster(
        cluster: Ordered<TikvCluster>,
        databases: u32,
    ) -> std::result::Result<Store, OpenError> {
        Ok(Store { cluster: Some(Box::new(cluster)), ..Store::empty(databases)? })
    }

    /// Shows what was read from now on. Only the first call counts.
    pub fn set(&self, store: Bitcask) {
        let _ = self.loaded.set(store);
    }

    /// The log: of a store in a cluster an empty one.
    #[inline]
    fn log(&self) -> &Bitcask {
        self.loaded.get().unwrap_or(&self.empty)
    }

    /// The cluster, if the data is in one.
    #[cfg(feature = "tikv")]
    #[inline]
    pub fn cluster(&self) -> Option<&Ordered<TikvCluster>> {
        self.cluster.as_deref()
    }

    /// How long the cluster has not answered, if that is longer than a request may take; None where there is none.
    pub fn silent_for(&self) -> Option<Duration> {
        #[cfg(feature = "tikv")]
        if let Some(cluster) = self.cluster() {
            return cluster.cluster().silent_for();
        }
        None
    }

    /// Whether the data is in a cluster, and nothing of it on this machine.
    pub fn is_elsewhere(&self) -> bool {
        !self.holds_locks()
    }
}

impl Deref for Store {
    type Target = Bitcask;

    #[inline]
    fn deref(&self) -> &Bitcask {
        self.log()
    }
}

/// Runs the same on the engine that has the data.
macro_rules! with_engine {
    ($store:expr, $engine:ident => $run:expr) => {{
        #[cfg(feature = "tikv")]
        if let Some($engine) = $store.cluster() {
            return $run;
        }
        let $engine = $store.log();
        $run
    }};
}

/// Runs what gives a snapshot on the engine that has the data.
macro_rules! with_snapshot {
    ($store:expr, $engine:ident => $run:expr, $into:expr) => {{
        #[cfg(feature = "tikv")]
        if let Some($engine) = $store.cluster() {
            return $run.map(|made| $into(made, StoreSnapshot::Cluster));
        }
        let $engine = $store.log();
        $run.map(|made| $into(made, StoreSnapshot::Log))
    }};
}

/// Runs the same on the snapshot, whichever it is.
macro_rules! with_reader {
    ($snapshot:expr, $reader:ident => $run:expr) => {
        match $snapshot {
            StoreSnapshot::Log($reader) => $run,
            #[cfg(feature = "tikv")]
            StoreSnapshot::Cluster($reader) => $run,
        }
    };
}

fn begun<'e, S>(begun: Begun<S>, into: impl Fn(S) -> StoreSnapshot<'e>) -> Begun<StoreSnapshot<'e>> {
    match begun {
        Begun::Open(snapshot) => Begun::Open(into(snapshot)),
        Begun::Waits(ticket) => Begun::Waits(ticket),
    }
}

fn snapshot<'e, S>(made: S, into: impl Fn(S) -> StoreSnapshot<'e>) -> StoreSnapshot<'e> {
    into(made)
}

impl Engine for Store {
    type Snapshot<'e> = StoreSnapshot<'e>;

    fn prefetch(&self, db: Db, keys: &[&[u8]]) {
        with_engine!(self, engine => Engine::prefetch(engine, db, keys))
    }

    fn better_elsewhere(&self, db: Db, key: &[u8]) -> Option<u32> {
        with_engine!(self, engine => Engine::better_elsewhere(engine, db, key))
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
        with_engine!(self, engine => Engine::get_string(engine, db, key, now_ms, touch, show))
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
        self.check_writable()?;
        with_engine!(self, engine => Engine::set_string(engine, db, key, value, now_ms, touch, scratch))
    }

    fn draft(&self) -> Result<Draft> {
        self.check_writable()?;
        #[cfg(feature = "tikv")]
        if let Some(cluster) = self.cluster() {
            return cluster.draft();
        }
        match self.loaded.get() {
            Some(store) => Engine::draft(store),
            // Its command is going to be refused; memory need not hold its bytes.
            None => Err(EngineError::Exhausted("the store is being read".into())),
        }
    }

    #[inline]
    fn begin(&self, scope: Scope<'_>) -> Result<StoreSnapshot<'_>> {
        with_snapshot!(self, engine => Engine::begin(engine, scope), snapshot)
    }

    #[inline]
    fn begin_soon(&self, scope: Scope<'_>, waker: &dyn Fn() -> Waker) -> Result<Begun<StoreSnapshot<'_>>> {
        with_snapshot!(self, engine => Engine::begin_soon(engine, scope, waker), begun)
    }

    fn begin_long(&self, scope: Scope<'_>, waker: &dyn Fn() -> Waker) -> Result<Begun<StoreSnapshot<'_>>> {
        with_snapshot!(self, engine => Engine::begin_long(engine, scope, waker), begun)
    }

    fn park(&self, snapshot: StoreSnapshot<'_>, waker: &Waker) -> Ticket {
        match snapshot {
            StoreSnapshot::Log(snapshot) => Engine::park(self.log(), snapshot, waker),
            #[cfg(feature = "tikv")]
            StoreSnapshot::Cluster(snapshot) => match self.cluster() {
                Some(cluster) => cluster.park(snapshot, waker),
                None => Ticket(0),
            },
        }
    }

    fn resume(&self, ticket: Ticket, scope: Scope<'_>) -> Result<Option<StoreSnapshot<'_>>> {
        #[cfg(feature = "tikv")]
        if let Some(cluster) = self.cluster() {
            return Ok(cluster.resume(ticket, scope)?.map(StoreSnapshot::Cluster));
        }
        Ok(Engine::resume(self.log(), ticket, scope)?.map(StoreSnapshot::Log))
    }

    fn wait_for(&self, ticket: Ticket) {
        with_engine!(self, engine => Engine::wait_for(engine, ticket))
    }

    fn forget(&self, ticket: Ticket) {
        with_engine!(self, engine => Engine::forget(engine, ticket))
    }

    fn has_blobs(&self) -> bool {
        with_engine!(self, engine => Engine::has_blobs(engine))
    }

    #[inline]
    fn holds_locks(&self) -> bool {
        with_engine!(self, engine => Engine::holds_locks(engine))
    }

    fn patience_ms(&self) -> u64 {
        with_engine!(self, engine => Engine::patience_ms(engine))
    }

    #[inline]
    fn commit(
        &self,
        snapshot: StoreSnapshot<'_>,
        overlay: &mut Overlay,
        now_ms: u64,
        ordered: CallOrdered<'_>,
    ) -> Result<Commit> {
        self.check_writable()?;
        match snapshot {
            StoreSnapshot::Log(snapshot) => Engine::commit(self.log(), snapshot, overlay, now_ms, ordered),
            #[cfg(feature = "tikv")]
            StoreSnapshot::Cluster(snapshot) => match self.cluster() {
                Some(cluster) => cluster.commit(snapshot, overlay, now_ms, ordered),
                None => Err(EngineError::Damaged("a snapshot of another engine".into())),
            },
        }
    }

    fn committed(&self, ticket: Ticket, waker: &Waker, ordered: CallOrdered<'_>) -> Result<Option<Receipt>> {
        with_engine!(self, engine => Engine::committed(engine, ticket, waker, ordered))
    }

    fn expired_keys(&self, now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        with_engine!(self, engine => Engine::expired_keys(engine, now_ms, budget, visit))
    }

    fn sample_keys(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled> {
        with_engine!(self, engine => Engine::sample_keys(engine, sample, visit))
    }

    fn is_busy(&self, db: Db, key: &[u8]) -> bool {
        with_engine!(self, engine => Engine::is_busy(engine, db, key))
    }

    fn watch(&self, db: Db, key: &[u8], watch: &Watch) {
        #[cfg(feature = "tikv")]
        if let Some(cluster) = self.cluster() {
            return cluster.watch(db, key, watch);
        }
        match self.loaded.get() {
            Some(store) => Engine::watch(store, db, key, watch),
            // Nobody knows what the key is going to be.
            None => watch.trip(),
        }
    }

    fn unwatch(&self, db: Db, key: &[u8], watch: &Watch) {
        with_engine!(self, engine => Engine::unwatch(engine, db, key, watch))
    }
}

impl Reader for StoreSnapshot<'_> {
    #[inline]
    fn root(&mut self, db: Db, key: &[u8], touch: Option<Touch>) -> Result<Option<Root>> {
        with_reader!(self, reader => reader.root(db, key, touch))
    }

    fn blobs(&self) -> Arc<dyn BlobStore> {
        with_reader!(self, reader => reader.blobs())
    }

    fn open_blob(&mut self, id: BlobId) -> Result<Arc<dyn Blob>> {
        with_reader!(self, reader => reader.open_blob(id))
    }

    fn older_sums(&mut self, reference: BlobRef) -> Result<Option<Arc<[u32]>>> {
        with_reader!(self, reader => reader.older_sums(reference))
    }

    fn patched(
        &mut self,
        owner: (Db, &[u8]),
        root: &Root,
        base: Arc<dyn Blob>,
        range: (u64, u64),
    ) -> Result<Arc<dyn Blob>> {
        with_reader!(self, reader => reader.patched(owner, root, base, range))
    }

    #[inline]
    fn read_value(&mut self, root: &Root, range: (u64, u64), visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        with_reader!(self, reader => reader.read_value(root, range, visit))
    }

    fn memory_bytes(&mut self, key: &[u8], root: &Root) -> Result<u64> {
        with_reader!(self, reader => reader.memory_bytes(key, root))
    }

    fn sub_len(&mut self, root: &Root) -> Result<u64> {
        with_reader!(self, reader => reader.sub_len(root))
    }

    #[inline]
    fn sub_contains(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        with_reader!(self, reader => reader.sub_contains(root, subkey))
    }

    #[inline]
    fn sub_contains_to_change(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        with_reader!(self, reader => reader.sub_contains_to_change(root, subkey))
    }

    #[inline]
    fn sub_read(&mut self, root: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        with_reader!(self, reader => reader.sub_read(root, subkey, visit))
    }

    fn sub_rank(&mut self, root: &Root, subkey: &[u8]) -> Result<u64> {
        with_reader!(self, reader => reader.sub_rank(root, subkey))
    }

    #[inline]
    fn sub_scan(&mut self, root: &Root, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        with_reader!(self, reader => reader.sub_scan(root, walk, visit))
    }

    fn require_everything(&mut self) -> Result<()> {
        with_reader!(self, reader => reader.require_everything())
    }

    fn key_count(&mut self, db: Db) -> Result<u64> {
        with_reader!(self, reader => reader.key_count(db))
    }

    fn expiring_count(&mut self, db: Db) -> Result<u64> {
        with_reader!(self, reader => reader.expiring_count(db))
    }

    fn scan_keys(&mut self, db: Db, cursor: u64, visit: KeyVisitor<'_>) -> Result<u64> {
        with_reader!(self, reader => reader.scan_keys(db, cursor, visit))
    }

    fn random_key(&mut self, db: Db, random: u64, visit: KeyVisitor<'_>) -> Result<()> {
        with_reader!(self, reader => reader.random_key(db, random, visit))
    }

    fn version(&mut self, db: Db, key: &[u8]) -> Result<u64> {
        with_reader!(self, reader => reader.version(db, key))
    }

    #[inline]
    fn announce(&mut self, db: Db, keys: &[&[u8]]) {
        with_reader!(self, reader => reader.announce(db, keys))
    }

    fn announce_subs(&mut self, root: &Root, subkeys: &[&[u8]], are_to_change: bool) {
        with_reader!(self, reader => reader.announce_subs(root, subkeys, are_to_change))
    }

    fn announce_change(&mut self, root: &Root, subkey: &[u8]) {
        with_reader!(self, reader => reader.announce_change(root, subkey));
    }

    fn announce_ranks(&mut self, root: &Root, ranks: &[u64]) {
        with_reader!(self, reader => reader.announce_ranks(root, ranks));
    }

    fn allow_guesses(&mut self, are_allowed: bool) {
        with_reader!(self, reader => reader.allow_guesses(are_allowed));
    }

    fn has_guessed(&self) -> bool {
        with_reader!(self, reader => reader.has_guessed())
    }

    fn announce_writes(&mut self) {
        with_reader!(self, reader => reader.announce_writes());
    }

    fn announce_only_reads(&mut self) {
        with_reader!(self, reader => reader.announce_only_reads());
    }

    fn is_provisional(&self) -> bool {
        with_reader!(self, reader => reader.is_provisional())
    }

    fn postpone(&mut self) {
        with_reader!(self, reader => reader.postpone());
    }

    fn hold_for_long(&mut self) {
        with_reader!(self, reader => reader.hold_for_long())
    }

    fn is_waited_for(&self) -> bool {
        with_reader!(self, reader => reader.is_waited_for())
    }

    fn let_pass(&mut self) {
        with_reader!(self, reader => reader.let_pass())
    }

    fn holds_everything(&self) -> bool {
        with_reader!(self, reader => reader.holds_everything())
    }

    fn undeclared(&self) -> Option<Vec<u8>> {
        with_reader!(self, reader => reader.undeclared())
    }
}

impl Admin for Store {
    fn checkpoint(&self, now_ms: u64) -> Result<()> {
        self.check_writable()?;
        with_engine!(self, engine => Admin::checkpoint(engine, now_ms))
    }

    fn reopen(&self, access: u32) -> Result<()> {
        with_engine!(self, engine => Admin::reopen(engine, access))
    }

    fn is_synced(&self, sync: bool) -> Result<bool> {
        with_engine!(self, engine => Admin::is_synced(engine, sync))
    }

    fn begin_rewrite(&self) -> bool {
        with_engine!(self, engine => Admin::begin_rewrite(engine))
    }

    fn rewriting(&self) -> Rewriting {
        with_engine!(self, engine => Admin::rewriting(engine))
    }

    fn section(&self) -> &'static str {
        with_engine!(self, engine => Admin::section(engine))
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        with_engine!(self, engine => Admin::report(engine))
    }

    fn wake_waiting(&self) {
        with_engine!(self, engine => Admin::wake_waiting(engine));
    }

    fn last_finding(&self) -> Option<String> {
        with_engine!(self, engine => Admin::last_finding(engine))
    }

    #[inline]
    fn held_bytes(&self) -> u64 {
        with_engine!(self, engine => Admin::held_bytes(engine))
    }

    fn garbage_bytes(&self) -> u64 {
        with_engine!(self, engine => Admin::garbage_bytes(engine))
    }

    fn lacks_space(&self) -> bool {
        with_engine!(self, engine => Admin::lacks_space(engine))
    }

    fn partitions(&self) -> u32 {
        with_engine!(self, engine => Admin::partitions(engine))
    }

    fn partition(&self, key: &[u8]) -> u32 {
        with_engine!(self, engine => Admin::partition(engine, key))
    }

    fn partition_seed(&self) -> u64 {
        with_engine!(self, engine => Admin::partition_seed(engine))
    }

    fn put_derived(&self, number: u64, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        with_engine!(self, engine => Admin::put_derived(engine, number, bytes))
    }

    fn derived(&self, number: u64) -> Option<Vec<u8>> {
        with_engine!(self, engine => Admin::derived(engine, number))
    }

    fn remove_derived(&self, number: u64) {
        if !self.is_read_only {
            with_engine!(self, engine => Admin::remove_derived(engine, number));
        }
    }

    fn list_derived(&self) -> Vec<u64> {
        with_engine!(self, engine => Admin::list_derived(engine))
    }
}

impl Durable for Store {
    fn appended(&self) -> u64 {
        Bitcask::appended(self)
    }

    /// What a cluster has acknowledged is as safe as it will be.
    fn synced(&self) -> u64 {
        if self.is_elsewhere() { u64::MAX } else { Bitcask::synced(self) }
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
        #[cfg(feature = "tikv")]
        if let Some(cluster) = self.cluster() {
            return cluster.blob_step(now_ms()).map(drop);
        }
        self.sweep_blobs().map(drop)
    }

    fn checkpoint(&self, now_ms: u64) -> Result<()> {
        Admin::checkpoint(self.log(), now_ms)
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

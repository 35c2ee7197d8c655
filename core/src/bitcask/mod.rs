//! The Bitcask store: append-only datafiles, a keydir in memory, hints and merge.
//!
//! [`Bitcask`] implements [`Engine`] over any [`Storage`]. A commit is one frame of the active datafile; a read is one
//! look-up in the keydir and one read of a datafile. What is on the disk is described byte by byte in
//! `core/FORMAT.md`; what must survive which failure is tested by `tests/` on the simulated device.
//!
//! Locks, always taken in this order: merging, hinting, preparing, syncing, shards by number, the writer of the log, the manifest,
//! the list of datafiles, owners.

mod backup;
mod blobs;
mod check;
mod commit;
mod counts;
mod cut_short;
mod damage;
mod direct;
mod entries;
mod file_replay;
mod files;
mod frame;
mod held;
mod snapshot;
mod hint;
mod keydir;
mod listing;
mod log;
mod long_holders;
mod losses;
mod lost;
mod manifest;
mod mend;
mod live_records;
mod merge;
mod pages;
mod rare;
mod fault_injection;
mod notes;
mod record;
mod recovery;
mod reload;
mod replay;
mod resync;
mod rewrite;
mod room;
mod salvage;
mod sample;
mod scan;
mod scrub;
mod sub_scan;
mod successor;
mod watches;
mod words;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Waker;

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

pub use backup::{Backup, BackupError, of_its_own};
pub use check::{Checked, check};
pub use damage::{Damage, LostKind, LostRecord, OnDamage, OpenError};
pub use file_replay::TornTail;
pub use losses::{DamagedBlob, Fate, Loss};
pub use recovery::Opened;
pub use scrub::{Finding, ScrubStep, Scrubbing};
pub use snapshot::Snapshot;

use self::blobs::{BlobChanges, Blobs};
use self::counts::{Counts, KeydirCount};
use self::direct::StringPut;
use self::held::Held;
use self::keydir::{ByCollection, LONG_KEY_BYTES, Location, Name, SHARDS, Shard, shard_of};
use self::log::Log;
use self::long_holders::{LongHolders, ShardSet};
use self::watches::Watches;
use crate::engine::{
    Admin, Begun, CATALOG, Commit, Db, Draft, Engine, EngineError, Ordered, Overlay, Piece, Reader, Receipt,
    Result, Rewriting, Root, Sample, Sampled, Scope, Sought, Stored, Ticket, Touch, Watch,
};
use crate::limits::{DATAFILE_MAX_BYTES, PIPELINE_AHEAD};
use crate::packed::table::prefetch;
use crate::storage::{Note, Storage, StorageError};

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Number of logical databases; more than 65535 there cannot be.
    pub databases: Db,
    /// A datafile is sealed before it grows beyond this many bytes.
    pub datafile_max_bytes: u64,
    /// Random number of the host; becomes the seed of a new store.
    pub seed: u64,
    /// What to do about damage.
    pub on_damage: OnDamage,
    /// The bits of use ([`Root::access`]) of keys that were there before: when they were used is not written down.
    pub access: u32,
}

impl Default for Options {
    fn default() -> Options {
        let on_damage = OnDamage::Refuse;
        Options { databases: 16, datafile_max_bytes: DATAFILE_MAX_BYTES, seed: 0, on_damage, access: 0 }
    }
}

/// An open store.
pub struct Bitcask {
    seed: u64,
    shards: Box<[Mutex<Shard>]>,
    long_holders: LongHolders,
    watches: Watches,
    log: Log,
    blobs: Arc<Blobs>,
    /// The shard of every collection, for merge, which meets subkeys without their keys.
    owners: Mutex<ByCollection<u16>>,
    /// Where the live record of the databases is, if one was ever written.
    databases_record: Mutex<Option<Location>>,
    /// The bucket at which active expiry goes on.
    expiry_position: AtomicU64,
    unsynced_blobs_max: AtomicUsize,
    merging: Mutex<merge::Merge>,
    rewrite: rewrite::Rewrite,
    /// Hints are written, and forgotten, by one caller at a time.
    hinting: Mutex<()>,
    counts: Counts,
    held: Held,
    scrub: scrub::Scrub,
}

impl Bitcask {
    /// Opens the store on a storage, recovering what a crash left.
    pub fn open(storage: Arc<dyn Storage>, options: &Options) -> std::result::Result<Opened, OpenError> {
        recovery::open(storage, options)
    }

    /// Frame bytes appended since the store was opened.
    pub fn appended(&self) -> u64 {
        self.log.appended()
    }

    /// How many of the appended bytes are known to be on the disk.
    pub fn synced(&self) -> u64 {
        self.log.synced()
    }

    /// The error with which ordinary writes are refused at the moment, if they are: the device is full, or the log is
    /// poisoned. Steps of merge look whether a full device has room again.
    pub fn refusal(&self) -> Option<EngineError> {
        self.log.refusal()
    }

    /// Looks how much room there is, as every step of merge does.
    pub fn look_at_room(&self) {
        self.log.look_at_room();
    }

    /// Makes everything appended before the call survive the loss of power; returns the position up to which it does.
    /// After an error the store is read-only until it is opened again.
    pub fn sync(&self) -> Result<u64> {
        self.log.sync()
    }

    /// Does what appends would wait for when the active datafile is full, if it was left to them: syncs one that was sealed, and
    /// begins the next one. To be called every so often, and soon when [`Bitcask::wants_preparation`]. On a full device it is
    /// tried again with the next call.
    ///
    /// # Errors
    /// As [`Bitcask::sync`].
    pub fn prepare(&self) -> Result<()> {
        self.log.prepare()
    }

    /// To be called before the store is closed: undoes what [`Bitcask::prepare`] did, as far as possible, so that builds open it
    /// that know nothing of that.
    ///
    /// # Errors
    /// As [`Bitcask::sync`].
    pub fn end_preparation(&self) -> Result<()> {
        self.log.end_preparation()
    }

    /// Whether a call of [`Bitcask::prepare`] has something to do that appends are going to wait for.
    pub fn wants_preparation(&self) -> bool {
        self.log.wants_preparation()
    }

    /// Sets how many blobs may wait for a sync, [`crate::limits::UNSYNCED_BLOBS_MAX`] without a call; each of them holds a file descriptor.
    pub fn set_unsynced_blobs_max(&self, most: usize) {
        self.unsynced_blobs_max.store(most.max(1), Ordering::Relaxed);
    }

    /// Frees about `budget` entries of dropped collections and databases; returns how many. Costs no I/O. Shards that are
    /// locked for long are left to later calls.
    pub fn drain_garbage(&self, budget: u64) -> u64 {
        let mut freed = 0;
        let (mut count, mut is_complete) = (KeydirCount::default(), true);
        for at in 0..SHARDS {
            let mut gone = Vec::new();
            let mut blobs = BlobChanges::default();
            let mut remember = |collection| gone.push(collection);
            {
                let Some(mut shard) = self.lock_soon(at) else {
                    is_complete = false;
                    continue;
                };
                freed += shard.drain_garbage(budget.saturating_sub(freed), &mut remember, &mut blobs);
                self.held.count(&mut shard);
                count.add(&shard);
            }
            self.blobs.apply(&blobs, self.appended());
            if !gone.is_empty() {
                let mut owners = self.owners.lock();
                gone.iter().for_each(|collection| {
                    owners.remove(collection);
                });
            }
        }
        if is_complete {
            self.counts.note_keydir(&count);
        }
        freed
    }

    /// Removes blobs that nothing refers to any more, as far as the log is synced; syncs it if it has gone on for long
    /// with them, or if their room is needed. Returns how many are left.
    pub fn sweep_blobs(&self) -> Result<usize> {
        let is_needed = self.log.wants_dead_blobs();
        if is_needed || self.log.unsynced_blobs() >= self.unsynced_blobs_max.load(Ordering::Relaxed) {
            self.sync()?;
        }
        let is_early = fault_injection::is_injected(fault_injection::Fault::BlobRemovedUnsynced);
        let left = self.blobs.sweep(if is_early { u64::MAX } else { self.synced() })?;
        if is_needed {
            self.log.storage().sync_removals().map_err(|error| self.log.poison(error))?;
        }
        Ok(left)
    }

    /// Says that what follows from the losses of a salvage is mended, and on the disk.
    ///
    /// # Errors
    /// The device's.
    pub fn note_mended(&self) -> std::result::Result<(), StorageError> {
        self.log.storage().remove_note(Note::Unmended)
    }

    /// Makes the manifest say how much of the log is on the disk, so that a shorter one is noticed. On a full disk it goes on
    /// saying less.
    ///
    /// # Errors
    /// The manifest cannot be written. The log is as it was: after a failed sync the storage itself refuses all that
    /// follows.
    pub fn note_synced(&self) -> Result<()> {
        let Some((active, mut synced_len)) = self.log.active_synced() else { return Ok(()) };
        if fault_injection::is_injected(fault_injection::Fault::NoteUnsynced) {
            synced_len = self.log.files().get(&active.id).map_or(synced_len, |file| file.len());
        }
        match self.log.manifest.note_synced(active.id, synced_len) {
            Ok(()) | Err(StorageError::Full(_)) => Ok(()),
            Err(StorageError::Exhausted(what)) => Err(EngineError::Exhausted(what)),
            Err(error) => Err(EngineError::Damaged(format!("the manifest was not written: {error}"))),
        }
    }

    fn shard_of_key(&self, key: &[u8]) -> usize {
        shard_of(Name::of(self.seed, key).hash(self.seed))
    }
}

impl Engine for Bitcask {
    type Snapshot<'e> = Snapshot<'e>;

    fn get_string(
        &self,
        db: Db,
        key: &[u8],
        now_ms: u64,
        touch: Option<Touch>,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Sought> {
        self.read_string((db, key), now_ms, touch, show)
    }

    fn set_string(
        &self,
        db: Db,
        key: &[u8],
        value: &[u8],
        now_ms: u64,
        touch: Touch,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<Stored>> {
        let put = StringPut { db, key, encoding: 0, expires_at_ms: None, value, access: 0 };
        self.write_string(&put, (touch, now_ms), scratch)
    }

    fn draft(&self) -> Result<Draft> {
        self.log.check_poison()?;
        Draft::new(self.blobs.clone())
    }

    fn begin(&self, scope: Scope<'_>) -> Result<Snapshot<'_>> {
        Ok(Snapshot::new(self, scope))
    }

    #[inline]
    fn begin_soon(&self, scope: Scope<'_>, waker: &dyn Fn() -> Waker) -> Result<Begun<Snapshot<'_>>> {
        match Snapshot::soon(self, scope) {
            Some(snapshot) => Ok(Begun::Open(snapshot)),
            None => Ok(self.wait_for_holder(scope, waker())),
        }
    }

    fn begin_long(&self, scope: Scope<'_>, waker: &dyn Fn() -> Waker) -> Result<Begun<Snapshot<'_>>> {
        self.long_holders.let_pass(snapshot::shard_set(self, scope));
        let mut begun = self.begin_soon(scope, waker)?;
        if let Begun::Open(snapshot) = &mut begun {
            snapshot.hold_for_long();
        }
        Ok(begun)
    }

    fn resume(&self, ticket: Ticket, scope: Scope<'_>) -> Result<Option<Snapshot<'_>>> {
        let snapshot = Snapshot::soon(self, scope);
        match snapshot {
            Some(_) => self.long_holders.forget(ticket),
            None => self.long_holders.note_in_vain(ticket),
        }
        Ok(snapshot)
    }

    fn forget(&self, ticket: Ticket) {
        self.long_holders.forget(ticket);
    }

    fn commit(
        &self,
        snapshot: Snapshot<'_>,
        overlay: &mut Overlay,
        now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Commit> {
        if overlay.is_empty() {
            return Ok(Commit::Done(Receipt::default()));
        }
        snapshot.commit(overlay, now_ms, ordered).map(Commit::Done)
    }

    fn expired_keys(&self, now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        let (mut visited, mut count) = (0, 0);
        // One turn around the whole store at most.
        for _ in 0..SHARDS {
            if visited >= budget {
                break;
            }
            let position = self.expiry_position.load(Ordering::Relaxed);
            let at = shard_of(position);
            let (expired, next) = self.expired_in(at, position, budget - visited, now_ms, &mut visited)?;
            let next = next.unwrap_or((at as u64 + 1) << (u64::BITS - keydir::SHARD_BITS));
            self.expiry_position
                .store(if at + 1 == SHARDS && next <= position { 0 } else { next }, Ordering::Relaxed);
            for (db, key) in expired {
                count += 1;
                visit(db, &key);
            }
        }
        Ok(visited >= budget && count * 4 > visited)
    }

    fn sample_keys(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled> {
        Ok(self.sample(sample, visit))
    }

    fn is_busy(&self, _db: Db, key: &[u8]) -> bool {
        self.shards[self.shard_of_key(key)].is_locked()
    }

    /// Walking a keydir beyond the processor's caches is mostly waiting for memory. The shards are locked together
    /// because each lock and unlock would wait for the reads before it; one that is taken is left out.
    fn prefetch(&self, db: Db, keys: &[&[u8]]) {
        let mut locked: SmallVec<[(usize, MutexGuard<'_, Shard>); PIPELINE_AHEAD]> = SmallVec::new();
        let mut wanted: SmallVec<[(usize, u64); PIPELINE_AHEAD]> = SmallVec::new();
        const { assert!(SHARDS <= u64::BITS as usize) };
        // Which shards were tried, a bit each.
        let mut tried: u64 = 0;
        for key in keys.iter().filter(|key| key.len() <= LONG_KEY_BYTES) {
            let hash = Name::Short(key).hash(self.seed);
            let at = shard_of(hash);
            if tried & 1 << at == 0 {
                tried |= 1 << at;
                locked.extend(self.shards[at].try_lock().map(|shard| (at, shard)));
            }
            if let Some(place) = locked.iter().rposition(|(shard, _)| *shard == at) {
                wanted.push((place, hash));
            }
        }
        let found = wanted.iter().filter_map(|(place, hash)| Some((locked[*place].1.short_keys(db)?, *hash)));
        prefetch(&found.collect::<SmallVec<[_; PIPELINE_AHEAD]>>());
    }

    fn watch(&self, db: Db, key: &[u8], watch: &Watch) {
        self.watches.add(self.shard_of_key(key), (db, key), watch);
    }

    fn unwatch(&self, db: Db, key: &[u8], watch: &Watch) {
        self.watches.remove(self.shard_of_key(key), (db, key), watch);
    }
}

impl Admin for Bitcask {
    fn checkpoint(&self, _now_ms: u64) -> Result<()> {
        self.sync()?;
        self.note_synced()?;
        self.write_hints()
    }

    fn reopen(&self, access: u32) -> Result<()> {
        self.close_and_open(access)
    }

    fn is_synced(&self, sync: bool) -> Result<bool> {
        if sync {
            self.sync()?;
        }
        Ok(self.synced() >= self.appended())
    }

    fn begin_rewrite(&self) -> bool {
        self.rewrite.ask()
    }

    fn rewriting(&self) -> Rewriting {
        self.rewrite.known()
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        self.counted()
    }

    fn wake_waiting(&self) {
        self.long_holders.wake(ShardSet::MAX);
    }

    fn last_finding(&self) -> Option<String> {
        self.scrub.last_finding()
    }

    fn held_bytes(&self) -> u64 {
        self.held.all()
    }

    fn garbage_bytes(&self) -> u64 {
        self.held.garbage()
    }

    fn lacks_space(&self) -> bool {
        self.log.is_scarce() && self.log.lacks_space(self.space())
    }

    fn partitions(&self) -> u32 {
        SHARDS as u32
    }

    fn partition(&self, key: &[u8]) -> u32 {
        self.shard_of_key(key) as u32
    }

    fn partition_seed(&self) -> u64 {
        self.seed
    }

    fn put_derived(&self, number: u64, bytes: &[u8]) -> Result<()> {
        self.log
            .storage()
            .put_derived(number, bytes)
            .map_err(|error| EngineError::Unavailable(error.to_string()))
    }

    fn derived(&self, number: u64) -> Option<Vec<u8>> {
        self.log.storage().derived(number).ok().flatten()
    }

    fn remove_derived(&self, number: u64) {
        // One that stays is refused when it is read again, and removed then.
        let _ = self.log.storage().remove_derived(number);
    }

    fn list_derived(&self) -> Vec<u64> {
        self.log.storage().list_derived().unwrap_or_default()
    }
}

/// A database and one of its keys.
type DbKey = (Db, Vec<u8>);

impl Bitcask {
    /// Has the caller woken when it may lock the shards of a scope, one of which is locked for long.
    #[cold]
    fn wait_for_holder(&self, scope: Scope<'_>, waker: Waker) -> Begun<Snapshot<'_>> {
        let ticket = self.long_holders.wait(snapshot::shard_set(self, scope), waker);
        // The holder may have ended before the waker was there.
        match Snapshot::soon(self, scope) {
            None => Begun::Waits(ticket),
            Some(snapshot) => {
                self.long_holders.forget(ticket);
                Begun::Open(snapshot)
            }
        }
    }

    /// The expired keys of a shard from a position on, after about `budget` entries; and where to go on in the shard. A shard that
    /// is locked for long is left to the next turn around the store.
    fn expired_in(
        &self,
        at: usize,
        position: u64,
        budget: u64,
        now_ms: u64,
        visited: &mut u64,
    ) -> Result<(Vec<DbKey>, Option<u64>)> {
        let mut expired = Vec::new();
        let Some(mut shard) = self.lock_soon(at) else { return Ok((expired, None)) };
        if shard.spaces.iter().all(|space| space.expiring == 0) {
            return Ok((expired, None));
        }
        let mut from = Some(position);
        let limit = *visited + budget;
        while let Some(here) = from.filter(|_| *visited < limit) {
            let mut next: Option<u64> = None;
            for db in (0..shard.databases.len() as Db).chain([CATALOG]) {
                let step = self.scan_bucket(&mut shard, at, db, here, &mut |key, root| {
                    *visited += 1;
                    if root.is_expired(now_ms) {
                        expired.push((db, key.to_vec()));
                    }
                })?;
                // The databases' tables are cut differently: the shortest step misses nothing.
                next = match (next, step) {
                    (Some(next), Some(step)) => Some(next.min(step)),
                    (next, step) => next.or(step),
                };
            }
            from = next;
        }
        Ok((expired, from))
    }
}

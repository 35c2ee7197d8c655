//! The write end of the log: the active datafile, its rotation ([`rotation`]) and its syncs.
//!
//! Promises: frames are appended whole and in one place; a failed append or sync poisons the log for good, because
//! the contents of the disk are not known any more. A full disk does not, nor does a datafile that could not be begun for want
//! of a file descriptor, because nothing was written.

mod rotation;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::bitcask::blobs::Blobs;
use crate::bitcask::fault_injection::{Fault, is_injected};
use crate::bitcask::files::{File, FileTable};
use crate::bitcask::keydir::Location;
use crate::bitcask::manifest::Keeper;
use crate::bitcask::record::{
    FileHeader, MANIFEST_VERSION, SYNCED_RECORD_BYTES, Salt, checksum_of, seal_record, synced_record,
};
use crate::bitcask::room;
use crate::engine::{EngineError, Ordered, Receipt, Result};
use crate::storage::{Blob, BlobId, Room, Storage, StorageError};

/// Largest datafile: offsets are kept in four bytes. The slack is for what is not counted where frames are fitted in:
/// markers, seals and the longer headers of merge outputs.
const DATAFILE_HARD_MAX_BYTES: u64 = u32::MAX as u64 - 1024 * 1024;

/// A datafile that is mostly dead is sealed early, so that merge can have it. Where the next one is not there, and the append
/// would wait for syncs, only at so many times that length: a host that prepares needs less time than that.
const UNPREPARED_STALE_FACTOR: u64 = 2;

/// A frame, or a value, that no datafile can hold.
pub(super) fn too_large() -> EngineError {
    EngineError::Full("a transaction larger than a datafile".into())
}

/// The log of one store.
pub(super) struct Log {
    storage: Arc<dyn Storage>,
    seed: u64,
    /// What the checksums of all records begin from that are appended: older datafiles are never appended to.
    pub(super) salt: Salt,
    /// What the options allow.
    datafile_max_bytes: u64,
    /// What the device and the live data allow beside that; see [`room`].
    datafile_now_bytes: AtomicU64,
    reserve_bytes: AtomicU64,
    is_scarce: AtomicBool,
    wants_dead_blobs: AtomicBool,
    fullness: room::Fullness,
    writer: Mutex<Writer>,
    /// One sync at a time; those that wait find their work done.
    syncing: Mutex<()>,
    /// Held while the next datafile is begun.
    preparing: Mutex<()>,
    /// Whether a call of [`Log::prepare`] has something to do.
    wants_preparation: AtomicBool,
    files: RwLock<Arc<FileTable>>,
    /// Frame bytes appended since the store was opened.
    appended: AtomicU64,
    /// How many of those are known to be on the disk.
    synced: AtomicU64,
    /// How often it was synced.
    syncs: AtomicU64,
    next_sequence: AtomicU64,
    next_number: Arc<AtomicU64>,
    blobs: Arc<Blobs>,
    next_file: AtomicU64,
    /// Which datafiles the store consists of.
    pub(super) manifest: Keeper,
}

struct Writer {
    active: Option<Active>,
    /// The datafile that comes after the active one, with its header only: created and listed ahead, so that no append waits
    /// for that.
    next: Option<Arc<File>>,
    /// The datafile before the active one, as long as its seal is not known to be on the disk.
    sealing: Option<Arc<Sealing>>,
    /// Blobs that were written for frames which are not known to be on the disk. Invariant: each once.
    blobs: Vec<UnsyncedBlob>,
    poison: Option<String>,
}

#[derive(Clone)]
struct UnsyncedBlob {
    id: BlobId,
    blob: Arc<dyn Blob>,
    /// Where the last frame that it was written for ends.
    position: u64,
}

/// A datafile that ends with its seal and was not synced since.
struct Sealing {
    file: Arc<File>,
    len: u64,
    /// Length that was known to be on the disk before.
    synced_len: u64,
    /// Of the seal.
    checksum: u32,
}

struct Active {
    file: Arc<File>,
    len: u64,
    /// Length that is known to be on the disk.
    synced_len: u64,
    /// The largest length that a record in the file says is on the disk.
    marked_len: u64,
    /// From this length on the next datafile may have to be begun ahead; the largest number once that was asked for.
    prepares_at: u64,
}

/// Where numbering goes on after recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counters {
    pub(super) next_sequence: u64,
    pub(super) next_file: u32,
    /// Of collections, spaces and blobs.
    pub(super) next_number: u64,
}

impl Log {
    pub(super) fn new(
        manifest: Keeper,
        seed: u64,
        datafile_max_bytes: u64,
        files: Arc<FileTable>,
        counters: Counters,
        next_number: Arc<AtomicU64>,
        blobs: Arc<Blobs>,
    ) -> Log {
        let datafile_max_bytes = datafile_max_bytes.min(DATAFILE_HARD_MAX_BYTES);
        let log = Log {
            storage: manifest.storage().clone(),
            seed,
            salt: Salt::of(MANIFEST_VERSION, seed),
            datafile_max_bytes,
            datafile_now_bytes: AtomicU64::new(datafile_max_bytes),
            reserve_bytes: AtomicU64::new(0),
            is_scarce: AtomicBool::new(false),
            wants_dead_blobs: AtomicBool::new(false),
            fullness: room::Fullness::default(),
            writer: Mutex::new(Writer {
                active: None,
                next: None,
                sealing: None,
                blobs: Vec::new(),
                poison: None,
            }),
            syncing: Mutex::new(()),
            preparing: Mutex::new(()),
            wants_preparation: AtomicBool::new(false),
            files: RwLock::new(files),
            appended: AtomicU64::new(0),
            synced: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            next_sequence: AtomicU64::new(counters.next_sequence),
            next_number,
            blobs,
            next_file: AtomicU64::new(u64::from(counters.next_file)),
            manifest,
        };
        log.look_at_room();
        log
    }

    /// Looks how much room there is, and plans with it.
    pub(super) fn look_at_room(&self) {
        let files = self.files();
        let used: u64 = files.values().map(|file| file.len()).sum();
        let dead: u64 = files.values().map(|file| file.dead()).sum();
        let (live_blobs, dead_blobs) = self.blobs.lengths();
        let facts = room::Facts {
            datafile_max_bytes: self.datafile_max_bytes,
            free_bytes: self.storage.free_bytes(),
            used_bytes: used + live_blobs + dead_blobs,
            live_bytes: used.saturating_sub(dead),
            largest_bytes: files.values().map(|file| file.len()).max().unwrap_or_default(),
        };
        let plan = facts.plan();
        self.datafile_now_bytes.store(plan.datafile_max_bytes, Ordering::Relaxed);
        self.is_scarce.store(plan.is_scarce, Ordering::Relaxed);
        self.reserve_bytes.store(plan.reserve_bytes, Ordering::Relaxed);
        let would_help = facts.free_bytes.is_some_and(|free| plan.is_scarce || dead_blobs > free / 4);
        self.wants_dead_blobs.store(dead_blobs > 0 && would_help, Ordering::Relaxed);
        self.storage.set_reserve_bytes(plan.reserve_bytes);
        self.note_refused_blobs();
        self.fullness.look(facts.free_bytes, plan.reserve_bytes);
    }

    /// Notes a write to a blob that was refused because the device is full, if one was.
    fn note_refused_blobs(&self) {
        let refused_bytes = self.storage.take_refused_blob_bytes();
        if refused_bytes > 0 {
            self.fullness.note_refused(refused_bytes, self.storage.free_bytes());
        }
    }

    /// The error with which writes are refused at the moment, if they are. Of a full device it lasts until an ordinary write
    /// succeeds or a look at its room finds some.
    pub(super) fn refusal(&self) -> Option<EngineError> {
        self.note_refused_blobs();
        let full = || EngineError::Full("the disk is full".into());
        self.check_poison().err().or_else(|| self.fullness.is_on().then(full))
    }

    /// Whether the room of dead blobs is needed before the policy syncs the log.
    pub(super) fn wants_dead_blobs(&self) -> bool {
        self.wants_dead_blobs.load(Ordering::Relaxed)
    }

    /// Whether ordinary writes are refused soon, or already, because the device is full.
    pub(super) fn is_scarce(&self) -> bool {
        self.is_scarce.load(Ordering::Relaxed)
    }

    /// Whether what is free and what merge could make free, given the bytes of datafiles and the live ones among them, come to
    /// less than so many reserves: a quarter of a small device.
    pub(super) fn lacks_space(&self, (used_bytes, live_bytes): (u64, u64)) -> bool {
        const RESERVES: u64 = 4;
        let Some(free_bytes) = self.storage.free_bytes() else { return false };
        let (_, dead_blobs_bytes) = self.blobs.lengths();
        let dead_bytes = used_bytes.saturating_sub(live_bytes) + dead_blobs_bytes;
        free_bytes.saturating_add(dead_bytes) < RESERVES * self.reserve_bytes.load(Ordering::Relaxed)
    }

    /// Bytes that the output of a merge may take at this moment, if they are bounded.
    pub(super) fn free_for_merge(&self) -> Option<u64> {
        let left = Room::Merging.leaves(self.reserve_bytes.load(Ordering::Relaxed), 0);
        Some(self.storage.free_bytes()?.saturating_sub(left))
    }

    /// Goes on appending to a datafile that recovery found whole, and durable, up to its length.
    pub(super) fn resume(&self, file: Arc<File>) {
        self.writer.lock().active = Some(Active::resumed(file, self.stale_bytes()));
    }

    /// Goes on with what a recovery found. Nothing may be appended or synced meanwhile. Positions stay: all that was appended is synced.
    pub(super) fn reopen(&self, files: Arc<FileTable>, active: Option<Arc<File>>, counters: Counters) {
        let mut writer = self.writer.lock();
        *self.files.write() = files;
        writer.active = active.map(|file| Active::resumed(file, self.stale_bytes()));
        // What was begun ahead is litter to a recovery, and all is synced.
        (writer.next, writer.sealing) = (None, None);
        // Numbers that were handed out and are on no disk yet are not handed out again.
        self.next_sequence.fetch_max(counters.next_sequence, Ordering::Relaxed);
        self.next_number.fetch_max(counters.next_number, Ordering::Relaxed);
        self.next_file.fetch_max(u64::from(counters.next_file), Ordering::Relaxed);
    }

    pub(super) fn files(&self) -> Arc<FileTable> {
        self.files.read().clone()
    }

    pub(super) fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// A datafile is sealed before it grows beyond this many bytes; it depends on the room there is.
    pub(super) fn datafile_max_bytes(&self) -> u64 {
        self.datafile_now_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn next_sequence(&self) -> u64 {
        self.next_sequence.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn next_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    /// A sequence larger than that of any frame whose commit has begun.
    pub(super) fn sequence_bound(&self) -> u64 {
        self.next_sequence.load(Ordering::Relaxed)
    }

    pub(super) fn appended(&self) -> u64 {
        self.appended.load(Ordering::Acquire)
    }

    pub(super) fn synced(&self) -> u64 {
        self.synced.load(Ordering::Acquire)
    }

    pub(super) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Appends a frame given in parts and returns where it begins. `blobs` are those that were written for it; `ordered` is
    /// called once its place is fixed.
    pub(super) fn append(
        &self,
        parts: &[&[u8]],
        blobs: &[(BlobId, Arc<dyn Blob>)],
        (now_ms, room): (u64, Room),
        ordered: Ordered<'_>,
    ) -> Result<(Location, Receipt)> {
        let frame_len: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let mut writer = self.writer.lock();
        if let Some(reason) = &writer.poison {
            return Err(EngineError::ReadOnly(reason.clone()));
        }
        // The next one can be used at once.
        let has_next = writer.next.is_some() && writer.sealing.is_none();
        let must_rotate = |active: &Active| self.must_rotate(active, has_next, frame_len);
        if writer.active.as_ref().is_none_or(must_rotate) {
            self.rotate(&mut writer, now_ms).inspect_err(|error| {
                if matches!(error, EngineError::Full(_)) {
                    self.fullness.note_refused(frame_len, self.storage.free_bytes());
                }
            })?;
        }
        let Some(active) = writer.active.as_mut() else {
            return Err(EngineError::ReadOnly("there is no active datafile".into()));
        };
        let marker = active.marker(|| self.next_sequence(), now_ms);
        let begin = active.len + marker.len() as u64;
        let end = begin + frame_len;
        let location = match u32::try_from(begin) {
            Ok(offset) if end <= DATAFILE_HARD_MAX_BYTES => Location { file: active.file.id(), offset },
            _ => return Err(too_large()),
        };
        let appended = if marker.is_empty() {
            active.file.datafile.append_within(active.len, parts, room)
        } else {
            let mut with_marker: Vec<&[u8]> = vec![&marker];
            with_marker.extend_from_slice(parts);
            active.file.datafile.append_within(active.len, &with_marker, room)
        };
        if let Err(error) = appended {
            if room == Room::Ordinary && matches!(error, StorageError::Full(_)) {
                self.fullness.note_refused(frame_len, self.storage.free_bytes());
            }
            return Err(writer.fail(error));
        }
        if room == Room::Ordinary {
            self.fullness.note_written(frame_len);
        }
        if !marker.is_empty() {
            active.marked_len = active.synced_len;
            active.file.add_dead(marker.len() as u64);
        }
        active.len = end;
        active.file.len.store(end, Ordering::Release);
        if end >= active.prepares_at && self.wants_next(active) {
            active.prepares_at = u64::MAX;
            self.wants_preparation.store(true, Ordering::Release);
        }
        let position = self.appended.load(Ordering::Relaxed) + frame_len;
        for (id, blob) in blobs {
            writer.note_unsynced(*id, blob, position);
        }
        self.appended.store(position, Ordering::Release);
        let receipt = Receipt::of(position, frame_len);
        // Still under the writer's lock, which orders the frames.
        ordered(receipt);
        Ok((location, receipt))
    }

    fn must_rotate(&self, active: &Active, has_next: bool, frame_len: u64) -> bool {
        let is_older = active.file.header.version < MANIFEST_VERSION;
        let datafile_max_bytes = self.datafile_max_bytes();
        let stale_bytes = self.stale_bytes() * if has_next { 1 } else { UNPREPARED_STALE_FACTOR };
        let is_stale = active.len >= stale_bytes && active.is_mostly_dead();
        // A marker before the frame and the seal behind it must fit as well.
        let is_full = active.len + frame_len + 2 * SYNCED_RECORD_BYTES > datafile_max_bytes;
        is_older || active.len > active.file.header_len && (is_full || is_stale)
    }

    /// The header of a new datafile. Fails once there are no more numbers.
    pub(super) fn header(
        &self,
        base_sequence: u64,
        watermark: u64,
        replaces: Vec<u32>,
    ) -> Result<FileHeader> {
        let used_up = || EngineError::ReadOnly("the numbers of datafiles are used up".into());
        let next = |number: u64| u32::try_from(number).is_ok().then_some(number + 1);
        let number = self.next_file.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let id = number.ok().and_then(|number| u32::try_from(number).ok()).ok_or_else(used_up)?;
        Ok(FileHeader {
            version: MANIFEST_VERSION,
            id,
            seed: self.seed,
            base_sequence,
            next_sequence: self.sequence_bound(),
            next_number: self.next_number.load(Ordering::Relaxed),
            watermark,
            replaces,
        })
    }

    /// A datafile of this number could not be created. For want of room or of descriptors nothing was made, so the next one
    /// gets the number: commits that are tried again for days use up no numbers.
    pub(super) fn give_back_number(&self, id: u32, error: &StorageError) {
        if matches!(error, StorageError::Full(_) | StorageError::Exhausted(_)) {
            let id = u64::from(id);
            let _ = self.next_file.compare_exchange(id + 1, id, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    pub(super) fn add_file(&self, file: Arc<File>) {
        let mut files = self.files.write();
        Arc::make_mut(&mut files).insert(file.id(), file);
    }

    pub(super) fn remove_file(&self, id: u32) {
        let mut files = self.files.write();
        Arc::make_mut(&mut files).remove(&id);
    }

    /// Makes everything appended before the call survive the loss of power; returns the position up to which it does.
    pub(super) fn sync(&self) -> Result<u64> {
        let wanted = self.appended();
        let turn = self.turn_to_sync();
        self.sync_in(&turn, wanted)
    }

    /// Waits for a sync that is under way, and keeps others from beginning one.
    pub(super) fn turn_to_sync(&self) -> SyncTurn<'_> {
        SyncTurn { _lock: self.syncing.lock() }
    }

    /// Makes what was appended up to a position, and perhaps more, survive the loss of power.
    pub(super) fn sync_in(&self, turn: &SyncTurn<'_>, wanted: u64) -> Result<u64> {
        if self.synced() >= wanted {
            return self.check_poison().map(|()| self.synced());
        }
        self.sync_now(turn)
    }

    fn sync_now(&self, _turn: &SyncTurn<'_>) -> Result<u64> {
        let (sealing, file, len, position, blobs) = {
            let writer = self.writer.lock();
            if let Some(reason) = &writer.poison {
                return Err(EngineError::ReadOnly(reason.clone()));
            }
            let Some(active) = &writer.active else { return Ok(self.synced()) };
            let (file, len) = (active.file.clone(), active.len);
            // They stay in the list: a caller that seals the datafile meanwhile must wait for them as well.
            (writer.sealing.clone(), file, len, self.appended(), writer.blobs.clone())
        };
        self.sync_blobs(&blobs, position).map_err(|error| self.writer.lock().fail(error))?;
        // Before anything says that a part of the next datafile is on the disk: recovery takes that for a proof.
        if let Some(sealing) = &sealing {
            self.finish(sealing).map_err(|error| self.writer.lock().fail(error))?;
        }
        // Appends go on meanwhile: the lock is not held.
        if let Err(error) = file.datafile.sync() {
            return Err(self.writer.lock().fail(never_again(error)));
        }
        self.syncs.fetch_add(1, Ordering::Relaxed);
        let mut writer = self.writer.lock();
        writer.blobs.retain(|unsynced| unsynced.position > position);
        let is_finished = |now: &Arc<Sealing>| sealing.as_ref().is_some_and(|done| Arc::ptr_eq(now, done));
        if writer.sealing.as_ref().is_some_and(is_finished) {
            writer.sealing = None;
        }
        if let Some(active) = writer.active.as_mut().filter(|active| active.file.id() == file.id()) {
            active.synced_len = active.synced_len.max(len);
        }
        Ok(self.synced.fetch_max(position, Ordering::AcqRel).max(position))
    }

    /// Makes the blobs that a part of the log refers to as durable as it is about to become; those that are dead at its
    /// end need not be.
    fn sync_blobs(&self, blobs: &[UnsyncedBlob], position: u64) -> std::result::Result<(), StorageError> {
        if blobs.is_empty() || is_injected(Fault::BlobsUnsynced) {
            return Ok(());
        }
        for UnsyncedBlob { id, blob, .. } in blobs {
            if !self.blobs.is_dead_at(*id, position) {
                blob.sync().map_err(never_again)?;
            }
        }
        self.storage.sync_blob_names().map_err(never_again)
    }

    /// How many blobs wait for the next sync.
    pub(super) fn unsynced_blobs(&self) -> usize {
        self.writer.lock().blobs.len()
    }

    /// The header of the first datafile that is not known to be on the disk as a whole, the active one mostly, and how much of
    /// it is.
    pub(super) fn active_synced(&self) -> Option<(FileHeader, u64)> {
        let writer = self.writer.lock();
        if let Some(sealing) = &writer.sealing {
            return Some((sealing.file.header.clone(), sealing.synced_len));
        }
        writer.active.as_ref().map(|active| (active.file.header.clone(), active.synced_len))
    }

    /// Refuses once the log is poisoned.
    pub(super) fn check_poison(&self) -> Result<()> {
        match &self.writer.lock().poison {
            Some(reason) => Err(EngineError::ReadOnly(reason.clone())),
            None => Ok(()),
        }
    }

    /// Makes the log refuse writes from now on.
    pub(super) fn poison(&self, error: StorageError) -> EngineError {
        self.writer.lock().fail(error)
    }
}

/// The right to sync: there is one at a time.
pub(super) struct SyncTurn<'l> {
    _lock: MutexGuard<'l, ()>,
}

impl Writer {
    /// A blob was written for the frame that ends here; one that is written on again and again needs one sync.
    fn note_unsynced(&mut self, id: BlobId, blob: &Arc<dyn Blob>, position: u64) {
        match self.blobs.iter_mut().find(|unsynced| unsynced.id == id) {
            Some(unsynced) => unsynced.position = position,
            None => self.blobs.push(UnsyncedBlob { id, blob: blob.clone(), position }),
        }
    }

    /// The log's error for a storage error.
    fn fail(&mut self, error: StorageError) -> EngineError {
        match error {
            StorageError::Full(what) => EngineError::Full(what),
            StorageError::Exhausted(what) => EngineError::Exhausted(what),
            error => {
                let reason = self.poison.get_or_insert_with(|| error.to_string());
                EngineError::ReadOnly(reason.clone())
            }
        }
    }
}

/// A failed sync is never tried again, not even one that failed because the disk was full.
fn never_again(error: StorageError) -> StorageError {
    match error {
        StorageError::Full(what) | StorageError::Exhausted(what) => StorageError::Io(what),
        error => error,
    }
}

impl Active {
    /// Whether merge would gain by it if the file was sealed now.
    fn is_mostly_dead(&self) -> bool {
        self.file.dead() > self.len / 2
    }

    /// A datafile that recovery found whole, and durable, up to its length.
    fn resumed(file: Arc<File>, prepares_at: u64) -> Active {
        let len = file.len();
        Active { file, len, synced_len: len, marked_len: 0, prepares_at }
    }

    /// A record that says how much of the file is on the disk, if no record says so yet; else nothing. It lets recovery
    /// tell a torn tail from damage.
    fn marker(&self, sequence: impl Fn() -> u64, now_ms: u64) -> Vec<u8> {
        if self.synced_len > self.marked_len {
            let Active { file, len, synced_len, .. } = self;
            synced_record(&file.header, file.salt, *len, *synced_len, sequence(), now_ms)
        } else {
            Vec::new()
        }
    }

    /// Makes everything durable, says so at the end of the file, and cuts off what was preallocated. When there is no
    /// room for the seal nothing has changed. Returns the length with the seal, and its checksum.
    fn seal(&mut self, sequence: u64, now_ms: u64) -> std::result::Result<(u64, u32), StorageError> {
        if !is_injected(Fault::SealUnsynced) {
            self.file.datafile.sync().map_err(never_again)?;
        }
        let checksum = self.append_seal(sequence, now_ms)?;
        if !is_injected(Fault::SealUnsynced) {
            self.file.datafile.cut(self.len).map_err(never_again)?;
        }
        self.file.is_sealed.store(true, Ordering::Release);
        Ok((self.len, checksum))
    }

    /// Says at the end of the file that nothing follows; returns the checksum of the seal. When there is no room for it nothing
    /// has changed.
    fn append_seal(&mut self, sequence: u64, now_ms: u64) -> std::result::Result<u32, StorageError> {
        let seal = seal_record(&self.file.header, self.len, sequence, now_ms);
        self.file.datafile.append_within(self.len, &[&seal], Room::Merging)?;
        self.len += SYNCED_RECORD_BYTES;
        self.file.len.store(self.len, Ordering::Release);
        self.file.add_dead(SYNCED_RECORD_BYTES);
        Ok(checksum_of(&seal))
    }
}

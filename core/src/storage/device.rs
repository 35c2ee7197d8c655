//! Datafiles and blobs on anything that looks like one directory of files.
//!
//! | name in the directory  | what it is                                                          |
//! | ---------------------- | ------------------------------------------------------------------- |
//! | `0000000007.data`      | a listed datafile, whole since the moment it has this name          |
//! | `0000000007.hidden`    | a datafile that is not published yet; litter for the next process   |
//! | `0000000007.temporary` | a datafile whose header is being written; litter for the next process |
//! | `00000000000000000042.blob` | a blob, whatever of it is there; who refers to it knows           |
//! | `00000000000000000042.derived` | what can be made again from the datafiles; who reads it checks it |
//! | `DERIVED.temporary`    | such a file that is being written; litter for the next process      |
//! | `MANIFEST`             | the manifest, whole since the moment it has this name               |
//! | `MANIFEST.temporary`   | a manifest that is being written; litter for the next process       |
//! | `0000000007.torn-4096` | bytes from this offset that recovery cut off; for an operator       |
//! | `0000000007.damaged`   | a datafile that salvage has replaced; for an operator               |
//! | `00000000000000000042.blob.damaged` | a blob that nothing names any more since a salvage; for an operator |
//! | `REFUSED`, `SALVAGE`, `UNMENDED` | notes of recovery, whole since the moment they have these names |
//! | `salvage-1.txt`        | the report of a salvage that is complete; for an operator           |
//! | anything else          | not ours; never touched                                             |
//!
//! A file for an operator gets a number behind its name where that is taken, so that none replaces an earlier one.
//!
//! It promises that a name ending in `.data` is given only to a file that is already durable, and that the name is
//! durable when the call that gave it returns. (Blobs promise nothing by their name.) It must never sync again after a failed sync: the operating system may
//! have dropped the bytes and would report success. So after one, everything but reading is refused until the store
//! is opened again.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::{
    Blob, BlobId, BootId, Datafile, DatafileId, MetaMap, Note, Part, Result, Room, Storage, StorageError,
};

/// How a file will be used, so that a device can choose how it gets at the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Many small appends and reads.
    Log,
    /// Few large writes and reads.
    Blob,
    /// Written once, from its beginning to its end.
    Whole,
}

/// One directory of files, as POSIX has it: names and contents become durable separately.
pub trait Device: Send + Sync + 'static {
    /// An open file.
    type File: DeviceFile;

    /// Creates a file that must not exist yet, empty.
    fn create(&self, name: &str, access: Access) -> Result<Self::File>;

    /// Opens an existing file.
    fn open(&self, name: &str, access: Access) -> Result<Self::File>;

    /// Gives a file another name, replacing what had it. Not durable before [`Device::sync_directory`].
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Removes a name; open files stay readable. Not durable before [`Device::sync_directory`].
    fn remove(&self, name: &str) -> Result<()>;

    /// The names in the directory, in any order.
    fn list(&self) -> Result<Vec<String>>;

    /// Makes all names as they are now survive the loss of power.
    fn sync_directory(&self) -> Result<()>;

    /// The present run of the machine; see [`Storage::boot_id`].
    fn boot_id(&self) -> Option<BootId>;

    /// Whether files that are opened for [`Access::Log`] are made longer before anything is written behind their end.
    fn grows_ahead(&self) -> bool {
        false
    }

    /// Where an operator finds the file with this name.
    fn place(&self, name: &str) -> String {
        name.to_owned()
    }

    /// Gives the file at a place of another directory ([`Device::place`]) a name in this one, too; false where that is not
    /// possible, so that it must be copied. Not durable before [`Device::sync_directory`].
    fn link(&self, _place: &str, _name: &str) -> Result<bool> {
        Ok(false)
    }

    /// Called while a store is opened: so many bytes of a datafile are done.
    fn note_recovered(&self, _bytes: u64) {}

    /// Bytes that are free; `None` where nobody knows.
    fn free_bytes(&self) -> Option<u64> {
        None
    }
}

/// One open file of a [`Device`].
pub trait DeviceFile: Send + Sync + 'static {
    /// Writes `parts`, concatenated, at `offset`, making the file longer if needed. [`super::StorageError::Full`]
    /// means that nothing the caller had written before is harmed and the same write may be made again.
    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<()>;

    /// The same, but it is refused as full if fewer than `leave_bytes` would then be free on the device. A device that does
    /// not know how much is free makes no difference.
    fn write_leaving(&self, offset: u64, parts: &[&[u8]], _leave_bytes: u64) -> Result<()> {
        self.write(offset, parts)
    }

    /// Shows `len` bytes at `offset`, in one piece.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Makes contents and length survive the loss of power.
    fn sync(&self) -> Result<()>;

    /// Cuts or extends (with zeros) the file to `len` bytes.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Length in bytes.
    fn len(&self) -> Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

const DATA_SUFFIX: &str = ".data";
const HIDDEN_SUFFIX: &str = ".hidden";
const TEMPORARY_SUFFIX: &str = ".temporary";
const BLOB_SUFFIX: &str = ".blob";
const DERIVED_SUFFIX: &str = ".derived";
const DAMAGED_SUFFIX: &str = ".damaged";

/// What recovery cut off goes to a file with this and the offset behind the number.
const TORN_SUFFIX: &str = ".torn-";

pub(super) const MANIFEST: &str = "MANIFEST";
pub(super) const NEW_MANIFEST: &str = "MANIFEST.temporary";
const NEW_NOTE: &str = "NOTE.temporary";
const NEW_DERIVED: &str = "DERIVED.temporary";

/// Larger than any manifest or note: a store has fewer datafiles than this has room for.
const WHOLE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes are copied aside in pieces of this size.
const COPY_PIECE_BYTES: u64 = 1024 * 1024;

/// Digits of the id in a file name: enough for every `u32`, so that names sort as ids do.
const NAME_DIGITS: usize = 10;

fn note_name(note: Note) -> &'static str {
    match note {
        Note::Refused => "REFUSED",
        Note::Salvage => "SALVAGE",
        Note::Unmended => "UNMENDED",
    }
}

fn file_name(id: DatafileId, suffix: &str) -> String {
    format!("{:0width$}{suffix}", id.0, width = NAME_DIGITS)
}

/// This name, and the same with a number behind it: 2, 3 and so on.
fn numbered(name: String) -> impl Iterator<Item = String> {
    let others = name.clone();
    std::iter::once(name).chain((2_u64..).map(move |number| format!("{others}-{number}")))
}

/// The name of a listed datafile.
pub(super) fn datafile_name(id: DatafileId) -> String {
    file_name(id, DATA_SUFFIX)
}

/// The id and the suffix of a file name, if it is exactly one that [`file_name`] makes.
fn parse_name(name: &str) -> Option<(DatafileId, &str)> {
    let (digits, suffix) = name.split_at_checked(NAME_DIGITS)?;
    let ours = [DATA_SUFFIX, HIDDEN_SUFFIX, TEMPORARY_SUFFIX].contains(&suffix);
    if !ours || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((DatafileId(digits.parse().ok()?), suffix))
}

/// Digits of a blob's id in a file name: enough for every `u64`.
const BLOB_NAME_DIGITS: usize = 20;

/// A blob is shown to readers in pieces of at most this many bytes.
const BLOB_PIECE_BYTES: u64 = 256 * 1024;

pub(super) fn blob_name(id: BlobId) -> String {
    format!("{:0width$}{BLOB_SUFFIX}", id.0, width = BLOB_NAME_DIGITS)
}

/// The id in a file name, if it is exactly one that [`blob_name`] makes.
fn parse_blob_name(name: &str) -> Option<BlobId> {
    parse_number(name, BLOB_SUFFIX).map(BlobId)
}

fn derived_name(number: u64) -> String {
    format!("{number:0width$}{DERIVED_SUFFIX}", width = BLOB_NAME_DIGITS)
}

/// The number in a file name of this kind.
fn parse_number(name: &str, suffix: &str) -> Option<u64> {
    let digits = name.strip_suffix(suffix)?;
    let is_ours = digits.len() == BLOB_NAME_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_ours)
}

/// Whether a file was set aside for an operator, or holds what was cut off.
fn is_set_aside(name: &str) -> bool {
    let rest = name.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let rest = rest.strip_prefix(BLOB_SUFFIX).unwrap_or(rest);
    rest.len() < name.len() && [DAMAGED_SUFFIX, TORN_SUFFIX].iter().any(|begin| rest.starts_with(begin))
}

/// A classic bug of storage code, injected on purpose: a crash test that stays green with one of these tests nothing.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The sync of a file returns without syncing (injected in the simulated device).
    SkipFileSync,
    /// The sync of the directory returns without syncing (injected in the simulated device).
    SkipDirectorySync,
    /// A file gets its final name before its contents are durable (injected in [`DeviceStorage`]).
    RenameBeforeSync,
    /// A failed sync is made again and its second answer believed (injected in [`DeviceStorage`]).
    RetrySyncAfterFailure,
}

/// What the storage and all of its open files know about the health of the disk.
#[derive(Debug, Default)]
struct Health {
    /// The first failure after which nobody knows what the disk holds.
    failure: OnceLock<String>,
    /// Bytes that ordinary writes leave free.
    reserve_bytes: AtomicU64,
    /// What the merge under way takes until it removes its inputs.
    lent_bytes: AtomicU64,
    /// The longest write to a blob that was refused as full since that was last asked.
    refused_blob_bytes: AtomicU64,
    bug: Option<Bug>,
}

impl Health {
    /// Refuses `what` once a failure was seen.
    fn check(&self, what: &str, name: &str) -> Result<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(failure) => {
                Err(StorageError::Io(format!("{what} {name} is refused since an earlier failure: {failure}")))
            }
        }
    }

    /// Bytes that a write with this much room leaves free.
    fn leaves(&self, room: Room) -> u64 {
        room.leaves(self.reserve_bytes.load(Ordering::Relaxed), self.lent_bytes.load(Ordering::Relaxed))
    }

    /// Remembers a failure. The answer is never [`StorageError::Full`], which would invite the caller to try again.
    fn fail(&self, what: &str, name: &str, error: &StorageError) -> StorageError {
        let failure = format!("{what} {name}: {error}");
        // Only the first failure is kept: what follows is its consequence.
        let _ = self.failure.set(failure.clone());
        StorageError::Io(failure)
    }

    /// Makes one sync, the last one if it fails.
    fn sync(&self, name: &str, sync: impl Fn() -> Result<()>) -> Result<()> {
        self.check("sync of", name)?;
        let mut outcome = sync();
        if outcome.is_err() && self.bug == Some(Bug::RetrySyncAfterFailure) {
            outcome = sync();
        }
        outcome.map_err(|error| self.fail("sync of", name, &error))
    }
}

/// A datafile of a [`DeviceStorage`].
pub struct DeviceDatafile<F> {
    file: F,
    name: String,
    health: Arc<Health>,
    /// Held over check and sync, so that a sync that waited for a failing one is refused and not a second try.
    syncing: Mutex<()>,
}

impl<F> DeviceDatafile<F> {
    /// The file, for hosts that know more about their own.
    pub fn file(&self) -> &F {
        &self.file
    }
}

impl<F: DeviceFile> Datafile for DeviceDatafile<F> {
    fn append(&self, offset: u64, parts: &[&[u8]]) -> Result<()> {
        self.append_within(offset, parts, Room::Ordinary)
    }

    fn append_within(&self, offset: u64, parts: &[&[u8]], room: Room) -> Result<()> {
        self.health.check("append to", &self.name)?;
        self.file.write_leaving(offset, parts, self.health.leaves(room))
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.file.read(offset, len, visit)
    }

    fn sync(&self) -> Result<()> {
        let _one_at_a_time = self.syncing.lock();
        self.health.sync(&self.name, || self.file.sync())
    }

    fn cut(&self, len: u64) -> Result<()> {
        self.health.check("cut of", &self.name)?;
        self.file.set_len(len)?;
        self.sync()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn len(&self) -> Result<u64> {
        self.file.len()
    }
}

/// A blob of a [`DeviceStorage`].
pub struct DeviceBlob<F> {
    file: F,
    name: String,
    health: Arc<Health>,
    syncing: Mutex<()>,
}

impl<F> DeviceBlob<F> {
    /// The file, for hosts that know more about their own.
    pub fn file(&self) -> &F {
        &self.file
    }
}

impl<F: DeviceFile> Blob for DeviceBlob<F> {
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.health.check("write to", &self.name)?;
        let written = self.file.write_leaving(offset, &[bytes], self.health.leaves(Room::Ordinary));
        written.inspect_err(|error| {
            if matches!(error, StorageError::Full(_)) {
                self.health.refused_blob_bytes.fetch_max(bytes.len().max(1) as u64, Ordering::Relaxed);
            }
        })
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut done = 0;
        while done < len {
            let piece = (len - done).min(BLOB_PIECE_BYTES);
            self.file.read(offset + done, piece, visit)?;
            done += piece;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.health.check("cut of", &self.name)?;
        self.file.set_len(len)
    }

    fn len(&self) -> Result<u64> {
        self.file.len()
    }

    fn sync(&self) -> Result<()> {
        let _one_at_a_time = self.syncing.lock();
        self.health.sync(&self.name, || self.file.sync())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The ids in use. What the directory says is read once, at open; from then on only this process changes it.
struct Names<F> {
    listed: BTreeSet<DatafileId>,
    /// Unpublished files with the handle that wrote them: an error of writing back is certain to be reported only to
    /// handles that were open when it happened, so [`Storage::publish`] must sync this one.
    hidden: BTreeMap<DatafileId, Arc<DeviceDatafile<F>>>,
    blobs: BTreeSet<BlobId>,
}

/// [`Storage`] on a [`Device`] and a [`MetaMap`].
pub struct DeviceStorage<D: Device, M: MetaMap> {
    device: D,
    meta: M,
    health: Arc<Health>,
    /// Held over every change of names, so that a sync of the directory that waited for a failing one is refused.
    names: Mutex<Names<D::File>>,
    /// Whether a blob was created since the directory was last synced.
    has_new_blobs: AtomicBool,
    /// Whether anything was removed since then.
    has_removals: AtomicBool,
    /// Held while a derived file is written.
    derived: Mutex<()>,
}

impl<D: Device, M: MetaMap> DeviceStorage<D, M> {
    /// Opens a store: removes what an earlier process left unfinished and leaves unknown names alone.
    pub fn open(device: D, meta: M) -> Result<Self> {
        Self::open_with_bug(device, meta, None)
    }

    /// Opens a store for reading: nothing in the directory is changed.
    pub fn open_to_read(device: D, meta: M) -> Result<Self> {
        let (mut listed, mut blobs) = (BTreeSet::new(), BTreeSet::new());
        for name in device.list()? {
            blobs.extend(parse_blob_name(&name));
            listed.extend(parse_name(&name).filter(|(_, suffix)| *suffix == DATA_SUFFIX).map(|(id, _)| id));
        }
        Ok(Self::with(device, meta, Health::default(), (listed, blobs)))
    }

    fn with(
        device: D,
        meta: M,
        health: Health,
        (listed, blobs): (BTreeSet<DatafileId>, BTreeSet<BlobId>),
    ) -> Self {
        let names = Mutex::new(Names { listed, hidden: BTreeMap::new(), blobs });
        let (has_new_blobs, has_removals) = (AtomicBool::new(false), AtomicBool::new(false));
        let derived = Mutex::default();
        DeviceStorage { device, meta, health: Arc::new(health), names, has_new_blobs, has_removals, derived }
    }

    /// [`DeviceStorage::open`] with an injected bug, for the tests of crash tests.
    #[doc(hidden)]
    pub fn open_with_bug(device: D, meta: M, bug: Option<Bug>) -> Result<Self> {
        let (mut listed, mut blobs) = (BTreeSet::new(), BTreeSet::new());
        for name in device.list()? {
            blobs.extend(parse_blob_name(&name));
            if [NEW_MANIFEST, NEW_NOTE, NEW_DERIVED].contains(&name.as_str()) {
                device.remove(&name)?;
            }
            match parse_name(&name) {
                Some((id, DATA_SUFFIX)) => {
                    listed.insert(id);
                }
                Some(_) => device.remove(&name)?,
                None => {}
            }
        }
        let health = Health { bug, ..Health::default() };
        // An earlier process may have died between a rename and the sync of the directory. Without this sync its file
        // would be written and acknowledged under a name that the loss of power takes back.
        health.sync("the directory", || device.sync_directory())?;
        Ok(Self::with(device, meta, health, (listed, blobs)))
    }

    fn handle(&self, file: D::File, id: DatafileId) -> Arc<DeviceDatafile<D::File>> {
        let name = file_name(id, DATA_SUFFIX);
        Arc::new(DeviceDatafile { file, name, health: self.health.clone(), syncing: Mutex::new(()) })
    }

    fn blob(&self, file: D::File, name: String) -> Arc<dyn Blob> {
        Arc::new(DeviceBlob { file, name, health: self.health.clone(), syncing: Mutex::new(()) })
    }

    /// Creates a file that holds `header` and is not durable yet.
    fn begin(
        &self,
        names: &Names<D::File>,
        id: DatafileId,
        suffix: &str,
        header: &[u8],
    ) -> Result<Arc<DeviceDatafile<D::File>>> {
        let name = file_name(id, suffix);
        self.health.check("creation of", &name)?;
        // The rename that comes later would silently replace the older file.
        if names.listed.contains(&id) || names.hidden.contains_key(&id) {
            return Err(StorageError::Refused(format!("datafile {} exists already", id.0)));
        }
        let file = self.device.create(&name, Access::Log)?;
        let leave_bytes = self.health.leaves(Room::Merging);
        if let Err(error) = file.write_leaving(0, &[header], leave_bytes) {
            self.discard(&name);
            return Err(error);
        }
        Ok(self.handle(file, id))
    }

    /// Removes an unfinished file as far as possible; the next process finds the rest.
    fn discard(&self, name: &str) {
        let _ = self.device.remove(name);
    }

    /// Writes a file under a temporary name and gives it its own, in place of what had it, once it is on the disk.
    fn write_whole(
        &self,
        temporary: &str,
        name: &str,
        write: &mut dyn FnMut(&D::File) -> Result<()>,
    ) -> Result<()> {
        self.health.check("creation of", name)?;
        let file = self.device.create(temporary, Access::Whole)?;
        if let Err(error) = write(&file) {
            self.discard(temporary);
            return Err(error);
        }
        self.health.sync(name, || file.sync())?;
        match self.device.rename(temporary, name) {
            Ok(()) => {}
            Err(error @ (StorageError::Full(_) | StorageError::Exhausted(_))) => {
                self.discard(temporary);
                return Err(error);
            }
            // Nobody knows which name the file has now.
            Err(error) => return Err(self.health.fail("rename to", name, &error)),
        }
        self.health.sync("the directory", || self.device.sync_directory())
    }

    /// The contents of a file that was written whole; `None` if it is not there. One that is too large to be ours is shown as
    /// empty, so that it does not carry its checksum.
    fn read_whole(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let file = match self.device.open(name, Access::Whole) {
            Err(StorageError::Missing(_)) => return Ok(None),
            opened => opened?,
        };
        let len = file.len()?;
        let mut bytes = Vec::new();
        if len <= WHOLE_MAX_BYTES {
            file.read(0, len, &mut |read| bytes.extend_from_slice(read))?;
        }
        Ok(Some(bytes))
    }

    /// The first of these names that no file has. The caller holds the lock on names, so nobody takes it meanwhile.
    fn free_name(&self, mut names: impl Iterator<Item = String>) -> Result<String> {
        let taken: BTreeSet<String> = self.device.list()?.into_iter().collect();
        Ok(names.find(|name| !taken.contains(name)).unwrap_or_default())
    }

    /// Gives a file another name, durably.
    fn rename_durably(&self, from: &str, to: &str) -> Result<()> {
        self.health.check("renaming of", from)?;
        match self.device.rename(from, to) {
            Ok(()) => {}
            Err(error @ (StorageError::Full(_) | StorageError::Exhausted(_) | StorageError::Missing(_))) => {
                return Err(error);
            }
            // Nobody knows which name the file has now.
            Err(error) => return Err(self.health.fail("rename to", to, &error)),
        }
        self.health.sync("the directory", || self.device.sync_directory())
    }

    /// Gives a file its final name: contents before the name, the name before the answer.
    fn finish(&self, file: &DeviceDatafile<D::File>, id: DatafileId, suffix: &str) -> Result<()> {
        let (from, to) = (file_name(id, suffix), file_name(id, DATA_SUFFIX));
        let rename_first = self.health.bug == Some(Bug::RenameBeforeSync);
        if !rename_first {
            file.sync()?;
        }
        match self.device.rename(&from, &to) {
            Ok(()) => {}
            Err(error @ (StorageError::Full(_) | StorageError::Exhausted(_))) => return Err(error),
            // Nobody knows which name the file has now.
            Err(error) => return Err(self.health.fail("rename to", &to, &error)),
        }
        self.health.sync("the directory", || self.device.sync_directory())?;
        if rename_first { file.sync() } else { Ok(()) }
    }
}

impl<D: Device, M: MetaMap> Storage for DeviceStorage<D, M> {
    fn create(&self, id: DatafileId, header: &[u8]) -> Result<Arc<dyn Datafile>> {
        let mut names = self.names.lock();
        let file = self.begin(&names, id, TEMPORARY_SUFFIX, header)?;
        if let Err(error) = self.finish(&file, id, TEMPORARY_SUFFIX) {
            self.discard(&file_name(id, TEMPORARY_SUFFIX));
            return Err(error);
        }
        names.listed.insert(id);
        Ok(file)
    }

    fn create_hidden(&self, id: DatafileId, header: &[u8]) -> Result<Arc<dyn Datafile>> {
        let mut names = self.names.lock();
        // No sync: until it is published the next process removes the file, however much of it is there.
        let file = self.begin(&names, id, HIDDEN_SUFFIX, header)?;
        names.hidden.insert(id, file.clone());
        Ok(file)
    }

    fn publish(&self, id: DatafileId) -> Result<()> {
        let mut names = self.names.lock();
        self.health.check("publication of", &file_name(id, HIDDEN_SUFFIX))?;
        let Some(file) = names.hidden.get(&id) else {
            return Err(StorageError::Missing(format!("hidden datafile {}", id.0)));
        };
        self.finish(file, id, HIDDEN_SUFFIX)?;
        names.hidden.remove(&id);
        names.listed.insert(id);
        Ok(())
    }

    fn open(&self, id: DatafileId) -> Result<Arc<dyn Datafile>> {
        let names = self.names.lock();
        if !names.listed.contains(&id) {
            return Err(StorageError::Missing(format!("datafile {}", id.0)));
        }
        let file = self.device.open(&file_name(id, DATA_SUFFIX), Access::Log)?;
        Ok(self.handle(file, id))
    }

    fn remove(&self, id: DatafileId) -> Result<()> {
        let mut names = self.names.lock();
        let suffix = if names.listed.contains(&id) {
            DATA_SUFFIX
        } else if names.hidden.contains_key(&id) {
            HIDDEN_SUFFIX
        } else {
            return Err(StorageError::Missing(format!("datafile {}", id.0)));
        };
        let name = file_name(id, suffix);
        // What would replace this file may be among what the failure lost.
        self.health.check("removal of", &name)?;
        self.device.remove(&name)?;
        self.has_removals.store(true, Ordering::Release);
        names.listed.remove(&id);
        names.hidden.remove(&id);
        Ok(())
    }

    fn list(&self) -> Result<Vec<DatafileId>> {
        Ok(self.names.lock().listed.iter().copied().collect())
    }

    fn create_blob(&self, id: BlobId) -> Result<Arc<dyn Blob>> {
        let name = blob_name(id);
        let mut names = self.names.lock();
        self.health.check("creation of", &name)?;
        let file = self.device.create(&name, Access::Blob)?;
        names.blobs.insert(id);
        self.has_new_blobs.store(true, Ordering::Release);
        Ok(self.blob(file, name))
    }

    fn open_blob(&self, id: BlobId) -> Result<Arc<dyn Blob>> {
        let name = blob_name(id);
        let file = self.device.open(&name, Access::Blob)?;
        Ok(self.blob(file, name))
    }

    fn remove_blob(&self, id: BlobId) -> Result<()> {
        let name = blob_name(id);
        // What replaced it may be among what the failure lost.
        self.health.check("removal of", &name)?;
        // Not under the lock: freeing gigabytes takes its time.
        self.device.remove(&name)?;
        self.has_removals.store(true, Ordering::Release);
        self.names.lock().blobs.remove(&id);
        Ok(())
    }

    fn list_blobs(&self) -> Result<Vec<BlobId>> {
        Ok(self.names.lock().blobs.iter().copied().collect())
    }

    fn sync_blob_names(&self) -> Result<()> {
        // A caller that finds nothing to do must have waited for the one that did it.
        let _names = self.names.lock();
        if self.has_new_blobs.swap(false, Ordering::AcqRel) {
            self.health.sync("the directory", || self.device.sync_directory())?;
        }
        Ok(())
    }

    fn note_recovered(&self, bytes: u64) {
        self.device.note_recovered(bytes);
    }

    fn sync_removals(&self) -> Result<()> {
        let _names = self.names.lock();
        if self.has_removals.swap(false, Ordering::AcqRel) {
            self.health.sync("the directory", || self.device.sync_directory())?;
        }
        Ok(())
    }

    fn free_bytes(&self) -> Option<u64> {
        self.device.free_bytes()
    }

    fn set_reserve_bytes(&self, reserve_bytes: u64) {
        self.health.reserve_bytes.store(reserve_bytes, Ordering::Relaxed);
    }

    fn set_lent_bytes(&self, lent_bytes: u64) {
        self.health.lent_bytes.store(lent_bytes, Ordering::Relaxed);
    }

    fn take_refused_blob_bytes(&self) -> u64 {
        self.health.refused_blob_bytes.swap(0, Ordering::Relaxed)
    }

    fn meta(&self) -> &dyn MetaMap {
        &self.meta
    }

    fn manifest(&self) -> Result<Option<Vec<u8>>> {
        let _names = self.names.lock();
        self.read_whole(MANIFEST)
    }

    fn put_manifest(&self, bytes: &[u8]) -> Result<()> {
        let _names = self.names.lock();
        self.write_whole(NEW_MANIFEST, MANIFEST, &mut |file| file.write(0, &[bytes]))
    }

    fn boot_id(&self) -> Option<BootId> {
        self.device.boot_id()
    }

    fn grows_ahead(&self) -> bool {
        self.device.grows_ahead()
    }

    fn place(&self, part: Part) -> String {
        self.device.place(&match part {
            Part::Datafile(id) => file_name(id, DATA_SUFFIX),
            Part::Blob(id) => blob_name(id),
            Part::Manifest => MANIFEST.to_owned(),
        })
    }

    fn put_derived(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let _one_at_a_time = self.derived.lock();
        let name = derived_name(number);
        self.health.check("creation of", &name)?;
        // What an earlier call has left that failed.
        let _ = self.device.remove(NEW_DERIVED);
        let file = self.device.create(NEW_DERIVED, Access::Whole)?;
        let leave_bytes = self.health.leaves(Room::Ordinary);
        file.write_leaving(0, &[bytes], leave_bytes)?;
        self.device.rename(NEW_DERIVED, &name)
    }

    fn derived(&self, number: u64) -> Result<Option<Vec<u8>>> {
        let file = match self.device.open(&derived_name(number), Access::Whole) {
            Err(StorageError::Missing(_)) => return Ok(None),
            opened => opened?,
        };
        let mut bytes = Vec::new();
        file.read(0, file.len()?, &mut |piece| bytes.extend_from_slice(piece))?;
        Ok(Some(bytes))
    }

    fn remove_derived(&self, number: u64) -> Result<()> {
        match self.device.remove(&derived_name(number)) {
            Err(StorageError::Missing(_)) => Ok(()),
            removed => removed,
        }
    }

    fn list_derived(&self) -> Result<Vec<u64>> {
        let names = self.device.list()?;
        let mut numbers: Vec<u64> =
            names.iter().filter_map(|name| parse_number(name, DERIVED_SUFFIX)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn note(&self, note: Note) -> Result<Option<Vec<u8>>> {
        let _names = self.names.lock();
        self.read_whole(note_name(note))
    }

    fn put_note(&self, note: Note, bytes: &[u8]) -> Result<()> {
        let _names = self.names.lock();
        self.write_whole(NEW_NOTE, note_name(note), &mut |file| file.write(0, &[bytes]))
    }

    fn remove_note(&self, note: Note) -> Result<()> {
        let _names = self.names.lock();
        self.health.check("removal of", note_name(note))?;
        match self.device.remove(note_name(note)) {
            Err(StorageError::Missing(_)) => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.health.sync("the directory", || self.device.sync_directory()),
        }
    }

    fn keep_salvage_note(&self) -> Result<String> {
        let _names = self.names.lock();
        let name = self.free_name((1_u64..).map(|number| format!("salvage-{number}.txt")))?;
        self.rename_durably(note_name(Note::Salvage), &name)?;
        Ok(self.device.place(&name))
    }

    fn copy_aside(&self, id: DatafileId, from: u64, to: u64) -> Result<String> {
        let source = self.open(id)?;
        let _names = self.names.lock();
        let name = self.free_name(numbered(file_name(id, &format!("{TORN_SUFFIX}{from}"))))?;
        self.write_whole(&file_name(id, TEMPORARY_SUFFIX), &name, &mut |file| {
            let mut at = from;
            while at < to {
                let len = COPY_PIECE_BYTES.min(to - at);
                let mut written = Ok(());
                source.read(at, len, &mut |bytes| written = file.write(at - from, &[bytes]))?;
                written?;
                at += len;
            }
            Ok(())
        })?;
        Ok(self.device.place(&name))
    }

    fn set_aside(&self, id: DatafileId) -> Result<String> {
        let mut names = self.names.lock();
        let to = self.free_name(numbered(file_name(id, DAMAGED_SUFFIX)))?;
        self.rename_durably(&file_name(id, DATA_SUFFIX), &to)?;
        names.listed.remove(&id);
        Ok(self.device.place(&to))
    }

    fn set_aside_blobs(&self, ids: &[BlobId]) -> Result<Vec<String>> {
        let mut names = self.names.lock();
        let taken: BTreeSet<String> = self.device.list()?.into_iter().collect();
        let mut places = Vec::new();
        for id in ids {
            let from = blob_name(*id);
            self.health.check("renaming of", &from)?;
            let to = numbered(format!("{from}{DAMAGED_SUFFIX}")).find(|name| !taken.contains(name));
            let to = to.unwrap_or_default();
            // One that came about may not be on the disk: the blob then has its own name again, and is set aside again.
            self.device.rename(&from, &to)?;
            names.blobs.remove(id);
            places.push(self.device.place(&to));
        }
        if !places.is_empty() {
            self.health.sync("the directory", || self.device.sync_directory())?;
        }
        Ok(places)
    }

    fn has_set_aside(&self) -> Result<bool> {
        Ok(self.device.list()?.iter().any(|name| is_set_aside(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Health, StorageError};

    #[test]
    fn sync_without_room_does_not_invite_another_try() {
        let health = Health::default();
        let outcome = health.sync("file", || Err(StorageError::Full("quota".into())));
        assert!(matches!(outcome, Err(StorageError::Io(_))), "{outcome:?}");
        assert!(health.sync("file", || panic!("a failed sync is never tried again")).is_err());
    }
}

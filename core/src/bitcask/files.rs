//! The datafiles of an open store and what is counted about them.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::record::{FileHeader, Salt};
use crate::storage::{self, Blob, Datafile, StorageError};

/// One datafile. Counters guide merge and may lag behind by a moment; that of the tombstones is exact once a datafile is sealed
/// and the commits that wrote into it have ended ([`super::live_records`] relies on it).
pub(super) struct File {
    pub(super) header: FileHeader,
    pub(super) header_len: u64,
    /// What the checksums of its records begin from.
    pub(super) salt: Salt,
    pub(super) datafile: Arc<dyn Datafile>,
    /// Bytes of header and records.
    pub(super) len: AtomicU64,
    /// Bytes of records that a later one has replaced or removed.
    pub(super) dead: AtomicU64,
    /// Bytes of tombstones.
    pub(super) tombstones: AtomicU64,
    /// Whether nothing will be appended any more.
    pub(super) is_sealed: AtomicBool,
    /// Whether merge found a record in it that it could not read.
    pub(super) is_damaged: AtomicBool,
    /// How many bytes from the start the stored hints cover.
    pub(super) hinted: AtomicU64,
}

/// A value in a datafile is stored as one in a blob is: it stays what it is as long as the file is held.
impl Blob for File {
    fn write(&self, _offset: u64, _bytes: &[u8]) -> storage::Result<()> {
        Err(StorageError::Refused("a datafile is only appended to".into()))
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        self.datafile.read(offset, len, visit)
    }

    fn set_len(&self, _len: u64) -> storage::Result<()> {
        Err(StorageError::Refused("a datafile is only appended to".into()))
    }

    fn len(&self) -> storage::Result<u64> {
        Ok(File::len(self))
    }

    fn sync(&self) -> storage::Result<()> {
        self.datafile.sync()
    }

    fn as_any(&self) -> &dyn Any {
        self.datafile.as_any()
    }
}

/// All datafiles by their ids.
pub(super) type FileTable = BTreeMap<u32, Arc<File>>;

impl File {
    pub(super) fn new(header: FileHeader, datafile: Arc<dyn Datafile>, len: u64) -> File {
        let header_len = header.to_bytes().len() as u64;
        let salt = header.salt();
        File {
            salt,
            header,
            header_len,
            datafile,
            len: AtomicU64::new(len),
            dead: AtomicU64::new(0),
            tombstones: AtomicU64::new(0),
            is_sealed: AtomicBool::new(false),
            is_damaged: AtomicBool::new(false),
            hinted: AtomicU64::new(0),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.header.id
    }

    /// Where in the order of replay the file stands.
    pub(super) fn order(&self) -> (u64, u32) {
        (self.header.base_sequence, self.header.id)
    }

    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    pub(super) fn dead(&self) -> u64 {
        self.dead.load(Ordering::Relaxed)
    }

    pub(super) fn add_dead(&self, bytes: u64) {
        self.dead.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Before a datafile is replayed, perhaps once more.
    pub(super) fn forget_counts(&self) {
        self.dead.store(0, Ordering::Relaxed);
        self.tombstones.store(0, Ordering::Relaxed);
    }

    pub(super) fn tombstones(&self) -> u64 {
        self.tombstones.load(Ordering::Relaxed)
    }

    pub(super) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    pub(super) fn is_sealed(&self) -> bool {
        self.is_sealed.load(Ordering::Acquire)
    }
}

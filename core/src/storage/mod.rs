//! The only door to disks: append-only datafiles, blobs (one huge value each) and a small atomic metadata map.
//!
//! The log ([`crate::bitcask`]) is written against [`Storage`]. A home whose disk looks like a directory of files
//! implements the smaller [`Device`] and gets its [`Storage`] from [`DeviceStorage`], which owns every rule about file
//! names and the order of syncs; so the simulated device tests the very code the gateway runs. A home without files
//! (SQLite rows, say) implements [`Storage`] itself.
//!
//! Nothing here knows what is in a datafile beyond its bytes.

#[doc(hidden)]
pub mod contract;
pub mod device;
pub mod memory;
pub mod simulated;
mod target;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::sync::Arc;
use std::task::Waker;

pub use device::{Access, Device, DeviceBlob, DeviceDatafile, DeviceFile, DeviceStorage};
pub use memory::{MemoryDevice, MemoryFile, MemoryMeta, MemoryStorage};
pub use simulated::{SimulatedStorage, Simulation};
pub use target::{DeviceTarget, Progress, Taken, Target};

/// The number of a datafile, which is never used twice in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatafileId(pub u32);

/// The number of a blob, which is never used twice in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub u64);

/// One run of a machine, from the moment it gets power until it loses it: as long as the id stays the same, everything
/// that a process left in the operating system is still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootId(pub [u8; 16]);

/// A part of a store that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A datafile.
    Datafile(DatafileId),
    /// A blob.
    Blob(BlobId),
    /// The manifest.
    Manifest,
}

/// A small file of recovery's own beside a store. It is no part of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A start has refused a damaged store, and in which run of the machine.
    Refused,
    /// A salvage that has begun: which datafiles it replaces, and what is lost.
    Salvage,
    /// A salvage has ended, and what its losses mean for other keys was not mended yet.
    Unmended,
}

/// What a disk can do wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// The device is full; nothing was written, and the call may be made again later.
    #[error("no space left on the device ({0})")]
    Full(String),
    /// The process, or the system, has no file descriptors or no memory left; nothing was done, and the call may be made
    /// again later.
    #[error("out of resources: {0}")]
    Exhausted(String),
    /// The operation failed. After a failed append or sync nobody knows what the disk holds.
    #[error("input/output error: {0}")]
    Io(String),
    /// There is no such file, or it is shorter than asked for.
    #[error("missing: {0}")]
    Missing(String),
    /// Stored bytes are not those that were written; the text says which.
    #[error("{0}")]
    Damaged(String),
    /// The store may not be written (permissions, read-only mount) or is in use by another process.
    #[error("{0}")]
    Refused(String),
    /// The bytes are elsewhere and must be fetched first: the transaction runs again once they are here.
    #[error("not here yet")]
    NotHere,
    /// The bytes are elsewhere, and to wait for them would keep other connections waiting.
    #[error("takes long")]
    TakesLong,
    /// The storage cannot be reached at the moment; nothing was done.
    #[error("{0}")]
    Unavailable(String),
}

/// How much of a device's reserve ([`Storage::set_reserve_bytes`]) an append may use. The reserve is what a full device can be
/// freed with: removals and merge need a little room before they give much back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// None of it.
    Ordinary,
    /// Three eighths: a commit that only takes away. What is lent to a merge at the moment does not count, because the merge
    /// gives it back.
    TakingAway,
    /// Three quarters: merge, and the seal and the header with which a datafile ends and begins. The last quarter is left to
    /// the metadata map.
    Merging,
}

impl Room {
    /// The bytes of a reserve that must stay free while so many are lent to a merge.
    pub fn leaves(self, reserve_bytes: u64, lent_bytes: u64) -> u64 {
        let least = reserve_bytes / 4;
        match self {
            Room::Ordinary => reserve_bytes,
            Room::TakingAway => (reserve_bytes / 8 * 5).saturating_sub(lent_bytes).max(least),
            Room::Merging => least,
        }
    }
}

/// Shorthand for results of storage.
pub type Result<T> = std::result::Result<T, StorageError>;

/// One append-only datafile. Shared by readers; appends, cuts and syncs are each made by one caller at a time.
pub trait Datafile: Send + Sync {
    /// Appends `parts`, concatenated, at `offset`, which is where the last append ended. On [`StorageError::Full`] the
    /// same offset may be used again. When the call returns the bytes are in the operating system: the end of the
    /// process does not lose them, the end of power may.
    fn append(&self, offset: u64, parts: &[&[u8]]) -> Result<()>;

    /// The same for an append that may use a part of the reserve. A home without a reserve makes no difference.
    fn append_within(&self, offset: u64, parts: &[&[u8]], _room: Room) -> Result<()> {
        self.append(offset, parts)
    }

    /// Shows `len` bytes at `offset`, in one piece.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Makes everything appended so far survive the loss of power. A failed sync must never be tried again: the
    /// operating system may have forgotten the bytes and would report success.
    fn sync(&self) -> Result<()>;

    /// Cuts the file to `len` bytes; all that is left of it, unsynced appends included, survives the loss of power then.
    fn cut(&self, len: u64) -> Result<()>;

    /// For a host that knows a shorter way from its own kind of datafile to a socket.
    fn as_any(&self) -> &dyn Any;

    /// Length in bytes; may include preallocated zeros after the last append of an earlier process.
    fn len(&self) -> Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// One huge value outside the log. Shared by readers; written by one caller at a time, and never below a length that
/// a reader knows.
pub trait Blob: Send + Sync {
    /// Writes `bytes` at `offset`; zeros fill what lies between the old end and there. On [`StorageError::Full`] nothing
    /// below `offset` has changed.
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Shows `len` bytes at `offset` in pieces, in order.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// Cuts or extends (with zeros) the blob to `len` bytes.
    fn set_len(&self, len: u64) -> Result<()>;

    /// Length in bytes.
    fn len(&self) -> Result<u64>;

    /// Whether the blob has no bytes.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Makes contents and length survive the loss of power; never tried again after it failed. The name does with
    /// [`Storage::sync_blob_names`].
    fn sync(&self) -> Result<()>;

    /// Whether more may be written at the moment without holding ever more in memory; if not, the waker is woken when that
    /// changes. A blob on a disk always takes more.
    fn takes_more(&self, _waker: &Waker) -> bool {
        true
    }

    /// Says that `len` bytes at `offset` are about to be read, one part after the other, so that a blob which is elsewhere can
    /// be fetched together. A hint.
    fn announce(&self, _offset: u64, _len: u64) {}

    /// Whether a read of `len` bytes at `offset` keeps nobody waiting; if not, the bytes are being fetched, and the waker is woken
    /// once they are here. A blob on a disk can always be read.
    fn is_at_hand(&self, _offset: u64, _len: u64, _waker: &Waker) -> bool {
        true
    }

    /// For a host that knows a shorter way from its own kind of blob to a socket.
    fn as_any(&self) -> &dyn Any;
}

/// One change of the metadata map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaOp {
    /// Sets a key.
    Put(Vec<u8>, Vec<u8>),
    /// Removes a key, if it is there.
    Delete(Vec<u8>),
}

/// A small ordered map beside the datafiles: manifest, hint blocks, catalogs. What it says about keys can always be
/// made again from the datafiles.
pub trait MetaMap: Send + Sync {
    /// The value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Shows all pairs whose key begins with `prefix`, in order, until the visitor returns false.
    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()>;

    /// Makes all changes or none. When the call returns they survive the loss of power.
    fn apply(&self, changes: &[MetaOp]) -> Result<()>;

    /// Like [`MetaMap::apply`], but the loss of power may undo it (whole, and only together with all later ones): for
    /// what can be made again, such as hint blocks. A later `apply` makes it durable.
    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()>;

    /// Called every so often by homes with maintenance: a map that was not used for a while may give back what it holds
    /// for speed. Changes nothing in it.
    fn rest(&self) -> Result<()> {
        Ok(())
    }
}

/// What a home provides for a store.
pub trait Storage: Send + Sync {
    /// Creates a datafile that begins with `header`. When the call returns, file and header survive the loss of power;
    /// a crash before leaves no file, never one without its header.
    fn create(&self, id: DatafileId, header: &[u8]) -> Result<Arc<dyn Datafile>>;

    /// Like [`Storage::create`], but the file stays unlisted until [`Storage::publish`]: a crash before removes it.
    fn create_hidden(&self, id: DatafileId, header: &[u8]) -> Result<Arc<dyn Datafile>>;

    /// Syncs a hidden datafile and then lists it, durably.
    fn publish(&self, id: DatafileId) -> Result<()>;

    /// Opens a listed datafile.
    fn open(&self, id: DatafileId) -> Result<Arc<dyn Datafile>>;

    /// Removes a datafile; handles that are open still read it. Not durable by itself: after a crash it may be back. The
    /// next create or publish that returns makes it durable.
    fn remove(&self, id: DatafileId) -> Result<()>;

    /// The listed datafiles in order of their ids.
    fn list(&self) -> Result<Vec<DatafileId>>;

    /// Creates an empty blob. A crash may leave it, or any part of it, until its name and contents were synced.
    fn create_blob(&self, id: BlobId) -> Result<Arc<dyn Blob>>;

    /// Opens a blob.
    fn open_blob(&self, id: BlobId) -> Result<Arc<dyn Blob>>;

    /// Removes a blob; handles that are open still read it. Not durable by itself.
    fn remove_blob(&self, id: BlobId) -> Result<()>;

    /// The blobs in order of their ids.
    fn list_blobs(&self) -> Result<Vec<BlobId>>;

    /// Makes the names of all blobs created before the call survive the loss of power.
    fn sync_blob_names(&self) -> Result<()>;

    /// Called while a store is opened: so many bytes of a datafile are done. For a home that shows how far it is.
    fn note_recovered(&self, _bytes: u64) {}

    /// Makes removals of datafiles and blobs survive the loss of power. Some devices free their space only then.
    fn sync_removals(&self) -> Result<()> {
        Ok(())
    }

    /// Bytes that are free on the device, the reserve included; `None` where nobody knows.
    fn free_bytes(&self) -> Option<u64> {
        None
    }

    /// Sets the bytes that ordinary writes leave free on the device; see [`Room`]. Without a call that is none. Not for homes
    /// that do not know how much is free.
    fn set_reserve_bytes(&self, _reserve_bytes: u64) {}

    /// Sets how much the merge under way takes until it removes its inputs.
    fn set_lent_bytes(&self, _lent_bytes: u64) {}

    /// The longest write to a blob that was refused as full since the last call, in bytes; 0 if none was.
    fn take_refused_blob_bytes(&self) -> u64 {
        0
    }

    /// The metadata map.
    fn meta(&self) -> &dyn MetaMap;

    /// The manifest that was written last, if there is one.
    fn manifest(&self) -> Result<Option<Vec<u8>>>;

    /// Replaces the manifest. When the call returns the new one survives the loss of power; a crash before leaves either.
    /// On [`StorageError::Full`] the old one is still there.
    fn put_manifest(&self, bytes: &[u8]) -> Result<()>;

    /// Whether a datafile is made longer before anything is appended to it, so that a killed process leaves no frame that
    /// ends behind its datafile.
    fn grows_ahead(&self) -> bool {
        false
    }

    /// The present run of the machine; `None` where nobody knows, so that power may have been lost at any time. A home
    /// that never loses what it has accepted gives the same id always.
    fn boot_id(&self) -> Option<BootId>;

    /// Where an operator finds a part of the store: a path on the gateway.
    fn place(&self, part: Part) -> String;

    /// Writes a file of bytes that can be made again from the datafiles, in place of the one with this number. A crash leaves the old one,
    /// the new one or none, and the loss of power anything: who reads it checks it. On [`StorageError::Full`] the old one is still there.
    fn put_derived(&self, _number: u64, _bytes: &[u8]) -> Result<()> {
        Err(StorageError::Refused("this storage holds no derived files".into()))
    }

    /// The bytes of a derived file, if it is there.
    fn derived(&self, _number: u64) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Removes a derived file, if it is there. Not durable.
    fn remove_derived(&self, _number: u64) -> Result<()> {
        Ok(())
    }

    /// The numbers of the derived files in rising order.
    fn list_derived(&self) -> Result<Vec<u64>> {
        Ok(Vec::new())
    }

    /// A note, if there is one. A home that never salvages needs none.
    fn note(&self, _note: Note) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Writes a note in place of the one before. When the call returns it survives the loss of power; a crash before leaves
    /// either, or none.
    fn put_note(&self, _note: Note, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Removes a note, durably, if there is one.
    fn remove_note(&self, _note: Note) -> Result<()> {
        Ok(())
    }

    /// Turns the note of a salvage into a report for an operator, durably; returns its place. Fails if there is none.
    fn keep_salvage_note(&self) -> Result<String> {
        Err(StorageError::Missing("a note of a salvage".into()))
    }

    /// Copies the bytes of a listed datafile from `from` to below `to` to a file of their own, durably; returns its place.
    /// The copy is no part of the store, and replaces no earlier one.
    fn copy_aside(&self, id: DatafileId, from: u64, to: u64) -> Result<String>;

    /// Takes a datafile out of the store without removing it, durably; returns where it is from then on. It replaces no
    /// earlier one.
    fn set_aside(&self, id: DatafileId) -> Result<String>;

    /// The same for blobs, in order of the ids that are given.
    fn set_aside_blobs(&self, ids: &[BlobId]) -> Result<Vec<String>> {
        match ids.first() {
            Some(id) => Err(StorageError::Refused(format!("blob {} cannot be set aside here", id.0))),
            None => Ok(Vec::new()),
        }
    }

    /// Whether parts of a store were set aside here, or cut off and copied, and still lie there.
    fn has_set_aside(&self) -> Result<bool> {
        Ok(false)
    }
}

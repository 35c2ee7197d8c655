//! Where a backup goes: a directory of its own in which a store can be opened once the manifest is there.
//!
//! A file that never changes again is linked where the device can do that, and copied otherwise. The manifest comes last,
//! when everything that it lists is on the disk under its name. So a directory without one is a backup that did not come
//! to its end.

use super::device::{self, Access, Device, DeviceFile};
use super::{Blob, BlobId, Datafile, DatafileId, Result, StorageError};

/// Files are copied in pieces of so many bytes.
const COPY_PIECE_BYTES: u64 = 1024 * 1024;

/// How a file came into a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is the source's own file under another name: what is written to one is in the other.
    Linked,
    /// It is a file of its own.
    Copied,
}

/// A backup that is being written.
pub trait Target {
    /// Says how many bytes are going to come, before they do.
    fn expect_bytes(&mut self, bytes: u64);

    /// Takes the first `len` bytes of a datafile that is sealed and lies at `place`.
    ///
    /// # Errors
    /// The source cannot be read, the target is full or fails, or the backup is to be given up.
    fn take_datafile(
        &mut self,
        id: DatafileId,
        place: &str,
        source: &dyn Datafile,
        len: u64,
    ) -> Result<Taken>;

    /// Takes the first `len` bytes of a blob that lies at `place`; the target's may be longer.
    ///
    /// # Errors
    /// The source cannot be read, the target is full or fails, or the backup is to be given up.
    fn take_blob(&mut self, id: BlobId, place: &str, source: &dyn Blob, len: u64) -> Result<Taken>;

    /// Makes everything that was taken durable, and then the manifest.
    ///
    /// # Errors
    /// The target is full or fails. There is no backup then.
    fn finish(&mut self, manifest: &[u8]) -> Result<()>;
}

/// How far a backup has come, for [`DeviceTarget`]: bytes that are done, and those that there are. False gives the backup up.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u64) -> bool;

/// [`Target`] on an empty [`Device`].
pub struct DeviceTarget<'p, D: Device> {
    device: D,
    progress: Progress<'p>,
    done_bytes: u64,
    all_bytes: u64,
}

/// Shows a part of a source.
type Read<'r> = &'r dyn Fn(u64, u64, &mut dyn FnMut(&[u8])) -> Result<()>;

impl<'p, D: Device> DeviceTarget<'p, D> {
    /// A backup in a directory of which nothing else makes use.
    pub fn new(device: D, progress: Progress<'p>) -> DeviceTarget<'p, D> {
        DeviceTarget { device, progress, done_bytes: 0, all_bytes: 0 }
    }

    fn note(&mut self, bytes: u64) -> Result<()> {
        self.done_bytes += bytes;
        match (self.progress)(self.done_bytes, self.all_bytes) {
            true => Ok(()),
            false => Err(StorageError::Refused("the backup was given up".into())),
        }
    }

    fn take(&mut self, name: &str, place: &str, len: u64, read: Read<'_>) -> Result<Taken> {
        if self.device.link(place, name)? {
            self.note(len)?;
            return Ok(Taken::Linked);
        }
        let file = self.device.create(name, Access::Whole)?;
        let mut at = 0;
        while at < len {
            let piece = COPY_PIECE_BYTES.min(len - at);
            let (mut end, mut written) = (at, Ok(()));
            read(at, piece, &mut |bytes| {
                if written.is_ok() {
                    written = file.write(end, &[bytes]);
                    end += bytes.len() as u64;
                }
            })?;
            written?;
            at += piece;
            self.note(piece)?;
        }
        file.sync()?;
        Ok(Taken::Copied)
    }
}

impl<D: Device> Target for DeviceTarget<'_, D> {
    fn expect_bytes(&mut self, bytes: u64) {
        self.all_bytes = bytes;
    }

    fn take_datafile(
        &mut self,
        id: DatafileId,
        place: &str,
        source: &dyn Datafile,
        len: u64,
    ) -> Result<Taken> {
        let read = |offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])| source.read(offset, len, visit);
        self.take(&device::datafile_name(id), place, len, &read)
    }

    fn take_blob(&mut self, id: BlobId, place: &str, source: &dyn Blob, len: u64) -> Result<Taken> {
        let read = |offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])| source.read(offset, len, visit);
        self.take(&device::blob_name(id), place, len, &read)
    }

    fn finish(&mut self, manifest: &[u8]) -> Result<()> {
        // The names of what the manifest lists, before its own.
        self.device.sync_directory()?;
        let file = self.device.create(device::NEW_MANIFEST, Access::Whole)?;
        file.write(0, &[manifest])?;
        file.sync()?;
        self.device.rename(device::NEW_MANIFEST, device::MANIFEST)?;
        self.device.sync_directory()
    }
}

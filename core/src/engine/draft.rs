//! A blob that is being written and that no root refers to yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use super::Result;
use super::blob::{BlobRef, BlobStore, blob_error};
use super::checked::Checked;
use super::sums::{Page, SumWriter, Sums};
use crate::storage::{Blob, BlobId};

/// A blob that is being written and that no root refers to. Dropping it removes the blob. It holds four bytes of checksums
/// for each 16 KiB of the value.
pub struct Draft {
    store: Arc<dyn BlobStore>,
    blob: Arc<dyn Blob>,
    id: BlobId,
    sums: SumWriter,
    is_kept: AtomicBool,
}

impl Draft {
    /// An empty one.
    pub fn new(store: Arc<dyn BlobStore>) -> Result<Draft> {
        let (id, blob) = store.create()?;
        Ok(Draft { store, blob, id, sums: SumWriter::new(), is_kept: AtomicBool::new(false) })
    }

    /// Writes on at the end.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.blob.write(self.sums.len(), bytes).map_err(blob_error)?;
        self.sums.write(bytes);
        Ok(())
    }

    /// Whether it takes more at the moment; if not, the waker is woken when it does.
    pub fn takes_more(&self, waker: &Waker) -> bool {
        self.blob.takes_more(waker)
    }

    /// Which blob it is.
    pub fn id(&self) -> BlobId {
        self.id
    }

    /// Length of the value in bytes.
    pub fn byte_count(&self) -> u64 {
        self.sums.len()
    }

    /// The reference for a root that takes the blob over, together with its pages of checksums.
    pub fn reference(&self) -> BlobRef {
        BlobRef { id: self.id, len: self.sums.len(), checksum: self.sums.whole(), has_sums: true }
    }

    /// The pages of the checksums of its pieces.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.sums.pages()
    }

    /// The blob.
    pub fn blob(&self) -> &Arc<dyn Blob> {
        &self.blob
    }

    /// The blob for a reader, who gets what was written or an error. `key` is the key it is for.
    pub(super) fn checked(&self, key: &[u8]) -> Checked {
        let len = self.byte_count();
        let mut sums = Sums::of_zeros((0, len));
        self.pages().for_each(|(number, page)| sums.take_page(number, page));
        Checked::new((self.store.clone(), self.id, key), self.blob.clone(), len, sums)
    }

    /// Says that a committed root refers to it now.
    pub(crate) fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::Relaxed) {
            self.store.discard(self.id);
        }
    }
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Draft({:?}, {} bytes)", self.id, self.byte_count())
    }
}

//! Huge values outside of records: what a root says of its blob, and a blob that no root refers to yet.
//!
//! A committed value never changes inside its blob. APPEND writes behind the end that every committed root knows, and
//! what is overwritten in the middle is kept beside the blob as *patches*: subkeys of the string's key, each a block
//! of [`PATCH_BYTES`] under its number. So a crash, a transaction that fails and a reader that is still sending all
//! see the value that was committed.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{EngineError, Result};
use crate::storage::{self, Blob, BlobId, StorageError};

/// Overwriting in the middle of a blob writes whole blocks of this many bytes beside it: few enough that setting one bit
/// costs about a microsecond, enough that the keydir holds less than a hundredth of what is overwritten.
pub const PATCH_BYTES: u64 = 4096;

/// Bytes of [`BlobRef::to_bytes`].
const BLOB_REF_BYTES: usize = 20;

/// A root's reference to its blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobRef {
    /// Which blob.
    pub id: BlobId,
    /// Length of the value in bytes; the blob may be longer.
    pub len: u64,
    /// CRC-32C of these bytes of the blob, patches not counted.
    pub checksum: u32,
}

impl BlobRef {
    /// The bytes that a root's record holds in place of the value: id (8), length (8), checksum (4), little-endian.
    pub fn to_bytes(self) -> [u8; BLOB_REF_BYTES] {
        let mut bytes = [0; BLOB_REF_BYTES];
        bytes[..8].copy_from_slice(&self.id.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.len.to_le_bytes());
        bytes[16..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// Reads what [`BlobRef::to_bytes`] wrote.
    pub fn read(bytes: &[u8]) -> Option<BlobRef> {
        let (id, rest) = bytes.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let checksum = u32::from_le_bytes(*rest.first_chunk()?);
        Some(BlobRef { id: BlobId(u64::from_le_bytes(*id)), len: u64::from_le_bytes(*len), checksum })
    }

    /// The reference after `bytes` were written behind the end.
    pub fn extended(self, bytes: &[u8]) -> BlobRef {
        let checksum = crc32c::crc32c_append(self.checksum, bytes);
        BlobRef { len: self.len + bytes.len() as u64, checksum, ..self }
    }

    /// The reference after `count` zeros were written behind the end.
    pub fn extended_by_zeros(self, count: u64) -> BlobRef {
        let checksum = append_zeros(self.checksum, count);
        BlobRef { len: self.len + count, checksum, ..self }
    }
}

/// The checksum of what `checksum` stands for with so many zeros behind it, in steps of doubling length.
fn append_zeros(mut checksum: u32, count: u64) -> u32 {
    // The checksum of 2^bit zeros.
    let mut zeros = crc32c::crc32c(&[0]);
    for bit in 0..u64::BITS {
        let run = 1_u64 << bit;
        if count & run != 0 {
            checksum = combine(checksum, zeros, run);
        }
        if run > count >> 1 {
            break;
        }
        zeros = combine(zeros, zeros, run);
    }
    checksum
}

fn combine(mut before: u32, after: u32, after_len: u64) -> u32 {
    // A 32-bit machine cannot count further at once.
    const STEP: usize = 1 << 31;
    let mut left = after_len;
    while usize::try_from(left).is_err() {
        before = crc32c::crc32c_combine(before, 0, STEP);
        left -= STEP as u64;
    }
    crc32c::crc32c_combine(before, after, left as usize)
}

/// Where an engine's blobs come from.
pub trait BlobStore: Send + Sync {
    /// A new, empty blob. It is the caller's until a commit refers to it.
    fn create(&self) -> Result<(BlobId, Arc<dyn Blob>)>;

    /// Removes a blob that no commit ever referred to.
    fn discard(&self, id: BlobId);
}

/// The engine's error for a storage's error while a blob is written.
pub fn blob_error(error: StorageError) -> EngineError {
    match error {
        StorageError::Full(what) => EngineError::Full(what),
        StorageError::Exhausted(what) => EngineError::Exhausted(what),
        error => EngineError::Damaged(error.to_string()),
    }
}

/// Reads a part of a blob for a visitor that may fail.
pub(super) fn read_pieces(
    source: &dyn Blob,
    (offset, len): (u64, u64),
    visit: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut outcome = Ok(());
    let read = source.read(offset, len, &mut |piece| {
        if outcome.is_ok() {
            outcome = visit(piece);
        }
    });
    read.map_err(blob_error)?;
    outcome
}

/// A blob that is being written and that no root refers to. Dropping it removes the blob.
pub struct Draft {
    store: Arc<dyn BlobStore>,
    blob: Arc<dyn Blob>,
    reference: BlobRef,
    is_kept: AtomicBool,
}

impl Draft {
    /// An empty one.
    pub fn new(store: Arc<dyn BlobStore>) -> Result<Draft> {
        let (id, blob) = store.create()?;
        let reference = BlobRef { id, len: 0, checksum: 0 };
        Ok(Draft { store, blob, reference, is_kept: AtomicBool::new(false) })
    }

    /// Writes on at the end.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.blob.write(self.reference.len, bytes).map_err(blob_error)?;
        self.reference = self.reference.extended(bytes);
        Ok(())
    }

    /// The reference for a root that takes the blob over.
    pub fn reference(&self) -> BlobRef {
        self.reference
    }

    /// The blob.
    pub fn blob(&self) -> &Arc<dyn Blob> {
        &self.blob
    }

    /// Says that a committed root refers to it now.
    pub(super) fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::Relaxed) {
            self.store.discard(self.reference.id);
        }
    }
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Draft({:?})", self.reference)
    }
}

/// Where the bytes of a patch are.
pub trait PatchSource: Send + Sync {
    /// Shows the bytes of a patch.
    fn show(&self, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()>;

    /// How many bytes there are.
    fn byte_count(&self) -> u64;
}

/// A blob as seen through its patches, for readers only.
pub struct Patched<P> {
    base: Arc<dyn Blob>,
    len: u64,
    /// By number of the block.
    patches: BTreeMap<u64, P>,
}

impl<P: PatchSource> Patched<P> {
    /// The first `len` bytes of `base` with these patches.
    pub fn new(base: Arc<dyn Blob>, len: u64, patches: BTreeMap<u64, P>) -> Patched<P> {
        Patched { base, len, patches }
    }
}

impl<P: PatchSource + 'static> Blob for Patched<P> {
    fn write(&self, _offset: u64, _bytes: &[u8]) -> storage::Result<()> {
        Err(StorageError::Refused("a patched value is only read".into()))
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        let end = offset.checked_add(len).filter(|end| *end <= self.len);
        let end = end.ok_or_else(|| StorageError::Missing(format!("{len} bytes at {offset}")))?;
        let mut at = offset;
        for (number, patch) in self.patches.range(offset / PATCH_BYTES..) {
            let (from, to) = patch_range(*number, patch.byte_count(), (at, end));
            if from >= end {
                break;
            }
            if to <= from {
                continue;
            }
            self.base.read(at, from - at, visit)?;
            patch.show(&mut |bytes| {
                let start = (from - number * PATCH_BYTES) as usize;
                visit(bytes.get(start..start + (to - from) as usize).unwrap_or_default());
            })?;
            at = to;
        }
        self.base.read(at, end - at, visit)
    }

    fn set_len(&self, _len: u64) -> storage::Result<()> {
        Err(StorageError::Refused("a patched value is only read".into()))
    }

    fn len(&self) -> storage::Result<u64> {
        Ok(self.len)
    }

    fn sync(&self) -> storage::Result<()> {
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The part of `range` that a patch covers; empty (its end not beyond its begin) if none.
pub(super) fn patch_range(number: u64, patch_len: u64, range: (u64, u64)) -> (u64, u64) {
    let from = number.saturating_mul(PATCH_BYTES);
    (from.max(range.0), from.saturating_add(patch_len).min(range.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_change_the_checksum_as_bytes_do() {
        let zeros = vec![0; 70_001];
        for count in [0, 1, 2, 3, 7, 8, 255, 4096, 65_537, 70_001] {
            let wanted = crc32c::crc32c_append(crc32c::crc32c(b"before"), &zeros[..count]);
            assert_eq!(append_zeros(crc32c::crc32c(b"before"), count as u64), wanted, "{count} zeros");
        }
        let twice = append_zeros(append_zeros(9, 5 << 30), 1 << 40);
        assert_eq!(append_zeros(9, (5 << 30) + (1 << 40)), twice, "zeros without end");
    }

    #[test]
    fn reference_reads_back() {
        let reference = BlobRef { id: BlobId(u64::MAX), len: 1 << 40, checksum: 7 };
        assert_eq!(BlobRef::read(&reference.to_bytes()), Some(reference));
        assert_eq!(BlobRef::read(&reference.to_bytes()[1..]), None);
    }
}

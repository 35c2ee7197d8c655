//! Huge values outside of records: what a root says of its blob, and a blob as seen through its patches.
//!
//! A committed value never changes inside its blob. APPEND writes behind the end that every committed root knows, and
//! what is overwritten in the middle is kept beside the blob as *patches*: subkeys of the string's key, each a block
//! of [`PATCH_BYTES`] under its number. So a crash, a transaction that fails and a reader that is still sending all
//! see the value that was committed. Whether the blob still holds what was written is known by the checksums of its
//! pieces ([`super::sums`]), which are subkeys, too.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Waker;

use smallvec::SmallVec;

use super::checksum::{self, append_zeros};
use super::{Db, EngineError, Result};
use crate::storage::{self, Blob, BlobId, StorageError};

/// Overwriting in the middle of a blob writes whole blocks of this many bytes beside it: few enough that setting one bit
/// costs about a microsecond, enough that the keydir holds less than a hundredth of what is overwritten.
pub const PATCH_BYTES: u64 = 4096;

/// A blob is checked in pieces of this many bytes: few enough that reading one bit costs about a microsecond more than it
/// would without, enough that the keydir holds less than a two thousandth of the value for the checksums.
pub const SUM_PIECE_BYTES: u64 = 16 * 1024;

/// Bytes of [`BlobRef::to_bytes`] without the last one, which roots of older builds lack.
const BLOB_REF_BYTES: usize = 20;

/// The last byte: the key has the checksums of the blob's pieces.
const HAS_SUMS: u8 = 2;

/// The same of a build whose pieces were longer. They are not used: such a value is read as an older one without them.
const HAS_LONGER_SUMS: u8 = 1;

/// A root's reference to its blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobRef {
    /// Which blob.
    pub id: BlobId,
    /// Length of the value in bytes; the blob may be longer.
    pub len: u64,
    /// CRC-32C of these bytes of the blob, patches not counted.
    pub checksum: u32,
    /// Whether the key has the checksums of the blob's pieces. Roots of older builds say no; the first write by this one
    /// makes them.
    pub has_sums: bool,
}

impl BlobRef {
    /// The bytes that a root's record holds in place of the value: id (8), length (8), checksum (4), little-endian, and 2
    /// if there are checksums of pieces.
    pub fn to_bytes(self) -> SmallVec<[u8; BLOB_REF_BYTES + 1]> {
        let mut bytes = SmallVec::new();
        bytes.extend_from_slice(&self.id.0.to_le_bytes());
        bytes.extend_from_slice(&self.len.to_le_bytes());
        bytes.extend_from_slice(&self.checksum.to_le_bytes());
        if self.has_sums {
            bytes.push(HAS_SUMS);
        }
        bytes
    }

    /// Reads what [`BlobRef::to_bytes`] wrote.
    pub fn read(bytes: &[u8]) -> Option<BlobRef> {
        let (id, rest) = bytes.split_first_chunk()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (checksum, rest) = rest.split_first_chunk()?;
        let has_sums = match rest {
            [] | [HAS_LONGER_SUMS] => false,
            [HAS_SUMS] => true,
            _ => return None,
        };
        let (id, len) = (BlobId(u64::from_le_bytes(*id)), u64::from_le_bytes(*len));
        Some(BlobRef { id, len, checksum: u32::from_le_bytes(*checksum), has_sums })
    }

    /// The reference after `bytes` were written behind the end.
    pub fn extended(self, bytes: &[u8]) -> BlobRef {
        let checksum = checksum::append(self.checksum, bytes);
        BlobRef { len: self.len + bytes.len() as u64, checksum, ..self }
    }

    /// The reference after `count` zeros were written behind the end.
    pub fn extended_by_zeros(self, count: u64) -> BlobRef {
        let checksum = append_zeros(self.checksum, count);
        BlobRef { len: self.len + count, checksum, ..self }
    }
}

/// Where an engine's blobs come from.
pub trait BlobStore: Send + Sync {
    /// A new, empty blob. It is the caller's until a commit refers to it.
    fn create(&self) -> Result<(BlobId, Arc<dyn Blob>)>;

    /// Removes a blob that no commit ever referred to.
    fn discard(&self, id: BlobId);

    /// Whether the file of a committed blob is another store's as well, so that nothing may be written to it.
    fn is_shared(&self, _id: BlobId) -> bool {
        false
    }

    /// Where an operator finds a blob: a path, on a home that has files.
    fn place(&self, id: BlobId) -> String {
        format!("blob {}", id.0)
    }
}

/// Bytes of a key that an error shows.
const KEY_SHOWN_BYTES: usize = 128;

/// The text of an error about a value that is not there as it was written.
pub(super) fn damage(blobs: &dyn BlobStore, id: BlobId, key: &[u8], what: &str) -> String {
    let (shown, more) = match key.get(..KEY_SHOWN_BYTES) {
        Some(shown) if shown.len() < key.len() => (shown, "..."),
        _ => (key, ""),
    };
    format!("the value of \"{}{more}\" cannot be read: {}: {what}", shown.escape_ascii(), blobs.place(id))
}

/// The text of an error about a record of a key.
pub(super) fn unreadable(db: Db, key: &[u8], what: &str) -> String {
    let shown = key.get(..KEY_SHOWN_BYTES).unwrap_or(key).escape_ascii();
    let rest = if key.len() > KEY_SHOWN_BYTES { "…" } else { "" };
    format!("key \"{shown}{rest}\" of database {db} cannot be read: {what}")
}

/// The engine's error for a storage's error while a blob is written.
pub fn blob_error(error: StorageError) -> EngineError {
    match error {
        StorageError::Full(what) => EngineError::Full(what),
        StorageError::Exhausted(what) => EngineError::Exhausted(what),
        StorageError::NotHere => EngineError::NotHere,
        StorageError::TakesLong => EngineError::TakesLong,
        StorageError::Unavailable(what) => EngineError::Unavailable(what),
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
    source.announce(offset, len);
    let read = source.read(offset, len, &mut |piece| {
        if outcome.is_ok() {
            outcome = visit(piece);
        }
    });
    read.map_err(blob_error)?;
    outcome
}

/// Where the bytes of a patch are.
pub trait PatchSource: Send + Sync {
    /// Shows the bytes of a patch.
    fn show(&self, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()>;

    /// How many bytes there are.
    fn byte_count(&self) -> u64;
}

/// A blob as seen through its patches, for readers only.
pub struct Patched {
    /// For errors.
    owner: (Db, Box<[u8]>),
    base: Arc<dyn Blob>,
    len: u64,
    /// By number of the block.
    patches: BTreeMap<u64, Box<dyn PatchSource>>,
}

impl Patched {
    /// The first `len` bytes of `base` with these patches. Errors about a patch name the key.
    pub fn new<P: PatchSource + 'static>(
        (db, key): (Db, &[u8]),
        base: Arc<dyn Blob>,
        len: u64,
        patches: BTreeMap<u64, P>,
    ) -> Patched {
        let boxed = |(number, patch)| (number, Box::new(patch) as Box<dyn PatchSource>);
        let patches = patches.into_iter().map(boxed).collect();
        Patched { owner: (db, key.into()), base, len, patches }
    }

    /// The error of a patch that cannot be read.
    #[cold]
    fn unreadable(&self, error: StorageError) -> StorageError {
        let (db, key) = &self.owner;
        StorageError::Damaged(unreadable(*db, key, &error.to_string()))
    }

    /// The blob behind the patches, for a home that knows a shorter way from it to a socket.
    pub fn base(&self) -> &dyn Blob {
        &*self.base
    }

    /// How many bytes from `offset` on, up to `len`, are those of the blob behind the patches.
    pub fn unpatched_bytes(&self, offset: u64, len: u64) -> u64 {
        let end = offset.saturating_add(len);
        let first = self.patches_in(offset, end).next();
        first.map_or(end, |(from, _, _)| from) - offset
    }

    /// The parts of a range that are patched, each with the offset in its patch at which it begins.
    fn patches_in(&self, from: u64, end: u64) -> impl Iterator<Item = (u64, u64, &dyn PatchSource)> {
        let blocks = self.patches.range(from / PATCH_BYTES..end.div_ceil(PATCH_BYTES));
        let parts = blocks.map(move |(number, patch)| {
            let (begin, stop) = patch_range(*number, patch.byte_count(), (from, end));
            (begin, stop, &**patch)
        });
        // A patch ends where the value ended when it was made.
        parts.filter(|(begin, stop, _)| begin < stop)
    }

    /// Shows bytes without patches, or those of one piece of the base. That piece is read and compared once, however many
    /// patches lie in it, and not at all if they hide it.
    fn read_patched(&self, (from, end): (u64, u64), visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        let patched_bytes: u64 = self.patches_in(from, end).map(|(begin, stop, _)| stop - begin).sum();
        if patched_bytes == 0 {
            return self.base.read(from, end - from, visit);
        }
        // Lossless: at most a piece.
        let len = (end - from) as usize;
        let mut bytes = Vec::with_capacity(len);
        if patched_bytes < end - from {
            self.base.read(from, end - from, &mut |shown| bytes.extend_from_slice(shown))?;
        }
        bytes.resize(len, 0);
        for (begin, stop, patch) in self.patches_in(from, end) {
            let place = bytes.get_mut((begin - from) as usize..(stop - from) as usize).unwrap_or_default();
            let skipped = (begin % PATCH_BYTES) as usize;
            let shown = patch.show(&mut |shown| {
                let shown = shown.get(skipped..).unwrap_or_default();
                place.iter_mut().zip(shown).for_each(|(byte, patched)| *byte = *patched);
            });
            shown.map_err(|error| self.unreadable(error))?;
        }
        visit(&bytes);
        Ok(())
    }
}

impl Blob for Patched {
    fn write(&self, _offset: u64, _bytes: &[u8]) -> storage::Result<()> {
        Err(StorageError::Refused("a patched value is only read".into()))
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        let end = offset.checked_add(len).filter(|end| *end <= self.len);
        let end = end.ok_or_else(|| StorageError::Missing(format!("{len} bytes at {offset}")))?;
        let mut at = offset;
        while at < end {
            let piece_end = end.min((at / SUM_PIECE_BYTES + 1) * SUM_PIECE_BYTES);
            let plain_end = at + self.unpatched_bytes(at, end - at);
            // Whole pieces between patches are read together.
            let stop = match plain_end {
                _ if plain_end == end => end,
                _ if plain_end < piece_end => piece_end,
                _ => plain_end - plain_end % SUM_PIECE_BYTES,
            };
            self.read_patched((at, stop), visit)?;
            at = stop;
        }
        Ok(())
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

    fn announce(&self, offset: u64, len: u64) {
        self.base.announce(offset, len);
    }

    fn is_at_hand(&self, offset: u64, len: u64, waker: &Waker) -> bool {
        self.base.is_at_hand(offset, len, waker)
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
    fn reference_reads_back() {
        for has_sums in [false, true] {
            let reference = BlobRef { id: BlobId(u64::MAX), len: 1 << 40, checksum: 7, has_sums };
            let bytes = reference.to_bytes();
            assert_eq!(bytes.len(), 20 + usize::from(has_sums), "older roots keep their bytes");
            assert_eq!(BlobRef::read(&bytes), Some(reference));
            assert_eq!(BlobRef::read(&bytes[..19]), None);
            assert_eq!(BlobRef::read(&[&bytes, &[2, 2][..]].concat()), None, "of a later build");
            let without = BlobRef { has_sums: false, ..reference };
            assert_eq!(BlobRef::read(&[&bytes[..20], &[1]].concat()), Some(without), "longer pieces");
        }
    }
}

//! A blob of which every byte that is shown was compared with its checksum.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use super::blob::{BlobStore, SUM_PIECE_BYTES, damage};
use super::checksum;
use super::sums::Sums;
use crate::storage::{self, Blob, BlobId, StorageError};

/// Of a long part so many pieces are read at once: few enough to stay in the processor's cache from the reading over the
/// comparing to the use, enough that calls of the system do not count.
const PIECES_AT_ONCE: u64 = 8;

/// A part of a committed blob, for readers only. Whole pieces are read and compared before any byte of them is shown.
///
/// It stays what it is whatever is committed later: its checksums are about the bytes up to the end that it knows, and
/// those never change.
pub struct Checked {
    base: Arc<dyn Blob>,
    /// Length of the value in bytes; behind it the blob may be written to meanwhile.
    len: u64,
    sums: Sums,
    /// Whether all pieces with a checksum here were compared once.
    is_compared: AtomicBool,
    blobs: Arc<dyn BlobStore>,
    id: BlobId,
    key: Box<[u8]>,
}

impl Checked {
    /// The first `len` bytes of `base`, as far as there are checksums. Blob and key are for errors.
    pub(super) fn new(
        (blobs, id, key): (Arc<dyn BlobStore>, BlobId, &[u8]),
        base: Arc<dyn Blob>,
        len: u64,
        sums: Sums,
    ) -> Checked {
        Checked { base, len, sums, is_compared: AtomicBool::new(false), blobs, id, key: key.into() }
    }

    /// The blob itself, for a home that knows a shorter way from it to a socket. What is sent from it must have been
    /// compared just before: see [`Checked::check`].
    pub fn base(&self) -> &dyn Blob {
        &*self.base
    }

    /// Compares the pieces that hold `len` bytes at `offset` with their checksums.
    ///
    /// # Errors
    /// A piece is not what was written, or cannot be read.
    pub fn check(&self, offset: u64, len: u64) -> storage::Result<()> {
        self.read(offset, len, &mut |_| {})
    }

    /// Notes that these bytes were compared for a reply, if that is all there is: itself, or as far as patches let it be seen.
    pub(super) fn note_compared(&self, offset: u64, len: u64) {
        let (from, to) = self.sums.range();
        if offset - offset % SUM_PIECE_BYTES <= from
            && (offset + len).div_ceil(SUM_PIECE_BYTES) >= to / SUM_PIECE_BYTES
        {
            self.is_compared.store(true, Ordering::Relaxed);
        }
    }

    /// Whether all of it was compared while its reply was made, so that what is sent at once need not be.
    pub fn is_compared(&self) -> bool {
        self.is_compared.load(Ordering::Relaxed)
    }

    fn blob_damaged(&self, what: &str) -> StorageError {
        StorageError::Damaged(damage(&*self.blobs, self.id, &self.key, what))
    }

    /// Shows consecutive pieces, all of them compared before.
    fn read_pieces(
        &self,
        (first, behind): (u64, u64),
        buffer: &mut Vec<u8>,
        visit: &mut dyn FnMut(&[u8]),
    ) -> storage::Result<()> {
        let start = first * SUM_PIECE_BYTES;
        let len = self.len.min(behind * SUM_PIECE_BYTES) - start;
        let mut outcome = None;
        buffer.clear();
        let read = self.base.read(start, len, &mut |bytes| {
            if outcome.is_none() && buffer.is_empty() && bytes.len() as u64 == len {
                outcome = Some(self.compare(first, bytes).map(|()| visit(bytes)));
            } else {
                buffer.extend_from_slice(bytes);
            }
        });
        read.map_err(|error| match error {
            // Nothing is wrong with what is elsewhere.
            error @ (StorageError::NotHere | StorageError::TakesLong | StorageError::Unavailable(_)) => error,
            error => self.blob_damaged(&error.to_string()),
        })?;
        match outcome {
            Some(outcome) => outcome,
            None if buffer.len() as u64 == len => self.compare(first, buffer).map(|()| visit(buffer)),
            None => Err(self.blob_damaged("the file is shorter than the value")),
        }
    }

    /// Compares whole pieces with their checksums.
    fn compare(&self, first: u64, bytes: &[u8]) -> storage::Result<()> {
        for (number, piece) in (first..).zip(bytes.chunks(SUM_PIECE_BYTES as usize)) {
            if self.sums.of_piece(number) != Some(checksum::append(0, piece)) {
                let start = number * SUM_PIECE_BYTES;
                let last = start + piece.len() as u64 - 1;
                return Err(
                    self.blob_damaged(&format!("bytes {start} to {last} do not carry their checksum"))
                );
            }
        }
        Ok(())
    }
}

impl Blob for Checked {
    fn write(&self, _offset: u64, _bytes: &[u8]) -> storage::Result<()> {
        Err(StorageError::Refused("a checked value is only read".into()))
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        let end = offset.checked_add(len).filter(|end| *end <= self.len);
        let end = end.ok_or_else(|| StorageError::Missing(format!("{len} bytes at {offset}")))?;
        let (mut at, mut buffer) = (offset, Vec::new());
        while at < end {
            let first = at / SUM_PIECE_BYTES;
            let behind = end.div_ceil(SUM_PIECE_BYTES).min(first + PIECES_AT_ONCE);
            let (start, stop) = (first * SUM_PIECE_BYTES, end.min(behind * SUM_PIECE_BYTES));
            // Lossless: both lie in what is read at once.
            let inside = (at - start) as usize..(stop - start) as usize;
            self.read_pieces((first, behind), &mut buffer, &mut |bytes| {
                visit(bytes.get(inside.clone()).unwrap_or_default());
            })?;
            at = stop;
        }
        Ok(())
    }

    fn set_len(&self, _len: u64) -> storage::Result<()> {
        Err(StorageError::Refused("a checked value is only read".into()))
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

    /// Whole pieces are read, whatever part of them is shown.
    fn is_at_hand(&self, offset: u64, len: u64, waker: &Waker) -> bool {
        let start = offset - offset % SUM_PIECE_BYTES;
        let stop = offset.saturating_add(len).div_ceil(SUM_PIECE_BYTES).saturating_mul(SUM_PIECE_BYTES);
        self.base.is_at_hand(start, stop.min(self.len).saturating_sub(start), waker)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

//! Finding where whole records go on behind bytes that belong to none.
//!
//! Nothing marks where a record begins, so every byte is tried as the beginning of one. What stands there counts only if
//! its header is plausible, its sequence goes on from those before it, and it carries its checksum. Checksums are salted
//! ([`super::record::Salt`]), so a client's value holds no records but copies of the store's own; the sequence tells
//! older ones. It is looked at only here: a record that stands directly behind a whole one counts whatever its sequence is,
//! because transactions take their sequences long before their turn in the log.
//!
//! The work is bounded in proportion to the length of what is searched, whatever the bytes say. A search that runs out of
//! its budget says so: then it cannot be decided whether records go on.

use super::files::File;
use super::record::{HEADER_MAX_LEN, Header, Record, RecordType};
use super::scan;
use crate::storage::StorageError;

/// How much of a datafile is looked at at once.
const WINDOW_BYTES: u64 = 256 * 1024;

/// Neighbours in the log may stand in another order than that of their sequences. A record behind a damaged place may be so
/// far behind the largest sequence before it.
const SEQUENCE_DISORDER: u64 = 1024;

/// Sequences of frames that were refused (on a full disk, say) are not used again, so there are gaps; no gap is so large.
const SEQUENCE_GAP_MAX: u64 = 1 << 40;

/// A search compares the checksums of so many times the bytes that it searches.
const BUDGET_FACTOR: u64 = 8;

/// And of so many more, which is all there is to compare in a short datafile.
const BUDGET_LEAST_BYTES: u64 = 16 * 1024 * 1024;

/// Whether a record with this sequence may follow one with `last`.
fn follows(sequence: u64, last: u64) -> bool {
    sequence.saturating_add(SEQUENCE_DISORDER) > last && sequence - sequence.min(last) < SEQUENCE_GAP_MAX
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    At(u64),
    Nowhere,
    /// The budget is spent.
    Undecided,
}

/// A reader of the part of a datafile before some end. What it reads stays, so that short steps forward cost no reads.
pub(super) struct Search<'f> {
    file: &'f File,
    end: u64,
    start: u64,
    bytes: Vec<u8>,
    budget_bytes: u64,
}

impl<'f> Search<'f> {
    pub(super) fn new(file: &'f File, from: u64, end: u64) -> Search<'f> {
        let len = end.saturating_sub(from);
        let budget_bytes = len.saturating_mul(BUDGET_FACTOR).saturating_add(BUDGET_LEAST_BYTES);
        Search { file, end, start: 0, bytes: Vec::new(), budget_bytes }
    }

    /// The bytes from an offset on: at least so many, or all there are before the end.
    pub(super) fn bytes_at(&mut self, offset: u64, wanted: u64) -> Result<&[u8], StorageError> {
        let left = self.end.saturating_sub(offset);
        let wanted = wanted.min(left);
        let is_there = offset >= self.start && offset + wanted <= self.start + self.bytes.len() as u64;
        if !is_there {
            scan::read(self.file, offset, wanted.max(WINDOW_BYTES).min(left), &mut self.bytes)?;
            self.start = offset;
        }
        let skipped = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        Ok(self.bytes.get(skipped..).unwrap_or_default())
    }

    /// The header of a record that would end before the end.
    pub(super) fn header_at(&mut self, offset: u64) -> Result<Option<Header>, StorageError> {
        let left = self.end.saturating_sub(offset);
        let header = Header::read(self.bytes_at(offset, HEADER_MAX_LEN as u64)?);
        Ok(header.map(|(header, _)| header).filter(|header| header.record_len() <= left))
    }

    /// Shows the record that stands at an offset; returns its header, or None if no whole one does.
    pub(super) fn record_at(
        &mut self,
        offset: u64,
        visit: &mut dyn FnMut(&Record<'_>),
    ) -> Result<Option<Header>, StorageError> {
        let Some(header) = self.header_at(offset)? else { return Ok(None) };
        let salt = self.file.salt;
        if let Some(record) = Record::read(self.bytes_at(offset, header.record_len())?, salt) {
            visit(&record);
            return Ok(Some(header));
        }
        self.pay(header.record_len());
        Ok(None)
    }

    /// Takes from the budget; false if it is spent.
    pub(super) fn pay(&mut self, bytes: u64) -> bool {
        let is_enough = bytes <= self.budget_bytes;
        self.budget_bytes = self.budget_bytes.saturating_sub(bytes);
        is_enough
    }

    /// The first place from `from` on where a whole record stands that may follow a record with the sequence `last`. With
    /// `begins_frame` it must be the first of a whole frame.
    pub(super) fn next_whole(
        &mut self,
        from: u64,
        last: u64,
        begins_frame: bool,
    ) -> Result<Found, StorageError> {
        let mut at = from;
        while at < self.end {
            let end = self.end;
            let bytes = self.bytes_at(at, HEADER_MAX_LEN as u64)?;
            let is_last = at + bytes.len() as u64 == end;
            // Headers that may go on behind the window are looked at in the next one.
            let starts = if is_last { bytes.len() } else { bytes.len().saturating_sub(HEADER_MAX_LEN - 1) };
            let tried = (0..starts).find_map(|start| {
                candidate(bytes.get(start..)?, last, begins_frame).map(|header| (start as u64, header))
            });
            let Some((start, header)) = tried else {
                at += (starts as u64).max(1);
                continue;
            };
            let offset = at + start;
            at = offset + 1;
            if header.record_len() > end - offset {
                continue;
            }
            if !self.pay(header.record_len()) {
                return Ok(Found::Undecided);
            }
            if self.is_whole(offset, &header)? {
                if !begins_frame || self.is_whole_frame(offset)? {
                    return Ok(Found::At(offset));
                }
                if !self.pay(WINDOW_BYTES) {
                    return Ok(Found::Undecided);
                }
            }
        }
        Ok(Found::Nowhere)
    }

    fn is_whole(&mut self, offset: u64, header: &Header) -> Result<bool, StorageError> {
        let (salt, len) = (self.file.salt, header.record_len());
        let skipped = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let here = self.bytes.get(skipped..).unwrap_or_default();
        if offset >= self.start && len <= here.len() as u64 {
            return Ok(Record::read(here, salt).is_some());
        }
        // Read beside the window, which is needed for the next place to try.
        let mut bytes = Vec::new();
        scan::read(self.file, offset, len, &mut bytes)?;
        Ok(Record::read(&bytes, salt).is_some())
    }

    fn is_whole_frame(&self, offset: u64) -> Result<bool, StorageError> {
        let mut is_whole = false;
        scan::frames_until(self.file, offset, self.end, &mut |_, _| {
            is_whole = true;
            false
        })?;
        Ok(is_whole)
    }
}

/// The header at the start of some bytes, if a record could stand there.
fn candidate(bytes: &[u8], last: u64, begins_frame: bool) -> Option<Header> {
    let fixed: &[u8; 16] = bytes.first_chunk()?;
    let [_, _, _, _, number, flags, kind, ..] = *fixed;
    // Cheap things first: nearly every place ends here.
    RecordType::from_number(number)?;
    let sequence = u64::from_le_bytes(*fixed[8..].first_chunk()?);
    if flags >= 32 || kind > 6 || begins_frame && flags & 1 == 0 || !follows(sequence, last) {
        return None;
    }
    Header::read(bytes).map(|(header, _)| header)
}

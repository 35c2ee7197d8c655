//! Reading a datafile from one end to the other, frame by frame.

use std::sync::Arc;

use super::files::File;
use super::record::{FileHeader, HEADER_MAX_LEN, Header, Record, RecordType, SYNCED_RECORD_BYTES, Salt};
use crate::storage::StorageError;

/// How much of a datafile is read at once: what stays in a processor's own cache until it was looked at.
const WINDOW_BYTES: u64 = 256 * 1024;

/// A frame larger than that is read in pieces of this size, since a storage may hold each twice while it reads it.
const PIECE_BYTES: u64 = 1024 * 1024;

/// So many records are shown together: their entries are looked up under one lock, which is held for some microseconds.
const BATCH_RECORDS: usize = 64;

/// No more are shown together once they are as long as this: looking them up is little beside reading them.
const BATCH_BYTES: u64 = 8 * 1024;

/// A record and where it stands in its datafile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'b> {
    pub(super) offset: u64,
    pub(super) record: Record<'b>,
}

/// Why a walk over a datafile ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At the asked-for end, after a whole frame.
    Clean,
    /// The frame at this offset is cut short or damaged.
    Broken(u64),
}

/// Shows every record of every whole frame between two offsets, in order, each frame only once it is known to be
/// whole. `from` is the beginning of a frame.
pub(super) fn frames(
    file: &File,
    from: u64,
    end: u64,
    visit: &mut dyn FnMut(u64, &Record<'_>),
) -> Result<End, StorageError> {
    frames_until(file, from, end, &mut |offset, record| {
        visit(offset, record);
        true
    })
}

/// Like [`frames`], but ends after the frame in which the visitor says false.
pub(super) fn frames_until(
    file: &File,
    from: u64,
    end: u64,
    visit: &mut dyn FnMut(u64, &Record<'_>) -> bool,
) -> Result<End, StorageError> {
    windows(file, from, end, &mut |window, bytes| {
        window.walk(bytes, &mut |offset, record| visit(offset, &record))
    })
}

/// Shows some records at a time, and ends after the frame that reaches `stop`, or that of the last of those for which the visitor
/// says false.
pub(super) fn frames_in_batches(
    file: &File,
    (from, stop): (u64, u64),
    end: u64,
    visit: &mut dyn FnMut(&[Placed<'_>]) -> bool,
) -> Result<End, StorageError> {
    windows(file, from, end, &mut |window, bytes| {
        let mut batch = Vec::with_capacity(BATCH_RECORDS);
        let (mut batch_bytes, mut goes_on) = (0, true);
        let walked = window.walk(bytes, &mut |offset, record| {
            let len = record.header.record_len();
            batch_bytes += len;
            batch.push(Placed { offset, record });
            goes_on &= offset + len < stop;
            if batch.len() == BATCH_RECORDS || batch_bytes >= BATCH_BYTES {
                goes_on &= visit(&batch);
                batch.clear();
                batch_bytes = 0;
            }
            goes_on
        });
        window.goes_on &= batch.is_empty() || visit(&batch);
        walked
    })
}

/// Lets `walk` go through windows, each from the beginning of the frame at which the one before ended.
fn windows(
    file: &File,
    from: u64,
    end: u64,
    walk: &mut dyn FnMut(&mut Window, &[u8]) -> Walked,
) -> Result<End, StorageError> {
    let (mut at, mut window_len) = (from, WINDOW_BYTES);
    let mut bytes = Vec::new();
    while at < end {
        let len = window_len.min(end - at);
        let is_last = len == end - at;
        let mut window = Window { start: at, salt: file.salt, left: end - at, is_last, goes_on: true };
        // Copied out: the visitor may wait for a lock whose holder waits for the reader of this datafile.
        read(file, at, len, &mut bytes)?;
        match walk(&mut window, &bytes) {
            Walked::To(next) if !window.goes_on || next >= end => return Ok(End::Clean),
            // The frame is larger than the window, and by how much only its last record will tell.
            Walked::To(next) if next == at => {
                let step = (window_len / 4).max(WINDOW_BYTES);
                window_len = window.known_len(&bytes).max(window_len.saturating_add(step));
            }
            Walked::To(next) => (at, window_len) = (next, WINDOW_BYTES),
            Walked::Broken(frame) => return Ok(End::Broken(frame)),
        }
    }
    Ok(End::Clean)
}

/// Reads a part of a datafile in place of what `bytes` had.
pub(super) fn read(file: &File, offset: u64, len: u64, bytes: &mut Vec<u8>) -> Result<(), StorageError> {
    bytes.clear();
    let wanted_bytes = usize::try_from(len).unwrap_or(usize::MAX);
    // In one step, up or down, and not beside what was there: there may not be memory for more.
    if bytes.capacity() != wanted_bytes.max(WINDOW_BYTES as usize) {
        *bytes = Vec::new();
        bytes.reserve_exact(wanted_bytes.max(WINDOW_BYTES as usize));
    }
    let (mut at, end) = (offset, offset + len);
    while at < end {
        let piece = PIECE_BYTES.min(end - at);
        file.datafile.read(at, piece, &mut |read| bytes.extend_from_slice(read))?;
        at += piece;
    }
    Ok(())
}

/// How far a walk over a window came.
enum Walked {
    /// Every frame before this offset was shown; here the window, or the visitor, ended.
    To(u64),
    /// The frame at this offset is cut short or damaged.
    Broken(u64),
}

/// The outcome of reading a record at some place in a window.
enum Found<'b> {
    Record(Record<'b>),
    /// Perhaps whole, but not inside the window.
    Beyond,
    Broken,
}

/// A part of a datafile that is in memory.
struct Window {
    start: u64,
    salt: Salt,
    /// How many bytes there are from its start on.
    left: u64,
    /// Whether nothing comes after it.
    is_last: bool,
    goes_on: bool,
}

impl Window {
    /// Shows the records of the frames that lie in the window from its beginning on.
    fn walk<'b>(&mut self, bytes: &'b [u8], visit: &mut dyn FnMut(u64, Record<'b>) -> bool) -> Walked {
        let mut frame = 0;
        while frame < bytes.len() && self.goes_on {
            let offset = self.start + frame as u64;
            let len = match self.record(bytes, frame) {
                // Nearly every frame is one record, which need not be looked at twice.
                Found::Record(record) if record.header.is_first && record.header.is_last => {
                    let len = record.header.record_len();
                    self.goes_on = visit(offset, record);
                    len
                }
                Found::Record(_) => match self.frame_len(bytes, frame) {
                    Ok(Some(len)) => {
                        self.show(bytes, frame, len, visit);
                        len
                    }
                    Ok(None) => return Walked::To(offset),
                    Err(()) => return Walked::Broken(offset),
                },
                Found::Beyond => return Walked::To(offset),
                Found::Broken => return Walked::Broken(offset),
            };
            // A record in the window is no longer than it.
            frame += len as usize;
        }
        Walked::To(self.start + frame as u64)
    }

    /// Length of the frame at a place of the window, if all of its records are there and belong together; None if it may
    /// go on behind the window.
    fn frame_len(&self, bytes: &[u8], frame: usize) -> Result<Option<u64>, ()> {
        let mut at = frame;
        let mut sequence = None;
        loop {
            let header = match self.record(bytes, at) {
                Found::Record(record) => record.header,
                Found::Beyond => return Ok(None),
                Found::Broken => return Err(()),
            };
            if header.is_first != (at == frame) || sequence.is_some_and(|first| first != header.sequence) {
                return Err(());
            }
            sequence = Some(header.sequence);
            at += header.record_len() as usize;
            if header.is_last {
                return Ok(Some((at - frame) as u64));
            }
        }
    }

    /// How much of the frame at the window's beginning there is for sure, its first record beyond the window included.
    fn known_len(&self, bytes: &[u8]) -> u64 {
        let mut at: u64 = 0;
        while let Some((header, _)) = bytes.get(at as usize..).and_then(Header::read) {
            at = at.saturating_add(header.record_len());
            if header.is_last || at > bytes.len() as u64 {
                break;
            }
        }
        at
    }

    /// Shows the records of a frame that is whole, each of which was checked.
    fn show<'b>(
        &mut self,
        bytes: &'b [u8],
        frame: usize,
        len: u64,
        visit: &mut dyn FnMut(u64, Record<'b>) -> bool,
    ) {
        let mut at = frame;
        while at < frame + len as usize {
            let Some(record) = bytes.get(at..).and_then(Record::read_again) else { return };
            self.goes_on &= visit(self.start + at as u64, record);
            at += record.header.record_len() as usize;
        }
    }

    fn record<'b>(&self, bytes: &'b [u8], at: usize) -> Found<'b> {
        let rest = bytes.get(at..).unwrap_or_default();
        let is_short = |len: u64| len > rest.len() as u64;
        match Header::read(rest) {
            // No memory for a length that cannot be true.
            Some((header, _)) if header.record_len() > self.left.saturating_sub(at as u64) => Found::Broken,
            Some((header, _)) if is_short(header.record_len()) && !self.is_last => Found::Beyond,
            None if is_short(HEADER_MAX_LEN as u64) && !self.is_last => Found::Beyond,
            None => Found::Broken,
            Some(_) => Record::read(rest, self.salt).map_or(Found::Broken, Found::Record),
        }
    }
}

/// Where the seal of a datafile ends that may have preallocated zeros behind it, if it has one.
pub(super) fn end_of_seal(file: &File, end_of_content: u64) -> Result<Option<u64>, StorageError> {
    let len = file.datafile.len()?;
    // The last bytes of a seal may be zeros themselves.
    for end in end_of_content..=len.min(end_of_content.saturating_add(SYNCED_RECORD_BYTES)) {
        if is_sealed(file, end)? {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// Whether the last bytes of a file are its seal.
pub(super) fn is_sealed(file: &File, end: u64) -> Result<bool, StorageError> {
    Ok(synced_at(file, end, SYNCED_RECORD_BYTES, &file.header)? == Some(end))
}

/// How much of `active` was on the disk when this output of a merge was published, if it says so.
pub(super) fn synced_of(output: &File, active: &FileHeader) -> Result<Option<u64>, StorageError> {
    synced_at(output, output.len(), 2 * SYNCED_RECORD_BYTES, active)
}

/// The length that a record says was synced, if it begins so far before the end.
fn synced_at(file: &File, end: u64, before: u64, about: &FileHeader) -> Result<Option<u64>, StorageError> {
    let Some(offset) = end.checked_sub(before) else { return Ok(None) };
    let mut synced_len = None;
    file.datafile.read(offset, SYNCED_RECORD_BYTES, &mut |bytes| {
        synced_len = Record::read(bytes, file.salt).and_then(|record| record.synced_len(about, offset));
    })?;
    Ok(synced_len)
}

/// Looks behind a broken frame for a record that says that the frame was on the disk: then it is damage, and not the
/// tail of an unfinished write. A seal says so only if it `trusts_seal`.
pub(super) fn was_synced(
    file: &Arc<File>,
    broken: u64,
    end: u64,
    trusts_seal: bool,
) -> Result<bool, StorageError> {
    let mut at = broken + 1;
    let mut found = false;
    while at < end && !found {
        let len = (end - at).min(WINDOW_BYTES);
        file.datafile.read(at, len, &mut |bytes| {
            found = (0..bytes.len()).any(|start| {
                let candidate = &bytes[start..];
                let offset = at + start as u64;
                // One that claims to be longer is none, and would cost a checksum.
                let bytes = candidate.get(..SYNCED_RECORD_BYTES as usize);
                candidate.get(4) == Some(&(RecordType::Synced as u8))
                    && bytes
                        .and_then(|bytes| Record::read(bytes, file.salt))
                        .and_then(|record| record.synced_len(&file.header, offset))
                        .filter(|synced_len| trusts_seal || *synced_len <= offset)
                        .is_some_and(|synced_len| synced_len > broken)
            });
        })?;
        // Windows overlap, so that a record across their border is seen.
        at += len.saturating_sub(SYNCED_RECORD_BYTES).max(1);
    }
    Ok(found)
}

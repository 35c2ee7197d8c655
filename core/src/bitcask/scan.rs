//! Reading a datafile from one end to the other, frame by frame.

use std::sync::Arc;

use super::files::File;
use super::record::{FileHeader, HEADER_MAX_LEN, Header, Record, RecordType, SYNCED_RECORD_BYTES};
use crate::storage::StorageError;

/// How much of a datafile is read at once.
const WINDOW_BYTES: u64 = 1024 * 1024;

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
    let mut window = Window { file, end, start: from, bytes: Vec::new() };
    let mut frame = from;
    while frame < end {
        // Nearly every frame is one record, which need not be looked at twice.
        if let Some(record) = window.record(frame, frame)?
            && record.header.is_first
            && record.header.is_last
        {
            frame += record.header.record_len();
            if !visit(frame - record.header.record_len(), &record) {
                break;
            }
            continue;
        }
        let Some(next) = whole_frame(&mut window, frame)? else { return Ok(End::Broken(frame)) };
        let mut at = frame;
        let mut goes_on = true;
        while at < next {
            let Some(record) = window.record(at, frame)? else { return Ok(End::Broken(frame)) };
            let len = record.header.record_len();
            goes_on &= visit(at, &record);
            at += len;
        }
        if !goes_on {
            break;
        }
        frame = next;
    }
    Ok(End::Clean)
}

/// The end of the frame at `frame`, if all of its records are there and belong together.
fn whole_frame(window: &mut Window<'_>, frame: u64) -> Result<Option<u64>, StorageError> {
    let mut at = frame;
    let mut sequence = None;
    loop {
        let Some(record) = window.record(at, frame)? else { return Ok(None) };
        let header = record.header;
        if header.is_first != (at == frame) || sequence.is_some_and(|sequence| sequence != header.sequence) {
            return Ok(None);
        }
        sequence = Some(header.sequence);
        at += header.record_len();
        if header.is_last {
            return Ok(Some(at));
        }
        if at >= window.end {
            return Ok(None);
        }
    }
}

/// The part of a datafile that is in memory.
struct Window<'f> {
    file: &'f File,
    end: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// The record at an offset, if it is whole; everything from `keep` on stays in memory.
    fn record(&mut self, at: u64, keep: u64) -> Result<Option<Record<'_>>, StorageError> {
        let head_len = (self.end - at).min(HEADER_MAX_LEN as u64);
        self.load(keep, at + head_len)?;
        let head = self.slice(at, head_len);
        let Some((header, _)) = Header::read(head) else { return Ok(None) };
        let len = header.record_len();
        if len > self.end - at {
            return Ok(None);
        }
        self.load(keep, at + len)?;
        Ok(Record::read(self.slice(at, len)))
    }

    fn slice(&self, at: u64, len: u64) -> &[u8] {
        let start = usize::try_from(at - self.start).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        self.bytes.get(start..end).unwrap_or(&[])
    }

    /// Makes sure that `keep..until` is in memory.
    fn load(&mut self, keep: u64, until: u64) -> Result<(), StorageError> {
        if until <= self.start + self.bytes.len() as u64 && keep >= self.start {
            return Ok(());
        }
        let len = (until - keep).max(WINDOW_BYTES).min(self.end - keep);
        self.start = keep;
        let bytes = &mut self.bytes;
        self.file.datafile.read(keep, len, &mut |read| {
            bytes.clear();
            bytes.extend_from_slice(read);
        })
    }
}

/// Whether the last bytes of a file are its seal.
pub(super) fn is_sealed(file: &File, end: u64) -> Result<bool, StorageError> {
    Ok(synced_at(file, end, SYNCED_RECORD_BYTES, &file.header)? == Some(end))
}

/// How much of `active` was on the disk when this output of a merge was published, if it says so.
pub(super) fn synced_of(output: &File, active: &FileHeader) -> Result<Option<u64>, StorageError> {
    synced_at(output, output.len(), 2 * SYNCED_RECORD_BYTES, active)
}

/// What the record that begins so far before the end says about a file.
fn synced_at(file: &File, end: u64, before: u64, about: &FileHeader) -> Result<Option<u64>, StorageError> {
    let Some(offset) = end.checked_sub(before) else { return Ok(None) };
    let mut synced_len = None;
    file.datafile.read(offset, SYNCED_RECORD_BYTES, &mut |bytes| {
        synced_len = Record::read(bytes).and_then(|record| record.synced_len(about, offset));
    })?;
    Ok(synced_len)
}

/// Looks behind a broken frame for a record that says that the frame was on the disk: then it is damage, and not the
/// tail of an unfinished write.
pub(super) fn was_synced(file: &Arc<File>, broken: u64, end: u64) -> Result<bool, StorageError> {
    let mut at = broken + 1;
    let mut found = false;
    while at < end && !found {
        let len = (end - at).min(WINDOW_BYTES);
        file.datafile.read(at, len, &mut |bytes| {
            found = (0..bytes.len()).any(|start| {
                let candidate = &bytes[start..];
                let offset = at + start as u64;
                candidate.get(4) == Some(&(RecordType::Synced as u8))
                    && Record::read(candidate)
                        .and_then(|record| record.synced_len(&file.header, offset))
                        .is_some_and(|synced_len| synced_len > broken)
            });
        })?;
        // Windows overlap, so that a record across their border is seen.
        at += len.saturating_sub(SYNCED_RECORD_BYTES).max(1);
    }
    Ok(found)
}

//! Reading a damaged datafile: the whole records in it, and the holes between them.
//!
//! Where records go on behind a hole is found by [`super::resync`], and what stood in it by [`super::lost`].

use super::files::File;
use super::record::{Record, RecordType};
use super::resync::{Found, Search};
use super::scan;
use crate::storage::StorageError;

/// Zeros at the end of a datafile are looked for in pieces of this many bytes.
const PIECE_BYTES: u64 = 1024 * 1024;

/// What the loss of power leaves old is a number of these, whole.
const SECTOR_BYTES: u64 = 512;

/// Whole frames behind a broken place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Behind {
    pub(super) frames: u64,
    /// Whether there may be more: not all could be looked at.
    pub(super) is_undecided: bool,
}

/// Counts the whole frames behind a broken one. `last` is the largest sequence before it in this datafile.
pub(super) fn whole_frames_behind(
    file: &File,
    broken: u64,
    end: u64,
    mut last: u64,
) -> Result<Behind, StorageError> {
    let mut behind = Behind::default();
    let mut search = Search::new(file, broken, end);
    let mut from = broken + 1;
    loop {
        let at = match search.next_whole(from, last, true)? {
            Found::At(at) => at,
            Found::Nowhere => break,
            Found::Undecided => {
                behind.is_undecided = true;
                break;
            }
        };
        let walked = scan::frames(file, at, end, &mut |_, record| {
            if record.header.record_type != RecordType::Synced {
                last = last.max(record.header.sequence);
            }
            behind.frames += u64::from(record.header.is_last);
        })?;
        match walked {
            scan::End::Clean => break,
            scan::End::Broken(offset) => from = offset.max(at) + 1,
        }
    }
    Ok(behind)
}

/// Whether the loss of power can have broken the frame at an offset, where whole ones stand behind it.
///
/// What it leaves is a number of whole sectors that are missing or old. A log grows at its end only, so each of these ends in
/// zeros: none that holds bytes of a whole record behind is. If no sector that ends before the next whole record has a zero there,
/// all of them were written, and one was changed since. `last` is the largest sequence before in this datafile.
pub(super) fn may_be_a_hole(file: &File, offset: u64, end: u64, last: u64) -> Result<bool, StorageError> {
    let mut search = Search::new(file, offset, end);
    let mut broken = offset;
    // The first records of the frame may be whole.
    while let Some(header) = search.record_at(broken, &mut |_| {})? {
        broken += header.record_len();
        if header.is_last {
            return Ok(true);
        }
    }
    let led = search.header_at(broken)?.map(|header| broken + header.record_len());
    let next = match led {
        Some(next) if search.record_at(next, &mut |_| {})?.is_some() => next,
        // Its lengths may be what is damaged.
        _ => match search.next_whole(broken + 1, last, false)? {
            Found::At(next) => next,
            Found::Nowhere | Found::Undecided => return Ok(true),
        },
    };
    let mut boundary = broken - broken % SECTOR_BYTES + SECTOR_BYTES;
    while boundary <= next {
        if search.bytes_at(boundary - 1, 1)?.first() == Some(&0) {
            return Ok(true);
        }
        boundary += SECTOR_BYTES;
    }
    Ok(false)
}

/// A part of a damaged datafile.
pub(super) enum Step<'s> {
    /// A whole record.
    Record(u64, &'s Record<'s>),
    /// Bytes between two offsets that belong to no whole record.
    Hole(u64, u64),
}

/// Shows the whole records between two offsets of a datafile, and the holes between them. `last` is the largest sequence
/// before in this datafile. Records count one by one: a frame of which one record is lost keeps the others.
pub(super) fn walk(
    file: &File,
    from: u64,
    end: u64,
    mut last: u64,
    visit: &mut dyn FnMut(Step<'_>),
) -> Result<(), StorageError> {
    let mut search = Search::new(file, from, end);
    let mut at = from;
    while at < end {
        if let Some(header) = search.record_at(at, &mut |record| visit(Step::Record(at, record)))? {
            if header.record_type != RecordType::Synced {
                last = last.max(header.sequence);
            }
            at += header.record_len();
            continue;
        }
        let next = resume(&mut search, at, end, last)?;
        visit(Step::Hole(at, next));
        at = next;
    }
    Ok(())
}

/// Where the part of a log ends that counts: behind its last byte that is not a preallocated zero, but before a frame that
/// was never finished. One that begins below `synced` was finished once: what is left of it counts.
pub(super) fn end_of_frames(
    file: &File,
    (from, end): (u64, u64),
    last: u64,
    synced: u64,
) -> Result<u64, StorageError> {
    let end = end_of_content(file, from, end)?;
    let mut unfinished = None;
    walk(file, from, end, last, &mut |step| {
        let Step::Record(offset, record) = step else { return };
        unfinished = match (record.header.is_last, record.header.is_first) {
            (true, _) => None,
            (false, true) => Some(offset),
            (false, false) => unfinished,
        };
    })?;
    Ok(unfinished.filter(|begin| *begin >= synced).unwrap_or(end))
}

/// Where whole records go on behind a broken one; the end if nowhere, or if too much of what stands there looks like records.
fn resume(search: &mut Search<'_>, broken: u64, end: u64, last: u64) -> Result<u64, StorageError> {
    // Its own header says where the next one begins, unless that is what is damaged. A value that holds copies of records
    // is passed over so.
    if let Some(header) = search.header_at(broken)? {
        let next = broken + header.record_len();
        if next == end || search.record_at(next, &mut |_| {})?.is_some() {
            return Ok(next);
        }
    }
    Ok(match search.next_whole(broken + 1, last, false)? {
        Found::At(next) => next,
        Found::Nowhere | Found::Undecided => end,
    })
}

/// Where the last bytes of a datafile that are not zeros end: what is behind was preallocated.
pub(super) fn end_of_content(file: &File, from: u64, end: u64) -> Result<u64, StorageError> {
    let (mut at, mut last) = (end, None);
    while at > from && last.is_none() {
        let len = (at - from).min(PIECE_BYTES);
        at -= len;
        file.datafile.read(at, len, &mut |bytes| {
            last = bytes.iter().rposition(|byte| *byte != 0).map(|place| at + place as u64 + 1);
        })?;
    }
    Ok(last.unwrap_or(from))
}

//! Finding whole records behind a place that cannot be read.
//!
//! Nothing marks where a record begins, so the bytes are looked at one by one. What stands there counts as a record only if
//! its header is plausible, its sequence goes on from those before it, and it carries its checksum. The sequence matters
//! because a client's value may hold copies of older records, and the value's own record may be the one that is damaged.

use super::damage::{LostKind, LostRecord};
use super::files::File;
use super::record::{HEADER_MAX_LEN, Header, Record, RecordType};
use super::scan;
use crate::storage::StorageError;

/// How much of a datafile is looked at at once.
const WINDOW_BYTES: u64 = 256 * 1024;

/// Transactions take their sequences before their turn in the log, so neighbours may stand in another order. No more of them
/// are under way at a time.
const SEQUENCE_DISORDER: u64 = 1024;

/// Sequences of frames that were refused (on a full disk, say) are not used again, so there are gaps; no gap is so large.
const SEQUENCE_GAP_MAX: u64 = 1 << 40;

/// Shortest record.
const RECORD_MIN_BYTES: usize = 27;

/// Lost records are named up to this many for each damaged place.
const NAMED_MAX: usize = 100_000;

/// Whether a record with this sequence may follow one with `last`.
fn follows(sequence: u64, last: u64) -> bool {
    sequence.saturating_add(SEQUENCE_DISORDER) > last && sequence - sequence.min(last) < SEQUENCE_GAP_MAX
}

/// Whole frames behind a broken place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Behind {
    pub(super) frames: u64,
    pub(super) bytes: u64,
}

/// Counts the whole frames behind a broken one, if those before it went up to the sequence `last`.
pub(super) fn whole_frames_behind(
    file: &File,
    broken: u64,
    end: u64,
    mut last: u64,
) -> Result<Behind, StorageError> {
    let mut behind = Behind::default();
    let mut from = broken + 1;
    while let Some(at) = next_whole(file, from, end, last, true)? {
        let mut stop = at;
        let walked = scan::frames(file, at, end, &mut |offset, record| {
            last = last.max(record.header.sequence);
            stop = offset + record.header.record_len();
            behind.frames += u64::from(record.header.is_last);
        })?;
        behind.bytes += stop - at;
        match walked {
            scan::End::Clean => break,
            scan::End::Broken(offset) => from = offset.max(at) + 1,
        }
    }
    Ok(behind)
}

/// The first place from `from` on where a whole record stands that may follow a record with the sequence `last`. With
/// `begins_frame` it must be the first of its frame.
fn next_whole(
    file: &File,
    from: u64,
    end: u64,
    last: u64,
    begins_frame: bool,
) -> Result<Option<u64>, StorageError> {
    let mut at = from;
    let mut window = Vec::new();
    while at < end {
        let len = (end - at).min(WINDOW_BYTES);
        // Copied out: a candidate may be longer than the window, and is read while the window is looked at.
        window.clear();
        file.datafile.read(at, len, &mut |bytes| window.extend_from_slice(bytes))?;
        let is_last = at + len == end;
        // Headers near the end of the window are looked at in the next one.
        let starts = if is_last { window.len() } else { window.len().saturating_sub(HEADER_MAX_LEN) };
        for start in 0..starts {
            let rest = window.get(start..).unwrap_or_default();
            let offset = at + start as u64;
            if let Some(header) = candidate(rest, last, begins_frame)
                && offset + header.record_len() <= end
                && is_whole(file, offset, &header, rest)?
                && (!begins_frame || is_whole_frame(file, offset, end)?)
            {
                return Ok(Some(offset));
            }
        }
        at += (starts as u64).max(1);
    }
    Ok(None)
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

fn is_whole(file: &File, offset: u64, header: &Header, window: &[u8]) -> Result<bool, StorageError> {
    if header.record_len() <= window.len() as u64 {
        return Ok(Record::read(window).is_some());
    }
    let mut is_whole = false;
    file.datafile.read(offset, header.record_len(), &mut |bytes| is_whole = Record::read(bytes).is_some())?;
    Ok(is_whole)
}

fn is_whole_frame(file: &File, offset: u64, end: u64) -> Result<bool, StorageError> {
    let mut is_whole = false;
    scan::frames_until(file, offset, end, &mut |_, _| {
        is_whole = true;
        false
    })?;
    Ok(is_whole)
}

/// What stands in a damaged datafile.
pub(super) enum Step<'s> {
    /// A whole record.
    Record(u64, &'s Record<'s>),
    /// Bytes between two offsets that belong to no whole record.
    Hole(u64, u64),
}

/// Shows the whole records between two offsets of a datafile, and the holes between them. `last` is the largest sequence
/// before. Records count one by one: a frame of which one record is lost keeps the others.
pub(super) fn walk(
    file: &File,
    from: u64,
    end: u64,
    mut last: u64,
    visit: &mut dyn FnMut(Step<'_>),
) -> Result<(), StorageError> {
    let (mut at, mut window_len) = (from, WINDOW_BYTES);
    let mut window = Vec::new();
    while at < end {
        let len = (end - at).min(window_len);
        window.clear();
        file.datafile.read(at, len, &mut |bytes| window.extend_from_slice(bytes))?;
        window_len = WINDOW_BYTES;
        let mut start = 0;
        while let Some(record) =
            window.get(start..).and_then(Record::read).filter(|record| follows(record.header.sequence, last))
        {
            visit(Step::Record(at + start as u64, &record));
            last = last.max(record.header.sequence);
            start += record.header.record_len() as usize;
        }
        at += start as u64;
        if at >= end {
            break;
        }
        let rest = window.get(start..).unwrap_or_default();
        let wanted = match Header::read(rest) {
            Some((header, _)) => header.record_len(),
            None => HEADER_MAX_LEN as u64,
        };
        let (here, left) = (rest.len() as u64, end - at);
        if wanted > here && here < left && wanted <= left {
            // Not all of it is in the window.
            window_len = wanted.max(WINDOW_BYTES);
            continue;
        }
        let next = resume(file, at, end, last, rest)?;
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

/// Where whole records go on behind a broken one; the end if nowhere.
fn resume(file: &File, broken: u64, end: u64, last: u64, bytes: &[u8]) -> Result<u64, StorageError> {
    // Its own header says where the next one begins, unless that is what is damaged. A value that holds copies of records
    // is passed over so.
    if let Some((header, _)) = Header::read(bytes).filter(|(header, _)| follows(header.sequence, last))
        && let Some(next) = broken.checked_add(header.record_len()).filter(|next| *next <= end)
    {
        let mut is_followed = next == end;
        let head_len = (end - next).min(HEADER_MAX_LEN as u64);
        let mut head = Vec::new();
        file.datafile.read(next, head_len, &mut |bytes| head.extend_from_slice(bytes))?;
        if let Some(header) = candidate(&head, last, false)
            && next + header.record_len() <= end
        {
            is_followed |= is_whole(file, next, &header, &[])?;
        }
        if is_followed {
            return Ok(next);
        }
    }
    Ok(next_whole(file, broken + 1, end, last, false)?.unwrap_or(end))
}

/// What the headers in a hole say, as long as each leads to the next one.
pub(super) fn lost_records(file: &File, from: u64, to: u64) -> Result<Vec<LostRecord>, StorageError> {
    let mut records = Vec::new();
    let mut at = from;
    while at + RECORD_MIN_BYTES as u64 <= to && records.len() < NAMED_MAX {
        let mut found = None;
        let head_len = (to - at).min(HEADER_MAX_LEN as u64);
        file.datafile.read(at, head_len, &mut |bytes| found = Header::read(bytes))?;
        let Some((header, before_key)) = found else { break };
        let Some(end) = at.checked_add(header.record_len()).filter(|end| *end <= to) else { break };
        let kind = match header.record_type {
            RecordType::Root => Some(LostKind::Key),
            RecordType::RootTombstone => Some(LostKind::KeyRemoval),
            RecordType::Sub => Some(LostKind::Subkey),
            RecordType::SubTombstone => Some(LostKind::SubkeyRemoval),
            RecordType::Databases => Some(LostKind::Databases),
            RecordType::Synced => None,
        };
        if let Some(kind) = kind {
            let mut key = Vec::new();
            let mut copy = |bytes: &[u8]| key.extend_from_slice(bytes);
            file.datafile.read(at + before_key as u64, header.key_len, &mut copy)?;
            records.push(LostRecord {
                kind,
                owner: header.owner,
                key,
                sequence: header.sequence,
                time_ms: header.timestamp_ms,
                collection: header.collection,
            });
        }
        at = end;
    }
    Ok(records)
}

/// Where the last bytes of a datafile that are not zeros end: what is behind was preallocated.
pub(super) fn end_of_content(file: &File, from: u64, end: u64) -> Result<u64, StorageError> {
    let (mut at, mut last) = (from, from);
    while at < end {
        let len = (end - at).min(4 * WINDOW_BYTES);
        file.datafile.read(at, len, &mut |bytes| {
            if let Some(place) = bytes.iter().rposition(|byte| *byte != 0) {
                last = at + place as u64 + 1;
            }
        })?;
        at += len;
    }
    Ok(last)
}

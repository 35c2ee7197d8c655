//! Hints: what a datafile says about keys, without its values, in the metadata map.
//!
//! A datafile's hint is a run of blocks and one summary. An entry is a record's header and key and its offset; the
//! value comes along only where the keydir keeps it. Entries are written only for records that were live and for
//! tombstones. The summary is written last and only after the log was synced, because leaving a record out is right
//! only if the record that replaced it survives.
//!
//! Hints of a datafile that grows go on where they ended: blocks are added, and then a summary takes the place of the one
//! before, whose blocks stay as they are.
//!
//! A hint is never believed over the data: it must fit its checksum, the file's number, seed and length, and the last
//! record it covers must stand in the file with the very checksum the summary recorded. One that does not fit is left
//! aside, but that it was written still proves that so many bytes of the file were on the disk. It also says how far the log
//! itself was on the disk: hints beside a log that does not reach so far leave out what that log never replaced. Builds
//! that did not write this ended the summary before it; for them it is 0.
//!
//! ```text
//! key "hint/" file(4, big-endian) block(4, big-endian), value: entries
//! key "hint/" file(4, big-endian) ffffffff, value (little-endian):
//!   0  8 covered length   8  8 offset of the last covered record   16 4 that record's checksum
//!   20 4 blocks           24 4 checksum of all blocks' bytes       28 8 seed
//!   36 8 largest sequence 44 8 largest number
//!   52 4 file             56 4 datafile that was appended to    60 8 how much of that was on the disk
//!   68 4 checksum of the 68 bytes before
//! ```

use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::Bitcask;
use super::fault_injection::{Fault, is_injected};
use super::files::{File, FileTable};
use super::keydir::{INLINE_SUB_BYTES, LONG_NAME_BYTES, Location, Name};
use super::live_records::LiveOffsets;
use super::record::{Header, Record, RecordType, read_u32, read_u64};
use super::replay::{PREFETCHED_ROOTS, Replay};
use super::scan::{self, Placed};
use crate::engine::{EngineError, Result, SHORT_VALUE_BYTES};
use crate::packed::varint::{read_varint, write_varint};
use crate::storage::{MetaMap, MetaOp, Storage, StorageError};

/// Size at which a block is full: sled needs memory in proportion to a batch, so each is written alone.
const BLOCK_BYTES: usize = 128 * 1024;

const SUMMARY_BLOCK: u32 = u32::MAX;

const FLAG_EXPIRY: u8 = 1;
const FLAG_COLLECTION: u8 = 2;
const FLAG_FINGERPRINT: u8 = 4;
const FLAG_BLOB: u8 = 8;

/// The outcome of loading a datafile's hints at recovery.
pub(super) enum Loaded {
    /// There are none.
    None,
    /// There are some and they do not fit the file. So many bytes of it were on the disk when they were written.
    Rejected(u64),
    /// They were applied and cover the file up to this offset; no record there has a larger sequence.
    Covers { covered: u64, max_sequence: u64 },
}

fn meta_key(file: u32, block: u32) -> Vec<u8> {
    let mut key = b"hint/".to_vec();
    key.extend_from_slice(&file.to_be_bytes());
    key.extend_from_slice(&block.to_be_bytes());
    key
}

/// The summary of a datafile's hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Summary {
    covered: u64,
    last_offset: u64,
    last_checksum: u32,
    blocks: u32,
    blocks_checksum: u32,
    seed: u64,
    max_sequence: u64,
    max_number: u64,
    file: u32,
    /// The datafile that was appended to, and how much of it was on the disk; 0 if there was none.
    log_file: u32,
    log_len: u64,
}

impl Summary {
    fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&self.covered.to_le_bytes());
        out.extend_from_slice(&self.last_offset.to_le_bytes());
        out.extend_from_slice(&self.last_checksum.to_le_bytes());
        out.extend_from_slice(&self.blocks.to_le_bytes());
        out.extend_from_slice(&self.blocks_checksum.to_le_bytes());
        out.extend_from_slice(&self.seed.to_le_bytes());
        out.extend_from_slice(&self.max_sequence.to_le_bytes());
        out.extend_from_slice(&self.max_number.to_le_bytes());
        out.extend_from_slice(&self.file.to_le_bytes());
        out.extend_from_slice(&self.log_file.to_le_bytes());
        out.extend_from_slice(&self.log_len.to_le_bytes());
        out.extend_from_slice(&crc32c::crc32c(&out).to_le_bytes());
        out
    }

    fn read(bytes: &[u8]) -> Option<Summary> {
        let (body, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32c::crc32c(body) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let mut rest = body;
        Some(Summary {
            covered: read_u64(&mut rest)?,
            last_offset: read_u64(&mut rest)?,
            last_checksum: read_u32(&mut rest)?,
            blocks: read_u32(&mut rest)?,
            blocks_checksum: read_u32(&mut rest)?,
            seed: read_u64(&mut rest)?,
            max_sequence: read_u64(&mut rest)?,
            max_number: read_u64(&mut rest)?,
            file: read_u32(&mut rest)?,
            log_file: read_u32(&mut rest).unwrap_or(0),
            log_len: read_u64(&mut rest).unwrap_or(0),
        })
    }

    /// The summary that hints of a datafile go on from: the stored one, if this process has used or written it, else that of
    /// nothing. What died since is in its blocks still; the records that replaced it come later, as in the file.
    fn to_go_on(meta: &dyn MetaMap, file: &File) -> std::result::Result<Summary, StorageError> {
        let hinted = file.hinted.load(Ordering::Acquire);
        let stored = match hinted > file.header_len {
            true => meta.get(&meta_key(file.id(), SUMMARY_BLOCK))?,
            false => None,
        };
        let stored = stored.and_then(|bytes| Summary::read(&bytes));
        Ok(stored.filter(|summary| summary.is_of(file) && summary.covered == hinted).unwrap_or(Summary {
            covered: file.header_len,
            last_offset: file.header_len,
            last_checksum: 0,
            blocks: 0,
            blocks_checksum: 0,
            seed: file.header.seed,
            max_sequence: 0,
            max_number: 0,
            file: file.id(),
            log_file: 0,
            log_len: 0,
        }))
    }

    /// Whether the summary is about this file and not about one of another store.
    fn is_of(&self, file: &File) -> bool {
        self.seed == file.header.seed && self.file == file.id()
    }

    /// Whether the file ends its covered part as the summary says.
    fn fits(&self, file: &File) -> std::result::Result<bool, StorageError> {
        if self.covered > file.len() || self.covered <= file.header_len || self.last_offset >= self.covered {
            return Ok(self.covered == file.header_len);
        }
        let mut fits = false;
        file.datafile.read(self.last_offset, self.covered - self.last_offset, &mut |bytes| {
            let recorded = self.last_checksum.to_le_bytes();
            fits = bytes.starts_with(&recorded)
                && Record::read(bytes, file.salt)
                    .is_some_and(|record| record.header.record_len() == bytes.len() as u64);
        })?;
        Ok(fits)
    }
}

fn write_entry(header: &Header, name: &Name<'_>, value: &[u8], offset: u64, out: &mut Vec<u8>) {
    let is_fingerprint = matches!(name, Name::Long(_));
    let mut flags = if header.expires_at_ms.is_some() { FLAG_EXPIRY } else { 0 };
    flags |= if header.collection.is_some() { FLAG_COLLECTION } else { 0 };
    flags |= if is_fingerprint { FLAG_FINGERPRINT } else { 0 };
    flags |= if header.has_blob { FLAG_BLOB } else { 0 };
    out.extend_from_slice(&[header.record_type as u8, flags, header.kind, header.encoding]);
    for number in [offset, header.timestamp_ms, header.owner, header.key_len, header.value_len] {
        write_varint(number, out);
    }
    for number in [header.expires_at_ms, header.collection].into_iter().flatten() {
        write_varint(number, out);
    }
    out.extend_from_slice(name.bytes());
    if keeps_value(header) {
        out.extend_from_slice(value);
    }
}

/// Whether an entry carries its record's value.
fn keeps_value(header: &Header) -> bool {
    match header.record_type {
        RecordType::Sub => header.value_len <= INLINE_SUB_BYTES,
        RecordType::Databases => true,
        RecordType::Root => header.has_blob || header.value_len <= SHORT_VALUE_BYTES as u64,
        _ => false,
    }
}

/// Takes an entry off the front: header, name, value, offset.
fn read_entry<'b>(bytes: &mut &'b [u8]) -> Option<(Header, Name<'b>, &'b [u8], u64)> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    let [number, flags, kind, encoding] = *head;
    let mut rest = rest;
    let offset = read_varint(&mut rest)?;
    let timestamp_ms = read_varint(&mut rest)?;
    let owner = read_varint(&mut rest)?;
    let mut header = Header::new(RecordType::from_number(number)?, 0, timestamp_ms, owner);
    header.kind = kind;
    header.encoding = encoding;
    header.has_blob = flags & FLAG_BLOB != 0;
    header.key_len = read_varint(&mut rest)?;
    header.value_len = read_varint(&mut rest)?;
    if flags & FLAG_EXPIRY != 0 {
        header.expires_at_ms = Some(read_varint(&mut rest)?);
    }
    if flags & FLAG_COLLECTION != 0 {
        header.collection = Some(read_varint(&mut rest)?);
    }
    let name = if flags & FLAG_FINGERPRINT != 0 {
        let (name, after) = rest.split_first_chunk::<LONG_NAME_BYTES>()?;
        rest = after;
        Name::Long(*name)
    } else {
        Name::Short(take(&mut rest, header.key_len)?)
    };
    let value = if keeps_value(&header) { take(&mut rest, header.value_len)? } else { &[] };
    *bytes = rest;
    Some((header, name, value, offset))
}

fn take<'b>(bytes: &mut &'b [u8], len: u64) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(len).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// Whether a record at an offset ends within the covered part, whatever its lengths say.
fn ends_within(header: &Header, offset: u64, covered: u64) -> bool {
    let variable = header.key_len.checked_add(header.value_len);
    variable.is_some_and(|len| len <= covered)
        && offset.checked_add(header.record_len()).is_some_and(|end| end <= covered)
}

/// Applies a datafile's hints to a replay, if they fit the file. Those that the metadata map cannot read do not; only the
/// datafile itself may fail.
pub(super) fn load(
    storage: &dyn Storage,
    file: &Arc<File>,
    replay: &mut Replay,
) -> std::result::Result<Loaded, StorageError> {
    let meta = storage.meta();
    let bytes = match meta.get(&meta_key(file.id(), SUMMARY_BLOCK)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Loaded::None),
        Err(_) => return Ok(Loaded::Rejected(0)),
    };
    let summary = Summary::read(&bytes).filter(|summary| summary.is_of(file));
    let Some(summary) = summary else { return Ok(Loaded::Rejected(0)) };
    let rejected = Ok(Loaded::Rejected(summary.covered));
    if !is_injected(Fault::TrustHints) && !summary.fits(file)? {
        return rejected;
    }
    // All blocks are checked before any is applied.
    let Some(blocks) = whole_blocks(meta, &summary) else { return rejected };
    let is_readable = |bytes: &Vec<u8>| {
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match read_entry(&mut rest) {
                Some((header, _, _, offset)) if ends_within(&header, offset, summary.covered) => {}
                _ => return false,
            }
        }
        true
    };
    if !blocks.iter().all(is_readable) {
        return rejected;
    }
    let mut hinted_len = 0;
    for block in blocks {
        let mut rest = block.as_slice();
        loop {
            let next = std::iter::from_fn(|| read_entry(&mut rest)).take(PREFETCHED_ROOTS);
            let entries: SmallVec<[_; PREFETCHED_ROOTS]> = next.collect();
            if entries.is_empty() {
                break;
            }
            replay.prefetch(entries.iter().map(|(header, name, ..)| (header, name)));
            for (header, name, value, offset) in &entries {
                hinted_len += header.record_len();
                replay.apply(header, name, value, file, *offset);
            }
        }
    }
    // What the hint left out was dead already.
    file.add_dead(summary.covered.saturating_sub(file.header_len).saturating_sub(hinted_len));
    file.hinted.store(summary.covered, Ordering::Release);
    replay.max_sequence = replay.max_sequence.max(summary.max_sequence);
    replay.max_number = replay.max_number.max(summary.max_number);
    Ok(Loaded::Covers { covered: summary.covered, max_sequence: summary.max_sequence })
}

/// The summary of the hints of a datafile with this number, in a store with this seed. A map that fails has none.
fn summary_of(meta: &dyn MetaMap, (file, seed): (u32, u64)) -> Option<Summary> {
    let bytes = meta.get(&meta_key(file, SUMMARY_BLOCK)).ok()??;
    Summary::read(&bytes).filter(|summary| summary.file == file && summary.seed == seed)
}

/// The same for a datafile that is there.
fn summary_of_file(meta: &dyn MetaMap, file: &File) -> Option<Summary> {
    summary_of(meta, (file.id(), file.header.seed))
}

/// All blocks of the hints with this summary, if all are there and carry their checksum.
fn whole_blocks(meta: &dyn MetaMap, summary: &Summary) -> Option<Vec<Vec<u8>>> {
    let blocks = (0..summary.blocks).map(|block| meta.get(&meta_key(summary.file, block)).ok().flatten());
    let blocks = blocks.collect::<Option<Vec<_>>>()?;
    let checksum = blocks.iter().fold(0, |checksum, block| crc32c::crc32c_append(checksum, block));
    (checksum == summary.blocks_checksum).then_some(blocks)
}

/// Is shown an entry: header, key and offset.
pub(super) type EntryVisitor<'v> = &'v mut dyn FnMut(Header, Option<&[u8]>, u64);

/// Shows what the hints of a datafile list: the header (without its sequence), the key unless only its fingerprint is there, and the
/// offset. Returns how much of the datafile they cover; 0 if there are none, or if they do not carry their checksum.
pub(super) fn entries(meta: &dyn MetaMap, of: (u32, u64), visit: EntryVisitor<'_>) -> u64 {
    let Some(summary) = summary_of(meta, of) else { return 0 };
    let Some(blocks) = whole_blocks(meta, &summary) else { return 0 };
    for block in &blocks {
        let mut rest = block.as_slice();
        while let Some((header, name, _, offset)) = read_entry(&mut rest) {
            if ends_within(&header, offset, summary.covered) {
                visit(header, matches!(name, Name::Short(_)).then(|| name.bytes()), offset);
            }
        }
    }
    summary.covered
}

/// Whether the hints of a datafile end where one of its records does, which is the one that they name, or behind its end: then it is
/// taken to be cut short.
pub(super) fn covers(meta: &dyn MetaMap, file: &File) -> std::result::Result<bool, StorageError> {
    let is_cut = |summary: &Summary| Ok(summary.covered > file.datafile.len()?);
    summary_of_file(meta, file).map_or(Ok(false), |summary| Ok(is_cut(&summary)? || summary.fits(file)?))
}

/// So many bytes of a datafile were on the disk when hints of it were written, whether they fit it now or not; 0 if there are none.
pub(super) fn covered_once(meta: &dyn MetaMap, file: &File) -> u64 {
    summary_of_file(meta, file).map_or(0, |summary| summary.covered)
}

/// How far the log was on the disk when the newest hints of these datafiles were written: the datafile that was appended to
/// then, and its length. None if no hints say so.
pub(super) fn reach_of_log(storage: &dyn Storage, files: &[Arc<File>]) -> Option<(u32, u64)> {
    if is_injected(Fault::TrustHints) {
        return None;
    }
    let summaries = files.iter().filter_map(|file| summary_of_file(storage.meta(), file));
    let reach = summaries.map(|summary| (summary.log_file, summary.log_len));
    // Numbers of datafiles that are appended to grow with time.
    reach.max().filter(|(file, _)| *file > 0)
}

/// Whether the hints of a datafile, if there are any, fit it and carry their checksum. Applies nothing.
pub(super) fn are_whole(storage: &dyn Storage, file: &File) -> std::result::Result<bool, StorageError> {
    let meta = storage.meta();
    let Some(bytes) = meta.get(&meta_key(file.id(), SUMMARY_BLOCK))? else { return Ok(true) };
    let summary = Summary::read(&bytes).filter(|summary| summary.is_of(file));
    let Some(summary) = summary else { return Ok(false) };
    let mut checksum = 0;
    for block in 0..summary.blocks {
        let Some(bytes) = meta.get(&meta_key(file.id(), block))? else { return Ok(false) };
        checksum = crc32c::crc32c_append(checksum, &bytes);
    }
    Ok(checksum == summary.blocks_checksum && summary.fits(file)?)
}

/// Forgets a datafile's hints.
pub(super) fn forget(meta: &dyn MetaMap, file: u32) -> std::result::Result<(), StorageError> {
    let mut keys = Vec::new();
    let mut prefix = b"hint/".to_vec();
    prefix.extend_from_slice(&file.to_be_bytes());
    meta.scan(&prefix, &mut |key, _| {
        keys.push(MetaOp::Delete(key.to_vec()));
        true
    })?;
    if keys.is_empty() { Ok(()) } else { meta.apply(&keys) }
}

/// Bytes of records of a datafile that its hints do not cover.
fn bare(file: &File) -> u64 {
    file.len().saturating_sub(file.hinted.load(Ordering::Acquire).max(file.header_len))
}

/// Forgets the hints of datafiles that are not there: where a manifest is lost as well, their numbers may be used again.
pub(super) fn forget_others(meta: &dyn MetaMap, there: &FileTable) -> std::result::Result<(), StorageError> {
    let mut keys = Vec::new();
    meta.scan(b"hint/", &mut |key, _| {
        let id = key.get(5..9).and_then(|id| id.first_chunk()).map(|id| u32::from_be_bytes(*id));
        if id.is_some_and(|id| !there.contains_key(&id)) {
            keys.push(MetaOp::Delete(key.to_vec()));
        }
        true
    })?;
    if keys.is_empty() { Ok(()) } else { meta.apply(&keys) }
}

/// Whether there are hints of any datafile. A map that fails has none.
pub(super) fn any_there(meta: &dyn MetaMap) -> bool {
    let mut is_there = false;
    let scanned = meta.scan(b"hint/", &mut |_, _| {
        is_there = true;
        false
    });
    scanned.is_ok() && is_there
}

/// A hint under construction.
struct Writer<'m> {
    meta: &'m dyn MetaMap,
    file: u32,
    block: Vec<u8>,
    blocks: u32,
    checksum: u32,
    failed: Option<StorageError>,
}

impl Writer<'_> {
    fn flush(&mut self) {
        if self.block.is_empty() || self.failed.is_some() {
            return;
        }
        let block = std::mem::take(&mut self.block);
        self.checksum = crc32c::crc32c_append(self.checksum, &block);
        let put = MetaOp::Put(meta_key(self.file, self.blocks), block);
        self.blocks += 1;
        self.failed = self.meta.apply_lazily(&[put]).err();
    }
}

impl Bitcask {
    /// Writes hints for everything that has none yet. The metadata map's own failures do not harm the store: a missing
    /// hint only makes the next start slower.
    pub(super) fn write_hints(&self) -> Result<()> {
        let mut outcome = Ok(());
        for file in self.log.files().values() {
            if file.hinted.load(Ordering::Acquire) < file.len() && !file.is_damaged() {
                let written = self.write_hint(file);
                // A damaged datafile is no reason to leave out the others.
                let goes_on = written.is_ok() || file.is_damaged();
                outcome = outcome.and(written);
                if !goes_on {
                    break;
                }
            }
        }
        outcome
    }

    /// Writes hints for one sealed datafile that has none yet, if there is one; returns whether there was.
    pub fn hint_step(&self) -> Result<bool> {
        let files = self.log.files();
        let is_due = |file: &&Arc<File>| {
            file.is_sealed() && !file.is_damaged() && file.hinted.load(Ordering::Acquire) < file.len()
        };
        let Some(file) = files.values().find(is_due) else { return Ok(false) };
        self.write_hint(file)?;
        Ok(true)
    }

    /// Writes hints for one datafile of which the next start would read much, if there is one; returns whether there was: a
    /// sealed one that merge will not rewrite soon, or the one that is appended to, once so many bytes have none. One that cannot
    /// be read is left out from then on.
    pub fn hint_ahead(&self, active_bytes: u64) -> Result<bool> {
        let files = self.log.files();
        let is_due = |file: &&Arc<File>| match file.is_sealed() {
            _ if file.is_damaged() => false,
            true => bare(file) > 0 && file.dead() < file.len() / 2,
            false => bare(file) >= active_bytes,
        };
        // Where merge works all the time, its outputs are what the next start would read most of.
        let Some(file) = files.values().filter(is_due).max_by_key(|file| bare(file)) else {
            return Ok(false);
        };
        self.write_hint(file)?;
        Ok(true)
    }

    /// Lets the metadata map give memory back if it is not in use.
    ///
    /// # Errors
    /// The map has failed.
    pub fn rest_meta(&self) -> std::result::Result<(), StorageError> {
        self.log.storage().meta().rest()
    }

    /// Bytes of datafiles without hints.
    pub fn unhinted_bytes(&self) -> u64 {
        self.log.files().values().filter(|file| !file.is_damaged()).map(|file| bare(file)).sum()
    }

    /// Forgets the hints of a datafile that the store does not use any more.
    pub(super) fn forget_hint(&self, file: u32) -> std::result::Result<(), StorageError> {
        let _one_at_a_time = self.hinting.lock();
        forget(self.log.storage().meta(), file)
    }

    fn write_hint(&self, file: &Arc<File>) -> Result<()> {
        let _one_at_a_time = self.hinting.lock();
        if !self.log.files().contains_key(&file.id()) {
            // Merged away meanwhile: its hints would never be removed.
            return Ok(());
        }
        let storage = self.log.storage();
        let meta = storage.meta();
        let failed = |error: StorageError| match error {
            StorageError::Full(what) => EngineError::Full(what),
            error => EngineError::Damaged(format!("hints were not written: {error}")),
        };
        let before = Summary::to_go_on(meta, file).map_err(failed)?;
        if before.covered == file.header_len {
            forget(meta, file.id()).map_err(failed)?;
        }
        let covered = file.len();
        // A record whose commit is on its way to the keydir would be taken for dead.
        self.wait_for_commits();
        let Summary { blocks, blocks_checksum: checksum, .. } = before;
        let mut writer = Writer { meta, file: file.id(), block: Vec::new(), blocks, checksum, failed: None };
        let Summary { mut last_offset, mut last_checksum, mut max_sequence, mut max_number, .. } = before;
        let live = self.live_offsets_for_hint(file, covered - before.covered);
        let mut known = live.as_ref().map(|live| live.of_input(0, before.covered));
        let walked = scan::frames_in_batches(file, (before.covered, covered), covered, &mut |records| {
            let mut write = |Placed { offset, record }: &Placed<'_>, is_live: bool| {
                let header = &record.header;
                last_offset = *offset;
                last_checksum = record.checksum;
                max_sequence = header.sequence.max(max_sequence);
                max_number = max_number.max(header.collection.unwrap_or(0));
                if matches!(header.record_type, RecordType::Sub | RecordType::SubTombstone) {
                    max_number = max_number.max(header.owner);
                }
                max_number = max_number.max(header.blob(record.value).map_or(0, |blob| blob.id.0));
                if header.record_type.is_tombstone() || is_live {
                    let name = self.name_of(record);
                    write_entry(header, &name, record.value, *offset, &mut writer.block);
                }
            };
            match &mut known {
                Some(live) => records.iter().for_each(|placed| write(placed, live.begins_at(placed.offset))),
                None => self.entry_locations(records, &mut |placed, entry| {
                    write(placed, entry.is_some_and(|entry| is_or_will_be_at(entry, file, placed.offset)));
                }),
            }
            if writer.block.len() >= BLOCK_BYTES {
                writer.flush();
            }
            true
        });
        let end = walked.map_err(failed)?;
        if let scan::End::Broken(offset) = end {
            // It would be read again and again.
            file.is_damaged.store(true, Ordering::Relaxed);
            let what = format!("datafile {} is damaged at offset {offset}", file.id());
            return Err(EngineError::Damaged(what));
        }
        writer.flush();
        if let Some(error) = writer.failed {
            return Err(failed(error));
        }
        // Records were left out because later ones replace them: those must survive whatever the summary survives.
        if !is_injected(Fault::HintUnsynced) {
            self.sync()?;
        }
        let (log_file, log_len) =
            self.log.active_synced().map_or((0, 0), |(active, synced_len)| (active.id, synced_len));
        let summary = Summary {
            covered,
            last_offset,
            last_checksum,
            blocks: writer.blocks,
            blocks_checksum: writer.checksum,
            seed: file.header.seed,
            max_sequence,
            max_number,
            file: file.id(),
            log_file,
            log_len,
        };
        let put = MetaOp::Put(meta_key(file.id(), SUMMARY_BLOCK), summary.to_bytes());
        meta.apply(&[put]).map_err(failed)?;
        file.hinted.store(covered, Ordering::Release);
        Ok(())
    }

    /// Where live records of a datafile begin of which `bytes` have no hints yet, if that is cheaper than to look them up.
    fn live_offsets_for_hint(&self, file: &Arc<File>, bytes: u64) -> Option<LiveOffsets> {
        let files = self.log.files();
        // Where a merge has yet to relocate them the keydir points at its inputs.
        let is_relocated = file.header.replaces.iter().all(|input| !files.contains_key(input));
        is_relocated.then(|| self.live_offsets(std::slice::from_ref(file), bytes)).flatten()
    }

    /// A record's key as the keydir holds it.
    pub(super) fn name_of<'r>(&self, record: &Record<'r>) -> Name<'r> {
        match record.header.record_type {
            RecordType::Sub | RecordType::SubTombstone => Name::Short(record.key),
            _ => Name::of(self.seed, record.key),
        }
    }
}

/// Whether an entry of the keydir points at a place of a datafile, or will once a merge that has published the file has
/// relocated it.
fn is_or_will_be_at(entry: Location, file: &File, offset: u64) -> bool {
    let is_here = entry.file == file.id() && u64::from(entry.offset) == offset;
    is_here || file.header.replaces.contains(&entry.file)
}

//! Merge: datafiles whose dead share is large are rewritten without what is dead.
//!
//! A merge takes a run of neighbours in the order of replay and writes one output that stands at their place in that
//! order, so "later wins" stays true without comparing sequences. It goes in steps that a host paces:
//!
//! 1. *Copy*: records that the keydir points at, and tombstones that may still be needed, go to a hidden output.
//! 2. *Publish*: the log is synced (what replaced the dropped records must survive), then the output is listed. From
//!    here on the inputs are litter, because the output's header names them. This is the atomic swap.
//! 3. *Relocate*: entries of the keydir that still point into an input point to the output from now on.
//! 4. *Remove*: the inputs go.
//!
//! A crash before 2 leaves the inputs, a crash after it the output. Readers and writers are never blocked for longer
//! than one record takes.
//!
//! When a tombstone may go: an output's header carries a *watermark*, the sequence at which its copy began; what was
//! dead by then is not in it. A tombstone is needed only while a file that stands before it could still hold what it
//! removed, that is, while one of them has a watermark not beyond the tombstone's sequence.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Bitcask;
use super::files::File;
use super::hint;
use super::keydir::{Location, Name, RootEntry, SHARDS, SubEntry, shard_of};
use super::record::{Header, Record, RecordType};
use super::scan::{self, End};
use crate::engine::{EngineError, Result};
use crate::storage::{DatafileId, StorageError};

/// A datafile is worth merging once this share of it, in percent, is dead.
const DEAD_PERCENT: u64 = 50;

/// Tombstones beyond this share of all bytes, in percent, are worth rewriting the files that keep them needed.
const TOMBSTONE_PERCENT: u64 = 25;

/// So many small neighbours are merged into one even if nothing in them is dead.
const SMALL_RUN: usize = 4;

/// Output is appended in pieces of about this many bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// The merge that is under way, if one is.
#[derive(Default)]
pub(super) enum Merge {
    #[default]
    Idle,
    Copying(Copying),
    Relocating(Relocating),
}

/// Step 1.
pub(super) struct Copying {
    inputs: Vec<Arc<File>>,
    /// Which input is being read, and from where.
    input: usize,
    position: u64,
    output: Arc<File>,
    /// Tombstones with a smaller sequence may go.
    tombstones_needed_from: u64,
}

/// Step 3.
pub(super) struct Relocating {
    inputs: Vec<Arc<File>>,
    output: Arc<File>,
    position: u64,
}

/// What a merge step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeStep {
    /// Bytes read and written.
    pub bytes: u64,
    /// Whether there is more to do at once.
    pub is_unfinished: bool,
}

impl Bitcask {
    /// Does about `budget_bytes` of merging, beginning one if it is worth it. Space used stays below twice the live
    /// data as long as the host's budget keeps up with its writes.
    pub fn merge_step(&self, budget_bytes: u64) -> Result<MergeStep> {
        let mut merge = self.merging.lock();
        let before = std::mem::take(&mut *merge);
        let (after, bytes) = match before {
            Merge::Idle => (self.begin_merge()?, 0),
            Merge::Copying(copying) => self.copy(copying, budget_bytes)?,
            Merge::Relocating(relocating) => self.relocate(relocating, budget_bytes)?,
        };
        *merge = after;
        Ok(MergeStep { bytes, is_unfinished: !matches!(*merge, Merge::Idle) })
    }

    fn begin_merge(&self) -> Result<Merge> {
        let mut files: Vec<Arc<File>> = self.log.files().values().cloned().collect();
        files.sort_by_key(|file| file.order());
        let Some(run) = choose(&files, self.log.datafile_max_bytes()) else { return Ok(Merge::Idle) };
        let inputs: Vec<Arc<File>> = files[run.clone()].to_vec();
        let watermark = self.log.sequence_bound();
        // Frames below the watermark are in the keydir once every shard was free after it was read.
        self.shards.iter().for_each(|shard| drop(shard.lock()));
        let older = files[..run.start].iter().map(|file| file.header.watermark).min();
        let Some(first) = inputs.first() else { return Ok(Merge::Idle) };
        let replaces = inputs.iter().map(|file| file.id()).collect();
        let header = self.log.header(first.header.base_sequence, watermark, replaces);
        let bytes = header.to_bytes();
        let datafile = match self.log.storage().create_hidden(DatafileId(header.id), &bytes) {
            Ok(datafile) => datafile,
            Err(error) => return Err(merge_error(error)),
        };
        let output = Arc::new(File::new(header, datafile, bytes.len() as u64));
        let position = first.header_len;
        let tombstones_needed_from = older.unwrap_or(u64::MAX);
        Ok(Merge::Copying(Copying { inputs, input: 0, position, output, tombstones_needed_from }))
    }

    fn copy(&self, mut copying: Copying, budget_bytes: u64) -> Result<(Merge, u64)> {
        let Some(input) = copying.inputs.get(copying.input).cloned() else {
            return self.publish(copying).map(|relocating| (Merge::Relocating(relocating), 0));
        };
        let mut piece = Vec::new();
        let mut failed = None;
        let end = input.len();
        let (mut position, output) = (copying.position, &copying.output);
        let stop = position.saturating_add(budget_bytes.max(1));
        let walked = scan::frames_until(&input, position, end, &mut |offset, record| {
            let location = Location { file: input.id(), offset: offset as u32 };
            let is_needed = match record.header.record_type.is_tombstone() {
                true => self.is_tombstone_needed(record, copying.tombstones_needed_from),
                false => self.is_live(record, location),
            };
            if is_needed {
                write_alone(record, &mut piece);
                if piece.len() >= PIECE_BYTES {
                    failed = append(output, &mut piece).err();
                }
            }
            position = offset + record.header.record_len();
            position < stop && failed.is_none()
        });
        let walked = walked.map_err(merge_error)?;
        if let Some(error) = failed.or_else(|| append(output, &mut piece).err()) {
            return Err(merge_error(error));
        }
        if let End::Broken(offset) = walked {
            let what = format!("datafile {} is damaged at offset {offset}", input.id());
            return Err(EngineError::Damaged(what));
        }
        let bytes = position - copying.position;
        copying.position = position;
        if position >= end {
            copying.input += 1;
            copying.position = copying.inputs.get(copying.input).map_or(0, |next| next.header_len);
        }
        Ok((Merge::Copying(copying), bytes))
    }

    fn publish(&self, copying: Copying) -> Result<Relocating> {
        let Copying { inputs, output, .. } = copying;
        self.sync()?;
        self.log.storage().publish(DatafileId(output.id())).map_err(|error| self.log.poison(error))?;
        output.is_sealed.store(true, Ordering::Release);
        self.log.add_file(output.clone());
        let position = output.header_len;
        Ok(Relocating { inputs, output, position })
    }

    fn relocate(&self, mut relocating: Relocating, budget_bytes: u64) -> Result<(Merge, u64)> {
        let Relocating { inputs, output, position } = &mut relocating;
        let (begin, end) = (*position, output.len());
        let stop = begin.saturating_add(budget_bytes.max(1));
        let walked = scan::frames_until(output, begin, end, &mut |offset, record| {
            let len = record.header.record_len();
            if record.header.record_type.is_tombstone() {
                output.tombstones.fetch_add(len, Ordering::Relaxed);
            } else if !self.move_entry(record, inputs, Location { file: output.id(), offset: offset as u32 })
            {
                output.add_dead(len);
            }
            *position = offset + len;
            *position < stop
        });
        if let End::Broken(offset) = walked.map_err(merge_error)? {
            let what = format!("datafile {} is damaged at offset {offset}", output.id());
            return Err(EngineError::Damaged(what));
        }
        let bytes = *position - begin;
        if *position < end {
            return Ok((Merge::Relocating(relocating), bytes));
        }
        self.remove_inputs(inputs)?;
        Ok((Merge::Idle, bytes))
    }

    fn remove_inputs(&self, inputs: &[Arc<File>]) -> Result<()> {
        inputs.iter().for_each(|input| self.log.remove_file(input.id()));
        for shard in &self.shards {
            shard.lock().files = self.log.files();
        }
        let storage = self.log.storage();
        for input in inputs {
            storage.remove(DatafileId(input.id())).map_err(merge_error)?;
            hint::forget(storage.meta(), input.id()).map_err(merge_error)?;
        }
        Ok(())
    }

    fn is_tombstone_needed(&self, record: &Record<'_>, needed_from: u64) -> bool {
        let is_orphan = record.header.record_type == RecordType::SubTombstone
            && !self.owners.lock().contains_key(&record.header.owner);
        // Without a living collection its subkeys are dead anyway: the root's tombstone sees to that.
        !is_orphan && needed_from != u64::MAX && record.header.sequence >= needed_from
    }

    /// Whether the keydir points at this record.
    fn is_live(&self, record: &Record<'_>, location: Location) -> bool {
        self.entry_location(record) == Some(location)
    }

    /// Where the keydir finds what this record is about.
    pub(super) fn entry_location(&self, record: &Record<'_>) -> Option<Location> {
        let header = &record.header;
        match header.record_type {
            RecordType::Root => {
                let name = Name::of(self.seed, record.key);
                let hash = name.hash(self.seed);
                let shard = self.shards[shard_of(hash)].lock();
                shard.root(header.owner, &name, hash).map(|entry| entry.location)
            }
            RecordType::Sub => {
                let at = usize::from(*self.owners.lock().get(&header.owner)?);
                let shard = self.shards.get(at)?.lock();
                let entry = shard.collections.get(&header.owner)?.get(record.key)?;
                SubEntry::read(entry).map(|(entry, _)| entry.location)
            }
            RecordType::Databases => *self.databases_record.lock(),
            RecordType::RootTombstone | RecordType::SubTombstone | RecordType::Synced => None,
        }
    }

    /// Makes an entry that points into one of the inputs point to the output; false if it points elsewhere by now.
    fn move_entry(&self, record: &Record<'_>, inputs: &[Arc<File>], to: Location) -> bool {
        let is_old = |location: Location| inputs.iter().any(|input| input.id() == location.file);
        let header = &record.header;
        let moved = || -> Option<()> {
            match header.record_type {
                RecordType::Root => {
                    let name = Name::of(self.seed, record.key);
                    let hash = name.hash(self.seed);
                    let mut shard = self.shards[shard_of(hash)].lock();
                    let space = shard.space_mut(header.owner)?;
                    let bytes = space.table_mut(&name).get_mut(hash, name.bytes())?;
                    let mut entry = RootEntry::read(bytes).filter(|entry| is_old(entry.location))?;
                    entry.location = to;
                    bytes.copy_from_slice(&entry.to_bytes());
                    Some(())
                }
                RecordType::Sub => loop {
                    let at = usize::from(*self.owners.lock().get(&header.owner)?);
                    let mut shard = self.shards.get(at)?.lock();
                    let Some(tree) = shard.collections.get_mut(&header.owner) else {
                        drop(shard);
                        // RENAME may have moved the collection between the two locks.
                        if self.owners.lock().get(&header.owner) == Some(&(at as u16)) {
                            return None;
                        }
                        continue;
                    };
                    let bytes = tree.get_mut(record.key)?;
                    SubEntry::read(bytes).filter(|(entry, _)| is_old(entry.location))?;
                    bytes.get_mut(0..4)?.copy_from_slice(&to.file.to_le_bytes());
                    bytes.get_mut(4..8)?.copy_from_slice(&to.offset.to_le_bytes());
                    return Some(());
                },
                RecordType::Databases => {
                    let mut place = self.databases_record.lock();
                    place.filter(|place| is_old(*place))?;
                    *place = Some(to);
                    Some(())
                }
                RecordType::RootTombstone | RecordType::SubTombstone | RecordType::Synced => None,
            }
        };
        moved().is_some()
    }
}

/// A merge gives up on any error and begins anew later; its inputs are untouched.
fn merge_error(error: StorageError) -> EngineError {
    match error {
        StorageError::Full(what) => EngineError::Full(what),
        error => EngineError::Damaged(format!("merge stopped: {error}")),
    }
}

fn append(output: &File, piece: &mut Vec<u8>) -> std::result::Result<(), StorageError> {
    if !piece.is_empty() {
        let at = output.len();
        output.datafile.append(at, &[piece])?;
        output.len.store(at + piece.len() as u64, Ordering::Release);
        piece.clear();
    }
    Ok(())
}

/// Writes a record as a frame of its own: an output is published whole or not at all, so frames have done their work.
fn write_alone(record: &Record<'_>, out: &mut Vec<u8>) {
    let header = Header { is_first: true, is_last: true, ..record.header };
    header.write(record.key, record.value, out);
    out.extend_from_slice(record.value);
}

/// Which run of files, in the order of replay, is most worth merging.
fn choose(files: &[Arc<File>], datafile_max_bytes: u64) -> Option<std::ops::Range<usize>> {
    let sealed = files.iter().take_while(|file| file.is_sealed()).count();
    let files = &files[..sealed];
    let mut best: Option<(u64, usize)> = None;
    let mut oldest_watermark = u64::MAX;
    for (at, file) in files.iter().enumerate() {
        let next_base = files.get(at + 1).map_or(u64::MAX, |next| next.header.base_sequence);
        let has_idle_tombstones = at == 0 || oldest_watermark >= next_base;
        let idle = if has_idle_tombstones { file.tombstones() } else { 0 };
        let percent = (file.dead() + idle) * 100 / file.len().max(1);
        if percent >= DEAD_PERCENT && best.is_none_or(|(most, _)| percent > most) {
            best = Some((percent, at));
        }
        oldest_watermark = oldest_watermark.min(file.header.watermark);
    }
    if let Some((_, at)) = best {
        return Some(at..at + 1);
    }
    let total: u64 = files.iter().map(|file| file.len()).sum();
    let tombstones: u64 = files.iter().map(|file| file.tombstones()).sum();
    if tombstones * 100 > total * TOMBSTONE_PERCENT && files.len() > 1 {
        // Tombstones stay because of older files that were not merged since: the one merged longest ago is next.
        let oldest = (0..files.len() - 1).min_by_key(|at| files[*at].header.watermark)?;
        if files[oldest].header.watermark < files[files.len() - 1].header.base_sequence {
            return Some(oldest..oldest + 1);
        }
    }
    small_run(files, datafile_max_bytes)
}

fn small_run(files: &[Arc<File>], datafile_max_bytes: u64) -> Option<std::ops::Range<usize>> {
    let is_small = |file: &Arc<File>| file.len() < datafile_max_bytes / 8;
    let mut start = 0;
    for at in 0..=files.len() {
        if files.get(at).is_some_and(is_small) {
            continue;
        }
        if at - start >= SMALL_RUN {
            return Some(start..(start + 8).min(at));
        }
        start = at + 1;
    }
    None
}

// Locations and shards are counted in types this small.
const _: () = assert!(SHARDS <= u16::MAX as usize);

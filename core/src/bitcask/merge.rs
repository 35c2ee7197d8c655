//! Merge: datafiles whose dead share is large are rewritten without what is dead.
//!
//! A merge takes a run of neighbours in the order of replay and writes one output that stands at their place in that
//! order, so "later wins" stays true without comparing sequences. It goes in steps that a host paces:
//!
//! 1. *Copy*: records that the keydir points at, and tombstones that may still be needed, go to a hidden output. They are found
//!    by reading the inputs, or through the keydir where that costs less ([`super::live_records`]).
//! 2. *Publish*: the log is synced (what replaced the dropped records must survive), the output says how much of the
//!    active datafile that was and is sealed, then it is listed. From here on the inputs are litter, because the
//!    output's header names them. This is the atomic swap.
//! 3. *Relocate*: entries of the keydir that still point into an input point to the output from now on.
//! 4. *Remove*: the inputs go.
//!
//! A crash before 2 leaves the inputs, a crash after it the output. An error before 2 removes the output and gives up;
//! an error after it is reported and the same step is tried again, because an input that stayed would be taken for a
//! living datafile once its output is merged in turn. Readers and writers are never blocked for longer than one record
//! takes.
//!
//! When a tombstone may go: an output's header carries a *watermark*, the sequence at which its copy began; what was
//! dead by then is not in it. A tombstone is needed only while a file that stands before it could still hold what it
//! removed, that is, while one of them has a watermark not beyond the tombstone's sequence.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Bitcask;
use super::fault_injection::{Fault, is_injected};
use super::files::File;
use super::keydir::{Location, SHARDS};
use super::listing;
use super::live_records::{LiveOffsets, LiveRecords};
use super::record::{Header, Record, RecordType, SYNCED_RECORD_BYTES, Salt, seal_record, synced_record};
use super::scan::{self, End, Placed};
use crate::engine::{EngineError, Result};
use crate::sorted;
use crate::storage::{DatafileId, Room, StorageError};

/// A datafile is worth merging once this share of it, in percent, is dead.
const DEAD_PERCENT: u64 = 50;

/// The same while more than this is dead, beside a half of what is live: less is copied by waiting, but room runs out.
const EAGER_DEAD_PERCENT: u64 = 30;
const EAGER_DEAD_BYTES: u64 = 64 * 1024 * 1024;

/// The same where the device is nearly full: better little than nothing.
const SCARCE_DEAD_PERCENT: u64 = 10;

/// Tombstones beyond this share of all bytes, in percent, are worth rewriting the files that keep them needed.
const TOMBSTONE_PERCENT: u64 = 25;

/// So many small neighbours are merged into one even if nothing in them is dead.
const SMALL_RUN: usize = 4;

/// Most files that one merge takes: its step of relocating compares each record with all of them.
const RUN_MAX: usize = 8;

/// Output is appended in pieces of about this many bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// The merge that is under way, if one is.
#[derive(Default)]
pub(super) enum Merge {
    #[default]
    Idle,
    Copying(Copying),
    Relocating(Relocating),
    Removing(Removing),
}

/// Step 1.
pub(super) struct Copying {
    inputs: Vec<Arc<File>>,
    /// Which input is being read, and from where.
    input: usize,
    position: u64,
    live: Live,
    output: Arc<File>,
    /// Tombstones with a smaller sequence may go.
    tombstones_needed_from: u64,
}

/// How the live records of the inputs are found.
enum Live {
    /// They are known, and only they are read.
    Records(LiveRecords),
    /// All of the inputs is read; where live records begin is known.
    Offsets(LiveOffsets),
    /// All of the inputs is read, and each record is looked up.
    Unknown,
}

/// Step 3.
pub(super) struct Relocating {
    inputs: Vec<Arc<File>>,
    output: Arc<File>,
    position: u64,
}

/// Step 4: the inputs that are still there, or what else has to go.
pub(super) struct Removing(Vec<Arc<File>>);

impl Merge {
    /// How many bytes the merge under way has to read, and has read; zeros if there is none.
    pub(super) fn progress(&self) -> (u64, u64) {
        let total = |files: &[Arc<File>]| files.iter().map(|file| file.len()).sum::<u64>();
        match self {
            Merge::Idle => (0, 0),
            Merge::Copying(copying) => {
                let read = total(copying.inputs.get(..copying.input).unwrap_or_default()) + copying.position;
                (total(&copying.inputs), read)
            }
            Merge::Relocating(relocating) => (total(&relocating.inputs), total(&relocating.inputs)),
            Merge::Removing(Removing(left)) => (total(left), total(left)),
        }
    }

    /// Begins anew with what a recovery found: an output that was not published goes, and so do the datafiles that a
    /// published one stands for.
    pub(super) fn reopen(&mut self, mut litter: Vec<Arc<File>>) {
        if let Merge::Copying(copying) = self {
            litter.push(copying.output.clone());
        }
        *self = if litter.is_empty() { Merge::Idle } else { Merge::Removing(Removing(litter)) };
    }
}

/// The outcome of a step of merging.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeStep {
    /// Bytes read and written.
    pub bytes: u64,
    /// Whether there is more to do at once.
    pub is_unfinished: bool,
}

/// Whether a test leaves a record out, though it lives.
fn is_left_out(record: &Record<'_>) -> bool {
    is_injected(Fault::DatabasesLeftOut) && record.header.record_type == RecordType::Databases
}

impl Bitcask {
    /// Does about `budget_bytes` of merging, beginning one if it is worth it. Space used stays below twice the live
    /// data as long as the host's budget keeps up with its writes.
    pub fn merge_step(&self, budget_bytes: u64) -> Result<MergeStep> {
        let mut merge = self.merging.lock();
        self.log.look_at_room();
        let stepped = match &mut *merge {
            Merge::Idle => self.begin_merge().map(|begun| (Some(begun), 0)),
            Merge::Copying(copying) => self.copy(copying, budget_bytes),
            Merge::Relocating(relocating) => self.relocate(relocating, budget_bytes),
            Merge::Removing(removing) => self.remove_inputs(removing).map(|()| (Some(Merge::Idle), 0)),
        };
        let (next, bytes) = match stepped {
            Ok(stepped) => stepped,
            Err(error) => {
                self.rewrite.fail();
                if let Merge::Copying(copying) = &*merge {
                    self.discard_output(copying);
                    self.log.storage().set_lent_bytes(0);
                    *merge = Merge::Idle;
                    self.counts.forget_merge();
                }
                return Err(error);
            }
        };
        if let Some(next) = next {
            if matches!(next, Merge::Idle) {
                self.log.storage().set_lent_bytes(0);
            }
            *merge = next;
        }
        self.counts.note_merge(&merge, bytes);
        Ok(MergeStep { bytes, is_unfinished: !matches!(*merge, Merge::Idle) })
    }

    /// Removes an output that will not be published, as far as possible; the next process finds the rest.
    fn discard_output(&self, copying: &Copying) {
        let _ = self.log.storage().remove(DatafileId(copying.output.id()));
    }

    fn begin_merge(&self) -> Result<Merge> {
        self.log.check_poison()?;
        self.log.manifest.ensure_written().map_err(merge_error)?;
        self.begin_asked_rewrite()?;
        let mut files: Vec<Arc<File>> = self.log.files().values().cloned().collect();
        sorted::all(&mut files, |one, other| one.order().cmp(&other.order()));
        let is_scarce = self.log.is_scarce();
        let (used, live) = self.space();
        let aims = Aims {
            dead_percent: match used.saturating_sub(live) {
                _ if is_scarce => SCARCE_DEAD_PERCENT,
                dead if dead > live / 2 + EAGER_DEAD_BYTES => EAGER_DEAD_PERCENT,
                _ => DEAD_PERCENT,
            },
            small_bytes: self.log.datafile_max_bytes() / 8,
            output_max_bytes: self.log.datafile_max_bytes(),
            room_bytes: self.log.free_for_merge().unwrap_or(u64::MAX),
        };
        let asked = || self.rewrite.next(&files).map(|at| at..at + 1);
        let Some(run) = choose(&files, &aims).or_else(asked) else {
            if is_scarce {
                // What is dead may all be in the file that is appended to.
                self.log.seal_for_room(0)?;
            }
            return Ok(Merge::Idle);
        };
        let inputs: Vec<Arc<File>> = files[run.clone()].to_vec();
        let watermark = self.log.sequence_bound();
        self.wait_for_commits();
        let older = files[..run.start].iter().map(|file| file.header.watermark).min();
        let Some(first) = inputs.first() else { return Ok(Merge::Idle) };
        let replaces = inputs.iter().map(|file| file.id()).collect();
        let header = self.log.header(first.header.base_sequence, watermark, replaces)?;
        let bytes = header.to_bytes();
        let datafile = match self.log.storage().create_hidden(DatafileId(header.id), &bytes) {
            Ok(datafile) => datafile,
            Err(error) => {
                self.log.give_back_number(header.id, &error);
                return Err(merge_error(error));
            }
        };
        let output = Arc::new(File::new(header, datafile, bytes.len() as u64));
        let position = first.header_len;
        let tombstones_needed_from = older.unwrap_or(u64::MAX);
        let bytes = inputs.iter().map(|input| input.len()).sum();
        let live = match self.live_records(&inputs, older.is_some()) {
            Some(records) => Live::Records(records),
            // What dies during the copy should not take room where there is little.
            None if is_scarce => Live::Unknown,
            None => self.live_offsets(&inputs, bytes).map_or(Live::Unknown, Live::Offsets),
        };
        Ok(Merge::Copying(Copying { inputs, input: 0, position, live, output, tombstones_needed_from }))
    }

    fn copy(&self, copying: &mut Copying, budget_bytes: u64) -> Result<(Option<Merge>, u64)> {
        let Some(input) = copying.inputs.get(copying.input).cloned() else {
            return self.publish(copying).map(|relocating| (Some(Merge::Relocating(relocating)), 0));
        };
        if matches!(copying.live, Live::Records(_)) {
            return self.copy_live(copying, budget_bytes).map(|bytes| (None, bytes));
        }
        let mut piece = Vec::new();
        let mut failed = None;
        let end = input.len();
        let append = |output: &File, piece: &mut Vec<u8>| self.append_to(output, piece);
        let (mut position, output) = (copying.position, &copying.output);
        let stop = position.saturating_add(budget_bytes.max(1));
        let mut known = match &copying.live {
            Live::Offsets(offsets) => Some(offsets.of_input(copying.input, position)),
            _ => None,
        };
        let walked = scan::frames_in_batches(&input, (position, stop), end, &mut |records| {
            let mut copy = |Placed { offset, record }: &Placed<'_>, is_live: bool| {
                let is_needed = match record.header.record_type.is_tombstone() {
                    _ if is_left_out(record) => false,
                    true => self.is_tombstone_needed(record, copying.tombstones_needed_from),
                    false => is_live,
                };
                if is_needed {
                    write_alone(record, output.salt, &mut piece);
                }
                position = offset + record.header.record_len();
            };
            match &mut known {
                Some(live) => records.iter().for_each(|placed| copy(placed, live.begins_at(placed.offset))),
                None => self.entry_locations(records, &mut |placed, entry| {
                    copy(placed, entry == Some(Location { file: input.id(), offset: placed.offset as u32 }));
                }),
            }
            if piece.len() >= PIECE_BYTES && failed.is_none() {
                failed = append(output, &mut piece).err();
            }
            failed.is_none()
        });
        let walked = walked.map_err(merge_error)?;
        if let Some(error) = failed.or_else(|| append(output, &mut piece).err()) {
            return Err(merge_error(error));
        }
        if let End::Broken(offset) = walked {
            return Err(found_damaged(&input, offset));
        }
        let bytes = position - copying.position;
        copying.position = position;
        if position >= end {
            copying.input += 1;
            copying.position = copying.inputs.get(copying.input).map_or(0, |next| next.header_len);
        }
        Ok((None, bytes))
    }

    /// Copies what lives, where that is known. Returns how many bytes it has read.
    fn copy_live(&self, copying: &mut Copying, budget_bytes: u64) -> Result<u64> {
        let Copying { inputs, input, position, live, output, .. } = copying;
        let (mut piece, mut bytes, mut read) = (Vec::new(), Vec::new(), 0);
        while let Live::Records(live) = live {
            let Some(place) = live.next_place() else {
                (*input, *position) = (inputs.len(), 0);
                break;
            };
            (*input, *position) = place;
            if read >= budget_bytes.max(1) {
                break;
            }
            let found = live.read_next(inputs, &mut bytes).map_err(merge_error)?;
            let Some((location, record)) = found else {
                return Err(found_damaged(&inputs[*input], *position));
            };
            read += record.header.record_len();
            if self.entry_location(&record) == Some(location) && !is_left_out(&record) {
                write_alone(&record, output.salt, &mut piece);
            }
            if piece.len() >= PIECE_BYTES {
                self.append_to(output, &mut piece).map_err(merge_error)?;
            }
        }
        self.append_to(output, &mut piece).map_err(merge_error)?;
        Ok(read)
    }

    /// Appends to an output that is not published yet.
    fn append_to(&self, output: &File, piece: &mut Vec<u8>) -> std::result::Result<(), StorageError> {
        // Before it takes any room: removals must not be refused for it.
        self.log.storage().set_lent_bytes(output.len() + piece.len() as u64);
        append(output, piece)
    }

    fn publish(&self, copying: &Copying) -> Result<Relocating> {
        let Copying { inputs, output, .. } = copying;
        if !is_injected(Fault::PublishUnsynced) {
            self.sync()?;
        }
        let sequence = output.header.watermark;
        let mut end = match self.log.active_synced() {
            Some((active, synced_len)) => {
                synced_record(&active, output.salt, output.len(), synced_len, sequence, 0)
            }
            None => Vec::new(),
        };
        end.extend_from_slice(&seal_record(&output.header, output.len() + end.len() as u64, sequence, 0));
        output.add_dead(end.len() as u64);
        append(output, &mut end).map_err(merge_error)?;
        // What the device preallocated must not look like damage to the next process.
        output.datafile.cut(output.len()).map_err(|error| self.log.poison(error))?;
        self.log.manifest.ensure_written().map_err(merge_error)?;
        self.log.storage().publish(DatafileId(output.id())).map_err(|error| self.log.poison(error))?;
        output.is_sealed.store(true, Ordering::Release);
        self.log.add_file(output.clone());
        self.show_files();
        let position = output.header_len;
        Ok(Relocating { inputs: inputs.clone(), output: output.clone(), position })
    }

    /// Makes every shard see the datafiles as they are now.
    fn show_files(&self) {
        for shard in &self.shards {
            shard.lock().files = self.log.files();
        }
    }

    fn relocate(&self, relocating: &mut Relocating, budget_bytes: u64) -> Result<(Option<Merge>, u64)> {
        let Relocating { inputs, output, position } = relocating;
        let (begin, end) = (*position, output.len());
        let stop = begin.saturating_add(budget_bytes.max(1));
        let walked = scan::frames_in_batches(output, (begin, stop), end, &mut |records| {
            self.move_entries(records, inputs, output.id(), &mut |Placed { offset, record }, is_moved| {
                let len = record.header.record_len();
                if record.header.record_type.is_tombstone() {
                    output.tombstones.fetch_add(len, Ordering::Relaxed);
                } else if !is_moved && record.header.record_type != RecordType::Synced {
                    // A record of the last kind was counted when it was written.
                    output.add_dead(len);
                }
                *position = offset + len;
            });
            true
        });
        if let End::Broken(offset) = walked.map_err(merge_error)? {
            let what = format!("datafile {} is damaged at offset {offset}", output.id());
            return Err(EngineError::Damaged(what));
        }
        let bytes = *position - begin;
        if *position < end {
            return Ok((None, bytes));
        }
        // Before any of them may go. An error leaves this step to be made again.
        let seal = listing::seal_of(output, end).map_err(merge_error)?.unwrap_or_default();
        self.log.manifest.replace(&output.header, seal).map_err(merge_error)?;
        inputs.iter().for_each(|input| self.log.remove_file(input.id()));
        self.show_files();
        Ok((Some(Merge::Removing(Removing(std::mem::take(inputs)))), bytes))
    }

    fn remove_inputs(&self, removing: &mut Removing) -> Result<()> {
        let storage = self.log.storage();
        while let Some(input) = removing.0.last() {
            // Hints first: as long as the file is there, the next process finds both. A metadata map that fails, for want of
            // room perhaps, keeps hints of a file that is gone, whose number no other file will have; the room of the file
            // matters more.
            let _ = self.forget_hint(input.id());
            match storage.remove(DatafileId(input.id())) {
                // A removal that failed may have happened all the same.
                Ok(()) | Err(StorageError::Missing(_)) => {
                    self.log.manifest.note_removed(input.id());
                    removing.0.pop()
                }
                Err(error) => return Err(merge_error(error)),
            };
        }
        // Some devices free their space only then.
        storage.sync_removals().map_err(|error| self.log.poison(error))
    }

    fn is_tombstone_needed(&self, record: &Record<'_>, needed_from: u64) -> bool {
        let is_orphan = record.header.record_type == RecordType::SubTombstone
            && !self.owners.lock().contains_key(&record.header.owner);
        // Without a living collection its subkeys are dead anyway: the root's tombstone sees to that.
        !is_orphan && needed_from != u64::MAX && record.header.sequence >= needed_from
    }

    /// Returns once every commit whose frame is in the log is in the keydir as well.
    pub(super) fn wait_for_commits(&self) {
        // A commit holds its shards from before it takes a sequence until the keydir has followed.
        self.shards.iter().for_each(|shard| drop(shard.lock()));
    }
}

/// The error of an input that has no whole record at this place. It is not chosen again.
fn found_damaged(input: &File, offset: u64) -> EngineError {
    input.is_damaged.store(true, Ordering::Relaxed);
    EngineError::Damaged(format!("datafile {} is damaged at offset {offset}", input.id()))
}

/// A merge gives up on any error and begins anew later; its inputs are untouched.
fn merge_error(error: StorageError) -> EngineError {
    match error {
        StorageError::Full(what) => EngineError::Full(what),
        StorageError::Exhausted(what) => EngineError::Exhausted(what),
        error => EngineError::Damaged(format!("merge stopped: {error}")),
    }
}

pub(super) fn append(output: &File, piece: &mut Vec<u8>) -> std::result::Result<(), StorageError> {
    if !piece.is_empty() {
        let at = output.len();
        output.datafile.append_within(at, &[piece], Room::Merging)?;
        output.len.store(at + piece.len() as u64, Ordering::Release);
        piece.clear();
    }
    Ok(())
}

/// Writes a record as a frame of its own: an output is published whole or not at all, so frames have done their work.
pub(super) fn write_alone(record: &Record<'_>, salt: Salt, out: &mut Vec<u8>) {
    let header = Header { is_first: true, is_last: true, ..record.header };
    header.write(record.key, record.value, salt, out);
    out.extend_from_slice(record.value);
}

/// What makes a merge worth it, and possible.
struct Aims {
    /// A file of which this share is dead is worth merging.
    dead_percent: u64,
    /// Files below this size are small.
    small_bytes: u64,
    /// What the output may take of the device.
    room_bytes: u64,
    /// How large the output of several files may become.
    output_max_bytes: u64,
}

impl Aims {
    /// Whether there is room for the output of a merge of these files, and the output of several is no larger than a datafile.
    fn has_room(&self, files: &[Arc<File>]) -> bool {
        let live: u64 = files.iter().map(|file| file.len().saturating_sub(file.dead())).sum();
        live <= self.room_bytes && (files.len() == 1 || live <= self.output_max_bytes)
    }
}

/// Which run of files, in the order of replay, is most worth merging and fits.
fn choose(files: &[Arc<File>], aims: &Aims) -> Option<std::ops::Range<usize>> {
    let sealed = files.iter().take_while(|file| file.is_sealed()).count();
    let files = &files[..sealed];
    let percents = dead_percents(files);
    let is_worth_it = |at: usize| {
        percents[at] >= aims.dead_percent && !files[at].is_damaged() && aims.has_room(&files[at..at + 1])
    };
    let best = (0..files.len()).filter(|at| is_worth_it(*at)).max_by_key(|at| percents[*at]);
    if let Some(best) = best {
        // A merge costs syncs: what is worth it beside the best comes along.
        let fits = |run: &std::ops::Range<usize>| run.len() <= RUN_MAX && aims.has_room(&files[run.clone()]);
        let mut run = best..best + 1;
        while run.end < files.len() && is_worth_it(run.end) && fits(&(run.start..run.end + 1)) {
            run.end += 1;
        }
        while run.start > 0 && is_worth_it(run.start - 1) && fits(&(run.start - 1..run.end)) {
            run.start -= 1;
        }
        return Some(run);
    }
    let total: u64 = files.iter().map(|file| file.len()).sum();
    let tombstones: u64 = files.iter().map(|file| file.tombstones()).sum();
    if tombstones * 100 > total * TOMBSTONE_PERCENT && files.len() > 1 {
        // Tombstones stay because of older files that were not merged since: the one merged longest ago is next.
        let is_whole = |at: &usize| !files[*at].is_damaged() && aims.has_room(&files[*at..*at + 1]);
        let oldest = (0..files.len() - 1).filter(is_whole).min_by_key(|at| files[*at].header.watermark)?;
        if files[oldest].header.watermark < files[files.len() - 1].header.base_sequence {
            return Some(oldest..oldest + 1);
        }
    }
    small_run(files, aims)
}

/// The share of each file, in percent, that a merge would free.
fn dead_percents(files: &[Arc<File>]) -> Vec<u64> {
    let mut oldest_watermark = u64::MAX;
    let percent = |(at, file): (usize, &Arc<File>)| {
        let next_base = files.get(at + 1).map_or(u64::MAX, |next| next.header.base_sequence);
        let has_idle_tombstones = at == 0 || oldest_watermark >= next_base;
        let idle = if has_idle_tombstones { file.tombstones() } else { 0 };
        // What every sealed file has at its end is no gain: a tiny output would be merged again and again.
        let dead = file.dead().saturating_sub(2 * SYNCED_RECORD_BYTES);
        oldest_watermark = oldest_watermark.min(file.header.watermark);
        (dead + idle) * 100 / file.len().max(1)
    };
    files.iter().enumerate().map(percent).collect()
}

fn small_run(files: &[Arc<File>], aims: &Aims) -> Option<std::ops::Range<usize>> {
    let is_small = |file: &Arc<File>| file.len() < aims.small_bytes && !file.is_damaged();
    let mut start = 0;
    for at in 0..=files.len() {
        if files.get(at).is_some_and(is_small) {
            continue;
        }
        if at - start >= SMALL_RUN {
            let run = start..(start + RUN_MAX).min(at);
            if aims.has_room(&files[run.clone()]) {
                return Some(run);
            }
        }
        start = at + 1;
    }
    None
}

// Locations and shards are counted in types this small.
const _: () = assert!(SHARDS <= u16::MAX as usize);

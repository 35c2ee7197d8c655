//! Replaying one datafile, and what its end says: a clean end, a torn tail, or damage.
//!
//! A frame that is not whole ends a datafile. It may only be the tail of an unfinished write in the last datafile, and only
//! where nothing says that it had been on the disk, or in the operating system:
//! - a record behind it, a seal, a hint, an output of a merge or the manifest says that it had been synced;
//! - whole frames stand behind it, and the machine has run on since. A process that ends, however it ends, leaves what it
//!   has written in the operating system, and it writes one frame after the other. Only the loss of power can leave a hole
//!   in what was not synced;
//! - whole frames stand behind it, and it does not look like what the loss of power leaves
//!   ([`super::salvage::may_be_a_hole`]).
//!
//! A store that is to be salvaged loses no whole frames behind a hole, even if the loss of power explains it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::cut_short;
use super::damage::{Damage, Findings, OpenError};
use super::files::File;
use super::hint;
use super::keydir::{Location, Name};
use super::lost::{self, Listed};
use super::record::{Record, RecordType};
use super::replay::Replay;
use super::salvage::{self, Behind, Step};
use super::scan::{self, End};
use crate::engine::BlobRef;
use crate::storage::Storage;

/// The evidence that recovery goes by.
#[derive(Clone, Copy)]
pub(super) enum Trust {
    /// The storage of a process that has ended: hints stand in for records, and the log may end in a torn frame.
    Hints,
    /// The same without hints: every record is read.
    Log,
    /// The storage that this process has just synced: the records themselves, and none of them may be missing. With the datafile that
    /// is appended to, if there is one, and its length.
    Records(Option<(u32, u64)>),
}

/// Facts about a datafile that was perhaps appended to last, known before it is replayed.
#[derive(Clone, Copy)]
pub(super) struct Last {
    /// How much of it others say was on the disk.
    pub(super) synced_len: u64,
    /// Where it ends, if a blob was found missing there.
    pub(super) end: Option<u64>,
    /// Whether the power may have been lost since it was written.
    pub(super) may_have_lost_power: bool,
    /// Whether its seal says that all before it is on the disk: not if appends may have gone on in the next datafile at once.
    pub(super) trusts_seal: bool,
}

/// What recovery cut off the last datafile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// The datafile's number.
    pub file: u32,
    /// Where it ends now, in bytes.
    pub offset: u64,
    /// How many bytes were behind that, preallocated zeros not counted.
    pub bytes: u64,
    /// How many whole frames were among them. Only after a loss of power, and where the store is not to be salvaged.
    pub whole_frames: u64,
    /// Where the bytes were copied to, if there were whole frames among them.
    pub set_aside: Option<String>,
}

/// A record with a blob, in the last datafile.
pub(super) struct TailBlob {
    /// Where its frame begins.
    pub(super) frame: u64,
    pub(super) at: Location,
    pub(super) space: u64,
    pub(super) key: Vec<u8>,
    pub(super) blob: BlobRef,
}

/// Counts made while replaying.
#[derive(Default)]
pub(super) struct Found {
    pub(super) replayed_records: u64,
    pub(super) hinted_datafiles: u64,
    pub(super) rejected_hints: u64,
    pub(super) torn_tail: Option<TornTail>,
    /// The blobs of the records that nothing proves to have been synced.
    pub(super) tail: Vec<TailBlob>,
}

/// The replay of one datafile.
pub(super) struct FileReplay<'r> {
    pub(super) storage: &'r dyn Storage,
    pub(super) trust: Trust,
    pub(super) file: &'r Arc<File>,
    /// For the last one, and for the one before it if that was not synced for sure.
    pub(super) last: Option<Last>,
    pub(super) replay: &'r mut Replay,
    pub(super) found: &'r mut Found,
    pub(super) findings: &'r mut Findings,
}

/// Where the walk over a datafile is.
struct Place {
    /// Where the frame begins.
    frame: u64,
    /// So much of the datafile was on the disk, as its records say.
    synced: u64,
    /// The largest sequence of a frame in this datafile so far. Those of markers and seals are no measure: a merge writes its
    /// own into datafiles whose frames are much older.
    last_sequence: u64,
}

/// What a broken frame in the last datafile is.
enum Broken {
    /// The end of an unfinished write, or a hole that the loss of power left.
    Torn(Behind),
    /// Damage: what does not fit, and how many whole frames stand behind it.
    Damage(&'static str, u64),
}

impl FileReplay<'_> {
    /// Replays the datafile and says how long it is.
    pub(super) fn run(mut self) -> Result<(), OpenError> {
        let (file, last) = (self.file, self.last);
        let file_end = file.datafile.len()?;
        let end = last.and_then(|last| last.end).unwrap_or(file_end);
        let is_sealed = scan::is_sealed(file, end)?;
        let trusts_seal = last.is_none_or(|last| last.trusts_seal);
        let (mut from, mut last_sequence) = (file.header_len, file.header.first_sequence());
        // So many bytes were on the disk once.
        let is_whole = is_sealed && trusts_seal || file.header.is_output();
        let mut proven = last.filter(|_| !is_whole).map_or(end, |last| last.synced_len);
        let hints = match self.trust {
            Trust::Hints => hint::load(self.storage, file, self.replay)?,
            Trust::Log | Trust::Records(_) => hint::Loaded::None,
        };
        // Hints that are not applied prove as much.
        if matches!(self.trust, Trust::Log) && !is_sealed {
            proven = proven.max(hint::covered_once(self.storage.meta(), file));
        }
        match hints {
            hint::Loaded::Covers { covered, max_sequence } => {
                self.found.hinted_datafiles += 1;
                (from, last_sequence) = (covered, last_sequence.max(max_sequence));
            }
            hint::Loaded::Rejected(covered) => {
                self.found.rejected_hints += 1;
                // A seal knows better where the file ends.
                proven = if is_sealed && trusts_seal { proven } else { proven.max(covered) };
            }
            hint::Loaded::None => {}
        }
        let mut place = Place { frame: from, synced: proven.max(from), last_sequence };
        let mut frames_behind = 0;
        let walked =
            scan::frames(file, from, end, &mut |offset, record| self.take(&mut place, offset, record))?;
        let is_damaged = match walked {
            End::Clean if end < file_end => {
                self.cut(end, file_end, place.last_sequence)?;
                None
            }
            End::Clean if !is_sealed && (last.is_none() || file.header.is_output()) => {
                Some((end, "the datafile is cut short: it does not end with its seal"))
            }
            End::Clean if proven > end => Some((end, "the datafile is cut short: more of it was synced")),
            End::Clean => None,
            End::Broken(offset) if offset < proven || scan::was_synced(file, offset, end, trusts_seal)? => {
                Some((offset, "the record does not carry its checksum"))
            }
            End::Broken(offset) => match self.behind(offset, end, place.last_sequence)? {
                Broken::Damage(what, frames) => {
                    frames_behind = frames;
                    Some((offset, what))
                }
                Broken::Torn(behind) => {
                    self.found.torn_tail = self.torn_tail(offset, end, behind)?;
                    self.end_at(offset, is_sealed && trusts_seal);
                    self.forget_synced_blobs(place.synced);
                    return Ok(());
                }
            },
        };
        let mut end = last.and_then(|last| last.end).unwrap_or(file_end);
        if let Some((offset, what)) = is_damaged {
            end = self.go_on_behind(&mut place, (offset, end), what, frames_behind)?;
        }
        self.forget_synced_blobs(place.synced);
        self.end_at(end, is_sealed);
        Ok(())
    }

    /// Forgets the blobs of records in this datafile before an offset.
    fn forget_synced_blobs(&mut self, synced: u64) {
        let id = self.file.id();
        self.found.tail.retain(|tail| tail.at.file != id || tail.frame >= synced);
    }

    fn end_at(&self, len: u64, is_sealed: bool) {
        self.file.len.store(len, Ordering::Release);
        self.file.is_sealed.store(is_sealed, Ordering::Release);
    }

    /// What a broken frame is of which nothing says that it had been on the disk.
    fn behind(&self, offset: u64, end: u64, last_sequence: u64) -> Result<Broken, OpenError> {
        let behind = salvage::whole_frames_behind(self.file, offset, end, last_sequence)?;
        let may_have_lost_power = self.last.is_some_and(|last| last.may_have_lost_power);
        if behind.frames == 0 && !behind.is_undecided {
            let is_to_fit = self.storage.grows_ahead() && !may_have_lost_power && self.is_all(end)?;
            return Ok(match is_to_fit && cut_short::runs_over(self.file, offset, end)? {
                true => Broken::Damage("the datafile is cut short: it ends within a frame", 0),
                false => Broken::Torn(behind),
            });
        }
        let may_be_a_hole =
            may_have_lost_power && salvage::may_be_a_hole(self.file, offset, end, last_sequence)?;
        Ok(match () {
            () if may_be_a_hole && behind.frames > 0 && !self.findings.refuses() => Broken::Damage(
                "the record does not carry its checksum; whole frames stand behind it, which a start cuts off, since \
                 the loss of power explains that",
                behind.frames,
            ),
            () if may_be_a_hole && behind.frames > 0 => Broken::Torn(behind),
            () if behind.frames > 0 => Broken::Damage(
                "the record does not carry its checksum, and whole frames stand behind it",
                behind.frames,
            ),
            () => Broken::Damage(
                "the record does not carry its checksum, and too much behind it looks like records to decide whether \
                 whole frames stand there",
                0,
            ),
        })
    }

    /// Whether the datafile is no longer than this.
    fn is_all(&self, end: u64) -> Result<bool, OpenError> {
        Ok(end == self.file.datafile.len()?)
    }

    /// Notes that the datafile ends before these bytes, since the first of them refer to a lost blob.
    fn cut(&mut self, end: u64, file_end: u64, last_sequence: u64) -> Result<(), OpenError> {
        let behind = salvage::whole_frames_behind(self.file, end.saturating_sub(1), file_end, last_sequence)?;
        self.found.torn_tail = self.torn_tail(end, file_end, behind)?;
        Ok(())
    }

    /// What stands behind the last whole frame, if it is more than preallocated zeros.
    fn torn_tail(&self, offset: u64, end: u64, behind: Behind) -> Result<Option<TornTail>, OpenError> {
        let bytes = salvage::end_of_content(self.file, offset, end)? - offset;
        let torn =
            TornTail { file: self.file.id(), offset, bytes, whole_frames: behind.frames, set_aside: None };
        Ok((bytes > 0).then_some(torn))
    }

    /// Notes damage and replays what can be read behind it; returns where the datafile ends.
    fn go_on_behind(
        &mut self,
        place: &mut Place,
        (offset, end): (u64, u64),
        what: &'static str,
        frames_behind: u64,
    ) -> Result<u64, OpenError> {
        let (storage, file) = (self.storage, self.file.clone());
        let mut damage = Damage { frames_behind, ..Damage::in_file(storage, file.id(), offset, what) };
        if self.findings.refuses() {
            return self.findings.note(damage).map(|()| end);
        }
        let last_sequence = place.last_sequence;
        let kept = salvage::end_of_frames(&file, (offset, end), last_sequence, place.synced)?;
        let mut holes = Vec::new();
        salvage::walk(&file, offset, kept, last_sequence, &mut |step| match step {
            Step::Record(offset, record) => self.take(place, offset, record),
            Step::Hole(from, to) => holes.push((from, to, place.last_sequence)),
        })?;
        let listed = Listed::of(storage.meta(), &file)?;
        // What was cut off is a hole, too.
        let covered = listed.covered();
        match holes.last_mut() {
            Some((_, to, _)) if *to == end => *to = covered.max(end),
            _ if covered > end => holes.push((end, covered, place.last_sequence)),
            _ => {}
        }
        if holes.is_empty() {
            self.findings.note(damage.clone())?;
        }
        for (from, to, last_sequence) in holes {
            if from >= end {
                damage.what = "the datafile is cut short: its hints say that there was more";
            }
            let hole = lost::lost_records(Some(&file), (from, to), &listed, last_sequence)?;
            (damage.offset, damage.len) = (Some(from), Some(to - from));
            damage.records = hole.records;
            (damage.unnamed_records, damage.unnamed_bytes) = (hole.unnamed_records, hole.unnamed_bytes);
            self.findings.note(damage.clone())?;
            (damage.what, damage.frames_behind) = ("the record does not carry its checksum", 0);
        }
        Ok(kept)
    }

    /// Applies a record.
    fn take(&mut self, place: &mut Place, offset: u64, record: &Record<'_>) {
        self.found.replayed_records += 1;
        if record.header.is_first {
            place.frame = offset;
        }
        if record.header.record_type != RecordType::Synced {
            place.last_sequence = place.last_sequence.max(record.header.sequence);
        }
        let synced_len = record.synced_len(&self.file.header, offset);
        let trusts_seal = self.last.is_none_or(|last| last.trusts_seal);
        place.synced = synced_len.filter(|len| trusts_seal || *len <= offset).unwrap_or(0).max(place.synced);
        if let Some(blob) = record.header.blob(record.value).filter(|_| self.last.is_some()) {
            let (space, key) = (record.header.owner, record.key.to_vec());
            // Offsets of datafiles fit.
            let at = Location { file: self.file.id(), offset: offset as u32 };
            self.found.tail.push(TailBlob { frame: place.frame, at, space, key, blob });
        }
        // Subkeys are held whole whatever their length; only keys are cut to fingerprints.
        let name = match record.header.record_type {
            RecordType::Sub | RecordType::SubTombstone => Name::Short(record.key),
            _ => Name::of(self.file.header.seed, record.key),
        };
        self.replay.apply(&record.header, &name, record.value, self.file, offset);
    }
}

//! Scrubbing: everything that a store in use has on its disk is read and compared with its checksums, in small steps that a
//! host paces, so that what rots is known while there is still a backup from before.
//!
//! In this order: the manifest; every datafile as it is when the scrub begins, frame by frame; every blob through its key,
//! piece by piece, with its patches; the hints. Nothing is changed and nothing stops: what is damaged becomes a [`Finding`], and
//! its key answers an error as it does without a scrub.
//!
//! No lock of the store is held while it reads a datafile or a blob. A file that merge or a DEL removes meanwhile is read from
//! its open handle, or left out.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Bitcask;
use super::damage::{Damage, LostRecord, name_of_file};
use super::files::File;
use super::keydir::{SHARD_BITS, SHARDS, shard_of};
use super::lost;
use super::manifest::Manifest;
use super::record::FileHeader;
use super::salvage;
use super::scan::{self, End};
use super::{DbKey, hint};
use crate::engine::{BlobRef, CATALOG, Db, Engine, Overlay, Piece, Result, Scope, Txn, checksum_append};
use crate::sorted;
use crate::storage::{Blob, MetaOp, StorageError};

/// Where the metadata map says when a scrub came to its end: unix time in milliseconds, little-endian.
const ENDED_KEY: &[u8] = b"scrub/ended";

/// Keys that are looked at for blobs while one shard is locked.
const KEYS_PER_LOOK: usize = 500;

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A part of the store; its lost records name the keys.
    Part(Damage),
    /// The value of a key, by the text that a read of it is answered with.
    Value {
        /// The database of the key.
        db: Db,
        /// What is wrong; names key and file.
        what: String,
    },
    /// The hints of this datafile. The next start does without.
    Hints(u32),
    /// A file cannot be read.
    Unreadable(String),
}

/// How many keys of a damaged place a finding names.
const KEYS_NAMED_MAX: usize = 8;

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Part(damage) => {
                write!(out, "{damage}")?;
                for (at, LostRecord { key, .. }) in damage.records.iter().take(KEYS_NAMED_MAX).enumerate() {
                    let before = if at == 0 { "; it held" } else { "," };
                    write!(out, "{before} \"{}\"", key.escape_ascii())?;
                }
                match damage.records.len() > KEYS_NAMED_MAX {
                    true => write!(out, " and {} more", damage.records.len() - KEYS_NAMED_MAX),
                    false => Ok(()),
                }
            }
            Finding::Value { db: CATALOG, what } => write!(out, "catalog: {what}"),
            Finding::Value { db, what } => write!(out, "database {db}: {what}"),
            Finding::Hints(file) => write!(out, "the hints of datafile {file} do not carry their checksums"),
            Finding::Unreadable(what) => write!(out, "{what}"),
        }
    }
}

/// What is known of scrubs since the store was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrubbing {
    /// Whether one is under way.
    pub is_on: bool,
    /// Bytes of datafiles and blobs that it has done.
    pub done_bytes: u64,
    /// Bytes that there were when it began.
    pub all_bytes: u64,
    /// What the present scrub has found, or the last one.
    pub findings: u64,
    /// The last finding of all.
    pub last_finding: Option<String>,
    /// When the last scrub came to its end, unix time in milliseconds, of an earlier process perhaps.
    pub ended_at_ms: Option<u64>,
}

/// The outcome of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScrubStep {
    /// Bytes that were read.
    pub bytes: u64,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Whether the scrub came to its end.
    pub has_ended: bool,
}

/// The scrub that is under way, if one is.
#[derive(Default)]
pub(super) struct Scrub {
    work: Mutex<Work>,
    known: Mutex<Scrubbing>,
}

#[derive(Default)]
enum Work {
    #[default]
    Idle,
    /// The datafiles that are left, the next one last, and how far that one is done.
    Files(Vec<(Arc<File>, u64)>, u64),
    Blobs(Keys),
    /// The datafiles whose hints are left.
    Hints(Vec<u32>),
}

/// A walk over the keys with blobs.
#[derive(Default)]
struct Keys {
    /// Where it goes on in the order of hashes; `None` at the end.
    position: Option<u64>,
    /// Keys with blobs from before that position.
    found: Vec<DbKey>,
    value: Option<Value>,
}

/// A value that is being read.
struct Value {
    db: Db,
    key: Vec<u8>,
    source: Arc<dyn Blob>,
    at: u64,
    len: u64,
    /// Of a value without checksums of pieces: what its whole must have, and what was read of it so far.
    whole: Option<(BlobRef, u32)>,
}

impl Bitcask {
    /// Begins a scrub; false if one is under way.
    pub fn begin_scrub(&self) -> bool {
        let mut work = self.scrub.work.lock();
        if !matches!(*work, Work::Idle) {
            return false;
        }
        let mut files: Vec<(Arc<File>, u64)> =
            self.log.files().values().map(|file| (file.clone(), file.len())).collect();
        files.reverse();
        let (blob_bytes, _) = self.blobs.lengths();
        let known = &mut *self.scrub.known.lock();
        let all_bytes = files.iter().map(|(_, len)| *len).sum::<u64>() + blob_bytes;
        *known = Scrubbing {
            is_on: true,
            all_bytes,
            last_finding: known.last_finding.take(),
            ended_at_ms: known.ended_at_ms,
            ..Scrubbing::default()
        };
        *work = Work::Files(files, 0);
        true
    }

    /// What is known of scrubs.
    pub fn scrubbing(&self) -> Scrubbing {
        self.scrub.known.lock().clone()
    }

    /// When the last scrub came to its end, unix time in milliseconds. In a store that has never seen one it is `now_ms`, from
    /// then on.
    ///
    /// # Errors
    /// The metadata map fails.
    pub fn scrub_ended_at_ms(&self, now_ms: u64) -> std::result::Result<u64, StorageError> {
        if let Some(known) = self.scrub.known.lock().ended_at_ms {
            return Ok(known);
        }
        let stored = self.log.storage().meta().get(ENDED_KEY)?;
        let stored = stored.and_then(|bytes| Some(u64::from_le_bytes(*bytes.first_chunk()?)));
        let ended_at_ms = stored.unwrap_or(now_ms);
        if stored.is_none() {
            self.note_scrub_end(now_ms)?;
        }
        // A clock that was set back must not put the next scrub off for long.
        let ended_at_ms = ended_at_ms.min(now_ms);
        self.scrub.known.lock().ended_at_ms = Some(ended_at_ms);
        Ok(ended_at_ms)
    }

    fn note_scrub_end(&self, now_ms: u64) -> std::result::Result<(), StorageError> {
        let change = MetaOp::Put(ENDED_KEY.to_vec(), now_ms.to_le_bytes().to_vec());
        self.log.storage().meta().apply_lazily(&[change])
    }

    /// Reads about `budget_bytes` more, if a scrub is under way. A damaged datafile is gone through to its end in one step.
    pub fn scrub_step(&self, budget_bytes: u64, now_ms: u64) -> ScrubStep {
        let mut work = self.scrub.work.lock();
        let budget_bytes = budget_bytes.max(1);
        let mut step = ScrubStep::default();
        let is_first = matches!(&*work, Work::Files(..)) && self.scrub.known.lock().done_bytes == 0;
        let next = match &mut *work {
            Work::Idle => return step,
            Work::Files(files, position) => {
                if is_first && *position == 0 {
                    step.findings.extend(self.scrub_manifest());
                }
                self.scrub_files(files, position, budget_bytes, &mut step).then(|| {
                    let position = (self.blobs.count().live > 0).then_some(0);
                    Work::Blobs(Keys { position, ..Keys::default() })
                })
            }
            Work::Blobs(keys) => self.scrub_blobs(keys, budget_bytes, &mut step).then(|| {
                let mut files: Vec<u32> = self.log.files().keys().copied().collect();
                files.reverse();
                Work::Hints(files)
            }),
            Work::Hints(files) => {
                match files.pop() {
                    Some(file) => step.findings.extend(self.scrub_hints(file)),
                    None => step.has_ended = true,
                }
                step.has_ended.then_some(Work::Idle)
            }
        };
        if let Some(next) = next {
            *work = next;
        }
        if step.has_ended {
            // Where it is not written, the next process scrubs too early.
            let _ = self.note_scrub_end(now_ms);
        }
        let known = &mut *self.scrub.known.lock();
        known.done_bytes += step.bytes;
        known.findings += step.findings.len() as u64;
        if let Some(last) = step.findings.last() {
            known.last_finding = Some(last.to_string());
        }
        if step.has_ended {
            (known.is_on, known.ended_at_ms) = (false, Some(now_ms));
            known.done_bytes = known.all_bytes;
        }
        step
    }

    fn scrub_manifest(&self) -> Option<Finding> {
        let storage = &**self.log.storage();
        let what = match storage.manifest() {
            Ok(Some(bytes)) if Manifest::read(&bytes).is_some() => return None,
            Ok(Some(_)) => "it does not carry its checksum",
            // A store that was never written to.
            Ok(None) if self.log.files().is_empty() => return None,
            Ok(None) => "is missing",
            Err(error) => return Some(Finding::Unreadable(error.to_string())),
        };
        Some(Finding::Part(Damage::of_manifest(storage, what)))
    }

    /// A step through the datafiles; true at their end.
    fn scrub_files(
        &self,
        files: &mut Vec<(Arc<File>, u64)>,
        position: &mut u64,
        budget_bytes: u64,
        step: &mut ScrubStep,
    ) -> bool {
        let Some((file, end)) = files.last().cloned() else { return true };
        // Merge has removed it; what lived in it is in its output.
        let is_gone = !self.log.files().contains_key(&file.id());
        let before = *position;
        if !is_gone {
            match self.scrub_file(&file, end, position, budget_bytes) {
                Ok(found) => step.findings.extend(found.into_iter().map(Finding::Part)),
                Err(error) => {
                    let name = name_of_file(&**self.log.storage(), file.id());
                    step.findings.push(Finding::Unreadable(format!("{name} cannot be read: {error}")));
                    *position = end;
                }
            }
        }
        if is_gone || *position >= end {
            step.bytes += end.saturating_sub(before);
            *position = 0;
            files.pop();
        } else {
            step.bytes += *position - before;
        }
        files.is_empty()
    }

    /// A step through one datafile.
    fn scrub_file(
        &self,
        file: &Arc<File>,
        end: u64,
        position: &mut u64,
        budget_bytes: u64,
    ) -> std::result::Result<Vec<Damage>, StorageError> {
        let storage = &**self.log.storage();
        let mut found = Vec::new();
        if *position == 0 {
            let mut header = None;
            file.datafile.read(0, file.header_len, &mut |bytes| header = FileHeader::read(bytes))?;
            if header.as_ref() != Some(&file.header) {
                found.push(Damage::in_file(storage, file.id(), 0, "its header is not as it was written"));
            }
            *position = file.header_len;
        }
        let mut at = *position;
        let stop = at.saturating_add(budget_bytes);
        let walked = scan::frames_until(file, at, end, &mut |offset, record| {
            at = offset + record.header.record_len();
            at < stop
        })?;
        *position = at;
        let End::Broken(broken) = walked else { return Ok(found) };
        let mut holes = Vec::new();
        salvage::walk(file, broken, end, file.header.first_sequence(), &mut |step| {
            if let salvage::Step::Hole(from, to) = step {
                holes.push((from, to));
            }
        })?;
        // Records that are whole in a frame that is not.
        if holes.is_empty() {
            holes.push((broken, broken));
        }
        let listed = lost::Listed::of(storage.meta(), file)?;
        for (from, to) in holes {
            let what = "a record does not carry its checksum";
            let lost::Hole { records, unnamed_records, unnamed_bytes } =
                lost::lost_records(Some(file), (from, to), &listed, file.header.first_sequence())?;
            let damage = Damage::in_file(storage, file.id(), from, what);
            found.push(Damage { len: Some(to - from), records, unnamed_records, unnamed_bytes, ..damage });
        }
        *position = end;
        Ok(found)
    }

    /// A step through the blobs; true at their end.
    fn scrub_blobs(&self, keys: &mut Keys, budget_bytes: u64, step: &mut ScrubStep) -> bool {
        if let Some(value) = &mut keys.value {
            let before = value.at;
            let outcome = value.read_on(budget_bytes);
            if let Err(what) = outcome {
                step.findings.push(Finding::Value { db: value.db, what });
                value.at = value.len;
            }
            step.bytes += value.at - before;
            if value.at >= value.len {
                keys.value = None;
            }
            return false;
        }
        if let Some((db, key)) = keys.found.pop() {
            match self.value_of(db, &key) {
                Ok(value) => keys.value = value,
                Err(error) => step.findings.push(Finding::Value { db, what: error.to_string() }),
            }
            return false;
        }
        let Some(position) = keys.position else { return true };
        let at = shard_of(position);
        let (found, next) = self.keys_with_blobs(at, position).unwrap_or_else(|error| {
            // A long key that cannot be read: its datafile was found damaged. The rest of the shard is left out.
            step.findings.push(Finding::Unreadable(error.to_string()));
            (Vec::new(), None)
        });
        keys.found = found;
        let behind = (at as u64 + 1) << (u64::BITS - SHARD_BITS);
        keys.position = next.or((at + 1 < SHARDS).then_some(behind));
        false
    }

    /// The keys with blobs in some buckets of a shard, and where to go on in the shard.
    fn keys_with_blobs(&self, at: usize, position: u64) -> Result<(Vec<DbKey>, Option<u64>)> {
        let mut found = Vec::new();
        let mut shard = self.shards[at].lock();
        let (mut from, mut seen) = (Some(position), 0);
        while let Some(here) = from.filter(|_| seen < KEYS_PER_LOOK) {
            let mut next: Option<u64> = None;
            for db in (0..shard.databases.len() as Db).chain([CATALOG]) {
                let reached = self.scan_bucket(&mut shard, at, db, here, &mut |key, root| {
                    seen += 1;
                    if root.blob.is_some() {
                        found.push((db, key.to_vec()));
                    }
                })?;
                // The databases' tables are cut differently: the shortest stretch misses nothing, and shows some twice.
                next = match (next, reached) {
                    (Some(next), Some(reached)) => Some(next.min(reached)),
                    (next, reached) => next.or(reached),
                };
            }
            // A table without keys is at its end at once.
            seen += 1;
            from = next;
        }
        sorted::plainly(&mut found);
        found.dedup();
        Ok((found, from))
    }

    /// The value of a key, if that is in a blob.
    fn value_of(&self, db: Db, key: &[u8]) -> Result<Option<Value>> {
        let mut snapshot = self.begin(Scope::Keys(&[key]))?;
        let mut overlay = Overlay::new();
        // At time 0 nothing has expired: what is still there is read.
        let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
        let Some(blob) = txn.root(db, key)?.and_then(|root| root.blob) else { return Ok(None) };
        let value = |source: Arc<dyn Blob>, whole| Value {
            db,
            key: key.to_vec(),
            source,
            at: 0,
            len: blob.len,
            whole,
        };
        if !blob.has_sums {
            // Its checksum is that of the whole, which is not to be read while the key is locked.
            let source = self.blobs.open_blob(blob.id)?;
            return Ok(Some(value(source, Some((blob, 0)))));
        }
        let mut found = None;
        txn.show_value(db, key, (0, u64::MAX), &mut |piece| {
            if let Piece::Stored { source, .. } = piece {
                found = Some(source);
            }
            Ok(())
        })?;
        Ok(found.map(|source| value(source, None)))
    }

    fn scrub_hints(&self, id: u32) -> Option<Finding> {
        // Nobody writes or forgets hints meanwhile; it takes as long as reading some megabytes of them.
        let _hinting = self.hinting.lock();
        let file = self.log.files().get(&id).cloned()?;
        match hint::are_whole(&**self.log.storage(), &file) {
            Ok(true) => None,
            Ok(false) => Some(Finding::Hints(id)),
            Err(error) => Some(Finding::Unreadable(format!("the hints of datafile {id}: {error}"))),
        }
    }
}

impl Value {
    /// Reads so many bytes more; what is wrong with them, if anything is.
    fn read_on(&mut self, budget_bytes: u64) -> std::result::Result<(), String> {
        let len = budget_bytes.min(self.len - self.at);
        let mut sum = self.whole.map_or(0, |(_, sum)| sum);
        let is_old = self.whole.is_some();
        let read = self.source.read(self.at, len, &mut |bytes| {
            if is_old {
                sum = checksum_append(sum, bytes);
            }
        });
        let named =
            |what: &str| format!("the value of \"{}\" cannot be read: {what}", self.key.escape_ascii());
        match read {
            Ok(()) => {}
            // A piece without its checksum: the text names key and file.
            Err(StorageError::Damaged(what)) if !is_old => return Err(what),
            Err(error) => return Err(named(&error.to_string())),
        }
        self.at += len;
        if let Some((blob, known)) = &mut self.whole {
            *known = sum;
            if self.at >= self.len && sum != blob.checksum {
                return Err(named(&format!("blob {} does not carry its checksum", blob.id.0)));
            }
        }
        Ok(())
    }
}

impl Scrub {
    /// Facts for INFO: (name, value).
    pub(super) fn facts(&self) -> [(&'static str, u64); 5] {
        let known = self.known.lock();
        [
            ("scrub_in_progress", u64::from(known.is_on)),
            ("scrub_done_bytes", known.done_bytes),
            ("scrub_all_bytes", known.all_bytes),
            ("scrub_findings", known.findings),
            ("scrub_last_end", known.ended_at_ms.unwrap_or(0) / 1000),
        ]
    }

    /// The last finding in words.
    pub(super) fn last_finding(&self) -> Option<String> {
        self.known.lock().last_finding.clone()
    }
}

//! Opening a store: which datafiles count, what they say, and what a crash left at the end of the last one.
//!
//! Datafiles that a published merge output names in its header are litter. The others are replayed in the order of
//! their base sequences; hints stand in for the part of a file that they cover. Only the last file may end in a torn
//! frame, and only where nothing says that the frame had been synced: no record behind it, no seal, no hint, no output
//! of a merge. Every other file, and every output, ends with its seal. Anything else is damage, and the store refuses to open
//! rather than lose it silently.
//!
//! A record may have reached the disk before the blob it refers to. So where nothing proves that a part of the last file
//! was synced, the blobs of its live records are read, and a record whose blob is not whole is where the torn tail begins.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::blobs::Blobs;
use super::counts::Counts;
use super::files::{File, FileTable};
use super::held::Held;
use super::hint;
use super::keydir::{CATALOG_SPACE, Location, Name};
use super::log::{Counters, Log};
use super::record::FileHeader;
use super::replay::{Replay, Replayed};
use super::scan::{self, End};
use super::{Bitcask, Options, merge};
use crate::engine::{BlobRef, Db};
use crate::storage::{BlobId, DatafileId, Storage, StorageError};

/// Why a store does not open. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Bytes that were on the disk do not carry their checksum any more.
    #[error("datafile {file} is damaged at offset {offset}: {what}")]
    Damaged {
        /// The datafile's number.
        file: u32,
        /// Where in the file, in bytes.
        offset: u64,
        /// The part that does not fit.
        what: &'static str,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A store and what opening it found.
pub struct Opened {
    /// The store.
    pub store: Bitcask,
    /// Number of datafiles.
    pub datafiles: u64,
    /// Records read from datafiles because no hint covered them.
    pub replayed_records: u64,
    /// Datafiles whose hints were used.
    pub hinted_datafiles: u64,
    /// Datafiles whose hints were there but did not fit the data, and were left aside.
    pub rejected_hints: u64,
    /// The torn tail that was cut: datafile, offset, bytes.
    pub torn_tail: Option<(u32, u64, u64)>,
}

/// Counts made while opening.
#[derive(Default)]
struct Found {
    replayed_records: u64,
    hinted_datafiles: u64,
    rejected_hints: u64,
    torn_tail: Option<(u32, u64, u64)>,
    /// The blobs of the records that nothing proves to have been synced.
    tail: Vec<TailBlob>,
}

/// A record with a blob, in the last datafile.
struct TailBlob {
    /// Where its frame begins.
    frame: u64,
    at: Location,
    space: u64,
    key: Vec<u8>,
    blob: BlobRef,
}

/// Facts about the last datafile, known before it is replayed.
#[derive(Clone, Copy)]
struct Last {
    /// How much of it others say was on the disk.
    synced_len: u64,
    /// Where it ends, if a blob was found missing there.
    end: Option<u64>,
}

/// The evidence that recovery goes by.
#[derive(Clone, Copy)]
pub(super) enum Trust {
    /// The storage of a process that has ended: hints stand in for records, and the log may end in a torn frame.
    Hints,
    /// The storage that this process has just synced: the records themselves, and none of them may be missing. With the datafile that
    /// is appended to, if there is one, and its length.
    Records(Option<(u32, u64)>),
}

/// The contents of a storage.
pub(super) struct Recovered {
    pub(super) seed: u64,
    /// All datafiles that count.
    pub(super) table: Arc<FileTable>,
    /// The one that is appended to, if the last one can be.
    pub(super) active: Option<Arc<File>>,
    /// Datafiles that a published output of a merge stands for.
    pub(super) litter: Vec<Arc<File>>,
    pub(super) counters: Counters,
    pub(super) replayed: Replayed,
    /// The blobs that are there.
    pub(super) blobs: BTreeSet<BlobId>,
    found: Found,
}

pub(super) fn open(storage: Arc<dyn Storage>, options: &Options) -> Result<Opened, OpenError> {
    let databases = options.databases.min(CATALOG_SPACE as Db);
    let recovered = recover(&*storage, options.seed, databases, Trust::Hints)?;
    let Recovered { seed, table, active, litter, counters, replayed, found, .. } = recovered;
    // Only now that what stands for them was found whole.
    for litter in litter {
        hint::forget(storage.meta(), litter.id())?;
        storage.remove(DatafileId(litter.id()))?;
    }
    let Replayed { shards, owners, databases_record, blob_roots } = replayed;
    let next_number = Arc::new(AtomicU64::new(counters.next_number));
    let blobs = Arc::new(Blobs::open(storage.clone(), blob_roots, next_number.clone())?);
    let datafiles = table.len() as u64;
    let log =
        Log::new(storage, seed, options.datafile_max_bytes, table, counters, next_number, blobs.clone());
    active.into_iter().for_each(|file| log.resume(file));
    let store = Bitcask {
        seed,
        shards: shards.into_iter().map(Mutex::new).collect(),
        log,
        blobs,
        owners: Mutex::new(owners),
        databases_record: Mutex::new(databases_record),
        expiry_position: AtomicU64::new(0),
        merging: Mutex::new(merge::Merge::default()),
        rewrite: super::rewrite::Rewrite::default(),
        hinting: Mutex::new(()),
        counts: Counts::default(),
        held: Held::default(),
    };
    store.recount();
    Ok(Opened {
        store,
        datafiles,
        replayed_records: found.replayed_records,
        hinted_datafiles: found.hinted_datafiles,
        rejected_hints: found.rejected_hints,
        torn_tail: found.torn_tail,
    })
}

/// Reads what a storage holds. Nothing is changed but what another process left at the end of the log: a torn tail is cut
/// off and the rest synced. `new_seed` is for a storage without datafiles.
pub(super) fn recover(
    storage: &dyn Storage,
    new_seed: u64,
    databases: Db,
    trust: Trust,
) -> Result<Recovered, OpenError> {
    let mut files = open_files(storage)?;
    let replaced: BTreeSet<u32> = files.iter().flat_map(|file| file.header.replaces.clone()).collect();
    let (litter, mut files): (Vec<_>, Vec<_>) =
        files.drain(..).partition(|file| replaced.contains(&file.id()));
    files.sort_by_key(|file| file.order());
    let seed = files.first().map_or(new_seed, |file| file.header.seed);
    let mut synced_of_last = 0;
    if let Some(last) = files.last() {
        for output in files.iter().filter(|file| file.header.is_output()) {
            synced_of_last = scan::synced_of(output, &last.header)?.unwrap_or(0).max(synced_of_last);
        }
        if let Trust::Records(Some((id, len))) = trust
            && id == last.id()
        {
            synced_of_last = len;
        }
    }
    let mut tail_end = None;
    let (replay, found) = loop {
        let mut replay = Replay::new(seed);
        replay.files = files.iter().map(|file| (file.id(), file.clone())).collect();
        let mut found = Found::default();
        for (at, file) in files.iter().enumerate() {
            file.forget_counts();
            let last = (at + 1 == files.len()).then_some(Last { synced_len: synced_of_last, end: tail_end });
            replay_file((storage, trust), file, last, &mut replay, &mut found)?;
        }
        match lost_blob(storage, &replay, &found.tail)? {
            Some(frame) => tail_end = Some(frame),
            None => break (replay, found),
        }
    };
    if let (Some(last), Trust::Hints) = (files.last(), trust) {
        // What a killed process left in the operating system must be on the disk before it counts as such.
        if last.len() < last.datafile.len()? {
            last.datafile.cut(last.len())?;
        }
        last.datafile.sync()?;
    }
    let counters = Counters {
        next_sequence: next(&files, |header| header.next_sequence.max(header.watermark), replay.max_sequence),
        next_file: files.iter().map(|file| file.id()).chain(replaced).max().map_or(1, |id| id + 1),
        next_number: next(&files, |header| header.next_number, replay.max_number),
    };
    let table = Arc::new(replay.files.clone());
    let replayed = replay.finish(databases);
    let blobs: BTreeSet<BlobId> = storage.list_blobs()?.into_iter().collect();
    if let Some(BlobId(id)) = replayed.blob_roots.keys().find(|id| !blobs.contains(id)) {
        return Err(StorageError::Missing(format!("blob {id}, to which a key refers")).into());
    }
    let active = files.last().filter(|last| !last.is_sealed()).cloned();
    Ok(Recovered { seed, table, active, litter, counters, replayed, blobs, found })
}

/// The number to go on with: beyond what headers promised and what records used.
fn next(files: &[Arc<File>], promised: fn(&FileHeader) -> u64, used: u64) -> u64 {
    files.iter().map(|file| promised(&file.header)).fold(used + 1, u64::max)
}

fn open_files(storage: &dyn Storage) -> Result<Vec<Arc<File>>, OpenError> {
    let mut files = Vec::new();
    for id in storage.list()? {
        let datafile = storage.open(id)?;
        let len = datafile.len()?;
        let damaged =
            || OpenError::Damaged { file: id.0, offset: 0, what: "not a datafile header of this version" };
        let mut header_len = None;
        datafile.read(0, len.min(16), &mut |bytes| header_len = FileHeader::len_of(bytes))?;
        let header_len = header_len.filter(|header_len| *header_len <= len).ok_or_else(damaged)?;
        let mut header = None;
        datafile.read(0, header_len, &mut |bytes| header = FileHeader::read(bytes))?;
        let header = header.filter(|header| header.id == id.0).ok_or_else(damaged)?;
        files.push(Arc::new(File::new(header, datafile, len)));
    }
    Ok(files)
}

/// The first frame of the tail that made a key what its blob does not hold.
fn lost_blob(storage: &dyn Storage, replay: &Replay, tail: &[TailBlob]) -> Result<Option<u64>, StorageError> {
    for TailBlob { frame, at, space, key, blob } in tail {
        if replay.is_root_at(*space, key, *at) && !is_whole(storage, *blob)? {
            return Ok(Some(*frame));
        }
    }
    Ok(None)
}

/// Whether a blob holds what a root says of it; then it is on the disk as well.
fn is_whole(storage: &dyn Storage, reference: BlobRef) -> Result<bool, StorageError> {
    let blob = match storage.open_blob(reference.id) {
        Err(StorageError::Missing(_)) => return Ok(false),
        opened => opened?,
    };
    let mut checksum = 0;
    match blob.read(0, reference.len, &mut |piece| checksum = crc32c::crc32c_append(checksum, piece)) {
        Err(StorageError::Missing(_)) => return Ok(false),
        outcome => outcome?,
    }
    blob.sync()?;
    Ok(checksum == reference.checksum)
}

/// Replays one datafile. `last` is for the last one.
fn replay_file(
    (storage, trust): (&dyn Storage, Trust),
    file: &Arc<File>,
    last: Option<Last>,
    replay: &mut Replay,
    found: &mut Found,
) -> Result<(), OpenError> {
    let file_end = file.datafile.len()?;
    let (end, seed) = (last.and_then(|last| last.end).unwrap_or(file_end), file.header.seed);
    let damaged = |offset, what| OpenError::Damaged { file: file.id(), offset, what };
    let is_sealed = scan::is_sealed(file, end)?;
    let mut from = file.header_len;
    // So many bytes were on the disk once.
    let is_whole = is_sealed || file.header.is_output();
    let mut proven = last.filter(|_| !is_whole).map_or(end, |last| last.synced_len);
    let hints = match trust {
        Trust::Hints => hint::load(storage, file, replay)?,
        Trust::Records(_) => hint::Loaded::None,
    };
    match hints {
        hint::Loaded::Covers(covered) => {
            found.hinted_datafiles += 1;
            from = covered;
        }
        hint::Loaded::Rejected(covered) => {
            found.rejected_hints += 1;
            // A seal knows better where the file ends.
            proven = if is_sealed { proven } else { proven.max(covered) };
        }
        hint::Loaded::None => {}
    }
    let (mut frame, mut synced) = (from, proven.max(from));
    let walked = scan::frames(file, from, end, &mut |offset, record| {
        found.replayed_records += 1;
        if record.header.is_first {
            frame = offset;
        }
        synced = synced.max(record.synced_len(&file.header, offset).unwrap_or(0));
        if let Some(blob) = record.header.blob(record.value).filter(|_| last.is_some()) {
            let (space, key) = (record.header.owner, record.key.to_vec());
            // Offsets of datafiles fit.
            let at = Location { file: file.id(), offset: offset as u32 };
            found.tail.push(TailBlob { frame, at, space, key, blob });
        }
        // Subkeys are held whole whatever their length; only keys are cut to fingerprints.
        let name = match record.header.record_type {
            super::record::RecordType::Sub | super::record::RecordType::SubTombstone => {
                Name::Short(record.key)
            }
            _ => Name::of(seed, record.key),
        };
        replay.apply(&record.header, &name, record.value, file, offset);
    })?;
    found.tail.retain(|tail| tail.frame >= synced);
    let len = match walked {
        End::Clean if end < file_end => {
            found.torn_tail = Some((file.id(), end, file_end - end));
            end
        }
        End::Clean if !is_sealed && (last.is_none() || file.header.is_output()) => {
            return Err(damaged(end, "the datafile is cut short: it does not end with its seal"));
        }
        End::Clean if proven > end => {
            return Err(damaged(end, "the datafile is cut short: more of it was synced"));
        }
        End::Clean => end,
        End::Broken(offset) if offset < proven || scan::was_synced(file, offset, end)? => {
            return Err(damaged(offset, "the record does not carry its checksum"));
        }
        End::Broken(offset) => {
            let torn = torn_bytes(file, offset, end)?;
            if torn > 0 {
                found.torn_tail = Some((file.id(), offset, torn));
            }
            offset
        }
    };
    storage.note_recovered(file_end);
    file.len.store(len, Ordering::Release);
    file.is_sealed.store(is_sealed, Ordering::Release);
    Ok(())
}

/// How many bytes behind the last whole frame are not preallocated zeros.
fn torn_bytes(file: &File, from: u64, end: u64) -> Result<u64, StorageError> {
    const WINDOW_BYTES: u64 = 1024 * 1024;
    let (mut at, mut last) = (from, from);
    while at < end {
        let len = (end - at).min(WINDOW_BYTES);
        file.datafile.read(at, len, &mut |bytes| {
            if let Some(place) = bytes.iter().rposition(|byte| *byte != 0) {
                last = at + place as u64 + 1;
            }
        })?;
        at += len;
    }
    Ok(last - from)
}

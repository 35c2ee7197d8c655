//! Opening a store: which datafiles count, what they say, and what a crash left at the end of the last one.
//!
//! [`super::listing`] says which datafiles are the store's. They are replayed in the order of their base sequences
//! ([`super::file_replay`]); hints stand in for the part of a file that they cover. Only the last file may end in a torn
//! frame, or the one before it if the last was begun ahead ([`super::successor`]). Anything else is damage, and the store refuses
//! to open rather than lose it silently, unless it is to be salvaged ([`super::mend`]).
//!
//! After the loss of power a record may be on the disk and the blob it refers to may not. So where nothing proves that a
//! part of the last file was synced, the blobs of its live records are read. If power may have been lost, a record whose blob
//! is not whole is where the torn tail begins; if not, the blob is damaged, and nothing but its key.
//!
//! What is cut off the end is copied aside first if there are whole frames in it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use parking_lot::Mutex;

use super::blobs::Blobs;
use super::counts::Counts;
use super::damage::{Damage, Findings, OnDamage, OpenError};
use super::fault_injection::{Fault, is_injected};
use super::file_replay::{FileReplay, Found, Last, TailBlob, TornTail, Trust};
use super::files::{File, FileTable};
use super::held::Held;
use super::hint;
use super::keydir::CATALOG_SPACE;
use super::listing::{self, Begun, Listing};
use super::log::{Counters, Log};
use super::long_holders::LongHolders;
use super::losses::{self, DamagedBlob, Loss};
use super::manifest::{Keeper, Manifest};
use super::pages;
use super::record::FileHeader;
use super::replay::{Replay, Replayed};
use super::scan;
use super::successor::{self, Ending, Evidence};
use super::watches::Watches;
use super::{Bitcask, Options, mend, merge, notes};
use crate::engine::{BlobRef, Db, checksum_append};
use crate::limits::UNSYNCED_BLOBS_MAX;
use crate::sorted;
use crate::storage::{BlobId, DatafileId, Note, Storage, StorageError};

/// A start mends a store so many times. Once is enough unless the disk damages what is written to it.
const SALVAGES_MAX: u32 = 4;

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
    /// The torn tail that was cut.
    pub torn_tail: Option<TornTail>,
    /// What stood in a datafile behind that end of the log, and was cut off with it.
    pub cut_datafile: Option<TornTail>,
    /// Whether the power may have been lost since the store was last open.
    pub may_have_lost_power: bool,
    /// The damage that was left out, where the store is to be salvaged.
    pub damages: Vec<Damage>,
    /// What that damage took from which keys.
    pub losses: Vec<Loss>,
    /// Keys whose blobs are lost or damaged: reading them is an error.
    pub damaged_blobs: Vec<DamagedBlob>,
    /// Where what salvage replaced is from now on.
    pub set_aside: Vec<String>,
    /// Where the reports of salvages are: of this start, and of an earlier one that comes to an end only now.
    pub reports: Vec<String>,
    /// The lines of the report of that earlier one.
    pub earlier_report: Option<String>,
    /// A salvage, of this start or an earlier one, has ended, and what follows from its losses has yet to be mended
    /// ([`Bitcask::note_mended`]).
    pub is_unmended: bool,
}

/// The contents of a storage.
pub(super) struct Recovered {
    pub(super) seed: u64,
    /// All datafiles that count.
    pub(super) table: Arc<FileTable>,
    /// The one that is appended to, if the last one can be.
    pub(super) active: Option<Arc<File>>,
    /// Datafiles that are no part of the store any more.
    pub(super) litter: Vec<Arc<File>>,
    /// What an earlier start has left of a salvage.
    pub(super) salvage: Begun,
    /// Those that never were, or cannot be read at all.
    pub(super) foreign: Vec<u32>,
    pub(super) counters: Counters,
    pub(super) replayed: Replayed,
    /// The hints say that the log was longer, and so leave out what this log never replaced.
    are_hints_ahead: bool,
    /// The blobs that are there.
    pub(super) blobs: BTreeSet<BlobId>,
    pub(super) damaged_blobs: Vec<DamagedBlob>,
    /// The manifest as it is to be, and the run of the machine in which the one that lies there was written.
    pub(super) manifest: Manifest,
    pub(super) found_manifest: Option<Manifest>,
    pub(super) may_have_lost_power: bool,
    pub(super) found: Found,
    /// A sealed datafile that may not be synced.
    unsynced: Option<Arc<File>>,
    /// A datafile that is void, and what it has.
    pub(super) void: Option<(u32, Option<TornTail>)>,
}

pub(super) fn open(storage: Arc<dyn Storage>, options: &Options) -> Result<Opened, OpenError> {
    let databases = options.databases.min(CATALOG_SPACE as Db);
    let new = New { seed: options.seed, access: options.access };
    let (mut recovered, mended) = read_and_mend(&*storage, new, databases, options.on_damage)?;
    let Mended { damages, losses, kept, earlier_report } = mended;
    let mut unsummed = Vec::new();
    if pages::may_be_lost(&damages) {
        let Recovered { table, replayed, damaged_blobs, .. } = &mut recovered;
        unsummed = pages::judge_all(&*storage, table, replayed, damaged_blobs)?.1;
    }
    if is_injected(Fault::BlobsBeforeSettle) {
        for id in recovered.blobs.iter().filter(|id| !recovered.replayed.blob_roots.contains_key(id)) {
            storage.remove_blob(*id)?;
        }
    }
    if is_injected(Fault::BootBeforeSettle) {
        storage.put_manifest(&recovered.manifest.to_bytes())?;
    }
    // Beside damage nobody knows what an unfinished end was.
    let keeps_all = !damages.is_empty() || earlier_report.is_some();
    settle(&*storage, &mut recovered, keeps_all)?;
    let Recovered { seed, table, active, litter, counters, replayed, found, mut damaged_blobs, .. } =
        recovered;
    let shared_below = recovered.manifest.shared_below;
    let manifest = Keeper::new(storage.clone(), recovered.manifest);
    let found_manifest = recovered.found_manifest.as_ref();
    let is_written = write_if_room(&manifest, found_manifest)?;
    // Only now that what stands for them was found whole. Where the manifest could not be written the one that is there says the
    // same of them.
    let void = recovered.void;
    for id in litter.iter().map(|file| file.id()) {
        if !is_written && void.as_ref().is_some_and(|(void, _)| *void == id) {
            // The manifest that is there says that it must be.
            continue;
        }
        let _ = hint::forget(storage.meta(), id);
        storage.remove(DatafileId(id))?;
        manifest.note_removed(id);
    }
    if !is_written {
        write_if_room(&manifest, found_manifest)?;
    }
    notes::forget_damage(&*storage)?;
    let is_unmended = storage.note(Note::Unmended)?.is_some();
    let Replayed { shards, owners, databases_record, blob_roots, .. } = replayed;
    let next_number = Arc::new(AtomicU64::new(counters.next_number));
    let blobs = Arc::new(Blobs::open(storage, blob_roots, next_number.clone(), shared_below)?);
    let datafiles = table.len() as u64;
    let log =
        Log::new(manifest, seed, options.datafile_max_bytes, table, counters, next_number, blobs.clone());
    active.into_iter().for_each(|file| log.resume(file));
    let store = Bitcask {
        seed,
        shards: shards.into_iter().map(Mutex::new).collect(),
        long_holders: LongHolders::default(),
        watches: Watches::default(),
        log,
        blobs,
        owners: Mutex::new(owners),
        databases_record: Mutex::new(databases_record),
        expiry_position: AtomicU64::new(0),
        unsynced_blobs_max: AtomicUsize::new(UNSYNCED_BLOBS_MAX),
        merging: Mutex::new(merge::Merge::default()),
        rewrite: super::rewrite::Rewrite::default(),
        hinting: Mutex::new(()),
        counts: Counts::default(),
        held: Held::default(),
        scrub: super::scrub::Scrub::default(),
    };
    store.recount();
    if !unsummed.is_empty() {
        // One that cannot be mended now, on a full disk perhaps, is a damaged one.
        unsummed.retain(|blob| match (blob.db, &blob.key) {
            (Some(db), Some(key)) => pages::renew(&store, db, key).is_err(),
            _ => true,
        });
        // A failure is noted by the log, which refuses what follows.
        let _ = store.sync();
        damaged_blobs.append(&mut unsummed);
    }
    Ok(Opened {
        store,
        datafiles,
        replayed_records: found.replayed_records,
        hinted_datafiles: found.hinted_datafiles,
        rejected_hints: found.rejected_hints,
        torn_tail: found.torn_tail,
        cut_datafile: void.and_then(|(_, cut)| cut),
        may_have_lost_power: recovered.may_have_lost_power,
        damages,
        losses,
        damaged_blobs,
        set_aside: kept.set_aside,
        reports: kept.reports,
        earlier_report,
        is_unmended,
    })
}

/// What was done to a damaged store until nothing more was found.
#[derive(Default)]
struct Mended {
    damages: Vec<Damage>,
    losses: Vec<Loss>,
    kept: Kept,
    /// An earlier start's, which left its report as the text it is.
    earlier_report: Option<String>,
}

/// Reads a store. One that is to be salvaged is mended and read again until nothing damaged is found, a few times at most.
fn read_and_mend(
    storage: &dyn Storage,
    new: New,
    databases: Db,
    on_damage: OnDamage,
) -> Result<(Recovered, Mended), OpenError> {
    let read = |trust: Trust, findings: &mut Findings| recover(storage, new, databases, trust, findings);
    let mut mended = Mended::default();
    let mut salvages = 0;
    loop {
        let mut findings = Findings::new(on_damage);
        let mut recovered = match read(Trust::Hints, &mut findings) {
            Err(refused @ OpenError::Damaged(_)) => {
                notes::note_damage(storage);
                return Err(refused);
            }
            recovered => recovered?,
        };
        if matches!(recovered.salvage, Begun::Done { .. }) && recovered.found.hinted_datafiles > 0 {
            // They leave out the records that others replaced, and those may be what is lost.
            let _ = hint::forget_others(storage.meta(), &FileTable::new());
            drop(recovered);
            findings.damages.clear();
            recovered = read(Trust::Log, &mut findings)?;
        }
        remove_undone(storage, &mut recovered)?;
        let report = mended.kept.finish(storage, &mut recovered)?;
        if salvages == 0 {
            mended.earlier_report = report;
        }
        let Some(first) = findings.damages.first() else { return Ok((recovered, mended)) };
        notes::note_damage(storage);
        if salvages == SALVAGES_MAX {
            return Err(OpenError::Damaged(Box::new(first.clone())));
        }
        salvages += 1;
        // What hints stood in for is read as well: a datafile that is written anew loses all that cannot be read. There is one
        // keydir at a time.
        drop(recovered);
        findings.damages.clear();
        let recovered = read(Trust::Log, &mut findings)?;
        if !findings.damages.is_empty() {
            mended.losses.extend(salvage(storage, recovered, &findings.damages)?);
            mended.damages.append(&mut findings.damages);
        }
    }
}

/// What salvage leaves for an operator.
#[derive(Default)]
struct Kept {
    set_aside: Vec<String>,
    reports: Vec<String>,
}

impl Kept {
    /// Ends a salvage whose successors the manifest lists: sets aside what they stand for, and keeps the report, whose lines it
    /// returns.
    fn finish(
        &mut self,
        storage: &dyn Storage,
        recovered: &mut Recovered,
    ) -> Result<Option<String>, StorageError> {
        if !matches!(recovered.salvage, Begun::Done { .. }) {
            return Ok(None);
        }
        let begun = std::mem::take(&mut recovered.salvage);
        for file in recovered.litter.extract_if(.., |file| begun.is_set_aside(file.id())) {
            let _ = hint::forget(storage.meta(), file.id());
            self.set_aside.push(storage.set_aside(DatafileId(file.id()))?);
        }
        let _ = hint::forget_others(storage.meta(), &recovered.table);
        // The records that named them may be among what is damaged or lost.
        let nameless = |id: &BlobId| !recovered.replayed.blob_roots.contains_key(id);
        let unnamed: Vec<BlobId> = recovered.blobs.iter().filter(|id| nameless(id)).copied().collect();
        self.set_aside.extend(storage.set_aside_blobs(&unnamed)?);
        recovered.blobs.retain(|id| !unnamed.contains(id));
        // For good: what comes with such a number later is no litter of ours.
        recovered.manifest.dropped.retain(|id| !begun.is_set_aside(*id));
        notes::note_unmended(storage)?;
        self.reports.push(storage.keep_salvage_note()?);
        match begun {
            Begun::Done { report, .. } => Ok(Some(report)),
            Begun::No | Begun::Undone(_) => Ok(None),
        }
    }
}

/// Writes the manifest; false if there is no room for it. The old one is as good but for litter, and for how much is known of
/// the datafiles that it lists.
fn write_if_room(manifest: &Keeper, before: Option<&Manifest>) -> Result<bool, StorageError> {
    match manifest.write_if_other(before) {
        Ok(()) => Ok(true),
        Err(StorageError::Full(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what is left of a salvage that did not come about. It must be gone for good before the manifest is written and
/// before another salvage begins: its note is all that says that these datafiles do not count.
fn remove_undone(storage: &dyn Storage, recovered: &mut Recovered) -> Result<(), StorageError> {
    let Begun::Undone(_) = &recovered.salvage else { return Ok(()) };
    let begun = std::mem::take(&mut recovered.salvage);
    for file in recovered.litter.extract_if(.., |file| begun.is_void(file.id())) {
        storage.remove(DatafileId(file.id()))?;
    }
    recovered.manifest.dropped.retain(|id| !begun.is_void(*id));
    storage.sync_removals()?;
    storage.remove_note(Note::Salvage)
}

/// Writes the damaged datafiles of a store anew and says what is lost.
fn salvage(storage: &dyn Storage, recovered: Recovered, damages: &[Damage]) -> Result<Vec<Loss>, OpenError> {
    let losses = losses::of(&recovered.table, &recovered.replayed, damages)?;
    let lines = damages.iter().map(Damage::line).chain(losses.iter().map(Loss::to_string));
    let lines = lines.chain(recovered.damaged_blobs.iter().map(DamagedBlob::to_string));
    let report = lines.collect::<Vec<_>>().join("\n");
    let mut manifest = recovered.manifest;
    // If the power was lost since the store was last open, that still explains a hole at the end of the log.
    manifest.boot = recovered.found_manifest.as_ref().and_then(|found| found.boot);
    if damages.iter().any(|damage| damage.file.is_none()) {
        // The manifest is lost, or not the last one, which may have said that blobs are shared.
        manifest.shared_below = recovered.counters.next_number;
    }
    if recovered.are_hints_ahead {
        // Nothing would say so any more once the damaged part has a successor.
        hint::forget_others(storage.meta(), &FileTable::new())?;
    }
    let (table, foreign, counters) = (&*recovered.table, &*recovered.foreign, recovered.counters);
    mend::mend(storage, mend::Unmended { table, foreign, counters, manifest }, damages, report)?;
    Ok(losses)
}

/// Cuts off what another process left unfinished at the end of the log, and makes the rest durable. It must come before
/// the manifest says that the store was opened in this run of the machine: until then the loss of power explains a hole.
fn settle(storage: &dyn Storage, recovered: &mut Recovered, keeps_all: bool) -> Result<(), OpenError> {
    let files = recovered.table.values().max_by_key(|file| file.order()).cloned();
    let Some(last) = files else { return Ok(()) };
    if let Some(unsynced) = recovered.unsynced.as_ref().filter(|_| !is_injected(Fault::SettleUnsynced)) {
        // What was preallocated behind its seal goes, too.
        unsynced.datafile.cut(unsynced.len())?;
    }
    if let Some((_, Some(cut))) = recovered
        .void
        .as_mut()
        .filter(|(_, cut)| cut.as_ref().is_some_and(|cut| keeps_all || cut.whole_frames > 0))
    {
        let end = cut.offset + cut.bytes;
        cut.set_aside = Some(storage.copy_aside(DatafileId(cut.file), cut.offset, end)?);
    }
    if let Some(torn) = recovered.found.torn_tail.as_mut().filter(|torn| keeps_all || torn.whole_frames > 0) {
        // What was preallocated behind them may be all the room there is.
        let end = torn.offset + torn.bytes;
        if end < last.datafile.len()? {
            last.datafile.cut(end)?;
        }
        torn.set_aside = Some(storage.copy_aside(DatafileId(torn.file), torn.offset, end)?);
    }
    // What a killed process left in the operating system must be on the disk before it counts as such.
    if last.len() < last.datafile.len()? {
        last.datafile.cut(last.len())?;
    }
    if !is_injected(Fault::SettleUnsynced) {
        last.datafile.sync()?;
    }
    Ok(())
}

/// What a storage does not say.
#[derive(Clone, Copy)]
pub(super) struct New {
    /// The seed of a store without datafiles.
    pub(super) seed: u64,
    /// The bits of use of all keys.
    pub(super) access: u32,
}

/// Reads what a storage holds, and changes nothing.
pub(super) fn recover(
    storage: &dyn Storage,
    new: New,
    databases: Db,
    trust: Trust,
    findings: &mut Findings,
) -> Result<Recovered, OpenError> {
    let listing = listing::list(storage, new.seed, findings)?;
    let Listing { files, litter, salvage, foreign, found: found_manifest, mut manifest, .. } = listing;
    let seed = manifest.seed;
    let reach = match trust {
        Trust::Hints | Trust::Log => hint::reach_of_log(storage, &files),
        Trust::Records(_) => None,
    };
    let is_listed = |id: u32| found_manifest.as_ref().is_none_or(|found| id < found.next_file);
    let is_last_short = |id: u32, len: u64| match files.last().filter(|last| last.id() == id) {
        Some(last) => last.datafile.len().map(|there| there < len),
        None => Ok(false),
    };
    let mut are_hints_ahead = false;
    if let Some((id, len)) = reach {
        are_hints_ahead = !is_listed(id) || is_last_short(id, len)?;
    }
    let trust = match reach {
        Some((id, _)) if !is_listed(id) => {
            let what =
                "is older than the hints: they say that the log went on in a datafile that it does not know";
            findings.note(Damage::of_manifest(storage, what))?;
            Trust::Log
        }
        _ => trust,
    };
    let may_have_lost_power = listing.may_have_lost_power && matches!(trust, Trust::Hints | Trust::Log);
    let synced_len = |file: Option<&Arc<File>>| synced_of(file, &files, &manifest, (trust, reach));
    let evidence = Evidence {
        storage,
        manifest: found_manifest.as_ref(),
        trust,
        synced_len: synced_len(files.last())?,
        may_have_lost_power,
        keeps_all: !findings.refuses(),
    };
    let mut ending = evidence.judge(&files)?;
    let mut last =
        Last { synced_len: evidence.synced_len, end: None, may_have_lost_power, trusts_seal: true };
    let mut previous = Last {
        synced_len: synced_len(files.iter().nth_back(1))?,
        end: None,
        may_have_lost_power,
        trusts_seal: false,
    };
    let noted = findings.damages.len();
    // With the space and the key of each.
    let mut in_tail: Vec<(BlobId, u64, Vec<u8>)> = Vec::new();
    let (replay, found) = loop {
        let mut replay = Replay::new(seed, new.access);
        let counting = files.len() - usize::from(matches!(ending, Ending::Before(_)));
        let counted = files.get(..counting).unwrap_or_default();
        replay.files = sorted::map(counted.iter().map(|file| (file.id(), file.clone())));
        let mut found = Found::default();
        findings.damages.truncate(noted);
        for (at, file) in counted.iter().enumerate() {
            file.forget_counts();
            let last = match (&ending, files.len() - at) {
                (Ending::Usual, 1) => Some(last),
                (Ending::Behind(_), 1) => Some(last),
                (Ending::Behind(end), 2) => Some(Last { end: Some(*end), ..previous }),
                (Ending::Before(_), 2) => Some(previous),
                _ => None,
            };
            let (replay, found) = (&mut replay, &mut found);
            FileReplay { storage, trust, file, last, replay, found, findings: &mut *findings }.run()?;
            storage.note_recovered(file.datafile.len()?);
        }
        let lost = lost_blobs(storage, &replay, &found.tail)?;
        match lost.first() {
            // Where the store is salvaged, because something is damaged, what stands behind it stays, and the key is damaged.
            Some(tail) if may_have_lost_power && (findings.refuses() || findings.damages.is_empty()) => {
                let successor = files.last().filter(|file| file.id() != tail.at.file);
                match (&ending, successor) {
                    (Ending::Behind(_), Some(successor)) => {
                        ending = Ending::Before(successor::contents(successor)?);
                        previous.end = Some(tail.frame);
                    }
                    (Ending::Before(_), _) => previous.end = Some(tail.frame),
                    _ => last.end = Some(tail.frame),
                }
            }
            _ => {
                in_tail.extend(lost.iter().map(|tail| (tail.blob.id, tail.space, tail.key.clone())));
                break (replay, found);
            }
        }
    };
    let (mut files, mut litter) = (files, litter);
    let unsynced = files.iter().nth_back(1).filter(|_| matches!(ending, Ending::Behind(_))).cloned();
    let mut void = None;
    if let Ending::Before(cut) = ending
        && let Some(successor) = files.pop()
    {
        manifest.files.remove(&successor.id());
        manifest.dropped.push(successor.id());
        void = Some((successor.id(), cut));
        litter.push(successor);
    }
    for file in files.iter().filter(|file| file.is_sealed()) {
        if let (Some(listed), Some(seal)) =
            (manifest.files.get_mut(&file.id()), listing::seal_of(file, file.len())?)
        {
            (listed.seal, listed.synced_len) = (Some(seal), seal.0);
        }
    }
    let counters = Counters {
        next_sequence: next(
            &files,
            |header| header.next_sequence.max(header.watermark).max(header.base_sequence.saturating_add(1)),
            replay.max_sequence,
        ),
        next_file: manifest.next_file,
        next_number: next(&files, |header| header.next_number, replay.max_number).max(manifest.shared_below),
    };
    let table = Arc::new(replay.files.clone());
    let replayed = replay.finish(databases);
    let blobs = sorted::set(storage.list_blobs()?);
    let damaged =
        |(id, space, key)| DamagedBlob::new(storage, id, losses::db_of(&replayed, space), Some(key));
    let mut damaged_blobs: Vec<DamagedBlob> = in_tail.into_iter().map(damaged).collect();
    losses::missing_blobs(storage, &replayed, &table, &blobs, &mut damaged_blobs)?;
    let active = files.last().filter(|last| !last.is_sealed()).cloned();
    let may_have_lost_power = listing.may_have_lost_power;
    Ok(Recovered {
        seed,
        table,
        active,
        litter,
        salvage,
        foreign,
        counters,
        replayed,
        are_hints_ahead,
        blobs,
        damaged_blobs,
        manifest,
        found_manifest,
        may_have_lost_power,
        found,
        unsynced,
        void,
    })
}

/// How much of a datafile that may be the last one others say was on the disk.
fn synced_of(
    last: Option<&Arc<File>>,
    files: &[Arc<File>],
    manifest: &Manifest,
    (trust, reach): (Trust, Option<(u32, u64)>),
) -> Result<u64, StorageError> {
    let Some(last) = last else { return Ok(0) };
    let mut synced = manifest.files.get(&last.id()).map_or(0, |listed| listed.synced_len);
    synced = reach.filter(|(id, _)| *id == last.id()).map_or(0, |(_, len)| len).max(synced);
    for output in files.iter().filter(|file| file.header.is_output()) {
        synced = scan::synced_of(output, &last.header)?.unwrap_or(0).max(synced);
    }
    match trust {
        Trust::Records(Some((id, len))) if id == last.id() => Ok(len),
        _ => Ok(synced),
    }
}

/// The number to go on with: beyond what headers promised and what records used.
fn next(files: &[Arc<File>], promised: fn(&FileHeader) -> u64, used: u64) -> u64 {
    files.iter().map(|file| promised(&file.header)).fold(used + 1, u64::max)
}

/// The records of the tail that made a key what its blob does not hold.
fn lost_blobs<'t>(
    storage: &dyn Storage,
    replay: &Replay,
    tail: &'t [TailBlob],
) -> Result<Vec<&'t TailBlob>, StorageError> {
    let mut lost = Vec::new();
    for record in tail {
        if replay.is_root_at(record.space, &record.key, record.at) && !is_whole(storage, record.blob)? {
            lost.push(record);
        }
    }
    Ok(lost)
}

/// Whether a blob holds what a root says of it; then it is on the disk as well.
fn is_whole(storage: &dyn Storage, reference: BlobRef) -> Result<bool, StorageError> {
    let blob = match storage.open_blob(reference.id) {
        Err(StorageError::Missing(_)) => return Ok(false),
        opened => opened?,
    };
    let mut checksum = 0;
    match blob.read(0, reference.len, &mut |piece| checksum = checksum_append(checksum, piece)) {
        Err(StorageError::Missing(_)) => return Ok(false),
        outcome => outcome?,
    }
    blob.sync()?;
    Ok(checksum == reference.checksum)
}

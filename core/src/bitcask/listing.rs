//! Which of the datafiles that lie in a storage are the store, by the manifest and by what the files say of each other.
//!
//! A datafile that the manifest lists must be there, be the one that is meant, and be as long as it was. One that it does
//! not list counts only where a crash explains it: the output of a merge that was published a moment before the manifest
//! was to be written, or a file of which nothing but the header was written. Files that were dropped, or for which a
//! published output stands, are litter, whatever is in them. Everything else is damage.
//!
//! The manifest itself may be the part that does not belong here. If all datafiles are of one store and the manifest of another,
//! it counts as lost. If a datafile has a number that it says was never used, it is an older copy: then that datafile counts.
//!
//! Where a salvage has begun, its note ([`super::notes`]) says which datafiles are successors that do not count yet, or which of
//! the litter is to be set aside.
//!
//! Datafiles of the format versions before [`MANIFEST_VERSION`] need no manifest, and one that lists only such files is not
//! binding: an older build, which knows nothing of it, may have used the store since.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::damage::{Damage, Findings, OpenError};
use super::files::File;
use super::hint;
use super::lost;
use super::manifest::{Listed, Manifest};
use super::notes::{self, Salvage};
use super::record::{FileHeader, MANIFEST_VERSION, SYNCED_RECORD_BYTES};
use super::salvage;
use crate::sorted;
use crate::storage::{DatafileId, Storage, StorageError};

/// Longest header of a datafile that merge made: one that replaces eight others.
const HEADER_USUAL_MAX_BYTES: u64 = 68 + 4 * 8;

/// The datafiles of a store.
pub(super) struct Listing {
    /// Those that count, in the order of replay.
    pub(super) files: Vec<Arc<File>>,
    /// Those that are to be removed, or set aside.
    pub(super) litter: Vec<Arc<File>>,
    /// What an earlier start has left of a salvage.
    pub(super) salvage: Begun,
    /// Those that are not this store's, or cannot be read at all.
    pub(super) foreign: Vec<u32>,
    /// The manifest that lies there, if it can be read.
    pub(super) found: Option<Manifest>,
    /// The manifest as it is to be. What is sealed is to be added.
    pub(super) manifest: Manifest,
    /// Whether the power may have been lost since the store was last open.
    pub(super) may_have_lost_power: bool,
}

/// A salvage that an earlier start has begun.
#[derive(Default)]
pub(super) enum Begun {
    /// None has.
    #[default]
    No,
    /// The store is still the damaged one. These datafiles count for nothing and have to go before anything is written.
    Undone(BTreeSet<u32>),
    /// The store is the mended one. These datafiles are set aside, all litter if that is not known; the report says what is
    /// lost.
    Done { aside: Option<BTreeSet<u32>>, report: String },
}

impl Begun {
    fn read(storage: &dyn Storage, manifest: Option<&Manifest>) -> Result<Begun, StorageError> {
        Ok(match Salvage::read(storage)? {
            notes::Found::None => Begun::No,
            notes::Found::Damaged(report) => Begun::Done { aside: None, report },
            notes::Found::Whole(note) if note.is_done(manifest) => {
                Begun::Done { aside: Some(note.aside.into_iter().collect()), report: note.report }
            }
            notes::Found::Whole(note) => Begun::Undone(note.successors.into_iter().collect()),
        })
    }

    /// Whether a datafile is a successor that does not count.
    pub(super) fn is_void(&self, id: u32) -> bool {
        matches!(self, Begun::Undone(void) if void.contains(&id))
    }

    /// Whether a datafile that is litter is kept for an operator.
    pub(super) fn is_set_aside(&self, id: u32) -> bool {
        matches!(self, Begun::Done { aside, .. } if aside.as_ref().is_none_or(|aside| aside.contains(&id)))
    }
}

/// Looks at what lies in a storage. `new_seed` is for one without datafiles.
pub(super) fn list(
    storage: &dyn Storage,
    new_seed: u64,
    findings: &mut Findings,
) -> Result<Listing, OpenError> {
    let (mut found, mut is_manifest_damaged) = read_manifest(storage, findings)?;
    let mut opened = Vec::new();
    for id in storage.list()? {
        opened.push((id, open_file(storage, id)?));
    }
    if found
        .as_ref()
        .is_some_and(|found| is_of_another_store(found, opened.iter().flat_map(|(_, file)| file)))
    {
        let what = "is another store's than all the datafiles that are there";
        findings.note(Damage::of_manifest(storage, what))?;
        (found, is_manifest_damaged) = (None, true);
    }
    let salvage = Begun::read(storage, found.as_ref())?;
    let (mut there, mut headless, mut litter) = (Vec::new(), Vec::new(), Vec::new());
    for (id, file) in opened {
        match file {
            _ if salvage.is_void(id.0) => litter.push(Arc::new(without_header(storage, id)?)),
            Some(file) => there.push(Arc::new(file)),
            None if is_of_later_version(storage, id)? => {
                // Nothing is salvaged that this build does not know.
                let damage = Damage::in_file(storage, id.0, 0, "not a datafile header of this version");
                return Err(OpenError::Damaged(Box::new(damage)));
            }
            None => headless.push(id),
        }
    }
    let is_new_version = |file: &Arc<File>| file.header.version >= MANIFEST_VERSION;
    let mut needs_manifest = false;
    for file in there.iter().filter(|file| is_new_version(file)) {
        needs_manifest |= !has_header_only(file)?;
    }
    let binding = found.as_ref().filter(|manifest| {
        manifest.files.values().any(|listed| listed.version >= MANIFEST_VERSION) || needs_manifest
    });
    if found.is_none() && needs_manifest && !is_manifest_damaged {
        findings
            .note(Damage::of_manifest(storage, "is missing, and the datafiles say that there must be one"))?;
    }
    if found.is_none() && !is_manifest_damaged && storage.list()?.is_empty() && is_left_of_a_store(storage)? {
        let what = "is missing, and so are all datafiles: there are blobs, hints or files that were set aside, so this \
                    is no new store";
        findings.note(Damage::of_manifest(storage, what))?;
    }
    let (mut living, mut foreign) = (Vec::new(), Vec::new());
    // An output has a larger number than what it stands for, which may itself be an output that is not listed yet.
    sorted::all(&mut there, |one, other| one.id().cmp(&other.id()));
    let mut known = sorted::set(binding.iter().flat_map(|manifest| manifest.files.keys().copied()));
    let known_seed = found.as_ref().map(|found| found.seed);
    let known_seed = known_seed.or_else(|| there.first().map(|file| file.header.seed));
    let there = there.into_iter().map(Ok).chain(headless.into_iter().map(Err));
    let mut is_manifest_older = false;
    for file in there {
        let has_header = file.is_ok();
        let file = match file {
            Ok(file) => file,
            Err(id) => {
                let is_dropped = found.as_ref().is_some_and(|found| found.dropped.contains(&id.0));
                if is_dropped || living.iter().any(|file: &Arc<File>| file.header.replaces.contains(&id.0)) {
                    litter.push(Arc::new(without_header(storage, id)?));
                    continue;
                }
                let mut damage = Damage::in_file(storage, id.0, 0, "not a datafile header of this version");
                let listed = found.as_ref().and_then(|found| found.files.get(&id.0));
                let rebuilt = rebuild_header(storage, id, (known_seed, new_seed), listed)?;
                damage.len = rebuilt.as_ref().map(|file| file.header_len);
                // The first records may have gone with the header, which nothing names then.
                damage.unnamed_bytes = damage.len.filter(|len| *len > HEADER_USUAL_MAX_BYTES).unwrap_or(0);
                findings.note(damage)?;
                let Some(file) = rebuilt else {
                    foreign.push(id.0);
                    continue;
                };
                Arc::new(file)
            }
        };
        match binding.map_or(Ok(Standing::Living), |manifest| standing(&file, manifest, &mut known))? {
            Standing::Living if binding.is_some() || !is_new_version(&file) || !has_header_only(&file)? => {
                living.push(file);
            }
            Standing::Living | Standing::Litter => litter.push(file),
            // A number is never used twice, and the manifest lists a datafile before anything is appended to it.
            Standing::Later if has_header => {
                if !is_manifest_older {
                    let what = "is older than the datafiles: it does not list one that was made after it";
                    findings.note(Damage::of_manifest(storage, what))?;
                }
                is_manifest_older = true;
                known.insert(file.id());
                living.push(file);
            }
            Standing::Later | Standing::Foreign => {
                let what = "is not one of the datafiles that the manifest lists";
                findings.note(Damage::of_file(storage, file.id(), what))?;
                foreign.push(file.id());
            }
        }
    }
    let replaced = sorted::set(living.iter().flat_map(|file| file.header.replaces.clone()));
    let (replaced_there, mut files): (Vec<_>, Vec<_>) =
        living.into_iter().partition(|file| replaced.contains(&file.id()));
    litter.extend(replaced_there);
    sorted::all(&mut files, |one, other| one.order().cmp(&other.order()));
    if let Some(manifest) = binding {
        let listed = ListedFiles { manifest, replaced: &replaced, is_older: is_manifest_older };
        foreign.extend(check_listed(storage, listed, &files, findings)?);
        files.retain(|file| !foreign.contains(&file.id()));
    }
    let seed =
        files.first().map_or(found.as_ref().map_or(new_seed, |found| found.seed), |file| file.header.seed);
    let highest =
        files.iter().chain(&litter).map(|file| file.id()).chain(replaced).chain(foreign.clone()).max();
    let next_file = highest.map_or(1, |id| id.saturating_add(1));
    let known = found.as_ref().map(|found| &found.files);
    let entry = |file: &Arc<File>| {
        let before = known.and_then(|known| known.get(&file.id())).copied();
        (file.id(), before.unwrap_or_else(|| Listed::new(&file.header)))
    };
    let manifest = Manifest {
        boot: storage.boot_id(),
        generation: found.as_ref().map_or(0, |found| found.generation),
        next_file: next_file.max(found.as_ref().map_or(1, |found| found.next_file)),
        files: sorted::map(files.iter().map(entry)),
        dropped: litter.iter().map(|file| file.id()).collect(),
        shared_below: found.as_ref().map_or(0, |found| found.shared_below),
        ..Manifest::new(seed)
    };
    // A store that was found damaged in the run in which it was open was not damaged by a loss of power since.
    let boot_before = found.as_ref().and_then(|found| found.boot);
    let is_same_run = boot_before.is_some() && boot_before == storage.boot_id();
    let may_have_lost_power =
        !is_same_run && (boot_before.is_none() || notes::refused_in(storage)? != boot_before);
    Ok(Listing { files, litter, salvage, foreign, found, manifest, may_have_lost_power })
}

/// The manifest, and whether there is one that cannot be read.
fn read_manifest(
    storage: &dyn Storage,
    findings: &mut Findings,
) -> Result<(Option<Manifest>, bool), OpenError> {
    let Some(bytes) = storage.manifest()? else { return Ok((None, false)) };
    let manifest = Manifest::read(&bytes);
    if manifest.is_none() {
        findings.note(Damage {
            offset: Some(0),
            ..Damage::of_manifest(storage, "it does not carry its checksum, or is of a later version")
        })?;
    }
    let is_damaged = manifest.is_none();
    Ok((manifest, is_damaged))
}

/// Whether a storage without datafiles has what only a store leaves. Its datafiles may be on a disk that was not mounted.
fn is_left_of_a_store(storage: &dyn Storage) -> Result<bool, StorageError> {
    Ok(!storage.list_blobs()?.is_empty() || storage.has_set_aside()? || hint::any_there(storage.meta()))
}

/// A datafile with its header; None if that cannot be read.
fn open_file(storage: &dyn Storage, id: DatafileId) -> Result<Option<File>, StorageError> {
    let datafile = storage.open(id)?;
    let len = datafile.len()?;
    let mut header_len = None;
    datafile.read(0, len.min(16), &mut |bytes| header_len = FileHeader::len_of(bytes))?;
    let Some(header_len) = header_len.filter(|header_len| *header_len <= len) else { return Ok(None) };
    let mut header = None;
    datafile.read(0, header_len, &mut |bytes| header = FileHeader::read(bytes))?;
    Ok(header.filter(|header| header.id == id.0).map(|header| File::new(header, datafile, len)))
}

/// Whether a header is whole and only its version is not known. One of a known version is that of another datafile, under a wrong name.
fn is_of_later_version(storage: &dyn Storage, id: DatafileId) -> Result<bool, StorageError> {
    let datafile = storage.open(id)?;
    let len = datafile.len()?;
    let mut header_len = None;
    datafile.read(0, len.min(16), &mut |bytes| {
        header_len = FileHeader::len_of_any_version(bytes).filter(|_| FileHeader::len_of(bytes).is_none());
    })?;
    let Some(header_len) = header_len.filter(|header_len| *header_len <= len) else { return Ok(false) };
    let mut is_whole = false;
    datafile.read(0, header_len, &mut |bytes| is_whole = FileHeader::carries_its_checksum(bytes))?;
    Ok(is_whole)
}

/// A datafile whose header is damaged, with what the manifest, the other datafiles (their seed, if it is known) and its records
/// say of it; None if there are no records.
fn rebuild_header(
    storage: &dyn Storage,
    id: DatafileId,
    (seed, new_seed): (Option<u64>, u64),
    listed: Option<&Listed>,
) -> Result<Option<File>, StorageError> {
    let datafile = storage.open(id)?;
    let len = datafile.len()?;
    let mut own_seed = None;
    datafile.read(0, len.min(28), &mut |bytes| own_seed = FileHeader::seed_in(bytes))?;
    let seed = seed.or(own_seed).unwrap_or(new_seed);
    let base_sequence = listed.map_or(0, |listed| listed.base_sequence);
    // Records are read with the salt of the version; those of versions 1 and 2 have none.
    let versions = listed.map_or(vec![MANIFEST_VERSION, MANIFEST_VERSION - 1], |listed| vec![listed.version]);
    for version in versions {
        let header = FileHeader { version, id: id.0, seed, base_sequence, ..FileHeader::none() };
        let mut file = File::new(header, datafile.clone(), len);
        let (mut first, mut smallest) = (len, u64::MAX);
        salvage::walk(&file, 0, len, file.header.base_sequence, &mut |step| {
            if let salvage::Step::Record(offset, record) = step {
                first = first.min(offset);
                smallest = smallest.min(record.header.sequence);
            }
        })?;
        if first < len {
            file.header_len = first;
            file.header.base_sequence = listed.map_or(smallest, |listed| listed.base_sequence);
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Whether no frame was ever appended.
fn has_header_only(file: &File) -> Result<bool, StorageError> {
    Ok(!file.header.is_output()
        && salvage::end_of_content(file, file.header_len, file.len())? == file.header_len)
}

/// A datafile of which only the number counts.
fn without_header(storage: &dyn Storage, id: DatafileId) -> Result<File, StorageError> {
    let datafile = storage.open(id)?;
    let len = datafile.len()?;
    Ok(File::new(FileHeader { id: id.0, ..FileHeader::none() }, datafile, len))
}

/// Whether a manifest that is binding lists another store's datafiles than those that are there.
fn is_of_another_store<'f>(manifest: &Manifest, there: impl Iterator<Item = &'f File>) -> bool {
    let mut seeds = BTreeSet::new();
    let mut newest = manifest.files.values().map(|listed| listed.version).max().unwrap_or(0);
    for file in there {
        seeds.insert(file.header.seed);
        newest = newest.max(file.header.version);
    }
    newest >= MANIFEST_VERSION && seeds.len() == 1 && !seeds.contains(&manifest.seed)
}

enum Standing {
    Living,
    Litter,
    /// Made after the manifest was written, though a manifest comes first.
    Later,
    Foreign,
}

/// What a datafile is to a store with this manifest.
fn standing(file: &File, manifest: &Manifest, known: &mut BTreeSet<u32>) -> Result<Standing, StorageError> {
    let FileHeader { id, seed, replaces, .. } = &file.header;
    if manifest.files.contains_key(id) {
        return Ok(Standing::Living);
    }
    let is_ours = *seed == manifest.seed;
    let stands_for_known = !replaces.is_empty() && replaces.iter().all(|id| known.contains(id));
    Ok(match () {
        () if manifest.dropped.contains(id) => Standing::Litter,
        () if is_ours && stands_for_known => {
            known.insert(*id);
            Standing::Living
        }
        () if is_ours && has_header_only(file)? => Standing::Litter,
        () if is_ours && *id >= manifest.next_file => Standing::Later,
        () => Standing::Foreign,
    })
}

/// What a manifest lists.
struct ListedFiles<'m> {
    manifest: &'m Manifest,
    /// The datafiles for which others stand.
    replaced: &'m BTreeSet<u32>,
    /// Whether datafiles were made, and merged perhaps, after it was written.
    is_older: bool,
}

/// Compares the datafiles with what the manifest says of each; returns those that are others under the same number.
fn check_listed(
    storage: &dyn Storage,
    ListedFiles { manifest, replaced, is_older }: ListedFiles<'_>,
    files: &[Arc<File>],
    findings: &mut Findings,
) -> Result<Vec<u32>, OpenError> {
    let mut foreign = Vec::new();
    let there = sorted::map(files.iter().map(|file| (file.id(), file)));
    for (id, listed) in manifest.files.iter().filter(|(id, _)| !replaced.contains(id)) {
        let Some(file) = there.get(id) else {
            if !findings.damaged_files().any(|damaged| damaged == *id) {
                let what = match is_older {
                    true => {
                        "is missing, or was merged since: a manifest that is older than the datafiles lists it"
                    }
                    false => "is missing: the manifest lists it",
                };
                findings.note(as_a_whole(storage, manifest, *id, Damage::of_file(storage, *id, what))?)?;
            }
            continue;
        };
        if file.header.seed != manifest.seed || file.header.base_sequence != listed.base_sequence {
            let what = "it is not the datafile with this number that the manifest lists, but another one";
            findings.note(as_a_whole(storage, manifest, *id, Damage::in_file(storage, *id, 0, what))?)?;
            foreign.push(*id);
            continue;
        }
        let len = file.len();
        let Some((sealed_len, checksum)) = listed.seal else { continue };
        if len != sealed_len {
            let what = "it has not the length with which it was sealed";
            let mut damage = Damage::in_file(storage, *id, len.min(sealed_len), what);
            damage.len = sealed_len.checked_sub(len);
            damage.unnamed_bytes = damage.len.unwrap_or(0);
            findings.note(damage)?;
        } else if seal_of(file, len)? != Some((len, checksum)) {
            let at = len.saturating_sub(SYNCED_RECORD_BYTES);
            findings.note(Damage::in_file(storage, *id, at, "it does not end with the seal that it had"))?;
        }
    }
    Ok(foreign)
}

/// Damage of a datafile of which nothing is there, with what its hints list.
fn as_a_whole(
    storage: &dyn Storage,
    manifest: &Manifest,
    id: u32,
    damage: Damage,
) -> Result<Damage, StorageError> {
    let known = manifest.files.get(&id);
    let (synced_len, base_sequence) =
        known.map_or((0, 0), |listed| (listed.synced_len, listed.base_sequence));
    let listed = lost::Listed::of_missing(storage.meta(), id, manifest.seed);
    let len = synced_len.max(listed.covered());
    let lost::Hole { records, unnamed_records, unnamed_bytes } =
        lost::lost_records(None, (0, len), &listed, base_sequence)?;
    Ok(Damage { len: Some(len), records, unnamed_records, unnamed_bytes, ..damage })
}

/// Length and last checksum of a datafile that ends with a seal.
pub(super) fn seal_of(file: &File, len: u64) -> Result<Option<(u64, u32)>, StorageError> {
    let Some(at) = len.checked_sub(SYNCED_RECORD_BYTES) else { return Ok(None) };
    let mut checksum = None;
    file.datafile.read(at, 4, &mut |bytes| {
        checksum = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    })?;
    Ok(checksum.map(|checksum| (len, checksum)))
}

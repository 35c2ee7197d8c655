//! What damage took from which keys: the records that cannot be read, compared with what the store holds without them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::damage::{Damage, LostKind, LostRecord};
use super::files::FileTable;
use super::keydir::{
    CATALOG_SPACE, LONG_KEY_BYTES, Location, Name, RootEntry, SHARD_BITS, SubEntry, shard_of,
};
use super::record::{HEADER_MAX_LEN, Header, RecordType};
use super::replay::Replayed;
use super::salvage;
use crate::engine::{CATALOG, Db, is_page};
use crate::sorted;
use crate::storage::{BlobId, Part, Storage, StorageError};

/// A key whose blob is missing or does not hold what the key's record says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedBlob {
    /// The blob.
    pub id: BlobId,
    /// The database that shows the key, if one does.
    pub db: Option<Db>,
    /// The key; `None` if its record cannot be read either.
    pub key: Option<Vec<u8>>,
    /// What is wrong, with the blob's place.
    pub what: String,
    /// Whether the blob itself is whole, and only checksums of its pieces are not there, without which it is not read.
    pub lacks_sums: bool,
}

/// What became of a key, or a subkey, one of whose records is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is not there any more.
    Gone,
    /// It is what an older record says, of this time (unix time in milliseconds).
    Older {
        /// When that record was committed.
        time_ms: u64,
    },
    /// A later record stands, or there was nothing to lose.
    Unharmed,
}

/// A lost record and what that means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The database that shows the key; `None` if none does, or if that is not known.
    pub db: Option<Db>,
    /// The key; `None` if it is not known, as of a subkey whose key is lost.
    pub key: Option<Vec<u8>>,
    /// The subkey (field, member, position), if it is about one.
    pub subkey: Option<Vec<u8>>,
    /// What the lost record said.
    pub kind: LostKind,
    /// When it was committed, unix time in milliseconds; 0 if that is not known.
    pub time_ms: u64,
    /// What there is instead.
    pub fate: Fate,
}

/// The database that shows a space.
pub(super) fn db_of(replayed: &Replayed, space: u64) -> Option<Db> {
    if space == CATALOG_SPACE {
        return Some(CATALOG);
    }
    let shown = &replayed.shards.first()?.databases;
    shown.iter().position(|shown| *shown == space).map(|db| db as Db)
}

impl DamagedBlob {
    /// `says` goes on behind the number and the place of the blob. With the key's database and the key, if they are known.
    fn of(
        storage: &dyn Storage,
        id: BlobId,
        (db, key): (Option<Db>, Option<Vec<u8>>),
        says: &str,
    ) -> DamagedBlob {
        let what = format!("blob {} ({}) {says}", id.0, storage.place(Part::Blob(id)));
        DamagedBlob { id, db, key, what, lacks_sums: false }
    }

    /// A blob that is not what its record says.
    pub(super) fn new(
        storage: &dyn Storage,
        id: BlobId,
        db: Option<Db>,
        key: Option<Vec<u8>>,
    ) -> DamagedBlob {
        DamagedBlob::of(storage, id, (db, key), "is missing, short or does not carry its checksum")
    }

    /// A whole blob that is not read for want of checksums of its pieces.
    pub(super) fn without_sums(
        storage: &dyn Storage,
        id: BlobId,
        db: Option<Db>,
        key: Option<Vec<u8>>,
    ) -> DamagedBlob {
        let says = "is whole, but checksums of its parts are lost; a repair makes them anew";
        DamagedBlob { lacks_sums: true, ..DamagedBlob::of(storage, id, (db, key), says) }
    }
}

/// Adds the keys whose blobs are not there.
pub(super) fn missing_blobs(
    storage: &dyn Storage,
    replayed: &Replayed,
    table: &FileTable,
    there: &BTreeSet<BlobId>,
    damaged: &mut Vec<DamagedBlob>,
) -> Result<(), StorageError> {
    let known = |id: &BlobId| damaged.iter().any(|blob| blob.id == *id);
    let missing =
        sorted::set(replayed.blob_roots.keys().filter(|id| !there.contains(id) && !known(id)).copied());
    if missing.is_empty() {
        return Ok(());
    }
    let is_wanted = |entry: &RootEntry| entry.blob.is_some_and(|blob| missing.contains(&blob.id));
    each_root(replayed, table, &is_wanted, &mut |space, key, entry| {
        if let Some(blob) = entry.blob {
            let owner = (db_of(replayed, space), key.map(<[u8]>::to_vec));
            damaged.push(DamagedBlob::of(storage, blob.id, owner, "is missing"));
        }
    });
    Ok(())
}

/// What the lost records of some damage mean for the keys of a store.
pub(super) fn of(
    table: &FileTable,
    replayed: &Replayed,
    damages: &[Damage],
) -> Result<Vec<Loss>, StorageError> {
    let records: Vec<&LostRecord> = damages.iter().flat_map(|damage| &damage.records).collect();
    let is_sub = |record: &LostRecord| matches!(record.kind, LostKind::Subkey | LostKind::SubkeyRemoval);
    let subs = sorted::set(records.iter().filter(|record| is_sub(record)).map(|record| record.owner));
    let mut owners: HashMap<u64, (u64, Vec<u8>)> = HashMap::new();
    let mut strings: BTreeSet<u64> = BTreeSet::new();
    if !subs.is_empty() {
        let is_wanted =
            |entry: &RootEntry| entry.collection.is_some_and(|collection| subs.contains(&collection));
        each_root(replayed, table, &is_wanted, &mut |space, key, entry| {
            strings.extend(entry.collection.filter(|_| entry.blob.is_some()));
            if let (Some(collection), Some(key)) = (entry.collection, key) {
                owners.insert(collection, (space, key.to_vec()));
            }
        });
    }
    let rootless = subkeys_without_root(table, replayed, &records)?;
    let mut losses = Vec::new();
    for record in records {
        let time_ms = record.time_ms;
        let of_key = |subkey: Option<Vec<u8>>, kind: LostKind, fate: Fate| {
            let db = db_of(replayed, record.owner);
            Loss { db, key: Some(record.key.clone()), subkey, kind, time_ms, fate }
        };
        match record.kind {
            LostKind::Key | LostKind::KeyRemoval => {
                let now = root_at(replayed, record).map(|entry| entry.location);
                losses.push(of_key(None, record.kind, fate(table, record, now)?));
                let orphans = record.collection.and_then(|collection| rootless.get(&collection));
                let of_orphan = |subkey: &Vec<u8>| of_key(Some(subkey.clone()), LostKind::Subkey, Fate::Gone);
                losses.extend(orphans.into_iter().flatten().map(of_orphan));
            }
            LostKind::Subkey | LostKind::SubkeyRemoval => {
                let owner = owners.get(&record.owner);
                let hash = |(_, key): &(u64, Vec<u8>)| Name::of(replayed.seed, key).hash(replayed.seed);
                let now = owner.map(hash).and_then(|hash| {
                    let tree = replayed.shards[shard_of(hash)].collections.get(&record.owner)?;
                    SubEntry::read(tree.get(&record.key)?).map(|(entry, _)| entry.location)
                });
                losses.push(Loss {
                    db: owner.and_then(|(space, _)| db_of(replayed, *space)),
                    key: owner.map(|(_, key)| key.clone()),
                    subkey: Some(record.key.clone()),
                    kind: match strings.contains(&record.owner) && is_page(&record.key) {
                        true => LostKind::Sums,
                        false => record.kind,
                    },
                    time_ms,
                    fate: fate(table, record, now)?,
                });
            }
            // Of whole losses only.
            LostKind::Sums => {}
            LostKind::Databases => losses.push(Loss {
                db: None,
                key: None,
                subkey: None,
                kind: record.kind,
                time_ms,
                fate: Fate::Gone,
            }),
        }
    }
    Ok(losses)
}

fn root_at(replayed: &Replayed, record: &LostRecord) -> Option<RootEntry> {
    let name = Name::of(replayed.seed, &record.key);
    let hash = name.hash(replayed.seed);
    replayed.shards[shard_of(hash)].root(record.owner, &name, hash)
}

/// What became of a key whose record in force is `now`.
fn fate(table: &FileTable, record: &LostRecord, now: Option<Location>) -> Result<Fate, StorageError> {
    let was_removal = matches!(record.kind, LostKind::KeyRemoval | LostKind::SubkeyRemoval);
    let Some(now) = now else { return Ok(if was_removal { Fate::Unharmed } else { Fate::Gone }) };
    Ok(match header_at(table, now)? {
        Some(header) if header.sequence > record.sequence => Fate::Unharmed,
        Some(header) => Fate::Older { time_ms: header.timestamp_ms },
        None => Fate::Gone,
    })
}

fn header_at(table: &FileTable, at: Location) -> Result<Option<Header>, StorageError> {
    let Some(file) = table.get(&at.file) else { return Ok(None) };
    let offset = u64::from(at.offset);
    let head_len = file.datafile.len()?.saturating_sub(offset).min(HEADER_MAX_LEN as u64);
    let mut found = None;
    file.datafile
        .read(offset, head_len, &mut |bytes| found = Header::read(bytes).map(|(header, _)| header))?;
    Ok(found)
}

/// The subkeys of the collections that a lost record of a key names and no other record does.
fn subkeys_without_root(
    table: &FileTable,
    replayed: &Replayed,
    records: &[&LostRecord],
) -> Result<BTreeMap<u64, BTreeSet<Vec<u8>>>, StorageError> {
    let is_lost = |collection: &u64| !replayed.owners.contains_key(collection);
    let lost = records.iter().filter(|record| record.kind == LostKind::Key);
    // The parts of a string that is lost have no names of their own.
    let lost = lost.filter(|record| !record.has_blob);
    let lost = lost.filter_map(|record| record.collection).filter(is_lost);
    let mut subkeys: BTreeMap<u64, BTreeSet<Vec<u8>>> = sorted::map(lost.map(|lost| (lost, BTreeSet::new())));
    if subkeys.is_empty() {
        return Ok(subkeys);
    }
    let mut files: Vec<_> = table.values().collect();
    sorted::all(&mut files, |one, other| one.order().cmp(&other.order()));
    for file in files {
        let (from, base) = (file.header_len, file.header.first_sequence());
        salvage::walk(file, from, file.datafile.len()?, base, &mut |step| {
            let salvage::Step::Record(_, record) = step else { return };
            let Some(subkeys) = subkeys.get_mut(&record.header.owner) else { return };
            match record.header.record_type {
                RecordType::Sub => drop(subkeys.insert(record.key.to_vec())),
                RecordType::SubTombstone => drop(subkeys.remove(record.key)),
                _ => {}
            }
        })?;
    }
    Ok(subkeys)
}

/// Is shown a root: its space, its key (`None` if it cannot be read) and its entry.
pub(super) type RootVisitor<'v> = &'v mut dyn FnMut(u64, Option<&[u8]>, &RootEntry);

/// Shows the wanted roots.
pub(super) fn each_root(
    replayed: &Replayed,
    table: &FileTable,
    is_wanted: &dyn Fn(&RootEntry) -> bool,
    visit: RootVisitor<'_>,
) {
    for (at, shard) in replayed.shards.iter().enumerate() {
        for space in &shard.spaces {
            for tables in [&space.short, &space.long] {
                let mut position = Some((at as u64) << (u64::BITS - SHARD_BITS));
                while let Some(here) = position {
                    position = tables.scan(here, &mut |_, name, bytes| {
                        // Long keys are read one by one, which takes long for all of them.
                        let Some(entry) = RootEntry::read(bytes).filter(is_wanted) else { return };
                        if std::ptr::eq(tables, &space.short) {
                            visit(space.number, Some(name), &entry);
                            return;
                        }
                        let key = long_key(table, &entry);
                        let key = key.filter(|key| Name::of(replayed.seed, key).bytes() == name);
                        visit(space.number, key.as_deref(), &entry);
                    });
                }
            }
        }
    }
}

/// The key in a root's record, for one of which the keydir holds a fingerprint; None if the record cannot be read, which
/// damages this key only.
fn long_key(table: &FileTable, entry: &RootEntry) -> Option<Vec<u8>> {
    let file = table.get(&entry.location.file)?;
    let offset = u64::from(entry.location.offset);
    let left = file.datafile.len().ok()?.checked_sub(offset)?;
    let mut place = None;
    let mut note = |bytes: &[u8]| {
        place = Header::read(bytes).map(|(header, before_key)| (before_key as u64, header.key_len));
    };
    file.datafile.read(offset, left.min(HEADER_MAX_LEN as u64), &mut note).ok()?;
    let (before_key, key_len) = place?;
    if key_len <= LONG_KEY_BYTES as u64 || before_key + key_len > left {
        return None;
    }
    let mut key = Vec::new();
    file.datafile.read(offset + before_key, key_len, &mut |bytes| key.extend_from_slice(bytes)).ok()?;
    Some(key)
}

//! Building the keydir from records in the order of the log.
//!
//! The same rules serve records of datafiles and entries of hints: later wins. Collections are kept apart from the
//! roots that own them until the end, because a root's record may stand after its subkeys' (merge drops replaced
//! roots); whatever no root owns then is dead.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::blobs::Referred;
use super::files::{File, FileTable};
use super::keydir::{
    ByCollection, CATALOG_SPACE, FIRST_NUMBER, Location, Name, RootEntry, SHARDS, Shard, SubEntry, bury,
    bury_databases, bury_sub, long_key_len, shard_of,
};
use super::record::{Header, RecordType, read_u64};
use crate::engine::ShortValue;
use crate::packed::table::prefetch;
use crate::packed::tree::{KeyBuffer, Tree};
use crate::sorted;
use crate::storage::BlobId;

/// Roots of which it makes sense to say beforehand that they are about to be applied.
pub(super) const PREFETCHED_ROOTS: usize = 16;

/// The state of a replay.
pub(super) struct Replay {
    seed: u64,
    /// The bits of use of every key.
    access: u32,
    pub(super) files: FileTable,
    shards: Vec<Shard>,
    collections: ByCollection<Tree>,
    /// The last record of the databases and where it was.
    databases: Option<(Vec<u64>, Location)>,
    /// How many roots refer to each blob.
    blob_roots: BlobRoots,
    pub(super) max_sequence: u64,
    pub(super) max_number: u64,
}

/// How many roots refer to each blob (none for a moment, or less, where a key is renamed), and how long the last of them
/// says its value is.
type BlobRoots = HashMap<BlobId, (i64, u64)>;

fn release(blob_roots: &mut BlobRoots, entry: &RootEntry) {
    if let Some(blob) = entry.blob {
        blob_roots.entry(blob.id).or_default().0 -= 1;
    }
}

/// The outcome of a replay.
pub(super) struct Replayed {
    pub(super) seed: u64,
    pub(super) shards: Vec<Shard>,
    pub(super) owners: ByCollection<u16>,
    pub(super) databases_record: Option<Location>,
    pub(super) blob_roots: HashMap<BlobId, Referred>,
}

impl Replay {
    pub(super) fn new(seed: u64, access: u32) -> Replay {
        let empty = Arc::new(FileTable::new());
        Replay {
            seed,
            access,
            files: FileTable::new(),
            shards: (0..SHARDS).map(|_| Shard::new(seed, Vec::new(), empty.clone())).collect(),
            collections: ByCollection::default(),
            databases: None,
            blob_roots: BlobRoots::new(),
            max_sequence: 0,
            max_number: FIRST_NUMBER - 1,
        }
    }

    /// Takes one record. `name` is the key, or its fingerprint; `value` may be missing where the keydir keeps none.
    pub(super) fn apply(
        &mut self,
        header: &Header,
        name: &Name<'_>,
        value: &[u8],
        file: &Arc<File>,
        offset: u64,
    ) {
        self.max_sequence = self.max_sequence.max(header.sequence);
        self.max_number = self.max_number.max(header.collection.unwrap_or(0));
        let Ok(offset) = u32::try_from(offset) else { return };
        let location = Location { file: file.id(), offset };
        match header.record_type {
            RecordType::Root => self.root(header, name, value, location),
            RecordType::RootTombstone => {
                self.root_tombstone(header, name);
                file.tombstones.fetch_add(header.record_len(), std::sync::atomic::Ordering::Relaxed);
            }
            RecordType::Sub => {
                self.max_number = self.max_number.max(header.owner);
                let files = &self.files;
                let tree = self.collections.entry(header.owner).or_default();
                let entry =
                    SubEntry { location, value_len: header.value_len as u32 }.keeping(value, tree.len());
                let subkey = name.bytes();
                tree.insert(subkey, &entry, &mut |old| bury_sub(files, header.owner, subkey, old));
            }
            RecordType::SubTombstone => {
                self.max_number = self.max_number.max(header.owner);
                if let Some(tree) = self.collections.get_mut(&header.owner) {
                    let (files, subkey) = (&self.files, name.bytes());
                    tree.remove(subkey, &mut |old| bury_sub(files, header.owner, subkey, old));
                }
                file.tombstones.fetch_add(header.record_len(), std::sync::atomic::Ordering::Relaxed);
            }
            RecordType::Databases => {
                let mut rest = value;
                let spaces: Vec<u64> = std::iter::from_fn(|| read_u64(&mut rest)).collect();
                self.max_number = spaces.iter().copied().fold(self.max_number, u64::max);
                if let Some((before, location)) = self.databases.replace((spaces, location)) {
                    bury_databases(&self.files, location, before.len());
                }
            }
            RecordType::Synced => file.add_dead(header.record_len()),
        }
    }

    /// Whether a database shows a key whose root is the record at this place.
    pub(super) fn is_root_at(&self, space: u64, key: &[u8], at: Location) -> bool {
        let name = Name::of(self.seed, key);
        let hash = name.hash(self.seed);
        let is_shown = self.databases.as_ref().is_none_or(|(spaces, _)| {
            spaces.contains(&space) || (spaces.len() as u64..FIRST_NUMBER).contains(&space)
        });
        let entry = self.shards[shard_of(hash)].root(space, &name, hash).filter(|_| is_shown);
        entry.is_some_and(|entry| entry.location == at)
    }

    /// Has the processor fetch what roots that are about to be applied concern: building the keydir is mostly waiting for memory.
    pub(super) fn prefetch<'r>(&self, roots: impl Iterator<Item = (&'r Header, &'r Name<'r>)>) {
        let wanted = roots.filter_map(|(header, name)| {
            let (Name::Short(_), RecordType::Root) = (name, header.record_type) else { return None };
            let hash = name.hash(self.seed);
            Some((&self.shards[shard_of(hash)].space(header.owner)?.short, hash))
        });
        prefetch(&wanted.collect::<SmallVec<[_; PREFETCHED_ROOTS]>>());
    }

    fn root(&mut self, header: &Header, name: &Name<'_>, value: &[u8], location: Location) {
        let Some(kind) = header.redis_kind() else { return };
        let space = header.owner;
        let blob = header.blob(value);
        self.max_number = self.max_number.max(space).max(blob.map_or(0, |blob| blob.id.0));
        let entry = RootEntry {
            kind,
            encoding: header.encoding,
            access: self.access,
            location,
            value_len: header.value_len as u32,
            expires_at_ms: header.expires_at_ms,
            collection: header.collection,
            blob,
            short: ShortValue::of(value).filter(|_| blob.is_none() && value.len() as u64 == header.value_len),
        };
        if let Some(blob) = blob {
            let (roots, len) = self.blob_roots.entry(blob.id).or_default();
            (*roots, *len) = (*roots + 1, blob.len);
        }
        let hash = name.hash(self.seed);
        if let Some(before) = self.shards[shard_of(hash)].put_root(space, name, hash, entry) {
            self.bury_root(space, header.key_len, &before);
        }
    }

    fn root_tombstone(&mut self, header: &Header, name: &Name<'_>) {
        if let Some(collection) = header.collection {
            self.drop_collection(collection);
        }
        let space = header.owner;
        let hash = name.hash(self.seed);
        if let Some(before) = self.shards[shard_of(hash)].remove_root(space, name, hash) {
            self.bury_root(space, header.key_len, &before);
        }
    }

    fn bury_root(&mut self, space: u64, key_len: u64, entry: &RootEntry) {
        release(&mut self.blob_roots, entry);
        bury(&self.files, entry.location, entry.prefix_len(space, key_len) + u64::from(entry.value_len));
    }

    fn drop_collection(&mut self, collection: u64) {
        if let Some(tree) = self.collections.remove(&collection) {
            bury_tree(&self.files, collection, &tree);
        }
    }

    /// Gives the collections to their roots' shards and drops what no database shows.
    pub(super) fn finish(mut self, databases: u32) -> Replayed {
        let (mut shown, databases_record) = match self.databases.take() {
            Some((spaces, location)) => (spaces, Some(location)),
            None => (Vec::new(), None),
        };
        let recorded = shown.len() as u64;
        shown.extend(recorded..u64::from(databases));
        let live = sorted::set(shown.iter().copied().chain([CATALOG_SPACE]));
        let files = Arc::new(std::mem::take(&mut self.files));
        // Tables that grow with each collection would be copied and cleared again and again.
        let count = self.collections.len();
        let mut owners = ByCollection::with_capacity_and_hasher(count, Default::default());
        let mut shards = std::mem::take(&mut self.shards);
        for (at, shard) in shards.iter_mut().enumerate() {
            shard.databases = shown.clone();
            shard.files = files.clone();
            shard.collections.reserve(count / SHARDS);
            let spaces = std::mem::take(&mut shard.spaces);
            for space in spaces {
                let is_live = live.contains(&space.number);
                for (table, is_long) in [(&space.short, false), (&space.long, true)] {
                    let mut position = Some((at as u64) << (u64::BITS - super::keydir::SHARD_BITS));
                    while let Some(here) = position {
                        position = table.scan(here, &mut |_, key, bytes| {
                            let Some(entry) = RootEntry::read(bytes) else { return };
                            if !is_live {
                                let key_len = if is_long { long_key_len(key) } else { key.len() as u64 };
                                let len = entry.prefix_len(space.number, key_len);
                                release(&mut self.blob_roots, &entry);
                                bury(&files, entry.location, len + u64::from(entry.value_len));
                            } else if let Some(collection) = entry.collection {
                                owners.insert(collection, at as u16);
                                let tree = self.collections.remove(&collection).unwrap_or_default();
                                shard.collections.insert(collection, tree);
                            }
                        });
                    }
                }
                if is_live {
                    shard.spaces.push(space);
                }
            }
        }
        for (collection, tree) in &self.collections {
            bury_tree(&files, *collection, tree);
        }
        let referred = |(id, (roots, len)): (BlobId, (i64, u64))| {
            let roots = u32::try_from(roots).ok().filter(|roots| *roots > 0)?;
            Some((id, Referred { roots, len }))
        };
        let blob_roots = self.blob_roots.into_iter().filter_map(referred).collect();
        Replayed { seed: self.seed, shards, owners, databases_record, blob_roots }
    }
}

/// Counts the records of all subkeys of a collection as dead.
fn bury_tree(files: &FileTable, collection: u64, tree: &Tree) {
    let mut buffer = KeyBuffer::default();
    for (subkey, entry) in tree.iter() {
        bury_sub(files, collection, buffer.join(subkey), entry);
    }
}

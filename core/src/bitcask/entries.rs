//! The keydir's entries of records that were read from datafiles: where they point, and pointing them elsewhere.
//!
//! Merge and hints ask for many records in the order of a datafile. Records of one collection often stand side by side there,
//! so a run of them is looked up under one lock: a lock for each would wake a waiting writer after every record.

use std::sync::Arc;

use super::Bitcask;
use super::files::File;
use super::keydir::{Location, Name, RootEntry, Shard, SubEntry, shard_of};
use super::record::{Record, RecordType};
use super::scan::Placed;
use crate::packed::tree::Tree;

impl Bitcask {
    /// Calls `note` for each record, in order, with where the keydir finds what the record is about.
    pub(super) fn entry_locations(
        &self,
        records: &[Placed<'_>],
        note: &mut dyn FnMut(&Placed<'_>, Option<Location>),
    ) {
        for run in runs(records) {
            match run {
                Run::Collection(collection, records) => {
                    let mut locations = Vec::with_capacity(records.len());
                    self.in_collection(collection, |tree| {
                        records.iter().for_each(|placed| tree.fetch(placed.record.key));
                        locations.extend(records.iter().map(|placed| {
                            SubEntry::read(tree.get(placed.record.key)?).map(|(entry, _)| entry.location)
                        }));
                        Some(())
                    });
                    // No collection, no entries.
                    let locations = locations.into_iter().chain(std::iter::repeat(None));
                    records.iter().zip(locations).for_each(|(placed, location)| note(placed, location));
                }
                Run::Other(placed) => note(placed, self.entry_location(&placed.record)),
            }
        }
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
            RecordType::Sub => self.in_collection(header.owner, |tree| {
                SubEntry::read(tree.get(record.key)?).map(|(entry, _)| entry.location)
            }),
            RecordType::Databases => *self.databases_record.lock(),
            RecordType::RootTombstone | RecordType::SubTombstone | RecordType::Synced => None,
        }
    }

    /// Makes the entries of records of `output` that point into one of the inputs point to it. Calls `note` for each record, in
    /// order, with whether its entry did; one that points elsewhere by now stays as it is.
    pub(super) fn move_entries(
        &self,
        records: &[Placed<'_>],
        inputs: &[Arc<File>],
        output: u32,
        note: &mut dyn FnMut(&Placed<'_>, bool),
    ) {
        let is_old = |location: Location| inputs.iter().any(|input| input.id() == location.file);
        let place_of = |placed: &Placed<'_>| Location { file: output, offset: placed.offset as u32 };
        for run in runs(records) {
            match run {
                Run::Collection(collection, records) => {
                    let mut are_moved = Vec::with_capacity(records.len());
                    self.in_collection(collection, |tree| {
                        records.iter().for_each(|placed| tree.fetch(placed.record.key));
                        are_moved.extend(records.iter().map(|placed| {
                            move_subkey(tree, placed.record.key, &is_old, place_of(placed)).is_some()
                        }));
                        Some(())
                    });
                    let are_moved = are_moved.into_iter().chain(std::iter::repeat(false));
                    records.iter().zip(are_moved).for_each(|(placed, is_moved)| note(placed, is_moved));
                }
                Run::Other(placed) => {
                    note(placed, self.move_entry(&placed.record, &is_old, place_of(placed)).is_some());
                }
            }
        }
    }

    /// Moves the entry of a record that is not a subkey's.
    fn move_entry(&self, record: &Record<'_>, is_old: &dyn Fn(Location) -> bool, to: Location) -> Option<()> {
        let header = &record.header;
        match header.record_type {
            RecordType::Root => {
                let name = Name::of(self.seed, record.key);
                let hash = name.hash(self.seed);
                let mut shard = self.shards[shard_of(hash)].lock();
                let space = shard.space_mut(header.owner)?;
                let table = space.table_mut(&name);
                let bytes = table.get(hash, name.bytes())?;
                let mut entry = RootEntry::read(bytes).filter(|entry| is_old(entry.location))?;
                entry.location = to;
                entry.with_bytes(|entry| table.insert(hash, name.bytes(), entry));
                self.held.count(&mut shard);
                Some(())
            }
            RecordType::Databases => {
                let mut place = self.databases_record.lock();
                place.filter(|place| is_old(*place))?;
                *place = Some(to);
                Some(())
            }
            RecordType::Sub | RecordType::RootTombstone | RecordType::SubTombstone | RecordType::Synced => {
                None
            }
        }
    }

    /// Looks at a collection, wherever RENAME moves it meanwhile.
    pub(super) fn in_collection<R>(
        &self,
        collection: u64,
        look: impl FnOnce(&mut Tree) -> Option<R>,
    ) -> Option<R> {
        loop {
            let at = *self.owners.lock().get(&collection)?;
            let mut shard = self.shards.get(usize::from(at))?.lock();
            let Shard { collections, tree_bytes, .. } = &mut *shard;
            if let Some(tree) = collections.get_mut(&collection) {
                let before = tree.heap_bytes() as u64;
                let found = look(tree);
                *tree_bytes = (*tree_bytes + tree.heap_bytes() as u64).saturating_sub(before);
                self.held.count(&mut shard);
                return found;
            }
            // Asked while the shard is locked: nothing comes into it now.
            if self.owners.lock().get(&collection) == Some(&at) {
                return None;
            }
        }
    }
}

fn move_subkey(
    tree: &mut Tree,
    subkey: &[u8],
    is_old: &dyn Fn(Location) -> bool,
    to: Location,
) -> Option<()> {
    let bytes = tree.get_mut(subkey)?;
    SubEntry::read(bytes).filter(|(entry, _)| is_old(entry.location))?;
    let moved = SubEntry::moved(bytes, to)?;
    if moved.len() == bytes.len() {
        bytes.copy_from_slice(&moved);
    } else {
        tree.insert(subkey, &moved, &mut |_| {});
    }
    Some(())
}

/// Records that are looked up together.
enum Run<'r, 'b> {
    /// Subkeys of one collection.
    Collection(u64, &'r [Placed<'b>]),
    /// Any other record.
    Other(&'r Placed<'b>),
}

fn runs<'r, 'b>(records: &'r [Placed<'b>]) -> impl Iterator<Item = Run<'r, 'b>> {
    let collection_of = |placed: &Placed<'_>| {
        let header = &placed.record.header;
        (header.record_type == RecordType::Sub).then_some(header.owner)
    };
    let together = records
        .chunk_by(move |one, next| collection_of(one).is_some() && collection_of(one) == collection_of(next));
    together.filter_map(move |run| {
        let first = run.first()?;
        Some(collection_of(first).map_or(Run::Other(first), |collection| Run::Collection(collection, run)))
    })
}

//! The commit of one transaction: its overlay becomes one frame of the log, then the keydir follows.
//!
//! The frame is built first, appended second and applied third. Nothing before the append changes anything, and
//! nothing after it can fail, so a commit happens whole or not at all.

use std::collections::HashSet;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Bitcask;
use super::blobs::BlobChanges;
use super::direct::StringPut;
use super::frame::Frame;
use super::keydir::{
    CATALOG_SPACE, Location, Name, RootEntry, SHARD_BITS, Shard, SubEntry, bury_databases, bury_sub,
    shard_of, space_of,
};
use super::record::RecordType;
use super::snapshot::Snapshot;
use crate::engine::{
    Change, Db, EngineError, Kind, Ordered, Overlay, Receipt, Result, Root, RootChange, ShortValue, Source,
    Touch,
};
use crate::packed::tree::{self, Builder, Tree};
use crate::storage::Room;

/// A new collection of so many subkeys is built in one go.
const BUILT_SUBKEYS_MIN: usize = 32;

/// So many entries of subkeys are made before they go into the tree: as many as a pipeline often has.
const SUBKEYS_AT_ONCE: usize = 16;

/// The root of a collection has at most so many bytes in a commit that counts as taking away.
const COLLECTION_ROOT_BYTES: usize = 128;

/// The decisions about one changed key, made before the frame is built.
struct KeyPlan {
    space: u64,
    /// The key's shard.
    shard: usize,
    hash: u64,
    /// The collection the key has from now on.
    collection: Option<u64>,
    /// The collection that it had and that no key has any more.
    dropped: Option<u64>,
}

/// The usual overlay: a change of one key that needs no plan.
enum Sole<'o> {
    /// The key becomes a string.
    String(StringPut<'o>),
    /// Subkeys change under a root that stays.
    Subkeys { db: Db, root: Root, change: Change<'o> },
}

impl<'o> Sole<'o> {
    fn of(overlay: &'o Overlay) -> Option<Sole<'o>> {
        let mut changes = overlay.changes();
        let change = changes.next()?;
        let Source::Base(db) = change.source else { return None };
        if !overlay.db_changes().is_empty() || changes.next().is_some() {
            return None;
        }
        match change.root {
            RootChange::Put { kind: Kind::String, encoding, expires_at_ms, value, blob: None }
                if change.subs.is_empty() && change.access.is_none() =>
            {
                let access = change.access_after(overlay.touch());
                Some(Sole::String(StringPut { db, key: change.key, encoding, expires_at_ms, value, access }))
            }
            RootChange::Unchanged => {
                let root = *change.base?;
                let is_own = collection_of(change.subkeys_of) == Some(root.collection);
                is_own.then_some(Sole::Subkeys { db, root, change })
            }
            _ => None,
        }
    }
}

/// The space of every database after the transaction, if any changes; and those of the fresh sources.
struct Databases {
    changed: Option<SmallVec<[u64; 16]>>,
    before: SmallVec<[u64; 16]>,
    fresh: Vec<(Source, u64)>,
}

impl Databases {
    fn plan(store: &Bitcask, before: &[u64], overlay: &Overlay) -> Databases {
        let mut fresh = Vec::new();
        let mut after = SmallVec::from_slice(before);
        for change in overlay.db_changes() {
            let space = match change.source {
                Source::Base(db) => before.get(db as usize).copied(),
                Source::Fresh(_) => {
                    let space = store.log.next_number();
                    fresh.push((change.source, space));
                    Some(space)
                }
            };
            if let (Some(place), Some(space)) = (after.get_mut(change.db as usize), space) {
                *place = space;
            }
        }
        let changed = (!overlay.db_changes().is_empty()).then_some(after);
        Databases { changed, before: SmallVec::from_slice(before), fresh }
    }

    fn space(&self, source: Source) -> Option<u64> {
        match source {
            Source::Base(db) => space_of(&self.before, db),
            Source::Fresh(_) => {
                self.fresh.iter().find(|(fresh, _)| *fresh == source).map(|(_, space)| *space)
            }
        }
    }
}

/// The shard that holds a root's collection.
fn shard_of_root(root: &Root) -> usize {
    (root.place.1 >> (u64::BITS - SHARD_BITS)) as usize
}

fn collection_of(root: Option<&Root>) -> Option<u64> {
    root.map(|root| root.collection).filter(|collection| *collection != 0)
}

/// The collections that go to another key. Only RENAME and MOVE do that; only then must dropped ones be kept apart from
/// moved ones.
fn adopted_collections(overlay: &Overlay) -> HashSet<u64> {
    let adopted = |change: Change<'_>| {
        let own = collection_of(change.base);
        collection_of(change.subkeys_of).filter(|adopted| Some(*adopted) != own)
    };
    overlay.changes().filter_map(adopted).collect()
}

/// Whether a commit frees more than it takes, once merge has been over it. Such commits go on where the device is full for
/// others.
fn only_takes_away(overlay: &Overlay) -> bool {
    overlay.changes().all(|change| match change.root {
        RootChange::Removed => true,
        RootChange::Unchanged => removes_subkeys(&change),
        // A pop that leaves something: the collection stays, and its root says where it begins and ends.
        RootChange::Put { kind, value, blob, .. } => {
            let own = collection_of(change.base);
            let stays = own.is_some() && collection_of(change.subkeys_of) == own;
            let is_small = kind != Kind::String && blob.is_none() && value.len() <= COLLECTION_ROOT_BYTES;
            stays && is_small && !change.subs.is_empty() && removes_subkeys(&change)
        }
    })
}

fn removes_subkeys(change: &Change<'_>) -> bool {
    change.subs.iter().all(|(_, sub)| sub.value.is_none())
}

impl Snapshot<'_> {
    /// Commits an overlay that changes something.
    pub(super) fn commit(
        mut self,
        overlay: &mut Overlay,
        now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Receipt> {
        let mut scratch = overlay.take_scratch();
        let outcome = self.commit_with(overlay, &mut scratch, now_ms, ordered);
        overlay.put_scratch(scratch);
        if outcome.is_ok() {
            overlay.keep_blobs();
        }
        outcome
    }

    fn commit_with(
        &mut self,
        overlay: &Overlay,
        scratch: &mut Vec<u8>,
        now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Receipt> {
        match Sole::of(overlay) {
            Some(Sole::String(put)) => {
                let store = self.store;
                let name = Name::of(store.seed, put.key);
                let hash = name.hash(store.seed);
                let shard = self.shard(shard_of(hash))?;
                return shard
                    .put_string(store, &put, &name, hash, (scratch, now_ms, ordered))
                    .map(|put| put.0);
            }
            Some(Sole::Subkeys { db, root, change }) => {
                return self.commit_subkeys(db, &root, &change, (scratch, now_ms, ordered));
            }
            None => {}
        }
        let databases = match self.shards.first() {
            Some((_, shard)) if overlay.db_changes().is_empty() => {
                Databases { changed: None, before: SmallVec::from_slice(&shard.databases), fresh: Vec::new() }
            }
            Some((_, shard)) => Databases::plan(self.store, &shard.databases, overlay),
            None => return Err(EngineError::Undeclared),
        };
        let plans = self.plan(overlay, &databases)?;
        let spaces: Vec<u8> =
            databases.changed.iter().flatten().flat_map(|space| space.to_le_bytes()).collect();
        let records = record_count(overlay) + u64::from(databases.changed.is_some());
        let log = &self.store.log;
        let mut frame = Frame::new((log.next_sequence(), now_ms), log.salt, records, std::mem::take(scratch));
        let built = build(&mut frame, overlay, &plans, databases.changed.is_some().then_some(&spaces));
        let written = overlay.written_blobs();
        let room = if only_takes_away(overlay) { Room::TakingAway } else { Room::Ordinary };
        let append = |()| self.store.log.append(&frame.parts(), &written, (now_ms, room), ordered);
        let appended = built.and_then(append);
        let (location, receipt) = match appended {
            Ok(appended) => appended,
            Err(error) => {
                *scratch = frame.bytes;
                return Err(error);
            }
        };
        let blobs = self.apply(overlay, &plans, &databases, location, &frame);
        self.store.blobs.apply(&blobs, receipt.position());
        *scratch = frame.bytes;
        Ok(receipt)
    }

    /// Commits changed subkeys under a root that stays.
    fn commit_subkeys(
        &mut self,
        db: Db,
        root: &Root,
        change: &Change<'_>,
        (scratch, now_ms, ordered): (&mut Vec<u8>, u64, Ordered<'_>),
    ) -> Result<Receipt> {
        let store = self.store;
        let shard = self.shard(shard_of_root(root))?;
        let (sequence, records) = (store.log.next_sequence(), change.subs.len() as u64);
        let mut frame = Frame::new((sequence, now_ms), store.log.salt, records, std::mem::take(scratch));
        let built = frame.add_subkeys(root.collection, change.subs);
        let room = if removes_subkeys(change) { Room::TakingAway } else { Room::Ordinary };
        let appended = built.and_then(|()| store.log.append(&frame.parts(), &[], (now_ms, room), ordered));
        if let Ok((begin, _)) = appended {
            // So that the counters of a datafile begun by this very frame are found.
            shard.notice(store, begin.file);
            shard.count_tombstones(store, begin.file, frame.tombstones_len);
            store.watches.trip(shard_of_root(root), db, change.key);
            apply_subs(shard, change, root.collection, &mut frame.locations(begin));
            store.held.count(shard);
        }
        *scratch = frame.bytes;
        appended.map(|(_, receipt)| receipt)
    }

    fn plan(&mut self, overlay: &Overlay, databases: &Databases) -> Result<SmallVec<[KeyPlan; 2]>> {
        let adopted = adopted_collections(overlay);
        let mut plans = SmallVec::new();
        for change in overlay.changes() {
            let space = databases.space(change.source).ok_or(EngineError::Undeclared)?;
            let name = Name::of(self.store.seed, change.key);
            let hash = name.hash(self.store.seed);
            let shard = shard_of(hash);
            self.shard(shard)?;
            let had = collection_of(change.base);
            let collection = match change.root {
                RootChange::Removed => None,
                RootChange::Unchanged => had,
                RootChange::Put { kind: Kind::String, blob, .. } => {
                    let patches = collection_of(change.subkeys_of).filter(|_| blob.is_some());
                    let begins = patches.is_none() && blob.is_some() && !change.subs.is_empty();
                    if begins { Some(self.store.log.next_number()) } else { patches }
                }
                RootChange::Put { .. } => {
                    Some(collection_of(change.subkeys_of).unwrap_or_else(|| self.store.log.next_number()))
                }
            };
            let dropped = had.filter(|had| collection != Some(*had) && !adopted.contains(had));
            plans.push(KeyPlan { space, shard, hash, collection, dropped });
        }
        Ok(plans)
    }

    /// Makes the keydir say what the frame said; returns what became of the references to blobs.
    fn apply(
        &mut self,
        overlay: &Overlay,
        plans: &[KeyPlan],
        databases: &Databases,
        begin: Location,
        frame: &Frame<'_>,
    ) -> BlobChanges {
        let mut records = frame.locations(begin);
        for (_, shard) in &mut self.shards {
            // So that the counters of a datafile begun by this very frame are found.
            shard.notice(self.store, begin.file);
        }
        if let Some(after) = &databases.changed {
            let before = std::mem::replace(&mut *self.store.databases_record.lock(), records.next());
            if let (Some(before), Some((_, shard))) = (before, self.shards.first()) {
                bury_databases(&shard.files, before, databases.before.len());
            }
            self.show_databases(overlay, after);
        }
        if let Some((_, shard)) = self.shards.first_mut() {
            shard.count_tombstones(self.store, begin.file, frame.tombstones_len);
        }
        let mut moved = self.move_collections(overlay, plans);
        let mut blobs = BlobChanges::default();
        for (change, plan) in overlay.changes().zip(plans) {
            let Some(collection) =
                self.apply_root(&change, plan, (overlay.touch(), &mut records, &mut blobs))
            else {
                continue;
            };
            let Ok(shard) = self.shard(plan.shard) else { continue };
            if let Some(at) = moved.iter().position(|(moved, _)| *moved == collection) {
                shard.put_tree(collection, moved.swap_remove(at).1);
            }
            apply_subs(shard, &change, collection, &mut records);
        }
        // What the transaction put into the spaces it shows.
        for change in overlay.db_changes() {
            for (at, shard) in &self.shards {
                let space = shard.databases.get(change.db as usize);
                space
                    .into_iter()
                    .for_each(|space| self.store.watches.trip_shown((*at, shard), change.db, *space));
            }
        }
        for (_, shard) in &mut self.shards {
            self.store.held.count(shard);
        }
        blobs
    }

    /// Drops the collections that no key has any more, and takes out of their shards those that go to another.
    fn move_collections(&mut self, overlay: &Overlay, plans: &[KeyPlan]) -> SmallVec<[(u64, Tree); 1]> {
        let mut moved = SmallVec::new();
        for (change, plan) in overlay.changes().zip(plans) {
            if let Some(dropped) = plan.dropped {
                self.store.owners.lock().remove(&dropped);
                if let Ok(shard) = self.shard(plan.shard) {
                    shard.discard(dropped);
                }
            }
            let Some(from) = change.subkeys_of.filter(|root| root.collection != 0) else { continue };
            if plan.collection == Some(from.collection)
                && shard_of_root(from) != plan.shard
                && let Ok(shard) = self.shard(shard_of_root(from))
                && let Some(tree) = shard.take_tree(from.collection)
            {
                moved.push((from.collection, tree));
            }
        }
        moved
    }

    /// Applies the change of a key's root; returns the collection its changed subkeys belong to.
    fn apply_root(
        &mut self,
        change: &Change<'_>,
        plan: &KeyPlan,
        (touch, records, blobs): (Touch, &mut impl Iterator<Item = Location>, &mut BlobChanges),
    ) -> Option<u64> {
        let store = self.store;
        let shard = self.shard(plan.shard).ok()?;
        if let Source::Base(db) = change.source {
            store.watches.trip(plan.shard, db, change.key);
        }
        let name = Name::of(store.seed, change.key);
        let before = match change.root {
            RootChange::Unchanged => return plan.collection,
            RootChange::Removed => {
                records.next();
                shard.remove_root(plan.space, &name, plan.hash)
            }
            RootChange::Put { kind, encoding, expires_at_ms, value, blob } => {
                blob.into_iter().for_each(|blob| blobs.take(blob));
                let entry = RootEntry {
                    kind,
                    encoding,
                    access: change.access_after(touch),
                    location: records.next()?,
                    value_len: value.len() as u32,
                    expires_at_ms,
                    collection: plan.collection,
                    blob,
                    short: ShortValue::of(value).filter(|_| blob.is_none()),
                };
                shard.put_root(plan.space, &name, plan.hash, entry)
            }
        };
        if let Some(before) = before {
            shard.bury_root(plan.space, change.key.len() as u64, &before);
            before.blob.into_iter().for_each(|blob| blobs.release(blob.id));
        }
        if let Some(collection) = plan.collection {
            store.owners.lock().insert(collection, plan.shard as u16);
        }
        plan.collection
    }

    /// Makes every shard show these spaces; what no database shows any more becomes garbage.
    fn show_databases(&mut self, overlay: &Overlay, after: &[u64]) {
        let adopted: Arc<[u64]> = adopted_collections(overlay).into_iter().collect();
        let watches = &self.store.watches;
        for (at, shard) in &mut self.shards {
            for change in overlay.db_changes() {
                let spaces = [shard.databases.get(change.db as usize), after.get(change.db as usize)];
                let shown = spaces.into_iter().flatten();
                shown.for_each(|space| watches.trip_shown((*at, shard), change.db, *space));
            }
            shard.databases.clear();
            shard.databases.extend_from_slice(after);
            let mut at = 0;
            while at < shard.spaces.len() {
                let number = shard.spaces[at].number;
                if number == CATALOG_SPACE || after.contains(&number) {
                    at += 1;
                } else {
                    shard.discard_space(at, adopted.clone());
                }
            }
        }
    }
}

/// Applies the changed subkeys of one key.
fn apply_subs(
    shard: &mut Shard,
    change: &Change<'_>,
    collection: u64,
    records: &mut impl Iterator<Item = Location>,
) {
    if change.subs.is_empty() {
        return;
    }
    let Shard { collections, files, tree_bytes, .. } = shard;
    let tree = collections.entry(collection).or_default();
    *tree_bytes = tree_bytes.saturating_sub(tree.heap_bytes() as u64);
    if tree.is_empty() && change.subs.len() >= BUILT_SUBKEYS_MIN {
        let mut builder = Builder::default();
        for ((subkey, sub), location) in change.subs.iter().zip(records) {
            // A removal of what is not there is no change.
            if let Some(value) = &sub.value {
                let entry = SubEntry { location, value_len: value.len() as u32 };
                builder.push(subkey, &entry.keeping(value, change.subs.len() as u64));
            }
        }
        *tree = builder.finish();
        *tree_bytes += tree.heap_bytes() as u64;
        return;
    }
    let bury = &mut |subkey: &[u8], old: &[u8]| bury_sub(files, collection, subkey, old);
    let mut left = change.subs.len();
    let subkeys = tree.len();
    let mut subs = change.subs.iter().zip(records).map(|((subkey, sub), location)| {
        let entry =
            |value: &[u8]| SubEntry { location, value_len: value.len() as u32 }.keeping(value, subkeys);
        (subkey, sub.value.as_deref().map(entry))
    });
    if left == 1
        && let Some((key, entry)) = subs.next()
    {
        tree.apply(&[tree::Change { key, value: entry.as_deref() }], bury);
        left = 0;
    }
    while left > 0 {
        // Filled where they stand: to return such an array is to copy all of it.
        let mut entries = SmallVec::<[_; SUBKEYS_AT_ONCE]>::new();
        entries.extend(subs.by_ref().take(SUBKEYS_AT_ONCE));
        let mut changes = SmallVec::<[_; SUBKEYS_AT_ONCE]>::new();
        changes.extend(entries.iter().map(|(key, entry)| tree::Change { key, value: entry.as_deref() }));
        tree.apply(&changes, bury);
        left = left.saturating_sub(SUBKEYS_AT_ONCE);
    }
    *tree_bytes += tree.heap_bytes() as u64;
}

/// How many records the changes of an overlay make.
fn record_count(overlay: &Overlay) -> u64 {
    let records =
        |change: Change<'_>| u64::from(change.root != RootChange::Unchanged) + change.subs.len() as u64;
    overlay.changes().map(records).sum()
}

/// Writes the records of a frame, in the order in which [`Snapshot::apply`] expects them.
fn build<'o>(
    frame: &mut Frame<'o>,
    overlay: &'o Overlay,
    plans: &[KeyPlan],
    databases: Option<&'o Vec<u8>>,
) -> Result<()> {
    if let Some(spaces) = databases {
        frame.add(frame.header(RecordType::Databases, 0), &[], spaces)?;
    }
    for (change, plan) in overlay.changes().zip(plans) {
        let space = plan.space;
        match change.root {
            RootChange::Unchanged => {}
            RootChange::Removed => {
                let mut header = frame.header(RecordType::RootTombstone, space);
                header.collection = plan.dropped;
                frame.add(header, change.key, &[])?;
            }
            RootChange::Put { kind, encoding, expires_at_ms, value, blob } => {
                let mut header = frame.header(RecordType::Root, space);
                header.kind = kind as u8;
                header.encoding = encoding;
                header.expires_at_ms = expires_at_ms;
                header.collection = plan.collection;
                header.has_blob = blob.is_some();
                frame.add(header, change.key, value)?;
            }
        }
        let Some(collection) = plan.collection else { continue };
        frame.add_subkeys(collection, change.subs)?;
    }
    Ok(())
}

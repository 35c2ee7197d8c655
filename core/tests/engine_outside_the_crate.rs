//! An engine made of public parts only: if it does not compile, or breaks a law, no other crate can bring an engine.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use edgecask_core::engine::laws::{self, DATABASES};
use edgecask_core::engine::{
    Admin, BlobStore, CATALOG, Commit, Db, Direction, Draft, Engine, EngineError, KeyVisitor, Ordered,
    Overlay, PatchSource, Patched, Place, Reader, Receipt, Result, Rewriting, Root, RootChange, Sample,
    Sampled, Scope, Source, Start, SubVisitor, SubWalk, Touch, Want, Watch, blob_error,
};
use edgecask_core::storage::memory::MemoryStorage;
use edgecask_core::storage::{self, Blob, BlobId, Storage};

type Subkeys = BTreeMap<Vec<u8>, Vec<u8>>;

/// Everything, keys by the number of their space and subkeys by that of their collection.
#[derive(Default)]
struct State {
    /// The space that each database shows.
    shown: BTreeMap<Db, u64>,
    roots: BTreeMap<(u64, Vec<u8>), (Root, Vec<u8>)>,
    collections: BTreeMap<u64, Subkeys>,
    numbers: u64,
    commits: u64,
    watches: Vec<(Db, Vec<u8>, Watch)>,
}

/// The engine: one lock around plain maps.
struct Shelf {
    state: Mutex<State>,
    blobs: Arc<Blobs>,
    /// How often a buffer was there to be used again.
    scratches: AtomicU64,
}

#[derive(Default)]
struct Blobs {
    next: AtomicU64,
    storage: MemoryStorage,
}

impl BlobStore for Blobs {
    fn create(&self) -> Result<(BlobId, Arc<dyn Blob>)> {
        let id = BlobId(self.next.fetch_add(1, Ordering::Relaxed));
        Ok((id, self.storage.create_blob(id).map_err(blob_error)?))
    }

    fn discard(&self, id: BlobId) {
        let _ = self.storage.remove_blob(id);
    }
}

struct Patch(Vec<u8>);

impl PatchSource for Patch {
    fn show(&self, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        visit(&self.0);
        Ok(())
    }

    fn byte_count(&self) -> u64 {
        self.0.len() as u64
    }
}

impl Shelf {
    fn new(databases: Db) -> Shelf {
        let shown = (0..databases).chain([CATALOG]).zip(1..).collect();
        let state = State { shown, numbers: 1000, ..State::default() };
        Shelf { state: Mutex::new(state), blobs: Arc::default(), scratches: AtomicU64::new(0) }
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn space(&self, db: Db) -> Result<u64> {
        self.shown.get(&db).copied().ok_or(EngineError::NoSuchDatabase(db))
    }

    fn keys(&self, db: Db) -> Result<impl Iterator<Item = (&[u8], &Root)>> {
        let space = self.space(db)?;
        let all = self.roots.range((space, Vec::new())..(space + 1, Vec::new()));
        Ok(all.map(|((_, key), (root, _))| (key.as_slice(), root)))
    }

    /// Makes the databases show what they show after a transaction; returns the spaces of its sources.
    fn show(&mut self, overlay: &Overlay, adopted: &BTreeSet<u64>) -> BTreeMap<Source, u64> {
        let mut spaces: BTreeMap<Source, u64> =
            self.shown.iter().map(|(db, space)| (Source::Base(*db), *space)).collect();
        for change in overlay.db_changes() {
            let next = self.number();
            let space = *spaces.entry(change.source).or_insert(next);
            self.shown.insert(change.db, space);
        }
        let shown: BTreeSet<u64> = self.shown.values().copied().collect();
        let collections = &mut self.collections;
        self.roots.retain(|(space, _), (root, _)| {
            let stays = shown.contains(space);
            if !stays && !adopted.contains(&root.collection) {
                collections.remove(&root.collection);
            }
            stays
        });
        spaces
    }

    fn apply(&mut self, overlay: &Overlay) {
        let puts = overlay.changes().filter(|change| matches!(change.root, RootChange::Put { .. }));
        let adopted: BTreeSet<u64> = puts.filter_map(|change| Some(change.subkeys_of?.collection)).collect();
        let spaces = self.show(overlay, &adopted);
        for change in overlay.changes() {
            let Some(space) = spaces.get(&change.source) else { continue };
            let place = (*space, change.key.to_vec());
            let collection = match change.root {
                RootChange::Unchanged => change.base.map_or(0, |base| base.collection),
                RootChange::Removed | RootChange::Put { .. } => {
                    let before = self.roots.remove(&place).map(|(root, _)| root.collection);
                    before
                        .filter(|before| !adopted.contains(before))
                        .map(|gone| self.collections.remove(&gone));
                    change.subkeys_of.map_or_else(|| self.number(), |root| root.collection)
                }
            };
            if let RootChange::Put { kind, encoding, expires_at_ms, value, blob } = change.root {
                let root = Root {
                    kind,
                    encoding,
                    expires_at_ms,
                    value_len: blob.map_or(value.len() as u64, |blob| blob.len),
                    blob,
                    short: None,
                    access: change.access_after(overlay.touch()),
                    place: Place(*space, 0),
                    collection,
                };
                self.roots.insert(place, (root, value.to_vec()));
            }
            for (subkey, sub) in change.subs {
                let subkeys = self.collections.entry(collection).or_default();
                match &sub.value {
                    Some(value) => subkeys.insert(subkey.to_vec(), value.to_vec()),
                    None => subkeys.remove(subkey),
                };
            }
        }
        for (db, key, watch) in &self.watches {
            let is_shown = overlay.db_changes().iter().any(|change| change.db == *db);
            let is_changed = |change: edgecask_core::engine::Change<'_>| {
                change.source == Source::Base(*db) && change.key == key.as_slice()
            };
            if is_shown || overlay.changes().any(is_changed) {
                watch.trip();
            }
        }
    }
}

struct Reads<'e> {
    state: MutexGuard<'e, State>,
    blobs: Arc<Blobs>,
    /// The value of the root that was looked for last, with its key.
    values: BTreeMap<u64, Vec<u8>>,
}

impl Reads<'_> {
    fn subkeys(&self, root: &Root) -> impl DoubleEndedIterator<Item = (&Vec<u8>, &Vec<u8>)> {
        self.state.collections.get(&root.collection).into_iter().flatten()
    }

    fn subkey(&self, root: &Root, subkey: &[u8]) -> Option<&Vec<u8>> {
        self.state.collections.get(&root.collection)?.get(subkey)
    }
}

impl Reader for Reads<'_> {
    fn root(&mut self, db: Db, key: &[u8], touch: Option<Touch>) -> Result<Option<Root>> {
        let space = self.state.space(db)?;
        let Some((root, value)) = self.state.roots.get_mut(&(space, key.to_vec())) else { return Ok(None) };
        let before = *root;
        root.access = touch.map_or(root.access, |touch| touch.used(root.access));
        self.values.insert(before.collection, value.clone());
        Ok(Some(before))
    }

    fn blobs(&self) -> Arc<dyn BlobStore> {
        self.blobs.clone()
    }

    fn open_blob(&mut self, id: BlobId) -> Result<Arc<dyn Blob>> {
        self.blobs.storage.open_blob(id).map_err(blob_error)
    }

    fn patched(
        &mut self,
        owner: (Db, &[u8]),
        root: &Root,
        base: Arc<dyn Blob>,
        range: (u64, u64),
    ) -> Result<Arc<dyn Blob>> {
        let patches = self.subkeys(root).filter_map(|(number, patch)| {
            Some((u64::from_be_bytes(number.as_slice().try_into().ok()?), Patch(patch.clone())))
        });
        Ok(Arc::new(Patched::new(owner, base, range.1, patches.collect())))
    }

    fn read_value(
        &mut self,
        root: &Root,
        (offset, len): (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let value = self.values.get(&root.collection).map_or(&[][..], Vec::as_slice);
        let part = value.get(offset as usize..(offset + len) as usize);
        visit(part.ok_or_else(|| EngineError::Damaged("a range outside of the value".into()))?);
        Ok(())
    }

    fn memory_bytes(&mut self, key: &[u8], root: &Root) -> Result<u64> {
        Ok(key.len() as u64 + root.value_len)
    }

    fn sub_len(&mut self, root: &Root) -> Result<u64> {
        Ok(self.subkeys(root).count() as u64)
    }

    fn sub_contains(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        Ok(self.subkey(root, subkey).is_some())
    }

    fn sub_read(&mut self, root: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.subkey(root, subkey);
        value.into_iter().for_each(|value| visit(value));
        Ok(value.is_some())
    }

    fn sub_rank(&mut self, root: &Root, subkey: &[u8]) -> Result<u64> {
        Ok(self.subkeys(root).take_while(|(other, _)| other.as_slice() < subkey).count() as u64)
    }

    fn sub_scan(&mut self, root: &Root, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        let Some(subkeys) = self.state.collections.get(&root.collection) else { return Ok(()) };
        let picked;
        let from = match walk.start {
            Start::End => None,
            Start::Subkey(subkey) => Some(subkey),
            Start::Rank(rank) => {
                picked = subkeys.keys().nth(rank as usize);
                let Some(subkey) = picked else { return Ok(()) };
                Some(subkey.as_slice())
            }
        };
        let from = from.map_or(Bound::Unbounded, Bound::Included);
        let mut show = |(subkey, value): (&Vec<u8>, &Vec<u8>)| match walk.want {
            Want::Subkeys => visit(subkey, &[]),
            Want::Values | Want::ValuesAlone => visit(subkey, value),
        };
        let _: ControlFlow<()> = match walk.direction {
            Direction::Ascending => {
                subkeys.range::<[u8], _>((from, Bound::Unbounded)).try_for_each(&mut show)
            }
            Direction::Descending => {
                subkeys.range::<[u8], _>((Bound::Unbounded, from)).rev().try_for_each(&mut show)
            }
        };
        Ok(())
    }

    fn key_count(&mut self, db: Db) -> Result<u64> {
        Ok(self.state.keys(db)?.count() as u64)
    }

    fn expiring_count(&mut self, db: Db) -> Result<u64> {
        Ok(self.state.keys(db)?.filter(|(_, root)| root.expires_at_ms.is_some()).count() as u64)
    }

    fn scan_keys(&mut self, db: Db, _cursor: u64, visit: KeyVisitor<'_>) -> Result<u64> {
        self.state.keys(db)?.for_each(|(key, root)| visit(key, root));
        Ok(0)
    }

    fn random_key(&mut self, db: Db, random: u64, visit: KeyVisitor<'_>) -> Result<()> {
        let count = self.state.keys(db)?.count() as u64;
        let nth = random.checked_rem(count).unwrap_or(0) as usize;
        self.state.keys(db)?.nth(nth).into_iter().for_each(|(key, root)| visit(key, root));
        Ok(())
    }
}

impl Engine for Shelf {
    type Snapshot<'e> = Reads<'e>;

    fn draft(&self) -> Result<Draft> {
        Draft::new(self.blobs.clone())
    }

    fn begin(&self, _scope: Scope<'_>) -> Result<Reads<'_>> {
        let state = self.state.lock().expect("nobody panics with the lock");
        Ok(Reads { state, blobs: self.blobs.clone(), values: BTreeMap::new() })
    }

    fn commit(
        &self,
        mut snapshot: Reads<'_>,
        overlay: &mut Overlay,
        _now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Commit> {
        if overlay.is_empty() {
            return Ok(Commit::Done(Receipt::default()));
        }
        // What an engine with a log would do: build its frame in the overlay's buffer.
        let mut frame = overlay.take_scratch();
        self.scratches.fetch_add(u64::from(frame.capacity() > 0), Ordering::Relaxed);
        overlay.changes().for_each(|change| frame.extend_from_slice(change.key));
        overlay.put_scratch(frame);
        for (_, blob) in overlay.written_blobs() {
            blob.sync().map_err(blob_error)?;
        }
        snapshot.state.apply(overlay);
        overlay.keep_blobs();
        snapshot.state.commits += 1;
        let receipt = Receipt::at(snapshot.state.commits);
        ordered(receipt);
        Ok(Commit::Done(receipt))
    }

    fn expired_keys(&self, now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        let state = self.state.lock().expect("nobody panics with the lock");
        let mut left = budget;
        for db in state.shown.keys() {
            for (key, _) in state.keys(*db)?.filter(|(_, root)| root.is_expired(now_ms)) {
                let Some(less) = left.checked_sub(1) else { return Ok(true) };
                left = less;
                visit(*db, key);
            }
        }
        Ok(false)
    }

    fn sample_keys(&self, _sample: &Sample, _visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled> {
        // Nothing is ever evicted from a shelf.
        Ok(Sampled::NoneLeft)
    }

    fn is_busy(&self, _db: Db, _key: &[u8]) -> bool {
        false
    }

    fn watch(&self, db: Db, key: &[u8], watch: &Watch) {
        let mut state = self.state.lock().expect("nobody panics with the lock");
        state.watches.push((db, key.to_vec(), watch.clone()));
    }

    fn unwatch(&self, db: Db, key: &[u8], watch: &Watch) {
        let mut state = self.state.lock().expect("nobody panics with the lock");
        state.watches.retain(|(other_db, other, its)| {
            *other_db != db || other.as_slice() != key || !its.is_same(watch)
        });
    }
}

impl Admin for Shelf {
    fn checkpoint(&self, _now_ms: u64) -> Result<()> {
        Ok(())
    }

    fn reopen(&self, _access: u32) -> Result<()> {
        Ok(())
    }

    fn is_synced(&self, _sync: bool) -> Result<bool> {
        Ok(true)
    }

    fn begin_rewrite(&self) -> bool {
        true
    }

    fn rewriting(&self) -> Rewriting {
        Rewriting::default()
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    fn held_bytes(&self) -> u64 {
        0
    }

    fn garbage_bytes(&self) -> u64 {
        0
    }

    fn lacks_space(&self) -> bool {
        false
    }
}

#[test]
fn engine_of_another_crate_breaks_a_law() {
    for seed in 0..6 {
        laws::check(&Shelf::new(DATABASES), seed, 200);
    }
}

#[test]
fn savepoint_fails_on_an_engine_of_another_crate() {
    for seed in 0..6 {
        laws::check_savepoints(&Shelf::new(DATABASES), seed, 30);
    }
}

#[test]
fn buffer_of_the_overlay_is_made_anew_for_every_commit() {
    let shelf = Shelf::new(1);
    let mut overlay = Overlay::new();
    for number in 0..3_u8 {
        let put = |txn: &mut edgecask_core::engine::Txn<'_>| {
            let root = edgecask_core::engine::NewRoot::of(edgecask_core::engine::Kind::String);
            txn.put(0, &[number], root, b"value")
        };
        laws::transact(&shelf, Some(&[&[number]]), 0, &mut overlay, &mut { put }).expect("memory");
    }
    assert_eq!(shelf.scratches.load(Ordering::Relaxed), 2);
}

//! The reference engine: plain ordered maps under one lock, as simple as the laws allow.
//!
//! It keeps everything in memory and nothing across a restart. Tests compare other engines with it and run commands on
//! it; it is also what a page without storage can use.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::ops::{Bound, ControlFlow};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};

use super::sample::by_random_keys;
use super::{
    Admin, BlobStore, CATALOG, Commit, Db, Direction, Draft, Engine, EngineError, KeyVisitor, Ordered,
    Overlay, PatchSource, Patched, Place, Reader, Receipt, Result, Rewriting, Root, RootChange, Sample,
    Sampled, Scope, Source, Start, SubVisitor, SubWalk, Touch, Want, Watch,
};
use crate::storage::memory::{overwrite, resize, slice};
use crate::storage::{self, Blob, BlobId};

/// The reference engine.
#[derive(Debug)]
pub struct MemoryEngine {
    state: Mutex<State>,
    blobs: Arc<MemoryBlobs>,
    has_blobs: bool,
    /// The bytes of keys, values and subkeys when they were last counted.
    held_bytes: AtomicU64,
}

/// The blobs of a reference engine. A blob lives as long as a key or a reader holds it.
#[derive(Debug, Default)]
struct MemoryBlobs {
    next: AtomicU64,
    blobs: Mutex<HashMap<BlobId, Weak<MemoryBlob>>>,
}

/// A blob in memory.
#[derive(Debug, Default)]
struct MemoryBlob(Mutex<Vec<u8>>);

impl BlobStore for MemoryBlobs {
    fn create(&self) -> Result<(BlobId, Arc<dyn Blob>)> {
        let id = BlobId(self.next.fetch_add(1, Ordering::Relaxed));
        let blob = Arc::new(MemoryBlob::default());
        let mut blobs = self.blobs.lock();
        blobs.retain(|_, blob| blob.strong_count() > 0);
        blobs.insert(id, Arc::downgrade(&blob));
        Ok((id, blob))
    }

    fn discard(&self, _id: BlobId) {}
}

impl MemoryBlobs {
    fn get(&self, id: BlobId) -> Option<Arc<MemoryBlob>> {
        self.blobs.lock().get(&id)?.upgrade()
    }
}

impl Blob for MemoryBlob {
    fn write(&self, offset: u64, bytes: &[u8]) -> storage::Result<()> {
        overwrite(&mut self.0.lock(), offset, &[bytes])
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        visit(slice(&self.0.lock(), offset, len)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> storage::Result<()> {
        resize(&mut self.0.lock(), len)
    }

    fn len(&self) -> storage::Result<u64> {
        Ok(self.0.lock().len() as u64)
    }

    fn sync(&self) -> storage::Result<()> {
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A patch in memory.
struct MemoryPatch(Vec<u8>);

impl PatchSource for MemoryPatch {
    fn show(&self, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        visit(&self.0);
        Ok(())
    }

    fn byte_count(&self) -> u64 {
        self.0.len() as u64
    }
}

#[derive(Debug, Default)]
struct Object {
    value: Vec<u8>,
    /// Only held.
    _blob: Option<Arc<MemoryBlob>>,
    subs: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// The keys of one database.
type Keys = BTreeMap<Vec<u8>, Root>;

#[derive(Debug, Default)]
struct State {
    /// The keys that each database shows.
    keys: Vec<Keys>,
    catalog: Keys,
    /// Values and subkeys by the number in [`Root::place`].
    objects: HashMap<u64, Object>,
    next_object: u64,
    commits: u64,
    watches: Vec<(Db, Vec<u8>, Watch)>,
}

impl MemoryEngine {
    /// An empty store with this many databases.
    pub fn new(databases: Db) -> MemoryEngine {
        let keys = (0..databases).map(|_| BTreeMap::new()).collect();
        let state = State { keys, ..State::default() };
        MemoryEngine {
            state: Mutex::new(state),
            blobs: Arc::default(),
            has_blobs: true,
            held_bytes: AtomicU64::new(0),
        }
    }

    /// The same for comparison with an engine in which no value is a blob.
    pub fn without_blobs(databases: Db) -> MemoryEngine {
        MemoryEngine { has_blobs: false, ..MemoryEngine::new(databases) }
    }
}

/// The reads of one transaction: the whole store is locked.
pub struct MemorySnapshot<'e>(MutexGuard<'e, State>, &'e Arc<MemoryBlobs>);

impl MemorySnapshot<'_> {
    fn object(&self, root: &Root) -> Result<&Object> {
        self.0.objects.get(&root.place.0).ok_or_else(|| EngineError::Damaged("no such object".into()))
    }

    fn keys(&mut self, db: Db) -> Result<&mut Keys> {
        self.0.keys_mut(db).ok_or(EngineError::NoSuchDatabase(db))
    }
}

impl Reader for MemorySnapshot<'_> {
    fn holds_everything(&self) -> bool {
        true
    }

    fn root(&mut self, db: Db, key: &[u8], touch: Option<Touch>) -> Result<Option<Root>> {
        let found = self.keys(db)?.get_mut(key);
        Ok(found.map(|root| {
            root.access = touch.map_or(root.access, |touch| touch.used(root.access));
            *root
        }))
    }

    fn read_value(
        &mut self,
        root: &Root,
        (offset, len): (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let value = &self.object(root)?.value;
        let part = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
        let part = part.and_then(|(start, len)| value.get(start..start.checked_add(len)?));
        visit(part.ok_or_else(|| EngineError::Damaged("range outside the value".into()))?);
        Ok(())
    }

    fn blobs(&self) -> Arc<dyn BlobStore> {
        self.1.clone()
    }

    fn open_blob(&mut self, id: BlobId) -> Result<Arc<dyn Blob>> {
        match self.1.get(id) {
            Some(blob) => Ok(blob),
            None => Err(EngineError::Damaged("no such blob".into())),
        }
    }

    fn patched(
        &mut self,
        owner: (Db, &[u8]),
        root: &Root,
        base: Arc<dyn Blob>,
        range: (u64, u64),
    ) -> Result<Arc<dyn Blob>> {
        let subs = &self.object(root)?.subs;
        // Checksums of pieces are kept beside the patches, under longer subkeys.
        let patches = subs.iter().filter_map(|(number, patch)| {
            Some((u64::from_be_bytes(number.as_slice().try_into().ok()?), MemoryPatch(patch.clone())))
        });
        Ok(Arc::new(Patched::new(owner, base, range.1, patches.collect())))
    }

    fn memory_bytes(&mut self, key: &[u8], root: &Root) -> Result<u64> {
        Ok((key.len() + self.object(root)?.bytes()) as u64)
    }

    fn sub_len(&mut self, root: &Root) -> Result<u64> {
        Ok(self.object(root)?.subs.len() as u64)
    }

    fn sub_contains(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        Ok(self.object(root)?.subs.contains_key(subkey))
    }

    fn sub_read(&mut self, root: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let value = self.object(root)?.subs.get(subkey);
        if let Some(value) = value {
            visit(value);
        }
        Ok(value.is_some())
    }

    fn sub_rank(&mut self, root: &Root, subkey: &[u8]) -> Result<u64> {
        let smaller = (Bound::Unbounded, Bound::Excluded(subkey));
        Ok(self.object(root)?.subs.range::<[u8], _>(smaller).count() as u64)
    }

    fn sub_scan(&mut self, root: &Root, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        let subs = &self.object(root)?.subs;
        let (low, high) = match (walk.start, walk.direction) {
            (Start::Subkey(from), Direction::Ascending) => (Bound::Included(from), Bound::Unbounded),
            (Start::Subkey(from), Direction::Descending) => (Bound::Unbounded, Bound::Included(from)),
            (Start::End | Start::Rank(_), _) => (Bound::Unbounded, Bound::Unbounded),
        };
        let skipped = match (walk.start, walk.direction) {
            (Start::Rank(rank), Direction::Ascending) => usize::try_from(rank).unwrap_or(usize::MAX),
            (Start::Rank(rank), Direction::Descending) => {
                let behind = (subs.len() as u64).checked_sub(1).and_then(|last| last.checked_sub(rank));
                behind.and_then(|behind| usize::try_from(behind).ok()).unwrap_or(usize::MAX)
            }
            (Start::End | Start::Subkey(_), _) => 0,
        };
        let mut show = |(subkey, value): (&Vec<u8>, &Vec<u8>)| match walk.want {
            Want::Subkeys => visit(subkey, &[]),
            Want::Values | Want::ValuesAlone => visit(subkey, value),
        };
        let subs = subs.range::<[u8], _>((low, high));
        let _: ControlFlow<()> = match walk.direction {
            Direction::Ascending => subs.skip(skipped).try_for_each(&mut show),
            Direction::Descending => subs.rev().skip(skipped).try_for_each(&mut show),
        };
        Ok(())
    }

    fn key_count(&mut self, db: Db) -> Result<u64> {
        Ok(self.keys(db)?.len() as u64)
    }

    fn expiring_count(&mut self, db: Db) -> Result<u64> {
        Ok(self.keys(db)?.values().filter(|root| root.expires_at_ms.is_some()).count() as u64)
    }

    fn scan_keys(&mut self, db: Db, _cursor: u64, visit: KeyVisitor<'_>) -> Result<u64> {
        // One step shows everything: the law on walks holds trivially.
        self.keys(db)?.iter().for_each(|(key, root)| visit(key, root));
        Ok(0)
    }

    fn random_key(&mut self, db: Db, random: u64, visit: KeyVisitor<'_>) -> Result<()> {
        let keys = self.keys(db)?;
        let nth = random.checked_rem(keys.len() as u64).and_then(|nth| usize::try_from(nth).ok());
        if let Some((key, root)) = nth.and_then(|nth| keys.iter().nth(nth)) {
            visit(key, root);
        }
        Ok(())
    }
}

impl Object {
    fn bytes(&self) -> usize {
        let subs = self.subs.iter().map(|(subkey, value)| subkey.len() + value.len()).sum::<usize>();
        size_of::<Root>() + self.value.len() + subs
    }
}

impl State {
    fn bytes(&self) -> u64 {
        let names = self.keys.iter().flat_map(BTreeMap::keys).map(Vec::len).sum::<usize>();
        (names + self.objects.values().map(Object::bytes).sum::<usize>()) as u64
    }

    fn keys_mut(&mut self, db: Db) -> Option<&mut Keys> {
        if db == CATALOG { Some(&mut self.catalog) } else { self.keys.get_mut(db as usize) }
    }

    fn touched(&self, db: Db, key: &[u8]) {
        for (watched_db, watched, watch) in &self.watches {
            if *watched_db == db && key == watched {
                watch.trip();
            }
        }
    }

    /// The keys these databases show now have come or are about to go.
    fn touched_shown(&self, overlay: &Overlay) {
        for change in overlay.db_changes() {
            let keys = self.keys.get(change.db as usize);
            keys.into_iter().flat_map(BTreeMap::keys).for_each(|key| self.touched(change.db, key));
        }
    }

    fn show(&mut self, overlay: &Overlay) {
        let changes = overlay.db_changes();
        let mut before: Vec<Option<Keys>> = std::mem::take(&mut self.keys).into_iter().map(Some).collect();
        for db in 0..before.len() {
            let source = changes.iter().find(|change| change.db as usize == db).map(|change| change.source);
            let keys = match source.unwrap_or(Source::Base(db as Db)) {
                Source::Base(from) => before.get_mut(from as usize).and_then(Option::take),
                Source::Fresh(_) => None,
            };
            self.keys.push(keys.unwrap_or_default());
        }
        for root in before.into_iter().flatten().flat_map(BTreeMap::into_values) {
            self.objects.remove(&root.place.0);
        }
    }
}

impl Engine for MemoryEngine {
    type Snapshot<'e> = MemorySnapshot<'e>;

    fn draft(&self) -> Result<Draft> {
        Draft::new(self.blobs.clone())
    }

    fn has_blobs(&self) -> bool {
        self.has_blobs
    }

    fn begin(&self, _scope: Scope<'_>) -> Result<MemorySnapshot<'_>> {
        Ok(MemorySnapshot(self.state.lock(), &self.blobs))
    }

    fn commit(
        &self,
        snapshot: MemorySnapshot<'_>,
        overlay: &mut Overlay,
        _now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Commit> {
        if overlay.is_empty() {
            return Ok(Commit::Done(Receipt::default()));
        }
        let MemorySnapshot(mut state, blobs) = snapshot;
        // Blobs that a changed root refers to stay, whatever root they belonged to before.
        let referred = overlay.changes().filter_map(|change| match change.root {
            RootChange::Put { blob, .. } => blobs.get(blob?.id),
            _ => None,
        });
        let _held: Vec<_> = referred.collect();
        // Subkeys are taken from all their old keys before anything else: RENAME hands them on, also out of a database
        // that the same transaction empties.
        let mut taken: HashMap<u64, BTreeMap<Vec<u8>, Vec<u8>>> = HashMap::new();
        for change in overlay.changes().filter(|change| matches!(change.root, RootChange::Put { .. })) {
            let Some(from) = change.subkeys_of.map(|root| root.place.0) else { continue };
            if let Some(object) = state.objects.get_mut(&from) {
                taken.insert(from, std::mem::take(&mut object.subs));
            }
        }
        state.touched_shown(overlay);
        state.show(overlay);
        state.touched_shown(overlay);
        let shown = |source: Source, databases: usize| {
            let changes = overlay.db_changes();
            let moved = changes.iter().find(|change| change.source == source).map(|change| change.db);
            moved.or(match source {
                Source::Base(db) if db == CATALOG || (db as usize) < databases => Some(db),
                _ => None,
            })
        };
        for change in overlay.changes().filter(|change| change.root != RootChange::Unchanged) {
            if let Some(base) = change.base {
                state.objects.remove(&base.place.0);
            }
        }
        for change in overlay.changes() {
            let Some(db) = shown(change.source, state.keys.len()) else { continue };
            state.touched(db, change.key);
            let object = match change.root {
                RootChange::Removed => {
                    state.keys_mut(db).and_then(|keys| keys.remove(change.key));
                    continue;
                }
                RootChange::Unchanged => change.base.map_or(0, |base| base.place.0),
                RootChange::Put { kind, encoding, expires_at_ms, value, blob } => {
                    let number = state.next_object;
                    state.next_object += 1;
                    let subs = change.subkeys_of.and_then(|root| taken.remove(&root.place.0));
                    state.objects.insert(
                        number,
                        Object {
                            value: value.to_vec(),
                            _blob: blob.and_then(|blob| blobs.get(blob.id)),
                            subs: subs.unwrap_or_default(),
                        },
                    );
                    let root = Root {
                        kind,
                        encoding,
                        expires_at_ms,
                        value_len: blob.map_or(value.len() as u64, |blob| blob.len),
                        blob,
                        short: None,
                        access: change.access_after(overlay.touch()),
                        place: Place(number, 0),
                        collection: 0,
                    };
                    state.keys_mut(db).and_then(|keys| keys.insert(change.key.to_vec(), root));
                    number
                }
            };
            let Some(object) = state.objects.get_mut(&object) else { continue };
            for (subkey, sub) in change.subs {
                match &sub.value {
                    Some(value) => object.subs.insert(subkey.to_vec(), value.to_vec()),
                    None => object.subs.remove(subkey),
                };
            }
        }
        state.touched_shown(overlay);
        state.commits += 1;
        overlay.keep_blobs();
        let receipt = Receipt::at(state.commits);
        ordered(receipt);
        Ok(Commit::Done(receipt))
    }

    fn expired_keys(&self, now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        let state = self.state.lock();
        let databases = (0..).zip(&state.keys).chain([(CATALOG, &state.catalog)]);
        let keys = databases.flat_map(|(db, keys)| keys.iter().map(move |entry| (db, entry)));
        let mut expired = keys.filter(|(_, (_, root))| root.is_expired(now_ms));
        for _ in 0..budget {
            let Some((db, (key, _))) = expired.next() else { return Ok(false) };
            visit(db, key);
        }
        Ok(expired.next().is_some())
    }

    fn sample_keys(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled> {
        let mut snapshot = self.begin(Scope::Everything)?;
        let databases = snapshot.0.keys.len() as Db;
        by_random_keys(&mut snapshot, databases, sample, visit)
    }

    fn is_busy(&self, _db: Db, _key: &[u8]) -> bool {
        self.state.is_locked()
    }

    fn watch(&self, db: Db, key: &[u8], watch: &Watch) {
        self.state.lock().watches.push((db, key.to_vec(), watch.clone()));
    }

    fn unwatch(&self, db: Db, key: &[u8], watch: &Watch) {
        let ended = |entry: &(Db, Vec<u8>, Watch)| entry.0 == db && entry.1 == key && entry.2.is_same(watch);
        self.state.lock().watches.retain(|entry| !ended(entry));
    }
}

impl Admin for MemoryEngine {
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

    /// Counted by walking everything. While a transaction is open it is what was counted before.
    fn held_bytes(&self) -> u64 {
        if let Some(state) = self.state.try_lock() {
            self.held_bytes.store(state.bytes(), Ordering::Relaxed);
        }
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// Nothing waits to be freed.
    fn garbage_bytes(&self) -> u64 {
        0
    }

    /// Memory is no storage.
    fn lacks_space(&self) -> bool {
        false
    }

    fn partitions(&self) -> u32 {
        1
    }
}

//! The reads of one transaction: the locks of its shards, and the keydir and datafiles behind them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::{SmallVec, smallvec};

use super::Bitcask;
use super::damage::name_of_file;
use super::files::File;
use super::keydir::{Location, Name, RootEntry, SHARD_BITS, SHARDS, Shard, SubEntry, set_access, shard_of};
use super::long_holders::{Locked, ShardSet};
use super::record::{Header, Record, carries_checksum};
use super::sub_scan::{SubScan, known_file};
use crate::engine::{
    BlobRef, BlobStore, Db, Direction, EngineError, KeyVisitor, PATCH_BYTES, PatchSource, Patched, Place,
    Reader, Result, Root, Scope, Start, SubVisitor, SubWalk, Touch,
};
use crate::packed::tree::{KeyBuffer, Tree};
use crate::storage::{self, Blob, BlobId, Storage, StorageError};

/// Cursors of walks over keys are positions in the space of hashes, cut to this many leading bits.
const CURSOR_BITS: u32 = 48;

/// Of a value longer than this many bytes, a part is read without the whole, and so without its checksum.
const CHECKED_PART_BYTES: u64 = 256 * 1024;

/// The locks of one transaction. Invariant: sorted by shard, each at most once.
pub struct Snapshot<'e> {
    pub(super) store: &'e Bitcask,
    pub(super) shards: Locked<'e>,
    /// The first key that was asked for and whose shard is not locked.
    undeclared: Option<Vec<u8>>,
    /// Whether its shards are marked as locked for long.
    is_long: bool,
}

impl<'e> Snapshot<'e> {
    /// Waits for its locks, however long that takes.
    pub(super) fn new(store: &'e Bitcask, scope: Scope<'_>) -> Snapshot<'e> {
        let shards = wanted(store, scope).into_iter().map(|at| (at, store.shards[at].lock())).collect();
        Snapshot { store, shards, undeclared: None, is_long: false }
    }

    /// None, and nothing is locked, if a transaction keeps one of its locks for long.
    pub(super) fn soon(store: &'e Bitcask, scope: Scope<'_>) -> Option<Snapshot<'e>> {
        let shards = match scope {
            Scope::Keys([key]) => {
                let at = store.shard_of_key(key);
                smallvec![(at, store.lock_soon(at)?)]
            }
            scope => store.lock_all_soon(&wanted(store, scope))?,
        };
        Some(Snapshot { store, shards, undeclared: None, is_long: false })
    }

    /// The shards that are locked.
    fn set(&self) -> ShardSet {
        self.shards.iter().fold(0, |set, (at, _)| set | 1 << at)
    }

    #[cold]
    fn end_long(&mut self) {
        let (holders, set) = (&self.store.long_holders, self.set());
        holders.release(set);
        self.shards.clear();
        holders.wake(set);
    }

    pub(super) fn shard(&mut self, at: usize) -> Result<&mut Shard> {
        let place = match self.shards.as_slice() {
            [(only, _)] if *only == at => 0,
            shards => match shards.binary_search_by_key(&at, |(shard, _)| *shard) {
                Ok(place) => place,
                Err(place) => self.extend(at, place)?,
            },
        };
        Ok(&mut self.shards[place].1)
    }

    /// Locks one shard more if that is free at this moment: a transaction that waits for no lock while it has others can wait
    /// for nobody in a circle. All locks are held to its end, so what it has read before still holds.
    #[cold]
    fn extend(&mut self, at: usize, place: usize) -> Result<usize> {
        let store = self.store;
        let shard = store.shards.get(at).and_then(|shard| shard.try_lock()).ok_or(EngineError::Undeclared)?;
        if self.is_long {
            store.long_holders.hold(1 << at);
        }
        store.counts.lock_extensions.fetch_add(1, Ordering::Relaxed);
        self.shards.insert(place, (at, shard));
        Ok(place)
    }

    fn collection(&mut self, root: &Root) -> Result<Option<&Tree>> {
        if root.collection == 0 {
            return Ok(None);
        }
        let shard = self.shard((root.place.1 >> (u64::BITS - SHARD_BITS)) as usize)?;
        Ok(shard.collections.get(&root.collection))
    }
}

impl Drop for Snapshot<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.is_long {
            self.end_long();
        }
    }
}

/// The shards of a scope, by number and each once.
fn wanted(store: &Bitcask, scope: Scope<'_>) -> SmallVec<[usize; 8]> {
    let mut wanted: SmallVec<[usize; 8]> = match scope {
        Scope::Nothing => SmallVec::new(),
        Scope::Keys(keys) => keys.iter().map(|key| store.shard_of_key(key)).collect(),
        Scope::Everything => (0..SHARDS).collect(),
    };
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// The shards of a scope, a bit each.
pub(super) fn shard_set(store: &Bitcask, scope: Scope<'_>) -> ShardSet {
    wanted(store, scope).into_iter().fold(0, |set, at| set | 1 << at)
}

/// A root as readers see it. The second number of its place: shard in the top bits, record bytes before the value.
pub(super) fn to_root(entry: &RootEntry, shard: usize, prefix_len: u64) -> Root {
    let at = u64::from(entry.location.file) << 32 | u64::from(entry.location.offset);
    Root {
        kind: entry.kind,
        encoding: entry.encoding,
        expires_at_ms: entry.expires_at_ms,
        value_len: entry.blob.map_or(u64::from(entry.value_len), |blob| blob.len),
        blob: entry.blob,
        short: entry.short,
        access: entry.access,
        place: Place(at, (shard as u64) << (u64::BITS - SHARD_BITS) | prefix_len),
        collection: entry.collection.unwrap_or(0),
    }
}

impl Shard {
    /// A root's entry, and the bytes of its record before the value. `use_of_it`, if given, is noted before.
    pub(super) fn look_up(
        &mut self,
        store: &Bitcask,
        db: Db,
        key: &[u8],
        name: &Name<'_>,
        hash: u64,
        use_of_it: Option<Touch>,
    ) -> Result<Option<(RootEntry, u64)>> {
        let Some(number) = self.space_of(db) else { return Err(EngineError::NoSuchDatabase(db)) };
        let Some(space) = self.space_mut(number) else { return Ok(None) };
        let Some(bytes) = space.table_mut(name).get_mut(hash, name.bytes()) else { return Ok(None) };
        let Some(mut entry) = RootEntry::read(bytes) else { return Ok(None) };
        if let Some(use_of_it) = use_of_it {
            entry.access = use_of_it.used(entry.access);
            set_access(bytes, entry.access);
        }
        if matches!(name, Name::Long(_))
            && self.long_key(store, &entry).map_err(|error| error.of_key(db, key))? != key
        {
            return Ok(None);
        }
        Ok(Some((entry, entry.prefix_len(number, key.len() as u64))))
    }

    /// Makes sure that the shard knows a datafile, which may have been begun since it last looked.
    pub(super) fn notice(&mut self, store: &Bitcask, number: u32) {
        known_file(store, &mut self.files, number);
    }

    /// Counts bytes of tombstones in a datafile that the shard has noticed.
    pub(super) fn count_tombstones(&mut self, store: &Bitcask, number: u32, len: u64) {
        if len > 0
            && let Ok(file) = self.file(store, number)
        {
            file.tombstones.fetch_add(len, Ordering::Relaxed);
        }
    }

    /// The datafile with this number; what was made since the shard last looked is found as well.
    pub(super) fn file(&mut self, store: &Bitcask, number: u32) -> Result<Arc<File>> {
        known_file(store, &mut self.files, number).cloned().ok_or_else(|| missing_file(store, number))
    }

    /// Shows the value of a record, checked. `prefix_len` and `value_len` are the bytes of the record before its value, and those
    /// of the value.
    pub(super) fn read_record(
        &mut self,
        store: &Bitcask,
        location: Location,
        (prefix_len, value_len): (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let file = known_file(store, &mut self.files, location.file);
        let file = file.ok_or_else(|| missing_file(store, location.file))?;
        let mut is_whole = false;
        let read = file.datafile.read(u64::from(location.offset), prefix_len + value_len, &mut |bytes| {
            // Lossless: fewer than the bytes that are there.
            let value = bytes.get(prefix_len as usize..).filter(|_| carries_checksum(bytes, file.salt));
            if let Some(value) = value {
                is_whole = true;
                visit(value);
            }
        });
        match (read, is_whole) {
            (Ok(()), true) => Ok(()),
            (read, _) => Err(damaged_record(store, location, read.err())),
        }
    }

    /// The key of a root's record, for entries that hold a fingerprint only.
    pub(super) fn long_key(&mut self, store: &Bitcask, entry: &RootEntry) -> Result<Vec<u8>> {
        // The key's length is in the record; a header is short, so it is read first.
        let file = self.file(store, entry.location.file)?;
        let offset = u64::from(entry.location.offset);
        let head_len = (file.len() - offset.min(file.len())).min(super::record::HEADER_MAX_LEN as u64);
        let mut len = None;
        let read = file.datafile.read(offset, head_len, &mut |bytes| {
            len = Header::read(bytes).map(|(header, _)| header.record_len());
        });
        let damaged = || {
            let file = name_of_file(&**store.log.storage(), entry.location.file);
            EngineError::Damaged(format!("{file} at offset {offset}: the record with the key cannot be read"))
        };
        read.map_err(|_| damaged())?;
        let (mut key, mut is_whole) = (Vec::new(), false);
        let len = len.ok_or_else(damaged)?;
        let read = file.datafile.read(offset, len, &mut |bytes| {
            if let Some(record) = Record::read(bytes, file.salt) {
                key.extend_from_slice(record.key);
                is_whole = true;
            }
        });
        match (read, is_whole) {
            (Ok(()), true) => Ok(key),
            (read, _) => Err(damaged_record(store, entry.location, read.err())),
        }
    }
}

impl Reader for Snapshot<'_> {
    fn root(&mut self, db: Db, key: &[u8], touch: Option<Touch>) -> Result<Option<Root>> {
        let store = self.store;
        let name = Name::of(store.seed, key);
        let hash = name.hash(store.seed);
        let at = shard_of(hash);
        let found = match self.shard(at) {
            Ok(shard) => shard.look_up(store, db, key, &name, hash, touch)?,
            Err(error) => {
                self.undeclared.get_or_insert_with(|| key.to_vec());
                return Err(error);
            }
        };
        Ok(found.map(|(entry, prefix_len)| to_root(&entry, at, prefix_len)))
    }

    fn read_value(
        &mut self,
        root: &Root,
        (offset, len): (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let store = self.store;
        let Place(at, rest) = root.place;
        let location = Location { file: (at >> 32) as u32, offset: at as u32 };
        let prefix_len = rest & (u64::MAX >> SHARD_BITS);
        let shard = self.shard((rest >> (u64::BITS - SHARD_BITS)) as usize)?;
        let outside = || EngineError::Damaged("range outside the value".into());
        let end = offset.checked_add(len).filter(|end| *end <= root.value_len).ok_or_else(outside)?;
        if len < root.value_len && root.value_len > CHECKED_PART_BYTES {
            let file = shard.file(store, location.file)?;
            let from = u64::from(location.offset) + prefix_len + offset;
            return file.datafile.read(from, len, visit).map_err(|error| {
                let place = name_of_file(&**store.log.storage(), location.file);
                EngineError::Damaged(format!("{place} at offset {from}: {error}"))
            });
        }
        let (start, end) = match (usize::try_from(offset), usize::try_from(end)) {
            (Ok(start), Ok(end)) => (start, end),
            _ => return Err(outside()),
        };
        let mut is_inside = false;
        shard.read_record(store, location, (prefix_len, root.value_len), &mut |value| {
            if let Some(part) = value.get(start..end) {
                is_inside = true;
                visit(part);
            }
        })?;
        if is_inside { Ok(()) } else { Err(outside()) }
    }

    fn is_waited_for(&self) -> bool {
        self.is_long && self.store.long_holders.is_waited_for(self.set())
    }

    fn let_pass(&mut self) {
        let (store, set) = (self.store, self.set());
        let numbers: SmallVec<[usize; 8]> = self.shards.iter().map(|(at, _)| *at).collect();
        let was_long = std::mem::take(&mut self.is_long);
        self.end_long();
        store.long_holders.let_all_pass(set);
        // In the order in which all lock.
        self.shards = numbers.into_iter().map(|at| (at, store.shards[at].lock())).collect();
        if was_long {
            self.hold_for_long();
        }
    }

    fn hold_for_long(&mut self) {
        if !self.is_long {
            self.is_long = true;
            self.store.long_holders.hold(self.set());
        }
    }

    fn holds_everything(&self) -> bool {
        self.shards.len() == SHARDS
    }

    fn undeclared(&self) -> Option<Vec<u8>> {
        self.undeclared.clone()
    }

    fn blobs(&self) -> Arc<dyn BlobStore> {
        self.store.blobs.clone()
    }

    fn open_blob(&mut self, id: BlobId) -> Result<Arc<dyn Blob>> {
        self.store.blobs.open_blob(id)
    }

    fn older_sums(&mut self, reference: BlobRef) -> Result<Option<Arc<[u32]>>> {
        self.store.blobs.older_sums(reference)
    }

    fn patched(
        &mut self,
        owner: (Db, &[u8]),
        root: &Root,
        base: Arc<dyn Blob>,
        range: (u64, u64),
    ) -> Result<Arc<dyn Blob>> {
        let store = self.store;
        let shard = self.shard((root.place.1 >> (u64::BITS - SHARD_BITS)) as usize)?;
        let Shard { collections, files, .. } = shard;
        let Some(tree) = collections.get(&root.collection).filter(|tree| !tree.is_empty()) else {
            return Ok(base);
        };
        let mut patches = BTreeMap::new();
        let mut buffer = KeyBuffer::default();
        for (subkey, bytes) in tree.iter_from_key(&(range.0 / PATCH_BYTES).to_be_bytes()) {
            let subkey = buffer.join(subkey);
            let damaged = || EngineError::Damaged("an entry of the keydir".into());
            // Checksums of pieces are behind the patches, under longer subkeys.
            let Ok(number) = subkey.try_into().map(u64::from_be_bytes) else { break };
            if number >= range.1.div_ceil(PATCH_BYTES) {
                break;
            }
            let patch = match SubEntry::read(bytes).ok_or_else(damaged)? {
                (_, Some(inline)) => Patch::Here(inline.into()),
                (entry, None) => {
                    let file = known_file(store, files, entry.location.file);
                    Patch::InFile {
                        storage: store.log.storage().clone(),
                        file: file.cloned().ok_or_else(damaged)?,
                        offset: entry.location.offset,
                        prefix_len: entry.prefix_len(root.collection, subkey.len() as u64) as u32,
                        len: entry.value_len,
                    }
                }
            };
            patches.insert(number, patch);
        }
        if patches.is_empty() {
            return Ok(base);
        }
        Ok(Arc::new(Patched::new(owner, base, range.1, patches)))
    }

    fn memory_bytes(&mut self, key: &[u8], root: &Root) -> Result<u64> {
        let collection =
            self.collection(root)?.map_or(0, |tree| (size_of::<Tree>() + tree.heap_bytes()) as u64);
        Ok(super::keydir::entry_bytes(key, root) + collection)
    }

    fn sub_len(&mut self, root: &Root) -> Result<u64> {
        Ok(self.collection(root)?.map_or(0, Tree::len))
    }

    fn announce_subs(&mut self, root: &Root, subkeys: &[&[u8]], _are_to_change: bool) {
        if let Ok(Some(tree)) = self.collection(root) {
            subkeys.iter().for_each(|subkey| tree.fetch(subkey));
        }
    }

    fn sub_contains(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        Ok(self.collection(root)?.is_some_and(|tree| tree.get(subkey).is_some()))
    }

    fn sub_read(&mut self, root: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let entry = match self.collection(root)?.and_then(|tree| tree.get(subkey)).and_then(SubEntry::read) {
            None => return Ok(false),
            Some((_, Some(inline))) => {
                visit(inline);
                return Ok(true);
            }
            Some((entry, None)) => entry,
        };
        self.read_sub(root, subkey, entry, visit)?;
        Ok(true)
    }

    fn sub_rank(&mut self, root: &Root, subkey: &[u8]) -> Result<u64> {
        Ok(self.collection(root)?.map_or(0, |tree| tree.rank(subkey)))
    }

    fn sub_scan(&mut self, root: &Root, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        let store = self.store;
        if root.collection == 0 {
            return Ok(());
        }
        let shard = self.shard((root.place.1 >> (u64::BITS - SHARD_BITS)) as usize)?;
        let Shard { collections, files, .. } = shard;
        let Some(tree) = collections.get(&root.collection) else { return Ok(()) };
        let (want, expect) = (walk.want, walk.expect);
        let mut scan = SubScan { store, files, collection: root.collection, want, expect };
        match (walk.direction, walk.start) {
            (Direction::Ascending, Start::End) => scan.walk(tree.iter(), visit),
            (Direction::Ascending, Start::Rank(rank)) => scan.walk(tree.iter_from(rank), visit),
            (Direction::Ascending, Start::Subkey(subkey)) => scan.walk(tree.iter_from_key(subkey), visit),
            (Direction::Descending, Start::End) => scan.walk(tree.iter_back_from(u64::MAX), visit),
            (Direction::Descending, Start::Rank(rank)) if rank >= tree.len() => Ok(()),
            (Direction::Descending, Start::Rank(rank)) => scan.walk(tree.iter_back_from(rank), visit),
            (Direction::Descending, Start::Subkey(subkey)) => {
                scan.walk(tree.iter_back_from_key(subkey), visit)
            }
        }
    }

    fn require_everything(&mut self) -> Result<()> {
        if self.shards.len() < SHARDS { Err(EngineError::Undeclared) } else { Ok(()) }
    }

    fn key_count(&mut self, db: Db) -> Result<u64> {
        let spaces = self.spaces_of(db);
        Ok(spaces.map(|space| space.short.len() + space.long.len()).sum())
    }

    fn expiring_count(&mut self, db: Db) -> Result<u64> {
        Ok(self.spaces_of(db).map(|space| space.expiring).sum())
    }

    fn scan_keys(&mut self, db: Db, cursor: u64, visit: KeyVisitor<'_>) -> Result<u64> {
        let store = self.store;
        let mut from = cursor << (u64::BITS - CURSOR_BITS);
        loop {
            let at = shard_of(from);
            let mut seen = 0_u64;
            let next = store.scan_bucket(self.shard(at)?, at, db, from, &mut |key, root| {
                seen += 1;
                visit(key, root);
            })?;
            from = match next {
                Some(next) => next,
                None if at + 1 == SHARDS => return Ok(0),
                None => (at as u64 + 1) << (u64::BITS - SHARD_BITS),
            };
            if seen > 0 {
                return Ok(from >> (u64::BITS - CURSOR_BITS));
            }
        }
    }

    fn random_key(&mut self, db: Db, random: u64, visit: KeyVisitor<'_>) -> Result<()> {
        let store = self.store;
        let total = self.key_count(db)?;
        let Some(mut nth) = random.checked_rem(total) else { return Ok(()) };
        for at in 0..SHARDS {
            let shard = self.shard(at)?;
            let Some(number) = shard.space_of(db) else { return Ok(()) };
            let Some(space) = shard.space(number) else { continue };
            let draw = random.rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let table = if nth < space.short.len() { &space.short } else { &space.long };
            let count = space.short.len() + space.long.len();
            if nth >= count {
                nth -= count;
                continue;
            }
            let is_long = nth >= space.short.len();
            let Some((key, bytes)) = table.random(draw) else { return Ok(()) };
            let Some(entry) = RootEntry::read(bytes) else { return Ok(()) };
            let key = if is_long { shard.long_key(store, &entry)? } else { key.to_vec() };
            visit(&key, &to_root(&entry, at, entry.prefix_len(number, key.len() as u64)));
            return Ok(());
        }
        Ok(())
    }
}

impl Snapshot<'_> {
    fn spaces_of(&self, db: Db) -> impl Iterator<Item = &super::keydir::Space> {
        self.shards.iter().filter_map(move |(_, shard)| shard.space(shard.space_of(db)?))
    }

    fn read_sub(
        &mut self,
        root: &Root,
        subkey: &[u8],
        entry: SubEntry,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let store = self.store;
        let shard = self.shard((root.place.1 >> (u64::BITS - SHARD_BITS)) as usize)?;
        let prefix_len = entry.prefix_len(root.collection, subkey.len() as u64);
        shard.read_record(store, entry.location, (prefix_len, u64::from(entry.value_len)), visit)
    }
}

/// Why the record at a location cannot be shown: what the storage said, or else its bytes.
#[cold]
fn damaged_record(store: &Bitcask, location: Location, error: Option<StorageError>) -> EngineError {
    let file = name_of_file(&**store.log.storage(), location.file);
    let what = error.map_or("the record does not carry its checksum".into(), |error| error.to_string());
    EngineError::Damaged(format!("{file} at offset {}: {what}", location.offset))
}

fn missing_file(store: &Bitcask, number: u32) -> EngineError {
    EngineError::Damaged(format!("{} is missing", name_of_file(&**store.log.storage(), number)))
}

/// A patch of a blob, as it stays even if merge moves it.
enum Patch {
    Here(Box<[u8]>),
    InFile { storage: Arc<dyn Storage>, file: Arc<File>, offset: u32, prefix_len: u32, len: u32 },
}

impl PatchSource for Patch {
    fn show(&self, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        match self {
            Patch::Here(bytes) => {
                visit(bytes);
                Ok(())
            }
            Patch::InFile { storage, file, offset, prefix_len, len } => {
                let record_len = u64::from(*prefix_len) + u64::from(*len);
                let mut is_whole = false;
                let read = file.datafile.read(u64::from(*offset), record_len, &mut |bytes| {
                    if let Some(record) = Record::read(bytes, file.salt) {
                        is_whole = true;
                        visit(record.value);
                    }
                });
                let damaged = |what: &str| {
                    let place = name_of_file(&**storage, file.id());
                    StorageError::Damaged(format!("{place} at offset {offset}: {what}"))
                };
                read.map_err(|error| damaged(&error.to_string()))?;
                if is_whole { Ok(()) } else { Err(damaged("the record does not carry its checksum")) }
            }
        }
    }

    fn byte_count(&self) -> u64 {
        match self {
            Patch::Here(bytes) => bytes.len() as u64,
            Patch::InFile { len, .. } => u64::from(*len),
        }
    }
}

impl Bitcask {
    /// Shows the keys of the buckets at a position of a shard; returns the next position in the shard.
    pub(super) fn scan_bucket(
        &self,
        shard: &mut Shard,
        at: usize,
        db: Db,
        from: u64,
        visit: KeyVisitor<'_>,
    ) -> Result<Option<u64>> {
        let number = shard.space_of(db).ok_or(EngineError::NoSuchDatabase(db))?;
        let Some(space) = shard.space(number) else { return Ok(None) };
        let mut show = |key: &[u8], entry: &RootEntry| {
            visit(key, &to_root(entry, at, entry.prefix_len(number, key.len() as u64)));
        };
        let next = space.short.scan(from, &mut |_, key, bytes| {
            if let Some(entry) = RootEntry::read(bytes) {
                show(key, &entry);
            }
        });
        // Long keys are few: those whose hash lies in the same stretch come along.
        let mut long: Vec<RootEntry> = Vec::new();
        let mut position = Some(from);
        while let Some(here) =
            position.filter(|here| !space.long.is_empty() && next.is_none_or(|next| *here < next))
        {
            position = space.long.scan(here, &mut |hash, _, bytes| {
                let is_inside = hash >= from && next.is_none_or(|next| hash < next);
                long.extend(RootEntry::read(bytes).filter(|_| is_inside));
            });
        }
        for entry in long {
            let key = shard.long_key(self, &entry)?;
            visit(&key, &to_root(&entry, at, entry.prefix_len(number, key.len() as u64)));
        }
        Ok(next)
    }
}

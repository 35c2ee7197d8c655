//! The keydir: where in the datafiles every live record is, in memory.
//!
//! It is cut into shards by the hash of the key. A shard holds, for each *space* (what a logical database shows), a
//! table of roots, and for each *collection* (the subkeys of one key) an ordered, counted tree. Everything a key owns is
//! in the key's shard, so one lock serves a command.
//!
//! A root's entry in the table. Numbers of fixed length are little-endian, a *v* is a varint as in the datafiles, and what
//! stands in brackets is there if its bit is:
//!
//! ```text
//! 0   1  bits 0-2 Redis type, or 0 if it is 8 or more, bit 3 has an encoding, bit 4 has an expiry, bit 5 has a collection, bit 6 has a blob,
//!        bit 7 the value is here
//! 1   3  when it was last used, or how often (engine/access.rs)
//! 4   4  offset of the record
//! 8   v  datafile
//! .. [1] Redis type, if it is 8 or more   [1] encoding, unless it is 0   [v] expiry in unix milliseconds
//!    [v] collection   [v] blob, [v] its length, [v] its checksum
//!     v  length of the record's value; or, if it is here, the value
//! ```
//!
//! A subkey's entry in the tree:
//!
//! ```text
//! 0   4  offset of the record
//! 4   v  twice the number of the datafile, and 1 if the value is here
//! ..  v  length of the value; or, if it is here, the value
//! ```
//!
//! Invariant: an entry's record carries the entry's key; for keys beyond [`LONG_KEY_BYTES`] the table holds a 128-bit
//! fingerprint and the key's length instead, and the record is what tells the key.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::blobs::BlobChanges;
use super::files::FileTable;
use super::rare::Rare;
use super::record::{Header, RecordType};
use crate::engine::{BlobRef, CATALOG, Db, Kind, Root, SHORT_VALUE_BYTES, ShortValue};
use crate::packed::table::{self, Table};
use crate::packed::tree::Tree;
use crate::packed::varint::{read_varint, varint_len};
use crate::storage::BlobId;

/// Number of bits of the hash that pick the shard.
pub(super) const SHARD_BITS: u32 = 6;

/// Number of shards: enough that two cores rarely meet in one, few enough that taking all of them costs a microsecond.
pub(super) const SHARDS: usize = 1 << SHARD_BITS;

/// Keys longer than this many bytes are held as a fingerprint, so that a key costs bounded memory.
pub(super) const LONG_KEY_BYTES: usize = 255;

/// Values of subkeys up to this many bytes are kept in the keydir as well, so that reading a small collection needs no
/// datafile.
pub(super) const INLINE_SUB_BYTES: u64 = 64;

/// A collection is small up to so many subkeys; Redis packs hashes and sets of as many.
const SMALL_COLLECTION: u64 = 128;

/// Values of a larger collection are kept up to this many bytes. Its elements are most of what a store of lists or streams
/// holds, and one by one or by neighbours they are read as fast as strings of their size.
const INLINE_SUB_OF_LARGE_BYTES: u64 = SHORT_VALUE_BYTES as u64;

/// Bytes by which the table holds a longer key.
pub(super) const LONG_NAME_BYTES: usize = 20;

/// Bytes of a root's entry before the number of its datafile.
const ROOT_FIXED_LEN: usize = 8;
/// The Redis type, or 0 for a greater one, which stands behind the number of the datafile.
const ROOT_KIND: u8 = 0x07;
const ROOT_ENCODING: u8 = 0x08;
/// The bit of a root's first byte that says that it has an expiry.
pub(super) const ROOT_EXPIRY: u8 = 0x10;
/// The fixed part, the datafile, kind and encoding, five numbers, and the value or its length.
const ROOT_MAX_LEN: usize = ROOT_FIXED_LEN + 5 + 2 + 5 * 10 + SHORT_VALUE_BYTES;
const ROOT_COLLECTION: u8 = 0x20;
const ROOT_BLOB: u8 = 0x40;
const ROOT_SHORT: u8 = 0x80;

/// The space of [`CATALOG`], in every store. It lies between the spaces that the databases of a new store show and the
/// numbers that are handed out, so it is neither; no database record names it.
pub(super) const CATALOG_SPACE: u64 = FIRST_NUMBER - 1;

/// Collections, blobs and spaces share one run of numbers, none used twice, which begins here. Those below are the spaces
/// that the databases of a new store show, and [`CATALOG_SPACE`].
pub(super) const FIRST_NUMBER: u64 = 1 << 16;

/// The space of a database, given those of the numbered ones.
#[inline]
pub(super) fn space_of(databases: &[u64], db: Db) -> Option<u64> {
    match databases.get(db as usize) {
        Some(space) => Some(*space),
        None => unnumbered_space_of(db),
    }
}

/// The space of a database that has no number. Apart, because most databases have one.
#[cold]
fn unnumbered_space_of(db: Db) -> Option<u64> {
    (db == CATALOG).then_some(CATALOG_SPACE)
}

/// A key as the table holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name<'k> {
    Short(&'k [u8]),
    /// Fingerprint (16) and length of the key (4).
    Long([u8; LONG_NAME_BYTES]),
}

impl<'k> Name<'k> {
    pub(super) fn of(seed: u64, key: &'k [u8]) -> Name<'k> {
        if key.len() <= LONG_KEY_BYTES {
            Name::Short(key)
        } else {
            let mut name = [0; LONG_NAME_BYTES];
            name[..16].copy_from_slice(&xxh3_128_with_seed(key, seed).to_le_bytes());
            name[16..].copy_from_slice(&(key.len() as u32).to_le_bytes());
            Name::Long(name)
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Name::Short(key) => key,
            Name::Long(fingerprint) => fingerprint,
        }
    }

    pub(super) fn hash(&self, seed: u64) -> u64 {
        table::hash(seed, self.bytes())
    }
}

/// The length of the key that a table of long keys holds under this name.
pub(super) fn long_key_len(name: &[u8]) -> u64 {
    name.last_chunk().map_or(0, |len| u64::from(u32::from_le_bytes(*len)))
}

/// The shard that a hash belongs to.
pub(super) fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Location {
    pub(super) file: u32,
    pub(super) offset: u32,
}

/// A root's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RootEntry {
    pub(super) kind: Kind,
    pub(super) encoding: u8,
    pub(super) access: u32,
    pub(super) location: Location,
    pub(super) value_len: u32,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) collection: Option<u64>,
    pub(super) blob: Option<BlobRef>,
    /// The value, if it is so short that keeping it costs little more than its length would.
    pub(super) short: Option<ShortValue>,
}

impl RootEntry {
    /// Shows the entry's bytes.
    pub(super) fn with_bytes<R>(self, show: impl FnOnce(&[u8]) -> R) -> R {
        let mut out = [0; ROOT_MAX_LEN];
        let mut len = ROOT_FIXED_LEN;
        let mut flags = 0;
        put_varint(u64::from(self.location.file), &mut out, &mut len);
        match self.kind as u8 {
            kind @ ..=ROOT_KIND => flags |= kind,
            kind => {
                out[len] = kind;
                len += 1;
            }
        }
        if self.encoding != 0 {
            flags |= ROOT_ENCODING;
            out[len] = self.encoding;
            len += 1;
        }
        for (number, flag) in [(self.expires_at_ms, ROOT_EXPIRY), (self.collection, ROOT_COLLECTION)] {
            if let Some(number) = number {
                flags |= flag;
                put_varint(number, &mut out, &mut len);
            }
        }
        if let Some(BlobRef { id, len: blob_len, checksum, has_sums }) = self.blob {
            flags |= ROOT_BLOB;
            let checksum = u64::from(checksum) | if has_sums { BLOB_HAS_SUMS } else { 0 };
            for number in [id.0, blob_len, checksum] {
                put_varint(number, &mut out, &mut len);
            }
        }
        match &self.short {
            Some(short) => {
                flags |= ROOT_SHORT;
                let value = short.as_bytes();
                out[len..len + value.len()].copy_from_slice(value);
                len += value.len();
            }
            None => put_varint(u64::from(self.value_len), &mut out, &mut len),
        }
        out[0] = flags;
        out[1..4].copy_from_slice(&self.access.to_le_bytes()[..3]);
        out[4..8].copy_from_slice(&self.location.offset.to_le_bytes());
        show(&out[..len])
    }

    pub(super) fn read(bytes: &[u8]) -> Option<RootEntry> {
        let (fixed, mut rest) = bytes.split_first_chunk::<ROOT_FIXED_LEN>()?;
        let [flags, used0, used1, used2, offset @ ..] = *fixed;
        let file = read_varint(&mut rest)? as u32;
        let (mut kind, mut encoding) = (flags & ROOT_KIND, 0);
        if kind == 0 {
            let (first, after) = rest.split_first()?;
            (kind, rest) = (*first, after);
        }
        if flags & ROOT_ENCODING != 0 {
            let (first, after) = rest.split_first()?;
            (encoding, rest) = (*first, after);
        }
        let mut number =
            |flag: u8| if flags & flag == 0 { Some(None) } else { read_varint(&mut rest).map(Some) };
        let (expires_at_ms, collection) = (number(ROOT_EXPIRY)?, number(ROOT_COLLECTION)?);
        let blob = if flags & ROOT_BLOB == 0 { None } else { Some(read_blob(&mut rest)?) };
        let (short, value_len) = if flags & ROOT_SHORT != 0 {
            (Some(ShortValue::of(rest)?), rest.len() as u32)
        } else {
            (None, read_varint(&mut rest)? as u32)
        };
        Some(RootEntry {
            kind: Kind::from_number(kind)?,
            encoding,
            access: u32::from_le_bytes([used0, used1, used2, 0]),
            location: Location { file, offset: u32::from_le_bytes(offset) },
            value_len,
            expires_at_ms,
            collection,
            blob,
            short,
        })
    }

    /// Whether the key is gone at `now_ms`.
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_some_and(|at| at <= now_ms)
    }

    /// Bytes of the record before its value, for a root in this space under a key of this length.
    pub(super) fn prefix_len(&self, space: u64, key_len: u64) -> u64 {
        let mut header = Header::new(RecordType::Root, 0, 0, space);
        header.key_len = key_len;
        header.value_len = u64::from(self.value_len);
        header.expires_at_ms = self.expires_at_ms;
        header.collection = self.collection;
        header.prefix_len()
    }
}

/// Writes a varint at `len`, which is behind it then.
#[inline]
fn put_varint(mut value: u64, out: &mut [u8], len: &mut usize) {
    while value >= 0x80 {
        out[*len] = value as u8 | 0x80;
        *len += 1;
        value >>= 7;
    }
    out[*len] = value as u8;
    *len += 1;
}

/// Beside the checksum in the entry of a root with a blob: there are checksums of the blob's pieces.
const BLOB_HAS_SUMS: u64 = 1 << 32;

fn read_blob(rest: &mut &[u8]) -> Option<BlobRef> {
    let (id, len, checksum) = (BlobId(read_varint(rest)?), read_varint(rest)?, read_varint(rest)?);
    // The checksum is the lower half.
    Some(BlobRef { id, len, checksum: checksum as u32, has_sums: checksum & BLOB_HAS_SUMS != 0 })
}

/// Bytes of memory that a root takes in its table, the collection not included.
pub(super) fn entry_bytes(key: &[u8], root: &Root) -> u64 {
    /// The lengths of key and entry, the byte of the hash, and the free bytes that a bucket has on average.
    const BESIDES_BYTES: usize = 8;
    let name = if key.len() <= LONG_KEY_BYTES { key.len() } else { LONG_NAME_BYTES };
    let value =
        root.short.as_ref().map_or_else(|| varint_len(root.value_len), |short| short.as_bytes().len() as u64);
    let numbers = [root.expires_at_ms, Some(root.collection).filter(|number| *number > 0)];
    let blob = root.blob.map(|blob| [blob.id.0, blob.len, u64::from(blob.checksum)]);
    let numbers: u64 = numbers.into_iter().flatten().chain(blob.into_iter().flatten()).map(varint_len).sum();
    let file = varint_len(root.place.0 >> 32);
    let encoding = u64::from(root.encoding != 0) + u64::from(root.kind as u8 > ROOT_KIND);
    (BESIDES_BYTES + name + ROOT_FIXED_LEN) as u64 + file + encoding + numbers + value
}

/// Changes the bits of use of a root's entry in place.
pub(super) fn set_access(bytes: &mut [u8], access: u32) {
    if let Some(bits) = bytes.get_mut(1..4) {
        bits.copy_from_slice(&access.to_le_bytes()[..3]);
    }
}

/// Room for the entry of a subkey: offset, two varints or one and a short value. `SmallVec` has no closer size.
const SUB_BUFFER_BYTES: usize = 96;

/// A subkey's entry.
pub(super) type EntryBytes = SmallVec<[u8; SUB_BUFFER_BYTES]>;

/// A subkey's entry, without its inline value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SubEntry {
    pub(super) location: Location,
    pub(super) value_len: u32,
}

impl SubEntry {
    fn to_bytes(self, inline: Option<&[u8]>) -> EntryBytes {
        let mut out = [0; SUB_BUFFER_BYTES];
        out[..4].copy_from_slice(&self.location.offset.to_le_bytes());
        let mut len = 4;
        put_varint(u64::from(self.location.file) << 1 | u64::from(inline.is_some()), &mut out, &mut len);
        match inline {
            Some(value) => {
                let value = &value[..value.len().min(INLINE_SUB_BYTES as usize)];
                out[len..len + value.len()].copy_from_slice(value);
                len += value.len();
            }
            None => put_varint(u64::from(self.value_len), &mut out, &mut len),
        }
        SmallVec::from_buf_and_len(out, len)
    }

    /// The entry's bytes in a collection of so many subkeys, which keeps the value if it is short. A long one may be missing.
    pub(super) fn keeping(self, value: &[u8], subkeys: u64) -> EntryBytes {
        let max = if subkeys <= SMALL_COLLECTION { INLINE_SUB_BYTES } else { INLINE_SUB_OF_LARGE_BYTES };
        self.to_bytes((u64::from(self.value_len) <= max).then_some(value))
    }

    /// Reads an entry; the second part is the value if it is inline.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<(SubEntry, Option<&[u8]>)> {
        let (offset, mut rest) = bytes.split_first_chunk()?;
        let file = match rest {
            // The first 64 datafiles.
            [file, after @ ..] if *file < 0x80 => {
                rest = after;
                u64::from(*file)
            }
            _ => read_varint(&mut rest)?,
        };
        let location = Location { file: (file >> 1) as u32, offset: u32::from_le_bytes(*offset) };
        if file & 1 != 0 {
            return Some((SubEntry { location, value_len: rest.len() as u32 }, Some(rest)));
        }
        Some((SubEntry { location, value_len: read_varint(&mut rest)? as u32 }, None))
    }

    /// The bytes of the same entry, if it is one, for a record that has moved.
    pub(super) fn moved(bytes: &[u8], to: Location) -> Option<EntryBytes> {
        let (entry, value) = SubEntry::read(bytes)?;
        Some(SubEntry { location: to, ..entry }.to_bytes(value))
    }

    /// Bytes of the record before its value.
    pub(super) fn prefix_len(&self, collection: u64, subkey_len: u64) -> u64 {
        let mut header = Header::new(RecordType::Sub, 0, 0, collection);
        header.key_len = subkey_len;
        header.value_len = u64::from(self.value_len);
        header.prefix_len()
    }

    /// Bytes of the whole record.
    pub(super) fn record_len(&self, collection: u64, subkey_len: u64) -> u64 {
        self.prefix_len(collection, subkey_len) + u64::from(self.value_len)
    }
}

/// Hashes collection numbers, which are handed out in order, by one multiplication.
#[derive(Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

/// A map keyed by collection number.
pub(super) type ByCollection<V> = HashMap<u64, V, BuildHasherDefault<NumberHasher>>;

/// The roots of one space in one shard.
pub(super) struct Space {
    pub(super) number: u64,
    /// Keys of up to [`LONG_KEY_BYTES`].
    pub(super) short: Table,
    /// Longer keys, by fingerprint.
    pub(super) long: Table,
    /// Entries that have an expiry.
    pub(super) expiring: u64,
    /// Which these are, if eviction wants to know and they are few.
    pub(super) rare: Option<Box<Rare>>,
}

impl Space {
    fn new(number: u64, seed: u64) -> Space {
        let (short, long) = (Table::new(seed, SHARD_BITS), Table::new(seed, SHARD_BITS));
        Space { number, short, long, expiring: 0, rare: None }
    }

    /// Bytes of memory of its roots.
    pub(super) fn heap_bytes(&self) -> u64 {
        let rare = self.rare.as_ref().map_or(0, |rare| rare.heap_bytes());
        (self.short.heap_bytes() + self.long.heap_bytes()) as u64 + rare
    }

    /// To be called when a key has got an expiry or has lost it.
    #[inline]
    fn expiry_changed(&mut self, hash: u64, is_expiring: bool) {
        if is_expiring {
            self.expiring += 1;
        } else {
            self.expiring -= 1;
        }
        if self.rare.is_some() {
            self.note_rare(hash, is_expiring);
        }
    }

    #[cold]
    fn note_rare(&mut self, hash: u64, is_expiring: bool) {
        let Some(rare) = &mut self.rare else { return };
        if !is_expiring {
            rare.remove(hash);
        } else if !rare.add(hash) {
            self.rare = None;
        }
    }

    pub(super) fn table(&self, name: &Name<'_>) -> &Table {
        match name {
            Name::Short(_) => &self.short,
            Name::Long(_) => &self.long,
        }
    }

    pub(super) fn table_mut(&mut self, name: &Name<'_>) -> &mut Table {
        match name {
            Name::Short(_) => &mut self.short,
            Name::Long(_) => &mut self.long,
        }
    }
}

/// What a shard has, or all of them together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Bytes of memory, garbage included.
    pub(super) all: u64,
    /// The part of them that nothing refers to any more and that has yet to be freed.
    pub(super) garbage: u64,
    /// Keys with an expiry.
    pub(super) expiring: u64,
}

/// Memory that was dropped in O(1) and is freed in slices.
pub(super) enum Garbage {
    Collection(u64, Tree),
    /// A space, and those of its collections that keys of other spaces adopted before it was dropped.
    Space(Space, Arc<[u64]>),
}

/// One shard.
pub(super) struct Shard {
    pub(super) seed: u64,
    /// The space each database shows; the same in every shard.
    pub(super) databases: Vec<u64>,
    pub(super) spaces: Vec<Space>,
    pub(super) collections: ByCollection<Tree>,
    pub(super) garbage: Vec<Garbage>,
    /// The datafiles as this shard last saw them.
    pub(super) files: Arc<FileTable>,
    /// Bytes of the trees of living collections.
    pub(super) tree_bytes: u64,
    /// Bytes of what is garbage.
    pub(super) garbage_bytes: u64,
    /// The part of the store's [`Held`] that is this shard's.
    held: Sums,
}

impl Shard {
    pub(super) fn new(seed: u64, databases: Vec<u64>, files: Arc<FileTable>) -> Shard {
        Shard {
            seed,
            databases,
            spaces: Vec::new(),
            collections: ByCollection::default(),
            garbage: Vec::new(),
            files,
            tree_bytes: 0,
            garbage_bytes: 0,
            held: Sums::default(),
        }
    }

    /// What the store's sums have of this shard; `held` from now on.
    #[inline]
    pub(super) fn swap_held(&mut self, held: Sums) -> Sums {
        std::mem::replace(&mut self.held, held)
    }

    /// The space that a database shows; None if there is no such database.
    #[inline]
    pub(super) fn space_of(&self, db: Db) -> Option<u64> {
        space_of(&self.databases, db)
    }

    pub(super) fn space(&self, number: u64) -> Option<&Space> {
        self.spaces.iter().find(|space| space.number == number)
    }

    pub(super) fn space_mut(&mut self, number: u64) -> Option<&mut Space> {
        self.spaces.iter_mut().find(|space| space.number == number)
    }

    fn space_or_new(&mut self, number: u64) -> &mut Space {
        let at = self.spaces.iter().position(|space| space.number == number).unwrap_or_else(|| {
            self.spaces.push(Space::new(number, self.seed));
            self.spaces.len() - 1
        });
        &mut self.spaces[at]
    }

    pub(super) fn root(&self, space: u64, name: &Name<'_>, hash: u64) -> Option<RootEntry> {
        RootEntry::read(self.space(space)?.table(name).get(hash, name.bytes())?)
    }

    /// The table of the short keys of a database, if it has any.
    pub(super) fn short_keys(&self, db: Db) -> Option<&Table> {
        self.space(self.space_of(db)?).map(|space| &space.short)
    }

    /// Puts a root; returns the one it replaced.
    pub(super) fn put_root(
        &mut self,
        space: u64,
        name: &Name<'_>,
        hash: u64,
        entry: RootEntry,
    ) -> Option<RootEntry> {
        let space = self.space_or_new(space);
        let table = space.table_mut(name);
        let mut before = None;
        entry.with_bytes(|entry| {
            table.replace(hash, name.bytes(), entry, |bytes| before = RootEntry::read(bytes));
        });
        let had_expiry = before.is_some_and(|before| before.expires_at_ms.is_some());
        if entry.expires_at_ms.is_some() != had_expiry {
            space.expiry_changed(hash, !had_expiry);
        }
        before
    }

    /// Removes a root; returns it.
    pub(super) fn remove_root(&mut self, space: u64, name: &Name<'_>, hash: u64) -> Option<RootEntry> {
        let space = self.space_mut(space)?;
        let table = space.table_mut(name);
        let before = table.get(hash, name.bytes()).and_then(RootEntry::read)?;
        table.remove(hash, name.bytes());
        if before.expires_at_ms.is_some() {
            space.expiry_changed(hash, false);
        }
        Some(before)
    }

    /// Takes the tree of a collection out of the shard.
    pub(super) fn take_tree(&mut self, collection: u64) -> Option<Tree> {
        let tree = self.collections.remove(&collection)?;
        self.tree_bytes = self.tree_bytes.saturating_sub(tree.heap_bytes() as u64);
        Some(tree)
    }

    /// Puts the tree of a collection into the shard.
    pub(super) fn put_tree(&mut self, collection: u64, tree: Tree) {
        self.tree_bytes += tree.heap_bytes() as u64;
        self.collections.insert(collection, tree);
    }

    /// Drops a collection in O(1).
    pub(super) fn discard(&mut self, collection: u64) {
        if let Some(tree) = self.take_tree(collection) {
            self.garbage_bytes += tree.heap_bytes() as u64;
            self.garbage.push(Garbage::Collection(collection, tree));
        }
    }

    /// Drops the space at a place of `spaces` in O(1), except for the collections that keys of other spaces adopted.
    pub(super) fn discard_space(&mut self, at: usize, adopted: Arc<[u64]>) {
        let mut space = self.spaces.swap_remove(at);
        space.rare = None;
        self.garbage_bytes += space.heap_bytes();
        self.garbage.push(Garbage::Space(space, adopted));
    }

    /// Counts a root's record as dead.
    pub(super) fn bury_root(&self, space: u64, key_len: u64, entry: &RootEntry) {
        let len = entry.prefix_len(space, key_len) + u64::from(entry.value_len);
        bury(&self.files, entry.location, len);
    }

    /// Frees about `budget` entries of what was dropped; returns how many.
    pub(super) fn drain_garbage(
        &mut self,
        budget: u64,
        gone: &mut dyn FnMut(u64),
        blobs: &mut BlobChanges,
    ) -> u64 {
        let mut freed = 0;
        while freed < budget {
            let files = self.files.clone();
            let Some(garbage) = self.garbage.last_mut() else { break };
            match garbage {
                Garbage::Collection(collection, tree) => {
                    let collection = *collection;
                    let before = tree.heap_bytes() as u64;
                    freed += 1 + tree.drain_some(budget - freed, &mut |subkey, bytes| {
                        bury_sub(&files, collection, subkey, bytes);
                    });
                    let given_back = before.saturating_sub(tree.heap_bytes() as u64);
                    self.garbage_bytes = self.garbage_bytes.saturating_sub(given_back);
                    if tree.is_empty() {
                        gone(collection);
                        self.garbage.pop();
                    }
                }
                Garbage::Space(space, adopted) => {
                    let number = space.number;
                    let before = space.heap_bytes();
                    let mut collections = Vec::new();
                    let mut drop_root = |key_len: u64, bytes: &[u8]| {
                        let Some(entry) = RootEntry::read(bytes) else { return };
                        let len = entry.prefix_len(number, key_len);
                        bury(&files, entry.location, len + u64::from(entry.value_len));
                        collections.extend(entry.collection.filter(|number| !adopted.contains(number)));
                        entry.blob.into_iter().for_each(|blob| blobs.release(blob.id));
                    };
                    freed += 1 + space.short.drain_some(budget - freed, &mut |key, bytes| {
                        drop_root(key.len() as u64, bytes);
                    });
                    freed += space.long.drain_some(budget.saturating_sub(freed), &mut |name, bytes| {
                        drop_root(long_key_len(name), bytes);
                    });
                    let given_back = before.saturating_sub(space.heap_bytes());
                    self.garbage_bytes = self.garbage_bytes.saturating_sub(given_back);
                    if space.short.is_empty() && space.long.is_empty() {
                        self.garbage.pop();
                    }
                    for collection in collections {
                        self.discard(collection);
                    }
                }
            }
        }
        freed
    }
}

/// Counts the record at a location as dead.
pub(super) fn bury(files: &FileTable, location: Location, len: u64) {
    if let Some(file) = files.get(&location.file) {
        file.add_dead(len);
    }
}

/// Counts the record that says what so many databases show as dead.
pub(super) fn bury_databases(files: &FileTable, location: Location, databases: usize) {
    let mut header = Header::new(RecordType::Databases, 0, 0, 0);
    header.value_len = databases as u64 * 8;
    bury(files, location, header.record_len());
}

/// Counts a subkey's record as dead, given its entry.
pub(super) fn bury_sub(files: &FileTable, collection: u64, subkey: &[u8], entry: &[u8]) {
    if let Some((entry, _)) = SubEntry::read(entry) {
        bury(files, entry.location, entry.record_len(collection, subkey.len() as u64));
    }
}

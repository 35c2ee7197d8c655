//! A hash table from byte-string keys to small payloads, for hundreds of millions of entries.
//!
//! Extendible hashing with packed buckets: the leading bits of a key's hash lead through a directory to a bucket, one
//! block of bytes with some two dozen entries and a tag byte each, so that a key that is not there is rarely compared
//! with one that is. The table promises
//! - less than 12 bytes per entry beyond key and payload (a test counts them);
//! - no pause that grows with the table: a full bucket splits alone, and at most one segment of the directory is
//!   copied at a time;
//! - a walk in the order of the hash that misses no entry that stays (see [`Table::scan`]);
//! - memory back when entries go: small buddies merge and the directory follows them down.
//!
//! It must never depend on keys being spread well for correctness: when too many share their leading hash bits, a
//! bucket grows and gets slow, nothing more.
//!
//! Every function that takes a hash wants what [`hash`] says for the table's seed and the key: the table computes the
//! hash again when it splits a bucket, so any other number loses entries.

mod bucket;
mod directory;
mod extendible;
mod prefetch;
#[cfg(test)]
mod tests;

pub use prefetch::prefetch;

use bucket::Bucket;
use directory::{BUCKET_BYTES_MAX, BUCKET_ENTRIES_FEW, BUCKET_ENTRIES_MAX, DEPTH_MAX, Directory};

/// Buckets are told apart by at most this many leading bits of the hash, skipped bits included, so that a cursor
/// needs no more.
pub const CURSOR_BITS_MAX: u32 = 40;

/// What [`Table::scan`] calls with the hash, the key and the payload of an entry.
pub type Visit<'a> = dyn FnMut(u64, &[u8], &[u8]) + 'a;

/// The hash of a key in tables with this seed. The seed must be secret if others choose the keys.
#[inline]
pub fn hash(seed: u64, key: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(key, seed)
}

/// A hash table of packed buckets; see the module.
pub struct Table {
    /// None until the first insert.
    directory: Option<Box<Directory>>,
    seed: u64,
    skip_bits: u32,
    len: u64,
}

impl Table {
    /// An empty table. `skip_bits` leading bits of the hash are the same for all of its keys, because the caller
    /// chose the table by them; 40 or more leave only one bucket. Allocates nothing.
    pub fn new(seed: u64, skip_bits: u32) -> Self {
        Self { directory: None, seed, skip_bits, len: 0 }
    }

    /// How many entries there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory that the table owns, in bytes; what the allocator adds is an estimate.
    pub fn heap_bytes(&self) -> usize {
        self.directory.as_ref().map_or(0, |directory| size_of::<Directory>() + directory.heap_bytes())
    }

    /// Drops everything at once, which takes a while if it is much: see [`Table::drain_some`].
    pub fn clear(&mut self) {
        self.directory = None;
        self.len = 0;
    }

    /// The payload of a key.
    #[inline]
    pub fn get(&self, hash: u64, key: &[u8]) -> Option<&[u8]> {
        let bucket = self.directory.as_ref()?.get(self.position(hash))?;
        Some(bucket.payload(&bucket.find(tag(hash), key)?))
    }

    /// The payload of a key, to overwrite in place.
    pub fn get_mut(&mut self, hash: u64, key: &[u8]) -> Option<&mut [u8]> {
        let position = self.position(hash);
        let bucket = self.directory.as_mut()?.get_mut(position)?;
        let place = bucket.find(tag(hash), key)?;
        Some(bucket.payload_mut(&place))
    }

    /// Sets the payload of a key. Returns whether the key had one.
    pub fn insert(&mut self, hash: u64, key: &[u8], payload: &[u8]) -> bool {
        self.replace(hash, key, payload, |_| {})
    }

    /// As [`Table::insert`], and shows the payload that the key had.
    pub fn replace(&mut self, hash: u64, key: &[u8], payload: &[u8], mut before: impl FnMut(&[u8])) -> bool {
        debug_assert_eq!(hash, self::hash(self.seed, key), "not the hash of the key");
        let (position, seed, skip_bits) = (self.position(hash), self.seed, self.skip_bits);
        let depth_max = DEPTH_MAX.min(CURSOR_BITS_MAX.saturating_sub(skip_bits));
        let directory = self.directory.get_or_insert_with(|| Box::new(Directory::new()));
        loop {
            let outcome = directory.change(position, |bucket| match bucket.find(tag(hash), key) {
                Some(place) => {
                    before(bucket.payload(&place));
                    bucket.replace(&place, key, payload);
                    Some(true)
                }
                None if is_full(bucket) => None,
                None => {
                    bucket.append(tag(hash), key, payload);
                    Some(false)
                }
            });
            match outcome.flatten() {
                Some(replaced) => {
                    self.len += u64::from(!replaced);
                    return replaced;
                }
                None => {
                    let position_of = |key: &[u8]| skip(self::hash(seed, key), skip_bits);
                    if !directory.split(position, depth_max, position_of) {
                        directory.change(position, |bucket| bucket.append(tag(hash), key, payload));
                        self.len += 1;
                        return false;
                    }
                }
            }
        }
    }

    /// Removes a key. Returns whether it was there.
    pub fn remove(&mut self, hash: u64, key: &[u8]) -> bool {
        let position = self.position(hash);
        let Some(directory) = &mut self.directory else { return false };
        let removed = directory.change(position, |bucket| {
            let place = bucket.find(tag(hash), key)?;
            bucket.remove(&place);
            Some(())
        });
        if removed.flatten().is_none() {
            return false;
        }
        self.shrunk(position, 1);
        true
    }

    /// Visits every entry (hash, key, payload) of the bucket whose range of hashes contains `from`, and returns the
    /// first hash of the next bucket, or None at the end of the table's range. `from` is a whole hash, skipped bits
    /// included, so that tables side by side have one common order; an empty table is one empty bucket.
    ///
    /// A walk by the returned values from the first hash of the table's range to the end sees every entry
    /// that was there all the while, whatever else came and went meanwhile, and sees an entry again only if buckets
    /// merged. The returned hashes have only zeros beyond their [`CURSOR_BITS_MAX`] leading bits.
    pub fn scan(&self, from: u64, visit: &mut Visit<'_>) -> Option<u64> {
        let directory = self.directory.as_ref()?;
        let position = self.position(from);
        for entry in directory.get(position)?.entries() {
            visit(self::hash(self.seed, entry.key()), entry.key(), entry.payload());
        }
        self.next_bucket(from, directory.depth(position))
    }

    /// Like [`Table::scan`], without the hashes, which cost more than the rest; the entries live as long as the table is
    /// borrowed.
    pub fn look_into<'t>(&'t self, from: u64, visit: &mut dyn FnMut(&'t [u8], &'t [u8])) -> Option<u64> {
        let directory = self.directory.as_ref()?;
        let position = self.position(from);
        for entry in directory.get(position)?.entries() {
            visit(entry.key(), entry.payload());
        }
        self.next_bucket(from, directory.depth(position))
    }

    /// Like [`Table::scan`] over one bucket, but `keep` gets (key, payload), may change the payload's bytes and says
    /// whether the entry stays.
    pub fn retain_in(&mut self, from: u64, keep: &mut dyn FnMut(&[u8], &mut [u8]) -> bool) -> Option<u64> {
        let position = self.position(from);
        let directory = self.directory.as_mut()?;
        let depth = directory.depth(position);
        let removed = directory.change(position, |bucket| bucket.retain(keep))?;
        let next = self.next_bucket(from, depth);
        if removed > 0 {
            self.shrunk(position, removed as u64);
        }
        next
    }

    /// An entry (key, payload) that the number picks: for random numbers, each entry about as often as any other.
    /// The number may be the one that chose this table by its leading bits.
    pub fn random(&self, random: u64) -> Option<(&[u8], &[u8])> {
        let directory = self.directory.as_ref()?;
        // A bucket's chance is its share of the hashes, which is about its share of the entries.
        let mut position = self.position(random);
        let mut bucket = directory.get(position)?;
        let mut tries = 0;
        while bucket.len() == 0 {
            let depth = directory.depth(position);
            if depth == 0 || tries == DEPTH_MAX {
                return None;
            }
            // The other half of an empty bucket's range has entries, or the two would have merged; and every try
            // looks into a smaller half.
            position ^= 1 << (u64::BITS - depth);
            bucket = directory.get(position)?;
            tries += 1;
        }
        // Any odd number with well mixed bits (here 2^64 / golden ratio) makes the choice independent of the bucket's.
        let mixed = random.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let index = (u128::from(mixed) * bucket.len() as u128) >> u64::BITS;
        bucket.entries().nth(index as usize).map(|entry| (entry.key(), entry.payload()))
    }

    /// Removes about `entries` entries (at least one bucket) and shows each (key, payload) to `dropped`; returns how
    /// many went, 0 when the table is empty. So a giant table can be freed in slices. From the first call on until
    /// it is empty, the table is only good for more of this, for [`Table::clear`] or to be dropped: lookups miss
    /// entries and inserts may be lost.
    pub fn drain_some(&mut self, entries: u64, dropped: &mut dyn FnMut(&[u8], &[u8])) -> u64 {
        let Some(directory) = &mut self.directory else { return 0 };
        let mut gone = 0;
        let left = directory.take_from_end(|bucket| {
            for entry in bucket.entries() {
                dropped(entry.key(), entry.payload());
            }
            gone += bucket.len() as u64;
            gone < entries
        });
        self.len -= gone;
        if !left {
            self.directory = None;
        }
        gone
    }

    /// The leading bits of this decide about the bucket.
    fn position(&self, hash: u64) -> u64 {
        skip(hash, self.skip_bits)
    }

    /// Takes note that entries of the bucket at `position` went.
    fn shrunk(&mut self, position: u64, removed: u64) {
        self.len -= removed;
        if self.len == 0 {
            self.directory = None;
        } else if let Some(directory) = &mut self.directory {
            directory.merge(position);
        }
    }

    /// The first hash behind the bucket that contains `from` and whose positions share `depth` bits.
    fn next_bucket(&self, from: u64, depth: u32) -> Option<u64> {
        let rest_bits = u64::BITS.saturating_sub(self.skip_bits + depth);
        let next = from.checked_shr(rest_bits)?.checked_add(1)?.checked_mul(1u64.checked_shl(rest_bits)?)?;
        let table = |hash: u64| hash.checked_shr(u64::BITS.saturating_sub(self.skip_bits)).unwrap_or(0);
        (table(next) == table(from)).then_some(next)
    }
}

fn skip(hash: u64, skip_bits: u32) -> u64 {
    hash.checked_shl(skip_bits).unwrap_or(0)
}

/// The bits of the hash that the directory never uses.
fn tag(hash: u64) -> u8 {
    hash as u8
}

fn is_full(bucket: &Bucket) -> bool {
    let count = bucket.len();
    count >= BUCKET_ENTRIES_MAX || count >= BUCKET_ENTRIES_FEW && bucket.used_bytes() >= BUCKET_BYTES_MAX
}

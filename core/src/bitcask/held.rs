//! How much memory the keydir takes, and how many keys have an expiry, known at every moment without walking it.
//!
//! Counted are the tables of roots with their keys and short values, the trees of collections with their subkeys and
//! short values, and the maps that find a collection. The tables and trees count their blocks themselves, with what the
//! allocator adds. Not counted are the lists of datafiles and blobs, which have an entry a file, and watched keys, which
//! belong to connections.
//!
//! Each shard adds what has changed to the store's sums while it is still locked, so the sums agree with the shards
//! whenever no shard is locked. A change that takes no more memory, such as most overwrites, costs a few loads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Bitcask;
#[cfg(test)]
use super::keydir::Garbage;
use super::keydir::{Shard, Sums};
use crate::packed::tree::Tree;

/// Bytes for each place of a map from collections to trees: number and tree, and the map's own byte.
const COLLECTION_BYTES: u64 = (size_of::<(u64, Tree)>() + 1) as u64;

/// Bytes for each collection in the map of owners: number and shard, the map's own byte, and the places that are free.
const OWNER_BYTES: u64 = 24;

/// Sums over the shards. On cache lines of their own: every writer that takes memory changes them.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Held {
    all: AtomicU64,
    garbage: AtomicU64,
    expiring: AtomicU64,
}

impl Held {
    /// Adds what a shard has taken, or given back, since it was last counted. To be called before the shard is unlocked.
    #[inline]
    pub(super) fn count(&self, shard: &mut Shard) {
        let now = shard.sums();
        let before = shard.swap_held(now);
        for (sum, now, before) in [
            (&self.all, now.all, before.all),
            (&self.garbage, now.garbage, before.garbage),
            (&self.expiring, now.expiring, before.expiring),
        ] {
            if now != before {
                // Modulo 2^64, so that a smaller number is a subtraction.
                sum.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
            }
        }
    }

    /// Bytes of memory, garbage included.
    pub(super) fn all(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    /// The part that nothing refers to any more and that has yet to be freed.
    pub(super) fn garbage(&self) -> u64 {
        self.garbage.load(Ordering::Relaxed)
    }

    /// Keys with an expiry.
    pub(super) fn expiring(&self) -> u64 {
        self.expiring.load(Ordering::Relaxed)
    }
}

impl Shard {
    /// What it has at this moment.
    #[inline]
    fn sums(&self) -> Sums {
        let (mut roots, mut expiring) = (0, 0);
        for space in &self.spaces {
            roots += space.heap_bytes();
            expiring += space.expiring;
        }
        let places = self.collections.capacity() as u64 * COLLECTION_BYTES;
        let owners = self.collections.len() as u64 * OWNER_BYTES;
        let all = roots + self.tree_bytes + self.garbage_bytes + places + owners;
        Sums { all, garbage: self.garbage_bytes, expiring }
    }

    /// Counts the trees anew, after they were put in without being counted.
    pub(super) fn recount(&mut self) {
        self.tree_bytes = self.collections.values().map(|tree| tree.heap_bytes() as u64).sum();
    }
}

impl Bitcask {
    /// Counts all shards, whose trees were put in without being counted.
    pub(super) fn recount(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.recount();
            self.held.count(&mut shard);
        }
    }
}

#[cfg(test)]
impl Bitcask {
    /// What the sums should be, found by walking everything.
    pub(super) fn held_anew(&self) -> (u64, u64) {
        let mut sums = (0, 0);
        for shard in &self.shards {
            let shard = shard.lock();
            let garbage = shard.garbage.iter().map(|garbage| match garbage {
                Garbage::Collection(_, tree) => tree.heap_bytes() as u64,
                Garbage::Space(space, _) => space.heap_bytes(),
            });
            let garbage: u64 = garbage.sum();
            let trees: u64 = shard.collections.values().map(|tree| tree.heap_bytes() as u64).sum();
            assert_eq!((shard.tree_bytes, shard.garbage_bytes), (trees, garbage));
            let counted = shard.sums();
            sums = (sums.0 + counted.all, sums.1 + counted.garbage);
        }
        sums
    }
}

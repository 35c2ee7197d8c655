//! The hashes of keys with an expiry where these are few among many, so that the `volatile-` policies of eviction find
//! them.
//!
//! Picking keys at random finds one in a million only after a million looks. So once such a policy has met a space in
//! which few keys have an expiry, the space remembers the hashes of these: a walk over the space collects them, in
//! steps, and from then on every change of an expiry is noted. Where they become many the hashes are forgotten again,
//! because then a random look finds one soon. A space that no such policy has looked into pays one branch a change.

use crate::packed::table::{self, Table};

/// So many keys of a space in a shard are few: their hashes take 8 KiB, and one is found among them in some ten nanoseconds.
pub(super) const FEW: u64 = 1024;

/// The hashes that are known.
pub(super) struct Rare {
    hashes: Vec<u64>,
    /// The first hash of the shard.
    begin: u64,
    /// Where the walk that collects the hashes goes on; None once it has seen all keys.
    walk: Option<Walk>,
}

/// A place in a space: first the short keys, then the long ones.
#[derive(Clone, Copy)]
struct Walk {
    from: u64,
    is_long: bool,
}

impl Rare {
    /// None is known yet. `begin` is the first hash of the shard.
    pub(super) fn new(begin: u64) -> Rare {
        Rare { hashes: Vec::new(), begin, walk: Some(Walk { from: begin, is_long: false }) }
    }

    /// Bytes of memory.
    pub(super) fn heap_bytes(&self) -> u64 {
        (size_of::<Rare>() + self.hashes.capacity() * size_of::<u64>()) as u64
    }

    /// The hashes that are known.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// A key has got an expiry; false if there are too many by now.
    pub(super) fn add(&mut self, hash: u64) -> bool {
        if !self.hashes.contains(&hash) {
            self.hashes.push(hash);
        }
        self.hashes.len() as u64 <= FEW
    }

    /// A key has lost its expiry, or is gone.
    pub(super) fn remove(&mut self, hash: u64) {
        if let Some(at) = self.hashes.iter().position(|known| *known == hash) {
            self.hashes.swap_remove(at);
        }
    }

    /// Looks at keys that were not looked at yet, at no more than `budget`, which becomes what is left of it. False if too
    /// many of them have an expiry. `has_expiry` tells that of an entry.
    pub(super) fn go_on(
        &mut self,
        [short, long]: [&Table; 2],
        seed: u64,
        has_expiry: fn(&[u8]) -> bool,
        budget: &mut usize,
    ) -> bool {
        // Where some are known already the others are not urgent.
        let most = if self.hashes.is_empty() { *budget } else { *budget / 8 };
        let (mut left, mut is_few) = (most, true);
        while let Some(walk) = self.walk.filter(|_| left > 0 && is_few) {
            let mut looked = 0;
            let table = if walk.is_long { long } else { short };
            let next = table.look_into(walk.from, &mut |key, bytes| {
                looked += 1;
                if has_expiry(bytes) {
                    is_few &= self.add(table::hash(seed, key));
                }
            });
            left = left.saturating_sub(looked.max(1));
            self.walk = match next {
                Some(from) => Some(Walk { from, ..walk }),
                None => (!walk.is_long).then_some(Walk { from: self.begin, is_long: true }),
            };
        }
        *budget -= most - left;
        is_few
    }
}

//! Keys picked at random for eviction: one shard is looked into, and in it a bucket of each database.
//!
//! A key's shard and bucket follow from its hash, so the keys of one bucket are as good a sample as any. Inside a bucket
//! they stand in the order in which they came, so those that are picked stand far apart. A shard that somebody else has
//! locked is left out: a command that takes long must not hold up those who make room.

use smallvec::SmallVec;

use super::Bitcask;
use super::keydir::{ROOT_EXPIRY, RootEntry, SHARD_BITS, SHARDS, Shard, Space, shard_of};
use super::rare::{FEW, Rare};
use super::snapshot::to_root;
use crate::engine::{Db, Root, Sample, Sampled};
use crate::packed::table::{self, Table};

/// One key in so many with an expiry is rare; of more than that a few hundred looks find enough.
const RARE_PART: u64 = 32;

/// Roots of long keys, whose names are on the disk.
type LongKeys = SmallVec<[RootEntry; 2]>;

/// Where a sample is looked for, and what is left of the budget.
struct Search<'s> {
    sample: &'s Sample,
    looked_left: usize,
    found: usize,
    /// The shard that is looked into, and its seed.
    at: usize,
    seed: u64,
}

impl Bitcask {
    /// The body of [`Engine::sample_keys`](crate::engine::Engine::sample_keys). A key whose name cannot be read is left out.
    pub(super) fn sample(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Sampled {
        let first = shard_of(sample.random);
        let looked_left = sample.looked_max;
        let mut search = Search { sample, looked_left, found: 0, at: first, seed: self.seed };
        let (mut has_shown, mut is_busy) = (false, false);
        for step in 0..SHARDS {
            let at = (first + step) % SHARDS;
            let Some(mut shard) = self.shards[at].try_lock() else {
                is_busy = true;
                continue;
            };
            search.at = at;
            for place in 0..shard.spaces.len() {
                let Some((db, number)) = shard.shown(place) else { continue };
                let mut show = |key: &[u8], entry: &RootEntry| {
                    has_shown = true;
                    visit(db, key, &to_root(entry, at, entry.prefix_len(number, key.len() as u64)));
                };
                let long = search.in_space(&mut shard.spaces[place], &mut show);
                for entry in long {
                    if let Ok(key) = shard.long_key(self, &entry) {
                        show(&key, &entry);
                    }
                }
            }
            if sample.only_expiring {
                self.held.count(&mut shard);
            }
            if search.found >= sample.count || search.looked_left == 0 {
                break;
            }
        }
        match (has_shown, search.looked_left, is_busy) {
            (true, ..) => Sampled::Found,
            (_, 0, _) => Sampled::Searching,
            (.., true) if !sample.only_expiring || self.held.expiring() > 0 => Sampled::Busy,
            _ => Sampled::NoneLeft,
        }
    }
}

impl Shard {
    /// The database that shows the space at a place of `spaces`, and the space's number.
    fn shown(&self, place: usize) -> Option<(Db, u64)> {
        let number = self.spaces.get(place)?.number;
        let db = self.databases.iter().position(|shown| *shown == number)?;
        Some((db as Db, number))
    }
}

impl Search<'_> {
    /// Looks into a space. Shows keys whose names are in memory and returns the roots of others.
    fn in_space(&mut self, space: &mut Space, show: &mut dyn FnMut(&[u8], &RootEntry)) -> LongKeys {
        let mut long = LongKeys::new();
        let len = space.short.len() + space.long.len();
        if len == 0 || self.sample.only_expiring && space.expiring == 0 {
            return long;
        }
        if self.sample.only_expiring && self.of_rare(space, show, &mut long) {
            return long;
        }
        let found = self.of_table(&space.short, self.sample.count, show);
        // Names of long keys are read from the disk: no more of them than their share.
        let draw = self.sample.random.rotate_left(17) % len;
        if found == 0 || draw < space.long.len() {
            self.of_table(&space.long, 1, &mut |_, entry| long.push(*entry));
        }
        long
    }

    /// Shows some of the keys with an expiry, if these are few among many; false if they are not.
    fn of_rare(
        &mut self,
        space: &mut Space,
        show: &mut dyn FnMut(&[u8], &RootEntry),
        long: &mut LongKeys,
    ) -> bool {
        if space.expiring > FEW
            || space.rare.is_none() && space.expiring * RARE_PART >= space.short.len() + space.long.len()
        {
            return false;
        }
        let begin = || Box::new(Rare::new((self.at as u64) << (u64::BITS - SHARD_BITS)));
        let mut rare = space.rare.take().unwrap_or_else(begin);
        if !rare.go_on([&space.short, &space.long], self.seed, has_expiry, &mut self.looked_left) {
            return false;
        }
        for at in spread(self.sample, rare.hashes().len(), self.sample.count) {
            let hash = rare.hashes()[at];
            if let Some((key, entry)) = expiring_by_hash(&space.short, self.seed, hash) {
                self.found += 1;
                show(key, &entry);
            } else if let Some((_, entry)) = expiring_by_hash(&space.long, self.seed, hash) {
                self.found += 1;
                long.push(entry);
            }
        }
        space.rare = Some(rare);
        true
    }

    /// Shows so many keys of a table, about, from a random bucket of the shard on. Returns how many.
    fn of_table(&mut self, table: &Table, count: usize, show: &mut dyn FnMut(&[u8], &RootEntry)) -> usize {
        let shard = (self.at as u64) << (u64::BITS - SHARD_BITS);
        let begin = shard | self.sample.random.rotate_left(29) >> SHARD_BITS;
        let mut wanted = count;
        let (mut from, mut has_turned) = (begin, false);
        while wanted > 0 && self.looked_left > 0 {
            let mut entries: SmallVec<[(&[u8], &[u8]); 64]> = SmallVec::new();
            let mut looked = 0;
            let next = table.look_into(from, &mut |key, bytes| {
                looked += 1;
                if !self.sample.only_expiring || has_expiry(bytes) {
                    entries.push((key, bytes));
                }
            });
            self.looked_left = self.looked_left.saturating_sub(looked.max(1));
            let picked = wanted.min(entries.len());
            for at in spread(self.sample, entries.len(), picked) {
                let (key, bytes) = entries[at];
                if let Some(entry) = RootEntry::read(bytes) {
                    show(key, &entry);
                }
            }
            wanted -= picked;
            from = match next {
                Some(next) if !has_turned || next <= begin => next,
                None if !has_turned => {
                    has_turned = true;
                    shard
                }
                _ => break,
            };
        }
        self.found += count - wanted;
        count - wanted
    }
}

/// Places of so many of `len` things, far apart.
fn spread(sample: &Sample, len: usize, count: usize) -> impl Iterator<Item = usize> {
    let (picked, offset) = (count.min(len), sample.random as usize % len.max(1));
    (0..picked).map(move |nth| (offset + nth * len / picked) % len)
}

/// Whether a root's entry in the table has an expiry.
fn has_expiry(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|flags| flags & ROOT_EXPIRY != 0)
}

/// The entry with an expiry that has this hash.
fn expiring_by_hash(table: &Table, seed: u64, hash: u64) -> Option<(&[u8], RootEntry)> {
    let mut found = None;
    table.look_into(hash, &mut |key, bytes| {
        if has_expiry(bytes) && table::hash(seed, key) == hash {
            found = Some((key, bytes));
        }
    });
    let (key, bytes) = found?;
    Some((key, RootEntry::read(bytes)?))
}

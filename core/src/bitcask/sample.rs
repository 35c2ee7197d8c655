//! Keys picked at random for eviction: one shard is looked into, and in it a bucket of each database.
//!
//! A key's shard and bucket follow from its hash, so the keys of one bucket are as good a sample as any. Inside a bucket
//! they stand in the order in which they came, so those that are picked stand far apart.

use smallvec::SmallVec;

use super::Bitcask;
use super::keydir::{ROOT_EXPIRY, RootEntry, SHARDS, Shard, Space, shard_of};
use super::snapshot::to_root;
use crate::engine::{Db, Result, Root, Sample};
use crate::packed::table::Table;

/// Where a sample is looked for, and what is left of the budget.
struct Search<'s> {
    sample: &'s Sample,
    looked_left: usize,
    found: usize,
}

impl Bitcask {
    /// The body of [`Engine::sample_keys`](crate::engine::Engine::sample_keys).
    pub(super) fn sample(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<bool> {
        let first = shard_of(sample.random);
        let mut search = Search { sample, looked_left: sample.looked_max, found: 0 };
        let mut has_any = false;
        for step in 0..SHARDS {
            let at = (first + step) % SHARDS;
            let mut shard = self.shards[at].lock();
            for place in 0..shard.spaces.len() {
                let Some((db, number)) = shard.shown(place) else { continue };
                let space = &shard.spaces[place];
                let len = space.short.len() + space.long.len();
                if len == 0 || sample.only_expiring && space.expiring == 0 {
                    continue;
                }
                has_any = true;
                search.of_short(space, at, &mut |key, entry| {
                    visit(db, key, &to_root(entry, at, entry.prefix_len(number, key.len() as u64)));
                });
                // Names of long keys are read from the disk: no more of them than their share.
                let draw = sample.random.rotate_left(17) % len;
                if draw < space.long.len()
                    && let Some(entry) = search.of_long(space)
                {
                    let key = shard.long_key(self, &entry)?;
                    visit(db, &key, &to_root(&entry, at, entry.prefix_len(number, key.len() as u64)));
                }
            }
            if search.found >= sample.count || search.looked_left == 0 {
                break;
            }
        }
        Ok(has_any)
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
    /// Whether an entry is among those that are looked for.
    fn wants(&self, bytes: &[u8]) -> bool {
        !self.sample.only_expiring || bytes.first().is_some_and(|flags| flags & ROOT_EXPIRY != 0)
    }

    /// Shows about as many keys as are looked for, from a random bucket of the shard on.
    fn of_short(&mut self, space: &Space, at: usize, visit: &mut dyn FnMut(&[u8], &RootEntry)) {
        let table: &Table = &space.short;
        let shard = (at as u64) << (u64::BITS - super::keydir::SHARD_BITS);
        let begin = shard | self.sample.random.rotate_left(29) >> super::keydir::SHARD_BITS;
        let mut wanted = self.sample.count;
        let (mut from, mut has_turned) = (begin, false);
        while wanted > 0 && self.looked_left > 0 {
            let mut entries: SmallVec<[(&[u8], &[u8]); 64]> = SmallVec::new();
            let mut looked = 0;
            let next = table.look_into(from, &mut |key, bytes| {
                looked += 1;
                if self.wants(bytes) {
                    entries.push((key, bytes));
                }
            });
            self.looked_left = self.looked_left.saturating_sub(looked.max(1));
            let picked = wanted.min(entries.len());
            let offset = self.sample.random as usize % entries.len().max(1);
            for nth in 0..picked {
                let (key, bytes) = entries[(offset + nth * entries.len() / picked) % entries.len()];
                if let Some(entry) = RootEntry::read(bytes) {
                    visit(key, &entry);
                }
            }
            wanted -= picked;
            self.found += picked;
            from = match next {
                Some(next) if !has_turned || next <= begin => next,
                None if !has_turned => {
                    has_turned = true;
                    shard
                }
                _ => break,
            };
        }
    }

    fn of_long(&mut self, space: &Space) -> Option<RootEntry> {
        let (_, bytes) = space.long.random(self.sample.random.rotate_left(41))?;
        if !self.wants(bytes) {
            return None;
        }
        self.found += 1;
        RootEntry::read(bytes)
    }
}

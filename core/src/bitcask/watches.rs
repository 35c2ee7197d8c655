//! Watched keys, with locks of their own: a connection begins and ends to watch a key, and goes, without waiting for the
//! transaction that has the key's shard locked.
//!
//! The promise: once [`Watches::add`] has returned, every commit that changes the key later trips the watch. A commit looks at
//! the number of watches while its shard is locked, behind its append to the log. `add` puts its entry into the list before it
//! counts it and returns. Both accesses to the number are sequentially consistent, so in the one order of all of them either
//! the commit's look stands behind the count, and finds the entry in the list, or it stands before it, and then the
//! commit had its place in the log before `add` returned: it is none that comes later. A read of the key behind `add`
//! waits for that commit's shard and sees what it wrote.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::keydir::{Name, SHARDS, Shard};
use crate::engine::{Db, Watch};

/// The watches of all keys, by their shards.
pub(super) struct Watches(Box<[OfShard]>);

#[derive(Default)]
struct OfShard {
    /// How many entries the list has, or is about to lose.
    count: AtomicUsize,
    list: Mutex<Vec<(Db, Vec<u8>, Watch)>>,
}

impl Default for Watches {
    fn default() -> Watches {
        Watches((0..SHARDS).map(|_| OfShard::default()).collect())
    }
}

impl Watches {
    /// Begins to watch a key of this shard.
    pub(super) fn add(&self, at: usize, (db, key): (Db, &[u8]), watch: &Watch) {
        let of_shard = &self.0[at];
        let mut list = of_shard.list.lock();
        list.push((db, key.to_vec(), watch.clone()));
        of_shard.count.store(list.len(), Ordering::SeqCst);
    }

    /// Ends to watch it.
    pub(super) fn remove(&self, at: usize, (db, key): (Db, &[u8]), watch: &Watch) {
        let of_shard = &self.0[at];
        let mut list = of_shard.list.lock();
        list.retain(|entry| !(entry.0 == db && entry.1 == key && entry.2.is_same(watch)));
        of_shard.count.store(list.len(), Ordering::SeqCst);
    }

    /// Trips the watches of a key that changed. The shard is locked, and the change has its place in the log.
    #[inline]
    pub(super) fn trip(&self, at: usize, db: Db, key: &[u8]) {
        if self.0[at].count.load(Ordering::SeqCst) > 0 {
            self.trip_watched(at, db, key);
        }
    }

    #[cold]
    fn trip_watched(&self, at: usize, db: Db, key: &[u8]) {
        for (watched_db, watched, watch) in &*self.0[at].list.lock() {
            if *watched_db == db && watched == key {
                watch.trip();
            }
        }
    }

    /// Says that a database came to show, or no longer shows, a space: that changes the watched keys the space has in the
    /// shard, which is locked.
    pub(super) fn trip_shown(&self, (at, shard): (usize, &Shard), db: Db, space: u64) {
        for (watched_db, key, watch) in &*self.0[at].list.lock() {
            let name = Name::of(shard.seed, key);
            if *watched_db == db && shard.root(space, &name, name.hash(shard.seed)).is_some() {
                watch.trip();
            }
        }
    }
}

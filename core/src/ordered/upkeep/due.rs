//! Keys whose time has come, for the executor to remove, and keys whose time comes so soon that no hint is written for them.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::super::databases::Databases;
use super::super::names::Space;
use super::noted::Expiring;
use crate::engine::Db;

/// So many keys wait for the executor at most.
const DUE_MAX: usize = 4096;

/// So many keys are remembered for themselves at most.
const SOON_MAX: usize = 64 * 1024;

/// Keys for the executor.
#[derive(Debug, Default)]
pub(super) struct Due {
    queue: VecDeque<(Db, Vec<u8>)>,
    waiting: HashSet<(Db, Vec<u8>)>,
}

impl Due {
    /// Whether no more fit.
    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= DUE_MAX
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds a key unless it waits already.
    pub(super) fn push(&mut self, db: Db, key: Vec<u8>) {
        if !self.is_full() && self.waiting.insert((db, key.clone())) {
            self.queue.push_back((db, key));
        }
    }

    /// Shows up to `budget` keys, which wait no longer; true if there are more.
    pub(super) fn take(&mut self, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> bool {
        for _ in 0..budget {
            let Some(key) = self.queue.pop_front() else { break };
            self.waiting.remove(&key);
            visit(key.0, &key.1);
        }
        !self.queue.is_empty()
    }
}

/// Keys that expire soon and are remembered in memory only.
#[derive(Debug, Default)]
pub(super) struct Soon {
    /// When each of them expires.
    times: HashMap<(Space, Vec<u8>), u64>,
    /// When to look at which key.
    queue: BTreeSet<(u64, Space, Vec<u8>)>,
}

impl Soon {
    /// Whether no more fit.
    pub(super) fn is_full(&self) -> bool {
        self.times.len() >= SOON_MAX
    }

    /// Remembers a key; another time than before replaces the one before.
    pub(super) fn add(&mut self, expiring: Expiring) {
        let Expiring { at_ms, space, key } = expiring;
        match self.times.insert((space, key.clone()), at_ms) {
            // The place in the queue comes first, and then the new time counts.
            Some(before) if before <= at_ms => {}
            Some(before) => {
                self.queue.remove(&(before, space, key.clone()));
                self.queue.insert((at_ms, space, key));
            }
            None => {
                self.queue.insert((at_ms, space, key));
            }
        }
    }

    /// Moves the keys whose time has come to those for the executor.
    pub(super) fn drain(&mut self, now_ms: u64, (databases, count): (&Databases, Db), due: &mut Due) {
        while let Some((at_ms, ..)) = self.queue.first()
            && *at_ms <= now_ms
            && !due.is_full()
        {
            let Some((_, space, key)) = self.queue.pop_first() else { return };
            let name = (space, key);
            match self.times.get(&name).copied() {
                Some(later) if later > now_ms => {
                    let (space, key) = name;
                    self.queue.insert((later, space, key));
                }
                // It was looked at before.
                None => {}
                Some(_) => {
                    self.times.remove(&name);
                    if let Some(db) = databases.database_of(space, count) {
                        due.push(db, name.1);
                    }
                }
            }
        }
    }

    /// Takes all of them.
    pub(super) fn take_all(&mut self) -> Vec<Expiring> {
        self.queue.clear();
        let all = std::mem::take(&mut self.times).into_iter();
        all.map(|((space, key), at_ms)| Expiring { at_ms, space, key }).collect()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(due: &mut Due) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        due.take(u64::MAX, &mut |_, key| keys.push(key.to_vec()));
        keys
    }

    #[test]
    fn key_is_removed_before_its_last_time() {
        let (mut soon, mut due, databases) = (Soon::default(), Due::default(), Databases::default());
        let expiring = |at_ms, key: &[u8]| Expiring { at_ms, space: 1, key: key.to_vec() };
        soon.add(expiring(10, b"later"));
        soon.add(expiring(30, b"later"));
        soon.add(expiring(20, b"sooner"));
        soon.add(expiring(12, b"sooner"));
        let mut at = |now_ms| {
            soon.drain(now_ms, (&databases, 16), &mut due);
            taken(&mut due)
        };
        assert_eq!(at(11), [b""; 0]);
        assert_eq!(at(15), [b"sooner"]);
        assert_eq!(at(29), [b""; 0]);
        assert_eq!(at(31), [b"later"]);
        assert_eq!(soon.len(), 0);
        assert!(soon.queue.is_empty());
    }

    #[test]
    fn key_waits_twice() {
        let mut due = Due::default();
        due.push(0, b"key".to_vec());
        due.push(0, b"key".to_vec());
        due.push(1, b"key".to_vec());
        assert_eq!(taken(&mut due).len(), 2);
        due.push(0, b"key".to_vec());
        assert_eq!(taken(&mut due).len(), 1);
        (0..2 * DUE_MAX).for_each(|number| due.push(0, number.to_le_bytes().to_vec()));
        assert_eq!(taken(&mut due).len(), DUE_MAX);
    }
}

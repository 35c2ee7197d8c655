//! The large collections that this process has seen lately, by the names of their roots: a hint by which what lies beside a
//! root can be asked for in the same round as the root itself.
//!
//! Nothing is trusted: a record from here only tells a run what to want. It may be older than what is in the cluster by now, and
//! the run that has used it is thrown away.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::record::{Record, Subkeys};

/// So many of them are remembered at least, and twice as many at most: some hundred bytes each.
const REMEMBERED: usize = 4096;

/// Roots with longer values of their own, or longer names, are not remembered.
const BYTES_MAX: usize = 512;

/// Records by the names of their roots.
type Records = HashMap<Vec<u8>, Record>;

/// The collections.
#[derive(Debug, Default)]
pub(super) struct SeenTrees {
    halves: Mutex<Halves>,
    /// Whether there are any: most stores have none, and roots cost no lock then.
    has_any: AtomicBool,
}

/// When the younger half is full, it becomes the older one.
#[derive(Debug, Default)]
struct Halves {
    young: Records,
    old: Records,
}

impl SeenTrees {
    /// A root was read.
    pub(super) fn note(&self, name: &[u8], record: Option<&Record>) {
        let tree = record.filter(|record| matches!(record.subkeys, Subkeys::Tree(_)));
        if tree.is_none() && !self.has_any.load(Ordering::Relaxed) {
            return;
        }
        let mut halves = self.halves.lock();
        let Some(record) = tree else {
            halves.young.remove(name);
            halves.old.remove(name);
            return;
        };
        if record.value.byte_count() > BYTES_MAX as u64 || name.len() > BYTES_MAX {
            return;
        }
        if let Some(known) = halves.young.get_mut(name) {
            known.clone_from(record);
            return;
        }
        if halves.young.len() >= REMEMBERED {
            halves.old = std::mem::take(&mut halves.young);
        }
        halves.young.insert(name.to_vec(), record.clone());
        self.has_any.store(true, Ordering::Relaxed);
    }

    /// What the root with this name was when it was seen last, if it was that of a large collection.
    pub(super) fn get(&self, name: &[u8]) -> Option<Record> {
        if !self.has_any.load(Ordering::Relaxed) {
            return None;
        }
        let halves = self.halves.lock();
        halves.young.get(name).or_else(|| halves.old.get(name)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Kind;
    use crate::ordered::names::Home;
    use crate::ordered::record::Value;
    use crate::ordered::runs::Tree;

    fn record(len: u64) -> Record {
        let tree = Tree { len, ..Tree::new(Home { space: 0, slot: 0, number: 1 }) };
        Record {
            stamp: 0,
            kind: Kind::Hash,
            encoding: 0,
            access: 0,
            expires_at_ms: None,
            value: Value::Here(Vec::new()),
            subkeys: Subkeys::Tree(tree),
        }
    }

    #[test]
    fn hints_fill_the_memory_or_stay_when_they_are_wrong() {
        let seen = SeenTrees::default();
        for number in 0..REMEMBERED as u64 * 5 {
            seen.note(&number.to_le_bytes(), Some(&record(number)));
        }
        let halves = seen.halves.lock();
        assert!(halves.young.len() + halves.old.len() <= REMEMBERED * 2);
        drop(halves);
        let last = (REMEMBERED as u64 * 5 - 1).to_le_bytes();
        assert_eq!(seen.get(&last), Some(record(REMEMBERED as u64 * 5 - 1)));
        assert_eq!(seen.get(&0_u64.to_le_bytes()), None);
        seen.note(&last, Some(&record(7)));
        assert_eq!(seen.get(&last), Some(record(7)));
        seen.note(&last, None);
        assert_eq!(seen.get(&last), None);
    }
}

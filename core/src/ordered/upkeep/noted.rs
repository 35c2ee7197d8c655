//! What commits of this process leave for its upkeep, in memory.
//!
//! Nothing here must survive: what is lost, or does not fit, is found by the walk over the store ([`super::sweep`]).

use std::collections::{HashMap, VecDeque};

use super::super::names::{Home, RESERVED, Space};

/// So many keys that expire are noted between two steps of upkeep at most, and so many dropped homes.
const NOTED_MAX: usize = 64 * 1024;

/// The keys that are noted have so many bytes at most.
const NOTED_MAX_BYTES: usize = 16 * 1024 * 1024;

/// A key that expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ordered) struct Expiring {
    /// Unix time in milliseconds.
    pub(in crate::ordered) at_ms: u64,
    pub(in crate::ordered) space: Space,
    pub(in crate::ordered) key: Vec<u8>,
}

/// What commits have left since upkeep last looked.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// When keys expire; of a key the last time that was noted.
    expiring: HashMap<(Space, Vec<u8>), u64>,
    key_bytes: usize,
    dropped: VecDeque<Home>,
    /// How many notes did not fit.
    pub(super) lost: u64,
}

impl Notes {
    /// Adds keys that expire.
    pub(super) fn add_expiring(&mut self, expiring: Vec<Expiring>) {
        for Expiring { at_ms, space, key } in expiring {
            if self.expiring.len() >= NOTED_MAX || self.key_bytes + key.len() > NOTED_MAX_BYTES {
                self.lost += 1;
                continue;
            }
            self.key_bytes += key.len();
            self.expiring.insert((space, key), at_ms);
        }
    }

    /// Adds homes that belong to no root any more, and have a mark that says so.
    pub(super) fn add_dropped(&mut self, dropped: Vec<Home>) {
        // What is in no database has a collector of its own: replies may still be sent from blobs.
        for home in dropped.into_iter().filter(|home| home.space < RESERVED) {
            if self.dropped.len() < NOTED_MAX {
                self.dropped.push_back(home);
            } else {
                self.lost += 1;
            }
        }
    }

    /// Takes the keys that expire.
    pub(super) fn take_expiring(&mut self) -> Vec<Expiring> {
        self.key_bytes = 0;
        let all = std::mem::take(&mut self.expiring).into_iter();
        all.map(|((space, key), at_ms)| Expiring { at_ms, space, key }).collect()
    }

    /// Takes the dropped homes.
    pub(super) fn take_dropped(&mut self) -> VecDeque<Home> {
        std::mem::take(&mut self.dropped)
    }

    /// How many keys wait for a hint.
    pub(super) fn expiring_count(&self) -> usize {
        self.expiring.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_grow_without_end() {
        let mut notes = Notes::default();
        let home = Home { space: 1, slot: 2, number: 3 };
        for at_ms in 0..NOTED_MAX as u64 + 9 {
            let often = Expiring { at_ms, space: 1, key: b"often".to_vec() };
            let once = Expiring { at_ms, space: 1, key: at_ms.to_le_bytes().to_vec() };
            notes.add_expiring(vec![often, once]);
            notes.add_dropped(vec![home]);
        }
        assert_eq!(notes.expiring_count(), NOTED_MAX);
        assert_eq!(notes.take_dropped().len(), NOTED_MAX);
        assert!(notes.lost >= 18, "{} were lost", notes.lost);
        assert_eq!((notes.take_expiring().len(), notes.key_bytes), (NOTED_MAX, 0));
    }
}

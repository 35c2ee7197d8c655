//! The names of everything in the cluster: where a key's root and the data of its collection lie.
//!
//! ```text
//! length of the store's name, name | space 4 | slot 2 | 0 | hash 4 | key             the root of a key
//! length of the store's name, name | space 4 | slot 2 | 1 | home 8 | level | subkey  its data
//! length of the store's name, name | space 4 | slot 2 | 2 | home 8                   data here of a root that is elsewhere
//! length of the store's name, name | space 4 | slot 2 | 3 | home 8                   data here of no root, to be collected
//! length of the store's name, name | ffffffff | letter | ...                         what is about the store itself
//! ```
//!
//! Numbers are big-endian. A *space* is what a logical database shows; emptying a database gives it another space. The *slot* is
//! that of Redis Cluster, so keys with a common `{tag}` are neighbours, and a transaction over them is mostly one write to
//! one region. A *home* is a number that is used once, so what a key was before and what it is now never mix.

use crc::{CRC_16_XMODEM, Crc};
use xxhash_rust::xxh3::xxh3_64;

/// What a logical database shows, by its number in the cluster.
pub(super) type Space = u32;

/// The space of what is about the store itself.
const STORE: Space = Space::MAX;

/// The slots of Redis Cluster.
pub(super) const SLOTS: u16 = 16_384;

const ROOT: u8 = 0;
const DATA: u8 = 1;
const ELSEWHERE: u8 = 2;
const DROPPED: u8 = 3;

/// The level of the entries of a collection.
pub(super) const ENTRIES: u8 = 0;

/// The level of the pieces of a long value.
pub(super) const PIECES: u8 = 254;

static SLOT: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// Where the data of a collection or of a long value lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Home {
    /// The space of the key for which it was made.
    pub(super) space: Space,
    /// The slot of that key.
    pub(super) slot: u16,
    /// A number that is used once.
    pub(super) number: u64,
}

/// The names in one store.
#[derive(Clone, Debug)]
pub(super) struct Names {
    prefix: Vec<u8>,
}

/// Where a root is found by a walk over a space: 46 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) slot: u16,
    pub(super) hash: u32,
}

/// The slot of a key: of the part between the first `{` and the `}` behind it, if there is any.
pub(super) fn slot_of(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = key.get(open + 1..)?;
        let close = rest.iter().position(|byte| *byte == b'}')?;
        rest.get(..close).filter(|tag| !tag.is_empty())
    });
    SLOT.checksum(tag.unwrap_or(key)) % SLOTS
}

fn hash_of(key: &[u8]) -> u32 {
    // The upper half, any of them would do.
    (xxh3_64(key) >> 32) as u32
}

impl Names {
    /// Those of the store with this name, which is at most 255 bytes long.
    pub(super) fn of(store: &[u8]) -> Names {
        let store = store.get(..usize::from(u8::MAX)).unwrap_or(store);
        let mut prefix = vec![store.len() as u8];
        prefix.extend_from_slice(store);
        Names { prefix }
    }

    fn begin(&self, space: Space, more: usize) -> Vec<u8> {
        let mut name = Vec::with_capacity(self.prefix.len() + 4 + more);
        name.extend_from_slice(&self.prefix);
        name.extend_from_slice(&space.to_be_bytes());
        name
    }

    fn in_slot(&self, space: Space, slot: u16, what: u8, more: usize) -> Vec<u8> {
        let mut name = self.begin(space, 3 + more);
        name.extend_from_slice(&slot.to_be_bytes());
        name.push(what);
        name
    }

    /// The root of a key.
    pub(super) fn root(&self, space: Space, key: &[u8]) -> Vec<u8> {
        let mut name = self.in_slot(space, slot_of(key), ROOT, 4 + key.len());
        name.extend_from_slice(&hash_of(key).to_be_bytes());
        name.extend_from_slice(key);
        name
    }

    /// The beginning of the roots of a space from a place on.
    pub(super) fn roots_from(&self, space: Space, place: Place) -> Vec<u8> {
        let mut name = self.in_slot(space, place.slot, ROOT, 4);
        name.extend_from_slice(&place.hash.to_be_bytes());
        name
    }

    /// A space from its beginning to its end.
    pub(super) fn space(&self, space: Space) -> (Vec<u8>, Vec<u8>) {
        (self.begin(space, 0), self.begin(space.saturating_add(1), 0))
    }

    /// What a name within a space is: the place of a root with its key, or the slot that something else is in.
    pub(super) fn read<'n>(&self, name: &'n [u8]) -> Option<Named<'n>> {
        let rest = name.get(self.prefix.len() + 4..)?;
        let (slot, rest) = rest.split_first_chunk()?;
        let (what, rest) = rest.split_first()?;
        let slot = u16::from_be_bytes(*slot);
        if *what != ROOT {
            return Some(Named::Other(slot));
        }
        let (hash, key) = rest.split_first_chunk()?;
        Some(Named::Root(Place { slot, hash: u32::from_be_bytes(*hash) }, key))
    }

    /// The place of a key.
    #[cfg(test)]
    pub(super) fn place(key: &[u8]) -> Place {
        Place { slot: slot_of(key), hash: hash_of(key) }
    }

    /// All data of a home.
    #[cfg(test)]
    pub(super) fn data(&self, home: Home) -> (Vec<u8>, Vec<u8>) {
        let mut from = self.in_slot(home.space, home.slot, DATA, 9);
        let mut to = from.clone();
        from.extend_from_slice(&home.number.to_be_bytes());
        to.extend_from_slice(&home.number.saturating_add(1).to_be_bytes());
        (from, to)
    }

    /// One entry of a level of a home; also the beginning of those from there on.
    pub(super) fn entry(&self, home: Home, level: u8, subkey: &[u8]) -> Vec<u8> {
        let mut name = self.in_slot(home.space, home.slot, DATA, 9 + subkey.len());
        name.extend_from_slice(&home.number.to_be_bytes());
        name.push(level);
        name.extend_from_slice(subkey);
        name
    }

    /// How many bytes of the name of an entry stand before its subkey.
    pub(super) fn entry_prefix_len(&self) -> usize {
        self.prefix.len() + 4 + 2 + 1 + 8 + 1
    }

    /// The mark that the data of a home belongs to a root elsewhere.
    pub(super) fn elsewhere(&self, home: Home) -> Vec<u8> {
        self.mark(home, ELSEWHERE)
    }

    /// The mark that the data of a home belongs to no root any more.
    pub(super) fn dropped(&self, home: Home) -> Vec<u8> {
        self.mark(home, DROPPED)
    }

    fn mark(&self, home: Home, what: u8) -> Vec<u8> {
        let mut name = self.in_slot(home.space, home.slot, what, 8);
        name.extend_from_slice(&home.number.to_be_bytes());
        name
    }

    /// Which space each database shows.
    pub(super) fn databases(&self) -> Vec<u8> {
        self.of_store(b'd', &[])
    }

    /// A space that no database shows any more.
    pub(super) fn dropped_space(&self, space: Space) -> Vec<u8> {
        self.of_store(b'f', &space.to_be_bytes())
    }

    /// What only processes of the store know.
    pub(super) fn secret(&self) -> Vec<u8> {
        self.of_store(b'k', &[])
    }

    /// The record of a process that serves the store.
    pub(super) fn member(&self, process: u32) -> Vec<u8> {
        self.of_store(b'm', &process.to_be_bytes())
    }

    /// The records of all processes that serve the store.
    pub(super) fn members(&self) -> (Vec<u8>, Vec<u8>) {
        (self.of_store(b'm', &[]), self.of_store(b'm' + 1, &[]))
    }

    /// The process that has this record.
    pub(super) fn process_of(&self, name: &[u8]) -> Option<u32> {
        let number = name.get(self.prefix.len() + 4 + 1..)?;
        Some(u32::from_be_bytes(number.try_into().ok()?))
    }

    /// How many processes have had a number.
    pub(super) fn processes(&self) -> Vec<u8> {
        self.of_store(b'p', &[])
    }

    fn of_store(&self, letter: u8, rest: &[u8]) -> Vec<u8> {
        let mut name = self.begin(STORE, 1 + rest.len());
        name.push(letter);
        name.extend_from_slice(rest);
        name
    }
}

/// What a name within a space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named<'n> {
    /// The root of this key.
    Root(Place, &'n [u8]),
    /// Something else in this slot.
    Other(u16),
}

impl Place {
    /// As a cursor: below 2^46.
    pub(super) fn cursor(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.hash)
    }

    /// The place of a cursor; None beyond the last one.
    pub(super) fn of_cursor(cursor: u64) -> Option<Place> {
        let slot = u16::try_from(cursor >> 32).ok().filter(|slot| *slot < SLOTS)?;
        Some(Place { slot, hash: cursor as u32 })
    }

    /// The next one; None behind the last one.
    pub(super) fn next(self) -> Option<Place> {
        Place::of_cursor(self.cursor() + 1)
    }

    /// The first one of the next slot; None behind the last one.
    pub(super) fn next_slot(slot: u16) -> Option<Place> {
        Place::of_cursor((u64::from(slot) + 1) << 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_is_not_that_of_redis_cluster() {
        for (key, slot) in [
            (&b"123456789"[..], 12_739),
            (b"foo", 12_182),
            (b"{foo}.bar", 12_182),
            (b"a{}b", SLOT.checksum(b"a{}b") % SLOTS),
            (b"{{bar}}zap", SLOT.checksum(b"{bar") % SLOTS),
        ] {
            assert_eq!(slot_of(key), slot, "{}", key.escape_ascii());
        }
    }

    #[test]
    fn names_of_one_thing_lie_among_those_of_another() {
        let names = Names::of(b"store");
        let home = Home { space: 7, slot: slot_of(b"key"), number: 9 };
        let (from, to) = names.data(home);
        for name in [names.entry(home, 0, b""), names.entry(home, PIECES, &[255; 40])] {
            assert!(from <= name && name < to);
        }
        let root = names.root(7, b"key");
        assert!(root < from);
        assert_eq!(names.read(&root), Some(Named::Root(Names::place(b"key"), b"key")));
        assert_eq!(names.read(&from), Some(Named::Other(home.slot)));
        let (begin, end) = names.space(7);
        assert!(begin < root && to < end && names.elsewhere(home) < end && names.elsewhere(home) > to);
        assert!(names.databases() > names.space(Space::MAX - 1).0);
        assert!(!names.databases().starts_with(&Names::of(b"stor").prefix));
    }

    #[test]
    fn cursor_does_not_come_back() {
        for place in [Place { slot: 0, hash: 0 }, Place { slot: SLOTS - 1, hash: u32::MAX }] {
            assert_eq!(Place::of_cursor(place.cursor()), Some(place));
            assert!(place.cursor() < 1 << 46);
        }
        assert_eq!(Place { slot: SLOTS - 1, hash: u32::MAX }.next(), None);
        assert_eq!(Place { slot: 3, hash: u32::MAX }.next(), Some(Place { slot: 4, hash: 0 }));
        assert_eq!(Place::next_slot(SLOTS - 1), None);
    }
}

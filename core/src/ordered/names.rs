//! The names of everything in the cluster: where a key's root and the data of its collection lie.
//!
//! ```text
//! length of the store's name, name | space 4 | slot 2 | 0 | hash 4 | key             the root of a key
//! length of the store's name, name | space 4 | slot 2 | 1 | home 8 | level | subkey  its data
//! length of the store's name, name | space 4 | slot 2 | 3 | home 8                   data here of no root, to be collected
//! length of the store's name, name | space 4 | slot 2 | 4 | home 8                   a blob that is being written
//! length of the store's name, name | ffffffff | letter | ...                         what is about the store itself:
//!                                                d                                   what the databases show
//!                                                e | space 4 | slot 2 | home 8       data there of a root that is elsewhere
//!                                                f | space 4                         a space that no database shows any more
//!                                                g                                   who looks after the whole store
//!                                                k                                   what only processes of the store know
//!                                                m | process 4                       a process that serves the store
//!                                                p                                   how many processes have had a number
//!                                                s                                   how far the walk over the store is
//!                                                t | part 1 | time 8 | space 4 | slot 2 | hash 4    a key that will expire
//! ```
//!
//! Numbers are big-endian. A *space* is what a logical database shows; emptying a database gives it another space. The *slot* is
//! that of Redis Cluster, so keys with a common `{tag}` are neighbours, and a transaction over them is mostly one write to
//! one region. A *home* is a number that is used once, so what a key was before and what it is now never mix. Blobs
//! ([`super::blobs`]) have a space of their own, in which everything is in slot 0.

use crc::{CRC_16_XMODEM, Crc};
use xxhash_rust::xxh3::xxh3_64;

use crate::storage::BlobId;

/// What a logical database shows, by its number in the cluster.
pub(super) type Space = u32;

/// The space of what is about the store itself.
const STORE: Space = Space::MAX;

/// Spaces from here on belong to no database.
pub(super) const RESERVED: Space = Space::MAX - 15;

/// The space of blobs.
const BLOBS: Space = Space::MAX - 1;

/// The slots of Redis Cluster.
pub(super) const SLOTS: u16 = 16_384;

const ROOT: u8 = 0;
const DATA: u8 = 1;
const DROPPED: u8 = 3;
const DRAFTED: u8 = 4;

/// The index of keys that expire has so many parts, so that several processes go through it at once.
pub(super) const HINT_PARTS: u8 = 8;

/// From a name up to another one.
pub(super) type Range = (Vec<u8>, Vec<u8>);

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

impl Home {
    /// Whether it is that of a blob.
    #[cfg(test)]
    pub(super) fn is_blob(self) -> bool {
        self.space == BLOBS
    }
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
    pub(super) fn place(key: &[u8]) -> Place {
        Place { slot: slot_of(key), hash: hash_of(key) }
    }

    /// All data of a home.
    pub(super) fn data(&self, home: Home) -> Range {
        self.data_between((home.space, home.slot), (home.number, home.number.checked_add(1)))
    }

    /// The data of the homes of a slot with numbers from one up to another, or to the last.
    pub(super) fn data_between(&self, (space, slot): (Space, u16), (from, to): (u64, Option<u64>)) -> Range {
        let name = |number: u64| {
            let mut name = self.in_slot(space, slot, DATA, 8);
            name.extend_from_slice(&number.to_be_bytes());
            name
        };
        (name(from), to.map_or_else(|| self.in_slot(space, slot, DATA + 1, 0), name))
    }

    /// All roots of a slot.
    pub(super) fn roots(&self, space: Space, slot: u16) -> Range {
        self.all_in_slot(space, slot, ROOT)
    }

    fn all_in_slot(&self, space: Space, slot: u16, what: u8) -> Range {
        (self.in_slot(space, slot, what, 0), self.in_slot(space, slot, what + 1, 0))
    }

    /// The slots of a space from one up to another, or to the last.
    pub(super) fn slots(&self, space: Space, from: u16, to: u16) -> Range {
        let begin = |slot| self.in_slot(space, slot, ROOT, 0);
        (begin(from), if to < SLOTS { begin(to) } else { self.space(space).1 })
    }

    /// The home of an entry, or of the mark that its data is to be collected.
    pub(super) fn read_home(&self, name: &[u8]) -> Option<Home> {
        let rest = name.get(self.prefix.len()..)?;
        let (space, rest) = rest.split_first_chunk()?;
        let (slot, rest) = rest.split_first_chunk()?;
        let (what, rest) = rest.split_first()?;
        let (number, _) = rest.split_first_chunk()?;
        let home = Home {
            space: Space::from_be_bytes(*space),
            slot: u16::from_be_bytes(*slot),
            number: u64::from_be_bytes(*number),
        };
        matches!(*what, DATA | DROPPED).then_some(home)
    }

    /// The space that a name is in.
    pub(super) fn read_space(&self, name: &[u8]) -> Option<Space> {
        let (space, _) = name.get(self.prefix.len()..)?.split_first_chunk()?;
        Some(Space::from_be_bytes(*space))
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

    /// The mark that the data of a home belongs to no root any more.
    pub(super) fn dropped(&self, home: Home) -> Vec<u8> {
        self.mark(home, DROPPED)
    }

    fn mark(&self, home: Home, what: u8) -> Vec<u8> {
        let mut name = self.in_slot(home.space, home.slot, what, 8);
        name.extend_from_slice(&home.number.to_be_bytes());
        name
    }

    /// The mark that a blob is being written, and that no root refers to it yet.
    pub(super) fn drafted(&self, home: Home) -> Vec<u8> {
        self.mark(home, DRAFTED)
    }

    /// The home of a blob.
    pub(super) fn blob(id: BlobId) -> Home {
        Home { space: BLOBS, slot: 0, number: id.0 }
    }

    /// A piece of a long value, by its number.
    pub(super) fn piece(&self, home: Home, number: u64) -> Vec<u8> {
        self.entry(home, PIECES, &number.to_be_bytes())
    }

    /// The marks of blobs that are being written.
    pub(super) fn drafted_blobs(&self) -> Range {
        self.all_in_slot(BLOBS, 0, DRAFTED)
    }

    /// The marks of blobs that no root refers to any more.
    pub(super) fn dropped_blobs(&self) -> Range {
        self.dropped_in(BLOBS, 0)
    }

    /// The marks of blobs that are values; each names the root.
    pub(super) fn elsewhere_blobs(&self) -> Range {
        self.elsewhere_in(BLOBS, 0, 1)
    }

    /// Whether it is the name of something of a blob.
    #[cfg(test)]
    pub(super) fn is_of_blob(&self, name: &[u8]) -> bool {
        self.read_space(name) == Some(BLOBS) || self.read_elsewhere(name).is_some_and(Home::is_blob)
    }

    /// The number of the home that a mark is about.
    pub(super) fn number_of_mark(name: &[u8]) -> Option<u64> {
        name.last_chunk().map(|number| u64::from_be_bytes(*number))
    }

    /// The homes of which these changes say so.
    pub(super) fn dropped_by(&self, changes: &[(Vec<u8>, Option<Vec<u8>>)]) -> Vec<Home> {
        let at = self.prefix.len() + 4 + 2;
        let marks = changes.iter().filter(|(name, value)| value.is_some() && name.get(at) == Some(&DROPPED));
        marks
            .filter_map(|(name, _)| self.read_home(name).filter(|home| self.dropped(*home) == *name))
            .collect()
    }

    /// All these marks of a slot.
    pub(super) fn dropped_in(&self, space: Space, slot: u16) -> Range {
        self.all_in_slot(space, slot, DROPPED)
    }

    /// The mark that the data of a home belongs to a root elsewhere; its value is the name of that root.
    pub(super) fn elsewhere(&self, home: Home) -> Vec<u8> {
        let mut name = self.elsewhere_from(home.space, home.slot);
        name.extend_from_slice(&home.number.to_be_bytes());
        name
    }

    fn elsewhere_from(&self, space: Space, slot: u16) -> Vec<u8> {
        let mut name = self.of_store(b'e', &space.to_be_bytes());
        name.extend_from_slice(&slot.to_be_bytes());
        name
    }

    /// These marks of the slots of a space from one up to another.
    pub(super) fn elsewhere_in(&self, space: Space, from: u16, to: u16) -> Range {
        (self.elsewhere_from(space, from), self.elsewhere_from(space, to))
    }

    /// The home that such a mark is about.
    pub(super) fn read_elsewhere(&self, name: &[u8]) -> Option<Home> {
        let rest = name.get(self.prefix.len() + 5..)?;
        let (space, rest) = rest.split_first_chunk()?;
        let (slot, rest) = rest.split_first_chunk()?;
        Some(Home {
            space: Space::from_be_bytes(*space),
            slot: u16::from_be_bytes(*slot),
            number: u64::from_be_bytes(rest.try_into().ok()?),
        })
    }

    /// The hint that a key will expire at a time, in the part of the index that it belongs to; its value is the key.
    pub(super) fn hint(&self, at_ms: u64, space: Space, key: &[u8]) -> Vec<u8> {
        let place = Names::place(key);
        let mut name = self.of_store(b't', &[(place.slot % u16::from(HINT_PARTS)) as u8]);
        name.extend_from_slice(&at_ms.to_be_bytes());
        name.extend_from_slice(&space.to_be_bytes());
        name.extend_from_slice(&place.slot.to_be_bytes());
        name.extend_from_slice(&place.hash.to_be_bytes());
        name
    }

    /// The hints of a part for times from one up to and with another.
    pub(super) fn hints(&self, part: u8, from_ms: u64, to_ms: u64) -> Range {
        let begin = |at_ms: u64| {
            let mut name = self.of_store(b't', &[part]);
            name.extend_from_slice(&at_ms.to_be_bytes());
            name
        };
        (begin(from_ms), begin(to_ms.saturating_add(1)))
    }

    /// The time and the space of a hint.
    pub(super) fn read_hint(&self, name: &[u8]) -> Option<(u64, Space)> {
        let rest = name.get(self.prefix.len() + 6..)?;
        let (at_ms, rest) = rest.split_first_chunk()?;
        let (space, _) = rest.split_first_chunk()?;
        Some((u64::from_be_bytes(*at_ms), Space::from_be_bytes(*space)))
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
    pub(super) fn members(&self) -> Range {
        (self.of_store(b'm', &[]), self.of_store(b'm' + 1, &[]))
    }

    /// The process that has this record.
    pub(super) fn process_of(&self, name: &[u8]) -> Option<u32> {
        let number = name.get(self.prefix.len() + 4 + 1..)?;
        Some(u32::from_be_bytes(number.try_into().ok()?))
    }

    /// All spaces that no database shows any more.
    pub(super) fn dropped_spaces(&self) -> Range {
        (self.of_store(b'f', &[]), self.of_store(b'f' + 1, &[]))
    }

    /// The space that a mark of a dropped one is about.
    pub(super) fn read_dropped_space(&self, name: &[u8]) -> Option<Space> {
        let rest = name.get(self.prefix.len() + 5..)?;
        Some(Space::from_be_bytes(rest.try_into().ok()?))
    }

    /// Which process looks after the whole store.
    pub(super) fn lease(&self) -> Vec<u8> {
        self.of_store(b'g', &[])
    }

    /// How far the walk over the store is.
    pub(super) fn swept(&self) -> Vec<u8> {
        self.of_store(b's', &[])
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
        assert!(begin < root && to < end && names.dropped(home) < end && names.dropped(home) > to);
        assert_eq!([names.read_home(&from), names.read_home(&names.dropped(home))], [Some(home); 2]);
        assert_eq!(names.read_home(&root), None);
        assert_eq!(names.read_space(&root), Some(7));
        assert!(names.databases() > names.space(Space::MAX - 1).0);
        assert!(!names.databases().starts_with(&Names::of(b"stor").prefix));
    }

    #[test]
    fn mark_is_read_as_another_one() {
        let names = Names::of(b"store");
        let home = Home { space: 7, slot: 16_383, number: u64::MAX };
        assert_eq!(names.read_elsewhere(&names.elsewhere(home)), Some(home));
        let (from, to) = names.elsewhere_in(7, home.slot, home.slot + 1);
        assert!(from < names.elsewhere(home) && names.elsewhere(home) < to);
        assert_eq!(names.read_dropped_space(&names.dropped_space(9)), Some(9));
        let hint = names.hint(1234, 7, b"key");
        assert_eq!(names.read_hint(&hint), Some((1234, 7)));
        let part = (slot_of(b"key") % u16::from(HINT_PARTS)) as u8;
        let covers = |from_ms, to_ms| {
            let (from, to) = names.hints(part, from_ms, to_ms);
            from <= hint && hint < to
        };
        assert!(covers(0, 1234) && covers(1234, 1234) && !covers(0, 1233) && !covers(1235, 9999));
        let (from, to) = names.slots(7, 5, SLOTS);
        assert!(from < names.dropped(home) && names.dropped(home) < to);
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

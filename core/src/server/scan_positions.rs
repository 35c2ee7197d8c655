//! Where unfinished walks over subkeys stand: one table a server.
//!
//! A position's ticket is a hash of it, or one of the numbers behind that where others have it: so those that a home kept over a
//! sleep are found under the tickets they had, whatever was remembered meanwhile.

use std::collections::{BTreeMap, VecDeque};

use crate::limits::{SCAN_POSITION_MAX_BYTES, SCAN_POSITIONS_MAX, SCAN_POSITIONS_MAX_BYTES};

/// Tells positions apart in a cursor.
pub type Ticket = u32;

/// Bits of a cursor that hold the ticket of its position; the rank stands above.
pub(crate) const TICKET_BITS: u32 = 20;

/// Tickets go from 1 to this; 0 is a cursor without a position.
pub(crate) const TICKET_MAX: Ticket = (1 << TICKET_BITS) - 1;

const _: () = assert!(SCAN_POSITIONS_MAX < TICKET_MAX as usize / 2, "a free ticket is to be found soon");

/// Bytes of a frozen position before those of its subkey.
const FROZEN_HEAD_BYTES: usize = 4 + 8 + 4 + 4;

/// Tells walks over different keys apart. A hash is enough: a collision could only make a walk go on at the position of
/// another one that has the same ticket and rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalkId(u64);

impl WalkId {
    pub(crate) fn of(db: u32, key: &[u8]) -> WalkId {
        WalkId(xxhash_rust::xxh3::xxh3_64_with_seed(key, u64::from(db)))
    }
}

/// Where unfinished walks over subkeys stand.
#[derive(Debug, Default)]
pub struct Positions {
    entries: BTreeMap<Ticket, Kept>,
    /// Tickets as they were given, the oldest first, each with the number of its giving.
    given: VecDeque<(Ticket, u64)>,
    next_giving: u64,
    subkeys_bytes: usize,
}

/// A position that is to be remembered once its transaction is committed.
#[derive(Debug)]
pub struct Position {
    ticket: Ticket,
    walk: WalkId,
    rank: u32,
    next: Box<[u8]>,
}

impl Position {
    /// The ticket under which it will be found; 0 if it is too long to be kept.
    pub fn ticket(&self) -> Ticket {
        self.ticket
    }
}

#[derive(Debug)]
struct Kept {
    walk: WalkId,
    rank: u32,
    next: Box<[u8]>,
    /// Number of the last giving of its ticket.
    giving: u64,
}

impl Kept {
    fn is(&self, walk: WalkId, rank: u32) -> bool {
        self.walk == walk && self.rank == rank
    }
}

impl Positions {
    /// The subkey at which a walk goes on, with the ticket that is free for it now.
    pub(crate) fn position(&self, walk: WalkId, rank: u32, next: &[u8]) -> Position {
        if next.len() > SCAN_POSITION_MAX_BYTES {
            return Position { ticket: 0, walk, rank, next: Box::default() };
        }
        let seed = walk.0 ^ u64::from(rank);
        let mut ticket = xxhash_rust::xxh3::xxh3_64_with_seed(next, seed) as Ticket % TICKET_MAX + 1;
        while self.entries.get(&ticket).is_some_and(|other| !other.is(walk, rank) || *other.next != *next) {
            ticket = ticket % TICKET_MAX + 1;
        }
        Position { ticket, walk, rank, next: next.into() }
    }

    /// Remembers a position. If another walk took its ticket meanwhile, the walk goes on by its rank.
    pub(crate) fn keep(&mut self, position: Position) {
        let Position { ticket, walk, rank, next } = position;
        let is_taken =
            self.entries.get(&ticket).is_some_and(|kept| !kept.is(walk, rank) || *kept.next != *next);
        if ticket != 0 && !is_taken {
            self.put(ticket, walk, rank, &next);
        }
    }

    fn put(&mut self, ticket: Ticket, walk: WalkId, rank: u32, next: &[u8]) {
        let giving = self.next_giving;
        self.next_giving += 1;
        self.given.push_back((ticket, giving));
        self.subkeys_bytes += next.len();
        if let Some(before) = self.entries.insert(ticket, Kept { walk, rank, next: next.into(), giving }) {
            self.subkeys_bytes -= before.next.len();
        }
        while self.given.len() > SCAN_POSITIONS_MAX || self.subkeys_bytes > SCAN_POSITIONS_MAX_BYTES {
            let Some((oldest, giving)) = self.given.pop_front() else { break };
            if self.entries.get(&oldest).is_some_and(|position| position.giving == giving)
                && let Some(position) = self.entries.remove(&oldest)
            {
                self.subkeys_bytes -= position.next.len();
            }
        }
    }

    /// The subkey under a ticket, if it is remembered and belongs to this walk at this rank.
    pub(crate) fn find(&self, ticket: Ticket, walk: WalkId, rank: u32) -> Option<&[u8]> {
        let position = self.entries.get(&ticket)?;
        position.is(walk, rank).then_some(&*position.next)
    }

    /// The positions under these tickets, as many of the first ones as fit into so many bytes:
    ///
    /// ```text
    ///  ticket u32 | walk u64 | rank u32 | length of the subkey u32 | the subkey        all little-endian
    /// ```
    pub fn freeze(&self, tickets: impl Iterator<Item = Ticket>, max_bytes: usize) -> Vec<u8> {
        let mut frozen = Vec::new();
        for ticket in tickets {
            let Some(position) = self.entries.get(&ticket) else { continue };
            if frozen.len() + FROZEN_HEAD_BYTES + position.next.len() > max_bytes {
                continue;
            }
            frozen.extend_from_slice(&ticket.to_le_bytes());
            frozen.extend_from_slice(&position.walk.0.to_le_bytes());
            frozen.extend_from_slice(&position.rank.to_le_bytes());
            // At most SCAN_POSITION_MAX_BYTES.
            frozen.extend_from_slice(&(position.next.len() as u32).to_le_bytes());
            frozen.extend_from_slice(&position.next);
        }
        frozen
    }

    /// The tickets that were given last, the latest first.
    pub fn latest(&self) -> impl Iterator<Item = Ticket> + '_ {
        let is_last = |(ticket, giving): &&(Ticket, u64)| {
            self.entries.get(ticket).is_some_and(|position| position.giving == *giving)
        };
        self.given.iter().rev().filter(is_last).map(|(ticket, _)| *ticket)
    }

    /// Has frozen positions back under their tickets, and gives these. What is no frozen position ends it.
    pub fn thaw(&mut self, mut frozen: &[u8]) -> Vec<Ticket> {
        let positions: Vec<_> = std::iter::from_fn(|| thaw_one(&mut frozen)).collect();
        // The latest stands first, and is to be forgotten last.
        for (ticket, walk, rank, next) in positions.iter().rev() {
            self.put(*ticket, *walk, *rank, next);
        }
        positions.iter().map(|(ticket, ..)| *ticket).collect()
    }
}

fn thaw_one<'f>(frozen: &mut &'f [u8]) -> Option<(Ticket, WalkId, u32, &'f [u8])> {
    let ticket = u32::from_le_bytes(take(frozen)?);
    let walk = WalkId(u64::from_le_bytes(take(frozen)?));
    let rank = u32::from_le_bytes(take(frozen)?);
    let len = u32::from_le_bytes(take(frozen)?);
    let next = frozen.split_off(..usize::try_from(len).ok()?)?;
    let is_sound = (1..=TICKET_MAX).contains(&ticket) && next.len() <= SCAN_POSITION_MAX_BYTES;
    is_sound.then_some((ticket, walk, rank, next))
}

fn take<const COUNT: usize>(from: &mut &[u8]) -> Option<[u8; COUNT]> {
    let (taken, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Positions {
        fn remember(&mut self, walk: WalkId, rank: u32, next: &[u8]) -> Ticket {
            let position = self.position(walk, rank, next);
            let ticket = position.ticket();
            self.keep(position);
            ticket
        }
    }

    #[test]
    fn position_found_under_a_wrong_ticket() {
        let mut positions = Positions::default();
        let walk = WalkId::of(0, b"key");
        let mut given = VecDeque::new();
        for step in 0..TICKET_MAX + 5000 {
            let ticket = positions.remember(walk, step, &step.to_le_bytes());
            assert!((1..=TICKET_MAX).contains(&ticket));
            given.push_back((ticket, step));
            if step % 4999 == 0 {
                given.drain(..given.len().saturating_sub(SCAN_POSITIONS_MAX));
                for (ticket, step) in given.iter().copied().step_by(97) {
                    let found = positions.find(ticket, walk, step);
                    assert_eq!(found, Some(step.to_le_bytes().as_slice()), "ticket {ticket}");
                }
            }
        }
        let (ticket, step) = given.pop_back().expect("the last one");
        assert_eq!(positions.find(ticket, WalkId::of(1, b"key"), step), None);
        assert_eq!(positions.find(ticket, walk, step + 1), None);
        assert_eq!(positions.find(0, walk, step), None);
    }

    #[test]
    fn positions_fill_the_memory() {
        let mut positions = Positions::default();
        let walk = WalkId::of(0, b"key");
        assert_eq!(positions.remember(walk, 1, &vec![0; SCAN_POSITION_MAX_BYTES + 1]), 0);
        for step in 0..1000 {
            let ticket = positions.remember(walk, step, &vec![1; SCAN_POSITION_MAX_BYTES]);
            assert_eq!(positions.find(ticket, walk, step).map(<[u8]>::len), Some(SCAN_POSITION_MAX_BYTES));
        }
        assert!(positions.subkeys_bytes <= SCAN_POSITIONS_MAX_BYTES);
        assert_eq!(positions.entries.len(), SCAN_POSITIONS_MAX_BYTES / SCAN_POSITION_MAX_BYTES);
    }

    #[test]
    fn same_position_again_is_forgotten_early_or_counted_twice() {
        let mut positions = Positions::default();
        let walk = WalkId::of(0, b"key");
        let ticket = positions.remember(walk, 0, b"first");
        for step in 1..SCAN_POSITIONS_MAX as u32 {
            positions.remember(walk, step, b"other");
            assert_eq!(positions.remember(walk, 0, b"first"), ticket);
        }
        assert_eq!(positions.find(ticket, walk, 0), Some(b"first".as_slice()));
        assert_eq!(positions.given.len(), SCAN_POSITIONS_MAX);
        assert_eq!(positions.subkeys_bytes, positions.entries.len() * 5);
        assert_eq!(positions.latest().next(), Some(ticket));
    }

    #[test]
    fn thawed_position_has_another_ticket() {
        let (mut before, mut after) = (Positions::default(), Positions::default());
        let walk = WalkId::of(3, b"key");
        let tickets: Vec<Ticket> =
            (0..100).map(|step| before.remember(walk, step, &step.to_le_bytes())).collect();
        // Others walk on meanwhile.
        (0..1000).for_each(|step| assert_ne!(after.remember(walk, step, b"later"), 0));
        let frozen = before.freeze(before.latest(), (FROZEN_HEAD_BYTES + 4) * 99 + 5);
        let thawed = after.thaw(&frozen);
        assert_eq!(thawed.len(), 99, "one did not fit");
        assert!(thawed.iter().eq(tickets.iter().rev().take(99)));
        for (step, ticket) in (0..).zip(&tickets).skip(1) {
            assert_eq!(after.find(*ticket, walk, step), Some(step.to_le_bytes().as_slice()));
        }
        assert!(after.latest().take(99).eq(thawed));
    }

    #[test]
    fn bytes_that_are_no_positions_are_taken() {
        let mut positions = Positions::default();
        positions.remember(WalkId::of(0, b"key"), 7, b"next");
        let frozen = positions.freeze(positions.latest(), 1000);
        for len in 0..frozen.len() {
            assert!(Positions::default().thaw(&frozen[..len]).is_empty());
        }
        for wrong in [0_u32, TICKET_MAX + 1] {
            let bytes = [&wrong.to_le_bytes(), &frozen[4..]].concat();
            assert!(Positions::default().thaw(&bytes).is_empty());
        }
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..10_000 {
            let bytes: Vec<u8> = (0..random.usize(..60)).map(|_| random.u8(..)).collect();
            let mut positions = Positions::default();
            positions.thaw(&bytes);
            assert!(positions.subkeys_bytes <= bytes.len());
        }
    }
}

//! What a walk over the subkeys of one key is asked for.

use super::{Direction, SubVisitor, Want};

/// Where a walk over subkeys begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'s> {
    /// At the first subkey in the direction of the walk.
    End,
    /// At the subkey with this rank; a rank that is not there gives nothing.
    Rank(u64),
    /// At this subkey, or at the next one in the direction of the walk.
    Subkey(&'s [u8]),
}

/// A walk over the subkeys of one key, in the order of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubWalk<'s> {
    /// Where it begins.
    pub start: Start<'s>,
    /// Which way it goes.
    pub direction: Direction,
    /// The part of each pair that the visitor needs.
    pub want: Want,
    /// How many subkeys the caller expects to see; [`u64::MAX`] if it does not know. A hint for engines that must fetch:
    /// the walk goes on for as long as the visitor does.
    pub expect: u64,
    /// Whether subkeys will come or go where the walk begins. A hint as well.
    pub is_to_change: bool,
}

impl<'s> SubWalk<'s> {
    /// A walk that may see any number of subkeys.
    pub const fn new(start: Start<'s>, direction: Direction, want: Want) -> SubWalk<'s> {
        SubWalk { start, direction, want, expect: u64::MAX, is_to_change: false }
    }

    /// An ascending walk.
    pub const fn up(start: Start<'s>, want: Want) -> SubWalk<'s> {
        SubWalk::new(start, Direction::Ascending, want)
    }

    /// A walk over all subkeys, ascending.
    pub const fn all(want: Want) -> SubWalk<'s> {
        SubWalk::up(Start::End, want)
    }

    /// The same walk by a caller that expects to see so many subkeys.
    pub const fn expecting(self, expect: u64) -> SubWalk<'s> {
        SubWalk { expect, ..self }
    }

    /// The same walk by a caller that is going to add or remove subkeys where it begins.
    pub const fn to_change(self) -> SubWalk<'s> {
        SubWalk { is_to_change: true, ..self }
    }

    /// Walks subkeys with their values that are at hand, all in order.
    pub fn over(&self, entries: &[(&[u8], &[u8])], visit: SubVisitor<'_>) {
        let count = entries.len();
        let rank = |rank: u64| usize::try_from(rank).unwrap_or(usize::MAX);
        let below = |limit: &[u8]| entries.partition_point(|(subkey, _)| *subkey < limit);
        let up_to = |limit: &[u8]| entries.partition_point(|(subkey, _)| *subkey <= limit);
        let part = match (self.start, self.direction) {
            (Start::End, _) => 0..count,
            (Start::Rank(start), Direction::Ascending) => rank(start).min(count)..count,
            (Start::Rank(start), Direction::Descending) if rank(start) < count => 0..rank(start) + 1,
            (Start::Rank(_), Direction::Descending) => 0..0,
            (Start::Subkey(from), Direction::Ascending) => below(from)..count,
            (Start::Subkey(from), Direction::Descending) => 0..up_to(from),
        };
        let mut show = |(subkey, value): &(&[u8], &[u8])| match self.want {
            Want::Subkeys => visit(subkey, &[]),
            Want::Values | Want::ValuesAlone => visit(subkey, value),
        };
        let entries = entries.get(part).unwrap_or_default();
        let _ = match self.direction {
            Direction::Ascending => entries.iter().try_for_each(&mut show),
            Direction::Descending => entries.iter().rev().try_for_each(&mut show),
        };
    }
}

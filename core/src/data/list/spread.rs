//! Makes room for LINSERT where no position is left between two neighbours.
//!
//! Fractions are labels of 128 bits, and keeping labels in order under insertions is the order-maintenance problem
//! (Bender, Cole, Demaine, Farach-Colton, Zito: "Two Simplified Algorithms for Maintaining Order in a List", 2002).
//! Look at the labels around the full spot that share all but their last byte, then all but two, and so on, until
//! such a range is sparse, and spread its elements evenly over it. A range of 256^n labels is sparse with less than 16^n
//! elements: each byte more admits sixteen times the elements at a sixteenth of the density. After a spread every range
//! one byte smaller is sixteen times sparser than its bound, so it takes as many insertions as it has elements before
//! it is full again: an insertion costs O(log n) moves amortised wherever an adversary inserts, and elements are
//! counted with ranks, not by walking. The first full spot comes after some hundred insertions at one place.

use std::ops::ControlFlow;

use super::{List, Result, no_position};
use crate::data::position::Position;
use crate::engine::{Start, SubWalk, Want};

/// Bytes of a fraction.
const FRACTION_BYTES: u32 = 16;

impl List<'_, '_> {
    /// Spreads the elements around `low`, which has the rank `rank - 1` and whose neighbour above is too near, and
    /// returns a position between the two.
    pub(super) fn make_room(&mut self, rank: u64, low: Position) -> Result<Position> {
        for bytes in 1..=FRACTION_BYTES {
            let mask = u128::MAX >> (u128::BITS - 8 * bytes);
            let first = Position { whole: low.whole, fraction: low.fraction & !mask };
            let last = Position { whole: low.whole, fraction: low.fraction | mask };
            let from = self.txn.sub_rank(self.db, self.key, &first.encode())?;
            // The last label itself may be taken, and ranks count what is smaller.
            let to = self.txn.sub_rank(self.db, self.key, &last.encode())?
                + u64::from(self.txn.sub_contains(self.db, self.key, &last.encode())?);
            let count = to - from;
            if u128::from(count) < 1 << (4 * bytes) {
                self.spread(first, mask, count)?;
                break;
            }
        }
        let (low, high) = (self.select(rank - 1)?, self.select(rank)?);
        // Invariant: labels lie at least half of 16^n apart after a spread over 256^n.
        Ok(Position::between(low, high).ok_or_else(no_position)?)
    }

    /// Gives the `count` elements from `first` on new positions, evenly over the `mask + 1` labels from there.
    fn spread(&mut self, first: Position, mask: u128, count: u64) -> Result<()> {
        let share = mask / (u128::from(count) + 1);
        let step = 1_u128 << share.checked_ilog2().unwrap_or(0);
        let mut moved: Vec<(Position, Position, Vec<u8>)> = Vec::new();
        let (mut left, mut fraction) = (count, first.fraction);
        let begin = first.encode();
        let walk = SubWalk::up(Start::Subkey(&begin), Want::Values).expecting(count);
        self.scan(walk, &mut |from, element| {
            let to = Position { whole: first.whole, fraction };
            if from != to {
                moved.push((from, to, element.to_vec()));
            }
            fraction = fraction.wrapping_add(step);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        for (from, _, _) in &moved {
            self.txn.sub_remove(self.db, self.key, &from.encode())?;
        }
        for (_, to, element) in &moved {
            self.put(*to, element)?;
        }
        Ok(())
    }
}

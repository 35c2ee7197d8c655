//! Random members: which ranks to take, and how to take them.
//!
//! A few of many are chosen as distinct ranks first (Floyd's method: J. Bentley and B. Floyd, "A Sample of Brilliance",
//! 1987) and then looked up in O(log n) each. Many of few are chosen in one walk (selection sampling, Knuth volume 2,
//! algorithm 3.4.2 S). Both choose every subset with the same probability.

use std::collections::HashSet;
use std::ops::ControlFlow;

use fastrand::Rng;

use super::super::Result;
use super::{MemberVisitor, Set};
use crate::engine::{Direction, Start, Want};

/// Looking up one member by its rank costs about as much as walking over this many.
const LOOK_UP_STEPS: u64 = 16;

impl Set<'_, '_> {
    /// Shows `count` distinct members, all of them if there are not so many, in no particular order.
    pub fn sample(&mut self, random: &mut Rng, count: u64, visit: MemberVisitor<'_>) -> Result<()> {
        let len = self.len()?;
        if count >= len {
            return self.members(visit);
        }
        if count <= len / LOOK_UP_STEPS {
            for rank in distinct_ranks(random, len, count) {
                self.select(rank, visit)?;
            }
            return Ok(());
        }
        let (mut left, mut wanted) = (len, count);
        self.partition(&mut |member| {
            let is_taken = random.u64(..left) < wanted;
            left -= 1;
            if is_taken {
                visit(member);
                wanted -= 1;
            }
            wanted > 0
        })
    }

    /// Removes `count` random members (less than there are) and shows them.
    pub fn take(&mut self, random: &mut Rng, count: u64, visit: MemberVisitor<'_>) -> Result<()> {
        let len = self.len()?;
        let kept = len.saturating_sub(count);
        if count <= kept.saturating_mul(4) {
            let mut taken: Vec<Vec<u8>> = Vec::new();
            self.sample(random, count, &mut |member| {
                visit(member);
                taken.push(member.to_vec());
            })?;
            self.remove(taken.iter().map(Vec::as_slice))?;
            return Ok(());
        }
        // Far fewer stay than go: a new set of those is less to write.
        let mut staying: Vec<Vec<u8>> = Vec::new();
        let (mut left, mut wanted) = (len, kept);
        self.partition(&mut |member| {
            if random.u64(..left) < wanted {
                staying.push(member.to_vec());
                wanted -= 1;
            } else {
                visit(member);
            }
            left -= 1;
            true
        })?;
        self.replace(&staying)
    }

    /// Walks over the members as long as the visitor says true.
    fn partition(&mut self, visit: &mut dyn FnMut(&[u8]) -> bool) -> Result<()> {
        let (direction, want) = (Direction::Ascending, Want::Subkeys);
        self.txn.sub_scan(self.db, self.key, Start::End, direction, want, &mut |member, _| {
            if visit(member) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(())
    }
}

/// `count` distinct numbers below `len` in random order; `count` must not be larger than `len`.
fn distinct_ranks(random: &mut Rng, len: u64, count: u64) -> Vec<u64> {
    let mut chosen = HashSet::new();
    let mut ranks = Vec::new();
    for most in len - count..len {
        let drawn = random.u64(..=most);
        let rank = if chosen.insert(drawn) { drawn } else { most };
        chosen.insert(rank);
        ranks.push(rank);
    }
    // Late draws lean towards large ranks; only the set of all is uniform.
    random.shuffle(&mut ranks);
    ranks
}

//! Members by their ranks, which the caller has drawn: SRANDMEMBER and SPOP.
//!
//! A few of many are looked up in O(log n) each; many of few are met in one walk.

use std::ops::ControlFlow;

use super::super::Result;
use super::{MemberVisitor, Set};
use crate::engine::{SubWalk, Want};
use crate::sorted;

/// Looking up one member by its rank costs about as much as walking over this many.
const LOOK_UP_STEPS: u64 = 16;

/// A set of which more than this many times as many members go as stay is written anew.
const GOING_PER_STAYING: u64 = 4;

impl Set<'_, '_> {
    /// Shows the members with these distinct ranks, which must be there, in no particular order.
    pub fn pick(&mut self, mut ranks: Vec<u64>, visit: MemberVisitor<'_>) -> Result<()> {
        if ranks.len() as u64 <= self.len()? / LOOK_UP_STEPS {
            self.announce_ranks(&ranks)?;
            return ranks.into_iter().try_for_each(|rank| self.select(rank, visit));
        }
        sorted::plainly(&mut ranks);
        self.divide(&ranks, &mut |member, is_picked| {
            if is_picked {
                visit(member);
            }
        })
    }

    /// Removes the members with these distinct ranks, which must be there but not be all, and shows them.
    pub fn take(&mut self, mut ranks: Vec<u64>, visit: MemberVisitor<'_>) -> Result<()> {
        let going = ranks.len() as u64;
        let staying = self.len()?.saturating_sub(going);
        if going <= staying.saturating_mul(GOING_PER_STAYING) {
            let mut taken: Vec<Vec<u8>> = Vec::new();
            self.pick(ranks, &mut |member| {
                visit(member);
                taken.push(member.to_vec());
            })?;
            self.remove(taken.iter().map(Vec::as_slice))?;
            return Ok(());
        }
        sorted::plainly(&mut ranks);
        let mut kept: Vec<Vec<u8>> = Vec::new();
        self.divide(&ranks, &mut |member, is_taken| {
            if is_taken { visit(member) } else { kept.push(member.to_vec()) }
        })?;
        self.replace(&kept)
    }

    /// Shows all members and whether their ranks are among these, which are in order.
    fn divide(&mut self, ranks: &[u64], visit: &mut dyn FnMut(&[u8], bool)) -> Result<()> {
        let mut ranks = ranks.iter().peekable();
        let mut at = 0;
        self.txn.sub_scan(self.db, self.key, SubWalk::all(Want::Subkeys), &mut |member, _| {
            visit(member, ranks.next_if(|rank| **rank == at).is_some());
            at += 1;
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}

//! Ranges of scores and of names as runs of ranks: each end is the rank of a subkey that need not be there.

use std::ops::{ControlFlow, Range};

use smallvec::SmallVec;

use super::score::sortable_bits;
use super::{Result, SCORE_FAMILY, SCORED_PREFIX_BYTES, SortedSet, scored_prefix};
use crate::engine::{Direction, Start, SubWalk, Txn, Want};

/// Sets of up to this many members are walked for a range of names over mixed scores.
const LINEAR_NAMES_MAX: u64 = 128;

/// One end of a range of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreBound {
    /// The score; never NaN.
    pub score: f64,
    /// Whether the score itself is outside.
    pub is_exclusive: bool,
}

/// A range of scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreRange {
    /// The lower end.
    pub min: ScoreBound,
    /// The upper end.
    pub max: ScoreBound,
}

/// One end of a range of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexBound<'a> {
    /// Before every name (`-`).
    Lowest,
    /// After every name (`+`).
    Highest,
    /// This name is inside (`[name`).
    Inclusive(&'a [u8]),
    /// This name is outside (`(name`).
    Exclusive(&'a [u8]),
}

/// A range of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexRange<'a> {
    /// The lower end.
    pub min: LexBound<'a>,
    /// The upper end.
    pub max: LexBound<'a>,
}

impl SortedSet<'_> {
    /// The ranks of the members with scores in a range.
    pub fn ranks_by_score(&self, txn: &mut Txn<'_>, range: &ScoreRange) -> Result<Range<u64>> {
        let len = self.len(txn)?;
        if len == 0 {
            return Ok(0..0);
        }
        // What is missing of both ends is fetched together.
        let start = match (range.min.score, range.min.is_exclusive) {
            (f64::NEG_INFINITY, false) => Ok(len),
            (score, is_exclusive) => self.rank_of_score(txn, score, is_exclusive),
        };
        let end = match (range.max.score, range.max.is_exclusive) {
            (f64::INFINITY, false) => Ok(len.saturating_mul(2)),
            (score, is_exclusive) => self.rank_of_score(txn, score, !is_exclusive),
        };
        let (start, end) = (start?.saturating_sub(len), end?.saturating_sub(len));
        Ok(start..end.max(start))
    }

    /// The ranks of the members with names in a range, which takes all members to have one score. Where they do not,
    /// the order by name is not the order of ranks, and the answer is, as in Redis, a run of members: in a small set
    /// from the first name that is not below the range to the last before one that is above it, in a large one what
    /// halving finds.
    pub fn ranks_by_name(&self, txn: &mut Txn<'_>, range: &LexRange<'_>) -> Result<Range<u64>> {
        let len = self.len(txn)?;
        // What is missing of both ends is fetched together.
        let ends = (self.end_score(txn, Direction::Ascending), self.end_score(txn, Direction::Descending));
        let (Some(score), highest) = (ends.0?, ends.1?) else { return Ok(0..0) };
        if highest != Some(score) {
            let is_below = |name: &[u8]| match range.min {
                LexBound::Lowest => false,
                LexBound::Highest => true,
                LexBound::Inclusive(min) => name < min,
                LexBound::Exclusive(min) => name <= min,
            };
            let is_inside = |name: &[u8]| match range.max {
                LexBound::Lowest => false,
                LexBound::Highest => true,
                LexBound::Inclusive(max) => name <= max,
                LexBound::Exclusive(max) => name < max,
            };
            let start = self.run_of_names(txn, 0, len, &is_below)?;
            return Ok(start..self.run_of_names(txn, start, len, &is_inside)?);
        }
        let start = match range.min {
            LexBound::Lowest => Ok(len),
            LexBound::Highest => Ok(len.saturating_mul(2)),
            LexBound::Inclusive(name) => self.rank_of_name(txn, score, name, false),
            LexBound::Exclusive(name) => self.rank_of_name(txn, score, name, true),
        };
        let end = match range.max {
            LexBound::Lowest => Ok(len),
            LexBound::Highest => Ok(len.saturating_mul(2)),
            LexBound::Inclusive(name) => self.rank_of_name(txn, score, name, true),
            LexBound::Exclusive(name) => self.rank_of_name(txn, score, name, false),
        };
        let (start, end) = (start?.saturating_sub(len), end?.saturating_sub(len));
        Ok(start..end.max(start))
    }

    /// The rank among subkeys of the first one with this score, or with a higher one.
    fn rank_of_score(&self, txn: &mut Txn<'_>, score: f64, is_after: bool) -> Result<u64> {
        // Infinity is not the largest form, so one more never overflows.
        let bits = sortable_bits(score).saturating_add(u64::from(is_after));
        let mut bound = [SCORE_FAMILY; SCORED_PREFIX_BYTES];
        let (_, form) = bound.split_at_mut(1);
        form.copy_from_slice(&bits.to_be_bytes());
        Ok(txn.sub_rank(self.db, self.key, &bound)?)
    }

    /// The rank among subkeys of a name with this score, or of the first one after it.
    fn rank_of_name(&self, txn: &mut Txn<'_>, score: f64, name: &[u8], is_after: bool) -> Result<u64> {
        let mut bound: SmallVec<[u8; 64]> = SmallVec::from_slice(&scored_prefix(score));
        bound.extend_from_slice(name);
        if is_after {
            // Nothing sorts between a name and the name with a zero byte behind.
            bound.push(0);
        }
        Ok(txn.sub_rank(self.db, self.key, &bound)?)
    }

    /// The rank at which a run of members whose names pass `keep` ends, beginning at rank `from` of `len`.
    fn run_of_names(
        &self,
        txn: &mut Txn<'_>,
        from: u64,
        len: u64,
        keep: &dyn Fn(&[u8]) -> bool,
    ) -> Result<u64> {
        let (mut low, mut high) = (from, len);
        if len <= LINEAR_NAMES_MAX {
            let walk = SubWalk::up(Start::Rank(len + from), Want::Subkeys).expecting(len - from);
            txn.sub_scan(self.db, self.key, walk, &mut |subkey, _| match super::split_scored(subkey) {
                Some((name, _)) if keep(name) => {
                    low += 1;
                    ControlFlow::Continue(())
                }
                _ => ControlFlow::Break(()),
            })?;
            return Ok(low);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            let subkey = txn.sub_select(self.db, self.key, len + middle)?.unwrap_or_default();
            if super::split_scored(&subkey).is_some_and(|(name, _)| keep(name)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The lowest score (ascending) or the highest one (descending).
    fn end_score(&self, txn: &mut Txn<'_>, direction: Direction) -> Result<Option<f64>> {
        let mut score = None;
        let start = match direction {
            Direction::Ascending => Start::Subkey(&[SCORE_FAMILY]),
            Direction::Descending => Start::End,
        };
        let walk = SubWalk::new(start, direction, Want::Subkeys).expecting(1);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, _| {
            score = super::split_scored(subkey).map(|(_, score)| score);
            ControlFlow::Break(())
        })?;
        Ok(score)
    }
}

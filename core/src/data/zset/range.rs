//! Ranges of scores and of names as runs of ranks: each end is the rank of a subkey that need not be there.

use std::ops::Range;

use smallvec::SmallVec;

use super::score::sortable_bits;
use super::{Result, SCORE_FAMILY, SCORED_PREFIX_BYTES, SortedSet, scored_prefix};
use crate::engine::{Direction, Start, Txn, Want};

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
        let start = match (range.min.score, range.min.is_exclusive) {
            (f64::NEG_INFINITY, false) => 0,
            (score, is_exclusive) => self.rank_of_score(txn, score, is_exclusive)?.saturating_sub(len),
        };
        let end = match (range.max.score, range.max.is_exclusive) {
            (f64::INFINITY, false) => len,
            (score, is_exclusive) => self.rank_of_score(txn, score, !is_exclusive)?.saturating_sub(len),
        };
        Ok(start..end.max(start))
    }

    /// The ranks of the members with names in a range. Like Redis this takes all members to have one score, here that
    /// of the first; where they do not, the answer is some run of members, and all of them from `-` to `+`.
    pub fn ranks_by_name(&self, txn: &mut Txn<'_>, range: &LexRange<'_>) -> Result<Range<u64>> {
        let len = self.len(txn)?;
        let Some(score) = self.first_score(txn)? else { return Ok(0..0) };
        let start = match range.min {
            LexBound::Lowest => 0,
            LexBound::Highest => len,
            LexBound::Inclusive(name) => self.rank_of_name(txn, score, name, false)?.saturating_sub(len),
            LexBound::Exclusive(name) => self.rank_of_name(txn, score, name, true)?.saturating_sub(len),
        };
        let end = match range.max {
            LexBound::Lowest => 0,
            LexBound::Highest => len,
            LexBound::Inclusive(name) => self.rank_of_name(txn, score, name, true)?.saturating_sub(len),
            LexBound::Exclusive(name) => self.rank_of_name(txn, score, name, false)?.saturating_sub(len),
        };
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

    fn first_score(&self, txn: &mut Txn<'_>) -> Result<Option<f64>> {
        let mut first = None;
        let start = Start::Subkey(&[SCORE_FAMILY]);
        txn.sub_scan(self.db, self.key, start, Direction::Ascending, Want::Subkeys, &mut |subkey, _| {
            first = super::split_scored(subkey).map(|(_, score)| score);
            std::ops::ControlFlow::Break(())
        })?;
        Ok(first)
    }
}

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

impl LexBound<'_> {
    /// Whether the name lies before a range that begins here.
    fn is_above(&self, name: &[u8]) -> bool {
        match self {
            LexBound::Lowest => false,
            LexBound::Highest => true,
            LexBound::Inclusive(bound) => name < *bound,
            LexBound::Exclusive(bound) => name <= *bound,
        }
    }

    /// Whether the name lies behind a range that ends here.
    fn is_below(&self, name: &[u8]) -> bool {
        match self {
            LexBound::Lowest => true,
            LexBound::Highest => false,
            LexBound::Inclusive(bound) => name > *bound,
            LexBound::Exclusive(bound) => name >= *bound,
        }
    }
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

    /// The ranks of the members with names in a range. Like Redis this takes names to ascend with their ranks, which
    /// they do where all scores are equal; where they do not, the answer is some run of members, and all of them from
    /// `-` to `+`.
    pub fn ranks_by_name(&self, txn: &mut Txn<'_>, range: &LexRange<'_>) -> Result<Range<u64>> {
        let len = self.len(txn)?;
        let Some((_, score)) = self.member_at(txn, len, 0)? else { return Ok(0..0) };
        let last = self.member_at(txn, len, len.saturating_sub(1))?;
        if last.is_none_or(|(_, last)| last != score) {
            let start = self.count_leading(txn, len, |name| range.min.is_above(name))?;
            let end = self.count_leading(txn, len, |name| !range.max.is_below(name))?;
            return Ok(start..end.max(start));
        }
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

    /// The number of members before the first one that does not pass, found by halving.
    fn count_leading(&self, txn: &mut Txn<'_>, len: u64, passes: impl Fn(&[u8]) -> bool) -> Result<u64> {
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.member_at(txn, len, middle)?.is_some_and(|(name, _)| passes(&name)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
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

    /// The member with a rank, and its score; `len` is the number of members.
    fn member_at(&self, txn: &mut Txn<'_>, len: u64, rank: u64) -> Result<Option<(SmallVec<[u8; 64]>, f64)>> {
        let mut found = None;
        if rank < len {
            let start = Start::Rank(len + rank);
            txn.sub_scan(self.db, self.key, start, Direction::Ascending, Want::Subkeys, &mut |subkey, _| {
                found = super::split_scored(subkey).map(|(name, score)| (SmallVec::from_slice(name), score));
                std::ops::ControlFlow::Break(())
            })?;
        }
        Ok(found)
    }
}

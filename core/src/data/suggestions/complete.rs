//! The best suggestions that begin in a way.
//!
//! The best by score are found by a look at all that begin so: one run of subkeys, or with a typo several, between which a walk goes on
//! where the next one may be. What is held is the best so far, so memory is bounded by how many are wanted.
//!
//! The order is RediSearch's: the score by the square root of one more than the characters that are missing, and by e² for a typo; in
//! front of all a suggestion that is what was typed. It calculates with 32 bits, and so do we: equal scores are equal there, too.

use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::typo::{Look, Typo, push_unit};
use super::{END, PAYLOADS, SUGGESTIONS, damaged, fold, read_score, read_subkey, start_of};
use crate::data::Result;
use crate::engine::{Db, Start, SubWalk, Txn, Want};
use crate::limits::{LONG_WORK_ELEMENTS, SUGGESTIONS_LOOKED_AT_MAX};
use crate::memory_budget::{BudgetExceeded, Share};

/// The score of a suggestion that is what was typed: RediSearch's.
const EXACT_SCORE: f32 = i32::MAX as f32;

/// What a typo leaves of a score: e to the power of -2.
const TYPO_FACTOR: f64 = 0.135_335_283_236_612_7;

/// So many suggestions are passed one by one, before a new walk begins behind them: it costs about as much.
const PASSED_MAX: u32 = 16;

/// Kept suggestions between two looks at the memory that is left.
const KEPT_BETWEEN: usize = 1024;

/// What is to be completed, and how.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'p> {
    /// How suggestions begin, in any case; at most [`SUGGESTION_PREFIX_MAX_CHARS`](crate::limits::SUGGESTION_PREFIX_MAX_CHARS) characters.
    pub prefix: &'p [u8],
    /// Whether they may begin with one edit of that.
    pub with_typo: bool,
    /// How many.
    pub most: usize,
}

/// A suggestion that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// As it was added.
    pub text: Vec<u8>,
    /// As it was ranked.
    pub score: f32,
}

/// The best suggestions, the best first; of equal ones those that come first by their bytes. None if it would take a look at more than
/// [`SUGGESTIONS_LOOKED_AT_MAX`]. `announce` hears how many are looked at, as soon as that is known, and may end it.
///
/// # Errors
/// The engine's, or what `announce` returns; or what is to be kept does not fit into the memory.
pub fn complete(
    txn: &mut Txn<'_>,
    (db, key): (Db, &[u8]),
    wanted: Wanted<'_>,
    announce: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Option<Vec<Completion>>> {
    let folded = fold(wanted.prefix);
    if folded.contains(&END) {
        return Ok(Some(Vec::new()));
    }
    let mut best = Best::new(&folded, wanted, txn.share());
    let is_whole = if wanted.with_typo {
        with_typo(txn, (db, key), &mut best, announce)?
    } else {
        from_start(txn, (db, key), &mut best, announce)?
    };
    if best.is_damaged {
        return Err(damaged(db, key));
    }
    if best.is_over {
        return Err(BudgetExceeded.into());
    }
    Ok(is_whole.then(|| best.all()))
}

/// Looks at all that begin so; false if they are too many.
fn from_start(
    txn: &mut Txn<'_>,
    (db, key): (Db, &[u8]),
    best: &mut Best<'_>,
    announce: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<bool> {
    let start = start_of(best.prefix);
    let end = behind(start.clone());
    let count = txn.sub_rank(db, key, &end)?.saturating_sub(txn.sub_rank(db, key, &start)?);
    if count > SUGGESTIONS_LOOKED_AT_MAX {
        return Ok(false);
    }
    announce(count)?;
    let walk = SubWalk::up(Start::Subkey(&start), Want::Values).expecting(count);
    txn.sub_scan(db, key, walk, &mut |subkey, value| {
        if !subkey.starts_with(&start) {
            return ControlFlow::Break(());
        }
        best.offer(subkey, value, 0)
    })?;
    Ok(true)
}

/// Looks at all that may begin so but for a typo; false if they are too many.
fn with_typo(
    txn: &mut Txn<'_>,
    (db, key): (Db, &[u8]),
    best: &mut Best<'_>,
    announce: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<bool> {
    let typo = Typo::of(best.prefix);
    let mut next = start_of(b"");
    let (mut looked_at, mut announced) = (0, Ok(()));
    loop {
        let start = next.clone();
        let (mut passed, mut is_over) = (0, true);
        let walk = SubWalk::up(Start::Subkey(&start), Want::Values).expecting(u64::from(PASSED_MAX));
        txn.sub_scan(db, key, walk, &mut |subkey, value| {
            looked_at += 1;
            if looked_at % LONG_WORK_ELEMENTS == 0 {
                announced = announce(looked_at);
            }
            if announced.is_err()
                || looked_at > SUGGESTIONS_LOOKED_AT_MAX
                || next.first() != Some(&SUGGESTIONS)
            {
                return ControlFlow::Break(());
            }
            if subkey < next.as_slice() {
                passed += 1;
                is_over = passed < PASSED_MAX;
                return if is_over { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            }
            let Some((folded, _)) = read_subkey(subkey) else { return best.offer(subkey, value, 0) };
            match typo.look(folded) {
                Look::Matches(edits) => return best.offer(subkey, value, edits),
                Look::Short => {}
                Look::Dead { at, next: unit } => {
                    passed = 0;
                    next.clear();
                    next.extend_from_slice(subkey.get(..=at).unwrap_or_default());
                    match unit {
                        Some(unit) => push_unit(&mut next, unit),
                        None => next = behind(std::mem::take(&mut next)),
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        std::mem::replace(&mut announced, Ok(()))?;
        if is_over {
            return Ok(looked_at <= SUGGESTIONS_LOOKED_AT_MAX);
        }
    }
}

/// The first bytes behind all that begin with these, whose first is not 255.
fn behind(mut start: Vec<u8>) -> Vec<u8> {
    while start.pop_if(|byte| *byte == u8::MAX).is_some() {}
    if let Some(byte) = start.last_mut() {
        *byte += 1;
    }
    start
}

/// The best so far.
struct Best<'p> {
    prefix: &'p [u8],
    prefix_chars: usize,
    wanted: Wanted<'p>,
    /// The worst of them on top.
    kept: BinaryHeap<Found>,
    offered: u64,
    share: Share,
    is_over: bool,
    is_damaged: bool,
}

impl<'p> Best<'p> {
    fn new(prefix: &'p [u8], wanted: Wanted<'p>, share: Share) -> Best<'p> {
        let (prefix_chars, kept) = (starts_of_chars(prefix), BinaryHeap::new());
        Best { prefix, prefix_chars, wanted, kept, offered: 0, share, is_over: false, is_damaged: false }
    }

    /// Keeps a suggestion that was found with so many edits, if it is among the best.
    fn offer(&mut self, subkey: &[u8], value: &[u8], edits: u8) -> ControlFlow<()> {
        if subkey.first() == Some(&PAYLOADS) {
            return ControlFlow::Break(());
        }
        let (Some((_, text)), Some(score)) = (read_subkey(subkey), read_score(value)) else {
            self.is_damaged = true;
            return ControlFlow::Break(());
        };
        let score = self.rank(text, score, edits);
        self.offered += 1;
        if self.kept.len() < self.wanted.most {
            if self.kept.len().is_multiple_of(KEPT_BETWEEN) && self.share.look().is_err() {
                self.is_over = true;
                return ControlFlow::Break(());
            }
            self.kept.push(Found { score, number: self.offered, text: text.to_vec() });
        } else if let Some(mut worst) = self.kept.peek_mut().filter(|worst| score > worst.score) {
            worst.score = score;
            worst.number = self.offered;
            worst.text.clear();
            worst.text.extend_from_slice(text);
        }
        ControlFlow::Continue(())
    }

    fn rank(&self, text: &[u8], score: f64, edits: u8) -> f32 {
        let mut score = if text == self.prefix && !text.is_empty() { EXACT_SCORE } else { score as f32 };
        if edits > 0 {
            score = (f64::from(score) * TYPO_FACTOR) as f32;
        }
        let missing = starts_of_chars(text).abs_diff(self.prefix_chars);
        (f64::from(score) / (1.0 + missing as f64).sqrt()) as f32
    }

    fn all(self) -> Vec<Completion> {
        let sorted = self.kept.into_sorted_vec().into_iter();
        sorted.map(|found| Completion { text: found.text, score: found.score }).collect()
    }
}

/// How many characters a text has, if it is UTF-8.
fn starts_of_chars(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// A suggestion that is kept. The greater of two is the worse one.
struct Found {
    score: f32,
    /// The later of two with the same score is the worse one.
    number: u64,
    text: Vec<u8>,
}

impl Ord for Found {
    fn cmp(&self, other: &Found) -> std::cmp::Ordering {
        other.score.total_cmp(&self.score).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Found) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Found {
    fn eq(&self, other: &Found) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Found {}

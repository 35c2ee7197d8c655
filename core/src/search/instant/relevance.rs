//! How well a match fits a query, as a share of the best that any document could do.
//!
//! A score is a sum: what the words count, what is said by a closer look, and steps that put matches with more words, and those that were
//! looked at closely, before all others. The share leaves the steps out and counts each word that matches, wherever it stands.

use crate::search::index::part::Position;
use crate::search::index::rank_of;

use super::candidates::MORE_WORDS_SCORE;
use super::progress::Candidate;
use super::weights::CLOSE_SCORE;
use super::{Request, WORDS_MAX};

/// What a word that matches counts beside its score: as much as standing in the first field does, so that a word of the last field is worth
/// about half of one of the first.
const WORD: i32 = 3000;

/// No score without steps is so far from zero: eight words of some 3,700 and popularity above, typos and distances below.
const STEP_MARGIN: i32 = CLOSE_SCORE / 2;

/// What the shares of a query are made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relevance {
    /// The best score; 0 for a query without words.
    best: i32,
}

impl Relevance {
    /// For a query of so many words, those of phrases included.
    pub(super) fn new(request: &Request<'_>, words: usize) -> Relevance {
        let weights = request.weights;
        let fields = weights.field.iter().zip(weights.exact).map(|(field, exact)| field + exact);
        let word = fields.max().unwrap_or(0) + weights.occurrence + WORD;
        // Only the first word can stand at the beginning.
        let classes = (0..).take(words.min(WORDS_MAX)).map(|word| {
            let rank = rank_of(&[Position { field: 0, word }]);
            i32::from(rank.0 >> 3 & 7)
        });
        let best: i32 = classes.map(|class| word - weights.position * class).sum();
        Relevance { best: if words == 0 { 0 } else { best + weights.short + weights.whole } }
    }

    /// The share of a match, from 0 to 1. For one that was not looked at closely it is near that.
    pub(super) fn of(self, candidate: &Candidate) -> f64 {
        if self.best == 0 {
            return 1.0;
        }
        let score = candidate.score.saturating_add(STEP_MARGIN);
        let own = score.rem_euclid(CLOSE_SCORE) - STEP_MARGIN;
        // Words that were dropped after it had matched them, and two that are one in it.
        let more = score.div_euclid(MORE_WORDS_SCORE) + i32::from(candidate.joined);
        let words = i32::from(candidate.matched) + more;
        (f64::from(own + words * WORD) / f64::from(self.best)).clamp(0.0, 1.0)
    }

    /// Whether a match was looked at closely.
    pub(super) fn is_exact(self, candidate: &Candidate) -> bool {
        let score = candidate.score.saturating_add(STEP_MARGIN);
        self.best == 0 || score.rem_euclid(MORE_WORDS_SCORE) >= CLOSE_SCORE
    }
}

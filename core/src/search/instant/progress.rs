//! A query on its way, as its steps share it.

use crate::search::bits::Bits;
use crate::search::index::part::View;

use super::weights::Tables;
use super::words::Expansions;
use super::{Request, Scratch, WORDS_MAX};

/// A document that has the words so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    pub(super) place: u32,
    pub(super) score: i32,
    /// What the present word has added.
    pub(super) last: i32,
    /// The number of its view.
    pub(super) view: u16,
    /// How many words matched.
    pub(super) matched: u8,
    /// By which reading of the query it was found.
    pub(super) reading: u8,
    /// How many words that are neighbours in the query are one word in it; less than none where one word is two.
    pub(super) joined: i8,
    /// The expansion of each word that counted most.
    pub(super) expansions: [u16; WORDS_MAX],
}

impl Candidate {
    /// The best first.
    pub(super) fn order_key(&self) -> u64 {
        best_first(self.score)
    }
}

/// A score as a key of which the least is the best.
pub(super) fn best_first(score: i32) -> u64 {
    (!(score.cast_unsigned() ^ 1 << 31)).into()
}

/// A way to read the words of a query.
pub(super) struct Reading<'r> {
    pub(super) words: Vec<&'r Expansions>,
    /// The documents of each view that may match, if not all.
    pub(super) within: Option<&'r [Bits]>,
    /// What its matches are ahead of those of the plain reading.
    pub(super) bonus: i32,
    /// How many words of the query it has more than words that have to match; less than none where a word is two.
    pub(super) joined: i8,
}

/// A query on its way.
pub(super) struct Search<'s> {
    pub(super) views: &'s [View<'s>],
    pub(super) request: &'s Request<'s>,
    pub(super) allowed: &'s [Option<Bits>],
    pub(super) scratch: &'s mut Scratch,
    /// Which text fields count, if not all.
    pub(super) fields: Option<Vec<bool>>,
    /// What postings score.
    pub(super) tables: Tables,
}

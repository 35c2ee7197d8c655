//! What each thing that speaks for a document counts. A word's score comes from its rank byte alone: the field, the place in it, how often;
//! whether the word is whole; how many typos it has.

use crate::search::index::part::Rank;

use super::words::Expansion;

/// What the candidates that were looked at closely are ahead of the others.
pub(super) const CLOSE_SCORE: i32 = 100_000;

/// How much each thing counts, in the same units. The defaults are tuned on twenty queries over Debian's packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// A word in the first, second, third and any later text field.
    pub field: [i32; 4],
    /// A whole word, not only its beginning, by field.
    pub exact: [i32; 4],
    /// Each class of positions that a word is behind the beginning of its field.
    pub position: i32,
    /// Each further occurrence.
    pub occurrence: i32,
    /// Each typo.
    pub typo: i32,
    /// Each doubling of popularity.
    pub popularity: i32,
    /// A first field of as many words as the query has, wherever these stand: what has a short name is often the one meant.
    pub short: i32,
    /// A first field with the words of the query and no others, beside `short`.
    pub whole: i32,
    /// Each word of the first field that is not in the query, up to six.
    pub extra: i32,
    /// Each word between two words of the query, up to eight.
    pub proximity: i32,
    /// Two words of the query that are one word of the document.
    pub joined: i32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            field: [3000, 2700, 730, 0],
            exact: [420, 650, 280, 0],
            position: 130,
            occurrence: 8,
            typo: 600,
            popularity: 250,
            short: 400,
            whole: 140,
            extra: 20,
            proximity: 180,
            joined: 3400,
        }
    }
}

/// What the postings of an expansion score, by the field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    field: [i32; 4],
    position: i32,
    occurrence: i32,
}

impl Table {
    #[inline]
    pub(super) fn score(&self, rank: Rank) -> i32 {
        let field = self.field[usize::from(rank.0 >> 6)];
        field - i32::from(rank.0 >> 3 & 7) * self.position + i32::from(rank.0 & 7) * self.occurrence
    }
}

impl Weights {
    pub(super) fn table(&self, expansion: Expansion) -> Table {
        let mut field = self.field;
        for (field, exact) in field.iter_mut().zip(self.exact) {
            *field += if expansion.is_exact { exact } else { 0 };
            *field -= self.typo * i32::from(expansion.typos);
        }
        Table { field, position: self.position, occurrence: self.occurrence }
    }

    /// What a match in which a word is two words is ahead of one with the word: as much behind as by a typo, and one word less counts.
    pub(super) fn split(&self) -> i32 {
        -(self.field[0] + self.exact[0] + self.typo)
    }

    pub(super) fn popularity(&self, number: Option<f64>) -> i32 {
        let number = number.unwrap_or(0.0).clamp(0.0, f64::from(u32::MAX - 1)) as u32;
        (32 - (number + 1).leading_zeros()) as i32 * self.popularity
    }
}

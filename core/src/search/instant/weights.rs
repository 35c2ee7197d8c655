//! What each thing that speaks for a document counts. A word's score comes from its rank byte alone: the field, the place in it, how often;
//! whether the word is whole; how many typos it has.

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

/// What postings score, by their rank bytes ([`crate::search::index::part::Rank`]): a table for each class of expansions that a query has met.
#[derive(Debug, Default)]
pub(super) struct Tables(Vec<(u64, Table)>);

/// What a posting scores, by its rank byte.
pub(super) type Table = [i32; 256];

impl Tables {
    /// That of an expansion.
    pub(super) fn of(&mut self, weights: &Weights, kind: Expansion) -> &Table {
        let class = kind.class();
        let at = self.0.iter().position(|(known, _)| *known == class).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push((class, weights.table(kind)));
        }
        self.0.get(at).map_or(&[0; 256], |(_, table)| table)
    }
}

impl Weights {
    fn table(&self, kind: Expansion) -> Table {
        let mut scores = [0; 256];
        for (rank, score) in (0u8..=255).zip(&mut scores) {
            let field = usize::from(rank >> 6);
            let of = |weights: &[i32; 4]| weights.get(field).copied().unwrap_or(0);
            *score = of(&self.field) + if kind.is_exact { of(&self.exact) } else { 0 };
            *score -= self.typo * i32::from(kind.typos);
            *score -= i32::from(rank >> 3 & 7) * self.position;
            *score += i32::from(rank & 7) * self.occurrence;
        }
        scores
    }

    /// What a match in which a word is two words is ahead of one with the word: as much behind as by a typo, and one word less counts.
    pub(super) fn split(&self) -> i32 {
        -(self.field[0] + self.exact[0] + self.typo)
    }

    /// What no number counts is what 0 counts.
    pub(super) fn popularity(&self, number: f64) -> i32 {
        let number = number.clamp(0.0, f64::from(u32::MAX - 1)) as u32;
        (32 - (number + 1).leading_zeros()) as i32 * self.popularity
    }
}

//! Words that are written apart in one place and together in the other: "brave heart" is Braveheart, "spiderman" is Spider-Man.

use crate::search::bits::Bits;
use crate::search::evaluate::Failure;
use crate::search::query::{Clause, Pattern};
use crate::search::schema::Schema;
use crate::sorted;

use super::progress::Search;
use super::words::Expansions;
use super::{Typos, matching};

/// Splits of a word that are looked for in documents, most frequent words first.
const TRIED_MAX: usize = 2;

/// A word that is read as two.
pub(super) struct Split {
    /// Which word of the query.
    pub(super) at: usize,
    pub(super) words: [String; 2],
    pub(super) parts: [Expansions; 2],
    /// The documents of each view in which the two stand next to each other.
    pub(super) within: Vec<Bits>,
}

impl Search<'_> {
    /// Neighbours that are one word somewhere ("rust c" is `rustc`), each with the number of the first of the two.
    pub(super) fn joined(&self, words: &[&str], is_open: bool) -> Result<Vec<(usize, Expansions)>, Failure> {
        let mut all = Vec::new();
        for (at, pair) in words.windows(2).enumerate() {
            let is_last = is_open && at + 2 == words.len();
            let found = Expansions::find(
                self.views,
                self.request,
                &pair.concat(),
                is_last,
                (Typos::NONE, self.request.synonyms),
            )?;
            if !found.all.is_empty() {
                all.push((at, found));
            }
        }
        Ok(all)
    }

    /// How each word may be two: at most one way for each.
    pub(super) fn split(&self, schema: &Schema, words: &[&str]) -> Result<Vec<Split>, Failure> {
        let mut splits = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let mut ways = Vec::new();
            for (end, _) in word.char_indices().skip(1) {
                let (first, second) = word.split_at(end);
                let least = self.documents(first).min(self.documents(second));
                self.request.meter.work(2 * self.views.len() as u64)?;
                if least > 0 {
                    ways.push((least, first, second));
                }
            }
            // The word of which there are fewer decides; of equal ones the first split.
            sorted::all(&mut ways, |one, other| other.0.cmp(&one.0));
            for (_, first, second) in ways.into_iter().take(TRIED_MAX) {
                let pattern =
                    |word: &str| Pattern::Word { text: word.as_bytes().to_vec(), is_verbatim: true };
                let phrase = Clause::Phrase(vec![pattern(first), pattern(second)]);
                let within = matching(schema, self.views, self.request, phrase)?;
                if within.iter().any(|bits| bits.count() > 0) {
                    let find = |word| {
                        Expansions::find(
                            self.views,
                            self.request,
                            word,
                            false,
                            (Typos::NONE, self.request.synonyms),
                        )
                    };
                    let words = [first.to_string(), second.to_string()];
                    splits.push(Split { at, words, parts: [find(first)?, find(second)?], within });
                    break;
                }
            }
        }
        Ok(splits)
    }

    /// In how many documents a word is.
    fn documents(&self, word: &str) -> u64 {
        let lists = self.views.iter().filter_map(|view| view.part.word(word.as_bytes()));
        lists.map(|list| u64::from(list.documents)).sum()
    }
}

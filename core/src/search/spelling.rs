//! Corrections of a misspelled word, as FT.SPELLCHECK has them.
//!
//! A correction is a term of the index or of a dictionary that is to be taken in (`TERMS INCLUDE`), within a number of edits of the
//! word: a character more, less or another. That is Levenshtein's distance, RediSearch's; two characters that changed places are two
//! edits. The score of a term is the share of the index' documents that have it. So one that only a dictionary has scores 0, and one that
//! both have counts as the index' own. The best come first; of equal ones those that come first by their bytes.
//!
//! A word is none of the misspelled if the index has it as a term, or a dictionary that is to be left out (`TERMS EXCLUDE`): for such a
//! word the caller asks nothing here. A term of an included dictionary may be the word itself.

use crate::sorted;

/// Most edits that a request may allow: RediSearch's bound.
pub const DISTANCE_MAX: u8 = 4;

/// Longest word, in characters, that has corrections, and longest correction: RediSearch's bound of a word.
pub const WORD_MAX_CHARS: usize = 99;

/// Most corrections of one word. Four edits of a word with five letters are a good part of a language, and nobody reads more.
pub const CORRECTIONS_MAX: usize = 1000;

/// A term in place of a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// The term.
    pub term: String,
    /// The share of the documents that have it, from 0 to 1.
    pub score: f64,
}

/// The corrections of one word, while terms are offered.
#[derive(Clone, Debug)]
pub struct Corrections {
    word: Vec<char>,
    most_edits: u8,
    /// Terms with how many documents have them.
    found: Vec<(String, u64)>,
}

impl Corrections {
    /// Seeks corrections within so many edits, of which there may be [`DISTANCE_MAX`] at most.
    pub fn of(word: &str, most_edits: u8) -> Corrections {
        // One more than may be, so that it is seen to be too long.
        let word = word.chars().take(WORD_MAX_CHARS + 1).collect();
        Corrections { word, most_edits: most_edits.min(DISTANCE_MAX), found: Vec::new() }
    }

    /// Offers a term, and how many documents have it: 0 for one of a dictionary. It may be offered for each part, and then their numbers are
    /// added, but for those that it had before others took its place among the best.
    pub fn offer(&mut self, term: &str, documents: u64) {
        self.offer_counted(term, &mut || Some(documents));
    }

    /// The same where it takes some work to count the documents; None if they are gone, and the term with them.
    pub fn offer_counted(&mut self, term: &str, documents: &mut dyn FnMut() -> Option<u64>) {
        if edits(&self.word, term, self.most_edits).is_none() {
            return;
        }
        let Some(documents) = documents() else { return };
        self.found.push((term.to_owned(), documents));
        if self.found.len() >= 2 * CORRECTIONS_MAX {
            self.settle();
        }
    }

    /// The best corrections, where the index has so many documents.
    pub fn best(mut self, documents: u64) -> Vec<Correction> {
        self.settle();
        let all = documents.max(1) as f64;
        let scored = |(term, documents)| Correction { term, score: documents as f64 / all };
        self.found.into_iter().map(scored).collect()
    }

    /// Sorts what was found, and keeps the best.
    fn settle(&mut self) {
        sorted::all(&mut self.found, |left, right| left.0.cmp(&right.0));
        self.found.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 += if is_same { later.1 } else { 0 };
            is_same
        });
        sorted::all(&mut self.found, |left, right| right.1.cmp(&left.1));
        self.found.truncate(CORRECTIONS_MAX);
    }
}

/// How many edits lie between two texts, in characters; None if they are more than `max`, or if one of the texts has more than
/// [`WORD_MAX_CHARS`] characters. Takes their lengths times `max` steps.
pub fn distance(a: &str, b: &str, max: u8) -> Option<u8> {
    let a: Vec<char> = a.chars().take(WORD_MAX_CHARS + 1).collect();
    edits(&a, b, max)
}

fn edits(a: &[char], b: &str, max: u8) -> Option<u8> {
    let (len, band) = (a.len(), usize::from(max));
    if len > WORD_MAX_CHARS {
        return None;
    }
    // How far the part of `b` that was read is from each beginning of `a`, by its length. What is more than `max` is said as one more:
    // beyond the band around the diagonal everything is.
    let (many, mut row) = (max.saturating_add(1), [0_u8; WORD_MAX_CHARS + 1]);
    for (at, edits) in row.iter_mut().enumerate() {
        *edits = u8::try_from(at).unwrap_or(many).min(many);
    }
    let mut read = 0;
    for char in b.chars() {
        read += 1;
        if read > len + band || read > WORD_MAX_CHARS {
            return None;
        }
        let (from, to) = (read.saturating_sub(band), (read + band).min(len));
        // The one before in this row, and in the row above.
        let (mut left, mut diagonal) = (many, row.get(from.wrapping_sub(1)).copied().unwrap_or(many));
        let mut least = many;
        for at in from..=to {
            let above = *row.get(at)?;
            let replaced = if at == 0 { many } else { diagonal + u8::from(a.get(at - 1) != Some(&char)) };
            let here = replaced.min(left.saturating_add(1)).min(above.saturating_add(1)).min(many);
            *row.get_mut(at)? = here;
            (left, diagonal, least) = (here, above, least.min(here));
        }
        if let Some(behind) = row.get_mut(to + 1) {
            *behind = many;
        }
        if let Some(before) = from.checked_sub(1).and_then(|before| row.get_mut(before)) {
            *before = many;
        }
        if least == many {
            return None;
        }
    }
    row.get(len).copied().filter(|edits| *edits < many)
}

#[cfg(test)]
mod tests;

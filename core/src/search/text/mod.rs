//! How texts become terms: two analyzers, stems and stop words. Pure functions over bytes, the same in every home.
//!
//! - [`words`] does as RediSearch does: words between separators, in lower case. Stems and stop words belong to it.
//! - [`instant`] serves search as one types: Unicode words without accents, widths and case, and pairs of characters where a language
//!   writes no spaces.
//! - [`fold`] is the folding of `instant` for whole values, by which they are sorted and compared.
//! - [`fold_tag`] is the folding of tags.
//!
//! A text is any bytes. Bytes that are not UTF-8 count as U+FFFD each, and nothing panics. All of these take time linear in the
//! text, and memory for one word at a time. They are part of the format of an index: if one of them changes, so does the version of
//! segments, and those that were written before are built again.

mod decode;
mod fold;
mod fold_table;
pub mod instant;
mod language;
mod stop_words;
pub mod words;

#[cfg(test)]
pub(crate) mod tests;

pub use decode::{Character, character_at};
pub use fold::{fold, fold_tag};
pub use language::{Language, STEM_MIN_BYTES, stem};
pub use stop_words::is_default_stop_word;

use super::schema::Analyzer;

/// A word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The word as it stands in the index: folded, without escapes, cut at the analyzer's bound.
    pub text: &'a str,
    /// Its number among the words of the text, from 0; stop words have none.
    pub position: u32,
    /// Where it starts in the text, in bytes. Starts increase from token to token.
    pub start: usize,
    /// Where it ends in the text, in bytes, escapes and a cut part included. Ends never decrease. Only pairs of characters overlap.
    pub end: usize,
    /// Whether it is a character or a pair of characters of a script that writes no spaces.
    pub is_pair: bool,
    /// Whether nothing stands between this token and the one before it. A query means such tokens as a phrase.
    pub is_adjacent: bool,
}

/// Calls `each` with every word of a document's text. `is_stop_word` counts for [`Analyzer::Words`] alone: the other one indexes all words.
pub fn analyze(
    analyzer: Analyzer,
    text: &[u8],
    is_stop_word: &dyn Fn(&str) -> bool,
    each: &mut dyn FnMut(Token<'_>),
) {
    match analyzer {
        Analyzer::Words => words::words(text, is_stop_word, each),
        Analyzer::Instant => instant::words(text, instant::Source::Document, each),
    }
}

/// Calls `each` with the terms of a word of a query whose escapes are gone, as documents have them: one for [`Analyzer::Words`], none or
/// several for the other one. Whether a term and the one before it are a phrase is said beside it.
pub fn analyze_word(analyzer: Analyzer, word: &[u8], each: &mut dyn FnMut(&str, bool)) {
    match analyzer {
        Analyzer::Words => {
            let mut folded = String::new();
            words::fold_word(word, &mut folded);
            each(&folded, false);
        }
        Analyzer::Instant => {
            instant::words(word, instant::Source::Query, &mut |token| each(token.text, token.is_adjacent));
        }
    }
}

/// The same terms in groups: those that nothing stands between, which are a phrase, are one.
pub fn groups_of_word(analyzer: Analyzer, word: &[u8]) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    analyze_word(analyzer, word, &mut |term, is_adjacent| match groups.last_mut() {
        Some(group) if is_adjacent => group.push(term.to_owned()),
        _ => groups.push(vec![term.to_owned()]),
    });
    groups
}

/// The folded form of a part of a word, such as the beginning that is looked for, or of a word of a list.
pub fn fold_part(analyzer: Analyzer, part: &[u8]) -> String {
    let mut folded = String::new();
    match analyzer {
        Analyzer::Words => words::fold_word(part, &mut folded),
        Analyzer::Instant => fold(part, &mut folded),
    }
    folded
}

/// The end of the source of the first `characters` characters of a token's text, in bytes. `word` is the token's source.
pub fn end_of_prefix(analyzer: Analyzer, word: &[u8], characters: usize) -> usize {
    match analyzer {
        Analyzer::Words => words::end_of_prefix(word, characters),
        Analyzer::Instant => instant::end_of_prefix(word, characters),
    }
}

//! What of a text a query has found, for people to see: whole texts with marks, and the parts around matches.
//!
//! - [`summary`] does what RediSearch's HIGHLIGHT and SUMMARIZE do.
//! - [`crop`] does what Meilisearch's `_formatted` and `_matchesPosition` do: one window of words, and only the typed part of a word marked.
//!
//! Texts are bytes and stay as they are: tags and markers are put in between, nothing is escaped. Which words match is the caller's
//! knowledge; it gets every token and answers with a [`Hit`]. Time is linear in the text, except for sorting fragments.

pub mod crop;
pub mod summary;

#[cfg(test)]
mod tests;

use super::schema::Analyzer;
use super::text::{Token, analyze, end_of_prefix};

/// What stands around a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags<'a> {
    /// Before it.
    pub open: &'a [u8],
    /// After it.
    pub close: &'a [u8],
}

/// What RediSearch takes unless HIGHLIGHT says TAGS.
impl Default for Tags<'static> {
    fn default() -> Self {
        Tags { open: b"<b>", close: b"</b>" }
    }
}

/// A token matches a word of the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number of the word in the query: parts of the text with several different words are better.
    pub term: u32,
    /// How much a match of the word counts, more for rarer words; 1 if the caller does not know.
    pub weight: f32,
    /// How many characters of the token match, if it is a prefix that does; None for the whole token.
    pub characters: Option<usize>,
}

impl Hit {
    /// A whole word that counts 1.
    pub fn of(term: u32) -> Hit {
        Hit { term, weight: 1.0, characters: None }
    }
}

/// How a field's text becomes tokens.
#[derive(Clone, Copy)]
pub struct Analysis<'a> {
    /// The analyzer of the index.
    pub analyzer: Analyzer,
    /// Its stop words.
    pub is_stop_word: &'a dyn Fn(&str) -> bool,
}

/// Says of a token whether it matches the query.
pub type Matcher<'a> = dyn FnMut(&Token<'_>) -> Option<Hit> + 'a;

/// A matching part of a text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    pub start: usize,
    pub end: usize,
    pub position: u32,
    pub term: u32,
    pub weight: f32,
    /// Whether it goes on where the mark before it ends, in a script without spaces.
    pub is_adjacent: bool,
}

/// Calls `each` with the matching parts of a text in their order. Pairs of characters overlap; all other marks do not.
pub(crate) fn marks(
    text: &[u8],
    analysis: Analysis<'_>,
    matcher: &mut Matcher<'_>,
    each: &mut dyn FnMut(Mark),
) {
    analyze(analysis.analyzer, text, analysis.is_stop_word, &mut |token| {
        let Some(hit) = matcher(&token) else { return };
        let end = match hit.characters {
            Some(characters) if characters < token.text.chars().count() => {
                let source = text.get(token.start..token.end).unwrap_or_default();
                token.start + end_of_prefix(analysis.analyzer, source, characters)
            }
            _ => token.end,
        };
        if end > token.start {
            let Token { start, position, is_adjacent, .. } = token;
            each(Mark { start, end, position, term: hit.term, weight: hit.weight, is_adjacent });
        }
    });
}

/// Joins marks of a script without spaces into one, so that a found phrase is marked once.
#[derive(Default)]
pub(crate) struct Merger {
    pending: Option<(usize, usize)>,
}

impl Merger {
    /// Takes the next mark; gives the part before it if it is complete.
    pub fn push(&mut self, mark: &Mark) -> Option<(usize, usize)> {
        match &mut self.pending {
            Some((_, end)) if mark.start < *end || (mark.start == *end && mark.is_adjacent) => {
                *end = mark.end.max(*end);
                None
            }
            pending => pending.replace((mark.start, mark.end)),
        }
    }

    /// The last part.
    pub fn finish(self) -> Option<(usize, usize)> {
        self.pending
    }
}

/// So many bytes of marked text have tags at most: a page of many long tags would take all memory.
const MARKED_MAX_BYTES: usize = 8 << 20;

/// Writes a part of a text with tags around the marked bytes: first what is between them, then them.
pub(crate) struct Tagger<'a> {
    pub text: &'a [u8],
    pub tags: Option<Tags<'a>>,
    /// Up to where the text has been written.
    pub at: usize,
    pub out: Vec<u8>,
}

impl Tagger<'_> {
    /// Writes what comes before a marked part, and the part.
    pub fn mark(&mut self, start: usize, end: usize) {
        if self.out.len() > MARKED_MAX_BYTES {
            return self.plain(end);
        }
        self.plain(start);
        if end <= self.at {
            return;
        }
        self.out.extend_from_slice(self.tags.map_or(&b""[..], |tags| tags.open));
        self.plain(end);
        self.out.extend_from_slice(self.tags.map_or(&b""[..], |tags| tags.close));
    }

    /// Writes the text up to `end`.
    pub fn plain(&mut self, end: usize) {
        if let Some(part) = self.text.get(self.at..end) {
            self.out.extend_from_slice(part);
            self.at = end;
        }
    }
}

//! Which words of a text a query has found: for highlighting.

use std::borrow::Cow;

use crate::search::edits::{Edits, Rules};

use super::{Answer, Request};

/// How a word of a text matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The number of the query's word: those of phrases first, then the others.
    pub word: usize,
    /// How many characters of the text's word are meant, from its beginning.
    pub characters: usize,
}

struct Word<'q> {
    text: Cow<'q, str>,
    number: usize,
    is_open: bool,
    /// Edits that it may be away.
    distance_max: u8,
    others: Vec<String>,
}

/// Compares words of texts with those of a query.
pub struct Marker<'q> {
    words: Vec<Word<'q>>,
    edits: Edits,
}

impl<'q> Marker<'q> {
    /// For the words that an answer is made of.
    pub fn new(request: &Request<'q>, answer: &Answer) -> Marker<'q> {
        let phrases = request.phrases.iter().flatten().map(|text| (Cow::Borrowed(*text), false, 0));
        let typos = request.typos;
        let used = request.words.iter().take(answer.words_used).enumerate().map(|(at, text)| {
            let characters = text.chars().count();
            let distance = match typos.one_min.filter(|_| answer.has_typos) {
                Some(one_min) if characters >= typos.two_min.max(one_min) => 2,
                Some(one_min) if characters >= one_min => 1,
                _ => 0,
            };
            (Cow::Borrowed(*text), request.is_open && at + 1 == request.words.len(), distance)
        });
        let fixed = request.phrases.iter().map(Vec::len).sum::<usize>();
        let words = phrases.chain(used).enumerate().map(|(number, (text, is_open, distance_max))| {
            let mut others = Vec::new();
            if number >= fixed {
                (request.synonyms)(&text, &mut |other| others.push(other.to_string()));
            }
            Word { text, number, is_open, distance_max, others }
        });
        let mut words: Vec<Word<'q>> = words.collect();
        // Neighbours that are one word in a text.
        for (at, pair) in request.words.get(..answer.words_used).unwrap_or_default().windows(2).enumerate() {
            let is_open = request.is_open && at + 2 == request.words.len();
            let text = Cow::Owned(pair.concat());
            words.push(Word { text, number: fixed + at, is_open, distance_max: 0, others: Vec::new() });
        }
        let parts = answer.parts.iter().map(|(number, part)| Word {
            text: Cow::Owned(part.clone()),
            number: *number,
            is_open: false,
            distance_max: 0,
            others: Vec::new(),
        });
        words.extend(parts);
        Marker { words, edits: Edits::default() }
    }

    /// How a word of a text, folded as the index folds it, matches: as the first of the query's words that it is, or begins with; else as
    /// the first that it is with typos.
    pub fn find(&mut self, token: &str) -> Option<Mark> {
        let all = token.chars().count();
        for word in &self.words {
            if word.is_open && token.starts_with(&*word.text) {
                return Some(Mark { word: word.number, characters: word.text.chars().count() });
            }
            if token == word.text || word.others.iter().any(|other| other == token) {
                return Some(Mark { word: word.number, characters: all });
            }
        }
        for word in self.words.iter().filter(|word| word.distance_max > 0) {
            if token.chars().next() != word.text.chars().next() {
                continue;
            }
            self.edits.start(
                &word.text,
                Rules { distance_max: word.distance_max, is_prefix: word.is_open, has_swaps: true },
            );
            if self.edits.next(token.as_bytes(), 0).0.is_some() {
                let characters = if word.is_open { self.edits.best_characters() } else { all };
                return Some(Mark { word: word.number, characters });
            }
        }
        None
    }
}

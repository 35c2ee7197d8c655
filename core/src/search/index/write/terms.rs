//! Walks over the terms of all inputs at once, and stops wherever its budget ends.

use crate::search::index::part::{List, Walk};
use crate::search::schema::FieldId;

use super::input::{Input, Reading};

/// Terms that a cursor reads ahead.
const AHEAD: usize = 128;

/// The part of a live document without a place, and the number of a term that is gone.
pub(super) const GONE: u32 = u32::MAX;

/// Which terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Terms {
    Words,
    Stems,
    Tags(FieldId),
}

/// Some terms of one input.
#[derive(Debug, Default)]
struct Cursor {
    texts: Vec<u8>,
    /// Where each text ends, and its list; of a stem, `at` and `len` are a range of `words`.
    entries: Vec<(usize, List)>,
    words: Vec<u32>,
    at: usize,
    /// Terms that were read before these.
    before: u32,
    /// The first text that was not read ahead.
    from: Vec<u8>,
    is_at_end: bool,
}

impl Cursor {
    fn text(&self) -> Option<&[u8]> {
        let (end, _) = self.entries.get(self.at)?;
        let start =
            self.at.checked_sub(1).and_then(|before| self.entries.get(before)).map_or(0, |entry| entry.0);
        self.texts.get(start..*end)
    }

    /// Reads ahead if nothing is left.
    fn fill(&mut self, input: &dyn Input, terms: Terms) {
        if self.at < self.entries.len() || self.is_at_end {
            return;
        }
        self.before += self.entries.len() as u32;
        self.texts.clear();
        self.entries.clear();
        self.words.clear();
        self.at = 0;
        let (texts, entries, numbers) = (&mut self.texts, &mut self.entries, &mut self.words);
        let mut visit = |text: &[u8], _: usize, list: List| {
            texts.extend_from_slice(text);
            entries.push((texts.len(), list));
            if entries.len() == AHEAD { Walk::End } else { Walk::On }
        };
        match terms {
            Terms::Words => input.words(&self.from, &mut visit),
            Terms::Tags(field) => input.tags(field, &self.from, &mut visit),
            Terms::Stems => input.stems(&self.from, &mut |text, words| {
                let list = List { documents: 0, at: numbers.len() as u32, len: words.len() as u32 };
                numbers.extend_from_slice(words);
                visit(text, 0, list) == Walk::On
            }),
        }
        self.is_at_end = self.entries.len() < AHEAD;
        let start = self
            .entries
            .len()
            .checked_sub(2)
            .and_then(|before| self.entries.get(before))
            .map_or(0, |entry| entry.0);
        self.from.clear();
        self.from.extend_from_slice(self.texts.get(start..).unwrap_or_default());
        self.from.push(0);
    }
}

/// A term that an input has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) input: usize,
    /// Its number there.
    pub(super) number: u32,
    pub(super) list: List,
}

/// All cursors, and the term at which they are.
#[derive(Debug)]
pub(super) struct Walking {
    pub(super) terms: Terms,
    cursors: Vec<Cursor>,
    pub(super) term: Vec<u8>,
    /// The inputs that have the term.
    pub(super) found: Vec<Found>,
    /// The list that is being read, and its place in `found`.
    pub(super) reading: Option<(usize, Reading)>,
}

impl Walking {
    pub(super) fn new(terms: Terms, inputs: usize) -> Walking {
        let cursors = (0..inputs).map(|_| Cursor::default()).collect();
        Walking { terms, cursors, term: Vec::new(), found: Vec::new(), reading: None }
    }

    /// Goes to the next term; false if there is none.
    pub(super) fn advance(&mut self, inputs: &[&dyn Input]) -> bool {
        self.found.clear();
        self.reading = None;
        for (cursor, input) in self.cursors.iter_mut().zip(inputs) {
            cursor.fill(*input, self.terms);
        }
        let Some(least) = self.cursors.iter().filter_map(Cursor::text).min() else { return false };
        self.term.clear();
        self.term.extend_from_slice(least);
        for (number, (cursor, input)) in self.cursors.iter_mut().zip(inputs).enumerate() {
            if cursor.text() == Some(&self.term)
                && let Some((_, list)) = cursor.entries.get(cursor.at)
            {
                let of_input = input.number_of(*list, cursor.before + cursor.at as u32);
                self.found.push(Found { input: number, number: of_input, list: *list });
                cursor.at += 1;
            }
        }
        true
    }

    /// The words of a stem that an input has.
    pub(super) fn words(&self, found: Found) -> &[u32] {
        let (start, len) = (found.list.at as usize, found.list.len as usize);
        self.cursors
            .get(found.input)
            .and_then(|cursor| cursor.words.get(start..start + len))
            .unwrap_or_default()
    }
}

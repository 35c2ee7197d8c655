//! The part of an index in memory that takes new documents.
//!
//! ```text
//! word  -> buffer of [place gap] [rank byte] [occurrences] …      (varints; see `occurrences`)
//! stem  -> buffer of numbers of words; the stem has its language before it
//! tag   -> buffer of [place gap] …, a dictionary for each tag field
//! place -> id, key, and columns for each field
//! ```
//!
//! A gap is how many places lie between a posting and the one before. The words of a stem are all words that some document of the
//! language had in a field with stems, other than the stem itself: who has the dictionary finds that without help.

pub(super) mod columns;
mod dictionary;
mod pool;
mod postings;
mod read;

use std::collections::BTreeMap;

use crate::search::text::{self, Language};

use super::bytes::put;
use super::heads::Heads;
pub(super) use read::within;

use super::part::{BLOCK, DocumentId};
use super::prepare::{Prepared, Value};
use columns::Columns;
use dictionary::Dictionary;

/// No more documents are taken from so much memory on, so that a segment made of it stays far below 2 GiB.
pub const DELTA_MAX_BYTES: usize = 1 << 30;

/// The delta takes no more documents: a segment must be made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Documents in memory.
#[derive(Debug, Default)]
pub struct Delta {
    ids: Vec<DocumentId>,
    /// Places in the order of ids.
    order: Vec<u32>,
    keys: Vec<u8>,
    key_ends: Vec<u32>,
    words: Dictionary,
    stems: Dictionary,
    /// Of words with many postings: where every further [`BLOCK`] of them starts.
    skips: BTreeMap<u32, Vec<Skip>>,
    /// Bytes of memory that they take.
    skips_bytes: usize,
    /// How many words a text field has, by text field and place.
    counts: Vec<Vec<u16>>,
    frequencies: Vec<u32>,
    /// Factors of scores; a document beyond the end has 1.
    scores: Vec<f32>,
    columns: Vec<Columns>,
    heads: Heads,
}

/// About what an entry of the map of skips takes beside them.
const SKIPS_BYTES: usize = 64;

/// Where postings go on within a buffer.
#[derive(Clone, Copy, Debug)]
struct Skip {
    /// The place after the last one before.
    next: u32,
    at: u32,
}

/// A stem as it stands in dictionaries: its language, and its bytes.
pub(super) fn stem_key(language: Language, stem: &[u8], into: &mut Vec<u8>) {
    into.clear();
    // The numbers are those of the type, to which languages are only ever appended.
    into.push(language as u8);
    into.extend_from_slice(stem);
}

impl Delta {
    /// Nothing yet.
    pub fn new() -> Delta {
        Delta::default()
    }

    /// Whether it has no documents.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Adds a document, and returns its place. Its id must not be here yet. Fails if there is no room, and changes nothing then.
    pub fn add(&mut self, document: &Prepared) -> Result<u32, Full> {
        let place = self.ids.len() as u32;
        if self.is_full() || self.keys.len() + document.bytes.len() > DELTA_MAX_BYTES {
            return Err(Full);
        }
        self.ids.push(document.id);
        let is_last = self.order.last().is_none_or(|last| self.id_of(*last) < document.id);
        let at = if is_last {
            self.order.len()
        } else {
            self.order.partition_point(|other| self.id_of(*other) < document.id)
        };
        self.order.insert(at, place);
        self.keys.extend_from_slice(document.piece(document.key));
        self.key_ends.push(self.keys.len() as u32);
        self.add_words(place, document);
        self.frequencies.push(document.frequency_max);
        for (text_field, count) in &document.counts {
            let at = usize::from(*text_field);
            if self.counts.len() <= at {
                self.counts.resize_with(at + 1, Vec::new);
            }
            if let Some(counts) = self.counts.get_mut(at) {
                counts.resize(place as usize, 0);
                counts.push(*count);
            }
        }
        if document.score != 1.0 {
            self.scores.resize(place as usize, 1.0);
            self.scores.push(document.score);
        }
        self.add_values(place, document);
        Ok(place)
    }

    fn is_full(&self) -> bool {
        self.words.is_full()
            || self.stems.is_full()
            || self.ids.len() >= u32::MAX as usize / 4
            || self.columns.iter().any(Columns::is_full)
    }

    fn id_of(&self, place: u32) -> DocumentId {
        self.ids.get(place as usize).copied().unwrap_or(0)
    }

    fn add_words(&mut self, place: u32, document: &Prepared) {
        let mut bytes = Vec::with_capacity(64);
        let (mut stem, mut key) = (String::new(), Vec::new());
        let noted = document.language as u8 + 1;
        for word in &document.words {
            let text = document.piece(word.text);
            let number = self.words.add(text);
            let Some(term) = self.words.term_mut(number) else { continue };
            if term.count > 0 && (term.count as usize).is_multiple_of(BLOCK) {
                let skips = self.skips.entry(number).or_default();
                let (room, is_new) = (skips.capacity(), skips.is_empty());
                skips.push(Skip { next: term.next, at: term.len });
                self.skips_bytes += (skips.capacity() - room) * size_of::<Skip>();
                self.skips_bytes += if is_new { SKIPS_BYTES } else { 0 };
            }
            bytes.clear();
            put(&mut bytes, place - term.next);
            bytes.push(word.rank.0);
            bytes.extend_from_slice(document.piece(word.occurrences));
            term.next = place + 1;
            term.count += 1;
            let is_new = word.has_stem && term.note != noted;
            if is_new {
                term.note = noted;
            }
            self.words.append(number, &bytes);
            if is_new && let Ok(text) = str::from_utf8(text) {
                stem.clear();
                text::stem(document.language, text, &mut stem);
                if stem != text {
                    stem_key(document.language, stem.as_bytes(), &mut key);
                    self.add_stem(&key, number);
                }
            }
        }
    }

    /// Notes that a word has a stem, unless that is known.
    fn add_stem(&mut self, key: &[u8], word: u32) {
        let stem = self.stems.add(key);
        let bytes = word.to_le_bytes();
        if !self.stems.buffer(stem).chunks_exact(4).any(|other| other == bytes) {
            self.stems.append(stem, &bytes);
        }
    }

    fn add_values(&mut self, place: u32, document: &Prepared) {
        if self.columns.len() < usize::from(document.fields_known) {
            self.columns.resize_with(usize::from(document.fields_known), Columns::default);
        }
        for (field, value) in &document.values {
            let Some(columns) = self.columns.get_mut(usize::from(field.0)) else { continue };
            columns.has.grow(place + 1);
            columns.has.add(place);
            match value {
                Value::Text => {}
                Value::Numbers(numbers) => columns.add_numbers(place, numbers),
                Value::Positions(positions) => {
                    columns.positions.extend(positions.iter().map(|at| (place, at.0, at.1)))
                }
                Value::Vector(vector) => columns.add_vector(place, document.piece(*vector)),
                Value::Tags(tags, is_case_sensitive) => {
                    let all = columns.tags.get_or_insert_default();
                    all.is_case_sensitive = *is_case_sensitive;
                    let mut numbers = Vec::with_capacity(tags.len());
                    for (folded, written) in tags {
                        let number = all.folded.add(document.piece(*folded));
                        if number as usize == all.written.len() {
                            let written = if folded == written { &[] } else { document.piece(*written) };
                            all.written.push(written.into());
                        }
                        let Some(term) = all.folded.term_mut(number) else { continue };
                        let gap = place - term.next;
                        term.next = place + 1;
                        term.count += 1;
                        let mut bytes = Vec::with_capacity(5);
                        put(&mut bytes, gap);
                        all.folded.append(number, &bytes);
                        numbers.push(number);
                    }
                    numbers.sort_unstable();
                    all.set(place, &numbers);
                }
            }
        }
        for (field, text) in &document.sort_texts {
            if let Some(columns) = self.columns.get_mut(usize::from(field.0)) {
                columns.add_sort_text(place, document.piece(*text));
            }
        }
    }

    /// Bytes of memory that it takes: its documents, and what queries may remember of them.
    pub fn memory_bytes(&self) -> usize {
        let own = self.documents_bytes();
        own + Heads::bytes_max(own)
    }

    fn documents_bytes(&self) -> usize {
        let documents = self.ids.capacity() * 8
            + (self.order.capacity() + self.key_ends.capacity()) * 4
            + self.keys.capacity();
        let counts: usize = self.counts.iter().map(|counts| counts.capacity() * 2 + 24).sum();
        let columns: usize = self.columns.iter().map(Columns::memory_bytes).sum();
        let terms = self.words.memory_bytes() + self.stems.memory_bytes();
        documents
            + counts
            + self.skips_bytes
            + columns
            + terms
            + (self.scores.capacity() + self.frequencies.capacity()) * 4
            + size_of::<Delta>()
    }
}

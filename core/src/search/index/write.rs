//! Writes a segment from parts: a delta that is frozen, or segments that are merged. Documents come in the order of their ids, so the bytes
//! depend only on which documents there are, not on how they lay in parts.
//!
//! ```text
//! header (HEADER bytes)
//!   "ECSG" | version u32 | index number u64 | first id u64 | last id u64 | postings u64
//!   places u32 | words u32 | fields u16 | text fields u16 | sections u32
//! table: for each section its offset u32 and its length u32
//! sections, in this order
//!   0 ids        blocks of 64: first id u64, offset of the rest and width u32; then differences from the first, if they are not 1 each
//!   1 keys       blocks of 16: offset u32; then entries: shared, length, bytes (varints)
//!   2 words      blocks of 32: offset of the entries and of their first list u32 each; entries: shared, length, bytes, documents, bytes of list
//!   3 lists of words: bytes of places; every 128 postings but the first a skip (place after, offset in places, in occurrences: u32 each);
//!                place gaps (varints) | rank bytes | occurrences
//!   4 stems      a dictionary like words
//!   5 lists of stems: numbers of words, as gaps
//!   6 scores     f32 each; empty if all are 1
//!   7 frequencies of the most frequent words: width u8, then those of each document
//!   8.. one for each text field: width u8, then words of each document
//!   .. one for each field: its columns (`columns`)
//! CRC-32C of all before, u32
//! ```

pub(super) mod columns;
mod dictionary;

use std::sync::Arc;

use super::bytes::{put, put_narrow, width_of};
use super::occurrences;
use super::part::{BLOCK, Block, DocumentId, Part, Position};
use crate::search::bits::Bits;
use crate::search::schema::FieldId;
use crate::sorted;
pub(super) use dictionary::{DictionaryWriter, TERM_BLOCK};

/// The beginning of every segment.
pub(super) const MAGIC: &[u8; 4] = b"ECSG";
/// The version of the format, and of what texts become in it ([`crate::search::text`]): segments of another one are built again.
pub(super) const VERSION: u32 = 2;
/// Bytes of the header.
pub(super) const HEADER: usize = 56;
/// Sections before those of text fields.
pub(super) const FIXED_SECTIONS: usize = 8;
/// Ids in a block.
pub(super) const ID_BLOCK: usize = 64;
/// Keys in a block.
pub(super) const KEY_BLOCK: usize = 16;

/// What is read of a part to write it anew, beside what queries read.
pub(super) trait Whole: Part {
    /// How many fields it knows.
    fn fields(&self) -> u16;

    /// How many text fields it knows.
    fn text_fields(&self) -> u16;

    /// Shows stems, each with its language before it, and their words: in the order of the stems.
    fn stems(&self, visit: &mut dyn FnMut(&[u8], &[u8]));

    /// All numbers of a field of a document.
    fn numbers_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64));

    /// All positions of a field of a document, in the units in which they are stored.
    fn units_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(i32, i32));

    /// A tag by its number, as it is folded.
    fn tag_folded(&self, field: FieldId, tag: u32, into: &mut Vec<u8>);
}

/// A document of one of the inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub id: DocumentId,
    pub input: u32,
    pub place: u32,
}

/// One input of a writer.
pub(super) struct Input {
    pub part: Arc<dyn Whole + Send + Sync>,
    /// New places by old ones; [`GONE`] for documents that are not written.
    pub moved: Vec<u32>,
    /// Terms that were read ahead, the next one last.
    ahead: Vec<(Vec<u8>, super::part::List)>,
    /// Behind which term it goes on; None at the end.
    from: Option<Vec<u8>>,
}

/// The new place of a document that is left out.
pub(super) const GONE: u32 = u32::MAX;

/// Terms that are read ahead of an input at a time.
const AHEAD: usize = 64;

impl Input {
    fn fill(&mut self) {
        let Some(from) = self.from.take().filter(|_| self.ahead.is_empty()) else { return };
        let part = self.part.clone();
        let ahead = &mut self.ahead;
        part.words(&from, &mut |term, _, list| {
            ahead.push((term.to_vec(), list));
            if ahead.len() < AHEAD { super::part::Walk::On } else { super::part::Walk::End }
        });
        if ahead.len() == AHEAD {
            // Nothing lies between a term and the same with a zero behind it.
            self.from = ahead.last().map(|(term, _)| [term.as_slice(), &[0]].concat());
        }
        ahead.reverse();
    }

    fn next(&mut self) -> Option<&[u8]> {
        if self.ahead.is_empty() {
            self.fill();
        }
        self.ahead.last().map(|(term, _)| term.as_slice())
    }
}

/// A segment that is being written.
pub(super) struct Writer {
    inputs: Vec<Input>,
    documents: Vec<Origin>,
    words: DictionaryWriter,
    postings: u64,
    index_number: u64,
    scratch: Scratch,
}

/// One posting of a term, on its way.
#[derive(Clone, Copy)]
struct Moving {
    place: u32,
    rank: u8,
    start: u32,
    end: u32,
}

#[derive(Default)]
struct Scratch {
    moving: Vec<Moving>,
    bytes: Vec<u8>,
    positions: Vec<Position>,
}

impl Writer {
    /// Begins to write the live documents of parts.
    pub fn new(parts: Vec<(Arc<dyn Whole + Send + Sync>, Bits)>, index_number: u64) -> Writer {
        let mut documents = Vec::new();
        let mut inputs = Vec::new();
        for ((part, live), input) in parts.into_iter().zip(0..) {
            documents.extend(live.iter().map(|place| Origin { id: part.id(place), input, place }));
            let moved = vec![GONE; part.places() as usize];
            inputs.push(Input { part, moved, ahead: Vec::new(), from: Some(Vec::new()) });
        }
        sorted::by_key(&mut documents, |document| document.id);
        for (document, place) in documents.iter().zip(0..) {
            let input = inputs.get_mut(document.input as usize);
            if let Some(to) = input.and_then(|input| input.moved.get_mut(document.place as usize)) {
                *to = place;
            }
        }
        let (words, scratch) = (DictionaryWriter::default(), Scratch::default());
        Writer { inputs, documents, words, postings: 0, index_number, scratch }
    }

    /// Writes words of about so many postings; true once all are written.
    pub fn step(&mut self, work: u32) -> bool {
        let end = self.postings + u64::from(work);
        let mut done = 0_u32;
        while self.postings < end && done < work {
            let Some(word) = self.inputs.iter_mut().filter_map(Input::next).min().map(<[u8]>::to_vec) else {
                return true;
            };
            done += 1;
            self.write_word(&word);
        }
        false
    }

    fn write_word(&mut self, word: &[u8]) {
        let Scratch { moving, bytes, positions } = &mut self.scratch;
        moving.clear();
        bytes.clear();
        for input in &mut self.inputs {
            if input.ahead.last().is_none_or(|(term, _)| term != word) {
                continue;
            }
            let Some((_, list)) = input.ahead.pop() else { continue };
            let mut block = Block::default();
            let (mut blocks, mut looks) = (input.part.postings(list), input.part.postings(list));
            while blocks.next_block(&mut block) {
                for (place, _) in block.iter() {
                    let to = input.moved.get(*place as usize).copied().unwrap_or(GONE);
                    if to == GONE {
                        continue;
                    }
                    looks.positions(*place, positions);
                    let start = bytes.len() as u32;
                    let rank = occurrences::encode(positions, bytes);
                    moving.push(Moving { place: to, rank: rank.0, start, end: bytes.len() as u32 });
                }
            }
        }
        if moving.is_empty() {
            return;
        }
        sorted::by_key(moving, |posting| posting.place.into());
        self.postings += moving.len() as u64;
        let out = self.words.begin(word, moving.len() as u32);
        write_list(moving, bytes, out);
        self.words.end();
    }

    /// The segment. To be called once all words are written.
    pub fn finish(self) -> Vec<u8> {
        let Writer { inputs, documents, words, postings, index_number, .. } = self;
        let fields = inputs.iter().map(|input| input.part.fields()).max().unwrap_or(0);
        let text_fields = inputs.iter().map(|input| input.part.text_fields()).max().unwrap_or(0);
        let (stems, stem_lists) = stems(&inputs, &words);
        let count = words.count();
        let (words, lists) = words.finish();
        let mut sections = vec![ids(&documents), keys(&inputs, &documents), words, lists, stems, stem_lists];
        sections.push(scores(&inputs, &documents));
        sections.push(narrow_column(&inputs, &documents, &|input, place| input.part.frequency_max(place)));
        let words_of = |field| {
            narrow_column(&inputs, &documents, &|input: &Input, place| input.part.field_words(field, place))
        };
        sections.extend((0..text_fields).map(words_of));
        sections.extend((0..fields).map(|field| columns::write(&inputs, &documents, FieldId(field))));
        let mut out =
            Vec::with_capacity(HEADER + sections.iter().map(|section| section.len() + 8).sum::<usize>() + 4);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        let first = documents.first().map_or(0, |document| document.id);
        let last = documents.last().map_or(0, |document| document.id);
        for number in [index_number, first, last, postings] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in [documents.len() as u32, count] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in [fields, text_fields] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&(sections.len() as u32).to_le_bytes());
        let mut at = HEADER + sections.len() * 8;
        for section in &sections {
            out.extend_from_slice(&(at as u32).to_le_bytes());
            out.extend_from_slice(&(section.len() as u32).to_le_bytes());
            at += section.len();
        }
        sections.iter().for_each(|section| out.extend_from_slice(section));
        let sum = crc32c::crc32c(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }
}

/// Writes the list of a word.
fn write_list(moving: &[Moving], bytes: &[u8], out: &mut Vec<u8>) {
    let (mut places, mut occurrences, mut skips) =
        (Vec::with_capacity(moving.len() * 2), Vec::with_capacity(bytes.len()), Vec::new());
    let mut next = 0_u32;
    for (posting, number) in moving.iter().zip(0_usize..) {
        if number > 0 && number % BLOCK == 0 {
            for value in [next, places.len() as u32, occurrences.len() as u32] {
                skips.extend_from_slice(&value.to_le_bytes());
            }
        }
        put(&mut places, posting.place - next);
        next = posting.place + 1;
        occurrences
            .extend_from_slice(bytes.get(posting.start as usize..posting.end as usize).unwrap_or_default());
    }
    put(out, places.len() as u32);
    out.extend_from_slice(&skips);
    out.extend_from_slice(&places);
    out.extend(moving.iter().map(|posting| posting.rank));
    out.extend_from_slice(&occurrences);
}

fn ids(documents: &[Origin]) -> Vec<u8> {
    let (mut table, mut rest) = (Vec::new(), Vec::new());
    for block in documents.chunks(ID_BLOCK) {
        let Some(first) = block.first().map(|document| document.id) else { continue };
        let is_run = block.iter().zip(0..).all(|(document, at)| document.id == first + at);
        let greatest = block.last().map_or(0, |document| document.id - first);
        let width = if is_run { 0 } else { width_of(greatest) };
        table.extend_from_slice(&first.to_le_bytes());
        // The width in the upper four bits.
        table.extend_from_slice(&(u32::from(width) << 28 | rest.len() as u32).to_le_bytes());
        if width > 0 {
            block.iter().for_each(|document| put_narrow(&mut rest, width, document.id - first));
        }
    }
    table.extend_from_slice(&rest);
    table
}

fn keys(inputs: &[Input], documents: &[Origin]) -> Vec<u8> {
    let (mut table, mut entries) = (Vec::new(), Vec::new());
    let (mut before, mut key) = (Vec::new(), Vec::new());
    for (document, number) in documents.iter().zip(0_usize..) {
        key.clear();
        if let Some(input) = inputs.get(document.input as usize) {
            input.part.key(document.place, &mut key);
        }
        let mut shared = 0;
        if number % KEY_BLOCK == 0 {
            table.extend_from_slice(&(entries.len() as u32).to_le_bytes());
        } else {
            shared = super::bytes::shared(&key, &before);
        }
        put(&mut entries, shared as u32);
        put(&mut entries, (key.len() - shared) as u32);
        entries.extend_from_slice(key.get(shared..).unwrap_or_default());
        std::mem::swap(&mut before, &mut key);
    }
    table.extend_from_slice(&entries);
    table
}

fn scores(inputs: &[Input], documents: &[Origin]) -> Vec<u8> {
    let score = |document: &Origin| {
        inputs.get(document.input as usize).map_or(1.0, |input| input.part.score(document.place))
    };
    if documents.iter().all(|document| score(document) == 1.0) {
        return Vec::new();
    }
    documents.iter().flat_map(|document| score(document).to_le_bytes()).collect()
}

/// A number of each document, in as few bytes as all need.
fn narrow_column(inputs: &[Input], documents: &[Origin], number: &dyn Fn(&Input, u32) -> u32) -> Vec<u8> {
    let of = |document: &Origin| {
        inputs.get(document.input as usize).map_or(0, |input| number(input, document.place))
    };
    let width = width_of(u64::from(documents.iter().map(of).max().unwrap_or(0)));
    let mut out = vec![width];
    if width > 0 {
        documents.iter().for_each(|document| put_narrow(&mut out, width, u64::from(of(document))));
    }
    out
}

/// The dictionary of stems and their lists, of words that are still there.
fn stems(inputs: &[Input], words: &DictionaryWriter) -> (Vec<u8>, Vec<u8>) {
    let mut pairs: Vec<(Vec<u8>, u32)> = Vec::new();
    for input in inputs {
        input.part.stems(&mut |stem, word| {
            pairs.extend(words.number_of(word).map(|number| (stem.to_vec(), number)))
        });
    }
    sorted::plainly(&mut pairs);
    pairs.dedup();
    let mut stems = DictionaryWriter::default();
    for group in pairs.chunk_by(|one, other| one.0 == other.0) {
        let Some((stem, _)) = group.first() else { continue };
        let out = stems.begin(stem, group.len() as u32);
        let mut next = 0;
        for (_, word) in group {
            put(out, word - next);
            next = word + 1;
        }
        stems.end();
    }
    stems.finish()
}

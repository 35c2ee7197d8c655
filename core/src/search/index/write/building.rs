//! A segment that is being made: stages one after the other, each in steps.

use crate::search::bits::Bits;
use crate::search::index::bytes::{put, put_narrow, shared, width_of};
use crate::search::index::part::DocumentId;
use crate::search::index::segment::{ID_BLOCK, KEY_BLOCK, Kind, MAGIC, SEGMENT_MAX_BYTES, TERM_BLOCK};
use crate::search::schema::FieldId;

use super::columns::{TagNames, written};
use super::input::{Chunk, Input, Reading};
use super::lists::Gathered;
use super::terms::{GONE, Terms, Walking};

/// What is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Keys { at: usize },
    Words,
    Stems,
    Scores,
    Counts(u16),
    Has(u16),
    Numbers(u16),
    Positions(u16),
    Vectors(u16),
    TagTerms(u16),
    Tags(u16),
    SortTexts(u16),
    End,
}

/// A segment that is being made. Its inputs are handed to every step, always the same ones.
pub(in crate::search::index) struct Building {
    index_number: u64,
    pub(super) out: Vec<u8>,
    table: Vec<u8>,
    /// The checksum of the first bytes, and how many they are: what is written does not change.
    checksum: (u32, usize),
    /// The documents by place: their input and their place there.
    pub(super) order: Vec<(u32, u32)>,
    /// By input and place: the place here, or GONE.
    map: Vec<Vec<u32>>,
    first_id: DocumentId,
    fields_known: u16,
    text_fields: u16,
    stage: Stage,
    walking: Option<Walking>,
    gathered: Gathered,
    chunk: Box<Chunk>,
    /// By input and number of a term there: its number here, or GONE.
    pub(super) renumber: Vec<Vec<u32>>,
    terms: Blocks,
    word_count: u32,
    /// Where the section of lists starts.
    lists_at: usize,
    pub(super) names: TagNames,
    /// The part whose document with the lowest place has the tag, and the tag's number there.
    first_with_tag: (u32, usize, u32),
}

/// Front-coded blocks that are being written.
#[derive(Debug, Default)]
struct Blocks {
    bytes: Vec<u8>,
    heads: Vec<u8>,
    last: Vec<u8>,
    count: u32,
}

impl Blocks {
    /// Writes a term; its block's head gets `head` behind the block's start, if that is something.
    fn add(&mut self, term: &[u8], head: Option<u32>) {
        let is_first = (self.count as usize).is_multiple_of(TERM_BLOCK);
        if is_first {
            self.heads.extend_from_slice(&(self.bytes.len() as u32).to_le_bytes());
            self.heads.extend(head.into_iter().flat_map(u32::to_le_bytes));
        }
        let common = if is_first { 0 } else { shared(&self.last, term) };
        self.bytes.push(common as u8);
        self.bytes.push((term.len() - common) as u8);
        self.bytes.extend_from_slice(term.get(common..).unwrap_or_default());
        self.last.clear();
        self.last.extend_from_slice(term);
        self.count += 1;
    }
}

impl Building {
    pub(in crate::search::index) fn new(
        inputs: &[&dyn Input],
        live: &[&Bits],
        index_number: u64,
    ) -> Building {
        let documents = in_order_of_ids(inputs, live);
        let mut map: Vec<Vec<u32>> = inputs.iter().map(|input| vec![GONE; input.places() as usize]).collect();
        for ((_, input, place), new) in documents.iter().zip(0..) {
            if let Some(entry) = map.get_mut(*input as usize).and_then(|map| map.get_mut(*place as usize)) {
                *entry = new;
            }
        }
        let live_bytes = |(input, live): (&&dyn Input, &&Bits)| {
            input.bytes_expected() as u64 * u64::from(live.count()) / u64::from(input.places().max(1))
        };
        let bytes: u64 = inputs.iter().zip(live).map(live_bytes).sum();
        let mut out = Vec::with_capacity(bytes.min(SEGMENT_MAX_BYTES as u64) as usize);
        out.extend_from_slice(&MAGIC);
        // Without documents nothing is known of fields.
        let known = if documents.is_empty() { &[] } else { inputs };
        let mut building = Building {
            index_number,
            out,
            table: Vec::new(),
            checksum: (0, 0),
            order: documents.iter().map(|document| (document.1, document.2)).collect(),
            map,
            first_id: documents.first().map_or(0, |document| document.0),
            fields_known: known.iter().map(|input| input.fields_known()).max().unwrap_or(0),
            text_fields: known.iter().map(|input| input.text_fields()).max().unwrap_or(0),
            stage: Stage::Keys { at: 0 },
            walking: None,
            gathered: Gathered::default(),
            chunk: Box::new(Chunk::new()),
            renumber: Vec::new(),
            terms: Blocks::default(),
            word_count: 0,
            lists_at: 0,
            names: TagNames::default(),
            first_with_tag: (GONE, 0, 0),
        };
        building.ids(&documents);
        building
    }

    /// By input and place: the place in the segment, or [`u32::MAX`] if the document is not in it.
    pub(in crate::search::index) fn map(&self) -> &[Vec<u32>] {
        &self.map
    }

    /// Enters a section into the table, unless it has neither bytes nor a width.
    pub(super) fn section(&mut self, kind: Kind, width: u8, field: u16, start: usize) {
        if self.out.len() > start || width > 0 {
            self.section_always(kind, width, field, start);
        }
    }

    pub(super) fn section_always(&mut self, kind: Kind, width: u8, field: u16, start: usize) {
        self.table.extend_from_slice(&[kind as u8, width]);
        self.table.extend_from_slice(&field.to_le_bytes());
        self.table.extend_from_slice(&(start as u32).to_le_bytes());
        self.table.extend_from_slice(&((self.out.len() - start) as u32).to_le_bytes());
    }

    fn ids(&mut self, documents: &[(DocumentId, u32, u32)]) {
        let (start, mut offsets) = (self.out.len(), Vec::new());
        for block in documents.chunks(ID_BLOCK) {
            let (Some(first), Some(last)) = (block.first(), block.last()) else { continue };
            let span = last.0 - first.0;
            let width = if span == block.len() as u64 - 1 { 0 } else { width_of(span) };
            let code = if width == 8 { 4 } else { u32::from(width.min(3)) };
            self.out.extend_from_slice(&first.0.to_le_bytes());
            self.out.extend_from_slice(&((offsets.len() as u32) << 3 | code).to_le_bytes());
            for document in block {
                put_narrow(&mut offsets, width, document.0 - first.0);
            }
        }
        self.section(Kind::IdBlocks, 0, 0, start);
        let start = self.out.len();
        self.out.extend_from_slice(&offsets);
        self.section(Kind::IdOffsets, 0, 0, start);
    }

    /// Writes keys of so many documents; returns whether all are written.
    fn keys(&mut self, inputs: &[&dyn Input], at: usize, count: usize) -> bool {
        let start = at;
        let (mut key, mut last) = (Vec::new(), std::mem::take(&mut self.terms.last));
        for (number, (input, place)) in self.order.iter().enumerate().skip(start).take(count) {
            key.clear();
            if let Some(input) = inputs.get(*input as usize) {
                input.key(*place, &mut key);
            }
            let is_first = number.is_multiple_of(KEY_BLOCK);
            if is_first {
                self.terms.heads.extend_from_slice(&(self.terms.bytes.len() as u32).to_le_bytes());
            }
            let common = if is_first { 0 } else { shared(&last, &key) };
            put(&mut self.terms.bytes, common as u32);
            put(&mut self.terms.bytes, (key.len() - common) as u32);
            self.terms.bytes.extend_from_slice(key.get(common..).unwrap_or_default());
            std::mem::swap(&mut key, &mut last);
        }
        self.terms.last = last;
        at + count >= self.order.len()
    }

    /// Writes the blocks that are complete.
    fn blocks(&mut self, heads: Kind, bytes: Kind) {
        let blocks = std::mem::take(&mut self.terms);
        let start = self.out.len();
        self.out.extend_from_slice(&blocks.heads);
        self.section(heads, 0, 0, start);
        let start = self.out.len();
        self.out.extend_from_slice(&blocks.bytes);
        self.section(bytes, 0, 0, start);
    }

    /// Goes on by about so many postings or documents; true if the segment is complete.
    pub(in crate::search::index) fn step(&mut self, inputs: &[&dyn Input], work: u32) -> bool {
        let mut budget = u64::from(work.max(1));
        while budget > 0 && self.stage != Stage::End {
            if self.out.len() + self.terms.bytes.len() > SEGMENT_MAX_BYTES {
                self.stage = Stage::End;
                break;
            }
            self.stage = self.advance(inputs, &mut budget);
        }
        let (sum, done) = self.checksum;
        let fresh = self.out.get(done..).unwrap_or_default();
        self.checksum = (crc32c::crc32c_append(sum, fresh), self.out.len());
        self.stage == Stage::End
    }

    /// A part of a stage; returns the stage that comes next, which may be the same.
    fn advance(&mut self, inputs: &[&dyn Input], budget: &mut u64) -> Stage {
        let stage = self.stage;
        if let Stage::Keys { at } = stage {
            let count = (*budget).min(1 << 20) as usize;
            *budget = budget.saturating_sub((self.order.len() - at).min(count) as u64);
            if !self.keys(inputs, at, count) {
                return Stage::Keys { at: at + count };
            }
            self.blocks(Kind::KeyBlocks, Kind::Keys);
            self.lists_at = self.out.len();
            return Stage::Words;
        }
        let terms = match stage {
            Stage::Words => Some(Terms::Words),
            Stage::Stems => Some(Terms::Stems),
            Stage::TagTerms(field) => Some(Terms::Tags(FieldId(field))),
            _ => None,
        };
        if let Some(terms) = terms {
            let is_done = self.walk(inputs, terms, budget);
            return if is_done { self.end_of_terms(stage) } else { stage };
        }
        *budget = budget.saturating_sub(self.order.len() as u64);
        self.columns(inputs, stage)
    }

    /// Writes one column of all documents.
    fn columns(&mut self, inputs: &[&dyn Input], stage: Stage) -> Stage {
        let id = FieldId;
        match stage {
            Stage::Scores => self.scores(inputs),
            Stage::Counts(field) if field < self.text_fields => {
                self.word_counts(inputs, field);
                return Stage::Counts(field + 1);
            }
            Stage::Has(field) if field < self.fields_known => self.has(inputs, id(field)),
            Stage::Numbers(field) => self.numbers(inputs, id(field)),
            Stage::Positions(field) => self.positions(inputs, id(field)),
            Stage::Vectors(field) => self.vectors(inputs, id(field)),
            Stage::Tags(field) => self.tags(inputs, id(field)),
            Stage::SortTexts(field) => self.sort_texts(inputs, id(field)),
            _ => {}
        }
        match stage {
            Stage::Scores => Stage::Counts(0),
            Stage::Counts(_) => Stage::Has(0),
            Stage::Has(field) if field < self.fields_known => Stage::Numbers(field),
            Stage::Numbers(field) => Stage::Positions(field),
            Stage::Positions(field) => Stage::Vectors(field),
            Stage::Vectors(field) => {
                self.lists_at = self.out.len();
                Stage::TagTerms(field)
            }
            Stage::Tags(field) => Stage::SortTexts(field),
            Stage::SortTexts(field) => Stage::Has(field + 1),
            _ => Stage::End,
        }
    }

    fn end_of_terms(&mut self, stage: Stage) -> Stage {
        let start = self.lists_at;
        match stage {
            Stage::Words => {
                self.section(Kind::Lists, 0, 0, start);
                self.word_count = self.terms.count;
                self.blocks(Kind::WordBlocks, Kind::Words);
                Stage::Stems
            }
            Stage::TagTerms(field) => {
                self.section(Kind::TagLists, 0, field, start);
                Stage::Tags(field)
            }
            _ => {
                self.blocks(Kind::StemBlocks, Kind::Stems);
                Stage::Scores
            }
        }
    }

    /// Writes terms and their lists; true if all are written.
    fn walk(&mut self, inputs: &[&dyn Input], terms: Terms, budget: &mut u64) -> bool {
        let mut walking = match self.walking.take() {
            Some(walking) => walking,
            None => {
                if terms != Terms::Stems {
                    self.renumber = inputs.iter().map(|_| Vec::new()).collect();
                }
                let mut walking = Walking::new(terms, inputs.len());
                if !walking.advance(inputs) {
                    return true;
                }
                walking
            }
        };
        while *budget > 0 {
            *budget = budget.saturating_sub(1);
            let is_complete = terms == Terms::Stems || self.gather(inputs, &mut walking, budget);
            if is_complete {
                match terms {
                    Terms::Words => self.end_of_word(&walking),
                    Terms::Tags(field) => self.end_of_tag(inputs, field, &walking),
                    Terms::Stems => self.stem(&walking),
                }
                if !walking.advance(inputs) {
                    return true;
                }
            }
        }
        self.walking = Some(walking);
        false
    }

    /// Reads some postings of the term; true if all of them are read.
    fn gather(&mut self, inputs: &[&dyn Input], walking: &mut Walking, budget: &mut u64) -> bool {
        let (mut index, mut reading) = match walking.reading {
            Some(reading) => reading,
            None => {
                self.gathered.clear();
                self.first_with_tag = (GONE, 0, 0);
                let Some(first) = walking.found.first() else { return true };
                (0, Reading::new(first.list))
            }
        };
        while let Some(found) = walking.found.get(index) {
            let (Some(input), Some(map)) = (inputs.get(found.input), self.map.get(found.input)) else {
                return true;
            };
            while input.read(&mut reading, &mut self.chunk) {
                let least = self.gathered.add(&self.chunk, map);
                if least < self.first_with_tag.0 {
                    self.first_with_tag = (least, found.input, found.number);
                }
                *budget = budget.saturating_sub(self.chunk.len as u64);
                if *budget == 0 {
                    walking.reading = Some((index, reading));
                    return false;
                }
            }
            index += 1;
            if let Some(found) = walking.found.get(index) {
                reading = Reading::new(found.list);
            }
        }
        true
    }

    /// Notes the number of the term here, by its numbers in the inputs.
    fn number(&mut self, walking: &Walking, number: u32) {
        for found in &walking.found {
            let Some(numbers) = self.renumber.get_mut(found.input) else { continue };
            let at = found.number as usize;
            if numbers.len() <= at {
                numbers.resize(at + 1, GONE);
            }
            if let Some(entry) = numbers.get_mut(at) {
                *entry = number;
            }
        }
    }

    fn end_of_word(&mut self, walking: &Walking) {
        let documents = self.gathered.len() as u32;
        if documents == 0 {
            return;
        }
        let start = self.out.len();
        self.gathered.write(true, &mut self.out);
        self.number(walking, self.terms.count);
        self.terms.add(&walking.term, Some((start - self.lists_at) as u32));
        put(&mut self.terms.bytes, documents);
        put(&mut self.terms.bytes, (self.out.len() - start) as u32);
    }

    fn end_of_tag(&mut self, inputs: &[&dyn Input], field: FieldId, walking: &Walking) {
        let documents = self.gathered.len() as u32;
        let (_, input, tag) = self.first_with_tag;
        let Some(input) = inputs.get(input).filter(|_| documents > 0) else { return };
        put(&mut self.out, documents);
        self.gathered.write(false, &mut self.out);
        self.number(walking, self.names.ends.len() as u32);
        self.names.written.extend_from_slice(written(*input, field, tag));
        self.names.ends.push(self.names.written.len() as u32);
        self.names.list_ends.push((self.out.len() - self.lists_at) as u32);
    }

    fn stem(&mut self, walking: &Walking) {
        let mut words = Vec::new();
        for found in &walking.found {
            let Some(numbers) = self.renumber.get(found.input) else { continue };
            let here = walking.words(*found).iter().filter_map(|word| numbers.get(*word as usize).copied());
            words.extend(here.filter(|word| *word != GONE));
        }
        if words.is_empty() {
            return;
        }
        words.sort_unstable();
        words.dedup();
        self.terms.add(&walking.term, None);
        put(&mut self.terms.bytes, words.len() as u32);
        let mut next = 0;
        for word in words {
            put(&mut self.terms.bytes, word - next);
            next = word + 1;
        }
    }

    /// The bytes of the complete segment; None if they were too many.
    pub(in crate::search::index) fn finish(mut self) -> Option<(Vec<u8>, Vec<Vec<u32>>)> {
        let table_at = self.out.len();
        self.out.extend_from_slice(&self.table);
        self.out.extend_from_slice(&self.index_number.to_le_bytes());
        self.out.extend_from_slice(&self.first_id.to_le_bytes());
        self.out.extend_from_slice(&(self.order.len() as u32).to_le_bytes());
        self.out.extend_from_slice(&self.word_count.to_le_bytes());
        self.out.extend_from_slice(&self.fields_known.to_le_bytes());
        self.out.extend_from_slice(&self.text_fields.to_le_bytes());
        self.out.extend_from_slice(&(table_at as u32).to_le_bytes());
        let sections = self.table.len() / crate::search::index::segment::TABLE_ENTRY_BYTES;
        self.out.extend_from_slice(&(sections as u32).to_le_bytes());
        let (sum, done) = self.checksum;
        let sum = crc32c::crc32c_append(sum, self.out.get(done..).unwrap_or_default());
        self.out.extend_from_slice(&sum.to_le_bytes());
        self.out.shrink_to_fit();
        (self.stage == Stage::End && self.out.len() <= SEGMENT_MAX_BYTES).then_some((self.out, self.map))
    }
}

/// The live documents of all inputs: id, input and place. An id is in one input only; of a second document only damage can make, the
/// first in order stays.
fn in_order_of_ids(inputs: &[&dyn Input], live: &[&Bits]) -> Vec<(DocumentId, u32, u32)> {
    let mut nexts = vec![0u32; inputs.len()];
    let mut documents: Vec<(DocumentId, u32, u32)> =
        Vec::with_capacity(live.iter().map(|live| live.count() as usize).sum());
    loop {
        let mut least: Option<(DocumentId, u32, u32)> = None;
        for (((input, live), next), number) in inputs.iter().zip(live).zip(&mut nexts).zip(0..) {
            while *next < input.places() && !live.has(input.place_in_order(*next)) {
                *next += 1;
            }
            if *next < input.places() {
                let place = input.place_in_order(*next);
                let document = (input.id(place), number, place);
                least = Some(least.map_or(document, |least| least.min(document)));
            }
        }
        let Some(document) = least else { return documents };
        if let Some(next) = nexts.get_mut(document.1 as usize) {
            *next += 1;
        }
        if documents.last().is_none_or(|last| last.0 < document.0) {
            documents.push(document);
        }
    }
}

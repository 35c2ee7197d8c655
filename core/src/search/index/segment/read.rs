//! What queries, and segments that are made of it, read of a segment.

use crate::search::bits::Bits;
use crate::search::index::bytes::{array, get, narrow, piece, shared, u32_at, u64_at};
use crate::search::index::delta::stem_key;
use crate::search::index::part::{DocumentId, List, Part, Postings, TermVisitor, Walk};
use crate::search::index::prepare::{degrees, fold_tag};
use crate::search::index::write::input::{Chunk, Input, Reading, StemVisitor};
use crate::search::query::Bound;
use crate::search::schema::FieldId;
use crate::search::text::Language;

use super::dictionary::Walker;
use super::lists::{self, LIST_OF_TAG, Parts, SegmentPostings};
use super::{ID_BLOCK, KEY_BLOCK, Kind, Segment, TERM_BLOCK};

/// A block of ids.
struct IdBlock<'s> {
    first: DocumentId,
    width: u8,
    /// The offsets of its places, if they do not follow one another.
    offsets: &'s [u8],
}

impl Segment {
    fn id_block(&self, block: usize) -> IdBlock<'_> {
        let entry: [u8; 12] = array(self.section(Kind::IdBlocks), block * 12);
        let packed = u32_at(&entry, 8);
        let width = [0, 1, 2, 4, 8].get((packed & 7) as usize).copied().unwrap_or(0);
        let offsets = self.section(Kind::IdOffsets).get((packed >> 3) as usize..).unwrap_or_default();
        IdBlock { first: u64_at(&entry, 0), width, offsets }
    }

    fn id_at(&self, place: u32) -> DocumentId {
        let block = self.id_block(place as usize / ID_BLOCK);
        let within = place as usize % ID_BLOCK;
        block.first.wrapping_add(if block.width == 0 {
            within as u64
        } else {
            narrow(block.offsets, block.width, within)
        })
    }

    fn words_from(&self, from: &[u8]) -> Walker<'_> {
        let mut walker = Walker::new(self.section(Kind::Words), self.section(Kind::WordBlocks), 8);
        walker.seek(from);
        walker
    }

    fn lists_at(&self) -> u32 {
        self.sections.get(Kind::Lists as usize).map_or(0, |section| section.at)
    }

    fn word_by_number(&self, walker: &mut Walker<'_>, number: u32) -> bool {
        if !walker.enter(number as usize / TERM_BLOCK) {
            return false;
        }
        for _ in 0..=number as usize % TERM_BLOCK {
            if walker.next(usize::MAX).is_none() {
                return false;
            }
            get(walker.bytes, &mut walker.at);
            get(walker.bytes, &mut walker.at);
        }
        true
    }

    /// The number of a tag, or where it would be.
    fn find_tag(&self, field: FieldId, tag: &[u8]) -> Result<u32, u32> {
        let mut folded = Vec::new();
        let (mut low, mut high) = (0, self.tag_count(field));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.folded(field, middle, &mut folded).cmp(tag) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    fn folded<'a>(&'a self, field: FieldId, tag: u32, into: &'a mut Vec<u8>) -> &'a [u8] {
        let name = self.tag_name(field, tag);
        if self.column(field.0, Kind::TagNames).1 == 0 {
            return name;
        }
        into.clear();
        fold_tag(name, into);
        into
    }

    fn list_of_tag(&self, field: FieldId, tag: u32) -> List {
        let (bytes, at, len) = self.cut(field, Kind::TagLists, Kind::TagListEnds, tag);
        let mut start = 0;
        let documents = get(bytes, &mut start);
        let start = start.min(bytes.len());
        List { documents, at: at.wrapping_add(start as u32), len: (len - start) as u32 | LIST_OF_TAG }
    }

    /// One of the strings that stand one after the other in a section, by a column of their ends; where it is in the segment; its length.
    fn cut(&self, field: FieldId, kind: Kind, ends: Kind, number: u32) -> (&[u8], u32, usize) {
        let (ends, width) = self.column(field.0, ends);
        let start = number.checked_sub(1).map_or(0, |before| narrow(ends, width, before as usize)) as usize;
        let end = narrow(ends, width, number as usize) as usize;
        let sections = self.fields.get(usize::from(field.0));
        let section = sections
            .and_then(|all| all.get((kind as u8 - super::FIRST_OF_FIELDS) as usize))
            .copied()
            .unwrap_or_default();
        let bytes = piece(self.of(section), start, end.saturating_sub(start));
        (bytes, section.at.wrapping_add(start as u32), bytes.len())
    }

    fn entries_of(&self, field: FieldId, place: u32) -> &[[u8; 12]] {
        let entries = self.column(field.0, Kind::Positions).0.as_chunks::<12>().0;
        let start = entries.partition_point(|entry| u32_at(entry, 0) < place);
        let rest = entries.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|entry| u32_at(entry, 0) == place)).unwrap_or_default()
    }
}

impl Part for Segment {
    fn places(&self) -> u32 {
        self.places
    }

    fn id(&self, place: u32) -> DocumentId {
        self.id_at(place)
    }

    fn find(&self, id: DocumentId) -> Option<u32> {
        let (mut low, mut high) = (0, self.places);
        // Most segments have ids that follow one another.
        if let Some(guess) = id.checked_sub(self.first_id)
            && guess < u64::from(self.places)
            && self.id_at(guess as u32) == id
        {
            return Some(guess as u32);
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.id_at(middle) < id { low = middle + 1 } else { high = middle }
        }
        (low < self.places && self.id_at(low) == id).then_some(low)
    }

    fn key(&self, place: u32, into: &mut Vec<u8>) {
        if place >= self.places {
            return;
        }
        let (blocks, keys) = (self.section(Kind::KeyBlocks), self.section(Kind::Keys));
        let mut at = (u32_at(blocks, place as usize / KEY_BLOCK * 4) as usize).min(keys.len());
        let start = into.len();
        for _ in 0..=place as usize % KEY_BLOCK {
            let common = get(keys, &mut at) as usize;
            let len = get(keys, &mut at) as usize;
            into.truncate(start.saturating_add(common));
            into.extend_from_slice(piece(keys, at, len));
            at = at.saturating_add(len).min(keys.len());
        }
    }

    fn word(&self, word: &[u8]) -> Option<List> {
        let mut walker = self.words_from(word);
        let mut at = self.lists_at().wrapping_add(walker.head());
        loop {
            walker.next(usize::MAX)?;
            let documents = get(walker.bytes, &mut walker.at);
            let len = get(walker.bytes, &mut walker.at);
            match walker.term.as_slice().cmp(word) {
                std::cmp::Ordering::Less => at = at.wrapping_add(len),
                std::cmp::Ordering::Equal => return Some(List { documents, at, len: len & !LIST_OF_TAG }),
                std::cmp::Ordering::Greater => return None,
            }
        }
    }

    fn words(&self, from: &[u8], visit: TermVisitor<'_>) {
        let mut walker = self.words_from(from);
        if walker.blocks() == 0 {
            return;
        }
        let lists_at = self.lists_at();
        let mut at = lists_at.wrapping_add(walker.head());
        let mut dead = usize::MAX;
        // The least that terms shared since the last one that was shown is what the next one shares with it.
        let mut common: Option<usize> = None;
        loop {
            let Some(with_last) = walker.next(dead) else {
                if !walker.enter(walker.block + 1) {
                    return;
                }
                at = lists_at.wrapping_add(walker.head());
                continue;
            };
            let documents = get(walker.bytes, &mut walker.at);
            let list = List { documents, at, len: get(walker.bytes, &mut walker.at) & !LIST_OF_TAG };
            at = at.wrapping_add(list.len);
            if with_last >= dead {
                continue;
            }
            let shown = match common {
                None if walker.term.as_slice() < from => continue,
                None => 0,
                Some(common) => common.min(with_last),
            };
            common = Some(usize::MAX);
            dead = usize::MAX;
            match visit(&walker.term, shown, list) {
                Walk::On => {}
                Walk::End => return,
                Walk::Past(bytes) => {
                    dead = bytes.min(walker.term.len());
                    if walker.skip(dead) {
                        at = lists_at.wrapping_add(walker.head());
                    }
                }
            }
        }
    }

    fn words_of_stem(&self, language: Language, stem: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if self.word(stem).is_some() {
            visit(stem);
        }
        let mut key = Vec::with_capacity(stem.len() + 1);
        stem_key(language, stem, &mut key);
        let mut walker = self.words_from(&[]);
        self.stems(&key, &mut |found, words| {
            if found == key {
                for word in words {
                    if self.word_by_number(&mut walker, *word) {
                        visit(&walker.term);
                    }
                }
            }
            false
        });
    }

    fn tag(&self, field: FieldId, tag: &[u8]) -> Option<List> {
        self.find_tag(field, tag).ok().map(|number| self.list_of_tag(field, number))
    }

    fn tags(&self, field: FieldId, from: &[u8], visit: TermVisitor<'_>) {
        let count = self.tag_count(field);
        let mut tag = self.find_tag(field, from).unwrap_or_else(|number| number);
        let (mut term, mut before) = (Vec::new(), Vec::new());
        while tag < count {
            let folded = self.folded(field, tag, &mut term);
            match visit(folded, shared(&before, folded), self.list_of_tag(field, tag)) {
                Walk::On => tag += 1,
                Walk::End => return,
                Walk::Past(bytes) => {
                    let prefix = folded.get(..bytes).unwrap_or(folded).to_vec();
                    let (mut low, mut high) = (tag + 1, count);
                    let mut other = Vec::new();
                    while low < high {
                        let middle = low + (high - low) / 2;
                        let begins = self.folded(field, middle, &mut other).starts_with(&prefix);
                        if begins { low = middle + 1 } else { high = middle }
                    }
                    tag = low;
                }
            }
            before.clear();
            before.extend_from_slice(folded);
        }
    }

    fn postings(&self, list: List) -> Box<dyn Postings + '_> {
        let (bytes, has_ranks) = self.list(list);
        Box::new(SegmentPostings::new(Parts::of(bytes, list, has_ranks)))
    }

    fn field_words(&self, text_field: u16, place: u32) -> u32 {
        let (counts, width) = self.column(text_field, Kind::WordCounts);
        narrow(counts, width, place as usize) as u32
    }

    fn score(&self, place: u32) -> f32 {
        let scores = self.section(Kind::Scores);
        if scores.is_empty() { 1.0 } else { f32::from_le_bytes(array(scores, place as usize * 4)) }
    }

    fn has(&self, field: FieldId, place: u32) -> bool {
        self.has_bit(field.0, Kind::Has, place)
    }

    fn number(&self, field: FieldId, place: u32) -> Option<f64> {
        self.first_number(field.0, place)
    }

    fn numbers_within(&self, field: FieldId, low: Bound, high: Bound, into: &mut Bits) {
        self.add_numbers_within(field.0, low, high, into);
    }

    fn positions_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64, f64)) {
        self.positions_in_units(field, place, &mut |longitude, latitude| {
            visit(degrees(longitude), degrees(latitude))
        });
    }

    fn vector(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        let (bytes, _) = self.column(field.0, Kind::Vectors);
        let len = u32_at(bytes, 0) as usize;
        let (numbers, width) = self.column(field.0, Kind::VectorNumbers);
        let number = if width == 0 {
            place as usize
        } else {
            (narrow(numbers, width, place as usize) as usize).checked_sub(1)?
        };
        let start = number.checked_mul(len)?.checked_add(4)?;
        bytes.get(start..start.checked_add(len)?).filter(|vector| !vector.is_empty())
    }

    fn tags_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(u32)) {
        let (tags, width) = self.column(field.0, Kind::Tags);
        let (ends, ends_width) = self.column(field.0, Kind::TagEnds);
        if ends.is_empty() {
            if let Some(tag) = narrow(tags, width, place as usize).checked_sub(1) {
                visit(tag as u32);
            }
            return;
        }
        let start =
            place.checked_sub(1).map_or(0, |before| narrow(ends, ends_width, before as usize)) as usize;
        let end = narrow(ends, ends_width, place as usize) as usize;
        // With one tag alone its numbers take no bytes, and there is nothing to bound the loop by; but then no document has two.
        let most = if width == 0 { start.saturating_add(1) } else { tags.len() / usize::from(width) };
        for index in start..end.min(most) {
            visit(narrow(tags, width, index) as u32);
        }
    }

    fn tag_count(&self, field: FieldId) -> u32 {
        let (ends, width) = self.column(field.0, Kind::TagNameEnds);
        if width == 0 {
            u32::from(self.column(field.0, Kind::TagListEnds).1 > 0)
        } else {
            (ends.len() / usize::from(width)) as u32
        }
    }

    fn tag_name(&self, field: FieldId, tag: u32) -> &[u8] {
        self.cut(field, Kind::TagNames, Kind::TagNameEnds, tag).0
    }

    fn sort_text(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        let (numbers, width) = self.column(field.0, Kind::SortNumbers);
        let number = narrow(numbers, width, place as usize).checked_sub(1)?;
        Some(self.cut(field, Kind::SortTexts, Kind::SortEnds, number as u32).0)
    }
}

impl Input for Segment {
    fn place_in_order(&self, number: u32) -> u32 {
        number
    }

    fn fields_known(&self) -> u16 {
        self.fields_known
    }

    fn text_fields(&self) -> u16 {
        self.text_fields
    }

    fn bytes_expected(&self) -> usize {
        self.bytes.len()
    }

    fn read(&self, reading: &mut Reading, chunk: &mut Chunk) -> bool {
        let (bytes, has_ranks) = self.list(reading.list);
        lists::read(&Parts::of(bytes, reading.list, has_ranks), reading, chunk)
    }

    fn number_of(&self, _list: List, nth: u32) -> u32 {
        nth
    }

    fn stems(&self, from: &[u8], visit: StemVisitor<'_>) {
        let mut walker = Walker::new(self.section(Kind::Stems), self.section(Kind::StemBlocks), 4);
        if walker.blocks() == 0 {
            return;
        }
        walker.seek(from);
        let mut words = Vec::new();
        loop {
            if walker.next(usize::MAX).is_none() {
                if !walker.enter(walker.block + 1) {
                    return;
                }
                continue;
            }
            words.clear();
            let count = get(walker.bytes, &mut walker.at);
            let mut next = 0u32;
            for _ in 0..count.min(self.word_count) {
                if walker.at >= walker.bytes.len() {
                    break;
                }
                let word = next.wrapping_add(get(walker.bytes, &mut walker.at));
                next = word.wrapping_add(1);
                words.push(word);
            }
            if walker.term.as_slice() >= from && !visit(&walker.term, &words) {
                return;
            }
        }
    }

    fn more_numbers(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64)) {
        let entries = self.column(field.0, Kind::MoreNumbers).0.as_chunks::<12>().0;
        let start = entries.partition_point(|entry| u32_at(entry, 0) < place);
        for entry in
            entries.get(start..).unwrap_or_default().iter().take_while(|entry| u32_at(*entry, 0) == place)
        {
            visit(f64::from_bits(u64_at(entry, 4)));
        }
    }

    fn positions_in_units(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(i32, i32)) {
        for entry in self.entries_of(field, place) {
            visit(u32_at(entry, 4) as i32, u32_at(entry, 8) as i32);
        }
    }

    fn is_case_sensitive(&self, field: FieldId) -> bool {
        self.column(field.0, Kind::TagNames).1 == 0
    }
}

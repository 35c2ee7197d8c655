//! A segment as a part.

use std::sync::Arc;

use super::super::bytes::{get, narrow, piece, u32_at, u64_at};
use super::super::delta::within;
use super::super::part::{DocumentId, Head, List, Part, Postings, TermVisitor, Walk};
use super::super::prepare::degrees;
use super::super::write::{ID_BLOCK, KEY_BLOCK, Whole};
use super::Segment;
use super::columns::Columns;
use super::dictionary::Dictionary;
use super::postings::{TagPostings, WordPostings};
use crate::search::bits::Bits;
use crate::search::query::Bound;
use crate::search::schema::FieldId;
use crate::search::text::Language;

/// Bytes of a block of ids in their table.
const ID_ENTRY: usize = 12;

impl Segment {
    fn column(&self, field: FieldId) -> Option<&Columns> {
        self.fields.get(usize::from(field.0))
    }

    fn dictionary(&self) -> Dictionary<'_> {
        Dictionary::of(&self.bytes, self.word_dictionary)
    }

    fn id_blocks(&self) -> usize {
        (self.places as usize).div_ceil(ID_BLOCK)
    }

    /// The first id of a block, and its width and differences.
    fn id_block(&self, block: usize) -> (DocumentId, u8, &[u8]) {
        let ids = self.ids.of(&self.bytes);
        let packed = u32_at(ids, block * ID_ENTRY + 8);
        let at = self.id_blocks() * ID_ENTRY + (packed & 0x0FFF_FFFF) as usize;
        (u64_at(ids, block * ID_ENTRY), (packed >> 28) as u8, ids.get(at..).unwrap_or_default())
    }

    fn id_in(&self, block: usize, within: usize) -> DocumentId {
        let (first, width, rest) = self.id_block(block);
        first.wrapping_add(if width == 0 { within as u64 } else { narrow(rest, width, within) })
    }

    fn stem_words(&self, list: List, visit: &mut dyn FnMut(&[u8])) {
        let bytes = self.stem_lists.part(list.at as usize, list.len as usize).of(&self.bytes);
        let (mut at, mut next, mut word) = (0, 0_u32, Vec::new());
        let dictionary = self.dictionary();
        for _ in 0..list.documents {
            if at >= bytes.len() {
                return;
            }
            let number = next.wrapping_add(get(bytes, &mut at));
            next = number.wrapping_add(1);
            dictionary.term(number, &mut word);
            visit(&word);
        }
    }
}

impl Part for Segment {
    fn places(&self) -> u32 {
        self.places
    }

    fn id(&self, place: u32) -> DocumentId {
        self.id_in(place as usize / ID_BLOCK, place as usize % ID_BLOCK)
    }

    fn find(&self, id: DocumentId) -> Option<u32> {
        if !(self.first_id..=self.last_id).contains(&id) {
            return None;
        }
        let (mut low, mut high) = (0, self.id_blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.id_block(middle).0 <= id { low = middle + 1 } else { high = middle }
        }
        let block = low.checked_sub(1)?;
        let len = (self.places as usize - block * ID_BLOCK).min(ID_BLOCK);
        let (first, width, rest) = self.id_block(block);
        let wanted = id - first;
        if width == 0 {
            return (wanted < len as u64).then_some((block * ID_BLOCK) as u32 + wanted as u32);
        }
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = low + (high - low) / 2;
            if narrow(rest, width, middle) < wanted { low = middle + 1 } else { high = middle }
        }
        (low < len && narrow(rest, width, low) == wanted).then_some((block * ID_BLOCK + low) as u32)
    }

    fn key(&self, place: u32, into: &mut Vec<u8>) {
        let keys = self.keys.of(&self.bytes);
        let table = (self.places as usize).div_ceil(KEY_BLOCK) * 4;
        let entries = keys.get(table..).unwrap_or_default();
        let mut at = u32_at(keys, place as usize / KEY_BLOCK * 4) as usize;
        let start = into.len();
        for _ in 0..=place as usize % KEY_BLOCK {
            let same = get(entries, &mut at) as usize;
            let len = get(entries, &mut at) as usize;
            into.truncate(start.saturating_add(same));
            into.extend_from_slice(piece(entries, at, len));
            at += len;
        }
    }

    fn word(&self, word: &[u8]) -> Option<List> {
        self.dictionary().find(word).map(|(list, _)| list)
    }

    fn words(&self, from: &[u8], visit: TermVisitor<'_>) {
        self.dictionary().walk(from, visit);
    }

    fn head(&self, prefix: &[u8]) -> Option<Arc<Head>> {
        self.heads
            .of(prefix, (self.places, self.bytes.len()), &|from, visit| self.dictionary().walk(from, visit))
    }

    fn words_of_stem(&self, language: Language, stem: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if self.dictionary().find(stem).is_some() {
            visit(stem);
        }
        let mut key = Vec::with_capacity(stem.len() + 1);
        super::super::delta::stem_key(language, stem, &mut key);
        if let Some((list, _)) = Dictionary::of(&self.bytes, self.stem_dictionary).find(&key) {
            self.stem_words(list, visit);
        }
    }

    fn tag(&self, field: FieldId, tag: &[u8]) -> Option<List> {
        let (list, _) = self.column(field)?.tags(&self.bytes).find(tag)?;
        Some(tag_list(field, list))
    }

    fn tags(&self, field: FieldId, from: &[u8], visit: TermVisitor<'_>) {
        if let Some(column) = self.column(field) {
            let dictionary = column.tags(&self.bytes);
            dictionary.walk(from, &mut |tag, same, list| visit(tag, same, tag_list(field, list)));
        }
    }

    fn postings(&self, list: List) -> Box<dyn Postings + '_> {
        if list.at & TAG_BIT == 0 {
            let range = self.word_lists.part(list.at as usize, list.len as usize);
            return Box::new(WordPostings::new(range.of(&self.bytes), list));
        }
        let column = self.column(FieldId(list.len as u16));
        let bytes = column.map_or(&[][..], |column| column.tag_list(&self.bytes, list.at & !TAG_BIT));
        Box::new(TagPostings::new(bytes, list.documents))
    }

    fn field_words(&self, text_field: u16, place: u32) -> u32 {
        let column =
            self.field_words.get(usize::from(text_field)).map_or(&[][..], |range| range.of(&self.bytes));
        let Some((width, rest)) = column.split_first() else { return 0 };
        narrow(rest, *width, place as usize) as u32
    }

    fn score(&self, place: u32) -> f32 {
        if self.scores.len == 0 {
            return 1.0;
        }
        f32::from_bits(u32_at(self.scores.of(&self.bytes), place as usize * 4))
    }

    fn frequency_max(&self, place: u32) -> u32 {
        let Some((width, rest)) = self.frequencies.of(&self.bytes).split_first() else { return 0 };
        narrow(rest, *width, place as usize) as u32
    }

    fn has(&self, field: FieldId, place: u32) -> bool {
        self.column(field).is_some_and(|column| column.has(&self.bytes, place))
    }

    fn number(&self, field: FieldId, place: u32) -> Option<f64> {
        self.column(field)?.numbers(&self.bytes)?.of(place)
    }

    fn numbers(&self, field: FieldId, places: &[u32], into: &mut Vec<f64>) {
        match self.column(field).and_then(|column| column.numbers(&self.bytes)) {
            Some(numbers) => numbers.of_all(places, into),
            None => into.resize(into.len() + places.len(), f64::NAN),
        }
    }

    fn extremes(&self, field: FieldId, place: u32) -> Option<(f64, f64)> {
        let column = self.column(field)?;
        let number = column.numbers(&self.bytes)?.of(place)?;
        let (mut least, mut greatest) = (number, number);
        // Most columns have no further numbers, and these take no search.
        if column.has_more_numbers() {
            column.more_numbers(&self.bytes, Some(place), &mut |_, number| {
                (least, greatest) = (least.min(number), greatest.max(number));
            });
        }
        Some((least, greatest))
    }

    fn numbers_within(&self, field: FieldId, low: Bound, high: Bound, into: &mut Bits) {
        let Some(column) = self.column(field) else { return };
        if let Some(numbers) = column.numbers(&self.bytes) {
            numbers.within(self.places, low, high, into);
        }
        column.more_numbers(&self.bytes, None, &mut |place, number| {
            if within(number, low, high) {
                into.add(place);
            }
        });
    }

    fn each_number(&self, field: FieldId, visit: &mut dyn FnMut(u32, f64)) {
        let Some(column) = self.column(field) else { return };
        if let Some(numbers) = column.numbers(&self.bytes) {
            (0..self.places).for_each(|place| {
                numbers.of(place).into_iter().for_each(|number| visit(place, number));
            });
        }
        column.more_numbers(&self.bytes, None, visit);
    }

    fn positions_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64, f64)) {
        self.units_of(field, place, &mut |longitude, latitude| visit(degrees(longitude), degrees(latitude)));
    }

    fn vector(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        self.column(field)?.vector(&self.bytes, self.places, place)
    }

    fn tags_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(u32)) {
        if let Some(column) = self.column(field) {
            column.tags_of(&self.bytes, self.places, place, visit);
        }
    }

    fn tag_count(&self, field: FieldId) -> u32 {
        self.column(field).map_or(0, |column| column.tag_count(&self.bytes))
    }

    fn tag_name(&self, field: FieldId, tag: u32) -> &[u8] {
        self.column(field).and_then(|column| column.tag_name(&self.bytes, tag)).unwrap_or_default()
    }

    fn sort_text(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        self.column(field)?.sort_text(&self.bytes, place)
    }
}

/// Marks a list of a tag: [`List::len`] is its field then, since the number of documents says where it ends.
const TAG_BIT: u32 = 1 << 31;

fn tag_list(field: FieldId, list: List) -> List {
    List { documents: list.documents, at: list.at | TAG_BIT, len: u32::from(field.0) }
}

impl Whole for Segment {
    fn fields(&self) -> u16 {
        self.fields.len() as u16
    }

    fn text_fields(&self) -> u16 {
        self.field_words.len() as u16
    }

    fn stems(&self, visit: &mut dyn FnMut(&[u8], &[u8])) {
        Dictionary::of(&self.bytes, self.stem_dictionary).walk(&[], &mut |stem, _, list| {
            self.stem_words(list, &mut |word| visit(stem, word));
            Walk::On
        });
    }

    fn numbers_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64)) {
        let Some(column) = self.column(field) else { return };
        if let Some(number) = column.numbers(&self.bytes).and_then(|numbers| numbers.of(place)) {
            visit(number);
        }
        column.more_numbers(&self.bytes, Some(place), &mut |_, number| visit(number));
    }

    fn units_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(i32, i32)) {
        if let Some(column) = self.column(field) {
            column.positions(&self.bytes, place, visit);
        }
    }

    fn tag_folded(&self, field: FieldId, tag: u32, into: &mut Vec<u8>) {
        into.clear();
        if let Some(column) = self.column(field) {
            column.tags(&self.bytes).term(tag, into);
        }
    }
}

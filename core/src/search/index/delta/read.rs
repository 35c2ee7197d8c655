//! What queries, and segments that are made of it, read of a delta.

use crate::search::bits::Bits;
use crate::search::index::bytes::{get, shared};
use crate::search::index::occurrences;
use crate::search::index::part::{DocumentId, List, Part, Postings, Rank, TermVisitor, Walk};
use crate::search::index::prepare::degrees;
use crate::search::index::write::input::{Chunk, Input, Reading, StemVisitor};
use crate::search::query::Bound;
use crate::search::schema::FieldId;
use crate::search::text::Language;

use super::columns::{Columns, Tags};
use super::dictionary::Dictionary;
use super::postings::DeltaPostings;
use super::{Delta, stem_key};

/// The list of a term: `at` is its number, `len` its dictionary, 0 for words and one more than the field for tags.
fn list_of(dictionary: &Dictionary, number: u32, len: u32) -> List {
    List { documents: dictionary.term(number).map_or(0, |term| term.count), at: number, len }
}

fn walk(dictionary: &Dictionary, len: u32, from: &[u8], visit: TermVisitor<'_>) {
    let mut place = dictionary.seek(from);
    let mut before: &[u8] = &[];
    while let Some(number) = dictionary.at(place) {
        let text = dictionary.text(number);
        match visit(text, shared(before, text), list_of(dictionary, number, len)) {
            Walk::On => place = dictionary.after(place),
            Walk::Past(bytes) => place = dictionary.past(place, text.get(..bytes).unwrap_or(text)),
            Walk::End => return,
        }
        before = text;
    }
}

impl Delta {
    fn columns(&self, field: FieldId) -> Option<&Columns> {
        self.columns.get(usize::from(field.0))
    }

    fn all_tags(&self, field: FieldId) -> Option<&Tags> {
        self.columns(field)?.tags.as_deref()
    }

    /// The buffer of a list, and whether it has ranks.
    fn buffer(&self, list: List) -> (&[u8], bool) {
        match list.len.checked_sub(1) {
            None => (self.words.buffer(list.at), true),
            Some(field) => {
                (self.all_tags(FieldId(field as u16)).map_or(&[], |tags| tags.folded.buffer(list.at)), false)
            }
        }
    }
}

fn is_within(number: f64, low: Bound, high: Bound) -> bool {
    let is_above = if low.is_exclusive { number > low.value } else { number >= low.value };
    is_above && if high.is_exclusive { number < high.value } else { number <= high.value }
}

impl Part for Delta {
    fn places(&self) -> u32 {
        self.ids.len() as u32
    }

    fn id(&self, place: u32) -> DocumentId {
        self.id_of(place)
    }

    fn find(&self, id: DocumentId) -> Option<u32> {
        let at = self.order.partition_point(|place| self.id_of(*place) < id);
        self.order.get(at).copied().filter(|place| self.id_of(*place) == id)
    }

    fn key(&self, place: u32, into: &mut Vec<u8>) {
        let place = place as usize;
        let start = place.checked_sub(1).map_or(Some(0), |before| self.key_ends.get(before).copied());
        if let (Some(start), Some(end)) = (start, self.key_ends.get(place)) {
            into.extend_from_slice(self.keys.get(start as usize..*end as usize).unwrap_or_default());
        }
    }

    fn word(&self, word: &[u8]) -> Option<List> {
        self.words.find(word).ok().map(|number| list_of(&self.words, number, 0))
    }

    fn words(&self, from: &[u8], visit: TermVisitor<'_>) {
        walk(&self.words, 0, from, visit);
    }

    fn words_of_stem(&self, language: Language, stem: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if self.words.find(stem).is_ok() {
            visit(stem);
        }
        let mut key = Vec::with_capacity(stem.len() + 1);
        stem_key(language, stem, &mut key);
        if let Ok(number) = self.stems.find(&key) {
            for word in self.stems.buffer(number).as_chunks::<4>().0 {
                visit(self.words.text(u32::from_le_bytes(*word)));
            }
        }
    }

    fn tag(&self, field: FieldId, tag: &[u8]) -> Option<List> {
        let tags = self.all_tags(field)?;
        tags.folded.find(tag).ok().map(|number| list_of(&tags.folded, number, u32::from(field.0) + 1))
    }

    fn tags(&self, field: FieldId, from: &[u8], visit: TermVisitor<'_>) {
        if let Some(tags) = self.all_tags(field) {
            walk(&tags.folded, u32::from(field.0) + 1, from, visit);
        }
    }

    fn postings(&self, list: List) -> Box<dyn Postings + '_> {
        let (bytes, has_ranks) = self.buffer(list);
        let skips = if has_ranks { self.skips.get(&list.at).map_or(&[][..], Vec::as_slice) } else { &[] };
        Box::new(DeltaPostings::new(bytes, skips, has_ranks))
    }

    fn field_words(&self, text_field: u16, place: u32) -> u32 {
        let counts = self.counts.get(usize::from(text_field));
        counts.and_then(|counts| counts.get(place as usize)).copied().map_or(0, u32::from)
    }

    fn score(&self, place: u32) -> f32 {
        self.scores.get(place as usize).copied().unwrap_or(1.0)
    }

    fn has(&self, field: FieldId, place: u32) -> bool {
        self.columns(field).is_some_and(|columns| columns.has.has(place))
    }

    fn number(&self, field: FieldId, place: u32) -> Option<f64> {
        self.columns(field)?.number(place)
    }

    fn numbers_within(&self, field: FieldId, low: Bound, high: Bound, into: &mut Bits) {
        let Some(columns) = self.columns(field) else { return };
        for (place, number) in columns.numbers.iter().enumerate() {
            if is_within(*number, low, high) && columns.has_number.has(place as u32) {
                into.add(place as u32);
            }
        }
        for (place, _) in columns.more_numbers.iter().filter(|more| is_within(more.1, low, high)) {
            into.add(*place);
        }
    }

    fn positions_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64, f64)) {
        self.positions_in_units(field, place, &mut |longitude, latitude| {
            visit(degrees(longitude), degrees(latitude))
        });
    }

    fn vector(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        self.columns(field)?.vector(place)
    }

    fn tags_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(u32)) {
        for tag in self.all_tags(field).map_or(&[][..], |tags| tags.of(place)) {
            visit(*tag);
        }
    }

    fn tag_count(&self, field: FieldId) -> u32 {
        self.all_tags(field).map_or(0, |tags| tags.folded.len())
    }

    fn tag_name(&self, field: FieldId, tag: u32) -> &[u8] {
        self.all_tags(field).map_or(&[], |tags| tags.name(tag))
    }

    fn sort_text(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        self.columns(field)?.sort_text(place)
    }
}

impl Input for Delta {
    fn place_in_order(&self, number: u32) -> u32 {
        self.order.get(number as usize).copied().unwrap_or(0)
    }

    fn fields_known(&self) -> u16 {
        self.columns.len() as u16
    }

    fn text_fields(&self) -> u16 {
        self.counts.len() as u16
    }

    fn bytes_expected(&self) -> usize {
        self.memory_bytes() / 2
    }

    fn read(&self, reading: &mut Reading, chunk: &mut Chunk) -> bool {
        let (bytes, has_ranks) = self.buffer(reading.list);
        chunk.clear();
        let mut at = reading.at;
        let rows = chunk.places.iter_mut().zip(&mut chunk.ranks).zip(&mut chunk.ends);
        for ((place, rank), end) in rows {
            if at >= bytes.len() {
                break;
            }
            *place = reading.next.wrapping_add(get(bytes, &mut at));
            reading.next = place.wrapping_add(1);
            if has_ranks {
                *rank = Rank(bytes.get(at).copied().unwrap_or(0));
                at += 1;
                let start = at;
                occurrences::skip(*rank, bytes, &mut at);
                chunk.bytes.extend_from_slice(bytes.get(start..at).unwrap_or_default());
            }
            *end = chunk.bytes.len() as u32;
            chunk.len += 1;
        }
        reading.at = at;
        chunk.len > 0
    }

    fn number_of(&self, list: List, _nth: u32) -> u32 {
        list.at
    }

    fn stems(&self, from: &[u8], visit: StemVisitor<'_>) {
        let mut place = self.stems.seek(from);
        while let Some(number) = self.stems.at(place) {
            let words: Vec<u32> = self
                .stems
                .buffer(number)
                .as_chunks::<4>()
                .0
                .iter()
                .map(|word| u32::from_le_bytes(*word))
                .collect();
            if !visit(self.stems.text(number), &words) {
                return;
            }
            place = self.stems.after(place);
        }
    }

    fn more_numbers(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64)) {
        for (_, number) in self.columns(field).map_or(&[][..], |columns| columns.more_numbers(place)) {
            visit(*number);
        }
    }

    fn positions_in_units(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(i32, i32)) {
        for (_, longitude, latitude) in
            self.columns(field).map_or(&[][..], |columns| columns.positions(place))
        {
            visit(*longitude, *latitude);
        }
    }

    fn is_case_sensitive(&self, field: FieldId) -> bool {
        self.all_tags(field).is_some_and(|tags| tags.is_case_sensitive)
    }
}

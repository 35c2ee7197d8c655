//! A delta as a part.

use std::sync::Arc;

use super::dictionary::Dictionary;
use super::postings::DeltaPostings;
use super::{Delta, stem_key};
use crate::search::bits::Bits;
use crate::search::index::part::{DocumentId, Head, List, Part, Postings, TermVisitor, Walk};
use crate::search::index::prepare::degrees;
use crate::search::index::write::Whole;
use crate::search::query::Bound;
use crate::search::schema::FieldId;
use crate::search::text::Language;

/// Of a list of a tag, [`List::len`] is one more than its field; of one of a word it is 0.
fn list_of(dictionary: &Dictionary, number: u32, owner: u32) -> List {
    List { documents: dictionary.term(number).map_or(0, |term| term.count), at: number, len: owner }
}

/// Shows terms of a dictionary from one on.
fn walk(dictionary: &Dictionary, owner: u32, from: &[u8], visit: TermVisitor<'_>) {
    let mut place = dictionary.seek(from);
    let (mut before, mut target): (&[u8], _) = (&[], Vec::new());
    while let Some(number) = dictionary.at(place) {
        let text = dictionary.text(number);
        let shared = super::super::bytes::shared(text, before);
        match visit(text, shared, list_of(dictionary, number, owner)) {
            Walk::On => place = dictionary.after(place),
            walk if walk.target(text, &mut target) => place = dictionary.seek(&target),
            _ => return,
        }
        before = text;
    }
}

impl Delta {
    fn column(&self, field: FieldId) -> Option<&super::Columns> {
        self.columns.get(usize::from(field.0))
    }

    fn tags_in(&self, field: FieldId) -> Option<&super::columns::Tags> {
        self.column(field)?.tags.as_deref()
    }

    /// How many different words it has.
    pub fn word_count(&self) -> u32 {
        self.words.len()
    }

    /// How many postings of words it has.
    pub fn posting_count(&self) -> u64 {
        (0..self.words.len()).filter_map(|word| self.words.term(word)).map(|term| u64::from(term.count)).sum()
    }
}

impl Part for Delta {
    fn places(&self) -> u32 {
        self.ids.len() as u32
    }

    fn id(&self, place: u32) -> DocumentId {
        self.id_of(place)
    }

    fn find(&self, id: DocumentId) -> Option<u32> {
        let at = self.order.binary_search_by(|place| self.id_of(*place).cmp(&id)).ok()?;
        self.order.get(at).copied()
    }

    fn key(&self, place: u32, into: &mut Vec<u8>) {
        let place = place as usize;
        let start = place.checked_sub(1).and_then(|before| self.key_ends.get(before)).copied().unwrap_or(0);
        let end = self.key_ends.get(place).copied().unwrap_or(start);
        into.extend_from_slice(self.keys.get(start as usize..end as usize).unwrap_or_default());
    }

    fn word(&self, word: &[u8]) -> Option<List> {
        self.words.find(word).ok().map(|number| list_of(&self.words, number, 0))
    }

    fn words(&self, from: &[u8], visit: TermVisitor<'_>) {
        walk(&self.words, 0, from, visit);
    }

    fn head(&self, prefix: &[u8]) -> Option<Arc<Head>> {
        self.heads.of(prefix, (self.places(), self.documents_bytes()), &|from, visit| self.words(from, visit))
    }

    fn words_of_stem(&self, language: Language, stem: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if self.words.find(stem).is_ok() {
            visit(stem);
        }
        let mut key = Vec::with_capacity(stem.len() + 1);
        stem_key(language, stem, &mut key);
        if let Ok(number) = self.stems.find(&key) {
            let (words, _) = self.stems.buffer(number).as_chunks::<4>();
            words.iter().for_each(|word| visit(self.words.text(u32::from_le_bytes(*word))));
        }
    }

    fn tag(&self, field: FieldId, tag: &[u8]) -> Option<List> {
        let tags = self.tags_in(field)?;
        let number = tags.folded.find(tag).ok()?;
        Some(list_of(&tags.folded, number, u32::from(field.0) + 1))
    }

    fn tags(&self, field: FieldId, from: &[u8], visit: TermVisitor<'_>) {
        if let Some(tags) = self.tags_in(field) {
            walk(&tags.folded, u32::from(field.0) + 1, from, visit);
        }
    }

    fn postings(&self, list: List) -> Box<dyn Postings + '_> {
        match list.len.checked_sub(1) {
            None => {
                let skips = self.skips.get(&list.at).map_or(&[][..], Vec::as_slice);
                Box::new(DeltaPostings::new(self.words.buffer(list.at), skips, true))
            }
            Some(field) => {
                let tags = self.tags_in(FieldId(field as u16));
                let bytes = tags.map_or(&[][..], |tags| tags.folded.buffer(list.at));
                Box::new(DeltaPostings::new(bytes, &[], false))
            }
        }
    }

    fn field_words(&self, text_field: u16, place: u32) -> u32 {
        let counts = self.counts.get(usize::from(text_field));
        counts.and_then(|counts| counts.get(place as usize)).copied().map_or(0, u32::from)
    }

    fn score(&self, place: u32) -> f32 {
        self.scores.get(place as usize).copied().unwrap_or(1.0)
    }

    fn frequency_max(&self, place: u32) -> u32 {
        self.frequencies.get(place as usize).copied().unwrap_or(0)
    }

    fn has(&self, field: FieldId, place: u32) -> bool {
        self.column(field).is_some_and(|column| column.has.has(place))
    }

    fn number(&self, field: FieldId, place: u32) -> Option<f64> {
        self.column(field)?.number(place)
    }

    fn extremes(&self, field: FieldId, place: u32) -> Option<(f64, f64)> {
        let column = self.column(field)?;
        let number = column.number(place)?;
        // Most columns have no further numbers, and these take no search.
        let more = if column.more_numbers.is_empty() { &[] } else { column.more_numbers(place) };
        let widen = |(least, greatest): (f64, f64), (_, number): &(u32, f64)| {
            (least.min(*number), greatest.max(*number))
        };
        Some(more.iter().fold((number, number), widen))
    }

    fn numbers_within(&self, field: FieldId, low: Bound, high: Bound, into: &mut Bits) {
        let Some(column) = self.column(field) else { return };
        let is_within = |number: f64| within(number, low, high);
        for (number, place) in column.numbers.iter().zip(0..) {
            if is_within(*number) && column.has_number.has(place) {
                into.add(place);
            }
        }
        column.more_numbers.iter().filter(|(_, number)| is_within(*number)).for_each(|(place, _)| {
            into.add(*place);
        });
    }

    fn each_number(&self, field: FieldId, visit: &mut dyn FnMut(u32, f64)) {
        let Some(column) = self.column(field) else { return };
        for (number, place) in column.numbers.iter().zip(0..) {
            if column.has_number.has(place) {
                visit(place, *number);
            }
        }
        column.more_numbers.iter().for_each(|(place, number)| visit(*place, *number));
    }

    fn positions_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64, f64)) {
        let Some(column) = self.column(field) else { return };
        for (_, longitude, latitude) in column.positions(place) {
            visit(degrees(*longitude), degrees(*latitude));
        }
    }

    fn vector(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        self.column(field)?.vector(place)
    }

    fn tags_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(u32)) {
        if let Some(tags) = self.tags_in(field) {
            tags.of(place).iter().for_each(|tag| visit(*tag));
        }
    }

    fn tag_count(&self, field: FieldId) -> u32 {
        self.tags_in(field).map_or(0, |tags| tags.folded.len())
    }

    fn tag_name(&self, field: FieldId, tag: u32) -> &[u8] {
        self.tags_in(field).map_or(&[], |tags| tags.name(tag))
    }

    fn sort_text(&self, field: FieldId, place: u32) -> Option<&[u8]> {
        self.column(field)?.sort_text(place)
    }
}

/// Whether a number lies between bounds.
pub(in crate::search::index) fn within(number: f64, low: Bound, high: Bound) -> bool {
    low.is_below(number) && high.is_above(number)
}

impl Whole for Delta {
    fn fields(&self) -> u16 {
        self.columns.len() as u16
    }

    fn text_fields(&self) -> u16 {
        self.counts.len() as u16
    }

    fn stems(&self, visit: &mut dyn FnMut(&[u8], &[u8])) {
        let mut place = self.stems.seek(&[]);
        while let Some(number) = self.stems.at(place) {
            let (words, _) = self.stems.buffer(number).as_chunks::<4>();
            for word in words {
                visit(self.stems.text(number), self.words.text(u32::from_le_bytes(*word)));
            }
            place = self.stems.after(place);
        }
    }

    fn numbers_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64)) {
        let Some(column) = self.column(field) else { return };
        if let Some(number) = column.number(place) {
            visit(number);
        }
        column.more_numbers(place).iter().for_each(|(_, number)| visit(*number));
    }

    fn units_of(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(i32, i32)) {
        if let Some(column) = self.column(field) {
            column.positions(place).iter().for_each(|(_, longitude, latitude)| visit(*longitude, *latitude));
        }
    }

    fn tag_folded(&self, field: FieldId, tag: u32, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(self.tags_in(field).map_or(&[], |tags| tags.folded.text(tag)));
    }
}

//! Writes the columns of a field.

use crate::search::index::bytes::{put_narrow, width_of};
use crate::search::index::part::Part;
use crate::search::index::segment::{Kind, RAW, power};
use crate::search::schema::FieldId;

use super::building::Building;
use super::input::Input;
use super::terms::GONE;

/// Whole numbers below this are exact in an f64.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
const SCALE_MAX: u8 = 9;

/// A number as a whole one at a scale, if it comes back to the bit.
fn whole(number: f64, scale: u8) -> Option<i64> {
    let scaled = (number * power(scale)).round();
    if scaled.abs() >= EXACT_MAX || scaled.is_nan() {
        return None;
    }
    let whole = scaled as i64;
    ((whole as f64 / power(scale)).to_bits() == number.to_bits()).then_some(whole)
}

/// The least scale at which all numbers are whole.
fn scale_of(numbers: &[Option<f64>]) -> Option<u8> {
    let mut scale = 0;
    for number in numbers.iter().flatten() {
        while whole(*number, scale).is_none() {
            scale += 1;
            if scale > SCALE_MAX {
                return None;
            }
        }
    }
    // A number that was whole at a lower scale may be too large for this one.
    numbers.iter().flatten().all(|number| whole(*number, scale).is_some()).then_some(scale)
}

impl Building {
    /// The documents of the segment in order: their input and their place there.
    fn documents<'i>(
        &self,
        inputs: &'i [&'i dyn Input],
    ) -> impl Iterator<Item = (&'i dyn Input, usize, u32)> {
        self.order
            .iter()
            .filter_map(|(input, place)| Some((*inputs.get(*input as usize)?, *input as usize, *place)))
    }

    /// Writes a column of numbers.
    fn column(&mut self, kind: Kind, field: u16, numbers: &[u32]) {
        let width = width_of(numbers.iter().copied().max().map_or(0, u64::from));
        let start = self.out.len();
        for number in numbers {
            put_narrow(&mut self.out, width, u64::from(*number));
        }
        self.section(kind, width, field, start);
    }

    /// Writes which places have something.
    fn bits(&mut self, kind: Kind, field: u16, has: &[bool]) {
        if !has.contains(&true) {
            return;
        }
        let start = self.out.len();
        let has_all = !has.contains(&false);
        if !has_all {
            let byte = |bits: &[bool]| bits.iter().rev().fold(0u8, |byte, bit| byte << 1 | u8::from(*bit));
            self.out.extend(has.chunks(8).map(byte));
        }
        self.section(kind, if has_all { 1 } else { 2 }, field, start);
    }

    pub(super) fn word_counts(&mut self, inputs: &[&dyn Input], text_field: u16) {
        let counts: Vec<u32> =
            self.documents(inputs).map(|(input, _, place)| input.field_words(text_field, place)).collect();
        if counts.iter().any(|count| *count > 0) {
            self.column(Kind::WordCounts, text_field, &counts);
        }
    }

    pub(super) fn scores(&mut self, inputs: &[&dyn Input]) {
        let scores: Vec<f32> = self.documents(inputs).map(|(input, _, place)| input.score(place)).collect();
        if scores.iter().any(|score| *score != 1.0) {
            let start = self.out.len();
            self.out.extend(scores.iter().flat_map(|score| score.to_le_bytes()));
            self.section(Kind::Scores, 4, 0, start);
        }
    }

    pub(super) fn has(&mut self, inputs: &[&dyn Input], field: FieldId) {
        let has: Vec<bool> =
            self.documents(inputs).map(|(input, _, place)| input.has(field, place)).collect();
        self.bits(Kind::Has, field.0, &has);
    }

    pub(super) fn numbers(&mut self, inputs: &[&dyn Input], field: FieldId) {
        let numbers: Vec<Option<f64>> =
            self.documents(inputs).map(|(input, _, place)| input.number(field, place)).collect();
        if numbers.iter().all(Option::is_none) {
            return;
        }
        let has: Vec<bool> = numbers.iter().map(Option::is_some).collect();
        self.bits(Kind::HasNumber, field.0, &has);
        let start = self.out.len();
        let width = match scale_of(&numbers) {
            None => {
                self.out.extend_from_slice(&[0; 8]);
                self.out.extend(numbers.iter().flat_map(|number| number.unwrap_or(0.0).to_le_bytes()));
                8 | RAW << 4
            }
            Some(scale) => {
                let wholes = || numbers.iter().map(|number| number.and_then(|number| whole(number, scale)));
                let (least, greatest) =
                    (wholes().flatten().min().unwrap_or(0), wholes().flatten().max().unwrap_or(0));
                let width = width_of(greatest.abs_diff(least));
                self.out.extend_from_slice(&least.to_le_bytes());
                for number in wholes() {
                    put_narrow(&mut self.out, width, number.unwrap_or(least).abs_diff(least));
                }
                width | scale << 4
            }
        };
        self.section(Kind::Numbers, width, field.0, start);
        let start = self.out.len();
        let mut more = Vec::new();
        for ((input, _, old), place) in self.documents(inputs).zip(0u32..) {
            input.more_numbers(field, old, &mut |number| {
                more.extend_from_slice(&place.to_le_bytes());
                more.extend_from_slice(&number.to_le_bytes());
            });
        }
        self.out.extend_from_slice(&more);
        self.section(Kind::MoreNumbers, 0, field.0, start);
    }

    pub(super) fn positions(&mut self, inputs: &[&dyn Input], field: FieldId) {
        let start = self.out.len();
        let mut out = std::mem::take(&mut self.out);
        for ((input, _, old), place) in self.documents(inputs).zip(0u32..) {
            input.positions_in_units(field, old, &mut |longitude, latitude| {
                out.extend_from_slice(&place.to_le_bytes());
                out.extend_from_slice(&longitude.to_le_bytes());
                out.extend_from_slice(&latitude.to_le_bytes());
            });
        }
        self.out = out;
        self.section(Kind::Positions, 0, field.0, start);
    }

    pub(super) fn vectors(&mut self, inputs: &[&dyn Input], field: FieldId) {
        let mut numbers = Vec::with_capacity(self.order.len());
        let (mut count, mut len) = (0u32, 0);
        let start = self.out.len();
        let mut out = std::mem::take(&mut self.out);
        for (input, _, old) in self.documents(inputs) {
            let vector = input.vector(field, old).unwrap_or_default();
            if count == 0 && !vector.is_empty() {
                len = vector.len();
                out.extend_from_slice(&(len as u32).to_le_bytes());
            }
            let is_there = !vector.is_empty() && vector.len() == len;
            if is_there {
                count += 1;
                out.extend_from_slice(vector);
            }
            numbers.push(if is_there { count } else { 0 });
        }
        self.out = out;
        self.section(Kind::Vectors, 0, field.0, start);
        if count > 0 && (count as usize) < numbers.len() {
            self.column(Kind::VectorNumbers, field.0, &numbers);
        }
    }

    /// Writes the names of a field's tags, and what tags each document has. `written` holds the names one after the other.
    pub(super) fn tags(&mut self, inputs: &[&dyn Input], field: FieldId) {
        let names = std::mem::take(&mut self.names);
        if names.list_ends.is_empty() {
            return;
        }
        let folds_case =
            !inputs.iter().any(|input| input.tag_count(field) > 0 && input.is_case_sensitive(field));
        let start = self.out.len();
        self.out.extend_from_slice(&names.written);
        self.section_always(Kind::TagNames, u8::from(folds_case), field.0, start);
        self.column(Kind::TagNameEnds, field.0, &names.ends);
        self.column(Kind::TagListEnds, field.0, &names.list_ends);
        let (mut all, mut ends, mut has_several) = (Vec::new(), Vec::with_capacity(self.order.len()), false);
        let mut some = Vec::new();
        for (input, number, old) in self.documents(inputs) {
            let renumber = self.renumber.get(number).map_or(&[][..], Vec::as_slice);
            input.tags_of(field, old, &mut |tag| {
                some.extend(renumber.get(tag as usize).filter(|tag| **tag != GONE))
            });
            some.sort_unstable();
            has_several |= some.len() > 1;
            all.append(&mut some);
            ends.push(all.len() as u32);
        }
        if has_several {
            self.column(Kind::Tags, field.0, &all);
            self.column(Kind::TagEnds, field.0, &ends);
        } else {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let one = |(start, end): (u32, &u32)| {
                if start < *end { all.get(start as usize).map_or(0, |tag| tag + 1) } else { 0 }
            };
            let single: Vec<u32> = starts.zip(&ends).map(one).collect();
            self.column(Kind::Tags, field.0, &single);
        }
    }

    pub(super) fn sort_texts(&mut self, inputs: &[&dyn Input], field: FieldId) {
        let texts: Vec<Option<&[u8]>> =
            self.documents(inputs).map(|(input, _, place)| input.sort_text(field, place)).collect();
        let mut distinct: Vec<&[u8]> = texts.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.is_empty() {
            return;
        }
        let start = self.out.len();
        let mut ends = Vec::with_capacity(distinct.len());
        for text in &distinct {
            self.out.extend_from_slice(text);
            ends.push((self.out.len() - start) as u32);
        }
        self.section(Kind::SortTexts, 0, field.0, start);
        self.column(Kind::SortEnds, field.0, &ends);
        let number = |text: &Option<&[u8]>| {
            text.and_then(|text| distinct.binary_search(&text).ok()).map_or(0, |number| number as u32 + 1)
        };
        let numbers: Vec<u32> = texts.iter().map(number).collect();
        self.column(Kind::SortNumbers, field.0, &numbers);
    }
}

/// The tags of the field that is being written.
#[derive(Debug, Default)]
pub(super) struct TagNames {
    pub(super) written: Vec<u8>,
    pub(super) ends: Vec<u32>,
    pub(super) list_ends: Vec<u32>,
}

/// The name of a tag as a part has it.
pub(super) fn written(part: &dyn Part, field: FieldId, tag: u32) -> &[u8] {
    part.tag_name(field, tag)
}

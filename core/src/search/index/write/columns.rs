//! The columns of one field: pieces, each with a tag and a length, in the order of the tags.
//!
//! ```text
//! [tag u8] [length u32] [bytes]
//!   1 every document has a value       2 those that have: 64 bits a word
//!   3 numbers: scale u8, width u8, least i64, then of each document its number less the least (scale 255: f64 each)
//!   4 the documents with a number, if not all: bits
//!   5 further numbers: place u32, number f64 each, in the order of places
//!   6 positions: place u32, longitude and latitude i32 each, in the order of places
//!   7 vectors: length u32, width u8, of each document one more than its vector's number, then the vectors
//!   8 tags: length of the dictionary u32, the dictionary, the lists (place gaps)
//!   9 tags as they were written: count u32, ends u32 each, texts
//!  10 tags of documents: 1, width u8, one more than the tag of each document; or 2, width of ends u8, width of numbers u8, ends, numbers
//!  11 texts to sort by: count u32, ends u32 each, texts, width u8, of each document one more than its text's number
//! ```

use std::collections::BTreeMap;

use super::super::bytes::{put, put_narrow, width_of};
use super::{DictionaryWriter, Input, Origin};
use crate::search::schema::FieldId;
use crate::sorted;

pub(in crate::search::index) const HAS_ALL: u8 = 1;
pub(in crate::search::index) const HAS: u8 = 2;
pub(in crate::search::index) const NUMBERS: u8 = 3;
pub(in crate::search::index) const HAS_NUMBER: u8 = 4;
pub(in crate::search::index) const MORE_NUMBERS: u8 = 5;
pub(in crate::search::index) const POSITIONS: u8 = 6;
pub(in crate::search::index) const VECTORS: u8 = 7;
pub(in crate::search::index) const TAGS: u8 = 8;
pub(in crate::search::index) const TAG_NAMES: u8 = 9;
pub(in crate::search::index) const TAGS_OF: u8 = 10;
pub(in crate::search::index) const SORT_TEXTS: u8 = 11;

/// Numbers are stored as they are, not scaled.
pub(in crate::search::index) const FLOATS: u8 = 255;

/// Powers of ten by which numbers become whole: prices, measures.
const SCALES: [f64; 5] = [1.0, 10.0, 100.0, 1000.0, 10_000.0];

/// Greater whole numbers are no whole numbers any more as doubles.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

struct Columns<'w> {
    inputs: &'w [Input],
    documents: &'w [Origin],
    field: FieldId,
    out: Vec<u8>,
}

/// The section of a field.
pub(super) fn write(inputs: &[Input], documents: &[Origin], field: FieldId) -> Vec<u8> {
    let mut columns = Columns { inputs, documents, field, out: Vec::new() };
    columns.presence();
    columns.numbers();
    columns.positions();
    columns.vectors();
    columns.tags();
    columns.sort_texts();
    columns.out
}

/// Bits of a list of truths.
fn bits(of: &[bool]) -> Vec<u8> {
    let word = |chunk: &[bool]| {
        chunk.iter().zip(0..).fold(0_u64, |word, (is_set, at)| word | u64::from(*is_set) << at)
    };
    of.chunks(64).flat_map(|chunk| word(chunk).to_le_bytes()).collect()
}

impl Columns<'_> {
    fn piece(&mut self, tag: u8, bytes: &[u8]) {
        self.out.push(tag);
        self.out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.out.extend_from_slice(bytes);
    }

    fn each(&self) -> impl Iterator<Item = (u32, &Input, u32)> {
        let of = |document: &Origin| Some((self.inputs.get(document.input as usize)?, document.place));
        (0..).zip(self.documents).filter_map(move |(place, document)| {
            let (input, old) = of(document)?;
            Some((place, input, old))
        })
    }

    fn presence(&mut self) {
        let has: Vec<bool> = self.each().map(|(_, input, place)| input.part.has(self.field, place)).collect();
        if has.iter().all(|has| *has) && !has.is_empty() {
            self.piece(HAS_ALL, &[]);
        } else if has.iter().any(|has| *has) {
            self.piece(HAS, &bits(&has));
        }
    }

    fn numbers(&mut self) {
        let (mut firsts, mut more) = (Vec::with_capacity(self.documents.len()), Vec::new());
        for (place, input, old) in self.each() {
            let mut first = None;
            input.part.numbers_of(self.field, old, &mut |number| match first {
                None => first = Some(number),
                Some(_) => more.push((place, number)),
            });
            firsts.push(first);
        }
        if firsts.iter().all(Option::is_none) {
            return;
        }
        let column = scaled(&firsts).unwrap_or_else(|| {
            let mut out = vec![FLOATS, 8];
            out.extend_from_slice(&0_i64.to_le_bytes());
            firsts.iter().for_each(|number| out.extend_from_slice(&number.unwrap_or(0.0).to_le_bytes()));
            out
        });
        self.piece(NUMBERS, &column);
        if firsts.iter().any(Option::is_none) {
            let has: Vec<bool> = firsts.iter().map(Option::is_some).collect();
            self.piece(HAS_NUMBER, &bits(&has));
        }
        if !more.is_empty() {
            let bytes: Vec<u8> = more
                .iter()
                .flat_map(|(place, number): &(u32, f64)| {
                    let mut entry = [0; 12];
                    entry[..4].copy_from_slice(&place.to_le_bytes());
                    entry[4..].copy_from_slice(&number.to_le_bytes());
                    entry
                })
                .collect();
            self.piece(MORE_NUMBERS, &bytes);
        }
    }

    fn positions(&mut self) {
        let mut bytes = Vec::new();
        for (place, input, old) in self.each() {
            input.part.units_of(self.field, old, &mut |longitude, latitude| {
                bytes.extend_from_slice(&place.to_le_bytes());
                bytes.extend_from_slice(&longitude.to_le_bytes());
                bytes.extend_from_slice(&latitude.to_le_bytes());
            });
        }
        if !bytes.is_empty() {
            self.piece(POSITIONS, &bytes);
        }
    }

    fn vectors(&mut self) {
        let vectors: Vec<Option<&[u8]>> =
            self.each().map(|(_, input, old)| input.part.vector(self.field, old)).collect();
        let count = vectors.iter().flatten().count();
        let Some(len) = vectors.iter().flatten().map(|vector| vector.len()).next() else { return };
        let width = width_of(count as u64);
        let mut bytes = (len as u32).to_le_bytes().to_vec();
        bytes.push(width);
        let mut number = 0;
        for vector in &vectors {
            number += u64::from(vector.is_some());
            put_narrow(&mut bytes, width, if vector.is_some() { number } else { 0 });
        }
        vectors.iter().flatten().for_each(|vector| bytes.extend_from_slice(vector));
        self.piece(VECTORS, &bytes);
    }

    fn tags(&mut self) {
        // The tags of each input by their numbers there, as they are folded.
        let of_input = |input: &Input| {
            let mut folded = vec![Vec::new(); input.part.tag_count(self.field) as usize];
            for (tag, into) in (0..).zip(&mut folded) {
                input.part.tag_folded(self.field, tag, into);
            }
            folded
        };
        let folded: Vec<Vec<Vec<u8>>> = self.inputs.iter().map(of_input).collect();
        let (mut documents_of, mut names) =
            (BTreeMap::<&[u8], Vec<u32>>::new(), BTreeMap::<&[u8], &[u8]>::new());
        for (place, document) in (0_u32..).zip(self.documents) {
            let input = document.input as usize;
            let (Some(part), Some(folded)) = (self.inputs.get(input), folded.get(input)) else { continue };
            part.part.tags_of(self.field, document.place, &mut |tag| {
                let Some(text) = folded.get(tag as usize) else { return };
                documents_of.entry(text).or_default().push(place);
                names.entry(text).or_insert_with(|| part.part.tag_name(self.field, tag));
            });
        }
        if documents_of.is_empty() {
            return;
        }
        let mut dictionary = DictionaryWriter::default();
        let mut tags_of: Vec<Vec<u32>> = vec![Vec::new(); self.documents.len()];
        let (mut ends, mut texts) = (Vec::new(), Vec::new());
        for ((tag, places), number) in documents_of.iter().zip(0_u32..) {
            let out = dictionary.begin(tag, places.len() as u32);
            let mut next = 0;
            for place in places {
                put(out, place - next);
                next = place + 1;
                if let Some(tags) = tags_of.get_mut(*place as usize) {
                    tags.push(number);
                }
            }
            dictionary.end();
            texts.extend_from_slice(names.get(tag).copied().unwrap_or_default());
            ends.extend_from_slice(&(texts.len() as u32).to_le_bytes());
        }
        let count = u64::from(dictionary.count());
        let (dictionary, lists) = dictionary.finish();
        let bytes = [&(dictionary.len() as u32).to_le_bytes()[..], &dictionary, &lists].concat();
        let names = [&(count as u32).to_le_bytes()[..], &ends, &texts].concat();
        self.piece(TAGS, &bytes);
        self.piece(TAG_NAMES, &names);
        self.piece(TAGS_OF, &tags_by_document(&tags_of, count));
    }

    fn sort_texts(&mut self) {
        let texts: Vec<Option<&[u8]>> =
            self.each().map(|(_, input, old)| input.part.sort_text(self.field, old)).collect();
        let mut distinct: Vec<&[u8]> = texts.iter().flatten().copied().collect();
        sorted::plainly(&mut distinct);
        distinct.dedup();
        if distinct.is_empty() {
            return;
        }
        let mut bytes = (distinct.len() as u32).to_le_bytes().to_vec();
        let mut end = 0_u32;
        for text in &distinct {
            end += text.len() as u32;
            bytes.extend_from_slice(&end.to_le_bytes());
        }
        distinct.iter().for_each(|text| bytes.extend_from_slice(text));
        let width = width_of(distinct.len() as u64);
        bytes.push(width);
        for text in &texts {
            let number =
                text.and_then(|text| distinct.binary_search(&text).ok()).map_or(0, |at| at as u64 + 1);
            put_narrow(&mut bytes, width, number);
        }
        self.piece(SORT_TEXTS, &bytes);
    }
}

fn tags_by_document(tags_of: &[Vec<u32>], count: u64) -> Vec<u8> {
    let mut out = Vec::new();
    if tags_of.iter().all(|tags| tags.len() <= 1) {
        let width = width_of(count);
        out.extend_from_slice(&[1, width]);
        tags_of
            .iter()
            .for_each(|tags| put_narrow(&mut out, width, tags.first().map_or(0, |tag| u64::from(*tag) + 1)));
        return out;
    }
    let all = tags_of.iter().map(Vec::len).sum::<usize>() as u64;
    let (ends, numbers) = (width_of(all), width_of(count.saturating_sub(1)).max(1));
    out.extend_from_slice(&[2, ends, numbers]);
    let mut end = 0;
    for tags in tags_of {
        end += tags.len() as u64;
        put_narrow(&mut out, ends, end);
    }
    tags_of.iter().flatten().for_each(|tag| put_narrow(&mut out, numbers, u64::from(*tag)));
    out
}

/// Numbers as whole ones, if some power of ten makes them that exactly.
fn scaled(numbers: &[Option<f64>]) -> Option<Vec<u8>> {
    let is_exact = |scale: f64| {
        numbers.iter().flatten().all(|number| {
            let whole = (number * scale).round();
            whole.abs() < WHOLE_MAX && (whole / scale).to_bits() == number.to_bits()
        })
    };
    let (at, scale) = SCALES.iter().enumerate().find(|(_, scale)| is_exact(**scale))?;
    let whole = |number: &f64| (number * scale).round() as i64;
    let least = numbers.iter().flatten().map(whole).min().unwrap_or(0);
    let greatest = numbers.iter().flatten().map(whole).max().unwrap_or(0);
    let width = width_of(greatest.abs_diff(least));
    let mut out = vec![at as u8, width];
    out.extend_from_slice(&least.to_le_bytes());
    for number in numbers {
        put_narrow(&mut out, width, number.as_ref().map_or(0, |number| whole(number).abs_diff(least)));
    }
    Some(out)
}

/// A number of a scaled column.
pub(in crate::search::index) fn unscaled(whole: i64, scale: u8) -> f64 {
    whole as f64 / SCALES.get(usize::from(scale)).copied().unwrap_or(1.0)
}

//! The columns of one field of a segment. Their bytes are drawn in `write/columns.rs`.

use super::super::bytes::{has_bit, narrow, u32_at, u64_at};
use super::super::write::columns::{
    HAS, HAS_ALL, HAS_NUMBER, MORE_NUMBERS, NUMBERS, POSITIONS, SORT_TEXTS, TAG_NAMES, TAGS, TAGS_OF, VECTORS,
};
use super::Range;
use super::dictionary::Dictionary;
use super::numbers::Numbers;

/// Where the pieces of a field's columns are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns {
    has_all: bool,
    has: Range,
    numbers: Range,
    has_number: Range,
    more_numbers: Range,
    positions: Range,
    vectors: Range,
    tag_dictionary: Range,
    tag_lists: Range,
    tag_names: Range,
    tags_of: Range,
    sort_texts: Range,
}

/// Bytes of a further number, and of a position.
const ENTRY: usize = 12;

impl Columns {
    /// Finds the pieces; None if they do not fit the section.
    pub fn read(bytes: &[u8], section: Range) -> Option<Columns> {
        let (mut columns, mut at) = (Columns::default(), 0);
        while at < section.len {
            let head = section.from(at).of(bytes);
            let (tag, len) = (*head.first()?, u32_at(head, 1) as usize);
            let piece = section.part(at + 5, len);
            if piece.len != len {
                return None;
            }
            match tag {
                HAS_ALL => columns.has_all = true,
                HAS => columns.has = piece,
                NUMBERS => columns.numbers = piece,
                HAS_NUMBER => columns.has_number = piece,
                MORE_NUMBERS => columns.more_numbers = piece,
                POSITIONS => columns.positions = piece,
                VECTORS => columns.vectors = piece,
                TAGS => {
                    let dictionary = u32_at(piece.of(bytes), 0) as usize;
                    columns.tag_dictionary = piece.part(4, dictionary);
                    columns.tag_lists = piece.from(4 + dictionary);
                }
                TAG_NAMES => columns.tag_names = piece,
                TAGS_OF => columns.tags_of = piece,
                SORT_TEXTS => columns.sort_texts = piece,
                _ => return None,
            }
            at += 5 + len;
        }
        Some(columns)
    }

    pub fn has(&self, bytes: &[u8], place: u32) -> bool {
        self.has_all || has_bit(self.has.of(bytes), place)
    }

    /// The first numbers of documents; None if there are none.
    pub fn numbers<'s>(&self, bytes: &'s [u8]) -> Option<Numbers<'s>> {
        let column = self.numbers.of(bytes);
        Some(Numbers {
            scale: *column.first()?,
            width: *column.get(1)?,
            least: u64_at(column, 2) as i64,
            packed: column.get(10..)?,
            has: Some(self.has_number.of(bytes)).filter(|has| !has.is_empty()),
        })
    }

    /// Whether a document has several numbers.
    pub fn has_more_numbers(&self) -> bool {
        self.more_numbers.len > 0
    }

    /// Shows all further numbers, or those of one document.
    pub fn more_numbers(&self, bytes: &[u8], of: Option<u32>, visit: &mut dyn FnMut(u32, f64)) {
        let all = self.more_numbers.of(bytes);
        for entry in first_of(all, of).chunks_exact(ENTRY) {
            let place = u32_at(entry, 0);
            if of.is_some_and(|of| of != place) {
                return;
            }
            visit(place, f64::from_bits(u64_at(entry, 4)));
        }
    }

    pub fn positions(&self, bytes: &[u8], of: u32, visit: &mut dyn FnMut(i32, i32)) {
        let all = self.positions.of(bytes);
        for entry in first_of(all, Some(of)).chunks_exact(ENTRY).take_while(|entry| u32_at(entry, 0) == of) {
            visit(u32_at(entry, 4) as i32, u32_at(entry, 8) as i32);
        }
    }

    pub fn vector<'s>(&self, bytes: &'s [u8], places: u32, place: u32) -> Option<&'s [u8]> {
        let column = self.vectors.of(bytes);
        let (len, width) = (u32_at(column, 0) as usize, *column.get(4)?);
        let number = narrow(column.get(5..)?, width, place as usize).checked_sub(1)? as usize;
        let start = 5 + places as usize * usize::from(width) + number.checked_mul(len)?;
        column.get(start..start.checked_add(len)?)
    }

    pub fn tags<'s>(&self, bytes: &'s [u8]) -> Dictionary<'s> {
        Dictionary::of(bytes, self.tag_dictionary)
    }

    pub fn tag_count(&self, bytes: &[u8]) -> u32 {
        u32_at(self.tag_names.of(bytes), 0)
    }

    pub fn tag_list<'s>(&self, bytes: &'s [u8], at: u32) -> &'s [u8] {
        self.tag_lists.from(at as usize).of(bytes)
    }

    /// A tag as it was written.
    pub fn tag_name<'s>(&self, bytes: &'s [u8], tag: u32) -> Option<&'s [u8]> {
        let all = self.tag_names.of(bytes);
        let (count, ends) = (u32_at(all, 0) as usize, all.get(4..)?);
        let tag = (tag as usize).min(count);
        let start = tag.checked_sub(1).map_or(0, |before| u32_at(ends, before * 4)) as usize;
        ends.get(count.checked_mul(4)?..)?.get(start..u32_at(ends, tag * 4) as usize)
    }

    pub fn tags_of(&self, bytes: &[u8], places: u32, place: u32, visit: &mut dyn FnMut(u32)) {
        let column = self.tags_of.of(bytes);
        let (place, places) = (place as usize, places as usize);
        match column {
            [1, width, rest @ ..] => {
                if let Some(tag) = narrow(rest, *width, place).checked_sub(1) {
                    visit(tag as u32);
                }
            }
            [2, ends, width, rest @ ..] => {
                let start = place.checked_sub(1).map_or(0, |before| narrow(rest, *ends, before));
                let end = narrow(rest, *ends, place);
                let numbers = rest.get(places * usize::from(*ends)..).unwrap_or_default();
                let most = (numbers.len() / usize::from(*width).max(1)) as u64;
                (start.min(most)..end.min(most))
                    .for_each(|at| visit(narrow(numbers, *width, at as usize) as u32));
            }
            _ => {}
        }
    }

    pub fn sort_text<'s>(&self, bytes: &'s [u8], place: u32) -> Option<&'s [u8]> {
        let column = self.sort_texts.of(bytes);
        let count = u32_at(column, 0) as usize;
        let ends = column.get(4..)?;
        let end_of = |number: usize| u32_at(ends, number * 4) as usize;
        let texts = ends.get(count.checked_mul(4)?..)?;
        let all = end_of(count.checked_sub(1)?);
        let width = *texts.get(all)?;
        let number = narrow(texts.get(all + 1..)?, width, place as usize).checked_sub(1)? as usize;
        let start = number.checked_sub(1).map_or(0, end_of);
        texts.get(start..end_of(number))
    }
}

/// The entries from the first of a document on; all without one.
fn first_of(entries: &[u8], of: Option<u32>) -> &[u8] {
    let Some(of) = of else { return entries };
    let (mut low, mut high) = (0, entries.len() / ENTRY);
    while low < high {
        let middle = low + (high - low) / 2;
        if u32_at(entries, middle * ENTRY) < of { low = middle + 1 } else { high = middle }
    }
    entries.get(low * ENTRY..).unwrap_or_default()
}

//! What a segment is made of: a delta, or other segments.

use crate::search::index::part::{BLOCK, List, Part, Rank};
use crate::search::schema::FieldId;

/// Postings as they are stored: their occurrences are not decoded.
pub(in crate::search::index) struct Chunk {
    pub(in crate::search::index) places: [u32; BLOCK],
    pub(in crate::search::index) ranks: [Rank; BLOCK],
    /// Where the occurrences of each end in `bytes`; those of the first start at 0.
    pub(in crate::search::index) ends: [u32; BLOCK],
    pub(in crate::search::index) bytes: Vec<u8>,
    pub(in crate::search::index) len: usize,
}

impl Chunk {
    pub(in crate::search::index) fn new() -> Chunk {
        Chunk { places: [0; BLOCK], ranks: [Rank(0); BLOCK], ends: [0; BLOCK], bytes: Vec::new(), len: 0 }
    }

    pub(in crate::search::index) fn clear(&mut self) {
        self.len = 0;
        self.bytes.clear();
    }
}

/// How far a list has been read. It borrows nothing, so that a merge can stop within a list.
#[derive(Clone, Copy, Debug)]
pub(in crate::search::index) struct Reading {
    pub(in crate::search::index) list: List,
    /// Postings that have been read.
    pub(in crate::search::index) done: u32,
    /// Where the next places and occurrences are, as the part understands it.
    pub(in crate::search::index) at: usize,
    pub(in crate::search::index) occurrences_at: usize,
    /// The place after the last one.
    pub(in crate::search::index) next: u32,
}

impl Reading {
    pub(in crate::search::index) fn new(list: List) -> Reading {
        Reading { list, done: 0, at: 0, occurrences_at: 0, next: 0 }
    }
}

/// Shows a stem with its language, and the numbers of its words; false ends the walk.
pub(in crate::search::index) type StemVisitor<'v> = &'v mut dyn FnMut(&[u8], &[u32]) -> bool;

/// A part that a segment can be made of.
pub(in crate::search::index) trait Input: Part {
    /// The place of the document with the n-th lowest id.
    fn place_in_order(&self, number: u32) -> u32;

    /// How many fields of the schema it may have values of.
    fn fields_known(&self) -> u16;

    /// How many text fields it may have words of.
    fn text_fields(&self) -> u16;

    /// About how many bytes a segment of it would take, rather too many.
    fn bytes_expected(&self) -> usize;

    /// The next postings of a list; false if there are no more.
    fn read(&self, reading: &mut Reading, chunk: &mut Chunk) -> bool;

    /// The number of a term that a walk shows as its n-th.
    fn number_of(&self, list: List, nth: u32) -> u32;

    /// Shows stems in the order of their bytes, from one on. The numbers of words are those of [`Input::number_of`].
    fn stems(&self, from: &[u8], visit: StemVisitor<'_>);

    /// Numbers of a document beyond the first.
    fn more_numbers(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(f64));

    /// Positions of a document in their units.
    fn positions_in_units(&self, field: FieldId, place: u32, visit: &mut dyn FnMut(i32, i32));

    /// Whether tags of a field are told apart by case.
    fn is_case_sensitive(&self, field: FieldId) -> bool;
}

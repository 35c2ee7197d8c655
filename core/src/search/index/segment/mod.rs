//! Documents as one immutable string of bytes.
//!
//! Nothing is parsed when a segment is opened: a checksum over all bytes, its trailer and the table of its sections are looked at, and that is
//! all. Every read afterwards stays within its section, so that bytes that are wrong in spite of their checksum make wrong answers, and no panic.
//!
//! Numbers are little-endian; "varint" is that of `bytes`. The documents have places in the order of their ids. A column has a number for
//! each place, in as many bytes as the greatest needs: 0, 1, 2, 4 or 8, the section's width.
//!
//! ```text
//! "ECSG" | version u32 | sections, one after the other | table | trailer
//! table:    for each section: kind u8 | width u8 | field u16 | at u32 | bytes u32
//! trailer:  index u64 | first id u64 | places u32 | words u32 | fields known u16 | text fields u16
//!           | table at u32 | sections u32 | CRC-32C of all bytes before u32
//!
//! IdBlocks    for each 128 places: first id u64 | at << 3 | width u32; width 0: ids follow one another, 4 stands for 8 bytes
//! IdOffsets   for each place of other blocks: id - first, in the block's width
//! KeyBlocks   for each 16 places: where its keys start u32
//! Keys        bytes shared with the key before varint | length of the rest varint | rest; nothing is shared at a block's start
//! Words       blocks of 32 in the order of bytes: bytes shared u8 | length of the rest u8 | rest | documents varint | bytes of its list varint
//! WordBlocks  for each block: where it starts u32 | where its first list starts u32
//! Stems       blocks likewise: bytes shared u8 | length u8 | language and stem | how many words varint | number of the first varint | gaps varint
//! StemBlocks  for each block: where it starts u32
//! Lists       of words, one after the other (below)
//! Scores      f32 for each place; absent if all are 1
//! Has         width 1: all places have the field; width 2: a bit for each place
//! HasNumber   the same for numbers
//! Numbers     least i64 | for each place (number × 10^scale) - least; width: width | scale << 4; scale 15: the bits of the f64 instead
//! MoreNumbers place u32 | f64, in the order of places: numbers of a place beyond its first
//! Positions   place u32 | longitude i32 | latitude i32, in units of 1e-7 degrees, in the order of places
//! Vectors     bytes of a vector u32 | vectors
//! VectorNumbers  column: one more than the vector's number, 0 for none; absent if all places have one
//! TagNames    tags as they were written, in the order of their folded bytes; width 1 if the field folds case
//! TagNameEnds column by tag
//! TagLists    for each tag: documents varint | list
//! TagListEnds column by tag
//! Tags        without TagEnds a column: one more than the tag, 0 for none; else the tags of all documents one after the other
//! TagEnds     column: how many tags the documents up to this one have
//! SortTexts, SortEnds   distinct texts in order, and a column of their ends
//! SortNumbers column: one more than the text's number, 0 for none
//! WordCounts  column; its field is the place among the text fields
//! ```
//!
//! A list of one document is `place varint | rank u8 | occurrences`. One of more is
//! `bytes of places varint | skips | places | ranks | occurrences`, where each 128 postings but the last have a skip behind them:
//! `place after them u32 | where places go on u32 | where occurrences go on u32`. Places are gaps, how many places lie between a posting
//! and the one before: 128 of them as `bits u8` and so many bits each, the lowest first, and those that are left as varints. Lists of tags
//! have no ranks and no occurrences.

mod dictionary;
mod lists;
mod numbers;
mod read;

use super::bytes::{array, piece, u32_at, u64_at};
use super::part::{DocumentId, List};

pub(super) use lists::{LIST_OF_TAG, SKIP_BYTES};
pub(super) use numbers::{RAW, power};

pub(super) const MAGIC: [u8; 8] = *b"ECSG\x01\0\0\0";
pub(super) const TRAILER_BYTES: usize = 40;
pub(super) const TABLE_ENTRY_BYTES: usize = 12;
/// Places in a block of ids, keys to a block, and terms to a block.
pub(super) const ID_BLOCK: usize = 128;
pub(super) const KEY_BLOCK: usize = 16;
pub(super) const TERM_BLOCK: usize = 32;

/// A segment is shorter than this: offsets have 31 bits, as has the memory of wasm32.
pub const SEGMENT_MAX_BYTES: usize = (1 << 31) - 1;

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    IdBlocks,
    IdOffsets,
    KeyBlocks,
    Keys,
    Lists,
    WordBlocks,
    Words,
    StemBlocks,
    Stems,
    Scores,
    Has = FIRST_OF_FIELDS,
    HasNumber,
    Numbers,
    MoreNumbers,
    Positions,
    VectorNumbers,
    Vectors,
    TagNames,
    TagNameEnds,
    TagLists,
    TagListEnds,
    Tags,
    TagEnds,
    SortTexts,
    SortEnds,
    SortNumbers,
    WordCounts,
}

/// Kinds from this one on belong to a field.
const FIRST_OF_FIELDS: u8 = 16;
const KINDS_OF_FIELDS: usize = 17;

/// Where a section is; one that is absent is empty and has width 0.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    at: u32,
    len: u32,
    width: u8,
}

/// Why bytes are no segment, or not the one that was asked for. The documents are indexed again from their source then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// They are too short or too long, or of another version.
    Unknown,
    /// Their checksum is wrong.
    Damaged,
    /// They are a segment of another index.
    OtherIndex,
}

/// An opened segment.
#[derive(Debug)]
pub struct Segment {
    bytes: Vec<u8>,
    places: u32,
    word_count: u32,
    first_id: DocumentId,
    fields_known: u16,
    text_fields: u16,
    sections: [Section; FIRST_OF_FIELDS as usize],
    fields: Vec<[Section; KINDS_OF_FIELDS]>,
}

impl Segment {
    /// Opens the segment of an index. Fails if the bytes are not one as it was written.
    pub fn open(bytes: Vec<u8>, index_number: u64) -> Result<Segment, Refused> {
        let end = bytes.len().checked_sub(4).ok_or(Refused::Unknown)?;
        if bytes.len() > SEGMENT_MAX_BYTES
            || bytes.len() < MAGIC.len() + TRAILER_BYTES
            || !bytes.starts_with(&MAGIC)
        {
            return Err(Refused::Unknown);
        }
        if crc32c::crc32c(piece(&bytes, 0, end)) != u32_at(&bytes, end) {
            return Err(Refused::Damaged);
        }
        Segment::open_unchecked(bytes, index_number)
    }

    /// Opens bytes whose checksum is right.
    pub(super) fn open_unchecked(bytes: Vec<u8>, index_number: u64) -> Result<Segment, Refused> {
        let trailer: [u8; TRAILER_BYTES] = array(&bytes, bytes.len().saturating_sub(TRAILER_BYTES));
        if u64_at(&trailer, 0) != index_number {
            return Err(Refused::OtherIndex);
        }
        let u16_at = |at| u16::from_le_bytes(array(&trailer, at));
        let mut segment = Segment {
            first_id: u64_at(&trailer, 8),
            places: u32_at(&trailer, 16),
            word_count: u32_at(&trailer, 20),
            fields_known: u16_at(24),
            text_fields: u16_at(26),
            sections: Default::default(),
            fields: Vec::new(),
            bytes: Vec::new(),
        };
        let len = (u32_at(&trailer, 32) as usize).checked_mul(TABLE_ENTRY_BYTES).ok_or(Refused::Damaged)?;
        let table = (u32_at(&trailer, 28) as usize)
            .checked_add(len)
            .and_then(|end| bytes.get(end - len..end))
            .ok_or(Refused::Damaged)?;
        for entry in table.as_chunks::<TABLE_ENTRY_BYTES>().0 {
            segment.note(entry, bytes.len());
        }
        segment.bytes = bytes;
        // Every place has its share of the ids, so that damage cannot make loops over places longer than the bytes justify.
        if (segment.places as usize).div_ceil(ID_BLOCK) * 12 != segment.section(Kind::IdBlocks).len() {
            return Err(Refused::Damaged);
        }
        Ok(segment)
    }

    fn note(&mut self, entry: &[u8; TABLE_ENTRY_BYTES], bytes: usize) {
        let [kind, width, low, high, ..] = *entry;
        let section = Section { at: u32_at(entry, 4), len: u32_at(entry, 8), width };
        if (section.at as usize).checked_add(section.len as usize).is_none_or(|end| end > bytes) {
            return;
        }
        let field = usize::from(u16::from_le_bytes([low, high]));
        let of_field = kind.checked_sub(FIRST_OF_FIELDS).map(usize::from);
        let Some(of_field) = of_field else {
            if let Some(place) = self.sections.get_mut(usize::from(kind)) {
                *place = section;
            }
            return;
        };
        if self.fields.len() <= field && field < usize::from(self.fields_known.max(self.text_fields)) {
            self.fields.resize_with(field + 1, Default::default);
        }
        if let Some(place) = self.fields.get_mut(field).and_then(|sections| sections.get_mut(of_field)) {
            *place = section;
        }
    }

    /// Its bytes, to store them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The id of its first document.
    pub fn first_id(&self) -> DocumentId {
        self.first_id
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.fields.capacity() * size_of::<[Section; KINDS_OF_FIELDS]>()
            + size_of::<Segment>()
    }

    /// Kinds of sections, their fields and their lengths, as the table has them.
    pub fn sizes(&self) -> Vec<(u8, u16, u32)> {
        let common = self.sections.iter().zip(0u8..).map(|(section, kind)| (kind, 0, section.len));
        let fields = self.fields.iter().zip(0u16..).flat_map(|(sections, field)| {
            sections.iter().zip(FIRST_OF_FIELDS..).map(move |(section, kind)| (kind, field, section.len))
        });
        common.chain(fields).filter(|size| size.2 > 0).collect()
    }

    fn of(&self, section: Section) -> &[u8] {
        piece(&self.bytes, section.at as usize, section.len as usize)
    }

    fn section(&self, kind: Kind) -> &[u8] {
        self.of(self.sections.get(kind as usize).copied().unwrap_or_default())
    }

    /// A section of a field, and its width.
    #[inline]
    fn column(&self, field: u16, kind: Kind) -> (&[u8], u8) {
        let sections = self.fields.get(usize::from(field));
        let section = sections.and_then(|sections| sections.get((kind as u8 - FIRST_OF_FIELDS) as usize));
        section.map_or((&[], 0), |section| (self.of(*section), section.width))
    }

    /// The bytes of a list, and whether it has ranks.
    fn list(&self, list: List) -> (&[u8], bool) {
        (
            piece(&self.bytes, list.at as usize, (list.len & !LIST_OF_TAG) as usize),
            list.len & LIST_OF_TAG == 0,
        )
    }
}

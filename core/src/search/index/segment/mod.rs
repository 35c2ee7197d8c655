//! An immutable part of an index: one string of bytes, which is a derived file as well. The bytes are drawn in [`super::write`].
//!
//! [`Segment::open`] compares the checksum of all bytes and reads the table of sections; nothing else is parsed. Every read afterwards is
//! checked again, so that nothing panics whatever the bytes are.

mod columns;
mod dictionary;
mod numbers;
mod postings;
mod read;

use super::bytes::{u32_at, u64_at};
use super::heads::Heads;
use super::part::DocumentId;
use super::write::{FIXED_SECTIONS, HEADER, MAGIC, VERSION};
use columns::Columns;

/// A range of the bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    at: usize,
    len: usize,
}

impl Range {
    /// The range within bytes; empty if it is not.
    fn of(self, bytes: &[u8]) -> &[u8] {
        super::bytes::piece(bytes, self.at, self.len)
    }

    /// A part of it, cut to what is there.
    fn part(self, at: usize, len: usize) -> Range {
        let at = at.min(self.len);
        Range { at: self.at + at, len: len.min(self.len - at) }
    }

    fn from(self, at: usize) -> Range {
        self.part(at, usize::MAX)
    }
}

/// Why bytes are no segment of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// They are none, or of a version that this one cannot read.
    Unknown,
    /// They belong to another index.
    Other,
    /// They are not what was written.
    Damaged,
}

/// The index whose segment these bytes say they are.
pub fn index_number(bytes: &[u8]) -> Option<u64> {
    let is_one = bytes.starts_with(MAGIC) && u32_at(bytes, 4) == VERSION && bytes.len() >= HEADER;
    is_one.then(|| u64_at(bytes, 8))
}

/// Documents that do not change any more.
pub struct Segment {
    bytes: Vec<u8>,
    first_id: DocumentId,
    last_id: DocumentId,
    postings: u64,
    places: u32,
    words: u32,
    ids: Range,
    keys: Range,
    word_dictionary: Range,
    word_lists: Range,
    stem_dictionary: Range,
    stem_lists: Range,
    scores: Range,
    frequencies: Range,
    field_words: Vec<Range>,
    fields: Vec<Columns>,
    heads: Heads,
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Segment({} documents, {} bytes)", self.places, self.bytes.len())
    }
}

impl Segment {
    /// Takes over bytes that are a segment of this index.
    ///
    /// # Errors
    /// They are not.
    pub fn open(bytes: Vec<u8>, of: u64) -> Result<Segment, Refused> {
        match index_number(&bytes) {
            None => return Err(Refused::Unknown),
            Some(number) if number != of => return Err(Refused::Other),
            Some(_) => {}
        }
        let end = bytes.len() - 4;
        let body = bytes.get(..end).ok_or(Refused::Damaged)?;
        if crc32c::crc32c(body) != u32_at(&bytes, end) {
            return Err(Refused::Damaged);
        }
        Segment::read(bytes).ok_or(Refused::Damaged)
    }

    /// Reads the table of sections; None if it does not fit the bytes.
    fn read(bytes: Vec<u8>) -> Option<Segment> {
        let sections = u32_at(&bytes, 52) as usize;
        let (fields, text_fields) = (usize::from(u16_at(&bytes, 48)), usize::from(u16_at(&bytes, 50)));
        if sections != FIXED_SECTIONS + fields + text_fields {
            return None;
        }
        let end = bytes.len().checked_sub(4)?;
        let section = |number: usize| {
            let entry = HEADER + number * 8;
            let (at, len) = (u32_at(&bytes, entry) as usize, u32_at(&bytes, entry + 4) as usize);
            (at.checked_add(len)? <= end).then_some(Range { at, len })
        };
        let field_words =
            (0..text_fields).map(|field| section(FIXED_SECTIONS + field)).collect::<Option<_>>()?;
        let columns = |field| Columns::read(&bytes, section(FIXED_SECTIONS + text_fields + field)?);
        let fields = (0..fields).map(columns).collect::<Option<_>>()?;
        Some(Segment {
            first_id: u64_at(&bytes, 16),
            last_id: u64_at(&bytes, 24),
            postings: u64_at(&bytes, 32),
            places: u32_at(&bytes, 40),
            words: u32_at(&bytes, 44),
            ids: section(0)?,
            keys: section(1)?,
            word_dictionary: section(2)?,
            word_lists: section(3)?,
            stem_dictionary: section(4)?,
            stem_lists: section(5)?,
            scores: section(6)?,
            frequencies: section(7)?,
            field_words,
            fields,
            heads: Heads::default(),
            bytes,
        })
    }

    /// The bytes, as they are stored.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes it has.
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory that it takes: those, and what queries may remember of them.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() + Heads::bytes_max(self.bytes.len())
    }

    /// The least id.
    pub fn first_id(&self) -> DocumentId {
        self.first_id
    }

    /// The greatest id.
    pub fn last_id(&self) -> DocumentId {
        self.last_id
    }

    /// How many different words it has.
    pub fn word_count(&self) -> u32 {
        self.words
    }

    /// How many postings of words it has.
    pub fn posting_count(&self) -> u64 {
        self.postings
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(super::bytes::array(bytes, at))
}

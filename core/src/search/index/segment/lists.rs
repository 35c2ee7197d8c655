//! Reads lists of postings.

use crate::search::index::bytes::{get, piece, u32_at};
use crate::search::index::occurrences;
use crate::search::index::part::{BLOCK, Block, List, Position, Postings, Rank};
use crate::search::index::write::input::{Chunk, Reading};

pub(in crate::search::index) const SKIP_BYTES: usize = 12;

/// The bit of [`List::len`] that tells lists of tags.
pub(in crate::search::index) const LIST_OF_TAG: u32 = 1 << 31;

/// The parts of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'s> {
    documents: usize,
    skips: &'s [u8],
    places: &'s [u8],
    ranks: &'s [u8],
    occurrences: &'s [u8],
}

/// Before a block of a list.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    block: usize,
    at: usize,
    /// The place after the last posting.
    next: u32,
    occurrences_at: usize,
}

impl<'s> Parts<'s> {
    pub(super) fn of(bytes: &'s [u8], list: List, has_ranks: bool) -> Parts<'s> {
        let mut documents = list.documents as usize;
        let mut at = 0;
        let first = get(bytes, &mut at) as usize;
        let (mut skips, mut start, mut len): (&[u8], usize, usize) = (&[], 0, at);
        if documents > 1 {
            let skip_bytes = (documents - 1) / BLOCK * SKIP_BYTES;
            skips = piece(bytes, at, skip_bytes);
            (start, len) = (at.saturating_add(skip_bytes), first);
        }
        let places = piece(bytes, start, len);
        let end = start.saturating_add(len);
        let ranks = piece(bytes, end, if has_ranks { documents } else { 0 });
        // A list cannot have more documents than its bytes can say.
        if (has_ranks && ranks.len() < documents) || places.len() < documents.div_ceil(BLOCK) {
            documents = 0;
        }
        let occurrences = bytes.get(end.saturating_add(ranks.len())..).unwrap_or_default();
        Parts { documents, skips, places, ranks, occurrences }
    }

    fn skip(&self, number: usize) -> Cursor {
        let at = number * SKIP_BYTES;
        let [next, at, occurrences_at] = [0, 4, 8].map(|field| u32_at(self.skips, at + field));
        let [at, occurrences_at] = [(at, self.places), (occurrences_at, self.occurrences)]
            .map(|(at, within)| within.len().min(at as usize));
        Cursor { block: number + 1, next, at, occurrences_at }
    }

    /// The first block that may hold a place which is not before this one, and is not before the cursor.
    fn seek(&self, cursor: Cursor, place: u32) -> Cursor {
        let (mut low, mut high) = (cursor.block, self.skips.len() / SKIP_BYTES);
        if low >= high || self.skip(low).next > place {
            return cursor;
        }
        while low < high {
            let middle = (low + high) / 2;
            if self.skip(middle).next <= place { low = middle + 1 } else { high = middle }
        }
        self.skip(low.saturating_sub(1))
    }

    /// Decodes the places of a block, and returns how many there are.
    #[inline]
    fn decode(&self, cursor: &mut Cursor, places: &mut [u32; BLOCK]) -> usize {
        let len = self.documents.saturating_sub(cursor.block * BLOCK).min(BLOCK);
        if len == BLOCK {
            let bits = usize::from(self.places.get(cursor.at).copied().unwrap_or(0)).min(32);
            unpack(piece(self.places, cursor.at + 1, bits * BLOCK / 8), bits, &mut cursor.next, places);
            cursor.at += 1 + bits * BLOCK / 8;
        } else {
            let mut next = cursor.next;
            for place in places.iter_mut().take(len) {
                *place = next.wrapping_add(get(self.places, &mut cursor.at));
                next = place.wrapping_add(1);
            }
            cursor.next = next;
        }
        cursor.block += 1;
        len
    }

    fn ranks(&self, block: usize) -> &'s [u8] {
        self.ranks.get(block * BLOCK..).unwrap_or_default()
    }
}

/// Places from gaps of so many bits.
#[inline]
fn unpack(bytes: &[u8], bits: usize, next: &mut u32, places: &mut [u32; BLOCK]) {
    let mut now = *next;
    if bits <= 8 {
        // Eight gaps are at most eight bytes.
        let mask = (1u64 << bits) - 1;
        let mut groups = places.as_chunks_mut::<8>().0.iter_mut();
        let mut fill = |mut word: u64| {
            if let Some(group) = groups.next() {
                for place in group {
                    *place = now.wrapping_add((word & mask) as u32);
                    now = place.wrapping_add(1);
                    word >>= bits;
                }
            }
        };
        if bits == 0 {
            (0..BLOCK / 8).for_each(|_| fill(0));
        }
        for group in bytes.chunks_exact(bits.max(1)) {
            let mut word = [0; 8];
            word.iter_mut().zip(group).for_each(|(to, from)| *to = *from);
            fill(u64::from_le_bytes(word));
        }
    } else {
        let mut padded = [0u8; 32 * BLOCK / 8 + 8];
        padded.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let mask = (1u64 << bits) - 1;
        for (place, index) in places.iter_mut().zip(0..) {
            let bit: usize = index * bits;
            let word = padded
                .get(bit / 8..)
                .and_then(|bytes| bytes.first_chunk::<8>())
                .map_or(0, |bytes| u64::from_le_bytes(*bytes));
            *place = now.wrapping_add((word >> (bit % 8) & mask) as u32);
            now = place.wrapping_add(1);
        }
    }
    *next = now;
}

/// The postings of a word or a tag.
pub(super) struct SegmentPostings<'s> {
    parts: Parts<'s>,
    reading: Cursor,
    /// After the block in which occurrences were looked for last, the block's places, and the posting there.
    looking: Cursor,
    places: [u32; BLOCK],
    len: usize,
    index: usize,
    occurrences_at: usize,
}

impl<'s> SegmentPostings<'s> {
    pub(super) fn new(parts: Parts<'s>) -> SegmentPostings<'s> {
        let (reading, looking) = (Cursor::default(), Cursor::default());
        SegmentPostings { parts, reading, looking, places: [0; BLOCK], len: 0, index: 0, occurrences_at: 0 }
    }
}

impl Postings for SegmentPostings<'_> {
    fn next_block(&mut self, block: &mut Block) -> bool {
        let ranks = self.parts.ranks(self.reading.block);
        block.len = self.parts.decode(&mut self.reading, &mut block.places);
        if self.parts.ranks.is_empty() {
            block.ranks = [Rank(0); BLOCK];
        } else if let Some(ranks) = ranks.first_chunk::<BLOCK>() {
            block.ranks = ranks.map(Rank);
        } else {
            block.ranks.iter_mut().zip(ranks).for_each(|(to, from)| *to = Rank(*from));
        }
        block.len > 0
    }

    fn skip_to(&mut self, place: u32) {
        self.reading = self.parts.seek(self.reading, place);
    }

    fn positions(&mut self, place: u32, into: &mut Vec<Position>) {
        into.clear();
        if self.parts.ranks.is_empty() {
            return;
        }
        let is_behind = self.len == 0 || self.looking.next <= place;
        if is_behind {
            // A skip may lead over whole blocks; without one, blocks are passed posting by posting.
            loop {
                let from = self.parts.seek(self.looking, place);
                if from.block > self.looking.block || self.len == 0 {
                    self.occurrences_at = from.occurrences_at;
                } else {
                    self.pass(self.len);
                }
                self.looking = from;
                self.index = 0;
                self.len = self.parts.decode(&mut self.looking, &mut self.places);
                if self.len < BLOCK || self.looking.next > place {
                    break;
                }
            }
        }
        let behind = self.places.get(self.index..self.len).unwrap_or_default();
        let index = self.index + behind.partition_point(|other| *other < place);
        self.pass(index);
        if index < self.len && self.places.get(index) == Some(&place) {
            let rank = Rank(self.block_ranks().get(index).copied().unwrap_or(0));
            let mut at = self.occurrences_at;
            occurrences::decode(rank, self.parts.occurrences, &mut at, into);
        }
    }
}

impl<'s> SegmentPostings<'s> {
    fn block_ranks(&self) -> &'s [u8] {
        self.parts.ranks(self.looking.block.saturating_sub(1))
    }

    /// Passes over occurrences up to those of a posting of the block.
    fn pass(&mut self, index: usize) {
        for rank in self.block_ranks().get(self.index..index).unwrap_or_default() {
            occurrences::skip(Rank(*rank), self.parts.occurrences, &mut self.occurrences_at);
        }
        self.index = index;
    }
}

/// Reads the next postings of a list as they are stored.
pub(super) fn read(parts: &Parts<'_>, reading: &mut Reading, chunk: &mut Chunk) -> bool {
    chunk.clear();
    let block = (reading.done as usize).div_ceil(BLOCK);
    let mut cursor = Cursor { block, at: reading.at, next: reading.next, occurrences_at: 0 };
    chunk.len = parts.decode(&mut cursor, &mut chunk.places);
    let start = reading.occurrences_at;
    let rows = chunk.ranks.iter_mut().zip(&mut chunk.ends).zip(parts.ranks(block)).take(chunk.len);
    for ((to, end), rank) in rows {
        *to = Rank(*rank);
        occurrences::skip(*to, parts.occurrences, &mut reading.occurrences_at);
        *end = reading.occurrences_at.saturating_sub(start) as u32;
    }
    let end = reading.occurrences_at.min(parts.occurrences.len());
    chunk.bytes.extend_from_slice(parts.occurrences.get(start..end).unwrap_or_default());
    reading.done += chunk.len as u32;
    (reading.at, reading.next) = (cursor.at, cursor.next);
    chunk.len > 0
}

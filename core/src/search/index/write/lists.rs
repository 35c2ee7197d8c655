//! Writes lists of postings.

use crate::search::index::bytes::put;
use crate::search::index::part::BLOCK;
use crate::search::index::segment::SKIP_BYTES;

use super::input::Chunk;

/// The postings of one term from all inputs, with the places of the segment.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    places: Vec<u32>,
    ranks: Vec<u8>,
    /// Where the occurrences of each end.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    is_unsorted: bool,
}

impl Gathered {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.ranks.clear();
        self.ends.clear();
        self.bytes.clear();
        self.is_unsorted = false;
    }

    /// Adds postings whose documents are live, and returns the lowest of their new places.
    pub(super) fn add(&mut self, chunk: &Chunk, map: &[u32]) -> u32 {
        let mut start = 0;
        let mut least = u32::MAX;
        let rows = chunk.places.iter().zip(&chunk.ranks).zip(&chunk.ends).take(chunk.len);
        for ((old, rank), end) in rows {
            let place = map.get(*old as usize).copied().unwrap_or(u32::MAX);
            if place != u32::MAX {
                self.is_unsorted |= self.places.last().is_some_and(|last| *last >= place);
                self.places.push(place);
                self.ranks.push(rank.0);
                self.bytes.extend_from_slice(chunk.bytes.get(start..*end as usize).unwrap_or_default());
                self.ends.push(self.bytes.len() as u32);
                least = least.min(place);
            }
            start = *end as usize;
        }
        least
    }

    /// Puts the postings into the order of places.
    fn sort(&mut self) {
        if !self.is_unsorted {
            return;
        }
        let mut order: Vec<u64> =
            self.places.iter().zip(0..).map(|(place, index)| u64::from(*place) << 32 | index).collect();
        order.sort_unstable();
        let mut sorted = Gathered::default();
        for index in order {
            let index = (index & u64::from(u32::MAX)) as usize;
            let (Some(place), Some(rank)) = (self.places.get(index), self.ranks.get(index)) else { continue };
            // Only damaged inputs name a place twice.
            if sorted.places.last() == Some(place) {
                continue;
            }
            sorted.places.push(*place);
            sorted.ranks.push(*rank);
            sorted.bytes.extend_from_slice(self.occurrences(index));
            sorted.ends.push(sorted.bytes.len() as u32);
        }
        *self = sorted;
    }

    fn occurrences(&self, index: usize) -> &[u8] {
        let start =
            index.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        let end = self.ends.get(index).map_or(start, |end| *end as usize);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// Appends the list.
    pub(super) fn write(&mut self, has_ranks: bool, out: &mut Vec<u8>) {
        self.sort();
        if let [place] = self.places.as_slice() {
            put(out, *place);
        } else {
            let mut skips = Vec::with_capacity(self.places.len() / BLOCK * SKIP_BYTES);
            let mut places = Vec::with_capacity(self.places.len());
            let mut next = 0;
            for (block, number) in self.places.chunks(BLOCK).zip(1..) {
                next = write_places(block, next, &mut places);
                if number * BLOCK < self.places.len() {
                    let occurrences =
                        if has_ranks { self.ends.get(number * BLOCK - 1).copied().unwrap_or(0) } else { 0 };
                    for field in [next, places.len() as u32, occurrences] {
                        skips.extend_from_slice(&field.to_le_bytes());
                    }
                }
            }
            put(out, places.len() as u32);
            out.extend_from_slice(&skips);
            out.extend_from_slice(&places);
        }
        if has_ranks {
            out.extend_from_slice(&self.ranks);
            out.extend_from_slice(&self.bytes);
        }
    }
}

/// Writes the places of a block, and returns the place after them.
fn write_places(block: &[u32], first: u32, out: &mut Vec<u8>) -> u32 {
    let mut next = first;
    if block.len() < BLOCK {
        for place in block {
            put(out, place - next);
            next = place + 1;
        }
        return next;
    }
    let mut all = 0;
    for place in block {
        all |= place - next;
        next = place + 1;
    }
    let bits = 32 - all.leading_zeros();
    out.push(bits as u8);
    let (mut word, mut filled) = (0u64, 0);
    next = first;
    for place in block {
        word |= u64::from(place - next) << filled;
        next = place + 1;
        filled += bits;
        while filled >= 8 {
            out.push(word as u8);
            word >>= 8;
            filled -= 8;
        }
    }
    next
}

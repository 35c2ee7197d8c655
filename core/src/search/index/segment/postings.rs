//! Reads the postings of a list of a segment.

use super::super::bytes::{get, piece, u32_at};
use super::super::occurrences;
use super::super::part::{BLOCK, Block, List, Position, Postings, Rank};

/// Bytes of a skip.
const SKIP: usize = 12;

/// Postings of a word, whose ranks and occurrences stand apart from its places.
pub(super) struct WordPostings<'s> {
    count: usize,
    skips: &'s [u8],
    places: &'s [u8],
    ranks: &'s [u8],
    occurrences: &'s [u8],
    number: usize,
    at: usize,
    next: u32,
    looked: Looked,
}

/// Where a look at positions stands.
#[derive(Clone, Copy, Default)]
struct Looked {
    number: usize,
    at: usize,
    next: u32,
    occurrences_at: usize,
}

impl<'s> WordPostings<'s> {
    pub fn new(bytes: &'s [u8], list: List) -> WordPostings<'s> {
        let count = list.documents as usize;
        let mut at = 0;
        let places_len = get(bytes, &mut at) as usize;
        let skips_len = count.saturating_sub(1) / BLOCK * SKIP;
        let skips = piece(bytes, at, skips_len);
        let places = piece(bytes, at + skips_len, places_len);
        let ranks_at = at + skips_len + places_len;
        let ranks = piece(bytes, ranks_at, count);
        let occurrences = bytes.get(ranks_at + count..).unwrap_or_default();
        // A list that its entry does not fit is no list.
        let count = if ranks.len() == count { count } else { 0 };
        WordPostings {
            count,
            skips,
            places,
            ranks,
            occurrences,
            number: 0,
            at: 0,
            next: 0,
            looked: Looked::default(),
        }
    }

    /// The number of the last block whose first place is not behind this one, from a block on.
    fn block_of(&self, place: u32, from: usize) -> usize {
        let (mut low, mut high) = (from, self.skips.len() / SKIP);
        while low < high {
            let middle = low + (high - low) / 2;
            if u32_at(self.skips, middle * SKIP) <= place { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Where a block begins: its first gap, the place after the one before, its occurrences.
    fn start_of(&self, block: usize) -> (usize, u32, usize) {
        match block.checked_sub(1) {
            None => (0, 0, 0),
            Some(skip) => (
                u32_at(self.skips, skip * SKIP + 4) as usize,
                u32_at(self.skips, skip * SKIP),
                u32_at(self.skips, skip * SKIP + 8) as usize,
            ),
        }
    }
}

impl Postings for WordPostings<'_> {
    fn next_block(&mut self, block: &mut Block) -> bool {
        let len = (self.count - self.number).min(BLOCK - self.number % BLOCK);
        let ranks = self.ranks.get(self.number..self.number + len).unwrap_or_default();
        let (mut at, mut next) = (self.at, self.next);
        for ((place, to), rank) in block.places.iter_mut().zip(&mut block.ranks).zip(ranks) {
            *place = next.wrapping_add(get(self.places, &mut at));
            next = place.wrapping_add(1);
            *to = Rank(*rank);
        }
        (self.at, self.next) = (at, next);
        self.number += len;
        block.len = len;
        len > 0
    }

    fn skip_to(&mut self, place: u32) {
        let block = self.block_of(place, self.number / BLOCK);
        if block * BLOCK > self.number {
            let (at, next, _) = self.start_of(block);
            (self.number, self.at, self.next) = (block * BLOCK, at, next);
        }
    }

    fn positions(&mut self, place: u32, into: &mut Vec<Position>) {
        into.clear();
        let block = self.block_of(place, self.looked.number / BLOCK);
        if block * BLOCK > self.looked.number {
            let (at, next, occurrences_at) = self.start_of(block);
            self.looked = Looked { number: block * BLOCK, at, next, occurrences_at };
        }
        while self.looked.number < self.count {
            let mut at = self.looked.at;
            let found = self.looked.next.wrapping_add(get(self.places, &mut at));
            if found > place {
                return;
            }
            let rank = Rank(self.ranks.get(self.looked.number).copied().unwrap_or(0));
            if found == place {
                let mut occurrences_at = self.looked.occurrences_at;
                occurrences::decode(rank, self.occurrences, &mut occurrences_at, into);
                return;
            }
            occurrences::skip(rank, self.occurrences, &mut self.looked.occurrences_at);
            self.looked.number += 1;
            (self.looked.at, self.looked.next) = (at, found.wrapping_add(1));
        }
    }
}

/// Postings of a tag: places alone.
pub(super) struct TagPostings<'s> {
    bytes: &'s [u8],
    left: u32,
    at: usize,
    next: u32,
}

impl<'s> TagPostings<'s> {
    pub fn new(bytes: &'s [u8], documents: u32) -> TagPostings<'s> {
        TagPostings { bytes, left: documents, at: 0, next: 0 }
    }
}

impl Postings for TagPostings<'_> {
    fn next_block(&mut self, block: &mut Block) -> bool {
        block.len = (self.left as usize).min(BLOCK);
        for (place, rank) in block.places.iter_mut().zip(&mut block.ranks).take(block.len) {
            *place = self.next.wrapping_add(get(self.bytes, &mut self.at));
            self.next = place.wrapping_add(1);
            *rank = Rank(0);
        }
        self.left -= block.len as u32;
        block.len > 0
    }

    /// Every place is read: a list of tags has no skips.
    fn skip_to(&mut self, _place: u32) {}

    fn positions(&mut self, _place: u32, into: &mut Vec<Position>) {
        into.clear();
    }
}

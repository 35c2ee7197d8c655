//! Reads the postings of a word or a tag of a delta.

use super::Skip;
use crate::search::index::bytes::get;
use crate::search::index::occurrences;
use crate::search::index::part::{BLOCK, Block, Position, Postings, Rank};

/// A list that is read from its beginning to its end.
pub(super) struct DeltaPostings<'d> {
    bytes: &'d [u8],
    skips: &'d [Skip],
    /// Whether postings have ranks and occurrences.
    has_ranks: bool,
    at: usize,
    /// The place after the last posting that was read.
    next: u32,
    /// The same for looking at positions, which may lie behind.
    looked_at: usize,
    looked_next: u32,
}

impl<'d> DeltaPostings<'d> {
    pub fn new(bytes: &'d [u8], skips: &'d [Skip], has_ranks: bool) -> DeltaPostings<'d> {
        DeltaPostings { bytes, skips, has_ranks, at: 0, next: 0, looked_at: 0, looked_next: 0 }
    }

    /// The last skip that leads to no posting behind a place.
    fn skip(&self, place: u32) -> Option<Skip> {
        let behind = self.skips.partition_point(|skip| skip.next <= place);
        behind.checked_sub(1).and_then(|at| self.skips.get(at)).copied()
    }
}

impl Postings for DeltaPostings<'_> {
    fn next_block(&mut self, block: &mut Block) -> bool {
        block.len = 0;
        while block.len < BLOCK && self.at < self.bytes.len() {
            let place = self.next.wrapping_add(get(self.bytes, &mut self.at));
            self.next = place.wrapping_add(1);
            let mut rank = Rank(0);
            if self.has_ranks {
                rank = Rank(self.bytes.get(self.at).copied().unwrap_or(0));
                self.at += 1;
                occurrences::skip(rank, self.bytes, &mut self.at);
            }
            if let (Some(to), Some(to_rank)) =
                (block.places.get_mut(block.len), block.ranks.get_mut(block.len))
            {
                (*to, *to_rank) = (place, rank);
            }
            block.len += 1;
        }
        block.len > 0
    }

    fn skip_to(&mut self, place: u32) {
        if let Some(skip) = self.skip(place)
            && skip.at as usize > self.at
        {
            (self.at, self.next) = (skip.at as usize, skip.next);
        }
    }

    fn positions(&mut self, place: u32, into: &mut Vec<Position>) {
        into.clear();
        if !self.has_ranks {
            return;
        }
        if let Some(skip) = self.skip(place)
            && skip.at as usize > self.looked_at
        {
            (self.looked_at, self.looked_next) = (skip.at as usize, skip.next);
        }
        while self.looked_at < self.bytes.len() {
            let mut at = self.looked_at;
            let found = self.looked_next.wrapping_add(get(self.bytes, &mut at));
            if found > place {
                return;
            }
            let rank = Rank(self.bytes.get(at).copied().unwrap_or(0));
            at += 1;
            if found == place {
                // Left here, so that the same place may be asked for again.
                occurrences::decode(rank, self.bytes, &mut at, into);
                return;
            }
            occurrences::skip(rank, self.bytes, &mut at);
            (self.looked_at, self.looked_next) = (at, found.wrapping_add(1));
        }
    }
}

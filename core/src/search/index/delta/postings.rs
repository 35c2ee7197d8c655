//! Reads the buffer of a term.

use crate::search::index::bytes::get;
use crate::search::index::occurrences;
use crate::search::index::part::{BLOCK, Block, Position, Postings, Rank};

use super::Skip;

/// A place in a buffer: before a posting.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    at: usize,
    /// The place after the last posting.
    next: u32,
}

/// The postings of a word, which have ranks and occurrences, or of a tag.
pub(super) struct DeltaPostings<'d> {
    bytes: &'d [u8],
    skips: &'d [Skip],
    has_ranks: bool,
    reading: Cursor,
    /// Where the occurrences of a place were looked for last.
    looking: Cursor,
}

impl<'d> DeltaPostings<'d> {
    pub(super) fn new(bytes: &'d [u8], skips: &'d [Skip], has_ranks: bool) -> DeltaPostings<'d> {
        DeltaPostings { bytes, skips, has_ranks, reading: Cursor::default(), looking: Cursor::default() }
    }

    /// Moves to the last skip whose postings before it are all before a place.
    fn skip(&self, cursor: &mut Cursor, place: u32) {
        let number = self.skips.partition_point(|skip| skip.next <= place);
        if let Some(skip) = number.checked_sub(1).and_then(|number| self.skips.get(number))
            && skip.at as usize > cursor.at
        {
            *cursor = Cursor { at: skip.at as usize, next: skip.next };
        }
    }
}

impl Postings for DeltaPostings<'_> {
    fn next_block(&mut self, block: &mut Block) -> bool {
        let (mut at, mut next) = (self.reading.at, self.reading.next);
        block.len = 0;
        for (place, rank) in block.places.iter_mut().zip(&mut block.ranks).take(BLOCK) {
            if at >= self.bytes.len() {
                break;
            }
            *place = next.wrapping_add(get(self.bytes, &mut at));
            next = place.wrapping_add(1);
            *rank = Rank(0);
            if self.has_ranks {
                *rank = Rank(self.bytes.get(at).copied().unwrap_or(0));
                at += 1;
                occurrences::skip(*rank, self.bytes, &mut at);
            }
            block.len += 1;
        }
        self.reading = Cursor { at, next };
        block.len > 0
    }

    fn skip_to(&mut self, place: u32) {
        let mut reading = self.reading;
        self.skip(&mut reading, place);
        self.reading = reading;
    }

    fn positions(&mut self, place: u32, into: &mut Vec<Position>) {
        into.clear();
        let mut cursor = self.looking;
        self.skip(&mut cursor, place);
        while self.has_ranks && cursor.at < self.bytes.len() {
            let mut at = cursor.at;
            let found = cursor.next.wrapping_add(get(self.bytes, &mut at));
            if found > place {
                break;
            }
            let rank = Rank(self.bytes.get(at).copied().unwrap_or(0));
            at += 1;
            if found == place {
                occurrences::decode(rank, self.bytes, &mut at, into);
                break;
            }
            occurrences::skip(rank, self.bytes, &mut at);
            cursor = Cursor { at, next: found.wrapping_add(1) };
        }
        self.looking = cursor;
    }
}

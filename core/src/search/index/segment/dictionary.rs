//! Reads a dictionary of a segment.

use super::super::bytes::{get, piece, shared, u32_at};
use super::super::part::{List, TermVisitor, Walk};
use super::super::write::TERM_BLOCK;
use super::Range;

/// A dictionary.
#[derive(Clone, Copy)]
pub(super) struct Dictionary<'s> {
    table: &'s [u8],
    entries: &'s [u8],
}

/// An entry that was read.
struct Entry {
    /// How many bytes its term shares with the one before.
    same: usize,
    documents: u32,
    len: u32,
}

impl<'s> Dictionary<'s> {
    pub fn of(bytes: &'s [u8], range: Range) -> Dictionary<'s> {
        let all = range.of(bytes);
        let table = u32_at(all, 0) as usize;
        Dictionary { table: piece(all, 4, table), entries: all.get(4 + table..).unwrap_or_default() }
    }

    fn blocks(&self) -> usize {
        self.table.len() / 8
    }

    /// The first term of a block.
    fn head(&self, block: usize) -> &'s [u8] {
        let mut at = u32_at(self.table, block * 8) as usize;
        get(self.entries, &mut at);
        let len = get(self.entries, &mut at) as usize;
        piece(self.entries, at, len)
    }

    /// The last block whose first term is not greater than this one, or the first block.
    fn block_of(&self, term: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.head(middle) <= term { low = middle + 1 } else { high = middle }
        }
        low.saturating_sub(1)
    }

    /// Where a block ends.
    fn end_of(&self, block: usize) -> usize {
        if block + 1 < self.blocks() {
            u32_at(self.table, (block + 1) * 8) as usize
        } else {
            self.entries.len()
        }
    }

    /// Reads an entry behind `term`, which becomes the entry's. The first entry of a block does not say what it shares with others.
    #[inline]
    fn read(&self, at: &mut usize, term: &mut Vec<u8>, is_first: bool) -> Entry {
        let mut same = get(self.entries, at) as usize;
        let len = get(self.entries, at) as usize;
        let rest = piece(self.entries, *at, len);
        if is_first {
            same = shared(rest, term);
            term.clear();
        } else {
            term.truncate(same);
        }
        term.extend_from_slice(rest);
        *at += len;
        let documents = get(self.entries, at);
        Entry { same, documents, len: get(self.entries, at) }
    }

    /// The list of a term, and the term's number.
    pub fn find(&self, wanted: &[u8]) -> Option<(List, u32)> {
        if self.blocks() == 0 {
            return None;
        }
        let block = self.block_of(wanted);
        let (mut at, end) = (u32_at(self.table, block * 8) as usize, self.end_of(block));
        let mut list_at = u32_at(self.table, block * 8 + 4);
        let mut term = Vec::with_capacity(wanted.len() + 16);
        let mut number = (block * TERM_BLOCK) as u32;
        while at < end {
            let entry = self.read(&mut at, &mut term, false);
            match term.as_slice().cmp(wanted) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => {
                    return Some((List { documents: entry.documents, at: list_at, len: entry.len }, number));
                }
                std::cmp::Ordering::Greater => return None,
            }
            list_at = list_at.wrapping_add(entry.len);
            number += 1;
        }
        None
    }

    /// The term with a number.
    pub fn term(&self, number: u32, term: &mut Vec<u8>) {
        term.clear();
        let (block, within) = (number as usize / TERM_BLOCK, number as usize % TERM_BLOCK);
        if block >= self.blocks() {
            return;
        }
        let mut at = u32_at(self.table, block * 8) as usize;
        for _ in 0..=within {
            self.read(&mut at, term, false);
        }
    }

    /// Shows terms from the first that is not before `from` on.
    pub fn walk(&self, from: &[u8], visit: TermVisitor<'_>) {
        if self.blocks() == 0 {
            return;
        }
        let (mut block, mut term) = (self.block_of(from), Vec::with_capacity(64));
        // Terms before this one are passed. With one that shares so many bytes with the one that was shown last, that is not asked.
        let (mut target, mut has_target) = (from.to_vec(), true);
        let mut passed = usize::MAX;
        // How many bytes the present term shares with the one that was shown last.
        let mut same = 0;
        while block < self.blocks() {
            let (mut at, end) = (u32_at(self.table, block * 8) as usize, self.end_of(block));
            let mut list_at = u32_at(self.table, block * 8 + 4);
            let mut is_first = true;
            while at < end {
                let step = self.read(&mut at, &mut term, is_first);
                let list = List { documents: step.documents, at: list_at, len: step.len };
                list_at = list_at.wrapping_add(step.len);
                (is_first, same) = (false, step.same.min(same));
                if has_target && (same >= passed || term.as_slice() < target.as_slice()) {
                    continue;
                }
                has_target = false;
                let walk = visit(&term, same, list);
                same = usize::MAX;
                match walk {
                    Walk::On => continue,
                    Walk::End => return,
                    Walk::Past(len) => passed = len,
                    // What shares more shares the character that is passed, which may have some bytes.
                    Walk::To { len, .. } => passed = len + 4,
                }
                if !walk.target(&term, &mut target) {
                    return;
                }
                has_target = true;
                let last = self.last_before(&target, block);
                if last > block {
                    block = last - 1;
                    break;
                }
            }
            block += 1;
        }
    }

    /// The last block from this one on that may have the first term that is not before `target`.
    fn last_before(&self, target: &[u8], block: usize) -> usize {
        let is_before = |block: usize| block < self.blocks() && self.head(block) <= target;
        // It is near most times.
        let (mut low, mut step) = (block, 1);
        while is_before(low + step) {
            low += step;
            step *= 2;
        }
        let mut high = low + step;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle } else { high = middle }
        }
        low
    }
}

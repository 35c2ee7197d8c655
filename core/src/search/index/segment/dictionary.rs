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

/// An entry that was read: where the next one begins, and its list.
struct Entry {
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

    /// Reads an entry behind `term`, which becomes the entry's.
    fn read(&self, at: &mut usize, term: &mut Vec<u8>) -> Entry {
        let same = get(self.entries, at) as usize;
        let len = get(self.entries, at) as usize;
        term.truncate(same);
        term.extend_from_slice(piece(self.entries, *at, len));
        *at += len;
        let documents = get(self.entries, at);
        Entry { documents, len: get(self.entries, at) }
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
            let entry = self.read(&mut at, &mut term);
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
            self.read(&mut at, term);
        }
    }

    /// Shows terms from the first that is not before `from` on.
    pub fn walk(&self, from: &[u8], visit: TermVisitor<'_>) {
        if self.blocks() == 0 {
            return;
        }
        let (mut block, mut shown, mut term) = (self.block_of(from), Vec::new(), Vec::with_capacity(64));
        // Terms that begin so are passed.
        let mut dead: Option<Vec<u8>> = None;
        let mut has_begun = false;
        while block < self.blocks() {
            let (mut at, end) = (u32_at(self.table, block * 8) as usize, self.end_of(block));
            let mut list_at = u32_at(self.table, block * 8 + 4);
            while at < end {
                let entry = self.read(&mut at, &mut term);
                let list = List { documents: entry.documents, at: list_at, len: entry.len };
                list_at = list_at.wrapping_add(entry.len);
                let is_passed = dead.as_ref().is_some_and(|dead| term.starts_with(dead));
                if is_passed || !has_begun && term.as_slice() < from {
                    continue;
                }
                dead = None;
                let same = if has_begun { shared(&term, &shown) } else { 0 };
                has_begun = true;
                match visit(&term, same, list) {
                    Walk::On => {}
                    Walk::Past(len) => dead = Some(term.get(..len).unwrap_or(&term).to_vec()),
                    Walk::End => return,
                }
                shown.clear();
                shown.extend_from_slice(&term);
                if let Some(dead) = &dead {
                    let next = self.past(block, dead);
                    if next > block {
                        // Those between begin so, too.
                        block = next - 1;
                        break;
                    }
                }
            }
            block += 1;
        }
    }

    /// The last block that may have terms that begin so, if the one behind this one begins so.
    fn past(&self, block: usize, dead: &[u8]) -> usize {
        let begins = |block: usize| self.head(block).starts_with(dead);
        if block + 1 >= self.blocks() || !begins(block + 1) {
            return block;
        }
        let (mut low, mut high) = (block + 1, self.blocks());
        while low < high {
            let middle = low + (high - low) / 2;
            if begins(middle) { low = middle + 1 } else { high = middle }
        }
        low - 1
    }
}

//! Front-coded blocks of terms.

use crate::search::index::bytes::{piece, shared, u32_at};

/// Walks over the terms of some blocks. What stands behind a term is the caller's: it reads it, and moves `at` behind it.
#[derive(Debug)]
pub(super) struct Walker<'s> {
    pub(super) bytes: &'s [u8],
    heads: &'s [u8],
    head_bytes: usize,
    pub(super) block: usize,
    pub(super) at: usize,
    end: usize,
    pub(super) term: Vec<u8>,
    is_first: bool,
}

impl<'s> Walker<'s> {
    /// Before the first term of the first block.
    pub(super) fn new(bytes: &'s [u8], heads: &'s [u8], head_bytes: usize) -> Walker<'s> {
        let term = Vec::with_capacity(64);
        let mut walker = Walker { bytes, heads, head_bytes, block: 0, at: 0, end: 0, term, is_first: false };
        walker.enter(0);
        walker
    }

    pub(super) fn blocks(&self) -> usize {
        self.heads.len() / self.head_bytes
    }

    fn start_of(&self, block: usize) -> usize {
        let at = if block < self.blocks() {
            u32_at(self.heads, block * self.head_bytes) as usize
        } else {
            usize::MAX
        };
        at.min(self.bytes.len())
    }

    /// The first term of a block.
    fn first_of(&self, block: usize) -> &'s [u8] {
        let at = self.start_of(block);
        let len = self.bytes.get(at + 1).copied().unwrap_or(0);
        piece(self.bytes, at + 2, usize::from(len))
    }

    /// The number in a block's head behind its start.
    pub(super) fn head(&self) -> u32 {
        u32_at(self.heads, self.block * self.head_bytes + 4)
    }

    /// Goes before the first term of a block; false if there is none.
    pub(super) fn enter(&mut self, block: usize) -> bool {
        self.block = block;
        self.at = self.start_of(block);
        self.end = self.start_of(block + 1);
        self.is_first = true;
        block < self.blocks()
    }

    /// Goes to the block in which a term is, if it is anywhere.
    pub(super) fn seek(&mut self, term: &[u8]) -> bool {
        let (mut low, mut high) = (0, self.blocks());
        while low < high {
            let middle = (low + high) / 2;
            if self.first_of(middle) <= term { low = middle + 1 } else { high = middle }
        }
        self.enter(low.saturating_sub(1))
    }

    /// Goes to the last block whose first term shares so many bytes with the term here, if it is behind this one.
    pub(super) fn skip(&mut self, bytes: usize) -> bool {
        let prefix = self.term.get(..bytes).unwrap_or(&self.term);
        let begins = |block: usize| self.first_of(block).starts_with(prefix);
        let (mut low, mut step) = (self.block + 1, 1);
        // Most often there is none.
        while low < self.blocks() && begins((low + step - 1).min(self.blocks() - 1)) {
            low = (low + step).min(self.blocks());
            step *= 2;
        }
        let mut high = self.blocks().min(low.saturating_add(step));
        while low < high {
            let middle = (low + high) / 2;
            if begins(middle) { low = middle + 1 } else { high = middle }
        }
        low > self.block + 1 && self.enter(low - 1)
    }

    /// Reads the next term of the block, and returns how many bytes it shares with the term that was read before; None at the block's
    /// end. A term that shares at least `dead` bytes is passed over: only these bytes of it are known then.
    #[inline]
    pub(super) fn next(&mut self, dead: usize) -> Option<usize> {
        if self.at >= self.end {
            return None;
        }
        let (common, len) = (self.bytes.get(self.at).copied()?, self.bytes.get(self.at + 1).copied()?);
        let rest = self.bytes.get(self.at + 2..self.at + 2 + usize::from(len))?;
        self.at += 2 + usize::from(len);
        let mut common = usize::from(common).min(self.term.len());
        if self.is_first {
            self.is_first = false;
            common = shared(&self.term, rest);
            if common < dead {
                self.term.clear();
                self.term.extend_from_slice(rest);
            }
        } else if common < dead {
            self.term.truncate(common);
            self.term.extend_from_slice(rest);
        }
        Some(common)
    }
}

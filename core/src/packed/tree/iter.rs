//! Walking the entries in order, forwards and backwards.
//!
//! An iterator remembers the branches above its leaf and where in each it stands. Trees are shallow, so this stays
//! inline; nothing is allocated for a step. Keys come in the two parts that a leaf has: many walks want values only.

use smallvec::SmallVec;

use super::branch::Branch;
use super::entry::{Packed, SplitKey};
use super::leaf::Leaf;
use super::node::Node;

/// Six levels of branches hold more entries than memory does; deeper ones would spill, not fail.
const INLINE_LEVELS: usize = 6;

/// Enough for a full leaf of ordinary entries. A leaf of tinier ones spills once for each iterator.
const INLINE_STARTS: usize = 64;

/// The way from the root to a leaf.
struct Path<'a> {
    levels: SmallVec<[(&'a Branch, usize); INLINE_LEVELS]>,
}

#[derive(Clone, Copy)]
enum Direction {
    Ascending,
    Descending,
}

impl<'a> Path<'a> {
    /// The way to the entry of that rank, its leaf and its rank in there.
    fn to_rank(root: &'a Node, rank: u64) -> (Self, &'a Leaf, u64) {
        let mut levels = SmallVec::new();
        let mut node = root;
        let mut rank = rank;
        loop {
            match node {
                Node::Leaf(leaf) => return (Self { levels }, leaf, rank),
                Node::Branch(branch) => {
                    let (index, before) = branch.child_at(rank);
                    rank -= before;
                    levels.push((&**branch, index));
                    node = branch.child(index);
                }
            }
        }
    }

    /// The way to the leaf that holds `key`, or would.
    fn to_key(root: &'a Node, key: &[u8]) -> (Self, &'a Leaf) {
        let mut levels = SmallVec::new();
        let mut node = root;
        loop {
            match node {
                Node::Leaf(leaf) => return (Self { levels }, leaf),
                Node::Branch(branch) => {
                    let (index, child) = branch.child_of(key);
                    levels.push((&**branch, index));
                    node = child;
                }
            }
        }
    }

    /// Moves to the neighbouring leaf.
    fn step(&mut self, direction: Direction) -> Option<&'a Leaf> {
        let mut node = loop {
            let (branch, index) = self.levels.last_mut()?;
            let next = match direction {
                Direction::Ascending => Some(*index + 1).filter(|next| *next < branch.width()),
                Direction::Descending => index.checked_sub(1),
            };
            if let Some(next) = next {
                *index = next;
                break branch.child(next);
            }
            self.levels.pop();
        };
        loop {
            match node {
                Node::Leaf(leaf) => return Some(leaf),
                Node::Branch(branch) => {
                    let index = match direction {
                        Direction::Ascending => 0,
                        Direction::Descending => branch.width().checked_sub(1)?,
                    };
                    self.levels.push((&**branch, index));
                    node = branch.child(index);
                }
            }
        }
    }
}

/// Entries in ascending order of their keys.
pub struct Iter<'a> {
    path: Path<'a>,
    rest: Packed<'a>,
}

impl<'a> Iter<'a> {
    pub(super) fn new(root: &'a Node, rank: u64, len: u64) -> Self {
        if rank >= len {
            return Self { path: Path { levels: SmallVec::new() }, rest: Packed::EMPTY };
        }
        let (path, leaf, rank) = Path::to_rank(root, rank);
        Self { path, rest: leaf.entries_from(leaf.offset_of(rank)) }
    }

    /// Begins at `key`, or at the next larger one.
    pub(super) fn from_key(root: &'a Node, key: &[u8]) -> Self {
        let (path, leaf) = Path::to_key(root, key);
        // If all keys of the leaf are smaller, nothing is left of it and the first step goes to its neighbour.
        Self { path, rest: leaf.entries_from(leaf.span_of(key).0) }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = (SplitKey<'a>, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((suffix, value)) = self.rest.split_first() {
                return Some((SplitKey { prefix: self.rest.prefix, suffix }, value));
            }
            self.rest = self.path.step(Direction::Ascending)?.entries();
        }
    }
}

/// Entries in descending order of their keys.
pub struct IterBack<'a> {
    path: Path<'a>,
    entries: Packed<'a>,
    /// Where the entries of this leaf that are still to come begin: packed entries can only be walked forwards.
    starts: SmallVec<[usize; INLINE_STARTS]>,
}

impl<'a> IterBack<'a> {
    pub(super) fn new(root: &'a Node, rank: u64, len: u64) -> Self {
        let Some(last) = len.checked_sub(1) else {
            return Self::over(Path { levels: SmallVec::new() }, Packed::EMPTY);
        };
        let (path, leaf, rank) = Path::to_rank(root, rank.min(last));
        Self::over(path, leaf.entries_to(leaf.offset_of(rank + 1)))
    }

    /// Begins at `key`, or at the next smaller one.
    pub(super) fn from_key(root: &'a Node, key: &[u8]) -> Self {
        let (path, leaf) = Path::to_key(root, key);
        Self::over(path, leaf.entries_to(leaf.span_of(key).1))
    }

    fn over(path: Path<'a>, entries: Packed<'a>) -> Self {
        let mut iter = Self { path, entries, starts: SmallVec::new() };
        iter.find_starts();
        iter
    }

    fn find_starts(&mut self) {
        let (mut rest, end) = (self.entries, self.entries.entries.len());
        while !rest.entries.is_empty() {
            self.starts.push(end - rest.entries.len());
            rest.split_first();
        }
    }
}

impl<'a> Iterator for IterBack<'a> {
    type Item = (SplitKey<'a>, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(start) = self.starts.pop() {
                let prefix = self.entries.prefix;
                let mut rest = Packed { prefix, entries: &self.entries.entries[start..] };
                let (suffix, value) = rest.split_first()?;
                return Some((SplitKey { prefix, suffix }, value));
            }
            self.entries = self.path.step(Direction::Descending)?.entries();
            self.find_starts();
        }
    }
}

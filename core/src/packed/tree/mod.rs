//! An ordered map from byte strings to byte strings that also knows the rank of every key.
//!
//! It is a B+tree. All entries lie in leaves, each one block of packed bytes (`leaf.rs`); branches (`branch.rs`) hold
//! the keys that separate their children and how many entries lie below each, which is what makes ranks
//! logarithmic. A tree of a few entries is one leaf and one allocation.
//!
//! Promises: an entry costs its key, its value and a few bytes; `get`, `insert`, `remove`, `rank` and the begin of a walk
//! are O(log n); a step of a walk is amortised O(1) and allocates nothing; keys that arrive in ascending or
//! descending order leave full leaves behind; memory follows the contents down.
//!
//! It must never compare keys by anything but their bytes, nor do work in one call that grows with the number of
//! entries. The exceptions are `clear` and dropping the tree: free a giant tree with `drain_some` instead.
//!
//! Functions that change the tree recurse once for each level. That is bounded: two neighbouring branches have more
//! than `CHILDREN_TO_MERGE` children together, so a tree of 2^64 entries would have fewer than twenty levels.

mod branch;
mod build;
mod change;
mod entry;
mod heap;
mod iter;
mod leaf;
mod node;
mod separators;

#[cfg(test)]
mod tests;

pub use build::Builder;
pub use change::{Change, Replaced};
pub use entry::{KeyBuffer, SplitKey};
pub use iter::{Iter, IterBack};

use branch::Branch;
use heap::Heap;
use leaf::Leaf;
use node::Node;

/// A leaf takes so many changes before it is split: each insertion moves what lies behind it.
const CHANGES_AT_ONCE: usize = 64;

/// An ordered, counted map from byte-string keys to byte-string values.
pub struct Tree {
    root: Node,
    len: u64,
    heap: Heap,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// An empty tree. Allocates nothing.
    pub const fn new() -> Self {
        Self { root: Node::Leaf(Leaf::new()), len: 0, heap: Heap::new() }
    }

    /// How many entries the tree holds.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the tree holds no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes asked of the allocator for everything below this value, spare capacity included. O(1).
    pub fn heap_bytes(&self) -> usize {
        self.heap.bytes()
    }

    /// Drops every entry at once, in time proportional to the number of leaves.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// The value of `key`.
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let mut node = &self.root;
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.get(key),
                Node::Branch(branch) => node = branch.child_of(key).1,
            }
        }
    }

    /// The value of `key`, which may be changed where it is, but not in its length.
    pub fn get_mut(&mut self, key: &[u8]) -> Option<&mut [u8]> {
        let mut node = &mut self.root;
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.get_mut(key),
                Node::Branch(branch) => node = branch.child_of_mut(key),
            }
        }
    }

    /// Makes the processor fetch what a lookup of `key` will need. Worth it before lookups of several keys: a processor works on
    /// the next descent while it waits for the leaf of the one before.
    pub fn fetch(&self, key: &[u8]) {
        let mut node = &self.root;
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.fetch(),
                Node::Branch(branch) => node = branch.child_of(key).1,
            }
        }
    }

    /// Makes changes in ascending order of their keys; `replaced` sees every key that was there, with its old value. Those
    /// that meet in a leaf find it together.
    pub fn apply(&mut self, changes: &[Change<'_>], replaced: Replaced<'_>) {
        for some in changes.chunks(CHANGES_AT_ONCE) {
            let mut left = some;
            while !left.is_empty() {
                let effect = self.root.apply(&mut left, None, replaced, &mut self.heap);
                self.len = self.len.wrapping_add_signed(effect.added);
                if self.root.is_oversize() {
                    let old_root = std::mem::replace(&mut self.root, Node::Leaf(Leaf::new()));
                    let mut branch = Branch::above(old_root, self.len, &mut self.heap);
                    branch.balance(0, effect.growth, &mut self.heap);
                    self.root = Node::Branch(Box::new(branch));
                } else if effect.shrank {
                    self.root.lower(&mut self.heap);
                }
            }
        }
    }

    /// Sets the value of `key`. True if the key was present; then `replaced` has seen its old value.
    pub fn insert(&mut self, key: &[u8], value: &[u8], replaced: &mut dyn FnMut(&[u8])) -> bool {
        self.change(Change { key, value: Some(value) }, replaced)
    }

    /// Removes `key`. True if it was present; then `removed` has seen its value.
    pub fn remove(&mut self, key: &[u8], removed: &mut dyn FnMut(&[u8])) -> bool {
        self.change(Change { key, value: None }, removed)
    }

    fn change(&mut self, change: Change<'_>, replaced: &mut dyn FnMut(&[u8])) -> bool {
        let mut was_there = false;
        self.apply(&[change], &mut |_, old| {
            was_there = true;
            replaced(old);
        });
        was_there
    }

    /// How many keys are strictly smaller than `key`, which need not be present.
    pub fn rank(&self, key: &[u8]) -> u64 {
        let mut node = &self.root;
        let mut before = 0;
        loop {
            match node {
                Node::Leaf(leaf) => return before + leaf.rank(key),
                Node::Branch(branch) => {
                    let (index, child) = branch.child_of(key);
                    before += branch.entries_before(index);
                    node = child;
                }
            }
        }
    }

    /// The rank of the first entry whose key is not smaller than `key`; `len()` if there is none.
    pub fn lower_bound(&self, key: &[u8]) -> u64 {
        self.rank(key)
    }

    /// All entries in ascending order.
    pub fn iter(&self) -> Iter<'_> {
        self.iter_from(0)
    }

    /// The entries in ascending order, beginning with the one of that rank. Yields nothing if `rank >= len()`.
    pub fn iter_from(&self, rank: u64) -> Iter<'_> {
        Iter::new(&self.root, rank, self.len)
    }

    /// The entries in descending order, beginning with the one of that rank, or with the last if `rank >= len()`.
    pub fn iter_back_from(&self, rank: u64) -> IterBack<'_> {
        IterBack::new(&self.root, rank, self.len)
    }

    /// The entries in ascending order, beginning with that of `key`, or with the next larger one. O(log n) to begin.
    pub fn iter_from_key(&self, key: &[u8]) -> Iter<'_> {
        Iter::from_key(&self.root, key)
    }

    /// The entries in descending order, beginning with that of `key`, or with the next smaller one. O(log n) to begin.
    pub fn iter_back_from_key(&self, key: &[u8]) -> IterBack<'_> {
        IterBack::from_key(&self.root, key)
    }

    /// Removes about `entries` entries from the end and shows each to `dropped`; returns how many went.
    ///
    /// Whole leaves go, so a few entries more than asked may go, and always at least one if `entries > 0` and there
    /// is one. Leaves go from the last to the first; the entries within each are shown in ascending order.
    pub fn drain_some(&mut self, entries: u64, dropped: &mut dyn FnMut(&[u8], &[u8])) -> u64 {
        let mut gone = 0;
        while gone < entries && self.len > 0 {
            let count = self.root.drop_last_leaf(dropped, &mut self.heap);
            self.root.lower(&mut self.heap);
            self.len -= count;
            gone += count;
        }
        gone
    }
}

//! A tree made of entries that come in ascending order, as those of a long list that is stored at once do.
//!
//! Leaves are filled one behind the other and branches are put over them level by level, so nothing is searched, moved or
//! split. What comes out is what insertions one by one would leave, apart from the last nodes of each level.
//!
//! No two neighbours fit into one node: a leaf ends because the next entry did not fit, and a branch because it was full.

use super::Tree;
use super::branch::Branch;
use super::entry::{Packed, entry_bytes, length_bytes, write_entry};
use super::heap::Heap;
use super::leaf::Leaf;
use super::node::{CHILDREN_MAX, LEAF_MAX_BYTES, Node, Part};
use super::separators::{Separators, common_len};

/// Makes a tree of entries in ascending order.
#[derive(Default)]
pub struct Builder {
    /// The entries of the leaf that is being filled, with whole keys, and how many there are.
    leaf: Vec<u8>,
    count: u64,
    /// The separator before that leaf.
    separator: Vec<u8>,
    first_key: Vec<u8>,
    last_key: Vec<u8>,
    /// How many bytes its keys have in common at their beginning.
    common: usize,
    leaves: Vec<Part>,
    len: u64,
}

impl Builder {
    /// Adds an entry, whose key must be larger than all before.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        debug_assert!(self.len == 0 || self.last_key.as_slice() < key, "entries come in order");
        let common = common_len(&self.first_key, key).min(self.common);
        // Not less than what the leaf would have: a suffix may need fewer bytes for its length than the whole key does.
        let with_whole_keys = self.leaf.len() + entry_bytes(key.len(), value.len()) + length_bytes(common);
        let saved = common * self.count as usize;
        if self.count > 0 && with_whole_keys - saved > LEAF_MAX_BYTES {
            self.end_leaf();
            self.separator.extend_from_slice(Separators::between(&self.last_key, key));
        } else {
            self.common = common;
        }
        if self.count == 0 {
            self.first_key.clear();
            self.first_key.extend_from_slice(key);
            self.common = key.len();
        }
        write_entry(&mut self.leaf, (&[], key), value);
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
        self.count += 1;
        self.len += 1;
    }

    fn end_leaf(&mut self) {
        let node = Node::Leaf(Leaf::of(Packed { prefix: &[], entries: &self.leaf }));
        let separator = std::mem::take(&mut self.separator);
        self.leaves.push(Part { separator, node, count: std::mem::take(&mut self.count) });
        self.leaf.clear();
    }

    /// The tree of all of them.
    pub fn finish(mut self) -> Tree {
        if !self.leaf.is_empty() {
            self.end_leaf();
        }
        let mut heap = Heap::new();
        let mut level = self.leaves;
        level.iter().for_each(|part| heap.change(0, part.node.heap_bytes()));
        while level.len() > 1 {
            let mut above = Vec::with_capacity(level.len().div_ceil(CHILDREN_MAX));
            let mut below = level.into_iter().peekable();
            while below.peek().is_some() {
                let part = Branch::of(below.by_ref().take(CHILDREN_MAX));
                heap.change(0, part.node.heap_bytes());
                above.push(part);
            }
            level = above;
        }
        let root = level.pop().map_or(Node::Leaf(Leaf::new()), |part| part.node);
        Tree { root, len: self.len, heap }
    }
}

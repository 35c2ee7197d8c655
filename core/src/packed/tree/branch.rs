//! A branch: children, the separators between them and the number of entries below each.
//!
//! A branch promises that its children are neither oversize nor empty and that no two neighbours among them fit into
//! one node, after every change. It leaves its own size to its parent.

use super::change::{Change, Effect, Growth, Replaced};
use super::heap::{Heap, give_back, make_room};
use super::node::{CHILDREN_MAX, Node, Part};
use super::separators::Separators;

const STEP: usize = 8;

/// Invariant: `counts` is as long as `children`, and there is one separator less.
pub(super) struct Branch {
    separators: Separators,
    counts: Vec<u64>,
    children: Vec<Node>,
}

impl Branch {
    /// A branch over these nodes, of which there is one at least, with the separator before it and its entries.
    pub(super) fn of(parts: impl Iterator<Item = Part>) -> Part {
        let (mut separators, mut counts, mut children) = (Vec::new(), Vec::new(), Vec::new());
        let mut before = Vec::new();
        for part in parts {
            match children.is_empty() {
                true => before = part.separator,
                false => separators.push(part.separator),
            }
            counts.push(part.count);
            children.push(part.node);
        }
        let count = counts.iter().sum();
        let branch = Self { separators: Separators::of(&separators), counts, children };
        Part { separator: before, node: Node::Branch(Box::new(branch)), count }
    }

    /// A branch over a single node, which the caller is about to split.
    pub(super) fn above(child: Node, count: u64, heap: &mut Heap) -> Self {
        let branch = Self { separators: Separators::new(), counts: vec![count], children: vec![child] };
        heap.change(0, branch.heap_bytes());
        branch
    }

    pub(super) fn width(&self) -> usize {
        self.children.len()
    }

    /// The bytes of the branch itself and its vectors, without its children's.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<Branch>()
            + self.separators.heap_bytes()
            + self.counts.capacity() * size_of::<u64>()
            + self.children.capacity() * size_of::<Node>()
    }

    pub(super) fn child(&self, index: usize) -> &Node {
        &self.children[index]
    }

    pub(super) fn child_of(&self, key: &[u8]) -> (usize, &Node) {
        let index = self.separators.child_of(key);
        (index, &self.children[index])
    }

    pub(super) fn child_of_mut(&mut self, key: &[u8]) -> &mut Node {
        let index = self.separators.child_of(key);
        &mut self.children[index]
    }

    /// How many entries lie below the children before `index`.
    pub(super) fn entries_before(&self, index: usize) -> u64 {
        self.counts[..index].iter().sum()
    }

    /// The child that holds the entry of that rank, and how many entries lie before that child. The last child if
    /// there are not so many entries.
    pub(super) fn child_at(&self, rank: u64) -> (usize, u64) {
        let last = self.counts.len().saturating_sub(1);
        let mut before = 0;
        for (index, count) in self.counts.iter().enumerate() {
            if rank - before < *count || index == last {
                return (index, before);
            }
            before += count;
        }
        (last, before)
    }

    /// As [`Node::apply`] says.
    pub(super) fn apply(
        &mut self,
        changes: &mut &[Change<'_>],
        until: Option<&[u8]>,
        replaced: Replaced<'_>,
        heap: &mut Heap,
    ) -> Effect {
        let mut whole = Effect { added: 0, shrank: false, growth: Growth::InMiddle };
        while (1..=CHILDREN_MAX).contains(&self.width())
            && let Some(change) = changes.first()
            && until.is_none_or(|until| change.key < until)
        {
            let index = self.separators.child_of(change.key);
            let child_until =
                if index + 1 < self.children.len() { Some(self.separators.get(index)) } else { until };
            let effect = self.children[index].apply(changes, child_until, replaced, heap);
            self.counts[index] = self.counts[index].wrapping_add_signed(effect.added);
            whole.added += effect.added;
            if effect.shrank || self.children[index].is_oversize() {
                let (shrank, growth) = self.balance(index, effect.growth, heap);
                whole.shrank |= shrank;
                whole.growth = growth;
            }
        }
        whole
    }

    pub(super) fn drop_last_leaf(&mut self, dropped: &mut dyn FnMut(&[u8], &[u8]), heap: &mut Heap) -> u64 {
        let Some(last) = self.children.len().checked_sub(1) else { return 0 };
        let count = self.children[last].drop_last_leaf(dropped, heap);
        self.counts[last] -= count;
        self.balance(last, Growth::InMiddle, heap);
        count
    }

    /// Restores the promise of this file after the child at `index` changed. Returns whether there are fewer
    /// children than before, and at which end new ones came.
    pub(super) fn balance(&mut self, index: usize, growth: Growth, heap: &mut Heap) -> (bool, Growth) {
        let width = self.width();
        let mut end = index + 1;
        if self.children[index].is_empty() {
            self.remove_child(index, heap);
            end = index;
        }
        // Seldom more than one turn: many entries at once, or one of about the size of a leaf, make three pieces of one.
        let mut piece = index;
        while piece < end {
            if self.children[piece].is_oversize() {
                self.split_child(piece, growth, heap);
                end += 1;
            } else {
                piece += 1;
            }
        }
        let growth = match growth {
            Growth::AtFirst if index == 0 => Growth::AtFirst,
            Growth::AtLast if end == self.width() => Growth::AtLast,
            _ => Growth::InMiddle,
        };
        // From right to left: a merge makes the left one larger, so pairs already looked at still do not fit.
        for left in (index.saturating_sub(1)..end).rev() {
            if left + 1 < self.width() && self.children[left].fits_with(&self.children[left + 1]) {
                self.merge_children(left, heap);
            }
        }
        (self.width() < width, growth)
    }

    /// Keeps the children before `cut`; returns the separator at the cut and the rest.
    pub(super) fn split_off(&mut self, cut: usize, heap: &mut Heap) -> (Vec<u8>, Branch) {
        let before = self.heap_bytes();
        let (separator, separators) = self.separators.split_off(cut - 1);
        let right =
            Branch { separators, counts: self.counts.split_off(cut), children: self.children.split_off(cut) };
        self.fit();
        heap.change(before, self.heap_bytes() + right.heap_bytes());
        (separator, right)
    }

    pub(super) fn append(&mut self, separator: &[u8], mut right: Branch, heap: &mut Heap) {
        let before = self.heap_bytes() + right.heap_bytes();
        let seam = self.children.len();
        self.separators.append(separator, &right.separators);
        make_room(&mut self.counts, right.counts.len(), STEP);
        make_room(&mut self.children, right.children.len(), STEP);
        self.counts.append(&mut right.counts);
        self.children.append(&mut right.children);
        heap.change(before, self.heap_bytes());
        // The two children at the seam have become neighbours.
        if seam > 0 && self.children[seam - 1].fits_with(&self.children[seam]) {
            self.merge_children(seam - 1, heap);
        }
    }

    /// Takes the child out of a branch that is about to be dropped.
    pub(super) fn take_only_child(&mut self, heap: &mut Heap) -> Option<Node> {
        heap.change(self.heap_bytes(), 0);
        self.children.pop()
    }

    fn split_child(&mut self, index: usize, growth: Growth, heap: &mut Heap) {
        let (separator, right, right_count) = self.children[index].split(self.counts[index], growth, heap);
        let before = self.heap_bytes();
        self.separators.insert(index, &separator);
        make_room(&mut self.counts, 1, STEP);
        make_room(&mut self.children, 1, STEP);
        self.counts[index] -= right_count;
        self.counts.insert(index + 1, right_count);
        self.children.insert(index + 1, right);
        heap.change(before, self.heap_bytes());
    }

    fn merge_children(&mut self, left: usize, heap: &mut Heap) {
        let before = self.heap_bytes();
        let right = self.children.remove(left + 1);
        self.children[left].append(self.separators.get(left), right, heap);
        self.counts[left] += self.counts.remove(left + 1);
        self.separators.remove(left);
        self.fit();
        heap.change(before, self.heap_bytes());
    }

    fn remove_child(&mut self, index: usize, heap: &mut Heap) {
        let before = self.heap_bytes();
        let child = self.children.remove(index);
        heap.change(child.heap_bytes(), 0);
        self.counts.remove(index);
        if !self.children.is_empty() {
            self.separators.remove(index.saturating_sub(1));
        }
        self.fit();
        heap.change(before, self.heap_bytes());
    }

    /// Separators, counts and children, for the tests to compare.
    #[cfg(test)]
    pub(super) fn parts(&self) -> (&Separators, &[u64], &[Node]) {
        (&self.separators, &self.counts, &self.children)
    }

    fn fit(&mut self) {
        give_back(&mut self.counts, STEP);
        give_back(&mut self.children, STEP);
    }
}

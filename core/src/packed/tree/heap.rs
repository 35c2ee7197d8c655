//! How the vectors of a tree grow and shrink, and the count of what they hold.
//!
//! `Vec` doubles, which would leave a quarter of a leaf unused on average. Nodes are bounded, so growing by a fixed
//! step costs a bounded number of copies and wastes half a step.

/// The bytes that the nodes of one tree have asked of the allocator.
///
/// Invariant: equal to the sum of `Node::heap_bytes` over all nodes whenever no function of the tree is running.
pub(super) struct Heap(usize);

impl Heap {
    pub(super) const fn new() -> Self {
        Self(0)
    }

    pub(super) fn bytes(&self) -> usize {
        self.0
    }

    /// Records that something which held `before` bytes now holds `after`.
    pub(super) fn change(&mut self, before: usize, after: usize) {
        // The sum first: a difference alone may be negative.
        self.0 = self.0 + after - before;
    }
}

/// Reserves memory for `extra` more elements, and for fewer than `step` beyond them.
pub(super) fn make_room<T>(vec: &mut Vec<T>, extra: usize, step: usize) {
    let needed = vec.len() + extra;
    if needed > vec.capacity() {
        vec.reserve_exact(needed.next_multiple_of(step) - vec.len());
    }
}

/// Returns memory once two steps of it are unused, so that alternating growth and shrinking does not reallocate.
pub(super) fn give_back<T>(vec: &mut Vec<T>, step: usize) {
    if vec.capacity() - vec.len() >= 2 * step {
        vec.shrink_to(vec.len().next_multiple_of(step));
    }
}

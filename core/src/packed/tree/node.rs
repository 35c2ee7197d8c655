//! What leaves and branches have in common: how large they may become, how they split and how they merge.

use super::branch::Branch;
use super::change::{Change, Effect, Growth, Replaced};
use super::heap::Heap;
use super::leaf::Leaf;
use super::separators::Separators;

/// A leaf of more bytes splits, unless it holds a single entry. A leaf is walked, so larger ones cost time and smaller ones
/// memory. Measured with 300,000 fields of a hash (17 bytes and 3), finding one takes 600 instructions less than in leaves of
/// 1024 bytes, and an entry 1.8 bytes more.
pub(super) const LEAF_MAX_BYTES: usize = 512;

/// Neighbouring leaves that have no more bytes than this together become one. Half of a full leaf: many insertions
/// lie between a merge and the next split.
pub(super) const LEAF_TO_MERGE_BYTES: usize = LEAF_MAX_BYTES / 2;

/// A branch of more children splits. Inserting into a branch moves as many counts, ends and nodes.
pub(super) const CHILDREN_MAX: usize = 64;

/// Neighbouring branches that have no more children than this together become one.
pub(super) const CHILDREN_TO_MERGE: usize = CHILDREN_MAX / 2;

/// A subtree. All leaves of a tree are equally deep.
pub(super) enum Node {
    Leaf(Leaf),
    Branch(Box<Branch>),
}

/// A node with the separator before it, which is empty for the first, and the number of its entries.
pub(super) struct Part {
    pub(super) separator: Vec<u8>,
    pub(super) node: Node,
    pub(super) count: u64,
}

impl Node {
    pub(super) fn is_oversize(&self) -> bool {
        match self {
            Node::Leaf(leaf) => leaf.size_bytes() > LEAF_MAX_BYTES && leaf.has_many_entries(),
            Node::Branch(branch) => branch.width() > CHILDREN_MAX,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Node::Leaf(leaf) => leaf.size_bytes() == 0,
            Node::Branch(branch) => branch.width() == 0,
        }
    }

    /// The bytes of this node alone, without the nodes below it.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.heap_bytes(),
            Node::Branch(branch) => branch.heap_bytes(),
        }
    }

    /// Whether two neighbours should be one node.
    pub(super) fn fits_with(&self, right: &Node) -> bool {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => {
                // Together they have a shorter prefix, so their entries may take more bytes.
                left.size_bytes() + right.size_bytes() <= LEAF_TO_MERGE_BYTES
                    && left.size_with(right) <= LEAF_TO_MERGE_BYTES
            }
            (Node::Branch(left), Node::Branch(right)) => left.width() + right.width() <= CHILDREN_TO_MERGE,
            _ => false,
        }
    }

    /// Makes the changes at the front of `changes` whose keys lie below `until`, and takes them off it. A branch may return
    /// before it has made all, when it has become too large.
    pub(super) fn apply(
        &mut self,
        changes: &mut &[Change<'_>],
        until: Option<&[u8]>,
        replaced: Replaced<'_>,
        heap: &mut Heap,
    ) -> Effect {
        match self {
            Node::Leaf(leaf) => leaf.apply(changes, until, replaced, heap),
            Node::Branch(branch) => branch.apply(changes, until, replaced, heap),
        }
    }

    /// Empties the last leaf, shows its entries and returns their number.
    pub(super) fn drop_last_leaf(&mut self, dropped: &mut dyn FnMut(&[u8], &[u8]), heap: &mut Heap) -> u64 {
        match self {
            Node::Leaf(leaf) => {
                let leaf = std::mem::replace(leaf, Leaf::new());
                let mut count = 0;
                let mut rest = leaf.entries();
                let mut key = rest.prefix.to_vec();
                while let Some((suffix, value)) = rest.split_first() {
                    key.truncate(rest.prefix.len());
                    key.extend_from_slice(suffix);
                    dropped(&key, value);
                    count += 1;
                }
                heap.change(leaf.heap_bytes(), 0);
                count
            }
            Node::Branch(branch) => branch.drop_last_leaf(dropped, heap),
        }
    }

    /// Splits an oversize node of `count` entries: what goes to the right, the separator before it and its entries.
    pub(super) fn split(&mut self, count: u64, growth: Growth, heap: &mut Heap) -> (Vec<u8>, Node, u64) {
        match self {
            Node::Leaf(leaf) => {
                let cut = match growth {
                    Growth::AtFirst => leaf.cut_to_fill_right(LEAF_MAX_BYTES),
                    Growth::InMiddle => leaf.cut_in_middle(),
                    Growth::AtLast => leaf.cut_to_fill_left(LEAF_MAX_BYTES),
                };
                let right_count = count - leaf.count_before(cut);
                let right = leaf.split_off(cut, heap);
                let (last, first) = (leaf.key_at(leaf.cut_before_last()), right.first_key());
                let separator = Separators::between(&last, &first).to_vec();
                (separator, Node::Leaf(right), right_count)
            }
            Node::Branch(branch) => {
                let cut = match growth {
                    Growth::AtFirst => branch.width() - CHILDREN_MAX,
                    Growth::InMiddle => branch.width() / 2,
                    Growth::AtLast => CHILDREN_MAX,
                };
                let (separator, right) = branch.split_off(cut, heap);
                let right_count = right.entries_before(right.width());
                (separator, Node::Branch(Box::new(right)), right_count)
            }
        }
    }

    /// Appends the node to its right, which is of the same kind.
    pub(super) fn append(&mut self, separator: &[u8], right: Node, heap: &mut Heap) {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => left.append(right, heap),
            (Node::Branch(left), Node::Branch(right)) => left.append(separator, *right, heap),
            _ => unreachable!("all leaves of a tree are equally deep"),
        }
    }

    /// As the root: puts the only child in the place of a branch that no longer separates anything.
    pub(super) fn lower(&mut self, heap: &mut Heap) {
        while let Node::Branch(branch) = self
            && branch.width() <= 1
        {
            *self = branch.take_only_child(heap).unwrap_or(Node::Leaf(Leaf::new()));
        }
    }
}

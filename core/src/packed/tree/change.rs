//! Changes of a tree, and what they do to its nodes.

/// A key gets a value, or is removed.
#[derive(Clone, Copy, Debug)]
pub struct Change<'c> {
    /// The key.
    pub key: &'c [u8],
    /// Its value; none to remove it.
    pub value: Option<&'c [u8]>,
}

/// Sees a key that was there, with the value that it had.
pub type Replaced<'r> = &'r mut dyn FnMut(&[u8], &[u8]);

/// Where a node grew. Keys often arrive in order, and then the side that no later key will reach should stay full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    AtFirst,
    InMiddle,
    AtLast,
}

/// What changes did to a node, for its parent to act upon.
pub(super) struct Effect {
    /// How many entries there are more than before.
    pub(super) added: i64,
    /// Whether the node itself has fewer bytes or children than before, and may now fit together with a neighbour.
    pub(super) shrank: bool,
    pub(super) growth: Growth,
}

//! The way back: what changes of an overlay replaced.

use crate::engine::key_state::{KeyState, PendingRoot, Source};
use crate::engine::sub_changes::{SubBytes, SubChange, SubChanges};
use crate::engine::{Db, Root};

/// The state of an overlay when a savepoint was made.
#[derive(Debug)]
pub(in crate::engine) struct Mark {
    pub(super) number: u64,
    pub(super) undo: usize,
    pub(super) keys: usize,
    pub(super) arena: usize,
    pub(super) fresh_count: u32,
    pub(super) expired_count: u64,
    pub(super) asked_last: usize,
    pub(super) turns: u64,
    pub(super) drafts: usize,
    pub(super) grown: usize,
}

/// The way back from one change.
#[derive(Debug)]
pub(in crate::engine) enum Undo {
    /// A root, by the key's place in the overlay.
    Root { at: usize, root: PendingRoot, access: Option<u32> },
    /// One subkey: its change before, or none.
    Sub { at: usize, subkey: SubBytes, before: Option<SubChange>, subs_delta: i64 },
    /// Everything of a key.
    Key { at: usize, before: Box<Before> },
    /// A key went to another place with everything it had; `before` is what was there.
    Renamed { from: usize, root: PendingRoot, access: Option<u32>, to: usize, before: Box<Before> },
    /// The source that a database showed; None if its own keys.
    Shown { db: Db, before: Option<Source> },
}

/// A key's state as far as a transaction changes it.
#[derive(Debug)]
pub(in crate::engine) struct Before {
    pub(super) root: PendingRoot,
    pub(super) access: Option<u32>,
    pub(super) subkeys_of: Option<Root>,
    pub(super) subs: SubChanges,
    pub(super) subs_delta: i64,
}

impl Before {
    /// Takes the state out; the caller puts another in its place.
    pub(super) fn take(state: &mut KeyState) -> Before {
        Before {
            root: state.root,
            access: state.access,
            subkeys_of: state.subkeys_of,
            subs: std::mem::take(&mut state.subs),
            subs_delta: state.subs_delta,
        }
    }

    pub(super) fn restore(self, state: &mut KeyState) {
        let Before { root, access, subkeys_of, subs, subs_delta } = self;
        (state.root, state.access, state.subkeys_of) = (root, access, subkeys_of);
        (state.subs, state.subs_delta) = (subs, subs_delta);
    }
}

/// The changes since the first open savepoint.
#[derive(Debug, Default)]
pub(in crate::engine) struct Journal {
    pub(super) undo: Vec<Undo>,
    /// The open savepoints, the last one last.
    pub(super) marks: Vec<Mark>,
    /// Savepoints that were ever made in the overlay.
    pub(super) made: u64,
    /// Entries may name this many of the overlay's first keys; 0 while no savepoint is open.
    pub(super) keys_named: usize,
}

impl Journal {
    /// Whether a change of the key at this place must be written down.
    #[inline]
    pub(super) fn records(&self, at: usize) -> bool {
        at < self.keys_named
    }

    /// How many of the overlay's first keys must not be forgotten.
    pub(in crate::engine) fn keys_needed(&self) -> usize {
        self.keys_named
    }

    /// Ends all savepoints.
    pub(in crate::engine) fn clear(&mut self) {
        // Nearly always: most transactions have no savepoint.
        if self.marks.is_empty() && self.undo.is_empty() && self.keys_named == 0 {
            return;
        }
        self.marks.clear();
        self.undo = Vec::new();
        self.keys_named = 0;
    }
}

//! Savepoints: a part of a transaction undone without the rest.
//!
//! While a savepoint is open, every change of the overlay first writes down what it replaces: one root, one subkey, all
//! that a key lost at once, or what one database showed. Going back undoes the entries from the last to the savepoint's.
//! Keys that were first looked for after it are simply forgotten, so changes of theirs need no entry. Without an open
//! savepoint a change pays one branch.
//!
//! Going back costs what was changed and read since, whatever the transaction holds. Invariant: an entry names only keys
//! that the overlay remembers, see [`journal::Journal::keys_needed`].

pub(super) mod journal;

use self::journal::{Before, Mark, Undo};
use super::key_state::KeyState;
use super::overlay::Overlay;
use super::sub_changes::{SubBytes, SubChange};
use super::{Changed, Db, Txn};

/// A point to which a transaction can go back. It is open until it is released, or until the transaction goes back to an
/// earlier one or ends.
#[derive(Debug)]
#[must_use = "without it the transaction cannot go back"]
pub struct Savepoint {
    number: u64,
    /// Changes of subkeys that were counted before.
    changes: u64,
}

impl Overlay {
    /// To be called before the root at a place is replaced, its subkeys staying.
    #[inline]
    pub(super) fn note_root(&mut self, at: usize) {
        if self.journal.records(at) {
            let KeyState { root, access, .. } = self.keys[at];
            self.journal.undo.push(Undo::Root { at, root, access });
        }
    }

    /// To be called before everything of the key at a place is replaced: takes the changes of its subkeys.
    #[inline]
    pub(super) fn note_key(&mut self, at: usize) {
        if self.journal.records(at) {
            let before = Box::new(Before::take(&mut self.keys[at]));
            self.journal.undo.push(Undo::Key { at, before });
        }
    }

    /// To be called with the change that a subkey had before, and what `subs_delta` was.
    #[inline]
    pub(super) fn note_sub(
        &mut self,
        at: usize,
        subkey: &[u8],
        subs_delta: i64,
        before: impl FnOnce() -> Option<SubChange>,
    ) {
        if self.journal.records(at) {
            let subkey = SubBytes::from_slice(subkey);
            self.journal.undo.push(Undo::Sub { at, subkey, before: before(), subs_delta });
        }
    }

    /// To be called before a database shows another source.
    pub(super) fn note_shown(&mut self, db: Db) {
        if !self.journal.marks.is_empty() {
            let before = self.dbs.iter().find(|change| change.db == db).map(|change| change.source);
            self.journal.undo.push(Undo::Shown { db, before });
        }
    }

    /// Gives the key at `to` all that the one at `from` has, which is then gone. The places differ.
    pub(super) fn move_key(&mut self, from: usize, to: usize) {
        // An entry about one of them needs both: the other is named from now on, and its changes are written down.
        let is_recorded = self.journal.records(from.min(to));
        let Before { root, access, subkeys_of, subs, subs_delta } = Before::take(&mut self.keys[from]);
        self.keys[from].remove();
        let target = &mut self.keys[to];
        let target_access = target.access;
        let before = Before::take(target);
        let moved = Before { root, access: target_access, subkeys_of, subs, subs_delta };
        moved.restore(target);
        if is_recorded {
            let before = Box::new(before);
            self.journal.undo.push(Undo::Renamed { from, root, access, to, before });
            self.journal.keys_named = self.journal.keys_named.max(from.max(to) + 1);
        }
    }

    fn mark(&mut self) -> u64 {
        self.journal.made += 1;
        self.journal.keys_named = self.keys.len();
        let mark = Mark {
            number: self.journal.made,
            undo: self.journal.undo.len(),
            keys: self.keys.len(),
            arena: self.arena_len(),
            fresh_count: self.fresh_count,
            expired_count: self.expired_count,
            asked_last: self.asked_last,
            turns: self.turns_noted(),
            drafts: self.blobs_written().0,
            grown: self.blobs_written().1,
        };
        self.journal.marks.push(mark);
        self.journal.made
    }

    /// Undoes everything since a savepoint; false if it is not open.
    fn go_back(&mut self, number: u64) -> bool {
        let Some(place) = self.journal.marks.iter().rposition(|mark| mark.number == number) else {
            return false;
        };
        self.journal.marks.truncate(place + 1);
        let Some(mark) = self.journal.marks.last() else { return false };
        let (undo, keys, arena) = (mark.undo, mark.keys, mark.arena);
        (self.fresh_count, self.expired_count) = (mark.fresh_count, mark.expired_count);
        self.asked_last = mark.asked_last;
        // It may stand behind one that comes back.
        self.committed_end = None;
        self.ahead = None;
        let (turns, drafts, grown) = (mark.turns, mark.drafts, mark.grown);
        while self.journal.undo.len() > undo {
            if let Some(undo) = self.journal.undo.pop() {
                self.undo(undo);
            }
        }
        self.journal.keys_named = keys;
        self.forget_since(keys, arena);
        self.forget_turns(turns);
        self.forget_blobs(drafts, grown);
        true
    }

    fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Root { at, root, access } => {
                (self.keys[at].root, self.keys[at].access) = (root, access);
            }
            Undo::Sub { at, subkey, before, subs_delta } => {
                let state = &mut self.keys[at];
                state.subs_delta = subs_delta;
                match before {
                    Some(before) => state.subs.set(&subkey, before),
                    None => state.subs.remove(&subkey),
                }
            }
            Undo::Key { at, before } => before.restore(&mut self.keys[at]),
            Undo::Renamed { from, root, access, to, before } => {
                let moved = Before::take(&mut self.keys[to]);
                Before { root, access, ..moved }.restore(&mut self.keys[from]);
                before.restore(&mut self.keys[to]);
            }
            Undo::Shown { db, before } => {
                self.dbs.retain(|change| change.db != db);
                self.dbs.extend(before.map(|source| super::DbChange { db, source }));
            }
        }
    }

    /// The places of the keys that may have been changed since a savepoint, in order; none if it is not open.
    fn touched_since(&self, number: u64) -> Vec<usize> {
        let Some(mark) = self.journal.marks.iter().find(|mark| mark.number == number) else {
            return Vec::new();
        };
        let mut places: Vec<usize> = (mark.keys..self.keys.len()).collect();
        for undo in self.journal.undo.get(mark.undo..).unwrap_or_default() {
            match undo {
                Undo::Root { at, .. } | Undo::Sub { at, .. } | Undo::Key { at, .. } => places.push(*at),
                Undo::Renamed { from, to, .. } => places.extend([*from, *to]),
                Undo::Shown { .. } => {}
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    fn end_mark(&mut self, number: u64) {
        if let Some(place) = self.journal.marks.iter().rposition(|mark| mark.number == number) {
            self.journal.marks.truncate(place);
        }
        if self.journal.marks.is_empty() {
            self.journal.clear();
        }
    }
}

impl Txn<'_> {
    /// Makes a point to which the transaction can go back; they nest. While one is open, changes cost memory for what
    /// they replace.
    pub fn savepoint(&mut self) -> Savepoint {
        Savepoint { number: self.overlay.mark(), changes: self.changes }
    }

    /// Undoes everything since a savepoint, which stays open; savepoints made after it end. Without effect if the
    /// savepoint is not open any more.
    pub fn rollback_to(&mut self, savepoint: &Savepoint) {
        if self.overlay.go_back(savepoint.number) {
            self.changes = self.changes.min(savepoint.changes);
        }
    }

    /// The keys that were changed since a savepoint which is open, each as it was before the transaction and as it is now. One
    /// that was put back to what it was before is among them, unless it was never there.
    pub fn changed_since(&self, savepoint: &Savepoint) -> Vec<Changed> {
        let places = self.overlay.touched_since(savepoint.number).into_iter();
        places.filter_map(|at| self.overlay.changed_at(at)).collect()
    }

    /// Ends a savepoint, and those made after it; what was changed stays.
    pub fn release(&mut self, savepoint: Savepoint) {
        self.overlay.end_mark(savepoint.number);
    }
}

#[cfg(test)]
mod tests;

//! Keys that appear or expire while a command is about something else: waiting clients and notifications want to know.

use super::{Db, Overlay};

/// A key that appeared or expired while a command was about something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Its time had come when it was looked for.
    Expired,
    /// It was not there, or another key took its place, and now it is.
    Appeared,
}

/// The list of an overlay.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The keys by their places in the overlay; None unless [`Overlay::keep_turns`] was called.
    list: Option<Vec<(Turn, Db, usize)>>,
    /// How many were ever added.
    noted: u64,
}

impl Overlay {
    /// Keeps a list of keys that appear or expire, for [`Txn::take_turns`](super::Txn::take_turns); to be called before the
    /// transaction begins.
    pub fn keep_turns(&mut self) {
        self.turns.list = Some(Vec::new());
    }

    pub(super) fn note_turn(&mut self, turn: Turn, db: Db, at: usize) {
        if let Some(list) = &mut self.turns.list {
            list.push((turn, db, at));
            self.turns.noted += 1;
        }
    }

    /// How many turns were noted so far, those included that were shown.
    pub(super) fn turns_noted(&self) -> u64 {
        self.turns.noted
    }

    /// Forgets the turns that were noted since there were so many, those excepted that were shown.
    pub(super) fn forget_turns(&mut self, noted: u64) {
        let since = self.turns.noted.saturating_sub(noted);
        self.turns.noted = self.turns.noted.min(noted);
        if let Some(list) = &mut self.turns.list {
            list.truncate(list.len().saturating_sub(usize::try_from(since).unwrap_or(usize::MAX)));
        }
    }

    /// Shows the list, the oldest entry first, and empties it; with a key, only the entries at the front that are about it.
    pub(super) fn take_turns(&mut self, key: Option<&[u8]>, visit: &mut dyn FnMut(Turn, Db, &[u8])) {
        let Some(mut turns) = self.turns.list.take() else { return };
        let name = |at: usize| self.keys.get(at).map_or(&[][..], |state| self.bytes(state.key));
        let count = turns.iter().take_while(|(_, _, at)| key.is_none_or(|key| name(*at) == key)).count();
        for (turn, db, at) in turns.drain(..count) {
            visit(turn, db, name(at));
        }
        self.turns.list = Some(turns);
    }
}

//! What one run of a transaction reads of blobs, and whether it may wait for them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use parking_lot::Mutex;

use super::PIECE;
use crate::limits::CHECKED_BEFORE_REPLY_MAX_BYTES;
use crate::storage::{self, StorageError};

/// A run that may be thrown away and repeated holds so many bytes of blobs at most: what is compared before a reply begins, and the
/// pieces at its ends.
const HELD_MAX_BYTES: u64 = CHECKED_BEFORE_REPLY_MAX_BYTES + 2 * PIECE;

/// What a run does that needs much of a blob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::ordered) enum Mode {
    /// It reads a little with everything else that it misses, and runs again elsewhere if it needs more, since others wait for its
    /// thread.
    #[default]
    Yields,
    /// It reads a little, and waits for more.
    Waits,
    /// It waits for everything: nobody else needs its thread.
    Long,
}

/// What a run has read of blobs, for as long as it, or a reply that it has made, needs it.
#[derive(Debug, Default)]
pub(in crate::ordered) struct Run {
    mode: AtomicU8,
    is_in_lane: bool,
    /// The transaction has ended: what is read from now on is read for a reply.
    is_over: AtomicBool,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    /// By the names of the pieces; empty where there is none.
    pieces: HashMap<Vec<u8>, Vec<u8>>,
    /// What is to be fetched, and what is being fetched.
    wants: HashSet<Vec<u8>>,
    asked: HashSet<Vec<u8>>,
    /// What is about to be read.
    announced: Vec<Vec<u8>>,
    /// That is too much to be held.
    is_too_much: bool,
}

impl Held {
    /// So many more pieces may be held.
    fn room(&self) -> usize {
        let most = usize::try_from(HELD_MAX_BYTES / PIECE).unwrap_or(usize::MAX);
        most.saturating_sub(self.pieces.len() + self.wants.len())
    }
}

impl Run {
    /// One that has its turn in a lane, where it cannot have anything fetched for itself: it waits for a little.
    pub(in crate::ordered) fn in_lane() -> Run {
        Run { is_in_lane: true, ..Run::default() }
    }

    pub(in crate::ordered) fn mode(&self) -> Mode {
        match self.mode.load(Ordering::Relaxed) {
            mode if mode == Mode::Waits as u8 => Mode::Waits,
            mode if mode == Mode::Long as u8 => Mode::Long,
            _ => Mode::Yields,
        }
    }

    pub(in crate::ordered) fn set_mode(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::Relaxed);
    }

    pub(in crate::ordered) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Whether a call may keep the thread.
    pub(super) fn may_wait(&self) -> bool {
        self.is_over.load(Ordering::Acquire) || self.mode() != Mode::Yields
    }

    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.held.lock().pieces.contains_key(name)
    }

    pub(super) fn show(&self, name: &[u8], visit: &mut dyn FnMut(&[u8])) {
        if let Some(piece) = self.held.lock().pieces.get(name) {
            visit(piece);
        }
    }

    /// Says what is about to be read: it is fetched together with the first of it that is missing, if it is not too much.
    pub(super) fn announce(&self, names: impl Iterator<Item = Vec<u8>>) {
        if self.is_over.load(Ordering::Acquire) || self.mode() == Mode::Long {
            return;
        }
        let mut held = self.held.lock();
        let most = held.room();
        let missing = names.filter(|name| !held.pieces.contains_key(name));
        let wanted: Vec<Vec<u8>> = missing.take(most.saturating_add(1)).collect();
        if wanted.len() > most {
            held.is_too_much = true;
        } else {
            held.announced = wanted;
        }
    }

    /// Whether all of these pieces are here; false if the caller is to wait for them.
    ///
    /// # Errors
    /// What is missing is fetched now, and the transaction runs again; or it is too much for that.
    pub(super) fn fetches(&self, names: impl Iterator<Item = Vec<u8>>) -> storage::Result<bool> {
        let mut held = self.held.lock();
        let most = held.room();
        let missing = names.filter(|name| !held.pieces.contains_key(name));
        let missing: Vec<Vec<u8>> = missing.take(most.saturating_add(1)).collect();
        if missing.is_empty() {
            return Ok(true);
        }
        if self.is_over.load(Ordering::Acquire) || self.mode() == Mode::Long {
            return Ok(false);
        }
        if missing.len() > most || held.is_too_much {
            return if self.mode() == Mode::Yields { Err(StorageError::TakesLong) } else { Ok(false) };
        }
        if self.is_in_lane {
            return Ok(false);
        }
        let announced = std::mem::take(&mut held.announced);
        held.wants.extend(missing.into_iter().chain(announced));
        Err(StorageError::NotHere)
    }

    pub(in crate::ordered) fn has_wants(&self) -> bool {
        !self.held.lock().wants.is_empty()
    }

    /// Forgets what was to be fetched.
    pub(in crate::ordered) fn drop_wants(&self) {
        let mut held = self.held.lock();
        held.wants.clear();
        held.announced.clear();
    }

    /// The names of the pieces that are to be fetched.
    pub(in crate::ordered) fn take_wants(&self) -> Vec<Vec<u8>> {
        let mut held = self.held.lock();
        let wants: Vec<Vec<u8>> = std::mem::take(&mut held.wants).into_iter().collect();
        held.asked.extend(wants.iter().cloned());
        wants
    }

    /// Takes what was fetched; gives it back if it is something else.
    pub(in crate::ordered) fn take(
        &self,
        name: Vec<u8>,
        value: Option<Vec<u8>>,
    ) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let mut held = self.held.lock();
        if !held.asked.remove(&name) {
            return Some((name, value));
        }
        held.pieces.insert(name, value.unwrap_or_default());
        None
    }
}

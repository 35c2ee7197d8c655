//! A rewrite of the whole log without what is dead, as BGREWRITEAOF asks for it.
//!
//! The active datafile is sealed, and then every datafile that holds something dead is merged by itself, the oldest first,
//! whatever its dead share: merging ([`super::merge`]) does the work in its steps and decides what may go. A rewrite that
//! meets an error ends there; the datafiles that it has not come to stay as they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::Bitcask;
use super::files::File;
use super::record::SYNCED_RECORD_BYTES;
use crate::engine::{Result, Rewriting};
use crate::sorted;

/// The rewrite that is under way, if one is, and what became of those before.
#[derive(Default)]
pub(super) struct Rewrite {
    /// Whether the next step of merging begins one.
    is_asked: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Rewriting,
    /// The datafiles that are still to be merged, the oldest last.
    left: Vec<u32>,
}

impl Rewrite {
    /// Asks for one; false if one is under way.
    pub(super) fn ask(&self) -> bool {
        let mut state = self.state.lock();
        if state.known.is_on {
            return false;
        }
        state.known.is_on = true;
        self.is_asked.store(true, Ordering::Release);
        true
    }

    pub(super) fn known(&self) -> Rewriting {
        self.state.lock().known
    }

    /// Merging has failed, which ends a rewrite.
    pub(super) fn fail(&self) {
        let mut state = self.state.lock();
        if state.known.is_on {
            self.is_asked.store(false, Ordering::Release);
            *state = State {
                known: Rewriting { is_on: false, has_failed: true, ..state.known },
                left: Vec::new(),
            };
        }
    }

    /// The place among `files`, which are in the order of replay, of the one to be merged next. If there is none, a rewrite
    /// that was under way has ended.
    pub(super) fn next(&self, files: &[Arc<File>]) -> Option<usize> {
        let mut state = self.state.lock();
        while let Some(id) = state.left.pop() {
            // One that was merged meanwhile is no longer there.
            if let Some(at) = files.iter().position(|file| file.id() == id && is_worth_it(file)) {
                return Some(at);
            }
        }
        if state.known.is_on && !self.is_asked.load(Ordering::Acquire) {
            state.known = Rewriting { is_on: false, has_failed: false, finished: state.known.finished + 1 };
        }
        None
    }
}

/// Whether a merge could make it smaller. What a sealed datafile has at its end is in its successor as well.
fn is_worth_it(file: &File) -> bool {
    file.is_sealed() && !file.is_damaged() && (file.dead() > 2 * SYNCED_RECORD_BYTES || file.tombstones() > 0)
}

impl Bitcask {
    /// Begins the rewrite that was asked for, if one was. Called where no merge is under way.
    pub(super) fn begin_asked_rewrite(&self) -> Result<()> {
        if !self.rewrite.is_asked.load(Ordering::Acquire) {
            return Ok(());
        }
        self.log.seal_active()?;
        let mut files: Vec<Arc<File>> = self.log.files().values().cloned().collect();
        sorted::all(&mut files, |one, other| other.order().cmp(&one.order()));
        self.rewrite.state.lock().left = files.iter().map(|file| file.id()).collect();
        self.rewrite.is_asked.store(false, Ordering::Release);
        Ok(())
    }
}

//! The sync policy: who waits for the disk, and who makes it write.
//!
//! One thread makes every sync. Under `always`, whoever has replies to send while the log is dirty waits for it, readers
//! included, so that nobody sees what could still be lost; all who wait when a sync begins are served by that one sync
//! (group commit). Under `everysec` the thread syncs once a second if there is something to sync, and nobody waits.
//!
//! A sync that failed is never tried again: the system may have forgotten the bytes and would report success. Whoever
//! waited for it is told and closes its connection without a reply. The store refuses all later writes by itself; reads
//! go on, so that an operator can look around and copy what there is, though the end of it may be gone after a restart.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::Waker;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use tracing::error;

use crate::limits::SYNC_PERIOD;
use crate::options::Appendfsync;
use crate::store::Durable;

/// The sync on which replies waited has failed; they must not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncFailed;

/// Whether replies may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// Now.
    Done,
    /// Once the log is on the disk up to this position; the waker is woken when there is news.
    Wait(u64),
    /// Never: the writes that they acknowledge may be lost.
    Failed,
}

/// The policy, and those who wait.
pub struct Syncer {
    policy: AtomicU8,
    has_failed: AtomicBool,
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// Who asked for a sync that has not begun, each once.
    waiting: Vec<Waker>,
    is_stopping: bool,
}

impl Syncer {
    /// A syncer whose thread has not been started.
    pub fn new(policy: Appendfsync) -> Syncer {
        Syncer {
            policy: AtomicU8::new(policy as u8),
            has_failed: AtomicBool::new(false),
            state: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// Changes the policy while everything runs.
    pub fn set_policy(&self, policy: Appendfsync) {
        self.policy.store(policy as u8, Ordering::Relaxed);
    }

    /// Whether a sync has failed, after which there are no more.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Whether replies to what has been run so far may be sent. `wrote` is the end of what the caller itself has
    /// appended, if anything. One who is to wait is woken after the next sync, and then asks [`Syncer::settled`].
    pub fn settle(&self, store: &impl Durable, wrote: u64, waker: &Waker) -> Settling {
        if self.policy.load(Ordering::Relaxed) != Appendfsync::Always as u8 {
            return Settling::Done;
        }
        let position = store.appended();
        if position <= store.synced() {
            return Settling::Done;
        }
        {
            let mut state = self.state.lock();
            // Looked at under the lock: the thread empties the list under it after it has set this.
            if self.has_failed() || state.is_stopping {
                return if wrote > store.synced() { Settling::Failed } else { Settling::Done };
            }
            if !state.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
                state.waiting.push(waker.clone());
            }
        }
        self.wake.notify_one();
        Settling::Wait(position)
    }

    /// How the wait for a position has ended; None while it has not.
    pub fn settled(&self, store: &impl Durable, position: u64) -> Option<Result<(), SyncFailed>> {
        // In this order: a sync that succeeded before another failed counts.
        let has_failed = self.has_failed();
        if position <= store.synced() {
            Some(Ok(()))
        } else if has_failed {
            Some(Err(SyncFailed))
        } else {
            None
        }
    }

    /// The thread's life: syncs as the policy says until [`Syncer::stop`].
    pub fn run(&self, store: &impl Durable) {
        let mut due = Instant::now() + SYNC_PERIOD;
        loop {
            let (waiting, is_stopping) = self.wait(due);
            if waiting.is_empty() && is_stopping {
                return;
            }
            let is_due = Instant::now() >= due;
            if is_due {
                due = Instant::now() + SYNC_PERIOD;
            }
            let is_periodic = self.policy.load(Ordering::Relaxed) != Appendfsync::No as u8;
            if !waiting.is_empty() || (is_due && is_periodic && store.appended() > store.synced()) {
                self.serve(store, waiting);
            }
        }
    }

    /// Ends the thread once nobody waits any more.
    pub fn stop(&self) {
        self.state.lock().is_stopping = true;
        self.wake.notify_one();
    }

    /// One last sync for a store that is about to be closed, by whoever closes it; false if data may be lost.
    pub fn finish(&self, store: &impl Durable) -> bool {
        self.sync(store).is_ok()
    }

    fn wait(&self, due: Instant) -> (Vec<Waker>, bool) {
        let mut state = self.state.lock();
        while state.waiting.is_empty() && !state.is_stopping {
            if self.wake.wait_until(&mut state, due).timed_out() {
                break;
            }
        }
        (std::mem::take(&mut state.waiting), state.is_stopping)
    }

    fn serve(&self, store: &impl Durable, waiting: Vec<Waker>) {
        let outcome = self.sync(store);
        waiting.into_iter().for_each(Waker::wake);
        if outcome.is_err() {
            // Those who came while the sync was failing.
            std::mem::take(&mut self.state.lock().waiting).into_iter().for_each(Waker::wake);
        }
    }

    fn sync(&self, store: &impl Durable) -> Result<u64, SyncFailed> {
        if self.has_failed() {
            return Err(SyncFailed);
        }
        store.sync().map_err(|failure| {
            error!(%failure, "the log could not be synced; no more writes are accepted until a restart");
            self.has_failed.store(true, Ordering::Release);
            SyncFailed
        })
    }
}

#[cfg(test)]
mod tests;

//! The sync policy: which replies wait for the disk, and which thread syncs it.
//!
//! Under `always`, a thread with replies to send while the log is dirty syncs the log first. Replies to reads wait, too, so
//! that no client sees data that could still be lost. A worker has the replies of a whole round and makes the sync
//! itself: one sync for all of them, without a switch of threads. Only one sync runs at a time. A worker that finds
//! another one syncing goes on with its connections, is woken at the end of that sync, and makes the next one, which
//! serves all replies that came meanwhile.
//!
//! Under `everysec` a thread syncs once a second if the log is dirty, and no reply waits. Under every policy it syncs when
//! much was appended since the last sync, and does ahead what writers would wait for when a datafile is full: it begins the
//! next one, and syncs the one before.
//!
//! A sync that failed is never tried again: the system may have forgotten the bytes and would report success. Connections
//! that waited for it are closed without a reply. The store refuses all later writes by itself; reads
//! go on, so that an operator can look around and copy the data, though the end of it may be gone after a restart.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::Waker;
use std::time::Instant;

use clap::ValueEnum;
use parking_lot::{Condvar, Mutex};
use serde::Deserialize;
use tracing::error;

use crate::limits::{SYNC_PERIOD, UNSYNCED_MUCH_BYTES};
use crate::store::Durable;

/// When the log is synced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Appendfsync {
    /// Before replies leave: the loss of power loses no acknowledged write.
    Always,
    /// Once a second: the loss of power loses at most the last second.
    #[default]
    Everysec,
    /// When the operating system likes, and at the end.
    No,
}

impl Appendfsync {
    /// The word of CONFIG GET.
    pub fn word(self) -> &'static str {
        match self {
            Appendfsync::Always => "always",
            Appendfsync::Everysec => "everysec",
            Appendfsync::No => "no",
        }
    }
}

/// A sync has failed, so the writes that waited for it may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncFailed;

/// Whether replies may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// Now.
    Done,
    /// After a sync by another thread; the waker is woken then.
    Wait,
    /// Only to connections whose writes are all synced. The writes of the others may be lost.
    Failed,
}

/// The policy, and the wakers that wait for a sync.
pub struct Syncer {
    policy: AtomicU8,
    has_failed: AtomicBool,
    state: Mutex<State>,
    /// Wakes the thread, to stop.
    wake: Condvar,
}

#[derive(Default)]
struct State {
    is_syncing: bool,
    /// The wakers to call after the present sync, each once; at most one for each thread.
    waiting: Vec<Waker>,
    /// Whether the thread is to have a turn at once: much was appended, or the store wants to prepare.
    is_asked: bool,
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

    /// Whether replies wait for the disk.
    pub fn is_strict(&self) -> bool {
        self.policy.load(Ordering::Relaxed) == Appendfsync::Always as u8
    }

    /// Whether a sync has failed, after which there are no more.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// Whether replies that show the log up to a position may be sent. Makes the sync that they need, unless a sync is
    /// running: then `waker` is called at its end, and the caller asks again.
    pub fn settle(&self, store: &impl Durable, position: u64, waker: &Waker) -> Settling {
        if !self.is_strict() || position <= store.synced() {
            return Settling::Done;
        }
        if !self.begin(Some(waker)) {
            return Settling::Wait;
        }
        // The sync of another thread may just have reached it.
        let is_synced =
            position <= store.synced() || self.sync(store).is_ok_and(|reached| position <= reached);
        self.end();
        if is_synced { Settling::Done } else { Settling::Failed }
    }

    /// Has the thread sync soon if much was appended since the last sync, or if a datafile is to be begun ahead or was sealed.
    #[inline]
    pub fn sync_much(&self, store: &impl Durable, appended: u64) {
        if is_much_since_sync(store, appended) || store.wants_preparation() {
            self.ask_for_sync();
        }
    }

    #[cold]
    fn ask_for_sync(&self) {
        let mut state = self.state.lock();
        // One that is under way will be followed by another if need be.
        if !state.is_syncing && !std::mem::replace(&mut state.is_asked, true) {
            self.wake.notify_one();
        }
    }

    /// The loop of the syncing thread: syncs as the policy says until [`Syncer::stop`].
    pub fn run(&self, store: &impl Durable) {
        let mut due = Instant::now() + SYNC_PERIOD;
        while let Some(is_asked) = self.rest(due) {
            let is_periodic = self.policy.load(Ordering::Relaxed) != Appendfsync::No as u8;
            let appended = store.appended();
            let is_due = if is_asked { is_much_since_sync(store, appended) } else { is_periodic };
            if is_due || !is_asked {
                due = Instant::now() + SYNC_PERIOD;
            }
            // A sync by another thread makes one by this thread needless.
            if is_due && appended > store.synced() && self.begin(None) {
                // The next write fails, and so reports it.
                let _ = self.sync(store);
                self.end();
            }
            if !self.has_failed() {
                // The same: the store refuses what follows.
                let _ = store.prepare();
            }
        }
    }

    /// Ends the thread.
    pub fn stop(&self) {
        self.state.lock().is_stopping = true;
        self.wake.notify_one();
    }

    /// The last sync before a store is closed; false if data may be lost.
    pub fn finish(&self, store: &impl Durable) -> bool {
        self.sync(store).is_ok()
    }

    /// The thread waits for its next turn; none if it is to end. True if the turn was asked for before it was due.
    fn rest(&self, due: Instant) -> Option<bool> {
        let mut state = self.state.lock();
        while !state.is_stopping && !state.is_asked && !self.wake.wait_until(&mut state, due).timed_out() {}
        let is_asked = std::mem::take(&mut state.is_asked);
        (!state.is_stopping).then_some(is_asked)
    }

    /// Takes the turn to sync; false if another thread has it, which calls the waker at the end.
    fn begin(&self, waker: Option<&Waker>) -> bool {
        let mut state = self.state.lock();
        if !state.is_syncing {
            state.is_syncing = true;
            return true;
        }
        if let Some(waker) = waker
            && !state.waiting.iter().any(|waiting| waiting.will_wake(waker))
        {
            state.waiting.push(waker.clone());
        }
        false
    }

    /// Gives the turn back.
    fn end(&self) {
        let waiting = {
            let mut state = self.state.lock();
            state.is_syncing = false;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
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

/// Whether so much was appended since the last sync that it is time for the next one.
#[inline]
fn is_much_since_sync(store: &impl Durable, appended: u64) -> bool {
    appended > store.synced().saturating_add(UNSYNCED_MUCH_BYTES)
}

#[cfg(test)]
mod tests;

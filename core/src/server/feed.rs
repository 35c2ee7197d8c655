//! The feed: what was committed, in the order of the log.
//!
//! The engine names the place of a commit in the log while it still holds the lock that fixes it
//! ([`Ordered`](crate::engine::Ordered)); at that moment the executor appends an [`Entry`] here. After the commit it
//! delivers what has been appended, one entry at a time whichever thread does it: so notifications, invalidations and
//! followers see two commits to one key in the order in which they happened. A commit that concerns nobody has no entry.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};

use super::hub::{Inbox, Interest, Reread};
use super::outbox::Actions;
use crate::engine::{Changed, Receipt};

/// One commit.
#[derive(Debug)]
pub struct Entry {
    /// Its place in the log: grows from entry to entry.
    pub receipt: Receipt,
    /// Unix time in milliseconds of the transaction.
    pub now_ms: u64,
    /// The connection whose transaction it was; that of no connection has an inbox of the number 0.
    pub by: Arc<Inbox>,
    /// The changed keys.
    pub changes: Vec<Changed>,
    /// Whether databases were emptied or swapped, so that keys that `changes` does not name have changed, too.
    pub has_changed_databases: bool,
    /// Whether blocked connections may find what they wait for.
    pub wakes: bool,
    /// Keys that the transaction itself has read after it changed them last.
    pub(crate) reread: Vec<Reread>,
    pub(crate) actions: Actions,
}

/// Hears of every commit, in log order: a replica, or a test.
pub trait Follower: Send + Sync {
    /// Called for one entry after another, by the thread that delivers; it must not run commands.
    fn committed(&self, entry: &Entry);
}

/// Commits that are to be delivered, and their followers.
#[derive(Default)]
pub struct Feed {
    queue: Mutex<VecDeque<Entry>>,
    /// Whether the queue may hold something.
    is_filled: AtomicBool,
    delivering: Mutex<()>,
    followers: RwLock<Arc<[Arc<dyn Follower>]>>,
}

impl std::fmt::Debug for Feed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Feed({} entries)", self.queue.lock().len())
    }
}

impl Feed {
    /// Adds a follower, which hears of every commit from now on.
    pub fn follow(&self, interest: &Interest, follower: Arc<dyn Follower>) {
        let mut followers = self.followers.write();
        *followers = followers.iter().cloned().chain([follower]).collect();
        interest.set(Interest::FOLLOWERS, true);
    }

    /// Takes a follower away.
    pub fn leave(&self, interest: &Interest, follower: &Arc<dyn Follower>) {
        let mut followers = self.followers.write();
        *followers = followers.iter().filter(|other| !Arc::ptr_eq(other, follower)).cloned().collect();
        interest.set(Interest::FOLLOWERS, !followers.is_empty());
    }

    /// Appends a commit; called in log order.
    pub(crate) fn append(&self, entry: Entry) {
        let mut queue = self.queue.lock();
        queue.push_back(entry);
        self.is_filled.store(true, Ordering::Release);
    }

    /// Delivers what has been appended, in order, to the followers and then to `each`. When it returns, all that had been
    /// appended before the call is delivered, by this thread or another one. No lock of the engine may be held.
    pub(crate) fn deliver(&self, each: &mut dyn FnMut(Entry)) {
        if !self.is_filled.load(Ordering::Acquire) {
            return;
        }
        let _turn = self.delivering.lock();
        loop {
            let entry = {
                let mut queue = self.queue.lock();
                let entry = queue.pop_front();
                if entry.is_none() {
                    self.is_filled.store(false, Ordering::Release);
                }
                entry
            };
            let Some(entry) = entry else { return };
            let followers = self.followers.read().clone();
            followers.iter().for_each(|follower| follower.committed(&entry));
            each(entry);
        }
    }
}

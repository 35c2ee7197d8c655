//! What connections tell each other: published messages, keys that blocked ones wait for, reads that caches remember,
//! requests that monitors see, and pauses.
//!
//! A session that tells puts bytes into the [`Inbox`] of another, whose host is woken and has it run. Each part has a
//! lock of its own, held for a look-up and never while a command runs. [`Interest`] says which parts anybody uses, so a
//! command that concerns nobody asks one atomic number.

mod inbox;
pub mod notify;
mod pause;
mod pubsub;
mod tracking;
mod waiting;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

pub use inbox::{Answer, Inbox, Mail, Unblock};
pub use pause::{Pause, Pauses};
pub use pubsub::{PubSub, Subscriptions, Topic, TopicKind};
pub use tracking::{Mode, Reread, Tracking, TrackingTable};
pub use waiting::{Nothing, Wait, Waiter, Waiting};

/// Which parts of the hub are in use, one bit each.
#[derive(Debug, Default)]
pub struct Interest(AtomicU32);

impl Interest {
    /// Blocked connections wait for keys.
    pub const WAITING: u32 = 1;
    /// Connections keep caches.
    pub const TRACKING: u32 = 1 << 1;
    /// Somebody wants to hear of events in the keyspace.
    pub const NOTIFY: u32 = 1 << 2;
    /// Monitors watch.
    pub const MONITORS: u32 = 1 << 3;
    /// Clients are paused.
    pub const PAUSE: u32 = 1 << 4;

    /// Reactions want to see changes before they are committed.
    pub const REACTIONS: u32 = 1 << 5;
    /// Followers hear of every commit.
    pub const FOLLOWERS: u32 = 1 << 6;
    /// Triggers may run for changes of keys with their prefixes.
    pub const TRIGGERS: u32 = 1 << 7;
    /// Clients of other processes want to hear of changes.
    pub const PEERS: u32 = 1 << 8;
    /// Indexes cover keys with their prefixes.
    pub const INDEXES: u32 = 1 << 9;

    /// What makes a write of any key a matter of others.
    pub const OF_WRITES: u32 =
        Interest::WAITING | Interest::TRACKING | Interest::NOTIFY | Interest::REACTIONS | Interest::FOLLOWERS;

    /// Whether any of these parts is in use.
    pub fn has(&self, parts: u32) -> bool {
        self.0.load(Ordering::Relaxed) & parts != 0
    }

    /// Says whether a part is in use; to be called under the lock of that part.
    pub(crate) fn set(&self, part: u32, is_used: bool) {
        if is_used {
            self.0.fetch_or(part, Ordering::SeqCst);
        } else {
            self.0.fetch_and(!part, Ordering::SeqCst);
        }
    }
}

/// All parts.
#[derive(Debug, Default)]
pub struct Hub {
    /// What is in use.
    pub interest: Interest,
    /// Channels and patterns.
    pub pubsub: PubSub,
    /// Blocked connections.
    pub waiting: Waiting,
    /// Caches of clients.
    pub tracking: TrackingTable,
    /// CLIENT PAUSE.
    pub pauses: Pauses,
    /// Which events of the keyspace are published, as [`notify`]'s classes: those of the own setting, and those of other processes.
    own_notified: AtomicU32,
    peers_notified: AtomicU32,
    monitors: Mutex<BTreeMap<u64, Arc<Inbox>>>,
}

impl Hub {
    /// The classes of events that are published, as `notify-keyspace-events` says, here or at another process of the same store.
    #[inline]
    pub fn notified(&self) -> u32 {
        self.own_notified.load(Ordering::Relaxed) | self.peers_notified.load(Ordering::Relaxed)
    }

    /// Changes the classes of events that are published.
    pub fn set_notified(&self, classes: u32) {
        self.own_notified.store(classes, Ordering::Relaxed);
        self.interest.set(Interest::NOTIFY, notify::is_heard(self.notified()));
    }

    /// Changes the classes of events that other processes want.
    pub(crate) fn set_peers_notified(&self, classes: u32) {
        self.peers_notified.store(classes, Ordering::Relaxed);
        self.interest.set(Interest::NOTIFY, notify::is_heard(self.notified()));
    }

    /// Has a connection see all requests from now on.
    pub fn add_monitor(&self, inbox: &Arc<Inbox>) {
        let mut monitors = self.monitors.lock();
        monitors.insert(inbox.id(), inbox.clone());
        self.interest.set(Interest::MONITORS, true);
    }

    /// Ends what [`Hub::add_monitor`] began.
    pub fn remove_monitor(&self, id: u64) {
        let mut monitors = self.monitors.lock();
        monitors.remove(&id);
        self.interest.set(Interest::MONITORS, !monitors.is_empty());
    }

    /// Shows a line, line end included, to all monitors.
    pub fn show_monitors(&self, line: &[u8]) {
        let line: Arc<[u8]> = line.into();
        for inbox in self.monitors.lock().values() {
            inbox.push(line.clone());
        }
    }

    /// Number of monitors.
    pub fn monitor_count(&self) -> usize {
        self.monitors.lock().len()
    }
}

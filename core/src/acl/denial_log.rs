//! ACL LOG: what was denied lately. Equal denials within a minute are one entry.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::denial::{Denial, Reason};

/// Denials that are farther apart are entries of their own, as in Redis.
const GROUPED_MS: u64 = 60_000;

/// So many of the latest entries are searched for an equal one, as in Redis.
const SEARCHED: usize = 10;

/// Where a request stood that was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// A request of its own.
    TopLevel,
    /// In a MULTI, or run by its EXEC.
    Multi,
    /// Called by a script or a function in Lua.
    Lua,
    /// Called by a function of another engine.
    Module,
}

impl Context {
    /// The word of ACL LOG.
    pub fn word(self) -> &'static str {
        match self {
            Context::TopLevel => "toplevel",
            Context::Multi => "multi",
            Context::Lua => "lua",
            Context::Module => "module",
        }
    }
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// A number that no other entry of this process has.
    pub id: u64,
    /// How often it happened.
    pub count: u64,
    /// What was denied.
    pub denial: Denial,
    /// Where the request stood.
    pub context: Context,
    /// Unix time in milliseconds of the first time.
    pub created_ms: u64,
    /// Unix time in milliseconds of the last time.
    pub updated_ms: u64,
    /// The connection the last time, as CLIENT INFO shows it.
    pub client: Vec<u8>,
}

/// The entries, the newest first, and counters of all denials since the start.
#[derive(Debug, Default)]
pub struct DenialLog {
    entries: Mutex<Entries>,
    counts: [AtomicU64; 4],
}

#[derive(Debug, Default)]
struct Entries {
    kept: VecDeque<Entry>,
    next_id: u64,
}

impl DenialLog {
    /// Adds a denial; at most `most` entries are kept (`acllog-max-len`).
    pub fn add(&self, denial: Denial, context: Context, client: Vec<u8>, now_ms: u64, most: usize) {
        self.counter(denial.reason).fetch_add(1, Ordering::Relaxed);
        let mut entries = self.entries.lock();
        let is_same = |entry: &Entry| {
            entry.denial == denial
                && entry.context == context
                && now_ms.abs_diff(entry.updated_ms) <= GROUPED_MS
        };
        let known = entries.kept.iter().take(SEARCHED).position(is_same);
        if let Some(mut entry) = known.and_then(|at| entries.kept.remove(at)) {
            entry.count += 1;
            entry.updated_ms = now_ms;
            entry.client = client;
            entries.kept.push_front(entry);
            return;
        }
        let id = entries.next_id;
        entries.next_id += 1;
        let entry = Entry { id, count: 1, denial, context, created_ms: now_ms, updated_ms: now_ms, client };
        entries.kept.push_front(entry);
        entries.kept.truncate(most);
    }

    /// The latest entries, the newest first.
    pub fn latest(&self, most: usize) -> Vec<Entry> {
        self.entries.lock().kept.iter().take(most).cloned().collect()
    }

    /// Forgets all entries.
    pub fn reset(&self) {
        self.entries.lock().kept.clear();
    }

    /// Sets the counters to zero (CONFIG RESETSTAT).
    pub fn reset_counts(&self) {
        self.counts.iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// How often something was denied for a reason.
    pub fn count(&self, reason: Reason) -> u64 {
        self.counter(reason).load(Ordering::Relaxed)
    }

    fn counter(&self, reason: Reason) -> &AtomicU64 {
        let [commands, keys, channels, logins] = &self.counts;
        match reason {
            Reason::Command => commands,
            Reason::Key => keys,
            Reason::Channel => channels,
            Reason::Login => logins,
        }
    }
}

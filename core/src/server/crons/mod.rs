//! Crons: functions that the server calls every so many milliseconds.
//!
//! A cron is due at the multiples of its interval since 1970, so one of an hour runs at each full hour (UTC), whenever the server
//! was started. A run begins with a [`Claim`], and there is at most one of a name. Nothing here runs anything:
//! [`crate::executor::CronRun`] does. What lasts is in the store ([`crate::engine::CATALOG`]); counts and the log of failures are not.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;

use crate::engine::Db;
use crate::limits::CRON_FAILURES_MAX;

/// A cron.
#[derive(Debug, PartialEq, Eq)]
pub struct Cron {
    /// Its name.
    pub name: Box<[u8]>,
    /// Its interval in milliseconds, at least 1.
    pub every_ms: u64,
    /// The database in which its function runs.
    pub db: Db,
    /// The function that it calls.
    pub function: Box<[u8]>,
    /// The user whose rights the function has: the one that made the cron.
    pub definer: Box<[u8]>,
}

impl Cron {
    /// The first time at which it is due after this one.
    fn due_after(&self, now_ms: u64) -> u64 {
        (now_ms / self.every_ms).saturating_add(1).saturating_mul(self.every_ms)
    }
}

/// The crons at one moment, by their names.
pub type CronSet = BTreeMap<Box<[u8]>, Arc<Cron>>;

/// A change of the crons.
#[derive(Clone, Debug)]
pub enum Change {
    /// This one comes, instead of one with the same name.
    Set(Arc<Cron>),
    /// This one goes. A run of it that is under way goes on.
    Drop(Box<[u8]>),
}

impl Change {
    /// Makes the change in a set.
    pub fn apply(&self, set: &mut CronSet) {
        match self {
            Change::Set(cron) => {
                set.insert(cron.name.clone(), cron.clone());
            }
            Change::Drop(name) => {
                set.remove(name);
            }
        }
    }
}

/// What is counted of a cron since the start of the server, or since CONFIG RESETSTAT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CronCounts {
    /// Runs that have ended, those that failed included.
    pub runs: u64,
    /// Runs that failed.
    pub failures: u64,
    /// Times at which it was due and did not run: its last run had not ended, or the server was late.
    pub missed: u64,
    /// The time that all runs took, in nanoseconds.
    pub took_ns: u64,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronFailure {
    /// Counts all failures since the start of the server.
    pub id: u64,
    /// The cron's name.
    pub name: Box<[u8]>,
    /// For which time the run was due, in unix milliseconds.
    pub due_ms: u64,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// The error.
    pub error: String,
}

/// A cron as CRON LIST shows it.
#[derive(Clone, Debug)]
pub struct CronState {
    /// When it is due next, in unix milliseconds.
    pub next_ms: u64,
    /// Whether it runs.
    pub is_running: bool,
    /// What is counted of it.
    pub counts: CronCounts,
}

/// A run that is to take place; nobody else runs this cron until [`Crons::end`].
#[derive(Debug)]
pub struct Claim {
    /// The cron.
    pub cron: Arc<Cron>,
    /// For which time, in unix milliseconds.
    pub due_ms: u64,
}

/// How a run of a cron ended.
#[derive(Clone, Debug)]
pub struct CronEnd {
    /// Now, in unix milliseconds.
    pub now_ms: u64,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// The crons of a server.
#[derive(Debug, Default)]
pub struct Crons {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    set: CronSet,
    entries: BTreeMap<Box<[u8]>, Entry>,
    /// The names of those that run; one that was dropped meanwhile is among them.
    running: BTreeSet<Box<[u8]>>,
    failures: VecDeque<CronFailure>,
    failure_count: u64,
    waker: Option<Waker>,
    /// Counts changes of `next_ms`, and of which crons there are.
    due_generation: u64,
}

#[derive(Debug)]
struct Entry {
    next_ms: u64,
    counts: CronCounts,
    /// Whether its last run failed.
    fails: bool,
}

impl Crons {
    /// All crons as they are now.
    pub fn present(&self) -> CronSet {
        self.state.lock().set.clone()
    }

    /// Makes a change and wakes the thread that runs crons.
    pub fn apply(&self, change: &Change, now_ms: u64) {
        let mut state = self.state.lock();
        change.apply(&mut state.set);
        match change {
            Change::Set(cron) => {
                let entry =
                    Entry { next_ms: cron.due_after(now_ms), counts: CronCounts::default(), fails: false };
                state.entries.insert(cron.name.clone(), entry);
            }
            Change::Drop(name) => {
                state.entries.remove(name);
            }
        }
        state.due_generation += 1;
        if let Some(waker) = &state.waker {
            waker.wake_by_ref();
        }
    }

    /// Another number than before if [`Crons::due_times`] has changed.
    pub fn due_generation(&self) -> u64 {
        self.state.lock().due_generation
    }

    /// When each is due next, in unix milliseconds.
    pub fn due_times(&self) -> Vec<(Box<[u8]>, u64)> {
        let state = self.state.lock();
        state.entries.iter().map(|(name, entry)| (name.clone(), entry.next_ms)).collect()
    }

    /// Goes on with the times of an earlier life of the home, by names. A cron that is not among them keeps its own.
    pub fn go_on(&self, due_times: impl IntoIterator<Item = (impl AsRef<[u8]>, u64)>) {
        let mut state = self.state.lock();
        for (name, next_ms) in due_times {
            if let Some(entry) = state.entries.get_mut(name.as_ref()) {
                entry.next_ms = next_ms;
            }
        }
        state.due_generation += 1;
    }

    /// The waker is called when a cron may be due earlier than [`Crons::next_ms`] said.
    pub fn set_waker(&self, waker: Waker) {
        self.state.lock().waker = Some(waker);
    }

    /// When the next run is due, in unix milliseconds; none if there is nothing to wait for.
    pub fn next_ms(&self) -> Option<u64> {
        let state = self.state.lock();
        let waiting = state.entries.iter().filter(|(name, _)| !state.running.contains(*name));
        waiting.map(|(_, entry)| entry.next_ms).min()
    }

    /// A run that is due, the earliest first.
    pub fn claim(&self, now_ms: u64) -> Option<Claim> {
        let mut state = self.state.lock();
        let State { set, entries, running, due_generation, .. } = &mut *state;
        for (name, entry) in entries.iter_mut() {
            // The clock was set back.
            if let Some(cron) = set.get(name).filter(|cron| cron.due_after(now_ms) < entry.next_ms) {
                entry.next_ms = cron.due_after(now_ms);
                *due_generation += 1;
            }
        }
        let due =
            entries.iter_mut().filter(|(name, entry)| entry.next_ms <= now_ms && !running.contains(*name));
        let (name, entry) = due.min_by_key(|(_, entry)| entry.next_ms)?;
        let cron = set.get(name)?.clone();
        // Of several times that have passed only the last counts.
        let due_ms = now_ms / cron.every_ms * cron.every_ms;
        entry.counts.missed += due_ms.saturating_sub(entry.next_ms) / cron.every_ms;
        entry.next_ms = cron.due_after(now_ms);
        *due_generation += 1;
        running.insert(name.clone());
        Some(Claim { cron, due_ms })
    }

    /// A run does not take place: another process has run the cron for this time.
    pub fn leave(&self, claim: &Claim) {
        let mut state = self.state.lock();
        state.running.remove(&claim.cron.name);
        if let Some(waker) = &state.waker {
            waker.wake_by_ref();
        }
    }

    /// A run has ended. True if it is the first that failed after one that did not.
    pub fn end(&self, claim: Claim, end: CronEnd) -> bool {
        let mut state = self.state.lock();
        let State { set, entries, running, failures, failure_count, waker, due_generation } = &mut *state;
        let Claim { cron, due_ms } = claim;
        running.remove(&cron.name);
        let has_failed = end.error.is_some();
        // Another cron may have its name by now.
        let is_same = set.get(&cron.name).is_some_and(|present| Arc::ptr_eq(present, &cron));
        let mut is_first = has_failed;
        if let Some(entry) = entries.get_mut(&cron.name).filter(|_| is_same) {
            entry.counts.runs += 1;
            entry.counts.failures += u64::from(has_failed);
            entry.counts.took_ns = entry.counts.took_ns.saturating_add(end.took_ns);
            if entry.next_ms <= end.now_ms {
                entry.counts.missed += (end.now_ms - entry.next_ms) / cron.every_ms + 1;
                entry.next_ms = cron.due_after(end.now_ms);
                *due_generation += 1;
            }
            is_first = has_failed && !entry.fails;
            entry.fails = has_failed;
        }
        if let Some(error) = end.error {
            let failure = CronFailure {
                id: *failure_count,
                name: cron.name.clone(),
                due_ms,
                took_ns: end.took_ns,
                error,
            };
            *failure_count += 1;
            failures.push_front(failure);
            failures.truncate(CRON_FAILURES_MAX);
        }
        if let Some(waker) = waker {
            waker.wake_by_ref();
        }
        is_first
    }

    /// How a cron is; none if there is none of this name.
    pub fn state(&self, name: &[u8]) -> Option<CronState> {
        let state = self.state.lock();
        let entry = state.entries.get(name)?;
        let is_running = state.running.contains(name);
        Some(CronState { next_ms: entry.next_ms, is_running, counts: entry.counts })
    }

    /// The last failures, the latest first.
    pub fn failures(&self, most: usize) -> Vec<CronFailure> {
        self.state.lock().failures.iter().take(most).cloned().collect()
    }

    /// Forgets the failures.
    pub fn forget_failures(&self) {
        self.state.lock().failures.clear();
    }

    /// Counts from zero again.
    pub fn reset_counts(&self) {
        self.state.lock().entries.values_mut().for_each(|entry| entry.counts = CronCounts::default());
    }
}

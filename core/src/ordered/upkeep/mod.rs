//! Housekeeping of a store in a cluster: expired keys nobody asks for, data of no root, old versions of values.
//!
//! Commits leave notes in memory and marks in the cluster; one thread of each process takes steps here.
//!
//! ```text
//! every process    index     hints of keys that expire: written in batches after the commits, read when their time has come
//!                  due       keys whose time has come, which the executor removes as any other change
//!                  homes     data of collections and long values that were dropped
//! one of them      lease     which process it is
//!                  spaces    data of databases that were emptied
//!                  versions  versions of values that no transaction sees any more
//!                  sweep     a slow walk over everything, for what is not noted: processes end, and SET looks at nothing
//! ```
//!
//! Nothing depends on being done once. Two processes that do the same meet in the cluster, and one of them tries again or finds
//! nothing to do.

mod due;
mod elsewhere;
mod homes;
mod index;
mod lease;
pub(in crate::ordered) mod noted;
mod site;
mod slot;
mod spaces;
mod sweep;
#[cfg(test)]
mod tests;
mod versions;

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Options;
use super::cluster::{Cluster, ClusterError};
use super::databases::Databases;
use super::names::{Home, Names};
use crate::engine::Db;
use due::{Due, Soon};
use homes::Homes;
use index::Index;
use lease::Lease;
use noted::{Expiring, Notes};
use site::Site;
use spaces::Spaces;
use sweep::Sweep;
use versions::Versions;

/// So long upkeep rests when the cluster does not answer.
const PAUSE_MS: u64 = 1000;

/// So long it rests when there is nothing to do.
const REST_MS: u64 = 100;

/// Notes become hints after so long at the latest.
const FLUSH_MS: u64 = 500;

/// How upkeep goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// No transaction lives longer than half of this: what was dropped longer ago is seen by nobody.
    pub life_ms: u64,
    /// Whether this store lets go of the cluster's old versions. Of several stores in a cluster one is enough, and none where
    /// something else does it.
    pub collects_versions: bool,
}

/// Counts since the start.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Hints written.
    hints: AtomicU64,
    /// Keys that were found expired.
    expired: AtomicU64,
    /// Homes whose data was removed, and its entries.
    homes: AtomicU64,
    entries: AtomicU64,
    /// Emptied databases whose data was removed.
    spaces: AtomicU64,
    /// Walks over the store that have come to their end.
    sweeps: AtomicU64,
    /// Homes of no root and without a mark that walks have found.
    strays: AtomicU64,
    /// The process that looks after the whole store, and whether it is this one.
    leader: AtomicU64,
    leads: AtomicU64,
    /// Keys that are remembered, with a hint yet to be written or for themselves.
    pending: AtomicU64,
    /// Homes that wait to be collected.
    waiting: AtomicU64,
}

/// The housekeeping of one process.
pub(super) struct Upkeep<C: Cluster> {
    notes: Mutex<Notes>,
    due: Mutex<Due>,
    work: Mutex<Work<C::Transaction>>,
    versions: Versions,
    counts: Counts,
}

impl<C: Cluster> Default for Upkeep<C> {
    fn default() -> Upkeep<C> {
        Upkeep {
            notes: Mutex::default(),
            due: Mutex::default(),
            work: Mutex::new(Work::default()),
            versions: Versions::default(),
            counts: Counts::default(),
        }
    }
}

/// What only the thread of upkeep uses.
struct Work<T> {
    /// The databases as they were when they were last read.
    databases: Databases,
    soon: Soon,
    index: Index,
    homes: Homes,
    lease: Lease,
    spaces: Spaces,
    sweep: Sweep<T>,
    flush: Timer,
    /// Not before then, since the cluster did not answer.
    paused: Timer,
}

impl<T> Default for Work<T> {
    fn default() -> Work<T> {
        Work {
            databases: Databases::default(),
            soon: Soon::default(),
            index: Index::default(),
            homes: Homes::default(),
            lease: Lease::default(),
            spaces: Spaces::default(),
            sweep: Sweep::default(),
            flush: Timer::default(),
            paused: Timer::default(),
        }
    }
}

/// When something is to be done again. A clock that is set back makes nobody wait for longer than a period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timer {
    next_ms: u64,
}

impl Timer {
    /// Whether the time has come; then it comes again after a period.
    pub(super) fn is_due(&mut self, now_ms: u64, period_ms: u64) -> bool {
        let is_due = now_ms >= self.next_ms || self.next_ms > now_ms.saturating_add(period_ms);
        if is_due {
            self.next_ms = now_ms.saturating_add(period_ms);
        }
        is_due
    }

    /// How long it is until then.
    pub(super) fn rest_ms(&self, now_ms: u64) -> u64 {
        self.next_ms.saturating_sub(now_ms)
    }
}

/// What the parts of one step have come to.
#[derive(Debug, Default)]
struct Stepped {
    has_more: bool,
    error: Option<ClusterError>,
}

impl Stepped {
    /// Notes whether a part has more to do at once. A conflict is no error: another process has done it.
    fn take(&mut self, outcome: Result<bool, ClusterError>) {
        match outcome {
            Ok(has_more) => self.has_more |= has_more,
            Err(ClusterError::Conflict(_) | ClusterError::Moved(_)) => {}
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
    }
}

impl<C: Cluster> Upkeep<C> {
    /// Takes keys that expire: what a hint says is looked at, so it does no harm if their commit comes to nothing.
    pub(super) fn note_expiring(&self, expiring: Vec<Expiring>) {
        if !expiring.is_empty() {
            self.notes.lock().add_expiring(expiring);
        }
    }

    /// Takes homes of which a commit has said that they are to be collected.
    pub(super) fn note_dropped(&self, dropped: Vec<Home>) {
        if !dropped.is_empty() {
            self.notes.lock().add_dropped(dropped);
        }
    }

    /// Shows keys whose time has come, for the executor; true if there are more.
    pub(super) fn take_due(&self, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> bool {
        self.due.lock().take(budget, visit)
    }

    /// Whether there are such keys.
    pub(super) fn has_due(&self) -> bool {
        !self.due.lock().is_empty()
    }

    /// Does a part of what is to be done; returns how long to rest, and what went wrong.
    pub(super) fn step(
        &self,
        cluster: &C,
        names: &Names,
        options: &Options,
        (now_ms, pace): (u64, Pace),
    ) -> (u64, Option<ClusterError>) {
        let work = &mut *self.work.lock();
        if work.paused.next_ms > now_ms && work.paused.next_ms <= now_ms + PAUSE_MS {
            return (work.paused.next_ms - now_ms, None);
        }
        let site = Site { cluster, names, options, now_ms, pace, due: &self.due, counts: &self.counts };
        let mut stepped = Stepped::default();
        stepped.take(work.lease.step(&site));
        work.homes.add_dropped(self.notes.lock().take_dropped());
        stepped.take(work.hints(&site, &self.notes));
        stepped.take(work.homes.step(&site));
        if work.lease.is_held(now_ms) {
            stepped.take(work.spaces.step(&site));
            stepped.take(work.sweep.step(&site, &mut work.homes));
            stepped.take(self.versions.step(&site));
        }
        let pending = self.notes.lock().expiring_count() + work.soon.len();
        self.counts.pending.store(pending as u64, Ordering::Relaxed);
        self.counts.waiting.store(work.homes.len() as u64, Ordering::Relaxed);
        match stepped {
            Stepped { error: Some(error), .. } => {
                work.paused.next_ms = now_ms + PAUSE_MS;
                (PAUSE_MS, Some(error))
            }
            Stepped { has_more: true, .. } => (0, None),
            _ => (work.sweep.rest_ms(now_ms).min(REST_MS), None),
        }
    }

    /// Hands over what would be lost with the process.
    pub(super) fn end(&self, cluster: &C, names: &Names, options: &Options, now_ms: u64) {
        let pace = Pace { life_ms: 0, collects_versions: false };
        let site = Site { cluster, names, options, now_ms, pace, due: &self.due, counts: &self.counts };
        let work = &mut *self.work.lock();
        let mut notes = self.notes.lock().take_expiring();
        notes.extend(work.soon.take_all());
        // What cannot be written is found by a walk over the store.
        let _ = work.index.write(&site, notes);
        let _ = work.lease.give_up(&site);
    }

    /// Facts for INFO.
    pub(super) fn report(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        let (safe_point_ms, failures) = self.versions.facts();
        let mut all: Vec<(&'static str, u64)> = [
            ("cluster_hints_written", &counts.hints),
            ("cluster_hints_pending", &counts.pending),
            ("cluster_expired_found", &counts.expired),
            ("cluster_collected_homes", &counts.homes),
            ("cluster_collected_entries", &counts.entries),
            ("cluster_collect_pending", &counts.waiting),
            ("cluster_destroyed_databases", &counts.spaces),
            ("cluster_sweeps", &counts.sweeps),
            ("cluster_sweep_found", &counts.strays),
            ("cluster_leader", &counts.leader),
            ("cluster_leads", &counts.leads),
        ]
        .into_iter()
        .map(|(name, count)| (name, count.load(Ordering::Relaxed)))
        .collect();
        all.extend([
            ("cluster_notes_lost", self.notes.lock().lost),
            ("cluster_gc_safe_point_ms", safe_point_ms),
            ("cluster_gc_failures", failures),
        ]);
        all
    }
}

impl<T> Work<T> {
    /// Writes hints, follows those whose time has come, and hands keys over to the executor; true if there is more to do.
    fn hints<C: Cluster>(&mut self, site: &Site<'_, C>, notes: &Mutex<Notes>) -> Result<bool, ClusterError> {
        if self.flush.is_due(site.now_ms, FLUSH_MS) {
            let expiring = notes.lock().take_expiring();
            let stored = self.index.keep_soon(site.now_ms, expiring, &mut self.soon);
            self.index.write(site, stored)?;
        }
        let has_more = self.index.follow(site, &mut self.databases)?;
        let count = site.options.databases;
        self.soon.drain(site.now_ms, (&self.databases, count), &mut site.due.lock());
        Ok(has_more)
    }
}

//! Triggers: functions that run before the commit of a transaction that has changed a key with their prefix.
//!
//! The set is replaced as a whole, as that of libraries is. What lasts of it is in the store ([`crate::engine::CATALOG`]). Nothing
//! here runs anything: `command/script/triggers` does.

mod events;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

pub use events::{Event, Events};

use super::hub::Interest;
use super::prefixes::Prefixes;
use crate::engine::Kind;

/// A trigger.
#[derive(Debug)]
pub struct Trigger {
    /// Its name.
    pub name: Box<[u8]>,
    /// What it runs for.
    pub events: Events,
    /// Keys that begin so concern it.
    pub prefix: Box<[u8]>,
    /// The only type of keys that concern it.
    pub kind: Option<Kind>,
    /// The function that it calls.
    pub function: Box<[u8]>,
    /// The user whose rights the function has: the one that made the trigger.
    pub definer: Box<[u8]>,
    /// What is counted of it.
    pub counts: TriggerCounts,
}

impl Trigger {
    /// Whether another one does the same.
    pub fn is_like(&self, other: &Trigger) -> bool {
        let parts = |trigger: &Trigger| (trigger.events, trigger.kind, trigger.prefix.clone());
        let calls =
            |trigger: &Trigger| (trigger.name.clone(), trigger.function.clone(), trigger.definer.clone());
        parts(self) == parts(other) && calls(self) == calls(other)
    }
}

/// What is counted of a trigger since the start of the server, or since CONFIG RESETSTAT.
#[derive(Debug, Default)]
pub struct TriggerCounts {
    /// Runs whose transaction was committed.
    pub runs: AtomicU64,
    /// Runs that refused their transaction.
    pub refusals: AtomicU64,
    /// Runs that could not take place, or that failed where nothing can be refused.
    pub failures: AtomicU64,
    /// The time that all of these took, in nanoseconds.
    pub took_ns: AtomicU64,
}

/// How a run of a trigger ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerEnd {
    /// Well.
    Ran,
    /// It refuses the transaction.
    Refused,
    /// It could not run, or failed where nothing can be refused.
    Failed,
}

impl TriggerCounts {
    /// Counts a run.
    pub fn add(&self, end: TriggerEnd, took_ns: u64) {
        let counter = match end {
            TriggerEnd::Ran => &self.runs,
            TriggerEnd::Refused => &self.refusals,
            TriggerEnd::Failed => &self.failures,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.took_ns.fetch_add(took_ns, Ordering::Relaxed);
    }

    fn reset(&self) {
        for counter in [&self.runs, &self.refusals, &self.failures, &self.took_ns] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

/// A change of the triggers.
#[derive(Clone, Debug)]
pub enum Change {
    /// This one comes, instead of one with the same name.
    Set(Arc<Trigger>),
    /// This one goes.
    Drop(Box<[u8]>),
}

/// All triggers at one moment.
#[derive(Clone, Debug, Default)]
pub struct TriggerSet {
    by_name: BTreeMap<Box<[u8]>, Arc<Trigger>>,
    prefixes: Prefixes,
}

impl TriggerSet {
    /// A trigger.
    pub fn trigger(&self, name: &[u8]) -> Option<&Arc<Trigger>> {
        self.by_name.get(name)
    }

    /// All triggers in the order of their names.
    pub fn triggers(&self) -> impl Iterator<Item = &Arc<Trigger>> {
        self.by_name.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Whether the key has the prefix of a trigger.
    #[inline]
    pub fn concerns(&self, key: &[u8]) -> bool {
        self.prefixes.has_one_of(key)
    }

    /// Makes a change.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Set(trigger) => {
                self.by_name.insert(trigger.name.clone(), trigger.clone());
            }
            Change::Drop(name) => {
                self.by_name.remove(name);
            }
        }
        self.prefixes = Prefixes::of(self.by_name.values().map(|trigger| &*trigger.prefix));
    }
}

/// The triggers of a server.
#[derive(Debug, Default)]
pub struct Triggers {
    present: RwLock<Arc<TriggerSet>>,
    generation: AtomicU64,
}

impl Triggers {
    /// All triggers as they are now.
    pub fn present(&self) -> Arc<TriggerSet> {
        self.present.read().clone()
    }

    /// Makes a change. [`Interest::TRIGGERS`] says afterwards whether there are any.
    pub fn apply(&self, interest: &Interest, change: &Change) {
        let mut present = self.present.write();
        Arc::make_mut(&mut present).apply(change);
        self.generation.fetch_add(1, Ordering::Release);
        interest.set(Interest::TRIGGERS, !present.is_empty());
    }

    /// Counts from zero again.
    pub fn reset_counts(&self) {
        self.present.read().triggers().for_each(|trigger| trigger.counts.reset());
    }
}

/// The triggers as one thread has seen them last, so that most keys are known to concern none without a lock.
#[derive(Debug, Default)]
pub struct SeenTriggers {
    generation: u64,
    set: Arc<TriggerSet>,
}

impl SeenTriggers {
    /// Whether the key has the prefix of a trigger.
    #[inline]
    pub fn concern(&mut self, triggers: &Triggers, key: &[u8]) -> bool {
        let generation = triggers.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.look(triggers, generation);
        }
        self.set.concerns(key)
    }

    /// A change may come meanwhile, which the next look finds by its generation.
    #[cold]
    fn look(&mut self, triggers: &Triggers, generation: u64) {
        *self = SeenTriggers { generation, set: triggers.present() };
    }
}

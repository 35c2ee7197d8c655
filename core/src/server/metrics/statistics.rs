//! What is counted of every command and every error: INFO commandstats, errorstats and latencystats, LATENCY HISTOGRAM.
//!
//! Sessions add to these counters once for a stretch of equal commands (see `meter`), so they cost next to nothing.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::histogram::Histogram;
use crate::catalog::{self, CommandId, CommandSpec};
use crate::limits::{ERROR_CODE_MAX_BYTES, ERROR_CODES_MAX};

/// The counters of all commands and errors since the start or since CONFIG RESETSTAT.
pub struct Statistics {
    /// Parallel to the catalog.
    commands: Box<[CommandStatistics]>,
    /// Replies that were errors, by error code. Scripts may make up codes: so many are counted as [`ERROR_CODES_MAX`].
    errors: Mutex<BTreeMap<String, u64>>,
}

/// The counters of one command.
#[derive(Debug, Default)]
pub struct CommandStatistics {
    /// Times it ran.
    pub calls: AtomicU64,
    /// Time that took, in nanoseconds.
    pub took_ns: AtomicU64,
    /// Times it was refused before it ran.
    pub rejected: AtomicU64,
    /// Times it ran and replied with an error.
    pub failed: AtomicU64,
    /// Times it waited for its engine, to read or to write: where that is a cluster, a round each. The requests of a pipeline that share a
    /// transaction are counted as the first.
    pub rounds: AtomicU64,
    /// Times it was run again because it had met others.
    pub retries: AtomicU64,
    histogram: OnceLock<Box<Histogram>>,
}

impl Default for Statistics {
    fn default() -> Statistics {
        let commands = catalog::all().iter().map(|_| CommandStatistics::default()).collect();
        Statistics { commands, errors: Mutex::default() }
    }
}

impl Statistics {
    /// Adds `calls` calls of a command that took `took_ns` together; `tracks` says whether the histogram wants them.
    pub(crate) fn ran(&self, command: CommandId, calls: u64, took_ns: u64, tracks: bool) {
        let Some(counters) = self.commands.get(command.index()) else { return };
        counters.calls.fetch_add(calls, Ordering::Relaxed);
        counters.took_ns.fetch_add(took_ns, Ordering::Relaxed);
        if tracks {
            counters.histogram.get_or_init(Box::default).add(took_ns / calls.max(1), calls);
        }
    }

    /// A command was refused before it ran, so many times.
    pub(crate) fn rejected(&self, command: CommandId, times: u64) {
        if let Some(counters) = self.commands.get(command.index()) {
            counters.rejected.fetch_add(times, Ordering::Relaxed);
        }
    }

    /// A command that ran replied with an error, so many times.
    pub(crate) fn failed(&self, command: CommandId, times: u64) {
        if let Some(counters) = self.commands.get(command.index()) {
            counters.failed.fetch_add(times, Ordering::Relaxed);
        }
    }

    /// A command has waited for a cluster so many times, and was run again so many times because it had met others.
    #[cold]
    pub(crate) fn waited(&self, command: CommandId, (rounds, retries): (u64, u64)) {
        if let Some(counters) = self.commands.get(command.index()) {
            counters.rounds.fetch_add(rounds, Ordering::Relaxed);
            counters.retries.fetch_add(retries, Ordering::Relaxed);
        }
    }

    /// An error was replied, so many times; its code is the first word of the text.
    pub(crate) fn errors_of(&self, text: &str, times: u64) {
        let code = text.split(' ').next().unwrap_or_default();
        let mut errors = self.errors.lock();
        if let Some(count) = errors.get_mut(code) {
            *count += times;
        } else if errors.len() < ERROR_CODES_MAX && code.len() <= ERROR_CODE_MAX_BYTES {
            errors.insert(code.to_owned(), times);
        }
    }

    /// Every command that was called or refused, with its counters.
    pub fn commands(&self) -> impl Iterator<Item = (&'static CommandSpec, &CommandStatistics)> {
        catalog::all().iter().zip(&self.commands).filter(|(_, counters)| counters.is_used())
    }

    /// The counters of one command.
    pub fn command(&self, command: CommandId) -> Option<&CommandStatistics> {
        self.commands.get(command.index())
    }

    /// Error codes and how often each was replied.
    pub fn errors(&self) -> Vec<(String, u64)> {
        self.errors.lock().iter().map(|(code, count)| (code.clone(), *count)).collect()
    }

    /// Sets everything to zero.
    pub fn reset(&self) {
        for counters in &self.commands {
            let CommandStatistics { calls, took_ns, rejected, failed, rounds, retries, histogram: _ } =
                counters;
            for counter in [calls, took_ns, rejected, failed, rounds, retries] {
                counter.store(0, Ordering::Relaxed);
            }
            if let Some(histogram) = counters.histogram.get() {
                histogram.reset();
            }
        }
        self.errors.lock().clear();
    }
}

impl CommandStatistics {
    fn is_used(&self) -> bool {
        [&self.calls, &self.rejected, &self.failed].iter().any(|counter| counter.load(Ordering::Relaxed) > 0)
    }

    /// How long its calls took, if any was timed.
    pub fn histogram(&self) -> Option<&Histogram> {
        self.histogram.get().map(Box::as_ref).filter(|histogram| histogram.total() > 0)
    }
}

//! Which process looks after the whole store: the one whose number stands in a record that it writes again every second.
//!
//! No clocks are compared. A process that sees the record unchanged for some seconds of its own takes it over; of two that try only one
//! succeeds. Nothing breaks if two believe to have it for a moment.

use std::sync::atomic::Ordering;

use super::super::asking::value;
use super::super::cluster::{Ask, Cluster, ClusterError};
use super::Timer;
use super::site::Site;

/// The record is written, or looked at, so often.
const PERIOD_MS: u64 = 1_000;

/// A record that did not change for so long is nobody's.
const LAPSE_MS: u64 = 4_000;

/// The lease as one process sees it.
#[derive(Debug, Default)]
pub(super) struct Lease {
    timer: Timer,
    /// The record that was last seen, and since when it is that one.
    seen: Option<Record>,
    since_ms: u64,
    /// When this process last had it for sure.
    had_ms: Option<u64>,
}

/// What is stored: who has it, and a count that grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    process: u32,
    count: u64,
}

impl Record {
    fn to_bytes(self) -> Vec<u8> {
        [&self.process.to_le_bytes()[..], &self.count.to_le_bytes()].concat()
    }

    fn read(bytes: &[u8]) -> Option<Record> {
        let (process, count) = bytes.split_first_chunk()?;
        Some(Record {
            process: u32::from_le_bytes(*process),
            count: u64::from_le_bytes(count.try_into().ok()?),
        })
    }
}

impl Lease {
    /// Whether this process has it.
    pub(super) fn is_held(&self, now_ms: u64) -> bool {
        self.had_ms.is_some_and(|had_ms| now_ms.abs_diff(had_ms) < LAPSE_MS)
    }

    /// Writes the record again, or looks whether it is to be taken over.
    pub(super) fn step<C: Cluster>(&mut self, site: &Site<'_, C>) -> Result<bool, ClusterError> {
        let now_ms = site.now_ms;
        if !self.timer.is_due(now_ms, PERIOD_MS) {
            return Ok(false);
        }
        let (transaction, mut answers) = site.read(None, vec![Ask::Get(site.names.lease())])?;
        let stored = value(answers.next())?.as_deref().and_then(Record::read);
        let process = site.options.process;
        if stored != self.seen {
            (self.seen, self.since_ms) = (stored, now_ms);
        }
        let is_free = match stored {
            None => true,
            Some(record) => record.process == process || now_ms.abs_diff(self.since_ms) >= LAPSE_MS,
        };
        let holder = if is_free {
            let count = stored.map_or(0, |record| record.count) + 1;
            let record = Record { process, count };
            let written = site.write(transaction, vec![(site.names.lease(), Some(record.to_bytes()))]);
            self.had_ms = written.is_ok().then_some(now_ms);
            written?;
            (self.seen, self.since_ms) = (Some(record), now_ms);
            Some(process)
        } else {
            self.had_ms = None;
            stored.map(|record| record.process)
        };
        site.counts.leader.store(holder.map_or(0, u64::from), Ordering::Relaxed);
        site.counts.leads.store(u64::from(holder == Some(process)), Ordering::Relaxed);
        Ok(false)
    }

    /// Leaves it to others at once, if this process has it.
    pub(super) fn give_up<C: Cluster>(&mut self, site: &Site<'_, C>) -> Result<(), ClusterError> {
        if self.had_ms.take().is_none() {
            return Ok(());
        }
        let (transaction, mut answers) = site.read(None, vec![Ask::Get(site.names.lease())])?;
        let stored = value(answers.next())?.as_deref().and_then(Record::read);
        match stored {
            Some(record) if record.process == site.options.process => {
                site.write(transaction, vec![(site.names.lease(), None)])
            }
            _ => Ok(()),
        }
    }
}

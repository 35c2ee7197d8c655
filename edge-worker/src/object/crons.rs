//! Crons of an object: they run on its alarm, which wakes it for them.
//!
//! When each is due next is in a row, written in the transaction of its run, so the next life goes on from there: a run that was due
//! while the object slept is not forgotten, and none takes place twice.

use edgecask_core::bitcask::Bitcask;
use edgecask_core::executor::{CronRun, CronStep};
use edgecask_core::server::Server;

use super::Object;
use crate::host::Host;
use crate::limits::{CRON_RUNS_PER_ALARM, MAINTENANCE_NEXT_MS};
use crate::storage::RowStorage;

/// When crons are due next. For each: the length of its name (u64, little-endian), the name, unix milliseconds (u64, little-endian).
const DUE_TIMES_NAME: &str = "crons";

/// The crons of one life of an object.
#[derive(Default)]
pub(super) struct EdgeCrons {
    /// A run that waits for the engine.
    waiting: Option<CronRun>,
    /// The row.
    persisted: Vec<u8>,
    /// The [`Crons::due_generation`] of the row.
    ///
    /// [`Crons::due_generation`]: edgecask_core::server::crons::Crons::due_generation
    generation: u64,
}

impl EdgeCrons {
    /// Goes on where the life before has ended.
    pub(super) fn go_on<H: Host>(server: &Server<Bitcask>, storage: &RowStorage<H>) -> EdgeCrons {
        let persisted = storage.state(DUE_TIMES_NAME).unwrap_or_default();
        server.shared.crons.go_on(due_times(&persisted));
        // Where the crons of the store are others than those of the row, the first event writes a new one.
        EdgeCrons { waiting: None, persisted, generation: 0 }
    }

    /// When the object is to be woken for them, if it is.
    pub(super) fn due_ms(&self, server: &Server<Bitcask>, now_ms: u64) -> Option<u64> {
        let soon_ms = now_ms + MAINTENANCE_NEXT_MS;
        if self.waiting.is_some() {
            return Some(soon_ms);
        }
        // What is due already could not run now: writes are paused, or enough was done.
        server.shared.crons.next_ms().map(|due_ms| if due_ms <= now_ms { soon_ms } else { due_ms })
    }
}

impl<H: Host> Object<H> {
    /// Runs crons that are due, but not too many at a time: an event may take some seconds only.
    pub(super) fn run_crons(&mut self, now_ms: u64) {
        for _ in 0..CRON_RUNS_PER_ALARM {
            let waiting = self.crons.waiting.take();
            // The home has no other place for what takes long: steps end it.
            let run = waiting.or_else(|| CronRun::next(&self.server.shared, now_ms, false));
            let Some(mut run) = run else { return };
            if run.step(&self.server, now_ms) != CronStep::Ended {
                self.crons.waiting = Some(run);
                return;
            }
        }
    }

    /// Persists when crons are due next, if that has changed.
    pub(super) fn persist_crons(&mut self) {
        let generation = self.server.shared.crons.due_generation();
        if generation == self.crons.generation {
            return;
        }
        self.crons.generation = generation;
        let mut row = Vec::new();
        for (name, due_ms) in self.server.shared.crons.due_times() {
            row.extend_from_slice(&(name.len() as u64).to_le_bytes());
            row.extend_from_slice(&name);
            row.extend_from_slice(&due_ms.to_le_bytes());
        }
        if row != self.crons.persisted {
            self.storage.put_state(DUE_TIMES_NAME, &row);
            self.crons.persisted = row;
        }
    }
}

/// The contents of the row; they end where they make no sense.
fn due_times(mut row: &[u8]) -> Vec<(&[u8], u64)> {
    fn number(row: &mut &[u8]) -> Option<u64> {
        let (number, rest) = row.split_first_chunk()?;
        *row = rest;
        Some(u64::from_le_bytes(*number))
    }
    let mut times = Vec::new();
    while let Some(len) = number(&mut row) {
        let Some((name, rest)) = usize::try_from(len).ok().and_then(|len| row.split_at_checked(len)) else {
            break;
        };
        row = rest;
        let Some(due_ms) = number(&mut row) else { break };
        times.push((name, due_ms));
    }
    times
}

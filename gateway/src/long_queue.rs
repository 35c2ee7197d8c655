//! What takes long and waits for one of the threads that run such things ([`crate::long_runs`]).

use std::collections::VecDeque;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use crate::limits::LONG_RUN_PATIENCE;

/// The runs that wait for a thread. Their number is bounded by that of the connections and crons.
pub struct LongQueue<Run> {
    waiting: Mutex<Waiting<Run>>,
    wake: Condvar,
    /// Wakes the spare thread.
    wake_spare: Condvar,
}

struct Waiting<Run> {
    /// With the time at which each came.
    runs: VecDeque<(Run, Instant)>,
    is_stopping: bool,
}

impl<Run> Default for LongQueue<Run> {
    fn default() -> LongQueue<Run> {
        let waiting = Waiting { runs: VecDeque::new(), is_stopping: false };
        LongQueue { waiting: Mutex::new(waiting), wake: Condvar::new(), wake_spare: Condvar::new() }
    }
}

impl<Run> LongQueue<Run> {
    /// Puts a run behind those that came before; drops it if no thread takes any more.
    pub fn hand_over(&self, run: Run) {
        let mut waiting = self.waiting.lock();
        if waiting.is_stopping {
            // Dropped without the lock: that closes a session.
            drop(waiting);
            return drop(run);
        }
        waiting.runs.push_back((run, Instant::now()));
        drop(waiting);
        self.wake.notify_one();
        self.wake_spare.notify_one();
    }

    /// Lets the threads end once they have run what they are at. What waits is dropped.
    pub fn stop(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_stopping = true;
        let rest = std::mem::take(&mut waiting.runs);
        drop(waiting);
        self.wake.notify_all();
        self.wake_spare.notify_all();
        drop(rest);
    }

    /// The next run, which a thread waits for; None once it is to end.
    pub fn next(&self) -> Option<Run> {
        let mut waiting = self.waiting.lock();
        loop {
            if waiting.is_stopping {
                return None;
            }
            if let Some((run, _)) = waiting.runs.pop_front() {
                return Some(run);
            }
            self.wake.wait(&mut waiting);
        }
    }

    /// A run that no other thread has taken for [`LONG_RUN_PATIENCE`], which the spare thread waits for; None once it is to
    /// end.
    pub fn next_late(&self) -> Option<Run> {
        let mut waiting = self.waiting.lock();
        loop {
            if waiting.is_stopping {
                return None;
            }
            let Some((_, came)) = waiting.runs.front() else {
                self.wake_spare.wait(&mut waiting);
                continue;
            };
            let late = *came + LONG_RUN_PATIENCE;
            if late > Instant::now() {
                self.wake_spare.wait_until(&mut waiting, late);
                continue;
            }
            return waiting.runs.pop_front().map(|(run, _)| run);
        }
    }
}

//! Sessions on their way to the threads for requests that take long: a worker hands a session over, and serves its other
//! connections meanwhile.
//!
//! A session says that its next request takes long without having run it ([`Driver::takes_long`]). The worker then gives
//! its driver away, keeps the socket, and gets the driver back with the replies. Such requests hold the locks of their keys
//! as any other does, so connections that need these keys wait, but no thread does: a session that waits for a lock is suspended, and
//! one of these requests that has to wait is given back to its worker and comes again. So all threads here run something.
//!
//! A few threads take what comes. Where none of them has had time for a request, a spare one gives it a thread of its own, so that
//! scripts which run for minutes do not hold up what comes behind them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use edgecask_core::driver::Driver;
use parking_lot::{Condvar, Mutex};

use crate::limits::LONG_RUN_PATIENCE;
use crate::mailbox::Mailbox;

/// A session that is away from its worker.
pub struct LongRun {
    /// The session.
    pub driver: Box<Driver>,
    /// Where it goes back to.
    pub mailbox: Arc<Mailbox>,
    /// The slot of its connection there.
    pub slot: usize,
}

/// The sessions that wait for a thread. Their number is bounded by that of the connections.
#[derive(Default)]
pub struct LongRuns {
    waiting: Mutex<Waiting>,
    wake: Condvar,
    /// Wakes the spare thread.
    wake_spare: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// With the time at which each came.
    runs: VecDeque<(LongRun, Instant)>,
    is_stopping: bool,
}

impl LongRuns {
    /// Runs the next request of a session, after those that came before.
    pub fn hand_over(&self, run: LongRun) {
        self.waiting.lock().runs.push_back((run, Instant::now()));
        self.wake.notify_one();
        self.wake_spare.notify_one();
    }

    /// Ends the threads once they have run what they are at. Nobody waits for the rest: the workers have ended.
    pub fn stop(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_stopping = true;
        waiting.runs.clear();
        self.wake.notify_all();
        self.wake_spare.notify_all();
    }

    /// The next session to run, which a thread waits for; None once it is to end.
    pub fn next(&self) -> Option<LongRun> {
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

    /// A session that no other thread has taken for [`LONG_RUN_PATIENCE`], which the spare thread waits for; None once it is to
    /// end.
    pub fn next_late(&self) -> Option<LongRun> {
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

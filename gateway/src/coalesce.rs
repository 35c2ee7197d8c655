//! Coalescing: a busy worker does a small batch of requests at a time instead of one.
//!
//! A worker that asks for events as soon as it has nothing to do is put to sleep and woken for nearly every request, by
//! an interrupt that its clients' system calls pay for as well; and so are its clients, for nearly every reply.
//! Together that costs about as much as serving the requests. Network cards meet the same with interrupt coalescing.
//! Here, while many connections are active and requests come fast,
//!
//! - a worker sleeps for about as long as a small batch of requests takes to come before it asks for events;
//! - replies leave after all requests that had come were run, so that a client that is woken finds several.
//!
//! A batch is a small part of the active connections, so the clients are never all waiting for a worker that sleeps.
//! A few clients alone never wait for one another.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

use tokio::task::yield_now;

/// The longest sleep; at most so much is added to the time of a request under load.
const LONGEST: Duration = Duration::from_micros(100);

/// A shorter sleep costs as much as it saves.
const SHORTEST: Duration = Duration::from_micros(20);

/// So many requests in one batch are enough: with more, the cost of asking no longer matters.
const BATCH: u32 = 12;

/// A smaller batch is not worth a sleep.
const BATCH_LEAST: u32 = 3;

/// A batch has at most one of so many active connections.
const ACTIVE_PER_BATCH: u32 = 5;

/// How long rate and active connections are counted before they decide.
const EPOCH_MS: u64 = 3;

/// By how many nanoseconds the system may lengthen a sleep.
const TIMER_SLACK_NS: u64 = 1_000;

thread_local! {
    static WORKER: Cell<Worker> = const { Cell::new(Worker::IDLE) };
}

/// What a worker's thread knows of its load.
#[derive(Clone, Copy)]
struct Worker {
    epoch_began_ms: u64,
    /// Batches of requests of one connection that were served in this epoch.
    served: u32,
    /// Connections that they came from.
    active: u32,
    /// Whether anything was served since the thread last was about to wait.
    has_worked: bool,
    pace: Pace,
}

/// What the last epoch decided for this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pace {
    /// How long to sleep before asking for events.
    sleep: Duration,
    /// Whether replies wait for the other requests that have come.
    others_first: bool,
}

impl Pace {
    const IDLE: Pace = Pace { sleep: Duration::ZERO, others_first: false };

    /// The pace when `lasted` has seen so many batches served, for so many connections.
    fn of(served: u32, active: u32, lasted: Duration) -> Pace {
        let batch = (active / ACTIVE_PER_BATCH).min(BATCH);
        let per_request = lasted / served.max(1);
        if batch < BATCH_LEAST || per_request * BATCH_LEAST > LONGEST {
            return Pace::IDLE;
        }
        let sleep = (per_request * batch).min(LONGEST);
        Pace { sleep: if sleep < SHORTEST { Duration::ZERO } else { sleep }, others_first: true }
    }
}

impl Worker {
    const IDLE: Worker =
        Worker { epoch_began_ms: 0, served: 0, active: 0, has_worked: false, pace: Pace::IDLE };

    /// Begins a new epoch if the present one is over.
    fn look(&mut self, now_ms: u64) {
        let lasted_ms = now_ms.wrapping_sub(self.epoch_began_ms);
        if lasted_ms >= EPOCH_MS {
            // An epoch that lasted long had pauses in it.
            let is_steady = lasted_ms <= 2 * EPOCH_MS;
            let pace = Pace::of(self.served, self.active, Duration::from_millis(lasted_ms));
            let pace = if is_steady { pace } else { Pace::IDLE };
            *self = Worker { epoch_began_ms: now_ms, pace, ..Worker::IDLE };
        }
    }
}

/// A connection's part: in which epoch it was last seen.
#[derive(Default)]
pub struct Seen(u64);

impl Seen {
    /// Says that the connection serves what came at this unix time.
    pub fn serves(&mut self, now_ms: u64) {
        let mut worker = WORKER.get();
        worker.look(now_ms);
        worker.has_worked = true;
        worker.served = worker.served.saturating_add(1);
        if self.0 != worker.epoch_began_ms {
            self.0 = worker.epoch_began_ms;
            worker.active += 1;
        }
        WORKER.set(worker);
    }
}

/// Lets other connections run the requests that have come before this one sends its replies, if it is time for that.
pub async fn others_first() {
    if WORKER.get().pace.others_first {
        yield_now().await;
    }
}

/// The hook for the begin of a worker's thread: its sleeps are to be as short as they are meant.
pub fn prepare_thread() {
    // Where this is refused the system may make them tens of microseconds longer, and that is all.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(TIMER_SLACK_NS));
}

/// The hook of a worker's runtime: its thread has nothing to do and is about to wait for events.
pub fn before_waiting() {
    let mut worker = WORKER.get();
    if std::mem::take(&mut worker.has_worked) {
        WORKER.set(worker);
        if !worker.pace.sleep.is_zero() {
            thread::sleep(worker.pace.sleep);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: Duration = Duration::from_millis(1);

    #[test]
    fn few_clients_wait_for_one_another() {
        assert_eq!(Pace::of(30_000, 1, EPOCH), Pace::IDLE);
        assert_eq!(Pace::of(100, 14, EPOCH), Pace::IDLE);
    }

    #[test]
    fn worker_sleeps_though_little_comes() {
        let sleep = |served, active| Pace::of(served, active, EPOCH).sleep;
        assert_eq!(sleep(0, 0), Duration::ZERO);
        assert_eq!(sleep(20, 1000), Duration::ZERO);
        assert_eq!(sleep(40, 1000), LONGEST);
        assert_eq!(sleep(100, 50), LONGEST);
        assert_eq!(sleep(200, 50), Duration::from_micros(50));
        assert_eq!(sleep(2000, 50), Duration::ZERO);
    }
}

//! Coalescing: a busy worker does a small batch of requests at a time instead of one.
//!
//! A worker that asks for events as soon as it has nothing to do is put to sleep and woken for nearly every request, by
//! an interrupt that its clients' system calls pay for as well; and so are its clients, for nearly every reply.
//! Together that costs about as much as serving the requests. Network cards meet the same with interrupt coalescing.
//! Here, while many connections are active and requests come fast, a worker sleeps for about as long as a small batch
//! of requests takes to come before it asks for events.
//!
//! A batch is a small part of the active connections, so the clients are never all waiting for a worker that sleeps.
//! A few clients alone never wait for one another.

use std::num::NonZeroU64;
use std::thread;
use std::time::Duration;

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

/// The load of a worker.
#[derive(Default)]
pub struct Load {
    epoch_began_ms: u64,
    /// Batches of requests of one connection that were served in this epoch.
    served: u32,
    /// Connections that they came from.
    active: u32,
    /// How many were served since the worker last was about to wait.
    fresh: u32,
    /// The pace that the last epoch decided for this one.
    pace: Pace,
}

/// How a worker waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pace {
    /// How many connections' requests are a batch.
    batch: u32,
    /// How long to sleep before asking for events; zero where sleeping is not worth it.
    sleep: Duration,
}

impl Load {
    /// Counts a batch of requests of a connection, served at this unix time.
    pub fn serves(&mut self, seen: &mut Seen, now_ms: u64) {
        self.look(now_ms);
        self.fresh += 1;
        self.served = self.served.saturating_add(1);
        if seen.0 != self.epoch_began_ms {
            seen.0 = self.epoch_began_ms;
            self.active += 1;
        }
    }

    /// Sleeps before the worker asks for events, if that is worth it. `may_wait` says that no connection has
    /// something to do already. After a whole batch it does not sleep: another one may have come meanwhile.
    pub fn rest(&mut self, may_wait: bool) {
        let fresh = std::mem::take(&mut self.fresh);
        if may_wait && (1..self.pace.batch).contains(&fresh) && !self.pace.sleep.is_zero() {
            thread::sleep(self.pace.sleep);
        }
    }

    /// Begins a new epoch if the present one is over.
    fn look(&mut self, now_ms: u64) {
        let lasted_ms = now_ms.wrapping_sub(self.epoch_began_ms);
        if lasted_ms >= EPOCH_MS {
            // An epoch that lasted long had pauses in it.
            let is_steady = lasted_ms <= 2 * EPOCH_MS;
            let pace = Pace::of(self.served, self.active, Duration::from_millis(lasted_ms));
            let pace = if is_steady { pace } else { Pace::default() };
            *self = Load { epoch_began_ms: now_ms, pace, fresh: self.fresh, ..Load::default() };
        }
    }
}

impl Pace {
    /// The pace after an epoch that `lasted` so long and served so many batches for so many connections.
    fn of(served: u32, active: u32, lasted: Duration) -> Pace {
        let batch = (active / ACTIVE_PER_BATCH).min(BATCH);
        let per_request = lasted / served.max(1);
        if batch < BATCH_LEAST || per_request * BATCH_LEAST > LONGEST {
            return Pace::default();
        }
        let sleep = (per_request * batch).min(LONGEST);
        Pace { batch, sleep: if sleep < SHORTEST { Duration::ZERO } else { sleep } }
    }
}

/// The epoch in which a connection was last counted.
#[derive(Default)]
pub struct Seen(u64);

/// Makes short sleeps of this thread precise; called at its begin.
pub fn prepare_thread() {
    // Where the system refuses this, sleeps may be tens of microseconds longer.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(TIMER_SLACK_NS));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleep_us(served: u32, active: u32) -> u128 {
        Pace::of(served, active, Duration::from_millis(1)).sleep.as_micros()
    }

    #[test]
    fn few_clients_wait_for_one_another() {
        assert_eq!(sleep_us(30_000, 1), 0);
        assert_eq!(sleep_us(100, 14), 0);
    }

    #[test]
    fn worker_sleeps_though_little_comes() {
        assert_eq!(sleep_us(0, 0), 0);
        assert_eq!(sleep_us(20, 1000), 0);
        assert_eq!(sleep_us(40, 1000), LONGEST.as_micros());
        assert_eq!(sleep_us(100, 50), LONGEST.as_micros());
        assert_eq!(sleep_us(200, 50), 50);
        assert_eq!(sleep_us(2000, 50), 0);
    }
}

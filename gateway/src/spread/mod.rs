//! How many workers serve: as many as the load can use.
//!
//! There is a worker for each processor, but one alone is best while it is not full: it makes larger batches, and its work
//! is not spread over caches and switched in and out. So connections live on few workers, and move to more while those
//! are full and processors are idle ([`decision`]). Workers that do not serve sleep; what still comes to their connections they
//! serve once, and give the connection away then ([`order`]).
//!
//! A thread looks some tens of times a second, less often while nothing is to do. Where it cannot learn how many processors
//! are idle, all workers serve.

pub mod decision;
pub mod occupancy;
pub mod order;
pub mod processors;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tracing::{debug, warn};

use self::decision::{Change, Decision, Look};
use self::occupancy::Occupancy;
use self::order::Order;
use self::processors::Processors;
use crate::clock;

/// Between two looks.
const LOOK_PERIOD: Duration = Duration::from_millis(30);

/// The same while next to nothing is to do.
const CALM_PERIOD: Duration = Duration::from_millis(300);

/// Next to nothing: this many workers are occupied.
const CALM: f64 = 0.05;

/// Which workers serve, for all threads.
#[derive(Debug)]
pub struct Spread {
    /// The present order, as [`Order::to_bits`].
    order: AtomicU64,
    workers: AtomicUsize,
    /// Connections that have moved from one worker to another.
    moved: AtomicU64,
    is_held: AtomicBool,
    is_stopping: Mutex<bool>,
    wake: Condvar,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread {
            order: AtomicU64::new(Order::first(1).to_bits()),
            workers: AtomicUsize::new(1),
            moved: AtomicU64::new(0),
            is_held: AtomicBool::new(false),
            is_stopping: Mutex::new(false),
            wake: Condvar::new(),
        }
    }
}

impl Spread {
    /// The present order, for [`order::Part::follow`].
    #[inline]
    pub fn bits(&self) -> u64 {
        self.order.load(Ordering::Relaxed)
    }

    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// How many of them serve: the first ones.
    pub fn serving(&self) -> usize {
        usize::from(Order::from_bits(self.bits()).serving())
    }

    /// How many connections have moved from one worker to another since the start.
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// Counts a connection that moves.
    pub fn note_moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Has so many workers serve from now on, whatever the load is.
    pub fn hold(&self, serving: usize) {
        self.is_held.store(true, Ordering::Relaxed);
        self.change(Change::Serve(serving));
    }

    /// Lets the number follow the load until [`Spread::stop`], by the accounts of all workers and the number of requests
    /// that were served so far.
    pub fn run(&self, workers: &[Arc<Occupancy>], requests: impl Fn() -> u64) {
        let Some(mut processors) = Processors::find() else {
            return self.give_up(workers.len());
        };
        let mut decision = Decision::new(workers.len());
        let mut before = Reading::of(workers, &requests);
        let mut period = LOOK_PERIOD;
        while self.rest(period) {
            if self.is_held.load(Ordering::Relaxed) {
                return;
            }
            let now = Reading::of(workers, &requests);
            let elapsed_ns = now.at_ns.saturating_sub(before.at_ns).max(1);
            let Some(idle) = processors.idle(elapsed_ns as f64 / 1e9) else {
                return self.give_up(workers.len());
            };
            let look = now.since(&before, idle);
            before = now;
            period = if look.occupied.iter().sum::<f64>() < CALM { CALM_PERIOD } else { LOOK_PERIOD };
            if let Some(change) = decision.look(look) {
                debug!(?change, "the load is spread over other workers");
                self.change(change);
            }
        }
    }

    /// Ends [`Spread::run`].
    pub fn stop(&self) {
        *self.is_stopping.lock() = true;
        self.wake.notify_all();
    }

    /// Says how many workers there are, before any of them starts.
    pub fn begin(&self, workers: usize) {
        self.workers.store(workers.max(1), Ordering::Relaxed);
    }

    fn give_up(&self, workers: usize) {
        warn!("the system does not say how many processors are idle, so all threads serve");
        self.hold(workers);
    }

    fn change(&self, change: Change) {
        let order = Order::from_bits(self.bits());
        let number = |worker: usize| u16::try_from(worker).unwrap_or(u16::MAX);
        let next = match change {
            Change::Serve(serving) => order.serve(number(serving.min(self.workers()))),
            Change::Give { giver, taker } => order.give(number(giver), number(taker)),
        };
        self.order.store(next.to_bits(), Ordering::Relaxed);
    }

    /// Waits; false if the thread is to end.
    fn rest(&self, period: Duration) -> bool {
        let mut is_stopping = self.is_stopping.lock();
        if !*is_stopping {
            self.wake.wait_for(&mut is_stopping, period);
        }
        !*is_stopping
    }
}

/// The accounts at one moment.
struct Reading {
    at_ns: u64,
    waited_ns: Vec<u64>,
    requests: u64,
}

impl Reading {
    fn of(workers: &[Arc<Occupancy>], requests: impl Fn() -> u64) -> Reading {
        let at_ns = clock::steady_ns();
        let waited_ns = workers.iter().map(|worker| worker.waited_ns(at_ns)).collect();
        Reading { at_ns, waited_ns, requests: requests() }
    }

    fn since(&self, before: &Reading, idle: f64) -> Look {
        let elapsed_ns = self.at_ns.saturating_sub(before.at_ns).max(1);
        let occupied = |(now_ns, before_ns): (&u64, &u64)| {
            1.0 - (now_ns.saturating_sub(*before_ns) as f64 / elapsed_ns as f64).min(1.0)
        };
        Look {
            elapsed_ms: elapsed_ns / 1_000_000,
            occupied: self.waited_ns.iter().zip(&before.waited_ns).map(occupied).collect(),
            idle,
            // CONFIG RESETSTAT sets the counter back.
            requests: self.requests.saturating_sub(before.requests),
        }
    }
}

//! Transactions that share their requests to the cluster.
//!
//! A request costs much the same whether it is about one key or some dozens: the servers' time goes where requests are made,
//! not where bytes are moved. So only some requests are under way at a time, and what comes meanwhile is part of the next ones. One
//! that comes when few are under way goes at once. `reads` are those of transactions that only read, `writes` those that rest on nothing
//! that was read.

pub(super) mod reads;
pub(super) mod writes;

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::time::timeout;

use crate::clock::whole_ns;

/// A request is slow if it takes so many times as long as others do,
const SLOW_TIMES: u32 = 4;

/// and at least as long as this,
const SLOW_MIN: Duration = Duration::from_millis(20);

/// or if it takes as long as this.
const SLOW_MAX: Duration = Duration::from_millis(500);

/// How long requests take at present: each new one counts for a sixteenth.
#[derive(Default)]
struct Usual(AtomicU64);

impl Usual {
    /// A request took so long.
    fn note(&self, took: Duration) {
        let took_ns = whole_ns(took);
        // Of two at once one may be lost.
        let before_ns = self.0.load(Ordering::Relaxed);
        self.0.store(before_ns - before_ns / 16 + took_ns / 16, Ordering::Relaxed);
    }

    /// After how long a request is slow: those that are do not keep others waiting.
    fn slow(&self) -> Duration {
        (Duration::from_nanos(self.0.load(Ordering::Relaxed)) * SLOW_TIMES).clamp(SLOW_MIN, SLOW_MAX)
    }
}

/// The tasks that run rounds. Each takes what waits when it begins one.
#[derive(Default)]
struct Tasks {
    count: usize,
    /// Whether one has begun that will take what waits.
    is_called: bool,
}

impl Tasks {
    /// Whether another one is to be started, of at most so many: something waits, and nobody will take it.
    fn starts(&mut self, max: usize) -> bool {
        let starts = !self.is_called && self.count < max;
        if starts {
            self.is_called = true;
            self.count += 1;
        }
        starts
    }
}

/// Requests of one kind that share rounds.
trait Rounds: Clone + Send + Sync + 'static {
    /// One that waits. Dropped, it has its end.
    type One: Send;

    /// Those of the next round, and whether another task is to be started for those that are left. None if nobody waits, and then
    /// the task ends.
    fn take(&self) -> Option<(Vec<Self::One>, bool)>;

    /// Since when one waits.
    fn since(one: &Self::One) -> Instant;

    /// One has its end after so long, whatever it waits for.
    fn limit(&self) -> Duration;

    fn usual(&self) -> &Usual;

    /// Asks the cluster for all of them.
    fn round(self, taken: Vec<Self::One>) -> impl Future<Output = ()> + Send;
}

/// A task that runs rounds as long as anybody waits.
fn run<R: Rounds>(rounds: R) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        while let Some((taken, starts)) = rounds.take() {
            if starts {
                tokio::spawn(run(rounds.clone()));
            }
            let waited = taken.iter().map(R::since).min().map_or(Duration::ZERO, |oldest| oldest.elapsed());
            // The client panics on some answers. All have their end all the same.
            let round = AssertUnwindSafe(rounds.clone().round(taken)).catch_unwind();
            let mut round = Box::pin(timeout(rounds.limit().saturating_sub(waited), round));
            if timeout(rounds.usual().slow(), &mut round).await.is_err() {
                tokio::spawn(round);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_that_became_slower_is_given_up_each_time() {
        let usual = Usual::default();
        assert_eq!(usual.slow(), SLOW_MIN);
        (0..100).for_each(|_| usual.note(Duration::from_millis(1)));
        assert_eq!(usual.slow(), SLOW_MIN);
        (0..40).for_each(|_| usual.note(Duration::from_millis(30)));
        assert!(usual.slow() > Duration::from_millis(100));
        (0..100).for_each(|_| usual.note(Duration::from_secs(10)));
        assert_eq!(usual.slow(), SLOW_MAX);
        (0..100).for_each(|_| usual.note(Duration::from_millis(1)));
        assert!(usual.slow() < SLOW_MIN * 4);
    }
}

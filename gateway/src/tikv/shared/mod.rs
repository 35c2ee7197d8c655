//! Transactions that share their requests to the cluster.
//!
//! A request costs much the same whether it is about one key or some dozens: the servers' time goes where requests are made,
//! not where bytes are moved. So only some requests are under way at a time, and what comes meanwhile is part of the next ones. One
//! that comes when few are under way goes at once. `reads` are those of transactions that only read, `writes` those that rest on nothing
//! that was read.

pub(super) mod reads;
pub(super) mod writes;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

/// What is left of a limit for those that have waited since then.
fn left(limit: Duration, since: impl Iterator<Item = Instant>) -> Duration {
    limit.saturating_sub(since.min().map_or(Duration::ZERO, |oldest| oldest.elapsed()))
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

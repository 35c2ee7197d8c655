//! How long the cluster takes to answer, and since when it does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use edgecask_core::ordered::cluster::ClusterError;
use edgecask_core::server::Histogram;

use crate::clock::{whole_ms, whole_ns};

/// Called with the end of a request.
pub(super) type Done<T> = Box<dyn FnOnce(Result<T, ClusterError>) + Send>;

/// The requests of one kind.
#[derive(Default)]
pub(super) struct Latency {
    took: Histogram,
    count: AtomicU64,
    sum_ns: AtomicU64,
}

impl Latency {
    /// The mean and the 99th percentile in microseconds.
    pub(super) fn facts_us(&self) -> (u64, u64) {
        let count = self.count.load(Ordering::Relaxed).max(1);
        let mean_ns = self.sum_ns.load(Ordering::Relaxed) / count;
        (mean_ns / 1000, self.took.percentile(99.0) / 1000)
    }

    fn note(&self, took: Duration) {
        let took_ns = whole_ns(took);
        self.took.add(took_ns, 1);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(took_ns, Ordering::Relaxed);
    }
}

/// What was seen of the cluster.
pub(super) struct Observed {
    pub(super) reads: Latency,
    pub(super) writes: Latency,
    started: Instant,
    /// When the first request began that was not answered, since the last answer: milliseconds since `started` and one more. 0 while
    /// the cluster answers.
    silent_since_ms: AtomicU64,
}

impl Default for Observed {
    fn default() -> Observed {
        Observed {
            reads: Latency::default(),
            writes: Latency::default(),
            started: Instant::now(),
            silent_since_ms: AtomicU64::new(0),
        }
    }
}

impl Observed {
    /// How long the cluster has not answered; None while it does.
    pub(super) fn silent_for(&self) -> Option<Duration> {
        let since_ms = self.silent_since_ms.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.started.elapsed().saturating_sub(Duration::from_millis(since_ms)))
    }

    /// Notes how a request that began then has ended.
    fn note<T>(&self, began: Instant, outcome: &Result<T, ClusterError>) {
        match outcome {
            Err(ClusterError::Unavailable(_) | ClusterError::Moved(_) | ClusterError::Unknown(_)) => {
                let since_ms = whole_ms(began.saturating_duration_since(self.started)).saturating_add(1);
                // An earlier one counts.
                let _ =
                    self.silent_since_ms.compare_exchange(0, since_ms, Ordering::Relaxed, Ordering::Relaxed);
            }
            _ => self.silent_since_ms.store(0, Ordering::Relaxed),
        }
    }

    /// The same call, which notes how long it took before it happens.
    pub(super) fn timed<T: 'static>(
        self: &Arc<Self>,
        of: fn(&Observed) -> &Latency,
        done: Done<T>,
    ) -> Done<T> {
        let (observed, began) = (self.clone(), Instant::now());
        Box::new(move |outcome| {
            of(&observed).note(began.elapsed());
            observed.note(began, &outcome);
            done(outcome);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_that_is_gone_counts_as_there() {
        let observed = Arc::new(Observed::default());
        let end = |outcome: Result<(), ClusterError>| {
            observed.timed(|observed| &observed.reads, Box::new(|_| {}))(outcome);
        };
        let gone = || Err(ClusterError::Unavailable("no answer in time".into()));
        assert_eq!(observed.silent_for(), None);
        end(gone());
        let begin = observed.silent_since_ms.load(Ordering::Relaxed);
        end(gone());
        assert!(observed.silent_for().is_some());
        assert_eq!(observed.silent_since_ms.load(Ordering::Relaxed), begin);
        end(Err(ClusterError::Conflict("another one".into())));
        assert_eq!(observed.silent_for(), None, "it has answered");
        assert_eq!(observed.reads.count.load(Ordering::Relaxed), 3);
    }
}

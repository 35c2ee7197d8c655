//! How many calls took how long: counts in buckets that are an eighth of a power of two wide.
//!
//! ```text
//!  0            1 024        2 048        4 096 ns           2^30 ns
//!  | one bucket | 8 buckets  | 8 buckets  | …                | all that is longer belongs to the last
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

/// Everything below 2^10 ns is one bucket: Redis shows microseconds.
const FIRST_POWER: u32 = 10;

/// Redis' histograms end at one second.
const LAST_POWER: u32 = 30;

/// Buckets of a power of two.
const PARTS: usize = 8;

const BUCKETS: usize = 1 + (LAST_POWER - FIRST_POWER) as usize * PARTS;

/// The histogram of one command.
#[derive(Debug)]
pub struct Histogram([AtomicU64; BUCKETS]);

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Histogram {
    /// Adds `calls` calls that took so long each.
    pub fn add(&self, took_ns: u64, calls: u64) {
        if let Some(bucket) = self.0.get(bucket_of(took_ns)) {
            bucket.fetch_add(calls, Ordering::Relaxed);
        }
    }

    /// Number of calls.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum()
    }

    /// Sets all counts to zero.
    pub(crate) fn reset(&self) {
        self.0.iter().for_each(|bucket| bucket.store(0, Ordering::Relaxed));
    }

    /// The time in nanoseconds within which so many calls of a hundred were done.
    pub fn percentile(&self, percent: f64) -> u64 {
        let total = self.total();
        let wanted = ((percent.clamp(0.0, 100.0) / 100.0) * total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (at, bucket) in self.0.iter().enumerate() {
            seen += bucket.load(Ordering::Relaxed);
            if seen >= wanted.min(total) && seen > 0 {
                return end_of(at) - 1;
            }
        }
        0
    }

    /// What LATENCY HISTOGRAM shows: microseconds, each a power of two of 1024 ns, and how many calls took no longer.
    /// Powers in which there was no call are left out.
    pub fn by_powers(&self) -> Vec<(u64, u64)> {
        let mut shown = Vec::new();
        let (mut cumulated, mut before) = (0, 0);
        for (at, bucket) in self.0.iter().enumerate() {
            cumulated += bucket.load(Ordering::Relaxed);
            if at % PARTS == 0 && cumulated > before {
                shown.push((shown_us(FIRST_POWER + (at / PARTS) as u32), cumulated));
                before = cumulated;
            }
        }
        shown
    }
}

/// The microseconds that Redis prints for a power of two of nanoseconds: its buckets hold two digits, and it names the
/// largest number in one.
fn shown_us(power: u32) -> u64 {
    ((1 << power) + (1 << (power - 7)) - 1) / 1000
}

fn bucket_of(took_ns: u64) -> usize {
    if took_ns < 1 << FIRST_POWER {
        return 0;
    }
    let power = took_ns.ilog2();
    if power >= LAST_POWER {
        return BUCKETS - 1;
    }
    let part = (took_ns >> (power - 3)) as usize & (PARTS - 1);
    1 + (power - FIRST_POWER) as usize * PARTS + part
}

/// The first time in nanoseconds that is too long for a bucket.
fn end_of(bucket: usize) -> u64 {
    let Some(at) = bucket.checked_sub(1) else { return 1 << FIRST_POWER };
    let power = FIRST_POWER + (at / PARTS) as u32;
    (1 << power) + ((at % PARTS) as u64 + 1) * (1 << (power - 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_is_counted_in_another_bucket() {
        for took_ns in (0..2_000_000).step_by(7).chain([1 << 29, (1 << 30) - 1]) {
            let bucket = bucket_of(took_ns);
            let begin = bucket.checked_sub(1).map_or(0, end_of);
            assert!((begin..end_of(bucket)).contains(&took_ns), "{took_ns} in {bucket}");
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn histogram_reads_other_than_in_redis() {
        let histogram = Histogram::default();
        for (took_ns, calls) in [(500, 10), (1_500, 5), (20_000, 3), (5_000_000_000, 1)] {
            histogram.add(took_ns, calls);
        }
        // The ends of the powers that redis-server prints.
        assert_eq!(histogram.by_powers(), [(1, 10), (2, 15), (33, 18), (1_082_130, 19)]);
        assert_eq!([10, 15, 16, 24].map(shown_us), [1, 33, 66, 16_908]);
        assert_eq!(histogram.percentile(50.0), 1023);
        assert!((20_000..21_000).contains(&histogram.percentile(90.0)));
        histogram.reset();
        assert_eq!((histogram.total(), histogram.by_powers()), (0, vec![]));
    }
}

//! How much of its time a worker was occupied: running, waiting for a processor, for a lock or for the disk, but not for events.

use std::sync::atomic::{AtomicU64, Ordering};

/// The account of one worker, which alone writes to it; on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Occupancy {
    /// Nanoseconds for which it has waited for events.
    waited_ns: AtomicU64,
    /// Since when it waits, as a steady time in nanoseconds; 0 if it does not.
    waits_since_ns: AtomicU64,
}

impl Occupancy {
    /// The worker begins to wait at this steady time.
    #[inline]
    pub fn begin_wait(&self, now_ns: u64) {
        self.waits_since_ns.store(now_ns, Ordering::Relaxed);
    }

    /// It waits no longer, if it did.
    #[inline]
    pub fn end_wait(&self, now_ns: u64) {
        let since_ns = self.waits_since_ns.load(Ordering::Relaxed);
        if since_ns != 0 {
            let waited_ns = self.waited_ns.load(Ordering::Relaxed) + now_ns.saturating_sub(since_ns);
            self.waited_ns.store(waited_ns, Ordering::Relaxed);
            self.waits_since_ns.store(0, Ordering::Relaxed);
        }
    }

    /// For how long it has waited until now, the present wait included. Read in the middle of a change this may be too much by
    /// one wait.
    pub fn waited_ns(&self, now_ns: u64) -> u64 {
        let since_ns = self.waits_since_ns.load(Ordering::Relaxed);
        let present_ns = if since_ns == 0 { 0 } else { now_ns.saturating_sub(since_ns) };
        self.waited_ns.load(Ordering::Relaxed) + present_ns
    }
}

#[cfg(test)]
mod tests {
    use super::Occupancy;

    #[test]
    fn long_wait_counts_only_when_it_ends() {
        let occupancy = Occupancy::default();
        occupancy.end_wait(50);
        assert_eq!(occupancy.waited_ns(60), 0);
        occupancy.begin_wait(100);
        assert_eq!(occupancy.waited_ns(130), 30);
        occupancy.end_wait(150);
        assert_eq!(occupancy.waited_ns(900), 50);
        occupancy.begin_wait(1000);
        assert_eq!(occupancy.waited_ns(1010), 60);
    }
}

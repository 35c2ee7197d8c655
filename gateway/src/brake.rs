//! The brake on writers: it slows them down before the log takes much more room than what lives in it.
//!
//! Overwritten records take room until merge has been over their datafiles. A client that overwrites faster than that would
//! fill the disk, so from a certain debt on the replies to writes are held back for a moment. The more dead bytes there are,
//! the longer; but writers never stop, because half the speed at which merge frees is always theirs. Reads are not slowed.
//!
//! [`Brake::observe`] sets a speed, in the manner of RocksDB's write stalls, and [`Brake::hold_until_ms`] lets all connections
//! together write at that speed.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::clock::steady_ms;
use crate::store::{Durable, Maintain};

/// Dead bytes that slow nobody down, beside a part of the live ones: two datafiles of a small store.
const FREE_DEBT_BYTES: u64 = 128 * 1024 * 1024;

/// The same as a part of the live bytes, in eighths.
const FREE_DEBT_EIGHTHS: u64 = 5;

/// With so many dead bytes writers are as slow as they ever become. Together with what a merge under way takes, the log stays
/// below two and a half times what lives in it.
const WORST_DEBT_BYTES: u64 = 192 * 1024 * 1024;

/// The same as a part of the live bytes, in eighths.
const WORST_DEBT_EIGHTHS: u64 = 8;

/// The speed, in bytes a second, at which the brake begins: no slower than a disk takes it.
const BEGIN_SPEED: f64 = 1e9;

/// The slowest speed in bytes a second.
const LEAST_SPEED: f64 = 8e6;

/// Replies are held for at most this long, so that no client takes the server for dead.
const HOLD_MAX_MS: u64 = 1000;

/// The speed is set anew after so many bytes, however busy maintenance is.
const OBSERVED_EVERY_BYTES: u64 = 8 * 1024 * 1024;

/// Weight of the newest measurement of merge's speed.
const NEWEST_WEIGHT: f64 = 0.2;

/// See the module.
#[derive(Debug, Default)]
pub struct Brake {
    /// Nanoseconds that a mebibyte takes; 0 while nobody is slowed.
    ns_per_mib: AtomicU64,
    /// When what was written so far is paid for: a steady time in microseconds.
    paid_us: AtomicU64,
    /// The bytes that were appended to the log when the speed was last set.
    observed_bytes: AtomicU64,
    merge: Mutex<Merge>,
}

/// How fast merge frees.
#[derive(Debug, Default)]
struct Merge {
    last: Option<Debt>,
    bytes_per_s: f64,
}

/// What there is at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Debt {
    /// Bytes of all datafiles.
    pub used_bytes: u64,
    /// Those of them that are in use.
    pub live_bytes: u64,
    /// Bytes that were appended to the log since the start.
    pub appended_bytes: u64,
    /// When: a steady time in milliseconds.
    pub now_ms: u64,
}

impl Brake {
    /// Whether writers are slowed.
    pub fn is_on(&self) -> bool {
        self.ns_per_mib.load(Ordering::Relaxed) > 0
    }

    /// Whether so much was appended since the speed was set that it must be set anew.
    #[inline]
    pub fn is_outdated(&self, appended_bytes: u64) -> bool {
        appended_bytes > self.observed_bytes.load(Ordering::Relaxed) + OBSERVED_EVERY_BYTES
    }

    /// Sets the speed by what there is now; to be called a few times a second at least.
    pub fn observe(&self, debt: Debt) {
        self.observed_bytes.fetch_max(debt.appended_bytes, Ordering::Relaxed);
        let merge_speed = self.merge.lock().measure(debt);
        let ns_per_mib = match debt.share() {
            share if share <= 0.0 => 0,
            share => {
                let free = (1.0 - share.min(1.0)).powi(3);
                let speed = BEGIN_SPEED * free + (merge_speed / 2.0).max(LEAST_SPEED);
                (1e9 * 1024.0 * 1024.0 / speed) as u64
            }
        };
        self.ns_per_mib.store(ns_per_mib, Ordering::Relaxed);
    }

    /// Charges a connection for bytes that it wrote; returns until when its replies are held, a steady time, if they are.
    pub fn hold_until_ms(&self, bytes: u64, now_ms: u64) -> Option<u64> {
        let ns_per_mib = self.ns_per_mib.load(Ordering::Relaxed);
        if ns_per_mib == 0 {
            return None;
        }
        let cost_us =
            u64::try_from((u128::from(bytes) * u128::from(ns_per_mib)) >> 20).unwrap_or(u64::MAX) / 1000;
        let now_us = now_ms.saturating_mul(1000);
        let pay = |paid_us: u64| Some(paid_us.max(now_us).saturating_add(cost_us));
        let before = self.paid_us.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).unwrap_or(now_us);
        let until_ms = before.max(now_us).saturating_add(cost_us) / 1000;
        (until_ms > now_ms).then(|| until_ms.min(now_ms + HOLD_MAX_MS))
    }
}

impl Debt {
    /// What there is in a store now.
    pub fn of(store: &(impl Maintain + Durable)) -> Debt {
        let (used_bytes, live_bytes) = store.space();
        Debt { used_bytes, live_bytes, appended_bytes: store.appended(), now_ms: steady_ms() }
    }

    /// How far between the debt that slows nobody down and the worst one: 0 or less to 1 or more.
    fn share(&self) -> f64 {
        let live = self.live_bytes;
        let begin = FREE_DEBT_BYTES.max(live / 8 * FREE_DEBT_EIGHTHS);
        let worst = WORST_DEBT_BYTES.max(live / 8 * WORST_DEBT_EIGHTHS);
        let dead = self.used_bytes.saturating_sub(live);
        (dead as f64 - begin as f64) / (worst - begin) as f64
    }
}

impl Merge {
    /// Bytes a second that merge has freed lately.
    fn measure(&mut self, debt: Debt) -> f64 {
        let Some(last) = self.last else {
            self.last = Some(debt);
            return 0.0;
        };
        let elapsed_ms = debt.now_ms.saturating_sub(last.now_ms);
        if elapsed_ms >= 100 {
            let appended = debt.appended_bytes.saturating_sub(last.appended_bytes);
            let freed = (last.used_bytes + appended).saturating_sub(debt.used_bytes);
            let now = freed as f64 * 1000.0 / elapsed_ms as f64;
            self.bytes_per_s += (now - self.bytes_per_s) * NEWEST_WEIGHT;
            self.last = Some(debt);
        }
        self.bytes_per_s
    }
}

#[cfg(test)]
mod tests {
    use super::{Brake, Debt};

    const MIB: u64 = 1024 * 1024;

    fn debt(used_mib: u64, live_mib: u64) -> Debt {
        Debt { used_bytes: used_mib * MIB, live_bytes: live_mib * MIB, appended_bytes: 0, now_ms: 1 }
    }

    /// Milliseconds that one connection needs for so many mebibytes, a few kilobytes at a time.
    fn takes_ms(brake: &Brake, mib: u64) -> u64 {
        let mut now_ms = 1000;
        for _ in 0..mib * 16 {
            now_ms = brake.hold_until_ms(MIB / 16, now_ms).unwrap_or(now_ms);
        }
        now_ms - 1000
    }

    #[test]
    fn writers_are_slowed_without_debt() {
        let brake = Brake::default();
        for (used, live) in [(0, 0), (120, 0), (300, 200), (3200, 2000)] {
            brake.observe(debt(used, live));
            assert!(!brake.is_on() && takes_ms(&brake, 100) == 0, "{used} {live}");
        }
    }

    #[test]
    fn writers_outrun_merge() {
        let mut before = 0;
        for used in [330, 350, 370, 385, 400, 500, 5000] {
            let brake = Brake::default();
            brake.observe(debt(used, 200));
            let now = takes_ms(&brake, 64);
            assert!(now >= before && now > 40, "{used}: {now} after {before}");
            assert!(now < 20_000, "{used}: never a stop");
            before = now;
        }
        assert!(before > 5000, "{before}");
    }

    #[test]
    fn flush_stops_writers() {
        let brake = Brake::default();
        for second in 0..20 {
            // Merge frees 500 MiB a second of ten gigabytes that were flushed.
            let now_ms = second * 1000;
            brake.observe(Debt { now_ms, ..debt(10_000 - second * 500, 1) });
        }
        let now = takes_ms(&brake, 256);
        assert!(now < 1500, "{now}");
    }
}

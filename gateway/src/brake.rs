//! The brake on writers: it slows them down before the log takes much more room than what lives in it.
//!
//! Overwritten records take room until merge has been over their datafiles. A client that overwrites faster than that would
//! fill the disk, so from a certain debt on connections that write rest after they did. The more dead bytes there are,
//! the longer; but writers never stop, because half the speed at which merge frees is always theirs. Reads of other connections
//! are not slowed.
//!
//! [`Brake::observe`] sets a speed, in the manner of RocksDB's write stalls. [`Brake::charge`] lets all connections together
//! append that many bytes to the log: bytes of records, not of requests, because a short APPEND may write a long value anew.
//! A connection that rests is neither read nor run, and its replies leave after a second at the latest.

use std::sync::atomic::{AtomicU64, Ordering};

use edgecask_core::limits::LOGGED_PAUSE_BYTES;
use parking_lot::Mutex;

use crate::clock::steady_ms;
use crate::store::{Durable, Maintain};

/// Dead bytes that slow nobody down, beside a part of the live ones: two datafiles of a small store.
const FREE_DEBT_BYTES: u64 = 128 * 1024 * 1024;

/// The same as a part of the live bytes, in eighths.
const FREE_DEBT_EIGHTHS: u64 = 5;

/// With so many dead bytes writers are as slow as they ever become. Together with what a merge under way takes, the log stays
/// below two and a half times what lives in it.
const WORST_DEBT_BYTES: u64 = 176 * 1024 * 1024;

/// The same as a part of the live bytes, in eighths.
const WORST_DEBT_EIGHTHS: u64 = 7;

/// The speed, in bytes a second, at which the brake begins: no slower than a disk takes it.
const BEGIN_SPEED: f64 = 1e9;

/// The slowest speed in bytes a second.
const LEAST_SPEED: f64 = 8e6;

/// Replies are held for at most this long, so that no client takes the server for dead.
const HOLD_MAX_MS: u64 = 1000;

/// What all connections together have written is paid for within this time. It bounds how long one that has written
/// much at once rests, and nothing older is held against later writers.
const DEBT_MAX_MS: u64 = 10_000;

/// A connection that has written next to nothing rests no longer than this behind those that have written much.
const SMALL_REST_MS: u64 = 4;

/// While the brake is on the turns of all connections together are to take about so long.
const TURNS_MS: u64 = 250;

/// But a turn may append so many bytes in any case: fewer would cost more in turns than it saves.
const TURN_LEAST_BYTES: u64 = 16 * 1024;

/// The speed is set anew after so many bytes, however busy maintenance is.
const OBSERVED_EVERY_BYTES: u64 = 8 * 1024 * 1024;

/// Weight of the newest measurement of merge's speed.
const NEWEST_WEIGHT: f64 = 0.2;

/// See the module.
#[derive(Debug, Default)]
pub struct Brake {
    /// Nanoseconds that a mebibyte takes; 0 while nobody is slowed.
    ns_per_mib: AtomicU64,
    /// When what was written so far is paid for: a steady time in nanoseconds.
    paid_ns: AtomicU64,
    /// Connections that rest now.
    resting: AtomicU64,
    /// The bytes that were appended to the log when the speed was last set.
    observed_bytes: AtomicU64,
    merge: Mutex<Merge>,
}

/// How long a connection rests that has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Until when its replies are held: a steady time in milliseconds.
    pub held_until_ms: u64,
    /// Until when it is neither read nor run, which is no earlier.
    pub until_ms: u64,
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
        if ns_per_mib == 0 {
            self.paid_ns.store(0, Ordering::Relaxed);
        }
    }

    /// Bytes a second that all connections together may append to the log; none while nobody is slowed.
    pub fn speed(&self) -> Option<u64> {
        match self.ns_per_mib.load(Ordering::Relaxed) {
            0 => None,
            ns_per_mib => Some(1_000_000_000 * 1024 * 1024 / ns_per_mib),
        }
    }

    /// Connections that rest now.
    pub fn resting(&self) -> u64 {
        self.resting.load(Ordering::Relaxed)
    }

    /// A connection begins to rest.
    pub fn begin_rest(&self) {
        self.resting.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection rests no more.
    pub fn end_rest(&self) {
        self.resting.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many bytes one turn of a connection may append to the log before it pauses.
    #[inline]
    pub fn turn_bytes(&self) -> u64 {
        match self.ns_per_mib.load(Ordering::Relaxed) {
            0 => LOGGED_PAUSE_BYTES,
            ns_per_mib => {
                let all = TURNS_MS * 1_000_000 * 1024 * 1024 / ns_per_mib;
                (all / (self.resting() + 1)).clamp(TURN_LEAST_BYTES, LOGGED_PAUSE_BYTES)
            }
        }
    }

    /// Charges a connection for bytes that it has appended to the log; returns how long it rests, if it does.
    pub fn charge(&self, bytes: u64, now_ms: u64) -> Option<Rest> {
        let ns_per_mib = self.ns_per_mib.load(Ordering::Relaxed);
        if ns_per_mib == 0 || bytes == 0 {
            return None;
        }
        let cost_ns = u64::try_from((u128::from(bytes) * u128::from(ns_per_mib)) >> 20).unwrap_or(u64::MAX);
        let now_ns = now_ms.saturating_mul(1_000_000);
        let worst_ns = now_ns.saturating_add(DEBT_MAX_MS * 1_000_000);
        let paid = |paid_ns: u64| paid_ns.max(now_ns).saturating_add(cost_ns).min(worst_ns);
        let before =
            self.paid_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |paid_ns| Some(paid(paid_ns)));
        // The share of one that writes little is paid for before all the others are.
        let share_ns = cost_ns.saturating_mul(self.resting() + 1).max(SMALL_REST_MS * 1_000_000);
        let until_ns = paid(before.unwrap_or(now_ns)).min(now_ns.saturating_add(share_ns));
        let until_ms = until_ns / 1_000_000;
        (until_ms > now_ms).then(|| Rest { held_until_ms: until_ms.min(now_ms + HOLD_MAX_MS), until_ms })
    }
}

impl Debt {
    /// What there is in a store now.
    pub fn of(store: &(impl Maintain + Durable)) -> Debt {
        let (used_bytes, live_bytes) = store.space();
        Debt { used_bytes, live_bytes, appended_bytes: store.appended(), now_ms: steady_ms() }
    }

    /// Whether writers are slowed down soon unless something is merged.
    pub fn is_near(&self) -> bool {
        let begin = FREE_DEBT_BYTES.max(self.live_bytes / 8 * FREE_DEBT_EIGHTHS);
        self.used_bytes.saturating_sub(self.live_bytes) > begin / 2
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
            now_ms = brake.charge(MIB / 16, now_ms).map_or(now_ms, |rest| rest.until_ms);
        }
        now_ms - 1000
    }

    /// A brake at its slowest: some megabytes a second.
    fn slowest() -> Brake {
        let brake = Brake::default();
        brake.observe(debt(5000, 200));
        brake
    }

    /// Mebibytes a second that so many connections append, each of them a turn whenever it does not rest.
    fn speed_of(brake: &Brake, connections: usize) -> f64 {
        const SECONDS: u64 = 20;
        let (mut bytes, mut until_ms) = (0, vec![0; connections]);
        for now_ms in 1000..1000 + SECONDS * 1000 {
            for until_ms in &mut until_ms {
                if *until_ms > now_ms {
                    continue;
                }
                if std::mem::take(until_ms) > 0 {
                    brake.end_rest();
                }
                let turn = brake.turn_bytes();
                bytes += turn;
                if let Some(rest) = brake.charge(turn, now_ms) {
                    *until_ms = rest.until_ms;
                    brake.begin_rest();
                }
            }
        }
        bytes as f64 / MIB as f64 / SECONDS as f64
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
    fn merge_rests_until_writers_are_slowed() {
        for (used, live, is_near) in
            [(0, 0, false), (60, 0, false), (260, 200, false), (270, 200, true), (3200, 2000, true)]
        {
            assert_eq!(debt(used, live).is_near(), is_near, "{used} {live}");
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

    #[test]
    fn many_connections_outrun_the_brake() {
        for connections in [1, 2, 10, 100, 1000] {
            let speed = speed_of(&slowest(), connections);
            assert!((5.0..12.0).contains(&speed), "{connections} connections: {speed} MiB/s");
        }
    }

    #[test]
    fn old_debt_is_held_against_later_writers() {
        let brake = slowest();
        for _ in 0..1000 {
            brake.charge(100 * MIB, 5000);
        }
        let rest = brake.charge(100 * MIB, 5000).expect("it writes too fast");
        assert!(rest.held_until_ms <= 6000 && rest.until_ms <= 15_000, "{rest:?}");
        // One that writes little beside them hardly rests.
        let rest = brake.charge(10, 5000).expect("all do");
        assert!(rest.until_ms <= 5010, "{rest:?}");
        // Merge has caught up.
        brake.observe(debt(210, 200));
        assert_eq!(brake.charge(MIB, 5001), None);
        brake.observe(debt(5000, 200));
        let rest = brake.charge(MIB / 100, 5002).expect("it writes too fast");
        assert!(rest.until_ms < 5010, "{rest:?}");
    }
}

//! `maxmemory` and the settings around it, as every command reads them.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use super::memory_text::parse_memory;
use crate::engine::{Decay, Touch};

/// The words of `maxmemory-policy`, in Redis' order.
pub const POLICIES: &[&str] = &[
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl",
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "noeviction",
];

/// The first of [`POLICIES`] that is about all keys.
const FIRST_OF_ALL_KEYS: u8 = 4;
const NO_EVICTION: u8 = 7;

/// Which keys make room for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Only keys with an expiry go.
    pub only_expiring: bool,
    /// Which of them go first.
    pub first: First,
}

/// The order in which keys are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// Those that were not used for longest.
    LeastRecent,
    /// Those that are used least often.
    LeastFrequent,
    /// Any.
    Random,
    /// Those that would expire next.
    SoonestExpired,
}

/// The settings about memory.
#[derive(Debug, Default)]
pub struct MemorySettings {
    maxmemory: AtomicU64,
    /// The place of the policy in [`POLICIES`].
    policy: AtomicU8,
    counts_uses: AtomicBool,
    samples: AtomicU32,
    tenacity: AtomicU8,
    log_factor: AtomicU32,
    decay_minutes: AtomicU32,
    /// `maxmemory-clients` in bytes; a percentage of `maxmemory` if negative, as Redis keeps it.
    clients: AtomicI64,
}

impl MemorySettings {
    /// Takes over the text of a setting, if it is one of these.
    pub(super) fn change(&self, name: &str, text: &str) {
        let number = || text.parse::<u32>().unwrap_or(0);
        match name {
            "maxmemory" => self.maxmemory.store(parse_memory(text).unwrap_or(0), Ordering::Relaxed),
            "maxmemory-policy" => {
                let at = POLICIES.iter().position(|word| *word == text);
                let at = at.and_then(|at| u8::try_from(at).ok()).unwrap_or(NO_EVICTION);
                self.policy.store(at, Ordering::Relaxed);
                let is_counted = self.policy().is_some_and(|policy| policy.first == First::LeastFrequent);
                self.counts_uses.store(is_counted, Ordering::Relaxed);
            }
            "maxmemory-samples" => self.samples.store(number(), Ordering::Relaxed),
            "maxmemory-eviction-tenacity" => {
                self.tenacity.store(u8::try_from(number()).unwrap_or(u8::MAX), Ordering::Relaxed);
            }
            "lfu-log-factor" => self.log_factor.store(number(), Ordering::Relaxed),
            "lfu-decay-time" => self.decay_minutes.store(number(), Ordering::Relaxed),
            "maxmemory-clients" => {
                let limit = match text.strip_suffix('%') {
                    Some(percent) => -percent.parse::<i64>().unwrap_or(0),
                    None => parse_memory(text).and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(0),
                };
                self.clients.store(limit, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// `maxmemory` in bytes; 0 for no limit.
    #[inline]
    pub fn max_bytes(&self) -> u64 {
        self.maxmemory.load(Ordering::Relaxed)
    }

    /// `maxmemory-clients` in bytes; 0 for no limit.
    #[inline]
    pub fn clients_max_bytes(&self) -> u64 {
        match self.clients.load(Ordering::Relaxed) {
            percent @ ..0 => (u128::from(self.max_bytes()) * u128::from(percent.unsigned_abs()) / 100) as u64,
            bytes => bytes.unsigned_abs(),
        }
    }

    /// `maxmemory-policy`; None for `noeviction`.
    pub fn policy(&self) -> Option<Policy> {
        let at = self.policy.load(Ordering::Relaxed);
        let first = match at % FIRST_OF_ALL_KEYS {
            0 => First::LeastRecent,
            1 => First::LeastFrequent,
            2 => First::Random,
            _ => First::SoonestExpired,
        };
        (at < NO_EVICTION).then_some(Policy { only_expiring: at < FIRST_OF_ALL_KEYS, first })
    }

    /// Whether keys have a counter of uses instead of the time of the last one.
    #[inline]
    pub fn counts_uses(&self) -> bool {
        self.counts_uses.load(Ordering::Relaxed)
    }

    /// `maxmemory-samples`: keys that are looked at for each that goes.
    pub fn samples(&self) -> usize {
        self.samples.load(Ordering::Relaxed) as usize
    }

    /// How long one command may evict keys, from `maxmemory-eviction-tenacity` by Redis' formula: 50 µs for each of the
    /// first ten, then 15 % more for each.
    pub fn eviction_time(&self) -> Duration {
        match self.tenacity.load(Ordering::Relaxed) {
            few @ 0..=10 => Duration::from_micros(50 * u64::from(few)),
            some @ ..100 => Duration::from_secs_f64(500e-6 * 1.15_f64.powi(i32::from(some) - 10)),
            _ => Duration::MAX,
        }
    }

    /// How the counters of keys fall.
    pub fn decay(&self, now_ms: u64) -> Decay {
        Decay::until(now_ms, self.decay_minutes.load(Ordering::Relaxed))
    }

    /// How a use of a key is noted.
    #[inline]
    pub fn touch(&self, now_ms: u64, random: impl FnOnce() -> u32) -> Touch {
        if !self.counts_uses() {
            return Touch::clock(now_ms);
        }
        Touch::counted(self.decay(now_ms), self.log_factor.load(Ordering::Relaxed), random())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_is_taken_for_another() {
        let settings = MemorySettings::default();
        let policy = |word: &str| {
            settings.change("maxmemory-policy", word);
            settings.policy().map(|policy| (policy.only_expiring, policy.first))
        };
        let orders = [First::LeastRecent, First::LeastFrequent, First::Random, First::SoonestExpired];
        for (word, first) in POLICIES.iter().zip(orders.into_iter().cycle()).take(7) {
            assert_eq!(policy(word), Some((word.starts_with("volatile"), first)), "{word}");
            assert_eq!(settings.counts_uses(), word.ends_with("lfu"), "{word}");
        }
        assert_eq!(policy("noeviction"), None);
    }

    #[test]
    fn limit_of_clients_is_not_what_the_text_says() {
        let settings = MemorySettings::default();
        let limit = |maxmemory: &str, clients: &str| {
            settings.change("maxmemory", maxmemory);
            settings.change("maxmemory-clients", clients);
            settings.clients_max_bytes()
        };
        assert_eq!(limit("0", "5%"), 0);
        assert_eq!(limit("2000", "5%"), 100);
        assert_eq!(limit("18446744073709551615", "100%"), u64::MAX);
        assert_eq!(limit("0", "1024"), 1024);
    }

    #[test]
    fn eviction_ends_too_late() {
        let settings = MemorySettings::default();
        let micros = |tenacity: &str| {
            settings.change("maxmemory-eviction-tenacity", tenacity);
            settings.eviction_time().as_micros()
        };
        assert_eq!((micros("0"), micros("1"), micros("10"), micros("11")), (0, 50, 500, 575));
        assert!((100_000_000..200_000_000).contains(&micros("99")), "{}", micros("99"));
        assert_eq!(settings.eviction_time().min(Duration::MAX), settings.eviction_time());
    }
}

//! How the use of a key is noted: in 24 bits of its root, which mean one of two things, as in Redis.
//!
//! ```text
//! clock      24  unix time of the last use in seconds, modulo 2^24
//! frequency  16  unix time in minutes, modulo 2^16, at which the counter was last brought up to date
//!             8  a logarithmic counter of uses, which falls by one for each period without a use
//! ```
//!
//! The setting `maxmemory-policy` says which; where it changes while the server runs, the bits of a key keep their old
//! meaning until its next use.

/// The clock of [`Root::access`](super::Root::access): seconds modulo 2^24.
pub const ACCESS_CLOCK_MASK: u32 = (1 << 24) - 1;

/// The value of the clock of [`Root::access`](super::Root::access) at this unix time.
pub fn access_clock(now_ms: u64) -> u32 {
    (now_ms / 1000) as u32 & ACCESS_CLOCK_MASK
}

/// The counter of a new key, so that it is not evicted before it could be used.
const NEW_COUNTER: u8 = 5;

/// What a use leaves in a key's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The bits of a new key.
    fresh: u32,
    counts: Option<Counting>,
}

/// How uses are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counting {
    decay: Decay,
    /// `lfu-log-factor`: the higher, the more uses it takes to saturate the counter.
    log_factor: u32,
    random: u32,
}

/// How counters fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decay {
    now_minutes: u16,
    /// `lfu-decay-time` in minutes; 0 for never.
    period_minutes: u32,
}

impl Decay {
    /// The fall until now; a counter loses one for each `period_minutes`, or nothing if they are 0.
    pub fn until(now_ms: u64, period_minutes: u32) -> Decay {
        Decay { now_minutes: (now_ms / 60_000) as u16, period_minutes }
    }

    /// The counter in the bits of a key, as it is by now.
    pub fn counter(self, access: u32) -> u8 {
        let elapsed_minutes = u32::from(self.now_minutes.wrapping_sub((access >> 8) as u16));
        let periods = elapsed_minutes.checked_div(self.period_minutes).unwrap_or(0);
        (access as u8).saturating_sub(u8::try_from(periods).unwrap_or(u8::MAX))
    }

    /// The bits of a key with this counter.
    pub fn bits(self, counter: u8) -> u32 {
        u32::from(self.now_minutes) << 8 | u32::from(counter)
    }
}

impl Touch {
    /// A use at this unix time, which sets the clock.
    pub fn clock(now_ms: u64) -> Touch {
        Touch { fresh: access_clock(now_ms), counts: None }
    }

    /// A use that is counted. `random` decides whether the counter grows.
    pub fn counted(decay: Decay, log_factor: u32, random: u32) -> Touch {
        Touch { fresh: decay.bits(NEW_COUNTER), counts: Some(Counting { decay, log_factor, random }) }
    }

    /// The same with a random number of its own, for one of several keys.
    pub fn of_another(self, nth: usize) -> Touch {
        let own = |counting: Counting| Counting {
            // Any odd number with well mixed bits, here 2^32 / golden ratio, keeps the keys' numbers apart.
            random: counting.random.wrapping_add((nth as u32).wrapping_mul(0x9E37_79B9)),
            ..counting
        };
        Touch { fresh: self.fresh, counts: self.counts.map(own) }
    }

    /// The bits of a key that is new.
    pub fn fresh(self) -> u32 {
        self.fresh
    }

    /// Whether the bits of a key that is used depend on those that it had.
    #[inline]
    pub fn depends_on_the_past(self) -> bool {
        self.counts.is_some()
    }

    /// The bits of a key that is used and had these.
    #[inline]
    pub fn used(self, before: u32) -> u32 {
        match self.counts {
            None => self.fresh,
            Some(counting) => counting.used(before),
        }
    }

    /// The bits of a key that gets another value and had these; the use itself has been noted before.
    #[inline]
    pub fn replaced(self, before: u32) -> u32 {
        if self.counts.is_some() { before } else { self.fresh }
    }
}

impl Counting {
    fn used(self, before: u32) -> u32 {
        let counter = self.decay.counter(before);
        // The more a key was used, the less likely is one use more to count: with probability 1 / (above × factor + 1).
        let above = u64::from(counter.saturating_sub(NEW_COUNTER));
        let odds = above * u64::from(self.log_factor) + 1;
        let is_counted = u64::from(self.random) < (1_u64 << 32) / odds;
        self.decay.bits(counter.saturating_add(u8::from(is_counted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE_MS: u64 = 60_000;

    #[test]
    fn counter_falls_at_the_wrong_time() {
        let bits = Decay::until(7 * MINUTE_MS, 1).bits(10);
        let counter = |minutes: u64, period| Decay::until(minutes * MINUTE_MS, period).counter(bits);
        assert_eq!([7, 8, 16, 17, 400].map(|minutes| counter(minutes, 1)), [10, 9, 1, 0, 0]);
        assert_eq!([9, 10, 13].map(|minutes| counter(minutes, 3)), [10, 9, 8]);
        assert_eq!(counter(400, 0), 10);
        // The clock of minutes goes round once in 45 days.
        let late = Decay::until(65_535 * MINUTE_MS, 1).bits(10);
        assert_eq!(Decay::until(65_537 * MINUTE_MS, 1).counter(late), 8);
    }

    #[test]
    fn key_in_use_counts_like_a_new_one() {
        let decay = Decay::until(0, 1);
        let uses = |uses: u32, factor| {
            let mut random = fastrand::Rng::with_seed(3);
            let touch = |bits, _| Touch::counted(decay, factor, random.u32(..)).used(bits);
            decay.counter((0..uses).fold(Touch::counted(decay, factor, 0).fresh(), touch))
        };
        // The table in Redis' configuration file: hits and factor against the counter.
        assert_eq!((uses(0, 10), uses(100, 0)), (5, 105));
        assert!((8..=12).contains(&uses(100, 10)), "{}", uses(100, 10));
        assert!((16..=20).contains(&uses(1000, 10)), "{}", uses(1000, 10));
        assert!((132..=152).contains(&uses(100_000, 10)), "{}", uses(100_000, 10));
        assert_eq!(uses(1_000_000, 1), 255);
    }

    #[test]
    fn overwritten_key_forgets_its_counter() {
        let decay = Decay::until(0, 1);
        assert_eq!(Touch::counted(decay, 10, 0).replaced(77), 77);
        assert_eq!(Touch::clock(5000).replaced(77), 5);
    }
}

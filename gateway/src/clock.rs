//! The clocks and the randomness that the core gets as arguments.

use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use edgecask_core::driver::Now;

/// The beginning of the steady clock.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Both clocks, read one behind the other.
pub fn now() -> Now {
    Now { unix_ms: now_ms(), steady_ms: steady_ms() }
}

/// The same with the steady clock in nanoseconds, too.
pub fn now_and_ns() -> (Now, u64) {
    let steady = START.elapsed();
    (Now { unix_ms: now_ms(), steady_ms: whole_ms(steady) }, whole_ns(steady))
}

/// Nanoseconds since this clock was first read.
pub fn steady_ns() -> u64 {
    whole_ns(START.elapsed())
}

/// Unix time in milliseconds.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    whole_ms(since)
}

/// Milliseconds since this clock was first read. It never jumps.
pub fn steady_ms() -> u64 {
    whole_ms(START.elapsed())
}

/// The moment at which [`steady_ms`] comes to a number. A number that is too large to be a moment is far in the future.
pub fn instant_at(steady_ms: u64) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    START.checked_add(Duration::from_millis(steady_ms)).unwrap_or_else(|| Instant::now() + FAR)
}

/// A duration in whole milliseconds.
pub fn whole_ms(duration: Duration) -> u64 {
    // In steps of u64: the division of `as_millis` is one of 128 bits.
    duration.as_secs().saturating_mul(1000).saturating_add(u64::from(duration.subsec_millis()))
}

/// A duration in nanoseconds, for up to some centuries.
pub fn whole_ns(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}

/// A number that cannot be guessed; the time if the system has no randomness to give.
pub fn seed() -> u64 {
    getrandom::u64().unwrap_or_else(|_| now_ms())
}

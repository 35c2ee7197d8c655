//! What the core must not find out by itself: the time and chance.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time in milliseconds.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A number nobody can guess; only the time if the system has no randomness to give.
pub fn seed() -> u64 {
    getrandom::u64().unwrap_or_else(|_| now_ms())
}

//! Waiting for something that a process does in its own time.

use std::thread;
use std::time::{Duration, Instant};

/// Between two looks; a server starts in some tens of milliseconds.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Looks until there is something, at most for `limit`.
pub fn wait_for<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begin = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if begin.elapsed() > limit {
            return None;
        }
        thread::park_timeout(LOOK_EVERY);
    }
}

/// Lets time go on, where that is what a test is about: the life of a process until it is killed, a key until it
/// expires.
pub fn let_pass(time: Duration) {
    let end = Instant::now() + time;
    // Parking may end early.
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        thread::park_timeout(left);
    }
}

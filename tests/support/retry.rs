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

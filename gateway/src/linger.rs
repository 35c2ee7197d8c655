//! Looking for more work for a moment before a worker goes to sleep.
//!
//! Putting a thread to sleep and waking it costs as much processor time as serving a request, and under load the next
//! request is only microseconds away. So after work a worker asks for more a few times without waiting. It does so only
//! while that pays: every time nothing came, it becomes rarer, and an idle process does not do it at all.

use std::cell::Cell;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::yield_now;

/// How often in a row a worker asks for more before it sleeps; each time costs about half a microsecond.
const TURNS: u32 = 24;

/// Without success, at most every so many batches of work are followed by looking for more.
const RAREST: u32 = 64;

thread_local! {
    /// Batches of work this thread has done.
    static WORKED: Cell<u64> = const { Cell::new(0) };
    /// Whether [`Linger::run`] waits to be told of work.
    static IS_WAITING: Cell<bool> = const { Cell::new(false) };
}

/// One worker's lingering.
#[derive(Clone, Default)]
pub struct Linger(Arc<Notify>);

impl Linger {
    /// Says that a connection of this thread has just served requests.
    pub fn worked(&self) {
        WORKED.set(WORKED.get().wrapping_add(1));
        if IS_WAITING.take() {
            self.0.notify_one();
        }
    }

    /// Keeps the thread's runtime from sleeping for a moment after work. Runs as long as the worker does.
    pub async fn run(&self) {
        // After how many batches of work the next attempt is made, and how many have been seen since the last.
        let (mut period, mut seen) = (1, 0);
        loop {
            IS_WAITING.set(true);
            self.0.notified().await;
            seen += 1;
            if seen < period {
                yield_now().await;
                continue;
            }
            seen = 0;
            let paid = more_came().await;
            period = if paid { 1 } else { (period * 2).min(RAREST) };
        }
    }
}

/// Asks for more until nothing comes for a while; whether anything came at all.
async fn more_came() -> bool {
    let mut paid = false;
    let mut empty_turns = 0;
    while empty_turns < TURNS {
        let before = WORKED.get();
        yield_now().await;
        if WORKED.get() == before {
            empty_turns += 1;
        } else {
            // The batch that announced itself first is no success.
            paid = true;
            empty_turns = 0;
        }
    }
    paid
}

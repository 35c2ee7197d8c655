//! Counters that cost the measured program next to nothing: each thread has a slot of its own on its own cache lines, so
//! that counting takes no locked instruction, and a reader adds the slots up.

use std::cell::Cell;
use std::ops::Sub;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// What is counted.
#[derive(Clone, Copy)]
pub enum Counter {
    Allocations,
    AllocatedBytes,
    /// Calls that read a socket.
    Receives,
    /// Calls that write to a socket.
    Sends,
    /// Calls of `epoll_wait`.
    Polls,
    /// Calls of `write`: with tokio, one thread wakes another out of `epoll_wait`.
    Wakes,
}

const COUNTERS: usize = 6;

/// Threads with a slot of their own: two workers, the main thread, and what a client starts besides. Later ones share the
/// last slot, which may lose counts.
const SLOTS: usize = 64;

#[repr(align(128))]
struct Slot([AtomicU64; COUNTERS]);

static COUNTS: [Slot; SLOTS] = [const { Slot([const { AtomicU64::new(0) }; COUNTERS]) }; SLOTS];
static NEXT_SLOT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // A constant without a destructor: the allocator may use it at any time in a thread's life.
    static SLOT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Adds to a counter of this thread.
pub fn add(counter: Counter, amount: u64) {
    let slot = SLOT.with(|slot| {
        if slot.get() == usize::MAX {
            slot.set(NEXT_SLOT.fetch_add(1, Relaxed).min(SLOTS - 1));
        }
        slot.get()
    });
    let count = &COUNTS[slot].0[counter as usize];
    count.store(count.load(Relaxed) + amount, Relaxed);
}

/// All counters at one moment.
#[derive(Clone, Copy)]
pub struct Counts([u64; COUNTERS]);

impl Counts {
    pub fn now() -> Self {
        Self(std::array::from_fn(|counter| COUNTS.iter().map(|slot| slot.0[counter].load(Relaxed)).sum()))
    }

    pub fn of(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }
}

impl Sub for Counts {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self(std::array::from_fn(|counter| self.0[counter] - earlier.0[counter]))
    }
}

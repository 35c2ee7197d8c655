//! Free memory goes back to the system.
//!
//! The allocator keeps what a thread has freed for that thread. Worse, a block that another thread frees (maintenance
//! frees what FLUSHALL left) becomes free only when the thread that had allocated it looks. So after much was freed each
//! thread is asked to look ([`Trim::ask`]), and does so between two rounds ([`Trim::follow`]).
//!
//! The allocator asks for huge pages. A process that holds little does without: each thread would have a few of 2 MiB for
//! some kilobytes ([`begin_small`]). One that holds much gains from them ([`grow`]).
//!
//! Besides [`crate::storage::mapped`] this is the only file of the gateway with `unsafe`, for one call.
//!
//! # Safety argument
//!
//! `mi_collect` takes no pointer and may be called by any thread at any time: it works on the heap of the calling thread,
//! and on what threads share under the allocator's own synchronisation. It frees nothing that is in use.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;

use parking_lot::Mutex;
use rustix::thread;
use tokio::sync::Notify;

/// Milliseconds between two times at which clients have memory given back.
const PURGE_PERIOD_MS: u64 = 1000;

/// From so much memory on a server uses huge pages. Below, a processor knows the addresses of small ones by heart: some
/// thousands of them.
const HUGE_PAGES_FROM_BYTES: u64 = 16 * 1024 * 1024;

/// Whether the process does without huge pages because it holds little.
static IS_SMALL: AtomicBool = AtomicBool::new(false);

/// Has the process do without huge pages until it holds much. To be called before other threads are made. An operator who
/// wants none at all sets `MIMALLOC_ALLOW_THP=0`. Where the system cannot do it, huge pages are used from the start.
pub fn begin_small() {
    let is_decided = thread::transparent_huge_pages_are_disabled().unwrap_or(true);
    let is_small = !is_decided && thread::disable_transparent_huge_pages(true).is_ok();
    IS_SMALL.store(is_small, Ordering::Relaxed);
}

/// Has huge pages used from now on, if the process holds or will hold so many bytes that they pay.
pub fn grow(bytes: u64) {
    if bytes >= HUGE_PAGES_FROM_BYTES && IS_SMALL.swap(false, Ordering::Relaxed) {
        // Without them the process only needs more time.
        let _ = thread::disable_transparent_huge_pages(false);
    }
}

/// Asks the threads of a server to give free memory back.
#[derive(Default)]
pub struct Trim {
    /// How often that was asked.
    asked: AtomicU64,
    /// Wake threads that wait for events.
    wakers: Mutex<Vec<Waker>>,
    /// Wakes the web tasks.
    pub tasks: Notify,
    /// Whether a client has asked for it, and it has not been done yet.
    is_wanted: AtomicBool,
    /// Unix time in milliseconds at which a client's wish was fulfilled last.
    purged_ms: AtomicU64,
}

impl Trim {
    /// Asks all threads.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Release);
        self.wakers.lock().iter().for_each(Waker::wake_by_ref);
        self.tasks.notify_waiters();
    }

    /// A client wants it (MEMORY PURGE). Every thread pays some milliseconds for it, so it is done once a second at most, but
    /// never left out: [`Trim::fulfil`].
    pub fn want(&self, now_ms: u64) {
        self.is_wanted.store(true, Ordering::Relaxed);
        self.fulfil(now_ms);
    }

    /// Asks all threads if a client has wanted that and it is time. To be called every so often.
    pub fn fulfil(&self, now_ms: u64) {
        let last_ms = self.purged_ms.load(Ordering::Relaxed);
        if self.is_wanted.load(Ordering::Relaxed)
            && now_ms.abs_diff(last_ms) >= PURGE_PERIOD_MS
            && self.purged_ms.compare_exchange(last_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            self.is_wanted.store(false, Ordering::Relaxed);
            self.ask();
        }
    }

    /// Has a thread woken when it is asked.
    pub fn wake(&self, waker: Waker) {
        self.wakers.lock().push(waker);
    }

    /// Gives the free memory of the calling thread back if that was asked since `done`, which is the number of the last
    /// time.
    #[inline]
    pub fn follow(&self, done: &mut u64) {
        let asked = self.asked.load(Ordering::Acquire);
        if asked != *done {
            *done = asked;
            give_back();
        }
    }
}

/// Gives the free memory of the calling thread back to the system; takes up to some milliseconds.
pub fn give_back() {
    // SAFETY: see the module.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_has_threads_busy_with_giving_memory_back() {
        let trim = Trim::default();
        let asked = || trim.asked.load(Ordering::Relaxed);
        (5000..5400).for_each(|now_ms| trim.want(now_ms));
        assert_eq!(asked(), 1);
        // The last wish is fulfilled as well, a little later.
        (5400..9000).for_each(|now_ms| trim.fulfil(now_ms));
        assert_eq!(asked(), 2);
    }
}

//! Free memory goes back to the system.
//!
//! The allocator keeps what a thread has freed for that thread. Worse, a block that another thread frees (maintenance
//! frees what FLUSHALL left) becomes free only when the thread that had allocated it looks. So after much was freed each
//! thread is asked to look ([`Trim::ask`]), and does so between two rounds ([`Trim::follow`]).
//!
//! Besides [`crate::storage::mapped`] this is the only file of the gateway with `unsafe`, for one call.
//!
//! # Safety argument
//!
//! `mi_collect` takes no pointer and may be called by any thread at any time: it works on the heap of the calling thread,
//! and on what threads share under the allocator's own synchronisation. It frees nothing that is in use.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Asks the threads of a server to give free memory back.
#[derive(Default)]
pub struct Trim {
    /// How often that was asked.
    asked: AtomicU64,
    /// Wake threads that wait for events.
    wakers: Mutex<Vec<Waker>>,
    /// Wakes the web tasks.
    pub tasks: Notify,
}

impl Trim {
    /// Asks all threads.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Release);
        self.wakers.lock().iter().for_each(Waker::wake_by_ref);
        self.tasks.notify_waiters();
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

//! One thread of the process that advances the epoch of an engine every millisecond while functions run.
//!
//! Compiled code looks at the epoch at the beginning of every function and loop; when it has advanced, the run asks the host whether it
//! may go on. Without runs the thread sleeps until the next one, so an idle server does not wake.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::EngineWeak;

/// Between two advances of the epoch.
const PERIOD: Duration = Duration::from_millis(1);

/// After so many periods without a run the thread sleeps.
const IDLE_PERIODS: u32 = 50;

struct Shared {
    /// A run has begun since the thread last looked.
    was_used: AtomicBool,
    is_asleep: AtomicBool,
    is_over: AtomicBool,
}

/// Advances the epoch of one engine. The thread ends when this is dropped.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

impl Ticker {
    /// Fails if there can be no thread.
    pub fn start(engine: EngineWeak) -> std::io::Result<Ticker> {
        let shared = Arc::new(Shared {
            was_used: AtomicBool::new(false),
            is_asleep: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        let seen = shared.clone();
        let handle =
            thread::Builder::new().name("wasm-ticker".into()).spawn(move || advance(&engine, &seen))?;
        Ok(Ticker { shared, thread: handle.thread().clone() })
    }

    /// A run begins, or goes on: the epoch advances from now on for a while.
    ///
    /// Invariant: the thread says that it sleeps before it looks at `was_used` for the last time, and this sets `was_used` before it
    /// looks at whether the thread sleeps. In the one order of all these accesses one of the two sees the other.
    pub fn touch(&self) {
        // Nearly always both are reads: the flag is set once in some fifty milliseconds.
        if !self.shared.was_used.load(SeqCst) {
            self.shared.was_used.store(true, SeqCst);
        }
        if self.shared.is_asleep.load(SeqCst) {
            self.thread.unpark();
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.is_over.store(true, SeqCst);
        self.thread.unpark();
    }
}

fn advance(engine: &EngineWeak, shared: &Shared) {
    let mut idle = 0;
    while !shared.is_over.load(SeqCst) {
        thread::sleep(PERIOD);
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        drop(engine);
        idle += 1;
        if idle < IDLE_PERIODS {
            continue;
        }
        idle = 0;
        shared.is_asleep.store(true, SeqCst);
        while !shared.was_used.swap(false, SeqCst) && !shared.is_over.load(SeqCst) {
            thread::park();
        }
        shared.is_asleep.store(false, SeqCst);
    }
}

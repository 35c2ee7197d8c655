//! CLIENT PAUSE: until a time, commands are not run.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Interest;

/// A pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Unix time in milliseconds of its end.
    pub until_ms: u64,
    /// Whether commands that change nothing run meanwhile.
    pub only_writes: bool,
}

/// The pause of the server, if there is one.
#[derive(Debug, Default)]
pub struct Pauses {
    present: Mutex<Option<Pause>>,
    /// Connections whose next request is held back.
    held: AtomicU64,
}

impl Pauses {
    /// Pauses; a pause that is on is never shortened or weakened.
    pub fn begin(&self, interest: &Interest, pause: Pause, now_ms: u64) {
        let mut present = self.present.lock();
        let before = present.filter(|before| before.until_ms > now_ms);
        *present = Some(match before {
            Some(before) => Pause {
                until_ms: before.until_ms.max(pause.until_ms),
                only_writes: before.only_writes && pause.only_writes,
            },
            None => pause,
        });
        interest.set(Interest::PAUSE, true);
    }

    /// Ends the pause; the connections that wait must be woken.
    pub fn end(&self, interest: &Interest) {
        let mut present = self.present.lock();
        *present = None;
        interest.set(Interest::PAUSE, false);
    }

    /// A connection's next request is held back.
    pub(crate) fn hold(&self) {
        self.held.fetch_add(1, Ordering::Relaxed);
    }

    /// It is held back no longer, or its connection has ended.
    pub(crate) fn release(&self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many connections' requests are held back.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// The pause that is on.
    pub fn present(&self, interest: &Interest, now_ms: u64) -> Option<Pause> {
        let mut present = self.present.lock();
        if present.is_some_and(|pause| pause.until_ms <= now_ms) {
            *present = None;
            interest.set(Interest::PAUSE, false);
        }
        *present
    }
}

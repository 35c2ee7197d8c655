//! CLIENT PAUSE: until a time, commands are not run.

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
pub struct Pauses(Mutex<Option<Pause>>);

impl Pauses {
    /// Pauses; a pause that is on is never shortened or weakened.
    pub fn begin(&self, interest: &Interest, pause: Pause, now_ms: u64) {
        let mut present = self.0.lock();
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

    /// Ends the pause; whoever waits must be woken.
    pub fn end(&self, interest: &Interest) {
        let mut present = self.0.lock();
        *present = None;
        interest.set(Interest::PAUSE, false);
    }

    /// The pause that is on.
    pub fn present(&self, interest: &Interest, now_ms: u64) -> Option<Pause> {
        let mut present = self.0.lock();
        if present.is_some_and(|pause| pause.until_ms <= now_ms) {
            *present = None;
            interest.set(Interest::PAUSE, false);
        }
        *present
    }
}

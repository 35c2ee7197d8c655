//! Which seats an event has to look at besides its own: without it every message would cost what there are sockets.

use std::collections::BTreeSet;

/// Seats by what is to be done about them.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Unix times in milliseconds, each with whoever is then to be looked at.
    times: BTreeSet<(u64, u32)>,
    /// Who may have changed since its session was frozen.
    changed: BTreeSet<u32>,
    /// Who watches keys, which others change.
    watching: BTreeSet<u32>,
}

impl Timers {
    /// Moves a seat from one time to another.
    pub(super) fn move_to(&mut self, seat: u32, from_ms: Option<u64>, to_ms: Option<u64>) {
        if from_ms == to_ms {
            return;
        }
        if let Some(at_ms) = from_ms {
            self.times.remove(&(at_ms, seat));
        }
        self.times.extend(to_ms.map(|at_ms| (at_ms, seat)));
    }

    /// Says that a seat's session may have changed, and whether it watches keys now.
    pub(super) fn note(&mut self, seat: u32, watches: bool) {
        self.changed.insert(seat);
        if watches {
            self.watching.insert(seat);
        } else if !self.watching.is_empty() {
            self.watching.remove(&seat);
        }
    }

    /// A seat is empty.
    pub(super) fn forget(&mut self, seat: u32, at_ms: Option<u64>) {
        self.move_to(seat, at_ms, None);
        self.changed.remove(&seat);
        self.watching.remove(&seat);
    }

    /// The earliest time.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.times.first().map(|(at_ms, _)| *at_ms)
    }

    /// Whose time has come.
    pub(super) fn due(&self, now_ms: u64) -> Vec<u32> {
        self.times.range(..=(now_ms, u32::MAX)).map(|(_, seat)| *seat).collect()
    }

    /// Who may have changed, once.
    pub(super) fn take_changed(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.changed)
    }

    /// Who watches keys.
    pub(super) fn watching(&self) -> impl Iterator<Item = u32> + '_ {
        self.watching.iter().copied()
    }
}

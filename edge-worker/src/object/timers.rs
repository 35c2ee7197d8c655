//! The connections that an event looks at besides its own. Without this index every message would cost time for all sockets.

use std::collections::BTreeSet;

/// Connections by number, sorted by the reason to look at them.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Unix times in milliseconds, each with the connection that is due then.
    times: BTreeSet<(u64, u32)>,
    /// Connections whose session may have changed since it was frozen.
    changed: BTreeSet<u32>,
    /// Connections that watch keys, which other connections change.
    watching: BTreeSet<u32>,
}

impl Timers {
    /// Moves a connection from one time to another.
    pub(super) fn reschedule(&mut self, connection: u32, from_ms: Option<u64>, to_ms: Option<u64>) {
        if from_ms == to_ms {
            return;
        }
        if let Some(at_ms) = from_ms {
            self.times.remove(&(at_ms, connection));
        }
        self.times.extend(to_ms.map(|at_ms| (at_ms, connection)));
    }

    /// Marks the session of a connection as changed, and notes whether it watches keys now.
    pub(super) fn mark_changed(&mut self, connection: u32, watches: bool) {
        self.changed.insert(connection);
        if watches {
            self.watching.insert(connection);
        } else if !self.watching.is_empty() {
            self.watching.remove(&connection);
        }
    }

    /// Forgets a closed connection.
    pub(super) fn remove(&mut self, connection: u32, at_ms: Option<u64>) {
        self.reschedule(connection, at_ms, None);
        self.changed.remove(&connection);
        self.watching.remove(&connection);
    }

    /// The earliest time.
    pub(super) fn next_ms(&self) -> Option<u64> {
        self.times.first().map(|(at_ms, _)| *at_ms)
    }

    /// The connections that are due.
    pub(super) fn due(&self, now_ms: u64) -> Vec<u32> {
        self.times.range(..=(now_ms, u32::MAX)).map(|(_, connection)| *connection).collect()
    }

    /// Takes the connections whose session may have changed.
    pub(super) fn take_changed(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.changed)
    }

    /// The connections that watch keys.
    pub(super) fn watching(&self) -> impl Iterator<Item = u32> + '_ {
        self.watching.iter().copied()
    }
}

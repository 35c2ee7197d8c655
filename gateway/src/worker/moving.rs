//! Connections on their way from one worker to another ([`crate::spread`]).
//!
//! A connection moves between two rounds, when its session is here and all its replies have been sent. It takes along
//! its session and what has come of its next requests; its place in the event queue, its alarm and its waker are
//! made anew. Whatever other connections put into its inbox meanwhile is found when it arrives, because it is in the first round
//! there in any case. Bytes that come meanwhile are reported by the event queue that it joins.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mio::{Interest, Token};
use tracing::debug;

use super::{Worker, deadline_ms};
use crate::connection::Connection;
use crate::mailbox::Mailbox;

impl Worker {
    /// Gives the connections away that are to live on other workers, as far as they are at rest. The others follow when
    /// they are.
    pub(super) fn give_away(&mut self, mailboxes: &[Arc<Mailbox>]) {
        if self.mailbox.is_stopping() {
            return;
        }
        while let Some(slot) = self.leaving.pop() {
            let Some(connection) = self.connections.get(slot) else { continue };
            let Some(to) = connection.goes_to.filter(|_| connection.is_at_rest()) else { continue };
            let Some(mailbox) = mailboxes.get(usize::from(to)) else { continue };
            if let Some(connection) = self.take_out(slot) {
                self.gateway.spread.note_moved();
                mailbox.take_in(connection);
            }
        }
    }

    /// Removes a connection that is at rest from everything that this worker knows of it. None if it has failed and was closed.
    fn take_out(&mut self, slot: usize) -> Option<Connection> {
        let connection = self.connections.get_mut(slot)?;
        if let Err(error) = self.poll.registry().deregister(connection.stream()) {
            debug!(%error, "a connection failed");
            self.close(slot);
            return None;
        }
        if let Some(alarm_ms) = connection.alarm_ms() {
            self.alarms.remove(&(alarm_ms, slot));
        }
        if std::mem::take(&mut connection.is_queued) {
            self.ready.retain(|ready| *ready != slot);
        }
        connection.goes_to = None;
        Some(self.connections.remove(slot))
    }

    /// Takes the connections in that other workers have given to this one. They are in its next round.
    pub(super) fn take_moved(&mut self) {
        for mut connection in self.mailbox.take_moved() {
            let entry = self.connections.vacant_entry();
            let slot = entry.key();
            let registry = self.poll.registry();
            if let Err(error) = registry.register(connection.stream(), Token(slot), Interest::READABLE) {
                debug!(%error, "a connection failed");
                connection.close(&self.gateway.server);
                self.gateway.connected.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            connection.seen_order = self.part.newcomer();
            let deadline_ms = deadline_ms(&connection, &self.gateway);
            self.next_sweep_ms = self.next_sweep_ms.min(deadline_ms.unwrap_or(u64::MAX));
            self.alarms.extend(connection.alarm_ms().map(|alarm_ms| (alarm_ms, slot)));
            // From here on it is woken here; the round finds what came before.
            connection.set_waker(self.mailbox.waker_of(slot, connection.id()));
            entry.insert(connection);
            self.queue(slot);
        }
    }
}

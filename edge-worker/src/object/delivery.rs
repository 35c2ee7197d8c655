//! Delivery of replies: through the outbox, in pieces, and not before the writes that they acknowledge are in rows.

use std::sync::atomic::Ordering;

use edgecask_core::driver::take_piece;

use super::Object;
use super::connection::{CloseReason, TOO_MUCH, UNREADABLE};
use crate::host::Host;
use crate::limits::{DELIVERY_BYTES, EVENT_OUTPUT_MAX_BYTES, MESSAGE_OUT_MAX_BYTES};
use crate::outbox::Kind;

impl<H: Host> Object<H> {
    /// Puts the replies of a connection into the outbox, large ones in pieces. True if the connection is needed no longer.
    ///
    /// # Errors
    /// The connection must be closed for this reason: the event has too many replies, or a stored value cannot be read.
    pub(super) fn deliver(&mut self, number: u32) -> Result<bool, CloseReason> {
        let mut is_done = false;
        loop {
            let Some(connection) = self.connections.get_mut(&number) else { return Ok(true) };
            let mut piece = Vec::new();
            let reply = connection.driver.reply();
            take_piece(reply, MESSAGE_OUT_MAX_BYTES, &mut piece).map_err(|_| UNREADABLE)?;
            let is_last = reply.front().is_none();
            self.sent_bytes += piece.len() as u64;
            if self.sent_bytes > EVENT_OUTPUT_MAX_BYTES {
                return Err(TOO_MUCH);
            }
            self.server.shared.counters.output_bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            match &mut connection.request {
                None if piece.is_empty() => {}
                None => self.outbox.put(Kind::Send, number, &[&piece]),
                // A request may have its response before any reply.
                Some(request) => is_done |= request.take_replies(number, &piece, &mut self.outbox),
            }
            if self.outbox.size_bytes() >= DELIVERY_BYTES {
                self.deliver_outbox();
            }
            if is_last {
                return Ok(is_done);
            }
        }
    }

    /// Passes the messages of the outbox to JavaScript.
    pub(super) fn deliver_outbox(&mut self) {
        self.storage.deliver(&self.outbox.take());
    }
}

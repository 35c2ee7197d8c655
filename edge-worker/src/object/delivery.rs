//! Replies on their way out: through the outbox, in pieces, and not before what they tell of is in rows.

use std::sync::atomic::Ordering;

use edgecask_core::resp::{Front, Part, Reply, StoredError};

use super::Object;
use super::connection::{Farewell, TOO_MUCH};
use crate::host::Host;
use crate::limits::{EVENT_OUTPUT_MAX_BYTES, HAND_OVER_BYTES, MESSAGE_OUT_MAX_BYTES};
use crate::outbox::Kind;

impl<H: Host> Object<H> {
    /// Puts replies into the outbox, large ones in pieces; true if the seat is not needed any more.
    pub(super) fn deliver(&mut self, number: u32) -> Result<bool, Farewell> {
        let mut is_done = false;
        loop {
            let Some(seat) = self.connections.get_mut(&number) else { return Ok(true) };
            let piece = take_piece(seat.session.reply())
                // Whoever asked must not be left waiting for the rest of it.
                .map_err(|_| Farewell(1011, "a stored value cannot be read"))?;
            self.sent_bytes += piece.len() as u64;
            if self.sent_bytes > EVENT_OUTPUT_MAX_BYTES {
                return Err(TOO_MUCH);
            }
            self.server.shared.counters.output_bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            match &mut seat.request {
                None if piece.is_empty() => {}
                None => self.outbox.put(Kind::Send, number, &[&piece]),
                // It may have an answer before there is any reply.
                Some(request) => is_done |= request.deliver(number, &piece, &mut self.outbox),
            }
            let is_last = seat.session.reply().front().is_none();
            if self.outbox.size_bytes() >= HAND_OVER_BYTES {
                self.hand_over();
            }
            if is_last {
                return Ok(is_done);
            }
        }
    }

    pub(super) fn hand_over(&mut self) {
        self.storage.hand_over(&self.outbox.take());
    }
}

/// Takes what is to be sent next, a message at most; what is stored is read only now.
fn take_piece(reply: &mut Reply) -> Result<Vec<u8>, StoredError> {
    let mut piece = Vec::new();
    while piece.len() < MESSAGE_OUT_MAX_BYTES
        && let Some(front) = reply.front()
    {
        let room = MESSAGE_OUT_MAX_BYTES - piece.len();
        let count = match front {
            Front::Bytes(bytes, None) if bytes.len() == reply.len() && bytes.len() <= room => {
                // Nearly always: all of it as it is.
                return reply.take();
            }
            Front::Bytes(bytes, _) => {
                let bytes = bytes.get(..room).unwrap_or(bytes);
                piece.extend_from_slice(bytes);
                bytes.len()
            }
            Front::Stored(Part { source, offset, len, .. }) => {
                // Not more than a message.
                let len = len.min(room as u64);
                source.read(offset, len, &mut |bytes| piece.extend_from_slice(bytes))?;
                len as usize
            }
        };
        reply.sent(count as u64);
    }
    if reply.front().is_none() {
        reply.clear();
    }
    Ok(piece)
}

//! Replies in pieces, for a transport that takes bytes and not files: messages of a WebSocket, records of TLS, a response.

use crate::resp::{Front, Part, Reply};
use crate::storage::{Result, StorageError};

/// Moves the next `most_bytes` of a reply to the end of `piece`. Stored values are read only now. Returns false if nothing
/// was left to move.
///
/// A piece without capacity takes over the buffer of a short reply, which leaves the session without one. A piece with
/// capacity gets a copy, and the session writes its next reply into the same buffer.
///
/// # Errors
/// A stored value cannot be read or is shorter than the reply has announced. The connection must be closed then.
pub fn take_piece(reply: &mut Reply, most_bytes: usize, piece: &mut Vec<u8>) -> Result<bool> {
    if piece.capacity() == 0
        && let Some(Front::Bytes(bytes, None)) = reply.front()
        && bytes.len() == reply.len()
        && bytes.len() <= most_bytes
    {
        *piece = reply.take()?;
        return Ok(true);
    }
    let before = piece.len();
    loop {
        let left = most_bytes.saturating_sub(piece.len() - before);
        let count = match reply.front() {
            Some(Front::Bytes(bytes, _)) => {
                let bytes = bytes.get(..left).unwrap_or(bytes);
                piece.extend_from_slice(bytes);
                bytes.len()
            }
            Some(Front::Stored(Part { source, offset, len, .. })) => {
                let len = len.min(left as u64);
                let start = piece.len();
                source.read(offset, len, &mut |bytes| piece.extend_from_slice(bytes))?;
                let count = piece.len() - start;
                if count as u64 != len {
                    return Err(StorageError::Missing("a stored value is shorter than its length".into()));
                }
                count
            }
            None => {
                reply.clear();
                0
            }
        };
        if count == 0 {
            return Ok(piece.len() > before);
        }
        reply.sent(count as u64);
    }
}

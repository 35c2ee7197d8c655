//! Stored values on their way from the disk to a socket, without a copy of ours.
//!
//! Long ones that are in a file go from the page cache to the socket inside the kernel. Short ones go together with the
//! bytes around them, from where they are mapped. What is not a file (a value with patches) is read a piece at a time.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

use edgecask_core::resp::{Front, Part, Reply, StoredBytes};
use edgecask_core::storage::{DeviceBlob, DeviceDatafile};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags};

use crate::limits::{GATHER_MAX_BYTES, STORED_PIECE_BYTES};
use crate::storage::directory::Handle;

/// How much the socket took, or what it said. The outer error is the disk's.
type Outcome = io::Result<Result<usize, Errno>>;

/// Sends some of a part, at most `budget` bytes of it.
pub fn send(socket: &impl AsFd, part: Part<'_>, budget: u64) -> Outcome {
    let len = part.len.min(budget);
    if let Some(file) = descriptor(part.source) {
        let mut at = part.offset;
        let count = usize::try_from(len).unwrap_or(usize::MAX);
        return match rustix::fs::sendfile(socket, file, Some(&mut at), count) {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file is shorter than its value")),
            outcome => Ok(outcome),
        };
    }
    send_read(socket, &[], Part { len: len.min(STORED_PIECE_BYTES), tail: &[], ..part })
}

/// Sends bytes and as much of the part that follows them, and of what follows that, as is useful at once.
pub fn send_with(socket: &impl AsFd, bytes: &[u8], part: Part<'_>) -> Outcome {
    if part.len <= GATHER_MAX_BYTES {
        return send_read(socket, bytes, part);
    }
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::MORE))
}

/// Sends bytes, the first piece of a part as it is read, and if that is all of it the tail.
fn send_read(socket: &impl AsFd, bytes: &[u8], part: Part<'_>) -> Outcome {
    let mut outcome = None;
    let read = part.source.read(part.offset, part.len, &mut |piece| {
        if outcome.is_none() {
            let tail = if piece.len() as u64 == part.len { part.tail } else { &[] };
            let slices = [IoSlice::new(bytes), IoSlice::new(piece), IoSlice::new(tail)];
            let mut nothing = SendAncillaryBuffer::default();
            outcome = Some(rustix::net::sendmsg(socket, &slices, &mut nothing, SendFlags::NOSIGNAL));
        }
    });
    read.map_err(io::Error::other)?;
    outcome.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "nothing is stored"))
}

/// Appends the next replies to `piece` and takes them for sent, up to [`STORED_PIECE_BYTES`] of them. False if there are none.
pub fn take_piece(reply: &mut Reply, piece: &mut Vec<u8>) -> io::Result<bool> {
    let before = piece.len();
    loop {
        let room = STORED_PIECE_BYTES.saturating_sub((piece.len() - before) as u64);
        let count = match reply.front() {
            Some(Front::Bytes(bytes, _)) => {
                // The room is less than what a usize can count.
                let bytes = &bytes[..bytes.len().min(room as usize)];
                piece.extend_from_slice(bytes);
                bytes.len() as u64
            }
            Some(Front::Stored(part)) => {
                let len = part.len.min(room);
                let wanted = piece.len() as u64 + len;
                let read = part.source.read(part.offset, len, &mut |bytes| piece.extend_from_slice(bytes));
                read.map_err(io::Error::other)?;
                if piece.len() as u64 != wanted {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "a file is shorter than its value",
                    ));
                }
                len
            }
            None => 0,
        };
        if count == 0 {
            return Ok(piece.len() > before);
        }
        reply.sent(count);
    }
}

/// The file in which something is stored, if it is one of ours.
fn descriptor(source: &dyn StoredBytes) -> Option<BorrowedFd<'_>> {
    let any = source.as_any();
    let blob = any.downcast_ref::<DeviceBlob<Handle>>().map(|blob| blob.file().descriptor());
    blob.or_else(|| any.downcast_ref::<DeviceDatafile<Handle>>().map(|file| file.file().descriptor()))
}

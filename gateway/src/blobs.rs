//! Huge values on their way from the disk to a socket.
//!
//! A blob that is a file of ours goes from the page cache to the socket inside the kernel. What is not (a value with
//! patches) is read a piece at a time.

use std::io;
use std::os::fd::AsFd;

use edgecask_core::storage::{Blob, DeviceBlob};
use rustix::io::Errno;
use rustix::net::SendFlags;

use crate::limits::BLOB_PIECE_BYTES;
use crate::storage::directory::Handle;

/// Sends some of `len` bytes at `offset` of a blob; how many, or what the socket said. The outer error is the disk's.
pub fn send(
    socket: &impl AsFd,
    source: &dyn Blob,
    offset: u64,
    len: u64,
) -> io::Result<Result<usize, Errno>> {
    if let Some(blob) = source.as_any().downcast_ref::<DeviceBlob<Handle>>() {
        let mut at = offset;
        let count = usize::try_from(len).unwrap_or(usize::MAX);
        return match rustix::fs::sendfile(socket, blob.file().descriptor(), Some(&mut at), count) {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a blob is shorter than its value")),
            outcome => Ok(outcome),
        };
    }
    // What the socket does not take is read again, so no more is read than it usually takes.
    let mut piece = Vec::new();
    let read = source.read(offset, len.min(BLOB_PIECE_BYTES), &mut |bytes| piece.extend_from_slice(bytes));
    read.map_err(io::Error::other)?;
    Ok(rustix::net::send(socket, &piece, SendFlags::NOSIGNAL))
}

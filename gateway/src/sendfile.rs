//! Sends stored values from the disk to a socket without a copy in this process.
//!
//! Long values that are in a file go from the page cache to the socket inside the kernel. Short values go together with
//! the bytes around them, from where they are mapped. Of a value with patches the long stretches between them go inside the
//! kernel as well, the pieces with patches are read.
//!
//! Of a blob nothing is sent that was not compared with its checksums just before: as a whole while the reply was made, or
//! the piece that is about to be sent, once the peer has kept us waiting. A bit that flips between that look and the
//! moment in which the kernel gives the page to the network card is not noticed.

use std::any::Any;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

use edgecask_core::engine::{Checked, Patched};
use edgecask_core::resp::Part;
use edgecask_core::storage::{DeviceBlob, DeviceDatafile};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags};

use crate::limits::{CHECKED_PIECE_BYTES, GATHER_MAX_BYTES};
use crate::storage::directory::Handle;

/// How many bytes the socket took, or its error. The outer error is the disk's.
type Outcome = io::Result<Result<usize, Errno>>;

/// Sends at most `budget` bytes of a part. `is_prompt` says that its reply was made just now.
///
/// # Errors
/// The outer error: the stored value cannot be read, or is shorter than its length.
pub fn send(socket: &impl AsFd, part: Part<'_>, budget: u64, is_prompt: bool) -> Outcome {
    let mut len = part.len.min(budget);
    let mut source = part.source.as_any();
    if let Some(patched) = source.downcast_ref::<Patched>() {
        let plain_bytes = patched.unpatched_bytes(part.offset, len);
        if plain_bytes >= GATHER_MAX_BYTES {
            (source, len) = (patched.base().as_any(), plain_bytes);
        }
    }
    if let Some(file) = descriptor(source) {
        let mut at = part.offset;
        let checked = source.downcast_ref::<Checked>();
        if let Some(checked) = checked.filter(|checked| !(is_prompt && checked.is_compared())) {
            len = len.min(CHECKED_PIECE_BYTES);
            checked.check(at, len).map_err(io::Error::other)?;
        }
        let count = usize::try_from(len).unwrap_or(usize::MAX);
        return match rustix::fs::sendfile(socket, file, Some(&mut at), count) {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a file is shorter than its value")),
            outcome => Ok(outcome),
        };
    }
    send_read(socket, &[], Part { len: len.min(GATHER_MAX_BYTES), tail: &[], ..part })
}

/// Sends bytes, and together with them the part that follows if it is short.
///
/// # Errors
/// The outer error: the stored value cannot be read.
pub fn send_with(socket: &impl AsFd, bytes: &[u8], part: Part<'_>) -> Outcome {
    if part.len <= GATHER_MAX_BYTES {
        return send_read(socket, bytes, part);
    }
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::MORE))
}

/// Sends bytes, a part that is short, and its tail. Where the part is shown in several slices they are put together first:
/// what is read is compared as a whole, so sending a beginning of it at a time would compare it again and again.
fn send_read(socket: &impl AsFd, bytes: &[u8], part: Part<'_>) -> Outcome {
    let mut outcome = None;
    let mut gathered = Vec::new();
    let send = |shown: &[u8]| {
        let slices = [IoSlice::new(bytes), IoSlice::new(shown), IoSlice::new(part.tail)];
        let mut nothing = SendAncillaryBuffer::default();
        rustix::net::sendmsg(socket, &slices, &mut nothing, SendFlags::NOSIGNAL)
    };
    let read = part.source.read(part.offset, part.len, &mut |piece| {
        if piece.len() as u64 == part.len {
            outcome = Some(send(piece));
        } else {
            gathered.extend_from_slice(piece);
        }
    });
    read.map_err(io::Error::other)?;
    if gathered.len() as u64 == part.len {
        outcome = Some(send(&gathered));
    }
    outcome.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "a file is shorter than its value"))
}

/// The file that holds a stored value, if it is a single file of this store.
fn descriptor(mut any: &dyn Any) -> Option<BorrowedFd<'_>> {
    if let Some(checked) = any.downcast_ref::<Checked>() {
        any = checked.base().as_any();
    }
    let blob = any.downcast_ref::<DeviceBlob<Handle>>().map(|blob| blob.file().descriptor());
    blob.or_else(|| any.downcast_ref::<DeviceDatafile<Handle>>().map(|file| file.file().descriptor()))
}

//! Bytes that a reply names instead of copying them.

use std::any::Any;
use std::task::Waker;

/// What a home says when it cannot read them.
pub type StoredError = Box<dyn std::error::Error + Send + Sync>;

/// Bytes outside memory, a huge value for example. They must stay what they are for as long as a reply names them.
pub trait StoredBytes: Send + Sync {
    /// Shows `len` bytes at `offset` in pieces, in order. Fails when the disk does, or when there are fewer bytes.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<(), StoredError>;

    /// Whether a read of `len` bytes at `offset` keeps nobody waiting; if not, the bytes are being fetched, and the waker is woken
    /// once they are here.
    fn is_at_hand(&self, _offset: u64, _len: u64, _waker: &Waker) -> bool {
        true
    }

    /// For a host that knows a shorter way from its own kind of storage to a socket.
    fn as_any(&self) -> &dyn Any;
}

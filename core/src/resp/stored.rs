//! Bytes that a reply names instead of copying them.

use std::any::Any;

/// What a home says when it cannot read them.
pub type StoredError = Box<dyn std::error::Error + Send + Sync>;

/// Bytes outside memory, a huge value for example. They must stay what they are for as long as a reply names them.
pub trait StoredBytes: Send + Sync {
    /// Shows `len` bytes at `offset` in pieces, in order. Fails when the disk does, or when there are fewer bytes.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<(), StoredError>;

    /// For a host that knows a shorter way from its own kind of storage to a socket.
    fn as_any(&self) -> &dyn Any;
}

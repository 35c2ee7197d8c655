//! Blobs in replies: [`crate::resp`] knows no storage, so a blob comes as its [`StoredBytes`].

use std::any::Any;
use std::sync::Arc;
use std::task::Waker;

use crate::resp::{StoredBytes, StoredError};
use crate::storage::Blob;

/// A blob that a reply names.
struct StoredBlob(Arc<dyn Blob>);

impl StoredBytes for StoredBlob {
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<(), StoredError> {
        self.0.read(offset, len, visit).map_err(StoredError::from)
    }

    fn is_at_hand(&self, offset: u64, len: u64, waker: &Waker) -> bool {
        self.0.is_at_hand(offset, len, waker)
    }

    /// The blob itself, of whose kind a host may know more.
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}

/// A blob as what a reply can name.
pub(crate) fn stored(blob: Arc<dyn Blob>) -> Arc<dyn StoredBytes> {
    Arc::new(StoredBlob(blob))
}

//! The disk of the gateway: datafiles as memory-mapped files in one directory, the metadata map in sled beside them.
//!
//! ```text
//! DIR/lock          held while a process uses the directory
//! DIR/meta/         sled: metadata that can be rebuilt from the datafiles
//! DIR/…             the datafiles, named by the core
//! ```

mod gate;
pub mod directory;
pub mod lock;
pub mod mapped;
pub mod read_only;
pub mod sled_meta;

use std::io::{Error, ErrorKind};

use edgecask_core::storage::StorageError;
use rustix::io::Errno;

/// An error of the operating system as an error of storage. `action` and `name` become the beginning of its text.
pub(crate) fn failed(action: &str, name: &str, error: &Error) -> StorageError {
    let text = format!("{action} {name}: {error}");
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    if matches!(number, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM)) {
        return StorageError::Exhausted(text);
    }
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            StorageError::Full(text)
        }
        ErrorKind::NotFound | ErrorKind::UnexpectedEof => StorageError::Missing(text),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StorageError::Refused(text),
        _ => StorageError::Io(text),
    }
}

/// The same for errors of system calls made through rustix.
pub(crate) fn failed_errno(action: &str, name: &str, error: Errno) -> StorageError {
    failed(action, name, &error.into())
}

//! One process per directory.
//!
//! The lock is flock's, on the file `lock`: the kernel releases it when the process ends, however it ends, so a crash
//! leaves nothing to clean up. Everything else in the directory relies on having no other writer.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use edgecask_core::storage::{Result, StorageError};

/// The name of the locked file.
const LOCK_FILE: &str = "lock";

/// The exclusive use of a directory, for as long as this lives.
#[derive(Debug)]
pub struct DirectoryLock {
    file: File,
}

impl DirectoryLock {
    /// Locks the directory.
    ///
    /// # Errors
    /// Another process has locked it, or it cannot be written.
    pub fn take(directory: &Path) -> Result<DirectoryLock> {
        let shown = directory.display();
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(directory.join(LOCK_FILE));
        let file = file.map_err(|error| {
            StorageError::Refused(format!("the data directory {shown} cannot be written: {error}"))
        })?;
        DirectoryLock::lock(file, directory)
    }

    /// Locks a directory that is only to be read, and changes nothing in it; `None` if no process has ever locked it.
    ///
    /// # Errors
    /// Another process has locked it, or it cannot be read.
    pub fn take_to_read(directory: &Path) -> Result<Option<DirectoryLock>> {
        match File::open(directory.join(LOCK_FILE)) {
            Ok(file) => DirectoryLock::lock(file, directory).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StorageError::Refused(format!(
                "the data directory {} cannot be read: {error}",
                directory.display()
            ))),
        }
    }

    fn lock(file: File, directory: &Path) -> Result<DirectoryLock> {
        let shown = directory.display();
        match file.try_lock() {
            Ok(()) => Ok(DirectoryLock { file }),
            Err(TryLockError::WouldBlock) => Err(StorageError::Refused(format!(
                "the data directory {shown} is in use by another edgecask; stop it or choose another --dir"
            ))),
            Err(TryLockError::Error(error)) => {
                Err(StorageError::Refused(format!("the data directory {shown} cannot be locked: {error}")))
            }
        }
    }
}

impl Drop for DirectoryLock {
    /// Closing the file is not enough: a child that another thread is just making still shares it for a moment.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

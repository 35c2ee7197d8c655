//! One process per directory, or several that only read it.
//!
//! The lock is flock's, on the file `lock`: the kernel releases it when the process ends, however it ends, so a crash
//! leaves nothing to clean up. Everything else in the directory relies on having no other writer.
//!
//! The file has the number of the process that last locked it to write, in decimal digits: only for the text of errors. It
//! means something only while the lock is held.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use edgecask_core::storage::{Result, StorageError};

/// The name of the locked file.
const LOCK_FILE: &str = "lock";

/// A server waits so long for a process that only reads the directory.
const READERS_MAX: Duration = Duration::from_secs(2);
const READERS_RETRY: Duration = Duration::from_millis(20);

/// The use of a directory, for as long as this lives: of one process that writes, or of those that read.
#[derive(Debug)]
pub struct DirectoryLock {
    file: File,
}

impl DirectoryLock {
    /// Locks the directory to write. Waits a moment for processes that read it.
    ///
    /// # Errors
    /// Another process has locked it, or it cannot be written.
    pub fn take(directory: &Path) -> Result<DirectoryLock> {
        let shown = directory.display();
        let begin = Instant::now();
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(directory.join(LOCK_FILE));
        let file = file.map_err(|error| {
            StorageError::Refused(format!("the data directory {shown} cannot be written: {error}"))
        })?;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    // A full disk has no room for it. The lock is held all the same.
                    let _ = note_process(&file);
                    return Ok(DirectoryLock { file });
                }
                Err(TryLockError::Error(error)) => return Err(unlockable(directory, &error)),
                Err(TryLockError::WouldBlock) => {}
            }
            // Beside a process that writes there is nobody who reads.
            match file.try_lock_shared() {
                Ok(()) => drop(file.unlock()),
                Err(TryLockError::Error(error)) => return Err(unlockable(directory, &error)),
                Err(TryLockError::WouldBlock) => {
                    return Err(StorageError::Refused(format!(
                        "the data directory {shown} is in use by another edgecask, or by a program that has one inside: it \
                         is {}; stop that or choose another directory",
                        holder(&file)
                    )));
                }
            }
            if begin.elapsed() > READERS_MAX {
                return Err(StorageError::Refused(format!(
                    "the data directory {shown} is in use by edgecask check or repair, or by a program that opened it to \
                     read, which must not see it change; wait for its end"
                )));
            }
            std::thread::sleep(READERS_RETRY);
        }
    }

    /// Locks a directory that is only to be read, together with others that read, and changes nothing in it; `None` if no
    /// process has ever locked it.
    ///
    /// # Errors
    /// Another process has locked it to write, or it cannot be read.
    pub fn take_to_read(directory: &Path) -> Result<Option<DirectoryLock>> {
        let shown = directory.display();
        let file = match File::open(directory.join(LOCK_FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(StorageError::Refused(format!(
                    "the data directory {shown} cannot be read: {error}"
                )));
            }
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(Some(DirectoryLock { file })),
            Err(TryLockError::WouldBlock) => Err(StorageError::Refused(format!(
                "the data directory {shown} is in use: a server runs on it, or a program that has one inside: it is {}; \
                 stop that, or look at a backup",
                holder(&file)
            ))),
            Err(TryLockError::Error(error)) => Err(unlockable(directory, &error)),
        }
    }
}

/// Writes the number of this process into the file that it has locked.
fn note_process(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all(std::process::id().to_string().as_bytes())
}

/// By whom the file is locked to write.
fn holder(mut file: &File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if text.parse::<u32>().is_ok() => format!("locked by pid {text}"),
        _ => "locked by another process".into(),
    }
}

fn unlockable(directory: &Path, error: &io::Error) -> StorageError {
    StorageError::Refused(format!("the data directory {} cannot be locked: {error}", directory.display()))
}

impl Drop for DirectoryLock {
    /// Closing the file is not enough: a child that another thread is just making still shares it for a moment.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::DirectoryLock;

    #[test]
    fn reader_is_taken_for_a_server_and_a_server_for_a_reader() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path();
        assert!(DirectoryLock::take_to_read(path).expect("nobody is there").is_none());
        let server = DirectoryLock::take(path).expect("nobody is there");
        let told = DirectoryLock::take_to_read(path).expect_err("refused").to_string();
        assert!(told.contains("a server runs on it"), "{told}");
        let told = DirectoryLock::take(path).expect_err("refused").to_string();
        assert!(told.contains("another edgecask"), "{told}");
        assert!(told.contains(&format!("locked by pid {}", std::process::id())), "{told}");
        drop(server);
        let readers = [DirectoryLock::take_to_read(path), DirectoryLock::take_to_read(path)];
        assert!(readers.iter().all(Result::is_ok));
        let told = DirectoryLock::take(path).expect_err("refused").to_string();
        assert!(told.contains("check or repair"), "{told}");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| DirectoryLock::take(path).map(drop));
            drop(readers);
            assert_eq!(waiting.join().expect("no panic"), Ok(()), "it waits for them");
        });
    }
}

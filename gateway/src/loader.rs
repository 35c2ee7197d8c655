//! The thread that reads the store while the server already has its listeners.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use edgecask_core::bitcask::{Bitcask, OpenError, Options};
use edgecask_core::storage::StorageError;

use crate::allocator;
use crate::storage::lock::DirectoryLock;
use crate::store;

/// A store that is being read.
pub struct Loader {
    outcome: Receiver<Read>,
    loaded_bytes: Arc<AtomicU64>,
    total_bytes: u64,
}

/// What the thread hands over: the store, and with it the lock, so that the thread keeps neither. Where nobody takes it the
/// store closes first.
struct Read {
    outcome: Result<Bitcask, OpenError>,
    _lock: Option<Arc<DirectoryLock>>,
}

impl Loader {
    /// Begins to read the store in a locked directory. The lock is held until reading has ended, even if nobody waits for it
    /// any more.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(directory: &Path, options: &Options, lock: Arc<DirectoryLock>) -> io::Result<Loader> {
        let total_bytes = datafile_bytes(directory);
        allocator::grow(total_bytes);
        let loaded_bytes = Arc::new(AtomicU64::new(0));
        let (sender, outcome) = channel();
        let (path, options, progress) = (directory.to_path_buf(), *options, loaded_bytes.clone());
        std::thread::Builder::new().name("loader".into()).spawn(move || {
            let outcome = store::load(&path, &options, &progress);
            // A start that fails has unlocked the directory when it says so.
            let lock = outcome.is_ok().then_some(lock);
            // It fails only if the server has given up.
            let _ = sender.send(Read { outcome, _lock: lock });
            // What only reading needed.
            allocator::give_back();
        })?;
        Ok(Loader { outcome, loaded_bytes, total_bytes })
    }

    /// Waits for the store, but not for longer than this; none if it is still being read then.
    pub fn wait(&mut self, at_most: Duration) -> Option<Result<Bitcask, OpenError>> {
        match self.outcome.recv_timeout(at_most) {
            Ok(read) => Some(read.outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(StorageError::Io("the thread that reads the store has panicked".into()).into()))
            }
        }
    }

    /// Bytes of the datafiles that are done.
    pub fn loaded_bytes(&self) -> u64 {
        self.loaded_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of all datafiles.
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }
}

/// Bytes of the files whose names end as those of datafiles do.
fn datafile_bytes(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let datafiles =
        entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "data"));
    datafiles.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use edgecask_core::bitcask::Options;

    use super::Loader;
    use crate::store;

    #[test]
    fn directory_is_still_locked_after_its_server_has_gone() {
        let folder = tempfile::tempdir().expect("a directory");
        let lock = Arc::new(store::lock(folder.path()).expect("nobody else has it"));
        let mut loader = Loader::start(folder.path(), &Options::default(), lock.clone()).expect("a thread");
        // The thread has long read this store.
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(Arc::strong_count(&lock), 2, "a store that nobody has taken is locked");
        drop(loader.wait(Duration::from_secs(60)).expect("in time").expect("an empty store"));
        assert_eq!(Arc::strong_count(&lock), 1, "the lock went with the store, not later by the thread");
    }
}

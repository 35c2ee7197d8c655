//! The metadata map on sled.
//!
//! All of it can be rebuilt from the datafiles, so a folder that sled cannot open is removed and an empty one takes its place;
//! the store then rebuilds it. If that is not possible either (on a full disk, say), or as soon as sled fails, the server goes on
//! without a map until the next start. sled has a log of its own and recovers a prefix of it, which is the order that the laws of the map require.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use edgecask_core::storage::{MetaMap, MetaOp, Result, StorageError};
use parking_lot::{Mutex, RwLock};
use tracing::warn;

use crate::allocator;

/// Memory sled may use for pages, in bytes. Hint blocks are read once, at the start.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;

/// A lazy change of more operations than this is applied in pieces, in order: sled needs some 40 kB of memory for each
/// operation of a batch. After a crash a beginning of such a change may be there, which its owner must be able to tell.
pub const LAZY_BATCH_MAX: usize = 256;

/// A lazy piece ends when its keys and values reach this many bytes.
pub const LAZY_BATCH_MAX_BYTES: usize = 1024 * 1024;

/// How often sled writes lazy changes to its file by itself.
const FLUSH_EVERY_MS: u64 = 1000;

/// This process holds the lock on the directory. A folder that sled finds locked all the same belongs to
/// a process that is ending, or to a child that a thread of this process is just making. It is free in a moment.
const LOCKED_MAX: Duration = Duration::from_secs(5);
const LOCKED_RETRY: Duration = Duration::from_millis(5);

/// sled bounds its cache by the accesses to each of 256 parts of it, and the few large pages of hints are accessed too seldom
/// for that: it keeps most of what was read or written in memory, whatever its capacity (200 MB written: 270 MB). So it is
/// closed when it was not used for so long, and opened when it is used again, which takes about a tenth of a second.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// The map in one folder.
pub struct SledMeta {
    folder: PathBuf,
    /// None while it is not in use.
    db: RwLock<Option<sled::Db>>,
    used: Mutex<Instant>,
}

/// The map of a server, which never fails. From the first error or panic of the map on there is none: nothing is found in it
/// and what is put there is lost, which costs the next start time and nothing else.
pub struct Meta<M: MetaMap = SledMeta> {
    map: Option<M>,
    failure: Failure,
}

/// The first failure of a map, if there was one.
#[derive(Clone, Debug, Default)]
pub struct Failure(Arc<OnceLock<String>>);

impl Failure {
    /// What went wrong.
    pub fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    fn note(&self, failure: String) {
        if self.0.set(failure.clone()).is_ok() {
            warn!(%failure, "hints cannot be used any more; the next start reads datafiles instead");
        }
    }
}

impl Meta {
    /// Opens the folder, makes or replaces it where needed, or does without.
    pub fn open(folder: &Path) -> Meta {
        let failure = Failure::default();
        let opened = SledMeta::open(folder);
        let map = opened.map_err(|error| failure.note(format!("{}: {error}", folder.display()))).ok();
        Meta { map, failure }
    }

    /// Opens a folder that is neither made nor replaced, nor opened by anybody else.
    ///
    /// # Errors
    /// It is not one of sled's, or damaged so that sled does not open it.
    pub fn open_as_it_is(folder: &Path) -> Result<Meta> {
        open_guarded(folder).map(|db| Meta::new(SledMeta::of(folder, db)))
    }

    /// No map.
    pub fn none() -> Meta {
        Meta { map: None, failure: Failure::default() }
    }
}

impl<M: MetaMap> Meta<M> {
    fn new(map: M) -> Meta<M> {
        Meta { map: Some(map), failure: Failure::default() }
    }

    /// Where its first failure can be seen.
    pub fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// The answer of the map, or this one if there is none.
    fn ask<R>(&self, otherwise: R, call: impl FnOnce(&M) -> Result<R>) -> Result<R> {
        let Some(map) = self.map.as_ref().filter(|_| self.failure.get().is_none()) else {
            return Ok(otherwise);
        };
        match catch_unwind(AssertUnwindSafe(|| call(map))) {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => self.failure.note(error.to_string()),
            Err(_) => self.failure.note("the metadata map: sled panicked".into()),
        }
        Ok(otherwise)
    }
}

impl<M: MetaMap> MetaMap for Meta<M> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.ask(None, |map| map.get(key))
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.ask((), |map| map.scan(prefix, visit))
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        self.ask((), |map| map.apply(changes))
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        self.ask((), |map| map.apply_lazily(changes))
    }

    fn rest(&self) -> Result<()> {
        self.ask((), M::rest)
    }
}

impl<M: MetaMap> Drop for Meta<M> {
    /// sled writes at its end, and one that has failed may panic then or wait for ever.
    fn drop(&mut self) {
        let map = self.map.take();
        match self.failure.get() {
            Some(_) => std::mem::forget(map),
            None => drop(catch_unwind(AssertUnwindSafe(|| drop(map)))),
        }
    }
}

/// Where a file goes that lies in the folder's place: `meta.damaged`, or with a number if that is taken.
fn free_name(folder: &Path) -> PathBuf {
    let with = |extension: &str| folder.with_extension(extension);
    let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
    let numbered = (2_u32..).map(|number| with(&format!("damaged-{number}")));
    // A folder holds fewer files than there are numbers.
    std::iter::once(with("damaged")).chain(numbered).find(is_free).unwrap_or_else(|| with("damaged"))
}

impl SledMeta {
    /// Opens the folder, making or replacing it where needed.
    ///
    /// # Errors
    /// Another process uses it, or it can be neither opened nor replaced.
    pub fn open(folder: &Path) -> Result<SledMeta> {
        let shown = folder.display().to_string();
        if fs::symlink_metadata(folder).is_ok_and(|found| !found.is_dir() && !found.is_symlink()) {
            // It is not one of ours, so it stays under another name.
            let aside = free_name(folder);
            warn!(file = shown, aside = %aside.display(), "a file lies where the folder of the metadata map belongs: it is set aside");
            fs::rename(folder, &aside).map_err(|error| super::failed("cannot rename", &shown, &error))?;
        }
        match open_patiently(folder) {
            Ok(db) => Ok(SledMeta::of(folder, db)),
            Err(error @ StorageError::Refused(_)) => Err(error),
            Err(error) => {
                warn!(
                    folder = %folder.display(), %error,
                    "the metadata map cannot be read and will be rebuilt from the datafiles"
                );
                fs::remove_dir_all(folder).map_err(|error| super::failed("cannot remove", &shown, &error))?;
                open_guarded(folder).map(|db| SledMeta::of(folder, db))
            }
        }
    }

    fn of(folder: &Path, db: sled::Db) -> SledMeta {
        SledMeta { folder: folder.to_path_buf(), db: RwLock::new(Some(db)), used: Mutex::new(Instant::now()) }
    }

    /// Calls it with the map, which is opened first if it was closed. A call may contain others.
    fn with<R>(&self, call: impl FnOnce(&sled::Db) -> Result<R>) -> Result<R> {
        loop {
            *self.used.lock() = Instant::now();
            let open = self.db.read_recursive();
            if let Some(db) = &*open {
                let answer = call(db);
                *self.used.lock() = Instant::now();
                return answer;
            }
            drop(open);
            let mut closed = self.db.write();
            if closed.is_none() {
                *closed = Some(open_patiently(&self.folder)?);
            }
        }
    }

    /// Closes it if it was not used for so long.
    fn close_after(&self, idle: Duration) {
        if self.used.lock().elapsed() >= idle
            && let Some(mut open) = self.db.try_write()
        {
            let was_open = open.take().is_some();
            drop(open);
            if was_open {
                // It held most of what it has ever written.
                allocator::give_back();
            }
        }
    }

    fn change(&self, changes: &[MetaOp]) -> Result<()> {
        let mut batch = sled::Batch::default();
        for change in changes {
            match change {
                MetaOp::Put(key, value) => batch.insert(key.as_slice(), value.as_slice()),
                MetaOp::Delete(key) => batch.remove(key.as_slice()),
            }
        }
        self.with(|db| db.apply_batch(batch).map_err(|error| failed(&error)))
    }
}

impl MetaMap for SledMeta {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.with(|db| {
            let value = db.get(key).map_err(|error| failed(&error))?;
            Ok(value.map(|value| value.to_vec()))
        })
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.with(|db| {
            for pair in db.scan_prefix(prefix) {
                let (key, value) = pair.map_err(|error| failed(&error))?;
                if !visit(&key, &value) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        self.change(changes)?;
        self.with(|db| db.flush().map(drop).map_err(|error| failed(&error)))
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        let mut rest = changes;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |change: &&MetaOp| {
                bytes += size(change);
                bytes <= LAZY_BATCH_MAX_BYTES
            };
            let count = rest.iter().take(LAZY_BATCH_MAX).take_while(fits).count().max(1);
            let (piece, later) = rest.split_at(count);
            self.change(piece)?;
            rest = later;
        }
        Ok(())
    }

    fn rest(&self) -> Result<()> {
        self.close_after(IDLE_MAX);
        Ok(())
    }
}

fn size(change: &MetaOp) -> usize {
    match change {
        MetaOp::Put(key, value) => key.len() + value.len(),
        MetaOp::Delete(key) => key.len(),
    }
}

/// Opens sled, and waits for another user to end.
fn open_patiently(folder: &Path) -> Result<sled::Db> {
    let begin = Instant::now();
    let mut opened = open_guarded(folder);
    while matches!(opened, Err(StorageError::Refused(_))) && begin.elapsed() < LOCKED_MAX {
        std::thread::sleep(LOCKED_RETRY);
        opened = open_guarded(folder);
    }
    opened
}

/// Opens sled. On some damage it panics instead of returning an error; both come out as an error here.
fn open_guarded(folder: &Path) -> Result<sled::Db> {
    let config = sled::Config::new()
        .path(folder)
        .cache_capacity(CACHE_BYTES)
        .flush_every_ms(Some(FLUSH_EVERY_MS))
        .mode(sled::Mode::LowSpace);
    match catch_unwind(AssertUnwindSafe(|| config.open())) {
        Ok(Ok(db)) => Ok(db),
        Ok(Err(error)) => Err(failed(&error)),
        Err(_) => Err(StorageError::Io("sled panicked while opening".into())),
    }
}

fn failed(error: &sled::Error) -> StorageError {
    match error {
        sled::Error::Io(error) if error.to_string().contains("could not acquire lock") => {
            StorageError::Refused(format!("the metadata map is in use: {error}"))
        }
        sled::Error::Io(error) => super::failed("cannot use", "the metadata map", error),
        error => StorageError::Io(format!("the metadata map: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use edgecask_core::storage::MemoryMeta;

    use super::*;

    #[test]
    fn map_that_was_not_used_for_a_while_has_lost_what_it_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let map = SledMeta::open(folder.path()).expect("a new map");
        let put = |key: u8| [MetaOp::Put(vec![key], vec![key; 1000])];
        assert_eq!(map.apply(&put(1)), Ok(()));
        assert_eq!(map.apply_lazily(&put(2)), Ok(()));
        map.close_after(Duration::from_secs(3600));
        assert!(map.db.read().is_some(), "closed while it is in use");
        for key in [1, 2] {
            map.close_after(Duration::ZERO);
            assert!(map.db.read().is_none(), "still open");
            assert_eq!(map.get(&[key]), Ok(Some(vec![key; 1000])));
        }
        map.close_after(Duration::ZERO);
        let mut found = Vec::new();
        // A visitor may ask the map as well, and it stays open meanwhile.
        let visited = map.scan(b"", &mut |key, _| {
            map.close_after(Duration::ZERO);
            found.push((key.to_vec(), map.get(key).is_ok_and(|value| value.is_some())));
            true
        });
        assert_eq!(visited, Ok(()));
        assert_eq!(found, [(vec![1], true), (vec![2], true)]);
        assert_eq!(map.rest(), Ok(()));
        assert!(map.db.read().is_some(), "closed right after use");
    }

    /// A map in which one call fails, in one of two ways.
    struct Failing {
        map: MemoryMeta,
        calls: AtomicU64,
        fails_at: u64,
        panics: bool,
    }

    impl Failing {
        fn call(&self) -> Result<&MemoryMeta> {
            match self.calls.fetch_add(1, Ordering::Relaxed) == self.fails_at {
                true if self.panics => panic!("a planned panic"),
                true => Err(StorageError::Full("a planned failure".into())),
                false => Ok(&self.map),
            }
        }
    }

    impl MetaMap for Failing {
        fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
            self.call()?.get(key)
        }

        fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
            self.call()?.scan(prefix, visit)
        }

        fn apply(&self, changes: &[MetaOp]) -> Result<()> {
            self.call()?.apply(changes)
        }

        fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
            self.call()?.apply_lazily(changes)
        }
    }

    #[test]
    fn failure_of_the_map_fails_a_call_of_the_server() {
        for panics in [false, true] {
            for fails_at in 0..4 {
                let map = Failing { map: MemoryMeta::default(), calls: 0.into(), fails_at, panics };
                let meta = Meta::new(map);
                let put = [MetaOp::Put(b"key".to_vec(), b"value".to_vec())];
                assert_eq!(meta.apply(&put), Ok(()));
                assert_eq!(meta.apply_lazily(&put), Ok(()));
                let there = (fails_at > 2).then(|| b"value".to_vec());
                assert_eq!(meta.get(b"key"), Ok(there));
                let mut count = 0;
                let mut visit = |_: &[u8], _: &[u8]| {
                    count += 1;
                    true
                };
                assert_eq!(meta.scan(b"", &mut visit), Ok(()));
                assert_eq!(count, 0, "nothing is found once it has failed");
                assert!(meta.failure().get().is_some());
                assert_eq!(meta.get(b"key"), Ok(None));
                assert_eq!(meta.apply(&put), Ok(()));
            }
        }
    }
}

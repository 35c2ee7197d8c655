//! A directory of files that is only read, as a [`Device`]: what a process would change in it stays in memory.
//!
//! So a store that was not closed in good order opens as usual, and the directory stays as it is: what recovery cuts off, and
//! writes anew, goes with the process. The files must not change meanwhile, which the lock of the directory sees to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use edgecask_core::storage::{Access, BootId, Device, DeviceFile, MemoryFile, Result, StorageError};
use parking_lot::Mutex;

use super::directory::{Directory, Handle};

/// One directory of files that stay as they are.
pub struct ReadOnlyDirectory {
    directory: Directory,
    names: Mutex<Names>,
}

/// How the names differ from those of the directory.
#[derive(Default)]
struct Names {
    /// Files that were written here, or may be cut.
    own: BTreeMap<String, ReadOnlyFile>,
    /// Names that were taken away.
    gone: BTreeSet<String>,
}

/// One open file: the beginning of one of the directory, if it has one, and what was written behind it.
#[derive(Clone)]
pub struct ReadOnlyFile(Arc<Contents>);

struct Contents {
    base: Option<Handle>,
    /// So much of it counts. Only recovery changes that, which is one thread.
    base_bytes: AtomicU64,
    tail: MemoryFile,
}

impl ReadOnlyDirectory {
    /// Shows a directory that was opened to be read.
    pub fn of(directory: Directory) -> ReadOnlyDirectory {
        ReadOnlyDirectory { directory, names: Mutex::default() }
    }
}

impl ReadOnlyFile {
    fn new(base: Option<Handle>) -> Result<ReadOnlyFile> {
        let base_bytes = base.as_ref().map_or(Ok(0), DeviceFile::len)?;
        Ok(ReadOnlyFile(Arc::new(Contents {
            base,
            base_bytes: AtomicU64::new(base_bytes),
            tail: MemoryFile::default(),
        })))
    }

    fn base_bytes(&self) -> u64 {
        self.0.base_bytes.load(Ordering::Relaxed)
    }
}

impl Device for ReadOnlyDirectory {
    type File = ReadOnlyFile;

    fn create(&self, name: &str, access: Access) -> Result<ReadOnlyFile> {
        let mut names = self.names.lock();
        let is_there = || !names.gone.contains(name) && self.directory.open(name, access).is_ok();
        if names.own.contains_key(name) || is_there() {
            return Err(StorageError::Refused(format!("{name} exists already")));
        }
        let file = ReadOnlyFile::new(None)?;
        names.own.insert(name.to_owned(), file.clone());
        Ok(file)
    }

    fn open(&self, name: &str, access: Access) -> Result<ReadOnlyFile> {
        let mut names = self.names.lock();
        if let Some(file) = names.own.get(name) {
            return Ok(file.clone());
        }
        if names.gone.contains(name) {
            return Err(StorageError::Missing(name.to_owned()));
        }
        let file = ReadOnlyFile::new(Some(self.directory.open(name, access)?))?;
        // Blobs are only read, and there may be more of them than descriptors.
        if access == Access::Log {
            names.own.insert(name.to_owned(), file.clone());
        }
        Ok(file)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let file = self.open(from, Access::Whole)?;
        let mut names = self.names.lock();
        names.own.remove(from);
        names.gone.insert(from.to_owned());
        names.own.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.open(name, Access::Whole)?;
        let mut names = self.names.lock();
        names.own.remove(name);
        names.gone.insert(name.to_owned());
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        let names = self.names.lock();
        let mut all: BTreeSet<String> = self.directory.list()?.into_iter().collect();
        all.retain(|name| !names.gone.contains(name));
        all.extend(names.own.keys().cloned());
        Ok(all.into_iter().collect())
    }

    /// What is in memory is as safe as it will be.
    fn sync_directory(&self) -> Result<()> {
        Ok(())
    }

    fn boot_id(&self) -> Option<BootId> {
        self.directory.boot_id()
    }

    fn grows_ahead(&self) -> bool {
        self.directory.grows_ahead()
    }

    fn place(&self, name: &str) -> String {
        self.directory.place(name)
    }

    fn note_recovered(&self, bytes: u64) {
        self.directory.note_recovered(bytes);
    }
}

impl DeviceFile for ReadOnlyFile {
    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<()> {
        match offset.checked_sub(self.base_bytes()) {
            Some(offset) => self.0.tail.write(offset, parts),
            None => Err(StorageError::Refused("what is there is only read".into())),
        }
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        let base_bytes = self.base_bytes();
        let missing = || StorageError::Missing(format!("{len} bytes at {offset} of a file that ends before"));
        let end = offset.checked_add(len).ok_or_else(missing)?;
        match &self.0.base {
            Some(base) if end <= base_bytes => base.read(offset, len, visit),
            _ if offset >= base_bytes => self.0.tail.read(offset - base_bytes, len, visit),
            None => Err(missing()),
            Some(base) => {
                let mut all = Vec::new();
                base.read(offset, base_bytes - offset, &mut |bytes| all.extend_from_slice(bytes))?;
                self.0.tail.read(0, end - base_bytes, &mut |bytes| all.extend_from_slice(bytes))?;
                visit(&all);
                Ok(())
            }
        }
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let base_bytes = self.base_bytes().min(len);
        self.0.base_bytes.store(base_bytes, Ordering::Relaxed);
        self.0.tail.set_len(len - base_bytes)
    }

    fn len(&self) -> Result<u64> {
        Ok(self.base_bytes() + self.0.tail.len()?)
    }
}

#[cfg(test)]
mod tests {
    use edgecask_core::storage::{Access, Device, DeviceFile};

    use super::ReadOnlyDirectory;
    use crate::storage::directory::Directory;

    #[test]
    fn directory_that_is_only_read_is_changed() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("1.data");
        std::fs::write(&path, b"0123456789").expect("writes");
        let directory = Directory::open_to_read(folder.path()).expect("opens");
        let device = ReadOnlyDirectory::of(directory);
        let file = device.open("1.data", Access::Log).expect("opens");
        let shown = |from: u64, len: u64| {
            let mut all = Vec::new();
            file.read(from, len, &mut |bytes| all.extend_from_slice(bytes)).map(|()| all)
        };
        file.set_len(6).expect("cuts");
        assert!(file.write(3, &[b"x"]).is_err() && shown(5, 2).is_err());
        file.write(6, &[b"ab", b"c"]).expect("appends");
        assert_eq!(shown(4, 5).expect("is there"), b"45abc");
        assert_eq!(device.open("1.data", Access::Log).expect("the same").len(), Ok(9));
        assert!(device.create("1.data", Access::Log).is_err());
        device.rename("1.data", "2.data").expect("renames");
        device.create("3.data", Access::Log).expect("creates");
        assert_eq!(device.list().expect("lists"), ["2.data", "3.data"]);
        assert!(device.open("1.data", Access::Log).is_err());
        device.remove("2.data").expect("removes");
        assert_eq!(device.list().expect("lists"), ["3.data"]);
        assert_eq!(std::fs::read(&path).expect("reads"), b"0123456789");
        assert_eq!(std::fs::read_dir(folder.path()).expect("lists").count(), 1);
    }
}

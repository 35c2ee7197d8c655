//! A device and a metadata map in memory: for tests, and for a home that wants no disk.
//!
//! Clones share their contents, so that a store can be "opened again" in the same process. Nothing survives the
//! process, and nothing fails except for want of memory. Visitors run under the lock of what they visit: they may read
//! on, but must not write to the same file or map.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::{Access, BootId, Device, DeviceFile, DeviceStorage, MetaMap, MetaOp, Result, StorageError};

/// [`super::Storage`] in memory.
pub type MemoryStorage = DeviceStorage<MemoryDevice, MemoryMeta>;

impl MemoryStorage {
    /// An empty store.
    pub fn new() -> MemoryStorage {
        MemoryStorage::open(MemoryDevice::default(), MemoryMeta::default())
            .expect("Invariant: an empty directory in memory has no operation that fails")
    }
}

impl Default for MemoryStorage {
    fn default() -> MemoryStorage {
        MemoryStorage::new()
    }
}

/// One directory of files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryDevice {
    names: Arc<Mutex<BTreeMap<String, MemoryFile>>>,
}

/// An open file of a [`MemoryDevice`].
#[derive(Clone, Debug, Default)]
pub struct MemoryFile {
    bytes: Arc<RwLock<Vec<u8>>>,
}

impl Device for MemoryDevice {
    type File = MemoryFile;

    fn create(&self, name: &str, _access: Access) -> Result<MemoryFile> {
        let mut names = self.names.lock();
        if names.contains_key(name) {
            return Err(StorageError::Refused(format!("{name} exists already")));
        }
        let file = MemoryFile::default();
        names.insert(name.to_owned(), file.clone());
        Ok(file)
    }

    fn open(&self, name: &str, _access: Access) -> Result<MemoryFile> {
        self.names.lock().get(name).cloned().ok_or_else(|| StorageError::Missing(name.to_owned()))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut names = self.names.lock();
        let file = names.remove(from).ok_or_else(|| StorageError::Missing(from.to_owned()))?;
        names.insert(to.to_owned(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        match self.names.lock().remove(name) {
            Some(_) => Ok(()),
            None => Err(StorageError::Missing(name.to_owned())),
        }
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.names.lock().keys().cloned().collect())
    }

    fn sync_directory(&self) -> Result<()> {
        Ok(())
    }

    /// What outlives the loss of power here is nothing, so there is nothing torn to be found.
    fn boot_id(&self) -> Option<BootId> {
        Some(BootId([0; 16]))
    }
}

impl DeviceFile for MemoryFile {
    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<()> {
        overwrite(&mut self.bytes.write(), offset, parts)
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        // Recursive, because the visitor may read on while a writer waits.
        let bytes = self.bytes.read_recursive();
        visit(slice(&bytes, offset, len)?);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        resize(&mut self.bytes.write(), len)
    }

    fn len(&self) -> Result<u64> {
        Ok(self.bytes.read_recursive().len() as u64)
    }
}

/// Writes `parts`, concatenated, over `bytes` at `offset`; all or nothing.
pub(crate) fn overwrite(bytes: &mut Vec<u8>, offset: u64, parts: &[&[u8]]) -> Result<()> {
    let len: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let end = offset.checked_add(len).ok_or_else(out_of_memory)?;
    let mut at = usize::try_from(offset).map_err(|_| out_of_memory())?;
    if at == bytes.len() {
        // The common case, an append, writes every byte once.
        bytes.try_reserve(usize::try_from(len).map_err(|_| out_of_memory())?).map_err(|_| out_of_memory())?;
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        return Ok(());
    }
    if len > 0 && end > bytes.len() as u64 {
        resize(bytes, end)?;
    }
    for part in parts.iter().filter(|part| !part.is_empty()) {
        bytes[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    Ok(())
}

/// Cuts or extends (with zeros) `bytes` to `len`.
pub(crate) fn resize(bytes: &mut Vec<u8>, len: u64) -> Result<()> {
    let len = usize::try_from(len).map_err(|_| out_of_memory())?;
    bytes.try_reserve(len.saturating_sub(bytes.len())).map_err(|_| out_of_memory())?;
    bytes.resize(len, 0);
    Ok(())
}

/// The `len` bytes at `offset`.
pub(crate) fn slice(bytes: &[u8], offset: u64, len: u64) -> Result<&[u8]> {
    let range = || {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        bytes.get(start..end)
    };
    range().ok_or_else(|| {
        StorageError::Missing(format!("{len} bytes at {offset} of a file of {} bytes", bytes.len()))
    })
}

fn out_of_memory() -> StorageError {
    StorageError::Full("memory".into())
}

/// The contents of a metadata map.
pub(super) type Pairs = BTreeMap<Vec<u8>, Vec<u8>>;

/// A metadata map in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryMeta {
    pairs: Arc<RwLock<Pairs>>,
}

impl MetaMap for MemoryMeta {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.pairs.read_recursive().get(key).cloned())
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        scan_pairs(&self.pairs.read_recursive(), prefix, visit);
        Ok(())
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        apply_to_pairs(&mut self.pairs.write(), changes);
        Ok(())
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        self.apply(changes)
    }
}

/// Shows all pairs whose key begins with `prefix`, in order, until the visitor returns false.
pub(super) fn scan_pairs(pairs: &Pairs, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) {
    for (key, value) in pairs.range::<[u8], _>((Bound::Included(prefix), Bound::Unbounded)) {
        if !key.starts_with(prefix) || !visit(key, value) {
            return;
        }
    }
}

/// Makes changes in their order.
pub(super) fn apply_to_pairs(pairs: &mut Pairs, changes: &[MetaOp]) {
    for change in changes {
        match change {
            MetaOp::Put(key, value) => {
                pairs.insert(key.clone(), value.clone());
            }
            MetaOp::Delete(key) => {
                pairs.remove(key);
            }
        }
    }
}

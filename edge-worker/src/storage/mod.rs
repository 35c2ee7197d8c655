//! [`Storage`] on rows: a datafile is a run of chunks, and the bytes appended in one event are inserted together at its end.
//!
//! ```text
//!  chunk  number = file << 30 | offset of its first byte, at most CHUNK_BYTES bytes; never changed, only inserted and removed
//!  entry  0 and a key of the metadata map        its value
//!         1 and a datafile's id, big-endian      one byte: hidden 0, listed 1, removed and still read 2
//!         2 and a name                           state of the object itself
//!         3                                      the manifest of the datafiles
//!         4 and a number, big-endian             a derived file; its first part is short
//! ```
//!
//! A call that returns an error has written nothing. After [`RowStorage::flush`] all bytes of the event are in rows. The
//! storage never writes a row beyond the platform's bounds (`limits.rs`), even where the local SQLite would take it.
//! There is no sync: the host makes an event durable before any reply to it leaves. There are no blobs.

mod cache;
mod file;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use edgecask_core::storage::{
    Blob, BlobId, BootId, Datafile, DatafileId, MetaMap, MetaOp, Part, Result, Storage, StorageError,
};
use parking_lot::Mutex;

use self::cache::Cache;
use self::file::RowFile;
use crate::host::{Entry, Host, LogLevel};
use crate::limits::{
    DATAFILES_MAX, ENTRIES_AT_A_TIME, META_KEY_MAX_BYTES, ROOM_LOOK_BYTES, ROW_MAX_BYTES,
    STORAGE_HARD_MAX_BYTES,
};

const META_SPACE: u8 = 0;
const FILE_SPACE: u8 = 1;
const STATE_SPACE: u8 = 2;
const MANIFEST_SPACE: u8 = 3;
const DERIVED_SPACE: u8 = 4;

/// The first part of a derived file is that short, since a list of the files reads the first parts of all.
const DERIVED_FIRST_MAX_BYTES: usize = 16;

/// The state in a datafile's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum FileState {
    Hidden = 0,
    Listed = 1,
    Removed = 2,
}

/// The rows of one object as a storage.
pub struct RowStorage<H: Host> {
    rows: Arc<Rows<H>>,
}

/// The rows, shared by the storage and its open files.
struct Rows<H: Host> {
    host: H,
    open: Mutex<BTreeMap<u32, Weak<RowFile<H>>>>,
    /// Files with bytes that are in no row yet.
    unwritten: Mutex<Vec<Arc<RowFile<H>>>>,
    cache: Mutex<Cache>,
    /// Bytes in SQLite when it was last asked, and the bytes appended since.
    stored_bytes: AtomicU64,
    appended_bytes: AtomicU64,
    commits: AtomicU64,
}

impl<H: Host> RowStorage<H> {
    /// The storage of an object. Datafiles that an earlier life had hidden, or had removed while reading them, are removed.
    pub fn open(host: H) -> RowStorage<H> {
        let rows = Rows {
            host,
            open: Mutex::default(),
            unwritten: Mutex::default(),
            cache: Mutex::default(),
            stored_bytes: AtomicU64::new(0),
            appended_bytes: AtomicU64::new(0),
            commits: AtomicU64::new(0),
        };
        for (id, state) in rows.files() {
            if state != FileState::Listed as u8 {
                rows.forget(id);
            }
        }
        RowStorage { rows: Arc::new(rows) }
    }

    /// Begins an event.
    pub fn begin_event(&self) {
        // Asking costs as much as a command, and the answer hardly changes while the log hardly grows.
        let appended = self.rows.appended_bytes.load(Ordering::Relaxed);
        if appended >= ROOM_LOOK_BYTES || self.rows.stored_bytes.load(Ordering::Relaxed) == 0 {
            self.rows.stored_bytes.store(self.rows.host.stored_bytes(), Ordering::Relaxed);
            self.rows.appended_bytes.store(0, Ordering::Relaxed);
        }
    }

    /// Bytes in SQLite, those of this event included.
    pub fn stored_bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// So many bytes that nobody can guess.
    pub fn random(&self, len: usize) -> Vec<u8> {
        self.rows.host.random(len)
    }

    /// Writes a line to the worker's console.
    pub fn write_log(&self, level: LogLevel, text: &str) {
        self.rows.host.write_log(level, text);
    }

    /// Bytes of heap in use.
    pub fn heap_bytes(&self) -> usize {
        self.rows.host.heap_bytes()
    }

    /// Bytes of memory that the instance has taken.
    pub fn resident_bytes(&self) -> usize {
        self.rows.host.resident_bytes()
    }

    /// Events that appended something: each is one wait for the platform's disks.
    pub fn commits(&self) -> u64 {
        self.rows.commits.load(Ordering::Relaxed)
    }

    /// Delivers messages, after the writes that they acknowledge are in rows.
    pub fn deliver(&self, messages: &[u8]) {
        self.flush();
        self.rows.host.deliver(messages);
    }

    /// Inserts the bytes that this event has appended.
    pub fn flush(&self) {
        let unwritten = std::mem::take(&mut *self.rows.unwritten.lock());
        if !unwritten.is_empty() {
            self.rows.commits.fetch_add(1, Ordering::Relaxed);
        }
        unwritten.iter().for_each(|file| file.flush());
    }

    /// State of the object itself, by name.
    pub fn state(&self, name: &str) -> Option<Vec<u8>> {
        self.rows.value(&spaced(STATE_SPACE, name.as_bytes()))
    }

    /// Persists state of the object itself under a name.
    pub fn put_state(&self, name: &str, value: &[u8]) {
        self.rows.put(&spaced(STATE_SPACE, name.as_bytes()), value);
    }
}

impl<H: Host> Rows<H> {
    fn bytes(&self) -> u64 {
        self.stored_bytes.load(Ordering::Relaxed) + self.appended_bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes that are about to be written; fails if they do not fit.
    fn reserve(&self, bytes: u64) -> Result<()> {
        if self.bytes().saturating_add(bytes) > STORAGE_HARD_MAX_BYTES {
            return Err(StorageError::Full("the object's storage".into()));
        }
        self.appended_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Ids and states of all datafiles.
    fn files(&self) -> Vec<(u32, u8)> {
        let mut files = Vec::new();
        self.scan(&[FILE_SPACE], Some(&[FILE_SPACE + 1]), &mut |key, state| {
            let id = key.split_first().and_then(|(_, id)| Some(u32::from_be_bytes(id.try_into().ok()?)));
            files.extend(id.zip(state.first().copied()));
            true
        });
        files
    }

    /// The numbers of all derived files. Their first parts, which are short, are read with them.
    fn derived_numbers(&self) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut from = (vec![DERIVED_SPACE], 0);
        while let Some(found) = self.host.entries((&from.0, from.1), Some(&[DERIVED_SPACE + 1]), 1).pop() {
            let number = found.key.split_first().and_then(|(_, number)| number.try_into().ok());
            numbers.extend(number.map(u64::from_be_bytes));
            // Behind all parts of this one.
            from = ([&*found.key, &[0]].concat(), 0);
        }
        numbers
    }

    fn state(&self, id: DatafileId) -> Option<u8> {
        self.value(&file_key(id.0)).and_then(|state| state.first().copied())
    }

    fn set_state(&self, id: u32, state: FileState) {
        self.put(&file_key(id), &[state as u8]);
    }

    /// Removes all rows of a datafile.
    fn forget(&self, id: u32) {
        let from = file::number(id, 0);
        let to = file::number_behind(id);
        self.cache.lock().remove(from, to);
        self.host.remove_chunks(from, to);
        self.host.remove_entry(&file_key(id));
    }

    fn value(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut value = None;
        // Nothing lies between a key and the same with a zero behind it.
        self.scan(key, Some(&[key, &[0]].concat()), &mut |_, bytes| {
            value = Some(bytes.to_vec());
            true
        });
        value
    }

    /// Shows keys from `from` to below `to` (or all that follow) with their values until `visit` has enough.
    fn scan(&self, from: &[u8], to: Option<&[u8]>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) {
        let mut from = (from.to_vec(), 0);
        let mut value: Option<Entry> = None;
        loop {
            let parts = self.host.entries((&from.0, from.1), to, ENTRIES_AT_A_TIME);
            let is_last = parts.len() < ENTRIES_AT_A_TIME;
            for part in parts {
                from = (part.key.clone(), part.part + 1);
                match &mut value {
                    Some(value) if value.key == part.key => value.bytes.extend_from_slice(&part.bytes),
                    _ => {
                        if let Some(whole) = value.replace(part)
                            && !visit(&whole.key, &whole.bytes)
                        {
                            return;
                        }
                    }
                }
            }
            if is_last {
                break;
            }
        }
        if let Some(whole) = value {
            visit(&whole.key, &whole.bytes);
        }
    }

    fn put(&self, key: &[u8], value: &[u8]) {
        self.put_parts(key, value, ROW_MAX_BYTES);
    }

    /// Puts a value whose first part has so many bytes at most.
    fn put_parts(&self, key: &[u8], value: &[u8], first_max_bytes: usize) {
        self.host.remove_entry(key);
        let (mut part, mut rest, mut most) = (0, value, first_max_bytes);
        loop {
            let (piece, behind) = rest.split_at(rest.len().min(most));
            self.host.insert_entry(key, part, piece);
            if behind.is_empty() {
                return;
            }
            (rest, part, most) = (behind, part + 1, ROW_MAX_BYTES);
        }
    }
}

impl<H: Host> RowStorage<H> {
    fn make(&self, id: DatafileId, header: &[u8], state: FileState) -> Result<Arc<dyn Datafile>> {
        if self.rows.state(id).is_some() {
            return Err(StorageError::Refused(format!("datafile {} exists already", id.0)));
        }
        if id.0 >= DATAFILES_MAX {
            return Err(StorageError::Full("the numbers of datafiles".into()));
        }
        self.rows.set_state(id.0, state);
        let file = Arc::new(RowFile::new(id.0, self.rows.clone(), 0));
        self.rows.open.lock().insert(id.0, Arc::downgrade(&file));
        let handle = file::Handle(file);
        handle.append(0, &[header])?;
        Ok(Arc::new(handle))
    }

    fn opened(&self, id: u32) -> Option<Arc<RowFile<H>>> {
        self.rows.open.lock().get(&id).and_then(Weak::upgrade)
    }
}

impl<H: Host> Storage for RowStorage<H> {
    fn create(&self, id: DatafileId, header: &[u8]) -> Result<Arc<dyn Datafile>> {
        self.make(id, header, FileState::Listed)
    }

    fn create_hidden(&self, id: DatafileId, header: &[u8]) -> Result<Arc<dyn Datafile>> {
        self.make(id, header, FileState::Hidden)
    }

    fn publish(&self, id: DatafileId) -> Result<()> {
        if self.rows.state(id) != Some(FileState::Hidden as u8) {
            return Err(StorageError::Missing(format!("hidden datafile {}", id.0)));
        }
        self.rows.set_state(id.0, FileState::Listed);
        Ok(())
    }

    fn open(&self, id: DatafileId) -> Result<Arc<dyn Datafile>> {
        if self.rows.state(id) != Some(FileState::Listed as u8) {
            return Err(StorageError::Missing(format!("datafile {}", id.0)));
        }
        let file = self.opened(id.0).unwrap_or_else(|| {
            let file = Arc::new(RowFile::new(id.0, self.rows.clone(), file::stored_len(&self.rows, id.0)));
            self.rows.open.lock().insert(id.0, Arc::downgrade(&file));
            file
        });
        Ok(Arc::new(file::Handle(file)))
    }

    fn remove(&self, id: DatafileId) -> Result<()> {
        match self.rows.state(id) {
            Some(state) if state != FileState::Removed as u8 => {}
            _ => return Err(StorageError::Missing(format!("datafile {}", id.0))),
        }
        self.rows.unwritten.lock().retain(|file| file.id() != id.0);
        match self.opened(id.0) {
            Some(file) => {
                self.rows.set_state(id.0, FileState::Removed);
                file.end_with_last_handle();
            }
            None => self.rows.forget(id.0),
        }
        Ok(())
    }

    fn list(&self) -> Result<Vec<DatafileId>> {
        let listed = self.rows.files().into_iter().filter(|(_, state)| *state == FileState::Listed as u8);
        Ok(listed.map(|(id, _)| DatafileId(id)).collect())
    }

    fn create_blob(&self, _id: BlobId) -> Result<Arc<dyn Blob>> {
        Err(StorageError::Refused("values at the edge are not large enough for blobs".into()))
    }

    fn open_blob(&self, id: BlobId) -> Result<Arc<dyn Blob>> {
        Err(StorageError::Missing(format!("blob {}", id.0)))
    }

    fn remove_blob(&self, id: BlobId) -> Result<()> {
        Err(StorageError::Missing(format!("blob {}", id.0)))
    }

    fn list_blobs(&self) -> Result<Vec<BlobId>> {
        Ok(Vec::new())
    }

    fn sync_blob_names(&self) -> Result<()> {
        Ok(())
    }

    fn meta(&self) -> &dyn MetaMap {
        self
    }

    fn manifest(&self) -> Result<Option<Vec<u8>>> {
        Ok(self.rows.value(&[MANIFEST_SPACE]))
    }

    fn put_manifest(&self, bytes: &[u8]) -> Result<()> {
        self.rows.reserve(bytes.len() as u64)?;
        self.rows.put(&[MANIFEST_SPACE], bytes);
        Ok(())
    }

    fn put_derived(&self, number: u64, bytes: &[u8]) -> Result<()> {
        self.rows.reserve(bytes.len() as u64)?;
        let key = spaced(DERIVED_SPACE, &number.to_be_bytes());
        self.rows.put_parts(&key, bytes, DERIVED_FIRST_MAX_BYTES);
        Ok(())
    }

    fn derived(&self, number: u64) -> Result<Option<Vec<u8>>> {
        Ok(self.rows.value(&spaced(DERIVED_SPACE, &number.to_be_bytes())))
    }

    fn remove_derived(&self, number: u64) -> Result<()> {
        self.rows.host.remove_entry(&spaced(DERIVED_SPACE, &number.to_be_bytes()));
        Ok(())
    }

    fn list_derived(&self) -> Result<Vec<u64>> {
        Ok(self.rows.derived_numbers())
    }

    /// The rows of an event are there together or not at all, whatever becomes of machines.
    fn boot_id(&self) -> Option<BootId> {
        Some(BootId([0; 16]))
    }

    fn place(&self, part: Part) -> String {
        match part {
            Part::Datafile(id) => format!("the rows of datafile {}", id.0),
            Part::Blob(id) => format!("blob {}", id.0),
            Part::Manifest => "the row of the manifest".into(),
        }
    }

    fn copy_aside(&self, _id: DatafileId, _from: u64, _to: u64) -> Result<String> {
        Err(no_files())
    }

    fn set_aside(&self, _id: DatafileId) -> Result<String> {
        Err(no_files())
    }
}

/// Nothing can be put beside the store: there are no files here.
fn no_files() -> StorageError {
    StorageError::Refused("an object has no place for what is no part of its store".into())
}

impl<H: Host> MetaMap for RowStorage<H> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.rows.value(&spaced(META_SPACE, key)))
    }

    fn scan(&self, prefix: &[u8], visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let from = spaced(META_SPACE, prefix);
        self.rows.scan(&from, successor(&from).as_deref(), &mut |key, value| {
            visit(key.get(1..).unwrap_or_default(), value)
        });
        Ok(())
    }

    fn apply(&self, changes: &[MetaOp]) -> Result<()> {
        let mut bytes = 0;
        for change in changes {
            let (MetaOp::Put(key, _) | MetaOp::Delete(key)) = change;
            if key.len() > META_KEY_MAX_BYTES {
                return Err(StorageError::Refused("a metadata key is too long".into()));
            }
            if let MetaOp::Put(key, value) = change {
                bytes += (key.len() + value.len()) as u64;
            }
        }
        self.rows.reserve(bytes)?;
        for change in changes {
            match change {
                MetaOp::Put(key, value) => self.rows.put(&spaced(META_SPACE, key), value),
                MetaOp::Delete(key) => self.rows.host.remove_entry(&spaced(META_SPACE, key)),
            }
        }
        Ok(())
    }

    fn apply_lazily(&self, changes: &[MetaOp]) -> Result<()> {
        self.apply(changes)
    }
}

fn spaced(space: u8, key: &[u8]) -> Vec<u8> {
    [&[space], key].concat()
}

fn file_key(id: u32) -> Vec<u8> {
    spaced(FILE_SPACE, &id.to_be_bytes())
}

/// The first key behind all that begin with `prefix`.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut next = prefix.to_vec();
    while let Some(last) = next.pop() {
        if let Some(more) = last.checked_add(1) {
            next.push(more);
            return Some(next);
        }
    }
    None
}

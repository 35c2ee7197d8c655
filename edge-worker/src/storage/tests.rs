//! The contract of storages on rows in memory, and the bounds of rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use edgecask_core::storage::{BootId, DatafileId, MetaMap, MetaOp, Part, Storage, StorageError, contract};
use parking_lot::Mutex;

use super::RowStorage;
use crate::host::{Entry, Host, LogLevel};
use crate::limits::{CHUNK_BYTES, FRAME_MAX_BYTES, ROW_MAX_BYTES, STORAGE_HARD_MAX_BYTES};

/// Rows in memory, which outlive a storage.
#[derive(Clone, Default)]
pub struct FakeHost(Arc<Mutex<Tables>>);

#[derive(Default)]
struct Tables {
    chunks: BTreeMap<u64, Vec<u8>>,
    entries: BTreeMap<(Vec<u8>, u32), Vec<u8>>,
    stored_bytes: u64,
    more_heap_bytes: usize,
    messages: Vec<u8>,
    log: Vec<(LogLevel, String)>,
}

impl Host for FakeHost {
    fn insert_chunk(&self, number: u64, bytes: &[u8]) {
        assert!(bytes.len() <= CHUNK_BYTES && !bytes.is_empty(), "a chunk of {} bytes", bytes.len());
        let before = self.0.lock().chunks.insert(number, bytes.to_vec());
        assert_eq!(before, None, "chunk {number} was there");
    }

    fn chunks(&self, from: u64, to: u64) -> Vec<(u64, Vec<u8>)> {
        let tables = self.0.lock();
        let first = tables.chunks.range(..=from).next_back().map_or(from, |(number, _)| *number);
        tables.chunks.range(first..to).map(|(number, bytes)| (*number, bytes.clone())).collect()
    }

    fn remove_chunks(&self, from: u64, to: u64) {
        self.0.lock().chunks.retain(|number, _| !(from..to).contains(number));
    }

    fn entries(&self, from: (&[u8], u32), to: Option<&[u8]>, most: usize) -> Vec<Entry> {
        let tables = self.0.lock();
        let inside = tables.entries.iter().filter(|((key, part), _)| {
            (key.as_slice(), *part) >= from && to.is_none_or(|to| key.as_slice() < to)
        });
        let entry = |((key, part), bytes): (&(Vec<u8>, u32), &Vec<u8>)| Entry {
            key: key.clone(),
            part: *part,
            bytes: bytes.clone(),
        };
        inside.take(most).map(entry).collect()
    }

    fn insert_entry(&self, key: &[u8], part: u32, bytes: &[u8]) {
        assert!(bytes.len() <= ROW_MAX_BYTES, "a part of {} bytes", bytes.len());
        let before = self.0.lock().entries.insert((key.to_vec(), part), bytes.to_vec());
        assert_eq!(before, None, "part {part} of {key:?} was there");
    }

    fn remove_entry(&self, key: &[u8]) {
        self.0.lock().entries.retain(|(name, _), _| name != key);
    }

    fn stored_bytes(&self) -> u64 {
        self.0.lock().stored_bytes
    }

    fn random(&self, len: usize) -> Vec<u8> {
        vec![0xa5; len]
    }

    fn heap_bytes(&self) -> usize {
        50_000 + self.0.lock().more_heap_bytes
    }

    fn resident_bytes(&self) -> usize {
        1 << 20
    }

    fn deliver(&self, messages: &[u8]) {
        self.0.lock().messages.extend_from_slice(messages);
    }

    fn write_log(&self, level: LogLevel, text: &str) {
        self.0.lock().log.push((level, text.to_owned()));
    }
}

impl FakeHost {
    /// The delivered messages.
    pub fn take_messages(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().messages)
    }

    /// The lines of the log.
    pub fn take_log(&self) -> Vec<(LogLevel, String)> {
        std::mem::take(&mut self.0.lock().log)
    }

    /// Says how much memory is in use besides a little.
    pub fn set_more_heap_bytes(&self, bytes: usize) {
        self.0.lock().more_heap_bytes = bytes;
    }

    /// Says how full SQLite is.
    pub fn set_stored_bytes(&self, bytes: u64) {
        self.0.lock().stored_bytes = bytes;
    }
}

/// Flushes when it is left, as every event does.
struct Event(RowStorage<FakeHost>);

impl Drop for Event {
    fn drop(&mut self) {
        self.0.flush();
    }
}

macro_rules! pass_on {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $out:ty;)*) => {
        $(fn $name(&self, $($argument: $kind),*) -> $out { self.0.$name($($argument),*) })*
    };
}

type Outcome<T> = Result<T, StorageError>;
type File = Arc<dyn edgecask_core::storage::Datafile>;
type Blob = Arc<dyn edgecask_core::storage::Blob>;
type Id = edgecask_core::storage::BlobId;

impl Storage for Event {
    pass_on! {
        create(id: DatafileId, header: &[u8]) -> Outcome<File>;
        create_hidden(id: DatafileId, header: &[u8]) -> Outcome<File>;
        publish(id: DatafileId) -> Outcome<()>;
        open(id: DatafileId) -> Outcome<File>;
        remove(id: DatafileId) -> Outcome<()>;
        list() -> Outcome<Vec<DatafileId>>;
        create_blob(id: Id) -> Outcome<Blob>;
        open_blob(id: Id) -> Outcome<Blob>;
        remove_blob(id: Id) -> Outcome<()>;
        list_blobs() -> Outcome<Vec<Id>>;
        sync_blob_names() -> Outcome<()>;
        meta() -> &dyn MetaMap;
        manifest() -> Outcome<Option<Vec<u8>>>;
        put_manifest(bytes: &[u8]) -> Outcome<()>;
        put_derived(number: u64, bytes: &[u8]) -> Outcome<()>;
        derived(number: u64) -> Outcome<Option<Vec<u8>>>;
        remove_derived(number: u64) -> Outcome<()>;
        list_derived() -> Outcome<Vec<u64>>;
        boot_id() -> Option<BootId>;
        place(part: Part) -> String;
        copy_aside(id: DatafileId, from: u64, to: u64) -> Outcome<String>;
        set_aside(id: DatafileId) -> Outcome<String>;
    }
}

#[test]
fn rows_keep_the_contract() {
    let host = FakeHost::default();
    contract::check_without_blobs(&mut || Event(RowStorage::open(host.clone())));
}

#[test]
fn row_is_longer_than_the_platform_takes() {
    let host = FakeHost::default();
    let storage = RowStorage::open(host);
    let long = vec![7; 3 * ROW_MAX_BYTES + 1];
    storage.apply(&[MetaOp::Put(b"long".to_vec(), long.clone())]).expect("apply");
    assert_eq!(storage.get(b"long"), Ok(Some(long)));
    let file = storage.create(DatafileId(1), b"").expect("create");
    file.append(0, &[&vec![1; 1_000_000]]).expect("append");
    storage.flush();
}

#[test]
fn append_that_does_not_fit_is_half_written() {
    let host = FakeHost::default();
    let storage = RowStorage::open(host.clone());
    let file = storage.create(DatafileId(1), b"head").expect("create");
    let long = vec![0; FRAME_MAX_BYTES as usize + 1];
    assert!(matches!(file.append(4, &[&long]), Err(StorageError::Full(_))));
    host.set_stored_bytes(STORAGE_HARD_MAX_BYTES - 10);
    storage.begin_event();
    assert!(matches!(file.append(4, &[b"eleven byte"]), Err(StorageError::Full(_))));
    assert_eq!(file.len(), Ok(4));
    assert_eq!(file.append(4, &[b"ten bytes."]), Ok(()));
}

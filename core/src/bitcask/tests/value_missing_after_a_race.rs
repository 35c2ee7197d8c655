//! Merge and hints read the keydir while commits change it. What they overlook is lost, so they are made to look at the
//! worst moments many times. Only where there are threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::harness::{OPTIONS, contents, open, put, remove, run, sub_put};
use crate::bitcask::Bitcask;
use crate::bitcask::record::{Header, Record, RecordType};
use crate::engine::laws::{self, Operation};
use crate::engine::{Admin, Overlay, Scope, Txn};
use crate::engine::{Engine, Result};
use crate::storage::memory::{MemoryDevice, MemoryFile, MemoryMeta};
use crate::storage::{self, Access, BootId, Device, DeviceFile, DeviceStorage, Simulation};

/// Runs one operation that names these keys, locking no more than a command would.
fn run_on(store: &Bitcask, keys: &[&[u8]], operation: &Operation) -> Result<()> {
    let mut snapshot = store.begin(Scope::Keys(keys))?;
    let mut overlay = Overlay::new();
    laws::perform(&mut Txn::new(&mut snapshot, &mut overlay, 0), operation)?;
    laws::commit(store, snapshot, &mut overlay, 0).map(drop)
}

/// Says that it is over, also when the test panics: otherwise the background would never end.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs each of `background` again and again, on a thread of its own, while `foreground` runs once.
fn beside(foreground: impl FnOnce(), background: &[&(dyn Fn() + Sync)]) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&is_over);
        for work in background {
            scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) {
                    work();
                    std::thread::yield_now();
                }
            });
        }
        foreground();
    });
}

/// Merge asks where a field is while RENAME takes the whole hash to another shard.
#[test]
fn field_overlooked_while_its_hash_is_renamed() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    run(&store, &[sub_put("hash 0", "field", &[7; 90])]);
    let name = |number: u32| format!("hash {}", number % 5).into_bytes();
    for number in 0..400 {
        let (from, to) = (name(number), name(number + 1));
        let keys: [&[u8]; 2] = [&from, &to];
        let mut snapshot = store.begin(Scope::Keys(&keys)).expect("begin");
        let mut overlay = Overlay::new();
        let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
        let root = txn.root(0, &from).expect("readable").expect("there");
        txn.rename((0, &from), (0, &to)).expect("rename");
        let header = Header::new(RecordType::Sub, 0, 0, root.collection);
        let record = Record { header, checksum: 0, key: b"field", value: &[] };
        let is_asking = AtomicBool::new(false);
        let found = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                is_asking.store(true, Ordering::Release);
                store.entry_location(&record)
            });
            while !is_asking.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            // By now it mostly waits for the shard that the hash is about to leave.
            (0..20).for_each(|_| std::thread::yield_now());
            laws::commit(&store, snapshot, &mut overlay, 0).expect("commit");
            asking.join().expect("no panic")
        });
        assert!(found.is_some(), "a living field was taken for dead in round {number}");
    }
}

#[test]
fn databases_and_hashes_missing_after_a_checkpoint() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    let checkpoint = || store.checkpoint(0).expect("checkpoint");
    beside(
        || {
            for round in 0..400_u32 {
                let hash =
                    |number: u32| sub_put(&format!("hash {}", number % 90), "field", &number.to_le_bytes());
                run(&store, &[hash(round), hash(round * 7), Operation::Swap(round % 3, (round + 1) % 3)]);
                if round % 20 == 19 {
                    let next = open(&machine.after_kill()).expect("open");
                    let lines = laws::difference(&contents(&store), &contents(&next.store));
                    assert_eq!(lines, None, "round {round}");
                }
            }
        },
        &[&checkpoint],
    );
}

#[test]
fn values_missing_while_everything_runs() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    let write = |writer: u8| {
        for number in 0..3000_u32 {
            let key = format!("key {writer} {}", number % 50);
            let operation = match number % 7 {
                0 => remove(&key),
                1..4 => put(&key, &number.to_le_bytes().repeat(60)),
                _ => sub_put(&key, &format!("field {}", number % 11), &[writer; 80]),
            };
            run_on(&store, &[key.as_bytes()], &operation).expect("write");
        }
    };
    beside(
        || {
            std::thread::scope(|scope| {
                scope.spawn(|| write(0));
                write(1);
            });
        },
        &[
            &|| assert!(store.merge_step(2000).is_ok()),
            &|| assert!(store.hint_step().is_ok()),
            &|| assert!(store.sync().is_ok()),
            &|| assert!(store.drain_garbage(5) < 1000),
        ],
    );
    let found = contents(&store);
    assert!(found.len() > 40 && OPTIONS.datafile_max_bytes < 10_000);
    for _ in 0..3 {
        let next = open(&machine.after_kill()).expect("open").store;
        assert_eq!(laws::difference(&found, &contents(&next)), None);
    }
}

/// A device in memory that makes the caller wait that syncs a blob.
struct SlowBlobs {
    device: MemoryDevice,
    begun: mpsc::Sender<&'static str>,
    is_open: Arc<AtomicBool>,
}

struct SlowFile {
    file: MemoryFile,
    /// Of a blob only.
    gate: Option<(mpsc::Sender<&'static str>, Arc<AtomicBool>)>,
}

impl SlowBlobs {
    fn wrap(&self, file: MemoryFile, access: Access) -> SlowFile {
        let gate = (access == Access::Blob).then(|| (self.begun.clone(), self.is_open.clone()));
        SlowFile { file, gate }
    }
}

impl Device for SlowBlobs {
    type File = SlowFile;

    fn create(&self, name: &str, access: Access) -> storage::Result<SlowFile> {
        self.device.create(name, access).map(|file| self.wrap(file, access))
    }

    fn open(&self, name: &str, access: Access) -> storage::Result<SlowFile> {
        self.device.open(name, access).map(|file| self.wrap(file, access))
    }

    fn rename(&self, from: &str, to: &str) -> storage::Result<()> {
        self.device.rename(from, to)
    }

    fn remove(&self, name: &str) -> storage::Result<()> {
        self.device.remove(name)
    }

    fn list(&self) -> storage::Result<Vec<String>> {
        self.device.list()
    }

    fn sync_directory(&self) -> storage::Result<()> {
        self.device.sync_directory()
    }

    fn boot_id(&self) -> Option<BootId> {
        self.device.boot_id()
    }
}

impl DeviceFile for SlowFile {
    fn write(&self, offset: u64, parts: &[&[u8]]) -> storage::Result<()> {
        self.file.write(offset, parts)
    }

    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        self.file.read(offset, len, visit)
    }

    fn sync(&self) -> storage::Result<()> {
        if let Some((begun, is_open)) = &self.gate {
            begun.send("a sync of the blob has begun").expect("the test listens");
            while !is_open.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
        self.file.sync()
    }

    fn set_len(&self, len: u64) -> storage::Result<()> {
        self.file.set_len(len)
    }

    fn len(&self) -> storage::Result<u64> {
        self.file.len()
    }
}

/// A datafile is sealed, which says that all before was synced, while somebody else is still syncing its blob.
#[test]
fn blob_acknowledged_while_its_sync_is_under_way() {
    let (begun, events) = mpsc::channel();
    let is_open = Arc::new(AtomicBool::new(false));
    let device =
        SlowBlobs { device: MemoryDevice::default(), begun: begun.clone(), is_open: is_open.clone() };
    let storage = DeviceStorage::open(device, MemoryMeta::default()).expect("an empty directory");
    let Ok(opened) = Bitcask::open(Arc::new(storage), &OPTIONS) else { panic!("opens") };
    let store = opened.store;
    let written = laws::run(&store, &[put("blob", &[7; 2000])], 0).expect("a commit").position();
    std::thread::scope(|scope| {
        let _open = Over(&is_open);
        scope.spawn(|| store.sync().expect("a healthy device"));
        assert_eq!(events.recv(), Ok("a sync of the blob has begun"));
        scope.spawn(|| {
            // Several datafiles full.
            for number in 0..40 {
                run(&store, &[put(&format!("key {number}"), &[1; 1000])]);
            }
            begun.send("the datafiles were sealed").expect("the test listens");
        });
        let event = events.recv_timeout(Duration::from_millis(300));
        assert!(store.synced() < written, "acknowledged before it was synced: {event:?}");
        is_open.store(true, Ordering::Release);
    });
    assert!(store.synced() >= written);
}

//! A backup opens as a store of its own, holds what was committed at one moment, and neither store ever sees what is done
//! to the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::harness::{OPTIONS, Plan, Policy, contents, merge_all, open, put, remove, run};
use crate::bitcask::fault_injection::{Fault, with_fault};
use crate::bitcask::{Backup, BackupError, Bitcask, check};
use crate::engine::laws::{self, DATABASES, Dump, Operation};
use crate::engine::memory::MemoryEngine;
use crate::storage::memory::{MemoryDevice, MemoryFile, MemoryMeta};
use crate::storage::simulated::{Moment, Survival};
use crate::storage::{
    self, Access, Blob, BlobId, BootId, Datafile, DatafileId, Device, DeviceStorage, DeviceTarget,
    Simulation, StorageError, Taken, Target,
};

/// Takes a backup to a machine.
fn back_up(store: &Bitcask, to: &Simulation) -> Result<Backup, BackupError> {
    store.backup(&mut DeviceTarget::new(to.device(), &mut |_, _| true))
}

/// What a healthy backup holds, after everything in it was read.
fn held(backup: &Simulation) -> Dump {
    let storage = backup.open().expect("a device in order");
    let checked = check(&storage, DATABASES).expect("a readable device");
    assert!(checked.is_sound(), "{:?} {:?}", checked.damages, checked.damaged_blobs);
    contents(&open(backup).expect("a backup opens").store)
}

#[test]
fn backup_holds_what_was_committed_before_it() {
    for seed in 0..12 {
        let policy = [Policy::Always, Policy::Sometimes, Policy::Never][seed as usize % 3];
        let plan = Plan::new(seed, policy, 80);
        let machine = Simulation::new(seed);
        let store = open(&machine).expect("opens").store;
        for (number, (operations, now_ms)) in plan.transactions.iter().enumerate() {
            laws::run(&store, operations, *now_ms).expect("a healthy device");
            for chore in &plan.chores[number] {
                chore.run(&store, *now_ms).expect("a healthy device");
            }
            if number % 16 == 7 {
                let now = contents(&store);
                let to = Simulation::new(seed);
                back_up(&store, &to).expect("a backup");
                assert_eq!(laws::difference(&now, &held(&to)), None, "seed {seed}, transaction {number}");
                // And after the loss of power, since all of it is on the disk.
                let later = to.after_power_loss(Survival::None);
                assert_eq!(laws::difference(&now, &held(&later)), None, "seed {seed}, transaction {number}");
            }
        }
    }
}

#[test]
fn backup_of_an_empty_store_opens() {
    let to = Simulation::new(1);
    let store = open(&Simulation::new(1)).expect("opens").store;
    assert_eq!(back_up(&store, &to), Ok(Backup::default()));
    assert!(held(&to).is_empty());
}

/// A target before which something is done to the store.
struct Disturbed<'d, D: Device> {
    target: DeviceTarget<'d, D>,
    disturb: &'d mut dyn FnMut(),
}

impl<D: Device> Target for Disturbed<'_, D> {
    fn expect_bytes(&mut self, bytes: u64) {
        self.target.expect_bytes(bytes);
    }

    fn take_datafile(
        &mut self,
        id: DatafileId,
        place: &str,
        source: &dyn Datafile,
        len: u64,
    ) -> storage::Result<Taken> {
        (self.disturb)();
        self.target.take_datafile(id, place, source, len)
    }

    fn take_blob(&mut self, id: BlobId, place: &str, source: &dyn Blob, len: u64) -> storage::Result<Taken> {
        self.target.take_blob(id, place, source, len)
    }

    fn finish(&mut self, manifest: &[u8]) -> storage::Result<()> {
        self.target.finish(manifest)
    }
}

/// Everything is overwritten and removed, and all of it leaves the disk, while a backup is under way; then it is compared.
fn disturbed_backup() -> Result<(), String> {
    let machine = Simulation::new(3);
    let store = open(&machine).expect("opens").store;
    for number in 0..40 {
        run(&store, &[put(&format!("key {number}"), &[number; 400])]);
        run(&store, &[put(&format!("blob {}", number % 8), &[number; 3000])]);
    }
    let before = contents(&store);
    let to = Simulation::new(4);
    let mut progress = |done: u64, all: u64| done <= all;
    let mut disturb = || {
        for number in 0..40 {
            run(
                &store,
                &[put(&format!("key {number}"), b"another"), remove(&format!("blob {}", number % 8))],
            );
        }
        store.sync().expect("a healthy device");
        store.sweep_blobs().expect("a healthy device");
        merge_all(&store);
    };
    let mut target =
        Disturbed { target: DeviceTarget::new(to.device(), &mut progress), disturb: &mut disturb };
    let backup = store.backup(&mut target).map_err(|error| error.to_string())?;
    if !backup.damaged_blobs.is_empty() {
        return Err("blobs are missing".into());
    }
    match laws::difference(&before, &held(&to)) {
        None => Ok(()),
        Some(lines) => Err(lines),
    }
}

#[test]
fn backup_lacks_what_merge_removed_meanwhile() {
    assert_eq!(disturbed_backup(), Ok(()));
    assert!(with_fault(Some(Fault::BackupUnheld), disturbed_backup).is_err(), "the test sees a removed blob");
}

#[test]
fn blobs_that_died_during_a_backup_stay_for_ever() {
    let machine = Simulation::new(3);
    let store = open(&machine).expect("opens").store;
    run(&store, &[put("blob", &[1; 3000])]);
    store.backup(&mut DeviceTarget::new(MemoryDevice::default(), &mut |_, _| true)).expect("a backup");
    run(&store, &[remove("blob")]);
    store.sync().expect("a healthy device");
    assert_eq!(store.sweep_blobs(), Ok(0), "nothing is held any more");
}

/// A directory in memory that shares files of another one.
struct Sharing {
    source: MemoryDevice,
    own: MemoryDevice,
    shared: Arc<Mutex<BTreeMap<String, MemoryFile>>>,
}

impl Sharing {
    fn with(source: &MemoryDevice) -> Sharing {
        Sharing { source: source.clone(), own: MemoryDevice::default(), shared: Arc::default() }
    }

    fn again(&self) -> Sharing {
        Sharing { source: self.source.clone(), own: self.own.clone(), shared: self.shared.clone() }
    }
}

impl Device for Sharing {
    type File = MemoryFile;

    fn create(&self, name: &str, access: Access) -> storage::Result<MemoryFile> {
        self.own.create(name, access)
    }

    fn open(&self, name: &str, access: Access) -> storage::Result<MemoryFile> {
        let shared = self.shared.lock().get(name).cloned();
        shared.map_or_else(|| self.own.open(name, access), Ok)
    }

    fn link(&self, place: &str, name: &str) -> storage::Result<bool> {
        let file = self.source.open(place, Access::Whole)?;
        self.shared.lock().insert(name.to_owned(), file);
        Ok(true)
    }

    fn rename(&self, from: &str, to: &str) -> storage::Result<()> {
        self.own.rename(from, to)
    }

    fn remove(&self, name: &str) -> storage::Result<()> {
        match self.shared.lock().remove(name) {
            Some(_) => Ok(()),
            None => self.own.remove(name),
        }
    }

    fn list(&self) -> storage::Result<Vec<String>> {
        let mut names: Vec<String> = self.shared.lock().keys().cloned().collect();
        names.extend(self.own.list()?);
        Ok(names)
    }

    fn sync_directory(&self) -> storage::Result<()> {
        self.own.sync_directory()
    }

    fn boot_id(&self) -> Option<BootId> {
        self.own.boot_id()
    }
}

fn open_on<D: Device>(device: D) -> Bitcask {
    let storage = DeviceStorage::open(device, MemoryMeta::default()).expect("opens");
    Bitcask::open(Arc::new(storage), &OPTIONS).unwrap_or_else(|error| panic!("{error}")).store
}

fn is_sound(device: impl Device) -> bool {
    let storage = DeviceStorage::open_to_read(device, MemoryMeta::default()).expect("opens");
    check(&storage, DATABASES).expect("memory can be read").is_sound()
}

/// A key that no plan names.
const GROWING: &str = "growing";

/// A transaction of a plan, and an APPEND to the value that all stores have.
fn operations_of(plan: &Plan, number: usize) -> (Vec<Operation>, u64) {
    let (operations, now_ms) = &plan.transactions[number];
    // A store that may not write to a blob makes another one of it with its patches. The value is the same, the subkeys that
    // the reference engine has are not.
    let is_patch = |operation: &Operation| matches!(operation, Operation::Write(_, key, ..) if key.starts_with(b"blob:"));
    let operations: Vec<Operation> = operations.iter().filter(|one| !is_patch(one)).cloned().collect();
    let more = format!("{operations:?}").into_bytes();
    let grow = Operation::Write(0, GROWING.into(), u16::MAX, 0, more);
    ([operations, vec![grow]].concat(), *now_ms)
}

/// A store and what it should hold.
struct Followed {
    store: Bitcask,
    model: MemoryEngine,
    /// Its clock does not go back behind this unix time: what has expired then may be gone.
    begin_ms: u64,
}

impl Followed {
    fn run(&self, plan: &Plan, number: usize) -> Result<(), String> {
        let (operations, now_ms) = &operations_of(plan, number);
        let now_ms = now_ms.max(&self.begin_ms);
        laws::run(&self.model, operations, *now_ms).expect("memory");
        laws::run(&self.store, operations, *now_ms).map_err(|error| error.to_string())?;
        for chore in &plan.chores[number] {
            chore.run(&self.store, *now_ms).map_err(|error| error.to_string())?;
        }
        let found = laws::dump(&self.store, *now_ms).map_err(|error| error.to_string())?;
        let expected = laws::dump(&self.model, *now_ms).expect("memory");
        match laws::difference(&expected, &found) {
            None => Ok(()),
            Some(lines) => Err(format!("transaction {number}:\n{lines}")),
        }
    }
}

/// Two stores that share files are each used in their own way.
fn live_apart(seed: u64) -> Result<(), String> {
    const COMMON: usize = 50;
    let device = MemoryDevice::default();
    let (plan, other) =
        (Plan::new(seed, Policy::Sometimes, 120), Plan::new(seed + 1000, Policy::Sometimes, 120));
    let original =
        Followed { store: open_on(device.clone()), model: MemoryEngine::new(DATABASES), begin_ms: 0 };
    let copied_model = MemoryEngine::new(DATABASES);
    for number in 0..COMMON {
        original.run(&plan, number)?;
        let (operations, now_ms) = &operations_of(&plan, number);
        laws::run(&copied_model, operations, *now_ms).expect("memory");
    }
    let begin = [put(GROWING, &[9; 3000])];
    laws::run(&original.store, &begin, 0).expect("memory");
    laws::run(&original.model, &begin, 0).expect("memory");
    laws::run(&copied_model, &begin, 0).expect("memory");
    let to = Sharing::with(&device);
    let taken = original.store.backup(&mut DeviceTarget::new(to.again(), &mut |_, _| true));
    let taken = taken.map_err(|error| error.to_string())?;
    assert_eq!(taken.copied_bytes, 0, "everything is shared");
    let mut copied = Followed {
        store: open_on(to.again()),
        model: copied_model,
        begin_ms: operations_of(&plan, COMMON - 1).1,
    };
    for number in COMMON..plan.transactions.len() {
        original.run(&plan, number).map_err(|error| format!("the original: {error}"))?;
        copied.run(&other, number).map_err(|error| format!("the copy: {error}"))?;
        if number % 20 == 0 {
            // What it knows of sharing outlives the process.
            copied.store = open_on(to.again());
        }
    }
    if !is_sound(device) || !is_sound(to) {
        return Err("a store is damaged".into());
    }
    Ok(())
}

#[test]
fn store_opened_from_a_backup_writes_into_the_original() {
    for seed in 0..30 {
        assert_eq!(live_apart(seed), Ok(()), "seed {seed}");
    }
    let is_seen = |seed| with_fault(Some(Fault::SharedBlobWritten), || live_apart(seed)).is_err();
    assert!((0..30).any(is_seen), "the test sees a store that writes to shared files");
}

#[test]
fn half_of_a_backup_is_taken_for_a_whole_one() {
    let machine = Simulation::new(5);
    let store = open(&machine).expect("opens").store;
    for number in 0..20 {
        run(
            &store,
            &[put(&format!("key {number}"), &[number; 900]), put(&format!("blob {number}"), &[number; 2000])],
        );
    }
    let before = contents(&store);
    let counted = Simulation::new(6);
    back_up(&store, &counted).expect("a backup");
    let (mut halves, mut wholes) = (0, 0);
    for operation in 0..counted.operations() {
        for moment in [Moment::Before, Moment::During] {
            let to = Simulation::new(operation);
            to.cut_power_at(operation, moment);
            back_up(&store, &to).expect_err("the power is lost");
            for survival in Survival::samples(operation) {
                let left = to.after_power_loss(survival);
                if left.file_names().contains(&"MANIFEST".to_owned()) {
                    assert_eq!(laws::difference(&before, &held(&left)), None, "operation {operation}");
                    wholes += 1;
                } else if left.file_names().iter().any(|name| name.ends_with(".data")) {
                    // Files that are only names, or zeros, tell nothing.
                    let opened = open(&left);
                    let is_bare = opened.as_ref().is_ok_and(|opened| contents(&opened.store).is_empty());
                    assert!(opened.is_err() || is_bare, "operation {operation}: half of it opens");
                    halves += 1;
                }
            }
        }
    }
    assert!(halves > 100 && wholes > 0, "{halves} halves, {wholes} wholes");
}

#[test]
fn store_fails_where_the_target_of_its_backup_is_full() {
    let machine = Simulation::new(7);
    let store = open(&machine).expect("opens").store;
    for number in 0..20 {
        run(&store, &[put(&format!("key {number}"), &[number; 900])]);
    }
    let to = Simulation::new(8);
    to.set_capacity_bytes(Some(9000));
    let outcome = back_up(&store, &to);
    assert!(matches!(outcome, Err(BackupError::Storage(StorageError::Full(_)))), "{outcome:?}");
    run(&store, &[put("after", b"well")]);
    let mut calls = 0;
    let mut give_up = |_: u64, _: u64| {
        calls += 1;
        calls < 3
    };
    let outcome = store.backup(&mut DeviceTarget::new(MemoryDevice::default(), &mut give_up));
    assert!(matches!(outcome, Err(BackupError::Storage(StorageError::Refused(_)))), "{outcome:?}");
    let whole = Simulation::new(9);
    back_up(&store, &whole).expect("a backup");
    assert_eq!(laws::difference(&contents(&store), &held(&whole)), None);
}

#[test]
fn backup_says_nothing_of_a_blob_that_the_store_has_lost() {
    let machine = Simulation::new(7);
    let store = open(&machine).expect("opens").store;
    run(&store, &[put("lost", &[1; 3000]), put("well", &[2; 3000])]);
    let blob = machine.file_names().into_iter().find(|name| name.ends_with(".blob")).expect("a blob");
    assert!(machine.remove_file(&blob));
    let to = Simulation::new(8);
    let backup = back_up(&store, &to).expect("a backup of the rest");
    assert_eq!((backup.damaged_blobs.len(), backup.blobs), (1, 1));
    let checked = check(&to.open().expect("opens"), DATABASES).expect("a readable device");
    assert_eq!(checked.damaged_blobs.len(), 1, "and whoever checks the backup finds the same");
}

/// Commits of pairs, and of blobs, go on beside merge while backups are taken.
#[cfg(not(target_family = "wasm"))]
#[test]
fn transaction_is_cut_by_a_backup_beside_writers() {
    use std::sync::atomic::{AtomicU32, Ordering};

    const WRITERS: u32 = 2;
    let machine = Simulation::new(11);
    let store = open(&machine).expect("opens").store;
    let ended = AtomicU32::new(0);
    let mut backups = 0;
    std::thread::scope(|scope| {
        let (store, ended) = (&store, &ended);
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for number in 1..200_u32 {
                    let long = [number.to_le_bytes(); 500].concat();
                    let pair =
                        ["left", "right"].map(|name| put(&format!("{name} {writer}"), &number.to_le_bytes()));
                    run(store, &[pair.to_vec(), vec![put(&format!("blob {writer}"), &long)]].concat());
                }
                ended.fetch_add(1, Ordering::AcqRel);
            });
        }
        scope.spawn(move || {
            while ended.load(Ordering::Acquire) < WRITERS {
                store.merge_step(20_000).expect("a healthy device");
                store.sweep_blobs().expect("a healthy device");
                store.sync().expect("a healthy device");
            }
        });
        while ended.load(Ordering::Acquire) < WRITERS {
            let to = Simulation::new(backups);
            back_up(store, &to).expect("a backup");
            let found = held(&to);
            let value = |name: String| found.get(&(0, name.into_bytes()));
            for writer in 0..WRITERS {
                let (left, right) = (value(format!("left {writer}")), value(format!("right {writer}")));
                assert_eq!(left, right, "one without the other");
                assert_eq!(
                    left.is_some(),
                    value(format!("blob {writer}")).is_some(),
                    "a blob without the rest"
                );
            }
            backups += 1;
        }
    });
    assert!(backups > 0);
    assert_eq!(contents(&store).len(), 3 * WRITERS as usize);
}

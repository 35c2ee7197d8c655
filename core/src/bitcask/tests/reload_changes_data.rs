//! A store closed and opened again in its process holds what it held, also for those that go on reading; and where memory and disk differ,
//! the disk is right.

use std::sync::Arc;

use super::harness::{NOW_MS, OPTIONS, contents, merge_all, open, put, remove, run, sub_put};
use crate::bitcask::Bitcask;
use crate::bitcask::keydir::{Name, shard_of};
use crate::engine::laws::{self, DATABASES, Dump, Script};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, Engine, EngineError, Watch};
use crate::storage::memory::MemoryStorage;
use crate::storage::simulated::Survival;
use crate::storage::{Simulation, Storage};

/// Runs a script with a reload every few transactions against the reference engine.
fn follow(storage: Arc<dyn Storage>, seed: u64) {
    let store = Bitcask::open(storage.clone(), &OPTIONS).expect("open").store;
    let model = MemoryEngine::new(DATABASES);
    let mut script = Script::new(seed, 24);
    let mut position = 0;
    for number in 0..400 {
        let operations = script.transaction();
        let at = format!("seed {seed}, transaction {number}");
        let receipt = laws::run(&store, &operations, script.now_ms()).expect("a healthy device");
        laws::run(&model, &operations, script.now_ms()).expect("memory");
        assert!(receipt.position() == 0 || receipt.position() > position, "positions go backwards: {at}");
        position = position.max(receipt.position());
        match number % 7 {
            1 => drop(store.merge_step(5000).expect("a healthy device")),
            2 => drop(store.drain_garbage(5)),
            3 => drop(store.sweep_blobs().expect("a healthy device")),
            4 => {
                store.reopen(0).expect("a healthy device");
                assert_eq!((store.appended(), store.synced()), (position, position), "{at}");
            }
            _ => {}
        }
        if number % 20 == 4 {
            let dumps = [&store as &dyn Dumped, &model].map(|engine| engine.dump(script.now_ms()));
            assert_eq!(laws::difference(&dumps[0], &dumps[1]), None, "{at}");
        }
    }
    store.reopen(0).expect("a healthy device");
    store.sweep_blobs().expect("a healthy device");
    let blobs = storage.list_blobs().expect("memory").len() as u64;
    assert!(store.report().contains(&("blobs", blobs)), "seed {seed}: {blobs} blobs, {:?}", store.report());
    drop(store);
    let next = Bitcask::open(storage, &OPTIONS).expect("open").store;
    let dumps = [&next as &dyn Dumped, &model].map(|engine| engine.dump(script.now_ms()));
    assert_eq!(laws::difference(&dumps[0], &dumps[1]), None, "seed {seed}, opened again");
}

trait Dumped {
    fn dump(&self, now_ms: u64) -> Dump;
}

impl<E: Engine> Dumped for E {
    fn dump(&self, now_ms: u64) -> Dump {
        laws::dump(self, now_ms).expect("a readable store")
    }
}

#[test]
fn values_change_in_a_reload() {
    for seed in 0..6 {
        follow(Arc::new(MemoryStorage::new()), seed);
        follow(Arc::new(Simulation::new(seed).open().expect("a healthy device")), seed);
    }
}

#[test]
fn value_lost_in_a_crash_right_after_a_reload() {
    for seed in 0..20 {
        let machine = Simulation::new(seed);
        let store = open(&machine).expect("open").store;
        let mut script = Script::new(seed, 24);
        for number in 0..60 {
            laws::run(&store, &script.transaction(), script.now_ms()).expect("a healthy device");
            if number == 40 && seed % 2 == 0 {
                store.checkpoint(script.now_ms()).expect("a healthy device");
            }
            store.merge_step(3000).expect("a healthy device");
        }
        store.reopen(0).expect("a healthy device");
        let held = store.dump(script.now_ms());
        for left in [machine.after_power_loss(Survival::None), machine.after_kill()] {
            let next = open(&left).expect("open").store;
            assert_eq!(laws::difference(&held, &next.dump(script.now_ms())), None, "seed {seed}");
        }
    }
}

#[test]
fn memory_that_differs_from_the_disk_stays_so() {
    let store = open(&Simulation::new(1)).expect("open").store;
    for round in 0..30_u8 {
        run(&store, &[put(&format!("key {round}"), &[round; 400]), sub_put("hash", "field", &[round; 200])]);
    }
    run(&store, &[remove("key 3")]);
    let right = contents(&store);
    // A key that memory has lost, and one that it takes for another.
    let place = |key: &str| {
        let name = Name::of(store.seed, key.as_bytes());
        let hash = name.hash(store.seed);
        (shard_of(hash), hash)
    };
    let root = |key: &str| {
        let (at, hash) = place(key);
        store.shards[at].lock().root(0, &Name::Short(key.as_bytes()), hash).expect("there")
    };
    let other = root("key 8");
    for (key, entry) in [("key 7", None), ("key 9", Some(other))] {
        let (at, hash) = place(key);
        let mut shard = store.shards[at].lock();
        match entry {
            None => drop(shard.remove_root(0, &Name::Short(key.as_bytes()), hash)),
            Some(entry) => drop(shard.put_root(0, &Name::Short(key.as_bytes()), hash, entry)),
        }
    }
    assert!(laws::difference(&right, &contents(&store)).is_some(), "nothing was changed");
    // Hints made now would say what memory says.
    store.checkpoint(NOW_MS).expect("a healthy device");
    store.reopen(0).expect("a healthy device");
    assert_eq!(laws::difference(&right, &contents(&store)), None);
    store.checkpoint(NOW_MS).expect("a healthy device");
    merge_all(&store);
    assert_eq!(laws::difference(&right, &contents(&store)), None);
}

#[test]
fn damaged_record_is_cut_off_by_a_reload() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    run(&store, &[put("first", b"value")]);
    run(&store, &[put("last", b"value")]);
    let before = contents(&store);
    let name = machine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
    let file = machine.bytes(&name).expect("a datafile");
    machine.flip_bit(&name, file.len() as u64 - 2, 3);
    let refused = store.reopen(0);
    assert!(matches!(&refused, Err(EngineError::Damaged(text)) if text.contains("offset")), "{refused:?}");
    // Short values are in memory: they are there as long as the process is.
    assert_eq!(laws::difference(&before, &contents(&store)), None);
    run(&store, &[put("next", b"value")]);
    assert_eq!(contents(&store).len(), 3);
}

#[test]
fn failed_reload_takes_something_with_it() {
    let prepare = || {
        let machine = Simulation::new(3);
        let store = open(&machine).expect("open").store;
        for round in 0..12_u8 {
            run(&store, &[put(&format!("key {round}"), &[round; 900]), put("overwritten", &[round; 1500])]);
            store.merge_step(2500).expect("a healthy device");
        }
        (machine, store)
    };
    let (machine, store) = prepare();
    let begin = machine.operations();
    store.reopen(0).expect("a healthy device");
    let steps = machine.operations() - begin;
    assert!(steps > 0, "a sync at least");
    for operation in begin..begin + steps {
        let (machine, store) = prepare();
        let before = contents(&store);
        machine.fail_at(operation);
        store.reopen(0).expect_err("the device failed");
        assert_eq!(laws::difference(&before, &contents(&store)), None, "operation {operation}");
    }
}

#[test]
fn reload_makes_a_watched_key_look_changed() {
    let store = open(&Simulation::new(1)).expect("open").store;
    run(&store, &[put("watched", b"value"), put("other", b"value")]);
    let watch = Watch::default();
    store.watch(0, b"watched", &watch);
    store.reopen(0).expect("a healthy device");
    run(&store, &[put("other", b"changed")]);
    assert!(!watch.is_tripped());
    run(&store, &[put("watched", b"changed")]);
    assert!(watch.is_tripped(), "the watch was forgotten");
}

#[test]
fn blob_that_is_being_written_goes_in_a_reload() {
    let store = open(&Simulation::new(1)).expect("open").store;
    let mut draft = store.draft().expect("a healthy device");
    draft.append(b"first half, ").expect("a healthy device");
    store.reopen(0).expect("a healthy device");
    store.sweep_blobs().expect("a healthy device");
    draft.append(b"second half").expect("the blob is still there");
    let mut read = Vec::new();
    let len = draft.reference().len;
    draft.blob().read(0, len, &mut |piece| read.extend_from_slice(piece)).expect("readable");
    assert_eq!(read, b"first half, second half");
    drop(draft);
    assert!(store.report().contains(&("blobs_dead", 0)), "{:?}", store.report());
}

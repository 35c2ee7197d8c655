//! Endless writes over bounded live data must fit on a bounded disk: the simulated disk has room for about twice the
//! live data and a few datafiles, and no write may ever find it full.

use std::sync::Arc;

use super::harness::{contents, open, put, remove, run, sub_put};
use crate::bitcask::{Bitcask, OnDamage, Options};
use crate::engine::laws::{self, DATABASES, Operation};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, Kind, NewRoot};
use crate::storage::{Simulation, Storage};

const OPTIONS: Options = Options {
    databases: DATABASES,
    datafile_max_bytes: 32 * 1024,
    seed: 7,
    on_damage: OnDamage::Refuse,
    access: 0,
};

/// Datafiles of room beside twice the live data: the active one, an input and its output, and inputs whose removal the
/// directory has not written down yet.
const SPARE_DATAFILES: u64 = 6;

/// Bytes of merging for each byte that transactions write.
const MERGE_PER_WRITTEN: u64 = 4;

/// What a step of merging costs beside the bytes it moves, in bytes of that budget.
const MERGE_STEP_BYTES: u64 = 200;

const NOW_MS: u64 = 1_700_000_000_000;

fn open_small(machine: &Simulation) -> Bitcask {
    let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("a healthy device"));
    Bitcask::open(storage, &OPTIONS).unwrap_or_else(|error| panic!("{error}")).store
}

fn reported(store: &Bitcask, name: &str) -> u64 {
    store.report().iter().find(|(row, _)| *row == name).map_or(0, |(_, number)| *number)
}

/// Runs transactions whose live data, records' headers included, stays below a bound.
fn check(live_bytes_max: u64, count: u64, transaction: impl Fn(u64, &mut fastrand::Rng) -> Vec<Operation>) {
    let mut machine = Simulation::new(3);
    let capacity_bytes = 2 * live_bytes_max + SPARE_DATAFILES * OPTIONS.datafile_max_bytes;
    machine.set_capacity_bytes(Some(capacity_bytes));
    let model = MemoryEngine::new(DATABASES);
    let mut store = open_small(&machine);
    let mut random = fastrand::Rng::with_seed(5);
    let mut budget = 0;
    for number in 0..count {
        let operations = transaction(number, &mut random);
        let now_ms = NOW_MS + number;
        let at = |store: &Bitcask| format!("transaction {number} of {count}: {:?}", store.report());
        let appended = store.appended();
        let written = laws::run(&store, &operations, now_ms);
        assert!(written.is_ok(), "{}: {written:?}", at(&store));
        laws::run(&model, &operations, now_ms).expect("memory");
        store.drain_garbage(100);
        let expired = laws::expire(&store, now_ms, 20);
        assert!(expired.is_ok(), "{}: {expired:?}", at(&store));
        budget += (store.appended() - appended) * MERGE_PER_WRITTEN;
        while budget > MERGE_STEP_BYTES {
            let merged = store.merge_step(budget).unwrap_or_else(|error| panic!("{}: {error}", at(&store)));
            budget = budget.saturating_sub(merged.bytes + MERGE_STEP_BYTES);
            if !merged.is_unfinished && merged.bytes == 0 {
                budget = 0;
            }
        }
        if number % 40 == 0 {
            store.sync().expect("a healthy device");
        }
        // What is dead must be known after a restart as well, with hints and without.
        if number % (count / 3) == count / 4 {
            if random.bool() {
                store.checkpoint(now_ms).expect("a healthy device");
            } else {
                machine.set_meta(Default::default());
            }
            drop(store);
            machine = machine.after_kill();
            store = open_small(&machine);
        }
    }
    let now_ms = NOW_MS + count;
    let dumps = (laws::dump(&store, now_ms), laws::dump(&model, now_ms));
    assert_eq!(laws::difference(&dumps.0.expect("store"), &dumps.1.expect("memory")), None);
    let tombstones = reported(&store, "datafile_tombstone_bytes");
    assert!(tombstones <= capacity_bytes / 2, "{tombstones} bytes of tombstones in {capacity_bytes}");
}

#[test]
fn overwritten_keys() {
    check(200 * 560, 8000, |_, random| vec![put(&format!("key {}", random.u32(0..200)), &[7; 500])]);
}

/// Most keys are never touched again, a few all the time.
#[test]
fn overwritten_keys_among_idle_ones() {
    check(400 * 360, 8000, |number, random| {
        let key = if number < 400 { number as u32 } else { random.u32(0..8) };
        vec![put(&format!("key {key}"), &[7; 300])]
    });
}

#[test]
fn overwritten_keys_of_many_shards_at_once() {
    check(100 * 260, 2000, |_, random| {
        (0..20).map(|_| put(&format!("key {}", random.u32(0..100)), &[7; 200])).collect()
    });
}

#[test]
fn overwritten_fields() {
    check(200 * 260, 8000, |_, random| {
        vec![sub_put("hash", &format!("field {}", random.u32(0..200)), &[7; 200])]
    });
}

#[test]
fn queue_that_is_filled_and_emptied() {
    check(100 * 160, 10_000, |number, _| {
        let field = |number: u64| format!("{number:08}");
        let mut operations = vec![sub_put("queue", &field(number), &[7; 100])];
        if let Some(first) = number.checked_sub(100) {
            operations.push(Operation::SubRemove(0, b"queue".to_vec(), field(first).into_bytes()));
        }
        operations
    });
}

#[test]
fn keys_that_are_set_and_deleted_once() {
    check(1000, 10_000, |number, _| {
        if number % 2 == 0 {
            vec![put(&format!("key {number}"), &[7; 60])]
        } else {
            vec![remove(&format!("key {}", number - 1))]
        }
    });
}

/// The oldest datafile stays alive and would keep all tombstones needed.
#[test]
fn keys_that_are_set_and_deleted_beside_old_ones() {
    check(100 * 360, 10_000, |number, _| match number {
        0..100 => vec![put(&format!("old {number}"), &[7; 300])],
        _ if number % 2 == 0 => vec![put(&format!("key {number}"), &[7; 60])],
        _ => vec![remove(&format!("key {}", number - 1))],
    });
}

#[test]
fn keys_that_expire() {
    check(1200 * 120, 8000, |number, _| {
        let root = NewRoot { expires_at_ms: Some(NOW_MS + number + 300), ..NewRoot::of(Kind::String) };
        vec![Operation::Put(0, format!("key {number}").into_bytes(), root, vec![7; 60])]
    });
}

#[test]
fn collections_that_are_made_and_deleted() {
    check(60 * 160, 600, |number, _| match number % 2 {
        0 => (0..50).map(|field| sub_put("hash", &format!("field {field}"), &[7; 100])).collect(),
        _ => vec![remove("hash")],
    });
}

#[test]
fn collections_that_are_renamed() {
    check(60 * 160, 4000, |number, _| match number {
        0 => (0..50).map(|field| sub_put("hash 0", &format!("field {field}"), &[7; 100])).collect(),
        _ => {
            let name = |number: u64| format!("hash {}", number % 7).into_bytes();
            vec![Operation::Rename(0, name(number - 1), 0, name(number))]
        }
    });
}

#[test]
fn databases_that_are_flushed() {
    check(2000, 12_000, |number, _| match number % 2 {
        0 => vec![put("key", &[7; 60])],
        _ => vec![Operation::Flush(0), Operation::Flush(1)],
    });
}

#[test]
fn databases_that_are_swapped() {
    check(2000, 20_000, |_, random| vec![Operation::Swap(0, random.u32(1..3))]);
}

#[test]
fn databases_of_long_keys_that_are_flushed() {
    check(10 * 2100, 600, |number, _| match number % 2 {
        0 => (0..10).map(|key| put(&format!("{key:0>2000}"), b"")).collect(),
        _ => vec![Operation::Flush(0)],
    });
}

const MANY: u32 = 100_000;

/// A store with one hash of many fields, and its machine.
fn with_large_hash() -> (Simulation, Bitcask) {
    let machine = Simulation::new(1);
    let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("a healthy device"));
    let options = Options { datafile_max_bytes: 1024 * 1024, ..OPTIONS };
    let store = Bitcask::open(storage, &options).unwrap_or_else(|error| panic!("{error}")).store;
    for from in (0..MANY).step_by(1000) {
        let fields: Vec<Operation> =
            (from..from + 1000).map(|field| sub_put("hash", &format!("field {field}"), b"value")).collect();
        run(&store, &fields);
    }
    store.sync().expect("a healthy device");
    (machine, store)
}

#[test]
fn deleting_much_writes_much() {
    for removal in [remove("hash"), Operation::Flush(0), put("hash", b"string")] {
        let (machine, store) = with_large_hash();
        let (operations, appended) = (machine.operations(), store.appended());
        run(&store, std::slice::from_ref(&removal));
        let (operations, appended) = (machine.operations() - operations, store.appended() - appended);
        assert!(operations == 1 && appended < 100, "{removal:?}: {operations} operations, {appended} bytes");
        let before = contents(&store);
        // The room comes back as garbage is counted and merge follows, without a restart and with one.
        let next = open(&machine.after_kill()).expect("open").store;
        assert_eq!(laws::difference(&before, &contents(&next)), None);
        for store in [&store, &next] {
            while store.drain_garbage(10_000) > 0 {}
            run(store, &[put("last", &[7; 100])]);
            for _ in 0..2000 {
                store.merge_step(1024 * 1024).expect("a healthy device");
            }
            let used = reported(store, "datafile_bytes");
            assert!(used < 2 * 1024 * 1024, "{removal:?}: {used} bytes are left");
        }
    }
}

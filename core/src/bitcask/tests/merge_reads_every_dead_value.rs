//! A few keys are overwritten all the time: merge reads what lives, not the dead values beside it, and loses nothing.

use super::harness::{
    NOW_MS, OPTIONS, contents, datafile_names, merge_all, open, open_with, put, remove, run, sub_put,
};
use crate::bitcask::{Bitcask, Opened, Options};
use crate::engine::laws::{self, DATABASES, Operation};
use crate::engine::memory::MemoryEngine;
use crate::engine::{EngineError, Kind, NewRoot};
use crate::storage::Simulation;

/// Writes one key until this many datafiles are sealed that hold nothing else.
fn overwrite(store: &Bitcask, datafiles: usize) {
    let before = store.log.files().len();
    let mut count = 0_u32;
    while store.log.files().len() < before + datafiles {
        count += 1;
        run(store, &[put("key", &[count as u8; 500])]);
    }
    store.sync().expect("a healthy device");
}

/// Merges everything; returns how many bytes that read and wrote.
fn merged_bytes(store: &Bitcask) -> u64 {
    let (mut bytes, mut idle) = (0, 0);
    while idle < 2 {
        let step = store.merge_step(1 << 20).expect("a healthy store");
        bytes += step.bytes;
        idle = if step.is_unfinished { 0 } else { idle + 1 };
    }
    bytes
}

#[test]
fn dead_values_are_read() {
    let machine = Simulation::new(1);
    let Opened { store, .. } = open(&machine).expect("a new store");
    run(&store, &[put("first", &[1; 300]), put(&"long".repeat(100), b"name")]);
    overwrite(&store, 3);
    let before = contents(&store);
    let files = datafile_names(&machine);
    let bytes = merged_bytes(&store);
    assert!(bytes < OPTIONS.datafile_max_bytes / 2, "{bytes} bytes");
    assert_eq!(contents(&store), before);
    assert!(!datafile_names(&machine).contains(&files[0]), "it was mostly dead");
    drop(store);
    let opened = open(&machine.after_kill()).expect("a whole store");
    assert_eq!(contents(&opened.store), before);
}

#[test]
fn dead_values_of_fields_are_read() {
    const LARGE: Options = Options { datafile_max_bytes: 2 << 20, ..OPTIONS };
    let machine = Simulation::new(1);
    let Opened { store, .. } = open_with(&machine, &LARGE).expect("a new store");
    // More than are looked at at once.
    let fields: Vec<_> =
        (0..5000).map(|field| sub_put("hash", &format!("field {field}"), b"value")).collect();
    run(&store, &fields);
    run(&store, &[sub_put("other", "field", b"value")]);
    let before = store.log.files().len();
    for number in 0_u32.. {
        run(
            &store,
            &[sub_put("hash", "field 7", &[number as u8; 500]), sub_put("list", "element", &[1; 500])],
        );
        if store.log.files().len() == before + 3 {
            break;
        }
    }
    store.sync().expect("a healthy device");
    let before = contents(&store);
    let bytes = merged_bytes(&store);
    assert!(bytes < LARGE.datafile_max_bytes, "{bytes} bytes");
    assert_eq!(contents(&store), before);
    drop(store);
    let opened = open_with(&machine.after_kill(), &LARGE).expect("a whole store");
    assert_eq!(contents(&opened.store), before);
}

/// What is damaged and lives is not left out.
#[test]
fn damaged_value_is_merged_away() {
    let machine = Simulation::new(1);
    let Opened { store, .. } = open(&machine).expect("a new store");
    run(&store, &[put("first", &[1; 300])]);
    let name = datafile_names(&machine)[0].clone();
    let len = machine.bytes(&name).expect("the datafile").len() as u64;
    overwrite(&store, 2);
    assert!(machine.flip_bit(&name, len - 10, 3), "in the value");
    let failed = (0..20).find_map(|_| store.merge_step(1 << 20).err());
    assert!(matches!(failed, Some(EngineError::Damaged(_))), "{failed:?}");
    merge_all(&store);
    assert!(datafile_names(&machine).contains(&name), "it stays for a salvage");
    assert!(laws::dump(&store, NOW_MS).is_err(), "the damaged value is shown");
}

/// Strings, hashes that are renamed, removed keys and flushed databases.
#[test]
fn live_value_is_left_behind() {
    // So that there are more dead values than keys.
    const LONGER: Options = Options { datafile_max_bytes: 40_000, ..OPTIONS };
    for seed in 0..6 {
        let mut machine = Simulation::new(seed);
        let model = MemoryEngine::new(DATABASES);
        let Opened { mut store, .. } = open_with(&machine, &LONGER).expect("a new store");
        let mut random = fastrand::Rng::with_seed(seed);
        let hash = |random: &mut fastrand::Rng| format!("hash {}", random.u8(0..4));
        for number in 0..1500 {
            let key = match random.u8(0..8) {
                0 => format!("{}{}", "long".repeat(80), random.u8(0..4)),
                _ => format!("key {}", random.u8(0..20)),
            };
            let value = vec![number as u8; random.usize(0..900)];
            let operation = match random.u32(0..300) {
                0 => Operation::Flush(random.u32(0..DATABASES)),
                // Without removals most merges find what lives through the keydir.
                1..=40 if seed % 2 == 0 => remove(&key),
                41..=60 => Operation::Put(1, key.into_bytes(), NewRoot::of(Kind::String), value),
                61..=130 => sub_put(&hash(&mut random), &format!("field {}", random.u8(0..30)), &value),
                131..=133 => remove(&hash(&mut random)),
                134..=140 => {
                    let (from, to) = (hash(&mut random), hash(&mut random));
                    Operation::Rename(0, from.into_bytes(), random.u32(0..2), to.into_bytes())
                }
                _ => put(&key, &value),
            };
            laws::run(&store, std::slice::from_ref(&operation), NOW_MS).expect("a healthy store");
            laws::run(&model, &[operation], NOW_MS).expect("memory");
            store.drain_garbage(100);
            if random.u8(0..3) == 0 {
                store.merge_step(random.u64(1..5000)).expect("a healthy store");
            }
            if number % 300 == 299 {
                store.sync().expect("a healthy device");
                drop(store);
                machine = machine.after_kill();
                store = open_with(&machine, &LONGER).expect("a whole store").store;
                let model = laws::dump(&model, NOW_MS).expect("memory");
                assert_eq!(laws::difference(&contents(&store), &model), None, "seed {seed}, {number}");
            }
        }
    }
}

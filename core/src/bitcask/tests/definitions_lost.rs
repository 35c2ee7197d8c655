//! Keys of the catalog stay whatever happens to the databases, and older builds, which would drop them, do not open a store
//! that has any.

use super::harness::{NOW_MS, contents, merge_all, open, put, remove, run};
use crate::bitcask::keydir::CATALOG_SPACE;
use crate::bitcask::record::{MANIFEST_VERSION, RecordType};
use crate::bitcask::{Bitcask, scan};
use crate::engine::laws::{self, DATABASES, Operation};
use crate::engine::{Admin, CATALOG, Engine, EngineError, Kind, NewRoot, Overlay, Scope, Touch, Txn};
use crate::storage::Simulation;

/// Puts a definition.
fn define(name: &str, value: &[u8]) -> Operation {
    Operation::Put(CATALOG, name.as_bytes().to_vec(), NewRoot::of(Kind::String), value.to_vec())
}

/// The versions of a store's datafiles, and of those that hold keys of the catalog.
fn versions(store: &Bitcask) -> (Vec<u32>, Vec<u32>) {
    let (mut all, mut with_catalog) = (Vec::new(), Vec::new());
    for file in store.log.files().values() {
        let mut has_catalog = false;
        scan::frames(file, file.header_len, file.len(), &mut |_, record| {
            let is_root = matches!(record.header.record_type, RecordType::Root | RecordType::RootTombstone);
            has_catalog |= is_root && record.header.owner == CATALOG_SPACE;
        })
        .expect("a healthy device");
        all.push(file.header.version);
        with_catalog.extend(has_catalog.then_some(file.header.version));
    }
    (all, with_catalog)
}

#[test]
fn definition_in_a_datafile_that_older_builds_read() {
    let machine = Simulation::new(1);
    let mut store = open(&machine).expect("open").store;
    run(&store, &[put("key", b"value")]);
    for round in 0..40_u8 {
        match round % 3 {
            0 => drop(store.set_string(
                CATALOG,
                b"short way",
                &[round; 300],
                NOW_MS,
                Touch::clock(NOW_MS),
                &mut Vec::new(),
            )),
            1 => run(&store, &[define("function", &[round; 300]), put("key", &[round; 700])]),
            _ => run(&store, &[put("key", &[round; 700]), remove("other")]),
        }
        store.merge_step(3000).expect("a healthy device");
        if round % 10 == 9 {
            drop(store);
            store = open(&machine.after_kill()).expect("open").store;
        }
    }
    merge_all(&store);
    let (all, with_catalog) = versions(&store);
    assert!(!with_catalog.is_empty());
    assert!(with_catalog.iter().all(|version| *version == MANIFEST_VERSION), "{all:?} {with_catalog:?}");
}

#[test]
fn definition_goes_with_a_database() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    run(&store, &[define("function", &[b'f'; 200]), put("key", b"value")]);
    run(
        &store,
        &[define("other", b"value"), Operation::Swap(0, 1), Operation::Flush(0), Operation::Flush(1)],
    );
    while store.drain_garbage(10) > 0 {}
    let definitions = contents(&store);
    assert_eq!(definitions.keys().filter(|(db, _)| *db == CATALOG).count(), 2);
    assert_eq!(definitions.len(), 2, "only definitions are left");
    let mut snapshot = store.begin(Scope::Everything).expect("a healthy store");
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut snapshot, &mut overlay, NOW_MS);
    let counts: Vec<_> = (0..DATABASES).chain([CATALOG]).map(|db| txn.key_count(db)).collect();
    assert_eq!(counts, [Ok(0), Ok(0), Ok(0), Ok(2)]);
    let refused = Err(EngineError::NoSuchDatabase(CATALOG));
    let outcomes = [txn.flush(CATALOG), txn.swap(0, CATALOG), txn.swap(CATALOG, 0)];
    assert!(outcomes.iter().all(|outcome| *outcome == refused), "{outcomes:?}");
    drop(snapshot);
    for round in 0..30_u8 {
        run(&store, &[put("filler", &[round; 900])]);
    }
    run(&store, &[remove("filler")]);
    merge_all(&store);
    assert_eq!(laws::difference(&definitions, &contents(&store)), None, "merge took one along");
    store.checkpoint(NOW_MS).expect("a healthy device");
    store.reopen(0).expect("a healthy device");
    assert_eq!(laws::difference(&definitions, &contents(&store)), None, "a reload took one along");
    let next = open(&machine.after_kill()).expect("open").store;
    assert_eq!(laws::difference(&definitions, &contents(&next)), None, "opening again took one along");
}

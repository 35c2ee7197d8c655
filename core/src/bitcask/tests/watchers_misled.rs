//! The counters that the store reports: bytes in use and dead, blobs, merges and syncs.

use super::harness::{merge_all, open, put, remove, run, sub_put};
use crate::bitcask::Bitcask;
use crate::engine::Admin;
use crate::storage::Simulation;

fn told(store: &Bitcask, name: &str) -> u64 {
    store.report().iter().find(|(known, _)| *known == name).map(|(_, value)| *value).expect(name)
}

#[test]
fn merge_is_not_seen() {
    let store = open(&Simulation::new(1)).expect("open").store;
    for round in 0..60_u8 {
        run(&store, &[put("overwritten", &[round; 400]), put(&format!("kept {round}"), &[round; 100])]);
    }
    let (bytes, dead) = (told(&store, "datafile_bytes"), told(&store, "datafile_dead_bytes"));
    assert!(dead > 50 * 400, "{dead} of {bytes}");
    assert_eq!(told(&store, "datafile_live_bytes"), bytes - dead);
    assert_eq!((told(&store, "merges"), told(&store, "merge_in_progress")), (0, 0));
    let mut seen = 0;
    while told(&store, "merges") == 0 {
        store.merge_step(1000).expect("a healthy device");
        let (read, all) = (told(&store, "merge_read_bytes"), told(&store, "merge_input_bytes"));
        assert!(read <= all, "{read} of {all}");
        seen += u64::from(told(&store, "merge_in_progress") == 1 && 0 < read && read < all);
        assert!(told(&store, "merged_bytes") < 1 << 20, "no merge comes to its end");
    }
    assert!(seen > 0, "none was seen on its way");
    merge_all(&store);
    assert!(told(&store, "datafile_dead_bytes") < dead / 2);
    assert_eq!((told(&store, "merge_in_progress"), told(&store, "merge_input_bytes")), (0, 0));
}

#[test]
fn sync_is_not_seen() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    run(&store, &[put("key", b"value")]);
    assert!(told(&store, "log_unsynced_bytes") > 0);
    store.sync().expect("a healthy device");
    store.sync().expect("a healthy device");
    assert_eq!((told(&store, "log_unsynced_bytes"), told(&store, "log_syncs")), (0, 1));
    run(&store, &[put("key", b"other")]);
    machine.fail_at(machine.operations());
    store.sync().expect_err("the device failed");
    assert_eq!((told(&store, "log_syncs"), told(&store, "log_read_only")), (1, 1));
}

#[test]
fn dropped_collection_is_not_seen() {
    let store = open(&Simulation::new(1)).expect("open").store;
    run(&store, &[sub_put("one", "field", b"value"), sub_put("other", "field", b"value")]);
    store.drain_garbage(1);
    assert_eq!((told(&store, "keydir_collections"), told(&store, "keydir_garbage")), (2, 0));
    run(&store, &[remove("one")]);
    store.drain_garbage(0);
    assert_eq!((told(&store, "keydir_collections"), told(&store, "keydir_garbage")), (1, 1));
    store.drain_garbage(100);
    assert_eq!((told(&store, "keydir_collections"), told(&store, "keydir_garbage")), (1, 0));
}

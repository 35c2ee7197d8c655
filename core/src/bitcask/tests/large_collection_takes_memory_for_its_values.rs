//! Values of many elements take memory, although a walk reads them from the log; or they are lost on the way there.

use super::harness::{NOW_MS, OPTIONS, contents, merge_all, open_with, put, run, sub_put};
use crate::bitcask::{Bitcask, Options};
use crate::engine::Admin;
use crate::storage::Simulation;

const ELEMENTS: u64 = 3000;
const VALUE: [u8; 40] = [7; 40];

/// What an element takes beside its value: a part of its subkey, its place in the log, and what is unused in leaves.
const ELEMENT_MAX_BYTES: u64 = 30;

const SMALL: Options = Options { datafile_max_bytes: 100_000, ..OPTIONS };

fn add(store: &Bitcask, elements: std::ops::Range<u64>) {
    for element in elements {
        // Others between them, which are overwritten: there is something to merge.
        run(store, &[sub_put("large", &format!("{element:05}"), &VALUE), put("other", &VALUE)]);
    }
}

#[test]
fn large_collection_takes_memory_for_its_values() {
    let machine = Simulation::new(1);
    let mut store = open_with(&machine, &SMALL).expect("opens").store;
    run(&store, &[put("other", &VALUE)]);
    let empty = store.held_bytes();
    let assert_is_lean = |store: &Bitcask, when: &str| {
        let held = store.held_bytes() - empty;
        assert!(held < ELEMENTS * ELEMENT_MAX_BYTES, "{held} bytes {when}");
    };
    add(&store, 0..ELEMENTS / 2);
    store.checkpoint(NOW_MS).expect("a healthy device");
    add(&store, ELEMENTS / 2..ELEMENTS);
    let written = contents(&store);
    assert_is_lean(&store, "as written");
    merge_all(&store);
    assert_is_lean(&store, "after merges");
    assert_eq!(contents(&store), written);
    drop(store);
    store = open_with(&machine, &SMALL).expect("opens again").store;
    assert_is_lean(&store, "after a start");
    assert_eq!(contents(&store), written);
    merge_all(&store);
    assert_eq!(contents(&store), written);
}

#[test]
fn small_collection_is_read_from_the_log() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &SMALL).expect("opens").store;
    let empty = store.held_bytes();
    add(&store, 0..100);
    assert!(store.held_bytes() - empty > 100 * VALUE.len() as u64, "values are in memory");
}

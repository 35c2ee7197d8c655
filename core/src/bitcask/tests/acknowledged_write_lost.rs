//! The power goes, or the process is killed, at every operation of the device, and every acknowledged transaction must
//! be there afterwards, whole.

use super::harness::{Chore, Policy, contents, merge_all, open, put, remove, run, sub_put};
use super::matrix::{Findings, Matrix};
use crate::engine::laws::{self, Operation};
use crate::storage::Simulation;

/// So many different disks must have been judged, or the matrix has become too small to mean anything.
const CRASH_STATES_MIN: usize = 10_000;

#[test]
fn acknowledged_writes_survive_crashes_anywhere() {
    let mut findings = Findings::default();
    for seed in 0..24 {
        let policy = [Policy::Always, Policy::Sometimes, Policy::Never][seed as usize % 3];
        let mut matrix = Matrix::new(seed, policy, 100);
        matrix.chain_every = 41;
        matrix.preallocation_bytes = if seed % 2 == 0 { 0 } else { 4096 };
        matrix.run(&mut findings);
        assert!(findings.violations.is_empty(), "seed {seed}: {}", findings.violations.join("\n"));
    }
    println!("crash states: {}", findings.crash_states());
    assert!(findings.crash_states() >= CRASH_STATES_MIN, "only {} crash states", findings.crash_states());
}

/// MOVE and FLUSHDB in one MULTI.
#[test]
fn moved_collection_lost_with_its_flushed_database() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    run(&store, &[sub_put("hash", "field", &[b'v'; 100])]);
    run(&store, &[Operation::Rename(0, b"hash".to_vec(), 1, b"hash".to_vec()), Operation::Flush(0)]);
    let before = contents(&store);
    assert_eq!(before.len(), 1);
    while store.drain_garbage(10) > 0 {}
    assert_eq!(
        laws::difference(&before, &contents(&store)),
        None,
        "freeing garbage takes living fields along"
    );
    run(&store, &[put("filler", &[b'f'; 5000]), put("other", &[b'f'; 5000]), remove("filler")]);
    run(&store, &[put("third", &[b'f'; 5000])]);
    merge_all(&store);
    run(&store, &[remove("filler"), remove("other"), remove("third")]);
    assert_eq!(laws::difference(&before, &contents(&store)), None, "merge takes living fields along");
    let next = open(&machine.after_kill()).expect("open").store;
    assert_eq!(laws::difference(&before, &contents(&next)), None, "opening again takes living fields along");
}

/// The output of a merge may be the last datafile there is; the next process must take it as whole as any other.
#[test]
fn store_does_not_open_after_a_merge_on_a_home_that_preallocates() {
    let machine = Simulation::new(1);
    machine.set_preallocation_bytes(64 * 1024);
    let store = open(&machine).expect("open").store;
    for round in 0..40_u8 {
        run(&store, &[put("overwritten", &[round; 1000]), put(&format!("kept {round}"), &[round; 100])]);
    }
    merge_all(&store);
    Chore::Sync.run(&store, 0).expect("a healthy store");
    let before = contents(&store);
    drop(store);
    for again in 0..3 {
        let next = open(&machine.after_kill()).unwrap_or_else(|error| panic!("{error}, time {again}"));
        assert_eq!(laws::difference(&before, &contents(&next.store)), None);
        merge_all(&next.store);
    }
}

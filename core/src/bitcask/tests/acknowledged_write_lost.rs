//! The power goes, or the process is killed, at every operation of the device, and every acknowledged transaction must
//! be there afterwards, whole.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::crash_states::Findings;
use super::harness::{Chore, Policy, contents, merge_all, open, put, remove, run, sub_put};
use super::matrix::Matrix;
use crate::engine::laws::{self, Operation};
use crate::storage::Simulation;

/// So many different disks are judged if `EDGECASK_CRASH_STATES` does not ask for more. WebAssembly has one slow thread.
const CRASH_STATES: usize = if cfg!(target_family = "wasm") { 2_000 } else { 40_000 };

/// Where the power must have gone, among other places, or the matrix has become too small to mean anything: what the store
/// did, the operation of the device and its files. Merge writes `.hidden` files, and a new datafile begins as a `.temporary` one.
const PLACES: [&str; 35] = [
    "commit: write .blob",
    "commit: write .data",
    "commit: write .temporary",
    "commit: rename .temporary .data",
    "commit: rename MANIFEST.temporary MANIFEST",
    "sync: sync .blob",
    "sync: sync .temporary",
    "note: write MANIFEST.temporary",
    "merge: create .hidden",
    "merge: write .hidden",
    "merge: rename .hidden .data",
    "merge: sync directory",
    "merge: rename MANIFEST.temporary MANIFEST",
    "merge: remove .data",
    "merge: apply metadata",
    "hint: apply metadata",
    "hint: apply_lazily metadata",
    "hint ahead: apply metadata",
    "checkpoint: apply metadata",
    "sweep: remove .blob",
    "backup: rename .temporary .data",
    "prepare: write .temporary",
    "prepare: rename .temporary .data",
    "prepare: rename MANIFEST.temporary MANIFEST",
    "prepare: set_len .temporary",
    "recovery: set_len .data",
    "recovery: sync .data",
    "recovery: sync .blob",
    "recovery: rename MANIFEST.temporary MANIFEST",
    "recovery: remove .data",
    "recovery: remove .hidden",
    "recovery: remove .blob",
    "recovery: rename .temporary .torn",
    "no metadata",
    "newer metadata",
];

/// The number that an environment variable gives.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// One seed of the matrix: all policies, with and without preallocation.
fn matrix_of(seed: u64) -> Matrix {
    let policy = [Policy::Always, Policy::Sometimes, Policy::Never][(seed % 3) as usize];
    let preallocation_bytes = if (seed / 3).is_multiple_of(2) { 0 } else { 4096 };
    Matrix {
        preallocation_bytes,
        chain_every: 41,
        nested_every: 5,
        metadata_every: 11,
        ..Matrix::new(seed, policy, 60)
    }
}

/// Judges crash states of one seed after another until there are enough, or a violation.
fn judge_seeds(all: &Mutex<Findings>, next_seed: &AtomicU64, wanted: usize) {
    while all.lock().crash_states() < wanted && all.lock().violations.is_empty() {
        let mut findings = Findings::default();
        matrix_of(next_seed.fetch_add(1, Ordering::Relaxed)).run(&mut findings);
        all.lock().add(findings);
    }
}

#[test]
fn acknowledged_writes_survive_crashes_anywhere() {
    let wanted = number("EDGECASK_CRASH_STATES").map_or(CRASH_STATES, |wanted| wanted as usize);
    let first_seed = number("EDGECASK_SEED").unwrap_or(0);
    let (all, next_seed) = (Mutex::new(Findings::default()), AtomicU64::new(first_seed));
    #[cfg(not(target_family = "wasm"))]
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| judge_seeds(&all, &next_seed, wanted));
        }
    });
    #[cfg(target_family = "wasm")]
    judge_seeds(&all, &next_seed, wanted);
    let (findings, end) = (all.into_inner(), next_seed.into_inner());
    println!(
        "crash states: {} different disks of seeds {first_seed} to {}",
        findings.crash_states(),
        end - 1
    );
    println!("judged: {}; violations: {}", findings.judged, findings.violations.len());
    findings.places().iter().for_each(|(place, count)| println!("  {count:8} {place}"));
    assert!(findings.violations.is_empty(), "{}", findings.violations.join("\n"));
    assert!(findings.crash_states() >= wanted);
    let missing: Vec<&str> =
        PLACES.into_iter().filter(|place| !findings.places().contains_key(*place)).collect();
    assert!(cfg!(target_family = "wasm") || missing.is_empty(), "the power never went in {missing:?}");
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

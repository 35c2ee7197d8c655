//! BGREWRITEAOF merges every datafile with something dead, however little, and changes nothing that is read.

use std::sync::Arc;

use crate::bitcask::{Bitcask, Options};
use crate::engine::laws::{self, DATABASES, Operation};
use crate::engine::{Admin, Rewriting};
use crate::storage::{Simulation, Storage};

use super::harness::{put, remove};

const OPTIONS: Options = Options {
    databases: DATABASES,
    datafile_max_bytes: 4 * 1024,
    seed: 7,
    on_damage: crate::bitcask::OnDamage::Refuse,
    access: 0,
};
const NOW_MS: u64 = 1_700_000_000_000;

/// More than any of these merges takes.
const STEPS_MAX: usize = 10_000;

fn open(machine: &Simulation) -> Bitcask {
    let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("a healthy device"));
    Bitcask::open(storage, &OPTIONS).unwrap_or_else(|error| panic!("{error}")).store
}

fn reported(store: &Bitcask, name: &str) -> u64 {
    store.report().iter().find(|(row, _)| *row == name).map_or(0, |(_, number)| *number)
}

fn commit(store: &Bitcask, operation: Operation) {
    laws::run(store, &[operation], NOW_MS).expect("a healthy device");
}

/// Forty keys in several datafiles, of which a quarter was written twice and one was removed: not enough for a merge.
fn filled(machine: &Simulation) -> Bitcask {
    let store = open(machine);
    for number in 0..40_u8 {
        commit(&store, put(&format!("k{number}"), &[number; 300]));
    }
    for number in (0..40).step_by(4) {
        commit(&store, put(&format!("k{number}"), &[number + 1; 300]));
    }
    commit(&store, remove("k1"));
    while store.merge_step(4096).expect("a healthy device").is_unfinished {}
    store
}

fn rewrite(store: &Bitcask) {
    assert!(store.begin_rewrite());
    for _ in 0..STEPS_MAX {
        if !store.rewriting().is_on {
            return;
        }
        assert!(!store.begin_rewrite(), "one at a time");
        store.merge_step(4096).expect("a healthy device");
    }
    panic!("the rewrite never ends");
}

#[test]
fn rewrite_leaves_dead_bytes() {
    let machine = Simulation::new(3);
    let store = filled(&machine);
    let before = laws::dump(&store, NOW_MS);
    let dead = reported(&store, "datafile_dead_bytes");
    assert!(dead > 2000, "merge alone has left {dead} dead bytes");
    rewrite(&store);
    assert_eq!(store.rewriting(), Rewriting { is_on: false, has_failed: false, finished: 1 });
    assert_eq!(laws::dump(&store, NOW_MS), before);
    let dead = reported(&store, "datafile_dead_bytes");
    assert!(dead < 1000, "{dead} dead bytes are left: {:?}", store.report());
    // A rewrite of what is rewritten has nothing to do.
    let merges = reported(&store, "merges");
    rewrite(&store);
    assert!(reported(&store, "merges") <= merges + 1, "{:?}", store.report());
    drop(store);
    let store = open(&machine.after_kill());
    assert_eq!(laws::dump(&store, NOW_MS), before);
}

#[test]
fn failed_rewrite_goes_on_for_ever() {
    let machine = Simulation::new(3);
    let store = filled(&machine);
    let before = laws::dump(&store, NOW_MS);
    assert!(store.begin_rewrite());
    machine.set_capacity_bytes(Some(1));
    let failed = (0..STEPS_MAX).any(|_| store.merge_step(4096).is_err());
    assert!(failed, "a full disk is noticed");
    assert_eq!(store.rewriting(), Rewriting { is_on: false, has_failed: true, finished: 0 });
    assert_eq!(laws::dump(&store, NOW_MS), before);
}

//! Nothing was written where a file could not be opened: the commit is refused, and the next one tries again.

use super::harness::{contents, put, run};
use crate::bitcask::{Bitcask, Options};
use crate::engine::laws::{self, DATABASES};
use crate::engine::{Admin, Engine, EngineError};
use crate::storage::Simulation;
use std::sync::Arc;

fn open(machine: &Simulation) -> Bitcask {
    let options = Options {
        databases: DATABASES,
        datafile_max_bytes: 4096,
        seed: 7,
        on_damage: crate::bitcask::OnDamage::Refuse,
        access: 0,
    };
    let storage = Arc::new(machine.open().expect("a device in order"));
    Bitcask::open(storage, &options).unwrap_or_else(|error| panic!("{error}")).store
}

#[test]
fn datafile_that_cannot_be_begun() {
    let machine = Simulation::new(5);
    let store = open(&machine);
    run(&store, &[put("key", &[1; 1000])]);
    machine.set_out_of_descriptors(true);
    let refused = (0..20).find_map(|_| laws::run(&store, &[put("key", &[2; 1000])], 0).err());
    assert!(matches!(refused, Some(EngineError::Exhausted(_))), "{refused:?}");
    let before = contents(&store);
    assert!(laws::run(&store, &[put("key", &[3; 3000])], 0).is_err(), "as long as there is none");
    assert!(matches!(store.draft().map(drop), Err(EngineError::Exhausted(_))), "nor a blob");
    assert_eq!(laws::difference(&before, &contents(&store)), None, "reads go on, and nothing has changed");
    for _ in 0..50 {
        // A merge finds none either, and gives up without harm.
        assert!(matches!(store.merge_step(10_000), Ok(_) | Err(EngineError::Exhausted(_))));
    }
    let number = || store.log.header(0, 0, Vec::new()).expect("there are more").id;
    let before = number();
    for _ in 0..50 {
        assert!(laws::run(&store, &[put("key", &[3; 3000])], 0).is_err());
    }
    assert_eq!(number(), before + 1, "refused commits use up no numbers of datafiles");
    store.sync().expect("the log is as it was");
    machine.set_out_of_descriptors(false);
    for number in 0..20 {
        run(&store, &[put(&format!("key {number}"), &[4; 1000])]);
    }
    store.checkpoint(0).expect("a device in order");
    let next = open(&machine.after_kill());
    assert_eq!(laws::difference(&contents(&store), &contents(&next)), None);
}

#[test]
fn checkpoint_that_cannot_write_the_manifest() {
    let machine = Simulation::new(5);
    let store = open(&machine);
    run(&store, &[put("key", &[1; 1000])]);
    machine.set_out_of_descriptors(true);
    let refused = store.checkpoint(0);
    assert!(matches!(refused, Err(EngineError::Exhausted(_))), "{refused:?}");
    assert_eq!(store.refusal(), None);
    run(&store, &[put("key", &[2; 100])]);
    machine.set_out_of_descriptors(false);
    store.checkpoint(0).expect("a device in order");
}

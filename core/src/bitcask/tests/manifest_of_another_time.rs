//! A manifest of another store, or an older copy of the store's own, takes datafiles with it that are whole.

use super::harness::{OPTIONS, contents, datafile_names, merge_all, open, open_with, put, run, sub_put};
use crate::bitcask::{OnDamage, Options};
use crate::engine::Admin;
use crate::engine::laws::{self, Dump};
use crate::storage::Simulation;

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..OPTIONS };

/// A store at rest, and what it holds.
fn store(seed: u64, keys: u8) -> (Simulation, Dump) {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &Options { seed, ..OPTIONS }).expect("open").store;
    for number in 0..keys {
        run(
            &store,
            &[put(&format!("key {number}"), &[number; 500]), sub_put("hash", &format!("{number}"), b"v")],
        );
    }
    store.checkpoint(0).expect("a healthy device");
    let all = contents(&store);
    drop(store);
    (machine.after_kill(), all)
}

/// The manifest is refused by its name, and a salvage without it loses nothing.
fn check_ignored(machine: &Simulation, all: &Dump) {
    let refused = open(machine).err().expect("refused");
    assert!(refused.starts_with("does not open: the manifest (MANIFEST)"), "{refused}");
    let opened = open_with(machine, &SALVAGE).expect("salvaged");
    assert_eq!(laws::difference(all, &contents(&opened.store)), None, "{:?}", opened.damages);
    assert_eq!(opened.set_aside, Vec::<String>::new());
    drop(opened.store);
    let again = open(&machine.after_kill()).expect("what was salvaged is whole").store;
    assert_eq!(laws::difference(all, &contents(&again)), None);
}

#[test]
fn foreign_manifest_loses_the_whole_store() {
    let (other, _) = store(8, 40);
    for keys in [5, 40] {
        let (machine, all) = store(7, keys);
        machine.set_bytes("MANIFEST", other.bytes("MANIFEST").expect("a manifest"));
        check_ignored(&machine, &all);
    }
}

#[test]
fn older_manifest_loses_the_datafiles_made_since() {
    let (machine, _) = store(7, 20);
    let older = machine.bytes("MANIFEST").expect("a manifest");
    let files = datafile_names(&machine).len();
    let store = open(&machine).expect("open").store;
    for number in 0..30_u8 {
        run(&store, &[put(&format!("later {number}"), &[number; 500])]);
    }
    store.checkpoint(0).expect("a healthy device");
    let all = contents(&store);
    drop(store);
    assert!(datafile_names(&machine).len() > files);
    let machine = machine.after_kill();
    machine.set_bytes("MANIFEST", older);
    check_ignored(&machine, &all);
}

#[test]
fn older_manifest_brings_back_what_was_merged() {
    let (machine, _) = store(7, 20);
    let older = machine.bytes("MANIFEST").expect("a manifest");
    let store = open(&machine).expect("open").store;
    for round in 0..4_u8 {
        for number in 0..20_u8 {
            run(&store, &[put(&format!("key {number}"), &[round; 400])]);
        }
        merge_all(&store);
    }
    store.checkpoint(0).expect("a healthy device");
    let all = contents(&store);
    drop(store);
    let machine = machine.after_kill();
    machine.set_bytes("MANIFEST", older);
    let refused = open(&machine).err().expect("refused");
    assert!(refused.contains("the manifest (MANIFEST)"), "{refused}");
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    assert_eq!(laws::difference(&all, &contents(&opened.store)), None, "{:?}", opened.damages);
}

//! Blobs whose records are damaged or lost are removed for good, though every byte of them is whole.

use super::harness::{OPTIONS, contents, datafile_names, open, open_with, put, run};
use crate::bitcask::{Bitcask, OnDamage, Options, check};
use crate::engine::{Admin, Engine, Kind, NewRoot, Overlay, Scope, Txn};
use crate::storage::{DeviceStorage, Simulation};

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..OPTIONS };

fn put_blob(store: &Bitcask, key: &str, byte: u8) {
    let mut overlay = Overlay::new();
    let mut snapshot = store.begin(Scope::Keys(&[key.as_bytes()])).expect("begin");
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    txn.set_blob_min(1000);
    txn.put(0, key.as_bytes(), NewRoot::of(Kind::String), &[byte; 20_000]).expect("put");
    store.commit(snapshot, &mut overlay, 0, &mut |_| {}).expect("commit");
}

/// A store of several datafiles at rest; the first one names one blob, and the last one another.
fn with_blobs() -> Simulation {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    put_blob(&store, "first film", 7);
    for number in 0..40_u8 {
        run(&store, &[put(&format!("key {number}"), &[number; 500])]);
    }
    put_blob(&store, "last film", 8);
    store.checkpoint(0).expect("a healthy device");
    drop(store);
    machine.after_kill()
}

/// The names of the files with the contents of a blob.
fn holding(machine: &Simulation, byte: u8) -> Vec<String> {
    let is_it = |name: &String| machine.bytes(name).is_some_and(|bytes| bytes == [byte; 20_000]);
    machine.file_names().into_iter().filter(is_it).collect()
}

fn is_sound(machine: &Simulation) -> bool {
    let storage = DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
    check(&storage, OPTIONS.databases).expect("readable").is_sound()
}

#[test]
fn blob_is_swept_with_the_datafile_that_named_it() {
    for hinted in [true, false] {
        let machine = with_blobs();
        if !hinted {
            machine.set_meta(Default::default());
        }
        assert!(machine.remove_file(&datafile_names(&machine)[0]));
        let opened = open_with(&machine, &SALVAGE).expect("salvaged");
        let aside = holding(&machine, 7);
        assert!(aside.len() == 1 && aside[0].ends_with(".blob.damaged"), "{aside:?}");
        assert_eq!(opened.set_aside, aside);
        drop(opened.store);
        for _ in 0..2 {
            let opened = open(&machine).expect("what was salvaged is whole");
            opened.store.sweep_blobs().expect("a healthy device");
            assert_eq!((holding(&machine, 7), holding(&machine, 8).len()), (aside.clone(), 1));
        }
    }
}

#[test]
fn blob_is_swept_whose_record_has_a_flipped_bit() {
    let machine = with_blobs();
    machine.set_meta(Default::default());
    let name = datafile_names(&machine).remove(0);
    let bytes = machine.bytes(&name).expect("a datafile");
    let key = bytes.windows(10).rposition(|window| window == b"first film").expect("the root");
    assert!(machine.flip_bit(&name, key as u64, 1));
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    assert!(!opened.losses.is_empty());
    assert_eq!(holding(&machine, 7).len(), 1);
    assert!(opened.set_aside.contains(&holding(&machine, 7)[0]), "{:?}", opened.set_aside);
}

#[test]
fn storage_without_its_datafiles_is_taken_for_a_new_store() {
    let whole = with_blobs();
    let (gone, hints_only, aside_only) = (whole.after_kill(), whole.after_kill(), Simulation::new(1));
    for machine in [&gone, &hints_only] {
        for name in datafile_names(machine).iter().map(String::as_str).chain(["MANIFEST"]) {
            assert!(machine.remove_file(name));
        }
    }
    hints_only.file_names().iter().filter(|name| name.ends_with(".blob")).for_each(|name| {
        hints_only.remove_file(name);
    });
    aside_only.set_bytes("0000000001.torn-300", vec![5; 100]);
    for (machine, films) in [(gone, 1), (hints_only, 0), (aside_only, 0)] {
        let before = machine.file_names();
        let refused = open(&machine).err().expect("refused");
        assert!(refused.contains("MANIFEST") && refused.contains("no new store"), "{refused}");
        assert_eq!(machine.file_names(), before, "nothing is changed");
        assert!(!is_sound(&machine));
        let opened = open_with(&machine, &SALVAGE).expect("salvaged");
        assert_eq!(contents(&opened.store).len(), 0);
        run(&opened.store, &[put("key", b"value")]);
        opened.store.sync().expect("a healthy device");
        drop(opened.store);
        let machine = machine.after_kill();
        assert_eq!(contents(&open(&machine).expect("a store").store).len(), 1);
        assert_eq!((holding(&machine, 7).len(), holding(&machine, 8).len()), (films, films));
    }
}

#[test]
fn unfinished_blob_of_a_new_store_keeps_it_from_opening() {
    let machine = Simulation::new(1);
    drop(open(&machine).expect("open"));
    machine.set_bytes("00000000000000065536.blob", vec![5; 100]);
    let machine = machine.after_kill();
    drop(open(&machine).expect("the manifest says that there is no datafile yet"));
    assert!(!machine.file_names().iter().any(|name| name.contains(".blob")), "it is litter");
}

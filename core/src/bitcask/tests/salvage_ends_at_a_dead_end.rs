//! A store that is to be salvaged does not open, or opens with less than it says, because the damage shows up in more than one way.

use super::harness::{OPTIONS, contents, datafile_names, open, open_with, put, run};
use crate::bitcask::fault_injection::{Fault, with_fault};
use crate::bitcask::{OnDamage, Options, check};
use crate::storage::{DeviceStorage, Simulation};

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..OPTIONS };

/// A store at rest with several datafiles, all of which have hints, the active one as well.
fn hinted() -> Simulation {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    for number in 0..25_u8 {
        run(&store, &[put(&format!("key {number}"), &[number; 500])]);
    }
    while store.hint_ahead(1).expect("a healthy device") {}
    assert_eq!(store.unhinted_bytes(), 0);
    drop(store);
    machine.after_kill()
}

/// Cuts the last record off the active datafile. Nothing but its hints says that there was more.
fn cut_active(machine: &Simulation) {
    let name = datafile_names(machine).pop().expect("a datafile");
    let mut bytes = machine.bytes(&name).expect("its bytes");
    let end = bytes.windows(500).rposition(|part| part == [24; 500]).expect("the last value");
    // Between two records: the header has 24 bytes, the owner, and the two lengths, of which one takes two.
    bytes.truncate(end - "key 24".len() - 24 - 4);
    machine.set_bytes(&name, bytes);
}

#[test]
fn end_that_only_hints_know_is_lost_in_silence() {
    let machine = hinted();
    cut_active(&machine);
    let refused = open(&machine).err().expect("refused");
    assert!(refused.contains("more of it was synced"), "{refused}");
    let storage = DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
    let checked = check(&storage, OPTIONS.databases).expect("readable");
    assert!(!checked.is_sound(), "a start refuses it");
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    assert!(!opened.damages.is_empty() && opened.set_aside.len() == 1, "{:?}", opened.damages);
    assert_eq!(contents(&opened.store).len(), 24);
    drop(opened.store);
    assert_eq!(contents(&open(&machine.after_kill()).expect("mended").store).len(), 24);
}

#[test]
fn end_that_only_hints_know_keeps_a_damaged_store_from_being_salvaged() {
    let machine = hinted();
    cut_active(&machine);
    assert!(machine.flip_bit(&datafile_names(&machine)[0], 700, 0));
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    assert_eq!((contents(&opened.store).len(), opened.set_aside.len()), (23, 2), "{:?}", opened.damages);
}

#[test]
fn successor_that_is_damaged_as_well_is_the_end() {
    let machine = hinted();
    machine.set_meta(Default::default());
    let name = &datafile_names(&machine)[0];
    assert!(machine.flip_bit(name, 700, 0));
    let opened = with_fault(Some(Fault::SuccessorFlipped), || open_with(&machine, &SALVAGE));
    let opened = opened.expect("mended twice");
    assert_eq!((opened.reports.len(), opened.set_aside.len()), (2, 2));
    let all = contents(&opened.store);
    for number in 0..25_u8 {
        let key = format!("key {number}");
        let is_lost = opened.losses.iter().any(|loss| loss.key.as_deref() == Some(key.as_bytes()));
        assert_eq!(all.contains_key(&(0, key.clone().into_bytes())), !is_lost, "{key}");
    }
    assert_eq!((opened.losses.len(), all.len()), (2, 23), "{:?}", opened.losses);
    drop(opened.store);
    assert_eq!(contents(&open(&machine.after_kill()).expect("mended").store).len(), 23);
}

#[test]
fn disk_that_damages_everything_is_salvaged_for_ever() {
    let machine = hinted();
    machine.set_meta(Default::default());
    assert!(machine.flip_bit(&datafile_names(&machine)[0], 700, 0));
    let refused = with_fault(Some(Fault::EverySuccessorFlipped), || open_with(&machine, &SALVAGE));
    let refused = refused.err().expect("given up");
    assert!(refused.contains("does not carry its checksum"), "{refused}");
    assert_eq!(contents(&open_with(&machine, &SALVAGE).expect("salvaged").store).len(), 20);
}

#[test]
fn whole_frames_behind_a_flip_go_with_a_damaged_manifest() {
    for is_gone in [false, true] {
        let machine = Simulation::new(1);
        let store =
            open_with(&machine, &Options { datafile_max_bytes: 1 << 20, ..OPTIONS }).expect("open").store;
        for number in 0..25_u8 {
            run(&store, &[put(&format!("key {number}"), &[number; 500])]);
        }
        drop(store);
        let machine = machine.after_kill();
        machine.set_meta(Default::default());
        let name = datafile_names(&machine).remove(0);
        let bytes = machine.bytes(&name).expect("its bytes");
        let at = bytes.windows(500).position(|part| part == [9; 500]).expect("the value");
        assert!(machine.flip_bit(&name, at as u64 + 70, 3));
        match is_gone {
            true => assert!(machine.remove_file("MANIFEST")),
            false => assert!(machine.flip_bit("MANIFEST", 20, 0)),
        }
        let refused = open(&machine).err().expect("refused");
        assert!(refused.contains("the manifest (MANIFEST)"), "{refused}");
        let storage =
            DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
        let checked = check(&storage, OPTIONS.databases).expect("readable");
        assert_eq!((checked.damages.len(), checked.losses.len(), checked.torn_tail), (2, 1, None));
        let opened = open_with(&machine, &SALVAGE).expect("salvaged");
        assert_eq!((contents(&opened.store).len(), opened.torn_tail), (24, None), "{:?}", opened.damages);
    }
}

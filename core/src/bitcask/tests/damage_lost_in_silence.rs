//! Damage that takes acknowledged writes with it and is called something else: a torn end, a store that simply has fewer
//! keys, or a value that is one key's only.

use std::sync::Arc;

use super::harness::{
    OPTIONS, contents, datafile_names, merge_all, open, open_with, put, remove, run, sub_put,
};
use crate::bitcask::manifest::Manifest;
use crate::bitcask::{Bitcask, Checked, Fate, LostKind, OnDamage, OpenError, Opened, Options, check};
use crate::engine::laws::{self, Dump};
use crate::engine::{Admin, Engine, EngineError, Kind, NewRoot, Overlay, Scope, Txn};
use crate::storage::simulated::{Moment, Survival};
use crate::storage::{DeviceStorage, Simulation, Storage};

/// One datafile takes all of a test.
const LARGE: Options = Options { datafile_max_bytes: 1 << 20, ..OPTIONS };

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..LARGE };

fn value_of(store: &Bitcask, key: &str) -> Result<Option<Vec<u8>>, EngineError> {
    let mut snapshot = store.begin(Scope::Keys(&[key.as_bytes()]))?;
    let mut overlay = Overlay::new();
    Txn::new(&mut snapshot, &mut overlay, 0).value(0, key.as_bytes())
}

/// A machine whose process was killed after it had appended 100 keys that were never synced, and the name of the datafile.
fn killed_with_unsynced_keys() -> (Simulation, String) {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    run(&store, &[put("first", b"value")]);
    store.sync().expect("a healthy device");
    for number in 0..100_u8 {
        run(&store, &[put(&format!("key {number}"), &[number; 100])]);
    }
    drop(store);
    let name = datafile_names(&machine).pop().expect("a datafile");
    (machine.after_kill(), name)
}

/// The place of a key's value in a datafile.
fn place_of(machine: &Simulation, name: &str, value: &[u8]) -> u64 {
    let bytes = machine.bytes(name).expect("a file");
    bytes.windows(value.len()).rposition(|window| window == value).expect("the value") as u64
}

fn refusal(machine: &Simulation) -> String {
    open_with(machine, &LARGE).err().expect("the store is refused")
}

#[test]
fn whole_frames_behind_a_flipped_bit_are_cut_off() {
    let (machine, name) = killed_with_unsynced_keys();
    let damage = place_of(&machine, &name, &[50; 100]);
    assert!(machine.flip_bit(&name, damage, 0));
    let before = files(&machine);
    let refused = refusal(&machine);
    assert!(refused.contains(&name) && refused.contains("at offset "), "{refused}");
    assert!(machine.remove_file("REFUSED"), "a note says that it was refused");
    assert_eq!(files(&machine), before, "nothing else is changed by a store that does not open");
    let Opened { store, damages, losses, set_aside, .. } = open_with(&machine, &SALVAGE).expect("salvaged");
    assert_eq!((damages.len(), set_aside.as_slice()), (1, &["0000000001.damaged".to_owned()][..]));
    let [loss] = &losses[..] else { panic!("{losses:?}") };
    assert_eq!((loss.db, loss.key.as_deref(), loss.fate), (Some(0), Some(&b"key 50"[..]), Fate::Gone));
    assert_eq!(contents(&store).len(), 100, "all other keys are there");
    run(&store, &[put("key 50", b"again")]);
    drop(store);
    let again = open_with(&machine.after_kill(), &LARGE).expect("what was salvaged is whole");
    assert_eq!(contents(&again.store).len(), 101);
    assert_eq!(again.damages, []);
}

#[test]
fn datafile_cut_within_its_last_frame_is_a_torn_end() {
    let machine = Simulation::new(1);
    machine.set_preallocation_bytes(4096);
    let store = open_with(&machine, &LARGE).expect("open").store;
    for number in 0..100_u8 {
        run(&store, &[put(&format!("key {number}"), &[number; 100])]);
    }
    store.sync().expect("a healthy device");
    drop(store);
    let machine = machine.after_kill();
    let name = datafile_names(&machine).pop().expect("a datafile");
    let whole = machine.bytes(&name).expect("the datafile");
    let end = place_of(&machine, &name, &[90; 100]) as usize + 100;
    // In the value, in the key, and in the header, of which there may be too little left to say anything.
    for back in [1, 50, 100, 103, 110, 115] {
        let mut bytes = whole.clone();
        bytes.truncate(end - back);
        let rebooted = machine.after_power_loss(Survival::All);
        for (machine, is_explained) in [(machine.after_kill(), false), (rebooted, true)] {
            machine.set_bytes(&name, bytes.clone());
            let opened = open_with(&machine, &LARGE);
            assert_eq!(opened.is_ok(), is_explained, "{back} bytes are missing");
            let refused = opened.err().map_or_else(String::new, |error| error.to_string());
            assert!(is_explained || refused.contains(&name) && refused.contains("cut short"), "{refused}");
        }
        machine.set_bytes(&name, bytes);
        assert_eq!(checked(&machine).damages.len(), 1, "{back} bytes are missing");
        let salvaged = open_with(&machine.after_kill(), &SALVAGE).expect("salvaged");
        assert_eq!(contents(&salvaged.store).len(), 90, "{back} bytes are missing");
    }
}

#[test]
fn hole_after_the_loss_of_power_is_cut_without_a_copy() {
    let (machine, name) = killed_with_unsynced_keys();
    let machine = machine.after_power_loss(Survival::All);
    lose_sector(&machine, &name, &[50; 100]);
    let before = machine.bytes(&name).expect("the datafile");
    let opened = open_with(&machine, &LARGE).expect("what was never synced may be torn");
    let torn = opened.torn_tail.expect("it says so");
    assert!(opened.may_have_lost_power);
    assert!((40..50).contains(&torn.whole_frames), "{torn:?}");
    let copy = torn.set_aside.expect("a copy of what is cut off");
    assert_eq!(
        machine.bytes(&copy).expect("the copy"),
        before[torn.offset as usize..][..torn.bytes as usize]
    );
    let kept = contents(&opened.store).len();
    assert!((45..=51).contains(&kept), "{kept}");
    drop(opened.store);
    assert_eq!(open_with(&machine.after_kill(), &LARGE).expect("open").torn_tail, None);
}

/// Makes the sector zeros that a value begins in, as the loss of power may.
fn lose_sector(machine: &Simulation, name: &str, value: &[u8]) {
    let mut bytes = machine.bytes(name).expect("a file");
    let start = place_of(machine, name, value) as usize / 512 * 512;
    bytes[start..start + 512].fill(0);
    machine.set_bytes(name, bytes);
}

#[test]
fn flipped_bit_after_a_reboot_is_taken_for_a_hole() {
    let (machine, name) = killed_with_unsynced_keys();
    let machine = machine.after_power_loss(Survival::All);
    // In the checksum, in the time of the commit, in the key and in the value.
    let value = place_of(&machine, &name, &[50; 100]);
    for back in [33, 17, 1, 0] {
        let machine = machine.after_kill();
        assert!(machine.flip_bit(&name, value - back, 0));
        let refused = refusal(&machine);
        assert!(refused.contains(&name) && refused.contains("(49 whole frames)"), "{back}: {refused}");
        let opened = open_with(&machine, &SALVAGE).expect("salvaged");
        assert_eq!((opened.losses.len(), contents(&opened.store).len()), (1, 100), "{back}");
    }
}

#[test]
fn flipped_header_after_a_reboot_is_taken_for_a_hole() {
    let (machine, name) = killed_with_unsynced_keys();
    let machine = machine.after_power_loss(Survival::All);
    let value = place_of(&machine, &name, &[50; 100]);
    let header_bytes = 24 + 3 + "key 50".len() as u64;
    for (back, bit) in (0..=header_bytes).flat_map(|back| [0, 3, 6].map(|bit| (back, bit))) {
        let machine = machine.after_kill();
        assert!(machine.flip_bit(&name, value - back, bit));
        let refused = refusal(&machine);
        assert!(refused.contains("(49 whole frames)"), "{back}, {bit}: {refused}");
        let opened = open_with(&machine, &SALVAGE).expect("salvaged");
        assert_eq!(contents(&opened.store).len(), 100, "{back}, {bit}");
    }
}

#[test]
fn frames_behind_a_hole_are_a_note_of_check_and_lost_by_salvage() {
    let (machine, name) = killed_with_unsynced_keys();
    let machine = machine.after_power_loss(Survival::All);
    lose_sector(&machine, &name, &[50; 100]);
    let found = checked(&machine);
    assert!(!found.is_sound(), "a start would cut them off");
    let [damage] = &found.damages[..] else { panic!("{:?}", found.damages) };
    let said = damage.to_string();
    assert!((40..50).contains(&damage.frames_behind) && said.contains(&name), "{said}");
    assert!(said.contains(&format!("({} whole frames)", damage.frames_behind)), "{said}");
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    assert_eq!(opened.torn_tail, None);
    let kept = contents(&opened.store).len();
    let [damage] = &opened.damages[..] else { panic!("{:?}", opened.damages) };
    // The header of the first lost record may be there; the others are zeros.
    assert!(damage.unnamed_bytes > 0 && damage.unnamed_bytes <= 512 + 100, "{damage:?}");
    assert!(kept >= 95 && kept + opened.losses.len() < 101, "{kept} {:?}", opened.losses);
}

#[test]
fn torn_frame_with_nothing_behind_it_is_refused() {
    let (machine, name) = killed_with_unsynced_keys();
    let bytes = machine.bytes(&name).expect("the datafile");
    machine.set_bytes(&name, bytes[..bytes.len() - 60].to_vec());
    let opened = open_with(&machine, &LARGE).expect("the end of an unfinished write");
    assert_eq!(opened.torn_tail.map(|torn| (torn.whole_frames, torn.set_aside)), Some((0, None)));
    assert_eq!(contents(&opened.store).len(), 100);
}

/// Several pieces with a checksum each, so that the damaged one is not the one that APPEND compares.
const FILM_BYTES: u64 = 200_000;

/// A key with a blob, which was synced, damaged and then appended to.
fn with_appended_blob() -> (Simulation, String) {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    let mut overlay = Overlay::new();
    let mut blob = |append: bool| {
        let mut snapshot = store.begin(Scope::Keys(&[b"film"])).expect("begin");
        overlay.clear();
        let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
        txn.set_blob_min(1000);
        if append {
            txn.write_to_blob(0, b"film", 0, FILM_BYTES, b"x").expect("append");
        } else {
            txn.put(0, b"film", NewRoot::of(Kind::String), &[7; FILM_BYTES as usize]).expect("put");
        }
        store.commit(snapshot, &mut overlay, 0, &mut |_| {}).expect("commit");
    };
    blob(false);
    store.checkpoint(0).expect("a healthy device");
    let is_blob = |name: &String| name.ends_with(".blob");
    let name = machine.file_names().into_iter().find(is_blob).expect("a blob");
    assert!(machine.flip_bit(&name, 777, 0));
    blob(true);
    for number in 0..100_u8 {
        run(&store, &[put(&format!("key {number}"), &[number; 100])]);
    }
    drop(store);
    (machine.after_kill(), name)
}

fn check_blob_damage(machine: &Simulation, name: &str) {
    let opened = open_with(machine, &LARGE).expect("one key is no reason to refuse all others");
    let [damaged] = &opened.damaged_blobs[..] else { panic!("{:?}", opened.damaged_blobs) };
    assert_eq!((damaged.db, damaged.key.as_deref()), (Some(0), Some(&b"film"[..])));
    assert!(damaged.what.contains(name), "{}", damaged.what);
    for number in 0..100_u8 {
        assert_eq!(value_of(&opened.store, &format!("key {number}")), Ok(Some(vec![number; 100])));
    }
    let refused = value_of(&opened.store, "film").expect_err("a damaged value").to_string();
    assert!(refused.contains(name) && refused.contains("film"), "{refused}");
    run(&opened.store, &[remove("film")]);
    assert_eq!(value_of(&opened.store, "film"), Ok(None));
    run(&opened.store, &[put("film", b"again")]);
    assert_eq!(value_of(&opened.store, "film"), Ok(Some(b"again".to_vec())));
    opened.store.sync().expect("a healthy device");
    opened.store.sweep_blobs().expect("a healthy device");
    drop(opened.store);
    assert!(!machine.file_names().iter().any(|file| file == name), "the damaged blob goes with its key");
    assert_eq!(open_with(&machine.after_kill(), &LARGE).expect("open").damaged_blobs, []);
}

#[test]
fn damaged_blob_takes_later_keys_with_it() {
    let (machine, name) = with_appended_blob();
    check_blob_damage(&machine, &name);
}

#[test]
fn missing_blob_blocks_the_whole_store() {
    let (machine, name) = with_appended_blob();
    assert!(machine.remove_file(&name));
    check_blob_damage(&machine, &name);
}

/// Everything on a machine.
fn files(machine: &Simulation) -> Vec<(String, Option<Vec<u8>>)> {
    machine.file_names().into_iter().map(|name| (name.clone(), machine.bytes(&name))).collect()
}

fn checked(machine: &Simulation) -> Checked {
    let before = files(machine);
    let storage = DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
    let checked = check(&storage, OPTIONS.databases).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(files(machine), before, "a check changes nothing");
    checked
}

#[test]
fn check_overlooks_damage_that_a_start_does_not_see() {
    let (machine, blob) = with_appended_blob();
    let store = open_with(&machine, &LARGE).expect("open").store;
    store.checkpoint(0).expect("a healthy device");
    drop(store);
    let machine = machine.after_kill();
    let found = checked(&machine);
    let [damaged] = &found.damaged_blobs[..] else { panic!("{:?}", found.damaged_blobs) };
    assert!(damaged.key.as_deref() == Some(b"film") && damaged.what.contains(&blob) && !found.is_sound());
    assert!(machine.flip_bit(&blob, 777, 0), "as it was");
    assert!(checked(&machine).is_sound());
    let name = datafile_names(&machine).pop().expect("a datafile");
    let damage = place_of(&machine, &name, &[50; 100]);
    assert!(machine.flip_bit(&name, damage, 0));
    assert_eq!(open_with(&machine.after_kill(), &LARGE).map(|opened| opened.hinted_datafiles), Ok(1));
    let found = checked(&machine);
    assert_eq!(
        found.losses.iter().map(|loss| loss.key.as_deref()).collect::<Vec<_>>(),
        [Some(&b"key 50"[..])]
    );
    assert!(found.damages.len() == 1 && !found.is_sound());
}

/// A store of several datafiles at rest.
fn several_datafiles() -> (Simulation, Vec<String>) {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    for number in 0..40_u8 {
        run(
            &store,
            &[put(&format!("key {number}"), &[number; 500]), sub_put("hash", &format!("{number}"), b"v")],
        );
    }
    store.checkpoint(0).expect("a healthy device");
    drop(store);
    let names = datafile_names(&machine);
    assert!(names.len() > 3);
    (machine.after_kill(), names)
}

#[test]
fn missing_datafile_is_a_smaller_store() {
    let (machine, names) = several_datafiles();
    for name in &names {
        let machine = machine.after_kill();
        assert!(machine.remove_file(name));
        let refused = open(&machine).err().expect("refused");
        assert!(refused.contains(name) && refused.contains("missing"), "{refused}");
        let salvage = Options { on_damage: OnDamage::Salvage, ..OPTIONS };
        let opened = open_with(&machine, &salvage).expect("salvaged");
        assert!(contents(&opened.store).len() < 41 && !contents(&opened.store).is_empty());
        drop(opened.store);
        open(&machine.after_kill()).expect("what was salvaged is whole");
    }
}

#[test]
fn manifest_may_go_unnoticed() {
    let (machine, _) = several_datafiles();
    let salvage = Options { on_damage: OnDamage::Salvage, ..OPTIONS };
    let all = contents(&open(&machine.after_kill()).expect("open").store);
    let gone = machine.after_kill();
    assert!(gone.remove_file("MANIFEST"));
    let len = machine.bytes("MANIFEST").expect("a manifest").len() as u64;
    let mut damaged = vec![gone];
    for offset in 0..len {
        let flipped = machine.after_kill();
        assert!(flipped.flip_bit("MANIFEST", offset, (offset % 8) as u8));
        damaged.push(flipped);
    }
    for machine in damaged {
        let refused = open(&machine).err().expect("refused");
        assert!(refused.contains("MANIFEST"), "{refused}");
        let opened = open_with(&machine, &salvage).expect("salvaged");
        assert_eq!(
            laws::difference(&all, &contents(&opened.store)),
            None,
            "nothing is lost but the manifest"
        );
        drop(opened.store);
        open(&machine.after_kill()).expect("there is one again");
    }
}

#[test]
fn older_or_foreign_datafile_is_taken_for_the_stores_own() {
    let (machine, names) = several_datafiles();
    // The same store at an earlier time, and another one.
    let older = Simulation::new(1);
    let store = open(&older).expect("open").store;
    run(&store, &[put("key 0", &[0; 500])]);
    drop(store);
    let other = Simulation::new(1);
    let store = open_with(&other, &Options { seed: 8, ..OPTIONS }).expect("open").store;
    for number in 0..40_u8 {
        run(
            &store,
            &[put(&format!("key {number}"), &[number; 500]), sub_put("hash", &format!("{number}"), b"v")],
        );
    }
    drop(store);
    let last = names.last().expect("a datafile");
    for (from, name, to) in [
        (&older, &names[0], &names[0]),
        (&other, &names[0], &names[0]),
        (&other, &names[1], &names[1]),
        (&other, last, last),
        (&other, &names[1], &"0000000077.data".to_owned()),
        (&machine, &names[1], &"0000000077.data".to_owned()),
    ] {
        let machine = machine.after_kill();
        machine.set_bytes(to, from.bytes(name).expect("a datafile"));
        let refused = open(&machine).err().expect("refused");
        assert!(refused.contains(to.as_str()), "{refused}");
    }
}

#[test]
fn datafile_under_the_number_of_another_cannot_be_salvaged() {
    let (machine, names) = several_datafiles();
    for name in &names {
        for other in names.iter().filter(|other| *other != name) {
            let machine = machine.after_kill();
            machine.set_bytes(name, machine.bytes(other).expect("a datafile"));
            let refused = open(&machine).err().expect("refused");
            assert!(refused.contains(name.as_str()), "{refused}");
            let salvage = Options { on_damage: OnDamage::Salvage, ..OPTIONS };
            let salvaged =
                open_with(&machine, &salvage).unwrap_or_else(|error| panic!("{other} as {name}: {error}"));
            assert!(!salvaged.damages.is_empty(), "{other} as {name}");
            drop(salvaged.store);
            open(&machine.after_kill()).expect("what was salvaged is whole");
        }
    }
}

/// The states in which a kill leaves a merge, and what the store holds in all of them.
fn killed_merges() -> (Vec<Simulation>, Dump) {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    for number in 0..20_u8 {
        run(&store, &[put("overwritten", &[number; 900]), put(&format!("kept {number}"), &[number; 100])]);
    }
    store.sync().expect("a healthy device");
    let before = contents(&store);
    drop(store);
    let killed = |operation: u64| {
        let machine = machine.after_kill();
        let store = open(&machine).expect("open").store;
        machine.cut_power_at(machine.operations() + operation, Moment::Before);
        while store.merge_step(1 << 20).is_ok_and(|step| step.is_unfinished) {}
        (!machine.faults_seen().is_empty()).then(|| machine.after_kill())
    };
    ((0..).map_while(killed).collect(), before)
}

/// The numbers of the datafiles that the manifest lists.
fn listed(machine: &Simulation) -> Vec<String> {
    let manifest = Manifest::read(&machine.bytes("MANIFEST").expect("a manifest")).expect("a whole one");
    manifest.files.keys().map(|id| format!("{id:010}.data")).collect()
}

#[test]
fn datafile_that_the_manifest_does_not_list_yet_blocks_the_store() {
    let (states, before) = killed_merges();
    let mut unlisted = 0;
    for machine in states {
        let listed = listed(&machine);
        unlisted += usize::from(datafile_names(&machine).iter().any(|name| !listed.contains(name)));
        let opened = open(&machine).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(laws::difference(&before, &contents(&opened.store)), None);
    }
    assert!(unlisted > 0, "an output is published a moment before the manifest lists it");
}

/// The datafiles that the next start removes.
fn litter(machine: &Simulation) -> Vec<String> {
    let next = machine.after_kill();
    drop(open(&next).expect("open"));
    let left = datafile_names(&next);
    datafile_names(machine).into_iter().filter(|name| !left.contains(name)).collect()
}

#[test]
fn damaged_header_of_litter_blocks_the_store() {
    let (states, before) = killed_merges();
    let mut count = 0;
    for machine in states {
        for name in litter(&machine) {
            let machine = machine.after_kill();
            assert!(machine.flip_bit(&name, 3, 0));
            let opened = open(&machine).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(laws::difference(&before, &contents(&opened.store)), None);
            assert!(machine.bytes(&name).is_none(), "{name} is litter");
            count += 1;
        }
    }
    assert!(count > 3, "only {count}");
}

#[test]
fn litter_stays_where_the_manifest_cannot_be_written() {
    let (states, before) = killed_merges();
    let mut count = 0;
    for machine in states {
        let litter = litter(&machine);
        let machine = machine.after_power_loss(Survival::All);
        machine.full_from(0);
        let store = open(&machine).unwrap_or_else(|error| panic!("{error}")).store;
        let left = datafile_names(&machine);
        assert!(!litter.iter().any(|name| left.contains(name)), "{litter:?} of {left:?}");
        assert_eq!(laws::difference(&before, &contents(&store)), None);
        machine.clear_faults();
        merge_all(&store);
        assert_eq!(laws::difference(&before, &contents(&store)), None);
        drop(store);
        let next = open(&machine.after_kill()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(laws::difference(&before, &contents(&next.store)), None);
        count += litter.len();
    }
    assert!(count > 3, "only {count}");
}

#[test]
fn damage_becomes_a_hole_by_starting_the_machine_again() {
    let (machine, name) = killed_with_unsynced_keys();
    let damage = place_of(&machine, &name, &[50; 100]);
    assert!(machine.flip_bit(&name, damage, 0));
    let refused = refusal(&machine);
    // What the process had left in the system is on the disk by then.
    for survival in Survival::samples(3) {
        let machine = machine.after_power_loss(survival);
        assert_eq!(refusal(&machine), refused);
        assert_eq!(checked(&machine).damages.len(), 1);
        let opened = open_with(&machine, &SALVAGE).expect("salvaged");
        assert_eq!(contents(&opened.store).len(), 100, "one key is lost");
        for number in 0..20 {
            run(&opened.store, &[put(&format!("next {number}"), &[62; 100])]);
        }
        run(&opened.store, &[put("next", &[60; 100])]);
        for number in 0..20 {
            run(&opened.store, &[put(&format!("last {number}"), &[61; 100])]);
        }
        drop(opened.store);
        assert!(machine.bytes("REFUSED").is_none(), "the note goes with the damage");
        // From now on the loss of power explains a hole again.
        let machine = machine.after_power_loss(Survival::All);
        let name = datafile_names(&machine).pop().expect("a datafile");
        lose_sector(&machine, &name, &[60; 100]);
        let torn = open_with(&machine, &LARGE).expect("a hole").torn_tail.expect("it says so");
        assert!((10..20).contains(&torn.whole_frames), "{torn:?}");
    }
}

#[test]
fn copy_of_what_is_cut_off_finds_no_room_beside_preallocated_zeros() {
    let (machine, name) = killed_with_unsynced_keys();
    let machine = machine.after_power_loss(Survival::All);
    lose_sector(&machine, &name, &[50; 100]);
    let mut bytes = machine.bytes(&name).expect("the datafile");
    bytes.resize(bytes.len() + 64 * 1024, 0);
    machine.set_bytes(&name, bytes);
    let used: usize = files(&machine).iter().map(|(_, bytes)| bytes.as_ref().map_or(0, Vec::len)).sum();
    machine.set_capacity_bytes(Some(used as u64));
    let opened = open_with(&machine, &LARGE).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        opened.torn_tail.and_then(|torn| torn.set_aside).map(|copy| machine.bytes(&copy).is_some()),
        Some(true)
    );
}

#[test]
fn end_of_the_log_that_was_closed_is_cut() {
    let (machine, name) = killed_with_unsynced_keys();
    let store = open_with(&machine, &LARGE).expect("open").store;
    run(&store, &[put("last", &[200; 100])]);
    store.sync().and_then(|_| store.note_synced()).expect("a healthy device");
    drop(store);
    let machine = machine.after_kill();
    assert!(machine.flip_bit(&name, place_of(&machine, &name, &[200; 100]), 0));
    let refused = refusal(&machine);
    assert!(refused.contains(&name), "{refused}");
}

#[test]
fn lost_records_are_not_named() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    run(&store, &[put("older", b"first version, which is long enough")]);
    run(&store, &[put("older", b"second version, which is long enough")]);
    run(&store, &[sub_put("hash", "one", &[1; 80]), sub_put("hash", "two", &[2; 80])]);
    run(&store, &[sub_put("hash", "three", &[3; 80])]);
    run(&store, &[put("removed", b"a value that was removed")]);
    run(&store, &[remove("removed")]);
    run(&store, &[put("last", b"value")]);
    store.sync().expect("a healthy device");
    run(&store, &[put("behind", b"value")]);
    drop(store);
    let name = datafile_names(&machine).pop().expect("a datafile");
    for (needle, key, subkey, kind, fate) in [
        (
            &b"second version"[..],
            "older",
            None,
            LostKind::Key,
            Fate::Older { time_ms: super::harness::NOW_MS },
        ),
        (&[3; 80], "hash", Some("three"), LostKind::Subkey, Fate::Gone),
        (&[2; 80], "hash", Some("two"), LostKind::Subkey, Fate::Gone),
        (b"a value that was", "removed", None, LostKind::Key, Fate::Gone),
    ] {
        let machine = machine.after_kill();
        let damage = place_of(&machine, &name, needle);
        assert!(machine.flip_bit(&name, damage + 3, 5));
        let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("a healthy device"));
        let refused = Bitcask::open(storage.clone(), &LARGE).err();
        assert!(matches!(refused, Some(OpenError::Damaged(_))), "{refused:?}");
        let opened = Bitcask::open(storage, &SALVAGE).unwrap_or_else(|error| panic!("{error}"));
        let [loss] = &opened.losses[..] else { panic!("{key}: {:?}", opened.losses) };
        let named = (loss.key.as_deref(), loss.subkey.as_deref(), loss.kind, loss.fate);
        assert_eq!(named, (Some(key.as_bytes()), subkey.map(str::as_bytes), kind, fate));
    }
}

#[test]
fn every_flip_is_salvaged_and_no_other_key_is_lost() {
    let (machine, names) = several_datafiles();
    machine.set_meta(Default::default());
    let all = contents(&open(&machine.after_kill()).expect("open").store);
    let salvage = Options { on_damage: OnDamage::Salvage, ..OPTIONS };
    let mut random = fastrand::Rng::with_seed(5);
    let mut salvaged = 0;
    for name in &names {
        let len = machine.bytes(name).expect("a datafile").len() as u64;
        for offset in (0..len).filter(|offset| *offset < 64 || random.u8(0..40) == 0) {
            let machine = machine.after_kill();
            assert!(machine.flip_bit(name, offset, (offset % 8) as u8));
            let at = format!("flip at {offset} of {len} in {name}");
            let opened = open_with(&machine, &salvage).unwrap_or_else(|error| panic!("{at}: {error}"));
            let found = contents(&opened.store);
            let lost = all.iter().filter(|(key, value)| found.get(*key) != Some(value)).count();
            assert!(lost <= 1, "{at}: {lost} keys are lost");
            let is_told =
                !opened.losses.is_empty() || opened.damages.iter().any(|damage| damage.len.is_some());
            assert!(lost == 0 || is_told || opened.torn_tail.is_some(), "{at}: {:?}", opened.damages);
            salvaged += usize::from(!opened.damages.is_empty());
            drop(opened.store);
            let again = open(&machine.after_kill()).unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!(laws::difference(&found, &contents(&again.store)), None, "{at}");
        }
    }
    assert!(salvaged > 100, "only {salvaged} salvaged");
}

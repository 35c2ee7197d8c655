//! Salvage loses, or calls lost, records that are whole.

use super::harness::{NOW_MS, OPTIONS, contents, datafile_names, merge_all, open, open_with, put, run};
use crate::bitcask::record::{Header, MANIFEST_VERSION, RecordType, Salt};
use crate::bitcask::{Fate, OnDamage, Options, check};
use crate::engine::Engine;
use crate::engine::laws::{self, DATABASES};
use crate::engine::{Admin, Kind, NewRoot, Overlay, Scope, Txn};
use crate::storage::Simulation;
use crate::storage::simulated::Survival;

const LARGE: Options = Options { datafile_max_bytes: 1 << 20, ..OPTIONS };

fn frame(key: &str, sequence: u64) -> Vec<u8> {
    let mut header = Header::new(RecordType::Root, sequence, NOW_MS, 0);
    header.kind = Kind::String as u8;
    let (value, mut bytes) = ([b'v'; 100], Vec::new());
    header.write(key.as_bytes(), &value, Salt::of(MANIFEST_VERSION, OPTIONS.seed), &mut bytes);
    bytes.extend_from_slice(&value);
    bytes
}

fn salvaging(options: Options) -> Options {
    Options { on_damage: OnDamage::Salvage, ..options }
}

#[test]
fn frame_whose_sequence_was_taken_long_before_its_turn_is_dropped() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    run(&store, &[put("first", b"value")]);
    drop(store);
    let name = datafile_names(&machine).pop().expect("a datafile");
    let machine = machine.after_kill();
    let mut bytes = machine.bytes(&name).expect("a file");
    // A transaction that takes long to build stands behind thousands that began after it: one before the damage, one
    // directly behind it, and one further behind.
    let sequences = [5000, 5001, 10, 5003, 0, 11, 5005, 12, 5006];
    for (number, sequence) in sequences.into_iter().enumerate() {
        bytes.extend_from_slice(&frame(&format!("key {number}"), sequence.max(5)));
    }
    let damaged = bytes.windows(5).position(|window| window == b"key 4").expect("the key") + 30;
    bytes[damaged] ^= 4;
    machine.set_bytes(&name, bytes);
    assert!(open_with(&machine, &LARGE).is_err());
    let opened = open_with(&machine, &salvaging(LARGE)).expect("salvaged");
    let lost: Vec<_> = opened.losses.iter().map(|loss| (loss.key.as_deref(), loss.fate)).collect();
    assert_eq!(lost, [(Some(&b"key 4"[..]), Fate::Gone)]);
    assert_eq!(contents(&opened.store).len(), sequences.len());
}

#[test]
fn merge_before_the_damage_makes_everything_behind_it_lost() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &OPTIONS).expect("open").store;
    for number in 0..12_u8 {
        run(&store, &[put(&format!("overwritten {number}"), &[number; 900])]);
    }
    for number in 0..12_u8 {
        run(&store, &[put(&format!("live {number}"), &[number + 50; 900])]);
    }
    for number in 0..12_u8 {
        run(&store, &[put(&format!("overwritten {number}"), b"short")]);
    }
    for _ in 0..2000 {
        run(&store, &[put("counter", b"1")]);
    }
    merge_all(&store);
    store.sync().expect("a healthy device");
    let all = contents(&store);
    drop(store);
    let machine = machine.after_kill();
    drop(open_with(&machine, &OPTIONS).expect("open"));
    let number_at =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let files: Vec<(String, Vec<u8>)> = datafile_names(&machine)
        .into_iter()
        .map(|name| (name.clone(), machine.bytes(&name).expect("a file")))
        .collect();
    let at = |bytes: &[u8]| bytes.windows(900).position(|window| window == [55; 900]);
    let (name, bytes) = files.iter().find(|(_, bytes)| at(bytes).is_some()).expect("the live key's file");
    let is_old = |other: &Vec<u8>| {
        number_at(other, 52) > number_at(bytes, 28) + 1500 && number_at(other, 28) <= number_at(bytes, 28)
    };
    assert!(
        files.iter().any(|(_, other)| is_old(other)),
        "an output stands before it that was made much later"
    );
    assert_eq!(number_at(bytes, 52), 0, "the file itself was never merged");
    let machine = machine.after_kill();
    assert!(machine.flip_bit(name, at(bytes).expect("the value") as u64, 0));
    machine.set_meta(Default::default());
    let opened = open_with(&machine, &salvaging(OPTIONS)).expect("salvaged");
    let lost: Vec<_> = opened.losses.iter().map(|loss| loss.key.as_deref()).collect();
    assert_eq!((lost, opened.damages.len()), (vec![Some(&b"live 5"[..])], 1));
    assert_eq!(contents(&opened.store).len() + 1, all.len());
}

#[test]
fn datafile_cut_short_is_counted_twice() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &OPTIONS).expect("open").store;
    for number in 0..20_u8 {
        run(&store, &[put(&format!("key {number}"), &[number; 900])]);
    }
    store.sync().expect("a healthy device");
    drop(store);
    let name = datafile_names(&machine).remove(0);
    let bytes = machine.bytes(&name).expect("a file");
    for gone in [1, 43, 44, 500, 1500] {
        let machine = machine.after_kill();
        machine.set_bytes(&name, bytes[..bytes.len() - gone].to_vec());
        let opened = open_with(&machine, &salvaging(OPTIONS)).expect("salvaged");
        let [damage] = &opened.damages[..] else { panic!("{gone}: {:?}", opened.damages) };
        assert!(damage.unnamed_bytes >= gone as u64, "{gone}: {damage:?}");
        let end = damage.offset.zip(damage.len).map(|(offset, len)| offset + len);
        assert_eq!(end, Some(bytes.len() as u64), "{gone}: {damage:?}");
    }
}

#[test]
fn damaged_record_of_a_long_key_keeps_a_store_without_a_blob_from_opening() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    let key = [b'k'; 300];
    let mut overlay = Overlay::new();
    let mut snapshot = store.begin(Scope::Keys(&[&key])).expect("begin");
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    txn.set_blob_min(1000);
    txn.put(0, &key, NewRoot::of(Kind::String), &[7; 2000]).expect("put");
    store.commit(snapshot, &mut overlay, 0, &mut |_| {}).expect("commit");
    run(&store, &[put("last", b"value")]);
    store.checkpoint(0).expect("a healthy device");
    drop(store);
    let machine = machine.after_kill();
    let blob = machine.file_names().into_iter().find(|name| name.ends_with(".blob")).expect("a blob");
    assert!(machine.remove_file(&blob));
    let opened = open_with(&machine, &LARGE).expect("open");
    let named = opened.damaged_blobs.iter().map(|blob| blob.key.as_deref()).collect::<Vec<_>>();
    assert_eq!(named, [Some(&key[..])]);
    drop(opened);
    let machine = machine.after_kill();
    let name = datafile_names(&machine).pop().expect("a datafile");
    let bytes = machine.bytes(&name).expect("a file");
    let record = (0..bytes.len())
        .find(|at| Header::read(&bytes[*at..]).is_some_and(|(header, _)| header.key_len == 300));
    // The key's length: 300 becomes more than there is.
    assert!(machine.flip_bit(&name, record.expect("the record") as u64 + 26, 6));
    let opened = open_with(&machine, &LARGE).expect("a record that cannot be read damages its key only");
    assert_eq!(opened.hinted_datafiles, 1);
    assert_eq!(opened.damaged_blobs.iter().map(|blob| blob.key.clone()).collect::<Vec<_>>(), [None]);
}

/// The record of a blob survives the loss of power, its blob does not, and nothing is damaged.
#[test]
fn acknowledged_value_goes_with_a_blob_that_was_never_synced() {
    let mut cut = 0;
    for seed in 0..40 {
        let machine = Simulation::new(seed);
        let store = open(&machine).expect("open").store;
        run(&store, &[put("key", b"acknowledged")]);
        store.sync().expect("a healthy device");
        let before = contents(&store);
        run(&store, &[put("key", &[7; 3000])]);
        let after = contents(&store);
        let left = machine.after_power_loss(Survival::Subset(seed));
        let checked = check(&left.open().expect("a device in order"), DATABASES).expect("a readable device");
        assert!(
            checked.damages.is_empty() && checked.damaged_blobs.is_empty(),
            "seed {seed}: a crash is no damage"
        );
        let opened = open_with(&left, &salvaging(OPTIONS)).expect("opens");
        assert!(opened.damaged_blobs.is_empty(), "seed {seed}: {:?}", opened.damaged_blobs);
        let found = contents(&opened.store);
        assert!(found == before || found == after, "seed {seed}: {:?}", laws::difference(&before, &found));
        cut += usize::from(opened.torn_tail.is_some_and(|torn| torn.whole_frames > 0));
    }
    assert!(cut > 0, "no blob was lost without its record");
}

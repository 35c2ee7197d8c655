//! Damage takes the checksums of a blob's pieces and leaves the blob: nothing is lost, and the value is not read any more.

use super::harness::{OPTIONS, datafile_names, open_with, put, run};
use crate::bitcask::{Bitcask, LostKind, OnDamage, Options, check};
use crate::engine::{Admin, Engine, Kind, NewRoot, Overlay, Scope, Txn};
use crate::storage::{DeviceStorage, Simulation};

const LARGE: Options = Options { datafile_max_bytes: 1 << 20, ..OPTIONS };

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..LARGE };

const FILM_BYTES: usize = 200_000;

fn film(store: &Bitcask) -> Option<Vec<u8>> {
    let mut snapshot = store.begin(Scope::Keys(&[b"film"])).expect("begin");
    let mut overlay = Overlay::new();
    Txn::new(&mut snapshot, &mut overlay, 0).value(0, b"film").expect("readable")
}

/// A store at rest with a blob, the record of whose one page has a flipped bit.
fn without_page() -> Simulation {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    let mut overlay = Overlay::new();
    let mut snapshot = store.begin(Scope::Keys(&[b"film"])).expect("begin");
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    txn.set_blob_min(1000);
    txn.put(0, b"film", NewRoot::of(Kind::String), &[7; FILM_BYTES]).expect("put");
    store.commit(snapshot, &mut overlay, 0, &mut |_| {}).expect("commit");
    run(&store, &[put("last", b"value")]);
    store.checkpoint(0).expect("a healthy device");
    drop(store);
    machine.set_meta(Default::default());
    let name = datafile_names(&machine).remove(0);
    let bytes = machine.bytes(&name).expect("a datafile");
    let page = bytes.windows(9).position(|window| window == [255, 0, 0, 0, 0, 0, 0, 0, 0]).expect("the page");
    assert!(machine.flip_bit(&name, page as u64 + 12, 1));
    machine.after_kill()
}

#[test]
fn salvaged_blob_is_not_read_though_it_is_whole() {
    let machine = without_page();
    let storage = DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
    let checked = check(&storage, OPTIONS.databases).expect("readable");
    let [blob] = &checked.damaged_blobs[..] else { panic!("{:?}", checked.damaged_blobs) };
    assert!(blob.lacks_sums && blob.key.as_deref() == Some(b"film"), "{blob}");
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    assert_eq!(film(&opened.store), Some(vec![7; FILM_BYTES]));
    assert_eq!(opened.damaged_blobs, []);
    let [loss] = &opened.losses[..] else { panic!("{:?}", opened.losses) };
    assert_eq!((loss.kind, loss.key.as_deref()), (LostKind::Sums, Some(&b"film"[..])));
    assert!(
        loss.to_string().contains("checksums of a part of the value") && !loss.to_string().contains("xff")
    );
    drop(opened.store);
    let machine = machine.after_kill();
    let storage = DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
    assert!(check(&storage, OPTIONS.databases).expect("readable").is_sound());
    assert_eq!(film(&open_with(&machine, &LARGE).expect("open").store), Some(vec![7; FILM_BYTES]));
}

#[test]
fn checksums_of_a_blob_that_is_damaged_as_well_are_made_anew() {
    let machine = without_page();
    let blob = machine.file_names().into_iter().find(|name| name.ends_with(".blob")).expect("a blob");
    assert!(machine.flip_bit(&blob, 777, 0));
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    let [damaged] = &opened.damaged_blobs[..] else { panic!("{:?}", opened.damaged_blobs) };
    assert!(!damaged.lacks_sums && damaged.key.as_deref() == Some(b"film"), "{damaged}");
}

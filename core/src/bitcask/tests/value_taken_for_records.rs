//! Bytes that a client stored are taken for records of the log, or keep the store from opening, where recovery looks for whole
//! frames behind a broken one.

use super::harness::{NOW_MS, OPTIONS, contents, datafile_names, open_with, put, run};
use crate::bitcask::record::{Header, RecordType, Salt};
use crate::bitcask::{OnDamage, Options, check};
use crate::engine::{Engine, Kind, NewRoot, Overlay, Scope, Txn};
use crate::packed::varint::write_varint;
use crate::storage::{DeviceStorage, Simulation};

const LARGE: Options = Options { datafile_max_bytes: 8 << 20, ..OPTIONS };

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..LARGE };

/// Later than all frames of a test.
const LATER: u64 = 1_000_000;

/// A frame with one string, as a client can make it: it knows the format and not the store's seed.
fn forged(key: &str, sequence: u64) -> Vec<u8> {
    let mut header = Header::new(RecordType::Root, sequence, NOW_MS, 0);
    header.kind = Kind::String as u8;
    let mut bytes = Vec::new();
    header.write(key.as_bytes(), b"forged", Salt::of(1, 0), &mut bytes);
    bytes.extend_from_slice(b"forged");
    bytes
}

/// The header of a record with these lengths.
fn header_only(key_len: u64, value_len: u64) -> Vec<u8> {
    let mut bytes = vec![0, 0, 0, 0, RecordType::Root as u8, 3, 1, 0];
    bytes.extend_from_slice(&LATER.to_le_bytes());
    bytes.extend_from_slice(&NOW_MS.to_le_bytes());
    [0, key_len, value_len].into_iter().for_each(|number| write_varint(number, &mut bytes));
    bytes
}

/// A machine whose process was killed while it appended this value, and the name of the datafile.
fn killed_while_writing(value: &[u8]) -> (Simulation, String) {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    run(&store, &[put("before", b"value")]);
    let mut overlay = Overlay::new();
    let mut snapshot = store.begin(Scope::Keys(&[b"carrier"])).expect("begin");
    let mut txn = Txn::new(&mut snapshot, &mut overlay, NOW_MS);
    // In the log, however long it is.
    txn.set_blob_min(1 << 30);
    txn.put(0, b"carrier", NewRoot::of(Kind::String), value).expect("put");
    store.commit(snapshot, &mut overlay, NOW_MS, &mut |_| {}).expect("commit");
    drop(store);
    let name = datafile_names(&machine).pop().expect("a datafile");
    let bytes = machine.bytes(&name).expect("a file");
    let machine = machine.after_kill();
    machine.set_bytes(&name, bytes[..bytes.len() - 20].to_vec());
    (machine, name)
}

fn check_runs(machine: &Simulation) {
    let storage = DeviceStorage::open_to_read(machine.device(), machine.meta()).expect("a healthy device");
    check(&storage, OPTIONS.databases).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn unfinished_write_of_forged_records_is_called_damage() {
    let value = [forged("one", LATER), forged("two", LATER + 1), vec![b'x'; 100]].concat();
    let (machine, _) = killed_while_writing(&value);
    check_runs(&machine);
    let opened = open_with(&machine, &LARGE).expect("the end of an unfinished write");
    assert_eq!(opened.torn_tail.map(|torn| torn.whole_frames), Some(0));
    assert_eq!(contents(&opened.store).len(), 1);
}

#[test]
fn forged_records_are_salvaged() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &LARGE).expect("open").store;
    run(&store, &[put("before", b"value")]);
    run(&store, &[put("carrier", &[forged("one", LATER), forged("two", LATER + 1)].concat())]);
    run(&store, &[put("behind", b"value")]);
    drop(store);
    let name = datafile_names(&machine).pop().expect("a datafile");
    let bytes = machine.bytes(&name).expect("a file");
    let at = bytes.windows(7).position(|window| window == b"carrier").expect("the key") as u64;
    let machine = machine.after_kill();
    // The type of the record: its header says nothing any more.
    assert!(machine.flip_bit(&name, at - 23, 6));
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    let found = contents(&opened.store);
    assert_eq!(found.len(), 2, "{found:?}");
    let [damage] = &opened.damages[..] else { panic!("{:?}", opened.damages) };
    assert_eq!(Some(damage.unnamed_bytes), damage.len, "no header says which key is lost");
}

#[test]
fn lengths_beyond_all_files_keep_the_store_from_opening() {
    for (key_len, value_len) in
        [(u64::MAX - 80, 0), (0, u64::MAX - 80), (u64::MAX, u64::MAX), (1 << 63, 1 << 62), (0, u64::MAX / 2)]
    {
        let value = [header_only(key_len, value_len), vec![b'x'; 100]].concat();
        let (machine, _) = killed_while_writing(&value);
        check_runs(&machine);
        let opened = open_with(&machine.after_kill(), &LARGE).expect("the end of an unfinished write");
        assert_eq!(contents(&opened.store).len(), 1);
        drop(opened.store);
        // And where such a header stands in the place of a record.
        let name = datafile_names(&machine).pop().expect("a datafile");
        let mut bytes = machine.bytes(&name).expect("a file");
        let at = bytes.windows(7).position(|window| window == b"carrier").expect("the key") - 27;
        bytes.splice(at..at + value.len(), value);
        machine.set_bytes(&name, bytes);
        check_runs(&machine);
        let opened = open_with(&machine, &LARGE).expect("the end of an unfinished write");
        assert_eq!(contents(&opened.store).len(), 1);
    }
}

#[test]
fn headers_by_the_thousand_take_a_start_for_hours() {
    // Each claims all that is behind it: to compare all of them takes a checksum over 10^5 times a megabyte and a half.
    let count = 100_000;
    let one = header_only(1 << 16, 1 << 16).len() as u64 + 4;
    let header = |number: u64| {
        let claimed = (count - number) * one - 200;
        let mut bytes = header_only(1 << 16, claimed.saturating_sub(1 << 16).max(1 << 16));
        bytes.resize(one as usize, b'x');
        bytes
    };
    let value: Vec<u8> =
        (0..count - 10_000).flat_map(header).chain(vec![b'x'; 10_000 * one as usize]).collect();
    let (machine, name) = killed_while_writing(&value);
    let refused = open_with(&machine, &LARGE).err().expect("it cannot be decided");
    assert!(refused.contains(&name) && refused.contains("looks like records"), "{refused}");
    check_runs(&machine);
    let opened = open_with(&machine, &SALVAGE).expect("salvaged");
    assert_eq!(contents(&opened.store).len(), 1);
}

//! A store whose datafiles have no salt in their checksums, as builds before version 3 wrote them, is not read, or not any more
//! once this build has written to it.

use super::harness::{NOW_MS, OPTIONS, contents, merge_all, open, open_with, put, run};
use crate::bitcask::record::{FileHeader, Header, RecordType};
use crate::bitcask::{OnDamage, Options};
use crate::engine::{Admin, Kind, laws};
use crate::storage::Simulation;

const NAME: &str = "0000000001.data";

/// A store of one datafile of this version, with twenty strings, that nothing else is known of.
fn older_store(version: u32) -> Simulation {
    let header = FileHeader {
        version,
        id: 1,
        seed: OPTIONS.seed,
        base_sequence: 1,
        next_sequence: 1,
        next_number: 65_536,
        watermark: 0,
        replaces: Vec::new(),
    };
    let mut bytes = header.to_bytes();
    for number in 0..20_u8 {
        let mut record = Header::new(RecordType::Root, 2 + u64::from(number), NOW_MS, 0);
        record.kind = Kind::String as u8;
        let value = [number; 100];
        record.write(format!("key {number}").as_bytes(), &value, header.salt(), &mut bytes);
        bytes.extend_from_slice(&value);
    }
    let machine = Simulation::new(1);
    machine.set_bytes(NAME, bytes);
    machine
}

#[test]
fn store_of_an_earlier_version_is_not_read_after_it_was_changed() {
    for version in [1, 2] {
        let machine = older_store(version);
        let store = open(&machine).unwrap_or_else(|error| panic!("version {version}: {error}")).store;
        assert_eq!(contents(&store).len(), 20);
        run(&store, &[put("key 3", b"changed"), put("new", &[1; 500])]);
        store.checkpoint(NOW_MS).expect("a healthy device");
        let all = contents(&store);
        drop(store);
        let machine = machine.after_kill();
        let opened = open(&machine).expect("by its hints");
        assert_eq!((opened.hinted_datafiles, opened.rejected_hints), (2, 0));
        assert_eq!(laws::difference(&all, &contents(&opened.store)), None, "by its hints");
        drop(opened);
        let machine = machine.after_kill();
        machine.set_meta(Default::default());
        let store = open(&machine).expect("by its records").store;
        assert_eq!(laws::difference(&all, &contents(&store)), None, "by its records");
        for number in 0..15 {
            run(&store, &[put(&format!("key {number}"), b"later")]);
        }
        let all = contents(&store);
        merge_all(&store);
        assert!(machine.bytes(NAME).is_none(), "it was merged");
        drop(store);
        let machine = machine.after_kill();
        machine.set_meta(Default::default());
        let store = open(&machine).expect("after a merge").store;
        assert_eq!(laws::difference(&all, &contents(&store)), None, "after a merge");
    }
}

#[test]
fn damaged_store_of_an_earlier_version_is_not_salvaged() {
    let salvage = Options { on_damage: OnDamage::Salvage, ..OPTIONS };
    for (version, offset) in [(1, 30), (2, 30), (1, 300), (2, 900)] {
        let machine = older_store(version);
        // The header, or a record that whole ones follow.
        drop(open(&machine).expect("so that the manifest knows the run of the machine"));
        let machine = machine.after_kill();
        assert!(machine.flip_bit(NAME, offset, 0));
        assert!(open(&machine).is_err(), "version {version}, {offset}");
        let opened = open_with(&machine, &salvage).expect("salvaged");
        assert_eq!(
            contents(&opened.store).len(),
            20 - usize::from(offset > 100),
            "version {version}, {offset}"
        );
        drop(opened);
        open(&machine.after_kill()).expect("what was salvaged is whole");
    }
}

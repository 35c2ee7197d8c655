//! A record that cannot be read gives an error without the key, or without the file where an operator finds it.

use super::harness::{NOW_MS, OPTIONS, datafile_names, open_with};
use crate::bitcask::{Bitcask, Options};
use crate::engine::{
    Commit, Engine, EngineError, Kind, NewRoot, Overlay, Result, Scope, Start, SubWalk, Txn, Want,
};
use crate::storage::Simulation;
use std::ops::ControlFlow;

const LONG_KEY: &[u8] = &[b'l'; 300];

const VALUE_BYTES: usize = 400;

fn transact(store: &Bitcask, body: impl FnOnce(&mut Txn<'_>) -> Result<()>) -> Result<()> {
    let mut snapshot = store.begin(Scope::Everything)?;
    let mut overlay = Overlay::new();
    body(&mut Txn::new(&mut snapshot, &mut overlay, NOW_MS))?;
    let Commit::Done(_) = store.commit(snapshot, &mut overlay, NOW_MS, &mut |_| {})? else {
        panic!("the log does not wait")
    };
    Ok(())
}

fn read_all(txn: &mut Txn<'_>, key: &[u8]) -> Result<()> {
    txn.value(0, key).map(drop)
}

type Action = fn(&mut Txn<'_>) -> Result<()>;

/// What is written and how it is read. The record has these bytes, and its key is named in the error.
struct Case {
    key: &'static [u8],
    filler: u8,
    write: Action,
    reads: &'static [Action],
}

const CASES: &[Case] = &[
    Case {
        key: b"string",
        filler: b'1',
        write: |txn| txn.put(0, b"string", NewRoot::of(Kind::String), &[b'1'; VALUE_BYTES]),
        reads: &[
            |txn| read_all(txn, b"string"),
            |txn| txn.read_value(0, b"string", (5, 9), &mut |_| {}).map(drop),
            |txn| txn.set_expiry(0, b"string", Some(NOW_MS + 1)).map(drop),
        ],
    },
    Case {
        key: LONG_KEY,
        filler: b'2',
        write: |txn| txn.put(0, LONG_KEY, NewRoot::of(Kind::String), &[b'2'; VALUE_BYTES]),
        reads: &[|txn| txn.root(0, LONG_KEY).map(drop), |txn| read_all(txn, LONG_KEY)],
    },
    Case {
        key: b"hash",
        filler: b'3',
        write: |txn| {
            txn.put(0, b"hash", NewRoot::of(Kind::Hash), &[])?;
            txn.sub_put(0, b"hash", b"field", &[b'3'; VALUE_BYTES]).map(drop)
        },
        reads: &[
            |txn| txn.sub_value(0, b"hash", b"field").map(drop),
            |txn| {
                let walk = SubWalk::up(Start::End, Want::Values);
                txn.sub_scan(0, b"hash", walk, &mut |_, _| ControlFlow::Continue(()))
            },
        ],
    },
    Case {
        key: b"film",
        filler: b'4',
        write: |txn| {
            txn.set_blob_min(1000);
            txn.put(0, b"film", NewRoot::of(Kind::String), &[b'0'; 100_000])?;
            txn.write_to_blob(0, b"film", 0, 50_000, &[b'4'; VALUE_BYTES]).map(drop)
        },
        reads: &[
            |txn| read_all(txn, b"film"),
            |txn| txn.read_value(0, b"film", (50_001, 9), &mut |_| {}).map(drop),
            |txn| txn.show_value(0, b"film", (0, u64::MAX), &mut |piece| piece.check()).map(drop),
        ],
    },
];

#[test]
fn damaged_record_is_an_error_without_its_key_or_file() {
    let options = Options { datafile_max_bytes: 1 << 20, ..OPTIONS };
    for Case { key, filler, write, reads } in CASES {
        let machine = Simulation::new(1);
        let store = open_with(&machine, &options).expect("open").store;
        transact(&store, write).expect("a healthy device");
        let [name] = &datafile_names(&machine)[..] else { panic!("one datafile") };
        let bytes = machine.bytes(name).expect("its bytes");
        let place = bytes.windows(VALUE_BYTES).position(|part| part == [*filler; VALUE_BYTES]);
        assert!(machine.flip_bit(name, place.expect("the value") as u64 + 100, 2));
        let shown = String::from_utf8_lossy(&key[..key.len().min(128)]);
        for (number, read) in reads.iter().enumerate() {
            let Err(EngineError::Damaged(text)) = transact(&store, read) else {
                panic!("{shown}: read {number} shows what is damaged")
            };
            let file = format!("cannot be read: datafile 1 ({name}) at offset ");
            assert!(text.starts_with(&format!("key \"{shown}")), "{shown}: {number}: {text}");
            assert!(text.contains("of database 0 ") && text.contains(&file), "{shown}: {number}: {text}");
            assert!(text.len() < 400, "the key is cut, and told once: {text}");
        }
    }
}

//! Huge values of builds that knew no checksums of pieces: they are compared as a whole when they are first read, piece by
//! piece from then on, and get checksums of their own with the first write.

use super::harness::{NOW_MS, merge_all, open};
use crate::bitcask::Bitcask;
use crate::engine::{Commit, Engine, EngineError, Kind, NewRoot, Overlay, Result, Scope, Txn};
use crate::storage::Simulation;

const KEY: &[u8] = b"film";

fn transact<T>(store: &Bitcask, body: impl FnOnce(&mut Txn<'_>) -> Result<T>) -> Result<T> {
    let mut snapshot = store.begin(Scope::Everything)?;
    let mut overlay = Overlay::new();
    let outcome = body(&mut Txn::new(&mut snapshot, &mut overlay, NOW_MS))?;
    let Commit::Done(_) = store.commit(snapshot, &mut overlay, NOW_MS, &mut |_| {})? else {
        panic!("the log does not wait")
    };
    Ok(outcome)
}

fn part(store: &Bitcask, offset: u64, len: u64) -> Result<Vec<u8>> {
    let mut part = Vec::new();
    transact(store, |txn| txn.read_value(0, KEY, (offset, len), &mut |bytes| part.extend_from_slice(bytes)))?;
    Ok(part)
}

fn has_sums(store: &Bitcask) -> bool {
    transact(store, |txn| txn.root(0, KEY))
        .expect("a healthy store")
        .and_then(|root| root.blob)
        .is_some_and(|blob| blob.has_sums)
}

/// A store with an older value, its blob's name, and the value.
fn scene() -> (Simulation, Bitcask, String, Vec<u8>) {
    let machine = Simulation::new(15);
    let store = open(&machine).expect("open").store;
    let value: Vec<u8> = (0..1_200_000_u32).map(|at| (at % 251) as u8).collect();
    transact(&store, |txn| {
        let mut draft = txn.draft()?;
        draft.append(&value)?;
        txn.put_older_draft(0, KEY, NewRoot::of(Kind::String), draft)
    })
    .expect("a healthy store");
    let blob = machine.file_names().into_iter().find(|name| name.ends_with(".blob")).expect("a blob");
    (machine, store, blob, value)
}

#[test]
fn flip_in_an_older_value_is_shown() {
    let (machine, store, blob, value) = scene();
    assert!(!has_sums(&store));
    for first_read in [true, false] {
        if !first_read {
            assert!(part(&store, 0, u64::MAX).is_ok_and(|read| read == value));
        }
        assert!(machine.flip_bit(&blob, 700_000, 3));
        let refused = part(&store, 700_000, 1);
        assert!(
            matches!(&refused, Err(EngineError::Damaged(text)) if text.contains("\"film\"")),
            "{refused:?}"
        );
        // What was compared once is known piece by piece.
        assert_eq!(part(&store, 5, 5).is_ok(), !first_read);
        assert!(machine.flip_bit(&blob, 700_000, 3));
    }
}

#[test]
fn write_into_an_older_value_leaves_it_without_checksums() {
    for (offset, bytes) in
        [(1_200_000, b"behind"), (77, b"inside"), (1_199_997, b"across"), (3_000_000, b"beyond")]
    {
        let (machine, store, blob, mut value) = scene();
        transact(&store, |txn| txn.write_to_blob(0, KEY, 0, offset, bytes)).expect("a healthy store");
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        value.resize(value.len().max(end), 0);
        value[start..end].copy_from_slice(bytes);
        assert!(has_sums(&store));
        store.sync().expect("a healthy device");
        merge_all(&store);
        let machine = machine.after_kill();
        let store = open(&machine).expect("open").store;
        assert!(has_sums(&store));
        assert!(part(&store, 0, u64::MAX).is_ok_and(|read| read == value), "{offset}");
        assert!(machine.flip_bit(&blob, 1_000_000, 3));
        assert!(part(&store, 0, 5).is_ok(), "{offset}");
        assert!(part(&store, 1_000_001, 5).is_err(), "{offset}");
    }
}

#[test]
fn write_into_a_damaged_older_value_makes_it_right() {
    let (machine, store, blob, value) = scene();
    assert!(machine.flip_bit(&blob, 9, 3));
    for offset in [0, 77, value.len() as u64, 3_000_000] {
        let outcome = transact(&store, |txn| txn.write_to_blob(0, KEY, 0, offset, b"new"));
        assert!(matches!(outcome, Err(EngineError::Damaged(_))), "{offset}: {outcome:?}");
    }
    assert!(!has_sums(&store));
}

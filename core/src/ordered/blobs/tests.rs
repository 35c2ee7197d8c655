//! Huge values on a cluster that answers at once and meets others at random.

use super::upkeep::BLOB_IDLE_MS;
use crate::engine::{
    Draft, Engine, EngineError, Kind, NewRoot, Overlay, Piece, Reader, Result, Scope, Txn, laws,
};
use crate::ordered::simulated::{Faults, Simulated};
use crate::ordered::{Options, Ordered, SMALL_BYTES};

const KEY: &[u8] = b"film";

const HUGE_BYTES: usize = 3 * 1024 * 1024 + 77;

fn engine(seed: u64, faults: Faults) -> Ordered<Simulated> {
    let options = Options { store: b"test".to_vec(), databases: 4, process: 1, small_bytes: SMALL_BYTES };
    Ordered::new(Simulated::new(seed, faults), options)
}

/// Another process of the same store.
fn another(engine: &Ordered<Simulated>, process: u32) -> Ordered<Simulated> {
    let options = Options { store: b"test".to_vec(), databases: 4, process, small_bytes: SMALL_BYTES };
    Ordered::new(engine.cluster().clone(), options)
}

fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| random.u8(..)).collect()
}

fn drafted(engine: &Ordered<Simulated>, value: &[u8]) -> Draft {
    let mut draft = engine.draft().expect("a draft");
    value.chunks(50_000).for_each(|part| draft.append(part).expect("written"));
    draft
}

fn transact(engine: &Ordered<Simulated>, run: &mut dyn FnMut(&mut Txn<'_>) -> Result<()>) -> Result<()> {
    laws::transact(engine, None, 0, &mut Overlay::new(), run).map(drop)
}

fn put(engine: &Ordered<Simulated>, key: &[u8], draft: Draft) -> Result<()> {
    let draft = std::sync::Arc::new(draft);
    transact(engine, &mut |txn| txn.put_draft(0, key, NewRoot::of(Kind::String), draft.clone()))
}

fn value(engine: &Ordered<Simulated>, key: &[u8]) -> Vec<u8> {
    let read = &mut |txn: &mut Txn<'_>| {
        let mut value = Vec::new();
        txn.show_value(0, key, (0, u64::MAX), &mut |piece| {
            piece.read(&mut |bytes| {
                value.extend_from_slice(bytes);
                Ok(())
            })
        })?;
        Ok(value)
    };
    laws::view(engine, 0, read).expect("readable")
}

/// Collects for so long that nothing is left to be collected.
fn collect(engine: &Ordered<Simulated>) {
    for step in 0..40 {
        engine.blob_step(1 + step * BLOB_IDLE_MS / 2).expect("a step");
    }
}

#[test]
fn huge_value_changes_on_its_way() {
    let often = Faults { conflict_percent: 15, read_conflict_percent: 15 };
    for seed in 0..4 {
        let engine = engine(seed, if seed % 2 == 0 { Faults::default() } else { often });
        let mut expected = bytes(seed, HUGE_BYTES);
        put(&engine, KEY, drafted(&engine, &expected)).expect("a commit");
        assert!(value(&another(&engine, 2), KEY) == expected, "seed {seed}");
        // Over it, behind it, far behind it, and a copy.
        let inside = bytes(seed + 9, 10_000);
        transact(&engine, &mut |txn| {
            txn.write_to_blob(0, KEY, 1, 1_000_000, &inside)?;
            txn.write_to_blob(0, KEY, 1, HUGE_BYTES as u64, b"behind")?;
            txn.write_to_blob(0, KEY, 1, HUGE_BYTES as u64 + 400_000, b"far behind").map(drop)
        })
        .expect("a commit");
        expected[1_000_000..1_010_000].copy_from_slice(&inside);
        expected.extend_from_slice(b"behind");
        expected.resize(HUGE_BYTES + 400_000, 0);
        expected.extend_from_slice(b"far behind");
        assert!(value(&engine, KEY) == expected, "seed {seed}");
        transact(&engine, &mut |txn| {
            let copy = txn.draft_of(0, KEY)?;
            txn.put_draft(0, b"copy", NewRoot::of(Kind::String), copy)?;
            txn.write_to_blob(0, b"copy", 1, 0, b"x").map(drop)
        })
        .expect("a commit");
        assert!(value(&engine, KEY) == expected, "seed {seed}");
        expected[0] = b'x';
        assert!(value(&another(&engine, 2), b"copy") == expected, "seed {seed}");
    }
}

#[test]
fn reply_differs_from_the_value() {
    let engine = engine(1, Faults::default());
    let expected = bytes(3, HUGE_BYTES);
    put(&engine, KEY, drafted(&engine, &expected)).expect("a commit");
    let mut stored = None;
    laws::view(&engine, 0, &mut |txn| {
        txn.show_value(0, KEY, (0, u64::MAX), &mut |piece| {
            piece.check()?;
            if let Piece::Stored { source, .. } = piece {
                stored = Some(source);
            }
            Ok(())
        })
    })
    .expect("readable");
    let source = stored.expect("a stored value");
    // What was deleted meanwhile is still sent.
    transact(&engine, &mut |txn| txn.remove(0, KEY).map(drop)).expect("a commit");
    let mut sent = Vec::new();
    while sent.len() < expected.len() {
        let (offset, len) = (sent.len() as u64, (expected.len() - sent.len()).min(60_000) as u64);
        let is_at_hand = (0..3).any(|_| source.is_at_hand(offset, len, std::task::Waker::noop()));
        assert!(is_at_hand, "it never comes");
        source.read(offset, len, &mut |bytes| sent.extend_from_slice(bytes)).expect("readable");
    }
    assert!(sent == expected);
}

#[test]
fn long_read_keeps_other_connections_waiting() {
    let engine = engine(1, Faults::default());
    let expected = bytes(3, 20 * 1024 * 1024);
    put(&engine, KEY, drafted(&engine, &expected)).expect("a commit");
    let read = |hold: bool| {
        let noop = || std::task::Waker::noop().clone();
        let begun = engine.begin_soon(Scope::Keys(&[KEY]), &noop).expect("begun");
        let crate::engine::Begun::Open(mut snapshot) = begun else { panic!("it waits for a lock") };
        if hold {
            snapshot.hold_for_long();
        }
        for _ in 0..100 {
            let mut overlay = Overlay::new();
            let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
            let mut len = 0;
            let outcome = txn.show_value(0, KEY, (0, u64::MAX), &mut |piece| {
                piece.read(&mut |bytes| {
                    len += bytes.len();
                    Ok(())
                })
            });
            match outcome {
                Err(EngineError::NotHere) => {
                    let ticket = engine.park(snapshot, std::task::Waker::noop());
                    snapshot = engine.resume(ticket, Scope::Keys(&[KEY])).expect("fetched").expect("here");
                }
                outcome => return outcome.map(|_| len),
            }
        }
        panic!("it never ends")
    };
    assert_eq!(read(false), Err(EngineError::TakesLong));
    assert_eq!(read(true), Ok(expected.len()));
}

#[test]
fn pieces_of_no_value_stay_for_ever() {
    let often = Faults { conflict_percent: 10, read_conflict_percent: 10 };
    let engine = engine(5, often);
    let empty = engine.cluster().key_count();
    let value = bytes(3, HUGE_BYTES);
    // One is given up by its client, one by a process that ends in the middle, one is replaced without a look, one deleted,
    // one moves and is deleted there, one of a database that is emptied.
    drop(drafted(&engine, &value));
    std::mem::forget(drafted(&another(&engine, 2), &value));
    for key in [&b"replaced"[..], b"deleted", b"moved"] {
        put(&engine, key, drafted(&engine, &value)).expect("a commit");
    }
    transact(&engine, &mut |txn| {
        txn.set_puts_blindly(true);
        txn.put(0, b"replaced", NewRoot::of(Kind::String), b"short")
    })
    .expect("a commit");
    transact(&engine, &mut |txn| txn.rename((0, b"moved"), (0, b"there")).map(drop)).expect("a commit");
    for key in [&b"replaced"[..], b"deleted", b"there"] {
        transact(&engine, &mut |txn| txn.remove(0, key).map(drop)).expect("a commit");
    }
    assert!(engine.cluster().key_count() > empty + 100);
    collect(&engine);
    // Marks of data in slots of keys are not collected here.
    let left = engine.cluster().key_count() - empty;
    assert!(left < 10, "{left} keys are left");
}

#[test]
fn collector_takes_what_a_value_needs() {
    for seed in 0..6 {
        let often = Faults { conflict_percent: 10, read_conflict_percent: 10 };
        let engine = engine(seed, often);
        let other = another(&engine, 2);
        let value_bytes = bytes(seed, HUGE_BYTES);
        let draft = drafted(&engine, &value_bytes);
        // Its own process keeps it alive.
        for step in 0..40 {
            engine.blob_step(1 + step * BLOB_IDLE_MS / 8).expect("a step");
            other.blob_step(1 + step * BLOB_IDLE_MS / 8).expect("a step");
        }
        put(&engine, KEY, draft).expect("a commit");
        transact(&engine, &mut |txn| txn.rename((0, KEY), (1, b"elsewhere")).map(drop)).expect("a commit");
        transact(&other, &mut |txn| txn.rename((1, b"elsewhere"), (0, KEY)).map(drop)).expect("a commit");
        collect(&other);
        assert!(value(&other, KEY) == value_bytes, "seed {seed}");
        // One whose process does nothing for long is given up, and its commit says so.
        let late = drafted(&engine, &value_bytes);
        collect(&other);
        let refused = put(&engine, b"late", late);
        assert!(matches!(refused, Err(EngineError::Refused(_))), "{refused:?}");
        assert!(value(&other, b"late").is_empty());
    }
}

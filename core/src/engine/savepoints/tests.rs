//! The cost of a savepoint, and scenes that random transactions meet rarely; its effect is a law
//! ([`crate::engine::laws::check_savepoints`]).

use crate::engine::memory::MemoryEngine;
use crate::engine::{Engine, Kind, NewRoot, Overlay, Scope, Turn, Txn};

const MEMORY: &str = "a memory engine";

#[test]
fn savepoint_costs_what_the_transaction_holds() {
    let engine = MemoryEngine::new(1);
    let mut overlay = Overlay::new();
    let mut snapshot = engine.begin(Scope::Everything).expect(MEMORY);
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    txn.put(0, b"hash", NewRoot::of(Kind::Hash), &[]).expect(MEMORY);
    for number in 0..5000_u32 {
        txn.sub_put(0, b"hash", &number.to_be_bytes(), b"value").expect(MEMORY);
    }
    assert!(txn.overlay.journal.undo.is_empty(), "nothing is written down without a savepoint");
    let outer = txn.savepoint();
    txn.sub_put(0, b"hash", b"new", b"value").expect(MEMORY);
    txn.sub_remove(0, b"hash", &7_u32.to_be_bytes()).expect(MEMORY);
    for number in 0..1000_u32 {
        txn.put(0, &number.to_be_bytes(), NewRoot::of(Kind::String), b"value").expect(MEMORY);
    }
    assert_eq!(txn.overlay.journal.undo.len(), 2, "new keys need no entry");
    let inner = txn.savepoint();
    txn.remove(0, b"hash").expect(MEMORY);
    assert_eq!(txn.overlay.journal.undo.len(), 3);
    txn.rollback_to(&inner);
    assert_eq!((txn.sub_len(0, b"hash"), txn.keys_seen()), (Ok(5000), 1001));
    txn.rollback_to(&outer);
    assert_eq!((txn.sub_contains(0, b"hash", b"new"), txn.keys_seen()), (Ok(false), 1));
    txn.remove(0, b"hash").expect(MEMORY);
    // It ended when the transaction went back to one before it.
    txn.rollback_to(&inner);
    assert_eq!(txn.root(0, b"hash"), Ok(None));
    txn.release(outer);
    assert!(txn.overlay.journal.undo.is_empty() && txn.overlay.journal.marks.is_empty());
    txn.put(0, b"key", NewRoot::of(Kind::String), b"value").expect(MEMORY);
    assert!(txn.overlay.journal.undo.is_empty());
}

#[test]
fn renamed_key_takes_later_changes_back() {
    let engine = MemoryEngine::new(1);
    let mut overlay = Overlay::new();
    let mut snapshot = engine.begin(Scope::Everything).expect(MEMORY);
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    txn.put(0, b"old", NewRoot::of(Kind::Hash), &[]).expect(MEMORY);
    txn.sub_put(0, b"old", b"field", b"value").expect(MEMORY);
    let savepoint = txn.savepoint();
    txn.rename((0, b"old"), (0, b"new")).expect(MEMORY);
    txn.sub_put(0, b"new", b"other", b"value").expect(MEMORY);
    txn.sub_put(0, b"new", b"field", b"changed").expect(MEMORY);
    txn.rollback_to(&savepoint);
    assert_eq!(txn.sub_len(0, b"old"), Ok(1));
    assert_eq!(txn.sub_value(0, b"old", b"field"), Ok(Some(b"value".to_vec())));
    assert_eq!(txn.root(0, b"new"), Ok(None));
}

/// Keys that were only read are forgotten, and their bytes with them.
#[test]
fn empty_value_lies_behind_what_is_forgotten() {
    let engine = MemoryEngine::new(1);
    let mut overlay = Overlay::new();
    let mut snapshot = engine.begin(Scope::Everything).expect(MEMORY);
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    assert_eq!(txn.root(0, b"empty"), Ok(None));
    let seen = txn.keys_seen();
    assert_eq!(txn.root(0, b"a longer name"), Ok(None));
    txn.put(0, b"empty", NewRoot::of(Kind::String), b"").expect(MEMORY);
    txn.forget_reads(seen);
    assert_eq!(txn.value(0, b"empty"), Ok(Some(Vec::new())));
}

#[test]
fn key_that_was_undone_wakes_a_waiting_client() {
    let engine = MemoryEngine::new(1);
    let mut overlay = Overlay::new();
    overlay.keep_turns();
    let mut snapshot = engine.begin(Scope::Everything).expect(MEMORY);
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    let put = |txn: &mut Txn<'_>, key: &[u8]| txn.put(0, key, NewRoot::of(Kind::List), &[]).expect(MEMORY);
    put(&mut txn, b"before");
    let savepoint = txn.savepoint();
    put(&mut txn, b"undone");
    txn.rollback_to(&savepoint);
    put(&mut txn, b"after");
    let mut appeared = Vec::new();
    txn.take_turns(None, &mut |turn, _, key| appeared.push((turn, key.to_vec())));
    assert_eq!(appeared, [b"before".to_vec(), b"after".to_vec()].map(|key| (Turn::Appeared, key)));
    put(&mut txn, b"shown");
    txn.take_turns(None, &mut |_, _, _| {});
    txn.rollback_to(&savepoint);
    put(&mut txn, b"again");
    txn.take_turns(None, &mut |_, _, key| assert_eq!(key, b"again"));
}

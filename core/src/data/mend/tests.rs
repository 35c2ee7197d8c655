//! Damage takes one of two records that say the same, and salvage leaves a value that contradicts itself.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::super::stream::{NodeLimits, Owner, Pending, Stream, StreamId};
use super::super::zset::{ListpackLimits, Slot, SortedSet, replace};
use super::{Mended, mend};
use crate::bitcask::{Bitcask, OnDamage, Opened, Options};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, Db, Direction, Engine, Kind, NewRoot, Overlay, Scope, SubWalk, Txn, Want};
use crate::storage::Simulation;

const LIMITS: ListpackLimits = ListpackLimits { entries: 128, value_bytes: 64 };

const NODE_LIMITS: NodeLimits = NodeLimits { size_bytes: 4096, entries: 100 };

const NOW_MS: u64 = 1_700_000_000_000;

/// Runs one transaction over a key and commits it.
fn run<E: Engine, T>(engine: &E, key: &[u8], body: impl FnOnce(&mut Txn<'_>) -> T) -> T {
    let mut snapshot = engine.begin(Scope::Keys(&[key])).expect("begin");
    let mut overlay = Overlay::new();
    let value = body(&mut Txn::new(&mut snapshot, &mut overlay, NOW_MS));
    engine.commit(snapshot, &mut overlay, NOW_MS, &mut |_| {}).expect("commit");
    value
}

fn subkeys<E: Engine>(engine: &E, key: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    run(engine, key, |txn| {
        let mut all = Vec::new();
        txn.sub_scan(0, key, SubWalk::all(Want::Values), &mut |subkey, value| {
            all.push((subkey.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })
        .expect("readable");
        all
    })
}

fn make_set<E: Engine>(engine: &E, members: &[(&str, f64)]) {
    run(engine, b"z", |txn| replace(txn, 0, b"z", members, LIMITS).expect("put"));
}

/// The members by their scores, as every command sees them.
fn members<E: Engine>(engine: &E) -> Vec<(String, f64)> {
    run(engine, b"z", |txn| {
        let set = SortedSet::open(txn, 0, b"z").expect("a sorted set");
        let (len, mut members) = (set.len(txn).expect("readable"), Vec::new());
        set.scan(txn, 0..len, Direction::Ascending, &mut |member, score| {
            members.push((String::from_utf8_lossy(member).into_owned(), score));
        })
        .expect("readable");
        assert_eq!(members.len() as u64, len, "as many as are counted");
        for (member, score) in &members {
            let found = set.score(txn, &mut Slot::of(member.as_bytes())).expect("readable");
            assert_eq!(found, Some(*score), "{member}");
        }
        members
    })
}

const MEMBERS: [(&str, f64); 6] =
    [("a", -3.5), ("b", 0.0), ("c", 1.0), ("d", 1.0), ("e", 7.25), ("f", f64::INFINITY)];

#[test]
fn member_is_lost_with_one_of_its_two_subkeys() {
    for taken in 0..MEMBERS.len() * 2 {
        let engine = MemoryEngine::new(16);
        make_set(&engine, &MEMBERS);
        let (subkey, _) = subkeys(&engine, b"z").swap_remove(taken);
        assert!(run(&engine, b"z", |txn| txn.sub_remove(0, b"z", &subkey)).expect("removable"));
        let mended = mend(&engine, 16).expect("mended");
        assert_eq!(mended, [Mended { db: 0, key: b"z".to_vec(), subkeys: 1 }], "{subkey:?}");
        assert_eq!(members(&engine), MEMBERS.map(|(member, score)| (member.to_owned(), score)), "{subkey:?}");
        assert_eq!(mend(&engine, 16), Ok(Vec::new()), "a whole store");
    }
}

/// ZADD of another score writes three records: the score, a place in the order, and the removal of the old one.
#[test]
fn new_score_is_lost_with_one_of_its_three_records() {
    let old_score = (b"mc".to_vec(), 1.0f64.to_le_bytes().to_vec());
    let (before, after) = (MemoryEngine::new(16), MemoryEngine::new(1));
    make_set(&before, &MEMBERS);
    let mut changed = MEMBERS;
    changed[2].1 = 5.0;
    make_set(&after, &changed);
    let old_place = subkeys(&before, b"z")
        .into_iter()
        .find(|(subkey, _)| subkey.starts_with(b"s") && subkey.ends_with(b"c"))
        .expect("a place");
    let new_place = subkeys(&after, b"z")
        .into_iter()
        .find(|(subkey, _)| subkey.starts_with(b"s") && subkey.ends_with(b"c"))
        .expect("a place");
    let mut expected = changed.map(|(member, score)| (member.to_owned(), score));
    expected.sort_by(|(_, left), (_, right)| left.total_cmp(right));
    for (put, gone) in [(Some(&old_score), None), (Some(&old_place), None), (None, Some(&new_place))] {
        let engine = MemoryEngine::new(16);
        make_set(&engine, &changed);
        run(&engine, b"z", |txn| {
            if let Some((subkey, value)) = put {
                txn.sub_put(0, b"z", subkey, value).expect("put");
            }
            if let Some((subkey, _)) = gone {
                assert!(txn.sub_remove(0, b"z", subkey).expect("removable"));
            }
        });
        assert_eq!(mend(&engine, 16).map(|mended| mended.len()), Ok(1));
        assert_eq!(members(&engine), expected, "put {put:?}, gone {gone:?}");
    }
}

#[test]
fn key_stays_though_all_its_elements_are_lost() {
    let engine = MemoryEngine::new(16);
    for (key, kind) in [(b"hash", Kind::Hash), (b"list", Kind::List), (b"sets", Kind::Set)] {
        run(&engine, key, |txn| txn.put(3, key, NewRoot::of(kind), &[])).expect("put");
    }
    let mended = mend(&engine, 16).expect("mended");
    assert_eq!(mended.len(), 3);
    assert!(mended.iter().all(|mended| mended.db == 3 && mended.subkeys == 0), "{mended:?}");
    assert_eq!(run(&engine, b"hash", |txn| txn.key_count(3)), Ok(0));
}

const DB: Db = 0;

/// A stream with entries, two groups, consumers, and entries that each of these has pending.
fn make_stream<E: Engine>(engine: &E) {
    run(engine, b"x", |txn| {
        let mut stream = Stream::create(txn, DB, b"x").expect("made");
        let ids: Vec<StreamId> = (1..=6).map(|ms| StreamId { ms, seq: 1 }).collect();
        for id in &ids {
            stream.append(txn, *id, &[b"field", b"value"], NODE_LIMITS).expect("appended");
        }
        for name in [b"one", b"two"] {
            let group = stream.create_group(txn, name, ids[3], None).expect("made");
            for (consumer, ids) in [(b"c", &ids[..2]), (b"d", &ids[2..4])] {
                let mut consumer = stream.create_consumer(txn, &group, consumer).expect("made");
                consumer.active_ms = Some(NOW_MS);
                stream.save_consumer(txn, &group, &consumer).expect("saved");
                for id in ids {
                    let owner = Owner::of(&consumer);
                    let pending = Pending { id: *id, owner, delivered_ms: NOW_MS, deliveries: 1 };
                    stream.put_pending(txn, &group, None, &pending).expect("put");
                }
            }
        }
    });
}

#[test]
fn pending_entry_is_lost_with_one_of_its_two_subkeys() {
    let whole = MemoryEngine::new(16);
    make_stream(&whole);
    assert_eq!(mend(&whole, 16), Ok(Vec::new()), "a whole store");
    let expected = subkeys(&whole, b"x");
    for (subkey, _) in &expected {
        let engine = MemoryEngine::new(16);
        make_stream(&engine);
        assert!(run(&engine, b"x", |txn| txn.sub_remove(DB, b"x", subkey)).expect("removable"));
        let mended = mend(&engine, 16).expect("mended");
        let found = subkeys(&engine, b"x");
        match subkey.first() {
            // What is said once is lost.
            Some(b'e') => assert_eq!(found.len(), expected.len() - 1 + mended.len(), "{subkey:?}"),
            Some(b'g') => assert_eq!((mended.len(), found.len()), (0, expected.len() - 1), "{subkey:?}"),
            // The facts hold more than follows from the rest.
            Some(b'm') => {
                let facts = run(&engine, b"x", |txn| {
                    let mut stream = Stream::open(txn, DB, b"x").expect("a stream").expect("it is there");
                    let group = stream.create_group(txn, b"new", StreamId::MIN, None).expect("made");
                    let count = stream.pending_count(txn, &group).expect("readable");
                    (stream.last_id(), stream.entries_added(), count)
                });
                assert_eq!(facts, (StreamId { ms: 6, seq: 1 }, 6, 0));
            }
            _ => assert_eq!(found, expected, "{subkey:?}"),
        }
        assert_eq!(mend(&engine, 16), Ok(Vec::new()), "mended again");
    }
}

fn open(machine: &Simulation, on_damage: OnDamage) -> Opened {
    let storage = Arc::new(machine.open().expect("a healthy device"));
    let options = Options { databases: 16, seed: 7, on_damage, ..Options::default() };
    Bitcask::open(storage, &options).expect("opens")
}

/// The way of a salvage: a flipped bit takes one record of the set, and the rest is kept.
#[test]
fn salvaged_sorted_set_counts_members_that_it_does_not_show() {
    for (place, member) in [(&b"mmember-3"[..], 3), (b"member-5", 5)] {
        let machine = Simulation::new(1);
        let store = open(&machine, OnDamage::Refuse).store;
        let names: Vec<String> = (0..8).map(|number| format!("member-{number}")).collect();
        let scored: Vec<(&str, f64)> = names.iter().map(String::as_str).zip((1..).map(f64::from)).collect();
        make_set(&store, &scored);
        run(&store, b"last", |txn| txn.put(0, b"last", NewRoot::of(Kind::String), b"value")).expect("put");
        store.checkpoint(NOW_MS).expect("a healthy device");
        drop(store);
        machine.set_meta(Default::default());
        let name = machine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
        let bytes = machine.bytes(&name).expect("a datafile");
        // The `s` subkey comes behind the `m` subkey of the same member.
        let found = bytes.windows(place.len()).rposition(|window| window == place).expect("the record");
        assert!(machine.flip_bit(&name, (found + place.len() - 1) as u64, 3));
        let opened = open(&machine.after_kill(), OnDamage::Salvage);
        assert!(!opened.losses.is_empty(), "member {member}");
        let mended = mend(&opened.store, 16).expect("mended");
        assert_eq!(mended, [Mended { db: 0, key: b"z".to_vec(), subkeys: 1 }], "member {member}");
        let expected: Vec<(String, f64)> = names.iter().cloned().zip((1..).map(f64::from)).collect();
        assert_eq!(members(&opened.store), expected, "member {member}");
    }
}

//! What commands cannot see: that the families of subkeys stay in step.

use std::ops::ControlFlow;

use super::*;
use crate::data::testing::with_txn;
use crate::engine::memory::MemoryEngine;

const KEY: &[u8] = b"s";
const LIMITS: NodeLimits = NodeLimits { entries: 10, size_bytes: 4096 };

fn id(number: u64) -> StreamId {
    StreamId { ms: number / 3, seq: number % 3 }
}

fn subkeys(txn: &mut Txn<'_>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    txn.sub_scan(0, KEY, SubWalk::all(Want::Subkeys), &mut |subkey, _| {
        found.push(subkey.to_vec());
        ControlFlow::Continue(())
    })
    .expect("a memory engine");
    found
}

/// The invariants of the module, of a stream whose entries have these numbers.
fn check(txn: &mut Txn<'_>, entries: &[u64]) {
    let stream = Stream::open(txn, 0, KEY).expect("a stream").expect("a key");
    let mut seen = Vec::new();
    let all = (StreamId::MIN, StreamId::MAX);
    stream
        .scan(txn, all, Direction::Ascending, u64::MAX, &mut |id, mut fields| {
            assert_eq!(fields.next(), Some(&b"field"[..]));
            seen.push(id);
            ControlFlow::Continue(())
        })
        .expect("a memory engine");
    assert_eq!(seen, entries.iter().map(|number| id(*number)).collect::<Vec<_>>());
    assert_eq!(stream.len(txn), Ok(entries.len() as u64));
    assert_eq!(stream.first_entry_id(txn), Ok(seen.first().copied()));
    assert_eq!(stream.last_entry_id(txn), Ok(seen.last().copied()));
    let subkeys = subkeys(txn);
    let of = |family: u8| subkeys.iter().filter(move |subkey| subkey.first() == Some(&family));
    assert_eq!(of(FACTS).count(), 1);
    assert_eq!(of(subkey::PENDING).count(), of(subkey::OWNED).count());
    let first_node = of(NODE).next().and_then(|node| subkey::id_in(NODE, node));
    if let Some(first) = seen.first() {
        assert!(first_node.is_some_and(|node| node <= *first), "{first_node:?} {first:?}");
    }
    assert_eq!(stream.node_count(txn), Ok(of(NODE).count() as u64));
}

fn filled(txn: &mut Txn<'_>, count: u64) {
    let mut stream = Stream::create(txn, 0, KEY).expect("a memory engine");
    for number in 1..=count {
        stream.append(txn, id(number), &[b"field", b"value"], LIMITS).expect("a memory engine");
    }
}

#[test]
fn trimmed_entries_come_back() {
    for most in [0, 1, 9, 10, 11, 95, 4_999, 9_990, 20_000] {
        let engine = MemoryEngine::new(1);
        with_txn(&engine, |txn| {
            filled(txn, 10_000);
            let mut stream = Stream::open(txn, 0, KEY).expect("a stream").expect("a key");
            stream.create_group(txn, b"g", id(5), None).expect("a memory engine");
        });
        let trim = Trim { to: TrimTo::Length(most), is_approximate: false, limit: 0 };
        with_txn(&engine, |txn| {
            let mut stream = Stream::open(txn, 0, KEY).expect("a stream").expect("a key");
            assert_eq!(stream.trim(txn, &trim), Ok(10_000_u64.saturating_sub(most)));
            assert_eq!(stream.trim(txn, &trim), Ok(0));
        });
        with_txn(&engine, |txn| {
            let first = 10_001_u64.saturating_sub(most).max(1);
            check(txn, &(first..=10_000).collect::<Vec<_>>());
            let stream = Stream::open(txn, 0, KEY).expect("a stream").expect("a key");
            assert!(stream.group(txn, b"g").expect("a memory engine").is_some());
            assert_eq!((stream.last_id(), stream.entries_added()), (id(10_000), 10_000));
        });
    }
}

#[test]
fn approximate_trimming_cuts_a_node() {
    let engine = MemoryEngine::new(1);
    with_txn(&engine, |txn| filled(txn, 1000));
    let approximate = |to, limit| Trim { to, is_approximate: true, limit };
    for (trim, gone) in [
        (approximate(TrimTo::Length(995), 0), 0),
        (approximate(TrimTo::Length(985), 0), 10),
        (approximate(TrimTo::Length(0), 9), 0),
        (approximate(TrimTo::Length(0), 25), 20),
        (approximate(TrimTo::Id(id(40)), 0), 0),
        (approximate(TrimTo::Id(id(41)), 0), 10),
        (approximate(TrimTo::Length(0), 0), 960),
    ] {
        let trimmed = with_txn(&engine, |txn| {
            let mut stream = Stream::open(txn, 0, KEY).expect("a stream").expect("a key");
            stream.trim(txn, &trim)
        });
        assert_eq!(trimmed, Ok(gone), "{trim:?}");
    }
    with_txn(&engine, |txn| check(txn, &[]));
}

/// Random changes, in transactions of a few, beside a list of numbers.
#[test]
fn families_get_out_of_step() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let engine = MemoryEngine::new(1);
        with_txn(&engine, |txn| filled(txn, 30));
        let mut entries: Vec<u64> = (1..=30).collect();
        let mut last = 30;
        for _ in 0..150 {
            with_txn(&engine, |txn| {
                for _ in 0..random.usize(1..6) {
                    change(txn, &mut random, &mut entries, &mut last);
                }
                check(txn, &entries);
            });
            with_txn(&engine, |txn| check(txn, &entries));
        }
    }
}

fn change(txn: &mut Txn<'_>, random: &mut fastrand::Rng, entries: &mut Vec<u64>, last: &mut u64) {
    const FAILED: &str = "a memory engine";
    let mut stream = Stream::open(txn, 0, KEY).expect("a stream").expect("a key");
    let names: [&[u8]; 2] = [b"a", b"b"];
    let name = names[random.usize(..2)];
    let number = random.u64(1..=*last);
    match random.u32(..12) {
        0..4 => {
            *last += random.u64(1..4);
            stream.append(txn, id(*last), &[b"field", name], LIMITS).expect(FAILED);
            entries.push(*last);
        }
        4..6 => {
            let was_there = entries.contains(&number);
            assert_eq!(stream.delete(txn, id(number)), Ok(was_there));
            entries.retain(|other| *other != number);
        }
        6 => {
            let most = random.u64(..20);
            let trim = Trim { to: TrimTo::Length(most), is_approximate: false, limit: 0 };
            let gone = entries.len() - entries.len().min(most as usize);
            assert_eq!(stream.trim(txn, &trim), Ok(gone as u64));
            entries.drain(..gone);
        }
        7 => {
            let to = if random.bool() { TrimTo::Id(id(number)) } else { TrimTo::Length(random.u64(..20)) };
            let trim = Trim { to, is_approximate: true, limit: random.u64(..3) * 7 };
            let gone = stream.trim(txn, &trim).expect(FAILED);
            entries.drain(..gone as usize);
        }
        8 => match stream.group(txn, name).expect(FAILED) {
            None => {
                stream.create_group(txn, name, id(number), None).expect(FAILED);
            }
            Some(group) => stream.destroy_group(txn, &group).expect(FAILED),
        },
        what => {
            let Some(group) = stream.group(txn, b"a").expect(FAILED) else { return };
            let consumer = match stream.consumer(txn, &group, name).expect(FAILED) {
                Some(consumer) => consumer,
                None => stream.create_consumer(txn, &group, name).expect(FAILED),
            };
            if what == 9 && random.bool() {
                let owned = stream.owned_count(txn, &group, &consumer).expect(FAILED);
                assert_eq!(stream.delete_consumer(txn, &group, &consumer), Ok(owned));
            } else if what == 9 {
                stream.acknowledge(txn, &group, id(number)).expect(FAILED);
                assert_eq!(stream.pending(txn, &group, id(number)), Ok(None));
            } else {
                let before = stream.pending(txn, &group, id(number)).expect(FAILED);
                let owner = Owner::of(&consumer);
                let pending = Pending { id: id(number), owner, delivered_ms: 5, deliveries: 1 };
                stream.put_pending(txn, &group, before.as_ref(), &pending).expect(FAILED);
                assert_eq!(stream.pending(txn, &group, id(number)), Ok(Some(pending)));
            }
        }
    }
}

//! What a stream has besides elements: nodes, groups, and much that may contradict itself.

use std::ops::ControlFlow;

use super::super::listpack::{self, Part};
use super::super::writer::{put_count, put_string};
use super::super::{Unreadable, load as load_with, open, types as all_types};
use super::*;
use crate::data::rdb::{Value, dump as dump_any};
use crate::data::stream::{NodeLimits, Stream, StreamId};
use crate::data::testing::with_txn;
use crate::engine::memory::MemoryEngine;
use crate::engine::{SubWalk, Txn, Want};
use crate::memory_budget::MemoryBudget;

fn load_any(body: &[u8]) -> std::result::Result<Value<'_>, Unreadable> {
    load_with(body, MemoryBudget::UNBOUNDED)
}

const KEY: &[u8] = b"key";

/// What a key says of itself that holds the stream: id, field, value … of each entry, its facts, and its groups with
/// consumers and what is pending. When a consumer was last active is not shown, since it is not written.
pub(in crate::data::rdb) fn shown(value: &StreamValue<'_>) -> Vec<Vec<u8>> {
    with_txn(&MemoryEngine::new(1), |txn| {
        store(txn, 0, KEY, value).expect("memory holds it");
        shown_of_key(txn)
    })
}

fn shown_of_key(txn: &mut Txn<'_>) -> Vec<Vec<u8>> {
    const READ: &str = "memory is read";
    let stream = Stream::open(txn, 0, KEY).expect(READ).expect("a stream");
    let text = |id: StreamId| format!("{}-{}", id.ms, id.seq).into_bytes();
    let mut shown: Vec<Vec<u8>> = Vec::new();
    stream
        .scan_nodes(txn, &mut |node, id, fields| {
            assert!(node <= id);
            shown.push(text(id));
            shown.extend(fields.map(<[u8]>::to_vec));
            ControlFlow::Continue(())
        })
        .expect(READ);
    let added = stream.entries_added().to_string().into_bytes();
    shown.extend([b"last".to_vec(), text(stream.last_id()), b"deleted".to_vec()]);
    shown.extend([text(stream.max_deleted_id()), b"added".to_vec(), added]);
    for group in stream.groups(txn).expect(READ) {
        let read = group.entries_read.map_or("-".to_owned(), |count| count.to_string());
        shown.extend([b"group".to_vec(), group.name.clone(), text(group.last_id), read.into_bytes()]);
        for consumer in stream.consumers(txn, &group).expect(READ) {
            let seen = consumer.seen_ms.to_string();
            shown.extend([b"consumer".to_vec(), consumer.name.clone(), seen.into_bytes()]);
        }
        let all = (StreamId::MIN, StreamId::MAX);
        for pending in stream.pending_page(txn, &group, None, all, 1_000).expect(READ) {
            let numbers = [pending.delivered_ms.to_string(), pending.deliveries.to_string()];
            shown.extend([b"pending".to_vec(), text(pending.id), pending.owner.name]);
            shown.extend(numbers.map(String::into_bytes));
        }
    }
    shown
}

fn dumped(txn: &mut Txn<'_>) -> Vec<u8> {
    let root = txn.root(0, KEY).expect("memory is read").expect("a key");
    dump_any(txn, 0, KEY, &root, u64::MAX).expect("memory is read")
}

fn pairs(txn: &mut Txn<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut pairs = Vec::new();
    txn.sub_scan(0, KEY, SubWalk::all(Want::Values), &mut |subkey, value| {
        pairs.push((subkey.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })
    .expect("memory is read");
    pairs
}

/// Nodes and their lengths included: what is restored goes on as what was dumped would have.
#[test]
fn restored_stream_has_other_nodes() {
    let long = vec![b'v'; 5_000];
    let values: [&[u8]; 8] = [b"", b"a", b"5", b"-4097", b"007", b"9223372036854775807", &long[..64], &long];
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let limits = NodeLimits { entries: random.u64(..4) * 50, size_bytes: random.u64(..3) * 2_048 };
        let (before, payload) = with_txn(&MemoryEngine::new(1), |txn| {
            let mut stream = Stream::create(txn, 0, KEY).expect("memory holds it");
            let mut id = StreamId { ms: random.u64(..), seq: random.u64(..) };
            for _ in 0..random.u64(..400) {
                id = StreamId { ms: id.ms.saturating_add(random.u64(..3)), seq: id.seq };
                id = id.next().expect("another id");
                let mut value = || values[random.usize(..values.len())];
                let (one, other) = (value(), value());
                let usual: &[&[u8]] = &[b"field", one, b"12", other];
                let texts = if random.u8(..4) == 0 { &usual[..2] } else { usual };
                stream.append(txn, id, texts, limits).expect("memory holds it");
            }
            (pairs(txn), dumped(txn))
        });
        let value = load_any(open(&payload).expect("a sound frame")).expect("a payload of our own");
        let Value::Stream(value) = value else { panic!("no stream") };
        let after = with_txn(&MemoryEngine::new(1), |txn| {
            store(txn, 0, KEY, &value).expect("memory holds it");
            assert_eq!(dumped(txn), payload, "seed {seed}");
            pairs(txn)
        });
        assert_eq!(after, before, "seed {seed}");
    }
}

#[test]
fn time_of_being_active_is_misread() {
    let active = |number: u8, tail: &[u8]| {
        let mut body = vec![number, 0, 0, 0, 0];
        if number != types::STREAM {
            body.extend([0, 0, 0, 0, 0]);
        }
        body.extend(b"\x01\x01g\x00\x00");
        if number != types::STREAM {
            body.push(0);
        }
        body.extend(b"\x00\x01\x01c");
        body.extend(5_u64.to_le_bytes());
        body.extend(tail);
        let Ok(Value::Stream(value)) = load_any(&body) else { panic!("{}", body.escape_ascii()) };
        value.groups[0].consumers[0].active_ms
    };
    assert_eq!(active(types::STREAM, &[0]), Some(5));
    assert_eq!(active(types::STREAM_OF_7_0, &[0]), Some(5));
    assert_eq!(active(types::STREAM_OF_7_2, &[7, 0, 0, 0, 0, 0, 0, 0, 0]), Some(7));
    assert_eq!(active(types::STREAM_OF_7_2, &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0]), None);
}

/// The parts of a payload, each of which may be wrong.
struct Parts {
    nodes: Vec<(StreamId, Vec<i64>)>,
    len: u64,
    last_ms: u64,
    groups: Vec<&'static str>,
    pending: Vec<u64>,
    consumers: Vec<(&'static str, Vec<u64>)>,
}

fn id(ms: u64) -> StreamId {
    StreamId { ms, seq: 0 }
}

impl Parts {
    /// Two nodes of two entries with one field, a group, two consumers that have an entry each.
    fn sound() -> Parts {
        let node = |second: i64| vec![2, 0, 1, 5, 0, /**/ 2, 0, 0, 9, 4, /**/ 2, second, 0, 9, 4];
        Parts {
            nodes: vec![(id(1), node(1)), (id(5), node(2))],
            len: 4,
            last_ms: 7,
            groups: vec!["g"],
            pending: vec![1, 2],
            consumers: vec![("a", vec![2]), ("b", vec![1])],
        }
    }

    fn body(&self) -> Vec<u8> {
        let mut body = vec![all_types::STREAM_OF_7_0];
        put_count(&mut body, self.nodes.len() as u64);
        for (first, elements) in &self.nodes {
            let mut part = Part::default();
            elements.iter().for_each(|element| part.put_integer(*element));
            put_string(&mut body, &first.to_bytes());
            put_count(&mut body, listpack::len_of(&[&part]));
            listpack::put(&mut body, &[&part]);
        }
        for number in [self.len, self.last_ms, 0, 1, 0, 0, 0, self.len, self.groups.len() as u64] {
            put_count(&mut body, number);
        }
        for group in &self.groups {
            put_string(&mut body, group.as_bytes());
            [0, 0, 0, self.pending.len() as u64].iter().for_each(|number| put_count(&mut body, *number));
            for pending in &self.pending {
                body.extend(id(*pending).to_bytes());
                body.extend([0; 8]);
                put_count(&mut body, 1);
            }
            put_count(&mut body, self.consumers.len() as u64);
            for (name, owned) in &self.consumers {
                put_string(&mut body, name.as_bytes());
                body.extend([0; 8]);
                put_count(&mut body, owned.len() as u64);
                owned.iter().for_each(|owned| body.extend(id(*owned).to_bytes()));
            }
        }
        body
    }
}

#[test]
fn stream_that_contradicts_itself_is_taken() {
    let check = |is_sound: bool, what: &str, change: &dyn Fn(&mut Parts)| {
        let mut parts = Parts::sound();
        change(&mut parts);
        assert_eq!(load_any(&parts.body()).is_ok(), is_sound, "{what}");
    };
    check(true, "nothing wrong", &|_| {});
    check(false, "another length", &|parts| parts.len = 3);
    check(false, "a last id below the last entry's", &|parts| parts.last_ms = 6);
    check(true, "a last id above the last entry's", &|parts| parts.last_ms = 8);
    check(false, "nodes out of order", &|parts| parts.nodes.swap(0, 1));
    check(false, "a node that begins within another", &|parts| parts.nodes[1].0 = id(2));
    check(false, "a node with the id of another", &|parts| parts.nodes[1].0 = id(1));
    check(false, "an entry with the id before all", &|parts| parts.nodes[0].0 = id(0));
    check(false, "an entry with the id of another", &|parts| parts.nodes[0].1[11] = 0);
    check(false, "an entry before its node", &|parts| parts.nodes[0].1[6] = -1);
    check(false, "more entries than are there", &|parts| parts.nodes[0].1[0] = 3);
    check(false, "fewer entries than are there", &|parts| parts.nodes[0].1[0] = 1);
    check(false, "a negative number of entries", &|parts| parts.nodes[0].1[0] = -2);
    check(false, "a deleted entry that nobody counted", &|parts| parts.nodes[0].1[5] = 3);
    check(true, "a deleted entry", &|parts| {
        parts.nodes[0].1[5] = 3;
        parts.nodes[0].1[..2].copy_from_slice(&[1, 1]);
        parts.len = 3;
    });
    check(false, "more fields than there can be", &|parts| parts.nodes[0].1[2] = i64::MAX);
    check(false, "no end of the fields", &|parts| parts.nodes[0].1[4] = 1);
    check(false, "unknown flags", &|parts| parts.nodes[0].1[5] = 4);
    check(false, "fields of its own that are missing", &|parts| parts.nodes[0].1[5] = 0);
    check(false, "a wrong way back", &|parts| parts.nodes[0].1[9] = 5);
    check(false, "two groups with one name", &|parts| parts.groups = vec!["g", "g"]);
    check(true, "two groups", &|parts| parts.groups = vec!["h", "g"]);
    check(false, "two consumers with one name", &|parts| parts.consumers[1].0 = "a");
    check(false, "what is pending twice", &|parts| parts.pending = vec![1, 1, 2]);
    check(false, "what is pending for nobody", &|parts| parts.pending = vec![1, 2, 3]);
    check(false, "what is pending for two", &|parts| parts.consumers[1].1 = vec![1, 2]);
    check(false, "what is not pending", &|parts| parts.consumers[1].1 = vec![1, 3]);
}

/// Entries that share a field repeat it here, so a few bytes may stand for very many.
#[test]
fn repeated_fields_fill_the_memory() {
    const FIELD_BYTES: usize = 1024 * 1024;
    let check = |entries: i64, is_taken: bool| {
        let mut part = Part::default();
        [entries, 0, 1].iter().for_each(|number| part.put_integer(*number));
        part.put_text(&[b'f'; FIELD_BYTES]);
        part.put_integer(0);
        for number in 0..entries {
            [2, number, 0, 9, 4].iter().for_each(|number| part.put_integer(*number));
        }
        let mut body = vec![all_types::STREAM_OF_7_0, 1];
        put_string(&mut body, &id(1).to_bytes());
        put_count(&mut body, listpack::len_of(&[&part]));
        listpack::put(&mut body, &[&part]);
        let count = entries.cast_unsigned();
        [count, count, 0, 1, 0, 0, 0, count, 0].iter().for_each(|number| put_count(&mut body, *number));
        assert_eq!(load_any(&body).is_ok(), is_taken, "{entries} entries");
    };
    check(512, true);
    check(513, false);
}

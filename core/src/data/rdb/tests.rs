//! Every encoding, sound and damaged.

use std::borrow::Cow;

use super::reader::Bytes;
use super::sqldb::SqlPages;
use super::suggestions::Suggestion;
use super::*;
use crate::data::testing::with_txn;
use crate::data::{hash, set, sqldb, zset};
use crate::engine::memory::MemoryEngine;
use crate::memory_budget::MemoryBudget;
use crate::number::format_f64;

fn load(body: &[u8]) -> Result<Value<'_>> {
    super::load(body, MemoryBudget::UNBOUNDED)
}

/// A payload of each encoding; the file begins with the meaning of its fields.
const PAYLOADS: &str = include_str!("payloads.txt");

/// What redis-server 7.0.15 makes of the string `hello`.
const PAYLOAD_OF_HELLO: &[u8] = b"\x00\x05hello\x0A\x00cr\xDFve4\x20\x0A";

const KEY: &[u8] = b"key";

const LIMITS: Limits = Limits {
    hash: hash::ListpackLimits { entries: 512, value_bytes: 64 },
    set: set::Limits { intset_entries: 512, listpack_entries: 128, listpack_value_bytes: 64 },
    sorted_set: zset::ListpackLimits { entries: 128, value_bytes: 64 },
    list_fill: -2,
};

/// The words of a line. Those in quotes may have spaces, and bytes as `\xHH`.
fn words(line: &str) -> Vec<Vec<u8>> {
    let (mut words, mut rest) = (Vec::new(), line.trim_start().as_bytes());
    while let Some(first) = rest.first() {
        let is_quoted = *first == b'"';
        let (mut word, mut at) = (Vec::new(), usize::from(is_quoted));
        while let Some(byte) = rest.get(at).filter(|byte| **byte != if is_quoted { b'"' } else { b' ' }) {
            let (unescaped, len) = match (*byte, rest.get(at + 1)) {
                (b'\\', Some(b'x')) => {
                    let digits = std::str::from_utf8(&rest[at + 2..at + 4]).expect("two digits");
                    (u8::from_str_radix(digits, 16).expect("two digits"), 4)
                }
                (b'\\', Some(b'n')) => (b'\n', 2),
                (b'\\', Some(b'r')) => (b'\r', 2),
                (b'\\', Some(b't')) => (b'\t', 2),
                (b'\\', Some(b'a')) => (7, 2),
                (b'\\', Some(b'b')) => (8, 2),
                (b'\\', Some(escaped)) => (*escaped, 2),
                (byte, _) => (byte, 1),
            };
            word.push(unescaped);
            at += len;
        }
        words.push(word);
        rest = rest[(at + usize::from(is_quoted)).min(rest.len())..].trim_ascii_start();
    }
    words
}

/// One line of the file.
struct Payload {
    name: &'static str,
    kind: &'static str,
    elements: Vec<Vec<u8>>,
    body: Vec<u8>,
}

fn payloads() -> Vec<Payload> {
    let payload = |line: &'static str| {
        let fields: Vec<_> = line.splitn(3, "; ").collect();
        let [name, kind, rest] = fields[..] else { panic!("no three fields: {line}") };
        let (elements, body) = rest.rsplit_once("; ").expect("elements and a payload");
        let body = words(body).pop().expect("a payload");
        Payload { name, kind, elements: words(elements), body }
    };
    PAYLOADS.lines().filter(|line| !line.starts_with('#')).map(payload).collect()
}

/// Type and elements, in the order of the file.
fn shown(value: &Value<'_>) -> (&'static str, Vec<Vec<u8>>) {
    let owned = |texts: &[Cow<'_, [u8]>]| texts.iter().map(|text| text.to_vec()).collect::<Vec<_>>();
    match value {
        Value::String(text) => ("string", vec![text.to_vec()]),
        Value::List(elements) => ("list", owned(elements)),
        Value::Set(members) => {
            let mut members = owned(members);
            members.sort();
            ("set", members)
        }
        Value::Hash(pairs) => {
            let mut pairs: Vec<_> = pairs.chunks(2).map(owned).collect();
            pairs.sort();
            ("hash", pairs.concat())
        }
        Value::SortedSet(members) => {
            let mut members: Vec<_> =
                // As in Redis, small sets do not tell -0 from 0.
                members.iter().map(|(member, score)| (*score + 0.0, member.to_vec())).collect();
            members.sort_by(|left, right| left.0.total_cmp(&right.0).then_with(|| left.1.cmp(&right.1)));
            let texts = |(score, member): (f64, Vec<u8>)| [member, format_f64(score).as_bytes().to_vec()];
            ("zset", members.into_iter().flat_map(texts).collect())
        }
        Value::Stream(value) => ("stream", stream::tests::shown(value)),
        Value::SqlDatabase(SqlPages { page_bytes, pages }) => {
            let page = |(page, bytes): &(u32, Bytes<'_>)| [page.to_string().into_bytes(), bytes.to_vec()];
            let pages = pages.iter().flat_map(page);
            ("sqldb", [page_bytes.to_string().into_bytes()].into_iter().chain(pages).collect())
        }
        Value::Suggestions(all) => {
            let texts = |Suggestion { text, score, payload }: &Suggestion<'_>| {
                [text.to_vec(), format_f64(*score).as_bytes().to_vec(), payload.to_vec()]
            };
            ("trietype0", all.iter().flat_map(texts).collect())
        }
        Value::Json(packed) => {
            let mut text = Vec::new();
            let node = crate::json::node::Node::new(packed.as_slice());
            crate::json::format::write(&node, Default::default(), &mut crate::json::node::InOne, &mut text)
                .unwrap();
            ("ReJSON-RL", vec![text])
        }
    }
}

/// A database of three pages, one with a patch and one missing before the last.
fn sql_database() -> SqlPages<'static> {
    let page = |number: u32, byte: u8| (number, Cow::Owned(vec![byte; 1024]));
    SqlPages { page_bytes: 1024, pages: vec![page(0, 1), page(1, 2), page(9, 3)] }
}

#[test]
fn sql_database_is_another_one_after_restore() {
    let database = Value::SqlDatabase(sql_database());
    let payload = dumped(&database);
    let body = open(&payload).expect("a sound frame");
    assert_eq!(load(body).expect("a payload of our own"), database);
    for len in 0..body.len() {
        assert!(load(&body[..len]).is_err(), "cut at {len}");
    }
    // With a patch, the payload has the page as it is.
    let patched = with_txn(&MemoryEngine::new(1), |txn| {
        store(txn, 0, KEY, &database, None, &LIMITS).expect("memory holds it");
        let mut database = sqldb::open(txn, 0, KEY).expect("memory is read").expect("a database");
        database.write(txn, 1, &[&[2; 1000][..], &[7; 24]].concat()).expect("memory holds it");
        let root = txn.root(0, KEY).expect("memory is read").expect("a value makes a key");
        dump(txn, 0, KEY, &root, u64::MAX).expect("memory is read")
    });
    let Ok(Value::SqlDatabase(patched)) = load(open(&patched).expect("a sound frame")) else {
        panic!("a database")
    };
    assert_eq!(patched.pages[1].1[990..], [&[2; 10][..], &[7; 24]].concat());
}

#[test]
fn document_is_another_one_after_restore() {
    for text in ["1", "{\"a\":[1,2.5,\"x\",null],\"b\":12345678901234567890123}", "[true]"] {
        let value = Value::Json(crate::json::text::parse(text.as_bytes()).unwrap().packed);
        let payload = dumped(&value);
        let body = open(&payload).expect("a sound frame");
        assert_eq!(load(body).expect("a payload of our own"), value);
        for len in 0..body.len() {
            assert!(load(&body[..len]).is_err(), "cut at {len}");
        }
    }
}

#[test]
fn suggestions_are_others_after_restore() {
    let suggestion = |text: &'static str, score, payload: &'static str| Suggestion {
        text: Cow::Borrowed(text.as_bytes()),
        score,
        payload: Cow::Borrowed(payload.as_bytes()),
    };
    let value = Value::Suggestions(vec![suggestion("Ab", 1.5, "payload"), suggestion("b", -1.0, "")]);
    let payload = dumped(&value);
    let body = open(&payload).expect("a sound frame");
    assert_eq!(load(body).expect("a payload of our own"), value);
    for len in 0..body.len() {
        assert!(load(&body[..len]).is_err(), "cut at {len}");
    }
    // The number of RediSearch's type and its versions 0, 1 and 2.
    let ids = [
        &b"\x81\xB6\xB8\x9E\xB7\x2A\x5E\xD0\x00"[..],
        b"\x81\xB6\xB8\x9E\xB7\x2A\x5E\xD0\x01",
        b"\x81\xB6\xB8\x9E\xB7\x2A\x5E\xD0\x02",
    ];
    let score = [&[4][..], &1.5_f64.to_le_bytes()].concat();
    let start = [&[7][..], ids[0], b"\x02\x01\x05\x02a\0", &score, &[0]].concat();
    assert_eq!(shown(&load(&start).expect("version 0")).1, [&b"a"[..], b"1.5", b""]);
    let start = [&[7][..], ids[1], b"\x02\x01\x05\x02a\0", &score, b"\x05\x02p\0\0"].concat();
    assert_eq!(shown(&load(&start).expect("version 1")).1, [&b"a"[..], b"1.5", b"p"]);
    let start = [&[7][..], ids[2], b"\x02\x01\x05\x02a\0", &score, b"\x05\x01\0\x02\x07\0"].concat();
    assert_eq!(shown(&load(&start).expect("version 2")).1, [&b"a"[..], b"1.5", b""]);
    let infinite = [&[4][..], &f64::INFINITY.to_le_bytes()].concat();
    for wrong in [
        [&[7][..], ids[0], b"\x02\0\0"].concat(),
        [&[7][..], ids[0], b"\x02\x01\x05\x01\0", &score, &[0]].concat(),
        [&[7][..], ids[0], b"\x02\x01\x05\x01a", &score, &[0]].concat(),
        [&[7][..], ids[0], b"\x02\x01\x05\x02a\0", &infinite, &[0]].concat(),
        [&[7][..], ids[0], b"\x02\x02\x05\x02a\0", &score, b"\x05\x02a\0", &score, &[0]].concat(),
    ] {
        assert_eq!(load(&wrong), Err(BadFormat), "{}", wrong.escape_ascii());
    }
}

/// The payload of a key that holds a value.
fn dumped(value: &Value<'_>) -> Vec<u8> {
    with_txn(&MemoryEngine::new(1), |txn| {
        store(txn, 0, KEY, value, None, &LIMITS).expect("memory holds it");
        let root = txn.root(0, KEY).expect("memory is read").expect("a value makes a key");
        dump(txn, 0, KEY, &root, u64::MAX).expect("memory is read")
    })
}

#[test]
fn encoding_is_read_as_another_value() {
    let payloads = payloads();
    assert!(payloads.len() >= 31, "only {} payloads", payloads.len());
    for Payload { name, kind, elements, body } in &payloads {
        let value = load(body).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(shown(&value), (*kind, elements.clone()), "{name}");
    }
}

#[test]
fn value_changes_on_its_way_out_and_back() {
    for Payload { name, body, .. } in payloads() {
        let value = load(&body).expect("a sound payload");
        let payload = dumped(&value);
        let again = load(open(&payload).expect("a sound frame")).expect("a payload of our own");
        assert_eq!(shown(&again), shown(&value), "{name}");
    }
}

/// What is damaged is refused, or is another value that a key may hold; nothing panics.
#[test]
fn damaged_payload_does_harm() {
    let seed = 0xD0_17_u64;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut refused, mut accepted) = (0, 0);
    let mut check = |body: &[u8]| match load(body) {
        Err(error) => {
            assert_eq!(error, BadFormat);
            refused += 1;
        }
        Ok(value) => {
            accepted += 1;
            let payload = dumped(&value);
            let again = load(open(&payload).expect("a sound frame")).expect("a payload of our own");
            assert_eq!(shown(&again), shown(&value), "from {}", body.escape_ascii());
        }
    };
    for Payload { body, .. } in payloads() {
        for at in 0..body.len() {
            check(&body[..at]);
            for byte in [0, 1, 0x7F, 0x80, 0xFE, 0xFF, body[at] ^ 1, body[at] ^ 0x40, random.u8(..)] {
                let mut damaged = body.clone();
                damaged[at] = byte;
                check(&damaged);
            }
        }
        for _ in 0..200 {
            let mut damaged = body.clone();
            for _ in 0..random.usize(2..6).min(damaged.len() - 1) {
                let at = random.usize(..damaged.len());
                match random.u8(..3) {
                    0 => damaged[at] = random.u8(..),
                    1 => damaged.insert(at, random.u8(..)),
                    _ => drop(damaged.remove(at)),
                }
            }
            check(&damaged);
        }
    }
    assert!(refused > 5_000 && accepted > 1_000, "{refused} refused, {accepted} accepted");
}

#[test]
fn frame_is_taken_for_sound() {
    let payload = dumped(&Value::String(Cow::Borrowed(b"hello")));
    assert_eq!(payload, PAYLOAD_OF_HELLO);
    assert_eq!(open(&payload), Some(&b"\x00\x05hello"[..]));
    for at in 0..payload.len() {
        let mut damaged = payload.clone();
        damaged[at] ^= 0x10;
        assert_eq!(open(&damaged), None, "byte {at}");
        assert_eq!(open(&payload[..at]), None, "{at} bytes");
    }
}

#[test]
fn few_bytes_fill_the_memory() {
    for body in [
        // Counts without what they count.
        &b"\x01\x81\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"[..],
        b"\x04\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        b"\x05\x80\xFF\xFF\xFF\xFF",
        b"\x00\x81\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
        b"\x12\x80\xFF\xFF\xFF\xFF",
        // Compressed bytes that would be more than they can.
        b"\x00\xC3\x03\x81\x00\x00\x00\x7F\xFF\xFF\xFF\xFF\x00aa",
        b"\x00\xC3\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01a",
        // No elements, elements twice, scores that are none.
        b"\x01\x00",
        b"\x0E\x00",
        b"\x02\x02\x01a\x01a",
        b"\x04\x02\x01a\x01b\x01a\x01c",
        b"\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xF8\x7F",
        b"\x03\x01\x01a\xFD",
        // Types that are none of ours.
        b"\x06\x00",
        b"\x07\x00",
        b"\x16\x00",
        b"\xFF",
        b"",
    ] {
        assert_eq!(load(body), Err(BadFormat), "{}", body.escape_ascii());
    }
}

//! What a transcript cannot say of hashes: replies in RESP3, walks over many fields while others change them, and
//! encodings at their limits.

use std::collections::BTreeSet;

use super::Console;
use crate::engine::memory::MemoryEngine;
use crate::limits::{SCAN_POSITION_MAX_BYTES, SCAN_POSITIONS_MAX};
use crate::resp::{Protocol, Value};
use crate::transcript;

struct Hashes(Console<MemoryEngine>);

impl Hashes {
    fn new() -> Hashes {
        Hashes(Console::new(MemoryEngine::new(1)))
    }

    fn call(&mut self, words: &[&str]) -> Value {
        let args: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        self.0.call(1, &args)
    }

    fn shown(&mut self, request: &str) -> String {
        let words: Vec<&str> = request.split(' ').collect();
        transcript::show(&self.call(&words), false)
    }

    fn fill(&mut self, key: &str, fields: impl Iterator<Item = String>) {
        for field in fields {
            self.call(&["HSET", key, &field, "v"]);
        }
    }

    /// One HSCAN: the fields, and the next cursor.
    fn scan(&mut self, cursor: &str, count: &str) -> (Vec<String>, String) {
        let Value::Array(reply) = self.call(&["HSCAN", "h", cursor, "COUNT", count]) else { panic!() };
        let [next, Value::Array(elements)] = reply.as_slice() else { panic!("two elements") };
        let text = |value: &Value| String::from_utf8(value.as_bytes().expect("a string").to_vec());
        let fields = elements.iter().step_by(2).map(|field| text(field).expect("UTF-8")).collect();
        (fields, text(next).expect("UTF-8"))
    }
}

fn field(number: u32) -> String {
    // A long common prefix is what digests of fields cannot tell apart.
    format!("a common prefix of more than a few bytes:{number:06}")
}

#[test]
fn resp3_gets_the_shapes_of_resp2() {
    let mut hashes = Hashes::new();
    hashes.shown("HSET h a 1");
    hashes.0.sessions[0].reply().set_protocol(Protocol::Resp3);
    assert_eq!(hashes.shown("HGETALL h"), "1# \"a\" => \"1\"");
    assert_eq!(hashes.shown("HGETALL nosuch"), "(empty hash)");
    assert_eq!(hashes.shown("HRANDFIELD h 2"), "1) \"a\"");
    assert_eq!(hashes.shown("HRANDFIELD h 2 WITHVALUES"), "1) 1) \"a\"\n   2) \"1\"");
    assert_eq!(hashes.shown("HRANDFIELD h -1 WITHVALUES"), "1) 1) \"a\"\n   2) \"1\"");
    assert_eq!(hashes.shown("HRANDFIELD nosuch 2 WITHVALUES"), "(empty array)");
    assert_eq!(hashes.shown("HRANDFIELD nosuch"), "(nil)");
    assert_eq!(hashes.shown("HSCAN h 0"), "1) \"0\"\n2) 1) \"a\"\n   2) \"1\"");
    assert_eq!(hashes.shown("HMGET h a b"), "1) \"1\"\n2) (nil)");
    assert_eq!(hashes.shown("HINCRBYFLOAT h a 0.5"), "\"1.5\"");
}

#[test]
fn listpack_too_long_or_too_short() {
    let mut hashes = Hashes::new();
    hashes.fill("h", (0..512).map(field));
    assert_eq!(hashes.shown("OBJECT ENCODING h"), "\"listpack\"");
    hashes.fill("h", [field(0)].into_iter());
    assert_eq!(hashes.shown("OBJECT ENCODING h"), "\"listpack\"");
    hashes.fill("h", [field(512)].into_iter());
    assert_eq!(hashes.shown("OBJECT ENCODING h"), "\"hashtable\"");
    hashes.call(&["HDEL", "h", &field(0), &field(1)]);
    assert_eq!(hashes.shown("OBJECT ENCODING h"), "\"hashtable\"");
    // Redis guesses from the number of arguments, even if they all name the same field.
    let mut request = vec!["HSET", "repeated"];
    request.extend(std::iter::repeat_n("f", 2 * 513));
    hashes.call(&request);
    assert_eq!(hashes.shown("OBJECT ENCODING repeated"), "\"hashtable\"");
    assert_eq!(hashes.shown("HLEN repeated"), "(integer) 1");
}

#[test]
fn copy_loses_fields_between_chunks() {
    let mut hashes = Hashes::new();
    let long = "x".repeat(10_000);
    for number in 0..100 {
        hashes.call(&["HSET", "h", &field(number), &long, &format!("{number}"), ""]);
    }
    assert_eq!(hashes.shown("COPY h copy"), "(integer) 1");
    assert!(hashes.call(&["HGETALL", "h"]) == hashes.call(&["HGETALL", "copy"]));
    assert_eq!(hashes.shown("HLEN copy"), "(integer) 200");
}

#[test]
fn scan_misses_fields_that_stayed() {
    for seed in 0..20_u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut hashes = Hashes::new();
        hashes.fill("h", (0..600).map(|number| field(number * 2)));
        let mut stayed: BTreeSet<String> = (0..600).map(|number| field(number * 2)).collect();
        let (mut seen, mut cursor) = (BTreeSet::new(), "0".to_string());
        loop {
            let count = random.u32(1..30).to_string();
            let (fields, next) = hashes.scan(&cursor, &count);
            seen.extend(fields);
            cursor = next;
            if cursor == "0" {
                break;
            }
            for _ in 0..random.u32(0..20) {
                let number = random.u32(0..1200);
                stayed.remove(&field(number));
                hashes.call(&["HDEL", "h", &field(number)]);
            }
            hashes.fill("h", (0..random.u32(0..20)).map(|_| field(random.u32(0..1200))));
        }
        let missed: Vec<&String> = stayed.difference(&seen).collect();
        assert!(missed.is_empty(), "seed {seed}: {missed:?}");
    }
}

#[test]
fn scan_that_deletes_what_it_sees_leaves_some() {
    let mut hashes = Hashes::new();
    hashes.fill("h", (0..1000).map(field));
    let mut cursor = "0".to_string();
    loop {
        let (fields, next) = hashes.scan(&cursor, "10");
        for field in fields {
            hashes.call(&["HDEL", "h", &field]);
        }
        cursor = next;
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(hashes.shown("EXISTS h"), "(integer) 0");
}

#[test]
fn cursor_is_void_after_its_position_is_forgotten() {
    let mut hashes = Hashes::new();
    hashes.fill("h", (0..300).map(field));
    let (first, cursor) = hashes.scan("0", "100");
    let (second, last) = hashes.scan(&cursor, "100");
    for _ in 0..SCAN_POSITIONS_MAX {
        hashes.scan("0", "1");
    }
    // Forgotten, and the same as before: nothing changed in between.
    let (again, _) = hashes.scan(&cursor, "100");
    assert_eq!(again, second);
    let (third, end) = hashes.scan(&last, "1000");
    assert_eq!(end, "0");
    assert_eq!(first.into_iter().chain(again).chain(third).collect::<BTreeSet<_>>().len(), 300);
}

#[test]
fn long_fields_break_the_walk() {
    let mut hashes = Hashes::new();
    let long = |number: u32| format!("{}{number}", "x".repeat(SCAN_POSITION_MAX_BYTES));
    hashes.fill("h", (10..30).map(long));
    let (mut seen, mut cursor) = (Vec::new(), "0".to_string());
    loop {
        let (fields, next) = hashes.scan(&cursor, "3");
        seen.extend(fields);
        cursor = next;
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(seen, (10..30).map(long).collect::<Vec<_>>());
    assert_eq!(hashes.scan("1048575", "1000").0.len(), 20, "a ticket that was never given");
    assert!(hashes.scan("18446744073709551615", "1000").0.is_empty(), "a rank beyond the end");
}

#[test]
fn random_fields_are_not_those_of_the_hash() {
    let mut hashes = Hashes::new();
    hashes.fill("h", (0..200).map(field));
    for count in ["1", "50", "199", "200", "1000", "-50"] {
        let Value::Array(picked) = hashes.call(&["HRANDFIELD", "h", count]) else { panic!() };
        let distinct: BTreeSet<&[u8]> = picked.iter().filter_map(Value::as_bytes).collect();
        let wanted = count.parse::<i64>().expect("a number");
        assert_eq!(picked.len() as u64, if wanted < 0 { 50 } else { wanted.unsigned_abs().min(200) });
        assert!(wanted < 0 || distinct.len() == picked.len(), "{count} with repetition");
        for number in distinct {
            let name = String::from_utf8_lossy(number).into_owned();
            assert_eq!(hashes.call(&["HEXISTS", "h", &name]), Value::Integer(1));
        }
    }
}

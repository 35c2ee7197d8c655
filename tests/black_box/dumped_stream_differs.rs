//! Streams that go from one server to the other by DUMP and RESTORE: what was dumped here must be the same stream there, and
//! the other way round.

use std::time::Instant;

use edgecask_core::resp::Value;
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, redis, report};

const ROUNDS: u64 = 60;

/// Entries of the long stream.
const MANY: usize = 100_000;

/// What servers may tell differently: how a radix tree is built, and what 7.0 does not know.
const UNCOMPARED: [&[u8]; 3] = [b"radix-tree-keys", b"radix-tree-nodes", b"active-time"];

const VALUES: [&str; 12] = [
    "",
    "a",
    "5",
    "-1",
    "100",
    "4096",
    "-70000",
    "-9223372036854775808",
    "007",
    "-0",
    SIXTY_FOUR,
    "12345678901",
];
const SIXTY_FOUR: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

/// All that XINFO tells of a stream, as far as it is compared.
fn facts(client: &mut Client, key: &str) -> Value {
    without_uncompared(client.must(&format!("XINFO STREAM {key} FULL COUNT 0")))
}

fn without_uncompared(value: Value) -> Value {
    let Value::Array(parts) = value else { return value };
    let (mut kept, mut parts) = (Vec::new(), parts.into_iter());
    while let Some(part) = parts.next() {
        if matches!(&part, Value::Bulk(name) if UNCOMPARED.contains(&&**name)) {
            parts.next();
        } else {
            kept.push(without_uncompared(part));
        }
    }
    Value::Array(kept)
}

fn dump(client: &mut Client, key: &str) -> Vec<u8> {
    match client.must(&format!("DUMP {key}")) {
        Value::Bulk(payload) => payload.to_vec(),
        other => panic!("no payload: {other:?}"),
    }
}

fn restore(client: &mut Client, key: &str, payload: &[u8]) {
    let reply = client.call(&[b"RESTORE", key.as_bytes(), b"0", payload, b"REPLACE"]).expect("a reply");
    assert_eq!(reply, Value::Simple("OK".into()), "{}", payload.escape_ascii());
}

/// Both servers, which are told the same.
struct Both {
    ours: Client,
    theirs: Client,
    random: fastrand::Rng,
}

impl Both {
    fn must(&mut self, words: &str) {
        let (ours, theirs) = (self.ours.must(words), self.theirs.must(words));
        assert!(!matches!(ours, Value::Error(_)), "{words}: {ours:?}");
        assert_eq!(ours, theirs, "{words}");
    }

    /// Makes the stream `key` and returns the ids of what was added; with `changes` some entries are gone again.
    fn make(&mut self, changes: bool) -> Vec<String> {
        self.must("XGROUP CREATE key first $ MKSTREAM");
        let (mut ms, mut seq) = ([1, 1_526_919_030_474, u64::MAX - 10_000][self.random.usize(..3)], 0);
        let mut ids = Vec::new();
        for _ in 0..[0, 1, 3, 99, 101, 350][self.random.usize(..6)] {
            match self.random.u8(..4) {
                0 => (ms, seq) = (ms + self.random.u64(1..20), self.random.u64(..3)),
                _ => seq += self.random.u64(1..200),
            }
            let mut value = || VALUES[self.random.usize(..VALUES.len())];
            let (one, other) = (value(), value());
            let id = format!("{ms}-{seq}");
            match self.random.u8(..4) {
                0 => self.must(&format!("XADD key {id} 12 {one}")),
                _ => self.must(&format!("XADD key {id} field {one} other {other}")),
            }
            ids.push(id);
        }
        if changes && self.random.bool() {
            let most = self.random.usize(..=ids.len());
            self.must(&format!("XTRIM key MAXLEN {most}"));
        }
        for id in ids.iter().filter(|_| changes) {
            if self.random.u8(..3) == 0 {
                self.must(&format!("XDEL key {id}"));
            }
        }
        self.must("XGROUP CREATE key 12 $");
        ids
    }

    /// Groups that have consumers, which have entries.
    fn consume(&mut self, ids: &[String]) {
        for group in ["readers", "7"] {
            self.must(&format!("XGROUP CREATE key {group} 0 ENTRIESREAD 0"));
            for consumer in ["ann", "70000", "idle"] {
                self.must(&format!("XGROUP CREATECONSUMER key {group} {consumer}"));
            }
            for consumer in ["ann", "70000"] {
                let count = self.random.u8(1..60);
                self.must(&format!("XREADGROUP GROUP {group} {consumer} COUNT {count} STREAMS key >"));
            }
            for id in ids.iter().take(50) {
                match self.random.u8(..4) {
                    0 => self.must(&format!("XACK key {group} {id}")),
                    1 => self
                        .must(&format!("XCLAIM key {group} idle 0 {id} TIME 1700000000000 RETRYCOUNT 300")),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn dumped_stream_is_another_one_on_the_other_server() {
    let seed = 0xD0_5E;
    println!("seed {seed}");
    let directory = tempfile::tempdir().expect("a directory");
    let (ours, theirs) = (Gateway::on(directory.path()).must_start(), redis(&["--rdbcompression", "no"]));
    let random = fastrand::Rng::with_seed(seed);
    let mut both = Both { ours: ours.client(), theirs: theirs.client(), random };
    let mut equal_payloads = 0;
    for round in 0..ROUNDS {
        both.must("FLUSHALL");
        let (changes, consumes) = (round % 2 == 0, round % 4 < 2);
        let ids = both.make(changes);
        if consumes {
            both.consume(&ids);
        }
        let (here, there) = (dump(&mut both.ours, "key"), dump(&mut both.theirs, "key"));
        // Deleted entries are kept there for a while, and times differ.
        if !changes && !consumes {
            assert_eq!(here.escape_ascii().to_string(), there.escape_ascii().to_string(), "round {round}");
            equal_payloads += 1;
        }
        restore(&mut both.theirs, "from-here", &here);
        restore(&mut both.ours, "from-there", &there);
        let original = facts(&mut both.ours, "key");
        assert_eq!(facts(&mut both.theirs, "from-here"), original, "round {round}");
        let original = facts(&mut both.theirs, "key");
        assert_eq!(facts(&mut both.ours, "from-there"), original, "round {round}");
        // And the copies go on alike.
        restore(&mut both.theirs, "from-there", &there);
        for number in 0..30 {
            both.must(&format!("XADD from-there {}-{number} field {number}", u64::MAX));
        }
        both.must("XTRIM from-there MAXLEN ~ 100");
        both.must("XRANGE from-there - +");
    }
    assert!(equal_payloads >= ROUNDS / 4);
}

#[test]
fn long_stream_is_cut_on_the_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let (ours, theirs) = (Gateway::on(directory.path()).must_start(), redis(&["--rdbcompression", "no"]));
    let (mut here, mut there) = (ours.client(), theirs.client());
    let mut requests = Vec::new();
    for number in 1..=MANY {
        let (id, value) = (format!("{number}-0"), format!("value {number}"));
        edgecask_core::resp::write_request(&["XADD", "key", &id, "field", &value], &mut requests);
    }
    for client in [&mut here, &mut there] {
        client.exchange(&requests, MANY).expect("replies");
        client.must("XGROUP CREATE key readers 0");
    }
    let begin = Instant::now();
    let payload = dump(&mut here, "key");
    let dumped_s = begin.elapsed().as_secs_f64();
    assert!(payload == dump(&mut there, "key"), "{} bytes differ", payload.len());
    let before = ours.resident_bytes();
    let begin = Instant::now();
    restore(&mut here, "copy", &payload);
    let restored_s = begin.elapsed().as_secs_f64();
    let grown = ours.resident_bytes().saturating_sub(before);
    assert_eq!(facts(&mut here, "copy"), facts(&mut there, "key"));
    report(&format!(
        "a stream of {MANY} entries: {} bytes, dumped in {dumped_s:.2} s, restored in {restored_s:.2} s with {grown} bytes",
        payload.len()
    ));
}

//! A search says what an index says that is built anew from the same hashes: after any writes, at any cut of the power, and whatever has
//! become of the segments.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::functions_of_the_store::{Client, Log, NOW_MS, start};
use crate::bitcask::Bitcask;
use crate::command::search;
use crate::engine::Admin;
use crate::executor::{Expiry, Indexing};
use crate::limits::SEARCH_REBUILT_AT_ONCE;
use crate::server::Server;
use crate::server::search::Progress;
use crate::storage::simulated::Survival;
use crate::storage::{Simulation, Storage};

pub(super) const SCHEMA: &str = "PREFIX 2 doc: note: FILTER @hidden!='1' SCHEMA title TEXT WEIGHT 3 SORTABLE body TEXT tag TAG SORTABLE number NUMERIC SORTABLE place GEO";

const QUERIES: [&str; 12] = [
    "*",
    "running",
    "red | blue -green",
    "@title:(run*)",
    "\"big red\"",
    "%hoose%",
    "@tag:{one|two}",
    "@number:[-10 (20]",
    "@place:[10 50 800 km]",
    "~red big",
    "*ed",
    "(red big)=>{$slop:1}",
];

/// A server over a machine's disk, with its indexes.
pub(super) fn open(machine: &Simulation) -> Server<Bitcask> {
    let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("open"));
    let server = start(&storage, &Log::default());
    assert_eq!(search::open(&server, NOW_MS), Ok(Vec::new()));
    server
}

/// Does the upkeep of indexes until there is nothing to do.
pub(super) fn settle(server: &Server<Bitcask>, now_ms: u64) {
    let mut indexing = Indexing::new(&server.shared);
    for _ in 0..10_000 {
        if !indexing.step(server, now_ms).expect("a healthy store") {
            return;
        }
    }
    panic!("the upkeep has no end");
}

/// What an index answers: of each query the keys and scores, and the total.
fn answers(client: &mut Client<'_>, index: &str) -> Vec<BTreeSet<String>> {
    QUERIES
        .iter()
        .map(|query| {
            let request =
                ["FT.SEARCH", index, query, "NOCONTENT", "WITHSCORES", "LIMIT", "0", "1000", "DIALECT", "2"];
            let reply = client.call(&request);
            assert!(reply.starts_with('*'), "{query}: {reply}");
            let mut words = reply.split(' ').filter(|word| !word.starts_with(['*', '$']));
            let mut pairs: BTreeSet<String> =
                words.next().map(|total| format!("total {total}")).into_iter().collect();
            while let (Some(key), Some(score)) = (words.next(), words.next()) {
                pairs.insert(format!("{key} {score}"));
            }
            pairs
        })
        .collect()
}

/// Compares an index with one that is made now.
pub(super) fn compare_with_a_rebuild(server: &Server<Bitcask>, now_ms: u64, what: &str) {
    settle(server, now_ms);
    let mut client = Client::of(server);
    client.now_ms = now_ms;
    let is_there = |name: &[u8]| server.shared.search.present().named(0, name).is_some();
    if !is_there(b"index") {
        return;
    }
    let before = answers(&mut client, "index");
    assert_eq!(client.say(&format!("FT.CREATE rebuilt {SCHEMA}")), "+OK");
    settle(server, now_ms);
    let rebuilt = server.shared.search.present().named(0, b"rebuilt").cloned().expect("it was made");
    assert_eq!(rebuilt.contents.progress(), Progress::Ready);
    let after = answers(&mut client, "rebuilt");
    for ((query, one), other) in QUERIES.iter().zip(&before).zip(&after) {
        assert_eq!(one, other, "{what}: {query}");
    }
    assert_eq!(client.say("FT.DROPINDEX rebuilt"), "+OK");
}

/// One random request.
fn request(random: &mut fastrand::Rng) -> Vec<String> {
    const WORDS: [&str; 10] =
        ["red", "blue", "green", "big", "house", "houses", "run", "running", "fast", "the"];
    let key = |random: &mut fastrand::Rng| {
        let prefix = ["doc:", "note:", "other:"][random.usize(..3)];
        format!("{prefix}{}", random.u8(..12))
    };
    let text = |random: &mut fastrand::Rng| {
        let words: Vec<&str> = (0..random.usize(..6)).map(|_| WORDS[random.usize(..WORDS.len())]).collect();
        words.join(" ")
    };
    let one = key(random);
    let words: Vec<String> = match random.u8(..20) {
        0 => vec!["DEL".into(), one],
        1 => vec!["EXPIRE".into(), one, "100".into()],
        2 => vec!["PEXPIRE".into(), one, random.u16(1..50).to_string()],
        3 => vec!["PERSIST".into(), one],
        4 => vec!["RENAME".into(), one, key(random)],
        5 => vec!["COPY".into(), one, key(random), "REPLACE".into()],
        6 => vec!["SET".into(), one, text(random)],
        7 => vec!["HDEL".into(), one, ["title", "body", "tag", "number", "hidden"][random.usize(..5)].into()],
        8 => vec!["HSET".into(), one, "hidden".into(), random.u8(..2).to_string()],
        9 => vec!["HSET".into(), one, "unindexed".into(), text(random)],
        10 => vec!["HSET".into(), one, "number".into(), ["x", "5", "-3.25", "100"][random.usize(..4)].into()],
        11 => vec!["EVAL".into(), format!("HSET {one} body red"), "0".into()],
        12 if random.u8(..12) == 0 => vec!["FLUSHDB".into()],
        13 if random.u8(..3) == 0 => vec!["SWAPDB".into(), "0".into(), "1".into()],
        _ => {
            let number = (f64::from(random.i16(-2000..2000)) / 100.0).to_string();
            let place = format!("{},{}", random.i8(0..30), random.i8(40..60));
            let tag = ["one", "Two", "one,two", "three"][random.usize(..4)].to_owned();
            ["HSET".into(), one, "title".into(), text(random), "body".into(), text(random), "tag".into(), tag]
                .into_iter()
                .chain(["number".into(), number, "place".into(), place])
                .chain(["hidden".into(), u8::from(random.u8(..8) == 0).to_string()])
                .collect()
        }
    };
    words
}

/// Makes random requests and does the upkeep now and then; returns the time at the end.
fn work(server: &Server<Bitcask>, random: &mut fastrand::Rng, requests: usize) -> u64 {
    let mut client = Client::of(server);
    let (mut indexing, mut expiry) = (Indexing::new(&server.shared), Expiry::new(&server.shared));
    for _ in 0..requests {
        if server.shared.search.present().is_empty() {
            client.say(&format!("FT.CREATE index {SCHEMA}"));
        }
        let words = if random.u8(..15) == 0 {
            client.say("MULTI");
            for _ in 0..random.usize(1..5) {
                let words = request(random);
                client.call(&words.iter().map(String::as_str).collect::<Vec<_>>());
            }
            vec!["EXEC".to_owned()]
        } else {
            request(random)
        };
        let reply = client.call(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!reply.contains("panicked"), "{reply}");
        client.now_ms += random.u64(..8);
        match random.u8(..10) {
            0 => server.shared.search.seal_deltas(1),
            1 => drop(expiry.step(server, client.now_ms, 10)),
            2..5 => drop(indexing.step(server, client.now_ms)),
            // From now on the words of all documents are known, and have to follow them.
            5 => drop(client.say("FT.SEARCH index red NOCONTENT")),
            _ => {}
        }
    }
    client.now_ms
}

#[test]
fn search_differs_from_a_rebuild() {
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut machine = Simulation::new(seed);
        for round in 0..4 {
            let server = open(&machine);
            let now_ms = work(&server, &mut random, 60);
            compare_with_a_rebuild(&server, now_ms, &format!("seed {seed} round {round}"));
            drop(server);
            machine = machine.after_kill();
        }
    }
}

#[test]
fn search_differs_from_a_rebuild_after_the_power_was_cut() {
    let mut judged = 0;
    for seed in 100..124 {
        let mut random = fastrand::Rng::with_seed(seed);
        let machine = Simulation::new(seed);
        let server = open(&machine);
        let mut now_ms = work(&server, &mut random, 40);
        machine.record_cuts();
        now_ms = now_ms.max(work(&server, &mut random, 25));
        let cuts = machine.take_cuts();
        for cut in &cuts {
            if random.u8(..8) > 0 {
                continue;
            }
            let killed = cut.machine.after_kill();
            let lost = Survival::samples(seed).map(|survival| cut.machine.after_power_loss(survival));
            let chosen = random.usize(..lost.len());
            for (left, how) in [(&killed, "killed"), (&lost[chosen], "without power")] {
                let recovered = open(left);
                compare_with_a_rebuild(
                    &recovered,
                    now_ms,
                    &format!("seed {seed} {how} at {}", cut.operation),
                );
                judged += 1;
            }
        }
    }
    assert!(judged > 200, "{judged}");
}

/// So many documents are not read again before a start ends.
const MANY: u64 = SEARCH_REBUILT_AT_ONCE + 700;

/// Keys with one of these numbers in `number`, as a search counts and finds them.
fn found(client: &mut Client<'_>, from: u64, to: u64) -> String {
    let query = format!("@number:[{from} {to}]");
    let reply =
        client.call(&["FT.SEARCH", "index", &query, "NOCONTENT", "SORTBY", "number", "LIMIT", "0", "20"]);
    reply.split(' ').filter(|word| !word.starts_with(['*', '$'])).collect::<Vec<_>>().join(" ")
}

#[test]
fn search_lacks_documents_that_changed_while_the_index_was_read_again() {
    let machine = Simulation::new(3);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say("FT.CREATE index PREFIX 1 doc: SCHEMA title TEXT number NUMERIC SORTABLE"), "+OK");
    settle(&server, NOW_MS);
    for number in 0..MANY {
        client.say(&format!("HSET doc:{number} title red number {number}"));
    }
    drop(client);
    drop(server);
    let machine = machine.after_kill();
    machine.file_names().iter().filter(|name| name.ends_with(".derived")).for_each(|name| {
        machine.remove_file(name);
    });
    let server = open(&machine);
    let index = server.shared.search.present().named(0, b"index").cloned().expect("it is there");
    let is_read_again = || matches!(index.contents.progress(), Progress::Rebuilding { .. });
    let mut client = Client::of(&server);
    assert!(is_read_again() && client.say("FT.SEARCH index *").contains("LOADING"));
    let (mut indexing, mut random) = (Indexing::new(&server.shared), fastrand::Rng::with_seed(3));
    let (mut gone, mut steps) = (BTreeSet::new(), 0);
    while is_read_again() {
        let number = random.u64(..MANY);
        match random.u8(..3) {
            0 if gone.insert(number) => drop(client.say(&format!("DEL doc:{number}"))),
            1 if !gone.contains(&number) => drop(client.say(&format!("HSET doc:{number} title blue"))),
            // One that is asked for again begins at the first document.
            _ if steps == 60 => indexing = Indexing::new(&server.shared),
            _ => {}
        }
        if random.u8(..10) == 0 {
            server.shared.search.seal_deltas(1);
        }
        assert!(indexing.step(&server, NOW_MS).expect("a healthy store"));
        steps += 1;
    }
    assert!(steps > 100 && gone.len() > 10 && index.contents.facts().segments > 1, "{steps} {}", gone.len());
    assert_eq!(index.contents.facts().documents, MANY - gone.len() as u64);
    for from in (0..MANY).step_by(20) {
        let left = (from..MANY.min(from + 20)).filter(|number| !gone.contains(number));
        let keys: Vec<String> = left.map(|number| format!("doc:{number}")).collect();
        let expected = std::iter::once(format!(":{}", keys.len())).chain(keys).collect::<Vec<_>>().join(" ");
        assert_eq!(found(&mut client, from, from + 19), expected);
    }
    // A home that ends stores everything, and the next start has nothing to read again.
    server.shared.search.seal_deltas(1);
    while Indexing::store_step(&server).expect("a healthy store") {}
    drop(client);
    drop(server);
    let server = open(&machine.after_kill());
    let index = server.shared.search.present().named(0, b"index").cloned().expect("it is there");
    assert_eq!((index.contents.progress(), index.contents.facts().unfrozen), (Progress::Ready, 0));
    assert_eq!(index.contents.facts().documents, MANY - gone.len() as u64);
}

#[test]
fn document_that_goes_during_a_merge_is_found() {
    let machine = Simulation::new(5);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say("FT.CREATE index PREFIX 1 doc: SCHEMA title TEXT number NUMERIC SORTABLE"), "+OK");
    settle(&server, NOW_MS);
    let index = server.shared.search.present().named(0, b"index").cloned().expect("it is there");
    for number in 0..60 {
        client.say(&format!("HSET doc:{number} title red number {number}"));
        if number % 20 == 19 {
            server.shared.search.seal_deltas(1);
        }
    }
    settle(&server, NOW_MS);
    let segments = || index.contents.facts().segments;
    assert_eq!(segments(), 3, "too few for writes to merge them");
    for _ in 0..100 {
        found(&mut client, 0, 19);
    }
    let mut indexing = Indexing::new(&server.shared);
    // A merge begins in a step, and ends in another.
    assert!(indexing.step(&server, NOW_MS).expect("a healthy store") && segments() == 3);
    client.say("DEL doc:3 doc:30 doc:59");
    client.say("HSET doc:4 number 104");
    while indexing.step(&server, NOW_MS).expect("a healthy store") {}
    assert_eq!(segments(), 1, "what searches have paid for is merged");
    for (from, gone) in [(0, vec![3, 4]), (20, vec![30]), (40, vec![59])] {
        let keys =
            (from..from + 20).filter(|number| !gone.contains(number)).map(|number| format!("doc:{number}"));
        let count = format!(":{}", 20 - gone.len());
        let expected = std::iter::once(count).chain(keys).collect::<Vec<_>>().join(" ");
        assert_eq!(found(&mut client, from, from + 19), expected);
    }
    assert_eq!(found(&mut client, 100, 119), ":1 doc:4");
}

#[test]
fn damaged_segment_changes_an_answer() {
    let mut random = fastrand::Rng::with_seed(7);
    let machine = Simulation::new(7);
    let server = open(&machine);
    let mut client = Client::of(&server);
    assert_eq!(client.say(&format!("FT.CREATE index {SCHEMA}")), "+OK");
    for number in 0..20 {
        client.call(&[
            "HSET",
            &format!("doc:{number}"),
            "title",
            "big red house",
            "body",
            &format!("running {number}"),
            "number",
            &number.to_string(),
            "hidden",
            "0",
        ]);
    }
    server.shared.search.seal_deltas(1);
    settle(&server, NOW_MS);
    for number in 0..6 {
        client.call(&["HSET", &format!("doc:{number}"), "title", "blue"]);
    }
    server.shared.search.seal_deltas(1);
    settle(&server, NOW_MS);
    let expected = answers(&mut client, "index");
    assert!(expected[0].contains("total :20"), "{:?}", expected[0]);
    drop(client);
    let files: Vec<String> =
        machine.file_names().into_iter().filter(|name| name.ends_with(".derived")).collect();
    assert!(!files.is_empty());
    drop(server);
    for file in &files {
        let bytes = machine.bytes(file).expect("a file");
        for at in 0..=bytes.len() {
            // A byte in fifty, and the header.
            if at > 100 && random.u8(..50) > 0 {
                continue;
            }
            let left = machine.after_kill();
            match at == bytes.len() {
                true => drop(left.remove_file(file)),
                false => drop(left.flip_bit(file, at as u64, random.u8(..8))),
            }
            let server = open(&left);
            let mut client = Client::of(&server);
            assert_eq!(answers(&mut client, "index"), expected, "{file} byte {at}");
            settle(&server, NOW_MS);
            let numbers = server.engine.list_derived();
            assert!(numbers.len() <= 3, "litter is removed: {numbers:?}");
        }
    }
}

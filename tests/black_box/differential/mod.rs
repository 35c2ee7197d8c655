//! The differential run: the same random requests to `edgecask` and to `redis-server`, all replies compared.
//!
//! `EDGECASK_SEED` repeats a run, `EDGECASK_COMMANDS` makes it longer.

mod allowed;
mod compare;
mod events;
mod grammar;
mod keyspace;
mod pair;
mod values;
mod walks;
mod watching;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use edgecask_tests::process::{Gateway, redis, report};

use grammar::Request;
use pair::{Bundle, Check, Pair};
use values::Values;

pub use allowed::{Allowed, typed};
use edgecask_tests::client::Reply;

/// Requests of a run, half of them in RESP2 and half in RESP3.
const COMMANDS: u64 = 300_000;

/// Bundles of a pipeline.
const BUNDLES: u32 = 60;

/// The keyspaces are compared after so many pipelines.
const COMPARE_EVERY: u64 = 100;

/// Commands that pick at random, with the request that shows what they pick from.
const PICKS: &[(&[u8], &[&[u8]])] = &[
    (b"spop", &[b"SMEMBERS"]),
    (b"srandmember", &[b"SMEMBERS"]),
    (b"hrandfield", &[b"HGETALL"]),
    (b"zrandmember", &[b"ZRANGE", b"0", b"-1", b"WITHSCORES"]),
];

/// The seed of this process' random runs.
pub fn seed() -> u64 {
    let chosen = std::env::var("EDGECASK_SEED").ok().and_then(|seed| seed.parse().ok());
    chosen.unwrap_or_else(|| fastrand::u64(..))
}

/// Whether replies to a request agree.
pub fn agree(request: &[Vec<u8>], ours: &Reply, theirs: &Reply) -> bool {
    compare::agree(&compare::mode(request), ours, theirs)
}

/// Unix time in seconds.
fn now_s() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    i64::try_from(now.as_secs()).expect("a clock before the year 292 billion")
}

#[test]
fn replies_differ_from_redis_servers() {
    let wanted =
        std::env::var("EDGECASK_COMMANDS").ok().and_then(|count| count.parse().ok()).unwrap_or(COMMANDS);
    differ("differential", "1mb", wanted);
}

/// Every string that is not empty is a file of its own, and replies name what is stored.
#[test]
fn replies_differ_where_every_string_is_a_blob() {
    differ("differential with blobs", "1", COMMANDS / 3);
}

fn differ(what: &str, blob_min_bytes: &str, wanted: u64) {
    let seed = seed();
    report(&format!("{what}: EDGECASK_SEED={seed}"));
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = Gateway::on(directory.path()).with("--blob-min-bytes", blob_min_bytes);
    let (ours, theirs) = (gateway.must_start(), redis(&[]));
    let begin = Instant::now();
    let mut pair = Pair::new(&ours, &theirs, Allowed::read());
    for client in [&mut pair.ours, &mut pair.theirs] {
        // Approximate trimming is to find whole nodes in short streams.
        client.must("CONFIG SET stream-node-max-entries 5");
    }
    let mut values = Values::new(seed, now_s());
    run(&mut pair, &mut values, wanted / 2);
    pair.change_protocol("HELLO 3");
    run(&mut pair, &mut values, wanted);
    report(&format!("{what}: {:.1} s", begin.elapsed().as_secs_f64()));
    pair.assert_covered(grammar::names());
    pair.finish(what);
}

/// Goes on until so many requests have been compared.
fn run(pair: &mut Pair, values: &mut Values, until: u64) {
    let mut pipelines = 0;
    while pair.compared < until {
        let mut bundles = vec![select(values)];
        bundles.extend((0..BUNDLES).map(|_| bundle(values)));
        pair.batch(&bundles);
        pipelines += 1;
        if pipelines % COMPARE_EVERY == 0 {
            keyspace::compare(pair);
            walks::compare(pair, values);
        }
    }
    keyspace::compare(pair);
}

/// Mostly the first database, so that keys meet.
fn select(values: &mut Values) -> Bundle {
    let database = if values.chance(80) { b"0".to_vec() } else { values.pick(&["1", "2"]).into() };
    Bundle { requests: vec![vec![b"SELECT".to_vec(), database]], check: Check::Alone }
}

fn bundle(values: &mut Values) -> Bundle {
    match values.rng.u32(..100) {
        0 => Bundle { requests: vec![grammar::filling(values)], check: Check::Alone },
        1..5 => transaction(values),
        8 => Bundle { requests: vec![grammar::names_of_equal_scores(values)], check: Check::Alone },
        9..12 => Bundle { requests: grammar::stream_that_is_read(values), check: Check::Alone },
        // Collections must not grow for ever, nor types settle.
        5..8 => Bundle {
            requests: vec![vec![b"DEL".to_vec(), values.pick(values::KEYS).to_vec()]],
            check: Check::Alone,
        },
        _ => alone(values),
    }
}

fn alone(values: &mut Values) -> Bundle {
    let request = grammar::request(values);
    let name = request.first().map(|name| name.to_ascii_lowercase()).unwrap_or_default();
    let before = match PICKS.iter().find(|(pick, _)| *pick == name) {
        Some((_, before)) if request.len() > 1 => *before,
        _ if name == b"randomkey" => {
            let keys = vec![b"KEYS".to_vec(), b"*".to_vec()];
            return Bundle { requests: vec![keys, request], check: Check::Pick };
        }
        _ => return Bundle { requests: vec![request], check: Check::Alone },
    };
    let key = request[1].clone();
    let mut snapshot: Request = before.iter().map(|word| word.to_vec()).collect();
    snapshot.insert(1, key.clone());
    let mut requests = vec![snapshot.clone(), request];
    if name == b"spop" {
        requests.extend([snapshot, vec![b"DEL".to_vec(), key]]);
    }
    Bundle { requests, check: Check::Pick }
}

fn transaction(values: &mut Values) -> Bundle {
    let word = |word: &str| vec![word.as_bytes().to_vec()];
    let mut requests = Vec::new();
    if values.chance(20) {
        requests.push(vec![b"WATCH".to_vec(), values.pick(values::KEYS).to_vec()]);
    }
    if values.chance(97) {
        requests.push(word("MULTI"));
    }
    let count = values.rng.usize(0..8);
    while requests.len() < count {
        let request = grammar::request(values);
        // SPOP leaves different keys.
        if !request[0].eq_ignore_ascii_case(b"spop") {
            requests.push(request);
        }
    }
    if values.chance(5) {
        requests.push(word(values.pick(&["MULTI", "WATCH", "UNWATCH"])));
    }
    requests.push(word(if values.chance(90) { "EXEC" } else { "DISCARD" }));
    // Without a MULTI keys are still watched, and what groups of streams do to them is a change only here.
    requests.push(word("UNWATCH"));
    Bundle { requests, check: Check::Transaction }
}

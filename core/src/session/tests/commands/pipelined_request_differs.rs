//! Requests of a pipeline, some of which share a commit, beside the same requests one by one: replies and contents are the
//! same, whatever fails in between.

use super::transcript_differs::TRANSCRIPTS;
use super::{Console, START_MS};
use crate::bitcask::{Bitcask, Options};
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::engine::waiting::Waiting;
use crate::ordered::simulated::{Faults, Simulated};
use crate::ordered::{Ordered, SMALL_BYTES};
use crate::resp::write_request;
use crate::session::{Peer, Session};
use crate::storage::memory::MemoryStorage;
use crate::transcript::{self, Step};

fn store() -> Bitcask {
    let storage = std::sync::Arc::new(MemoryStorage::new());
    let Ok(opened) = Bitcask::open(storage, &Options::default()) else { panic!("an empty store opens") };
    opened.store
}

/// A cluster in which others are often in the way; every other one has no room for subkeys in its roots.
fn cluster(seed: u64) -> Ordered<Simulated> {
    let small_bytes = if seed.is_multiple_of(2) { SMALL_BYTES } else { 0 };
    let options = crate::ordered::Options { store: b"test".to_vec(), databases: 16, process: 1, small_bytes };
    let faults = Faults { conflict_percent: 10, read_conflict_percent: 5 };
    Ordered::new(Simulated::new(seed, faults), options)
}

/// Consecutive requests of a connection are sent together, as many as a session parses ahead and more.
fn run_pipelined<E: Engine>(mut console: Console<E>, name: &str, text: &str) {
    let mut together: Vec<(usize, Vec<Vec<u8>>, bool, String)> = Vec::new();
    let mut of = 0;
    let steps = transcript::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let end = std::iter::once(Step::Advance(0));
    for step in steps.into_iter().chain(end) {
        let (next, advance) = match step {
            Step::Advance(pause_ms) => (None, pause_ms),
            Step::Request { line, connection, unordered, args, expected } => {
                (Some((connection, (line, args, unordered, expected))), 0)
            }
        };
        let goes_on = next.as_ref().is_some_and(|(connection, _)| *connection == of && together.len() < 40);
        if !goes_on && !together.is_empty() {
            let requests: Vec<Vec<Vec<u8>>> = together.iter().map(|(_, args, ..)| args.clone()).collect();
            let replies = console.call_together(of, &requests);
            for ((line, _, unordered, expected), reply) in together.drain(..).zip(replies) {
                assert_eq!(transcript::show(&reply, unordered), expected, "{name}.txt line {line}");
            }
        }
        console.now_ms += advance;
        if let Some((connection, request)) = next {
            of = connection;
            together.push(request);
        }
    }
}

#[test]
fn transcripts_differ_when_they_are_pipelined() {
    for (number, (name, text)) in (0..).zip(TRANSCRIPTS) {
        // Their replies tell how the requests came.
        if ["slow_log", "server", "server_facts", "time_outs"].contains(name) {
            continue;
        }
        run_pipelined(Console::new(MemoryEngine::new(16)), name, text);
        run_pipelined(Console::new(store()), name, text);
        run_pipelined(Console::new(Waiting::new(store(), number)), name, text);
        // What the cluster replies otherwise is in these.
        if !["dump_restore", "generic", "maxmemory", "restore_idle_time"].contains(name) {
            let console = Console::new(cluster(number));
            console.server.shared.settings.set("blob-min-bytes", "64gb").expect("a setting");
            run_pipelined(console, name, text);
        }
    }
}

/// A random request; keys are few and of changing types, so that groups form and fail.
fn request(random: &mut fastrand::Rng, key: &str) -> Vec<Vec<u8>> {
    let (member, number) = (random.u8(..6).to_string(), random.u32(1..400));
    let (stored, long) = (random.i32(-3..30).to_string(), "x".repeat(random.usize(..200)));
    let words: Vec<&str> = match random.u8(..24) {
        0..4 => vec!["HSET", key, &member, &long],
        4 => vec!["HDEL", key, &member],
        5 => vec!["HINCRBY", key, &member, &stored],
        6..8 => vec!["LPUSH", key, &long, &member],
        8 => vec!["RPUSH", key, &long],
        9 => vec!["LPOP", key],
        10 => vec!["RPOP", key, "2"],
        11..13 => vec!["SADD", key, &member],
        13 => vec!["SREM", key, &member],
        14..16 => vec!["ZADD", key, &stored, &member],
        16 => vec!["ZINCRBY", key, &stored, &member],
        17 => vec!["ZPOPMIN", key],
        18 => vec!["XADD", key, "*", &member, &long],
        19 => vec!["XADD", key, "MAXLEN", "~", "3", &stored, &member, &long],
        20 => vec!["INCRBY", key, &stored],
        21 => vec!["HGET", key, &member],
        22 => vec!["PEXPIRE", key, if number % 2 == 0 { "1" } else { "100000" }],
        _ if number < 60 => vec!["DEL", key],
        _ => vec!["ZADD", key, "no number", &member],
    };
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

fn runs_differ<E: Engine>(engine: E, lone: MemoryEngine, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut pipelined, mut lone) = (Console::new(engine), Console::new(lone));
    for round in 0..60 {
        let mut key = "a";
        let requests: Vec<Vec<Vec<u8>>> = (0..random.usize(1..50))
            .map(|_| {
                if random.u8(..6) == 0 {
                    key = ["a", "b", "c"][random.usize(..3)];
                }
                request(&mut random, key)
            })
            .collect();
        let expected: Vec<_> = requests.iter().map(|request| lone.call(1, request)).collect();
        let replies = pipelined.call_together(1, &requests);
        for (at, (reply, wanted)) in replies.iter().zip(&expected).enumerate() {
            let text = |request: &[Vec<u8>]| String::from_utf8_lossy(&request.join(&b" "[..])).into_owned();
            let [reply, wanted] = [reply, wanted].map(|value| transcript::show(value, false));
            let before: Vec<String> = requests[..=at].iter().map(|request| text(request)).collect();
            assert_eq!(reply, wanted, "seed {seed}, round {round}, the last of {before:?}");
        }
        assert_eq!(replies.len(), requests.len(), "seed {seed}, round {round}");
        let digest = [b"DEBUG".to_vec(), b"DIGEST".to_vec()];
        assert_eq!(pipelined.call(1, &digest), lone.call(1, &digest), "seed {seed}, round {round}");
        for console_ms in [&mut pipelined.now_ms, &mut lone.now_ms] {
            *console_ms += 1;
        }
    }
}

#[test]
fn requests_of_a_pipeline_differ_from_lone_ones() {
    for seed in 0..30 {
        runs_differ(MemoryEngine::new(16), MemoryEngine::new(16), seed);
        runs_differ(store(), MemoryEngine::new(16), seed);
        runs_differ(Waiting::new(store(), seed), MemoryEngine::new(16), seed);
        runs_differ(cluster(seed), MemoryEngine::new(16), seed);
    }
}

/// What a pipeline of sixteen additions to a stream appends to the log, sent together or one by one.
fn appended(together: bool) -> u64 {
    let mut console = Console::new(store());
    let add: Vec<Vec<u8>> = ["XADD", "s", "*", "a", "b"].map(|word| word.as_bytes().to_vec()).into();
    console.call(1, &add);
    let before = console.server.engine.appended();
    if together {
        console.call_together(1, &vec![add; 16]);
    } else {
        (0..16).for_each(|_| drop(console.call(1, &add)));
    }
    console.server.engine.appended() - before
}

/// Each lone addition writes what the stream knows of itself; those that share a commit write it once.
#[test]
fn pipeline_does_not_share_its_commit() {
    let (together, apart) = (appended(true), appended(false));
    assert!(together * 4 < apart * 3, "{together} bytes together, {apart} apart");
}

/// Who waits for a list hears of each element in its turn.
#[test]
fn blocked_connection_gets_a_later_element_of_a_pipeline() {
    let mut console = Console::new(store());
    let words = |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    let mut waiting = Session::new(&console.server.shared, Peer::default(), 9, START_MS);
    write_request(&words(&["BLPOP", "q", "0"]), waiting.input());
    waiting.process(&console.server, START_MS);
    console.call_together(1, &[words(&["LPUSH", "q", "first"]), words(&["LPUSH", "q", "second"])]);
    waiting.process(&console.server, START_MS);
    let reply = waiting.reply().take().expect("memory is read");
    assert_eq!(reply, b"*2\r\n$1\r\nq\r\n$5\r\nfirst\r\n");
    waiting.close(&console.server);
}

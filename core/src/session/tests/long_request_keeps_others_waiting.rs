//! A request that takes long is handed over where the home has another place for it, and everywhere it replies the same.

use std::sync::Arc;

use crate::bitcask::{Bitcask, Options};
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::limits::LONG_WORK_ELEMENTS;
use crate::ordered::simulated::{Faults, Simulated};
use crate::ordered::{self, Ordered};
use crate::resp::write_request;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::Simulation;

/// A request: its words.
type Call = Vec<Vec<u8>>;

const NOW_MS: u64 = 1_700_000_000_000;

fn server<E>(engine: E) -> Server<E> {
    let settings = Settings::new(&[("blob-min-bytes", "64kb".into())]).expect("settings");
    Server { engine, shared: Shared::new(settings, Box::new(NoFacts), NOW_MS) }
}

fn session<E>(server: &Server<E>, hands_over: bool) -> Session {
    let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
    session.set_hands_over(hands_over);
    session
}

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

/// The replies to requests sent together, and how often the session had to be taken elsewhere.
fn run<E: Engine>(server: &Server<E>, session: &mut Session, requests: &[Vec<Vec<u8>>]) -> (String, usize) {
    requests.iter().for_each(|request| write_request(request, session.input()));
    let (mut replies, mut hand_overs) = (Vec::new(), 0);
    let mut progress = session.process(server, NOW_MS);
    loop {
        replies.extend(session.reply().take().expect("memory is read"));
        if progress.takes_long {
            assert!(!progress.is_suspended, "it waits for nothing");
            hand_overs += 1;
            assert!(hand_overs < 100, "it is handed over again and again");
            progress = session.process_at_length(server, NOW_MS);
        } else if progress.is_paused || progress.is_suspended {
            progress = session.process(server, NOW_MS);
        } else {
            break;
        }
    }
    (String::from_utf8_lossy(&replies).into_owned(), hand_overs)
}

fn replies<E: Engine>(
    server: &Server<E>,
    hands_over: bool,
    (prepare, long): (&[Call], &[Call]),
    expected: usize,
) -> String {
    let mut session = session(server, hands_over);
    run(server, &mut session, &[words("FLUSHALL")]);
    run(server, &mut session, prepare);
    let (replies, hand_overs) = run(server, &mut session, long);
    assert_eq!(hand_overs, expected, "{long:.60?}");
    replies
}

/// Requests that prepare, requests that take long, and how often one of these is handed over.
fn check(prepare: &[Vec<Vec<u8>>], long: &[Vec<Vec<u8>>], expected: usize) {
    let storage = Arc::new(Simulation::new(1).open().expect("a healthy device"));
    let stored = server(Bitcask::open(storage, &Options::default()).expect("opens").store);
    let in_memory = server(MemoryEngine::new(16));
    let options = ordered::Options {
        store: b"store".to_vec(),
        databases: 16,
        process: 1,
        small_bytes: ordered::SMALL_BYTES,
    };
    let in_a_cluster = server(Ordered::new(Simulated::new(1, Faults::default()), options));
    let mut all = Vec::new();
    for hands_over in [false, true] {
        let expected = if hands_over { expected } else { 0 };
        all.push(replies(&stored, hands_over, (prepare, long), expected));
        all.push(replies(&in_memory, hands_over, (prepare, long), expected));
        all.push(replies(&in_a_cluster, hands_over, (prepare, long), expected));
    }
    assert!(all.iter().all(|replies| *replies == all[0] && !replies.contains("-ERR")), "{:.200}", all[0]);
}

fn members(name: &str, per_member: usize) -> Vec<Vec<u8>> {
    let mut request = words(name);
    for number in 0..LONG_WORK_ELEMENTS {
        let word = (number * 7919 % LONG_WORK_ELEMENTS).to_string().into_bytes();
        request.extend(std::iter::repeat_n(word, per_member));
    }
    request
}

#[test]
fn long_request_keeps_others_waiting() {
    let set = [members("SADD s", 1), members("SADD t", 1), members("RPUSH l", 1), members("ZADD z", 2)];
    for (long, expected) in [
        ("SORT l STORE sorted", 1),
        ("SORT l LIMIT 0 3", 1),
        ("ZUNIONSTORE u 2 z s", 1),
        ("ZINTERSTORE u 2 z s", 1),
        ("SUNIONSTORE u s t", 1),
        ("SINTERCARD 2 s t", 1),
        ("LLEN l", 0),
        ("ZCARD z", 0),
    ] {
        check(&set, &[words("PING"), words(long), words("PING")], expected);
    }
    check(&[], &[words("PING"), members("RPUSH l", 1), words("LRANGE l 0 3"), members("SADD s", 1)], 1);
    check(&[], &[members("HSET h", 2), words("HLEN h"), words("HGET h 77")], 1);
    check(&[], &[members("MSET", 2), words("KEYS 8191")], 1);
    check(&[members("MSET", 2)], &[words("KEYS 8191"), words("DBSIZE")], 1);
}

#[test]
fn long_queue_keeps_others_waiting() {
    let multi = |queue: Vec<Vec<Vec<u8>>>| [vec![words("MULTI")], queue, vec![words("EXEC")]].concat();
    let many = vec![words("INCR n"); LONG_WORK_ELEMENTS as usize];
    check(&[], &multi(many), 1);
    check(
        &[members("RPUSH l", 1)],
        &multi(vec![words("INCR n"), words("SORT l LIMIT 0 3"), words("GET n")]),
        1,
    );
    check(&[members("RPUSH l", 1)], &multi(vec![words("INCR n"), words("LLEN l"), words("GET n")]), 0);
}

/// What is read of a long string is what it was when the command ran; patches and what lies behind edges included.
#[test]
fn bits_of_a_long_string_are_miscounted() {
    let prepare = [
        words("SETBIT b 48000000 1"),
        words("SETRANGE b 100000 hello"),
        words("SETBIT b 7 1"),
        words("SETRANGE b 3000000 xyz"),
    ];
    for (long, expected) in [
        ("BITCOUNT b", 1),
        ("BITCOUNT b 0 -1", 1),
        ("BITCOUNT b 7 48000000 BIT", 1),
        ("BITCOUNT b 8 47999999 BIT", 1),
        ("BITCOUNT b 100000 100004", 0),
        ("BITPOS b 1", 1),
        ("BITPOS b 1 1", 1),
        ("BITPOS b 0 0 -1", 1),
        ("BITPOS b 1 8 -1 BIT", 1),
        ("BITPOS b 1 24000024 -1 BIT", 0),
        ("BITPOS b 1 5500000", 0),
        ("BITOP NOT c b", 1),
    ] {
        check(&prepare, &[words(long), words("STRLEN b")], expected);
    }
    check(
        &prepare,
        &[words("MULTI"), words("BITCOUNT b"), words("SETBIT b 9 1"), words("BITCOUNT b"), words("EXEC")],
        1,
    );
}

#[test]
fn long_request_is_run_though_it_was_killed() {
    let server = server(MemoryEngine::new(1));
    let mut first = session(&server, true);
    run(&server, &mut first, &[words("SETBIT b 80000000 1")]);
    write_request(&words("BITOP NOT c b"), first.input());
    assert!(first.process(&server, NOW_MS).takes_long);
    first.inbox().close();
    first.process_at_length(&server, NOW_MS);
    assert!(first.must_close());
    let mut second = session(&server, true);
    assert_eq!(run(&server, &mut second, &[words("EXISTS c")]).0, ":0\r\n", "nobody waits for it");
}

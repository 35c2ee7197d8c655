//! Replies must be the same however the bytes of the requests came, and whatever else was in the input with them.

use crate::engine::memory::MemoryEngine;
use crate::limits::OUTPUT_PAUSE_BYTES;
use crate::resp::write_request;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};

const NOW_MS: u64 = 1_700_000_000_000;

fn server() -> Server<MemoryEngine> {
    Server {
        engine: MemoryEngine::new(16),
        shared: Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS),
    }
}

fn request(args: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_request(args, &mut bytes);
    bytes
}

/// All replies to pieces of input that come one after the other; how often the session paused.
fn replies<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> (Vec<u8>, u32) {
    let server = server();
    let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
    let (mut all, mut pauses) = (Vec::new(), 0);
    for piece in pieces {
        session.input().extend_from_slice(piece);
        loop {
            let progress = session.process(&server, NOW_MS);
            all.extend(session.reply().take().expect("memory is read"));
            if !progress.is_paused {
                break;
            }
            pauses += 1;
        }
    }
    (all, pauses)
}

fn check(input: &[u8]) -> Vec<u8> {
    let (whole, _) = replies([input].into_iter());
    for len in [1, 2, 7, 64, 1000] {
        assert!(replies(input.chunks(len)).0 == whole, "in pieces of {len}");
    }
    whole
}

#[test]
fn pipeline_with_inline_requests_a_transaction_and_a_wrong_one() {
    let mut input = Vec::new();
    for number in 0..40u32 {
        let key = format!("key {}", number % 7);
        input.extend(request(&[b"APPEND", key.as_bytes(), b"x"]));
        input.extend(request(&[b"GET", key.as_bytes()]));
        if number % 5 == 0 {
            input.extend_from_slice(b"PING inline\r\n\r\n");
            input.extend(request(&[b"NOSUCH", b"command"]));
        }
        if number % 11 == 0 {
            input.extend(request(&[b"MULTI"]));
            input.extend(request(&[b"SELECT", b"1"]));
            input.extend(request(&[b"INCR", b"counter"]));
            input.extend(request(&[b"EXEC"]));
        }
    }
    let replies = check(&input);
    assert!(replies.windows(4).filter(|bytes| *bytes == b":4\r\n").count() > 0);
}

#[test]
fn requests_before_a_protocol_error_or_quit_are_answered_and_those_behind_are_not() {
    for (last, text) in [
        (b"*1\r\n!\r\n".to_vec(), &b"-ERR Protocol error: expected '$', got '!'\r\n"[..]),
        (request(&[b"QUIT"]), b"+OK\r\n"),
    ] {
        let mut input: Vec<u8> = (0..5).flat_map(|_| request(&[b"INCR", b"counter"])).collect();
        input.extend(last);
        (0..5).for_each(|_| input.extend(request(&[b"INCR", b"counter"])));
        assert_eq!(check(&input), [b":1\r\n:2\r\n:3\r\n:4\r\n:5\r\n", text].concat());
    }
}

#[test]
fn pause_in_the_middle_of_a_pipeline_loses_or_repeats_requests() {
    let value = vec![b'v'; OUTPUT_PAUSE_BYTES / 3];
    let mut input = request(&[b"SET", b"key", &value]);
    for _ in 0..20 {
        input.extend(request(&[b"GET", b"key"]));
        input.extend(request(&[b"INCR", b"counter"]));
    }
    let last = request(&[b"ECHO", b"the end"]);
    input.extend_from_slice(&last);
    let mut expected = b"+OK\r\n".to_vec();
    for number in 1..=20 {
        expected.extend(format!("${}\r\n", value.len()).into_bytes());
        expected.extend_from_slice(&value);
        expected.extend(format!("\r\n:{number}\r\n").into_bytes());
    }
    expected.extend_from_slice(b"$7\r\nthe end\r\n");
    // The last request comes in two pieces, so the parser stands within it when the session pauses.
    for rest in 1..last.len() {
        let (first, second) = input.split_at(input.len() - rest);
        let (replies, pauses) = replies([first, second].into_iter());
        assert!(replies == expected, "{rest} bytes later");
        assert!(pauses > 5);
    }
}

#[test]
fn short_requests_that_write_long_values_run_in_one_go() {
    use crate::bitcask::{Bitcask, Options};
    use crate::limits::LOGGED_PAUSE_BYTES;
    use crate::storage::MemoryStorage;

    let store = Bitcask::open(std::sync::Arc::new(MemoryStorage::new()), &Options::default());
    let server = Server {
        engine: store.expect("opens").store,
        shared: Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS),
    };
    let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
    let value = vec![b'v'; 300_000];
    session.input().extend(request(&[b"SET", b"key", &value]));
    let set = session.process(&server, NOW_MS).logged_bytes;
    assert!((300_000..301_000).contains(&set), "{set} bytes of the log");
    for _ in 0..40 {
        session.input().extend(request(&[b"APPEND", b"key", b"x"]));
    }
    let (mut pauses, mut logged) = (0, 0);
    loop {
        let progress = session.process(&server, NOW_MS);
        logged += progress.logged_bytes;
        assert!(progress.logged_bytes < 2 * LOGGED_PAUSE_BYTES, "{}", progress.logged_bytes);
        if !progress.is_paused {
            break;
        }
        pauses += 1;
    }
    assert!(logged > 40 * 300_000 && pauses >= 9, "{logged} bytes, {pauses} pauses");
    assert_eq!(logged + set, server.engine.appended());
}

//! A script holds a key for long: keys elsewhere expire and are evicted all the same, though merge has to wait for the script.

use std::io::Read;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use edgecask_core::engine::Admin;

use crate::support::{Server, request};

/// No step of a test takes longer on a healthy machine; it only bounds how long a broken one hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn until(mut is_so: impl FnMut() -> bool, what: &str) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A key that the script does not hold up: which keys share a lock depends on the store's seed.
fn is_free(server: &Server, key: &str) -> bool {
    let mut client = server.connect();
    client.stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a socket option");
    client.send(&request(&[b"EXISTS", key.as_bytes()]));
    client.stream.read_exact(&mut [0; 4]).is_ok()
}

#[test]
fn held_key_keeps_others_from_expiring() {
    let server = Server::start("--threads 1");
    let mut client = server.connect();
    // Others are never refused.
    client.expect(&[b"CONFIG", b"SET", b"busy-reply-threshold", b"0"], b"+OK\r\n");
    let value = vec![b'v'; 1000];
    for _ in 0..100 {
        client.expect(&[b"SET", b"overwritten", &value], b"+OK\r\n");
    }
    let mut runner = server.connect();
    runner.send(&request(&[b"EVAL", b"while true do end", b"1", b"held"]));
    until(|| !is_free(&server, "held"), "the script does not hold its key");
    client.send(&request(&[b"BGREWRITEAOF"]));
    assert!(client.line().starts_with('+'));
    let free: Vec<String> =
        (0..20).map(|number| format!("key {number}")).filter(|key| is_free(&server, key)).collect();
    assert!(free.len() > 10);
    let shared = &server.gateway().server.shared;
    let expired = || shared.counters.expired_keys.load(Ordering::Relaxed);
    // Merge begins in one of the first rounds, and waits.
    for _ in 0..10 {
        let wanted = expired() + free.len() as u64;
        for key in &free {
            client.expect(&[b"SET", key.as_bytes(), b"1", b"PX", b"1"], b"+OK\r\n");
        }
        until(|| expired() >= wanted, "keys do not expire");
    }
    let is_rewriting = || server.gateway().server.engine.rewriting().is_on;
    assert!(is_rewriting(), "merge needs the key as well");
    client.expect(&[b"SCRIPT", b"KILL"], b"+OK\r\n");
    assert!(runner.line().starts_with("-ERR Script killed"));
    until(|| !is_rewriting(), "merge does not go on");
}

//! WATCH, MULTI and EXEC of two connections in any order, on both servers, one request at a time.

use edgecask_core::transcript::show;
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, redis, report};
use fastrand::Rng;

/// Requests compared.
const STEPS: u32 = 6_000;

const REQUESTS: &[&str] = &[
    "WATCH a", "WATCH a b", "WATCH b", "UNWATCH", "MULTI", "MULTI", "MULTI", "EXEC", "EXEC", "EXEC", "DISCARD", "SET a 1", "SET b 2",
    "DEL a", "DEL b", "DEL c", "INCR a", "APPEND b x", "GET a", "GET b", "EXPIRE a 100000", "PERSIST a", "RENAME a b", "COPY a b",
    "RENAME b a", "SETNX a 5", "LPUSH c 1", "LPOP c", "SADD a x", "GETEX a", "GETDEL b", "SETRANGE b 0 x", "SET a 1 XX", "MSET a 1 b 1",
    "SELECT 1", "SELECT 0", "SELECT 0", "MOVE a 1", "FLUSHDB", "SWAPDB 0 1", "FLUSHALL", "RESET", "GET", "NOSUCH", "PING", "TOUCH a",
    "EXPIRE a -1", "HSET b f v", "HDEL b f", "ZADD b 1 m", "SORT", "EXISTS a b c", "TYPE b", "CLIENT GETNAME", "CLIENT SETNAME me",
];

#[test]
fn watched_keys_decide_differently() {
    let seed = super::seed();
    report(&format!("watching: EDGECASK_SEED={seed}"));
    let mut rng = Rng::with_seed(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let (ours, theirs) = (Gateway::on(directory.path()).must_start(), redis(&[]));
    let mut connections: Vec<[Client; 2]> = (0..2).map(|_| [ours.client(), theirs.client()]).collect();
    let mut history = Vec::new();
    let mut aborted = 0;
    for step in 0..STEPS {
        let connection = rng.usize(..connections.len());
        let request = REQUESTS[rng.usize(..REQUESTS.len())];
        let [ours, theirs] = connections[connection].each_mut().map(|client| show(&client.must(request), false));
        history.push(format!("{}> {request} → {theirs}", connection + 1));
        aborted += u32::from(request == "EXEC" && theirs == "(nil)");
        let last = &history[history.len().saturating_sub(40)..];
        assert_eq!(ours, theirs, "seed {seed} step {step}:\n{}", last.join("\n"));
    }
    assert!(aborted > 0, "no EXEC met a changed key");
    report(&format!("watching: {STEPS} requests of two connections, {aborted} EXEC refused, 0 differences"));
}

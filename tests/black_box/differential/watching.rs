//! WATCH, MULTI and EXEC of two connections in any order, on both servers, one request at a time.

use edgecask_core::transcript::show;
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, redis, report};
use fastrand::Rng;

/// Requests compared.
const STEPS: u32 = 6_000;

const REQUESTS: &[&str] = &[
    "WATCH a",
    "WATCH a b",
    "WATCH b",
    "UNWATCH",
    "MULTI",
    "MULTI",
    "MULTI",
    "EXEC",
    "EXEC",
    "EXEC",
    "DISCARD",
    "SET a 1",
    "SET b 2",
    "DEL a",
    "DEL b",
    "DEL c",
    "INCR a",
    "APPEND b x",
    "GET a",
    "GET b",
    "EXPIRE a 100000",
    "PERSIST a",
    "RENAME a b",
    "COPY a b",
    "RENAME b a",
    "SETNX a 5",
    "LPUSH c 1",
    "LPOP c",
    "SADD a x",
    "GETEX a",
    "GETDEL b",
    "SETRANGE b 0 x",
    "SET a 1 XX",
    "MSET a 1 b 1",
    "SELECT 1",
    "SELECT 0",
    "SELECT 0",
    "MOVE a 1",
    "FLUSHDB",
    "SWAPDB 0 1",
    "FLUSHALL",
    "RESET",
    "GET",
    "NOSUCH",
    "PING",
    "TOUCH a",
    "EXPIRE a -1",
    "HSET b f v",
    "HDEL b f",
    "ZADD b 1 m",
    "STRLEN b",
    "EXISTS a b c",
    "TYPE b",
    "CLIENT GETNAME",
    "CLIENT SETNAME me",
];

/// Requests that may remove a key. In a queue they come first or not at all: a key that one transaction makes and
/// removes again has changed for redis-server, but here not, since nobody could ever have seen it.
const REMOVING: &[&str] =
    &["DEL", "GETDEL", "LPOP", "MOVE", "RENAME", "FLUSHDB", "FLUSHALL", "SWAPDB", "HDEL", "EXPIRE a -1"];

/// A request for a connection whose transaction has queued so many.
fn request(rng: &mut Rng, queued: Option<u32>) -> &'static str {
    loop {
        let request = REQUESTS[rng.usize(..REQUESTS.len())];
        let removes = REMOVING.iter().any(|removing| request.starts_with(removing));
        if !removes || queued.is_none_or(|queued| queued == 0) {
            return request;
        }
    }
}

#[test]
fn watched_keys_decide_differently() {
    let seed = super::seed();
    report(&format!("watching: EDGECASK_SEED={seed}"));
    let mut rng = Rng::with_seed(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let (ours, theirs) = (Gateway::on(directory.path()).must_start(), redis(&[]));
    let mut connections: Vec<[Client; 2]> = (0..2).map(|_| [ours.client(), theirs.client()]).collect();
    let mut queued = [None, None];
    let mut history = Vec::new();
    let mut aborted = 0;
    for step in 0..STEPS {
        let connection = rng.usize(..connections.len());
        let request = request(&mut rng, queued[connection]);
        let [ours, theirs] =
            connections[connection].each_mut().map(|client| show(&client.must(request), false));
        history.push(format!("{}> {request} → {theirs}", connection + 1));
        queued[connection] = match (request, theirs.as_str()) {
            ("MULTI", "OK") => Some(0),
            (_, "QUEUED") => queued[connection].map(|count| count + 1),
            ("EXEC" | "DISCARD" | "RESET", _) => None,
            _ => queued[connection],
        };
        aborted += u32::from(request == "EXEC" && theirs == "(nil)");
        let last = &history[history.len().saturating_sub(40)..];
        assert_eq!(ours, theirs, "seed {seed} step {step}:\n{}", last.join("\n"));
    }
    assert!(aborted > 0, "no EXEC met a changed key");
    report(&format!("watching: {STEPS} requests of two connections, {aborted} EXEC refused, 0 differences"));
}

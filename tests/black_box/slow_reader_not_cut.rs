//! `client-output-buffer-limit` over TCP: who does not read is cut, by EdgeCask as by redis-server.

use std::time::Duration;

use edgecask_core::resp::Value;
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, Server, redis};
use edgecask_tests::retry::wait_for;

const WITHIN: Duration = Duration::from_secs(30);

/// Larger than what the system keeps for a connection.
const MEGABYTES: usize = 24;

fn set_limit(server: &Server, limit: &str) {
    let outcome = server.client().call(&["CONFIG", "SET", "client-output-buffer-limit", limit]);
    assert_eq!(outcome.expect("a reply"), Value::Simple("OK".into()), "{limit}");
}

/// Publishes so many megabytes; returns how many listeners the last one had.
fn publish(server: &Server, megabytes: usize) -> Value {
    let (mut client, message) = (server.client(), "m".repeat(1 << 20));
    let mut last = Value::Null;
    for _ in 0..megabytes {
        last = client.call(&["PUBLISH", "news", &message]).expect("a reply");
    }
    last
}

fn listeners(client: &mut Client) -> Value {
    let Value::Array(counts) = client.must("PUBSUB NUMSUB news") else { panic!("an array") };
    counts.get(1).cloned().expect("a count")
}

/// Reads until the server ends the connection.
fn read_to_the_end(client: &mut Client) {
    while client.receive().is_ok() {}
}

fn check(server: &Server) {
    let mut admin = server.client();
    set_limit(server, "pubsub 4mb 0 0");
    let mut slow = server.client();
    slow.must("SUBSCRIBE news");
    assert_eq!(publish(server, MEGABYTES), Value::Integer(0), "the hard limit");
    read_to_the_end(&mut slow);

    set_limit(server, "pubsub 0 1mb 1");
    let mut slow = server.client();
    slow.must("SUBSCRIBE news");
    assert_eq!(publish(server, MEGABYTES), Value::Integer(1), "the soft limit has time");
    let is_cut = || (listeners(&mut admin) == Value::Integer(0)).then_some(());
    assert!(wait_for(WITHIN, is_cut).is_some(), "the soft limit");
    read_to_the_end(&mut slow);

    set_limit(server, "normal 2mb 0 0");
    let mut client = server.client();
    client.call(&["SET", "value", &"v".repeat(1 << 20)]).expect("a reply");
    assert!(client.must("GET value") != Value::Null, "below the limit");
    client.call(&["APPEND", "value", &"v".repeat(2 << 20)]).expect("a reply");
    client.send(b"GET value\r\n").expect("sent");
    assert!(client.receive().is_err(), "above the limit");
}

#[test]
fn connection_that_reads_nothing_is_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    check(&server);
    let Value::Bulk(info) = server.client().must("INFO stats") else { panic!("text") };
    let info = String::from_utf8(info).expect("text");
    assert!(info.contains("client_output_buffer_limit_disconnections:3\r\n"), "{info}");
    check(&redis(&[]));
}

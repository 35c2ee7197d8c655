//! Requests that take long run beside the worker of their connection, and end with their connection.

use std::time::{Duration, Instant};

use crate::support::{Server, request};

/// Longer than a worker takes to notice anything.
const SOON: Duration = Duration::from_secs(10);

/// Long enough to notice that a connection has ended.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Sends a request and counts the PINGs that another connection of the only worker has answered before its reply comes.
fn pings_meanwhile(server: &Server, command: &[&[u8]]) -> (usize, String) {
    let (mut busy, mut other) = (server.connect(), server.connect());
    other.expect(&[b"PING"], b"+PONG\r\n");
    busy.expect(&[b"PING"], b"+PONG\r\n");
    busy.send(&request(command));
    busy.stream.set_nonblocking(true).expect("a socket option");
    let mut pings = 0;
    while busy.stream.peek(&mut [0]).is_err() {
        other.expect(&[b"PING"], b"+PONG\r\n");
        pings += 1;
    }
    busy.stream.set_nonblocking(false).expect("a socket option");
    (pings, busy.line())
}

#[test]
fn long_request_keeps_its_worker_from_others() {
    let server = Server::start("--threads 1");
    let mut client = server.connect();
    for part in 0..10 {
        let members: Vec<Vec<u8>> =
            (0..10_000).map(|number| format!("{}", number * 7 + part).into_bytes()).collect();
        for name in [b"RPUSH".as_slice(), b"SADD"] {
            let mut command = vec![name, if name == b"SADD" { b"set".as_slice() } else { b"list" }];
            command.extend(members.iter().map(Vec::as_slice));
            client.send(&request(&command));
            assert!(client.line().starts_with(':'));
        }
    }
    for (command, reply) in [
        (&[b"SORT".as_slice(), b"list", b"STORE", b"sorted"] as &[&[u8]], ":100000"),
        (&[b"ZUNIONSTORE", b"union", b"1", b"set"], ":70000"),
    ] {
        let (pings, line) = pings_meanwhile(&server, command);
        assert!(line.starts_with(&reply[..4]), "{line}");
        assert!(pings > 20, "{pings} PINGs were answered while {command:?} ran");
    }
    // Requests behind the long one run behind it, and settings changed there count at once.
    client.send(
        &[
            request(&[b"SORT", b"list", b"STORE", b"sorted"]),
            request(&[b"CONFIG", b"SET", b"timeout", b"100"]),
            request(&[b"LLEN", b"sorted"]),
        ]
        .concat(),
    );
    client.expect_bytes(b":100000\r\n+OK\r\n:100000\r\n");
    client.expect(&[b"PING"], b"+PONG\r\n");
}

/// A sparse value of 20 GB, which no machine counts within [`AT_ONCE`].
#[test]
fn count_goes_on_though_its_caller_is_gone() {
    let server = Server::start("--threads 1");
    let mut client = server.connect();
    client.expect(&[b"SETBIT", b"sparse", b"160000000000", b"1"], b":0\r\n");
    let mut gone = server.connect();
    gone.expect(&[b"CLIENT", b"SETNAME", b"gone"], b"+OK\r\n");
    gone.send(&request(&[b"BITCOUNT", b"sparse"]));
    let listed = |client: &mut crate::support::Client| {
        client.send(&request(&[b"CLIENT", b"LIST"]));
        let length = client.line()[1..].parse::<usize>().expect("a length");
        let mut text = vec![0; length + 2];
        std::io::Read::read_exact(&mut client.stream, &mut text).expect("a list");
        String::from_utf8_lossy(&text).into_owned()
    };
    let begin = Instant::now();
    while !listed(&mut client).lines().any(|line| line.contains("name=gone") && line.contains("cmd=bitcount"))
    {
        assert!(begin.elapsed() < SOON, "the command does not begin");
    }
    // Others go on, those that use the same key too.
    client.expect(&[b"GETBIT", b"sparse", b"160000000000"], b":1\r\n");
    client.expect(&[b"SETBIT", b"sparse", b"160000000000", b"0"], b":1\r\n");
    drop(gone);
    let begin = Instant::now();
    while listed(&mut client).contains("name=gone") {
        assert!(begin.elapsed() < AT_ONCE, "the command goes on");
    }
}

//! Bytes in, bytes out.

use crate::support::{Server, request};

#[test]
fn pipelined_requests_may_be_cut_anywhere() {
    let server = Server::start("");
    let mut client = server.connect();
    let (mut requests, mut replies) = (Vec::new(), Vec::new());
    for number in 0..50 {
        let value = vec![b'a' + (number % 26) as u8; number * 37];
        let key = format!("key:{number}").into_bytes();
        requests.extend(request(&[b"SET", &key, &value]));
        requests.extend(request(&[b"GET", &key]));
        replies.extend(format!("+OK\r\n${}\r\n", value.len()).into_bytes());
        replies.extend(value);
        replies.extend(b"\r\n");
    }
    for piece_bytes in [1, 7, 1000, requests.len()] {
        // Without Nagle's delay every piece leaves by itself, though the system may join some again.
        requests.chunks(piece_bytes).for_each(|piece| client.send(piece));
        client.expect_bytes(&replies);
    }
}

#[test]
fn a_value_of_many_megabytes_comes_back_whole() {
    let server = Server::start("");
    let mut client = server.connect();
    let value: Vec<u8> = (0..20_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    client.expect(&[b"SET", b"large", &value], b"+OK\r\n");
    client.send(&request(&[b"GET", b"large"]));
    client.expect_bytes(b"$20000000\r\n");
    let mut received = vec![0; value.len() + 2];
    std::io::Read::read_exact(&mut client.stream, &mut received).expect("the value");
    assert!(received.starts_with(&value) && received.ends_with(b"\r\n"));
    client.expect(&[b"STRLEN", b"large"], b":20000000\r\n");
}

#[test]
fn requests_behind_a_full_output_run_when_there_is_room_again() {
    let server = Server::start("");
    let mut client = server.connect();
    client.expect(&[b"SET", b"key", &[b'x'; 100_000]], b"+OK\r\n");
    // Far beyond the output at which a session pauses.
    let requests = request(&[b"GET", b"key"]).repeat(200);
    client.send(&requests);
    let reply = [b"$100000\r\n", &[b'x'; 100_000][..], b"\r\n"].concat();
    (0..200).for_each(|_| client.expect_bytes(&reply));
}

#[test]
fn every_policy_answers() {
    for policy in ["always", "everysec", "no"] {
        let server = Server::start(&format!("--appendfsync {policy}"));
        let mut clients: Vec<_> = (0..8).map(|_| server.connect()).collect();
        for client in &mut clients {
            client.send(&request(&[b"INCR", b"counter"]));
        }
        let mut counts: Vec<String> = clients.iter_mut().map(|client| client.line()).collect();
        counts.sort();
        assert_eq!(counts, [":1", ":2", ":3", ":4", ":5", ":6", ":7", ":8"], "{policy}");
    }
}

#[test]
fn a_protocol_error_is_answered_and_ends_the_connection() {
    let server = Server::start("");
    let mut client = server.connect();
    client.send(b"*1\r\n!oops\r\n");
    assert!(client.rest().starts_with("-ERR Protocol error"), "and then the stream ends");
}

#[test]
fn a_client_that_stops_sending_is_answered_and_let_go() {
    let server = Server::start("");
    for _ in 0..50 {
        let mut client = server.connect();
        // Requests and end often arrive together.
        client.send(&request(&[b"SET", b"key", b"value"]));
        client.send(&request(&[b"GET", b"key"]));
        client.stream.shutdown(std::net::Shutdown::Write).expect("half a close");
        assert_eq!(client.rest(), "+OK\r\n$5\r\nvalue\r\n");
    }
}

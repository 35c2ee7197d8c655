//! Connections that the gateway refuses or closes.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use edgecask::limits::Deadlines;

use crate::support::{Server, request, start_in};

#[test]
fn client_beyond_maxclients_is_served() {
    let server = Server::start("--maxclients 2");
    let mut clients = [server.connect(), server.connect()];
    for client in &mut clients {
        client.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
    }
    assert_eq!(server.connect().rest(), "-ERR max number of clients reached\r\n");
    let [mut first, second] = clients;
    drop(second);
    // The place is free as soon as a worker has seen the end of the stream.
    let admitted = (0..1000).any(|_| {
        let mut client = server.connect();
        let _ = client.stream.write(&request(&[b"GET", b"key"]));
        client.line() == "$5"
    });
    assert!(admitted, "a place that was given up is free again");
    first.expect(&[b"GET", b"key"], b"$5\r\nvalue\r\n");
}

#[test]
fn who_does_not_authenticate_is_cut() {
    let deadlines = Deadlines { unauthenticated: Duration::from_millis(50), ..Deadlines::default() };
    let server = Server::start_with("--requirepass secret", deadlines);
    let mut silent = server.connect();
    assert_eq!(silent.rest(), "", "closed without a word");
    let mut talking = server.connect();
    talking.send(&request(&[b"GET", b"key"]));
    assert_eq!(talking.rest(), "-NOAUTH Authentication required.\r\n", "asking does not win time");
}

#[test]
fn who_does_not_read_is_cut() {
    let deadlines = Deadlines { unread_output: Duration::from_millis(50), ..Deadlines::default() };
    let server = Server::start_with("", deadlines);
    let mut client = server.connect();
    client.expect(&[b"SET", b"key", &[b'x'; 1_000_000]], b"+OK\r\n");
    let requests = request(&[b"GET", b"key"]).repeat(100);
    // Sending blocks once the server has stopped reading, and fails once it has given up.
    let error = loop {
        if let Err(error) = client.stream.write_all(&requests) {
            break error;
        }
    };
    assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{error}");
    server.connect().expect(&[b"STRLEN", b"key"], b":1000000\r\n");
}

#[test]
fn a_public_address_without_a_password_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let refused = start_in(directory.path(), "-h 0.0.0.0", Deadlines::default()).err().expect("refused");
    assert!(refused.to_string().contains("--requirepass"), "{refused}");
    assert!(
        start_in(&directory.path().join("meant"), "-h 0.0.0.0 --protected-mode no", Deadlines::default())
            .is_ok()
    );
}

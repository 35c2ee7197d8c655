//! What one client can make a server hold: as much as it sent, and a bounded amount of what it does not read.

use edgecask_core::resp::{Value, write_request};
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, Server, report};

/// Connections that announce or do not read.
const CONNECTIONS: usize = 20;

/// What a connection may cost besides what it sent.
const CONNECTION_MAX_BYTES: u64 = 512 * 1024;

fn start() -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    (directory, server)
}

/// That the server answers others, and what it has grown by.
fn growth(server: &Server, before: u64) -> u64 {
    assert_eq!(server.client().must("PING"), Value::Simple(b"PONG".to_vec()));
    server.resident_bytes().saturating_sub(before)
}

#[test]
fn announced_lengths_are_paid_in_memory() {
    let (_directory, server) = start();
    server.client().must("CONFIG SET proto-max-bulk-len 2gb");
    let before = server.resident_bytes();
    let announcements: [&[u8]; 4] = [
        b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1073741824\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1073741824\r\nonly this",
        b"*2147483647\r\n",
        b"*2147483647\r\n$1073741824\r\n",
    ];
    let mut clients: Vec<Client> = Vec::new();
    for announcement in announcements.iter().cycle().take(CONNECTIONS) {
        let mut client = server.client();
        client.send(announcement).expect("a fresh connection takes it");
        clients.push(client);
    }
    let grown = growth(&server, before);
    report(&format!(
        "{CONNECTIONS} announcements of 1 GB or two billion arguments: the server grew by {} kB",
        grown / 1024
    ));
    assert!(grown < CONNECTIONS as u64 * CONNECTION_MAX_BYTES, "grown by {grown} bytes");
}

#[test]
fn replies_nobody_reads_pile_up() {
    let (_directory, server) = start();
    let mut writer = server.client();
    writer.call(&[b"SET".as_slice(), b"large", &vec![b'x'; 256 * 1024]]).expect("a reply");
    let before = server.resident_bytes();
    let mut requests = Vec::new();
    for _ in 0..400 {
        write_request(&["GET", "large"], &mut requests);
    }
    // Each asks for 100 MB and reads nothing.
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(|_| server.client()).collect();
    for client in &mut clients {
        client.send(&requests).expect("these few bytes fit");
    }
    let grown = growth(&server, before);
    let bound = CONNECTIONS as u64 * (CONNECTION_MAX_BYTES + 1024 * 1024);
    report(&format!(
        "{CONNECTIONS} clients that ask for 100 MB each and read nothing: the server grew by {} kB",
        grown / 1024
    ));
    assert!(grown < bound, "grown by {grown} bytes");
    // Who reads after all gets everything.
    let client = clients.first_mut().expect("a client");
    for _ in 0..400 {
        let reply = client.receive().expect("a reply");
        assert_eq!(reply.as_bytes().map(<[u8]>::len), Some(256 * 1024));
    }
}

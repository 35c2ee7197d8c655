//! The memory of idle connections.

use std::io;
use std::net::TcpStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{Client, Process};

/// Connections that are opened, where the system allows so many: enough that what a server allocates once does not
/// count.
const CONNECTIONS: u64 = 2000;

/// File descriptors that this process and the server need besides.
const OTHER_DESCRIPTORS: u64 = 200;

/// Memory of the server for each of them, at most. The system's buffers of a socket are not in it.
const CONNECTION_MAX_BYTES: u64 = 8 * 1024;

/// Connects and does a little of everything.
fn connect(port: u16) -> io::Result<Client> {
    let mut client = Client { stream: TcpStream::connect(("127.0.0.1", port))? };
    client.expect(&[b"PING"], b"+PONG\r\n");
    client.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
    client.expect(&[b"GET", b"key"], b"$5\r\nvalue\r\n");
    Ok(client)
}

#[test]
fn an_idle_connection_takes_little_memory() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })
        .expect("may be raised");
    let connections =
        CONNECTIONS.min(limit.maximum.unwrap_or(u64::MAX).saturating_sub(OTHER_DESCRIPTORS)).max(100);
    let directory = tempfile::tempdir().expect("a directory");
    let process = Process::start(directory.path());
    let port = process.port();
    let first = loop {
        match connect(port) {
            Ok(client) => break client,
            Err(_) => std::thread::yield_now(),
        }
    };
    let _warm: Vec<Client> = (0..20).map(|_| connect(port).expect("connects")).collect();
    let before = process.memory_bytes();
    let clients: Vec<Client> = (0..connections).map(|_| connect(port).expect("connects")).collect();
    let each = process.memory_bytes().saturating_sub(before) / connections;
    drop((first, clients));
    assert!(each <= CONNECTION_MAX_BYTES, "{each} bytes for each of {connections} connections");
}

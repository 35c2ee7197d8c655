//! The memory of idle connections.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::{fs, io};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::Client;

/// Connections that are opened, where the system allows so many: enough that what a server allocates once does not
/// count.
const CONNECTIONS: u64 = 2000;

/// File descriptors that this process and the server need besides.
const OTHER_DESCRIPTORS: u64 = 200;

/// Memory of the server for each of them, at most. The system's buffers of a socket are not in it.
const CONNECTION_MAX_BYTES: u64 = 8 * 1024;

/// A server in a process of its own, whose memory is only its own.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Anonymous memory that is resident.
    fn memory_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("Linux says");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

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
    let port = free_port().expect("there is one");
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgecask"));
    command
        .args(["serve", "--threads", "2", "--http-port", "0", "--port", &port.to_string(), "--dir"])
        .arg(directory.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    let process = Process(child);
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

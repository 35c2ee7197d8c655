//! The end of a process, and the data that the next one finds.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Client, request, start_in};

/// The real program, killed with its test.
struct Program {
    child: Child,
    log: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Program {
    fn start(directory: &Path) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgecask"));
        command
            .args(["serve", "--port", "0", "--http-port", "0", "--dir"])
            .arg(directory)
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("edgecask is ready") {
            line.clear();
            assert!(log.read_line(&mut line).expect("a log") > 0, "the program ended before it was ready");
        }
        let address = line.split("listening=[").nth(1).and_then(|rest| rest.split(']').next());
        let address = address.and_then(|address| address.parse().ok()).expect("an address in the log");
        Program { child, log, address }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the program is there");
    }

    /// The exit code, if there is one, and the rest of the log.
    fn end(&mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).expect("a log");
        (self.child.wait().expect("ends").code(), rest)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_there(directory: &Path, key: &str, value: &str) {
    let running = start_in(directory, "", Deadlines::default()).expect("starts again");
    let expected = format!("${}\r\n{value}\r\n", value.len());
    Client::connect(running.addresses()[0]).expect(&[b"GET", key.as_bytes()], expected.as_bytes());
    running.gateway().stop.request(StopRequest { checkpoint: true });
    assert!(running.wait());
}

#[test]
fn sigterm_ends_cleanly() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut program = Program::start(folder.path());
    let mut client = Client::connect(program.address);
    client.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
    program.signal(Signal::TERM);
    let (code, log) = program.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("stopped"), "{log}");
    assert_eq!(client.rest(), "", "the connection was closed in order");
    is_there(folder.path(), "key", "value");
}

#[test]
fn kill_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().expect("a directory");
    for round in 0..3 {
        let mut program = Program::start(folder.path());
        let mut client = Client::connect(program.address);
        let count = 2000;
        for number in 0..count {
            client.send(&request(&[b"SET", b"key", format!("{round}:{number}").as_bytes()]));
        }
        client.expect_bytes(&b"+OK\r\n".repeat(count));
        program.signal(Signal::KILL);
        assert_eq!(program.end().0, None, "it did not end by itself");
        is_there(folder.path(), "key", &format!("{round}:{}", count - 1));
    }
}

#[test]
fn shutdown_from_a_client_ends_the_server() {
    let folder = tempfile::tempdir().expect("a directory");
    for (save, value) in [(&b"NOSAVE"[..], "1"), (b"SAVE", "2")] {
        let running = start_in(folder.path(), "--appendfsync always", Deadlines::default()).expect("starts");
        let mut client = Client::connect(running.addresses()[0]);
        client.send(&request(&[b"SET", b"key", value.as_bytes()]));
        client.send(&request(&[b"SHUTDOWN", save]));
        assert_eq!(client.rest(), "+OK\r\n", "the write is answered, the end is not");
        assert!(running.wait());
        is_there(folder.path(), "key", value);
    }
}

#[test]
fn settings_that_change_take_effect() {
    let folder = tempfile::tempdir().expect("a directory");
    let running = start_in(folder.path(), "", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    client.expect(&[b"CONFIG", b"SET", b"appendfsync", b"always"], b"+OK\r\n");
    client.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
    let engine = &running.gateway().server.engine;
    assert_eq!(engine.synced(), engine.appended(), "the reply has waited for the disk");
    client.expect(&[b"CONFIG", b"SET", b"appendonly", b"no"], b"+OK\r\n");
    client.expect(&[b"SET", b"key", b"other"], b"+OK\r\n");
    assert!(engine.synced() < engine.appended(), "nothing syncs before the next SAVE");
    client.expect(&[b"SAVE"], b"+OK\r\n");
    assert_eq!(engine.synced(), engine.appended());
    client.expect(&[b"CONFIG", b"SET", b"appendonly", b"yes"], b"+OK\r\n");
    client.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
    assert_eq!(engine.synced(), engine.appended());
    client.expect(&[b"CONFIG", b"SET", b"maxclients", b"1"], b"+OK\r\n");
    assert_eq!(Client::connect(running.addresses()[0]).rest(), "-ERR max number of clients reached\r\n");
    running.gateway().stop.request(StopRequest { checkpoint: true });
    assert!(running.wait());
}

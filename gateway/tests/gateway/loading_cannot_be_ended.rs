//! A real start that takes long: what clients are answered meanwhile, and how it is ended.
//!
//! The device is slow because a file of the metadata map is a pipe: reading the store goes on once somebody writes to it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Client, Process, request};

const KEYS: usize = 1000;

/// No step of a test takes longer on a healthy machine; the store itself would never be read.
const SOON: Duration = Duration::from_secs(10);

/// Fills a store, whose process is killed.
fn fill(directory: &Path) {
    let process = Process::start(directory);
    let mut client = process.connect();
    for number in 0..KEYS {
        client.send(&request(&[b"SET", format!("key:{number}").as_bytes(), b"abc"]));
    }
    client.expect_bytes(&b"+OK\r\n".repeat(KEYS));
}

/// Makes reading the store wait.
fn slow_down(directory: &Path) -> PathBuf {
    let meta = directory.join("meta");
    fs::remove_dir_all(&meta).expect("it is there");
    fs::create_dir(&meta).expect("a directory");
    let pipe = meta.join("conf");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    pipe
}

/// Lets reading the store go on, for as long as the pipe is held.
fn go_on(pipe: &Path) -> File {
    File::options().read(true).write(true).open(pipe).expect("the pipe is there")
}

/// The program while it reads its store.
struct Loading {
    child: Child,
    log: BufReader<ChildStderr>,
    address: SocketAddr,
    web: SocketAddr,
}

impl Loading {
    fn start(directory: &Path) -> Loading {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgecask"));
        command.args(["serve", "--port", "0", "--http-port", "0", "--threads", "2", "--dir"]).arg(directory);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let (mut line, mut all) = (String::new(), String::new());
        while !line.contains("clients are told that the store is being read") {
            line.clear();
            assert!(log.read_line(&mut line).expect("a log") > 0, "the program ended: {all}");
            all.push_str(&line);
            assert!(!line.contains("is ready"), "it was read too quickly for this test: {all}");
        }
        let address = line.split("listening=[").nth(1).and_then(|rest| rest.split(']').next());
        let address = address.and_then(|address| address.parse().ok()).expect("an address in the log");
        let web = line.split("web=[(Http, ").nth(1).and_then(|rest| rest.split(')').next());
        let web = web.and_then(|address| address.parse().ok()).expect("an address in the log");
        Loading { child, log, address, web }
    }

    /// What HTTP answers.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.web).expect("connects");
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the program is there");
    }

    /// The exit code, how long the end took, and the rest of the log.
    fn end(&mut self) -> (Option<i32>, Duration, String) {
        let (begin, mut rest) = (Instant::now(), String::new());
        self.log.read_to_string(&mut rest).expect("a log");
        (self.child.wait().expect("ends").code(), begin.elapsed(), rest)
    }

    /// The log up to a line.
    fn until(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(self.log.read_line(&mut line).expect("a log") > 0, "the program ended without {text}");
        }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn server_that_reads_its_store_is_deaf() {
    let folder = tempfile::tempdir().expect("a directory");
    fill(folder.path());
    let pipe = slow_down(folder.path());
    for signal in [Signal::TERM, Signal::INT] {
        let mut program = Loading::start(folder.path());
        let mut client = Client::connect(program.address);
        client.send(&request(&[b"GET", b"key:1"]));
        assert!(client.line().starts_with("-LOADING "));
        program.signal(signal);
        let (code, took, log) = program.end();
        assert_eq!(code, Some(0), "{log}");
        assert!(took < SOON && !log.contains("is ready") && !log.contains("checkpoint"), "{took:?}: {log}");
        assert_eq!(client.rest(), "", "the connection was closed in order");
    }
    for save in [b"NOSAVE".as_slice(), b"SAVE"] {
        let mut program = Loading::start(folder.path());
        Client::connect(program.address).send(&request(&[b"SHUTDOWN", save]));
        let (code, took, log) = program.end();
        assert_eq!(code, Some(0), "{log}");
        assert!(took < SOON && !log.contains("is ready"), "{took:?}: {log}");
    }
    // Nobody else may have the store meanwhile, and a signal that asks for no end ends nothing.
    let mut program = Loading::start(folder.path());
    program.signal(Signal::HUP);
    let mut other = Command::new(env!("CARGO_BIN_EXE_edgecask"));
    other.args(["serve", "--port", "0", "--http-port", "0", "--dir"]).arg(folder.path());
    assert_eq!(other.stderr(Stdio::null()).status().expect("runs").code(), Some(1));
    for (path, text) in [("/ready", "loading"), ("/get/key:1", "LOADING"), ("/health", "HTTP/1.1 200")] {
        let response = program.get(path);
        assert!(response.contains(text), "{path}: {response}");
    }
    let mut client = Client::connect(program.address);
    client.send(&request(&[b"SUBSCRIBE", b"channel"]));
    assert_eq!(client.line(), "*3");
    let _held = go_on(&pipe);
    program.until("edgecask is ready");
    let mut client = Client::connect(program.address);
    client.expect(&[b"DBSIZE"], format!(":{KEYS}\r\n").as_bytes());
    client.expect(&[b"GET", b"key:999"], b"$3\r\nabc\r\n");
    assert!(program.get("/ready").starts_with("HTTP/1.1 200"));
}

#[test]
fn damage_that_is_found_late_leaves_a_server_without_a_store() {
    let folder = tempfile::tempdir().expect("a directory");
    fill(folder.path());
    let pipe = slow_down(folder.path());
    let mut program = Loading::start(folder.path());
    let mut client = Client::connect(program.address);
    client.send(&request(&[b"GET", b"key:1"]));
    assert!(client.line().starts_with("-LOADING "));
    let datafile = folder.path().join("0000000001.data");
    let datafile = if datafile.exists() { datafile } else { folder.path().join("0000000000.data") };
    let mut bytes = fs::read(&datafile).expect("reads");
    bytes[KEYS * 20] ^= 1;
    fs::write(&datafile, bytes).expect("writes");
    let _held = go_on(&pipe);
    let (code, _, log) = program.end();
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("edgecask check") && !log.contains("is ready"), "{log}");
    assert_eq!(client.rest(), "");
}

//! A real start that takes long: what clients are answered meanwhile, and how it is ended.
//!
//! The store has many small records and no metadata, so that the program must read all of them.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Client, Process, request};

const KEYS: usize = 400_000;

/// An end that does not wait until the store is read.
const SOON: Duration = Duration::from_millis(1500);

/// Fills a store, whose process is killed, and takes its metadata away.
fn store_without_hints(directory: &Path) {
    let process = Process::start(directory);
    let mut client = process.connect();
    for batch in 0..KEYS / 1000 {
        let batch: Vec<u8> = (batch * 1000..batch * 1000 + 1000)
            .flat_map(|number| request(&[b"SET", format!("key:{number}").as_bytes(), b"abc"]))
            .collect();
        client.send(&batch);
        client.expect_bytes(&b"+OK\r\n".repeat(1000));
    }
    drop(process);
    fs::remove_dir_all(directory.join("meta")).expect("it is there");
}

/// The program while it reads its store.
struct Loading {
    child: Child,
    log: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Loading {
    fn start(directory: &Path) -> Loading {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgecask"));
        command.args(["serve", "--port", "0", "--http-port", "0", "--threads", "2", "--dir"]).arg(directory);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("clients are told that the store is being read") {
            line.clear();
            assert!(log.read_line(&mut line).expect("a log") > 0, "the program ended");
            assert!(!line.contains("is ready"), "it was read too quickly for this test");
        }
        let address = line.split("listening=[").nth(1).and_then(|rest| rest.split(']').next());
        let address = address.and_then(|address| address.parse().ok()).expect("an address in the log");
        Loading { child, log, address }
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
    store_without_hints(folder.path());
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
    // SIGHUP ends nothing, and then all is there.
    let mut program = Loading::start(folder.path());
    program.signal(Signal::HUP);
    let mut client = Client::connect(program.address);
    program.until("edgecask is ready");
    client.expect(&[b"DBSIZE"], format!(":{KEYS}\r\n").as_bytes());
    client.expect(&[b"GET", b"key:399999"], b"$3\r\nabc\r\n");
    drop(program);

    // A store that turns out to be damaged.
    let mut datafiles: Vec<_> =
        fs::read_dir(folder.path()).expect("there").map(|entry| entry.expect("there").path()).collect();
    datafiles.retain(|path| path.extension().is_some_and(|extension| extension == "data"));
    datafiles.sort();
    let mut bytes = fs::read(&datafiles[0]).expect("reads");
    let middle = KEYS * 20;
    bytes[middle] ^= 1;
    fs::write(&datafiles[0], bytes).expect("writes");
    fs::remove_dir_all(folder.path().join("meta")).expect("it is there");
    let mut program = Loading::start(folder.path());
    let mut client = Client::connect(program.address);
    client.send(&request(&[b"GET", b"key:1"]));
    assert!(client.line().starts_with("-LOADING "));
    let (code, _, log) = program.end();
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("edgecask check") && !log.contains("is ready"), "{log}");
    assert_eq!(client.rest(), "");
}

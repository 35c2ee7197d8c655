//! GET and SET allocate nothing once warm.
//!
//! *Warm* means: the connection has run the same batch before, so its buffers have the size they need; the keys exist;
//! and the log has its active file. A new key may allocate, since the keydir must grow, and so may whatever happens once
//! for many commands: a new datafile, the first append after a sync.
//!
//! Allocations are counted for the thread that runs the test, so sled's threads do not count. This is a test binary of
//! its own because the counting allocator is that of the whole process.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::task::{Context, Poll, Waker};

use edgecask::connection::{Buffers, Connection, Received, Sent};
use edgecask::embedded::{Embedded, EmbeddedOptions};
use edgecask::storage::lock::DirectoryLock;
use edgecask::store::{self, Owned, Store};
use edgecask_core::driver::Now;
use edgecask_core::resp::write_request;
use edgecask_core::server::{NoFacts, Server, Settings, Shared};
use edgecask_core::session::{Peer, Session};
use tempfile::TempDir;

const NOW_MS: u64 = 1_700_000_000_000;
const NOW: Now = Now { unix_ms: NOW_MS, steady_ms: 0 };

/// So often a batch runs before allocations are counted, and while they are.
const WARM_UP: u32 = 10;
const COUNTED: u32 = 200;

/// Lengths of pipelines.
const PIPELINES: [usize; 2] = [1, 16];

/// A name, and the request with a number in its key.
type Case = (&'static str, fn(usize) -> Vec<u8>);

const CASES: [Case; 4] = [
    ("GET of a key that exists", |number| request(&["GET", &format!("key:{number}")])),
    ("GET of a key that does not", |number| request(&["GET", &format!("none:{number}")])),
    ("SET of a key that exists", |number| request(&["SET", &format!("key:{number}"), "xxx"])),
    ("SET to 2 kB", |number| request(&["SET", &format!("long:{number}"), &"x".repeat(2000)])),
];

fn request(arguments: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_request(arguments, &mut bytes);
    bytes
}

fn batch(make: fn(usize) -> Vec<u8>, pipeline: usize) -> Vec<u8> {
    (0..pipeline).flat_map(make).collect()
}

/// A store in files, as the gateway opens it, with the directory that goes when the test ends.
fn open() -> ((TempDir, DirectoryLock), Server<Store>) {
    let folder = tempfile::tempdir().expect("a directory");
    let Owned { store, lock } =
        store::open(folder.path(), &edgecask_core::bitcask::Options::default()).expect("opens");
    let shared = Shared::new(Settings::default(), Box::new(NoFacts), NOW_MS);
    ((folder, lock), Server { engine: store, shared })
}

/// Runs all cases; `run` serves one batch of requests.
fn check(mut run: impl FnMut(&[u8])) {
    let longest = *PIPELINES.iter().max().expect("there are some");
    for (_, set) in &CASES[2..] {
        run(&batch(*set, longest));
    }
    for (name, make) in CASES {
        for pipeline in PIPELINES {
            let requests = batch(make, pipeline);
            (0..WARM_UP).for_each(|_| run(&requests));
            let seen = allocation_counter::measure(|| (0..COUNTED).for_each(|_| run(&requests)));
            assert_eq!(seen.count_total, 0, "{name}, {pipeline} at a time, {COUNTED} times");
        }
    }
}

#[test]
fn sessions() {
    let (_kept, server) = open();
    let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
    check(|requests| {
        session.input().extend_from_slice(requests);
        let progress = session.process(&server, NOW_MS);
        assert!(progress.effects.is_empty() && session.input().is_empty());
        assert!(session.reply().as_bytes().first().is_some_and(|first| *first != b'-'), "no errors");
        session.reply().clear();
    });
    session.close(&server);
}

#[test]
fn connections() {
    let (_kept, server) = open();
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let mut client = std::net::TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
    let (stream, _) = listener.accept().expect("accepts");
    stream.set_nonblocking(true).expect("is a socket");
    let stream = mio::net::TcpStream::from_std(stream);
    let mut connection = Connection::new(stream, &server.shared, NOW);
    let mut buffers = Buffers::default();
    let mut replies = vec![0; 64 * 1024];
    check(|requests| {
        client.write_all(requests).expect("sends");
        // On one machine, too, bytes may come in pieces and late.
        let mut missing = requests.len();
        while missing > 0 {
            connection.is_readable = true;
            if let Received::Input(count) = connection.receive(&mut buffers, NOW).expect("receives") {
                connection.run(&server, NOW, u64::MAX);
                connection.give_back(&mut buffers);
                missing -= count;
            }
        }
        assert_eq!(connection.send(NOW).expect("sends"), Sent::All);
        assert!(client.read(&mut replies).expect("receives") > 0);
    });
    connection.close(&server);
}

#[test]
fn programs() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(folder.path(), &EmbeddedOptions::default()).expect("opens");
    let (mut connection, mut replies) = (store.connect(), Vec::with_capacity(64 * 1024));
    let mut run = |requests: &[u8]| {
        connection.write(requests);
        replies.clear();
        let polled = connection.poll_replies(&mut Context::from_waker(Waker::noop()), &mut replies);
        assert!(matches!(polled, Poll::Ready(Ok(()))), "replies are there");
        assert!(replies.first().is_some_and(|first| *first != b'-'), "no errors");
    };
    // Its clock is the machine's, which may do something else in the middle of a request: the log of slow ones would remember it.
    run(&request(&["CONFIG", "SET", "slowlog-log-slower-than", "-1"]));
    check(run);
}

#[test]
fn the_counter_counts() {
    let seen = allocation_counter::measure(|| drop(std::hint::black_box(vec![0_u8; 100])));
    assert_eq!(seen.count_total, 1);
}

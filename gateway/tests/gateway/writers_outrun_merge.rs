//! Writers that outrun merge are slowed by what they append to the log, and nobody else is.
//!
//! The servers here have no maintenance, so the brake stays where a test puts it.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgecask::brake::Debt;
use edgecask::gateway::Gateway;
use edgecask::limits::Deadlines;
use edgecask::store;
use edgecask::sync::Appendfsync;
use edgecask::workers::Workers;
use edgecask_core::server::{NoFacts, Server, Settings, Shared};
use tempfile::TempDir;

use crate::support::{Client, request};

const VALUE_BYTES: usize = 900_000;

/// One worker and its server.
struct Scene {
    gateway: Arc<Gateway>,
    workers: Option<Workers>,
    listener: TcpListener,
    _directory: TempDir,
}

impl Scene {
    fn new(policy: &str) -> Scene {
        let directory = tempfile::tempdir().expect("a directory");
        let engine = store::open(directory.path(), &Default::default()).expect("opens").store;
        let settings = Settings::default();
        settings.set("appendfsync", policy).expect("a policy");
        let shared = Shared::new(settings, Box::new(NoFacts), 0);
        let server = Server { engine, shared };
        let gateway = Arc::new(Gateway::new(
            server,
            Appendfsync::No,
            Deadlines::default(),
            false,
            Arc::default(),
            Arc::default(),
        ));
        let workers = Some(Workers::start(&gateway, 1).expect("threads"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        Scene { gateway, workers, listener, _directory: directory }
    }

    fn connect(&mut self) -> Client {
        let client = Client::connect(self.listener.local_addr().expect("bound"));
        let (stream, _): (TcpStream, _) = self.listener.accept().expect("accepts");
        self.gateway.connected.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.workers.as_mut().expect("running").assign(stream);
        client
    }

    /// Slows writers down to eight megabytes a second.
    fn brake(&self) {
        let debt = Debt { used_bytes: 5 << 30, live_bytes: 0, appended_bytes: u64::MAX / 2, now_ms: 1 };
        self.gateway.brake.observe(debt);
    }

    fn release(&self) {
        let debt = Debt { used_bytes: 0, live_bytes: 0, appended_bytes: u64::MAX / 2, now_ms: 1 };
        self.gateway.brake.observe(debt);
    }

    fn stop(&mut self) {
        self.workers.take().into_iter().for_each(Workers::stop);
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A transaction that appends some megabytes, and its reply.
fn transaction(sets: usize) -> (Vec<u8>, Vec<u8>) {
    let value = vec![b'x'; VALUE_BYTES];
    let mut requests = request(&[b"MULTI"]);
    let mut replies = b"+OK\r\n".to_vec();
    for number in 0..sets {
        requests.extend(request(&[b"SET", format!("key:{number}").as_bytes(), &value]));
        replies.extend_from_slice(b"+QUEUED\r\n");
    }
    requests.extend(request(&[b"EXEC"]));
    replies.extend_from_slice(format!("*{sets}\r\n").as_bytes());
    (0..sets).for_each(|_| replies.extend_from_slice(b"+OK\r\n"));
    (requests, replies)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn short_requests_that_write_long_values_are_not_slowed() {
    let mut scene = Scene::new("no");
    let (mut writer, mut reader) = (scene.connect(), scene.connect());
    writer.expect(&[b"SET", b"long", &vec![b'x'; VALUE_BYTES]], b"+OK\r\n");
    scene.brake();
    let begin = Instant::now();
    let appends: Vec<u8> = (0..5).flat_map(|_| request(&[b"APPEND", b"long", b"y"])).collect();
    writer.send(&appends);
    writer.stream.set_nonblocking(true).expect("a socket option");
    let mut pings = 0;
    let mut longest = Duration::ZERO;
    while writer.stream.peek(&mut [0]).is_err() {
        let begin = Instant::now();
        reader.expect(&[b"GET", b"none"], b"$-1\r\n");
        longest = longest.max(begin.elapsed());
        pings += 1;
    }
    assert!(pings > 3, "{pings} GETs, the longest of {longest:?}");
    writer.stream.set_nonblocking(false).expect("a socket option");
    for number in 1..=5 {
        assert_eq!(writer.line(), format!(":{}", VALUE_BYTES + number));
    }
    // Four and a half megabytes.
    let took = begin.elapsed();
    assert!((400..5000).contains(&took.as_millis()), "{took:?}");
}

#[test]
fn one_that_writes_much_is_read_while_it_rests() {
    for policy in ["no", "always"] {
        let mut scene = Scene::new(policy);
        let (mut writer, mut other) = (scene.connect(), scene.connect());
        scene.brake();
        let (requests, replies) = transaction(20);
        let begin = Instant::now();
        writer.send(&requests);
        // Read only when it has rested.
        writer.send(&request(&[b"GET", b"none"]));
        writer.expect_bytes(&replies);
        let took = begin.elapsed();
        assert!((950..5000).contains(&took.as_millis()), "{took:?}: held for a second");
        // One that writes little hardly notices.
        let small = Instant::now();
        other.expect(&[b"SET", b"key", b"value"], b"+OK\r\n");
        assert!(small.elapsed() < Duration::from_millis(500), "{:?}", small.elapsed());
        writer.expect_bytes(b"$-1\r\n");
        let took = begin.elapsed();
        assert!((2100..8000).contains(&took.as_millis()), "{took:?}: eighteen megabytes");
        let engine = &scene.gateway.server.engine;
        let must_be_synced = policy == "always";
        assert!(!must_be_synced || engine.synced() == engine.appended());
        wait_until("it has rested", || scene.gateway.brake.resting() == 0);
    }
}

#[test]
fn rest_goes_on_when_merge_has_caught_up() {
    let mut scene = Scene::new("no");
    let mut writer = scene.connect();
    scene.brake();
    let (requests, replies) = transaction(70);
    writer.send(&requests);
    writer.send(&request(&[b"GET", b"none"]));
    wait_until("it writes too fast", || scene.gateway.brake.resting() == 1);
    let begin = Instant::now();
    scene.release();
    writer.expect_bytes(&replies);
    writer.expect_bytes(b"$-1\r\n");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert_eq!(scene.gateway.brake.resting(), 0);
}

#[test]
fn held_replies_are_lost_or_waited_for_at_the_end() {
    let mut scene = Scene::new("no");
    let mut writer = scene.connect();
    scene.brake();
    let (requests, replies) = transaction(70);
    writer.send(&requests);
    wait_until("it writes too fast", || scene.gateway.brake.resting() == 1);
    let begin = Instant::now();
    scene.stop();
    assert!(begin.elapsed() < Duration::from_millis(900), "{:?}", begin.elapsed());
    writer.expect_bytes(&replies);
    assert_eq!(writer.rest(), "");
    assert_eq!(scene.gateway.brake.resting(), 0);
}

#[test]
fn peer_that_goes_is_counted_for_ever() {
    let mut scene = Scene::new("no");
    let mut killer = scene.connect();
    for is_killed in [false, true] {
        let mut writer = scene.connect();
        scene.brake();
        writer.send(&transaction(30).0);
        wait_until("it writes too fast", || scene.gateway.brake.resting() == 1);
        if is_killed {
            killer.expect(&[b"CLIENT", b"KILL", b"TYPE", b"normal", b"SKIPME", b"yes"], b":1\r\n");
            let begin = Instant::now();
            wait_until("a killed one rests no more", || scene.gateway.brake.resting() == 0);
            assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
        } else {
            drop(writer);
            wait_until("one that is gone rests no more", || scene.gateway.brake.resting() == 0);
        }
    }
}

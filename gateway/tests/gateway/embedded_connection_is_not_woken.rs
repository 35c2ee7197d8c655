//! Connections of a program to its own store: all that a server's clients can do, with no runtime and no sockets.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use edgecask::embedded::{Embedded, EmbeddedConnection, EmbeddedOptions};
use edgecask::sync::Appendfsync;

use crate::program::Caller;

fn memory() -> Embedded {
    Embedded::memory(&EmbeddedOptions::default()).expect("memory")
}

#[test]
fn blocked_connection_is_not_woken_by_a_push_or_its_time() {
    let store = memory();
    let other = store.clone();
    let waiting = std::thread::spawn(move || Caller::of(&other).say("BLPOP list 0"));
    let mut caller = Caller::of(&store);
    let begin = Instant::now();
    assert_eq!(caller.say("BLPOP none 0.05"), "nil");
    // Times are of whole milliseconds.
    assert!(begin.elapsed() >= Duration::from_millis(49), "{:?}", begin.elapsed());
    // It may not be waiting yet; then it finds the element.
    assert_eq!(caller.say("RPUSH list a"), "1");
    assert_eq!(waiting.join().expect("no panic"), "[list a]");
    // What is written behind a command that blocks waits for its end.
    caller.write(&[b"BLPOP", b"list", b"0"]);
    caller.write(&[b"PING"]);
    assert!(matches!(caller.poll(), Poll::Pending));
    assert_eq!(Caller::of(&store).say("RPUSH list b"), "1");
    assert_eq!((caller.hear(), caller.hear()), ("[list b]".into(), "PONG".into()));
}

#[test]
fn subscriber_hears_nothing() {
    let store = memory();
    let mut subscriber = Caller::of(&store);
    assert_eq!(subscriber.say("SUBSCRIBE news"), "[subscribe news 1]");
    let other = store.clone();
    let publishing = std::thread::spawn(move || {
        let mut caller = Caller::of(&other);
        (0..1000).for_each(|number| assert_eq!(caller.say(&format!("PUBLISH news {number}")), "1"));
    });
    for number in 0..1000 {
        assert_eq!(subscriber.hear(), format!("[message news {number}]"));
    }
    publishing.join().expect("no panic");
}

#[test]
fn command_of_a_server_is_missing() {
    let folder = tempfile::tempdir().expect("a directory");
    let always = EmbeddedOptions { appendfsync: Appendfsync::Always, ..EmbeddedOptions::default() };
    let in_files = Embedded::open(folder.path(), &always).expect("opens");
    for store in [memory(), in_files] {
        let (mut one, mut other) = (Caller::of(&store), Caller::of(&store));
        assert_eq!(one.say("WATCH w"), "OK");
        assert_eq!(other.say("SET w 1"), "OK");
        assert_eq!(
            (one.say("MULTI"), one.say("GET w"), one.say("EXEC")),
            ("OK".into(), "QUEUED".into(), "nil".into())
        );
        assert_eq!(
            (one.say("MULTI"), one.say("INCR w"), one.say("EXEC")),
            ("OK".into(), "QUEUED".into(), "[2]".into())
        );
        // Maintenance removes it, though nobody asks for it.
        assert_eq!(one.say("SET short 1 PX 20"), "OK");
        one.say_until("DBSIZE", "1");
        assert_eq!(one.ask(&[b"EVAL", b"return redis.call('INCR', KEYS[1])", b"1", b"n"]), "1");
        let library =
            b"#!lua name=l\nredis.register_function('tick', function() redis.call('INCR', 'ticks') end)";
        assert_eq!(one.ask(&[b"FUNCTION", b"LOAD", library]), "l");
        assert_eq!(one.say("CRON CREATE c EVERY 5 CALL tick"), "OK");
        one.say_until("EXISTS ticks", "1");
        assert_eq!(one.say("CRON DROP c"), "OK");
        assert_eq!(one.say("TRIGGER CREATE t ON all PREFIX user: CALL tick"), "OK");
        assert_eq!(one.say("SET ticks 0"), "OK");
        assert_eq!((one.say("SET user:1 a"), one.say("GET ticks")), ("OK".into(), "1".into()));
        let text = b"CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)";
        assert_eq!(one.ask(&[b"SQL.EXEC", b"db", text]), "2");
        let shown = one.ask(&[b"SQL.QUERY", b"db", b"SELECT sum(a) FROM t"]);
        assert!(shown.contains('3'), "{shown}");
        assert_eq!(one.say("CONFIG SET maxmemory 1 maxmemory-policy allkeys-lru"), "OK");
        one.say_until("EXISTS n", "0");
        assert_eq!(one.say("CONFIG SET maxmemory 0"), "OK");
        let told = one.say("SHUTDOWN");
        assert!(told.starts_with("-ERR this store is part of a program"), "{told}");
        let told = one.say("CONFIG REWRITE");
        assert!(told.starts_with("-ERR The server is running without a config file"), "{told}");
        assert_eq!(one.say("DEBUG RELOAD").get(..4), Some("-ERR"));
        assert_eq!(one.say("QUIT"), "OK");
        assert!(one.wait().is_err());
        assert_eq!(other.say("CLIENT KILL TYPE normal SKIPME yes"), "0");
        assert_eq!(other.say("CLIENT LIST").lines().count(), 1);
    }
}

#[test]
fn request_that_takes_long_keeps_others_waiting() {
    let store = memory();
    // On a machine with much other work all this takes longer than requests wait for a script.
    assert_eq!(Caller::of(&store).say("CONFIG SET busy-reply-threshold 0"), "OK");
    let other = store.clone();
    let running = std::thread::spawn(move || {
        let mut caller = Caller::of(&other);
        caller.ask(&[b"EVAL", b"redis.call('GET', KEYS[1]) while true do end", b"1", b"held"])
    });
    let (mut caller, mut third) = (Caller::of(&store), Caller::of(&store));
    while !third.say("FUNCTION STATS").contains("duration_ms") {
        std::thread::yield_now();
    }
    // Its key is locked by the thread that runs it, and this one does not wait there.
    caller.write(&[b"HSET", b"held", b"a", b"1"]);
    assert!(matches!(caller.poll(), Poll::Pending));
    assert_eq!(third.say("SET free 1"), "OK");
    assert_eq!(third.say("SCRIPT KILL"), "OK");
    assert_eq!(caller.hear(), "1");
    let told = running.join().expect("no panic");
    assert!(told.contains("killed by user"), "{told}");
}

/// A task that ends when it is woken, as one of a runtime may.
struct Task(Mutex<Option<EmbeddedConnection>>);

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let connection = self.0.lock().expect("no panic").take();
        drop(connection);
    }
}

#[test]
fn last_connection_that_ends_in_a_thread_of_the_store_keeps_it_open() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(folder.path(), &EmbeddedOptions::default()).expect("opens");
    let task = Arc::new(Task(Mutex::new(None)));
    let waker = Waker::from(task.clone());
    let mut connection = store.connect();
    connection.write(b"BLPOP none 0.05\r\n");
    {
        // Who wakes it waits until it is there.
        let mut slot = task.0.lock().expect("no panic");
        let polled = connection.poll_replies(&mut Context::from_waker(&waker), &mut Vec::new());
        assert!(polled.is_pending());
        *slot = Some(connection);
    }
    drop((store, task, waker));
    let begin = Instant::now();
    while Embedded::open(folder.path(), &EmbeddedOptions::default()).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the directory is locked");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn huge_argument_is_in_memory() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(folder.path(), &EmbeddedOptions::default()).expect("opens");
    let mut caller = Caller::of(&store);
    let value = vec![b'x'; 20_000_000];
    caller.write(&[b"PING"]);
    caller.write(&[b"SET", b"huge", &value]);
    assert_eq!((caller.hear(), caller.hear()), ("PONG".into(), "OK".into()));
    assert_eq!(caller.say("STRLEN huge"), "20000000");
    let info = caller.say("INFO clients");
    let largest = info.lines().find_map(|line| line.strip_prefix("client_recent_max_input_buffer:"));
    assert!(
        largest.is_none_or(|largest| largest.parse::<u64>().is_ok_and(|bytes| bytes < 2_000_000)),
        "{info}"
    );
}

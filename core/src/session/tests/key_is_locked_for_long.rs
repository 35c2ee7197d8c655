//! A transaction holds the lock of a key for long. Requests for that key wait without keeping their thread, all others go on,
//! and once a script keeps the server busy those that wait are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use crate::bitcask::{Bitcask, Options, Snapshot};
use crate::engine::{Admin, Engine, Reader, Scope};
use crate::executor::Expiry;
use crate::resp::write_request;
use crate::server::scripts::ScriptKind;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Progress, Session};
use crate::storage::Simulation;

const NOW_MS: u64 = 1_700_000_000_000;

const BUSY: &str =
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n";

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// One connection of a worker.
struct Connection {
    session: Session,
    bell: Arc<Bell>,
}

impl Connection {
    fn new(server: &Server<Bitcask>) -> Connection {
        let mut session = Session::new(&server.shared, Peer::default(), 1, NOW_MS);
        session.set_hands_over(true);
        let bell = Arc::new(Bell::default());
        session.set_waker(Waker::from(bell.clone()));
        Connection { session, bell }
    }

    fn run(&mut self, server: &Server<Bitcask>, requests: &[&str]) -> (String, Progress) {
        for request in requests {
            let words: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
            write_request(&words, self.session.input());
        }
        let progress = self.session.process(server, NOW_MS);
        (self.replies(), progress)
    }

    fn replies(&mut self) -> String {
        String::from_utf8_lossy(&self.session.reply().take().expect("memory is read")).into_owned()
    }

    /// Runs requests that have to wait behind these replies.
    fn waits(&mut self, server: &Server<Bitcask>, requests: &[&str], replies: &str) {
        let rung = self.bell.0.load(Ordering::SeqCst);
        let (replied, progress) = self.run(server, requests);
        assert_eq!(replied, replies, "{requests:?}");
        assert!(progress.is_suspended && !progress.takes_long, "{requests:?}");
        assert!(!self.session.has_mail() && self.session.is_waiting());
        assert_eq!(self.bell.0.load(Ordering::SeqCst), rung);
    }

    fn goes_on(&mut self, server: &Server<Bitcask>, replies: &str) {
        assert!(self.session.has_mail(), "it is woken");
        let (replied, progress) = self.run(server, &[]);
        assert_eq!((replied.as_str(), progress.is_suspended), (replies, false));
        assert!(!self.session.is_waiting());
    }
}

fn server() -> Server<Bitcask> {
    let storage = Arc::new(Simulation::new(1).open().expect("a healthy device"));
    let engine = Bitcask::open(storage, &Options::default()).expect("opens").store;
    let settings = Settings::new(&[]).expect("settings");
    Server { engine, shared: Shared::new(settings, Box::new(NoFacts), NOW_MS) }
}

fn hold<'s>(server: &'s Server<Bitcask>, keys: &[&[u8]]) -> Snapshot<'s> {
    let mut holder = server.engine.begin(Scope::Keys(keys)).expect("a healthy store");
    holder.hold_for_long();
    holder
}

#[test]
fn key_is_locked_for_long() {
    let server = server();
    let (mut one, mut other) = (Connection::new(&server), Connection::new(&server));
    one.run(&server, &["SET held 1", "SET free 2", "RPUSH list a b c"]);
    for (requests, replies) in [
        (&["GET held"] as &[&str], "$1\r\n1\r\n"),
        (&["SET held 1"], "+OK\r\n"),
        (&["SET held 1 KEEPTTL", "GET held"], "+OK\r\n$1\r\n1\r\n"),
        (&["APPEND held 2", "SETRANGE held 1 x", "SET held 1"], ":2\r\n:2\r\n+OK\r\n"),
        (&["HSET hash a 1", "TYPE held", "HSET hash a 2"], ":1\r\n+string\r\n:0\r\n"),
        (&["MGET free held"], "*2\r\n$1\r\n2\r\n$1\r\n1\r\n"),
        (&["WATCH held", "UNWATCH"], "+OK\r\n+OK\r\n"),
        (&["MULTI", "GET held", "EXEC"], "*1\r\n$1\r\n1\r\n"),
        (&["DBSIZE"], ":4\r\n"),
        (&["OBJECT ENCODING held"], "$3\r\nint\r\n"),
    ] {
        let holder = hold(&server, &[b"held", b"hash"]);
        let early = if requests[0] == "MULTI" { "+OK\r\n+QUEUED\r\n" } else { "" };
        one.waits(&server, requests, early);
        let (replied, _) =
            other.run(&server, &["PING", "GET free", "SET free 2", "RPUSH list d", "RPOP list"]);
        assert_eq!(replied, "+PONG\r\n$1\r\n2\r\n+OK\r\n:4\r\n$1\r\nd\r\n");
        drop(holder);
        one.goes_on(&server, replies);
        one.run(&server, &["DEL hash", "HSET hash b 1"]);
    }
    // One that has gone is not waited for.
    let holder = hold(&server, &[b"held"]);
    one.waits(&server, &["GET held"], "");
    one.session.close(&server);
    let rung = one.bell.0.load(Ordering::SeqCst);
    drop(holder);
    assert_eq!(one.bell.0.load(Ordering::SeqCst), rung);
}

/// What runs where it may take its time marks its locks, and gives its place up where it would have to wait.
#[test]
fn long_request_does_not_say_so() {
    let server = server();
    let (mut one, mut other) = (Connection::new(&server), Connection::new(&server));
    let mut push = "RPUSH list".to_string();
    (0..crate::limits::LONG_WORK_ELEMENTS).for_each(|number| push.push_str(&format!(" {number}")));
    assert!(one.run(&server, &[&push]).1.takes_long);
    let progress = one.session.process_at_length(&server, NOW_MS);
    assert!(!progress.takes_long && !progress.is_suspended);
    one.replies();
    assert!(one.run(&server, &["SORT list LIMIT 0 1"]).1.takes_long);
    let holder = hold(&server, &[b"list"]);
    let progress = one.session.process_at_length(&server, NOW_MS);
    assert!(progress.is_suspended && !progress.takes_long, "its thread is free again");
    other.waits(&server, &["LLEN list"], "");
    drop(holder);
    assert!(one.session.has_mail());
    assert!(one.run(&server, &[]).1.takes_long);
    one.session.process_at_length(&server, NOW_MS);
    assert_eq!(one.replies(), "*1\r\n$1\r\n0\r\n");
    other.goes_on(&server, ":8192\r\n");
}

#[test]
fn busy_server_does_not_say_so() {
    let server = server();
    let [mut one, mut queue, mut watch, mut exec, mut other] = [(); 5].map(|()| Connection::new(&server));
    one.run(&server, &["SET held 1", "SET free 2"]);
    let holder = hold(&server, &[b"held"]);
    one.waits(&server, &["GET held", "GET free"], "");
    queue.run(&server, &["MULTI", "GET held"]);
    watch.waits(&server, &["WATCH held"], "");
    exec.waits(&server, &["MULTI", "SET free 4", "GET held", "EXEC"], "+OK\r\n+QUEUED\r\n+QUEUED\r\n");
    server.shared.loading.begin_busy(ScriptKind::Script);
    server.engine.wake_waiting();
    one.goes_on(&server, &BUSY.repeat(2));
    watch.goes_on(&server, BUSY);
    let aborted = "-EXECABORT Transaction discarded because of: BUSY Redis is busy running a script. You can only call SCRIPT \
                   KILL or SHUTDOWN NOSAVE.\r\n";
    exec.goes_on(&server, aborted);
    assert_eq!(exec.run(&server, &["DISCARD"]).0, "-ERR DISCARD without MULTI\r\n");
    assert_eq!(
        queue.run(&server, &["EXEC", "DISCARD"]).0,
        format!("{aborted}-ERR DISCARD without MULTI\r\n")
    );
    assert_eq!(queue.run(&server, &["MULTI", "GET free", "DISCARD"]).0, format!("+OK\r\n{BUSY}+OK\r\n"));
    for refused in ["PING", "SET free 3", "INFO", "SUBSCRIBE channel", "SHUTDOWN", "DBSIZE"] {
        assert_eq!(other.run(&server, &[refused]).0, BUSY, "{refused}");
    }
    let arity = "-ERR wrong number of arguments for 'get' command\r\n";
    assert_eq!(other.run(&server, &["WATCH free", "UNWATCH", "GET"]).0, format!("+OK\r\n+OK\r\n{arity}"));
    // A second one that is busy, and ends first.
    server.shared.loading.begin_busy(ScriptKind::Function);
    server.shared.loading.end_busy(ScriptKind::Function);
    assert_eq!(other.run(&server, &["PING"]).0, BUSY);
    server.shared.loading.end_busy(ScriptKind::Script);
    assert_eq!(other.run(&server, &["PING", "GET free"]).0, "+PONG\r\n$1\r\n2\r\n");
    server.shared.loading.begin_busy(ScriptKind::Function);
    assert_eq!(other.run(&server, &["PING"]).0, BUSY.replace("SCRIPT KILL", "FUNCTION KILL"));
    server.shared.loading.end_busy(ScriptKind::Function);
    drop(holder);
    assert_eq!(one.run(&server, &["GET held"]).0, "$1\r\n1\r\n");
}

/// The command of a blocked connection finds its other key locked: the connection goes on waiting, however busy the server is.
#[test]
fn blocked_connection_is_refused() {
    let server = server();
    let (mut blocked, mut pushing) = (Connection::new(&server), Connection::new(&server));
    blocked.run(&server, &["BLMOVE source target LEFT LEFT 0"]);
    let holder = hold(&server, &[b"target"]);
    pushing.waits(&server, &["RPUSH source a", "PING"], ":1\r\n");
    server.shared.loading.begin_busy(ScriptKind::Script);
    server.engine.wake_waiting();
    let (replied, progress) = pushing.run(&server, &[]);
    assert_eq!((replied.as_str(), progress.is_suspended), ("", true));
    server.shared.loading.end_busy(ScriptKind::Script);
    drop(holder);
    pushing.goes_on(&server, "+PONG\r\n");
    assert_eq!(blocked.run(&server, &[]).0, "$1\r\na\r\n");
}

/// Keys whose time has come, in a shard that is locked and in others.
#[test]
fn expiry_waits_for_a_lock() {
    let server = server();
    let mut one = Connection::new(&server);
    for number in 0..300 {
        one.run(&server, &[&format!("SET {number} x PX 1")]);
    }
    let holder = hold(&server, &[b"7"]);
    let mut expiry = Expiry::new(&server.shared);
    for _ in 0..100 {
        assert!(!expiry.step(&server, NOW_MS + 10, 100).expect("healthy").is_suspended);
    }
    drop(holder);
    let left = server.engine.begin(Scope::Everything).expect("healthy").key_count(0).expect("healthy");
    assert!(0 < left && left < 50, "{left} keys are left");
    for _ in 0..100 {
        expiry.step(&server, NOW_MS + 10, 100).expect("healthy");
    }
    assert_eq!(one.run(&server, &["DBSIZE"]).0, ":0\r\n");
}

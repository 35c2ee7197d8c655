//! While one request holds the locks of its keys for long, requests for these keys wait; workers, and the threads for other long
//! requests, do not.

use std::time::{Duration, Instant};

use crate::support::{Client, Server, request};

/// For how long the locks are held.
const HELD: Duration = Duration::from_secs(2);

/// Enough commands for EXEC to be run where it may take its time.
const QUEUED: usize = 8 * 1024;

/// Holds the lock of a key from now on for [`HELD`]: a transaction in which the server sleeps, on a thread for long requests.
fn hold(server: &Server, key: &[u8]) -> Client {
    let mut holder = server.connect();
    let mut requests = request(&[b"MULTI"]);
    requests.extend(request(&[b"DEBUG", b"SLEEP", HELD.as_secs().to_string().as_bytes()]));
    let filler = request(&[b"EXISTS", key]);
    (1..QUEUED).for_each(|_| requests.extend(&filler));
    holder.send(&requests);
    holder.expect_bytes(b"+OK\r\n");
    (0..QUEUED).for_each(|_| holder.expect_bytes(b"+QUEUED\r\n"));
    holder.send(&request(&[b"EXEC"]));
    // Until it has the lock others do not wait for it.
    let begin = Instant::now();
    while is_answered(server, key) {
        assert!(begin.elapsed() < HELD, "EXEC does not begin");
    }
    holder
}

/// Whether a GET is answered at once, as it is while nobody holds the lock of its key.
fn is_answered(server: &Server, key: &[u8]) -> bool {
    let mut client = server.connect();
    client.stream.set_read_timeout(Some(HELD / 10)).expect("a socket option");
    client.send(&request(&[b"GET", key]));
    std::io::Read::read_exact(&mut client.stream, &mut [0; 5]).is_ok()
}

/// A key that does not share its lock with one that is held: which keys do depends on the store's seed.
fn free_key(server: &Server) -> String {
    let mut keys = (0..5).map(|number| format!("free {number}"));
    keys.find(|key| is_answered(server, key.as_bytes())).expect("one of so many")
}

/// Whether nothing has come for a client.
fn is_silent(client: &Client) -> bool {
    client.stream.set_nonblocking(true).expect("a socket option");
    let nothing = client.stream.peek(&mut [0]).is_err();
    client.stream.set_nonblocking(false).expect("a socket option");
    nothing
}

type Requests<'r> = &'r [&'r [&'r [u8]]];

fn check(threads: usize) {
    let server = Server::start(&format!("--threads {threads} --enable-debug-command yes"));
    let mut clients: Vec<Client> = (0..8).map(|_| server.connect()).collect();
    clients[0].expect(&[b"SET", b"key", b"held"], b"+OK\r\n");
    let mut holder = hold(&server, b"key");
    let free = free_key(&server);
    let free = free.as_bytes();
    clients[0].expect(&[b"SET", free, b"2"], b"+OK\r\n");
    // Some for each way to wait, on every worker.
    let requests: &[(Requests<'_>, &[u8])] = &[
        (&[&[b"GET", b"key"], &[b"PING"]], b"$4\r\nheld\r\n+PONG\r\n"),
        (&[&[b"SET", b"key", b"held"]], b"+OK\r\n"),
        (&[&[b"SETRANGE", b"key", b"0", b"h"], &[b"SETRANGE", b"key", b"1", b"e"]], b":4\r\n:4\r\n"),
        (&[&[b"MGET", free, b"key"]], b"*2\r\n$1\r\n2\r\n$4\r\nheld\r\n"),
        (&[&[b"DBSIZE"]], b":2\r\n"),
        (&[&[b"WATCH", b"key"]], b"+OK\r\n"),
    ];
    let mut waiting = Vec::new();
    for (requests, replies) in requests {
        for _ in 0..4 {
            let mut client = server.connect();
            let bytes: Vec<u8> = requests.iter().flat_map(|command| request(command)).collect();
            client.send(&bytes);
            waiting.push((client, *replies));
        }
    }
    let mut gone = server.connect();
    gone.send(&request(&[b"GET", b"key"]));
    drop(gone);
    let mut took = Vec::new();
    while is_silent(&holder) {
        for client in &mut clients {
            for (command, reply) in [
                (&[b"PING".as_slice()] as &[&[u8]], b"+PONG\r\n".as_slice()),
                (&[b"GET", free], b"$1\r\n2\r\n"),
                (&[b"SET", free, b"2"], b"+OK\r\n"),
            ] {
                let begin = Instant::now();
                client.expect(command, reply);
                took.push(begin.elapsed());
            }
        }
    }
    took.sort_unstable();
    let at = |percent: usize| took[(took.len() - 1) * percent / 100];
    let text = format!("{} requests took {:?}, p99 {:?}, most {:?}", took.len(), at(50), at(99), at(100));
    println!("{threads} workers: {text}");
    // A worker that waits for the lock serves none of them before the end.
    assert!(took.len() > 1000 && at(99) < HELD / 20 && at(100) < HELD / 2, "{text}");
    let begin = Instant::now();
    for (mut client, replies) in waiting {
        client.expect_bytes(replies);
    }
    assert!(begin.elapsed() < HELD / 2, "they went on when the holder had ended");
    holder.expect_bytes(format!("*{QUEUED}\r\n+OK\r\n:1\r\n").as_bytes());
}

#[test]
fn worker_waits_for_a_lock() {
    check(2);
}

#[test]
fn only_worker_waits_for_a_lock() {
    check(1);
}

/// Long requests that wait for a lock, and others that run for long, leave threads to those which could run.
#[test]
fn long_requests_wait_for_those_that_wait() {
    let server = Server::start("--threads 1 --enable-debug-command yes");
    let members: Vec<Vec<u8>> = (0..9000).map(|number| format!("{number}").into_bytes()).collect();
    let push = |key: &[u8]| {
        let mut push = vec![b"RPUSH".as_slice(), key];
        push.extend(members.iter().map(Vec::as_slice));
        request(&push)
    };
    let mut client = server.connect();
    client.send(&push(b"list"));
    client.expect_bytes(b":9000\r\n");
    // More than there are usual threads.
    let holders: Vec<Client> =
        [b"held".as_slice(), b"other", b"list"].into_iter().map(|key| hold(&server, key)).collect();
    let free = free_key(&server);
    let mut all: Vec<Client> = (0..8).map(|_| server.connect()).collect();
    for waiting in &mut all {
        waiting.send(&request(&[b"SORT", b"list", b"LIMIT", b"0", b"1"]));
    }
    let begin = Instant::now();
    client.send(&push(free.as_bytes()));
    client.expect_bytes(b":9000\r\n");
    assert!(begin.elapsed() < HELD / 2, "{:?}", begin.elapsed());
    assert!(is_silent(&holders[2]), "the test was too slow for what it shows");
    for mut waiting in all {
        waiting.expect_bytes(b"*1\r\n$1\r\n0\r\n");
    }
}

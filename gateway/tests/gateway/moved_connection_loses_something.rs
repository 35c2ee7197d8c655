//! Connections that move between workers lose, repeat or reorder something.
//!
//! A thread changes all the time how many workers serve, so that connections move between nearly any two of their requests.

use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Client, Server, request};

/// How long each scene goes on; long enough for hundreds of moves.
const SCENE: Duration = Duration::from_millis(700);

/// Moves that a scene sees at least, or it says nothing.
const MOVES_MIN: u64 = 30;

/// Runs a scene while connections move between three workers.
fn while_moving(flags: &str, scene: impl FnOnce(&Server, &dyn Fn() -> bool)) {
    let server = Server::start(&format!("--threads 3 {flags}"));
    let spread = server.gateway().spread.clone();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for serving in [1, 3, 2, 1, 2, 3].into_iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                spread.hold(serving);
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        let end = End(&is_over);
        let begin = Instant::now();
        let goes_on =
            || begin.elapsed() < SCENE || spread.moved() < MOVES_MIN && begin.elapsed() < 20 * SCENE;
        scene(&server, &goes_on);
        drop(end);
    });
    assert!(spread.moved() >= MOVES_MIN, "only {} connections moved", spread.moved());
}

/// Ends the other thread, also where the scene panics.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The number in a reply.
fn integer(client: &mut Client) -> i64 {
    let line = client.line();
    line.strip_prefix(':').and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

fn pipelines_are_answered(flags: &str) {
    while_moving(flags, |server, goes_on| {
        let mut clients: Vec<Client> = (0..6).map(|_| server.connect()).collect();
        let mut rounds = 0;
        while goes_on() {
            let mut halves = Vec::new();
            for (number, client) in clients.iter_mut().enumerate() {
                let requests = request(&[b"INCR", format!("counter:{number}").as_bytes()]).repeat(20);
                // Somewhere in the middle of a request.
                let cut = 1 + (rounds * 37 + number) % (requests.len() - 1);
                client.send(&requests[..cut]);
                halves.push(requests[cut..].to_vec());
            }
            for (client, half) in clients.iter_mut().zip(&halves) {
                client.send(half);
            }
            for client in &mut clients {
                let counts: Vec<i64> = (0..20).map(|_| integer(client)).collect();
                let first = rounds as i64 * 20 + 1;
                assert_eq!(counts, (first..first + 20).collect::<Vec<_>>());
            }
            rounds += 1;
        }
    });
}

#[test]
fn replies_are_lost_or_come_in_another_order() {
    pipelines_are_answered("");
}

#[test]
fn replies_that_wait_for_the_disk_are_lost() {
    pipelines_are_answered("--appendfsync always");
}

#[test]
fn blocked_client_is_not_answered() {
    while_moving("", |server, goes_on| {
        let (mut blocked, mut other) = (server.connect(), server.connect());
        let mut number = 0;
        while goes_on() {
            let value = format!("{number}");
            blocked.send(&request(&[b"BLPOP", b"list", b"0"]));
            // Sometimes it waits already, and sometimes it moves at this moment.
            if number % 3 == 0 {
                other.expect(&[b"PING"], b"+PONG\r\n");
            }
            other.send(&request(&[b"RPUSH", b"list", value.as_bytes()]));
            blocked.expect_bytes(format!("*2\r\n$4\r\nlist\r\n${}\r\n{value}\r\n", value.len()).as_bytes());
            integer(&mut other);
            number += 1;
        }
    });
}

#[test]
fn time_of_a_blocked_client_does_not_pass() {
    while_moving("", |server, goes_on| {
        let mut clients: Vec<Client> = (0..6).map(|_| server.connect()).collect();
        while goes_on() {
            for client in &mut clients {
                client.send(&request(&[b"BLPOP", b"nothing", b"0.005"]));
            }
            clients.iter_mut().for_each(|client| client.expect_bytes(b"*-1\r\n"));
        }
    });
}

#[test]
fn messages_are_lost_or_come_in_another_order() {
    while_moving("", |server, goes_on| {
        let mut subscribers: Vec<Client> = (0..3).map(|_| server.connect()).collect();
        for subscriber in &mut subscribers {
            subscriber.expect(&[b"SUBSCRIBE", b"news"], b"*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
        }
        let mut publisher = server.connect();
        let mut number = 0;
        while goes_on() {
            let mut messages = Vec::new();
            let mut expected = Vec::new();
            for _ in 0..10 {
                let message = format!("{number:08}");
                messages.extend(request(&[b"PUBLISH", b"news", message.as_bytes()]));
                expected
                    .extend(format!("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$8\r\n{message}\r\n").into_bytes());
                number += 1;
            }
            publisher.send(&messages);
            publisher.expect_bytes(&b":3\r\n".repeat(10));
            subscribers.iter_mut().for_each(|subscriber| subscriber.expect_bytes(&expected));
        }
    });
}

#[test]
fn transaction_or_watched_key_is_forgotten() {
    while_moving("", |server, goes_on| {
        let (mut client, mut other) = (server.connect(), server.connect());
        while goes_on() {
            client.expect(&[b"SET", b"key", b"1"], b"+OK\r\n");
            client.expect(&[b"WATCH", b"key"], b"+OK\r\n");
            client.expect(&[b"MULTI"], b"+OK\r\n");
            client.expect(&[b"INCR", b"key"], b"+QUEUED\r\n");
            client.expect(&[b"EXEC"], b"*1\r\n:2\r\n");
            client.expect(&[b"WATCH", b"key"], b"+OK\r\n");
            other.expect(&[b"APPEND", b"key", b"0"], b":2\r\n");
            client.expect(&[b"MULTI"], b"+OK\r\n");
            client.expect(&[b"INCR", b"key"], b"+QUEUED\r\n");
            client.expect(&[b"EXEC"], b"*-1\r\n");
        }
    });
}

#[test]
fn settings_of_a_client_are_forgotten() {
    while_moving("", |server, goes_on| {
        let mut clients: Vec<(Client, i64)> = Vec::new();
        for _ in 0..4 {
            let mut client = server.connect();
            client.send(&request(&[b"CLIENT", b"ID"]));
            let id = integer(&mut client);
            client.expect(&[b"SELECT", b"3"], b"+OK\r\n");
            client.expect(&[b"CLIENT", b"NO-EVICT", b"on"], b"+OK\r\n");
            client.expect(&[b"CLIENT", b"SETNAME", b"mover"], b"+OK\r\n");
            clients.push((client, id));
        }
        while goes_on() {
            for (client, id) in &mut clients {
                client.send(&request(&[b"CLIENT", b"ID"]));
                assert_eq!(integer(client), *id);
                client.expect(&[b"CLIENT", b"GETNAME"], b"$5\r\nmover\r\n");
                client.send(&request(&[b"CLIENT", b"INFO"]));
                client.line();
                let info = client.line();
                assert!(info.contains(" db=3 ") && info.contains(" flags=e "), "{info}");
            }
        }
    });
}

#[test]
fn killed_client_lives_on() {
    while_moving("", |server, goes_on| {
        let mut killer = server.connect();
        while goes_on() {
            let mut clients: Vec<Client> = (0..4).map(|_| server.connect()).collect();
            let mut ids = Vec::new();
            for client in &mut clients {
                client.send(&request(&[b"CLIENT", b"ID"]));
                ids.push(integer(client).to_string());
            }
            for _ in 0..5 {
                clients.iter_mut().for_each(|client| client.expect(&[b"PING"], b"+PONG\r\n"));
            }
            for (client, id) in clients.iter_mut().zip(&ids) {
                // It may move as it is being killed.
                client.send(&request(&[b"BLPOP", b"nothing", b"0"]));
                killer.expect(&[b"CLIENT", b"KILL", b"ID", id.as_bytes()], b":1\r\n");
            }
            for client in &mut clients {
                // Reset instead of ended, if the server had not read its last request.
                match client.stream.read(&mut [0]) {
                    Ok(0) => {}
                    Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
                    other => panic!("{other:?}"),
                }
            }
        }
    });
}

#[test]
fn request_that_takes_long_loses_its_connection() {
    while_moving("", |server, goes_on| {
        let mut client = server.connect();
        for part in 0..3 {
            let members: Vec<Vec<u8>> =
                (0..10_000).map(|number| format!("{}", number * 7 + part).into_bytes()).collect();
            let mut command = vec![b"RPUSH".as_slice(), b"list"];
            command.extend(members.iter().map(Vec::as_slice));
            client.send(&request(&command));
            integer(&mut client);
        }
        let mut clients: Vec<Client> = (0..3).map(|_| server.connect()).collect();
        while goes_on() {
            let sorts =
                [request(&[b"SORT", b"list", b"STORE", b"sorted"]), request(&[b"LLEN", b"sorted"])].concat();
            clients.iter_mut().for_each(|client| client.send(&sorts));
            clients.iter_mut().for_each(|client| client.expect_bytes(b":30000\r\n:30000\r\n"));
            for _ in 0..20 {
                clients.iter_mut().for_each(|client| client.expect(&[b"PING"], b"+PONG\r\n"));
            }
        }
    });
}

#[test]
fn reply_longer_than_the_sockets_buffers_is_cut() {
    while_moving("", |server, goes_on| {
        let mut client = server.connect();
        client.expect(&[b"SET", b"key", &[b'x'; 700_000]], b"+OK\r\n");
        let mut clients: Vec<Client> = (0..3).map(|_| server.connect()).collect();
        let reply = [b"$700000\r\n", &[b'x'; 700_000][..], b"\r\n"].concat();
        while goes_on() {
            clients.iter_mut().for_each(|client| client.send(&request(&[b"GET", b"key"]).repeat(8)));
            for client in &mut clients {
                (0..8).for_each(|_| client.expect_bytes(&reply));
            }
            for _ in 0..20 {
                clients.iter_mut().for_each(|client| client.expect(&[b"PING"], b"+PONG\r\n"));
            }
        }
    });
}

#[test]
fn info_says_that_other_workers_serve() {
    let server = Server::start("--threads 2");
    let mut client = server.connect();
    for (serving, active) in [(1, 0), (2, 1)] {
        server.gateway().spread.hold(serving);
        client.send(&request(&[b"INFO", b"server"]));
        let length: usize = client.line()[1..].parse().expect("a length");
        let mut text = vec![0; length + 2];
        client.stream.read_exact(&mut text).expect("the text");
        let text = String::from_utf8_lossy(&text);
        for line in [
            format!("io_threads_active:{active}\r\n"),
            "worker_threads:2\r\n".into(),
            format!("worker_threads_serving:{serving}\r\n"),
        ] {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
    }
}

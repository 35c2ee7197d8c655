//! `maxmemory` and `maxmemory-clients` over real sockets, of every protocol and of several threads.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use edgecask::web::protocol::Protocol;
use edgecask_core::executor::used_bytes;
use tokio_tungstenite::tungstenite::{Message, connect};

use crate::support::{Client, Server, request};

const MAX_BYTES: u64 = 1_250_000;
/// So many keys take more than twice the limit.
const MANY: usize = 80_000;
const BATCH: usize = 1000;

/// No step takes longer on a healthy machine; it only bounds how long a broken one hangs.
const PATIENCE: Duration = Duration::from_secs(30);

fn cache(policy: &str) -> Server {
    let server = Server::start("");
    let most = MAX_BYTES.to_string();
    let words =
        [b"CONFIG".as_slice(), b"SET", b"maxmemory", most.as_bytes(), b"maxmemory-policy", policy.as_bytes()];
    server.connect().expect(&words, b"+OK\r\n");
    server
}

/// Keys went, and no more is in use than that. A thread evicts before a command, so each may be one command ahead.
fn check(server: &Server) {
    let server = &server.gateway().server;
    let (used, evicted) = (used_bytes(server), server.shared.memory.evicted_keys.load(Ordering::Relaxed));
    assert!(used <= MAX_BYTES * 11 / 10, "{used} bytes");
    assert!(evicted > MANY as u64 / 4, "{evicted} keys");
}

#[test]
fn several_threads_take_more_than_one_may() {
    for policy in ["allkeys-lru", "allkeys-lfu", "volatile-random"] {
        let server = cache(policy);
        thread::scope(|scope| {
            for number in 0..4 {
                let mut client = server.connect();
                scope.spawn(move || {
                    for from in (0..MANY / 4).step_by(BATCH) {
                        let requests = (from..from + BATCH).flat_map(|n| {
                            let key = format!("key:{number}:{n}");
                            request(&[b"SET".as_slice(), key.as_bytes(), b"value", b"EX", b"1000"])
                        });
                        client.send(&requests.collect::<Vec<u8>>());
                        client.expect_bytes(&b"+OK\r\n".repeat(BATCH));
                    }
                });
            }
        });
        check(&server);
    }
}

#[test]
fn web_socket_takes_what_it_likes() {
    let server = cache("allkeys-lru");
    let address = format!("ws://{}/resp", server.web_address(Protocol::Http));
    let (mut socket, _) = connect(address).expect("a web socket");
    for from in (0..MANY).step_by(BATCH) {
        let requests = (from..from + BATCH)
            .flat_map(|n| request(&[b"SET".as_slice(), format!("key:{n}").as_bytes(), b"value"]));
        socket.send(Message::binary(requests.collect::<Vec<u8>>())).expect("sends");
        let mut received = Vec::new();
        while received.len() < 5 * BATCH {
            match socket.read().expect("replies") {
                Message::Binary(bytes) => received.extend_from_slice(&bytes),
                other => panic!("{other:?} instead of replies"),
            }
        }
        assert!(received == b"+OK\r\n".repeat(BATCH), "{}", String::from_utf8_lossy(&received));
    }
    check(&server);
}

#[test]
fn rest_request_takes_what_it_likes() {
    let server = cache("allkeys-random");
    for from in (0..MANY).step_by(BATCH) {
        let commands: Vec<String> =
            (from..from + BATCH).map(|n| format!("[\"SET\",\"key:{n}\",\"value\"]")).collect();
        let body = format!("[{}]", commands.join(","));
        let mut client = Client::connect(server.web_address(Protocol::Http));
        let head = format!(
            "POST /pipeline HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        client.send(head.as_bytes());
        client.send(body.as_bytes());
        let mut response = String::new();
        client.stream.read_to_string(&mut response).expect("a response");
        assert_eq!(
            response.matches("{\"result\":\"OK\"}").count(),
            BATCH,
            "{}",
            &response[..300.min(response.len())]
        );
    }
    check(&server);
}

#[test]
fn connections_take_more_memory_than_all_may() {
    const CLIENTS_MAX_BYTES: u64 = 4_000_000;
    const EACH_BYTES: usize = 900_000;
    let server = Server::start("");
    let mut operator = server.connect();
    operator.expect(&[b"CLIENT", b"NO-EVICT", b"ON"], b"+OK\r\n");
    operator.expect(&[b"CONFIG", b"SET", b"maxmemory-clients", b"4000000"], b"+OK\r\n");
    // Half a request is kept until the rest comes.
    let begin = [b"*2\r\n$3\r\nGET\r\n$950000\r\n".as_slice(), &vec![b'x'; EACH_BYTES]].concat();
    let mut clients: Vec<TcpStream> = Vec::new();
    for _ in 0..10 {
        let mut stream = server.connect().stream;
        // It fails once the connection is closed.
        let _ = stream.write_all(&begin);
        clients.push(stream);
    }
    let memory = &server.gateway().server.shared.memory;
    let begin = Instant::now();
    loop {
        let (bytes, evicted) =
            (memory.clients_bytes.load(Ordering::Relaxed), memory.evicted_clients.load(Ordering::Relaxed));
        if evicted >= 5 && bytes <= CLIENTS_MAX_BYTES {
            // No more were closed than had to.
            assert!(evicted <= 8, "{evicted} were closed");
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "{bytes} bytes, {evicted} were closed");
        thread::yield_now();
    }
    operator.expect(&[b"PING"], b"+PONG\r\n");
}

//! The REST dialect as the gateway hosts it: deadlines, limits, and sessions that end with their request. The core's own tests
//! are about the dialect itself.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;
use edgecask::web::protocol::Protocol;

use crate::support::{Client, Server};

/// Long enough that no punctual client is late on a busy machine.
const SHORT: Duration = Duration::from_millis(200);

/// No step of a test takes longer on a healthy machine; it only bounds how long a broken one hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends the beginning of a request: the line and fields besides Host.
fn begin(server: &Server, head: &str) -> Client {
    let mut client = Client::connect(server.web_address(Protocol::Http));
    client.send(format!("{head}\r\nHost: localhost\r\n\r\n").as_bytes());
    client
}

/// The status of a response and everything behind it until the connection ends.
fn outcome(client: &mut Client) -> (u16, String) {
    let mut received = Vec::new();
    // A client that has sent more than the server has read is reset, behind the response.
    let ended = client.stream.read_to_end(&mut received);
    let received = String::from_utf8_lossy(&received).into_owned();
    let status = received.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status in {received:?}, {ended:?}")), received)
}

fn get(server: &Server, path: &str) -> (u16, String) {
    outcome(&mut begin(server, &format!("GET {path} HTTP/1.1\r\nConnection: close")))
}

/// Reads a stream until this has come.
fn until(stream: &mut TcpStream, text: &str) -> String {
    let (mut received, mut buffer) = (String::new(), [0; 4096]);
    while !received.contains(text) {
        let count = stream.read(&mut buffer).expect("more of the stream");
        assert!(count > 0, "the stream ended after {received:?}");
        received.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    received
}

#[test]
fn long_body_is_received_before_the_password_is_checked() {
    let server = Server::start("--requirepass secret");
    for length in ["Content-Length: 50000000", "Transfer-Encoding: chunked"] {
        for token in ["wrong", ""] {
            let head = format!("POST /set/key HTTP/1.1\r\nAuthorization: Bearer {token}\r\n{length}");
            assert!(begin(&server, &head).line().starts_with("HTTP/1.1 401 "), "{length}");
        }
        let head = format!(
            "POST /set/key HTTP/1.1\r\nAuthorization: Bearer secret\r\nConnection: close\r\n{length}"
        );
        let mut friend = begin(&server, &head);
        let sent =
            if length.starts_with('C') { "v".repeat(50_000_000) } else { "1\r\nv\r\n0\r\n\r\n".into() };
        friend.send(sent.as_bytes());
        assert_eq!(outcome(&mut friend).0, 200);
    }
    let head = "POST /set/key HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Length: 5000000000";
    assert!(begin(&server, head).line().starts_with("HTTP/1.1 413 "));
    let head = "POST /set/key HTTP/1.1\r\nAuthorization: Bearer secret\r\nTransfer-Encoding: chunked";
    let mut endless = begin(&server, head);
    let chunk = [b"100000\r\n".as_slice(), &vec![b'x'; 1 << 20], b"\r\n"].concat();
    // It fails once the server has answered.
    let sent = (0..200).take_while(|_| endless.stream.write_all(&chunk).is_ok()).count();
    assert!(sent < 200, "{sent} MB were taken");
}

#[test]
fn a_body_that_stops_coming_is_given_up() {
    let deadlines = Deadlines { unauthenticated: SHORT, unread_output: SHORT, ..Deadlines::default() };
    let server = Server::start_with("", deadlines);
    for length in [10, 100_000] {
        let mut client = begin(&server, &format!("POST /set/key HTTP/1.1\r\nContent-Length: {length}"));
        client.send(b"value");
        assert!(client.line().starts_with("HTTP/1.1 408 "), "{length}");
    }
    assert!(get(&server, "/exists/key").1.ends_with("{\"result\":0}"));
}

#[test]
fn a_stored_value_is_sent_up_to_the_limit() {
    let server = Server::start("--appendfsync always");
    let value = vec![b'v'; 70 << 20];
    let mut client = server.connect();
    client.expect(&[b"SET", b"long", &value[..5 << 20]], b"+OK\r\n");
    client.expect(&[b"SET", b"huge", &value], b"+OK\r\n");
    let (status, response) = get(&server, "/get/long");
    assert_eq!((status, response.matches('v').count() >= 5 << 20), (200, true));
    let (status, response) = get(&server, "/get/huge");
    assert_eq!((status, response.len() < 1000), (400, true), "{status}");
    assert_eq!(get(&server, "/getrange/huge/0/2").0, 200);
    assert_eq!(get(&server, "/set/key/value").0, 200);
    client.expect(&[b"GET", b"key"], b"$5\r\nvalue\r\n");
}

#[test]
fn request_goes_on_after_its_client_has_gone() {
    let server = Server::start("");
    let waiting = begin(&server, "GET /blpop/list/0 HTTP/1.1");
    let listed = |text: &str| get(&server, "/client/list").1.contains(text);
    assert!((0..1000).any(|_| listed("cmd=blpop")), "it waits");
    drop(waiting);
    assert!((0..1000).any(|_| !listed("cmd=blpop")), "it waits for ever");
    server.connect().expect(&[b"RPUSH", b"list", b"element"], b":1\r\n");
    server.connect().expect(&[b"LLEN", b"list"], b":1\r\n");
}

#[test]
fn a_subscriber_that_reads_nothing_is_cut() {
    let deadlines = Deadlines { unread_output: SHORT, ..Deadlines::default() };
    let server = Server::start_with("", deadlines);
    let mut subscriber = begin(&server, "GET /subscribe/news HTTP/1.1");
    until(&mut subscriber.stream, "data: subscribe,news,1\n\n");
    let mut publisher = server.connect();
    let message = vec![b'x'; 100_000];
    publisher.expect(&[b"PUBLISH", b"news", &message], b":1\r\n");
    let start = Instant::now();
    loop {
        publisher.send(&crate::support::request(&[b"PUBLISH", b"news", &message]));
        if publisher.line() == ":0" {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "it is not cut");
    }
}

#[test]
fn client_that_does_not_read_a_response_stays() {
    let deadlines = Deadlines { unread_output: SHORT, ..Deadlines::default() };
    let server = Server::start_with("--maxclients 2", deadlines);
    server.connect().expect(&[b"SET", b"long", &vec![b'v'; 60 << 20]], b"+OK\r\n");
    let mut unread = begin(&server, "GET /get/long HTTP/1.1\r\nConnection: close");
    assert_eq!(unread.line(), "HTTP/1.1 200 OK");
    let are_served = || {
        let mut both = [server.connect(), server.connect()];
        both.each_mut().map(|client| {
            let mut reply = [0; 5];
            // A refused client may be reset.
            let _ = client.stream.write_all(b"PING\r\n");
            client.stream.read_exact(&mut reply).is_ok() && reply == *b"+PONG"
        })
    };
    assert_eq!(are_served(), [true, false], "the reader has a place");
    let start = Instant::now();
    while are_served() != [true, true] {
        assert!(start.elapsed() < PATIENCE, "it is not cut");
    }
    let mut rest = Vec::new();
    // It ends with an error or not.
    let _ = unread.stream.read_to_end(&mut rest);
    assert!(rest.len() < 60 << 20);
    // A client that reads slowly but steadily gets everything.
    let begin_slowly = || loop {
        let mut slow = begin(&server, "GET /get/long HTTP/1.1\r\nConnection: close");
        // The server may not have seen yet that the others are gone.
        match slow.line().as_str() {
            "HTTP/1.1 200 OK" => return slow,
            refused => assert!(start.elapsed() < 2 * PATIENCE, "{refused}"),
        }
    };
    let mut slow = begin_slowly();
    let mut received = 0;
    let mut buffer = vec![0; 4 << 20];
    while let Ok(count @ 1..) = slow.stream.read(&mut buffer) {
        received += count;
        std::thread::sleep(SHORT / 20);
    }
    assert!(received > 60 << 20, "{received} bytes");
}

#[test]
fn a_silent_stream_is_kept_alive_and_ends_with_the_server() {
    let deadlines = Deadlines { silence: Duration::from_millis(50), ..Deadlines::default() };
    let server = Server::start_with("", deadlines);
    let mut subscriber = begin(&server, "GET /subscribe/news HTTP/1.1");
    until(&mut subscriber.stream, "data: subscribe,news,1\n\n");
    until(&mut subscriber.stream, "\r\n:\n\n\r\n");
    until(&mut subscriber.stream, "\r\n:\n\n\r\n");
    server.connect().expect(&[b"PUBLISH", b"news", b"rain"], b":1\r\n");
    until(&mut subscriber.stream, "data: message,news,rain\n\n");
    let mut waiting = begin(&server, "GET /blpop/list/0 HTTP/1.1");
    let waits = |_| get(&server, "/client/list").1.contains("cmd=blpop");
    assert!((0..1000).any(waits), "it waits");
    server.running().gateway().stop.request(StopRequest { checkpoint: true });
    let mut end = String::new();
    subscriber.stream.read_to_string(&mut end).expect("the end of the stream");
    assert!(end.ends_with("0\r\n\r\n"), "{end:?}");
    assert!(outcome(&mut waiting).1.contains("500 Internal Server Error"));
}

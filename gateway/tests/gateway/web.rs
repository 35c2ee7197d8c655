//! WebSocket and HTTP: sessions, refusals, limits and deadlines.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use edgecask::limits::{
    CONTROL_FRAMES_MAX, Deadlines, FRAGMENTS_FREE, MESSAGE_MAX_BYTES, UNAUTHENTICATED_MESSAGE_MAX_BYTES,
};
use edgecask::stop::StopRequest;
use edgecask::web::protocol::Protocol;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client::client_with_config};

use crate::support::{Server, request};

/// No step of a test takes longer on a healthy machine; it only bounds how long a broken one hangs.
const PATIENCE: Duration = Duration::from_secs(30);

type Socket = WebSocket<TcpStream>;

fn stream(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.web_address(Protocol::Http)).expect("connects");
    stream.set_nodelay(true).expect("a socket option");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket option");
    stream
}

/// A handshake with these fields besides; the status if it is refused.
fn shake(server: &Server, fields: &[(&'static str, &str)]) -> Result<(Socket, Option<String>), u16> {
    let mut head =
        format!("ws://{}/resp", server.web_address(Protocol::Http)).into_client_request().expect("a URL");
    for (name, value) in fields {
        head.headers_mut().insert(*name, value.parse().expect("a value"));
    }
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    match client_with_config(head, stream(server), Some(config)) {
        Ok((socket, response)) => {
            let protocol = response.headers().get("sec-websocket-protocol");
            Ok((socket, protocol.map(|value| value.to_str().expect("text").into())))
        }
        Err(problem) => match problem {
            tokio_tungstenite::tungstenite::HandshakeError::Failure(Error::Http(response)) => {
                Err(response.status().as_u16())
            }
            problem => panic!("{problem}"),
        },
    }
}

fn connect(server: &Server) -> Socket {
    shake(server, &[]).unwrap_or_else(|status| panic!("refused with {status}")).0
}

fn call(socket: &mut Socket, command: &[&[u8]]) -> String {
    socket.send(Message::binary(request(command))).expect("sends");
    reply(socket)
}

fn reply(socket: &mut Socket) -> String {
    loop {
        match socket.read().expect("a message") {
            Message::Binary(bytes) => return String::from_utf8_lossy(&bytes).into_owned(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?} instead of a reply"),
        }
    }
}

/// Why the server closes; none if it does without a word.
fn close_code(socket: &mut Socket) -> Option<CloseCode> {
    loop {
        match socket.read() {
            Ok(Message::Close(frame)) => return frame.map(|frame| frame.code),
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// An HTTP request over a connection of its own; status and everything that came.
fn http(server: &Server, head: &str) -> (u16, String) {
    let mut stream = stream(server);
    let address = server.web_address(Protocol::Http);
    let host = if head.to_ascii_lowercase().contains("\nhost:") {
        String::new()
    } else {
        format!("Host: {address}\r\n")
    };
    let (line, fields) = head.split_once('\n').unwrap_or((head, ""));
    // A server that refuses a request before it has read all of it resets the connection behind its response.
    let _ = write!(stream, "{line} HTTP/1.1\r\n{host}Connection: close\r\n{fields}\r\n");
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    let response = String::from_utf8_lossy(&response).into_owned();
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status in {response}")), response)
}

#[test]
fn a_web_socket_is_a_session_like_any_other() {
    let server = Server::start("");
    let (mut socket, protocol) =
        shake(&server, &[("sec-websocket-protocol", "chat, resp")]).expect("welcome");
    assert_eq!(protocol.as_deref(), Some("resp"), "the subprotocol is echoed");
    assert_eq!(call(&mut socket, &[b"SET", b"key", b"value"]), "+OK\r\n");
    server.connect().expect(&[b"GET", b"key"], b"$5\r\nvalue\r\n");
    assert!(call(&mut socket, &[b"HELLO", b"3"]).starts_with('%'));
    assert_eq!(call(&mut socket, &[b"SUBSCRIBE", b"news"]), ">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    server.connect().expect(&[b"PUBLISH", b"news", b"rain"], b":1\r\n");
    assert_eq!(reply(&mut socket), ">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$4\r\nrain\r\n");
    // A blocked command is answered when another client unblocks it.
    socket.send(Message::text("BLPOP list 0\r\n")).expect("sends");
    assert!(call(&mut connect(&server), &[b"CLIENT", b"LIST"]).contains("cmd=blpop"));
    server.connect().expect(&[b"RPUSH", b"list", b"element"], b":1\r\n");
    assert_eq!(reply(&mut socket), "*2\r\n$4\r\nlist\r\n$7\r\nelement\r\n");
    socket.send(Message::Ping("hello".into())).expect("sends");
    assert_eq!(socket.read().expect("a message"), Message::Pong("hello".into()));
    assert_eq!(call(&mut socket, &[b"QUIT"]), "+OK\r\n");
    assert_eq!(close_code(&mut socket), Some(CloseCode::Normal));
}

#[test]
fn a_client_that_is_killed_or_closes_leaves_nothing_behind() {
    let server = Server::start("");
    let mut killed = connect(&server);
    let id = call(&mut killed, &[b"CLIENT", b"ID"]);
    let mut other = connect(&server);
    let id = id.trim_start_matches(':').trim_end();
    assert_eq!(call(&mut other, &[b"CLIENT", b"KILL", b"ID", id.as_bytes()]), ":1\r\n");
    assert_eq!(close_code(&mut killed), Some(CloseCode::Normal));
    let mut leaving = connect(&server);
    leaving.close(None).expect("sends");
    assert_eq!(close_code(&mut leaving), None, "the close frame is echoed without a code");
    let gone = (0..1000).any(|_| call(&mut other, &[b"CLIENT", b"LIST"]).matches("id=").count() == 1);
    assert!(gone, "{}", call(&mut other, &[b"CLIENT", b"LIST"]));
}

#[test]
fn pages_of_other_sites_are_refused() {
    let server = Server::start("--http-origins https://app.example");
    let accepted = (0..1000).filter(|number| {
        let origin =
            ["https://evil.example", "null", "http://127.0.0.1:1", "https://app.example.evil.example"];
        let origin = format!(
            "{}{}",
            origin[number % 4],
            if number % 4 == 0 { number.to_string() } else { String::new() }
        );
        match shake(&server, &[("origin", &origin)]) {
            Ok(_) => true,
            Err(status) => {
                assert_eq!(status, 403, "{origin}");
                false
            }
        }
    });
    assert_eq!(accepted.count(), 0, "of 1000");
    let own = format!("http://{}", server.web_address(Protocol::Http));
    for origin in [own.as_str(), "https://app.example"] {
        assert!(shake(&server, &[("origin", origin)]).is_ok(), "{origin}");
    }
    assert_eq!(shake(&server, &[("host", "evil.example")]).err(), Some(403), "a name made to point here");
    let (status, response) = http(
        &server,
        "OPTIONS /\nOrigin: https://app.example\r\nAccess-Control-Request-Headers: authorization\r\n",
    );
    assert_eq!(status, 204);
    assert!(response.contains("access-control-allow-origin: https://app.example\r\n"), "{response}");
    assert!(response.contains("access-control-allow-headers: authorization\r\n"), "{response}");
    assert_eq!(http(&server, "OPTIONS /\nOrigin: https://evil.example\r\n").0, 403);
}

#[test]
fn wrong_handshakes_are_answered() {
    let server = Server::start("");
    assert_eq!(http(&server, "GET /resp").0, 426);
    assert_eq!(http(&server, "GET /resp\nUpgrade: websocket\r\nConnection: upgrade\r\n").0, 400);
    assert_eq!(shake(&server, &[("sec-websocket-version", "8")]).err(), Some(400));
    let long = "x".repeat(100_000);
    assert_eq!(http(&server, &format!("GET /\nX-Long: {long}\r\n")).0, 431);
}

#[test]
fn client_that_is_slow_with_a_handshake_stays() {
    let deadlines = Deadlines { handshake: Duration::from_millis(100), ..Deadlines::default() };
    let server = Server::start_with("", deadlines);
    let mut silent = stream(&server);
    let mut rest = Vec::new();
    silent.read_to_end(&mut rest).expect("the end");
    let mut slow = stream(&server);
    for byte in b"GET /resp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n".iter().cycle() {
        if slow.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut socket = connect(&server);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(call(&mut socket, &[b"PING"]), "+PONG\r\n", "the limit is about the handshake");
}

#[test]
fn floods_and_long_messages_are_cut() {
    let server = Server::start("");
    let fragment =
        |len: usize, opcode| Message::Frame(Frame::message(vec![0; len], OpCode::Data(opcode), false));
    let mut socket = connect(&server);
    let mut opcode = Data::Binary;
    let mut sent = 0;
    while socket.send(fragment(1, opcode)).is_ok() && sent < 100 * FRAGMENTS_FREE {
        (opcode, sent) = (Data::Continue, sent + 1);
    }
    assert!(sent < 100 * FRAGMENTS_FREE, "{sent} tiny fragments were taken");
    let mut socket = connect(&server);
    for _ in 0..=CONTROL_FRAMES_MAX {
        // It fails once the server has closed.
        let _ = socket.write(Message::Ping(Default::default()));
    }
    let _ = socket.flush();
    assert_eq!(close_code(&mut socket), Some(CloseCode::Policy));

    let len = usize::try_from(MESSAGE_MAX_BYTES).expect("it fits");
    let value = vec![b'x'; len - 100];
    let mut socket = connect(&server);
    assert_eq!(call(&mut socket, &[b"SET", b"key", &value]), "+OK\r\n", "as long as may be");
    let mut message = request(&[b"SET", b"key", &value]);
    message.resize(len + 1, b'\n');
    // It fails once the server has closed.
    let _ = socket.send(Message::binary(message));
    assert_eq!(close_code(&mut socket), Some(CloseCode::Size));
    server.connect().expect(&[b"STRLEN", b"key"], format!(":{}\r\n", value.len()).as_bytes());
    let mut unmasked = stream(&server);
    unmasked
        .write_all(
            b"GET /resp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\x82\x06PING\r\n",
        )
        .expect("sends");
    let mut received = Vec::new();
    let _ = unmasked.read_to_end(&mut received);
    assert!(!received.windows(5).any(|bytes| bytes == b"+PONG"), "a frame without a mask is no request");
}

#[test]
fn text_that_is_not_utf8_is_closed_as_a_violation() {
    let server = Server::start("");
    for pieces in [&[b"PING\xff\r\n".as_slice()] as &[&[u8]], &[b"PI\xc3", b"NG\r\n"]] {
        let mut socket = connect(&server);
        for (number, piece) in pieces.iter().enumerate() {
            let opcode = if number == 0 { Data::Text } else { Data::Continue };
            let frame = Frame::message(piece.to_vec(), OpCode::Data(opcode), number + 1 == pieces.len());
            // It fails once the server has closed.
            let _ = socket.send(Message::Frame(frame));
        }
        assert_eq!(close_code(&mut socket), Some(CloseCode::Invalid), "{pieces:?}");
    }
    // A character may be cut by fragments.
    let mut socket = connect(&server);
    for (bytes, opcode, is_last) in
        [(b"ECHO \xc3".as_slice(), Data::Text, false), (b"\xa9\r\n", Data::Continue, true)]
    {
        let frame = Frame::message(bytes.to_vec(), OpCode::Data(opcode), is_last);
        socket.send(Message::Frame(frame)).expect("sends");
    }
    assert_eq!(reply(&mut socket), "$2\r\n\u{e9}\r\n");
}

#[test]
fn unauthenticated_client_is_unbounded() {
    let deadlines = Deadlines { unauthenticated: Duration::from_millis(300), ..Deadlines::default() };
    let server = Server::start_with("--requirepass secret", deadlines);
    let mut silent = connect(&server);
    assert_eq!(close_code(&mut silent), Some(CloseCode::Policy));
    let mut long = connect(&server);
    let len = usize::try_from(UNAUTHENTICATED_MESSAGE_MAX_BYTES).expect("it fits") + 1;
    let _ = long.send(Message::binary(vec![b'\n'; len]));
    assert_eq!(close_code(&mut long), Some(CloseCode::Size));
    let mut friend = connect(&server);
    assert_eq!(call(&mut friend, &[b"GET", b"key"]), "-NOAUTH Authentication required.\r\n");
    // The password and a long request may come together.
    let mut both = request(&[b"AUTH", b"secret"]);
    both.extend(request(&[b"SET", b"key", &vec![b'x'; 100_000]]));
    friend.send(Message::binary(both)).expect("sends");
    assert_eq!(reply(&mut friend), "+OK\r\n+OK\r\n");
    assert_eq!(call(&mut friend, &[b"SET", b"key", &vec![b'x'; len]]), "+OK\r\n");
}

#[test]
fn only_so_many_connections_of_one_address_are_served() {
    let server = Server::start("--http-max-per-address 3");
    let sockets: Vec<Socket> = (0..3).map(|_| connect(&server)).collect();
    let is_served = || {
        let mut stream = stream(&server);
        let mut response = Vec::new();
        // The system may reset a connection that is refused before its request was read.
        let _ = stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let _ = stream.read_to_end(&mut response);
        response.starts_with(b"HTTP/1.1 200")
    };
    assert!(!is_served(), "the fourth connection of an address");
    server.connect().expect(&[b"PING"], b"+PONG\r\n");
    drop(sockets);
    assert!((0..1000).any(|_| is_served()), "a place that was given up is free again");
    let server = Server::start("--maxclients 2");
    let _both = [connect(&server), connect(&server)];
    assert_eq!(server.connect().rest(), "-ERR max number of clients reached\r\n", "one number for all kinds");
}

#[test]
fn client_that_reads_nothing_or_is_gone_stays() {
    let deadlines = Deadlines { unread_output: Duration::from_millis(100), ..Deadlines::default() };
    let server = Server::start_with("", deadlines);
    let mut socket = connect(&server);
    assert_eq!(call(&mut socket, &[b"SET", b"key", &vec![b'x'; 1_000_000]]), "+OK\r\n");
    let requests = request(&[b"GET", b"key"]).repeat(100);
    // Sending blocks once the server has stopped reading, and fails once it has given up.
    while socket.send(Message::binary(requests.clone())).is_ok() {}
    server.connect().expect(&[b"STRLEN", b"key"], b":1000000\r\n");

    let deadlines = Deadlines { silence: Duration::from_millis(100), ..Deadlines::default() };
    let server = Server::start_with("", deadlines);
    let (mut alive, mut gone) = (connect(&server), connect(&server));
    let begin = std::time::Instant::now();
    while begin.elapsed() < Duration::from_millis(500) {
        // Reading answers pings.
        assert!(matches!(alive.read().expect("a message"), Message::Ping(_)));
    }
    assert_eq!(call(&mut alive, &[b"PING"]), "+PONG\r\n");
    let first = gone.read().expect("a message");
    assert!(matches!(first, Message::Ping(_)), "{first:?}");
    assert!(close_code(&mut gone).is_none_or(|code| code == CloseCode::Policy));
}

#[test]
fn end_of_the_server_has_no_close_frame() {
    let server = Server::start("");
    let mut socket = connect(&server);
    assert_eq!(call(&mut socket, &[b"PING"]), "+PONG\r\n");
    assert_eq!(http(&server, "GET /ready").0, 200);
    server.running().gateway().stop.request(StopRequest { checkpoint: true });
    assert_eq!(close_code(&mut socket), Some(CloseCode::Away));
}

//! A script on a connection of a web thread runs for long: the thread goes on with its other connections, through which the
//! script can be ended.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use edgecask::limits::Deadlines;
use edgecask::stop::StopRequest;
use edgecask::web::protocol::Protocol;
use tokio_tungstenite::tungstenite::stream::MaybeTlsStream;
use tokio_tungstenite::tungstenite::{Message, WebSocket, connect};

use crate::support::{Client, Server, request, start_in};

const BUSY: &str = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
const KILLED: &str = "ERR Script killed by user with SCRIPT KILL... script: ";
const ENDLESS: &[u8] = b"while true do end";

/// `busy-reply-threshold` of these tests.
const THRESHOLD: Duration = Duration::from_millis(500);

/// No step of a test takes longer on a healthy machine; it only bounds how long a broken one hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A WebSocket, whose calls are answered within [`PATIENCE`] or fail.
struct Socket(WebSocket<MaybeTlsStream<TcpStream>>);

impl Socket {
    fn open(server: &Server) -> Socket {
        let (socket, _) =
            connect(format!("ws://{}/resp", server.web_address(Protocol::Http))).expect("a WebSocket");
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket option");
            stream.set_nodelay(true).expect("a socket option");
        }
        Socket(socket)
    }

    fn send(&mut self, args: &[&[u8]]) {
        self.0.send(Message::binary(request(args))).expect("sends");
    }

    /// The next message, without the end of its last line.
    fn line(&mut self) -> String {
        loop {
            if let Message::Binary(bytes) = self.0.read().expect("a message in time") {
                return String::from_utf8_lossy(&bytes).trim_end().to_string();
            }
        }
    }

    fn ask(&mut self, args: &[&[u8]]) -> String {
        self.send(args);
        self.line()
    }

    fn ask_until(&mut self, args: &[&[u8]], wanted: &str) {
        self.until(args, |answer| answer.starts_with(wanted));
    }

    /// Asks until the answer is as wanted.
    fn until(&mut self, args: &[&[u8]], is_wanted: impl Fn(&str) -> bool) {
        let begin = Instant::now();
        loop {
            let answer = self.ask(args);
            if is_wanted(&answer) {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{answer}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A server with one web thread.
fn server(flags: &str) -> Server {
    let server = Server::start(&format!("--threads 1 {flags}"));
    let threshold = THRESHOLD.as_millis().to_string();
    let set = [b"CONFIG".as_slice(), b"SET", b"busy-reply-threshold", threshold.as_bytes()];
    server.connect().expect(&set, b"+OK\r\n");
    server
}

/// While an endless script holds the key `locked`: another connection of the thread is answered, refused once the script has
/// run for long, and ends it.
fn check_others(other: &mut Socket) {
    let begin = Instant::now();
    while begin.elapsed() < THRESHOLD / 2 {
        let asked = Instant::now();
        assert_eq!(other.ask(&[b"PING"]), "+PONG");
        assert!(asked.elapsed() < THRESHOLD, "took {:?}", asked.elapsed());
    }
    // It waits for the lock, and is refused in the midst of that.
    assert_eq!(other.ask(&[b"GET", b"locked"]), BUSY);
    assert_eq!(other.ask(&[b"SET", b"free", b"1"]), BUSY);
    assert_eq!(other.ask(&[b"SCRIPT", b"KILL"]), "+OK");
}

#[test]
fn web_socket_waits_for_a_script() {
    let server = server("");
    let (mut runner, mut other) = (Socket::open(&server), Socket::open(&server));
    runner.send(&[b"EVAL", ENDLESS, b"1", b"locked"]);
    // What comes behind it runs when it has ended.
    runner.send(&[b"PING"]);
    check_others(&mut other);
    let ended = runner.line();
    assert!(ended.starts_with(&format!("-{KILLED}")), "{ended}");
    if !ended.ends_with("+PONG") {
        assert_eq!(runner.line(), "+PONG");
    }
    assert_eq!(runner.ask(&[b"SET", b"locked", b"free again"]), "+OK");
    other.ask_until(&[b"GET", b"locked"], "$10\r\nfree again");
}

#[test]
fn web_socket_waits_for_a_rest_request() {
    let server = server("");
    let mut other = Socket::open(&server);
    let mut runner = rest_script(&server);
    check_others(&mut other);
    let mut response = String::new();
    runner.stream.read_to_string(&mut response).expect("a response");
    assert!(response.starts_with("HTTP/1.1 400 ") && response.contains(KILLED), "{response}");
}

/// A request whose endless script holds the key `locked`.
fn rest_script(server: &Server) -> Client {
    let mut client = Client::connect(server.web_address(Protocol::Http));
    let body = format!("[\"EVAL\", \"{}\", 1, \"locked\"]", String::from_utf8_lossy(ENDLESS));
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close";
    client.send(format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    client
}

/// A client under TLS: another program, so that its library is not the server's.
struct TlsClient(Child);

impl TlsClient {
    fn connect(server: &Server) -> TlsClient {
        let mut command = Command::new("openssl");
        command.args(["s_client", "-quiet", "-verify_quiet", "-connect"]);
        command.arg(server.web_address(Protocol::RespTls).to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        TlsClient(command.spawn().expect("openssl"))
    }

    fn send(&mut self, args: &[&[u8]]) {
        let input = self.0.stdin.as_mut().expect("a pipe");
        input.write_all(&request(args)).and_then(|()| input.flush()).expect("sends");
    }

    fn line(&mut self) -> String {
        let output = self.0.stdout.as_mut().expect("a pipe");
        let (mut line, mut byte) = (Vec::new(), [0]);
        while !line.ends_with(b"\r\n") {
            output.read_exact(&mut byte).expect("a line");
            line.push(byte[0]);
        }
        String::from_utf8_lossy(&line).trim_end().to_string()
    }
}

impl Drop for TlsClient {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn web_socket_waits_for_a_script_under_tls() {
    let directory = tempfile::tempdir().expect("a directory");
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| directory.path().join(name));
    let mut made = Command::new("openssl");
    made.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
    made.args(["-days", "2", "-subj", "/CN=localhost", "-keyout"]).arg(&key).arg("-out").arg(&cert);
    assert!(made.stderr(Stdio::null()).status().expect("openssl").success());
    let server =
        server(&format!("--tls-port 0 --tls-cert-file {} --tls-key-file {}", cert.display(), key.display()));
    let (mut runner, mut other) = (TlsClient::connect(&server), Socket::open(&server));
    runner.send(&[b"SET", b"locked", b"1"]);
    assert_eq!(runner.line(), "+OK");
    runner.send(&[b"EVAL", ENDLESS, b"1", b"locked"]);
    check_others(&mut other);
    let ended = runner.line();
    assert!(ended.starts_with(&format!("-{KILLED}")), "{ended}");
    runner.send(&[b"STRLEN", b"locked"]);
    assert_eq!(runner.line(), ":1");
}

#[test]
fn connection_that_ends_during_its_script_stays() {
    let server = server("--maxclients 4");
    let mut other = Socket::open(&server);
    // For each way to end: more of them than may be open at a time.
    for round in 0..8 {
        if round % 2 == 0 {
            let mut runner = Socket::open(&server);
            runner.send(&[b"EVAL", ENDLESS, b"1", b"locked"]);
            other.ask_until(&[b"PING"], BUSY);
        } else {
            let _runner = rest_script(&server);
            other.ask_until(&[b"PING"], BUSY);
        }
        assert_eq!(other.ask(&[b"SCRIPT", b"KILL"]), "+OK");
        other.ask_until(&[b"SET", b"locked", b"1"], "+OK");
    }
    // The sessions have ended as well.
    other.until(&[b"CLIENT", b"LIST"], |clients| clients.matches(" addr=").count() == 1);
}

#[test]
fn client_kill_waits_for_a_script() {
    // Nobody is refused for seconds.
    let server = Server::start("--threads 1");
    let (mut runner, mut other) = (Socket::open(&server), Socket::open(&server));
    let id = runner.ask(&[b"CLIENT", b"ID"]);
    runner.send(&[b"EVAL", ENDLESS, b"1", b"locked"]);
    // A connection that is gone before its script has its thread takes it along.
    other.until(&[b"FUNCTION", b"STATS"], |stats| stats.contains("while true do end"));
    let killed = other.ask(&[b"CLIENT", b"KILL", b"ID", id.trim_start_matches(':').as_bytes()]);
    assert_eq!(killed, ":1");
    while runner.0.read().is_ok() {}
    // The script is another matter.
    other.ask_until(&[b"SCRIPT", b"KILL"], "+OK");
    other.ask_until(&[b"SET", b"locked", b"1"], "+OK");
}

#[test]
fn script_on_a_web_socket_keeps_the_server_from_ending() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let running = start_in(directory.path(), "--threads 1", Deadlines::default()).expect("starts");
        let http = running.web_addresses().iter().find(|(protocol, _)| *protocol == Protocol::Http);
        let (mut runner, _) =
            connect(format!("ws://{}/resp", http.expect("it is open").1)).expect("a WebSocket");
        let script = b"redis.call('SET', KEYS[1], 'half') while true do end";
        runner.send(Message::binary(request(&[b"EVAL", script, b"1", b"k"]))).expect("sends");
        let mut other = Client::connect(running.addresses()[0]);
        let begin = Instant::now();
        loop {
            other.send(&request(&[b"SCRIPT", b"KILL"]));
            if other.line().starts_with("-UNKILLABLE") {
                break;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not begin");
        }
        running.gateway().stop.request(StopRequest { checkpoint: false });
        assert!(running.wait());
    }
    let running = start_in(directory.path(), "", Deadlines::default()).expect("starts again");
    Client::connect(running.addresses()[0]).expect(&[b"GET", b"k"], b"$-1\r\n");
    running.gateway().stop.request(StopRequest { checkpoint: false });
    assert!(running.wait());
}

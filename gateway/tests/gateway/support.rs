//! Servers in this process or another one, and the smallest client that can be wrong on purpose.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use edgecask::gateway::Gateway;
use edgecask::limits::Deadlines;
use edgecask::options::{Options, Task, parse};
use edgecask::server::{self, Running, StartError};
use edgecask::stop::StopRequest;
use edgecask::web::protocol::Protocol;
use edgecask_core::resp::write_request;
use tempfile::TempDir;

/// No step of a test takes longer on a healthy machine; it only bounds how long a broken one hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server in this process, ended with its test.
pub struct Server {
    running: Option<Running>,
    pub directory: TempDir,
}

impl Server {
    pub fn start(flags: &str) -> Server {
        Server::start_with(flags, Deadlines::default())
    }

    pub fn start_with(flags: &str, deadlines: Deadlines) -> Server {
        let directory = tempfile::tempdir().expect("a directory");
        let running = start_in(directory.path(), flags, deadlines).expect("the server starts");
        Server { running: Some(running), directory }
    }

    pub fn gateway(&self) -> &Gateway {
        self.running.as_ref().expect("running").gateway()
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.running.as_ref().expect("running").addresses()[0])
    }

    /// The address of a protocol.
    pub fn web_address(&self, protocol: Protocol) -> SocketAddr {
        let running = self.running.as_ref().expect("running");
        let found = running.web_addresses().iter().find(|(its, _)| *its == protocol);
        found.expect("that is open").1
    }

    /// The running server.
    pub fn running(&self) -> &Running {
        self.running.as_ref().expect("running")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.gateway().stop.request(StopRequest { checkpoint: true });
            assert!(running.wait(), "the log is synced at the end");
        }
    }
}

/// Starts a server on a port of the system's choice.
pub fn start_in(directory: &Path, flags: &str, deadlines: Deadlines) -> Result<Running, StartError> {
    let threads = if flags.contains("--threads") { "" } else { "--threads 2" };
    let line = format!("edgecask --port 0 --http-port 0 {threads} --dir {} {flags}", directory.display());
    let Task::Serve(flags) = parse(line.split_whitespace().map(Into::into)).expect("flags").task else {
        panic!("{line} does not serve");
    };
    server::start(&Options::decide(*flags)?, deadlines)
}

pub struct Client {
    pub stream: TcpStream,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_nodelay(true).expect("a socket option");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket option");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket option");
        Client { stream }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("sends");
    }

    /// Sends a command and expects exactly these bytes.
    pub fn expect(&mut self, command: &[&[u8]], reply: &[u8]) {
        self.send(&request(command));
        self.expect_bytes(reply);
    }

    pub fn expect_bytes(&mut self, expected: &[u8]) {
        let mut received = vec![0; expected.len()];
        self.stream.read_exact(&mut received).expect("a reply");
        assert_eq!(String::from_utf8_lossy(&received), String::from_utf8_lossy(expected));
    }

    /// Everything until the server closes.
    pub fn rest(&mut self) -> String {
        let mut received = Vec::new();
        self.stream.read_to_end(&mut received).expect("the end of the stream");
        String::from_utf8_lossy(&received).into_owned()
    }

    /// One line, without its end.
    pub fn line(&mut self) -> String {
        let (mut line, mut byte) = (Vec::new(), [0]);
        while !line.ends_with(b"\r\n") {
            self.stream.read_exact(&mut byte).expect("a line");
            line.push(byte[0]);
        }
        String::from_utf8_lossy(&line).trim_end().to_string()
    }
}

/// Sends a request; the first line of the reply.
pub fn ask(client: &mut Client, args: &[&[u8]]) -> String {
    client.send(&request(args));
    client.line()
}

/// Asks until the first line of the reply begins like this.
pub fn ask_until(client: &mut Client, args: &[&[u8]], wanted: &str) -> String {
    let begin = Instant::now();
    loop {
        let answer = ask(client, args);
        if answer.starts_with(wanted) {
            return answer;
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "{answer}, and not {wanted}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A command as RESP.
pub fn request(command: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_request(command, &mut bytes);
    bytes
}

/// A server in a process of its own, whose memory is only its own.
pub struct Process {
    child: Child,
    port: u16,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts a server that may not answer yet.
    pub fn start(directory: &Path) -> Process {
        let probe = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = probe.local_addr().expect("its address").port();
        drop(probe);
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgecask"));
        command
            .args(["serve", "--threads", "2", "--http-port", "0", "--port", &port.to_string(), "--dir"])
            .arg(directory)
            // With pages of 2 MB the resident memory says little about what is in use.
            .env("MIMALLOC_ALLOW_THP", "0");
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        Process { child, port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// A connection, once the server answers and has read its store.
    pub fn connect(&self) -> Client {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        while TcpStream::connect(address).is_err() {
            std::thread::yield_now();
        }
        let mut client = Client::connect(address);
        client.send(&request(&[b"PING".as_slice()]));
        while client.line() != "+PONG" {
            client.send(&request(&[b"PING".as_slice()]));
        }
        Client::connect(address)
    }

    /// Anonymous memory that is resident.
    pub fn memory_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("Linux says");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }
}

/// Asks with these words.
pub fn answer(client: &mut Client, words: &[&[u8]]) -> String {
    client.send(&request(words));
    hear(client)
}

/// The same for words in a line, with spaces between them.
pub fn say(client: &mut Client, line: &str) -> String {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    answer(client, &words)
}

/// A whole reply of RESP2 on one line: texts as they are, arrays in brackets.
pub fn hear(client: &mut Client) -> String {
    // How many values are missing in each array that has begun.
    let mut missing = Vec::new();
    let mut shown = String::new();
    loop {
        let line = client.line();
        let count = line.get(1..).and_then(|count| count.parse::<usize>().ok());
        match (line.as_bytes().first(), count) {
            (Some(b'*'), Some(count)) if count > 0 => {
                shown.push('[');
                missing.push(count);
                continue;
            }
            (Some(b'*'), Some(_)) => shown.push_str("[]"),
            (Some(b'$'), Some(length)) => shown.push_str(&String::from_utf8_lossy(&body(client, length))),
            (Some(b'$'), None) => shown.push_str("nil"),
            _ => shown.push_str(&line),
        }
        loop {
            let Some(innermost) = missing.last_mut() else { return shown };
            *innermost -= 1;
            if *innermost > 0 {
                shown.push(' ');
                break;
            }
            shown.push(']');
            missing.pop();
        }
    }
}

/// The bytes of a reply that is one string.
pub fn hear_bytes(client: &mut Client) -> Vec<u8> {
    let line = client.line();
    let length = line.strip_prefix('$').and_then(|length| length.parse().ok());
    let length = length.unwrap_or_else(|| panic!("no string: {line}"));
    body(client, length)
}

fn body(client: &mut Client, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length + 2];
    client.stream.read_exact(&mut bytes).expect("a string");
    bytes.truncate(length);
    bytes
}

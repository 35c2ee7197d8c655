//! Values of gigabytes through a server that has little memory for them, and what is left when a peer or the server goes
//! away in the middle.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use edgecask_core::resp::Value;
use edgecask_tests::process::{Gateway, Server, report};
use edgecask_tests::retry::wait_for;

/// The value that goes in and out: beyond what 32 bits count. Where the disk has no room for it, a smaller one does.
const HUGE_BYTES: u64 = (1 << 32) + 12_345;

/// Room that a test leaves on the disk.
const ROOM_BYTES: u64 = 2 << 30;

/// By how much the server may grow for it.
const GROWTH_MAX_BYTES: u64 = 64 * 1024 * 1024;

const PATIENCE: Duration = Duration::from_secs(60);

fn gateway(directory: &Path) -> Gateway {
    Gateway::on(directory).with("--proto-max-bulk-len", "8gb")
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("connects");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Bytes in which every place can be told from its neighbours, without end.
struct Pattern {
    block: Vec<u8>,
    at: u64,
}

impl Pattern {
    fn new() -> Pattern {
        // A prime length, so that no power of two repeats it.
        let block = (0..1_000_003_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        Pattern { block, at: 0 }
    }

    /// The next bytes, at most `len` of them.
    fn next(&mut self, len: u64) -> &[u8] {
        let start = (self.at % self.block.len() as u64) as usize;
        let end = self.block.len().min(start + usize::try_from(len).unwrap_or(usize::MAX));
        self.at += (end - start) as u64;
        &self.block[start..end]
    }
}

/// Begins a SET whose value follows.
fn begin_set(stream: &mut TcpStream, key: &str, len: u64) {
    let head = format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${len}\r\n", key.len());
    stream.write_all(head.as_bytes()).expect("sends");
}

fn send_value(stream: &mut TcpStream, len: u64) {
    let mut pattern = Pattern::new();
    while pattern.at < len {
        let left = len - pattern.at;
        stream.write_all(pattern.next(left)).expect("sends");
    }
}

fn line(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n") {
        stream.read_exact(&mut byte).expect("a line");
        text.push(byte[0]);
    }
    String::from_utf8_lossy(&text).trim_end().to_string()
}

/// Reads a bulk that must be the pattern.
fn receive_value(stream: &mut TcpStream, len: u64) {
    assert_eq!(line(stream), format!("${len}"));
    let mut pattern = Pattern::new();
    let mut buffer = vec![0; 1 << 20];
    while pattern.at < len {
        let place = pattern.at;
        let most = buffer.len().min(usize::try_from(len - place).unwrap_or(usize::MAX));
        let got = stream.read(&mut buffer[..most]).expect("receives");
        assert!(got > 0, "the value ends at {place}");
        let mut seen = 0;
        while seen < got {
            let wanted = pattern.next((got - seen) as u64);
            assert!(buffer[seen..seen + wanted.len()] == *wanted, "another byte near {place}");
            seen += wanted.len();
        }
    }
    assert_eq!(line(stream), "");
}

fn blobs(directory: &Path) -> usize {
    let names = fs::read_dir(directory).expect("the store's directory");
    names
        .filter(|name| name.as_ref().is_ok_and(|name| name.path().extension().is_some_and(|e| e == "blob")))
        .count()
}

/// How large a value this disk takes, and a gigabyte or two besides.
fn huge_bytes(directory: &Path) -> u64 {
    let facts = rustix::fs::statvfs(directory).expect("a file system");
    HUGE_BYTES.min((facts.f_bavail * facts.f_frsize).saturating_sub(ROOM_BYTES).max(ROOM_BYTES / 16))
}

#[test]
fn value_of_four_gigabytes_fills_the_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let huge_bytes = huge_bytes(directory.path());
    let server = gateway(directory.path()).must_start();
    let mut stream = connect(&server);
    let before = server.resident_bytes();
    let mut peak = before;
    let begin = Instant::now();
    begin_set(&mut stream, "huge", huge_bytes);
    let mut pattern = Pattern::new();
    while pattern.at < huge_bytes {
        let left = huge_bytes - pattern.at;
        stream.write_all(pattern.next(left)).expect("sends");
        peak = peak.max(server.resident_bytes());
    }
    stream.write_all(b"\r\n").expect("sends");
    assert_eq!(line(&mut stream), "+OK");
    let sent = begin.elapsed();
    stream.write_all(b"GET huge\r\n").expect("sends");
    receive_value(&mut stream, huge_bytes);
    let took = begin.elapsed();
    peak = peak.max(server.resident_bytes());
    let growth = peak - before;
    report(&format!(
        "a value of {huge_bytes} bytes: in {:.1} s in and {:.1} s out, the server grew by {:.1} MB",
        sent.as_secs_f64(),
        (took - sent).as_secs_f64(),
        growth as f64 / 1e6
    ));
    assert!(growth <= GROWTH_MAX_BYTES, "the server grew by {growth} bytes");
    // Parts cost what they are long.
    let begin = Instant::now();
    let mut client = server.client();
    assert_eq!(client.must("STRLEN huge"), Value::Integer(huge_bytes as i64));
    assert_eq!(client.must("SETRANGE huge 100000000 patched"), Value::Integer(huge_bytes as i64));
    assert_eq!(client.must("APPEND huge end"), Value::Integer(huge_bytes as i64 + 3));
    assert_eq!(client.must("GETRANGE huge 100000000 100000006"), Value::Bulk(b"patched".to_vec()));
    assert_eq!(client.must("GETRANGE huge -3 -1"), Value::Bulk(b"end".to_vec()));
    assert_eq!(client.must("SETBIT huge 7 1"), Value::Integer(0));
    let parts = begin.elapsed();
    assert!(parts < Duration::from_secs(1), "seven parts took {parts:?}");
    assert_eq!(client.must("DEL huge"), Value::Integer(1));
    assert!(wait_for(PATIENCE, || (blobs(directory.path()) == 0).then_some(())).is_some(), "the blob stays");
}

#[test]
fn peer_or_server_that_goes_away_in_the_middle_leaves_litter() {
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = gateway(directory.path());
    let server = gateway.must_start();
    let mut client = server.client();
    let len = 50_000_000;
    let mut stream = connect(&server);
    begin_set(&mut stream, "k", 3_000_000);
    send_value(&mut stream, 3_000_000);
    stream.write_all(b"\r\n").expect("sends");
    assert_eq!(line(&mut stream), "+OK");
    begin_set(&mut stream, "k", len);
    send_value(&mut stream, len / 2);
    assert!(wait_for(PATIENCE, || (blobs(directory.path()) == 2).then_some(())).is_some(), "it streams");
    drop(stream);
    assert!(wait_for(PATIENCE, || (blobs(directory.path()) == 1).then_some(())).is_some(), "litter");
    assert_eq!(client.must("STRLEN k"), Value::Integer(3_000_000), "the old value");
    let mut stream = connect(&server);
    begin_set(&mut stream, "k", len);
    send_value(&mut stream, len / 2);
    assert!(wait_for(PATIENCE, || (blobs(directory.path()) == 2).then_some(())).is_some(), "it streams");
    server.kill();
    let server = gateway.must_start();
    assert_eq!(blobs(directory.path()), 1, "litter after kill -9");
    let mut stream = connect(&server);
    stream.write_all(b"GET k\r\n").expect("sends");
    receive_value(&mut stream, 3_000_000);
}

#[test]
fn reader_that_stops_keeps_others_waiting() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = gateway(directory.path()).must_start();
    let len = 200_000_000;
    let mut stream = connect(&server);
    begin_set(&mut stream, "k", len);
    send_value(&mut stream, len);
    stream.write_all(b"\r\n").expect("sends");
    assert_eq!(line(&mut stream), "+OK");
    let before = server.resident_bytes();
    stream.write_all(b"GET k\r\n").expect("sends");
    stream.peek(&mut [0]).expect("the reply begins before the value changes");
    let mut client = server.client();
    let begin = Instant::now();
    // The value goes while it is being sent, and comes whole all the same.
    assert_eq!(client.must("SETRANGE k 100000000 other"), Value::Integer(len as i64));
    assert_eq!(client.must("SET k small"), Value::Simple("OK".into()));
    assert_eq!(client.must("GET k"), Value::Bulk(b"small".to_vec()));
    assert!(begin.elapsed() < Duration::from_secs(2), "others wait: {:?}", begin.elapsed());
    assert!(server.resident_bytes() < before + GROWTH_MAX_BYTES, "what is not read is held in memory");
    receive_value(&mut stream, len);
}

#[test]
fn keys_of_many_megabytes_fill_the_memory() {
    // As many as show the difference: each takes two frames of the disk, and machines for tests have little of it.
    const KEYS: u8 = 20;
    const KEY_BYTES: usize = 30_000_000;
    // What a few requests need, and what the allocator keeps of it for a while; two thirds of all keys.
    const GROWTH_MAX_BYTES: u64 = 400_000_000;
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = gateway(directory.path());
    let server = gateway.must_start();
    let mut client = server.client();
    let before = server.resident_bytes();
    for number in 0..KEYS {
        let key = vec![number; KEY_BYTES];
        for (args, wanted) in [
            (vec![b"SET".as_slice(), &key, b"value"], Value::Simple("OK".into())),
            (vec![b"EXPIRE", &key, b"1000"], Value::Integer(1)),
        ] {
            assert_eq!(client.call(&args).expect("a reply"), wanted);
        }
    }
    let growth = server.resident_bytes() - before;
    println!("{KEYS} keys of {KEY_BYTES} bytes: the server grew by {growth}");
    assert!(growth < GROWTH_MAX_BYTES, "the server grew by {growth} bytes");
    server.kill();
    let server = gateway.must_start();
    let mut client = server.client();
    for number in 0..KEYS {
        let key = vec![number; KEY_BYTES];
        assert_eq!(client.call(&[b"GET".as_slice(), &key]).expect("a reply"), Value::Bulk(b"value".to_vec()));
    }
    let first = vec![0; KEY_BYTES];
    assert_eq!(client.call(&[b"DEL".as_slice(), &first]).expect("a reply"), Value::Integer(1));
    assert_eq!(client.call(&[b"GET".as_slice(), &first]).expect("a reply"), Value::Null);
}

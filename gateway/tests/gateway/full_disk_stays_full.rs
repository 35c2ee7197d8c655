//! A full disk is freed from inside, as often as it is filled: by merge where what fills it is dead, by commands that
//! take away where it is not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use edgecask::limits::Deadlines;
use edgecask::server::Running;
use edgecask::stop::StopRequest;

use crate::storage::SmallDisk;
use crate::support::{Client, request, start_in};

const MEGABYTES: u64 = 64;

/// How often the disk is filled and freed.
const ROUNDS: usize = 20;

/// Merge takes some milliseconds for what fills this disk; this only bounds how long a broken one hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sets keys until the disk is full; returns how many were set.
fn fill(client: &mut Client, value: &[u8], key: impl Fn(usize) -> String) -> usize {
    for number in 0.. {
        client.send(&request(&[b"SET", key(number).as_bytes(), value]));
        let line = client.line();
        if line != "+OK" {
            assert!(line.starts_with("-MISCONF") && line.contains("no space left"), "{line}");
            return number;
        }
    }
    unreachable!("numbers do not end")
}

/// Waits until a value of this length can be set again.
fn wait_for_room(client: &mut Client, value: &[u8]) {
    let begin = Instant::now();
    loop {
        client.send(&request(&[b"SET", b"more", value]));
        let line = client.line();
        if line == "+OK" {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "the disk stays full: {line}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The lines of a section of INFO.
fn info(client: &mut Client, section: &[u8]) -> String {
    client.send(&request(&[b"INFO", section]));
    let len: usize = client.line().trim_start_matches('$').parse().expect("a length");
    let mut text = vec![0; len + 2];
    client.stream.read_exact(&mut text).expect("INFO");
    String::from_utf8_lossy(&text).into_owned()
}

/// Waits until little is left to be freed.
fn wait_for_merge(client: &mut Client) {
    let begin = Instant::now();
    loop {
        let text = info(client, b"bitcask");
        let number = |name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
        };
        if number("datafile_dead_bytes") < 8 * 1024 * 1024 && number("merge_in_progress") == 0 {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "merge does not come to an end: {text}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_full_disk_cannot_be_freed_from_inside() {
    let Some(disk) = SmallDisk::mount(MEGABYTES) else {
        return eprintln!("mounting is not allowed here: a disk that is filled and freed was not tested");
    };
    let running =
        start_in(&disk.path().join("store"), "--appendfsync no", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    for round in 0..ROUNDS {
        // Larger than what merge and the log keep back, and of more kinds than one: appended to the map and by pwrite.
        let value = vec![b'a' + round as u8; [20_000, 60_000, 400_000][round % 3]];
        // Five keys, twice what the disk holds; merge may be left behind, and then it recovers.
        for number in 0..2 * MEGABYTES as usize * 1024 * 1024 / value.len() {
            client.send(&request(&[b"SET", format!("hot:{}", number % 5).as_bytes(), &value]));
            if client.line() != "+OK" {
                wait_for_room(&mut client, &value);
            }
        }
        wait_for_merge(&mut client);
        let count = fill(&mut client, &value, |number| format!("key:{number}"));
        let stored = count * value.len();
        assert!(stored > MEGABYTES as usize * 1024 * 1024 / 2, "round {round}: {stored} bytes fill it");
        match round % 4 {
            0 => client.expect(&[b"FLUSHALL"], b"+OK\r\n"),
            1 => (0..count).for_each(|number| {
                client.expect(&[b"UNLINK", format!("key:{number}").as_bytes()], b":1\r\n");
            }),
            2 => (0..count).for_each(|number| {
                let key = format!("key:{number}");
                client.send(&request(&[b"GETDEL", key.as_bytes()]));
                assert_eq!(client.line(), format!("${}", value.len()));
                let mut shown = value.clone();
                shown.extend_from_slice(b"\r\n");
                client.expect_bytes(&shown);
            }),
            _ => (0..count).for_each(|number| {
                client.expect(&[b"PEXPIRE", format!("key:{number}").as_bytes(), b"-1"], b":1\r\n");
            }),
        }
        wait_for_room(&mut client, &value);
        wait_for_merge(&mut client);
    }
    client.expect(&[b"FLUSHALL"], b"+OK\r\n");
    drop(client);
    running.gateway().stop.request(StopRequest { checkpoint: true });
    assert!(running.wait(), "the log is synced at the end");
}

#[test]
fn holes_of_a_sparse_value_take_room() {
    let Some(disk) = SmallDisk::mount(MEGABYTES) else {
        return eprintln!("mounting is not allowed here: a sparse value on a small disk was not tested");
    };
    let running = start_in(&disk.path().join("store"), "", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    // A gigabyte, of which next to nothing is written.
    client.expect(&[b"SETBIT", b"sparse", b"8000000000", b"1"], b":0\r\n");
    client.expect(&[b"SETBIT", b"sparse", b"8800000000", b"1"], b":0\r\n");
    client.expect(&[b"STRLEN", b"sparse"], b":1100000001\r\n");
    client.expect(&[b"BITCOUNT", b"sparse"], b":2\r\n");
    drop(client);
    running.gateway().stop.request(StopRequest { checkpoint: true });
    assert!(running.wait(), "the log is synced at the end");
}

/// The status and the text of a page.
fn page(running: &Running, path: &str) -> (u16, String) {
    let (_, address) = running.web_addresses()[0];
    let mut stream = TcpStream::connect(address).expect("connects");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("sends");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    let status = response.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status in {response}")), response)
}

/// What pages and INFO say while writes are accepted, and while they are not.
fn check_health(running: &Running, client: &mut Client, is_healthy: bool) {
    assert_eq!(page(running, "/health").0, 200, "the process lives");
    let (status, text) = page(running, "/ready");
    assert_eq!(status, if is_healthy { 200 } else { 503 }, "{text}");
    assert!(is_healthy || text.contains("no space left for the log"), "{text}");
    let (_, metrics) = page(running, "/metrics");
    let number = |is: bool| u8::from(is);
    for line in [
        format!("redis_aof_last_write_status {}", number(is_healthy)),
        format!("edgecask_log_full {}", number(!is_healthy)),
    ] {
        assert!(metrics.lines().any(|found| found == line), "no {line} in {metrics}");
    }
    let info = info(client, b"persistence");
    let line = format!("aof_last_write_status:{}", if is_healthy { "ok" } else { "err" });
    assert!(info.lines().any(|found| found == line), "no {line} in {info}");
}

#[test]
fn a_server_that_refuses_writes_looks_healthy() {
    let Some(disk) = SmallDisk::mount(MEGABYTES) else {
        return eprintln!("mounting is not allowed here: the health of a full disk was not tested");
    };
    let running = start_in(&disk.path().join("store"), "", Deadlines::default()).expect("starts");
    let mut client = Client::connect(running.addresses()[0]);
    check_health(&running, &mut client, true);
    let value = vec![b'x'; 50_000];
    fill(&mut client, &value, |number| format!("key:{number}"));
    // It stays so: several looks at the room come between.
    for _ in 0..10 {
        check_health(&running, &mut client, false);
        std::thread::sleep(Duration::from_millis(50));
    }
    client.expect(&[b"FLUSHALL"], b"+OK\r\n");
    wait_for_room(&mut client, &value);
    // Until all is merged there may be room now and none a moment later.
    wait_for_merge(&mut client);
    let begin = Instant::now();
    while page(&running, "/ready").0 != 200 {
        assert!(begin.elapsed() < PATIENCE, "not ready though writes are accepted");
    }
    check_health(&running, &mut client, true);
    drop(client);
    running.gateway().stop.request(StopRequest { checkpoint: true });
    assert!(running.wait(), "the log is synced at the end");
}

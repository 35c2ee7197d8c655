//! The memory that a server says it uses, and the memory that it has of the system.

use std::thread::yield_now;
use std::time::{Duration, Instant};

use crate::support::{Client, Process, request};

const KEYS: u32 = 300_000;
const HASHES: u32 = 20_000;
const BATCH: u32 = 1000;

/// Giving memory back takes some tenths of a second; this only bounds how long a broken server hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a request for each number, and reads replies of this length.
fn load(client: &mut Client, count: u32, reply: &[u8], make: impl Fn(u32) -> Vec<u8>) {
    for from in (0..count).step_by(BATCH as usize) {
        client.send(&(from..from + BATCH).flat_map(&make).collect::<Vec<u8>>());
        client.expect_bytes(&reply.repeat(BATCH as usize));
    }
}

fn info(client: &mut Client, field: &str) -> u64 {
    client.send(&request(&[b"INFO".as_slice(), b"memory"]));
    let mut found = None;
    loop {
        let line = client.line();
        if let Some(value) = line.strip_prefix(field).and_then(|rest| rest.strip_prefix(':')) {
            found = value.parse().ok();
        }
        // The last of the section, behind which the reply ends.
        if line.starts_with("lazyfreed_objects") {
            assert_eq!(client.line(), "");
            return found.expect("a number");
        }
    }
}

fn load_keys(client: &mut Client) {
    load(client, KEYS, b"+OK\r\n", |n| {
        request(&[b"SET".as_slice(), format!("key:{n:010}").as_bytes(), b"short"])
    });
    load(client, HASHES, b":5\r\n", |n| {
        let key = format!("hash:{n:010}");
        let fields = (0..5).flat_map(|field| [format!("field:{field}"), "a value of some length".into()]);
        let words: Vec<String> = ["HSET".into(), key].into_iter().chain(fields).collect();
        request(&words.iter().map(|word| word.as_bytes()).collect::<Vec<&[u8]>>())
    });
}

#[test]
fn used_memory_is_not_that_of_the_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let process = Process::start(directory.path());
    let mut client = process.connect();
    let (used, resident) = (info(&mut client, "used_memory"), process.memory_bytes());
    load_keys(&mut client);
    let grown = info(&mut client, "used_memory") - used;
    let taken = process.memory_bytes() - resident;
    assert!(grown > 20_000_000, "{grown} bytes");
    // Beside the keydir there are buffers and caches, and what the allocator cannot use.
    assert!((taken * 6 / 10..taken * 11 / 10).contains(&grown), "{grown} bytes are said, {taken} taken");
}

#[test]
fn memory_of_flushed_keys_stays_with_the_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let process = Process::start(directory.path());
    let mut client = process.connect();
    let before = process.memory_bytes();
    load_keys(&mut client);
    let full = process.memory_bytes() - before;
    client.expect(&[b"FLUSHALL"], b"+OK\r\n");
    let begin = Instant::now();
    loop {
        client.expect(&[b"MEMORY", b"PURGE"], b"+OK\r\n");
        let left = process.memory_bytes().saturating_sub(before);
        if left < full / 4 {
            break;
        }
        assert!(begin.elapsed() < PATIENCE, "{left} of {full} bytes are left");
        yield_now();
    }
}

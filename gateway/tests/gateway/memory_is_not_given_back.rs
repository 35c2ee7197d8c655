//! The memory that a server says it uses, and the memory that it has of the system.

use std::thread::yield_now;
use std::time::{Duration, Instant};

use crate::support::{Client, Process, request};

/// So many that what they take is more than [`OTHER_BYTES`].
const KEYS: u32 = 1_500_000;
const HASHES: u32 = 100_000;

/// What caches beside the keydir may take, those of the metadata map for hints among them.
const OTHER_BYTES: u64 = 48 << 20;

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
    assert!(grown > 75_000_000, "{grown} bytes");
    // Beside the keydir there are buffers and caches, what the metadata map holds of hints among them, and what the
    // allocator cannot use.
    let least = taken.saturating_sub(OTHER_BYTES) * 6 / 10;
    assert!((least..taken * 11 / 10).contains(&grown), "{grown} bytes are said, {taken} taken");
    let said = info(&mut client, "used_memory");
    assert!(
        (resident + taken).abs_diff(said) < said / 2 + OTHER_BYTES,
        "{said} bytes are said, {} taken",
        resident + taken
    );
}

/// Waits until a process has given back most of what its keys took.
fn wait_until_given_back(process: &Process, full: u64, keys: u64) {
    let begin = Instant::now();
    loop {
        let given_back = (full + OTHER_BYTES).saturating_sub(process.memory_bytes());
        if given_back >= keys * 8 / 10 {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{given_back} bytes of {keys} were given back");
        yield_now();
    }
}

#[test]
fn memory_of_flushed_keys_stays_with_the_process() {
    let directory = tempfile::tempdir().expect("a directory");
    let process = Process::start(directory.path());
    let mut client = process.connect();
    load_keys(&mut client);
    let (full, keys) = (process.memory_bytes(), info(&mut client, "used_memory_dataset"));
    client.expect(&[b"FLUSHALL"], b"+OK\r\n");
    wait_until_given_back(&process, full, keys);
}

#[test]
fn memory_of_deleted_keys_is_not_purged() {
    let directory = tempfile::tempdir().expect("a directory");
    let process = Process::start(directory.path());
    let mut client = process.connect();
    load_keys(&mut client);
    let (full, keys) = (process.memory_bytes(), info(&mut client, "used_memory_dataset"));
    load(&mut client, KEYS, b":1\r\n", |n| request(&[b"DEL".as_slice(), format!("key:{n:010}").as_bytes()]));
    load(&mut client, HASHES, b":1\r\n", |n| {
        request(&[b"DEL".as_slice(), format!("hash:{n:010}").as_bytes()])
    });
    // Hashes are freed a little later.
    while info(&mut client, "mem_not_counted_for_evict") > info(&mut client, "used_memory_startup") {
        yield_now();
    }
    client.expect(&[b"MEMORY", b"PURGE"], b"+OK\r\n");
    wait_until_given_back(&process, full, keys);
}

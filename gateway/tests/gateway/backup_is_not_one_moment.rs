//! `edgecask backup` and `edgecask restore` on real files: a backup holds one moment of a server that is written to, opens on
//! its own, and nothing that is half made is taken for one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use edgecask::backup::run_backup;
use edgecask::limits::Deadlines;
use edgecask::restore::run_restore;
use edgecask::stop::StopRequest;
use edgecask::upkeep::run_check;

use crate::support::{Client, Process, Server, start_in};

const BLOB_BYTES: usize = 3 * 1024 * 1024;

/// What a task prints, or its error.
fn told(
    task: impl FnOnce(&mut Vec<u8>) -> Result<bool, edgecask::upkeep::UpkeepError>,
) -> (Option<bool>, String) {
    let mut out = Vec::new();
    match task(&mut out) {
        Ok(is_well) => (Some(is_well), String::from_utf8(out).expect("text")),
        Err(error) => (None, error.to_string()),
    }
}

fn back_up(from: &Path, to: &Path) -> (Option<bool>, String) {
    told(|out| run_backup(from, to, out))
}

fn restore(from: &Path, to: &Path) -> (Option<bool>, String) {
    told(|out| run_restore(from, to, out))
}

/// Serves a directory for a moment.
fn serving<R>(directory: &Path, visit: impl FnOnce(&mut Client) -> R) -> R {
    let running = start_in(directory, "", Deadlines::default()).unwrap_or_else(|error| panic!("{error}"));
    let seen = visit(&mut Client::connect(running.addresses()[0]));
    running.gateway().stop.request(StopRequest { checkpoint: true });
    assert!(running.wait());
    seen
}

fn value(client: &mut Client, key: &str) -> String {
    client.send(&crate::support::request(&[b"GET", key.as_bytes()]));
    match client.line().as_str() {
        "$-1" => String::new(),
        _ => client.line(),
    }
}

fn files(directory: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    all.retain(|path| path.display().to_string().ends_with(suffix));
    all
}

fn links(path: &Path) -> u64 {
    fs::metadata(path).expect("is there").nlink()
}

fn fill(client: &mut Client) {
    client.expect(&[b"SET", b"film", &vec![b'a'; BLOB_BYTES]], b"+OK\r\n");
    client.expect(&[b"MSET", b"left", b"0", b"right", b"0"], b"+OK\r\n");
}

#[test]
fn backup_of_a_busy_server_cuts_a_transaction() {
    let server = Server::start("--datafile-max-bytes 1mb");
    let place = tempfile::tempdir().expect("a directory");
    fill(&mut server.connect());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut client = server.connect();
        scope.spawn(|| {
            let mut client = server.connect();
            let mut number = 0_u64;
            while !is_over.load(Ordering::Acquire) {
                number += 1;
                let text = number.to_string().into_bytes();
                client.expect(&[b"MSET", b"left", &text, b"right", &text, b"much", &[7; 3000]], b"+OK\r\n");
            }
        });
        for number in 0..6 {
            let grown = format!(":{}\r\n", BLOB_BYTES + 4 * (number + 1));
            client.expect(&[b"APPEND", b"film", b"more"], grown.as_bytes());
            let to = place.path().join(format!("backup-{number}"));
            let outcome = back_up(server.directory.path(), &to);
            if outcome.0 != Some(true) {
                is_over.store(true, Ordering::Release);
            }
            assert_eq!(outcome.0, Some(true), "{}", outcome.1);
        }
        is_over.store(true, Ordering::Release);
    });
    for number in 0..6 {
        let backup = place.path().join(format!("backup-{number}"));
        assert_eq!(told(|out| run_check(&backup, out)).0, Some(true));
        let restored = place.path().join(format!("restored-{number}"));
        assert_eq!(restore(&backup, &restored).0, Some(true));
        assert!(
            files(&restored, ".blob").iter().chain(&files(&restored, ".data")).all(|path| links(path) == 1)
        );
        for store in [&backup, &restored] {
            serving(store, |client| {
                let (left, right) = (value(client, "left"), value(client, "right"));
                assert_eq!(left, right, "one command, half of it");
                let len = format!(":{}\r\n", BLOB_BYTES + 4 * (number + 1));
                client.expect(&[b"STRLEN", b"film"], len.as_bytes());
                // The original's file is not written to.
                let longer = format!(":{}\r\n", BLOB_BYTES + 4 * (number + 1) + 6);
                client.expect(&[b"APPEND", b"film", b"alien!"], longer.as_bytes());
            });
            assert_eq!(told(|out| run_check(store, out)).0, Some(true));
        }
    }
    let mut client = server.connect();
    let longer = format!(":{}\r\n", BLOB_BYTES + 25);
    client.expect(&[b"APPEND", b"film", b"!"], longer.as_bytes());
    client.expect(&[b"GETRANGE", b"film", b"-5", b"-1"], b"$5\r\nmore!\r\n");
    let directory = server.directory.path().to_owned();
    client.expect(&[b"SET", b"after", b"well"], b"+OK\r\n");
    // At rest all of it is read once more.
    let copy = place.path().join("copy");
    assert_eq!(back_up(&directory, &copy).0, Some(true));
    assert_eq!(told(|out| run_check(&copy, out)).0, Some(true));
}

#[test]
fn backup_is_written_over_what_is_there() {
    let server = Server::start("");
    let place = tempfile::tempdir().expect("a directory");
    fill(&mut server.connect());
    let there = place.path().join("there");
    fs::create_dir(&there).expect("made");
    let (outcome, text) = back_up(server.directory.path(), &there);
    assert_eq!(outcome, None);
    assert!(text.contains("is there already"), "{text}");
    // An unfinished one of our own goes; one with something else in it does not.
    let to = place.path().join("new");
    let unfinished = place.path().join("new.unfinished");
    fs::create_dir(&unfinished).expect("made");
    fs::write(unfinished.join("0000000001.data"), b"half").expect("written");
    fs::write(unfinished.join("photo.jpg"), b"mine").expect("written");
    let (outcome, text) = back_up(server.directory.path(), &to);
    assert_eq!(outcome, None);
    assert!(text.contains("photo.jpg"), "{text}");
    assert!(unfinished.join("photo.jpg").exists() && unfinished.join("0000000001.data").exists());
    fs::remove_file(unfinished.join("photo.jpg")).expect("removed");
    let (outcome, text) = back_up(server.directory.path(), &to);
    assert_eq!(outcome, Some(true), "{text}");
    assert!(!unfinished.exists() && !to.join("lock").exists());
    assert!(files(&to, ".blob").iter().all(|path| links(path) == 2), "linked");
    let (outcome, text) = back_up(server.directory.path(), &place.path().join("missing/parent"));
    assert_eq!(outcome, None);
    assert!(text.contains("cannot make"), "{text}");
}

#[test]
fn backup_on_another_file_system_is_not_copied() {
    let Ok(place) = tempfile::tempdir_in("/dev/shm") else { return };
    let server = Server::start("");
    fill(&mut server.connect());
    let to = place.path().join("backup");
    let (outcome, text) = back_up(server.directory.path(), &to);
    assert_eq!(outcome, Some(true), "{text}");
    assert!(text.contains("bytes copied"), "{text}");
    serving(&to, |client| {
        let len = format!(":{BLOB_BYTES}\r\n");
        client.expect(&[b"STRLEN", b"film"], len.as_bytes());
    });
}

#[test]
fn backup_needs_a_server() {
    let place = tempfile::tempdir().expect("a directory");
    let store = place.path().join("store");
    {
        // Its socket stays behind.
        let process = Process::start(&store);
        let mut client = process.connect();
        // It may be reading its store yet.
        client.send(&crate::support::request(&[b"DBSIZE"]));
        while client.line() != ":0" {
            client.send(&crate::support::request(&[b"DBSIZE"]));
        }
        fill(&mut client);
    }
    let to = place.path().join("backup");
    let (outcome, text) = back_up(&store, &to);
    assert_eq!(outcome, Some(true), "{text}");
    serving(&to, |client| assert_eq!(value(client, "left"), "0"));
    let (outcome, text) = back_up(&place.path().join("backup/none"), &place.path().join("other"));
    assert_eq!(outcome, None, "{text}");
    let nothing = place.path().join("nothing");
    fs::create_dir(&nothing).expect("made");
    let (outcome, text) = back_up(&nothing, &place.path().join("other"));
    assert_eq!(outcome, None);
    assert!(text.contains("there is no store"), "{text}");
    assert!(files(&nothing, "").is_empty(), "and none was made");
}

#[test]
fn half_of_a_backup_opens() {
    let server = Server::start("");
    let place = tempfile::tempdir().expect("a directory");
    fill(&mut server.connect());
    let to = place.path().join("backup");
    assert_eq!(back_up(server.directory.path(), &to).0, Some(true));
    // As it is a moment before it is whole.
    fs::remove_file(to.join("MANIFEST")).expect("removed");
    assert!(start_in(&to, "", Deadlines::default()).is_err(), "half of a backup is served");
    let restored = place.path().join("restored");
    let (outcome, text) = restore(&to, &restored);
    assert_eq!(outcome, Some(false), "{text}");
    assert!(!restored.exists(), "nothing is written");
}

#[test]
fn damaged_backup_is_restored() {
    let server = Server::start("");
    let place = tempfile::tempdir().expect("a directory");
    fill(&mut server.connect());
    let to = place.path().join("backup");
    assert_eq!(back_up(server.directory.path(), &to).0, Some(true));
    let full = place.path().join("full");
    fs::create_dir(&full).expect("made");
    fs::write(full.join("file"), b"mine").expect("written");
    let (outcome, text) = restore(&to, &full);
    assert_eq!(outcome, None);
    assert!(text.contains("is not empty"), "{text}");
    let blob = files(&to, ".blob").pop().expect("a blob");
    let mut bytes = fs::read(&blob).expect("read");
    bytes[70_000] ^= 1;
    // In place of the link, which is the server's file.
    fs::remove_file(&blob).expect("removed");
    fs::write(&blob, bytes).expect("written");
    let restored = place.path().join("restored");
    let (outcome, text) = restore(&to, &restored);
    assert_eq!(outcome, Some(false));
    assert!(text.contains("film") && text.contains("nothing was restored"), "{text}");
    assert!(!restored.exists());
}

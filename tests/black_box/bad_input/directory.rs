//! What may be wrong with a data directory: another server in it, damaged datafiles, metadata gone or nonsense.

use std::fs;
use std::path::{Path, PathBuf};

use edgecask_core::resp::{Value, write_request};
use edgecask_tests::process::{Gateway, Server};
use fastrand::Rng;
use tempfile::TempDir;

/// Records of a store under test.
const RECORDS: usize = 3000;

/// A directory with a store in it, whose server has stopped.
fn stored(is_clean: bool) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Gateway::on(directory.path()).must_start();
    let mut bytes = Vec::new();
    for number in 0..RECORDS {
        write_request(&["SET", &format!("key:{number}"), &format!("value {number}")], &mut bytes);
    }
    server.client().exchange(&bytes, RECORDS).expect("replies");
    // Once synced it is proved to have been there: damage to it can be no torn tail.
    assert_eq!(server.client().must("SAVE"), Value::Simple(b"OK".to_vec()));
    assert_eq!(server.client().must("SET behind 1"), Value::Simple(b"OK".to_vec()));
    if is_clean {
        assert!(server.stop().success(), "SIGTERM ends it well");
    } else {
        server.kill();
    }
    directory
}

fn holds_everything(server: &Server) {
    let mut bytes = Vec::new();
    for number in 0..RECORDS {
        write_request(&["GET", &format!("key:{number}")], &mut bytes);
    }
    let replies = server.client().exchange(&bytes, RECORDS).expect("replies");
    for (number, reply) in replies.iter().enumerate() {
        assert_eq!(reply.value, Value::Bulk(format!("value {number}").into_bytes()), "key:{number}");
    }
}

fn first_datafile(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "data"));
    files.sort();
    files.into_iter().next().expect("a datafile")
}

#[test]
fn a_flipped_byte_goes_unnoticed() {
    let mut rng = Rng::with_seed(crate::differential::seed());
    for is_clean in [false, true] {
        let directory = stored(is_clean);
        let path = first_datafile(directory.path());
        let mut bytes = fs::read(&path).expect("a datafile");
        // In the middle of the log, so that what follows proves that this is no torn tail.
        let needle = format!("value {}", RECORDS / 2);
        let at =
            bytes.windows(needle.len()).position(|window| window == needle.as_bytes()).expect("the record");
        bytes[at + rng.usize(..needle.len())] ^= 1 << rng.u8(..8);
        fs::write(&path, &bytes).expect("writes");
        // With hints the log is not read at the start.
        fs::remove_dir_all(directory.path().join("meta")).expect("removes");
        let told = Gateway::on(directory.path()).must_refuse();
        assert!(told.contains("datafile 1 "), "names the datafile: {told}");
        let numbers =
            told.split(|sign: char| !sign.is_ascii_digit()).filter_map(|word| word.parse::<usize>().ok());
        assert!(
            numbers.into_iter().any(|offset| (at - 200..=at).contains(&offset)),
            "names the offset near {at}: {told}"
        );
        assert_eq!(fs::read(&path).expect("a datafile"), bytes, "a refused start changes nothing");
    }
}

#[test]
fn a_flipped_byte_behind_hints_is_read_as_a_value() {
    let directory = stored(true);
    let path = first_datafile(directory.path());
    let mut bytes = fs::read(&path).expect("a datafile");
    let at = bytes.windows(9).position(|window| window == b"value 150").expect("the record");
    bytes[at] ^= 1;
    fs::write(&path, &bytes).expect("writes");
    // Where hints spare reading the log, the damage shows when the value is asked for.
    if let Ok(server) = Gateway::on(directory.path()).start() {
        let mut client = server.client();
        let reply = client.must("GET key:150");
        // Short values are in the hints, and whole there.
        let is_true = reply == Value::Bulk(b"value 150".to_vec());
        assert!(is_true || reply.as_error().is_some(), "a damaged value is no value: {reply:?}");
        assert_eq!(client.must("GET key:151"), Value::Bulk(b"value 151".to_vec()), "others are fine");
    }
}

#[test]
fn metadata_that_is_gone_or_nonsense_costs_more_than_time() {
    for is_clean in [true, false] {
        let directory = stored(is_clean);
        let meta = directory.path().join("meta");
        fs::remove_dir_all(&meta).expect("removes");
        let server = Gateway::on(directory.path()).must_start();
        holds_everything(&server);
        let log = server.log();
        assert!(log.contains("hinted=0 replayed_records=3"), "the log says what was read instead: {log}");
        assert!(server.stop().success());

        for file in ["db", "conf"] {
            let path = meta.join(file);
            let nonsense = vec![0xA5; fs::read(&path).expect("sled's file").len().max(64)];
            fs::write(&path, nonsense).expect("writes");
        }
        let server = Gateway::on(directory.path()).must_start();
        holds_everything(&server);
        assert!(server.log().contains("rebuilt"), "the log says so: {}", server.log());
        let names =
            fs::read_dir(directory.path()).expect("lists").map(|entry| entry.expect("an entry").file_name());
        let broken = names.filter(|name| name.to_string_lossy().contains("broken"));
        assert_eq!(broken.count(), 0, "and the old folder is gone");
        server.kill();
        holds_everything(&Gateway::on(directory.path()).must_start());
    }
}

#[test]
fn two_servers_share_a_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = Gateway::on(directory.path());
    let server = gateway.must_start();
    let told = gateway.must_refuse();
    assert!(told.contains("in use") && told.contains(&directory.path().display().to_string()), "{told}");
    assert_eq!(server.client().must("SET a 1"), Value::Simple(b"OK".to_vec()), "the first one goes on");
    server.kill();
    let server = gateway.must_start();
    assert_eq!(server.client().must("GET a"), Value::Bulk(b"1".to_vec()), "a crash leaves no lock");
}

#[test]
fn a_public_address_is_served_without_a_password() {
    let directory = tempfile::tempdir().expect("a directory");
    let told = Gateway::on(directory.path()).with("--host", "0.0.0.0").must_refuse();
    assert!(told.contains("password") && told.contains("--protected-mode no"), "{told}");
}

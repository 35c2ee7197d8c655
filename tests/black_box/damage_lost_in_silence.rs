//! Bits flip and files go between two starts, and the server calls it something else: a torn end, or a store with fewer
//! keys. Each case is one that took acknowledged writes with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use edgecask_core::resp::Value;
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, Server, edgecask_program};

/// So many keys are written and never synced by themselves.
const KEYS: usize = 5000;

fn file_with(directory: &Path, suffix: &str) -> PathBuf {
    let paths = fs::read_dir(directory).expect("lists").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().ends_with(suffix)).collect();
    found.sort();
    found.pop().unwrap_or_else(|| panic!("no {suffix} in {}", directory.display()))
}

fn flip(path: &Path, offset: usize) {
    let mut bytes = fs::read(path).expect("reads");
    bytes[offset] ^= 1;
    fs::write(path, bytes).expect("writes");
}

fn set_keys(server: &Server) {
    let mut client = server.client();
    for number in 0..KEYS {
        assert_eq!(client.must(&format!("SET key:{number} value:{number}")), Value::Simple("OK".into()));
    }
}

fn value(client: &mut Client, number: usize) -> Value {
    client.must(&format!("GET key:{number}"))
}

/// How many of the keys have their values; the others must not be there at all.
fn held(server: &Server) -> usize {
    let mut client = server.client();
    let is_held = |number: &usize| match value(&mut client, *number) {
        Value::Bulk(bytes) => {
            assert_eq!(bytes, format!("value:{number}").into_bytes());
            true
        }
        other => {
            assert_eq!(other, Value::Null, "key:{number}");
            false
        }
    };
    (0..KEYS).filter(is_held).count()
}

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } =
        Command::new(edgecask_program()).args(arguments).output().expect("the program runs");
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// Everything in a directory.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut files, mut open) = (BTreeMap::new(), vec![directory.to_path_buf()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("lists") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.is_file() {
                // A killed server leaves a socket.
                files.insert(path.clone(), fs::read(&path).expect("reads"));
            }
        }
    }
    files
}

#[test]
fn flipped_bit_in_one_blob_takes_later_keys_with_it() {
    for policy in ["no", "everysec", "always"] {
        let directory = tempfile::tempdir().expect("a directory");
        let gateway = Gateway::on(directory.path()).with("--appendfsync", policy);
        let server = gateway.must_start();
        let film = vec![b'f'; 2 << 20];
        server.client().call(&[b"SET".as_slice(), b"film", &film]).expect("a reply");
        server.client().must("SAVE");
        assert!(server.stop().success());
        let blob = file_with(directory.path(), ".blob");
        flip(&blob, 777);
        let server = gateway.must_start();
        assert_eq!(server.client().must("APPEND film x"), Value::Integer((2 << 20) + 1));
        set_keys(&server);
        server.kill();

        let server = gateway.must_start();
        assert_eq!(held(&server), KEYS, "under {policy}: {}", server.log());
        let mut client = server.client();
        if policy != "always" {
            let reply = client.must("GET film");
            let told = String::from_utf8_lossy(reply.as_error().expect("a damaged value")).into_owned();
            assert!(told.contains("film") && told.contains(&blob.display().to_string()), "{told}");
            assert!(server.log().contains("film"), "{}", server.log());
        }
        assert_eq!(client.must("DEL film"), Value::Integer(1));
        assert_eq!(client.must("SET film again"), Value::Simple("OK".into()));
        server.kill();
        assert_eq!(gateway.must_start().client().must("GET film"), Value::Bulk(b"again".to_vec()));
    }
}

#[test]
fn flipped_bit_in_the_log_cuts_thousands_of_keys_or_blocks_the_store_for_good() {
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = Gateway::on(directory.path()).with("--appendfsync", "no");
    let server = gateway.must_start();
    set_keys(&server);
    server.kill();
    let datafile = file_with(directory.path(), ".data");
    let bytes = fs::read(&datafile).expect("reads");
    let place = bytes.windows(9).position(|window| window == b"value:123").expect("a value");
    flip(&datafile, place + 7);

    let told = gateway.must_refuse();
    assert!(told.contains(&datafile.display().to_string()) && told.contains("at offset "), "{told}");
    assert!(told.contains("edgecask repair") && told.contains("--on-damage salvage"), "{told}");
    // A start that is refused may have opened the hints.
    let before = contents(directory.path());
    let path = directory.path().display().to_string();
    let (status, told) = run(&["check", &path]);
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("\"key:123\"") && told.contains("nothing is left"), "{told}");
    let target = tempfile::tempdir().expect("a directory");
    let repaired = target.path().join("repaired");
    let (status, told) = run(&["repair", &path, "--to", &repaired.display().to_string()]);
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("\"key:123\""), "{told}");
    assert!(contents(directory.path()) == before, "the original is not changed");

    let report = fs::read_to_string(repaired.join("repair-report.txt")).expect("a report");
    assert!(report.contains("\"key:123\""), "{report}");
    let (status, told) = run(&["check", &repaired.display().to_string()]);
    assert_eq!(status, Some(0), "{told}");
    let salvaging = gateway.with("--on-damage", "salvage");
    for gateway in [Gateway::on(&repaired), salvaging] {
        let server = gateway.must_start();
        assert_eq!(held(&server), KEYS - 1, "{}", server.log());
        assert_eq!(value(&mut server.client(), 123), Value::Null);
        server.client().must("SET key:123 value:123");
        server.kill();
        assert_eq!(held(&gateway.must_start()), KEYS);
    }
}

#[test]
fn missing_datafile_or_manifest_is_a_smaller_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let gateway = Gateway::on(directory.path());
    let server = gateway.must_start();
    set_keys(&server);
    assert!(server.stop().success());
    for suffix in [".data", "MANIFEST"] {
        let path = file_with(directory.path(), suffix);
        let aside = directory.path().join("elsewhere");
        fs::rename(&path, &aside).expect("renames");
        let told = gateway.must_refuse();
        assert!(told.contains(&path.display().to_string()) && told.contains("is missing"), "{told}");
        assert_eq!(run(&["check", &directory.path().display().to_string()]).0, Some(1));
        fs::rename(&aside, &path).expect("renames");
    }
    assert_eq!(run(&["check", &directory.path().display().to_string()]).0, Some(0));
    let server = gateway.must_start();
    let (status, told) = run(&["check", &directory.path().display().to_string()]);
    assert!(status == Some(2) && told.contains("in use"), "{told}");
    assert_eq!(held(&server), KEYS);
}

//! Stores that older builds wrote (`tests/fixtures`): this build opens each of them, gives the answers that were noted when it
//! was written, and goes on with it through changes, kill -9, a merge and the loss of all hints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use edgecask_core::resp::Value;
use edgecask_core::transcript::{self, Step, show};
use edgecask_tests::client::Client;
use edgecask_tests::process::{Gateway, Server, report};
use edgecask_tests::retry::wait_for;
use tempfile::TempDir;

use crate::differential::typed;

/// Changes of what the older build wrote, of every type.
const CHANGES: &[&str] = &[
    "SET added value",
    "RPUSH list added",
    "SADD set:large added",
    "HSET hash:large added value",
    "ZADD scores:large 17.25 added",
    "DEL short",
    "COPY stream stream:copied",
    "XADD stream:copied 400-0 added entry",
    "XACK stream:copied readers 1-0",
    "COPY patched patched:copied",
    "SETRANGE patched:copied 6000 added",
    "APPEND patched:copied added",
    "SWAPDB 1 3",
];

/// Takes all of them back.
const REVERSALS: &[&str] = &[
    "DEL added",
    "RPOP list",
    "SREM set:large added",
    "HDEL hash:large added",
    "ZREM scores:large added",
    "SET short value",
    "DEL stream:copied patched:copied",
    "SWAPDB 3 1",
];

/// A value that is written again and again until what it replaced is worth a merge.
const FILLER_BYTES: usize = 1 << 16;

/// Twice what makes a datafile worth one.
const FILLER_WRITES: usize = 1024;

/// A merge of some hundred kilobytes is done by then.
const MERGE_LIMIT: Duration = Duration::from_secs(60);

#[test]
fn store_of_an_older_build_does_not_open() {
    let mut count = 0;
    for archive in archives() {
        let name = archive.strip_prefix(fixtures()).expect("a path inside").display().to_string();
        let questions = read_questions(&archive);
        open_and_change(&unpack(&archive), &questions, &name);
        open_without_hints(&unpack(&archive), &questions, &name);
        count += 1;
        report(&format!("{name}: opened, changed, killed, merged; {} answers as they were", questions.len()));
    }
    assert!(count > 0, "there are no stores in {}", fixtures().display());
}

fn open_and_change(directory: &TempDir, questions: &[Step], name: &str) {
    let gateway = Gateway::on(directory.path()).with("--enable-debug-command", "yes");
    let server = gateway.must_start();
    check(&server, questions, &format!("{name}, as it was"));
    let before = digest(&server);
    must_all(&server, CHANGES);
    let changed = digest(&server);
    assert_ne!(changed, before, "{name}");
    assert!(server.stop().success(), "{name}: an end by SIGTERM");

    let server = gateway.must_start();
    assert_eq!(digest(&server), changed, "{name}, changed and opened again");
    must_all(&server, REVERSALS);
    check(&server, questions, &format!("{name}, with all changes taken back"));
    server.kill();

    let server = gateway.must_start();
    check(&server, questions, &format!("{name}, after kill -9"));
    merge(&server, name);
    check(&server, questions, &format!("{name}, merged"));
    server.kill();

    check(&gateway.must_start(), questions, &format!("{name}, merged and opened again"));
}

/// Hints only make a start quicker.
fn open_without_hints(directory: &TempDir, questions: &[Step], name: &str) {
    fs::remove_dir_all(directory.path().join("meta")).expect("a metadata map");
    let gateway = Gateway::on(directory.path()).with("--enable-debug-command", "yes");
    check(&gateway.must_start(), questions, &format!("{name}, without its hints"));
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Every store of every older build.
fn archives() -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    };
    let builds = list(&fixtures()).into_iter().filter(|path| path.is_dir());
    let mut archives: Vec<_> =
        builds.flat_map(|build| list(&build)).filter(|path| is_archive(path)).collect();
    archives.sort();
    archives
}

fn is_archive(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".tar.gz")
}

/// A copy of the store, which goes away with the test.
fn unpack(archive: &Path) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(directory.path()).status();
    assert!(unpacked.is_ok_and(|status| status.success()), "cannot unpack {}", archive.display());
    directory
}

/// The transcript beside an archive.
fn read_questions(archive: &Path) -> Vec<Step> {
    let path = archive.with_extension("").with_extension("txt");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    transcript::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn check(server: &Server, questions: &[Step], when: &str) {
    let mut client = server.client();
    for question in questions {
        let Step::Request { line, args, expected, unordered, .. } = question else {
            panic!("{when}: a store is only asked");
        };
        let value = client.call(args).unwrap_or_else(|error| panic!("{when}, line {line}: {error}"));
        let shown = show(&value, *unordered);
        let place = format!("{when}, line {line}: {}", typed(args));
        assert!(fits(&shown, expected), "{place}\n{shown}\nexpected:\n{expected}");
    }
}

/// Whether an answer is the expected one, in which `*` at the end of a line stands for any number.
fn fits(shown: &str, expected: &str) -> bool {
    let is_line = |(shown, expected): (&str, &str)| match expected.strip_suffix('*') {
        Some(beginning) if beginning.ends_with("(integer) ") => {
            shown.strip_prefix(beginning).is_some_and(|number| number.parse::<i64>().is_ok())
        }
        _ => shown == expected,
    };
    shown.lines().count() == expected.lines().count() && shown.lines().zip(expected.lines()).all(is_line)
}

fn digest(server: &Server) -> Value {
    server.client().must("DEBUG DIGEST")
}

fn must_all(server: &Server, requests: &[&str]) {
    let mut client = server.client();
    for request in requests {
        let reply = client.must(request);
        let has_done = !matches!(&reply, Value::Error(_) | Value::Null | Value::Integer(0));
        assert!(has_done, "{request}: {reply:?}");
    }
}

/// Fills the active datafile with what is dead at once and waits until it is merged.
fn merge(server: &Server, name: &str) {
    let mut client = server.client();
    let filler = vec![b'x'; FILLER_BYTES];
    for _ in 0..FILLER_WRITES {
        let reply = client.call(&[&b"SET"[..], b"filler", &filler]).expect("a reply");
        assert_eq!(reply, Value::Simple("OK".into()), "{name}");
    }
    client.must("DEL filler");
    let merged = wait_for(MERGE_LIMIT, || (merges(&mut client) > 0).then_some(()));
    assert!(merged.is_some(), "{name}: no merge within {MERGE_LIMIT:?}");
}

fn merges(client: &mut Client) -> u64 {
    let Value::Bulk(text) = client.must("INFO") else { panic!("INFO is text") };
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find_map(|line| line.strip_prefix("merges:")).expect("a count of merges");
    line.trim().parse().expect("a number")
}

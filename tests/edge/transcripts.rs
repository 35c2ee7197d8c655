//! Every transcript against the edge worker, each on a database of its own: the replies are those that it names, to the letter.
//! By WebSocket under workerd, and in the same process as the wasm under wasmtime; once as it is, and once with objects that
//! forget everything in memory after every event, so that sessions live in attachments and the store in its rows only.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use edgecask_core::resp::write_request;
use edgecask_core::transcript::{self, Step, show};
use edgecask_tests::client::Client;
use edgecask_tests::process::report;

use crate::home::Home;
use crate::wasmtime::Wasmtime;
use crate::worker::Worker;

/// What is not compared in a run.
#[derive(Default)]
struct Excused {
    /// Transcripts that are not run.
    transcripts: &'static [&'static str],
    /// First words of requests that may have other replies.
    requests: &'static [&'static [&'static str]],
    /// So many milliseconds more than a transcript says may have passed.
    late_ms: i64,
}

/// Transcripts whose clock must stand where the in-process runs put it.
const CLOCK_STANDS: &[&str] = &["restore_idle_time", "server_facts", "stream_times"];

/// A sleep ends connections with a transaction or a cursor of SQL.
const ENDED_BY_SLEEP: &[&str] = &["sql_open"];

/// Those and the ones of [`CLOCK_STANDS`].
const NOT_ASLEEP: &[&str] = &["restore_idle_time", "server_facts", "stream_times", "sql_open"];

/// Requests that tell what only memory knows, and which a sleep therefore changes: when and how often keys were read, statistics, and what
/// FT.CONFIG SET has set.
const OF_THIS_LIFE: &[&str] = &[
    "object idletime",
    "object freq",
    "ft.config get",
    "slowlog len",
    "slowlog get",
    "latency histogram",
    "info commandstats",
    "info errorstats",
    "info latencystats",
];

/// Requests that tell of the home: its memory, its bytes, its id.
const OF_THIS_HOME: &[&str] =
    &["info clients memory", "info stats", "info replication cpu", "memory stats", "memory malloc-stats"];

/// Time goes on while requests are on their way, and slowly they are where each opens the store anew.
const LATE_MS: i64 = 30_000;

/// Transcripts at a time. Some wait; but if many were woken with every message, keys would expire before they are asked for.
const SIDE_BY_SIDE: usize = 2;

const DEBUG_ALLOWED: &str = "EDGECASK_SETTINGS=enable-debug-command yes";

#[test]
fn transcripts_differ_under_workerd() {
    let directory = tempfile::tempdir().expect("a directory");
    let worker = Worker::start(directory.path(), &[DEBUG_ALLOWED]);
    let excused = Excused { transcripts: CLOCK_STANDS, late_ms: LATE_MS, ..Excused::default() };
    run_all("transcripts under workerd", &worker, &excused);
}

#[test]
fn sleep_changes_a_reply_under_workerd() {
    let directory = tempfile::tempdir().expect("a directory");
    let worker = Worker::start(directory.path(), &[DEBUG_ALLOWED, "EDGECASK_FORGET=yes"]);
    let excused = Excused { transcripts: NOT_ASLEEP, requests: &[OF_THIS_LIFE], late_ms: LATE_MS };
    run_all("transcripts under workerd, asleep after every message", &worker, &excused);
}

#[test]
fn transcripts_differ_under_wasmtime() {
    let excused = Excused { requests: &[OF_THIS_HOME], ..Excused::default() };
    run_all("transcripts under wasmtime", &Wasmtime::start(&[]), &excused);
}

#[test]
fn sleep_changes_a_reply_under_wasmtime() {
    let excused = Excused {
        transcripts: ENDED_BY_SLEEP,
        requests: &[OF_THIS_LIFE, OF_THIS_HOME],
        ..Excused::default()
    };
    run_all(
        "transcripts under wasmtime, asleep after every message",
        &Wasmtime::start(&["--forget"]),
        &excused,
    );
}

fn run_all(what: &str, home: &dyn Home, excused: &Excused) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let begin = Instant::now();
    let waiting = Mutex::new(VecDeque::from(paths));
    let outcome = Mutex::new((0, 0, Vec::new()));
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(path) = { waiting.lock().expect("no panics").pop_front() } {
                    let (requests, skipped, problems) = run(&path, home, excused);
                    let mut outcome = outcome.lock().expect("no panics");
                    outcome.0 += requests;
                    outcome.1 += skipped;
                    outcome.2.extend(problems);
                }
            });
        }
    });
    let (requests, skipped, problems) = outcome.into_inner().expect("no panics");
    report(&format!(
        "{what}: {requests} requests as written, {skipped} left out, {} not; {:.1} s",
        problems.len(),
        begin.elapsed().as_secs_f64()
    ));
    assert!(problems.is_empty(), "{} problems:\n\n{}", problems.len(), problems.join("\n\n"));
}

fn run(path: &Path, home: &dyn Home, excused: &Excused) -> (u64, u64, Vec<String>) {
    let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
    let (mut requests, mut skipped, mut problems) = (0, 0, Vec::new());
    if excused.transcripts.contains(&name.as_str()) {
        return (requests, skipped, problems);
    }
    let text = fs::read_to_string(path).expect("a transcript");
    let steps = transcript::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut connections: Vec<Client> = Vec::new();
    for step in steps {
        match step {
            Step::Advance(pause_ms) => home.let_pass(&name, pause_ms),
            Step::Request { line, connection, unordered, args, expected } => {
                while connections.len() < connection {
                    connections.push(home.client(&name, connections.len() as u64 + 1));
                }
                let mut bytes = Vec::new();
                write_request(&args, &mut bytes);
                let client = &mut connections[connection - 1];
                let shown = match client.send(&bytes).and_then(|()| client.receive_reply()) {
                    Ok(reply) => show(&reply.value, unordered),
                    Err(error) => {
                        problems.push(format!("{name}.txt line {line}: {error}"));
                        return (requests, skipped, problems);
                    }
                };
                let request = String::from_utf8_lossy(&args.join(&b' ')).to_lowercase();
                if without_ids(&shown) == without_ids(&expected) {
                    requests += 1;
                } else if excused.requests.iter().copied().flatten().any(|words| request.starts_with(words)) {
                    skipped += 1;
                } else if is_late(&request, &shown, &expected, excused.late_ms) {
                    requests += 1;
                } else {
                    problems
                        .push(format!("{name}.txt line {line}\n  edge:     {shown}\n  expected: {expected}"));
                }
            }
        }
    }
    (requests, skipped, problems)
}

/// Whether a reply that counts time differs by at most so much that has passed since.
fn is_late(request: &str, shown: &str, expected: &str, late_ms: i64) -> bool {
    let counts = [("ttl ", -1000), ("pttl ", -1), ("object idletime ", 1000)];
    let Some((_, unit_ms)) = counts.iter().find(|(words, _)| request.starts_with(words)) else {
        return false;
    };
    let time = |shown: &str| shown.strip_prefix("(integer) ")?.parse::<i64>().ok().filter(|time| *time >= 0);
    let (Some(shown), Some(expected)) = (time(shown), time(expected)) else { return false };
    (0..=late_ms).contains(&((shown - expected) * unit_ms))
}

/// The text without the numbers of connections: a sleep may leave some out.
fn without_ids(shown: &str) -> String {
    let mut is_id = false;
    let lines = shown.lines().map(|line| {
        let is_this = std::mem::replace(&mut is_id, line.ends_with("\"id\""));
        match line.split_once("\"id\" => ") {
            Some((before, _)) => before.to_string(),
            None if is_this => String::new(),
            None => line.to_string(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

//! Every transcript over WebSocket against the worker, each in a database of its own: the replies are those that it names, to
//! the letter. Once as it is, and once with objects that forget everything in memory after every event, so that sessions live
//! in attachments and the store in its rows only.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use edgecask_core::resp::write_request;
use edgecask_core::transcript::{self, Step, show};
use edgecask_tests::client::Client;
use edgecask_tests::process::report;
use edgecask_tests::retry::let_pass;
use edgecask_tests::web_socket::Cutting;

use crate::worker::Worker;

/// Transcripts whose clock must stand where the in-process runs put it.
const IN_PROCESS_ONLY: &[&str] = &["restore_idle_time", "server_facts", "stream_times"];

/// Requests whose replies tell what only memory knows (access times, positions of walks, statistics), and which a sleep
/// therefore changes; and those that tell seconds, which pass here, since each event opens the store anew.
const OF_THIS_LIFE: &[&str] =
    &["info", "slowlog", "latency", "memory", "hscan", "sscan", "zscan", "lastsave", "object", "ttl", "pttl"];

/// Transcripts at a time: most of them wait.
const SIDE_BY_SIDE: usize = 6;

const DEBUG_ALLOWED: &str = "EDGECASK_SETTINGS=enable-debug-command yes";

#[test]
fn transcripts_differ_at_the_edge() {
    let directory = tempfile::tempdir().expect("a directory");
    run_all("transcripts under workerd", &Worker::start(directory.path(), &[DEBUG_ALLOWED]), &[]);
}

#[test]
fn sleep_changes_a_reply() {
    let directory = tempfile::tempdir().expect("a directory");
    let worker = Worker::start(directory.path(), &[DEBUG_ALLOWED, "EDGECASK_FORGET=yes"]);
    run_all("transcripts with a sleep after every message", &worker, OF_THIS_LIFE);
}

fn run_all(what: &str, worker: &Worker, left_out: &[&str]) {
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
                    let (requests, skipped, problems) = run(&path, worker, left_out);
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

fn run(path: &Path, worker: &Worker, left_out: &[&str]) -> (u64, u64, Vec<String>) {
    let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
    let (mut requests, mut skipped, mut problems) = (0, 0, Vec::new());
    if IN_PROCESS_ONLY.contains(&name.as_str()) {
        return (requests, skipped, problems);
    }
    let text = fs::read_to_string(path).expect("a transcript");
    let steps = transcript::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut connections: Vec<Client> = Vec::new();
    for step in steps {
        match step {
            // What is to expire in these milliseconds has, a moment later.
            Step::Advance(pause_ms) => let_pass(Duration::from_millis(pause_ms + 10)),
            Step::Request { line, connection, unordered, args, expected } => {
                while connections.len() < connection {
                    let random = fastrand::Rng::with_seed(connections.len() as u64 + 1);
                    connections.push(worker.client(&name, Cutting::Random(random)));
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
                let command = String::from_utf8_lossy(args.first().map_or(b"", Vec::as_slice)).to_lowercase();
                if left_out.contains(&command.as_str()) {
                    skipped += 1;
                } else if without_ids(&shown) == without_ids(&expected) {
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

//! Every transcript over TCP: `edgecask` must give the replies it names, and `redis-server` replies that agree with ours. The same
//! requests over WebSocket, in messages and fragments of random lengths, must give another `edgecask`'s replies to the byte.
//!
//! `@` steps wait in real time here, so transcripts run side by side, each on servers of its own.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use edgecask_core::resp::write_request;
use edgecask_core::transcript::{self, Step, show};
use edgecask_tests::client::{Client, Reply};
use edgecask_tests::process::{Gateway, Server, redis, report};
use edgecask_tests::retry::let_pass;
use edgecask_tests::web_socket::Cutting;

use crate::differential::{Allowed, agree, seed, typed};

/// Transcripts whose clock must stand where the in-process runs put it.
const IN_PROCESS_ONLY: &[&str] = &["restore_idle_time", "server_facts", "stream_times"];

/// Transcripts of what Redis has not, which are not compared.
const OURS_ALONE: &[&str] =
    &["graph", "json", "search", "search_dictionaries", "search_suggestions", "sql", "sql_open"];

/// Transcripts at a time: most of them wait.
const SIDE_BY_SIDE: usize = 6;

/// What came of one transcript.
#[derive(Default)]
struct Outcome {
    steps: u64,
    compared: u64,
    identical: u64,
    problems: Vec<String>,
}

#[test]
fn transcripts_differ_over_tcp() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let mut names: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    names.sort();
    let begin = Instant::now();
    let waiting = Mutex::new(VecDeque::from(names));
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(path) = { waiting.lock().expect("no panics").pop_front() } {
                    let outcome = run(&path);
                    outcomes.lock().expect("no panics").push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no panics");
    let sum = |of: fn(&Outcome) -> u64| outcomes.iter().map(of).sum::<u64>();
    report(&format!(
        "transcripts over TCP: {} files, {} requests as written, {} compared with redis-server; over WebSocket: {} the \
         same to the byte; {:.1} s",
        outcomes.len(),
        sum(|outcome| outcome.steps),
        sum(|outcome| outcome.compared),
        sum(|outcome| outcome.identical),
        begin.elapsed().as_secs_f64()
    ));
    let problems: Vec<String> = outcomes.into_iter().flat_map(|outcome| outcome.problems).collect();
    assert!(problems.is_empty(), "{} problems:\n\n{}", problems.len(), problems.join("\n\n"));
}

fn run(path: &Path) -> Outcome {
    let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_string();
    let mut outcome = Outcome::default();
    if IN_PROCESS_ONLY.contains(&name.as_str()) {
        return outcome;
    }
    let text = fs::read_to_string(path).expect("a transcript");
    let steps = transcript::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let directory = tempfile::tempdir().expect("a directory");
    let allowed_debug = ("--enable-debug-command", "yes");
    let ours = Gateway::on(directory.path()).with(allowed_debug.0, allowed_debug.1);
    let servers = [ours.must_start(), redis(&[allowed_debug.0, allowed_debug.1])];
    let web_directory = tempfile::tempdir().expect("a directory");
    let web =
        Gateway::on(web_directory.path()).with(allowed_debug.0, allowed_debug.1).with_web().must_start();
    let seed = seed();
    let mut connections: Vec<[Client; 2]> = Vec::new();
    let mut web_connections: Vec<Client> = Vec::new();
    let mut allowed = Allowed::read();
    for step in steps {
        match step {
            // What is to expire in these milliseconds has, a moment later.
            Step::Advance(pause_ms) => let_pass(Duration::from_millis(pause_ms + 10)),
            Step::Request { line, connection, unordered, args, expected } => {
                while connections.len() < connection {
                    connections.push(servers.each_ref().map(Server::client));
                    let random = fastrand::Rng::with_seed(seed ^ connections.len() as u64);
                    web_connections.push(web.web_client(Cutting::Random(random)));
                }
                let [ours, theirs] = connections[connection - 1].each_mut().map(|client| ask(client, &args));
                let place = format!("{name}.txt line {line}: {}", typed(&args));
                outcome.steps += 1;
                let Some(ours) = ours else {
                    outcome.problems.push(format!("{place}\n  edgecask closed the connection"));
                    return outcome;
                };
                let shown = show(&ours.value, unordered);
                if without_ids(&shown) != without_ids(&expected) {
                    outcome.problems.push(format!("{place}\n  edgecask: {shown}\n  expected: {expected}"));
                }
                let by_web = ask(&mut web_connections[connection - 1], &args);
                let is_identical = by_web.as_ref().is_some_and(|by_web| by_web.bytes == ours.bytes);
                outcome.identical += u64::from(is_identical);
                let is_alike = |by_web: &Reply| {
                    without_ids(&shown) == without_ids(&show(&by_web.value, unordered))
                        || agree(&args, &ours, by_web)
                };
                if !is_identical && !by_web.as_ref().is_some_and(is_alike) {
                    outcome.problems.push(format!(
                        "{place} (EDGECASK_SEED={seed})\n  over TCP:       {ours:?}\n  over WebSocket: {by_web:?}"
                    ));
                }
                let Some(theirs) = theirs.filter(|_| !OURS_ALONE.contains(&name.as_str())) else { continue };
                outcome.compared += 1;
                let their_text = show(&theirs.value, unordered);
                if shown != their_text
                    && !agree(&args, &ours, &theirs)
                    && !allowed.allows(&args, &ours, &theirs)
                {
                    outcome.problems.push(format!("{place}\n  edgecask: {shown}\n  redis:    {their_text}"));
                }
            }
        }
    }
    outcome
}

/// A request and its reply; none once the server has closed the connection.
fn ask(client: &mut Client, args: &[Vec<u8>]) -> Option<Reply> {
    let mut bytes = Vec::new();
    write_request(args, &mut bytes);
    client.send(&bytes).and_then(|()| client.receive_reply()).ok()
}

/// The text without the numbers of connections: the first ones of a server only asked whether it had started.
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

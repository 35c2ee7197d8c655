//! Every successful reply of the transcripts is of the type that the row of its command promises, in both protocols, and
//! every type that a row names has had such a reply.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use super::transcript_differs::TRANSCRIPTS;
use super::{Console, START_MS, values};
use crate::catalog::{self, CommandSpec, Group, ReplyType};
use crate::engine::memory::MemoryEngine;
use crate::resp::{Protocol, Value, split_line};
use crate::script::lines::Lines;
use crate::server::scripts::ScriptEngine;
use crate::server::{HostFacts, Server, Settings, Shared};
use crate::transcript::{self, Step};

/// Transcripts of what there is no engine for in these tests: their written replies are read.
const WRITTEN: &[(&str, &str)] = &[
    ("graph", include_str!("../../../../../tests/transcripts/graph.txt")),
    ("sql", include_str!("../../../../../tests/transcripts/sql.txt")),
    ("sql_open", include_str!("../../../../../tests/transcripts/sql_open.txt")),
];

/// Requests whose replies no transcript states.
const UNSTATED: (&str, &str) = ("requests_of_every_type", include_str!("requests_of_every_type.txt"));

/// Types that no request of these tests gets: (row, case, reason). Nor do they get those of the commands of clusters, which
/// are all refused.
const UNSEEN: &[(&str, &str, &str)] = &[
    ("config|rewrite", "", "there is no file of settings"),
    ("failover", "", "there are no replicas: refused"),
    ("fcall_ro", "", "functions in the language for tests cannot say that they only read"),
    ("function|kill", "", "no function runs while a client is heard"),
    ("json.validate", "", "there is no validator of JSON Schema in these tests"),
    ("module|load", "", "modules are refused"),
    ("module|loadex", "", "modules are refused"),
    ("module|unload", "", "modules are refused"),
    ("script|kill", "", "no script runs while a client is heard"),
    ("shutdown", "ABORT", "a shutdown is never in progress: refused"),
    ("trigger|old", "", "only functions of triggers get a reply"),
];

/// A host with a clock on which each command takes a while, a file of users, and passwords that anybody can guess.
#[derive(Default)]
struct Host(AtomicU64);

impl HostFacts for Host {
    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        Vec::new()
    }

    fn monotonic_ns(&self) -> u64 {
        self.0.fetch_add(20_000_000, Ordering::Relaxed)
    }

    fn fill_unguessable(&self, _buffer: &mut [u8]) -> bool {
        true
    }

    fn read_users(&self) -> Option<Result<Vec<u8>, String>> {
        Some(Ok(b"user default on nopass ~* &* +@all\n".to_vec()))
    }

    fn write_users(&self, _text: &[u8]) -> Option<Result<(), String>> {
        Some(Ok(()))
    }
}

fn console_of_host() -> Console<MemoryEngine> {
    let settings = Settings::new(&[("enable-debug-command", "yes".into())]).expect("settings");
    let shared = Shared::new(settings, Box::new(Host::default()), START_MS);
    shared.scripts.add_engine(ScriptEngine::new("lua", false, Box::new(|| Box::new(Lines::default()))));
    let server = Server { engine: MemoryEngine::new(16), shared };
    Console { server, sessions: Vec::new(), now_ms: START_MS, sleeps: false }
}

/// What the replies so far were of.
#[derive(Default)]
struct Seen {
    /// The row and the case, empty for the usual type.
    types: BTreeSet<(&'static str, String)>,
    problems: Vec<String>,
}

impl Seen {
    /// Notes a reply, or that none came.
    fn note(&mut self, place: &str, args: &[Vec<u8>], value: Option<&Value>, protocol: Protocol) {
        let request: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let Some(spec) = catalog::lookup_request(&request) else { return };
        let queued = Value::Simple(b"QUEUED".to_vec());
        if value.is_some_and(|value| *value == queued || value.as_error().is_some()) {
            return;
        }
        let replies = spec.reply().expect("a type");
        let reply = spec.reply_to(&request).expect("a type");
        if !value.map_or(reply == ReplyType::None, |value| reply.matches(value, protocol)) {
            let shown = value.map_or("nothing".to_owned(), |value| transcript::show(value, false));
            self.problems.push(format!("{place}: {} is {reply} in {protocol:?}:\n{shown}", spec.name));
        }
        if reply == replies.usual {
            self.types.insert((spec.name, String::new()));
        }
        let cases = replies.cases.iter().filter(|case| case.reply == reply);
        self.types.extend(cases.map(|case| (spec.name, case.given.join(" "))));
    }

    /// Runs the requests of a transcript in a protocol, whatever it expects of them.
    fn run(&mut self, mut console: Console<MemoryEngine>, (name, text): (&str, &str), protocol: Protocol) {
        let mut greeted = BTreeSet::new();
        for step in transcript::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")) {
            match step {
                Step::Advance(pause_ms) => console.now_ms += pause_ms,
                Step::Request { line, connection, args, .. } => {
                    if protocol == Protocol::Resp3 && greeted.insert(connection) {
                        console.call_for_bytes(connection, &[b"HELLO".to_vec(), b"3".to_vec()]);
                    }
                    let values = values(&console.call_for_bytes(connection, &args));
                    let protocol = console.sessions[connection - 1].reply().protocol();
                    // Messages may come beside a reply.
                    let is_reply = |value: &&Value| !matches!(value, Value::Push(_));
                    let of_request = values.iter().find(is_reply).or_else(|| values.first());
                    self.note(&format!("{name}.txt line {line}"), &args, of_request, protocol);
                }
            }
        }
    }

    /// Notes the replies that a transcript states.
    fn read(&mut self, (name, text): (&str, &str)) {
        for step in transcript::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")) {
            let Step::Request { line, args, expected, .. } = step else { continue };
            let lines: Vec<&str> = expected.lines().collect();
            self.note(&format!("{name}.txt line {line}"), &args, Some(&written(&lines)), Protocol::Resp2);
        }
    }
}

/// The value that [`transcript::show`] has printed, of those that RESP2 has.
fn written(lines: &[&str]) -> Value {
    let first = lines[0];
    if let Some(text) = first.strip_prefix("(error) ") {
        return Value::Error(text.into());
    }
    if let Some(number) = first.strip_prefix("(integer) ") {
        return Value::Integer(number.parse().expect("a number"));
    }
    match first {
        "(nil)" => return Value::Null,
        "(empty array)" => return Value::Array(Vec::new()),
        _ if first.starts_with('"') => {
            let mut words = split_line(first.as_bytes()).expect("a quoted string");
            return Value::Bulk(words.remove(0));
        }
        _ if !first.starts_with("1) ") => return Value::Simple(first.into()),
        _ => {}
    }
    let mut items: Vec<Vec<&str>> = Vec::new();
    let mut indent = 0;
    for line in lines {
        let mark = format!("{}) ", items.len() + 1);
        if line.starts_with(&mark) {
            indent = mark.len();
            items.push(Vec::new());
        }
        items.last_mut().expect("the first line has a mark").push(&line[indent..]);
    }
    Value::Array(items.iter().map(|item| written(item)).collect())
}

#[test]
fn reply_is_of_another_type() {
    let mut seen = Seen::default();
    for protocol in [Protocol::Resp2, Protocol::Resp3] {
        for transcript in TRANSCRIPTS {
            seen.run(Console::new(MemoryEngine::new(16)), *transcript, protocol);
        }
        seen.run(console_of_host(), UNSTATED, protocol);
    }
    WRITTEN.iter().for_each(|transcript| seen.read(*transcript));
    assert!(seen.problems.is_empty(), "{}", seen.problems.join("\n"));
    let mut wrong = Vec::new();
    let is_called = |spec: &&CommandSpec| !spec.is_container() || spec.accepts(1);
    for spec in catalog::all().iter().filter(is_called).filter(|spec| spec.group != Group::Cluster) {
        let cases = spec.reply().expect("a type").cases;
        let cases = cases.iter().map(|case| case.given.join(" "));
        for case in std::iter::once(String::new()).chain(cases) {
            let is_seen = seen.types.contains(&(spec.name, case.clone()));
            let is_excused = UNSEEN.iter().any(|(name, excused, _)| *name == spec.name && *excused == case);
            if is_seen == is_excused {
                wrong.push(format!("{} {case}: seen: {is_seen}, on the list: {is_excused}", spec.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Runs every transcript of `tests/transcripts` in process, on the reference engine.

use super::handler;
use crate::bitcask::{Bitcask, Options};
use crate::catalog;
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::resp::{Decoder, Value, write_request};
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::memory::MemoryStorage;
use crate::transcript::{self, Step};

const START_MS: u64 = 1_700_000_000_000;

/// The transcripts, one a group; wasm32 has no files, so they are part of the test binary.
const TRANSCRIPTS: &[(&str, &str)] = &[
    ("bitmap_fields", include_str!("../../../tests/transcripts/bitmap_fields.txt")),
    ("bitmap_ranges", include_str!("../../../tests/transcripts/bitmap_ranges.txt")),
    ("administration", include_str!("../../../tests/transcripts/administration.txt")),
    ("bitmaps", include_str!("../../../tests/transcripts/bitmaps.txt")),
    ("command", include_str!("../../../tests/transcripts/command.txt")),
    ("config", include_str!("../../../tests/transcripts/config.txt")),
    ("connection", include_str!("../../../tests/transcripts/connection.txt")),
    ("dump_restore", include_str!("../../../tests/transcripts/dump_restore.txt")),
    ("debug", include_str!("../../../tests/transcripts/debug.txt")),
    ("generic", include_str!("../../../tests/transcripts/generic.txt")),
    ("geo", include_str!("../../../tests/transcripts/geo.txt")),
    ("geo_search", include_str!("../../../tests/transcripts/geo_search.txt")),
    ("hashes", include_str!("../../../tests/transcripts/hashes.txt")),
    ("hello", include_str!("../../../tests/transcripts/hello.txt")),
    ("hyperloglog", include_str!("../../../tests/transcripts/hyperloglog.txt")),
    ("keyspace", include_str!("../../../tests/transcripts/keyspace.txt")),
    ("lists", include_str!("../../../tests/transcripts/lists.txt")),
    ("restore_idle_time", include_str!("../../../tests/transcripts/restore_idle_time.txt")),
    ("server", include_str!("../../../tests/transcripts/server.txt")),
    ("server_facts", include_str!("../../../tests/transcripts/server_facts.txt")),
    ("sets", include_str!("../../../tests/transcripts/sets.txt")),
    ("sort", include_str!("../../../tests/transcripts/sort.txt")),
    ("slow_log", include_str!("../../../tests/transcripts/slow_log.txt")),
    ("sorted_set_combinations", include_str!("../../../tests/transcripts/sorted_set_combinations.txt")),
    ("sorted_set_ranges", include_str!("../../../tests/transcripts/sorted_set_ranges.txt")),
    ("sorted_sets", include_str!("../../../tests/transcripts/sorted_sets.txt")),
    ("stream_groups", include_str!("../../../tests/transcripts/stream_groups.txt")),
    ("stream_info", include_str!("../../../tests/transcripts/stream_info.txt")),
    ("stream_times", include_str!("../../../tests/transcripts/stream_times.txt")),
    ("streams", include_str!("../../../tests/transcripts/streams.txt")),
    ("streams_trim", include_str!("../../../tests/transcripts/streams_trim.txt")),
    ("strings", include_str!("../../../tests/transcripts/strings.txt")),
    ("strings_float", include_str!("../../../tests/transcripts/strings_float.txt")),
    ("strings_of_other_types", include_str!("../../../tests/transcripts/strings_of_other_types.txt")),
    ("time_outs", include_str!("../../../tests/transcripts/time_outs.txt")),
    ("transactions", include_str!("../../../tests/transcripts/transactions.txt")),
];

/// A server in the test's own memory with a few connections.
pub(super) struct Console<E> {
    server: Server<E>,
    pub(super) sessions: Vec<Session>,
    now_ms: u64,
    /// Whether all sessions freeze and thaw before each request.
    sleeps: bool,
}

impl<E: Engine> Console<E> {
    pub(super) fn new(engine: E) -> Console<E> {
        let settings = Settings::new(&[("enable-debug-command", "yes".into())]).expect("settings");
        let shared = Shared::new(settings, Box::new(NoFacts), START_MS);
        Console { server: Server { engine, shared }, sessions: Vec::new(), now_ms: START_MS, sleeps: false }
    }

    /// Has every session freeze and another thaw in its place.
    fn sleep(&mut self) {
        let mut frozen = Vec::new();
        for mut session in std::mem::take(&mut self.sessions) {
            frozen.push(session.freeze(&self.server, usize::MAX).expect("nothing is left to be sent"));
            session.close(&self.server);
        }
        for bytes in frozen {
            let mut session = Session::thaw(&self.server, &bytes, self.now_ms).expect("it was frozen so");
            session.begin_tracking_again(&self.server);
            self.sessions.push(session);
        }
    }

    pub(super) fn call(&mut self, connection: usize, args: &[Vec<u8>]) -> Value {
        if self.sleeps {
            self.sleep();
        }
        while self.sessions.len() < connection {
            let seed = self.sessions.len() as u64;
            self.sessions.push(Session::new(&self.server.shared, Peer::default(), seed, self.now_ms));
        }
        let session = &mut self.sessions[connection - 1];
        write_request(args, session.input());
        let progress = session.process(&self.server, self.now_ms);
        if let Some(wake_at_ms) = progress.wake_at_ms {
            // Blocked, and nobody else is there: time passes.
            session.process(&self.server, wake_at_ms);
        }
        let bytes = session.reply().take().expect("memory is read");
        let (value, used) =
            Decoder::new().decode(&bytes).expect("a well-formed reply").expect("a whole reply");
        assert_eq!(used, bytes.len(), "one reply to one request");
        value
    }

    fn run(mut self, name: &str, text: &str) {
        for step in transcript::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")) {
            match step {
                Step::Advance(pause_ms) => self.now_ms += pause_ms,
                Step::Request { line, connection, unordered, args, expected } => {
                    let value = self.call(connection, &args);
                    let shown = transcript::show(&value, unordered);
                    assert_eq!(shown, expected, "{name}.txt line {line}");
                }
            }
        }
    }
}

/// The session runs what has no handler: what MULTI does not queue, and UNWATCH, which has nothing left to do in a queue.
#[test]
fn command_has_neither_a_handler_nor_a_session() {
    for spec in catalog::all() {
        let is_of_the_session = !spec.waits_for_exec() || spec.name == "unwatch";
        assert_eq!(handler(spec).is_none(), is_of_the_session, "{}", spec.name);
    }
}

#[test]
fn transcripts_hold_on_the_reference_engine() {
    for (name, text) in TRANSCRIPTS {
        Console::new(MemoryEngine::new(16)).run(name, text);
    }
}

#[test]
fn transcripts_hold_on_the_bitcask_store() {
    for (name, text) in TRANSCRIPTS {
        let storage = std::sync::Arc::new(MemoryStorage::new());
        let options = Options { databases: 16, ..Options::default() };
        let Ok(opened) = Bitcask::open(storage, &options) else { panic!("an empty store opens") };
        Console::new(opened.store).run(name, text);
    }
}

#[test]
fn freezing_between_requests_changes_a_reply() {
    for (name, text) in TRANSCRIPTS {
        let mut console = Console::new(MemoryEngine::new(16));
        console.sleeps = true;
        console.run(name, text);
    }
}

/// With a threshold of one byte every string is a blob.
#[test]
fn transcripts_hold_where_every_string_is_a_blob() {
    for (name, text) in TRANSCRIPTS {
        let storage = std::sync::Arc::new(MemoryStorage::new());
        let Ok(opened) = Bitcask::open(storage, &Options::default()) else { panic!("an empty store opens") };
        let console = Console::new(opened.store);
        console.server.shared.settings.set("blob-min-bytes", "1").expect("a setting");
        console.run(name, text);
        let console = Console::new(MemoryEngine::new(16));
        console.server.shared.settings.set("blob-min-bytes", "1").expect("a setting");
        console.run(name, text);
    }
}

/// The reference engine knows no short way to a string, the store does: whatever came before, both must reply and count
/// the same.
#[test]
fn short_way_to_a_string_differs_from_the_transaction() {
    let storage = std::sync::Arc::new(MemoryStorage::new());
    let Ok(opened) = Bitcask::open(storage, &Options::default()) else { panic!("an empty store opens") };
    let (mut long_way, mut short_way) = (Console::new(MemoryEngine::new(16)), Console::new(opened.store));
    let mut random = fastrand::Rng::with_seed(7);
    let long_key = "k".repeat(300);
    let keys = ["a", "b", "c", long_key.as_str()];
    let mut found = 0;
    for _ in 0..20_000 {
        let (key, other) = (keys[random.usize(..keys.len())], keys[random.usize(..keys.len())]);
        let line = match random.u32(..100) {
            0..30 => format!("SET {key} {}", "v".repeat(random.usize(..40_000) / random.usize(1..100))),
            30..60 => format!("GET {key}"),
            60..65 => format!("PEXPIRE {key} {}", random.u32(1..40)),
            65..68 => format!("RPUSH {key} x y"),
            68..71 => format!("HSET {key} field value"),
            71..74 => format!("DEL {key}"),
            74..77 => format!("RENAME {key} {other}"),
            77..79 => format!("COPY {key} {other} REPLACE"),
            79..81 => format!("SWAPDB 0 {}", random.u32(..2)),
            81..83 => format!("SELECT {}", random.u32(..2)),
            83..86 => format!("WATCH {key}"),
            86..90 => "MULTI".to_string(),
            90..95 => "EXEC".to_string(),
            95..96 => "FLUSHDB".to_string(),
            96..98 => format!("DBSIZE {}", ["", "too many"][random.usize(..2)]).trim().to_string(),
            98..99 => format!("GET {key} {other}"),
            _ => format!("SET {key}"),
        };
        let args: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        let connection = random.usize(1..3);
        let (expected, got) = (long_way.call(connection, &args), short_way.call(connection, &args));
        assert_eq!(got, expected, "{line}");
        found += usize::from(matches!(got, Value::Bulk(_)));
        let pause_ms = u64::from(random.u32(..4) == 0) * random.u64(..20);
        (long_way.now_ms, short_way.now_ms) = (long_way.now_ms + pause_ms, short_way.now_ms + pause_ms);
    }
    assert!(found > 1000, "values were read: {found}");
    let counted = [&long_way.server.shared, &short_way.server.shared].map(|shared| {
        let counters = &shared.counters;
        [&counters.keyspace_hits, &counters.keyspace_misses, &counters.expired_keys, &counters.commands]
            .map(|counter| counter.load(std::sync::atomic::Ordering::Relaxed))
    });
    assert_eq!(counted[0], counted[1]);
}

/// What a listener of the keyspace was told since it was last asked: events and keys.
fn events<E: Engine>(console: &mut Console<E>, listener: usize) -> Vec<String> {
    let session = &mut console.sessions[listener - 1];
    session.process(&console.server, console.now_ms);
    let bytes = session.reply().take().expect("memory is read");
    let (mut rest, mut told) = (bytes.as_slice(), Vec::new());
    while let Some((message, used)) = Decoder::new().decode(rest).expect("well-formed messages") {
        let (Value::Array(parts) | Value::Push(parts)) = &message else { panic!("{message:?}") };
        let text = |at: usize| String::from_utf8_lossy(parts[at].as_bytes().unwrap_or_default()).into_owned();
        told.push(format!("{} {}", text(2).trim_start_matches("__keyevent@0__:"), text(3)));
        rest = &rest[used..];
    }
    told
}

#[test]
fn expired_keys_are_not_told_of_where_a_command_meets_them() {
    let mut console = Console::new(MemoryEngine::new(16));
    let ask = |console: &mut Console<MemoryEngine>, connection: usize, request: &str| {
        console.call(connection, &request.split(' ').map(Vec::from).collect::<Vec<_>>())
    };
    ask(&mut console, 1, "CONFIG SET notify-keyspace-events EAnm");
    ask(&mut console, 2, "PSUBSCRIBE __key*__:*");
    for (request, expected) in [
        ("MGET none a b none", "keymiss none, expired a, keymiss a, expired b, keymiss b, keymiss none"),
        ("DEL a b", "expired a, expired b"),
        ("MSET a 1 b 2", "expired a, new a, set a, expired b, new b, set b"),
        ("GETSET a 1", "expired a, keymiss a, new a, set a"),
        ("LPUSH a 1", "expired a, new a, lpush a"),
        ("OBJECT ENCODING a", "expired a"),
        ("SINTER a b", "expired a, keymiss a, expired b, keymiss b"),
    ] {
        for key in ["a", "b"] {
            ask(&mut console, 1, &format!("SET {key} 1 PX 10"));
        }
        console.now_ms += 20;
        events(&mut console, 2);
        ask(&mut console, 1, request);
        assert_eq!(events(&mut console, 2).join(", "), expected, "{request}");
    }
}

//! What no transcript can show: effects, silence, and what the host adds to INFO.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::bitcask::{Bitcask, Options};
use crate::engine::memory::MemoryEngine;
use crate::resp::write_request;
use crate::server::{Effect, HostFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::memory::MemoryStorage;

const NOW_MS: u64 = 1_700_000_000_000;

struct Host;

impl HostFacts for Host {
    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        vec![
            ("server", "process_id", "42".into()),
            ("memory", "used_memory", (3 << 19).to_string()),
            ("memory", "used_memory_lua", "7".into()),
            ("edge", "region", "fra".into()),
        ]
    }
}

fn server() -> Server<MemoryEngine> {
    let shared = Shared::new(Settings::default(), Box::new(Host), NOW_MS);
    Server { engine: MemoryEngine::new(16), shared }
}

fn connect(server: &Server<MemoryEngine>) -> Session {
    Session::new(&server.shared, Peer::default(), 0, NOW_MS)
}

/// The replies and effects of inline commands.
fn run(server: &Server<MemoryEngine>, session: &mut Session, lines: &[&str]) -> (String, Vec<Effect>) {
    for line in lines {
        session.input().extend_from_slice(line.as_bytes());
        session.input().extend_from_slice(b"\r\n");
    }
    let effects = session.process(server, NOW_MS).effects;
    (String::from_utf8(session.reply().take().expect("memory is read")).expect("text"), effects)
}

#[test]
fn host_facts_missing_from_info() {
    let server = server();
    let mut session = connect(&server);
    let (all, _) = run(&server, &mut session, &["INFO"]);
    for line in [
        "\r\nprocess_id:42\r\n",
        "\r\nused_memory:1572864\r\nused_memory_human:1.50M\r\n",
        "\r\nused_memory_lua:7\r\n",
        "\r\n\r\n# Edge\r\nregion:fra\r\n",
        "\r\nredis_version:7.2.",
        "\r\nredis_mode:standalone\r\n",
        "\r\nrdb_last_save_time:1700000000\r\n",
    ] {
        assert!(all.contains(line), "{line:?} in {all}");
    }
    assert!(!all.contains("process_id:0"), "the host's word replaces ours");
    let (edge, _) = run(&server, &mut session, &["INFO EDGE"]);
    assert_eq!(edge, "$20\r\n# Edge\r\nregion:fra\r\n\r\n");
}

#[test]
fn host_is_not_told_what_to_do() {
    let server = server();
    let (replies, effects) = run(&server, &mut connect(&server), &["SHUTDOWN NOSAVE NOW", "PING"]);
    assert_eq!((replies.as_str(), effects), ("", vec![Effect::Shutdown { save: false }, Effect::Close]));
    let (_, effects) = run(&server, &mut connect(&server), &["SHUTDOWN"]);
    assert_eq!(effects, [Effect::Shutdown { save: true }, Effect::Close]);
    let (_, effects) = run(&server, &mut connect(&server), &["BGSAVE", "BGREWRITEAOF"]);
    assert_eq!(effects, [Effect::Checkpoint, Effect::Checkpoint]);
    let (_, effects) = run(&server, &mut connect(&server), &["CONFIG SET timeout 5", "CONFIG SET nosuch 5"]);
    assert_eq!(effects, [Effect::SettingsChanged]);
}

#[test]
fn replies_go_on_after_client_reply() {
    let server = server();
    let mut session = connect(&server);
    let mut replies = |lines: &[&str]| run(&server, &mut session, lines).0;
    assert_eq!(replies(&["CLIENT REPLY SKIP", "PING one", "PING two"]), "$3\r\ntwo\r\n");
    assert_eq!(replies(&["CLIENT REPLY SKIP", "NOSUCH", "PING"]), "+PONG\r\n");
    assert_eq!(replies(&["CLIENT REPLY SKIP", "CLIENT REPLY SKIP", "PING one", "PING two"]), "$3\r\ntwo\r\n");
    assert_eq!(replies(&["CLIENT REPLY SKIP", "CLIENT REPLY ON", "PING"]), "+OK\r\n+PONG\r\n");
    assert_eq!(replies(&["CLIENT REPLY OFF", "PING", "CLIENT REPLY SKIP", "PING", "GET"]), "");
    assert_eq!(replies(&["PING", "CLIENT REPLY ON", "PING"]), "+OK\r\n+PONG\r\n");
}

#[test]
fn statistics_survive_resetstat() {
    let server = server();
    let mut session = connect(&server);
    run(&server, &mut session, &["SET a 1", "GET a", "GET b", "NOSUCH"]);
    let (before, _) = run(&server, &mut session, &["INFO stats"]);
    for line in
        ["total_commands_processed:4", "keyspace_hits:1", "keyspace_misses:1", "total_error_replies:1"]
    {
        assert!(before.contains(line), "{line} in {before}");
    }
    run(&server, &mut session, &["CONFIG RESETSTAT"]);
    let (after, _) = run(&server, &mut session, &["INFO stats"]);
    for line in ["keyspace_hits:0", "keyspace_misses:0", "total_error_replies:0"] {
        assert!(after.contains(line), "{line} in {after}");
    }
}

/// A clock that goes on by a fixed time with every reading, and a host that notes how long it was asked to sleep.
struct Ticking {
    readings: AtomicU64,
    step_ns: u64,
}

impl HostFacts for Ticking {
    fn facts(&self) -> Vec<(&'static str, &'static str, String)> {
        Vec::new()
    }

    fn monotonic_ns(&self) -> u64 {
        self.readings.fetch_add(1, Ordering::Relaxed) * self.step_ns
    }
}

fn ticking(step_ms: u64) -> Server<MemoryEngine> {
    let host = Ticking { readings: AtomicU64::new(0), step_ns: step_ms * 1_000_000 };
    let shared = Shared::new(Settings::default(), Box::new(host), NOW_MS);
    Server { engine: MemoryEngine::new(16), shared }
}

fn logged(server: &Server<MemoryEngine>) -> Vec<String> {
    let text = |args: &[Vec<u8>]| {
        args.iter()
            .map(|argument| String::from_utf8_lossy(argument).into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let entries = server.shared.slow_log.latest(usize::MAX);
    entries.iter().rev().map(|entry| format!("{}us {}", entry.took_us, text(&entry.args))).collect()
}

/// Runs requests that come in one piece.
fn pipeline(server: &Server<MemoryEngine>, session: &mut Session, lines: &[&str]) {
    for line in lines {
        let args: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        write_request(&args, session.input());
    }
    session.process(server, NOW_MS);
    session.reply().clear();
}

#[test]
fn slow_command_is_not_in_the_slow_log() {
    let server = ticking(20);
    let mut session = connect(&server);
    run(&server, &mut session, &["CLIENT SETNAME me", "CONFIG SET latency-monitor-threshold 15"]);
    server.shared.slow_log.reset();
    // Commands of constant time share a reading in a pipeline; others, and those that come alone, have their own.
    pipeline(&server, &mut session, &["GET a", "GET b", "INCR c", "KEYS *", "PING", "SELECT 0"]);
    pipeline(&server, &mut session, &["GET alone"]);
    assert_eq!(
        logged(&server),
        [
            "20000us KEYS *",
            "20000us GET a ... (2 more commands of the pipeline)",
            "20000us PING ... (1 more commands of the pipeline)",
            "20000us GET alone",
        ]
    );
    let entry = &server.shared.slow_log.latest(1)[0];
    assert_eq!((entry.at_s, entry.name.as_slice()), (NOW_MS / 1000, &b"me"[..]));
    let events = server.shared.latency.events();
    assert_eq!(events.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["command", "fast-command"]);
    assert!(events.iter().all(|(_, event)| event.worst_ms == 20), "{events:?}");
}

#[test]
fn children_of_exec_are_logged_as_exec() {
    let server = ticking(20);
    let mut session = connect(&server);
    run(&server, &mut session, &["MULTI", "SET a 1", "LRANGE a 0 -1", "INCR a", "INCR a", "EXEC"]);
    let log = logged(&server);
    assert!(log.contains(&"20000us SET a 1".to_string()), "{log:?}");
    assert!(log.contains(&"20000us LRANGE a 0 -1".to_string()), "{log:?}");
    assert!(log.contains(&"20000us INCR a ... (1 more commands of the pipeline)".to_string()), "{log:?}");
    assert!(log.iter().all(|line| !line.contains("EXEC")), "{log:?}");
    let (counted, _) = run(&server, &mut session, &["INFO commandstats"]);
    for line in [
        "cmdstat_set:calls=1,usec=20000,usec_per_call=20000.00,rejected_calls=0,failed_calls=0",
        "cmdstat_lrange:calls=1,usec=20000,usec_per_call=20000.00,rejected_calls=0,failed_calls=1",
        "cmdstat_incr:calls=2,usec=20000,usec_per_call=10000.00,rejected_calls=0,failed_calls=0",
        "cmdstat_exec:calls=1,",
    ] {
        assert!(counted.contains(line), "{line} in {counted}");
    }
}

#[test]
fn low_threshold_finds_only_whole_pipelines() {
    let server = ticking(0);
    let mut session = connect(&server);
    run(&server, &mut session, &["CONFIG SET slowlog-log-slower-than 0"]);
    server.shared.slow_log.reset();
    pipeline(&server, &mut session, &["GET a", "GET b", "INCR c", "SET d 1"]);
    assert_eq!(logged(&server), ["0us GET a", "0us GET b", "0us INCR c", "0us SET d 1"]);
}

#[test]
fn debug_is_open_to_everybody() {
    let refused = "-ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\"";
    for (setting, address, is_allowed) in [
        ("no", "127.0.0.1:5000", false),
        ("yes", "192.0.2.1:5000", true),
        ("local", "192.0.2.1:5000", false),
        ("local", "127.0.0.1:5000", true),
        ("local", "[::1]:5000", true),
        ("local", "", true),
    ] {
        let settings = Settings::new(&[("enable-debug-command", setting.into())]).expect("a setting");
        let shared = Shared::new(settings, Box::new(Host), NOW_MS);
        let server = Server { engine: MemoryEngine::new(16), shared };
        let peer = Peer { address: address.into(), ..Peer::default() };
        let mut session = Session::new(&server.shared, peer, 0, NOW_MS);
        let (reply, _) = run(&server, &mut session, &["DEBUG DIGEST"]);
        assert_eq!(!reply.starts_with(refused), is_allowed, "{setting} {address}: {reply}");
    }
}

#[test]
fn larger_collection_takes_less_memory() {
    let storage = std::sync::Arc::new(MemoryStorage::new());
    let Ok(opened) = Bitcask::open(storage, &Options::default()) else { panic!("an empty store opens") };
    let shared = Shared::new(Settings::default(), Box::new(Host), NOW_MS);
    let server = Server { engine: opened.store, shared };
    let mut session = Session::new(&server.shared, Peer::default(), 0, NOW_MS);
    let mut call = |line: &str| {
        session.input().extend_from_slice(line.as_bytes());
        session.input().extend_from_slice(b"\r\n");
        session.process(&server, NOW_MS);
        String::from_utf8(session.reply().take().expect("memory is read")).expect("text")
    };
    let number = |reply: String| reply.trim_start_matches(':').trim().parse::<u64>().expect("a number");
    call("SET k v");
    let least = number(call("MEMORY USAGE k"));
    assert!((10..200).contains(&least), "{least}");
    let mut before = 0;
    for round in 0..20 {
        for field in 0..100 {
            call(&format!("HSET hash field:{round}:{field} value"));
        }
        let now = number(call("MEMORY USAGE hash"));
        assert!(now > before + 1000, "{now} after {before}");
        before = now;
    }
    assert!(before < 2000 * 200, "{before}");
    assert_eq!(call("MULTI"), "+OK\r\n");
    call("SET new value");
    call("MEMORY USAGE new");
    assert_eq!(call("EXEC"), "*2\r\n+OK\r\n:8\r\n");
}

/// The bytes, since a transcript shows neither an attribute nor a push before the reply.
#[test]
fn debug_protocol_sends_no_attribute() {
    let settings = Settings::new(&[("enable-debug-command", "yes".into())]).expect("a setting");
    let shared = Shared::new(settings, Box::new(Host), NOW_MS);
    let server = Server { engine: MemoryEngine::new(16), shared };
    let mut session = connect(&server);
    let text = "$39\r\nSome real reply following the attribute\r\n";
    assert_eq!(run(&server, &mut session, &["DEBUG PROTOCOL attrib"]).0, text);
    run(&server, &mut session, &["HELLO 3"]);
    let (attribute, _) = run(&server, &mut session, &["DEBUG PROTOCOL ATTRIB"]);
    let before = "|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n";
    assert_eq!(attribute, format!("{before}{text}"));
    let (push, _) = run(&server, &mut session, &["DEBUG PROTOCOL push"]);
    let before = ">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n";
    assert_eq!(push, format!("{before}$40\r\nSome real reply following the push reply\r\n"));
}

/// A line of INFO persistence.
fn persistence(server: &Server<MemoryEngine>, session: &mut Session, name: &str) -> u64 {
    let (text, _) = run(server, session, &["INFO persistence"]);
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[test]
fn changes_since_the_last_save_are_not_counted() {
    let server = server();
    let mut session = connect(&server);
    let mut expected = 0;
    for (line, changes) in [
        ("SET string 1", 1),
        ("SET string 2", 1),
        ("SET string 3 EX 100", 1),
        ("GET string", 0),
        ("SETBIT bits 7 1", 1),
        ("HSET hash a 1 b 2", 2),
        ("HSET hash c 3", 1),
        ("HDEL hash nosuch", 0),
        ("RPUSH list a b c", 3),
        ("BLPOP list 0", 1),
        ("BLPOP nosuch list 0", 1),
        ("EXPIRE hash 100", 1),
        ("DEL list nosuch", 1),
        ("DEL list", 0),
        ("INCR bits", 0),
        ("SADD set a b", 2),
        ("SADD set a", 0),
        ("FLUSHDB", 1),
        ("FLUSHDB", 0),
    ] {
        run(&server, &mut session, &[line]);
        expected += changes;
        assert_eq!(persistence(&server, &mut session, "rdb_changes_since_last_save"), expected, "{line}");
    }
    // A pop that another connection waits for is a change of its own.
    let mut waiting = connect(&server);
    run(&server, &mut waiting, &["BLPOP queue 0"]);
    run(&server, &mut session, &["RPUSH queue a"]);
    let changes = |session: &mut Session| persistence(&server, session, "rdb_changes_since_last_save");
    assert_eq!(changes(&mut session), expected + 2);
    run(&server, &mut session, &["CONFIG RESETSTAT"]);
    assert_eq!(changes(&mut session), expected + 2);
    run(&server, &mut session, &["SAVE"]);
    assert_eq!(changes(&mut session), 0);
    run(&server, &mut session, &["SET k v PX 5"]);
    session.input().extend_from_slice(b"GET k\r\n");
    session.process(&server, NOW_MS + 10);
    session.reply().clear();
    assert_eq!(changes(&mut session), 1, "a read that removes an expired key changes nothing");
}

#[test]
fn info_says_that_the_log_is_synced_when_it_is_not() {
    let server = server();
    let mut session = connect(&server);
    assert_eq!(persistence(&server, &mut session, "aof_enabled"), 1);
    run(&server, &mut session, &["CONFIG SET appendonly no"]);
    assert_eq!(persistence(&server, &mut session, "aof_enabled"), 0);
}

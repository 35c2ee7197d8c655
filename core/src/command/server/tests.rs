//! What no transcript can show: effects, silence, and what the host adds to INFO.

use crate::engine::memory::MemoryEngine;
use crate::session::{Effect, HostFacts, Peer, Server, Session, Settings, Shared};

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

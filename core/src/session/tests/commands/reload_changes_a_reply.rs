//! DEBUG RELOAD closes the store and opens it again: every reply stays what it was.

use std::sync::Arc;

use crate::bitcask::{Bitcask, Options};
use crate::engine::Admin;
use crate::resp::write_request;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::Storage;
use crate::storage::memory::MemoryStorage;

const NOW_MS: u64 = 1_700_000_000_000;

/// One connection to a store that reloads.
struct Client {
    server: Server<Bitcask>,
    session: Session,
    now_ms: u64,
}

impl Client {
    fn new(storage: Arc<dyn Storage>) -> Client {
        let options = Options { datafile_max_bytes: 64 * 1024, ..Options::default() };
        let engine = Bitcask::open(storage, &options).expect("open").store;
        let changes = [("enable-debug-command", "yes".to_string()), ("blob-min-bytes", "5000".to_string())];
        let settings = Settings::new(&changes).expect("settings");
        let server = Server { engine, shared: Shared::new(settings, Box::new(NoFacts), NOW_MS) };
        let session = Session::new(&server.shared, Peer::default(), 0, NOW_MS);
        Client { server, session, now_ms: NOW_MS }
    }

    fn run(&mut self, request: &str) -> String {
        let args: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        write_request(&args, self.session.input());
        self.session.process(&self.server, self.now_ms);
        String::from_utf8(self.session.reply().take().expect("memory is read")).expect("text")
    }

    /// What the store tells of blobs with roots.
    fn blobs(&self) -> Vec<(&'static str, u64)> {
        let told = self.server.engine.report();
        told.into_iter().filter(|(name, _)| ["blobs", "blob_bytes"].contains(name)).collect()
    }
}

#[test]
fn value_of_some_type_does_not_survive_a_reload() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let mut client = Client::new(storage.clone());
    let huge = "h".repeat(20_000);
    for request in [
        "SET string value",
        "SET short-lived value PX 5000",
        "SET expiring value PX 500000",
        &format!("SET huge {huge}"),
        "SETRANGE huge 9000 patched",
        "APPEND huge end",
        &format!("SET gone {huge}"),
        "DEL gone",
        &format!("SET {} long", "key".repeat(100)),
        "RPUSH list a b c",
        "LPUSH list z",
        "SADD set a b c",
        "ZADD zset 1 a 2 b",
        "HSET hash field value other 1",
        "XADD stream 1-1 field value",
        "XADD stream 2-1 field value",
        "XGROUP CREATE stream group 0",
        "XREADGROUP GROUP group consumer COUNT 1 STREAMS stream >",
        "PFADD sketch a b c",
        "SETBIT bits 70000 1",
        "SELECT 3",
        "SET other-database value",
        "SWAPDB 3 5",
        "SELECT 2",
        "SET flushed value",
        "FLUSHDB",
        "SELECT 0",
        "RENAME hash renamed",
        "MOVE set 7",
    ] {
        let reply = client.run(request);
        assert!(!reply.starts_with('-'), "{request}: {reply}");
    }
    let facts = [
        "DEBUG DIGEST",
        "DBSIZE",
        "PTTL expiring",
        "XINFO STREAM stream FULL",
        "XPENDING stream group",
        "GETRANGE huge 8990 9010",
        "STRLEN huge",
        "OBJECT ENCODING renamed",
        "LRANGE list 0 -1",
        "INFO keyspace",
    ];
    let before = facts.map(|fact| client.run(fact));
    let blobs = client.blobs();
    assert!(blobs.contains(&("blobs", 2)) && blobs.contains(&("blob_bytes", 20_003 + 8_751)), "{blobs:?}");
    for reload in ["DEBUG RELOAD", "DEBUG RELOAD NOSAVE", "DEBUG RELOAD noflush MERGE", "SET string value"] {
        assert_eq!(client.run(reload), "+OK\r\n", "{reload}");
        for (fact, before) in facts.iter().zip(&before) {
            assert_eq!(client.run(fact), *before, "{fact} after {reload}");
        }
        assert_eq!(client.blobs(), blobs, "after {reload}");
    }
    client.now_ms += 6000;
    assert_eq!(client.run("GET short-lived"), "$-1\r\n");
    client.run("SETRANGE huge 9000 again");
    client.run("RPUSH list d");
    let facts = ["DEBUG DIGEST", "GETRANGE huge 8990 9010", "LRANGE list 0 -1"];
    let after = facts.map(|fact| client.run(fact));
    drop(client);
    let mut next = Client::new(storage);
    next.now_ms += 6000;
    assert_eq!(facts.map(|fact| next.run(fact)), after, "opened again");
    assert_eq!(next.blobs(), blobs, "opened again");
}

#[test]
fn reload_inside_a_transaction_waits_for_itself() {
    let mut client = Client::new(Arc::new(MemoryStorage::new()));
    for request in ["WATCH key", "MULTI", "SET key value", "DEBUG RELOAD"] {
        client.run(request);
    }
    let refused = "*2\r\n+OK\r\n-ERR DEBUG RELOAD is not possible inside a transaction\r\n";
    assert_eq!(client.run("EXEC"), refused);
    assert_eq!(client.run("DEBUG RELOAD"), "+OK\r\n");
    assert_eq!(client.run("GET key"), "$5\r\nvalue\r\n");
}

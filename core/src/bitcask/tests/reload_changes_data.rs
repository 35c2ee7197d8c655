//! A store closed and opened again in its process holds what it held, also for those that go on reading; and where memory and disk differ,
//! the disk is right.

use std::sync::Arc;

use super::harness::{NOW_MS, OPTIONS, contents, merge_all, open, put, remove, run, sub_put};
use crate::bitcask::keydir::{Name, shard_of};
use crate::bitcask::{Bitcask, Options};
use crate::engine::laws::{self, DATABASES, Dump, Script};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, Engine, EngineError, Watch};
use crate::resp::write_request;
use crate::server::{NoFacts, Server, Settings, Shared};
use crate::session::{Peer, Session};
use crate::storage::memory::MemoryStorage;
use crate::storage::simulated::Survival;
use crate::storage::{Simulation, Storage};

/// Runs a script with a reload every few transactions against the reference engine.
fn follow(storage: Arc<dyn Storage>, seed: u64) {
    let store = Bitcask::open(storage.clone(), &OPTIONS).expect("open").store;
    let model = MemoryEngine::new(DATABASES);
    let mut script = Script::new(seed, 24);
    let mut position = 0;
    for number in 0..400 {
        let operations = script.transaction();
        let at = format!("seed {seed}, transaction {number}");
        let receipt = laws::run(&store, &operations, script.now_ms()).expect("a healthy device");
        laws::run(&model, &operations, script.now_ms()).expect("memory");
        assert!(receipt.position() == 0 || receipt.position() > position, "positions go backwards: {at}");
        position = position.max(receipt.position());
        match number % 7 {
            1 => drop(store.merge_step(5000).expect("a healthy device")),
            2 => drop(store.drain_garbage(5)),
            3 => drop(store.sweep_blobs().expect("a healthy device")),
            4 => {
                store.reopen().expect("a healthy device");
                assert_eq!((store.appended(), store.synced()), (position, position), "{at}");
            }
            _ => {}
        }
        if number % 20 == 4 {
            let dumps = [&store as &dyn Dumped, &model].map(|engine| engine.dump(script.now_ms()));
            assert_eq!(laws::difference(&dumps[0], &dumps[1]), None, "{at}");
        }
    }
    store.reopen().expect("a healthy device");
    store.sweep_blobs().expect("a healthy device");
    let blobs = storage.list_blobs().expect("memory").len() as u64;
    assert!(store.report().contains(&("blobs", blobs)), "seed {seed}: {blobs} blobs, {:?}", store.report());
    drop(store);
    let next = Bitcask::open(storage, &OPTIONS).expect("open").store;
    let dumps = [&next as &dyn Dumped, &model].map(|engine| engine.dump(script.now_ms()));
    assert_eq!(laws::difference(&dumps[0], &dumps[1]), None, "seed {seed}, opened again");
}

trait Dumped {
    fn dump(&self, now_ms: u64) -> Dump;
}

impl<E: Engine> Dumped for E {
    fn dump(&self, now_ms: u64) -> Dump {
        laws::dump(self, now_ms).expect("a readable store")
    }
}

#[test]
fn values_change_in_a_reload() {
    for seed in 0..6 {
        follow(Arc::new(MemoryStorage::new()), seed);
        follow(Arc::new(Simulation::new(seed).open().expect("a healthy device")), seed);
    }
}

#[test]
fn value_lost_in_a_crash_right_after_a_reload() {
    for seed in 0..20 {
        let machine = Simulation::new(seed);
        let store = open(&machine).expect("open").store;
        let mut script = Script::new(seed, 24);
        for number in 0..60 {
            laws::run(&store, &script.transaction(), script.now_ms()).expect("a healthy device");
            if number == 40 && seed % 2 == 0 {
                store.checkpoint(script.now_ms()).expect("a healthy device");
            }
            store.merge_step(3000).expect("a healthy device");
        }
        store.reopen().expect("a healthy device");
        let held = store.dump(script.now_ms());
        for left in [machine.after_power_loss(Survival::None), machine.after_kill()] {
            let next = open(&left).expect("open").store;
            assert_eq!(laws::difference(&held, &next.dump(script.now_ms())), None, "seed {seed}");
        }
    }
}

#[test]
fn memory_that_differs_from_the_disk_stays_so() {
    let store = open(&Simulation::new(1)).expect("open").store;
    for round in 0..30_u8 {
        run(&store, &[put(&format!("key {round}"), &[round; 400]), sub_put("hash", "field", &[round; 200])]);
    }
    run(&store, &[remove("key 3")]);
    let right = contents(&store);
    // A key that memory has lost, and one that it takes for another.
    let place = |key: &str| {
        let name = Name::of(store.seed, key.as_bytes());
        let hash = name.hash(store.seed);
        (shard_of(hash), hash)
    };
    let root = |key: &str| {
        let (at, hash) = place(key);
        store.shards[at].lock().root(0, &Name::Short(key.as_bytes()), hash).expect("there")
    };
    let other = root("key 8");
    for (key, entry) in [("key 7", None), ("key 9", Some(other))] {
        let (at, hash) = place(key);
        let mut shard = store.shards[at].lock();
        match entry {
            None => drop(shard.remove_root(0, &Name::Short(key.as_bytes()), hash)),
            Some(entry) => drop(shard.put_root(0, &Name::Short(key.as_bytes()), hash, entry)),
        }
    }
    assert!(laws::difference(&right, &contents(&store)).is_some(), "nothing was changed");
    // Hints made now would say what memory says.
    store.checkpoint(NOW_MS).expect("a healthy device");
    store.reopen().expect("a healthy device");
    assert_eq!(laws::difference(&right, &contents(&store)), None);
    store.checkpoint(NOW_MS).expect("a healthy device");
    merge_all(&store);
    assert_eq!(laws::difference(&right, &contents(&store)), None);
}

#[test]
fn damaged_record_is_cut_off_by_a_reload() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    run(&store, &[put("first", b"value")]);
    run(&store, &[put("last", b"value")]);
    let before = contents(&store);
    let name = machine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
    let file = machine.bytes(&name).expect("a datafile");
    machine.flip_bit(&name, file.len() as u64 - 2, 3);
    let refused = store.reopen();
    assert!(matches!(&refused, Err(EngineError::Damaged(text)) if text.contains("offset")), "{refused:?}");
    // Short values are in memory: they are there as long as the process is.
    assert_eq!(laws::difference(&before, &contents(&store)), None);
    run(&store, &[put("next", b"value")]);
    assert_eq!(contents(&store).len(), 3);
}

#[test]
fn failed_reload_takes_something_with_it() {
    let prepare = || {
        let machine = Simulation::new(3);
        let store = open(&machine).expect("open").store;
        for round in 0..12_u8 {
            run(&store, &[put(&format!("key {round}"), &[round; 900]), put("overwritten", &[round; 1500])]);
            store.merge_step(2500).expect("a healthy device");
        }
        (machine, store)
    };
    let (machine, store) = prepare();
    let begin = machine.operations();
    store.reopen().expect("a healthy device");
    let steps = machine.operations() - begin;
    assert!(steps > 0, "a sync at least");
    for operation in begin..begin + steps {
        let (machine, store) = prepare();
        let before = contents(&store);
        machine.fail_at(operation);
        store.reopen().expect_err("the device failed");
        assert_eq!(laws::difference(&before, &contents(&store)), None, "operation {operation}");
    }
}

#[test]
fn reload_makes_a_watched_key_look_changed() {
    let store = open(&Simulation::new(1)).expect("open").store;
    run(&store, &[put("watched", b"value"), put("other", b"value")]);
    let watch = Watch::default();
    store.watch(0, b"watched", &watch);
    store.reopen().expect("a healthy device");
    run(&store, &[put("other", b"changed")]);
    assert!(!watch.is_tripped());
    run(&store, &[put("watched", b"changed")]);
    assert!(watch.is_tripped(), "the watch was forgotten");
}

#[test]
fn blob_that_is_being_written_goes_in_a_reload() {
    let store = open(&Simulation::new(1)).expect("open").store;
    let mut draft = store.draft().expect("a healthy device");
    draft.append(b"first half, ").expect("a healthy device");
    store.reopen().expect("a healthy device");
    store.sweep_blobs().expect("a healthy device");
    draft.append(b"second half").expect("the blob is still there");
    let mut read = Vec::new();
    let len = draft.reference().len;
    draft.blob().read(0, len, &mut |piece| read.extend_from_slice(piece)).expect("readable");
    assert_eq!(read, b"first half, second half");
    drop(draft);
    assert!(store.report().contains(&("blobs_dead", 0)), "{:?}", store.report());
}

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

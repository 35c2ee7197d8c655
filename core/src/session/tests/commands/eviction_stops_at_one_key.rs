//! `maxmemory` where something goes wrong: a key that cannot be deleted, a device that takes nothing, a limit that is
//! lifted meanwhile, a client that has not logged in, a disk that becomes full before memory does.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Console;
use crate::bitcask::{Bitcask, Options};
use crate::engine::{Changed, EngineError, Result, Txn};
use crate::executor::Eviction;
use crate::resp::Value;
use crate::server::reaction::Reaction;
use crate::storage::Simulation;

/// Refuses that some keys are deleted.
struct Keeps(&'static [u8]);

impl Reaction for Keeps {
    fn concerns(&self, changed: &Changed) -> bool {
        changed.key.starts_with(self.0)
    }

    fn react(&self, changes: &[Changed], txn: &mut Txn<'_>) -> Result<()> {
        for changed in changes {
            if txn.root(changed.db, &changed.key)?.is_none() {
                return Err(EngineError::Refused("ERR it stays".into()));
            }
        }
        Ok(())
    }
}

fn console(machine: &Simulation) -> Console<Bitcask> {
    let storage = Arc::new(machine.open().expect("a device in order"));
    let opened = Bitcask::open(storage, &Options::default());
    Console::new(opened.unwrap_or_else(|error| panic!("{error}")).store)
}

fn ask(console: &mut Console<Bitcask>, request: &str) -> Value {
    let words: Vec<Vec<u8>> = request.split(' ').map(|word| word.as_bytes().to_vec()).collect();
    console.call(1, &words)
}

fn ok(console: &mut Console<Bitcask>, request: &str) {
    assert_eq!(ask(console, request), Value::Simple(b"OK".to_vec()), "{request}");
}

fn evicted(console: &Console<Bitcask>) -> u64 {
    console.server.shared.memory.evicted_keys.load(Ordering::Relaxed)
}

#[test]
fn key_that_cannot_be_deleted() {
    for policy in ["allkeys-lru", "allkeys-random", "volatile-ttl"] {
        let mut console = console(&Simulation::new(1));
        let shared = &console.server.shared;
        shared.reactions.add(&shared.hub.interest, Arc::new(Keeps(b"stays")));
        for n in 0..12 {
            ok(&mut console, &format!("SET stays:{n} value EX 10"));
        }
        console.now_ms += 5000;
        ok(&mut console, &format!("CONFIG SET maxmemory 100000 maxmemory-policy {policy}"));
        for n in 0..4000 {
            console.now_ms += 1;
            // Those that stay would go first.
            ok(&mut console, &format!("SET goes:{n} value EX {}", 100 + n));
        }
        assert!(evicted(&console) > 1000, "{policy}");
        // Where there is nothing else that is said.
        ok(&mut console, "CONFIG SET maxmemory 1");
        let refused =
            (0..4000).any(|n| matches!(ask(&mut console, &format!("SET goes:{n} v")), Value::Error(_)));
        assert!(refused, "{policy}");
    }
}

#[test]
fn full_device_is_called_a_want_of_memory() {
    let machine = Simulation::new(2);
    let mut console = console(&machine);
    for n in 0..3000 {
        ok(&mut console, &format!("SET key:{n} value"));
    }
    machine.full_from(machine.operations());
    ok(&mut console, "CONFIG SET maxmemory 50000 maxmemory-policy allkeys-lru");
    let Value::Error(text) = ask(&mut console, "SET more value") else { panic!("the device is full") };
    assert!(text.starts_with(b"MISCONF "), "{}", String::from_utf8_lossy(&text));
    assert_eq!(evicted(&console), 0);
    machine.clear_faults();
    ok(&mut console, "SET more value");
    assert!(evicted(&console) > 0);
}

#[test]
fn limit_that_was_lifted_still_refuses() {
    let mut console = console(&Simulation::new(3));
    ok(&mut console, "SET a 1");
    ok(&mut console, "CONFIG SET maxmemory 1");
    assert!(matches!(ask(&mut console, "SET a 1"), Value::Error(_)));
    ok(&mut console, "CONFIG SET maxmemory 0");
    // A worker that had begun to make room before says only now what it found.
    console.server.shared.set_memory_exceeded(true);
    ok(&mut console, "SET a 1");
    ok(&mut console, "MULTI");
    assert_eq!(ask(&mut console, "GET a"), Value::Simple(b"QUEUED".to_vec()));
    assert!(matches!(ask(&mut console, "EXEC"), Value::Array(_)));
}

#[test]
fn client_that_may_not_ask_evicts_keys() {
    let mut console = console(&Simulation::new(4));
    for n in 0..3000 {
        ok(&mut console, &format!("SET key:{n} value"));
    }
    ok(&mut console, "CONFIG SET requirepass secret");
    ok(&mut console, "CONFIG SET maxmemory-policy allkeys-lru");
    console.server.shared.settings.set("maxmemory", "50000").expect("a size");
    let stranger = console.call(2, &[b"GET".to_vec(), b"key:1".to_vec()]);
    assert_eq!(stranger, Value::Error(b"NOAUTH Authentication required.".to_vec()));
    assert_eq!(evicted(&console), 0);
    ask(&mut console, "GET key:1");
    assert!(evicted(&console) > 0);
}

#[test]
fn cache_that_has_filled_the_disk_refuses_writes() {
    const CAPACITY_BYTES: u64 = 2 * 1024 * 1024;
    const MANY: u64 = 15_000;
    for policy in ["allkeys-lru", "volatile-ttl"] {
        let machine = Simulation::new(5);
        machine.set_capacity_bytes(Some(CAPACITY_BYTES));
        let mut console = console(&machine);
        ok(&mut console, &format!("CONFIG SET maxmemory 1gb maxmemory-policy {policy}"));
        let mut eviction = Eviction::new(&console.server.shared);
        let value = "v".repeat(1000);
        // More than there is room for, several times.
        for n in 0..MANY {
            console.now_ms += 50;
            ok(&mut console, &format!("SET key:{n} {value} EX {}", 10_000 + n));
            eviction.step_for_space(&console.server, console.now_ms);
            console.server.engine.merge_step(50_000).expect("a device in order");
        }
        // No more went than had to, and the last ones are there.
        let left_bytes = (MANY - evicted(&console)) * 1000;
        assert!(left_bytes > CAPACITY_BYTES / 2, "{policy}: {left_bytes} bytes are left");
        if policy == "allkeys-lru" {
            assert_eq!(ask(&mut console, &format!("STRLEN key:{}", MANY - 10)), Value::Integer(1000));
        }
    }
}

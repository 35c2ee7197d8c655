//! `maxmemory`: what is refused, which keys go, and who learns of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Console, START_MS};
use crate::bitcask::{Bitcask, Options};
use crate::engine::memory::MemoryEngine;
use crate::engine::waiting::{Odds, Waiting};
use crate::engine::{Admin, Engine};
use crate::executor::used_bytes;
use crate::resp::Value;
use crate::storage::memory::MemoryStorage;

const OOM: &str = "OOM command not allowed when used memory > 'maxmemory'.";

/// Enough keys to pass this limit several times.
const MAX_BYTES: u64 = 100_000;
const MANY: u32 = 8000;

fn store() -> Bitcask {
    let opened = Bitcask::open(Arc::new(MemoryStorage::new()), &Options::default());
    opened.unwrap_or_else(|error| panic!("{error}")).store
}

impl<E: Engine> Console<E> {
    fn ask(&mut self, request: &str) -> Value {
        let words: Vec<Vec<u8>> = request.split(' ').map(|word| word.as_bytes().to_vec()).collect();
        self.call(1, &words)
    }

    fn ok(&mut self, request: &str) {
        assert_eq!(self.ask(request), Value::Simple(b"OK".to_vec()), "{request}");
    }

    fn number(&mut self, request: &str) -> i64 {
        match self.ask(request) {
            Value::Integer(number) => number,
            other => panic!("{request}: {other:?}"),
        }
    }

    fn limited(engine: E, policy: &str) -> Console<E> {
        let mut console = Console::new(engine);
        console.ok(&format!("CONFIG SET maxmemory {MAX_BYTES} maxmemory-policy {policy}"));
        console
    }

    fn used_bytes(&self) -> u64 {
        used_bytes(&self.server)
    }

    fn evicted(&self) -> u64 {
        self.server.shared.memory.evicted_keys.load(Ordering::Relaxed)
    }
}

#[test]
fn more_memory_is_taken_than_allowed() {
    let mut console = Console::limited(store(), "noeviction");
    let refused = (0..MANY).find_map(|n| match console.ask(&format!("SET key:{n} value")) {
        Value::Error(text) => Some((n, text)),
        _ => None,
    });
    let (count, text) = refused.expect("a limit");
    assert_eq!(String::from_utf8_lossy(&text), OOM);
    assert!((MAX_BYTES..MAX_BYTES * 11 / 10).contains(&console.used_bytes()), "{}", console.used_bytes());
    // What takes no memory goes on, and gives room.
    assert_eq!(console.ask("GET key:0"), Value::Bulk(b"value".to_vec()));
    assert_eq!(console.ask("MULTI"), Value::Simple(b"OK".to_vec()));
    assert_eq!(console.ask("DISCARD"), Value::Simple(b"OK".to_vec()));
    for n in 0..count / 4 {
        assert_eq!(console.number(&format!("DEL key:{n}")), 1);
    }
    console.ok("SET more 1");
    assert_eq!(console.evicted(), 0);
}

#[test]
fn transaction_takes_memory_that_is_not_there() {
    let mut console = Console::new(store());
    console.ok("SET a 1");
    console.ok("MULTI");
    assert_eq!(console.ask("SET b 1"), Value::Simple(b"QUEUED".to_vec()));
    console.server.shared.settings.set("maxmemory", "1").expect("a size");
    let aborted = format!("EXECABORT Transaction discarded because of: {OOM}");
    assert_eq!(console.ask("EXEC"), Value::Error(aborted.into_bytes()));
    console.ok("MULTI");
    // What is queued takes memory even if it only reads.
    assert_eq!(console.ask("GET a"), Value::Error(OOM.into()));
    let aborted = "EXECABORT Transaction discarded because of previous errors.";
    assert_eq!(console.ask("EXEC"), Value::Error(aborted.into()));
    console.ok("CONFIG SET maxmemory 0");
    console.ok("SET b 1");
}

#[test]
fn nothing_is_evicted() {
    for policy in ["allkeys-lru", "allkeys-lfu", "allkeys-random"] {
        let mut console = Console::limited(store(), policy);
        for n in 0..MANY {
            console.ok(&format!("SET key:{n} value"));
        }
        assert!(console.used_bytes() <= MAX_BYTES * 101 / 100, "{policy}: {}", console.used_bytes());
        let left = console.number("DBSIZE") as u64;
        assert_eq!(left + console.evicted(), u64::from(MANY), "{policy}");
        // No more go than have to.
        assert!(console.used_bytes() >= MAX_BYTES * 95 / 100, "{policy}: {}", console.used_bytes());
        console.ok("CONFIG RESETSTAT");
        assert_eq!(console.evicted(), 0);
    }
}

#[test]
fn key_without_an_expiry_is_evicted() {
    for policy in ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"] {
        let mut console = Console::limited(store(), policy);
        for n in 0..500 {
            console.ok(&format!("SET stays:{n} value"));
        }
        for n in 0..MANY {
            console.ok(&format!("SET goes:{n} value EX {}", 1000 + n));
        }
        assert!(console.evicted() > u64::from(MANY / 2), "{policy}");
        assert_eq!(console.number("EXISTS stays:0 stays:250 stays:499"), 3, "{policy}");
        // When all others are gone, there is no room any more.
        let refused =
            (0..MANY).any(|n| matches!(console.ask(&format!("SET stays:{n} value")), Value::Error(_)));
        assert!(refused, "{policy}");
    }
}

#[test]
fn key_in_use_is_evicted() {
    for (policy, least) in
        [("allkeys-lru", 95), ("allkeys-lfu", 99), ("volatile-lru", 95), ("volatile-lfu", 99)]
    {
        let mut console = Console::limited(store(), policy);
        for n in 0..100 {
            console.ok(&format!("SET hot:{n} value EX 100000"));
        }
        for n in 0..MANY {
            console.ok(&format!("SET cold:{n} value EX 100000"));
            console.ask(&format!("GET hot:{}", n % 100));
            console.now_ms += 20;
        }
        let hot = (0..100).map(|n| console.number(&format!("EXISTS hot:{n}"))).sum::<i64>();
        assert!(hot >= least, "{policy}: {hot} of 100 are left");
    }
}

#[test]
fn key_that_expires_later_goes_first() {
    let mut console = Console::limited(store(), "volatile-ttl");
    for n in 0..MANY {
        console.ok(&format!(
            "SET {}:{n} value EX {}",
            if n % 2 == 0 { "soon" } else { "late" },
            1000 + n % 2 * 500
        ));
    }
    let mut count =
        |prefix: &str| (0..MANY).map(|n| console.number(&format!("EXISTS {prefix}:{n}"))).sum::<i64>();
    let (sooner, later) = (count("soon"), count("late"));
    assert!(later > 5 * sooner, "{sooner} and {later}");
}

#[test]
fn collection_that_goes_makes_no_room() {
    let mut console = Console::limited(store(), "allkeys-random");
    for n in 0..200 {
        let fields: String = (0..40).map(|field| format!(" field:{field} value")).collect();
        assert_eq!(console.number(&format!("HSET hash:{n}{fields}")), 40);
    }
    // Garbage that waits to be freed makes no more keys go.
    assert!(console.server.engine.garbage_bytes() > 0);
    assert!(console.used_bytes() >= MAX_BYTES * 9 / 10, "{}", console.used_bytes());
    assert!(console.used_bytes() <= MAX_BYTES * 11 / 10, "{}", console.used_bytes());
}

#[test]
fn nobody_hears_of_an_evicted_key() {
    let mut console = Console::new(store());
    console.ok("CONFIG SET notify-keyspace-events Ee");
    console.call(2, &[b"SUBSCRIBE".to_vec(), b"__keyevent@0__:evicted".to_vec()]);
    console.ok("SET a 1");
    console.ok("WATCH a");
    console.ok("MULTI");
    assert_eq!(console.ask("PING"), Value::Simple(b"QUEUED".to_vec()));
    console.ok_after_eviction();
    assert!(matches!(console.ask("EXEC"), Value::Null));
    let reply = {
        let session = &mut console.sessions[1];
        session.process(&console.server, console.now_ms);
        session.reply().take().expect("memory is read")
    };
    let text = String::from_utf8_lossy(&reply).into_owned();
    assert!(text.ends_with("$22\r\n__keyevent@0__:evicted\r\n$1\r\na\r\n"), "{text:?}");
}

impl<E: Engine> Console<E> {
    /// Another connection has the only key evicted.
    fn ok_after_eviction(&mut self) {
        let words = |text: &str| text.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
        self.call(3, &words("CONFIG SET maxmemory 1 maxmemory-policy allkeys-random"));
        self.call(3, &words("PING"));
        assert_eq!(self.evicted(), 1);
        self.call(3, &words("CONFIG SET maxmemory 0"));
    }
}

#[test]
fn evicted_key_comes_back_with_a_restart() {
    let storage = Arc::new(MemoryStorage::new());
    let open = || {
        Bitcask::open(storage.clone(), &Options::default()).unwrap_or_else(|error| panic!("{error}")).store
    };
    let left = {
        let mut console = Console::limited(open(), "allkeys-lru");
        (0..MANY).for_each(|n| console.ok(&format!("SET key:{n} value")));
        assert!(console.evicted() > 0);
        console.number("DBSIZE")
    };
    assert_eq!(Console::new(open()).number("DBSIZE"), left);
}

#[test]
fn long_name_or_huge_value_is_never_evicted() {
    for policy in ["allkeys-lru", "allkeys-random", "volatile-lfu"] {
        let mut console = Console::limited(store(), policy);
        console.ok("CONFIG SET maxmemory 40000");
        console.server.shared.settings.set("blob-min-bytes", "5000").expect("a size");
        let (name, value) = ("n".repeat(300), "v".repeat(5000));
        for n in 0..1000 {
            console.ok(&format!("SET {name}:{n} value EX 1000"));
            console.ok(&format!("SET huge:{n} {value} EX 1000"));
        }
        assert!(console.used_bytes() <= 41_000, "{policy}: {}", console.used_bytes());
        let mut count =
            |name: &str| (0..1000).map(|n| console.number(&format!("EXISTS {name}:{n}"))).sum::<i64>();
        let (long, huge) = (count(&name), count("huge"));
        assert!((20..900).contains(&long) && (20..900).contains(&huge), "{policy}: {long} and {huge}");
        // The values of those that went take no space any more.
        console.server.engine.sync().expect("memory");
        console.server.engine.sweep_blobs().expect("memory");
        let report = console.server.engine.report();
        assert!(report.contains(&("blobs", huge as u64)), "{policy}: {huge} of {report:?}");
    }
}

#[test]
fn key_is_idle_since_it_was_written() {
    for (policy, idle, frequency) in [("allkeys-lru", 0, None), ("volatile-lfu", 0, Some(5))] {
        let storage = Arc::new(MemoryStorage::new());
        let later_ms = START_MS + 3_600_000;
        let open = |now_ms: u64| {
            let settings =
                crate::server::Settings::new(&[("maxmemory-policy", policy.into())]).expect("settings");
            let access = settings.memory().touch(now_ms, || 0).fresh();
            let options = Options { access, ..Options::default() };
            Bitcask::open(storage.clone(), &options).unwrap_or_else(|error| panic!("{error}")).store
        };
        Console::new(open(START_MS)).ok("SET a 1");
        // When it was used is not written down: it is neither the last to be used nor the first.
        let mut console = Console::limited(open(later_ms), policy);
        console.now_ms = later_ms;
        for reload in [false, true] {
            if reload {
                console.now_ms += 3_600_000;
                console.ok("DEBUG RELOAD");
            }
            match frequency {
                Some(frequency) => assert_eq!(console.number("OBJECT FREQ a"), frequency, "{policy}"),
                None => assert_eq!(console.number("OBJECT IDLETIME a"), idle, "{policy}"),
            }
        }
    }
}

#[test]
fn memory_for_connections_is_not_counted() {
    let mut console = Console::new(store());
    console.ok("CONFIG SET slowlog-log-slower-than -1");
    console.ask("HELLO 3");
    let mut grows = |request: &str, most: u64| {
        let before = console.used_bytes();
        (0..100).for_each(|n| drop(console.ask(&request.replace('#', &format!("{n:0>50}")))));
        let grown = console.used_bytes() - before;
        assert!((100 * 50..100 * most).contains(&grown), "{request}: {grown}");
    };
    grows("WATCH key:#", 1000);
    grows("SUBSCRIBE channel:#", 1000);
    console.ok("CONFIG SET slowlog-log-slower-than 0");
    let before = console.used_bytes();
    (0..100).for_each(|n| drop(console.ask(&format!("GET slow:{n:0>50}"))));
    assert!((5000..50_000).contains(&(console.used_bytes() - before)));
    let before = console.used_bytes();
    console.ok("SLOWLOG RESET");
    console.ok("CONFIG SET slowlog-log-slower-than -1");
    console.ok("CLIENT TRACKING ON");
    assert!(console.used_bytes() < before);
    let mut grows = |request: &str| {
        let before = console.used_bytes();
        (0..100).for_each(|n| drop(console.ask(&request.replace('#', &format!("{n:0>50}")))));
        assert!((5000..50_000).contains(&(console.used_bytes() - before)), "{request}");
    };
    grows("GET cached:#");
    let before = console.used_bytes();
    console.ok("CLIENT TRACKING OFF");
    console.ok("UNWATCH");
    let Value::Push(_) = console.ask("UNSUBSCRIBE channel:1") else { panic!("RESP3") };
    assert!(console.used_bytes() + 8_000 < before);
    // The peak is one of what was counted.
    let text = |console: &mut Console<Bitcask>| match console.ask("INFO memory") {
        Value::Verbatim { text, .. } => String::from_utf8_lossy(&text).into_owned(),
        other => panic!("{other:?}"),
    };
    let field = |text: &str, name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        line.parse().expect("a number")
    };
    let info = text(&mut console);
    let (used, peak) = (field(&info, "used_memory:"), field(&info, "used_memory_peak:"));
    assert!(used <= peak && peak < 10 * used, "{used} and {peak}");
    let whole = "x".repeat(12);
    (0..2000).for_each(|n| console.ok(&format!("SET peak:{n} {whole}")));
    let peak = field(&text(&mut console), "used_memory_peak:");
    console.ok("FLUSHALL");
    while console.server.engine.drain_garbage(1000) > 0 {}
    let after = text(&mut console);
    assert!(field(&after, "used_memory:") < peak && field(&after, "used_memory_peak:") == peak);
}

#[test]
fn thawed_session_takes_no_memory() {
    let mut console = Console::new(store());
    console.ok("MULTI");
    assert_eq!(console.ask(&format!("SET a {}", "x".repeat(5000))), Value::Simple(b"QUEUED".to_vec()));
    let before = console.used_bytes();
    console.sleep();
    assert!(console.used_bytes() + 1000 > before, "{} of {before}", console.used_bytes());
}

#[test]
fn engine_that_waits_never_evicts() {
    for seed in 0..3 {
        let engine = Waiting::with_odds(MemoryEngine::new(16), seed, Odds::default());
        let mut console = Console::limited(engine, "allkeys-lru");
        for n in 0..400 {
            console.ok(&format!("SET key:{n} {}", "x".repeat(1000)));
        }
        assert!(console.evicted() > 100, "seed {seed}");
    }
}

#[test]
fn databases_do_not_take_turns() {
    for policy in ["allkeys-random", "allkeys-lru"] {
        let mut console = Console::limited(store(), policy);
        for n in 0..MANY {
            console.ok(&format!("SELECT {}", n % 3));
            console.ok(&format!("SET key:{n} value"));
        }
        for db in 0..3 {
            console.ok(&format!("SELECT {db}"));
            let left = console.number("DBSIZE");
            assert!(left > 100, "{policy}: {left} in database {db}");
        }
    }
}

#[test]
fn use_is_not_counted() {
    let mut console = Console::limited(store(), "allkeys-lfu");
    console.ok("CONFIG SET lfu-log-factor 0");
    let mut frequency = |requests: &[&str]| {
        requests.iter().for_each(|request| drop(console.ask(request)));
        console.number("OBJECT FREQ a")
    };
    assert_eq!(frequency(&["SET a 1"]), 5);
    assert_eq!(frequency(&["GET a", "GET a", "STRLEN a"]), 8);
    assert_eq!(frequency(&["SET a 2"]), 9);
    assert_eq!(frequency(&["SET a 2 EX 100"]), 10);
    assert_eq!(frequency(&["RENAME a b", "RENAME b a"]), 12);
    assert_eq!(frequency(&["CLIENT NO-TOUCH ON", "GET a", "SET a 3", "CLIENT NO-TOUCH OFF"]), 12);
    assert_eq!(frequency(&["DEL a", "SET a 1"]), 5);
    console.now_ms += 3 * 60_000;
    assert_eq!(console.number("OBJECT FREQ a"), 2);
}

#[test]
fn connection_that_takes_most_memory_stays() {
    let mut console = Console::new(store());
    console.call(3, &[b"CLIENT".to_vec(), b"NO-EVICT".to_vec(), b"ON".to_vec()]);
    let all_bytes =
        |console: &Console<Bitcask>| console.server.shared.memory.clients_bytes.load(Ordering::Relaxed);
    let few_bytes = all_bytes(&console);
    console.ok(&format!("CONFIG SET maxmemory-clients {}", few_bytes + 300_000));
    // Half a request is kept until the rest comes.
    let begin = [b"*2\r\n$3\r\nGET\r\n$400000\r\n".as_slice(), &[b'x'; 200_000]].concat();
    for (at, evicted) in [(1, 0), (2, 1)] {
        console.sessions[at].input().extend_from_slice(&begin);
        console.sessions[at].process(&console.server, START_MS);
        assert_eq!(console.server.shared.memory.evicted_clients.load(Ordering::Relaxed), evicted);
    }
    // The third has as much, and is not to be evicted.
    assert_eq!([0, 1, 2].map(|at| console.sessions[at].must_close()), [false, true, false]);
    console.sessions[1].close(&console.server);
    assert!(all_bytes(&console) < few_bytes + 210_000);
    console.sessions[2].close(&console.server);
    console.sessions[0].close(&console.server);
    assert_eq!(all_bytes(&console), 0);
}

//! Rounds to a cluster that commands take: reads that are made together, and writes. Each costs a client about a millisecond.

use super::Console;
use crate::ordered::simulated::{Counted, Faults, Simulated};
use crate::ordered::{Options, Ordered, SMALL_BYTES};
use crate::resp::Value;

/// Elements of a collection with two levels of counts.
const MANY: usize = 24_000;

/// So many elements come with one command.
const AT_ONCE: usize = 2_000;

type Cluster = Console<Ordered<Simulated>>;

fn console() -> Cluster {
    let options = Options { store: b"test".to_vec(), databases: 16, process: 1, small_bytes: SMALL_BYTES };
    Console::new(Ordered::new(Simulated::new(1, Faults::default()), options))
}

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

/// A place for each element, so that they do not come in order.
fn scattered(number: usize) -> usize {
    number * 7919 % MANY
}

/// Makes a large collection: `element` gives the words of one element.
fn fill(console: &mut Cluster, command: &str, element: impl Fn(usize) -> String) {
    for start in (0..MANY).step_by(AT_ONCE) {
        let elements: Vec<String> =
            (start..start + AT_ONCE).map(|number| element(scattered(number))).collect();
        let reply = console.call(1, &words(&format!("{command} {}", elements.join(" "))));
        assert!(!matches!(reply, Value::Error(_)), "{reply:?}");
    }
}

fn counted(console: &Cluster) -> Counted {
    console.server.engine.cluster().take_counted()
}

/// What a request takes: rounds of reading, and writes; it must not fail.
#[track_caller]
fn check(console: &mut Cluster, line: &str, (reads, writes): (u64, u64)) {
    let reply = console.call(1, &words(line));
    assert!(!matches!(reply, Value::Error(_)), "{line}: {reply:?}");
    let found = counted(console);
    assert!(found.reads <= reads, "{line}: {found:?}, not {reads} reads");
    assert!(found.read_bytes < 64 * 1024, "{line}: {found:?}");
    assert_eq!(found.writes, writes, "{line}: {found:?}");
}

#[test]
fn command_over_small_values_takes_many_rounds() {
    let mut console = console();
    let fields: Vec<String> = (0..60).map(|number| format!("field{number} v")).collect();
    console.call(1, &words(&format!("HSET sixty {}", fields.join(" "))));
    counted(&console);
    for (line, rounds) in [
        ("SET a 1", (0, 1)),
        ("GET a", (1, 0)),
        ("MGET a b c d e f g h i j", (1, 0)),
        ("MSET a 1 b 2 c 3", (0, 1)),
        ("SETEX s 100 v", (0, 1)),
        ("INCR a", (1, 1)),
        ("HSET h f 1", (1, 1)),
        ("HGETALL sixty", (1, 0)),
        ("LPUSH l a b c", (1, 1)),
        ("RPOPLPUSH l m", (1, 1)),
        ("SADD s1 a b c", (1, 1)),
        ("SINTERSTORE t s1 s1", (1, 1)),
        ("ZADD z 1 a 2 b", (1, 1)),
        ("EXPIRE a 100", (1, 1)),
        ("DEL a b c s", (1, 1)),
    ] {
        check(&mut console, line, rounds);
    }
}

#[test]
fn command_over_large_collections_takes_many_rounds() {
    let mut console = console();
    fill(&mut console, "HSET h", |number| format!("field{number:05} value{number}"));
    fill(&mut console, "SADD s", |number| format!("member{number:05}"));
    fill(&mut console, "ZADD z", |number| format!("{number} member{number:05}"));
    fill(&mut console, "RPUSH l", |number| format!("element{number:05}"));
    counted(&console);
    for (line, rounds) in [
        ("HGET h field00700", (1, 0)),
        ("HSET h field00700 other", (1, 1)),
        ("HSET h new value", (1, 1)),
        ("HINCRBY h number 1", (1, 1)),
        ("HMGET h field00001 field01000 field02000 field03000 field04000 none", (1, 0)),
        ("HSET h a 1 b 2 c 3 field10000 4", (1, 1)),
        ("HDEL h a b c field10000", (1, 1)),
        ("HRANDFIELD h 8", (3, 0)),
        ("SISMEMBER s member00005", (1, 0)),
        ("SMISMEMBER s member00005 none member20000 member22000", (1, 0)),
        ("SADD s a b c member00005", (1, 1)),
        ("SREM s a b c member00005", (1, 1)),
        ("SPOP s", (3, 1)),
        ("SRANDMEMBER s 8", (3, 0)),
        ("SMOVE s s2 member12000", (2, 1)),
        ("ZADD z 5000.5 new", (1, 1)),
        ("ZADD z 10.5 a 5000.25 b 20000.5 c", (1, 1)),
        ("ZADD z 20 member20000", (2, 1)),
        ("ZINCRBY z 5 member15000", (2, 1)),
        ("ZSCORE z member15001", (1, 0)),
        ("ZMSCORE z member15001 none member00001", (1, 0)),
        ("ZRANK z member15001", (2, 0)),
        ("ZREVRANK z member15001", (2, 0)),
        ("ZRANGE z 12000 12099", (3, 0)),
        ("ZREVRANGE z 12000 12099", (3, 0)),
        ("ZRANGE z 0 99", (1, 0)),
        ("ZRANGE z 9000 9099 BYSCORE", (3, 0)),
        ("ZRANGE z (100 +inf BYSCORE LIMIT 0 100", (3, 0)),
        ("ZCOUNT z 100 20000", (1, 0)),
        ("ZREM z a b c", (2, 1)),
        ("ZPOPMIN z", (2, 1)),
        ("ZPOPMIN z 5", (2, 1)),
        ("ZPOPMAX z", (2, 1)),
        ("LPUSH l a b c", (1, 1)),
        ("RPUSH l a b c", (1, 1)),
        ("LPOP l", (1, 1)),
        ("RPOP l", (1, 1)),
        ("LPOP l 10", (1, 1)),
        ("RPOPLPUSH l l", (1, 1)),
        ("LINDEX l 12000", (2, 0)),
        ("LRANGE l 0 99", (1, 0)),
        ("LRANGE l 12000 12099", (2, 0)),
        ("LSET l 12000 value", (2, 1)),
        ("DEL h", (1, 1)),
    ] {
        check(&mut console, line, rounds);
    }
}

/// The commands of a transaction, and of a pipeline, fetch what they miss together.
#[test]
fn batch_takes_a_round_a_command() {
    let mut console = console();
    fill(&mut console, "ZADD z", |number| format!("{number} member{number:05}"));
    fill(&mut console, "SADD s", |number| format!("member{number:05}"));
    console.call(1, &words("SET watched 1"));
    let batch = [
        "INCR a",
        "INCR b",
        "SADD s new",
        "SREM s member00010",
        "ZADD z 500 new",
        "ZADD z 300 new2",
        "ZRANK z member20000",
        "HSET h f v",
        "LPUSH l a",
        "GET c",
        "SET d 1",
        "HGETALL h",
        "ZSCORE z member00300",
        "EXISTS e",
        "DEL f",
        "TTL g",
    ];
    console.call(1, &words("WATCH watched"));
    console.call(1, &words("MULTI"));
    batch.iter().for_each(|line| drop(console.call(1, &words(line))));
    counted(&console);
    check(&mut console, "EXEC", (2, 1));
    let replies = console.call_together(1, &batch.map(words));
    assert!(replies.iter().all(|reply| !matches!(reply, Value::Error(_))), "{replies:?}");
    let found = counted(&console);
    assert!(found.reads <= 2 && found.writes == 1, "{found:?}");
    let together = |console: &mut Cluster, line: &str| {
        let requests: Vec<_> = (0..16).map(|number| words(&format!("{line}{number}"))).collect();
        console.call_together(1, &requests);
        let Counted { reads, writes, .. } = counted(console);
        (reads, writes)
    };
    assert_eq!(together(&mut console, "GET key"), (1, 0));
    assert_eq!(together(&mut console, "SET key value"), (0, 1));
    assert_eq!(together(&mut console, "INCR number"), (1, 1));
}

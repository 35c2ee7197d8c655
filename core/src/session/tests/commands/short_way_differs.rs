//! GET and SET without options go a shorter way than all other commands, which nobody may notice.

use super::Console;
use crate::bitcask::{Bitcask, Options};
use crate::engine::memory::MemoryEngine;
use crate::resp::Value;
use crate::storage::memory::MemoryStorage;

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

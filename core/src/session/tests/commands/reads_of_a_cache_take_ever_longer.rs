//! A transaction of a connection with a cache that reads many keys costs the same for each of them, however many there are.

use std::time::{Duration, Instant};

use super::Console;
use crate::engine::memory::MemoryEngine;
use crate::resp::Value;

/// How long a transaction takes that reads, writes and reads again so many keys.
fn took(keys: usize) -> Duration {
    let mut console = Console::new(MemoryEngine::new(16));
    let mut call = |words: Vec<Vec<u8>>| console.call(1, &words);
    let words = |line: &str| line.split(' ').map(Vec::from).collect::<Vec<_>>();
    assert!(!matches!(call(words("HELLO 3")), Value::Error(_)));
    assert_eq!(call(words("CLIENT TRACKING ON NOLOOP")), Value::Simple(b"OK".to_vec()));
    let names = || (0..keys).map(|number| format!("key:{number:08}").into_bytes());
    let read = || std::iter::once(b"MGET".to_vec()).chain(names()).collect::<Vec<_>>();
    let write = std::iter::once(b"MSET".to_vec()).chain(names().flat_map(|name| [name, b"1".to_vec()]));
    call(words("MULTI"));
    for request in [read(), write.collect(), read()] {
        assert_eq!(call(request), Value::Simple(b"QUEUED".to_vec()));
    }
    let begin = Instant::now();
    let Value::Array(replies) = call(words("EXEC")) else { panic!("EXEC fails") };
    let took = begin.elapsed();
    assert_eq!(replies.len(), 3);
    took
}

#[test]
fn reads_of_a_cache_take_ever_longer() {
    let few = (0..3).map(|_| took(2_000)).min().expect("three");
    let many = took(64_000);
    // 32 times as many. Where each key is compared with all others it takes a thousand times as long.
    assert!(many < few * 32 * 8, "{few:?}, and {many:?} for 32 times as many");
}

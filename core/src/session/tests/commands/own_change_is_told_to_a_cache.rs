//! What a transaction reads behind its own write of a key is what it wrote, so its connection's cache hears nothing of that write. Where
//! the engine holds no locks keys are remembered before they are read, and it did hear of it.

use super::Console;
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::ordered::simulated::{Faults, Simulated};
use crate::ordered::{Options, Ordered, SMALL_BYTES};
use crate::resp::Value;

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(Vec::from).collect()
}

fn told<E: Engine>(engine: E) -> Vec<usize> {
    let mut console = Console::new(engine);
    for line in ["HELLO 3", "CLIENT TRACKING ON", "MULTI", "SET k 1", "GET k"] {
        console.call(1, &words(line));
    }
    let mut counts = Vec::new();
    let mut exec = |console: &mut Console<E>| counts.push(console.call_together(1, &[words("EXEC")]).len());
    exec(&mut console);
    // Now it has read the key before.
    for line in ["MULTI", "GET k", "SET k 2"] {
        console.call(1, &words(line));
    }
    exec(&mut console);
    for line in ["MULTI", "SET k 3", "GET k"] {
        console.call(1, &words(line));
    }
    exec(&mut console);
    console.call(2, &words("SET k 4"));
    counts.push(console.call_together(1, &[words("PING")]).len());
    let last = console.call(1, &words("GET k"));
    assert_eq!(last, Value::Bulk(b"4".to_vec()));
    counts
}

#[test]
fn own_change_is_told_to_a_cache() {
    let options = Options { store: b"test".to_vec(), databases: 16, process: 1, small_bytes: SMALL_BYTES };
    let expected = [1, 2, 1, 2];
    assert_eq!(told(MemoryEngine::new(16)), expected);
    assert_eq!(told(Ordered::new(Simulated::new(1, Faults::default()), options)), expected);
}

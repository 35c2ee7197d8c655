//! SCAN with a cursor that no reply gave out.

use super::Console;
use crate::bitcask::{Bitcask, Options};
use crate::engine::Engine;
use crate::engine::memory::MemoryEngine;
use crate::resp::Value;
use crate::storage::Simulation;

fn words(line: &str) -> Vec<Vec<u8>> {
    line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
}

fn check(engine: impl Engine) {
    let mut console = Console::new(engine);
    for number in 0..500 {
        console.call(1, &words(&format!("SET key:{number} x")));
    }
    for cursor in ["-1", "-2", "18446744073709551615", "281474976710656"] {
        let ended = Value::Array(vec![Value::Bulk(b"0".to_vec()), Value::Array(Vec::new())]);
        assert_eq!(console.call(1, &words(&format!("SCAN {cursor}"))), ended, "{cursor}");
        assert_eq!(console.call(1, &words(&format!("SCAN {cursor} COUNT 1000"))), ended, "{cursor}");
    }
}

#[test]
fn scan_behind_the_last_cursor_shows_keys() {
    check(MemoryEngine::new(1));
    let storage = std::sync::Arc::new(Simulation::new(1).open().expect("a healthy device"));
    check(Bitcask::open(storage, &Options::default()).expect("opens").store);
}

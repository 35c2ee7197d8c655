//! A run of subkeys is removed, and nothing beside it.

use std::ops::ControlFlow;

use crate::engine::laws;
use crate::engine::memory::MemoryEngine;
use crate::engine::{Engine, Kind, NewRoot, Overlay, Scope, SubWalk, Txn, Want};

const KEY: &[u8] = b"key";

fn subkey(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

fn found(txn: &mut Txn<'_>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    txn.sub_scan(0, KEY, SubWalk::all(Want::Subkeys), &mut |subkey, _| {
        found.push(subkey.to_vec());
        ControlFlow::Continue(())
    })
    .expect("a memory engine");
    found
}

/// Beside a list, in transactions that have put and removed subkeys before.
#[test]
fn removed_run_takes_others_along() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let engine = MemoryEngine::new(1);
        let mut expected: Vec<Vec<u8>> = Vec::new();
        for _ in 0..12 {
            let mut overlay = Overlay::new();
            let mut snapshot = engine.begin(Scope::Everything).expect("a memory engine");
            let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
            if expected.is_empty() {
                txn.put(0, KEY, NewRoot::of(Kind::Hash), &[]).expect("a memory engine");
            }
            for _ in 0..random.u8(..30) {
                let subkey = subkey(random.u64(..60));
                txn.sub_put(0, KEY, &subkey, b"value").expect("a memory engine");
                expected.push(subkey.to_vec());
            }
            expected.sort();
            expected.dedup();
            for _ in 0..random.usize(..3).min(expected.len()) {
                let gone = expected.remove(random.usize(..expected.len()));
                assert_eq!(txn.sub_remove(0, KEY, &gone), Ok(true));
            }
            for _ in 0..random.u8(..3) {
                let start = random.usize(..=expected.len());
                let end = random.usize(start..=expected.len() + 2);
                let gone = expected.drain(start..end.min(expected.len())).count() as u64;
                assert_eq!(txn.sub_remove_run(0, KEY, start as u64..end as u64), Ok(gone), "seed {seed}");
                assert_eq!(txn.sub_len(0, KEY), Ok(expected.len() as u64), "seed {seed}");
            }
            assert_eq!(found(&mut txn), expected, "seed {seed}");
            if expected.is_empty() {
                txn.remove(0, KEY).expect("a memory engine");
            }
            laws::commit(&engine, snapshot, &mut overlay, 0).expect("a memory engine");
            let mut overlay = Overlay::new();
            let mut snapshot = engine.begin(Scope::Everything).expect("a memory engine");
            assert_eq!(found(&mut Txn::new(&mut snapshot, &mut overlay, 0)), expected, "seed {seed}");
        }
    }
}

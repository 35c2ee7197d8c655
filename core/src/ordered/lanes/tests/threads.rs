//! Threads that wait themselves and write one key.

use std::task::Waker;

use super::{Task, counter, read};
use crate::engine::laws::{self, DATABASES};
use crate::engine::{Commit, Engine, EngineError, Overlay, Reader, Result, Scope, Txn};
use crate::ordered::simulated::{Faults, Simulated};
use crate::ordered::{Options, Ordered, SMALL_BYTES};

/// Adds one to a counter, as a request that has a thread for itself.
fn add(engine: &Ordered<Simulated>) -> Result<u64> {
    let key = counter(0);
    let keys: [&[u8]; 1] = [&key];
    let (scope, mut overlay, mut snapshot) = (Scope::Keys(&keys), Overlay::new(), None);
    loop {
        let mut reader = match snapshot.take() {
            Some(resumed) => resumed,
            None => engine.begin(scope)?,
        };
        overlay.clear();
        reader.announce_writes();
        reader.announce(0, &keys);
        match Task::Add(0).run(1, &mut Txn::new(&mut reader, &mut overlay, 0)) {
            Err(EngineError::NotHere) => {
                let ticket = engine.park(reader, Waker::noop());
                while snapshot.is_none() {
                    engine.wait_for(ticket);
                    snapshot = engine.resume(ticket, scope)?;
                }
            }
            outcome => {
                let added = outcome?;
                let Commit::Waiting(ticket) = engine.commit(reader, &mut overlay, 0, &mut |_| {})? else {
                    panic!("it was not written");
                };
                engine.wait_for(ticket);
                match engine.committed(ticket, Waker::noop(), &mut |_| {}) {
                    Err(EngineError::NotHere) => {}
                    ended => return ended.map(|_| added),
                }
            }
        }
    }
}

#[test]
fn threads_that_write_one_key_hang_or_lose_a_write() {
    const THREADS: u64 = 4;
    const TIMES: u64 = 60;
    let faults = Faults { conflict_percent: 10, read_conflict_percent: 10 };
    let options =
        Options { store: b"test".to_vec(), databases: DATABASES, process: 1, small_bytes: SMALL_BYTES };
    let engine = Ordered::new(Simulated::new(11, faults), options);
    let mut told: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| (0..TIMES).map(|_| add(&engine).expect("an addition")).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    told.sort_unstable();
    assert_eq!(told, (1..=THREADS * TIMES).collect::<Vec<_>>());
    let value = laws::view(&engine, 0, &mut |txn| read(txn, &counter(0)));
    assert_eq!(value, Ok(THREADS * TIMES));
}

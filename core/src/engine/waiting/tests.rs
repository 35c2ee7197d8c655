//! The test engine keeps the laws, comes to an end, and notices callers that do not keep theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use super::{Odds, Waiting};
use crate::engine::laws::{self, DATABASES, transact, view};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Engine, EngineError, Kind, NewRoot, Overlay, Reader, Scope};

const ALL: Odds = Odds { read_percent: 30, commit_percent: 30, conflict_percent: 10, undeclared_percent: 50 };

/// Reads always wait, nothing else does.
const READS: Odds = Odds { read_percent: 100, commit_percent: 0, conflict_percent: 0, undeclared_percent: 0 };

fn engine(seed: u64, odds: Odds) -> Waiting<MemoryEngine> {
    Waiting::with_odds(MemoryEngine::new(DATABASES), seed, odds)
}

#[test]
fn waiting_changes_an_answer() {
    for seed in 0..6 {
        let waiting = engine(seed, [Odds::default(), ALL, READS][seed as usize % 3]);
        laws::check(&waiting, seed, 120);
        assert_eq!(waiting.waiting_count(), 0, "somebody still waits");
    }
}

#[test]
fn scope_is_widened_without_end() {
    let waiting =
        engine(1, Odds { undeclared_percent: 100, read_percent: 0, commit_percent: 0, conflict_percent: 0 });
    let mut runs = 0;
    transact(&waiting, Some(&[b"a", b"b", b"c"]), 0, &mut Overlay::new(), &mut |txn| {
        runs += 1;
        [b"c", b"b", b"a", b"d"]
            .iter()
            .try_for_each(|key| txn.put(0, *key, NewRoot::of(Kind::String), b"value"))
    })
    .expect("memory");
    // One for each key until it is named, again for each once the fourth was added, and one that ends well.
    assert_eq!(runs, 9);
    assert_eq!(view(&waiting, 0, &mut |txn| txn.key_count(0)), Ok(4));
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn parked_transaction_holds_a_lock_or_is_never_woken() {
    for seed in 0..20 {
        let waiting = engine(seed, READS);
        let woken = Arc::new(Woken::default());
        let mut snapshot = waiting.begin(Scope::Everything).expect("memory");
        assert_eq!(snapshot.root(0, b"key", None), Err(EngineError::NotHere));
        assert_eq!(snapshot.root(0, b"key", None), Err(EngineError::NotHere), "the run has failed");
        let ticket = waiting.park(snapshot, &Waker::from(woken.clone()));
        // The engine below has one lock: this would never return.
        drop(waiting.begin(Scope::Everything).expect("memory"));
        for _ in 0..10 {
            waiting.tick();
        }
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "seed {seed}");
        let mut resumed = waiting.resume(ticket, Scope::Everything).expect("memory").expect("woken");
        assert_eq!(resumed.root(0, b"key", None), Ok(None), "what it has missed is there");
        assert_eq!(waiting.waiting_count(), 0);
    }
}

#[test]
fn forgotten_transaction_waits_forever() {
    let waiting = engine(1, READS);
    let mut snapshot = waiting.begin(Scope::Everything).expect("memory");
    assert_eq!(snapshot.key_count(0), Err(EngineError::NotHere));
    let ticket = waiting.park(snapshot, Waker::noop());
    waiting.forget(ticket);
    assert_eq!(waiting.waiting_count(), 0);
    assert!(waiting.resume(ticket, Scope::Everything).is_err());
}

#[test]
#[cfg(not(target_family = "wasm"))] // Nothing unwinds there.
#[should_panic(expected = "is not that of the run before")]
fn command_that_reads_something_else_when_it_is_run_again() {
    let mut random = 0;
    let _ = view(&engine(1, READS), 0, &mut |txn| {
        random += 1;
        txn.root(0, format!("key {random}").as_bytes())
    });
}

#[test]
#[cfg(not(target_family = "wasm"))] // Nothing unwinds there.
#[should_panic(expected = "was committed that has missed")]
fn command_that_swallows_a_missing_read() {
    let waiting = engine(1, READS);
    let mut snapshot = waiting.begin(Scope::Everything).expect("memory");
    let mut overlay = Overlay::new();
    let _ = snapshot.root(0, b"key", None);
    let _ = waiting.commit(snapshot, &mut overlay, 0, &mut |_| {});
}

//! Merge and hints read the keydir while commits change it. What they overlook is lost, so they are made to look at the
//! worst moments many times. Only where there are threads.

use std::sync::atomic::{AtomicBool, Ordering};

use super::harness::{OPTIONS, contents, open, put, remove, run, sub_put};
use crate::bitcask::Bitcask;
use crate::engine::laws::{self, Operation};
use crate::engine::{Admin, Overlay, Scope, Txn};
use crate::engine::{Engine, Result};
use crate::storage::Simulation;

/// Runs one operation that names these keys, locking no more than a command would.
fn run_on(store: &Bitcask, keys: &[&[u8]], operation: &Operation) -> Result<()> {
    let mut guard = store.begin(Scope::Keys(keys))?;
    let mut overlay = Overlay::new();
    laws::perform(&mut Txn::new(&mut guard, &mut overlay, 0), operation)?;
    store.commit(guard, &mut overlay, 0).map(drop)
}

/// Says that it is over, also when the test panics: otherwise the background would never end.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs each of `background` again and again, on a thread of its own, while `foreground` runs once.
fn beside(foreground: impl FnOnce(), background: &[&(dyn Fn() + Sync)]) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&is_over);
        for work in background {
            scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) {
                    work();
                    std::thread::yield_now();
                }
            });
        }
        foreground();
    });
}

#[test]
fn fields_of_a_hash_renamed_during_merges() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    for field in 0..40 {
        run(&store, &[sub_put("hash 0", &format!("field {field}"), &[7; 90])]);
    }
    let name = |number: u32| format!("hash {}", number % 3).into_bytes();
    let rounds = 6000;
    beside(
        || {
            for number in 0..rounds {
                let (from, to) = (name(number), name(number + 1));
                run_on(&store, &[&from, &to], &Operation::Rename(0, from.clone(), 0, to.clone()))
                    .expect("rename");
                if number % 4 == 0 {
                    // What is dead beside the fields makes their datafiles worth merging.
                    let field = format!("field {}", number / 4 % 40);
                    let operation = sub_put(&String::from_utf8_lossy(&to), &field, &[7; 90]);
                    run_on(&store, &[&to], &operation).expect("put");
                }
            }
        },
        &[&|| assert!(store.merge_step(10_000).is_ok())],
    );
    let found = laws::dump(&store, 0).expect("every field is readable");
    assert_eq!(found.len(), 1);
    store.sync().expect("a healthy device");
    let next = open(&machine.after_kill()).expect("open").store;
    assert_eq!(laws::difference(&found, &laws::dump(&next, 0).expect("readable")), None);
    let fields = format!("{found:?}").matches("102, 105, 101, 108, 100, 32").count();
    assert_eq!(fields, 40, "fields are missing");
}

#[test]
fn new_hashes_missing_after_a_checkpoint() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    beside(
        || {
            for round in 0..60 {
                let hashes: Vec<Operation> =
                    (0..60).map(|hash| sub_put(&format!("hash {round} {hash}"), "field", b"value")).collect();
                run(&store, &hashes);
                // What was hinted is compared while it is all there is.
                if round % 10 == 9 {
                    let next = open(&machine.after_kill()).expect("open");
                    let lines = laws::difference(&contents(&store), &contents(&next.store));
                    assert_eq!(lines, None, "round {round}");
                }
            }
        },
        &[&|| store.checkpoint(0).expect("checkpoint")],
    );
}

#[test]
fn values_missing_while_everything_runs() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    let write = |writer: u8| {
        for number in 0..3000_u32 {
            let key = format!("key {writer} {}", number % 50);
            let operation = match number % 7 {
                0 => remove(&key),
                1..4 => put(&key, &number.to_le_bytes().repeat(60)),
                _ => sub_put(&key, &format!("field {}", number % 11), &[writer; 80]),
            };
            run_on(&store, &[key.as_bytes()], &operation).expect("write");
        }
    };
    beside(
        || {
            std::thread::scope(|scope| {
                scope.spawn(|| write(0));
                write(1);
            });
        },
        &[
            &|| assert!(store.merge_step(2000).is_ok()),
            &|| assert!(store.hint_step().is_ok()),
            &|| assert!(store.sync().is_ok()),
            &|| assert!(store.drain_garbage(5) < 1000),
        ],
    );
    let found = contents(&store);
    assert!(found.len() > 40 && OPTIONS.datafile_max_bytes < 10_000);
    for _ in 0..3 {
        let next = open(&machine.after_kill()).expect("open").store;
        assert_eq!(laws::difference(&found, &contents(&next)), None);
    }
}

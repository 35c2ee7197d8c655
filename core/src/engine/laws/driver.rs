//! Running transactions on an engine that may have to wait, or may want more keys named.

use std::task::Waker;

use super::script::{Operation, perform};
use super::{BLOB_MIN_BYTES, DATABASES, Dump};
use crate::engine::{Commit, Engine, EngineError, Overlay, Reader, Receipt, Result, Scope, Txn};

/// A transaction that was run again so often will never end: an engine must make progress.
const RUNS_MAX: u32 = 10_000;

/// How often an engine may say that it still waits.
const POLLS_MAX: u32 = 10_000;

/// Which keys a transaction says it will touch.
enum Declared {
    Everything,
    Keys(Vec<Vec<u8>>),
}

/// Runs a transaction over the whole store and drops it; returns what `run` made of it.
///
/// `run` may be called again and again, and must then do the same. Panics if the engine makes no progress.
pub fn view<E: Engine, T>(
    engine: &E,
    now_ms: u64,
    run: &mut dyn FnMut(&mut Txn<'_>) -> Result<T>,
) -> Result<T> {
    let (outcome, snapshot) =
        until_here(engine, &mut Declared::Everything, now_ms, &mut Overlay::new(), run)?;
    drop(snapshot);
    Ok(outcome)
}

/// Runs a transaction and commits it. Its scope is `keys`, or the whole store without.
///
/// `run` may be called again and again, and must then do the same. Panics if the engine makes no progress, or if it
/// breaks the promise of [`Ordered`](crate::engine::Ordered).
pub fn transact<E: Engine>(
    engine: &E,
    keys: Option<&[&[u8]]>,
    now_ms: u64,
    overlay: &mut Overlay,
    run: &mut dyn FnMut(&mut Txn<'_>) -> Result<()>,
) -> Result<Receipt> {
    let mut declared = match keys {
        Some(keys) => Declared::Keys(keys.iter().map(|key| key.to_vec()).collect()),
        None => Declared::Everything,
    };
    for _ in 0..RUNS_MAX {
        let ((), snapshot) = until_here(engine, &mut declared, now_ms, overlay, run)?;
        match commit(engine, snapshot, overlay, now_ms) {
            // It met another transaction.
            Err(EngineError::NotHere) => {}
            outcome => return outcome,
        }
    }
    panic!("a transaction never ends");
}

/// Runs a transaction until nothing that it reads is missing; it is not committed yet.
fn until_here<'e, E: Engine, T>(
    engine: &'e E,
    declared: &mut Declared,
    now_ms: u64,
    overlay: &mut Overlay,
    run: &mut dyn FnMut(&mut Txn<'_>) -> Result<T>,
) -> Result<(T, E::Snapshot<'e>)> {
    let mut snapshot: Option<E::Snapshot<'e>> = None;
    for _ in 0..RUNS_MAX {
        let mut reader = match snapshot.take() {
            Some(resumed) => resumed,
            None => declared.scoped(&mut |scope| engine.begin(scope))?,
        };
        overlay.clear();
        declared.announce(&mut reader);
        let mut txn = Txn::new(&mut reader, overlay, now_ms);
        txn.set_blob_min(if engine.has_blobs() { BLOB_MIN_BYTES } else { u64::MAX });
        match run(&mut txn) {
            Ok(outcome) => return Ok((outcome, reader)),
            Err(EngineError::NotHere) => {
                let ticket = engine.park(reader, Waker::noop());
                let resume = || declared.scoped(&mut |scope| engine.resume(ticket, scope)).transpose();
                let resumed = (0..POLLS_MAX).find_map(|_| resume());
                snapshot = Some(resumed.unwrap_or_else(|| panic!("nothing is ever fetched"))?);
            }
            Err(EngineError::Undeclared) => {
                let missing = reader.undeclared();
                declared.add(missing.unwrap_or_else(|| panic!("an undeclared key has no name")));
            }
            Err(error) => return Err(error),
        }
    }
    panic!("a transaction never ends");
}

impl Declared {
    fn scoped<R>(&self, begin: &mut dyn FnMut(Scope<'_>) -> R) -> R {
        match self {
            Declared::Everything => begin(Scope::Everything),
            Declared::Keys(keys) => {
                let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                begin(Scope::Keys(&keys))
            }
        }
    }

    /// Tells the engine which keys will be written, though some will only be read.
    fn announce(&self, reader: &mut impl Reader) {
        if let Declared::Keys(keys) = self {
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            reader.announce_writes();
            (0..DATABASES).for_each(|db| reader.announce(db, &keys));
        }
    }

    fn add(&mut self, key: Vec<u8>) {
        match self {
            Declared::Everything => panic!("a key lies outside of everything"),
            Declared::Keys(keys) if keys.contains(&key) => {}
            Declared::Keys(keys) => keys.push(key),
        }
    }
}

/// Commits a transaction and waits for its end. Panics if the engine makes no progress, or if it does not call
/// [`Ordered`](crate::engine::Ordered) once for a batch that changes something and never for another.
pub fn commit<E: Engine>(
    engine: &E,
    snapshot: E::Snapshot<'_>,
    overlay: &mut Overlay,
    now_ms: u64,
) -> Result<Receipt> {
    let mut ordered = Vec::new();
    let mut outcome = engine.commit(snapshot, overlay, now_ms, &mut |receipt| ordered.push(receipt));
    for _ in 0..POLLS_MAX {
        let ticket = match outcome {
            Ok(Commit::Waiting(ticket)) => ticket,
            Ok(Commit::Done(receipt)) => {
                let expected = (receipt != Receipt::default()).then_some(receipt);
                assert_eq!(ordered, expected.into_iter().collect::<Vec<_>>(), "calls of ordered");
                return Ok(receipt);
            }
            Err(error) => {
                assert!(ordered.is_empty(), "a commit that failed was ordered");
                return Err(error);
            }
        };
        let ended = engine.committed(ticket, Waker::noop(), &mut |receipt| ordered.push(receipt));
        outcome = ended.map(|receipt| receipt.map_or(Commit::Waiting(ticket), Commit::Done));
    }
    panic!("a commit never ends");
}

/// Collects about `budget` expired keys, each in a transaction of its own; returns how many went. Fails when the engine
/// does.
pub fn expire<E: Engine>(engine: &E, now_ms: u64, budget: u64) -> Result<u64> {
    let mut keys = Vec::new();
    engine.expired_keys(now_ms, budget, &mut |db, key| keys.push((db, key.to_vec())))?;
    let mut count = 0;
    let mut overlay = Overlay::new();
    for (db, key) in keys {
        transact(engine, Some(&[&key]), now_ms, &mut overlay, &mut |txn| txn.root(db, &key).map(drop))?;
        count += overlay.expired_count();
    }
    Ok(count)
}

/// Runs one transaction of a script and commits it. Fails when the engine does.
pub fn run<E: Engine>(engine: &E, operations: &[Operation], now_ms: u64) -> Result<Receipt> {
    let keys: Option<Vec<&[u8]>> = operations
        .iter()
        .map(Operation::keys)
        .collect::<Option<Vec<_>>>()
        .map(|keys| keys.into_iter().flatten().collect());
    transact(engine, keys.as_deref(), now_ms, &mut Overlay::new(), &mut |txn| {
        operations.iter().try_for_each(|operation| perform(txn, operation))
    })
}

/// Reads a whole store as it is at `now_ms`. Fails when the engine does.
pub fn dump<E: Engine>(engine: &E, now_ms: u64) -> Result<Dump> {
    view(engine, now_ms, &mut |txn| super::dump_txn(txn))
}

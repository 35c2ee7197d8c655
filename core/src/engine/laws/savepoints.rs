//! Savepoints in random transactions: what was undone is as if it had never been.

use super::{
    BLOB_MIN_BYTES, DATABASES, Operation, Script, commit, difference, dump, dump_txn, perform, view,
};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Db, Engine, Overlay, Savepoint, Scope, Txn};

/// Checks an empty engine of [`DATABASES`] databases: transactions that go back to savepoints leave what the operations
/// that were not undone leave on the reference engine, before the commit and after it. Not for engines that make a
/// transaction wait.
pub fn check_savepoints<E: Engine>(engine: &E, seed: u64, transactions: u32) {
    let model = MemoryEngine::new(DATABASES);
    let mut script = Script::new(seed, 12);
    let mut random = fastrand::Rng::with_seed(seed);
    for number in 0..transactions {
        let at = format!("seed {seed}, transaction {number}");
        let now_ms = script.now_ms();
        let mut overlay = Overlay::new();
        let mut snapshot = engine.begin(Scope::Everything).expect("a healthy engine");
        let mut txn = Txn::new(&mut snapshot, &mut overlay, now_ms);
        txn.set_blob_min(BLOB_MIN_BYTES);
        let done = wander(&mut txn, &mut script, &mut random, |txn, done| {
            agree(txn, &model, done, now_ms, &at);
        });
        agree(&mut txn, &model, &done, now_ms, &at);
        commit(engine, snapshot, &mut overlay, now_ms).expect("a healthy engine");
        super::run(&model, &done, now_ms).expect("memory does not fail");
        let dumps = [dump(engine, now_ms), dump(&model, now_ms)].map(|dump| dump.expect("a readable engine"));
        if let Some(lines) = difference(&dumps[0], &dumps[1]) {
            panic!("{at}, committed {done:?}\nkey: engine | model\n{lines}");
        }
    }
}

/// Makes, leaves and goes back to savepoints between operations; returns the operations that were not undone. `check`
/// sees those so far each time the transaction went back.
fn wander(
    txn: &mut Txn<'_>,
    script: &mut Script,
    random: &mut fastrand::Rng,
    mut check: impl FnMut(&mut Txn<'_>, &[Operation]),
) -> Vec<Operation> {
    let mut done: Vec<Operation> = Vec::new();
    let mut open: Vec<(Savepoint, usize)> = Vec::new();
    for _ in 0..random.usize(1..40) {
        let picked = random.usize(..=open.len());
        match random.u8(0..20) {
            0..4 => open.push((txn.savepoint(), done.len())),
            4..7 if picked < open.len() => {
                txn.rollback_to(&open[picked].0);
                done.truncate(open[picked].1);
                // Those made later have ended: they have no effect any more.
                open.drain(picked + 1..).for_each(|(ended, _)| txn.rollback_to(&ended));
                if random.bool() {
                    check(txn, &done);
                }
            }
            7..9 if picked < open.len() => {
                open.drain(picked..).next().into_iter().for_each(|(savepoint, _)| txn.release(savepoint));
            }
            9 => {
                let seen = txn.keys_seen();
                for number in 0..random.u32(..40) {
                    let db = random.u32(..DATABASES);
                    txn.root(db, format!("other:{number}").as_bytes()).expect("a healthy engine");
                }
                txn.forget_reads(random.usize(..=seen));
            }
            _ => {
                for operation in script.transaction() {
                    perform(txn, &operation).expect("a healthy engine");
                    done.push(operation);
                }
            }
        }
    }
    done
}

/// Compares a transaction with one on the reference engine that was never undone.
fn agree(txn: &mut Txn<'_>, model: &MemoryEngine, done: &[Operation], now_ms: u64, at: &str) {
    let counts = |txn: &mut Txn<'_>| (0..DATABASES).map(|db: Db| txn.key_count(db)).collect::<Vec<_>>();
    let expected = view(model, now_ms, &mut |txn| {
        done.iter().try_for_each(|operation| perform(txn, operation))?;
        Ok((counts(txn), dump_txn(txn)?))
    });
    let (expected_counts, expected) = expected.expect("memory does not fail");
    let (found_counts, found) = (counts(txn), dump_txn(txn).expect("a healthy engine"));
    if let Some(lines) = difference(&found, &expected) {
        panic!("{at}, {done:?}\nkey: engine | model\n{lines}");
    }
    assert_eq!(found_counts, expected_counts, "{at}");
}

#[test]
fn part_of_a_transaction_is_undone_with_the_rest() {
    for seed in 0..30 {
        check_savepoints(&MemoryEngine::new(DATABASES), seed, 40);
    }
}

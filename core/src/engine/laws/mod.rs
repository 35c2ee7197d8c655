//! The laws of an engine, as a random script that is run on it and on the reference engine side by side.
//!
//! After every transaction both must answer alike; [`dump`] reads everything a store holds in a comparable form, so the
//! same script serves tests of reopening, merging and losing power.
//!
//! The functions are for tests, of engines outside of this crate as well: they panic where a law is broken.

mod driver;
mod savepoints;
mod script;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::memory::MemoryEngine;
use super::{CATALOG, Db, Direction, Engine, Kind, Result, Start, SubWalk, Txn, Want};

pub use driver::{commit, dump, expire, run, transact, view};
pub use savepoints::check_savepoints;
pub use script::{Operation, Script, perform};

/// Databases that scripts use.
pub const DATABASES: Db = 3;

/// Values of at least this many bytes are blobs in scripts.
const BLOB_MIN_BYTES: u64 = 1500;

/// Everything observable of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dumped {
    kind: Kind,
    encoding: u8,
    expires_at_ms: Option<u64>,
    value: Vec<u8>,
    subs: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Everything observable of a store.
pub type Dump = BTreeMap<(Db, Vec<u8>), Dumped>;

/// Reads a whole store, the catalog included, as a transaction sees it. Fails when the engine does.
pub fn dump_txn(txn: &mut Txn<'_>) -> Result<Dump> {
    let mut out = Dump::new();
    for db in (0..DATABASES).chain([CATALOG]) {
        for key in all_keys(txn, db)? {
            if let Some(dumped) = dump_key(txn, db, &key)? {
                out.insert((db, key), dumped);
            }
        }
    }
    Ok(out)
}

fn all_keys(txn: &mut Txn<'_>, db: Db) -> Result<Vec<Vec<u8>>> {
    let (mut keys, mut cursor) = (Vec::new(), 0);
    loop {
        cursor = txn.scan_keys(db, cursor, &mut |key, _| keys.push(key.to_vec()))?;
        if cursor == 0 {
            keys.sort();
            keys.dedup();
            return Ok(keys);
        }
    }
}

fn dump_key(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Option<Dumped>> {
    let Some(root) = txn.root(db, key)? else { return Ok(None) };
    let value = txn.value(db, key)?.unwrap_or_default();
    let mut subs = Vec::new();
    txn.sub_scan(db, key, SubWalk::all(Want::Values), &mut |subkey, value| {
        subs.push((subkey.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })?;
    let (kind, encoding, expires_at_ms) = (root.kind, root.encoding, root.expires_at_ms);
    Ok(Some(Dumped { kind, encoding, expires_at_ms, value, subs }))
}

/// Whether a dump has a key with this value and these subkeys.
pub fn holds(dump: &Dump, db: Db, key: &[u8], value: &[u8], subs: &[(Vec<u8>, Vec<u8>)]) -> bool {
    dump.get(&(db, key.to_vec())).is_some_and(|dumped| dumped.value == value && dumped.subs == subs)
}

/// Whether two dumps agree on everything that is not expired at `now_ms`.
pub fn is_same_at(left: &Dump, right: &Dump, now_ms: u64) -> bool {
    let is_alive = |entry: &(&(Db, Vec<u8>), &Dumped)| entry.1.expires_at_ms.is_none_or(|at| at > now_ms);
    left.iter().filter(is_alive).eq(right.iter().filter(is_alive))
}

/// The keys in which two stores differ, one line a key; None if they are equal.
pub fn difference(left: &Dump, right: &Dump) -> Option<String> {
    let brief = |dumped: Option<&Dumped>| match dumped {
        None => "nothing".to_string(),
        Some(Dumped { kind, encoding, expires_at_ms, value, subs }) => {
            let sums: Vec<String> = subs
                .iter()
                .map(|(subkey, value)| format!("{}={:x}", subkey.escape_ascii(), crc32c::crc32c(value)))
                .collect();
            format!("{kind:?} {encoding} {expires_at_ms:?} value {:x} {sums:?}", crc32c::crc32c(value))
        }
    };
    let keys: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
    let lines: Vec<String> = keys
        .into_iter()
        .filter(|key| left.get(key) != right.get(key))
        .map(|key| {
            format!(
                "{} {}: {} | {}",
                key.0,
                key.1.escape_ascii(),
                brief(left.get(key)),
                brief(right.get(key))
            )
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Checks an empty engine of [`DATABASES`] databases against the reference engine: equal contents after every
/// transaction, and equal answers inside of them.
pub fn check<E: Engine>(engine: &E, seed: u64, transactions: u32) {
    let new = if engine.has_blobs() { MemoryEngine::new } else { MemoryEngine::without_blobs };
    let model = new(DATABASES);
    let mut script = Script::new(seed, 24);
    for number in 0..transactions {
        let operations = script.transaction();
        let now_ms = script.now_ms();
        let at = format!("seed {seed}, transaction {number}: {operations:?}");
        let ask = |txn: &mut Txn<'_>| ask(txn, &operations);
        assert_eq!(view(engine, now_ms, &mut { ask }), view(&model, now_ms, &mut { ask }), "{at}");
        let written = run(engine, &operations, now_ms);
        assert_eq!(written.is_ok(), run(&model, &operations, now_ms).is_ok(), "{at}");
        if number % 16 == 0 {
            assert_same_dump(dump(engine, now_ms), dump(&model, now_ms), &at);
        }
    }
    let now_ms = script.now_ms();
    assert_same_dump(dump(engine, now_ms), dump(&model, now_ms), &format!("seed {seed}, at the end"));
}

fn assert_same_dump(left: Result<Dump>, right: Result<Dump>, at: &str) {
    let (left, right) = (left.expect("a readable engine"), right.expect("a readable model"));
    if let Some(lines) = difference(&left, &right) {
        panic!("{at}\nkey: engine | model\n{lines}");
    }
}

/// The answers of a transaction about its keys after each of these operations.
fn ask(txn: &mut Txn<'_>, operations: &[Operation]) -> Result<String> {
    let mut answers = String::new();
    for operation in operations {
        perform(txn, operation)?;
        match operation {
            Operation::Write(db, key, ..) => {
                let value = txn.value(*db, key)?.unwrap_or_default();
                answers.push_str(&format!("{} {:x}\n", value.len(), crc32c::crc32c(&value)));
            }
            Operation::SubPut(db, key, subkey, _) | Operation::SubRemove(db, key, subkey) => {
                ask_subkeys(txn, (*db, key), subkey, &mut answers)?;
            }
            _ => {}
        }
    }
    Ok(answers)
}

fn ask_subkeys(txn: &mut Txn<'_>, (db, key): (Db, &[u8]), subkey: &[u8], answers: &mut String) -> Result<()> {
    let (len, rank) = (txn.sub_len(db, key)?, txn.sub_rank(db, key, subkey)?);
    let picked: Vec<_> = (0..len + 1).map(|rank| txn.sub_select(db, key, rank)).collect::<Result<_>>()?;
    let count = txn.key_count(db)?;
    answers.push_str(&format!("{len} {rank} {picked:?} {count}\n"));
    let ranks = [0, len / 2, len.saturating_sub(1), len].map(Start::Rank);
    for start in ranks.into_iter().chain([Start::End, Start::Subkey(subkey), Start::Subkey(b"")]) {
        for direction in [Direction::Ascending, Direction::Descending] {
            let mut seen = Vec::new();
            let walk = SubWalk::new(start, direction, Want::Values).expecting(2);
            txn.sub_scan(db, key, walk, &mut |subkey, value| {
                seen.push((subkey.to_vec(), crc32c::crc32c(value)));
                ControlFlow::Continue(())
            })?;
            answers.push_str(&format!("{start:?} {direction:?} {seen:?}\n"));
        }
    }
    let ends = [Direction::Ascending, Direction::Descending].map(|direction| txn.sub_end(db, key, direction));
    answers.push_str(&format!("{ends:?}\n"));
    Ok(())
}

#[test]
fn the_reference_engine_agrees_with_itself() {
    for seed in 0..4 {
        check(&MemoryEngine::new(DATABASES), seed, 300);
    }
}

//! The laws of an engine, as a random script that is run on it and on the reference engine side by side.
//!
//! After every transaction both must answer alike; [`dump`] reads everything a store holds in a comparable form, so the
//! same script serves tests of reopening, merging and losing power.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{
    Commit, Db, Direction, Engine, Kind, NewRoot, Overlay, Receipt, Result, Scope, Start, SubWalk, Txn, Want,
};

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

/// Reads a whole store as it is at `now_ms`.
pub fn dump<E: Engine>(engine: &E, now_ms: u64) -> Result<Dump> {
    let mut guard = engine.begin(Scope::Everything)?;
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut guard, &mut overlay, now_ms);
    let mut out = Dump::new();
    for db in 0..DATABASES {
        for key in all_keys(&mut txn, db)? {
            if let Some(dumped) = dump_key(&mut txn, db, &key)? {
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

/// What two stores hold differently, one line a key; None if nothing.
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

/// A source of random transactions; equal seeds give equal scripts.
#[derive(Debug)]
pub struct Script {
    random: fastrand::Rng,
    /// How many different keys there are.
    keys: u32,
    now_ms: u64,
}

/// One change a script makes.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Puts a string, or the root of a collection.
    Put(Db, Vec<u8>, NewRoot, Vec<u8>),
    /// Changes the expiry.
    Expire(Db, Vec<u8>, Option<u64>),
    /// Removes a key.
    Remove(Db, Vec<u8>),
    /// Renames or moves a key.
    Rename(Db, Vec<u8>, Db, Vec<u8>),
    /// Puts a subkey, making the hash if needed.
    SubPut(Db, Vec<u8>, Vec<u8>, Vec<u8>),
    /// Removes a subkey, and the key with its last one.
    SubRemove(Db, Vec<u8>, Vec<u8>),
    /// Writes into a string or behind it, at this part (of 65536) of its length and so many bytes further.
    Write(Db, Vec<u8>, u16, u64, Vec<u8>),
    /// Empties a database.
    Flush(Db),
    /// Swaps two databases.
    Swap(Db, Db),
}

impl Script {
    /// A script over this many keys.
    pub fn new(seed: u64, keys: u32) -> Script {
        Script { random: fastrand::Rng::with_seed(seed), keys, now_ms: 1_700_000_000_000 }
    }

    /// Unix time in milliseconds of the script; it goes on with every transaction.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// The changes of the next transaction.
    pub fn transaction(&mut self) -> Vec<Operation> {
        self.now_ms += self.random.u64(0..50);
        let count = if self.random.u8(0..4) == 0 { self.random.usize(1..6) } else { 1 };
        (0..count).map(|_| self.operation()).collect()
    }

    fn key(&mut self) -> Vec<u8> {
        let number = self.random.u32(0..self.keys);
        // Every seventh key is long enough to be held as a fingerprint.
        if number % 7 == 6 {
            format!("{number:0>300}").into_bytes()
        } else {
            format!("key:{number}").into_bytes()
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let len = match self.random.u8(0..12) {
            0 => 0,
            1 => self.random.usize(0..9000),
            2 => self.random.usize(50..80),
            _ => self.random.usize(0..12),
        };
        (0..len).map(|_| self.random.u8(..)).collect()
    }

    fn operation(&mut self) -> Operation {
        let (db, key) = (self.random.u32(0..DATABASES), self.key());
        match self.random.u8(0..100) {
            0..30 => {
                let expires_at_ms =
                    (self.random.u8(0..4) == 0).then(|| self.now_ms + self.random.u64(1..2000));
                let root = NewRoot { kind: Kind::String, encoding: self.random.u8(0..3), expires_at_ms };
                Operation::Put(db, key, root, self.value())
            }
            30..36 => {
                let expires_at_ms = self.random.bool().then(|| self.now_ms + self.random.u64(1..2000));
                Operation::Expire(db, key, expires_at_ms)
            }
            36..48 => Operation::Remove(db, key),
            48..54 => Operation::Rename(db, key, self.random.u32(0..DATABASES), self.key()),
            54..82 => Operation::SubPut(db, key, self.subkey(), self.value()),
            82..92 => Operation::SubRemove(db, key, self.subkey()),
            92..98 => {
                let gap = if self.random.u8(0..4) == 0 { self.random.u64(0..5000) } else { 0 };
                Operation::Write(db, key, self.random.u16(..), gap, self.value())
            }
            98 => Operation::Flush(db),
            _ => Operation::Swap(db, self.random.u32(0..DATABASES)),
        }
    }

    fn subkey(&mut self) -> Vec<u8> {
        format!("field{}", self.random.u8(0..12)).into_bytes()
    }
}

/// Makes one change inside a transaction.
pub fn perform(txn: &mut Txn<'_>, operation: &Operation) -> Result<()> {
    match operation {
        Operation::Put(db, key, root, value) => txn.put(*db, key, *root, value),
        Operation::Expire(db, key, at) => txn.set_expiry(*db, key, *at).map(drop),
        Operation::Remove(db, key) => txn.remove(*db, key).map(drop),
        Operation::Rename(db, key, to_db, to) => txn.rename((*db, key), (*to_db, to)).map(drop),
        Operation::SubPut(db, key, subkey, value) => {
            if txn.kind(*db, key)? != Some(Kind::Hash) {
                txn.put(*db, key, NewRoot::of(Kind::Hash), &[])?;
            }
            txn.sub_put(*db, key, subkey, value).map(drop)
        }
        Operation::SubRemove(db, key, subkey) => {
            if txn.sub_remove(*db, key, subkey)? && txn.sub_len(*db, key)? == 0 {
                txn.remove(*db, key)?;
            }
            Ok(())
        }
        Operation::Write(db, key, part, gap, bytes) => write(txn, (*db, key), *part, *gap, bytes),
        Operation::Flush(db) => {
            txn.flush(*db);
            Ok(())
        }
        Operation::Swap(left, right) => {
            txn.swap(*left, *right);
            Ok(())
        }
    }
}

/// Writes into a string, as SETRANGE and APPEND do.
fn write(txn: &mut Txn<'_>, (db, key): (Db, &[u8]), part: u16, gap: u64, bytes: &[u8]) -> Result<()> {
    let Some(root) = txn.root(db, key)?.filter(|root| root.kind == Kind::String) else { return Ok(()) };
    let offset = root.value_len * u64::from(part) / u64::from(u16::MAX) + gap;
    if root.blob.is_some() {
        return txn.write_to_blob(db, key, root.encoding, offset, bytes).map(drop);
    }
    let mut value = txn.value(db, key)?.unwrap_or_default();
    let (start, end) = (offset as usize, offset as usize + bytes.len());
    value.resize(value.len().max(end), 0);
    value[start..end].copy_from_slice(bytes);
    let new = NewRoot { kind: Kind::String, encoding: root.encoding, expires_at_ms: root.expires_at_ms };
    txn.put(db, key, new, &value)
}

/// Commits a transaction and waits for its end.
pub fn commit<E: Engine>(
    engine: &E,
    snapshot: E::Snapshot<'_>,
    overlay: &mut Overlay,
    now_ms: u64,
) -> Result<Receipt> {
    match engine.commit(snapshot, overlay, now_ms, &mut |_| {})? {
        Commit::Done(receipt) => Ok(receipt),
        Commit::Waiting(ticket) => loop {
            if let Some(receipt) = engine.committed(ticket, &mut |_| {})? {
                return Ok(receipt);
            }
        },
    }
}

/// Collects about `budget` expired keys, each in a transaction of its own; returns how many went.
pub fn expire<E: Engine>(engine: &E, now_ms: u64, budget: u64) -> Result<u64> {
    let mut keys = Vec::new();
    engine.expired_keys(now_ms, budget, &mut |db, key| keys.push((db, key.to_vec())))?;
    let mut count = 0;
    for (db, key) in keys {
        let mut snapshot = engine.begin(Scope::Keys(&[&key]))?;
        let mut overlay = Overlay::new();
        Txn::new(&mut snapshot, &mut overlay, now_ms).root(db, &key)?;
        count += overlay.expired_count();
        commit(engine, snapshot, &mut overlay, now_ms)?;
    }
    Ok(count)
}

/// Runs one transaction and commits it.
pub fn run<E: Engine>(engine: &E, operations: &[Operation], now_ms: u64) -> Result<Receipt> {
    let mut guard = engine.begin(Scope::Everything)?;
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut guard, &mut overlay, now_ms);
    txn.set_blob_min(BLOB_MIN_BYTES);
    for operation in operations {
        perform(&mut txn, operation)?;
    }
    commit(engine, guard, &mut overlay, now_ms)
}

/// Checks an empty engine of [`DATABASES`] databases against the reference engine: equal contents after every
/// transaction, and equal answers inside of them.
pub fn check<E: Engine>(engine: &E, seed: u64, transactions: u32) {
    let model = super::memory::MemoryEngine::new(DATABASES);
    let mut script = Script::new(seed, 24);
    for number in 0..transactions {
        let operations = script.transaction();
        let now_ms = script.now_ms();
        let at = format!("seed {seed}, transaction {number}: {operations:?}");
        check_inside(engine, &model, &operations, now_ms, &at);
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

/// Asks both engines about a key in the middle of a transaction that is then dropped.
fn check_inside<E: Engine, M: Engine>(
    engine: &E,
    model: &M,
    operations: &[Operation],
    now_ms: u64,
    at: &str,
) {
    fn ask<E: Engine>(engine: &E, operations: &[Operation], now_ms: u64) -> Result<String> {
        let mut guard = engine.begin(Scope::Everything)?;
        let mut overlay = Overlay::new();
        let mut txn = Txn::new(&mut guard, &mut overlay, now_ms);
        txn.set_blob_min(BLOB_MIN_BYTES);
        let mut answers = String::new();
        for operation in operations {
            perform(&mut txn, operation)?;
            if let Operation::Write(db, key, ..) = operation {
                let value = txn.value(*db, key)?.unwrap_or_default();
                answers.push_str(&format!("{} {:x}\n", value.len(), crc32c::crc32c(&value)));
            }
            let (Operation::SubPut(db, key, subkey, _) | Operation::SubRemove(db, key, subkey)) = operation
            else {
                continue;
            };
            let len = txn.sub_len(*db, key)?;
            let rank = txn.sub_rank(*db, key, subkey)?;
            let picked: Vec<_> =
                (0..len + 1).map(|rank| txn.sub_select(*db, key, rank)).collect::<Result<_>>()?;
            let count = txn.key_count(*db)?;
            answers.push_str(&format!("{len} {rank} {picked:?} {count}\n"));
            let ranks = [0, len / 2, len.saturating_sub(1), len].map(Start::Rank);
            for start in ranks.into_iter().chain([Start::End, Start::Subkey(subkey), Start::Subkey(b"")]) {
                for direction in [Direction::Ascending, Direction::Descending] {
                    let mut seen = Vec::new();
                    let walk = SubWalk::new(start, direction, Want::Values).expecting(2);
                    txn.sub_scan(*db, key, walk, &mut |subkey, value| {
                        seen.push((subkey.to_vec(), crc32c::crc32c(value)));
                        ControlFlow::Continue(())
                    })?;
                    answers.push_str(&format!("{start:?} {direction:?} {seen:?}\n"));
                }
            }
        }
        Ok(answers)
    }
    let (engine, model) = (ask(engine, operations, now_ms), ask(model, operations, now_ms));
    assert_eq!(engine, model, "{at}");
}

#[test]
fn the_reference_engine_agrees_with_itself() {
    for seed in 0..4 {
        check(&super::memory::MemoryEngine::new(DATABASES), seed, 300);
    }
}

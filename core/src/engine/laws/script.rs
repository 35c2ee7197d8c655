//! Random transactions.

use super::DATABASES;
use crate::engine::{CATALOG, Db, Kind, NewRoot, Result, Txn};

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

impl Operation {
    /// The keys that it touches; None if it touches whole databases.
    pub(super) fn keys(&self) -> Option<Vec<&[u8]>> {
        match self {
            Operation::Put(_, key, ..)
            | Operation::Expire(_, key, _)
            | Operation::Remove(_, key)
            | Operation::SubPut(_, key, ..)
            | Operation::SubRemove(_, key, _)
            | Operation::Write(_, key, ..) => Some(vec![key]),
            Operation::Rename(_, from, _, to) => Some(vec![from, to]),
            Operation::Flush(_) | Operation::Swap(..) => None,
        }
    }
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

    /// A database, or the catalog.
    fn db(&mut self) -> Db {
        let db = self.random.u32(..=DATABASES);
        if db == DATABASES { CATALOG } else { db }
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
        let (db, key) = (self.db(), self.key());
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
            48..54 => Operation::Rename(db, key, self.db(), self.key()),
            54..82 => Operation::SubPut(db, key, self.subkey(), self.value()),
            82..92 => Operation::SubRemove(db, key, self.subkey()),
            92..98 => {
                let gap = if self.random.u8(0..4) == 0 { self.random.u64(0..5000) } else { 0 };
                Operation::Write(db, key, self.random.u16(..), gap, self.value())
            }
            98 => Operation::Flush(self.random.u32(..DATABASES)),
            _ => Operation::Swap(self.random.u32(..DATABASES), self.random.u32(..DATABASES)),
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
        Operation::Flush(db) => txn.flush(*db),
        Operation::Swap(left, right) => txn.swap(*left, *right),
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

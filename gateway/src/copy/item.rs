//! Keys on their way: small ones whole and several together, collections in parts, huge strings as streams.

use std::ops::ControlFlow;

use edgecask_core::data::{DataError, rdb};
use edgecask_core::engine::{
    Db, Engine, EngineError, Kind, NewRoot, Root, Start, SubWalk, Txn, Want, look_alone,
};
use edgecask_core::limits::{BLOB_MIN_BYTES, VALUE_IN_MEMORY_MAX_BYTES};

use super::side::Side;
use super::{Done, Refused, Result};
use crate::clock::now_ms;

/// A string from this length on is carried in parts.
pub(super) const HUGE_BYTES: u64 = BLOB_MIN_BYTES;

/// A part of a huge string, of a collection, or of several keys.
pub(super) const PART_BYTES: usize = 1024 * 1024;

/// So many keys and subkeys make a part, however short they are: one transaction of a cluster writes them.
const PART_ENTRIES: usize = 1000;

/// A subkey with its value.
pub(super) type Pair = (Vec<u8>, Vec<u8>);

/// What was taken of a key.
pub(super) enum Taken {
    /// It is not there, or its time has come.
    Gone,
    /// All of it, or its beginning.
    Item(Item),
    /// What its type and size make a payload of DUMP.
    Payload { key: Vec<u8>, expires_at_ms: Option<u64>, payload: Vec<u8> },
    /// A string that is carried in parts.
    Huge(Huge),
    /// It cannot be carried, for this reason.
    Refused { key: Vec<u8>, why: String },
}

/// A key, with as many of its subkeys as fit into a part.
pub(super) struct Item {
    pub(super) key: Vec<u8>,
    pub(super) root: NewRoot,
    pub(super) value: Vec<u8>,
    pub(super) pairs: Vec<Pair>,
    /// Whether there are more.
    pub(super) has_more: bool,
}

/// A huge string.
#[derive(Clone, Debug)]
pub(super) struct Huge {
    pub(super) key: Vec<u8>,
    pub(super) len: u64,
    pub(super) root: NewRoot,
}

/// The form that a target takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// What the engine holds.
    Items,
    /// What RESTORE takes.
    Payloads,
}

impl Item {
    fn bytes(&self) -> usize {
        let pairs: usize = self.pairs.iter().map(|(subkey, value)| subkey.len() + value.len()).sum();
        self.key.len() + self.value.len() + pairs
    }
}

impl Taken {
    fn entries(&self) -> usize {
        if let Taken::Item(item) = self { 1 + item.pairs.len() } else { 1 }
    }

    fn bytes(&self) -> usize {
        match self {
            Taken::Gone | Taken::Huge(_) | Taken::Refused { .. } => 0,
            Taken::Item(item) => item.bytes(),
            Taken::Payload { key, payload, .. } => key.len() + payload.len(),
        }
    }
}

/// The engine's part of an error of the data layer.
pub(super) fn engine_error(error: DataError) -> EngineError {
    match error {
        DataError::Engine(error) => error,
        DataError::WrongType => EngineError::Damaged("a key changed its type while it was read".into()),
    }
}

/// Takes keys, from the first on as many as fit into a part; at least one.
pub(super) fn take<E: Engine>(engine: &E, db: Db, keys: &[&[u8]], form: Form) -> Result<Vec<Taken>> {
    let taken = look_alone(engine, (db, keys), now_ms(), &mut |txn| {
        let (mut all, mut bytes, mut entries, mut is_missing) = (Vec::new(), 0, 0, false);
        for key in keys {
            if bytes >= PART_BYTES || entries >= PART_ENTRIES {
                break;
            }
            match take_one(txn, db, key, form) {
                // What several keys miss is fetched together.
                Err(EngineError::NotHere) => is_missing = true,
                taken => {
                    let taken = taken?;
                    bytes += taken.bytes();
                    entries += taken.entries();
                    all.push(taken);
                }
            }
        }
        if is_missing { Err(EngineError::NotHere) } else { Ok(all) }
    })?;
    Ok(taken)
}

fn take_one(txn: &mut Txn<'_>, db: Db, key: &[u8], form: Form) -> std::result::Result<Taken, EngineError> {
    let Some(root) = txn.root(db, key)? else { return Ok(Taken::Gone) };
    let new = new_root(&root);
    if root.kind == Kind::String && root.value_len >= HUGE_BYTES {
        return Ok(Taken::Huge(Huge { key: key.to_vec(), len: root.value_len, root: new }));
    }
    if form == Form::Payloads {
        return match rdb::dump(txn, db, key, &root, VALUE_IN_MEMORY_MAX_BYTES) {
            Ok(payload) => {
                Ok(Taken::Payload { key: key.to_vec(), expires_at_ms: root.expires_at_ms, payload })
            }
            Err(DataError::Engine(error @ EngineError::TooLarge(_))) => {
                Ok(Taken::Refused { key: key.to_vec(), why: error.to_string() })
            }
            Err(error) => Err(engine_error(error)),
        };
    }
    let value = txn.value(db, key)?.unwrap_or_default();
    // Beside a string there is nothing.
    let (pairs, has_more) = match root.kind {
        Kind::String => (Vec::new(), false),
        _ => pairs(txn, db, key, None)?,
    };
    Ok(Taken::Item(Item { key: key.to_vec(), root: new, value, pairs, has_more }))
}

fn new_root(root: &Root) -> NewRoot {
    NewRoot { kind: root.kind, encoding: root.encoding, expires_at_ms: root.expires_at_ms }
}

/// Subkeys behind one, as many as fit into a part, and whether there are more.
fn pairs(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    after: Option<&[u8]>,
) -> std::result::Result<(Vec<Pair>, bool), EngineError> {
    let (mut pairs, mut bytes, mut has_more) = (Vec::new(), 0, false);
    let start = after.map_or(Start::End, Start::Subkey);
    txn.sub_scan(db, key, SubWalk::up(start, Want::Values), &mut |subkey, value| {
        if after == Some(subkey) {
            return ControlFlow::Continue(());
        }
        if bytes >= PART_BYTES || pairs.len() >= PART_ENTRIES {
            has_more = true;
            return ControlFlow::Break(());
        }
        bytes += subkey.len() + value.len();
        pairs.push((subkey.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })?;
    Ok((pairs, has_more))
}

/// The next part of a collection.
pub(super) fn take_more<E: Engine>(
    engine: &E,
    db: Db,
    key: &[u8],
    after: &[u8],
) -> Result<(Vec<Pair>, bool)> {
    Ok(look_alone(engine, (db, &[key]), now_ms(), &mut |txn| pairs(txn, db, key, Some(after)))?)
}

/// Carries keys from one side to the other.
pub(super) fn carry(
    (source, target): (&mut Side, &mut Side),
    (from_db, to_db): (Db, Db),
    keys: &[Vec<u8>],
    done: &mut Done,
) -> Result<()> {
    let mut rest: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    while !rest.is_empty() {
        let taken = source.take(from_db, &rest, target.form())?;
        rest = rest.split_off(taken.len().clamp(1, rest.len()));
        let (mut whole, mut huge, mut begun) = (Vec::new(), Vec::new(), Vec::new());
        for taken in taken {
            done.bytes += taken.bytes() as u64;
            match taken {
                Taken::Gone => {}
                Taken::Huge(string) => huge.push(string),
                Taken::Refused { key, why } => done.refuse(Refused { db: from_db, key, why }),
                Taken::Item(item) => {
                    if let Some((last, _)) = item.pairs.last().filter(|_| item.has_more) {
                        begun.push((item.key.clone(), last.clone()));
                    }
                    whole.push(Taken::Item(item));
                }
                payload @ Taken::Payload { .. } => whole.push(payload),
            }
        }
        done.keys += whole.len() as u64;
        for (key, why) in target.put(to_db, whole)? {
            done.keys -= 1;
            begun.retain(|(other, _)| *other != key);
            done.refuse(Refused { db: from_db, key, why });
        }
        for (key, mut last) in begun {
            loop {
                let (pairs, has_more) = source.take_more(from_db, &key, &last)?;
                let Some((next, _)) = pairs.last() else { break };
                last = next.clone();
                done.bytes +=
                    pairs.iter().map(|(subkey, value)| (subkey.len() + value.len()) as u64).sum::<u64>();
                target.put_more(to_db, &key, &pairs)?;
                if !has_more {
                    break;
                }
            }
        }
        for string in huge {
            let key = string.key.clone();
            let mut next = |offset: u64, len: u64| source.read(from_db, &key, offset, len);
            match target.put_huge(to_db, &string, &mut next)? {
                None => {
                    done.keys += 1;
                    done.bytes += string.len;
                }
                Some(why) => done.refuse(Refused { db: from_db, key: string.key, why }),
            }
        }
    }
    Ok(())
}

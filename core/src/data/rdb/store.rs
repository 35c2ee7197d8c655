//! A value that was read becomes a key.

use super::load::Value;
use super::{sqldb, stream, suggestions};
use crate::data::json::Document;
use crate::data::list::{End, List};
use crate::data::set::{Encoding, Set};
use crate::data::{Result, hash, set, string, zset};
use crate::engine::{Db, Txn};

/// Up to where collections have Redis' small encodings.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of hashes.
    pub hash: hash::ListpackLimits,
    /// Of sets.
    pub set: set::Limits,
    /// Of sorted sets.
    pub sorted_set: zset::ListpackLimits,
    /// Of lists: `list-max-listpack-size`.
    pub list_fill: i64,
}

impl Default for Limits {
    /// Redis' own.
    fn default() -> Limits {
        Limits {
            hash: hash::ListpackLimits { entries: 128, value_bytes: 64 },
            set: set::Limits { intset_entries: 512, listpack_entries: 128, listpack_value_bytes: 64 },
            sorted_set: zset::ListpackLimits { entries: 128, value_bytes: 64 },
            list_fill: -2,
        }
    }
}

/// Makes a key hold a value, whatever it was before.
pub fn store(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    value: &Value<'_>,
    expires_at_ms: Option<u64>,
    limits: &Limits,
) -> Result<()> {
    txn.remove(db, key)?;
    match value {
        Value::String(bytes) => return string::set(txn, db, key, &**bytes, expires_at_ms),
        Value::List(elements) => {
            let elements: Vec<&[u8]> = elements.iter().map(|element| &**element).collect();
            List::open_or_make(txn, db, key)?.push(End::Tail, &elements, &|| limits.list_fill)?;
        }
        Value::Set(members) => {
            let first = members.first().map(|member| &**member).unwrap_or_default();
            let encoding = Encoding::Fit { first, hint: members.len() as u64 };
            let ask = || limits.set;
            Set::make(txn, db, key, encoding, &ask)?.add(members.iter().map(|member| &**member), &ask)?;
        }
        Value::Hash(pairs) => {
            let pairs: Vec<&[u8]> = pairs.iter().map(|text| &**text).collect();
            hash::set(txn, (db, key), None, &pairs, || limits.hash)?;
        }
        Value::SortedSet(members) => zset::replace(txn, db, key, members, limits.sorted_set)?,
        Value::Stream(value) => stream::store(txn, db, key, value)?,
        Value::SqlDatabase(pages) => sqldb::store(txn, db, key, pages)?,
        Value::Suggestions(all) => suggestions::store(txn, db, key, all)?,
        Value::Json(value) => Document::make(txn, db, key, value)?,
    }
    if expires_at_ms.is_some() {
        txn.set_expiry(db, key, expires_at_ms)?;
    }
    Ok(())
}

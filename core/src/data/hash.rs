//! Hashes: every field is a subkey, its value the subkey's value.
//!
//! Fields are ordered by their bytes, so HGETALL and its like return them in that order where Redis keeps small hashes
//! in the order of insertion; no client may rely on either. The root's encoding byte follows Redis' rules for listpacks
//! and changes nothing but what OBJECT ENCODING says and whether HSCAN goes in one step.

use super::{Result, root_of_kind};
use crate::engine::{Db, Kind, NewRoot, Root, Txn};
use crate::sorted;

/// Few and short fields.
const LISTPACK: u8 = 0;
/// There were too many or too long ones at some time; there is no way back.
const HASHTABLE: u8 = 1;

/// So many fields and values are set in the order of the fields.
const SORTED_PAIRS_MIN: usize = 128;

/// Up to where a hash stays a listpack.
#[derive(Clone, Copy, Debug)]
pub struct ListpackLimits {
    /// Most fields.
    pub entries: u64,
    /// Longest field or value in bytes.
    pub value_bytes: u64,
}

/// The root of a hash, if the key is there.
pub fn root(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Option<Root>> {
    root_of_kind(txn, db, key, Kind::Hash)
}

/// Whether a hash has the small encoding.
pub fn is_listpack(root: &Root) -> bool {
    root.encoding == LISTPACK
}

/// The name OBJECT ENCODING gives to a hash with this root.
pub fn encoding_name(root: &Root) -> &'static str {
    if is_listpack(root) { "listpack" } else { "hashtable" }
}

/// Sets fields (field, value, field, value, …) of the hash with this root, or of a new one, and returns how many of
/// them are new. `limits` is asked only while the encoding may change.
pub fn set(
    txn: &mut Txn<'_>,
    (db, key): (Db, &[u8]),
    root: Option<&Root>,
    pairs: &[&[u8]],
    limits: impl FnOnce() -> ListpackLimits,
) -> Result<u64> {
    let limits = root.is_none_or(is_listpack).then(limits);
    let is_large = |limits: &ListpackLimits| {
        // Redis guesses that the fields of one command are distinct.
        pairs.len() as u64 / 2 > limits.entries
            || pairs.iter().any(|text| text.len() as u64 > limits.value_bytes)
    };
    let mut encoding = if limits.as_ref().is_none_or(is_large) { HASHTABLE } else { LISTPACK };
    let expires_at_ms = root.and_then(|root| root.expires_at_ms);
    match root {
        None => txn.put(db, key, NewRoot { kind: Kind::Hash, encoding, expires_at_ms }, &[])?,
        Some(root) if root.encoding != encoding => {
            txn.update(db, key, encoding, expires_at_ms)?;
        }
        Some(_) => {}
    }
    let mut added = 0;
    if pairs.len() >= SORTED_PAIRS_MIN {
        // In order, which costs less than as they come; the later one of two for the same field stays the later one.
        let (pairs, _) = pairs.as_chunks::<2>();
        let mut pairs = pairs.to_vec();
        sorted::all(&mut pairs, |[one, _], [other, _]| one.cmp(other));
        for [field, value] in pairs {
            added += u64::from(!txn.sub_put(db, key, field, value)?);
        }
    } else {
        for pair in pairs.chunks_exact(2) {
            if let [field, value] = pair {
                added += u64::from(!txn.sub_put(db, key, field, value)?);
            }
        }
    }
    if encoding == LISTPACK
        && let Some(limits) = limits
        && txn.sub_len(db, key)? > limits.entries
    {
        encoding = HASHTABLE;
        txn.update(db, key, encoding, expires_at_ms)?;
    }
    Ok(added)
}

/// Removes fields of a hash that is there, and the hash with its last field; returns how many there were.
pub fn remove(txn: &mut Txn<'_>, db: Db, key: &[u8], fields: &[&[u8]]) -> Result<u64> {
    let mut removed = 0;
    for field in fields {
        removed += u64::from(txn.sub_remove(db, key, field)?);
    }
    if removed > 0 && txn.sub_len(db, key)? == 0 {
        txn.remove(db, key)?;
    }
    Ok(removed)
}

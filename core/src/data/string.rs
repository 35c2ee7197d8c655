//! Strings: bytes kept in the root itself, and numbers written in them.
//!
//! The root's encoding byte only remembers how the bytes came about, which is all that OBJECT ENCODING needs beyond
//! the bytes themselves; no command behaves differently because of it.

use super::{Result, root_of_kind};
use crate::engine::{Db, Kind, NewRoot, Root, Txn};
use crate::resp::parse_i64;

/// Written whole: `int`, `embstr` or `raw`, as the bytes say.
pub const WHOLE: u8 = 0;
/// Grown or changed in place (APPEND, SETRANGE, SETBIT): `raw`, whatever the bytes say.
pub const GROWN: u8 = 1;
/// The result of a sum of floating-point numbers: `embstr` or `raw`, never `int`.
pub const FLOAT: u8 = 2;

/// Longest string that Redis keeps beside its header (`OBJ_ENCODING_EMBSTR_SIZE_LIMIT`), in bytes.
const EMBEDDED_MAX_BYTES: u64 = 44;

/// Longest decimal form of a 64-bit integer, in bytes.
const INTEGER_MAX_BYTES: u64 = 20;

/// The root of a string, if the key is there.
pub fn root(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Option<Root>> {
    root_of_kind(txn, db, key, Kind::String)
}

/// Makes the key this string, whatever it was before. A time to live that is over already removes it instead.
pub fn set(txn: &mut Txn<'_>, db: Db, key: &[u8], value: &[u8], expires_at_ms: Option<u64>) -> Result<()> {
    put(txn, db, key, value, WHOLE, expires_at_ms)
}

/// As [`set`], and notes how the bytes came about.
pub fn put(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    value: &[u8],
    encoding: u8,
    expires_at_ms: Option<u64>,
) -> Result<()> {
    if expires_at_ms.is_some_and(|at| at <= txn.now_ms()) {
        txn.remove(db, key)?;
        return Ok(());
    }
    Ok(txn.put(db, key, NewRoot { kind: Kind::String, encoding, expires_at_ms }, value)?)
}

/// The integer that a string holds; None if it is none. A missing key counts as 0.
pub fn integer(txn: &mut Txn<'_>, db: Db, key: &[u8], root: Option<&Root>) -> Result<Option<i64>> {
    let Some(root) = root else { return Ok(Some(0)) };
    if root.value_len > INTEGER_MAX_BYTES {
        return Ok(None);
    }
    let mut number = None;
    txn.read_value(db, key, (0, INTEGER_MAX_BYTES), &mut |bytes| number = parse_i64(bytes))?;
    Ok(number)
}

/// The name OBJECT ENCODING gives to a string with this root. Reads the bytes only where they are few.
pub fn encoding_name(txn: &mut Txn<'_>, db: Db, key: &[u8], root: &Root) -> Result<&'static str> {
    if root.encoding == GROWN || root.value_len > EMBEDDED_MAX_BYTES {
        return Ok("raw");
    }
    if root.encoding == WHOLE && integer(txn, db, key, Some(root))?.is_some() {
        return Ok("int");
    }
    Ok("embstr")
}

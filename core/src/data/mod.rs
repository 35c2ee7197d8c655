//! How a Redis value becomes records: one file per type, over the ordered space of [`crate::engine`].
//!
//! Strings live in their root. The other types put a root of their kind and keep their elements as subkeys; a
//! collection that loses its last element loses its root as well, but for streams. These modules know nothing of arguments or replies:
//! commands call them with parsed values and shape what comes back.

pub mod bits;
mod copy;
pub mod digest;
pub mod long_double;
pub mod geo;
pub mod hash;
pub mod hyperloglog;
pub mod json;
pub mod list;
pub mod mend;
mod position;
pub mod rdb;
pub mod set;
pub mod sqldb;
pub mod stream;
pub mod string;
pub mod suggestions;
pub mod zset;

#[cfg(test)]
mod testing;

pub use copy::copy;

use crate::engine::{Db, EngineError, Kind, Root, Txn};
use crate::memory_budget::BudgetExceeded;

/// What can go wrong below a command's arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// The key is there with another type.
    #[error("wrong type")]
    WrongType,
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<BudgetExceeded> for DataError {
    fn from(error: BudgetExceeded) -> DataError {
        DataError::Engine(error.into())
    }
}

/// Shorthand for results of the data layer.
pub type Result<T> = std::result::Result<T, DataError>;

/// The root of a key that is either missing or of this kind.
pub fn root_of_kind(txn: &mut Txn<'_>, db: Db, key: &[u8], kind: Kind) -> Result<Option<Root>> {
    match txn.root(db, key)? {
        Some(root) if root.kind != kind => Err(DataError::WrongType),
        root => Ok(root),
    }
}

/// Says that members of a set, or fields of a hash, are about to be looked up, of which there may be none. A hint: it does
/// nothing for other types. Sorted sets, which write two subkeys a member, gained nothing from it.
///
/// # Errors
/// The key cannot be read.
pub fn announce_members(txn: &mut Txn<'_>, (db, key): (Db, &[u8]), members: &[&[u8]]) -> Result<()> {
    if let Some(Kind::Hash | Kind::Set) = txn.kind(db, key)? {
        txn.announce_subs(db, key, members, true)?;
    }
    Ok(())
}

/// The name OBJECT ENCODING gives to a key with this root; `list_fill` is `list-max-listpack-size`.
pub fn encoding_name(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    root: &Root,
    list_fill: i64,
) -> Result<&'static str> {
    match root.kind {
        Kind::String => string::encoding_name(txn, db, key, root),
        Kind::Hash => Ok(hash::encoding_name(root)),
        Kind::SortedSet => Ok(zset::encoding_name(root)),
        Kind::List => match list::List::open(txn, db, key)? {
            Some(mut list) => list.encoding_name(list_fill),
            None => Ok("listpack"),
        },
        Kind::Set => Ok(set::encoding_name(root)),
        Kind::Stream => Ok("stream"),
        Kind::SqlDatabase | Kind::Suggestions | Kind::Json => Ok("raw"),
    }
}

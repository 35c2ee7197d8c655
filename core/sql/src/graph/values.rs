//! Values of SQL as small numbers: nodes, and types of edges. Equal is what SQLite finds equal with the collation BINARY, so 5 and 5.0 are
//! one value, and '5' is another.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use edgecask_core::sql::SqlValue;
use hashbrown::HashTable;

use super::memory::Memory;
use super::{Result, Unable};
use crate::table::scan::Kept;

/// The number of NULL.
pub(super) const NONE: u32 = u32::MAX;

/// A value; its bytes are in [`Values::bytes`].
#[derive(Clone, Copy, Debug)]
enum Stored {
    Integer(i64),
    Real(f64),
    Text { from: u32, len: u32 },
    Blob { from: u32, len: u32 },
}

/// Values by their numbers, which count from 0 in the order in which they came.
#[derive(Default)]
pub(super) struct Values {
    stored: Vec<Stored>,
    bytes: Vec<u8>,
    numbers: HashTable<u32>,
    /// Differs from one to the next, so that nobody can choose values that collide.
    hasher: RandomState,
}

impl Values {
    pub fn len(&self) -> usize {
        self.stored.len()
    }

    /// The value with this number; NULL if there is none.
    pub fn get(&self, number: u32) -> SqlValue<'_> {
        value(&self.stored, &self.bytes, number)
    }

    /// The number of a value that is mostly the one before, whose number is `last`.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn repeated(&mut self, memory: &mut Memory, wanted: SqlValue<'_>, last: &mut u32) -> Result<u32> {
        if wanted != SqlValue::Null && self.get(*last) == wanted {
            return Ok(*last);
        }
        *last = self.number(memory, wanted)?.0;
        Ok(*last)
    }

    /// The number of a value, and whether it is new. NULL has [`NONE`].
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn number(&mut self, memory: &mut Memory, wanted: SqlValue<'_>) -> Result<(u32, bool)> {
        if wanted == SqlValue::Null {
            return Ok((NONE, false));
        }
        let (stored, bytes, hasher) = (&self.stored, &self.bytes, &self.hasher);
        let hash = hash_of(hasher, wanted);
        let is_it = |number: &u32| is_equal(value(stored, bytes, *number), wanted);
        if let Some(number) = self.numbers.find(hash, is_it) {
            return Ok((*number, false));
        }
        let rehash = |number: &u32| hash_of(hasher, value(stored, bytes, *number));
        memory.reserve(&mut self.numbers, rehash)?;
        let number = u32::try_from(self.stored.len()).ok().filter(|number| *number < NONE);
        let number = number.ok_or(Unable::NoMemory)?;
        self.numbers.insert_unique(hash, number, |number| {
            hash_of(&self.hasher, value(&self.stored, &self.bytes, *number))
        });
        let stored = match wanted {
            SqlValue::Integer(value) => Stored::Integer(value),
            SqlValue::Real(value) => Stored::Real(value),
            SqlValue::Text(text) => {
                let (from, len) = self.keep(memory, text)?;
                Stored::Text { from, len }
            }
            SqlValue::Blob(blob) => {
                let (from, len) = self.keep(memory, blob)?;
                Stored::Blob { from, len }
            }
            SqlValue::Null => return Ok((NONE, false)),
        };
        memory.push(&mut self.stored, stored)?;
        Ok((number, true))
    }

    fn keep(&mut self, memory: &mut Memory, bytes: &[u8]) -> Result<(u32, u32)> {
        let from = u32::try_from(self.bytes.len()).map_err(|_| Unable::NoMemory)?;
        let len = u32::try_from(bytes.len()).map_err(|_| Unable::TooLarge)?;
        memory.extend(&mut self.bytes, bytes)?;
        Ok((from, len))
    }
}

fn value<'a>(stored: &[Stored], bytes: &'a [u8], number: u32) -> SqlValue<'a> {
    let slice = |from: u32, len: u32| {
        bytes.get(from as usize..).and_then(|rest| rest.get(..len as usize)).unwrap_or_default()
    };
    match stored.get(number as usize) {
        Some(Stored::Integer(value)) => SqlValue::Integer(*value),
        Some(Stored::Real(value)) => SqlValue::Real(*value),
        Some(Stored::Text { from, len }) => SqlValue::Text(slice(*from, *len)),
        Some(Stored::Blob { from, len }) => SqlValue::Blob(slice(*from, *len)),
        None => SqlValue::Null,
    }
}

fn hash_of(hasher: &RandomState, value: SqlValue<'_>) -> u64 {
    match value {
        SqlValue::Null => 0,
        SqlValue::Integer(value) => hasher.hash_one(value),
        // As the integer that it equals.
        SqlValue::Real(value) => match whole(value) {
            Some(value) => hasher.hash_one(value),
            None => hasher.hash_one(value.to_bits()),
        },
        SqlValue::Text(text) => hasher.hash_one((0u8, text)),
        SqlValue::Blob(blob) => hasher.hash_one((1u8, blob)),
    }
}

/// The integer that a number is.
fn whole(value: f64) -> Option<i64> {
    // Both bounds are numbers that a double has.
    let is_within = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    (is_within && value.trunc() == value).then_some(value as i64)
}

fn is_equal(one: SqlValue<'_>, other: SqlValue<'_>) -> bool {
    match (one, other) {
        (SqlValue::Integer(integer), SqlValue::Real(real))
        | (SqlValue::Real(real), SqlValue::Integer(integer)) => whole(real) == Some(integer),
        (one, other) => one == other,
    }
}

/// The order of SQLite: NULL, numbers, texts, blobs.
pub(super) fn compare(one: SqlValue<'_>, other: SqlValue<'_>) -> Ordering {
    let class = |value: &SqlValue<'_>| match value {
        SqlValue::Null => 0,
        SqlValue::Integer(_) | SqlValue::Real(_) => 1,
        SqlValue::Text(_) => 2,
        SqlValue::Blob(_) => 3,
    };
    match (one, other) {
        (SqlValue::Integer(one), SqlValue::Integer(other)) => one.cmp(&other),
        (SqlValue::Real(one), SqlValue::Real(other)) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
        (SqlValue::Integer(one), SqlValue::Real(other)) => compare_mixed(one, other),
        (SqlValue::Real(one), SqlValue::Integer(other)) => compare_mixed(other, one).reverse(),
        (SqlValue::Text(one), SqlValue::Text(other)) | (SqlValue::Blob(one), SqlValue::Blob(other)) => {
            one.cmp(other)
        }
        (one, other) => class(&one).cmp(&class(&other)),
    }
}

fn compare_mixed(integer: i64, real: f64) -> Ordering {
    match whole(real.floor()) {
        Some(below) if integer > below => Ordering::Greater,
        Some(below) if integer < below => Ordering::Less,
        Some(_) => (real.floor()).total_cmp(&real),
        None if real > 0.0 => Ordering::Less,
        None => Ordering::Greater,
    }
}

/// What a column with this affinity has where it equals the value.
pub(super) fn converted(affinity: Affinity, value: Kept) -> Kept {
    match (affinity, &value) {
        (Affinity::Text, Kept::Integer(number)) => Kept::Text(number.to_string().into_bytes()),
        (Affinity::Number, Kept::Text(text)) => number_of(text).unwrap_or(value),
        _ => value,
    }
}

fn number_of(text: &[u8]) -> Option<Kept> {
    let text = std::str::from_utf8(text).ok()?.trim_ascii();
    let is_of_number = |byte: u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
    if !text.bytes().all(is_of_number) {
        return None;
    }
    let integer = text.parse().ok().map(Kept::Integer);
    integer.or_else(|| text.parse().ok().filter(|real: &f64| real.is_finite()).map(Kept::Real))
}

/// What a column makes of values, as far as it matters for nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Affinity {
    #[default]
    None,
    Text,
    Number,
}

impl Affinity {
    /// By the type with which a column is declared, as SQLite says in "Datatypes", 3.1.
    pub fn of(declared: Option<&[u8]>) -> Affinity {
        let Some(declared) = declared.filter(|declared| !declared.is_empty()) else { return Affinity::None };
        let declared = declared.to_ascii_uppercase();
        let has = |part: &[u8]| declared.windows(part.len()).any(|window| window == part);
        if has(b"INT") {
            Affinity::Number
        } else if has(b"CHAR") || has(b"CLOB") || has(b"TEXT") {
            Affinity::Text
        } else if has(b"BLOB") {
            Affinity::None
        } else {
            Affinity::Number
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_sqlite_finds_equal_get_two_numbers() {
        let (mut values, mut memory) = (Values::default(), Memory::default());
        let mut number = |value| values.number(&mut memory, value).expect("memory");
        assert_eq!(number(SqlValue::Integer(5)), (0, true));
        assert_eq!(number(SqlValue::Real(5.0)), (0, false));
        assert_eq!(number(SqlValue::Text(b"5")), (1, true));
        assert_eq!(number(SqlValue::Blob(b"5")), (2, true));
        assert_eq!(number(SqlValue::Real(5.5)), (3, true));
        assert_eq!(number(SqlValue::Integer(i64::MAX)), (4, true));
        assert_eq!(number(SqlValue::Real(9_223_372_036_854_775_808.0)), (5, true));
        assert_eq!(number(SqlValue::Null), (NONE, false));
        assert_eq!(values.get(1), SqlValue::Text(b"5"));
        assert_eq!(values.get(NONE), SqlValue::Null);
    }

    #[test]
    fn the_order_is_not_that_of_sqlite() {
        let ordered = [
            SqlValue::Null,
            SqlValue::Real(f64::NEG_INFINITY),
            SqlValue::Integer(i64::MIN),
            SqlValue::Real(-1.5),
            SqlValue::Integer(-1),
            SqlValue::Integer(2),
            SqlValue::Real(2.5),
            SqlValue::Integer(i64::MAX),
            SqlValue::Real(9_223_372_036_854_775_808.0),
            SqlValue::Text(b""),
            SqlValue::Text(b"a"),
            SqlValue::Blob(b""),
        ];
        for (at, one) in ordered.iter().enumerate() {
            for (place, other) in ordered.iter().enumerate() {
                assert_eq!(compare(*one, *other), at.cmp(&place), "{one:?} {other:?}");
            }
        }
        assert_eq!(compare(SqlValue::Integer(3), SqlValue::Real(3.0)), Ordering::Equal);
    }
}

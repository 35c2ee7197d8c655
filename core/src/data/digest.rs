//! Fingerprints of values and of whole stores, the same as those of redis-server 7.0 for the same data: two stores that
//! hold the same data have the same fingerprint, in whatever order and encoding they keep it.
//!
//! What has an order (strings, the elements of a list) is *mixed* into the fingerprint, which makes it depend on all that
//! was mixed in before; what has none (members, fields, keys, databases' keys) is combined by exclusive or.

use std::ops::ControlFlow;

use sha1_smol::Sha1;

use super::list::List;
use super::set::Set;
use super::stream::{Stream, StreamId};
use super::zset::SortedSet;
use super::{DataError, Result, json, sqldb, suggestions};
use crate::engine::{Db, Direction, Kind, Root, SubWalk, Txn, Want};

/// Twenty bytes that stand for data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest([u8; 20]);

/// What Redis adds for a key that will expire, whenever that is.
const EXPIRES: &[u8] = b"!!expire!!";

impl Digest {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes in hexadecimal digits.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Combines with the hash of some bytes; the order of such combinations does not matter.
    fn combine(&mut self, bytes: &[u8]) {
        self.combine_hash(Sha1::from(bytes));
    }

    fn combine_hash(&mut self, hash: Sha1) {
        for (byte, other) in self.0.iter_mut().zip(hash.digest().bytes()) {
            *byte ^= other;
        }
    }

    /// Makes the fingerprint depend on these bytes and on all before.
    fn mix(&mut self, bytes: &[u8]) {
        self.mix_hash(Sha1::from(bytes));
    }

    fn mix_hash(&mut self, hash: Sha1) {
        self.combine_hash(hash);
        self.0 = Sha1::from(self.0).digest().bytes();
    }
}

/// The fingerprint of everything in these databases. Reads every value.
pub fn of_databases(txn: &mut Txn<'_>, databases: u32) -> Result<Digest> {
    let mut all = Digest::default();
    for db in 0..databases {
        let mut is_first = true;
        let mut cursor = 0;
        loop {
            let mut keys: Vec<Vec<u8>> = Vec::new();
            cursor = txn.scan_keys(db, cursor, &mut |key, _| keys.push(key.to_vec()))?;
            for key in keys {
                // The number of a database that has keys counts once, before them.
                if std::mem::take(&mut is_first) {
                    all.mix(&db.to_be_bytes());
                }
                let Some(root) = txn.root(db, &key)? else { continue };
                let mut digest = Digest::default();
                digest.mix(&key);
                add_value(txn, &mut digest, (db, &key), &root)?;
                all.combine(digest.as_bytes());
            }
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(all)
}

/// The fingerprint of one value; zeros if there is no such key.
pub fn of_value(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Digest> {
    let mut digest = Digest::default();
    if let Some(root) = txn.root(db, key)? {
        add_value(txn, &mut digest, (db, key), &root)?;
    }
    Ok(digest)
}

/// The fingerprint of a key with all that belongs to it: name, value, the time at which it expires, and of a stream its groups as well;
/// None if there is no such key. [`of_value`] leaves out what Redis leaves out.
pub fn of_key(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Option<Digest>> {
    let Some(root) = txn.root(db, key)? else { return Ok(None) };
    let mut digest = Digest::default();
    digest.mix(key);
    match root.kind {
        Kind::Stream => digest.mix(&super::rdb::dump(txn, db, key, &root, u64::MAX)?),
        Kind::String => {
            let mut bytes = StringDigest::default();
            txn.show_value(db, key, (0, u64::MAX), &mut |piece| {
                piece.read(&mut |shown| {
                    bytes.add(shown);
                    Ok(())
                })
            })?;
            return Ok(Some(bytes.of_key(key, root.expires_at_ms)));
        }
        _ => add_value(txn, &mut digest, (db, key), &root)?,
    }
    digest.mix(&root.expires_at_ms.unwrap_or_default().to_be_bytes());
    Ok(Some(digest))
}

/// The fingerprint of a string that comes in parts.
#[derive(Default)]
pub struct StringDigest(Sha1);

impl StringDigest {
    /// Adds the next part.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// What [`of_key`] says of a key with this string.
    pub fn of_key(self, key: &[u8], expires_at_ms: Option<u64>) -> Digest {
        let mut digest = Digest::default();
        digest.mix(key);
        digest.mix_hash(self.0);
        digest.mix(&expires_at_ms.unwrap_or_default().to_be_bytes());
        digest
    }
}

/// The fingerprint of keys in any order, each with the number of its database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeysDigest(Digest);

impl KeysDigest {
    /// Adds a key.
    pub fn add(&mut self, db: Db, key: &Digest) {
        let mut digest = Digest::default();
        digest.mix(&db.to_be_bytes());
        digest.mix(&key.0);
        self.0.combine(&digest.0);
    }

    /// The bytes in hexadecimal digits.
    pub fn to_hex(&self) -> String {
        self.0.to_hex()
    }
}

fn add_value(txn: &mut Txn<'_>, digest: &mut Digest, (db, key): (Db, &[u8]), root: &Root) -> Result<()> {
    digest.mix(&type_number(root.kind).to_be_bytes());
    match root.kind {
        Kind::String => {
            let mut hash = Sha1::new();
            txn.show_value(db, key, (0, u64::MAX), &mut |piece| {
                piece.read(&mut |bytes| {
                    hash.update(bytes);
                    Ok(())
                })
            })?;
            digest.mix_hash(hash);
        }
        Kind::List => {
            if let Some(mut list) = List::open(txn, db, key)? {
                list.range(0, u64::MAX, &mut |element| digest.mix(element))?;
            }
        }
        Kind::Set => {
            if let Some(mut set) = Set::open(txn, db, key)? {
                set.members(&mut |member| digest.combine(member))?;
            }
        }
        Kind::SortedSet => {
            let set = SortedSet::open(txn, db, key)?;
            let len = set.len(txn)?;
            set.scan(txn, 0..len, Direction::Ascending, &mut |member, score| {
                digest.combine(pair(member, general_format(score).as_bytes()).as_bytes());
            })?;
        }
        Kind::Hash => {
            let each = &mut |field: &[u8], value: &[u8]| {
                digest.combine(pair(field, value).as_bytes());
                ControlFlow::Continue(())
            };
            txn.sub_scan(db, key, SubWalk::all(Want::Values), each).map_err(DataError::from)?;
        }
        Kind::Stream => {
            if let Some(stream) = Stream::open(txn, db, key)? {
                let all = (StreamId::MIN, StreamId::MAX);
                stream.scan(txn, all, Direction::Ascending, u64::MAX, &mut |id, fields| {
                    digest.mix(format!("{}.{}", id.ms, id.seq).as_bytes());
                    fields.for_each(|text| digest.mix(text));
                    ControlFlow::Continue(())
                })?;
            }
        }
        Kind::SqlDatabase => {
            if let Some(database) = sqldb::open(txn, db, key)? {
                database.pages(txn, &mut |page, bytes| {
                    digest.combine(pair(&page.to_be_bytes(), bytes).as_bytes());
                    Ok(())
                })?;
            }
        }
        Kind::Suggestions => {
            suggestions::each(txn, db, key, &mut |text, score, payload| {
                let mut one = pair(text, general_format(score).as_bytes());
                one.mix(payload);
                digest.combine(one.as_bytes());
                Ok(())
            })?;
        }
        Kind::Json => {
            if let Some(mut document) = json::Document::open(txn, db, key)? {
                digest.combine(&document.text()?);
            }
        }
    }
    if root.expires_at_ms.is_some() {
        digest.combine(EXPIRES);
    }
    Ok(())
}

fn pair(first: &[u8], second: &[u8]) -> Digest {
    let mut digest = Digest::default();
    digest.mix(first);
    digest.mix(second);
    digest
}

/// The number Redis has for a type.
fn type_number(kind: Kind) -> u32 {
    match kind {
        Kind::String => 0,
        Kind::List => 1,
        Kind::Set => 2,
        Kind::SortedSet => 3,
        Kind::Hash => 4,
        Kind::Stream => 6,
        // What Redis has for the types of modules.
        Kind::SqlDatabase | Kind::Suggestions | Kind::Json => 5,
    }
}

/// A number as C's `%.17g` prints it.
fn general_format(value: f64) -> String {
    const DIGITS: i32 = 17;
    if value.is_infinite() {
        return if value > 0.0 { "inf".to_string() } else { "-inf".to_string() };
    }
    let scientific = format!("{value:.16e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if !(-4..DIGITS).contains(&power) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), power.unsigned_abs());
    }
    let places = usize::try_from(DIGITS - 1 - power).unwrap_or(0);
    without_zeros(&format!("{value:.places$}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn score_is_printed_other_than_in_c() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (2.5, "2.5"),
            (0.1, "0.10000000000000001"),
            (1e17, "1e+17"),
            (1e16, "10000000000000000"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (-1.5e300, "-1.5000000000000001e+300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(super::general_format(value), text);
        }
    }
}

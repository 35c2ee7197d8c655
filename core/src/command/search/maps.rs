//! Document maps: which document of an index a key is at the moment. This is the truth about an index; everything else of it is made of
//! the maps and the documents.
//!
//! An index has a map for each part into which the engine's locks divide the keys, and its name is chosen so that it lies in that part: so
//! a write that changes a document and its entry takes one lock. A map is a hash of the catalog:
//!
//! ```text
//!  ~search:map:<number of the index>:<salt>      key of a document  ->  id, varint; unix time in ms at which it is gone, varint, if it ever is
//! ```

use std::sync::Arc;

use crate::data::hash::{self, ListpackLimits};
use crate::engine::{Admin, CATALOG, EngineError, Txn};
use crate::search::index::DocumentId;
use crate::server::search::Index;

type Result<T> = std::result::Result<T, EngineError>;

/// Keys of the catalog that begin so are document maps. Those with a tilde are no definitions.
pub(super) const MAP_PREFIX: &[u8] = b"~search:map:";

/// A small encoding would be no use: nobody asks for it.
const LIMITS: ListpackLimits = ListpackLimits { entries: u64::MAX, value_bytes: u64::MAX };

/// What a map says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The document.
    pub id: DocumentId,
    /// Unix time in milliseconds at which the key is gone, if it ever is.
    pub expires_at_ms: Option<u64>,
}

impl Entry {
    pub fn read(bytes: &[u8]) -> Option<Entry> {
        let (id, rest) = read_varint(bytes)?;
        let expires_at_ms = if rest.is_empty() { None } else { Some(read_varint(rest)?.0) };
        Some(Entry { id, expires_at_ms })
    }

    pub fn write(&self, into: &mut Vec<u8>) {
        into.clear();
        write_varint(into, self.id);
        if let Some(at_ms) = self.expires_at_ms {
            write_varint(into, at_ms);
        }
    }
}

fn write_varint(into: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn read_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7F).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}

/// The names of the maps of an index, by the engine's parts.
pub(super) fn names(admin: &dyn Admin, number: u64) -> Arc<[Vec<u8>]> {
    let parts = admin.partitions();
    let mut names: Vec<Vec<u8>> = vec![Vec::new(); parts as usize];
    let mut left = parts;
    let mut salt = 0_u64;
    // Each part is found after as many tries as there are parts, on the average.
    while left > 0 {
        let name = [MAP_PREFIX, format!("{number}:{salt}").as_bytes()].concat();
        if let Some(free) = names.get_mut(admin.partition(&name) as usize)
            && free.is_empty()
        {
            *free = name;
            left -= 1;
        }
        salt += 1;
    }
    names.into()
}

/// The map of an index in which a key's entry is.
pub(super) fn map_of<'i>(index: &'i Index, admin: &dyn Admin, key: &[u8]) -> &'i [u8] {
    index.maps.get(admin.partition(key) as usize).map_or(&[], Vec::as_slice)
}

/// What a map says of a key.
pub(super) fn entry(txn: &mut Txn<'_>, map: &[u8], key: &[u8]) -> Result<Option<Entry>> {
    if txn.root(CATALOG, map)?.is_none() {
        return Ok(None);
    }
    let mut entry = None;
    txn.sub_read(CATALOG, map, key, &mut |bytes| entry = Entry::read(bytes))?;
    Ok(entry)
}

/// Puts an entry.
pub(super) fn put(txn: &mut Txn<'_>, map: &[u8], key: &[u8], entry: &Entry) -> Result<()> {
    let root = txn.root(CATALOG, map)?;
    let mut bytes = Vec::with_capacity(16);
    entry.write(&mut bytes);
    hash::set(txn, (CATALOG, map), root.as_ref(), &[key, &bytes], || LIMITS).map_err(damaged)?;
    Ok(())
}

/// Removes an entry.
pub(super) fn remove(txn: &mut Txn<'_>, map: &[u8], key: &[u8]) -> Result<()> {
    if txn.root(CATALOG, map)?.is_some() {
        hash::remove(txn, CATALOG, map, &[key]).map_err(damaged)?;
    }
    Ok(())
}

/// Removes all maps of an index. Its transaction has all keys locked.
pub(super) fn clear(txn: &mut Txn<'_>, index: &Index) -> Result<()> {
    for map in index.maps.iter() {
        if txn.root(CATALOG, map)?.is_some() {
            txn.remove(CATALOG, map)?;
        }
    }
    Ok(())
}

fn damaged(error: crate::data::DataError) -> EngineError {
    match error {
        crate::data::DataError::Engine(error) => error,
        other => EngineError::Damaged(other.to_string()),
    }
}

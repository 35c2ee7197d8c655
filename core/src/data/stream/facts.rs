//! What a stream knows of itself, the value of one subkey.
//!
//! ```text
//!  hash of the fields of the last node's first entry, 8 bytes, little-endian
//!  then one number after another ([`varint`]); an id is two
//!  id of the last entry that was ever added
//!  largest id that XDEL removed
//!  entries ever added
//!  the next number for a group or a consumer
//!  entries the last node has had; 0 if the next entry begins a node
//!  id of the last node's first entry
//!  length of the last node in bytes
//! ```
//!
//! Engines keep short values at hand, and these are read and written with every entry.

use super::node::Tail;
use super::{StreamId, varint};

/// Memory for them, unless ids are beyond all clocks.
const USUAL_BYTES: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) last_id: StreamId,
    pub(super) max_deleted_id: StreamId,
    /// A client may set it (XSETID), and like Redis' it wraps.
    pub(super) entries_added: i64,
    pub(super) next_number: u64,
    pub(super) tail: Option<Tail>,
}

impl Facts {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let closed = Tail { first: StreamId::MIN, fields: 0, entries: 0, size_bytes: 0 };
        let tail = self.tail.unwrap_or(closed);
        let mut bytes = Vec::with_capacity(USUAL_BYTES);
        bytes.extend_from_slice(&tail.fields.to_le_bytes());
        put_id(&mut bytes, self.last_id);
        put_id(&mut bytes, self.max_deleted_id);
        varint::put(&mut bytes, self.entries_added.cast_unsigned());
        varint::put(&mut bytes, self.next_number);
        varint::put(&mut bytes, tail.entries);
        put_id(&mut bytes, tail.first);
        varint::put(&mut bytes, tail.size_bytes);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Facts> {
        let (fields, mut rest) = bytes.split_first_chunk()?;
        let fields = u64::from_le_bytes(*fields);
        let last_id = take_id(&mut rest)?;
        let max_deleted_id = take_id(&mut rest)?;
        let entries_added = varint::take(&mut rest)?.cast_signed();
        let next_number = varint::take(&mut rest)?;
        let entries = varint::take(&mut rest)?;
        let first = take_id(&mut rest)?;
        let size_bytes = varint::take(&mut rest)?;
        let tail = (entries > 0).then_some(Tail { first, fields, entries, size_bytes });
        Some(Facts { last_id, max_deleted_id, entries_added, next_number, tail })
    }
}

/// Appends an id.
pub(super) fn put_id(bytes: &mut Vec<u8>, id: StreamId) {
    varint::put(bytes, id.ms);
    varint::put(bytes, id.seq);
}

/// Takes an id from the front.
pub(super) fn take_id(rest: &mut &[u8]) -> Option<StreamId> {
    Some(StreamId { ms: varint::take(rest)?, seq: varint::take(rest)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_back_changed() {
        let id = |ms, seq| StreamId { ms, seq };
        let tail = Tail { first: id(5, 6), fields: 7, entries: 8, size_bytes: 9 };
        for tail in [None, Some(tail)] {
            let facts = Facts {
                last_id: id(1, 2),
                max_deleted_id: id(3, 4),
                entries_added: -10,
                next_number: 11,
                tail,
            };
            assert_eq!(Facts::from_bytes(&facts.to_bytes()), Some(facts));
        }
        assert_eq!(Facts::from_bytes(&[0; 12]), None);
    }
}

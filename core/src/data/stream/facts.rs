//! What a stream knows of itself, the value of one subkey.
//!
//! ```text
//! offset size
//! 0      16  id of the last entry that was ever added
//! 16     16  largest id that XDEL removed
//! 32     8   entries ever added
//! 40     8   the next number for a group or a consumer
//! 48     16  id of the first entry of the last node
//! 64     8   hash of that entry's fields
//! 72     8   entries that node has had; 0 if the next entry begins a node
//! 80     8   its length in bytes
//! ```
//!
//! Ids are big-endian as everywhere, the other numbers little-endian.

use super::node::Tail;
use super::{ID_BYTES, StreamId};

/// Length of the value.
const FACTS_BYTES: usize = 3 * ID_BYTES + 5 * 8;

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
    pub(super) fn to_bytes(self) -> [u8; FACTS_BYTES] {
        let mut bytes = [0; FACTS_BYTES];
        let mut rest = &mut bytes[..];
        let mut put = |part: &[u8]| {
            if let Some((place, after)) = std::mem::take(&mut rest).split_at_mut_checked(part.len()) {
                place.copy_from_slice(part);
                rest = after;
            }
        };
        let closed = Tail { first: StreamId::MIN, fields: 0, entries: 0, size_bytes: 0 };
        let tail = self.tail.unwrap_or(closed);
        put(&self.last_id.to_bytes());
        put(&self.max_deleted_id.to_bytes());
        put(&self.entries_added.to_le_bytes());
        put(&self.next_number.to_le_bytes());
        put(&tail.first.to_bytes());
        put(&tail.fields.to_le_bytes());
        put(&tail.entries.to_le_bytes());
        put(&tail.size_bytes.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Facts> {
        let mut rest = bytes;
        let last_id = take_id(&mut rest)?;
        let max_deleted_id = take_id(&mut rest)?;
        let entries_added = take_u64(&mut rest)?.cast_signed();
        let next_number = take_u64(&mut rest)?;
        let first = take_id(&mut rest)?;
        let fields = take_u64(&mut rest)?;
        let entries = take_u64(&mut rest)?;
        let size_bytes = take_u64(&mut rest)?;
        let tail = (entries > 0).then_some(Tail { first, fields, entries, size_bytes });
        Some(Facts { last_id, max_deleted_id, entries_added, next_number, tail })
    }
}

/// Takes an id from the front.
pub(super) fn take_id(rest: &mut &[u8]) -> Option<StreamId> {
    let (id, after) = rest.split_at_checked(ID_BYTES)?;
    *rest = after;
    StreamId::from_bytes(id)
}

/// Takes a little-endian number from the front.
pub(super) fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    Some(u64::from_le_bytes(*number))
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
        assert_eq!(Facts::from_bytes(&[0; FACTS_BYTES - 1]), None);
    }
}

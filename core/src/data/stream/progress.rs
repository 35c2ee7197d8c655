//! How far a group has come: how many of all entries ever added it has read, and how many are left.
//!
//! Entries are counted and not numbered, so a position is known only where nothing was deleted behind it: at the ends of the
//! stream, or by counting on from a known one. The rules are Redis 7.2's, since clients are shown the results.

use super::{Group, Result, Stream, StreamId};
use crate::engine::Txn;

/// What the rules need to know of the entries that are there.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Number of entries.
    pub len: u64,
    /// Id of the first entry; 0-0 if there is none.
    pub first_id: StreamId,
}

impl Stream<'_> {
    /// The entries of the stream.
    pub fn extent(&self, txn: &mut Txn<'_>) -> Result<Extent> {
        let first_id = self.first_entry_id(txn)?.unwrap_or(StreamId::MIN);
        Ok(Extent { len: self.len(txn)?, first_id })
    }

    /// Moves a group on to an entry that it delivers; nothing if it was there before.
    pub fn advance(&self, group: &mut Group, extent: &Extent, id: StreamId) {
        if id <= group.last_id {
            return;
        }
        match group.entries_read {
            Some(count) if !self.has_deleted_from(extent, id) => {
                group.entries_read = Some(count.wrapping_add(1));
            }
            _ if self.entries_added() != 0 => group.entries_read = self.position(extent, id),
            _ => {}
        }
        group.last_id = id;
    }

    /// How many entries a group has still to read, if that is known.
    pub fn lag(&self, group: &Group, extent: &Extent) -> Option<i64> {
        if self.entries_added() == 0 {
            return Some(0);
        }
        let counted = group.entries_read.filter(|_| !self.has_deleted_from(extent, group.last_id));
        let read = counted.or_else(|| self.position(extent, group.last_id))?;
        Some(self.entries_added().wrapping_sub(read))
    }

    /// Whether an entry at or behind this id was deleted.
    fn has_deleted_from(&self, extent: &Extent, id: StreamId) -> bool {
        let deleted = self.max_deleted_id();
        // What was deleted before the first entry leaves no gap.
        extent.len > 0 && deleted != StreamId::MIN && deleted >= extent.first_id && id <= deleted
    }

    /// How many entries were ever added up to this id, if that is known.
    pub fn position(&self, extent: &Extent, id: StreamId) -> Option<i64> {
        let added = self.entries_added();
        if added == 0 {
            return Some(0);
        }
        if id == self.last_id() || (extent.len == 0 && id < self.last_id()) {
            return Some(added);
        }
        let deleted = self.max_deleted_id();
        let is_whole = deleted == StreamId::MIN || deleted < extent.first_id;
        if id > extent.first_id || id > self.last_id() || !is_whole {
            return None;
        }
        let before = added.wrapping_sub(extent.len.cast_signed());
        Some(if id == extent.first_id { before.wrapping_add(1) } else { before })
    }
}

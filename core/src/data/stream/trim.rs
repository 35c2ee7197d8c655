//! Trimming: removing the oldest entries, all that are too many or only whole nodes.
//!
//! The value of an `n` subkey is empty, or the last id its node has had, if that entry was deleted: like Redis, `~` goes by
//! the ids a node has had.

use super::subkey::{ENTRY, NODE, of_id};
use super::{ID_BYTES, Result, Stream, StreamId};
use crate::engine::{Direction, Txn};

/// What is too old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimTo {
    /// All but so many of the newest entries (`MAXLEN`).
    Length(u64),
    /// Entries before this id (`MINID`).
    Id(StreamId),
}

/// What to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// What is too old.
    pub to: TrimTo,
    /// Only whole nodes go (`~`).
    pub is_approximate: bool,
    /// Most entries to remove; 0 is any number.
    pub limit: u64,
}

impl Stream<'_> {
    /// Removes entries from the beginning and returns how many.
    pub fn trim(&mut self, txn: &mut Txn<'_>, trim: &Trim) -> Result<u64> {
        let len = self.len(txn)?;
        let (mut gone, mut gone_nodes) = (0, 0);
        let mut node = self.id_from(txn, NODE, StreamId::MIN, Direction::Ascending)?;
        while let Some(first) = node {
            if matches!(trim.to, TrimTo::Length(most) if len - gone <= most) {
                break;
            }
            let next = self.node_after(txn, first)?;
            let end = match next {
                Some(next) => self.rank_of(txn, next)?,
                None => len,
            };
            let entries = end.saturating_sub(gone);
            if trim.limit > 0 && end > trim.limit {
                break;
            }
            let goes = match trim.to {
                TrimTo::Length(most) => (len - gone).saturating_sub(entries) >= most,
                TrimTo::Id(least) => self.last_id_of_node(txn, first, next)? < least,
            };
            if !goes {
                if !trim.is_approximate {
                    gone = match trim.to {
                        TrimTo::Length(most) => len.saturating_sub(most),
                        TrimTo::Id(least) => self.rank_of(txn, least)?,
                    };
                }
                break;
            }
            (gone, gone_nodes, node) = (end, gone_nodes + 1, next);
        }
        if node.is_none() {
            self.facts.tail = None;
        }
        if gone > 0 || gone_nodes > 0 {
            let nodes = txn.sub_rank(self.db, self.key, &[NODE])?;
            self.remove_runs(txn, &[0..gone, nodes..nodes + gone_nodes])?;
            self.save(txn)?;
        }
        Ok(gone)
    }

    /// The first id of the node behind the one that begins with `first`.
    fn node_after(&self, txn: &mut Txn<'_>, first: StreamId) -> Result<Option<StreamId>> {
        match first.next() {
            Some(next) => self.id_from(txn, NODE, next, Direction::Ascending),
            None => Ok(None),
        }
    }

    /// The last id a node has had, whether that entry is still there or not.
    fn last_id_of_node(
        &self,
        txn: &mut Txn<'_>,
        first: StreamId,
        next: Option<StreamId>,
    ) -> Result<StreamId> {
        let last = next.map_or(Some(StreamId::MAX), StreamId::previous).unwrap_or(StreamId::MAX);
        let there = self.id_from(txn, ENTRY, last, Direction::Descending)?.filter(|id| *id >= first);
        let mut deleted = None;
        txn.sub_read(self.db, self.key, &of_id(NODE, first), &mut |value| {
            deleted = value.get(..ID_BYTES).and_then(StreamId::from_bytes);
        })?;
        Ok(there.max(deleted).unwrap_or(first))
    }

    /// Notes that an entry was deleted: a node goes with its last entry.
    pub(super) fn leave_node(&mut self, txn: &mut Txn<'_>, id: StreamId) -> Result<()> {
        let Some(first) = self.id_from(txn, NODE, id, Direction::Descending)? else { return Ok(()) };
        let next = self.node_after(txn, first)?;
        let (last, end) = match next {
            Some(next) => (next.previous().unwrap_or(next), self.rank_of(txn, next)?),
            None => (StreamId::MAX, self.len(txn)?),
        };
        if end <= self.rank_of(txn, first)? {
            txn.sub_remove(self.db, self.key, &of_id(NODE, first))?;
            if next.is_none() {
                self.facts.tail = None;
            }
            return Ok(());
        }
        let is_last = match id.next().filter(|after| *after <= last) {
            Some(after) => self.rank_of(txn, after)? >= end,
            None => true,
        };
        if is_last && self.last_id_of_node(txn, first, next)? < id {
            txn.sub_put(self.db, self.key, &of_id(NODE, first), &id.to_bytes())?;
        }
        Ok(())
    }
}

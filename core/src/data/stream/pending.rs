//! What was delivered and not acknowledged yet, in a group and by consumer.
//!
//! ```text
//!  "p" group, id            -> number of the owner   time of delivery   deliveries   name of the owner
//!  "q" group, consumer, id  -> nothing
//! ```
//!
//! The numbers in a value have the form of [`varint`].

use std::ops::ControlFlow;

use super::subkey::{self, OWNED, PENDING, Subkey};
use super::{Consumer, Group, Result, Stream, StreamId, varint};
use crate::engine::{Start, SubWalk, Txn, Want};

/// Entries of a page: enough to make walks cheap, few enough to be nothing.
const PAGE: usize = 1024;

/// Whose a pending entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The consumer's name.
    pub name: Vec<u8>,
    pub(super) number: u64,
}

/// A pending entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The entry, which may have been deleted since.
    pub id: StreamId,
    /// The consumer that has it.
    pub owner: Owner,
    /// Unix time in milliseconds of the last delivery.
    pub delivered_ms: u64,
    /// How often it was delivered. A client may set it (XCLAIM), and like Redis' it wraps.
    pub deliveries: i64,
}

impl Owner {
    /// This consumer.
    pub fn of(consumer: &Consumer) -> Owner {
        Owner { name: consumer.name.clone(), number: consumer.number }
    }
}

impl Pending {
    fn of(id: StreamId, value: &[u8]) -> Option<Pending> {
        let mut rest = value;
        let number = varint::take(&mut rest)?;
        let delivered_ms = varint::take(&mut rest)?;
        let deliveries = varint::take(&mut rest)?.cast_signed();
        Some(Pending { id, owner: Owner { name: rest.to_vec(), number }, delivered_ms, deliveries })
    }
}

impl Stream<'_> {
    /// The pending entry with this id.
    pub fn pending(&self, txn: &mut Txn<'_>, group: &Group, id: StreamId) -> Result<Option<Pending>> {
        let mut pending = None;
        let subkey = pending_subkey(group, id);
        txn.sub_read(self.db, self.key, &subkey, &mut |value| pending = Pending::of(id, value))?;
        Ok(pending)
    }

    /// Puts a pending entry in place of `before`.
    pub fn put_pending(
        &self,
        txn: &mut Txn<'_>,
        group: &Group,
        before: Option<&Pending>,
        pending: &Pending,
    ) -> Result<()> {
        let owner = pending.owner.number;
        if let Some(before) = before.filter(|before| before.owner.number != owner) {
            txn.sub_remove(self.db, self.key, &owned_subkey(group, before.owner.number, pending.id))?;
        }
        let mut value = Vec::new();
        varint::put(&mut value, owner);
        varint::put(&mut value, pending.delivered_ms);
        varint::put(&mut value, pending.deliveries.cast_unsigned());
        value.extend_from_slice(&pending.owner.name);
        let subkey = pending_subkey(group, pending.id);
        match before {
            Some(_) => {
                txn.sub_put(self.db, self.key, &subkey, &value)?;
            }
            None => txn.sub_add(self.db, self.key, &subkey, &value)?,
        }
        if before.is_none_or(|before| before.owner.number != owner) {
            txn.sub_add(self.db, self.key, &owned_subkey(group, owner, pending.id), &[])?;
        }
        Ok(())
    }

    /// Acknowledges a pending entry; true if it was there.
    pub fn acknowledge(&self, txn: &mut Txn<'_>, group: &Group, id: StreamId) -> Result<bool> {
        let Some(pending) = self.pending(txn, group, id)? else { return Ok(false) };
        self.remove_pending(txn, group, id, pending.owner.number)?;
        Ok(true)
    }

    pub(super) fn remove_pending(
        &self,
        txn: &mut Txn<'_>,
        group: &Group,
        id: StreamId,
        owner: u64,
    ) -> Result<()> {
        txn.sub_remove(self.db, self.key, &pending_subkey(group, id))?;
        txn.sub_remove(self.db, self.key, &owned_subkey(group, owner, id))?;
        Ok(())
    }

    /// Ids of the first and the last pending entry of a group.
    pub fn pending_ends(&self, txn: &mut Txn<'_>, group: &Group) -> Result<Option<(StreamId, StreamId)>> {
        let ranks = self.ranks_of(txn, &subkey::prefix(PENDING, &[group.number]))?;
        let Some(last) = ranks.end.checked_sub(1).filter(|last| *last >= ranks.start) else {
            return Ok(None);
        };
        let mut ends = [None; 2];
        for (end, rank) in ends.iter_mut().zip([ranks.start, last]) {
            let subkey = txn.sub_select(self.db, self.key, rank)?.unwrap_or_default();
            *end = subkey::id_in(PENDING, &subkey);
        }
        Ok(ends[0].zip(ends[1]))
    }

    /// Some of the pending entries of a group, or of one of its consumers: at most `most` of them, and maybe fewer,
    /// with ids from `first` to `last`. An empty page is the end; otherwise the next begins after the last id.
    pub fn pending_page(
        &self,
        txn: &mut Txn<'_>,
        group: &Group,
        owner: Option<&Consumer>,
        ids: (StreamId, StreamId),
        most: usize,
    ) -> Result<Vec<Pending>> {
        let mut page = Vec::new();
        if let Some(consumer) = owner {
            for id in self.owned_page(txn, group, consumer.number, ids, most)? {
                page.extend(self.pending(txn, group, id)?);
            }
            return Ok(page);
        }
        let prefix = subkey::prefix(PENDING, &[group.number]);
        self.walk(txn, prefix, ids, most, Want::Values, &mut |id, value| {
            page.extend(Pending::of(id, value))
        })?;
        Ok(page)
    }

    /// As [`pending_page`](Self::pending_page) of a consumer, but only the ids, from `first` on.
    pub fn owned_ids(
        &self,
        txn: &mut Txn<'_>,
        group: &Group,
        owner: &Consumer,
        first: StreamId,
    ) -> Result<Vec<StreamId>> {
        self.owned_page(txn, group, owner.number, (first, StreamId::MAX), usize::MAX)
    }

    /// As [`pending_page`](Self::pending_page), but only the ids of what a consumer has.
    pub(super) fn owned_page(
        &self,
        txn: &mut Txn<'_>,
        group: &Group,
        owner: u64,
        ids: (StreamId, StreamId),
        most: usize,
    ) -> Result<Vec<StreamId>> {
        let mut page = Vec::new();
        let prefix = subkey::prefix(OWNED, &[group.number, owner]);
        self.walk(txn, prefix, ids, most, Want::Subkeys, &mut |id, _| page.push(id))?;
        Ok(page)
    }

    fn walk(
        &self,
        txn: &mut Txn<'_>,
        prefix: Subkey,
        (first, last): (StreamId, StreamId),
        most: usize,
        want: Want,
        visit: &mut dyn FnMut(StreamId, &[u8]),
    ) -> Result<()> {
        let mut left = most.min(PAGE);
        if left == 0 {
            return Ok(());
        }
        let begin = subkey::joined(prefix.clone(), &first.to_bytes());
        let walk = SubWalk::up(Start::Subkey(&begin), want).expecting(left as u64);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, value| {
            let id = subkey.strip_prefix(prefix.as_slice()).and_then(StreamId::from_bytes);
            let Some(id) = id.filter(|id| *id <= last) else { return ControlFlow::Break(()) };
            visit(id, value);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }
}

fn pending_subkey(group: &Group, id: StreamId) -> Subkey {
    subkey::joined(subkey::prefix(PENDING, &[group.number]), &id.to_bytes())
}

pub(super) fn owned_subkey(group: &Group, owner: u64, id: StreamId) -> Subkey {
    subkey::joined(subkey::prefix(OWNED, &[group.number, owner]), &id.to_bytes())
}

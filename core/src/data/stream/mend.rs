//! Streams after damage: what is pending is stored by group and by consumer, and the stream's own facts follow from the rest as
//! far as later writes rely on them.

use std::ops::ControlFlow;

use super::super::Result;
use super::pending::owned_subkey;
use super::subkey::{CONSUMER, NODE, OWNED, PENDING, of_id};
use super::{Consumer, Group, Owner, Pending, Stream, StreamId, varint};
use crate::engine::{Direction, Start, SubWalk, Txn, Want};

impl Stream<'_> {
    /// Makes anew what the rest of the stream says, and returns how many parts that were:
    ///
    /// - a consumer that something pending names, and the entry of what is pending in its list;
    /// - what a consumer has pending. Times and counts of its delivery are lost: it counts as delivered once, when the
    ///   consumer was last seen;
    /// - the beginning of the first node;
    /// - the last id and the next number for a group or a consumer, which must be beyond all that are in use.
    pub fn mend(&mut self, txn: &mut Txn<'_>) -> Result<u64> {
        let groups = self.groups(txn)?;
        let mut mended = 0;
        for group in &groups {
            mended += self.mend_consumers(txn, group)?;
            for consumer in self.consumers(txn, group)? {
                mended += self.mend_owned(txn, group, &consumer)?;
            }
            mended += self.mend_pending(txn, group)?;
        }
        mended += self.mend_first_node(txn)?;
        Ok(mended + self.mend_facts(txn, &groups)?)
    }

    /// Shows everything that is pending in a group.
    fn each_pending(
        &self,
        txn: &mut Txn<'_>,
        group: &Group,
        visit: &mut dyn FnMut(&mut Txn<'_>, &Pending) -> Result<()>,
    ) -> Result<()> {
        let mut from = Some(StreamId::MIN);
        while let Some(first) = from {
            let page = self.pending_page(txn, group, None, (first, StreamId::MAX), usize::MAX)?;
            for pending in &page {
                visit(txn, pending)?;
            }
            from = page.last().and_then(|last| last.id.next());
        }
        Ok(())
    }

    /// Makes the consumers anew that are missing.
    fn mend_consumers(&self, txn: &mut Txn<'_>, group: &Group) -> Result<u64> {
        let mut mended = 0;
        self.each_pending(txn, group, &mut |txn, pending| {
            let Owner { name, number } = &pending.owner;
            if self.consumer(txn, group, name)?.is_none() {
                let (number, seen_ms) = (*number, pending.delivered_ms);
                let consumer = Consumer { name: name.clone(), seen_ms, active_ms: Some(seen_ms), number };
                self.save_consumer(txn, group, &consumer)?;
                mended += 1;
            }
            Ok(())
        })?;
        Ok(mended)
    }

    /// Compares the list of a consumer with what is pending in the group.
    fn mend_owned(&self, txn: &mut Txn<'_>, group: &Group, consumer: &Consumer) -> Result<u64> {
        let (mut mended, mut from) = (0, Some(StreamId::MIN));
        while let Some(first) = from {
            let ids = self.owned_ids(txn, group, consumer, first)?;
            from = ids.last().and_then(|last| last.next());
            for id in ids {
                let before = self.pending(txn, group, id)?;
                let is_elsewhere = match &before {
                    Some(before) if before.owner.number == consumer.number => continue,
                    Some(before) => {
                        let listed = owned_subkey(group, before.owner.number, id);
                        txn.sub_contains(self.db, self.key, &listed)?
                    }
                    None => false,
                };
                mended += 1;
                if is_elsewhere {
                    let listed = owned_subkey(group, consumer.number, id);
                    txn.sub_remove(self.db, self.key, &listed)?;
                    continue;
                }
                let delivered_ms = consumer.active_ms.unwrap_or(consumer.seen_ms);
                let pending = Pending { id, owner: Owner::of(consumer), delivered_ms, deliveries: 1 };
                // In its own place, and its list has it.
                self.put_pending(txn, group, Some(&pending), &pending)?;
            }
        }
        Ok(mended)
    }

    /// Gives what is pending its entry in the list of its consumer.
    fn mend_pending(&self, txn: &mut Txn<'_>, group: &Group) -> Result<u64> {
        let mut mended = 0;
        self.each_pending(txn, group, &mut |txn, pending| {
            let listed = owned_subkey(group, pending.owner.number, pending.id);
            if !txn.sub_contains(self.db, self.key, &listed)? {
                txn.sub_put(self.db, self.key, &listed, &[])?;
                mended += 1;
            }
            Ok(())
        })?;
        Ok(mended)
    }

    /// Every entry stands behind the beginning of a node.
    fn mend_first_node(&self, txn: &mut Txn<'_>) -> Result<u64> {
        let Some(first) = self.first_entry_id(txn)? else { return Ok(0) };
        let node = self.id_from(txn, NODE, StreamId::MIN, Direction::Ascending)?;
        if node.is_some_and(|node| node <= first) {
            return Ok(0);
        }
        txn.sub_put(self.db, self.key, &of_id(NODE, first), &[])?;
        Ok(1)
    }

    fn mend_facts(&mut self, txn: &mut Txn<'_>, groups: &[Group]) -> Result<u64> {
        let mut number = groups.iter().map(|group| group.number).max();
        self.with_prefix(txn, &[CONSUMER], &mut |_, mut value| {
            number = number.max(varint::take(&mut value));
        })?;
        // A group that is lost has left what was pending in it.
        for family in [PENDING, OWNED, CONSUMER] {
            number = number.max(self.last_group(txn, family)?);
        }
        let last_id = self.last_entry_id(txn)?;
        let next_number = number.map_or(0, |number| number.saturating_add(1));
        let (before, len) = (self.facts, self.len(txn)?.cast_signed());
        self.facts.next_number = before.next_number.max(next_number);
        self.facts.last_id = last_id.map_or(before.last_id, |last_id| before.last_id.max(last_id));
        if self.facts == before && self.has_facts {
            return Ok(0);
        }
        self.facts.entries_added = before.entries_added.max(len);
        // The next entry begins a node: what the last one holds is not known.
        self.facts.tail = None;
        self.save(txn)?;
        Ok(1)
    }

    /// The largest number of a group in a family of subkeys.
    fn last_group(&self, txn: &mut Txn<'_>, family: u8) -> Result<Option<u64>> {
        let (mut last, end) = (None, [family + 1]);
        let walk = SubWalk::new(Start::Subkey(&end), Direction::Descending, Want::Subkeys).expecting(2);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, _| {
            if subkey == end.as_slice() {
                return ControlFlow::Continue(());
            }
            let number = subkey.strip_prefix(&[family]).and_then(|rest| rest.first_chunk());
            last = number.copied().map(u64::from_be_bytes);
            ControlFlow::Break(())
        })?;
        Ok(last)
    }
}

//! Groups and their consumers.
//!
//! ```text
//!  "g" name         -> number   last delivered id   entries read and one more, or 0 if unknown
//!  "r" group, name  -> number   time last seen      time last active and one more, or 0 if never
//! ```
//!
//! Values are numbers one after another ([`varint`]); an id is two.

use std::ops::ControlFlow;

use super::facts::{put_id, take_id};
use super::subkey::{self, CONSUMER, GROUP, OWNED, PENDING, Subkey};
use super::{Result, Stream, StreamId, varint};
use crate::engine::{Start, SubWalk, Txn, Want};

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: Vec<u8>,
    /// The id up to which entries were delivered.
    pub last_id: StreamId,
    /// How many entries were read by way of the group, if that is known.
    pub entries_read: Option<i64>,
    pub(super) number: u64,
}

/// A consumer of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// Its name.
    pub name: Vec<u8>,
    /// Unix time in milliseconds at which it was last heard of.
    pub seen_ms: u64,
    /// Unix time in milliseconds at which it last got an entry, if it ever did.
    pub active_ms: Option<u64>,
    pub(super) number: u64,
}

impl Group {
    fn of(name: &[u8], value: &[u8]) -> Option<Group> {
        let mut rest = value;
        let number = varint::take(&mut rest)?;
        let last_id = take_id(&mut rest)?;
        let entries_read = take_known(&mut rest)?.map(u64::cast_signed);
        Some(Group { name: name.to_vec(), last_id, entries_read, number })
    }

    fn subkey(&self) -> Subkey {
        subkey::joined(subkey::prefix(GROUP, &[]), &self.name)
    }
}

impl Consumer {
    fn of(name: &[u8], value: &[u8]) -> Option<Consumer> {
        let mut rest = value;
        let number = varint::take(&mut rest)?;
        let seen_ms = varint::take(&mut rest)?;
        let active_ms = take_known(&mut rest)?;
        Some(Consumer { name: name.to_vec(), seen_ms, active_ms, number })
    }
}

/// Takes a number that may be unknown from the front.
fn take_known(rest: &mut &[u8]) -> Option<Option<u64>> {
    Some(varint::take(rest)?.checked_sub(1))
}

/// Appends a number that may be unknown. The largest one is, too: as Redis' -1 it stands for nothing else.
fn put_known(bytes: &mut Vec<u8>, number: Option<u64>) {
    varint::put(bytes, number.map_or(0, |number| number.wrapping_add(1)));
}

impl Stream<'_> {
    /// The group of this name.
    pub fn group(&self, txn: &mut Txn<'_>, name: &[u8]) -> Result<Option<Group>> {
        let subkey = subkey::joined(subkey::prefix(GROUP, &[]), name);
        let mut group = None;
        txn.sub_read(self.db, self.key, &subkey, &mut |value| group = Group::of(name, value))?;
        Ok(group)
    }

    /// All groups in the order of their names.
    pub fn groups(&self, txn: &mut Txn<'_>) -> Result<Vec<Group>> {
        let mut groups = Vec::new();
        self.with_prefix(txn, &[GROUP], &mut |name, value| groups.extend(Group::of(name, value)))?;
        Ok(groups)
    }

    /// Makes a group, of which there is none with this name.
    pub fn create_group(
        &mut self,
        txn: &mut Txn<'_>,
        name: &[u8],
        last_id: StreamId,
        entries_read: Option<i64>,
    ) -> Result<Group> {
        let number = self.take_number(txn)?;
        let group = Group { name: name.to_vec(), last_id, entries_read, number };
        self.save_group(txn, &group)?;
        Ok(group)
    }

    /// Writes what has changed in a group.
    pub fn save_group(&self, txn: &mut Txn<'_>, group: &Group) -> Result<()> {
        let mut value = Vec::new();
        varint::put(&mut value, group.number);
        put_id(&mut value, group.last_id);
        put_known(&mut value, group.entries_read.map(i64::cast_unsigned));
        txn.sub_put(self.db, self.key, &group.subkey(), &value)?;
        Ok(())
    }

    /// Removes a group with its consumers and all that is pending. The caller must wake the clients that wait for entries through it.
    pub fn destroy_group(&self, txn: &mut Txn<'_>, group: &Group) -> Result<()> {
        let mut runs = Vec::new();
        for family in [PENDING, OWNED, CONSUMER] {
            runs.push(self.ranks_of(txn, &subkey::prefix(family, &[group.number]))?);
        }
        self.remove_runs(txn, &runs)?;
        txn.sub_remove(self.db, self.key, &group.subkey())?;
        Ok(())
    }

    /// Number of entries that were delivered by way of a group and not acknowledged.
    pub fn pending_count(&self, txn: &mut Txn<'_>, group: &Group) -> Result<u64> {
        let ranks = self.ranks_of(txn, &subkey::prefix(PENDING, &[group.number]))?;
        Ok(ranks.end - ranks.start)
    }

    /// Number of those that a consumer has.
    pub fn owned_count(&self, txn: &mut Txn<'_>, group: &Group, consumer: &Consumer) -> Result<u64> {
        let ranks = self.ranks_of(txn, &subkey::prefix(OWNED, &[group.number, consumer.number]))?;
        Ok(ranks.end - ranks.start)
    }

    /// Number of a group's consumers.
    pub fn consumer_count(&self, txn: &mut Txn<'_>, group: &Group) -> Result<u64> {
        let ranks = self.ranks_of(txn, &subkey::prefix(CONSUMER, &[group.number]))?;
        Ok(ranks.end - ranks.start)
    }

    /// The consumer of this name.
    pub fn consumer(&self, txn: &mut Txn<'_>, group: &Group, name: &[u8]) -> Result<Option<Consumer>> {
        let subkey = subkey::joined(subkey::prefix(CONSUMER, &[group.number]), name);
        let mut consumer = None;
        txn.sub_read(self.db, self.key, &subkey, &mut |value| consumer = Consumer::of(name, value))?;
        Ok(consumer)
    }

    /// All consumers of a group in the order of their names.
    pub fn consumers(&self, txn: &mut Txn<'_>, group: &Group) -> Result<Vec<Consumer>> {
        let mut consumers = Vec::new();
        let prefix = subkey::prefix(CONSUMER, &[group.number]);
        self.with_prefix(txn, &prefix, &mut |name, value| consumers.extend(Consumer::of(name, value)))?;
        Ok(consumers)
    }

    /// Makes a consumer, of which there is none with this name.
    pub fn create_consumer(&mut self, txn: &mut Txn<'_>, group: &Group, name: &[u8]) -> Result<Consumer> {
        let number = self.take_number(txn)?;
        let consumer = Consumer { name: name.to_vec(), seen_ms: txn.now_ms(), active_ms: None, number };
        self.save_consumer(txn, group, &consumer)?;
        Ok(consumer)
    }

    /// Writes what has changed in a consumer.
    pub fn save_consumer(&self, txn: &mut Txn<'_>, group: &Group, consumer: &Consumer) -> Result<()> {
        let mut value = Vec::new();
        varint::put(&mut value, consumer.number);
        varint::put(&mut value, consumer.seen_ms);
        put_known(&mut value, consumer.active_ms);
        let subkey = subkey::joined(subkey::prefix(CONSUMER, &[group.number]), &consumer.name);
        txn.sub_put(self.db, self.key, &subkey, &value)?;
        Ok(())
    }

    /// Removes a consumer with all that it has pending, and returns how much that was.
    pub fn delete_consumer(&self, txn: &mut Txn<'_>, group: &Group, consumer: &Consumer) -> Result<u64> {
        let mut count = 0;
        let mut from = Some(StreamId::MIN);
        while let Some(first) = from {
            let page = self.owned_page(txn, group, consumer.number, (first, StreamId::MAX), usize::MAX)?;
            for id in &page {
                self.remove_pending(txn, group, *id, consumer.number)?;
            }
            count += page.len() as u64;
            from = page.last().and_then(|last| last.next());
        }
        let subkey = subkey::joined(subkey::prefix(CONSUMER, &[group.number]), &consumer.name);
        txn.sub_remove(self.db, self.key, &subkey)?;
        Ok(count)
    }

    /// Shows what stands behind a prefix, with its value.
    pub(super) fn with_prefix(
        &self,
        txn: &mut Txn<'_>,
        prefix: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<()> {
        let walk = SubWalk::up(Start::Subkey(prefix), Want::Values);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, value| match subkey.strip_prefix(prefix) {
            Some(rest) => {
                visit(rest, value);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        })?;
        Ok(())
    }
}

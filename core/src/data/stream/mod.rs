//! Streams: entries under ids that only grow, and groups of consumers that share them.
//!
//! A key of kind [`Kind::Stream`] has these families of subkeys, in which a number is eight bytes, big-endian, an id sixteen:
//!
//! ```text
//!  "e" id                           -> fields and values ([`fields`])                 an entry
//!  "g" name                         -> number, last id, entries read ([`group`])      a group
//!  "m"                              -> last id, counters … ([`facts`])                the stream itself
//!  "n" id                           -> nothing, or an id ([`node`], [`trim`])         an entry that begins a node
//!  "p" group, id                    -> owner, time, deliveries ([`pending`])          delivered, not acknowledged
//!  "q" group, consumer, id          -> nothing                                        the same by consumer
//!  "r" group, name                  -> number, two times ([`group`])                  a consumer
//! ```
//!
//! Groups and consumers have numbers, so that what is pending need not repeat their names; a number is never used twice in a
//! stream. The engine counts subkeys and entries come first: the length is the rank of the first byte after `e`, and what is
//! pending, in a group or for a consumer, is a difference of ranks. So XLEN, ranges, trimming and opening cost O(log n) and
//! what they return or remove, however long the stream.
//!
//! Adding an entry writes two records, the entry and the stream's facts: its last id outlives the entry, and clients are
//! told how many were ever added.
//!
//! Invariant: a stream has its `m` subkey, so unlike other collections it can be empty; every entry stands behind some `n`;
//! a `p` subkey has exactly one `q` subkey, that of the consumer its value names.
//!
//! A reader that waits for a stream waits for commits that change its key: [`Stream::append`] is what serves it, and
//! removing the key or its group is what sends it away.

mod facts;
mod fields;
mod group;
mod id;
mod mend;
mod node;
mod pending;
mod progress;
mod run;
mod subkey;
mod trim;
mod varint;
mod whole;

#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use super::{Result, root_of_kind};
use crate::engine::{Db, Direction, Kind, NewRoot, Start, SubWalk, Txn, Want};

use facts::Facts;
pub use fields::Fields;
pub use group::{Consumer, Group};
pub use id::{ID_BYTES, StreamId};
pub use node::NodeLimits;
use node::Tail;
pub use pending::{Owner, Pending};
pub use progress::Extent;
use subkey::{ENTRY, FACTS, GROUP, NODE, of_id};
pub use trim::{Trim, TrimTo};
pub use whole::Node;

/// The first byte behind all entries.
const AFTER_ENTRIES: &[u8] = &[ENTRY + 1];

/// A key that is a stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'k> {
    db: Db,
    key: &'k [u8],
    facts: Facts,
    /// Whether they were read from their subkey.
    has_facts: bool,
}

/// Sees an entry of a walk and says whether to go on.
pub type EntryVisitor<'v> = &'v mut dyn FnMut(StreamId, Fields<'_>) -> ControlFlow<()>;

impl<'k> Stream<'k> {
    /// The stream at a key, if the key is there.
    pub fn open(txn: &mut Txn<'_>, db: Db, key: &'k [u8]) -> Result<Option<Stream<'k>>> {
        if root_of_kind(txn, db, key, Kind::Stream)?.is_none() {
            return Ok(None);
        }
        let mut facts = None;
        let has_facts = txn.sub_read(db, key, &[FACTS], &mut |value| facts = Facts::from_bytes(value))?;
        Ok(Some(Stream { db, key, facts: facts.unwrap_or_default(), has_facts }))
    }

    /// Makes an empty stream where there is no key.
    pub fn create(txn: &mut Txn<'_>, db: Db, key: &'k [u8]) -> Result<Stream<'k>> {
        let stream = Stream { db, key, facts: Facts::default(), has_facts: false };
        txn.put(db, key, NewRoot::of(Kind::Stream), &[])?;
        stream.save(txn)?;
        Ok(stream)
    }

    /// The id of the last entry that was ever added, or what XSETID made of it.
    pub fn last_id(&self) -> StreamId {
        self.facts.last_id
    }

    /// The largest id that XDEL removed.
    pub fn max_deleted_id(&self) -> StreamId {
        self.facts.max_deleted_id
    }

    /// How many entries were ever added.
    pub fn entries_added(&self) -> i64 {
        self.facts.entries_added
    }

    /// Sets what adding and deleting entries have left behind.
    pub fn set_facts(
        &mut self,
        txn: &mut Txn<'_>,
        last_id: StreamId,
        entries_added: Option<i64>,
        max_deleted_id: Option<StreamId>,
    ) -> Result<()> {
        self.facts.last_id = last_id;
        self.facts.entries_added = entries_added.unwrap_or(self.facts.entries_added);
        self.facts.max_deleted_id = max_deleted_id.unwrap_or(self.facts.max_deleted_id);
        self.save(txn)
    }

    fn save(&self, txn: &mut Txn<'_>) -> Result<()> {
        let bytes = self.facts.to_bytes();
        if self.has_facts {
            txn.sub_replace(self.db, self.key, &[FACTS], &bytes)?;
        } else {
            txn.sub_put(self.db, self.key, &[FACTS], &bytes)?;
        }
        Ok(())
    }

    /// A number for a new group or consumer.
    fn take_number(&mut self, txn: &mut Txn<'_>) -> Result<u64> {
        let number = self.facts.next_number;
        // As many numbers as there are 64-bit ones: nobody lives to see the last.
        self.facts.next_number = number.wrapping_add(1);
        self.save(txn)?;
        Ok(number)
    }

    /// Number of entries.
    pub fn len(&self, txn: &mut Txn<'_>) -> Result<u64> {
        Ok(txn.sub_rank(self.db, self.key, AFTER_ENTRIES)?)
    }

    /// Number of groups.
    pub fn group_count(&self, txn: &mut Txn<'_>) -> Result<u64> {
        let groups = self.ranks_of(txn, &[GROUP])?;
        Ok(groups.end - groups.start)
    }

    /// Number of nodes Redis would have.
    pub fn node_count(&self, txn: &mut Txn<'_>) -> Result<u64> {
        let nodes = self.ranks_of(txn, &[NODE])?;
        Ok(nodes.end - nodes.start)
    }

    /// The ranks of all subkeys with a prefix.
    fn ranks_of(&self, txn: &mut Txn<'_>, prefix: &[u8]) -> Result<Range<u64>> {
        let start = txn.sub_rank(self.db, self.key, prefix)?;
        let after = subkey::after(prefix.into());
        let end = txn.sub_rank(self.db, self.key, &after)?;
        Ok(start..end.max(start))
    }

    /// Adds an entry (field, value, field, value …) with an id that is larger than [`last_id`](Self::last_id). The commit
    /// wakes the clients that wait for entries of this key.
    pub fn append(
        &mut self,
        txn: &mut Txn<'_>,
        id: StreamId,
        texts: &[&[u8]],
        limits: NodeLimits,
    ) -> Result<()> {
        let before = self.facts.tail;
        let tail = Tail::with(before, id, texts, limits);
        if before.is_none_or(|before| before.first != tail.first) {
            txn.sub_put(self.db, self.key, &of_id(NODE, id), &[])?;
        }
        self.facts.tail = Some(tail);
        self.facts.last_id = id;
        self.facts.entries_added = self.facts.entries_added.wrapping_add(1);
        // As its form, and as a change.
        txn.budget().ask(2, texts.iter().map(|text| text.len() as u64).sum())?;
        txn.sub_add(self.db, self.key, &of_id(ENTRY, id), &fields::encode(texts))?;
        self.save(txn)
    }

    /// Whether there is an entry with this id.
    pub fn contains(&self, txn: &mut Txn<'_>, id: StreamId) -> Result<bool> {
        Ok(txn.sub_contains(self.db, self.key, &of_id(ENTRY, id))?)
    }

    /// Shows the entry with this id; false if there is none.
    pub fn read(
        &self,
        txn: &mut Txn<'_>,
        id: StreamId,
        visit: &mut dyn FnMut(StreamId, Fields<'_>),
    ) -> Result<bool> {
        let subkey = of_id(ENTRY, id);
        Ok(txn.sub_read(self.db, self.key, &subkey, &mut |value| visit(id, Fields::of(value)))?)
    }

    /// Shows the entries from `first` to `last`, both included, in either direction until the visitor breaks; the caller
    /// expects to see so many.
    pub fn scan(
        &self,
        txn: &mut Txn<'_>,
        (first, last): (StreamId, StreamId),
        direction: Direction,
        expect: u64,
        visit: EntryVisitor<'_>,
    ) -> Result<()> {
        let begin = match direction {
            Direction::Ascending => first,
            Direction::Descending => last,
        };
        let subkey = of_id(ENTRY, begin);
        let walk = SubWalk::new(Start::Subkey(&subkey), direction, Want::Values).expecting(expect);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, value| match subkey::id_in(ENTRY, subkey)
            .filter(|id| (first..=last).contains(id))
        {
            Some(id) => visit(id, Fields::of(value)),
            None => ControlFlow::Break(()),
        })?;
        Ok(())
    }

    /// The id of the first entry that is there.
    pub fn first_entry_id(&self, txn: &mut Txn<'_>) -> Result<Option<StreamId>> {
        self.id_from(txn, ENTRY, StreamId::MIN, Direction::Ascending)
    }

    /// The id of the last entry that is there.
    pub fn last_entry_id(&self, txn: &mut Txn<'_>) -> Result<Option<StreamId>> {
        self.id_from(txn, ENTRY, StreamId::MAX, Direction::Descending)
    }

    /// The first id of an entry or node from `id` on; itself if it is there.
    fn id_from(
        &self,
        txn: &mut Txn<'_>,
        family: u8,
        id: StreamId,
        direction: Direction,
    ) -> Result<Option<StreamId>> {
        let subkey = of_id(family, id);
        let mut found = None;
        let walk = SubWalk::new(Start::Subkey(&subkey), direction, Want::Subkeys).expecting(1);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, _| {
            found = subkey::id_in(family, subkey);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// Number of entries with ids below this one.
    fn rank_of(&self, txn: &mut Txn<'_>, id: StreamId) -> Result<u64> {
        Ok(txn.sub_rank(self.db, self.key, &of_id(ENTRY, id))?)
    }

    /// Removes an entry; true if it was there. The stream stays, even without entries.
    pub fn delete(&mut self, txn: &mut Txn<'_>, id: StreamId) -> Result<bool> {
        if !txn.sub_remove(self.db, self.key, &of_id(ENTRY, id))? {
            return Ok(false);
        }
        self.leave_node(txn, id)?;
        if id > self.facts.max_deleted_id {
            self.facts.max_deleted_id = id;
        }
        self.save(txn)?;
        Ok(true)
    }
}

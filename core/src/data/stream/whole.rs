//! Streams as wholes, node by node: what is written of one elsewhere, and made of what was written.

use std::ops::ControlFlow;

use super::node::{Tail, fields_hash};
use super::subkey::{self, ENTRY, NODE, of_id};
use super::{Fields, Result, Stream, StreamId, fields};
use crate::engine::{Direction, Start, SubWalk, Txn, Want};

/// A node that is restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'n> {
    /// The id of the first entry it has had.
    pub first: StreamId,
    /// The fields of that entry.
    pub fields: &'n [&'n [u8]],
    /// How many entries it has had.
    pub entries: u64,
    /// Its length as a listpack.
    pub size_bytes: u64,
    /// The id of the last entry it has had, if that was deleted.
    pub last_deleted: Option<StreamId>,
}

impl Stream<'_> {
    /// Shows all entries, each with the first id its node has had, until the visitor breaks.
    pub fn scan_nodes(
        &self,
        txn: &mut Txn<'_>,
        visit: &mut dyn FnMut(StreamId, StreamId, Fields<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut nodes = Vec::new();
        let walk = SubWalk::up(Start::Subkey(&[NODE]), Want::Subkeys);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, _| match subkey::id_in(NODE, subkey) {
            Some(first) => {
                nodes.push(first);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        })?;
        let mut nodes = nodes.into_iter().peekable();
        let mut node = StreamId::MIN;
        let all = (StreamId::MIN, StreamId::MAX);
        self.scan(txn, all, Direction::Ascending, u64::MAX, &mut |id, fields| {
            while let Some(next) = nodes.next_if(|next| *next <= id) {
                node = next;
            }
            visit(node, id, fields)
        })
    }

    /// Puts an entry (field, value, field, value …) where there is none, beside [`restore_node`](Self::restore_node). Nothing
    /// counts it.
    pub fn restore_entry(&self, txn: &mut Txn<'_>, id: StreamId, texts: &[&[u8]]) -> Result<()> {
        txn.sub_add(self.db, self.key, &of_id(ENTRY, id), &fields::encode(texts))?;
        Ok(())
    }

    /// Marks a node that has entries, behind all others. The next entry goes to the last one if it has room.
    pub fn restore_node(&mut self, txn: &mut Txn<'_>, node: &Node<'_>) -> Result<()> {
        let deleted = node.last_deleted.map(StreamId::to_bytes);
        let value = deleted.as_ref().map_or(&[][..], |id| id);
        txn.sub_put(self.db, self.key, &of_id(NODE, node.first), value)?;
        self.facts.tail = Some(Tail {
            first: node.first,
            fields: fields_hash(node.fields.iter().copied()),
            entries: node.entries,
            size_bytes: node.size_bytes,
        });
        self.save(txn)
    }
}

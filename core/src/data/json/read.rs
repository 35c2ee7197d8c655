//! Reading pieces.

use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use super::{Document, end_of, header_of, part_of, parts_of};
use crate::data::{DataError, Result};
use crate::engine::{Start, SubWalk, Want};
use crate::json::node::{Node, Pieces, Stopped};
use crate::packed::varint::read_varint;
use crate::sorted;

/// A part of an array or object as it is stored.
pub(super) struct Part {
    pub subkey: Vec<u8>,
    /// The bytes behind the subkey.
    pub value: Vec<u8>,
}

/// The order of a member, and its value.
pub(super) fn read_member(value: &[u8]) -> Option<(u64, &[u8])> {
    let mut packed = value;
    let order = read_varint(&mut packed)?;
    Some((order, packed))
}

impl Document<'_, '_> {
    /// The ranks of the parts of an array or object.
    pub(super) fn ranks(&mut self, number: u64) -> Result<Range<u64>> {
        let from = self.txn.sub_rank(self.db, self.key, &parts_of(number))?;
        Ok(from..self.txn.sub_rank(self.db, self.key, &end_of(number))?)
    }

    /// Parts with these ranks.
    pub(super) fn parts(&mut self, ranks: Range<u64>) -> Result<Vec<Part>> {
        let mut left = ranks.end.saturating_sub(ranks.start);
        let mut parts = Vec::new();
        if left == 0 {
            return Ok(parts);
        }
        let walk = SubWalk::up(Start::Rank(ranks.start), Want::Values).expecting(left);
        self.txn.sub_scan(self.db, self.key, walk, &mut |subkey, value| {
            parts.push(Part { subkey: subkey.to_vec(), value: value.to_vec() });
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if left == 0 { Ok(parts) } else { Err(self.damage()) }
    }

    /// The element of an array with this index.
    pub(super) fn element_part(&mut self, number: u64, index: u64) -> Result<Option<Part>> {
        let ranks = self.ranks(number)?;
        let rank = ranks.start.saturating_add(index);
        if rank >= ranks.end {
            return Ok(None);
        }
        Ok(self.parts(rank..rank + 1)?.pop())
    }

    /// The member of an object with this name.
    pub(super) fn member_part(&mut self, number: u64, name: &str) -> Result<Option<Part>> {
        let subkey = part_of(number, name.as_bytes());
        let value = self.txn.sub_value(self.db, self.key, &subkey)?;
        Ok(value.map(|value| Part { subkey, value }))
    }

    /// The value of a member.
    fn member_node(&mut self, part: &Part) -> Result<(u64, Node)> {
        match read_member(&part.value) {
            Some((order, packed)) => Ok((order, Node::new(packed))),
            None => Err(self.damage()),
        }
    }

    fn sorted_members(&mut self, number: u64) -> Result<Vec<(Rc<str>, Node)>> {
        let ranks = self.ranks(number)?;
        let parts = self.parts(ranks)?;
        let mut members = Vec::with_capacity(parts.len());
        for part in &parts {
            let (order, node) = self.member_node(part)?;
            let name = part.subkey.get(parts_of(number).len()..).unwrap_or_default();
            let Ok(name) = std::str::from_utf8(name) else { return Err(self.damage()) };
            members.push((order, Rc::from(name), node));
        }
        sorted::all(&mut members, |(one, ..), (other, ..)| one.cmp(other));
        Ok(members.into_iter().map(|(_, name, node)| (name, node)).collect())
    }

    /// A result as the walks through values know it; the reason stays here.
    fn told<T>(&mut self, result: Result<T>) -> std::result::Result<T, Stopped> {
        result.map_err(|error| {
            self.failed = Some(error);
            Stopped
        })
    }
}

impl Pieces for Document<'_, '_> {
    fn text(&mut self, number: u64) -> std::result::Result<Node, Stopped> {
        let read = self.txn.sub_value(self.db, self.key, &header_of(number)).map_err(DataError::from);
        match self.told(read)? {
            Some(packed) => Ok(Node::new(packed)),
            None => Err(self.damaged()),
        }
    }

    fn count(&mut self, number: u64) -> std::result::Result<u64, Stopped> {
        let ranks = self.ranks(number);
        self.told(ranks).map(|ranks| ranks.end - ranks.start)
    }

    fn member(&mut self, number: u64, name: &str) -> std::result::Result<Option<Node>, Stopped> {
        let part = self.member_part(number, name);
        let Some(part) = self.told(part)? else { return Ok(None) };
        let read = self.member_node(&part);
        self.told(read).map(|(_, node)| Some(node))
    }

    fn element(&mut self, number: u64, index: u64) -> std::result::Result<Option<Node>, Stopped> {
        let part = self.element_part(number, index);
        Ok(self.told(part)?.map(|part| Node::new(part.value)))
    }

    fn elements(&mut self, number: u64) -> std::result::Result<Vec<Node>, Stopped> {
        let read = self.ranks(number).and_then(|ranks| self.parts(ranks));
        Ok(self.told(read)?.into_iter().map(|part| Node::new(part.value)).collect())
    }

    fn members(&mut self, number: u64) -> std::result::Result<Vec<(Rc<str>, Node)>, Stopped> {
        let read = self.sorted_members(number);
        self.told(read)
    }

    fn damaged(&mut self) -> Stopped {
        self.failed = Some(self.damage());
        Stopped
    }
}

//! Changing parts of documents.

use std::ops::Range;

use super::read::read_member;
use super::{CUT, Document, FIRST, HEAD, PIECE_BYTES, VERSION, WHOLE, fits, header_of, part_of, parts_of};
use crate::data::Result;
use crate::data::position::Position;
use crate::json::edit;
use crate::json::node::{Node, Step};
use crate::json::packed::{self, Large, Shape};
use crate::packed::varint::{read_varint, write_varint};

/// The elements of an array that was numbered anew stand so far from each other.
const GAP: i64 = 1 << 16;

/// Where a fragment is stored.
enum Slot {
    /// In the root, or in the head.
    Top,
    /// In a subkey of its own; members of objects with their order.
    Part { subkey: Vec<u8>, order: Option<u64> },
}

/// A place in a document.
struct Located {
    slot: Slot,
    /// The piece that it stands in.
    fragment: Node,
    /// The steps from there.
    inner: Vec<Step>,
    /// The value at the place.
    target: Node,
}

impl Document<'_, '_> {
    /// Replaces the whole document.
    ///
    /// # Errors
    /// The engine's.
    pub fn replace(&mut self, value: &[u8]) -> Result<()> {
        // What is cut is dropped with the root.
        self.is_cut = false;
        self.store(&Slot::Top, value)
    }

    /// Replaces the value at a place; false if there is none.
    ///
    /// # Errors
    /// The engine's; or the document is damaged.
    pub fn set(&mut self, place: &[Step], value: &[u8]) -> Result<bool> {
        if place.is_empty() {
            return self.replace(value).map(|()| true);
        }
        let Some(located) = self.locate(place)? else { return Ok(false) };
        self.drop_pieces(located.target.bytes())?;
        self.edit(&located, &mut |_| Some(value.to_vec()))?;
        Ok(true)
    }

    /// Gives the object at a place one more member, whose name is not there; false if there is no object at the place.
    ///
    /// # Errors
    /// The engine's; or the document is damaged.
    pub fn add_member(&mut self, place: &[Step], name: &str, value: &[u8]) -> Result<bool> {
        let Some(located) = self.locate(place)? else { return Ok(false) };
        match packed::shape(located.target.bytes()) {
            Some(Shape::Object(members)) => {
                self.edit(&located, &mut |_| Some(edit::with_member(members, name, value)))?;
            }
            Some(Shape::Elsewhere(Large::Object, number)) => {
                self.begin()?;
                self.put_member(number, name, value)?;
                self.end()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Removes the value at a place, which is not the whole document; false if there is none.
    ///
    /// # Errors
    /// The engine's; or the document is damaged.
    pub fn remove(&mut self, place: &[Step]) -> Result<bool> {
        let Some((step, parent)) = place.split_last() else { return Ok(false) };
        match step {
            Step::Index(index) => self.splice(parent, *index..index.saturating_add(1), &[]),
            Step::Name(name) => self.remove_member(parent, name),
        }
    }

    fn remove_member(&mut self, place: &[Step], name: &str) -> Result<bool> {
        let Some(located) = self.locate(place)? else { return Ok(false) };
        match packed::shape(located.target.bytes()) {
            Some(Shape::Object(mut members)) => {
                let all = members;
                let Some((_, value)) = members.find(|(other, _)| *other == name) else { return Ok(false) };
                self.drop_pieces(value)?;
                self.edit(&located, &mut |_| Some(edit::without_member(all, name)))?;
            }
            Some(Shape::Elsewhere(Large::Object, number)) => {
                let Some(part) = self.member_part(number, name)? else { return Ok(false) };
                let Some((_, value)) = read_member(&part.value) else { return Err(self.damage()) };
                self.drop_pieces(value)?;
                self.txn.sub_remove(self.db, self.key, &part.subkey)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Puts others in place of some elements of the array at a place; an empty range, which lies in the array or at its end, is where they
    /// are inserted. False if there is no array at the place, or no such elements.
    ///
    /// # Errors
    /// The engine's; or the document is damaged.
    pub fn splice(&mut self, place: &[Step], replaced: Range<u64>, by: &[&[u8]]) -> Result<bool> {
        let Some(located) = self.locate(place)? else { return Ok(false) };
        match packed::shape(located.target.bytes()) {
            Some(Shape::Array(elements)) => {
                if replaced.end > elements.left() {
                    return Ok(false);
                }
                let count = usize::try_from(replaced.end - replaced.start).unwrap_or(usize::MAX);
                let skipped = usize::try_from(replaced.start).unwrap_or(usize::MAX);
                for element in elements.skip(skipped).take(count) {
                    self.drop_pieces(element)?;
                }
                self.put_array(&located, &edit::with_elements(elements, replaced, by))?;
            }
            Some(Shape::Elsewhere(Large::Array, number)) => {
                let ranks = self.ranks(number)?;
                if replaced.end > ranks.end - ranks.start {
                    return Ok(false);
                }
                self.begin()?;
                self.remove_run(ranks.start + replaced.start..ranks.start + replaced.end)?;
                for (index, element) in (replaced.start..).zip(by) {
                    let element = self.place(element)?;
                    let position = self.position_at(number, index)?;
                    self.txn.sub_add(self.db, self.key, &part_of(number, &position.encode()), &element)?;
                }
                self.end()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Puts an array in place of one in a piece. Numbers that change one by one are no vector, so they are cut like other elements.
    fn put_array(&mut self, located: &Located, array: &[u8]) -> Result<()> {
        if array.len() <= PIECE_BYTES || !fits(array) {
            return self.edit(located, &mut |_| Some(array.to_vec()));
        }
        if !self.is_cut {
            // Nothing else than the whole document is so large and not cut.
            self.begin_cut()?;
        }
        self.begin()?;
        let elsewhere = self.cut(array)?;
        self.edit(located, &mut |_| Some(elsewhere.clone()))
    }

    /// The value at a place, if there is one.
    ///
    /// # Errors
    /// The engine's; or the document is damaged.
    pub fn at(&mut self, place: &[Step]) -> Result<Option<Node>> {
        Ok(self.locate(place)?.map(|located| located.target))
    }

    fn locate(&mut self, place: &[Step]) -> Result<Option<Located>> {
        let top = self.top()?;
        let mut located = Located { slot: Slot::Top, fragment: top.clone(), inner: Vec::new(), target: top };
        for step in place {
            let shape = packed::shape(located.target.bytes());
            let part = match (shape, step) {
                (Some(Shape::Elsewhere(Large::Array, number)), Step::Index(index)) => {
                    self.element_part(number, *index)?
                }
                (Some(Shape::Elsewhere(Large::Object, number)), Step::Name(name)) => {
                    self.member_part(number, name)?
                }
                _ => {
                    let target = match step {
                        Step::Index(index) => {
                            let index = i64::try_from(*index).unwrap_or(i64::MAX);
                            located.target.element(index, self).map(|found| found.map(|(_, node)| node))
                        }
                        Step::Name(name) => located.target.member(name, self),
                    };
                    let target = target.map_err(|stopped| self.stopped(stopped))?;
                    let Some(target) = target else { return Ok(None) };
                    located.target = target;
                    located.inner.push(step.clone());
                    continue;
                }
            };
            let Some(part) = part else { return Ok(None) };
            let (order, packed) = match step {
                Step::Index(_) => (None, part.value.as_slice()),
                Step::Name(_) => match read_member(&part.value) {
                    Some((order, packed)) => (Some(order), packed),
                    None => return Err(self.damage()),
                },
            };
            let node = Node::new(packed);
            let slot = Slot::Part { subkey: part.subkey, order };
            located = Located { slot, fragment: node.clone(), inner: Vec::new(), target: node };
        }
        Ok(Some(located))
    }

    /// Changes the value at a place within its piece.
    fn edit(&mut self, located: &Located, edit: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>) -> Result<()> {
        match edit::change(located.fragment.bytes(), &located.inner, edit) {
            Some(fragment) => self.store(&located.slot, &fragment),
            None => Err(self.damage()),
        }
    }

    fn store(&mut self, slot: &Slot, fragment: &[u8]) -> Result<()> {
        match slot {
            Slot::Top if !self.is_cut && fits(fragment) => {
                let value = [&[VERSION], fragment].concat();
                Ok(self.txn.put(self.db, self.key, self.new_root(WHOLE), &value)?)
            }
            Slot::Top => {
                if !self.is_cut {
                    self.begin_cut()?;
                }
                self.begin()?;
                let fragment = self.place(fragment)?;
                self.put_head(&fragment)
            }
            Slot::Part { subkey, order } => {
                self.begin()?;
                let fragment = self.place(fragment)?;
                let value = order.map_or_else(|| fragment.clone(), |order| member(order, &fragment));
                self.txn.sub_put(self.db, self.key, subkey, &value)?;
                self.end()
            }
        }
    }

    /// Makes the document one that is cut, without anything in it yet.
    fn begin_cut(&mut self) -> Result<()> {
        self.txn.put(self.db, self.key, self.new_root(CUT), &[VERSION])?;
        (self.is_cut, self.next) = (true, Some(FIRST));
        Ok(())
    }

    /// Looks which number the next piece has.
    fn begin(&mut self) -> Result<()> {
        if self.next.is_none() {
            self.next = Some(self.head()?.0);
        }
        Ok(())
    }

    /// Notes which number the next piece has now.
    fn end(&mut self) -> Result<()> {
        let (next, packed) = self.head()?;
        if self.next == Some(next) { Ok(()) } else { self.put_head(&packed) }
    }

    fn put_head(&mut self, packed: &[u8]) -> Result<()> {
        let mut head = Vec::with_capacity(packed.len() + 4);
        write_varint(self.next.unwrap_or(FIRST), &mut head);
        head.extend_from_slice(packed);
        self.txn.sub_put(self.db, self.key, &HEAD, &head)?;
        Ok(())
    }

    /// A number for what gets pieces of its own.
    fn number(&mut self) -> Result<u64> {
        let number = self.next.unwrap_or(FIRST);
        if number > u64::from(u32::MAX) {
            return Err(self.damage());
        }
        self.next = Some(number + 1);
        Ok(number)
    }

    /// A value as it stands in a piece: cut, if it is too large for one. Calls itself as deep as documents may be.
    fn place(&mut self, value: &[u8]) -> Result<Vec<u8>> {
        if fits(value) { Ok(value.to_vec()) } else { self.cut(value) }
    }

    /// Gives a value pieces of its own; what stands in its place.
    fn cut(&mut self, value: &[u8]) -> Result<Vec<u8>> {
        let (large, number) = match packed::shape(value) {
            Some(Shape::Text(_)) => {
                let number = self.number()?;
                self.txn.sub_add(self.db, self.key, &header_of(number), value)?;
                (Large::Text, number)
            }
            Some(Shape::Array(elements)) => {
                let number = self.number()?;
                for (at, element) in (0..).zip(elements) {
                    let element = self.place(element)?;
                    let subkey = part_of(number, &Position::whole(at).encode());
                    self.txn.sub_add(self.db, self.key, &subkey, &element)?;
                }
                (Large::Array, number)
            }
            Some(Shape::Object(members)) => {
                let number = self.number()?;
                let count = members.left();
                for (order, (name, value)) in (0..).zip(members) {
                    let value = member(order, &self.place(value)?);
                    self.txn.sub_add(self.db, self.key, &part_of(number, name.as_bytes()), &value)?;
                }
                self.put_order(number, count)?;
                (Large::Object, number)
            }
            // Digits of a number that has very many.
            Some(Shape::Number(_)) => return Ok(value.to_vec()),
            _ => return Err(self.damage()),
        };
        let mut elsewhere = Vec::new();
        packed::write_elsewhere(large, number, &mut elsewhere);
        Ok(elsewhere)
    }

    fn put_member(&mut self, number: u64, name: &str, value: &[u8]) -> Result<()> {
        let header = self.txn.sub_value(self.db, self.key, &header_of(number))?;
        let order = header.and_then(|header| read_varint(&mut header.as_slice()));
        let Some(order) = order else { return Err(self.damage()) };
        let value = member(order, &self.place(value)?);
        self.txn.sub_put(self.db, self.key, &part_of(number, name.as_bytes()), &value)?;
        self.put_order(number, order + 1)
    }

    fn put_order(&mut self, number: u64, next: u64) -> Result<()> {
        let mut order = Vec::new();
        write_varint(next, &mut order);
        self.txn.sub_put(self.db, self.key, &header_of(number), &order)?;
        Ok(())
    }

    /// Removes the pieces of a value that is about to go. Calls itself as deep as documents may be.
    fn drop_pieces(&mut self, value: &[u8]) -> Result<()> {
        match packed::shape(value) {
            Some(Shape::Array(elements)) => {
                for element in elements {
                    self.drop_pieces(element)?;
                }
            }
            Some(Shape::Object(members)) => {
                for (_, value) in members {
                    self.drop_pieces(value)?;
                }
            }
            Some(Shape::Elsewhere(large, number)) => {
                let ranks = self.ranks(number)?;
                for part in self.parts(ranks.clone())? {
                    let value = match large {
                        Large::Object => read_member(&part.value).map(|(_, value)| value),
                        Large::Array | Large::Text => Some(part.value.as_slice()),
                    };
                    self.drop_pieces(value.unwrap_or_default())?;
                }
                self.txn.sub_remove_run(self.db, self.key, ranks)?;
                self.txn.sub_remove(self.db, self.key, &header_of(number))?;
            }
            Some(_) => {}
            None => return Err(self.damage()),
        }
        Ok(())
    }

    /// Removes elements with these ranks, and their pieces.
    fn remove_run(&mut self, ranks: Range<u64>) -> Result<()> {
        for part in self.parts(ranks.clone())? {
            self.drop_pieces(&part.value)?;
        }
        self.txn.sub_remove_run(self.db, self.key, ranks)?;
        Ok(())
    }

    /// A position for an element that is to have this index.
    fn position_at(&mut self, number: u64, index: u64) -> Result<Position> {
        loop {
            let ranks = self.ranks(number)?;
            let before = match index.checked_sub(1) {
                Some(before) => self.position(ranks.start + before)?,
                None => None,
            };
            let behind = match ranks.start + index < ranks.end {
                true => self.position(ranks.start + index)?,
                false => None,
            };
            let found = match (before, behind) {
                (None, None) => Some(Position::whole(0)),
                (Some(before), None) => before.above(),
                (None, Some(behind)) => behind.below(),
                (Some(before), Some(behind)) => Position::between(before, behind),
            };
            match found {
                Some(position) => return Ok(position),
                None => self.renumber(number)?,
            }
        }
    }

    fn position(&mut self, rank: u64) -> Result<Option<Position>> {
        let subkey = self.txn.sub_select(self.db, self.key, rank)?.unwrap_or_default();
        match subkey.get(parts_of(0).len()..).and_then(Position::decode) {
            Some(position) => Ok(Some(position)),
            None => Err(self.damage()),
        }
    }

    /// Gives the elements of an array new positions, with room between them.
    fn renumber(&mut self, number: u64) -> Result<()> {
        let ranks = self.ranks(number)?;
        let parts = self.parts(ranks.clone())?;
        self.txn.sub_remove_run(self.db, self.key, ranks)?;
        for (at, part) in (0..).zip(parts) {
            let position = Position::whole(GAP.saturating_mul(at));
            self.txn.sub_put(self.db, self.key, &part_of(number, &position.encode()), &part.value)?;
        }
        Ok(())
    }
}

/// A member as it is stored.
fn member(order: u64, value: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(value.len() + 2);
    write_varint(order, &mut stored);
    stored.extend_from_slice(value);
    stored
}

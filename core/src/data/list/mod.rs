//! Lists: a root of kind list, and one subkey an element, whose bytes say where it stands (`data/position.rs`) and whose
//! value is the element.
//!
//! The engine counts, so an index is a rank and positions may have gaps: pushes and pops touch one subkey at an end,
//! indexes are found in O(log n), LINSERT finds a position between two others and renumbers nothing (nearly always, see
//! [`spread`]), and a trim deletes only what it drops. A list is never read whole to answer for a part, and one that has
//! lost its last element has lost its root.

mod encoding;
mod spread;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use super::position::Position;
use super::{Result, root_of_kind};
use crate::engine::{Db, Direction, EngineError, Kind, NewRoot, Start, SubVisitor, SubWalk, Txn, Want};

/// Asks for the setting `list-max-listpack-size`; only called when it matters, since settings are not free.
pub type Fill<'f> = &'f dyn Fn() -> i64;

/// Sees elements.
pub type ElementVisitor<'v> = &'v mut dyn FnMut(&[u8]);

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where index 0 is (LEFT).
    Head,
    /// Where index -1 is (RIGHT).
    Tail,
}

/// One of the two sides of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Towards the head.
    Before,
    /// Towards the tail.
    After,
}

/// A list inside a transaction. It has at least one element, except between its making and the first push.
pub struct List<'t, 'e> {
    txn: &'t mut Txn<'e>,
    db: Db,
    key: &'t [u8],
    encoding: u8,
    expires_at_ms: Option<u64>,
}

impl End {
    /// The direction of a walk that begins here.
    fn direction(self) -> Direction {
        match self {
            End::Head => Direction::Ascending,
            End::Tail => Direction::Descending,
        }
    }

    /// A walk that begins here.
    fn walk(self, want: Want) -> SubWalk<'static> {
        SubWalk::new(Start::End, self.direction(), want)
    }
}

impl<'t, 'e> List<'t, 'e> {
    /// The list under a key, if the key is there.
    pub fn open(txn: &'t mut Txn<'e>, db: Db, key: &'t [u8]) -> Result<Option<List<'t, 'e>>> {
        let root = root_of_kind(txn, db, key, Kind::List)?;
        Ok(root.map(|root| List { txn, db, key, encoding: root.encoding, expires_at_ms: root.expires_at_ms }))
    }

    /// Makes the key an empty list, whatever it was before. The caller must add elements: no list is ever empty.
    pub fn make(txn: &'t mut Txn<'e>, db: Db, key: &'t [u8]) -> Result<List<'t, 'e>> {
        let root = NewRoot::of(Kind::List);
        txn.put(db, key, root, &[])?;
        Ok(List { txn, db, key, encoding: root.encoding, expires_at_ms: None })
    }

    /// The list under a key; a key that is not there becomes a list, to which an element must be pushed.
    pub fn open_or_make(txn: &'t mut Txn<'e>, db: Db, key: &'t [u8]) -> Result<List<'t, 'e>> {
        let root = root_of_kind(txn, db, key, Kind::List)?;
        if root.is_none() {
            txn.put(db, key, NewRoot::of(Kind::List), &[])?;
        }
        let (encoding, expires_at_ms) = root.map_or((0, None), |root| (root.encoding, root.expires_at_ms));
        Ok(List { txn, db, key, encoding, expires_at_ms })
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "a list that is there is never empty")]
    pub fn len(&mut self) -> Result<u64> {
        Ok(self.txn.sub_len(self.db, self.key)?)
    }

    /// Puts elements at an end, one after the other, and returns how many there are then.
    pub fn push(&mut self, end: End, elements: &[&[u8]], fill: Fill<'_>) -> Result<u64> {
        let (len, count) = (self.len()?, elements.len() as u64);
        let size_bytes = elements.iter().map(|element| element.len() as u64).sum();
        self.before_growth(len, count, size_bytes, fill)?;
        let mut last = if len == 0 { None } else { self.outermost(end)? };
        for element in elements {
            let position = match (last, end) {
                (None, _) => Some(Position::START),
                (Some(first), End::Head) => first.below(),
                (Some(last), End::Tail) => last.above(),
            };
            let position = position.ok_or_else(positions_used_up)?;
            self.txn.sub_add(self.db, self.key, &position.encode(), element)?;
            last = Some(position);
        }
        Ok(len + count)
    }

    /// Takes up to `count` elements from an end, shows them and returns how many there were.
    pub fn pop(&mut self, end: End, count: u64, fill: Fill<'_>, visit: ElementVisitor<'_>) -> Result<u64> {
        let len = self.len()?;
        let taken = count.min(len);
        let mut taken_bytes = 0;
        let mut visit = |element: &[u8]| {
            taken_bytes += element.len() as u64;
            visit(element);
        };
        if taken == len {
            self.walk(Start::End, end.direction(), len, &mut visit)?;
            self.txn.remove(self.db, self.key)?;
        } else if taken == 1 {
            // The usual case needs no list of positions.
            let outermost = self.first(end, &mut visit)?;
            self.remove_all(outermost.as_slice())?;
            self.after_shrink(len - 1, taken_bytes, fill)?;
        } else if taken > 0 {
            let mut positions = Vec::new();
            self.scan(end.walk(Want::Values).expecting(taken).to_change(), &mut |position, element| {
                visit(element);
                positions.push(position);
                more_until(positions.len() as u64 == taken)
            })?;
            self.remove_all(&positions)?;
            self.after_shrink(len - taken, taken_bytes, fill)?;
        }
        Ok(taken)
    }

    /// Takes the element at one end, shows it and puts it at an end again. The list is never empty in between, so it
    /// keeps its expiry.
    pub fn rotate(&mut self, from: End, to: End, visit: ElementVisitor<'_>) -> Result<()> {
        let mut element = Vec::new();
        // What is missing of both ends is fetched together.
        let position = self.first(from, &mut |shown| element.extend_from_slice(shown));
        let last = self.outermost(to);
        let Some(position) = position? else { return Ok(()) };
        let last = last?.unwrap_or(position);
        let next = if to == End::Head { last.below() } else { last.above() };
        self.put(next.ok_or_else(positions_used_up)?, &element)?;
        visit(&element);
        self.remove_all(&[position])
    }

    /// Shows the element at an index, which may count from the end; false if there is none.
    pub fn get(&mut self, index: i64, visit: ElementVisitor<'_>) -> Result<bool> {
        let Some(rank) = self.rank(index)? else { return Ok(false) };
        self.walk(Start::Rank(rank), Direction::Ascending, 1, visit)?;
        Ok(true)
    }

    /// Replaces the element at an index, which may count from the end; false if there is none.
    pub fn set(&mut self, index: i64, element: &[u8], fill: Fill<'_>) -> Result<bool> {
        let Some(rank) = self.rank(index)? else { return Ok(false) };
        let len = self.len()?;
        self.before_growth(len, 1, element.len() as u64, fill)?;
        let position = self.select(rank)?;
        self.put(position, element)?;
        self.after_shrink(len, 0, fill)?;
        Ok(true)
    }

    /// Shows `count` elements from rank `from` on, which must be there.
    pub fn range(&mut self, from: u64, count: u64, visit: ElementVisitor<'_>) -> Result<()> {
        // The end of a list needs no search for a rank.
        let start = if from == 0 { Start::End } else { Start::Rank(from) };
        self.walk(start, Direction::Ascending, count, visit)
    }

    /// Keeps only the elements with a rank in `kept` (first, one behind the last), which must be there.
    pub fn trim(&mut self, kept: Option<(u64, u64)>, fill: Fill<'_>) -> Result<()> {
        let len = self.len()?;
        let Some((from, to)) = kept else {
            self.txn.remove(self.db, self.key)?;
            return Ok(());
        };
        let mut dropped = Vec::new();
        for (end, count) in [(End::Head, from), (End::Tail, len.saturating_sub(to))] {
            let before = dropped.len() as u64;
            if count > 0 {
                self.scan(end.walk(Want::Subkeys).expecting(count), &mut |position, _| {
                    dropped.push(position);
                    more_until(dropped.len() as u64 - before == count)
                })?;
            }
        }
        if dropped.is_empty() {
            return Ok(());
        }
        self.remove_all(&dropped)?;
        self.after_shrink(to - from, 0, fill)
    }

    /// Removes up to `count` elements equal to one, from an end on, and returns how many went.
    pub fn remove(&mut self, end: End, count: u64, element: &[u8], fill: Fill<'_>) -> Result<u64> {
        let mut found = Vec::new();
        self.scan(end.walk(Want::Values), &mut |position, other| {
            if other == element {
                found.push(position);
            }
            more_until(found.len() as u64 == count)
        })?;
        if found.is_empty() {
            return Ok(0);
        }
        let (len, removed) = (self.len()?, found.len() as u64);
        if removed == len {
            self.txn.remove(self.db, self.key)?;
        } else {
            self.remove_all(&found)?;
            self.after_shrink(len - removed, removed.saturating_mul(element.len() as u64), fill)?;
        }
        Ok(removed)
    }

    /// Walks up to `compared` elements from an end on and shows the index of each that is equal to one, until told to
    /// stop.
    pub fn find(
        &mut self,
        end: End,
        compared: u64,
        element: &[u8],
        visit: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<()> {
        let len = self.len()?;
        let mut walked = 0;
        self.scan(end.walk(Want::Values).expecting(compared), &mut |_, other| {
            if other == element {
                visit(if end == End::Head { walked } else { len - 1 - walked })?;
            }
            walked += 1;
            more_until(walked == compared)
        })
    }

    /// Puts an element beside the first one that is equal to `pivot` and returns how many there are then; None if there
    /// is no such element.
    pub fn insert(
        &mut self,
        side: Side,
        pivot: &[u8],
        element: &[u8],
        fill: Fill<'_>,
    ) -> Result<Option<u64>> {
        let (mut rank, mut is_found) = (0, false);
        let (mut low, mut high) = (None, None);
        self.scan(SubWalk::all(Want::Values), &mut |position, other| {
            if is_found {
                high = Some(position);
                return ControlFlow::Break(());
            }
            is_found = other == pivot;
            if is_found && side == Side::Before {
                high = Some(position);
                return ControlFlow::Break(());
            }
            low = Some(position);
            rank += 1;
            ControlFlow::Continue(())
        })?;
        if !is_found {
            return Ok(None);
        }
        let len = self.len()?;
        self.before_growth(len, 1, element.len() as u64, fill)?;
        let position = match (low, high) {
            (Some(low), Some(high)) => match Position::between(low, high) {
                Some(position) => position,
                None => self.make_room(rank, low)?,
            },
            (Some(low), None) => low.above().ok_or_else(positions_used_up)?,
            (None, Some(high)) => high.below().ok_or_else(positions_used_up)?,
            (None, None) => Position::START,
        };
        self.put(position, element)?;
        Ok(Some(len + 1))
    }

    /// The rank an index stands for, if there is an element.
    fn rank(&mut self, index: i64) -> Result<Option<u64>> {
        let len = self.len()?;
        let rank = if index < 0 { len.checked_add_signed(index) } else { u64::try_from(index).ok() };
        Ok(rank.filter(|rank| *rank < len))
    }

    /// The position at an end, if there is an element.
    fn outermost(&mut self, end: End) -> Result<Option<Position>> {
        let Some(subkey) = self.txn.sub_end(self.db, self.key, end.direction())? else { return Ok(None) };
        Position::decode(&subkey).map(Some).ok_or_else(|| no_position().into())
    }

    /// The position of a rank, which must be there.
    fn select(&mut self, rank: u64) -> Result<Position> {
        let subkey = self.txn.sub_select(self.db, self.key, rank)?;
        Ok(subkey.and_then(|subkey| Position::decode(&subkey)).ok_or_else(no_position)?)
    }

    fn put(&mut self, position: Position, element: &[u8]) -> Result<()> {
        self.txn.sub_put(self.db, self.key, &position.encode(), element)?;
        Ok(())
    }

    /// Removes positions that a walk has shown.
    fn remove_all(&mut self, positions: &[Position]) -> Result<()> {
        for position in positions {
            self.txn.sub_remove_seen(self.db, self.key, &position.encode())?;
        }
        Ok(())
    }

    /// Shows up to `count` elements of a walk.
    fn walk(
        &mut self,
        start: Start<'_>,
        direction: Direction,
        count: u64,
        visit: ElementVisitor<'_>,
    ) -> Result<()> {
        let mut left = count;
        if left == 0 {
            return Ok(());
        }
        let walk = SubWalk::new(start, direction, Want::ValuesAlone).expecting(count);
        self.txn.sub_scan(self.db, self.key, walk, &mut |_, element| {
            visit(element);
            left -= 1;
            more_until(left == 0)
        })?;
        Ok(())
    }

    /// Shows the element at an end, which is to be removed, and gives its position.
    fn first(&mut self, end: End, visit: ElementVisitor<'_>) -> Result<Option<Position>> {
        let mut position = None;
        let shown = self.txn.sub_first(self.db, self.key, end.direction(), &mut |subkey, element| {
            position = Position::decode(subkey);
            if position.is_some() {
                visit(element);
            }
        })?;
        if shown && position.is_none() { Err(no_position().into()) } else { Ok(position) }
    }

    /// Shows positions and elements until told to stop.
    fn scan(
        &mut self,
        walk: SubWalk<'_>,
        visit: &mut dyn FnMut(Position, &[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut is_damaged = false;
        let visitor: SubVisitor<'_> = &mut |subkey, element| match Position::decode(subkey) {
            Some(position) => visit(position, element),
            None => {
                is_damaged = true;
                ControlFlow::Break(())
            }
        };
        self.txn.sub_scan(self.db, self.key, walk, visitor)?;
        if is_damaged { Err(no_position().into()) } else { Ok(()) }
    }
}

fn more_until(is_done: bool) -> ControlFlow<()> {
    if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

fn no_position() -> EngineError {
    EngineError::Damaged("a list holds a subkey that is no position".into())
}

/// 2^63 pushes at one end of a list that was never empty in between.
fn positions_used_up() -> EngineError {
    EngineError::Full("the positions at this end of the list are used up".into())
}

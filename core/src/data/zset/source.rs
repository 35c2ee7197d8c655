//! What ZUNION, ZINTER and ZDIFF read: sorted sets and plain sets alike.

use std::ops::{ControlFlow, Range};

use super::{MemberVisitor, Slot, SortedSet};
use crate::data::{DataError, Result};
use crate::engine::{Db, Direction, Kind, Start, SubWalk, Txn, Want};

/// A sorted set or a plain set, whose members all have the score 1, read as the source of ZUNION and its like.
#[derive(Clone, Copy, Debug)]
pub enum Source<'k> {
    /// A sorted set, or a key that is missing.
    Scored(SortedSet<'k>),
    /// A plain set: database and key. Its subkeys are its members.
    Plain(Db, &'k [u8]),
}

impl<'k> Source<'k> {
    /// The source at a key.
    pub fn open(txn: &mut Txn<'_>, db: Db, key: &'k [u8]) -> Result<Source<'k>> {
        match txn.kind(db, key)? {
            Some(Kind::Set) => Ok(Source::Plain(db, key)),
            None | Some(Kind::SortedSet) => SortedSet::open(txn, db, key).map(Source::Scored),
            Some(_) => Err(DataError::WrongType),
        }
    }

    /// Number of members.
    pub fn len(&self, txn: &mut Txn<'_>) -> Result<u64> {
        match self {
            Source::Scored(set) => set.len(txn),
            Source::Plain(db, key) => Ok(txn.sub_len(*db, key)?),
        }
    }

    /// The score of the slot's member.
    pub fn score(&self, txn: &mut Txn<'_>, slot: &mut Slot) -> Result<Option<f64>> {
        match self {
            Source::Scored(set) => set.score(txn, slot),
            Source::Plain(db, key) => Ok(txn.sub_contains(*db, key, slot.member())?.then_some(1.0)),
        }
    }

    /// Whether the slot's member is there.
    pub fn contains(&self, txn: &mut Txn<'_>, slot: &mut Slot) -> Result<bool> {
        match self {
            Source::Scored(set) => set.contains(txn, slot),
            Source::Plain(db, key) => Ok(txn.sub_contains(*db, key, slot.member())?),
        }
    }

    /// Shows all members in the order of their bytes, a page of so many at a time: `look` is asked before each and may end
    /// the walk.
    pub fn scan_by_name(
        &self,
        txn: &mut Txn<'_>,
        page: u64,
        look: &mut dyn FnMut() -> Result<()>,
        visit: MemberVisitor<'_>,
    ) -> Result<()> {
        let len = self.len(txn)?;
        for first in (0..len).step_by(usize::try_from(page.max(1)).unwrap_or(usize::MAX)) {
            look()?;
            let ranks = first..len.min(first.saturating_add(page));
            match self {
                Source::Scored(set) => set.scan_by_name(txn, ranks, visit)?,
                Source::Plain(..) => self.scan(txn, ranks, visit)?,
            }
        }
        Ok(())
    }

    /// Shows the members with these ranks.
    pub fn scan(&self, txn: &mut Txn<'_>, ranks: Range<u64>, visit: MemberVisitor<'_>) -> Result<()> {
        let (db, key) = match self {
            Source::Scored(set) => return set.scan(txn, ranks, Direction::Ascending, visit),
            Source::Plain(db, key) => (*db, *key),
        };
        if ranks.is_empty() {
            return Ok(());
        }
        let mut left = ranks.end - ranks.start;
        let start = if ranks.start == 0 { Start::End } else { Start::Rank(ranks.start) };
        let walk = SubWalk::up(start, Want::Subkeys).expecting(left);
        txn.sub_scan(db, key, walk, &mut |member, _| {
            visit(member, 1.0);
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }
}

//! Which space each logical database shows.
//!
//! FLUSHDB gives a database another space, SWAPDB exchanges two: one small record of the store says so, and a commit that
//! changes it changes nothing else of what is stored.

use super::names::Space;
use crate::engine::{CATALOG, Db, DbChange, EngineError, Result, Source};
use crate::packed::varint::{read_varint, write_varint};

/// The space of the catalog, which always stays.
const CATALOG_SPACE: Space = 0;

/// The first space that a flush makes; those below belong to databases that were never flushed or swapped.
pub(super) const FIRST_MADE: Space = 1 << 20;

/// The databases of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Databases {
    /// Another number after every change.
    pub(super) stamp: u64,
    /// The next space to be made.
    next: Space,
    /// The databases that show another space than at the beginning.
    moved: Vec<(Db, Space)>,
}

impl Default for Databases {
    fn default() -> Databases {
        Databases { stamp: 0, next: FIRST_MADE, moved: Vec::new() }
    }
}

impl Databases {
    /// The space that a database shows; `count` is how many databases there are.
    ///
    /// # Errors
    /// There is no such database.
    pub(super) fn space(&self, db: Db, count: Db) -> Result<Space> {
        match db {
            CATALOG => Ok(CATALOG_SPACE),
            db if db >= count => Err(EngineError::NoSuchDatabase(db)),
            db => Ok(self.shown(db)),
        }
    }

    fn shown(&self, db: Db) -> Space {
        let moved = self.moved.iter().find(|(other, _)| *other == db);
        // Below the first made: there are fewer databases.
        moved.map_or(db.saturating_add(1).min(FIRST_MADE - 1), |(_, space)| *space)
    }

    /// The space of a source inside a transaction.
    ///
    /// # Errors
    /// There is no such database.
    pub(super) fn space_of(&self, source: Source, count: Db) -> Result<Space> {
        match source {
            Source::Base(db) => self.space(db, count),
            Source::Fresh(number) => Ok(self.next.saturating_add(number)),
        }
    }

    /// A database beyond so many that was flushed or swapped.
    pub(super) fn moved_beyond(&self, count: Db) -> Option<Db> {
        self.moved.iter().map(|(db, _)| *db).filter(|db| *db >= count && *db != CATALOG).min()
    }

    /// All spaces that are shown, in order.
    pub(super) fn spaces(&self, count: Db) -> Vec<Space> {
        let mut spaces: Vec<Space> = (0..count).map(|db| self.shown(db)).chain([CATALOG_SPACE]).collect();
        spaces.sort_unstable();
        spaces
    }

    /// Whether any database shows a space, however many databases there are.
    pub(super) fn is_shown(&self, space: Space) -> bool {
        let is_moved = |db: Db| self.moved.iter().any(|(other, _)| *other == db);
        let is_first = space < FIRST_MADE && space.checked_sub(1).is_none_or(|db| !is_moved(db));
        is_first || self.moved.iter().any(|(_, shown)| *shown == space)
    }

    /// The database that shows a space.
    pub(super) fn database_of(&self, space: Space, count: Db) -> Option<Db> {
        if space == CATALOG_SPACE {
            return Some(CATALOG);
        }
        (0..count).find(|db| self.shown(*db) == space)
    }

    /// The databases after these changes, and the spaces that none of them shows any more.
    pub(super) fn changed(&self, changes: &[DbChange], stamp: u64) -> (Databases, Vec<Space>) {
        let made = changes.iter().filter_map(|change| match change.source {
            Source::Fresh(number) => Some(number + 1),
            Source::Base(_) => None,
        });
        let next = self.next.saturating_add(made.max().unwrap_or(0));
        let mut after = Databases { stamp, next, moved: self.moved.clone() };
        for change in changes {
            let space = match change.source {
                Source::Base(db) => self.shown(db),
                Source::Fresh(number) => self.next.saturating_add(number),
            };
            after.moved.retain(|(db, _)| *db != change.db);
            if space != change.db.saturating_add(1) {
                after.moved.push((change.db, space));
            }
        }
        let is_shown = |space: &Space| changes.iter().any(|change| after.shown(change.db) == *space);
        let before = changes.iter().map(|change| self.shown(change.db));
        let dropped = before.filter(|space| !is_shown(space)).collect();
        (after, dropped)
    }

    /// As it is stored.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.stamp.to_le_bytes().to_vec();
        write_varint(u64::from(self.next), &mut out);
        for (db, space) in &self.moved {
            write_varint(u64::from(*db), &mut out);
            write_varint(u64::from(*space), &mut out);
        }
        out
    }

    /// Reads what [`Databases::to_bytes`] wrote; a store without a record has those of the beginning.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn read(stored: Option<&[u8]>) -> Result<Databases> {
        let Some(stored) = stored else { return Ok(Databases::default()) };
        let read = || {
            let (stamp, mut rest) = stored.split_first_chunk()?;
            let next = u32::try_from(read_varint(&mut rest)?).ok()?;
            let mut moved = Vec::new();
            while !rest.is_empty() {
                let (db, space) = (read_varint(&mut rest)?, read_varint(&mut rest)?);
                moved.push((u32::try_from(db).ok()?, u32::try_from(space).ok()?));
            }
            Some(Databases { stamp: u64::from_le_bytes(*stamp), next, moved })
        };
        read()
            .ok_or_else(|| EngineError::Damaged("the list of databases in the cluster cannot be read".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_shows_what_another_one_has() {
        let databases = Databases::default();
        let flush = |db, number| DbChange { db, source: Source::Fresh(number) };
        let (flushed, dropped) = databases.changed(&[flush(0, 0), flush(3, 2)], 9);
        assert_eq!(dropped, [1, 4]);
        assert_eq!(flushed.space_of(Source::Fresh(0), 16), Ok(FIRST_MADE + 3), "numbers are used once");
        let swap = [DbChange { db: 0, source: Source::Base(1) }, DbChange { db: 1, source: Source::Base(0) }];
        let (swapped, dropped) = flushed.changed(&swap, 10);
        assert!(dropped.is_empty());
        assert_eq!([swapped.space(0, 16), swapped.space(1, 16)], [Ok(2), Ok(FIRST_MADE)]);
        assert_eq!([2, FIRST_MADE, 1].map(|space| swapped.database_of(space, 16)), [Some(0), Some(1), None]);
        assert_eq!([0, 2, 3, FIRST_MADE].map(|space| swapped.is_shown(space)), [true; 4]);
        assert_eq!([1, 4, FIRST_MADE + 1].map(|space| swapped.is_shown(space)), [false; 3]);
        assert!(swapped.is_shown(60_000), "of a server with more databases");
        assert_eq!(swapped.spaces(4), [0, 2, 3, FIRST_MADE, FIRST_MADE + 2]);
        assert_eq!(Databases::read(Some(&swapped.to_bytes())), Ok(swapped.clone()));
        assert_eq!(swapped.space(16, 16), Err(EngineError::NoSuchDatabase(16)));
        assert!(Databases::read(Some(b"short")).is_err());
    }
}

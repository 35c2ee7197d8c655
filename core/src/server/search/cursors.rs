//! Cursors of FT.AGGREGATE: rows that were computed and have yet to be read.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::limits::{SEARCH_CURSORS_MAX, SEARCH_CURSORS_MAX_BYTES};
use crate::search::value::Value;

/// Names of fields and their values.
pub type CursorRow = Vec<(Vec<u8>, Value)>;

/// A cursor.
#[derive(Debug)]
pub struct SearchCursor {
    /// The number of its index.
    pub index: u64,
    /// Rows of a reply unless a request says another number.
    pub count: usize,
    rows: Vec<CursorRow>,
    /// How many of them have been read.
    read: usize,
    max_idle_ms: u64,
    used_at_ms: u64,
    bytes: usize,
}

/// All cursors.
#[derive(Debug, Default)]
pub struct Cursors {
    by_id: Mutex<(BTreeMap<u64, SearchCursor>, u64)>,
}

impl SearchCursor {
    /// A cursor over rows, in their order.
    pub fn new(
        index: u64,
        rows: Vec<CursorRow>,
        count: usize,
        max_idle_ms: u64,
        now_ms: u64,
    ) -> SearchCursor {
        let of = |row: &CursorRow| {
            row.iter().map(|(name, value)| name.len() + 48 + value.size_bytes()).sum::<usize>()
        };
        let bytes = rows.iter().map(of).sum();
        SearchCursor { index, count, rows, read: 0, max_idle_ms, used_at_ms: now_ms, bytes }
    }
}

impl Cursors {
    /// Keeps a cursor; None if there are too many, or if they hold too much.
    pub fn add(&self, cursor: SearchCursor) -> Option<u64> {
        let (cursors, last) = &mut *self.by_id.lock();
        let bytes: usize = cursors.values().map(|cursor| cursor.bytes).sum();
        if cursors.len() >= SEARCH_CURSORS_MAX || bytes + cursor.bytes > SEARCH_CURSORS_MAX_BYTES {
            return None;
        }
        *last += 1;
        cursors.insert(*last, cursor);
        Some(*last)
    }

    /// The rows of a cursor of an index behind the next `skip`, and whether they are its last; None if there is no such cursor. A
    /// `count` of 0 stands for its own. They stay until they are [passed](Cursors::pass).
    pub fn peek(
        &self,
        (id, index): (u64, u64),
        skip: usize,
        count: usize,
        now_ms: u64,
    ) -> Option<(Vec<CursorRow>, bool)> {
        let (cursors, _) = &mut *self.by_id.lock();
        let cursor = cursors.get_mut(&id).filter(|cursor| cursor.index == index)?;
        cursor.used_at_ms = now_ms;
        let from = (cursor.read + skip).min(cursor.rows.len());
        let count = if count == 0 { cursor.count } else { count };
        let to = from.saturating_add(count).min(cursor.rows.len());
        Some((cursor.rows.get(from..to)?.to_vec(), to == cursor.rows.len()))
    }

    /// Says that rows have been read. A cursor goes with its last row.
    pub fn pass(&self, id: u64, count: usize) {
        let (cursors, _) = &mut *self.by_id.lock();
        if let Some(cursor) = cursors.get_mut(&id) {
            cursor.read += count;
            if cursor.read >= cursor.rows.len() {
                cursors.remove(&id);
            }
        }
    }

    /// Drops a cursor of an index; false if there is none.
    pub fn remove(&self, id: u64, index: u64) -> bool {
        let (cursors, _) = &mut *self.by_id.lock();
        let is_there = cursors.get(&id).is_some_and(|cursor| cursor.index == index);
        is_there && cursors.remove(&id).is_some()
    }

    /// Drops cursors that were not used for long.
    pub fn drop_idle(&self, now_ms: u64) {
        let is_in_use = |cursor: &SearchCursor| cursor.used_at_ms.saturating_add(cursor.max_idle_ms) > now_ms;
        self.by_id.lock().0.retain(|_, cursor| is_in_use(cursor));
    }

    /// How many cursors an index has, and how many there are.
    pub fn counts(&self, index: u64) -> (usize, usize) {
        let cursors = &self.by_id.lock().0;
        (cursors.values().filter(|cursor| cursor.index == index).count(), cursors.len())
    }
}

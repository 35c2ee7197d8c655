//! SORTBY: the first rows in an order, of which it holds no more than are asked for.

use std::collections::BTreeMap;

use super::Ask;
use super::pipeline::Row;
use crate::search::value::Message;

/// A row without the property comes after all that have it, whichever way is up.
const ABSENT: u8 = 0xFF;

/// What a row takes beside its values: a node of the map and the sequence number.
const ROW_BYTES: usize = 96;

/// The first rows so far.
pub(super) struct Sorted {
    keys: Vec<(usize, bool)>,
    count: u64,
    /// Rows by the bytes of their keys, and by arrival among equal ones.
    rows: BTreeMap<(Vec<u8>, u64), Row>,
    seen: u64,
    held_bytes: usize,
    /// The most that was held, which was asked for.
    asked_bytes: usize,
}

impl Sorted {
    pub(super) fn new(keys: &[(usize, bool)], count: u64) -> Sorted {
        Sorted { keys: keys.to_vec(), count, rows: BTreeMap::new(), seen: 0, held_bytes: 0, asked_bytes: 0 }
    }

    /// How many rows came, held or not.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn add(&mut self, row: Row, ask: Ask<'_>) -> Result<(), Message> {
        let key = (self.key(&row), self.seen);
        self.seen += 1;
        let is_full = self.rows.len() as u64 >= self.count;
        if is_full && self.rows.last_key_value().is_none_or(|(last, _)| *last < key) {
            return Ok(());
        }
        self.held_bytes += ROW_BYTES + key.0.len() + row.size_bytes();
        if is_full && let Some((last, row)) = self.rows.pop_last() {
            self.held_bytes = self.held_bytes.saturating_sub(ROW_BYTES + last.0.len() + row.size_bytes());
        }
        if self.held_bytes > self.asked_bytes {
            ask((self.held_bytes - self.asked_bytes) as u64)?;
            self.asked_bytes = self.held_bytes;
        }
        self.rows.insert(key, row);
        Ok(())
    }

    /// Bytes that order as the row does.
    fn key(&self, row: &Row) -> Vec<u8> {
        let mut key = Vec::new();
        for (column, descends) in &self.keys {
            let start = key.len();
            match row.value(*column) {
                None => key.push(ABSENT),
                Some(value) => {
                    value.write_order(&mut key);
                    if *descends {
                        key.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
                        // The class of a value is 0 to 3, and so now 0xFF to 0xFC: one lower, it stays before those without.
                        if let Some(class) = key.get_mut(start) {
                            *class -= 1;
                        }
                    }
                }
            }
        }
        key
    }

    /// The rows in order.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        self.rows.into_values()
    }
}

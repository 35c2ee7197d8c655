//! SORTBY: the first rows in an order, of which it holds no more than are asked for.

use std::collections::BTreeMap;

use super::row::{Ask, Row};
use crate::search::value::Message;

/// A row without the property comes after all that have it, whichever way is up.
const ABSENT: u8 = 0xFF;

/// What a row takes beside its values: a node of the map and the sequence number.
const ROW_BYTES: usize = 96;

/// The first rows so far.
pub(super) struct Sorted {
    keys: Vec<(usize, bool)>,
    count: u64,
    /// Places of rows by the bytes of their keys and, among equal ones, of their arrival.
    order: BTreeMap<Box<[u8]>, usize>,
    rows: Vec<Row>,
    seen: u64,
    held_bytes: usize,
    /// The most that was held, which was asked for.
    asked_bytes: usize,
}

impl Sorted {
    pub(super) fn new(keys: &[(usize, bool)], count: u64) -> Sorted {
        Sorted {
            keys: keys.to_vec(),
            count,
            order: BTreeMap::new(),
            rows: Vec::new(),
            seen: 0,
            held_bytes: 0,
            asked_bytes: 0,
        }
    }

    /// How many rows came, held or not.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn add(&mut self, row: Row, ask: Ask<'_>) -> Result<(), Message> {
        let key = self.key(&row);
        self.seen += 1;
        let is_full = self.rows.len() as u64 >= self.count;
        if is_full && self.order.last_key_value().is_none_or(|(last, _)| **last < *key) {
            return Ok(());
        }
        let key_bytes = key.len();
        self.held_bytes += ROW_BYTES + key_bytes + row.size_bytes();
        if is_full && let Some((_, place)) = self.order.pop_last() {
            if let Some(old) = self.rows.get_mut(place) {
                // Keys are of about one length.
                self.held_bytes = self.held_bytes.saturating_sub(ROW_BYTES + key_bytes + old.size_bytes());
                *old = row;
            }
            self.order.insert(key, place);
        } else {
            self.order.insert(key, self.rows.len());
            self.rows.push(row);
        }
        if self.held_bytes > self.asked_bytes {
            ask((self.held_bytes - self.asked_bytes) as u64)?;
            self.asked_bytes = self.held_bytes;
        }
        Ok(())
    }

    /// Bytes that order as the row does, before all rows that are equal and come later.
    fn key(&self, row: &Row) -> Box<[u8]> {
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
        key.extend_from_slice(&self.seen.to_be_bytes());
        key.into_boxed_slice()
    }

    /// The rows in order.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        let Sorted { order, mut rows, .. } = self;
        order.into_values().filter_map(move |place| rows.get_mut(place).map(core::mem::take))
    }
}

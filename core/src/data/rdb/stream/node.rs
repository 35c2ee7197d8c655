//! One node of a stream: entries in a listpack.
//!
//! ```text
//! entries that are there   deleted ones   number of fields   the fields of the first entry   0
//! for each entry           flags   milliseconds and sequence, less those of the node's id
//!                          values                                    with flag 2: the fields are those of the first entry
//!                          number of fields   field, value …         without
//!                          number of this entry's elements up to here
//!
//! flags   1 deleted, 2 as above
//! ```
//!
//! Every element that is no field or value is an integer.

use super::super::listpack::{self, Elements, Part};
use super::super::packed::Item;
use super::super::reader::Bytes;
use super::super::writer::put_count;
use super::{BadFormat, Result};
use crate::data::stream::{Fields, StreamId};

const DELETED: i64 = 1;
const SAME_FIELDS: i64 = 2;

/// Elements of an entry beside fields and values, with and without the number of fields.
const OWN_ELEMENTS: u64 = 4;
const OWN_ELEMENTS_OF_SAME: u64 = 3;

/// The entries of a node that is read.
pub(super) struct Entries<'b> {
    elements: Elements<'b>,
    first: StreamId,
    fields: Vec<Bytes<'b>>,
    there_left: u64,
    deleted_left: u64,
}

/// An entry of a node.
pub(super) struct Entry<'b> {
    pub(super) id: StreamId,
    pub(super) is_deleted: bool,
    /// Whether its fields are the node's.
    pub(super) has_same_fields: bool,
    /// Field, value, field, value …; only values if it has the node's fields.
    pub(super) texts: Vec<Bytes<'b>>,
}

impl<'b> Entries<'b> {
    /// Reads what a node with this id begins with.
    pub(super) fn of(first: StreamId, bytes: &'b [u8]) -> Result<Entries<'b>> {
        let mut elements = Elements::of(bytes)?;
        let there_left = count(&mut elements)?;
        let deleted_left = count(&mut elements)?;
        let number = count(&mut elements)?;
        let fields = texts(&mut elements, number)?;
        if integer(&mut elements)? != 0 {
            return Err(BadFormat);
        }
        Ok(Entries { elements, first, fields, there_left, deleted_left })
    }

    /// The fields of the first entry it has had.
    pub(super) fn fields(&self) -> &[Bytes<'b>] {
        &self.fields
    }

    /// Number of entries that are still to be read, deleted ones included.
    pub(super) fn left(&self) -> u64 {
        self.there_left.saturating_add(self.deleted_left)
    }

    /// The next entry. None is the end, where all numbers turned out to be right.
    pub(super) fn next(&mut self) -> Result<Option<Entry<'b>>> {
        if self.left() == 0 {
            return if self.elements.next()?.is_none() { Ok(None) } else { Err(BadFormat) };
        }
        let flags = integer(&mut self.elements)?;
        if flags & !(DELETED | SAME_FIELDS) != 0 {
            return Err(BadFormat);
        }
        let (is_deleted, has_same_fields) = (flags & DELETED != 0, flags & SAME_FIELDS != 0);
        let left = if is_deleted { &mut self.deleted_left } else { &mut self.there_left };
        *left = left.checked_sub(1).ok_or(BadFormat)?;
        let ms = self.first.ms.wrapping_add(integer(&mut self.elements)?.cast_unsigned());
        let seq = self.first.seq.wrapping_add(integer(&mut self.elements)?.cast_unsigned());
        let (number, own) = if has_same_fields {
            (self.fields.len() as u64, OWN_ELEMENTS_OF_SAME)
        } else {
            (count(&mut self.elements)?.checked_mul(2).ok_or(BadFormat)?, OWN_ELEMENTS)
        };
        let texts = texts(&mut self.elements, number)?;
        if number.checked_add(own) != Some(count(&mut self.elements)?) {
            return Err(BadFormat);
        }
        Ok(Some(Entry { id: StreamId { ms, seq }, is_deleted, has_same_fields, texts }))
    }
}

impl Entry<'_> {
    /// Field, value, field, value …, where these are the node's fields.
    pub(super) fn pairs<'e>(&'e self, fields: &[&'e [u8]]) -> Vec<&'e [u8]> {
        let texts = self.texts.iter().map(|text| &**text);
        if self.has_same_fields {
            fields.iter().copied().zip(texts).flat_map(|(field, value)| [field, value]).collect()
        } else {
            texts.collect()
        }
    }
}

fn integer(elements: &mut Elements<'_>) -> Result<i64> {
    match elements.next()? {
        Some(Item::Integer(integer)) => Ok(integer),
        _ => Err(BadFormat),
    }
}

fn count(elements: &mut Elements<'_>) -> Result<u64> {
    u64::try_from(integer(elements)?).map_err(|_| BadFormat)
}

fn texts<'b>(elements: &mut Elements<'b>, number: u64) -> Result<Vec<Bytes<'b>>> {
    let mut texts = Vec::new();
    for _ in 0..number {
        texts.push(elements.next()?.ok_or(BadFormat)?.text());
    }
    Ok(texts)
}

/// A node that is written.
pub(super) struct Writer {
    /// Its id.
    pub(super) first: StreamId,
    fields: Vec<Vec<u8>>,
    count: i64,
    entries: Part,
}

impl Writer {
    /// A node with this id and entry.
    pub(super) fn of(first: StreamId, id: StreamId, texts: Fields<'_>) -> Writer {
        let fields = texts.step_by(2).map(<[u8]>::to_vec).collect();
        let mut writer = Writer { first, fields, count: 0, entries: Part::default() };
        writer.add(id, texts);
        writer
    }

    /// Length of the entries in bytes.
    pub(super) fn len(&self) -> u64 {
        self.entries.len()
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, id: StreamId, texts: Fields<'_>) {
        let entries = &mut self.entries;
        let has_same_fields = texts.step_by(2).eq(self.fields.iter().map(Vec::as_slice));
        entries.put_integer(if has_same_fields { SAME_FIELDS } else { 0 });
        entries.put_integer(id.ms.wrapping_sub(self.first.ms).cast_signed());
        entries.put_integer(id.seq.wrapping_sub(self.first.seq).cast_signed());
        let elements = if has_same_fields {
            texts.skip(1).step_by(2).for_each(|value| entries.put_text(value));
            self.fields.len() as u64 + OWN_ELEMENTS_OF_SAME
        } else {
            let number = texts.count() as u64;
            entries.put_integer((number / 2).cast_signed());
            texts.for_each(|text| entries.put_text(text));
            number + OWN_ELEMENTS
        };
        entries.put_integer(elements.cast_signed());
        self.count += 1;
    }

    /// Writes it as a string.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let mut head = Part::default();
        head.put_integer(self.count);
        head.put_integer(0);
        head.put_integer((self.fields.len() as u64).cast_signed());
        self.fields.iter().for_each(|field| head.put_text(field));
        head.put_integer(0);
        let parts = [&head, &self.entries];
        put_count(out, listpack::len_of(&parts));
        listpack::put(out, &parts);
    }
}

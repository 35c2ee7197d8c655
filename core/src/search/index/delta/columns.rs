//! The values of one field in a delta, by place.

use crate::search::bits::Bits;

use super::dictionary::Dictionary;

/// The values of a field. What no document has takes no memory.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The places with a value of any kind.
    pub(super) has: Bits,
    /// First numbers, and the places that have one.
    pub(super) numbers: Vec<f64>,
    pub(super) has_number: Bits,
    /// Further numbers, in the order of places.
    pub(super) more_numbers: Vec<(u32, f64)>,
    /// Longitude and latitude in the order of places.
    pub(super) positions: Vec<(u32, i32, i32)>,
    pub(super) vectors: Vec<u8>,
    pub(super) vector_len: usize,
    /// One more than the vector's number, 0 for none.
    pub(super) vector_numbers: Vec<u32>,
    pub(super) tags: Option<Box<Tags>>,
    pub(super) sort: Option<Box<SortTexts>>,
}

/// The tags of a field: their postings are the buffers of the dictionary.
#[derive(Debug, Default)]
pub(super) struct Tags {
    pub(super) is_case_sensitive: bool,
    pub(super) folded: Dictionary,
    /// How a tag was written first; empty if as folded.
    pub(super) written: Vec<Box<[u8]>>,
    /// Where the tags of a document end.
    ends: Vec<u32>,
    numbers: Vec<u32>,
}

impl Tags {
    pub(super) fn name(&self, tag: u32) -> &[u8] {
        match self.written.get(tag as usize) {
            Some(written) if !written.is_empty() => written,
            _ => self.folded.text(tag),
        }
    }

    /// The tags of a document.
    pub(super) fn of(&self, place: u32) -> &[u32] {
        let place = place as usize;
        let start = place.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let (Some(start), Some(end)) = (start, self.ends.get(place)) else { return &[] };
        self.numbers.get(start as usize..*end as usize).unwrap_or_default()
    }

    /// Notes a document's tags, which are sorted.
    pub(super) fn set(&mut self, place: u32, numbers: &[u32]) {
        self.ends.resize(place as usize, self.numbers.len() as u32);
        self.numbers.extend_from_slice(numbers);
        self.ends.push(self.numbers.len() as u32);
    }

    fn memory_bytes(&self) -> usize {
        let written: usize = self.written.iter().map(|written| written.len() + 16).sum();
        self.folded.memory_bytes()
            + written
            + (self.ends.capacity() + self.numbers.capacity()) * 4
            + size_of::<Tags>()
    }
}

/// What documents are sorted by: distinct texts, and of each document one more than its text's number.
#[derive(Debug, Default)]
pub(super) struct SortTexts {
    pub(super) texts: Dictionary,
    pub(super) numbers: Vec<u32>,
}

impl Columns {
    pub(super) fn add_numbers(&mut self, place: u32, numbers: &[f64]) {
        let Some((first, more)) = numbers.split_first() else { return };
        self.numbers.resize(place as usize, 0.0);
        self.numbers.push(*first);
        self.has_number.grow(place + 1);
        self.has_number.add(place);
        self.more_numbers.extend(more.iter().map(|number| (place, *number)));
    }

    pub(super) fn add_vector(&mut self, place: u32, vector: &[u8]) {
        if self.vector_len == 0 {
            self.vector_len = vector.len();
        }
        if self.vector_len != vector.len() || vector.is_empty() {
            return;
        }
        self.vectors.extend_from_slice(vector);
        self.vector_numbers.resize(place as usize, 0);
        self.vector_numbers.push((self.vectors.len() / vector.len()) as u32);
    }

    pub(super) fn add_sort_text(&mut self, place: u32, text: &[u8]) {
        let sort = self.sort.get_or_insert_default();
        let number = sort.texts.add(text);
        sort.numbers.resize(place as usize, 0);
        sort.numbers.push(number + 1);
    }

    pub(super) fn number(&self, place: u32) -> Option<f64> {
        self.has_number.has(place).then(|| self.numbers.get(place as usize).copied())?
    }

    pub(super) fn more_numbers(&self, place: u32) -> &[(u32, f64)] {
        let start = self.more_numbers.partition_point(|more| more.0 < place);
        let rest = self.more_numbers.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|more| more.0 == place)).unwrap_or_default()
    }

    pub(super) fn positions(&self, place: u32) -> &[(u32, i32, i32)] {
        let start = self.positions.partition_point(|more| more.0 < place);
        let rest = self.positions.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|more| more.0 == place)).unwrap_or_default()
    }

    pub(super) fn vector(&self, place: u32) -> Option<&[u8]> {
        let number = self.vector_numbers.get(place as usize)?.checked_sub(1)? as usize;
        self.vectors.get(number * self.vector_len..(number + 1) * self.vector_len)
    }

    pub(super) fn sort_text(&self, place: u32) -> Option<&[u8]> {
        let sort = self.sort.as_ref()?;
        Some(sort.texts.text(sort.numbers.get(place as usize)?.checked_sub(1)?))
    }

    pub(super) fn is_full(&self) -> bool {
        self.tags.as_ref().is_some_and(|tags| tags.folded.is_full())
            || self.sort.as_ref().is_some_and(|sort| sort.texts.is_full())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let bits = self.has.memory_bytes() + self.has_number.memory_bytes();
        let numbers =
            self.numbers.capacity() * 8 + self.more_numbers.capacity() * 16 + self.positions.capacity() * 12;
        let vectors = self.vectors.capacity() + self.vector_numbers.capacity() * 4;
        let tags = self.tags.as_ref().map_or(0, |tags| tags.memory_bytes());
        let sort =
            self.sort.as_ref().map_or(0, |sort| sort.texts.memory_bytes() + sort.numbers.capacity() * 4);
        bits + numbers + vectors + tags + sort + size_of::<Columns>()
    }
}

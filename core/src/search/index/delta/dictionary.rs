//! Terms of a delta: each has a number, which lasts, a place in the order of bytes, and a buffer that grows.

use std::cmp::Ordering;

use super::pool::{At, Pool, Size};

/// Entries of one piece of the order; a full one is split in two. Moving half of it for a new term takes some tens of nanoseconds.
const PIECE: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The first four bytes of the term, so that most comparisons need not look at it.
    head: u32,
    term: u32,
}

/// A term.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Term {
    text_at: At,
    text_len: u32,
    buffer: At,
    size: Size,
    /// For the caller.
    pub(super) note: u8,
    pub(super) len: u32,
    /// How many things the buffer holds.
    pub(super) count: u32,
    /// What comes after the last of them.
    pub(super) next: u32,
}

#[derive(Debug, Default)]
pub(super) struct Dictionary {
    order: Vec<Vec<Entry>>,
    /// Entries for which the pieces of the order have room.
    room: usize,
    terms: Vec<Term>,
    pool: Pool,
}

fn head_of(text: &[u8]) -> u32 {
    let mut head = [0; 4];
    head.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    u32::from_be_bytes(head)
}

/// Where a term is, or would be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    piece: usize,
    at: usize,
}

impl Dictionary {
    pub(super) fn len(&self) -> u32 {
        self.terms.len() as u32
    }

    pub(super) fn term(&self, number: u32) -> Option<&Term> {
        self.terms.get(number as usize)
    }

    pub(super) fn term_mut(&mut self, number: u32) -> Option<&mut Term> {
        self.terms.get_mut(number as usize)
    }

    pub(super) fn text(&self, number: u32) -> &[u8] {
        self.term(number).map_or(&[], |term| self.pool.read(term.text_at, term.text_len as usize))
    }

    /// What the term's buffer holds.
    pub(super) fn buffer(&self, number: u32) -> &[u8] {
        self.term(number).map_or(&[], |term| self.pool.read(term.buffer, term.len as usize))
    }

    fn compare(&self, entry: Entry, head: u32, text: &[u8]) -> Ordering {
        entry.head.cmp(&head).then_with(|| self.text(entry.term).cmp(text))
    }

    /// The number of a term, or where it would be.
    pub(super) fn find(&self, text: &[u8]) -> Result<u32, Place> {
        let place = self.seek(text);
        match self.at(place) {
            Some(number) if self.text(number) == text => Ok(number),
            _ => Err(place),
        }
    }

    /// Where the first term is that is not before this text.
    pub(super) fn seek(&self, text: &[u8]) -> Place {
        let head = head_of(text);
        let is_before = |entry: &Entry| self.compare(*entry, head, text) == Ordering::Less;
        let piece = self.order.partition_point(|piece| piece.last().is_some_and(is_before));
        let at = self.order.get(piece).map_or(0, |piece| piece.partition_point(is_before));
        Place { piece, at }
    }

    /// The term at a place.
    pub(super) fn at(&self, place: Place) -> Option<u32> {
        self.order.get(place.piece).and_then(|piece| piece.get(place.at)).map(|entry| entry.term)
    }

    /// The next place.
    pub(super) fn after(&self, place: Place) -> Place {
        match self.order.get(place.piece) {
            Some(piece) if place.at + 1 < piece.len() => Place { at: place.at + 1, ..place },
            _ => Place { piece: place.piece + 1, at: 0 },
        }
    }

    /// The number of a term, which is added if it is new.
    pub(super) fn add(&mut self, text: &[u8]) -> u32 {
        match self.find(text) {
            Ok(number) => number,
            Err(place) => self.insert(place, text),
        }
    }

    fn insert(&mut self, place: Place, text: &[u8]) -> u32 {
        let number = self.len();
        let text_at = self.pool.store(text);
        self.terms.push(Term { text_at, text_len: text.len() as u32, ..Term::default() });
        let entry = Entry { head: head_of(text), term: number };
        // A term behind all others goes to the end of the last piece.
        let is_last = place.piece >= self.order.len();
        let piece = if is_last { self.order.len().saturating_sub(1) } else { place.piece };
        let Some(entries) = self.order.get_mut(piece) else {
            self.order.push(vec![entry]);
            self.room += 1;
            return number;
        };
        let at = if is_last { entries.len() } else { place.at };
        let room = entries.capacity();
        entries.insert(at, entry);
        if entries.len() >= PIECE {
            // Texts in rising order leave full pieces behind.
            let kept = if at + 1 == entries.len() { PIECE * 9 / 10 } else { PIECE / 2 };
            let rest = entries.split_off(kept);
            entries.shrink_to_fit();
            self.room += rest.capacity();
            self.room = self.room + entries.capacity() - room;
            self.order.insert(piece + 1, rest);
        } else {
            self.room = self.room + entries.capacity() - room;
        }
        number
    }

    /// Appends to the buffer of a term.
    pub(super) fn append(&mut self, number: u32, bytes: &[u8]) {
        let Some(term) = self.terms.get_mut(number as usize) else { return };
        let len = term.len as usize;
        let needed = len + bytes.len();
        if len == 0 {
            term.size = Size::at_least(needed);
            term.buffer = self.pool.buffer(term.size);
        } else if needed > term.size.bytes() {
            let size = Size::at_least(needed);
            term.buffer = self.pool.enlarge(term.buffer, term.size, len, size);
            term.size = size;
        }
        self.pool.write(term.buffer, len, bytes);
        term.len = needed as u32;
    }

    pub(super) fn is_full(&self) -> bool {
        self.pool.is_full()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let terms = self.terms.capacity() * size_of::<Term>();
        self.pool.memory_bytes()
            + self.room * size_of::<Entry>()
            + self.order.capacity() * size_of::<Vec<Entry>>()
            + terms
    }
}

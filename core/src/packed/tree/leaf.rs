//! A leaf: entries in ascending order of their keys, packed into one block of bytes.
//!
//! ```text
//! entry  = key length (varint) | value length (varint) | key | value
//! varint = seven bits a byte, the lowest first; the top bit says that more follow
//! ```
//!
//! There is no table of offsets: it would cost two bytes for each entry, and a leaf is short enough to walk.
//!
//! A leaf promises order and exact bytes. How large it may become is decided by `node.rs`. The bytes never leave
//! memory, so they are trusted: a length that leads outside the block is a bug of this file and may panic.

use super::heap::{Heap, give_back, make_room};

/// A leaf of fewer bytes than this grows in small steps: most trees are small hashes, of which there are millions.
const SMALL_BYTES: usize = 128;
const SMALL_STEP_BYTES: usize = 16;
const STEP_BYTES: usize = 64;

const CACHE_LINE_BYTES: usize = 64;
/// More than a full leaf; what is larger holds a single entry.
const TOUCH_MAX_BYTES: usize = 2048;

/// Two varints of 64 bits.
const HEADER_MAX_BYTES: usize = 20;

/// Packed entries. Invariant: the keys ascend strictly.
pub(super) struct Leaf {
    bytes: Vec<u8>,
}

/// Where the parts of one entry lie within its leaf.
#[derive(Clone, Copy)]
struct Entry {
    start: usize,
    key: usize,
    value: usize,
    end: usize,
}

/// Where a key lies or belongs.
struct Place {
    /// How many entries have smaller keys.
    before: u64,
    /// Where the entry begins, or would have to begin.
    start: usize,
    found: Option<Entry>,
}

/// What an insertion did to a leaf.
pub(super) struct Written {
    pub(super) present: bool,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    pub(super) shrank: bool,
}

impl Leaf {
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A leaf of packed entries, whose keys ascend ([`write_entry`]).
    pub(super) fn of(packed: &[u8]) -> Self {
        Self { bytes: packed.to_vec() }
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// The packed entries, to be walked with `split_first`.
    pub(super) fn entries(&self) -> &[u8] {
        touch(&self.bytes);
        &self.bytes
    }

    pub(super) fn has_many_entries(&self) -> bool {
        !self.bytes.is_empty() && Entry::at(&self.bytes, 0).end < self.bytes.len()
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let entry = self.find(key).found?;
        Some(&self.bytes[entry.value..entry.end])
    }

    pub(super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut [u8]> {
        let entry = self.find(key).found?;
        Some(&mut self.bytes[entry.value..entry.end])
    }

    pub(super) fn rank(&self, key: &[u8]) -> u64 {
        self.find(key).before
    }

    pub(super) fn select(&self, rank: u64) -> Option<(&[u8], &[u8])> {
        let mut rest = &self.bytes[self.offset_of(rank)..];
        split_first(&mut rest)
    }

    /// Where the entry of that rank begins; the end of the block if there are not so many.
    pub(super) fn offset_of(&self, rank: u64) -> usize {
        touch(&self.bytes);
        let mut start = 0;
        let mut left = rank;
        while left > 0 && start < self.bytes.len() {
            start = Entry::at(&self.bytes, start).end;
            left -= 1;
        }
        start
    }

    /// Where the entry of `key` begins and ends; both are where it would begin if there is none.
    pub(super) fn span_of(&self, key: &[u8]) -> (usize, usize) {
        let place = self.find(key);
        (place.start, place.found.map_or(place.start, |entry| entry.end))
    }

    pub(super) fn insert(
        &mut self,
        key: &[u8],
        value: &[u8],
        replaced: &mut dyn FnMut(&[u8]),
        heap: &mut Heap,
    ) -> Written {
        let size_before = self.bytes.len();
        let place = self.find(key);
        let old_end = match place.found {
            Some(entry) => {
                let old = &mut self.bytes[entry.value..entry.end];
                replaced(old);
                if old.len() == value.len() {
                    old.copy_from_slice(value);
                    return Written { present: true, is_first: false, is_last: false, shrank: false };
                }
                entry.end
            }
            None => place.start,
        };
        self.overwrite(place.start, old_end, key, value, heap);
        Written {
            present: place.found.is_some(),
            is_first: place.start == 0,
            is_last: old_end == size_before,
            shrank: self.bytes.len() < size_before,
        }
    }

    pub(super) fn remove(&mut self, key: &[u8], removed: &mut dyn FnMut(&[u8]), heap: &mut Heap) -> bool {
        let Some(entry) = self.find(key).found else { return false };
        removed(&self.bytes[entry.value..entry.end]);
        self.bytes.drain(entry.start..entry.end);
        self.fit(heap);
        true
    }

    /// Moves everything from `cut` on into a new leaf.
    pub(super) fn split_off(&mut self, cut: usize, heap: &mut Heap) -> Leaf {
        let right = Leaf { bytes: self.bytes.split_off(cut) };
        heap.change(0, right.heap_bytes());
        self.fit(heap);
        right
    }

    /// Appends the entries of a leaf whose keys are all larger.
    pub(super) fn append(&mut self, right: Leaf, heap: &mut Heap) {
        let before = self.heap_bytes() + right.heap_bytes();
        make_room(&mut self.bytes, right.bytes.len(), STEP_BYTES);
        self.bytes.extend_from_slice(&right.bytes);
        heap.change(before, self.heap_bytes());
    }

    /// The offset of the second entry.
    pub(super) fn cut_after_first(&self) -> usize {
        Entry::at(&self.bytes, 0).end
    }

    /// The offset of the last entry.
    pub(super) fn cut_before_last(&self) -> usize {
        let mut start = 0;
        loop {
            let end = Entry::at(&self.bytes, start).end;
            if end >= self.bytes.len() {
                return start;
            }
            start = end;
        }
    }

    /// The offset of the entry that begins nearest to the middle of the block, and is not the first.
    pub(super) fn cut_in_middle(&self) -> usize {
        let total = self.bytes.len();
        let mut cut = Entry::at(&self.bytes, 0).end;
        while cut < total / 2 {
            let next = Entry::at(&self.bytes, cut).end;
            // Past the middle by more than `cut` is short of it: the next one would be the worse choice.
            if next + cut > total || next >= total {
                break;
            }
            cut = next;
        }
        cut
    }

    /// How many entries begin before `offset`.
    pub(super) fn count_before(&self, offset: usize) -> u64 {
        let mut start = 0;
        let mut count = 0;
        while start < offset {
            start = Entry::at(&self.bytes, start).end;
            count += 1;
        }
        count
    }

    /// The key of the entry that begins at `offset`.
    pub(super) fn key_at(&self, offset: usize) -> &[u8] {
        let entry = Entry::at(&self.bytes, offset);
        &self.bytes[entry.key..entry.value]
    }

    fn find(&self, key: &[u8]) -> Place {
        let bytes = self.bytes.as_slice();
        touch(bytes);
        let mut before = 0;
        let mut start = 0;
        while start < bytes.len() {
            let entry = Entry::at(bytes, start);
            match bytes[entry.key..entry.value].cmp(key) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => return Place { before, start, found: Some(entry) },
                std::cmp::Ordering::Greater => break,
            }
            before += 1;
            start = entry.end;
        }
        Place { before, start, found: None }
    }

    /// Puts an entry in the place of the bytes `start..end`.
    fn overwrite(&mut self, start: usize, end: usize, key: &[u8], value: &[u8], heap: &mut Heap) {
        let mut header = [0; HEADER_MAX_BYTES];
        let key_at = write_length(&mut header, 0, key.len());
        let header_bytes = write_length(&mut header, key_at, value.len());
        let new_end = start + header_bytes + key.len() + value.len();
        let old_size = self.bytes.len();
        if new_end > end {
            let before = self.heap_bytes();
            let step = if old_size < SMALL_BYTES { SMALL_STEP_BYTES } else { STEP_BYTES };
            make_room(&mut self.bytes, new_end - end, step);
            heap.change(before, self.heap_bytes());
            self.bytes.resize(old_size + (new_end - end), 0);
            self.bytes.copy_within(end..old_size, new_end);
        } else {
            self.bytes.drain(new_end..end);
        }
        let (header_part, rest) = self.bytes[start..new_end].split_at_mut(header_bytes);
        let (key_part, value_part) = rest.split_at_mut(key.len());
        header_part.copy_from_slice(&header[..header_bytes]);
        key_part.copy_from_slice(key);
        value_part.copy_from_slice(value);
        if new_end < end {
            self.fit(heap);
        }
    }

    fn fit(&mut self, heap: &mut Heap) {
        let before = self.heap_bytes();
        let step = if self.bytes.len() < SMALL_BYTES { SMALL_STEP_BYTES } else { STEP_BYTES };
        give_back(&mut self.bytes, step);
        heap.change(before, self.heap_bytes());
    }
}

/// How many bytes an entry takes.
pub(super) fn entry_bytes(key: &[u8], value: &[u8]) -> usize {
    length_bytes(key.len()) + length_bytes(value.len()) + key.len() + value.len()
}

/// How many bytes a length takes.
fn length_bytes(length: usize) -> usize {
    (usize::BITS - length.leading_zeros()).max(1).div_ceil(7) as usize
}

/// Appends an entry to packed ones.
pub(super) fn write_entry(packed: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    let mut header = [0; HEADER_MAX_BYTES];
    let key_at = write_length(&mut header, 0, key.len());
    let header_len = write_length(&mut header, key_at, value.len());
    packed.extend_from_slice(header.get(..header_len).unwrap_or_default());
    packed.extend_from_slice(key);
    packed.extend_from_slice(value);
}

impl Entry {
    #[inline]
    fn at(bytes: &[u8], start: usize) -> Entry {
        let (key_len, at) = read_length(bytes, start);
        let (value_len, key) = read_length(bytes, at);
        let value = key + key_len;
        Entry { start, key, value, end: value + value_len }
    }
}

/// Reads a byte of every cache line, so that the processor fetches all of them at once.
///
/// A walk finds out where an entry begins only when the line with the one before it has arrived, so in a big tree it
/// would wait for memory line after line. Measured with a million entries, this takes a quarter off a lookup and
/// halves a step of an iterator.
#[inline]
fn touch(bytes: &[u8]) {
    if bytes.len() > CACHE_LINE_BYTES && bytes.len() <= TOUCH_MAX_BYTES {
        let sum = bytes.iter().step_by(CACHE_LINE_BYTES).fold(0, |sum, byte| sum ^ byte);
        std::hint::black_box(sum);
    }
}

/// Takes the first entry off a run of packed entries.
#[inline]
pub(super) fn split_first<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let bytes = *rest;
    if bytes.is_empty() {
        return None;
    }
    let entry = Entry::at(bytes, 0);
    let (entry_bytes, after) = bytes.split_at(entry.end);
    *rest = after;
    let (head, value) = entry_bytes.split_at(entry.value);
    Some((&head[entry.key..], value))
}

/// A length and the offset behind it.
#[inline]
fn read_length(bytes: &[u8], at: usize) -> (usize, usize) {
    let first = bytes[at];
    if first < 0x80 { (usize::from(first), at + 1) } else { read_long_length(bytes, at) }
}

#[inline(never)]
fn read_long_length(bytes: &[u8], at: usize) -> (usize, usize) {
    let mut length = 0;
    let mut shift = 0;
    let mut at = at;
    loop {
        let byte = bytes[at];
        length |= usize::from(byte & 0x7f) << shift;
        at += 1;
        if byte < 0x80 {
            return (length, at);
        }
        shift += 7;
    }
}

/// Writes a length and returns the offset behind it.
fn write_length(into: &mut [u8; HEADER_MAX_BYTES], at: usize, length: usize) -> usize {
    let mut left = length;
    let mut at = at;
    while left >= 0x80 {
        into[at] = (left & 0x7f) as u8 | 0x80;
        left >>= 7;
        at += 1;
    }
    into[at] = left as u8;
    at + 1
}

//! A leaf: entries in ascending order of their keys, packed into one block of bytes.
//!
//! ```text
//! leaf   = prefix length (varint) | prefix | entry …
//! entry  = suffix length (varint) | value length (varint) | suffix | value
//! varint = seven bits a byte, the lowest first; the top bit says that more follow
//! ```
//!
//! A key is the leaf's prefix and its entry's suffix: keys that are neighbours in a large collection begin with the same
//! bytes, which the leaf holds once. A leaf without entries has no bytes at all.
//!
//! Invariant: all keys begin with the prefix. It is as long as it can be when the leaf is made, split or merged; a new key
//! may make it shorter, a removal leaves it as it is.
//!
//! There is no table of offsets: it would cost two bytes for each entry, and a leaf is short enough to walk.
//!
//! A leaf promises order and exact bytes. How large it may become is decided by `node.rs`. The bytes never leave
//! memory, so they are trusted: a length that leads outside the block is a bug of this file and may panic.

use std::cmp::Ordering;

use super::change::{Change, Effect, Growth, Replaced};
use super::entry::{
    Entry, HEADER_MAX_BYTES, Packed, pack, packed_bytes, read_length, write_entry, write_length,
};
use super::heap::{Heap, give_back, make_room};
use super::separators::common_len;

/// A leaf of fewer bytes than this grows in small steps: most trees are small hashes, of which there are millions.
const SMALL_BYTES: usize = 128;
const SMALL_STEP_BYTES: usize = 16;
const STEP_BYTES: usize = 64;

const CACHE_LINE_BYTES: usize = 64;
/// More than a full leaf; what is larger holds a single entry.
const TOUCH_MAX_BYTES: usize = 2048;

/// Packed entries. Invariant: the keys ascend strictly.
pub(super) struct Leaf {
    bytes: Vec<u8>,
}

/// Where a key lies or belongs.
struct Place {
    /// How many entries have smaller keys.
    before: u64,
    /// Where the entry begins, or would have to begin.
    start: usize,
    found: Option<Entry>,
}

impl Leaf {
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A leaf of these entries, whose keys ascend; none if there are none.
    pub(super) fn of(entries: Packed<'_>) -> Self {
        Self { bytes: pack(&[entries]) }
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// All entries.
    pub(super) fn entries(&self) -> Packed<'_> {
        touch(&self.bytes);
        self.packed()
    }

    /// The entries from an offset on.
    pub(super) fn entries_from(&self, offset: usize) -> Packed<'_> {
        Packed { prefix: self.prefix(), entries: &self.bytes[offset..] }
    }

    /// The entries before an offset.
    pub(super) fn entries_to(&self, offset: usize) -> Packed<'_> {
        let first = self.first();
        Packed { prefix: self.prefix(), entries: &self.bytes[first..offset.max(first)] }
    }

    pub(super) fn has_many_entries(&self) -> bool {
        !self.bytes.is_empty() && Entry::at(&self.bytes, self.first()).end < self.bytes.len()
    }

    /// The bytes of a leaf with the entries of this one and of the one to its right.
    pub(super) fn size_with(&self, right: &Leaf) -> usize {
        packed_bytes(&[self.packed(), right.packed()])
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let entry = self.find(key).found?;
        Some(&self.bytes[entry.value..entry.end])
    }

    /// The value of `key`, whose bytes may be changed.
    pub(super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut [u8]> {
        let entry = self.find(key).found?;
        Some(&mut self.bytes[entry.value..entry.end])
    }

    /// Makes the processor fetch the leaf.
    pub(super) fn fetch(&self) {
        touch(&self.bytes);
    }

    pub(super) fn rank(&self, key: &[u8]) -> u64 {
        self.find(key).before
    }

    /// Where the entry of that rank begins; the end of the block if there are not so many.
    pub(super) fn offset_of(&self, rank: u64) -> usize {
        touch(&self.bytes);
        let mut start = self.first();
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

    /// Makes the changes at the front of `changes` whose keys lie below `until`, and takes them off it.
    pub(super) fn apply(
        &mut self,
        changes: &mut &[Change<'_>],
        until: Option<&[u8]>,
        replaced: Replaced<'_>,
        heap: &mut Heap,
    ) -> Effect {
        touch(&self.bytes);
        let size_before = self.bytes.len();
        let (mut added, mut at_first, mut at_last) = (0, true, true);
        // Keys before it are smaller than that of the next change.
        let mut from = self.first();
        // Where the entries end that came before all others.
        let mut front = from;
        while let Some((change, rest)) = changes.split_first()
            && until.is_none_or(|until| change.key < until)
        {
            *changes = rest;
            let place = self.find_from(from, change.key);
            match (place.found, change.value) {
                (None, None) => from = place.start,
                (None, Some(value)) => {
                    let is_front = place.start == front;
                    at_last &= place.start == self.bytes.len();
                    from = self.add(place.start, change.key, value, heap);
                    front = if is_front { from } else { 0 };
                    at_first &= is_front;
                    added += 1;
                }
                (Some(entry), Some(value)) => {
                    (at_first, at_last) = (false, false);
                    let old = &mut self.bytes[entry.value..entry.end];
                    replaced(change.key, old);
                    from = if old.len() == value.len() {
                        old.copy_from_slice(value);
                        entry.end
                    } else {
                        let prefix_len = self.prefix().len();
                        self.overwrite(entry.start, entry.end, &change.key[prefix_len..], value, heap)
                    };
                }
                (Some(entry), None) => {
                    (at_first, at_last) = (false, false);
                    replaced(change.key, &self.bytes[entry.value..entry.end]);
                    self.bytes.drain(entry.start..entry.end);
                    if self.bytes.len() == self.first() {
                        self.bytes.clear();
                    }
                    self.fit(heap);
                    from = entry.start.min(self.bytes.len());
                    added -= 1;
                }
            }
        }
        let growth = match (at_first, at_last) {
            (_, true) => Growth::AtLast,
            (true, false) => Growth::AtFirst,
            (false, false) => Growth::InMiddle,
        };
        Effect { added, shrank: self.bytes.len() < size_before, growth }
    }

    /// Moves everything from `cut` on, which is an entry but the first, into a new leaf.
    pub(super) fn split_off(&mut self, cut: usize, heap: &mut Heap) -> Leaf {
        let before = self.heap_bytes();
        let right = Leaf::of(self.entries_from(cut));
        let left = Leaf::of(self.entries_to(cut));
        heap.change(before, left.heap_bytes() + right.heap_bytes());
        *self = left;
        right
    }

    /// Appends the entries of a leaf whose keys are all larger.
    pub(super) fn append(&mut self, right: Leaf, heap: &mut Heap) {
        let before = self.heap_bytes() + right.heap_bytes();
        self.bytes = pack(&[self.packed(), right.packed()]);
        heap.change(before, self.heap_bytes());
    }

    /// The offset of the first entry but one from which on all entries fit into a leaf of so many bytes; that of the last if
    /// not even it fits.
    pub(super) fn cut_to_fill_right(&self, max_bytes: usize) -> usize {
        let first = self.first();
        let mut cut = Entry::at(&self.bytes, first).end;
        while first + self.bytes.len() - cut > max_bytes {
            let next = Entry::at(&self.bytes, cut).end;
            if next >= self.bytes.len() {
                break;
            }
            cut = next;
        }
        cut
    }

    /// The offset of the last entry before which all entries fit into a leaf of so many bytes; that of the second if not even
    /// the first fits.
    pub(super) fn cut_to_fill_left(&self, max_bytes: usize) -> usize {
        let mut cut = Entry::at(&self.bytes, self.first()).end;
        loop {
            let next = Entry::at(&self.bytes, cut).end;
            if next > max_bytes || next >= self.bytes.len() {
                return cut;
            }
            cut = next;
        }
    }

    /// The offset of the last entry.
    pub(super) fn cut_before_last(&self) -> usize {
        let mut start = self.first();
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
        let total = self.bytes.len() + self.first();
        let mut cut = Entry::at(&self.bytes, self.first()).end;
        while cut < total / 2 {
            let next = Entry::at(&self.bytes, cut).end;
            // Past the middle by more than `cut` is short of it: the next one would be the worse choice.
            if next + cut > total || next >= self.bytes.len() {
                break;
            }
            cut = next;
        }
        cut
    }

    /// How many entries begin before `offset`.
    pub(super) fn count_before(&self, offset: usize) -> u64 {
        self.entries_to(offset).count()
    }

    /// The key of the entry that begins at `offset`.
    pub(super) fn key_at(&self, offset: usize) -> Vec<u8> {
        let entry = Entry::at(&self.bytes, offset);
        [self.prefix(), &self.bytes[entry.suffix..entry.value]].concat()
    }

    /// The key of the first entry.
    pub(super) fn first_key(&self) -> Vec<u8> {
        self.key_at(self.first())
    }

    /// Where the prefix lies.
    #[inline]
    fn prefix_range(&self) -> (usize, usize) {
        if self.bytes.is_empty() {
            return (0, 0);
        }
        let (len, start) = read_length(&self.bytes, 0);
        (start, start + len)
    }

    #[inline]
    fn prefix(&self) -> &[u8] {
        let (start, end) = self.prefix_range();
        &self.bytes[start..end]
    }

    /// Where the first entry begins.
    #[inline]
    fn first(&self) -> usize {
        self.prefix_range().1
    }

    fn packed(&self) -> Packed<'_> {
        self.entries_from(self.first())
    }

    fn find(&self, key: &[u8]) -> Place {
        touch(&self.bytes);
        self.find_from(self.first(), key)
    }

    /// Where a key lies that is larger than all before the entry at `from`; `before` is counted from there.
    fn find_from(&self, from: usize, key: &[u8]) -> Place {
        let bytes = self.bytes.as_slice();
        let (prefix_start, first) = self.prefix_range();
        let prefix = &bytes[prefix_start..first];
        let Some(suffix) = key.strip_prefix(prefix) else {
            let packed = Packed { prefix, entries: &bytes[first..] };
            let is_behind = key > prefix;
            let (before, start) = if is_behind { (packed.count(), bytes.len()) } else { (0, first) };
            return Place { before, start, found: None };
        };
        let head = head_of(suffix);
        let mut before = 0;
        let mut start = from;
        while start < bytes.len() {
            let (entry, order) = compare(bytes, start, suffix, head);
            match order {
                Ordering::Less => {}
                Ordering::Equal => return Place { before, start, found: Some(entry) },
                Ordering::Greater => break,
            }
            before += 1;
            start = entry.end;
        }
        Place { before, start, found: None }
    }

    /// Adds an entry that is not there yet, where it has to begin, and returns where it ends.
    fn add(&mut self, start: usize, key: &[u8], value: &[u8], heap: &mut Heap) -> usize {
        let (prefix_start, first) = self.prefix_range();
        let prefix = &self.bytes[prefix_start..first];
        let common = common_len(prefix, key);
        if self.bytes.is_empty() {
            // How long the prefix may be nobody knows before the next key comes, and it matters in a large tree only: its
            // leaves come out of splits.
            self.reserve(1, heap);
            self.bytes.push(0);
            return self.overwrite(1, 1, key, value, heap);
        }
        if common == prefix.len() {
            return self.overwrite(start, start, &key[common..], value, heap);
        }
        let mut single = Vec::new();
        write_entry(&mut single, (&[], &key[common..]), value);
        let added = Packed { prefix: &key[..common], entries: &single };
        let before = self.heap_bytes();
        self.bytes = pack(&[self.entries_to(start), added, self.entries_from(start)]);
        heap.change(before, self.heap_bytes());
        let place = self.find(key);
        place.found.map_or(place.start, |entry| entry.end)
    }

    /// Puts an entry in the place of the bytes `start..end`, and returns where it ends.
    fn overwrite(&mut self, start: usize, end: usize, suffix: &[u8], value: &[u8], heap: &mut Heap) -> usize {
        let mut header = [0; HEADER_MAX_BYTES];
        let suffix_at = write_length(&mut header, 0, suffix.len());
        let header_bytes = write_length(&mut header, suffix_at, value.len());
        let new_end = start + header_bytes + suffix.len() + value.len();
        let old_size = self.bytes.len();
        if new_end > end {
            self.reserve(new_end - end, heap);
            self.bytes.resize(old_size + (new_end - end), 0);
            self.bytes.copy_within(end..old_size, new_end);
        } else {
            self.bytes.drain(new_end..end);
        }
        let (header_part, rest) = self.bytes[start..new_end].split_at_mut(header_bytes);
        let (suffix_part, value_part) = rest.split_at_mut(suffix.len());
        header_part.copy_from_slice(&header[..header_bytes]);
        suffix_part.copy_from_slice(suffix);
        value_part.copy_from_slice(value);
        if new_end < end {
            self.fit(heap);
        }
        new_end
    }

    fn reserve(&mut self, extra: usize, heap: &mut Heap) {
        let before = self.heap_bytes();
        let step = step_of(self.bytes.len());
        make_room(&mut self.bytes, extra, step);
        heap.change(before, self.heap_bytes());
    }

    fn fit(&mut self, heap: &mut Heap) {
        let before = self.heap_bytes();
        let step = step_of(self.bytes.len());
        give_back(&mut self.bytes, step);
        heap.change(before, self.heap_bytes());
    }
}

/// By how much a block of so many bytes grows.
fn step_of(bytes: usize) -> usize {
    if bytes < SMALL_BYTES { SMALL_STEP_BYTES } else { STEP_BYTES }
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

/// The entry at `start`, and how its suffix compares with another one, of which `head` is the beginning as a number. Most
/// differ there, and to compare numbers costs less than to call for a comparison of bytes.
#[inline]
fn compare(bytes: &[u8], start: usize, suffix: &[u8], head: u64) -> (Entry, Ordering) {
    let (entry, own_head) = match bytes[start..].first_chunk::<10>() {
        // Nearly all: both lengths are a byte, and eight more bytes of the block follow.
        Some([suffix_len, value_len, first @ ..]) if (suffix_len | value_len) < 0x80 => {
            let (suffix_len, value_len) = (usize::from(*suffix_len), usize::from(*value_len));
            let value = start + 2 + suffix_len;
            let entry = Entry { start, suffix: start + 2, value, end: value + value_len };
            // What follows the suffix is not a part of it.
            let mask = !u64::MAX.checked_shr(8 * suffix_len as u32).unwrap_or(0);
            (entry, u64::from_be_bytes(*first) & mask)
        }
        _ => {
            let entry = Entry::at(bytes, start);
            (entry, head_of(&bytes[entry.suffix..entry.value]))
        }
    };
    let order = match own_head.cmp(&head) {
        Ordering::Equal => compare_equal_heads(&bytes[entry.suffix..entry.value], suffix),
        different => different,
    };
    (entry, order)
}

/// Compares two suffixes that have the same head.
#[inline]
fn compare_equal_heads(own: &[u8], other: &[u8]) -> Ordering {
    if own.len() <= 8 && other.len() <= 8 {
        // Missing bytes count as zeros, so the shorter one is the smaller.
        return own.len().cmp(&other.len());
    }
    own.cmp(other)
}

/// The first eight bytes as a number that orders as they do; missing bytes count as zeros.
fn head_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(head) => u64::from_be_bytes(*head),
        None => {
            let mut head = [0; 8];
            head[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(head)
        }
    }
}

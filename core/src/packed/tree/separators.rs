//! The keys between the children of a branch, packed into one block.
//!
//! A separator is the shortest byte string that is larger than every key on its left and not larger than any on its
//! right, so it is usually a few bytes even where keys are long.
//!
//! What all separators of a branch begin with is compared once. The four bytes behind that, the *head*, are kept as
//! one number for each separator; a binary search among them needs no branch that the processor would have to guess
//! and touches few cache lines. Only separators with the same head as the key are compared in full.

use super::heap::{give_back, make_room};

const BYTES_STEP: usize = 64;
const ENDS_STEP: usize = 8;

/// Invariant: the separators ascend strictly, and `ends` holds where each ends in `bytes`. `prefix_len` and `heads`
/// follow from them.
pub(super) struct Separators {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    heads: Vec<u32>,
    /// How many bytes all separators have in common at their beginning.
    prefix_len: usize,
}

impl Separators {
    pub(super) const fn new() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), heads: Vec::new(), prefix_len: 0 }
    }

    /// These separators, which ascend.
    pub(super) fn of(all: &[Vec<u8>]) -> Self {
        let mut separators = Self::new();
        make_room(&mut separators.bytes, all.iter().map(Vec::len).sum(), BYTES_STEP);
        make_room(&mut separators.ends, all.len(), ENDS_STEP);
        for separator in all {
            separators.bytes.extend_from_slice(separator);
            separators.ends.push(separators.bytes.len());
        }
        separators.find_heads();
        separators
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.heads.capacity() * size_of::<u32>()
    }

    /// The shortest separator of two neighbouring keys: the prefix of the right one that ends where they first differ.
    pub(super) fn between<'a>(left: &[u8], right: &'a [u8]) -> &'a [u8] {
        let different = common_len(left, right) + 1;
        &right[..right.len().min(different)]
    }

    /// How many separators are not larger than `key`: the index of the child that `key` belongs to.
    pub(super) fn child_of(&self, key: &[u8]) -> usize {
        let prefix = &self.bytes[..self.prefix_len];
        let Some(rest) = key.strip_prefix(prefix) else {
            return if key < prefix { 0 } else { self.ends.len() };
        };
        let head = head_of(rest);
        let mut low = self.heads.partition_point(|other| *other < head);
        let mut high = low + self.heads[low..].iter().take_while(|other| **other == head).count();
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    pub(super) fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.start(index)..self.ends[index]]
    }

    pub(super) fn insert(&mut self, index: usize, separator: &[u8]) {
        let start = self.start(index);
        let old_size = self.bytes.len();
        make_room(&mut self.bytes, separator.len(), BYTES_STEP);
        self.bytes.resize(old_size + separator.len(), 0);
        self.bytes.copy_within(start..old_size, start + separator.len());
        self.bytes[start..start + separator.len()].copy_from_slice(separator);
        make_room(&mut self.ends, 1, ENDS_STEP);
        self.ends.insert(index, start);
        for end in &mut self.ends[index..] {
            *end += separator.len();
        }
        self.find_heads();
    }

    pub(super) fn remove(&mut self, index: usize) {
        let start = self.start(index);
        let end = self.ends.remove(index);
        self.bytes.drain(start..end);
        for later in &mut self.ends[index..] {
            *later -= end - start;
        }
        self.fit();
        self.find_heads();
    }

    /// Keeps the separators before `index` and returns the one at `index` and those behind it.
    pub(super) fn split_off(&mut self, index: usize) -> (Vec<u8>, Separators) {
        let start = self.start(index);
        let end = self.ends[index];
        let right_bytes = self.bytes.split_off(end);
        let separator = self.bytes.split_off(start);
        let mut right_ends = self.ends.split_off(index + 1);
        for right_end in &mut right_ends {
            *right_end -= end;
        }
        self.ends.truncate(index);
        self.fit();
        self.find_heads();
        let mut right = Separators { bytes: right_bytes, ends: right_ends, heads: Vec::new(), prefix_len: 0 };
        right.find_heads();
        (separator, right)
    }

    /// Appends `separator` and then those of `right`.
    pub(super) fn append(&mut self, separator: &[u8], right: &Separators) {
        make_room(&mut self.bytes, separator.len() + right.bytes.len(), BYTES_STEP);
        make_room(&mut self.ends, 1 + right.ends.len(), ENDS_STEP);
        self.bytes.extend_from_slice(separator);
        let offset = self.bytes.len();
        self.ends.push(offset);
        self.bytes.extend_from_slice(&right.bytes);
        self.ends.extend(right.ends.iter().map(|end| offset + end));
        self.find_heads();
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |previous| self.ends[previous])
    }

    fn fit(&mut self) {
        give_back(&mut self.bytes, BYTES_STEP);
        give_back(&mut self.ends, ENDS_STEP);
    }

    fn find_heads(&mut self) {
        let mut heads = std::mem::take(&mut self.heads);
        heads.clear();
        make_room(&mut heads, self.ends.len(), ENDS_STEP);
        self.prefix_len = match self.ends.len().checked_sub(1) {
            Some(last) => common_len(self.get(0), self.get(last)),
            None => 0,
        };
        heads.extend((0..self.ends.len()).map(|index| head_of(&self.get(index)[self.prefix_len..])));
        give_back(&mut heads, ENDS_STEP);
        self.heads = heads;
    }
}

/// The first four bytes as a number that orders as they do, but for equal numbers; missing bytes count as zero.
fn head_of(bytes: &[u8]) -> u32 {
    match bytes.first_chunk() {
        Some(head) => u32::from_be_bytes(*head),
        None => {
            let mut head = [0; 4];
            head[..bytes.len()].copy_from_slice(bytes);
            u32::from_be_bytes(head)
        }
    }
}

/// How many bytes two strings have in common at their beginning.
pub(super) fn common_len(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

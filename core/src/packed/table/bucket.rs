//! One bucket: a few dozen entries in one block of bytes.
//!
//! ```text
//! header   u32: how many entries; the top bit says that some entry is long
//! groups   one per 8 entries: 8 tags, then 8 lengths, a byte each; both are 0 past the last entry
//! entries  in the order of their tags: key length (varint), key, payload; a long entry begins with the length
//!          of the rest (varint) and its length byte is 255
//! slack    zero or more unused bytes
//! ```
//!
//! The start of an entry is the sum of the lengths before it, which eight bytes at a time is cheaper than an offset
//! per entry and half as large. A bucket without entries owns no block. The bytes are ours alone and live in memory
//! only: no bytes from outside are ever parsed here.

use smallvec::SmallVec;

const HEADER_BYTES: usize = 4;
/// Entries per group.
const GROUP: usize = 8;
/// A tag and a length byte for each entry of a group.
const GROUP_BYTES: usize = 2 * GROUP;
/// The length byte of an entry that begins with its own length.
const LONG: u8 = u8::MAX;
/// The bit of the header that says that some entry may be long.
const HAS_LONG: u32 = 1 << 31;
/// What an allocator adds to a block, about: block sizes are chosen so that block and overhead fill its classes.
const ALLOCATION_BYTES: usize = 8;
/// What a processor fetches at once, as a rule.
const CACHE_LINE_BYTES: usize = 64;
/// Every byte of a word set to one.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Some entries in one block; see the module.
#[derive(Default)]
pub(super) struct Bucket {
    block: Box<[u8]>,
}

/// Where an entry lies in its bucket. Good until the bucket changes.
pub(super) struct Place {
    index: usize,
    start: usize,
    payload: usize,
    end: usize,
}

/// An entry as it lies in its block.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    index: usize,
    start: usize,
    tag: u8,
    length: u8,
    /// The whole entry, lengths included.
    bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Where the key begins and ends within `bytes`; the payload is the rest.
    fn key_range(&self) -> (usize, usize) {
        key_range(self.bytes, self.length)
    }

    pub(super) fn key(&self) -> &'a [u8] {
        let (start, end) = self.key_range();
        &self.bytes[start..end]
    }

    pub(super) fn payload(&self) -> &'a [u8] {
        &self.bytes[self.key_range().1..]
    }

    #[cfg(test)]
    pub(super) fn tag(&self) -> u8 {
        self.tag
    }

    fn place(&self) -> Place {
        Place {
            index: self.index,
            start: self.start,
            payload: self.start + self.key_range().1,
            end: self.start + self.bytes.len(),
        }
    }
}

/// Walks a bucket from its first entry to its last.
#[derive(Clone)]
pub(super) struct Entries<'a> {
    block: &'a [u8],
    index: usize,
    count: usize,
    start: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        if self.index == self.count {
            return None;
        }
        let (index, start) = (self.index, self.start);
        let lane = lane(index);
        let (tag, length) = (self.block[lane], self.block[lane + GROUP]);
        let rest = &self.block[start..];
        let bytes = &rest[..entry_length(rest, length)];
        self.index += 1;
        self.start += bytes.len();
        Some(Entry { index, start, tag, length, bytes })
    }
}

impl Bucket {
    pub(super) fn len(&self) -> usize {
        self.header().0
    }

    /// Memory this bucket owns, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        if self.block.is_empty() { 0 } else { self.block.len() + ALLOCATION_BYTES }
    }

    /// Bytes of the block in use.
    pub(super) fn used_bytes(&self) -> usize {
        let (count, has_long) = self.header();
        if count == 0 {
            return 0;
        }
        if has_long {
            return self.entries().last().map_or(0, |entry| entry.start + entry.bytes.len());
        }
        self.groups(count).iter().fold(entries_start(count), |end, group| end + sum(split_group(group).1))
    }

    pub(super) fn entries(&self) -> Entries<'_> {
        let count = self.len();
        Entries { block: &self.block, index: 0, count, start: entries_start(count) }
    }

    /// Reads where the tags are. The result means nothing.
    #[inline(always)]
    pub(super) fn touch_tags(&self) -> u8 {
        self.byte(0) ^ self.byte(CACHE_LINE_BYTES)
    }

    /// Where the first entry with this tag begins, or where one would be added.
    pub(super) fn place_of_tag(&self, tag: u8) -> usize {
        let (count, _) = self.header();
        let pattern = u64::from(tag) * ONES;
        let mut start = entries_start(count);
        for group in self.groups(count) {
            let (tags, lengths) = split_group(group);
            let matches = zero_bytes(tags ^ pattern);
            if matches != 0 {
                let shift = matches.trailing_zeros() & !7;
                return start + sum(lengths & ((1 << shift) - 1));
            }
            start += sum(lengths);
        }
        start
    }

    /// Reads a small entry that begins here. The result means nothing.
    #[inline(always)]
    pub(super) fn touch_entry(&self, start: usize) -> u8 {
        self.byte(start) ^ self.byte(start + CACHE_LINE_BYTES / 2)
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        self.block.get(at).copied().unwrap_or(0)
    }

    pub(super) fn find(&self, tag: u8, key: &[u8]) -> Option<Place> {
        let (count, has_long) = self.header();
        if has_long {
            let found = self.entries().find(|entry| entry.tag == tag && entry.key() == key);
            return found.map(|entry| entry.place());
        }
        let pattern = u64::from(tag) * ONES;
        let mut group_start = entries_start(count);
        for (number, group) in self.groups(count).iter().enumerate() {
            let (tags, lengths) = split_group(group);
            let mut matches = zero_bytes(tags ^ pattern);
            while matches != 0 {
                let shift = matches.trailing_zeros() & !7;
                let length = (lengths >> shift) as u8;
                let start = group_start + sum(lengths & ((1 << shift) - 1));
                let end = start + usize::from(length);
                // Lanes past the last entry have length zero.
                if length != 0 {
                    let (key_start, key_end) = key_range(&self.block[start..end], length);
                    if &self.block[start + key_start..start + key_end] == key {
                        let index = number * GROUP + shift as usize / 8;
                        return Some(Place { index, start, payload: start + key_end, end });
                    }
                }
                matches &= matches - 1;
            }
            group_start += sum(lengths);
        }
        None
    }

    pub(super) fn payload(&self, place: &Place) -> &[u8] {
        &self.block[place.payload..place.end]
    }

    pub(super) fn payload_mut(&mut self, place: &Place) -> &mut [u8] {
        &mut self.block[place.payload..place.end]
    }

    /// Adds an entry whose key is not there yet.
    pub(super) fn append(&mut self, tag: u8, key: &[u8], payload: &[u8]) {
        let (count, has_long) = self.header();
        let size = EntrySize::of(key, payload);
        let mut end = self.used_bytes().max(HEADER_BYTES);
        let opens_group = count.is_multiple_of(GROUP);
        self.reserve(end + size.total + if opens_group { GROUP_BYTES } else { 0 });
        if opens_group {
            let groups_end = entries_start(count);
            self.resize(groups_end, 0, GROUP_BYTES, end);
            self.block[groups_end..groups_end + GROUP_BYTES].fill(0);
            end += GROUP_BYTES;
        }
        size.write(&mut self.block[end..end + size.total], key, payload);
        self.set_lane(count, tag, size.length);
        self.set_header(count + 1, has_long || size.length == LONG);
    }

    /// Gives the entry at `place` another payload.
    pub(super) fn replace(&mut self, place: &Place, key: &[u8], payload: &[u8]) {
        if payload.len() == place.end - place.payload {
            self.payload_mut(place).copy_from_slice(payload);
            return;
        }
        let (count, has_long) = self.header();
        let size = EntrySize::of(key, payload);
        let used = self.used_bytes();
        self.resize(place.start, place.end - place.start, size.total, used);
        size.write(&mut self.block[place.start..place.start + size.total], key, payload);
        let tag = self.block[lane(place.index)];
        self.set_lane(place.index, tag, size.length);
        self.set_header(count, has_long || size.length == LONG);
        self.fit();
    }

    pub(super) fn remove(&mut self, place: &Place) {
        let (count, has_long) = self.header();
        if count == 1 {
            self.block = Box::default();
            return;
        }
        let mut used = self.used_bytes();
        self.resize(place.start, place.end - place.start, 0, used);
        used -= place.end - place.start;
        for index in place.index + 1..count {
            let (tag, length) = self.lane_values(index);
            self.set_lane(index - 1, tag, length);
        }
        self.set_lane(count - 1, 0, 0);
        self.close_groups(count, count - 1, used);
        self.set_header(count - 1, has_long);
        self.fit();
    }

    /// Shows every entry to `keep`, which may change the payload's bytes, and drops those it refuses. Returns how
    /// many went.
    pub(super) fn retain(&mut self, keep: &mut dyn FnMut(&[u8], &mut [u8]) -> bool) -> usize {
        let (count, _) = self.header();
        let (mut from, mut to, mut kept, mut has_long) =
            (entries_start(count), entries_start(count), 0, false);
        for index in 0..count {
            let (tag, length) = self.lane_values(index);
            let end = from + entry_length(&self.block[from..], length);
            let (key_start, key_end) = key_range(&self.block[from..end], length);
            let (front, back) = self.block[from..end].split_at_mut(key_end);
            if keep(&front[key_start..], back) {
                if kept != index {
                    self.block.copy_within(from..end, to);
                    self.set_lane(kept, tag, length);
                }
                to += end - from;
                kept += 1;
                has_long |= length == LONG;
            }
            from = end;
        }
        if kept == 0 {
            self.block = Box::default();
        } else if kept < count {
            for index in kept..count {
                self.set_lane(index, 0, 0);
            }
            self.close_groups(count, kept, to);
            self.set_header(kept, has_long);
            self.fit();
        }
        count - kept
    }

    /// Parts the entries into those whose key `goes_high` refuses and those it takes.
    pub(super) fn split(self, goes_high: impl Fn(&[u8]) -> bool) -> (Self, Self) {
        let sides: SmallVec<[bool; 64]> = self.entries().map(|entry| goes_high(entry.key())).collect();
        let side = |entry: &Entry<'_>| sides[entry.index];
        (Self::gather(self.entries().filter(|entry| !side(entry))), Self::gather(self.entries().filter(side)))
    }

    /// One bucket with the entries of both, whose keys must differ.
    pub(super) fn join(self, other: Self) -> Self {
        Self::gather(self.entries().chain(other.entries()))
    }

    fn gather<'a>(entries: impl Iterator<Item = Entry<'a>> + Clone) -> Self {
        let (count, bytes) =
            entries.clone().fold((0, 0), |(count, bytes), entry| (count + 1, bytes + entry.bytes.len()));
        if count == 0 {
            return Self::default();
        }
        let mut start = entries_start(count);
        let mut bucket = Self { block: vec![0; block_size(start + bytes)].into_boxed_slice() };
        let mut has_long = false;
        for (index, entry) in entries.enumerate() {
            bucket.block[start..start + entry.bytes.len()].copy_from_slice(entry.bytes);
            bucket.set_lane(index, entry.tag, entry.length);
            start += entry.bytes.len();
            has_long |= entry.length == LONG;
        }
        bucket.set_header(count, has_long);
        bucket
    }

    /// How many entries there are, and whether one of them may be long.
    fn header(&self) -> (usize, bool) {
        match self.block.first_chunk::<HEADER_BYTES>() {
            Some(header) => {
                let header = u32::from_le_bytes(*header);
                ((header & !HAS_LONG) as usize, header & HAS_LONG != 0)
            }
            None => (0, false),
        }
    }

    fn set_header(&mut self, count: usize, has_long: bool) {
        let header = count as u32 | if has_long { HAS_LONG } else { 0 };
        self.block[..HEADER_BYTES].copy_from_slice(&header.to_le_bytes());
    }

    fn groups(&self, count: usize) -> &[[u8; GROUP_BYTES]] {
        if count == 0 {
            return &[];
        }
        self.block[HEADER_BYTES..entries_start(count)].as_chunks().0
    }

    /// The tag and the length byte of an entry.
    fn lane_values(&self, index: usize) -> (u8, u8) {
        let lane = lane(index);
        (self.block[lane], self.block[lane + GROUP])
    }

    fn set_lane(&mut self, index: usize, tag: u8, length: u8) {
        let lane = lane(index);
        self.block[lane] = tag;
        self.block[lane + GROUP] = length;
    }

    /// Takes out the groups that `count` entries needed and `kept` entries do not.
    fn close_groups(&mut self, count: usize, kept: usize, used: usize) {
        let (from, to) = (entries_start(count), entries_start(kept));
        self.resize(to, from - to, 0, used);
    }

    /// Makes `old` bytes at `start` into `new` bytes by moving what follows, up to `used`.
    fn resize(&mut self, start: usize, old: usize, new: usize, used: usize) {
        self.reserve(used - old + new);
        if old != new {
            self.block.copy_within(start + old..used, start + new);
        }
    }

    fn reserve(&mut self, bytes: usize) {
        if bytes > self.block.len() {
            self.set_block_size(block_size(bytes));
        }
    }

    /// Gives back memory that removals left unused.
    fn fit(&mut self) {
        let wanted = block_size(self.used_bytes());
        // A little more than the size it would get, so that alternating removals and inserts do not reallocate.
        if self.block.len() > wanted + wanted / 4 {
            self.set_block_size(wanted);
        }
    }

    fn set_block_size(&mut self, bytes: usize) {
        let mut block = std::mem::take(&mut self.block).into_vec();
        block.reserve_exact(bytes.saturating_sub(block.len()));
        block.resize(bytes, 0);
        self.block = block.into_boxed_slice();
    }
}

/// How an entry is laid out.
struct EntrySize {
    /// All but the leading length of a long entry.
    body: usize,
    total: usize,
    length: u8,
}

impl EntrySize {
    fn of(key: &[u8], payload: &[u8]) -> Self {
        let body = varint_length(key.len()) + key.len() + payload.len();
        match u8::try_from(body) {
            Ok(length) if length < LONG => Self { body, total: body, length },
            _ => Self { body, total: varint_length(body) + body, length: LONG },
        }
    }

    fn write(&self, out: &mut [u8], key: &[u8], payload: &[u8]) {
        let mut at = if self.length == LONG { write_varint(out, self.body) } else { 0 };
        at += write_varint(&mut out[at..], key.len());
        out[at..at + key.len()].copy_from_slice(key);
        out[at + key.len()..].copy_from_slice(payload);
    }
}

/// Where the entries of a bucket with `count` of them begin.
fn entries_start(count: usize) -> usize {
    HEADER_BYTES + count.div_ceil(GROUP) * GROUP_BYTES
}

/// Where the tag of an entry lies; its length byte is `GROUP` further.
fn lane(index: usize) -> usize {
    HEADER_BYTES + index / GROUP * GROUP_BYTES + index % GROUP
}

/// The tags and the lengths of a group, the first entry in the lowest byte.
fn split_group(group: &[u8; GROUP_BYTES]) -> (u64, u64) {
    let both = u128::from_le_bytes(*group);
    (both as u64, (both >> 64) as u64)
}

/// The sum of the eight bytes of a word (Knuth, TAOCP 4A, 7.1.3).
fn sum(bytes: u64) -> usize {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    let pairs = (bytes & EVEN) + (bytes >> 8 & EVEN);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
}

/// The top bit of every byte that is zero, and perhaps of some above such a byte: callers check again.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

fn entry_length(bytes: &[u8], length: u8) -> usize {
    if length != LONG {
        return usize::from(length);
    }
    let (body, prefix) = read_varint(bytes);
    prefix + body
}

/// Where the key of the entry in `bytes` begins and ends.
fn key_range(bytes: &[u8], length: u8) -> (usize, usize) {
    let prefix = if length == LONG { read_varint(bytes).1 } else { 0 };
    let (key, varint) = read_varint(&bytes[prefix..]);
    (prefix + varint, prefix + varint + key)
}

/// The size to allocate for `bytes`: a multiple of a quantum less what the allocator adds. Blocks grow by a quantum,
/// so it trades unused memory for reallocations; the figures come from measuring.
fn block_size(bytes: usize) -> usize {
    let quantum = match bytes {
        0..256 => 32,
        256..1024 => 128,
        _ => 256,
    };
    (bytes + ALLOCATION_BYTES).next_multiple_of(quantum) - ALLOCATION_BYTES
}

fn varint_length(value: usize) -> usize {
    (usize::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize
}

fn write_varint(out: &mut [u8], mut value: usize) -> usize {
    let mut at = 0;
    while value >= 0x80 {
        out[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    out[at] = value as u8;
    at + 1
}

/// The number and how many bytes it took.
fn read_varint(bytes: &[u8]) -> (usize, usize) {
    let mut value = usize::from(bytes[0] & 0x7F);
    let mut at = 0;
    while bytes[at] & 0x80 != 0 {
        at += 1;
        value |= usize::from(bytes[at] & 0x7F) << (7 * at);
    }
    (value, at + 1)
}

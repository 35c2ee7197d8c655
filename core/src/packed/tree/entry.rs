//! Runs of packed entries, as leaves hold them; `leaf.rs` draws the bytes.

/// Two varints of 64 bits.
pub(super) const HEADER_MAX_BYTES: usize = 20;

/// Where the parts of one entry lie within its block.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) start: usize,
    pub(super) suffix: usize,
    pub(super) value: usize,
    pub(super) end: usize,
}

impl Entry {
    /// The entry that begins at `start`.
    #[inline]
    pub(super) fn at(bytes: &[u8], start: usize) -> Entry {
        let (suffix_len, at) = read_length(bytes, start);
        let (value_len, suffix) = read_length(bytes, at);
        let value = suffix + suffix_len;
        Entry { start, suffix, value, end: value + value_len }
    }
}

/// A key in two parts, as a leaf holds it.
#[derive(Clone, Copy)]
pub struct SplitKey<'a> {
    /// What it has in common with its neighbours.
    pub prefix: &'a [u8],
    /// The rest.
    pub suffix: &'a [u8],
}

impl SplitKey<'_> {
    /// Bytes of both.
    pub fn byte_count(&self) -> usize {
        self.prefix.len() + self.suffix.len()
    }

    /// Whether `bytes` end with the key.
    pub fn is_end_of(&self, bytes: &[u8]) -> bool {
        bytes.strip_suffix(self.suffix).is_some_and(|rest| rest.ends_with(self.prefix))
    }
}

/// Longer keys are put together in an allocated block.
const SHORT_KEY_BYTES: usize = 64;

/// Puts keys together, one after the other. Neighbours have the same prefix, which is copied once.
pub struct KeyBuffer<'a> {
    /// The prefix that `short` begins with.
    prefix: &'a [u8],
    short: [u8; SHORT_KEY_BYTES],
    long: Vec<u8>,
}

impl Default for KeyBuffer<'_> {
    fn default() -> Self {
        KeyBuffer { prefix: &[], short: [0; SHORT_KEY_BYTES], long: Vec::new() }
    }
}

impl<'a> KeyBuffer<'a> {
    /// The whole key.
    #[inline]
    pub fn join(&mut self, key: SplitKey<'a>) -> &[u8] {
        match self.short.get_mut(..key.byte_count()) {
            Some(short) => {
                let (prefix, suffix) = short.split_at_mut(key.prefix.len());
                // Whether it is the very same, not only equal.
                if !std::ptr::eq(key.prefix, self.prefix) {
                    prefix.copy_from_slice(key.prefix);
                    self.prefix = key.prefix;
                }
                suffix.copy_from_slice(key.suffix);
                short
            }
            None => {
                self.long.clear();
                self.long.extend_from_slice(key.prefix);
                self.long.extend_from_slice(key.suffix);
                &self.long
            }
        }
    }
}

/// Entries in ascending order, whose keys all begin with `prefix`.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    pub(super) prefix: &'a [u8],
    pub(super) entries: &'a [u8],
}

impl<'a> Packed<'a> {
    pub(super) const EMPTY: Packed<'static> = Packed { prefix: &[], entries: &[] };

    /// Takes the first entry off: suffix and value.
    #[inline]
    pub(super) fn split_first(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let bytes = self.entries;
        if bytes.is_empty() {
            return None;
        }
        let entry = Entry::at(bytes, 0);
        let (entry_bytes, after) = bytes.split_at(entry.end);
        self.entries = after;
        let (head, value) = entry_bytes.split_at(entry.value);
        Some((&head[entry.suffix..], value))
    }

    /// How many there are.
    pub(super) fn count(mut self) -> u64 {
        let mut count = 0;
        while self.split_first().is_some() {
            count += 1;
        }
        count
    }

    /// The suffixes of the first and the last one, if there are any.
    fn ends(mut self) -> Option<(&'a [u8], &'a [u8])> {
        let (first, _) = self.split_first()?;
        let mut last = first;
        while let Some((suffix, _)) = self.split_first() {
            last = suffix;
        }
        Some((first, last))
    }

    /// The part of a key behind its first `skipped` bytes, in two pieces.
    fn rest<'k>(&self, suffix: &'k [u8], skipped: usize) -> (&'a [u8], &'k [u8]) {
        match skipped.checked_sub(self.prefix.len()) {
            Some(skipped) => (&[], &suffix[skipped..]),
            None => (&self.prefix[skipped..], suffix),
        }
    }
}

/// How many bytes the keys of all runs, which ascend, have in common at their beginning.
fn common_prefix<'a>(runs: &[Packed<'a>]) -> Option<(Packed<'a>, &'a [u8], usize)> {
    let mut ends = runs.iter().filter_map(|run| Some((run, run.ends()?)));
    let (first_run, (first, first_last)) = ends.next()?;
    let (last_run, last) = ends.next_back().map_or((first_run, first_last), |(run, (_, last))| (run, last));
    let first_key = first_run.prefix.iter().chain(first);
    let last_key = last_run.prefix.iter().chain(last);
    let common = first_key.zip(last_key).take_while(|(first, last)| first == last).count();
    Some((*first_run, first, common))
}

/// Writes runs of entries, whose keys ascend from one to the next, as one run with the longest prefix; nothing if there are no
/// entries.
pub(super) fn pack(runs: &[Packed<'_>]) -> Vec<u8> {
    let Some((first_run, first, common)) = common_prefix(runs) else { return Vec::new() };
    let mut out = Vec::with_capacity(bytes_with(runs, common));
    let mut length = [0; HEADER_MAX_BYTES];
    let length_len = write_length(&mut length, 0, common);
    out.extend_from_slice(&length[..length_len]);
    let of_prefix = common.min(first_run.prefix.len());
    out.extend_from_slice(&first_run.prefix[..of_prefix]);
    out.extend_from_slice(&first[..common - of_prefix]);
    for run in runs {
        if run.prefix.len() == common {
            out.extend_from_slice(run.entries);
            continue;
        }
        let mut left = *run;
        while let Some((suffix, value)) = left.split_first() {
            let (front, back) = run.rest(suffix, common);
            write_entry(&mut out, (front, back), value);
        }
    }
    out
}

/// How many bytes [`pack`] would make of these runs.
pub(super) fn packed_bytes(runs: &[Packed<'_>]) -> usize {
    common_prefix(runs).map_or(0, |(_, _, common)| bytes_with(runs, common))
}

fn bytes_with(runs: &[Packed<'_>], common: usize) -> usize {
    let of_run = |run: &Packed<'_>| {
        if run.prefix.len() == common {
            return run.entries.len();
        }
        let (mut left, mut bytes) = (*run, 0);
        while let Some((suffix, value)) = left.split_first() {
            bytes += entry_bytes(run.prefix.len() + suffix.len() - common, value.len());
        }
        bytes
    };
    length_bytes(common) + common + runs.iter().map(of_run).sum::<usize>()
}

/// How many bytes an entry takes.
pub(super) fn entry_bytes(suffix_len: usize, value_len: usize) -> usize {
    length_bytes(suffix_len) + length_bytes(value_len) + suffix_len + value_len
}

/// How many bytes a length takes.
pub(super) fn length_bytes(length: usize) -> usize {
    (usize::BITS - length.leading_zeros()).max(1).div_ceil(7) as usize
}

/// Appends an entry, whose suffix is given in two pieces, to packed ones.
pub(super) fn write_entry(packed: &mut Vec<u8>, (front, back): (&[u8], &[u8]), value: &[u8]) {
    let mut header = [0; HEADER_MAX_BYTES];
    let suffix_at = write_length(&mut header, 0, front.len() + back.len());
    let header_len = write_length(&mut header, suffix_at, value.len());
    packed.extend_from_slice(&header[..header_len]);
    packed.extend_from_slice(front);
    packed.extend_from_slice(back);
    packed.extend_from_slice(value);
}

/// A length and the offset behind it.
#[inline]
pub(super) fn read_length(bytes: &[u8], at: usize) -> (usize, usize) {
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
pub(super) fn write_length(into: &mut [u8; HEADER_MAX_BYTES], at: usize, length: usize) -> usize {
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

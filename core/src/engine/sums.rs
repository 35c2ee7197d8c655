//! The checksums by which a reader knows that a blob still holds what was written: one for each piece of
//! [`SUM_PIECE_BYTES`], the last one of exactly the bytes up to the end of the value.
//!
//! They are subkeys of the string's key, beside its patches, and so part of the transaction that writes the value: a
//! *page* is the [`PAGE_PIECES`] checksums of as many consecutive pieces. A page whose pieces are all whole and zero may be
//! missing, so that a byte far behind the end of a value costs next to nothing. Patches do not count: a checksum is about
//! what the blob itself holds.
//!
//! ```text
//! key of a page    0  1  255, which is behind every number of a patch     1  8  number of the page, big-endian
//! value            0 4n  CRC-32C of each of its n pieces, little-endian; n is 16 but on the last page
//! ```

use std::sync::LazyLock;

use smallvec::SmallVec;

use super::Result;
use super::blob::{BlobRef, SUM_PIECE_BYTES, blob_error};
use super::checksum::{self, Joiner};
use crate::storage::Blob;

/// Checksums on one page: so many that engines keep a page at hand as they keep other short subkeys.
const PAGE_PIECES: u64 = 16;

/// Bytes of a value that one page is about.
const PAGE_BYTES: u64 = PAGE_PIECES * SUM_PIECE_BYTES;

/// First byte of the key of a page. The number of a patch, which is that of a block, begins with 0.
const PAGE_MARK: u8 = 0xFF;

static ZEROS: [u8; SUM_PIECE_BYTES as usize] = [0; SUM_PIECE_BYTES as usize];

/// The checksum of a piece of zeros.
static ZERO_SUM: LazyLock<u32> = LazyLock::new(|| checksum::append(0, &ZEROS));

static JOINER: LazyLock<Joiner> = LazyLock::new(|| Joiner::new(SUM_PIECE_BYTES));

/// The checksums of one page.
pub(super) type Page = SmallVec<[u32; PAGE_PIECES as usize]>;

/// The subkey of a page.
pub(super) fn page_key(number: u64) -> [u8; 9] {
    let mut key = [PAGE_MARK; 9];
    key[1..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The number of the page that a subkey is about, if it is about one.
pub(super) fn page_number(subkey: &[u8]) -> Option<u64> {
    let (mark, number) = subkey.split_first()?;
    (*mark == PAGE_MARK).then_some(u64::from_be_bytes(number.try_into().ok()?))
}

/// The value of the subkey of a page.
pub(super) fn page_bytes(page: &[u32]) -> SmallVec<[u8; 4 * PAGE_PIECES as usize]> {
    page.iter().flat_map(|sum| sum.to_le_bytes()).collect()
}

/// Reads what [`page_bytes`] wrote about a value of `len` bytes; None if it is something else.
pub(super) fn read_page(number: u64, len: u64, bytes: &[u8]) -> Option<Page> {
    let (sums, rest) = bytes.as_chunks();
    let pieces = len.checked_sub(number.checked_mul(PAGE_BYTES)?)?.div_ceil(SUM_PIECE_BYTES).min(PAGE_PIECES);
    let is_whole = rest.is_empty() && sums.len() as u64 == pieces;
    is_whole.then(|| sums.iter().map(|sum| u32::from_le_bytes(*sum)).collect())
}

/// A page of a value of `len` bytes whose pieces are all zero.
pub(super) fn zero_page(number: u64, len: u64) -> Page {
    let mut sums = SumWriter { len: number * PAGE_BYTES, number, page: Page::new(), full: Vec::new() };
    sums.fill_page(len.saturating_sub(number * PAGE_BYTES).min(PAGE_BYTES));
    sums.page
}

/// All checksums of a value as its pages.
pub(super) fn pages_of(all: &[u32]) -> impl Iterator<Item = (u64, Page)> {
    (0..).zip(all.chunks(PAGE_PIECES as usize).map(Page::from))
}

/// The number of the page that the last byte of a value of `len` bytes lies on.
pub(super) fn last_page(len: u64) -> u64 {
    len.saturating_sub(1) / PAGE_BYTES
}

/// Checksums of consecutive pieces of a blob.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// The number of the first piece.
    first: u64,
    sums: Vec<u32>,
}

impl Sums {
    /// Those of the pieces that hold the bytes of `range` (from, to), as if all of them were zero: to be corrected with
    /// [`Sums::take_page`].
    pub(super) fn of_zeros((from, to): (u64, u64)) -> Sums {
        let first = from / SUM_PIECE_BYTES;
        let count = to.div_ceil(SUM_PIECE_BYTES).saturating_sub(first);
        // A piece without a checksum counts as damaged.
        Sums { first, sums: vec![*ZERO_SUM; usize::try_from(count).unwrap_or_default()] }
    }

    /// The part of all checksums of a blob that is about `range` (from, to).
    pub(super) fn part(all: &[u32], (from, to): (u64, u64)) -> Sums {
        let first = from / SUM_PIECE_BYTES;
        let end = to.div_ceil(SUM_PIECE_BYTES);
        let place = |piece: u64| usize::try_from(piece).unwrap_or(usize::MAX).min(all.len());
        Sums { first, sums: all.get(place(first)..place(end)).unwrap_or_default().to_vec() }
    }

    /// The numbers of the pages that these are on: the first one, and the last one.
    pub(super) fn pages(&self) -> (u64, u64) {
        let last = (self.first + self.sums.len() as u64).saturating_sub(1);
        (self.first / PAGE_PIECES, last.max(self.first) / PAGE_PIECES)
    }

    /// The bytes (from, to) of the pieces that these are about; the last piece may be shorter.
    pub(super) fn range(&self) -> (u64, u64) {
        (self.first * SUM_PIECE_BYTES, (self.first + self.sums.len() as u64) * SUM_PIECE_BYTES)
    }

    /// Takes what a page says.
    pub(super) fn take_page(&mut self, number: u64, page: &[u32]) {
        for (piece, sum) in (number * PAGE_PIECES..).zip(page) {
            let place = piece.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
            if let Some(place) = place.and_then(|place| self.sums.get_mut(place)) {
                *place = *sum;
            }
        }
    }

    /// The checksum of a piece, if it is among them.
    pub(super) fn of_piece(&self, number: u64) -> Option<u32> {
        self.sums.get(usize::try_from(number.checked_sub(self.first)?).ok()?).copied()
    }
}

/// The checksums of a blob whose root knows only that of the whole; None if the whole does not fit. Reads the blob once.
///
/// # Errors
/// The blob cannot be read, or is shorter than its value.
pub fn sums_of_blob(blob: &dyn Blob, reference: BlobRef) -> Result<Option<Vec<u32>>> {
    let mut sums = SumWriter::new();
    blob.read(0, reference.len, &mut |bytes| sums.write(bytes)).map_err(blob_error)?;
    let is_right = sums.len() == reference.len && sums.whole() == reference.checksum;
    Ok(is_right.then(|| sums.pages().flat_map(|(_, page)| page.iter().copied()).collect()))
}

/// Whether a value's pages say the same as these checksums of all its pieces. `page` gives the value of a page's subkey.
pub fn fit_pages<'p>(all: &[u32], len: u64, page: &dyn Fn(&[u8]) -> Option<&'p [u8]>) -> bool {
    pages_of(all).all(|(number, expected)| match page(&page_key(number)) {
        Some(bytes) => read_page(number, len, bytes) == Some(expected),
        None => zero_page(number, len) == expected,
    })
}

/// Whether a subkey of a string is that of a page.
pub fn is_page(subkey: &[u8]) -> bool {
    page_number(subkey).is_some()
}

/// The checksums of a value that is being written, from its end on.
///
/// Invariant: `page` has the checksums of the pieces of page `number` as far as the value has come; it is empty where the
/// value ends before that page.
#[derive(Clone, Debug, Default)]
pub(super) struct SumWriter {
    /// The length of the value.
    len: u64,
    number: u64,
    page: Page,
    /// Pages that are done.
    full: Vec<(u64, Page)>,
}

impl SumWriter {
    /// For an empty value.
    pub(super) fn new() -> SumWriter {
        SumWriter::default()
    }

    /// For a value that has a length, given its last page.
    pub(super) fn at_end(len: u64, page: Page) -> SumWriter {
        SumWriter { len, number: last_page(len), page, full: Vec::new() }
    }

    /// The length of the value.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Counts bytes at the end.
    pub(super) fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = SUM_PIECE_BYTES - self.len % SUM_PIECE_BYTES;
            // Lossless: at most a piece.
            let (piece, rest) = bytes.split_at(bytes.len().min(left as usize));
            let sum = self.sum_at_end();
            *sum = checksum::append(*sum, piece);
            self.len += piece.len() as u64;
            bytes = rest;
        }
    }

    /// Counts zeros at the end. Pages of nothing else are left out.
    pub(super) fn write_zeros(&mut self, count: u64) {
        let end = self.len.saturating_add(count);
        let page_end = self.len.checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX);
        self.fill_page(end.min(page_end) - self.len);
        if end > self.len {
            self.end_page();
            self.len = end / PAGE_BYTES * PAGE_BYTES;
            self.number = end / PAGE_BYTES;
            self.fill_page(end - self.len);
        }
    }

    /// Counts zeros that do not go beyond the page.
    fn fill_page(&mut self, mut count: u64) {
        while count > 0 {
            let piece = count.min(SUM_PIECE_BYTES - self.len % SUM_PIECE_BYTES);
            let sum = self.sum_at_end();
            // Lossless: at most a piece.
            let zeros = ZEROS.get(..piece as usize).unwrap_or(&ZEROS);
            *sum = if piece == SUM_PIECE_BYTES { *ZERO_SUM } else { checksum::append(*sum, zeros) };
            self.len += piece;
            count -= piece;
        }
    }

    /// The checksum of the piece that the next byte belongs to.
    fn sum_at_end(&mut self) -> &mut u32 {
        if self.len.is_multiple_of(PAGE_BYTES) {
            self.end_page();
            self.number = self.len / PAGE_BYTES;
        }
        let place = (self.len % PAGE_BYTES / SUM_PIECE_BYTES) as usize;
        if self.page.len() <= place {
            self.page.resize(place + 1, 0);
        }
        &mut self.page[place]
    }

    fn end_page(&mut self) {
        if !self.page.is_empty() {
            self.full.push((self.number, std::mem::take(&mut self.page)));
        }
    }

    /// The pages that were written, in order.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u64, &Page)> {
        let last = (!self.page.is_empty()).then_some((self.number, &self.page));
        self.full.iter().map(|(number, page)| (*number, page)).chain(last)
    }

    /// The checksum of a value of which nothing was left out.
    pub(super) fn whole(&self) -> u32 {
        let (mut checksum, mut left) = (0, self.len);
        for sum in self.pages().flat_map(|(_, page)| page) {
            checksum = match left.checked_sub(SUM_PIECE_BYTES) {
                Some(_) => JOINER.join(checksum, *sum),
                None => checksum::combine(checksum, *sum, left),
            };
            left = left.saturating_sub(SUM_PIECE_BYTES);
        }
        checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages of a value, made the plain way.
    fn plain(value: &[u8]) -> Vec<(u64, Page)> {
        let sums: Vec<u32> = value.chunks(SUM_PIECE_BYTES as usize).map(crc32c::crc32c).collect();
        pages_of(&sums).collect()
    }

    fn written(sums: &SumWriter) -> Vec<(u64, Page)> {
        sums.pages().map(|(number, page)| (number, page.clone())).collect()
    }

    #[test]
    fn sums_do_not_depend_on_how_the_bytes_come() {
        let mut random = fastrand::Rng::with_seed(15);
        let value: Vec<u8> = (0..PAGE_BYTES + 5 * SUM_PIECE_BYTES + 777).map(|_| random.u8(..)).collect();
        for len in [0, 1, SUM_PIECE_BYTES, SUM_PIECE_BYTES + 1, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1]
            .map(|len| len as usize)
            .into_iter()
            .chain([value.len()])
        {
            let mut sums = SumWriter::new();
            let mut rest = &value[..len];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(random.usize(1..200_000).min(rest.len()));
                sums.write(piece);
                rest = after;
            }
            assert_eq!(written(&sums), plain(&value[..len]), "{len} bytes");
            assert_eq!(sums.whole(), crc32c::crc32c(&value[..len]), "{len} bytes");
            // And when a part of them is there already.
            let old = random.usize(..=len);
            let page = plain(&value[..old]).pop().unwrap_or_default().1;
            let mut sums = SumWriter::at_end(old as u64, page);
            sums.write(&value[old..len]);
            let from = last_page(old as u64) as usize;
            assert_eq!(written(&sums), plain(&value[..len])[from..], "{old} bytes and then up to {len}");
        }
    }

    #[test]
    fn zeros_far_behind_the_end_leave_pages_out() {
        for (before, count) in [
            (0, 1),
            (5, SUM_PIECE_BYTES),
            (SUM_PIECE_BYTES, PAGE_BYTES - SUM_PIECE_BYTES),
            (PAGE_BYTES, PAGE_BYTES),
            (PAGE_BYTES - 3, 2 * PAGE_BYTES + SUM_PIECE_BYTES + 9),
            (777, 3 * PAGE_BYTES),
        ] {
            let mut value = vec![1; before as usize];
            let mut sums = SumWriter::new();
            sums.write(&value);
            sums.write_zeros(count);
            sums.write(b"end");
            value.resize((before + count) as usize, 0);
            value.extend_from_slice(b"end");
            let pages = plain(&value);
            let zeros = |number: u64| zero_page(number, value.len() as u64);
            let mut found: Vec<(u64, Page)> =
                (0..pages.len() as u64).map(|number| (number, zeros(number))).collect();
            for (number, page) in sums.pages() {
                found[number as usize].1 = page.clone();
            }
            assert!(found == pages, "{count} zeros behind {before} bytes");
        }
        let mut sums = SumWriter::new();
        sums.write_zeros(60 << 30);
        sums.write(b"end");
        assert_eq!(sums.pages().count(), 1, "a page of zeros is kept");
    }

    #[test]
    fn page_reads_back() {
        let page: Page = (0..16).collect();
        let len = 3 * PAGE_BYTES;
        assert_eq!(read_page(2, len, &page_bytes(&page)), Some(page.clone()));
        assert_eq!(read_page(2, len - SUM_PIECE_BYTES, &page_bytes(&page[..15])), Some(page[..15].into()));
        assert_eq!(read_page(2, len, &page_bytes(&page[..15])), None, "too short");
        assert_eq!(read_page(3, len, &page_bytes(&page[..1])), None, "behind the end");
        assert_eq!(read_page(2, len, &page_bytes(&page)[1..]), None, "cut in the middle");
        assert_eq!(page_number(&page_key(7)), Some(7));
        assert_eq!(page_number(&7_u64.to_be_bytes()), None, "a patch");
    }
}

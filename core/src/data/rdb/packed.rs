//! Small collections that Redis packs into one string: intsets, zipmaps and ziplists; [`listpack`](super::listpack)s have
//! a file of their own.
//!
//! Each walk checks everything that the bytes say of themselves (lengths, counts, ways back) and shows the elements in
//! their order. What does not fit is refused, where Redis may trust it.

use std::borrow::Cow;

use super::reader::{Bytes, Reader, digits};
use super::{BadFormat, Result};

/// One element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'b> {
    Bytes(&'b [u8]),
    Integer(i64),
}

impl<'b> Item<'b> {
    /// The element as a client gave it.
    pub(super) fn text(self) -> Bytes<'b> {
        match self {
            Item::Bytes(bytes) => Cow::Borrowed(bytes),
            Item::Integer(integer) => digits(integer),
        }
    }
}

/// Sees elements.
pub(super) type ItemVisitor<'v, 'b> = &'v mut dyn FnMut(Item<'b>);

/// One of the walks below, or that of a listpack.
pub(super) type Walk = for<'b> fn(&'b [u8], ItemVisitor<'_, 'b>) -> Result<()>;

/// A signed integer of the length of these bytes, at most eight, little-endian.
pub(super) fn integer(bytes: &[u8]) -> i64 {
    let mut wide = [0; 8];
    let unused = 8_usize.saturating_sub(bytes.len());
    if let Some(high) = wide.get_mut(unused..) {
        high.copy_from_slice(bytes);
    }
    // The sign moves down with the bytes.
    i64::from_le_bytes(wide) >> (8 * unused)
}

/// ```text
/// width of an integer   4 bytes, little-endian: 2, 4 or 8
/// number of integers    4 bytes, little-endian
/// integers              in their order
/// ```
pub(super) fn intset<'b>(bytes: &'b [u8], visit: ItemVisitor<'_, 'b>) -> Result<()> {
    let mut reader = Reader::new(bytes);
    let width = u32::from_le_bytes(reader.array()?);
    let count = u64::from(u32::from_le_bytes(reader.array()?));
    if !matches!(width, 2 | 4 | 8) || count * u64::from(width) != reader.left() {
        return Err(BadFormat);
    }
    let mut before = None;
    for _ in 0..count {
        let integer = integer(reader.take(u64::from(width))?);
        if before.is_some_and(|before| before >= integer) {
            return Err(BadFormat);
        }
        before = Some(integer);
        visit(Item::Integer(integer));
    }
    Ok(())
}

/// ```text
/// number of fields   1 byte, 254 and more: nobody counted
/// for each field     length, field, length, number of unused bytes (1 byte), value, unused bytes
/// end                255
///
/// length             1 byte below 254, or 254 and 4 bytes, little-endian
/// ```
pub(super) fn zipmap<'b>(bytes: &'b [u8], visit: ItemVisitor<'_, 'b>) -> Result<()> {
    const END: u8 = 0xFF;
    const LONG: u8 = 0xFE;
    let length = |reader: &mut Reader<'b>, first: u8| match first {
        LONG => reader.array().map(|bytes| u64::from(u32::from_le_bytes(bytes))),
        END => Err(BadFormat),
        short => Ok(u64::from(short)),
    };
    let mut reader = Reader::new(bytes);
    let told = reader.byte()?;
    let mut count = 0_u64;
    loop {
        let first = reader.byte()?;
        if first == END {
            break;
        }
        let field_len = length(&mut reader, first)?;
        visit(Item::Bytes(reader.take(field_len)?));
        let first = reader.byte()?;
        let value_len = length(&mut reader, first)?;
        let unused = u64::from(reader.byte()?);
        visit(Item::Bytes(reader.take(value_len)?));
        reader.take(unused)?;
        count += 1;
    }
    if reader.left() > 0 || (told < LONG && u64::from(told) != count) {
        return Err(BadFormat);
    }
    Ok(())
}

/// ```text
/// bytes in all            4 bytes, little-endian
/// where the last one is   4 bytes, little-endian
/// number of elements      2 bytes, little-endian; 65535: nobody counted
/// for each element        bytes of the one before (1 byte below 254, or 254 and 4 bytes, little-endian), kind, element
/// end                     255
///
/// kind   00nnnnnn, 01nnnnnn and 1 byte, 10…… and 4 bytes (big-endian)   a string of so many bytes
///        11000000, 11010000, 11100000, 11110000, 11111110               an integer of 2, 4, 8, 3, 1 bytes
///        1111nnnn                                                       the integer n - 1, n from 1 to 13
/// ```
pub(super) fn ziplist<'b>(bytes: &'b [u8], visit: ItemVisitor<'_, 'b>) -> Result<()> {
    const HEAD_BYTES: u64 = 4 + 4 + 2;
    const END: u8 = 0xFF;
    const LONG: u8 = 0xFE;
    let len = bytes.len() as u64;
    let mut reader = Reader::new(bytes);
    let told_len = u64::from(u32::from_le_bytes(reader.array()?));
    let told_last = u64::from(u32::from_le_bytes(reader.array()?));
    let told_count = u16::from_le_bytes(reader.array()?);
    let (mut last, mut before_bytes, mut count) = (HEAD_BYTES, 0_u64, 0_u64);
    loop {
        let begin = len - reader.left();
        let before = match reader.byte()? {
            END => break,
            LONG => u64::from(u32::from_le_bytes(reader.array()?)),
            short => u64::from(short),
        };
        if before != before_bytes {
            return Err(BadFormat);
        }
        visit(ziplist_item(&mut reader)?);
        before_bytes = len - reader.left() - begin;
        last = begin;
        count += 1;
    }
    let is_sound = reader.left() == 0 && told_len == len && told_last == last;
    check_count(is_sound, told_count, count)
}

fn ziplist_item<'b>(reader: &mut Reader<'b>) -> Result<Item<'b>> {
    let kind = reader.byte()?;
    let string_bytes = match kind >> 6 {
        0 => Some(u64::from(kind & 0x3F)),
        1 => Some(u64::from(kind & 0x3F) << 8 | u64::from(reader.byte()?)),
        2 => Some(u64::from(u32::from_be_bytes(reader.array()?))),
        _ => None,
    };
    if let Some(count) = string_bytes {
        return reader.take(count).map(Item::Bytes);
    }
    let integer_bytes = match kind {
        0xC0 => 2,
        0xD0 => 4,
        0xE0 => 8,
        0xF0 => 3,
        0xFE => 1,
        0xF1..=0xFD => return Ok(Item::Integer(i64::from(kind & 0x0F) - 1)),
        _ => return Err(BadFormat),
    };
    reader.take(integer_bytes).map(|bytes| Item::Integer(integer(bytes)))
}

/// Whether a header that says so is right about the number of elements.
pub(super) fn check_count(is_sound: bool, told: u16, count: u64) -> Result<()> {
    let is_counted = told == u16::MAX || u64::from(told) == count;
    if is_sound && is_counted { Ok(()) } else { Err(BadFormat) }
}

//! Listpacks: elements, texts or integers, packed into one string.
//!
//! ```text
//! bytes in all         4 bytes, little-endian
//! number of elements   2 bytes, little-endian; 65535: nobody counted
//! for each element     kind, element, bytes of both (the way back: 7 bits a byte, the highest first, all but the first
//!                      with bit 7)
//! end                  255
//!
//! kind   0nnnnnnn                                                           the integer n
//!        110nnnnn and 1 byte                                                an integer of 13 bits
//!        11110001, 11110010, 11110011, 11110100                             an integer of 2, 3, 4, 8 bytes
//!        10nnnnnn, 1110nnnn and 1 byte, 11110000 and 4 bytes (little-endian) a string of so many bytes
//! ```
//!
//! A text that is the plain form of an integer is written as one, each in the shortest form, as Redis does.

use smallvec::SmallVec;

use super::packed::{Item, ItemVisitor, check_count, integer};
use super::reader::Reader;
use super::{BadFormat, Result};
use crate::number::parse_i64;

const END: u8 = 0xFF;

/// Length of what stands before the elements.
const HEAD_BYTES: u64 = 4 + 2;

/// The elements of a listpack, one after another.
pub(super) struct Elements<'b> {
    reader: Reader<'b>,
    len: u64,
    told_len: u64,
    told_count: u16,
    count: u64,
}

impl<'b> Elements<'b> {
    /// Begins at the first one.
    pub(super) fn of(bytes: &'b [u8]) -> Result<Elements<'b>> {
        let mut reader = Reader::new(bytes);
        let told_len = u64::from(u32::from_le_bytes(reader.array()?));
        let told_count = u16::from_le_bytes(reader.array()?);
        Ok(Elements { reader, len: bytes.len() as u64, told_len, told_count, count: 0 })
    }

    /// The next element. None is the end, where the header turned out to be right.
    pub(super) fn next(&mut self) -> Result<Option<Item<'b>>> {
        let left = self.reader.left();
        let kind = self.reader.byte()?;
        if kind == END {
            let is_sound = self.reader.left() == 0 && self.told_len == self.len;
            check_count(is_sound, self.told_count, self.count)?;
            return Ok(None);
        }
        let item = self.item(kind)?;
        self.check_way_back(left - self.reader.left())?;
        self.count += 1;
        Ok(Some(item))
    }

    fn item(&mut self, kind: u8) -> Result<Item<'b>> {
        let reader = &mut self.reader;
        let string_bytes = match kind {
            0..=0x7F => return Ok(Item::Integer(i64::from(kind))),
            0x80..=0xBF => u64::from(kind & 0x3F),
            0xC0..=0xDF => {
                let bits = i16::from(kind & 0x1F) << 8 | i16::from(reader.byte()?);
                // The highest of 13 bits is the sign.
                return Ok(Item::Integer(i64::from(bits << 3 >> 3)));
            }
            0xE0..=0xEF => u64::from(kind & 0x0F) << 8 | u64::from(reader.byte()?),
            0xF0 => u64::from(u32::from_le_bytes(reader.array()?)),
            0xF1..=0xF4 => {
                let integer_bytes = [2, 3, 4, 8][usize::from(kind - 0xF1)];
                return reader.take(integer_bytes).map(|bytes| Item::Integer(integer(bytes)));
            }
            _ => return Err(BadFormat),
        };
        reader.take(string_bytes).map(Item::Bytes)
    }

    /// Reads the way back over an element of `len` bytes, and compares.
    fn check_way_back(&mut self, len: u64) -> Result<()> {
        let expected = way_back(len);
        if self.reader.take(expected.len() as u64)? == &*expected { Ok(()) } else { Err(BadFormat) }
    }
}

/// Shows all elements.
pub(super) fn walk<'b>(bytes: &'b [u8], visit: ItemVisitor<'_, 'b>) -> Result<()> {
    let mut elements = Elements::of(bytes)?;
    while let Some(item) = elements.next()? {
        visit(item);
    }
    Ok(())
}

/// Elements that are to be part of a listpack.
#[derive(Debug, Default)]
pub(super) struct Part {
    bytes: Vec<u8>,
    count: u64,
}

impl Part {
    /// Length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn put_text(&mut self, text: &[u8]) {
        if let Some(integer) = parse_i64(text) {
            return self.put_integer(integer);
        }
        let begin = self.bytes.len();
        match text.len() as u64 {
            len @ 0..64 => self.bytes.push(0x80 | len as u8),
            len @ 64..4096 => self.bytes.extend((0xE000 | len as u16).to_be_bytes()),
            // The size of the payload bounds what four bytes cannot count.
            len => {
                self.bytes.push(0xF0);
                self.bytes.extend((len as u32).to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(text);
        self.end_element(begin);
    }

    pub(super) fn put_integer(&mut self, integer: i64) {
        let begin = self.bytes.len();
        let [b0, b1, b2, b3, ..] = integer.to_le_bytes();
        match integer {
            0..=127 => self.bytes.push(b0),
            -4096..=4095 => self.bytes.extend([0xC0 | b1 & 0x1F, b0]),
            -0x8000..=0x7FFF => self.bytes.extend([0xF1, b0, b1]),
            -0x80_0000..=0x7F_FFFF => self.bytes.extend([0xF2, b0, b1, b2]),
            -0x8000_0000..=0x7FFF_FFFF => self.bytes.extend([0xF3, b0, b1, b2, b3]),
            _ => {
                self.bytes.push(0xF4);
                self.bytes.extend(integer.to_le_bytes());
            }
        }
        self.end_element(begin);
    }

    fn end_element(&mut self, begin: usize) {
        let len = (self.bytes.len() - begin) as u64;
        self.bytes.extend_from_slice(&way_back(len));
        self.count += 1;
    }
}

/// Length of the listpack of these parts.
pub(super) fn len_of(parts: &[&Part]) -> u64 {
    HEAD_BYTES + parts.iter().map(|part| part.len()).sum::<u64>() + 1
}

/// Writes the listpack of these parts. Its length must fit into four bytes.
pub(super) fn put(out: &mut Vec<u8>, parts: &[&Part]) {
    let count: u64 = parts.iter().map(|part| part.count).sum();
    out.extend((len_of(parts) as u32).to_le_bytes());
    out.extend(u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(&part.bytes));
    out.push(END);
}

/// The length of an element, as it stands behind it: five bytes at most.
fn way_back(len: u64) -> SmallVec<[u8; 8]> {
    // Redis' own bounds, one lower than seven bits would allow from the second on.
    let count = match len {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    };
    let mark = |at| if at + 1 == count { 0 } else { 0x80 };
    // Seven bits each.
    (0..count).rev().map(|at| (len >> (7 * at) & 0x7F) as u8 | mark(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rdb::reader::digits;

    #[test]
    fn elements_come_back_changed() {
        let long = [b'x'; 20_000];
        let mut texts: Vec<Vec<u8>> = [0, 1, 63, 64, 125, 126, 127, 4_095, 4_096, 16_377, 16_378, 20_000]
            .map(|len| long[..len].to_vec())
            .to_vec();
        for bits in 0..64 {
            for near in [-1_i64, 0, 1] {
                let integer = (1_i64 << bits).wrapping_add(near);
                texts.push(digits(integer).into_owned());
                texts.push(digits(integer.wrapping_neg()).into_owned());
            }
        }
        texts.extend([&b"-0"[..], b"007", b"+1", b"9223372036854775808"].map(<[u8]>::to_vec));
        let (mut one, mut other) = (Part::default(), Part::default());
        let (left, right) = texts.split_at(texts.len() / 2);
        left.iter().for_each(|text| one.put_text(text));
        right.iter().for_each(|text| other.put_text(text));
        let mut bytes = Vec::new();
        put(&mut bytes, &[&one, &other]);
        assert_eq!(bytes.len() as u64, len_of(&[&one, &other]));
        let mut found = Vec::new();
        walk(&bytes, &mut |item| found.push(item.text().into_owned())).expect("a listpack");
        assert_eq!(found, texts);
    }

    #[test]
    fn more_elements_than_can_be_counted_are_refused() {
        let mut part = Part::default();
        (0..70_000).for_each(|_| part.put_integer(7));
        let mut bytes = Vec::new();
        put(&mut bytes, &[&part]);
        let mut count = 0;
        walk(&bytes, &mut |_| count += 1).expect("a listpack");
        assert_eq!((count, bytes.get(4..6)), (70_000, Some(&[0xFF; 2][..])));
    }
}

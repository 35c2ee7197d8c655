//! Values as bytes in which a part is found without reading what stands before it.
//!
//! ```text
//! 00, 01, 02     null, false, true
//! 03             whole number: zigzag varint
//! 04             whole number above those of 64 bits with a sign: varint
//! 05             double, 8 bytes, little-endian
//! 06             digits: length (varint), bytes
//! 07             string: length (varint), UTF-8
//! 08             array: length of what follows (varint), number of elements (varint), elements
//! 09             object: length of what follows (varint), number of members (varint), members, each a name (length as a varint, UTF-8)
//!                and a value; they stand in the order in which they came, and each name stands there once
//! 0A, 0B, 0C     array, object, string that stands elsewhere: its number (varint)
//! 40 to 7F       string of 0 to 63 bytes: UTF-8
//! 80 to FF       whole number from 0 to 127
//! ```
//!
//! Bytes that are none of this read as None, so damage is an error of the caller and never a panic.

use std::borrow::Cow;

use super::number::Number;
use crate::packed::varint::{read_varint, varint_len, write_varint};

const NULL: u8 = 0x00;
const FALSE: u8 = 0x01;
const TRUE: u8 = 0x02;
const INT: u8 = 0x03;
const UINT: u8 = 0x04;
const DOUBLE: u8 = 0x05;
const DIGITS: u8 = 0x06;
const STRING: u8 = 0x07;
const ARRAY: u8 = 0x08;
const OBJECT: u8 = 0x09;
const ELSEWHERE: u8 = 0x0A;
const SHORT_STRING: u8 = 0x40;
const SHORT_STRING_BYTES: usize = 64;
const SMALL_INT: u8 = 0x80;

/// What a value that stands elsewhere is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Large {
    /// An array.
    Array,
    /// An object.
    Object,
    /// A string.
    Text,
}

/// A value, one level of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape<'p> {
    /// null.
    Null,
    /// true or false.
    Truth(bool),
    /// A number.
    Number(Number<'p>),
    /// A string.
    Text(&'p str),
    /// An array.
    Array(Elements<'p>),
    /// An object.
    Object(Members<'p>),
    /// A value with pieces of its own, which have this number.
    Elsewhere(Large, u64),
}

/// Elements of an array, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements<'p> {
    count: u64,
    bytes: &'p [u8],
}

/// Members of an object, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Members<'p> {
    count: u64,
    bytes: &'p [u8],
}

impl Elements<'_> {
    /// Number of elements that have not been shown yet.
    pub fn left(&self) -> u64 {
        self.count
    }
}

impl Members<'_> {
    /// Number of members that have not been shown yet.
    pub fn left(&self) -> u64 {
        self.count
    }
}

impl<'p> Iterator for Elements<'p> {
    /// The bytes of an element.
    type Item = &'p [u8];

    fn next(&mut self) -> Option<&'p [u8]> {
        self.count = self.count.checked_sub(1)?;
        take(&mut self.bytes)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // Each takes a byte at least, whatever the header says.
        (0, Some(self.bytes.len()))
    }
}

impl<'p> Iterator for Members<'p> {
    /// A name, and the bytes of a value.
    type Item = (&'p str, &'p [u8]);

    fn next(&mut self) -> Option<(&'p str, &'p [u8])> {
        self.count = self.count.checked_sub(1)?;
        let name = take_text(&mut self.bytes)?;
        Some((name, take(&mut self.bytes)?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.bytes.len() / 2))
    }
}

/// Takes the bytes of one value off the front.
pub fn take<'p>(bytes: &mut &'p [u8]) -> Option<&'p [u8]> {
    let whole = *bytes;
    let tag = *take_bytes(bytes, 1)?.first()?;
    match tag {
        NULL | FALSE | TRUE | SMALL_INT.. => {}
        INT | UINT | ELSEWHERE..=0x0C => {
            read_varint(bytes)?;
        }
        DOUBLE => {
            take_bytes(bytes, 8)?;
        }
        DIGITS | STRING | ARRAY | OBJECT => {
            let length = read_varint(bytes)?;
            take_bytes(bytes, length)?;
        }
        SHORT_STRING..SMALL_INT => {
            take_bytes(bytes, u64::from(tag - SHORT_STRING))?;
        }
        _ => return None,
    }
    whole.get(..whole.len() - bytes.len())
}

fn take_bytes<'p>(bytes: &mut &'p [u8], length: u64) -> Option<&'p [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

fn take_text<'p>(bytes: &mut &'p [u8]) -> Option<&'p str> {
    let length = read_varint(bytes)?;
    std::str::from_utf8(take_bytes(bytes, length)?).ok()
}

/// What a value is. `bytes` begin with it.
pub fn shape(mut bytes: &[u8]) -> Option<Shape<'_>> {
    let tag = *take_bytes(&mut bytes, 1)?.first()?;
    Some(match tag {
        NULL => Shape::Null,
        FALSE => Shape::Truth(false),
        TRUE => Shape::Truth(true),
        INT => Shape::Number(Number::Int(unzigzag(read_varint(&mut bytes)?))),
        UINT => Shape::Number(Number::Uint(read_varint(&mut bytes)?)),
        DOUBLE => Shape::Number(Number::Double(f64::from_le_bytes(*bytes.first_chunk()?))),
        DIGITS => Shape::Number(Number::Digits(Cow::Borrowed(take_text(&mut bytes)?))),
        STRING => Shape::Text(take_text(&mut bytes)?),
        ARRAY | OBJECT => {
            let length = read_varint(&mut bytes)?;
            let mut body = take_bytes(&mut bytes, length)?;
            let count = read_varint(&mut body)?;
            match tag {
                ARRAY => Shape::Array(Elements { count, bytes: body }),
                _ => Shape::Object(Members { count, bytes: body }),
            }
        }
        ELSEWHERE..=0x0C => {
            let large = match tag {
                ELSEWHERE => Large::Array,
                0x0B => Large::Object,
                _ => Large::Text,
            };
            Shape::Elsewhere(large, read_varint(&mut bytes)?)
        }
        SHORT_STRING..SMALL_INT => {
            let text = take_bytes(&mut bytes, u64::from(tag - SHORT_STRING))?;
            Shape::Text(std::str::from_utf8(text).ok()?)
        }
        SMALL_INT.. => Shape::Number(Number::Int(i64::from(tag - SMALL_INT))),
        _ => return None,
    })
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Appends null.
pub fn write_null(out: &mut Vec<u8>) {
    out.push(NULL);
}

/// Appends true or false.
pub fn write_truth(is_true: bool, out: &mut Vec<u8>) {
    out.push(if is_true { TRUE } else { FALSE });
}

/// Appends a number.
pub fn write_number(number: &Number<'_>, out: &mut Vec<u8>) {
    match number {
        Number::Int(value @ 0..=0x7F) => out.push(SMALL_INT | *value as u8),
        Number::Int(value) => {
            out.push(INT);
            write_varint(zigzag(*value), out);
        }
        Number::Uint(value) => {
            out.push(UINT);
            write_varint(*value, out);
        }
        Number::Double(value) => {
            out.push(DOUBLE);
            out.extend_from_slice(&value.to_le_bytes());
        }
        Number::Digits(digits) => {
            out.push(DIGITS);
            write_name(digits, out);
        }
    }
}

/// Appends a string.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    if text.len() < SHORT_STRING_BYTES {
        out.push(SHORT_STRING | text.len() as u8);
        out.extend_from_slice(text.as_bytes());
    } else {
        out.push(STRING);
        write_name(text, out);
    }
}

/// Appends the name of a member, whose value comes next.
pub fn write_name(name: &str, out: &mut Vec<u8>) {
    write_varint(name.len() as u64, out);
    out.extend_from_slice(name.as_bytes());
}

/// Appends what stands before the elements of an array, which take `bytes` together.
pub fn write_array_header(count: u64, bytes: u64, out: &mut Vec<u8>) {
    write_header(ARRAY, count, bytes, out);
}

/// Appends what stands before the members of an object, which take `bytes` together, with their names.
pub fn write_object_header(count: u64, bytes: u64, out: &mut Vec<u8>) {
    write_header(OBJECT, count, bytes, out);
}

fn write_header(tag: u8, count: u64, bytes: u64, out: &mut Vec<u8>) {
    out.push(tag);
    write_varint(varint_len(count) + bytes, out);
    write_varint(count, out);
}

/// Appends that a value stands elsewhere.
pub fn write_elsewhere(large: Large, number: u64, out: &mut Vec<u8>) {
    out.push(match large {
        Large::Array => ELSEWHERE,
        Large::Object => ELSEWHERE + 1,
        Large::Text => ELSEWHERE + 2,
    });
    write_varint(number, out);
}

/// Bytes of a number.
pub(super) fn number_len(number: &Number<'_>) -> u64 {
    match number {
        Number::Int(0..=0x7F) => 1,
        Number::Int(value) => 1 + varint_len(zigzag(*value)),
        Number::Uint(value) => 1 + varint_len(*value),
        Number::Double(_) => 9,
        Number::Digits(digits) => 1 + name_len(digits.len()),
    }
}

/// Bytes of a string of so many bytes.
pub(super) fn text_len(bytes: usize) -> u64 {
    if bytes < SHORT_STRING_BYTES { 1 + bytes as u64 } else { 1 + name_len(bytes) }
}

/// Bytes of a name of so many bytes.
pub(super) fn name_len(bytes: usize) -> u64 {
    varint_len(bytes as u64) + bytes as u64
}

/// Bytes of an array or object whose parts take `bytes` together.
pub(super) fn container_len(count: u64, bytes: u64) -> u64 {
    let body = varint_len(count) + bytes;
    1 + varint_len(body) + body
}

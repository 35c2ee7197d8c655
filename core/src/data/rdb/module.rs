//! Values of modules. Their parts say what they are, so what reads payloads can tell where such a value ends, and a Redis without the
//! module says that it lacks it.
//!
//! ```text
//! module   count            the name of the type in 9 times 6 bits, and its version in the last 10
//! parts    02 count         a number
//!          04 8 bytes       a double, little-endian
//!          05 string
//!          00               the end
//! ```

use super::reader::{Bytes, Reader};
use super::writer::put_count;
use super::{BadFormat, Result};

/// What comes next in a value.
mod parts {
    pub const END: u64 = 0;
    pub const UNSIGNED: u64 = 2;
    pub const DOUBLE: u64 = 4;
    pub const STRING: u64 = 5;
}

/// Bits of a version.
const VERSION_BITS: u32 = 10;

/// A type of a module, without its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Module(u64);

impl Module {
    /// The type of this name, which has letters, digits and hyphens only.
    pub const fn of(name: &[u8; 9]) -> Module {
        let (mut number, mut at) = (0, 0);
        while at < name.len() {
            // A to Z, a to z, 0 to 9, -, _ are 0 to 63.
            let digit = match name[at] {
                letter @ b'A'..=b'Z' => letter - b'A',
                letter @ b'a'..=b'z' => letter - b'a' + 26,
                digit @ b'0'..=b'9' => digit - b'0' + 52,
                b'-' => 62,
                _ => panic!("no name of a type"),
            };
            number = number << 6 | digit as u64;
            at += 1;
        }
        Module(number)
    }

    /// Begins a value.
    pub fn put(self, out: &mut Vec<u8>, version: u64) {
        put_count(out, self.0 << VERSION_BITS | version);
    }

    /// The type of a value, and its version.
    pub fn read(reader: &mut Reader<'_>) -> Result<(Module, u64)> {
        let number = reader.count()?;
        Ok((Module(number >> VERSION_BITS), number & ((1 << VERSION_BITS) - 1)))
    }
}

pub(super) fn put_unsigned(out: &mut Vec<u8>, number: u64) {
    put_count(out, parts::UNSIGNED);
    put_count(out, number);
}

pub(super) fn put_double(out: &mut Vec<u8>, number: f64) {
    put_count(out, parts::DOUBLE);
    out.extend(number.to_le_bytes());
}

/// Adds a string of several pieces.
pub(super) fn put_string(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    put_count(out, parts::STRING);
    put_count(out, pieces.iter().map(|piece| piece.len() as u64).sum());
    pieces.iter().for_each(|piece| out.extend_from_slice(piece));
}

pub(super) fn put_end(out: &mut Vec<u8>) {
    put_count(out, parts::END);
}

/// A number, or None at the end of the value.
pub(super) fn unsigned_or_end(reader: &mut Reader<'_>) -> Result<Option<u64>> {
    match reader.count()? {
        parts::END => Ok(None),
        parts::UNSIGNED => reader.count().map(Some),
        _ => Err(BadFormat),
    }
}

pub(super) fn unsigned(reader: &mut Reader<'_>) -> Result<u64> {
    unsigned_or_end(reader)?.ok_or(BadFormat)
}

pub(super) fn double(reader: &mut Reader<'_>) -> Result<f64> {
    if reader.count()? == parts::DOUBLE { reader.double() } else { Err(BadFormat) }
}

pub(super) fn string<'p>(reader: &mut Reader<'p>) -> Result<Bytes<'p>> {
    if reader.count()? == parts::STRING { reader.string() } else { Err(BadFormat) }
}

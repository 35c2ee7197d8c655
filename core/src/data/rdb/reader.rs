//! Counts, strings and numbers of the format, read from bytes that may be anything.
//!
//! ```text
//! count    00nnnnnn                        0 to 63
//!          01nnnnnn nnnnnnnn               14 bits
//!          10000000 4 bytes, 10000001 8 bytes, big-endian
//! string   count, then so many bytes
//!          11000000 1 byte, 11000001 2 bytes, 11000010 4 bytes: the digits of this signed little-endian integer
//!          11000011 count of bytes, count of bytes once decompressed, then the former: compressed with LZF
//! ```

use std::borrow::Cow;
use std::collections::HashSet;

use super::{BadFormat, Result, forms, lengths, lzf};
use crate::limits::RESTORE_UNPACKED_MAX_BYTES;
use crate::memory_budget::{MemoryBudget, Share};
use crate::number::parse_f64;

/// A string of a payload: where it stands there, or unpacked.
pub type Bytes<'p> = Cow<'p, [u8]>;

/// Whether no two of these strings are equal.
pub(super) fn are_distinct<'v, 'p: 'v>(mut names: impl Iterator<Item = &'v Bytes<'p>>) -> bool {
    let mut seen: HashSet<&[u8]> = HashSet::new();
    names.all(|name| seen.insert(name))
}

/// Bytes that are read from the front.
pub(super) struct Reader<'p> {
    bytes: &'p [u8],
    /// Bytes that compressed and repeated strings may still become.
    unpacked_left: u64,
    pub(super) budget: MemoryBudget,
    pub(super) share: Share,
}

/// A count, or the form of a string.
enum Length {
    Count(u64),
    Form(u8),
}

impl<'p> Reader<'p> {
    pub(super) fn new(bytes: &'p [u8]) -> Reader<'p> {
        Reader::within(bytes, MemoryBudget::UNBOUNDED)
    }

    /// The same where memory may be little.
    pub(super) fn within(bytes: &'p [u8], budget: MemoryBudget) -> Reader<'p> {
        Reader { bytes, unpacked_left: RESTORE_UNPACKED_MAX_BYTES, budget, share: budget.share() }
    }

    /// The next bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&'p [u8]> {
        let count = usize::try_from(count).map_err(|_| BadFormat)?;
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or(BadFormat)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or(BadFormat)?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn length(&mut self) -> Result<Length> {
        let first = self.byte()?;
        let low = first & !lengths::KIND_MASK;
        Ok(match first & lengths::KIND_MASK {
            lengths::SIX_BITS => Length::Count(u64::from(low)),
            lengths::FOURTEEN_BITS => Length::Count(u64::from(low) << 8 | u64::from(self.byte()?)),
            lengths::SPECIAL => Length::Form(low),
            _ if first == lengths::BYTES_4 => Length::Count(u64::from(u32::from_be_bytes(self.array()?))),
            _ if first == lengths::BYTES_8 => Length::Count(u64::from_be_bytes(self.array()?)),
            _ => return Err(BadFormat),
        })
    }

    /// A count of what follows.
    pub(super) fn count(&mut self) -> Result<u64> {
        match self.length()? {
            Length::Count(count) => Ok(count),
            Length::Form(_) => Err(BadFormat),
        }
    }

    pub(super) fn string(&mut self) -> Result<Bytes<'p>> {
        let form = match self.length()? {
            Length::Count(count) => return self.take(count).map(Cow::Borrowed),
            Length::Form(form) => form,
        };
        let integer = match form {
            forms::INTEGER_8 => i64::from(i8::from_le_bytes(self.array()?)),
            forms::INTEGER_16 => i64::from(i16::from_le_bytes(self.array()?)),
            forms::INTEGER_32 => i64::from(i32::from_le_bytes(self.array()?)),
            forms::COMPRESSED => return self.compressed().map(Cow::Owned),
            _ => return Err(BadFormat),
        };
        Ok(digits(integer))
    }

    fn compressed(&mut self) -> Result<Vec<u8>> {
        let (packed_len, len) = (self.count()?, self.count()?);
        let packed = self.take(packed_len)?;
        self.unpack(len)?;
        self.budget.ask(1, len)?;
        lzf::decompress(packed, len)
    }

    /// Allows for so many bytes that are not in the payload.
    pub(super) fn unpack(&mut self, len: u64) -> Result<()> {
        self.unpacked_left = self.unpacked_left.checked_sub(len).ok_or(BadFormat)?;
        Ok(())
    }

    /// A double in eight bytes.
    pub(super) fn double(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// A double in digits behind a byte that counts them, as scores were written before version 8.
    pub(super) fn double_text(&mut self) -> Result<f64> {
        const NAN: u8 = 253;
        const INFINITE: u8 = 254;
        const NEGATIVE_INFINITE: u8 = 255;
        match self.byte()? {
            NAN => Ok(f64::NAN),
            INFINITE => Ok(f64::INFINITY),
            NEGATIVE_INFINITE => Ok(f64::NEG_INFINITY),
            count => parse_f64(self.take(u64::from(count))?).ok_or(BadFormat),
        }
    }
}

/// The text of an integer.
pub(super) fn digits<'p>(integer: i64) -> Bytes<'p> {
    Cow::Owned(itoa::Buffer::new().format(integer).as_bytes().to_vec())
}

//! Counts and strings of the format, as [`reader`](super::reader) reads them.

use super::{forms, lengths};
use crate::data::{DataError, Result};
use crate::engine::EngineError;
use crate::number::parse_i64;

/// Longest text that may be written as an integer, in bytes.
const INTEGER_TEXT_MAX_BYTES: usize = 11;

/// One of many strings; once the payload is too large for memory, nothing more is written.
pub(super) fn put_element((out, max): (&mut Vec<u8>, u64), bytes: &[u8]) {
    if out.len() as u64 <= max {
        put_string(out, bytes);
    }
}

pub(super) fn check_size(out: &[u8], max: u64) -> Result<()> {
    let len = out.len() as u64;
    if len <= max { Ok(()) } else { Err(DataError::Engine(EngineError::TooLarge(len))) }
}

pub(super) fn put_count(out: &mut Vec<u8>, count: u64) {
    match count {
        0..64 => out.push(lengths::SIX_BITS | count as u8),
        64..16_384 => out.extend((u16::from(lengths::FOURTEEN_BITS) << 8 | count as u16).to_be_bytes()),
        _ => match u32::try_from(count) {
            Ok(count) => {
                out.push(lengths::BYTES_4);
                out.extend(count.to_be_bytes());
            }
            Err(_) => {
                out.push(lengths::BYTES_8);
                out.extend(count.to_be_bytes());
            }
        },
    }
}

pub(super) fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    let integer = if bytes.len() <= INTEGER_TEXT_MAX_BYTES { parse_i64(bytes) } else { None };
    if let Some(integer) = integer.and_then(|integer| i32::try_from(integer).ok()) {
        return put_integer(out, integer);
    }
    put_count(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_integer(out: &mut Vec<u8>, integer: i32) {
    if let Ok(integer) = i8::try_from(integer) {
        out.push(lengths::SPECIAL | forms::INTEGER_8);
        out.extend(integer.to_le_bytes());
    } else if let Ok(integer) = i16::try_from(integer) {
        out.push(lengths::SPECIAL | forms::INTEGER_16);
        out.extend(integer.to_le_bytes());
    } else {
        out.push(lengths::SPECIAL | forms::INTEGER_32);
        out.extend(integer.to_le_bytes());
    }
}

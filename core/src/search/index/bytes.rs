//! Numbers in bytes. Reads beyond the end give zeros, so that damage makes wrong answers at worst, and never a panic.

/// Writes a number, 7 bits a byte, the lowest first; all bytes but the last have their upper bit set.
#[inline]
pub(super) fn put(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads what [`put`] wrote, and moves behind it.
#[inline]
pub(super) fn get(bytes: &[u8], at: &mut usize) -> u32 {
    let first = bytes.get(*at).copied().unwrap_or(0);
    *at += 1;
    if first < 0x80 {
        return u32::from(first);
    }
    let mut number = u32::from(first & 0x7F);
    for shift in [7, 14, 21, 28] {
        let byte = bytes.get(*at).copied().unwrap_or(0);
        *at += 1;
        number |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// A piece, empty if it is not within the bytes.
#[inline]
pub(super) fn piece(bytes: &[u8], at: usize, len: usize) -> &[u8] {
    at.checked_add(len).and_then(|end| bytes.get(at..end)).unwrap_or_default()
}

/// So many bytes from a place on, zeros beyond the end.
#[inline]
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk::<N>()).copied().unwrap_or([0; N])
}

/// 32 bits.
#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

/// 64 bits.
#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// The bytes that numbers up to this one take in a column: 0, 1, 2, 4 or 8.
pub(super) fn width_of(greatest: u64) -> u8 {
    match greatest {
        0 => 0,
        1..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    }
}

/// Writes a number of a column.
#[inline]
pub(super) fn put_narrow(out: &mut Vec<u8>, width: u8, number: u64) {
    out.extend_from_slice(number.to_le_bytes().get(..usize::from(width)).unwrap_or_default());
}

/// Reads a number of a column.
#[inline]
pub(super) fn narrow(bytes: &[u8], width: u8, index: usize) -> u64 {
    match width {
        1 => bytes.get(index).copied().map_or(0, u64::from),
        2 => u64::from(u16::from_le_bytes(array(bytes, index.saturating_mul(2)))),
        4 => u64::from(u32_at(bytes, index.saturating_mul(4))),
        8 => u64_at(bytes, index.saturating_mul(8)),
        _ => 0,
    }
}

/// Whether a document has something, by a bit each.
pub(super) fn has_bit(bits: &[u8], place: u32) -> bool {
    bits.get(place as usize / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1)
}

/// How many first bytes two strings share.
#[inline]
pub(super) fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

//! Numbers that are small most of the time: seven bits a byte, least significant first, the top bit set on all but the last
//! byte.

/// Longest form: 64 bits, seven a byte.
const BYTES_MAX: u32 = 10;

/// How many bytes the form of a number has.
pub(super) fn len(number: u64) -> usize {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(7) as usize
}

/// Appends the form of a number.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front; None if there is none.
pub(super) fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..BYTES_MAX {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_changed() {
        for number in [0, 1, 127, 128, 300, 1 << 40, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(len(number), bytes.len());
            let mut rest = bytes.as_slice();
            assert_eq!((take(&mut rest), rest), (Some(number), &[][..]));
            for cut in 0..bytes.len() {
                assert_eq!(take(&mut &bytes[..cut]), None);
            }
        }
        assert_eq!(take(&mut &[0xFF; 30][..]), None);
    }
}

//! LZF, the compression of strings: literal runs, and repetitions of what came before.
//!
//! ```text
//! 000nnnnn                     n + 1 bytes follow as they are
//! nnnhhhhh llllllll            n + 2 bytes (n from 1 to 6) repeat those that stand h * 256 + l + 1 bytes before
//! 111hhhhh mmmmmmmm llllllll   m + 9 bytes do
//! ```

use super::{BadFormat, Result};

/// No three bytes stand for more than these.
const GROWTH_MAX: u64 = 264;

/// The `len` bytes that `packed` stands for.
pub(super) fn decompress(packed: &[u8], len: u64) -> Result<Vec<u8>> {
    if len > (packed.len() as u64).saturating_mul(GROWTH_MAX) {
        return Err(BadFormat);
    }
    let len = usize::try_from(len).map_err(|_| BadFormat)?;
    let mut out: Vec<u8> = Vec::with_capacity(len);
    let mut rest = packed.iter();
    let next =
        |rest: &mut std::slice::Iter<'_, u8>| rest.next().map(|byte| usize::from(*byte)).ok_or(BadFormat);
    while let Some(control) = rest.next() {
        let (kind, low) = (usize::from(control >> 5), usize::from(control & 0x1F));
        if kind == 0 {
            let (run, after) = rest.as_slice().split_at_checked(low + 1).ok_or(BadFormat)?;
            out.extend_from_slice(run);
            rest = after.iter();
        } else {
            let more = if kind == 7 { next(&mut rest)? } else { 0 };
            let distance = (low << 8 | next(&mut rest)?) + 1;
            let start = out.len().checked_sub(distance).ok_or(BadFormat)?;
            repeat(&mut out, start, kind + more + 2);
        }
        if out.len() > len {
            return Err(BadFormat);
        }
    }
    if out.len() == len { Ok(out) } else { Err(BadFormat) }
}

/// Adds `count` bytes from `start` on, which may run into those that it adds.
fn repeat(out: &mut Vec<u8>, start: usize, count: usize) {
    for at in start..start + count {
        // Below the end, by what was added before.
        if let Some(byte) = out.get(at).copied() {
            out.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_differ_once_decompressed() {
        let check = |packed: &[u8], len: u64, expected: Result<&[u8]>| {
            let expected = expected.map(<[u8]>::to_vec);
            assert_eq!(decompress(packed, len), expected, "{}", packed.escape_ascii());
        };
        check(b"\x02abc", 3, Ok(b"abc"));
        check(b"\x00a\x20\x00", 4, Ok(b"aaaa"));
        check(b"\x02abc\x20\x02", 6, Ok(b"abcabc"));
        check(b"\x00a\xE0\x01\x00", 11, Ok(b"aaaaaaaaaaa"));
        check(b"", 0, Ok(b""));
        check(b"\x02abc", 4, Err(BadFormat));
        check(b"\x02abc", 2, Err(BadFormat));
        check(b"\x02ab", 3, Err(BadFormat));
        check(b"\x00a\x20\x01", 4, Err(BadFormat));
        check(b"\x20\x00", 3, Err(BadFormat));
        check(b"\x00a\xE0\x01", 11, Err(BadFormat));
        check(b"\x00a\x20", 4, Err(BadFormat));
        check(b"\x00a", u64::MAX, Err(BadFormat));
    }
}

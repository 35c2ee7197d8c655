//! CRC-32C of long values without reading them again: zeros behind a checksum, and a whole made of its pieces.

/// Bits of a checksum.
const BITS: usize = u32::BITS as usize;

/// The checksum of what `checksum` stands for with so many zeros behind it, in steps of doubling length.
pub(super) fn append_zeros(mut checksum: u32, count: u64) -> u32 {
    // The checksum of 2^bit zeros.
    let mut zeros = crc32c::crc32c(&[0]);
    for bit in 0..u64::BITS {
        let run = 1_u64 << bit;
        if count & run != 0 {
            checksum = combine(checksum, zeros, run);
        }
        if run > count >> 1 {
            break;
        }
        zeros = combine(zeros, zeros, run);
    }
    checksum
}

/// The checksum of two parts, of which the second is `after_len` bytes long. Costs some ten microseconds.
pub(super) fn combine(mut before: u32, after: u32, after_len: u64) -> u32 {
    // A 32-bit machine cannot count further at once.
    const STEP: usize = 1 << 31;
    let mut left = after_len;
    while usize::try_from(left).is_err() {
        before = crc32c::crc32c_combine(before, 0, STEP);
        left -= STEP as u64;
    }
    crc32c::crc32c_combine(before, after, left as usize)
}

/// Puts checksums of pieces of one length together, some dozens of nanoseconds each.
///
/// A checksum followed by a fixed number of bytes is a linear function of its bits, so one look at each of them is enough.
pub(super) struct Joiner([u32; BITS]);

impl Joiner {
    /// For pieces of this many bytes.
    pub(super) fn new(piece_bytes: u64) -> Joiner {
        let mut moved = [0; BITS];
        for (bit, moved) in moved.iter_mut().enumerate() {
            *moved = combine(1 << bit, 0, piece_bytes);
        }
        Joiner(moved)
    }

    /// The checksum of what `before` stands for with a piece behind it.
    pub(super) fn join(&self, before: u32, piece: u32) -> u32 {
        let moved = self.0.iter().enumerate().filter(|(bit, _)| before >> bit & 1 == 1);
        moved.fold(piece, |checksum, (_, moved)| checksum ^ moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_change_the_checksum_as_bytes_do() {
        let zeros = vec![0; 70_001];
        for count in [0, 1, 2, 3, 7, 8, 255, 4096, 65_537, 70_001] {
            let wanted = crc32c::crc32c_append(crc32c::crc32c(b"before"), &zeros[..count]);
            assert_eq!(append_zeros(crc32c::crc32c(b"before"), count as u64), wanted, "{count} zeros");
        }
        let twice = append_zeros(append_zeros(9, 5 << 30), 1 << 40);
        assert_eq!(append_zeros(9, (5 << 30) + (1 << 40)), twice, "zeros without end");
    }
}

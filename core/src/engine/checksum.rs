//! CRC-32C of long values: as fast as the machine can, and without reading them again for zeros behind a checksum or for a
//! whole made of its pieces.

/// Bits of a checksum.
const BITS: usize = u32::BITS as usize;

/// From this many bytes on the faster way is faster; it begins more slowly.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const FAST_FROM_BYTES: usize = 512;

/// The checksum of what `checksum` stands for with `bytes` behind it; that of nothing is 0.
#[inline]
pub(crate) fn append(checksum: u32, bytes: &[u8]) -> u32 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if bytes.len() >= FAST_FROM_BYTES {
        let state = u64::from(!checksum);
        let mut digest = crc_fast::Digest::new_with_init_state(crc_fast::CrcAlgorithm::Crc32Iscsi, state);
        digest.update(bytes);
        // Lossless: a checksum of 32 bits.
        return digest.finalize() as u32;
    }
    crc32c::crc32c_append(checksum, bytes)
}

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
    fn long_and_short_ways_agree() {
        let mut random = fastrand::Rng::with_seed(1515);
        let bytes: Vec<u8> = (0..70_000).map(|_| random.u8(..)).collect();
        for round in 0..2000 {
            let from = random.usize(..bytes.len());
            let most = if round % 2 == 0 { 4000 } else { bytes.len() };
            let part = &bytes[from..from + random.usize(..=(bytes.len() - from).min(most))];
            let before = random.u32(..);
            assert_eq!(append(before, part), crc32c::crc32c_append(before, part), "{} at {from}", part.len());
            assert_eq!(append(0, part), crc32c::crc32c(part), "{} at {from}", part.len());
        }
    }

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

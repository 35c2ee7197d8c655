//! Which register an element belongs to, and the value it asks for.

use super::{INDEX_BITS, REGISTERS, RUN_BITS};

/// Redis' seed; another one would make other sketches.
const SEED: u64 = 0xADC8_3B19;

/// A register and the value that an element asks for: one more than the number of zeros before the first one in its
/// hash, from the low end and behind the bits of the index.
pub(super) fn register_of(element: &[u8]) -> (usize, u8) {
    let hash = murmur_64a(element, SEED);
    // The mask leaves fourteen bits.
    let index = (hash & (REGISTERS as u64 - 1)) as usize;
    // The bit above the last one ends the run.
    let zeros = (hash >> INDEX_BITS | 1 << RUN_BITS).trailing_zeros();
    (index, zeros as u8 + 1)
}

/// MurmurHash64A (Appleby, SMHasher, public domain), words read as little-endian whatever the machine is.
fn murmur_64a(bytes: &[u8], seed: u64) -> u64 {
    const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;
    const SHIFT: u32 = 47;
    let (words, tail) = bytes.as_chunks::<8>();
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    for word in words {
        let mut mixed = u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        mixed ^= mixed >> SHIFT;
        hash = (hash ^ mixed.wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    }
    if !tail.is_empty() {
        let last = tail.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        hash = (hash ^ last).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ hash >> SHIFT).wrapping_mul(MULTIPLIER);
    hash ^ hash >> SHIFT
}

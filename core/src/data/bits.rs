//! Arithmetic on bits in a row of bytes, the first bit of a byte being its highest: counting, finding, and integers of up
//! to 64 bits at any bit. It knows neither keys nor where the bytes come from.

/// Enough bytes for 64 bits that begin anywhere in the first of them.
pub const WINDOW_BYTES: usize = 9;

/// The same in bits.
const WINDOW_BITS: u32 = 8 * WINDOW_BYTES as u32;

/// Number of bits that are set.
pub fn count_ones(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<{ 8 * BLOCK_WORDS }>();
    let block_ones: u64 = blocks.iter().map(block_ones).sum();
    let (words, rest) = rest.as_chunks::<8>();
    let word_ones: u64 = words.iter().map(|word| u64::from(u64::from_ne_bytes(*word).count_ones())).sum();
    let byte_ones: u64 = rest.iter().map(|byte| u64::from(byte.count_ones())).sum();
    block_ones + word_ones + byte_ones
}

/// Bytes that are skipped together.
const FIND_BYTES: usize = 64;

/// Words that are counted together.
const BLOCK_WORDS: usize = 16;

/// The ones of a block. Carry-save adders add sixteen words bit by bit, as the digits of 64 sums; then five words are
/// counted instead of sixteen (Harley and Seal; Warren, Hacker's Delight, section 5-1). Processors that can be relied
/// on have no instruction that counts, so counting is what costs.
fn block_ones(block: &[u8; 8 * BLOCK_WORDS]) -> u64 {
    let (bytes, _) = block.as_chunks::<8>();
    let mut words = [0; BLOCK_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes) {
        *word = u64::from_ne_bytes(*bytes);
    }
    let mut ones = 0;
    let mut digits = [0_u64; 4];
    for eight in words.chunks_exact(8) {
        let mut fours = [0_u64; 2];
        for (sum, four) in fours.iter_mut().zip(eight.chunks_exact(4)) {
            let mut twos = [0_u64; 2];
            for (sum, two) in twos.iter_mut().zip(four.chunks_exact(2)) {
                let (first, second) = (two.first().copied(), two.get(1).copied());
                *sum = add(&mut digits[0], first.unwrap_or(0), second.unwrap_or(0));
            }
            *sum = add(&mut digits[1], twos[0], twos[1]);
        }
        let eights = add(&mut digits[2], fours[0], fours[1]);
        // The second carry of an eighth digit counts sixteen.
        ones += 16 * u64::from((digits[3] & eights).count_ones());
        digits[3] ^= eights;
    }
    for (digit, word) in digits.iter().enumerate() {
        ones += u64::from(word.count_ones()) << digit;
    }
    ones
}

/// Adds two words to the digits in `sum`, bit by bit; returns the carries.
fn add(sum: &mut u64, first: u64, second: u64) -> u64 {
    let half = *sum ^ first;
    let carry = (*sum & first) | (half & second);
    *sum = half ^ second;
    carry
}

/// The place of the first bit that is `wanted`, counted in bits.
pub fn find(bytes: &[u8], wanted: bool) -> Option<u64> {
    // What a run without such a bit consists of.
    let other = if wanted { 0 } else { u8::MAX };
    // Blocks are looked at without a branch inside, by instructions for many bytes at once.
    let is_blank = |block: &[u8; FIND_BYTES]| block.iter().fold(0, |odd, byte| odd | (byte ^ other)) == 0;
    let (blocks, _) = bytes.as_chunks::<FIND_BYTES>();
    let skipped = FIND_BYTES * blocks.iter().take_while(|block| is_blank(block)).count();
    let rest = bytes.get(skipped..)?;
    let at = rest.iter().position(|byte| *byte != other)?;
    let first = (rest.get(at)? ^ other).leading_zeros();
    Some(8 * (skipped + at) as u64 + u64::from(first))
}

/// An integer's place among the bits of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Number of the first bit.
    pub offset: u64,
    /// How many bits, 1 to 64.
    pub width: u32,
}

impl Field {
    /// The first byte that the field touches.
    pub fn first_byte(self) -> u64 {
        self.offset / 8
    }

    /// Length of the shortest string that holds the field.
    pub fn end_byte(self) -> u64 {
        (self.offset + u64::from(self.width)).div_ceil(8)
    }

    /// Where the field's last bit is in a window that begins at [`Field::first_byte`], counted from the window's end.
    fn shift(self) -> u32 {
        WINDOW_BITS - (self.offset % 8) as u32 - self.width
    }

    fn mask(self) -> u128 {
        (1 << self.width) - 1
    }

    /// Reads the field as an unsigned integer. `window` begins at [`Field::first_byte`]; zeros follow it.
    pub fn get(self, window: &[u8]) -> u64 {
        // At most 64 bits are left of the mask.
        (load(window) >> self.shift() & self.mask()) as u64
    }

    /// Writes the low bits of `value` into the field in a window that begins at [`Field::first_byte`], as far as it goes.
    pub fn set(self, window: &mut [u8], value: u64) {
        let others = load(window) & !(self.mask() << self.shift());
        let changed = others | (u128::from(value) & self.mask()) << self.shift();
        let bytes = changed.to_be_bytes();
        let bytes = bytes.iter().skip(bytes.len() - WINDOW_BYTES);
        window.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
    }
}

/// The first bytes of a window as one integer.
fn load(window: &[u8]) -> u128 {
    let bytes = window.iter().copied().chain(std::iter::repeat(0));
    bytes.take(WINDOW_BYTES).fold(0, |all, byte| all << 8 | u128::from(byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bit(bytes: &[u8], at: u64) -> bool {
        bytes.get((at / 8) as usize).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1)
    }

    proptest! {
        #[test]
        fn bits_are_miscounted(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
            let wanted: u64 = bytes.iter().map(|byte| u64::from(byte.count_ones())).sum();
            prop_assert_eq!(count_ones(&bytes), wanted);
        }

        #[test]
        fn another_bit_is_found(
            (fill, odd) in (prop::sample::select(vec![0_u8, 255]), any::<u8>()),
            (before, after) in (0_usize..300, 0_usize..100),
            wanted: bool,
        ) {
            let bytes = [vec![fill; before], vec![odd], vec![fill; after]].concat();
            let expected = (0..8 * bytes.len() as u64).find(|at| bit(&bytes, *at) == wanted);
            prop_assert_eq!(find(&bytes, wanted), expected);
        }

        /// What is written is read back, and nothing beside it changes.
        #[test]
        fn field_changes_its_neighbours(before: [u8; WINDOW_BYTES], offset in 0_u64..8, width in 1_u32..=64, value: u64) {
            let field = Field { offset, width };
            let mut window = before;
            field.set(&mut window, value);
            prop_assert_eq!(field.get(&window), value & (u64::MAX >> (64 - width)));
            for at in (0..72).filter(|at| !(offset..offset + u64::from(width)).contains(at)) {
                prop_assert_eq!(bit(&window, at), bit(&before, at));
            }
        }
    }
}

//! Where an element stands in its list, or in its array of a document, as a subkey: positions order like their bytes and need not be dense.
//!
//! A position is a whole number, which pushes take one below the first or one above the last, and a fraction, which
//! only LINSERT makes:
//!
//! ```text
//! lead        1 byte    0x80 + n for a whole number >= 0, 0x7F - n for one below, n = bytes that follow (0..=8)
//! whole       n bytes   the number, big-endian, shortest form; of a number below 0 the two's complement
//! fraction    0..=16    as many bytes of a 128-bit binary fraction as are not zero at its end
//! ```
//!
//! The lead says how long the whole number is, so a longer number never is the prefix of another, and the elements of a
//! list of a few hundred thousand cost four bytes of position each. A fraction has no more than 16 bytes: where they are
//! used up, neighbours are spread out (see [`super::list`]).

use smallvec::SmallVec;

/// Lead, whole number and fraction at their longest.
const POSITION_MAX_BYTES: usize = 1 + 8 + 16;

/// A place in a list. The derived order is that of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) whole: i64,
    /// In units of 2^-128.
    pub(super) fraction: u128,
}

/// A position's subkey.
pub(super) type PositionBytes = SmallVec<[u8; POSITION_MAX_BYTES]>;

impl Position {
    /// The first element of a new list stands here.
    pub(super) const START: Position = Position::whole(0);

    /// A position without a fraction.
    pub(super) const fn whole(whole: i64) -> Position {
        Position { whole, fraction: 0 }
    }

    /// The next whole position below, for a push at the head.
    pub(super) fn below(self) -> Option<Position> {
        self.whole.checked_sub(1).map(Position::whole)
    }

    /// The next whole position above, for a push at the tail.
    pub(super) fn above(self) -> Option<Position> {
        self.whole.checked_add(1).map(Position::whole)
    }

    /// A position between two, the one with the shortest bytes that still leaves room on both sides; None if nothing
    /// lies between.
    pub(super) fn between(low: Position, high: Position) -> Option<Position> {
        let distance = high.whole.abs_diff(low.whole);
        if distance > 1 {
            return Some(Position::whole(low.whole.checked_add_unsigned(distance / 2)?));
        }
        if distance == 1 && high.fraction > 0 {
            return Some(Position::whole(high.whole));
        }
        // From here on the next whole number, if it bounds the room, counts as the fraction 2^128, which wraps to 0.
        let space = match (distance, low.fraction) {
            (1, 0) => return Some(Position { whole: low.whole, fraction: 1 << 127 }),
            (1, fraction) => fraction.wrapping_neg(),
            (_, fraction) => high.fraction.checked_sub(fraction)?,
        };
        let half = space / 2;
        // The unit is half the largest power of two that fits, so that rounding down stays above `low`.
        let unit = 1_u128 << half.checked_ilog2()?.saturating_sub(1);
        Some(Position { whole: low.whole, fraction: (low.fraction + half) & !(unit - 1) })
    }

    /// The subkey.
    pub(super) fn encode(self) -> PositionBytes {
        let magnitude = if self.whole < 0 { !self.whole } else { self.whole }.unsigned_abs();
        let skipped = magnitude.leading_zeros() as usize / 8;
        let len = (8 - skipped) as u8;
        let mut bytes = PositionBytes::new();
        bytes.push(if self.whole < 0 { 0x7F - len } else { 0x80 + len });
        bytes.extend(self.whole.to_be_bytes().into_iter().skip(skipped));
        let kept = 16 - self.fraction.trailing_zeros() as usize / 8;
        bytes.extend(self.fraction.to_be_bytes().into_iter().take(kept));
        bytes
    }

    /// The position of a subkey; None if the bytes are no position.
    pub(super) fn decode(subkey: &[u8]) -> Option<Position> {
        let (lead, rest) = subkey.split_first()?;
        let (len, filler) = if *lead < 0x80 { (0x7F - lead, 0xFF) } else { (lead - 0x80, 0) };
        let skipped = 8_usize.checked_sub(usize::from(len))?;
        let (number, rest) = rest.split_at_checked(usize::from(len))?;
        let mut whole = [filler; 8];
        whole.get_mut(skipped..)?.copy_from_slice(number);
        let mut fraction = [0; 16];
        fraction.get_mut(..rest.len())?.copy_from_slice(rest);
        Some(Position { whole: i64::from_be_bytes(whole), fraction: u128::from_be_bytes(fraction) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(generator: &mut fastrand::Rng) -> Position {
        let whole = generator.i64(..) >> generator.u32(..64);
        let fraction = generator.u128(..) << generator.u32(..128);
        Position { whole, fraction: if generator.bool() { 0 } else { fraction } }
    }

    #[test]
    fn positions_order_unlike_their_bytes() {
        let seed = 7;
        let mut generator = fastrand::Rng::with_seed(seed);
        let mut positions: Vec<Position> = (0..2000).map(|_| random(&mut generator)).collect();
        positions.extend((-300..300).map(Position::whole));
        positions.extend([i64::MIN, i64::MIN + 1, i64::MAX, 255, 256, -256, -257].map(Position::whole));
        positions.sort();
        for pair in positions.windows(2) {
            let [low, high] = pair else { unreachable!() };
            assert_eq!(Position::decode(&low.encode()), Some(*low), "seed {seed}");
            assert_eq!(low.cmp(high), low.encode().cmp(&high.encode()), "seed {seed}: {low:?} {high:?}");
        }
    }

    #[test]
    fn between_leaves_its_bounds() {
        let seed = 8;
        let mut generator = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let low = random(&mut generator);
            let high = match generator.u8(..4) {
                0 => random(&mut generator),
                1 => Position { whole: low.whole, fraction: generator.u128(..) },
                2 => Position { whole: low.whole, fraction: low.fraction.wrapping_add(generator.u128(..5)) },
                _ => Position {
                    whole: low.whole.saturating_add(1),
                    fraction: generator.u128(..) >> generator.u32(..128),
                },
            };
            if low >= high {
                continue;
            }
            match Position::between(low, high) {
                Some(middle) => assert!(low < middle && middle < high, "seed {seed}: {low:?} {high:?}"),
                None => assert!(
                    low.whole == high.whole && high.fraction - low.fraction == 1
                        || low.fraction == u128::MAX && high == Position::whole(low.whole + 1),
                    "seed {seed}: space between {low:?} and {high:?}"
                ),
            }
        }
    }

    #[test]
    fn damaged_subkey_decodes() {
        for subkey in [&b""[..], b"\x81", b"\x89aaaaaaaaa", b"\x76aaaaaaaaa", b"\x80aaaaaaaaaaaaaaaaa"] {
            assert_eq!(Position::decode(subkey), None, "{}", subkey.escape_ascii());
        }
    }
}

//! Sums of floating-point numbers as INCRBYFLOAT and HINCRBYFLOAT make them: text in, text out.
//!
//! Redis adds in the x87's 80-bit format (`long double`: 64 bits of mantissa, 15 of exponent) and prints 17 digits
//! after the point without trailing zeros. Doubles would give other digits (`0.1` + `0.2` is `0.3` here), so this is
//! that format in integers: the same on every machine, wasm32 included. Every step rounds once, to nearest with ties
//! to even, as the hardware and glibc do.
//!
//! Hexadecimal floats, which Redis takes because `strtold` does, are refused: no client sends them.

use std::fmt;

/// Numbers of this length or longer are refused: Redis' own figure (`MAX_LONG_DOUBLE_CHARS`).
const TEXT_MAX_BYTES: usize = 5 * 1024;

/// Weight of the last bit of the smallest numbers, as a power of two.
const EXPONENT_MIN: i32 = -16445;
/// Weight of the last bit of the largest numbers, as a power of two.
const EXPONENT_MAX: i32 = 16320;

/// Numbers whose first digit weighs more or less than this power of ten overflow or underflow whatever the digits:
/// the format ends near 10^4932 and 10^-4951.
const DECIMAL_EXPONENT_MAX: i64 = 5000;

/// Digits after the point, and the power of ten that shifts them before it.
const PLACES: usize = 17;
const PLACES_SCALE: u128 = 10_u128.pow(PLACES as u32);

/// A number in the 80-bit format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongDouble {
    /// A number.
    Finite(Finite),
    /// Either infinity. No sum with one is a number that a key may hold.
    Infinite,
}

/// ±`mantissa` × 2^`exponent`. Invariant: the mantissa's top bit is set, or the exponent is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finite {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

impl LongDouble {
    /// Reads a decimal number with optional sign, fraction and exponent, or `inf`/`infinity` in any case; None for
    /// anything else, for NaN, and for numbers too large or too small for the format.
    pub fn parse(text: &[u8]) -> Option<LongDouble> {
        if text.len() >= TEXT_MAX_BYTES {
            return None;
        }
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if rest.eq_ignore_ascii_case(b"inf") || rest.eq_ignore_ascii_case(b"infinity") {
            return Some(LongDouble::Infinite);
        }
        let number = Decimal::parse(rest)?.into_binary(negative)?;
        Some(LongDouble::Finite(number))
    }

    /// The sum; None if it is no finite number.
    #[expect(clippy::should_implement_trait, reason = "a sum is a Finite")]
    pub fn add(self, other: LongDouble) -> Option<Finite> {
        match (self, other) {
            (LongDouble::Finite(left), LongDouble::Finite(right)) => left.plus(right),
            _ => None,
        }
    }
}

impl Finite {
    fn plus(self, other: Finite) -> Option<Finite> {
        let key = |number: &Finite| (number.exponent, number.mantissa);
        let (large, small) = if key(&self) < key(&other) { (other, self) } else { (self, other) };
        // By the invariant `large` has the larger magnitude. 63 bits below its last one, and one to know of the rest,
        // are more than any rounding asks for.
        const BELOW: i32 = 63;
        let wide = u128::from(large.mantissa) << BELOW;
        let distance = (large.exponent - small.exponent).unsigned_abs();
        let shifted = u128::from(small.mantissa) << BELOW;
        let aligned = shifted.checked_shr(distance).unwrap_or(0);
        let inexact = aligned.checked_shl(distance).unwrap_or(0) != shifted;
        let total = if large.negative == small.negative {
            wide + aligned
        } else {
            // What was shifted out makes the difference a little smaller still.
            wide - aligned - u128::from(inexact)
        };
        round(large.negative, total, large.exponent - BELOW, inexact)
    }
}

/// The number of the format nearest to ±(`digits` plus something between 0 and 1 if `inexact`) × 2^`exponent`; None if
/// that is beyond the largest. Inexact digits must be more than the format keeps.
fn round(negative: bool, digits: u128, exponent: i32, inexact: bool) -> Option<Finite> {
    let bits = 128 - digits.leading_zeros() as i32;
    let dropped = (bits - 64).max(EXPONENT_MIN - exponent);
    if dropped <= 0 || digits == 0 {
        let shift = (64 - bits).min(exponent - EXPONENT_MIN).max(0);
        let (mantissa, exponent) =
            if digits == 0 { (0, EXPONENT_MIN) } else { ((digits as u64) << shift, exponent - shift) };
        return (exponent <= EXPONENT_MAX).then_some(Finite { negative, mantissa, exponent });
    }
    if dropped > 128 {
        return Some(Finite { negative, mantissa: 0, exponent: EXPONENT_MIN });
    }
    let mut kept = digits.checked_shr(dropped.unsigned_abs()).unwrap_or(0);
    let rest = digits - kept.checked_shl(dropped.unsigned_abs()).unwrap_or(0);
    let half = 1_u128 << (dropped - 1);
    if rest > half || (rest == half && (inexact || kept % 2 == 1)) {
        kept += 1;
    }
    let mut exponent = exponent + dropped;
    if kept > u128::from(u64::MAX) {
        kept >>= 1;
        exponent += 1;
    }
    (exponent <= EXPONENT_MAX).then_some(Finite { negative, mantissa: kept as u64, exponent })
}

/// `digits` × 10^`scale`.
struct Decimal {
    digits: Natural,
    count: i64,
    scale: i64,
}

impl Decimal {
    /// Reads digits with an optional point among them and an optional exponent behind.
    fn parse(text: &[u8]) -> Option<Decimal> {
        let split = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, exponent) = match split {
            Some(at) => (text.get(..at)?, decimal_exponent(text.get(at + 1..)?)?),
            None => (text, 0),
        };
        let mut decimal = Decimal { digits: Natural::default(), count: 0, scale: exponent };
        let (mut any, mut point) = (false, false);
        for byte in mantissa {
            match byte {
                b'.' if !point => point = true,
                b'0'..=b'9' => {
                    any = true;
                    decimal.scale -= i64::from(point);
                    if decimal.count > 0 || *byte != b'0' {
                        decimal.count += 1;
                        decimal.digits.multiply_add(10, u32::from(byte - b'0'));
                    }
                }
                _ => return None,
            }
        }
        any.then_some(decimal)
    }

    /// The nearest number of the format; None if that is infinite, or zero although this is not.
    fn into_binary(mut self, negative: bool) -> Option<Finite> {
        if self.count == 0 {
            return round(negative, 0, 0, false);
        }
        let first = self.count + self.scale;
        if first.abs() > DECIMAL_EXPONENT_MAX {
            return None;
        }
        // 10^n is 5^n × 2^n, and the powers of two go into the exponent.
        let scale = i32::try_from(self.scale).ok()?;
        let fives = scale.unsigned_abs();
        let mut shift = 0;
        let mut inexact = false;
        if scale >= 0 {
            for power in powers_of_five(fives) {
                self.digits.multiply_add(power, 0);
            }
        } else {
            // 5^n has less than 7/3 n bits; three more than 64 remain after the division.
            shift = (67 + fives * 7 / 3 + 1).saturating_sub(self.digits.bits());
            self.digits.shift_left(shift);
            for power in powers_of_five(fives) {
                inexact |= self.digits.divide(power) != 0;
            }
        }
        let (top, below, lost) = self.digits.top();
        let exponent = scale - i32::try_from(shift).ok()? + i32::try_from(below).ok()?;
        let number = round(negative, top, exponent, inexact || lost)?;
        (number.mantissa != 0).then_some(number)
    }
}

/// An exponent with an optional sign; a huge one becomes one that is certainly out of range.
fn decimal_exponent(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        rest => (1, rest),
    };
    if digits.is_empty() {
        return None;
    }
    let limit = 4 * DECIMAL_EXPONENT_MAX;
    let magnitude = digits.iter().try_fold(0_i64, |value, byte| match byte {
        b'0'..=b'9' => Some((value * 10 + i64::from(byte - b'0')).min(limit)),
        _ => None,
    })?;
    Some(sign * magnitude)
}

/// 5^`exponent` as factors of 32 bits.
fn powers_of_five(exponent: u32) -> impl Iterator<Item = u32> {
    // The largest power of five in 32 bits.
    const LARGEST: u32 = 13;
    let whole = std::iter::repeat_n(5_u32.pow(LARGEST), (exponent / LARGEST) as usize);
    whole.chain(std::iter::once(5_u32.pow(exponent % LARGEST)))
}

/// A natural number of any size: 32-bit digits, the least first, none of them a leading zero.
#[derive(Default)]
struct Natural {
    words: Vec<u32>,
}

impl Natural {
    fn bits(&self) -> u32 {
        // A number has at most a few ten thousand bits: its text is bounded.
        self.words.last().map_or(0, |last| self.words.len() as u32 * 32 - last.leading_zeros())
    }

    fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for word in &mut self.words {
            let product = u64::from(*word) * u64::from(factor) + carry;
            *word = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.words.push(carry as u32);
        }
    }

    /// Divides and returns the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut remainder = 0_u64;
        for word in self.words.iter_mut().rev() {
            let dividend = remainder << 32 | u64::from(*word);
            *word = (dividend / u64::from(divisor)) as u32;
            remainder = dividend % u64::from(divisor);
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        remainder as u32
    }

    fn shift_left(&mut self, bits: u32) {
        self.multiply_add(1 << (bits % 32), 0);
        let zeros = std::iter::repeat_n(0, (bits / 32) as usize);
        self.words.splice(0..0, zeros);
    }

    /// The highest 97 to 128 bits (all bits of a smaller number), how many are below them, and whether those are not
    /// all zero.
    fn top(&self) -> (u128, u32, bool) {
        let (low, high) = self.words.split_at(self.words.len().saturating_sub(4));
        let top = high.iter().rev().fold(0_u128, |value, word| value << 32 | u128::from(*word));
        (top, low.len() as u32 * 32, low.iter().any(|word| *word != 0))
    }
}

impl fmt::Display for Finite {
    /// Up to 17 digits after the point, without trailing zeros and never with an exponent.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if let Ok(shift) = u32::try_from(self.exponent) {
            let mut number = Natural { words: vec![self.mantissa as u32, (self.mantissa >> 32) as u32] };
            number.shift_left(shift);
            let mut groups = Vec::new();
            while !number.words.is_empty() {
                groups.push(number.divide(1_000_000_000));
            }
            text = groups.pop().unwrap_or(0).to_string();
            text.extend(groups.iter().rev().map(|group| format!("{group:09}")));
        } else {
            let scaled = u128::from(self.mantissa) * PLACES_SCALE;
            let shift = self.exponent.unsigned_abs();
            // A shift of 128 or more leaves less than half of the last place.
            let mut places = scaled.checked_shr(shift).unwrap_or(0);
            let half = 1_u128.checked_shl(shift - 1).unwrap_or(u128::MAX);
            let rest = scaled - places.checked_shl(shift).unwrap_or(0);
            if rest > half || (rest == half && places % 2 == 1) {
                places += 1;
            }
            let fraction = format!("{:017}", places % PLACES_SCALE);
            text.push_str(&(places / PLACES_SCALE).to_string());
            let fraction = fraction.trim_end_matches('0');
            if !fraction.is_empty() {
                text.push('.');
                text.push_str(fraction);
            }
        }
        let sign = if self.negative && text != "0" { "-" } else { "" };
        write!(out, "{sign}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(left: &str, right: &str) -> String {
        let parsed = LongDouble::parse(left.as_bytes()).zip(LongDouble::parse(right.as_bytes()));
        let sum = parsed.and_then(|(left, right)| left.add(right));
        sum.map_or("none".to_string(), |sum| sum.to_string())
    }

    /// Sums that redis-server 7.0.15 made on x86-64, at the edges of the format.
    #[test]
    fn sum_differs_from_redis() {
        for (left, right, expected) in [
            ("0.1", "0.2", "0.3"),
            ("18446744073709551615", "0.5", "18446744073709551616"),
            ("18446744073709551614", "0.5", "18446744073709551614"),
            ("9223372036854775807", "0.5", "9223372036854775807.5"),
            ("2305843009213693951", "0.8125", "2305843009213693951.75"),
            ("1e19", "-1e-19", "10000000000000000000"),
            ("1", "-1e-19", "1"),
            ("1", "-6e-20", "1"),
            ("3.6e-4951", "0", "0"),
            ("1.1e-4951", "0", "none"),
            ("1e4932", "1e4932", "none"),
            ("1e4933", "0", "none"),
            ("inf", "0", "none"),
            ("nan", "0", "none"),
            ("-0", "-0", "0"),
            ("-0.000000000000000005", "0", "0"),
        ] {
            assert_eq!(sum(left, right), expected, "{left} + {right}");
            assert_eq!(sum(right, left), expected, "{right} + {left}");
        }
    }

    /// A double has no more bits than this format, so its text must come back whatever the length.
    #[test]
    fn double_changes_on_the_way() {
        let seed = 0x5EED_u64;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..5_000 {
            let value = f64::from_bits(random.u64(..));
            if !value.is_finite() || value.abs() > 1e300 {
                continue;
            }
            // Exact digits of a double need up to 767 places; 17 of them are shown.
            let shown = sum(&format!("{value:.800}"), "0");
            let expected = format!("{value:.17}");
            let expected = if expected.contains('.') {
                expected.trim_end_matches('0').trim_end_matches('.')
            } else {
                expected.as_str()
            };
            let expected = if expected == "-0" { "0" } else { expected };
            assert_eq!(shown, expected, "{value:e}");
        }
    }
}

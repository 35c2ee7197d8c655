//! Numbers of JSON: whole numbers and doubles as the processor has them, all others as their digits.
//!
//! RedisJSON rounds what is neither a whole number of 64 bits nor a double. Here such a number keeps its digits, so it comes back as it
//! was written. A number that a double holds exactly is printed as RedisJSON prints it: `1.50` is `1.5`, `1e3` is `1000.0`.

use std::borrow::Cow;

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub enum Number<'n> {
    /// A whole number.
    Int(i64),
    /// A whole number above all of [`Number::Int`].
    Uint(u64),
    /// A double; it is finite.
    Double(f64),
    /// Any other, as it is written in JSON.
    Digits(Cow<'n, str>),
}

impl<'n> Number<'n> {
    /// The number that a text is, which is known to be one of JSON. None if it lies beyond the range of a double.
    pub fn parse(text: &'n str) -> Option<Number<'n>> {
        let is_whole = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-'));
        if is_whole && text != "-0" {
            if let Ok(value) = text.parse() {
                return Some(Number::Int(value));
            }
            if let Ok(value) = text.parse() {
                return Some(Number::Uint(value));
            }
        }
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        if is_whole && text != "-0" {
            return Some(Number::Digits(Cow::Borrowed(text)));
        }
        let mut buffer = ryu::Buffer::new();
        let is_exact = Decimal::of(text) == Decimal::of(buffer.format_finite(value));
        Some(if is_exact { Number::Double(value) } else { Number::Digits(Cow::Borrowed(text)) })
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Int(value) => *value as f64,
            Number::Uint(value) => *value as f64,
            Number::Double(value) => *value,
            Number::Digits(digits) => digits.parse().unwrap_or(f64::NAN),
        }
    }

    /// The number, if it is a whole one of 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        match self {
            Number::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether it is written without a point and without an exponent.
    pub fn is_integer(&self) -> bool {
        match self {
            Number::Int(_) | Number::Uint(_) => true,
            Number::Double(_) => false,
            Number::Digits(digits) => digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-')),
        }
    }

    /// Appends it as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Number::Int(value) => out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes()),
            Number::Uint(value) => out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes()),
            Number::Double(value) => {
                out.extend_from_slice(ryu::Buffer::new().format_finite(*value).as_bytes());
            }
            Number::Digits(digits) => out.extend_from_slice(digits.as_bytes()),
        }
    }

    /// The sum. Whole numbers make a whole number as long as it has 64 bits. None if it lies beyond the range of a double.
    pub fn plus(&self, other: &Number<'_>) -> Option<Number<'static>> {
        self.combine(other, i128::checked_add, |one, other| one + other)
    }

    /// The product, by the same rules.
    pub fn times(&self, other: &Number<'_>) -> Option<Number<'static>> {
        self.combine(other, i128::checked_mul, |one, other| one * other)
    }

    fn combine(
        &self,
        other: &Number<'_>,
        whole: impl Fn(i128, i128) -> Option<i128>,
        double: impl Fn(f64, f64) -> f64,
    ) -> Option<Number<'static>> {
        if let (Some(one), Some(other)) = (self.whole(), other.whole())
            && let Some(result) = whole(one, other)
        {
            if let Ok(value) = i64::try_from(result) {
                return Some(Number::Int(value));
            }
            if let Ok(value) = u64::try_from(result) {
                return Some(Number::Uint(value));
            }
        }
        let result = double(self.to_f64(), other.to_f64());
        result.is_finite().then_some(Number::Double(result))
    }

    fn whole(&self) -> Option<i128> {
        match self {
            Number::Int(value) => Some(i128::from(*value)),
            Number::Uint(value) => Some(i128::from(*value)),
            Number::Double(_) | Number::Digits(_) => None,
        }
    }

    /// The same with digits of its own.
    pub fn into_owned(self) -> Number<'static> {
        match self {
            Number::Int(value) => Number::Int(value),
            Number::Uint(value) => Number::Uint(value),
            Number::Double(value) => Number::Double(value),
            Number::Digits(digits) => Number::Digits(Cow::Owned(digits.into_owned())),
        }
    }
}

/// A decimal number as its digits without zeros at either end, and the power of ten of the last of them.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// That of a number of JSON.
    fn of(text: &str) -> Decimal {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        // Beyond this range there is no double but zero, and none was made from such a text.
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0').collect();
        let mut exponent = exponent.saturating_sub(fraction.len() as i64);
        while digits.last() == Some(&b'0') {
            digits.pop();
            exponent = exponent.saturating_add(1);
        }
        if digits.is_empty() {
            exponent = 0;
        }
        Decimal { is_negative, digits, exponent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &str) {
        let mut out = Vec::new();
        Number::parse(text).expect("a number").write(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), wanted, "{text}");
    }

    #[test]
    fn number_loses_digits() {
        for text in [
            "0",
            "-1",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "-123456789012345678901234567890",
            "0.1",
            "3.14159265358979323846",
            "1e-7",
            "0.1000000000000000055511151231257827",
            "1e-400",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn double_is_printed_unlike_redisjson_prints_it() {
        for (text, wanted) in [
            ("1.50", "1.5"),
            ("1.0", "1.0"),
            ("1e3", "1000.0"),
            ("1E2", "100.0"),
            ("-0", "-0.0"),
            ("0.0", "0.0"),
            ("0e9", "0.0"),
            ("1e16", "1e16"),
            ("1.25e+2", "125.0"),
        ] {
            check(text, wanted);
        }
    }

    #[test]
    fn number_beyond_doubles_is_taken() {
        for text in ["1e400", "-1e309", &"9".repeat(400)] {
            assert_eq!(Number::parse(text), None);
        }
    }

    #[test]
    fn sum_of_whole_numbers_wraps() {
        let one = Number::Int(1);
        assert_eq!(Number::Int(i64::MAX).plus(&one), Some(Number::Uint(1 << 63)));
        assert_eq!(Number::Uint(u64::MAX).plus(&one), Some(Number::Double(18_446_744_073_709_551_616.0)));
        assert_eq!(Number::Uint(1 << 63).plus(&Number::Int(-1)), Some(Number::Int(i64::MAX)));
        assert_eq!(
            Number::Int(i64::MIN).times(&Number::Int(2)),
            Some(Number::Double(-18_446_744_073_709_551_616.0))
        );
        assert_eq!(Number::Double(1e308).times(&Number::Int(10)), None);
        assert_eq!(Number::Int(2).times(&Number::Double(1.5)), Some(Number::Double(3.0)));
    }
}

//! Numbers as Redis reads and prints them.
//!
//! Integers are strict: what parses prints back as the same bytes, so a value may be stored as a number and still be
//! the string the client sent. Doubles are read like C's `strtod` without its hexadecimal form, and printed in the
//! shortest form that reads back, laid out like Redis 7.2. Nothing here accepts surrounding white space.

#[cfg(test)]
mod tests;

/// Longest text of a double is 25 bytes (`-` and a 17-digit integer with seven zeros); rounded up.
const FLOAT_TEXT_BYTES: usize = 32;

/// Redis prints doubles up to half the range of `i64` through its integer printer.
const INTEGER_FORM_MAX: f64 = (1_u64 << 62) as f64;

/// Reads a decimal `i64`: an optional `-`, no `+`, no leading zeros, no `-0`, no spaces.
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    match text {
        [b'-', digits @ ..] => match parse_u64(digits)? {
            0 => None,
            magnitude => 0_i64.checked_sub_unsigned(magnitude),
        },
        digits => i64::try_from(parse_u64(digits)?).ok(),
    }
}

/// Reads a decimal `u64` by the same strict rules: digits only, no leading zeros.
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    match text {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] if text.len() <= 20 => text.iter().try_fold(0_u64, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value.checked_mul(10)?.checked_add(u64::from(digit))
        }),
        _ => None,
    }
}

/// Reads a double: decimal with optional sign, fraction and exponent, or `inf`/`infinity` in any case. NaN is refused,
/// and so is a number too large or too small for a double (Redis: `ERANGE`). Hexadecimal floats, which Redis takes
/// because `strtod` does, are refused: no client sends them.
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    let value: f64 = core::str::from_utf8(text).ok()?.parse().ok()?;
    let mantissa = || text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    if value.is_nan() {
        None
    } else if value.is_infinite() {
        // Written as infinity it is one; written in digits it overflowed.
        let written = !text.iter().any(u8::is_ascii_digit);
        written.then_some(value)
    } else if value == 0.0 {
        let underflowed = mantissa().any(|byte| matches!(byte, b'1'..=b'9'));
        (!underflowed).then_some(value)
    } else {
        Some(value)
    }
}

/// The text of a double, on the stack.
#[derive(Clone, Copy)]
pub struct FloatText {
    bytes: [u8; FLOAT_TEXT_BYTES],
    len: usize,
}

impl FloatText {
    fn new() -> Self {
        Self { bytes: [0; FLOAT_TEXT_BYTES], len: 0 }
    }

    fn of(text: &str) -> Self {
        let mut float_text = Self::new();
        float_text.push(text.as_bytes());
        float_text
    }

    /// Appends what fits; every form that [`format_f64`] makes does.
    fn push(&mut self, text: &[u8]) {
        debug_assert!(self.len + text.len() <= FLOAT_TEXT_BYTES);
        for byte in text {
            if let Some(slot) = self.bytes.get_mut(self.len) {
                *slot = *byte;
                self.len += 1;
            }
        }
    }

    fn push_zeros(&mut self, count: usize) {
        for _ in 0..count {
            self.push(b"0");
        }
    }

    /// The text as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The text; always ASCII.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

/// Prints a double as Redis 7.2 does for scores and RESP3 doubles: `inf`, `-inf`, `nan`; whole numbers up to 2^62
/// without a point; otherwise the shortest digits that read back, plain (`0.000001`, `3.14`) or with an exponent
/// (`1e+100`, `1.5e-7`, sign always, no zero padding).
///
/// Redis makes its digits with Grisu2, which (Loitsch 2010) misses the shortest form for about 0.1 % of all doubles;
/// here it is always the shortest. Both read back as the same double.
pub fn format_f64(value: f64) -> FloatText {
    if value.is_nan() {
        return FloatText::of("nan");
    }
    if value.is_infinite() {
        return FloatText::of(if value > 0.0 { "inf" } else { "-inf" });
    }
    if value == 0.0 {
        return FloatText::of(if value.is_sign_negative() { "-0" } else { "0" });
    }
    if value.abs() <= INTEGER_FORM_MAX && value.trunc() == value {
        // In range by the line above, and whole: the cast is exact.
        return FloatText::of(itoa::Buffer::new().format(value as i64));
    }
    let mut text = FloatText::new();
    if value < 0.0 {
        text.push(b"-");
    }
    lay_out(&Decimal::shortest(value.abs()), &mut text);
    text
}

/// `digits` × 10^`scale`, without leading or trailing zeros in `digits`.
struct Decimal {
    digits: [u8; 20],
    count: usize,
    scale: i32,
}

impl Decimal {
    /// The shortest digits that read back as `value`, which is finite and above zero.
    fn shortest(value: f64) -> Self {
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let mut decimal = Self { digits: [b'0'; 20], count: 0, scale: exponent.parse().unwrap_or(0) };
        let mut after_point = false;
        for byte in mantissa.bytes() {
            if byte == b'.' {
                after_point = true;
                continue;
            }
            decimal.scale -= i32::from(after_point);
            if byte == b'0' && decimal.count == 0 {
                continue;
            }
            if let Some(slot) = decimal.digits.get_mut(decimal.count) {
                *slot = byte;
                decimal.count += 1;
            }
        }
        while decimal.digits().last() == Some(&b'0') {
            decimal.count -= 1;
            decimal.scale += 1;
        }
        decimal
    }

    fn digits(&self) -> &[u8] {
        self.digits.get(..self.count).unwrap_or_default()
    }
}

/// Chooses between plain and exponent form by Redis 7.2's thresholds, odd as they are (`123456.1234567` gets an
/// exponent because its last digit stands seven places after the point).
fn lay_out(decimal: &Decimal, text: &mut FloatText) {
    let digits = decimal.digits();
    let scale = decimal.scale;
    let places = scale.unsigned_abs() as usize;
    // Exponent of the first digit; there are at most 17 digits.
    let exponent = scale + digits.len() as i32 - 1;
    if (0..8).contains(&scale) {
        text.push(digits);
        text.push_zeros(places);
    } else if scale < 0 && (scale > -7 || exponent.abs() < 4) {
        if let Some((whole, fraction)) =
            digits.len().checked_sub(places).and_then(|at| digits.split_at_checked(at))
            && !whole.is_empty()
        {
            text.push(whole);
            text.push(b".");
            text.push(fraction);
        } else {
            text.push(b"0.");
            text.push_zeros(places - digits.len());
            text.push(digits);
        }
    } else {
        let (first, others) = digits.split_at_checked(1).unwrap_or((digits, &[]));
        text.push(first);
        if !others.is_empty() {
            text.push(b".");
            text.push(others);
        }
        text.push(if exponent < 0 { b"e-" } else { b"e+" });
        text.push(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
    }
}

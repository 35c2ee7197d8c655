//! Numbers as C prints and reads them: `%.14g` and `strtod`.

/// A longer text is no number: no number has more digits that count, and to read one took a tenth of a second for 60 MB.
/// `patches/20-kills-amid-long-numbers.patch` has the same limit.
pub(crate) const TEXT_MAX_BYTES: usize = 64 * 1024;

/// A double with so many significant digits at most, without trailing zeros: C's `%.{precision}g`.
pub(crate) fn general(value: f64, precision: usize) -> Vec<u8> {
    if !value.is_finite() {
        return if value.is_nan() {
            if value.is_sign_negative() { b"-nan".to_vec() } else { b"nan".to_vec() }
        } else if value < 0.0 {
            b"-inf".to_vec()
        } else {
            b"inf".to_vec()
        };
    }
    let precision = precision.max(1);
    let printed = format!("{:.*e}", precision - 1, value);
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |digits| ("-", digits));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let mut text = sign.to_owned();
    if exponent < -4 || exponent >= precision as i32 {
        let (first, rest) = digits.split_at(1);
        text.push_str(first);
        if !rest.is_empty() {
            text.push('.');
            text.push_str(rest);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        text.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
    } else if exponent < 0 {
        text.push_str("0.");
        text.extend(std::iter::repeat_n('0', exponent.unsigned_abs() as usize - 1));
        text.push_str(digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() <= whole {
            text.push_str(digits);
            text.extend(std::iter::repeat_n('0', whole - digits.len()));
        } else {
            text.push_str(&digits[..whole]);
            text.push('.');
            text.push_str(&digits[whole..]);
        }
    }
    text.into_bytes()
}

/// A number that is all of a text but for white space around it.
pub(crate) fn whole_text(text: &[u8]) -> Option<f64> {
    let (value, len) = leading(text)?;
    text.get(len..)?.iter().all(|byte| is_space(*byte)).then_some(value)
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// The number at the beginning of a text, after white space, and where it ends: C's `strtod`.
pub(crate) fn leading(text: &[u8]) -> Option<(f64, usize)> {
    let start = text.iter().position(|byte| !is_space(*byte))?;
    let mut at = start;
    let is_negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let rest = text.get(at..)?;
    let (value, len) = if starts_with(rest, b"infinity") {
        (f64::INFINITY, 8)
    } else if starts_with(rest, b"inf") {
        (f64::INFINITY, 3)
    } else if starts_with(rest, b"nan") {
        (f64::NAN, 3)
    } else if starts_with(rest, b"0x")
        && let Some(found) = hexadecimal(rest.get(2..)?)
    {
        (found.0, found.1 + 2)
    } else {
        decimal(rest)?
    };
    Some((if is_negative { -value } else { value }, at + len))
}

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The length of an exponent, its letter and sign included; 0 if there is none.
fn exponent_len(text: &[u8], letter: u8) -> usize {
    if text.first().is_none_or(|byte| !byte.eq_ignore_ascii_case(&letter)) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'-' | b'+')));
    match digits(text.get(1 + sign..).unwrap_or_default()) {
        0 => 0,
        count => 1 + sign + count,
    }
}

fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let whole = digits(text);
    let mut len = whole;
    let mut fraction = 0;
    if text.get(len) == Some(&b'.') {
        fraction = digits(text.get(len + 1..)?);
        len += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    len += exponent_len(text.get(len..)?, b'e');
    let value = std::str::from_utf8(text.get(..len)?).ok()?.parse().ok()?;
    Some((value, len))
}

fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let mut value = 0.0f64;
    let mut scale = 0i32;
    let mut len = 0;
    let mut any = false;
    let mut in_fraction = false;
    while let Some(byte) = text.get(len) {
        match (*byte as char).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                scale -= if in_fraction { 4 } else { 0 };
                any = true;
            }
            None if *byte == b'.' && !in_fraction => in_fraction = true,
            None => break,
        }
        len += 1;
    }
    if !any {
        return None;
    }
    let exponent = exponent_len(text.get(len..)?, b'p');
    if exponent > 0 {
        let digits = std::str::from_utf8(text.get(len + 1..len + exponent)?).ok()?;
        scale = scale.saturating_add(digits.parse().unwrap_or(if digits.starts_with('-') {
            i32::MIN
        } else {
            i32::MAX
        }));
        len += exponent;
    }
    Some((value * 2f64.powi(scale), len))
}

#[cfg(test)]
mod tests {
    use super::{general, whole_text};

    #[test]
    fn numbers_print_as_with_c() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.33333333333333"),
            (1e14, "1e+14"),
            (99_999_999_999_999.0, "99999999999999"),
            (123_456_789_012_345.0, "1.2345678901234e+14"),
            (1e-4, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (-1e100, "-1e+100"),
            (100.0, "100"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(String::from_utf8(general(value, 14)).unwrap(), text);
        }
        assert_eq!(general(123.456, 3), b"123");
        assert_eq!(general(999.9, 3), b"1e+03");
    }

    #[test]
    fn texts_read_as_with_c() {
        for (text, value) in [
            (" 12 ", Some(12.0)),
            ("0x10", Some(16.0)),
            ("0x1.8p1", Some(3.0)),
            ("-.5e1", Some(-5.0)),
            ("5.", Some(5.0)),
            ("1e", None),
            (".", None),
            ("", None),
            ("0x", None),
            ("inf", Some(f64::INFINITY)),
            ("1 2", None),
        ] {
            assert_eq!(whole_text(text.as_bytes()), value, "{text}");
        }
    }
}

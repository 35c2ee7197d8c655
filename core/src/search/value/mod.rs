//! Values of FT.AGGREGATE's rows and of expressions, with RediSearch's rules of conversion and comparison.
//!
//! A value is cheap to clone: texts and lists are shared. A property that a row does not have is no value at all (`Option`); Null is what
//! a function answers that cannot say more, and what a group has for documents without the property.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

/// An error text for the client, without a code.
pub type Message = Cow<'static, str>;

/// Doubles print with so many significant digits (`%.12g`).
const DIGITS: usize = 12;

/// A value.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// A number.
    Number(f64),
    /// Bytes.
    Text(Arc<[u8]>),
    /// Several values. Lists in lists only ever come from JSON; they are shown, and otherwise count as empty.
    List(Arc<[Value]>),
}

/// A text of parts, for errors that name what the client sent.
#[inline(never)]
pub(super) fn message(parts: &[&[u8]]) -> Message {
    Cow::Owned(String::from_utf8_lossy(&parts.concat()).into_owned())
}

/// A number in decimal, for error texts and whole numbers.
#[inline(never)]
pub(super) fn digits(number: u64) -> Vec<u8> {
    itoa::Buffer::new().format(number).as_bytes().to_vec()
}

impl Value {
    /// A text.
    #[inline(never)]
    pub fn text(bytes: &[u8]) -> Value {
        Value::Text(bytes.into())
    }

    /// A list.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(items.into())
    }

    /// 1 or 0.
    pub fn truth(is_true: bool) -> Value {
        Value::Number(f64::from(u8::from(is_true)))
    }

    /// What LOAD makes of a hash's field: a number if the schema says NUMERIC and it is one, a text otherwise.
    pub fn of_hash_field(bytes: &[u8], is_numeric: bool) -> Value {
        match crate::number::parse_f64(bytes) {
            Some(number) if is_numeric => Value::Number(number),
            _ => Value::text(bytes),
        }
    }

    /// The bytes of a text.
    pub fn as_text(&self) -> Option<&[u8]> {
        match self {
            Value::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The number, if it is one or a text that reads as one. An empty text is 0, as C's `strtod` has it.
    #[inline(never)]
    pub fn to_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(bytes) => {
                let trimmed = bytes.trim_ascii_start();
                match trimmed {
                    b"" => bytes.is_empty().then_some(0.0),
                    _ if trimmed.eq_ignore_ascii_case(b"nan") => Some(f64::NAN),
                    _ => crate::number::parse_f64(trimmed),
                }
            }
            Value::Null | Value::List(_) => None,
        }
    }

    /// As a text: numbers as they print, nothing for Null and lists.
    pub fn to_text(&self) -> Cow<'_, [u8]> {
        match self {
            Value::Number(number) => Cow::Owned(print_number(*number)),
            Value::Text(bytes) => Cow::Borrowed(bytes),
            Value::Null | Value::List(_) => Cow::Borrowed(b""),
        }
    }

    /// Whether it counts as true: numbers but 0, texts and lists that are not empty. The text `0` is true.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Null => false,
            Value::Number(number) => *number != 0.0,
            Value::Text(bytes) => !bytes.is_empty(),
            Value::List(items) => !items.is_empty(),
        }
    }

    /// Roughly how many bytes of memory it takes beside those of its place.
    pub fn size_bytes(&self) -> usize {
        // Two counters stand before what an Arc shares.
        match self {
            Value::Null | Value::Number(_) => 0,
            Value::Text(bytes) => 16 + bytes.len(),
            Value::List(items) => {
                items.iter().map(|item| size_of::<Value>() + item.shallow_bytes()).sum::<usize>() + 16
            }
        }
    }

    fn shallow_bytes(&self) -> usize {
        match self {
            Value::Text(bytes) => 16 + bytes.len(),
            Value::List(items) => size_of_val::<[Value]>(items),
            _ => 0,
        }
    }

    /// Appends bytes that equal values share and others do not, for groups and sets. A number and a text that reads as this number are
    /// two values.
    pub(super) fn write_identity(&self, out: &mut Vec<u8>) {
        match self {
            Value::Null => out.push(0),
            Value::Number(number) => {
                out.push(1);
                // -0 is 0, and all NaN are one.
                let bits = if number.is_nan() { f64::NAN.to_bits() } else { (number + 0.0).to_bits() };
                out.extend_from_slice(&bits.to_le_bytes());
            }
            Value::Text(bytes) => {
                out.push(2);
                out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Value::List(items) => {
                out.push(3);
                for item in items.iter().filter(|item| !matches!(item, Value::List(_))) {
                    item.write_identity(out);
                }
                out.push(4);
            }
        }
    }

    /// Appends bytes whose order is that of values in SORTBY: Null, numbers, texts by their bytes, lists (which are all alike).
    ///
    /// RediSearch compares a number with a text as numbers where it can, which is no order (`"10" < "9" < 9.5 < "10"`).
    pub(super) fn write_order(&self, out: &mut Vec<u8>) {
        match self {
            Value::Null => out.push(0),
            Value::Number(number) => {
                out.push(1);
                out.extend_from_slice(&order_bits(*number).to_be_bytes());
            }
            Value::Text(bytes) => {
                out.push(2);
                for byte in bytes.iter() {
                    out.push(*byte);
                    if *byte == 0 {
                        out.push(1);
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
            Value::List(_) => out.push(3),
        }
    }

    /// Compares as the operators `<` and so on do. Err holds the text that should have been a number.
    #[inline(never)]
    pub fn compare(&self, other: &Value) -> Result<Ordering, Message> {
        match (self, other) {
            (Value::Number(one), Value::Number(two)) => Ok(compare_numbers(*one, *two)),
            (Value::Null, Value::Null) | (Value::List(_), Value::List(_)) => Ok(Ordering::Equal),
            (Value::Null, _) => Ok(Ordering::Less),
            (_, Value::Null) => Ok(Ordering::Greater),
            (Value::Number(one), _) => Ok(compare_numbers(*one, other.needed_number()?)),
            (_, Value::Number(two)) => Ok(compare_numbers(self.needed_number()?, *two)),
            _ => Ok(self.to_text().cmp(&other.to_text())),
        }
    }

    /// The same where nobody can be told of an error: what is no number is compared as a text.
    pub fn compare_leniently(&self, other: &Value) -> Ordering {
        self.compare(other).unwrap_or_else(|_| self.to_text().cmp(&other.to_text()))
    }

    /// Whether they are equal as `==` has it: a text that is no number equals no number.
    pub fn equals(&self, other: &Value) -> bool {
        let is_null = |value: &Value| matches!(value, Value::Null);
        is_null(self) == is_null(other) && self.compare(other).is_ok_and(Ordering::is_eq)
    }

    fn needed_number(&self) -> Result<f64, Message> {
        self.to_number()
            .ok_or_else(|| message(&[b"Error converting string '", &self.to_text(), b"' to number"]))
    }
}

/// Bits that order as numbers do; -0 is 0, and NaN comes last.
pub(super) fn order_bits(number: f64) -> u64 {
    let bits = if number.is_nan() { f64::NAN.to_bits() } else { (number + 0.0).to_bits() };
    // Negative numbers order backwards, and all before the others.
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of such bits.
pub(super) fn number_of_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits })
}

/// NaN equals every number here, as it does in RediSearch.
fn compare_numbers(one: f64, two: f64) -> Ordering {
    one.partial_cmp(&two).unwrap_or(Ordering::Equal)
}

/// The text of a number in rows: whole numbers of 64 bits without a point, others with up to 12 significant digits.
#[inline(never)]
pub fn print_number(number: f64) -> Vec<u8> {
    let mut text = Vec::with_capacity(32);
    if number < 0.0 || (number.is_nan() && number.is_sign_negative()) {
        text.push(b'-');
    }
    let number = number.abs();
    if !number.is_finite() {
        text.extend_from_slice(if number.is_nan() { b"nan" } else { b"inf" });
        return text;
    }
    if number.trunc() == number && number < 2_f64.powi(63) {
        text.extend_from_slice(&digits(number as u64));
        return text;
    }
    let (digits, exponent) = rounded_digits(number);
    lay_out(&digits, exponent, &mut text);
    text
}

/// At most [`DIGITS`] digits without zeros at the end, and the power of ten of the first.
///
/// The digits are those of the shortest form, rounded: C rounds the exact value, which differs only where the shortest form ends in a
/// 5 just there.
fn rounded_digits(number: f64) -> (Vec<u8>, i32) {
    let shortest = crate::number::format_f64(number);
    let text = shortest.as_str();
    let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
    let power = crate::number::parse_i64(power.trim_start_matches('+').as_bytes()).unwrap_or(0) as i32;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..zeros);
    let mut exponent = power + whole.len() as i32 - 1 - zeros as i32;
    let rounds_up = digits.get(DIGITS).is_some_and(|digit| *digit >= b'5');
    digits.truncate(DIGITS);
    if rounds_up {
        while digits.last() == Some(&b'9') {
            digits.pop();
        }
        match digits.last_mut() {
            Some(digit) => *digit += 1,
            None => {
                digits.push(b'1');
                exponent += 1;
            }
        }
    }
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits, exponent)
}

fn lay_out(digits: &[u8], exponent: i32, text: &mut Vec<u8>) {
    let at = exponent.unsigned_abs() as usize;
    if !(-4..DIGITS as i32).contains(&exponent) {
        let (first, others) = digits.split_at_checked(1).unwrap_or((digits, &[]));
        text.extend_from_slice(first);
        if !others.is_empty() {
            text.push(b'.');
            text.extend_from_slice(others);
        }
        text.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        if at < 10 {
            text.push(b'0');
        }
        text.extend_from_slice(&self::digits(at as u64));
    } else if exponent < 0 {
        text.extend_from_slice(b"0.");
        text.resize(text.len() + at - 1, b'0');
        text.extend_from_slice(digits);
    } else if let Some((whole, fraction)) = digits.split_at_checked(at + 1) {
        text.extend_from_slice(whole);
        if !fraction.is_empty() {
            text.push(b'.');
            text.extend_from_slice(fraction);
        }
    } else {
        text.extend_from_slice(digits);
        text.resize(text.len() + at + 1 - digits.len(), b'0');
    }
}

//! The order of SORT: by number or by text, of the elements or of the values they lead to.

use std::cmp::Ordering;

use super::options::{By, Options};
use crate::command::{CommandError, Context};
use crate::resp::parse_f64;
use crate::sorted;

const NOT_NUMBERS: CommandError = CommandError::text("ERR One or more scores can't be converted into double");

/// The elements in the order that the request asks for; those that compare equal stay in the order they had.
pub(super) fn sorted(
    ctx: &mut Context<'_, '_>,
    elements: Vec<Vec<u8>>,
    options: &Options<'_>,
) -> Result<Vec<Vec<u8>>, CommandError> {
    let mut held_bytes = 0;
    let mut weight = |element: &[u8]| match options.by {
        By::Pattern(pattern) => pattern.value(ctx, element, &mut held_bytes),
        By::Element | By::Nothing => Ok(None),
    };
    if !options.by_text {
        let (mut numbers, mut are_numbers) = (Vec::with_capacity(elements.len()), true);
        for element in &elements {
            let number = match weight(element)? {
                Some(weight) => number(&weight),
                None if options.by == By::Element => number(element),
                None => Some(0.0),
            };
            // The others are looked for all the same, and listeners to reads hear of that.
            are_numbers &= number.is_some();
            numbers.push(number.unwrap_or(0.0));
        }
        if !are_numbers {
            return Err(NOT_NUMBERS);
        }
        return Ok(ordered_by_numbers(numbers, elements, options.descending));
    }
    // What is stored does not depend on the locale in Redis, and so neither on NULs, at which comparing by locale stops.
    let is_stored = options.store.is_some();
    let compare = |left: &[u8], right: &[u8]| {
        if is_stored { left.cmp(right) } else { until_nul(left).cmp(until_nul(right)) }
    };
    if options.by == By::Element {
        let elements = elements.into_iter().map(|element| ((), element)).collect();
        return Ok(ordered(elements, options.descending, |left, right| compare(&left.1, &right.1)));
    }
    let mut weighted = Vec::with_capacity(elements.len());
    for element in elements {
        weighted.push((weight(&element)?, element));
    }
    Ok(ordered(weighted, options.descending, |left, right| match (&left.0, &right.0) {
        (Some(left), Some(right)) => compare(left, right),
        (left, right) => left.is_some().cmp(&right.is_some()),
    }))
}

/// Sorts by the numbers, and elements with equal ones by their bytes, or the other way round. What is moved about is small:
/// numbers and places.
fn ordered_by_numbers(numbers: Vec<f64>, mut elements: Vec<Vec<u8>>, is_descending: bool) -> Vec<Vec<u8>> {
    let mut places: Vec<(f64, usize)> = numbers.into_iter().zip(0..).collect();
    let compare = |left: &(f64, usize), right: &(f64, usize)| {
        let by_number = left.0.partial_cmp(&right.0).unwrap_or(Ordering::Equal);
        by_number.then_with(|| elements.get(left.1).cmp(&elements.get(right.1)))
    };
    sort(&mut places, is_descending, compare);
    // Elements that compare equal have the same bytes.
    places.iter().filter_map(|(_, place)| elements.get_mut(*place).map(std::mem::take)).collect()
}

/// Sorts by a comparison or by its opposite.
fn sort<T>(items: &mut [T], is_descending: bool, compare: impl Fn(&T, &T) -> Ordering) {
    sorted::all(items, |left, right| match is_descending {
        true => compare(right, left),
        false => compare(left, right),
    });
}

/// Sorts by the comparison or by its opposite, and drops the weights.
fn ordered<W>(
    mut weighted: Vec<(W, Vec<u8>)>,
    is_descending: bool,
    compare: impl Fn(&(W, Vec<u8>), &(W, Vec<u8>)) -> Ordering,
) -> Vec<Vec<u8>> {
    sort(&mut weighted, is_descending, compare);
    weighted.into_iter().map(|(_, element)| element).collect()
}

/// What C takes for the text.
fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The number in a text as C's `strtod` reads it: up to the first NUL, behind white space, empty text being 0. Like Redis
/// this refuses numbers too large or too small for the full precision of a double.
fn number(text: &[u8]) -> Option<f64> {
    let text = until_nul(text);
    if text.is_empty() {
        return Some(0.0);
    }
    let spaces = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    parse_f64(text.get(spaces..)?).filter(|number| !number.is_subnormal())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn number_is_read_unlike_strtod() {
        let cases: [(&[u8], Option<f64>); 12] = [
            (b"", Some(0.0)),
            (b"\0x", Some(0.0)),
            (b" \t\n1", Some(1.0)),
            (b"1 ", None),
            (b" ", None),
            (b"+5", Some(5.0)),
            (b"-inf", Some(f64::NEG_INFINITY)),
            (b"nan", None),
            (b"1e400", None),
            (b"1e-320", None),
            (b"12\0x", Some(12.0)),
            (b"1x", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(number(text), wanted, "{}", String::from_utf8_lossy(text));
        }
    }
}

//! What the text of a field means.

use crate::resp::parse_f64;
use crate::search::schema::NO_SEPARATOR;

/// The tags of a text. It is one tag itself if there is no separator (0); nothing between two of them is no tag.
pub(super) fn split_tags(text: &[u8], separator: u8, has_empty: bool) -> impl Iterator<Item = &[u8]> {
    text.split(move |byte| separator != NO_SEPARATOR && *byte == separator)
        .map(<[u8]>::trim_ascii)
        .filter(move |tag| !tag.is_empty() || has_empty && text.is_empty())
}

/// A number as a numeric field reads it.
pub(super) fn number_of(value: &[u8]) -> Option<f64> {
    parse_f64(value.trim_ascii()).filter(|number| !number.is_nan())
}

/// A longitude and a latitude.
pub(super) fn position(value: &[u8]) -> Option<(f64, f64)> {
    let mut parts = value.split(|byte| matches!(byte, b',' | b' ')).filter(|part| !part.is_empty());
    let (longitude, latitude) = (parse_f64(parts.next()?)?, parse_f64(parts.next()?)?);
    let is_valid = (-180.0..=180.0).contains(&longitude) && (-85.05112878..=85.05112878).contains(&latitude);
    (parts.next().is_none() && is_valid).then_some((longitude, latitude))
}

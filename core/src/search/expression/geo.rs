//! `geodistance`: metres between two points, each a text `longitude,latitude` or two numbers.

use super::super::value::Value;

/// The radius of the earth with which Redis calculates.
const EARTH_RADIUS_M: f64 = 6_372_797.560856;

/// The distance, rounded to centimetres; NaN if a point is none.
pub(super) fn distance(arguments: &[Value]) -> f64 {
    let points = match arguments {
        [one, two] => (point(one), point(two)),
        [first, second, third] if first.to_number().is_some() => (pair(first, second), point(third)),
        [first, second, third] => (point(first), pair(second, third)),
        [a, b, c, d] => (pair(a, b), pair(c, d)),
        _ => (None, None),
    };
    match points {
        (Some(one), Some(two)) => (between(one, two) * 100.0).round() / 100.0,
        _ => f64::NAN,
    }
}

fn pair(longitude: &Value, latitude: &Value) -> Option<(f64, f64)> {
    Some((longitude.to_number()?, latitude.to_number()?))
}

fn point(value: &Value) -> Option<(f64, f64)> {
    let text = value.as_text()?;
    let at = text.iter().position(|byte| matches!(byte, b',' | b' '))?;
    let (longitude, latitude) = (text.get(..at)?, text.get(at + 1..)?);
    let number = |text: &[u8]| crate::number::parse_f64(text.trim_ascii());
    Some((number(longitude)?, number(latitude)?))
}

/// By haversines.
fn between(one: (f64, f64), two: (f64, f64)) -> f64 {
    let (longitude, latitude) = (one.0.to_radians(), one.1.to_radians());
    let (other_longitude, other_latitude) = (two.0.to_radians(), two.1.to_radians());
    let across = ((other_longitude - longitude) / 2.0).sin();
    let along = ((other_latitude - latitude) / 2.0).sin();
    let half_chord = along * along + latitude.cos() * other_latitude.cos() * across * across;
    2.0 * EARTH_RADIUS_M * half_chord.sqrt().asin()
}

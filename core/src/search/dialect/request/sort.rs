//! Orders of hits: `year:desc`, `_geoPoint(45.5, 9.1):asc`.

use crate::search::dialect::fault::Fault;
use crate::search::dialect::shape::shorten;

/// By what hits are sorted.
#[derive(Clone, Debug, PartialEq)]
pub enum SortBy {
    /// By the values of an attribute: numbers come before texts, and documents without one come last.
    Attribute(String),
    /// By the distance from a point.
    Distance {
        /// Degrees.
        latitude: f64,
        /// Degrees.
        longitude: f64,
    },
}

/// One order; the next one counts among equals.
#[derive(Clone, Debug, PartialEq)]
pub struct Sort {
    /// By what.
    pub by: SortBy,
    /// Whether the largest comes first.
    pub is_descending: bool,
}

/// Reads orders.
///
/// # Errors
/// One of the texts is none.
pub fn read(texts: &[String], code: &'static str) -> Result<Vec<Sort>, Fault> {
    texts.iter().map(|text| one(text.trim(), code)).collect()
}

fn one(text: &str, code: &'static str) -> Result<Sort, Fault> {
    let (by, is_descending) = match (text.strip_suffix(":asc"), text.strip_suffix(":desc")) {
        (Some(by), _) => (by, false),
        (None, Some(by)) => (by, true),
        _ => {
            let message = [
                "Invalid syntax for the sort parameter: expected expression ending by `:asc` or `:desc`, found `",
                shorten(text),
                "`.",
            ];
            return Err(Fault::new(code, message.concat()));
        }
    };
    if let Some(arguments) = by.strip_prefix("_geoPoint") {
        let by = point(arguments).ok_or_else(|| {
            Fault::new(
                code,
                ["Invalid syntax for the geo parameter: expected expression formated like `_geoPoint(latitude, longitude)` and ending by `:asc` or `:desc`, found `", shorten(text), "`."].concat(),
            )
        })?;
        return Ok(Sort { by, is_descending });
    }
    if matches!(by, "_geo" | "_geoDistance")
        || by.starts_with("_geoRadius")
        || by.starts_with("_geoBoundingBox")
    {
        let message = [
            "`",
            shorten(by),
            "` is a reserved keyword and thus can't be used as a sort expression. Use the _geoPoint(latitude, longitude) built-in rule to sort on _geo field coordinates.",
        ];
        return Err(Fault::new(code, message.concat()));
    }
    Ok(Sort { by: SortBy::Attribute(by.to_owned()), is_descending })
}

fn point(arguments: &str) -> Option<SortBy> {
    let inner = arguments.trim().strip_prefix('(')?.strip_suffix(')')?;
    let (latitude, longitude) = inner.split_once(',')?;
    let (latitude, longitude) = (latitude.trim().parse::<f64>().ok()?, longitude.trim().parse::<f64>().ok()?);
    let is_valid = latitude.abs() <= 90.0 && longitude.abs() <= 180.0;
    is_valid.then_some(SortBy::Distance { latitude, longitude })
}

//! The attribute `_geo`: an object with a latitude and a longitude in degrees, or null. Numbers may be written as strings.

use serde_json::Value;

use crate::search::dialect::fault::Fault;
use crate::search::dialect::shape::shorten;

/// The members, what they are, and how far each goes on both sides of 0.
const MEMBERS: [(&str, &str, f64); 2] = [("lat", "latitude", 90.0), ("lng", "longitude", 180.0)];

/// Checks that the JSON of the attribute is a position.
///
/// # Errors
/// It is none, which the error says as Meilisearch does.
pub(super) fn check(json: &str, id: &str) -> Result<(), Fault> {
    let wrong = |words: &[&str]| Err(Fault::new("invalid_document_geo_field", words.concat()));
    let members = match serde_json::from_str(json) {
        Ok(Value::Null) => return Ok(()),
        Ok(Value::Object(members)) => members,
        _ => {
            return wrong(&[
                "The `_geo` field in the document with the id: `",
                id,
                "` is not an object. Was expecting an object with the `_geo.lat` and `_geo.lng` fields but instead got `",
                shorten(json),
                "`.",
            ]);
        }
    };
    for (name, what, most) in MEMBERS {
        let Some(value) = members.get(name) else {
            return wrong(&[
                "Could not find ",
                what,
                " in the document with the id: `",
                id,
                "`. Was expecting a `_geo.",
                name,
                "` field.",
            ]);
        };
        if !degrees(value).is_some_and(|degrees| degrees.abs() <= most) {
            return wrong(&[
                "Could not parse ",
                what,
                " in the document with the id: `",
                id,
                "`. Was expecting a number between -",
                &most.to_string(),
                " and ",
                &most.to_string(),
                " but instead got `",
                shorten(&value.to_string()),
                "`.",
            ]);
        }
    }
    Ok(())
}

fn degrees(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

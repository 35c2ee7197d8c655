//! A value of JSON as bytes of a hash's field, and back.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::value::Json;

/// Whether bytes are JSON without white space around it.
fn is_json(text: &str) -> bool {
    let looks_so =
        matches!(text.bytes().next(), Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'));
    let ends = text.bytes().next_back().is_some_and(|last| !last.is_ascii_whitespace());
    looks_so && ends && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Whether a text would be read as something else than the string that it is.
fn is_something_else(text: &str) -> bool {
    let mut text = Cow::Borrowed(text);
    // Each turn takes the quotes away, and strings in strings double their escapes, so there are few turns.
    while is_json(&text) {
        if !text.starts_with('"') {
            return true;
        }
        match serde_json::from_str::<String>(&text) {
            Ok(inner) => text = Cow::Owned(inner),
            // Half a surrogate pair: read as the JSON that it is.
            Err(_) => return true,
        }
    }
    false
}

/// The bytes of a field for a value, which is valid JSON without spaces.
pub fn stored(json: &str) -> Cow<'_, [u8]> {
    if json.starts_with('"') {
        match serde_json::from_str::<String>(json) {
            Ok(text) if !is_something_else(&text) => return Cow::Owned(text.into_bytes()),
            // Half a surrogate pair stays as it is written, too.
            _ => {}
        }
    }
    Cow::Borrowed(json.as_bytes())
}

/// Whether the bytes of a field are JSON, and not a string of these characters.
fn is_value(text: &str) -> bool {
    match text.starts_with('"') {
        true => match serde_json::from_str::<String>(text) {
            Ok(inner) => is_json(text) && is_something_else(&inner),
            Err(_) => is_json(text),
        },
        false => is_json(text),
    }
}

/// The value that the bytes of a field are, as JSON without spaces.
pub fn json_of(stored: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(stored);
    if !is_value(&text) {
        let mut json = Vec::with_capacity(text.len() + 2);
        crate::json::format::write_text(&text, &mut json);
        return Cow::Owned(String::from_utf8(json).unwrap_or_default());
    }
    match text {
        Cow::Borrowed(text) => compact(text),
        Cow::Owned(text) => Cow::Owned(compact(&text).into_owned()),
    }
}

/// The value that the bytes of a field are. What stands too deep in itself is a text.
pub(super) fn value_of(stored: &[u8]) -> Json<'_> {
    let text = String::from_utf8_lossy(stored);
    let value = match &text {
        text if !is_value(text) => None,
        Cow::Borrowed(text) => Json::read(text),
        Cow::Owned(text) => Json::read(text).map(Json::into_owned),
    };
    value.unwrap_or_else(|| Json::Text(text.into_owned()))
}

/// JSON without the white space between its parts.
pub(super) fn compact(json: &str) -> Cow<'_, str> {
    if !json.bytes().any(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let (mut is_inside, mut is_escaped) = (false, false);
    for character in json.chars() {
        if is_inside {
            let ends = character == '"' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            is_inside = !ends;
        } else if matches!(character, ' ' | '\n' | '\r' | '\t') {
            continue;
        } else {
            is_inside = character == '"';
        }
        out.push(character);
    }
    Cow::Owned(out)
}

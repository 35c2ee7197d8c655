//! Replies as JSON.

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine};

use crate::resp::{Value, format_f64};

/// How strings of a result are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strings {
    /// As text, U+FFFD in place of what is no UTF-8.
    Text,
    Base64,
}

/// About how many bytes a value is as JSON, before any is written: strings in full, a few bytes for everything else.
pub(super) fn length(value: &Value, strings: Strings) -> usize {
    const OTHER_BYTES: usize = 8;
    OTHER_BYTES
        + match value {
            Value::Array(values) | Value::Set(values) | Value::Push(values) => {
                values.iter().map(|value| length(value, strings)).sum()
            }
            Value::Map(pairs) => {
                pairs.iter().map(|(key, value)| length(key, strings) + length(value, strings)).sum()
            }
            Value::Simple(text)
            | Value::Bulk(text)
            | Value::Verbatim { text, .. }
            | Value::BigNumber(text)
            | Value::Error(text)
            | Value::BlobError(text) => match strings {
                Strings::Text => {
                    let width = if std::str::from_utf8(text).is_ok() { 1 } else { '\u{FFFD}'.len_utf8() };
                    text.iter().map(|byte| escaped_length(*byte, width)).sum()
                }
                Strings::Base64 => base64_len(text),
            },
            Value::Null | Value::Integer(_) | Value::Boolean(_) | Value::Double(_) => 0,
        }
}

/// Bytes of what stands for a byte of text at most; `width` is that of one beyond ASCII, which may stand as U+FFFD.
fn escaped_length(byte: u8, width: usize) -> usize {
    match byte {
        b'"' | b'\\' => 2,
        0..0x20 => "\\u0000".len(),
        0x80.. => width,
        _ => 1,
    }
}

/// Writes `{"result":…}` or `{"error":…}`.
pub(super) fn write_item(value: &Value, strings: Strings, out: &mut Vec<u8>) {
    if let Some(error) = value.as_error() {
        return write_error(error, out);
    }
    out.extend_from_slice(b"{\"result\":");
    match value {
        // Clients decode every other string.
        Value::Simple(text) if text == b"OK" => out.extend_from_slice(b"\"OK\""),
        _ => write_value(value, strings, out),
    }
    out.push(b'}');
}

/// Writes `{"error":…}`; errors are text whatever the strings are.
pub(super) fn write_error(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"error\":");
    write_text(text, out);
    out.push(b'}');
}

/// Writes a JSON string.
pub(super) fn write_text(text: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(text);
    // A string becomes JSON in any case, and memory takes what is written to it.
    let written = serde_json::to_writer(out, &text);
    debug_assert!(written.is_ok());
}

/// Recurses as deep as the decoder of replies lets values nest.
fn write_value(value: &Value, strings: Strings, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Integer(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::Boolean(truth) => out.push(if *truth { b'1' } else { b'0' }),
        Value::Double(number) => write_string(format_f64(*number).as_bytes(), strings, out),
        Value::Array(values) | Value::Set(values) | Value::Push(values) => {
            write_array(values.iter(), strings, out);
        }
        Value::Map(pairs) => write_array(pairs.iter().flat_map(|(key, value)| [key, value]), strings, out),
        Value::Simple(text)
        | Value::Bulk(text)
        | Value::Verbatim { text, .. }
        | Value::BigNumber(text)
        | Value::Error(text)
        | Value::BlobError(text) => write_string(text, strings, out),
    }
}

fn write_array<'v>(values: impl Iterator<Item = &'v Value>, strings: Strings, out: &mut Vec<u8>) {
    out.push(b'[');
    for (number, value) in values.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        write_value(value, strings, out);
    }
    out.push(b']');
}

/// Bytes of a text as base64: four for three, and for what is left.
fn base64_len(text: &[u8]) -> usize {
    text.len().div_ceil(3) * 4
}

fn write_string(text: &[u8], strings: Strings, out: &mut Vec<u8>) {
    match strings {
        Strings::Text => write_text(text, out),
        Strings::Base64 => {
            out.push(b'"');
            let start = out.len();
            out.resize(start + base64_len(text), 0);
            if let Some(place) = out.get_mut(start..) {
                // There is as much place as it takes.
                let _ = BASE64_STANDARD.encode_slice(text, place);
            }
            out.push(b'"');
        }
    }
}

/// A string on one line: as it is, or where it has line ends, as JSON. JSON itself has them only between its parts, where
/// spaces mean the same.
pub(super) fn one_line(text: &[u8]) -> Cow<'_, [u8]> {
    let is_line_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    if !text.iter().any(is_line_end) {
        return Cow::Borrowed(text);
    }
    let mut line = Vec::new();
    if serde_json::from_slice::<serde_core::de::IgnoredAny>(text).is_ok() {
        line.extend(text.iter().map(|byte| if is_line_end(byte) { b' ' } else { *byte }));
    } else {
        write_text(text, &mut line);
    }
    Cow::Owned(line)
}

//! What a session is told out of band, as server-sent events: one `data: ` line and an empty line each.
//!
//! A message is its parts with commas between them (`message,channel,payload`); `@upstash/redis` splits at the first ones,
//! so a comma in a channel's name is part of the payload to it. It also takes every line for an event of its own, therefore
//! a part never spans lines (`json::one_line`).

use super::json::one_line;
use crate::resp::Value;

/// Writes one event.
pub(super) fn write_event(value: &Value, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    match value {
        Value::Array(parts) | Value::Push(parts) => {
            for (number, part) in parts.iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                write_part(part, out);
            }
        }
        // The confirmation of MONITOR stands in quotes, its lines do not.
        Value::Simple(text) if text == b"OK" => out.extend_from_slice(b"\"OK\""),
        other => write_part(other, out),
    }
    out.extend_from_slice(b"\n\n");
}

fn write_part(part: &Value, out: &mut Vec<u8>) {
    match part {
        Value::Integer(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        other => {
            let text = other.as_bytes().or_else(|| other.as_error()).unwrap_or(b"null");
            out.extend_from_slice(String::from_utf8_lossy(&one_line(text)).as_bytes());
        }
    }
}

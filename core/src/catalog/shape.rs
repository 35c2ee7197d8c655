//! Whether a reply that came is of the type that its row promises.

use super::reply::ReplyType;
use crate::resp::{Protocol, Value, parse_f64};

impl ReplyType {
    /// Whether a reply in this protocol is of the type. An error is only `value`, since EXEC and scripts have them
    /// among their elements. The depth of the recursion is that of the type, which is bounded.
    pub fn matches(&self, value: &Value, protocol: Protocol) -> bool {
        let is_resp3 = protocol == Protocol::Resp3;
        let all =
            |items: &[Value], element: &ReplyType| items.iter().all(|item| element.matches(item, protocol));
        match (self, value) {
            (ReplyType::None, value) => is_message(value, is_resp3),
            (_, Value::Push(_)) => false,
            (ReplyType::Value, _) | (ReplyType::Null | ReplyType::Nullable(_), Value::Null) => true,
            (ReplyType::Nullable(inner), value) => inner.matches(value, protocol),
            (ReplyType::Either(types), value) => types.iter().any(|one| one.matches(value, protocol)),
            (ReplyType::Ok, Value::Simple(text)) => text == b"OK",
            (ReplyType::Status, Value::Simple(_))
            | (ReplyType::Integer, Value::Integer(_))
            | (ReplyType::Bool, Value::Integer(0 | 1))
            | (ReplyType::Bulk, Value::Bulk(_)) => true,
            (ReplyType::Double, Value::Double(_)) => is_resp3,
            (ReplyType::Double, Value::Bulk(digits)) => !is_resp3 && parse_f64(digits).is_some(),
            (ReplyType::Text, Value::Bulk(text)) => std::str::from_utf8(text).is_ok(),
            (ReplyType::Text, Value::Verbatim { text, .. }) => is_resp3 && std::str::from_utf8(text).is_ok(),
            (ReplyType::Array(element), Value::Array(items)) => all(items, element),
            (ReplyType::Set(element), Value::Set(items)) => is_resp3 && all(items, element),
            (ReplyType::Set(element), Value::Array(items)) => !is_resp3 && all(items, element),
            (ReplyType::Tuple(types), Value::Array(items)) => {
                types.len() == items.len()
                    && types.iter().zip(items).all(|(one, item)| one.matches(item, protocol))
            }
            (ReplyType::Map(key, value), Value::Map(pairs)) => {
                let is_pair = |pair: &(Value, Value)| {
                    key.matches(&pair.0, protocol) && value.matches(&pair.1, protocol)
                };
                is_resp3 && pairs.iter().all(is_pair)
            }
            (ReplyType::Map(key, value), Value::Array(items)) => {
                are_twos(items, key, value, protocol) || (!is_resp3 && are_flat(items, key, value, protocol))
            }
            (ReplyType::Pairs(first, second), Value::Array(items)) => match is_resp3 {
                true => are_twos(items, first, second, protocol),
                false => are_flat(items, first, second, protocol),
            },
            (ReplyType::Flat(first, second), Value::Array(items)) => are_flat(items, first, second, protocol),
            (ReplyType::Entry, Value::Array(parts)) => is_entry(parts),
            _ => false,
        }
    }
}

/// Whether pairs follow one another without arrays of their own.
fn are_flat(items: &[Value], first: &ReplyType, second: &ReplyType, protocol: Protocol) -> bool {
    let (pairs, rest) = items.as_chunks::<2>();
    rest.is_empty()
        && pairs.iter().all(|[one, two]| first.matches(one, protocol) && second.matches(two, protocol))
}

/// Whether pairs are arrays of two.
fn are_twos(items: &[Value], first: &ReplyType, second: &ReplyType, protocol: Protocol) -> bool {
    items.iter().all(|item| {
        let Value::Array(parts) = item else { return false };
        parts.len() == 2 && are_flat(parts, first, second, protocol)
    })
}

fn is_entry(parts: &[Value]) -> bool {
    match parts {
        [Value::Bulk(_), Value::Null] => true,
        [Value::Bulk(_), Value::Array(fields)] => {
            fields.len().is_multiple_of(2) && fields.iter().all(|field| matches!(field, Value::Bulk(_)))
        }
        _ => false,
    }
}

/// A message of publish and subscribe: its kind, whose name is text, comes first.
fn is_message(value: &Value, is_resp3: bool) -> bool {
    match value {
        Value::Push(items) => is_resp3 && matches!(items.as_slice(), [Value::Bulk(_), ..]),
        Value::Array(items) => !is_resp3 && matches!(items.as_slice(), [Value::Bulk(_), ..]),
        _ => false,
    }
}

//! A reply as an owned tree, RESP2 and RESP3 alike.

use super::events::{Aggregate, Event};

/// One decoded reply. Texts are bytes because Redis quotes client input in errors.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `+OK`
    Simple(Vec<u8>),
    /// `-ERR …`, without the dash.
    Error(Vec<u8>),
    /// `:1`
    Integer(i64),
    /// `$3`: a string of any bytes.
    Bulk(Vec<u8>),
    /// `_`, and RESP2's `$-1` and `*-1`.
    Null,
    /// `*2`
    Array(Vec<Value>),
    /// `%2`: pairs in the order received; keys may repeat.
    Map(Vec<(Value, Value)>),
    /// `~2`: members in the order received.
    Set(Vec<Value>),
    /// `>2`: out of band, the answer to no request.
    Push(Vec<Value>),
    /// `,1.5`; NaN is possible here.
    Double(f64),
    /// `#t`
    Boolean(bool),
    /// `(123…`: decimal digits with an optional sign.
    BigNumber(Vec<u8>),
    /// `=15`: text with a three-byte format, `txt` or `mkd`.
    Verbatim {
        /// The format, always three bytes.
        format: [u8; 3],
        /// The text without its format.
        text: Vec<u8>,
    },
    /// `!21`: an error of any bytes.
    BlobError(Vec<u8>),
}

impl Value {
    /// The value that an event is by itself; none for one that opens an aggregate or begins a string that comes in parts.
    pub fn of_leaf(event: Event) -> Option<Value> {
        Some(match event {
            Event::Simple(text) => Value::Simple(text.to_vec()),
            Event::Error(text) => Value::Error(text.to_vec()),
            Event::Integer(value) => Value::Integer(value),
            Event::Null => Value::Null,
            Event::Boolean(value) => Value::Boolean(value),
            Event::Double(value) => Value::Double(value),
            Event::BigNumber(digits) => Value::BigNumber(digits.to_vec()),
            Event::Bulk(bytes) | Event::Part(bytes) => Value::Bulk(bytes.to_vec()),
            Event::Verbatim { format, text } => Value::Verbatim { format, text: text.to_vec() },
            Event::BlobError(text) => Value::BlobError(text.to_vec()),
            Event::Begin(_) | Event::Open { .. } => return None,
        })
    }

    /// An aggregate of these values; of a map they are keys and values in turn.
    pub fn of(kind: Aggregate, values: Vec<Value>) -> Value {
        match kind {
            Aggregate::Array => Value::Array(values),
            Aggregate::Set => Value::Set(values),
            Aggregate::Push => Value::Push(values),
            Aggregate::Map => {
                let mut pairs = Vec::with_capacity(values.len() / 2);
                let mut values = values.into_iter();
                while let (Some(key), Some(value)) = (values.next(), values.next()) {
                    pairs.push((key, value));
                }
                Value::Map(pairs)
            }
        }
    }

    /// The bytes of a string in any of its forms; none for errors and for everything that is no string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Simple(text) | Self::Bulk(text) | Self::Verbatim { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The text of an error in either of its forms.
    pub fn as_error(&self) -> Option<&[u8]> {
        match self {
            Self::Error(text) | Self::BlobError(text) => Some(text),
            _ => None,
        }
    }
}

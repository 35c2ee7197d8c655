//! Values of JavaScript from replies.
//!
//! | reply | value |
//! | --- | --- |
//! | string, status, verbatim string | text, with U+FFFD for what is no UTF-8; or a Uint8Array where bytes were asked for |
//! | integer | a number, beyond 2^53 - 1 a bigint |
//! | double, truth value, null | number, boolean, null |
//! | big number | bigint |
//! | array, set, push | an array |
//! | map | an object without a prototype; where bytes were asked for an array of pairs |
//! | error within another reply | an EdgeCaskError |

use edgecask_client::{Error, Event, ReplyReader, Requests, Result, ServerError, Words};
use edgecask_core::resp::Aggregate;
use js_sys::{Array, BigInt, Object, Reflect, Uint8Array};
use wasm_bindgen::JsValue;

use crate::failure::thrown;
use crate::words::{printed, words_of};
use crate::work::blocking;

/// The largest integer up to which every one is a number of JavaScript.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// The value of a whole reply, with strings as bytes or as text.
pub(crate) fn read(wire: &[u8], as_bytes: bool) -> Result<JsValue> {
    let mut reader = ReplyReader::new(wire);
    let event = reader.next_event()?;
    value(event, &mut reader, as_bytes)
}

/// Requests whose replies are an array, errors among them.
pub(crate) struct Batch {
    requests: Vec<Words>,
    as_bytes: bool,
    blocking_ms: u64,
}

/// A time for which commands may block, in whole milliseconds; 0 is for ever.
fn whole_ms(time_ms: f64) -> u64 {
    u64::try_from(blocking(time_ms).as_millis()).unwrap_or(u64::MAX)
}

impl Batch {
    /// Of an array of arrays of words.
    pub(crate) fn of(requests: &Array, as_bytes: bool, blocking_ms: Option<f64>) -> Batch {
        let requests = requests.iter().map(|request| words_of(&request.into())).collect();
        Batch { requests, as_bytes, blocking_ms: blocking_ms.map_or(0, whole_ms) }
    }
}

impl Requests for Batch {
    type Replies = JsValue;

    fn count(&self) -> usize {
        self.requests.len()
    }

    fn blocking_ms(&self) -> u64 {
        self.blocking_ms
    }

    fn write_to(&self, out: &mut Vec<u8>) -> Result<()> {
        self.requests.iter().try_for_each(|words| {
            words.check()?;
            words.write_to(out);
            Ok(())
        })
    }

    fn read(&self, reader: &mut ReplyReader) -> Result<JsValue> {
        values(self.requests.len() as u64, reader, self.as_bytes)
    }
}

fn text(bytes: &[u8]) -> JsValue {
    JsValue::from_str(&String::from_utf8_lossy(bytes))
}

pub(crate) fn string(bytes: &[u8], as_bytes: bool) -> JsValue {
    if as_bytes { Uint8Array::from(bytes).into() } else { text(bytes) }
}

fn values(count: u64, reader: &mut ReplyReader, as_bytes: bool) -> Result<JsValue> {
    let array = Array::new();
    for _ in 0..count {
        let event = reader.next_event()?;
        array.push(&value(event, reader, as_bytes)?);
    }
    Ok(array.into())
}

fn value(event: Event, reader: &mut ReplyReader, as_bytes: bool) -> Result<JsValue> {
    Ok(match event {
        Event::Simple(bytes) | Event::Bulk(bytes) => string(bytes, as_bytes),
        Event::Verbatim { text, .. } => string(text, as_bytes),
        Event::Integer(value) if value.unsigned_abs() <= SAFE_INTEGER_MAX => JsValue::from_f64(value as f64),
        Event::Integer(value) => value.into(),
        Event::Double(value) => value.into(),
        Event::Boolean(value) => value.into(),
        Event::Null => JsValue::NULL,
        Event::BigNumber(digits) => BigInt::new(&text(digits)).map_or_else(|_| text(digits), Into::into),
        Event::Error(told) | Event::BlobError(told) => thrown(&Error::Server(ServerError::new(told))),
        Event::Open { kind: Aggregate::Map, values, .. } if as_bytes => {
            let pairs = Array::new();
            for _ in 0..values / 2 {
                pairs.push(&self::values(2, reader, as_bytes)?);
            }
            pairs.into()
        }
        Event::Open { kind: Aggregate::Map, values, .. } => {
            let object: Object = Object::create(&JsValue::NULL.into());
            for _ in 0..values / 2 {
                let event = reader.next_event()?;
                let key = printed(&value(event, reader, false)?);
                let event = reader.next_event()?;
                let of = value(event, reader, false)?;
                // Nothing forbids it to an object of our own.
                let _ = Reflect::set(&object, &key, &of);
            }
            object.into()
        }
        Event::Open { values, .. } => self::values(values, reader, as_bytes)?,
        // A reader of whole replies gives strings whole.
        Event::Begin(_) | Event::Part(_) => JsValue::UNDEFINED,
    })
}

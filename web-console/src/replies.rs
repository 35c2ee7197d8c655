//! Replies for the page: bytes of a connection in, reply objects out.
//!
//! `replies.js` makes the objects; `page/resp/reply.ts` has their types. Bulk strings stay bytes. Errors and simple
//! strings become text; bytes that are not UTF-8 are replaced.

use edgecask_core::resp::{Decoder, Value, format_f64};
use js_sys::Array;
use wasm_bindgen::prelude::*;

/// The buffer drops its consumed bytes when there are more than this: dropping them after each of many small replies
/// would move the rest of the message each time.
const CONSUMED_KEPT_BYTES: usize = 64 * 1024;

/// Decodes the replies of one connection.
#[wasm_bindgen]
#[derive(Default)]
pub struct ReplyDecoder {
    decoder: Decoder,
    buffer: Vec<u8>,
    /// The number of decoded bytes at the start of the buffer. Invariant: at most its length.
    consumed: usize,
}

#[wasm_bindgen]
impl ReplyDecoder {
    /// A decoder for a connection from its first byte on.
    #[wasm_bindgen(constructor)]
    pub fn new() -> ReplyDecoder {
        ReplyDecoder::default()
    }

    /// Appends received bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.consumed == self.buffer.len() || self.consumed > CONSUMED_KEPT_BYTES {
            self.buffer.drain(..self.consumed);
            self.consumed = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete reply as an object of the page, or `undefined` until more bytes come.
    ///
    /// # Errors
    ///
    /// The bytes are not RESP; the connection cannot be used any more.
    pub fn take(&mut self) -> Result<JsValue, JsError> {
        Ok(self.next_value()?.map_or(JsValue::UNDEFINED, |value| object(&value)))
    }
}

impl ReplyDecoder {
    fn next_value(&mut self) -> Result<Option<Value>, edgecask_core::resp::DecodeError> {
        let rest = self.buffer.get(self.consumed..).unwrap_or_default();
        let Some((value, used)) = self.decoder.decode(rest)? else { return Ok(None) };
        self.consumed += used;
        Ok(Some(value))
    }
}

#[wasm_bindgen(module = "/src/replies.js")]
extern "C" {
    fn simple(text: &str) -> JsValue;
    fn error(text: &str) -> JsValue;
    fn integer(value: i64) -> JsValue;
    fn bulk(bytes: &[u8]) -> JsValue;
    fn nothing() -> JsValue;
    fn double(text: &str) -> JsValue;
    fn boolean(value: bool) -> JsValue;
    fn big(text: &str) -> JsValue;
    fn verbatim(format: &str, bytes: &[u8]) -> JsValue;
    fn aggregate(kind: &str, items: Array) -> JsValue;
    fn map(pairs: Array) -> JsValue;
}

/// The recursion is bounded: the decoder refuses replies nested deeper than `REPLY_DEPTH_MAX`.
fn object(value: &Value) -> JsValue {
    match value {
        Value::Simple(text) => simple(&String::from_utf8_lossy(text)),
        Value::Error(text) | Value::BlobError(text) => error(&String::from_utf8_lossy(text)),
        Value::Integer(value) => integer(*value),
        Value::Bulk(bytes) => bulk(bytes),
        Value::Null => nothing(),
        Value::Double(value) => double(format_f64(*value).as_str()),
        Value::Boolean(value) => boolean(*value),
        Value::BigNumber(digits) => big(&String::from_utf8_lossy(digits)),
        Value::Verbatim { format, text } => verbatim(&String::from_utf8_lossy(format), text),
        Value::Array(items) => aggregate("array", objects(items)),
        Value::Set(items) => aggregate("set", objects(items)),
        Value::Push(items) => aggregate("push", objects(items)),
        Value::Map(pairs) => {
            map(pairs.iter().map(|(key, value)| Array::of2(&object(key), &object(value))).collect())
        }
    }
}

fn objects(values: &[Value]) -> Array {
    values.iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_come_out_however_the_bytes_are_cut() {
        let bytes = b"+OK\r\n$3\r\na\r\n\r\n*2\r\n:1\r\n_\r\n";
        let expected = [
            Value::Simple(b"OK".to_vec()),
            Value::Bulk(b"a\r\n".to_vec()),
            Value::Array(vec![Value::Integer(1), Value::Null]),
        ];
        for size in 1..=bytes.len() {
            let mut decoder = ReplyDecoder::new();
            let mut values = Vec::new();
            for piece in bytes.chunks(size) {
                decoder.feed(piece);
                while let Some(value) = decoder.next_value().expect("replies") {
                    values.push(value);
                }
            }
            assert_eq!(values, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn consumed_bytes_do_not_pile_up() {
        let mut decoder = ReplyDecoder::new();
        // An incomplete reply stays at the end of every message, so the buffer is never wholly consumed.
        let message = [b"+OK\r\n".repeat(1000), b"$1\r\n".to_vec()].concat();
        for _ in 0..100 {
            decoder.feed(&message);
            while decoder.next_value().expect("replies").is_some() {}
            decoder.feed(b"a\r\n");
            assert!(decoder.buffer.len() < CONSUMED_KEPT_BYTES + 2 * message.len());
            assert!(decoder.next_value().expect("a reply").is_some());
        }
    }
}

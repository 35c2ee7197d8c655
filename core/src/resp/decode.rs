//! The reply decoder, for clients: reply bytes in, owned [`Value`]s out.
//!
//! Like the request parser it works over a buffer that the caller owns and only appends to until a value is consumed,
//! and goes on where it stopped. Open aggregates stand on an explicit stack, so that neither depth nor a count the peer
//! announced can exhaust memory: an aggregate's elements are stored as they come, a string when it is complete.
//! Attributes (`|`) are read and dropped. Streamed strings and aggregates (`$?`, `*?`), which no Redis sends, are
//! refused. It must never panic, whatever the bytes are.

use super::limits::{BULK_MAX_BYTES, REPLY_DEPTH_MAX, REPLY_LINE_MAX_BYTES};
use super::value::Value;
use crate::number::{parse_f64, parse_i64, parse_u64};

/// The peer's bytes are no RESP, or more than the client is willing to take: close the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A reply begins with this byte, which stands for no type.
    #[error("a reply begins with the byte {0:#04x}")]
    UnknownType(u8),
    /// A line ends with `\n` alone, or a string is not followed by a line end.
    #[error("a line end is missing in a reply")]
    MissingLineEnd,
    /// A line is longer than `REPLY_LINE_MAX_BYTES`.
    #[error("a line of a reply is too long")]
    LineTooLong,
    /// A number, truth value or null is not written as one.
    #[error("a reply of type '{}' is malformed", char::from(*.0))]
    Malformed(u8),
    /// A string is longer than the decoder's limit.
    #[error("a string of {size_bytes} bytes in a reply is above the limit")]
    BulkTooLong {
        /// The announced length.
        size_bytes: u64,
    },
    /// Aggregates are nested deeper than `REPLY_DEPTH_MAX`.
    #[error("a reply is nested too deep")]
    TooDeep,
}

/// The decoder of one connection.
#[derive(Debug)]
pub struct Decoder {
    bulk_max_bytes: u64,
    /// Offset of the first byte not decoded yet.
    position: usize,
    /// Offset up to which the line at `position` has been searched for its end. Invariant: not below `position`.
    searched: usize,
    /// Kind and size of the string whose bytes begin at `position`.
    bulk: Option<(u8, usize)>,
    /// Open aggregates, the innermost last.
    stack: Vec<Frame>,
    failed: Option<DecodeError>,
    #[cfg(test)]
    looked_at: u64,
}

/// An aggregate that misses elements.
#[derive(Debug)]
struct Frame {
    kind: u8,
    /// Values still to come; a pair is two.
    missing: u64,
    values: Vec<Value>,
}

/// What stands at `position`.
enum Element {
    Incomplete,
    Whole(Value),
    Open(Frame),
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder that takes strings of up to `BULK_MAX_BYTES` bytes.
    pub const fn new() -> Self {
        Self::with_bulk_max_bytes(BULK_MAX_BYTES)
    }

    /// A decoder that takes strings of up to `bulk_max_bytes` bytes.
    pub const fn with_bulk_max_bytes(bulk_max_bytes: u64) -> Self {
        Self {
            bulk_max_bytes,
            position: 0,
            searched: 0,
            bulk: None,
            stack: Vec::new(),
            failed: None,
            #[cfg(test)]
            looked_at: 0,
        }
    }

    /// Decodes the value at the start of `input`, which is all bytes received and not consumed yet: the value and the
    /// bytes it took, or `None` until more bytes are appended. After an error every further call returns that error.
    pub fn decode(&mut self, input: &[u8]) -> Result<Option<(Value, usize)>, DecodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let decoded = self.decode_next(input);
        if let Err(error) = decoded {
            self.failed = Some(error);
            self.stack = Vec::new();
        }
        decoded
    }

    fn decode_next(&mut self, input: &[u8]) -> Result<Option<(Value, usize)>, DecodeError> {
        loop {
            let whole = match self.next_element(input)? {
                Element::Incomplete => return Ok(None),
                Element::Whole(value) => Some(value),
                Element::Open(frame) => {
                    if self.stack.len() >= REPLY_DEPTH_MAX {
                        return Err(DecodeError::TooDeep);
                    }
                    self.stack.push(frame);
                    None
                }
            };
            if let Some(value) = self.close_frames(whole) {
                let consumed = self.position;
                self.move_to(0);
                return Ok(Some((value, consumed)));
            }
        }
    }

    /// Gives `value` to the innermost aggregate, which if it is now complete goes to the next, and so on; returns the
    /// value that belongs to none.
    fn close_frames(&mut self, mut value: Option<Value>) -> Option<Value> {
        loop {
            let Some(frame) = self.stack.last_mut() else { return value };
            if let Some(value) = value.take() {
                frame.values.push(value);
                frame.missing -= 1;
            }
            if frame.missing > 0 {
                return None;
            }
            value = self.stack.pop().and_then(Frame::close);
            // A dropped attribute is no element of what it stands in.
            value.as_ref()?;
        }
    }

    fn next_element(&mut self, input: &[u8]) -> Result<Element, DecodeError> {
        if let Some((kind, size)) = self.bulk {
            return self.bulk_body(input, kind, size);
        }
        let Some(end) = self.find_line_end(input)? else { return Ok(Element::Incomplete) };
        let line = input.get(self.position..end).unwrap_or_default();
        self.note_looked_at(line.len());
        let Some((&kind, text)) = line.split_first() else { return Err(DecodeError::UnknownType(b'\r')) };
        let malformed = DecodeError::Malformed(kind);
        let value = match kind {
            b'+' => Value::Simple(text.to_vec()),
            b'-' => Value::Error(text.to_vec()),
            b':' => Value::Integer(parse_i64(text.strip_prefix(b"+").unwrap_or(text)).ok_or(malformed)?),
            b'_' if text.is_empty() => Value::Null,
            b'#' if text == b"t" => Value::Boolean(true),
            b'#' if text == b"f" => Value::Boolean(false),
            b',' => Value::Double(parse_double(text).ok_or(malformed)?),
            b'(' if is_big_number(text) => Value::BigNumber(text.to_vec()),
            b'$' | b'*' if text == b"-1" => Value::Null,
            b'$' | b'=' | b'!' => {
                let size_bytes = parse_u64(text).ok_or(malformed)?;
                let size = self.bulk_size(size_bytes, end)?;
                self.move_to(end + 2);
                self.bulk = Some((kind, size));
                return self.bulk_body(input, kind, size);
            }
            b'*' | b'~' | b'>' | b'%' | b'|' => {
                let count = parse_u64(text).ok_or(malformed)?;
                let values_each = if matches!(kind, b'%' | b'|') { 2 } else { 1 };
                let missing = count.checked_mul(values_each).ok_or(malformed)?;
                self.move_to(end + 2);
                return Ok(Element::Open(Frame { kind, missing, values: Vec::new() }));
            }
            b'_' | b'#' | b'(' => return Err(malformed),
            unknown => return Err(DecodeError::UnknownType(unknown)),
        };
        self.move_to(end + 2);
        Ok(Element::Whole(value))
    }

    /// Checks an announced size against the limit, and that string and line ends fit into a buffer of this machine.
    fn bulk_size(&self, size_bytes: u64, line_end: usize) -> Result<usize, DecodeError> {
        let size = usize::try_from(size_bytes).ok().filter(|_| size_bytes <= self.bulk_max_bytes);
        size.filter(|size| size.checked_add(line_end).and_then(|sum| sum.checked_add(4)).is_some())
            .ok_or(DecodeError::BulkTooLong { size_bytes })
    }

    fn bulk_body(&mut self, input: &[u8], kind: u8, size: usize) -> Result<Element, DecodeError> {
        let end = self.position + size;
        let (Some(body), Some(line_end)) = (input.get(self.position..end), input.get(end..end + 2)) else {
            return Ok(Element::Incomplete);
        };
        if line_end != b"\r\n" {
            return Err(DecodeError::MissingLineEnd);
        }
        let value = match (kind, body) {
            (b'$', _) => Value::Bulk(body.to_vec()),
            (b'=', [a, b, c, b':', text @ ..]) => {
                Value::Verbatim { format: [*a, *b, *c], text: text.to_vec() }
            }
            (b'!', _) => Value::BlobError(body.to_vec()),
            _ => return Err(DecodeError::Malformed(kind)),
        };
        self.note_looked_at(size + 2);
        self.bulk = None;
        self.move_to(end + 2);
        Ok(Element::Whole(value))
    }

    /// Offset of the `\r\n` that ends the line at `position`, if it has come.
    fn find_line_end(&mut self, input: &[u8]) -> Result<Option<usize>, DecodeError> {
        let limit = self.position.saturating_add(REPLY_LINE_MAX_BYTES);
        let window = input.get(self.searched..input.len().min(limit)).unwrap_or_default();
        let found = window.iter().position(|byte| *byte == b'\n');
        self.note_looked_at(found.unwrap_or(window.len()));
        let Some(at) = found else {
            self.searched += window.len();
            return if self.searched >= limit { Err(DecodeError::LineTooLong) } else { Ok(None) };
        };
        let end = (self.searched + at).checked_sub(1).filter(|end| *end >= self.position);
        match end {
            Some(end) if input.get(end) == Some(&b'\r') => Ok(Some(end)),
            _ => Err(DecodeError::MissingLineEnd),
        }
    }

    fn move_to(&mut self, position: usize) {
        self.position = position;
        self.searched = position;
    }

    /// Counts bytes whose value was looked at, for the tests that prove the decoder linear.
    #[inline(always)]
    fn note_looked_at(&mut self, bytes: usize) {
        #[cfg(test)]
        {
            self.looked_at += bytes as u64;
        }
        let _ = bytes;
    }

    /// Bytes whose value was looked at since the beginning, repetitions counted.
    #[cfg(test)]
    pub(super) fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// Values for which there is room on the heap now.
    #[cfg(test)]
    pub(super) fn held_values(&self) -> usize {
        self.stack.capacity() + self.stack.iter().map(|frame| frame.values.capacity()).sum::<usize>()
    }
}

impl Frame {
    /// The value of a complete aggregate; none for an attribute.
    fn close(self) -> Option<Value> {
        match self.kind {
            b'~' => Some(Value::Set(self.values)),
            b'>' => Some(Value::Push(self.values)),
            b'%' => {
                let mut pairs = Vec::with_capacity(self.values.len() / 2);
                let mut values = self.values.into_iter();
                while let (Some(key), Some(value)) = (values.next(), values.next()) {
                    pairs.push((key, value));
                }
                Some(Value::Map(pairs))
            }
            b'|' => None,
            _ => Some(Value::Array(self.values)),
        }
    }
}

fn parse_double(text: &[u8]) -> Option<f64> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    if unsigned.eq_ignore_ascii_case(b"nan") { Some(f64::NAN) } else { parse_f64(text) }
}

fn is_big_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

//! The event decoder, for clients: reply bytes in, one borrowed [`Event`] after the other out.
//!
//! It is the only reader of replies: [`Decoder`](super::Decoder) builds owned values on it, a client library reads typed
//! results and finds the ends of replies with it. Like the request parser it works over a buffer that the caller owns and
//! only appends to until [`Events::consume`], and goes on where it stopped:
//!
//! ```text
//!  input:  *2\r\n $3\r\nabc\r\n $9\r\nde        events so far: Array(2), Bulk("abc"); the next one when nine bytes are there,
//!                              ^ cursor         or at once Begin(9), Part("de") if strings of nine bytes come in parts
//! ```
//!
//! It allocates nothing for aggregates that are nested up to eight deep. An aggregate is counted and not stored, so that a
//! count the peer announced costs nothing. Attributes (`|`) are read and dropped. Streamed strings and aggregates
//! (`$?`, `*?`), which no Redis sends, are refused. It must never panic, whatever the bytes are.

use smallvec::SmallVec;

use super::limits::{BULK_MAX_BYTES, REPLY_DEPTH_MAX, REPLY_LINE_MAX_BYTES};
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

/// A piece of a reply. Texts are bytes because Redis quotes client input in errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// `+OK`
    Simple(&'a [u8]),
    /// `-ERR …`, without the dash.
    Error(&'a [u8]),
    /// `:1`
    Integer(i64),
    /// `_`, and RESP2's `$-1` and `*-1`.
    Null,
    /// `#t`
    Boolean(bool),
    /// `,1.5`; NaN is possible here.
    Double(f64),
    /// `(123…`: decimal digits with an optional sign.
    BigNumber(&'a [u8]),
    /// `$3`: a string of any bytes.
    Bulk(&'a [u8]),
    /// `=15`: text with a three-byte format, `txt` or `mkd`.
    Verbatim {
        /// The format, always three bytes.
        format: [u8; 3],
        /// The text without its format.
        text: &'a [u8],
    },
    /// `!21`: an error of any bytes.
    BlobError(&'a [u8]),
    /// A string of this many bytes (at least one), which follow as [`Event::Part`]s.
    Begin(usize),
    /// Bytes of such a string, at least one. The string ends when all have come.
    Part(&'a [u8]),
    /// An aggregate begins.
    Open {
        /// Which.
        kind: Aggregate,
        /// The values in it; a pair of a map is two.
        values: u64,
    },
}

/// A reply that holds others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// `*2`
    Array,
    /// `%2`
    Map,
    /// `~2`
    Set,
    /// `>2`: out of band, the answer to no request.
    Push,
}

/// The reader of one connection's replies.
#[derive(Debug)]
pub struct Events {
    bulk_max_bytes: u64,
    /// Bulk strings above this many bytes come in parts.
    whole_max_bytes: usize,
    /// Offset of the first byte not decoded yet.
    cursor: usize,
    /// Offset behind the last event. Invariant: not above `cursor`, which is in a string that has begun.
    position: usize,
    /// Offset up to which the line at `cursor` has been searched for its end. Invariant: not below `cursor`.
    searched: usize,
    /// What the bytes at `cursor` belong to.
    state: State,
    /// Open aggregates, the innermost last.
    open: SmallVec<[Frame; 8]>,
    /// How many of the open aggregates, from the innermost attribute on, are dropped.
    dropped: usize,
    closed: usize,
    failed: Option<DecodeError>,
    #[cfg(test)]
    looked_at: u64,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// A line begins.
    Line,
    /// A string of this kind and size, wanted whole.
    String(u8, usize),
    /// A string of which this many bytes have not come, wanted in parts.
    Parts(usize),
}

/// An aggregate that misses values.
#[derive(Clone, Copy, Debug)]
struct Frame {
    missing: u64,
    is_attribute: bool,
}

/// What stands at `cursor`: a piece, the head of an attribute, or not enough bytes.
enum Next<'a> {
    Incomplete,
    Event(Event<'a>),
    Attribute(u64),
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}

impl Events {
    /// A reader that takes strings of up to `BULK_MAX_BYTES` bytes, each as a whole.
    pub fn new() -> Self {
        Self::with_limits(BULK_MAX_BYTES, usize::MAX)
    }

    /// A reader that takes strings of up to `bulk_max_bytes` bytes; bulk strings above `whole_max_bytes` come in parts.
    pub fn with_limits(bulk_max_bytes: u64, whole_max_bytes: usize) -> Self {
        Self {
            bulk_max_bytes,
            whole_max_bytes,
            cursor: 0,
            position: 0,
            searched: 0,
            state: State::Line,
            open: SmallVec::new(),
            dropped: 0,
            closed: 0,
            failed: None,
            #[cfg(test)]
            looked_at: 0,
        }
    }

    /// The next piece in `input`, which is all bytes received and not [consumed](Self::consume); `None` until more bytes
    /// are appended.
    ///
    /// # Errors
    /// The bytes are no RESP or above a limit. Every further call returns the same error.
    #[inline]
    pub fn next<'a>(&mut self, input: &'a [u8]) -> Result<Option<Event<'a>>, DecodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let next = self.next_visible(input);
        match next {
            Ok(Some(_)) => self.position = self.cursor,
            Ok(None) => {}
            Err(error) => {
                self.failed = Some(error);
                self.open = SmallVec::new();
            }
        }
        next
    }

    /// How many aggregates the last event completed. An aggregate without values completes itself.
    pub fn closed(&self) -> usize {
        self.closed
    }

    /// Whether the last event completed a value that stands in no other.
    pub fn is_whole(&self) -> bool {
        self.open.is_empty() && matches!(self.state, State::Line)
    }

    /// Offset behind the last event.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Forgets the bytes before [`position`](Self::position), which it returns: the caller drops them before the next call.
    pub fn consume(&mut self) -> usize {
        let consumed = std::mem::take(&mut self.position);
        self.cursor -= consumed;
        self.searched -= consumed;
        consumed
    }

    /// Bytes of a string that comes in parts which have not come.
    pub fn missing_bytes(&self) -> usize {
        if let State::Parts(missing) = self.state { missing } else { 0 }
    }

    /// Notes that the caller has received the next `count` bytes of a string that comes in parts by itself, behind all of
    /// `input`, which must be consumed. At least one byte of the string is left for [`next`](Self::next).
    pub fn skip_part(&mut self, count: usize) {
        if let State::Parts(missing) = &mut self.state {
            *missing -= count.min(missing.saturating_sub(1));
        }
    }

    fn next_visible<'a>(&mut self, input: &'a [u8]) -> Result<Option<Event<'a>>, DecodeError> {
        loop {
            self.closed = 0;
            let was_dropped = self.dropped > 0;
            let event = match self.next_piece(input)? {
                Next::Incomplete => return Ok(None),
                Next::Attribute(values) => {
                    self.push(Frame { missing: values, is_attribute: true })?;
                    self.dropped += 1;
                    self.close();
                    continue;
                }
                Next::Event(event) => event,
            };
            match event {
                Event::Open { values, .. } => {
                    self.push(Frame { missing: values, is_attribute: false })?;
                    self.dropped += usize::from(was_dropped);
                    self.close();
                }
                Event::Begin(_) => {}
                Event::Part(_) if !matches!(self.state, State::Line) => {}
                _ => {
                    if let Some(frame) = self.open.last_mut() {
                        frame.missing -= 1;
                    }
                    self.close();
                }
            }
            if !was_dropped {
                return Ok(Some(event));
            }
        }
    }

    fn push(&mut self, frame: Frame) -> Result<(), DecodeError> {
        if self.open.len() >= REPLY_DEPTH_MAX {
            return Err(DecodeError::TooDeep);
        }
        self.open.push(frame);
        Ok(())
    }

    /// Closes the aggregates that miss nothing.
    fn close(&mut self) {
        while let Some(Frame { missing: 0, is_attribute }) = self.open.last().copied() {
            self.open.pop();
            if self.dropped > 0 {
                self.dropped -= 1;
            } else {
                self.closed += 1;
            }
            // An attribute is no value of what it stands in.
            if is_attribute {
                break;
            }
            if let Some(outer) = self.open.last_mut() {
                outer.missing -= 1;
            }
        }
    }

    #[inline]
    fn next_piece<'a>(&mut self, input: &'a [u8]) -> Result<Next<'a>, DecodeError> {
        match self.state {
            State::Line => {}
            State::String(kind, size) => return self.whole_string(input, kind, size),
            State::Parts(missing) => return self.part(input, missing),
        }
        let Some(end) = self.find_line_end(input)? else { return Ok(Next::Incomplete) };
        let line = input.get(self.cursor..end).unwrap_or_default();
        self.note_looked_at(line.len());
        let Some((&kind, text)) = line.split_first() else { return Err(DecodeError::UnknownType(b'\r')) };
        let malformed = DecodeError::Malformed(kind);
        let event = match kind {
            b'+' => Event::Simple(text),
            b'-' => Event::Error(text),
            b':' => Event::Integer(parse_i64(text.strip_prefix(b"+").unwrap_or(text)).ok_or(malformed)?),
            b'_' if text.is_empty() => Event::Null,
            b'#' if text == b"t" => Event::Boolean(true),
            b'#' if text == b"f" => Event::Boolean(false),
            b',' => Event::Double(parse_double(text).ok_or(malformed)?),
            b'(' if is_big_number(text) => Event::BigNumber(text),
            b'$' | b'*' if text == b"-1" => Event::Null,
            b'$' | b'=' | b'!' => {
                let size_bytes = parse_u64(text).ok_or(malformed)?;
                let size = self.bulk_size(size_bytes, end)?;
                self.move_to(end + 2);
                if kind == b'$' && size > self.whole_max_bytes {
                    self.state = State::Parts(size);
                    return Ok(Next::Event(Event::Begin(size)));
                }
                self.state = State::String(kind, size);
                return self.whole_string(input, kind, size);
            }
            b'*' | b'~' | b'>' | b'%' | b'|' => {
                let count = parse_u64(text).ok_or(malformed)?;
                let values_each = if matches!(kind, b'%' | b'|') { 2 } else { 1 };
                let values = count.checked_mul(values_each).ok_or(malformed)?;
                self.move_to(end + 2);
                let kind = match kind {
                    b'|' => return Ok(Next::Attribute(values)),
                    b'*' => Aggregate::Array,
                    b'%' => Aggregate::Map,
                    b'~' => Aggregate::Set,
                    _ => Aggregate::Push,
                };
                return Ok(Next::Event(Event::Open { kind, values }));
            }
            b'_' | b'#' | b'(' => return Err(malformed),
            unknown => return Err(DecodeError::UnknownType(unknown)),
        };
        self.move_to(end + 2);
        Ok(Next::Event(event))
    }

    /// Checks an announced size against the limit, and that string and line ends fit into a buffer of this machine.
    fn bulk_size(&self, size_bytes: u64, line_end: usize) -> Result<usize, DecodeError> {
        let size = usize::try_from(size_bytes).ok().filter(|_| size_bytes <= self.bulk_max_bytes);
        size.filter(|size| size.checked_add(line_end).and_then(|sum| sum.checked_add(4)).is_some())
            .ok_or(DecodeError::BulkTooLong { size_bytes })
    }

    fn whole_string<'a>(&mut self, input: &'a [u8], kind: u8, size: usize) -> Result<Next<'a>, DecodeError> {
        let end = self.cursor + size;
        let (Some(body), Some(line_end)) = (input.get(self.cursor..end), input.get(end..end + 2)) else {
            return Ok(Next::Incomplete);
        };
        if line_end != b"\r\n" {
            return Err(DecodeError::MissingLineEnd);
        }
        let event = match (kind, body) {
            (b'$', _) => Event::Bulk(body),
            (b'=', [a, b, c, b':', text @ ..]) => Event::Verbatim { format: [*a, *b, *c], text },
            (b'!', _) => Event::BlobError(body),
            _ => return Err(DecodeError::Malformed(kind)),
        };
        self.note_looked_at(2);
        self.state = State::Line;
        self.move_to(end + 2);
        Ok(Next::Event(event))
    }

    /// What has come of a string; its last byte comes together with the line end.
    fn part<'a>(&mut self, input: &'a [u8], missing: usize) -> Result<Next<'a>, DecodeError> {
        let rest = input.get(self.cursor..).unwrap_or_default();
        if let (Some(body), Some(line_end)) = (rest.get(..missing), rest.get(missing..missing + 2)) {
            if line_end != b"\r\n" {
                return Err(DecodeError::MissingLineEnd);
            }
            self.state = State::Line;
            self.move_to(self.cursor + missing + 2);
            return Ok(Next::Event(Event::Part(body)));
        }
        let body = rest.get(..rest.len().min(missing - 1)).unwrap_or_default();
        if body.is_empty() {
            return Ok(Next::Incomplete);
        }
        self.state = State::Parts(missing - body.len());
        self.move_to(self.cursor + body.len());
        Ok(Next::Event(Event::Part(body)))
    }

    /// Offset of the `\r\n` that ends the line at `cursor`, if it has come.
    #[inline]
    fn find_line_end(&mut self, input: &[u8]) -> Result<Option<usize>, DecodeError> {
        let limit = self.cursor.saturating_add(REPLY_LINE_MAX_BYTES);
        let window = input.get(self.searched..input.len().min(limit)).unwrap_or_default();
        let found = window.iter().position(|byte| *byte == b'\n');
        self.note_looked_at(found.unwrap_or(window.len()));
        let Some(at) = found else {
            self.searched += window.len();
            return if self.searched >= limit { Err(DecodeError::LineTooLong) } else { Ok(None) };
        };
        let end = (self.searched + at).checked_sub(1).filter(|end| *end >= self.cursor);
        match end {
            Some(end) if input.get(end) == Some(&b'\r') => Ok(Some(end)),
            _ => Err(DecodeError::MissingLineEnd),
        }
    }

    fn move_to(&mut self, cursor: usize) {
        self.cursor = cursor;
        self.searched = cursor;
    }

    /// Counts bytes whose value was looked at, for the tests that prove the decoder linear.
    #[inline(always)]
    pub(super) fn note_looked_at(&mut self, bytes: usize) {
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

    /// Aggregates for which there is room on the heap now.
    #[cfg(test)]
    pub(super) fn held_frames(&self) -> usize {
        if self.open.spilled() { self.open.capacity() } else { 0 }
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

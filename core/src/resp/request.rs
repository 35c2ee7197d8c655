//! The request parser: one connection's input bytes in, one request after the other out.
//!
//! The caller owns the input buffer, appends to it and drops what a request consumed. The parser remembers offsets
//! from the start of the unconsumed bytes, so that a request arriving in pieces costs what the new pieces cost:
//!
//! ```text
//!  input:  *3\r\n$3\r\nSET\r\n$16\r\nkey:000000000001\r\n$3\r\nx
//!                    ^^^ span      ^^^^^^^^^^^^^^^^ span ^ position, stage = BulkLength or Bulk
//! ```
//!
//! It promises the same requests and the same error for any split of the same bytes, no heap allocation for a request
//! that is complete and has at most eight arguments, and memory that grows with bytes received, never with a length
//! the peer announced. It never looks at the bytes of an argument and never looks at a length line more than three
//! times. It must never panic, whatever the bytes are.
//!
//! Where Redis is lenient this is too: the two bytes after an argument and the byte after a `\r` are not compared.

use smallvec::SmallVec;

use super::inline::{UnbalancedQuotes, split_words};
use super::limits::{
    BULK_MAX_BYTES, INLINE_REQUEST_MAX_BYTES, PARSER_KEPT_ARGUMENTS, PARSER_KEPT_BYTES,
    REQUEST_ARGUMENTS_MAX, UNAUTHENTICATED_ARGUMENTS_MAX, UNAUTHENTICATED_BULK_MAX_BYTES,
};
use crate::number::parse_i64;

/// The arguments of one request, the command's name first; they borrow the input buffer or the parser.
pub type Args<'a> = SmallVec<[&'a [u8]; 8]>;

/// What bounds a request now: it changes when the peer authenticates and with `CONFIG SET proto-max-bulk-len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// Whether the peer has authenticated or needs not to.
    pub authenticated: bool,
    /// `proto-max-bulk-len`: the largest argument in bytes.
    pub bulk_max_bytes: u64,
    /// Most arguments of a request, from any peer.
    pub arguments_max: u64,
}

impl RequestLimits {
    /// The limits under the default configuration.
    pub const fn new(authenticated: bool) -> Self {
        Self { authenticated, bulk_max_bytes: BULK_MAX_BYTES, arguments_max: REQUEST_ARGUMENTS_MAX }
    }

    fn arguments_max(&self) -> u64 {
        if self.authenticated { self.arguments_max } else { UNAUTHENTICATED_ARGUMENTS_MAX }
    }

    fn argument_max_bytes(&self) -> u64 {
        if self.authenticated {
            self.bulk_max_bytes
        } else {
            self.bulk_max_bytes.min(UNAUTHENTICATED_BULK_MAX_BYTES)
        }
    }
}

/// What [`RequestParser::parse`] found at the start of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// The request is not complete: append bytes and call again.
    Incomplete {
        /// At least this many more bytes are missing; 0 if unknown. The peer announced it: cap what you reserve by it.
        wanted: usize,
    },
    /// A request; its arguments are in `args`, of which there is at least one.
    Request {
        /// Bytes of the input it took; drop them before the next call.
        consumed: usize,
    },
    /// Bytes that ask for nothing: an empty line, `*0`, `*-1`.
    Nothing {
        /// Bytes of the input it took; drop them before the next call.
        consumed: usize,
    },
}

/// The peer does not speak RESP: answer with [`text`](Self::text) and close the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The number of arguments is no number or above the limit.
    #[error("Protocol error: invalid multibulk length")]
    InvalidMultibulkLength,
    /// More arguments than an unauthenticated peer may send.
    #[error("Protocol error: unauthenticated multibulk length")]
    UnauthenticatedMultibulkLength,
    /// An argument's length is no number, negative or above the limit.
    #[error("Protocol error: invalid bulk length")]
    InvalidBulkLength,
    /// An argument is larger than an unauthenticated peer may send.
    #[error("Protocol error: unauthenticated bulk length")]
    UnauthenticatedBulkLength,
    /// An argument begins with this byte instead of `$`.
    #[error("Protocol error: expected '$', got '{}'", char::from(*.0))]
    ExpectedDollar(u8),
    /// An inline request without an end.
    #[error("Protocol error: too big inline request")]
    TooBigInline,
    /// A line with the number of arguments without an end.
    #[error("Protocol error: too big mbulk count string")]
    TooBigMultibulkCount,
    /// A line with an argument's length without an end.
    #[error("Protocol error: too big bulk count string")]
    TooBigBulkCount,
    /// Quotes of an inline request that do not match.
    #[error("Protocol error: unbalanced quotes in request")]
    UnbalancedQuotes,
}

impl ProtocolError {
    /// The error reply's text, byte for byte Redis', `ERR ` included and without the leading dash. It may hold any
    /// byte: the writer of the reply replaces line ends.
    pub fn text(&self) -> Vec<u8> {
        match self {
            // The peer's byte goes back as it came, which need not be UTF-8.
            Self::ExpectedDollar(byte) => {
                let mut text = b"ERR Protocol error: expected '$', got '".to_vec();
                text.extend_from_slice(&[*byte, b'\'']);
                text
            }
            other => format!("ERR {other}").into_bytes(),
        }
    }
}

/// Where in a request the parser stands.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// At its first byte; nothing is remembered.
    Fresh,
    /// In the line of an inline request.
    Inline,
    /// In the line `*COUNT`.
    Count,
    /// In a line `$SIZE`.
    BulkLength,
    /// In the bytes of an argument.
    Bulk { size: usize },
    /// Behind the last argument, which was passed over.
    Whole,
}

/// An argument that has not come whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// Which argument of its request it is; the command's name is 0.
    pub number: usize,
    /// Its length in bytes. The two bytes of its line end follow.
    pub size: usize,
    /// Where in the input it begins.
    pub position: usize,
}

/// The parser of one connection.
#[derive(Debug)]
pub struct RequestParser {
    stage: Stage,
    /// Offset of the line or the argument that `stage` is in.
    position: usize,
    /// Offset up to which that line has been searched for its end. Invariant: not below `position`.
    searched: usize,
    /// Arguments still to come, the one at `position` included.
    missing: u64,
    /// Start and end of the arguments before `position`; of an inline request's, in `scratch`.
    spans: Vec<(usize, usize)>,
    /// The unescaped words of an inline request.
    scratch: Vec<u8>,
    /// Arguments of the request that ends here, or of the incomplete one, were taken out of the input.
    has_passed: bool,
    #[cfg(test)]
    looked_at: u64,
}

impl Default for RequestParser {
    fn default() -> Self {
        Self::new()
    }
}

impl RequestParser {
    /// A parser at the beginning of a connection's bytes. It allocates nothing.
    pub const fn new() -> Self {
        Self {
            stage: Stage::Fresh,
            position: 0,
            searched: 0,
            missing: 0,
            spans: Vec::new(),
            scratch: Vec::new(),
            has_passed: false,
            #[cfg(test)]
            looked_at: 0,
        }
    }

    /// Parses the request at the start of `input`, which is all bytes received and not consumed yet. Between calls the
    /// caller may only append to it until a request is consumed. `args` is emptied, and filled if there is a request.
    ///
    /// Take a fresh `Args` for every call: its lifetime is that of the borrow of `self` and `input`. After an error
    /// the connection is lost; a further call returns the same error.
    #[inline]
    pub fn parse<'a>(
        &'a mut self,
        input: &'a [u8],
        limits: &RequestLimits,
        args: &mut Args<'a>,
    ) -> Result<Parsed, ProtocolError> {
        args.clear();
        if let Some(consumed) = self.parse_whole(input, limits, args) {
            return Ok(Parsed::Request { consumed });
        }
        if let Stage::Fresh = self.stage {
            if input.is_empty() {
                // The connection goes idle: it need not keep a long inline request's words.
                self.scratch.clear();
                self.scratch.shrink_to(PARSER_KEPT_BYTES);
                return Ok(Parsed::Incomplete { wanted: 0 });
            }
            self.stage = Stage::Inline;
        }
        self.parse_piecemeal(input, limits, args)
    }

    /// Parses the request at the start of `input` into `args`, which are empty, and returns its length, if it is a
    /// multibulk request that has come whole. Anything else, errors too, is left to [`RequestParser::parse`], which must
    /// get the same input next. Unlike there, the arguments borrow the input only, so several requests can be held.
    #[inline]
    pub fn parse_plain<'a>(
        &mut self,
        input: &'a [u8],
        limits: &RequestLimits,
        args: &mut Args<'a>,
    ) -> Option<usize> {
        self.parse_whole(input, limits, args)
    }

    /// The argument on its way, if the input ends in one.
    pub fn arriving(&self) -> Option<Arriving> {
        match self.stage {
            Stage::Bulk { size } => {
                Some(Arriving { number: self.spans.len(), size, position: self.position })
            }
            _ => None,
        }
    }

    /// An argument before the one on its way.
    pub fn argument<'i>(&self, input: &'i [u8], number: usize) -> Option<&'i [u8]> {
        let (start, end) = *self.spans.get(number)?;
        input.get(start..end)
    }

    /// Goes on behind the argument on its way. The caller has taken it, line end included, out of the input; it stands
    /// empty among the arguments.
    pub fn pass_over(&mut self) {
        self.spans.push((self.position, self.position));
        self.missing = self.missing.saturating_sub(1);
        self.has_passed = true;
        let stage = if self.missing == 0 { Stage::Whole } else { Stage::BulkLength };
        self.enter(stage, self.position);
    }

    /// Whether arguments were [passed over](RequestParser::pass_over), so that the request cannot be parsed from its beginning again:
    /// until [`RequestParser::rewind`] the next call of [`RequestParser::parse`] gives the same request once more.
    pub fn has_passed(&self) -> bool {
        self.has_passed
    }

    /// Forgets the request that ends here, or what is known of an incomplete one: the next input may begin anywhere.
    pub fn rewind(&mut self) {
        self.has_passed = false;
        self.spans.clear();
        self.spans.shrink_to(PARSER_KEPT_ARGUMENTS);
        self.rewind_keeping_spans();
    }

    fn rewind_keeping_spans(&mut self) {
        self.enter(Stage::Fresh, 0);
        self.missing = 0;
    }

    /// The hot path: a multibulk request that lies in `input` from end to end. Anything else, errors too, stops it
    /// with `None`, and `self` stands where the other path goes on; only the line it stopped at is looked at again.
    /// `self` is still `Stage::Fresh` then only if the input is empty or begins an inline request.
    #[inline]
    fn parse_whole<'a>(
        &mut self,
        input: &'a [u8],
        limits: &RequestLimits,
        args: &mut Args<'a>,
    ) -> Option<usize> {
        let (Stage::Fresh, Some(b'*')) = (&self.stage, input.first()) else { return None };
        let (count, first) = match read_plain_length(input, 1) {
            Some((count, first)) if (1..=limits.arguments_max()).contains(&count) => (count, first),
            _ => {
                self.stage = Stage::Count;
                return None;
            }
        };
        let argument_max_bytes = limits.argument_max_bytes();
        let mut missing = count;
        let mut position = first;
        while let Some(b'$') = input.get(position)
            && let Some((size, start)) = read_plain_length(input, position + 1)
            && size <= argument_max_bytes
            && let Ok(size) = usize::try_from(size)
            && let Some(end) = start.checked_add(size)
            && input.len().saturating_sub(end) >= 2
            && let Some(argument) = input.get(start..end)
        {
            args.push(argument);
            self.note_looked_at(start - position);
            position = end + 2;
            missing -= 1;
            if missing == 0 {
                return Some(position);
            }
        }
        self.remember(input, args, position, missing);
        None
    }

    /// Keeps what the hot path found, as offsets.
    #[cold]
    fn remember(&mut self, input: &[u8], args: &mut Args<'_>, position: usize, missing: u64) {
        let base = input.as_ptr().addr();
        self.spans.extend(args.iter().map(|argument| {
            let start = argument.as_ptr().addr() - base;
            (start, start + argument.len())
        }));
        args.clear();
        self.missing = missing;
        self.enter(Stage::BulkLength, position);
    }

    /// The path for everything that is not one whole, plain request: goes on from `stage` as far as the input allows.
    fn parse_piecemeal<'a>(
        &'a mut self,
        input: &'a [u8],
        limits: &RequestLimits,
        args: &mut Args<'a>,
    ) -> Result<Parsed, ProtocolError> {
        loop {
            match self.stage {
                Stage::Fresh | Stage::Inline => return self.parse_inline(input, args),
                Stage::Count => {
                    let Some(end) = self.length_line(input).ok_or(ProtocolError::TooBigMultibulkCount)?
                    else {
                        return Ok(Parsed::Incomplete { wanted: 0 });
                    };
                    let count = self.parse_count(input, end, limits)?;
                    if count == 0 {
                        self.rewind();
                        return Ok(Parsed::Nothing { consumed: end + 2 });
                    }
                    self.missing = count;
                    self.enter(Stage::BulkLength, end + 2);
                }
                Stage::BulkLength => {
                    let Some(end) = self.length_line(input).ok_or(ProtocolError::TooBigBulkCount)? else {
                        return Ok(Parsed::Incomplete { wanted: 0 });
                    };
                    let size = self.parse_size(input, end, limits)?;
                    self.enter(Stage::Bulk { size }, end + 2);
                }
                Stage::Bulk { size } => {
                    let received = input.len().saturating_sub(self.position);
                    // `parse_size` made sure that the sum is representable.
                    let wanted = (size + 2).saturating_sub(received);
                    if wanted > 0 {
                        return Ok(Parsed::Incomplete { wanted });
                    }
                    let end = self.position + size;
                    self.spans.push((self.position, end));
                    self.missing -= 1;
                    if self.missing == 0 {
                        self.enter(Stage::Whole, end + 2);
                    } else {
                        self.enter(Stage::BulkLength, end + 2);
                    }
                }
                Stage::Whole => {
                    args.extend(self.spans.iter().filter_map(|&(start, end)| input.get(start..end)));
                    let consumed = self.position;
                    if !self.has_passed {
                        self.rewind();
                    }
                    return Ok(Parsed::Request { consumed });
                }
            }
        }
    }

    fn parse_inline<'a>(&'a mut self, input: &'a [u8], args: &mut Args<'a>) -> Result<Parsed, ProtocolError> {
        let found = self.find_in_line(input, b'\n').ok_or(ProtocolError::TooBigInline)?;
        let Some(end) = found else { return Ok(Parsed::Incomplete { wanted: 0 }) };
        let line = input.get(..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.note_looked_at(line.len());
        self.spans.clear();
        self.scratch.clear();
        split_words(line, &mut self.scratch, &mut self.spans)
            .map_err(|UnbalancedQuotes| ProtocolError::UnbalancedQuotes)?;
        self.rewind_keeping_spans();
        let consumed = end + 1;
        let words: &'a [u8] = &self.scratch;
        args.extend(self.spans.iter().filter_map(|&(start, end)| words.get(start..end)));
        self.spans.clear();
        self.spans.shrink_to(PARSER_KEPT_ARGUMENTS);
        Ok(if args.is_empty() { Parsed::Nothing { consumed } } else { Parsed::Request { consumed } })
    }

    /// The count in the line from `position` to `end`; 0 for every count that asks for nothing.
    fn parse_count(
        &mut self,
        input: &[u8],
        end: usize,
        limits: &RequestLimits,
    ) -> Result<u64, ProtocolError> {
        let line = self.line(input, end);
        let count = line.get(1..).and_then(parse_i64).ok_or(ProtocolError::InvalidMultibulkLength)?;
        let count = u64::try_from(count).unwrap_or(0);
        if count > limits.arguments_max {
            Err(ProtocolError::InvalidMultibulkLength)
        } else if count > limits.arguments_max() {
            Err(ProtocolError::UnauthenticatedMultibulkLength)
        } else {
            Ok(count)
        }
    }

    /// The size in the line from `position` to `end`.
    fn parse_size(
        &mut self,
        input: &[u8],
        end: usize,
        limits: &RequestLimits,
    ) -> Result<usize, ProtocolError> {
        let line = self.line(input, end);
        let Some((b'$', digits)) = line.split_first() else {
            // An empty line: what stands where the dollar should be is its line end.
            return Err(ProtocolError::ExpectedDollar(line.first().copied().unwrap_or(b'\r')));
        };
        let size = parse_i64(digits).and_then(|size| u64::try_from(size).ok());
        let size =
            size.filter(|size| *size <= limits.bulk_max_bytes).ok_or(ProtocolError::InvalidBulkLength)?;
        if size > limits.argument_max_bytes() {
            return Err(ProtocolError::UnauthenticatedBulkLength);
        }
        // Where `usize` has 32 bits, an argument that no buffer could hold is refused now, not after 4 GiB.
        let size = usize::try_from(size).map_err(|_| ProtocolError::InvalidBulkLength)?;
        match end.checked_add(size).and_then(|sum| sum.checked_add(4)) {
            Some(_) => Ok(size),
            None => Err(ProtocolError::InvalidBulkLength),
        }
    }

    fn line<'a>(&mut self, input: &'a [u8], end: usize) -> &'a [u8] {
        self.note_looked_at(end - self.position);
        input.get(self.position..end).unwrap_or_default()
    }

    /// Offset of the `\r` of the line at `position` once the byte after it is there too: `Some(None)` until then,
    /// `None` if the line is too long.
    fn length_line(&mut self, input: &[u8]) -> Option<Option<usize>> {
        let end = self.find_in_line(input, b'\r')?;
        Some(end.filter(|end| input.len() - end >= 2))
    }

    /// Offset of the first `wanted` byte from `position` on: `Some(None)` if it has not come yet, `None` if the line is
    /// too long. Each byte is searched once; only a hit, whose successor may be missing, is looked at again.
    ///
    /// Redis measures what happens to be buffered. Here the length at which a line is too long does not depend on how
    /// the bytes arrive: the end must be among the first `INLINE_REQUEST_MAX_BYTES + 1` bytes.
    fn find_in_line(&mut self, input: &[u8], wanted: u8) -> Option<Option<usize>> {
        let limit = self.position.saturating_add(INLINE_REQUEST_MAX_BYTES + 1);
        let window = input.get(self.searched..input.len().min(limit)).unwrap_or_default();
        let found = window.iter().position(|byte| *byte == wanted);
        self.note_looked_at(found.unwrap_or(window.len()));
        self.searched += found.unwrap_or(window.len());
        match found {
            Some(_) => Some(Some(self.searched)),
            None if self.searched >= limit => None,
            None => Some(None),
        }
    }

    fn enter(&mut self, stage: Stage, position: usize) {
        self.stage = stage;
        self.position = position;
        self.searched = position;
    }

    /// Counts bytes whose value was looked at, for the tests that prove the parser linear.
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

    /// Bytes of heap held now.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<(usize, usize)>() + self.scratch.capacity()
    }
}

/// The second argument of the multibulk request that begins here, if it has come: for a look ahead that may be wrong,
/// as this checks no more than it needs.
pub fn second_argument(input: &[u8]) -> Option<&[u8]> {
    if input.first() != Some(&b'*') {
        return None;
    }
    let (count, mut position) = read_plain_length(input, 1)?;
    if count < 2 {
        return None;
    }
    let mut argument = None;
    for _ in 0..2 {
        let (size, start) = read_plain_length(input, position + 1)?;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        argument = Some(input.get(start..end)?);
        position = end + 2;
    }
    argument
}

/// Reads the digits at `start` and the `\r` after them: the number, and the offset behind the line end, whose second
/// byte need not have come. `None` for everything else, numbers of more than ten digits and leading zeros included.
#[inline(always)]
fn read_plain_length(input: &[u8], start: usize) -> Option<(u64, usize)> {
    // Most lengths have one digit or two.
    match *input.get(start..)? {
        [ones @ b'0'..=b'9', b'\r', ..] => Some((u64::from(ones - b'0'), start + 3)),
        [tens @ b'1'..=b'9', ones @ b'0'..=b'9', b'\r', ..] => {
            Some((u64::from(tens - b'0') * 10 + u64::from(ones - b'0'), start + 4))
        }
        ref text => read_longer_length(text).map(|(value, len)| (value, start + len)),
    }
}

/// As [`read_plain_length`], with offsets from the first digit.
fn read_longer_length(text: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (at, byte) in text.iter().enumerate().take(11) {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            if value == 0 && at > 0 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        } else {
            return (*byte == b'\r' && at > 0).then_some((value, at + 2));
        }
    }
    None
}

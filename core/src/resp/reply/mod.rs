//! The reply writer: values in, RESP2 or RESP3 bytes out, into the output buffer of one connection.
//!
//! A handler writes what it means (`map`, `double`, `null`) and the connection's protocol decides the bytes. Where the
//! number of elements is known only afterwards, the header is [`deferred`].
//!
//! A huge value is not copied into the output: the output notes where it is stored and at which place among the bytes it
//! belongs, and the host takes both in turns ([`Reply::front`]).
//!
//! It never does I/O. The session bounds the output by [`Reply::len`], between requests; a home with little memory bounds each
//! reply as well ([`Reply::bounded`]): what does not fit is left out, and [`Reply::is_cut`] says so until it is undone.
//!
//! It counts values ([`Reply::balance`]), so that the end of a command can tell a whole reply from one whose header announces
//! more elements than follow.

mod deferred;
mod split;

use std::mem;
use std::sync::Arc;
use std::task::Waker;

pub use self::deferred::Deferred;
use self::deferred::Gap;
use super::limits::{ASK_FROM_BYTES, REPLY_KEPT_BYTES};
use super::stored::{StoredBytes, StoredError};
use crate::number::format_f64;

/// Kind, twenty digits, line end; rounded up.
const HEADER_MAX_BYTES: usize = 24;

/// The protocol version of a connection, as chosen with HELLO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// What every connection begins with.
    #[default]
    Resp2,
    /// After `HELLO 3`.
    Resp3,
}

/// How much memory a reply may take, in a home that has little of it.
#[derive(Clone, Copy, Debug)]
pub struct ReplyBounds {
    /// What would make the output longer than so many bytes is left out.
    pub max_bytes: usize,
    /// Tells how many bytes of memory are left at the moment; `u64::MAX` in a home that does not count them.
    pub left_bytes: fn() -> u64,
    /// So many of those must stay.
    pub margin_bytes: u64,
}

impl ReplyBounds {
    /// For homes with more memory than any reply takes.
    pub const NONE: ReplyBounds =
        ReplyBounds { max_bytes: usize::MAX, left_bytes: || u64::MAX, margin_bytes: 0 };
}

/// A part of a stored value, to be sent before the byte at `at`.
struct Stored {
    at: usize,
    source: Arc<dyn StoredBytes>,
    offset: u64,
    len: u64,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Stored({} bytes from {} at {})", self.len, self.offset, self.at)
    }
}

/// What is to be sent next.
pub enum Front<'r> {
    /// These bytes, and what follows them if that is stored.
    Bytes(&'r [u8], Option<Part<'r>>),
    /// A part of a stored value.
    Stored(Part<'r>),
}

/// A part of a stored value, to be sent.
#[derive(Clone, Copy)]
pub struct Part<'r> {
    /// Where the bytes are.
    pub source: &'r dyn StoredBytes,
    /// Where they begin.
    pub offset: u64,
    /// How many there are.
    pub len: u64,
    /// The bytes that are to be sent after them.
    pub tail: &'r [u8],
}

/// The output of one connection.
#[derive(Debug)]
pub struct Reply {
    bytes: Vec<u8>,
    /// Stored parts in the order of their places; those before `stored_sent` have been sent.
    stored: Vec<Stored>,
    stored_sent: usize,
    /// How many of `bytes` have been sent.
    bytes_sent: usize,
    protocol: Protocol,
    /// Gaps in the order of their offsets; empty unless a deferral is open.
    gaps: Vec<Gap>,
    /// Bytes that a bulk begun with `bulk_start` still misses; only to catch a handler's mistake.
    bulk_missing: u64,
    /// Values written less those that were announced, modulo 2^64.
    balance: u64,
    bounds: ReplyBounds,
    is_cut: bool,
}

impl Default for Reply {
    fn default() -> Reply {
        Reply::new(Protocol::default())
    }
}

impl Reply {
    /// An empty output.
    pub const fn new(protocol: Protocol) -> Self {
        Self {
            bytes: Vec::new(),
            stored: Vec::new(),
            stored_sent: 0,
            bytes_sent: 0,
            protocol,
            gaps: Vec::new(),
            bulk_missing: 0,
            balance: 0,
            bounds: ReplyBounds::NONE,
            is_cut: false,
        }
    }

    /// The same, leaving out what does not fit into these bounds.
    pub fn bounded(self, bounds: ReplyBounds) -> Self {
        Self { bounds, ..self }
    }

    /// An empty output of the same protocol and bounds, for a part whose length must come before it.
    pub fn beside(&self) -> Reply {
        Reply::new(self.protocol).bounded(self.bounds)
    }

    /// Takes the bounds of another output.
    pub fn take_bounds_of(&mut self, other: &Reply) {
        self.bounds = other.bounds;
    }

    /// How many bytes more it may hold.
    pub fn bytes_left(&self) -> u64 {
        self.bounds.max_bytes.saturating_sub(self.bytes.len()) as u64
    }

    /// Whether something was left out because it did not fit.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Grows by one with every whole value that was written, and shrinks by one with every element that an aggregate announces.
    /// So it grows by one, modulo 2^64, while one reply is written, however it is nested. Pushes and attributes are no values.
    /// What is undone ([`Reply::truncate`]) and what comes as bytes ([`Reply::raw`], [`Reply::mail`]) does not change it.
    #[inline]
    pub fn balance(&self) -> u64 {
        self.balance
    }

    /// Counts a whole value.
    #[inline]
    fn count_value(&mut self) {
        self.balance = self.balance.wrapping_add(1);
    }

    /// Counts an aggregate of so many elements.
    #[inline]
    fn count_aggregate(&mut self, elements: u64) {
        self.balance = self.balance.wrapping_add(1).wrapping_sub(elements);
    }

    /// The protocol of what is written from now on.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Changes the protocol of what is written from now on.
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    /// `+OK`
    pub fn ok(&mut self) {
        self.count_value();
        self.bytes.extend_from_slice(b"+OK\r\n");
    }

    /// A status. Line ends in it, which no handler should write, become spaces.
    pub fn simple(&mut self, text: &str) {
        self.simple_bytes(text.as_bytes());
    }

    /// As [`simple`](Self::simple), for texts that a script made.
    pub fn simple_bytes(&mut self, text: &[u8]) {
        self.count_value();
        self.line(b'+', text);
    }

    /// An error, code included (`ERR …`, `WRONGTYPE …`). Line ends become spaces, those at the end go.
    pub fn error(&mut self, text: &str) {
        self.error_bytes(text.as_bytes());
    }

    /// As [`error`](Self::error), for texts that quote the client's bytes.
    pub fn error_bytes(&mut self, text: &[u8]) {
        self.count_value();
        let trimmed = text.iter().rev().take_while(|byte| is_line_end(**byte)).count();
        self.line(b'-', text.get(..text.len() - trimmed).unwrap_or_default());
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        self.count_value();
        match u64::try_from(value) {
            Ok(value) => self.header(b':', value),
            Err(_) => {
                let mut digits = itoa::Buffer::new();
                self.line_unchecked(b':', digits.format(value).as_bytes());
            }
        }
    }

    /// A string of any bytes.
    #[inline]
    pub fn bulk(&mut self, value: &[u8]) {
        self.count_value();
        if !self.fits(value.len()) {
            return;
        }
        self.header_unchecked(b'$', value.len() as u64);
        self.bytes.extend_from_slice(value);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Begins a string of `size_bytes` bytes, which follow through [`raw`](Self::raw) and end with
    /// [`bulk_end`](Self::bulk_end). The output may be taken in between.
    pub fn bulk_start(&mut self, size_bytes: u64) {
        self.count_value();
        self.header(b'$', size_bytes);
        self.bulk_missing = size_bytes;
    }

    /// Appends bytes as they are: a piece of a bulk, or a reply encoded elsewhere.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bulk_missing = self.bulk_missing.saturating_sub(bytes.len() as u64);
        if self.fits(bytes.len()) {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Appends a message or a reply that was made for it elsewhere, however long it is; false if there is no memory for it.
    pub fn mail(&mut self, bytes: &[u8]) -> bool {
        let len = self.bytes.len() + bytes.len();
        let fits = len <= self.bytes.capacity() || self.grow(len);
        if fits {
            self.bytes.extend_from_slice(bytes);
        }
        fits
    }

    /// Appends what was written [`beside`](Self::beside) it.
    pub fn append(&mut self, part: &Reply) {
        self.raw(part.as_bytes());
        self.balance = self.balance.wrapping_add(part.balance);
        self.is_cut |= part.is_cut;
    }

    /// Appends a part of a stored value, which must stay what it is until it was sent: a piece of a bulk.
    pub fn stored(&mut self, source: Arc<dyn StoredBytes>, offset: u64, len: u64) {
        self.bulk_missing = self.bulk_missing.saturating_sub(len);
        if len > 0 {
            self.stored.push(Stored { at: self.bytes.len(), source, offset, len });
        }
    }

    /// Ends a string begun with [`bulk_start`](Self::bulk_start).
    pub fn bulk_end(&mut self) {
        debug_assert_eq!(self.bulk_missing, 0, "a bulk ends before its announced size");
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// No value: `$-1` or `_`.
    pub fn null(&mut self) {
        self.count_value();
        self.bytes.extend_from_slice(match self.protocol {
            Protocol::Resp2 => b"$-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// No array: `*-1` or `_`.
    pub fn null_array(&mut self) {
        self.count_value();
        self.bytes.extend_from_slice(match self.protocol {
            Protocol::Resp2 => b"*-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// An array; `count` elements must follow.
    #[inline]
    pub fn array(&mut self, count: usize) {
        self.count_aggregate(count as u64);
        self.header(b'*', count as u64);
    }

    /// A map; `pairs` keys, each with its value, must follow.
    pub fn map(&mut self, pairs: usize) {
        self.count_aggregate(pairs as u64 * 2);
        let (kind, count) = self.map_header(pairs);
        self.header(kind, count);
    }

    /// A set; `count` members must follow.
    pub fn set(&mut self, count: usize) {
        self.count_aggregate(count as u64);
        self.header(self.set_kind(), count as u64);
    }

    /// An out-of-band message; `count` elements must follow.
    pub fn push(&mut self, count: usize) {
        self.balance = self.balance.wrapping_sub(count as u64);
        self.header(self.push_kind(), count as u64);
    }

    /// An attribute of what comes next, which RESP2 does not have; `pairs` keys, each with its value, must follow.
    pub fn attribute(&mut self, pairs: usize) {
        self.balance = self.balance.wrapping_sub(pairs as u64 * 2);
        self.header(b'|', pairs as u64);
    }

    /// A double, printed as [`format_f64`] does.
    pub fn double(&mut self, value: f64) {
        let text = format_f64(value);
        self.text(b',', text.as_bytes());
    }

    /// A double whose digits the caller has chosen.
    pub fn double_text(&mut self, digits: &str) {
        self.text(b',', digits.as_bytes());
    }

    /// A truth value; RESP2 has 1 and 0.
    pub fn boolean(&mut self, value: bool) {
        self.count_value();
        self.bytes.extend_from_slice(match (self.protocol, value) {
            (Protocol::Resp2, true) => b":1\r\n",
            (Protocol::Resp2, false) => b":0\r\n",
            (Protocol::Resp3, true) => b"#t\r\n",
            (Protocol::Resp3, false) => b"#f\r\n",
        });
    }

    /// An integer of any size, in decimal digits.
    pub fn big_number(&mut self, digits: &str) {
        self.text(b'(', digits.as_bytes());
    }

    /// A text for people; `format` is `txt` or `mkd` (cut or filled with spaces to three bytes).
    pub fn verbatim(&mut self, format: &str, text: &[u8]) {
        if self.protocol == Protocol::Resp2 {
            return self.bulk(text);
        }
        self.count_value();
        self.header(b'=', text.len() as u64 + 4);
        self.bytes.extend(format.bytes().chain(*b"   ").take(3));
        self.bytes.push(b':');
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Bytes written and not taken.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes that fit without another allocation.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether stored values wait to be sent.
    pub fn has_stored(&self) -> bool {
        self.stored_sent < self.stored.len()
    }

    /// Bytes that wait to be sent, stored ones included.
    pub fn unsent(&self) -> u64 {
        let stored: u64 = self.stored.iter().skip(self.stored_sent).map(|stored| stored.len).sum();
        (self.bytes.len() - self.bytes_sent) as u64 + stored
    }

    /// What is to be sent next. Only meaningful while no deferral is open.
    pub fn front(&self) -> Option<Front<'_>> {
        debug_assert!(self.gaps.is_empty(), "a deferred header is missing");
        let next = self.stored.get(self.stored_sent);
        let until = next.map_or(self.bytes.len(), |stored| stored.at);
        let next = next.map(|stored| {
            let after = self.stored.get(self.stored_sent + 1).map_or(self.bytes.len(), |after| after.at);
            Part {
                source: &*stored.source,
                offset: stored.offset,
                len: stored.len,
                tail: self.bytes.get(stored.at..after).unwrap_or_default(),
            }
        });
        match (self.bytes.get(self.bytes_sent..until), next) {
            (Some(bytes), next) if !bytes.is_empty() => Some(Front::Bytes(bytes, next)),
            (_, Some(part)) => Some(Front::Stored(part)),
            _ => None,
        }
    }

    /// Whether the next `most_bytes` can be sent without waiting for stored values that are elsewhere; if not, they are being
    /// fetched, and the waker is woken once they are here.
    pub fn is_at_hand(&self, most_bytes: u64, waker: &Waker) -> bool {
        let (mut left, mut from) = (most_bytes, self.bytes_sent);
        for stored in self.stored.iter().skip(self.stored_sent) {
            left = left.saturating_sub(stored.at.saturating_sub(from) as u64);
            from = stored.at;
            let len = left.min(stored.len);
            if len == 0 {
                break;
            }
            if !stored.source.is_at_hand(stored.offset, len, waker) {
                return false;
            }
            left -= len;
        }
        true
    }

    /// Says that so many bytes from [`Reply::front`] on were sent.
    pub fn sent(&mut self, mut count: u64) {
        while count > 0 {
            let next = self.stored.get_mut(self.stored_sent);
            let until = next.as_ref().map_or(self.bytes.len(), |stored| stored.at);
            let bytes = until.saturating_sub(self.bytes_sent) as u64;
            if bytes > 0 {
                // At most the length of the output.
                self.bytes_sent += bytes.min(count) as usize;
                count -= bytes.min(count);
            } else if let Some(stored) = next {
                let part = stored.len.min(count);
                stored.offset += part;
                stored.len -= part;
                self.stored_sent += usize::from(stored.len == 0);
                count -= part;
            } else {
                return;
            }
        }
    }

    /// Undoes everything written since [`len`](Self::len) was `len`, deferrals included. A length taken inside a
    /// deferral is void once that deferral is finished.
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        while self.gaps.last().is_some_and(|gap| gap.offset >= len) {
            self.gaps.pop();
        }
        while self.stored.last().is_some_and(|stored| stored.at >= len) {
            self.stored.pop();
        }
        self.bulk_missing = 0;
        self.is_cut = false;
    }

    /// The bytes written and not cleared. Only meaningful while no deferral is open and nothing stored is among them.
    pub fn as_bytes(&self) -> &[u8] {
        debug_assert!(self.gaps.is_empty(), "a deferred header is missing");
        debug_assert!(self.stored.is_empty(), "a stored value is not in the output");
        &self.bytes
    }

    /// Gives the output buffer back, if nothing is in it.
    pub fn shrink(&mut self) {
        if self.bytes.is_empty() {
            self.bytes = Vec::new();
        }
    }

    /// Forgets everything, after it was sent; an unusually large buffer is given back.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(REPLY_KEPT_BYTES);
        self.gaps.clear();
        self.stored.clear();
        (self.bytes_sent, self.stored_sent) = (0, 0);
        self.is_cut = false;
    }

    /// Takes all that is to be sent, stored values read into memory, and leaves an empty output. Fails where a stored value
    /// cannot be read; what came before it counts as sent then.
    pub fn take(&mut self) -> Result<Vec<u8>, StoredError> {
        let mut all = Vec::new();
        while let Some(front) = self.front() {
            let count = match front {
                // Nearly always there is nothing else.
                Front::Bytes(bytes, None) if self.bytes_sent == 0 && all.is_empty() => bytes.len(),
                Front::Bytes(bytes, _) => {
                    all.extend_from_slice(bytes);
                    bytes.len()
                }
                Front::Stored(Part { source, offset, len, .. }) => {
                    source.read(offset, len, &mut |piece| all.extend_from_slice(piece))?;
                    usize::try_from(len).unwrap_or(usize::MAX)
                }
            };
            self.sent(count as u64);
        }
        let bytes = mem::take(&mut self.bytes);
        self.clear();
        Ok(if all.is_empty() { bytes } else { all })
    }

    fn map_header(&self, pairs: usize) -> (u8, u64) {
        match self.protocol {
            Protocol::Resp2 => (b'*', pairs as u64 * 2),
            Protocol::Resp3 => (b'%', pairs as u64),
        }
    }

    fn set_kind(&self) -> u8 {
        if self.protocol == Protocol::Resp2 { b'*' } else { b'~' }
    }

    fn push_kind(&self) -> u8 {
        if self.protocol == Protocol::Resp2 { b'*' } else { b'>' }
    }

    /// A scalar that is a line of its own kind in RESP3 and a bulk in RESP2.
    fn text(&mut self, kind: u8, text: &[u8]) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(text),
            Protocol::Resp3 => {
                self.count_value();
                self.line(kind, text);
            }
        }
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        if text.iter().any(|byte| is_line_end(*byte)) {
            let cleaned: Vec<u8> =
                text.iter().map(|byte| if is_line_end(*byte) { b' ' } else { *byte }).collect();
            self.line_unchecked(kind, &cleaned);
        } else {
            self.line_unchecked(kind, text);
        }
    }

    #[inline]
    fn fits(&mut self, more: usize) -> bool {
        let len = self.bytes.len().saturating_add(more);
        // A string has its header before it and a line end behind it.
        let framed = len.saturating_add(HEADER_MAX_BYTES + 2);
        if len <= self.bounds.max_bytes && (framed <= self.bytes.capacity() || self.grow(framed)) {
            return true;
        }
        self.is_cut = true;
        false
    }

    /// Grows to at least this length, if there is memory for it.
    #[cold]
    fn grow(&mut self, len: usize) -> bool {
        if self.bounds.max_bytes == usize::MAX || len < ASK_FROM_BYTES {
            // Doubling is as good as anything.
            self.bytes.reserve(len - self.bytes.len());
            return true;
        }
        let len = len.saturating_add(len / 4);
        // The present block stays until its bytes were copied into the new one.
        let is_left = (len as u64).saturating_add(self.bounds.margin_bytes) <= (self.bounds.left_bytes)();
        // What is free may lie in gaps, so this may fail all the same.
        is_left && self.bytes.try_reserve_exact(len - self.bytes.len()).is_ok()
    }

    fn line_unchecked(&mut self, kind: u8, text: &[u8]) {
        self.bytes.reserve(text.len() + 3);
        self.bytes.push(kind);
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Up to three digits, most headers and most integers, go without the general printer.
    #[inline]
    fn header(&mut self, kind: u8, number: u64) {
        if self.fits(0) {
            self.header_unchecked(kind, number);
        }
    }

    #[inline]
    fn header_unchecked(&mut self, kind: u8, number: u64) {
        match number {
            0..=9 => self.bytes.extend_from_slice(&[kind, digit(number), b'\r', b'\n']),
            10..=99 => {
                let line = [kind, digit(number / 10), digit(number % 10), b'\r', b'\n'];
                self.bytes.extend_from_slice(&line);
            }
            100..=999 => {
                let (hundreds, rest) = (number / 100, number % 100);
                let digits = [digit(hundreds), digit(rest / 10), digit(rest % 10)];
                self.bytes.extend_from_slice(&[kind, digits[0], digits[1], digits[2], b'\r', b'\n']);
            }
            _ => self.line_unchecked(kind, itoa::Buffer::new().format(number).as_bytes()),
        }
    }
}

fn digit(value: u64) -> u8 {
    // Callers pass a value below ten.
    b'0' + (value % 10) as u8
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

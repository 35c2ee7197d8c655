//! The value decoder, for clients: reply bytes in, owned [`Value`]s out, by the events of [`Events`].
//!
//! Like the event decoder it works over a buffer that the caller owns and only appends to until a value is consumed, and
//! goes on where it stopped. An aggregate's elements are stored as they come, a string when it is complete, so memory grows
//! with what has come and never with a number the peer announced.

use super::events::{Aggregate, DecodeError, Event, Events};
use super::limits::BULK_MAX_BYTES;
use super::value::Value;

/// The decoder of one connection.
#[derive(Debug)]
pub struct Decoder {
    events: Events,
    /// Open aggregates, the innermost last.
    stack: Vec<(Aggregate, Vec<Value>)>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder that takes strings of up to `BULK_MAX_BYTES` bytes.
    pub fn new() -> Self {
        Self::with_bulk_max_bytes(BULK_MAX_BYTES)
    }

    /// A decoder that takes strings of up to `bulk_max_bytes` bytes.
    pub fn with_bulk_max_bytes(bulk_max_bytes: u64) -> Self {
        Self { events: Events::with_limits(bulk_max_bytes, usize::MAX), stack: Vec::new() }
    }

    /// Decodes the value at the start of `input`, which is all bytes received and not consumed yet: the value and the
    /// bytes it took, or `None` until more bytes are appended.
    ///
    /// # Errors
    /// The bytes are no RESP or above a limit. After an error every further call returns that error.
    pub fn decode(&mut self, input: &[u8]) -> Result<Option<(Value, usize)>, DecodeError> {
        loop {
            let event = match self.events.next(input) {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(None),
                Err(error) => {
                    self.stack = Vec::new();
                    return Err(error);
                }
            };
            let mut value = self.take(event);
            for _ in 0..self.events.closed() {
                self.give(value.take());
                value = self.stack.pop().map(|(kind, values)| Value::of(kind, values));
            }
            if self.events.is_whole() {
                let consumed = self.events.consume();
                return Ok(value.map(|value| (value, consumed)));
            }
            self.give(value);
        }
    }

    /// The value that an event is; an aggregate goes onto the stack.
    fn take(&mut self, event: Event) -> Option<Value> {
        match event {
            Event::Open { kind, .. } => self.stack.push((kind, Vec::new())),
            Event::Bulk(bytes)
            | Event::Part(bytes)
            | Event::BlobError(bytes)
            | Event::Verbatim { text: bytes, .. } => self.events.note_looked_at(bytes.len()),
            _ => {}
        }
        Value::of_leaf(event)
    }

    fn give(&mut self, value: Option<Value>) {
        if let (Some(value), Some((_, values))) = (value, self.stack.last_mut()) {
            values.push(value);
        }
    }

    /// Bytes whose value was looked at since the beginning, repetitions counted.
    #[cfg(test)]
    pub(super) fn looked_at(&self) -> u64 {
        self.events.looked_at()
    }

    /// Values for which there is room on the heap now.
    #[cfg(test)]
    pub(super) fn held_values(&self) -> usize {
        let values = self.stack.iter().map(|(_, values)| values.capacity()).sum::<usize>();
        self.events.held_frames() + self.stack.capacity() + values
    }
}

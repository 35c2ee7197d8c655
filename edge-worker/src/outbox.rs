//! What JavaScript is to do, as bytes: messages one after the other, each
//!
//! ```text
//!  kind u8 | seat u32 | length u32 | so many bytes        all little-endian
//! ```

use edgecask_core::rest::Response;

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Send these bytes to the seat's socket.
    Send = 1,
    /// Close the seat's socket with this code (u16), reason behind it.
    Close = 2,
    /// Keep these bytes with the seat's socket.
    Attach = 3,
    /// Answer the seat's request: status u16, whether events follow u8, number of fields u8, each name and value with a
    /// length u16 before it, and the body.
    Respond = 4,
    /// Send these events to the seat's request.
    Events = 5,
    /// The seat's events end.
    End = 6,
    /// Set the object's alarm to this time (u64 milliseconds), or take it back (0).
    Alarm = 7,
}

/// Messages that were not handed over yet.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
}

impl Outbox {
    /// Puts a message in.
    pub fn put(&mut self, kind: Kind, seat: u32, parts: &[&[u8]]) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(&seat.to_le_bytes());
        // A message is bounded by what one event may answer.
        self.bytes.extend_from_slice(&(len as u32).to_le_bytes());
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
    }

    /// Puts a response in.
    pub fn respond(&mut self, seat: u32, response: &Response, is_stream: bool) {
        let mut head = response.status.to_le_bytes().to_vec();
        head.push(u8::from(is_stream));
        head.push(response.headers.len() as u8);
        for text in response.headers.iter().flat_map(|(name, value)| [*name, value.as_str()]) {
            head.extend_from_slice(&(text.len() as u16).to_le_bytes());
            head.extend_from_slice(text.as_bytes());
        }
        self.put(Kind::Respond, seat, &[&head, &response.body]);
    }

    /// Bytes of all messages.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Takes all messages.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

//! Messages to JavaScript as bytes, one after the other, each
//!
//! ```text
//!  kind u8 | connection u32 | length u32 | so many bytes        all little-endian
//! ```

use edgecask_core::rest::Response;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Send these bytes to the connection's socket.
    Send = 1,
    /// Close the connection's socket with this code (u16), reason behind it.
    Close = 2,
    /// Attach these bytes to the connection's socket.
    Attach = 3,
    /// Answer the connection's request: status u16, whether events follow u8, number of fields u8, each name and value with
    /// a length u16 before it, and the body.
    Respond = 4,
    /// Send these events to the connection's request.
    Events = 5,
    /// The events of the connection's request end.
    End = 6,
    /// Set the object's alarm to this time (u64 milliseconds), or delete it (0).
    Alarm = 7,
}

/// Messages that are not delivered yet.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
}

impl Outbox {
    /// Adds a message.
    pub fn put(&mut self, kind: Kind, connection: u32, parts: &[&[u8]]) {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        self.bytes.push(kind as u8);
        self.bytes.extend_from_slice(&connection.to_le_bytes());
        // A message is bounded by the replies that one event may make.
        self.bytes.extend_from_slice(&(len as u32).to_le_bytes());
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
    }

    /// Adds a response.
    pub fn respond(&mut self, connection: u32, response: &Response, is_stream: bool) {
        let mut head = response.status.to_le_bytes().to_vec();
        head.push(u8::from(is_stream));
        head.push(response.headers.len() as u8);
        for text in response.headers.iter().flat_map(|(name, value)| [*name, value.as_str()]) {
            head.extend_from_slice(&(text.len() as u16).to_le_bytes());
            head.extend_from_slice(text.as_bytes());
        }
        self.put(Kind::Respond, connection, &[&head, &response.body]);
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

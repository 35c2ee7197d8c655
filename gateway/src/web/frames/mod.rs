//! Bounds on the frames that a peer sends over a WebSocket, checked before the library sees them.
//!
//! The library bounds frames and messages. It does not bound how many fragments a message comes in, how many pings are
//! sent, or how much an unauthenticated peer may make it buffer. [`FrameWatch`] follows the heads of the frames in the received bytes
//! (RFC 6455, section 5.2) and refuses frames that cost much and carry little. It changes nothing.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::{
    CONTROL_FRAMES_MAX, CONTROL_PERIOD, FRAGMENT_MEAN_MIN_BYTES, FRAGMENTS_FREE, MESSAGE_MAX_BYTES,
    UNAUTHENTICATED_MESSAGE_MAX_BYTES,
};

/// Two bytes, a length of up to eight, and a mask of four.
const HEAD_MAX_BYTES: usize = 14;

/// The bound that a peer has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// More bytes in one message than the peer may send.
    #[error("message too long")]
    Message,
    /// A message in too many, too small fragments.
    #[error("too many fragments")]
    Fragments,
    /// Too many pings, pongs or empty messages.
    #[error("too many control frames")]
    Controls,
}

/// Follows the frames of one connection.
#[derive(Debug)]
pub struct FrameWatch {
    head: [u8; HEAD_MAX_BYTES],
    /// Bytes of `head` that have come.
    have: usize,
    /// Payload bytes of the present frame that are still to come.
    rest: u64,
    is_control: bool,
    is_final: bool,
    /// Payload bytes and unfinished fragments of the present message.
    message: u64,
    fragments: u64,
    message_max: u64,
    controls: u32,
    controls_since: Option<Instant>,
    /// Frames after which the library returns something: whole messages and control frames.
    finished: u64,
    longest: u64,
}

impl Default for FrameWatch {
    fn default() -> FrameWatch {
        FrameWatch {
            head: [0; HEAD_MAX_BYTES],
            have: 0,
            rest: 0,
            is_control: false,
            is_final: false,
            message: 0,
            fragments: 0,
            message_max: UNAUTHENTICATED_MESSAGE_MAX_BYTES,
            controls: 0,
            controls_since: None,
            finished: 0,
            longest: 0,
        }
    }
}

impl FrameWatch {
    /// Lets an authenticated peer send longer messages.
    pub fn set_authenticated(&mut self) {
        self.message_max = MESSAGE_MAX_BYTES;
    }

    /// How many messages, control frames included, have come whole, if nothing has come of the next one.
    pub fn whole_messages(&self) -> Option<u64> {
        (self.have == 0 && self.rest == 0 && self.fragments == 0).then_some(self.finished)
    }

    /// Length of the longest message since the last call, in bytes.
    pub fn take_longest(&mut self) -> u64 {
        std::mem::take(&mut self.longest)
    }

    /// Follows received bytes.
    ///
    /// # Errors
    /// The peer has broken a bound and must be disconnected.
    pub fn see(&mut self, mut bytes: &[u8], now: Instant) -> Result<(), Excess> {
        while let Some((first, others)) = bytes.split_first() {
            if self.rest > 0 {
                let count = self.rest.min(bytes.len() as u64);
                // At most the length of the slice.
                bytes = bytes.get(count as usize..).unwrap_or_default();
                self.rest -= count;
                self.payload(count)?;
            } else {
                if let Some(byte) = self.head.get_mut(self.have) {
                    *byte = *first;
                }
                self.have += 1;
                bytes = others;
                if self.have == self.head_len() {
                    self.have = 0;
                    self.begin(now)?;
                }
            }
            if self.have == 0 && self.rest == 0 {
                self.end();
            }
        }
        Ok(())
    }

    /// How many bytes the head has, as far as is known.
    fn head_len(&self) -> usize {
        if self.have < 2 {
            return 2;
        }
        let length = match self.head[1] & 0x7f {
            127 => 8,
            126 => 2,
            _ => 0,
        };
        2 + length + if self.head[1] & 0x80 == 0 { 0 } else { 4 }
    }

    /// A frame begins.
    fn begin(&mut self, now: Instant) -> Result<(), Excess> {
        let [first, second, ..] = self.head;
        self.is_final = first & 0x80 != 0;
        self.is_control = first & 0x08 != 0;
        let long =
            |count: usize| self.head[2..2 + count].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        self.rest = match second & 0x7f {
            127 => long(8),
            126 => long(2),
            length => u64::from(length),
        };
        let is_empty_message = self.is_final && self.rest == 0 && self.message == 0;
        if self.is_control || is_empty_message {
            return self.count_control(now);
        }
        if !self.is_final {
            self.fragments += 1;
        }
        let allowed = FRAGMENTS_FREE + self.message / FRAGMENT_MEAN_MIN_BYTES;
        if self.fragments > allowed { Err(Excess::Fragments) } else { Ok(()) }
    }

    /// Payload has come.
    fn payload(&mut self, count: u64) -> Result<(), Excess> {
        if !self.is_control {
            self.message += count;
            if self.message > self.message_max {
                return Err(Excess::Message);
            }
        }
        Ok(())
    }

    fn count_control(&mut self, now: Instant) -> Result<(), Excess> {
        let begin = *self.controls_since.get_or_insert(now);
        if now.saturating_duration_since(begin) > CONTROL_PERIOD {
            self.controls_since = Some(now);
            self.controls = 0;
        }
        self.controls += 1;
        if self.controls > CONTROL_FRAMES_MAX { Err(Excess::Controls) } else { Ok(()) }
    }

    /// A frame is over.
    fn end(&mut self) {
        if self.is_control {
            self.finished += 1;
        } else if self.is_final {
            self.finished += 1;
            self.longest = self.longest.max(self.message);
            (self.message, self.fragments) = (0, 0);
        }
    }
}

/// A stream whose received bytes are watched.
#[derive(Debug)]
pub struct Watched<S> {
    stream: S,
    /// The frames so far.
    pub watch: FrameWatch,
}

impl<S> Watched<S> {
    /// A stream on which `already` has been received; the caller passes these bytes to the library.
    ///
    /// # Errors
    /// These bytes break a bound.
    pub fn new(stream: S, already: &[u8]) -> Result<Watched<S>, Excess> {
        let mut watch = FrameWatch::default();
        watch.see(already, Instant::now())?;
        Ok(Watched { stream, watch })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let received = buffer.filled().get(before..).unwrap_or_default();
        Poll::Ready(self.watch.see(received, Instant::now()).map_err(io::Error::other))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;

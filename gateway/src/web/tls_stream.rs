//! RESP under TLS: the decrypted bytes are those of the session.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use edgecask_core::resp::Reply;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection::{CloseReason, Received, Transport, poll_piece};
use crate::limits::{READ_BUFFER_BYTES, TLS_READ_BYTES};

/// A stream under TLS as a transport.
pub struct TlsStream<S> {
    stream: S,
    /// Bytes on their way to the stream, and how many of them the stream has taken.
    piece: Vec<u8>,
    taken: usize,
}

impl<S> TlsStream<S> {
    /// The transport of a stream after its handshake.
    pub fn new(stream: S) -> TlsStream<S> {
        TlsStream { stream, piece: Vec::new(), taken: 0 }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport for TlsStream<S> {
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        let mut received = None;
        let mut count = 0;
        while count < READ_BUFFER_BYTES {
            let mut space = [0; TLS_READ_BYTES];
            let mut buffer = ReadBuf::new(&mut space);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Pending => break,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                // Requests that came before the end still run; the next call finds the end again.
                Poll::Ready(Ok(())) if buffer.filled().is_empty() => {
                    return Poll::Ready(Ok(received.unwrap_or(Received::End)));
                }
                Poll::Ready(Ok(())) => {
                    input.extend_from_slice(buffer.filled());
                    count += buffer.filled().len();
                    received = Some(Received::Input);
                }
            }
        }
        received.map_or(Poll::Pending, |received| Poll::Ready(Ok(received)))
    }

    fn poll_send(&mut self, context: &mut Context<'_>, reply: &mut Reply) -> Poll<io::Result<()>> {
        loop {
            while let Some(rest) = self.piece.get(self.taken..).filter(|rest| !rest.is_empty()) {
                let count = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
                if count == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.taken += count;
            }
            self.taken = 0;
            self.piece.clear();
            if !ready!(poll_piece(context, reply, &mut self.piece))? {
                self.piece.shrink_to(TLS_READ_BYTES);
                return Pin::new(&mut self.stream).poll_flush(context);
            }
        }
    }

    fn ping(&mut self, _: &mut Context<'_>) -> bool {
        false
    }

    fn set_authenticated(&mut self) {}

    fn poll_close(&mut self, context: &mut Context<'_>, _: CloseReason) -> Poll<()> {
        Pin::new(&mut self.stream).poll_shutdown(context).map(drop)
    }
}

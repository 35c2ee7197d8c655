//! RESP over WebSocket: the messages of each direction, one behind the other, are the bytes of a session.
//!
//! Boundaries of messages and fragments mean nothing. Text messages are accepted as bytes; sent messages are binary. The
//! library (tungstenite) speaks the protocol; [`super::frames`] enforces the bounds that the library lacks.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use edgecask_core::resp::Reply;
use futures_util::{FutureExt, Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::connection::{CloseReason, Received, Transport, poll_piece};
use super::frames::{Excess, Watched};
use crate::limits::{
    MESSAGE_MAX_BYTES, STORED_PIECE_BYTES, WEBSOCKET_KEPT_BYTES, WEBSOCKET_READ_BYTES,
    WEBSOCKET_ROUND_MESSAGES,
};

/// One WebSocket after its handshake.
pub struct WebSocket<S> {
    /// None only while it is being replaced.
    socket: Option<WebSocketStream<Watched<S>>>,
    /// Messages that the library has returned on this connection.
    returned: u64,
    /// A message longer than [`WEBSOCKET_KEPT_BYTES`] has passed since the buffers were last freed.
    has_grown: bool,
    is_closing: bool,
}

fn config() -> WebSocketConfig {
    let longest = usize::try_from(MESSAGE_MAX_BYTES).ok();
    WebSocketConfig::default()
        .read_buffer_size(WEBSOCKET_READ_BYTES)
        .write_buffer_size(0)
        .max_message_size(longest)
        .max_frame_size(longest)
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocket<S> {
    /// A WebSocket on a stream on which `already` came behind the handshake.
    ///
    /// # Errors
    /// These bytes break a bound of [`super::frames`].
    pub async fn new(stream: S, already: &[u8]) -> Result<WebSocket<S>, Excess> {
        let watched = Watched::new(stream, already)?;
        let socket =
            WebSocketStream::from_partially_read(watched, already.to_vec(), Role::Server, Some(config()))
                .await;
        Ok(WebSocket { socket: Some(socket), returned: 0, has_grown: false, is_closing: false })
    }

    fn socket(&mut self) -> io::Result<Pin<&mut WebSocketStream<Watched<S>>>> {
        self.socket.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Frees the buffers that a long message has made large. The library never does, so a new WebSocket takes over the stream
    /// between two messages, when the buffers are empty.
    fn shrink(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        let watch = &mut socket.get_mut().watch;
        self.has_grown |= watch.take_longest() > WEBSOCKET_KEPT_BYTES;
        if !self.has_grown || watch.whole_messages() != Some(self.returned) {
            return;
        }
        self.has_grown = false;
        let stream = self.socket.take().map(WebSocketStream::into_inner);
        self.socket = stream.and_then(|stream| {
            WebSocketStream::from_raw_socket(stream, Role::Server, Some(config())).now_or_never()
        });
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport for WebSocket<S> {
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        let mut received = None;
        for _ in 0..WEBSOCKET_ROUND_MESSAGES {
            let bytes = match self.socket()?.poll_next(context) {
                Poll::Pending => break,
                Poll::Ready(None | Some(Ok(Message::Close(_)))) => {
                    // Requests that came before the end still run; the next call finds the end again.
                    return Poll::Ready(Ok(received.unwrap_or(Received::End)));
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(io_error(error))),
                Poll::Ready(Some(Ok(message))) => {
                    self.returned += 1;
                    match message {
                        Message::Binary(bytes) => bytes,
                        Message::Text(text) => text.into(),
                        _ => {
                            received.get_or_insert(Received::Control);
                            continue;
                        }
                    }
                }
            };
            input.extend_from_slice(&bytes);
            received = Some(Received::Input);
            // A long message is enough for one round.
            if bytes.len() as u64 > WEBSOCKET_KEPT_BYTES {
                break;
            }
        }
        match received {
            Some(received) => Poll::Ready(Ok(received)),
            None => {
                self.shrink();
                Poll::Pending
            }
        }
    }

    fn poll_send(&mut self, context: &mut Context<'_>, reply: &mut Reply) -> Poll<io::Result<()>> {
        loop {
            ready!(self.socket()?.poll_ready(context)).map_err(io_error)?;
            // With capacity, so that the session keeps its buffer for the next reply.
            let mut piece = Vec::with_capacity(reply.len().min(STORED_PIECE_BYTES));
            if !ready!(poll_piece(context, reply, &mut piece))? {
                break;
            }
            self.has_grown |= piece.len() as u64 > WEBSOCKET_KEPT_BYTES;
            self.socket()?.start_send(Message::binary(piece)).map_err(io_error)?;
        }
        self.socket()?.poll_flush(context).map_err(io_error)
    }

    fn ping(&mut self, context: &mut Context<'_>) -> bool {
        let Ok(mut socket) = self.socket() else { return true };
        // A peer whose buffers are full cannot answer a ping either.
        if let Poll::Ready(Ok(())) = socket.as_mut().poll_ready(context) {
            let _ = socket.as_mut().start_send(Message::Ping(Default::default()));
            let _ = socket.poll_flush(context);
        }
        true
    }

    fn set_authenticated(&mut self) {
        if let Some(socket) = &mut self.socket {
            socket.get_mut().watch.set_authenticated();
        }
    }

    fn poll_close(&mut self, context: &mut Context<'_>, reason: CloseReason) -> Poll<()> {
        let is_first = !std::mem::replace(&mut self.is_closing, true);
        let Ok(mut socket) = self.socket() else { return Poll::Ready(()) };
        if is_first {
            let (code, text) = match reason {
                CloseReason::Normal => (CloseCode::Normal, ""),
                CloseReason::GoingAway => (CloseCode::Away, "the server ends"),
                CloseReason::TooLong => (CloseCode::Size, "message too long"),
                CloseReason::NotText => (CloseCode::Invalid, "a text message that is not UTF-8"),
                CloseReason::Violation => (CloseCode::Policy, "protocol violation"),
                CloseReason::Aborted => (CloseCode::Policy, "too late"),
            };
            let frame = CloseFrame { code, reason: text.into() };
            // It fails if the peer has sent a close frame, which the library has answered.
            if socket.as_mut().start_send(Message::Close(Some(frame))).is_err()
                && reason != CloseReason::Normal
            {
                return Poll::Ready(());
            }
        }
        if ready!(socket.as_mut().poll_flush(context)).is_err() {
            return Poll::Ready(());
        }
        // Reads until the peer has answered: unread bytes would make the system reset the connection, which drops the
        // last replies.
        loop {
            match ready!(socket.as_mut().poll_next(context)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Poll::Ready(()),
            }
        }
    }
}

/// The library's error as one of I/O, whose kind gives the close reason.
fn io_error(error: Error) -> io::Error {
    match error {
        Error::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Excess>()) {
            Some(Excess::Message) => io::Error::new(io::ErrorKind::FileTooLarge, error),
            Some(_) => io::Error::new(io::ErrorKind::InvalidData, error),
            None => error,
        },
        Error::Capacity(error) => io::Error::new(io::ErrorKind::FileTooLarge, error),
        Error::Utf8(text) => io::Error::new(io::ErrorKind::InvalidInput, text),
        error @ Error::Protocol(_) => io::Error::new(io::ErrorKind::InvalidData, error),
        error => io::Error::other(error),
    }
}

//! RESP over WebSocket: the messages of each direction, one behind the other, are the bytes of a session.
//!
//! Where messages and fragments begin and end means nothing. Text is taken for the bytes it is made of; what is sent is binary.
//! The library (tungstenite) speaks the protocol; [`super::frames`] bounds what it does not.

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

use super::connection::{Farewell, Received, Wire};
use super::frames::{Excess, Watched};
use crate::limits::{
    MESSAGE_MAX_BYTES, WEBSOCKET_KEPT_BYTES, WEBSOCKET_READ_BYTES, WEBSOCKET_ROUND_MESSAGES,
};
use crate::sendfile::take_piece;

/// One WebSocket after its handshake.
pub struct WebSocket<S> {
    /// None only while it is being replaced.
    socket: Option<WebSocketStream<Watched<S>>>,
    /// Messages that the library has returned since the watch began.
    returned: u64,
    /// A longer message has come or gone since the buffers were last given back.
    is_swollen: bool,
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
    pub async fn new(stream: S, already: &[u8]) -> Result<WebSocket<S>, Excess> {
        let watched = Watched::new(stream, already)?;
        let socket =
            WebSocketStream::from_partially_read(watched, already.to_vec(), Role::Server, Some(config()))
                .await;
        Ok(WebSocket { socket: Some(socket), returned: 0, is_swollen: false, is_closing: false })
    }

    fn socket(&mut self) -> io::Result<Pin<&mut WebSocketStream<Watched<S>>>> {
        self.socket.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// The library never gives buffers back that a long message has made large. So between messages, when nothing is
    /// in them, a new one takes over the stream.
    fn shrink(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        let watch = &mut socket.get_mut().watch;
        self.is_swollen |= watch.take_longest() > WEBSOCKET_KEPT_BYTES;
        if !self.is_swollen || watch.whole_messages() != Some(self.returned) {
            return;
        }
        self.is_swollen = false;
        let stream = self.socket.take().map(WebSocketStream::into_inner);
        self.socket = stream.and_then(|stream| {
            WebSocketStream::from_raw_socket(stream, Role::Server, Some(config())).now_or_never()
        });
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire for WebSocket<S> {
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>> {
        let mut received = None;
        for _ in 0..WEBSOCKET_ROUND_MESSAGES {
            let bytes = match self.socket()?.poll_next(context) {
                Poll::Pending => break,
                Poll::Ready(None | Some(Ok(Message::Close(_)))) => {
                    // What came before the end still runs; the next call finds the end again.
                    return Poll::Ready(Ok(received.unwrap_or(Received::End)));
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(told(error))),
                Poll::Ready(Some(Ok(message))) => {
                    self.returned += 1;
                    match message {
                        Message::Binary(bytes) => bytes,
                        Message::Text(text) => text.into(),
                        _ => {
                            received.get_or_insert(Received::Sign);
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
            ready!(self.socket()?.poll_ready(context)).map_err(told)?;
            let mut piece = Vec::new();
            if !take_piece(reply, &mut piece)? {
                break;
            }
            self.is_swollen |= piece.len() as u64 > WEBSOCKET_KEPT_BYTES;
            self.socket()?.start_send(Message::binary(piece)).map_err(told)?;
        }
        self.socket()?.poll_flush(context).map_err(told)
    }

    fn ping(&mut self, context: &mut Context<'_>) -> bool {
        let Ok(mut socket) = self.socket() else { return true };
        // A peer whose buffers are full is silent either way.
        if let Poll::Ready(Ok(())) = socket.as_mut().poll_ready(context) {
            let _ = socket.as_mut().start_send(Message::Ping(Default::default()));
            let _ = socket.poll_flush(context);
        }
        true
    }

    fn trust(&mut self) {
        if let Some(socket) = &mut self.socket {
            socket.get_mut().watch.trust();
        }
    }

    fn poll_close(&mut self, context: &mut Context<'_>, farewell: Farewell) -> Poll<()> {
        let is_first = !std::mem::replace(&mut self.is_closing, true);
        let Ok(mut socket) = self.socket() else { return Poll::Ready(()) };
        if is_first {
            let (code, reason) = match farewell {
                Farewell::Normal => (CloseCode::Normal, ""),
                Farewell::GoingAway => (CloseCode::Away, "the server ends"),
                Farewell::TooLong => (CloseCode::Size, "message too long"),
                Farewell::Violation => (CloseCode::Policy, "protocol violation"),
                Farewell::Cut => (CloseCode::Policy, "too late"),
            };
            let frame = CloseFrame { code, reason: reason.into() };
            // It fails if the peer has said goodbye, which the library has answered.
            if socket.as_mut().start_send(Message::Close(Some(frame))).is_err()
                && farewell != Farewell::Normal
            {
                return Poll::Ready(());
            }
        }
        if ready!(socket.as_mut().poll_flush(context)).is_err() {
            return Poll::Ready(());
        }
        // Until the peer has answered: what it has sent meanwhile would make the system reset the connection, and the
        // last replies with it.
        loop {
            match ready!(socket.as_mut().poll_next(context)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Poll::Ready(()),
            }
        }
    }
}

/// The library's error as one of I/O, of a kind that says what to answer.
fn told(error: Error) -> io::Error {
    match error {
        Error::Io(error) => match error.get_ref().and_then(|inner| inner.downcast_ref::<Excess>()) {
            Some(Excess::Message) => io::Error::new(io::ErrorKind::FileTooLarge, error),
            Some(_) => io::Error::new(io::ErrorKind::InvalidData, error),
            None => error,
        },
        Error::Capacity(error) => io::Error::new(io::ErrorKind::FileTooLarge, error),
        error @ (Error::Protocol(_) | Error::Utf8(_)) => io::Error::new(io::ErrorKind::InvalidData, error),
        error => io::Error::other(error),
    }
}

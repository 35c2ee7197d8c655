//! RESP over WebSocket on native machines: the messages of each direction, one after the other, are the byte stream.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Bytes, Error as WsError, Message, protocol::WebSocketConfig};

use super::Transport;
use crate::error::{Error, Result};
use crate::options::Options;

/// A message is cut before it has more bytes.
const MESSAGE_BYTES: usize = 64 * 1024;

/// The library's own buffers, which it keeps for every connection.
const BUFFER_BYTES: usize = 16 * 1024;

struct Messages {
    socket: WebSocketStream<Box<dyn Transport>>,
    /// What has come and was not read.
    came: Bytes,
}

/// Connects to a `ws://` or `wss://` URL.
pub(crate) async fn connect(url: &str, options: &Options) -> Result<Box<dyn Transport>> {
    let invalid = |why: String| Error::Invalid(format!("{url}: {why}").into());
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or(authority);
    let (host, port) = crate::url::host_and_port(authority, if options.tls { 443 } else { 80 })?;
    let stream = super::tcp::connect_tcp(&host, port).await?;
    let stream = super::tcp::encrypted(stream, &host, options).await?;
    let config = WebSocketConfig::default()
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(0)
        .max_message_size(None)
        .max_frame_size(None);
    let (socket, _response) = tokio_tungstenite::client_async_with_config(url, stream, Some(config))
        .await
        .map_err(|error| match error {
            WsError::Io(error) => Error::from(error),
            other => invalid(other.to_string()),
        })?;
    Ok(Box::new(Messages { socket, came: Bytes::new() }))
}

fn as_io(error: WsError) -> io::Error {
    match error {
        WsError::Io(error) => error,
        WsError::ConnectionClosed | WsError::AlreadyClosed => io::ErrorKind::ConnectionReset.into(),
        other => io::Error::other(other),
    }
}

impl AsyncRead for Messages {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context, into: &mut ReadBuf) -> Poll<io::Result<()>> {
        while self.came.is_empty() {
            match ready!(Pin::new(&mut self.socket).poll_next(cx)) {
                Some(Ok(Message::Binary(bytes))) => self.came = bytes,
                Some(Ok(Message::Text(text))) => self.came = text.into(),
                // Pings are answered by the library.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Err(as_io(error))),
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = self.came.len().min(into.remaining());
        into.put_slice(&self.came.split_to(count));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Messages {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(Pin::new(&mut self.socket).poll_ready(cx)).map_err(as_io)?;
        let count = bytes.len().min(MESSAGE_BYTES);
        let message = Message::Binary(Bytes::copy_from_slice(bytes.get(..count).unwrap_or_default()));
        Pin::new(&mut self.socket).start_send(message).map_err(as_io)?;
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx).map_err(as_io)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_close(cx).map_err(as_io)
    }
}

//! Byte streams to a server: what a connection is made of, whatever lies beneath.
//!
//! A transport is tokio's pair of traits and nothing else, so that one driver serves a socket, TLS, a WebSocket (whose
//! messages are cut anywhere), and a session of a store in this process.

#[cfg(not(target_family = "wasm"))]
mod address;
#[cfg(all(feature = "embedded", not(target_family = "wasm")))]
mod embedded;
#[cfg(target_family = "wasm")]
mod opener;
#[cfg(not(target_family = "wasm"))]
mod sentinel;
#[cfg(target_family = "wasm")]
mod socket;
#[cfg(not(target_family = "wasm"))]
mod tcp;
#[cfg(all(feature = "tls", not(target_family = "wasm")))]
mod tls;
#[cfg(all(feature = "web-socket", not(target_family = "wasm")))]
mod web_socket;
#[cfg(not(target_family = "wasm"))]
pub(crate) use address::connect;
#[cfg(target_family = "wasm")]
pub use opener::Opener;
#[cfg(target_family = "wasm")]
pub(crate) use socket::connect;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream.
#[cfg(not(target_family = "wasm"))]
pub trait Transport: AsyncRead + AsyncWrite + Unpin + Send {}
#[cfg(not(target_family = "wasm"))]
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Transport for T {}

/// A byte stream. There are no threads between which it could be sent.
#[cfg(target_family = "wasm")]
pub trait Transport: AsyncRead + AsyncWrite + Unpin {}
#[cfg(target_family = "wasm")]
impl<T: AsyncRead + AsyncWrite + Unpin> Transport for T {}

/// Reads up to `most` bytes once to the end of `buffer`, which has room for them.
pub(crate) fn poll_read_into(
    stream: &mut Box<dyn Transport>,
    cx: &mut Context,
    buffer: &mut Vec<u8>,
    most: usize,
) -> Poll<io::Result<usize>> {
    use bytes::BufMut;
    tokio_util::io::poll_read_buf(Pin::new(stream), cx, &mut buffer.limit(most))
}

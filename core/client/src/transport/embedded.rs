//! A session of a store in this process as a byte stream. It runs in the thread that polls it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use edgecask::embedded::{Embedded, EmbeddedConnection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::limits::INPUT_BYTES;

pub(crate) struct InProcess {
    connection: EmbeddedConnection,
    /// Replies that were not read, from `read` on.
    came: Vec<u8>,
    read: usize,
}

/// A new connection of a store.
pub(crate) fn connect(store: &Embedded) -> InProcess {
    InProcess { connection: store.connect(), came: Vec::new(), read: 0 }
}

impl AsyncRead for InProcess {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context, into: &mut ReadBuf) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.read >= this.came.len() {
            this.came.clear();
            if this.came.capacity() > INPUT_BYTES {
                this.came.shrink_to(INPUT_BYTES);
            }
            this.read = 0;
            ready!(this.connection.poll_replies(cx, &mut this.came))?;
        }
        let rest = this.came.get(this.read..).unwrap_or_default();
        let count = rest.len().min(into.remaining());
        into.put_slice(rest.get(..count).unwrap_or_default());
        this.read += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for InProcess {
    fn poll_write(self: Pin<&mut Self>, _cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().connection.write(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

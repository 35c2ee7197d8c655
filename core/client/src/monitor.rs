//! MONITOR: every request that the server runs, as a stream.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use edgecask_core::resp::Event;
use futures_core::Stream;

use crate::client::Client;
use crate::connector::Connector;
use crate::error::{Error, Result, ServerError};
use crate::link::{Link, Listener, OwnLink};
use crate::queue::{Next, Queue};
use crate::reply::ReplyReader;
use crate::words::Words;

/// What a monitor sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A request as the server writes it: the time, database and address, and the words in quotes.
    Request(String),
    /// So many requests were dropped because the reader was slow.
    Lost(u64),
    /// The connection was lost and is there again.
    Reconnected,
}

/// A stream of what the server runs, over a connection of its own, which ends when it is dropped.
pub struct Monitor {
    _link: OwnLink,
    queue: Arc<Queue<Result<Observed>>>,
}

struct Lines {
    queue: Arc<Queue<Result<Observed>>>,
    was_connected: parking_lot::Mutex<bool>,
}

impl Listener for Lines {
    fn pushed(&self, message: &[u8]) {
        match ReplyReader::new(message).next_event() {
            Ok(Event::Simple(b"OK")) => {}
            Ok(Event::Simple(line)) => {
                let text = String::from_utf8_lossy(line).into_owned();
                self.queue.push(Ok(Observed::Request(text)), line.len());
            }
            Ok(Event::Error(text)) => {
                self.queue.push(Err(Error::Server(ServerError::new(text))), 0);
                self.queue.close();
            }
            _ => {}
        }
    }

    fn connected(&self, link: &Link) {
        if std::mem::replace(&mut *self.was_connected.lock(), true) {
            self.queue.push(Ok(Observed::Reconnected), 0);
        }
        let mut bytes = Vec::new();
        Words::new("MONITOR").write_to(&mut bytes);
        link.send(&bytes);
    }

    fn ended(&self, error: &Error) {
        self.queue.push(Err(error.clone()), 0);
        self.queue.close();
    }
}

impl Client {
    /// Every request that the server runs from now on.
    pub fn monitor(&self) -> Monitor {
        let options = Arc::new(self.options().clone());
        let queue = Arc::new(Queue::new(options.subscription_max));
        let lines = Lines { queue: queue.clone(), was_connected: parking_lot::Mutex::new(false) };
        let link = Link::for_listener(Arc::new(lines), options.is_embedded());
        Monitor { _link: OwnLink::start(link, Connector::new(options).patient()), queue }
    }
}

impl Monitor {
    /// What comes next; none behind an error.
    ///
    /// # Errors
    /// The server refuses it.
    pub async fn next(&mut self) -> Option<Result<Observed>> {
        poll_fn(|cx| self.poll_observed(cx)).await
    }

    fn poll_observed(&mut self, cx: &mut Context) -> Poll<Option<Result<Observed>>> {
        self.queue.poll_next(cx).map(|next| match next {
            Next::Item(observed) => Some(observed),
            Next::Lost(count) => Some(Ok(Observed::Lost(count))),
            Next::End => None,
        })
    }
}

impl Stream for Monitor {
    type Item = Result<Observed>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Option<Self::Item>> {
        self.poll_observed(cx)
    }
}

//! A request that has not been sent, with the type of its reply; awaited if it stands on a client or a connection.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::arg::{ToArg, ToArgs};
use crate::client::Client;
use crate::connection::Connection;
use crate::error::{Error, Result};
use crate::link::{Answer, Link, Outgoing, RoundTrip, Sink};
use crate::options::millis;
use crate::pool::{Acquire, Checkout, Pool};
use crate::reply::{FromReply, read};
use crate::words::{Words, keep_buffer, spare_buffer};

/// How a request waits for its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// For the time that every request has.
    Usual,
    /// For this time.
    Millis(u64),
    /// It may block the connection, for this time and a margin; `u64::MAX` is for ever.
    Blocking(u64),
}

impl Wait {
    /// A command that may block for so many seconds; 0 is for ever.
    pub(crate) fn seconds(seconds: f64) -> Wait {
        let is_time = seconds > 0.0 && seconds.is_finite();
        // A time beyond what fits is for ever, and so is what the server will refuse.
        Wait::Blocking(if is_time { (seconds * 1000.0).ceil() as u64 } else { u64::MAX })
    }

    /// A command that may block for so many milliseconds; 0 is for ever.
    pub(crate) fn blocking_ms(milliseconds: i64) -> Wait {
        Wait::Blocking(u64::try_from(milliseconds).ok().filter(|time| *time > 0).unwrap_or(u64::MAX))
    }
}

/// A command with its arguments. `On` is where it runs: `&Client` or `&Connection`, which make it a future, or [`Build`](crate::Build), for a
/// pipeline or a transaction. `Kind` is the command and decides which options it has; `Reply` is the type of its reply.
///
/// Nothing is sent before it is awaited.
#[must_use = "a request is sent when it is awaited"]
pub struct Request<On, Kind, Reply> {
    on: On,
    words: Words,
    /// Where options go that stand before the last arguments.
    mark: usize,
    wait: Wait,
    is_large: bool,
    kind: PhantomData<fn() -> (Kind, Reply)>,
}

/// The kind of requests that are made by name.
#[derive(Debug)]
pub enum Any {}

impl<On, Kind, Reply> Request<On, Kind, Reply> {
    pub(crate) fn new(on: On, words: Words) -> Self {
        let mark = words.mark();
        Request { on, words, mark, wait: Wait::Usual, is_large: false, kind: PhantomData }
    }

    /// The same request with another type of reply: any that its reply can be read as.
    pub fn reply<T: FromReply>(self) -> Request<On, Kind, T> {
        self.retyped()
    }

    /// The same request with another time-out than the client's.
    pub fn within(mut self, time: Duration) -> Self {
        self.wait = Wait::Millis(millis(time));
        self
    }

    /// Says that the reply will be large: the request then gets a connection of its own. A request that is large itself
    /// does so anyway.
    pub fn large(mut self) -> Self {
        self.is_large = true;
        self
    }

    /// The words of the request, the command's name first.
    pub fn words(&self) -> &Words {
        &self.words
    }

    pub(crate) fn retyped<T>(self) -> Request<On, Kind, T> {
        let Request { on, words, mark, wait, is_large, .. } = self;
        Request { on, words, mark, wait, is_large, kind: PhantomData }
    }

    pub(crate) fn with_arg(mut self, value: &(impl ToArg + ?Sized)) -> Self {
        self.words.arg(value);
        self
    }

    pub(crate) fn with_args(mut self, values: &(impl ToArgs + ?Sized)) -> Self {
        self.words.args(values);
        self
    }

    /// Options go to this place.
    pub(crate) fn marked(mut self, mark: usize) -> Self {
        self.mark = mark;
        self
    }

    /// An option, which stands behind the options before it.
    pub(crate) fn with_option(mut self, write: impl FnOnce(&mut Words)) -> Self {
        self.mark = self.words.insert(self.mark, write);
        self
    }

    /// An option at the end of the request, whose other options stand before needed arguments.
    pub(crate) fn with_last(mut self, write: impl FnOnce(&mut Words)) -> Self {
        write(&mut self.words);
        self
    }

    pub(crate) fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// For how many milliseconds it may block its connection.
    pub(crate) fn waits_for_ms(&self) -> u64 {
        if let Wait::Blocking(time_ms) = self.wait { time_ms } else { 0 }
    }

    pub(crate) fn into_words(self) -> Words {
        self.words
    }
}

impl<On, Reply> Request<On, Any, Reply> {
    /// Appends an argument.
    pub fn arg(self, value: impl ToArg) -> Self {
        self.with_arg(&value)
    }

    /// Appends arguments.
    pub fn args(self, values: impl ToArgs) -> Self {
        self.with_args(&values)
    }

    /// Appends words that are there already.
    pub(crate) fn with_words(mut self, words: &Words) -> Self {
        self.words.append(words);
        self
    }

    /// Says that the command may block for this time, so that it gets a connection of its own and the time to do so.
    pub fn blocking(self, time: Duration) -> Self {
        self.with_wait(Wait::Blocking(millis(time)))
    }
}

impl<On, Kind, Reply> fmt::Debug for Request<On, Kind, Reply> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let mut text = Vec::new();
        self.words.write_to(&mut text);
        write!(formatter, "Request({})", text.escape_ascii())
    }
}

/// The future of a request's reply.
///
/// Dropped before it is ready, it leaves nobody a wrong reply: on the shared connection the reply is read and dropped, a
/// connection of its own is closed. The command may run all the same.
#[must_use = "a request is sent when it is awaited"]
pub struct Response<'c, Reply> {
    stage: Stage<'c>,
    reply: PhantomData<fn() -> Reply>,
}

enum Stage<'c> {
    Shared(RoundTrip<&'c Link>),
    Waiting { acquire: Acquire, outgoing: Option<Outgoing>, timeout_ms: u64 },
    Own { trip: RoundTrip<Checkout> },
    Failed(Option<Error>),
}

impl<'c, Reply> Response<'c, Reply> {
    fn on_link(link: &'c Link, words: Words, timeout_ms: u64) -> Self {
        match Outgoing::request(words) {
            Ok(outgoing) => Self::new(Stage::Shared(RoundTrip::new(
                link,
                outgoing,
                Sink::Raw,
                spare_buffer(),
                timeout_ms,
            ))),
            Err(error) => Self::new(Stage::Failed(Some(error))),
        }
    }

    fn from_pool(pool: &std::sync::Arc<Pool>, words: Words, timeout_ms: u64) -> Self {
        match Outgoing::request(words) {
            Ok(outgoing) => {
                let acquire = pool.acquire(timeout_ms);
                Self::new(Stage::Waiting { acquire, outgoing: Some(outgoing), timeout_ms })
            }
            Err(error) => Self::new(Stage::Failed(Some(error))),
        }
    }

    fn new(stage: Stage<'c>) -> Self {
        Response { stage, reply: PhantomData }
    }

    fn poll_bytes(&mut self, cx: &mut Context) -> Poll<Result<Vec<u8>>> {
        loop {
            let trip = match &mut self.stage {
                Stage::Shared(trip) => Pin::new(trip).poll(cx),
                Stage::Own { trip } => Pin::new(trip).poll(cx),
                Stage::Waiting { acquire, outgoing, timeout_ms } => {
                    let checkout = match Pin::new(acquire).poll(cx) {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(checkout) => checkout?,
                    };
                    let Some(outgoing) = outgoing.take() else {
                        return Poll::Ready(Err(Error::Closed { may_have_run: false }));
                    };
                    let trip = RoundTrip::new(checkout, outgoing, Sink::Raw, spare_buffer(), *timeout_ms);
                    self.stage = Stage::Own { trip };
                    continue;
                }
                Stage::Failed(error) => {
                    let error = error.take().unwrap_or(Error::Closed { may_have_run: false });
                    return Poll::Ready(Err(error));
                }
            };
            return trip.map_ok(|(_, bytes)| bytes);
        }
    }
}

impl<Reply: FromReply> Future for Response<'_, Reply> {
    type Output = Result<Reply>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context) -> Poll<Result<Reply>> {
        self.poll_bytes(cx).map(|bytes| {
            let bytes = bytes?;
            let reply = read(&bytes);
            keep_buffer(bytes);
            reply
        })
    }
}

impl<'c, Kind, Reply: FromReply> IntoFuture for Request<&'c Client, Kind, Reply> {
    type Output = Result<Reply>;
    type IntoFuture = Response<'c, Reply>;

    fn into_future(self) -> Response<'c, Reply> {
        let client = self.on;
        match self.wait {
            Wait::Blocking(time_ms) => {
                let timeout_ms = time_ms.saturating_add(client.timeout_ms());
                Response::from_pool(client.blocking_pool(), self.words, timeout_ms)
            }
            wait => {
                let timeout_ms = if let Wait::Millis(time_ms) = wait { time_ms } else { client.timeout_ms() };
                let size_bytes = if self.is_large { usize::MAX } else { self.words.size_bytes() };
                if client.has_own_connection_for(size_bytes) {
                    Response::from_pool(client.pool(), self.words, timeout_ms)
                } else {
                    Response::on_link(client.link(), self.words, timeout_ms)
                }
            }
        }
    }
}

impl<'c, Kind, Reply: FromReply> IntoFuture for Request<&'c Connection, Kind, Reply> {
    type Output = Result<Reply>;
    type IntoFuture = Response<'c, Reply>;

    fn into_future(self) -> Response<'c, Reply> {
        let usual_ms = self.on.timeout_ms();
        let timeout_ms = match self.wait {
            Wait::Usual => usual_ms,
            Wait::Millis(time_ms) => time_ms,
            Wait::Blocking(time_ms) => time_ms.saturating_add(usual_ms),
        };
        Response::on_link(self.on.link(), self.words, timeout_ms)
    }
}

/// What a round trip gives for the body of a string: whether there is one.
pub(crate) fn body(answer: Answer, buffer: &[u8]) -> Result<bool> {
    match answer {
        Answer::Body => Ok(true),
        Answer::Null => Ok(false),
        Answer::Error => Err(Error::Server(crate::ServerError::new(buffer))),
        Answer::Raw => Err(Error::Type { expected: "a string".into(), found: "another reply".into() }),
    }
}

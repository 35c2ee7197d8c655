//! Several requests at once: pipelines, whose replies come together, and transactions, which happen together or not at all.

use std::future::Future;

use edgecask_core::resp::Event;

use crate::build::Build;
use crate::client::Client;
use crate::connection::Connection;
use crate::error::{Error, Result, ServerError};
use crate::link::{Link, Outgoing, RoundTrip, Sink};
use crate::reply::{FromReply, ReplyReader};
use crate::request::Request;
use crate::requests::Requests;
use crate::words::{Words, keep_buffer, spare_buffer};

/// Requests of any kinds, gathered one by one; it can be sent several times.
#[derive(Debug, Default)]
pub struct Pipeline {
    bytes: Vec<u8>,
    count: usize,
    blocking_ms: u64,
    invalid: Option<Error>,
}

impl Pipeline {
    /// One without requests.
    pub fn new() -> Pipeline {
        Pipeline::default()
    }

    /// Appends a request.
    pub fn add<Kind, Reply>(&mut self, request: Request<Build, Kind, Reply>) -> &mut Pipeline {
        match request.words().check() {
            Ok(()) => request.words().write_to(&mut self.bytes),
            Err(error) => self.invalid = Some(error),
        }
        self.blocking_ms = self.blocking_ms.saturating_add(request.waits_for_ms());
        self.count += 1;
        self
    }

    /// Appends a request of words that are there already.
    pub fn add_words(&mut self, words: &[impl AsRef<[u8]>]) -> &mut Pipeline {
        if words.is_empty() {
            self.invalid = Some(Error::Invalid("a request without a command".into()));
        }
        edgecask_core::resp::write_request(words, &mut self.bytes);
        self.count += 1;
        self
    }

    /// The number of requests.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no request.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Removes all requests and keeps the memory for others.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
        self.blocking_ms = 0;
        self.invalid = None;
    }
}

/// The replies of a [`Pipeline`], one after the other.
#[derive(Debug)]
pub struct Replies {
    bytes: Vec<u8>,
    /// Where the next reply begins.
    position: usize,
    left: usize,
}

impl Replies {
    /// The number of replies not taken yet.
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether all have been taken.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The next reply.
    ///
    /// # Errors
    /// It is an error of the server or of another type, or there is none. The one behind it comes next all the same.
    pub fn next_reply<T: FromReply>(&mut self) -> Result<T> {
        let (mut reader, rest) = self.next_reader()?;
        let reply = reader.next_value();
        self.position = rest;
        self.left -= 1;
        reply
    }

    /// The bytes of the next reply, which is a string; none if it is null.
    ///
    /// # Errors
    /// As [`Replies::next_reply`].
    pub fn next_bytes(&mut self) -> Result<Option<&[u8]>> {
        let (_, rest) = self.next_reader()?;
        let start = self.position;
        self.position = rest;
        self.left -= 1;
        match ReplyReader::new(self.bytes.get(start..rest).unwrap_or_default()).next_event()? {
            Event::Bulk(bytes) | Event::Simple(bytes) => Ok(Some(bytes)),
            Event::Verbatim { text, .. } => Ok(Some(text)),
            Event::Null => Ok(None),
            other => crate::reply::unexpected("a string", other),
        }
    }

    /// A reader of the next reply, and where that ends.
    fn next_reader(&self) -> Result<(ReplyReader<'_>, usize)> {
        if self.left == 0 {
            return Err(Error::Invalid("more replies than requests".into()));
        }
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        let mut reader = ReplyReader::new(rest);
        let first = reader.next_event()?;
        reader.skip(first)?;
        Ok((ReplyReader::new(rest), self.position + reader.position()))
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        keep_buffer(std::mem::take(&mut self.bytes));
    }
}

impl Client {
    /// Sends requests together and waits for all their replies. Others may run between them.
    ///
    /// ```no_run
    /// # use edgecask_client::{Build, Client, Commands};
    /// # async fn example(client: Client) -> edgecask_client::Result<()> {
    /// let (name, visits) = client.pipeline((Build.get("name"), Build.incr("visits"))).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The connection fails, or one of the replies is an error; the other requests have run all the same.
    pub async fn pipeline<R: Requests>(&self, requests: R) -> Result<R::Replies> {
        let bytes = written(&requests)?;
        let buffer = self.exchange(bytes, requests.count(), requests.blocking_ms()).await?;
        replies_in(&requests, buffer)
    }

    /// Sends the requests of a pipeline together and waits for all replies.
    ///
    /// # Errors
    /// The connection fails. Errors of single requests are among the replies.
    pub async fn run(&self, pipeline: &Pipeline) -> Result<Replies> {
        if let Some(error) = &pipeline.invalid {
            return Err(error.clone());
        }
        let is_usual = pipeline.count > 0 && pipeline.blocking_ms == 0;
        let bytes = if is_usual && self.has_own_connection_for(pipeline.bytes.len()) {
            // It goes out bit by bit and is not copied as a whole.
            let checkout = self.pool().acquire(self.timeout_ms()).await?;
            let outgoing = Outgoing::batch(Vec::new(), replies_of(pipeline.count));
            let mut trip = RoundTrip::new(checkout, outgoing, Sink::Raw, spare_buffer(), self.timeout_ms());
            trip.feed(&pipeline.bytes).await?;
            trip.await?.1
        } else {
            let mut bytes = spare_buffer();
            bytes.extend_from_slice(&pipeline.bytes);
            self.exchange(bytes, pipeline.count, pipeline.blocking_ms).await?
        };
        Ok(Replies { bytes, position: 0, left: pipeline.count })
    }

    /// Runs requests as a transaction: all of them, with nothing between them, or none.
    ///
    /// # Errors
    /// A request is refused, and none has run; the connection fails; or one of the replies is an error, and the others have run all
    /// the same, as Redis has it.
    pub async fn transaction<R: Requests>(&self, requests: R) -> Result<R::Replies> {
        let bytes = written_transaction(&requests)?;
        // Nothing blocks within a transaction.
        let buffer = self.exchange(bytes, requests.count() + 2, 0).await?;
        transaction_in(&requests, buffer)
    }

    /// Runs a transaction over keys that nobody changes meanwhile. `prepare` reads on a connection of its own, on which the keys
    /// are watched, and returns the requests to run, or `None` to leave it. If a key was changed, all begins anew.
    ///
    /// ```no_run
    /// # use edgecask_client::{Build, Client, Commands};
    /// # async fn example(client: Client) -> edgecask_client::Result<()> {
    /// let doubled = client
    ///     .watch(["balance"], async |connection| {
    ///         let balance: i64 = connection.get("balance").reply::<Option<i64>>().await?.unwrap_or(0);
    ///         Ok(Some((Build.set("balance", balance * 2),)))
    ///     })
    ///     .await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What `prepare` fails with, or as [`Client::transaction`]. [`Error::Watched`] if the keys were changed each of a hundred
    /// times.
    pub async fn watch<R, P>(&self, keys: impl crate::ToArgs, mut prepare: P) -> Result<Option<R::Replies>>
    where
        R: Requests,
        P: AsyncFnMut(&Connection) -> Result<Option<R>>,
    {
        let connection = self.connection().await?;
        connection.keep_from_others();
        for _ in 0..WATCHED_RUNS_MAX {
            connection.cmd("WATCH").args(&keys).reply::<()>().await?;
            let Some(requests) = prepare(&connection).await? else {
                connection.cmd("UNWATCH").reply::<()>().await?;
                connection.give_back();
                return Ok(None);
            };
            match connection.transaction(requests).await {
                Err(Error::Watched) => {}
                replies => {
                    connection.give_back();
                    return replies.map(Some);
                }
            }
        }
        Err(Error::Watched)
    }

    async fn exchange(&self, bytes: Vec<u8>, replies: usize, blocking_ms: u64) -> Result<Vec<u8>> {
        if replies == 0 {
            return Ok(bytes);
        }
        if blocking_ms > 0 {
            let timeout_ms = self.timeout_ms().saturating_add(blocking_ms);
            let checkout = self.blocking_pool().acquire(self.timeout_ms()).await?;
            return exchange(&checkout, bytes, replies, timeout_ms).await;
        }
        if !self.has_own_connection_for(bytes.len()) {
            return exchange(self.link(), bytes, replies, self.timeout_ms()).await;
        }
        let checkout = self.pool().acquire(self.timeout_ms()).await?;
        exchange(&checkout, bytes, replies, self.timeout_ms()).await
    }
}

impl Connection {
    /// Sends requests together and waits for all their replies, as [`Client::pipeline`].
    ///
    /// # Errors
    /// As [`Client::pipeline`].
    pub async fn pipeline<R: Requests>(&self, requests: R) -> Result<R::Replies> {
        self.keep_from_others();
        let bytes = written(&requests)?;
        let buffer = self.exchange(bytes, requests.count(), requests.blocking_ms()).await?;
        replies_in(&requests, buffer)
    }

    /// Runs requests as a transaction, as [`Client::transaction`].
    ///
    /// # Errors
    /// [`Error::Watched`] if a key was changed that is watched on this connection, and nothing has run; or as of
    /// [`Client::transaction`].
    pub async fn transaction<R: Requests>(&self, requests: R) -> Result<R::Replies> {
        self.keep_from_others();
        let bytes = written_transaction(&requests)?;
        let buffer = self.exchange(bytes, requests.count() + 2, 0).await?;
        transaction_in(&requests, buffer)
    }

    async fn exchange(&self, bytes: Vec<u8>, replies: usize, blocking_ms: u64) -> Result<Vec<u8>> {
        if replies == 0 {
            return Ok(bytes);
        }
        let timeout_ms = self.timeout_ms().saturating_add(blocking_ms);
        exchange(self.link(), bytes, replies, timeout_ms).await
    }
}

/// A transaction is tried so many times before its keys count as too busy.
const WATCHED_RUNS_MAX: usize = 100;

fn exchange(
    link: &Link,
    bytes: Vec<u8>,
    replies: usize,
    timeout_ms: u64,
) -> impl Future<Output = Result<Vec<u8>>> {
    let outgoing = Outgoing::batch(bytes, replies_of(replies));
    let trip = RoundTrip::new(link, outgoing, Sink::Raw, spare_buffer(), timeout_ms);
    async move { Ok(trip.await?.1) }
}

fn replies_of(requests: usize) -> u32 {
    u32::try_from(requests).unwrap_or(u32::MAX)
}

fn written(requests: &impl Requests) -> Result<Vec<u8>> {
    let mut bytes = spare_buffer();
    requests.write_to(&mut bytes)?;
    Ok(bytes)
}

fn replies_in<R: Requests>(requests: &R, buffer: Vec<u8>) -> Result<R::Replies> {
    let replies = requests.read(&mut ReplyReader::new(&buffer));
    keep_buffer(buffer);
    replies
}

fn written_transaction(requests: &impl Requests) -> Result<Vec<u8>> {
    let mut bytes = spare_buffer();
    Words::new("MULTI").write_to(&mut bytes);
    requests.write_to(&mut bytes)?;
    Words::new("EXEC").write_to(&mut bytes);
    Ok(bytes)
}

fn transaction_in<R: Requests>(requests: &R, buffer: Vec<u8>) -> Result<R::Replies> {
    let replies = read_transaction(requests, &buffer);
    keep_buffer(buffer);
    replies
}

/// Reads the replies of MULTI, of the requests as they were queued, and of EXEC.
fn read_transaction<R: Requests>(requests: &R, bytes: &[u8]) -> Result<R::Replies> {
    let mut reader = ReplyReader::new(bytes);
    let mut refused = None;
    for _ in 0..=requests.count() {
        if let Event::Error(text) = reader.next_event()? {
            refused.get_or_insert_with(|| ServerError::new(text));
        }
    }
    match reader.next_event()? {
        Event::Open { values, .. } if values == requests.count() as u64 => requests.read(&mut reader),
        Event::Null => Err(Error::Watched),
        // The reason rather than that there was one.
        Event::Error(text) => Err(Error::Server(refused.unwrap_or_else(|| ServerError::new(text)))),
        other => crate::reply::unexpected("the replies of a transaction", other),
    }
}

impl Build {
    /// Any command by its name, as [`Client::cmd`].
    pub fn cmd(&self, name: &str) -> Request<Build, crate::Any, edgecask_core::resp::Value> {
        Request::new(Build, Words::new(name))
    }

    /// A request of words that are there already.
    pub fn request(&self, words: Words) -> Request<Build, crate::Any, edgecask_core::resp::Value> {
        Request::new(Build, words)
    }
}

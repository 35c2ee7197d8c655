//! The client: one connection that all callers share, and pools beside it for what would keep others waiting.

use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::arg::ToArg;
use crate::connection::Connection;
use crate::connector::Connector;
use crate::error::{Error, Result};
use crate::limits::{LARGE_FROM_BYTES, READ_PART_BYTES};
use crate::link::{Answer, Keeps, Link, NoListener, Outgoing, RoundTrip, Sink, supervise};
use crate::options::Options;
use crate::pool::Pool;
use crate::pubsub::Hub;
use crate::request::{Any, Request, body};
use crate::runtime::spawn;
use crate::words::{Words, keep_buffer, spare_buffer};

/// A client of one server. Clones are the same client; its connections are closed with the last one.
///
/// Short requests of all tasks go over one connection, many in one write. Requests of 64 KiB and more, and transactions, have
/// connections of a pool to themselves, and so have commands that block.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    options: Arc<Options>,
    link: Arc<Link>,
    pool: Arc<Pool>,
    blocking: Arc<Pool>,
    /// Subscriptions, from the first one on.
    hub: OnceLock<Arc<Hub>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn close(&self) {
        self.link.close(Error::Closed { may_have_run: true });
        self.pool.close();
        self.blocking.close();
        if let Some(hub) = self.hub.get() {
            hub.close();
        }
    }
}

impl Client {
    /// Connects to the server of a [URL](Options::from_url).
    ///
    /// # Errors
    /// The URL is none, the server cannot be reached or refuses the greeting. After a success a connection that is lost is
    /// made again, however long that takes.
    pub async fn connect(url: &str) -> Result<Client> {
        Self::with_options(Options::from_url(url)?).await
    }

    /// Connects to a server.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub async fn with_options(options: Options) -> Result<Client> {
        #[cfg(feature = "embedded")]
        let options = {
            let mut options = options;
            options.open_store().await?;
            options
        };
        let options = Arc::new(options);
        let connector = Connector::new(options.clone());
        let first = connector.connect_in_time().await?;
        Ok(Self::start(options, Arc::new(connector), Some(first)))
    }

    /// A client that connects when it can: requests wait for the connection until their deadline. Within a runtime of tokio.
    pub fn lazy(options: Options) -> Client {
        let options = Arc::new(options);
        let connector = Connector::new(options.clone());
        Self::start(options, Arc::new(connector), None)
    }

    fn start(
        options: Arc<Options>,
        connector: Arc<Connector>,
        first: Option<crate::connector::Connected>,
    ) -> Client {
        let is_inline = options.is_embedded();
        let link = Arc::new(Link::new(Arc::new(NoListener), is_inline));
        spawn(supervise(link.clone(), connector.clone(), first, Keeps::ForEver, ()));
        let pool = Pool::new(connector, options.pool_max, is_inline);
        let patient = Arc::new(Connector::new(options.clone()).patient());
        let blocking = Pool::new(patient, options.blocking_max, is_inline);
        Client(Arc::new(Shared { options, link, pool, blocking, hub: OnceLock::new() }))
    }

    /// Closes all connections. Requests that wait fail, and so does every later one.
    pub fn close(&self) {
        self.0.close();
    }

    /// The options with which it was made.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Any command by its name, whose words are separated by spaces; arguments are appended.
    ///
    /// ```no_run
    /// # async fn example(client: edgecask_client::Client) -> edgecask_client::Result<()> {
    /// let length: i64 = client.cmd("OBJECT FREQ").arg("key").reply().await?;
    /// # Ok(()) }
    /// ```
    pub fn cmd(&self, name: &str) -> Request<&Client, Any, edgecask_core::resp::Value> {
        Request::new(self, Words::new(name))
    }

    /// A request of words that are there already.
    pub fn request(&self, words: Words) -> Request<&Client, Any, edgecask_core::resp::Value> {
        Request::new(self, words)
    }

    /// A connection for its owner alone: for WATCH and MULTI, and for what changes the state of a connection.
    ///
    /// # Errors
    /// None is free by the deadline.
    pub async fn connection(&self) -> Result<Connection> {
        let checkout = self.pool().acquire(self.timeout_ms()).await?;
        Ok(Connection::new(checkout, self.timeout_ms()))
    }

    /// GET into a buffer, whose contents it replaces; false if there is no such key. Nothing is allocated while the value
    /// fits into the buffer. A buffer with room for 64 KiB is taken as a sign that the value is large, and the request gets
    /// a connection of its own.
    ///
    /// Dropped before it is ready, it leaves the buffer empty, without the memory it had.
    ///
    /// # Errors
    /// The key holds another type, or as of every request.
    pub async fn get_into(&self, key: impl ToArg, buffer: &mut Vec<u8>) -> Result<bool> {
        let outgoing = get(&key)?;
        buffer.clear();
        let value = take(buffer);
        let (answer, value) = if self.has_own_connection_for(value.capacity()) {
            let checkout = self.pool().acquire(self.timeout_ms()).await?;
            RoundTrip::new(checkout, outgoing, Sink::Body, value, self.timeout_ms()).await?
        } else {
            RoundTrip::new(self.link(), outgoing, Sink::Body, value, self.timeout_ms()).await?
        };
        *buffer = value;
        body(answer, buffer)
    }

    /// GET, with the value lent to `look`; none if there is no such key. Nothing is allocated.
    ///
    /// # Errors
    /// As [`Client::get_into`].
    pub async fn get_with<T>(&self, key: impl ToArg, look: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let outgoing = get(&key)?;
        let trip = RoundTrip::new(self.link(), outgoing, Sink::Body, spare_buffer(), self.timeout_ms());
        let (answer, buffer) = trip.await?;
        let seen = body(answer, &buffer).map(|is_there| is_there.then(|| look(&buffer)));
        keep_buffer(buffer);
        seen
    }

    /// SET of bytes that are lent. A value of 64 KiB and more goes out bit by bit over a connection of its own, so that it is
    /// never in memory twice. Nothing is allocated.
    ///
    /// # Errors
    /// As of every request.
    pub async fn set_from(&self, key: impl ToArg, value: &[u8]) -> Result<()> {
        let mut words = Words::new("SET");
        words.arg(&key);
        if !self.has_own_connection_for(value.len()) {
            words.push(value);
            let outgoing = Outgoing::request(words)?;
            let trip = RoundTrip::new(self.link(), outgoing, Sink::Body, spare_buffer(), self.timeout_ms());
            return done(trip).await;
        }
        let checkout = self.pool().acquire(self.timeout_ms()).await?;
        let outgoing = Outgoing::request_without_last(words, value.len())?;
        let mut trip = RoundTrip::new(checkout, outgoing, Sink::Body, spare_buffer(), self.timeout_ms());
        trip.feed(value).await?;
        trip.feed(b"\r\n").await?;
        done(trip).await
    }

    /// GET to a writer, with a bounded part of the value in memory at a time. Returns the number of bytes; none if there is no
    /// such key. The deadline is for every part, not for the whole.
    ///
    /// # Errors
    /// As [`Client::get_into`], or the writer fails; what it has got until then is the beginning of the value.
    pub async fn get_to<W: AsyncWrite + Unpin>(
        &self,
        key: impl ToArg,
        writer: &mut W,
    ) -> Result<Option<u64>> {
        let outgoing = get(&key)?;
        let checkout = self.pool().acquire(self.timeout_ms()).await?;
        let mut trip = RoundTrip::new(checkout, outgoing, Sink::Stream, spare_buffer(), self.timeout_ms());
        let (mut part, mut size_bytes) = (spare_buffer(), 0);
        loop {
            let answer = std::future::poll_fn(|cx| trip.poll_part(cx, &mut part)).await?;
            if let Some(answer) = answer
                && !body(answer, &part)?
            {
                return Ok(None);
            }
            writer.write_all(&part).await?;
            size_bytes += part.len() as u64;
            part.clear();
            if answer.is_some() {
                writer.flush().await?;
                keep_buffer(part);
                return Ok(Some(size_bytes));
            }
        }
    }

    /// GET to a writer of the standard library, as [`Client::get_to`]. The writer is called between two polls and should not
    /// block for long: a file or a buffer.
    ///
    /// # Errors
    /// As [`Client::get_to`].
    pub async fn write_to<W: std::io::Write>(&self, key: impl ToArg, writer: &mut W) -> Result<Option<u64>> {
        self.get_to(key, &mut Blocking(writer)).await
    }

    /// SET of so many bytes that come from a reader, with a bounded part of them in memory at a time. The deadline is for every part.
    ///
    /// # Errors
    /// The reader fails or ends before: then the server has got a part of the request and its connection is closed, so nothing is
    /// set. Or as of every request.
    pub async fn set_from_reader<R: AsyncRead + Unpin>(
        &self,
        key: impl ToArg,
        size_bytes: u64,
        reader: &mut R,
    ) -> Result<()> {
        let too_large = |_| Error::Invalid("a value larger than this machine's addresses".into());
        let size = usize::try_from(size_bytes).map_err(too_large)?;
        let mut words = Words::new("SET");
        words.arg(&key);
        let outgoing = Outgoing::request_without_last(words, size)?;
        let checkout = self.pool().acquire(self.timeout_ms()).await?;
        let mut trip = RoundTrip::new(checkout, outgoing, Sink::Body, spare_buffer(), self.timeout_ms());
        let mut part = spare_buffer();
        let mut missing = size_bytes;
        while missing > 0 {
            part.clear();
            part.reserve(READ_PART_BYTES);
            let most = missing.min(READ_PART_BYTES as u64);
            let read = (&mut *reader).take(most).read_buf(&mut part).await?;
            if read == 0 {
                let ended = format!("the reader ended {missing} bytes early");
                return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, ended).into());
            }
            missing -= read as u64;
            trip.feed(&part).await?;
        }
        keep_buffer(part);
        trip.feed(b"\r\n").await?;
        done(trip).await
    }

    /// Connections of the pool: how many there are, and how many of them nobody has.
    pub fn pool_counts(&self) -> (usize, usize) {
        self.0.pool.counts()
    }

    /// Whether a request or reply of this size has a connection of its own.
    pub(crate) fn has_own_connection_for(&self, size_bytes: usize) -> bool {
        size_bytes >= LARGE_FROM_BYTES && !self.0.options.is_single()
    }

    pub(crate) fn link(&self) -> &Link {
        &self.0.link
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0.pool
    }

    pub(crate) fn blocking_pool(&self) -> &Arc<Pool> {
        &self.0.blocking
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        self.0.hub.get_or_init(|| Hub::start(self.0.options.clone()))
    }

    pub(crate) fn timeout_ms(&self) -> u64 {
        self.0.options.timeout_ms()
    }
}

/// A writer that is never pending.
struct Blocking<'w, W>(&'w mut W);

impl<W: std::io::Write> AsyncWrite for Blocking<'_, W> {
    fn poll_write(self: Pin<&mut Self>, _cx: &mut Context, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(self.get_mut().0.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context) -> Poll<std::io::Result<()>> {
        Poll::Ready(self.get_mut().0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl<W> Unpin for Blocking<'_, W> {}

/// A request of GET.
fn get(key: &impl ToArg) -> Result<Outgoing> {
    let mut words = Words::new("GET");
    words.arg(key);
    Outgoing::request(words)
}

/// Waits for a status.
async fn done(trip: impl Future<Output = Result<(Answer, Vec<u8>)>>) -> Result<()> {
    let (answer, buffer) = trip.await?;
    let outcome = body(answer, &buffer).map(|_| ());
    keep_buffer(buffer);
    outcome
}

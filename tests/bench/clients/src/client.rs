//! What a client is to the benchmark: a handle that each task has a clone of, and four ways to use it.

use std::net::SocketAddr;
use std::sync::Arc;

pub type Error = Box<dyn std::error::Error + Send + Sync>;
pub type Result<T> = std::result::Result<T, Error>;

/// A key and the value that belongs to it.
pub struct Entry<V> {
    pub key: String,
    /// The value as the client takes it, made before the clock starts.
    pub value: V,
    bytes: Vec<u8>,
}

pub type Entries<C> = [Arc<Entry<<C as Client>::Value>>];

impl<V> Entry<V> {
    pub fn new(key: String, bytes: Vec<u8>, value: impl FnOnce(&[u8]) -> V) -> Arc<Self> {
        Arc::new(Self { key, value: value(&bytes), bytes })
    }

    /// Fails unless the value is what came. Every reply is compared, so a reply to another request is noticed.
    pub fn check(&self, came: &[u8]) -> Result<()> {
        if came == self.bytes { Ok(()) } else { Err(self.wrong(came)) }
    }

    #[cold]
    fn wrong(&self, came: &[u8]) -> Error {
        let shown = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(20)]).into_owned();
        format!(
            "{}: {} bytes {:?}... came in place of {} bytes {:?}...",
            self.key,
            came.len(),
            shown(came),
            self.bytes.len(),
            shown(&self.bytes)
        )
        .into()
    }
}

/// Fails unless each entry has its value among the replies, in the order of requests.
pub fn check_all<V>(
    entries: &[Arc<Entry<V>>],
    came: impl ExactSizeIterator<Item = impl AsRef<[u8]>>,
) -> Result<()> {
    if came.len() != entries.len() {
        return Err(format!("{} replies to {} requests", came.len(), entries.len()).into());
    }
    entries.iter().zip(came).try_for_each(|(entry, came)| entry.check(came.as_ref()))
}

/// One client library. A clone shares connections with what it was cloned from, if that is how the library is meant to be
/// used; it may have buffers of its own.
///
/// The library is used as its documentation advises for speed, with the type of bytes that is natural to it, `TCP_NODELAY` set,
/// and without deadlines and bounds that large pipelines would break.
pub trait Client: Clone + Send + 'static {
    /// The bytes of a value as SET takes them.
    type Value: Send + Sync + 'static;

    /// Connects for so many tasks. Fails if the server cannot be reached.
    fn connect(server: SocketAddr, tasks: usize) -> impl Future<Output = Result<Self>> + Send;

    fn value(bytes: &[u8]) -> Self::Value;

    /// GET, and a check of the value. This and the others fail if a request does or a reply is wrong.
    fn get(&mut self, entry: &Entry<Self::Value>) -> impl Future<Output = Result<()>> + Send;

    /// SET.
    fn set(&mut self, entry: &Entry<Self::Value>) -> impl Future<Output = Result<()>> + Send;

    /// A pipeline of GETs, and a check of all values.
    fn get_all(&mut self, entries: &Entries<Self>) -> impl Future<Output = Result<()>> + Send;

    /// A pipeline of SETs.
    fn set_all(&mut self, entries: &Entries<Self>) -> impl Future<Output = Result<()>> + Send;
}

//! A cache of replies that the server keeps up to date: what was read is dropped when one of its keys changes.
//!
//! Guarantees:
//! - A cached reply is never older than the last invalidation that has come.
//! - A reply that was invalidated on its way is handed to its caller and not kept.
//! - All is dropped on FLUSHDB, FLUSHALL and when the connection is lost, since the server forgets then what was read.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::Arc;

use edgecask_core::catalog::{Flags, lookup_request};
use edgecask_core::resp::{Args, Event, Parsed, RequestLimits, RequestParser};
use parking_lot::Mutex;

use crate::build::Build;
use crate::client::Client;
use crate::connector::Connector;
use crate::error::{Error, Result};
use crate::link::{Link, Listener, Outgoing, OwnLink, RoundTrip, Sink};
use crate::reply::{FromReply, ReplyReader, read};
use crate::request::Request;
use crate::words::{Words, spare_buffer};

/// A cache beside a client, with a connection of its own. Clones share it.
#[derive(Clone)]
pub struct Cache {
    link: Arc<OwnLink>,
    replies: Arc<Replies>,
    timeout_ms: u64,
}

struct Replies {
    state: Mutex<State>,
    most_bytes: usize,
}

#[derive(Default)]
struct State {
    /// Replies by the bytes of their requests.
    entries: HashMap<Arc<[u8]>, Entry>,
    /// Requests that read a key.
    by_key: HashMap<Vec<u8>, Vec<Arc<[u8]>>>,
    /// Requests in the order they came, for dropping the oldest.
    order: VecDeque<Arc<[u8]>>,
    bytes: usize,
    next_number: u64,
    hits: u64,
    misses: u64,
}

struct Entry {
    /// Tells an entry from a later one of the same request.
    number: u64,
    keys: Vec<Vec<u8>>,
    /// None while it is on its way.
    reply: Option<Arc<[u8]>>,
}

impl State {
    fn remove(&mut self, request: &[u8]) {
        let Some(entry) = self.entries.remove(request) else { return };
        self.bytes -= cost(request, entry.reply.as_deref());
        for key in entry.keys {
            if let Some(requests) = self.by_key.get_mut(&key) {
                requests.retain(|other| **other != *request);
                if requests.is_empty() {
                    self.by_key.remove(&key);
                }
            }
        }
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.by_key.clear();
        self.order.clear();
        self.bytes = 0;
    }
}

/// Requests in the order of coming that may be there no more, beyond twice those that are.
const ORDER_SPARE: usize = 64;

/// The keys that a request reads.
fn keys_of(request: &[u8]) -> Result<Vec<Vec<u8>>> {
    let unfit = || Error::Invalid("a cache takes only requests that read keys which they name".into());
    let (mut parser, mut args) = (RequestParser::new(), Args::new());
    let limits = RequestLimits { bulk_max_bytes: u64::MAX, ..RequestLimits::new(true) };
    match parser.parse(request, &limits, &mut args) {
        Ok(Parsed::Request { .. }) => {}
        _ => return Err(unfit()),
    }
    let spec = lookup_request(&args).filter(|spec| spec.is(Flags::READONLY)).ok_or_else(unfit)?;
    let places = spec.keys.positions(&args).map_err(|_| unfit())?;
    if places.is_empty() || spec.touches_all_keys(&args) {
        return Err(unfit());
    }
    Ok(places.iter().filter_map(|place| args.get(*place)).map(|key| key.to_vec()).collect())
}

/// What an entry counts as, with its share of the tables.
fn cost(request: &[u8], reply: Option<&[u8]>) -> usize {
    request.len() + reply.map_or(0, <[u8]>::len) + 200
}

impl Listener for Replies {
    fn pushed(&self, message: &[u8]) {
        let mut reader = ReplyReader::new(message);
        let Ok(Event::Open { .. }) = reader.next_event() else { return };
        let Ok(b"invalidate") = reader.next_value::<Vec<u8>>().as_deref() else { return };
        // Null means all keys.
        let keys: Option<Vec<Vec<u8>>> = reader.next_value().unwrap_or(None);
        let mut state = self.state.lock();
        let Some(keys) = keys else { return state.clear() };
        for key in keys {
            for request in state.by_key.remove(&key).unwrap_or_default() {
                state.remove(&request);
            }
        }
    }

    fn disconnected(&self, _error: &Error) {
        self.state.lock().clear();
    }
}

impl Client {
    /// A cache of up to about `most_bytes` bytes, with a connection of its own on which the server tells what has changed. Needs
    /// RESP3.
    pub fn cache(&self, most_bytes: usize) -> Cache {
        let replies = Arc::new(Replies { state: Mutex::default(), most_bytes });
        let options = Arc::new(self.options().clone());
        let link = Link::new(replies.clone(), options.is_embedded());
        let connector = Connector::new(options).with_request(Words::new("CLIENT TRACKING ON"));
        let link = Arc::new(OwnLink::start(link, connector));
        Cache { link, replies, timeout_ms: self.timeout_ms() }
    }
}

impl Cache {
    /// The bytes of a string, from the cache if they are there.
    ///
    /// # Errors
    /// As of every request.
    pub async fn get(&self, key: impl crate::ToArg) -> Result<Option<Vec<u8>>> {
        let mut words = Words::new("GET");
        words.arg(&key);
        self.read(Request::<Build, crate::Any, Option<Vec<u8>>>::new(Build, words)).await
    }

    /// The reply of any command that only reads its keys, from the cache if it is there.
    ///
    /// # Errors
    /// The command writes, or reads something else than keys that it names; or as of every request.
    pub fn read<Kind, T: FromReply>(
        &self,
        request: Request<Build, Kind, T>,
    ) -> impl Future<Output = Result<T>> {
        self.read_of(request, keys_of)
    }

    /// The reply of a command that reads these keys and nothing else, from the cache if it is there. It is for programs that know
    /// the keys: the table of commands is not asked, and need not be a part of the program.
    ///
    /// # Errors
    /// As of every request.
    pub fn read_keys<Kind, T: FromReply>(
        &self,
        request: Request<Build, Kind, T>,
        keys: Vec<Vec<u8>>,
    ) -> impl Future<Output = Result<T>> {
        self.read_of(request, |_| Ok(keys))
    }

    fn read_of<Kind, T: FromReply>(
        &self,
        request: Request<Build, Kind, T>,
        keys_of: impl FnOnce(&[u8]) -> Result<Vec<Vec<u8>>>,
    ) -> impl Future<Output = Result<T>> {
        let words = request.into_words();
        async move {
            words.check()?;
            let mut bytes = Vec::new();
            words.write_to(&mut bytes);
            let bytes: Arc<[u8]> = bytes.into();
            let number = {
                let mut state = self.replies.state.lock();
                if let Some(reply) = state.entries.get(&bytes).and_then(|entry| entry.reply.clone()) {
                    state.hits += 1;
                    drop(state);
                    return read(&reply);
                }
                let keys = keys_of(&bytes)?;
                state.misses += 1;
                state.remove(&bytes);
                let number = state.next_number;
                state.next_number += 1;
                for key in &keys {
                    state.by_key.entry(key.clone()).or_default().push(bytes.clone());
                }
                state.bytes += cost(&bytes, None);
                state.entries.insert(bytes.clone(), Entry { number, keys, reply: None });
                number
            };
            let begun = Begun { replies: &self.replies, request: bytes.clone(), number };
            let outgoing = Outgoing::request(words)?;
            let trip = RoundTrip::new(&**self.link, outgoing, Sink::Raw, spare_buffer(), self.timeout_ms);
            let (_, reply) = trip.await?;
            let value = read(&reply);
            if value.is_ok() {
                begun.keep(&reply);
            }
            value
        }
    }

    /// Replies from the cache, and those that had to be asked for.
    pub fn hits_and_misses(&self) -> (u64, u64) {
        let state = self.replies.state.lock();
        (state.hits, state.misses)
    }

    /// Drops everything.
    pub fn clear(&self) {
        self.replies.state.lock().clear();
    }
}

/// A reply on its way. Its entry goes away with it, unless the reply is kept.
struct Begun<'a> {
    replies: &'a Replies,
    request: Arc<[u8]>,
    number: u64,
}

impl Begun<'_> {
    /// Keeps the reply, unless one of its keys has changed meanwhile.
    fn keep(self, reply: &[u8]) {
        let mut state = self.replies.state.lock();
        let Some(entry) = state.entries.get_mut(&self.request) else { return };
        if entry.number != self.number || reply.len() > self.replies.most_bytes / 8 {
            return;
        }
        entry.reply = Some(reply.into());
        state.bytes += reply.len();
        state.order.push_back(self.request.clone());
        if state.order.len() > 2 * state.entries.len() + ORDER_SPARE {
            let State { order, entries, .. } = &mut *state;
            order.retain(|request| entries.contains_key(request));
        }
        while state.bytes > self.replies.most_bytes {
            let Some(oldest) = state.order.pop_front() else { break };
            state.remove(&oldest);
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        let mut state = self.replies.state.lock();
        let is_ours = |entry: &Entry| entry.number == self.number && entry.reply.is_none();
        if state.entries.get(&self.request).is_some_and(is_ours) {
            let request = self.request.clone();
            state.remove(&request);
        }
    }
}

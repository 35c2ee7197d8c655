//! Streams: what a client over HTTP has open of a database between its requests, by the baton that the last response gave it.
//!
//! A baton is good for one request. It cannot be guessed, and is good only for the user to whom it was given.

use std::collections::HashMap;
use std::fmt;

use parking_lot::Mutex;

use super::open::Transaction;
use crate::engine::Db;
use crate::limits::{SQL_STREAM_IDLE_MS, SQL_STREAMS_MAX};

/// A baton.
pub type Baton = [u8; 16];

/// What one client has open.
#[derive(Debug)]
pub struct Stream {
    /// Whose it is.
    pub user: Box<[u8]>,
    /// Where its database is.
    pub place: (Db, Box<[u8]>),
    /// Texts that the client has stored, by its own numbers.
    pub texts: HashMap<i64, String>,
    /// What it has begun.
    pub transaction: Option<Transaction>,
    /// Whether foreign keys are not checked.
    pub ignores_foreign_keys: bool,
    /// When it was used last, unix time in milliseconds.
    pub used_ms: u64,
}

/// All streams.
#[derive(Default)]
pub struct Streams(Mutex<HashMap<Baton, Stream>>);

impl fmt::Debug for Streams {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Streams({})", self.0.lock().len())
    }
}

impl Streams {
    /// Takes the stream with this baton, if it is of this user and this database.
    pub fn take(&self, baton: &Baton, user: &[u8], place: (Db, &[u8])) -> Option<Stream> {
        let mut streams = self.0.lock();
        let stream = streams.get(baton)?;
        let is_it = *stream.user == *user && (stream.place.0, &*stream.place.1) == place;
        if is_it { streams.remove(baton) } else { None }
    }

    /// Keeps a stream; one that was not used for the longest time goes if there are too many.
    pub fn put(&self, baton: Baton, stream: Stream) {
        let mut gone = Vec::new();
        let mut streams = self.0.lock();
        streams.insert(baton, stream);
        if streams.len() > SQL_STREAMS_MAX {
            let oldest = streams.iter().min_by_key(|(_, stream)| stream.used_ms).map(|(baton, _)| *baton);
            gone.extend(oldest.and_then(|baton| streams.remove(&baton)));
        }
        // Dropped without the lock: what is open is undone.
        drop(streams);
    }

    /// Drops what was not used for long.
    pub fn drop_idle(&self, now_ms: u64) {
        let mut gone = Vec::new();
        let mut streams = self.0.lock();
        let idle = |stream: &Stream| now_ms.saturating_sub(stream.used_ms) >= SQL_STREAM_IDLE_MS;
        let batons: Vec<Baton> =
            streams.iter().filter(|(_, stream)| idle(stream)).map(|(baton, _)| *baton).collect();
        gone.extend(batons.iter().filter_map(|baton| streams.remove(baton)));
        drop(streams);
    }

    /// When the first of them has not been used for long, if nobody uses it, unix time in milliseconds.
    pub fn idle_at_ms(&self) -> Option<u64> {
        let streams = self.0.lock();
        streams.values().map(|stream| stream.used_ms.saturating_add(SQL_STREAM_IDLE_MS)).min()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

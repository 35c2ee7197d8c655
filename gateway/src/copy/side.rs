//! One of the two places of a copy, opened.

use edgecask_core::data::digest::Digest;
use edgecask_core::engine::Db;

use super::Result;
use super::item::{Form, Huge, Pair, Taken};
use super::place::Place;
use super::server::Server;
use super::store::Opened;

/// A place with what is open of it.
pub(super) enum Side {
    /// A store.
    Store(Box<Opened>),
    /// A server.
    Server(Box<Server>),
}

/// Reads a part of a huge string: offset and length in bytes.
pub(super) type ReadPart<'r> = &'r mut dyn FnMut(u64, u64) -> Result<Vec<u8>>;

/// The fingerprint of a key, None if it is not there; or why nobody knows.
pub(super) type KeyDigest = std::result::Result<Option<Digest>, String>;

impl Side {
    /// Opens a place. One that is only read must be there.
    ///
    /// # Errors
    /// It is not there, somebody else uses it, or it cannot be reached.
    pub(super) fn open(place: &Place, databases: u32, only_reads: bool) -> Result<Side> {
        Ok(match place {
            Place::Directory(path) => Side::Store(Box::new(Opened::directory(path, only_reads)?)),
            Place::Cluster(cluster) => Side::Store(Box::new(Opened::cluster(cluster, databases)?)),
            Place::Server(address) => Side::Server(Box::new(Server::connect(address)?)),
        })
    }

    /// Whether definitions (functions, users, triggers and crons) can be read and written.
    pub(super) fn has_catalog(&self) -> bool {
        matches!(self, Side::Store(_))
    }

    /// The databases that may have keys.
    pub(super) fn databases(&mut self) -> Result<Vec<Db>> {
        match self {
            Side::Store(store) => store.databases(),
            Side::Server(server) => server.databases(),
        }
    }

    /// Whether there is any key, in one database or in all.
    pub(super) fn has_keys(&mut self, only: Option<Db>) -> Result<bool> {
        match self {
            Side::Store(store) => store.has_keys(),
            Side::Server(server) => {
                Ok(server.databases()?.into_iter().any(|db| only.is_none_or(|only| only == db)))
            }
        }
    }

    /// Another text whenever cursors of a walk are good for nothing any more.
    pub(super) fn identity(&mut self) -> Result<String> {
        match self {
            Side::Store(_) => Ok("store".into()),
            Side::Server(server) => server.run_id(),
        }
    }

    /// Some keys from a cursor on, and the next cursor; 0 at the end.
    pub(super) fn scan(&mut self, db: Db, cursor: u64) -> Result<(u64, Vec<Vec<u8>>)> {
        match self {
            Side::Store(store) => store.scan(db, cursor),
            Side::Server(server) => server.scan(db, cursor),
        }
    }

    /// Takes keys, from the first on as many as fit into a part; at least one.
    pub(super) fn take(&mut self, db: Db, keys: &[&[u8]], form: Form) -> Result<Vec<Taken>> {
        match self {
            Side::Store(store) => store.take(db, keys, form),
            Side::Server(server) => server.take(db, keys, form),
        }
    }

    /// The next part of a collection that was taken last.
    pub(super) fn take_more(&mut self, db: Db, key: &[u8], after: &[u8]) -> Result<(Vec<Pair>, bool)> {
        match self {
            Side::Store(store) => store.take_more(db, key, after),
            Side::Server(server) => server.take_more(db, key, after),
        }
    }

    /// A part of a huge string.
    pub(super) fn read(&mut self, db: Db, key: &[u8], offset: u64, len: u64) -> Result<Vec<u8>> {
        match self {
            Side::Store(store) => store.read(db, key, offset, len),
            Side::Server(server) => server.read(db, key, offset, len),
        }
    }

    /// The form in which it takes keys.
    pub(super) fn form(&self) -> Form {
        match self {
            Side::Store(_) => Form::Items,
            Side::Server(_) => Form::Payloads,
        }
    }

    /// Puts keys, whatever they were; returns those that it refuses, with the reasons.
    pub(super) fn put(&mut self, db: Db, keys: Vec<Taken>) -> Result<Vec<(Vec<u8>, String)>> {
        match self {
            Side::Store(store) => store.put(db, &keys),
            Side::Server(server) => server.put(db, &keys),
        }
    }

    /// Adds subkeys to one of these.
    pub(super) fn put_more(&mut self, db: Db, key: &[u8], pairs: &[Pair]) -> Result<()> {
        match self {
            Side::Store(store) => store.put_more(db, key, pairs),
            // It takes payloads, which are whole.
            Side::Server(_) => Ok(()),
        }
    }

    /// Puts a huge string; returns why it is refused, if it is.
    pub(super) fn put_huge(&mut self, db: Db, string: &Huge, read: ReadPart<'_>) -> Result<Option<String>> {
        match self {
            Side::Store(store) => store.put_huge(db, string, read),
            Side::Server(server) => server.put_huge(db, string, read),
        }
    }

    /// The fingerprints of keys.
    pub(super) fn digests(&mut self, db: Db, keys: &[&[u8]]) -> Result<Vec<KeyDigest>> {
        match self {
            Side::Store(store) => store.digests(db, keys),
            Side::Server(server) => server.digests(db, keys),
        }
    }

    /// Which of these keys are there.
    pub(super) fn exist(&mut self, db: Db, keys: &[&[u8]]) -> Result<Vec<bool>> {
        match self {
            Side::Store(store) => store.exist(db, keys),
            Side::Server(server) => server.exist(db, keys),
        }
    }

    /// Makes what was put survive a crash of this process, and the loss of power where that is up to this process.
    pub(super) fn sync(&mut self) -> Result<()> {
        match self {
            Side::Store(store) => store.sync(),
            // What it has acknowledged is its own affair.
            Side::Server(_) => Ok(()),
        }
    }

    /// Everything was put.
    pub(super) fn finish(&mut self) -> Result<()> {
        match self {
            Side::Store(store) => store.finish(),
            Side::Server(_) => Ok(()),
        }
    }
}

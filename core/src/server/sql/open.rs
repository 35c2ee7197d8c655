//! What a client has open of databases between its requests: a transaction, and cursors.
//!
//! Both look at the database through a [`View`], so what others commit meanwhile does not reach them. What a transaction changes stays in
//! a [`Draft`] until its COMMIT, which is one request whose transaction of the store writes it all. For that nobody else may have changed the
//! database since: the first statement that writes takes a [`Reservation`], and whoever else wants to write has to wait.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use parking_lot::Mutex;

use super::databases::{Reservation, View};
use crate::engine::Db;
use crate::limits::SQL_CURSORS_MAX;
use crate::sorted;
use crate::sql::SqlConnection;

/// Pages that a transaction has changed and not committed.
#[derive(Debug, Default)]
pub struct Draft {
    pages: HashMap<u32, Box<[u8]>>,
    /// How many pages there are now, if that has changed.
    count: Option<u32>,
    /// The smallest number that the count had: pages from there on are none but those in the draft.
    cut: Option<u32>,
    bytes: usize,
}

impl Draft {
    /// The page, if the draft has it; `Some(None)` if there is none any more.
    pub fn page(&self, page: u32) -> Option<Option<&[u8]>> {
        match self.pages.get(&page) {
            Some(bytes) => Some(Some(bytes)),
            None => self.cut.is_some_and(|cut| page >= cut).then_some(None),
        }
    }

    /// Changes a page. `count` is how many there were.
    pub fn write(&mut self, page: u32, bytes: &[u8], count: u32) {
        self.bytes += if self.pages.insert(page, bytes.into()).is_none() { bytes.len() } else { 0 };
        self.count = Some(self.count.unwrap_or(count).max(page.saturating_add(1)));
    }

    /// Drops all pages from this one on.
    pub fn truncate(&mut self, pages: u32) {
        let bytes = &mut self.bytes;
        self.pages.retain(|page, content| {
            let stays = *page < pages;
            *bytes -= if stays { 0 } else { content.len() };
            stays
        });
        self.cut = Some(self.cut.map_or(pages, |cut| cut.min(pages)));
        self.count = Some(pages);
    }

    /// How many pages there are, if that has changed.
    pub fn count(&self) -> Option<u32> {
        self.count
    }

    /// Where pages were cut off.
    pub fn cut(&self) -> Option<u32> {
        self.cut
    }

    /// Its pages, in order.
    pub fn pages(&self) -> Vec<(u32, &[u8])> {
        let mut pages: Vec<(u32, &[u8])> = self.pages.iter().map(|(page, bytes)| (*page, &**bytes)).collect();
        sorted::all(&mut pages, |(one, _), (other, _)| one.cmp(other));
        pages
    }

    /// Bytes of its pages.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.count.is_none()
    }
}

/// A transaction that a client has open.
pub struct Transaction {
    /// Where its database is.
    pub db: Db,
    /// See [`Transaction::db`].
    pub key: Box<[u8]>,
    /// Never locked, as that of a [`super::Lease`].
    connection: Mutex<Box<dyn SqlConnection>>,
    /// None for a database that was not there.
    pub view: Option<View>,
    /// What it has changed.
    pub draft: Draft,
    /// Once it has changed something.
    pub reservation: Option<Reservation>,
}

impl fmt::Debug for Transaction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Transaction({:?}, {} bytes)", self.view, self.draft.bytes())
    }
}

impl Transaction {
    /// One that is about to begin.
    pub fn new(
        (db, key): (Db, &[u8]),
        connection: Box<dyn SqlConnection>,
        view: Option<View>,
    ) -> Transaction {
        Transaction {
            db,
            key: key.into(),
            connection: Mutex::new(connection),
            view,
            draft: Draft::default(),
            reservation: None,
        }
    }

    /// Its parts, each to be changed by itself.
    pub fn parts(&mut self) -> (&mut dyn SqlConnection, Option<&View>, &mut Draft, &mut Option<Reservation>) {
        (&mut **self.connection.get_mut(), self.view.as_ref(), &mut self.draft, &mut self.reservation)
    }

    /// Its connection, at its end.
    pub fn into_connection(self) -> Box<dyn SqlConnection> {
        self.connection.into_inner()
    }
}

/// A cursor that a client has open.
pub struct Cursor {
    /// Where its database is.
    pub db: Db,
    /// See [`Cursor::db`].
    pub key: Box<[u8]>,
    connection: Mutex<Box<dyn SqlConnection>>,
    /// What it reads.
    pub view: View,
}

impl fmt::Debug for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Cursor({:?})", self.view)
    }
}

impl Cursor {
    /// One whose statement was begun.
    pub fn new((db, key): (Db, &[u8]), connection: Box<dyn SqlConnection>, view: View) -> Cursor {
        Cursor { db, key: key.into(), connection: Mutex::new(connection), view }
    }

    /// The same at its end.
    pub fn into_parts(self) -> (Box<dyn SqlConnection>, View) {
        (self.connection.into_inner(), self.view)
    }

    /// Its connection and what it reads.
    pub fn parts(&mut self) -> (&mut dyn SqlConnection, &View) {
        (&mut **self.connection.get_mut(), &self.view)
    }
}

/// What one client has open.
#[derive(Debug, Default)]
pub struct OpenSql {
    /// Begun by SQL.BEGIN.
    pub transaction: Option<Transaction>,
    cursors: BTreeMap<u64, Cursor>,
    last: u64,
}

impl OpenSql {
    /// That of a client that has only a transaction open.
    pub fn with_transaction(transaction: Option<Transaction>) -> OpenSql {
        OpenSql { transaction, ..OpenSql::default() }
    }

    /// Whether it has neither a transaction nor a cursor.
    pub fn is_empty(&self) -> bool {
        self.transaction.is_none() && self.cursors.is_empty()
    }

    /// Whether a transaction is open on this database.
    pub fn has_transaction_on(&self, db: Db, key: &[u8]) -> bool {
        self.transaction.as_ref().is_some_and(|open| open.db == db && *open.key == *key)
    }

    /// Whether another cursor may be opened.
    pub fn may_open_cursor(&self) -> bool {
        self.cursors.len() < SQL_CURSORS_MAX
    }

    /// Keeps a cursor under a new number.
    pub fn open_cursor(&mut self, cursor: Cursor) -> u64 {
        self.last += 1;
        self.cursors.insert(self.last, cursor);
        self.last
    }

    /// A cursor, to be [put back](Self::put_cursor) unless it has ended.
    pub fn take_cursor(&mut self, number: u64) -> Option<Cursor> {
        self.cursors.remove(&number)
    }

    /// See [`Self::take_cursor`].
    pub fn put_cursor(&mut self, number: u64, cursor: Cursor) {
        self.cursors.insert(number, cursor);
    }
}

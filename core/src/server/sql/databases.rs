//! The databases that are known: their versions, idle connections, views and reservations.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;

use super::history::{Found, History, OldPages};
use crate::limits::{IDLE_DATABASES_MAX, SQL_HISTORY_MAX_BYTES, SQL_TRANSACTION_IDLE_MS};
use crate::sql::{SqlConnection, SqlEngine};

/// A version that no commit gives.
pub(super) const NO_VERSION: u64 = 0;

/// The databases of a server. They are known by their committed collections ([`crate::engine::Root`]), which RENAME and MOVE keep.
#[derive(Default)]
pub struct Databases {
    engine: RwLock<Option<Arc<dyn SqlEngine>>>,
    /// What the engine knows of the bound of its memory.
    memory_max_bytes: AtomicU64,
    known: Arc<Mutex<Known>>,
}

#[derive(Default)]
struct Known {
    databases: HashMap<u64, Database>,
    /// How many may be known while no statement runs on them; None for [`IDLE_DATABASES_MAX`].
    idle_max: Option<usize>,
    /// The last version or time of use that was given.
    last: u64,
}

#[derive(Default)]
struct Database {
    /// That of the last commit; [`NO_VERSION`] if there was none since it became known.
    version: u64,
    /// How many transactions have a connection.
    lent: u32,
    /// At most one, with the version that it has seen.
    idle: Option<(Box<dyn SqlConnection>, u64)>,
    used: u64,
    history: History,
    /// Who is to change it next, and when that one was active last.
    reserved: Option<(u64, u64)>,
    /// Connections that wait for the end of the reservation.
    waiting: Vec<Waker>,
}

impl Database {
    /// Whether a transaction that a client has open is to change it next.
    fn is_reserved(&mut self, now_ms: u64) -> bool {
        if self.reserved.is_some_and(|(_, used_ms)| is_idle(used_ms, now_ms)) {
            self.reserved = None;
        }
        self.reserved.is_some()
    }

    /// Whether nobody has anything of it.
    fn is_unused(&self) -> bool {
        self.lent == 0 && self.idle.is_none() && !self.history.has_readers()
    }
}

impl fmt::Debug for Databases {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Databases({} known)", self.known.lock().databases.len())
    }
}

impl Known {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

impl Databases {
    /// Says that this home has SQL.
    pub fn set_engine(&self, engine: Arc<dyn SqlEngine>) {
        *self.engine.write() = Some(engine);
    }

    /// Says that this home keeps fewer databases open than others while no statement runs on them.
    pub fn set_idle_max(&self, count: usize) {
        self.known.lock().idle_max = Some(count);
    }

    /// Bounds the memory of all databases of the process; 0 is no bound. Costs a comparison if nothing changes.
    pub fn bound_memory(&self, bytes: u64) {
        if self.memory_max_bytes.load(Ordering::Relaxed) != bytes
            && let Some(engine) = self.engine()
        {
            self.memory_max_bytes.store(bytes, Ordering::Relaxed);
            engine.set_memory_max(bytes);
        }
    }

    /// What opens databases, if this home has SQL.
    pub fn engine(&self) -> Option<Arc<dyn SqlEngine>> {
        self.engine.read().clone()
    }

    /// An idle connection to the database with this collection, the version that it has seen, and whether what it keeps still counts.
    /// The key's lock is held.
    pub(super) fn take(&self, collection: u64) -> Option<(Box<dyn SqlConnection>, u64, bool)> {
        let mut known = self.known.lock();
        let database = known.databases.get_mut(&collection)?;
        let (connection, seen) = database.idle.take()?;
        database.lent += 1;
        Some((connection, database.version, seen == database.version))
    }

    /// Another connection to it was opened, and has read it under the key's lock; the version that it has seen.
    pub(super) fn opened(&self, collection: u64) -> u64 {
        let mut known = self.known.lock();
        let fresh = known.next();
        let database = known.databases.entry(collection).or_default();
        database.lent += 1;
        if database.version == NO_VERSION {
            database.version = fresh;
        }
        database.version
    }

    /// A commit has changed this database, whose pages were `before`; its version from now on. The key's lock is held.
    pub fn committed(&self, collection: u64, before: Option<OldPages>) -> u64 {
        let mut known = self.known.lock();
        let version = known.next();
        // One without connections is read when the next one is opened.
        if let Some(database) = known.databases.get_mut(&collection) {
            database.version = version;
            if let Some(before) = before {
                database.history.committed(version, before);
                known.bound_history();
            }
        }
        version
    }

    /// What a statement has to know that is about to change the database. The key's lock is held.
    pub fn before_a_change(&self, collection: u64, now_ms: u64) -> BeforeAChange {
        let mut known = self.known.lock();
        known.databases.get_mut(&collection).map_or_else(BeforeAChange::default, |database| BeforeAChange {
            has_readers: database.history.has_readers(),
            is_reserved: database.is_reserved(now_ms),
        })
    }

    /// The database as it is now, for as long as the view lives. The key's lock is held, and a connection lent.
    pub fn view(&self, collection: u64) -> Option<View> {
        let mut known = self.known.lock();
        let database = known.databases.get_mut(&collection)?;
        let version = database.version;
        database.history.begin(version);
        Some(View { known: self.known.clone(), collection, version })
    }

    /// Bytes of pages that are kept for views.
    pub fn history_bytes(&self) -> usize {
        self.known.lock().history_bytes()
    }

    /// A connection that a client has kept is lent to a transaction.
    pub(super) fn lend_again(&self, collection: u64) {
        if let Some(database) = self.known.lock().databases.get_mut(&collection) {
            database.lent += 1;
        }
    }

    /// A connection that was lent is closed.
    pub(super) fn closed(&self, collection: u64) {
        let mut known = self.known.lock();
        if let Some(database) = known.databases.get_mut(&collection) {
            database.lent = database.lent.saturating_sub(1);
            if database.is_unused() {
                known.databases.remove(&collection);
            }
        }
    }

    /// Gives a connection back, which has seen this version.
    pub(super) fn give_back(&self, collection: u64, connection: Box<dyn SqlConnection>, version: u64) {
        // Dropped without the lock: closing a database takes a while.
        let mut gone: SmallVec<[Box<dyn SqlConnection>; 2]> = SmallVec::new();
        let mut known = self.known.lock();
        let used = known.next();
        if let Some(database) = known.databases.get_mut(&collection) {
            database.lent = database.lent.saturating_sub(1);
            database.used = used;
            // Of two the one that has seen more stays.
            if database.idle.as_ref().is_some_and(|(_, seen)| *seen >= version) {
                gone.push(connection);
            } else {
                gone.extend(database.idle.replace((connection, version)).map(|(older, _)| older));
            }
        }
        gone.extend(known.close_oldest());
        drop(known);
    }

    /// Bytes that idle connections hold.
    pub fn memory_bytes(&self) -> u64 {
        let known = self.known.lock();
        let idle = known.databases.values().filter_map(|database| database.idle.as_ref());
        idle.map(|(connection, _)| connection.memory_bytes()).sum()
    }

    /// How many databases are known.
    #[cfg(test)]
    pub(super) fn known_len(&self) -> usize {
        self.known.lock().databases.len()
    }

    /// Closes all idle connections; whether there were any.
    pub fn close_idle(&self) -> bool {
        let mut gone = Vec::new();
        let mut known = self.known.lock();
        known.databases.retain(|_, database| {
            gone.extend(database.idle.take());
            !database.is_unused()
        });
        drop(known);
        !gone.is_empty()
    }
}

/// What a statement has to know that is about to change a database.
#[derive(Clone, Copy, Debug, Default)]
pub struct BeforeAChange {
    /// Somebody looks at it as it was, so what pages were has to be kept.
    pub has_readers: bool,
    /// A transaction that a client has open is to change it next.
    pub is_reserved: bool,
}

/// A database as it was at one version.
pub struct View {
    known: Arc<Mutex<Known>>,
    collection: u64,
    version: u64,
}

impl fmt::Debug for View {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "View(version {} of database {})", self.version, self.collection)
    }
}

impl View {
    /// The collection of the database.
    pub fn collection(&self) -> u64 {
        self.collection
    }

    /// The version of the database.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether no commit has changed the database since.
    pub fn is_current(&self) -> bool {
        let known = self.known.lock();
        known.databases.get(&self.collection).is_some_and(|database| database.version == self.version)
    }

    /// Reads bytes of a page from `offset` on if a commit has changed it since; `Old(false)` if it was not there. The key's lock
    /// is held.
    pub fn read(&self, page: u32, offset: usize, out: &mut [u8]) -> Found<bool> {
        let known = self.known.lock();
        let Some(database) = known.databases.get(&self.collection) else { return Found::Lost };
        match database.history.page(self.version, page) {
            Found::Current => Found::Current,
            Found::Lost => Found::Lost,
            Found::Old(None) => Found::Old(false),
            Found::Old(Some(bytes)) => match bytes.get(offset..).and_then(|rest| rest.get(..out.len())) {
                Some(part) => {
                    out.copy_from_slice(part);
                    Found::Old(true)
                }
                None => Found::Lost,
            },
        }
    }

    /// How many pages there were.
    pub fn page_count(&self) -> Found<u32> {
        let known = self.known.lock();
        let database = known.databases.get(&self.collection);
        database.map_or(Found::Lost, |database| database.history.count(self.version))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let mut known = self.known.lock();
        if let Some(database) = known.databases.get_mut(&self.collection) {
            database.history.end(self.version);
            if database.is_unused() {
                known.databases.remove(&self.collection);
            }
        }
    }
}

impl Known {
    fn history_bytes(&self) -> usize {
        self.databases.values().map(|database| database.history.bytes()).sum()
    }

    /// Has the oldest readers lose what they read, until what is kept for the others fits.
    fn bound_history(&mut self) {
        while self.history_bytes() > SQL_HISTORY_MAX_BYTES {
            let kept = self.databases.values_mut().filter(|database| database.history.bytes() > 0);
            let oldest = kept.min_by_key(|database| database.history.oldest().unwrap_or(0));
            let Some(database) = oldest else { return };
            let next = database.history.oldest().map_or(database.version, |oldest| oldest + 1);
            database.history.lose(next);
        }
    }

    /// The idle connection that was used the longest ago, if there are too many. It is no longer known.
    fn close_oldest(&mut self) -> Option<Box<dyn SqlConnection>> {
        if self.databases.len() <= self.idle_max.unwrap_or(IDLE_DATABASES_MAX) {
            return None;
        }
        let idle = self
            .databases
            .iter()
            .filter(|(_, database)| database.lent == 0 && !database.history.has_readers());
        let (&oldest, _) = idle.min_by_key(|(_, database)| database.used)?;
        self.databases.remove(&oldest)?.idle.map(|(connection, _)| connection)
    }
}

/// The right to be the next that changes a database.
pub struct Reservation {
    known: Arc<Mutex<Known>>,
    collection: u64,
    holder: u64,
}

impl fmt::Debug for Reservation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Reservation({} of database {})", self.holder, self.collection)
    }
}

impl Reservation {
    /// Whether it still holds; it is used now. One that was not used for long may have been given to somebody else.
    pub fn holds(&self, now_ms: u64) -> bool {
        let mut known = self.known.lock();
        match known.databases.get_mut(&self.collection).and_then(|database| database.reserved.as_mut()) {
            Some((holder, used_ms)) if *holder == self.holder => {
                *used_ms = now_ms;
                true
            }
            _ => false,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut known = self.known.lock();
        if let Some(database) = known.databases.get_mut(&self.collection)
            && database.reserved.is_some_and(|(holder, _)| holder == self.holder)
        {
            database.reserved = None;
            let waiting = std::mem::take(&mut database.waiting);
            // Waking takes locks of its own.
            drop(known);
            waiting.into_iter().for_each(Waker::wake);
        }
    }
}

impl Databases {
    /// Has a connection woken at the end of the reservation that a database has; when that ends at the latest if it is not used again,
    /// unix time in milliseconds. None if it has ended.
    pub fn wait_for_reservation(&self, collection: u64, now_ms: u64, waker: Waker) -> Option<u64> {
        let mut known = self.known.lock();
        let database = known.databases.get_mut(&collection)?;
        let (_, used_ms) = database.reserved.filter(|(_, used_ms)| !is_idle(*used_ms, now_ms))?;
        if !database.waiting.iter().any(|other| other.will_wake(&waker)) {
            database.waiting.push(waker);
        }
        Some(used_ms.saturating_add(SQL_TRANSACTION_IDLE_MS))
    }

    /// Reserves a database of which the caller has a view.
    pub fn reserve(&self, collection: u64, now_ms: u64) -> Option<Reservation> {
        let mut known = self.known.lock();
        let holder = known.next();
        let database = known.databases.get_mut(&collection)?;
        if database.is_reserved(now_ms) {
            return None;
        }
        database.reserved = Some((holder, now_ms));
        Some(Reservation { known: self.known.clone(), collection, holder })
    }
}

fn is_idle(used_ms: u64, now_ms: u64) -> bool {
    now_ms.saturating_sub(used_ms) >= SQL_TRANSACTION_IDLE_MS
}

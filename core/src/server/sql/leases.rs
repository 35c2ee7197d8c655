//! The connections of one transaction.

use std::fmt;

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::databases::{Databases, NO_VERSION, View};
use super::history::OldPages;
use crate::engine::Db;
use crate::sql::SqlConnection;

/// A connection in a transaction.
pub struct Lease {
    /// Where the database is, as the transaction sees it.
    db: Db,
    key: Box<[u8]>,
    /// None for a database that the transaction has made.
    collection: Option<u64>,
    /// Never locked: a session may be looked at from several threads, though it is used by one.
    connection: Mutex<Box<dyn SqlConnection>>,
    /// What the connection had seen when it was taken, or when the transaction was committed.
    version: u64,
    has_written: bool,
    must_forget: bool,
    /// The number of the last command in the transaction that used it.
    command: u32,
}

impl Lease {
    /// A connection that was opened for this database just now.
    pub fn opened(
        databases: &Databases,
        (db, key): (Db, &[u8]),
        collection: Option<u64>,
        connection: Box<dyn SqlConnection>,
        command: u32,
    ) -> Lease {
        // It has read the database under the key's lock.
        let version = collection.map_or(NO_VERSION, |collection| databases.opened(collection));
        Lease {
            db,
            key: key.into(),
            collection,
            connection: Mutex::new(connection),
            version,
            has_written: false,
            must_forget: false,
            command,
        }
    }

    /// The connection.
    pub fn connection(&mut self) -> &mut dyn SqlConnection {
        &mut **self.connection.get_mut()
    }

    /// Closes the connection.
    pub fn close(self, databases: &Databases) {
        if let Some(collection) = self.collection {
            databases.closed(collection);
        }
    }

    /// Whether what it keeps may not count any more; it does from now on.
    pub fn take_must_forget(&mut self) -> bool {
        std::mem::take(&mut self.must_forget)
    }

    /// The connection and the database as it is, for a client that keeps both; the connection is out of the pool until it is
    /// [used again](Lease::again). No view of a database that is not there. The key's lock is held.
    pub fn keep(self, databases: &Databases) -> (Box<dyn SqlConnection>, Option<View>) {
        let view = self.collection.and_then(|collection| {
            let view = databases.view(collection);
            databases.closed(collection);
            view
        });
        (self.connection.into_inner(), view)
    }

    /// A connection that was kept by a client, for the transaction that ends its use; it has seen this version.
    pub fn again(
        databases: &Databases,
        (db, key): (Db, &[u8]),
        (connection, view): (Box<dyn SqlConnection>, Option<&View>),
        command: u32,
    ) -> Lease {
        let collection = view.map(View::collection);
        if let Some(collection) = collection {
            databases.lend_again(collection);
        }
        Lease {
            db,
            key: key.into(),
            collection,
            connection: Mutex::new(connection),
            version: view.map_or(NO_VERSION, View::version),
            has_written: false,
            must_forget: false,
            command,
        }
    }

    /// The transaction has changed pages by it.
    pub fn set_written(&mut self) {
        self.has_written = true;
    }
}

/// The connections of one transaction.
#[derive(Default)]
pub struct Leases {
    idle: SmallVec<[Lease; 1]>,
    /// The databases whose statements run at the moment, each inside the one before it.
    running: SmallVec<[(Db, Box<[u8]>); 1]>,
    /// What the transaction has changed of databases that have [views](View), by their collections.
    before: SmallVec<[(u64, OldPages); 1]>,
}

impl fmt::Debug for Leases {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Leases({} idle, {} running)", self.idle.len(), self.running.len())
    }
}

impl Leases {
    /// The connection to a database for the command with this number: the one that the transaction has used before, or one that was
    /// idle. None if one has to be opened.
    pub fn take(
        &mut self,
        databases: &Databases,
        (db, key): (Db, &[u8]),
        collection: Option<u64>,
        command: u32,
    ) -> Option<Lease> {
        let is_it = |lease: &Lease| lease.db == db && *lease.key == *key && lease.collection == collection;
        if let Some(at) = self.idle.iter().position(is_it) {
            let mut lease = self.idle.swap_remove(at);
            // Another command may have put something else in the place of the database.
            lease.must_forget |= command != lease.command.wrapping_add(1);
            lease.command = command;
            return Some(lease);
        }
        let (connection, version, is_current) = databases.take(collection?)?;
        Some(Lease {
            db,
            key: key.into(),
            collection,
            connection: Mutex::new(connection),
            version,
            has_written: false,
            must_forget: !is_current,
            command,
        })
    }

    /// Keeps a connection for the next statement of the transaction.
    pub fn put_back(&mut self, lease: Lease) {
        self.idle.push(lease);
    }

    /// A statement of this database begins, unless one runs already.
    pub fn begin(&mut self, db: Db, key: &[u8]) -> bool {
        let is_free = !self.is_running(db, key);
        if is_free {
            self.running.push((db, key.into()));
        }
        is_free
    }

    /// The statement that began last has ended.
    pub fn end(&mut self) {
        self.running.pop();
    }

    /// Whether a statement of a database with this key runs.
    pub fn is_key_running(&self, key: &[u8]) -> bool {
        self.running.iter().any(|(_, its_key)| **its_key == *key)
    }

    /// Whether a statement of this database runs.
    pub fn is_running(&self, db: Db, key: &[u8]) -> bool {
        self.running.iter().any(|(its_db, its_key)| *its_db == db && **its_key == *key)
    }

    /// Whether the transaction has no connection.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.idle.is_empty() && self.running.is_empty()
    }

    /// How many statements run, each inside the one before it.
    pub fn depth(&self) -> usize {
        self.running.len()
    }

    /// Whether a statement of any database runs.
    #[inline]
    pub fn is_any_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// The transaction went back to a savepoint: pages that connections have written may be others now.
    pub fn went_back(&mut self) {
        for lease in self.idle.iter_mut().filter(|lease| lease.has_written) {
            lease.must_forget = true;
        }
    }

    /// What is known of the pages of a database with views before the transaction; [given back](Self::put_old) after a statement.
    pub fn take_old(&mut self, collection: u64) -> OldPages {
        let known = self.before.iter().position(|(its_own, _)| *its_own == collection);
        known.map_or_else(OldPages::default, |at| self.before.swap_remove(at).1)
    }

    /// See [`Self::take_old`].
    pub fn put_old(&mut self, collection: u64, before: OldPages) {
        self.before.push((collection, before));
    }

    /// The transaction is committed, and its locks are held.
    #[inline]
    pub fn committed(&mut self, databases: &Databases) {
        for lease in self.idle.iter_mut().filter(|lease| lease.has_written) {
            if let Some(collection) = lease.collection {
                let at = self.before.iter().position(|(its_own, _)| *its_own == collection);
                let before = at.map(|at| self.before.swap_remove(at).1);
                lease.version = databases.committed(collection, before);
                lease.has_written = false;
            }
        }
    }

    /// The databases that the transaction has changed, which [`Databases::committed`] is to hear of once it is committed.
    pub fn written(&mut self) -> SmallVec<[(u64, Option<OldPages>); 1]> {
        let written = self.idle.iter().filter(|lease| lease.has_written).filter_map(|lease| lease.collection);
        let mut before = std::mem::take(&mut self.before);
        written
            .map(|collection| {
                let at = before.iter().position(|(its_own, _)| *its_own == collection);
                (collection, at.map(|at| before.swap_remove(at).1))
            })
            .collect()
    }

    /// The transaction is over, whatever became of it: gives all connections back.
    #[inline]
    pub fn give_back(&mut self, databases: &Databases) {
        self.running.clear();
        self.before.clear();
        for lease in self.idle.drain(..) {
            if let Some(collection) = lease.collection {
                let is_known = !lease.has_written && !lease.must_forget;
                let version = if is_known { lease.version } else { NO_VERSION };
                databases.give_back(collection, lease.connection.into_inner(), version);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::limits::IDLE_DATABASES_MAX;
    use crate::sql::{Rows, SqlDescription, SqlDone, SqlError, SqlHost, SqlLimits, SqlText};

    const SHOP: (Db, &[u8]) = (0, b"shop");
    const COLLECTION: Option<u64> = Some(7);

    /// A connection that runs nothing, and counts how many of its like there are.
    struct Numbered(u64, Arc<AtomicUsize>);

    impl Drop for Numbered {
        fn drop(&mut self) {
            self.1.fetch_sub(1, Ordering::Relaxed);
        }
    }

    impl SqlConnection for Numbered {
        fn run(
            &mut self,
            _: &mut dyn SqlHost,
            _: &SqlText<'_>,
            _: &SqlLimits,
            _: &mut dyn Rows,
        ) -> Result<SqlDone, SqlError> {
            Ok(SqlDone::default())
        }

        fn forget(&mut self, _: &mut dyn SqlHost) -> Result<(), SqlError> {
            Ok(())
        }

        fn describe(&mut self, _: &mut dyn SqlHost, _: &[u8]) -> Result<SqlDescription, SqlError> {
            Ok(SqlDescription::default())
        }

        fn keep_open(&mut self, _: &mut dyn SqlHost, _: bool) -> Result<(), SqlError> {
            Ok(())
        }

        fn is_open(&self) -> bool {
            false
        }

        fn open_cursor(
            &mut self,
            _: &mut dyn SqlHost,
            _: &SqlText<'_>,
            _: &SqlLimits,
            _: &mut dyn Rows,
        ) -> Result<(), SqlError> {
            Ok(())
        }

        fn fetch(&mut self, _: &mut dyn SqlHost, _: &mut dyn Rows) -> Result<bool, SqlError> {
            Ok(false)
        }

        fn close_cursor(&mut self) {}

        fn memory_bytes(&self) -> u64 {
            self.0
        }
    }

    #[derive(Default)]
    struct World {
        databases: Databases,
        open: Arc<AtomicUsize>,
        opened: u64,
    }

    impl World {
        /// Takes a connection as a command does: the number of the connection, and whether it must forget.
        fn run(
            &mut self,
            leases: &mut Leases,
            collection: Option<u64>,
            command: u32,
            writes: bool,
        ) -> (u64, bool) {
            let lease = leases.take(&self.databases, SHOP, collection, command);
            let mut lease = lease.unwrap_or_else(|| {
                self.opened += 1;
                self.open.fetch_add(1, Ordering::Relaxed);
                let connection = Box::new(Numbered(self.opened, self.open.clone()));
                Lease::opened(&self.databases, SHOP, collection, connection, command)
            });
            let must_forget = lease.take_must_forget();
            if writes {
                lease.set_written();
            }
            let number = lease.connection().memory_bytes();
            leases.put_back(lease);
            (number, must_forget)
        }

        /// A transaction of one command.
        fn alone(&mut self, writes: bool, commits: bool) -> (u64, bool) {
            let mut leases = Leases::default();
            let ran = self.run(&mut leases, COLLECTION, 1, writes);
            if commits {
                leases.committed(&self.databases);
            }
            leases.give_back(&self.databases);
            ran
        }
    }

    #[test]
    fn rows_of_a_dropped_transaction_stay_in_a_connection() {
        let mut world = World::default();
        assert_eq!(world.alone(true, true), (1, false));
        assert_eq!(world.alone(false, true), (1, false));
        assert_eq!(world.alone(true, false), (1, false));
        assert_eq!(world.alone(false, true), (1, true), "the one before was dropped");
        assert_eq!(world.alone(false, false), (1, false), "nothing was changed, so nothing can be wrong");
        assert_eq!(world.alone(true, true), (1, false));
    }

    #[test]
    fn connection_that_comes_back_late_misses_a_commit() {
        let mut world = World::default();
        let (mut first, mut second) = (Leases::default(), Leases::default());
        assert_eq!(world.run(&mut first, COLLECTION, 1, true), (1, false));
        first.committed(&world.databases);
        // The locks are free, and the connection is not back yet.
        assert_eq!(world.run(&mut second, COLLECTION, 1, true), (2, false));
        second.committed(&world.databases);
        second.give_back(&world.databases);
        first.give_back(&world.databases);
        assert_eq!(world.alone(false, true), (2, false), "the one that has seen more");
        assert_eq!(world.open.load(Ordering::Relaxed), 1);

        let (mut first, mut second) = (Leases::default(), Leases::default());
        assert_eq!(world.run(&mut first, COLLECTION, 1, false), (2, false));
        first.committed(&world.databases);
        assert_eq!(world.run(&mut second, COLLECTION, 1, true), (3, false));
        first.give_back(&world.databases);
        second.committed(&world.databases);
        assert_eq!(
            world.run(&mut Leases::default(), COLLECTION, 1, false),
            (2, true),
            "it has missed a commit"
        );
    }

    #[test]
    fn another_database_in_the_same_transaction_is_read_by_the_old_connection() {
        let mut world = World::default();
        let mut leases = Leases::default();
        assert_eq!(world.run(&mut leases, None, 4, true), (1, false));
        assert_eq!(world.run(&mut leases, None, 5, true), (1, false));
        // RENAME or DEL may have been the command between them.
        assert_eq!(world.run(&mut leases, None, 7, true), (1, true));
        leases.went_back();
        assert_eq!(world.run(&mut leases, None, 8, false), (1, true));
        leases.committed(&world.databases);
        leases.give_back(&world.databases);
        assert_eq!(world.open.load(Ordering::Relaxed), 0, "only now it has a collection");
    }

    #[test]
    fn open_databases_fill_the_memory() {
        open_many(IDLE_DATABASES_MAX, World::default());
        let few = World::default();
        few.databases.set_idle_max(3);
        open_many(3, few);
    }

    fn open_many(idle_max: usize, mut world: World) {
        for collection in 0..3 * idle_max as u64 {
            let mut leases = Leases::default();
            world.run(&mut leases, Some(collection), 1, true);
            leases.committed(&world.databases);
            leases.give_back(&world.databases);
        }
        assert_eq!(world.open.load(Ordering::Relaxed), idle_max);
        assert!(world.databases.memory_bytes() > 0);
        assert!(world.databases.close_idle());
        assert!(!world.databases.close_idle());
        assert_eq!(world.open.load(Ordering::Relaxed), 0);
        assert_eq!(world.databases.known_len(), 0);
    }

    #[test]
    fn statement_runs_inside_a_statement_of_the_same_database() {
        let mut leases = Leases::default();
        assert!(leases.begin(0, b"shop") && leases.begin(1, b"shop") && leases.is_any_running());
        assert!(!leases.begin(0, b"shop"));
        leases.end();
        leases.end();
        assert!(leases.begin(0, b"shop"));
    }
}

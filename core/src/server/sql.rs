//! SQL databases as all sessions share them: the engine, and the connections that wait for their next statement.
//!
//! A connection keeps pages in memory. They count only as long as nobody else has changed the database, so every commit that changes
//! one gives it a new version, under the lock of its key; a connection that comes back with an older version has to
//! [forget](crate::sql::SqlConnection::forget) what it keeps. A run that is thrown away gives no version, and its connections come
//! back with none.
//!
//! ```text
//!  Databases  --take-->  Lease  --------- Leases of one transaction ---------+
//!      ^                                                                     |
//!      +----- give back: with the version of the commit, or with none -------+
//! ```

mod databases;
mod history;
mod leases;
mod open;
mod streams;

pub use databases::{BeforeAChange, Databases, Reservation, View};
pub use history::{Found, OldPages};
pub use leases::{Lease, Leases};
pub use open::{Cursor, Draft, OpenSql, Transaction};
pub use streams::{Stream, Streams};

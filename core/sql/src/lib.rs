//! SQLite over the pages of a key: the SQL engine of all homes of EdgeCask.
//!
//! [`Sqlite`] implements the trait [`SqlEngine`](edgecask_core::sql::SqlEngine). SQLite is compiled in with the options of
//! `.cargo/config.toml`. A database is no file: its pages come from the host that each call lends.
//!
//! - `engine` opens connections.
//! - `connection` runs a text: its statements in order, and all of them or none.
//! - `transaction` makes savepoints of the transactions that a text of several statements begins itself.
//! - `parameters` spreads parameters over the statements of a text, `blank` finds where they begin, `cache` keeps them prepared.
//! - `function` is `redis('CMD', …)`, and random numbers by the host.
//! - `library` makes functions of the server's libraries known to SQLite.
//! - `search` and `json` have those functions of SQLite that nothing could stop, once more.
//! - `table` has the tables over keys, `redis_hash(key)` and its like.
//! - `graph` has the tables over graphs, `graph_walk(edges, start)` and its like.
//! - `authorizer` says which statements may be prepared.
//! - `shared` is what the callbacks of SQLite see of a connection; `pages` is the file as SQLite sees it.
//! - `ffi` is SQLite's C interface, `table_ffi` and `graph_ffi` those to tables over keys and graphs, and `vfs` is its way to the pages,
//!   `page_cache` its cache of them, `allocator` its memory; they alone have unsafe code.
//!
//! Promises: a text that fails, is killed or panics leaves no row, no open transaction and no temporary table, and its connection is
//! fit for the next. SQLite opens no file, loads no code and asks neither the clock nor the system for random numbers where a statement
//! would notice; only the choice of a rowid in a table whose rowids are used up is SQLite's own.
//!
//! A host must know: what the pages were before a text that failed by the engine's own error is the caller's to bring back, by dropping
//! the transaction; [`SqlConnection::forget`](edgecask_core::sql::SqlConnection::forget) must follow it. Two connections may not
//! work on one database in one moment: a host whose `call` runs SQL answers a second use of the same database by an error.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod allocator;
mod authorizer;
mod blank;
mod cache;
mod connection;
mod engine;
#[allow(unsafe_code)]
mod ffi;
mod function;
mod graph;
#[allow(unsafe_code)]
mod graph_ffi;
mod json;
mod library;
mod limits;
#[allow(unsafe_code)]
mod page_cache;
mod pages;
mod parameters;
mod search;
mod shared;
mod table;
#[allow(unsafe_code)]
mod table_ffi;
mod transaction;
#[allow(unsafe_code)]
mod vfs;

pub use engine::Sqlite;

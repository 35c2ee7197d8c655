//! SQL databases in an object: SQLite within bounds of memory.

use std::sync::Arc;

use edgecask_core::bitcask::Bitcask;
use edgecask_core::server::Server;
use edgecask_sql::Sqlite;

use crate::BUDGET;
use crate::limits::{SQL_CACHE_KIB, SQL_HEAP_MAX_BYTES, SQL_IDLE_DATABASES_MAX};

/// Adds the engine.
pub(super) fn open(server: &Server<Bitcask>) {
    let engine = Sqlite::with_cache_kib(SQL_CACHE_KIB).within_heap(SQL_HEAP_MAX_BYTES);
    engine.set_budget(BUDGET);
    server.shared.sql.set_idle_max(SQL_IDLE_DATABASES_MAX);
    server.shared.sql.set_engine(Arc::new(engine));
}

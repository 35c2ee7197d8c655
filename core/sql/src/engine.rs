//! The engine, which opens connections.

use edgecask_core::memory_budget::MemoryBudget;
use edgecask_core::sql::{SqlConnection, SqlEngine, SqlError, SqlHost};

use crate::connection::Connection;
use crate::ffi;
use crate::limits::{CACHE_KIB, PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use crate::shared::set_budget;

/// SQLite as an SQL engine.
#[derive(Clone, Copy, Debug)]
pub struct Sqlite {
    cache_kib: u32,
    /// 0 is no bound.
    heap_max_bytes: u64,
}

impl Default for Sqlite {
    fn default() -> Sqlite {
        Sqlite { cache_kib: CACHE_KIB, heap_max_bytes: 0 }
    }
}

impl Sqlite {
    /// Each connection keeps so many KiB of pages in memory, apart from those that a statement holds at the moment.
    pub fn with_cache_kib(cache_kib: u32) -> Sqlite {
        Sqlite { cache_kib, ..Sqlite::default() }
    }

    /// The same in a home where the memory of all connections of the process together is bounded whatever its settings say; 0 is no bound.
    pub fn within_heap(self, heap_max_bytes: u64) -> Sqlite {
        self.set_heap_limit(heap_max_bytes);
        Sqlite { heap_max_bytes, ..self }
    }

    /// Bounds the memory of all connections of the process together; 0 is no bound. A statement that needs more fails with
    /// `SQLITE_NOMEM`.
    pub fn set_heap_limit(&self, bytes: u64) {
        ffi::set_heap_limit(bytes);
    }

    /// Says how much memory is left in this process; the first budget stays. Functions ask before they make long values, and where SQLite's
    /// memory is Rust's (WebAssembly) SQLite leaves what a budget keeps free.
    pub fn set_budget(&self, budget: MemoryBudget) {
        set_budget(budget);
    }

    /// Bytes that all connections of the process together hold.
    pub fn heap_bytes(&self) -> u64 {
        ffi::heap_bytes()
    }
}

impl SqlEngine for Sqlite {
    fn open(&self, host: &mut dyn SqlHost, page_bytes: usize) -> Result<Box<dyn SqlConnection>, SqlError> {
        if !page_bytes.is_power_of_two() || !(PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(&page_bytes) {
            return Err(crate::connection::no_database());
        }
        Ok(Box::new(Connection::open(host, page_bytes, self.cache_kib)?))
    }

    fn set_memory_max(&self, bytes: u64) {
        let bounds = [bytes, self.heap_max_bytes];
        self.set_heap_limit(bounds.into_iter().filter(|bound| *bound > 0).min().unwrap_or(0));
    }

    fn version(&self) -> &'static str {
        ffi::version()
    }
}

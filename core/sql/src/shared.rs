//! What a connection and SQLite's callbacks share: the lease of the host, the pages, and why a call was stopped.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

use edgecask_core::engine::EngineError;
use edgecask_core::memory_budget::MemoryBudget;
use edgecask_core::script::{Tick, Writer};
use edgecask_core::sql::SqlError;
use rusqlite::ffi;

use crate::authorizer::Noted;
use crate::graph::cache::Cache;
use crate::pages::Pages;
use crate::vfs::Lease;

static BUDGET: OnceLock<MemoryBudget> = OnceLock::new();

/// Says how much memory is left in this process. The first budget stays.
pub(crate) fn set_budget(budget: MemoryBudget) {
    BUDGET.get_or_init(|| budget);
}

/// How much memory is left in this process.
pub(crate) fn budget() -> MemoryBudget {
    BUDGET.get().copied().unwrap_or(MemoryBudget::UNBOUNDED)
}

/// Whether there is memory for so many bytes that a function makes outside of SQLite's own memory.
pub(crate) fn has_memory(bytes: usize) -> bool {
    budget().ask(1, bytes as u64).is_ok()
}

/// A vector that grows to so many bytes takes three times as many at most, while its bytes are copied into a larger block.
pub(crate) fn has_memory_to_grow(bytes: usize) -> bool {
    has_memory(bytes.saturating_mul(3))
}

/// Why a call was ended from outside SQLite.
pub(crate) enum Stop {
    Engine(EngineError),
    Abandoned,
    Killed,
    /// A panic of the host, which goes on once SQLite has returned.
    Panic(Box<dyn Any + Send>),
}

impl Stop {
    /// The error of the call; a panic goes on.
    pub fn into_error(self) -> SqlError {
        match self {
            Stop::Engine(error) => SqlError::Engine(error),
            Stop::Abandoned => SqlError::Abandoned,
            Stop::Killed => SqlError::Killed,
            Stop::Panic(payload) => resume_unwind(payload),
        }
    }
}

pub(crate) struct Shared {
    pub lease: Lease,
    pub pages: RefCell<Pages>,
    stop: RefCell<Option<Stop>>,
    /// What the statement that is being prepared is.
    pub noted: Cell<Noted>,
    /// The name of the savepoint that it begins, releases or goes back to.
    pub savepoint: RefCell<Vec<u8>>,
    /// Why the authorizer refused it.
    pub refusal: RefCell<Option<String>>,
    /// The connection's own statements run, which may do anything.
    pub is_internal: Cell<bool>,
    /// The text may change nothing.
    pub is_read_only: Cell<bool>,
    /// Transactions stay open between texts.
    pub keeps_open: Cell<bool>,
    /// A statement runs, so what is prepared now is SQLite's own.
    pub is_stepping: Cell<bool>,
    /// Bytes of a value, at most.
    pub value_bytes: Cell<usize>,
    /// How many commands and functions were called.
    pub calls: Cell<u64>,
    /// The reply of a command, between two of which its memory stays.
    pub reply: RefCell<Writer>,
    /// Statements that read the edges of graphs.
    pub graphs: RefCell<Cache>,
    /// Tables over graphs that are being read, each inside of the one before.
    pub graph_depth: Cell<u32>,
}

impl Shared {
    pub fn new(page_bytes: usize) -> Shared {
        Shared {
            lease: Lease::default(),
            pages: RefCell::new(Pages::new(page_bytes)),
            stop: RefCell::new(None),
            noted: Cell::new(Noted::default()),
            savepoint: RefCell::default(),
            refusal: RefCell::new(None),
            is_internal: Cell::new(false),
            is_read_only: Cell::new(false),
            keeps_open: Cell::new(false),
            is_stepping: Cell::new(false),
            value_bytes: Cell::new(usize::MAX),
            calls: Cell::new(0),
            reply: RefCell::new(Writer::with_integers(0)),
            graphs: RefCell::default(),
            graph_depth: Cell::new(0),
        }
    }

    /// Remembers why the call ends: the first reason counts, except that nothing hides a panic.
    pub fn stop_with(&self, reason: Stop) {
        let mut stop = self.stop.borrow_mut();
        if stop.is_none() || matches!(reason, Stop::Panic(_)) {
            *stop = Some(reason);
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.borrow().is_some()
    }

    pub fn take_stop(&self) -> Option<Stop> {
        self.stop.take()
    }

    /// Runs what a callback does. A panic becomes a stop and the other answer; after one nothing of the host is called again.
    pub fn guarded<R>(&self, otherwise: R, act: impl FnOnce() -> R) -> R {
        if matches!(&*self.stop.borrow(), Some(Stop::Panic(_))) {
            return otherwise;
        }
        match catch_unwind(AssertUnwindSafe(act)) {
            Ok(answer) => answer,
            Err(payload) => {
                self.stop_with(Stop::Panic(payload));
                otherwise
            }
        }
    }

    /// Remembers the engine's error.
    pub fn fail(&self, error: EngineError) {
        self.stop_with(if error.asks_to_run_again() { Stop::Abandoned } else { Stop::Engine(error) });
    }

    /// Whether the statement may go on.
    pub fn may_go_on(&self) -> bool {
        // Where a host counts ticks because it has no clock, long values count, too.
        #[cfg(target_arch = "wasm32")]
        let ticks = 1 + crate::allocator::take_allocated_bytes() / crate::limits::ALLOCATED_BYTES_OF_A_TICK;
        #[cfg(not(target_arch = "wasm32"))]
        let ticks = 1;
        (0..ticks).all(|_| self.tick())
    }

    fn tick(&self) -> bool {
        if self.is_stopped() {
            return false;
        }
        match self.lease.with(|host| host.tick()) {
            Some(Tick::Continue) => true,
            Some(Tick::Kill) => {
                self.stop_with(Stop::Killed);
                false
            }
            None => false,
        }
    }

    /// Asks whether something may be changed, and answers SQLite's result code.
    pub fn reserve(&self) -> c_int {
        let may_write = self.lease.with(|host| host.may_write()) == Some(true);
        if may_write { ffi::SQLITE_OK } else { ffi::SQLITE_BUSY }
    }

    /// Reads bytes of the file and answers SQLite's result code.
    pub fn read(&self, offset: i64, out: &mut [u8]) -> c_int {
        let mut pages = self.pages.borrow_mut();
        let Some((page, within)) = pages.place(offset, out.len()) else { return ffi::SQLITE_IOERR_READ };
        match self.lease.with(|host| pages.read(host, page, within, out)) {
            Some(Ok(true)) => ffi::SQLITE_OK,
            Some(Ok(false)) => {
                out.fill(0);
                ffi::SQLITE_IOERR_SHORT_READ
            }
            Some(Err(error)) => {
                self.fail(error);
                ffi::SQLITE_IOERR_READ
            }
            None => ffi::SQLITE_IOERR_READ,
        }
    }

    /// Writes a page and answers SQLite's result code.
    pub fn write(&self, offset: i64, bytes: &[u8]) -> c_int {
        let mut pages = self.pages.borrow_mut();
        if bytes.len() != pages.page_bytes() {
            return ffi::SQLITE_IOERR_WRITE;
        }
        let Some((page, _)) = pages.place(offset, bytes.len()) else { return ffi::SQLITE_FULL };
        self.done(self.lease.with(|host| pages.write(host, page, bytes)), ffi::SQLITE_IOERR_WRITE)
    }

    /// Cuts the file off and answers SQLite's result code.
    pub fn truncate(&self, size: i64) -> c_int {
        let mut pages = self.pages.borrow_mut();
        let Some((page, 0)) = pages.place(size, 0) else { return ffi::SQLITE_IOERR_TRUNCATE };
        self.done(self.lease.with(|host| pages.truncate(host, page)), ffi::SQLITE_IOERR_TRUNCATE)
    }

    /// The size of the file, or SQLite's result code.
    pub fn file_bytes(&self) -> Result<i64, c_int> {
        let mut pages = self.pages.borrow_mut();
        match self.lease.with(|host| pages.count(host)) {
            Some(Ok(count)) => i64::try_from(u64::from(count) * pages.page_bytes() as u64)
                .map_err(|_| ffi::SQLITE_IOERR_FSTAT),
            Some(Err(error)) => {
                self.fail(error);
                Err(ffi::SQLITE_IOERR_FSTAT)
            }
            None => Err(ffi::SQLITE_IOERR_FSTAT),
        }
    }

    fn done(&self, outcome: Option<Result<(), EngineError>>, code: c_int) -> c_int {
        match outcome {
            Some(Ok(())) => ffi::SQLITE_OK,
            Some(Err(error)) => {
                self.fail(error);
                code
            }
            None => code,
        }
    }
}

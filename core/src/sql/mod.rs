//! What an SQL engine must be able to do, and what it may ask of the server; nothing here runs SQL.
//!
//! - [`SqlEngine`] opens connections to databases; the crate `edgecask-sql` implements it with SQLite.
//! - [`SqlConnection`] runs statements on one database. It has caches of its own, so it is kept from one use to the next.
//! - [`SqlHost`] is what a running statement reaches of the server: the pages of its database, commands, and a tick by which the
//!   server can stop it.
//! - [`Rows`] is where the rows of a result go, one by one.
//!
//! A database is a key, and its pages are subkeys of that ([`crate::data::sqldb`]). A connection keeps pages in memory and cannot
//! know what became of the transaction that changed them, so the caller says so: [`SqlConnection::forget`].
//!
//! Promises: nothing here allocates by a count that a statement announced, or knows a command. A statement that was stopped or
//! failed leaves its connection fit for the next one, and the pages as they were before it.

use std::ops::ControlFlow;

use crate::engine::EngineError;
use crate::script::{Answer, Tick, Writer};

/// Steps of SQLite's machine between two ticks: some 20 µs.
pub const STEPS_OF_A_TICK: u16 = 1000;

/// One value of SQL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SqlValue<'a> {
    /// `NULL`
    Null,
    /// `INTEGER`
    Integer(i64),
    /// `REAL`, which is never NaN.
    Real(f64),
    /// `TEXT`, mostly but not always UTF-8.
    Text(&'a [u8]),
    /// `BLOB`
    Blob(&'a [u8]),
}

/// A parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter<'a> {
    /// Its name, with or without the `:`, `@` or `$` before it; None for one that is known by its place.
    pub name: Option<&'a [u8]>,
    /// Its value.
    pub value: SqlValue<'a>,
}

/// Which statements a text may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// All.
    Any,
    /// Those that change nothing.
    ReadOnly,
    /// All, but they are only prepared: the result describes them. Its columns are the number of the statement, from 1 on; `statement`,
    /// `parameter` or `column`; the name, of a statement `read` or `write`; and the type with which a column was declared. What has no
    /// name or type has NULL.
    Describe,
}

/// A text of SQL that is to run.
#[derive(Clone, Copy, Debug)]
pub struct SqlText<'a> {
    /// One statement or several.
    pub text: &'a [u8],
    /// The parameters. Those known by their place are given to the statements of the text one after the other, as many as each has;
    /// those known by their name to all that name them.
    pub parameters: &'a [Parameter<'a>],
    /// Which statements it may have.
    pub access: Access,
}

/// What one text may take.
#[derive(Clone, Copy, Debug)]
pub struct SqlLimits {
    /// Bytes of the text, at most.
    pub text_bytes: usize,
    /// Bytes of a value or a row, at most.
    pub value_bytes: usize,
}

/// What the last statement of a text did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqlDone {
    /// Whether it has a result: [`Rows::columns`] was called, maybe without rows after it.
    pub has_result: bool,
    /// How many rows the statements of the text inserted, updated or deleted, those of triggers and foreign keys left out.
    pub changed_rows: u64,
    /// The rowid of the last row that was inserted into the database.
    pub last_insert_rowid: i64,
    /// Whether the text was a ROLLBACK and nothing else.
    pub is_rolled_back: bool,
}

/// Why a text did not run to its end. None of its statements has done anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SqlError {
    /// The text or the data do not allow it.
    #[error("{message}")]
    Failed {
        /// SQLite's extended result code.
        code: i32,
        /// SQLite's words.
        message: String,
        /// Where in the text, in bytes, if that is known.
        offset: Option<usize>,
    },
    /// A statement that changes something, where none may.
    #[error("the statement changes the database, which it may not do here")]
    NotReadOnly,
    /// [`Tick::Kill`] or [`Answer::Kill`]; the host knows why.
    #[error("the statement was ended from outside")]
    Killed,
    /// [`Answer::Abandon`], or an error of the engine that asks to run everything again; the host has noted it.
    #[error("the statement is to run again")]
    Abandoned,
    /// The engine could not read or write a page.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A function of a library, as a statement needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryFunction {
    /// Whether it always answers the same to the same arguments, so that an index may be made of it.
    pub is_deterministic: bool,
}

/// What a statement reaches of the server. All calls come from inside [`SqlConnection::run`] and its siblings.
pub trait SqlHost {
    /// Reads bytes of a page, which is counted from 0, from `offset` on; false if there is no such page, and `out` is as it was.
    ///
    /// # Errors
    /// The engine's.
    fn read_page(&mut self, page: u32, offset: usize, out: &mut [u8]) -> Result<bool, EngineError>;

    /// Writes a whole page.
    ///
    /// # Errors
    /// The engine's.
    fn write_page(&mut self, page: u32, bytes: &[u8]) -> Result<(), EngineError>;

    /// Drops all pages from this one on.
    ///
    /// # Errors
    /// The engine's.
    fn truncate(&mut self, pages: u32) -> Result<(), EngineError>;

    /// One more than the number of the last page; 0 without pages. Some before it may never have been written.
    ///
    /// # Errors
    /// The engine's.
    fn page_count(&mut self) -> Result<u32, EngineError>;

    /// Asked before a transaction of SQLite changes anything: whether it may. If another one must end first the statement fails with
    /// `SQLITE_BUSY`.
    fn may_write(&mut self) -> bool {
        true
    }

    /// Runs a command for the function `redis`. `arguments` is never empty. The reply is written as
    /// [`crate::script::read_reply`] does.
    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer;

    /// The function of a library with this name; it is asked for while a statement is prepared.
    fn library_function(&mut self, name: &[u8]) -> Option<LibraryFunction> {
        let _ = name;
        None
    }

    /// A number that is another one once any library has changed; None while the transaction itself has changed one.
    fn library_state(&mut self) -> Option<u64> {
        None
    }

    /// Calls a function of a library, as [`call`](Self::call) does a command.
    fn call_function(&mut self, name: &[u8], arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        let _ = (name, arguments);
        reply.text(b"ERR Function not found");
        Answer::Error
    }

    /// Called while a statement runs: about every [`STEPS_OF_A_TICK`] steps of SQLite's machine, and as often in functions that take long.
    fn tick(&mut self) -> Tick;

    /// Unix time in milliseconds, the same for the whole transaction.
    fn now_ms(&self) -> u64;

    /// A number for `random()`; a run that is repeated gets the same ones again.
    fn random(&mut self) -> u64;
}

/// Where the result of the last statement of a text goes.
pub trait Rows {
    /// The names of the columns, once, before the rows. A text of several statements may call it for each; what came of an earlier
    /// one is to be dropped.
    fn columns(&mut self, names: &[&[u8]]);

    /// Whether it wants the [types](Rows::types) of the columns.
    fn wants_types(&self) -> bool {
        false
    }

    /// What the columns of tables behind those of the result were declared as, once, behind the names.
    fn types(&mut self, _types: &[Option<&[u8]>]) {}

    /// One row. Break ends the statement at once, and the text with an error: what wants the rows has no room for more.
    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()>;
}

/// What a statement is, without running it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlDescription {
    /// The names of its parameters with their first character, None for a `?`.
    pub parameters: Vec<Option<Vec<u8>>>,
    /// The names of its columns, and what they were declared as.
    pub columns: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Whether it is an EXPLAIN.
    pub is_explain: bool,
    /// Whether it changes nothing.
    pub is_read_only: bool,
}

/// A connection to one database.
pub trait SqlConnection: Send {
    /// Runs a text, which is atomic whatever is around it. Its statements may be spread over several transactions of SQLite only if
    /// the text itself begins and ends them.
    ///
    /// # Errors
    /// See [`SqlError`].
    fn run(
        &mut self,
        host: &mut dyn SqlHost,
        text: &SqlText<'_>,
        limits: &SqlLimits,
        rows: &mut dyn Rows,
    ) -> Result<SqlDone, SqlError>;

    /// Says that pages may be others than those that it wrote last: the transaction was dropped, or went back to a savepoint. Nothing
    /// that it keeps in memory counts any more.
    ///
    /// # Errors
    /// The engine's; the connection is then to be dropped.
    fn forget(&mut self, host: &mut dyn SqlHost) -> Result<(), SqlError>;

    /// Says what the first statement of a text is.
    ///
    /// # Errors
    /// See [`SqlError`].
    fn describe(&mut self, host: &mut dyn SqlHost, text: &[u8]) -> Result<SqlDescription, SqlError>;

    /// Says whether texts may leave a transaction of SQLite open for the next text, and run in it: each statement is then a
    /// statement of SQLite's own, without anything around the text. False undoes what is open.
    ///
    /// # Errors
    /// The engine's; the connection is then to be dropped.
    fn keep_open(&mut self, host: &mut dyn SqlHost, keeps: bool) -> Result<(), SqlError>;

    /// Whether a transaction of SQLite is open.
    fn is_open(&self) -> bool;

    /// Begins a statement that only reads, of which rows are [fetched](SqlConnection::fetch) a few at a time. The host must answer every
    /// later read of a page as it did when the statement began. Nothing else runs on the connection until the cursor is closed.
    ///
    /// # Errors
    /// See [`SqlError`]; no cursor is then open.
    fn open_cursor(
        &mut self,
        host: &mut dyn SqlHost,
        text: &SqlText<'_>,
        limits: &SqlLimits,
        rows: &mut dyn Rows,
    ) -> Result<(), SqlError>;

    /// Hands out rows of the open cursor until `rows` breaks, which ends this call without an error. False if there are no more.
    ///
    /// # Errors
    /// See [`SqlError`]; the cursor is then closed.
    fn fetch(&mut self, host: &mut dyn SqlHost, rows: &mut dyn Rows) -> Result<bool, SqlError>;

    /// Ends the cursor.
    fn close_cursor(&mut self);

    /// Bytes that it holds.
    fn memory_bytes(&self) -> u64;
}

/// What opens databases.
pub trait SqlEngine: Send + Sync {
    /// A connection to the database whose pages the host has; one without pages is a new database.
    ///
    /// # Errors
    /// The pages are no database; or the engine's.
    fn open(&self, host: &mut dyn SqlHost, page_bytes: usize) -> Result<Box<dyn SqlConnection>, SqlError>;

    /// Bounds the memory of all databases of the process together, within what its home allows; 0 is no bound of its own. A statement
    /// that needs more fails.
    fn set_memory_max(&self, bytes: u64);

    /// The version of SQLite.
    fn version(&self) -> &'static str;
}

//! SQLite's C interface: connections, prepared statements and callbacks. With `vfs`, `table_ffi`, `graph_ffi`, `page_cache` and
//! `allocator` the only files with unsafe code.
//!
//! Invariants, on which every unsafe block here rests:
//! - A connection and its statements are used by one thread at a time: [`Database`] and [`Statement`] belong to one
//!   `connection::Connection`, all of whose methods take `&mut self`. They may move to another thread between calls, for which
//!   SQLite is compiled with `SQLITE_THREADSAFE=2`.
//! - Each statement holds the connection by an [`Arc`], so it is finalized before the connection is closed.
//! - Callbacks get the pointer to the [`Shared`] of their connection, which is freed after the connection is closed.
//! - What SQLite gives for a column or an argument stays until the next step or the end of the function.
//! - No panic reaches C: [`Shared::guarded`] catches it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

use edgecask_core::sql::{SqlError, SqlHost, SqlValue};
use rusqlite::ffi;
use smallvec::SmallVec;

use crate::function::{self, Output};
use crate::json;
use crate::limits;
use crate::search::{self, Ends, Meter, TextArgument};
use crate::shared::Shared;
use crate::{graph_ffi, library, table_ffi, vfs};

/// An open connection.
struct Inner {
    raw: *mut ffi::sqlite3,
    shared: NonNull<Shared>,
}

// SAFETY: see the first invariant.
unsafe impl Send for Inner {}
// SAFETY: see the first invariant.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: no statement is left, and nothing uses the shared part once the connection is closed.
        unsafe {
            // Statements that tables over graphs have kept.
            drop(self.shared.as_ref().graphs.take());
            ffi::sqlite3_close(self.raw);
            drop(Box::from_raw(self.shared.as_ptr()));
        }
    }
}

/// A connection to the database of the host that is lent.
pub(crate) struct Database(Arc<Inner>);

/// A prepared statement.
pub(crate) struct Statement {
    raw: NonNull<ffi::sqlite3_stmt>,
    database: Arc<Inner>,
}

// SAFETY: see the first invariant.
unsafe impl Send for Statement {}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Row,
    Done,
    Failed,
}

/// The version of SQLite.
pub(crate) fn version() -> &'static str {
    // SAFETY: a constant text.
    unsafe { CStr::from_ptr(ffi::sqlite3_libversion()) }.to_str().unwrap_or_default()
}

/// Bounds the memory of all connections together; 0 is no bound.
pub(crate) fn set_heap_limit(bytes: u64) {
    vfs::register();
    // SAFETY: no pointers.
    unsafe { ffi::sqlite3_hard_heap_limit64(i64::try_from(bytes).unwrap_or(i64::MAX)) };
}

/// The bound that [`set_heap_limit`] has set; 0 is none.
pub(crate) fn heap_limit() -> u64 {
    // SAFETY: no pointers; a negative number changes nothing.
    u64::try_from(unsafe { ffi::sqlite3_hard_heap_limit64(-1) }).unwrap_or(0)
}

/// Bytes that all connections together hold.
pub(crate) fn heap_bytes() -> u64 {
    // SAFETY: no pointers.
    u64::try_from(unsafe { ffi::sqlite3_memory_used() }).unwrap_or(0)
}

/// What does not depend on the call.
const LIMITS: &[(c_int, c_int)] = &[
    (ffi::SQLITE_LIMIT_SQL_LENGTH, limits::STATEMENT_BYTES_MAX),
    (ffi::SQLITE_LIMIT_COLUMN, limits::COLUMNS_MAX),
    (ffi::SQLITE_LIMIT_EXPR_DEPTH, limits::EXPRESSION_DEPTH_MAX),
    (ffi::SQLITE_LIMIT_COMPOUND_SELECT, limits::COMPOUND_SELECTS_MAX),
    (ffi::SQLITE_LIMIT_VDBE_OP, limits::PROGRAM_STEPS_MAX),
    (ffi::SQLITE_LIMIT_FUNCTION_ARG, limits::FUNCTION_ARGUMENTS_MAX),
    (ffi::SQLITE_LIMIT_ATTACHED, limits::ATTACHED_MAX),
    (ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, limits::PATTERN_BYTES_MAX),
    (ffi::SQLITE_LIMIT_VARIABLE_NUMBER, limits::PARAMETERS_MAX),
    (ffi::SQLITE_LIMIT_TRIGGER_DEPTH, limits::TRIGGER_DEPTH_MAX),
    (ffi::SQLITE_LIMIT_WORKER_THREADS, limits::SORT_THREADS_MAX),
];

impl Database {
    /// Opens the database of the host. The connection is without its PRAGMAs.
    pub fn open(shared: Shared, host: &mut dyn SqlHost) -> Result<Database, SqlError> {
        let code = vfs::register();
        let shared = NonNull::from(Box::leak(Box::new(shared)));
        let mut inner = Inner { raw: null_mut(), shared };
        if code != ffi::SQLITE_OK {
            return Err(error_of(code));
        }
        let flags = ffi::SQLITE_OPEN_READWRITE
            | ffi::SQLITE_OPEN_CREATE
            | ffi::SQLITE_OPEN_NOMUTEX
            | ffi::SQLITE_OPEN_EXRESCODE;
        // SAFETY: the shared part was just allocated; the texts are constants.
        let code = unsafe {
            let raw = &raw mut inner.raw;
            shared
                .as_ref()
                .lend(host, || ffi::sqlite3_open_v2(vfs::FILE.as_ptr(), raw, flags, vfs::NAME.as_ptr()))
        };
        let database = Database(Arc::new(inner));
        if let Some(stop) = database.shared().take_stop() {
            return Err(stop.into_error());
        }
        match code {
            Some(ffi::SQLITE_OK) => {}
            Some(code) => return Err(error_of(code)),
            None => return Err(error_of(ffi::SQLITE_MISUSE)),
        }
        for (what, most) in LIMITS {
            // SAFETY: an open connection.
            unsafe { ffi::sqlite3_limit(database.raw(), *what, *most) };
        }
        database.set_up()?;
        Ok(database)
    }

    fn set_up(&self) -> Result<(), SqlError> {
        let raw = self.raw();
        let user = self.0.shared.as_ptr().cast::<c_void>();
        let by_host = ffi::SQLITE_UTF8;
        let pure = ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS;
        let gives_json = pure | ffi::SQLITE_RESULT_SUBTYPE;
        let functions: [(&CStr, c_int, c_int, Function); 15] = [
            (c"redis", -1, by_host, call_redis),
            (c"random", 0, by_host, call_random),
            (c"randomblob", 1, by_host, call_random_blob),
            (c"instr", 2, pure, call_instr),
            (c"replace", 3, pure, call_replace),
            (c"trim", 1, pure, call_trim),
            (c"trim", 2, pure, call_trim),
            (c"ltrim", 1, pure, call_trim_left),
            (c"ltrim", 2, pure, call_trim_left),
            (c"rtrim", 1, pure, call_trim_right),
            (c"rtrim", 2, pure, call_trim_right),
            (c"json_patch", 2, gives_json, call_json_patch),
            (c"jsonb_patch", 2, pure, call_jsonb_patch),
            (c"json_pretty", 1, pure, call_json_pretty),
            (c"json_pretty", 2, pure, call_json_pretty),
        ];
        // SAFETY: an open connection; the pointer stays for as long as that.
        unsafe {
            ffi::sqlite3_set_authorizer(raw, Some(authorize), user);
            ffi::sqlite3_progress_handler(raw, limits::STEPS_OF_A_TICK, Some(progress), user);
            for what in [
                // Shadow tables and the schema itself cannot be written, nor PRAGMAs used that could break the file.
                ffi::SQLITE_DBCONFIG_DEFENSIVE,
                ffi::SQLITE_DBCONFIG_ENABLE_FKEY,
                // `redis` works in triggers and views: they run with the rights of the user that sets them off.
                ffi::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
            ] {
                let is_on: c_int = 1;
                self.check(ffi::sqlite3_db_config(raw, what, is_on, null_mut::<c_int>()))?;
            }
            for (name, arguments, flags, function) in functions {
                self.check(ffi::sqlite3_create_function_v2(
                    raw,
                    name.as_ptr(),
                    arguments,
                    flags,
                    user,
                    Some(function),
                    None,
                    None,
                    None,
                ))?;
            }
            self.check(table_ffi::add_tables(raw, self.0.shared))?;
            self.check(graph_ffi::add_tables(raw, self.0.shared))?;
        }
        Ok(())
    }

    fn raw(&self) -> *mut ffi::sqlite3 {
        self.0.raw
    }

    /// What the connection shares with its callbacks.
    pub fn shared(&self) -> &Shared {
        // SAFETY: freed when the connection is closed.
        unsafe { self.0.shared.as_ref() }
    }

    fn check(&self, code: c_int) -> Result<(), SqlError> {
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(self.error(0)) }
    }

    /// The error of the last call. `at` is where the statement begins in its text.
    pub fn error(&self, at: usize) -> SqlError {
        last_error(self.raw(), at)
    }

    /// The handle of the same connection that the lender of a host holds.
    pub fn again(&self) -> Database {
        Database(Arc::clone(&self.0))
    }

    /// Runs statements of the connection's own.
    pub fn execute(&self, text: &CStr) -> Result<(), SqlError> {
        let before = self.shared().is_internal.replace(true);
        // SAFETY: an open connection, a text, no callback.
        let code = unsafe { ffi::sqlite3_exec(self.raw(), text.as_ptr(), None, null_mut(), null_mut()) };
        self.shared().is_internal.set(before);
        self.check(code)
    }

    /// Prepares the statement that begins at `at`, and says where it ends. None if there is none, only blanks.
    pub fn prepare(&self, text: &CStr, at: usize) -> Result<(Option<Statement>, usize), SqlError> {
        let bytes = text.to_bytes_with_nul();
        let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { return Ok((None, at)) };
        let Ok(len) = c_int::try_from(rest.len()) else { return Err(error_of(ffi::SQLITE_TOOBIG)) };
        let mut raw = null_mut();
        let mut tail = null();
        // SAFETY: an open connection, and a text with its zero within its length.
        let code = unsafe {
            ffi::sqlite3_prepare_v3(
                self.raw(),
                rest.as_ptr().cast(),
                len,
                ffi::SQLITE_PREPARE_PERSISTENT,
                &raw mut raw,
                &raw mut tail,
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(self.error(at));
        }
        let used = if tail.is_null() {
            rest.len()
        } else {
            tail.addr().saturating_sub(rest.as_ptr().addr()).min(rest.len())
        };
        let statement = NonNull::new(raw).map(|raw| Statement { raw, database: Arc::clone(&self.0) });
        Ok((statement, at + used))
    }

    /// Makes a function of a library known by this name, with any number of arguments.
    pub fn add_function(&self, name: &CStr, is_deterministic: bool) -> Result<(), SqlError> {
        let flags = ffi::SQLITE_UTF8 | if is_deterministic { ffi::SQLITE_DETERMINISTIC } else { 0 };
        let function = LibraryFunction { shared: self.0.shared, name: name.to_bytes().into() };
        let user = Box::into_raw(Box::new(function)).cast::<c_void>();
        // SAFETY: an open connection; SQLite frees what goes with the function, after an error as well.
        self.check(unsafe {
            ffi::sqlite3_create_function_v2(
                self.raw(),
                name.as_ptr(),
                -1,
                flags,
                user,
                Some(call_library),
                None,
                None,
                Some(free_library_function),
            )
        })
    }

    /// Removes a function that was added. No statement may run.
    pub fn remove_function(&self, name: &CStr) {
        // SAFETY: an open connection.
        unsafe {
            ffi::sqlite3_create_function_v2(
                self.raw(),
                name.as_ptr(),
                -1,
                ffi::SQLITE_UTF8,
                null_mut(),
                None,
                None,
                None,
                None,
            );
        }
    }

    /// Whether no transaction is open.
    pub fn is_autocommit(&self) -> bool {
        // SAFETY: an open connection.
        unsafe { ffi::sqlite3_get_autocommit(self.raw()) != 0 }
    }

    /// Rows that were changed since the connection was opened, those of triggers and foreign keys included.
    pub fn total_changes(&self) -> i64 {
        // SAFETY: an open connection.
        unsafe { ffi::sqlite3_total_changes64(self.raw()) }
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed itself.
    pub fn changes(&self) -> i64 {
        // SAFETY: an open connection.
        unsafe { ffi::sqlite3_changes64(self.raw()) }
    }

    pub fn last_insert_rowid(&self) -> i64 {
        // SAFETY: an open connection.
        unsafe { ffi::sqlite3_last_insert_rowid(self.raw()) }
    }

    /// Sets how many bytes a value may have.
    pub fn set_value_bytes(&self, bytes: usize) {
        if self.shared().value_bytes.replace(bytes) != bytes {
            let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
            // SAFETY: an open connection.
            unsafe { ffi::sqlite3_limit(self.raw(), ffi::SQLITE_LIMIT_LENGTH, bytes) };
        }
    }

    /// Bytes of pages, schema and statements in memory.
    pub fn memory_bytes(&self) -> u64 {
        let parts = [
            ffi::SQLITE_DBSTATUS_CACHE_USED,
            ffi::SQLITE_DBSTATUS_SCHEMA_USED,
            ffi::SQLITE_DBSTATUS_STMT_USED,
        ];
        let mut sum = 0;
        for part in parts {
            let (mut bytes, mut highest) = (0, 0);
            // SAFETY: an open connection, two places for the answer.
            unsafe { ffi::sqlite3_db_status(self.raw(), part, &raw mut bytes, &raw mut highest, 0) };
            sum += u64::try_from(bytes).unwrap_or(0);
        }
        sum
    }
}

/// The error of a code without a connection.
fn error_of(code: c_int) -> SqlError {
    // SAFETY: a constant text.
    let message = unsafe { CStr::from_ptr(ffi::sqlite3_errstr(code)) };
    SqlError::Failed { code, message: message.to_string_lossy().into_owned(), offset: None }
}

fn last_error(raw: *mut ffi::sqlite3, at: usize) -> SqlError {
    // SAFETY: an open connection; the text is copied at once.
    unsafe {
        let code = ffi::sqlite3_extended_errcode(raw);
        let message = CStr::from_ptr(ffi::sqlite3_errmsg(raw)).to_string_lossy().into_owned();
        let offset = usize::try_from(ffi::sqlite3_error_offset(raw)).ok();
        SqlError::Failed { code, message, offset: offset.map(|offset| at + offset) }
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: a statement that is finalized once.
        unsafe { ffi::sqlite3_finalize(self.raw.as_ptr()) };
    }
}

impl Statement {
    fn raw(&self) -> *mut ffi::sqlite3_stmt {
        self.raw.as_ptr()
    }

    /// Goes on to the next row or to the end.
    pub fn step(&mut self) -> Step {
        // SAFETY: a statement; its connection's shared part.
        let code = unsafe {
            let shared = self.database.shared.as_ref();
            shared.is_stepping.set(true);
            let code = ffi::sqlite3_step(self.raw());
            shared.is_stepping.set(false);
            code
        };
        match code {
            ffi::SQLITE_ROW => Step::Row,
            ffi::SQLITE_DONE => Step::Done,
            _ => Step::Failed,
        }
    }

    /// Runs a statement without rows to its end.
    pub fn run(&mut self) -> Result<(), SqlError> {
        let step = self.step();
        let outcome = if step == Step::Failed { Err(last_error(self.database.raw, 0)) } else { Ok(()) };
        self.reset();
        outcome
    }

    /// Ends a run of the statement.
    pub fn reset(&mut self) {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_reset(self.raw()) };
    }

    pub fn clear_parameters(&mut self) {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_clear_bindings(self.raw()) };
    }

    /// Whether it changes nothing. An EXPLAIN does not, whatever it explains.
    pub fn is_read_only(&self) -> bool {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_stmt_readonly(self.raw()) != 0 || ffi::sqlite3_stmt_isexplain(self.raw()) != 0 }
    }

    /// Bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        // SAFETY: a statement.
        let bytes = unsafe { ffi::sqlite3_stmt_status(self.raw(), ffi::SQLITE_STMTSTATUS_MEMUSED, 0) };
        usize::try_from(bytes).unwrap_or(0)
    }

    /// The highest number of a parameter; they count from 1.
    pub fn parameter_count(&self) -> c_int {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_bind_parameter_count(self.raw()) }
    }

    /// The name of a parameter with its first character; None for a `?` and for a number that is not used.
    pub fn parameter_name(&self, number: c_int) -> Option<&[u8]> {
        // SAFETY: a statement; the text stays for as long as it.
        unsafe {
            let name = ffi::sqlite3_bind_parameter_name(self.raw(), number);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_bytes())
        }
    }

    /// Gives a parameter its value, which is copied.
    pub fn bind(&mut self, number: c_int, value: SqlValue<'_>) -> Result<(), SqlError> {
        // SAFETY: a statement.
        let code = unsafe { bind(self.raw(), number, value) };
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(last_error(self.database.raw, 0)) }
    }

    pub fn column_count(&self) -> c_int {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_column_count(self.raw()) }
    }

    /// The name of a column; empty if there is no memory for it.
    pub fn column_name(&self, column: c_int) -> &[u8] {
        // SAFETY: a statement; the text stays until it is prepared again or finalized.
        unsafe {
            let name = ffi::sqlite3_column_name(self.raw(), column);
            if name.is_null() { &[] } else { CStr::from_ptr(name).to_bytes() }
        }
    }

    /// What the column of a table behind a column of the result was declared as.
    pub fn column_type_name(&self, column: c_int) -> Option<&[u8]> {
        // SAFETY: as in `column_name`.
        unsafe {
            let name = ffi::sqlite3_column_decltype(self.raw(), column);
            (!name.is_null()).then(|| CStr::from_ptr(name).to_bytes())
        }
    }

    /// Whether it is an EXPLAIN.
    pub fn is_explain(&self) -> bool {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_stmt_isexplain(self.raw()) != 0 }
    }

    /// A value of the row; None if there is no memory for it.
    pub fn column(&self, column: c_int) -> Option<SqlValue<'_>> {
        let raw = self.raw();
        // SAFETY: a statement; the bytes stay until the next step, which needs it mutably.
        unsafe {
            Some(match ffi::sqlite3_column_type(raw, column) {
                ffi::SQLITE_INTEGER => SqlValue::Integer(ffi::sqlite3_column_int64(raw, column)),
                ffi::SQLITE_FLOAT => SqlValue::Real(ffi::sqlite3_column_double(raw, column)),
                ffi::SQLITE_TEXT => {
                    let text = ffi::sqlite3_column_text(raw, column);
                    if text.is_null() {
                        return None;
                    }
                    let len = usize::try_from(ffi::sqlite3_column_bytes(raw, column)).unwrap_or(0);
                    SqlValue::Text(std::slice::from_raw_parts(text, len))
                }
                ffi::SQLITE_BLOB => {
                    let blob = ffi::sqlite3_column_blob(raw, column).cast::<u8>();
                    let len = usize::try_from(ffi::sqlite3_column_bytes(raw, column)).unwrap_or(0);
                    match (blob.is_null(), len) {
                        (_, 0) => SqlValue::Blob(&[]),
                        (true, _) => return None,
                        (false, _) => SqlValue::Blob(std::slice::from_raw_parts(blob, len)),
                    }
                }
                _ => SqlValue::Null,
            })
        }
    }
}

/// Gives a parameter its value, which is copied; SQLite's code.
///
/// Safety: a statement.
pub(crate) unsafe fn bind(raw: *mut ffi::sqlite3_stmt, number: c_int, value: SqlValue<'_>) -> c_int {
    let copy = ffi::SQLITE_TRANSIENT();
    // SAFETY: as this function's; bytes are copied before the call ends. An empty slice has a pointer that is not null.
    unsafe {
        match value {
            SqlValue::Null => ffi::sqlite3_bind_null(raw, number),
            SqlValue::Integer(value) => ffi::sqlite3_bind_int64(raw, number, value),
            SqlValue::Real(value) => ffi::sqlite3_bind_double(raw, number, value),
            SqlValue::Text(text) => ffi::sqlite3_bind_text64(
                raw,
                number,
                text.as_ptr().cast(),
                text.len() as u64,
                copy,
                ffi::SQLITE_UTF8 as u8,
            ),
            SqlValue::Blob(blob) => {
                ffi::sqlite3_bind_blob64(raw, number, blob.as_ptr().cast(), blob.len() as u64, copy)
            }
        }
    }
}

/// Safety: a text of SQLite, or null.
unsafe fn name<'a>(text: *const c_char) -> Option<&'a [u8]> {
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

unsafe extern "C" fn authorize(
    user: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    _database: *const c_char,
    _trigger: *const c_char,
) -> c_int {
    // SAFETY: the pointer of `set_up`; texts or null.
    let (shared, first, second) = unsafe { (&*user.cast::<Shared>(), name(first), name(second)) };
    shared.guarded(ffi::SQLITE_DENY, || shared.authorize(action, first, second))
}

unsafe extern "C" fn progress(user: *mut c_void) -> c_int {
    // SAFETY: the pointer of `set_up`.
    let shared = unsafe { &*user.cast::<Shared>() };
    c_int::from(!shared.guarded(false, || shared.may_go_on()))
}

type Function = unsafe extern "C" fn(*mut ffi::sqlite3_context, c_int, *mut *mut ffi::sqlite3_value);

/// The result of a function that runs.
pub(crate) struct FunctionResult(pub *mut ffi::sqlite3_context);

impl Output for FunctionResult {
    fn value(&mut self, value: SqlValue<'_>) {
        let copy = ffi::SQLITE_TRANSIENT();
        // SAFETY: the context of the function that runs; bytes are copied before the call ends.
        unsafe {
            match value {
                SqlValue::Null => ffi::sqlite3_result_null(self.0),
                SqlValue::Integer(value) => ffi::sqlite3_result_int64(self.0, value),
                SqlValue::Real(value) => ffi::sqlite3_result_double(self.0, value),
                SqlValue::Text(text) => ffi::sqlite3_result_text64(
                    self.0,
                    text.as_ptr().cast(),
                    text.len() as u64,
                    copy,
                    ffi::SQLITE_UTF8 as u8,
                ),
                SqlValue::Blob(blob) => {
                    ffi::sqlite3_result_blob64(self.0, blob.as_ptr().cast(), blob.len() as u64, copy);
                }
            }
        }
    }

    fn error(&mut self, text: &[u8]) {
        let len = c_int::try_from(text.len()).unwrap_or(c_int::MAX);
        // SAFETY: as above.
        unsafe { ffi::sqlite3_result_error(self.0, text.as_ptr().cast(), len) };
    }

    fn too_large(&mut self) {
        // SAFETY: as above.
        unsafe { ffi::sqlite3_result_error_toobig(self.0) };
    }

    fn no_memory(&mut self) {
        // SAFETY: as above.
        unsafe { ffi::sqlite3_result_error_nomem(self.0) };
    }
}

/// Runs a function; if the call was stopped in it, the statement fails.
///
/// Safety: the context of a function that `set_up` made.
unsafe fn run_function(context: *mut ffi::sqlite3_context, act: impl FnOnce(&Shared, &mut dyn Output)) {
    // SAFETY: the pointer of `set_up`.
    let shared = unsafe { &*ffi::sqlite3_user_data(context).cast::<Shared>() };
    shared.guarded((), || act(shared, &mut FunctionResult(context)));
    if shared.is_stopped() {
        FunctionResult(context).error(b"stopped");
    }
}

unsafe extern "C" fn call_redis(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: SQLite gives so many values, which stay until the function ends; none at all may be a null pointer.
    unsafe {
        let raw = if count == 0 { &[] } else { std::slice::from_raw_parts(arguments, count) };
        let arguments: SmallVec<[SqlValue<'_>; 8]> = raw.iter().map(|raw| argument(*raw)).collect();
        run_function(context, |shared, out| function::redis(shared, &arguments, out));
    }
}

/// What goes with a function of a library.
struct LibraryFunction {
    shared: NonNull<Shared>,
    name: Box<[u8]>,
}

unsafe extern "C" fn free_library_function(user: *mut c_void) {
    // SAFETY: made by `add_function`, and freed once.
    drop(unsafe { Box::from_raw(user.cast::<LibraryFunction>()) });
}

unsafe extern "C" fn call_library(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as for `call_redis`; what `add_function` made.
    unsafe {
        let function = &*ffi::sqlite3_user_data(context).cast::<LibraryFunction>();
        let shared = function.shared.as_ref();
        let raw = if count == 0 { &[] } else { std::slice::from_raw_parts(arguments, count) };
        let arguments: SmallVec<[SqlValue<'_>; 8]> = raw.iter().map(|raw| argument(*raw)).collect();
        let mut out = FunctionResult(context);
        shared.guarded((), || library::call(shared, &function.name, &arguments, &mut out));
        if shared.is_stopped() {
            out.error(b"stopped");
        }
    }
}

unsafe extern "C" fn call_random(
    context: *mut ffi::sqlite3_context,
    _count: c_int,
    _arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context of the function.
    unsafe { run_function(context, function::random) };
}

unsafe extern "C" fn call_random_blob(
    context: *mut ffi::sqlite3_context,
    _count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the function has one argument.
    unsafe {
        let len = ffi::sqlite3_value_int64(*arguments);
        run_function(context, |shared, out| function::random_blob(shared, len, out));
    }
}

/// Safety: a value that an SQL function got.
pub(crate) unsafe fn argument<'a>(raw: *mut ffi::sqlite3_value) -> SqlValue<'a> {
    unsafe {
        match ffi::sqlite3_value_type(raw) {
            ffi::SQLITE_INTEGER => SqlValue::Integer(ffi::sqlite3_value_int64(raw)),
            ffi::SQLITE_FLOAT => SqlValue::Real(ffi::sqlite3_value_double(raw)),
            kind @ (ffi::SQLITE_TEXT | ffi::SQLITE_BLOB) => {
                let at = if kind == ffi::SQLITE_TEXT {
                    ffi::sqlite3_value_text(raw)
                } else {
                    ffi::sqlite3_value_blob(raw).cast::<u8>()
                };
                let len = usize::try_from(ffi::sqlite3_value_bytes(raw)).unwrap_or(0);
                let bytes = if at.is_null() { &[] } else { std::slice::from_raw_parts(at, len) };
                if kind == ffi::SQLITE_TEXT { SqlValue::Text(bytes) } else { SqlValue::Blob(bytes) }
            }
            _ => SqlValue::Null,
        }
    }
}

/// The arguments of a function as texts; None for NULL, and where there is no memory for a text.
///
/// Safety: the arguments of the function that runs.
unsafe fn text_arguments<'a>(
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) -> SmallVec<[Option<TextArgument<'a>>; 3]> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: SQLite gives so many values; a function without arguments is not among those that ask.
    unsafe { std::slice::from_raw_parts(arguments, count) }
        .iter()
        .map(|raw| {
            // SAFETY: a value of the function that runs.
            unsafe {
                let kind = ffi::sqlite3_value_type(*raw);
                if kind == ffi::SQLITE_NULL {
                    return None;
                }
                // The text of a BLOB would make a text of it for those that see the same value later.
                let is_blob = kind == ffi::SQLITE_BLOB;
                let text = if is_blob {
                    ffi::sqlite3_value_blob(*raw).cast::<u8>()
                } else {
                    ffi::sqlite3_value_text(*raw)
                };
                let len = usize::try_from(ffi::sqlite3_value_bytes(*raw)).unwrap_or(0);
                if len == 0 {
                    return Some(TextArgument { is_blob, bytes: &[] });
                }
                (!text.is_null())
                    .then(|| TextArgument { is_blob, bytes: std::slice::from_raw_parts(text, len) })
            }
        })
        .collect()
}

unsafe extern "C" fn call_instr(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function.
    unsafe {
        let arguments = text_arguments(count, arguments);
        if let [Some(text), Some(part)] = arguments.as_slice() {
            run_function(context, |shared, out| search::instr(shared, *text, *part, out));
        }
    }
}

unsafe extern "C" fn call_replace(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function, which has three.
    unsafe {
        let texts = text_arguments(count, arguments);
        match texts.as_slice() {
            // Nothing is to be replaced, whatever the third argument is.
            [Some(text), Some(part), _] if part.bytes.first().is_none_or(|first| *first == 0) => {
                run_function(context, |_, out| out.value(SqlValue::Text(text.bytes)));
            }
            [Some(text), Some(part), Some(other)] => run_function(context, |shared, out| {
                search::replace(shared, text.bytes, part.bytes, other.bytes, out);
            }),
            _ => {}
        }
    }
}

/// Safety: the context and the arguments of a function.
unsafe fn run_trim(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
    ends: Ends,
) {
    // SAFETY: as this function's.
    unsafe {
        let texts = text_arguments(count, arguments);
        let (text, characters) = match texts.as_slice() {
            [Some(text)] => (text.bytes, &b" "[..]),
            [Some(text), Some(characters)] => (text.bytes, characters.bytes),
            _ => return,
        };
        run_function(context, |shared, out| search::trim(shared, text, characters, ends, out));
    }
}

unsafe extern "C" fn call_trim(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function.
    unsafe { run_trim(context, count, arguments, Ends::Both) };
}

unsafe extern "C" fn call_trim_left(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function.
    unsafe { run_trim(context, count, arguments, Ends::Left) };
}

unsafe extern "C" fn call_trim_right(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function.
    unsafe { run_trim(context, count, arguments, Ends::Right) };
}

/// A statement that one of SQLite's own functions runs in, for a function that needs it.
struct Inside(*mut ffi::sqlite3_stmt);

impl Drop for Inside {
    fn drop(&mut self) {
        // SAFETY: made by `Inside::run`; null is nothing.
        unsafe { ffi::sqlite3_finalize(self.0) };
    }
}

impl Inside {
    /// Runs a SELECT of one row. After an error None, and the function has it.
    ///
    /// Safety: the context of the function that runs, of a connection that `set_up` had.
    unsafe fn run(
        context: *mut ffi::sqlite3_context,
        text: &CStr,
        bind: impl FnOnce(*mut ffi::sqlite3_stmt) -> c_int,
    ) -> Option<Inside> {
        let mut raw = null_mut();
        // SAFETY: as the caller promises; the statement is used here alone, and ends before the connection.
        unsafe {
            let database = ffi::sqlite3_context_db_handle(context);
            let mut code = ffi::sqlite3_prepare_v2(database, text.as_ptr(), -1, &raw mut raw, null_mut());
            let inside = Inside(raw);
            if code == ffi::SQLITE_OK {
                code = bind(raw);
            }
            if code == ffi::SQLITE_OK {
                code = ffi::sqlite3_step(raw);
            }
            match code {
                ffi::SQLITE_ROW => return Some(inside),
                ffi::SQLITE_TOOBIG => ffi::sqlite3_result_error_toobig(context),
                ffi::SQLITE_NOMEM => ffi::sqlite3_result_error_nomem(context),
                _ => ffi::sqlite3_result_error(context, ffi::sqlite3_errmsg(database), -1),
            }
            None
        }
    }

    /// The text of a column; None for NULL, and where there is no memory for it.
    ///
    /// Safety: the statement stands at its row.
    unsafe fn text(&self, column: c_int) -> Option<&[u8]> {
        // SAFETY: as the caller promises; what SQLite gives stays until the next step.
        unsafe {
            let text = ffi::sqlite3_column_text(self.0, column);
            let len = usize::try_from(ffi::sqlite3_column_bytes(self.0, column)).unwrap_or(0);
            (!text.is_null()).then(|| std::slice::from_raw_parts(text, len))
        }
    }
}

/// What a value is to `json_each` and its like: SQLite's mark of JSON.
const JSON_SUBTYPE: u32 = b'J' as u32;

/// Safety: the context and the two arguments of a function.
unsafe fn run_json_patch(
    context: *mut ffi::sqlite3_context,
    arguments: *mut *mut ffi::sqlite3_value,
    give: impl FnOnce(&[u8]),
) {
    // SAFETY: as the caller promises.
    unsafe {
        // Nothing of NULL is nothing, whatever the patch is.
        if ffi::sqlite3_value_type(*arguments) == ffi::SQLITE_NULL {
            return;
        }
        let sound = Inside::run(context, c"SELECT json(?1), json(?2)", |statement| {
            match ffi::sqlite3_bind_value(statement, 1, *arguments) {
                ffi::SQLITE_OK => ffi::sqlite3_bind_value(statement, 2, *arguments.add(1)),
                code => code,
            }
        });
        let Some(sound) = sound else { return };
        let (Some(target), Some(patch)) = (sound.text(0), sound.text(1)) else { return };
        run_function(context, |shared, out| {
            let patched = json::patched(&mut Meter::new(shared), target, patch);
            search::finish(patched, out, |json, _| give(&json));
        });
    }
}

unsafe extern "C" fn call_json_patch(
    context: *mut ffi::sqlite3_context,
    _count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function, which has two.
    unsafe {
        run_json_patch(context, arguments, |json| {
            FunctionResult(context).value(SqlValue::Text(json));
            ffi::sqlite3_result_subtype(context, JSON_SUBTYPE);
        });
    }
}

unsafe extern "C" fn call_jsonb_patch(
    context: *mut ffi::sqlite3_context,
    _count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function, which has two.
    unsafe {
        run_json_patch(context, arguments, |json| {
            let binary = Inside::run(context, c"SELECT jsonb(?1)", |statement| {
                let copy = ffi::SQLITE_TRANSIENT();
                let len = json.len() as u64;
                ffi::sqlite3_bind_text64(
                    statement,
                    1,
                    json.as_ptr().cast(),
                    len,
                    copy,
                    ffi::SQLITE_UTF8 as u8,
                )
            });
            if let Some(binary) = binary {
                ffi::sqlite3_result_value(context, ffi::sqlite3_column_value(binary.0, 0));
            }
        });
    }
}

unsafe extern "C" fn call_json_pretty(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: the context and the arguments of the function, which has one or two.
    unsafe {
        let sound = Inside::run(context, c"SELECT json(?1)", |statement| {
            ffi::sqlite3_bind_value(statement, 1, *arguments)
        });
        let Some(sound) = sound else { return };
        let Some(json) = sound.text(0) else { return };
        let texts = text_arguments(count, arguments);
        let indent =
            texts.get(1).and_then(|indent| indent.as_ref()).map_or(&b"    "[..], |indent| indent.bytes);
        // SQLite takes it up to its first zero.
        let indent = indent.split(|byte| *byte == 0).next().unwrap_or_default();
        run_function(context, |shared, out| {
            search::finish(json::pretty(shared, json, indent), out, |text, out| {
                out.value(SqlValue::Text(&text))
            });
        });
    }
}

//! SQLite's interface to tables over graphs, and to the statements that they run.
//!
//! Invariants, on which every unsafe block here rests, beside those of `ffi` and `table_ffi`, whose forms this has:
//! - A [`Handle`] lives as long as a call from SQLite at most, during which its connection is open.
//! - A [`Query`] belongs to a cursor or to the [`Shared`] of its connection, both of which end before the connection is closed, and is
//!   used by the thread of the connection only.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr::{NonNull, null, null_mut};

use edgecask_core::sql::SqlValue;
use rusqlite::ffi;
use smallvec::SmallVec;

use crate::ffi::{FunctionResult, argument, bind};
use crate::function::Output;
use crate::graph::cursor::Cursor;
use crate::graph::edges::Surroundings;
use crate::graph::{Result, TABLES, Table, Unable};
use crate::limits::GRAPH_DEPTH_MAX;
use crate::shared::Shared;
use crate::table::scan::Kept;
use crate::table_ffi::{message, slice};

/// A connection during a call from SQLite.
#[derive(Clone, Copy)]
pub(crate) struct Handle<'a> {
    raw: *mut ffi::sqlite3,
    call: PhantomData<&'a ()>,
}

/// A prepared statement that a graph reads.
pub(crate) struct Query(NonNull<ffi::sqlite3_stmt>);

impl Drop for Query {
    fn drop(&mut self) {
        // SAFETY: a statement that is finalized once.
        unsafe { ffi::sqlite3_finalize(self.0.as_ptr()) };
    }
}

impl Query {
    /// Prepares one statement.
    ///
    /// # Errors
    /// SQLite's, and that the text is not one statement.
    pub fn prepare(handle: Handle<'_>, text: &CStr) -> Result<Query> {
        let (mut raw, mut tail) = (null_mut(), null());
        // SAFETY: an open connection and a text, within which its tail is.
        let (code, rest) = unsafe {
            let flags = ffi::SQLITE_PREPARE_PERSISTENT;
            let code =
                ffi::sqlite3_prepare_v3(handle.raw, text.as_ptr(), -1, flags, &raw mut raw, &raw mut tail);
            (code, if tail.is_null() { 0 } else { CStr::from_ptr(tail).count_bytes() })
        };
        let query = NonNull::new(raw).map(Query);
        match query {
            Some(query) if code == ffi::SQLITE_OK && rest == 0 => Ok(query),
            Some(_) if code == ffi::SQLITE_OK => {
                Err(Unable::Error(b"the text is more than one statement".into()))
            }
            None if code == ffi::SQLITE_OK => Err(Unable::Error(b"the text has no statement".into())),
            _ => Err(unable(handle, code)),
        }
    }

    /// Goes on to the next row; false if there is none.
    ///
    /// # Errors
    /// SQLite's.
    pub fn step(&mut self, handle: Handle<'_>) -> Result<bool> {
        // SAFETY: a statement of this connection.
        match unsafe { ffi::sqlite3_step(self.0.as_ptr()) } {
            ffi::SQLITE_ROW => Ok(true),
            ffi::SQLITE_DONE => Ok(false),
            code => Err(unable(handle, code)),
        }
    }

    /// Ends a run.
    pub fn reset(&mut self) {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_reset(self.0.as_ptr()) };
    }

    /// Gives a parameter its value.
    ///
    /// # Errors
    /// There is no memory for it, or it is too long.
    pub fn bind(&mut self, number: c_int, value: SqlValue<'_>) -> Result<()> {
        // SAFETY: a statement.
        match unsafe { bind(self.0.as_ptr(), number, value) } {
            ffi::SQLITE_OK => Ok(()),
            code => Err(Unable::Code(code)),
        }
    }

    /// A value of the row.
    pub fn value(&self, column: c_int) -> SqlValue<'_> {
        // SAFETY: a statement; the value stays until the next step, which needs the statement mutably.
        unsafe { argument(ffi::sqlite3_column_value(self.0.as_ptr(), column)) }
    }

    /// Whether a value of the row is true, as in a WHERE.
    pub fn is_true(&self, column: c_int) -> bool {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_column_double(self.0.as_ptr(), column) != 0.0 }
    }

    /// Whether it changes nothing.
    pub fn is_read_only(&self) -> bool {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_stmt_readonly(self.0.as_ptr()) != 0 }
    }

    /// How often SQLite has prepared it anew.
    pub fn times_prepared(&self) -> c_int {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_stmt_status(self.0.as_ptr(), ffi::SQLITE_STMTSTATUS_REPREPARE, 0) }
    }

    /// How many rows it has read one after the other, or put into an index for the time being, since the last call.
    pub fn take_scanned_rows(&self) -> u64 {
        let counts = [ffi::SQLITE_STMTSTATUS_FULLSCAN_STEP, ffi::SQLITE_STMTSTATUS_AUTOINDEX];
        // SAFETY: a statement.
        let count = |what| unsafe { ffi::sqlite3_stmt_status(self.0.as_ptr(), what, 1) };
        counts.into_iter().map(|what| u64::try_from(count(what)).unwrap_or(0)).sum()
    }

    pub fn column_count(&self) -> c_int {
        // SAFETY: a statement.
        unsafe { ffi::sqlite3_column_count(self.0.as_ptr()) }
    }

    /// The name of a column; empty if there is no memory for it.
    pub fn column_name(&self, column: c_int) -> &[u8] {
        // SAFETY: a statement; the text stays until it is prepared again or finalized.
        unsafe { text(ffi::sqlite3_column_name(self.0.as_ptr(), column)) }.unwrap_or_default()
    }

    /// What the column of a table behind a column of the result was declared as.
    pub fn column_type_name(&self, column: c_int) -> Option<&[u8]> {
        // SAFETY: as in `column_name`.
        unsafe { text(ffi::sqlite3_column_decltype(self.0.as_ptr(), column)) }
    }
}

/// Safety: a text of SQLite, or null.
unsafe fn text<'a>(text: *const c_char) -> Option<&'a [u8]> {
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// The error of the last call.
fn unable(handle: Handle<'_>, code: c_int) -> Unable {
    match code & 0xff {
        ffi::SQLITE_ERROR => {
            // SAFETY: an open connection; the text is copied at once.
            let text = unsafe { CStr::from_ptr(ffi::sqlite3_errmsg(handle.raw)) };
            Unable::Error(text.to_bytes().to_vec())
        }
        _ => Unable::Code(code),
    }
}

/// What a module of a connection is.
struct Entry {
    table: &'static Table,
    shared: NonNull<Shared>,
}

#[repr(C)]
struct RawTable {
    base: ffi::sqlite3_vtab,
    table: &'static Table,
    shared: NonNull<Shared>,
    raw: *mut ffi::sqlite3,
}

#[repr(C)]
struct RawCursor {
    base: ffi::sqlite3_vtab_cursor,
    cursor: Cursor,
}

/// There is no way to make one, so they exist by their names only.
static MODULE: ffi::sqlite3_module = ffi::sqlite3_module {
    iVersion: 0,
    xCreate: None,
    xConnect: Some(connect),
    xBestIndex: Some(best_index),
    xDisconnect: Some(disconnect),
    xDestroy: None,
    xOpen: Some(open),
    xClose: Some(close),
    xFilter: Some(filter),
    xNext: Some(next),
    xEof: Some(is_at_end),
    xColumn: Some(column),
    xRowid: Some(rowid),
    xUpdate: None,
    xBegin: None,
    xSync: None,
    xCommit: None,
    xRollback: None,
    xFindFunction: None,
    xRename: None,
    xSavepoint: None,
    xRelease: None,
    xRollbackTo: None,
    xShadowName: None,
    xIntegrity: None,
};

/// Adds the tables to a connection; SQLite's code.
///
/// Safety: an open connection, and its shared part.
pub(crate) unsafe fn add_tables(raw: *mut ffi::sqlite3, shared: NonNull<Shared>) -> c_int {
    for table in TABLES {
        let entry = Box::into_raw(Box::new(Entry { table, shared })).cast::<c_void>();
        let name = table.name.as_ptr();
        // SAFETY: as this function's; the entry is freed by SQLite, after an error as well.
        let code =
            unsafe { ffi::sqlite3_create_module_v2(raw, name, &raw const MODULE, entry, Some(free_entry)) };
        if code != ffi::SQLITE_OK {
            return code;
        }
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn free_entry(entry: *mut c_void) {
    // SAFETY: made by `add_tables`, and freed once.
    drop(unsafe { Box::from_raw(entry.cast::<Entry>()) });
}

unsafe extern "C" fn connect(
    raw: *mut ffi::sqlite3,
    entry: *mut c_void,
    _count: c_int,
    _arguments: *const *const c_char,
    out: *mut *mut ffi::sqlite3_vtab,
    _message: *mut *mut c_char,
) -> c_int {
    // SAFETY: an open connection, the entry of the module, and a place for the table.
    unsafe {
        let entry = &*entry.cast::<Entry>();
        let code = ffi::sqlite3_declare_vtab(raw, entry.table.declaration.as_ptr());
        if code == ffi::SQLITE_OK {
            let base = ffi::sqlite3_vtab { pModule: &raw const MODULE, nRef: 0, zErrMsg: null_mut() };
            let table = RawTable { base, table: entry.table, shared: entry.shared, raw };
            *out = Box::into_raw(Box::new(table)).cast();
        }
        code
    }
}

unsafe extern "C" fn disconnect(table: *mut ffi::sqlite3_vtab) -> c_int {
    // SAFETY: made by `connect`, and freed once.
    drop(unsafe { Box::from_raw(table.cast::<RawTable>()) });
    ffi::SQLITE_OK
}

/// More than any other plan.
const COST_WITHOUT_ARGUMENTS: f64 = 1e15;

/// The arguments are the values, in the order of the table; the plan has a bit for each that is there.
unsafe extern "C" fn best_index(table: *mut ffi::sqlite3_vtab, info: *mut ffi::sqlite3_index_info) -> c_int {
    // SAFETY: made by `connect`; SQLite's question, whose arrays have the lengths that it says.
    unsafe {
        let table = (*table.cast::<RawTable>()).table;
        let conditions = slice((*info).aConstraint, (*info).nConstraint);
        // Where the condition of each argument is.
        let mut places: SmallVec<[Option<usize>; 16]> = SmallVec::from_elem(None, table.arguments.len());
        let mut is_unusable = false;
        for (place, one) in conditions.iter().enumerate() {
            let column = usize::try_from(one.iColumn).ok();
            let is_equal = c_int::from(one.op) == ffi::SQLITE_INDEX_CONSTRAINT_EQ;
            let Some(at) = column.filter(|_| is_equal).and_then(|column| table.argument(column)) else {
                continue;
            };
            match places.get_mut(at) {
                Some(found) if one.usable != 0 => *found = found.or(Some(place)),
                _ => is_unusable = true,
            }
        }
        if is_unusable {
            return ffi::SQLITE_CONSTRAINT;
        }
        let (mut plan, mut number) = (0, 0);
        for (at, place) in places.iter().enumerate() {
            if let Some(place) = place {
                number += 1;
                plan |= 1 << at;
                let usage = &mut *(*info).aConstraintUsage.add(*place);
                usage.argvIndex = number;
                usage.omit = 1;
            }
        }
        let has_all = places.iter().take(table.needed).all(Option::is_some);
        (*info).idxNum = plan;
        (*info).estimatedCost = if has_all { 20.0 + 2.0 * table.rows as f64 } else { COST_WITHOUT_ARGUMENTS };
        (*info).estimatedRows = table.rows;
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn open(_table: *mut ffi::sqlite3_vtab, out: *mut *mut ffi::sqlite3_vtab_cursor) -> c_int {
    let base = ffi::sqlite3_vtab_cursor { pVtab: null_mut() };
    let cursor = RawCursor { base, cursor: Cursor::default() };
    // SAFETY: a place for the cursor, whose table SQLite sets.
    unsafe { *out = Box::into_raw(Box::new(cursor)).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: made by `open`, and freed once; its table is open for longer.
    unsafe {
        let mut cursor = Box::from_raw(cursor.cast::<RawCursor>());
        let shared = (*cursor.base.pVtab.cast::<RawTable>()).shared.as_ref();
        shared.guarded((), || cursor.cursor.end(shared));
    }
    ffi::SQLITE_OK
}

/// Does something with a cursor; SQLite's code. An error's text is the table's.
///
/// Safety: a cursor that `open` made.
unsafe fn with_cursor(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    act: impl FnOnce(&mut Cursor, Surroundings<'_>, &'static Table) -> Result<()>,
) -> c_int {
    // SAFETY: as this function's; its table is open for longer.
    unsafe {
        let cursor = &mut *cursor.cast::<RawCursor>();
        let base = cursor.base.pVtab;
        let (table, shared, raw) = {
            let table = &*base.cast::<RawTable>();
            (table.table, table.shared.as_ref(), table.raw)
        };
        let around = Surroundings { shared, handle: Handle { raw, call: PhantomData } };
        let outcome = shared.guarded(Err(Unable::Stopped), || act(&mut cursor.cursor, around, table));
        match outcome {
            Ok(()) => ffi::SQLITE_OK,
            Err(Unable::TooLarge) => ffi::SQLITE_TOOBIG,
            Err(Unable::NoMemory) => ffi::SQLITE_NOMEM,
            Err(Unable::Stopped) => ffi::SQLITE_ABORT,
            Err(Unable::Code(code)) => code,
            Err(Unable::Error(text)) => {
                // The error of a command that an expression called has its code in front.
                let is_coded = text.starts_with(b"ERR ");
                let text = if is_coded { text } else { [table.name.to_bytes(), b": ", &text].concat() };
                ffi::sqlite3_free((*base).zErrMsg.cast());
                (*base).zErrMsg = message(&text);
                ffi::SQLITE_ERROR
            }
        }
    }
}

/// A table that is being read, until it is dropped: after a panic, too.
struct Deeper<'a>(&'a Cell<u32>);

impl Deeper<'_> {
    fn of(depth: &Cell<u32>) -> Result<Deeper<'_>> {
        if depth.get() >= GRAPH_DEPTH_MAX {
            return Err(Unable::Error(b"too many graphs are read from each other".into()));
        }
        depth.set(depth.get() + 1);
        Ok(Deeper(depth))
    }
}

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

/// The same for what reads edges, which may be edges of another graph.
///
/// Safety: a cursor that `open` made.
unsafe fn read_with_cursor(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    act: impl FnOnce(&mut Cursor, Surroundings<'_>, &'static Table) -> Result<()>,
) -> c_int {
    // SAFETY: as this function's.
    unsafe {
        with_cursor(cursor, |cursor, around, table| {
            let _deeper = Deeper::of(&around.shared.graph_depth)?;
            act(cursor, around, table)
        })
    }
}

unsafe extern "C" fn filter(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    plan: c_int,
    _text: *const c_char,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) -> c_int {
    // SAFETY: a cursor that `open` made, and so many values, which stay until this ends.
    unsafe {
        let mut values = slice(values, count).iter().map(|raw| argument(*raw));
        read_with_cursor(cursor, |cursor, around, table| {
            let given = (0..table.arguments.len()).map(|at| {
                let value = if plan >> at & 1 != 0 { values.next() } else { None };
                value.map(Kept::of).unwrap_or_default()
            });
            let given: SmallVec<[Kept; 12]> = given.collect();
            cursor.begin(around, table, given)
        })
    }
}

unsafe extern "C" fn next(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: a cursor that `open` made.
    unsafe { read_with_cursor(cursor, |cursor, around, _| cursor.advance(around)) }
}

unsafe extern "C" fn is_at_end(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: a cursor that `open` made.
    c_int::from(unsafe { &*cursor.cast::<RawCursor>() }.cursor.is_at_end())
}

unsafe extern "C" fn column(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    context: *mut ffi::sqlite3_context,
    column: c_int,
) -> c_int {
    // SAFETY: a cursor that `open` made, and the context of the value.
    unsafe {
        with_cursor(cursor, |cursor, around, table| {
            let column = usize::try_from(column).unwrap_or(0);
            let mut out = FunctionResult(context);
            cursor.column(around.shared, table, column, |value| out.value(value))
        })
    }
}

unsafe extern "C" fn rowid(cursor: *mut ffi::sqlite3_vtab_cursor, out: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: a cursor that `open` made, and a place for the number.
    unsafe {
        with_cursor(cursor, |cursor, _, _| {
            *out = cursor.rowid();
            Ok(())
        })
    }
}

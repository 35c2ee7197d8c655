//! SQLite's interface to tables over keys. With `ffi` and `vfs` the only files with unsafe code.
//!
//! Invariants, on which every unsafe block here rests, beside those of `ffi`:
//! - What [`connect`] makes is a [`RawTable`] whose first field is what SQLite knows of it; [`disconnect`] frees it, once. So it is with
//!   [`open`], [`RawCursor`] and [`close`]. SQLite closes all cursors of a table before it.
//! - A module's user data is an [`Entry`] of the connection, which SQLite frees by [`free_entry`] after all its tables; its [`Shared`] is freed
//!   after the connection is closed.
//! - SQLite calls these only inside a step or a preparation, on the thread of that, one at a time: a cursor has one user.
//! - No panic reaches C: [`Shared::guarded`] catches it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{NonNull, null_mut};

use rusqlite::ffi;
use smallvec::SmallVec;

use crate::ffi::{FunctionResult, argument};
use crate::function::Output;
use crate::shared::Shared;
use crate::table::plan::{Comparison, Condition, Plan, Wish, choose};
use crate::table::scan::{Scan, Unread};
use crate::table::{TABLES, Table};

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
}

#[repr(C)]
struct RawCursor {
    base: ffi::sqlite3_vtab_cursor,
    scan: Scan,
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
        // SAFETY: as this function's; the entry is freed by SQLite, after an error as well.
        let code = unsafe {
            ffi::sqlite3_create_module_v2(
                raw,
                table.name.as_ptr(),
                &raw const MODULE,
                entry,
                Some(free_entry),
            )
        };
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
            let table = RawTable { base, table: entry.table, shared: entry.shared };
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

unsafe extern "C" fn best_index(table: *mut ffi::sqlite3_vtab, info: *mut ffi::sqlite3_index_info) -> c_int {
    // SAFETY: made by `connect`; SQLite's question, whose arrays have the lengths that it says.
    unsafe {
        let table = &*table.cast::<RawTable>();
        let conditions: SmallVec<[Condition; 8]> = slice((*info).aConstraint, (*info).nConstraint)
            .iter()
            .zip(0..)
            .map(|(one, at)| condition(info, one, at))
            .collect();
        let order: SmallVec<[(c_int, bool); 4]> = slice((*info).aOrderBy, (*info).nOrderBy)
            .iter()
            .map(|one| (one.iColumn, one.desc != 0))
            .collect();
        let wish = Wish { conditions: &conditions, order: &order, columns: (*info).colUsed };
        let shared = table.shared.as_ref();
        let Some(choice) = shared.guarded(None, || choose(table.table, &wish)) else {
            return ffi::SQLITE_CONSTRAINT;
        };
        for (at, place) in (1..).zip(&choice.values) {
            if *place < conditions.len() {
                let usage = &mut *(*info).aConstraintUsage.add(*place);
                usage.argvIndex = at;
                usage.omit = u8::from(at == 1 && choice.plan.has_argument);
            }
        }
        (*info).idxNum = choice.plan.number();
        (*info).orderByConsumed = c_int::from(choice.is_ordered);
        (*info).estimatedCost = choice.cost;
        (*info).estimatedRows = choice.rows;
        (*info).idxFlags = if choice.is_unique { ffi::SQLITE_INDEX_SCAN_UNIQUE } else { 0 };
    }
    ffi::SQLITE_OK
}

/// Safety: an array of so many elements, or of none and null.
pub(crate) unsafe fn slice<'a, T>(from: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        Ok(count) if count > 0 && !from.is_null() => unsafe { std::slice::from_raw_parts(from, count) },
        _ => &[],
    }
}

/// Safety: a condition of this question, and its place.
unsafe fn condition(
    info: *mut ffi::sqlite3_index_info,
    one: &ffi::sqlite3_index_constraint,
    at: c_int,
) -> Condition {
    let comparison = match c_int::from(one.op) {
        ffi::SQLITE_INDEX_CONSTRAINT_EQ => Comparison::Equal,
        ffi::SQLITE_INDEX_CONSTRAINT_GT | ffi::SQLITE_INDEX_CONSTRAINT_GE => Comparison::Above,
        ffi::SQLITE_INDEX_CONSTRAINT_LT | ffi::SQLITE_INDEX_CONSTRAINT_LE => Comparison::Below,
        _ => Comparison::Other,
    };
    // SAFETY: as this function's; the name of a collation is a text.
    let is_binary = comparison != Comparison::Other
        && unsafe {
            let collation = ffi::sqlite3_vtab_collation(info, at);
            !collation.is_null() && CStr::from_ptr(collation).to_bytes().eq_ignore_ascii_case(b"BINARY")
        };
    Condition { column: one.iColumn, comparison, is_usable: one.usable != 0, is_binary }
}

unsafe extern "C" fn open(_table: *mut ffi::sqlite3_vtab, out: *mut *mut ffi::sqlite3_vtab_cursor) -> c_int {
    let cursor = RawCursor { base: ffi::sqlite3_vtab_cursor { pVtab: null_mut() }, scan: Scan::default() };
    // SAFETY: a place for the cursor, whose table SQLite sets.
    unsafe { *out = Box::into_raw(Box::new(cursor)).cast() };
    ffi::SQLITE_OK
}

unsafe extern "C" fn close(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: made by `open`, and freed once.
    drop(unsafe { Box::from_raw(cursor.cast::<RawCursor>()) });
    ffi::SQLITE_OK
}

/// Does something with a cursor; SQLite's code. An error's text is the table's.
///
/// Safety: a cursor that `open` made.
unsafe fn with_scan(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    act: impl FnOnce(&mut Scan, &Shared, &'static Table) -> Result<(), Unread>,
) -> c_int {
    // SAFETY: as this function's; its table is open for longer.
    unsafe {
        let cursor = &mut *cursor.cast::<RawCursor>();
        let raw = cursor.base.pVtab;
        let (table, shared) = {
            let table = &*raw.cast::<RawTable>();
            (table.table, table.shared.as_ref())
        };
        let outcome = shared.guarded(Err(Unread::Stopped), || act(&mut cursor.scan, shared, table));
        match outcome {
            Ok(()) => ffi::SQLITE_OK,
            Err(Unread::TooLarge) => ffi::SQLITE_TOOBIG,
            Err(Unread::Stopped) => ffi::SQLITE_ABORT,
            Err(Unread::Error(text)) => {
                ffi::sqlite3_free((*raw).zErrMsg.cast());
                (*raw).zErrMsg = message(&text);
                ffi::SQLITE_ERROR
            }
        }
    }
}

/// A text of SQLite's own, up to its first zero; null without memory.
pub(crate) fn message(text: &[u8]) -> *mut c_char {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    // SAFETY: the memory has a byte more than the text, for its end.
    unsafe {
        let place = ffi::sqlite3_malloc64(text.len() as u64 + 1).cast::<u8>();
        if !place.is_null() {
            place.copy_from_nonoverlapping(text.as_ptr(), text.len());
            place.add(text.len()).write(0);
        }
        place.cast()
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
        let values: SmallVec<[_; 4]> = slice(values, count).iter().map(|raw| argument(*raw)).collect();
        with_scan(cursor, |scan, shared, table| scan.begin(shared, table, Plan::from_number(plan), &values))
    }
}

unsafe extern "C" fn next(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: a cursor that `open` made.
    unsafe { with_scan(cursor, |scan, shared, table| scan.advance(shared, table)) }
}

unsafe extern "C" fn is_at_end(cursor: *mut ffi::sqlite3_vtab_cursor) -> c_int {
    // SAFETY: a cursor that `open` made.
    c_int::from(unsafe { &*cursor.cast::<RawCursor>() }.scan.is_at_end())
}

unsafe extern "C" fn column(
    cursor: *mut ffi::sqlite3_vtab_cursor,
    context: *mut ffi::sqlite3_context,
    column: c_int,
) -> c_int {
    // SAFETY: a cursor that `open` made, and the context of the value.
    unsafe {
        with_scan(cursor, |scan, _, table| {
            let mut out = FunctionResult(context);
            scan.column(table.kind, usize::try_from(column).unwrap_or(0), |value| out.value(value));
            Ok(())
        })
    }
}

unsafe extern "C" fn rowid(cursor: *mut ffi::sqlite3_vtab_cursor, out: *mut ffi::sqlite3_int64) -> c_int {
    // SAFETY: a cursor that `open` made, and a place for the number.
    unsafe {
        with_scan(cursor, |scan, _, table| {
            *out = scan.rowid(table.kind);
            Ok(())
        })
    }
}

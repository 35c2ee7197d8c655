//! A connection: texts run on it one after the other.

use std::ffi::{CStr, CString, c_int};
use std::ops::ControlFlow;

use edgecask_core::sql::{
    Access, Rows, SqlConnection, SqlDescription, SqlDone, SqlError, SqlHost, SqlLimits, SqlText, SqlValue,
};
use rusqlite::ffi;
use smallvec::SmallVec;

use crate::authorizer::{Control, Noted};
use crate::blank::skip_blank;
use crate::cache::{Cache, Prepared};
use crate::ffi::{Database, Statement, Step};
use crate::library::Known;
use crate::limits;
use crate::parameters::Parameters;
use crate::shared::{Shared, Stop};
use crate::transaction::{Then, Transactions, left_open};

pub(crate) struct Connection {
    cache: Cache,
    known: Known,
    own: Own,
    database: Database,
    /// Temporary tables are to be dropped.
    has_temporary: bool,
    /// The schema was changed here since the host was heard of last, so it may be one that was dropped.
    has_changed_schema: bool,
    /// What is in memory does not count, and could not be dropped yet.
    is_stale: bool,
    /// A statement of which rows are fetched, and whether it has a row that was not handed out yet.
    cursor: Option<(Prepared, bool)>,
}

/// Statements of its own, which are prepared before there is any lack of memory.
struct Own {
    begin: Statement,
    commit: Statement,
    rollback: Statement,
}

impl Own {
    fn prepare(database: &Database) -> Result<Own, SqlError> {
        let prepare = |text: &CStr| database.prepare(text, 0)?.0.ok_or_else(no_memory);
        Ok(Own { begin: prepare(c"BEGIN")?, commit: prepare(c"COMMIT")?, rollback: prepare(c"ROLLBACK")? })
    }
}

/// Changing the place of temporary tables drops them.
const DROP_TEMPORARY: &CStr = c"PRAGMA temp_store=DEFAULT; PRAGMA temp_store=MEMORY";

/// What a user of an open transaction may have changed.
const FOREIGN_KEYS: &CStr = c"PRAGMA foreign_keys=ON";

/// Besides what it says, this makes SQLite read the schema again.
const FORGET_SCHEMA: &CStr = c"PRAGMA writable_schema=RESET";

impl Connection {
    pub fn open(host: &mut dyn SqlHost, page_bytes: usize, cache_kib: u32) -> Result<Connection, SqlError> {
        let database = Database::open(Shared::new(page_bytes), host)?;
        let mut connection = Connection {
            cache: Cache::default(),
            known: Known::default(),
            own: Own::prepare(&database)?,
            database,
            has_temporary: false,
            has_changed_schema: false,
            is_stale: false,
            cursor: None,
        };
        connection.with_host(host, |connection| connection.set_up(page_bytes, cache_kib))?;
        Ok(connection)
    }

    fn set_up(&mut self, page_bytes: usize, cache_kib: u32) -> Result<(), SqlError> {
        let shared = self.database.shared();
        let has_right_size = {
            let mut pages = shared.pages.borrow_mut();
            shared.lease.with(|host| pages.has_right_size(host))
        };
        match has_right_size {
            Some(Ok(true)) => {}
            Some(Err(error)) => {
                shared.fail(error);
                return Err(no_database());
            }
            _ => return Err(no_database()),
        }
        // One connection at a time works on a database, but it must let its lock go after each statement to notice changes. The host
        // undoes what is cut off, so there is nothing to sync and no journal to keep but the one for failed statements.
        let text = format!(
            "PRAGMA page_size={page_bytes}; PRAGMA locking_mode=NORMAL; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; \
             PRAGMA temp_store=MEMORY; PRAGMA cache_size=-{cache_kib}; PRAGMA schema_version"
        );
        let text = CString::new(text).map_err(|_| no_database())?;
        self.database.execute(&text)
    }

    /// Lends the host for what the connection does, and makes of a stop what the caller gets.
    fn with_host<R>(
        &mut self,
        host: &mut dyn SqlHost,
        act: impl FnOnce(&mut Connection) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        let database = self.database.again();
        let outcome = database.shared().lend(host, || {
            // What failed for lack of memory the last time.
            self.tidy()?;
            if self.is_stale {
                self.drop_memory()?;
            }
            let outcome = act(self);
            self.settle(outcome)
        });
        match database.shared().take_stop() {
            None => outcome.unwrap_or_else(|| Err(in_use())),
            Some(stop) => {
                // After a panic nothing of the host was called, so it is not known what became of the pages.
                self.is_stale |= matches!(stop, Stop::Panic(_));
                Err(stop.into_error())
            }
        }
    }

    /// Ends what a call leaves behind, which is an error of its own if it succeeded, and finds the words for a refusal.
    fn settle<R>(&mut self, mut outcome: Result<R, SqlError>) -> Result<R, SqlError> {
        if !self.database.shared().keeps_open.get() && !self.database.is_autocommit() && outcome.is_ok() {
            outcome = Err(left_open());
        }
        // If that fails it is done before the next call.
        let _ = self.tidy();
        if let Some(refusal) = self.database.shared().refusal.take()
            && let Err(SqlError::Failed { message, .. }) = &mut outcome
        {
            *message = refusal;
        }
        outcome
    }

    /// Rolls back an open transaction and drops temporary tables.
    fn tidy(&mut self) -> Result<(), SqlError> {
        if self.database.shared().keeps_open.get() {
            return Ok(());
        }
        if !self.database.is_autocommit() {
            self.own.rollback.run()?;
        }
        if self.has_temporary {
            self.database.execute(DROP_TEMPORARY)?;
            self.has_temporary = false;
        }
        Ok(())
    }

    /// Makes SQLite drop its pages, and its schema unless that is known to be the host's.
    fn drop_memory(&mut self) -> Result<(), SqlError> {
        let shared = self.database.shared();
        let known = shared.pages.borrow().kept_schema_count();
        let count = {
            let mut pages = shared.pages.borrow_mut();
            pages.forget();
            shared.lease.with(|host| pages.schema_count(host))
        };
        match count {
            Some(Ok(count)) if Some(count) == known && !self.has_changed_schema => {}
            Some(Err(error)) => {
                self.is_stale = true;
                shared.fail(error);
                return Err(no_database());
            }
            // Two schemas may have the same number, if one of them was dropped.
            // A function that is in an index may not be deterministic any more: the schema is read without it.
            _ => {
                self.known.forget(&self.database);
                self.database.execute(FORGET_SCHEMA)?;
            }
        }
        self.has_changed_schema = false;
        self.is_stale = false;
        Ok(())
    }

    fn run_text(&mut self, text: &SqlText<'_>, rows: &mut dyn Rows) -> Result<SqlDone, SqlError> {
        let before = self.database.shared().pages.borrow().kept_schema_count();
        if text.access == Access::Describe {
            return self.describe_all(text.text, rows);
        }
        self.database.shared().is_read_only.set(text.access == Access::ReadOnly);
        self.known.refresh(&self.database);
        let cached = self.cache.take(text.text);
        let was_cached = cached.is_some();
        let mut statements = cached.unwrap_or_default();
        let outcome = self.run_statements(text, &mut statements, was_cached, rows);
        if let Err(SqlError::Failed { message, .. }) = &outcome
            && (message.contains("malformed database schema") || message.contains("functions prohibited in"))
        {
            // As when the schema is read again: ALTER TABLE does that by itself.
            self.known.forget(&self.database);
        }
        let is_for_open = statements.iter().any(|one| one.noted.is_for_open);
        if (was_cached || outcome.is_ok()) && !is_for_open {
            self.cache.put(text.text, statements);
        }
        if self.database.shared().pages.borrow().kept_schema_count() != before {
            self.has_changed_schema = true;
        }
        outcome
    }

    fn run_statements(
        &mut self,
        text: &SqlText<'_>,
        statements: &mut Vec<Prepared>,
        was_cached: bool,
        rows: &mut dyn Rows,
    ) -> Result<SqlDone, SqlError> {
        let mut done = SqlDone::default();
        let mut parameters = Parameters::new(text.parameters);
        let mut transactions = None;
        let source = if was_cached { None } else { Some(CString::new(text.text).map_err(|_| has_zero())?) };
        let is_kept = Cache::may_keep(text.text);
        let mut at = skip_blank(text.text, 0);
        let mut index = 0;
        let mut is_empty = true;
        while at < text.text.len() {
            if let Some(source) = source.as_deref() {
                match self.prepare(source, at)? {
                    Some(prepared) => statements.push(prepared),
                    None => break,
                }
            }
            let Some(prepared) = statements.get_mut(index) else { break };
            index += 1;
            is_empty = false;
            at = skip_blank(text.text, prepared.end);
            let is_last = at >= text.text.len();
            let controls_open =
                self.database.shared().keeps_open.get() && prepared.noted.control != Control::None;
            if text.access == Access::ReadOnly && (!prepared.statement.is_read_only() || controls_open) {
                return Err(SqlError::NotReadOnly);
            }
            if transactions.is_none()
                && !self.database.shared().keeps_open.get()
                && (!is_last || may_end_half_way(prepared))
            {
                self.own.begin.run()?;
                transactions = Some(Transactions::default());
            }
            let then = match &mut transactions {
                Some(transactions) => transactions.before(&self.database, prepared)?,
                None => Then::Run,
            };
            self.has_temporary |= prepared.noted.makes_temporary;
            let wanted = is_last.then_some(&mut *rows);
            if then == Then::Run {
                let database = (&self.database, &mut self.known);
                let outcome = run_statement(database, prepared, &mut parameters, is_last, wanted);
                prepared.statement.reset();
                if prepared.statement.parameter_count() > 0 {
                    prepared.statement.clear_parameters();
                }
                let (has_result, changed) = outcome?;
                done.has_result = has_result;
                done.is_rolled_back = prepared.noted.control == Control::Rollback && is_last && index == 1;
                done.changed_rows = done.changed_rows.saturating_add(changed);
            } else {
                parameters.bind(&mut prepared.statement, is_last)?;
                done.has_result = false;
            }
            if let Some(transactions) = &mut transactions {
                transactions.after(&self.database, prepared)?;
            }
            if !is_kept {
                // A long text may have more statements than there is memory for.
                statements.clear();
                index = 0;
            }
        }
        if let Some(transactions) = transactions {
            if !transactions.are_ended() {
                return Err(left_open());
            }
            self.own.commit.run()?;
        }
        if is_empty && !text.parameters.is_empty() {
            return Err(no_statement());
        }
        done.last_insert_rowid = self.database.last_insert_rowid();
        Ok(done)
    }

    fn begin_cursor(&mut self, text: &SqlText<'_>, rows: &mut dyn Rows) -> Result<(), SqlError> {
        self.database.shared().is_read_only.set(true);
        let source = CString::new(text.text).map_err(|_| has_zero())?;
        let prepared = self.prepare(&source, skip_blank(text.text, 0))?;
        let mut prepared = prepared.ok_or_else(|| failed(ffi::SQLITE_ERROR, "the text has no statement"))?;
        if skip_blank(text.text, prepared.end) < text.text.len() {
            return Err(failed(ffi::SQLITE_ERROR, "a cursor is of one statement"));
        }
        if !prepared.statement.is_read_only() || prepared.statement.column_count() == 0 {
            return Err(SqlError::NotReadOnly);
        }
        Parameters::new(text.parameters).bind(&mut prepared.statement, true)?;
        let step = first_step((&self.database, &mut self.known), &mut prepared, Some(rows))?;
        self.cursor = Some((prepared, step == Step::Row));
        Ok(())
    }

    /// Hands out rows until there are no more, or there is no room; whether there are more.
    fn fetch_rows(
        &self,
        (prepared, has_row): &mut (Prepared, bool),
        rows: &mut dyn Rows,
    ) -> Result<bool, SqlError> {
        while *has_row {
            let flow = hand_out(&self.database, prepared, rows)?;
            *has_row = next_step(&self.database, prepared)? == Step::Row;
            if flow.is_break() {
                break;
            }
        }
        Ok(*has_row)
    }

    /// Prepares all statements of a text and describes them; see [`Access::Describe`].
    fn describe_all(&mut self, text: &[u8], rows: &mut dyn Rows) -> Result<SqlDone, SqlError> {
        const NAMES: [&[u8]; 4] = [b"statement", b"kind", b"name", b"type"];
        let source = CString::new(text).map_err(|_| has_zero())?;
        self.database.shared().is_read_only.set(false);
        self.database.shared().guarded((), || rows.columns(&NAMES));
        let mut at = skip_blank(text, 0);
        let mut number = 0;
        while at < text.len() {
            let Some(prepared) = self.prepare(&source, at)? else { break };
            at = skip_blank(text, prepared.end);
            number += 1;
            let (statement, shared) = (&prepared.statement, self.database.shared());
            let mut tell = |kind: &'static [u8], name: Option<&[u8]>, declared: Option<&[u8]>| {
                let name = name.map_or(SqlValue::Null, SqlValue::Text);
                let declared = declared.map_or(SqlValue::Null, SqlValue::Text);
                let row = [SqlValue::Integer(number), SqlValue::Text(kind), name, declared];
                match shared.guarded(ControlFlow::Break(()), || rows.row(&row)) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => Err(no_room()),
                }
            };
            tell(b"statement", Some(if statement.is_read_only() { b"read" } else { b"write" }), None)?;
            for parameter in 1..=statement.parameter_count() {
                tell(b"parameter", statement.parameter_name(parameter), None)?;
            }
            for column in 0..statement.column_count() {
                tell(b"column", Some(statement.column_name(column)), statement.column_type_name(column))?;
            }
        }
        Ok(SqlDone { has_result: true, ..SqlDone::default() })
    }

    /// Prepares the statement that begins at `at`.
    fn prepare(&mut self, source: &CStr, at: usize) -> Result<Option<Prepared>, SqlError> {
        let shared = self.database.shared();
        let (statement, end) = loop {
            shared.noted.set(Noted::default());
            match self.database.prepare(source, at) {
                Ok(prepared) => break prepared,
                Err(error) if self.known.add_missing(&self.database, &error) => {}
                Err(error) => return Err(error),
            }
        };
        let noted = shared.noted.take();
        let savepoint = if noted.control == Control::None { Vec::new() } else { shared.savepoint.take() };
        Ok(statement.map(|statement| Prepared { statement, noted, savepoint, begin: at, end }))
    }
}

/// Whether a statement changes something and has rows, with any of which the caller may end it. SQLite would commit it then.
fn may_end_half_way(prepared: &Prepared) -> bool {
    !prepared.statement.is_read_only() && prepared.statement.column_count() > 0
}

/// Runs one statement to its end; it is not reset yet. Answers whether it has a result, and how many rows it changed.
fn run_statement(
    (database, known): (&Database, &mut Known),
    prepared: &mut Prepared,
    parameters: &mut Parameters<'_>,
    is_last: bool,
    mut rows: Option<&mut (dyn Rows + '_)>,
) -> Result<(bool, u64), SqlError> {
    parameters.bind(&mut prepared.statement, is_last)?;
    let before = database.total_changes();
    let mut step = first_step((database, known), prepared, rows.as_deref_mut())?;
    while step == Step::Row {
        if let Some(rows) = rows.as_deref_mut()
            && let ControlFlow::Break(()) = hand_out(database, prepared, rows)?
        {
            return Err(no_room());
        }
        step = next_step(database, prepared)?;
    }
    let changed = if database.total_changes() == before { 0 } else { database.changes() };
    Ok((prepared.statement.column_count() > 0, u64::try_from(changed).unwrap_or(0)))
}

fn next_step(database: &Database, prepared: &mut Prepared) -> Result<Step, SqlError> {
    match prepared.statement.step() {
        Step::Failed => Err(database.error(prepared.begin)),
        step => Ok(step),
    }
}

/// Begins a statement, and tells its columns if it has a result: only now is it sure that it was not prepared again, with other columns.
fn first_step(
    (database, known): (&Database, &mut Known),
    prepared: &mut Prepared,
    rows: Option<&mut (dyn Rows + '_)>,
) -> Result<Step, SqlError> {
    let calls = database.shared().calls.get();
    let step = loop {
        match next_step(database, prepared) {
            // SQLite prepares a statement again if the schema has changed. If nothing was called it did nothing yet.
            Err(error) if database.shared().calls.get() == calls && known.add_missing(database, &error) => {
                prepared.statement.reset();
            }
            step => break step?,
        }
    };
    let statement = &prepared.statement;
    let columns = statement.column_count();
    if columns > 0
        && let Some(rows) = rows
    {
        let names: SmallVec<[&[u8]; 16]> = (0..columns).map(|column| statement.column_name(column)).collect();
        database.shared().guarded((), || rows.columns(&names));
        if rows.wants_types() {
            let types: SmallVec<[Option<&[u8]>; 16]> =
                (0..columns).map(|column| statement.column_type_name(column)).collect();
            database.shared().guarded((), || rows.types(&types));
        }
    }
    Ok(step)
}

/// Hands out the row that the last step found.
fn hand_out(
    database: &Database,
    prepared: &mut Prepared,
    rows: &mut (dyn Rows + '_),
) -> Result<ControlFlow<()>, SqlError> {
    let statement = &mut prepared.statement;
    let mut values = SmallVec::<[_; 16]>::new();
    for column in 0..statement.column_count() {
        match statement.column(column) {
            Some(value) => values.push(value),
            None => return Err(no_memory()),
        }
    }
    Ok(database.shared().guarded(ControlFlow::Break(()), || rows.row(&values)))
}

impl SqlConnection for Connection {
    fn run(
        &mut self,
        host: &mut dyn SqlHost,
        text: &SqlText<'_>,
        limits: &SqlLimits,
        rows: &mut dyn Rows,
    ) -> Result<SqlDone, SqlError> {
        if text.text.len() > limits.text_bytes {
            return Err(failed(ffi::SQLITE_TOOBIG, "the text of the statement is too long"));
        }
        self.database.set_value_bytes(limits.value_bytes);
        self.with_host(host, |connection| connection.run_text(text, rows))
    }

    fn forget(&mut self, host: &mut dyn SqlHost) -> Result<(), SqlError> {
        self.is_stale = true;
        self.with_host(host, |_| Ok(()))
    }

    fn describe(&mut self, host: &mut dyn SqlHost, text: &[u8]) -> Result<SqlDescription, SqlError> {
        self.database.set_value_bytes(limits::DESCRIBE_VALUE_BYTES);
        self.database.shared().is_read_only.set(false);
        self.with_host(host, |connection| {
            let source = CString::new(text).map_err(|_| has_zero())?;
            let Some(prepared) = connection.prepare(&source, skip_blank(text, 0))? else {
                return Ok(SqlDescription { is_read_only: true, ..SqlDescription::default() });
            };
            let statement = &prepared.statement;
            let parameters = (1..=statement.parameter_count())
                .map(|number| statement.parameter_name(number).map(<[u8]>::to_vec))
                .collect();
            let columns = (0..statement.column_count())
                .map(|column| {
                    let declared = statement.column_type_name(column).map(<[u8]>::to_vec);
                    (statement.column_name(column).to_vec(), declared)
                })
                .collect();
            let (is_explain, is_read_only) = (statement.is_explain(), statement.is_read_only());
            Ok(SqlDescription { parameters, columns, is_explain, is_read_only })
        })
    }

    fn keep_open(&mut self, host: &mut dyn SqlHost, keeps: bool) -> Result<(), SqlError> {
        self.database.shared().keeps_open.set(keeps);
        self.with_host(host, |connection| match keeps {
            true => Ok(()),
            false => connection.database.execute(FOREIGN_KEYS),
        })
    }

    fn is_open(&self) -> bool {
        !self.database.is_autocommit()
    }

    fn open_cursor(
        &mut self,
        host: &mut dyn SqlHost,
        text: &SqlText<'_>,
        limits: &SqlLimits,
        rows: &mut dyn Rows,
    ) -> Result<(), SqlError> {
        if text.text.len() > limits.text_bytes {
            return Err(failed(ffi::SQLITE_TOOBIG, "the text of the statement is too long"));
        }
        self.database.set_value_bytes(limits.value_bytes);
        self.with_host(host, |connection| connection.begin_cursor(text, rows))
    }

    fn fetch(&mut self, host: &mut dyn SqlHost, rows: &mut dyn Rows) -> Result<bool, SqlError> {
        let Some(mut cursor) = self.cursor.take() else { return Ok(false) };
        let fetched = self.with_host(host, |connection| connection.fetch_rows(&mut cursor, rows));
        match fetched {
            Ok(true) => self.cursor = Some(cursor),
            _ => cursor.0.statement.reset(),
        }
        fetched
    }

    fn close_cursor(&mut self) {
        if let Some((mut prepared, _)) = self.cursor.take() {
            prepared.statement.reset();
        }
    }

    fn memory_bytes(&self) -> u64 {
        self.database.memory_bytes()
    }
}

fn failed(code: c_int, message: &str) -> SqlError {
    SqlError::Failed { code, message: message.into(), offset: None }
}

pub(crate) fn no_database() -> SqlError {
    failed(ffi::SQLITE_NOTADB, "the pages are no database")
}

fn in_use() -> SqlError {
    failed(ffi::SQLITE_BUSY, "the connection is in use")
}

fn has_zero() -> SqlError {
    failed(ffi::SQLITE_ERROR, "the text has a byte of zero")
}

fn no_memory() -> SqlError {
    failed(ffi::SQLITE_NOMEM, "out of memory")
}

fn no_room() -> SqlError {
    failed(ffi::SQLITE_TOOBIG, "the result is larger than may be answered")
}

fn no_statement() -> SqlError {
    failed(ffi::SQLITE_RANGE, "parameters are given, but the text has no statement")
}

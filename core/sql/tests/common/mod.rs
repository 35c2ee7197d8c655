//! A host whose pages are a map, with transactions, a few commands, and a place at which it fails.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use edgecask_core::engine::EngineError;
use edgecask_core::script::{Answer, Tick, Writer};
use edgecask_core::sql::{
    Access, LibraryFunction, Parameter, Rows, SqlConnection, SqlDone, SqlEngine, SqlError, SqlHost,
    SqlLimits, SqlText, SqlValue,
};
use edgecask_sql::Sqlite;

pub const PAGE_BYTES: usize = 2048;

pub const LIMITS: SqlLimits = SqlLimits { text_bytes: 4 << 20, value_bytes: 16 << 20 };

pub type Pages = BTreeMap<u32, Vec<u8>>;

/// Answers a command, or None if it does not know it.
pub type Commands = Box<dyn FnMut(&[&[u8]], &mut Writer) -> Option<Answer>>;

/// What a host does at a count that a test chooses.
#[derive(Clone, Debug)]
pub enum Fault {
    Engine(EngineError),
    Kill,
    Abandon,
    Panic,
}

#[derive(Default)]
pub struct TestHost {
    pub pages: Pages,
    pub saved: Option<Pages>,
    pub data: BTreeMap<Vec<u8>, Vec<u8>>,
    pub reads: u64,
    pub writes: u64,
    pub first_page_writes: u64,
    pub calls: u64,
    pub ticks: u64,
    pub size_questions: u64,
    /// Counted from 1.
    pub at_read: Option<(u64, Fault)>,
    pub at_write: Option<(u64, Fault)>,
    pub at_tick: Option<(u64, Fault)>,
    pub at_call: Option<(u64, Fault)>,
    pub now_ms: u64,
    pub random: u64,
    /// Answers commands before all others, if it knows them.
    pub commands: Option<Commands>,
    /// The name of a function of a library, which doubles its argument.
    pub library: Option<&'static [u8]>,
    /// Another database, with a host of its own.
    pub other: Option<Box<Database>>,
}

fn fault<R>(at: &Option<(u64, Fault)>, count: u64, answer: impl FnOnce(Fault) -> R) -> Option<R> {
    match at {
        Some((number, fault)) if *number == count => Some(answer(fault.clone())),
        _ => None,
    }
}

fn engine_error(fault: Fault) -> EngineError {
    match fault {
        Fault::Engine(error) => error,
        Fault::Panic => panic!("a fault of the host"),
        Fault::Kill | Fault::Abandon => EngineError::Undeclared,
    }
}

impl TestHost {
    pub fn begin(&mut self) {
        self.saved = Some(self.pages.clone());
    }

    pub fn commit(&mut self) {
        self.saved = None;
    }

    pub fn drop_transaction(&mut self) {
        self.pages = self.saved.take().expect("a transaction was begun");
    }

    pub fn reset_counts(&mut self) {
        self.reads = 0;
        self.writes = 0;
        self.first_page_writes = 0;
        self.calls = 0;
        self.ticks = 0;
        self.size_questions = 0;
        self.at_read = None;
        self.at_write = None;
        self.at_tick = None;
        self.at_call = None;
    }

    fn command(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        let [name, arguments @ ..] = arguments else { return Answer::Error };
        match (name.to_ascii_uppercase().as_slice(), arguments) {
            (b"SET", [key, value]) => {
                self.data.insert(key.to_vec(), value.to_vec());
                reply.field("ok", b"OK");
            }
            (b"GET", [key]) => match self.data.get(*key) {
                Some(value) => reply.text(value),
                None => reply.boolean(false),
            },
            (b"INCR", [key]) => {
                let old = self.data.get(*key).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
                let new = old.unwrap_or(0) + 1;
                self.data.insert(key.to_vec(), new.to_string().into_bytes());
                reply.integer(new);
            }
            (b"ECHO", [text]) => reply.text(text),
            (b"ECHO", texts) => {
                let mark = reply.table_start();
                texts.iter().for_each(|text| reply.text(text));
                reply.table_end(mark, texts.len() as u64, 0);
            }
            (b"DOUBLE", []) => {
                let mark = reply.table_start();
                reply.text(b"double");
                reply.number(1.5);
                reply.table_end(mark, 0, 1);
            }
            (b"MAP", []) => {
                let outer = reply.table_start();
                reply.text(b"map");
                let inner = reply.table_start();
                reply.text(b"a\"b");
                reply.integer(i64::MAX);
                reply.text(b"set");
                let set = reply.table_start();
                reply.text(b"set");
                let members = reply.table_start();
                reply.text(b"x\n");
                reply.boolean(true);
                reply.table_end(members, 0, 1);
                reply.table_end(set, 0, 1);
                reply.table_end(inner, 0, 2);
                reply.table_end(outer, 0, 1);
            }
            // SQL on the other database.
            (b"OTHER", [text]) => {
                let Some(mut other) = self.other.take() else {
                    reply.text(b"ERR the database is in use");
                    return Answer::Error;
                };
                other.host.other = None;
                let answer = other.query(std::str::from_utf8(text).expect("UTF-8"));
                self.other = Some(other);
                match answer {
                    Ok(rows) => reply.text(rows.as_bytes()),
                    Err(error) => {
                        reply.text(format!("ERR {error}").as_bytes());
                        return Answer::Error;
                    }
                }
            }
            _ => {
                reply.text(b"ERR unknown command");
                return Answer::Error;
            }
        }
        Answer::Value
    }
}

impl SqlHost for TestHost {
    fn read_page(&mut self, page: u32, offset: usize, out: &mut [u8]) -> Result<bool, EngineError> {
        self.reads += 1;
        if let Some(error) = fault(&self.at_read, self.reads, engine_error) {
            return Err(error);
        }
        let bytes = self.pages.get(&page).and_then(|bytes| bytes.get(offset..offset + out.len()));
        let Some(bytes) = bytes else { return Ok(false) };
        out.copy_from_slice(bytes);
        Ok(true)
    }

    fn write_page(&mut self, page: u32, bytes: &[u8]) -> Result<(), EngineError> {
        self.writes += 1;
        self.first_page_writes += u64::from(page == 0);
        if let Some(error) = fault(&self.at_write, self.writes, engine_error) {
            return Err(error);
        }
        self.pages.insert(page, bytes.to_vec());
        Ok(())
    }

    fn truncate(&mut self, pages: u32) -> Result<(), EngineError> {
        self.pages.retain(|page, _| *page < pages);
        Ok(())
    }

    fn page_count(&mut self) -> Result<u32, EngineError> {
        self.size_questions += 1;
        Ok(self.pages.last_key_value().map_or(0, |(page, _)| page + 1))
    }

    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        self.calls += 1;
        match fault(&self.at_call, self.calls, |fault| fault) {
            Some(Fault::Kill) => return Answer::Kill,
            Some(Fault::Abandon) => return Answer::Abandon,
            Some(_) => panic!("a fault of the host"),
            None => {}
        }
        if let Some(commands) = &mut self.commands
            && let Some(answer) = commands(arguments, reply)
        {
            return answer;
        }
        self.command(arguments, reply)
    }

    fn library_function(&mut self, name: &[u8]) -> Option<LibraryFunction> {
        (self.library == Some(name)).then_some(LibraryFunction { is_deterministic: true })
    }

    fn library_state(&mut self) -> Option<u64> {
        Some(1)
    }

    fn call_function(&mut self, _: &[u8], arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        let number = arguments.first().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
        reply.integer(2 * number.unwrap_or(0));
        Answer::Value
    }

    fn tick(&mut self) -> Tick {
        self.ticks += 1;
        match fault(&self.at_tick, self.ticks, |fault| fault) {
            Some(Fault::Panic) => panic!("a fault of the host"),
            Some(_) => Tick::Kill,
            None => Tick::Continue,
        }
    }

    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random
    }
}

/// The rows of a result, written out: `a|1;b|2;`.
#[derive(Default)]
pub struct Collected {
    pub columns: Vec<String>,
    pub text: String,
    pub rows: usize,
    /// Ends the statement after so many rows.
    pub room: Option<usize>,
    pub panics: bool,
}

pub fn show(value: SqlValue<'_>) -> String {
    match value {
        SqlValue::Null => "NULL".into(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => format!("{number:?}"),
        SqlValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
        SqlValue::Blob(blob) => blob.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "h",
    }
}

impl Rows for Collected {
    fn columns(&mut self, names: &[&[u8]]) {
        self.columns = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        self.text.clear();
        self.rows = 0;
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        assert!(!self.panics, "a fault of the rows");
        if self.room == Some(self.rows) {
            return ControlFlow::Break(());
        }
        self.rows += 1;
        let row: Vec<String> = values.iter().map(|value| show(*value)).collect();
        self.text.push_str(&row.join("|"));
        self.text.push(';');
        ControlFlow::Continue(())
    }
}

/// A connection with its host.
pub struct Database {
    pub connection: Box<dyn SqlConnection>,
    pub host: TestHost,
}

impl Database {
    pub fn new() -> Database {
        Database::open(TestHost::default())
    }

    pub fn open(mut host: TestHost) -> Database {
        let connection = Sqlite::default().open(&mut host, PAGE_BYTES).expect("opens");
        Database { connection, host }
    }

    pub fn run_with(
        &mut self,
        text: &[u8],
        parameters: &[Parameter<'_>],
        access: Access,
        rows: &mut Collected,
    ) -> Result<SqlDone, SqlError> {
        self.connection.run(&mut self.host, &SqlText { text, parameters, access }, &LIMITS, rows)
    }

    pub fn run(&mut self, text: &str) -> Result<SqlDone, SqlError> {
        self.run_with(text.as_bytes(), &[], Access::Any, &mut Collected::default())
    }

    /// Runs a text that must not fail.
    pub fn must(&mut self, text: &str) -> SqlDone {
        self.run(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    pub fn query(&mut self, text: &str) -> Result<String, SqlError> {
        self.query_with(text, &[])
    }

    pub fn query_with(&mut self, text: &str, parameters: &[Parameter<'_>]) -> Result<String, SqlError> {
        let mut rows = Collected::default();
        self.run_with(text.as_bytes(), parameters, Access::Any, &mut rows)?;
        Ok(rows.text)
    }

    /// The rows, or `ERR` and the error's words.
    pub fn answer(&mut self, text: &str) -> String {
        self.query(text).unwrap_or_else(|error| format!("ERR {error}"))
    }

    pub fn forget(&mut self) {
        self.connection.forget(&mut self.host).expect("nothing fails");
    }

    /// All that is in the tables, after a check that they are whole.
    pub fn content(&mut self) -> String {
        assert_eq!(self.answer("PRAGMA integrity_check"), "ok;");
        assert_eq!(self.answer("PRAGMA foreign_key_check"), "");
        let mut content = self.answer("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2");
        let tables = self.answer("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1");
        for table in tables.split_terminator(';') {
            content.push_str(&format!("\n{table}: {}", self.answer(&format!("SELECT * FROM \"{table}\""))));
        }
        content
    }
}

/// A parameter without a name.
pub fn placed(value: SqlValue<'_>) -> Parameter<'_> {
    Parameter { name: None, value }
}

pub fn named<'a>(name: &'a str, value: SqlValue<'a>) -> Parameter<'a> {
    Parameter { name: Some(name.as_bytes()), value }
}

/// The code of an error of SQLite, without what extends it.
pub fn code(outcome: &Result<SqlDone, SqlError>) -> Option<i32> {
    match outcome {
        Err(SqlError::Failed { code, .. }) => Some(code & 0xff),
        _ => None,
    }
}

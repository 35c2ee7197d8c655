//! Results as JSON.

use std::ops::ControlFlow;

use base64::prelude::{BASE64_STANDARD_NO_PAD, Engine};
use serde_json::{Value, json};

use super::super::lend::{Failed, Gathers};
use super::request::Wanted;
use crate::limits::REST_REPLY_MAX_BYTES;
use crate::sql::{Rows, SqlDescription, SqlDone, SqlValue};

/// What one request came to.
pub(super) enum Result {
    Close,
    Execute(std::result::Result<Table, Error>),
    /// None for a step that its condition left out.
    Batch(Vec<Option<std::result::Result<Table, Error>>>),
    Sequence(std::result::Result<(), Error>),
    Describe(std::result::Result<SqlDescription, Error>),
    StoreSql(std::result::Result<(), Error>),
    CloseSql,
    GetAutocommit(bool),
    Unknown(Error),
}

/// An error of one request or step.
#[derive(Clone, Debug)]
pub(super) struct Error {
    pub message: String,
    pub code: String,
}

/// SQLite's primary result codes that a statement may end with.
const CODES: [(i32, &str); 13] = [
    (1, "SQLITE_ERROR"),
    (4, "SQLITE_ABORT"),
    (5, "SQLITE_BUSY"),
    (6, "SQLITE_LOCKED"),
    (7, "SQLITE_NOMEM"),
    (8, "SQLITE_READONLY"),
    (9, "SQLITE_INTERRUPT"),
    (10, "SQLITE_IOERR"),
    (13, "SQLITE_FULL"),
    (18, "SQLITE_TOOBIG"),
    (19, "SQLITE_CONSTRAINT"),
    (20, "SQLITE_MISMATCH"),
    (25, "SQLITE_RANGE"),
];

impl Error {
    pub fn new(message: &str, code: &str) -> Error {
        Error { message: message.into(), code: code.into() }
    }

    pub fn of(failed: &Failed) -> Error {
        let text = failed.error.reply_text();
        let name = failed
            .code
            .map(|code| code & 0xff)
            .and_then(|code| CODES.iter().find(|(known, _)| *known == code));
        let code = match (name, text.split(' ').next()) {
            (Some((_, name)), _) => *name,
            (None, Some("NOPERM")) => "SQLITE_AUTH",
            _ => "SQLITE_ERROR",
        };
        Error::new(text.strip_prefix("ERR ").unwrap_or(&text), code)
    }

    fn json(&self) -> Value {
        json!({ "message": self.message, "code": self.code })
    }
}

/// The rows of a statement, as JSON from the beginning: they are not held twice.
#[derive(Default)]
pub(super) struct Table {
    names: Vec<String>,
    types: Vec<Option<String>>,
    /// Arrays, one for each row.
    rows: Vec<Vec<u8>>,
    bytes: usize,
    wants_rows: bool,
    /// As many rows as there may be.
    most: Option<usize>,
    done: SqlDone,
}

impl Table {
    pub fn new(wants_rows: bool, most: Option<usize>) -> Table {
        Table { wants_rows, most, ..Table::default() }
    }

    pub fn end(mut self, done: SqlDone) -> Table {
        self.done = done;
        self
    }

    /// Bytes that its rows take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn columns(&self) -> Value {
        let columns = self.names.iter().enumerate().map(|(at, name)| {
            let declared = self.types.get(at).cloned().flatten();
            json!({ "name": name, "decltype": declared })
        });
        Value::Array(columns.collect())
    }

    /// The rowid of what the statement inserted last, as Hrana writes integers.
    fn rowid(&self) -> Option<String> {
        (self.done.changed_rows > 0).then(|| self.done.last_insert_rowid.to_string())
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"cols\":");
        write(&self.columns(), out);
        out.extend_from_slice(b",\"rows\":[");
        for (at, row) in self.rows.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(row);
        }
        let rest = json!({
            "affected_row_count": self.done.changed_rows,
            "last_insert_rowid": self.rowid(),
            "replication_index": Value::Null,
            "rows_read": self.rows.len(),
            "rows_written": self.done.changed_rows,
            "query_duration_ms": 0.0,
        });
        let mut rest_bytes = Vec::new();
        write(&rest, &mut rest_bytes);
        out.extend_from_slice(b"],");
        out.extend_from_slice(rest_bytes.get(1..).unwrap_or_default());
    }
}

impl Rows for Table {
    fn columns(&mut self, names: &[&[u8]]) {
        self.names = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        self.rows.clear();
        self.bytes = 0;
    }

    fn wants_types(&self) -> bool {
        true
    }

    fn types(&mut self, types: &[Option<&[u8]>]) {
        self.types =
            types.iter().map(|name| name.map(|name| String::from_utf8_lossy(name).into_owned())).collect();
    }

    fn row(&mut self, values: &[SqlValue<'_>]) -> ControlFlow<()> {
        if !self.wants_rows {
            return ControlFlow::Continue(());
        }
        let mut row = vec![b'['];
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                row.push(b',');
            }
            write_value(*value, &mut row);
        }
        row.push(b']');
        self.bytes += row.len();
        self.rows.push(row);
        let is_over = self.is_full() || self.too_many().is_some();
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Gathers for Table {
    fn is_full(&self) -> bool {
        self.bytes as u64 > REST_REPLY_MAX_BYTES / 2
    }

    fn too_many(&self) -> Option<usize> {
        self.most.filter(|most| self.rows.len() > *most)
    }
}

fn write(value: &Value, out: &mut Vec<u8>) {
    // Any value becomes JSON, and memory takes what is written to it.
    let written = serde_json::to_writer(out, value);
    debug_assert!(written.is_ok());
}

fn write_value(value: SqlValue<'_>, out: &mut Vec<u8>) {
    match value {
        SqlValue::Null => out.extend_from_slice(b"{\"type\":\"null\"}"),
        SqlValue::Integer(number) => {
            out.extend_from_slice(b"{\"type\":\"integer\",\"value\":\"");
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            out.extend_from_slice(b"\"}");
        }
        SqlValue::Real(number) => {
            out.extend_from_slice(b"{\"type\":\"float\",\"value\":");
            // JSON has no word for the infinite; this is read as such.
            let text = if number.is_finite() {
                ryu::Buffer::new().format_finite(number).to_owned()
            } else {
                format!("{}9e999", if number < 0.0 { "-" } else { "" })
            };
            out.extend_from_slice(text.as_bytes());
            out.push(b'}');
        }
        SqlValue::Text(text) => {
            out.extend_from_slice(b"{\"type\":\"text\",\"value\":");
            write(&Value::String(String::from_utf8_lossy(text).into_owned()), out);
            out.push(b'}');
        }
        SqlValue::Blob(bytes) => {
            out.extend_from_slice(b"{\"type\":\"blob\",\"base64\":\"");
            out.extend_from_slice(BASE64_STANDARD_NO_PAD.encode(bytes).as_bytes());
            out.extend_from_slice(b"\"}");
        }
    }
}

/// The body of the response.
pub(super) fn response(wanted: Wanted, baton: Option<&str>, results: &[Result]) -> Vec<u8> {
    let mut out = Vec::new();
    match wanted {
        Wanted::Pipeline => {
            out.extend_from_slice(b"{\"baton\":");
            write(&json!(baton), &mut out);
            out.extend_from_slice(b",\"base_url\":null,\"results\":[");
            for (at, result) in results.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_result(result, &mut out);
            }
            out.extend_from_slice(b"]}");
        }
        Wanted::Cursor => {
            line(&json!({ "baton": baton, "base_url": Value::Null }), &mut out);
            for result in results {
                if let Result::Batch(steps) = result {
                    write_entries(steps, &mut out);
                }
            }
        }
    }
    out
}

fn line(value: &Value, out: &mut Vec<u8>) {
    write(value, out);
    out.push(b'\n');
}

fn write_entries(steps: &[Option<std::result::Result<Table, Error>>], out: &mut Vec<u8>) {
    for (at, step) in steps.iter().enumerate() {
        match step {
            None => {}
            Some(Err(error)) => {
                line(&json!({ "type": "step_error", "step": at, "error": error.json() }), out);
            }
            Some(Ok(table)) => {
                line(&json!({ "type": "step_begin", "step": at, "cols": table.columns() }), out);
                for row in &table.rows {
                    out.extend_from_slice(b"{\"type\":\"row\",\"row\":");
                    out.extend_from_slice(row);
                    out.extend_from_slice(b"}\n");
                }
                let end = json!({
                    "type": "step_end",
                    "affected_row_count": table.done.changed_rows,
                    "last_insert_rowid": table.rowid(),
                });
                line(&end, out);
            }
        }
    }
}

fn write_result(result: &Result, out: &mut Vec<u8>) {
    let error = match result {
        Result::Execute(Err(error))
        | Result::Sequence(Err(error))
        | Result::Describe(Err(error))
        | Result::StoreSql(Err(error))
        | Result::Unknown(error) => Some(error),
        _ => None,
    };
    if let Some(error) = error {
        write(&json!({ "type": "error", "error": error.json() }), out);
        return;
    }
    out.extend_from_slice(b"{\"type\":\"ok\",\"response\":");
    match result {
        Result::Execute(Ok(table)) => {
            out.extend_from_slice(b"{\"type\":\"execute\",\"result\":");
            table.write(out);
            out.push(b'}');
        }
        Result::Batch(steps) => write_batch(steps, out),
        Result::Describe(Ok(described)) => write(&describe(described), out),
        Result::Sequence(_) => write(&json!({ "type": "sequence" }), out),
        Result::StoreSql(_) => write(&json!({ "type": "store_sql" }), out),
        Result::CloseSql => write(&json!({ "type": "close_sql" }), out),
        Result::GetAutocommit(is_autocommit) => {
            write(&json!({ "type": "get_autocommit", "is_autocommit": is_autocommit }), out);
        }
        _ => write(&json!({ "type": "close" }), out),
    }
    out.push(b'}');
}

fn write_batch(steps: &[Option<std::result::Result<Table, Error>>], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"batch\",\"result\":{\"step_results\":[");
    for (at, step) in steps.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        match step {
            Some(Ok(table)) => table.write(out),
            _ => out.extend_from_slice(b"null"),
        }
    }
    out.extend_from_slice(b"],\"step_errors\":");
    let errors = steps.iter().map(|step| match step {
        Some(Err(error)) => error.json(),
        _ => Value::Null,
    });
    write(&Value::Array(errors.collect()), out);
    out.extend_from_slice(b"}}");
}

fn describe(described: &SqlDescription) -> Value {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let parameters: Vec<Value> =
        described.parameters.iter().map(|name| json!({ "name": name.as_ref().map(text) })).collect();
    let columns: Vec<Value> = described
        .columns
        .iter()
        .map(|(name, declared)| json!({ "name": text(name), "decltype": declared.as_ref().map(text) }))
        .collect();
    json!({ "type": "describe", "result": {
        "params": parameters,
        "cols": columns,
        "is_explain": described.is_explain,
        "is_readonly": described.is_read_only,
    }})
}

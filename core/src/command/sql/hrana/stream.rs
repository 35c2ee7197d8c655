//! Runs the requests of one body on their stream.

use super::super::lend::Failed;
use super::super::open;
use super::super::text;
use super::request::{Body, Condition, Request, Sql, Statement, Step};
use super::result::{Error, Result, Table};
use crate::command::{CommandError, Context};
use crate::limits::{REST_REPLY_MAX_BYTES, SQL_STREAM_TEXTS_MAX};
use crate::server::sql::Stream;
use crate::sql::{Access, Parameter, SqlDone, SqlText};

/// A stream at work.
pub(super) struct Running<'s> {
    key: &'s [u8],
    stream: &'s mut Stream,
    pub is_closed: bool,
    /// Whether something was done that cannot be done once more.
    has_begun: bool,
    /// Whether there is only one statement, so that what it may leave to its transaction need not be kept apart.
    is_single: bool,
    /// Bytes of all results.
    bytes: usize,
}

/// The first word of a text in capitals.
fn first_word(text: &str) -> String {
    let text = text.trim_start_matches(|character: char| character.is_whitespace() || character == ';');
    let word = text.split(|character: char| !character.is_ascii_alphabetic()).next();
    word.unwrap_or_default().to_ascii_uppercase()
}

/// A BEGIN as SQLite has it: clients of libSQL say that a transaction only reads.
fn plain_begin(text: &str) -> String {
    let words: Vec<&str> =
        text.trim_end_matches(|end: char| end == ';' || end.is_whitespace()).split_whitespace().collect();
    match words.last() {
        Some(last) if last.eq_ignore_ascii_case("readonly") => "BEGIN".into(),
        _ => text.to_owned(),
    }
}

/// Whether a text only says that foreign keys are not checked, or are again: migrations do so before they begin.
fn foreign_keys(text: &str) -> Option<bool> {
    let plain: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    let plain = plain.trim_end_matches(';').to_ascii_lowercase();
    match plain.strip_prefix("pragmaforeign_keys=")? {
        "off" | "0" | "false" | "no" => Some(false),
        "on" | "1" | "true" | "yes" => Some(true),
        _ => None,
    }
}

impl<'s> Running<'s> {
    pub fn new(key: &'s [u8], stream: &'s mut Stream) -> Running<'s> {
        Running { key, stream, is_closed: false, has_begun: false, is_single: false, bytes: 0 }
    }

    /// Runs all requests.
    ///
    /// # Errors
    /// Everything is to run again, or nobody may know how it went.
    pub fn run(
        &mut self,
        ctx: &mut Context<'_, '_>,
        body: &Body,
    ) -> std::result::Result<Vec<Result>, CommandError> {
        let statements = body.requests.iter().map(|request| match request {
            Request::Execute(_) | Request::Sequence(_) => 1,
            Request::Batch(steps) => steps.len(),
            _ => 0,
        });
        self.is_single = statements.sum::<usize>() <= 1;
        let mut results = Vec::with_capacity(body.requests.len());
        for request in &body.requests {
            if self.is_closed {
                results.push(Result::Unknown(Error::new("the stream is closed", "STREAM_CLOSED")));
                continue;
            }
            results.push(self.run_request(ctx, request)?);
        }
        Ok(results)
    }

    fn run_request(
        &mut self,
        ctx: &mut Context<'_, '_>,
        request: &Request,
    ) -> std::result::Result<Result, CommandError> {
        Ok(match request {
            Request::Close => {
                self.is_closed = true;
                open::close_transaction(ctx);
                Result::Close
            }
            Request::Execute(statement) => Result::Execute(self.execute(ctx, statement)?),
            Request::Batch(steps) => Result::Batch(self.batch(ctx, steps)?),
            Request::Sequence(sql) => match self.text_of(sql) {
                Ok(text) => {
                    let had_begun = self.has_begun;
                    let ran = self.sequence(ctx, &text);
                    let ran = waiting(ctx, had_begun, ran)?;
                    Result::Sequence(self.settled(ran)?.map(|_| ()))
                }
                Err(error) => Result::Sequence(Err(error)),
            },
            Request::Describe(sql) => match self.text_of(sql) {
                Ok(text) => {
                    let described = text::describe(ctx, self.key, text.as_bytes());
                    Result::Describe(self.settled(described)?)
                }
                Err(error) => Result::Describe(Err(error)),
            },
            Request::StoreSql(number, text) => Result::StoreSql(self.store(*number, text)),
            Request::CloseSql(number) => {
                self.stream.texts.remove(number);
                Result::CloseSql
            }
            Request::GetAutocommit => Result::GetAutocommit(!open::is_in_transaction(ctx)),
            Request::Unknown(kind) => Result::Unknown(Error::new(
                &format!("a request of type {kind:?} is not known"),
                "SQL_PARSE_ERROR",
            )),
        })
    }

    fn store(&mut self, number: i64, text: &str) -> std::result::Result<(), Error> {
        let (bytes_max, texts_max) = SQL_STREAM_TEXTS_MAX;
        let texts = &mut self.stream.texts;
        let bytes: usize = texts.values().map(String::len).sum();
        if bytes + text.len() > bytes_max || texts.len() >= texts_max {
            return Err(Error::new("too many texts are stored", "SQL_STORE_FULL"));
        }
        texts.insert(number, text.to_owned());
        Ok(())
    }

    fn text_of(&self, sql: &Sql) -> std::result::Result<String, Error> {
        match sql {
            Sql::Text(text) => Ok(text.clone()),
            Sql::Stored(number) => self.stream.texts.get(number).cloned().ok_or_else(|| {
                Error::new(&format!("no text is stored under the number {number}"), "SQL_NOT_FOUND")
            }),
        }
    }

    /// The outcome of one request. An error of the store is that of the whole body; if it asks to run everything again, but something
    /// cannot be done again, the request fails.
    fn settled<T>(
        &self,
        ran: std::result::Result<T, Failed>,
    ) -> std::result::Result<std::result::Result<T, Error>, CommandError> {
        match ran {
            Ok(done) => Ok(Ok(done)),
            Err(Failed { error: CommandError::Engine(error), .. }) if error.asks_to_run_again() => {
                if self.has_begun {
                    let text = "the statement calls a command on a key that others use; send it alone";
                    return Ok(Err(Error::new(text, "SQLITE_BUSY")));
                }
                Err(error.into())
            }
            Err(failed) => Ok(Err(Error::of(&failed))),
        }
    }

    fn execute(
        &mut self,
        ctx: &mut Context<'_, '_>,
        statement: &Statement,
    ) -> std::result::Result<std::result::Result<Table, Error>, CommandError> {
        let text = match self.text_of(&statement.sql) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        if self.bytes as u64 > REST_REPLY_MAX_BYTES / 2 {
            return Ok(Err(Error::new("the results do not fit into one response", "RESPONSE_TOO_LARGE")));
        }
        let parameters: Vec<Parameter<'_>> =
            statement.arguments.iter().map(super::request::Argument::parameter).collect();
        let mut table = Table::new(statement.wants_rows, ctx.shared.settings.sql_rows_max());
        let had_begun = self.has_begun;
        let ran = self.run_statement(ctx, &text, &parameters, &mut table);
        let ran = waiting(ctx, had_begun, ran)?;
        let ran = self.settled(ran)?;
        self.bytes += table.bytes();
        Ok(ran.map(|done| table.end(done)))
    }

    fn run_statement(
        &mut self,
        ctx: &mut Context<'_, '_>,
        text: &str,
        parameters: &[Parameter<'_>],
        table: &mut Table,
    ) -> std::result::Result<SqlDone, Failed> {
        let is_open = open::is_in_transaction(ctx);
        if !is_open && first_word(text) == "BEGIN" {
            self.open(ctx)?;
            let text = plain_begin(text);
            let text = SqlText { text: text.as_bytes(), parameters, access: Access::Any };
            return text::try_run(ctx, self.key, &text, table);
        }
        if !is_open && let Some(checked) = foreign_keys(text) {
            self.stream.ignores_foreign_keys = !checked;
            return Ok(SqlDone::default());
        }
        if !is_open && self.stream.ignores_foreign_keys {
            self.open(ctx)?;
        }
        let is_open = open::is_in_transaction(ctx);
        self.has_begun |= is_open;
        let text = SqlText { text: text.as_bytes(), parameters, access: Access::Any };
        if is_open || self.is_single {
            return text::try_run(ctx, self.key, &text, table);
        }
        // One that fails is undone by itself.
        let later = ctx.later.take();
        let ran = text::try_run(ctx, self.key, &text, table);
        ctx.later = later;
        ran
    }

    /// Opens a transaction that begins with the next text, as the stream wants it.
    fn open(&mut self, ctx: &mut Context<'_, '_>) -> std::result::Result<(), Failed> {
        let text: Option<&[u8]> =
            if self.stream.ignores_foreign_keys { Some(b"PRAGMA foreign_keys=OFF") } else { None };
        open::begin_with(ctx, self.key, text)?;
        self.has_begun = true;
        Ok(())
    }

    /// Statements that run one after the other until one fails.
    fn sequence(&mut self, ctx: &mut Context<'_, '_>, text: &str) -> std::result::Result<(), Failed> {
        self.has_begun = true;
        if !open::is_in_transaction(ctx) {
            self.open(ctx)?;
        }
        let plain = if first_word(text) == "BEGIN" { plain_begin(text) } else { text.to_owned() };
        let text = SqlText { text: plain.as_bytes(), parameters: &[], access: Access::Any };
        text::try_run(ctx, self.key, &text, &mut Table::new(false, None)).map(|_| ())
    }

    fn batch(
        &mut self,
        ctx: &mut Context<'_, '_>,
        steps: &[Step],
    ) -> std::result::Result<Vec<Option<std::result::Result<Table, Error>>>, CommandError> {
        let mut results: Vec<Option<std::result::Result<Table, Error>>> = Vec::with_capacity(steps.len());
        for step in steps {
            let runs = step.condition.as_ref().is_none_or(|condition| holds(ctx, condition, &results));
            let result = if runs { Some(self.execute(ctx, &step.statement)?) } else { None };
            results.push(result);
        }
        Ok(results)
    }
}

/// Fails if the whole body waits for another client's transaction and runs again then. It does not if something was done that cannot be
/// done once more.
fn waiting<T>(
    ctx: &mut Context<'_, '_>,
    had_begun: bool,
    ran: std::result::Result<T, Failed>,
) -> std::result::Result<std::result::Result<T, Failed>, CommandError> {
    let waits = ctx.client.sql_wait.again_ms.is_some();
    if had_begun {
        ctx.client.sql_wait.again_ms = None;
    }
    match ran {
        Err(failed) if waits && !had_begun => Err(failed.error),
        ran => Ok(ran),
    }
}

fn holds(
    ctx: &mut Context<'_, '_>,
    condition: &Condition,
    results: &[Option<std::result::Result<Table, Error>>],
) -> bool {
    match condition {
        Condition::Ok(step) => matches!(results.get(*step), Some(Some(Ok(_)))),
        Condition::Error(step) => matches!(results.get(*step), Some(Some(Err(_)))),
        Condition::Not(condition) => !holds(ctx, condition, results),
        Condition::All(conditions) => conditions.iter().all(|one| holds(ctx, one, results)),
        Condition::Any(conditions) => conditions.iter().any(|one| holds(ctx, one, results)),
        Condition::IsAutocommit => !open::is_in_transaction(ctx),
    }
}

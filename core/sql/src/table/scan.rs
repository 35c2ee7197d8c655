//! Reads the rows of a table over a key by commands, some at a time.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use edgecask_core::glob::Glob;
use edgecask_core::number::format_f64;
use edgecask_core::script::{Answer, Reader, Value};
use edgecask_core::sql::SqlValue;
use smallvec::SmallVec;

use super::plan::Plan;
use super::{Kind, Table, json};
use crate::function::{argument_text, text_or_blob, write_json_text};
use crate::limits::{KEPT_BUFFER_BYTES, TABLE_BATCH_BYTES, TABLE_ROWS_FIRST, TABLE_ROWS_MAX};
use crate::shared::{Shared, Stop};

/// Why a table cannot be read on.
pub(crate) enum Unread {
    /// A command's error, or what is wrong with the table.
    Error(Vec<u8>),
    TooLarge,
    /// The statement was stopped.
    Stopped,
}

impl Unread {
    fn text(text: &str) -> Unread {
        Unread::Error(text.as_bytes().to_vec())
    }
}

type Result<T> = std::result::Result<T, Unread>;

/// A value that stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Kept {
    #[default]
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Kept {
    pub fn of(value: SqlValue<'_>) -> Kept {
        match value {
            SqlValue::Null => Kept::Null,
            SqlValue::Integer(number) => Kept::Integer(number),
            SqlValue::Real(number) => Kept::Real(number),
            SqlValue::Text(text) => Kept::Text(text.to_vec()),
            SqlValue::Blob(blob) => Kept::Blob(blob.to_vec()),
        }
    }

    pub fn value(&self) -> SqlValue<'_> {
        match self {
            Kept::Null => SqlValue::Null,
            Kept::Integer(number) => SqlValue::Integer(*number),
            Kept::Real(number) => SqlValue::Real(*number),
            Kept::Text(text) => SqlValue::Text(text),
            Kept::Blob(blob) => SqlValue::Blob(blob),
        }
    }
}

/// Where the next rows are.
#[derive(Clone, Debug, Default)]
enum Next {
    /// There are none.
    #[default]
    Nowhere,
    /// At this cursor of SCAN and its like.
    Cursor(Vec<u8>),
    /// Places from this one on, so many of them; fewer if the key has fewer.
    Places { from: i64, left: i64 },
    /// Entries of a stream from the first of these identifiers to the second.
    Entries { from: Vec<u8>, to: Vec<u8> },
    /// In the document of the key: all that the path finds.
    Document,
}

/// A row; its texts are ranges of [`Scan::texts`].
#[derive(Clone, Debug, Default)]
struct Row {
    first: Range<usize>,
    second: Range<usize>,
    score: f64,
    place: i64,
    sequence: i64,
    /// A value of JSON, and its type.
    value: Kept,
    type_name: &'static str,
}

/// A scan of one table. It is used again for the next one.
#[derive(Default)]
pub(crate) struct Scan {
    plan: Plan,
    argument: Kept,
    /// A second one.
    path: Kept,
    /// The key as a command has it.
    key: Vec<u8>,
    /// The type that all keys must have.
    filter: Option<Vec<u8>>,
    next: Next,
    /// How many rows are asked for.
    batch: i64,
    texts: Vec<u8>,
    rows: Vec<Row>,
    at: usize,
}

impl Scan {
    /// Begins a scan with the values that its plan needs.
    pub fn begin(
        &mut self,
        shared: &Shared,
        table: &Table,
        plan: Plan,
        values: &[SqlValue<'_>],
    ) -> Result<()> {
        let mut values = values.iter().copied();
        self.plan = plan;
        self.filter = None;
        self.next = Next::Nowhere;
        self.batch = TABLE_ROWS_FIRST;
        self.forget_rows();
        let argument = if plan.has_argument { values.next() } else { None };
        self.argument = argument.map(Kept::of).unwrap_or_default();
        self.key.clear();
        match argument.map(argument_text) {
            Some(Some(text)) => self.key.extend_from_slice(&text),
            // Nothing equals NULL.
            Some(None) => return Ok(()),
            None if table.needs_argument => {
                return Err(Unread::Error([table.name.to_bytes(), b"() needs a key"].concat()));
            }
            None => self.key.push(b'*'),
        }
        let second = if plan.has_second { values.next() } else { None };
        self.path = second.map(Kept::of).unwrap_or_default();
        if matches!(second, Some(SqlValue::Null)) {
            return Ok(());
        }
        if plan.is_lookup {
            match values.next() {
                Some(SqlValue::Null) | None => return Ok(()),
                // How SQLite would write it is not known here; it compares all rows.
                Some(SqlValue::Real(_)) => {}
                Some(value) => {
                    let text = argument_text(value).unwrap_or_default();
                    self.look_up(shared, table.kind, &text)?;
                    return Ok(());
                }
            }
        }
        if plan.is_filtered {
            match values.next() {
                Some(SqlValue::Text(text)) => self.filter = Some(text.to_vec()),
                Some(SqlValue::Null) | None => return Ok(()),
                Some(_) => {}
            }
        }
        let low = if plan.has_low { values.next() } else { None };
        let high = if plan.is_point {
            low
        } else if plan.has_high {
            values.next()
        } else {
            None
        };
        if matches!(low, Some(SqlValue::Null)) || matches!(high, Some(SqlValue::Null)) {
            return Ok(());
        }
        self.next = match table.kind {
            Kind::Hash | Kind::Set | Kind::Keys => Next::Cursor(b"0".to_vec()),
            Kind::Json | Kind::JsonEach => Next::Document,
            Kind::List => self.places(shared, b"LLEN", low, high)?,
            Kind::SortedSet if plan.is_other => self.places(shared, b"ZCARD", low, high)?,
            Kind::SortedSet => self.ranks(shared, low, high)?,
            Kind::Stream if plan.is_identifier => self.entries_between(shared, low, high)?,
            Kind::Stream => entries_of(low.and_then(lowest), high.and_then(highest)),
        };
        self.fill(shared, table.kind)
    }

    /// Goes on to the next row.
    pub fn advance(&mut self, shared: &Shared, table: &Table) -> Result<()> {
        self.at += 1;
        if self.at < self.rows.len() {
            return Ok(());
        }
        self.fill(shared, table.kind)
    }

    /// Whether there is no row any more.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.rows.len()
    }

    /// A number by which SQLite knows a row that it meets twice, for the sides of an OR.
    pub fn rowid(&self, kind: Kind) -> i64 {
        let Some(row) = self.rows.get(self.at) else { return 0 };
        if matches!(kind, Kind::List | Kind::Json | Kind::JsonEach) {
            return row.place;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write(self.texts.get(row.first.clone()).unwrap_or_default());
        hasher.finish().cast_signed()
    }

    /// Gives a column of the row.
    pub fn column(&self, kind: Kind, column: usize, give: impl FnOnce(SqlValue<'_>)) {
        let Some(row) = self.rows.get(self.at) else { return give(SqlValue::Null) };
        let text = |range: &Range<usize>| text_or_blob(self.texts.get(range.clone()).unwrap_or_default());
        give(match (kind, column) {
            (Kind::List | Kind::JsonEach, 0) | (Kind::SortedSet, 2) | (Kind::Stream, 1) => {
                SqlValue::Integer(row.place)
            }
            (Kind::Hash | Kind::Set | Kind::SortedSet | Kind::Stream | Kind::Keys, 0) => text(&row.first),
            (Kind::Hash | Kind::List | Kind::Keys, 1) | (Kind::Stream, 3) => text(&row.second),
            (Kind::SortedSet, 1) => SqlValue::Real(row.score),
            (Kind::Stream, 2) => SqlValue::Integer(row.sequence),
            (Kind::Json, 0) => text(&row.first),
            (Kind::JsonEach, 1) => row.value.value(),
            (Kind::JsonEach, 2) => SqlValue::Text(row.type_name.as_bytes()),
            (Kind::JsonEach, 3) => text(&row.first),
            (Kind::JsonEach, 5) => self.path.value(),
            _ => self.argument.value(),
        });
    }

    fn forget_rows(&mut self) {
        self.rows.clear();
        self.at = 0;
        self.texts.clear();
        self.texts.shrink_to(KEPT_BUFFER_BYTES);
    }

    fn keep(texts: &mut Vec<u8>, text: &[u8]) -> Range<usize> {
        let from = texts.len();
        texts.extend_from_slice(text);
        from..texts.len()
    }

    /// The one row whose text is this.
    fn look_up(&mut self, shared: &Shared, kind: Kind, text: &[u8]) -> Result<()> {
        let key = &self.key;
        let mut row = Row { first: Scan::keep(&mut self.texts, text), ..Row::default() };
        let texts = &mut self.texts;
        let is_there = match kind {
            Kind::Hash => call(shared, &[b"HGET", key, text], |value| {
                value_text(value).map(|value| row.second = Scan::keep(texts, value)).is_some()
            })?,
            Kind::Set => call(shared, &[b"SISMEMBER", key, text], |value| integer(value) == Some(1))?,
            Kind::SortedSet if self.plan.is_detailed => {
                call(shared, &[b"ZRANK", key, text, b"WITHSCORE"], |value| {
                    let Value::Table(pair) = value else { return false };
                    let mut values = pair.values();
                    let (place, score) = (values.next().and_then(integer), values.next().and_then(number));
                    row.place = place.unwrap_or_default();
                    row.score = score.unwrap_or_default();
                    place.is_some() && score.is_some()
                })?
            }
            Kind::SortedSet => call(shared, &[b"ZSCORE", key, text], |value| {
                number(value).map(|score| row.score = score).is_some()
            })?,
            Kind::Stream => {
                // What is no identifier in full is that of no entry.
                if identifier(text)
                    .is_some_and(|(ms, sequence)| format!("{ms}-{sequence}").as_bytes() == text)
                {
                    self.next = Next::Entries { from: text.to_vec(), to: text.to_vec() };
                }
                self.forget_rows();
                return self.fill(shared, kind);
            }
            Kind::Keys => {
                Glob::new(key).matches(text)
                    && call(shared, &[b"TYPE", text], |value| match value_text(value) {
                        Some(b"none") | None => false,
                        Some(name) => {
                            row.second = Scan::keep(texts, name);
                            true
                        }
                    })?
            }
            Kind::List | Kind::Json | Kind::JsonEach => false,
        };
        if is_there {
            self.rows.push(row);
        }
        Ok(())
    }

    /// A range of places of a list or of ranks. `count` is the command that tells how many there are.
    fn places(
        &self,
        shared: &Shared,
        count: &[u8],
        low: Option<SqlValue<'_>>,
        high: Option<SqlValue<'_>>,
    ) -> Result<Next> {
        let mut from = low.and_then(lowest).map_or(0, |low| low.floor() as i64).max(0);
        let mut end = high.and_then(highest).map_or(i64::MAX, |high| (high.ceil() as i64).saturating_add(1));
        if self.plan.descends {
            end = end.min(call(shared, &[count, &self.key], |value| integer(value).unwrap_or(0))?);
            // The ranks of ZREVRANGE and places from the end are not used: the batch is read from its end.
        }
        if end <= from {
            (from, end) = (0, 0);
        }
        Ok(Next::Places { from, left: end - from })
    }

    /// The ranks of the members whose scores are within a range.
    fn ranks(&self, shared: &Shared, low: Option<SqlValue<'_>>, high: Option<SqlValue<'_>>) -> Result<Next> {
        let low = low.and_then(lowest);
        let high = high.and_then(highest).map_or(f64::INFINITY, |high| high);
        let count = |min: &[u8], max: &[u8]| {
            call(shared, &[b"ZCOUNT", &self.key, min, max], |value| integer(value).unwrap_or(0))
        };
        let from = match low {
            None => 0,
            Some(low) => count(b"-inf", &[b"(", format_f64(low).as_bytes()].concat())?,
        };
        let low = low.unwrap_or(f64::NEG_INFINITY);
        let left = count(format_f64(low).as_bytes(), format_f64(high).as_bytes())?;
        Ok(Next::Places { from, left })
    }

    /// Entries whose identifiers are texts within a range. Texts and identifiers have one order only if all have the same number of
    /// digits before the dash.
    fn entries_between(
        &self,
        shared: &Shared,
        low: Option<SqlValue<'_>>,
        high: Option<SqlValue<'_>>,
    ) -> Result<Next> {
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let one = |arguments: &[&[u8]]| {
            call(shared, arguments, |value| {
                let Value::Table(entries) = value else { return None };
                let Some(Value::Table(entry)) = entries.values().next() else { return None };
                entry.values().next().and_then(value_text).map(digits)
            })
        };
        let first = one(&[b"XRANGE", &self.key, b"-", b"+", b"COUNT", b"1"])?;
        let last = one(&[b"XREVRANGE", &self.key, b"+", b"-", b"COUNT", b"1"])?;
        let bound = |value: Option<SqlValue<'_>>| match value {
            Some(SqlValue::Text(text)) if first == last && first == Some(digits(text)) => {
                identifier(text).map(|(ms, _)| ms as f64)
            }
            _ => None,
        };
        Ok(entries_of(bound(low).map(f64::next_down), bound(high).map(f64::next_up)))
    }

    /// Reads rows until there are some, or none are left.
    fn fill(&mut self, shared: &Shared, kind: Kind) -> Result<()> {
        self.forget_rows();
        while self.rows.is_empty() && !matches!(self.next, Next::Nowhere) {
            if !shared.may_go_on() {
                return Err(Unread::Stopped);
            }
            match self.read(shared, kind) {
                Err(Unread::TooLarge) if self.batch > 1 => {
                    self.forget_rows();
                    self.batch = (self.batch / 4).max(1);
                    continue;
                }
                Err(error) => return Err(error),
                Ok(next) => self.next = next,
            }
            if self.texts.len() > TABLE_BATCH_BYTES {
                self.batch = (self.batch / 2).max(1);
            } else if self.texts.len() < TABLE_BATCH_BYTES / 4 {
                self.batch = (self.batch * 2).min(TABLE_ROWS_MAX);
            }
        }
        Ok(())
    }

    /// Reads some rows; where those after them are.
    fn read(&mut self, shared: &Shared, kind: Kind) -> Result<Next> {
        match (kind, self.next.clone()) {
            (Kind::Hash, Next::Cursor(cursor)) => self.read_hash(shared, &cursor),
            (Kind::Set, Next::Cursor(cursor)) => self.read_set(shared, &cursor),
            (Kind::Keys, Next::Cursor(cursor)) => self.read_keys(shared, &cursor),
            (_, Next::Places { from, left }) => self.read_places(shared, kind, from, left),
            (_, Next::Entries { from, to }) => self.read_entries(shared, from, to),
            (Kind::Json, Next::Document) => self.read_document(shared),
            (_, Next::Document) => self.read_found(shared),
            _ => Ok(Next::Nowhere),
        }
    }

    fn read_document(&mut self, shared: &Shared) -> Result<Next> {
        let (rows, texts) = (&mut self.rows, &mut self.texts);
        call(shared, &[b"JSON.GET", &self.key], |value| {
            if let Some(text) = value_text(value) {
                rows.push(Row { first: Scan::keep(texts, text), ..Row::default() });
            }
        })?;
        Ok(Next::Nowhere)
    }

    fn read_found(&mut self, shared: &Shared) -> Result<Next> {
        let path = match &self.path {
            Kept::Null => json::EACH.to_vec(),
            path => json::path_of(&argument_text(path.value()).unwrap_or_default()),
        };
        let (rows, texts) = (&mut self.rows, &mut self.texts);
        let is_sound = call(shared, &[b"JSON.GET", &self.key, &path], |value| {
            let Some(reply) = value_text(value) else { return true };
            let Some(found) = json::values(reply) else { return false };
            for (one, place) in found.into_iter().zip(0..) {
                let first = Scan::keep(texts, &one.text);
                rows.push(Row { first, place, value: one.value, type_name: one.kind, ..Row::default() });
            }
            true
        })?;
        if is_sound { Ok(Next::Nowhere) } else { Err(Unread::text("JSON.GET replied no array of JSON")) }
    }

    fn read_hash(&mut self, shared: &Shared, cursor: &[u8]) -> Result<Next> {
        let count = self.batch.to_string();
        let (rows, texts) = (&mut self.rows, &mut self.texts);
        call(shared, &[b"HSCAN", &self.key, cursor, b"COUNT", count.as_bytes()], |value| {
            scanned(value, |members| {
                while let (Some(field), Some(value)) = (members.next(), members.next()) {
                    let first = Scan::keep(texts, value_text(field).unwrap_or_default());
                    let second = Scan::keep(texts, value_text(value).unwrap_or_default());
                    rows.push(Row { first, second, ..Row::default() });
                }
            })
        })
    }

    fn read_set(&mut self, shared: &Shared, cursor: &[u8]) -> Result<Next> {
        let count = self.batch.to_string();
        let (rows, texts) = (&mut self.rows, &mut self.texts);
        call(shared, &[b"SSCAN", &self.key, cursor, b"COUNT", count.as_bytes()], |value| {
            scanned(value, |members| {
                for member in members {
                    let first = Scan::keep(texts, value_text(member).unwrap_or_default());
                    rows.push(Row { first, ..Row::default() });
                }
            })
        })
    }

    fn read_keys(&mut self, shared: &Shared, cursor: &[u8]) -> Result<Next> {
        let count = self.batch.to_string();
        let mut arguments: SmallVec<[&[u8]; 8]> = SmallVec::new();
        arguments.extend_from_slice(&[b"SCAN", cursor, b"MATCH", &self.key, b"COUNT", count.as_bytes()]);
        if let Some(filter) = &self.filter {
            arguments.extend_from_slice(&[b"TYPE", filter]);
        }
        let (rows, texts) = (&mut self.rows, &mut self.texts);
        let next = call(shared, &arguments, |value| {
            scanned(value, |keys| {
                for key in keys {
                    let first = Scan::keep(texts, value_text(key).unwrap_or_default());
                    rows.push(Row { first, ..Row::default() });
                }
            })
        })?;
        if let Some(filter) = &self.filter {
            let second = Scan::keep(texts, filter);
            rows.iter_mut().for_each(|row| row.second = second.clone());
        } else if self.plan.is_detailed {
            for row in rows.iter_mut() {
                let key = texts.get(row.first.clone()).unwrap_or_default().to_vec();
                row.second = call(shared, &[b"TYPE", &key], |value| {
                    Scan::keep(texts, value_text(value).unwrap_or_default())
                })?;
            }
            rows.retain(|row| texts.get(row.second.clone()) != Some(b"none"));
        }
        Ok(next)
    }

    fn read_places(&mut self, shared: &Shared, kind: Kind, from: i64, left: i64) -> Result<Next> {
        let count = self.batch.min(left);
        if count <= 0 {
            return Ok(Next::Nowhere);
        }
        // In the other direction the batch is the end of the range.
        let begin = if self.plan.descends { from + (left - count) } else { from };
        let (start, stop) = (begin.to_string(), (begin + (count - 1)).to_string());
        let mut arguments: SmallVec<[&[u8]; 5]> = SmallVec::new();
        let name: &[u8] = if kind == Kind::List { b"LRANGE" } else { b"ZRANGE" };
        arguments.extend_from_slice(&[name, &self.key, start.as_bytes(), stop.as_bytes()]);
        if kind == Kind::SortedSet {
            arguments.push(b"WITHSCORES");
        }
        let (rows, texts) = (&mut self.rows, &mut self.texts);
        call(shared, &arguments, |value| {
            let Value::Table(values) = value else { return };
            for (value, place) in values.values().zip(begin..) {
                let mut row = Row { place, ..Row::default() };
                match (kind, value) {
                    (Kind::List, value) => {
                        row.second = Scan::keep(texts, value_text(value).unwrap_or_default());
                    }
                    (_, Value::Table(pair)) => {
                        let mut pair = pair.values();
                        let member = pair.next().and_then(value_text).unwrap_or_default();
                        row.first = Scan::keep(texts, member);
                        row.score = pair.next().and_then(number).unwrap_or_default();
                    }
                    _ => {}
                }
                rows.push(row);
            }
        })?;
        let is_short = (rows.len() as i64) < count;
        if self.plan.descends {
            rows.reverse();
            // A command of the same statement may have taken some away.
            return Ok(Next::Places { from, left: left - count });
        }
        Ok(if is_short { Next::Nowhere } else { Next::Places { from: from + count, left: left - count } })
    }

    fn read_entries(&mut self, shared: &Shared, from: Vec<u8>, to: Vec<u8>) -> Result<Next> {
        let count = self.batch.to_string();
        let arguments: [&[u8]; 6] = if self.plan.descends {
            [b"XREVRANGE", &self.key, &to, &from, b"COUNT", count.as_bytes()]
        } else {
            [b"XRANGE", &self.key, &from, &to, b"COUNT", count.as_bytes()]
        };
        let (rows, texts) = (&mut self.rows, &mut self.texts);
        let (is_detailed, limit_bytes) = (self.plan.is_detailed, shared.value_bytes.get());
        let is_whole = call(shared, &arguments, |value| {
            let Value::Table(entries) = value else { return true };
            for entry in entries.values() {
                let Value::Table(entry) = entry else { continue };
                let mut parts = entry.values();
                let id = parts.next().and_then(value_text).unwrap_or_default();
                let (ms, sequence) = identifier(id).unwrap_or_default();
                let mut row = Row {
                    first: Scan::keep(texts, id),
                    // SQL has no larger integers.
                    place: i64::try_from(ms).unwrap_or(i64::MAX),
                    sequence: i64::try_from(sequence).unwrap_or(i64::MAX),
                    ..Row::default()
                };
                if is_detailed && let Some(Value::Table(pairs)) = parts.next() {
                    let at = texts.len();
                    write_object(pairs.values(), texts);
                    row.second = at..texts.len();
                    if row.second.len() > limit_bytes {
                        return false;
                    }
                }
                rows.push(row);
            }
            true
        })?;
        if !is_whole {
            return Err(Unread::TooLarge);
        }
        let is_short = (rows.len() as i64) < self.batch;
        let last = rows.last().and_then(|row| texts.get(row.first.clone()));
        let Some(last) = last.filter(|_| !is_short) else { return Ok(Next::Nowhere) };
        let beyond = [b"(", last].concat();
        Ok(if self.plan.descends {
            Next::Entries { from, to: beyond }
        } else {
            Next::Entries { from: beyond, to }
        })
    }
}

/// Calls a command and reads its reply.
fn call<R>(shared: &Shared, arguments: &[&[u8]], read: impl FnOnce(Value<'_>) -> R) -> Result<R> {
    let mut reply = shared.reply.borrow_mut();
    reply.reset(shared.value_bytes.get());
    shared.calls.set(shared.calls.get().wrapping_add(1));
    let answer = shared.lease.with(|host| host.call(arguments, &mut reply));
    let outcome = match answer {
        None => Err(Unread::text("the table cannot be read here")),
        Some(Answer::Value | Answer::Error) if reply.is_full() => Err(Unread::TooLarge),
        Some(Answer::Value) => Ok(read(Reader::new(reply.as_bytes()).next().unwrap_or(Value::Nil))),
        Some(Answer::Error) => Err(match Reader::new(reply.as_bytes()).next() {
            Some(Value::Text(text)) => Unread::Error(text.to_vec()),
            _ => Unread::text("ERR the command failed"),
        }),
        Some(Answer::Abandon) => {
            shared.stop_with(Stop::Abandoned);
            Err(Unread::Stopped)
        }
        Some(Answer::Kill) => {
            shared.stop_with(Stop::Killed);
            Err(Unread::Stopped)
        }
    };
    reply.shrink(KEPT_BUFFER_BYTES);
    outcome
}

/// Reads a reply of SCAN or its like: the cursor, and the members.
fn scanned(value: Value<'_>, read: impl FnOnce(&mut Reader<'_>)) -> Next {
    let Value::Table(parts) = value else { return Next::Nowhere };
    let mut parts = parts.values();
    let cursor = parts.next().and_then(value_text).unwrap_or(b"0").to_vec();
    if let Some(Value::Table(members)) = parts.next() {
        read(&mut members.values());
    }
    if cursor == b"0" { Next::Nowhere } else { Next::Cursor(cursor) }
}

fn value_text(value: Value<'_>) -> Option<&[u8]> {
    match value {
        Value::Text(text) => Some(text),
        Value::Table(table) => match table.field("ok") {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn integer(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(number),
        _ => None,
    }
}

fn number(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Number(number) => Some(number),
        Value::Table(table) => match table.field("double") {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// A number of which no value that is at least this one is smaller. None if there is none, as for a text that is no number.
fn lowest(value: SqlValue<'_>) -> Option<f64> {
    bound(value).map(|(number, is_exact)| if is_exact { number } else { number.next_down() })
}

/// A number of which no value that is at most this one is larger.
fn highest(value: SqlValue<'_>) -> Option<f64> {
    bound(value).map(|(number, is_exact)| if is_exact { number } else { number.next_up() })
}

/// A bound as a number, and whether SQLite would read the same one.
fn bound(value: SqlValue<'_>) -> Option<(f64, bool)> {
    match value {
        SqlValue::Integer(number) => Some((number as f64, number.unsigned_abs() <= 1 << 53)),
        SqlValue::Real(number) => Some((number, true)),
        SqlValue::Text(text) => {
            let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E');
            let text =
                std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| is_number(&byte)))?;
            text.parse().ok().filter(|number: &f64| number.is_finite()).map(|number| (number, false))
        }
        _ => None,
    }
}

/// The entries of a stream within a range of milliseconds.
fn entries_of(low: Option<f64>, high: Option<f64>) -> Next {
    // A column shows no more than the largest integer of SQL, and above it numbers are rounded: both bounds are whole again here.
    let from = match low {
        Some(low) if low >= i64::MAX as f64 => format!("{}", i64::MAX),
        Some(low) if low > 0.0 => format!("{}", low.floor() as u64),
        _ => "-".to_owned(),
    };
    let to = match high {
        Some(high) if high < 0.0 => return Next::Nowhere,
        Some(high) if high < i64::MAX as f64 => format!("{}", high.ceil() as u64),
        _ => "+".to_owned(),
    };
    Next::Entries { from: from.into_bytes(), to: to.into_bytes() }
}

/// The two numbers of an identifier of a stream's entry; the second is 0 if it is left out.
fn identifier(text: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(text).ok()?;
    let (ms, sequence) = text.split_once('-').unwrap_or((text, "0"));
    Some((ms.parse().ok()?, sequence.parse().ok()?))
}

/// Writes the fields of an entry as an object of JSON.
fn write_object(mut values: Reader<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut is_first = true;
    while let (Some(field), Some(value)) = (values.next(), values.next()) {
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        write_json_text(value_text(field).unwrap_or_default(), out);
        out.push(b':');
        write_json_text(value_text(value).unwrap_or_default(), out);
    }
    out.push(b'}');
}

//! The functions that reach the host: `redis('CMD', …)`, and `random()` and `randomblob(n)` in place of SQLite's own.
//!
//! `redis` gives a command's reply back as a value of SQL: integers and doubles as such, texts as TEXT if they are UTF-8 and as
//! BLOB if not, nil and false as NULL, true as 1, arrays and maps as JSON in TEXT. An error is an error of the statement, with the
//! command's words.
//!
//! None of the three is deterministic, so SQLite allows none in an index or a generated column.

use std::io::Write as _;

use edgecask_core::resp::format_f64;
use edgecask_core::script::{Answer, Reader, Table, Value, Writer};
use edgecask_core::sql::{SqlHost, SqlValue};
use smallvec::SmallVec;

use crate::limits::KEPT_BUFFER_BYTES;
use crate::shared::{Shared, Stop, has_memory, has_memory_to_grow};

/// Where the result of a function goes.
pub(crate) trait Output {
    fn value(&mut self, value: SqlValue<'_>);
    fn error(&mut self, text: &[u8]);
    fn too_large(&mut self);
    fn no_memory(&mut self);
}

/// JSON takes so many bytes for one at most: `\u0000`.
const JSON_GROWTH: usize = 6;

/// `redis('CMD', …)`
pub(crate) fn redis(shared: &Shared, arguments: &[SqlValue<'_>], out: &mut dyn Output) {
    if arguments.is_empty() {
        return out.error(b"redis() needs the name of a command");
    }
    if !has_memory(arguments.iter().map(|argument| text_bytes(*argument)).sum()) {
        return out.no_memory();
    }
    let mut texts: SmallVec<[SmallVec<[u8; 32]>; 8]> = SmallVec::new();
    for argument in arguments {
        let Some(text) = argument_text(*argument) else {
            return out.error(b"an argument of redis() is NULL");
        };
        texts.push(text);
    }
    let texts: SmallVec<[&[u8]; 8]> = texts.iter().map(SmallVec::as_slice).collect();
    answer_call(shared, out, |host, reply| host.call(&texts, reply));
}

/// Calls the host and answers its reply.
pub(crate) fn answer_call(
    shared: &Shared,
    out: &mut dyn Output,
    call: impl FnOnce(&mut dyn SqlHost, &mut Writer) -> Answer,
) {
    let mut reply = shared.reply.borrow_mut();
    reply.reset(shared.value_bytes.get());
    shared.calls.set(shared.calls.get().wrapping_add(1));
    let Some(answer) = shared.lease.with(|host| call(host, &mut reply)) else {
        return out.error(b"the server cannot be called here");
    };
    match answer {
        Answer::Value | Answer::Error if reply.is_full() => out.too_large(),
        Answer::Value => answer_value(shared, reply.as_bytes(), out),
        Answer::Error => match Reader::new(reply.as_bytes()).next() {
            Some(Value::Text(text)) => out.error(text),
            _ => out.error(b"ERR the command failed"),
        },
        Answer::Abandon => shared.stop_with(Stop::Abandoned),
        Answer::Kill => shared.stop_with(Stop::Killed),
    }
    reply.shrink(KEPT_BUFFER_BYTES);
}

/// Bytes of an argument that may be long.
fn text_bytes(value: SqlValue<'_>) -> usize {
    match value {
        SqlValue::Text(bytes) | SqlValue::Blob(bytes) => bytes.len(),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) => 0,
    }
}

/// None for NULL.
pub(crate) fn argument_text(value: SqlValue<'_>) -> Option<SmallVec<[u8; 32]>> {
    let mut text = SmallVec::new();
    match value {
        SqlValue::Null => return None,
        SqlValue::Integer(number) => text.extend_from_slice(number.to_string().as_bytes()),
        SqlValue::Real(number) => text.extend_from_slice(format_f64(number).as_bytes()),
        SqlValue::Text(bytes) | SqlValue::Blob(bytes) => text.extend_from_slice(bytes),
    }
    Some(text)
}

fn answer_value(shared: &Shared, flat: &[u8], out: &mut dyn Output) {
    let Some(value) = Reader::new(flat).next() else { return out.value(SqlValue::Null) };
    if let Value::Table(table) = value {
        match Special::of(table) {
            Some(Special::Error(text)) => return out.error(text),
            Some(Special::Text(text)) => return out.value(text_or_blob(text)),
            Some(Special::Double(number)) => return out.value(real(number)),
            Some(Special::Map(_) | Special::Set(_)) | None => {}
        }
        if !has_memory_to_grow(flat.len().saturating_mul(JSON_GROWTH)) {
            return out.no_memory();
        }
        let mut json = Vec::new();
        if write_json(value, shared.value_bytes.get(), &mut json) {
            out.value(SqlValue::Text(&json));
        } else {
            out.too_large();
        }
        return;
    }
    match value {
        Value::Boolean(true) => out.value(SqlValue::Integer(1)),
        Value::Number(number) => out.value(real(number)),
        Value::Integer(number) => out.value(SqlValue::Integer(number)),
        Value::Text(text) => out.value(text_or_blob(text)),
        _ => out.value(SqlValue::Null),
    }
}

/// SQL has no NaN.
fn real(number: f64) -> SqlValue<'static> {
    if number.is_nan() { SqlValue::Null } else { SqlValue::Real(number) }
}

/// Bytes of Redis as a value of SQL.
pub(crate) fn text_or_blob(text: &[u8]) -> SqlValue<'_> {
    if std::str::from_utf8(text).is_ok() { SqlValue::Text(text) } else { SqlValue::Blob(text) }
}

/// What a table with a name in it stands for.
enum Special<'a> {
    Text(&'a [u8]),
    Error(&'a [u8]),
    Double(f64),
    Map(Table<'a>),
    Set(Table<'a>),
}

impl<'a> Special<'a> {
    fn of(table: Table<'a>) -> Option<Special<'a>> {
        let (key, value) = table.pairs().next()?;
        Some(match (key, value) {
            (Value::Text(b"ok" | b"big_number"), Value::Text(text)) => Special::Text(text),
            (Value::Text(b"err"), Value::Text(text)) => Special::Error(text),
            (Value::Text(b"double"), Value::Number(number)) => Special::Double(number),
            (Value::Text(b"map"), Value::Table(map)) => Special::Map(map),
            (Value::Text(b"set"), Value::Table(set)) => Special::Set(set),
            (Value::Text(b"verbatim_string"), Value::Table(verbatim)) => match verbatim.field("string") {
                Some(Value::Text(text)) => Special::Text(text),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// An array or an object that is being written.
struct Open<'a> {
    values: Reader<'a>,
    left: u64,
    /// The end of it: `]` or `}`.
    end: u8,
    /// A set, each of whose members is followed by a value that says nothing.
    is_set: bool,
    is_first: bool,
}

/// Writes a value as JSON; false if it takes more than so many bytes. Bytes that are not UTF-8 become U+FFFD.
fn write_json(value: Value<'_>, limit_bytes: usize, out: &mut Vec<u8>) -> bool {
    let mut open: Vec<Open<'_>> = Vec::new();
    if let Some(first) = write_json_value(value, out) {
        open.push(first);
    }
    while let Some(innermost) = open.last_mut() {
        if out.len() > limit_bytes {
            return false;
        }
        let next = if innermost.left == 0 { None } else { innermost.values.next() };
        let Some(next) = next else {
            out.push(innermost.end);
            open.pop();
            continue;
        };
        innermost.left -= 1;
        if !std::mem::take(&mut innermost.is_first) {
            out.push(b',');
        }
        let mut value = next;
        if innermost.end == b'}' {
            write_json_key(next, out);
            out.push(b':');
            value = innermost.values.next().unwrap_or(Value::Nil);
        } else if innermost.is_set {
            innermost.values.next();
        }
        if let Some(inner) = write_json_value(value, out) {
            open.push(inner);
        }
    }
    out.len() <= limit_bytes
}

/// Writes a value, or the begin of one whose elements follow.
fn write_json_value<'a>(value: Value<'a>, out: &mut Vec<u8>) -> Option<Open<'a>> {
    let table = match value {
        Value::Boolean(true) => {
            out.extend_from_slice(b"true");
            return None;
        }
        Value::Number(number) => {
            write_json_number(number, out);
            return None;
        }
        Value::Integer(number) => {
            // Writing into memory does not fail.
            let _ = write!(out, "{number}");
            return None;
        }
        Value::Text(text) => {
            write_json_text(text, out);
            return None;
        }
        Value::Table(table) => table,
        _ => {
            out.extend_from_slice(b"null");
            return None;
        }
    };
    match Special::of(table) {
        Some(Special::Text(text) | Special::Error(text)) => {
            write_json_text(text, out);
            None
        }
        Some(Special::Double(number)) => {
            write_json_number(number, out);
            None
        }
        Some(Special::Map(map)) => {
            out.push(b'{');
            Some(Open {
                values: map.values(),
                left: map.pair_count(),
                end: b'}',
                is_set: false,
                is_first: true,
            })
        }
        Some(Special::Set(set)) => {
            out.push(b'[');
            Some(Open {
                values: set.values(),
                left: set.pair_count(),
                end: b']',
                is_set: true,
                is_first: true,
            })
        }
        None => {
            out.push(b'[');
            let left = table.item_count();
            Some(Open { values: table.values(), left, end: b']', is_set: false, is_first: true })
        }
    }
}

/// JSON's keys are texts.
fn write_json_key(key: Value<'_>, out: &mut Vec<u8>) {
    match key {
        Value::Text(text) => write_json_text(text, out),
        Value::Integer(number) => write_json_text(number.to_string().as_bytes(), out),
        Value::Number(number) => write_json_text(format_f64(number).as_bytes(), out),
        Value::Boolean(true) => write_json_text(b"true", out),
        _ => write_json_text(b"null", out),
    }
}

/// JSON has no infinity: that is a text.
fn write_json_number(number: f64, out: &mut Vec<u8>) {
    let text = format_f64(number);
    if number.is_finite() {
        out.extend_from_slice(text.as_bytes());
    } else {
        write_json_text(text.as_bytes(), out);
    }
}

pub(crate) fn write_json_text(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for char in String::from_utf8_lossy(text).chars() {
        match char {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            char if u32::from(char) < 0x20 => {
                // Writing into memory does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(char));
            }
            char => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// `random()`
pub(crate) fn random(shared: &Shared, out: &mut dyn Output) {
    match shared.lease.with(|host| host.random()) {
        Some(number) => out.value(SqlValue::Integer(number.cast_signed())),
        None => out.error(b"random() cannot be called here"),
    }
}

/// `randomblob(n)`: one byte at least, as SQLite has it. One number of the host is spread over all bytes.
pub(crate) fn random_blob(shared: &Shared, len: i64, out: &mut dyn Output) {
    let len = usize::try_from(len.max(1)).unwrap_or(usize::MAX);
    if len > shared.value_bytes.get() {
        return out.too_large();
    }
    let Some(seed) = shared.lease.with(|host| host.random()) else {
        return out.error(b"randomblob() cannot be called here");
    };
    if !has_memory(len) {
        return out.no_memory();
    }
    let mut blob = vec![0; len];
    fill_random(seed, &mut blob);
    out.value(SqlValue::Blob(&blob));
}

/// Spreads a random number over bytes.
pub(crate) fn fill_random(mut seed: u64, bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(8) {
        let number = split_mix(&mut seed).to_le_bytes();
        for (place, byte) in piece.iter_mut().zip(number) {
            *place = byte;
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): each state gives one number.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

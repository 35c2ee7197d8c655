//! Values as guests read and write them, and their way from and to the flat form of the core.
//!
//! ```text
//! nil      0
//! integer  1  i64
//! bulk     2  length u32   bytes
//! status   3  length u32   bytes
//! error    4  length u32   bytes: the code, a space, the text
//! double   5  f64
//! boolean  6  0 or 1
//! array    7  count u32    values
//! map      8  count u32    key value, so many times
//! set      9  count u32    values
//! number  10  length u32   digits of an integer of any size
//! text    11  length u32   three bytes that name the format, a colon, bytes
//! ```
//!
//! The kind is one byte; all numbers are little-endian, and nothing is aligned. The same form is read from commands and written as
//! the answer, so a guest can pass a reply on as it is.
//!
//! Nothing here recurses on a value, or takes memory by a count that it announces.

use edgecask_core::script::{Mark, Reader, Table, Value, Writer};

use crate::limits::DEPTH_MAX;

pub(crate) const NIL: u8 = 0;
pub(crate) const INTEGER: u8 = 1;
pub(crate) const BULK: u8 = 2;
pub(crate) const STATUS: u8 = 3;
pub(crate) const ERROR: u8 = 4;
const DOUBLE: u8 = 5;
const BOOLEAN: u8 = 6;
const ARRAY: u8 = 7;
const MAP: u8 = 8;
const SET: u8 = 9;
const NUMBER: u8 = 10;
const TEXT: u8 = 11;

/// Appends a kind with a length and bytes.
pub(crate) fn put_bytes(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    // What is longer does not fit into the memory of a guest, which ends the run before.
    out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Appends an integer.
pub(crate) fn put_integer(value: i64, out: &mut Vec<u8>) {
    out.push(INTEGER);
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_header(kind: u8, count: u64, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

/// What follows the header of an array, a map or a set.
enum Rest<'a> {
    Items(Reader<'a>, u64),
    /// Values of a map, or members without theirs.
    Pairs(Reader<'a>, bool),
}

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Rest::Items(_, 0) => None,
            Rest::Items(reader, left) => {
                *left -= 1;
                reader.next()
            }
            Rest::Pairs(reader, with_values) => {
                let value = reader.next()?;
                if !*with_values {
                    reader.next();
                }
                Some(value)
            }
        }
    }
}

/// Appends the reply of a command, in the flat form, as guests read it.
pub(crate) fn encode(flat: &[u8], out: &mut Vec<u8>) {
    let mut open: Vec<Rest<'_>> = Vec::new();
    let mut next = Some(Reader::new(flat).next().unwrap_or(Value::Nil));
    loop {
        match next {
            Some(value) => open.extend(encode_one(value, out)),
            None => _ = open.pop(),
        }
        let Some(rest) = open.last_mut() else { return };
        next = rest.next();
    }
}

fn encode_one<'a>(value: Value<'a>, out: &mut Vec<u8>) -> Option<Rest<'a>> {
    match value {
        Value::Text(text) => put_bytes(BULK, text, out),
        Value::Integer(number) => put_integer(number, out),
        Value::Number(number) => put_integer(number as i64, out),
        Value::Boolean(value) => out.extend_from_slice(&[BOOLEAN, u8::from(value)]),
        Value::Table(table) => return encode_table(table, out),
        Value::Nil | Value::Null | Value::TooDeep | Value::Other(_) => out.push(NIL),
    }
    None
}

fn encode_table<'a>(table: Table<'a>, out: &mut Vec<u8>) -> Option<Rest<'a>> {
    if table.pair_count() == 0 {
        put_header(ARRAY, table.item_count(), out);
        return Some(Rest::Items(table.values(), table.item_count()));
    }
    let (name, value) = table.pairs().next()?;
    match (name, value) {
        (Value::Text(b"ok"), Value::Text(text)) => put_bytes(STATUS, text, out),
        (Value::Text(b"err"), Value::Text(text)) => put_bytes(ERROR, text, out),
        (Value::Text(b"big_number"), Value::Text(digits)) => put_bytes(NUMBER, digits, out),
        (Value::Text(b"double"), Value::Number(number)) => {
            out.push(DOUBLE);
            out.extend_from_slice(&number.to_le_bytes());
        }
        (Value::Text(b"map"), Value::Table(map)) => {
            put_header(MAP, map.pair_count(), out);
            return Some(Rest::Pairs(map.values(), true));
        }
        (Value::Text(b"set"), Value::Table(set)) => {
            put_header(SET, set.pair_count(), out);
            return Some(Rest::Pairs(set.values(), false));
        }
        (Value::Text(b"verbatim_string"), Value::Table(verbatim)) => {
            let part = |name| match verbatim.field(name) {
                Some(Value::Text(text)) => text,
                _ => &[][..],
            };
            put_bytes(TEXT, &[part("format"), b":", part("string")].concat(), out);
        }
        _ => out.push(NIL),
    }
    None
}

/// Bytes of an answer that have not been read.
struct Input<'a> {
    left: &'a [u8],
}

/// Why an answer is none.
const MALFORMED: &str = "the function's answer is no whole value";

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, rest) = self.left.split_first_chunk::<N>().ok_or(MALFORMED)?;
        self.left = rest;
        Ok(*head)
    }

    fn count(&mut self) -> Result<u64, String> {
        Ok(u64::from(u32::from_le_bytes(self.take()?)))
    }

    fn bytes(&mut self) -> Result<&'a [u8], String> {
        let size = usize::try_from(self.count()?).map_err(|_| MALFORMED)?;
        let (head, rest) = self.left.split_at_checked(size).ok_or(MALFORMED)?;
        self.left = rest;
        Ok(head)
    }
}

/// An aggregate whose values follow.
struct Open {
    inner: Mark,
    /// The table around a map or a set.
    outer: Option<Mark>,
    kind: u8,
    count: u64,
    left: u64,
}

/// Why there is no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// The bytes are no whole value, or one that no client can get.
    Wrong(String),
    /// [`Answers::tick`] said so.
    Stopped,
}

impl From<String> for NoValue {
    fn from(text: String) -> NoValue {
        NoValue::Wrong(text)
    }
}

/// What the way of an answer needs beside its bytes.
pub(crate) trait Answers {
    /// Whether an error of this text came from a command.
    fn is_counted(&self, error: &[u8]) -> bool;

    /// Counts the work of so many values, and says whether it may go on.
    fn tick(&mut self, values: u64) -> bool;
}

/// Values between two ticks.
const VALUES_BETWEEN_TICKS: u64 = 4_096;

/// Turns what a guest answered into a flat value; no bytes at all are nil.
pub(crate) fn decode(answer: &[u8], out: &mut Writer, answers: &mut dyn Answers) -> Result<(), NoValue> {
    if answer.is_empty() {
        out.nil();
        return Ok(());
    }
    let mut values: u64 = 0;
    let mut input = Input { left: answer };
    let mut open: Vec<Open> = Vec::new();
    loop {
        values += 1;
        if values.is_multiple_of(VALUES_BETWEEN_TICKS) && !answers.tick(VALUES_BETWEEN_TICKS) {
            return Err(NoValue::Stopped);
        }
        let [kind] = input.take()?;
        if matches!(kind, ARRAY | MAP | SET) {
            if open.len() >= DEPTH_MAX {
                return Err(format!("the function's answer is nested more than {DEPTH_MAX} deep").into());
            }
            open.push(begin(kind, input.count()?, out));
        } else {
            scalar(kind, &mut input, out, answers)?;
            close_member(&open, out);
        }
        loop {
            let Some(innermost) = open.last_mut() else {
                return if input.left.is_empty() { Ok(()) } else { Err(NoValue::Wrong(MALFORMED.into())) };
            };
            if innermost.left > 0 {
                innermost.left -= 1;
                break;
            }
            if let Some(ended) = open.pop() {
                let (items, pairs) = if ended.kind == ARRAY { (ended.count, 0) } else { (0, ended.count) };
                out.table_end(ended.inner, items, pairs);
                if let Some(outer) = ended.outer {
                    out.table_end(outer, 0, 1);
                }
                close_member(&open, out);
            }
        }
    }
}

/// A member of a set is a key, whose value is true.
fn close_member(open: &[Open], out: &mut Writer) {
    if open.last().is_some_and(|parent| parent.kind == SET) {
        out.boolean(true);
    }
}

fn begin(kind: u8, count: u64, out: &mut Writer) -> Open {
    let outer = match kind {
        ARRAY => None,
        _ => {
            let outer = out.table_start();
            out.text(if kind == MAP { b"map" } else { b"set" });
            Some(outer)
        }
    };
    let left = if kind == MAP { count * 2 } else { count };
    Open { inner: out.table_start(), outer, kind, count, left }
}

/// Statuses and errors are lines: a client would take what follows an end of line for the next reply.
fn line(text: &[u8]) -> Result<&[u8], String> {
    if text.contains(&b'\r') || text.contains(&b'\n') {
        return Err("a status or an error that the function answers has an end of line in it".into());
    }
    Ok(text)
}

fn scalar(kind: u8, input: &mut Input<'_>, out: &mut Writer, answers: &dyn Answers) -> Result<(), String> {
    match kind {
        NIL => out.nil(),
        INTEGER => out.integer(i64::from_le_bytes(input.take()?)),
        BULK => out.text(input.bytes()?),
        STATUS => out.field("ok", line(input.bytes()?)?),
        ERROR => {
            let text = line(input.bytes()?)?;
            let mark = out.table_start();
            out.text(b"err");
            out.text(text);
            out.text(b"ignore_error_stats_update");
            out.boolean(answers.is_counted(text));
            out.table_end(mark, 0, 2);
        }
        DOUBLE => {
            let mark = out.table_start();
            out.text(b"double");
            out.number(f64::from_le_bytes(input.take()?));
            out.table_end(mark, 0, 1);
        }
        BOOLEAN => out.boolean(input.take::<1>()? != [0]),
        NUMBER => {
            let digits = input.bytes()?;
            let unsigned = digits.strip_prefix(b"-").unwrap_or(digits);
            if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
                return Err("a number that the function answers has other bytes than digits".into());
            }
            out.field("big_number", digits);
        }
        TEXT => {
            let [a, b, c, b':', text @ ..] = input.bytes()? else {
                return Err(
                    "a text that the function answers does not begin with its format and a colon".into()
                );
            };
            if ![a, b, c].into_iter().all(u8::is_ascii_alphanumeric) {
                return Err("the format of a text that the function answers is not three letters".into());
            }
            let outer = out.table_start();
            out.text(b"verbatim_string");
            let inner = out.table_start();
            out.text(b"string");
            out.text(text);
            out.text(b"format");
            out.text(&[*a, *b, *c]);
            out.table_end(inner, 0, 2);
            out.table_end(outer, 0, 1);
        }
        kind => return Err(format!("the function's answer has a value of the unknown kind {kind}")),
    }
    Ok(())
}

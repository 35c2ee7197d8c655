//! Replies as values of a script, and values of a script as replies: the rules of Redis, in both directions.
//!
//! A reply becomes: an integer a number; a bulk a string; no bulk and no array `false`, RESP3's null nil; a status `{ok=…}`; an
//! error `{err=…}`; an array a table; and under RESP3 `{double=…}`, `{map={…}}`, `{set={member=true}}`, `{big_number=…}`,
//! `{verbatim_string={string=…, format=…}}`, and truth values. The other way around the same tables are known by the same fields; a
//! number loses its fraction, and an array ends before its first nil.

use super::value::{Mark, Reader, Table, Value, Writer};
use crate::resp::{Protocol, Reply};
use crate::sorted;

/// So deep may the reply of a command be nested; the deepest of any command (COMMAND DOCS) has some ten levels.
const REPLY_DEPTH_MAX: usize = 64;

/// Redis' text for a value that is nested deeper than its interpreter's stack.
const TOO_DEEP: &str = "ERR reached lua stack limit";

/// The error reply that a script returned, as opposed to raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnedError<'a> {
    /// The text with its code.
    pub text: &'a [u8],
    /// It came from a command, which has been counted in the statistics already.
    pub is_counted: bool,
}

/// Whether a value is an error reply.
pub fn returned_error(value: Value<'_>) -> Option<ReturnedError<'_>> {
    let Value::Table(table) = value else { return None };
    let Some(Value::Text(text)) = table.field("err") else { return None };
    Some(ReturnedError {
        text,
        is_counted: table.field("ignore_error_stats_update") == Some(Value::Boolean(true)),
    })
}

/// What is left of a table that is being written: values one after the other.
enum Rest<'a> {
    Items(Reader<'a>, u64),
    Listed(std::vec::IntoIter<Value<'a>>),
}

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Rest::Items(_, 0) => None,
            Rest::Items(reader, left) => {
                *left -= 1;
                reader.next()
            }
            Rest::Listed(values) => values.next(),
        }
    }
}

/// Writes what a script returned. `script` is the protocol that the script chose (`redis.setresp`): it decides on truth values; all
/// else follows the protocol of `reply`.
pub fn write_reply(value: Value<'_>, script: Protocol, reply: &mut Reply) {
    let mut open: Vec<Rest<'_>> = Vec::new();
    let mut next = Some(value);
    loop {
        match next {
            Some(value) => {
                if let Some(rest) = write_one(value, script, reply) {
                    open.push(rest);
                }
            }
            None => {
                open.pop();
            }
        }
        let Some(rest) = open.last_mut() else { return };
        next = rest.next();
    }
}

/// Writes one value, or the header of a table whose values follow.
fn write_one<'a>(value: Value<'a>, script: Protocol, reply: &mut Reply) -> Option<Rest<'a>> {
    match value {
        Value::Text(text) => reply.bulk(text),
        Value::Number(number) => reply.integer(whole(number)),
        Value::Integer(number) => reply.integer(number),
        Value::Boolean(value) => match (script, value) {
            (Protocol::Resp3, value) => reply.boolean(value),
            (Protocol::Resp2, true) => reply.integer(1),
            (Protocol::Resp2, false) => reply.null(),
        },
        Value::TooDeep => reply.error(TOO_DEEP),
        Value::Table(table) => return write_table(table, reply),
        Value::Nil | Value::Null | Value::Other(_) => reply.null(),
    }
    None
}

/// As C's conversion on the machines that Redis runs on: towards zero, and the smallest integer for all that does not fit.
fn whole(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) { number as i64 } else { i64::MIN }
}

fn write_table<'a>(table: Table<'a>, reply: &mut Reply) -> Option<Rest<'a>> {
    if table.pair_count() > 0 {
        if let Some(error) = returned_error(Value::Table(table)) {
            reply.error_bytes(error.text);
            return None;
        }
        if let Some(Value::Text(text)) = table.field("ok") {
            reply.simple_bytes(text);
            return None;
        }
        if let Some(Value::Number(number)) = table.field("double") {
            reply.double(number);
            return None;
        }
        if let Some(Value::Text(digits)) = table.field("big_number") {
            reply.big_number(&String::from_utf8_lossy(digits).replace(['\r', '\n'], " "));
            return None;
        }
        if let Some(Value::Table(verbatim)) = table.field("verbatim_string")
            && let (Some(Value::Text(format)), Some(Value::Text(text))) =
                (verbatim.field("format"), verbatim.field("string"))
        {
            reply.verbatim(&String::from_utf8_lossy(format), text);
            return None;
        }
        if let Some(Value::Table(map)) = table.field("map") {
            let entries: Vec<Value<'_>> = entries(map).flat_map(|(key, value)| [key, value]).collect();
            reply.map(entries.len() / 2);
            return Some(Rest::Listed(entries.into_iter()));
        }
        if let Some(Value::Table(set)) = table.field("set") {
            let members: Vec<Value<'_>> = entries(set).map(|(key, _)| key).collect();
            reply.set(members.len());
            return Some(Rest::Listed(members.into_iter()));
        }
        return Some(write_sparse_array(table, reply));
    }
    let count = table.item_count();
    reply.array(usize::try_from(count).unwrap_or(usize::MAX));
    Some(Rest::Items(table.values(), count))
}

/// All keys of a table with their values, in its order.
fn entries(table: Table<'_>) -> impl Iterator<Item = (Value<'_>, Value<'_>)> {
    let items = usize::try_from(table.item_count()).unwrap_or(usize::MAX);
    let items = table.values().take(items).enumerate();
    items.map(|(index, value)| (Value::Number((index + 1) as f64), value)).chain(table.pairs())
}

/// An array some of whose elements are among the pairs of the table, in any order.
fn write_sparse_array<'a>(table: Table<'a>, reply: &mut Reply) -> Rest<'a> {
    let items = table.item_count();
    let mut values: Vec<Value<'a>> =
        table.values().take(usize::try_from(items).unwrap_or(usize::MAX)).collect();
    let mut later: Vec<(f64, Value<'a>)> = table
        .pairs()
        .filter_map(|(key, value)| match key {
            Value::Number(key) if key > items as f64 => Some((key, value)),
            _ => None,
        })
        .collect();
    sorted::all(&mut later, |one, other| one.0.total_cmp(&other.0));
    for (key, value) in later {
        if key != (values.len() + 1) as f64 {
            break;
        }
        values.push(value);
    }
    reply.array(values.len());
    Rest::Listed(values.into_iter())
}

/// Why bytes are no reply that a script can get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// Not RESP, or cut short.
    #[error("the bytes are no whole reply")]
    Malformed,
    /// Nested deeper than any command's.
    #[error("the reply is nested too deeply")]
    TooDeep,
}

/// An array, map or set whose elements follow.
struct Open {
    mark: Mark,
    /// The table around a map or a set.
    outer: Option<Mark>,
    kind: Aggregate,
    count: u64,
    left: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Array,
    Map,
    Set,
}

/// Turns the bytes of one reply, in either protocol, into a value. Fails on bytes that are not one whole reply.
pub fn read_reply(bytes: &[u8], out: &mut Writer) -> Result<(), ReplyError> {
    let mut input = Input { left: bytes };
    let mut open: Vec<Open> = Vec::new();
    loop {
        if let Some(aggregate) = read_one(&mut input, out)? {
            if open.len() >= REPLY_DEPTH_MAX {
                return Err(ReplyError::TooDeep);
            }
            open.push(aggregate);
        } else if let Some(parent) = open.last()
            && parent.kind == Aggregate::Set
        {
            out.boolean(true);
        }
        loop {
            let Some(innermost) = open.last_mut() else {
                return if input.left.is_empty() { Ok(()) } else { Err(ReplyError::Malformed) };
            };
            if innermost.left > 0 {
                innermost.left -= 1;
                break;
            }
            if let Some(Open { mark, outer, kind, count, .. }) = open.pop() {
                match kind {
                    Aggregate::Array => out.table_end(mark, count, 0),
                    Aggregate::Map | Aggregate::Set => out.table_end(mark, 0, count),
                }
                if let Some(outer) = outer {
                    out.table_end(outer, 0, 1);
                }
                if open.last().is_some_and(|parent| parent.kind == Aggregate::Set) {
                    out.boolean(true);
                }
            }
        }
    }
}

/// The bytes of a reply that have not been read.
struct Input<'a> {
    left: &'a [u8],
}

impl<'a> Input<'a> {
    /// A line without its end: the kind and the rest.
    fn line(&mut self) -> Result<(u8, &'a [u8]), ReplyError> {
        let end = self.left.windows(2).position(|pair| pair == b"\r\n").ok_or(ReplyError::Malformed)?;
        let (line, rest) = self.left.split_at(end);
        self.left = rest.get(2..).unwrap_or_default();
        let (kind, text) = line.split_first().ok_or(ReplyError::Malformed)?;
        Ok((*kind, text))
    }

    fn bulk(&mut self, size: &[u8]) -> Result<&'a [u8], ReplyError> {
        let size = usize::try_from(count(size)?).map_err(|_| ReplyError::Malformed)?;
        let (bulk, rest) = self.left.split_at_checked(size).ok_or(ReplyError::Malformed)?;
        self.left = rest.strip_prefix(b"\r\n").ok_or(ReplyError::Malformed)?;
        Ok(bulk)
    }

    /// Steps over values and all that is in them.
    fn skip(&mut self, values: u64) -> Result<(), ReplyError> {
        let mut left = values;
        while left > 0 {
            left -= 1;
            let (kind, text) = self.line()?;
            match kind {
                b'$' | b'=' if text != b"-1" => _ = self.bulk(text)?,
                b'*' | b'~' | b'>' if text != b"-1" => left = left.saturating_add(count(text)?),
                b'%' => left = left.saturating_add(count(text)?.saturating_mul(2)),
                b'|' => left = left.saturating_add(count(text)?.saturating_mul(2)).saturating_add(1),
                _ => {}
            }
        }
        Ok(())
    }
}

fn count(text: &[u8]) -> Result<u64, ReplyError> {
    crate::number::parse_u64(text).ok_or(ReplyError::Malformed)
}

fn double(text: &[u8]) -> Result<f64, ReplyError> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(ReplyError::Malformed)
}

/// Reads one value, or the header of an aggregate whose elements follow.
fn read_one(input: &mut Input<'_>, out: &mut Writer) -> Result<Option<Open>, ReplyError> {
    let (kind, text) = loop {
        let (kind, text) = input.line()?;
        if kind != b'|' {
            break (kind, text);
        }
        input.skip(count(text)?.saturating_mul(2))?;
    };
    let aggregate = match kind {
        b'$' | b'*' if text == b"-1" => {
            out.boolean(false);
            return Ok(None);
        }
        b'*' | b'>' => Aggregate::Array,
        b'%' => Aggregate::Map,
        b'~' => Aggregate::Set,
        _ => {
            read_scalar(kind, text, input, out)?;
            return Ok(None);
        }
    };
    let pieces = count(text)?;
    let outer = match aggregate {
        Aggregate::Array => None,
        Aggregate::Map | Aggregate::Set => {
            let outer = out.table_start();
            out.text(if aggregate == Aggregate::Map { b"map" } else { b"set" });
            Some(outer)
        }
    };
    let left = if aggregate == Aggregate::Map { pieces.saturating_mul(2) } else { pieces };
    Ok(Some(Open { mark: out.table_start(), outer, kind: aggregate, count: pieces, left }))
}

fn read_scalar(kind: u8, text: &[u8], input: &mut Input<'_>, out: &mut Writer) -> Result<(), ReplyError> {
    match kind {
        b'$' => out.text(input.bulk(text)?),
        b':' => out.integer(crate::number::parse_i64(text).ok_or(ReplyError::Malformed)?),
        b'+' => out.field("ok", text),
        b'-' => write_error(text, out),
        b'_' => out.nil(),
        b'#' => out.boolean(text == b"t"),
        b'(' => out.field("big_number", text),
        b',' => {
            let mark = out.table_start();
            out.text(b"double");
            out.number(double(text)?);
            out.table_end(mark, 0, 1);
        }
        b'=' => {
            let (format, string) = input.bulk(text)?.split_at_checked(4).ok_or(ReplyError::Malformed)?;
            let outer = out.table_start();
            out.text(b"verbatim_string");
            let inner = out.table_start();
            out.text(b"string");
            out.text(string);
            out.text(b"format");
            out.text(format.get(..3).unwrap_or_default());
            out.table_end(inner, 0, 2);
            out.table_end(outer, 0, 1);
        }
        _ => return Err(ReplyError::Malformed),
    }
    Ok(())
}

/// The error of a command as a script sees it; its text begins with a code.
fn write_error(text: &[u8], out: &mut Writer) {
    let mark = out.table_start();
    out.text(b"err");
    out.text(text);
    out.text(b"ignore_error_stats_update");
    out.boolean(true);
    out.table_end(mark, 0, 2);
}

//! From the bytes of a payload to a value, whichever of Redis' encodings they are.
//!
//! | number | type and encoding | since version |
//! | --- | --- | --- |
//! | 0 | string | 1 |
//! | 1, 2, 4 | list, set, hash: a count and the elements | 1 |
//! | 3, 5 | sorted set: the same, with scores as text, as doubles | 1, 8 |
//! | 9 | hash as a zipmap | 2 |
//! | 10, 12, 13 | list, sorted set, hash as a ziplist | 2, 4 |
//! | 11 | set as an intset | 2 |
//! | 14 | list as a count of ziplists | 7 |
//! | 16, 17, 20 | hash, sorted set, set as a listpack | 10, 11 |
//! | 18 | list as a count of listpacks and of large elements | 10 |
//! | 15, 19, 21 | stream: see [`stream`] | 9, 10, 11 |
//! | 7 | of a module: an SQL database, see [`sqldb`], [`suggestions`], or a document, see [`json`] | 8 |

use std::borrow::Cow;

use super::module::Module;
use super::packed::{self, Walk};
use super::reader::{Bytes, Reader, are_distinct};
use super::sqldb::{self, SqlPages};
use super::stream::{self, StreamValue};
use super::suggestions::{self, Suggestion};
use super::{BadFormat, Result, json, listpack, types};
use crate::memory_budget::{Gathered, MemoryBudget};
use crate::number::parse_f64;

/// A value that was read. Collections but streams have at least one element, those that name elements name each once, and no score
/// is NaN.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'p> {
    /// A string.
    String(Bytes<'p>),
    /// A list.
    List(Vec<Bytes<'p>>),
    /// A set.
    Set(Vec<Bytes<'p>>),
    /// A hash: field, value, field, value, …
    Hash(Vec<Bytes<'p>>),
    /// A sorted set.
    SortedSet(Vec<(Bytes<'p>, f64)>),
    /// A stream.
    Stream(StreamValue<'p>),
    /// An SQL database.
    SqlDatabase(SqlPages<'p>),
    /// Suggestions.
    Suggestions(Vec<Suggestion<'p>>),
    /// A JSON document, packed.
    Json(Vec<u8>),
}

/// Reads the value of an opened payload. As in Redis, bytes behind it do not matter.
pub fn load(body: &[u8], budget: MemoryBudget) -> Result<Value<'_>> {
    let mut reader = Reader::within(body, budget);
    let number = reader.byte()?;
    let value = match number {
        types::STRING => Value::String(reader.string()?),
        types::LIST => Value::List(strings(&mut reader, 1)?),
        types::LIST_ZIPLIST => Value::List(unpacked(&mut reader, packed::ziplist)?),
        types::LIST_ZIPLISTS => Value::List(ziplists(&mut reader)?),
        types::LIST_LISTPACKS => Value::List(listpacks(&mut reader)?),
        types::SET => Value::Set(strings(&mut reader, 1)?),
        types::SET_INTSET => Value::Set(unpacked(&mut reader, packed::intset)?),
        types::SET_LISTPACK => Value::Set(unpacked(&mut reader, listpack::walk)?),
        types::HASH => Value::Hash(strings(&mut reader, 2)?),
        types::HASH_ZIPMAP => Value::Hash(unpacked(&mut reader, packed::zipmap)?),
        types::HASH_ZIPLIST => Value::Hash(unpacked(&mut reader, packed::ziplist)?),
        types::HASH_LISTPACK => Value::Hash(unpacked(&mut reader, listpack::walk)?),
        types::SORTED_SET => Value::SortedSet(scored(&mut reader, Reader::double)?),
        types::SORTED_SET_TEXT => Value::SortedSet(scored(&mut reader, Reader::double_text)?),
        types::SORTED_SET_ZIPLIST => Value::SortedSet(pairs(unpacked(&mut reader, packed::ziplist)?)?),
        types::SORTED_SET_LISTPACK => Value::SortedSet(pairs(unpacked(&mut reader, listpack::walk)?)?),
        types::STREAM | types::STREAM_OF_7_0 | types::STREAM_OF_7_2 => {
            Value::Stream(stream::load(&mut reader, number)?)
        }
        types::MODULE => match Module::read(&mut reader)? {
            (sqldb::MODULE, version) => Value::SqlDatabase(sqldb::load(&mut reader, version)?),
            (suggestions::MODULE, version) => Value::Suggestions(suggestions::load(&mut reader, version)?),
            (json::MODULE, version) => Value::Json(json::load(&mut reader, version)?),
            _ => return Err(BadFormat),
        },
        _ => return Err(BadFormat),
    };
    check(&value)?;
    Ok(value)
}

/// Whether a value is one that a key may hold.
fn check(value: &Value<'_>) -> Result<()> {
    let is_sound = match value {
        // Where one is read it is looked at whole.
        Value::String(_) | Value::Stream(_) => true,
        Value::SqlDatabase(_) | Value::Suggestions(_) | Value::Json(_) => true,
        Value::List(elements) => !elements.is_empty(),
        Value::Set(members) => !members.is_empty() && are_distinct(members.iter()),
        Value::Hash(pairs) => {
            !pairs.is_empty() && pairs.len() % 2 == 0 && are_distinct(pairs.iter().step_by(2))
        }
        Value::SortedSet(members) => {
            !members.is_empty()
                && members.iter().all(|(_, score)| !score.is_nan())
                && are_distinct(members.iter().map(|(member, _)| member))
        }
    };
    if is_sound { Ok(()) } else { Err(BadFormat) }
}

/// A count and `each` times as many strings.
fn strings<'p>(reader: &mut Reader<'p>, each: u64) -> Result<Vec<Bytes<'p>>> {
    let count = reader.count()?.checked_mul(each).ok_or(BadFormat)?;
    let mut strings = Gathered::within(reader.share);
    for _ in 0..count {
        push(&mut strings, reader.string()?);
    }
    Ok(strings.all()?)
}

/// A count and as many members with their scores.
fn scored<'p>(
    reader: &mut Reader<'p>,
    score: fn(&mut Reader<'p>) -> Result<f64>,
) -> Result<Vec<(Bytes<'p>, f64)>> {
    let mut members = Gathered::within(reader.share);
    for _ in 0..reader.count()? {
        let member = (reader.string()?, score(reader)?);
        members.push_with(0, || member);
    }
    Ok(members.all()?)
}

/// The elements that are packed into one string.
fn unpacked<'p>(reader: &mut Reader<'p>, walk: Walk) -> Result<Vec<Bytes<'p>>> {
    let mut elements = Gathered::within(reader.share);
    unpack_into(reader, walk, &mut elements)?;
    Ok(elements.all()?)
}

fn unpack_into<'p>(reader: &mut Reader<'p>, walk: Walk, elements: &mut Gathered<Bytes<'p>>) -> Result<()> {
    match reader.string()? {
        Cow::Borrowed(bytes) => walk(bytes, &mut |item| push(elements, item.text())),
        // What was decompressed does not outlive this function.
        Cow::Owned(bytes) => walk(&bytes, &mut |item| {
            let text = item.text();
            elements.push_with(text.len(), || Cow::Owned(text.into_owned()));
        }),
    }
}

/// Adds a string that is where it is.
fn push<'p>(strings: &mut Gathered<Bytes<'p>>, string: Bytes<'p>) {
    strings.push_with(0, || string);
}

fn ziplists<'p>(reader: &mut Reader<'p>) -> Result<Vec<Bytes<'p>>> {
    let mut elements = Gathered::within(reader.share);
    for _ in 0..reader.count()? {
        unpack_into(reader, packed::ziplist, &mut elements)?;
    }
    Ok(elements.all()?)
}

fn listpacks<'p>(reader: &mut Reader<'p>) -> Result<Vec<Bytes<'p>>> {
    const ONE_ELEMENT: u64 = 1;
    const PACKED: u64 = 2;
    let mut elements = Gathered::within(reader.share);
    for _ in 0..reader.count()? {
        match reader.count()? {
            ONE_ELEMENT => push(&mut elements, reader.string()?),
            PACKED => unpack_into(reader, listpack::walk, &mut elements)?,
            _ => return Err(BadFormat),
        }
    }
    Ok(elements.all()?)
}

/// Members and scores that follow one another.
fn pairs(elements: Vec<Bytes<'_>>) -> Result<Vec<(Bytes<'_>, f64)>> {
    let mut members = Vec::with_capacity(elements.len() / 2);
    let mut elements = elements.into_iter();
    while let Some(member) = elements.next() {
        let score = elements.next().and_then(|text| parse_f64(&text));
        members.push((member, score.ok_or(BadFormat)?));
    }
    Ok(members)
}

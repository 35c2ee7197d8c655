//! What a reply may become: [`FromReply`], and [`ReplyReader`], from which implementations read.
//!
//! Conversions are lenient about protocols: what RESP3 has a type for may come as RESP2 sends it (numbers as strings, maps
//! and pairs as flat arrays, truth as 0 and 1). They are strict about values: a number that does not fit, a text that is no
//! UTF-8 and a null where none is expected are errors.
//!
//! A type of one's own is made from another that can be read:
//!
//! ```
//! use edgecask_client::{Event, FromReply, ReplyReader, Result};
//!
//! struct UserId(u64);
//!
//! impl FromReply for UserId {
//!     fn from_event(event: Event, reader: &mut ReplyReader) -> Result<UserId> {
//!         u64::from_event(event, reader).map(UserId)
//!     }
//! }
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::Arc;

use edgecask_core::resp::{Aggregate, DecodeError, Event, Events, Value, parse_f64};

use crate::error::{Error, Result, ServerError};

/// Elements for which memory is reserved by what a reply announces; more come as they are read.
const RESERVED_MAX: usize = 1024;

/// Reads the pieces of whole replies, one after the other.
pub struct ReplyReader<'a> {
    input: &'a [u8],
    events: Events,
    /// Where the last piece began.
    start: usize,
}

impl<'a> ReplyReader<'a> {
    /// A reader of replies as they are on the wire.
    pub fn new(input: &'a [u8]) -> ReplyReader<'a> {
        ReplyReader { input, events: Events::with_limits(u64::MAX, usize::MAX), start: 0 }
    }

    /// The next piece.
    ///
    /// # Errors
    /// There is none. Errors of the server are pieces like others here.
    pub fn next_event(&mut self) -> Result<Event<'a>> {
        self.start = self.events.position();
        match self.events.next(self.input) {
            Ok(Some(event)) => Ok(event),
            Ok(None) => {
                Err(Error::Protocol { error: DecodeError::MissingLineEnd, offset: self.input.len() as u64 })
            }
            Err(error) => Err(Error::Protocol { error, offset: self.events.position() as u64 }),
        }
    }

    /// The next value.
    ///
    /// # Errors
    /// It is an error of the server, or of another type.
    pub fn next_value<T: FromReply>(&mut self) -> Result<T> {
        let event = self.next_event()?;
        T::from_event(event, self)
    }

    /// Passes over the rest of a value that begins with `event`.
    ///
    /// # Errors
    /// The reply is cut.
    pub fn skip(&mut self, event: Event) -> Result<()> {
        let mut missing = if let Event::Open { values, .. } = event { values } else { 0 };
        while missing > 0 {
            missing -= 1;
            if let Event::Open { values, .. } = self.next_event()? {
                missing = missing.saturating_add(values);
            }
        }
        Ok(())
    }

    /// Where the next value begins.
    pub(crate) fn position(&self) -> usize {
        self.events.position()
    }

    /// Whether all has been read.
    pub fn is_at_end(&self) -> bool {
        self.events.position() >= self.input.len()
    }
}

/// A whole reply as it is on the wire: for programs that pass it on, or read it by a [`ReplyReader`] later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire(pub Vec<u8>);

impl FromReply for Wire {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Wire> {
        if let Event::Error(text) | Event::BlobError(text) = event {
            return Err(Error::Server(ServerError::new(text)));
        }
        let start = reader.start;
        reader.skip(event)?;
        Ok(Wire(reader.input.get(start..reader.position()).unwrap_or_default().to_vec()))
    }
}

/// A type that a reply can be read as.
pub trait FromReply: Sized {
    /// Reads the value that begins with `event` and goes on in `reader`.
    ///
    /// # Errors
    /// [`Error::Server`] if the value is an error of the server, [`Error::Type`] if it is of another type. The rest of the
    /// value may be unread then.
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self>;

    /// How many values of a flat array one of these takes: two for a pair.
    #[doc(hidden)]
    const WIDTH: u64 = 1;

    /// How many values of an array the one takes that begins with `event`: a pair is one if it is an array of its own.
    #[doc(hidden)]
    fn width(event: Event) -> u64 {
        if let Event::Open { .. } = event { 1 } else { Self::WIDTH }
    }
}

/// What another type than the expected one is reported as.
pub(crate) fn unexpected<T>(expected: &'static str, event: Event) -> Result<T> {
    let found = match event {
        Event::Error(text) | Event::BlobError(text) => return Err(Error::Server(ServerError::new(text))),
        Event::Simple(_) => "status",
        Event::Integer(_) => "integer",
        Event::Null => "null",
        Event::Boolean(_) => "truth value",
        Event::Double(_) => "double",
        Event::BigNumber(_) => "big number",
        Event::Bulk(_) | Event::Verbatim { .. } | Event::Begin(_) | Event::Part(_) => "string",
        Event::Open { kind: Aggregate::Array, .. } => "array",
        Event::Open { kind: Aggregate::Map, .. } => "map",
        Event::Open { kind: Aggregate::Set, .. } => "set",
        Event::Open { kind: Aggregate::Push, .. } => "push message",
    };
    Err(Error::Type { expected: expected.into(), found: found.into() })
}

/// The bytes of a string in any of its forms.
fn string<'a>(event: Event<'a>) -> Option<&'a [u8]> {
    match event {
        Event::Simple(bytes) | Event::Bulk(bytes) | Event::BigNumber(bytes) => Some(bytes),
        Event::Verbatim { text, .. } => Some(text),
        _ => None,
    }
}

/// Any reply that is no error.
impl FromReply for () {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<()> {
        if let Event::Error(_) | Event::BlobError(_) = event {
            return unexpected("a reply", event);
        }
        reader.skip(event)
    }
}

/// 1 and 0, `OK` and null, and RESP3's truth values.
impl FromReply for bool {
    fn from_event(event: Event, _reader: &mut ReplyReader) -> Result<bool> {
        match event {
            Event::Integer(value @ 0..=1) => Ok(value == 1),
            Event::Boolean(value) => Ok(value),
            Event::Simple(b"OK") | Event::Bulk(b"1") => Ok(true),
            Event::Null | Event::Bulk(b"0") => Ok(false),
            other => unexpected("a truth value", other),
        }
    }
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl FromReply for $type {
            fn from_event(event: Event, _reader: &mut ReplyReader) -> Result<$type> {
                let value = match event {
                    Event::Integer(value) => <$type>::try_from(value).ok(),
                    other => string(other).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()),
                };
                match value {
                    Some(value) => Ok(value),
                    None => unexpected(concat!("an integer of type ", stringify!($type)), event),
                }
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 i128 isize u16 u32 u64 u128 usize }

impl FromReply for f64 {
    fn from_event(event: Event, _reader: &mut ReplyReader) -> Result<f64> {
        let value = match event {
            Event::Double(value) => Some(value),
            Event::Integer(value) => Some(value as f64),
            other => string(other).and_then(|text| {
                if text.eq_ignore_ascii_case(b"nan") { Some(f64::NAN) } else { parse_f64(text) }
            }),
        };
        value.map_or_else(|| unexpected("a number", event), Ok)
    }
}

/// The nearest number of this type.
impl FromReply for f32 {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<f32> {
        f64::from_event(event, reader).map(|value| value as f32)
    }
}

impl FromReply for String {
    fn from_event(event: Event, _reader: &mut ReplyReader) -> Result<String> {
        match event {
            Event::Integer(value) => Ok(value.to_string()),
            Event::Double(value) => Ok(edgecask_core::resp::format_f64(value).as_str().to_owned()),
            other => match string(other).map(|bytes| String::from_utf8(bytes.to_vec())) {
                Some(Ok(text)) => Ok(text),
                Some(Err(_)) => {
                    Err(Error::Type { expected: "text in UTF-8".into(), found: "other bytes".into() })
                }
                None => unexpected("a string", other),
            },
        }
    }
}

/// The bytes of a string.
impl FromReply for Vec<u8> {
    fn from_event(event: Event, _reader: &mut ReplyReader) -> Result<Vec<u8>> {
        match event {
            Event::Integer(value) => Ok(itoa::Buffer::new().format(value).as_bytes().to_vec()),
            Event::Double(value) => Ok(edgecask_core::resp::format_f64(value).as_bytes().to_vec()),
            other => string(other).map_or_else(|| unexpected("a string", other), |bytes| Ok(bytes.to_vec())),
        }
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        impl<T: FromReply> FromReply for $pointer<T> {
            const WIDTH: u64 = T::WIDTH;

            fn width(event: Event) -> u64 {
                T::width(event)
            }

            fn from_event(event: Event, reader: &mut ReplyReader) -> Result<$pointer<T>> {
                T::from_event(event, reader).map($pointer::new)
            }
        }

        /// Elements of an array or a set.
        impl<T: FromReply> FromReply for $pointer<[T]> {
            fn from_event(event: Event, reader: &mut ReplyReader) -> Result<$pointer<[T]>> {
                Vec::<T>::from_event(event, reader).map($pointer::from)
            }
        }

        /// The bytes of a string.
        impl FromReply for $pointer<[u8]> {
            fn from_event(event: Event, reader: &mut ReplyReader) -> Result<$pointer<[u8]>> {
                Vec::<u8>::from_event(event, reader).map($pointer::from)
            }
        }

        impl FromReply for $pointer<str> {
            fn from_event(event: Event, reader: &mut ReplyReader) -> Result<$pointer<str>> {
                String::from_event(event, reader).map($pointer::from)
            }
        }
    )*};
}

pointers! { Box Rc Arc }

/// Null is `None`.
impl<T: FromReply> FromReply for Option<T> {
    const WIDTH: u64 = T::WIDTH;

    fn width(event: Event) -> u64 {
        if event == Event::Null { 1 } else { T::width(event) }
    }

    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Option<T>> {
        if event == Event::Null { Ok(None) } else { T::from_event(event, reader).map(Some) }
    }
}

/// An error of the server as a value, for elements of a transaction of which some may fail.
impl<T: FromReply> FromReply for std::result::Result<T, ServerError> {
    const WIDTH: u64 = T::WIDTH;

    fn width(event: Event) -> u64 {
        if let Event::Error(_) | Event::BlobError(_) = event { 1 } else { T::width(event) }
    }

    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self> {
        match event {
            Event::Error(text) | Event::BlobError(text) => Ok(Err(ServerError::new(text))),
            other => T::from_event(other, reader).map(Ok),
        }
    }
}

/// Reads the elements of an aggregate: each an array of its own or, if a type takes several values, side by side.
fn elements<T: FromReply>(event: Event, reader: &mut ReplyReader, mut take: impl FnMut(T)) -> Result<()> {
    let Event::Open { values, .. } = event else { return unexpected("an array", event) };
    let mut missing = values;
    while missing > 0 {
        let first = reader.next_event()?;
        let width = T::width(first);
        if width > missing {
            return Err(Error::Type { expected: "pairs".into(), found: "an odd number of values".into() });
        }
        take(T::from_event(first, reader)?);
        missing -= width;
    }
    Ok(())
}

/// How many elements to make room for at once.
fn reserved(event: Event) -> usize {
    let Event::Open { values, .. } = event else { return 0 };
    usize::try_from(values).unwrap_or(usize::MAX).min(RESERVED_MAX)
}

/// Elements of an array or a set; pairs of a map.
impl<T: FromReply> FromReply for Vec<T> {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Vec<T>> {
        let mut all = Vec::with_capacity(reserved(event));
        elements(event, reader, |value| all.push(value))?;
        Ok(all)
    }
}

/// An array of exactly so many elements.
impl<T: FromReply, const N: usize> FromReply for [T; N] {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<[T; N]> {
        Vec::from_event(event, reader)?.try_into().map_err(|found: Vec<T>| Error::Type {
            expected: format!("an array of {N}").into(),
            found: format!("one of {}", found.len()).into(),
        })
    }
}

impl<T: FromReply> FromReply for VecDeque<T> {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<VecDeque<T>> {
        Vec::from_event(event, reader).map(VecDeque::from)
    }
}

impl<T: FromReply + Ord> FromReply for BTreeSet<T> {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self> {
        let mut all = BTreeSet::new();
        elements(event, reader, |value| {
            all.insert(value);
        })?;
        Ok(all)
    }
}

impl<T: FromReply + Eq + Hash, S: BuildHasher + Default> FromReply for HashSet<T, S> {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self> {
        let mut all = HashSet::with_capacity_and_hasher(reserved(event), S::default());
        elements(event, reader, |value| {
            all.insert(value);
        })?;
        Ok(all)
    }
}

impl<K: FromReply + Ord, V: FromReply> FromReply for BTreeMap<K, V> {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self> {
        let mut all = BTreeMap::new();
        elements(event, reader, |(key, value)| {
            all.insert(key, value);
        })?;
        Ok(all)
    }
}

impl<K: FromReply + Eq + Hash, V: FromReply, S: BuildHasher + Default> FromReply for HashMap<K, V, S> {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self> {
        let mut all = HashMap::with_capacity_and_hasher(reserved(event), S::default());
        elements(event, reader, |(key, value)| {
            all.insert(key, value);
        })?;
        Ok(all)
    }
}

macro_rules! tuples {
    ($($width:literal: $first:ident $($more:ident)*;)*) => {$(
        /// An array of exactly these, or these side by side in another.
        impl<$first: FromReply, $($more: FromReply),*> FromReply for ($first, $($more,)*) {
            const WIDTH: u64 = $width;

            fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self> {
                let first = match event {
                    Event::Open { values: $width, .. } => reader.next_event()?,
                    Event::Open { .. } => {
                        return Err(Error::Type {
                            expected: concat!("an array of ", $width).into(),
                            found: "one of another length".into(),
                        });
                    }
                    flat => flat,
                };
                Ok(($first::from_event(first, reader)?, $($more::from_event(reader.next_event()?, reader)?,)*))
            }
        }
    )*};
}

tuples! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
    9: A B C D E F G H I;
    10: A B C D E F G H I J;
}

/// Anything, with the types of the protocol. Errors within an aggregate stay values; a reply that is an error is one.
impl FromReply for Value {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Value> {
        if let Event::Error(_) | Event::BlobError(_) = event {
            return unexpected("a reply", event);
        }
        value(event, reader)
    }
}

/// The recursion is bounded: the event decoder refuses replies nested deeper than `REPLY_DEPTH_MAX`.
fn value(event: Event, reader: &mut ReplyReader) -> Result<Value> {
    let Event::Open { kind, values } = event else {
        return Value::of_leaf(event).map_or_else(|| unexpected("a whole string", event), Ok);
    };
    let mut all = Vec::with_capacity(reserved(event));
    for _ in 0..values {
        let event = reader.next_event()?;
        all.push(value(event, reader)?);
    }
    Ok(Value::of(kind, all))
}

/// One value of two types: which of them is decided by its shape, an aggregate or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Either<A, B> {
    /// It is a single value.
    One(A),
    /// It is an aggregate.
    Many(B),
}

impl<A: FromReply, B: FromReply> FromReply for Either<A, B> {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Self> {
        match event {
            Event::Open { .. } => B::from_event(event, reader).map(Either::Many),
            _ => A::from_event(event, reader).map(Either::One),
        }
    }
}

/// An entry of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its ID, such as `1526919030474-0`.
    pub id: String,
    /// Fields and values in their order; none for an entry that is pending but was deleted.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Entry {
    /// The value of a field.
    pub fn get(&self, field: impl AsRef<[u8]>) -> Option<&[u8]> {
        let field = field.as_ref();
        self.fields.iter().find(|(name, _)| name == field).map(|(_, value)| value.as_slice())
    }
}

impl FromReply for Entry {
    fn from_event(event: Event, reader: &mut ReplyReader) -> Result<Entry> {
        let Event::Open { values: 2, .. } = event else { return unexpected("an entry of a stream", event) };
        let id = reader.next_value()?;
        let fields = reader.next_value::<Option<Vec<_>>>()?.unwrap_or_default();
        Ok(Entry { id, fields })
    }
}

/// A string of JSON as the value it stands for.
#[cfg(feature = "json")]
impl<T: serde_core::de::DeserializeOwned> FromReply for crate::Json<T> {
    fn from_event(event: Event, _reader: &mut ReplyReader) -> Result<Self> {
        let Some(text) = string(event) else { return unexpected("a string of JSON", event) };
        serde_json::from_slice(text).map(crate::Json).map_err(|error| Error::Type {
            expected: std::any::type_name::<T>().into(),
            found: format!("JSON that is none: {error}").into(),
        })
    }
}

/// Reads one whole reply, as it is on the wire.
pub(crate) fn read<T: FromReply>(bytes: &[u8]) -> Result<T> {
    ReplyReader::new(bytes).next_value()
}

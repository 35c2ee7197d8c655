//! A value of JSON as a tree in which numbers keep their digits, and the members of objects their order.

use std::borrow::Cow;
use std::fmt;

use serde_core::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::write_text;

/// Arrays and objects stand in each other so deep at most: as deep as serde_json reads.
const DEPTH_MAX: usize = 128;

/// A value; digits are borrowed from the text that was read, if it stays.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'j> {
    /// null.
    Null,
    /// true or false.
    Truth(bool),
    /// A number as it is written.
    Number(Cow<'j, str>),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json<'j>>),
    /// An object. Of members with one name, the last counts.
    Object(Vec<(String, Json<'j>)>),
}

/// The members of an object, each as it is written.
struct Members<'j>(Vec<(String, &'j RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'de>, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl<'j> Json<'j> {
    /// Reads a value. None if the text is none, or stands too deep in itself.
    pub fn read(text: &'j str) -> Option<Json<'j>> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Json::of(raw.get(), 0)
    }

    /// `text` is valid JSON without white space around it.
    fn of(text: &'j str, depth: usize) -> Option<Json<'j>> {
        let inner = |raw: &'j RawValue| Json::of(raw.get(), depth + 1);
        Some(match text.as_bytes().first()? {
            b'[' | b'{' if depth >= DEPTH_MAX => return None,
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                Json::Array(items.into_iter().map(inner).collect::<Option<_>>()?)
            }
            b'{' => {
                let Members(mut members) = serde_json::from_str(text).ok()?;
                super::keep_last(&mut members);
                let read = members.into_iter().map(|(name, value)| Some((name, inner(value)?)));
                Json::Object(read.collect::<Option<_>>()?)
            }
            b'"' => Json::Text(serde_json::from_str(text).ok()?),
            b't' => Json::Truth(true),
            b'f' => Json::Truth(false),
            b'n' => Json::Null,
            _ => Json::Number(Cow::Borrowed(text)),
        })
    }

    /// The same with digits of its own.
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Json::Null => Json::Null,
            Json::Truth(is_true) => Json::Truth(is_true),
            Json::Number(digits) => Json::Number(Cow::Owned(digits.into_owned())),
            Json::Text(text) => Json::Text(text),
            Json::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Json::Object(members) => {
                Json::Object(members.into_iter().map(|(name, value)| (name, value.into_owned())).collect())
            }
        }
    }

    /// Appends it without spaces.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Truth(true) => out.extend_from_slice(b"true"),
            Json::Truth(false) => out.extend_from_slice(b"false"),
            Json::Number(digits) => out.extend_from_slice(digits.as_bytes()),
            Json::Text(text) => write_text(text, out),
            Json::Array(items) => write_array(items, &mut |item, out| item.write(out), out),
            Json::Object(members) => write_object(members, &mut |_, value, out| value.write(out), out),
        }
    }
}

/// Appends an array, each element as `write` writes it.
pub fn write_array<'j>(
    items: &[Json<'j>],
    write: &mut dyn FnMut(&Json<'j>, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Appends an object, the value of each member as `write` writes it.
pub fn write_object<'j>(
    members: &[(String, Json<'j>)],
    write: &mut dyn FnMut(&str, &Json<'j>, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.push(b':');
        write(name, value, out);
    }
    out.push(b'}');
}

//! Documents: objects of JSON outside, hashes inside.
//!
//! A document of the index `films` with the id 7 is the hash `films:7`; each attribute is a field of it. How a value stands there:
//!
//! | value | field |
//! | --- | --- |
//! | string | itself, without quotes |
//! | string that would read as something else: `"7"`, `"true"`, `"[x]"` | in quotes, as JSON writes it |
//! | anything else | its JSON without spaces; numbers keep their digits |
//!
//! Read back: bytes that are JSON of anything but a string are that; a JSON string whose content would be read as something else than itself is that content; all other
//! bytes are a string of these characters (bytes that are no UTF-8 become U+FFFD). So every document comes back as it was, and
//! `HSET films:8 title Up year 2009` makes a document, too; its id is what stands behind the colon, if no field says it.

mod batch;
mod fields;
mod position;
mod stored;
#[cfg(test)]
mod tests;
mod value;

pub use batch::{Primary, delete_ids, parse_documents, primary_key};
pub use fields::{Fields, Held, held};
pub use stored::{json_of, stored};
pub use value::{Json, write_array, write_object};

use std::borrow::Cow;

use super::fault::Fault;
use crate::json::format::write_text;
use crate::sorted;

/// An id has so many bytes at most, as in Meilisearch.
const ID_MAX_BYTES: usize = 511;

/// A document: its attributes in their order, each with its value as JSON without spaces.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Document {
    /// The attributes.
    pub attributes: Vec<(String, String)>,
}

impl Document {
    /// The document that a hash is. `primary` is the attribute with the id, and the id from the hash's key, for hashes that do not say it.
    pub fn of_hash(fields: &[(Vec<u8>, Vec<u8>)], primary: Option<(&str, &[u8])>) -> Document {
        let mut attributes = Vec::with_capacity(fields.len() + 1);
        if let Some((name, id)) =
            primary.filter(|(name, _)| !fields.iter().any(|(field, _)| field == name.as_bytes()))
        {
            attributes.push((name.to_owned(), json_of(id).into_owned()));
        }
        let read = fields
            .iter()
            .map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), json_of(value).into_owned()));
        attributes.extend(read);
        Document { attributes }
    }

    /// The value of an attribute as JSON.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The fields of its hash.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], Cow<'_, [u8]>)> {
        self.attributes.iter().map(|(name, value)| (name.as_bytes(), stored(value)))
    }

    /// The document as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        let mut is_first = true;
        for (name, value) in &self.attributes {
            write_member(name, &mut is_first, out);
            out.extend_from_slice(value.as_bytes());
        }
        out.push(b'}');
    }

    /// The id of the document: what stands behind the colon of its key.
    ///
    /// # Errors
    /// It has none, or one that can be none.
    pub fn id(&self, primary_key: &str) -> Result<String, Fault> {
        let Some(value) = self.get(primary_key) else {
            let mut shown = Vec::new();
            self.write(&mut shown);
            let shown = String::from_utf8_lossy(&shown).into_owned();
            let message = [
                "Document doesn't have a `",
                primary_key,
                "` attribute: `",
                super::shape::shorten(&shown),
                "`.",
            ];
            return Err(Fault::new("missing_document_id", message.concat()));
        };
        id_of(value)
    }
}

impl Document {
    /// Checks that the attribute `_geo`, if the document has it, is a position. `id` is shown in the error.
    ///
    /// # Errors
    /// It is none.
    pub fn check_position(&self, id: &str) -> Result<(), Fault> {
        self.get("_geo").map_or(Ok(()), |geo| position::check(geo, id))
    }
}

/// The id that a value of JSON is.
///
/// # Errors
/// It can be none.
pub fn id_of(value: &str) -> Result<String, Fault> {
    let text = match value.starts_with('"') {
        true => serde_json::from_str::<String>(value).unwrap_or_default(),
        false => value.to_owned(),
    };
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_integer = || text.strip_prefix('-').unwrap_or(&text).bytes().all(|byte| byte.is_ascii_digit());
    let is_known = !text.is_empty() && text.len() <= ID_MAX_BYTES && text.bytes().all(is_valid);
    if is_known && (value.starts_with('"') || is_integer()) {
        return Ok(text);
    }
    Err(Fault::new(
        "invalid_document_id",
        [
            "Document identifier `",
            super::shape::shorten(value),
            "` is invalid. A document identifier can be of type integer or string, only composed of alphanumeric characters (a-z A-Z 0-9), hyphens (-) and underscores (_), and can not be more than 511 bytes.",
        ]
        .concat(),
    ))
}

/// Appends the name of an object's member; its value comes next.
pub(super) fn write_member(name: &str, is_first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::take(is_first) {
        out.push(b',');
    }
    write_text(name, out);
    out.push(b':');
}

/// Of members with one name, the last one stays, at the place of the first.
fn keep_last<V>(members: &mut Vec<(String, V)>) {
    let name = |at: u32| members.get(at as usize).map_or("", |(name, _)| name.as_str());
    // Equal names stand in the order in which they came.
    let order = sorted::by(members.len() as u32, &|one, other| name(one).cmp(name(other)));
    let pairs: Vec<(u32, u32)> = order
        .windows(2)
        .filter_map(|pair| match pair {
            [one, other] if name(*one) == name(*other) => Some((*one, *other)),
            _ => None,
        })
        .collect();
    for (one, other) in pairs.iter().rev() {
        members.swap(*one as usize, *other as usize);
    }
    let mut gone: Vec<u32> = pairs.into_iter().map(|(_, other)| other).collect();
    gone.sort_unstable();
    let mut at = 0;
    members.retain(|_| {
        at += 1;
        gone.binary_search(&(at - 1)).is_err()
    });
}

//! Bodies with documents, and the choice of a primary key.

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::stored::compact;
use super::value::has_halves;
use super::{Document, id_of, keep_last};
use crate::search::dialect::fault::Fault;
use crate::search::dialect::shape::{malformed, wrong_type};

/// A document has so many attributes at most: as many as Meilisearch has.
const ATTRIBUTES_MAX: usize = 65_535;

/// An object with its members in their order; of members with one name, the last counts.
impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Document, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Document;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a document")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
                let mut document = Document::default();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if has_halves(value.get()) {
                        return Err(A::Error::custom("half a surrogate pair in a string"));
                    }
                    document.attributes.push((name, compact(value.get()).into_owned()));
                }
                Ok(document)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The documents of a body: an array of objects, one object, or objects behind each other (NDJSON).
///
/// # Errors
/// The body is nothing of this.
pub fn parse_documents(body: &[u8]) -> Result<Vec<Document>, Fault> {
    let mut documents: Vec<Document> = match body.trim_ascii_start().first() {
        None => return Err(Fault::new("missing_payload", "A json payload is missing.")),
        Some(b'{') => {
            let stream = serde_json::Deserializer::from_slice(body).into_iter();
            stream.collect::<Result<_, _>>().map_err(malformed)?
        }
        Some(_) => serde_json::from_slice(body).map_err(malformed)?,
    };
    for document in &mut documents {
        if document.attributes.len() > ATTRIBUTES_MAX {
            return Err(Fault::new(
                "max_fields_limit_exceeded",
                "A document cannot contain more than 65,535 fields.",
            ));
        }
        keep_last(&mut document.attributes);
    }
    Ok(documents)
}

/// The ids in the body of a deletion: an array of integers and strings.
///
/// # Errors
/// The body is none.
pub fn delete_ids(body: &[u8]) -> Result<Vec<String>, Fault> {
    if body.trim_ascii().is_empty() {
        return Err(Fault::new("missing_payload", "A json payload is missing."));
    }
    let values: Vec<&RawValue> =
        serde_json::from_slice(body).map_err(|error| match serde_json::from_slice::<Value>(body) {
            Ok(value) => wrong_type(&value, "an array", "", "bad_request"),
            Err(_) => malformed(error),
        })?;
    values.into_iter().map(|value| id_of(value.get())).collect()
}

/// What a request and an index say about the primary key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Primary<'a> {
    /// The key that the index has.
    pub current: Option<&'a str>,
    /// The key that the request names.
    pub asked: Option<&'a str>,
    /// Whether the index has documents.
    pub has_documents: bool,
}

/// The primary key by which documents are added, and None if nothing says one and there is no document to tell.
///
/// # Errors
/// The request names another one than the index has; or the first document does not tell which attribute it is.
pub fn primary_key(primary: Primary<'_>, documents: &[Document]) -> Result<Option<String>, Fault> {
    match (primary.current, primary.asked) {
        (Some(current), Some(asked)) if current != asked && primary.has_documents => Err(Fault::new(
            "index_primary_key_already_exists",
            ["Index already has a primary key: `", current, "`."].concat(),
        )),
        (_, Some(asked)) => Ok(Some(asked.to_owned())),
        (Some(current), None) => Ok(Some(current.to_owned())),
        (None, None) => documents.first().map(infer).transpose(),
    }
}

fn infer(document: &Document) -> Result<String, Fault> {
    const ASK: &str = "Please specify the primary key manually using the `primaryKey` query parameter.";
    let ends_in_id = |name: &&str| {
        name.len() >= 2 && name.get(name.len() - 2..).is_some_and(|end| end.eq_ignore_ascii_case("id"))
    };
    let names: Vec<&str> =
        document.attributes.iter().map(|(name, _)| name.as_str()).filter(ends_in_id).collect();
    match names.as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(Fault::new(
            "index_primary_key_no_candidate_found",
            ["The primary key inference failed as the engine did not find any field ending with `id` in its name. ", ASK].concat(),
        )),
        [one, other, ..] => Err(Fault::new(
            "index_primary_key_multiple_candidates_found",
            [
                "The primary key inference failed as the engine found ",
                itoa::Buffer::new().format(names.len()),
                " fields ending with `id` in their names: '",
                one,
                "' and '",
                other,
                "'. ",
                ASK,
            ]
            .concat(),
        )),
    }
}

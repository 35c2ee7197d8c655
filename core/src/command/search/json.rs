//! A JSON document as a document of an index: what the paths of its schema find, as RediSearch understands it.
//!
//! A path gives the values of its field: what it finds, or, if that is one array, the elements of it. Null says nothing. A value of another type
//! than the field's keeps the document out of the index:
//!
//! ```text
//!  TEXT       strings
//!  TAG        strings, each one tag unless SEPARATOR was given; true and false
//!  NUMERIC    numbers
//!  GEO        strings "longitude,latitude"
//!  VECTOR     one array of as many numbers as the vector has
//! ```

use super::texts::{position, split_tags};
use super::values::{find, open, query};
use crate::command::CommandError;
use crate::data::json::Document;
use crate::engine::Txn;
use crate::json::node::{Node, Type};
use crate::json::packed::Shape;
use crate::search::index::FieldValue;
use crate::search::schema::{Field, FieldId, FieldKind};
use crate::search::vector;
use crate::server::search::Definition;

type Result<T> = std::result::Result<T, CommandError>;

/// What a field holds of a document.
pub(super) enum Held {
    Texts(Vec<Vec<u8>>),
    /// Tags, and what the document is sorted by.
    Tags(Vec<Vec<u8>>, Vec<u8>),
    Numbers(Vec<f64>),
    Positions(Vec<(f64, f64)>, Vec<u8>),
    Vector(Vec<u8>),
}

impl Held {
    /// The same as an index takes it.
    pub fn value(&self) -> FieldValue<'_> {
        match self {
            Held::Texts(texts) => FieldValue::Texts(texts.iter().map(Vec::as_slice).collect()),
            Held::Tags(tags, _) => FieldValue::Tags(tags.iter().map(Vec::as_slice).collect()),
            Held::Numbers(numbers) => FieldValue::Numbers(numbers.clone()),
            Held::Positions(positions, _) => FieldValue::Positions(positions.clone()),
            Held::Vector(bytes) => FieldValue::Vector(bytes),
        }
    }

    /// By what a sortable field is sorted that is not numeric.
    pub fn sort_text(&self) -> Option<&[u8]> {
        match self {
            Held::Texts(texts) => texts.first().map(Vec::as_slice),
            Held::Tags(_, first) | Held::Positions(_, first) => Some(first),
            Held::Numbers(_) | Held::Vector(_) => None,
        }
    }
}

/// What a JSON document holds for an index.
pub(super) struct Source {
    /// By field, in the order of their numbers.
    pub held: Vec<(FieldId, Held)>,
    pub score: Option<f64>,
    pub language: Option<Vec<u8>>,
}

/// Reads a document; None if a value is of another type than its field.
///
/// # Errors
/// The engine's.
pub(super) fn read(txn: &mut Txn<'_>, definition: &Definition, key: &[u8]) -> Result<Option<Source>> {
    let mut source = Source { held: Vec::new(), score: None, language: None };
    let Some(mut document) = open(txn, definition, key)? else { return Ok(None) };
    for (field, number) in definition.schema.fields.iter().zip(0..) {
        let Some(values) = values(&field.path, &field.kind, &mut document)? else { continue };
        if values.is_empty() {
            continue;
        }
        let Some(held) = held(field, &values, &mut document)? else { return Ok(None) };
        source.held.push((FieldId(number), held));
    }
    if let Some(path) = &definition.score_field {
        source.score = first(path, &mut document)?.and_then(|node| match shape(&node, &mut document) {
            Ok(Shape::Number(number)) => Some(number.to_f64()),
            _ => None,
        });
    }
    if let Some(path) = &definition.language_field {
        source.language = first(path, &mut document)?.and_then(|node| match shape(&node, &mut document) {
            Ok(Shape::Text(text)) => Some(text.as_bytes().to_vec()),
            _ => None,
        });
    }
    Ok(Some(source))
}

fn shape<'n>(node: &'n Node, document: &mut Document<'_, '_>) -> Result<Shape<'n>> {
    node.shape(document).map_err(|stopped| document.stopped(stopped).into())
}

fn first(path: &[u8], document: &mut Document<'_, '_>) -> Result<Option<Node>> {
    let Some(query) = query(path) else { return Ok(None) };
    let Some(node) = find(&query, document)?.into_iter().next() else { return Ok(None) };
    Ok(Some(node.whole(document).map_err(|stopped| document.stopped(stopped))?))
}

/// The values of a field without those that are null; None if the path finds nothing.
fn values(path: &[u8], kind: &FieldKind, document: &mut Document<'_, '_>) -> Result<Option<Vec<Node>>> {
    let Some(query) = query(path) else { return Ok(None) };
    let mut nodes = find(&query, document)?;
    if let [only] = nodes.as_slice()
        && !matches!(kind, FieldKind::Vector(_))
        && only.kind(document).map_err(|stopped| document.stopped(stopped))? == Type::Array
    {
        let parts = only.parts(document).map_err(|stopped| document.stopped(stopped))?;
        nodes = parts.into_iter().map(|(_, node)| node).collect();
    }
    let mut values = Vec::with_capacity(nodes.len());
    for node in nodes {
        let node = node.whole(document).map_err(|stopped| document.stopped(stopped))?;
        if shape(&node, document)? != Shape::Null {
            values.push(node);
        }
    }
    Ok(Some(values))
}

/// What a field makes of its values; None if one is of another type.
fn held(field: &Field, values: &[Node], document: &mut Document<'_, '_>) -> Result<Option<Held>> {
    let mut held = match &field.kind {
        FieldKind::Text { .. } => Held::Texts(Vec::new()),
        FieldKind::Tag { .. } => Held::Tags(Vec::new(), Vec::new()),
        FieldKind::Numeric => Held::Numbers(Vec::new()),
        FieldKind::Geo => Held::Positions(Vec::new(), Vec::new()),
        FieldKind::Vector(options) => {
            let [only] = values else { return Ok(None) };
            let parts = only.parts(document).map_err(|stopped| document.stopped(stopped))?;
            let mut numbers = Vec::with_capacity(parts.len());
            for (_, part) in &parts {
                let Shape::Number(number) = shape(part, document)? else { return Ok(None) };
                numbers.push(number.to_f64());
            }
            let is_one = numbers.len() == options.dimension as usize;
            return Ok(is_one.then(|| Held::Vector(vector::encode(options.number, &numbers))));
        }
    };
    for node in values {
        match (&mut held, &field.kind, shape(node, document)?) {
            (Held::Texts(texts), _, Shape::Text(text)) => texts.push(text.as_bytes().to_vec()),
            (Held::Tags(tags, first), FieldKind::Tag { separator, .. }, Shape::Text(text)) => {
                if tags.is_empty() {
                    *first = text.as_bytes().to_vec();
                }
                let split = split_tags(text.as_bytes(), *separator, field.has_empty);
                tags.extend(split.map(<[u8]>::to_vec));
            }
            (Held::Tags(tags, first), _, Shape::Truth(is_true)) => {
                let tag: &[u8] = if is_true { b"true" } else { b"false" };
                if tags.is_empty() {
                    *first = tag.to_vec();
                }
                tags.push(tag.to_vec());
            }
            (Held::Numbers(numbers), _, Shape::Number(number)) => numbers.push(number.to_f64()),
            (Held::Positions(positions, first), _, Shape::Text(text)) => {
                let Some(position) = position(text.as_bytes()) else { return Ok(None) };
                if positions.is_empty() {
                    *first = text.as_bytes().to_vec();
                }
                positions.push(position);
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(held))
}

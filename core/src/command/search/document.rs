//! A key as a document: the fields of a hash, or the values of a JSON document, as the schema of an index understands them.

use std::ops::ControlFlow;

use super::json;
use super::texts::{number_of, position, split_tags};
use super::values::Documents;
use crate::command::CommandError;
use crate::engine::{Db, Kind, SubWalk, Txn, Want};
use crate::resp::parse_f64;
use crate::search::dialect::document as dialect;
use crate::search::index::{DocumentId, FieldValue, Prepared, Source, prepare};
use crate::search::schema::{FieldId, FieldKind, Schema, VectorOptions};
use crate::search::text::Language;
use crate::search::value::Value;
use crate::server::search::{Definition, Filter, Index};

type Result<T> = std::result::Result<T, CommandError>;

/// The fields of a document that an index reads, each with its value.
struct Fields {
    values: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Fields {
    fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.values.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_slice())
    }
}

/// The document of an index that a key is, with this id; None if the key is none, or has a value that cannot be indexed.
///
/// # Errors
/// The engine's.
pub(super) fn read(
    txn: &mut Txn<'_>,
    index: &Index,
    at: (Db, &[u8]),
    id: DocumentId,
) -> Result<Option<Prepared>> {
    Ok(try_read(txn, index, at, id)?.unwrap_or(None))
}

/// A key would be a document, but has a value that cannot be indexed.
#[derive(Debug)]
pub(super) struct Unindexable;

/// The same as [`read`], but says whether a value cannot be indexed.
///
/// # Errors
/// The engine's.
pub(super) fn try_read(
    txn: &mut Txn<'_>,
    index: &Index,
    (db, key): (Db, &[u8]),
    id: DocumentId,
) -> Result<std::result::Result<Option<Prepared>, Unindexable>> {
    let definition = &index.definition;
    match txn.root(db, key)? {
        Some(root) if root.kind == definition.kind => {}
        _ => return Ok(Ok(None)),
    }
    if definition.kind == Kind::Json {
        return read_json(txn, definition, key, id);
    }
    if definition.settings.is_some() {
        return Ok(Ok(Some(read_by_settings(txn, definition, (db, key), id)?)));
    }
    let fields = fields_of(txn, definition, (db, key))?;
    if let Some(filter) = &definition.filter
        && !meets(filter, definition, key, &fields)
    {
        return Ok(Ok(None));
    }
    let source = source(definition, key, &fields, id);
    Ok(source.map(|source| Some(prepare(&definition.schema, &source))).ok_or(Unindexable))
}

/// Whether a key is a document of an index.
///
/// # Errors
/// The engine's.
pub(super) fn is_one(txn: &mut Txn<'_>, index: &Index, (db, key): (Db, &[u8])) -> Result<bool> {
    let definition = &index.definition;
    // With settings, nothing keeps a hash out.
    if definition.settings.is_some() {
        return Ok(txn.root(db, key)?.is_some_and(|root| root.kind == Kind::Hash));
    }
    Ok(read(txn, index, (db, key), 0)?.is_some())
}

/// The document of an index that a JSON document is.
fn read_json(
    txn: &mut Txn<'_>,
    definition: &Definition,
    key: &[u8],
    id: DocumentId,
) -> Result<std::result::Result<Option<Prepared>, Unindexable>> {
    if let Some(filter) = &definition.filter {
        let documents = Documents { definition, dialect: 1 };
        let mut values = Vec::with_capacity(filter.fields.len());
        for name in &filter.fields {
            values.push(match name.as_slice() {
                b"__key" => Some(Value::text(key)),
                name => documents.value(txn, key, name)?,
            });
        }
        if !filter.expression.matches(&|at| values.get(at)?.as_ref()) {
            return Ok(Ok(None));
        }
    }
    let Some(read) = json::read(txn, definition, key)? else { return Ok(Err(Unindexable)) };
    let is_sortable = |id: FieldId| definition.schema.field(id).is_some_and(|field| field.is_sortable);
    let source = Source {
        id,
        key,
        score: read.score.filter(|score| score.is_finite()).unwrap_or(definition.score) as f32,
        language: read.language.as_deref().and_then(Language::named),
        values: read.held.iter().map(|(field, held)| (*field, held.value())).collect(),
        sort_texts: read
            .held
            .iter()
            .filter(|(field, _)| is_sortable(*field))
            .filter_map(|(field, held)| Some((*field, held.sort_text()?)))
            .collect(),
    };
    Ok(Ok(Some(prepare(&definition.schema, &source))))
}

/// The document of an index of the HTTP dialect: fields are paths into attributes, and nothing keeps a document out.
fn read_by_settings(
    txn: &mut Txn<'_>,
    definition: &Definition,
    (db, key): (Db, &[u8]),
    id: DocumentId,
) -> Result<Prepared> {
    let mut hash: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    txn.sub_scan(db, key, SubWalk::all(Want::Values), &mut |field, value| {
        hash.push((field.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })?;
    if let Some(name) = definition.settings.as_ref().and_then(|settings| settings.primary_key.as_ref())
        && !hash.iter().any(|(field, _)| field == name.as_bytes())
    {
        let prefix = definition.prefixes.first().map_or(0, |prefix| prefix.len());
        hash.push((name.clone().into_bytes(), key.get(prefix..).unwrap_or_default().to_vec()));
    }
    let schema = &definition.schema;
    let fields = dialect::Fields::new(hash.iter().map(|(name, value)| (name.as_slice(), value.as_slice())));
    let held = dialect::held(schema, &fields);
    let is_sortable = |id: FieldId| schema.field(id).is_some_and(|field| field.is_sortable);
    let source = Source {
        id,
        key,
        score: 1.0,
        values: held.iter().map(|(field, held)| (*field, held.value())).collect(),
        sort_texts: held
            .iter()
            .filter(|(field, _)| is_sortable(*field))
            .filter_map(|(field, held)| Some((*field, held.sort_text()?)))
            .collect(),
        ..Source::default()
    };
    Ok(prepare(schema, &source))
}

/// Whether a document meets the condition of an index.
fn meets(filter: &Filter, definition: &Definition, key: &[u8], fields: &Fields) -> bool {
    let value_of = |name: &Vec<u8>| match name.as_slice() {
        b"__key" => Some(Value::text(key)),
        name => {
            let is_numeric =
                definition.schema.find(name).is_some_and(|(_, field)| field.kind == FieldKind::Numeric);
            fields.get(name).map(|value| Value::of_hash_field(value, is_numeric))
        }
    };
    let values: Vec<Option<Value>> = filter.fields.iter().map(value_of).collect();
    filter.expression.matches(&|at| values.get(at)?.as_ref())
}

/// Whether a document of an index reads a field.
pub(super) fn reads(definition: &Definition, name: &[u8]) -> bool {
    let about = [&definition.language_field, &definition.score_field, &definition.payload_field];
    definition.settings.is_some()
        || definition.schema.fields.iter().any(|field| field.path == name)
        || about.into_iter().flatten().any(|field| **field == *name)
        || definition.filter.as_ref().is_some_and(|filter| filter.fields.iter().any(|field| field == name))
}

fn fields_of(txn: &mut Txn<'_>, definition: &Definition, (db, key): (Db, &[u8])) -> Result<Fields> {
    let mut fields = Fields { values: Vec::with_capacity(definition.schema.fields.len()) };
    let about = [&definition.language_field, &definition.score_field];
    let names = definition.schema.fields.iter().map(|field| field.path.as_slice());
    let names = names.chain(about.into_iter().flatten().map(|name| &**name));
    let filtered = definition.filter.iter().flat_map(|filter| filter.fields.iter().map(Vec::as_slice));
    for name in names.chain(filtered) {
        if fields.get(name).is_none()
            && let Some(value) = txn.sub_value(db, key, name)?
        {
            fields.values.push((name.to_vec(), value));
        }
    }
    Ok(fields)
}

/// None if a value cannot be indexed: then the document is in the index not at all, as in RediSearch.
fn source<'f>(
    definition: &Definition,
    key: &'f [u8],
    fields: &'f Fields,
    id: DocumentId,
) -> Option<Source<'f>> {
    let schema = &definition.schema;
    let mut source = Source { id, key, score: definition.score as f32, ..Source::default() };
    if let Some(score) = definition.score_field.as_ref().and_then(|name| fields.get(name)) {
        source.score = parse_f64(score).filter(|score| score.is_finite()).unwrap_or(definition.score) as f32;
    }
    if let Some(language) = definition.language_field.as_ref().and_then(|name| fields.get(name)) {
        // One that is unknown is that of the index, as in RediSearch.
        source.language = Language::named(language);
    }
    for (field, number) in schema.fields.iter().zip(0..) {
        let Some(value) = fields.get(&field.path) else { continue };
        let number = FieldId(number);
        if field.is_sortable
            && matches!(field.kind, FieldKind::Text { .. } | FieldKind::Tag { .. } | FieldKind::Geo)
        {
            source.sort_texts.push((number, value));
        }
        source.values.extend(indexed(schema, number, value)?.map(|value| (number, value)));
    }
    Some(source)
}

/// A value as its field understands it: Some(None) for one that says nothing, None for one that cannot be indexed.
fn indexed<'v>(schema: &Schema, number: FieldId, value: &'v [u8]) -> Option<Option<FieldValue<'v>>> {
    let field = schema.field(number)?;
    Some(Some(match &field.kind {
        FieldKind::Text { .. } => FieldValue::Texts(vec![value]),
        FieldKind::Tag { separator, .. } => {
            FieldValue::Tags(split_tags(value, *separator, field.has_empty).collect())
        }
        FieldKind::Numeric => FieldValue::Numbers(vec![number_of(value)?]),
        FieldKind::Geo => FieldValue::Positions(vec![position(value)?]),
        FieldKind::Vector(options) => FieldValue::Vector(vector(options, value)?),
    }))
}

fn vector<'v>(options: &VectorOptions, value: &'v [u8]) -> Option<&'v [u8]> {
    (value.len() == options.dimension as usize * options.number.bytes()).then_some(value)
}

//! The results of FT.SEARCH: their documents are read, and the reply is shaped.
//!
//! A search reads the index at one moment and its results' hashes a moment later. Each key is locked when it is read, and stays so; the
//! entry of its document map tells whether the index spoke of the very document that is there. If not, the search is to run again.

use std::sync::Arc;

use super::find::is_own;
use super::maps;
use super::request::{Request, Returned};
use super::stage::update;
use super::values::Documents;
use crate::command::{CommandError, Context};
use crate::engine::Kind;
use crate::resp::{Protocol, Reply, format_f64};
use crate::search::index::{DocumentId, View};
use crate::search::schema::FieldId;
use crate::server::search::Index;

type Result<T> = std::result::Result<T, CommandError>;

/// A result, as the index knows it.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub id: DocumentId,
    pub key: Vec<u8>,
    pub score: f64,
    /// By what it was sorted, as WITHSORTKEYS shows it.
    pub sort_key: Option<Vec<u8>>,
    /// Distances by the names that the query gave them.
    pub distances: Vec<(Vec<u8>, f64)>,
}

/// Fields and values of a document, in the order of the reply.
pub(super) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A result with what is shown of it.
pub(super) struct Row {
    pub hit: Hit,
    pub payload: Option<Vec<u8>>,
    pub fields: Fields,
}

/// What a document is sorted by, a number or a text, as WITHSORTKEYS shows it.
pub(super) fn sort_key(view: &View<'_>, place: u32, (field, is_number): (FieldId, bool)) -> Option<Vec<u8>> {
    if is_number {
        return Some([b"#", number(view.part.number(field, place)?).as_slice()].concat());
    }
    Some([b"$", view.part.sort_text(field, place)?].concat())
}

/// Reads results; None if one of them is not what it was when the index was read, so that the search is to run again.
///
/// # Errors
/// The engine's.
pub(super) fn load(
    ctx: &mut Context<'_, '_>,
    index: &Arc<Index>,
    hits: Vec<Hit>,
    request: &Request<'_>,
) -> Result<Option<Vec<Row>>> {
    let mut rows = Vec::with_capacity(hits.len());
    for hit in hits {
        if !is_still_there(ctx, index, &hit)? {
            return Ok(None);
        }
        let documents = documents_of(ctx, index, request);
        let payload = match &index.definition.payload_field {
            Some(field) if request.with_payloads => documents.text(ctx.txn, &hit.key, field)?,
            _ => None,
        };
        let mut fields = Fields::new();
        match &request.returned {
            _ if request.no_content => {}
            Some(returned) => returned_fields(ctx, documents, &hit, returned, &mut fields)?,
            None => {
                let distances = hit.distances.iter();
                fields.extend(distances.map(|(name, distance)| (name.clone(), number(*distance))));
                // A hash shows the field that it is sorted by in any case.
                if let (Kind::Json, Some((name, _))) = (index.definition.kind, request.sort)
                    && !fields.iter().any(|(known, _)| known == name)
                {
                    let path = path_of(index, name);
                    let value = documents.text(ctx.txn, &hit.key, path)?;
                    fields.extend(value.map(|value| (name.to_vec(), value)));
                }
                documents.each(ctx.txn, &hit.key, &mut |field, value| {
                    fields.push((field.to_vec(), value.to_vec()));
                })?;
            }
        }
        ctx.txn.share().look()?;
        rows.push(Row { hit, payload, fields });
    }
    Ok(Some(rows))
}

/// Whether a key is still the document that the index has found; the key is locked from then on.
///
/// # Errors
/// The engine's.
pub(super) fn is_still_there(ctx: &mut Context<'_, '_>, index: &Arc<Index>, hit: &Hit) -> Result<bool> {
    let (db, map) = (index.definition.db, maps::map_of(index, ctx.admin, &hit.key));
    let root = ctx.txn.root(db, &hit.key)?;
    let entry = maps::entry(ctx.txn, map, &hit.key)?;
    if entry.is_some_and(|entry| entry.id == hit.id) {
        if root.is_some_and(|root| root.kind == index.definition.kind) {
            return Ok(true);
        }
        // A write passed the index by while it was made: the document goes now.
        if let Some(change) = update(ctx.txn, index, (map, db, &hit.key), entry)? {
            ctx.search.documents.push((index.clone(), change));
        }
    }
    // A document of the transaction's own has no entry yet.
    Ok(is_own(hit.id) && root.is_some_and(|root| root.kind == index.definition.kind))
}

/// The documents of an index, as a search wants to see them.
fn documents_of<'i>(ctx: &Context<'_, '_>, index: &'i Index, request: &Request<'_>) -> Documents<'i> {
    let dialect = request.dialect.unwrap_or_else(|| ctx.shared.search.settings.default_dialect());
    Documents { definition: &index.definition, dialect }
}

/// The path that a field of this name has; a name of no field is a path itself.
fn path_of<'i>(index: &'i Index, name: &'i [u8]) -> &'i [u8] {
    index.definition.schema.find(name).map_or(name, |(_, field)| field.path.as_slice())
}

fn returned_fields(
    ctx: &mut Context<'_, '_>,
    documents: Documents<'_>,
    hit: &Hit,
    returned: &[Returned<'_>],
    fields: &mut Fields,
) -> Result<()> {
    for Returned { path, name } in returned {
        let distance = hit.distances.iter().find(|(distance, _)| distance == path);
        let value = match distance {
            Some((_, distance)) => Some(number(*distance)),
            None if *path == b"__key" => Some(hit.key.clone()),
            None => {
                let known = documents.definition.schema.find(path);
                let path = known.map_or(*path, |(_, field)| field.path.as_slice());
                documents.text(ctx.txn, &hit.key, path)?
            }
        };
        fields.extend(value.map(|value| (name.to_vec(), value)));
    }
    Ok(())
}

/// A number as replies show it.
pub(super) fn number(value: f64) -> Vec<u8> {
    format_f64(value).as_bytes().to_vec()
}

/// Writes the reply.
pub(super) fn write(reply: &mut Reply, request: &Request<'_>, total: u64, rows: &[Row], warnings: &[&str]) {
    if reply.protocol() == Protocol::Resp3 {
        return write_map(reply, request, total, rows, warnings);
    }
    let optional = [request.with_scores, request.with_payloads, request.with_sort_keys, !request.no_content];
    let width = 1 + optional.into_iter().filter(|is_shown| *is_shown).count();
    reply.array(1 + rows.len() * width);
    reply.integer(i64::try_from(total).unwrap_or(i64::MAX));
    for row in rows {
        reply.bulk(&row.hit.key);
        if request.with_scores {
            reply.bulk(&number(row.hit.score));
        }
        if request.with_payloads {
            optional_bulk(reply, row.payload.as_deref());
        }
        if request.with_sort_keys {
            optional_bulk(reply, row.hit.sort_key.as_deref());
        }
        if !request.no_content {
            reply.array(row.fields.len() * 2);
            for (name, value) in &row.fields {
                reply.bulk(name);
                reply.bulk(value);
            }
        }
    }
}

fn optional_bulk(reply: &mut Reply, value: Option<&[u8]>) {
    match value {
        Some(value) => reply.bulk(value),
        None => reply.null(),
    }
}

fn write_map(reply: &mut Reply, request: &Request<'_>, total: u64, rows: &[Row], warnings: &[&str]) {
    reply.map(5);
    reply.bulk(b"attributes");
    reply.array(0);
    reply.bulk(b"warning");
    reply.array(warnings.len());
    warnings.iter().for_each(|warning| reply.bulk(warning.as_bytes()));
    reply.bulk(b"total_results");
    reply.integer(i64::try_from(total).unwrap_or(i64::MAX));
    reply.bulk(b"format");
    reply.bulk(b"STRING");
    reply.bulk(b"results");
    reply.array(rows.len());
    let optional = [request.with_scores, request.with_payloads, request.with_sort_keys, !request.no_content];
    let width = 2 + optional.into_iter().filter(|is_shown| *is_shown).count();
    for row in rows {
        reply.map(width);
        reply.bulk(b"id");
        reply.bulk(&row.hit.key);
        if request.with_scores {
            reply.bulk(b"score");
            reply.double(row.hit.score);
        }
        if request.with_payloads {
            reply.bulk(b"payload");
            optional_bulk(reply, row.payload.as_deref());
        }
        if request.with_sort_keys {
            reply.bulk(b"sortkey");
            optional_bulk(reply, row.hit.sort_key.as_deref());
        }
        if !request.no_content {
            reply.bulk(b"extra_attributes");
            reply.map(row.fields.len());
            for (name, value) in &row.fields {
                reply.bulk(name);
                reply.bulk(value);
            }
        }
        reply.bulk(b"values");
        reply.array(0);
    }
}

//! Documents: added, changed, deleted and shown.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::Value;

use super::{
    Answer, Asked, Failed, Named, Result, accept, check_open, has_documents, indexes, lock_all, look_up,
    named, open,
};
use crate::command::search::{admin, find, keys};
use crate::command::{CommandError, Context, hash::listpack_limits};
use crate::data::hash;
use crate::engine::{Kind as KeyKind, SubWalk, Want};
use crate::limits::SEARCH_HTTP_REINDEXED_AT_ONCE;
use crate::search::dialect::document::{Document, Primary, parse_documents, primary_key};
use crate::search::dialect::fault::Fault;
use crate::search::dialect::filter::Filter;
use crate::search::dialect::request::split_list;
use crate::search::dialect::response::select;
use crate::search::dialect::settings::{GEO, Settings, seen};
use crate::search::dialect::shape::{self, Shape};
use crate::search::dialect::task::Kind;
use crate::search::evaluate::Scorer;
use crate::search::query::{Clause, Node};
use crate::server::hub::notify;
use crate::server::search::Index;

/// The key of a document.
fn key_of(uid: &str, id: &str) -> Vec<u8> {
    [uid, ":", id].concat().into_bytes()
}

/// Reads the document at a key; None if there is no hash.
pub(super) fn read(
    ctx: &mut Context<'_, '_>,
    uid: &str,
    settings: &Settings,
    key: &[u8],
) -> Result<Option<Document>> {
    let db = ctx.db();
    if ctx.txn.root(db, key)?.is_none_or(|root| root.kind != KeyKind::Hash) {
        return Ok(None);
    }
    let mut fields = Vec::new();
    ctx.txn.sub_scan(db, key, SubWalk::all(Want::Values), &mut |field, value| {
        fields.push((field.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })?;
    let id = key.get(uid.len() + 1..).unwrap_or_default();
    Ok(Some(Document::of_hash(&fields, settings.primary_key.as_deref().map(|name| (name, id)))))
}

pub(super) fn add(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str, replaces: bool) -> Result<Answer> {
    let documents = parse_documents(asked.body)?;
    let result = add_all(ctx, asked, uid, &documents, replaces);
    accept(ctx, Kind::Documents, uid, result)
}

fn add_all(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    documents: &[Document],
    replaces: bool,
) -> Result<()> {
    ctx.expect_work(documents.len() as u64)?;
    let found = match named(ctx, uid) {
        Named::Index(index, settings) => {
            admin::check_access(ctx, &index, asked.args, true)?;
            Some((index, settings))
        }
        Named::Taken => {
            return Err(
                Fault::new("index_already_exists", "There is an index of FT.CREATE with this name.").into()
            );
        }
        Named::Free => {
            indexes::check_new(ctx, asked, uid)?;
            None
        }
    };
    let current = found.as_ref().and_then(|(_, settings)| settings.primary_key.as_deref());
    let skips_creation = asked.truth("skipCreation", "bad_request")?;
    let has_documents = match &found {
        Some((index, _)) => has_documents(ctx, index)?,
        None => false,
    };
    let primary = Primary { current, asked: asked.parameter("primaryKey"), has_documents };
    let primary = primary_key(primary, documents)?;
    let mut ids = Vec::with_capacity(documents.len());
    if let Some(primary) = &primary {
        for document in documents {
            ids.push(document.id(primary)?);
        }
    }
    // As in Meilisearch, positions matter where the settings name them.
    if found.as_ref().is_some_and(|(index, _)| index.definition.schema.find(GEO.as_bytes()).is_some()) {
        documents.iter().zip(&ids).try_for_each(|(document, id)| document.check_position(id))?;
    }
    check_kinds(ctx, uid, &ids)?;
    prepare(ctx, uid, found, (primary, has_documents), documents)?;
    let db = ctx.db();
    for (document, id) in documents.iter().zip(&ids) {
        let key = key_of(uid, id);
        let is_there = ctx.txn.root(db, &key)?.is_some();
        if skips_creation && !is_there {
            continue;
        }
        if replaces && is_there {
            ctx.txn.remove(db, &key)?;
        }
        let fields: Vec<_> = document.fields().collect();
        let pairs: Vec<&[u8]> = fields.iter().flat_map(|(name, value)| [*name, value.as_ref()]).collect();
        let root = hash::root(ctx.txn, db, &key)?;
        let shared = ctx.shared;
        hash::set(ctx.txn, (db, &key), root.as_ref(), &pairs, || listpack_limits(shared))?;
        ctx.notify(notify::HASH, "hset", &key);
    }
    Ok(())
}

/// Whether the keys of documents are free, or hashes. Asked before anything is changed.
///
/// # Errors
/// One holds a value of another type, which no document replaces.
fn check_kinds(ctx: &mut Context<'_, '_>, uid: &str, ids: &[String]) -> Result<()> {
    let db = ctx.db();
    for id in ids {
        if ctx.txn.root(db, &key_of(uid, id))?.is_some_and(|root| root.kind != KeyKind::Hash) {
            return Err(CommandError::WRONG_TYPE.into());
        }
    }
    Ok(())
}

/// Makes the index that documents go to, or gives it the primary key and the fields that its first documents tell.
fn prepare(
    ctx: &mut Context<'_, '_>,
    uid: &str,
    found: Option<(Arc<Index>, Arc<Settings>)>,
    (primary, has_documents): (Option<String>, bool),
    documents: &[Document],
) -> Result<()> {
    let (index, mut settings) = match found {
        Some((index, settings)) => (Some(index), Settings::clone(&settings)),
        None => (None, Settings::new(None, ctx.now_ms())),
    };
    let mut names = index.as_ref().map(|index| seen(&index.definition.schema)).unwrap_or_default();
    let known = names.len();
    if !has_documents && settings.searchable().is_none() {
        for (name, _) in documents.iter().flat_map(|document| &document.attributes) {
            // An asterisk stands for all attributes, and the field of all those has the words of one that is called so.
            let is_new = name != "*" && !names.contains(name);
            if names.len() < crate::limits::SEARCH_TEXT_FIELDS_MAX && is_new {
                names.push(name.clone());
            }
        }
    }
    let is_other = primary.is_some() && settings.primary_key != primary;
    if is_other {
        settings.primary_key = primary;
    }
    match index {
        None => indexes::make(ctx, uid, &settings, &names).map(drop),
        Some(index) if is_other || names.len() > known => {
            indexes::replace(ctx, &index, &settings, &names).map(drop)
        }
        Some(_) => Ok(()),
    }
}

/// The index that documents are deleted from. By their keys, they are deleted while it is being read, too.
fn open_to_delete(
    ctx: &Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
) -> Result<(Arc<Index>, Arc<Settings>)> {
    let found = look_up(ctx, uid).ok_or_else(|| Fault::index_not_found(uid))?;
    admin::check_access(ctx, &found.0, asked.args, true)?;
    Ok(found)
}

fn remove(ctx: &mut Context<'_, '_>, keys: &[Vec<u8>]) -> Result<()> {
    ctx.expect_work(keys.len() as u64)?;
    let db = ctx.db();
    for key in keys {
        if ctx.txn.root(db, key)?.is_some_and(|root| root.kind == KeyKind::Hash) {
            ctx.txn.remove(db, key)?;
            ctx.notify(notify::GENERIC, "del", key);
        }
    }
    Ok(())
}

pub(super) fn delete(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    ids: &[String],
) -> Result<Answer> {
    let result = match open_to_delete(ctx, asked, uid) {
        Ok(_) => {
            let keys: Vec<Vec<u8>> = ids.iter().map(|id| key_of(uid, id)).collect();
            remove(ctx, &keys)
        }
        Err(failed) => Err(failed),
    };
    accept(ctx, Kind::Deletion, uid, result)
}

pub(super) fn delete_all(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    let result = match open_to_delete(ctx, asked, uid) {
        Ok((index, _)) => {
            lock_all(ctx)?;
            let keys = keys::all(ctx, &index)?;
            remove(ctx, &keys)
        }
        Err(failed) => Err(failed),
    };
    accept(ctx, Kind::Deletion, uid, result)
}

pub(super) fn delete_by_filter(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    let value = shape::parse(asked.body)?;
    shape::check(&value, Shape::Object(&[("filter", Shape::Any)]), "", "bad_request")?;
    let filter = Filter::read(value.get("filter").unwrap_or(&Value::Null), "invalid_document_filter")?;
    let filter = filter.ok_or_else(|| Fault::new("missing_document_filter", "Missing field `filter`"))?;
    let result = match open_to_delete(ctx, asked, uid) {
        Ok((index, settings)) => {
            check_open(&index)?;
            // All that is found must still be there when it is deleted.
            lock_all(ctx)?;
            let unmapped = unmapped(ctx, &index)?;
            let node =
                filter.node(&index.definition.schema, settings.filterable(), "invalid_document_filter");
            node.map_err(Into::into).and_then(|node| {
                let asked = plain(ctx, &index, node);
                let (_, keys) = matching(ctx, (&index, &unmapped), &asked, 0, usize::MAX)?;
                remove(ctx, &keys)
            })
        }
        Err(failed) => Err(failed),
    };
    accept(ctx, Kind::Deletion, uid, result)
}

/// The documents that an index lacks since upkeep has not looked at them yet.
///
/// # Errors
/// There are too many to be indexed for one request.
fn unmapped(ctx: &mut Context<'_, '_>, index: &Index) -> Result<Vec<Vec<u8>>> {
    if index.definition.is_scanned {
        return Ok(Vec::new());
    }
    let keys = keys::unmapped(ctx, index)?;
    if keys.len() > SEARCH_HTTP_REINDEXED_AT_ONCE {
        let message = "The documents are being indexed; ask again once the task of that has ended.";
        return Err(Fault::new("index_not_accessible", message).into());
    }
    Ok(keys)
}

/// How many documents match, and the keys of some of them in the order in which they came. Those of `unmapped` keys are looked at beside the
/// index, which does not know them yet.
fn matching(
    ctx: &mut Context<'_, '_>,
    (index, unmapped): (&Arc<Index>, &[Vec<u8>]),
    asked: &find::Asked,
    offset: usize,
    count: usize,
) -> Result<(u64, Vec<Vec<u8>>)> {
    let own = find::own_changes_and(ctx, index, unmapped)?;
    let found = find::evaluate(ctx, index, (asked, &own), |views, found| {
        let key = |matched: find::Matched| {
            let mut key = Vec::new();
            views.get(matched.hit.view)?.part.key(matched.hit.place, &mut key);
            Some(key)
        };
        let part = found.all(views)?.into_iter().skip(offset).take(count);
        Ok((found.total(), part.filter_map(key).collect()))
    })?;
    found.map_err(Failed::from)
}

/// A query that is only about which documents match.
pub(super) fn plain(ctx: &Context<'_, '_>, index: &Index, root: Node) -> find::Asked {
    find::Asked {
        root,
        nearest: None,
        scorer: Scorer::DocScore,
        needs_scores: false,
        language: index.definition.schema.language,
        is_verbatim: true,
        slop: None,
        in_order: false,
        are_fields_apart: true,
        fields: None,
        keys: None,
        timeout_ms: ctx.shared.search.settings.timeout_ms(),
    }
}

pub(super) fn show(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str, id: &str) -> Result<Answer> {
    asked.refuse(&["retrieveVectors"])?;
    let (_, settings) = open(ctx, asked, uid, false)?;
    let document = read(ctx, uid, &settings, &key_of(uid, id))?;
    let document = document.ok_or_else(|| Fault::document_not_found(id))?;
    let fields = asked.parameter("fields").map(names).filter(|names| !names.iter().any(|name| name == "*"));
    let mut body = Vec::new();
    picked(&document, fields.as_deref()).write(&mut body);
    Ok((200, body))
}

fn names(text: &str) -> Vec<String> {
    split_list(text).into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn picked(document: &Document, fields: Option<&[String]>) -> Document {
    let attributes = document.attributes.iter();
    let part = attributes.filter_map(|(name, value)| Some((name.clone(), select(name, value, fields)?)));
    Document { attributes: part.collect() }
}

/// What a list of documents is to show.
struct Wanted {
    offset: u64,
    limit: u64,
    fields: Option<Vec<String>>,
    filter: Option<Filter>,
    ids: Option<Vec<String>>,
}

pub(super) fn list(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    let wanted = Wanted {
        offset: asked.count("offset", 0, "invalid_document_offset")?,
        limit: asked.count("limit", 20, "invalid_document_limit")?,
        fields: asked.parameter("fields").map(names),
        filter: Filter::read(
            &asked.parameter("filter").map_or(Value::Null, Value::from),
            "invalid_document_filter",
        )?,
        ids: asked.parameter("ids").map(names),
    };
    asked.refuse(&["sort", "retrieveVectors"])?;
    listed(ctx, asked, uid, wanted)
}

pub(super) fn fetch(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    const SHAPE: Shape = Shape::Object(&[
        ("offset", Shape::Count),
        ("limit", Shape::Count),
        ("fields", Shape::Texts),
        ("filter", Shape::Any),
        ("ids", Shape::Any),
        ("sort", Shape::Texts),
        ("retrieveVectors", Shape::Truth),
    ]);
    let value = shape::parse(asked.body)?;
    shape::check(&value, SHAPE, "", "bad_request")?;
    let given = |name: &str| value.get(name).filter(|value| !value.is_null());
    if given("sort").is_some_and(|sort| sort.as_array().is_some_and(|list| !list.is_empty())) {
        return Err(Fault::unsupported("The parameter `sort`").into());
    }
    if given("retrieveVectors") == Some(&Value::Bool(true)) {
        return Err(Fault::unsupported("The parameter `retrieveVectors`").into());
    }
    let ids = match given("ids") {
        None => None,
        Some(Value::Array(ids)) => {
            Some(ids.iter().map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned)).collect())
        }
        Some(other) => {
            return Err(shape::wrong_type(other, "an array", ".ids", "invalid_document_ids").into());
        }
    };
    let wanted = Wanted {
        offset: given("offset").and_then(Value::as_u64).unwrap_or(0),
        limit: given("limit").and_then(Value::as_u64).unwrap_or(20),
        fields: given("fields").map(shape::texts),
        filter: Filter::read(given("filter").unwrap_or(&Value::Null), "invalid_document_filter")?,
        ids,
    };
    listed(ctx, asked, uid, wanted)
}

fn listed(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str, wanted: Wanted) -> Result<Answer> {
    let (index, settings) = open(ctx, asked, uid, false)?;
    find::check_locks(ctx)?;
    let root: Node = match &wanted.filter {
        Some(filter) => {
            filter.node(&index.definition.schema, settings.filterable(), "invalid_document_filter")?
        }
        None => Clause::All.into(),
    };
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let ids = wanted.ids.map(|ids| ids.iter().map(|id| key_of(uid, id)).collect::<Vec<_>>());
    let (total, keys) = match ids {
        Some(all) if wanted.filter.is_none() => {
            ctx.expect_work(all.len() as u64)?;
            let (mut keys, mut seen): (Vec<Vec<u8>>, BTreeSet<Vec<u8>>) = (Vec::new(), BTreeSet::new());
            for key in all {
                let root = ctx.txn.root(ctx.client.db, &key)?;
                if root.is_some_and(|root| root.kind == KeyKind::Hash) && seen.insert(key.clone()) {
                    keys.push(key);
                }
            }
            let part = keys.iter().skip(size(wanted.offset)).take(size(wanted.limit)).cloned().collect();
            (keys.len() as u64, part)
        }
        ids => {
            let asked = find::Asked { keys: ids, ..plain(ctx, &index, root) };
            matching(ctx, (&index, &[]), &asked, size(wanted.offset), size(wanted.limit))?
        }
    };
    ctx.expect_work(keys.len() as u64)?;
    let fields = wanted.fields.filter(|names| !names.iter().any(|name| name == "*"));
    let mut body = b"{\"results\":[".to_vec();
    let mut is_first = true;
    for key in &keys {
        // One that was deleted meanwhile is left out.
        let Some(document) = read(ctx, uid, &settings, key)? else { continue };
        if !std::mem::take(&mut is_first) {
            body.push(b',');
        }
        picked(&document, fields.as_deref()).write(&mut body);
    }
    let end = [
        "],\"offset\":",
        &wanted.offset.to_string(),
        ",\"limit\":",
        &wanted.limit.to_string(),
        ",\"total\":",
        &total.to_string(),
        "}",
    ];
    body.extend_from_slice(end.concat().as_bytes());
    Ok((200, body))
}

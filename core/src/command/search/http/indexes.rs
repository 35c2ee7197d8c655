//! Indexes and their settings.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Asked, Named, Result, accept, good, has_documents, lock_all, look_up, named, open};
use crate::acl::{Denial, Reason};
use crate::command::search::indexes::{forget, index_of, keep};
use crate::command::search::stage::present;
use crate::command::search::{admin, create as definitions, keys, maps};
use crate::command::{Context, admission};
use crate::limits::{SEARCH_HTTP_REINDEXED_AT_ONCE, SEARCH_INDEXES_MAX};
use crate::search::dialect::fault::Fault;
use crate::search::dialect::route::check_uid;
use crate::search::dialect::settings::{Setting, Settings, are_same, attribute_of_text, seen, words};
use crate::search::dialect::shape::{self, Shape};
use crate::search::dialect::task::Kind;
use crate::search::dialect::time::rfc3339;
use crate::search::index::View;
use crate::search::schema::FieldId;
use crate::server::search::{Contents, Definition, Index, Progress};

fn shown(uid: &str, settings: &Settings) -> Value {
    json!({
        "uid": uid,
        "primaryKey": settings.primary_key,
        "createdAt": rfc3339(settings.created_at_ms),
        "updatedAt": rfc3339(settings.updated_at_ms),
    })
}

/// The indexes of this dialect that the user may read, by name.
fn readable(ctx: &Context<'_, '_>, asked: &Asked<'_>) -> Vec<(String, Arc<Index>, Arc<Settings>)> {
    let (set, db) = (present(ctx), ctx.db());
    let mine = set.iter().filter(|index| index.definition.db == db);
    let known = mine.filter_map(|index| Some((index, index.definition.settings.clone()?)));
    known
        .filter(|(index, _)| admin::check_access(ctx, index, asked.args, false).is_ok())
        .map(|(index, settings)| {
            (String::from_utf8_lossy(&index.definition.name).into_owned(), index.clone(), settings)
        })
        .collect()
}

pub(super) fn list(ctx: &mut Context<'_, '_>, asked: &Asked<'_>) -> Result<Answer> {
    let offset = asked.count("offset", 0, "invalid_index_offset")?;
    let limit = asked.count("limit", 20, "invalid_index_limit")?;
    let all = readable(ctx, asked);
    let part = all.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
    let part = part.take(usize::try_from(limit).unwrap_or(usize::MAX));
    let results: Vec<Value> = part.map(|(uid, _, settings)| shown(uid, settings)).collect();
    Ok(good(&json!({ "results": results, "offset": offset, "limit": limit, "total": all.len() })))
}

/// How many values of documents the statistics of indexes are made of.
fn stats_work<'a>(indexes: impl Iterator<Item = &'a Index>) -> u64 {
    let work = |index: &Index| index.contents.facts().documents * index.definition.schema.fields.len() as u64;
    indexes.map(work).sum()
}

fn stats_of(ctx: &Context<'_, '_>, index: &Index) -> Value {
    let schema = &index.definition.schema;
    let numbered = schema.fields.iter().zip(0..);
    let names =
        numbered.filter_map(|(field, number)| Some((attribute_of_text(&field.name)?, FieldId(number))));
    // Field by field, since others wait while an index is read.
    let counts = names.filter(|(name, _)| *name != "*").map(|(name, field)| {
        let count: usize = index.contents.read(ctx.now_ms(), &[], None, |views| {
            let of_view =
                |view: &View<'_>| view.live.iter().filter(|place| view.part.has(field, *place)).count();
            views.iter().map(of_view).sum()
        });
        (name.to_owned(), count)
    });
    let mut found = serde_json::Map::new();
    found.extend(counts.filter(|(_, count)| *count > 0).map(|(name, count)| (name, count.into())));
    json!({
        "numberOfDocuments": index.contents.facts().documents,
        "isIndexing": !matches!(index.contents.progress(), Progress::Ready),
        "fieldDistribution": found,
    })
}

pub(super) fn all_stats(ctx: &mut Context<'_, '_>, asked: &Asked<'_>) -> Result<Answer> {
    let all = readable(ctx, asked);
    let updated = all.iter().map(|(_, _, settings)| settings.updated_at_ms).max();
    let bytes: i64 = all.iter().map(|(_, index, _)| index.contents.memory_bytes()).sum();
    ctx.expect_work(stats_work(all.iter().map(|(_, index, _)| &**index)))?;
    let mut indexes = serde_json::Map::new();
    indexes.extend(all.iter().map(|(uid, index, _)| (uid.clone(), stats_of(ctx, index))));
    Ok(good(&json!({
        "databaseSize": bytes, "usedDatabaseSize": bytes, "lastUpdate": updated.map(rfc3339), "indexes": indexes,
    })))
}

pub(super) fn stats(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    let (index, _) = open(ctx, asked, uid, false)?;
    ctx.expect_work(stats_work(std::iter::once(&*index)))?;
    Ok(good(&stats_of(ctx, &index)))
}

pub(super) fn show(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    let (_, settings) = open(ctx, asked, uid, false)?;
    Ok(good(&shown(uid, &settings)))
}

/// The members of the body of a request about an index: uid and primaryKey.
fn members(asked: &Asked<'_>) -> Result<(Option<String>, Option<String>)> {
    const SHAPE: Shape = Shape::Object(&[("uid", Shape::Text), ("primaryKey", Shape::Text)]);
    let value = shape::parse(asked.body)?;
    shape::check(&value, SHAPE, "", "bad_request")?;
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok((text("uid"), text("primaryKey")))
}

pub(super) fn create(ctx: &mut Context<'_, '_>, asked: &Asked<'_>) -> Result<Answer> {
    let (uid, primary_key) = members(asked)?;
    let uid = uid.ok_or_else(|| Fault::new("missing_index_uid", "Missing field `uid`"))?;
    check_uid(&uid)?;
    check_new(ctx, asked, &uid)?;
    let result = match named(ctx, &uid) {
        Named::Index(..) | Named::Taken => {
            Err(Fault::new("index_already_exists", ["Index `", &uid, "` already exists."].concat()).into())
        }
        Named::Free => make(ctx, &uid, &Settings::new(primary_key, ctx.now_ms()), &[]).map(drop),
    };
    accept(ctx, Kind::IndexCreation, &uid, result)
}

/// Whether the user may make an index of this name: write all keys that it will cover.
///
/// # Errors
/// It may not.
pub(super) fn check_new(ctx: &Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<()> {
    let user = ctx.client.access.user();
    let prefix = [uid, ":"].concat().into_bytes();
    let spec = admission::find(asked.args)?;
    if user.is_unrestricted() || user.may_use_all((spec, asked.args), &prefix, true) {
        return Ok(());
    }
    Err(super::Failed::Error(Box::new(Denial::new(user.name(), Reason::Key, &prefix)).into()))
}

/// Makes an index. Its transaction has everything locked.
pub(super) fn make(
    ctx: &mut Context<'_, '_>,
    uid: &str,
    settings: &Settings,
    seen: &[String],
) -> Result<Arc<Index>> {
    lock_all(ctx)?;
    if present(ctx).len() >= SEARCH_INDEXES_MAX {
        return Err(Fault::new("index_creation_failed", "There are too many indexes.").into());
    }
    let definition = defined(ctx, uid, settings, seen)?;
    let contents = Contents::new(Progress::Scanning { done: 0, of: 0 });
    contents.note_use(ctx.now_ms());
    let index = index_of(ctx.admin, definition, Arc::new(contents));
    keep(ctx, index.clone())?;
    Ok(index)
}

/// The definition of a new index.
fn defined(ctx: &Context<'_, '_>, uid: &str, settings: &Settings, seen: &[String]) -> Result<Definition> {
    let words = words(uid, settings, seen);
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let mut definition = definitions::parse(uid.as_bytes(), ctx.db(), &words)?;
    definition.number = ctx.shared.search.next_number();
    definition.settings = Some(Arc::new(settings.clone()));
    Ok(definition)
}

/// Gives an index other settings. If its fields change, another index takes its place, for which documents are made anew: at once if there are
/// few, else by upkeep, and meanwhile searches find what is done.
pub(super) fn replace(
    ctx: &mut Context<'_, '_>,
    index: &Arc<Index>,
    settings: &Settings,
    seen: &[String],
) -> Result<Arc<Index>> {
    lock_all(ctx)?;
    let old = &index.definition;
    let uid = String::from_utf8_lossy(&old.name).into_owned();
    // A hash that does not say its id has it by the primary key.
    let has_same_key = old.settings.as_ref().is_some_and(|old| old.primary_key == settings.primary_key);
    if has_same_key && are_same(&words(&uid, settings, seen), &old.words) {
        let definition = Definition { settings: Some(Arc::new(settings.clone())), ..old.clone() };
        let index = Arc::new(index.with(definition));
        keep(ctx, index.clone())?;
        return Ok(index);
    }
    let mut definition = defined(ctx, &uid, settings, seen)?;
    let keys = keys::mapped(ctx, index)?;
    let is_at_once = keys.len() <= SEARCH_HTTP_REINDEXED_AT_ONCE;
    // Keys that upkeep has not looked at yet are still to come.
    let is_scanned = is_at_once && old.is_scanned;
    maps::clear(ctx.txn, index)?;
    forget(ctx, index)?;
    definition.aliases.clone_from(&old.aliases);
    definition.synonyms = old.synonyms.clone();
    definition.is_scanned = is_scanned;
    // What is left to upkeep, which may not be through with an earlier change; a task tells it by that.
    let left = if is_at_once { 0 } else { keys.len() as u64 };
    let before = if let Progress::Scanning { of, .. } = index.contents.progress() { of } else { 0 };
    let scanning = Progress::Scanning { done: 0, of: left.max(before) };
    let contents = Contents::new(if is_scanned { Progress::Ready } else { scanning });
    contents.note_use(ctx.now_ms());
    let index = index_of(ctx.admin, definition, Arc::new(contents));
    keep(ctx, index.clone())?;
    if is_at_once {
        // What the transaction itself has changed is seen by the stage at its end.
        let changed = ctx.txn.changed();
        for key in keys.iter().filter(|key| !changed.iter().any(|changed| *changed.key == ***key)) {
            admin::index_key(ctx, &index, key)?;
        }
    }
    Ok(index)
}

pub(super) fn update(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    let (uid_in_body, primary_key) = members(asked)?;
    if uid_in_body.is_some() {
        let message = "Immutable field `uid`: expected one of `primaryKey`";
        return Err(Fault::new("immutable_index_uid", message).into());
    }
    let has_documents = match look_up(ctx, uid) {
        Some((index, _)) if primary_key.is_some() => has_documents(ctx, &index)?,
        _ => false,
    };
    let result = change(ctx, asked, uid, false, &mut |settings| {
        let is_other = primary_key.is_some() && settings.primary_key != primary_key;
        if is_other && has_documents {
            let current = settings.primary_key.as_deref().unwrap_or_default();
            let message = ["Index `", uid, "`: Index already has a primary key: `", current, "`."];
            return Err(Fault::new("index_primary_key_already_exists", message.concat()));
        }
        if is_other {
            settings.primary_key.clone_from(&primary_key);
        }
        Ok(())
    });
    accept(ctx, Kind::IndexUpdate, uid, result)
}

pub(super) fn delete(ctx: &mut Context<'_, '_>, asked: &Asked<'_>, uid: &str) -> Result<Answer> {
    let result = match look_up(ctx, uid) {
        None => Err(Fault::index_not_found(uid).into()),
        Some((index, _)) => {
            admin::check_access(ctx, &index, asked.args, true)?;
            lock_all(ctx)?;
            admin::drop_index(ctx, &index, true).map_err(Into::into)
        }
    };
    accept(ctx, Kind::IndexDeletion, uid, result)
}

/// Changes the settings of an index, which is made if that is wanted.
fn change(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    makes: bool,
    edit: &mut dyn FnMut(&mut Settings) -> std::result::Result<(), Fault>,
) -> Result<()> {
    let index = match named(ctx, uid) {
        Named::Index(index, _) => {
            admin::check_access(ctx, &index, asked.args, true)?;
            Some(index)
        }
        Named::Free if makes => {
            check_new(ctx, asked, uid)?;
            None
        }
        Named::Free | Named::Taken => return Err(Fault::index_not_found(uid).into()),
    };
    let before = index.as_ref().and_then(|index| index.definition.settings.as_deref().cloned());
    let before = before.unwrap_or_else(|| Settings::new(None, ctx.now_ms()));
    let mut settings = before.clone();
    // Before an index is made: a request that is refused changes nothing.
    edit(&mut settings)?;
    let Some(index) = index else { return make(ctx, uid, &settings, &[]).map(drop) };
    if settings == before {
        return Ok(());
    }
    settings.updated_at_ms = ctx.now_ms();
    let seen = seen(&index.definition.schema);
    replace(ctx, &index, &settings, &seen).map(drop)
}

pub(super) fn settings(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    setting: Option<&'static Setting>,
) -> Result<Answer> {
    let (_, settings) = open(ctx, asked, uid, false)?;
    Ok(good(&setting.map_or_else(|| settings.all(), |setting| settings.get(setting))))
}

pub(super) fn update_settings(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    setting: Option<&'static Setting>,
) -> Result<Answer> {
    let patch = shape::parse(asked.body)?;
    let result = change(ctx, asked, uid, true, &mut |settings| match setting {
        Some(setting) => settings.set(setting, &patch),
        None => settings.update(&patch),
    });
    accept(ctx, Kind::Settings, uid, result)
}

pub(super) fn reset_settings(
    ctx: &mut Context<'_, '_>,
    asked: &Asked<'_>,
    uid: &str,
    setting: Option<&'static Setting>,
) -> Result<Answer> {
    let result = change(ctx, asked, uid, false, &mut |settings| {
        match setting {
            Some(setting) => settings.set(setting, &Value::Null)?,
            None => settings.reset_all(),
        }
        Ok(())
    });
    accept(ctx, Kind::Settings, uid, result)
}

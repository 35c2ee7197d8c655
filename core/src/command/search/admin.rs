//! FT.CREATE, FT.ALTER, FT.DROPINDEX, FT._LIST, aliases and synonyms: what makes and changes indexes.

use std::sync::Arc;

use super::indexes::{forget, index_of, keep};
use super::stage::{present, update};
use super::{create, keys, maps};
use crate::acl::{Denial, Reason};
use crate::command::admission;
use crate::command::args::{is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::limits::{SEARCH_INDEXES_MAX, SEARCH_NAME_MAX_BYTES, SEARCH_SYNONYMS_MAX};
use crate::search::schema::FIELD_MARK;
use crate::search::text::fold_part;
use crate::server::search::{Contents, Definition, Index, Progress};

type Result<T> = std::result::Result<T, CommandError>;

/// So much of a name is shown in an error.
const SHOWN: usize = 64;

/// Whether the engine can have indexes.
///
/// # Errors
/// It cannot: several processes change its data.
pub(super) fn check_engine(ctx: &Context<'_, '_>) -> Outcome {
    if ctx.admin.partitions() == 0 {
        return Err(CommandError::text(
            "search indexes are kept in the memory of one server, so a store of several servers (--engine tikv) has none",
        ));
    }
    Ok(())
}

/// The index with this name or alias, for a command that names it so in its error.
///
/// # Errors
/// There is none.
pub(super) fn find_known(ctx: &Context<'_, '_>, name: &[u8]) -> Result<Arc<Index>> {
    check_engine(ctx)?;
    present(ctx).find(ctx.db(), name).cloned().ok_or(CommandError::text("Unknown index name"))
}

/// The same by its own name: an alias of an alias would go with that.
///
/// # Errors
/// There is none.
fn find_named(ctx: &Context<'_, '_>, name: &[u8]) -> Result<Arc<Index>> {
    check_engine(ctx)?;
    let found = present(ctx).named(ctx.db(), name).cloned();
    found.ok_or(CommandError::text("Unknown index name (or name is an alias itself)"))
}

/// The same for a search.
///
/// # Errors
/// There is none.
pub(super) fn find(ctx: &Context<'_, '_>, name: &[u8]) -> Result<Arc<Index>> {
    check_engine(ctx)?;
    let found = present(ctx).find(ctx.db(), name).cloned();
    found.ok_or_else(|| CommandError::owned(format!("{}: no such index", quoted(name, SHOWN))))
}

/// Whether the user may read all keys of an index, or read and write them, by the request that it has sent.
///
/// # Errors
/// It may not.
pub(super) fn check_access(ctx: &Context<'_, '_>, index: &Index, args: &[&[u8]], writes: bool) -> Outcome {
    let user = ctx.client.access.user();
    if user.is_unrestricted() {
        return Ok(());
    }
    let spec = admission::find(args)?;
    let denied =
        index.definition.prefixes.iter().find(|prefix| !user.may_use_all((spec, args), prefix, writes));
    denied.map_or(Ok(()), |prefix| Err(Box::new(Denial::new(user.name(), Reason::Key, prefix)).into()))
}

pub(super) fn create(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    check_engine(ctx)?;
    let (name, words) = (args[1], args.get(2..).unwrap_or_default());
    let set = present(ctx);
    if set.find(ctx.db(), name).is_some() {
        return Err(CommandError::text("Index already exists"));
    }
    if name.is_empty() || name.len() > SEARCH_NAME_MAX_BYTES {
        return Err(CommandError::owned(format!(
            "the name of an index has 1 to {SEARCH_NAME_MAX_BYTES} bytes"
        )));
    }
    if set.len() >= SEARCH_INDEXES_MAX {
        return Err(CommandError::owned(format!("there are {SEARCH_INDEXES_MAX} indexes at most")));
    }
    create::check_unmarked(words)?;
    let mut definition = create::parse(name, ctx.db(), words)?;
    definition.number = ctx.shared.search.next_number();
    let progress =
        if definition.is_scanned { Progress::Ready } else { Progress::Scanning { done: 0, of: 0 } };
    let contents = Contents::new(progress);
    contents.note_use(ctx.now_ms());
    let index = index_of(ctx.admin, definition, Arc::new(contents));
    keep(ctx, index)?;
    ctx.reply.ok();
    Ok(())
}

pub(super) fn alter(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find_known(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    let mut rest = args.get(2..).unwrap_or_default();
    let mut scans = true;
    if let [word, others @ ..] = rest
        && is_option(word, "SKIPINITIALSCAN")
    {
        (rest, scans) = (others, false);
    }
    let [schema, add, fields @ ..] = rest else { return Err(CommandError::SYNTAX) };
    if !is_option(schema, "SCHEMA") {
        return Err(CommandError::owned(format!("Unknown argument `{}`", quoted(schema, SHOWN))));
    }
    if !is_option(add, "ADD") {
        return Err(CommandError::owned(format!(
            "Unknown action passed to ALTER SCHEMA: {}",
            quoted(add, SHOWN)
        )));
    }
    if fields.is_empty() {
        return Err(CommandError::text("No fields provided"));
    }
    let old = &index.definition;
    create::check_unmarked(fields)?;
    let words = old.words.iter().map(Vec::as_slice);
    let words: Vec<&[u8]> = words.chain([FIELD_MARK.as_bytes()]).chain(fields.iter().copied()).collect();
    let parsed = create::parse(&old.name, old.db, &words)?;
    let definition = Definition {
        number: old.number,
        aliases: old.aliases.clone(),
        synonyms: old.synonyms.clone(),
        settings: old.settings.clone(),
        is_scanned: !scans && old.is_scanned,
        // What was there before is looked at once more.
        since: if scans { index.contents.peek_id() } else { old.since },
        ..parsed
    };
    if scans {
        ctx.search.progress.push((index.contents.clone(), Progress::Scanning { done: 0, of: 0 }));
    }
    keep(ctx, Arc::new(index.with(definition)))?;
    ctx.reply.ok();
    Ok(())
}

pub(super) fn drop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find_known(ctx, args[1])?;
    let with_documents = match args.get(2..).unwrap_or_default() {
        [] => false,
        [word] if is_option(word, "DD") => true,
        _ => return Err(CommandError::text("Unknown argument")),
    };
    check_access(ctx, &index, args, with_documents)?;
    drop_index(ctx, &index, with_documents)?;
    ctx.reply.ok();
    Ok(())
}

/// Drops an index, with the keys of its documents if that is wanted. Its transaction has all keys locked.
///
/// # Errors
/// The engine's.
pub(crate) fn drop_index(ctx: &mut Context<'_, '_>, index: &Arc<Index>, with_documents: bool) -> Outcome {
    if with_documents {
        for key in keys::all(ctx, index)? {
            ctx.txn.remove(index.definition.db, &key)?;
        }
    }
    maps::clear(ctx.txn, index)?;
    forget(ctx, index)
}

pub(super) fn list(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    let (set, db) = (present(ctx), ctx.db());
    let names: Vec<&[u8]> =
        set.iter().filter(|index| index.definition.db == db).map(|index| &*index.definition.name).collect();
    ctx.reply.set(names.len());
    names.iter().for_each(|name| ctx.reply.bulk(name));
    Ok(())
}

pub(super) fn alias_add(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (alias, index) = (args[1], find_named(ctx, args[2])?);
    if present(ctx).find(ctx.db(), alias).is_some() {
        return Err(CommandError::text("Alias already exists"));
    }
    set_alias(ctx, &index, alias, args)
}

pub(super) fn alias_update(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (alias, index) = (args[1], find_named(ctx, args[2])?);
    if present(ctx).named(ctx.db(), alias).is_some() {
        return Err(CommandError::text("Alias already exists"));
    }
    if let Some(before) = present(ctx).aliased(ctx.db(), alias).cloned() {
        if before.definition.name == index.definition.name {
            ctx.reply.ok();
            return Ok(());
        }
        take_alias(ctx, &before, alias, args)?;
    }
    set_alias(ctx, &index, alias, args)
}

pub(super) fn alias_del(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    check_engine(ctx)?;
    let Some(index) = present(ctx).aliased(ctx.db(), args[1]).cloned() else {
        return Err(CommandError::text("Alias does not exist"));
    };
    take_alias(ctx, &index, args[1], args)?;
    ctx.reply.ok();
    Ok(())
}

fn set_alias(ctx: &mut Context<'_, '_>, index: &Arc<Index>, alias: &[u8], args: &[&[u8]]) -> Outcome {
    check_access(ctx, index, args, false)?;
    if alias.is_empty() || alias.len() > SEARCH_NAME_MAX_BYTES {
        return Err(CommandError::owned(format!("an alias has 1 to {SEARCH_NAME_MAX_BYTES} bytes")));
    }
    let mut definition = index.definition.clone();
    definition.aliases.push(alias.into());
    keep(ctx, Arc::new(index.with(definition)))?;
    ctx.reply.ok();
    Ok(())
}

fn take_alias(ctx: &mut Context<'_, '_>, index: &Arc<Index>, alias: &[u8], args: &[&[u8]]) -> Outcome {
    check_access(ctx, index, args, false)?;
    let mut definition = index.definition.clone();
    definition.aliases.retain(|other| **other != *alias);
    keep(ctx, Arc::new(index.with(definition)))
}

pub(super) fn synonyms_update(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find_known(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    let (group, mut words) = (args[2], args.get(3..).unwrap_or_default());
    if let [word, others @ ..] = words
        && is_option(word, "SKIPINITIALSCAN")
    {
        // Synonyms are looked up when a query is asked, so documents need not be looked at again.
        words = others;
    }
    if words.is_empty() {
        return Err(CommandError::text("wrong number of arguments for 'ft.synupdate' command"));
    }
    let mut definition = index.definition.clone();
    let group = String::from_utf8_lossy(group).into_owned();
    for word in words {
        let word = fold_part(definition.schema.analyzer, word);
        let groups = definition.synonyms.groups_of.entry(word).or_default();
        if let Err(at) = groups.binary_search(&group) {
            groups.insert(at, group.clone());
        }
    }
    if definition.synonyms.groups_of.len() > SEARCH_SYNONYMS_MAX {
        return Err(CommandError::owned(format!(
            "an index has {SEARCH_SYNONYMS_MAX} words with synonyms at most"
        )));
    }
    keep(ctx, Arc::new(index.with(definition)))?;
    ctx.reply.ok();
    Ok(())
}

pub(super) fn synonyms_dump(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find_known(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    let groups_of = &index.definition.synonyms.groups_of;
    ctx.reply.map(groups_of.len());
    for (word, groups) in groups_of {
        ctx.reply.bulk(word.as_bytes());
        ctx.reply.array(groups.len());
        groups.iter().for_each(|group| ctx.reply.bulk(group.as_bytes()));
    }
    Ok(())
}

/// Looks at a key that was there before an index.
///
/// # Errors
/// The engine's.
pub(crate) fn index_key(ctx: &mut Context<'_, '_>, index: &Arc<Index>, key: &[u8]) -> Outcome {
    // It may have been dropped or changed meanwhile; that takes the locks of all keys. Then this walk is over.
    let present = present(ctx);
    let Some(index) = present.iter().find(|other| other.is_walked_as(index)) else { return Ok(()) };
    let map = maps::map_of(index, ctx.admin, key);
    let known = maps::entry(ctx.txn, map, key)?;
    if known.is_some_and(|entry| entry.id >= index.definition.since) {
        return Ok(());
    }
    match update(ctx.txn, index, (map, index.definition.db, key), known)? {
        // What changes nothing is not committed, so that nobody would count it.
        Some(change) if change.has_failed && change.removed.is_none() => index.contents.note_failure(),
        Some(change) => ctx.search.documents.push((index.clone(), change)),
        None => {}
    }
    Ok(())
}

/// Notes that all keys were looked at that were there before an index.
///
/// # Errors
/// The engine's.
pub(crate) fn end_scan(ctx: &mut Context<'_, '_>, index: &Arc<Index>) -> Outcome {
    // The lock of the definitions first, so that no other change of this one is lost.
    super::indexes::lock(ctx)?;
    let present = present(ctx);
    let Some(index) = present.iter().find(|other| other.is_walked_as(index)) else { return Ok(()) };
    let definition = Definition { is_scanned: true, ..index.definition.clone() };
    keep(ctx, Arc::new(index.with(definition)))?;
    ctx.search.progress.push((index.contents.clone(), Progress::Ready));
    Ok(())
}

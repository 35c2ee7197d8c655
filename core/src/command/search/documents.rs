//! FT.GET, FT.MGET and FT.DEL: documents of an index by their keys, as older clients ask for them.

use super::admin::{check_access, find};
use super::values::Documents;
use super::{document, maps};
use crate::command::{CommandError, Context, Outcome};
use crate::server::search::Index;

type Result<T> = std::result::Result<T, CommandError>;

/// Whether a key is a document of the index, as the transaction sees it.
fn is_document(ctx: &mut Context<'_, '_>, index: &Index, key: &[u8]) -> Result<bool> {
    let db = index.definition.db;
    let root = ctx.txn.root(db, key)?;
    let is_of_kind = root.is_some_and(|root| root.kind == index.definition.kind);
    if !is_of_kind || !index.covers(db, key) {
        return Ok(false);
    }
    // Entries follow at the commit: what the transaction has changed is looked at itself.
    if ctx.txn.has_changed(|changed| changed == key) {
        return document::is_one(ctx.txn, index, (db, key));
    }
    let map = maps::map_of(index, ctx.admin, key);
    Ok(maps::entry(ctx.txn, map, key)?.is_some())
}

fn write(ctx: &mut Context<'_, '_>, index: &Index, key: &[u8]) -> Outcome {
    if !is_document(ctx, index, key)? {
        ctx.reply.null();
        return Ok(());
    }
    let mut fields = Vec::new();
    let dialect = ctx.shared.search.settings.default_dialect();
    let documents = Documents { definition: &index.definition, dialect };
    documents.each(ctx.txn, key, &mut |field, value| fields.push((field.to_vec(), value.to_vec())))?;
    ctx.reply.array(fields.len() * 2);
    for (field, value) in fields {
        ctx.reply.bulk(&field);
        ctx.reply.bulk(&value);
    }
    Ok(())
}

pub(super) fn get(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    write(ctx, &index, args[2])
}

pub(super) fn get_many(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find(ctx, args[1])?;
    check_access(ctx, &index, args, false)?;
    let keys = args.get(2..).unwrap_or_default();
    ctx.expect_work(keys.len() as u64)?;
    ctx.reply.array(keys.len());
    keys.iter().try_for_each(|key| write(ctx, &index, key))
}

pub(super) fn delete(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let index = find(ctx, args[1])?;
    check_access(ctx, &index, args, true)?;
    let is_there = is_document(ctx, &index, args[2])?;
    if is_there {
        ctx.txn.remove(index.definition.db, args[2])?;
        ctx.notify(crate::server::hub::notify::GENERIC, "del", args[2]);
    }
    ctx.reply.integer(i64::from(is_there));
    Ok(())
}

//! What changes of keys mean for indexes, before the commit that makes them: documents come and go in the same frame.
//!
//! The stage stands behind the commands, triggers and reactions of every transaction (`executor`), so no way to write passes it by. It
//! reads the changed keys as they will be, makes their documents, writes the entries of the document maps through the same transaction and
//! leaves the rest in the transaction's [`IndexWork`](crate::server::search::IndexWork), which happens at the place of the commit in the log.

use std::sync::Arc;

use super::document;
use super::indexes;
use super::maps::{self, Entry};
use crate::command::{Context, Outcome};
use crate::engine::{CATALOG, Changed, Db, Kind, Txn};
use crate::server::search::{DocumentChange, Index, IndexSet};

/// Adds to the transaction what its changes mean for indexes.
///
/// # Errors
/// The engine's.
pub(crate) fn run(ctx: &mut Context<'_, '_>) -> Outcome {
    let set = present(ctx);
    if !ctx.txn.has_changed(|key| set.concerns(key)) {
        return Ok(());
    }
    let changed = ctx.txn.changed();
    ctx.expect_work(changed.len() as u64)?;
    for changed in changed.iter().filter(|changed| changed.db != CATALOG && set.concerns(&changed.key)) {
        for index in set.covering(changed.db, &changed.key) {
            if let Some(change) = change_of(ctx, index, changed)? {
                ctx.search.documents.push((index.clone(), change));
            }
        }
    }
    ctx.txn.share().look()?;
    Ok(())
}

/// The indexes as the running transaction sees them: those of the server, with the changes that the transaction has made.
pub(super) fn present(ctx: &Context<'_, '_>) -> Arc<IndexSet> {
    let mut set = ctx.shared.search.present();
    if !ctx.search.changes.is_empty() {
        Arc::make_mut(&mut set).apply(&ctx.search.changes);
    }
    set
}

/// Whether a database has an index.
pub(crate) fn has_index(ctx: &Context<'_, '_>, db: Db) -> bool {
    present(ctx).iter().any(|index| index.definition.db == db)
}

/// What a changed key means for one index: the entry of the map is written, and the rest returned.
pub(super) fn change_of(
    ctx: &mut Context<'_, '_>,
    index: &Arc<Index>,
    changed: &Changed,
) -> Result<Option<DocumentChange>, crate::command::CommandError> {
    let map = maps::map_of(index, ctx.admin, &changed.key);
    let known = maps::entry(ctx.txn, map, &changed.key)?;
    if let Some(entry) = known
        && is_as_it_was(ctx.txn, index, changed)
    {
        return set_expiry(
            ctx.txn,
            (map, &changed.key),
            entry,
            changed.new.and_then(|root| root.expires_at_ms),
        );
    }
    update(ctx.txn, index, (map, changed.db, &changed.key), known)
}

/// Makes the document of a key anew.
pub(super) fn update(
    txn: &mut Txn<'_>,
    index: &Arc<Index>,
    (map, db, key): (&[u8], Db, &[u8]),
    known: Option<Entry>,
) -> Result<Option<DocumentChange>, crate::command::CommandError> {
    let read = document::try_read(txn, index, (db, key), 0)?;
    let has_failed = read.is_err();
    let added = read.unwrap_or(None).map(|mut prepared| {
        prepared.set_id(index.contents.next_id());
        prepared
    });
    if added.is_some() {
        index.contents.note_active(txn.now_ms());
    }
    let new_expiry = match added {
        Some(_) => txn.root(db, key)?.and_then(|root| root.expires_at_ms),
        None => None,
    };
    match (&added, known) {
        (None, None) if !has_failed => return Ok(None),
        (None, None) => {}
        (Some(prepared), _) => {
            maps::put(txn, map, key, &Entry { id: prepared.id(), expires_at_ms: new_expiry })?;
        }
        (None, Some(_)) => maps::remove(txn, map, key)?,
    }
    Ok(Some(DocumentChange {
        removed: known.map(|entry| entry.id),
        added,
        old_expiry: known.and_then(|entry| entry.expires_at_ms),
        new_expiry,
        kept: None,
        has_failed,
    }))
}

/// Whether a document says the same as before: the key is the same hash, and none of the fields that the index reads was touched.
fn is_as_it_was(txn: &Txn<'_>, index: &Index, changed: &Changed) -> bool {
    let (Some(old), Some(new)) = (changed.old, changed.new) else { return false };
    if old.kind != new.kind || old.is_expired(txn.now_ms()) || !txn.keeps_subkeys(changed.db, &changed.key) {
        return false;
    }
    // Which values of a JSON document a piece holds is not known from its subkey.
    if new.kind == Kind::Json {
        return false;
    }
    let mut is_touched = false;
    txn.changed_subkeys(changed.db, &changed.key, &mut |field, _| {
        is_touched = document::reads(&index.definition, field);
        if is_touched { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    });
    !is_touched
}

fn set_expiry(
    txn: &mut Txn<'_>,
    (map, key): (&[u8], &[u8]),
    entry: Entry,
    new_expiry: Option<u64>,
) -> Result<Option<DocumentChange>, crate::command::CommandError> {
    if entry.expires_at_ms == new_expiry {
        return Ok(None);
    }
    maps::put(txn, map, key, &Entry { expires_at_ms: new_expiry, ..entry })?;
    Ok(Some(DocumentChange {
        removed: None,
        added: None,
        old_expiry: entry.expires_at_ms,
        new_expiry,
        kept: Some(entry.id),
        has_failed: false,
    }))
}

/// The indexes of some databases as the running transaction sees them.
fn indexes_of(ctx: &Context<'_, '_>, databases: &[Db]) -> Vec<Arc<Index>> {
    present(ctx).iter().filter(|index| databases.contains(&index.definition.db)).cloned().collect()
}

/// A database is emptied: its indexes go with its keys. Such a transaction has all keys locked.
pub(crate) fn follow_flush(ctx: &mut Context<'_, '_>, db: Db) -> Outcome {
    for index in indexes_of(ctx, &[db]) {
        maps::clear(ctx.txn, &index)?;
        indexes::forget(ctx, &index)?;
    }
    Ok(())
}

/// Two databases are exchanged: their indexes go along with the keys. Such a transaction has all keys locked.
pub(crate) fn follow_swap(ctx: &mut Context<'_, '_>, left: Db, right: Db) -> Outcome {
    let concerned = indexes_of(ctx, &[left, right]);
    for index in &concerned {
        indexes::forget(ctx, index)?;
    }
    for index in concerned {
        let db = if index.definition.db == left { right } else { left };
        let definition = crate::server::search::Definition { db, ..index.definition.clone() };
        indexes::keep(ctx, Arc::new(index.with(definition)))?;
    }
    Ok(())
}

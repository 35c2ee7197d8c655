//! Which keys are documents of an index, as the running transaction sees them. The transaction has all keys locked.
//!
//! ```text
//!  changed by the transaction        what the key is now: its entry in the document map follows at the end of the transaction
//!  all others, the index is scanned  the document map
//!  all others, it is not             what the keys of the database are: the map lacks those that upkeep has not looked at yet
//! ```

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::{document, maps};
use crate::command::{CommandError, Context, Outcome};
use crate::engine::{CATALOG, Kind, SubWalk, Want};
use crate::server::search::Index;

type Result<T> = std::result::Result<T, CommandError>;

/// The keys of all documents of an index.
///
/// # Errors
/// The engine's.
pub(super) fn all(ctx: &mut Context<'_, '_>, index: &Index) -> Result<Vec<Vec<u8>>> {
    let db = index.definition.db;
    let changed = changed(ctx, index)?;
    let mut keys = mapped(ctx, index)?;
    keys.retain(|key| !changed.contains(key));
    let mut others = if index.definition.is_scanned { Vec::new() } else { unmapped(ctx, index)? };
    others.retain(|key| !changed.contains(key));
    ctx.expect_work(others.len() as u64)?;
    for key in changed.into_iter().chain(others) {
        if document::is_one(ctx.txn, index, (db, &key))? {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// The keys of the documents that the map of an index has.
///
/// # Errors
/// The engine's.
pub(super) fn mapped(ctx: &mut Context<'_, '_>, index: &Index) -> Result<Vec<Vec<u8>>> {
    ctx.expect_work(index.contents.facts().documents)?;
    let mut keys = Vec::new();
    for map in index.maps.iter() {
        if ctx.txn.root(CATALOG, map)?.is_some() {
            ctx.txn.sub_scan(CATALOG, map, SubWalk::all(Want::Subkeys), &mut |key, _| {
                keys.push(key.to_vec());
                ControlFlow::Continue(())
            })?;
        }
    }
    Ok(keys)
}

/// The keys that an index covers and that the map lacks: each may be a document.
///
/// # Errors
/// The engine's.
pub(super) fn unmapped(ctx: &mut Context<'_, '_>, index: &Index) -> Result<Vec<Vec<u8>>> {
    // A walk may show a key twice.
    let mut covered = BTreeSet::new();
    each_covered(ctx, index, &mut |key, kind| {
        if kind == index.definition.kind {
            covered.insert(key.to_vec());
        }
        ControlFlow::Continue(())
    })?;
    let mut keys = Vec::with_capacity(covered.len());
    for key in covered {
        if maps::entry(ctx.txn, maps::map_of(index, ctx.admin, &key), &key)?.is_none() {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Whether the transaction has made a key that an index covers, or, while the index is not scanned, whether the database has one.
///
/// # Errors
/// The engine's.
pub(super) fn has_uncounted(ctx: &mut Context<'_, '_>, index: &Index) -> Result<bool> {
    let db = index.definition.db;
    for key in changed(ctx, index)? {
        if ctx.txn.root(db, &key)?.is_some_and(|root| root.kind == index.definition.kind) {
            return Ok(true);
        }
    }
    if index.definition.is_scanned {
        return Ok(false);
    }
    let mut is_found = false;
    each_covered(ctx, index, &mut |_, kind| {
        is_found |= kind == index.definition.kind;
        if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(is_found)
}

/// Shows the keys of the database that an index covers, some of them twice, until `each` has seen enough.
fn each_covered(
    ctx: &mut Context<'_, '_>,
    index: &Index,
    each: &mut dyn FnMut(&[u8], Kind) -> ControlFlow<()>,
) -> Outcome {
    let db = index.definition.db;
    let count = ctx.txn.key_count(db)?;
    ctx.expect_work(count)?;
    let (mut cursor, mut state) = (0, ControlFlow::Continue(()));
    loop {
        cursor = ctx.txn.scan_keys(db, cursor, &mut |key, root| {
            if state.is_continue() && index.covers(db, key) {
                state = each(key, root.kind);
            }
        })?;
        ctx.txn.share().look()?;
        if cursor == 0 || state.is_break() {
            return Ok(());
        }
    }
}

/// The keys that an index covers and that the transaction has changed.
fn changed(ctx: &mut Context<'_, '_>, index: &Index) -> Result<BTreeSet<Vec<u8>>> {
    let changed = ctx.txn.changed();
    ctx.expect_work(changed.len() as u64)?;
    let covered = changed.iter().filter(|changed| index.covers(changed.db, &changed.key));
    Ok(covered.map(|changed| changed.key.to_vec()).collect())
}

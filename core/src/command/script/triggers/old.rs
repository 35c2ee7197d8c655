//! TRIGGER OLD: what a key held before the transaction, for the function of a trigger.
//!
//! Of a string that is its value. Of a hash, a set or a sorted set these are the members that the transaction has changed one by
//! one, each with what it had before: that costs what was changed, whatever the size of the collection.

use std::ops::ControlFlow;

use crate::command::{CommandError, Context, Outcome};
use crate::data::zset;
use crate::engine::{Kind, Root};
use crate::number::{FloatText, format_f64};

pub(super) fn old(ctx: &mut Context<'_, '_>, key: &[u8]) -> Outcome {
    if !ctx.in_trigger {
        return Err(CommandError::text("ERR TRIGGER OLD is for the functions of triggers, while they run"));
    }
    let db = ctx.db();
    let Some(root) = ctx.txn.old_root(db, key)? else {
        ctx.reply.null();
        return Ok(());
    };
    match root.kind {
        Kind::String => {
            let mut value = Vec::new();
            ctx.txn.old_value(&root, &mut |bytes| value.extend_from_slice(bytes))?;
            ctx.reply.bulk(&value);
            Ok(())
        }
        Kind::Hash | Kind::Set | Kind::SortedSet => old_members(ctx, key, &root),
        Kind::List | Kind::Stream | Kind::SqlDatabase | Kind::Suggestions | Kind::Json => Err(
            CommandError::text("ERR TRIGGER OLD shows strings, and members of hashes, sets and sorted sets"),
        ),
    }
}

/// The changed members with their old values; nil for those that are new.
fn old_members(ctx: &mut Context<'_, '_>, key: &[u8], root: &Root) -> Outcome {
    let mut subkeys = Vec::new();
    ctx.txn.changed_subkeys(ctx.client.db, key, &mut |subkey, change| {
        subkeys.push((subkey.to_vec(), change.in_base));
        ControlFlow::Continue(())
    });
    let mut members = Vec::new();
    for (subkey, was_there) in subkeys {
        let member = match root.kind {
            Kind::SortedSet => zset::named_member(&subkey),
            _ => Some(subkey.as_slice()),
        };
        let Some(member) = member else { continue };
        let mut value = Vec::new();
        let was_there =
            was_there && ctx.txn.old_subkey(root, &subkey, &mut |bytes| value.extend_from_slice(bytes))?;
        members.push((member.to_vec(), was_there.then_some(value)));
    }
    let reply = &mut *ctx.reply;
    reply.array(2 * members.len());
    for (member, value) in members {
        reply.bulk(&member);
        match (root.kind, value) {
            (_, None) => reply.null(),
            (Kind::Set, Some(_)) => reply.integer(1),
            (Kind::SortedSet, Some(score)) => reply.bulk(score_text(&score).as_bytes()),
            (_, Some(value)) => reply.bulk(&value),
        }
    }
    Ok(())
}

fn score_text(bytes: &[u8]) -> FloatText {
    format_f64(zset::read_score(bytes).unwrap_or_default())
}

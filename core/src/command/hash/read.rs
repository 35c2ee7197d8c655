//! Reads of fields that the client names, and of whole hashes.

use std::ops::ControlFlow;

use crate::command::scan::ElementWriter;
use crate::command::{CommandError, Context, Outcome};
use crate::data::hash;
use crate::engine::{SubWalk, Want};

/// `HGET key field`
pub(super) fn hget(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    hash::root(context.txn, db, args[1])?;
    let reply = &mut *context.reply;
    if !context.txn.sub_read(db, args[1], args[2], &mut |value| reply.bulk(value))? {
        context.reply.null();
    }
    Ok(())
}

/// `HMGET key field [field ...]`
pub(super) fn hmget(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    hash::root(context.txn, db, args[1])?;
    let fields = args.get(2..).unwrap_or_default();
    let reply = &mut *context.reply;
    reply.array(fields.len());
    for field in fields {
        if !context.txn.sub_read(db, args[1], field, &mut |value| reply.bulk(value))? {
            reply.null();
        }
    }
    Ok(())
}

/// `HEXISTS key field`
pub(super) fn hexists(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    hash::root(context.txn, db, args[1])?;
    let is_there = context.txn.sub_contains(db, args[1], args[2])?;
    context.reply.integer(i64::from(is_there));
    Ok(())
}

/// `HLEN key`
pub(super) fn hlen(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let len = open(context, args[1])?;
    context.reply.integer(len as i64);
    Ok(())
}

/// `HSTRLEN key field`
pub(super) fn hstrlen(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    hash::root(context.txn, db, args[1])?;
    let mut len = 0;
    context.txn.sub_read(db, args[1], args[2], &mut |value| len = value.len())?;
    context.reply.integer(len as i64);
    Ok(())
}

/// `HKEYS key`
pub(super) fn hkeys(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let len = open(context, args[1])?;
    context.reply.array(len);
    all(context, (args[1], len), Want::Subkeys, &mut |reply, field, _| reply.bulk(field))
}

/// `HVALS key`
pub(super) fn hvals(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let len = open(context, args[1])?;
    context.reply.array(len);
    all(context, (args[1], len), Want::Values, &mut |reply, _, value| reply.bulk(value))
}

/// `HGETALL key`
pub(super) fn hgetall(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let len = open(context, args[1])?;
    context.reply.map(len);
    all(context, (args[1], len), Want::Values, &mut |reply, field, value| {
        reply.bulk(field);
        reply.bulk(value);
    })
}

/// The number of fields of a hash, 0 if there is none.
fn open(context: &mut Context<'_, '_>, key: &[u8]) -> Result<usize, CommandError> {
    let db = context.db();
    let root = hash::root(context.txn, db, key)?;
    let len = if root.is_some() { context.txn.sub_len(db, key)? } else { 0 };
    context.expect_work(len)?;
    // A reply of more elements than the address space has bytes cannot be made.
    Ok(usize::try_from(len).unwrap_or(usize::MAX))
}

/// Writes all elements of a hash of this length.
fn all(
    context: &mut Context<'_, '_>,
    (key, len): (&[u8], usize),
    want: Want,
    write: ElementWriter<'_>,
) -> Outcome {
    let (db, reply) = (context.client.db, &mut *context.reply);
    let walk = SubWalk::all(want).expecting(len as u64);
    context.txn.sub_scan(db, key, walk, &mut |field, value| {
        write(reply, field, value);
        ControlFlow::Continue(())
    })?;
    Ok(())
}

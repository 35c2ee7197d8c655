//! What is asked of entries or done to them, and XSETID, which sets what they left behind.

use std::ops::ControlFlow;

use super::{ids, reply_count, reply_entry};
use crate::command::args::{integer, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Stream, StreamId};
use crate::engine::Direction;
use crate::server::hub::notify;

const BELOW_DELETED: CommandError =
    CommandError::text("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id");
const BELOW_GIVEN_DELETED: CommandError =
    CommandError::text("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
const BELOW_TOP: CommandError =
    CommandError::text("ERR The ID specified in XSETID is smaller than the target stream top item");
const FEWER_THAN_LENGTH: CommandError =
    CommandError::text("ERR The entries_added specified in XSETID is smaller than the target stream length");

/// `XLEN key`
pub(super) fn xlen(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    let len = match Stream::open(context.txn, db, args[1])? {
        Some(stream) => stream.len(context.txn)?,
        None => 0,
    };
    reply_count(context.reply, len);
    Ok(())
}

/// `XRANGE key start end [COUNT count]`
pub(super) fn xrange(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    range(context, args, Direction::Ascending)
}

/// `XREVRANGE key end start [COUNT count]`
pub(super) fn xrevrange(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    range(context, args, Direction::Descending)
}

fn range(context: &mut Context<'_, '_>, args: &[&[u8]], direction: Direction) -> Outcome {
    let [_, key, from, to, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let (first, last) = match direction {
        Direction::Ascending => (from, to),
        Direction::Descending => (to, from),
    };
    let range = (ids::range_start(first)?, ids::range_end(last)?);
    let (options, odd) = options.as_chunks::<2>();
    let mut count = None;
    for [option, value] in options {
        if !is_option(option, "COUNT") {
            return Err(CommandError::SYNTAX);
        }
        count = Some(u64::try_from(integer(value)?).unwrap_or(0));
    }
    if !odd.is_empty() {
        return Err(CommandError::SYNTAX);
    }
    let db = context.db();
    let Some(stream) = Stream::open(context.txn, db, key)? else {
        context.reply.array(0);
        return Ok(());
    };
    if count == Some(0) {
        context.reply.null_array();
        return Ok(());
    }
    reply_range(context, &stream, range, direction, count.unwrap_or(u64::MAX))
}

/// Writes the list of at most `most` entries of a range.
pub(super) fn reply_range(
    context: &mut Context<'_, '_>,
    stream: &Stream<'_>,
    range: (StreamId, StreamId),
    direction: Direction,
    most: u64,
) -> Outcome {
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let list = reply.defer();
    let mut found = 0;
    stream.scan(txn, range, direction, most, &mut |id, fields| {
        reply_entry(reply, id, fields);
        found += 1;
        if found as u64 >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    reply.finish_array(list, found);
    Ok(())
}

/// `XDEL key id [id ...]`
pub(super) fn xdel(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, given @ ..] = args else { return Err(CommandError::SYNTAX) };
    let db = context.db();
    let Some(mut stream) = Stream::open(context.txn, db, key)? else {
        context.reply.integer(0);
        return Ok(());
    };
    let mut deleted = 0;
    for id in ids::ids(given)? {
        deleted += i64::from(stream.delete(context.txn, id)?);
    }
    if deleted > 0 {
        context.notify(notify::STREAM, "xdel", key);
    }
    context.reply.integer(deleted);
    Ok(())
}

/// `XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]`
pub(super) fn xsetid(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, last_id, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let mut options = rest;
    let last_id = ids::id(last_id, 0)?;
    let (mut added, mut deleted) = (None, None);
    while let [option, rest @ ..] = options {
        let [value, rest @ ..] = rest else { return Err(CommandError::SYNTAX) };
        if is_option(option, "ENTRIESADDED") {
            let count = integer(value)?;
            if count < 0 {
                return Err(CommandError::text("ERR entries_added must be positive"));
            }
            added = Some(count);
        } else if is_option(option, "MAXDELETEDID") {
            let id = ids::id(value, 0)?;
            if last_id < id {
                return Err(BELOW_GIVEN_DELETED);
            }
            deleted = Some(id);
        } else {
            return Err(CommandError::SYNTAX);
        }
        options = rest;
    }
    let db = context.db();
    let mut stream = Stream::open(context.txn, db, key)?.ok_or(CommandError::NO_SUCH_KEY)?;
    if last_id < stream.max_deleted_id() {
        return Err(BELOW_DELETED);
    }
    if let Some(top) = stream.last_entry_id(context.txn)? {
        if last_id < top {
            return Err(BELOW_TOP);
        }
        let len = stream.len(context.txn)?;
        if added.is_some_and(|added| u64::try_from(added).is_ok_and(|added| added < len)) {
            return Err(FEWER_THAN_LENGTH);
        }
    }
    let deleted = deleted.filter(|id| *id != StreamId::MIN);
    stream.set_facts(context.txn, last_id, added, deleted)?;
    context.notify(notify::STREAM, "xsetid", key);
    context.reply.ok();
    Ok(())
}

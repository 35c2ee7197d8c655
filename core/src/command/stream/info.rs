//! XINFO: what there is to be known of a stream, its groups and their consumers.

use super::group::no_such_group;
use super::{misused_subcommand, reply_count, reply_entry, reply_id};
use crate::catalog;
use crate::command::args::{integer, is_option};
use crate::command::help::reply_help;
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Consumer, Extent, Group, Stream, StreamId};
use crate::engine::{Direction, Txn};
use crate::resp::Reply;

/// Elements of each list of FULL unless COUNT says otherwise: Redis' own figure.
const FULL_COUNT: u64 = 10;

/// `XINFO CONSUMERS key group`, `XINFO GROUPS key`, `XINFO STREAM key [FULL [COUNT count]]`, `XINFO HELP`
pub(super) fn xinfo(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, word, key, rest @ ..] = args else {
        return reply_help(context.reply, catalog::spec(catalog::id("xinfo")));
    };
    let db = context.db();
    let stream = Stream::open(context.txn, db, key)?.ok_or(CommandError::NO_SUCH_KEY)?;
    match (word.to_ascii_lowercase().as_slice(), rest) {
        (b"consumers", [group]) => {
            let group = stream.group(context.txn, group)?.ok_or_else(|| no_such_group(group, key))?;
            reply_consumers(context, &stream, &group)
        }
        (b"groups", []) => reply_groups(context, &stream),
        (b"stream", []) => reply_stream(context, &stream),
        (b"stream", options) => reply_full(context, &stream, full_count(word, options)?),
        _ => Err(misused_subcommand("XINFO", word)),
    }
}

/// The COUNT of `FULL [COUNT count]`; 0 is no bound.
fn full_count(word: &[u8], options: &[&[u8]]) -> Result<u64, CommandError> {
    match options {
        [full] if is_option(full, "FULL") => Ok(FULL_COUNT),
        [full, option, count] if is_option(full, "FULL") && is_option(option, "COUNT") => {
            Ok(u64::try_from(integer(count)?).unwrap_or(FULL_COUNT))
        }
        _ => Err(misused_subcommand("XINFO", word)),
    }
}

fn reply_consumers(context: &mut Context<'_, '_>, stream: &Stream<'_>, group: &Group) -> Outcome {
    let now_ms = context.now_ms();
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let consumers = stream.consumers(txn, group)?;
    reply.array(consumers.len());
    for consumer in &consumers {
        reply.map(4);
        reply.bulk(b"name");
        reply.bulk(&consumer.name);
        reply.bulk(b"pending");
        reply_count(reply, stream.owned_count(txn, group, consumer)?);
        reply.bulk(b"idle");
        reply_count(reply, now_ms.saturating_sub(consumer.seen_ms));
        reply.bulk(b"inactive");
        match consumer.active_ms {
            Some(active_ms) => reply_count(reply, now_ms.saturating_sub(active_ms)),
            None => reply.integer(-1),
        }
    }
    Ok(())
}

fn reply_groups(context: &mut Context<'_, '_>, stream: &Stream<'_>) -> Outcome {
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let extent = stream.extent(txn)?;
    let groups = stream.groups(txn)?;
    reply.array(groups.len());
    for group in &groups {
        reply.map(6);
        reply.bulk(b"name");
        reply.bulk(&group.name);
        reply.bulk(b"consumers");
        reply_count(reply, stream.consumer_count(txn, group)?);
        reply.bulk(b"pending");
        reply_count(reply, stream.pending_count(txn, group)?);
        reply_progress(reply, stream, group, &extent);
    }
    Ok(())
}

/// Three pairs: how far a group has come.
fn reply_progress(reply: &mut Reply, stream: &Stream<'_>, group: &Group, extent: &Extent) {
    reply.bulk(b"last-delivered-id");
    reply_id(reply, group.last_id);
    for (name, count) in [("entries-read", group.entries_read), ("lag", stream.lag(group, extent))] {
        reply.bulk(name.as_bytes());
        match count {
            Some(count) => reply.integer(count),
            None => reply.null(),
        }
    }
}

/// Seven pairs: what both forms of XINFO STREAM begin with.
fn reply_facts(reply: &mut Reply, txn: &mut Txn<'_>, stream: &Stream<'_>) -> Result<Extent, CommandError> {
    let extent = stream.extent(txn)?;
    let nodes = stream.node_count(txn)?;
    reply.bulk(b"length");
    reply_count(reply, extent.len);
    reply.bulk(b"radix-tree-keys");
    reply_count(reply, nodes);
    // There is no radix tree. One of few keys has a node for each, one for the end and one where they part.
    reply.bulk(b"radix-tree-nodes");
    reply_count(reply, nodes.saturating_add(1 + u64::from(nodes > 1)));
    reply.bulk(b"last-generated-id");
    reply_id(reply, stream.last_id());
    reply.bulk(b"max-deleted-entry-id");
    reply_id(reply, stream.max_deleted_id());
    reply.bulk(b"entries-added");
    reply.integer(stream.entries_added());
    reply.bulk(b"recorded-first-entry-id");
    reply_id(reply, extent.first_id);
    Ok(extent)
}

fn reply_stream(context: &mut Context<'_, '_>, stream: &Stream<'_>) -> Outcome {
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    reply.map(10);
    reply_facts(reply, txn, stream)?;
    reply.bulk(b"groups");
    reply_count(reply, stream.group_count(txn)?);
    let ends = [("first-entry", stream.first_entry_id(txn)?), ("last-entry", stream.last_entry_id(txn)?)];
    for (name, id) in ends {
        reply.bulk(name.as_bytes());
        let is_there = match id {
            Some(id) => stream.read(txn, id, &mut |id, fields| reply_entry(reply, id, fields))?,
            None => false,
        };
        if !is_there {
            reply.null();
        }
    }
    Ok(())
}

fn reply_full(context: &mut Context<'_, '_>, stream: &Stream<'_>, count: u64) -> Outcome {
    let most = if count == 0 { u64::MAX } else { count };
    context.reply.map(9);
    let extent = reply_facts(context.reply, context.txn, stream)?;
    context.reply.bulk(b"entries");
    let all = (StreamId::MIN, StreamId::MAX);
    super::entries::reply_range(context, stream, all, Direction::Ascending, most)?;
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let groups = stream.groups(txn)?;
    reply.bulk(b"groups");
    reply.array(groups.len());
    for group in &groups {
        reply.map(7);
        reply.bulk(b"name");
        reply.bulk(&group.name);
        reply_progress(reply, stream, group, &extent);
        reply.bulk(b"pel-count");
        reply_count(reply, stream.pending_count(txn, group)?);
        reply.bulk(b"pending");
        reply_pending(reply, txn, stream, group, None, most)?;
        let consumers = stream.consumers(txn, group)?;
        reply.bulk(b"consumers");
        reply.array(consumers.len());
        for consumer in &consumers {
            reply.map(5);
            reply.bulk(b"name");
            reply.bulk(&consumer.name);
            reply.bulk(b"seen-time");
            reply_count(reply, consumer.seen_ms);
            reply.bulk(b"active-time");
            reply.integer(consumer.active_ms.map_or(-1, u64::cast_signed));
            reply.bulk(b"pel-count");
            reply_count(reply, stream.owned_count(txn, group, consumer)?);
            reply.bulk(b"pending");
            reply_pending(reply, txn, stream, group, Some(consumer), most)?;
        }
    }
    Ok(())
}

/// The list of at most `most` pending entries; of a consumer's the owner is not told again.
fn reply_pending(
    reply: &mut Reply,
    txn: &mut Txn<'_>,
    stream: &Stream<'_>,
    group: &Group,
    owner: Option<&Consumer>,
    most: u64,
) -> Outcome {
    let list = reply.defer();
    let (mut count, mut left) = (0, most);
    let mut from = Some(StreamId::MIN);
    while let Some(first) = from.filter(|_| left > 0) {
        let limit = usize::try_from(left).unwrap_or(usize::MAX);
        let page = stream.pending_page(txn, group, owner, (first, StreamId::MAX), limit)?;
        for pending in &page {
            reply.array(if owner.is_none() { 4 } else { 3 });
            reply_id(reply, pending.id);
            if owner.is_none() {
                reply.bulk(&pending.owner.name);
            }
            reply_count(reply, pending.delivered_ms);
            reply.integer(pending.deliveries);
        }
        count += page.len();
        left = left.saturating_sub(page.len() as u64);
        from = page.last().and_then(|last| last.id.next());
    }
    reply.finish_array(list, count);
    Ok(())
}

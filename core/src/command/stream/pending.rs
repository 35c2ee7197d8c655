//! What was delivered and not acknowledged: XACK and XPENDING.

use super::{ids, no_such_group, reply_count, reply_id, stream_and_group};
use crate::command::args::{integer, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Group, Pending, Stream, StreamId};

/// `XACK key group id [id ...]`
pub(super) fn xack(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, group, given @ ..] = args else { return Err(CommandError::SYNTAX) };
    let found = stream_and_group(context, key, group)?;
    context.note_reads(&[key], true);
    let Some((stream, group)) = found else {
        context.reply.integer(0);
        return Ok(());
    };
    let mut acknowledged = 0;
    for id in ids::ids(given)? {
        acknowledged += i64::from(stream.acknowledge(context.txn, &group, id)?);
    }
    context.reply.integer(acknowledged);
    Ok(())
}

/// Which pending entries XPENDING lists.
struct Wanted<'a> {
    idle_ms: i64,
    ids: (StreamId, StreamId),
    count: u64,
    consumer: Option<&'a [u8]>,
}

/// `XPENDING key group [[IDLE min-idle-time] start end count [consumer]]`
pub(super) fn xpending(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, name, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let wanted = if rest.is_empty() { None } else { Some(wanted(rest)?) };
    let (stream, group) = stream_and_group(context, key, name)?.ok_or_else(|| no_such_group(key, name))?;
    match wanted {
        None => reply_summary(context, &stream, &group),
        Some(wanted) => reply_list(context, &stream, &group, &wanted),
    }
}

fn wanted<'a>(args: &[&'a [u8]]) -> Result<Wanted<'a>, CommandError> {
    if !(3..=6).contains(&args.len()) {
        return Err(CommandError::SYNTAX);
    }
    let (idle_ms, args) = match args {
        [option, idle, rest @ ..] if is_option(option, "IDLE") => (integer(idle)?, rest),
        _ => (0, args),
    };
    let [start, end, count, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let count = u64::try_from(integer(count)?).unwrap_or(0);
    let ids = (ids::range_start(start)?, ids::range_end(end)?);
    Ok(Wanted { idle_ms, ids, count, consumer: rest.first().copied() })
}

/// How many entries are pending, from which to which, and how many each consumer has.
fn reply_summary(context: &mut Context<'_, '_>, stream: &Stream<'_>, group: &Group) -> Outcome {
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    reply.array(4);
    reply_count(reply, stream.pending_count(txn, group)?);
    let Some((first, last)) = stream.pending_ends(txn, group)? else {
        reply.null();
        reply.null();
        reply.null_array();
        return Ok(());
    };
    reply_id(reply, first);
    reply_id(reply, last);
    let list = reply.defer();
    let mut busy = 0;
    for consumer in stream.consumers(txn, group)? {
        let count = stream.owned_count(txn, group, &consumer)?;
        if count > 0 {
            reply.array(2);
            reply.bulk(&consumer.name);
            reply.bulk(count.to_string().as_bytes());
            busy += 1;
        }
    }
    reply.finish_array(list, busy);
    Ok(())
}

/// The pending entries themselves.
fn reply_list(
    context: &mut Context<'_, '_>,
    stream: &Stream<'_>,
    group: &Group,
    wanted: &Wanted<'_>,
) -> Outcome {
    let now_ms = context.now_ms();
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let owner = match wanted.consumer {
        None => None,
        Some(name) => match stream.consumer(txn, group, name)? {
            None => {
                reply.array(0);
                return Ok(());
            }
            found => found,
        },
    };
    let list = reply.defer();
    let (mut found, (mut first, last)) = (0, wanted.ids);
    let mut left = wanted.count;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX);
        let page = stream.pending_page(txn, group, owner.as_ref(), (first, last), most)?;
        for pending in &page {
            let idle_ms = now_ms.saturating_sub(pending.delivered_ms);
            if u64::try_from(wanted.idle_ms).is_ok_and(|least| idle_ms < least) {
                continue;
            }
            reply.array(4);
            reply_id(reply, pending.id);
            reply.bulk(&pending.owner.name);
            reply_count(reply, idle_ms);
            reply.integer(pending.deliveries);
            found += 1;
            left -= 1;
        }
        let Some(next) = page.last().and_then(|last: &Pending| last.id.next()) else { break };
        first = next;
    }
    reply.finish_array(list, found);
    Ok(())
}

//! XREAD and XREADGROUP.

use std::ops::ControlFlow;

use super::claim::seen_consumer;
use super::{ids, reply_entry, reply_id};
use crate::command::args::{integer, is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Consumer, Fields, Group, Owner, Pending, Stream, StreamId};
use crate::engine::{Direction, Kind, Txn};
use crate::resp::{Protocol, Reply, parse_i64};
use crate::server::hub::{Nothing, Wait};

type Result<T> = std::result::Result<T, CommandError>;

const GROUP_IS_FOR_XREADGROUP: CommandError =
    CommandError::text("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.");
const NOACK_IS_FOR_XREADGROUP: CommandError =
    CommandError::text("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.");
const NEW_IS_FOR_XREADGROUP: CommandError = CommandError::text(
    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.",
);
const LAST_IS_FOR_XREAD: CommandError = CommandError::text(
    "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying \
     a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.",
);
const NO_GROUP_GIVEN: CommandError = CommandError::text("ERR Missing GROUP option for XREADGROUP");

/// What is read, and how.
#[derive(Clone, Copy, Debug, Default)]
struct Reading<'a> {
    /// How long to wait if there is nothing; 0 is for ever.
    block_ms: Option<u64>,
    count: Option<u64>,
    /// Names of the group and of the consumer.
    group: Option<(&'a [u8], &'a [u8])>,
    leaves_nothing_pending: bool,
    keys: &'a [&'a [u8]],
    ids: &'a [&'a [u8]],
}

/// `XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]`
pub(super) fn xread(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    read(context, args, false)
}

/// `XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]`
pub(super) fn xreadgroup(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    read(context, args, true)
}

fn read(context: &mut Context<'_, '_>, args: &[&[u8]], by_group: bool) -> Outcome {
    let reading = Reading::of(args.get(1..).unwrap_or_default(), by_group, context.now_ms())?;
    // Everything is checked for all streams before anything is delivered from one.
    let mut after = Vec::with_capacity(reading.ids.len());
    for (key, id) in reading.keys.iter().zip(reading.ids) {
        after.push(start_of(context, &reading, key, id)?);
    }
    // Delivering is another read.
    context.note_reads(reading.keys, true);
    let start = context.reply.len();
    let list = context.reply.defer();
    let mut served = 0;
    for (key, after) in reading.keys.iter().zip(after.iter().copied()) {
        let is_served = match reading.group {
            Some(names) => serve_consumer(context, &reading, key, after, names)?,
            None => serve(context, &reading, key, after)?,
        };
        served += usize::from(is_served);
    }
    if served == 0 {
        context.reply.truncate(start);
        return nothing_to_read(context, &reading, &after);
    }
    match context.reply.protocol() {
        Protocol::Resp2 => context.reply.finish_array(list, served),
        Protocol::Resp3 => context.reply.finish_map(list, served),
    }
    Ok(())
}

/// What a reader gets that found nothing: no array, or with BLOCK a wait for entries behind what `$` stands for now.
fn nothing_to_read(context: &mut Context<'_, '_>, reading: &Reading<'_>, after: &[StreamId]) -> Outcome {
    let Some(block_ms) = reading.block_ms else {
        context.reply.null_array();
        return Ok(());
    };
    let until_ms = (block_ms > 0).then(|| context.now_ms().saturating_add(block_ms));
    let keys: Vec<Vec<u8>> = reading.keys.iter().map(|key| key.to_vec()).collect();
    let request = reading.again(after);
    context.wait_for(Wait {
        keys,
        kind: Kind::Stream,
        takes: false,
        ends_without_key: reading.group.is_some(),
        until_ms,
        nothing: Nothing::Array,
        request: Some(request),
    });
    Ok(())
}

impl<'a> Reading<'a> {
    fn of(mut args: &'a [&'a [u8]], by_group: bool, now_ms: u64) -> Result<Reading<'a>> {
        let mut reading = Reading::default();
        let mut streams = None;
        while let [option, rest @ ..] = args {
            args = rest;
            match rest {
                [value, rest @ ..] if is_option(option, "BLOCK") => {
                    reading.block_ms = Some(block_ms(value, now_ms)?);
                    args = rest;
                }
                [value, rest @ ..] if is_option(option, "COUNT") => {
                    reading.count = u64::try_from(integer(value)?).ok().filter(|count| *count > 0);
                    args = rest;
                }
                [_, ..] if is_option(option, "STREAMS") => {
                    streams = Some(rest);
                    break;
                }
                [group, consumer, rest @ ..] if is_option(option, "GROUP") => {
                    if !by_group {
                        return Err(GROUP_IS_FOR_XREADGROUP);
                    }
                    reading.group = Some((group, consumer));
                    args = rest;
                }
                _ if is_option(option, "NOACK") => {
                    if !by_group {
                        return Err(NOACK_IS_FOR_XREADGROUP);
                    }
                    reading.leaves_nothing_pending = true;
                }
                _ => return Err(CommandError::SYNTAX),
            }
        }
        let streams = streams.ok_or(CommandError::SYNTAX)?;
        if !streams.len().is_multiple_of(2) {
            let (name, sign) = if by_group { ("xreadgroup", '>') } else { ("xread", '$') };
            return Err(CommandError::owned(format!(
                "ERR Unbalanced '{name}' list of streams: for each stream key an ID or '{sign}' must be specified."
            )));
        }
        if by_group && reading.group.is_none() {
            return Err(NO_GROUP_GIVEN);
        }
        (reading.keys, reading.ids) =
            streams.split_at_checked(streams.len() / 2).ok_or(CommandError::SYNTAX)?;
        Ok(reading)
    }

    /// The request that reads the same, `$` replaced by the id it stands for now.
    fn again(&self, after: &[StreamId]) -> Vec<Vec<u8>> {
        let mut words: Vec<Vec<u8>> = Vec::new();
        let mut add = |words_: &[&[u8]]| words.extend(words_.iter().map(|word| word.to_vec()));
        match self.group {
            Some((group, consumer)) => add(&[b"XREADGROUP", b"GROUP", group, consumer]),
            None => add(&[b"XREAD"]),
        }
        if let Some(count) = self.count {
            add(&[b"COUNT", count.to_string().as_bytes()]);
        }
        if self.leaves_nothing_pending {
            add(&[b"NOACK"]);
        }
        add(&[b"BLOCK", b"0", b"STREAMS"]);
        add(self.keys);
        for (id, after) in self.ids.iter().zip(after) {
            match *id {
                b"$" => add(&[&ids::text(*after)]),
                id => add(&[id]),
            }
        }
        words
    }
}

/// How long to wait, as Redis reads it.
fn block_ms(argument: &[u8], now_ms: u64) -> Result<u64> {
    let block_ms =
        parse_i64(argument).ok_or(CommandError::text("ERR timeout is not an integer or out of range"))?;
    let block_ms = u64::try_from(block_ms).map_err(|_| CommandError::text("ERR timeout is negative"))?;
    let end_ms = now_ms.checked_add(block_ms);
    if end_ms.is_none_or(|end_ms| i64::try_from(end_ms).is_err()) {
        return Err(CommandError::text("ERR timeout is out of range"));
    }
    Ok(block_ms)
}

/// The id after which a stream is read; the last id there is stands for what no consumer of the group got yet (`>`).
fn start_of(context: &mut Context<'_, '_>, reading: &Reading<'_>, key: &[u8], id: &[u8]) -> Result<StreamId> {
    let db = context.db();
    let stream = Stream::open(context.txn, db, key)?;
    context.note_reads(&[key], true);
    if let Some((group, _)) = reading.group {
        let has_group = match &stream {
            Some(stream) => stream.group(context.txn, group)?.is_some(),
            None => false,
        };
        if !has_group {
            let (key, group) = (quoted(key, usize::MAX), quoted(group, usize::MAX));
            return Err(CommandError::owned(format!(
                "NOGROUP No such key '{key}' or consumer group '{group}' in XREADGROUP with GROUP option"
            )));
        }
    }
    match (id, reading.group.is_some()) {
        (b"$", true) => Err(LAST_IS_FOR_XREAD),
        (b"$", false) => Ok(stream.as_ref().map_or(StreamId::MIN, Stream::last_id)),
        (b">", true) => Ok(StreamId::MAX),
        (b">", false) => Err(NEW_IS_FOR_XREADGROUP),
        _ => ids::id(id, 0),
    }
}

/// Writes a stream's name and what follows this id; false if there is nothing.
fn serve(context: &mut Context<'_, '_>, reading: &Reading<'_>, key: &[u8], after: StreamId) -> Result<bool> {
    let db = context.db();
    let Some(stream) = Stream::open(context.txn, db, key)? else { return Ok(false) };
    let Some(first) = after.next() else { return Ok(false) };
    if stream.last_entry_id(context.txn)?.is_none_or(|last| last < first) {
        return Ok(false);
    }
    begin_stream(context.reply, key);
    let most = reading.count.unwrap_or(u64::MAX);
    super::entries::reply_range(context, &stream, (first, StreamId::MAX), Direction::Ascending, most)?;
    Ok(true)
}

fn begin_stream(reply: &mut Reply, key: &[u8]) {
    if reply.protocol() == Protocol::Resp2 {
        reply.array(2);
    }
    reply.bulk(key);
}

/// Writes a stream's name and what its group has for the consumer; false if that is nothing.
fn serve_consumer(
    context: &mut Context<'_, '_>,
    reading: &Reading<'_>,
    key: &[u8],
    after: StreamId,
    (group, consumer): (&[u8], &[u8]),
) -> Result<bool> {
    let db = context.db();
    let Some(mut stream) = Stream::open(context.txn, db, key)? else { return Ok(false) };
    let Some(group) = stream.group(context.txn, group)? else { return Ok(false) };
    let consumer = seen_consumer(context, (key, &mut stream), &group, consumer)?;
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let mut delivery = Delivery { stream, group, consumer, most: reading.count.unwrap_or(u64::MAX) };
    let is_served = if let Some(first) = after.next() {
        begin_stream(reply, key);
        delivery.reply_history(txn, reply, first)?;
        true
    } else {
        let first = delivery.group.last_id.next();
        let last = delivery.stream.last_entry_id(txn)?;
        let fresh = first.filter(|first| last.is_some_and(|last| *first <= last));
        if let Some(first) = fresh {
            begin_stream(reply, key);
            delivery.reply_new(txn, reply, first, reading.leaves_nothing_pending)?;
        }
        fresh.is_some()
    };
    delivery.stream.save_consumer(txn, &delivery.group, &delivery.consumer)?;
    Ok(is_served)
}

/// A stream that is read for a consumer.
struct Delivery<'k> {
    stream: Stream<'k>,
    group: Group,
    consumer: Consumer,
    most: u64,
}

impl Delivery<'_> {
    /// Delivers what no consumer of the group got yet.
    fn reply_new(
        &mut self,
        txn: &mut Txn<'_>,
        reply: &mut Reply,
        first: StreamId,
        leaves_nothing_pending: bool,
    ) -> Outcome {
        let extent = self.stream.extent(txn)?;
        let most = self.most;
        let mut delivered = Vec::new();
        let list = reply.defer();
        let range = (first, StreamId::MAX);
        self.stream.scan(txn, range, Direction::Ascending, most, &mut |id, fields| {
            reply_entry(reply, id, fields);
            delivered.push(id);
            if delivered.len() as u64 >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        reply.finish_array(list, delivered.len());
        for id in &delivered {
            self.stream.advance(&mut self.group, &extent, *id);
        }
        self.stream.save_group(txn, &self.group)?;
        if leaves_nothing_pending {
            return Ok(());
        }
        let delivered_ms = txn.now_ms();
        for id in delivered {
            // Where the group was set back, somebody may have the entry already.
            let before = self.stream.pending(txn, &self.group, id)?;
            let owner = Owner::of(&self.consumer);
            let pending = Pending { id, owner, delivered_ms, deliveries: 1 };
            self.stream.put_pending(txn, &self.group, before.as_ref(), &pending)?;
            self.consumer.active_ms = Some(delivered_ms);
        }
        Ok(())
    }

    /// Delivers again what the consumer has pending; of entries that were deleted only the ids.
    fn reply_history(&mut self, txn: &mut Txn<'_>, reply: &mut Reply, first: StreamId) -> Outcome {
        let list = reply.defer();
        let (mut count, mut left) = (0, self.most);
        let mut from = Some(first);
        while let Some(first) = from.filter(|_| left > 0) {
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            let ids = (first, StreamId::MAX);
            let page = self.stream.pending_page(txn, &self.group, Some(&self.consumer), ids, most)?;
            for pending in &page {
                let mut write = |id, fields: Fields<'_>| reply_entry(reply, id, fields);
                if self.stream.read(txn, pending.id, &mut write)? {
                    let again = Pending {
                        delivered_ms: txn.now_ms(),
                        deliveries: pending.deliveries.wrapping_add(1),
                        ..pending.clone()
                    };
                    self.stream.put_pending(txn, &self.group, Some(pending), &again)?;
                } else {
                    reply.array(2);
                    reply_id(reply, pending.id);
                    reply.null_array();
                }
            }
            count += page.len();
            left = left.saturating_sub(page.len() as u64);
            from = page.last().and_then(|last| last.id.next());
        }
        reply.finish_array(list, count);
        Ok(())
    }
}

//! XCLAIM and XAUTOCLAIM: consumers take over what others have pending.

use super::group::CONSUMER_MADE;
use super::{ids, no_such_group, reply_entry, reply_id, stream_and_group};
use crate::command::args::{integer_in, is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Consumer, Group, Owner, Pending, Stream, StreamId};
use crate::engine::Txn;
use crate::limits::{CLAIM_COUNT_MAX, CLAIM_LOOKS_FOR_EACH};
use crate::resp::{Reply, parse_i64};
use crate::server::hub::notify;

type Result<T> = std::result::Result<T, CommandError>;

/// Entries XAUTOCLAIM returns unless COUNT says otherwise: Redis' own figure.
const AUTOCLAIM_COUNT: i64 = 100;

const COUNT_NOT_POSITIVE: CommandError = CommandError::text("ERR COUNT must be > 0");

/// How an entry changes hands.
struct Claim<'k> {
    stream: Stream<'k>,
    group: Group,
    consumer: Consumer,
    now_ms: u64,
    least_idle_ms: u64,
    delivered_ms: u64,
    /// The number of deliveries from now on; otherwise they are counted.
    deliveries: Option<i64>,
    only_ids: bool,
}

impl Claim<'_> {
    /// Whether an entry has been idle for long enough.
    fn may_take(&self, pending: &Pending) -> bool {
        self.least_idle_ms == 0
            // The time of a delivery may lie ahead of a clock that was set back.
            || self.now_ms.checked_sub(pending.delivered_ms).is_some_and(|idle| idle >= self.least_idle_ms)
    }

    /// Gives an entry that is there to the consumer and writes it to the reply.
    fn take(
        &mut self,
        txn: &mut Txn<'_>,
        reply: &mut Reply,
        id: StreamId,
        before: Option<&Pending>,
    ) -> Result<()> {
        // What FORCE makes counts as delivered once before.
        let deliveries = before.map_or(1, |before| before.deliveries);
        let counted = if self.only_ids { deliveries } else { deliveries.wrapping_add(1) };
        let pending = Pending {
            id,
            owner: Owner::of(&self.consumer),
            delivered_ms: self.delivered_ms,
            deliveries: self.deliveries.unwrap_or(counted),
        };
        self.stream.put_pending(txn, &self.group, before, &pending)?;
        self.consumer.active_ms = Some(self.now_ms);
        if self.only_ids {
            reply_id(reply, id);
        } else {
            self.stream.read(txn, id, &mut |id, fields| reply_entry(reply, id, fields))?;
        }
        Ok(())
    }
}

/// The options behind XCLAIM's ids.
#[derive(Default)]
struct ClaimOptions {
    idle_since_ms: Option<i64>,
    deliveries: Option<i64>,
    forces: bool,
    only_ids: bool,
    last_id: StreamId,
}

/// `XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE]
/// [JUSTID] [LASTID lastid]`
pub(super) fn xclaim(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, name, consumer, least_idle, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let found = stream_and_group(context, key, name)?;
    context.note_reads(&[key], true);
    let (mut stream, mut group) = found.ok_or_else(|| no_such_group(key, name))?;
    let least_idle_ms = least_idle_ms(least_idle, "ERR Invalid min-idle-time argument for XCLAIM")?;
    let wanted: Vec<StreamId> = rest.iter().map_while(|argument| ids::id(argument, 0).ok()).collect();
    let now_ms = context.now_ms();
    let options = claim_options(rest.get(wanted.len()..).unwrap_or_default(), now_ms)?;
    if options.last_id > group.last_id {
        group.last_id = options.last_id;
        stream.save_group(context.txn, &group)?;
    }
    // A time that is none, or is still to come, is taken for now.
    let given_ms = options.idle_since_ms.and_then(|ms| u64::try_from(ms).ok());
    let consumer = seen_consumer(context, (key, &mut stream), &group, consumer)?;
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let mut claim = Claim {
        stream,
        group,
        consumer,
        now_ms,
        least_idle_ms,
        delivered_ms: given_ms.filter(|ms| *ms <= now_ms).unwrap_or(now_ms),
        deliveries: options.deliveries.filter(|count| *count >= 0),
        only_ids: options.only_ids,
    };
    let list = reply.defer();
    let mut taken = 0;
    for id in wanted {
        let pending = claim.stream.pending(txn, &claim.group, id)?;
        if !claim.stream.contains(txn, id)? {
            claim.stream.acknowledge(txn, &claim.group, id)?;
            continue;
        }
        let takes = pending.as_ref().map_or(options.forces, |pending| claim.may_take(pending));
        if takes {
            claim.take(txn, reply, id, pending.as_ref())?;
            taken += 1;
        }
    }
    reply.finish_array(list, taken);
    claim.stream.save_consumer(txn, &claim.group, &claim.consumer)?;
    Ok(())
}

fn claim_options(mut args: &[&[u8]], now_ms: u64) -> Result<ClaimOptions> {
    let mut options = ClaimOptions::default();
    while let [option, rest @ ..] = args {
        args = rest;
        if is_option(option, "FORCE") {
            options.forces = true;
            continue;
        }
        if is_option(option, "JUSTID") {
            options.only_ids = true;
            continue;
        }
        let Some((value, after)) = rest.split_first() else { return Err(unrecognized(option)) };
        if is_option(option, "IDLE") {
            let idle_ms = number(value, "ERR Invalid IDLE option argument for XCLAIM")?;
            options.idle_since_ms = Some(now_ms.cast_signed().wrapping_sub(idle_ms));
        } else if is_option(option, "TIME") {
            options.idle_since_ms = Some(number(value, "ERR Invalid TIME option argument for XCLAIM")?);
        } else if is_option(option, "RETRYCOUNT") {
            options.deliveries = Some(number(value, "ERR Invalid RETRYCOUNT option argument for XCLAIM")?);
        } else if is_option(option, "LASTID") {
            options.last_id = ids::id(value, 0)?;
        } else {
            return Err(unrecognized(option));
        }
        args = after;
    }
    Ok(options)
}

fn unrecognized(option: &[u8]) -> CommandError {
    CommandError::owned(format!("ERR Unrecognized XCLAIM option '{}'", quoted(option, usize::MAX)))
}

fn number(argument: &[u8], error: &'static str) -> Result<i64> {
    parse_i64(argument).ok_or(CommandError::text(error))
}

/// A negative time is none.
fn least_idle_ms(argument: &[u8], error: &'static str) -> Result<u64> {
    Ok(u64::try_from(number(argument, error)?).unwrap_or(0))
}

/// The consumer of this name, made if there is none, heard of just now. The caller saves it.
pub(super) fn seen_consumer(
    context: &mut Context<'_, '_>,
    (key, stream): (&[u8], &mut Stream<'_>),
    group: &Group,
    name: &[u8],
) -> Result<Consumer> {
    let mut consumer = match stream.consumer(context.txn, group, name)? {
        Some(consumer) => consumer,
        None => {
            let made = stream.create_consumer(context.txn, group, name)?;
            context.notify(notify::STREAM, CONSUMER_MADE, key);
            made
        }
    };
    consumer.seen_ms = context.now_ms();
    Ok(consumer)
}

/// `XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]`
pub(super) fn xautoclaim(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, name, consumer, least_idle, start, rest @ ..] = args else {
        return Err(CommandError::SYNTAX);
    };
    let (db, mut options) = (context.db(), rest);
    // Read before it is known what is asked of it; its type is looked at behind that.
    context.txn.root(db, key)?;
    context.note_reads(&[key], true);
    let least_idle_ms = least_idle_ms(least_idle, "ERR Invalid min-idle-time argument for XAUTOCLAIM")?;
    let first = ids::range_start(start)?;
    let (mut count, mut only_ids) = (AUTOCLAIM_COUNT, false);
    while let [option, rest @ ..] = options {
        options = rest;
        match rest.split_first() {
            Some((value, after)) if is_option(option, "COUNT") => {
                count = integer_in(value, 1..=CLAIM_COUNT_MAX, COUNT_NOT_POSITIVE)?;
                options = after;
            }
            _ if is_option(option, "JUSTID") => only_ids = true,
            _ => return Err(CommandError::SYNTAX),
        }
    }
    let (mut stream, group) =
        stream_and_group(context, key, name)?.ok_or_else(|| no_such_group(key, name))?;
    let now_ms = context.now_ms();
    let consumer = seen_consumer(context, (key, &mut stream), &group, consumer)?;
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let mut claim = Claim {
        stream,
        group,
        consumer,
        now_ms,
        least_idle_ms,
        delivered_ms: now_ms,
        deliveries: None,
        only_ids,
    };
    let mut taken = reply.beside();
    let scan = claim.from(txn, &mut taken, first, count.unsigned_abs())?;
    reply.array(3);
    reply_id(reply, scan.next);
    reply.array(scan.taken);
    reply.append(&taken);
    reply.array(scan.deleted.len());
    scan.deleted.iter().for_each(|id| reply_id(reply, *id));
    claim.stream.save_consumer(txn, &claim.group, &claim.consumer)?;
    Ok(())
}

/// What a call of XAUTOCLAIM came to.
#[derive(Default)]
struct Scan {
    /// Where the next call begins; 0-0 at the end.
    next: StreamId,
    /// How many entries were claimed.
    taken: usize,
    /// What was pending and is no longer there.
    deleted: Vec<StreamId>,
}

impl Claim<'_> {
    /// Claims up to `count` pending entries from `first` on, and looks at ten times as many at most.
    fn from(
        &mut self,
        txn: &mut Txn<'_>,
        reply: &mut Reply,
        first: StreamId,
        mut count: u64,
    ) -> Result<Scan> {
        let mut scan = Scan::default();
        let mut looks = count.saturating_mul(CLAIM_LOOKS_FOR_EACH);
        let mut from = Some(first);
        while let Some(id) = from {
            // One more than may be looked at says where to go on.
            let most = usize::try_from(looks.min(count).saturating_add(1)).unwrap_or(usize::MAX);
            let page = self.stream.pending_page(txn, &self.group, None, (id, StreamId::MAX), most)?;
            for pending in &page {
                if looks == 0 || count == 0 {
                    scan.next = pending.id;
                    return Ok(scan);
                }
                looks -= 1;
                if !self.stream.contains(txn, pending.id)? {
                    self.stream.acknowledge(txn, &self.group, pending.id)?;
                    scan.deleted.push(pending.id);
                    count -= 1;
                } else if self.may_take(pending) {
                    self.take(txn, reply, pending.id, Some(pending))?;
                    scan.taken += 1;
                    count -= 1;
                }
            }
            from = page.last().and_then(|last| last.id.next());
        }
        Ok(scan)
    }
}

//! XADD.

use super::ids::{self, NewId};
use super::node_limits;
use super::trim::TrimOptions;
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Stream, StreamId};
use crate::limits::STREAM_NODE_MAX_BYTES;
use crate::server::hub::notify;

const ARITY: CommandError = CommandError::text("ERR wrong number of arguments for 'xadd' command");
const NOT_ABOVE_ZERO: CommandError =
    CommandError::text("ERR The ID specified in XADD must be greater than 0-0");
const NOT_ABOVE_LAST: CommandError =
    CommandError::text("ERR The ID specified in XADD is equal or smaller than the target stream top item");
const EXHAUSTED: CommandError =
    CommandError::text("ERR The stream has exhausted the last possible ID, unable to add more items");
const TOO_LARGE: CommandError = CommandError::text("ERR Elements are too large to be stored");

/// `XADD key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]`
pub(super) fn xadd(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, rest @ ..] = args else { return Err(ARITY) };
    let (mut options, mut must_exist, mut rest) = (TrimOptions::default(), false, rest);
    let new_id = loop {
        let [word, after @ ..] = rest else { return Err(ARITY) };
        if *word == b"*" {
            rest = after;
            break NewId::Clock;
        }
        if options.take(&mut rest)? {
            continue;
        }
        rest = after;
        if is_option(word, "NOMKSTREAM") {
            must_exist = true;
        } else {
            break ids::new_id(word, 0)?;
        }
    };
    let trim = options.finish(context.shared)?;
    if rest.is_empty() || !rest.len().is_multiple_of(2) {
        return Err(ARITY);
    }
    if new_id == NewId::Given(StreamId::MIN) {
        return Err(NOT_ABOVE_ZERO);
    }
    let db = context.db();
    let found = Stream::open(context.txn, db, key)?;
    if found.is_none() && must_exist {
        context.reply.null();
        return Ok(());
    }
    let last_id = found.as_ref().map_or(StreamId::MIN, Stream::last_id);
    let id = choose(new_id, last_id, context.now_ms())?;
    if rest.iter().map(|text| text.len() as u64).sum::<u64>() > STREAM_NODE_MAX_BYTES {
        return Err(TOO_LARGE);
    }
    let mut stream = match found {
        Some(stream) => stream,
        None => Stream::create(context.txn, db, key)?,
    };
    stream.append(context.txn, id, rest, node_limits(context.shared))?;
    context.notify(notify::STREAM, "xadd", key);
    if let Some(trim) = &trim
        && stream.trim(context.txn, trim)? > 0
    {
        context.notify(notify::STREAM, "xtrim", key);
    }
    super::reply_id(context.reply, id);
    Ok(())
}

/// The id of the new entry of a stream whose last id is known.
fn choose(new_id: NewId, last_id: StreamId, now_ms: u64) -> Result<StreamId, CommandError> {
    let after_last = last_id.next().ok_or(EXHAUSTED)?;
    let id = match new_id {
        NewId::Given(id) => id,
        NewId::NextOf(ms) if ms == last_id.ms => {
            StreamId { ms, seq: last_id.seq.checked_add(1).ok_or(NOT_ABOVE_LAST)? }
        }
        NewId::NextOf(ms) => StreamId { ms, seq: 0 },
        // The clock may have been set back: ids never go back.
        NewId::Clock if now_ms > last_id.ms => StreamId { ms: now_ms, seq: 0 },
        NewId::Clock => after_last,
    };
    if id > last_id { Ok(id) } else { Err(NOT_ABOVE_LAST) }
}

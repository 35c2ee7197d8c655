//! BITOP: strings combined bit by bit, in pieces, so that what is held in memory does not grow with the strings.

use super::as_integer;
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome};
use crate::data::string::{self, NewValue};
use crate::limits::VALUE_PIECE_BYTES;
use crate::server::hub::notify;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
    Not,
}

/// `BITOP <AND | OR | XOR | NOT> destkey key [key ...]`: shorter strings and missing keys count as zeros.
pub(super) fn bitop(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let operation = match args[1] {
        word if is_option(word, "AND") => Operation::And,
        word if is_option(word, "OR") => Operation::Or,
        word if is_option(word, "XOR") => Operation::Xor,
        word if is_option(word, "NOT") => Operation::Not,
        _ => return Err(CommandError::SYNTAX),
    };
    let (db, destination, sources) = (ctx.db(), args[2], &args[3..]);
    if operation == Operation::Not && sources.len() != 1 {
        return Err(CommandError::text("ERR BITOP NOT must be called with a single source key."));
    }
    let len = longest(ctx, sources);
    ctx.note_reads(sources, len.is_ok());
    let len = len?;
    ctx.expect_bytes(len.saturating_mul(sources.len() as u64))?;
    if len == 0 {
        if ctx.txn.remove(db, destination)? {
            ctx.notify(notify::GENERIC, "del", destination);
        }
        ctx.reply.integer(0);
        return Ok(());
    }
    // The result replaces the destination only when it is complete: the destination may be a source.
    let mut draft = if len >= ctx.txn.blob_min() { Some(ctx.txn.draft()?) } else { None };
    let mut whole = Vec::new();
    if draft.is_none() {
        // Once here, and once among what the transaction changes.
        ctx.txn.budget().ask(2, len)?;
        whole.reserve_exact(len as usize);
    }
    let (mut result, mut piece) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < len {
        if ctx.client.inbox.must_close() {
            return Err(CommandError::text("ERR the connection has ended"));
        }
        let end = len.min(at + VALUE_PIECE_BYTES);
        combine(ctx, operation, sources, at..end, (&mut result, &mut piece))?;
        match &mut draft {
            Some(draft) => draft.append(&result)?,
            None => whole.extend_from_slice(&result),
        }
        at = end;
    }
    let value = draft.map_or(NewValue::Bytes(&whole), |draft| NewValue::Draft(draft.into()));
    string::put(ctx.txn, db, destination, value, string::GROWN, None)?;
    ctx.notify(notify::STRING, "set", destination);
    ctx.reply.integer(as_integer(len));
    Ok(())
}

/// The length of the longest string.
fn longest(ctx: &mut Context<'_, '_>, keys: &[&[u8]]) -> Result<u64, CommandError> {
    let db = ctx.db();
    keys.iter().try_fold(0, |longest: u64, key| {
        Ok(longest.max(string::root(ctx.txn, db, key)?.map_or(0, |root| root.value_len)))
    })
}

/// Leaves a part of the result in the first buffer.
fn combine(
    ctx: &mut Context<'_, '_>,
    operation: Operation,
    sources: &[&[u8]],
    range: std::ops::Range<u64>,
    (result, piece): (&mut Vec<u8>, &mut Vec<u8>),
) -> Outcome {
    let db = ctx.db();
    // At most the size of a piece.
    let len = (range.end - range.start) as usize;
    for (number, key) in sources.iter().enumerate() {
        let buffer = if number == 0 { &mut *result } else { &mut *piece };
        string::read_into(ctx.txn, db, key, range.clone(), buffer)?;
        buffer.resize(len, 0);
        if number == 0 {
            continue;
        }
        let pairs = result.iter_mut().zip(piece.iter());
        match operation {
            Operation::And => pairs.for_each(|(to, from)| *to &= from),
            Operation::Or => pairs.for_each(|(to, from)| *to |= from),
            Operation::Xor => pairs.for_each(|(to, from)| *to ^= from),
            Operation::Not => {}
        }
    }
    if operation == Operation::Not {
        result.iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

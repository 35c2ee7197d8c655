//! Parts of a hash that the client does not name: HSCAN and HRANDFIELD.

use crate::command::args::{integer_between, is_option};
use crate::command::scan::{self, SubScan};
use crate::command::{CommandError, Context, Outcome, random};
use crate::data::hash;
use crate::engine::Want;
use crate::resp::{Protocol, Reply};

/// `HSCAN key cursor [MATCH pattern] [COUNT count]`
pub(super) fn hscan(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key) = (context.db(), args[1]);
    let cursor = scan::cursor(args[2])?;
    let Some(root) = hash::root(context.txn, db, key)? else {
        scan::reply_nothing(context.reply);
        return Ok(());
    };
    let options = scan::options(args.get(3..).unwrap_or_default(), false)?;
    let ranks = 0..context.txn.sub_len(db, key)?;
    let is_small = hash::is_listpack(&root);
    let walk = SubScan { key, cursor, options, ranks, is_small, want: Want::Values };
    walk.reply(context, 2, |field| field, &mut |reply: &mut Reply, field, value| {
        reply.bulk(field);
        reply.bulk(value);
    })
}

/// `HRANDFIELD key [count [WITHVALUES]]`
pub(super) fn hrandfield(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let Some(count) = args.get(2) else { return one_field(context, args[1]) };
    let count = integer_between(count, -i64::MAX, i64::MAX)?;
    let with_values = match args.get(3..).unwrap_or_default() {
        [] => false,
        [option] if is_option(option, "WITHVALUES") => true,
        _ => return Err(CommandError::SYNTAX),
    };
    if with_values && count.unsigned_abs() > i64::MAX as u64 / 2 {
        return Err(CommandError::OUT_OF_RANGE);
    }
    let (db, key) = (context.db(), args[1]);
    hash::root(context.txn, db, key)?;
    let len = context.txn.sub_len(db, key)?;
    let ranks = random::ranks(&mut context.client.random, count, len)?;
    let reply = &mut *context.reply;
    let is_nested = with_values && reply.protocol() == Protocol::Resp3;
    let width = if with_values && !is_nested { 2 } else { 1 };
    reply.array(ranks.len() * width);
    context.txn.announce_ranks(db, key, &ranks)?;
    for rank in ranks {
        let field = context.txn.sub_select(db, key, rank)?.unwrap_or_default();
        if is_nested {
            reply.array(2);
        }
        reply.bulk(&field);
        if with_values {
            context.txn.sub_read(db, key, &field, &mut |value| reply.bulk(value))?;
        }
    }
    Ok(())
}

fn one_field(context: &mut Context<'_, '_>, key: &[u8]) -> Outcome {
    let db = context.db();
    hash::root(context.txn, db, key)?;
    let len = context.txn.sub_len(db, key)?;
    let rank = random::ranks(&mut context.client.random, 1, len)?;
    match rank.first() {
        Some(rank) => context.reply.bulk(&context.txn.sub_select(db, key, *rank)?.unwrap_or_default()),
        None => context.reply.null(),
    }
    Ok(())
}

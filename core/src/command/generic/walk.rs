//! Walks over the keyspace: KEYS, SCAN, RANDOMKEY.

use crate::command::{Context, Outcome, scan};
use crate::glob::Glob;

/// `KEYS pattern`
pub(super) fn keys(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let glob = Glob::new(args[1]);
    let db = context.db();
    let keys = context.txn.key_count(db)?;
    context.expect_work(keys)?;
    let (txn, reply) = (&mut *context.txn, &mut *context.reply);
    let list = reply.defer();
    let (mut cursor, mut found) = (0, 0);
    loop {
        cursor = txn.scan_keys(db, cursor, &mut |key, _| {
            if glob.is_star() || glob.matches(key) {
                reply.bulk(key);
                found += 1;
            }
        })?;
        if cursor == 0 {
            break;
        }
    }
    reply.finish_array(list, found);
    Ok(())
}

/// `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`
pub(super) fn scan(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let cursor = scan::cursor(args[1])?;
    let options = scan::options(args.get(2..).unwrap_or_default(), true)?;
    scan::reply_keys(context, cursor, &options)
}

/// `RANDOMKEY`
pub(super) fn randomkey(context: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    let (db, random) = (context.db(), context.client.random.u64(..));
    match context.txn.random_key(db, random)? {
        Some(key) => context.reply.bulk(&key),
        None => context.reply.null(),
    }
    Ok(())
}

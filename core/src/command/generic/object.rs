//! OBJECT: what lies behind a key. Asking does not count as a use.

use super::untouched;
use crate::catalog;
use crate::command::args::is_option;
use crate::command::help::reply_help;
use crate::command::{CommandError, Context, Outcome};
use crate::data;
use crate::engine::Kind;
use crate::resp;

/// What Redis says of integers that all keys share: `OBJ_SHARED_REFCOUNT`.
const SHARED_REFERENCES: i64 = i32::MAX as i64;

/// Keys have either times or counters of their use.
const NO_TIMES: &str = "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching \
                        between policies at runtime LRU and LFU data will take some time to adjust.";
const NO_COUNTERS: &str = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that \
                           when switching between policies at runtime LRU and LFU data will take some time to adjust.";

/// Redis shares the integers below this.
const SHARED_INTEGERS: i64 = 10_000;

/// `OBJECT ENCODING | FREQ | IDLETIME | REFCOUNT key`, `OBJECT HELP`
pub(super) fn object(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args.get(2) {
        Some(key) => untouched(context, |context| about_key(context, args[1], key)),
        None => catalog::lookup("object".as_bytes()).map_or(Ok(()), |spec| reply_help(context.reply, spec)),
    }
}

fn about_key(context: &mut Context<'_, '_>, subcommand: &[u8], key: &[u8]) -> Outcome {
    let db = context.db();
    let Some(root) = context.txn.root(db, key)? else {
        context.reply.null();
        return Ok(());
    };
    if is_option(subcommand, "ENCODING") {
        let list_fill = context.shared.settings.number("list-max-listpack-size");
        let name = data::encoding_name(context.txn, db, key, &root, list_fill)?;
        context.reply.bulk(name.as_bytes());
    } else if is_option(subcommand, "IDLETIME") {
        if context.shared.settings.memory().counts_uses() {
            return Err(CommandError::text(NO_TIMES));
        }
        context.reply.integer(i64::from(root.idle_s(context.now_ms())));
    } else if is_option(subcommand, "REFCOUNT") {
        let is_shared = root.kind == Kind::String
            && data::string::encoding_name(context.txn, db, key, &root)? == "int"
            && context.txn.value(db, key)?.and_then(|value| resp::parse_i64(&value)).is_some_and(is_shared);
        context.reply.integer(if is_shared { SHARED_REFERENCES } else { 1 });
    } else {
        let settings = context.shared.settings.memory();
        if !settings.counts_uses() {
            return Err(CommandError::text(NO_COUNTERS));
        }
        context.reply.integer(i64::from(settings.decay(context.txn.now_ms()).counter(root.access)));
    }
    Ok(())
}

fn is_shared(number: i64) -> bool {
    (0..SHARED_INTEGERS).contains(&number)
}

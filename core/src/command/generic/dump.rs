//! DUMP and RESTORE: values as bytes that Redis understands.

use crate::command::args::{integer, is_option};
use crate::command::string::write_part;
use crate::command::{CommandError, Context, Outcome, hash, list, set, sorted_set};
use crate::data::rdb::{self, Limits, Unreadable};
use crate::engine::{ACCESS_CLOCK_MASK, Root, access_clock};
use crate::limits::STORED_REPLY_MIN_BYTES;
use crate::memory_budget::BudgetExceeded;
use crate::server::Shared;
use crate::server::hub::notify;

/// `DUMP key`
pub(super) fn dump(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key) = (context.db(), args[1]);
    let Some(root) = context.txn.root(db, key)? else {
        context.reply.null();
        return Ok(());
    };
    if root.blob.is_some() && root.value_len >= STORED_REPLY_MIN_BYTES {
        return dump_blob(context, key, &root);
    }
    let payload = rdb::dump(context.txn, db, key, &root, context.reply.bytes_left())?;
    context.reply.bulk(&payload);
    Ok(())
}

/// As GET does, without holding the value.
fn dump_blob(context: &mut Context<'_, '_>, key: &[u8], root: &Root) -> Outcome {
    let db = context.db();
    let frame = rdb::frame_of_blob(context.txn, db, key, root)?;
    context.reply.bulk_start(root.value_len + (frame.head.len() + frame.foot.len()) as u64);
    context.reply.raw(&frame.head);
    write_part(context, key, (0, root.value_len))?;
    context.reply.raw(&frame.foot);
    context.reply.bulk_end();
    Ok(())
}

/// `RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]`
pub(super) fn restore(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, ttl, payload, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    let options = Options::parse(options)?;
    let db = context.db();
    if !options.replaces && context.txn.root(db, key)?.is_some() {
        return Err(CommandError::text("BUSYKEY Target key name already exists."));
    }
    let error = CommandError::text("ERR Invalid TTL value, must be >= 0");
    let ttl_ms = u64::try_from(integer(ttl)?).map_err(|_| error)?;
    let body =
        rdb::open(payload).ok_or(CommandError::text("ERR DUMP payload version or checksum are wrong"))?;
    let value = rdb::load(body, context.txn.budget()).map_err(|error| match error {
        Unreadable::BadFormat => CommandError::text("ERR Bad data format"),
        Unreadable::BudgetExceeded => BudgetExceeded.into(),
    })?;
    let expires_at_ms = match ttl_ms {
        0 => None,
        // Where Redis' sum overflows the time is long over.
        _ if options.is_absolute => Some(ttl_ms),
        _ => Some(context.now_ms().checked_add(ttl_ms).filter(|at| i64::try_from(*at).is_ok()).unwrap_or(0)),
    };
    if expires_at_ms.is_some_and(|at| at <= context.now_ms()) {
        if context.txn.remove(db, key)? {
            context.notify(notify::GENERIC, "del", key);
        }
    } else {
        let limits = limits(context.shared);
        rdb::store(context.txn, db, key, &value, expires_at_ms, &limits)?;
        if let Some(access) = access(context, &options) {
            context.txn.set_access(db, key, access)?;
        }
        context.notify(notify::GENERIC, "restore", key);
    }
    context.reply.ok();
    Ok(())
}

/// The bits of use that the options ask for, if they are about that by which `maxmemory-policy` evicts.
fn access(context: &Context<'_, '_>, options: &Options) -> Option<u32> {
    let (now_ms, memory) = (context.now_ms(), context.shared.settings.memory());
    if memory.counts_uses() {
        let fresh = memory.touch(now_ms, || 0).fresh();
        return Some(options.frequency.map_or(fresh, |frequency| memory.decay(now_ms).bits(frequency)));
    }
    options.idle_s.map(|idle_s| clock_before(access_clock(now_ms), idle_s))
}

/// What the clock showed so many seconds before `clock_s`. As in Redis, before its zero it is halfway round.
fn clock_before(clock_s: u32, idle_s: u64) -> u32 {
    let before_s = u64::from(clock_s).checked_sub(idle_s).and_then(|time| u32::try_from(time).ok());
    before_s.unwrap_or((clock_s + ACCESS_CLOCK_MASK / 2) % ACCESS_CLOCK_MASK)
}

/// RESTORE's options.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    replaces: bool,
    is_absolute: bool,
    idle_s: Option<u64>,
    frequency: Option<u8>,
}

impl Options {
    fn parse(mut args: &[&[u8]]) -> Result<Options, CommandError> {
        let mut options = Options::default();
        while let [option, rest @ ..] = args {
            args = rest;
            if is_option(option, "REPLACE") {
                options.replaces = true;
            } else if is_option(option, "ABSTTL") {
                options.is_absolute = true;
            } else if is_option(option, "IDLETIME")
                && options.frequency.is_none()
                && let [seconds, rest @ ..] = rest
            {
                let error = CommandError::text("ERR Invalid IDLETIME value, must be >= 0");
                options.idle_s = Some(u64::try_from(integer(seconds)?).map_err(|_| error)?);
                args = rest;
            } else if is_option(option, "FREQ")
                && options.idle_s.is_none()
                && let [frequency, rest @ ..] = rest
            {
                let error = CommandError::text("ERR Invalid FREQ value, must be >= 0 and <= 255");
                let frequency = u8::try_from(integer(frequency)?).map_err(|_| error)?;
                (options.frequency, args) = (Some(frequency), rest);
            } else {
                return Err(CommandError::SYNTAX);
            }
        }
        Ok(options)
    }
}

fn limits(shared: &Shared) -> Limits {
    Limits {
        hash: hash::listpack_limits(shared),
        set: set::limits(shared),
        sorted_set: sorted_set::listpack_limits(shared),
        list_fill: list::fill(shared),
    }
}

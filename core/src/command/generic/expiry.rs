//! When keys expire: EXPIRE and its family, TTL and its family, PERSIST.
//!
//! A time is Unix time in milliseconds throughout. One that is over already deletes the key at once.

use super::untouched;
use crate::command::args::{integer, is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::server::hub::notify;

const MS_PER_SECOND: i64 = 1000;

/// `EXPIRE key seconds [NX | XX | GT | LT]`
pub(super) fn expire(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let now_ms = now_ms(context);
    set_expiry(context, args, "expire", now_ms, MS_PER_SECOND)
}

/// `EXPIREAT key unix-time-seconds [NX | XX | GT | LT]`
pub(super) fn expireat(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    set_expiry(context, args, "expireat", 0, MS_PER_SECOND)
}

/// `PEXPIRE key milliseconds [NX | XX | GT | LT]`
pub(super) fn pexpire(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let now_ms = now_ms(context);
    set_expiry(context, args, "pexpire", now_ms, 1)
}

/// `PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT]`
pub(super) fn pexpireat(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    set_expiry(context, args, "pexpireat", 0, 1)
}

/// `TTL key`: seconds, rounded; -1 without an expiry, -2 without a key.
pub(super) fn ttl(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let now_ms = now_ms(context);
    reply_expiry(context, args[1], now_ms, MS_PER_SECOND)
}

/// `PTTL key`
pub(super) fn pttl(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let now_ms = now_ms(context);
    reply_expiry(context, args[1], now_ms, 1)
}

/// `EXPIRETIME key`
pub(super) fn expiretime(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply_expiry(context, args[1], 0, MS_PER_SECOND)
}

/// `PEXPIRETIME key`
pub(super) fn pexpiretime(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply_expiry(context, args[1], 0, 1)
}

/// `PERSIST key`
pub(super) fn persist(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    let root = context.txn.root(db, args[1])?;
    let had_expiry = root.is_some_and(|root| root.expires_at_ms.is_some());
    if had_expiry {
        context.txn.set_expiry(db, args[1], None)?;
        context.notify(notify::GENERIC, "persist", args[1]);
    }
    context.reply.integer(i64::from(had_expiry));
    Ok(())
}

/// The clock as the signed number in which Redis calculates with times.
fn now_ms(context: &Context<'_, '_>) -> i64 {
    i64::try_from(context.now_ms()).unwrap_or(i64::MAX)
}

/// On which expiry a key must have for a new one to be set.
#[derive(Clone, Copy, Default)]
struct Conditions {
    none: bool,
    some: bool,
    earlier: bool,
    later: bool,
}

impl Conditions {
    fn parse(options: &[&[u8]]) -> Result<Conditions, CommandError> {
        let mut wanted = Conditions::default();
        for option in options {
            let flag = match () {
                () if is_option(option, "NX") => &mut wanted.none,
                () if is_option(option, "XX") => &mut wanted.some,
                () if is_option(option, "GT") => &mut wanted.earlier,
                () if is_option(option, "LT") => &mut wanted.later,
                () => {
                    let shown = quoted(option, usize::MAX);
                    return Err(CommandError::owned(format!("ERR Unsupported option {shown}")));
                }
            };
            *flag = true;
        }
        if wanted.none && (wanted.some || wanted.earlier || wanted.later) {
            return Err(CommandError::text(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        if wanted.earlier && wanted.later {
            return Err(CommandError::text("ERR GT and LT options at the same time are not compatible"));
        }
        Ok(wanted)
    }

    /// Whether a key with this expiry gets the new one. No expiry counts as one that never comes.
    fn allow(self, current_ms: Option<i64>, new_ms: i64) -> bool {
        let is_earlier = current_ms.is_some_and(|current| current < new_ms);
        let is_later = current_ms.is_none_or(|current| current > new_ms);
        !(self.none && current_ms.is_some()
            || self.some && current_ms.is_none()
            || self.earlier && !is_earlier
            || self.later && !is_later)
    }
}

fn set_expiry(
    context: &mut Context<'_, '_>,
    args: &[&[u8]],
    name: &'static str,
    base_ms: i64,
    unit_ms: i64,
) -> Outcome {
    let conditions = Conditions::parse(args.get(3..).unwrap_or_default())?;
    let at_ms = integer(args[2])?.checked_mul(unit_ms).and_then(|time| time.checked_add(base_ms));
    let at_ms =
        at_ms.ok_or_else(|| CommandError::owned(format!("ERR invalid expire time in '{name}' command")))?;
    let (db, key) = (context.db(), args[1]);
    let Some(root) = context.txn.root(db, key)? else {
        context.reply.integer(0);
        return Ok(());
    };
    let current_ms = root.expires_at_ms.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
    let is_allowed = conditions.allow(current_ms, at_ms);
    if is_allowed {
        match u64::try_from(at_ms).ok().filter(|at| *at > context.now_ms()) {
            Some(at) => {
                context.txn.set_expiry(db, key, Some(at))?;
                context.notify(notify::GENERIC, "expire", key);
            }
            None => {
                context.txn.remove(db, key)?;
                context.notify(notify::GENERIC, "del", key);
            }
        }
    }
    context.reply.integer(i64::from(is_allowed));
    Ok(())
}

/// Replies with the time from `base_ms` to a key's expiry, rounded to the unit.
fn reply_expiry(context: &mut Context<'_, '_>, key: &[u8], base_ms: i64, unit_ms: i64) -> Outcome {
    let db = context.db();
    let root = untouched(context, |context| context.txn.root(db, key))?;
    context.reply.integer(match root.map(|root| root.expires_at_ms) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => {
            let left_ms = i64::try_from(at).unwrap_or(i64::MAX).saturating_sub(base_ms).max(0);
            // The largest time of all must round as well.
            ((left_ms.cast_unsigned() + unit_ms.cast_unsigned() / 2) / unit_ms.cast_unsigned()) as i64
        }
    });
    Ok(())
}

//! Writes of fields: HSET and its like, HDEL, and numbers in fields.

use crate::command::args::integer;
use crate::command::{CommandError, Context, Outcome};
use crate::data::hash::{self, ListpackLimits};
use crate::data::long_double::LongDouble;
use crate::resp;
use crate::server::Shared;
use crate::server::hub::notify;

/// `HSET key field value [field value ...]`
pub(super) fn hset(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let added = set_pairs(context, args, "hset")?;
    context.reply.integer(added as i64);
    Ok(())
}

/// `HMSET key field value [field value ...]`
pub(super) fn hmset(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    set_pairs(context, args, "hmset")?;
    context.reply.ok();
    Ok(())
}

fn set_pairs(context: &mut Context<'_, '_>, args: &[&[u8]], name: &str) -> Result<u64, CommandError> {
    let pairs = args.get(2..).unwrap_or_default();
    if pairs.len() % 2 == 1 {
        let text = format!("ERR wrong number of arguments for '{name}' command");
        return Err(CommandError::owned(text));
    }
    let (db, key) = (context.db(), args[1]);
    let root = hash::root(context.txn, db, key)?;
    let limits = || listpack_limits(context.shared);
    let added = hash::set(context.txn, (db, key), root.as_ref(), pairs, limits)?;
    context.notify(notify::HASH, "hset", key);
    Ok(added)
}

/// `HSETNX key field value`
pub(super) fn hsetnx(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key) = (context.db(), args[1]);
    let root = hash::root(context.txn, db, key)?;
    let is_new = !context.txn.sub_contains(db, key, args[2])?;
    if is_new {
        let limits = || listpack_limits(context.shared);
        hash::set(context.txn, (db, key), root.as_ref(), &[args[2], args[3]], limits)?;
        context.notify(notify::HASH, "hset", key);
    }
    context.reply.integer(i64::from(is_new));
    Ok(())
}

/// `HDEL key field [field ...]`
pub(super) fn hdel(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key) = (context.db(), args[1]);
    let removed = match hash::root(context.txn, db, key)? {
        Some(_) => hash::remove(context.txn, db, key, args.get(2..).unwrap_or_default())?,
        None => 0,
    };
    if removed > 0 {
        context.notify_taken(notify::HASH, "hdel", key);
    }
    context.reply.integer(removed as i64);
    Ok(())
}

/// `HINCRBY key field increment`
pub(super) fn hincrby(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key, field) = (context.db(), args[1], args[2]);
    let increment = integer(args[3])?;
    let root = hash::root(context.txn, db, key)?;
    let mut current = Some(0);
    context.txn.sub_read(db, key, field, &mut |value| current = resp::parse_i64(value))?;
    let current = current.ok_or(CommandError::text("ERR hash value is not an integer"))?;
    let sum = current
        .checked_add(increment)
        .ok_or(CommandError::text("ERR increment or decrement would overflow"))?;
    let limits = || listpack_limits(context.shared);
    let mut digits = itoa::Buffer::new();
    let pair = [field, digits.format(sum).as_bytes()];
    hash::set(context.txn, (db, key), root.as_ref(), &pair, limits)?;
    context.notify(notify::HASH, "hincrby", key);
    context.reply.integer(sum);
    Ok(())
}

/// `HINCRBYFLOAT key field increment`
pub(super) fn hincrbyfloat(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key, field) = (context.db(), args[1], args[2]);
    let increment = LongDouble::parse(args[3]).ok_or(CommandError::NOT_FLOAT)?;
    if increment == LongDouble::Infinite {
        return Err(CommandError::text("ERR value is NaN or Infinity"));
    }
    let root = hash::root(context.txn, db, key)?;
    let mut current = LongDouble::parse(b"0");
    context.txn.sub_read(db, key, field, &mut |value| current = LongDouble::parse(value))?;
    let current = current.ok_or(CommandError::text("ERR hash value is not a float"))?;
    let sum = current
        .add(increment)
        .ok_or(CommandError::text("ERR increment would produce NaN or Infinity"))?
        .to_string();
    let limits = || listpack_limits(context.shared);
    hash::set(context.txn, (db, key), root.as_ref(), &[field, sum.as_bytes()], limits)?;
    context.notify(notify::HASH, "hincrbyfloat", key);
    context.reply.bulk(sum.as_bytes());
    Ok(())
}

/// Up to where hashes stay listpacks.
pub(in crate::command) fn listpack_limits(shared: &Shared) -> ListpackLimits {
    let number = |name| u64::try_from(shared.settings.number(name)).unwrap_or(0);
    ListpackLimits {
        entries: number("hash-max-listpack-entries"),
        value_bytes: number("hash-max-listpack-value"),
    }
}

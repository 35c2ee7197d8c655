//! Strings as a whole: GET, SET, and their older relatives.

use super::reply_value;
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome, args};
use crate::data::string;
use crate::server::hub::notify;

type Result<T> = std::result::Result<T, CommandError>;

pub(super) fn get(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply_value(ctx, args[1])?;
    Ok(())
}

pub(super) fn getdel(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let root = reply_value(ctx, args[1])?;
    ctx.note_reads(&[args[1]], true);
    if root.is_some() {
        ctx.txn.remove(ctx.client.db, args[1])?;
        ctx.notify(notify::GENERIC, "del", args[1]);
    }
    Ok(())
}

pub(super) fn getset(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply_value(ctx, args[1])?;
    ctx.note_reads(&[args[1]], true);
    let value = ctx.value(args, 2);
    string::set(ctx.txn, ctx.client.db, args[1], value, None)?;
    ctx.notify(notify::STRING, "set", args[1]);
    Ok(())
}

pub(super) fn getex(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let options = Options::parse(&args[2..], Allowed::Getex)?;
    let db = ctx.db();
    let root = string::root(ctx.txn, db, args[1])?;
    ctx.note_reads(&[args[1]], true);
    let deadline = match (&root, options.deadline) {
        (Some(_), Some(deadline)) => Some(deadline.at_ms(ctx.now_ms(), "getex")?),
        _ => None,
    };
    reply_value(ctx, args[1])?;
    let Some(root) = root else { return Ok(()) };
    if deadline.is_some_and(|at| at <= ctx.now_ms()) {
        ctx.txn.remove(db, args[1])?;
        ctx.notify(notify::GENERIC, "del", args[1]);
    } else if deadline.is_some() || (options.persist && root.expires_at_ms.is_some()) {
        ctx.txn.set_expiry(db, args[1], deadline)?;
        let event = if deadline.is_some() { "expire" } else { "persist" };
        ctx.notify(notify::GENERIC, event, args[1]);
    }
    Ok(())
}

pub(super) fn set(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key, value) = (ctx.db(), args[1], ctx.value(args, 2));
    if args.len() == 3 {
        string::set(ctx.txn, db, key, value, None)?;
        ctx.notify(notify::STRING, "set", key);
        ctx.reply.ok();
        return Ok(());
    }
    let options = Options::parse(&args[3..], Allowed::Set)?;
    let mut expires_at_ms = match options.deadline {
        Some(deadline) => Some(deadline.at_ms(ctx.now_ms(), "set")?),
        None => None,
    };
    let old = if options.get { reply_value(ctx, key)? } else { ctx.txn.root(db, key)? };
    if options.get {
        ctx.note_reads(&[key], true);
    }
    let wanted = match options.condition {
        Condition::None => true,
        Condition::Missing => old.is_none(),
        Condition::There => old.is_some(),
    };
    if wanted {
        if options.keep {
            expires_at_ms = old.and_then(|root| root.expires_at_ms);
        }
        string::set(ctx.txn, db, key, value, expires_at_ms)?;
        // A string whose time is over is never stored, which listeners need not know.
        let is_over = expires_at_ms.is_some_and(|at| at <= ctx.now_ms());
        if is_over && old.is_none() {
            ctx.notify(notify::NEW, "new", key);
        }
        ctx.notify(notify::STRING, "set", key);
        if options.deadline.is_some() {
            ctx.notify(notify::GENERIC, "expire", key);
        }
        if is_over {
            ctx.notify(notify::EXPIRED, "expired", key);
        }
    }
    match (options.get, wanted) {
        (true, _) => {}
        (false, true) => ctx.reply.ok(),
        (false, false) => ctx.reply.null(),
    }
    Ok(())
}

pub(super) fn setnx(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = ctx.db();
    let is_missing = ctx.txn.root(db, args[1])?.is_none();
    if is_missing {
        let value = ctx.value(args, 2);
        string::set(ctx.txn, db, args[1], value, None)?;
        ctx.notify(notify::STRING, "set", args[1]);
    }
    ctx.reply.integer(i64::from(is_missing));
    Ok(())
}

pub(super) fn setex(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    set_for(ctx, args, Unit::Seconds, "setex")
}

pub(super) fn psetex(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    set_for(ctx, args, Unit::Milliseconds, "psetex")
}

fn set_for(ctx: &mut Context<'_, '_>, args: &[&[u8]], unit: Unit, command: &str) -> Outcome {
    let deadline = Deadline { unit, absolute: false, number: args[2] };
    let expires_at_ms = Some(deadline.at_ms(ctx.now_ms(), command)?);
    let value = ctx.value(args, 3);
    string::set(ctx.txn, ctx.client.db, args[1], value, expires_at_ms)?;
    ctx.notify(notify::STRING, "set", args[1]);
    ctx.notify(notify::GENERIC, "expire", args[1]);
    ctx.reply.ok();
    Ok(())
}

/// When SET writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    None,
    Missing,
    There,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Seconds,
    Milliseconds,
}

/// A time to live, or the time of the end.
#[derive(Clone, Copy, Debug)]
struct Deadline<'a> {
    unit: Unit,
    absolute: bool,
    number: &'a [u8],
}

impl Deadline<'_> {
    /// Unix time in milliseconds. A time that is over is fine; zero, a negative number and overflow are not.
    fn at_ms(&self, now_ms: u64, command: &str) -> Result<u64> {
        let number = args::integer(self.number)?;
        let scale = if self.unit == Unit::Seconds { 1000 } else { 1 };
        let base = if self.absolute { 0 } else { i64::try_from(now_ms).unwrap_or(i64::MAX) };
        let sum = number.checked_mul(scale).and_then(|span| span.checked_add(base));
        match sum.and_then(|at| u64::try_from(at).ok()) {
            Some(at) if number > 0 => Ok(at),
            _ => Err(CommandError::owned(format!("ERR invalid expire time in '{command}' command"))),
        }
    }
}

/// Which command's options are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    Set,
    Getex,
}

/// The options behind SET's value or GETEX's key.
#[derive(Debug)]
struct Options<'a> {
    condition: Condition,
    get: bool,
    keep: bool,
    persist: bool,
    deadline: Option<Deadline<'a>>,
}

impl<'a> Options<'a> {
    /// An option may come twice unless the two contradict one another, as in Redis; a repeated deadline replaces the
    /// one before if it is of the same sort.
    fn parse(args: &[&'a [u8]], allowed: Allowed) -> Result<Options<'a>> {
        let mut options =
            Options { condition: Condition::None, get: false, keep: false, persist: false, deadline: None };
        let is_set = allowed == Allowed::Set;
        let mut rest = args.iter();
        while let Some(option) = rest.next() {
            if is_set && is_option(option, "NX") && options.condition != Condition::There {
                options.condition = Condition::Missing;
            } else if is_set && is_option(option, "XX") && options.condition != Condition::Missing {
                options.condition = Condition::There;
            } else if is_set && is_option(option, "GET") {
                options.get = true;
            } else if is_set && is_option(option, "KEEPTTL") && options.deadline.is_none() {
                options.keep = true;
            } else if !is_set && is_option(option, "PERSIST") && options.deadline.is_none() {
                options.persist = true;
            } else {
                let (unit, absolute) = deadline_sort(option).ok_or(CommandError::SYNTAX)?;
                let same_sort =
                    |deadline: &Deadline<'_>| (deadline.unit, deadline.absolute) == (unit, absolute);
                let fits =
                    !options.keep && !options.persist && options.deadline.as_ref().is_none_or(same_sort);
                let number = rest.next().filter(|_| fits).ok_or(CommandError::SYNTAX)?;
                options.deadline = Some(Deadline { unit, absolute, number });
            }
        }
        Ok(options)
    }
}

/// Unit, and whether it is a time rather than a span.
fn deadline_sort(option: &[u8]) -> Option<(Unit, bool)> {
    let sorts = [
        ("EX", Unit::Seconds, false),
        ("PX", Unit::Milliseconds, false),
        ("EXAT", Unit::Seconds, true),
        ("PXAT", Unit::Milliseconds, true),
    ];
    sorts.iter().find(|(name, ..)| is_option(option, name)).map(|(_, unit, absolute)| (*unit, *absolute))
}

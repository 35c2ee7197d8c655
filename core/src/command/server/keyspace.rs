//! Whole databases: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB.

use crate::command::args::is_option;
use crate::command::search;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::Db;
use crate::resp;

pub(super) fn dbsize(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    let db = ctx.db();
    let count = ctx.txn.key_count(db)?;
    ctx.reply.integer(i64::try_from(count).unwrap_or(i64::MAX));
    Ok(())
}

pub(super) fn flushdb(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    check_flush(args)?;
    let db = ctx.db();
    flush(ctx, db)?;
    ctx.reply.ok();
    Ok(())
}

pub(super) fn flushall(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    check_flush(args)?;
    for db in 0..ctx.shared.settings.databases() {
        flush(ctx, db)?;
    }
    ctx.reply.ok();
    Ok(())
}

/// ASYNC and SYNC mean the same here: emptying a database takes no time that would matter.
fn check_flush(args: &[&[u8]]) -> Outcome {
    match &args[1..] {
        [] => Ok(()),
        [option] if is_option(option, "ASYNC") || is_option(option, "SYNC") => Ok(()),
        _ => Err(CommandError::SYNTAX),
    }
}

/// Empties a database; one without keys and indexes costs the log nothing.
fn flush(ctx: &mut Context<'_, '_>, db: Db) -> Outcome {
    if ctx.txn.key_count(db)? > 0 || search::has_index(ctx, db) {
        ctx.txn.flush(db)?;
        search::follow_flush(ctx, db)?;
    }
    Ok(())
}

pub(super) fn swapdb(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let first = index(args[1], "ERR invalid first DB index")?;
    let second = index(args[2], "ERR invalid second DB index")?;
    let databases = ctx.shared.settings.databases();
    let db = |index: i32| {
        let db = u32::try_from(index).ok().filter(|db| *db < databases);
        db.ok_or(CommandError::text("ERR DB index is out of range"))
    };
    let (first, second) = (db(first)?, db(second)?);
    if first != second {
        ctx.txn.swap(first, second)?;
        search::follow_swap(ctx, first, second)?;
    }
    ctx.reply.ok();
    Ok(())
}

fn index(argument: &[u8], error: &'static str) -> Result<i32, CommandError> {
    let number = resp::parse_i64(argument).and_then(|number| i32::try_from(number).ok());
    number.ok_or(CommandError::text(error))
}

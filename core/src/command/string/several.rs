//! Several strings at once: MGET, MSET, MSETNX.

use super::reply_part;
use crate::command::{CommandError, Context, Outcome};
use crate::data::string;
use crate::engine::Kind;
use crate::server::hub::notify;

pub(super) fn mget(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = ctx.db();
    ctx.reply.array(args.len() - 1);
    for key in &args[1..] {
        match ctx.txn.root(db, key)? {
            Some(root) if root.kind == Kind::String => reply_part(ctx, key, 0, root.value_len)?,
            _ => ctx.reply.null(),
        }
    }
    Ok(())
}

pub(super) fn mset(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    check_pairs(args, "mset")?;
    set_pairs(ctx, args)?;
    ctx.reply.ok();
    Ok(())
}

pub(super) fn msetnx(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    check_pairs(args, "msetnx")?;
    let db = ctx.db();
    for key in args[1..].iter().step_by(2) {
        if ctx.txn.root(db, key)?.is_some() {
            ctx.reply.integer(0);
            return Ok(());
        }
    }
    set_pairs(ctx, args)?;
    ctx.reply.integer(1);
    Ok(())
}

fn check_pairs(args: &[&[u8]], command: &str) -> Outcome {
    if args.len().is_multiple_of(2) {
        return Err(CommandError::owned(format!("ERR wrong number of arguments for '{command}' command")));
    }
    Ok(())
}

fn set_pairs(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = ctx.db();
    for number in (1..args.len() - 1).step_by(2) {
        let value = ctx.value(args, number + 1);
        string::set(ctx.txn, db, args[number], value, None)?;
        ctx.notify(notify::STRING, "set", args[number]);
    }
    Ok(())
}

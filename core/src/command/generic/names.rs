//! Whether keys exist, what they are called, and how they get other names: DEL, EXISTS, TYPE, TOUCH, RENAME, MOVE, COPY.

use super::untouched;
use crate::command::args::{db_index, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data;
use crate::server::hub::notify;

const SAME_OBJECT: CommandError = CommandError::text("ERR source and destination objects are the same");

/// `DEL key [key ...]`, and UNLINK: removing a key is O(1) here whatever it holds.
pub(super) fn del(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let mut removed = 0;
    for key in args.iter().skip(1) {
        if context.txn.remove(context.client.db, key)? {
            removed += 1;
            context.notify(notify::GENERIC, "del", key);
        }
    }
    context.reply.integer(removed);
    Ok(())
}

/// `EXISTS key [key ...]`: a key named twice counts twice.
pub(super) fn exists(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let found = untouched(context, |context| count_keys(context, args))?;
    context.reply.integer(found);
    Ok(())
}

/// `TOUCH key [key ...]`: counts as a use even where the connection asked for no touching.
pub(super) fn touch(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    context.txn.set_touches(true);
    let found = count_keys(context, args);
    context.txn.set_touches(!context.client.no_touch);
    context.reply.integer(found?);
    Ok(())
}

fn count_keys(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Result<i64, CommandError> {
    let mut found = 0;
    for key in args.iter().skip(1) {
        found += i64::from(context.txn.root(context.client.db, key)?.is_some());
    }
    Ok(found)
}

/// `TYPE key`
pub(super) fn type_name(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    let kind = untouched(context, |context| context.txn.kind(db, args[1]))?;
    context.reply.simple(kind.map_or("none", |kind| kind.name()));
    Ok(())
}

/// `RENAME key newkey`
pub(super) fn rename(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    if !context.txn.rename((db, args[1]), (db, args[2]))? {
        return Err(CommandError::NO_SUCH_KEY);
    }
    if args[1] != args[2] {
        note_rename(context, args[1], args[2]);
    }
    context.reply.ok();
    Ok(())
}

/// `RENAMENX key newkey`
pub(super) fn renamenx(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let db = context.db();
    if context.txn.root(db, args[1])?.is_none() {
        return Err(CommandError::NO_SUCH_KEY);
    }
    // A key's own name is taken as well.
    let is_free = context.txn.root(db, args[2])?.is_none();
    if is_free {
        context.txn.rename((db, args[1]), (db, args[2]))?;
        note_rename(context, args[1], args[2]);
    }
    context.reply.integer(i64::from(is_free));
    Ok(())
}

fn note_rename(context: &mut Context<'_, '_>, from: &[u8], to: &[u8]) {
    context.notify(notify::GENERIC, "rename_from", from);
    context.notify(notify::GENERIC, "rename_to", to);
}

/// `MOVE key db`
pub(super) fn move_key(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let key = args[1];
    let (from, to) = (context.db(), db_index(args[2], context.shared)?);
    if from == to {
        return Err(SAME_OBJECT);
    }
    let is_moved = context.txn.root(from, key)?.is_some()
        && context.txn.root(to, key)?.is_none()
        && context.txn.rename((from, key), (to, key))?;
    if is_moved {
        context.notify(notify::GENERIC, "move_from", key);
        context.notify_in(to, notify::GENERIC, "move_to", key);
    }
    context.reply.integer(i64::from(is_moved));
    Ok(())
}

/// `COPY source destination [DB destination-db] [REPLACE]`
pub(super) fn copy(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let from_db = context.db();
    let (mut to_db, mut replaces) = (from_db, false);
    let mut options = args.iter().skip(3);
    while let Some(option) = options.next() {
        if is_option(option, "REPLACE") {
            replaces = true;
        } else if is_option(option, "DB")
            && let Some(number) = options.next()
        {
            to_db = db_index(number, context.shared)?;
        } else {
            return Err(CommandError::SYNTAX);
        }
    }
    let (from, to) = ((from_db, args[1]), (to_db, args[2]));
    if from == to {
        return Err(SAME_OBJECT);
    }
    let is_there = context.txn.root(from.0, from.1)?.is_some();
    context.note_reads(&[args[1]], true);
    // What is replaced goes first, so that the copy counts as a new key.
    let is_free = is_there
        && (context.txn.root(to.0, to.1)?.is_none() || (replaces && context.txn.remove(to.0, to.1)?));
    let is_copied = is_free && data::copy(context.txn, from, to)?;
    if is_copied {
        context.notify_in(to.0, notify::GENERIC, "copy_to", to.1);
    }
    context.reply.integer(i64::from(is_copied));
    Ok(())
}

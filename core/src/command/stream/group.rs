//! XGROUP: groups and consumers are made, moved and removed.

use super::{ids, misused_subcommand};
use crate::catalog;
use crate::command::args::{integer, is_option, quoted};
use crate::command::help::reply_help;
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Group, Stream, StreamId};
use crate::server::hub::notify;

const BUSY: CommandError = CommandError::text("BUSYGROUP Consumer Group name already exists");
const NO_KEY: CommandError = CommandError::text(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to \
     create an empty stream automatically.",
);
const COUNT_NEGATIVE: CommandError = CommandError::text("ERR value for ENTRIESREAD must be positive or -1");

/// Stands for an unknown number of entries.
const UNKNOWN: i64 = -1;

/// The event of a consumer that is new.
pub(super) const CONSUMER_MADE: &str = "xgroup-createconsumer";

/// Options of CREATE and SETID: six arguments and more than that are refused, but only after they were read.
const CREATE_ARGUMENTS_MAX: usize = 8;
const SETID_ARGUMENTS: [usize; 2] = [5, 7];

/// `XGROUP CREATE | CREATECONSUMER | DELCONSUMER | DESTROY | SETID | HELP …`
pub(super) fn xgroup(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, word, key, name, rest @ ..] = args else {
        return reply_help(context.reply, catalog::spec(catalog::id("xgroup")));
    };
    let subcommand = word.to_ascii_lowercase();
    let options = match (subcommand.as_slice(), rest) {
        (b"create" | b"setid", [_, options @ ..]) => options,
        _ => &[],
    };
    let options = Options::read(word, options, subcommand == b"create")?;
    let db = context.db();
    let stream = Stream::open(context.txn, db, key)?;
    if subcommand == b"create" {
        let [last_id, ..] = rest else { return Err(CommandError::SYNTAX) };
        return create(context, args, stream, last_id, &options);
    }
    let mut stream = stream.ok_or(NO_KEY)?;
    let group = stream.group(context.txn, name)?;
    if subcommand == b"destroy" {
        if let Some(group) = &group {
            stream.destroy_group(context.txn, group)?;
            context.notify(notify::STREAM, "xgroup-destroy", key);
        }
        context.reply.integer(i64::from(group.is_some()));
        return Ok(());
    }
    let group = group.ok_or_else(|| no_such_group(name, key))?;
    let [argument, ..] = rest else { return Err(CommandError::SYNTAX) };
    match subcommand.as_slice() {
        b"setid" if !SETID_ARGUMENTS.contains(&args.len()) => Err(misused_subcommand("XGROUP", word)),
        b"setid" => set_id(context, (key, &stream), group, argument, &options),
        b"createconsumer" => {
            let is_new = stream.consumer(context.txn, &group, argument)?.is_none();
            if is_new {
                stream.create_consumer(context.txn, &group, argument)?;
                context.notify(notify::STREAM, CONSUMER_MADE, key);
            }
            context.reply.integer(i64::from(is_new));
            Ok(())
        }
        b"delconsumer" => {
            let mut pending = 0;
            if let Some(consumer) = stream.consumer(context.txn, &group, argument)? {
                pending = stream.delete_consumer(context.txn, &group, &consumer)?;
                context.notify(notify::STREAM, "xgroup-delconsumer", key);
            }
            super::reply_count(context.reply, pending);
            Ok(())
        }
        _ => Err(misused_subcommand("XGROUP", word)),
    }
}

/// The options of CREATE and SETID.
#[derive(Default)]
struct Options {
    makes_stream: bool,
    entries_read: Option<i64>,
}

impl Options {
    fn read(word: &[u8], mut args: &[&[u8]], creates: bool) -> Result<Options, CommandError> {
        let mut options = Options::default();
        while let [option, rest @ ..] = args {
            args = rest;
            match rest.split_first() {
                _ if creates && is_option(option, "MKSTREAM") => options.makes_stream = true,
                Some((value, after)) if is_option(option, "ENTRIESREAD") => {
                    let count = integer(value)?;
                    if count < UNKNOWN {
                        return Err(COUNT_NEGATIVE);
                    }
                    options.entries_read = Some(count).filter(|count| *count != UNKNOWN);
                    args = after;
                }
                _ => return Err(misused_subcommand("XGROUP", word)),
            }
        }
        Ok(options)
    }
}

fn create(
    context: &mut Context<'_, '_>,
    args: &[&[u8]],
    stream: Option<Stream<'_>>,
    last_id: &[u8],
    options: &Options,
) -> Outcome {
    let [_, word, key, name, ..] = args else { return Err(CommandError::SYNTAX) };
    if stream.is_none() && !options.makes_stream {
        return Err(NO_KEY);
    }
    if args.len() > CREATE_ARGUMENTS_MAX {
        return Err(misused_subcommand("XGROUP", word));
    }
    let last_id = match last_id {
        b"$" => stream.as_ref().map_or(StreamId::MIN, Stream::last_id),
        given => ids::id(given, 0)?,
    };
    let db = context.db();
    let mut stream = match stream {
        Some(stream) => stream,
        None => Stream::create(context.txn, db, key)?,
    };
    if stream.group(context.txn, name)?.is_some() {
        return Err(BUSY);
    }
    stream.create_group(context.txn, name, last_id, options.entries_read)?;
    context.notify(notify::STREAM, "xgroup-create", key);
    context.reply.ok();
    Ok(())
}

fn set_id(
    context: &mut Context<'_, '_>,
    (key, stream): (&[u8], &Stream<'_>),
    mut group: Group,
    last_id: &[u8],
    options: &Options,
) -> Outcome {
    group.last_id = match last_id {
        b"$" => stream.last_id(),
        given => ids::id_or_end(given, 0)?,
    };
    group.entries_read = options.entries_read;
    stream.save_group(context.txn, &group)?;
    context.notify(notify::STREAM, "xgroup-setid", key);
    context.reply.ok();
    Ok(())
}

/// The error of subcommands that need the group.
pub(super) fn no_such_group(group: &[u8], key: &[u8]) -> CommandError {
    let (group, key) = (quoted(group, usize::MAX), quoted(key, usize::MAX));
    CommandError::owned(format!("NOGROUP No such consumer group '{group}' for key name '{key}'"))
}

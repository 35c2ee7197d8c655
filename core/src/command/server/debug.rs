//! DEBUG: what helps to test clients and this server, and harms neither. The catalog refuses it unless the setting
//! `enable-debug-command` allows it.

use std::time::Duration;

use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome, help};
use crate::data::{self, digest};
use crate::engine::{ACCESS_CLOCK_MASK, SubWalk, Want, access_clock};
use crate::limits::DEBUG_SLEEP_MAX_S;
use crate::resp::{self, Protocol};
use crate::server::Effect;
use crate::server::outbox::Action;

/// The subcommands: what is typed, and what it does.
const HELP: &[(&str, &str)] = &[
    ("DIGEST", "A fingerprint of all keys and values; equal data has equal fingerprints."),
    ("DIGEST-VALUE <key> [<key> ...]", "Fingerprints of the values of these keys; zeros for a missing key."),
    ("ERROR <string>", "Replies with the string as an error."),
    ("OBJECT <key>", "What is known of the value of a key."),
    (
        "PROTOCOL <type>",
        "Replies with a value of the type: string, integer, double, bignum, null, array, set, map, attrib, push, \
         verbatim, true or false.",
    ),
    (
        "RELOAD [option ...]",
        "Closes the store and opens it again, reading every record. NOSAVE: without a checkpoint. MERGE and NOFLUSH change \
         nothing: what is read is all there is.",
    ),
    (
        "SET-ACTIVE-EXPIRE <0|1>",
        "Stops (0) or starts (1) the collection of expired keys that nobody asks for.",
    ),
    ("SLEEP <seconds>", "Waits before the reply; decimals are allowed."),
    ("HELP", "Shows this list."),
];

pub(super) fn debug(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let word = args[1].to_ascii_lowercase();
    match (word.as_slice(), args.get(2..).unwrap_or_default()) {
        (b"digest", []) => {
            let digest = digest::of_databases(ctx.txn, ctx.shared.settings.databases())?;
            ctx.reply.simple(&digest.to_hex());
        }
        (b"digest-value", keys) => {
            ctx.reply.array(keys.len());
            for key in keys {
                let digest = digest::of_value(ctx.txn, ctx.client.db, key)?;
                ctx.reply.simple(&digest.to_hex());
            }
        }
        (b"error", [text]) => {
            // Line breaks would end the reply.
            let text: Vec<u8> =
                text.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }).collect();
            return Err(CommandError::owned(String::from_utf8_lossy(&text).into_owned()));
        }
        (b"help", _) => return show_help(ctx),
        (b"object", [key]) => return object(ctx, key),
        (b"protocol", [kind]) => return protocol(ctx, kind),
        (b"reload", options) => return reload(ctx, options),
        (b"set-active-expire", [switch]) => {
            let is_on = resp::parse_i64(switch).is_some_and(|number| number != 0);
            ctx.outbox.push(Action::ExpireActively(is_on));
            ctx.reply.ok();
        }
        (b"sleep", [seconds]) => {
            let seconds = resp::parse_f64(seconds).unwrap_or(0.0).clamp(0.0, DEBUG_SLEEP_MAX_S);
            ctx.shared.host.sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default());
            ctx.reply.ok();
        }
        _ => return Err(help::unknown_subcommand("DEBUG", args[1])),
    }
    Ok(())
}

fn show_help(ctx: &mut Context<'_, '_>) -> Outcome {
    ctx.reply.array(1 + 2 * HELP.len());
    ctx.reply.simple("DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
    for (usage, text) in HELP {
        ctx.reply.simple(usage);
        ctx.reply.simple(&format!("    {text}"));
    }
    Ok(())
}

/// The line of Redis, without an address: values have none here that would mean anything. The length is that of the
/// stored values.
fn object(ctx: &mut Context<'_, '_>, key: &[u8]) -> Outcome {
    let db = ctx.db();
    ctx.txn.set_touches(false);
    let root = ctx.txn.root(db, key)?.ok_or(CommandError::NO_SUCH_KEY)?;
    let list_fill = ctx.shared.settings.number("list-max-listpack-size");
    let encoding = data::encoding_name(ctx.txn, db, key, &root, list_fill)?;
    let mut len = root.value_len;
    ctx.txn.sub_scan(db, key, SubWalk::all(Want::Values), &mut |subkey, value| {
        len += subkey.len() as u64 + value.len() as u64;
        std::ops::ControlFlow::Continue(())
    })?;
    let idle_s = access_clock(ctx.now_ms()).wrapping_sub(root.access) & ACCESS_CLOCK_MASK;
    ctx.reply.simple(&format!(
        "Value at:0x0 refcount:1 encoding:{encoding} serializedlength:{len} lru:{} lru_seconds_idle:{idle_s}",
        root.access
    ));
    Ok(())
}

/// Redis saves and loads a dump. Here the log is the store: it is closed and opened again, and the checkpoint is written
/// behind that, with what was found.
fn reload(ctx: &mut Context<'_, '_>, options: &[&[u8]]) -> Outcome {
    let known = ["MERGE", "NOFLUSH", "NOSAVE"];
    if options.iter().any(|option| !known.iter().any(|known| is_option(option, known))) {
        return Err(CommandError::text(
            "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.",
        ));
    }
    if ctx.wait.is_none() {
        // The transaction holds the locks, and has written what is not in the log yet.
        return Err(CommandError::text("ERR DEBUG RELOAD is not possible inside a transaction"));
    }
    // It reads everything, and waits for transactions that take long.
    ctx.expect_work(u64::MAX)?;
    let touch = ctx.shared.settings.memory().touch(ctx.now_ms(), || 0);
    ctx.admin.reopen(touch.fresh())?;
    if !options.iter().any(|option| is_option(option, "NOSAVE")) {
        ctx.outbox.effect(Effect::Checkpoint);
    }
    ctx.reply.ok();
    Ok(())
}

#[expect(clippy::approx_constant, reason = "clients' tests expect this number")]
fn protocol(ctx: &mut Context<'_, '_>, kind: &[u8]) -> Outcome {
    let reply = &mut *ctx.reply;
    match kind.to_ascii_lowercase().as_slice() {
        b"string" => reply.bulk(b"Hello World"),
        b"integer" => reply.integer(12345),
        b"double" => reply.double(3.141),
        b"bignum" => reply.big_number("1234567999999999999999999999999999999"),
        b"null" => reply.null(),
        b"array" => {
            reply.array(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"set" => {
            reply.set(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"map" => {
            reply.map(3);
            for number in 0..3 {
                reply.integer(number);
                reply.boolean(number == 1);
            }
        }
        b"attrib" => {
            // RESP2 has no attributes, and no other reply of this server has any. They come before a reply.
            if reply.protocol() == Protocol::Resp3 {
                reply.attribute(1);
                reply.bulk(b"key-popularity");
                reply.array(2);
                reply.bulk(b"key:123");
                reply.integer(90);
            }
            reply.bulk(b"Some real reply following the attribute");
        }
        b"push" if reply.protocol() == Protocol::Resp2 => {
            return Err(CommandError::text("ERR RESP2 is not supported by this command"));
        }
        b"push" => {
            reply.push(2);
            reply.bulk(b"server-cpu-usage");
            reply.integer(42);
            // A push is not the reply to a request.
            reply.bulk(b"Some real reply following the push reply");
        }
        b"verbatim" => reply.verbatim("txt", b"This is a verbatim\nstring"),
        b"true" => reply.boolean(true),
        b"false" => reply.boolean(false),
        _ => {
            return Err(CommandError::text(
                "ERR Wrong protocol type name. Please use one of the following: \
                 string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false",
            ));
        }
    }
    Ok(())
}

//! SCRIPT: the scripts of EVAL that the server keeps, and the end of one that runs.

use super::eval::new_script;
use super::run;
use crate::catalog;
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome, help};
use crate::server::outbox::Action;
use crate::server::scripts::{Killed, ScriptHash, ScriptKind};

pub(super) fn script(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let rest = args.get(2..).unwrap_or_default();
    match (args[1].to_ascii_lowercase().as_slice(), rest) {
        (b"debug", [mode]) => debug(ctx, mode),
        (b"exists", hashes) => exists(ctx, hashes),
        (b"flush", []) => flush(ctx),
        (b"flush", [mode]) if is_option(mode, "SYNC") || is_option(mode, "ASYNC") => flush(ctx),
        (b"flush", _) => Err(CommandError::text("ERR SCRIPT FLUSH only support SYNC|ASYNC option")),
        (b"help", []) => help::reply_help(ctx.reply, catalog::spec(catalog::id("script"))),
        (b"kill", []) => kill(ctx, ScriptKind::Script),
        (b"load", [source]) => load(ctx, source),
        _ => Err(help::unknown_subcommand("SCRIPT", args[1])),
    }
}

/// There is no debugger: a session of it would stop the whole store between two lines.
fn debug(ctx: &mut Context<'_, '_>, mode: &[u8]) -> Outcome {
    if is_option(mode, "NO") {
        ctx.reply.ok();
        return Ok(());
    }
    if is_option(mode, "YES") || is_option(mode, "SYNC") {
        return Err(CommandError::text(
            "ERR EdgeCask has no debugger of scripts; use redis.log or return values",
        ));
    }
    Err(CommandError::text("ERR Use SCRIPT DEBUG YES/SYNC/NO"))
}

fn exists(ctx: &mut Context<'_, '_>, hashes: &[&[u8]]) -> Outcome {
    ctx.reply.array(hashes.len());
    for hash in hashes {
        let found = ScriptHash::parse(hash).and_then(|hash| ctx.shared.scripts.cache.get(hash));
        ctx.reply.integer(i64::from(found.is_some()));
    }
    Ok(())
}

fn flush(ctx: &mut Context<'_, '_>) -> Outcome {
    ctx.outbox.push(Action::ForgetScripts);
    ctx.reply.ok();
    Ok(())
}

/// The reply of commands that need memory.
const NO_MEMORY: &str = "OOM command not allowed when used memory > 'maxmemory'.";

fn load(ctx: &mut Context<'_, '_>, source: &[u8]) -> Outcome {
    let hash = ScriptHash::of(source);
    let known = ctx.shared.scripts.cache.get(hash);
    let script = match known {
        Some(script) => script,
        // It stays for good, and a home that has no memory left ends.
        None if ctx.shared.is_short_of_memory() => return Err(CommandError::text(NO_MEMORY)),
        None => new_script(ctx, hash, source)?,
    };
    run::compile(ctx, &script)?;
    ctx.shared.scripts.cache.add_loaded(script);
    ctx.reply.bulk(hash.text().as_bytes());
    Ok(())
}

/// SCRIPT KILL and FUNCTION KILL.
pub(super) fn kill(ctx: &mut Context<'_, '_>, kind: ScriptKind) -> Outcome {
    match ctx.shared.scripts.long.kill(kind) {
        Killed::Yes => {
            ctx.reply.ok();
            Ok(())
        }
        Killed::NothingRuns => Err(CommandError::text("NOTBUSY No scripts in execution right now.")),
        Killed::HasWritten => Err(CommandError::text(
            "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the \
             script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
        )),
        Killed::OfOtherKind => {
            let text = match kind {
                ScriptKind::Script => {
                    "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
                }
                ScriptKind::Function => {
                    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
                }
            };
            Err(CommandError::text(text))
        }
    }
}

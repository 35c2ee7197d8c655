//! Suggestions for what is being typed.
//!
//! Beside RediSearch: it leaves out without a word a text that is empty or too long, which is an error here.

use crate::command::args::{is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::data::DataError;
use crate::data::suggestions::{self, Wanted};
use crate::engine::EngineError;
use crate::limits::{
    SUGGESTION_MAX_CHARS, SUGGESTION_PREFIX_MAX_CHARS, SUGGESTIONS_LOOKED_AT_MAX,
    UNKNOWN_ARGUMENT_SHOWN_BYTES,
};
use crate::number::parse_f64;
use crate::resp::parse_i64;
use crate::server::hub::notify;

/// How many completions a client gets that does not say.
const DEFAULT_COMPLETIONS: usize = 5;

/// A prefix of so many bytes is too long whatever its characters are; RediSearch has another text for it.
const PREFIX_MAX_BYTES: usize = 200;

/// Most arguments of FT.SUGADD and FT.SUGGET, their names included.
const SUGADD_ARGUMENTS_MAX: usize = 7;
const SUGGET_ARGUMENTS_MAX: usize = 10;

/// `FT.SUGADD key string score [INCR] [PAYLOAD payload]`
pub(super) fn sugadd(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, text, score, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    if args.len() > SUGADD_ARGUMENTS_MAX {
        return Err(wrong_arity("ft.sugadd"));
    }
    let (mut is_increment, mut payload) = (false, &b""[..]);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if is_option(option, "INCR") {
            is_increment = true;
        } else if is_option(option, "PAYLOAD") {
            let text = "Invalid payload: Expected an argument, but none provided";
            payload = options.next().ok_or(CommandError::text(text))?;
        } else {
            let option = quoted(option, UNKNOWN_ARGUMENT_SHOWN_BYTES);
            return Err(CommandError::owned(format!("Unknown argument `{option}`")));
        }
    }
    let db = ctx.db();
    let root = suggestions::root(ctx.txn, db, key)?;
    let mut score =
        parse_f64(score).filter(|score| score.is_finite()).ok_or(CommandError::text("ERR invalid score"))?;
    if !suggestions::is_text(text) {
        return Err(CommandError::owned(format!(
            "ERR a suggestion has 1 to {SUGGESTION_MAX_CHARS} characters and no zero byte"
        )));
    }
    if is_increment {
        score += suggestions::score(ctx.txn, db, key, text)?.unwrap_or_default();
        if !score.is_finite() {
            return Err(CommandError::text("ERR increment would produce NaN or Infinity"));
        }
    }
    suggestions::put(ctx.txn, (db, key), root.as_ref(), (text, score, payload))?;
    ctx.notify(notify::MODULE, "ft.sugadd", key);
    let len = suggestions::len(ctx.txn, db, key)?;
    ctx.reply.integer(len as i64);
    Ok(())
}

/// `FT.SUGDEL key string`
pub(super) fn sugdel(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, text] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    suggestions::root(ctx.txn, db, key)?;
    let was_there = suggestions::remove(ctx.txn, db, key, text)?;
    if was_there {
        ctx.notify_taken(notify::MODULE, "ft.sugdel", key);
    }
    ctx.reply.integer(i64::from(was_there));
    Ok(())
}

/// `FT.SUGLEN key`
pub(super) fn suglen(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key] = args else { return Err(CommandError::SYNTAX) };
    let db = ctx.db();
    suggestions::root(ctx.txn, db, key)?;
    let len = suggestions::len(ctx.txn, db, key)?;
    ctx.reply.integer(len as i64);
    Ok(())
}

/// What FT.SUGGET is asked for.
struct Asked {
    with_typo: bool,
    with_scores: bool,
    with_payloads: bool,
    most: usize,
}

impl Asked {
    fn parse(options: &[&[u8]]) -> Result<Asked, CommandError> {
        let mut asked =
            Asked { with_typo: false, with_scores: false, with_payloads: false, most: DEFAULT_COMPLETIONS };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            if is_option(option, "FUZZY") {
                asked.with_typo = true;
            } else if is_option(option, "WITHSCORES") {
                asked.with_scores = true;
            } else if is_option(option, "WITHPAYLOADS") {
                asked.with_payloads = true;
            } else if is_option(option, "MAX") {
                let most = options
                    .next()
                    .ok_or(CommandError::text("MAX: Expected an argument, but none provided"))?;
                let most = parse_i64(most)
                    .ok_or(CommandError::text("MAX: Could not convert argument to expected type"))?;
                asked.most = usize::try_from(most)
                    .ok()
                    .filter(|most| *most > 0)
                    .ok_or(CommandError::text("MAX: Value is outside acceptable bounds"))?;
            } else {
                let option = quoted(option, UNKNOWN_ARGUMENT_SHOWN_BYTES);
                return Err(CommandError::owned(format!("Unrecognized argument: {option}")));
            }
        }
        Ok(asked)
    }
}

/// `FT.SUGGET key prefix [FUZZY] [WITHSCORES] [WITHPAYLOADS] [MAX max]`
pub(super) fn sugget(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, prefix, options @ ..] = args else { return Err(CommandError::SYNTAX) };
    if args.len() > SUGGET_ARGUMENTS_MAX {
        return Err(wrong_arity("ft.sugget"));
    }
    if prefix.len() >= PREFIX_MAX_BYTES {
        return Err(CommandError::text("Invalid query length"));
    }
    let asked = Asked::parse(options)?;
    let db = ctx.db();
    if suggestions::root(ctx.txn, db, key)?.is_none() {
        ctx.reply.array(0);
        return Ok(());
    }
    if suggestions::chars(prefix) > SUGGESTION_PREFIX_MAX_CHARS {
        return Err(CommandError::text("Invalid query"));
    }
    let work = ctx.work();
    let mut announce = |count| work.expect(count).map_err(|_| DataError::Engine(EngineError::TakesLong));
    let wanted = Wanted { prefix, with_typo: asked.with_typo, most: asked.most };
    let Some(found) = suggestions::complete(ctx.txn, (db, key), wanted, &mut announce)? else {
        return Err(CommandError::owned(format!(
            "ERR more than {SUGGESTIONS_LOOKED_AT_MAX} suggestions may begin so: a longer prefix has less"
        )));
    };
    let parts = 1 + usize::from(asked.with_scores) + usize::from(asked.with_payloads);
    ctx.reply.array(found.len() * parts);
    for completion in found {
        ctx.reply.bulk(&completion.text);
        if asked.with_scores {
            ctx.reply.double(f64::from(completion.score));
        }
        if asked.with_payloads {
            match suggestions::payload(ctx.txn, db, key, &completion.text)? {
                Some(payload) => ctx.reply.bulk(&payload),
                None => ctx.reply.null(),
            }
        }
    }
    Ok(())
}

/// RediSearch bounds the arguments of its commands, which the catalog does not.
fn wrong_arity(command: &str) -> CommandError {
    CommandError::owned(format!("ERR wrong number of arguments for '{command}' command"))
}

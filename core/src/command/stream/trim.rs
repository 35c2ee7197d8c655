//! XTRIM, and the options it shares with XADD.

use super::{ids, node_limits};
use crate::command::args::{integer, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::stream::{Stream, Trim, TrimTo};
use crate::limits::STREAM_TRIM_DEFAULT_LIMIT;
use crate::server::Shared;
use crate::server::hub::notify;

type Result<T> = std::result::Result<T, CommandError>;

/// Nodes that `~` removes at most in one go unless LIMIT says otherwise: Redis' own figure, as are the bounds of the
/// product.
const APPROXIMATE_NODES: u64 = 100;
const APPROXIMATE_ENTRIES_MAX: u64 = 1_000_000;

const TWO_STRATEGIES: CommandError =
    CommandError::text("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
const NO_STRATEGY: CommandError =
    CommandError::text("ERR syntax error, XTRIM must be called with a trimming strategy");
const LIMIT_WITHOUT_STRATEGY: CommandError =
    CommandError::text("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
const LIMIT_WITHOUT_TILDE: CommandError =
    CommandError::text("ERR syntax error, LIMIT cannot be used without the special ~ option");

/// What the options of XADD and XTRIM say so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrimOptions {
    to: Option<TrimTo>,
    is_approximate: bool,
    limit: Option<u64>,
}

impl TrimOptions {
    /// Takes one option from the front, if it is one of these; the last argument never begins one.
    pub(super) fn take(&mut self, args: &mut &[&[u8]]) -> Result<bool> {
        let [option, rest @ ..] = *args else { return Ok(false) };
        let [value, after @ ..] = rest else { return Ok(false) };
        if is_option(option, "LIMIT") {
            self.limit = Some(positive(value, "ERR The LIMIT argument must be >= 0.")?);
            *args = after;
            return Ok(true);
        }
        let is_length = is_option(option, "MAXLEN");
        if !is_length && !is_option(option, "MINID") {
            return Ok(false);
        }
        if self.to.is_some() {
            return Err(TWO_STRATEGIES);
        }
        let (is_approximate, threshold, after) = match (*value, after) {
            (b"~", [threshold, after @ ..]) => (true, threshold, after),
            (b"=", [threshold, after @ ..]) => (false, threshold, after),
            _ => (false, value, after),
        };
        self.is_approximate = is_approximate;
        self.to = Some(match is_length {
            true => TrimTo::Length(positive(threshold, "ERR The MAXLEN argument must be >= 0.")?),
            false => TrimTo::Id(ids::id(threshold, 0)?),
        });
        *args = after;
        Ok(true)
    }

    /// What they come to; None if there is nothing to trim.
    pub(super) fn finish(self, shared: &Shared) -> Result<Option<Trim>> {
        let Some(to) = self.to else {
            let is_limited = self.limit.is_some_and(|limit| limit > 0);
            return if is_limited { Err(LIMIT_WITHOUT_STRATEGY) } else { self.without_strategy() };
        };
        let limit = match self.limit {
            Some(_) if !self.is_approximate => return Err(LIMIT_WITHOUT_TILDE),
            Some(limit) => limit,
            None if self.is_approximate => match node_limits(shared).entries {
                0 => STREAM_TRIM_DEFAULT_LIMIT,
                entries => entries.saturating_mul(APPROXIMATE_NODES).min(APPROXIMATE_ENTRIES_MAX),
            },
            None => 0,
        };
        Ok(Some(Trim { to, is_approximate: self.is_approximate, limit }))
    }

    fn without_strategy(self) -> Result<Option<Trim>> {
        if self.limit.is_some() { Err(LIMIT_WITHOUT_TILDE) } else { Ok(None) }
    }
}

fn positive(argument: &[u8], negative: &'static str) -> Result<u64> {
    u64::try_from(integer(argument)?).map_err(|_| CommandError::text(negative))
}

/// `XTRIM key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]`
pub(super) fn xtrim(context: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [_, key, rest @ ..] = args else { return Err(CommandError::SYNTAX) };
    let (mut options, mut rest) = (TrimOptions::default(), rest);
    while options.take(&mut rest)? {}
    if !rest.is_empty() {
        return Err(CommandError::SYNTAX);
    }
    let is_without = options.to.is_none() && options.limit.is_none_or(|limit| limit == 0);
    if is_without {
        return Err(NO_STRATEGY);
    }
    let trim = options.finish(context.shared)?;
    let db = context.db();
    let stream = Stream::open(context.txn, db, key)?;
    let removed = match (stream, trim) {
        (Some(mut stream), Some(trim)) => stream.trim(context.txn, &trim)?,
        _ => 0,
    };
    if removed > 0 {
        context.notify(notify::STREAM, "xtrim", key);
    }
    super::reply_count(context.reply, removed);
    Ok(())
}

//! FT.PROFILE.

use super::aggregate;
use super::answer;
use super::request::Request;
use super::run;
use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome};
use crate::resp::Protocol;

pub(super) fn profile(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let is_search = is_option(args[2], "SEARCH");
    if !is_search && !is_option(args[2], "AGGREGATE") {
        return Err(CommandError::text("No `SEARCH`, `AGGREGATE` or `HYBRID` provided"));
    }
    let mut rest = args.get(3..).unwrap_or_default();
    if let [word, others @ ..] = rest
        && is_option(word, "LIMITED")
    {
        rest = others;
    }
    let [word, query, options @ ..] = rest else {
        return Err(CommandError::text("The QUERY keyword is expected"));
    };
    if !is_option(word, "QUERY") {
        return Err(CommandError::text("The QUERY keyword is expected"));
    }
    let words: Vec<&[u8]> = [args[0], args[1], query].into_iter().chain(options.iter().copied()).collect();
    let begin_ns = ctx.shared.host.monotonic_ns();
    let is_map = ctx.reply.protocol() == Protocol::Resp3;
    let open = |ctx: &mut Context<'_, '_>| {
        if is_map {
            ctx.reply.map(2);
            ctx.reply.bulk(b"Results");
        } else {
            ctx.reply.array(2);
        }
    };
    let total;
    if is_search {
        let request = Request::parse(options)?;
        let found = run::found(ctx, &words, &request)?;
        open(ctx);
        answer::write(ctx.reply, &request, found.total, &found.rows, &found.warnings);
        total = found.total;
    } else {
        let (rows, count, ..) = aggregate::compute(ctx, &words)?;
        open(ctx);
        aggregate::write(ctx.reply, count, &rows);
        total = count;
    }
    let took_ms = ctx.shared.host.monotonic_ns().saturating_sub(begin_ns) as f64 / 1e6;
    let reply = &mut *ctx.reply;
    if is_map {
        reply.bulk(b"Profile");
    }
    reply.map(2);
    reply.bulk(b"Shards");
    reply.array(1);
    reply.map(3);
    reply.bulk(b"Total profile time");
    reply.double(took_ms);
    reply.bulk(b"Results");
    reply.integer(i64::try_from(total).unwrap_or(i64::MAX));
    reply.bulk(b"Warning");
    reply.bulk(b"None");
    reply.bulk(b"Coordinator");
    reply.map(0);
    Ok(())
}

//! `SQL.HRANA database PIPELINE | CURSOR body`: the protocol of libSQL's clients over HTTP, Hrana 2 and 3 as JSON
//! (<https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_3_SPEC.md>). The hosts' HTTP layers only pass bodies on.
//!
//! ```text
//!  request    a body of JSON becomes requests
//!  mod        the stream of the baton is taken, its requests run, and it is put back under a new baton
//!  stream     runs requests and the steps of batches
//!  result     results as JSON
//! ```
//!
//! A body is one command, so all that its requests change becomes one commit; each of them is undone by itself if it fails. What a
//! stream has begun it keeps to its next body, as SQL.BEGIN does for a connection.

mod request;
mod result;
mod stream;

use self::request::{Body, Wanted};
use self::stream::Running;
use super::open;
use crate::command::{CommandError, Context, Outcome};
use crate::limits::SQL_HRANA_BODY_MAX_BYTES;
use crate::server::sql::{OpenSql, Stream};

const EXPIRED: &str = "ERR STREAM_EXPIRED the stream has expired, or there never was one with this baton";

/// `SQL.HRANA database PIPELINE | CURSOR body`
pub(super) fn hrana(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, body) = (args[1], args[3]);
    let wanted = match args[2].to_ascii_lowercase().as_slice() {
        b"pipeline" => Wanted::Pipeline,
        b"cursor" => Wanted::Cursor,
        _ => return Err(CommandError::SYNTAX),
    };
    open::check_place(ctx)?;
    if body.len() > SQL_HRANA_BODY_MAX_BYTES {
        return Err(CommandError::text("ERR the body is too large"));
    }
    let body = Body::read(body, wanted).map_err(|fault| CommandError::owned(format!("ERR {fault}")))?;
    let (now_ms, shared) = (ctx.now_ms(), ctx.shared);
    let streams = &shared.sql_streams;
    streams.drop_idle(now_ms);
    let user = ctx.client.access.user().name().to_vec();
    let place = (ctx.db(), key);
    let mut taken = None;
    let mut stream = match &body.baton {
        None => Stream {
            user: user.into(),
            place: (place.0, key.into()),
            texts: std::collections::HashMap::new(),
            transaction: None,
            ignores_foreign_keys: false,
            used_ms: now_ms,
        },
        Some(text) => {
            let baton = base16ct::lower::decode_vec(text).ok().and_then(|bytes| bytes.try_into().ok());
            taken = baton;
            let stream = baton.and_then(|baton| streams.take(&baton, &user, place));
            stream.ok_or(CommandError::text(EXPIRED))?
        }
    };
    stream.used_ms = now_ms;
    // The client's own transaction, if it has one, is another one.
    let own = std::mem::take(&mut ctx.client.sql);
    ctx.client.sql = Some(Box::new(OpenSql::with_transaction(stream.transaction.take())));
    let mut running = Running::new(key, &mut stream);
    let ran = running.run(ctx, &body);
    let is_closed = running.is_closed;
    let open = std::mem::replace(&mut ctx.client.sql, own);
    stream.transaction = open.and_then(|open| open.transaction);
    let results = match ran {
        Ok(results) => results,
        Err(error) => {
            // The body runs again.
            if let Some(baton) = taken {
                streams.put(baton, stream);
            }
            return Err(error);
        }
    };
    let mut baton = None;
    if !is_closed {
        let mut next = [0; 16];
        if !shared.host.fill_unguessable(&mut next) {
            return Err(CommandError::text("ERR there is no source of randomness here"));
        }
        streams.put(next, stream);
        baton = Some(base16ct::lower::encode_string(&next));
    }
    let reply = result::response(wanted, baton.as_deref(), &results);
    ctx.reply.bulk(&reply);
    Ok(())
}

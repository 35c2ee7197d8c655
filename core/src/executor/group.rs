//! Requests of a pipeline that share a transaction.
//!
//! Short writes of one key that follow one another are one transaction: one lock, one look at the root, one frame of the
//! log. Each of them sees what those before it wrote and nothing of anybody else, so the replies are those of requests that
//! run one by one. The frame makes them atomic together, which is more than they were promised.
//!
//! Where a transaction costs round trips, requests of any keys share one: what all of them miss is fetched together.
//!
//! A group is for the usual case only. Where a request of it fails, or others must hear of each write by itself, nothing of
//! the group happens, and the caller runs its requests alone.

use smallvec::SmallVec;

use super::missing::Missing;
use super::{Caller, Executor, Plan, Stop, fits};
use crate::catalog::{CommandSpec, Flags};
use crate::command::admission::Admitted;
use crate::command::{CommandError, Context, Outcome};
use crate::data;
use crate::engine::{Drafts, Engine};
use crate::limits::{GROUP_REPLIES_MAX_BYTES, PIPELINE_AHEAD};
use crate::server::Server;
use crate::server::hub::Interest;

impl Executor {
    /// Runs requests of these keys as one transaction; returns how many it has run, at least one. The others
    /// have not happened, because the replies became long.
    ///
    /// # Errors
    /// See [`Stop`]. With an error nothing of the group has happened, unless the engine does not know; no reply tells of it.
    pub fn run_group<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        (keys, requests): (&[&[u8]], &[Admitted<'_>]),
        now_ms: u64,
    ) -> Result<usize, Stop> {
        let specs = || requests.iter().map(Admitted::spec);
        let plan = Plan {
            writes: specs().any(CommandSpec::may_commit),
            wakes: specs().any(|spec| !spec.is(Flags::WAKES_NOBODY)),
            ..Plan::writing(keys)
        };
        // For hashes and sets this is the first field or member; for others it is not used.
        let members: SmallVec<[&[u8]; PIPELINE_AHEAD]> =
            requests.iter().filter_map(|request| request.args().get(2).copied()).collect();
        let holds_locks = server.engine.holds_locks();
        // Of a commit that waits it is known; everything else runs again.
        let mut count = self.grouped;
        let ran = self.transact(server, caller, (&plan, &[], &Drafts::new()), now_ms, |ctx| {
            count = 0;
            // Only now that the locks are held can nobody begin to wait for the keys.
            let (interest, triggers) = (&ctx.shared.hub.interest, &ctx.shared.triggers);
            let has_trigger = interest.has(Interest::TRIGGERS) && {
                let present = triggers.present();
                keys.iter().any(|key| present.concerns(key))
            };
            if has_trigger || interest.has(Interest::OF_WRITES) {
                return Err(CommandError::text("ERR others hear of each write"));
            }
            if let [key] = keys
                && holds_locks
            {
                data::announce_members(ctx.txn, (ctx.client.db, key), &members)?;
            }
            let mut missing = Missing::default();
            let outcome = run_each(ctx, requests, (&mut count, &mut missing));
            missing.end(ctx, outcome)
        });
        self.grouped = if matches!(ran, Err(Stop::Suspended)) { count } else { 0 };
        ran?;
        for request in requests.get(..count).unwrap_or_default() {
            self.meter.ran(request.spec().id);
        }
        Ok(count)
    }
}

/// Runs requests until the replies are long; `count` becomes how many have run.
fn run_each(
    ctx: &mut Context<'_, '_>,
    requests: &[Admitted<'_>],
    (count, missing): (&mut usize, &mut Missing),
) -> Outcome {
    let (drafts, before) = (Drafts::new(), ctx.reply.unsent());
    for request in requests {
        if !missing.lets(ctx, request.spec()) {
            continue;
        }
        let start = ctx.reply.len();
        let outcome = ctx.run_inner(request, &drafts);
        if missing.goes_on(ctx, &outcome) {
            ctx.reply.truncate(start);
            continue;
        }
        outcome?;
        fits(ctx.reply)?;
        *count += 1;
        if ctx.reply.unsent() > before + GROUP_REPLIES_MAX_BYTES {
            break;
        }
    }
    Ok(())
}

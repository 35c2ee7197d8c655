//! Requests of a pipeline that share a commit.
//!
//! Short writes of one key that follow one another are one transaction: one lock, one look at the root, one frame of the
//! log. Each of them sees what those before it wrote and nothing of anybody else, so the replies are those of requests that
//! run one by one. The frame makes them atomic together, which is more than they were promised.
//!
//! A group is for the usual case only. Where a request of it fails, or others must hear of each write by itself, nothing of
//! the group happens, and the caller runs its requests alone.

use smallvec::SmallVec;

use super::{Caller, Executor, Plan, Stop, fits};
use crate::command::CommandError;
use crate::command::admission::Admitted;
use crate::data;
use crate::engine::{Drafts, Engine};
use crate::limits::{GROUP_REPLIES_MAX_BYTES, PIPELINE_AHEAD};
use crate::server::Server;
use crate::server::hub::Interest;

impl Executor {
    /// Runs requests that all write this one key as one transaction; returns how many it has run, at least one. The others
    /// have not happened, because the replies became long.
    ///
    /// # Errors
    /// See [`Stop`]. With an error nothing of the group has happened; no reply tells of it.
    pub fn run_group<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        (key, requests): (&[u8], &[Admitted<'_>]),
        now_ms: u64,
    ) -> Result<usize, Stop> {
        let keys = [key];
        let plan = Plan::writing(&keys);
        let drafts = Drafts::new();
        // For hashes and sets this is the first field or member; for others it is not used.
        let members: SmallVec<[&[u8]; PIPELINE_AHEAD]> =
            requests.iter().filter_map(|request| request.args().get(2).copied()).collect();
        // Of a commit that waits it is known; everything else runs again.
        let mut count = self.grouped;
        let ran = self.transact(server, caller, (&plan, &[], &drafts), now_ms, |ctx| {
            count = 0;
            // Only now that the lock is held can nobody begin to wait for the key.
            let (interest, triggers) = (&ctx.shared.hub.interest, &ctx.shared.triggers);
            let has_trigger = interest.has(Interest::TRIGGERS) && triggers.present().concerns(key);
            if has_trigger || interest.has(Interest::OF_WRITES) {
                return Err(CommandError::text("ERR others hear of each write"));
            }
            data::announce_members(ctx.txn, (ctx.client.db, key), &members)?;
            let before = ctx.reply.unsent();
            for request in requests {
                ctx.run_inner(request, &drafts)?;
                fits(ctx.reply)?;
                count += 1;
                if ctx.reply.unsent() > before + GROUP_REPLIES_MAX_BYTES {
                    break;
                }
            }
            Ok(())
        });
        self.grouped = if matches!(ran, Err(Stop::Suspended)) { count } else { 0 };
        ran?;
        for request in &requests[..count] {
            self.meter.ran(request.spec().id);
        }
        Ok(count)
    }
}

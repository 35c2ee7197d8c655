//! EXEC: the queue of a MULTI as one transaction.

use smallvec::SmallVec;

use super::missing::Missing;
use super::{Caller, Executor, Plan, Ran, Stop, Waits, fits};
use crate::acl::{self, Reason};
use crate::catalog::{CommandSpec, Flags, Group};
use crate::command::call::{Keys, keys_of};
use crate::command::{CommandError, Context, Outcome, has_handler};
use crate::engine::{Db, Drafts, Engine, EngineError, Watch};
use crate::server::hub::Interest;
use crate::server::{Server, monitors};

/// One command of a queue.
pub struct Call<'q> {
    /// Its row.
    pub spec: &'static CommandSpec,
    /// Its arguments, the name first.
    pub args: &'q [&'q [u8]],
    /// Its arguments that came as blobs.
    pub drafts: &'q Drafts,
}

/// A watched key.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'w> {
    /// Its database.
    pub db: Db,
    /// The key.
    pub key: &'w [u8],
    /// Its version when it was watched.
    pub version: u64,
}

/// How one command of a queue went.
pub(super) struct Ended {
    /// How long it took, in nanoseconds, if it was timed by itself.
    took_ns: Option<u64>,
    error: Option<CommandError>,
}

impl Executor {
    /// Runs a queue as one transaction: all of it happens or none. The watched keys are locked with its own; if one has
    /// changed, nothing happens and the reply is no array.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run_queue<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        calls: &[Call<'_>],
        (watched, watch): (&[Watched<'_>], &Watch),
        now_ms: u64,
    ) -> Result<(), Stop> {
        let mut keys = Keys::new();
        calls.iter().for_each(|call| keys_of(call.spec, call.args, &mut keys));
        keys.extend(watched.iter().map(|watched| watched.key));
        let specs = || calls.iter().map(|call| call.spec);
        let plan = Plan {
            keys: &keys,
            touches_all: calls
                .iter()
                .any(|call| call.spec.touches_all_keys(call.args) || call.spec.is(Flags::SEARCHES)),
            writes: specs().any(CommandSpec::may_commit),
            wakes: specs().any(|spec| !spec.is(Flags::WAKES_NOBODY)),
            may_wait: Waits::Never,
            changes_connection: specs().any(|spec| matches!(spec.group, Group::Connection | Group::PubSub)),
            identity: 0,
        };
        // Of a queue whose commit has waited they are kept.
        let kept = std::mem::take(&mut self.queue_ended);
        let mut ended = if self.is_committing() { kept } else { SmallVec::new() };
        let (mut has_run, holds_locks) = (true, server.engine.holds_locks());
        let (is_exact, read_ns) = (self.meter.is_exact(), self.meter.fresh_reading());
        let ran = self.transact(server, caller, (&plan, &[], &Drafts::new()), now_ms, |ctx| {
            ended.clear();
            // Only now that the locks are held can no watched key change any more; without locks the commit will fail if one does.
            let changed = if holds_locks { Ok(false) } else { has_changed(ctx, watched) };
            let mut missing = Missing::default();
            if watch.is_tripped() || !missing.goes_on(ctx, &changed) && changed? {
                has_run = false;
                ctx.reply.null_array();
                return Ok(());
            }
            has_run = true;
            ctx.expect_work(calls.len() as u64).inspect_err(|_| {
                *ctx.interrupted = Some(EngineError::TakesLong);
            })?;
            let outcome = run_all(ctx, calls, (is_exact, read_ns), (&mut ended, &mut missing));
            missing.end(ctx, outcome)
        });
        if self.is_committing() {
            self.queue_ended = ended;
            return ran.map(|_| ());
        }
        let ran = ran?;
        debug_assert!(matches!(ran, Ran::Done), "a queue never waits");
        if has_run {
            self.account(server, caller, calls, &ended, now_ms);
        }
        Ok(())
    }

    /// Counts and shows what has run, now that it has happened.
    fn account<E>(
        &mut self,
        server: &Server<E>,
        caller: &Caller<'_>,
        calls: &[Call<'_>],
        ended: &[Ended],
        now_ms: u64,
    ) {
        let is_watched = server.shared.hub.interest.has(Interest::MONITORS);
        for (call, ended) in calls.iter().zip(ended) {
            let (spec, args) = (call.spec, call.args);
            if let Some(error) = &ended.error {
                server.shared.statistics.failed(spec.id, 1);
                server.shared.count_error(&error.reply_text());
            }
            if has_handler(spec) {
                self.meter.took((server, caller.client), spec, ended.took_ns, args, now_ms);
            }
            if is_watched && has_handler(spec) {
                monitors::show(&server.shared, caller.client, spec, args, now_ms);
            }
        }
        self.meter.settle(server, now_ms);
        self.meter.log_late(
            (server, caller.client),
            calls.len(),
            |at| calls.get(at).map(|call| call.args),
            now_ms,
        );
    }
}

/// Whether a watched key is another one than it was.
fn has_changed(ctx: &mut Context<'_, '_>, watched: &[Watched<'_>]) -> Result<bool, CommandError> {
    let mut has_changed = false;
    for Watched { db, key, version } in watched {
        has_changed |= ctx.txn.version(*db, key)? != *version;
    }
    Ok(has_changed)
}

fn run_all(
    ctx: &mut Context<'_, '_>,
    calls: &[Call<'_>],
    (is_exact, mut read_ns): (bool, Option<u64>),
    (ended, missing): (&mut SmallVec<[Ended; 4]>, &mut Missing),
) -> Outcome {
    ctx.reply.array(calls.len());
    for call in calls {
        let spec = call.spec;
        if !missing.lets(ctx, spec) {
            continue;
        }
        let request = match ctx.admit_later(spec, call.args, acl::Context::Multi) {
            Ok(request) => request,
            Err(error) => {
                let error = CommandError::owned(denied_at_exec(&error));
                ctx.reply.error(&error.reply_text());
                ended.push(Ended { took_ns: None, error: Some(error) });
                continue;
            }
        };
        if !has_handler(spec) {
            // UNWATCH: EXEC has forgotten the watched keys.
            ctx.reply.ok();
            ended.push(Ended { took_ns: None, error: None });
            continue;
        }
        let is_timed = is_exact || !spec.is(Flags::FAST);
        // The end of one timed command is the beginning of the next.
        let begin_ns = read_ns.take().filter(|_| is_timed);
        let begin_ns = begin_ns.unwrap_or_else(|| if is_timed { ctx.shared.host.monotonic_ns() } else { 0 });
        let start = ctx.reply.len();
        let outcome = ctx.run_inner(&request, call.drafts);
        if missing.goes_on(ctx, &outcome) {
            ctx.reply.truncate(start);
            continue;
        }
        if ctx.interrupted.is_some() {
            return outcome;
        }
        let error = match outcome {
            // What a command took from a key is nowhere if its reply is: nothing of the queue happens then.
            Ok(()) => {
                fits(ctx.reply)?;
                None
            }
            Err(error @ CommandError::Engine(_)) => return Err(error),
            Err(error) => {
                ctx.reply.truncate(start);
                ctx.reply.error(&error.reply_text());
                Some(error)
            }
        };
        let took_ns = is_timed.then(|| {
            let end_ns = ctx.shared.host.monotonic_ns();
            read_ns = Some(end_ns);
            end_ns.saturating_sub(begin_ns)
        });
        ended.push(Ended { took_ns, error });
    }
    Ok(())
}

/// The text for a command that could be queued and may not run any more.
fn denied_at_exec(error: &CommandError) -> String {
    let reason = match error {
        CommandError::Denied(denial) => denial.reason,
        _ => Reason::Command,
    };
    let lacks = match reason {
        Reason::Key => "no permission to touch the specified keys",
        Reason::Channel => "no permission to access one of the channels used as arguments",
        Reason::Command | Reason::Login => "no permission to execute the command or subcommand",
    };
    format!(
        "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command is no \
         longer allowed for the following reason: {lacks}"
    )
}

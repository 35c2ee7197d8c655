//! The executor: the only way a command runs.
//!
//! ```text
//!  request, group of requests, EXEC, wake-up, expiry, cron
//!     |  begin: locks of the declared keys
//!     |  run: handlers over one transaction; writes go to the overlay, wishes to the outbox
//!     |     a key was not declared   -> drop all, begin again with more locks
//!     |     the engine must fetch    -> drop all, suspend; resumed once it is there
//!     |     a lock is held for long  -> suspend; resumed once it may be free
//!     |     it takes long            -> drop all, suspend; run again where it may
//!     |  triggers run for the changes, and may refuse them
//!     |  reactions see the changes, add to them or refuse
//!     |  commit: one frame; its place in the log is fixed, an entry joins the feed
//!     |  actions of the outbox happen, the feed is delivered, blocked connections are served
//! ```
//!
//! A run that is thrown away leaves no trace: not in the store, not with other connections, not in the client, not in the
//! counters. [`commit`] is the only place that commits.

mod commit;
mod crons;
mod direct;
mod eviction;
mod expiry;
mod group;
mod indexing;
mod meter;
mod missing;
mod queue;
mod remember;
mod serve;
mod upkeep;
#[cfg(test)]
mod tests;

pub use crons::{CronRun, CronStep};
pub use eviction::{Eviction, Room, used_bytes};
pub use expiry::{Expired, Expiry};
pub use indexing::Indexing;
pub use meter::Meter;
pub use queue::{Call, Watched};
pub use serve::Blocked;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use smallvec::SmallVec;

use crate::catalog::{CommandSpec, Flags};
use crate::command::admission::Admitted;
use crate::command::call::{Keys, Tally, TrackedReads, keys_of};
use crate::command::script::triggers;
use crate::command::search::stage;
use crate::command::{CommandError, Context, Later, Outcome};
use crate::engine::{Begun, Db, Drafts, Engine, EngineError, Overlay, Reader, Receipt, Scope, Ticket, Txn};
use crate::limits::{PIPELINE_AHEAD_MIN, WIDENED_KEYS_MAX};
use crate::resp::Reply;
use crate::server::hub::notify::{EXPIRED, NEW};
use crate::server::hub::{Inbox, Interest, Unblock, Wait, Waiter};
use crate::server::outbox::Outbox;
use crate::server::search::{IndexWork, SeenIndexes};
use crate::server::sql::Leases;
use crate::server::triggers::SeenTriggers;
use crate::server::{Client, Counters, Effect, Mark, Saved, Server, Shared};

/// What was seen of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Unix time in milliseconds at which it will be gone, if it ever will.
    pub expires_at_ms: Option<u64>,
    /// Its version ([`Reader::version`]).
    pub version: u64,
}

/// The connection for which something runs.
pub struct Caller<'c> {
    /// Its state.
    pub client: &'c mut Client,
    /// Where its replies go.
    pub reply: &'c mut Reply,
}

/// What became of a run.
#[derive(Debug)]
pub enum Ran {
    /// It is committed, and the reply is written.
    Done,
    /// It found nothing and waits; there is no reply yet.
    Waits(Arc<Waiter>),
    /// It has nothing to do yet, and nothing has happened.
    Nothing,
}

/// Why a run did not end.
#[derive(Debug)]
pub enum Stop {
    /// Nothing has happened; this is the reply.
    Error(CommandError),
    /// The engine must fetch something, or another transaction holds a lock for long: run the same again when the connection is
    /// woken. Or it takes long: run it again where
    /// nobody waits for it ([`Client::takes_long`]).
    Suspended,
}

impl From<CommandError> for Stop {
    fn from(error: CommandError) -> Stop {
        Stop::Error(error)
    }
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Stop {
        Stop::Error(error.into())
    }
}

/// What is known of a transaction before it begins.
struct Plan<'p> {
    /// The keys it declares.
    keys: &'p [&'p [u8]],
    /// Whether it may touch any key.
    touches_all: bool,
    /// Whether a command of it is flagged as a write.
    writes: bool,
    /// Whether blocked connections may find what they wait for behind it.
    wakes: bool,
    /// Whether it may wait.
    may_wait: Waits,
    /// Whether it may change what a [`Mark`] does not hold.
    changes_connection: bool,
    /// Tells its runs from those of other transactions that may be suspended: 0 for the connection's own request, one
    /// more than its arrival for a blocked connection.
    identity: u64,
}

impl<'p> Plan<'p> {
    /// That of a transaction which writes to these keys only and waits for nothing.
    fn writing(keys: &'p [&'p [u8]]) -> Plan<'p> {
        Plan {
            keys,
            touches_all: false,
            writes: true,
            wakes: true,
            may_wait: Waits::Never,
            changes_connection: false,
            identity: 0,
        }
    }
}

/// What a transaction does that finds nothing.
#[derive(Clone, Copy, Debug)]
enum Waits {
    /// It replies that there is nothing.
    Never,
    /// Its connection is blocked.
    Begins(&'static CommandSpec),
    /// Its connection is blocked already and stays so.
    Goes,
}

/// A transaction that was thrown away because its engine must fetch something, that waits for locks, or for its commit.
enum Suspended {
    Reads { identity: u64, ticket: Ticket, wider: Wider },
    Commit { identity: u64, commit: Box<commit::Pending> },
}

/// What a transaction turned out to need beyond its plan.
#[derive(Clone, Debug, Default)]
struct Wider {
    keys: Vec<Vec<u8>>,
    /// All keys.
    all: bool,
    /// To write: what only reads may find keys that have expired.
    writes: bool,
}

/// The state of a client before a run.
#[derive(Clone)]
struct Before {
    mark: Mark,
    saved: Option<Box<Saved>>,
    reply_len: usize,
}

impl Before {
    #[inline]
    fn of(caller: &Caller<'_>, plan: &Plan<'_>) -> Before {
        Before {
            mark: caller.client.mark(caller.reply),
            saved: plan.changes_connection.then(|| Box::new(caller.client.save())),
            reply_len: caller.reply.len(),
        }
    }

    fn go_back(&self, caller: &mut Caller<'_>) {
        caller.reply.truncate(self.reply_len);
        caller.client.go_back(caller.reply, &self.mark);
        if let Some(saved) = &self.saved {
            caller.client.restore(saved);
        }
    }
}

/// The workspace of one connection's transactions, reused from one to the next.
#[derive(Default)]
pub struct Executor {
    overlay: Overlay,
    outbox: Outbox,
    reads: TrackedReads,
    /// The keys that the transaction has had remembered for its connection's cache, ahead of a run.
    remembered: HashSet<Vec<u8>>,
    tally: Tally,
    /// The connections to SQL databases of the transaction under way.
    sql: Leases,
    wait: Option<Wait>,
    /// The rest of the connection's own request.
    later: Option<Later>,
    /// Keys that changed and that blocked connections wait for.
    ready: Vec<(Db, Vec<u8>)>,
    /// Waits that CLIENT UNBLOCK ends, by the CLIENT IDs.
    unblocks: Vec<(u64, Unblock)>,
    meter: Meter,
    suspended: Option<Suspended>,
    /// Unix time in milliseconds at which the transaction ran first.
    began_ms: u64,
    /// What became of the requests of a MULTI whose commit waits.
    queue_ended: SmallVec<[queue::Ended; 4]>,
    /// How many requests of a group the suspended transaction has run.
    grouped: usize,
    effects: Vec<Effect>,
    wrote: Receipt,
    /// Bytes that were appended to the log since they were last taken.
    logged_bytes: u64,
    /// Times that requests have waited for a cluster, and that they met others, since the last [`Executor::take_rounds`].
    rounds: (u64, u64),
    hits: u64,
    misses: u64,
    /// Changes that went the short way.
    direct_changes: u64,
    /// Evicts keys before commands, once that was necessary.
    eviction: Option<Box<Eviction>>,
    /// That of the connection to which it belongs, if it belongs to one.
    inbox: Option<Arc<Inbox>>,
    /// The triggers as it has seen them last.
    triggers: SeenTriggers,
    /// The indexes as it has seen them last.
    indexes: SeenIndexes,
    /// What the transaction under way changes of indexes.
    search: IndexWork,
}

impl Executor {
    /// The workspace of the connection with this inbox.
    pub fn of(inbox: Arc<Inbox>) -> Executor {
        Executor { inbox: Some(inbox), ..Executor::default() }
    }

    /// Runs one command as a transaction of its own.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        request: &Admitted<'_>,
        drafts: &Drafts,
        now_ms: u64,
    ) -> Result<Ran, Stop> {
        let (spec, args) = (request.spec(), request.args());
        let mut keys = Keys::new();
        let touches_all = spec.touches_all_keys(args);
        if !touches_all {
            keys_of(spec, args, &mut keys);
            if keys.len() >= PIPELINE_AHEAD_MIN {
                server.engine.prefetch(caller.client.db, &keys);
            }
        }
        let plan = Plan {
            keys: &keys,
            touches_all,
            writes: spec.may_commit(),
            wakes: !spec.is(Flags::WAKES_NOBODY),
            may_wait: Waits::Begins(spec),
            // What touches no key is never run again; AUTH and HELLO may fail behind the login.
            changes_connection: spec.is(Flags::NO_AUTH),
            identity: 0,
        };
        if !self.is_suspended() {
            self.later = None;
        }
        let ran = self.transact(server, caller, (&plan, args, drafts), now_ms, |ctx| {
            ctx.txn.allow_guesses(!spec.runs_code());
            ctx.run(request)
        })?;
        match self.later.take() {
            Some(rest) => rest(caller.reply, &caller.client.inbox).map(|()| ran).map_err(Stop::Error),
            None => Ok(ran),
        }
    }

    /// Runs `body` as a command that declares these keys of the selected database and may call other commands
    /// ([`Context::call`]): what scripts, SQL and triggers are to their callers. It may be run several times before it happens.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn run_body<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        keys: &[&[u8]],
        now_ms: u64,
        body: impl FnMut(&mut Context<'_, '_>) -> Outcome,
    ) -> Result<(), Stop> {
        // It may call whatever changes the connection.
        let plan = Plan { changes_connection: true, ..Plan::writing(keys) };
        self.transact(server, caller, (&plan, &[], &Drafts::new()), now_ms, body).map(drop)
    }

    /// Looks for keys of the selected database, which removes those whose time has come; tells what the others are.
    /// `turn` tells several looks of one request apart.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn look_at<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        keys: &[&[u8]],
        turn: u64,
        now_ms: u64,
    ) -> Result<Vec<Look>, Stop> {
        let plan = Plan { writes: false, identity: u64::MAX - turn, ..Plan::writing(keys) };
        let mut looks = Vec::new();
        self.transact(server, caller, (&plan, &[], &Drafts::new()), now_ms, |ctx| {
            looks.clear();
            for key in keys {
                let db = ctx.db();
                let expires_at_ms = ctx.look_at(db, key)?;
                looks.push(Look { expires_at_ms, version: ctx.txn.version(db, key)? });
            }
            Ok(())
        })?;
        Ok(looks)
    }

    /// Runs `body` over a transaction until it is committed, refused or suspended.
    #[inline]
    fn transact<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        request: (&Plan<'_>, &[&[u8]], &Drafts),
        now_ms: u64,
        body: impl FnMut(&mut Context<'_, '_>) -> Outcome,
    ) -> Result<Ran, Stop> {
        let ran = self.run_until_it_ends(server, caller, request, now_ms, body);
        if !self.sql.is_empty() {
            self.sql.give_back(&server.shared.sql);
        }
        ran
    }

    fn run_until_it_ends<E: Engine>(
        &mut self,
        server: &Server<E>,
        caller: &mut Caller<'_>,
        (plan, args, drafts): (&Plan<'_>, &[&[u8]], &Drafts),
        now_ms: u64,
        mut body: impl FnMut(&mut Context<'_, '_>) -> Outcome,
    ) -> Result<Ran, Stop> {
        let before = Before::of(caller, plan);
        let (mut ticket, mut wider) = (None, Wider::default());
        if self.suspended.is_some() {
            match self.take_suspended(server, plan.identity) {
                Some(Suspended::Reads { ticket: parked, wider: known, .. }) => {
                    (ticket, wider) = (Some(parked), known)
                }
                Some(Suspended::Commit { commit, .. }) => {
                    if let Some(ran) = self.resume_commit(server, caller, plan, *commit)? {
                        return Ok(ran);
                    }
                    self.rounds.1 += 1;
                    self.check_patience(server, now_ms)?;
                    if is_better_elsewhere(server, caller, plan) {
                        // The session looks once more where it is to run.
                        caller.client.inbox.wake();
                        return Err(Stop::Suspended);
                    }
                    wider.writes = true;
                }
                None => {}
            }
        } else {
            self.began_ms = now_ms;
            self.remembered.clear();
        }
        let (mut is_first_run, mut cached_runs) = (true, 0);
        loop {
            let waker = || self.waker(caller, plan);
            // While a blocked connection is served its own thread may want its state.
            let is_long = caller.client.runs_at_length && plan.identity == 0;
            let mut snapshot = match open(&server.engine, plan, &wider, (ticket.take(), is_long, &waker))? {
                Begun::Open(snapshot) => snapshot,
                // As below: it has this thread for itself.
                Begun::Waits(waits) if is_long && !server.engine.holds_locks() => {
                    server.engine.wait_for(waits);
                    ticket = Some(waits);
                    continue;
                }
                Begun::Waits(ticket) => {
                    self.park(plan, Some(ticket), wider);
                    return Err(self.wait_or_refuse(server, plan));
                }
            };
            match plan.writes || wider.writes {
                true => snapshot.announce_writes(),
                false => snapshot.announce_only_reads(),
            }
            if is_long && !server.engine.holds_locks() {
                // It may have gone on under a ticket.
                snapshot.hold_for_long();
            }
            snapshot.announce(caller.client.db, plan.keys);
            self.begin(&server.shared);
            caller.client.sql_wait.again_ms = None;
            let mut interrupted = None;
            let may_hand_over = plan.identity == 0 && caller.client.hands_over;
            let outcome = {
                let mut txn = Txn::new(&mut snapshot, &mut self.overlay, now_ms);
                bound(&mut txn, caller.client, &server.shared);
                let interest = &server.shared.hub.interest;
                txn.set_puts_blindly(
                    !server.engine.holds_locks() && !interest.has(Interest::REACTIONS | Interest::TRIGGERS),
                );

                let mut context = Context {
                    txn: &mut txn,
                    reply: &mut *caller.reply,
                    client: &mut *caller.client,
                    shared: &server.shared,
                    admin: &server.engine,
                    outbox: &mut self.outbox,
                    drafts,
                    reads: &mut self.reads,
                    sql: &mut self.sql,
                    search: &mut self.search,
                    tally: &mut self.tally,
                    interrupted: &mut interrupted,
                    wait: (!matches!(plan.may_wait, Waits::Never)).then_some(&mut self.wait),
                    may_hand_over,
                    may_let_pass: is_long && is_first_run,
                    is_first_run,
                    in_trigger: false,
                    later: matches!(plan.may_wait, Waits::Begins(_)).then_some(&mut self.later),
                };
                let mut outcome = body(&mut context);
                if context.txn.has_guessed() {
                    // Whatever it came to, it has only found out what is to be fetched.
                    *context.interrupted = Some(EngineError::NotHere);
                    outcome = Err(EngineError::NotHere.into());
                }
                context.txn.allow_guesses(false);
                if outcome.is_ok() && has_triggers(&context, plan) {
                    outcome = triggers::run(&mut context);
                }
                if outcome.is_ok() && server.shared.hub.interest.has(Interest::REACTIONS) {
                    outcome = run_reactions(&mut context);
                }
                if outcome.is_ok() && has_indexes(&context, plan) {
                    outcome = stage::run(&mut context);
                }
                outcome.and_then(|()| fits(caller.reply))
            };
            let mut outcome = interrupted.map_or(outcome, |error| Err(error.into()));
            if outcome.is_ok() && !self.reads.is_empty() && !server.engine.holds_locks() {
                cached_runs += 1;
                outcome = self.check_remembered(&server.shared, caller, cached_runs);
            }
            match outcome {
                Ok(()) => {
                    let ended = self.end(server, caller, snapshot, (plan, args, &before), now_ms);
                    if !matches!(ended, Err(Stop::Suspended)) {
                        return ended;
                    }
                    self.rounds.0 += 1;
                    // The commit waits. To look after it once leaves the waker with it.
                    if let Some(Suspended::Commit { commit, .. }) = self.suspended.take()
                        && let Some(ran) = self.resume_commit(server, caller, plan, *commit)?
                    {
                        return Ok(ran);
                    }
                    wider.writes = true;
                }
                Err(CommandError::Engine(EngineError::Undeclared)) => {
                    self.sql.give_back(&server.shared.sql);
                    let key = snapshot.undeclared();
                    server.shared.reruns.fetch_add(1, Ordering::Relaxed);
                    drop(snapshot);
                    before.go_back(caller);
                    wider.widen(key)?;
                }
                Err(CommandError::Engine(EngineError::OnceMore)) => {
                    self.sql.give_back(&server.shared.sql);
                    is_first_run = false;
                    server.shared.reruns.fetch_add(1, Ordering::Relaxed);
                    drop(snapshot);
                    before.go_back(caller);
                }
                Err(CommandError::Engine(EngineError::TakesLong)) => {
                    drop(snapshot);
                    before.go_back(caller);
                    caller.client.takes_long = true;
                    return Err(Stop::Suspended);
                }
                // It is woken once other processes have heard what it wants to listen to.
                Err(_) if std::mem::take(&mut caller.client.waits_for_peers) => {
                    drop(snapshot);
                    before.go_back(caller);
                    let since_ms = *caller.client.peers_since_ms.get_or_insert(now_ms);
                    let patience_ms = server.engine.patience_ms();
                    if now_ms.saturating_sub(since_ms) <= patience_ms {
                        return Err(Stop::Suspended);
                    }
                    self.drop_run(&server.shared, caller, now_ms);
                    return Err(EngineError::Unavailable(format!(
                        "another server of the store has not heard of it for more than {patience_ms} ms: there is no link to it"
                    ))
                    .into());
                }
                Err(CommandError::Engine(EngineError::NotHere)) => {
                    before.go_back(caller);
                    self.check_patience(server, now_ms)?;
                    self.rounds.0 += 1;
                    if !server.engine.holds_locks() {
                        // Before its reads, so that no change behind them is missed.
                        self.remember_ahead(&server.shared, caller, plan);
                    }
                    let waits = server.engine.park(snapshot, &self.waker(caller, plan));
                    if is_long {
                        // It has this thread for itself. Where others wait, what was fetched would be dropped when it takes long
                        // again, and fetched anew here, without end.
                        self.sql.give_back(&server.shared.sql);
                        server.engine.wait_for(waits);
                        ticket = Some(waits);
                        continue;
                    }
                    self.park(plan, Some(waits), wider);
                    return Err(Stop::Suspended);
                }
                // It waits for another client's transaction of SQL.
                Err(_) if caller.client.sql_wait.again_ms.is_some() => {
                    drop(snapshot);
                    before.go_back(caller);
                    return Err(Stop::Suspended);
                }
                // What it failed for might not happen.
                Err(_) if snapshot.is_provisional() => {
                    before.go_back(caller);
                    snapshot.postpone();
                    let ticket = server.engine.park(snapshot, &self.waker(caller, plan));
                    self.park(plan, Some(ticket), wider);
                    return Err(Stop::Suspended);
                }
                Err(error) => {
                    drop(snapshot);
                    before.go_back(caller);
                    self.drop_run(&server.shared, caller, now_ms);
                    return Err(Stop::Error(error));
                }
            }
        }
    }

    /// Fails if the transaction has been run again for too long.
    #[cold]
    fn check_patience<E: Engine>(&self, server: &Server<E>, now_ms: u64) -> Result<(), EngineError> {
        let patience_ms = server.engine.patience_ms();
        if now_ms.saturating_sub(self.began_ms) <= patience_ms {
            return Ok(());
        }
        Err(EngineError::Unavailable(format!(
            "what the request needs could not be had, or others were in its way, for more than {patience_ms} ms"
        )))
    }

    /// A transaction waits for its engine. While a script keeps the server busy, a request is refused instead; a blocked
    /// connection goes on waiting.
    #[cold]
    fn wait_or_refuse<E: Engine>(&mut self, server: &Server<E>, plan: &Plan<'_>) -> Stop {
        // Looked at behind the beginning of the wait: who becomes busy wakes those who wait.
        match server.shared.loading.busy_text() {
            Some(text) if !matches!(plan.may_wait, Waits::Goes) => {
                self.forget_suspended(server);
                Stop::Error(CommandError::text(text))
            }
            _ => Stop::Suspended,
        }
    }

    /// Wakes the connection that runs a transaction again: the one whose executor this is, though it may be serving a blocked one.
    #[cold]
    fn waker(&self, caller: &Caller<'_>, plan: &Plan<'_>) -> Waker {
        let own = self.inbox.as_ref().filter(|_| matches!(plan.may_wait, Waits::Goes));
        own.unwrap_or(&caller.client.inbox).waker()
    }

    /// Notes that a transaction waits for what the engine fetches, or for locks, under this ticket.
    fn park(&mut self, plan: &Plan<'_>, ticket: Option<Ticket>, wider: Wider) {
        self.suspended = ticket.map(|ticket| Suspended::Reads { identity: plan.identity, ticket, wider });
    }

    /// Empties the workspace for a run.
    #[inline]
    fn begin(&mut self, shared: &Shared) {
        self.overlay.clear();
        self.outbox.begin(shared.hub.notified());
        self.reads.clear();
        self.tally.clear();
        self.search.clear();
        self.wait = None;
        if self.outbox.wants(EXPIRED | NEW) {
            self.overlay.keep_turns();
        }
    }

    /// What was suspended of this transaction. What was suspended of another one is forgotten: nobody resumes it.
    fn take_suspended<E: Engine>(&mut self, server: &Server<E>, identity: u64) -> Option<Suspended> {
        let suspended = self.suspended.take()?;
        let (Suspended::Reads { identity: its_own, .. } | Suspended::Commit { identity: its_own, .. }) =
            &suspended;
        if *its_own == identity {
            return Some(suspended);
        }
        if let Suspended::Reads { ticket, .. } = suspended {
            server.engine.forget(ticket);
        }
        None
    }

    /// A run failed: nothing of it has happened, except that it looked for keys.
    fn drop_run(&mut self, shared: &Shared, caller: &Caller<'_>, now_ms: u64) {
        self.outbox.keep_reads();
        self.carry_out(shared, &caller.client.inbox, now_ms);
        self.tally.count_refusals();
        self.wait = None;
    }

    /// Whether a write of this key is a matter of others, so that it takes no shorter way.
    #[inline]
    pub(crate) fn concerns_others(&mut self, shared: &Shared, key: &[u8]) -> bool {
        let interest = &shared.hub.interest;
        interest.has(Interest::OF_WRITES | Interest::TRIGGERS | Interest::INDEXES)
            && (interest.has(Interest::OF_WRITES)
                || interest.has(Interest::TRIGGERS) && self.triggers.concern(&shared.triggers, key)
                || interest.has(Interest::INDEXES) && self.indexes.concern(&shared.search, key))
    }

    /// Whether it waits for the engine.
    pub fn is_suspended(&self) -> bool {
        self.suspended.is_some()
    }

    /// Whether a commit is under way, which may have happened.
    pub fn is_committing(&self) -> bool {
        matches!(self.suspended, Some(Suspended::Commit { .. }))
    }

    /// Keeps the calling thread until a suspended run may go on, for threads that serve nobody else; false if it waits for
    /// nothing of the engine.
    pub(super) fn wait<E: Engine>(&self, server: &Server<E>) -> bool {
        let ticket = match &self.suspended {
            Some(Suspended::Reads { ticket, .. }) => *ticket,
            Some(Suspended::Commit { commit, .. }) => commit.ticket(),
            None => return false,
        };
        server.engine.wait_for(ticket);
        true
    }

    /// Forgets a suspended run, because its connection is gone or its request has ended otherwise. A commit that the engine
    /// has taken over still happens.
    pub fn forget_suspended<E: Engine>(&mut self, server: &Server<E>) {
        match self.suspended.take() {
            Some(Suspended::Reads { ticket, .. }) => server.engine.forget(ticket),
            Some(Suspended::Commit { commit, .. }) => commit.leave(server),
            None => {}
        }
    }

    /// The clock of the connection's commands.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }

    /// Whether the workspace holds nothing of a transaction.
    #[cfg(test)]
    pub(crate) fn is_clear(&self) -> bool {
        self.overlay.is_empty()
    }

    /// Gives back what a large transaction has left.
    pub fn release(&mut self) {
        self.overlay.release();
    }

    /// How often requests have waited for a cluster, to read or to write, and were run again because they had met others, since the last
    /// call.
    #[inline]
    pub fn take_rounds(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.rounds)
    }

    /// Takes what the host is to do.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Adds something for the host.
    pub fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Whether the connection is to be closed.
    pub fn must_close(&self) -> bool {
        self.effects.contains(&Effect::Close)
    }

    /// Where in the log the last write ended since the last call.
    pub fn take_wrote(&mut self) -> Receipt {
        std::mem::take(&mut self.wrote)
    }

    /// Bytes that its commits have appended to the log since the last call of [`Executor::take_logged_bytes`].
    #[inline]
    pub fn logged_bytes(&self) -> u64 {
        self.logged_bytes
    }

    /// The same, to begin anew.
    pub fn take_logged_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.logged_bytes)
    }

    /// A commit of its own has happened.
    #[inline]
    fn note_commit(&mut self, receipt: Receipt) {
        self.wrote = self.wrote.max(receipt);
        self.logged_bytes += receipt.bytes();
    }

    /// Something that the connection's replies speak of was written up to there.
    pub fn note_written(&mut self, receipt: Receipt) {
        self.wrote = self.wrote.max(receipt);
    }

    /// Brings the counters that all sessions share up to date.
    pub fn count(&mut self, counters: &Counters) {
        let counts = [
            (&counters.keyspace_hits, &mut self.hits),
            (&counters.keyspace_misses, &mut self.misses),
            (&counters.changes, &mut self.direct_changes),
        ];
        for (counter, count) in counts.into_iter().filter(|(_, count)| **count > 0) {
            counter.fetch_add(std::mem::take(count), Ordering::Relaxed);
        }
    }
}

impl Wider {
    /// Takes one key more, or all keys.
    fn widen(&mut self, key: Option<Vec<u8>>) -> Result<(), EngineError> {
        if self.all {
            // There is nothing beyond everything.
            return Err(EngineError::Undeclared);
        }
        match key {
            Some(key) if self.keys.len() < WIDENED_KEYS_MAX && !self.keys.contains(&key) => {
                self.keys.push(key)
            }
            _ => self.all = true,
        }
        Ok(())
    }
}

/// Opens a transaction over the keys of a plan and those that it turned out to need, or goes on with the wait of a ticket.
#[inline]
fn open<'e, E: Engine>(
    engine: &'e E,
    plan: &Plan<'_>,
    wider: &Wider,
    (ticket, is_long, waker): (Option<Ticket>, bool, &dyn Fn() -> Waker),
) -> Result<Begun<E::Snapshot<'e>>, EngineError> {
    let widened: Keys<'_> = match wider.keys.as_slice() {
        [] => Keys::new(),
        more => plan.keys.iter().copied().chain(more.iter().map(Vec::as_slice)).collect(),
    };
    let scope = match (plan.touches_all || wider.all, widened.is_empty(), plan.keys) {
        (true, ..) => Scope::Everything,
        (_, false, _) => Scope::Keys(&widened),
        (_, _, []) => Scope::Nothing,
        (_, _, keys) => Scope::Keys(keys),
    };
    match ticket {
        None if is_long => engine.begin_long(scope, waker),
        None => engine.begin_soon(scope, waker),
        Some(ticket) => Ok(engine.resume(ticket, scope)?.map_or(Begun::Waits(ticket), Begun::Open)),
    }
}

/// Whether a request that has met others had better run where all writes of its key run now.
#[cold]
fn is_better_elsewhere<E: Engine>(server: &Server<E>, caller: &Caller<'_>, plan: &Plan<'_>) -> bool {
    let Some((key, others)) = plan.keys.split_first().filter(|_| caller.client.may_be_forwarded) else {
        return false;
    };
    others.iter().all(|other| other == key) && server.engine.better_elsewhere(caller.client.db, key).is_some()
}

/// Whether triggers may run for what a transaction has done.
#[inline]
fn has_triggers(ctx: &Context<'_, '_>, plan: &Plan<'_>) -> bool {
    let may_be = ctx.shared.hub.interest.has(Interest::TRIGGERS)
        // It may have made one itself.
        || ctx.outbox.changes_of_triggers().next().is_some();
    may_be && !ctx.txn.is_unchanged() && ctx.interrupted.is_none() && will_happen(ctx, plan)
}

/// Shows the changes of a transaction to reactions.
#[cold]
fn run_reactions(ctx: &mut Context<'_, '_>) -> Outcome {
    if ctx.interrupted.is_some() || ctx.txn.is_unchanged() {
        return Ok(());
    }
    ctx.shared.reactions.run(ctx.txn).map_err(CommandError::from)
}

/// Whether indexes may cover what a transaction has changed.
#[inline]
fn has_indexes(ctx: &Context<'_, '_>, plan: &Plan<'_>) -> bool {
    let may_be = ctx.shared.hub.interest.has(Interest::INDEXES) || !ctx.search.changes.is_empty();
    may_be && !ctx.txn.is_unchanged() && ctx.interrupted.is_none() && will_happen(ctx, plan)
}

/// Whether the changes of a transaction are to be committed. They are not if its connection still waits, or if it was only to
/// read and nothing may change at the moment.
fn will_happen(ctx: &Context<'_, '_>, plan: &Plan<'_>) -> bool {
    let still_waits =
        matches!(plan.may_wait, Waits::Goes) && ctx.wait.as_ref().is_some_and(|wait| wait.is_some());
    !still_waits && (plan.writes || !commit::is_paused(ctx.shared, ctx.now_ms()))
}

/// Sets what its client and its home want of a transaction.
fn bound(txn: &mut Txn<'_>, client: &mut Client, shared: &Shared) {
    let settings = &shared.settings;
    txn.set_touches(!client.no_touch);
    if settings.memory().counts_uses() {
        txn.set_touch(settings.memory().touch(txn.now_ms(), || client.random.u32(..)));
    }
    txn.set_blob_min(settings.blob_min_bytes());
    txn.set_changes_max(settings.bounds().changes_max);
    txn.set_budget(settings.bounds().budget);
}

/// An error if something was left out of the reply.
fn fits(reply: &Reply) -> Outcome {
    if reply.is_cut() {
        return Err(CommandError::text(
            "ERR the reply does not fit into this server's memory; ask for less at a time",
        ));
    }
    Ok(())
}

/// Replies with an error and counts it.
pub fn reply_error(reply: &mut Reply, shared: &Shared, error: &CommandError) {
    let text = error.reply_text();
    reply.error(&text);
    shared.count_error(&text);
}

//! One connection's requests: admission, the queue of a MULTI, execution, and what comes back from other connections.

use std::sync::Arc;

use smallvec::SmallVec;

use super::pipeline::Ahead;
use super::subscription;
use super::transaction::{Multi, Queued, Transaction, WatchedKey};
use super::waiting::{Forwarding, Waiting};
use crate::acl::{self, Permit, User};
use crate::catalog::{self, CommandId, CommandSpec, Flags};
use crate::command::admission::{self, Admitted, Origin};
use crate::command::{CommandError, client_info, has_handler, search};
use crate::engine::{Drafts, Engine};
use crate::executor::{Blocked, Call, Caller, Executor, Ran, Stop, Watched, reply_error};
use crate::limits::{LOGGED_PAUSE_BYTES, OUTPUT_PAUSE_BYTES};
use crate::resp::{Protocol, Reply};
use crate::server::hub::{Interest, Waiter};
use crate::server::peers::{Topic, Visitor};
use crate::server::{Client, Effect, ReplyMode, Server, Shared, SqlWait, monitors};

const EXEC: CommandId = catalog::id("exec");

/// Everything of a session but its input.
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) reply: Reply,
    /// The huge arguments of the next request.
    pub(super) drafts: Drafts,
    pub(super) executor: Executor,
    pub(super) transaction: Transaction,
    pub(super) waiting: Waiting,
    /// Of how many requests the group is that is suspended; 0 if none is.
    pub(super) group_len: usize,
    /// The permits of the request, or of the group, that has begun and is suspended.
    pub(super) begun: Vec<Permit>,
    /// Requests that another process runs.
    pub(super) forwarding: Option<Forwarding>,
    /// Whether it runs requests that another process has forwarded, and forwards none itself.
    pub(super) is_visitor: bool,
    commands: u64,
    /// Requests wait once so many bytes were appended to the log in one go.
    logged_max: u64,
}

/// How a request went.
enum Did {
    /// The short way: no transaction was open, and nothing but the reply is left.
    Directly,
    /// In full, or it was queued.
    InFull,
}

/// Whether a request has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It has, or it waits for a key, or it was refused.
    Done,
    /// The engine must fetch something: it is to be run again from its bytes.
    Suspended,
}

impl Connection {
    pub(super) fn new(client: Client, reply: Reply) -> Connection {
        Connection {
            reply,
            drafts: Drafts::new(),
            executor: Executor::of(client.inbox.clone()),
            client,
            transaction: Transaction::default(),
            waiting: Waiting::default(),
            group_len: 0,
            begun: Vec::new(),
            forwarding: None,
            is_visitor: false,
            commands: 0,
            logged_max: LOGGED_PAUSE_BYTES,
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    pub(super) fn reply(&self) -> &Reply {
        &self.reply
    }

    pub(super) fn reply_mut(&mut self) -> &mut Reply {
        &mut self.reply
    }

    pub(super) fn drafts(&mut self) -> &mut Drafts {
        &mut self.drafts
    }

    pub(super) fn transaction(&self) -> &Transaction {
        &self.transaction
    }

    /// Bytes of memory of what evicts keys before commands.
    pub(super) fn eviction_bytes(&self) -> u64 {
        self.executor.eviction_bytes()
    }

    pub(super) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// Whether nothing is under way that a frozen session would lose.
    pub(super) fn is_at_rest(&self) -> bool {
        self.reply.is_empty()
            && self.drafts.is_empty()
            && self.forwarding.is_none()
            && !self.executor.is_suspended()
            && !self.executor.has_ready()
            && !self.client.inbox.has_mail()
            && !self.client.inbox.must_close()
    }

    /// Whether nothing of a transaction is left in memory.
    #[cfg(test)]
    pub(super) fn holds_no_transaction(&self) -> bool {
        self.executor.is_clear()
    }

    /// Becomes a connection for requests of a client of another process, which has let them pass.
    pub(super) fn visit(&mut self, shared: &Shared, user: Arc<User>, visitor: &Visitor) {
        self.is_visitor = true;
        self.set_protocol(visitor.protocol);
        self.client.db = visitor.db;
        self.client.log_in(user, &shared.acl);
    }

    fn set_protocol(&mut self, protocol: Protocol) {
        self.reply.set_protocol(protocol);
        self.client.inbox.set_protocol(protocol);
    }

    /// Continues a MULTI and watches that there were before.
    pub(super) fn resume_transaction<E: Engine>(
        &mut self,
        engine: &E,
        multi: Option<Multi>,
        watched: Vec<WatchedKey>,
        is_tripped: bool,
    ) {
        self.transaction.reopen(&mut self.client, multi);
        for key in watched {
            self.transaction.add_watch(engine, &mut self.client, key);
        }
        if is_tripped {
            self.transaction.watch().trip();
        }
    }

    /// Continues a wait that there was before.
    pub(super) fn resume_wait(&mut self, waiter: Arc<Waiter>) {
        self.waiting.block(&self.client, waiter);
    }

    /// Whether so many replies wait, or so much was written, that further requests must wait.
    pub(super) fn must_pause(&self) -> bool {
        self.reply.unsent() >= OUTPUT_PAUSE_BYTES as u64 || self.executor.logged_bytes() >= self.logged_max
    }

    /// See [`super::Session::set_logged_max`].
    pub(super) fn set_logged_max(&mut self, bytes: u64) {
        self.logged_max = bytes.max(1);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.executor.must_close()
    }

    /// Closes the connection once its replies are sent.
    pub(super) fn close_after_reply(&mut self) {
        self.executor.effect(Effect::Close);
    }

    /// Whether other connections may have something for this one that it did not ask for.
    pub(super) fn hears_of_others(&self) -> bool {
        self.client.subscriptions.is_some() || self.client.is_monitor || self.client.tracking.is_some()
    }

    /// Cuts the connection if it has more output than it may have.
    pub(super) fn check_output(&mut self) {
        let held_bytes = self.reply.unsent();
        if !self.client.inbox.admits(held_bytes) {
            self.reply.clear();
            self.close_after_reply();
        }
        if self.hears_of_others() {
            self.client.inbox.set_held(held_bytes);
        }
    }

    /// The session runs: takes what has come from others, ends a wait whose time has passed, and goes on where it had to
    /// wait for its engine.
    pub(super) fn begin<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        self.check_user(server);
        if self.waiting.is_on() {
            self.waiting.try_again(&server.shared, &self.client);
            self.take_mail(server, now_ms);
            self.run_blocked(server, now_ms);
            if !self.waiting.runs_again() {
                self.end_wait_if_late(server, now_ms);
            }
            self.serve_ready(server, now_ms);
        } else if self.client.inbox.has_mail() {
            self.take_mail(server, now_ms);
        }
    }

    /// Looks the connection's user up again if users have changed. It ends if its user is gone, or may not listen any more to
    /// what it is subscribed to.
    #[inline]
    fn check_user<E: Engine>(&mut self, server: &Server<E>) {
        if !self.client.access.is_fresh(&server.shared.acl) {
            self.look_user_up(server);
        }
    }

    #[cold]
    fn look_user_up<E: Engine>(&mut self, server: &Server<E>) {
        if !self.client.access.refresh(&server.shared.acl) {
            // What it has asked before, the end of its user perhaps, is still answered.
            return self.close_after_reply();
        }
        let user = self.client.access.user();
        if self.client.subscriptions.as_ref().is_some_and(|own| !own.are_allowed(user)) {
            self.client.inbox.close();
            self.close_after_reply();
        }
    }

    /// Takes what the session owes its host, once it has run.
    pub(super) fn finish<E: Engine>(
        &mut self,
        server: &Server<E>,
        progress: &mut super::Progress,
        now_ms: u64,
    ) {
        self.check_user(server);
        progress.wake_at_ms = self.waiting.wake_at_ms();
        progress.takes_long = std::mem::take(&mut self.client.takes_long);
        progress.is_suspended = self.waiting.is_suspended() && !progress.takes_long;
        progress.effects = self.executor.take_effects();
        progress.wrote = self.executor.take_wrote();
        progress.logged_bytes = self.executor.take_logged_bytes();
        if progress.takes_long {
            // Others see meanwhile what it is at.
            self.show(now_ms);
        }
        if self.commands > 0 {
            self.executor.meter().stop();
            let counters = &server.shared.counters;
            counters
                .commands
                .fetch_add(std::mem::take(&mut self.commands), std::sync::atomic::Ordering::Relaxed);
            self.executor.count(counters);
            self.show(now_ms);
        }
    }

    /// Brings up to date what others see of the connection.
    fn show(&mut self, now_ms: u64) {
        let protocol = if self.reply.protocol() == Protocol::Resp2 { 2 } else { 3 };
        self.client.show(protocol, now_ms);
    }

    /// Writes into the slow log what was slow together; `run` are the requests that have run, up to the last of them.
    pub(super) fn log_late<'a, E>(
        &mut self,
        server: &Server<E>,
        run: usize,
        request: impl Fn(usize) -> Option<&'a [&'a [u8]]>,
        now_ms: u64,
    ) {
        self.executor.meter().log_late((server, &self.client), run, request, now_ms);
    }

    /// Whether commands that shared a reading of the clock were slow together.
    pub(super) fn is_late(&mut self) -> bool {
        self.executor.meter().is_late()
    }

    /// Divides the time since the last reading of the clock among the commands that have run since.
    pub(super) fn settle<E>(&mut self, server: &Server<E>, now_ms: u64) {
        self.executor.meter().settle(server, now_ms);
    }

    /// Whether a pause holds a request back. One that would be refused anyway is not held, as in Redis; one of another process's client is
    /// not this process's to hold.
    pub(super) fn hold<E: Engine>(&mut self, server: &Server<E>, args: &[&[u8]], now_ms: u64) -> bool {
        let hub = &server.shared.hub;
        if !hub.interest.has(Interest::PAUSE) || self.executor.is_suspended() || self.is_visitor {
            return false;
        }
        let Some(pause) = hub.pauses.present(&hub.interest, now_ms) else { return false };
        let Ok(spec) = admission::find(args) else { return false };
        let origin = if self.transaction.is_open() { Origin::Queue } else { Origin::Connection };
        if admission::admit(&server.shared, &self.client, spec, args, origin, || {}).is_err() {
            return false;
        }
        if pause.only_writes && !self.may_write(spec) {
            return false;
        }
        self.waiting.hold(&server.shared, &self.client, pause.until_ms);
        true
    }

    /// Whether a request could change something, here or for other connections.
    fn may_write(&self, spec: &CommandSpec) -> bool {
        if spec.id == EXEC {
            return self.transaction.multi().is_some_and(Multi::writes);
        }
        spec.flags.intersects(Flags::WRITE.with(Flags::MAY_REPLICATE))
    }

    /// Says whether a request is a search that one behind it in the pipeline makes superfluous: both are of the same index, and have the
    /// option LATEST.
    #[cold]
    pub(super) fn note_newer_search(&mut self, ahead: &Ahead<'_>, at: usize) {
        let latest = |args: &[&[u8]]| {
            let is_search = args.first().is_some_and(|name| name.eq_ignore_ascii_case(b"ft.search"));
            is_search && search::has_latest(args.get(3..).unwrap_or_default())
        };
        let Some((now, _)) = ahead.get(at).filter(|(args, _)| latest(args)) else {
            self.client.has_newer_search = false;
            return;
        };
        // Behind SELECT, a name is that of another index.
        let is_select =
            |args: &[&[u8]]| args.first().is_some_and(|name| name.eq_ignore_ascii_case(b"select"));
        let behind = ahead.iter().skip(at + 1).map(|(args, _)| &**args);
        let mut behind = behind.take_while(|args| !is_select(args)).filter(|args| args.get(1) == now.get(1));
        self.client.has_newer_search = behind.any(latest);
    }

    /// Runs or queues one request and leaves its reply.
    #[inline]
    pub(super) fn run<E: Engine>(&mut self, server: &Server<E>, args: &[&[u8]], now_ms: u64) -> Step {
        self.executor.meter().start(server);
        let start = self.reply.len();
        let outcome = self.admit_and_run(server, args, now_ms);
        if matches!(outcome, Ok(Did::Directly)) && self.is_plain() {
            self.commands += 1;
            return Step::Done;
        }
        self.conclude(server, outcome, start, now_ms)
    }

    /// Whether a command that went the short way leaves nothing to be looked after.
    #[inline]
    fn is_plain(&self) -> bool {
        self.client.reply_mode == ReplyMode::On
            && self.client.tracking.is_none()
            && !self.client.inbox.has_mail()
            && !self.executor.is_suspended()
            && self.drafts.is_empty()
    }

    /// Looks after what a request leaves, whose reply begins at `start`.
    #[inline(never)]
    fn conclude<E: Engine>(
        &mut self,
        server: &Server<E>,
        outcome: Result<Did, Stop>,
        start: usize,
        now_ms: u64,
    ) -> Step {
        self.executor.release();
        self.count_rounds(server, self.begun.first().map(|permit| permit.spec().id));
        if let Err(Stop::Suspended) = outcome {
            self.reply.truncate(start);
            match self.client.sql_wait.again_ms.take() {
                Some(again_ms) => self.waiting.wait_for_sql(&self.client, again_ms),
                None => self.waiting.suspend(),
            }
            return Step::Suspended;
        }
        if self.executor.is_suspended() {
            self.executor.forget_suspended(server);
        }
        self.client.sql_wait = SqlWait::default();
        self.client.peers_since_ms = None;
        self.client.may_be_forwarded = false;
        self.commands += 1;
        self.drafts.clear();
        if !self.transaction.is_open() && self.client.tracking.is_some() {
            subscription::forget_caching(&mut self.client);
        }
        if let Err(Stop::Error(error)) = outcome {
            self.reply.truncate(start);
            reply_error(&mut self.reply, &server.shared, &error);
        }
        match self.client.reply_mode {
            ReplyMode::On => {}
            ReplyMode::Off => self.reply.truncate(start),
            ReplyMode::SkipNext => {
                self.reply.truncate(start);
                self.client.reply_mode = ReplyMode::SkipThis;
            }
            ReplyMode::SkipThis => {
                self.reply.truncate(start);
                self.client.reply_mode = ReplyMode::On;
            }
        }
        self.look_after(server, 0, now_ms);
        Step::Done
    }

    /// Counts for a command how often it has waited for a cluster.
    #[inline]
    pub(super) fn count_rounds<E: Engine>(&mut self, server: &Server<E>, command: Option<CommandId>) {
        let rounds = self.executor.take_rounds();
        if rounds != (0, 0)
            && let Some(command) = command
        {
            server.shared.statistics.waited(command, rounds);
        }
    }

    /// Looks after what requests leave to others, `count` of which are not counted yet.
    pub(super) fn look_after<E: Engine>(&mut self, server: &Server<E>, count: u64, now_ms: u64) {
        self.commands += count;
        self.serve_ready(server, now_ms);
        self.run_blocked(server, now_ms);
        // What a command did to its own connection through others comes behind its reply. A session that was suspended just
        // now takes it when it goes on: that it was woken meanwhile must not be forgotten.
        if self.client.inbox.has_mail() && !self.waiting.is_suspended() {
            self.take_mail(server, now_ms);
        }
    }

    /// Runs the blocked command again, if the connection does that itself and was called.
    fn run_blocked<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        if server.engine.holds_locks() {
            return;
        }
        if let Some(waiter) = self.waiting.waiter().filter(|waiter| waiter.is_unheard()) {
            let topics = waiter.wait.keys.iter().map(|key| Topic::Key(waiter.db, key.clone()));
            if server.shared.peers.want(&topics.collect::<Vec<Topic>>(), &waiter.inbox) {
                waiter.set_heard();
            }
        }
        // It may be called while it runs.
        while let Some(waiter) = self.waiting.waiter().cloned()
            && (self.executor.is_suspended() || waiter.take_call())
        {
            let ran = self.executor.run_blocked(server, &waiter, now_ms);
            self.count_rounds(server, Some(waiter.spec.id));
            match ran {
                Blocked::Suspended => return self.waiting.suspend_blocked(),
                Blocked::Waits => {}
                Blocked::Ended => self.take_mail(server, now_ms),
            }
            self.executor.release();
        }
    }

    /// Serves blocked connections whose keys have changed.
    fn serve_ready<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        if self.executor.has_ready() {
            if !self.executor.serve_ready(server, now_ms) {
                self.waiting.suspend();
            }
            self.executor.release();
        }
    }

    #[inline(always)]
    fn admit_and_run<E: Engine>(
        &mut self,
        server: &Server<E>,
        args: &[&[u8]],
        now_ms: u64,
    ) -> Result<Did, Stop> {
        let is_queueing = self.transaction.is_open();
        let request = match self.admit(server, args, now_ms) {
            Ok(request) => request,
            Err(error) => return Err(self.refused(server, error, now_ms).into()),
        };
        let is_queued = is_queueing && request.spec().waits_for_exec();
        let outcome = if !is_queueing && self.run_directly(server, &request, now_ms)? {
            Ok(Did::Directly)
        } else {
            self.queue_or_run(server, &request, now_ms).map(|()| Did::InFull)
        };
        let is_suspended = matches!(outcome, Err(Stop::Suspended));
        if is_suspended {
            self.begun = vec![request.permit()];
        }
        if server.shared.hub.interest.has(Interest::MONITORS) && !is_queued && !is_suspended {
            monitors::show(&server.shared, &self.client, request.spec(), args, now_ms);
        }
        outcome
    }

    /// Lets a request run.
    #[inline(always)]
    fn admit<'a, E: Engine>(
        &mut self,
        server: &Server<E>,
        args: &'a [&'a [u8]],
        now_ms: u64,
    ) -> Result<Admitted<'a>, CommandError> {
        self.client.last_command = "";
        let spec = admission::find(args)?;
        self.client.last_command = spec.name;
        if self.executor.is_suspended() {
            self.executor.go_on_evicting(server, now_ms);
            // It has begun, and may even be committed.
            if let Some(permit) = self.begun.first().filter(|permit| permit.spec().id == spec.id) {
                return Ok(admission::go_on(*permit, args));
            }
        }
        let origin = if self.transaction.is_open() { Origin::Queue } else { Origin::Connection };
        let (executor, hands_over) = (&mut self.executor, self.client.hands_over);
        let make_room = || executor.make_room(server, hands_over, now_ms);
        let request = admission::admit(&server.shared, &self.client, spec, args, origin, make_room)
            .and_then(|request| self.check_queue(server, request))
            .inspect_err(|_| server.shared.statistics.rejected(spec.id, 1))?;
        match self.drafts.failure() {
            Some(error) => Err(CommandError::Engine(error.clone())),
            None => Ok(request),
        }
    }

    /// Refuses an EXEC whose queue needs memory that is not there.
    #[inline]
    fn check_queue<'a, E: Engine>(
        &self,
        server: &Server<E>,
        request: Admitted<'a>,
    ) -> Result<Admitted<'a>, CommandError> {
        match server.shared.shortage_text() {
            Some(text)
                if request.spec().id == EXEC && self.transaction.multi().is_some_and(Multi::needs_memory) =>
            {
                Err(CommandError::text(text))
            }
            _ => Ok(request),
        }
    }

    /// A request is refused: an open MULTI will be, too, and an EXEC ends it, as in Redis.
    #[cold]
    fn refused<E: Engine>(&mut self, server: &Server<E>, error: CommandError, now_ms: u64) -> CommandError {
        if let CommandError::Denied(denial) = &error {
            let is_queued = self.transaction.is_open();
            let context = if is_queued { acl::Context::Multi } else { acl::Context::TopLevel };
            self.show(now_ms);
            let shown = client_info(&self.client.card.lock(), now_ms);
            server.shared.note_denial(denial.as_ref().clone(), context, shown, now_ms);
        }
        self.transaction.refuse();
        if self.client.last_command != "exec" {
            return error;
        }
        self.transaction.end(&server.engine, &mut self.client);
        let text = error.reply_text();
        let text = text.strip_prefix("ERR ").unwrap_or(&text);
        CommandError::owned(format!("EXECABORT Transaction discarded because of: {text}"))
    }

    /// Runs a GET or SET the short way, if there is one; false if it must be run in full.
    #[inline(always)]
    fn run_directly<E: Engine>(
        &mut self,
        server: &Server<E>,
        request: &Admitted<'_>,
        now_ms: u64,
    ) -> Result<bool, CommandError> {
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        if !self.executor.run_directly(server, &mut caller, request, &self.drafts, now_ms)? {
            return Ok(false);
        }
        let meter = self.executor.meter();
        meter.ran(request.spec().id);
        if meter.is_exact() {
            meter.settle(server, now_ms);
            meter.log_late((server, &self.client), 1, |_| Some(request.args()), now_ms);
        }
        Ok(true)
    }

    #[inline(never)]
    fn queue_or_run<E: Engine>(
        &mut self,
        server: &Server<E>,
        request: &Admitted<'_>,
        now_ms: u64,
    ) -> Result<(), Stop> {
        let (spec, args) = (request.spec(), request.args());
        if self.transaction.is_open() && spec.waits_for_exec() {
            self.transaction
                .queue(&mut self.client, request, &mut self.drafts, &server.shared.settings)
                .inspect_err(|_| server.shared.statistics.rejected(spec.id, 1))?;
            self.reply.simple("QUEUED");
            return Ok(());
        }
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        let begin = self.executor.meter().begin(server, spec, now_ms);
        let outcome = if has_handler(spec) {
            self.executor.run(server, &mut caller, request, &self.drafts, now_ms)
        } else {
            self.session_command(server, request, now_ms).map(|()| Ran::Done)
        };
        let waiter = match outcome {
            Ok(Ran::Waits(waiter)) => waiter,
            Ok(_) => {
                self.executor.meter().end((server, &self.client), spec, &begin, args, now_ms);
                return Ok(());
            }
            Err(Stop::Suspended) => return Err(Stop::Suspended),
            Err(Stop::Error(error)) => {
                server.shared.statistics.failed(spec.id, 1);
                self.executor.meter().end((server, &self.client), spec, &begin, args, now_ms);
                return Err(Stop::Error(error));
            }
        };
        // It is counted once it has been served.
        self.waiting.block(&self.client, waiter);
        Ok(())
    }

    /// Runs a command that belongs to the session itself. These are the rows without a handler.
    fn session_command<E: Engine>(
        &mut self,
        server: &Server<E>,
        request: &Admitted<'_>,
        now_ms: u64,
    ) -> Result<(), Stop> {
        let (spec, args) = (request.spec(), request.args());
        match spec.name {
            "multi" => {
                self.transaction.open(&mut self.client)?;
                self.reply.ok();
            }
            "exec" => return self.exec(server, now_ms),
            "discard" => {
                if !self.transaction.is_open() {
                    return Err(CommandError::text("ERR DISCARD without MULTI").into());
                }
                self.transaction.end(&server.engine, &mut self.client);
                self.reply.ok();
            }
            "watch" => return self.watch(server, args, now_ms),
            "unwatch" => {
                self.transaction.unwatch(&server.engine, &mut self.client);
                self.reply.ok();
            }
            "reset" => self.reset(server),
            "quit" => {
                self.reply.ok();
                self.close_after_reply();
            }
            _ => return Err(CommandError::owned(format!("ERR unknown command '{}'", spec.name)).into()),
        }
        Ok(())
    }

    fn exec<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Result<(), Stop> {
        let Some(multi) = self.transaction.multi() else {
            return Err(CommandError::text("ERR EXEC without MULTI").into());
        };
        if multi.is_refused() {
            self.transaction.end(&server.engine, &mut self.client);
            return Err(
                CommandError::text("EXECABORT Transaction discarded because of previous errors.").into()
            );
        }
        // A commit of its own that the engine has not ended yet trips its watch, too.
        if !self.executor.is_suspended() && self.transaction.is_stale(now_ms) {
            self.transaction.end(&server.engine, &mut self.client);
            self.reply.null_array();
            return Ok(());
        }
        let outcome = match self.run_multi(server, now_ms) {
            // It waited for a lock, and a script keeps the server busy by now: as if it had come only now.
            Err(Stop::Error(error)) if error.reply_text().starts_with("BUSY ") => {
                Err(self.refused(server, error, now_ms).into())
            }
            outcome => outcome,
        };
        if !matches!(outcome, Err(Stop::Suspended)) {
            self.transaction.end(&server.engine, &mut self.client);
        }
        outcome
    }

    /// Runs the queue of the open MULTI.
    fn run_multi<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Result<(), Stop> {
        let queue = self.transaction.multi().map(Multi::queue).unwrap_or_default();
        let mut arguments: SmallVec<[&[u8]; 16]> =
            SmallVec::with_capacity(queue.iter().map(Queued::count).sum());
        for queued in queue {
            queued.args().for_each(|argument| arguments.push(argument));
        }
        let mut calls: SmallVec<[Call<'_>; 4]> = SmallVec::with_capacity(queue.len());
        let mut rest = arguments.as_slice();
        for queued in queue {
            let (args, behind) = rest.split_at(queued.count());
            calls.push(Call { spec: queued.spec(), args, drafts: queued.drafts() });
            rest = behind;
        }
        let watched: Vec<Watched<'_>> = self
            .transaction
            .watched()
            .iter()
            .map(|WatchedKey { db, key, version, .. }| Watched { db: *db, key, version: *version })
            .collect();
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        self.executor.run_queue(server, &mut caller, &calls, (&watched, self.transaction.watch()), now_ms)
    }

    fn watch<E: Engine>(&mut self, server: &Server<E>, args: &[&[u8]], now_ms: u64) -> Result<(), Stop> {
        if self.transaction.is_open() {
            return Err(CommandError::text("ERR WATCH inside MULTI is not allowed").into());
        }
        let db = self.client.db;
        let mut new: Vec<&[u8]> = args.iter().skip(1).copied().collect();
        new.retain(|key| !self.transaction.watches(db, key));
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        if !new.is_empty() {
            // A key that was gone already when it is watched may go: that it is removed must not count as a change.
            self.executor.look_at(server, &mut caller, &new, 1, now_ms)?;
            for key in new {
                if !self.transaction.watches(db, key) {
                    self.transaction.add_unknown(&server.engine, &mut self.client, db, key);
                }
            }
        }
        let keys: Vec<Vec<u8>> =
            self.transaction.unknown().iter().map(|watched| watched.key.clone()).collect();
        if !keys.is_empty() {
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
            let looks = self.executor.look_at(server, &mut caller, &keys, 0, now_ms)?;
            self.transaction.note_looks(&looks);
        }
        self.reply.ok();
        Ok(())
    }

    fn reset<E: Engine>(&mut self, server: &Server<E>) {
        self.transaction.end(&server.engine, &mut self.client);
        self.waiting.leave(&server.shared);
        subscription::leave(&mut self.client, &server.shared);
        self.client.db = 0;
        self.client.access = server.shared.default_access();
        self.client.authenticated = !server.shared.acl.needs_login();
        self.client.show_user(&mut self.client.card.lock());
        self.client.reply_mode = ReplyMode::On;
        self.client.no_touch = false;
        self.client.labels_mut().name.clear();
        self.client.labels_mut().no_evict = false;
        self.client.sql = None;
        self.set_protocol(Protocol::Resp2);
        self.reply.simple("RESET");
    }

    /// Takes what has come: the reply to the command that blocks, messages, the order to close.
    fn take_mail<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        if !self.client.inbox.has_mail() {
            return;
        }
        let mail = self.client.inbox.take(OUTPUT_PAUSE_BYTES);
        let mut has_room = true;
        if let Some(answer) = mail.answer {
            if let Some(waiter) = self.waiting.end(&self.client) {
                self.count_waiter(server, &waiter, answer.took_ns, now_ms);
            }
            has_room &= self.client.reply_mode != ReplyMode::On || self.reply.mail(&answer.reply);
            self.executor.note_written(answer.wrote);
        }
        has_room &= mail.pushes.iter().all(|message| self.reply.mail(message));
        // A connection that misses a message is better told so by its end.
        if mail.must_close || !has_room {
            self.close_after_reply();
        }
    }

    /// Ends a wait whose time has passed, unless another connection serves it just now.
    fn end_wait_if_late<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        match self.waiting.end_if_late(&server.shared, &self.client, now_ms) {
            Some(waiter) => {
                self.count_waiter(server, &waiter, 0, now_ms);
                // Whatever the command replies elsewhere, as in Redis.
                self.reply.null_array();
            }
            None => self.take_mail(server, now_ms),
        }
    }

    /// A blocked command has ended: it counts now, and not when it began to wait.
    fn count_waiter<E: Engine>(&mut self, server: &Server<E>, waiter: &Waiter, took_ns: u64, now_ms: u64) {
        let args: Vec<&[u8]> = waiter.request.iter().map(Vec::as_slice).collect();
        self.executor.meter().record((server, &self.client), waiter.spec, took_ns, &args, now_ms);
    }

    /// Ends the connection: watches, subscriptions, a wait and the entry in the list of clients go.
    pub(super) fn close<E: Engine>(&mut self, server: &Server<E>) {
        self.executor.forget_suspended(server);
        self.executor.forget_eviction(server);
        self.transaction.end(&server.engine, &mut self.client);
        self.waiting.leave(&server.shared);
        subscription::leave(&mut self.client, &server.shared);
        self.client.inbox.leave();
        server.shared.clients.lock().remove(&self.client.id);
    }
}

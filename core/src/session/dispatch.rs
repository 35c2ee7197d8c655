//! From a parsed request to a reply: admission (known, arity, authenticated), queueing in MULTI, and execution as one
//! transaction.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::serve::{note_reads, show_monitors};
use super::{Queued, State, long_arguments};
use crate::catalog::{self, CommandSpec, Flags};
use crate::command::args::quoted;
use crate::command::{self, CommandError, Context, Handler, Outcome};
use crate::engine::{Drafts, Engine, EngineError, Scope, Txn};
use crate::limits::PIPELINE_AHEAD_MIN;
use crate::resp::Reply;
use crate::server::hub::Interest;
use crate::server::hub::notify::{EXPIRED, NEW};
use crate::server::{Client, Effect, ReplyMode, Server, Settings, WatchedKey};

/// In error texts, arguments of unknown commands are cut to this many bytes, as in Redis.
const QUOTED_ARGUMENT_BYTES: usize = 128;

impl State {
    /// Runs or queues one request and leaves its reply.
    pub(super) fn run<E: Engine>(&mut self, server: &Server<E>, args: &[&[u8]], now_ms: u64) {
        self.commands += 1;
        self.meter.start(server);
        let start = self.reply.len();
        let outcome = self.admit_and_run(server, args, now_ms);
        self.drafts.clear();
        self.overlay.release();
        if self.client.tracking.is_some() {
            self.forget_caching();
        }
        if let Err(error) = outcome {
            self.reply.truncate(start);
            reply_error(&mut self.reply, server, &error);
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
        if !self.ready.is_empty() {
            self.serve_ready(server, now_ms);
            self.overlay.release();
        }
        // What the command told its own connection comes behind its reply.
        if self.client.inbox.has_mail() {
            self.take_mail();
        }
    }

    fn admit_and_run<E: Engine>(
        &mut self,
        server: &Server<E>,
        args: &[&[u8]],
        now_ms: u64,
    ) -> Result<(), CommandError> {
        let written = match self.drafts.failure() {
            Some(error) => Err(CommandError::Engine(error.clone())),
            None => Ok(()),
        };
        let spec = match self.admit(server, args).and_then(|spec| written.map(|()| spec)) {
            Ok(spec) => spec,
            Err(error) => {
                if let Some(multi) = &mut self.client.multi {
                    multi.refused = true;
                }
                return Err(error);
            }
        };
        let is_queued = self.client.multi.is_some() && spec.waits_for_exec();
        let outcome = self.queue_or_run(server, spec, args, now_ms);
        if server.shared.hub.interest.has(Interest::MONITORS) && !is_queued {
            show_monitors(&server.shared, &self.client, spec, args, now_ms);
        }
        outcome
    }

    fn queue_or_run<E: Engine>(
        &mut self,
        server: &Server<E>,
        spec: &'static CommandSpec,
        args: &[&[u8]],
        now_ms: u64,
    ) -> Result<(), CommandError> {
        if self.client.multi.is_none() && self.run_directly(server, spec.id, args, now_ms)? {
            self.meter.ran(spec.id);
            if self.meter.is_exact() {
                self.meter.settle(server, now_ms);
                self.meter.log_late((server, &self.client), 1, |_| Some(args), now_ms);
            }
            return Ok(());
        }
        if let Some(multi) = &mut self.client.multi
            && spec.waits_for_exec()
        {
            if spec.flags.contains(Flags::NO_MULTI) {
                multi.refused = true;
                server.shared.statistics.rejected(spec.id);
                return Err(CommandError::text("ERR Command not allowed inside a transaction"));
            }
            let bytes = args.iter().map(|argument| argument.len() as u64).sum();
            if let Err(error) = server.shared.settings.bounds().budget.ask(1, bytes) {
                multi.refused = true;
                server.shared.statistics.rejected(spec.id);
                return Err(error.into());
            }
            multi.queue.push(Queued::new(spec, args, std::mem::take(&mut self.drafts)));
            self.reply.simple("QUEUED");
            return Ok(());
        }
        let begin = self.meter.begin(server, spec, now_ms);
        let outcome = match command::handler(spec) {
            Some(handler) => self.execute(server, spec, handler, args, now_ms),
            None => self.session_command(server, spec, args, now_ms),
        };
        if outcome.is_err() {
            server.shared.statistics.failed(spec.id);
        }
        self.meter.end((server, &self.client), spec, &begin, args, now_ms);
        outcome
    }

    /// The row of a request that may run now.
    fn admit<E: Engine>(
        &mut self,
        server: &Server<E>,
        args: &[&[u8]],
    ) -> Result<&'static CommandSpec, CommandError> {
        let name = args.first().copied().unwrap_or_default();
        self.client.last_command = "";
        let mut spec = catalog::lookup(name).ok_or_else(|| unknown_command(name, args))?;
        if spec.is_container()
            && let Some(sub) = args.get(1)
        {
            spec = catalog::lookup_sub(spec, sub).ok_or_else(|| unknown_subcommand(spec, sub))?;
        }
        self.client.last_command = spec.name;
        self.may_run(server, spec, args).inspect_err(|_| server.shared.statistics.rejected(spec.id))?;
        Ok(spec)
    }

    fn may_run<E: Engine>(
        &self,
        server: &Server<E>,
        spec: &CommandSpec,
        args: &[&[u8]],
    ) -> Result<(), CommandError> {
        if !spec.accepts(args.len()) {
            let name = spec.name;
            return Err(CommandError::owned(format!("ERR wrong number of arguments for '{name}' command")));
        }
        if spec.flags.contains(Flags::PROTECTED) {
            self.check_protected(server, spec)?;
        }
        if !spec.flags.contains(Flags::NO_AUTH) && self.client.must_authenticate(&server.shared) {
            return Err(CommandError::text("NOAUTH Authentication required."));
        }
        let name_max_bytes = server.shared.settings.bounds().name_max_bytes;
        if name_max_bytes != usize::MAX && args.iter().any(|argument| argument.len() > name_max_bytes) {
            long_arguments::check(spec, args, name_max_bytes)?;
        }
        let is_refused = spec.flags.contains(Flags::DENYOOM)
            || server.shared.is_short_of_memory() && self.is_kept_in_memory(spec);
        if is_refused && let Some(text) = server.shared.shortage_text() {
            return Err(CommandError::text(text));
        }
        if self.client.is_listening() && !spec.is(Flags::WHILE_SUBSCRIBED) {
            let name = spec.name;
            return Err(CommandError::owned(format!(
                "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed \
                 in this context"
            )));
        }
        Ok(())
    }

    /// Whether something of a request stays in memory though it writes nothing: what is queued, or a name.
    fn is_kept_in_memory(&self, spec: &CommandSpec) -> bool {
        self.client.multi.is_some() && spec.waits_for_exec() || spec.is(Flags::KEEPS_NAMES)
    }

    /// Commands that could harm the server are off unless its configuration, or the configuration for connections of
    /// the same machine, says otherwise.
    fn check_protected<E: Engine>(&self, server: &Server<E>, spec: &CommandSpec) -> Result<(), CommandError> {
        let name = spec.container().unwrap_or(spec).name;
        let setting = format!("enable-{name}-command");
        let is_allowed = match server.shared.settings.get(&setting).as_deref() {
            Some("yes") => true,
            Some("local") => self.client.card.lock().is_local(),
            _ => false,
        };
        if is_allowed {
            return Ok(());
        }
        Err(CommandError::owned(format!(
            "ERR {} command not allowed. If the {setting} option is set to \"local\", you can run it from a local \
             connection, otherwise you need to set this option in the configuration file, and then restart the \
             server.",
            name.to_ascii_uppercase()
        )))
    }

    pub(super) fn execute<E: Engine>(
        &mut self,
        server: &Server<E>,
        spec: &'static CommandSpec,
        handler: Handler,
        args: &[&[u8]],
        now_ms: u64,
    ) -> Result<(), CommandError> {
        let mut keys: SmallVec<[&[u8]; 4]> = SmallVec::new();
        let scope = if spec.touches_all_keys(args) {
            Scope::Everything
        } else {
            keys_of(spec, args, &mut keys);
            if keys.len() >= PIPELINE_AHEAD_MIN {
                server.engine.prefetch(self.client.db, &keys);
            }
            if keys.is_empty() { Scope::Nothing } else { Scope::Keys(&keys) }
        };
        let mut guard = server.engine.begin(scope)?;
        // Under the locks: no change of these keys may come between this and the reads.
        self.remember_reads(server, spec, &keys);
        self.begin_events(server);
        let mut txn = Txn::new(&mut guard, &mut self.overlay, now_ms);
        bound(&mut txn, &self.client, &server.shared.settings);
        let mut context = Context {
            txn: &mut txn,
            reply: &mut self.reply,
            client: &mut self.client,
            shared: &server.shared,
            admin: &server.engine,
            effects: &mut self.effects,
            drafts: &mut self.drafts,
            events: &mut self.events,
            wait: Some(&mut self.wait),
        };
        let outcome = handler(&mut context, args);
        if self.events.is_on() {
            note_reads(&mut self.events, &mut txn, self.client.db, spec, (&keys, read_all(&outcome)));
            if outcome.is_err() {
                self.events.keep_reads();
                self.events.publish(&server.shared.hub);
            }
        }
        outcome.and_then(|()| fits(&self.reply))?;
        self.wakes = !spec.is(Flags::WAKES_NOBODY);
        self.count_lookups(spec);
        if self.wait.is_some() && self.is_serving {
            // It still waits, so it has not happened.
            return Ok(());
        }
        if let Some(wait) = self.wait.take() {
            // Under the locks again: whoever changes a key from here on finds the waiter.
            self.begin_wait(server, spec, args, wait);
        }
        self.commit(server, guard, spec.flags.contains(Flags::WRITE), now_ms)
    }

    /// Runs the queue of a MULTI as one transaction; the watched keys are locked with its own.
    pub(super) fn execute_queue<E: Engine>(
        &mut self,
        server: &Server<E>,
        queue: &mut [Queued],
        watched: &[WatchedKey],
        now_ms: u64,
    ) -> Result<(), CommandError> {
        let mut drafts: Vec<Drafts> =
            queue.iter_mut().map(|queued| std::mem::take(&mut queued.drafts)).collect();
        let requests: Vec<Vec<&[u8]>> = queue.iter().map(Queued::args).collect();
        let mut keys: SmallVec<[&[u8]; 4]> = SmallVec::new();
        for (queued, args) in queue.iter().zip(&requests) {
            keys_of(queued.spec, args, &mut keys);
        }
        keys.extend(watched.iter().map(|watched| watched.key.as_slice()));
        let touches_all =
            queue.iter().zip(&requests).any(|(queued, args)| queued.spec.touches_all_keys(args));
        let scope = if touches_all { Scope::Everything } else { Scope::Keys(&keys) };
        let mut guard = server.engine.begin(scope)?;
        // Only now that the locks are held can no watched key of the queue change any more.
        if self.client.watch.is_tripped() {
            self.reply.null_array();
            return Ok(());
        }
        for (queued, args) in queue.iter().zip(&requests) {
            let mut own: SmallVec<[&[u8]; 4]> = SmallVec::new();
            if self.client.tracking.is_some() {
                keys_of(queued.spec, args, &mut own);
            }
            self.remember_reads(server, queued.spec, &own);
        }
        self.begin_events(server);
        let mut txn = Txn::new(&mut guard, &mut self.overlay, now_ms);
        bound(&mut txn, &self.client, &server.shared.settings);
        self.reply.array(queue.len());
        let is_watched = server.shared.hub.interest.has(Interest::MONITORS);
        for ((queued, args), drafts) in queue.iter().zip(&requests).zip(&mut drafts) {
            let Some(handler) = command::handler(queued.spec) else {
                self.reply.ok();
                continue;
            };
            let start = self.reply.len();
            let db = self.client.db;
            txn.next_command();
            let begin = self.meter.begin(server, queued.spec, now_ms);
            let mut context = Context {
                txn: &mut txn,
                reply: &mut self.reply,
                client: &mut self.client,
                shared: &server.shared,
                admin: &server.engine,
                effects: &mut self.effects,
                drafts,
                events: &mut self.events,
                wait: None,
            };
            let outcome = handler(&mut context, args);
            if self.events.is_on() {
                let mut own: SmallVec<[&[u8]; 4]> = SmallVec::new();
                keys_of(queued.spec, args, &mut own);
                note_reads(&mut self.events, &mut txn, db, queued.spec, (&own, read_all(&outcome)));
            }
            match outcome {
                // What a command took from a key is nowhere if its reply is: nothing of the queue happens but what it has told others.
                Ok(()) => fits(&self.reply)?,
                Err(CommandError::Engine(error)) => return Err(error.into()),
                Err(error) => {
                    server.shared.statistics.failed(queued.spec.id);
                    self.reply.truncate(start);
                    reply_error(&mut self.reply, server, &error);
                }
            }
            self.meter.end((server, &self.client), queued.spec, &begin, args, now_ms);
            if is_watched {
                show_monitors(&server.shared, &self.client, queued.spec, args, now_ms);
            }
        }
        self.wakes = queue.iter().any(|queued| !queued.spec.is(Flags::WAKES_NOBODY));
        self.meter.settle(server, now_ms);
        self.meter.log_late(
            (server, &self.client),
            requests.len(),
            |at| requests.get(at).map(Vec::as_slice),
            now_ms,
        );
        let writes = queue.iter().any(|queued| queued.spec.flags.contains(Flags::WRITE));
        self.commit(server, guard, writes, now_ms)
    }

    /// Empties the overlay, and the events that are to go with it.
    fn begin_events<E: Engine>(&mut self, server: &Server<E>) {
        self.overlay.clear();
        self.events.begin(server.shared.hub.notified());
        if self.events.wants(EXPIRED | NEW) {
            self.overlay.keep_turns();
        }
    }

    fn commit<E: Engine>(
        &mut self,
        server: &Server<E>,
        guard: E::Snapshot<'_>,
        writes: bool,
        now_ms: u64,
    ) -> Result<(), CommandError> {
        if self.overlay.is_empty() {
            self.events.publish(&server.shared.hub);
            return Ok(());
        }
        match server.engine.commit(guard, &mut self.overlay, now_ms) {
            Ok(receipt) => {
                let counters = &server.shared.counters;
                let expired = self.overlay.expired_count();
                if expired > 0 {
                    counters.expired_keys.fetch_add(expired, Ordering::Relaxed);
                }
                self.wrote = self.wrote.max(receipt);
                self.events.publish(&server.shared.hub);
                if server.shared.hub.interest.has(Interest::OF_WRITES) {
                    self.tell_changes(server);
                }
                Ok(())
            }
            // A read that met an expired key tried to collect it; the read itself is fine.
            Err(EngineError::Full(_) | EngineError::ReadOnly(_)) if !writes => {
                self.events.keep_reads();
                self.events.publish(&server.shared.hub);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn count_lookups(&mut self, spec: &CommandSpec) {
        if spec.flags.contains(Flags::READONLY) {
            let (hits, misses) = self.overlay.lookups();
            self.hits += hits;
            self.misses += misses;
        }
    }

    /// The connection must be closed after this reply.
    pub(super) fn close_after_reply(&mut self) {
        self.effects.push(Effect::Close);
    }
}

/// Tells a transaction what its client and its home want of it.
fn bound(txn: &mut Txn<'_>, client: &Client, settings: &Settings) {
    txn.set_touches(!client.no_touch);
    txn.set_blob_min(settings.blob_min_bytes());
    txn.set_changes_max(settings.bounds().changes_max);
    txn.set_budget(settings.bounds().budget);
}

/// An error if something was left out of the reply.
pub(super) fn fits(reply: &Reply) -> Result<(), CommandError> {
    if reply.is_cut() {
        return Err(CommandError::text(
            "ERR the reply does not fit into this server's memory; ask for less at a time",
        ));
    }
    Ok(())
}

/// Replies with an error and counts it.
fn reply_error<E>(reply: &mut Reply, server: &Server<E>, error: &CommandError) {
    let text = error.reply_text();
    reply.error(&text);
    server.shared.counters.error_replies.fetch_add(1, Ordering::Relaxed);
    server.shared.statistics.error(&text);
}

/// Adds the keys a request names. A request whose keys cannot be told from its arguments is wrong in a way its handler
/// will name before it touches any key.
fn keys_of<'a>(spec: &CommandSpec, args: &[&'a [u8]], keys: &mut SmallVec<[&'a [u8]; 4]>) {
    if let Ok(places) = spec.keys.positions(args) {
        keys.extend(places.iter().filter_map(|place| args.get(*place).copied()));
    }
}

/// Whether a command that read its keys one after the other came to the last of them.
fn read_all(outcome: &Outcome) -> bool {
    !matches!(outcome, Err(error) if *error == CommandError::WRONG_TYPE)
}

fn unknown_command(name: &[u8], args: &[&[u8]]) -> CommandError {
    let mut text =
        format!("ERR unknown command '{}', with args beginning with: ", quoted(name, QUOTED_ARGUMENT_BYTES));
    let mut used = 0;
    for argument in args.iter().skip(1) {
        if used >= QUOTED_ARGUMENT_BYTES {
            break;
        }
        let shown = quoted(argument, QUOTED_ARGUMENT_BYTES - used);
        used += shown.len() + 3;
        text.push_str(&format!("'{shown}' "));
    }
    CommandError::owned(text)
}

fn unknown_subcommand(spec: &CommandSpec, sub: &[u8]) -> CommandError {
    let shown = quoted(sub, QUOTED_ARGUMENT_BYTES);
    let container = spec.name.to_ascii_uppercase();
    CommandError::owned(format!("ERR unknown subcommand '{shown}'. Try {container} HELP."))
}

//! One command inside an open transaction: its handler runs, and what it read is noted.
//!
//! The executor calls the commands of requests and queues; a handler that runs commands itself (scripts, SQL, triggers)
//! uses [`Context::call`]. Both come through [`Context::run`], so a command behaves the same whatever runs it.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::admission::{self, Admitted, Origin};
use super::pending_users;
use super::{CommandError, Context, Outcome, client_info, handler};
use crate::acl::{self, Denial, Reason};
use crate::catalog::{CommandId, CommandSpec, Flags};
use crate::engine::{Drafts, EngineError};
use crate::limits::{ERROR_CODE_MAX_BYTES, ERROR_CODES_MAX};
use crate::resp::{Decoder, Reply, Value};
use crate::server::Shared;
use crate::server::outbox::Action;
use crate::server::triggers::{Trigger, TriggerEnd};

/// The keys of one request.
pub type Keys<'a> = SmallVec<[&'a [u8]; 4]>;

/// Adds the keys a request names. A request whose keys cannot be found in its arguments is wrong in a way that its handler
/// will name before it touches any key.
#[inline]
pub fn keys_of<'a>(spec: &CommandSpec, args: &[&'a [u8]], keys: &mut Keys<'a>) {
    if let Some(in_a_row) = spec.keys.in_a_row(args) {
        keys.extend_from_slice(in_a_row);
    } else if let Ok(places) = spec.keys.positions(args) {
        keys.extend(places.iter().filter_map(|place| args.get(*place).copied()));
    }
}

/// What is counted of one transaction, once it is committed.
#[derive(Debug, Default)]
pub struct Tally {
    /// Keys that reads have looked for and found.
    pub hits: u64,
    /// Keys that they have not found.
    pub misses: u64,
    /// Commands that scripts have called, each once, and how often.
    calls: Counts<CommandId>,
    /// Commands that have failed though the transaction goes on: those that scripts called, and the scripts.
    failed: Counts<CommandId>,
    /// Commands that scripts called and that were refused before they ran.
    rejected: Counts<CommandId>,
    /// The codes of the errors that they replied with.
    errors: Counts<String>,
    /// Whether one of the four above counts anything: most transactions run no script.
    has_nested: bool,
    /// Triggers that have run.
    pub triggers: SmallVec<[TriggerRun; 1]>,
}

/// How often there was what. A script makes millions of calls, so each is here once.
type Counts<T> = SmallVec<[(T, u64); 2]>;

/// Counts one more.
#[inline]
fn count<T, Q>(counts: &mut Counts<T>, what: &Q)
where
    T: std::borrow::Borrow<Q>,
    Q: ToOwned<Owned = T> + PartialEq + ?Sized,
{
    match counts.iter_mut().find(|(other, _)| (*other).borrow() == what) {
        Some((_, count)) => *count += 1,
        None => counts.push((what.to_owned(), 1)),
    }
}

/// A trigger that has run in a transaction.
#[derive(Debug)]
pub struct TriggerRun {
    /// It.
    pub trigger: Arc<Trigger>,
    /// How that ended.
    pub end: TriggerEnd,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
}

impl TriggerRun {
    /// Counts it.
    pub fn count(&self) {
        self.trigger.counts.add(self.end, self.took_ns);
    }
}

impl Tally {
    /// Counts nothing.
    pub fn clear(&mut self) {
        (self.hits, self.misses) = (0, 0);
        if std::mem::take(&mut self.has_nested) {
            self.calls.clear();
            self.failed.clear();
            self.rejected.clear();
            self.errors.clear();
        }
        if !self.triggers.is_empty() {
            self.triggers.clear();
        }
    }

    /// Counts the triggers that have refused a transaction or failed in it, though it has not happened.
    pub fn count_refusals(&mut self) {
        for run in self.triggers.drain(..).filter(|run| run.end != TriggerEnd::Ran) {
            run.count();
        }
    }

    /// A script has called a command.
    #[inline]
    pub fn called(&mut self, command: CommandId) {
        self.has_nested = true;
        count(&mut self.calls, &command);
    }

    /// A command has failed though the transaction goes on.
    pub fn failed(&mut self, command: CommandId) {
        self.has_nested = true;
        count(&mut self.failed, &command);
    }

    /// A command that a script called was refused before it ran.
    pub fn rejected(&mut self, command: CommandId) {
        self.has_nested = true;
        count(&mut self.rejected, &command);
    }

    /// An error was the reply, though the transaction goes on. Its code is the first word.
    pub fn error(&mut self, text: &str) {
        let code = text.split(' ').next().unwrap_or_default();
        // Scripts make up codes.
        let has_room = self.errors.len() < ERROR_CODES_MAX && code.len() <= ERROR_CODE_MAX_BYTES;
        if has_room || self.errors.iter().any(|(other, _)| other == code) {
            self.has_nested = true;
            count(&mut self.errors, code);
        }
    }

    /// Has the commands of scripts counted. The time that they took is that of the script.
    #[inline]
    pub fn count_nested(&mut self, shared: &Shared) {
        if std::mem::take(&mut self.has_nested) {
            self.count_all_nested(shared);
        }
    }

    #[inline(never)]
    fn count_all_nested(&mut self, shared: &Shared) {
        for (command, count) in self.calls.drain(..) {
            shared.statistics.ran(command, count, 0, false);
        }
        self.failed.drain(..).for_each(|(command, count)| shared.statistics.failed(command, count));
        self.rejected.drain(..).for_each(|(command, count)| shared.statistics.rejected(command, count));
        self.errors.drain(..).for_each(|(code, count)| shared.count_errors(&code, count));
    }
}

/// What a connection with a cache has read in one transaction.
#[derive(Debug, Default)]
pub struct TrackedReads(BTreeMap<Vec<u8>, TrackedRead>);

/// When a key was read.
#[derive(Clone, Copy, Debug)]
pub struct TrackedRead {
    /// Whether it was read before a later command of the transaction named it for writing.
    pub before: bool,
    /// Whether it was read after the last of these commands.
    pub after: bool,
}

impl TrackedReads {
    /// Forgets them.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys, each once, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], TrackedRead)> {
        self.0.iter().map(|(key, read)| (key.as_slice(), *read))
    }

    fn add(&mut self, key: &[u8]) {
        match self.0.get_mut(key) {
            Some(read) => read.after = true,
            None => drop(self.0.insert(key.to_vec(), TrackedRead { before: false, after: true })),
        }
    }

    fn written(&mut self, key: &[u8]) {
        if let Some(read) = self.0.get_mut(key) {
            read.before |= read.after;
            read.after = false;
        }
    }
}

impl<'e> Context<'_, 'e> {
    /// Runs a command that was admitted.
    ///
    /// # Errors
    /// What its handler ends with; its reply is then to be undone.
    pub fn run(&mut self, admitted: &Admitted<'_>) -> Outcome {
        let (spec, args) = (admitted.spec(), admitted.args());
        let Some(handler) = handler(admitted.permit()) else {
            return Err(CommandError::text("ERR This Redis command is not allowed from script"));
        };
        if self.sql.is_any_running() {
            self.spare_running(spec, args)?;
        }
        let db = self.client.db;
        let (seen, balance) = (self.txn.keys_seen(), self.reply.balance());
        let outcome = self.expect_work(args.len() as u64).and_then(|()| handler(self, args));
        let outcome = match self.reply.balance().wrapping_sub(balance) {
            1 => outcome,
            written => outcome.and_then(|()| self.check_whole(spec, args, written)),
        };
        if spec.is(Flags::READONLY) && outcome.is_ok() {
            let (hits, misses) = self.txn.lookups_since(seen);
            self.tally.hits += hits;
            self.tally.misses += misses;
        }
        if self.outbox.keeps_events() {
            if spec.reads_are_noted() {
                let mut keys = Keys::new();
                keys_of(spec, args, &mut keys);
                self.note_reads_in(
                    db,
                    &keys,
                    !matches!(outcome, Err(ref error) if *error == CommandError::WRONG_TYPE),
                );
            }
            self.take_turns(None);
        }
        if self.client.tracking.is_some() && outcome.is_ok() {
            self.track(spec, args);
        }
        if let Err(CommandError::Engine(error)) = &outcome
            && error.asks_to_run_again()
        {
            *self.interrupted = Some(error.clone());
        }
        outcome
    }

    /// Refuses what would write to a database under a statement that runs on it and calls this command, or that may: SQLite would
    /// go on with pages that are no more.
    #[cold]
    fn spare_running(&self, spec: &CommandSpec, args: &[&[u8]]) -> Outcome {
        const RUNNING: CommandError = CommandError::text(
            "ERR a statement that runs on the database may not change its key by a command",
        );
        if !spec.is(Flags::WRITE) {
            return Ok(());
        }
        let mut keys = Keys::new();
        keys_of(spec, args, &mut keys);
        // In whatever database: MOVE and COPY name another one.
        let is_running = keys.iter().any(|key| self.sql.is_key_running(key));
        if is_running || spec.touches_all_keys(args) { Err(RUNNING) } else { Ok(()) }
    }

    /// Notes what a connection with a cache has read, or wrote over.
    #[cold]
    fn track(&mut self, spec: &CommandSpec, args: &[&[u8]]) {
        let Some(tracking) = &self.client.tracking else { return };
        let mut keys = Keys::new();
        keys_of(spec, args, &mut keys);
        if spec.is(Flags::WRITE) {
            keys.iter().for_each(|key| self.reads.written(key));
        } else if spec.is(Flags::READONLY) && tracking.remembers() {
            keys.iter().for_each(|key| self.reads.add(key));
        }
    }

    /// Calls a command from inside the running one, in the same transaction, and gives its reply as a value. It is admitted
    /// like any other call; it never waits, and its events, reads and actions are those of the transaction.
    ///
    /// # Errors
    /// The error that the command replies with. An error of the engine that
    /// [asks to run again](crate::engine::EngineError::asks_to_run_again) must be passed on by the handler: the executor
    /// runs the whole transaction again, whatever its handlers made of the error.
    pub fn call(&mut self, args: &[&[u8]]) -> Result<Value, CommandError> {
        let mut reply = self.reply.beside();
        self.call_into(args, &mut reply)?;
        // Values in blobs are read into memory here.
        let bytes = reply.take().map_err(|error| EngineError::Damaged(error.to_string()))?;
        match Decoder::new().decode(&bytes) {
            Ok(Some((value, _))) => Ok(value),
            _ => Err(CommandError::text("ERR the reply of a nested call cannot be read")),
        }
    }

    /// The same, with the reply as bytes in the protocol of `reply`, which must be empty.
    ///
    /// # Errors
    /// As for [`Context::call`].
    pub fn call_into(&mut self, args: &[&[u8]], reply: &mut Reply) -> Outcome {
        let spec = admission::find(args)?;
        let admitted = self.admit_nested(spec, args, Origin::Nested)?;
        self.run_nested(&admitted, reply)
    }

    /// Lets a command run inside the running one.
    ///
    /// # Errors
    /// Why it may not, in Redis' words.
    pub(crate) fn admit_nested<'a>(
        &mut self,
        spec: &'static CommandSpec,
        args: &'a [&'a [u8]],
        origin: Origin,
    ) -> Result<Admitted<'a>, CommandError> {
        let admitted = admission::admit(self.shared, self.client, spec, args, origin, || {});
        admitted.map_err(|error| match error {
            CommandError::Denied(denial) => {
                let text = format!("NOPERM ACL failure in script: {}", denial.text(false));
                self.note_denial(denial, acl::Context::Lua);
                CommandError::owned(text)
            }
            error => error,
        })
    }

    /// Runs a command inside the running one, with its reply as bytes in the protocol of `reply`, which must be empty.
    ///
    /// # Errors
    /// As for [`Context::call`].
    pub(crate) fn run_nested(&mut self, admitted: &Admitted<'_>, reply: &mut Reply) -> Outcome {
        let drafts = Drafts::new();
        let mut inner = self.inner(Some(reply), &drafts);
        // The transaction around it may have been opened for some keys only.
        if admitted.spec().touches_all_keys(admitted.args())
            && let Err(error) = inner.txn.require_everything()
        {
            *inner.interrupted = Some(error.clone());
            return Err(error.into());
        }
        inner.run(admitted)
    }

    /// Lets a request run that was admitted some time ago, if its user still may run it: a queued one, or one that has been
    /// waiting for a key.
    ///
    /// # Errors
    /// What the user lacks now.
    pub(crate) fn admit_later<'a>(
        &mut self,
        spec: &'static CommandSpec,
        args: &'a [&'a [u8]],
        context: acl::Context,
    ) -> Result<Admitted<'a>, CommandError> {
        let checked = if self.outbox.changes_of_users().next().is_none() {
            self.client.access.check(&self.shared.acl, spec, args)
        } else {
            // A command before it in the queue may have changed its user.
            let name = self.client.access.user().name();
            match pending_users::user(self, name) {
                Some(user) => user.check(spec, args),
                None => Err(Denial::new(name, Reason::Command, spec.name.as_bytes()).into()),
            }
        };
        match checked {
            Ok(permit) => Ok(admission::go_on(permit, args)),
            Err(denial) => {
                self.note_denial(denial.clone(), context);
                Err(denial.into())
            }
        }
    }

    /// Notes in ACL LOG that something was denied, whatever becomes of the transaction. The connection is shown as others see
    /// it.
    pub(crate) fn note_denial(&mut self, denial: Box<Denial>, context: acl::Context) {
        let shown = client_info(&self.client.card.lock(), self.now_ms());
        self.outbox.push(Action::Denied(denial, context, shown));
    }

    /// Runs another command of the same transaction, with arguments of its own that came as blobs, in the same reply. It
    /// must not wait.
    ///
    /// # Errors
    /// As for [`Context::run`].
    pub(crate) fn run_inner(&mut self, request: &Admitted<'_>, drafts: &Drafts) -> Outcome {
        self.inner(None, drafts).run(request)
    }

    /// The context of another command of the same transaction, which must not wait; it replies into `reply`, or where this
    /// one does.
    pub(super) fn inner<'i>(
        &'i mut self,
        reply: Option<&'i mut Reply>,
        drafts: &'i Drafts,
    ) -> Context<'i, 'e> {
        self.txn.next_command();
        Context {
            txn: &mut *self.txn,
            reply: reply.unwrap_or(&mut *self.reply),
            client: &mut *self.client,
            shared: self.shared,
            admin: self.admin,
            outbox: &mut *self.outbox,
            drafts,
            reads: &mut *self.reads,
            sql: &mut *self.sql,
            tally: &mut *self.tally,
            interrupted: &mut *self.interrupted,
            wait: None,
            later: None,
            may_hand_over: self.may_hand_over,
            may_let_pass: false,
            is_first_run: self.is_first_run,
            search: &mut *self.search,
            in_trigger: self.in_trigger,
        }
    }
}

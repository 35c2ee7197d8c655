//! What a running statement reaches: the pages of its database, and commands of the same transaction.

use smallvec::SmallVec;

use crate::catalog::Flags;
use crate::command::admission::{self, Origin};
use crate::command::script::libraries;
use crate::command::{CommandError, Context};
use crate::data::DataError;
use crate::data::sqldb::Database;
use crate::engine::{EngineError, Result};
use crate::limits::{SCRIPT_TURN_NS, SQL_DRAFT_MAX_BYTES};
use crate::resp::Protocol;
use crate::script::{Answer, ScriptFlags, Tick, Writer, read_reply};
use crate::server::sql::{Draft, Found, OldPages, Reservation, View};
use crate::sql::{Access, LibraryFunction, STEPS_OF_A_TICK, SqlHost};

/// Why a statement was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kill {
    /// The server ends.
    Stopping,
    /// It is to run again where it may take its time.
    TakesLong,
    /// Another database is under the key now, or none.
    Gone,
    /// It took more steps than this home allows.
    Steps(u64),
    /// It took longer than so many milliseconds.
    Time(u64),
}

/// A command that a statement calls takes as long as so many steps, a page that is read or written too.
const STEPS_OF_A_CALL: u64 = STEPS_OF_A_TICK as u64 / 8;

/// Why a reader ends that began long ago.
const LOST: &str = "ERR too much was changed since the statement, cursor or transaction began; what it reads is no longer kept";

/// Why a transaction of SQL.BEGIN ends.
const DRAFT_FULL: &str = "ERR the transaction has changed more than fits into memory; commit earlier";

/// What the client has open, in which the statement runs.
#[derive(Default)]
pub(super) struct Open<'h> {
    /// The database as it reads it; None for one that is not there.
    pub view: Option<&'h View>,
    /// Where its changes go, and the right to make them; None for a cursor.
    pub draft: Option<(&'h mut Draft, &'h mut Option<Reservation>)>,
}

/// The host of one text.
pub(super) struct StatementHost<'h, 'c, 'e, 'k> {
    ctx: &'h mut Context<'c, 'e>,
    database: &'h mut Database<'k>,
    access: Access,
    /// The host's clock at the first tick, which comes so early that it counts as the beginning.
    began_ns: Option<u64>,
    /// Steps that it has taken.
    steps: u64,
    open: Option<Open<'h>>,
    /// Whether others that wait for the key may pass while the statement runs.
    lets_pass: bool,
    /// The database as it was when the first of them passed.
    view: Option<View>,
    /// What the pages were that the statement has changed, if somebody looks at the database as it was.
    old: Option<OldPages>,
    pub has_written: bool,
    pub kill: Option<Kill>,
    /// The database, if a transaction that another client has open keeps the statement from changing it.
    pub reserved: Option<u64>,
}

impl<'h, 'c, 'e, 'k> StatementHost<'h, 'c, 'e, 'k> {
    /// For a text that runs in the transaction of the store.
    pub fn new(
        ctx: &'h mut Context<'c, 'e>,
        database: &'h mut Database<'k>,
        access: Access,
    ) -> StatementHost<'h, 'c, 'e, 'k> {
        // In a MULTI or a script others must not see what happens between its commands.
        let lets_pass = ctx.may_let_pass && ctx.later.is_some() && ctx.txn.is_unchanged();
        StatementHost {
            ctx,
            database,
            access,
            began_ns: None,
            steps: 0,
            open: None,
            lets_pass,
            view: None,
            old: None,
            has_written: false,
            kill: None,
            reserved: None,
        }
    }

    /// For one that runs in what the client has open.
    pub fn of_open(
        ctx: &'h mut Context<'c, 'e>,
        database: &'h mut Database<'k>,
        access: Access,
        open: Open<'h>,
    ) -> StatementHost<'h, 'c, 'e, 'k> {
        let lets_pass = open.view.is_some();
        StatementHost { open: Some(open), lets_pass, ..StatementHost::new(ctx, database, access) }
    }

    /// What the pages were that were changed, at the end.
    pub fn take_old(&mut self) -> Option<OldPages> {
        self.old.take()
    }

    /// Notes that everything is to run again, if that is what an error means.
    fn noted<T>(&mut self, result: std::result::Result<T, DataError>) -> Result<T> {
        result.map_err(|error| match error {
            DataError::Engine(error) => {
                if error.asks_to_run_again() {
                    *self.ctx.interrupted = Some(error.clone());
                }
                error
            }
            // Its type was looked at when the statement began, and nothing else may write the key meanwhile.
            DataError::WrongType => EngineError::Damaged("an SQL database that became another type".into()),
        })
    }

    /// The database as the statement reads it, if that may be another one than it is now.
    fn view(&self) -> Option<&View> {
        self.view.as_ref().or_else(|| self.open.as_ref()?.view)
    }

    fn draft(&mut self) -> Option<&mut Draft> {
        let (draft, _) = self.open.as_mut()?.draft.as_mut()?;
        Some(draft)
    }

    /// Lets others pass that wait for the key. From then on the pages are read as they were.
    fn let_pass(&mut self) -> Tick {
        if self.view().is_none() {
            let view = self.database.collection().and_then(|collection| self.ctx.shared.sql.view(collection));
            self.lets_pass = view.is_some();
            self.view = view;
        }
        let Some(collection) = self.view().map(View::collection) else { return Tick::Continue };
        self.ctx.txn.let_pass();
        match self.database.reopen(self.ctx.txn) {
            Ok(found) if found == Some(collection) => Tick::Continue,
            _ if self.open.is_none() => {
                *self.ctx.interrupted = Some(EngineError::OnceMore);
                Tick::Kill
            }
            _ => {
                self.kill = Some(Kill::Gone);
                Tick::Kill
            }
        }
    }

    /// Keeps what a page is, if somebody looks at the database as it was.
    fn keep_old(&mut self, page: u32) -> Result<()> {
        let Some(old) = self.old.as_mut().filter(|old| !old.has(page)) else { return Ok(()) };
        let mut bytes = vec![0; self.database.page_bytes()].into_boxed_slice();
        let was_there = match self.database.read(self.ctx.txn, page, 0, &mut bytes) {
            Ok(was_there) => was_there,
            Err(error) => return self.noted(Err(error)),
        };
        old.add(page, was_there.then_some(bytes));
        if !old.has_count() {
            let count = self.database.page_count(self.ctx.txn);
            let count = self.noted(count)?;
            if let Some(old) = &mut self.old {
                old.set_count(count);
            }
        }
        Ok(())
    }
}

impl SqlHost for StatementHost<'_, '_, '_, '_> {
    fn read_page(&mut self, page: u32, offset: usize, out: &mut [u8]) -> Result<bool> {
        self.steps += STEPS_OF_A_CALL;
        if let Some(drafted) = self.draft().and_then(|draft| draft.page(page)) {
            let part = drafted.and_then(|bytes| bytes.get(offset..)?.get(..out.len()));
            return Ok(part.map(|part| out.copy_from_slice(part)).is_some());
        }
        match self.view().map(|view| view.read(page, offset, out)) {
            Some(Found::Old(was_there)) => return Ok(was_there),
            Some(Found::Lost) => return Err(EngineError::Refused(LOST.into())),
            Some(Found::Current) | None => {}
        }
        let read = self.database.read(self.ctx.txn, page, offset, out);
        self.noted(read)
    }

    fn write_page(&mut self, page: u32, bytes: &[u8]) -> Result<()> {
        self.steps += STEPS_OF_A_CALL;
        if self.draft().is_some() {
            let count = self.page_count()?;
            let Some(draft) = self.draft() else { return Ok(()) };
            if draft.bytes() + bytes.len() > SQL_DRAFT_MAX_BYTES {
                return Err(EngineError::Refused(DRAFT_FULL.into()));
            }
            draft.write(page, bytes, count);
            return Ok(());
        }
        self.has_written = true;
        self.keep_old(page)?;
        let written = self.database.write(self.ctx.txn, page, bytes);
        self.noted(written)
    }

    fn truncate(&mut self, pages: u32) -> Result<()> {
        if let Some(draft) = self.draft() {
            draft.truncate(pages);
            return Ok(());
        }
        self.has_written = true;
        if self.old.is_some() {
            for page in pages..self.page_count()? {
                self.keep_old(page)?;
            }
        }
        let cut = self.database.truncate(self.ctx.txn, pages);
        self.noted(cut)
    }

    fn page_count(&mut self) -> Result<u32> {
        if let Some(count) = self.draft().and_then(|draft| draft.count()) {
            return Ok(count);
        }
        match self.view().map(View::page_count) {
            Some(Found::Old(count)) => return Ok(count),
            Some(Found::Lost) => return Err(EngineError::Refused(LOST.into())),
            Some(Found::Current) | None => {}
        }
        let count = self.database.page_count(self.ctx.txn);
        self.noted(count)
    }

    fn may_write(&mut self) -> bool {
        let (databases, now_ms) = (&self.ctx.shared.sql, self.ctx.now_ms());
        match &mut self.open {
            None => {
                self.lets_pass = false;
                if self.view.as_ref().is_some_and(|view| !view.is_current()) {
                    *self.ctx.interrupted = Some(EngineError::OnceMore);
                    return false;
                }
                let Some(collection) = self.database.collection() else { return true };
                let about = databases.before_a_change(collection, now_ms);
                if about.has_readers && self.old.is_none() {
                    self.old = Some(self.ctx.sql.take_old(collection));
                }
                self.reserved = about.is_reserved.then_some(collection);
                !about.is_reserved
            }
            Some(Open { view: None, .. }) => true,
            Some(Open { draft: None, .. }) => false,
            Some(Open { view: Some(view), draft: Some((_, reservation)) }) => match reservation {
                Some(reservation) => reservation.holds(now_ms),
                None if view.is_current() => {
                    **reservation = databases.reserve(view.collection(), now_ms);
                    self.reserved = reservation.is_none().then(|| view.collection());
                    reservation.is_some()
                }
                None => false,
            },
        }
    }

    fn call(&mut self, arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        if self.must_not_call(reply) {
            return Answer::Error;
        }
        self.answer(arguments, reply, StatementHost::run)
    }

    fn library_function(&mut self, name: &[u8]) -> Option<LibraryFunction> {
        let set = libraries::present(self.ctx);
        let (_, function) = set.function(name)?;
        Some(LibraryFunction { is_deterministic: function.flags.has(ScriptFlags::DETERMINISTIC) })
    }

    fn library_state(&mut self) -> Option<u64> {
        let is_changing = self.ctx.outbox.changes_of_libraries().next().is_some();
        (!is_changing).then(|| self.ctx.shared.scripts.libraries.generation())
    }

    fn call_function(&mut self, name: &[u8], arguments: &[&[u8]], reply: &mut Writer) -> Answer {
        // One that is deterministic reaches nothing of the server.
        let is_deterministic = self.library_function(name).is_some_and(|function| function.is_deterministic);
        if !is_deterministic && self.must_not_call(reply) {
            return Answer::Error;
        }
        let command: &[u8] = if self.access == Access::ReadOnly { b"FCALL_RO" } else { b"FCALL" };
        let mut request: SmallVec<[&[u8]; 8]> = SmallVec::from_slice(&[command, name, b"0"]);
        request.extend_from_slice(arguments);
        self.answer(&request, reply, |host, request, reply| host.run_as(Origin::Function, request, reply))
    }

    fn tick(&mut self) -> Tick {
        let shared = self.ctx.shared;
        if shared.scripts.long.is_stopping() {
            self.kill = Some(Kill::Stopping);
            return Tick::Kill;
        }
        self.steps += u64::from(STEPS_OF_A_TICK);
        if let Some(most) = shared.settings.bounds().sql_steps.filter(|most| self.steps > *most) {
            self.kill = Some(Kill::Steps(most));
            return Tick::Kill;
        }
        let now_ns = shared.host.monotonic_ns();
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        let time_max_ms = shared.settings.sql_time_max_ms();
        if let Some(most_ms) =
            time_max_ms.filter(|most_ms| now_ns.saturating_sub(began_ns) / 1_000_000 >= *most_ms)
        {
            self.kill = Some(Kill::Time(most_ms));
            return Tick::Kill;
        }
        if self.ctx.may_hand_over && now_ns.saturating_sub(began_ns) >= SCRIPT_TURN_NS {
            *self.ctx.interrupted = Some(EngineError::TakesLong);
            self.kill = Some(Kill::TakesLong);
            return Tick::Kill;
        }
        if self.lets_pass && self.ctx.txn.is_waited_for() {
            return self.let_pass();
        }
        Tick::Continue
    }

    fn now_ms(&self) -> u64 {
        self.ctx.now_ms()
    }

    fn random(&mut self) -> u64 {
        // Goes back with a run that is thrown away.
        self.ctx.client.random.u64(..)
    }
}

impl StatementHost<'_, '_, '_, '_> {
    /// Whether nothing may be called, for which the error is written. Otherwise the locks stay from now on: what is read of the
    /// keys is to be of one moment.
    fn must_not_call(&mut self, reply: &mut Writer) -> bool {
        self.lets_pass = false;
        if self.view.is_some() {
            // Others have passed already.
            *self.ctx.interrupted = Some(EngineError::OnceMore);
        }
        if self.open.is_some() {
            reply.text(b"ERR redis(), tables over keys and functions cannot be used in a transaction of SQL.BEGIN or in a cursor; use MULTI");
        }
        self.open.is_some()
    }

    /// Answers what a call comes to.
    fn answer(
        &mut self,
        arguments: &[&[u8]],
        reply: &mut Writer,
        run: impl FnOnce(&mut Self, &[&[u8]], &mut Writer) -> std::result::Result<(), CommandError>,
    ) -> Answer {
        if self.ctx.interrupted.is_some() {
            return Answer::Abandon;
        }
        self.steps += STEPS_OF_A_CALL;
        match run(self, arguments, reply) {
            Ok(()) => Answer::Value,
            Err(CommandError::Engine(error)) if error.asks_to_run_again() => Answer::Abandon,
            Err(error) => {
                reply.text(error.reply_text().as_bytes());
                Answer::Error
            }
        }
    }

    /// Runs a command for the function `redis`, with the rights of the statement's user.
    fn run(&mut self, arguments: &[&[u8]], writer: &mut Writer) -> std::result::Result<(), CommandError> {
        let spec = admission::find(arguments)?;
        if spec.is(Flags::NOSCRIPT) {
            return Err(CommandError::text("ERR This Redis command is not allowed from SQL"));
        }
        if self.access == Access::ReadOnly && (spec.may_commit() || spec.is(Flags::MAY_REPLICATE)) {
            return Err(CommandError::text("ERR Write commands are not allowed from SQL that only reads"));
        }
        self.run_as(Origin::Nested, arguments, writer)
    }

    /// Runs a command if the user may run it.
    fn run_as(
        &mut self,
        origin: Origin,
        arguments: &[&[u8]],
        writer: &mut Writer,
    ) -> std::result::Result<(), CommandError> {
        let spec = admission::find(arguments)?;
        let admitted = self.ctx.admit_nested(spec, arguments, origin)?;
        let mut reply = self.ctx.reply.beside();
        reply.set_protocol(Protocol::Resp3);
        self.ctx.tally.called(spec.id);
        self.ctx.run_nested(&admitted, &mut reply)?;
        let bytes = reply.take().map_err(|error| EngineError::Damaged(error.to_string()))?;
        if let Some(error) = bytes.strip_prefix(b"-") {
            let text = String::from_utf8_lossy(error.strip_suffix(b"\r\n").unwrap_or(error)).into_owned();
            return Err(CommandError::owned(text));
        }
        read_reply(&bytes, writer)
            .map_err(|_| CommandError::text("ERR the reply of a nested call cannot be read"))
    }
}

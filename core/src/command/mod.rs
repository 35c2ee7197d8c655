//! The commands: one file per group, each handler a plain function of a context and the arguments.
//!
//! A handler reads and writes keys only through [`Context::txn`], replies only through [`Context::reply`], and asks others
//! and the host for anything else through [`Context::outbox`]. It checks everything before it writes anything, so that an error leaves
//! no half-done change in the transaction. What a Redis value *is* (how a hash becomes subkeys) belongs to
//! [`crate::data`]; a handler only parses arguments and shapes replies.
//!
//! A new command is one row in the catalog, one handler here listed in its group's `HANDLERS`, and one transcript.

pub mod admission;
pub mod args;
mod atomic;
mod acl;
mod bitmap;
mod blocking;
pub mod call;
mod cluster;
mod connection;
mod definitions;
mod error;
mod generic;
mod geo;
mod graph;
mod hash;
pub mod help;
mod hyperloglog;
mod json;
mod list;
mod pending_users;
mod pubsub;
pub mod random;
mod reload;
pub mod scan;
pub mod script;
mod server;
mod set;
mod sorted_set;
pub mod search;
mod sql;
mod stream;
mod string;
pub mod users;
mod whole;

pub(crate) use connection::client_info;
pub use definitions::Unreadable;
pub use error::CommandError;
pub use reload::Reloading;
pub use server::{Facts, facts};

use std::collections::HashMap;
use std::sync::LazyLock;

use self::call::{Tally, TrackedReads};
use crate::acl::Permit;
use crate::catalog::{self, CommandSpec};
use crate::data::string::NewValue;
use crate::engine::{Admin, Db, Drafts, EngineError, Turn, Txn};
use crate::limits::{LONG_WORK_ELEMENT_BYTES, LONG_WORK_ELEMENTS};
use crate::resp::Reply;
use crate::server::hub::{Inbox, Wait, notify};
use crate::server::outbox::Outbox;
use crate::server::peers::Topic;
use crate::server::scripts::ScriptKind;
use crate::server::search::IndexWork;
use crate::server::sql::Leases;
use crate::server::{Client, Shared};

/// What a handler returns: the reply has been written, or this error is the reply.
pub type Outcome = std::result::Result<(), CommandError>;

/// A command's code: the context and all arguments, the command's name first. Arity was checked.
type Handler = fn(&mut Context<'_, '_>, &[&[u8]]) -> Outcome;

/// Where a command says how much work it is about to do; see [`Context::expect_work`].
#[derive(Clone, Copy, Debug)]
pub struct Work {
    may_hand_over: bool,
}

impl Work {
    /// Says how much work is about to be done.
    ///
    /// # Errors
    /// As for [`Context::expect_work`].
    pub fn expect(self, elements: u64) -> Outcome {
        if elements >= LONG_WORK_ELEMENTS && self.may_hand_over {
            return Err(EngineError::TakesLong.into());
        }
        Ok(())
    }
}

/// A server that is busy ([`Context::keep_busy`]) until this is dropped.
#[must_use]
pub struct Busy<'c> {
    shared: &'c Shared,
    with: ScriptKind,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.shared.loading.end_busy(self.with);
    }
}

/// The rest of a command, which runs once its transaction has ended and holds no lock. It writes the reply. Its connection's
/// inbox says whether somebody still waits for that.
pub type Later = Box<dyn FnOnce(&mut Reply, &Inbox) -> Outcome + Send + Sync>;

/// Everything a handler may use.
pub struct Context<'c, 'e> {
    /// Reads and writes of keys.
    pub txn: &'c mut Txn<'e>,
    /// Where the reply goes.
    pub reply: &'c mut Reply,
    /// The connection that sent the command.
    pub client: &'c mut Client,
    /// What all connections share: configuration, counters, the list of clients.
    pub shared: &'c Shared,
    /// What an operator's commands ask of the engine.
    pub admin: &'c dyn Admin,
    /// What the transaction wants of others and of the host, once it is committed.
    pub outbox: &'c mut Outbox,
    /// The arguments that came as blobs.
    pub drafts: &'c Drafts,
    /// What a connection with a cache has read.
    pub reads: &'c mut TrackedReads,
    /// The connections to SQL databases that the transaction has.
    pub sql: &'c mut Leases,
    /// What the transaction changes of indexes.
    pub search: &'c mut IndexWork,
    /// What the executor counts once the transaction is committed.
    pub tally: &'c mut Tally,
    /// The error because of which the executor is to run everything again, once there was one.
    pub interrupted: &'c mut Option<EngineError>,
    /// Whether what takes long is to be handed over ([`Context::expect_work`]).
    pub may_hand_over: bool,
    /// Whether others may pass that wait for its locks, as long as it has changed nothing ([`Txn::let_pass`]).
    pub may_let_pass: bool,
    /// Whether it may ask to be run once more ([`EngineError::OnceMore`]): it was not yet.
    pub is_first_run: bool,
    /// Whether the function of a trigger calls the command.
    pub in_trigger: bool,
    /// Where the outermost command of a request may leave its rest ([`Context::finish_later`]); None in a MULTI and for calls of
    /// other commands.
    pub later: Option<&'c mut Option<Later>>,
    /// Where a command that finds nothing says what it waits for; None where it must not wait, in a MULTI.
    pub wait: Option<&'c mut Option<Wait>>,
}

/// The handlers of one group: command names as in the catalog, and their code.
type Group = &'static [(&'static str, Handler)];

/// Every group of commands. Commands that change when other commands run (MULTI, EXEC, RESET …) belong to the session
/// and have no handler.
const GROUPS: &[Group] = &[
    acl::HANDLERS,
    bitmap::HANDLERS,
    blocking::HANDLERS,
    cluster::HANDLERS,
    connection::HANDLERS,
    generic::HANDLERS,
    geo::HANDLERS,
    graph::HANDLERS,
    hash::HANDLERS,
    hyperloglog::HANDLERS,
    json::HANDLERS,
    list::HANDLERS,
    pubsub::HANDLERS,
    script::HANDLERS,
    search::HANDLERS,
    server::HANDLERS,
    set::HANDLERS,
    sorted_set::HANDLERS,
    sql::HANDLERS,
    stream::HANDLERS,
    string::HANDLERS,
];

static BY_ID: LazyLock<Vec<Option<Handler>>> = LazyLock::new(|| {
    let by_name: HashMap<&str, Handler> = GROUPS.iter().copied().flatten().copied().collect();
    catalog::all().iter().map(|spec| by_name.get(spec.name).copied()).collect()
});

/// The code of a command that may run; None for the commands of the session itself. A subcommand has its container's
/// handler. Without a permit there is no way to a handler.
fn handler(permit: Permit) -> Option<Handler> {
    handler_of(permit.spec())
}

fn handler_of(spec: &CommandSpec) -> Option<Handler> {
    BY_ID.get(spec.container().unwrap_or(spec).id.index()).copied().flatten()
}

/// Whether a command has a handler: the commands of the session itself have none.
pub fn has_handler(spec: &CommandSpec) -> bool {
    handler_of(spec).is_some()
}

impl<'c> Context<'c, '_> {
    /// The database the connection has selected.
    pub fn db(&self) -> Db {
        self.client.db
    }

    /// An argument that becomes a value, however it came.
    pub fn value<'a>(&mut self, args: &[&'a [u8]], number: usize) -> NewValue<'a> {
        match self.drafts.get(number) {
            Some(draft) => NewValue::Draft(draft),
            None => NewValue::Bytes(args.get(number).copied().unwrap_or_default()),
        }
    }

    /// Notes an event of the keyspace of a class of [`notify`](crate::server::hub::notify). Belongs behind the write
    /// it names, and before the next one: the event of a new key comes first.
    #[inline]
    pub fn notify(&mut self, class: u32, event: &'static str, key: &[u8]) {
        self.notify_in(self.client.db, class, event, key);
    }

    /// The same for a key of another database than the selected one.
    #[inline]
    pub fn notify_in(&mut self, db: Db, class: u32, event: &'static str, key: &[u8]) {
        if self.outbox.keeps_events() {
            self.take_turns(None);
            self.outbox.note(class, event, db, key);
        }
    }

    /// Notes that something was taken out of a key, and `del` if that was the last.
    #[inline]
    pub fn notify_taken(&mut self, class: u32, event: &'static str, key: &[u8]) {
        if self.outbox.keeps_events() {
            self.notify(class, event, key);
            if self.txn.is_missing(self.client.db, key) {
                self.notify(notify::GENERIC, "del", key);
            }
        }
    }

    /// Has the other processes of the store hear what the connection is about to listen to: the command runs again once they have.
    pub(crate) fn be_heard(&mut self, topics: &[Topic]) -> Outcome {
        if self.shared.peers.want(topics, &self.client.inbox) {
            return Ok(());
        }
        self.client.waits_for_peers = true;
        *self.interrupted = Some(EngineError::NotHere);
        Err(EngineError::NotHere.into())
    }

    /// Notes that a command that writes has also read these keys, before it writes: reads of what is not there are
    /// events. If not all, the one it read last had a wrong type. Commands that only read need not note it.
    #[inline]
    pub fn note_reads(&mut self, keys: &[&[u8]], all: bool) {
        if self.outbox.keeps_events() {
            self.note_reads_in(self.client.db, keys, all);
        }
    }

    fn note_reads_in(&mut self, db: Db, keys: &[&[u8]], all: bool) {
        if !self.outbox.wants(notify::KEY_MISS) {
            return;
        }
        for key in keys {
            if !all && self.txn.was_asked_last(db, key) {
                break;
            }
            self.take_turns(Some(key));
            if self.txn.is_missing(db, key) {
                self.outbox.note(notify::KEY_MISS, notify::MISS, db, key);
            }
        }
    }

    /// Looks for a key, which removes it if its time has come; the unix time in milliseconds at which it will be gone, if it
    /// ever will.
    ///
    /// # Errors
    /// The engine's.
    pub(crate) fn look_at(&mut self, db: Db, key: &[u8]) -> std::result::Result<Option<u64>, CommandError> {
        let found = self.txn.root(db, key);
        if let Err(error) = &found
            && error.asks_to_run_again()
        {
            *self.interrupted = Some(error.clone());
        }
        let root = found?;
        self.take_turns(None);
        Ok(root.and_then(|root| root.expires_at_ms))
    }

    /// Notes what became of keys since the last time: those that expired and those that are new. With a key, only as long
    /// as it is the one that this is about.
    fn take_turns(&mut self, key: Option<&[u8]>) {
        let outbox = &mut *self.outbox;
        self.txn.take_turns(key, &mut |turn, db, key| match turn {
            Turn::Expired => outbox.note(notify::EXPIRED, "expired", db, key),
            Turn::Appeared => outbox.note(notify::NEW, "new", db, key),
        });
    }

    /// Waits for what is not there, or replies that it is not where waiting is not possible.
    pub fn wait_for(&mut self, wanted: Wait) {
        match &mut self.wait {
            Some(wait) => **wait = Some(wanted),
            None => wanted.nothing.write(self.reply),
        }
    }

    /// Has the rest of the command run once its transaction has ended, where that is possible; else at once.
    ///
    /// # Errors
    /// Those of the rest, if it runs at once.
    pub fn finish_later(&mut self, rest: Later) -> Outcome {
        match &mut self.later {
            Some(later) => {
                **later = Some(rest);
                Ok(())
            }
            None => rest(self.reply, &self.client.inbox),
        }
    }

    /// Says how much work is about to be done, in elements or pairs that are read, sorted or written. What is long does not
    /// run where other connections wait for it: the run is thrown away, and the host runs the request where it may take its
    /// time. To be called before anything is written, and with no effect for what is short.
    ///
    /// # Errors
    /// [`EngineError::TakesLong`], which the handler passes on.
    pub fn expect_work(&self, elements: u64) -> Outcome {
        self.work().expect(elements)
    }

    /// The same for where the context is in use.
    pub fn work(&self) -> Work {
        Work { may_hand_over: self.may_hand_over }
    }

    /// The same for bytes that are read or written.
    ///
    /// # Errors
    /// As for [`Context::expect_work`].
    pub fn expect_bytes(&self, bytes: u64) -> Outcome {
        self.expect_work(bytes / LONG_WORK_ELEMENT_BYTES)
    }

    /// Has the server answer BUSY to others, as long as the guard lives: what runs here has taken longer than
    /// `busy-reply-threshold` and goes on.
    pub fn keep_busy(&self, with: ScriptKind) -> Busy<'c> {
        let (shared, admin) = (self.shared, self.admin);
        shared.loading.begin_busy(with);
        // Those that wait for its keys are refused, too.
        admin.wake_waiting();
        Busy { shared, with }
    }

    /// Unix time in milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.txn.now_ms()
    }
}

//! Blocked connections: who waits for which keys, in the order of their arrival.
//!
//! A command that finds nothing and may wait leaves a [`Wait`]. Its session registers a [`Waiter`] while the locks of
//! its keys are still held, so no change is missed. The connection that changes one of the keys runs the waiter's command again,
//! on its own thread and right after its own command, as the first one it finds in line.
//!
//! Where the engine holds no locks ([`crate::engine::Engine::holds_locks`]) a blocked connection runs its command itself, since two
//! others could run it at once. It is *called* ([`Waiting::call`]): the first in line at a key that has changed. Once it has run, or
//! has ended otherwise, it calls the next one.
//!
//! A waiter ends once: served, timed out, unblocked or gone. The thread that ends it holds its lock ([`Waiter::state`]).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::{Answer, Inbox, Interest, Unblock};
use crate::catalog::CommandSpec;
use crate::engine::{Db, Kind, Receipt};
use crate::resp::{Protocol, Reply};
use crate::server::Client;

/// The reply of a command that finds nothing where it may not wait. One that waited in vain replies with no array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// No array.
    Array,
    /// No value.
    Value,
}

impl Nothing {
    /// Writes it.
    pub fn write(self, reply: &mut Reply) {
        match self {
            Nothing::Array => reply.null_array(),
            Nothing::Value => reply.null(),
        }
    }
}

/// What a command wants to wait for.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Its keys.
    pub keys: Vec<Vec<u8>>,
    /// The type that has what it wants.
    pub kind: Kind,
    /// Whether it takes away what it gets, so that others behind it may find nothing.
    pub takes: bool,
    /// Whether it is over once a key is gone or of another type, which the command then says.
    pub ends_without_key: bool,
    /// Unix time in milliseconds at which it gives up; None for never.
    pub until_ms: Option<u64>,
    /// The reply where waiting is not possible.
    pub nothing: Nothing,
    /// The request to run when a key has changed, the name first, if it is not the one that waits (`$` is now a number).
    pub request: Option<Vec<Vec<u8>>>,
}

/// A blocked connection.
#[derive(Debug)]
pub struct Waiter {
    /// The connection.
    pub inbox: Arc<Inbox>,
    /// The database of its keys.
    pub db: Db,
    /// The protocol of its reply.
    pub protocol: Protocol,
    /// The command.
    pub spec: &'static CommandSpec,
    /// The request, the name first.
    pub request: Vec<Vec<u8>>,
    /// What it waits for.
    pub wait: Wait,
    state: Mutex<WaiterState>,
    /// Whether it is to run its command again.
    is_called: AtomicBool,
    /// Whether other processes of the store may not have heard of it yet.
    is_unheard: AtomicBool,
}

/// What changes of a blocked connection while it waits; the thread that serves or ends it holds it.
#[derive(Debug)]
pub struct WaiterState {
    /// Whether the wait has ended.
    pub is_over: bool,
    /// Whether the connection runs its command itself just now, so that nobody else may end the wait.
    pub is_running: bool,
    /// How CLIENT UNBLOCK is to end the wait if that run finds nothing.
    pub unblocked: Option<Unblock>,
    /// The connection as its command sees it when it runs again.
    pub client: Client,
}

impl Waiter {
    /// A connection about to wait.
    pub fn new(
        client: Client,
        protocol: Protocol,
        spec: &'static CommandSpec,
        request: Vec<Vec<u8>>,
        wait: Wait,
    ) -> Waiter {
        let (inbox, db) = (client.inbox.clone(), client.db);
        let state = WaiterState { is_over: false, is_running: false, unblocked: None, client };
        Waiter {
            inbox,
            db,
            protocol,
            spec,
            request,
            wait,
            state: Mutex::new(state),
            is_called: AtomicBool::new(false),
            is_unheard: AtomicBool::new(false),
        }
    }

    /// Says that other processes must hear of it before it looks at its keys once more.
    pub(crate) fn set_unheard(&self) {
        self.is_unheard.store(true, Ordering::Release);
    }

    /// Whether that is so.
    pub(crate) fn is_unheard(&self) -> bool {
        self.is_unheard.load(Ordering::Acquire)
    }

    /// Other processes have heard of it: it is to look at its keys once more.
    pub(crate) fn set_heard(&self) {
        self.is_unheard.store(false, Ordering::Release);
        self.is_called.store(true, Ordering::Release);
    }

    /// Has the connection run its command again, though nothing may have changed.
    pub fn call(&self) {
        self.is_called.store(true, Ordering::Release);
        self.inbox.wake();
    }

    /// Whether it has been called since this was last asked.
    pub fn take_call(&self) -> bool {
        self.is_called.swap(false, Ordering::AcqRel)
    }

    /// The state of the wait. Nobody else ends it while the lock is held; no lock of the hub may be held when it is taken.
    pub fn state(&self) -> MutexGuard<'_, WaiterState> {
        self.state.lock()
    }
}

/// All blocked connections.
#[derive(Debug, Default)]
pub struct Waiting(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    /// The line at each key, by arrival.
    by_key: HashMap<(Db, Vec<u8>), BTreeMap<u64, Arc<Waiter>>>,
    by_client: HashMap<u64, (u64, Arc<Waiter>)>,
    next_arrival: u64,
}

impl Waiting {
    /// Adds a waiter to the lines at its keys.
    pub fn add(&self, interest: &Interest, waiter: &Arc<Waiter>) {
        let arrival = self.0.lock().next_arrival;
        self.add_at(interest, waiter, arrival);
    }

    /// The same for one that had its place in the lines before.
    pub fn add_at(&self, interest: &Interest, waiter: &Arc<Waiter>, arrival: u64) {
        let mut lines = self.0.lock();
        lines.next_arrival = lines.next_arrival.max(arrival.saturating_add(1));
        for key in &waiter.wait.keys {
            lines.by_key.entry((waiter.db, key.clone())).or_default().insert(arrival, waiter.clone());
        }
        lines.by_client.insert(waiter.inbox.id(), (arrival, waiter.clone()));
        interest.set(Interest::WAITING, true);
    }

    /// Takes a waiter whose wait is over out of all lines.
    pub fn remove(&self, interest: &Interest, waiter: &Waiter) {
        let mut lines = self.0.lock();
        let Some((arrival, _)) = lines.by_client.remove(&waiter.inbox.id()) else { return };
        for key in &waiter.wait.keys {
            let name = (waiter.db, key.clone());
            if let Some(line) = lines.by_key.get_mut(&name) {
                line.remove(&arrival);
                if line.is_empty() {
                    lines.by_key.remove(&name);
                }
            }
        }
        interest.set(Interest::WAITING, !lines.by_client.is_empty());
    }

    /// The first in line at a key of those who arrived at this number or later, and its number.
    pub fn first_from(&self, db: Db, key: &[u8], arrival: u64) -> Option<(u64, Arc<Waiter>)> {
        let lines = self.0.lock();
        let line = lines.by_key.get(&(db, key.to_vec()))?;
        line.range(arrival..).next().map(|(arrival, waiter)| (*arrival, waiter.clone()))
    }

    /// Calls those in line at a key who arrived at this number or later: all up to the first who may take what is there.
    pub fn call(&self, db: Db, key: &[u8], from: u64) {
        let lines = self.0.lock();
        let Some(line) = lines.by_key.get(&(db, key.to_vec())) else { return };
        for waiter in line.range(from..).map(|(_, waiter)| waiter) {
            waiter.call();
            if waiter.wait.takes {
                break;
            }
        }
    }

    /// Calls the first in line at each key, because each may have changed.
    pub fn call_all(&self) {
        self.keys().iter().for_each(|(db, key)| self.call(*db, key, 0));
    }

    /// Whether this connection waits.
    pub fn is_waiting(&self, id: u64) -> bool {
        self.0.lock().by_client.contains_key(&id)
    }

    /// Whether somebody waits for a key.
    pub fn is_awaited(&self, db: Db, key: &[u8]) -> bool {
        self.0.lock().by_key.contains_key(&(db, key.to_vec()))
    }

    /// All keys that somebody waits for.
    pub fn keys(&self) -> Vec<(Db, Vec<u8>)> {
        self.0.lock().by_key.keys().cloned().collect()
    }

    /// The place of a connection in the lines, if it waits.
    pub fn arrival(&self, id: u64) -> Option<u64> {
        self.0.lock().by_client.get(&id).map(|(arrival, _)| *arrival)
    }

    /// Number of keys that somebody waits for.
    pub fn key_count(&self) -> usize {
        self.0.lock().by_key.len()
    }

    /// Number of blocked connections.
    pub fn count(&self) -> usize {
        self.0.lock().by_client.len()
    }

    /// Ends the wait of a connection; false if it does not wait.
    pub fn unblock(&self, interest: &Interest, id: u64, how: Unblock) -> bool {
        let Some((_, waiter)) = self.0.lock().by_client.get(&id).cloned() else { return false };
        let mut state = waiter.state();
        if state.is_over {
            return false;
        }
        if state.is_running {
            state.unblocked = Some(how);
            return true;
        }
        state.is_over = true;
        self.remove(interest, &waiter);
        waiter.inbox.answer(how.answer(waiter.protocol));
        true
    }
}

impl Unblock {
    /// What the connection hears.
    pub fn answer(self, protocol: Protocol) -> Answer {
        let mut reply = Reply::new(protocol);
        match self {
            Unblock::TimedOut => reply.null_array(),
            Unblock::Error => reply.error("UNBLOCKED client unblocked via CLIENT UNBLOCK"),
        }
        Answer { reply: reply.as_bytes().to_vec(), wrote: Receipt::default(), took_ns: 0 }
    }
}

//! Wake-ups: the commands of blocked connections run again, by the connection that has changed one of their keys, right
//! behind its own command and in the order of their arrival.
//!
//! Where the engine holds no locks a blocked connection is called instead, and runs its command itself
//! ([`Executor::run_blocked`]).

use std::sync::Arc;

use super::{Caller, Executor, Plan, Ran, Stop, Waits};
use crate::acl;
use crate::catalog::Flags;
use crate::command::CommandError;
use crate::command::call::{Keys, keys_of};
use crate::engine::{Db, Drafts, Engine, EngineError, Kind};
use crate::server::hub::{Answer, Waiter};
use crate::server::{Client, Server};

/// What became of one blocked connection.
enum Served {
    /// Its command has replied.
    Yes,
    /// It still waits; this is the kind of the key, None if there is no key.
    No(Option<Kind>),
    /// The engine must fetch something first.
    Suspended,
}

/// What became of one more run of a blocked command.
enum Again {
    /// It has replied.
    Replied(Answer),
    /// It still waits; these are the kinds of the keys that were looked at, None where there is no key.
    Waits(Vec<Option<Kind>>),
    /// The engine must fetch something first.
    Suspended,
}

/// What became of a blocked connection that ran its command itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// The wait is over, and the answer is in its inbox.
    Ended,
    /// It still waits.
    Waits,
    /// The engine must fetch something first.
    Suspended,
}

impl Executor {
    /// Whether blocked connections are to be served, or their waits ended.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.unblocks.is_empty()
    }

    /// Serves the connections that wait for keys which have changed; false if the engine must fetch something first and
    /// the connection that serves is to call again when it is woken.
    pub fn serve_ready<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> bool {
        self.unblock(&server.shared);
        if !server.engine.holds_locks() {
            for (db, key) in self.ready.drain(..) {
                server.shared.hub.waiting.call(db, &key, 0);
            }
            return true;
        }
        // Serving one may change keys that others wait for, which are added behind.
        while let Some((db, key)) = self.ready.first().cloned() {
            if !self.serve_key(server, db, &key, now_ms) {
                return false;
            }
            self.ready.remove(0);
        }
        true
    }

    fn serve_key<E: Engine>(&mut self, server: &Server<E>, db: Db, key: &[u8], now_ms: u64) -> bool {
        let (mut from, mut found) = (0, None);
        while let Some((arrival, waiter)) = server.shared.hub.waiting.first_from(db, key, from) {
            from = arrival + 1;
            let wait = &waiter.wait;
            if found.is_some_and(|kind| kind != Some(wait.kind) && !wait.ends_without_key) {
                continue;
            }
            let served = self.serve(server, (arrival, &waiter), (db, key), now_ms);
            self.unblock(&server.shared);
            match served {
                Served::Yes => found = None,
                // Nobody behind it finds more.
                Served::No(kind) if wait.takes && kind == Some(wait.kind) => break,
                Served::No(kind) => found = Some(kind),
                Served::Suspended => return false,
            }
        }
        true
    }

    /// Serves a blocked connection, if the key has what it waits for.
    fn serve<E: Engine>(
        &mut self,
        server: &Server<E>,
        (arrival, waiter): (u64, &Arc<Waiter>),
        (db, key): (Db, &[u8]),
        now_ms: u64,
    ) -> Served {
        debug_assert!(db == waiter.db, "a key of another database");
        let mut state = waiter.state();
        if state.is_over {
            return Served::Yes;
        }
        match self.run_again(server, (arrival, waiter), &mut state.client, &[key], now_ms) {
            Again::Suspended => Served::Suspended,
            Again::Waits(kinds) => Served::No(kinds.first().copied().flatten()),
            Again::Replied(answer) => {
                state.is_over = true;
                server.shared.hub.waiting.remove(&server.shared.hub.interest, waiter);
                waiter.inbox.answer(answer);
                Served::Yes
            }
        }
    }

    /// Runs the command of its own blocked connection once more, which was called, or goes on with that. The next in line at
    /// its keys is called if there may be something left.
    pub fn run_blocked<E: Engine>(
        &mut self,
        server: &Server<E>,
        waiter: &Arc<Waiter>,
        now_ms: u64,
    ) -> Blocked {
        let hub = &server.shared.hub;
        let mut state = waiter.state();
        let Some(arrival) = hub.waiting.arrival(waiter.inbox.id()).filter(|_| !state.is_over) else {
            state.is_running = false;
            return Blocked::Ended;
        };
        let keys: Vec<&[u8]> = waiter.wait.keys.iter().map(Vec::as_slice).collect();
        let again = self.run_again(server, (arrival, waiter), &mut state.client, &keys, now_ms);
        state.is_running = matches!(again, Again::Suspended);
        let (answer, next) = match again {
            Again::Suspended => return Blocked::Suspended,
            Again::Replied(answer) => (Some(answer), None),
            Again::Waits(kinds) => {
                let unblocked = state.unblocked.take();
                (unblocked.map(|how| how.answer(waiter.protocol)), Some(kinds))
            }
        };
        let ends = answer.is_some();
        if let Some(answer) = answer {
            state.is_over = true;
            hub.waiting.remove(&hub.interest, waiter);
            waiter.inbox.answer(answer);
        }
        drop(state);
        for (number, key) in keys.iter().enumerate() {
            let kind = next.as_ref().and_then(|kinds| kinds.get(number).copied().flatten());
            match next {
                // It was the first, so nobody behind it finds more.
                Some(_) if waiter.wait.takes && kind == Some(waiter.wait.kind) => {}
                Some(_) => hub.waiting.call(waiter.db, key, arrival + 1),
                None => hub.waiting.call(waiter.db, key, 0),
            }
        }
        if ends { Blocked::Ended } else { Blocked::Waits }
    }

    /// Runs the command of a blocked connection once more, if one of these keys has what it waits for: one transaction.
    fn run_again<E: Engine>(
        &mut self,
        server: &Server<E>,
        (arrival, waiter): (u64, &Arc<Waiter>),
        client: &mut Client,
        changed: &[&[u8]],
        now_ms: u64,
    ) -> Again {
        let args: Vec<&[u8]> = waiter.request.iter().map(Vec::as_slice).collect();
        let mut keys = Keys::new();
        keys_of(waiter.spec, &args, &mut keys);
        let plan = Plan {
            keys: &keys,
            touches_all: waiter.spec.touches_all_keys(&args),
            writes: waiter.spec.is(Flags::WRITE),
            wakes: !waiter.spec.is(Flags::WAKES_NOBODY),
            may_wait: Waits::Goes,
            changes_connection: false,
            identity: arrival.saturating_add(1),
        };
        let begin_ns = server.shared.host.monotonic_ns();
        let mut reply = server.shared.settings.bounds().reply(waiter.protocol);
        let own_wrote = std::mem::take(&mut self.wrote);
        let mut kinds = Vec::new();
        let mut caller = Caller { client, reply: &mut reply };
        let ran = self.transact(server, &mut caller, (&plan, &args, &Drafts::new()), now_ms, |ctx| {
            kinds.clear();
            for key in changed {
                kinds.push(ctx.txn.kind(waiter.db, key)?);
            }
            if !kinds.contains(&Some(waiter.wait.kind)) && !waiter.wait.ends_without_key {
                ctx.wait_for(waiter.wait.clone());
                return Ok(());
            }
            // What its user may do may have changed meanwhile.
            let request = ctx.admit_later(waiter.spec, &args, acl::Context::TopLevel)?;
            ctx.run(&request)
        });
        let wrote = std::mem::replace(&mut self.wrote, own_wrote);
        self.wrote = self.wrote.max(wrote);
        match ran {
            Ok(Ran::Done) => {}
            Ok(Ran::Nothing | Ran::Waits(_)) => return Again::Waits(kinds),
            Err(Stop::Suspended) => return Again::Suspended,
            // It has time to wait for that as well.
            Err(Stop::Error(CommandError::Engine(EngineError::Unavailable(_)))) => {
                return Again::Waits(kinds);
            }
            Err(Stop::Error(error)) => {
                reply.clear();
                super::reply_error(&mut reply, &server.shared, &error);
            }
        }
        let took_ns = server.shared.host.monotonic_ns().saturating_sub(begin_ns);
        let reply = reply.take().unwrap_or_else(|error| format!("-ERR {error}\r\n").into_bytes());
        Again::Replied(Answer { reply, wrote, took_ns })
    }
}

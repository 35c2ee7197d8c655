//! Wake-ups: the commands of blocked connections run again, by the connection that has changed one of their keys, right
//! behind its own command and in the order of their arrival.

use std::sync::Arc;

use super::{Caller, Executor, Plan, Ran, Stop, Waits};
use crate::acl;
use crate::catalog::Flags;
use crate::command::call::{Keys, keys_of};
use crate::engine::{Db, Drafts, Engine, Kind};
use crate::server::hub::{Answer, Interest, Waiter};
use crate::server::{Server, Shared};

/// What became of one blocked connection.
enum Served {
    /// Its command has replied.
    Yes,
    /// It still waits; this is the kind of the key, None if there is no key.
    No(Option<Kind>),
    /// The engine must fetch something first.
    Suspended,
}

impl Executor {
    /// Whether blocked connections are to be served, or their waits ended.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.unblocks.is_empty()
    }

    /// Has all blocked connections served next, if nobody is to be served yet.
    pub(super) fn look_for_all(&mut self, shared: &Shared) {
        if !self.has_ready() && shared.hub.interest.has(Interest::WAITING) {
            self.ready = shared.hub.waiting.keys();
        }
    }

    /// Serves the connections that wait for keys which have changed; false if the engine must fetch something first and
    /// the connection that serves is to call again when it is woken.
    pub fn serve_ready<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> bool {
        self.unblock(&server.shared);
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

    /// Runs the command of a blocked connection once more, if the key has what it waits for: one transaction.
    fn serve<E: Engine>(
        &mut self,
        server: &Server<E>,
        (arrival, waiter): (u64, &Arc<Waiter>),
        (db, key): (Db, &[u8]),
        now_ms: u64,
    ) -> Served {
        let mut state = waiter.state();
        if state.is_over {
            return Served::Yes;
        }
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
        let mut kind = None;
        let mut caller = Caller { client: &mut state.client, reply: &mut reply };
        let ran = self.transact(server, &mut caller, (&plan, &args, &Drafts::new()), now_ms, |ctx| {
            kind = ctx.txn.kind(db, key)?;
            if kind != Some(waiter.wait.kind) && !waiter.wait.ends_without_key {
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
            Ok(Ran::Nothing | Ran::Waits(_)) => return Served::No(kind),
            Err(Stop::Suspended) => return Served::Suspended,
            Err(Stop::Error(error)) => {
                reply.clear();
                super::reply_error(&mut reply, &server.shared, &error);
            }
        }
        state.is_over = true;
        server.shared.hub.waiting.remove(&server.shared.hub.interest, waiter);
        let took_ns = server.shared.host.monotonic_ns().saturating_sub(begin_ns);
        let reply = reply.take().unwrap_or_else(|error| format!("-ERR {error}\r\n").into_bytes());
        waiter.inbox.answer(Answer { reply, wrote, took_ns });
        Served::Yes
    }
}

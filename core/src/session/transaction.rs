//! MULTI, EXEC, DISCARD, WATCH and UNWATCH: the commands that decide when other commands run.

use super::State;
use crate::catalog::CommandSpec;
use crate::command::CommandError;
use crate::engine::{Drafts, Engine, Reader, Scope, Watch};
use crate::resp::Protocol;
use crate::server::{ReplyMode, Server, WatchedKey};

/// The queue of an open MULTI.
#[derive(Debug, Default)]
pub struct Multi {
    /// The queued commands in order.
    pub queue: Vec<Queued>,
    /// Whether a command was refused while queueing, so that EXEC must refuse all.
    pub refused: bool,
}

/// A command waiting for EXEC.
#[derive(Debug)]
pub struct Queued {
    /// Its row.
    pub spec: &'static CommandSpec,
    /// The arguments that came as blobs.
    pub drafts: Drafts,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Queued {
    /// A copy of a request.
    pub fn new(spec: &'static CommandSpec, args: &[&[u8]], drafts: Drafts) -> Queued {
        let mut bytes = Vec::with_capacity(args.iter().map(|argument| argument.len()).sum());
        let mut ends = Vec::with_capacity(args.len());
        for argument in args {
            bytes.extend_from_slice(argument);
            ends.push(bytes.len());
        }
        Queued { spec, drafts, bytes, ends }
    }

    /// The arguments, the name first.
    pub fn args(&self) -> Vec<&[u8]> {
        let mut start = 0;
        let cut = |end: &usize| {
            let argument = &self.bytes[start..*end];
            start = *end;
            argument
        };
        self.ends.iter().map(cut).collect()
    }
}

impl State {
    /// Runs a command that belongs to the session itself. These are the rows without a handler.
    pub(super) fn session_command<E: Engine>(
        &mut self,
        server: &Server<E>,
        spec: &CommandSpec,
        args: &[&[u8]],
        now_ms: u64,
    ) -> Result<(), CommandError> {
        match spec.name {
            "multi" => self.multi(),
            "exec" => self.exec(server, now_ms),
            "discard" => self.discard(server),
            "watch" => self.watch(server, args, now_ms),
            "unwatch" => {
                self.unwatch(server);
                self.reply.ok();
                Ok(())
            }
            "reset" => {
                self.reset(server);
                Ok(())
            }
            "quit" => {
                self.reply.ok();
                self.close_after_reply();
                Ok(())
            }
            _ => Err(CommandError::owned(format!("ERR unknown command '{}'", spec.name))),
        }
    }

    fn multi(&mut self) -> Result<(), CommandError> {
        if self.client.multi.is_some() {
            return Err(CommandError::text("ERR MULTI calls can not be nested"));
        }
        self.client.multi = Some(Multi::default());
        self.reply.ok();
        Ok(())
    }

    fn discard<E: Engine>(&mut self, server: &Server<E>) -> Result<(), CommandError> {
        if self.client.multi.take().is_none() {
            return Err(CommandError::text("ERR DISCARD without MULTI"));
        }
        self.unwatch(server);
        self.reply.ok();
        Ok(())
    }

    fn exec<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Result<(), CommandError> {
        let Some(mut multi) = self.client.multi.take() else {
            return Err(CommandError::text("ERR EXEC without MULTI"));
        };
        let expired = |key: &WatchedKey| key.expires_at_ms.is_some_and(|at| at <= now_ms);
        let is_stale = self.client.watch.is_tripped() || self.client.watched.iter().any(expired);
        if multi.refused {
            self.unwatch(server);
            return Err(CommandError::text("EXECABORT Transaction discarded because of previous errors."));
        }
        if is_stale {
            self.unwatch(server);
            self.reply.null_array();
            return Ok(());
        }
        let watched = std::mem::take(&mut self.client.watched);
        let db = self.client.db;
        let outcome = self.execute_queue(server, &mut multi.queue, &watched, now_ms);
        if outcome.is_err() {
            // Nothing of it has happened, SELECT included.
            self.client.db = db;
        }
        self.client.watched = watched;
        self.unwatch(server);
        outcome
    }

    fn watch<E: Engine>(
        &mut self,
        server: &Server<E>,
        args: &[&[u8]],
        now_ms: u64,
    ) -> Result<(), CommandError> {
        if self.client.multi.is_some() {
            return Err(CommandError::text("ERR WATCH inside MULTI is not allowed"));
        }
        for key in args.iter().skip(1) {
            let db = self.client.db;
            if self.client.watched.iter().any(|watched| watched.db == db && watched.key == *key) {
                continue;
            }
            server.engine.watch(db, key, &self.client.watch);
            let root = server.engine.begin(Scope::Keys(&[key]))?.root(db, key, None)?;
            // A key that was gone already when it was watched may stay gone; one that goes later is a change.
            let expires_at_ms = root.and_then(|root| root.expires_at_ms).filter(|at| *at > now_ms);
            self.client.watched.push(WatchedKey { db, key: key.to_vec(), expires_at_ms });
        }
        self.reply.ok();
        Ok(())
    }

    /// Forgets all watched keys.
    pub(super) fn unwatch<E: Engine>(&mut self, server: &Server<E>) {
        for watched in std::mem::take(&mut self.client.watched) {
            server.engine.unwatch(watched.db, &watched.key, &self.client.watch);
        }
        self.client.watch = Watch::default();
    }

    fn reset<E: Engine>(&mut self, server: &Server<E>) {
        self.client.multi = None;
        self.unwatch(server);
        self.leave_hub(server);
        self.client.db = 0;
        self.client.authenticated = !server.shared.settings.has_password();
        self.client.reply_mode = ReplyMode::On;
        self.client.no_touch = false;
        self.reply.set_protocol(Protocol::Resp2);
        self.client.inbox.set_protocol(Protocol::Resp2);
        {
            let mut card = self.client.card.lock();
            card.name.clear();
            card.db = 0;
            card.protocol = 2;
            card.no_touch = false;
            card.no_evict = false;
        }
        self.reply.simple("RESET");
    }
}

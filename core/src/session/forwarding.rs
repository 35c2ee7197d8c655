//! Requests that run in another process, which owns their key ([`crate::server::peers`]).
//!
//! Until it is known what became of them they stand in the input, like requests that are suspended.

use super::connection::Connection;
use super::group::Grouped;
use super::pipeline::Ahead;
use super::waiting::Forwarding;
use crate::command::CommandError;
use crate::command::admission;
use crate::engine::{Engine, EngineError};
use crate::executor::reply_error;
use crate::resp::write_request;
use crate::server::Server;
use crate::server::peers::{Forward, Forwarded, Visitor};

impl Connection {
    /// Has the requests from `at` on run elsewhere if they are better run there. None if they are to run here.
    pub(super) fn begin_forwarding<E: Engine>(
        &mut self,
        server: &Server<E>,
        ahead: &Ahead<'_>,
        at: usize,
        now_ms: u64,
    ) -> Option<Grouped> {
        let (args, _) = ahead.get(at)?;
        let (key, db) = (*args.get(1)?, self.client.db);
        if !self.executor.is_suspended() {
            self.client.may_be_forwarded = self.may_forward(server, args, key);
        }
        if !self.client.may_be_forwarded || self.executor.is_committing() {
            return None;
        }
        let owner = server.engine.better_elsewhere(db, key)?;
        // Once it was tried, it stays here.
        self.client.may_be_forwarded = false;
        if self.executor.is_suspended() {
            // It has only read.
            self.executor.forget_suspended(server);
            self.group_len = 0;
            if !self.may_forward(server, args, key) {
                return None;
            }
        }
        let requests = self.next_group(server, ahead, (at, Some(key)), now_ms);
        let may_be = requests.iter().take_while(|request| request.spec().may_be_forwarded(request.args()));
        let mut encoded = Vec::new();
        let mut count = 0;
        for request in may_be {
            write_request(request.args(), &mut encoded);
            self.client.last_command = request.spec().name;
            count += 1;
        }
        // Making room for them may have begun something that waits.
        if count == 0 || self.executor.is_suspended() {
            return None;
        }
        let forward = Forward {
            client: self.client.id,
            visitor: Visitor {
                db,
                protocol: self.reply.protocol(),
                user: self.client.access.user().name().to_vec(),
            },
            count: u32::try_from(count).unwrap_or(u32::MAX),
            requests: encoded,
        };
        let slot = server.shared.peers.forward(owner, forward, &self.client.inbox)?;
        Some(self.wait_for_forwarded(Forwarding { count, slot }))
    }

    /// Whether a request that begins may run elsewhere.
    fn may_forward<E: Engine>(&mut self, server: &Server<E>, args: &[&[u8]], key: &[u8]) -> bool {
        !self.is_visitor
            && admission::find(args).is_ok_and(|spec| spec.may_be_forwarded(args))
            && self.is_for_groups(server)
            && !self.executor.concerns_others(&server.shared, key)
    }

    fn wait_for_forwarded(&mut self, forwarding: Forwarding) -> Grouped {
        self.group_len = forwarding.count;
        self.forwarding = Some(forwarding);
        self.waiting.suspend();
        Grouped::Suspended
    }

    /// Goes on with requests that run elsewhere. None if they are to run here.
    pub(super) fn end_forwarding<E: Engine>(
        &mut self,
        server: &Server<E>,
        forwarding: Forwarding,
        now_ms: u64,
    ) -> Option<Grouped> {
        let outcome = forwarding.slot.lock().take();
        let Some(outcome) = outcome else { return Some(self.wait_for_forwarded(forwarding)) };
        let count = forwarding.count;
        self.group_len = 0;
        match outcome {
            Forwarded::Refused => return None,
            Forwarded::Replied(replies) => {
                if !self.reply.mail(&replies) {
                    self.close_after_reply();
                }
            }
            Forwarded::Lost => {
                let error = CommandError::Engine(EngineError::Unknown(
                    "the server that ran it is gone; look before you write again".into(),
                ));
                for _ in 0..count {
                    reply_error(&mut self.reply, &server.shared, &error);
                }
            }
        }
        self.look_after(server, count as u64, now_ms);
        Some(Grouped::Ran(count))
    }
}

//! What other connections have for this one, and the waits that they, or the time, end.

use super::State;
use crate::catalog::{self, CommandId, Flags};
use crate::engine::Engine;
use crate::limits::OUTPUT_PAUSE_BYTES;
use crate::server::hub::{Interest, Topic, TopicKind};
use crate::server::{Effect, ReplyMode, Server};

const EXEC: CommandId = catalog::id("exec");

impl State {
    /// Whether requests must wait for something other than the output.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiter.is_some() || self.held_until_ms.is_some()
    }

    /// When the host is to call again though nothing has come.
    pub(super) fn wake_at_ms(&self) -> Option<u64> {
        let wait = self.waiter.as_ref().and_then(|waiter| waiter.wait.until_ms);
        wait.or(self.held_until_ms)
    }

    /// Takes what has come: the reply to the command that blocks, messages, the order to close.
    pub(super) fn take_mail(&mut self) {
        if !self.client.inbox.has_mail() {
            return;
        }
        let mail = self.client.inbox.take(OUTPUT_PAUSE_BYTES);
        let mut has_room = true;
        if let Some(answer) = mail.answer {
            self.waiter = None;
            self.client.card.lock().is_blocked = false;
            has_room &= self.client.reply_mode != ReplyMode::On || self.reply.mail(&answer.reply);
            self.wrote = self.wrote.max(answer.wrote);
        }
        has_room &= mail.pushes.iter().all(|message| self.reply.mail(message));
        // A connection that misses a message is better told so by its end.
        if mail.must_close || !has_room {
            self.effects.push(Effect::Close);
        }
    }

    /// Ends a wait whose time has passed, unless somebody serves it just now.
    pub(super) fn end_wait_if_late<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        let Some(waiter) = &self.waiter else { return };
        if waiter.wait.until_ms.is_none_or(|until_ms| now_ms < until_ms) {
            return;
        }
        let waiter = waiter.clone();
        let mut is_over = waiter.is_over();
        if *is_over {
            drop(is_over);
            return self.take_mail();
        }
        *is_over = true;
        server.shared.hub.waiting.remove(&server.shared.hub.interest, &waiter);
        self.waiter = None;
        self.client.card.lock().is_blocked = false;
        // Whatever the command replies elsewhere, as in Redis.
        self.reply.null_array();
    }

    /// Whether a pause holds a request back.
    pub(super) fn hold<E: Engine>(&mut self, server: &Server<E>, args: &[&[u8]], now_ms: u64) -> bool {
        let hub = &server.shared.hub;
        if !hub.interest.has(Interest::PAUSE) {
            return false;
        }
        let Some(pause) = hub.pauses.present(&hub.interest, now_ms) else { return false };
        if pause.only_writes && !self.may_write(args) {
            return false;
        }
        self.held_until_ms = Some(pause.until_ms);
        true
    }

    /// Whether a request could change something, here or for other connections.
    fn may_write(&self, args: &[&[u8]]) -> bool {
        let Some(spec) = catalog::lookup_request(args) else { return false };
        if spec.id == EXEC {
            let queue = self.client.multi.as_ref().map(|multi| multi.queue.as_slice()).unwrap_or_default();
            return queue.iter().any(|queued| queued.spec.flags.contains(Flags::WRITE));
        }
        spec.flags.intersects(Flags::WRITE.with(Flags::MAY_REPLICATE))
    }

    /// CLIENT CACHING is about the next command that is not CLIENT again, or about all of a MULTI.
    pub(super) fn forget_caching(&mut self) {
        if self.client.multi.is_none()
            && !self.client.last_command.starts_with("client")
            && let Some(tracking) = &mut self.client.tracking
        {
            tracking.caching = None;
        }
    }

    /// Ends everything that ties the connection to others.
    pub(super) fn leave_hub<E: Engine>(&mut self, server: &Server<E>) {
        let hub = &server.shared.hub;
        let id = self.client.id;
        if let Some(waiter) = self.waiter.take() {
            let mut is_over = waiter.is_over();
            if !*is_over {
                *is_over = true;
                hub.waiting.remove(&hub.interest, &waiter);
            }
        }
        if let Some(mut subscriptions) = self.client.subscriptions.take() {
            for kind in [TopicKind::Channel, TopicKind::Pattern, TopicKind::Shard] {
                for name in subscriptions.of(kind).iter() {
                    hub.pubsub.unsubscribe(Topic { kind, name }, id);
                }
            }
            self.client.inbox.set_subscriptions(0);
        }
        if self.client.tracking.take().is_some() {
            hub.tracking.end(&hub.interest, id);
        }
        if std::mem::take(&mut self.client.is_monitor) {
            hub.remove_monitor(id);
        }
    }
}

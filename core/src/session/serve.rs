//! What a command means for other connections: blocked ones that can go on, caches that are stale, monitors, events.

use std::sync::Arc;

use smallvec::SmallVec;

use super::State;
use crate::catalog::{CommandSpec, Flags};
use crate::command;
use crate::engine::{Db, Engine, Reader, Scope, Source, Txn};
use crate::resp::quote;
use crate::server::ClientCard;
use crate::server::REDACTED;
use crate::server::hub::notify::Events;
use crate::server::hub::{Answer, Interest, Wait, Waiter};
use crate::server::{Client, Server, Shared};

impl State {
    /// Blocks the connection in the running command; the locks of its keys are held.
    pub(super) fn begin_wait<E: Engine>(
        &mut self,
        server: &Server<E>,
        spec: &'static CommandSpec,
        args: &[&[u8]],
        mut wait: Wait,
    ) {
        let request = wait.request.take();
        let request = request.unwrap_or_else(|| args.iter().map(|argument| argument.to_vec()).collect());
        let (inbox, protocol) = (self.client.inbox.clone(), self.reply.protocol());
        let waiter = Arc::new(Waiter::new(inbox, self.client.db, protocol, spec, request, wait));
        server.shared.hub.waiting.add(&server.shared.hub.interest, &waiter);
        self.client.card.lock().is_blocked = true;
        self.waiter = Some(waiter);
    }

    /// Notes the keys of a read for a client that keeps a cache.
    pub(super) fn remember_reads<E: Engine>(&self, server: &Server<E>, spec: &CommandSpec, keys: &[&[u8]]) {
        if let Some(tracking) = &self.client.tracking
            && tracking.remembers()
            && spec.flags.contains(Flags::READONLY)
        {
            keys.iter().for_each(|key| server.shared.hub.tracking.remember(self.client.id, key));
        }
    }

    /// Tells others what the commit has changed.
    pub(super) fn tell_changes<E: Engine>(&mut self, server: &Server<E>) {
        let hub = &server.shared.hub;
        let changed = || {
            self.overlay.changes().filter_map(|change| match change.source {
                Source::Base(db) => Some((db, change)),
                Source::Fresh(_) => None,
            })
        };
        if hub.interest.has(Interest::TRACKING) {
            if self.overlay.db_changes().is_empty() {
                let keys: SmallVec<[&[u8]; 4]> = changed().map(|(_, change)| change.key).collect();
                hub.tracking.invalidate(&keys, Some(self.client.id));
            } else {
                hub.tracking.invalidate_all();
            }
        }
        if hub.interest.has(Interest::WAITING) && self.wakes {
            if self.overlay.db_changes().is_empty() {
                let awaited = changed().filter(|(db, change)| hub.waiting.is_awaited(*db, change.key));
                self.ready.extend(awaited.map(|(db, change)| (db, change.key.to_vec())));
            } else {
                self.ready.extend(hub.waiting.keys());
            }
        }
    }

    /// Lets the connections that are blocked in wait for keys that have changed go on, in the order of their arrival.
    pub(super) fn serve_ready<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        let mut at = 0;
        // Serving one may change keys that others wait for, which are added behind.
        while let Some((db, key)) = self.ready.get(at).cloned() {
            at += 1;
            self.serve_line(server, db, &key, now_ms);
        }
        self.ready.clear();
    }

    fn serve_line<E: Engine>(&mut self, server: &Server<E>, db: Db, key: &[u8], now_ms: u64) {
        let found = server.engine.begin(Scope::Keys(&[key])).and_then(|mut guard| guard.root(db, key, None));
        let kind = found.ok().flatten().map(|root| root.kind);
        let mut from = 0;
        while let Some((arrival, waiter)) = server.shared.hub.waiting.first_from(db, key, from) {
            from = arrival + 1;
            if kind != Some(waiter.wait.kind) && !waiter.wait.ends_without_key {
                continue;
            }
            let is_served = self.serve(server, &waiter, now_ms);
            if waiter.wait.takes && !is_served {
                // Everything was taken.
                break;
            }
        }
    }

    /// Runs the command of a blocked connection once more; false if it still has to wait.
    fn serve<E: Engine>(&mut self, server: &Server<E>, waiter: &Waiter, now_ms: u64) -> bool {
        let mut is_over = waiter.is_over();
        if *is_over {
            return true;
        }
        let Some(handler) = command::handler(waiter.spec) else { return true };
        let args: Vec<&[u8]> = waiter.request.iter().map(Vec::as_slice).collect();
        let card = Arc::new(parking_lot::Mutex::new(ClientCard::default()));
        let mut stand_in = Client::new(waiter.inbox.id(), card, waiter.inbox.clone(), 0);
        stand_in.db = waiter.db;
        let reply = server.shared.settings.bounds().reply(waiter.protocol);
        let own_client = std::mem::replace(&mut self.client, stand_in);
        let own_reply = std::mem::replace(&mut self.reply, reply);
        let own_wrote = std::mem::take(&mut self.wrote);
        self.is_serving = true;
        let outcome = self.execute(server, waiter.spec, handler, &args, now_ms);
        self.is_serving = false;
        self.client = own_client;
        let mut reply = std::mem::replace(&mut self.reply, own_reply);
        let wrote = std::mem::replace(&mut self.wrote, own_wrote);
        self.wrote = self.wrote.max(wrote);
        let still_waits = self.wait.take().is_some();
        if still_waits && outcome.is_ok() {
            return false;
        }
        if let Err(error) = outcome {
            reply.clear();
            reply.error(&error.reply_text());
        }
        *is_over = true;
        server.shared.hub.waiting.remove(&server.shared.hub.interest, waiter);
        waiter.inbox.answer(Answer { reply: reply.as_bytes().to_vec(), wrote });
        true
    }
}

/// Notes what a command that has just run did to keys without a word of its handler: those it found missing or expired.
pub(super) fn note_reads(
    events: &mut Events,
    txn: &mut Txn<'_>,
    db: Db,
    spec: &CommandSpec,
    (keys, all): (&[&[u8]], bool),
) {
    if spec.reads_are_noted() {
        events.note_reads(txn, db, keys, all);
    }
    events.take_turns(txn, None);
}

/// Shows a request to the monitors without secrets, unless it is about administration.
pub(super) fn show_monitors(
    shared: &Shared,
    client: &Client,
    spec: &CommandSpec,
    args: &[&[u8]],
    now_ms: u64,
) {
    if spec.flags.contains(Flags::ADMIN) || spec.flags.contains(Flags::SKIP_MONITOR) {
        return;
    }
    let (seconds, millis) = (now_ms / 1000, now_ms % 1000);
    let address = client.card.lock().address.clone();
    let mut line = format!("+{seconds}.{millis:03}000 [{} {address}]", client.db).into_bytes();
    for (number, argument) in args.iter().enumerate() {
        line.push(b' ');
        let shown = if spec.is_secret(args, number) { REDACTED } else { argument };
        // A byte may be four, and a text that grows is there twice; it is in the line, too.
        if shared.settings.bounds().budget.ask(4, 4 * shown.len() as u64).is_ok() {
            line.extend_from_slice(quote(shown).as_bytes());
        } else {
            line.extend_from_slice(format!("\"... ({} bytes)\"", shown.len()).as_bytes());
        }
    }
    line.extend_from_slice(b"\r\n");
    shared.hub.show_monitors(&line);
}

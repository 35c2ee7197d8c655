//! One connection as a state machine without I/O: bytes in, replies and effects out.
//!
//! A host appends what it received to [`Session::input`], calls [`Session::process`], sends what [`Session::reply`]
//! holds, and carries out the effects. Processing stops when enough output has piled up, so a slow reader bounds its
//! own memory. Sessions know nothing of sockets: TCP, WebSocket and the Durable Object all drive the same one.
//!
//! Its parts, none of which touches another's fields: [`pipeline`] has the bytes that came, [`connection`] admits, queues
//! and runs requests, [`transaction`] has an open MULTI and the watched keys, [`waiting`] what the connection waits for,
//! [`forwarding`] has requests run in another process, and [`subscription`] ends what ties it to others.

mod arriving;
mod connection;
mod forwarding;
mod freeze;
mod group;
mod pipeline;
mod subscription;
#[cfg(test)]
mod tests;
mod transaction;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use parking_lot::Mutex;

pub use freeze::ThawError;

use self::connection::{Connection, Step};
use self::group::Grouped;
use self::pipeline::{Ahead, Pipeline};
use crate::acl::User;
use crate::engine::{Db, Engine, Receipt};
use crate::resp::{Args, Parsed, Protocol, Reply, RequestLimits};
use crate::server::hub::{Inbox, Interest};
use crate::server::peers::Visitor;
use crate::server::{Client, ClientCard, Effect, Known, Server, Shared};

/// Who connected, as the host knows it.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// Peer address, as `ip:port`.
    pub address: String,
    /// Own address, as `ip:port`.
    pub local_address: String,
}

/// What came of one call of [`Session::process`].
#[derive(Debug, Default)]
pub struct Progress {
    /// What the host is to do, after sending the replies.
    pub effects: Vec<Effect>,
    /// Where in the log the last write ended; the host's sync policy says when replies may leave.
    pub wrote: Receipt,
    /// Bytes that were appended to the log: a short request may write a long value anew.
    pub logged_bytes: u64,
    /// Whether complete requests may be left: send what there is, then call again.
    pub is_paused: bool,
    /// At least so many more bytes are needed for the next request, if known.
    pub wanted: usize,
    /// Unix time in milliseconds at which to call again though nothing has come: a wait ends then.
    pub wake_at_ms: Option<u64>,
    /// Whether a request waits for the engine, which wakes the session when it can go on.
    pub is_suspended: bool,
    /// Whether the next request takes long: call [`Session::process_at_length`] where nobody waits for it.
    pub takes_long: bool,
}

/// One connection.
pub struct Session {
    pipeline: Pipeline,
    connection: Connection,
    is_closing: bool,
    /// How many subscriptions there were when their memory was counted last, and how many bytes that was.
    subscriptions: (usize, u64),
}

impl Session {
    /// A new connection at `now_ms`; `seed` feeds its random numbers.
    pub fn new(shared: &Shared, peer: Peer, seed: u64, now_ms: u64) -> Session {
        shared.counters.connections.fetch_add(1, Ordering::Relaxed);
        Session::numbered(shared.next_client(), shared, peer, seed, now_ms)
    }

    /// A connection for requests of a client of another process ([`crate::server::peers`]); None if there is no such user or database here.
    pub fn visiting(
        shared: &Shared,
        peer: Peer,
        visitor: &Visitor,
        seed: u64,
        now_ms: u64,
    ) -> Option<Session> {
        let user = shared.acl.user(&visitor.user).filter(|_| visitor.db < shared.settings.databases())?;
        let mut session = Session::numbered(shared.next_client(), shared, peer, seed, now_ms);
        session.connection.visit(shared, user, visitor);
        Some(session)
    }

    /// A connection with a CLIENT ID that no other one has.
    fn numbered(id: u64, shared: &Shared, peer: Peer, seed: u64, now_ms: u64) -> Session {
        let card = Arc::new(Mutex::new(ClientCard {
            id,
            address: peer.address,
            local_address: peer.local_address,
            protocol: 2,
            connected_at_ms: now_ms,
            active_at_ms: now_ms,
            ..ClientCard::default()
        }));
        let all_bytes = shared.memory.clients_bytes.clone();
        let inbox = Arc::new(Inbox::counted(id, shared.settings.output_limits().clone(), all_bytes));
        shared.clients.lock().insert(id, Known { card: card.clone(), inbox: inbox.clone() });
        let mut client = Client::new(id, card, inbox, shared.default_access(), seed);
        client.authenticated = !shared.acl.needs_login();
        client.show_user(&mut client.card.lock());
        let reply = shared.settings.bounds().reply(Protocol::Resp2);
        let mut session = Session {
            pipeline: Pipeline::default(),
            connection: Connection::new(client, reply),
            is_closing: false,
            subscriptions: (0, 0),
        };
        session.count_memory();
        session
    }

    /// Says how much memory it takes. Input that has not run is counted, and not the buffer that the host has lent for it.
    fn count_memory(&mut self) {
        let input_bytes = self.pipeline.input().len();
        let bytes = size_of::<Session>() + input_bytes + self.connection.reply().capacity();
        let client = self.connection.client();
        let count = client.subscriptions.as_ref().map_or(0, |subscriptions| subscriptions.count());
        if count != self.subscriptions.0 {
            let bytes = client.subscriptions.as_ref().map_or(0, |subscriptions| subscriptions.memory_bytes());
            self.subscriptions = (count, bytes);
        }
        let others = self.connection.transaction().memory_bytes() + self.connection.eviction_bytes();
        client.inbox.set_session_bytes(bytes as u64 + others + self.subscriptions.1);
    }

    /// Where the host appends received bytes.
    pub fn input(&mut self) -> &mut Vec<u8> {
        self.pipeline.input()
    }

    /// Whether the peer may run commands beyond AUTH and HELLO.
    pub fn is_authenticated(&self) -> bool {
        self.connection.client().authenticated
    }

    /// The peer's user, as it was when the session last looked.
    pub fn user(&self) -> &Arc<User> {
        self.connection.client().access.user()
    }

    /// What is to be sent; the host clears what it has sent.
    pub fn reply(&mut self) -> &mut Reply {
        self.connection.reply_mut()
    }

    /// The database and key that the only request in the input is most likely about: nearly every command that names a
    /// key names one first. None for a pipeline, which looks ahead by itself.
    pub fn only_key(&self) -> Option<(Db, &[u8])> {
        self.pipeline.only_key().map(|key| (self.connection.client().db, key))
    }

    /// Runs the complete requests in the input at unix time `now_ms`.
    pub fn process<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Progress {
        let wanted = self.feed_stream();
        let mut progress = Progress { wanted, ..Progress::default() };
        self.connection.begin(server, now_ms);
        if self.pipeline.is_held_up() {
            // Its blob may have called between that look and the taking of what was in the inbox.
            progress.wanted = self.feed_stream();
        }
        self.is_closing |= self.connection.is_closing();
        while !self.is_closing && !self.pipeline.is_streaming() && !self.connection.waiting().is_on() {
            if self.connection.must_pause() {
                progress.is_paused = true;
                break;
            }
            let limits = RequestLimits {
                authenticated: !self.connection.client().must_authenticate(&server.shared),
                bulk_max_bytes: server.shared.settings.bulk_max_bytes(),
                arguments_max: server.shared.settings.bounds().arguments_max,
            };
            if self.run_ahead(&limits, server, now_ms) {
                continue;
            }
            if !self.run_next(&limits, server, now_ms, &mut progress) {
                break;
            }
        }
        self.pipeline.forget_consumed();
        if progress.wanted > 0 && !self.pipeline.is_streaming() && self.begin_stream(server) {
            progress.wanted = self.feed_stream();
        }
        self.connection.check_output();
        self.connection.finish(server, &mut progress, now_ms);
        self.count_memory();
        server.shared.evict_clients(now_ms);
        progress
    }

    /// The same where a request may take its time, for a host that lets the session hand over what takes long
    /// ([`Session::set_hands_over`]).
    pub fn process_at_length<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Progress {
        let client = self.connection.client_mut();
        let hands_over = std::mem::replace(&mut client.hands_over, false);
        client.runs_at_length = true;
        let progress = self.process(server, now_ms);
        let client = self.connection.client_mut();
        (client.hands_over, client.runs_at_length) = (hands_over, false);
        progress
    }

    /// Whether a request that takes long is not to run but to be handed over ([`Progress::takes_long`]); false at the start.
    pub fn set_hands_over(&mut self, hands_over: bool) {
        self.connection.client_mut().hands_over = hands_over;
    }

    /// Sets how many bytes one call of [`Session::process`] may append to the log before it pauses; one request is run in
    /// any case.
    pub fn set_logged_max(&mut self, bytes: u64) {
        self.connection.set_logged_max(bytes);
    }

    /// Through which others reach the connection, and end it.
    pub fn inbox(&self) -> &Arc<Inbox> {
        &self.connection.client().inbox
    }

    /// Runs the next request, of whatever form; false if there is none to run now.
    fn run_next<E: Engine>(
        &mut self,
        limits: &RequestLimits,
        server: &Server<E>,
        now_ms: u64,
        progress: &mut Progress,
    ) -> bool {
        let connection = &mut self.connection;
        let mut args = Args::new();
        let used = match self.pipeline.next(limits, &mut args) {
            Ok(Parsed::Request { consumed }) => {
                let goes_on = !connection.hold(server, &args, now_ms)
                    && connection.run(server, &args, now_ms) == Step::Done;
                if !goes_on {
                    drop(args);
                    self.pipeline.rewind();
                    return false;
                }
                connection.settle(server, now_ms);
                connection.log_late(server, 1, |_| Some(&*args), now_ms);
                consumed
            }
            Ok(Parsed::Nothing { consumed }) => consumed,
            Ok(Parsed::Incomplete { wanted }) => {
                progress.wanted = wanted;
                return false;
            }
            Err(error) => {
                connection.reply_mut().error_bytes(&error.text());
                connection.close_after_reply();
                0
            }
        };
        drop(args);
        self.pipeline.consume(used, used);
        self.is_closing = self.connection.is_closing();
        true
    }

    /// Runs plain requests, a few of which are parsed ahead. Returns whether any ran or waits.
    fn run_ahead<E: Engine>(&mut self, limits: &RequestLimits, server: &Server<E>, now_ms: u64) -> bool {
        let connection = &mut self.connection;
        // Made in place: arguments are large to move.
        let mut ahead = Ahead::new();
        self.pipeline.ahead(limits, server, connection.client().db, &mut ahead);
        let parsed = ahead.last().map_or(0, |(_, end)| *end);
        if ahead.len() < connection.group_len {
            // Settings were changed while a group waited, so that its requests cannot be read again; it may have happened.
            connection.close_after_reply();
            self.is_closing = true;
            return true;
        }
        let (mut consumed, mut run, mut alone) = (0, 0, 0);
        let request = |at: usize| ahead.get(at).map(|(args, _)| &**args);
        while let Some((args, _)) = ahead.get(run) {
            if connection.hold(server, args, now_ms) {
                break;
            }
            let step = if run < alone {
                Grouped::Alone(1)
            } else {
                connection.run_group(server, &ahead, run, now_ms)
            };
            let count = match step {
                Grouped::Ran(count) => count,
                Grouped::Suspended => break,
                Grouped::Alone(count) => {
                    alone = alone.max(run + count);
                    if server.shared.hub.interest.has(Interest::INDEXES) {
                        connection.note_newer_search(&ahead, run);
                    }
                    if connection.run(server, args, now_ms) == Step::Suspended {
                        break;
                    }
                    1
                }
            };
            if connection.is_late() {
                // What was slow together is what stands before the command that has its own reading.
                connection.log_late(server, run, request, now_ms);
            }
            run += count;
            consumed = ahead.get(run - 1).map_or(consumed, |(_, end)| *end);
            self.is_closing = connection.is_closing();
            if self.is_closing || connection.waiting().is_on() || connection.must_pause() {
                break;
            }
        }
        if run > 0 {
            connection.settle(server, now_ms);
            connection.log_late(server, run, request, now_ms);
        }
        drop(ahead);
        self.pipeline.consume(consumed, parsed);
        // One that waits is not to be run as if it stood alone.
        consumed > 0 || self.connection.waiting().is_on()
    }

    /// Lets the argument that is on its way to a blob go on; returns how many of its bytes are missing.
    fn feed_stream(&mut self) -> usize {
        if !self.pipeline.is_streaming() {
            return 0;
        }
        let inbox = self.connection.client().inbox.clone();
        self.pipeline.feed_stream(self.connection.drafts(), &|| inbox.waker())
    }

    /// Sends the argument that is on its way to a blob, if it may; returns whether it does.
    fn begin_stream<E: Engine>(&mut self, server: &Server<E>) -> bool {
        match self.pipeline.begin_stream(server, self.connection.client()) {
            Ok(begun) => begun,
            Err(error) => {
                self.connection.reply_mut().error_bytes(&error.text());
                self.connection.close_after_reply();
                self.is_closing = true;
                false
            }
        }
    }

    /// Sets what is woken when other connections have something for this one, or its engine: [`Session::process`] is to be
    /// called then.
    pub fn set_waker(&self, waker: Waker) {
        self.connection.client().inbox.set_waker(waker);
    }

    /// To be called by the host when it has sent all there was.
    pub fn has_sent(&mut self) {
        self.count_memory();
        if self.connection.hears_of_others() {
            self.connection.client().inbox.set_held(0);
        }
    }

    /// Whether so much output has been waiting for so long that the connection is to be closed, whatever it has still to
    /// be sent. To be asked about once a second.
    pub fn is_over_limit(&mut self, now_ms: u64) -> bool {
        let held_bytes = self.connection.reply().unsent();
        self.connection.client().inbox.set_held(held_bytes);
        self.connection.client().inbox.cut_if_over(now_ms)
    }

    /// Whether other connections have something for this one.
    pub fn has_mail(&self) -> bool {
        self.connection.client().inbox.has_mail()
    }

    /// Whether the connection is to be closed, whatever it has still to be sent.
    pub fn must_close(&self) -> bool {
        self.connection.client().inbox.must_close()
    }

    /// Whether requests that come will not run yet, because the connection is blocked or paused.
    pub fn is_waiting(&self) -> bool {
        self.connection.waiting().is_on()
    }

    /// Whether bytes of a huge argument have come faster than they are taken, so that no more should be received until the waker
    /// is woken.
    pub fn is_held_up(&self) -> bool {
        self.pipeline.is_held_up()
    }

    /// Unix time in milliseconds at which it is to run though nothing has come.
    pub fn wake_at_ms(&self) -> Option<u64> {
        self.connection.waiting().wake_at_ms()
    }

    /// Whether a reply has given it a place at which HSCAN and its like go on.
    pub fn is_walking(&self) -> bool {
        !self.connection.client().walks.is_empty()
    }

    /// Unix time in milliseconds at which the peer connected.
    pub fn connected_at_ms(&self) -> u64 {
        self.connection.client().card.lock().connected_at_ms
    }

    /// Whether it is there to hear of what others do.
    pub fn is_listening(&self) -> bool {
        self.connection.client().subscriptions.is_some() || self.connection.client().is_monitor
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.connection.client().id
    }

    /// Gives the peer another address, for a home that makes up what it is not told.
    pub fn set_address(&self, address: String) {
        self.connection.client().card.lock().address = address;
    }

    /// Whether it watches keys.
    pub fn is_watching(&self) -> bool {
        !self.connection.transaction().watched().is_empty()
    }

    /// Whether a key that it watches has changed: the only part of a frozen session that others change.
    pub fn is_watch_tripped(&self) -> bool {
        self.connection.transaction().watch().is_tripped()
    }

    /// Whether nothing of a transaction is left in memory.
    #[cfg(test)]
    fn holds_no_transaction(&self) -> bool {
        self.connection.holds_no_transaction()
    }

    /// Ends the connection: watches, subscriptions, a wait and the entry in the list of clients go.
    pub fn close<E: Engine>(&mut self, server: &Server<E>) {
        self.connection.close(server);
    }
}

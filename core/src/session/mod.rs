//! One connection as a state machine without I/O: bytes in, replies and effects out.
//!
//! A host appends what it received to [`Session::input`], calls [`Session::process`], sends what [`Session::reply`]
//! holds, and carries out the effects. Processing stops when enough output has piled up, so a slow reader bounds its
//! own memory. Sessions know nothing of sockets: TCP, WebSocket and the Durable Object all drive the same one.

mod arriving;
mod direct;
mod dispatch;
mod freeze;
mod long_arguments;
mod meter;
#[cfg(test)]
mod bound_of_a_home_is_passed;
#[cfg(test)]
mod huge_value_in_memory;
mod mail;
#[cfg(test)]
mod reply_depends_on_split;
mod serve;
#[cfg(test)]
mod slow_reader_not_cut;
#[cfg(test)]
mod tests;
mod transaction;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;

use parking_lot::Mutex;
use smallvec::SmallVec;

pub use freeze::ThawError;
pub use transaction::{Multi, Queued};

use self::arriving::Stream;
use self::meter::Meter;
use crate::engine::Drafts;
use crate::engine::{Db, Engine, Overlay, Receipt};
use crate::limits::{INPUT_KEPT_BYTES, OUTPUT_PAUSE_BYTES, PIPELINE_AHEAD, PIPELINE_AHEAD_MIN};
use crate::resp::{Args, Parsed, Protocol, Reply, RequestLimits, RequestParser, second_argument};
use crate::server::hub::notify::Events;
use crate::server::hub::{Inbox, Wait, Waiter};
use crate::server::{Client, ClientCard, Counters, Effect, Known, Server, Shared};

/// Input longer than this many bytes is taken for a pipeline by whoever only guesses.
const ONE_REQUEST_BYTES: usize = 256;

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
    /// Whether complete requests may be left: send what there is, then call again.
    pub is_paused: bool,
    /// At least so many more bytes are needed for the next request, if known.
    pub wanted: usize,
    /// Unix time in milliseconds at which to call again though nothing has come: a wait ends then.
    pub wake_at_ms: Option<u64>,
}

/// One connection.
pub struct Session {
    input: Vec<u8>,
    parser: RequestParser,
    /// The huge argument that the input is in the middle of, if it is.
    stream: Option<Box<Stream>>,
    state: State,
    is_closing: bool,
}

/// What commands need of a session; apart from the input, which arguments borrow.
struct State {
    client: Client,
    reply: Reply,
    overlay: Overlay,
    /// The huge arguments of the next request.
    drafts: Drafts,
    effects: Vec<Effect>,
    wrote: Receipt,
    commands: u64,
    meter: Meter,
    /// Reads that found their key, and those that did not.
    hits: u64,
    misses: u64,
    /// Events of the running command that others may hear of.
    events: Events,
    /// What the running command wants to wait for.
    wait: Option<Wait>,
    /// The command that the connection is blocked in.
    waiter: Option<Arc<Waiter>>,
    /// Keys that changed and that blocked connections wait for.
    ready: Vec<(Db, Vec<u8>)>,
    /// Whether blocked connections may find what they wait for after the running command.
    wakes: bool,
    /// Whether the running command is that of a blocked connection, run once more.
    is_serving: bool,
    /// Unix time in milliseconds until which a pause holds the next request back.
    held_until_ms: Option<u64>,
}

impl State {
    /// Whether so many replies wait that requests must.
    fn must_pause(&self) -> bool {
        self.reply.unsent() >= OUTPUT_PAUSE_BYTES as u64
    }

    fn is_closing(&self) -> bool {
        self.effects.contains(&Effect::Close)
    }

    /// Whether other connections may have something for this one that it did not ask for.
    fn hears_of_others(&self) -> bool {
        self.client.subscriptions.is_some() || self.client.is_monitor || self.client.tracking.is_some()
    }

    /// Cuts the connection if it has more output than it may have.
    fn check_output(&mut self) {
        let held_bytes = self.reply.unsent();
        if !self.client.inbox.admits(held_bytes) {
            self.reply.clear();
            self.effects.push(Effect::Close);
        }
        if self.hears_of_others() {
            self.client.inbox.set_held(held_bytes);
        }
    }

    /// Brings the counters that all sessions share up to date, once for all requests that were run together.
    fn count(&mut self, counters: &Counters) {
        let counts = [
            (&counters.commands, &mut self.commands),
            (&counters.keyspace_hits, &mut self.hits),
            (&counters.keyspace_misses, &mut self.misses),
        ];
        for (counter, count) in counts.into_iter().filter(|(_, count)| **count > 0) {
            counter.fetch_add(std::mem::take(count), Ordering::Relaxed);
        }
    }
}

impl Session {
    /// A new connection at `now_ms`; `seed` feeds its random numbers.
    pub fn new(shared: &Shared, peer: Peer, seed: u64, now_ms: u64) -> Session {
        shared.counters.connections.fetch_add(1, Ordering::Relaxed);
        Session::numbered(shared.next_client(), shared, peer, seed, now_ms)
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
        let inbox = Arc::new(Inbox::new(id, shared.settings.output_limits().clone()));
        shared.clients.lock().insert(id, Known { card: card.clone(), inbox: inbox.clone() });
        let mut client = Client::new(id, card, inbox, seed);
        client.authenticated = !shared.settings.has_password();
        Session {
            input: Vec::new(),
            parser: RequestParser::new(),
            stream: None,
            state: State {
                client,
                reply: shared.settings.bounds().reply(Protocol::Resp2),
                overlay: Overlay::new(),
                drafts: Drafts::new(),
                effects: Vec::new(),
                wrote: Receipt::default(),
                commands: 0,
                meter: Meter::default(),
                hits: 0,
                misses: 0,
                events: Events::default(),
                wait: None,
                waiter: None,
                ready: Vec::new(),
                wakes: true,
                is_serving: false,
                held_until_ms: None,
            },
            is_closing: false,
        }
    }

    /// Where the host appends received bytes.
    pub fn input(&mut self) -> &mut Vec<u8> {
        &mut self.input
    }

    /// Whether the peer may run commands beyond AUTH and HELLO.
    pub fn is_authenticated(&self) -> bool {
        self.state.client.authenticated
    }

    /// What is to be sent; the host clears what it has sent.
    pub fn reply(&mut self) -> &mut Reply {
        &mut self.state.reply
    }

    /// The database and key that the only request in the input is most likely about: nearly every command that names a
    /// key names one first. None for a pipeline, which looks ahead by itself.
    pub fn only_key(&self) -> Option<(Db, &[u8])> {
        if self.input.len() > ONE_REQUEST_BYTES {
            return None;
        }
        second_argument(&self.input).map(|key| (self.state.client.db, key))
    }

    /// Runs the complete requests in the input at unix time `now_ms`.
    pub fn process<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Progress {
        let mut consumed = 0;
        let mut progress = Progress { wanted: self.feed_stream(), ..Progress::default() };
        self.state.held_until_ms = None;
        self.state.take_mail();
        self.state.end_wait_if_late(server, now_ms);
        self.is_closing |= self.state.is_closing();
        while !self.is_closing && self.stream.is_none() && !self.state.is_waiting() {
            if self.state.must_pause() {
                progress.is_paused = true;
                break;
            }
            let limits = RequestLimits {
                authenticated: !self.state.client.must_authenticate(&server.shared),
                bulk_max_bytes: server.shared.settings.bulk_max_bytes(),
                arguments_max: server.shared.settings.bounds().arguments_max,
            };
            let used = self.process_pipeline(consumed, &limits, server, now_ms);
            consumed += used;
            if used > 0 {
                continue;
            }
            let mut args = Args::new();
            match self.parser.parse(&self.input[consumed..], &limits, &mut args) {
                Ok(Parsed::Request { .. }) if self.state.hold(server, &args, now_ms) => {
                    drop(args);
                    self.parser.rewind();
                    break;
                }
                Ok(Parsed::Request { consumed: used }) => {
                    self.state.run(server, &args, now_ms);
                    self.state.meter.settle(server, now_ms);
                    self.state.meter.log_late((server, &self.state.client), 1, |_| Some(&*args), now_ms);
                    consumed += used;
                }
                Ok(Parsed::Nothing { consumed: used }) => consumed += used,
                Ok(Parsed::Incomplete { wanted }) => {
                    progress.wanted = wanted;
                    break;
                }
                Err(error) => {
                    self.state.reply.error_bytes(&error.text());
                    self.state.effects.push(Effect::Close);
                }
            }
            self.is_closing = self.state.is_closing();
        }
        self.forget_input(consumed);
        if progress.wanted > 0 && self.stream.is_none() && self.begin_stream(server) {
            progress.wanted = self.feed_stream();
        }
        self.state.check_output();
        progress.wake_at_ms = self.state.wake_at_ms();
        progress.effects = std::mem::take(&mut self.state.effects);
        progress.wrote = std::mem::take(&mut self.state.wrote);
        if self.state.commands > 0 {
            self.state.meter.stop();
            self.state.count(&server.shared.counters);
            let protocol = if self.state.reply.protocol() == Protocol::Resp2 { 2 } else { 3 };
            self.state.client.show(protocol, now_ms);
        }
        progress
    }

    /// Runs plain requests from `from` on, a few of which are parsed ahead so that the engine hears of their keys
    /// together. Returns how many bytes they took.
    fn process_pipeline<E: Engine>(
        &mut self,
        from: usize,
        limits: &RequestLimits,
        server: &Server<E>,
        now_ms: u64,
    ) -> usize {
        // Whoever must log in first has other limits after that.
        let most = if limits.authenticated { PIPELINE_AHEAD } else { 1 };
        let input = self.input.get(from..).unwrap_or_default();
        let mut pipeline: SmallVec<[(Args<'_>, usize); PIPELINE_AHEAD]> = SmallVec::new();
        let mut end = 0;
        while pipeline.len() < most {
            // Parsed in place: arguments are large to move.
            pipeline.push((Args::new(), 0));
            let Some((args, its_end)) = pipeline.last_mut() else { break };
            let Some(used) = self.parser.parse_plain(&input[end..], limits, args) else {
                pipeline.pop();
                break;
            };
            end += used;
            *its_end = end;
        }
        if pipeline.len() >= PIPELINE_AHEAD_MIN {
            // Nearly every command that names a key names one first.
            let first = pipeline.iter().filter_map(|(args, _)| args.get(1).copied());
            let keys: SmallVec<[&[u8]; PIPELINE_AHEAD]> = first.collect();
            server.engine.prefetch(self.state.client.db, &keys);
        }
        let mut consumed = 0;
        let mut run = 0;
        for (args, end) in &pipeline {
            if self.state.hold(server, args, now_ms) {
                break;
            }
            self.state.run(server, args, now_ms);
            if self.state.meter.is_late() {
                // What was slow together is what stands before the command that has its own reading.
                self.state.meter.log_late(
                    (server, &self.state.client),
                    run,
                    |at| pipeline.get(at).map(|(args, _)| &**args),
                    now_ms,
                );
            }
            run += 1;
            consumed = *end;
            self.is_closing = self.state.is_closing();
            if self.is_closing || self.state.is_waiting() || self.state.must_pause() {
                break;
            }
        }
        if run > 0 {
            self.state.meter.settle(server, now_ms);
            self.state.meter.log_late(
                (server, &self.state.client),
                run,
                |at| pipeline.get(at).map(|(args, _)| &**args),
                now_ms,
            );
        }
        if consumed < end {
            self.parser.rewind();
        }
        consumed
    }

    /// Has the argument that is on its way go to a blob, if it may; returns whether it does.
    fn begin_stream<E: Engine>(&mut self, server: &Server<E>) -> bool {
        match Stream::begin(server, &self.parser, &self.input) {
            Ok(stream) => self.stream = stream.map(Box::new),
            Err(error) => {
                self.state.reply.error_bytes(&error.text());
                self.state.effects.push(Effect::Close);
                self.is_closing = true;
            }
        }
        self.stream.is_some()
    }

    /// Lets the stream, if there is one, take what has come for it; returns how many bytes it still misses.
    fn feed_stream(&mut self) -> usize {
        let (Some(stream), Some(arriving)) = (&mut self.stream, self.parser.arriving()) else { return 0 };
        stream.feed(&mut self.input, arriving.position);
        let missing = stream.missing();
        if missing == 0
            && let Some(stream) = self.stream.take()
        {
            self.parser.pass_over();
            stream.finish(&mut self.state.drafts);
        }
        missing
    }

    /// Who is to be woken when other connections have something for this one: [`Session::process`] is to be called then.
    pub fn set_waker(&self, waker: Waker) {
        self.state.client.inbox.set_waker(waker);
    }

    /// To be called by the host when it has sent all there was.
    pub fn has_sent(&self) {
        if self.state.hears_of_others() {
            self.state.client.inbox.set_held(0);
        }
    }

    /// Whether so much output has been waiting for so long that the connection is to be closed, whatever it has still to
    /// be sent. To be asked about once a second.
    pub fn is_over_limit(&mut self, now_ms: u64) -> bool {
        let held_bytes = self.state.reply.unsent();
        self.state.client.inbox.set_held(held_bytes);
        self.state.client.inbox.cut_if_over(now_ms)
    }

    /// Whether other connections have something for this one.
    pub fn has_mail(&self) -> bool {
        self.state.client.inbox.has_mail()
    }

    /// Whether the connection is to be closed, whatever it has still to be sent.
    pub fn must_close(&self) -> bool {
        self.state.client.inbox.must_close()
    }

    /// Whether requests that come will not run yet, because the connection is blocked or paused.
    pub fn is_waiting(&self) -> bool {
        self.state.is_waiting()
    }

    /// Unix time in milliseconds at which it is to run though nothing has come.
    pub fn wake_at_ms(&self) -> Option<u64> {
        self.state.wake_at_ms()
    }

    /// Whether it was told of a place at which HSCAN and its like go on.
    pub fn is_walking(&self) -> bool {
        !self.state.client.walks.is_empty()
    }

    /// Unix time in milliseconds at which the peer connected.
    pub fn connected_at_ms(&self) -> u64 {
        self.state.client.card.lock().connected_at_ms
    }

    /// Whether it is there to hear of what others do.
    pub fn is_listening(&self) -> bool {
        self.state.client.subscriptions.is_some() || self.state.client.is_monitor
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.state.client.id
    }

    /// Gives the peer another address, for a home that makes up what it is not told.
    pub fn set_address(&self, address: String) {
        self.state.client.card.lock().address = address;
    }

    /// Whether it watches keys.
    pub fn is_watching(&self) -> bool {
        !self.state.client.watched.is_empty()
    }

    /// Whether a key that it watches has changed: the only part of a frozen session that others change.
    pub fn is_watch_tripped(&self) -> bool {
        self.state.client.watch.is_tripped()
    }

    /// Ends the connection: watches, subscriptions, a wait and the entry in the list of clients go.
    pub fn close<E: Engine>(&mut self, server: &Server<E>) {
        self.state.unwatch(server);
        self.state.leave_hub(server);
        self.state.client.inbox.leave();
        server.shared.clients.lock().remove(&self.state.client.id);
    }

    fn forget_input(&mut self, consumed: usize) {
        if consumed == self.input.len() {
            self.input.clear();
        } else if consumed > 0 {
            self.input.drain(..consumed);
        }
        if self.input.capacity() > INPUT_KEPT_BYTES && self.input.len() < INPUT_KEPT_BYTES / 2 {
            self.input.shrink_to(INPUT_KEPT_BYTES / 2);
        }
    }
}

//! One Durable Object: an open store and the sessions of its sockets and requests, which are called *seats* here.
//!
//! JavaScript calls one method for what has happened (a message, a request, an alarm) and then [`Object::finish`], which runs
//! whoever was woken, writes what was appended, freezes sessions that changed, and gives the messages that JavaScript is to
//! carry out. Nothing of an event leaves before all of it is in SQLite, and the platform's output gate holds what leaves until
//! SQLite has it on its disks. So every reply is to something durable.
//!
//! It never reads a clock or draws randomness: `now_ms` and seeds come in.

mod config;
mod errand;
mod maintenance;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Wake, Waker};

use edgecask_core::bitcask::{Bitcask, Options};
use edgecask_core::engine::Admin;
use edgecask_core::session::{Effect, Peer, Server, Session, Shared, Shortage};
use edgecask_core::storage::Storage;
use parking_lot::Mutex;

pub use self::config::Config;
use self::config::EdgeFacts;
use self::errand::Errand;
use self::maintenance::Maintenance;
use crate::host::Host;
use crate::limits::{
    ATTACHMENT_MAX_BYTES, DATAFILE_MAX_BYTES, EVENT_OUTPUT_MAX_BYTES, HEAP_MAX_BYTES, INPUT_MAX_BYTES,
    MESSAGE_OUT_MAX_BYTES, PIECE_MAX_BYTES, SOCKETS_MAX, STORAGE_MAX_BYTES, UNAUTHENTICATED_INPUT_MAX_BYTES,
    UNAUTHENTICATED_MS,
};
use crate::outbox::{Kind, Outbox};
use crate::storage::RowStorage;

/// What stands in an attachment if the session does not fit into it.
const TOO_LARGE: &[u8] = b"\0";

/// A peer is left, and this is why: codes of RFC 6455.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Farewell(u16, &'static str);

const NORMAL: Farewell = Farewell(1000, "");
const VIOLATION: Farewell = Farewell(1008, "authentication took too long");
const TOO_BIG: Farewell = Farewell(1009, "the request is too long before its end has come");
const TOO_MUCH: Farewell = Farewell(1009, "the replies to one message are too long; ask for less at a time");
const FORGOTTEN: Farewell = Farewell(1012, "the connection's state was too large to be kept; connect again");
const CROWDED: Farewell = Farewell(1013, "ERR max number of clients reached");

/// A session and what it serves.
struct Seat {
    session: Session,
    /// None for a socket.
    errand: Option<Errand>,
    /// What its socket keeps for it.
    attached: Vec<u8>,
    wake_at_ms: Option<u64>,
    connected_at_ms: u64,
    /// Bytes of replies in this event.
    sent_bytes: u64,
    ran: bool,
    /// Whether what its socket keeps says that a watched key has changed.
    is_tripped: bool,
}

/// Who rings, until their sessions have run.
#[derive(Default)]
struct Bells(Mutex<BTreeSet<u32>>);

struct Bell {
    seat: u32,
    bells: Arc<Bells>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.bells.0.lock().insert(self.seat);
    }
}

/// One object.
pub struct Object<H: Host> {
    server: Server<Bitcask>,
    config: Config,
    storage: Arc<RowStorage<H>>,
    seats: BTreeMap<u32, Seat>,
    bells: Arc<Bells>,
    outbox: Outbox,
    maintenance: Maintenance,
    alarm_ms: Option<u64>,
    /// Log bytes when the event began.
    appended: u64,
}

impl<H: Host> Object<H> {
    /// Opens the store on the object's rows. An error is for the operator: nothing was changed.
    pub fn open(host: H, config: Config, seed: u64, now_ms: u64) -> Result<Object<H>, String> {
        let storage = Arc::new(RowStorage::open(host));
        storage.begin_event();
        let settings = config.settings(&storage)?;
        let databases = settings.databases();
        let options = Options { databases, seed, datafile_max_bytes: DATAFILE_MAX_BYTES };
        let opened = Bitcask::open(storage.clone() as Arc<dyn Storage>, &options)
            .map_err(|error| error.to_string())?;
        let facts = Box::new(EdgeFacts::new(storage.clone(), seed));
        let shared = Shared::new(settings, facts, now_ms);
        let server = Server { engine: opened.store, shared };
        let maintenance = Maintenance::after_start(opened.replayed_records, now_ms);
        Ok(Object {
            server,
            config,
            storage,
            seats: BTreeMap::new(),
            bells: Arc::default(),
            outbox: Outbox::default(),
            maintenance,
            alarm_ms: None,
            appended: 0,
        })
    }

    /// Begins an event: to be called before anything else of it.
    pub fn begin(&mut self) {
        self.storage.begin_event();
        self.appended = self.server.engine.appended();
        self.look_at_room();
        self.seats.values_mut().for_each(|seat| seat.sent_bytes = 0);
    }

    /// Has a socket at a seat that is free.
    pub fn connect(&mut self, seat: u32, address: &str, seed: u64, now_ms: u64) {
        let most = usize::try_from(self.server.shared.settings.number("maxclients")).unwrap_or(SOCKETS_MAX);
        if self.seats.len() >= most.min(SOCKETS_MAX) {
            self.server.shared.counters.rejected_connections.fetch_add(1, Ordering::Relaxed);
            return self.say_goodbye(seat, CROWDED);
        }
        let session = self.greet(address, seed, now_ms);
        self.sit_down(seat, session, None, Vec::new(), now_ms);
    }

    /// A session of somebody new. The platform does not tell ports, but connections are told apart by their addresses (CLIENT
    /// KILL, MONITOR): a number of ours stands there.
    fn greet(&self, address: &str, seed: u64, now_ms: u64) -> Session {
        let peer = Peer { address: address.to_owned(), local_address: String::new() };
        let session = Session::new(&self.server.shared, peer, seed, now_ms);
        if let Some(host) = address.strip_suffix(":0") {
            session.set_address(format!("{host}:{}", 1 + session.id() % u64::from(u16::MAX)));
        }
        session
    }

    /// Has a socket that was connected before the object slept back at its seat, with what it kept.
    pub fn thaw(&mut self, seat: u32, attached: &[u8], now_ms: u64) {
        match Session::thaw(&self.server, attached, now_ms) {
            Ok(session) => self.sit_down(seat, session, None, attached.to_vec(), now_ms),
            Err(_) => self.say_goodbye(seat, FORGOTTEN),
        }
    }

    /// To be called once all sockets are thawed.
    pub fn all_are_thawed(&mut self) {
        for seat in self.seats.values_mut() {
            seat.session.begin_tracking_again(&self.server);
        }
    }

    fn sit_down(
        &mut self,
        number: u32,
        session: Session,
        errand: Option<Errand>,
        attached: Vec<u8>,
        now_ms: u64,
    ) {
        session.set_waker(Waker::from(Arc::new(Bell { seat: number, bells: self.bells.clone() })));
        let connected_at_ms = session.connected_at_ms();
        let wake_at_ms = session.wake_at_ms();
        let (sent_bytes, ran, is_tripped) = (0, true, false);
        let seat =
            Seat { session, errand, attached, wake_at_ms, connected_at_ms, sent_bytes, ran, is_tripped };
        if let Some(mut before) = self.seats.insert(number, seat) {
            before.session.close(&self.server);
        }
        self.cut_if_late(number, now_ms);
    }

    /// Takes a message of a socket.
    pub fn receive(&mut self, seat: u32, message: &[u8], now_ms: u64) {
        self.server.shared.counters.input_bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        for piece in message.chunks(PIECE_MAX_BYTES) {
            let Some(sitting) = self.seats.get_mut(&seat) else { return };
            let is_stranger =
                !sitting.session.is_authenticated() && self.server.shared.settings.has_password();
            let most = if is_stranger { UNAUTHENTICATED_INPUT_MAX_BYTES } else { INPUT_MAX_BYTES };
            if sitting.session.input().len() + piece.len() > most {
                return self.end(seat, TOO_BIG);
            }
            sitting.session.input().extend_from_slice(piece);
            self.run(seat, now_ms);
            self.look_at_room();
        }
    }

    /// The socket, or whoever waits for an answer, has gone.
    pub fn leave(&mut self, seat: u32) {
        if let Some(mut gone) = self.seats.remove(&seat) {
            gone.session.close(&self.server);
        }
    }

    /// The object's alarm rang.
    pub fn alarm(&mut self, now_ms: u64) {
        self.alarm_ms = None;
        self.maintain(now_ms);
    }

    /// Ends an event: everything that it led to has happened, and all of it is in rows.
    pub fn finish(&mut self, now_ms: u64) -> Vec<u8> {
        let due = |seat: &Seat| seat.wake_at_ms.is_some_and(|at_ms| at_ms <= now_ms);
        let late: Vec<u32> =
            self.seats.iter().filter(|(_, seat)| due(seat)).map(|(number, _)| *number).collect();
        late.into_iter().for_each(|number| self.run(number, now_ms));
        let numbers: Vec<u32> = self.seats.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.cut_if_late(number, now_ms));
        while let Some(number) = self.ring() {
            self.run(number, now_ms);
        }
        if self.server.engine.appended() > self.appended {
            self.maintenance.expect(now_ms);
        }
        self.storage.flush();
        self.freeze();
        self.set_alarm();
        self.outbox.take()
    }

    fn ring(&self) -> Option<u32> {
        self.bells.0.lock().pop_first()
    }

    /// Refuses commands that need more room than there is.
    fn look_at_room(&self) {
        let shortage = if self.storage.heap_bytes() > HEAP_MAX_BYTES {
            Shortage::Memory
        } else if self.storage.stored_bytes() > STORAGE_MAX_BYTES {
            Shortage::Storage
        } else {
            Shortage::None
        };
        self.server.shared.set_shortage(shortage);
    }

    /// Has a session run until it has nothing more to do.
    fn run(&mut self, number: u32, now_ms: u64) {
        loop {
            let Some(seat) = self.seats.get_mut(&number) else { return };
            let progress = seat.session.process(&self.server, now_ms);
            seat.ran = true;
            seat.wake_at_ms = progress.wake_at_ms;
            let has_more = progress.is_paused || seat.session.has_mail();
            let Ok(replies) = seat.session.reply().take() else {
                // A value cannot be read: whoever asked must not be left waiting for the rest of it.
                return self.end(number, Farewell(1011, "a stored value cannot be read"));
            };
            seat.session.has_sent();
            seat.sent_bytes += replies.len() as u64;
            let is_too_much = seat.sent_bytes > EVENT_OUTPUT_MAX_BYTES;
            let must_close = seat.session.must_close();
            self.server.shared.counters.output_bytes.fetch_add(replies.len() as u64, Ordering::Relaxed);
            let is_done = self.deliver(number, &replies);
            let is_left = self.carry_out(&progress.effects, now_ms);
            if is_too_much {
                return self.end(number, TOO_MUCH);
            }
            if is_done || is_left || must_close {
                return self.end(number, NORMAL);
            }
            if !has_more {
                return;
            }
        }
    }

    /// Hands replies over; true if the seat is not needed any more.
    fn deliver(&mut self, number: u32, replies: &[u8]) -> bool {
        let Some(seat) = self.seats.get_mut(&number) else { return true };
        match &mut seat.errand {
            None => {
                for message in replies.chunks(MESSAGE_OUT_MAX_BYTES) {
                    self.outbox.put(Kind::Send, number, &[message]);
                }
                false
            }
            Some(errand) => errand.deliver(number, replies, &mut self.outbox),
        }
    }

    /// Does what requests asked of the server; true if the connection is to be closed.
    fn carry_out(&mut self, effects: &[Effect], now_ms: u64) -> bool {
        let mut closes = false;
        for effect in effects {
            match effect {
                // An object ends when nobody needs it; its clients are asked to go.
                Effect::Close | Effect::Shutdown { .. } => closes = true,
                Effect::Checkpoint => self.checkpoint(now_ms),
                Effect::SettingsChanged => {
                    self.config.keep(&self.server.shared.settings, &self.storage);
                }
            }
        }
        closes
    }

    fn checkpoint(&mut self, now_ms: u64) {
        // A full or broken store says so to whoever writes.
        if Admin::checkpoint(&self.server.engine, now_ms).is_ok() {
            self.server.shared.saved_at_s.store(now_ms / 1000, Ordering::Relaxed);
        }
    }

    /// Leaves a peer who has not logged in for too long.
    fn cut_if_late(&mut self, number: u32, now_ms: u64) {
        if self.log_in_deadline_ms(number).is_some_and(|deadline_ms| deadline_ms <= now_ms) {
            self.end(number, VIOLATION);
        }
    }

    fn log_in_deadline_ms(&self, number: u32) -> Option<u64> {
        let seat = self.seats.get(&number)?;
        let is_stranger = !seat.session.is_authenticated() && self.server.shared.settings.has_password();
        is_stranger.then_some(seat.connected_at_ms + UNAUTHENTICATED_MS)
    }

    /// Ends a seat, saying why.
    fn end(&mut self, number: u32, farewell: Farewell) {
        let Some(mut seat) = self.seats.remove(&number) else { return };
        seat.session.close(&self.server);
        match seat.errand {
            None => self.say_goodbye(number, farewell),
            Some(errand) => errand.end(number, &mut self.outbox),
        }
    }

    fn say_goodbye(&mut self, number: u32, Farewell(code, reason): Farewell) {
        self.outbox.put(Kind::Close, number, &[&code.to_le_bytes(), reason.as_bytes()]);
    }

    /// Has sockets keep their sessions as they are now.
    fn freeze(&mut self) {
        for (number, seat) in &mut self.seats {
            let is_tripped = seat.session.is_watch_tripped();
            let has_changed = std::mem::take(&mut seat.ran) || seat.is_tripped != is_tripped;
            if !has_changed || seat.errand.is_some() {
                continue;
            }
            seat.is_tripped = is_tripped;
            let frozen = seat.session.freeze(&self.server);
            let frozen = frozen.filter(|frozen| frozen.len() <= ATTACHMENT_MAX_BYTES);
            let frozen = frozen.unwrap_or_else(|| TOO_LARGE.to_vec());
            if frozen != seat.attached {
                self.outbox.put(Kind::Attach, *number, &[&frozen]);
                seat.attached = frozen;
            }
        }
    }

    /// Has the alarm ring when something is next to be done.
    fn set_alarm(&mut self) {
        let waits = self.seats.values().filter_map(|seat| seat.wake_at_ms);
        let strangers = self.seats.keys().filter_map(|number| self.log_in_deadline_ms(*number));
        let next_ms = waits.chain(strangers).chain(self.maintenance.due_ms).min();
        if next_ms != self.alarm_ms {
            self.alarm_ms = next_ms;
            self.outbox.put(Kind::Alarm, 0, &[&next_ms.unwrap_or(0).to_le_bytes()]);
        }
    }
}

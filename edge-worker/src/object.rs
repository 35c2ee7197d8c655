//! One Durable Object: an open store and the sessions of its sockets and requests, which are called *seats* here.
//!
//! JavaScript calls one method for what has happened (a message, a request, an alarm) and then [`Object::finish`], which runs
//! whoever was woken, writes what was appended, freezes sessions that changed, and hands over the messages that JavaScript is
//! to carry out. No message is handed over before what it tells of is in SQLite, and the platform's output gate holds what
//! leaves until SQLite has it on its disks. So every reply is to something durable.
//!
//! It never reads a clock or draws randomness: `now_ms` and seeds come in.

mod agenda;
mod config;
mod errand;
mod kept;
mod maintenance;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Wake, Waker};

use edgecask_core::bitcask::{Bitcask, Options};
use edgecask_core::engine::Admin;
use edgecask_core::resp::{Front, Part, Reply};
use edgecask_core::session::{Effect, Peer, Server, Session, Shared, Shortage};
use edgecask_core::storage::Storage;
use parking_lot::Mutex;

use self::agenda::Agenda;
pub use self::config::Config;
use self::config::EdgeFacts;
use self::errand::Errand;
use self::maintenance::Maintenance;
use crate::host::Host;
use crate::limits::{
    ATTACHMENT_MAX_BYTES, DATAFILE_MAX_BYTES, EVENT_OUTPUT_MAX_BYTES, HAND_OVER_BYTES, HEAP_MAX_BYTES,
    INPUT_MAX_BYTES, INPUT_STEP_BYTES, INPUTS_MAX_BYTES, MESSAGE_OUT_MAX_BYTES, PIECE_MAX_BYTES, SOCKETS_MAX,
    STORAGE_MAX_BYTES, UNAUTHENTICATED_INPUT_MAX_BYTES, UNAUTHENTICATED_MS,
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
const NO_ROOM: Farewell = Farewell(1013, "requests that have not come whole take too much memory");
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
    /// Its time on the agenda.
    due_ms: Option<u64>,
    connected_at_ms: u64,
    /// Bytes that its input holds, as far as the object has counted them.
    input_bytes: usize,
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
    agenda: Agenda,
    bells: Arc<Bells>,
    outbox: Outbox,
    maintenance: Maintenance,
    alarm_ms: Option<u64>,
    /// What the rows say of LASTSAVE.
    saved_at_s: Option<u64>,
    /// Log bytes when the event began.
    appended: u64,
    /// Bytes of replies in this event.
    sent_bytes: u64,
    /// Bytes of requests that have not come whole.
    inputs_bytes: usize,
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
        let saved_at_s = kept::recall(&shared, &storage);
        let server = Server { engine: opened.store, shared };
        let maintenance = Maintenance::after_start(opened.replayed_records, now_ms);
        Ok(Object {
            server,
            config,
            storage,
            seats: BTreeMap::new(),
            agenda: Agenda::default(),
            bells: Arc::default(),
            outbox: Outbox::default(),
            maintenance,
            alarm_ms: None,
            saved_at_s,
            appended: 0,
            sent_bytes: 0,
            inputs_bytes: 0,
        })
    }

    /// Begins an event: to be called before anything else of it.
    pub fn begin(&mut self) {
        self.storage.begin_event();
        self.appended = self.server.engine.appended();
        self.look_at_room();
        self.sent_bytes = 0;
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
        let seat = Seat {
            session,
            errand,
            attached,
            wake_at_ms,
            due_ms: None,
            connected_at_ms,
            input_bytes: 0,
            is_tripped: false,
        };
        self.leave(number);
        self.seats.insert(number, seat);
        self.plan(number);
        self.count_input(number);
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
            let input = sitting.session.input();
            if input.capacity() - input.len() < piece.len() {
                let room = input.len().clamp(piece.len(), INPUT_STEP_BYTES);
                input.reserve_exact(room);
            }
            input.extend_from_slice(piece);
            self.run(seat, now_ms);
            self.count_input(seat);
            self.look_at_room();
        }
    }

    /// Counts what a seat's input holds, and leaves the largest if they hold too much together.
    fn count_input(&mut self, number: u32) {
        let Some(seat) = self.seats.get_mut(&number) else { return };
        let input = seat.session.input();
        if input.is_empty() {
            *input = Vec::new();
        }
        self.inputs_bytes += input.capacity();
        self.inputs_bytes -= std::mem::replace(&mut seat.input_bytes, input.capacity());
        while self.inputs_bytes > INPUTS_MAX_BYTES {
            let largest = self.seats.iter().max_by_key(|(_, seat)| seat.input_bytes);
            let Some(number) = largest.map(|(number, _)| *number) else { return };
            self.end(number, NO_ROOM);
        }
    }

    /// The socket, or whoever waits for an answer, has gone.
    pub fn leave(&mut self, seat: u32) {
        self.stand_up(seat);
    }

    fn stand_up(&mut self, number: u32) -> Option<Seat> {
        let mut seat = self.seats.remove(&number)?;
        self.inputs_bytes -= seat.input_bytes;
        self.agenda.forget(number, seat.due_ms);
        seat.session.close(&self.server);
        Some(seat)
    }

    /// The object's alarm rang.
    pub fn alarm(&mut self, now_ms: u64) {
        self.alarm_ms = None;
        self.maintain(now_ms);
    }

    /// Ends an event: everything that it led to has happened, and all of it is in rows.
    pub fn finish(&mut self, now_ms: u64) {
        for number in self.agenda.due(now_ms) {
            self.run(number, now_ms);
            self.cut_if_late(number, now_ms);
        }
        while let Some(number) = self.ring() {
            self.run(number, now_ms);
        }
        if self.server.engine.appended() > self.appended {
            self.maintenance.expect(now_ms);
        }
        self.keep_save_time();
        self.freeze();
        self.set_alarm();
        self.hand_over();
    }

    fn hand_over(&mut self) {
        self.storage.hand_over(&self.outbox.take());
    }

    fn ring(&self) -> Option<u32> {
        self.bells.0.lock().pop_first()
    }

    /// Refuses commands that need more room than there is.
    fn look_at_room(&self) {
        let kept_bytes = self.storage.heap_bytes().saturating_sub(self.inputs_bytes);
        let shortage = if kept_bytes > HEAP_MAX_BYTES {
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
            seat.wake_at_ms = progress.wake_at_ms;
            let has_more = progress.is_paused || seat.session.has_mail();
            self.plan(number);
            let delivered = self.deliver(number);
            let is_left = self.carry_out(&progress.effects, now_ms);
            let is_done = match delivered {
                Ok(is_done) => is_done,
                Err(farewell) => return self.end(number, farewell),
            };
            let Some(seat) = self.seats.get_mut(&number) else { return };
            seat.session.has_sent();
            let must_close = seat.session.must_close();
            if is_done || is_left || must_close {
                return self.end(number, NORMAL);
            }
            if !has_more {
                return;
            }
        }
    }

    /// Puts replies into the outbox, large ones in pieces; true if the seat is not needed any more.
    fn deliver(&mut self, number: u32) -> Result<bool, Farewell> {
        let mut is_done = false;
        loop {
            let Some(seat) = self.seats.get_mut(&number) else { return Ok(true) };
            let piece = take_piece(seat.session.reply())
                // Whoever asked must not be left waiting for the rest of it.
                .map_err(|_| Farewell(1011, "a stored value cannot be read"))?;
            self.sent_bytes += piece.len() as u64;
            if self.sent_bytes > EVENT_OUTPUT_MAX_BYTES {
                return Err(TOO_MUCH);
            }
            self.server.shared.counters.output_bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            match &mut seat.errand {
                None if piece.is_empty() => {}
                None => self.outbox.put(Kind::Send, number, &[&piece]),
                // It may have an answer before there is any reply.
                Some(errand) => is_done |= errand.deliver(number, &piece, &mut self.outbox),
            }
            let is_last = seat.session.reply().front().is_none();
            if self.outbox.size_bytes() >= HAND_OVER_BYTES {
                self.hand_over();
            }
            if is_last {
                return Ok(is_done);
            }
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

    /// Puts on the agenda what is to be done about a seat, after anything happened there.
    fn plan(&mut self, number: u32) {
        let log_in_ms = self.log_in_deadline_ms(number);
        let Some(seat) = self.seats.get_mut(&number) else { return };
        let due_ms = seat.wake_at_ms.into_iter().chain(log_in_ms).min();
        self.agenda.move_to(number, seat.due_ms, due_ms);
        self.agenda.note(number, seat.session.is_watching());
        seat.due_ms = due_ms;
    }

    /// Ends a seat, saying why.
    fn end(&mut self, number: u32, farewell: Farewell) {
        let Some(seat) = self.stand_up(number) else { return };
        match seat.errand {
            None => self.say_goodbye(number, farewell),
            Some(errand) => {
                if seat.session.is_walking() {
                    self.keep_walks();
                }
                errand.end(number, &mut self.outbox);
            }
        }
    }

    fn say_goodbye(&mut self, number: u32, Farewell(code, reason): Farewell) {
        self.outbox.put(Kind::Close, number, &[&code.to_le_bytes(), reason.as_bytes()]);
    }

    /// Has sockets keep their sessions as they are now.
    fn freeze(&mut self) {
        let mut numbers = self.agenda.take_changed();
        let was_tripped = |number: &u32| {
            self.seats.get(number).is_some_and(|seat| seat.is_tripped != seat.session.is_watch_tripped())
        };
        numbers.extend(self.agenda.watching().filter(was_tripped));
        for number in numbers {
            let Some(seat) = self.seats.get_mut(&number).filter(|seat| seat.errand.is_none()) else {
                continue;
            };
            seat.is_tripped = seat.session.is_watch_tripped();
            let frozen = seat.session.freeze(&self.server, ATTACHMENT_MAX_BYTES);
            let frozen = frozen.unwrap_or_else(|| TOO_LARGE.to_vec());
            if frozen != seat.attached {
                self.outbox.put(Kind::Attach, number, &[&frozen]);
                seat.attached = frozen;
            }
        }
    }

    /// Has the alarm ring when something is next to be done.
    fn set_alarm(&mut self) {
        let next_ms = self.agenda.next_ms().into_iter().chain(self.maintenance.due_ms).min();
        if next_ms != self.alarm_ms {
            self.alarm_ms = next_ms;
            self.outbox.put(Kind::Alarm, 0, &[&next_ms.unwrap_or(0).to_le_bytes()]);
        }
    }
}

/// Takes what is to be sent next, a message at most; what is stored is read only now.
fn take_piece(reply: &mut Reply) -> edgecask_core::storage::Result<Vec<u8>> {
    let mut piece = Vec::new();
    while piece.len() < MESSAGE_OUT_MAX_BYTES
        && let Some(front) = reply.front()
    {
        let room = MESSAGE_OUT_MAX_BYTES - piece.len();
        let count = match front {
            Front::Bytes(bytes, None) if bytes.len() == reply.len() && bytes.len() <= room => {
                // Nearly always: all of it as it is.
                return reply.take();
            }
            Front::Bytes(bytes, _) => {
                let bytes = bytes.get(..room).unwrap_or(bytes);
                piece.extend_from_slice(bytes);
                bytes.len()
            }
            Front::Stored(Part { source, offset, len, .. }) => {
                // Not more than a message.
                let len = len.min(room as u64);
                source.read(offset, len, &mut |bytes| piece.extend_from_slice(bytes))?;
                len as usize
            }
        };
        reply.sent(count as u64);
    }
    if reply.front().is_none() {
        reply.clear();
    }
    Ok(piece)
}

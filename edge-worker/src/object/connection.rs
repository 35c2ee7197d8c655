//! Who sits where: from the greeting of a socket or a request to the goodbye, and what a socket keeps of its session while the
//! object sleeps.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Wake, Waker};

use edgecask_core::session::{Peer, Session};
use parking_lot::Mutex;

use super::Object;
use super::http_request::HttpRequest;
use crate::host::Host;
use crate::limits::{ATTACHMENT_MAX_BYTES, INPUTS_MAX_BYTES, SOCKETS_MAX, UNAUTHENTICATED_MS};
use crate::outbox::Kind;

/// What stands in an attachment if the session does not fit into it.
const TOO_LARGE: &[u8] = b"\0";

/// A peer is left, and this is why: codes of RFC 6455.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Farewell(pub(super) u16, pub(super) &'static str);

pub(super) const NORMAL: Farewell = Farewell(1000, "");
const VIOLATION: Farewell = Farewell(1008, "authentication took too long");
pub(super) const TOO_BIG: Farewell = Farewell(1009, "the request is too long before its end has come");
pub(super) const TOO_MUCH: Farewell =
    Farewell(1009, "the replies to one message are too long; ask for less at a time");
pub(super) const NO_ROOM: Farewell = Farewell(1013, "requests that have not come whole take too much memory");
const FORGOTTEN: Farewell = Farewell(1012, "the connection's state was too large to be kept; connect again");
const CROWDED: Farewell = Farewell(1013, "ERR max number of clients reached");

/// A session and what it serves.
pub(super) struct Connection {
    pub(super) session: Session,
    /// None for a socket.
    pub(super) request: Option<HttpRequest>,
    /// What its socket keeps for it.
    pub(super) attached: Vec<u8>,
    pub(super) wake_at_ms: Option<u64>,
    /// Its time on the agenda.
    pub(super) due_ms: Option<u64>,
    pub(super) connected_at_ms: u64,
    /// Bytes that its input holds, as far as the object has counted them.
    pub(super) input_bytes: usize,
    /// Whether what its socket keeps says that a watched key has changed.
    pub(super) is_tripped: bool,
}

/// Who rings, until their sessions have run.
#[derive(Default)]
pub(super) struct Bells(pub(super) Mutex<BTreeSet<u32>>);

struct Bell {
    seat: u32,
    bells: Arc<Bells>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.bells.0.lock().insert(self.seat);
    }
}

impl<H: Host> Object<H> {
    /// Has a socket at a seat that is free.
    pub fn connect(&mut self, seat: u32, address: &str, seed: u64, now_ms: u64) {
        let most = usize::try_from(self.server.shared.settings.number("maxclients")).unwrap_or(SOCKETS_MAX);
        if self.connections.len() >= most.min(SOCKETS_MAX) {
            self.server.shared.counters.rejected_connections.fetch_add(1, Ordering::Relaxed);
            return self.say_goodbye(seat, CROWDED);
        }
        let session = self.greet(address, seed, now_ms);
        self.sit_down(seat, session, None, Vec::new(), now_ms);
    }

    /// A session of somebody new. The platform does not tell ports, but connections are told apart by their addresses (CLIENT
    /// KILL, MONITOR): a number of ours stands there.
    pub(super) fn greet(&self, address: &str, seed: u64, now_ms: u64) -> Session {
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
        for seat in self.connections.values_mut() {
            seat.session.begin_tracking_again(&self.server);
        }
    }

    pub(super) fn sit_down(
        &mut self,
        number: u32,
        session: Session,
        request: Option<HttpRequest>,
        attached: Vec<u8>,
        now_ms: u64,
    ) {
        session.set_waker(Waker::from(Arc::new(Bell { seat: number, bells: self.bells.clone() })));
        let connected_at_ms = session.connected_at_ms();
        let wake_at_ms = session.wake_at_ms();
        let seat = Connection {
            session,
            request,
            attached,
            wake_at_ms,
            due_ms: None,
            connected_at_ms,
            input_bytes: 0,
            is_tripped: false,
        };
        self.leave(number);
        self.connections.insert(number, seat);
        self.plan(number);
        self.count_input(number);
        self.cut_if_late(number, now_ms);
    }

    /// Counts what a seat's input holds, and leaves the largest if they hold too much together.
    pub(super) fn count_input(&mut self, number: u32) {
        let Some(seat) = self.connections.get_mut(&number) else { return };
        let input = seat.session.input();
        if input.is_empty() {
            *input = Vec::new();
        }
        self.inputs_bytes += input.capacity();
        self.inputs_bytes -= std::mem::replace(&mut seat.input_bytes, input.capacity());
        while self.inputs_bytes > INPUTS_MAX_BYTES {
            let largest = self.connections.iter().max_by_key(|(_, seat)| seat.input_bytes);
            let Some(number) = largest.map(|(number, _)| *number) else { return };
            self.end(number, NO_ROOM);
        }
    }

    /// The socket, or whoever waits for an answer, has gone.
    pub fn leave(&mut self, seat: u32) {
        self.stand_up(seat);
    }

    fn stand_up(&mut self, number: u32) -> Option<Connection> {
        let mut seat = self.connections.remove(&number)?;
        self.inputs_bytes -= seat.input_bytes;
        self.timers.forget(number, seat.due_ms);
        seat.session.close(&self.server);
        Some(seat)
    }

    /// Leaves a peer who has not logged in for too long.
    pub(super) fn cut_if_late(&mut self, number: u32, now_ms: u64) {
        if self.log_in_deadline_ms(number).is_some_and(|deadline_ms| deadline_ms <= now_ms) {
            self.end(number, VIOLATION);
        }
    }

    fn log_in_deadline_ms(&self, number: u32) -> Option<u64> {
        let seat = self.connections.get(&number)?;
        let is_stranger = !seat.session.is_authenticated() && self.server.shared.settings.has_password();
        is_stranger.then_some(seat.connected_at_ms + UNAUTHENTICATED_MS)
    }

    /// Puts on the agenda what is to be done about a seat, after anything happened there.
    pub(super) fn plan(&mut self, number: u32) {
        let log_in_ms = self.log_in_deadline_ms(number);
        let Some(seat) = self.connections.get_mut(&number) else { return };
        let due_ms = seat.wake_at_ms.into_iter().chain(log_in_ms).min();
        self.timers.move_to(number, seat.due_ms, due_ms);
        self.timers.note(number, seat.session.is_watching());
        seat.due_ms = due_ms;
    }

    /// Ends a seat, saying why.
    pub(super) fn end(&mut self, number: u32, farewell: Farewell) {
        let Some(seat) = self.stand_up(number) else { return };
        match seat.request {
            None => self.say_goodbye(number, farewell),
            Some(request) => {
                if seat.session.is_walking() {
                    self.keep_walks();
                }
                request.end(number, &mut self.outbox);
            }
        }
    }

    fn say_goodbye(&mut self, number: u32, Farewell(code, reason): Farewell) {
        self.outbox.put(Kind::Close, number, &[&code.to_le_bytes(), reason.as_bytes()]);
    }

    /// Has sockets keep their sessions as they are now.
    pub(super) fn freeze(&mut self) {
        let mut numbers = self.timers.take_changed();
        let was_tripped = |number: &u32| {
            self.connections
                .get(number)
                .is_some_and(|seat| seat.is_tripped != seat.session.is_watch_tripped())
        };
        numbers.extend(self.timers.watching().filter(was_tripped));
        for number in numbers {
            let Some(seat) = self.connections.get_mut(&number).filter(|seat| seat.request.is_none()) else {
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
}

//! The connections of an object, from connecting to closing, and the sessions that their sockets keep while the object sleeps.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Wake, Waker};

use edgecask_core::driver::{Driver, Now, TimeLimits};
use edgecask_core::session::{Peer, Session};
use parking_lot::Mutex;

use super::Object;
use super::http_request::HttpRequest;
use crate::host::Host;
use crate::limits::{ATTACHMENT_MAX_BYTES, INPUTS_MAX_BYTES, SOCKETS_MAX, UNAUTHENTICATED_MS};
use crate::outbox::Kind;

/// The attachment of a session that does not fit into one.
const TOO_LARGE: &[u8] = b"\0";

/// The platform closes idle connections by itself, so only the login has a time limit.
const TIME_LIMITS: TimeLimits = TimeLimits { login_ms: UNAUTHENTICATED_MS, idle_ms: None };

/// Why a connection is closed: a code of RFC 6455 and a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CloseReason(u16, &'static str);

pub(super) const NORMAL: CloseReason = CloseReason(1000, "");
const NO_LOGIN: CloseReason = CloseReason(1008, "authentication took too long");
pub(super) const TOO_BIG: CloseReason = CloseReason(1009, "the request is too long before its end has come");
pub(super) const TOO_MUCH: CloseReason =
    CloseReason(1009, "the replies to one message are too long; ask for less at a time");
pub(super) const UNREADABLE: CloseReason = CloseReason(1011, "a stored value cannot be read");
const STATE_LOST: CloseReason =
    CloseReason(1012, "the connection's state was too large to be kept; connect again");
pub(super) const NO_MEMORY: CloseReason =
    CloseReason(1013, "requests that have not come whole take too much memory");
const TOO_MANY: CloseReason = CloseReason(1013, "ERR max number of clients reached");

/// A session, with its socket or its request.
pub(super) struct Connection {
    pub(super) driver: Driver,
    /// None for a socket.
    pub(super) request: Option<HttpRequest>,
    /// The attachment of its socket.
    attached: Vec<u8>,
    /// Its time among the timers.
    due_ms: Option<u64>,
    /// The capacity of its input, as far as the object has counted it.
    input_bytes: usize,
    /// Whether the attachment says that a watched key has changed.
    is_tripped: bool,
}

/// The connections for which other connections have left something, until their sessions have run.
#[derive(Default)]
pub(super) struct WokenConnections(pub(super) Mutex<BTreeSet<u32>>);

struct ConnectionWaker {
    connection: u32,
    woken: Arc<WokenConnections>,
}

impl Wake for ConnectionWaker {
    fn wake(self: Arc<Self>) {
        self.woken.0.lock().insert(self.connection);
    }
}

impl<H: Host> Object<H> {
    /// Connects a socket under a number that is free.
    pub fn connect(&mut self, number: u32, address: &str, seed: u64, now_ms: u64) {
        let most = usize::try_from(self.server.shared.settings.number("maxclients")).unwrap_or(SOCKETS_MAX);
        if self.connections.len() >= most.min(SOCKETS_MAX) {
            self.server.shared.counters.rejected_connections.fetch_add(1, Ordering::Relaxed);
            return self.put_close(number, TOO_MANY);
        }
        let session = self.new_session(address, seed, now_ms);
        self.add(number, session, None, Vec::new(), now_ms);
    }

    /// A new session. The platform tells no ports, but CLIENT KILL and MONITOR tell connections apart by their addresses, so
    /// a number of the object stands in the place of the port.
    pub(super) fn new_session(&self, address: &str, seed: u64, now_ms: u64) -> Session {
        let peer = Peer { address: address.to_owned(), local_address: String::new() };
        let session = Session::new(&self.server.shared, peer, seed, now_ms);
        if let Some(host) = address.strip_suffix(":0") {
            session.set_address(format!("{host}:{}", 1 + session.id() % u64::from(u16::MAX)));
        }
        session
    }

    /// Restores a socket that was connected before the object slept, from its attachment.
    pub fn thaw(&mut self, number: u32, attached: &[u8], now_ms: u64) {
        match Session::thaw(&self.server, attached, now_ms) {
            Ok(session) => self.add(number, session, None, attached.to_vec(), now_ms),
            Err(_) => self.put_close(number, STATE_LOST),
        }
    }

    /// Ends the restoring of sockets; called once all of them are thawed.
    pub fn all_are_thawed(&mut self) {
        for connection in self.connections.values_mut() {
            connection.driver.begin_tracking_again(&self.server);
        }
    }

    pub(super) fn add(
        &mut self,
        number: u32,
        session: Session,
        request: Option<HttpRequest>,
        attached: Vec<u8>,
        now_ms: u64,
    ) {
        let driver = Driver::new(session, Now::from_unix_ms(now_ms));
        driver.set_waker(Waker::from(Arc::new(ConnectionWaker {
            connection: number,
            woken: self.woken.clone(),
        })));
        let connection =
            Connection { driver, request, attached, due_ms: None, input_bytes: 0, is_tripped: false };
        self.disconnect(number);
        self.connections.insert(number, connection);
        self.schedule(number);
        self.count_input(number);
        self.close_if_late(number, now_ms);
    }

    /// Counts the input of a connection, and closes the connections with the largest inputs if all hold too much together.
    pub(super) fn count_input(&mut self, number: u32) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let input = connection.driver.input();
        if input.is_empty() {
            *input = Vec::new();
        }
        self.inputs_bytes += input.capacity();
        self.inputs_bytes -= std::mem::replace(&mut connection.input_bytes, input.capacity());
        while self.inputs_bytes > INPUTS_MAX_BYTES {
            let largest = self.connections.iter().max_by_key(|(_, connection)| connection.input_bytes);
            let Some(number) = largest.map(|(number, _)| *number) else { return };
            self.close(number, NO_MEMORY);
        }
    }

    /// Ends a connection whose socket or HTTP client has gone.
    pub fn disconnect(&mut self, number: u32) {
        self.remove(number);
    }

    fn remove(&mut self, number: u32) -> Option<Connection> {
        let mut connection = self.connections.remove(&number)?;
        self.inputs_bytes -= connection.input_bytes;
        self.timers.remove(number, connection.due_ms);
        connection.driver.close(&self.server);
        Some(connection)
    }

    /// Closes a connection whose peer has not logged in for too long.
    pub(super) fn close_if_late(&mut self, number: u32, now_ms: u64) {
        let Some(connection) = self.connections.get(&number) else { return };
        let deadline_ms = connection.driver.deadline_ms(&self.server.shared, TIME_LIMITS);
        if deadline_ms.is_some_and(|deadline_ms| deadline_ms <= now_ms) {
            self.close(number, NO_LOGIN);
        }
    }

    /// Brings the timers of a connection up to date after its session has run.
    pub(super) fn schedule(&mut self, number: u32) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let due_ms = connection.driver.due_ms(&self.server.shared, TIME_LIMITS);
        self.timers.reschedule(number, connection.due_ms, due_ms);
        self.timers.mark_changed(number, connection.driver.session().is_watching());
        connection.due_ms = due_ms;
    }

    /// Closes a connection and tells the peer why.
    pub(super) fn close(&mut self, number: u32, reason: CloseReason) {
        let Some(connection) = self.remove(number) else { return };
        match connection.request {
            None => self.put_close(number, reason),
            Some(request) => {
                if connection.driver.session().is_walking() {
                    self.persist_walks();
                }
                request.close(number, &mut self.outbox);
            }
        }
    }

    fn put_close(&mut self, number: u32, CloseReason(code, text): CloseReason) {
        self.outbox.put(Kind::Close, number, &[&code.to_le_bytes(), text.as_bytes()]);
    }

    /// Attaches the sessions that have changed to their sockets.
    pub(super) fn freeze(&mut self) {
        let mut numbers = self.timers.take_changed();
        let was_tripped = |number: &u32| {
            self.connections.get(number).is_some_and(|connection| {
                connection.is_tripped != connection.driver.session().is_watch_tripped()
            })
        };
        numbers.extend(self.timers.watching().filter(was_tripped));
        for number in numbers {
            let sockets = |connection: &&mut Connection| connection.request.is_none();
            let Some(connection) = self.connections.get_mut(&number).filter(sockets) else { continue };
            connection.is_tripped = connection.driver.session().is_watch_tripped();
            let frozen = connection.driver.session().freeze(&self.server, ATTACHMENT_MAX_BYTES);
            let frozen = frozen.unwrap_or_else(|| TOO_LARGE.to_vec());
            if frozen != connection.attached {
                self.outbox.put(Kind::Attach, number, &[&frozen]);
                connection.attached = frozen;
            }
        }
    }
}

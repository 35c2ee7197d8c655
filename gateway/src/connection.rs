//! One TCP connection of a worker: a socket and the driver of its session.
//!
//! A worker takes a connection through the steps of a round: [`Connection::receive`], [`Connection::run`],
//! [`Connection::send`]. None of them blocks. The worker lends buffers for input while they hold something, so an idle
//! connection owns almost nothing. The connection never looks into the bytes; the session does.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Waker;

use edgecask_core::driver::{Driver, Now, TimeLimits};
use edgecask_core::engine::{Db, Engine};
use edgecask_core::resp::{Front, Part};
use edgecask_core::server::hub::Inbox;
use edgecask_core::server::{Effect, Server, Shared};
use edgecask_core::session::{Peer, Session};
use mio::net::TcpStream;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::brake::Rest;
use crate::clock::seed;
use crate::coalesce::Seen;
use crate::limits::{
    GATHER_MAX_BYTES, IDLE_OUTPUT_BYTES, LENT_BUFFERS_KEPT, READ_BUFFER_BYTES, SEND_TURN_BYTES,
    SMALL_INPUT_BYTES,
};
use crate::sendfile;
use crate::spread::order::Seen as SeenOrder;

/// A connection and its session.
pub struct Connection {
    stream: TcpStream,
    /// None while the session is away for a request that takes long ([`Phase::Away`]).
    driver: Option<Driver>,
    /// Through which a session that is away is reached.
    inbox: Arc<Inbox>,
    /// When the worker's load last counted it.
    pub seen: Seen,
    /// The step that must end before more requests run.
    pub phase: Phase,
    /// The system reports new bytes once: this stays true until a read has found no more.
    pub is_readable: bool,
    /// The peer sends no more; some of its bytes may still have to be read.
    pub is_ending: bool,
    /// Whether the connection is in the worker's next round.
    pub is_queued: bool,
    /// The peer has taken all that was sent since the requests ran, so their replies were made just now.
    is_prompt: bool,
    /// How long it rests because it has written too fast, if it does, and when the worker looks at that again.
    pub rest: Option<(Rest, u64)>,
    /// The order of the spread under which its worker has last looked at it.
    pub seen_order: SeenOrder,
    /// The worker to which it is to move once all its replies have been sent.
    pub goes_to: Option<u16>,
    /// Called when a stored value that is elsewhere has come.
    waker: Option<Waker>,
    /// What is to be sent next is elsewhere and has not come.
    pub is_fetching: bool,
}

/// The step that a connection is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for requests.
    Receiving,
    /// Its session is away for a request that takes long.
    Away,
    /// Its replies wait until the log is on the disk up to this position.
    Syncing(u64),
    /// Its replies wait until this steady time in milliseconds, because it writes faster than merge frees.
    Held(u64),
    /// Its replies wait for the peer, which last took some at this steady time in milliseconds.
    Sending(u64),
}

/// The outcome of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Everything has left.
    All,
    /// The peer takes no more at the moment.
    Full,
    /// The turn is over, so that other connections are served.
    EnoughForNow,
    /// What is to be sent next is elsewhere; the connection is woken once it has come.
    Fetching,
}

/// The outcome of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The session has something to run; so many bytes are new.
    Input(usize),
    /// Nothing has come yet.
    Nothing,
    /// The peer sends no more.
    End,
}

impl Connection {
    /// A session for an accepted stream.
    pub fn new(stream: TcpStream, shared: &Shared, now: Now) -> Connection {
        let shown =
            |address: io::Result<SocketAddr>| address.map(|address| address.to_string()).unwrap_or_default();
        let peer = Peer { address: shown(stream.peer_addr()), local_address: shown(stream.local_addr()) };
        let mut session = Session::new(shared, peer, seed(), now.unix_ms);
        session.set_hands_over(true);
        Connection {
            stream,
            inbox: session.inbox().clone(),
            driver: Some(Driver::new(session, now)),
            seen: Seen::default(),
            phase: Phase::Receiving,
            is_prompt: false,
            is_readable: false,
            is_ending: false,
            is_queued: false,
            rest: None,
            seen_order: SeenOrder::default(),
            goes_to: None,
            waker: None,
            is_fetching: false,
        }
    }

    /// The socket, for its registration with the event queue.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether nothing of it is under way: its session is here, all its replies have been sent, and it is not slowed.
    pub fn is_at_rest(&self) -> bool {
        self.phase == Phase::Receiving && self.rest.is_none() && self.driver.is_some()
    }

    /// Whether it may have something to do though the system reports nothing new.
    pub fn has_more(&mut self, now: Now) -> bool {
        let Some(driver) = &self.driver else { return false };
        self.phase == Phase::Receiving
            && self.rest.is_none()
            && (driver.has_work(now.steady_ms) || self.may_read())
    }

    /// Whether the socket may have bytes and the session may take them.
    fn may_read(&mut self) -> bool {
        self.is_readable && self.driver.as_mut().is_some_and(Driver::may_receive)
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.inbox.id()
    }

    /// Sets the waker that is called when other connections have something for this one.
    pub fn set_waker(&mut self, waker: Waker) {
        self.waker = Some(waker.clone());
        self.inbox.set_waker(waker);
    }

    /// Whether it is to be closed at once, even with replies left to send.
    pub fn must_close(&self) -> bool {
        self.inbox.must_close()
    }

    /// Whether the peer has left too many replies unread for too long, so that it is to be closed.
    pub fn is_over_limit(&mut self, unix_ms: u64) -> bool {
        self.driver.as_mut().is_some_and(|driver| driver.is_over_limit(unix_ms))
    }

    /// Reads once, unless the session has something to do already.
    ///
    /// # Errors
    /// The connection has failed and is to be closed.
    pub fn receive(&mut self, buffers: &mut Buffers, now: Now) -> io::Result<Received> {
        if self.phase != Phase::Receiving || self.rest.is_some() {
            return Ok(Received::Nothing);
        }
        if self.driver.as_ref().is_some_and(|driver| driver.has_work(now.steady_ms)) {
            return Ok(Received::Input(0));
        }
        if !self.may_read() {
            return Ok(Received::Nothing);
        }
        let Some(driver) = &mut self.driver else { return Ok(Received::Nothing) };
        let input = driver.input();
        buffers.lend(input);
        let space = input.capacity() - input.len();
        match rustix::net::recv(&self.stream, spare_capacity(input), RecvFlags::empty()) {
            Ok((0, _)) => Ok(Received::End),
            Ok((count, _)) => {
                // A short read has emptied the socket, except for its end, which is reported only once.
                self.is_readable = count >= space || self.is_ending;
                Ok(Received::Input(count))
            }
            Err(Errno::AGAIN) => {
                self.is_readable = false;
                buffers.take_back(input);
                Ok(Received::Nothing)
            }
            Err(Errno::INTR) => Ok(Received::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the session away if its next request takes long.
    pub fn leave_if_long(&mut self) -> Option<Box<Driver>> {
        if !self.driver.as_ref().is_some_and(Driver::takes_long) {
            return None;
        }
        self.phase = Phase::Away;
        self.driver.take().map(Box::new)
    }

    /// Takes the session back. True if it has changed settings that the server must act upon before it replies.
    pub fn come_back(&mut self, driver: Box<Driver>) -> bool {
        let has_changed_settings = driver.has_changed_settings();
        self.phase = Phase::Receiving;
        self.driver = Some(*driver);
        has_changed_settings
    }

    /// The peer is gone while the session is away: what it asked for need not go on.
    pub fn abandon(&self) {
        self.inbox.close();
    }

    /// The database and key of the only request in the input, as far as that can be guessed.
    pub fn only_key(&self) -> Option<(Db, &[u8])> {
        self.driver.as_ref().and_then(Driver::only_key)
    }

    /// Bytes that its requests have appended to the log since the last call.
    #[inline]
    pub fn take_logged_bytes(&mut self) -> u64 {
        self.driver.as_mut().map_or(0, Driver::take_logged_bytes)
    }

    /// Runs the requests that have come, until about so many bytes are appended to the log. True if they changed settings that
    /// the server must act upon before it replies.
    pub fn run<E: Engine>(&mut self, server: &Server<E>, now: Now, logged_max: u64) -> bool {
        self.is_prompt = true;
        let Some(driver) = &mut self.driver else { return false };
        driver.set_logged_max(logged_max);
        driver.run(server, now);
        driver.has_changed_settings()
    }

    /// Position in the log behind the last write that is not acknowledged; 0 if there is none.
    pub fn wrote(&self) -> u64 {
        self.driver.as_ref().map_or(0, Driver::wrote)
    }

    /// The steady time in milliseconds at which it must be in a round though nothing has come.
    pub fn alarm_ms(&self) -> Option<u64> {
        self.driver.as_ref().and_then(Driver::alarm_ms)
    }

    /// Gives the lent buffer back if it holds next to nothing.
    pub fn give_back(&mut self, buffers: &mut Buffers) {
        if let Some(driver) = &mut self.driver {
            buffers.take_back(driver.input());
        }
    }

    /// Bytes of replies that have not been sent.
    pub fn unsent(&mut self) -> u64 {
        self.driver.as_mut().map_or(0, |driver| driver.reply().unsent())
    }

    /// Sends replies as far as the peer takes them, but not so many that other connections wait for long.
    ///
    /// # Errors
    /// The connection has failed, or a stored value cannot be read; the connection is to be closed.
    pub fn send(&mut self, now: Now) -> io::Result<Sent> {
        let mut budget = SEND_TURN_BYTES;
        self.is_fetching = false;
        let Some(driver) = &mut self.driver else { return Ok(Sent::All) };
        loop {
            let reply = driver.reply();
            let outcome = match reply.front() {
                None => {
                    driver.has_sent_all();
                    self.phase = Phase::Receiving;
                    return Ok(Sent::All);
                }
                Some(_) if budget == 0 => {
                    self.phase = Phase::Sending(now.steady_ms);
                    return Ok(Sent::EnoughForNow);
                }
                Some(Front::Stored(part)) if !is_at_hand(&part, self.waker.as_ref()) => {
                    self.is_fetching = true;
                    if !matches!(self.phase, Phase::Sending(_)) {
                        self.phase = Phase::Sending(now.steady_ms);
                    }
                    return Ok(Sent::Fetching);
                }
                Some(Front::Bytes(bytes, Some(part))) if !is_at_hand(&part, self.waker.as_ref()) => {
                    rustix::net::send(&self.stream, bytes, SendFlags::NOSIGNAL | SendFlags::MORE)
                }
                Some(Front::Bytes(bytes, None)) => {
                    rustix::net::send(&self.stream, bytes, SendFlags::NOSIGNAL)
                }
                Some(Front::Bytes(bytes, Some(part))) => sendfile::send_with(&self.stream, bytes, part)?,
                Some(Front::Stored(part)) => sendfile::send(&self.stream, part, budget, self.is_prompt)?,
            };
            match outcome {
                Ok(count) => {
                    reply.sent(count as u64);
                    budget = budget.saturating_sub(count as u64);
                    if let Phase::Sending(_) = self.phase {
                        self.phase = Phase::Sending(now.steady_ms);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // Nobody knows how long the peer takes.
                    self.is_prompt = false;
                    if !matches!(self.phase, Phase::Sending(_)) {
                        self.phase = Phase::Sending(now.steady_ms);
                    }
                    return Ok(Sent::Full);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The effects that are carried out after the replies have left.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        self.driver.as_mut().map(Driver::take_effects).unwrap_or_default()
    }

    /// The steady time in milliseconds at which it is to be closed if it goes on as now. `unread_ms` bounds how long the
    /// peer may take nothing of its replies.
    pub fn deadline_ms(&self, shared: &Shared, limits: TimeLimits, unread_ms: u64) -> Option<u64> {
        match self.phase {
            Phase::Sending(since_ms) => Some(since_ms.saturating_add(unread_ms)),
            Phase::Syncing(_) | Phase::Held(_) => None,
            Phase::Receiving | Phase::Away => {
                self.driver.as_ref().and_then(|driver| driver.deadline_ms(shared, limits))
            }
        }
    }

    /// Frees a long output buffer that no request has needed since `since_ms`.
    pub fn shrink_if_idle(&mut self, since_ms: u64) {
        if let Some(driver) = &mut self.driver {
            driver.shrink_if_idle(since_ms, IDLE_OUTPUT_BYTES);
        }
    }

    /// Ends the session.
    pub fn close<E: Engine>(&mut self, server: &Server<E>) {
        match &mut self.driver {
            Some(driver) => driver.close(server),
            // The thread that has it finds that nobody waits any more; the worker closes the session when it is back.
            None => self.inbox.close(),
        }
    }
}

/// Whether the beginning of a stored value can be sent without waiting for it.
fn is_at_hand(part: &Part<'_>, waker: Option<&Waker>) -> bool {
    waker.is_none_or(|waker| part.source.is_at_hand(part.offset, part.len.min(GATHER_MAX_BYTES), waker))
}

/// A worker's input buffers, lent to the connections that are reading.
#[derive(Default)]
pub struct Buffers {
    free: Vec<Vec<u8>>,
}

impl Buffers {
    /// Makes space to read into: a buffer of the worker for a small input, or twice the space for one that has grown large.
    /// The space grows with the bytes received and never with a length that was announced.
    fn lend(&mut self, input: &mut Vec<u8>) {
        if input.len() > SMALL_INPUT_BYTES {
            input.reserve(input.len().max(READ_BUFFER_BYTES / 2));
        } else if input.capacity() < READ_BUFFER_BYTES {
            let mut lent = self.free.pop().unwrap_or_else(|| Vec::with_capacity(READ_BUFFER_BYTES));
            lent.extend_from_slice(input);
            *input = lent;
        }
    }

    /// Takes a buffer back, unless it holds too much.
    fn take_back(&mut self, input: &mut Vec<u8>) {
        if input.len() > SMALL_INPUT_BYTES || input.capacity() < READ_BUFFER_BYTES {
            return;
        }
        let kept = input.as_slice().to_vec();
        let mut lent = std::mem::replace(input, kept);
        // A buffer that had grown for one large request is not kept for all later ones.
        if self.free.len() < LENT_BUFFERS_KEPT && lent.capacity() <= 2 * READ_BUFFER_BYTES {
            lent.clear();
            self.free.push(lent);
        }
    }
}

//! One TCP connection: its socket, its session, and what it waits for.
//!
//! A worker drives it through the steps of a round: [`Connection::receive`], [`Connection::run`], [`Connection::send`].
//! None of them blocks. Buffers for input are lent by the worker while there is something in them, so an idle
//! connection owns almost nothing. Nothing here looks into the bytes: that is the session's business.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use edgecask_core::engine::{Db, Engine};
use edgecask_core::limits::BLOCKED_INPUT_MAX_BYTES;
use edgecask_core::resp::Front;
use edgecask_core::session::{Effect, Peer, Server, Session, Shared};
use mio::net::TcpStream;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::clock::seed;
use crate::coalesce::Seen;
use crate::limits::{
    Deadlines, IDLE_OUTPUT_BYTES, LENT_BUFFERS_KEPT, READ_BUFFER_BYTES, SEND_TURN_BYTES, SMALL_INPUT_BYTES,
};
use crate::stored;
use crate::workers::Bell;

/// A connection and its session.
pub struct Connection {
    stream: TcpStream,
    session: Session,
    accepted: Instant,
    /// When a request last came.
    active: Instant,
    /// The worker's load was told of it.
    pub seen: Seen,
    /// What must happen before more requests run.
    pub phase: Phase,
    /// The system reports new bytes once: this is kept until a read has found no more.
    pub is_readable: bool,
    /// The peer sends no more; what it has sent may still have to be read.
    pub is_ending: bool,
    /// Whether it is to take part in the worker's next round.
    pub is_queued: bool,
    /// Whether the input may hold requests that have come but did not run, because replies had piled up.
    has_requests: bool,
    /// End of what the session has appended to the log and not been acknowledged.
    pub wrote: u64,
    /// When it is to take part in a round though nothing has come.
    pub alarm: Option<Instant>,
    effects: Vec<Effect>,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Requests.
    Receiving,
    /// The log to be on the disk up to this position, before replies leave.
    Syncing(u64),
    /// The peer to take replies; so long since it last took any.
    Sending(Instant),
}

/// How far sending came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Everything has left.
    All,
    /// The peer takes no more at the moment.
    Full,
    /// It is somebody else's turn.
    EnoughForNow,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// There is something to run; so many bytes are new.
    Input(usize),
    /// Nothing yet.
    Nothing,
    /// The peer sends no more.
    End,
}

impl Connection {
    /// A session for an accepted stream.
    pub fn new(stream: TcpStream, shared: &Shared, now: Instant, now_ms: u64) -> Connection {
        let shown =
            |address: io::Result<SocketAddr>| address.map(|address| address.to_string()).unwrap_or_default();
        let peer = Peer { address: shown(stream.peer_addr()), local_address: shown(stream.local_addr()) };
        Connection {
            stream,
            session: Session::new(shared, peer, seed(), now_ms),
            accepted: now,
            active: now,
            seen: Seen::default(),
            phase: Phase::Receiving,
            is_readable: false,
            is_ending: false,
            is_queued: false,
            has_requests: false,
            wrote: 0,
            alarm: None,
            effects: Vec::new(),
        }
    }

    /// The socket, to be told to the system.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether it may have something to do without the system reporting it again.
    pub fn has_more(&mut self) -> bool {
        let is_due = self.alarm.is_some_and(|alarm| alarm <= Instant::now());
        let may_run = self.has_requests || self.may_read() || self.session.has_mail() || is_due;
        self.phase == Phase::Receiving && may_run
    }

    /// Whether there is something to read that may be read: what comes while a command waits is not kept without end.
    fn may_read(&mut self) -> bool {
        self.is_readable
            && !(self.session.is_waiting() && self.session.input().len() >= BLOCKED_INPUT_MAX_BYTES)
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.session.id()
    }

    /// Has a bell rung whenever other connections have something for this one.
    pub fn set_bell(&self, bell: Bell) {
        self.session.set_waker(Waker::from(Arc::new(bell)));
    }

    /// Whether it is to be closed, whatever has still to be sent.
    pub fn must_close(&self) -> bool {
        self.session.must_close()
    }

    /// Whether so much output has been waiting for so long that it is to be closed.
    pub fn is_over_limit(&mut self, now_ms: u64) -> bool {
        self.session.is_over_limit(now_ms)
    }

    /// Reads once, unless requests wait already.
    pub fn receive(&mut self, buffers: &mut Buffers, now: Instant) -> io::Result<Received> {
        if self.phase != Phase::Receiving {
            return Ok(Received::Nothing);
        }
        let is_due = self.alarm.is_some_and(|alarm| alarm <= now);
        if self.has_requests || self.session.has_mail() || is_due {
            return Ok(Received::Input(0));
        }
        if !self.may_read() {
            return Ok(Received::Nothing);
        }
        let input = self.session.input();
        buffers.lend(input);
        let room = input.capacity() - input.len();
        match rustix::net::recv(&self.stream, spare_capacity(input), RecvFlags::empty()) {
            Ok((0, _)) => Ok(Received::End),
            Ok((count, _)) => {
                // A read that did not fill the buffer has emptied the socket, but for its end, which is reported once.
                self.is_readable = count >= room || self.is_ending;
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

    /// The database and key that the only request which has come is most likely about.
    pub fn only_key(&self) -> Option<(Db, &[u8])> {
        self.session.only_key()
    }

    /// Runs what has come. True if settings changed that the server must act upon before a reply leaves.
    pub fn run<E: Engine>(&mut self, server: &Server<E>, now: Instant, now_ms: u64) -> bool {
        self.active = now;
        let progress = self.session.process(server, now_ms);
        self.has_requests = progress.is_paused;
        self.wrote = self.wrote.max(progress.wrote.position());
        self.alarm =
            progress.wake_at_ms.map(|at_ms| now + Duration::from_millis(at_ms.saturating_sub(now_ms)));
        self.effects = progress.effects;
        self.effects.contains(&Effect::SettingsChanged)
    }

    /// Gives the lent buffer back if there is next to nothing in it.
    pub fn give_back(&mut self, buffers: &mut Buffers) {
        buffers.take_back(self.session.input());
    }

    /// Bytes of replies that have not been sent.
    pub fn unsent(&mut self) -> u64 {
        self.session.reply().unsent()
    }

    /// Sends replies as far as the peer takes them, but not so much that the other connections wait for long.
    pub fn send(&mut self, now: Instant) -> io::Result<Sent> {
        let mut budget = SEND_TURN_BYTES;
        loop {
            let reply = self.session.reply();
            let outcome = match reply.front() {
                None => {
                    reply.clear();
                    self.session.has_sent();
                    self.wrote = 0;
                    self.phase = Phase::Receiving;
                    return Ok(Sent::All);
                }
                Some(_) if budget == 0 => {
                    self.phase = Phase::Sending(now);
                    return Ok(Sent::EnoughForNow);
                }
                Some(Front::Bytes(bytes, None)) => {
                    rustix::net::send(&self.stream, bytes, SendFlags::NOSIGNAL)
                }
                Some(Front::Bytes(bytes, Some(part))) => stored::send_with(&self.stream, bytes, part)?,
                Some(Front::Stored(part)) => stored::send(&self.stream, part, budget)?,
            };
            match outcome {
                Ok(count) => {
                    reply.sent(count as u64);
                    budget = budget.saturating_sub(count as u64);
                    if let Phase::Sending(_) = self.phase {
                        self.phase = Phase::Sending(now);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !matches!(self.phase, Phase::Sending(_)) {
                        self.phase = Phase::Sending(now);
                    }
                    return Ok(Sent::Full);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What is to be done after the replies have left.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// When it is to be cut if it goes on as now; `idle` is the longest time without a request, if there is one.
    pub fn deadline(&self, deadlines: &Deadlines, idle: Option<Duration>) -> Option<Instant> {
        match self.phase {
            Phase::Sending(since) => Some(since + deadlines.unread_output),
            Phase::Syncing(_) => None,
            Phase::Receiving if !self.session.is_authenticated() => {
                Some(self.accepted + deadlines.unauthenticated)
            }
            // Those who wait for others are idle by design.
            Phase::Receiving if self.session.is_waiting() || self.session.is_listening() => None,
            Phase::Receiving => idle.map(|idle| self.active + idle),
        }
    }

    /// Gives up a long output buffer that has not been needed since `since`.
    pub fn shrink_if_idle(&mut self, since: Instant) {
        let reply = self.session.reply();
        if self.active < since && reply.capacity() > IDLE_OUTPUT_BYTES {
            reply.shrink();
        }
    }

    /// Ends the session.
    pub fn close<E: Engine>(&mut self, server: &Server<E>) {
        self.session.close(server);
    }
}

/// A worker's input buffers, lent to the connections that are reading.
#[derive(Default)]
pub struct Buffers {
    free: Vec<Vec<u8>>,
}

impl Buffers {
    /// Makes room to read into: a buffer of the worker for what is small, or twice the room for what has grown large.
    /// Room grows with what was received and never with a length that was announced.
    fn lend(&mut self, input: &mut Vec<u8>) {
        if input.len() > SMALL_INPUT_BYTES {
            input.reserve(input.len().max(READ_BUFFER_BYTES / 2));
        } else if input.capacity() < READ_BUFFER_BYTES {
            let mut lent = self.free.pop().unwrap_or_else(|| Vec::with_capacity(READ_BUFFER_BYTES));
            lent.extend_from_slice(input);
            *input = lent;
        }
    }

    /// Takes a buffer back, unless there is too much in it.
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

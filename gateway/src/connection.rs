//! One TCP connection of a worker: its socket, its session, and what it waits for.
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
use edgecask_core::resp::Front;
use edgecask_core::server::{Effect, Server, Shared};
use edgecask_core::session::Peer;
use mio::net::TcpStream;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use crate::coalesce::Seen;
use crate::driver::Driver;
use crate::limits::{Deadlines, LENT_BUFFERS_KEPT, READ_BUFFER_BYTES, SEND_TURN_BYTES, SMALL_INPUT_BYTES};
use crate::sendfile;
use crate::workers::Bell;

/// A connection and its session.
pub struct Connection {
    stream: TcpStream,
    driver: Driver,
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
            driver: Driver::new(shared, peer, now, now_ms),
            seen: Seen::default(),
            phase: Phase::Receiving,
            is_readable: false,
            is_ending: false,
            is_queued: false,
        }
    }

    /// The socket, to be told to the system.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether it may have something to do without the system reporting it again.
    pub fn has_more(&mut self) -> bool {
        self.phase == Phase::Receiving && (self.driver.has_work(Instant::now()) || self.may_read())
    }

    /// Whether there is something to read that may be read.
    fn may_read(&mut self) -> bool {
        self.is_readable && self.driver.may_receive()
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.driver.id()
    }

    /// Has a bell rung whenever other connections have something for this one.
    pub fn set_bell(&self, bell: Bell) {
        self.driver.set_waker(Waker::from(Arc::new(bell)));
    }

    /// Whether it is to be closed, whatever has still to be sent.
    pub fn must_close(&self) -> bool {
        self.driver.must_close()
    }

    /// Whether so much output has been waiting for so long that it is to be closed.
    pub fn is_over_limit(&mut self, now_ms: u64) -> bool {
        self.driver.is_over_limit(now_ms)
    }

    /// Reads once, unless requests wait already.
    pub fn receive(&mut self, buffers: &mut Buffers, now: Instant) -> io::Result<Received> {
        if self.phase != Phase::Receiving {
            return Ok(Received::Nothing);
        }
        if self.driver.has_work(now) {
            return Ok(Received::Input(0));
        }
        if !self.may_read() {
            return Ok(Received::Nothing);
        }
        let input = self.driver.input();
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
        self.driver.only_key()
    }

    /// Runs what has come. True if settings changed that the server must act upon before a reply leaves.
    pub fn run<E: Engine>(&mut self, server: &Server<E>, now: Instant, now_ms: u64) -> bool {
        self.driver.run(server, now, now_ms)
    }

    /// End of what it has appended to the log and not been acknowledged; 0 if there is nothing.
    pub fn wrote(&self) -> u64 {
        self.driver.wrote()
    }

    /// When it is to take part in a round though nothing has come.
    pub fn alarm(&self) -> Option<Instant> {
        self.driver.alarm()
    }

    /// Gives the lent buffer back if there is next to nothing in it.
    pub fn give_back(&mut self, buffers: &mut Buffers) {
        buffers.take_back(self.driver.input());
    }

    /// Bytes of replies that have not been sent.
    pub fn unsent(&mut self) -> u64 {
        self.driver.reply().unsent()
    }

    /// Sends replies as far as the peer takes them, but not so much that the other connections wait for long.
    pub fn send(&mut self, now: Instant) -> io::Result<Sent> {
        let mut budget = SEND_TURN_BYTES;
        loop {
            let reply = self.driver.reply();
            let outcome = match reply.front() {
                None => {
                    self.driver.has_sent_all();
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
                Some(Front::Bytes(bytes, Some(part))) => sendfile::send_with(&self.stream, bytes, part)?,
                Some(Front::Stored(part)) => sendfile::send(&self.stream, part, budget)?,
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
        self.driver.take_effects()
    }

    /// When it is to be cut if it goes on as now; `idle` is the longest time without a request, if there is one.
    pub fn deadline(&self, deadlines: &Deadlines, idle: Option<Duration>) -> Option<Instant> {
        match self.phase {
            Phase::Sending(since) => Some(since + deadlines.unread_output),
            Phase::Syncing(_) => None,
            Phase::Receiving => self.driver.deadline(deadlines, idle),
        }
    }

    /// Gives up a long output buffer that has not been needed since `since`.
    pub fn shrink_if_idle(&mut self, since: Instant) {
        self.driver.shrink_if_idle(since);
    }

    /// Ends the session.
    pub fn close<E: Engine>(&mut self, server: &Server<E>) {
        self.driver.close(server);
    }
}

/// A worker's input buffers, lent to the connections that are reading.
#[derive(Default)]
pub struct Buffers {
    free: Vec<Vec<u8>>,
}

impl Buffers {
    /// Makes room to read into: a buffer of the worker for what is small, or twice the room for what has grown large.
    /// MemoryBudget grows with what was received and never with a length that was announced.
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

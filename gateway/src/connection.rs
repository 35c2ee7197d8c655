//! One TCP connection: read, process, write, and again.
//!
//! The hot path waits once, for bytes to read. A session processes everything that has come, and its replies leave with
//! one write. Buffers are lent by the thread while there is something in them, so an idle connection owns almost
//! nothing. Nothing here looks into the bytes: that is the session's business.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use edgecask_core::session::{Effect, Peer, Session};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::debug;

use crate::clock::{now_ms, seed};
use crate::coalesce::{self, Seen};
use crate::gateway::Gateway;
use crate::limits::{IDLE_OUTPUT_BYTES, READ_BUFFER_BYTES, SMALL_INPUT_BYTES};
use crate::stop::StopRequest;

thread_local! {
    /// Lent to whichever connection of this thread is reading.
    static READ_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A connection and its session.
pub struct Connection {
    gateway: Arc<Gateway>,
    stream: TcpStream,
    session: Session,
    accepted: Instant,
    /// Connections of this thread that have something to finish before the process may end.
    busy: Arc<AtomicUsize>,
    seen: Seen,
    input_bytes: u64,
    had_long_output: bool,
}

/// Whether the connection lives on.
#[derive(PartialEq, Eq)]
enum Next {
    Receive,
    Close,
}

impl Connection {
    /// A session for an accepted stream, which counts as connected until it is dropped.
    pub fn new(gateway: Arc<Gateway>, stream: TcpStream, busy: Arc<AtomicUsize>) -> Connection {
        let shown =
            |address: io::Result<SocketAddr>| address.map(|address| address.to_string()).unwrap_or_default();
        let peer = Peer { address: shown(stream.peer_addr()), local_address: shown(stream.local_addr()) };
        let session = Session::new(&gateway.server.shared, peer, seed(), now_ms());
        Connection {
            gateway,
            stream,
            session,
            accepted: Instant::now(),
            busy,
            seen: Seen::default(),
            input_bytes: 0,
            had_long_output: false,
        }
    }

    /// Serves until one side closes.
    pub async fn serve(mut self) {
        if let Err(error) = self.run().await {
            debug!(%error, peer = ?self.stream.peer_addr().ok(), "connection closed");
        }
    }

    async fn run(&mut self) -> io::Result<()> {
        let busy = self.busy.clone();
        while self.receive_in_time().await? > 0 {
            let _busy = Busy::new(&busy);
            if self.answer().await? == Next::Close {
                break;
            }
        }
        Ok(())
    }

    /// Runs what has been received and sends the replies.
    async fn answer(&mut self) -> io::Result<Next> {
        loop {
            let now_ms = now_ms();
            self.seen.serves(now_ms);
            let progress = self.session.process(&self.gateway.server, now_ms);
            if self.session.input().is_empty() {
                give_back(self.session.input());
            }
            if progress.effects.contains(&Effect::SettingsChanged) {
                // Before the reply: whoever has read it may count on the change.
                self.gateway.settings_changed();
            }
            let settled =
                self.gateway.syncer.settle(&self.gateway.server.engine, progress.wrote.position()).await;
            settled.map_err(|_| io::Error::other("a sync failed, so replies were withheld"))?;
            coalesce::others_first().await;
            self.send().await?;
            if !progress.effects.is_empty() && self.carry_out(&progress.effects) == Next::Close {
                return Ok(Next::Close);
            }
            if !progress.is_paused {
                return Ok(Next::Receive);
            }
        }
    }

    fn carry_out(&self, effects: &[Effect]) -> Next {
        let mut next = Next::Receive;
        for effect in effects {
            match effect {
                Effect::Close => next = Next::Close,
                Effect::Checkpoint => self.gateway.maintenance.ask_for_checkpoint(),
                Effect::SettingsChanged => {}
                Effect::Shutdown { save } => {
                    self.gateway.stop.request(StopRequest { checkpoint: *save });
                    next = Next::Close;
                }
            }
        }
        next
    }

    /// Reads at least one byte; 0 at the end of the stream. Waiting has a deadline only where one is set.
    async fn receive_in_time(&mut self) -> io::Result<usize> {
        let late = |_| io::Error::from(ErrorKind::TimedOut);
        if !self.session.is_authenticated() {
            let deadline = self.accepted + self.gateway.deadlines.unauthenticated;
            return timeout_at(deadline, self.receive()).await.map_err(late)?;
        }
        match self.gateway.idle_timeout_s() {
            0 => self.receive().await,
            idle_s => timeout(Duration::from_secs(idle_s), self.receive()).await.map_err(late)?,
        }
    }

    async fn receive(&mut self) -> io::Result<usize> {
        let received = poll_fn(|context| self.poll_receive(context)).await?;
        self.input_bytes += received as u64;
        Ok(received)
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let input = self.session.input();
        borrow(input);
        // The reading future keeps nothing between polls: dropping it and making it again is free. It knows that a read
        // that did not fill the buffer has emptied the socket, which saves the system call that would find out.
        let outcome = pin!(self.stream.read_buf(input)).poll(context);
        if outcome.is_pending() {
            give_back(input);
            if std::mem::take(&mut self.had_long_output) {
                drop(self.session.reply().take());
            }
        }
        outcome
    }

    /// Sends all replies, usually with one system call.
    async fn send(&mut self) -> io::Result<()> {
        let mut rest = self.session.reply().as_bytes();
        let total = rest.len();
        if rest.is_empty() {
            return Ok(());
        }
        loop {
            match self.stream.try_write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let writable = timeout(self.gateway.deadlines.unread_output, self.stream.writable());
                    writable.await.map_err(|_| io::Error::from(ErrorKind::TimedOut))??;
                }
                Err(error) => return Err(error),
            }
            if rest.is_empty() {
                break;
            }
        }
        let counters = &self.gateway.server.shared.counters;
        counters.output_bytes.fetch_add(total as u64, Ordering::Relaxed);
        counters.input_bytes.fetch_add(std::mem::take(&mut self.input_bytes), Ordering::Relaxed);
        self.had_long_output |= total > IDLE_OUTPUT_BYTES;
        self.session.reply().clear();
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.session.close(&self.gateway.server);
        self.gateway.connected.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts a connection as busy while it lives.
struct Busy<'b>(&'b AtomicUsize);

impl<'b> Busy<'b> {
    fn new(busy: &'b AtomicUsize) -> Busy<'b> {
        busy.fetch_add(1, Ordering::Relaxed);
        Busy(busy)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes room to read into: the thread's buffer for what is small, or twice the room for what has grown large. Room
/// grows with what was received and never with a length that was announced.
fn borrow(input: &mut Vec<u8>) {
    if input.len() > SMALL_INPUT_BYTES {
        input.reserve(input.len().max(READ_BUFFER_BYTES / 2));
        return;
    }
    let mut lent = READ_BUFFER.take();
    lent.clear();
    lent.reserve(READ_BUFFER_BYTES);
    lent.extend_from_slice(input);
    *input = lent;
}

/// Gives the thread its buffer back, unless there is too much in it.
fn give_back(input: &mut Vec<u8>) {
    if input.len() <= SMALL_INPUT_BYTES && input.capacity() >= READ_BUFFER_BYTES {
        let kept = input.as_slice().to_vec();
        let mut lent = std::mem::replace(input, kept);
        // A buffer that had grown for one large request is not kept for all later ones.
        lent.clear();
        lent.shrink_to(2 * READ_BUFFER_BYTES);
        READ_BUFFER.set(lent);
    }
}

//! A session as a task that ends with its peer's connection.
//!
//! A [`Transport`] carries its bytes: messages of a WebSocket, a stream under TLS, or one request of the REST dialect. Under
//! every transport the session gets the same bytes in the same order as over plain TCP, runs at the same moments, waits for
//! the same syncs, and is closed at the same deadlines.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use edgecask_core::driver::{Driver, take_piece};
use edgecask_core::limits::BLOCKED_INPUT_MAX_BYTES;
use edgecask_core::resp::Reply;
use edgecask_core::session::{Peer, Session};
use tokio::time::{Sleep, sleep_until};
use tracing::debug;

use super::session::{Away, OpenSession};
use crate::brake::Rest;
use crate::clock::{self, instant_at, seed, steady_ms, whole_ms};
use crate::gateway::{Gateway, Next};
use crate::limits::{CLOSE_TIMEOUT, IDLE_OUTPUT_BYTES, REST_LOOK_PERIOD, STORED_PIECE_BYTES, SWEEP_PERIOD};
use crate::sync::Settling;

/// The transport of a session's bytes.
pub trait Transport {
    /// Appends received bytes to `input`. An error ends the connection.
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>>;

    /// Sends replies until all of them have left. An error ends the connection.
    fn poll_send(&mut self, context: &mut Context<'_>, reply: &mut Reply) -> Poll<io::Result<()>>;

    /// Pings a silent peer; false if this transport has no pings.
    fn ping(&mut self, context: &mut Context<'_>) -> bool;

    /// Says that the peer has authenticated, so that it may send longer messages.
    fn set_authenticated(&mut self);

    /// Closes the connection, with the reason where the transport can tell it.
    fn poll_close(&mut self, context: &mut Context<'_>, reason: CloseReason) -> Poll<()>;
}

/// Appends the next piece of a reply, once what it is made of is here; false if nothing was left.
///
/// # Errors
/// A stored value cannot be read.
pub fn poll_piece(
    context: &mut Context<'_>,
    reply: &mut Reply,
    piece: &mut Vec<u8>,
) -> Poll<io::Result<bool>> {
    if !reply.is_at_hand(STORED_PIECE_BYTES as u64, context.waker()) {
        return Poll::Pending;
    }
    Poll::Ready(take_piece(reply, STORED_PIECE_BYTES, piece).map_err(io::Error::other))
}

/// The outcome of receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Bytes for the session have come.
    Input,
    /// Only a ping, a pong or an empty message has come: the peer is alive.
    Control,
    /// The peer sends no more.
    End,
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The peer has ended it, or a reply has given the reason.
    Normal,
    /// The server stops.
    GoingAway,
    /// A message was too long.
    TooLong,
    /// A text message is not UTF-8, which RFC 6455 wants closed with a code of its own.
    NotText,
    /// The peer broke the protocol below the session, or sent too many frames without content.
    Violation,
    /// A deadline has passed, or the server cannot go on with the connection.
    Aborted,
}

/// A connection that rests because it writes too fast, counted as long as this is there.
struct Resting {
    gateway: Arc<Gateway>,
    rest: Rest,
}

impl Resting {
    fn new(gateway: Arc<Gateway>, rest: Rest) -> Resting {
        gateway.brake.begin_rest();
        Resting { gateway, rest }
    }
}

impl Drop for Resting {
    fn drop(&mut self) {
        self.gateway.brake.end_rest();
    }
}

/// The transport of a session, and the events that both wait for.
struct WebConnection<T> {
    gateway: Arc<Gateway>,
    transport: T,
    has_waker: bool,
    /// Bytes have come while the session was away, and have not run.
    has_early_input: bool,
    is_authenticated: bool,
    /// When something last came, as a steady time, and whether the peer was pinged since.
    received_ms: u64,
    was_pinged: bool,
    timer: Pin<Box<Sleep>>,
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// The end of a wait.
enum Event {
    Run,
    Close(CloseReason),
}

/// Serves a session until its peer or the server ends the connection.
pub async fn serve<T: Transport>(gateway: Arc<Gateway>, transport: T, peer: Peer) {
    let session = Session::new(&gateway.server.shared, peer, seed(), clock::now().unix_ms);
    serve_session(gateway, transport, session).await;
}

/// The same for a session that is there.
pub async fn serve_session<T: Transport>(gateway: Arc<Gateway>, transport: T, mut session: Session) {
    let now = clock::now();
    session.set_hands_over(true);
    let driver = Driver::new(session, now);
    let stopping = gateway.clone();
    let first_ping = instant_at(now.steady_ms + whole_ms(gateway.deadlines.silence));
    // Boxed, since it goes from thread to thread.
    let session = Box::new(OpenSession { gateway: gateway.clone(), driver });
    let mut connection = WebConnection {
        gateway,
        transport,
        has_waker: false,
        has_early_input: false,
        is_authenticated: false,
        received_ms: now.steady_ms,
        was_pinged: false,
        timer: Box::pin(sleep_until(first_ping.into())),
        stop: Box::pin(async move {
            stopping.stop.requested().await;
        }),
    };
    let reason = connection.serve_requests(session).await;
    let WebConnection { mut transport, .. } = connection;
    let closed = std::future::poll_fn(|context| transport.poll_close(context, reason));
    // A peer that does not answer the close in time is left anyway.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, closed).await;
}

impl<T: Transport> WebConnection<T> {
    async fn serve_requests(&mut self, mut session: Box<OpenSession>) -> CloseReason {
        // A server without a password needs no login.
        self.note_login(&session);
        loop {
            let event = std::future::poll_fn(|context| self.poll_event(&mut session, context));
            if let Event::Close(reason) = event.await {
                return reason;
            }
            session.run();
            if session.driver.takes_long() {
                session = match self.run_at_length(session).await {
                    Ok(session) => session,
                    Err(reason) => return reason,
                };
            }
            if session.driver.has_changed_settings() {
                // Before the reply: a client that has read it may rely on the change.
                self.gateway.settings_changed();
            }
            self.note_login(&session);
            let rest = brake(&mut session).await;
            if let Err(reason) = settle(&session).await {
                return reason;
            }
            let unsent = session.driver.reply().unsent();
            if unsent > 0 {
                let counters = &self.gateway.server.shared.counters;
                counters.output_bytes.fetch_add(unsent, Ordering::Relaxed);
            }
            let mut progress = (unsent, steady_ms());
            let sent =
                std::future::poll_fn(|context| self.poll_sent(&mut session.driver, context, &mut progress));
            if let Err(reason) = sent.await {
                return reason;
            }
            session.driver.has_sent_all();
            let effects = session.driver.take_effects();
            if self.gateway.carry_out(effects) == Next::Close {
                return CloseReason::Normal;
            }
            if let Some(resting) = rest {
                wait(&session, resting.rest.until_ms).await;
            }
        }
    }

    /// Has the next request of a session run where it may take its time. Bytes that come meanwhile are put into its input.
    async fn run_at_length(&mut self, session: Box<OpenSession>) -> Result<Box<OpenSession>, CloseReason> {
        let (mut away, mut early) = (Away::begin(session), Vec::new());
        let back = std::future::poll_fn(|context| self.poll_away(&mut away, &mut early, context));
        let mut session = back.await?;
        self.has_early_input = !early.is_empty();
        session.driver.input().append(&mut early);
        Ok(session)
    }

    /// Tells the transport once the peer has authenticated.
    fn note_login(&mut self, session: &OpenSession) {
        if !self.is_authenticated && session.driver.session().is_authenticated() {
            self.is_authenticated = true;
            self.transport.set_authenticated();
        }
    }

    /// Waits until the session has something to do or the connection is to be closed.
    fn poll_event(&mut self, session: &mut OpenSession, context: &mut Context<'_>) -> Poll<Event> {
        let driver = &mut session.driver;
        if !self.has_waker {
            self.has_waker = true;
            driver.set_waker(context.waker().clone());
        }
        if driver.must_close() {
            return Poll::Ready(Event::Close(CloseReason::Normal));
        }
        if std::mem::take(&mut self.has_early_input) || driver.has_work(steady_ms()) {
            return Poll::Ready(Event::Run);
        }
        while driver.may_receive() {
            let Poll::Ready(received) = self.poll_receive(driver.input(), context) else { break };
            match received {
                Ok(true) => return Poll::Ready(Event::Run),
                Ok(false) => {}
                Err(reason) => return Poll::Ready(Event::Close(reason)),
            }
        }
        if self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(Event::Close(CloseReason::GoingAway));
        }
        self.poll_timer(driver, context)
    }

    /// Receives; true if bytes for the session have come.
    fn poll_receive(
        &mut self,
        input: &mut Vec<u8>,
        context: &mut Context<'_>,
    ) -> Poll<Result<bool, CloseReason>> {
        let before = input.len();
        let received = ready!(self.transport.poll_receive(context, input));
        self.was_pinged = false;
        Poll::Ready(match received {
            Ok(Received::End) => Err(CloseReason::Normal),
            Ok(received) => {
                let count = input.len().saturating_sub(before) as u64;
                self.gateway.server.shared.counters.input_bytes.fetch_add(count, Ordering::Relaxed);
                self.received_ms = steady_ms();
                Ok(received == Received::Input)
            }
            Err(error) => {
                debug!(%error, "a connection failed");
                Err(reason_of(&error))
            }
        })
    }

    /// Waits until the session is back or the connection is to be closed. A stop of the server is no reason: as on a worker, the
    /// request has some time to end.
    fn poll_away(
        &mut self,
        away: &mut Away,
        early: &mut Vec<u8>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Box<OpenSession>, CloseReason>> {
        if let Poll::Ready(back) = away.poll_back(context) {
            return Poll::Ready(back.ok_or(CloseReason::Aborted));
        }
        if away.must_close() {
            return Poll::Ready(Err(CloseReason::Normal));
        }
        while early.len() < BLOCKED_INPUT_MAX_BYTES {
            let Poll::Ready(received) = self.poll_receive(early, context) else { break };
            if let Err(reason) = received {
                return Poll::Ready(Err(reason));
            }
        }
        loop {
            ready!(self.poll_until(self.ping_ms(), context));
            if let Err(reason) = self.ping(context) {
                return Poll::Ready(Err(reason));
            }
        }
    }

    /// When the peer has been silent for so long that it is pinged, or cut.
    fn ping_ms(&self) -> u64 {
        let silence_ms = whole_ms(self.gateway.deadlines.silence) * if self.was_pinged { 2 } else { 1 };
        self.received_ms + silence_ms
    }

    /// Pings a silent peer, or cuts one that did not answer.
    fn ping(&mut self, context: &mut Context<'_>) -> Result<(), CloseReason> {
        if self.was_pinged {
            debug!("a connection was closed because its peer is silent");
            return Err(CloseReason::Aborted);
        }
        if self.transport.ping(context) {
            self.was_pinged = true;
        } else {
            self.received_ms = steady_ms();
        }
        Ok(())
    }

    /// Waits until a steady time in milliseconds.
    fn poll_until(&mut self, due_ms: u64, context: &mut Context<'_>) -> Poll<()> {
        // An early timer does no harm: it is set again when it fires.
        while due_ms > steady_ms() {
            let due: tokio::time::Instant = instant_at(due_ms).into();
            if self.timer.is_elapsed() || self.timer.deadline() > due {
                self.timer.as_mut().reset(due);
            }
            ready!(self.timer.as_mut().poll(context));
        }
        Poll::Ready(())
    }

    /// Waits for the next alarm, deadline or ping, and acts on it.
    fn poll_timer(&mut self, driver: &mut Driver, context: &mut Context<'_>) -> Poll<Event> {
        loop {
            let (shared, limits) = (&self.gateway.server.shared, self.gateway.time_limits());
            let due_ms = driver.due_ms(shared, limits);
            let deadline_ms = driver.deadline_ms(shared, limits);
            let ping_ms = self.ping_ms();
            let due_ms = due_ms.map_or(ping_ms, |due_ms| due_ms.min(ping_ms));
            ready!(self.poll_until(due_ms, context));
            let now_ms = steady_ms();
            if driver.has_work(now_ms) {
                return Poll::Ready(Event::Run);
            }
            driver.shrink_if_idle(now_ms.saturating_sub(whole_ms(SWEEP_PERIOD)), IDLE_OUTPUT_BYTES);
            if deadline_ms.is_some_and(|deadline_ms| deadline_ms <= now_ms) {
                debug!("a connection was closed at its deadline");
                return Poll::Ready(Event::Close(CloseReason::Aborted));
            }
            if let Err(reason) = self.ping(context) {
                return Poll::Ready(Event::Close(reason));
            }
        }
    }

    /// Waits until all replies have left. `unsent` bytes were left at `since_ms`: a peer that takes none for too long is
    /// not waited for.
    fn poll_sent(
        &mut self,
        driver: &mut Driver,
        context: &mut Context<'_>,
        (unsent, since_ms): &mut (u64, u64),
    ) -> Poll<Result<(), CloseReason>> {
        match self.transport.poll_send(context, driver.reply()) {
            Poll::Ready(Ok(())) => return Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => {
                debug!(%error, "a connection failed");
                return Poll::Ready(Err(reason_of(&error)));
            }
            Poll::Pending => {}
        }
        let now = clock::now();
        if driver.must_close() || driver.is_over_limit(now.unix_ms) {
            return Poll::Ready(Err(CloseReason::Aborted));
        }
        if driver.reply().unsent() != *unsent {
            (*unsent, *since_ms) = (driver.reply().unsent(), now.steady_ms);
        }
        let due_ms = *since_ms + whole_ms(self.gateway.deadlines.unread_output);
        if due_ms <= now.steady_ms {
            debug!("a connection was closed because its peer reads nothing");
            return Poll::Ready(Err(CloseReason::Aborted));
        }
        // At least once in a sweep period, since the waiting output may also pass its limit.
        let next_ms = due_ms.min(now.steady_ms + whole_ms(SWEEP_PERIOD));
        self.timer.as_mut().reset(instant_at(next_ms).into());
        if self.timer.as_mut().poll(context).is_ready() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// If a session writes faster than merge frees, holds its replies back for a while, and returns how long it then rests.
async fn brake(session: &mut OpenSession) -> Option<Resting> {
    let OpenSession { gateway, driver } = session;
    let rest = gateway.brake.charge(driver.take_logged_bytes(), steady_ms())?;
    let resting = Resting::new(gateway.clone(), rest);
    wait(session, rest.held_until_ms).await;
    Some(resting)
}

/// Waits until a steady time in milliseconds, or until waiting is of no use any more.
async fn wait(session: &OpenSession, until_ms: u64) {
    let OpenSession { gateway, driver } = session;
    let is_over = || driver.must_close() || !gateway.brake.is_on() || gateway.stop.request_made().is_some();
    while steady_ms() < until_ms && !is_over() {
        let look_ms = until_ms.min(steady_ms() + whole_ms(REST_LOOK_PERIOD));
        tokio::select! {
            () = sleep_until(instant_at(look_ms).into()) => {}
            _ = gateway.stop.requested() => {}
        }
    }
}

/// Waits for the sync that the replies need, if they need one.
async fn settle(session: &OpenSession) -> Result<(), CloseReason> {
    let OpenSession { gateway, driver } = session;
    let engine = &gateway.server.engine;
    let position = engine.appended();
    if gateway.syncer.is_strict() && position > engine.synced() {
        // Other tasks run their requests first, so that one sync serves all of them.
        tokio::task::yield_now().await;
    }
    let settled =
        std::future::poll_fn(|context| match gateway.syncer.settle(engine, position, context.waker()) {
            Settling::Done => Poll::Ready(true),
            Settling::Wait => Poll::Pending,
            Settling::Failed => Poll::Ready(driver.wrote() <= engine.synced()),
        });
    if settled.await {
        return Ok(());
    }
    debug!("a sync failed, so replies were withheld");
    Err(CloseReason::Aborted)
}

fn reason_of(error: &io::Error) -> CloseReason {
    match error.kind() {
        io::ErrorKind::FileTooLarge => CloseReason::TooLong,
        io::ErrorKind::InvalidData => CloseReason::Violation,
        io::ErrorKind::InvalidInput => CloseReason::NotText,
        _ => CloseReason::Aborted,
    }
}

//! A session as a task that ends with its peer's connection.
//!
//! A [`Transport`] carries its bytes: messages of a WebSocket, a stream under TLS, or one request of the REST dialect. Under
//! every transport the session gets the same bytes in the same order as over plain TCP, runs at the same moments, waits for
//! the same syncs, and is closed at the same deadlines.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use edgecask_core::driver::Driver;
use edgecask_core::resp::Reply;
use edgecask_core::session::{Peer, Session};
use tokio::time::{Sleep, sleep_until};
use tracing::debug;

use crate::brake::Rest;
use crate::clock::{self, instant_at, seed, steady_ms, whole_ms};
use crate::gateway::{Gateway, Next};
use crate::limits::{CLOSE_TIMEOUT, IDLE_OUTPUT_BYTES, REST_LOOK_PERIOD, SWEEP_PERIOD};
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

/// A session that is closed however its task ends.
struct OpenSession {
    gateway: Arc<Gateway>,
    driver: Driver,
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.driver.close(&self.gateway.server);
    }
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

/// A session, its transport, and the events that it waits for.
struct WebConnection<T> {
    session: OpenSession,
    transport: T,
    has_waker: bool,
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
    let now = clock::now();
    let mut session = Session::new(&gateway.server.shared, peer, seed(), now.unix_ms);
    session.set_hands_over(true);
    let driver = Driver::new(session, now);
    let stopping = gateway.clone();
    let first_ping = instant_at(now.steady_ms + whole_ms(gateway.deadlines.silence));
    let mut connection = WebConnection {
        session: OpenSession { gateway, driver },
        transport,
        has_waker: false,
        is_authenticated: false,
        received_ms: now.steady_ms,
        was_pinged: false,
        timer: Box::pin(sleep_until(first_ping.into())),
        stop: Box::pin(async move {
            stopping.stop.requested().await;
        }),
    };
    let reason = connection.serve_requests().await;
    let WebConnection { session, mut transport, .. } = connection;
    drop(session);
    let closed = std::future::poll_fn(|context| transport.poll_close(context, reason));
    // A peer that does not answer the close in time is left anyway.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, closed).await;
}

impl<T: Transport> WebConnection<T> {
    async fn serve_requests(&mut self) -> CloseReason {
        // A server without a password needs no login.
        self.note_login();
        loop {
            if let Event::Close(reason) = std::future::poll_fn(|context| self.poll_event(context)).await {
                return reason;
            }
            let rest = self.run_braked().await;
            if let Err(reason) = self.settle().await {
                return reason;
            }
            let unsent = self.session.driver.reply().unsent();
            if unsent > 0 {
                let counters = &self.session.gateway.server.shared.counters;
                counters.output_bytes.fetch_add(unsent, Ordering::Relaxed);
            }
            let mut progress = (unsent, steady_ms());
            if let Err(reason) = std::future::poll_fn(|context| self.poll_sent(context, &mut progress)).await
            {
                return reason;
            }
            self.session.driver.has_sent_all();
            let effects = self.session.driver.take_effects();
            if self.session.gateway.carry_out(effects) == Next::Close {
                return CloseReason::Normal;
            }
            if let Some(resting) = rest {
                self.rest(resting.rest.until_ms).await;
            }
        }
    }

    /// Runs the requests that have come. If it writes faster than merge frees, holds the replies back for a while, and
    /// returns how long it then rests.
    async fn run_braked(&mut self) -> Option<Resting> {
        self.run();
        let OpenSession { gateway, driver } = &mut self.session;
        let rest = gateway.brake.charge(driver.take_logged_bytes(), steady_ms())?;
        let resting = Resting::new(gateway.clone(), rest);
        self.rest(rest.held_until_ms).await;
        Some(resting)
    }

    /// Waits until a steady time in milliseconds, or until waiting is of no use any more.
    async fn rest(&mut self, until_ms: u64) {
        let OpenSession { gateway, driver } = &self.session;
        let is_over =
            || driver.must_close() || !gateway.brake.is_on() || gateway.stop.request_made().is_some();
        while steady_ms() < until_ms && !is_over() {
            let look_ms = until_ms.min(steady_ms() + whole_ms(REST_LOOK_PERIOD));
            tokio::select! {
                () = sleep_until(instant_at(look_ms).into()) => {}
                _ = gateway.stop.requested() => {}
            }
        }
    }

    /// Runs the requests that have come.
    fn run(&mut self) {
        let OpenSession { gateway, driver } = &mut self.session;
        driver.set_logged_max(gateway.brake.turn_bytes());
        driver.run(&gateway.server, clock::now());
        if driver.takes_long() {
            // It keeps this thread, but says so of its locks, so that threads which want them go on.
            driver.run_at_length(&gateway.server, clock::now());
        }
        if driver.has_changed_settings() {
            // Before the reply: a client that has read it may rely on the change.
            gateway.settings_changed();
        }
        self.note_login();
    }

    /// Tells the transport once the peer has authenticated.
    fn note_login(&mut self) {
        if !self.is_authenticated && self.session.driver.session().is_authenticated() {
            self.is_authenticated = true;
            self.transport.set_authenticated();
        }
    }

    /// Waits for the sync that the replies need, if they need one.
    async fn settle(&mut self) -> Result<(), CloseReason> {
        let OpenSession { gateway, driver } = &self.session;
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

    /// Waits until the session has something to do or the connection is to be closed.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        let OpenSession { driver, gateway } = &mut self.session;
        if !self.has_waker {
            self.has_waker = true;
            driver.set_waker(context.waker().clone());
        }
        if driver.must_close() {
            return Poll::Ready(Event::Close(CloseReason::Normal));
        }
        if driver.has_work(steady_ms()) {
            return Poll::Ready(Event::Run);
        }
        while driver.may_receive() {
            let before = driver.input().len();
            let Poll::Ready(received) = self.transport.poll_receive(context, driver.input()) else { break };
            self.was_pinged = false;
            match received {
                Ok(Received::Input) => {
                    let count = driver.input().len().saturating_sub(before) as u64;
                    gateway.server.shared.counters.input_bytes.fetch_add(count, Ordering::Relaxed);
                    self.received_ms = steady_ms();
                    return Poll::Ready(Event::Run);
                }
                Ok(Received::Control) => self.received_ms = steady_ms(),
                Ok(Received::End) => return Poll::Ready(Event::Close(CloseReason::Normal)),
                Err(error) => {
                    debug!(%error, "a connection failed");
                    return Poll::Ready(Event::Close(reason_of(&error)));
                }
            }
        }
        if self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(Event::Close(CloseReason::GoingAway));
        }
        self.poll_timer(context)
    }

    /// Waits for the next alarm, deadline or ping, and acts on it.
    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        loop {
            let OpenSession { driver, gateway } = &mut self.session;
            let (shared, limits) = (&gateway.server.shared, gateway.time_limits());
            let silence_ms = whole_ms(gateway.deadlines.silence) * if self.was_pinged { 2 } else { 1 };
            let ping_ms = self.received_ms + silence_ms;
            let due_ms = driver.due_ms(shared, limits).map_or(ping_ms, |due_ms| due_ms.min(ping_ms));
            let now_ms = steady_ms();
            if due_ms > now_ms {
                // An early timer does no harm: it is set again when it fires.
                let due: tokio::time::Instant = instant_at(due_ms).into();
                if self.timer.is_elapsed() || self.timer.deadline() > due {
                    self.timer.as_mut().reset(due);
                }
                if self.timer.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                continue;
            }
            if driver.has_work(now_ms) {
                return Poll::Ready(Event::Run);
            }
            driver.shrink_if_idle(now_ms.saturating_sub(whole_ms(SWEEP_PERIOD)), IDLE_OUTPUT_BYTES);
            let deadline_ms = driver.deadline_ms(shared, limits);
            if deadline_ms.is_some_and(|deadline_ms| deadline_ms <= now_ms) || self.was_pinged {
                debug!("a connection was closed at its deadline");
                return Poll::Ready(Event::Close(CloseReason::Aborted));
            }
            if self.transport.ping(context) {
                self.was_pinged = true;
            } else {
                self.received_ms = now_ms;
            }
        }
    }

    /// Waits until all replies have left. `unsent` bytes were left at `since_ms`: a peer that takes none for too long is
    /// not waited for.
    fn poll_sent(
        &mut self,
        context: &mut Context<'_>,
        (unsent, since_ms): &mut (u64, u64),
    ) -> Poll<Result<(), CloseReason>> {
        let OpenSession { driver, gateway } = &mut self.session;
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
        let due_ms = *since_ms + whole_ms(gateway.deadlines.unread_output);
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

fn reason_of(error: &io::Error) -> CloseReason {
    match error.kind() {
        io::ErrorKind::FileTooLarge => CloseReason::TooLong,
        io::ErrorKind::InvalidData => CloseReason::Violation,
        io::ErrorKind::InvalidInput => CloseReason::NotText,
        _ => CloseReason::Aborted,
    }
}

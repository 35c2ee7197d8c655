//! A session as a task: it has a seat here for as long as its peer stays.
//!
//! A [`Wire`] carries its bytes: messages of a WebSocket, or a stream under TLS. Whatever it is, the session gets the same bytes in the
//! same order as over plain TCP, runs at the same moments, waits for the same syncs, and is cut at the same deadlines.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Instant;

use edgecask_core::resp::Reply;
use edgecask_core::session::Peer;
use tokio::time::{Sleep, sleep_until};
use tracing::debug;

use crate::clock::now_ms;
use crate::driver::Driver;
use crate::gateway::{Gateway, Next};
use crate::limits::{FAREWELL_TIMEOUT, SWEEP_PERIOD};
use crate::sync::Settling;

/// What carries the bytes of a session.
pub trait Wire {
    /// Appends to `input` what has come.
    fn poll_receive(&mut self, context: &mut Context<'_>, input: &mut Vec<u8>) -> Poll<io::Result<Received>>;

    /// Sends replies until all of them have left.
    fn poll_send(&mut self, context: &mut Context<'_>, reply: &mut Reply) -> Poll<io::Result<()>>;

    /// Asks a silent peer for a sign of life; false if this wire knows no such question.
    fn ping(&mut self, context: &mut Context<'_>) -> bool;

    /// The peer has authenticated.
    fn trust(&mut self);

    /// Says goodbye.
    fn poll_close(&mut self, context: &mut Context<'_>, farewell: Farewell) -> Poll<()>;
}

/// What a wire brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Something to run.
    Input,
    /// A sign of life.
    Sign,
    /// The peer sends no more.
    End,
}

/// Why a peer is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Farewell {
    /// It wanted to go, or was told why not in a reply.
    Normal,
    /// The server ends.
    GoingAway,
    /// A message was too long.
    TooLong,
    /// It did not keep to the protocol below the session, or sent too much that says nothing.
    Violation,
    /// It was too late with something, or the server cannot go on with it.
    Cut,
}

/// The session, which ends however the task ends.
struct Guest {
    gateway: Arc<Gateway>,
    driver: Driver,
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.driver.close(&self.gateway.server);
    }
}

/// A session, its wire, and what it waits for.
struct WebConnection<W> {
    guest: Guest,
    wire: W,
    has_waker: bool,
    is_trusted: bool,
    /// When something last came, and whether the peer was asked for a sign of life since.
    heard: Instant,
    was_pinged: bool,
    timer: Pin<Box<Sleep>>,
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// What a wait ends with.
enum Event {
    Run,
    Leave(Farewell),
}

/// Serves a session until its peer leaves or must leave.
pub async fn serve<W: Wire>(gateway: Arc<Gateway>, wire: W, peer: Peer) {
    let now = Instant::now();
    let driver = Driver::new(&gateway.server.shared, peer, now, now_ms());
    let stopping = gateway.clone();
    let first_sign = now + gateway.deadlines.silence;
    let mut seat = WebConnection {
        guest: Guest { gateway, driver },
        wire,
        has_waker: false,
        is_trusted: false,
        heard: now,
        was_pinged: false,
        timer: Box::pin(sleep_until(first_sign.into())),
        stop: Box::pin(async move {
            stopping.stop.requested().await;
        }),
    };
    let farewell = seat.stay().await;
    let WebConnection { guest, mut wire, .. } = seat;
    drop(guest);
    let goodbye = std::future::poll_fn(|context| wire.poll_close(context, farewell));
    // Who does not answer a goodbye is left anyway.
    let _ = tokio::time::timeout(FAREWELL_TIMEOUT, goodbye).await;
}

impl<W: Wire> WebConnection<W> {
    async fn stay(&mut self) -> Farewell {
        // Where no password is set.
        self.trust();
        loop {
            if let Event::Leave(farewell) = std::future::poll_fn(|context| self.poll_event(context)).await {
                return farewell;
            }
            self.run();
            if let Err(farewell) = self.settle().await {
                return farewell;
            }
            let unsent = self.guest.driver.reply().unsent();
            if unsent > 0 {
                let counters = &self.guest.gateway.server.shared.counters;
                counters.output_bytes.fetch_add(unsent, Ordering::Relaxed);
            }
            let mut progress = (unsent, Instant::now());
            if let Err(farewell) =
                std::future::poll_fn(|context| self.poll_sent(context, &mut progress)).await
            {
                return farewell;
            }
            self.guest.driver.has_sent_all();
            let effects = self.guest.driver.take_effects();
            if self.guest.gateway.carry_out(effects) == Next::Close {
                return Farewell::Normal;
            }
        }
    }

    /// Runs what has come.
    fn run(&mut self) {
        let Guest { gateway, driver } = &mut self.guest;
        if driver.run(&gateway.server, Instant::now(), now_ms()) {
            // Before the reply: whoever has read it may count on the change.
            gateway.settings_changed();
        }
        self.trust();
    }

    /// Tells the wire once the peer may be trusted with more.
    fn trust(&mut self) {
        if !self.is_trusted && self.guest.driver.is_authenticated() {
            self.is_trusted = true;
            self.wire.trust();
        }
    }

    /// Waits for the sync that the replies need, if they need one.
    async fn settle(&mut self) -> Result<(), Farewell> {
        let Guest { gateway, driver } = &self.guest;
        let engine = &gateway.server.engine;
        let position = engine.appended();
        if gateway.syncer.is_strict() && position > engine.synced() {
            // The sync of the first then serves all whose requests have come.
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
        Err(Farewell::Cut)
    }

    /// Waits for something to do.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        let Guest { driver, gateway } = &mut self.guest;
        if !self.has_waker {
            self.has_waker = true;
            driver.set_waker(context.waker().clone());
        }
        if driver.must_close() {
            return Poll::Ready(Event::Leave(Farewell::Normal));
        }
        if driver.has_work(Instant::now()) {
            return Poll::Ready(Event::Run);
        }
        while driver.may_receive() {
            let before = driver.input().len();
            let Poll::Ready(received) = self.wire.poll_receive(context, driver.input()) else { break };
            self.was_pinged = false;
            match received {
                Ok(Received::Input) => {
                    let count = driver.input().len().saturating_sub(before) as u64;
                    gateway.server.shared.counters.input_bytes.fetch_add(count, Ordering::Relaxed);
                    self.heard = Instant::now();
                    return Poll::Ready(Event::Run);
                }
                Ok(Received::Sign) => self.heard = Instant::now(),
                Ok(Received::End) => return Poll::Ready(Event::Leave(Farewell::Normal)),
                Err(error) => {
                    debug!(%error, "a connection failed");
                    return Poll::Ready(Event::Leave(farewell_of(&error)));
                }
            }
        }
        if self.stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(Event::Leave(Farewell::GoingAway));
        }
        self.poll_timer(context)
    }

    /// Acts when it is time to.
    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        loop {
            let Guest { driver, gateway } = &mut self.guest;
            let deadline = driver.deadline(&gateway.deadlines, gateway.idle_timeout());
            let silence = gateway.deadlines.silence * if self.was_pinged { 2 } else { 1 };
            let due =
                [deadline, driver.alarm()].into_iter().flatten().fold(self.heard + silence, Instant::min);
            let now = Instant::now();
            if due > now {
                // A timer that is early does no harm: it is set again then.
                if self.timer.is_elapsed() || self.timer.deadline().into_std() > due {
                    self.timer.as_mut().reset(due.into());
                }
                if self.timer.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                continue;
            }
            if driver.alarm().is_some_and(|alarm| alarm <= now) {
                return Poll::Ready(Event::Run);
            }
            if let Some(since) = now.checked_sub(SWEEP_PERIOD) {
                driver.shrink_if_idle(since);
            }
            if deadline.is_some_and(|deadline| deadline <= now) || self.was_pinged {
                debug!("a connection was cut at its deadline");
                return Poll::Ready(Event::Leave(Farewell::Cut));
            }
            if self.wire.ping(context) {
                self.was_pinged = true;
            } else {
                self.heard = now;
            }
        }
    }

    /// Waits until all replies have left, unless the peer takes none for too long.
    fn poll_sent(
        &mut self,
        context: &mut Context<'_>,
        (unsent, since): &mut (u64, Instant),
    ) -> Poll<Result<(), Farewell>> {
        let Guest { driver, gateway } = &mut self.guest;
        match self.wire.poll_send(context, driver.reply()) {
            Poll::Ready(Ok(())) => return Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => {
                debug!(%error, "a connection failed");
                return Poll::Ready(Err(farewell_of(&error)));
            }
            Poll::Pending => {}
        }
        if driver.must_close() || driver.is_over_limit(now_ms()) {
            return Poll::Ready(Err(Farewell::Cut));
        }
        let now = Instant::now();
        if driver.reply().unsent() != *unsent {
            (*unsent, *since) = (driver.reply().unsent(), now);
        }
        let due = *since + gateway.deadlines.unread_output;
        if due <= now {
            debug!("a connection was cut because its peer reads nothing");
            return Poll::Ready(Err(Farewell::Cut));
        }
        // Now and then, since output that waits may also be too much.
        self.timer.as_mut().reset(due.min(now + SWEEP_PERIOD).into());
        if self.timer.as_mut().poll(context).is_ready() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

fn farewell_of(error: &io::Error) -> Farewell {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Farewell::TooLong,
        io::ErrorKind::InvalidData => Farewell::Violation,
        _ => Farewell::Cut,
    }
}

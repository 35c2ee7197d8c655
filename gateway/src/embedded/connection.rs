//! One connection of a program to its own store.
//!
//! Polling it does, in this order, what a worker or a web task does for theirs: run the requests that were written, wait for the
//! sync that their replies need, hand the replies out, carry out the effects. What cannot go on leaves the caller's waker with
//! whatever ends the wait: the session's inbox, the sync of another thread, a timer.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker, ready};

use edgecask_core::driver::{Driver, take_piece};
use edgecask_core::session::{Peer, Session};

use super::Open;
use crate::brake::Rest;
use crate::clock::{self, seed, steady_ms, whole_ms};
use crate::gateway::{Gateway, Next};
use crate::limits::{EMBEDDED_INPUT_BYTES, REST_LOOK_PERIOD, SEND_TURN_BYTES};
use crate::store::Durable;
use crate::sync::Settling;

/// A session. Dropping it ends it: watches, subscriptions and a wait go.
pub struct EmbeddedConnection {
    driver: Driver,
    // Invariant: dropped before `open`.
    gateway: Arc<Gateway>,
    open: Arc<Open>,
    /// Bytes were written that have not been run.
    has_input: bool,
    /// Requests have run whose replies, or effects, wait until the log is on the disk up to this position.
    ran_to: Option<u64>,
    /// How long it rests because it has written too fast.
    rest: Option<Rest>,
    /// The waker that the session has.
    waker: Option<Waker>,
    /// The steady time in milliseconds for which the timers have it.
    timer_ms: Option<u64>,
    /// Why it has ended.
    ended: Option<&'static str>,
}

impl EmbeddedConnection {
    pub(super) fn new(gateway: Arc<Gateway>, open: Arc<Open>) -> EmbeddedConnection {
        let now = clock::now();
        let mut session = Session::new(&gateway.server.shared, Peer::default(), seed(), now.unix_ms);
        session.set_hands_over(true);
        EmbeddedConnection {
            driver: Driver::new(session, now),
            gateway,
            open,
            has_input: false,
            ran_to: None,
            rest: None,
            waker: None,
            timer_ms: None,
            ended: None,
        }
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.driver.session().id()
    }

    /// Writes requests, as RESP or as lines; any split of their bytes will do. They run when replies are polled for, a long
    /// argument partly before.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.ended.is_some() {
            return;
        }
        self.has_input |= !bytes.is_empty();
        if self.driver.input().len() + bytes.len() <= EMBEDDED_INPUT_BYTES {
            return self.driver.input().extend_from_slice(bytes);
        }
        for piece in bytes.chunks(EMBEDDED_INPUT_BYTES) {
            self.driver.input().extend_from_slice(piece);
            self.has_input = true;
            // What the replies need is looked at when they are handed out; if too many pile up the session pauses.
            if self.rest.is_none() && !self.driver.session().is_waiting() {
                self.run();
            }
        }
    }

    /// Appends replies, and messages of subscriptions, to `into`: Ready as soon as there are some, of a long reply a piece. Runs
    /// what was written in the calling thread, for as long as that takes. Where there is nothing to append it is Pending, and the
    /// waker is woken when that may have changed.
    ///
    /// # Errors
    /// The connection has ended: it was closed by QUIT, CLIENT KILL or for too much unread output, its last request broke the
    /// protocol, or a sync or the reading of a stored value has failed. All replies before have been handed out, but for those
    /// whose writes may be lost.
    pub fn poll_replies(&mut self, context: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<io::Result<()>> {
        let before = into.len();
        loop {
            if let Some(ended) = self.ended {
                return Poll::Ready(Err(io::Error::new(ErrorKind::ConnectionAborted, ended)));
            }
            let Some(position) = self.ran_to else {
                ready!(self.poll_work(context));
                continue;
            };
            ready!(self.poll_settled(position, context));
            if self.ended.is_none() {
                self.hand_out(into)?;
            }
            let count = into.len().saturating_sub(before);
            if count > 0 {
                self.gateway.server.shared.counters.output_bytes.fetch_add(count as u64, Ordering::Relaxed);
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Runs what there is to run, or waits for it. Ready if something has run or the connection has ended.
    fn poll_work(&mut self, context: &Context<'_>) -> Poll<()> {
        if self.rest.is_some() {
            ready!(self.poll_rest(|rest| rest.until_ms, context));
            self.end_rest();
        }
        if !self.has_input {
            if self.waker.as_ref().is_none_or(|waker| !waker.will_wake(context.waker())) {
                self.driver.set_waker(context.waker().clone());
                self.waker = Some(context.waker().clone());
            }
            // After the waker is set, so that nothing comes in between.
            if !self.driver.has_work(steady_ms()) {
                self.set_timer(self.driver.alarm_ms(), context);
                return Poll::Pending;
            }
        }
        self.run();
        Poll::Ready(())
    }

    /// Runs the requests that were written.
    fn run(&mut self) {
        self.has_input = false;
        let gateway = &*self.gateway;
        let (before, now) = (self.driver.input().len(), clock::now());
        self.driver.set_logged_max(gateway.brake.turn_bytes());
        self.driver.run(&gateway.server, now);
        if self.driver.takes_long() {
            // Its locks are marked there, so no other thread waits for them.
            self.driver.run_at_length(&gateway.server, clock::now());
        }
        let count = before.saturating_sub(self.driver.input().len()) as u64;
        gateway.server.shared.counters.input_bytes.fetch_add(count, Ordering::Relaxed);
        if self.driver.has_changed_settings() {
            // Before the reply: a client that has read it may rely on the change.
            gateway.settings_changed();
        }
        let position = Durable::appended(&gateway.server.engine);
        gateway.syncer.sync_much(&gateway.server.engine, position);
        if gateway.brake.is_outdated(position) {
            gateway.observe_debt();
        }
        let rest = gateway.brake.charge(self.driver.take_logged_bytes(), now.steady_ms);
        if rest.is_some() && std::mem::replace(&mut self.rest, rest).is_none() {
            gateway.brake.begin_rest();
        }
        self.ran_to = Some(position);
    }

    /// Waits until the replies may be handed out. The connection has ended if they may never be.
    fn poll_settled(&mut self, position: u64, context: &Context<'_>) -> Poll<()> {
        if self.rest.is_some() {
            ready!(self.poll_rest(|rest| rest.held_until_ms, context));
        }
        let engine = &self.gateway.server.engine;
        match self.gateway.syncer.settle(engine, position, context.waker()) {
            Settling::Wait => return Poll::Pending,
            Settling::Failed if self.driver.wrote() > Durable::synced(engine) => {
                self.end("a sync has failed, so writes may be lost and their replies are withheld");
            }
            Settling::Done | Settling::Failed => {}
        }
        Poll::Ready(())
    }

    /// Appends replies, and carries out the effects of the requests once there are no more.
    ///
    /// # Errors
    /// A stored value cannot be read.
    fn hand_out(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        // Less than the address space.
        if let Err(error) = take_piece(self.driver.reply(), SEND_TURN_BYTES as usize, into) {
            self.end("a stored value could not be read");
            return Err(io::Error::other(error));
        }
        if self.driver.reply().unsent() > 0 {
            return Ok(());
        }
        self.driver.has_sent_all();
        self.ran_to = None;
        let effects = self.driver.take_effects();
        if !effects.is_empty() && self.gateway.carry_out(effects) == Next::Close {
            self.end("the connection was closed");
        }
        Ok(())
    }

    /// Waits for a time of its rest, unless the brake is off by now.
    fn poll_rest(&mut self, until_ms: impl Fn(&Rest) -> u64, context: &Context<'_>) -> Poll<()> {
        let until_ms = self.rest.as_ref().map_or(0, until_ms);
        let now_ms = steady_ms();
        if until_ms <= now_ms || !self.gateway.brake.is_on() {
            return Poll::Ready(());
        }
        self.set_timer(Some(until_ms.min(now_ms + whole_ms(REST_LOOK_PERIOD))), context);
        Poll::Pending
    }

    fn end_rest(&mut self) {
        if self.rest.take().is_some() {
            self.gateway.brake.end_rest();
        }
    }

    /// Has the caller woken at a steady time in milliseconds, or at none.
    fn set_timer(&mut self, due_ms: Option<u64>, context: &Context<'_>) {
        let id = self.id();
        if let Some(before_ms) = self.timer_ms.take().filter(|before_ms| Some(*before_ms) != due_ms) {
            self.open.timers.unset(before_ms, id);
        }
        if let Some(due_ms) = due_ms {
            self.open.timers.set(due_ms, id, context.waker().clone());
        }
        self.timer_ms = due_ms;
    }

    /// Ends the session, for this reason.
    fn end(&mut self, why: &'static str) {
        if self.ended.is_some() {
            return;
        }
        self.ended = Some(why);
        if let Some(timer_ms) = self.timer_ms {
            self.open.timers.unset(timer_ms, self.id());
        }
        self.end_rest();
        self.driver.close(&self.gateway.server);
    }
}

impl Drop for EmbeddedConnection {
    fn drop(&mut self) {
        self.end("it was dropped");
    }
}

//! A session with what its host knows of it: the same for every kind of connection.
//!
//! Whoever has a connection receives into [`Driver::input`], calls [`Driver::run`], sends what [`Driver::reply`] holds once
//! the sync policy allows it for [`Driver::wrote`], and then has [`crate::gateway::Gateway::carry_out`] do what the requests asked
//! of the server. Nothing here does I/O or looks into the bytes: that is the connection's and the session's business.

use std::task::Waker;
use std::time::{Duration, Instant};

use edgecask_core::engine::{Db, Engine};
use edgecask_core::limits::BLOCKED_INPUT_MAX_BYTES;
use edgecask_core::resp::Reply;
use edgecask_core::server::{Effect, Server, Shared};
use edgecask_core::session::{Peer, Session};

use crate::clock::seed;
use crate::limits::{Deadlines, IDLE_OUTPUT_BYTES};

/// A session and its times.
pub struct Driver {
    session: Session,
    accepted: Instant,
    /// When a request last came.
    active: Instant,
    /// Whether the input may hold requests that have come but did not run, because replies had piled up.
    has_requests: bool,
    /// End of what the session has appended to the log and not been acknowledged.
    wrote: u64,
    /// When it is to run though nothing has come.
    alarm: Option<Instant>,
    effects: Vec<Effect>,
}

impl Driver {
    /// A session for a peer that was accepted now.
    pub fn new(shared: &Shared, peer: Peer, now: Instant, now_ms: u64) -> Driver {
        Driver {
            session: Session::new(shared, peer, seed(), now_ms),
            accepted: now,
            active: now,
            has_requests: false,
            wrote: 0,
            alarm: None,
            effects: Vec::new(),
        }
    }

    /// The connection's CLIENT ID.
    pub fn id(&self) -> u64 {
        self.session.id()
    }

    /// Has somebody woken whenever other connections have something for this one.
    pub fn set_waker(&self, waker: Waker) {
        self.session.set_waker(waker);
    }

    /// Whether the peer may run commands beyond AUTH and HELLO.
    pub fn is_authenticated(&self) -> bool {
        self.session.is_authenticated()
    }

    /// Whether it is to be closed, whatever has still to be sent.
    pub fn must_close(&self) -> bool {
        self.session.must_close()
    }

    /// Whether so much output has been waiting for so long that it is to be closed.
    pub fn is_over_limit(&mut self, now_ms: u64) -> bool {
        self.session.is_over_limit(now_ms)
    }

    /// Where received bytes go.
    pub fn input(&mut self) -> &mut Vec<u8> {
        self.session.input()
    }

    /// What is to be sent.
    pub fn reply(&mut self) -> &mut Reply {
        self.session.reply()
    }

    /// Whether more may be received: what comes while a command waits is not kept without end.
    pub fn may_receive(&mut self) -> bool {
        !(self.session.is_waiting() && self.session.input().len() >= BLOCKED_INPUT_MAX_BYTES)
    }

    /// Whether it has something to do at `now` though nothing has come.
    pub fn has_work(&self, now: Instant) -> bool {
        self.has_requests || self.session.has_mail() || self.alarm.is_some_and(|alarm| alarm <= now)
    }

    /// When it is to run though nothing has come.
    pub fn alarm(&self) -> Option<Instant> {
        self.alarm
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

    /// End of what it has appended to the log and not been acknowledged; 0 if there is nothing.
    pub fn wrote(&self) -> u64 {
        self.wrote
    }

    /// Says that everything has been sent.
    pub fn has_sent_all(&mut self) {
        self.session.reply().clear();
        self.session.has_sent();
        self.wrote = 0;
    }

    /// What is to be done after the replies have left.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// When it is to be cut if no request comes; `idle` is the longest time without one, if there is such.
    pub fn deadline(&self, deadlines: &Deadlines, idle: Option<Duration>) -> Option<Instant> {
        if !self.session.is_authenticated() {
            return Some(self.accepted + deadlines.unauthenticated);
        }
        // Those who wait for others are idle by design.
        let waits = self.session.is_waiting() || self.session.is_listening();
        idle.filter(|_| !waits).map(|idle| self.active + idle)
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

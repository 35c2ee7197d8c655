//! A session and its timetable, without I/O: the part of a connection that is the same in every home.
//!
//! A worker of the gateway, a web task of the gateway and an object at the edge all drive their sessions like this:
//!
//! 1. append received bytes to [`Driver::input`] while [`Driver::may_receive`] allows it;
//! 2. call [`Driver::run`] when bytes have come, when the session's waker was called, and whenever [`Driver::has_work`];
//! 3. send [`Driver::reply`] once the home's sync policy allows it for [`Driver::wrote`], then call [`Driver::has_sent_all`];
//! 4. carry out [`Driver::take_effects`];
//! 5. come back at [`Driver::due_ms`], and close the connection if its [`Driver::deadline_ms`] has passed.
//!
//! The driver never looks into the bytes, and it never reads a clock: every home passes its own [`Now`].

mod login;
mod piece;
#[cfg(test)]
mod tests;

use std::task::Waker;

use crate::engine::{Db, Engine};
use crate::limits::BLOCKED_INPUT_MAX_BYTES;
use crate::resp::Reply;
use crate::server::{Effect, Server, Shared};
use crate::session::{Progress, Session};

pub use self::login::check_login;
pub use self::piece::take_piece;

/// The clocks of a home, read at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Unix time in milliseconds. Keys expire and commands stop blocking by it.
    pub unix_ms: u64,
    /// Milliseconds on a clock that never jumps. Connections time out by it. A home without one repeats the unix time.
    pub steady_ms: u64,
}

impl Now {
    /// The time in a home that has no other clock.
    pub fn from_unix_ms(unix_ms: u64) -> Now {
        Now { unix_ms, steady_ms: unix_ms }
    }
}

/// How long a connection may go on without a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimits {
    /// Milliseconds from connecting to a successful AUTH or HELLO, where a password is set.
    pub login_ms: u64,
    /// Milliseconds without a request after the login; None for any time.
    pub idle_ms: Option<u64>,
}

/// A session, and when it must run, wait or end. All its times are steady times in milliseconds.
pub struct Driver {
    session: Session,
    connected_ms: u64,
    /// When requests last ran.
    active_ms: u64,
    /// The session stopped before the end of its input, because replies had piled up.
    is_paused: bool,
    /// The session stopped before a request that takes long.
    takes_long: bool,
    /// Position in the log behind the last write that is not acknowledged; 0 if there is none.
    wrote: u64,
    /// Bytes that were appended to the log since they were last taken.
    logged_bytes: u64,
    alarm_ms: Option<u64>,
    effects: Vec<Effect>,
}

impl Driver {
    /// Drives a new session, or one that was thawed.
    pub fn new(session: Session, now: Now) -> Driver {
        let connected_for_ms = now.unix_ms.saturating_sub(session.connected_at_ms());
        Driver {
            connected_ms: now.steady_ms.saturating_sub(connected_for_ms),
            active_ms: now.steady_ms,
            is_paused: false,
            takes_long: false,
            wrote: 0,
            logged_bytes: 0,
            alarm_ms: steady(session.wake_at_ms(), now),
            effects: Vec::new(),
            session,
        }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Registers a thawed session with caching again; called once all sessions are thawed.
    pub fn begin_tracking_again<E: Engine>(&mut self, server: &Server<E>) {
        self.session.begin_tracking_again(server);
    }

    /// Sets the waker that is called when other connections have something for this one.
    pub fn set_waker(&self, waker: Waker) {
        self.session.set_waker(waker);
    }

    /// Whether the peer must log in before it may run commands.
    pub fn must_log_in(&self, shared: &Shared) -> bool {
        !self.session.is_authenticated() && shared.acl.needs_login()
    }

    /// Whether the connection is to be closed at once, even with replies left to send.
    pub fn must_close(&self) -> bool {
        self.session.must_close()
    }

    /// Whether the peer has left too many replies unread for too long, so that the connection is to be closed. Hosts ask
    /// about once a second.
    pub fn is_over_limit(&mut self, unix_ms: u64) -> bool {
        self.session.is_over_limit(unix_ms)
    }

    /// The buffer to which the host appends received bytes.
    pub fn input(&mut self) -> &mut Vec<u8> {
        self.session.input()
    }

    /// The replies that are to be sent.
    pub fn reply(&mut self) -> &mut Reply {
        self.session.reply()
    }

    /// Whether the host may receive more: a connection that waits, or whose blob takes no more, buffers a bounded number of bytes.
    pub fn may_receive(&mut self) -> bool {
        let waits = self.session.is_waiting() || self.session.is_held_up();
        !(waits && self.session.input().len() >= BLOCKED_INPUT_MAX_BYTES)
    }

    /// Whether [`Driver::run`] has something to do though no bytes have come.
    pub fn has_work(&self, steady_ms: u64) -> bool {
        self.is_paused || self.session.has_mail() || self.alarm_ms.is_some_and(|at_ms| at_ms <= steady_ms)
    }

    /// When the session must run though nothing has come: a wait ends then.
    pub fn alarm_ms(&self) -> Option<u64> {
        self.alarm_ms
    }

    /// The database and key of the only request in the input, as far as that can be guessed.
    pub fn only_key(&self) -> Option<(Db, &[u8])> {
        self.session.only_key()
    }

    /// Runs the requests that have come.
    pub fn run<E: Engine>(&mut self, server: &Server<E>, now: Now) {
        let progress = self.session.process(server, now.unix_ms);
        self.note(progress, now);
    }

    /// Takes note of what came of a run.
    #[inline]
    fn note(&mut self, progress: Progress, now: Now) {
        self.active_ms = now.steady_ms;
        self.is_paused = progress.is_paused;
        self.takes_long = progress.takes_long;
        self.wrote = self.wrote.max(progress.wrote.position());
        self.logged_bytes += progress.logged_bytes;
        self.alarm_ms = steady(progress.wake_at_ms, now);
        if self.effects.is_empty() {
            self.effects = progress.effects;
        } else {
            self.effects.extend(progress.effects);
        }
    }

    /// Whether the next request takes long and is to run by [`Driver::run_at_length`] where nobody waits for it.
    pub fn takes_long(&self) -> bool {
        self.takes_long
    }

    /// As [`Driver::run`], where a request may take its time.
    pub fn run_at_length<E: Engine>(&mut self, server: &Server<E>, now: Now) {
        let progress = self.session.process_at_length(server, now.unix_ms);
        self.note(progress, now);
    }

    /// Whether a request that takes long is not to run but to be handed over ([`Driver::takes_long`]); false at the start.
    pub fn set_hands_over(&mut self, hands_over: bool) {
        self.session.set_hands_over(hands_over);
    }

    /// Whether the requests changed settings that the host must act upon before it sends the replies.
    pub fn has_changed_settings(&self) -> bool {
        self.effects.contains(&Effect::SettingsChanged)
    }

    /// Position in the log behind the last write that is not acknowledged; 0 if there is none.
    pub fn wrote(&self) -> u64 {
        self.wrote
    }

    /// Bytes that the requests have appended to the log since the last call: what a home that slows writers down charges.
    #[inline]
    pub fn take_logged_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.logged_bytes)
    }

    /// Sets how many bytes one [`Driver::run`] may append to the log before it pauses and [`Driver::has_work`]; one request is
    /// run in any case.
    pub fn set_logged_max(&mut self, bytes: u64) {
        self.session.set_logged_max(bytes);
    }

    /// Tells the session that all replies have been sent.
    pub fn has_sent_all(&mut self) {
        self.session.reply().clear();
        self.session.has_sent();
        self.wrote = 0;
    }

    /// The effects that the host carries out after it has sent the replies. Each is returned once.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// When the connection is to be closed unless a request comes before; None for never.
    pub fn deadline_ms(&self, shared: &Shared, limits: TimeLimits) -> Option<u64> {
        if self.must_log_in(shared) {
            return Some(self.connected_ms.saturating_add(limits.login_ms));
        }
        // A connection that waits for others is idle by design.
        let is_waiting = self.session.is_waiting() || self.session.is_listening();
        limits.idle_ms.filter(|_| !is_waiting).map(|idle_ms| self.active_ms.saturating_add(idle_ms))
    }

    /// When the host must look at the connection again though nothing has come: its alarm or its deadline.
    pub fn due_ms(&self, shared: &Shared, limits: TimeLimits) -> Option<u64> {
        self.alarm_ms.into_iter().chain(self.deadline_ms(shared, limits)).min()
    }

    /// Frees an output buffer of more than `kept_bytes` that no request has needed since `since_ms`.
    pub fn shrink_if_idle(&mut self, since_ms: u64, kept_bytes: usize) {
        let reply = self.session.reply();
        if self.active_ms < since_ms && reply.capacity() > kept_bytes {
            reply.shrink();
        }
    }

    /// Ends the session.
    pub fn close<E: Engine>(&mut self, server: &Server<E>) {
        self.session.close(server);
    }
}

/// A unix time on the steady clock. Where the fractions of the two clocks differ it may be a millisecond early: the session
/// then finds that its wait has not ended, and gives the time again.
fn steady(unix_ms: Option<u64>, now: Now) -> Option<u64> {
    unix_ms.map(|at_ms| now.steady_ms.saturating_add(at_ms.saturating_sub(now.unix_ms)))
}

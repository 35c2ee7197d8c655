//! Which requests of a pipeline run as a group ([`Executor::run_group`](crate::executor::Executor::run_group)): writes of one key,
//! or anything over named keys where a transaction costs round trips.
//!
//! A group is one request to the rest of the session: it may be suspended, and then it is made of the same requests again.

use smallvec::SmallVec;

use super::connection::Connection;
use super::pipeline::{Ahead, likely_key};
use crate::catalog::CommandSpec;
use crate::command::CommandError;
use crate::command::admission::{self, Admitted, Origin};
use crate::command::call::{Keys, keys_of};
use crate::engine::{Engine, EngineError};
use crate::executor::{Caller, Stop, reply_error};
use crate::limits::{GROUP_MAX_BYTES, PIPELINE_AHEAD};
use crate::server::hub::Interest;
use crate::server::{ReplyMode, Server};

/// Requests that share a transaction.
type Group<'a> = SmallVec<[Admitted<'a>; PIPELINE_AHEAD]>;

/// What became of the next requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouped {
    /// So many have run together.
    Ran(usize),
    /// They are to be run again from their bytes.
    Suspended,
    /// Nothing has happened: so many are to be run one by one, and at least the first.
    Alone(usize),
}

impl Connection {
    /// Runs the requests from `at` on as a group, if they are one.
    #[inline]
    pub(super) fn run_group<E: Engine>(
        &mut self,
        server: &Server<E>,
        ahead: &Ahead<'_>,
        at: usize,
        now_ms: u64,
    ) -> Grouped {
        if !server.engine.holds_locks() {
            let elsewhere = match self.forwarding.take() {
                Some(forwarding) => self.end_forwarding(server, forwarding, now_ms),
                None => self.begin_forwarding(server, ahead, at, now_ms),
            };
            if let Some(grouped) = elsewhere {
                return grouped;
            }
            let may_be = ahead.get(at + 1).is_some() && self.is_for_groups(server);
            return if may_be {
                self.group_and_run(server, ahead, (at, None), now_ms)
            } else {
                Grouped::Alone(1)
            };
        }
        let key_of = |at: usize| ahead.get(at).and_then(|(args, _)| likely_key(args));
        match (key_of(at), key_of(at + 1)) {
            (Some(key), Some(next)) if key == next && self.is_for_groups(server) => {
                self.group_and_run(server, ahead, (at, Some(key)), now_ms)
            }
            _ => Grouped::Alone(1),
        }
    }

    /// Runs the group that begins at `at`: of requests that write this key, or of any keys.
    #[inline(never)]
    fn group_and_run<E: Engine>(
        &mut self,
        server: &Server<E>,
        ahead: &Ahead<'_>,
        (at, key): (usize, Option<&[u8]>),
        now_ms: u64,
    ) -> Grouped {
        let is_suspended = self.executor.is_suspended();
        if is_suspended && self.group_len == 0 {
            // A request that ran alone.
            return Grouped::Alone(1);
        }
        let requests = if is_suspended {
            self.same_group(ahead, at)
        } else {
            self.next_group(server, ahead, (at, key), now_ms)
        };
        let Some(last) = requests.last().filter(|_| requests.len() > 1) else { return Grouped::Alone(1) };
        // Making room for them may have begun something that waits.
        if self.executor.is_suspended() != is_suspended {
            return Grouped::Alone(1);
        }
        self.client.last_command = last.spec().name;
        let mut keys = Keys::new();
        match key {
            Some(key) => keys.push(key),
            None => requests.iter().for_each(|request| keys_of(request.spec(), request.args(), &mut keys)),
        }
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        let ran = self.executor.run_group(server, &mut caller, (&keys, &requests), now_ms);
        self.executor.release();
        self.count_rounds(server, requests.first().map(|request| request.spec().id));
        self.group_len = 0;
        match ran {
            Ok(count) => {
                self.client.may_be_forwarded = false;
                self.look_after(server, count as u64, now_ms);
                Grouped::Ran(count)
            }
            Err(Stop::Suspended) => {
                // What takes long has not begun; where it runs it is grouped anew.
                if self.executor.is_suspended() {
                    self.group_len = requests.len();
                    self.begun = requests.iter().map(Admitted::permit).collect();
                }
                self.waiting.suspend();
                Grouped::Suspended
            }
            Err(Stop::Error(error)) => {
                if self.executor.is_suspended() {
                    self.executor.forget_suspended(server);
                }
                match &error {
                    // It may have happened, or would fail as often as it is tried.
                    CommandError::Engine(EngineError::Unknown(_) | EngineError::Unavailable(_)) => {
                        self.fail_all(server, &requests, &error, now_ms)
                    }
                    _ => Grouped::Alone(requests.len()),
                }
            }
        }
    }

    /// Replies to every request of a group with this error.
    #[cold]
    fn fail_all<E: Engine>(
        &mut self,
        server: &Server<E>,
        requests: &[Admitted<'_>],
        error: &CommandError,
        now_ms: u64,
    ) -> Grouped {
        for request in requests {
            server.shared.statistics.failed(request.spec().id, 1);
            self.executor.meter().ran(request.spec().id);
            reply_error(&mut self.reply, &server.shared, error);
        }
        self.look_after(server, requests.len() as u64, now_ms);
        Grouped::Ran(requests.len())
    }

    /// Whether nobody hears of each write by itself, and nothing else is out of the ordinary.
    pub(super) fn is_for_groups<E: Engine>(&mut self, server: &Server<E>) -> bool {
        let shared = &server.shared;
        let of_others = Interest::MONITORS | Interest::PAUSE;
        if self.executor.is_suspended() {
            return true;
        }
        self.executor.meter().start(server);
        !shared.hub.interest.has(of_others)
            && !self.transaction.is_open()
            && self.client.reply_mode == ReplyMode::On
            && self.client.tracking.is_none()
            && !self.client.inbox.has_mail()
            && self.drafts.is_empty()
            && !self.executor.meter().is_exact()
            // Each use of a key is counted by itself then.
            && !shared.settings.memory().counts_uses()
            && shared.shortage_text().is_none()
    }

    /// The longest group that the requests from `at` on begin with.
    pub(super) fn next_group<'a, E: Engine>(
        &mut self,
        server: &Server<E>,
        ahead: &'a Ahead<'_>,
        (at, key): (usize, Option<&[u8]>),
        now_ms: u64,
    ) -> Group<'a> {
        let mut requests = Group::new();
        let mut bytes = 0;
        if key.is_some_and(|key| self.executor.concerns_others(&server.shared, key)) {
            return requests;
        }
        for (args, _) in ahead.iter().skip(at) {
            bytes += args.iter().map(|argument| argument.len()).sum::<usize>();
            let Ok(spec) = admission::find(args) else { break };
            let fits = match key {
                Some(key) => spec.shares_commits() && args.get(1) == Some(&key),
                None => self.shares_rounds(server, spec, args),
            };
            if !fits || bytes > GROUP_MAX_BYTES {
                break;
            }
            let (executor, hands_over) = (&mut self.executor, self.client.hands_over);
            let make_room = || executor.make_room(server, hands_over, now_ms);
            let Ok(request) =
                admission::admit(&server.shared, &self.client, spec, args, Origin::Connection, make_room)
            else {
                break;
            };
            requests.push(request);
        }
        requests
    }

    /// Whether a request may share a transaction with requests of other keys.
    fn shares_rounds<E: Engine>(&mut self, server: &Server<E>, spec: &CommandSpec, args: &[&[u8]]) -> bool {
        let mut keys = Keys::new();
        keys_of(spec, args, &mut keys);
        spec.shares_rounds()
            && !spec.touches_all_keys(args)
            && !keys.is_empty()
            && !keys.iter().any(|key| self.executor.concerns_others(&server.shared, key))
    }

    /// The group that was suspended.
    fn same_group<'a>(&self, ahead: &'a Ahead<'_>, at: usize) -> Group<'a> {
        let requests = ahead.iter().skip(at).zip(&self.begun);
        requests.map(|((args, _), permit)| admission::go_on(*permit, args)).collect()
    }
}

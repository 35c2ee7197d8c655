//! Runs of crons: each is a transaction for no connection, with the keys that its function turns out to need.
//!
//! A home asks for the runs that are due ([`CronRun::next`]) and steps each until it has ended. It hands over what takes long, as
//! it does with requests, so a function that never ends holds up no other cron.

use std::sync::Arc;
use std::task::Waker;

use parking_lot::Mutex;

use super::commit::is_paused;
use super::{Caller, Executor, Stop};
use crate::command::script::crons::{self, CronRan};
use crate::engine::Engine;
use crate::limits::CRON_ERROR_MAX_BYTES;
use crate::resp::{Protocol, Reply, quote};
use crate::script::Level;
use crate::server::crons::{Claim, CronEnd};
use crate::server::hub::Inbox;
use crate::server::{Client, ClientCard, Server, Shared};

/// A run of a cron that has begun.
pub struct CronRun {
    claim: Option<Claim>,
    executor: Executor,
    client: Client,
    reply: Reply,
    began_ns: u64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CronStep {
    /// It has ended.
    Ended,
    /// The engine must fetch something, or another transaction holds a lock for long: to be stepped again when the waker is
    /// called.
    Waits,
    /// It takes long: to be stepped where nothing waits for it, after [`CronRun::set_runs_at_length`].
    TakesLong,
}

impl CronRun {
    /// The next run that is due, if there is one. `hands_over` says that the home has a place for what takes long.
    pub fn next(shared: &Shared, now_ms: u64, hands_over: bool) -> Option<CronRun> {
        if is_paused(shared, now_ms) {
            return None;
        }
        let claim = shared.crons.claim(now_ms)?;
        let inbox = Arc::new(Inbox::new(0, shared.settings.output_limits().clone()));
        let mut seed = claim.due_ms.to_le_bytes();
        // Without a source of randomness runs differ by their times at least.
        shared.host.fill_unguessable(&mut seed);
        let card = Arc::new(Mutex::new(ClientCard::default()));
        let (access, seed) = (shared.default_access(), u64::from_le_bytes(seed));
        let mut client = Client::new(0, card, inbox.clone(), access, seed);
        client.hands_over = hands_over;
        Some(CronRun {
            claim: Some(claim),
            executor: Executor::of(inbox),
            client,
            reply: Reply::new(Protocol::Resp2),
            began_ns: shared.host.monotonic_ns(),
        })
    }

    /// The waker of a run that waits.
    pub fn set_waker(&self, waker: Waker) {
        self.client.inbox.set_waker(waker);
    }

    /// Says whether the run is where it may take its time.
    pub fn set_runs_at_length(&mut self, runs_at_length: bool) {
        self.client.hands_over = !runs_at_length;
        self.client.runs_at_length = runs_at_length;
    }

    /// Goes on with the run. Its failure is remembered by the server, and told in the log if the last run was none.
    pub fn step<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> CronStep {
        let shared = &server.shared;
        if let Some(claim) = &self.claim {
            let (mut error, mut is_elsewhere) = (None, false);
            let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
            let ran = self.executor.run_body(server, &mut caller, &[], now_ms, |ctx| {
                (error, is_elsewhere) = match crons::run(ctx, &claim.cron, claim.due_ms)? {
                    CronRan::Here(error) => (error, false),
                    CronRan::Elsewhere => (None, true),
                };
                Ok(())
            });
            match ran {
                Ok(()) => {}
                Err(Stop::Suspended) if std::mem::take(&mut self.client.takes_long) => {
                    return CronStep::TakesLong;
                }
                Err(Stop::Suspended) => return CronStep::Waits,
                Err(Stop::Error(failed)) => error = Some(failed),
            }
            let error = error.map(|error| error.reply_text().into_owned());
            if is_elsewhere && error.is_none() {
                self.claim.take().into_iter().for_each(|claim| shared.crons.leave(&claim));
            }
            self.end(shared, now_ms, error);
        }
        if !self.executor.serve_ready(server, now_ms) {
            return CronStep::Waits;
        }
        self.executor.count(&shared.counters);
        CronStep::Ended
    }

    /// Bytes that it has appended to the log since this was last asked.
    pub fn take_logged_bytes(&mut self) -> u64 {
        self.executor.take_logged_bytes()
    }

    /// Gives a run up that waits: the server ends.
    pub fn give_up<E: Engine>(&mut self, server: &Server<E>) {
        self.executor.forget_suspended(server);
    }

    fn end(&mut self, shared: &Shared, now_ms: u64, error: Option<String>) {
        let Some(claim) = self.claim.take() else { return };
        let took_ns = shared.host.monotonic_ns().saturating_sub(self.began_ns);
        let error = error.map(|mut error| {
            error.truncate(error.floor_char_boundary(CRON_ERROR_MAX_BYTES));
            error
        });
        let line = error.as_ref().map(|error| {
            let name = quote(&claim.cron.name);
            format!("cron {name} failed, and CRON LOG has further failures until it runs well again: {error}")
        });
        let is_first = shared.crons.end(claim, CronEnd { now_ms, took_ns, error });
        if let Some(line) = line.filter(|_| is_first) {
            shared.host.log(Level::Warning, line.as_bytes());
        }
    }
}

//! Changes of keys for no connection: what expiry and eviction share.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{Caller, Executor, Plan, Ran, Stop};
use crate::command::{Context, Outcome};
use crate::engine::{Drafts, Engine};
use crate::resp::{Protocol, Reply};
use crate::server::hub::{Inbox, Interest};
use crate::server::{Client, ClientCard, Server, Shared};

/// An executor with a client of its own, which no connection has.
pub(super) struct Upkeep {
    pub executor: Executor,
    pub client: Client,
    reply: Reply,
    /// Whether triggers may take their time.
    has_thread: bool,
}

impl Upkeep {
    pub fn new(shared: &Shared) -> Upkeep {
        let inbox = Arc::new(Inbox::new(0, shared.settings.output_limits().clone()));
        let card = Arc::new(Mutex::new(ClientCard::default()));
        let client = Client::new(0, card, inbox, shared.default_access(), 0);
        let reply = Reply::new(Protocol::Resp2);
        Upkeep { executor: Executor::default(), client, reply, has_thread: false }
    }

    /// Says that it has a thread for itself, on which triggers may take their time.
    pub fn set_has_thread(&mut self) {
        self.has_thread = true;
    }

    /// Changes one key in a transaction.
    ///
    /// # Errors
    /// Those of [`Executor::transact`].
    pub fn change<E: Engine>(
        &mut self,
        server: &Server<E>,
        key: &[u8],
        now_ms: u64,
        body: impl FnMut(&mut Context<'_, '_>) -> Outcome,
    ) -> Result<Ran, Stop> {
        self.change_all(server, &[key], now_ms, body)
    }

    /// Changes several keys of the selected database in one transaction.
    ///
    /// # Errors
    /// Those of [`Executor::transact`].
    pub fn change_all<E: Engine>(
        &mut self,
        server: &Server<E>,
        keys: &[&[u8]],
        now_ms: u64,
        body: impl FnMut(&mut Context<'_, '_>) -> Outcome,
    ) -> Result<Ran, Stop> {
        let plan = Plan::writing(keys);
        // A change of few keys takes a moment unless triggers do.
        self.client.runs_at_length = self.has_thread && server.shared.hub.interest.has(Interest::TRIGGERS);
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        self.executor.transact(server, &mut caller, (&plan, &[], &Drafts::new()), now_ms, body)
    }

    /// Changes whatever keys, with all of them locked.
    ///
    /// # Errors
    /// Those of [`Executor::transact`].
    pub fn change_everything<E: Engine>(
        &mut self,
        server: &Server<E>,
        now_ms: u64,
        body: impl FnMut(&mut Context<'_, '_>) -> Outcome,
    ) -> Result<Ran, Stop> {
        let plan = Plan { touches_all: true, ..Plan::writing(&[]) };
        self.client.runs_at_length = self.has_thread;
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        self.executor.transact(server, &mut caller, (&plan, &[], &Drafts::new()), now_ms, body)
    }
}

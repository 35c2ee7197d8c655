//! Active expiry: keys whose time has come are removed though nobody asks for them, through the same commit boundary as
//! everything else, so reactions and the feed see it.

use std::sync::Arc;

use parking_lot::Mutex;

use super::commit::is_paused;
use super::{Caller, Executor, Plan, Stop};
use crate::command::CommandError;
use crate::engine::{Db, Drafts, Engine, EngineError};
use crate::resp::{Protocol, Reply};
use crate::server::hub::{Inbox, Interest};
use crate::server::{Client, ClientCard, Server, Shared};

/// Removes expired keys, for no connection.
pub struct Expiry {
    executor: Executor,
    client: Client,
    reply: Reply,
    /// Keys that are still to be removed.
    keys: Vec<(Db, Vec<u8>)>,
    /// Whether triggers may take their time.
    has_thread: bool,
}

/// What one step has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// How many keys were looked at and removed.
    pub keys: u64,
    /// Whether there may be more to do at once.
    pub has_more: bool,
    /// Whether the engine must fetch something before the step can go on.
    pub is_suspended: bool,
}

impl Expiry {
    /// For a server's maintenance.
    pub fn new(shared: &Shared) -> Expiry {
        let inbox = Arc::new(Inbox::new(0, shared.settings.output_limits().clone()));
        let client =
            Client::new(0, Arc::new(Mutex::new(ClientCard::default())), inbox, shared.default_access(), 0);
        let reply = Reply::new(Protocol::Resp2);
        Expiry { executor: Executor::default(), client, reply, keys: Vec::new(), has_thread: false }
    }

    /// Says that it has a thread for itself, on which triggers may take their time.
    pub fn set_has_thread(&mut self) {
        self.has_thread = true;
    }

    /// Removes about `budget` expired keys.
    ///
    /// # Errors
    /// The engine's; keys that could not be removed stay.
    pub fn step<E: Engine>(
        &mut self,
        server: &Server<E>,
        now_ms: u64,
        budget: u64,
    ) -> Result<Expired, EngineError> {
        let mut has_more = false;
        if is_paused(&server.shared, now_ms) {
            return Ok(Expired::default());
        }
        if self.keys.is_empty() {
            let keys = &mut self.keys;
            has_more =
                server.engine.expired_keys(now_ms, budget, &mut |db, key| keys.push((db, key.to_vec())))?;
        }
        let mut count = 0;
        while let Some((db, key)) = self.keys.last() {
            let (db, key) = (*db, key.clone());
            match self.remove(server, db, &key, now_ms) {
                Ok(()) => {}
                // A transaction holds its lock for long. A later step finds it again.
                Err(Stop::Suspended) if server.engine.is_busy(db, &key) => {
                    self.executor.forget_suspended(server);
                    self.keys.pop();
                    continue;
                }
                Err(Stop::Suspended) => {
                    return Ok(Expired { keys: count, has_more: true, is_suspended: true });
                }
                Err(Stop::Error(error)) => {
                    self.keys.clear();
                    return match error {
                        CommandError::Engine(error) => Err(error),
                        error => Err(EngineError::Refused(error.reply_text().into_owned())),
                    };
                }
            }
            self.keys.pop();
            count += 1;
        }
        self.executor.serve_ready(server, now_ms);
        self.executor.release();
        Ok(Expired { keys: count, has_more, is_suspended: false })
    }

    /// Reading an expired key in a transaction is what removes it.
    fn remove<E: Engine>(&mut self, server: &Server<E>, db: Db, key: &[u8], now_ms: u64) -> Result<(), Stop> {
        let keys = [key];
        let plan = Plan::writing(&keys);
        // Removing a key takes a moment unless triggers do.
        self.client.runs_at_length = self.has_thread && server.shared.hub.interest.has(Interest::TRIGGERS);
        let mut caller = Caller { client: &mut self.client, reply: &mut self.reply };
        let ran = self.executor.transact(server, &mut caller, (&plan, &[], &Drafts::new()), now_ms, |ctx| {
            ctx.look_at(db, key).map(drop)
        });
        ran.map(drop)
    }
}

//! Active expiry: keys whose time has come are removed though nobody asks for them, through the same commit boundary as
//! everything else, so reactions and the feed see it.

use super::Stop;
use super::commit::is_paused;
use super::upkeep::Upkeep;
use crate::command::{CommandError, Context};
use crate::engine::{Db, Engine, EngineError};
use crate::limits::CALL_ALL_PERIOD_MS;
use crate::server::hub::Interest;
use crate::server::{Server, Shared};

/// So many keys are removed by one transaction of an engine that must fetch them: together they cost little more than one.
const KEYS_AT_ONCE: usize = 32;

/// Removes expired keys, for no connection.
pub struct Expiry {
    upkeep: Upkeep,
    /// Keys that are still to be removed.
    keys: Vec<(Db, Vec<u8>)>,
    /// Unix time in milliseconds at which all blocked connections are called next, where they are.
    next_call_ms: u64,
    /// So many of them go one by one, since they could not go together.
    alone: usize,
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
        Expiry { upkeep: Upkeep::new(shared), keys: Vec::new(), next_call_ms: 0, alone: 0 }
    }

    /// Says that it has a thread for itself, on which triggers may take their time.
    pub fn set_has_thread(&mut self) {
        self.upkeep.set_has_thread();
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
        while let Some((db, keys)) = self.next_keys(server.engine.holds_locks()) {
            let is_busy = |key: &Vec<u8>| server.engine.is_busy(db, key);
            match self.remove(server, db, &keys, now_ms) {
                Ok(()) => {}
                // A transaction holds its lock for long. A later step finds it again.
                Err(Stop::Suspended) if keys.iter().any(is_busy) => {
                    self.upkeep.executor.forget_suspended(server);
                    self.keys.truncate(self.keys.len() - keys.len());
                    continue;
                }
                Err(Stop::Suspended) => {
                    return Ok(Expired { keys: count, has_more: true, is_suspended: true });
                }
                // A trigger that refuses one of them must not keep the others.
                Err(Stop::Error(_)) if keys.len() > 1 => {
                    self.alone = keys.len();
                    continue;
                }
                Err(Stop::Error(error)) => {
                    self.keys.clear();
                    return match error {
                        CommandError::Engine(error) => Err(error),
                        error => Err(EngineError::Refused(error.reply_text().into_owned())),
                    };
                }
            }
            self.keys.truncate(self.keys.len() - keys.len());
            self.alone = self.alone.saturating_sub(keys.len());
            count += keys.len() as u64;
        }
        self.upkeep.executor.look_after_orphans(server);
        let hub = &server.shared.hub;
        if !server.engine.holds_locks() && now_ms >= self.next_call_ms && hub.interest.has(Interest::WAITING)
        {
            // A process that has committed may have ended before it could tell of it.
            self.next_call_ms = now_ms + CALL_ALL_PERIOD_MS;
            hub.waiting.call_all();
        }
        let is_served = self.upkeep.executor.serve_ready(server, now_ms);
        self.upkeep.executor.release();
        has_more |= !is_served;
        Ok(Expired { keys: count, has_more, is_suspended: false })
    }

    /// Keeps the calling thread until a step that was suspended may go on, for hosts with a thread for it; false if only time
    /// will help.
    pub fn wait<E: Engine>(&self, server: &Server<E>) -> bool {
        self.upkeep.executor.wait(server)
    }

    /// The keys that go next, together, with their database.
    fn next_keys(&self, one_by_one: bool) -> Option<(Db, Vec<Vec<u8>>)> {
        let (db, _) = self.keys.last()?;
        let most = if one_by_one || self.alone > 0 { 1 } else { KEYS_AT_ONCE };
        let same = self.keys.iter().rev().take_while(|(other, _)| other == db);
        Some((*db, same.take(most).map(|(_, key)| key.clone()).collect()))
    }

    /// Reading an expired key in a transaction is what removes it.
    fn remove<E: Engine>(
        &mut self,
        server: &Server<E>,
        db: Db,
        keys: &[Vec<u8>],
        now_ms: u64,
    ) -> Result<(), Stop> {
        let names: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        if !server.engine.holds_locks() {
            // What is declared is fetched in one round.
            self.upkeep.client.db = db;
        }
        let look = |ctx: &mut Context<'_, '_>| keys.iter().try_for_each(|key| ctx.look_at(db, key).map(drop));
        self.upkeep.change_all(server, &names, now_ms, look).map(drop)
    }
}

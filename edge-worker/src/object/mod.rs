//! One Durable Object: an open store and the connections of its sockets and requests, each with a number.
//!
//! JavaScript calls one method for each event (a message, a request, an alarm) and then [`Object::finish`]. That runs the
//! sessions that were woken, freezes the sessions that changed, and delivers messages for JavaScript to carry out. The
//! storage inserts appended bytes into SQLite before it delivers a message that acknowledges them, and the platform's
//! output gate holds all output until SQLite is on its disks. So every reply acknowledges something durable.
//!
//! It never reads a clock or draws randomness: `now_ms` and seeds come in.

mod timers;
mod config;
mod delivery;
mod http_request;
mod persisted;
mod maintenance;
mod connection;
mod crons;
mod scripts;
#[cfg(feature = "sql")]
mod sql;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use edgecask_core::bitcask::{Bitcask, OnDamage, Options};
use edgecask_core::command::users;
use edgecask_core::driver::Now;
use edgecask_core::engine::Admin;
use edgecask_core::executor::{Eviction, Expiry, Indexing};
use edgecask_core::server::{Effect, Server, Shared, Shortage};
use edgecask_core::storage::Storage;

pub use self::config::Config;
use self::config::EdgeFacts;
use self::connection::{Connection, NO_MEMORY, NORMAL, TOO_BIG, WokenConnections};
use self::crons::EdgeCrons;
use self::maintenance::Maintenance;
use self::timers::Timers;
use crate::host::Host;
use crate::limits::{
    ALARM_LATE_MS, DATAFILE_MAX_BYTES, HEAP_MAX_BYTES, HEAP_SHORT_BYTES, INPUT_MAX_BYTES, INPUT_STEP_BYTES,
    MAINTENANCE_NEXT_MS, PIECE_MAX_BYTES, STORAGE_MAX_BYTES, UNAUTHENTICATED_INPUT_MAX_BYTES,
};
use crate::outbox::{Kind, Outbox};
use crate::storage::RowStorage;

/// One object.
pub struct Object<H: Host> {
    server: Server<Bitcask>,
    config: Config,
    storage: Arc<RowStorage<H>>,
    connections: BTreeMap<u32, Connection>,
    timers: Timers,
    woken: Arc<WokenConnections>,
    outbox: Outbox,
    maintenance: Maintenance,
    crons: EdgeCrons,
    expiry: Expiry,
    indexing: Indexing,
    eviction: Eviction,
    alarm_ms: Option<u64>,
    /// The time of the last save as the rows have it.
    saved_at_s: Option<u64>,
    /// Log bytes when the event began.
    appended: u64,
    /// Bytes of replies in this event.
    sent_bytes: u64,
    /// Bytes of requests that have not come whole.
    inputs_bytes: usize,
}

impl<H: Host> Object<H> {
    /// Opens the store on the object's rows.
    ///
    /// # Errors
    /// A setting is wrong or the rows hold no sound store. The text is for the operator; nothing was changed.
    pub fn open(host: H, config: Config, seed: u64, now_ms: u64) -> Result<Object<H>, String> {
        let storage = Arc::new(RowStorage::open(host));
        storage.begin_event();
        let settings = config.settings(&storage)?;
        let databases = settings.databases();
        let on_damage = OnDamage::Refuse;
        let access = settings.memory().touch(now_ms, || 0).fresh();
        let options = Options { databases, seed, datafile_max_bytes: DATAFILE_MAX_BYTES, on_damage, access };
        let opened = Bitcask::open(storage.clone() as Arc<dyn Storage>, &options)
            .map_err(|error| error.to_string())?;
        let facts = Box::new(EdgeFacts::new(storage.clone(), seed));
        let shared = Shared::new(settings, facts, now_ms);
        let saved_at_s = persisted::restore(&shared, &storage);
        let (expiry, eviction) = (Expiry::new(&shared), Eviction::new(&shared));
        let indexing = Indexing::new(&shared);
        let server = Server { engine: opened.store, shared };
        scripts::open(&server, &storage, now_ms)?;
        #[cfg(feature = "sql")]
        sql::open(&server);
        users::restore(&server, None, now_ms).map_err(|error| error.to_string())?;
        let crons = EdgeCrons::go_on(&server, &storage);
        let maintenance = Maintenance::after_start(opened.replayed_records, &server, now_ms);
        Ok(Object {
            server,
            config,
            storage,
            connections: BTreeMap::new(),
            timers: Timers::default(),
            woken: Arc::default(),
            outbox: Outbox::default(),
            maintenance,
            crons,
            expiry,
            indexing,
            eviction,
            alarm_ms: None,
            saved_at_s,
            appended: 0,
            sent_bytes: 0,
            inputs_bytes: 0,
        })
    }

    /// Begins an event; called before all other methods of the event.
    pub fn begin(&mut self) {
        self.storage.begin_event();
        self.appended = self.server.engine.appended();
        self.update_shortage();
        self.sent_bytes = 0;
    }

    /// Receives a message of a socket.
    pub fn receive(&mut self, number: u32, message: &[u8], now_ms: u64) {
        self.server.shared.counters.input_bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        let mut rest = message;
        while !rest.is_empty() {
            let Some(connection) = self.connections.get_mut(&number) else { return };
            let must_log_in = connection.driver.must_log_in(&self.server.shared);
            let (most, piece_bytes) = if must_log_in {
                (UNAUTHENTICATED_INPUT_MAX_BYTES, UNAUTHENTICATED_INPUT_MAX_BYTES / 4)
            } else {
                (INPUT_MAX_BYTES, PIECE_MAX_BYTES)
            };
            let (piece, later) = rest.split_at(rest.len().min(piece_bytes));
            rest = later;
            let input = connection.driver.input();
            if input.len() + piece.len() > most {
                return self.close(number, TOO_BIG);
            }
            if input.capacity() - input.len() < piece.len() {
                let step_bytes = input.len().clamp(piece.len(), INPUT_STEP_BYTES);
                if input.try_reserve_exact(step_bytes).is_err() {
                    return self.close(number, NO_MEMORY);
                }
            }
            input.extend_from_slice(piece);
            self.run(number, now_ms);
            self.count_input(number);
            self.update_shortage();
        }
    }

    /// Does the work that is due when the object's alarm fires.
    pub fn alarm(&mut self, now_ms: u64) {
        self.alarm_ms = None;
        self.run_crons(now_ms);
        self.maintenance.on_alarm(now_ms);
        self.server.shared.sql_streams.drop_idle(now_ms);
        self.maintain(now_ms);
    }

    /// Ends an event: runs all sessions that it has woken, and delivers its messages.
    pub fn finish(&mut self, now_ms: u64) {
        for number in self.timers.due(now_ms) {
            self.run(number, now_ms);
            self.close_if_late(number, now_ms);
        }
        while let Some(number) = self.take_woken() {
            self.run(number, now_ms);
            self.count_input(number);
        }
        if self.server.engine.appended() > self.appended || self.server.shared.search.has_earned_merge() {
            let is_short = self.used_bytes() > HEAP_SHORT_BYTES;
            self.maintenance.on_work(now_ms, is_short);
            // Requests that follow one another without a pause come before every alarm, so they make the room that they need.
            if is_short {
                self.store_documents();
            }
        }
        self.persist_save_time();
        self.persist_crons();
        self.freeze();
        self.set_alarm(now_ms);
        self.deliver_outbox();
    }

    fn take_woken(&self) -> Option<u32> {
        self.woken.0.lock().pop_first()
    }

    /// Memory that the store takes.
    fn used_bytes(&self) -> usize {
        self.storage.heap_bytes().saturating_sub(self.inputs_bytes)
    }

    /// Makes commands that need more memory or storage fail while either is short.
    fn update_shortage(&self) {
        let shortage = if self.used_bytes() > HEAP_MAX_BYTES {
            Shortage::Memory
        } else if self.storage.stored_bytes() > STORAGE_MAX_BYTES {
            Shortage::Storage
        } else {
            Shortage::None
        };
        self.server.shared.set_shortage(shortage);
    }

    /// Runs a session until it has nothing more to do.
    fn run(&mut self, number: u32, now_ms: u64) {
        let now = Now::from_unix_ms(now_ms);
        loop {
            let Some(connection) = self.connections.get_mut(&number) else { return };
            connection.driver.run(&self.server, now);
            let effects = connection.driver.take_effects();
            self.schedule(number);
            let delivered = self.deliver(number);
            let closes = self.carry_out(&effects, now_ms);
            let is_done = match delivered {
                Ok(is_done) => is_done,
                Err(reason) => return self.close(number, reason),
            };
            let Some(connection) = self.connections.get_mut(&number) else { return };
            connection.driver.has_sent_all();
            if is_done || closes || connection.driver.must_close() {
                return self.close(number, NORMAL);
            }
            if !connection.driver.has_work(now_ms) {
                return;
            }
        }
    }

    /// Carries out the effects of requests; true if the connection is to be closed.
    fn carry_out(&mut self, effects: &[Effect], now_ms: u64) -> bool {
        let mut closes = false;
        for effect in effects {
            match effect {
                // The platform ends an object when it is idle, so a shutdown only closes the connection.
                Effect::Close | Effect::Shutdown { .. } => closes = true,
                Effect::Checkpoint => self.checkpoint(now_ms),
                // The memory of an instance never shrinks.
                Effect::GiveMemoryBack => {}
                Effect::SettingsChanged => {
                    self.config.persist(&self.server.shared.settings, &self.storage);
                }
            }
        }
        closes
    }

    fn checkpoint(&mut self, now_ms: u64) {
        // A full or broken store reports that with the next write.
        let changes = self.server.shared.counters.changes.load(Ordering::Relaxed);
        if Admin::checkpoint(&self.server.engine, now_ms).is_ok() {
            self.server.shared.saved(changes, now_ms);
        }
    }

    /// Sets the alarm to the next time of a timer, of maintenance, of a cron or of a stream of SQL that nobody uses.
    fn set_alarm(&mut self, now_ms: u64) {
        let crons_ms = self.crons.due_ms(&self.server, now_ms);
        let streams_ms = self.server.shared.sql_streams.idle_at_ms();
        let own_ms = self.timers.next_ms().into_iter().chain(self.maintenance.due_ms);
        let next_ms = own_ms.chain(crons_ms).chain(streams_ms).min();
        // Work that is due now is for an alarm soon. One that is about to come does it: with every event a later one, it would never
        // come.
        let is_soon = next_ms.is_some_and(|next_ms| next_ms <= now_ms + MAINTENANCE_NEXT_MS);
        let is_about_to_come = |set_ms: u64| Some(set_ms) <= next_ms && now_ms <= set_ms + ALARM_LATE_MS;
        if is_soon && self.alarm_ms.is_some_and(is_about_to_come) {
            return;
        }
        if next_ms != self.alarm_ms {
            self.alarm_ms = next_ms;
            self.outbox.put(Kind::Alarm, 0, &[&next_ms.unwrap_or(0).to_le_bytes()]);
        }
    }
}

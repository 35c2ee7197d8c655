//! One Durable Object: an open store and the sessions of its sockets and requests, which are called *seats* here.
//!
//! JavaScript calls one method for what has happened (a message, a request, an alarm) and then [`Object::finish`], which runs
//! whoever was woken, writes what was appended, freezes sessions that changed, and hands over the messages that JavaScript is
//! to carry out. No message is handed over before what it tells of is in SQLite, and the platform's output gate holds what
//! leaves until SQLite has it on its disks. So every reply is to something durable.
//!
//! It never reads a clock or draws randomness: `now_ms` and seeds come in.

mod timers;
mod config;
mod delivery;
mod http_request;
mod persisted;
mod maintenance;
mod connection;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use edgecask_core::bitcask::{Bitcask, Options};
use edgecask_core::engine::Admin;
use edgecask_core::server::{Effect, Server, Shared, Shortage};
use edgecask_core::storage::Storage;

pub use self::config::Config;
use self::config::EdgeFacts;
use self::connection::{Bells, Connection, NO_ROOM, NORMAL, TOO_BIG};
use self::maintenance::{Maintenance, has_expiring};
use self::timers::Timers;
use crate::host::Host;
use crate::limits::{
    DATAFILE_MAX_BYTES, HEAP_MAX_BYTES, INPUT_MAX_BYTES, INPUT_STEP_BYTES, PIECE_MAX_BYTES,
    STORAGE_MAX_BYTES, UNAUTHENTICATED_INPUT_MAX_BYTES,
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
    bells: Arc<Bells>,
    outbox: Outbox,
    maintenance: Maintenance,
    alarm_ms: Option<u64>,
    /// What the rows say of LASTSAVE.
    saved_at_s: Option<u64>,
    /// Log bytes when the event began.
    appended: u64,
    /// Bytes of replies in this event.
    sent_bytes: u64,
    /// Bytes of requests that have not come whole.
    inputs_bytes: usize,
}

impl<H: Host> Object<H> {
    /// Opens the store on the object's rows. An error is for the operator: nothing was changed.
    pub fn open(host: H, config: Config, seed: u64, now_ms: u64) -> Result<Object<H>, String> {
        let storage = Arc::new(RowStorage::open(host));
        storage.begin_event();
        let settings = config.settings(&storage)?;
        let databases = settings.databases();
        let options = Options { databases, seed, datafile_max_bytes: DATAFILE_MAX_BYTES };
        let opened = Bitcask::open(storage.clone() as Arc<dyn Storage>, &options)
            .map_err(|error| error.to_string())?;
        let facts = Box::new(EdgeFacts::new(storage.clone(), seed));
        let shared = Shared::new(settings, facts, now_ms);
        let saved_at_s = persisted::recall(&shared, &storage);
        let server = Server { engine: opened.store, shared };
        let has_expiring = has_expiring(&server.engine, databases);
        let maintenance = Maintenance::after_start(opened.replayed_records, has_expiring, now_ms);
        Ok(Object {
            server,
            config,
            storage,
            connections: BTreeMap::new(),
            timers: Timers::default(),
            bells: Arc::default(),
            outbox: Outbox::default(),
            maintenance,
            alarm_ms: None,
            saved_at_s,
            appended: 0,
            sent_bytes: 0,
            inputs_bytes: 0,
        })
    }

    /// Begins an event: to be called before anything else of it.
    pub fn begin(&mut self) {
        self.storage.begin_event();
        self.appended = self.server.engine.appended();
        self.look_at_room();
        self.sent_bytes = 0;
    }

    /// Takes a message of a socket.
    pub fn receive(&mut self, seat: u32, message: &[u8], now_ms: u64) {
        self.server.shared.counters.input_bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        let mut rest = message;
        while !rest.is_empty() {
            let Some(connection) = self.connections.get_mut(&seat) else { return };
            let is_stranger =
                !connection.session.is_authenticated() && self.server.shared.settings.has_password();
            let (most, piece_bytes) = if is_stranger {
                (UNAUTHENTICATED_INPUT_MAX_BYTES, UNAUTHENTICATED_INPUT_MAX_BYTES / 4)
            } else {
                (INPUT_MAX_BYTES, PIECE_MAX_BYTES)
            };
            let (piece, later) = rest.split_at(rest.len().min(piece_bytes));
            rest = later;
            if connection.session.input().len() + piece.len() > most {
                return self.end(seat, TOO_BIG);
            }
            let input = connection.session.input();
            if input.capacity() - input.len() < piece.len() {
                let room = input.len().clamp(piece.len(), INPUT_STEP_BYTES);
                if input.try_reserve_exact(room).is_err() {
                    return self.end(seat, NO_ROOM);
                }
            }
            input.extend_from_slice(piece);
            self.run(seat, now_ms);
            self.count_input(seat);
            self.look_at_room();
        }
    }

    /// The object's alarm rang.
    pub fn alarm(&mut self, now_ms: u64) {
        self.alarm_ms = None;
        self.maintenance.ring(now_ms);
        self.maintain(now_ms);
    }

    /// Ends an event: everything that it led to has happened, and all of it is in rows.
    pub fn finish(&mut self, now_ms: u64) {
        for number in self.timers.due(now_ms) {
            self.run(number, now_ms);
            self.cut_if_late(number, now_ms);
        }
        while let Some(number) = self.ring() {
            self.run(number, now_ms);
            self.count_input(number);
        }
        if self.server.engine.appended() > self.appended {
            self.maintenance.expect(now_ms);
        }
        self.keep_save_time();
        self.freeze();
        self.set_alarm();
        self.hand_over();
    }

    fn ring(&self) -> Option<u32> {
        self.bells.0.lock().pop_first()
    }

    /// Refuses commands that need more room than there is.
    fn look_at_room(&self) {
        let kept_bytes = self.storage.heap_bytes().saturating_sub(self.inputs_bytes);
        let shortage = if kept_bytes > HEAP_MAX_BYTES {
            Shortage::Memory
        } else if self.storage.stored_bytes() > STORAGE_MAX_BYTES {
            Shortage::Storage
        } else {
            Shortage::None
        };
        self.server.shared.set_shortage(shortage);
    }

    /// Has a session run until it has nothing more to do.
    fn run(&mut self, number: u32, now_ms: u64) {
        loop {
            let Some(seat) = self.connections.get_mut(&number) else { return };
            let progress = seat.session.process(&self.server, now_ms);
            seat.wake_at_ms = progress.wake_at_ms;
            let has_more = progress.is_paused || seat.session.has_mail();
            self.plan(number);
            let delivered = self.deliver(number);
            let is_left = self.carry_out(&progress.effects, now_ms);
            let is_done = match delivered {
                Ok(is_done) => is_done,
                Err(farewell) => return self.end(number, farewell),
            };
            let Some(seat) = self.connections.get_mut(&number) else { return };
            seat.session.has_sent();
            let must_close = seat.session.must_close();
            if is_done || is_left || must_close {
                return self.end(number, NORMAL);
            }
            if !has_more {
                return;
            }
        }
    }

    /// Does what requests asked of the server; true if the connection is to be closed.
    fn carry_out(&mut self, effects: &[Effect], now_ms: u64) -> bool {
        let mut closes = false;
        for effect in effects {
            match effect {
                // An object ends when nobody needs it; its clients are asked to go.
                Effect::Close | Effect::Shutdown { .. } => closes = true,
                Effect::Checkpoint => self.checkpoint(now_ms),
                Effect::SettingsChanged => {
                    self.config.keep(&self.server.shared.settings, &self.storage);
                }
            }
        }
        closes
    }

    fn checkpoint(&mut self, now_ms: u64) {
        // A full or broken store says so to whoever writes.
        let changes = self.server.shared.counters.changes.load(Ordering::Relaxed);
        if Admin::checkpoint(&self.server.engine, now_ms).is_ok() {
            self.server.shared.saved(changes, now_ms);
        }
    }

    /// Has the alarm ring when something is next to be done.
    fn set_alarm(&mut self) {
        let next_ms = self.timers.next_ms().into_iter().chain(self.maintenance.due_ms).min();
        if next_ms != self.alarm_ms {
            self.alarm_ms = next_ms;
            self.outbox.put(Kind::Alarm, 0, &[&next_ms.unwrap_or(0).to_le_bytes()]);
        }
    }
}

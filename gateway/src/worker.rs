//! One worker: an event loop that serves its connections in rounds.
//!
//! A round takes the connections that the system reports as readable through the same steps together: all receive, all
//! run, all send. So the code of each step stays in the processor's caches, keys of several connections are fetched
//! from memory side by side, and a client that is woken by a reply finds the replies to its other connections too.
//!
//! Replies wait for the disk where the sync policy says so ([`crate::sync`]); a connection whose peer does not read
//! waits alone.

use std::collections::BTreeSet;
use std::io;
use std::net;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::{Duration, Instant};

use edgecask_core::engine::{Db, Engine};
use edgecask_core::limits::{PIPELINE_AHEAD, PIPELINE_AHEAD_MIN};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use slab::Slab;
use smallvec::SmallVec;
use tracing::{debug, warn};

use crate::clock::now_ms;
use crate::coalesce::Load;
use crate::connection::{Buffers, Connection, Phase, Received, Sent};
use crate::gateway::{Gateway, Next};
use crate::limits::{ROUND_EVENTS, STOP_GRACE, SWEEP_PERIOD};
use crate::sync::Settling;
use crate::workers::Mailbox;

/// The token of the waker; connections have the numbers of their places, which stay below.
const MAILBOX: Token = Token(usize::MAX);

/// The loop of one thread.
pub struct Worker {
    gateway: Arc<Gateway>,
    poll: Poll,
    mailbox: Arc<Mailbox>,
    /// Wakes this worker when another one's sync is over.
    waker: Waker,
    connections: Slab<Connection>,
    buffers: Buffers,
    load: Load,
    /// Connections that take part in the next round.
    ready: Vec<usize>,
    /// Connections that have more to send than they might at once.
    unfinished: Vec<usize>,
    /// Connections whose replies wait for a sync that another worker is making.
    syncing: Vec<usize>,
    next_sweep: Instant,
    /// When connections are to take part in a round though nothing has come, by time and place.
    alarms: BTreeSet<(Instant, usize)>,
    /// Time of the present round.
    now: Instant,
    /// Bytes received and sent that the server's counters do not hold yet.
    input_bytes: u64,
    output_bytes: u64,
}

impl Worker {
    /// A worker without connections.
    pub fn new(gateway: Arc<Gateway>) -> io::Result<Worker> {
        let poll = Poll::new()?;
        let mailbox = Arc::new(Mailbox::new(mio::Waker::new(poll.registry(), MAILBOX)?));
        let now = Instant::now();
        Ok(Worker {
            gateway,
            poll,
            waker: Waker::from(mailbox.clone()),
            mailbox,
            connections: Slab::new(),
            buffers: Buffers::default(),
            load: Load::default(),
            ready: Vec::new(),
            unfinished: Vec::new(),
            syncing: Vec::new(),
            next_sweep: now,
            alarms: BTreeSet::new(),
            now,
            input_bytes: 0,
            output_bytes: 0,
        })
    }

    /// How others reach it.
    pub fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// The thread's life, until it is told to stop and what it has run is answered.
    pub fn run(mut self) {
        crate::coalesce::prepare_thread();
        let mut events = Events::with_capacity(ROUND_EVENTS);
        while !self.mailbox.is_stopping() {
            self.load.rest(self.ready.is_empty() && self.unfinished.is_empty());
            if let Err(error) = self.wait(&mut events) {
                warn!(%error, "a worker cannot wait for events");
                return;
            }
            self.round();
        }
        self.finish(&mut events);
    }

    /// Waits for events, unless some connection has something to do already, and takes note of them.
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let timeout = if !self.ready.is_empty() || !self.unfinished.is_empty() {
            Some(Duration::ZERO)
        } else if self.connections.is_empty() {
            None
        } else {
            let alarm = self.alarms.first().map_or(self.next_sweep, |(alarm, _)| *alarm);
            // The system counts in whole milliseconds; one that is begun must be over.
            let rest = alarm.min(self.next_sweep).saturating_duration_since(self.now);
            Some(Duration::from_millis(rest.as_micros().div_ceil(1000) as u64))
        };
        let timeout = if self.mailbox.fall_asleep() { timeout } else { Some(Duration::ZERO) };
        let outcome = self.poll.poll(events, timeout);
        self.mailbox.wake_up();
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        self.now = Instant::now();
        self.answer_bells();
        self.answer_alarms();
        for event in events.iter() {
            let Token(place) = event.token();
            let Some(connection) = self.connections.get_mut(place) else { continue };
            // An error shows in the next read or write.
            connection.is_readable |= event.is_readable() || event.is_read_closed() || event.is_error();
            connection.is_ending |= event.is_read_closed();
            match connection.phase {
                Phase::Receiving => self.queue(place),
                Phase::Sending(_) => self.send(place),
                Phase::Syncing(_) => {}
            }
        }
        Ok(())
    }

    /// Has the connections take part in the next round for which others have left something.
    fn answer_bells(&mut self) {
        for (place, id) in self.mailbox.take_rung() {
            let Some(connection) = self.connections.get(place).filter(|connection| connection.id() == id)
            else {
                continue;
            };
            match connection.phase {
                Phase::Receiving => self.queue(place),
                // Its peer takes nothing: there is no point in waiting for it.
                Phase::Sending(_) if connection.must_close() => self.close(place),
                Phase::Sending(_) | Phase::Syncing(_) => {}
            }
        }
    }

    /// Has the connections take part in the next round whose time has come.
    fn answer_alarms(&mut self) {
        while let Some((alarm, place)) = self.alarms.first().copied().filter(|(alarm, _)| *alarm <= self.now)
        {
            self.alarms.remove(&(alarm, place));
            self.queue(place);
        }
    }

    /// Serves what has come.
    fn round(&mut self) {
        self.go_on_sending();
        let mut running = std::mem::take(&mut self.ready);
        running.retain(|place| self.receive(*place));
        self.prefetch(&running);
        let now_ms = now_ms();
        let mut settings_changed = false;
        for place in &running {
            let Some(connection) = self.connections.get_mut(*place) else { continue };
            self.load.serves(&mut connection.seen, now_ms);
            let alarm = connection.alarm();
            settings_changed |= connection.run(&self.gateway.server, self.now, now_ms);
            connection.give_back(&mut self.buffers);
            if alarm != connection.alarm() {
                if let Some(alarm) = alarm {
                    self.alarms.remove(&(alarm, *place));
                }
                self.alarms.extend(connection.alarm().map(|alarm| (alarm, *place)));
            }
        }
        if settings_changed {
            // Before the reply: whoever has read it may count on the change.
            self.gateway.settings_changed();
            self.next_sweep = self.now;
        }
        let position = self.gateway.server.engine.appended();
        for place in &running {
            self.answer(*place, position);
        }
        running.clear();
        // Connections that have more to do were put into `ready` meanwhile.
        running.append(&mut self.ready);
        self.ready = running;
        self.release_synced();
        for stream in self.mailbox.take_arrivals() {
            self.welcome(stream, now_ms);
        }
        self.sweep();
        self.count();
    }

    /// Gives those who might have sent more another turn.
    fn go_on_sending(&mut self) {
        for place in std::mem::take(&mut self.unfinished) {
            self.send(place);
        }
    }

    /// Has a connection take part in the next round.
    fn queue(&mut self, place: usize) {
        if let Some(connection) = self.connections.get_mut(place)
            && !std::mem::replace(&mut connection.is_queued, true)
        {
            self.ready.push(place);
        }
    }

    /// Reads; true if there is something to run.
    fn receive(&mut self, place: usize) -> bool {
        let Some(connection) = self.connections.get_mut(place) else { return false };
        connection.is_queued = false;
        match connection.receive(&mut self.buffers, self.now) {
            Ok(Received::Input(count)) => {
                self.input_bytes += count as u64;
                true
            }
            Ok(Received::Nothing) => false,
            Ok(Received::End) => {
                self.close(place);
                false
            }
            Err(error) => {
                debug!(%error, "a connection failed");
                self.close(place);
                false
            }
        }
    }

    /// Names the keys that several connections ask for to the store, a few at a time.
    fn prefetch(&self, running: &[usize]) {
        if running.len() < PIPELINE_AHEAD_MIN {
            return;
        }
        let engine = &self.gateway.server.engine;
        let mut keys: SmallVec<[&[u8]; PIPELINE_AHEAD]> = SmallVec::new();
        let mut db: Db = 0;
        for place in running {
            let Some((its_db, key)) = self.connections.get(*place).and_then(Connection::only_key) else {
                continue;
            };
            if keys.len() == PIPELINE_AHEAD || its_db != db {
                engine.prefetch(db, &keys);
                keys.clear();
            }
            db = its_db;
            keys.push(key);
        }
        if keys.len() >= PIPELINE_AHEAD_MIN {
            engine.prefetch(db, &keys);
        }
    }

    /// Sends the replies of a connection that are about the log up to this position, or has them wait for a sync.
    fn answer(&mut self, place: usize, position: u64) {
        let store = &self.gateway.server.engine;
        let Some(connection) = self.connections.get_mut(place) else { return };
        match self.gateway.syncer.settle(store, position, &self.waker) {
            Settling::Done => self.send(place),
            Settling::Wait => {
                connection.phase = Phase::Syncing(position);
                self.syncing.push(place);
            }
            Settling::Failed if connection.wrote() <= store.synced() => self.send(place),
            Settling::Failed => self.withhold(place),
        }
    }

    /// Closes a connection whose writes may be lost, without a reply.
    fn withhold(&mut self, place: usize) {
        debug!("a sync failed, so replies were withheld");
        self.close(place);
    }

    /// Sends the replies that waited for another worker's sync and need wait no longer.
    fn release_synced(&mut self) {
        if self.syncing.is_empty() {
            return;
        }
        for place in std::mem::take(&mut self.syncing) {
            let phase = self.connections.get(place).map(|connection| connection.phase);
            if let Some(Phase::Syncing(position)) = phase {
                self.answer(place, position);
            }
        }
    }

    /// Sends what the peer takes; once all has left, what the requests asked of the server is done.
    fn send(&mut self, place: usize) {
        let Some(connection) = self.connections.get_mut(place) else { return };
        let before = connection.unsent();
        let outcome = connection.send(self.now);
        self.output_bytes += before.saturating_sub(connection.unsent());
        match outcome {
            Ok(Sent::All) => {
                if self.carry_out(place) == Next::Close {
                    self.close(place);
                } else if self.connections.get_mut(place).is_some_and(Connection::has_more) {
                    self.queue(place);
                }
            }
            Ok(Sent::Full) => self.wait_for_room(place),
            Ok(Sent::EnoughForNow) => self.unfinished.push(place),
            Err(error) => {
                debug!(%error, "a connection failed");
                self.close(place);
            }
        }
    }

    /// The peer's buffers are full: the system is to say when they are not.
    fn wait_for_room(&mut self, place: usize) {
        let Some(connection) = self.connections.get_mut(place) else { return };
        if let Some(deadline) = connection.deadline(&self.gateway.deadlines, None) {
            self.next_sweep = self.next_sweep.min(deadline);
        }
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().reregister(connection.stream(), Token(place), both) {
            debug!(%error, "a connection failed");
            self.close(place);
        }
    }

    fn carry_out(&mut self, place: usize) -> Next {
        let effects = self.connections.get_mut(place).map(Connection::take_effects).unwrap_or_default();
        self.gateway.carry_out(effects)
    }

    /// Makes an accepted stream a connection.
    fn welcome(&mut self, stream: net::TcpStream, now_ms: u64) {
        if let Err(error) = self.add(stream, now_ms) {
            self.gateway.connected.fetch_sub(1, Ordering::Relaxed);
            debug!(%error, "a connection ended before it began");
        }
    }

    fn add(&mut self, stream: net::TcpStream, now_ms: u64) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let entry = self.connections.vacant_entry();
        self.poll.registry().register(&mut stream, Token(entry.key()), Interest::READABLE)?;
        let connection = Connection::new(stream, &self.gateway.server.shared, self.now, now_ms);
        if let Some(deadline) = connection.deadline(&self.gateway.deadlines, None) {
            self.next_sweep = self.next_sweep.min(deadline);
        }
        connection.set_bell(self.mailbox.bell(entry.key(), connection.id()));
        entry.insert(connection);
        Ok(())
    }

    fn close(&mut self, place: usize) {
        if let Some(mut connection) = self.connections.try_remove(place) {
            if let Some(alarm) = connection.alarm() {
                self.alarms.remove(&(alarm, place));
            }
            connection.close(&self.gateway.server);
            self.gateway.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Cuts the connections whose deadline has passed or for which too much output waits, and finds out when to look again.
    fn sweep(&mut self) {
        if self.now < self.next_sweep {
            return;
        }
        let idle = self.gateway.idle_timeout();
        let mut next = self.now + SWEEP_PERIOD;
        let mut late = Vec::new();
        let now_ms = now_ms();
        for (place, connection) in &mut self.connections {
            match connection.deadline(&self.gateway.deadlines, idle) {
                Some(deadline) if deadline <= self.now => late.push(place),
                Some(deadline) => next = next.min(deadline),
                None => {}
            }
            if connection.is_over_limit(now_ms) {
                late.push(place);
            }
            if let Some(since) = self.now.checked_sub(SWEEP_PERIOD) {
                connection.shrink_if_idle(since);
            }
        }
        for place in late {
            debug!("a connection was cut at its deadline or for too much output");
            self.close(place);
        }
        self.next_sweep = next;
    }

    /// Brings the server's counters up to date.
    fn count(&mut self) {
        let counters = &self.gateway.server.shared.counters;
        if self.input_bytes > 0 {
            counters.input_bytes.fetch_add(std::mem::take(&mut self.input_bytes), Ordering::Relaxed);
        }
        if self.output_bytes > 0 {
            counters.output_bytes.fetch_add(std::mem::take(&mut self.output_bytes), Ordering::Relaxed);
        }
    }

    /// Nothing new is read any more; what has been run is answered before the end.
    fn finish(&mut self, events: &mut Events) {
        let end = Instant::now() + STOP_GRACE;
        loop {
            self.release_synced();
            self.go_on_sending();
            self.ready.clear();
            let is_done = self.connections.iter().all(|(_, connection)| connection.phase == Phase::Receiving);
            if is_done || self.now >= end {
                break;
            }
            self.next_sweep = end;
            if self.wait(events).is_err() {
                break;
            }
        }
        self.count();
        let places: Vec<usize> = self.connections.iter().map(|(place, _)| place).collect();
        places.into_iter().for_each(|place| self.close(place));
        let waiting = self.mailbox.take_arrivals().len();
        self.gateway.connected.fetch_sub(waiting, Ordering::Relaxed);
    }
}

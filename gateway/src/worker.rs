//! One worker: an event loop that serves its connections in rounds.
//!
//! A round takes the connections that the system reports as readable through the same steps together: all receive, all
//! run, all send. So the code of each step stays in the processor's caches, the store fetches keys of several connections
//! from memory side by side, and a client that a reply wakes finds the replies to its other connections too.
//!
//! Replies wait for the disk where the sync policy asks for it ([`crate::sync`]). A connection whose peer does not read
//! waits alone.
//!
//! How many workers serve follows the load ([`crate::spread`]), so connections move from worker to worker ([`moving`]).

mod moving;

use std::collections::BTreeSet;
use std::io;
use std::net;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

use edgecask_core::driver::Now;
use edgecask_core::engine::{Db, Engine};
use edgecask_core::limits::{PIPELINE_AHEAD, PIPELINE_AHEAD_MIN};
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use slab::Slab;
use smallvec::SmallVec;
use tracing::{debug, warn};

use crate::clock::{self, whole_ms};
use crate::coalesce::Load;
use crate::connection::{Buffers, Connection, Phase, Received, Sent};
use crate::gateway::{Gateway, Next};
use crate::limits::{REST_LOOK_PERIOD, ROUND_EVENTS, STOP_GRACE, SWEEP_PERIOD};
use crate::mailbox::Mailbox;
use crate::spread::occupancy::Occupancy;
use crate::spread::order::{Order, Part};
use crate::sync::Settling;

/// The token of the waker. The token of a connection is its slot, which stays below.
const MAILBOX: Token = Token(usize::MAX);

/// The loop of one thread.
pub struct Worker {
    gateway: Arc<Gateway>,
    poll: Poll,
    mailbox: Arc<Mailbox>,
    /// How much of its time it waits for events.
    occupancy: Arc<Occupancy>,
    /// Which of its connections it gives to other workers.
    part: Part,
    /// Slots of the connections that are to move and have just had all their replies sent.
    leaving: Vec<usize>,
    /// Wakes this worker when a sync by another worker ends.
    waker: Waker,
    connections: Slab<Connection>,
    buffers: Buffers,
    load: Load,
    /// Slots of the connections in the next round.
    ready: Vec<usize>,
    /// Slots of the connections that had more to send than one turn allows.
    unfinished: Vec<usize>,
    /// Slots of the connections whose replies wait for a sync by another worker.
    syncing: Vec<usize>,
    /// When to look at the connections that rest because they write too fast: steady times in milliseconds, with slots.
    resting: BTreeSet<(u64, usize)>,
    next_sweep_ms: u64,
    /// When connections must be in a round though nothing has come: steady times in milliseconds, with slots.
    alarms: BTreeSet<(u64, usize)>,
    /// The clocks as the present round read them.
    now: Now,
    /// How often it was asked to give memory back when it last did.
    trimmed: u64,
    /// Bytes received and sent that are not in the server's counters yet.
    input_bytes: u64,
    output_bytes: u64,
}

impl Worker {
    /// A worker without connections, with its number.
    ///
    /// # Errors
    /// The system refuses an event queue.
    pub fn new(gateway: Arc<Gateway>, number: u16) -> io::Result<Worker> {
        let poll = Poll::new()?;
        let mailbox = Arc::new(Mailbox::new(mio::Waker::new(poll.registry(), MAILBOX)?));
        let now = clock::now();
        let waker = Waker::from(mailbox.clone());
        gateway.trim.wake(waker.clone());
        let part = Part::new(number, Order::from_bits(gateway.spread.bits()));
        Ok(Worker {
            gateway,
            poll,
            waker,
            mailbox,
            occupancy: Arc::default(),
            part,
            leaving: Vec::new(),
            connections: Slab::new(),
            buffers: Buffers::default(),
            load: Load::default(),
            ready: Vec::new(),
            unfinished: Vec::new(),
            syncing: Vec::new(),
            resting: BTreeSet::new(),
            next_sweep_ms: now.steady_ms,
            alarms: BTreeSet::new(),
            now,
            trimmed: 0,
            input_bytes: 0,
            output_bytes: 0,
        })
    }

    /// The mailbox through which other threads reach it.
    pub fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// The account of its time.
    pub fn occupancy(&self) -> &Arc<Occupancy> {
        &self.occupancy
    }

    /// The loop of the thread, with the mailboxes of all workers by their numbers. It ends after a stop, once all replies of
    /// running batches have left.
    pub fn run(mut self, mailboxes: &[Arc<Mailbox>]) {
        crate::coalesce::prepare_thread();
        let mut events = Events::with_capacity(ROUND_EVENTS);
        while !self.mailbox.is_stopping() {
            let may_wait = self.ready.is_empty() && self.unfinished.is_empty();
            if may_wait {
                self.occupancy.begin_wait(clock::steady_ns());
            }
            self.load.rest(may_wait);
            if let Err(error) = self.wait(&mut events) {
                warn!(%error, "a worker cannot wait for events");
                return;
            }
            self.round();
            if !self.leaving.is_empty() {
                self.give_away(mailboxes);
            }
        }
        self.finish(&mut events);
    }

    /// Waits for events unless a connection has something to do already, and queues the connections that they concern.
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let timeout = if !self.ready.is_empty() || !self.unfinished.is_empty() {
            Some(Duration::ZERO)
        } else if self.connections.is_empty() {
            None
        } else {
            let alarm_ms = self.alarms.first().map_or(self.next_sweep_ms, |(alarm_ms, _)| *alarm_ms);
            let rested_ms = self.resting.first().map_or(self.next_sweep_ms, |(until_ms, _)| *until_ms);
            let next_ms = alarm_ms.min(rested_ms).min(self.next_sweep_ms);
            let rest_ms = next_ms.saturating_sub(self.now.steady_ms);
            Some(Duration::from_millis(rest_ms))
        };
        let timeout = if self.mailbox.fall_asleep() { timeout } else { Some(Duration::ZERO) };
        let outcome = self.poll.poll(events, timeout);
        self.mailbox.wake_up();
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let (now, now_ns) = clock::now_and_ns();
        self.now = now;
        self.occupancy.end_wait(now_ns);
        self.part.follow(self.gateway.spread.bits());
        self.take_returned();
        self.take_moved();
        self.queue_woken();
        self.queue_alarmed();
        for event in events.iter() {
            let Token(slot) = event.token();
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            // An error shows in the next read or write.
            connection.is_readable |= event.is_readable() || event.is_read_closed() || event.is_error();
            connection.is_ending |= event.is_read_closed();
            match connection.phase {
                Phase::Receiving => self.queue(slot),
                Phase::Sending(_) => self.send(slot),
                Phase::Away if connection.is_ending => connection.abandon(),
                // Nobody is there to take the replies.
                Phase::Held(_) if event.is_error() || event.is_write_closed() => self.close(slot),
                Phase::Syncing(_) | Phase::Held(_) | Phase::Away => {}
            }
        }
        Ok(())
    }

    /// Takes back the sessions that were away for a request that took long, and sends their replies.
    fn take_returned(&mut self) {
        for (slot, mut driver) in self.mailbox.take_returned() {
            let id = driver.session().id();
            let found = self.connections.get_mut(slot).filter(|connection| connection.id() == id);
            let Some(connection) = found else {
                // Its connection was closed meanwhile.
                driver.close(&self.gateway.server);
                continue;
            };
            if connection.come_back(driver) {
                self.gateway.settings_changed();
                self.next_sweep_ms = self.now.steady_ms;
            }
            if connection.must_close() {
                self.close(slot);
                continue;
            }
            self.alarms.extend(connection.alarm_ms().map(|alarm_ms| (alarm_ms, slot)));
            self.charge(slot);
            if !self.is_held(slot) {
                self.answer(slot, self.gateway.server.engine.appended());
            }
        }
    }

    /// Gives a session away if its next request takes long, and says whether it has.
    fn hand_over(&mut self, slot: usize) -> bool {
        let Some(connection) = self.connections.get_mut(slot) else { return false };
        let alarm_ms = connection.alarm_ms();
        let Some(mut driver) = connection.leave_if_long() else { return false };
        if let Some(alarm_ms) = alarm_ms {
            self.alarms.remove(&(alarm_ms, slot));
        }
        let mailbox = self.mailbox.clone();
        self.gateway.long_runs.hand_over(Box::new(move |gateway| {
            driver.run_at_length(&gateway.server, clock::now());
            mailbox.give_back(slot, driver);
        }));
        true
    }

    /// Queues the connections for which other connections have left something.
    fn queue_woken(&mut self) {
        for (slot, id) in self.mailbox.take_woken() {
            let Some(connection) = self.connections.get(slot).filter(|connection| connection.id() == id)
            else {
                continue;
            };
            match connection.phase {
                Phase::Receiving => self.queue(slot),
                // Its peer takes nothing, so waiting for it is of no use.
                Phase::Sending(_) | Phase::Held(_) if connection.must_close() => self.close(slot),
                Phase::Sending(_) if connection.is_fetching => self.send(slot),
                Phase::Sending(_) | Phase::Syncing(_) | Phase::Held(_) | Phase::Away => {}
            }
        }
    }

    /// Queues the connections whose alarm is due.
    fn queue_alarmed(&mut self) {
        let now_ms = self.now.steady_ms;
        while let Some((alarm_ms, slot)) = self.alarms.first().copied()
            && alarm_ms <= now_ms
        {
            self.alarms.pop_first();
            self.queue(slot);
        }
    }

    /// Serves the queued connections.
    fn round(&mut self) {
        self.go_on_sending();
        let mut running = std::mem::take(&mut self.ready);
        running.retain(|slot| self.receive(*slot));
        self.prefetch(&running);
        let mut settings_changed = false;
        let turn_bytes = self.gateway.brake.turn_bytes();
        for slot in &running {
            let Some(connection) = self.connections.get_mut(*slot) else { continue };
            if self.part.has_to_look_at(connection.seen_order) {
                connection.goes_to = self.part.destination(&mut connection.seen_order);
            }
            self.load.serves(&mut connection.seen, self.now.unix_ms);
            let before_ms = connection.alarm_ms();
            settings_changed |= connection.run(&self.gateway.server, self.now, turn_bytes);
            connection.give_back(&mut self.buffers);
            if before_ms != connection.alarm_ms() {
                if let Some(before_ms) = before_ms {
                    self.alarms.remove(&(before_ms, *slot));
                }
                self.alarms.extend(connection.alarm_ms().map(|alarm_ms| (alarm_ms, *slot)));
            }
            self.charge(*slot);
        }
        if settings_changed {
            // Before the reply: a client that has read it may rely on the change.
            self.gateway.settings_changed();
            self.next_sweep_ms = self.now.steady_ms;
        }
        let position = self.gateway.server.engine.appended();
        self.gateway.syncer.sync_much(&self.gateway.server.engine, position);
        if self.gateway.brake.is_outdated(position) {
            self.gateway.observe_debt();
        }
        for slot in &running {
            if !self.is_held(*slot) {
                self.answer(*slot, position);
            }
        }
        running.clear();
        // Connections with more to do were put into `ready` meanwhile.
        running.append(&mut self.ready);
        self.ready = running;
        self.release_synced();
        self.release_rested();
        for stream in self.mailbox.take_accepted() {
            self.accept(stream);
        }
        self.sweep();
        self.count();
        self.gateway.trim.follow(&mut self.trimmed);
    }

    /// Gives another turn to the connections that had more to send.
    fn go_on_sending(&mut self) {
        for slot in std::mem::take(&mut self.unfinished) {
            self.send(slot);
        }
    }

    /// Puts a connection into the next round.
    fn queue(&mut self, slot: usize) {
        if let Some(connection) = self.connections.get_mut(slot)
            && !std::mem::replace(&mut connection.is_queued, true)
        {
            self.ready.push(slot);
        }
    }

    /// Reads; true if the connection has something to run.
    fn receive(&mut self, slot: usize) -> bool {
        let Some(connection) = self.connections.get_mut(slot) else { return false };
        connection.is_queued = false;
        match connection.receive(&mut self.buffers, self.now) {
            Ok(Received::Input(count)) => {
                self.input_bytes += count as u64;
                true
            }
            Ok(Received::Nothing) => false,
            Ok(Received::End) => {
                self.close(slot);
                false
            }
            Err(error) => {
                debug!(%error, "a connection failed");
                self.close(slot);
                false
            }
        }
    }

    /// Announces the keys of several connections to the store, a few at a time.
    fn prefetch(&self, running: &[usize]) {
        if running.len() < PIPELINE_AHEAD_MIN {
            return;
        }
        let engine = &self.gateway.server.engine;
        let mut keys: SmallVec<[&[u8]; PIPELINE_AHEAD]> = SmallVec::new();
        let mut db: Db = 0;
        for slot in running {
            let Some((key_db, key)) = self.connections.get(*slot).and_then(Connection::only_key) else {
                continue;
            };
            if keys.len() == PIPELINE_AHEAD || key_db != db {
                engine.prefetch(db, &keys);
                keys.clear();
            }
            db = key_db;
            keys.push(key);
        }
        if keys.len() >= PIPELINE_AHEAD_MIN {
            engine.prefetch(db, &keys);
        }
    }

    /// Sends the replies of a connection, which show the log up to this position, or makes them wait for a sync.
    fn answer(&mut self, slot: usize, position: u64) {
        if self.hand_over(slot) {
            return;
        }
        let store = &self.gateway.server.engine;
        let Some(connection) = self.connections.get_mut(slot) else { return };
        match self.gateway.syncer.settle(store, position, &self.waker) {
            Settling::Done => self.send(slot),
            Settling::Wait => {
                connection.phase = Phase::Syncing(position);
                self.syncing.push(slot);
            }
            Settling::Failed if connection.wrote() <= store.synced() => self.send(slot),
            Settling::Failed => self.withhold(slot),
        }
    }

    /// Closes a connection whose writes may be lost, without a reply.
    fn withhold(&mut self, slot: usize) {
        debug!("a sync failed, so replies were withheld");
        self.close(slot);
    }

    /// Sends the replies for which the sync of another worker has ended.
    fn release_synced(&mut self) {
        if self.syncing.is_empty() {
            return;
        }
        for slot in std::mem::take(&mut self.syncing) {
            let phase = self.connections.get(slot).map(|connection| connection.phase);
            if let Some(Phase::Syncing(position)) = phase {
                self.answer(slot, position);
            }
        }
    }

    /// Charges a connection for what it has written since it was last charged; it rests if that was too much.
    #[inline]
    fn charge(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let logged_bytes = connection.take_logged_bytes();
        if let Some(rest) = self.gateway.brake.charge(logged_bytes, self.now.steady_ms) {
            connection.phase = Phase::Held(rest.held_until_ms);
            match connection.rest.replace((rest, rest.held_until_ms)) {
                // What it was away for has written, too.
                Some((_, look_ms)) => drop(self.resting.remove(&(look_ms, slot))),
                None => self.gateway.brake.begin_rest(),
            }
            self.resting.insert((rest.held_until_ms, slot));
        }
    }

    fn is_held(&self, slot: usize) -> bool {
        let phase = self.connections.get(slot).map(|connection| connection.phase);
        matches!(phase, Some(Phase::Held(_)))
    }

    /// Sends the replies that were held for long enough, and goes on with the connections that have rested.
    fn release_rested(&mut self) {
        while let Some((look_ms, slot)) = self.resting.first().copied()
            && look_ms <= self.now.steady_ms
        {
            self.resting.pop_first();
            self.release(slot);
        }
    }

    /// Sends the held replies of a connection that rests, and lets it go on if it has rested or the brake is off by now.
    fn release(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let Some((rest, _)) = connection.rest.take() else { return };
        let now_ms = self.now.steady_ms;
        if rest.until_ms > now_ms && self.gateway.brake.is_on() && !self.mailbox.is_stopping() {
            let look_ms = rest.until_ms.min(now_ms + whole_ms(REST_LOOK_PERIOD));
            connection.rest = Some((rest, look_ms));
            self.resting.insert((look_ms, slot));
        } else {
            self.gateway.brake.end_rest();
        }
        match connection.phase {
            Phase::Held(_) => {
                let position = self.gateway.server.engine.appended();
                self.answer(slot, position);
            }
            _ => {
                if connection.has_more(self.now) {
                    self.queue(slot);
                }
            }
        }
    }

    /// Sends as much as the peer takes; carries out the effects of the requests once all replies have left.
    fn send(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let before = connection.unsent();
        let outcome = connection.send(self.now);
        self.output_bytes += before.saturating_sub(connection.unsent());
        match outcome {
            Ok(Sent::All) => {
                if self.carry_out(slot) == Next::Close {
                    return self.close(slot);
                }
                let Some(connection) = self.connections.get_mut(slot) else { return };
                if connection.goes_to.is_some() {
                    self.leaving.push(slot);
                }
                if connection.has_more(self.now) {
                    self.queue(slot);
                }
            }
            Ok(Sent::Full) => self.wait_for_writable(slot),
            Ok(Sent::Fetching) => {}
            Ok(Sent::EnoughForNow) => self.unfinished.push(slot),
            Err(error) => {
                // What the socket reports has a kind of its own.
                if matches!(error.kind(), io::ErrorKind::Other | io::ErrorKind::UnexpectedEof) {
                    warn!(%error, "a reply that has begun cannot be ended, so its connection is closed");
                } else {
                    debug!(%error, "a connection failed");
                }
                self.close(slot);
            }
        }
    }

    /// Asks the system to report when a peer whose buffers are full takes bytes again.
    fn wait_for_writable(&mut self, slot: usize) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let deadline_ms = deadline_ms(connection, &self.gateway);
        self.next_sweep_ms = self.next_sweep_ms.min(deadline_ms.unwrap_or(u64::MAX));
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().reregister(connection.stream(), Token(slot), both) {
            debug!(%error, "a connection failed");
            self.close(slot);
        }
    }

    fn carry_out(&mut self, slot: usize) -> Next {
        let effects = self.connections.get_mut(slot).map(Connection::take_effects).unwrap_or_default();
        self.gateway.carry_out(effects)
    }

    /// Makes an accepted stream a connection.
    fn accept(&mut self, stream: net::TcpStream) {
        if let Err(error) = self.add(stream) {
            self.gateway.connected.fetch_sub(1, Ordering::Relaxed);
            debug!(%error, "a connection ended before it began");
        }
    }

    fn add(&mut self, stream: net::TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        let entry = self.connections.vacant_entry();
        self.poll.registry().register(&mut stream, Token(entry.key()), Interest::READABLE)?;
        let mut connection = Connection::new(stream, &self.gateway.server.shared, self.now);
        connection.seen_order = self.part.newcomer();
        let deadline_ms = deadline_ms(&connection, &self.gateway);
        self.next_sweep_ms = self.next_sweep_ms.min(deadline_ms.unwrap_or(u64::MAX));
        connection.set_waker(self.mailbox.waker_of(entry.key(), connection.id()));
        entry.insert(connection);
        Ok(())
    }

    fn close(&mut self, slot: usize) {
        if let Some(mut connection) = self.connections.try_remove(slot) {
            if let Some((_, look_ms)) = connection.rest {
                self.resting.remove(&(look_ms, slot));
                self.gateway.brake.end_rest();
            }
            if let Some(alarm_ms) = connection.alarm_ms() {
                self.alarms.remove(&(alarm_ms, slot));
            }
            connection.close(&self.gateway.server);
            self.gateway.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Closes the connections whose deadline has passed or for which too much output waits, and sets the time of the next
    /// sweep.
    fn sweep(&mut self) {
        let Now { unix_ms, steady_ms: now_ms } = self.now;
        if now_ms < self.next_sweep_ms {
            return;
        }
        let period_ms = whole_ms(SWEEP_PERIOD);
        let mut next_ms = now_ms + period_ms;
        let mut late = Vec::new();
        for (slot, connection) in &mut self.connections {
            match deadline_ms(connection, &self.gateway) {
                Some(deadline_ms) if deadline_ms <= now_ms => late.push(slot),
                Some(deadline_ms) => next_ms = next_ms.min(deadline_ms),
                None => {}
            }
            if connection.is_over_limit(unix_ms) {
                late.push(slot);
            }
            connection.shrink_if_idle(now_ms.saturating_sub(period_ms));
        }
        for slot in late {
            debug!("a connection was closed at its deadline or for too much output");
            self.close(slot);
        }
        self.next_sweep_ms = next_ms;
    }

    /// Adds to the server's counters.
    fn count(&mut self) {
        let counters = &self.gateway.server.shared.counters;
        if self.input_bytes > 0 {
            counters.input_bytes.fetch_add(std::mem::take(&mut self.input_bytes), Ordering::Relaxed);
        }
        if self.output_bytes > 0 {
            counters.output_bytes.fetch_add(std::mem::take(&mut self.output_bytes), Ordering::Relaxed);
        }
    }

    /// Sends the replies of all requests that have run, without reading more, and closes the connections.
    fn finish(&mut self, events: &mut Events) {
        let end_ms = clock::steady_ms() + whole_ms(STOP_GRACE);
        loop {
            self.release_synced();
            // Nobody waits for merge any more.
            while let Some((_, slot)) = self.resting.pop_first() {
                self.release(slot);
            }
            self.go_on_sending();
            self.ready.clear();
            let is_done = self.connections.iter().all(|(_, connection)| connection.phase == Phase::Receiving);
            if is_done || self.now.steady_ms >= end_ms {
                break;
            }
            self.next_sweep_ms = end_ms;
            if self.wait(events).is_err() {
                break;
            }
        }
        self.count();
        self.take_moved();
        let slots: Vec<usize> = self.connections.iter().map(|(slot, _)| slot).collect();
        slots.into_iter().for_each(|slot| self.close(slot));
        let waiting = self.mailbox.take_accepted().len();
        self.gateway.connected.fetch_sub(waiting, Ordering::Relaxed);
    }
}

/// When a connection is to be closed if it goes on as now, as a steady time in milliseconds.
fn deadline_ms(connection: &Connection, gateway: &Gateway) -> Option<u64> {
    let unread_ms = whole_ms(gateway.deadlines.unread_output);
    connection.deadline_ms(&gateway.server.shared, gateway.time_limits(), unread_ms)
}

//! Eviction: where `maxmemory` is set, keys go to make room for others, as Redis does it.
//!
//! Before a command runs, [`Executor::make_room`] compares what is in use with the limit. If it is too much, a few keys are
//! looked at (`maxmemory-samples`), they join the best candidates so far, and the first of those goes, until there is room,
//! none is left or the time is over (`maxmemory-eviction-tenacity`). A key that goes is deleted through the same commit
//! boundary as everything else, so it leaves a tombstone in the log, and reactions, watches, caches and blocked connections
//! see it. What one command leaves to do is done by the next ones and by the host's maintenance ([`Eviction`]).
//!
//! In use are the keydir with its short values, the buffers of connections, and what is remembered for these; longer values
//! are on the disk. What was
//! deleted and has yet to be freed does not count: more keys would not make it free sooner.

use std::sync::atomic::Ordering;

use super::commit::is_paused;
use super::upkeep::Upkeep;
use super::{Executor, Stop};
use crate::command::CommandError;
use crate::engine::{Db, Engine, EngineError, Root, Sample, Sampled};
use crate::limits::{
    EVICTION_FAILURES_MAX, EVICTION_LOOKED_MAX, EVICTION_MISSES_MAX, EVICTION_SAMPLES_MAX, EVICTION_STEP_KEYS,
};
use crate::server::hub::notify;
use crate::server::{Candidate, First, MemorySettings, Policy, Server, Shared};

/// Time and connections are looked after once for so many keys, as in Redis.
const KEYS_BETWEEN: u64 = 16;

/// Whether there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// No more is in use than may be.
    Enough,
    /// Keys are going; more of them have to.
    Evicting,
    /// Nothing is left that may go.
    Lacking,
    /// The store takes no changes, so no key can go. Commands that write fail for the same reason, and say so.
    Refused,
}

/// What became of one try.
enum Try {
    Evicted,
    /// The candidate was gone already, or none was found yet.
    Missed,
    /// The candidate could not be deleted.
    Failed,
    /// Others hold the locks of all that may go.
    Busy,
    /// No key may go.
    NoneLeft,
    /// The store takes no changes.
    Refused,
    /// The engine must fetch something first.
    Suspended,
}

/// Evicts keys, for no connection.
pub struct Eviction {
    upkeep: Upkeep,
    pending: Option<Pending>,
    /// Whether the pending key's removal is what waits.
    is_evicting: bool,
    /// Keys that were looked at.
    found: Vec<Candidate>,
}

/// A key whose eviction waits for the engine.
struct Pending {
    db: Db,
    key: Vec<u8>,
    only_expiring: bool,
}

impl Executor {
    /// Makes room for a command, if there is a limit and too much is in use. Where the connection hands over what takes long, a key
    /// whose triggers take long is left to the host's maintenance.
    #[inline]
    pub fn make_room<E: Engine>(&mut self, server: &Server<E>, hands_over: bool, now_ms: u64) {
        let max_bytes = server.shared.settings.memory().max_bytes();
        if max_bytes == 0 {
            return;
        }
        self.make_room_within(server, max_bytes, hands_over, now_ms);
    }

    #[inline(never)]
    fn make_room_within<E: Engine>(
        &mut self,
        server: &Server<E>,
        max_bytes: u64,
        hands_over: bool,
        now_ms: u64,
    ) {
        if used_bytes(server) <= max_bytes {
            note(&server.shared, Room::Enough, now_ms);
            return;
        }
        let eviction = self.eviction.get_or_insert_with(|| Box::new(Eviction::new(&server.shared)));
        eviction.upkeep.client.hands_over = hands_over;
        eviction.step(server, now_ms);
    }

    /// Goes on with an eviction that waits for the engine: commits end in their order, so the connection's own may wait for
    /// it.
    pub fn go_on_evicting<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) {
        if let Some(eviction) = self.eviction.as_mut().filter(|eviction| eviction.is_suspended()) {
            eviction.step(server, now_ms);
        }
    }

    /// Bytes of memory of what evicts keys, about.
    pub fn eviction_bytes(&self) -> u64 {
        if self.eviction.is_some() { size_of::<Eviction>() as u64 } else { 0 }
    }

    /// Forgets an eviction that waits for the engine.
    pub fn forget_eviction<E: Engine>(&mut self, server: &Server<E>) {
        if let Some(eviction) = &mut self.eviction {
            eviction.upkeep.executor.forget_suspended(server);
            eviction.pending = None;
        }
    }
}

impl Eviction {
    /// For a connection, or for a server's maintenance.
    pub fn new(shared: &Shared) -> Eviction {
        let mut upkeep = Upkeep::new(shared);
        // A look at a candidate is no use of it.
        upkeep.client.no_touch = true;
        Eviction { upkeep, pending: None, is_evicting: false, found: Vec::new() }
    }

    /// Says that it has a thread for itself, on which triggers may take their time.
    pub fn set_has_thread(&mut self) {
        self.upkeep.set_has_thread();
    }

    /// Evicts keys as long as too much is in use, for a bounded time.
    pub fn step<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Room {
        let shared = &server.shared;
        let room = self.evict(server, now_ms);
        // Blocked connections may have waited for a key to go.
        self.upkeep.executor.serve_ready(server, now_ms);
        self.upkeep.executor.release();
        note(shared, room, now_ms);
        room
    }

    /// Evicts keys for a bounded time where the storage is nearly full and the server is a cache: it has a limit of memory,
    /// and a policy. So writes go on where they would be refused otherwise.
    pub fn step_for_space<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Room {
        let shared = &server.shared;
        let settings = shared.settings.memory();
        let Some(policy) = settings.policy().filter(|_| settings.max_bytes() > 0) else {
            return Room::Enough;
        };
        if !server.engine.lacks_space() || is_paused(shared, now_ms) || self.is_suspended() {
            return Room::Enough;
        }
        let begin_ns = shared.host.monotonic_ns();
        let room = self.evict_while(server, policy, begin_ns, &|| server.engine.lacks_space(), now_ms);
        self.upkeep.executor.serve_ready(server, now_ms);
        self.upkeep.executor.release();
        room
    }

    /// Whether an eviction waits for the engine.
    fn is_suspended(&self) -> bool {
        self.pending.is_some()
    }

    fn evict<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Room {
        let shared = &server.shared;
        let settings = shared.settings.memory();
        if let Some(pending) = self.pending.take()
            && matches!(self.remove(server, pending, now_ms), Try::Suspended)
        {
            return Room::Evicting;
        }
        let max_bytes = settings.max_bytes();
        let is_over = || max_bytes > 0 && used_bytes(server) > max_bytes;
        // Under a pause nothing changes, and nothing is refused.
        if !is_over() || is_paused(shared, now_ms) {
            return Room::Enough;
        }
        let Some(policy) = settings.policy() else { return Room::Lacking };
        let begin_ns = shared.host.monotonic_ns();
        let room = self.evict_while(server, policy, begin_ns, &is_over, now_ms);
        note_spike(shared, "eviction-cycle", begin_ns, now_ms);
        room
    }

    /// Evicts keys for as long as there is too much, in a time that began at `begin_ns`.
    fn evict_while<E: Engine>(
        &mut self,
        server: &Server<E>,
        policy: Policy,
        begin_ns: u64,
        is_over: &dyn Fn() -> bool,
        now_ms: u64,
    ) -> Room {
        let shared = &server.shared;
        let time = shared.settings.memory().eviction_time();
        let end_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (mut missed, mut failed) = (0, 0);
        for tried in 1_u64.. {
            match self.try_one(server, policy, now_ms) {
                Try::Evicted => (missed, failed) = (0, 0),
                Try::Missed => missed += 1,
                Try::Failed => failed += 1,
                Try::Busy | Try::Suspended => return Room::Evicting,
                Try::NoneLeft => return Room::Lacking,
                Try::Refused => return Room::Refused,
            }
            if !is_over() {
                break;
            }
            if failed >= EVICTION_FAILURES_MAX {
                return Room::Lacking;
            }
            let is_late = || match shared.host.monotonic_ns() {
                // A home without a clock counts.
                0 => tried >= EVICTION_STEP_KEYS,
                present_ns => present_ns.saturating_sub(begin_ns) > end_ns,
            };
            // A search for rare keys takes longer than to delete one.
            let looks_at_clock = missed > 0 || tried.is_multiple_of(KEYS_BETWEEN);
            if missed >= EVICTION_MISSES_MAX || looks_at_clock && is_late() {
                return Room::Evicting;
            }
        }
        Room::Enough
    }

    fn try_one<E: Engine>(&mut self, server: &Server<E>, policy: Policy, now_ms: u64) -> Try {
        let (db, key) = match self.choose(server, policy, now_ms) {
            Choice::Key(db, key) => (db, key),
            Choice::NotFound => return Try::Missed,
            Choice::AllFailed => return Try::Failed,
            Choice::Busy => return Try::Busy,
            Choice::NoneLeft => return Try::NoneLeft,
        };
        let begin_ns = server.shared.host.monotonic_ns();
        let tried = self.remove(server, Pending { db, key, only_expiring: policy.only_expiring }, now_ms);
        note_spike(&server.shared, "eviction-del", begin_ns, now_ms);
        tried
    }

    /// The next key to go. Keys are looked at before the pool is locked: to look may take long, and others evict meanwhile.
    fn choose<E: Engine>(&mut self, server: &Server<E>, policy: Policy, now_ms: u64) -> Choice {
        let settings = server.shared.settings.memory();
        let is_random = policy.first == First::Random;
        let sample = Sample {
            random: server.shared.memory.pool.lock().random.u64(..),
            count: if is_random { 1 } else { settings.samples().clamp(1, EVICTION_SAMPLES_MAX) },
            only_expiring: policy.only_expiring,
            looked_max: EVICTION_LOOKED_MAX,
        };
        let found = &mut self.found;
        found.clear();
        let sampled = server.engine.sample_keys(&sample, &mut |db, key, root| {
            found.push(Candidate { rank: rank(settings, policy.first, root, now_ms), db, key: key.to_vec() });
        });
        // An engine that cannot look has nothing to show.
        let sampled = sampled.unwrap_or(Sampled::NoneLeft);
        let mut pool = server.shared.memory.pool.lock();
        let chosen = if is_random {
            // The databases take turns, as in Redis.
            let last_db = pool.last_db;
            found.retain(|candidate| !pool.has_failed(candidate.db, &candidate.key));
            let next = found.drain(..).min_by_key(|candidate| (candidate.db <= last_db, candidate.db));
            next.inspect(|candidate| pool.last_db = candidate.db)
        } else {
            pool.follow(policy);
            found.drain(..).for_each(|candidate| pool.offer(candidate));
            pool.take(|candidate| !server.engine.is_busy(candidate.db, &candidate.key))
        };
        match (chosen, sampled) {
            (Some(candidate), _) => Choice::Key(candidate.db, candidate.key),
            (None, Sampled::Searching) => Choice::NotFound,
            (None, Sampled::NoneLeft) if pool.is_empty() || is_random => Choice::NoneLeft,
            (None, Sampled::Found) if pool.is_empty() || is_random => Choice::AllFailed,
            (None, _) => Choice::Busy,
        }
    }

    /// Deletes a key, unless it is gone or has lost the expiry because of which it was chosen.
    fn remove<E: Engine>(&mut self, server: &Server<E>, pending: Pending, now_ms: u64) -> Try {
        let (db, key) = (pending.db, pending.key.as_slice());
        self.upkeep.client.db = db;
        let mut is_evicted = self.is_evicting;
        let ran = self.upkeep.change(server, key, now_ms, |ctx| {
            let root = ctx.txn.root(db, key)?;
            is_evicted = root.is_some_and(|root| !pending.only_expiring || root.expires_at_ms.is_some());
            if is_evicted {
                ctx.txn.remove(db, key)?;
                ctx.notify(notify::EVICTED, "evicted", key);
            }
            Ok(())
        });
        self.is_evicting = false;
        match ran {
            Ok(_) if is_evicted => {
                server.shared.memory.evicted_keys.fetch_add(1, Ordering::Relaxed);
                Try::Evicted
            }
            Ok(_) => Try::Missed,
            // Its triggers take long. They are run where nobody waits for them.
            Err(Stop::Suspended) if std::mem::take(&mut self.upkeep.client.takes_long) => Try::Busy,
            // A transaction has begun to hold its lock for long. Other keys may go.
            Err(Stop::Suspended) if server.engine.is_busy(db, key) => {
                self.upkeep.executor.forget_suspended(server);
                Try::Busy
            }
            Err(Stop::Suspended) => {
                (self.pending, self.is_evicting) = (Some(pending), is_evicted);
                Try::Suspended
            }
            Err(Stop::Error(CommandError::Engine(
                EngineError::Full(_)
                | EngineError::ReadOnly(_)
                | EngineError::OpenedToRead
                | EngineError::Exhausted(_),
            ))) => Try::Refused,
            // Something about this key: others may go.
            Err(Stop::Error(_)) => {
                server.shared.memory.pool.lock().note_failed(pending.db, pending.key);
                Try::Failed
            }
        }
    }
}

/// Bytes in use that count against `maxmemory`.
#[inline]
pub fn used_bytes<E: Engine>(server: &Server<E>) -> u64 {
    let keys = server.engine.held_bytes().saturating_sub(server.engine.garbage_bytes());
    keys + server.shared.overhead_bytes()
}

fn note(shared: &Shared, room: Room, now_ms: u64) {
    shared.memory.note_exceeded(room != Room::Enough, now_ms);
    shared.set_memory_exceeded(room == Room::Lacking);
}

/// Tells the latency monitor of an event of eviction that took long.
fn note_spike(shared: &Shared, event: &'static str, begin_ns: u64, now_ms: u64) {
    let threshold_ms = shared.settings.latency_threshold_ms();
    if threshold_ms == 0 {
        return;
    }
    let took_ms = shared.host.monotonic_ns().saturating_sub(begin_ns) / 1_000_000;
    if took_ms >= threshold_ms {
        shared.latency.add(event, now_ms / 1000, took_ms);
    }
}

/// The outcome of a search for the next key to go.
enum Choice {
    Key(Db, Vec<u8>),
    /// There may be one, but it was not found yet.
    NotFound,
    /// Those that were found could not be deleted before.
    AllFailed,
    /// Others hold the locks of all that may go.
    Busy,
    NoneLeft,
}

/// The larger, the sooner a key goes.
fn rank(settings: &MemorySettings, first: First, root: &Root, now_ms: u64) -> u64 {
    match first {
        First::LeastRecent => u64::from(root.idle_s(now_ms)),
        First::LeastFrequent => u64::from(u8::MAX - settings.decay(now_ms).counter(root.access)),
        First::SoonestExpired => u64::MAX - root.expires_at_ms.unwrap_or(u64::MAX),
        First::Random => 0,
    }
}

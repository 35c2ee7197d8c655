//! Background work on a store: collecting expired keys, evicting what commands left to do, freeing keydir garbage; merging
//! datafiles, writing hints and checkpoints, scrubbing; what search indexes need.
//!
//! Three threads do it, one what is about keys, one what is about the log and one what is about indexes. Work on keys leaves out shards that a transaction holds
//! for long. Merge and hints cannot: they need every shard, and wait for one that a script holds; keys expire and go meanwhile.
//!
//! Each works in small steps and rests after each step for at least as long as the step took. So it takes
//! at most half of one processor and follows the speed of the disk. The one of the log takes all of one while writers are slowed
//! down because merge is left behind, or are about to be ([`crate::brake`]). Clients never wait for these threads, only for the
//! short locks that their steps take.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use edgecask_core::engine::{Engine, EngineError};
use edgecask_core::executor::{Eviction, Expiry, Indexing, Room};
use edgecask_core::server::Server;
use edgecask_core::server::search::Progress;
use parking_lot::{Condvar, Mutex};
use tracing::{error, info, warn};

use crate::allocator::{self, Trim};
use crate::brake::{Brake, Debt};
use crate::clock::now_ms;
use crate::limits::{
    BRAKED_PERIOD, CALM_PERIOD, EXPIRE_STEP_KEYS, GARBAGE_STEP, HINT_RETRY_MAX, MAINTENANCE_PERIOD,
    MERGE_RETRY_MAX, MERGE_STEP_BYTES, REST_PER_HINTS, REST_PER_WORK, SEALED_AT_STOP_MIN,
    STORING_AT_STOP_MAX, TRIMMED_GARBAGE_BYTES, UNHINTED_MUCH_BYTES, WORK_PER_HINTS,
};
use crate::scrub::{ScrubRequest, Scrubbed, Scrubber};
use crate::store::{Durable, Maintain};

/// Requests to the maintenance threads.
#[derive(Default)]
pub struct Maintenance {
    /// The request to scrub.
    pub scrub: ScrubRequest,
    asked: Mutex<Asked>,
    wake: Condvar,
    /// Wakes the threads of the keys and of a cluster, which are only ever asked to stop.
    wake_keys: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Asked {
    checkpoint: bool,
    /// To end the present rest, or the next one if there is none.
    wake: bool,
    stop: bool,
}

impl Maintenance {
    /// Asks for a checkpoint soon; two requests before it begins are one.
    pub fn ask_for_checkpoint(&self) {
        self.asked.lock().checkpoint = true;
        self.wake.notify_one();
    }

    /// Ends the present rest of the thread of the log; if it is at work, its next one.
    pub fn wake(&self) {
        self.asked.lock().wake = true;
        self.wake.notify_one();
    }

    /// Ends the threads after their current steps.
    pub fn stop(&self) {
        self.asked.lock().stop = true;
        self.wake.notify_one();
        self.wake_keys.notify_all();
    }

    /// The loop of the thread of the keys.
    pub fn run_keys<E: Engine + Maintain>(&self, server: &Server<E>, trim: &Trim) {
        let mut keys = Keys::new(server);
        let mut rest = MAINTENANCE_PERIOD;
        let mut next_sample = Instant::now();
        while !self.rest_keys(rest) {
            let begin = Instant::now();
            if begin >= next_sample {
                server.shared.sample_rates(now_ms());
                trim.fulfil(now_ms());
                let shared = &server.shared;
                let counted_bytes = server.engine.held_bytes() + shared.overhead_bytes();
                shared.memory.note_counted(counted_bytes);
                allocator::grow(counted_bytes);
                next_sample = begin + MAINTENANCE_PERIOD;
            }
            let has_more = keys.step(server, trim);
            rest = if has_more { begin.elapsed() * REST_PER_WORK } else { MAINTENANCE_PERIOD };
        }
    }

    /// The loop of the thread of the log.
    pub fn run_log<E: Engine + Maintain + Durable + Scrubbed>(&self, server: &Server<E>, brake: &Brake) {
        let mut merge = Merge { retry: Retry::new(MERGE_RETRY_MAX) };
        let mut hints = Hints::default();
        let (mut refusal, mut slowed) = (Spell::default(), Spell::default());
        let mut scrubber = Scrubber::default();
        let mut rest = MAINTENANCE_PERIOD;
        let mut next_rest = Instant::now();
        loop {
            let asked = self.rest(rest);
            if asked.stop {
                return;
            }
            if asked.checkpoint {
                write_checkpoint(server);
            }
            let begin = Instant::now();
            if begin >= next_rest {
                server.engine.rest();
                next_rest = begin + MAINTENANCE_PERIOD;
            }
            let has_more = merge.step(server);
            // Where writers are slowed down the next datafile to merge is about to be sealed.
            let has_work = has_more || brake.is_on();
            let has_hinted = hints.step(server, has_work.then(|| begin.elapsed()));
            let is_idle = !has_more && !brake.is_on();
            let scrubbed = is_idle.then(|| scrubber.step(server, &self.scrub)).flatten();
            note_refusal(&mut refusal, server.engine.refusal());
            let debt = Debt::of(&server.engine);
            brake.observe(debt);
            note_brake(&mut slowed, brake, debt);
            let is_unhinted = || server.engine.unhinted_bytes() > UNHINTED_MUCH_BYTES;
            rest = match has_more {
                // Writers wait for it.
                true if brake.is_on() => Duration::ZERO,
                true => begin.elapsed() * REST_PER_WORK,
                // There may be something to merge at any moment.
                false if brake.is_on() => BRAKED_PERIOD,
                false if has_hinted && is_unhinted() => begin.elapsed() * REST_PER_WORK,
                false if has_hinted => begin.elapsed() * REST_PER_HINTS,
                false => scrubbed.map_or(MAINTENANCE_PERIOD, |rest| rest.min(MAINTENANCE_PERIOD)),
            };
        }
    }

    /// The loop of the thread of search indexes.
    pub fn run_indexes<E: Engine>(&self, server: &Server<E>) {
        let mut indexing = Indexing::new(&server.shared);
        indexing.set_has_thread();
        let mut rest = MAINTENANCE_PERIOD;
        while !self.rest_keys(rest) {
            let begin = Instant::now();
            // An error here means that the store is read-only or full, which the next write reports.
            let has_more = indexing.step(server, now_ms()).unwrap_or(false);
            rest = match has_more {
                // Searches fail until it is done.
                true if has_rebuild(server) => Duration::ZERO,
                true => begin.elapsed() * REST_PER_WORK,
                false => MAINTENANCE_PERIOD,
            };
        }
        // Nobody writes any more, and the next start reads again what is in no segment.
        server.shared.search.seal_deltas(SEALED_AT_STOP_MIN);
        let begin = Instant::now();
        while begin.elapsed() < STORING_AT_STOP_MAX && Indexing::store_step(server).unwrap_or(false) {}
    }

    /// Lets a thread rest that is only ever asked to stop; true once it is to end.
    pub(crate) fn rest_keys(&self, duration: Duration) -> bool {
        let mut asked = self.asked.lock();
        if !asked.stop {
            self.wake_keys.wait_for(&mut asked, duration);
        }
        asked.stop
    }

    fn rest(&self, duration: Duration) -> Asked {
        let mut asked = self.asked.lock();
        if !asked.stop && !asked.checkpoint && !asked.wake {
            self.wake.wait_for(&mut asked, duration);
        }
        let found = *asked;
        (asked.checkpoint, asked.wake) = (false, false);
        found
    }
}

/// Whether documents of an index are read again.
fn has_rebuild<E: Engine>(server: &Server<E>) -> bool {
    let present = server.shared.search.present();
    present.iter().any(|index| matches!(index.contents.progress(), Progress::Rebuilding { .. }))
}

/// The state of the work on keys.
struct Keys {
    expiry: Expiry,
    eviction: Eviction,
    /// The most garbage that there was since memory was last given back, in bytes.
    garbage_bytes: u64,
}

impl Keys {
    fn new<E>(server: &Server<E>) -> Keys {
        let mut expiry = Expiry::new(&server.shared);
        let mut eviction = Eviction::new(&server.shared);
        expiry.set_has_thread();
        eviction.set_has_thread();
        Keys { expiry, eviction, garbage_bytes: 0 }
    }

    /// Does one step of each kind of work; true if any of them has more to do at once.
    fn step<E: Engine + Maintain>(&mut self, server: &Server<E>, trim: &Trim) -> bool {
        let mut has_more = false;
        // In a cluster another thread removes them, and here only those are served who wait.
        let budget = if server.engine.holds_locks() { EXPIRE_STEP_KEYS } else { 0 };
        // An error here means that the store is read-only or full, which the next write reports.
        if server.shared.expires_actively.load(Ordering::Relaxed)
            && let Ok(expired) = self.expiry.step(server, now_ms(), budget)
        {
            has_more |= expired.has_more && expired.keys > 0;
        }
        has_more |= self.eviction.step(server, now_ms()) == Room::Evicting;
        has_more |= self.eviction.step_for_space(server, now_ms()) == Room::Evicting;
        server.shared.evict_clients(now_ms());
        server.shared.sql_streams.drop_idle(now_ms());
        has_more | self.free(server, trim)
    }

    /// Frees some garbage. When much of it was there and all is gone, the memory goes back to the system: before, hardly a
    /// page of the allocator is free as a whole.
    fn free<E: Engine + Maintain>(&mut self, server: &Server<E>, trim: &Trim) -> bool {
        self.garbage_bytes = self.garbage_bytes.max(server.engine.garbage_bytes());
        let has_more = server.engine.garbage_step(GARBAGE_STEP);
        if server.engine.garbage_bytes() == 0
            && std::mem::take(&mut self.garbage_bytes) >= TRIMMED_GARBAGE_BYTES
        {
            trim.ask();
            allocator::give_back();
        }
        has_more
    }
}

/// The work of merging.
struct Merge {
    /// When it is tried again after it has failed.
    retry: Retry,
}

impl Merge {
    /// Does one step; true if there is more to do at once.
    fn step<E: Maintain>(&mut self, server: &Server<E>) -> bool {
        // A store that cannot remove blobs cannot be written to either.
        let _ = server.engine.blob_step();
        if !self.retry.is_due() {
            server.engine.look_at_room();
            return false;
        }
        match server.engine.merge_step(MERGE_STEP_BYTES) {
            Ok(has_more) => {
                self.retry.has_worked();
                server.shared.merge_failed.store(false, Ordering::Relaxed);
                has_more
            }
            Err(error) => {
                server.shared.merge_failed.store(true, Ordering::Relaxed);
                if self.retry.has_failed() {
                    warn!(%error, "merging datafiles does not work at the moment");
                }
                false
            }
        }
    }
}

/// The writing of hints. While merge has work they get their share of the time once many bytes have none, because a store that
/// is overwritten all the time would have none otherwise, and the next start after a crash would read everything.
struct Hints {
    retry: Retry,
    /// How long the last step took, and how long other work has taken since.
    took: Duration,
    worked: Duration,
}

impl Default for Hints {
    fn default() -> Hints {
        Hints { retry: Retry::new(HINT_RETRY_MAX), took: Duration::ZERO, worked: Duration::ZERO }
    }
}

impl Hints {
    /// Writes hints of one datafile if it is their turn; true if it did. `worked` is how long other work took that is not
    /// done yet.
    fn step<E: Engine + Maintain>(&mut self, server: &Server<E>, worked: Option<Duration>) -> bool {
        if let Some(worked) = worked {
            self.worked += worked;
            let is_early = self.worked < self.took * WORK_PER_HINTS;
            if is_early || server.engine.unhinted_bytes() <= UNHINTED_MUCH_BYTES {
                return false;
            }
        }
        // Where the disk is full hints would only take room, and what they cover is about to change.
        if !self.retry.is_due() || server.engine.refusal().is_some() {
            return false;
        }
        let begin = Instant::now();
        let outcome = server.engine.hint_step();
        (self.took, self.worked) = (begin.elapsed(), Duration::ZERO);
        match outcome {
            Ok(has_hinted) => {
                self.retry.has_worked();
                has_hinted
            }
            Err(error) => {
                if self.retry.has_failed() {
                    warn!(%error, "hints cannot be written, so the next start will take longer");
                }
                false
            }
        }
    }
}

/// Work that may fail and is tried again, ever more seldom.
struct Retry {
    most: Duration,
    /// When it may be tried again, and how long was waited for that; none while it works.
    failed: Option<(Instant, Duration)>,
}

impl Retry {
    /// Work that is tried again after `most` at the latest.
    fn new(most: Duration) -> Retry {
        Retry { most, failed: None }
    }

    fn is_due(&self) -> bool {
        self.failed.is_none_or(|(next, _)| next <= Instant::now())
    }

    fn has_worked(&mut self) {
        self.failed = None;
    }

    /// True the first time in a row, when the operator should learn of it.
    fn has_failed(&mut self) -> bool {
        let pause = self.failed.map_or(MAINTENANCE_PERIOD, |(_, pause)| (pause * 2).min(self.most));
        self.failed.replace((Instant::now() + pause, pause)).is_none()
    }
}

/// A state that comes and goes, perhaps many times a second, and should make two lines of the log.
#[derive(Default)]
struct Spell {
    is_announced: bool,
    /// Since when it is over.
    over: Option<Instant>,
}

impl Spell {
    /// Follows the state; tells when its beginning is to be announced, with true, and its end.
    fn follow(&mut self, is_on: bool, now: Instant) -> Option<bool> {
        if is_on {
            self.over = None;
            return (!std::mem::replace(&mut self.is_announced, true)).then_some(true);
        }
        let over = *self.over.get_or_insert(now);
        let has_ended = self.is_announced && now.duration_since(over) >= CALM_PERIOD;
        self.is_announced &= !has_ended;
        has_ended.then_some(false)
    }
}

/// Logs when refusals of writes begin, and when they end.
fn note_refusal(spell: &mut Spell, refusal: Option<EngineError>) {
    match (spell.follow(refusal.is_some(), Instant::now()), refusal) {
        (Some(true), Some(error)) => error!(%error, "writes are refused"),
        (Some(false), _) => info!("writes are accepted again"),
        _ => {}
    }
}

/// Logs when writers begin to be slowed down, and when they are not any more.
fn note_brake(spell: &mut Spell, brake: &Brake, debt: Debt) {
    let Debt { used_bytes, live_bytes, .. } = debt;
    match spell.follow(brake.is_on(), Instant::now()) {
        Some(true) => warn!(
            used_bytes,
            live_bytes,
            bytes_per_second = brake.speed().unwrap_or_default(),
            "writers are slowed down, because they overwrite faster than merge frees"
        ),
        Some(false) => info!("writers are not slowed down any more"),
        None => {}
    }
}

fn write_checkpoint<E: Engine + Maintain>(server: &Server<E>) {
    let begin = Instant::now();
    let changes = server.shared.counters.changes.load(Ordering::Relaxed);
    match Maintain::checkpoint(&server.engine, now_ms()) {
        Ok(()) => {
            server.shared.saved(changes, now_ms());
            info!(took_ms = begin.elapsed().as_millis() as u64, "checkpoint written");
        }
        Err(error) => {
            server.shared.save_failed.store(true, Ordering::Relaxed);
            warn!(%error, "the checkpoint could not be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_that_flickers_fills_the_log() {
        let (begin, mut spell) = (Instant::now(), Spell::default());
        let at = |tenths: u32| begin + Duration::from_millis(100) * tenths;
        let mut announced: Vec<(u32, bool)> = Vec::new();
        for tenths in 0..200 {
            let is_on = (10..100).contains(&tenths) && tenths % 3 == 0;
            announced.extend(spell.follow(is_on, at(tenths)).map(|is_on| (tenths, is_on)));
        }
        // The last time was at 99.
        assert_eq!(announced, [(12, true), (130, false)]);
    }

    #[test]
    fn work_that_fails_is_tried_all_the_time() {
        let mut retry = Retry::new(Duration::from_secs(60));
        assert!(retry.is_due() && retry.has_failed(), "the first failure is announced");
        assert!(!retry.is_due() && (0..20).all(|_| !retry.has_failed()));
        assert_eq!(retry.failed.map(|(_, pause)| pause), Some(Duration::from_secs(60)));
        retry.has_worked();
        assert!(retry.is_due() && retry.has_failed());
    }
}

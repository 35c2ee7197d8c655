//! Background work on a store: collecting expired keys, evicting what commands left to do, merging datafiles, freeing
//! keydir garbage, writing hints and checkpoints, scrubbing.
//!
//! One thread does all of it in small steps and rests after each step for at least as long as the step took. So it takes
//! at most half of one processor and follows the speed of the disk. It takes all of one while writers are slowed down
//! because merge is left behind ([`crate::brake`]). Clients never wait for this thread, only for the short locks that its
//! steps take.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use edgecask_core::engine::{Engine, EngineError};
use edgecask_core::executor::{Eviction, Expiry, Room};
use edgecask_core::server::Server;
use parking_lot::{Condvar, Mutex};
use tracing::{debug, error, info, warn};

use crate::allocator::{self, Trim};
use crate::brake::{Brake, Debt};
use crate::clock::now_ms;
use crate::limits::{
    EXPIRE_STEP_KEYS, GARBAGE_STEP, MAINTENANCE_PERIOD, MERGE_STEP_BYTES, REST_PER_HINTS, REST_PER_WORK,
    TRIMMED_GARBAGE_BYTES, UNHINTED_MUCH_BYTES,
};
use crate::scrub::{ScrubRequest, Scrubbed, Scrubber};
use crate::store::{Durable, Maintain};

/// Requests to the maintenance thread.
#[derive(Default)]
pub struct Maintenance {
    /// The request to scrub.
    pub scrub: ScrubRequest,
    asked: Mutex<Asked>,
    wake: Condvar,
}

#[derive(Clone, Copy, Default)]
struct Asked {
    checkpoint: bool,
    stop: bool,
}

impl Maintenance {
    /// Asks for a checkpoint soon; two requests before it begins are one.
    pub fn ask_for_checkpoint(&self) {
        self.asked.lock().checkpoint = true;
        self.wake.notify_one();
    }

    /// Ends the thread's present rest.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Ends the thread after its current step.
    pub fn stop(&self) {
        self.asked.lock().stop = true;
        self.wake.notify_one();
    }

    /// The loop of the thread.
    pub fn run<E: Engine + Maintain + Durable + Scrubbed>(
        &self,
        server: &Server<E>,
        brake: &Brake,
        trim: &Trim,
    ) {
        let mut work = Work::new(server);
        let mut scrubber = Scrubber::default();
        let mut refusal = None;
        let mut rest = MAINTENANCE_PERIOD;
        let mut next_sample = Instant::now();
        loop {
            let asked = self.rest(rest);
            if asked.stop {
                return;
            }
            if asked.checkpoint {
                write_checkpoint(server);
            }
            let begin = Instant::now();
            if begin >= next_sample {
                server.shared.sample_rates(now_ms());
                trim.fulfil(now_ms());
                let shared = &server.shared;
                shared.memory.note_counted(server.engine.held_bytes() + shared.overhead_bytes());
                next_sample = begin + MAINTENANCE_PERIOD;
            }
            let has_more = work.step(server, trim);
            let has_hinted = !has_more && !brake.is_on() && write_hints(server);
            let is_idle = !has_more && !brake.is_on();
            let scrubbed = is_idle.then(|| scrubber.step(server, &self.scrub)).flatten();
            note_refusal(&mut refusal, server.engine.refusal());
            brake.observe(Debt::of(&server.engine));
            rest = match has_more {
                // Writers wait for it.
                true if brake.is_on() => Duration::ZERO,
                true => begin.elapsed() * REST_PER_WORK,
                false if has_hinted && server.engine.unhinted_bytes() > UNHINTED_MUCH_BYTES => {
                    begin.elapsed() * REST_PER_WORK
                }
                false if has_hinted => begin.elapsed() * REST_PER_HINTS,
                false => scrubbed.map_or(MAINTENANCE_PERIOD, |rest| rest.min(MAINTENANCE_PERIOD)),
            };
        }
    }

    fn rest(&self, duration: Duration) -> Asked {
        let mut asked = self.asked.lock();
        if !asked.stop && !asked.checkpoint {
            self.wake.wait_for(&mut asked, duration);
        }
        let found = *asked;
        asked.checkpoint = false;
        found
    }
}

/// The state of the work.
struct Work {
    expiry: Expiry,
    eviction: Eviction,
    merge_works: bool,
    /// The most garbage that there was since memory was last given back, in bytes.
    garbage_bytes: u64,
}

impl Work {
    fn new<E>(server: &Server<E>) -> Work {
        Work {
            expiry: Expiry::new(&server.shared),
            eviction: Eviction::new(&server.shared),
            merge_works: true,
            garbage_bytes: 0,
        }
    }

    /// Does one step of each kind of work; true if any of them has more to do at once.
    fn step<E: Engine + Maintain>(&mut self, server: &Server<E>, trim: &Trim) -> bool {
        let mut has_more = false;
        // An error here means that the store is read-only or full, which the next write reports.
        if server.shared.expires_actively.load(Ordering::Relaxed)
            && let Ok(expired) = self.expiry.step(server, now_ms(), EXPIRE_STEP_KEYS)
        {
            has_more |= expired.has_more && expired.keys > 0;
        }
        has_more |= self.eviction.step(server, now_ms()) == Room::Evicting;
        has_more |= self.eviction.step_for_space(server, now_ms()) == Room::Evicting;
        server.shared.evict_clients(now_ms());
        has_more |= self.free(server, trim);
        // A store that cannot remove blobs cannot be written to either.
        let _ = server.engine.blob_step();
        match server.engine.merge_step(MERGE_STEP_BYTES) {
            Ok(more) => {
                self.merge_works = true;
                server.shared.merge_failed.store(false, Ordering::Relaxed);
                has_more |= more;
            }
            Err(error) => {
                server.shared.merge_failed.store(true, Ordering::Relaxed);
                // Once for each failure, not ten times a second.
                if std::mem::take(&mut self.merge_works) {
                    warn!(%error, "merging datafiles does not work at the moment");
                }
            }
        }
        has_more
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

/// Writes hints of one datafile while there is nothing else to do; true if it did.
fn write_hints<E: Engine + Maintain>(server: &Server<E>) -> bool {
    // Where the disk is full hints would only take room, and what they cover is about to change.
    if server.engine.refusal().is_some() {
        return false;
    }
    server.engine.hint_step().unwrap_or_else(|error| {
        debug!(%error, "hints were not written");
        false
    })
}

/// Logs when refusals of writes begin, and when they end.
fn note_refusal(known: &mut Option<EngineError>, now: Option<EngineError>) {
    match (known.as_ref(), &now) {
        (None, Some(error)) => error!(%error, "writes are refused"),
        (Some(_), None) => info!("writes are accepted again"),
        _ => {}
    }
    *known = now;
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

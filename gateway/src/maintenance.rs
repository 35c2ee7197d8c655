//! Background work on a store: collecting expired keys, merging datafiles, freeing keydir garbage, writing checkpoints.
//!
//! One thread does all of it in small steps and rests after each step for at least as long as the step took. So it takes
//! at most half of one processor and follows the speed of the disk. It takes all of one while writers are slowed down
//! because merge is left behind ([`crate::brake`]). Clients never wait for this thread, only for the short locks that its
//! steps take.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use edgecask_core::engine::{Engine, EngineError};
use edgecask_core::executor::Expiry;
use edgecask_core::server::Server;
use parking_lot::{Condvar, Mutex};
use tracing::{debug, error, info, warn};

use crate::brake::{Brake, Debt};
use crate::clock::now_ms;
use crate::limits::{
    EXPIRE_STEP_KEYS, GARBAGE_STEP, MAINTENANCE_PERIOD, MERGE_STEP_BYTES, REST_PER_HINTS, REST_PER_WORK,
    UNHINTED_MUCH_BYTES,
};
use crate::store::{Durable, Maintain};

/// Requests to the maintenance thread.
#[derive(Default)]
pub struct Maintenance {
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
    pub fn run<E: Engine + Maintain + Durable>(&self, server: &Server<E>, brake: &Brake) {
        let mut merge_works = true;
        let mut refusal = None;
        let mut expiry = Expiry::new(&server.shared);
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
                next_sample = begin + MAINTENANCE_PERIOD;
            }
            let has_more = step(server, &mut expiry, &mut merge_works);
            let has_hinted = !has_more && !brake.is_on() && write_hints(server);
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
                false => MAINTENANCE_PERIOD,
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

/// Does one step of each kind of work; true if any of them has more to do at once.
fn step<E: Engine + Maintain>(server: &Server<E>, expiry: &mut Expiry, merge_works: &mut bool) -> bool {
    let mut has_more = false;
    // An error here means that the store is read-only or full, which the next write reports.
    if server.shared.expires_actively.load(Ordering::Relaxed)
        && let Ok(expired) = expiry.step(server, now_ms(), EXPIRE_STEP_KEYS)
    {
        has_more |= expired.has_more && expired.keys > 0;
    }
    has_more |= server.engine.garbage_step(GARBAGE_STEP);
    // A store that cannot remove blobs cannot be written to either.
    let _ = server.engine.blob_step();
    match server.engine.merge_step(MERGE_STEP_BYTES) {
        Ok(more) => {
            *merge_works = true;
            server.shared.merge_failed.store(false, Ordering::Relaxed);
            has_more |= more;
        }
        Err(error) => {
            server.shared.merge_failed.store(true, Ordering::Relaxed);
            // Once for each failure, not ten times a second.
            if std::mem::take(merge_works) {
                warn!(%error, "merging datafiles does not work at the moment");
            }
        }
    }
    has_more
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

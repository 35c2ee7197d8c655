//! When everything is scrubbed, and how fast: `scrub-interval-days` after the last scrub ended, or when it is asked for, in steps
//! that keep to `scrub-bytes-per-second`. The maintenance thread of the log does the steps ([`crate::maintenance`]) while it has nothing
//! better to do; the core reads and compares ([`edgecask_core::bitcask::Bitcask::scrub_step`]).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use edgecask_core::bitcask::{ScrubStep, Scrubbing};
use edgecask_core::server::{Server, Settings};
use edgecask_core::storage::StorageError;
use tracing::{debug, error, info};

use crate::clock::now_ms;
use crate::store::Store;

/// At most so many steps a second: a scrub that reads little at a time wastes its time with beginning.
const STEPS_PER_SECOND: u64 = 16;

/// A step reads no less than four pieces of a blob, each of which has a checksum of its own, and no more than a few
/// milliseconds' worth.
const STEP_MIN_BYTES: u64 = 256 * 1024;
const STEP_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Between two looks whether a scrub is due.
const LOOK_PERIOD: Duration = Duration::from_secs(10);

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The calls that scrubbing needs.
pub trait Scrubbed {
    /// Begins a scrub; false if one is under way.
    fn begin_scrub(&self) -> bool;

    /// Reads about `budget_bytes` more.
    fn scrub_step(&self, budget_bytes: u64, now_ms: u64) -> ScrubStep;

    /// What is known of scrubs.
    fn scrubbing(&self) -> Scrubbing;

    /// When the last scrub ended.
    ///
    /// # Errors
    /// The metadata map fails.
    fn scrub_ended_at_ms(&self, now_ms: u64) -> Result<u64, StorageError>;
}

impl Scrubbed for Store {
    fn begin_scrub(&self) -> bool {
        (**self).begin_scrub()
    }

    fn scrub_step(&self, budget_bytes: u64, now_ms: u64) -> ScrubStep {
        (**self).scrub_step(budget_bytes, now_ms)
    }

    fn scrubbing(&self) -> Scrubbing {
        (**self).scrubbing()
    }

    fn scrub_ended_at_ms(&self, now_ms: u64) -> Result<u64, StorageError> {
        (**self).scrub_ended_at_ms(now_ms)
    }
}

/// A scrub that somebody asked for and that has not begun.
#[derive(Default)]
pub struct ScrubRequest(AtomicBool);

impl ScrubRequest {
    /// Asks for one.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

/// The schedule.
pub struct Scrubber {
    next_look: Instant,
    is_on: bool,
}

impl Default for Scrubber {
    fn default() -> Scrubber {
        Scrubber { next_look: Instant::now(), is_on: false }
    }
}

impl Scrubber {
    /// Does a step of the scrub that is under way, or begins one that is due; returns how long to rest until the next step.
    /// None if there is nothing to scrub now.
    pub fn step<E: Scrubbed>(&mut self, server: &Server<E>, request: &ScrubRequest) -> Option<Duration> {
        let settings = &server.shared.settings;
        let rate = number(settings, "scrub-bytes-per-second");
        if rate == 0 {
            return None;
        }
        if !self.is_on {
            let is_asked = request.take();
            if !is_asked && !self.is_due(settings, &server.engine) {
                return None;
            }
            self.is_on = server.engine.begin_scrub();
            info!(bytes = server.engine.scrubbing().all_bytes, is_asked, "scrubbing begins");
        }
        let begin = Instant::now();
        let budget = (rate / STEPS_PER_SECOND).clamp(STEP_MIN_BYTES, STEP_MAX_BYTES);
        let mut bytes = 0;
        // Steps between files read nothing.
        while self.is_on
            && bytes < budget
            && begin.elapsed() < Duration::from_secs(1) / STEPS_PER_SECOND as u32
        {
            let step = server.engine.scrub_step(budget - bytes, now_ms());
            bytes += step.bytes;
            for finding in &step.findings {
                error!("scrubbing found damage: {finding}");
            }
            if step.has_ended {
                let Scrubbing { findings, .. } = server.engine.scrubbing();
                info!(findings, "scrubbing ended");
                self.is_on = false;
            }
        }
        let took = begin.elapsed();
        // At least as long as it worked.
        Some(Duration::from_secs_f64(bytes as f64 / rate as f64).saturating_sub(took).max(took))
    }

    fn is_due<E: Scrubbed>(&mut self, settings: &Settings, engine: &E) -> bool {
        let days = number(settings, "scrub-interval-days");
        if days == 0 || Instant::now() < self.next_look {
            return false;
        }
        self.next_look = Instant::now() + LOOK_PERIOD;
        let now_ms = now_ms();
        match engine.scrub_ended_at_ms(now_ms) {
            Ok(ended_at_ms) => now_ms >= ended_at_ms.saturating_add(days.saturating_mul(DAY_MS)),
            Err(error) => {
                debug!(%error, "nobody knows when the store was scrubbed");
                false
            }
        }
    }
}

fn number(settings: &Settings, name: &str) -> u64 {
    u64::try_from(settings.number(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use edgecask_core::server::Shared;

    use super::*;
    use crate::process_info::ProcessInfo;

    /// A store whose scrub never ends and reads what it may.
    struct Endless {
        ended_at_ms: u64,
        begun: AtomicU64,
    }

    impl Scrubbed for Endless {
        fn begin_scrub(&self) -> bool {
            self.begun.fetch_add(1, Ordering::Relaxed) == 0
        }

        fn scrub_step(&self, budget_bytes: u64, _now_ms: u64) -> ScrubStep {
            ScrubStep { bytes: budget_bytes, ..ScrubStep::default() }
        }

        fn scrubbing(&self) -> Scrubbing {
            Scrubbing::default()
        }

        fn scrub_ended_at_ms(&self, _now_ms: u64) -> Result<u64, StorageError> {
            Ok(self.ended_at_ms)
        }
    }

    fn server(days_ago: u64, rate: &str, interval: &str) -> Server<Endless> {
        let settings =
            [("scrub-bytes-per-second", rate.to_owned()), ("scrub-interval-days", interval.to_owned())];
        let settings = Settings::new(&settings).expect("settings");
        let shared = Shared::new(
            settings,
            Box::new(ProcessInfo::new(0, None, 0, Default::default(), Default::default())),
            0,
        );
        let ended_at_ms = now_ms() - days_ago * DAY_MS;
        Server { engine: Endless { ended_at_ms, begun: AtomicU64::new(0) }, shared }
    }

    #[test]
    fn scrub_begins_when_it_is_due_or_asked_for() {
        for (days_ago, rate, interval, is_asked, begins) in [
            (31, "16mb", "30", false, true),
            (29, "16mb", "30", false, false),
            (29, "16mb", "30", true, true),
            (9999, "16mb", "0", false, false),
            (9999, "16mb", "0", true, true),
            (9999, "0", "30", false, false),
            (9999, "0", "30", true, false),
        ] {
            let server = server(days_ago, rate, interval);
            let request = ScrubRequest::default();
            if is_asked {
                request.ask();
            }
            let rest = Scrubber::default().step(&server, &request);
            assert_eq!(rest.is_some(), begins, "{days_ago} {rate} {interval} {is_asked}");
        }
    }

    #[test]
    fn scrub_keeps_to_its_rate() {
        let server = server(31, "16mb", "30");
        let mut scrubber = Scrubber::default();
        for _ in 0..3 {
            // A sixteenth of a second's bytes.
            let rest = scrubber.step(&server, &ScrubRequest::default()).expect("more to do");
            assert!(rest > Duration::from_millis(30) && rest < Duration::from_millis(63), "{rest:?}");
        }
        assert_eq!(server.engine.begun.load(Ordering::Relaxed), 1, "one scrub");
    }
}

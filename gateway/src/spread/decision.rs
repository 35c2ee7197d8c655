//! Decides how many workers serve, from what is seen of the load. Pure: it gets looks, a few tens of milliseconds apart, and gives
//! changes.
//!
//! Whether another worker would bring anything cannot be known from how busy the present ones are. Where a client fills
//! the other processors, or where all requests want one key, more workers only take turns: they cost more and serve less.
//! So a change is a trial. It begins when it could pay, and it stays only if it did:
//!
//! - Workers join when those that serve are occupied nearly all the time and a processor has been idle. They stay if the
//!   requests a second grew.
//! - Workers leave on trial when no processor is idle. They stay away if the requests a second did not fall.
//! - Workers leave for good, without a trial, when fewer have enough time for the load.
//! - Where one worker is full and another one is not, the first gives half of its connections to the other.
//!
//! What failed is tried again later and later, but soon if the load has become another one. What a trial must gain to
//! keep a worker is more than what may be lost without it, so a load that does not change comes to rest.

use std::collections::VecDeque;

/// What was seen since the look before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// How long that was.
    pub elapsed_ms: u64,
    /// For each worker, the part of that time for which it did not wait for events.
    pub occupied: Vec<f64>,
    /// Processors that had nothing to run, on average.
    pub idle: f64,
    /// Requests that were served.
    pub requests: u64,
}

/// What is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// So many workers serve from now on.
    Serve(usize),
    /// A worker gives half of its connections to another one.
    Give {
        /// The number of the first.
        giver: usize,
        /// And that of the other.
        taker: usize,
    },
}

/// Looks that are averaged: the system counts idle time in steps of 10 ms, which is too coarse for one look.
const WINDOW_LOOKS: usize = 4;

/// A worker that is occupied for this part of its time is full: asking for events takes some of it in any case.
const FULL: f64 = 0.9;

/// So many idle processors are worth a trial.
const IDLE_ENOUGH: f64 = 0.25;

/// With fewer idle processors than this the machine is full.
const IDLE_NONE: f64 = 0.1;

/// Fewer workers would do if each of them would be occupied for no more than this part of its time.
const SPARE: f64 = 0.7;

/// For how long that must be so: pauses of clients are no reason to move their connections.
const SPARE_MS: u64 = 500;

/// A worker may take connections of a full one if it is occupied for no more than this part of its time.
const HALF_EMPTY: f64 = 0.6;

/// After a change the connections move, which a trial does not count.
const SETTLING_LOOKS: u32 = 1;

/// Looks at the requests a second of a trial.
const TRIAL_LOOKS: u32 = 3;

/// A trial with more workers must gain this part, or [`GAIN_PER_WORKER`] if that is less.
const GAIN: f64 = 0.1;

/// What many workers must gain, as a part of the share of those that joined.
const GAIN_PER_WORKER: f64 = 0.4;

/// A trial with fewer workers may lose this part of what one with more must gain.
const LOSS_PER_GAIN: f64 = 0.5;

/// A trial that loses this part is ended at once.
const PLAIN_LOSS: f64 = 0.2;

/// What failed is tried again after this time, and after twice as long each time that it fails again, up to the longest.
const RETRY_MS: u64 = 1_000;
const RETRY_LONGEST_MS: u64 = 32_000;

/// A load is another one if a request takes a worker so many times as long, or that part of it.
const OTHER_LOAD: f64 = 1.4;

/// See the module.
#[derive(Debug)]
pub struct Decision {
    workers: usize,
    serving: usize,
    /// The sum of all times between looks.
    now_ms: u64,
    /// The last looks since a change.
    window: VecDeque<Look>,
    trial: Option<Trial>,
    more: Retry,
    fewer: Retry,
    giving: Retry,
    /// The time that a request took of a worker when more workers were found to gain nothing, in ms.
    fruitless_ms: Option<f64>,
    spare_ms: u64,
}

/// A change that may be taken back.
#[derive(Debug)]
struct Trial {
    /// How many workers served before.
    before: usize,
    /// Requests a millisecond before.
    rate: f64,
    /// What a request took of a worker before, in ms.
    request_ms: f64,
    looks: u32,
    requests: u64,
    elapsed_ms: u64,
}

/// When something may be tried.
#[derive(Debug)]
struct Retry {
    not_before_ms: u64,
    wait_ms: u64,
}

impl Retry {
    fn new() -> Retry {
        Retry { not_before_ms: 0, wait_ms: RETRY_MS }
    }

    fn may(&self, now_ms: u64) -> bool {
        now_ms >= self.not_before_ms
    }

    /// It has failed.
    fn failed(&mut self, now_ms: u64) {
        self.not_before_ms = now_ms + self.wait_ms;
        self.wait_ms = (2 * self.wait_ms).min(RETRY_LONGEST_MS);
    }

    /// It may be tried after the shortest time again.
    fn reset(&mut self, now_ms: u64) {
        *self = Retry { not_before_ms: now_ms + RETRY_MS, wait_ms: RETRY_MS };
    }
}

impl Decision {
    /// For so many workers, of which one serves.
    pub fn new(workers: usize) -> Decision {
        Decision {
            workers: workers.max(1),
            serving: 1,
            now_ms: 0,
            window: VecDeque::new(),
            trial: None,
            more: Retry::new(),
            fewer: Retry::new(),
            giving: Retry::new(),
            fruitless_ms: None,
            spare_ms: 0,
        }
    }

    /// What to change after this look.
    pub fn look(&mut self, look: Look) -> Option<Change> {
        self.now_ms += look.elapsed_ms;
        if self.trial.is_some() {
            return self.judge(&look);
        }
        self.window.push_back(look);
        if self.window.len() < WINDOW_LOOKS {
            return None;
        }
        let seen = Seen::of(&self.window, self.serving);
        let elapsed_ms = self.window.pop_front().map_or(0, |look| look.elapsed_ms);
        self.spare_ms =
            if seen.total <= SPARE * (self.serving - 1) as f64 { self.spare_ms + elapsed_ms } else { 0 };
        if self.spare_ms >= SPARE_MS && self.serving > 1 {
            return Some(self.serve(((seen.total / SPARE).ceil() as usize).max(1)));
        }
        let is_full = seen.total >= FULL * self.serving as f64;
        if is_full && self.serving < self.workers && seen.idle >= IDLE_ENOUGH {
            if self.fruitless_ms.is_some_and(|fruitless_ms| is_other(fruitless_ms, seen.request_ms())) {
                self.fruitless_ms = None;
                self.more = Retry::new();
            }
            if self.more.may(self.now_ms) {
                let idle = seen.idle.round() as usize;
                let joining = idle.clamp(1, self.serving);
                return Some(self.attempt((self.serving + joining).min(self.workers), &seen));
            }
        }
        if seen.idle < IDLE_NONE && self.serving > 1 && self.fewer.may(self.now_ms) {
            let leaving = (self.serving / 4).max(1);
            return Some(self.attempt(self.serving - leaving, &seen));
        }
        if seen.greatest.0 >= FULL && seen.least.0 <= HALF_EMPTY && self.giving.may(self.now_ms) {
            self.giving.failed(self.now_ms);
            self.window.clear();
            return Some(Change::Give { giver: seen.greatest.1, taker: seen.least.1 });
        }
        None
    }

    /// Begins a trial.
    fn attempt(&mut self, serving: usize, seen: &Seen) -> Change {
        self.trial = Some(Trial {
            before: self.serving,
            rate: seen.rate,
            request_ms: seen.request_ms(),
            looks: 0,
            requests: 0,
            elapsed_ms: 0,
        });
        self.serve(serving)
    }

    fn serve(&mut self, serving: usize) -> Change {
        self.serving = serving;
        self.window.clear();
        self.spare_ms = 0;
        self.giving = Retry::new();
        Change::Serve(serving)
    }

    /// Goes on with a trial, and ends it when it has shown enough.
    fn judge(&mut self, look: &Look) -> Option<Change> {
        let (serving, now_ms) = (self.serving, self.now_ms);
        let trial = self.trial.as_mut()?;
        trial.looks += 1;
        if trial.looks <= SETTLING_LOOKS {
            return None;
        }
        trial.requests += look.requests;
        trial.elapsed_ms += look.elapsed_ms;
        let factor = trial.requests as f64 / trial.elapsed_ms.max(1) as f64 / trial.rate;
        let joined = serving > trial.before;
        let (least, most) = (serving.min(trial.before) as f64, serving.max(trial.before) as f64);
        let gain = GAIN.min(GAIN_PER_WORKER * (most - least) / least);
        let is_over = trial.looks == SETTLING_LOOKS + TRIAL_LOOKS;
        let pays = if joined { factor >= 1.0 + gain } else { factor >= 1.0 - gain * LOSS_PER_GAIN };
        let fails = if joined { factor < 1.0 } else { factor < 1.0 - PLAIN_LOSS };
        if !is_over && !fails {
            return None;
        }
        let (before, request_ms) = (trial.before, trial.request_ms);
        self.trial = None;
        // Whether more workers were found to be of no use, or fewer to be too few.
        match (joined, pays) {
            (true, true) => self.fewer.reset(now_ms),
            (true, false) => {
                self.more.failed(now_ms);
                self.fruitless_ms = Some(request_ms);
            }
            (false, true) => {
                self.more.failed(now_ms);
                self.fewer.not_before_ms = now_ms;
                // Seen with more workers, a request takes longer.
                self.fruitless_ms = None;
            }
            (false, false) => {
                self.fewer.failed(now_ms);
                self.more = Retry::new();
            }
        }
        if pays { None } else { Some(self.serve(before)) }
    }
}

/// Whether a request takes a worker much longer than it did, or much less long.
fn is_other(before_ms: f64, now_ms: f64) -> bool {
    now_ms > before_ms * OTHER_LOAD || now_ms * OTHER_LOAD < before_ms
}

/// The averages of a window.
struct Seen {
    /// Workers that were occupied, of those that serve.
    total: f64,
    /// By how much, and the number of the worker: the greatest and the least of those that serve.
    greatest: (f64, usize),
    least: (f64, usize),
    idle: f64,
    /// Requests a millisecond, of the best look: a load that is just beginning must not pass for one that gains.
    rate: f64,
}

fn rate_of(look: &Look) -> f64 {
    look.requests as f64 / look.elapsed_ms.max(1) as f64
}

impl Seen {
    fn of(window: &VecDeque<Look>, serving: usize) -> Seen {
        let elapsed_ms = window.iter().map(|look| look.elapsed_ms).sum::<u64>().max(1) as f64;
        let mean = |value: &dyn Fn(&Look) -> f64| {
            window.iter().map(|look| value(look) * look.elapsed_ms as f64).sum::<f64>() / elapsed_ms
        };
        let mut seen = Seen {
            total: 0.0,
            greatest: (0.0, 0),
            least: (f64::MAX, 0),
            idle: mean(&|look| look.idle),
            rate: window.iter().map(rate_of).fold(0.0, f64::max),
        };
        for number in 0..serving {
            let occupied = mean(&|look| look.occupied.get(number).copied().unwrap_or_default());
            seen.total += occupied;
            if occupied > seen.greatest.0 {
                seen.greatest = (occupied, number);
            }
            if occupied < seen.least.0 {
                seen.least = (occupied, number);
            }
        }
        seen
    }

    /// How long a worker was occupied for a request.
    fn request_ms(&self) -> f64 {
        self.total / self.rate.max(1e-6)
    }
}

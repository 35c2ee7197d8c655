//! The thread that runs crons when they are due.
//!
//! A cron that ends within a moment runs here, after those that were due before it. One that takes longer begins again on one of the
//! threads for long requests ([`crate::long_runs`]), as a request of a client does. One that waits for a lock waits here, without a
//! thread.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use edgecask_core::executor::{CronRun, CronStep};
use parking_lot::{Condvar, Mutex};

use crate::clock::{instant_at, now_ms, steady_ms};
use crate::gateway::Gateway;
use crate::limits::CRON_LOOK_PERIOD;

/// What reaches the thread.
#[derive(Default)]
pub struct CronMailbox {
    asked: Mutex<Asked>,
    wake: Condvar,
}

#[derive(Default)]
struct Asked {
    /// A cron has come or gone, or a lock may be free.
    look: bool,
    stop: bool,
    /// Runs that turned out to wait on another thread. There are no more than crons.
    returned: Vec<CronRun>,
}

impl Wake for CronMailbox {
    fn wake(self: Arc<Self>) {
        self.asked.lock().look = true;
        self.wake.notify_one();
    }
}

impl CronMailbox {
    /// Ends the thread. Runs that are under way end as soon as they notice that the server does.
    pub fn stop(&self) {
        self.asked.lock().stop = true;
        self.wake.notify_one();
    }

    fn is_stopping(&self) -> bool {
        self.asked.lock().stop
    }

    fn give_back(&self, run: CronRun) {
        let mut asked = self.asked.lock();
        asked.returned.push(run);
        asked.look = true;
        self.wake.notify_one();
    }

    /// Waits for so long, or until there is something to look at; gives the runs that have come back.
    fn wait(&self, at_most: Duration) -> Vec<CronRun> {
        let mut asked = self.asked.lock();
        if !asked.look && !asked.stop {
            self.wake.wait_for(&mut asked, at_most);
        }
        asked.look = false;
        std::mem::take(&mut asked.returned)
    }
}

/// The loop of the thread.
pub fn run(gateway: &Gateway) {
    let (mailbox, shared) = (&gateway.crons, &gateway.server.shared);
    shared.crons.set_waker(Waker::from(mailbox.clone()));
    let mut waiting: Vec<CronRun> = Vec::new();
    while !mailbox.is_stopping() {
        for run in std::mem::take(&mut waiting) {
            waiting.extend(step(gateway, run));
        }
        // Those that wait are looked at between others.
        match CronRun::next(shared, now_ms(), true) {
            Some(run) => {
                run.set_waker(Waker::from(mailbox.clone()));
                waiting.extend(step(gateway, run));
            }
            None => {
                let due_ms = shared.crons.next_ms().map(|due_ms| due_ms.saturating_sub(now_ms()).max(1));
                let rest = due_ms.map_or(CRON_LOOK_PERIOD, Duration::from_millis).min(CRON_LOOK_PERIOD);
                waiting.extend(mailbox.wait(rest));
            }
        }
    }
    waiting.extend(mailbox.wait(Duration::ZERO));
    waiting.iter_mut().for_each(|run| run.give_up(&gateway.server));
}

/// Goes on with a run; gives it back if it waits.
fn step(gateway: &Gateway, mut run: CronRun) -> Option<CronRun> {
    match run.step(&gateway.server, now_ms()) {
        CronStep::Waits => Some(run),
        CronStep::Ended => {
            rest(gateway, &mut run);
            None
        }
        CronStep::TakesLong => {
            gateway.long_runs.hand_over(Box::new(move |gateway| {
                run.set_runs_at_length(true);
                if run.step(&gateway.server, now_ms()) == CronStep::Ended {
                    rest(gateway, &mut run);
                } else {
                    run.set_runs_at_length(false);
                    gateway.crons.give_back(run);
                }
            }));
            None
        }
    }
}

/// Where merge is left behind crons that write wait as connections do.
fn rest(gateway: &Gateway, run: &mut CronRun) {
    gateway.observe_debt();
    let Some(rest) = gateway.brake.charge(run.take_logged_bytes(), steady_ms()) else { return };
    let until = instant_at(rest.until_ms);
    while !gateway.crons.is_stopping() && Instant::now() < until {
        std::thread::sleep(until.saturating_duration_since(Instant::now()).min(CRON_LOOK_PERIOD));
    }
}

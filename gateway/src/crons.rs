//! The thread that runs crons when they are due, and threads for those that take long.
//!
//! A cron that ends within a moment runs on the one thread, after those that were due before it. One that takes longer begins again
//! on a thread of its own, as a request of a client does ([`crate::long_runs`]), and so does one that waits for a lock.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use edgecask_core::executor::{CronRun, CronStep};
use parking_lot::{Condvar, Mutex};
use tracing::{error, warn};

use crate::clock::{instant_at, now_ms, steady_ms};
use crate::gateway::Gateway;
use crate::limits::{CRON_LOOK_PERIOD, CRON_WAIT_PERIOD};

/// What wakes the thread.
#[derive(Default)]
pub struct CronBell {
    asked: Mutex<Asked>,
    wake: Condvar,
}

#[derive(Default)]
struct Asked {
    /// A cron has come or gone.
    look: bool,
    stop: bool,
}

impl Wake for CronBell {
    fn wake(self: Arc<Self>) {
        self.asked.lock().look = true;
        self.wake.notify_one();
    }
}

impl CronBell {
    /// Ends the thread. Runs that are under way end as soon as they notice that the server does.
    pub fn stop(&self) {
        self.asked.lock().stop = true;
        self.wake.notify_one();
    }

    fn is_stopping(&self) -> bool {
        self.asked.lock().stop
    }

    /// Waits for so long, or until something has changed.
    fn wait(&self, at_most: Duration) {
        let mut asked = self.asked.lock();
        if !asked.look && !asked.stop {
            self.wake.wait_for(&mut asked, at_most);
        }
        asked.look = false;
    }
}

/// The loop of the thread.
pub fn run(gateway: &Arc<Gateway>) {
    let (bell, shared) = (&gateway.crons, &gateway.server.shared);
    shared.crons.set_waker(Waker::from(bell.clone()));
    let mut aside: Vec<JoinHandle<()>> = Vec::new();
    while !bell.is_stopping() {
        aside.retain(|thread| !thread.is_finished());
        match CronRun::next(shared, now_ms(), true) {
            Some(run) => aside.extend(run_here(gateway, run)),
            None => {
                let due_ms = shared.crons.next_ms().map(|due_ms| due_ms.saturating_sub(now_ms()).max(1));
                bell.wait(due_ms.map_or(CRON_LOOK_PERIOD, Duration::from_millis).min(CRON_LOOK_PERIOD));
            }
        }
    }
    for thread in aside {
        if thread.join().is_err() {
            warn!("a thread of a cron panicked");
        }
    }
}

/// Runs a cron, or gives it a thread where it cannot end at once.
fn run_here(gateway: &Arc<Gateway>, mut run: CronRun) -> Option<JoinHandle<()>> {
    if run.step(&gateway.server, now_ms()) == CronStep::Ended {
        rest(gateway, &mut run);
        return None;
    }
    run.run_at_length();
    let (to, from) = std::sync::mpsc::sync_channel::<CronRun>(1);
    let own = gateway.clone();
    let thread = std::thread::Builder::new().name("cron".into());
    let spawned = thread.spawn(move || from.into_iter().for_each(|run| run_aside(&own, run)));
    // A thread that the system refuses drops what it was given, so it is given nothing before it is there.
    let thread = match spawned {
        Ok(thread) => Some(thread),
        Err(refused) => {
            error!(error = %refused, "the system refuses a thread for a cron; others wait for it");
            run_aside(gateway, run);
            return None;
        }
    };
    if let Err(unsent) = to.send(run) {
        run_aside(gateway, unsent.0);
    }
    thread
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a cron to its end.
fn run_aside(gateway: &Gateway, mut run: CronRun) {
    run.set_waker(Waker::from(Arc::new(Unpark(std::thread::current()))));
    while run.step(&gateway.server, now_ms()) != CronStep::Ended {
        if gateway.crons.is_stopping() {
            run.give_up(&gateway.server);
            return;
        }
        std::thread::park_timeout(CRON_WAIT_PERIOD);
    }
    rest(gateway, &mut run);
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

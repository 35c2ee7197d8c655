//! A cluster whose answers come when the test says so, and links between its processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::ordered::cluster::{Ask, Cluster, ClusterError, ReadDone, ReadIn, Write, WriteDone};
use crate::ordered::simulated::{Begun, Simulated};
use crate::ordered::{Ordered, Peers};

type Call = Box<dyn FnOnce() + Send>;

/// So many answers of the cluster come in a millisecond.
const STEPS_A_MS: u64 = 4;

/// A cluster that answers when the test says so, in any order.
#[derive(Clone)]
pub(super) struct Slow {
    pub(super) cluster: Simulated,
    pub(super) under_way: Arc<Mutex<Vec<Call>>>,
    /// What is to happen at a time.
    pub(super) alarms: Arc<Mutex<Vec<(u64, Call)>>>,
    /// Alarms ring when nothing else is left to happen; else at any time.
    pub(super) is_patient: bool,
    pub(super) clock: Arc<AtomicU64>,
    pub(super) random: Arc<Mutex<fastrand::Rng>>,
    /// A write is not answered: it may have happened, or not.
    pub(super) unknown_percent: u8,
    /// A read is not answered.
    pub(super) unavailable_percent: u8,
}

impl Slow {
    fn draw(&self, percent: u8) -> bool {
        self.random.lock().u8(..100) < percent
    }

    /// One thing happens of all that is under way; false if there is nothing.
    pub(super) fn happen(&self, at: usize) -> bool {
        let rings = !self.is_patient && at.is_multiple_of(4);
        let call = if rings { self.take_alarm() } else { None };
        match call.or_else(|| self.take_under_way(at)) {
            Some(call) => call(),
            None => return false,
        }
        true
    }

    fn take_under_way(&self, at: usize) -> Option<Call> {
        let mut under_way = self.under_way.lock();
        let at = at.checked_rem(under_way.len())?;
        self.clock.fetch_add(1, Ordering::SeqCst);
        Some(under_way.swap_remove(at))
    }

    /// The next alarm.
    fn take_alarm(&self) -> Option<Call> {
        let mut alarms = self.alarms.lock();
        let next = (0..alarms.len()).min_by_key(|at| alarms[*at].0)?;
        let (at_ms, call) = alarms.swap_remove(next);
        self.clock.fetch_max(at_ms * STEPS_A_MS, Ordering::SeqCst);
        Some(call)
    }

    /// Lets the next alarm ring; false if there is none.
    pub(super) fn ring(&self) -> bool {
        self.take_alarm().map(|call| call()).is_some()
    }
}

impl Cluster for Slow {
    type Transaction = Begun;

    fn time_ms(&self, transaction: &Begun) -> u64 {
        self.cluster.time_ms(transaction)
    }

    fn read(&self, within: ReadIn<Begun>, asks: Vec<Ask>, done: ReadDone<Begun>) {
        let (cluster, fails) = (self.cluster.clone(), self.draw(self.unavailable_percent));
        self.under_way.lock().push(Box::new(move || match fails {
            true => done(Err(ClusterError::Unavailable("by chance".into()))),
            false => cluster.read(within, asks, done),
        }));
    }

    fn write(&self, transaction: Option<Begun>, write: Write, done: WriteDone) {
        let (cluster, is_unknown) = (self.cluster.clone(), self.draw(self.unknown_percent));
        let happens = self.draw(50);
        self.under_way.lock().push(Box::new(move || match (is_unknown, happens) {
            (false, _) => cluster.write(transaction, write, done),
            (true, true) => {
                cluster.write(
                    transaction,
                    write,
                    Box::new(|_| done(Err(ClusterError::Unknown("lost".into())))),
                );
            }
            (true, false) => done(Err(ClusterError::Unknown("lost".into()))),
        }));
    }

    fn now_ms(&self) -> u64 {
        self.clock.load(Ordering::SeqCst) / STEPS_A_MS
    }

    fn later(&self, delay_ms: u64, call: Call) {
        let at_ms = self.now_ms() + delay_ms;
        self.alarms.lock().push((at_ms, call));
    }

    fn destroy(&self, from: Vec<u8>, to: Vec<u8>, done: WriteDone) {
        self.cluster.destroy(from, to, done);
    }
}

/// Messages between the processes, some of which get lost.
pub(super) struct Links {
    pub(super) own: u32,
    pub(super) slow: Slow,
    pub(super) engines: Arc<Mutex<Vec<Ordered<Slow>>>>,
    pub(super) lost_percent: u8,
}

impl Peers for Links {
    fn processes(&self) -> Vec<u32> {
        (1..=self.engines.lock().len() as u32).collect()
    }

    fn tell(&self, process: u32, message: &[u8]) {
        if self.slow.draw(self.lost_percent) {
            return;
        }
        let (own, message) = (self.own, message.to_vec());
        let engine = Ordered(self.engines.lock()[process as usize - 1].0.clone());
        self.slow.under_way.lock().push(Box::new(move || engine.hear(own, &message)));
    }
}

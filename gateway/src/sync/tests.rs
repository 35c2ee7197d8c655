use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::task::{Wake, Waker};
use std::thread::Thread;

use edgecask_core::engine::{EngineError, Result};

use super::{Appendfsync, Settling, SyncFailed, Syncer};
use crate::store::Durable;

/// A log whose syncs wait until a test lets them go.
struct SlowLog {
    appended: AtomicU64,
    synced: AtomicU64,
    syncs: AtomicU64,
    fails: AtomicBool,
    begun: Barrier,
    go: (Mutex<bool>, Condvar),
}

impl SlowLog {
    fn new(appended: u64) -> SlowLog {
        SlowLog {
            appended: appended.into(),
            synced: 0.into(),
            syncs: 0.into(),
            fails: false.into(),
            begun: Barrier::new(2),
            go: (Mutex::new(false), Condvar::new()),
        }
    }

    fn let_go(&self) {
        *self.go.0.lock().expect("not poisoned") = true;
        self.go.1.notify_all();
    }
}

impl Durable for SlowLog {
    fn appended(&self) -> u64 {
        self.appended.load(Ordering::SeqCst)
    }

    fn synced(&self) -> u64 {
        self.synced.load(Ordering::SeqCst)
    }

    fn sync(&self) -> Result<u64> {
        let reached = self.appended();
        if self.syncs.fetch_add(1, Ordering::SeqCst) == 0 {
            self.begun.wait();
            let mut go = self.go.0.lock().expect("not poisoned");
            while !*go {
                go = self.go.1.wait(go).expect("not poisoned");
            }
        }
        if self.fails.load(Ordering::SeqCst) {
            return Err(EngineError::ReadOnly("the disk is gone".into()));
        }
        self.synced.store(reached, Ordering::SeqCst);
        Ok(reached)
    }
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}

/// Waits on this thread until replies may be sent, or must not.
fn settle(syncer: &Syncer, log: &SlowLog, wrote: u64) -> std::result::Result<(), SyncFailed> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let position = log.appended();
    loop {
        match syncer.settle(log, position, &waker) {
            Settling::Done => break Ok(()),
            Settling::Failed if wrote <= log.synced() => break Ok(()),
            Settling::Failed => break Err(SyncFailed),
            Settling::Wait => std::thread::park(),
        }
    }
}

/// Runs the first waiter into a sync that does not end, lets nine more arrive, and then lets the sync go.
fn ten_waiters(log: &SlowLog, syncer: &Syncer) -> Vec<std::result::Result<(), SyncFailed>> {
    std::thread::scope(|scope| {
        let first = scope.spawn(|| settle(syncer, log, 10));
        log.begun.wait();
        log.appended.store(20, Ordering::SeqCst);
        let later: Vec<_> = (0..9).map(|_| scope.spawn(|| settle(syncer, log, 10))).collect();
        while syncer.state.lock().waiting.len() < 9 {
            std::thread::yield_now();
        }
        log.let_go();
        let outcomes = std::iter::once(first).chain(later);
        outcomes.map(|waiter| waiter.join().expect("no panic")).collect()
    })
}

#[test]
fn one_sync_serves_all_who_wait() {
    let (log, syncer) = (SlowLog::new(10), Syncer::new(Appendfsync::Always));
    assert_eq!(ten_waiters(&log, &syncer), [Ok(()); 10]);
    assert_eq!(log.syncs.load(Ordering::SeqCst), 2, "one for the first, one for the nine behind it");
    assert_eq!(log.synced(), 20);
    assert_eq!(settle(&syncer, &log, 20), Ok(()), "a clean log needs no sync");
}

#[test]
fn write_is_acknowledged_after_a_failed_sync_or_the_sync_is_tried_again() {
    let (log, syncer) = (SlowLog::new(10), Syncer::new(Appendfsync::Always));
    log.fails.store(true, Ordering::SeqCst);
    assert_eq!(ten_waiters(&log, &syncer), [Err(SyncFailed); 10]);
    log.fails.store(false, Ordering::SeqCst);
    assert_eq!(settle(&syncer, &log, 20), Err(SyncFailed), "a write that came too late");
    assert_eq!(settle(&syncer, &log, 0), Ok(()), "reads go on");
    assert!(!syncer.finish(&log));
    assert_eq!(log.syncs.load(Ordering::SeqCst), 1);
}

#[test]
fn replies_wait_under_the_other_policies() {
    let log = SlowLog::new(10);
    for policy in [Appendfsync::Everysec, Appendfsync::No] {
        assert_eq!(settle(&Syncer::new(policy), &log, 10), Ok(()));
    }
    assert_eq!(log.syncs.load(Ordering::SeqCst), 0);
}

#[test]
fn thread_goes_on_after_a_stop() {
    let (log, syncer) = (SlowLog::new(0), Syncer::new(Appendfsync::Everysec));
    std::thread::scope(|scope| {
        scope.spawn(|| syncer.run(&log));
        syncer.stop();
    });
    assert_eq!(log.syncs.load(Ordering::SeqCst), 0, "there was nothing to sync");
}

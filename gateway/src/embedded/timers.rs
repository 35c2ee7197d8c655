//! The thread that wakes connections at the time for which they have asked.

use std::collections::BTreeMap;
use std::task::Waker;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::clock::{instant_at, steady_ms};

/// When connections are to be woken.
#[derive(Default)]
pub(super) struct Timers {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// By steady times in milliseconds and CLIENT IDs.
    wakers: BTreeMap<(u64, u64), Waker>,
    is_stopping: bool,
}

impl Timers {
    /// Has a connection woken at a steady time in milliseconds.
    pub(super) fn set(&self, due_ms: u64, id: u64, waker: Waker) {
        let mut state = self.state.lock();
        let replaced = state.wakers.insert((due_ms, id), waker);
        if state.wakers.first_key_value().is_some_and(|(first, _)| *first == (due_ms, id)) {
            self.wake.notify_one();
        }
        drop(state);
        // A waker may own a task that owns a connection, whose end comes back here.
        drop(replaced);
    }

    /// Takes that back.
    pub(super) fn unset(&self, due_ms: u64, id: u64) {
        let removed = self.state.lock().wakers.remove(&(due_ms, id));
        drop(removed);
    }

    /// Ends the thread.
    pub(super) fn stop(&self) {
        self.state.lock().is_stopping = true;
        self.wake.notify_one();
    }

    /// The loop of the thread.
    pub(super) fn run(&self) {
        let mut state = self.state.lock();
        while !state.is_stopping {
            match state.wakers.first_key_value().map(|((due_ms, _), _)| *due_ms) {
                None => self.wake.wait(&mut state),
                Some(due_ms) if due_ms > steady_ms() => {
                    self.wake.wait_until(&mut state, instant_at(due_ms));
                }
                Some(_) => {
                    let due = state.wakers.pop_first();
                    MutexGuard::unlocked(&mut state, || due.into_iter().for_each(|(_, waker)| waker.wake()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Sender, channel};
    use std::task::{Wake, Waker};
    use std::time::Duration;

    use super::{Timers, steady_ms};

    struct Tell(u64, Sender<u64>);

    impl Wake for Tell {
        fn wake(self: Arc<Self>) {
            self.1.send(self.0).expect("somebody listens");
        }
    }

    #[test]
    fn timer_wakes_too_early_in_another_order_or_not_at_all() {
        let timers = Arc::new(Timers::default());
        let running = timers.clone();
        let thread = std::thread::spawn(move || running.run());
        let (sender, receiver) = channel();
        let waker = |id: u64| Waker::from(Arc::new(Tell(id, sender.clone())));
        let begin_ms = steady_ms();
        for (after_ms, id) in [(60, 1), (20, 2), (40, 3), (10, 4)] {
            timers.set(begin_ms + after_ms, id, waker(id));
        }
        timers.unset(begin_ms + 10, 4);
        for (after_ms, id) in [(20, 2), (40, 3), (60, 1)] {
            assert_eq!(receiver.recv_timeout(Duration::from_secs(30)), Ok(id));
            assert!(steady_ms() >= begin_ms + after_ms);
        }
        timers.stop();
        thread.join().expect("no panic");
    }
}

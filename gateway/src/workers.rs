//! The threads that serve connections, and how connections get to them.
//!
//! A connection stays on the thread it was given to. So nothing is handed from thread to thread between a request and
//! its reply.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tracing::warn;

use crate::gateway::Gateway;
use crate::worker::Worker;

/// All workers of a server.
pub struct Workers {
    mailboxes: Vec<Arc<Mailbox>>,
    threads: Vec<JoinHandle<()>>,
    next: usize,
}

/// What other threads tell a worker.
pub struct Mailbox {
    waker: mio::Waker,
    /// Accepted streams. Bounded by `maxclients`, which the acceptor checks before it hands over.
    arrivals: Mutex<Vec<TcpStream>>,
    /// Connections, by place and CLIENT ID, for which others have left something. Each is there once until it has looked.
    rung: Mutex<Vec<(usize, u64)>>,
    /// Whether the worker may be waiting for events, so that it must be woken.
    is_asleep: AtomicBool,
    is_stopping: AtomicBool,
}

/// Tells a worker that other connections have something for one of its own.
pub struct Bell {
    mailbox: Arc<Mailbox>,
    place: usize,
    id: u64,
}

impl Mailbox {
    /// The mailbox of a worker that this waker wakes.
    pub fn new(waker: mio::Waker) -> Mailbox {
        Mailbox {
            waker,
            arrivals: Mutex::default(),
            rung: Mutex::default(),
            is_asleep: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
        }
    }

    /// The streams handed over since the last call.
    pub fn take_arrivals(&self) -> Vec<TcpStream> {
        std::mem::take(&mut *self.arrivals.lock())
    }

    /// The bell of the connection at a place, with its CLIENT ID.
    pub fn bell(self: &Arc<Mailbox>, place: usize, id: u64) -> Bell {
        Bell { mailbox: self.clone(), place, id }
    }

    /// The connections whose bells have rung since the last call.
    pub fn take_rung(&self) -> Vec<(usize, u64)> {
        std::mem::take(&mut *self.rung.lock())
    }

    /// Says that the worker is about to wait; false if a bell has rung and it must not.
    pub fn fall_asleep(&self) -> bool {
        self.is_asleep.store(true, Ordering::SeqCst);
        self.rung.lock().is_empty()
    }

    /// Says that the worker waits no longer.
    pub fn wake_up(&self) {
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    /// Whether the worker is to end.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }
}

impl Wake for Mailbox {
    fn wake(self: Arc<Mailbox>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Mailbox>) {
        if let Err(error) = self.waker.wake() {
            warn!(%error, "a worker could not be woken");
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Bell>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Bell>) {
        self.mailbox.rung.lock().push((self.place, self.id));
        // A worker that is not asleep looks before it falls asleep.
        if self.mailbox.is_asleep.load(Ordering::SeqCst) {
            self.mailbox.wake_by_ref();
        }
    }
}

impl Workers {
    /// Starts `count` threads.
    pub fn start(gateway: &Arc<Gateway>, count: usize) -> io::Result<Workers> {
        let mut workers = Workers { mailboxes: Vec::new(), threads: Vec::new(), next: 0 };
        for number in 0..count.max(1) {
            let worker = Worker::new(gateway.clone())?;
            workers.mailboxes.push(worker.mailbox().clone());
            let thread = std::thread::Builder::new().name(format!("worker-{number}"));
            workers.threads.push(thread.spawn(move || worker.run())?);
        }
        Ok(workers)
    }

    /// Hands an accepted stream, already counted as connected, to the next worker in turn.
    pub fn hand_over(&mut self, stream: TcpStream) {
        if let Some(mailbox) = self.mailboxes.get(self.next) {
            mailbox.arrivals.lock().push(stream);
            mailbox.wake_by_ref();
        }
        self.next = (self.next + 1) % self.mailboxes.len().max(1);
    }

    /// Tells all threads to end and waits until they have.
    pub fn stop(self) {
        for mailbox in &self.mailboxes {
            mailbox.is_stopping.store(true, Ordering::Release);
            mailbox.wake_by_ref();
        }
        for thread in self.threads {
            if thread.join().is_err() {
                warn!("a worker panicked");
            }
        }
    }
}

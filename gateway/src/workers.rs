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
    is_stopping: AtomicBool,
}

impl Mailbox {
    /// The mailbox of a worker that this waker wakes.
    pub fn new(waker: mio::Waker) -> Mailbox {
        Mailbox { waker, arrivals: Mutex::default(), is_stopping: AtomicBool::new(false) }
    }

    /// The streams handed over since the last call.
    pub fn take_arrivals(&self) -> Vec<TcpStream> {
        std::mem::take(&mut *self.arrivals.lock())
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

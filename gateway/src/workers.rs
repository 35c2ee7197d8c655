//! The threads that serve plain TCP connections: workers, and threads for the requests that take long ([`crate::long_runs`]).
//!
//! A connection stays on the thread to which it was assigned, so no request passes from thread to thread before its reply.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use tracing::warn;

use crate::clock;
use crate::gateway::Gateway;
use crate::limits::LONG_RUN_THREADS_MIN;
use crate::long_runs::LongRun;
use crate::mailbox::Mailbox;
use crate::worker::Worker;

/// All workers of a server.
pub struct Workers {
    mailboxes: Vec<Arc<Mailbox>>,
    threads: Vec<JoinHandle<()>>,
    gateway: Arc<Gateway>,
    long_threads: Vec<JoinHandle<()>>,
    next: usize,
}

impl Workers {
    /// Starts `count` threads, at least one.
    ///
    /// # Errors
    /// The system refuses a thread or an event queue.
    pub fn start(gateway: &Arc<Gateway>, count: usize) -> io::Result<Workers> {
        let mut workers = Workers {
            mailboxes: Vec::new(),
            threads: Vec::new(),
            gateway: gateway.clone(),
            long_threads: Vec::new(),
            next: 0,
        };
        for number in 0..count.max(1) {
            let worker = Worker::new(gateway.clone())?;
            workers.mailboxes.push(worker.mailbox().clone());
            let thread = std::thread::Builder::new().name(format!("worker-{number}"));
            workers.threads.push(thread.spawn(move || worker.run())?);
        }
        for number in 0..count.max(LONG_RUN_THREADS_MIN) {
            let gateway = gateway.clone();
            let thread = std::thread::Builder::new().name(format!("long-{number}"));
            workers.long_threads.push(thread.spawn(move || run_long(&gateway))?);
        }
        Ok(workers)
    }

    /// Assigns an accepted stream, already counted as connected, to the next worker in turn.
    pub fn assign(&mut self, stream: TcpStream) {
        if let Some(mailbox) = self.mailboxes.get(self.next) {
            mailbox.assign(stream);
        }
        self.next = (self.next + 1) % self.mailboxes.len().max(1);
    }

    /// Tells all threads to end and waits for them.
    pub fn stop(self) {
        self.mailboxes.iter().for_each(Mailbox::stop);
        for thread in self.threads {
            if thread.join().is_err() {
                warn!("a worker panicked");
            }
        }
        // What is under way ends as soon as it notices that its connection has gone.
        self.gateway.long_runs.stop();
        for thread in self.long_threads {
            if thread.join().is_err() {
                warn!("a thread for long requests panicked");
            }
        }
    }
}

/// The loop of a thread for long requests.
fn run_long(gateway: &Gateway) {
    while let Some(LongRun { mut driver, mailbox, slot }) = gateway.long_runs.next() {
        driver.run_at_length(&gateway.server, clock::now());
        mailbox.give_back(slot, driver);
    }
}

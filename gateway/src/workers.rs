//! The threads that serve plain TCP connections.
//!
//! A request never passes from thread to thread before its reply, unless it takes long ([`crate::long_runs`]). A connection may move to another
//! worker between its requests, because the load decides how many workers serve ([`crate::spread`]).

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use tracing::warn;

use crate::gateway::Gateway;
use crate::mailbox::Mailbox;
use crate::worker::Worker;

/// All workers of a server.
pub struct Workers {
    mailboxes: Arc<[Arc<Mailbox>]>,
    threads: Vec<JoinHandle<()>>,
    gateway: Arc<Gateway>,
    /// The thread that decides how many workers serve; none for a single one.
    spread: Option<JoinHandle<()>>,
    next: usize,
}

impl Workers {
    /// Starts `count` workers, at least one.
    ///
    /// # Errors
    /// The system refuses a thread or an event queue.
    pub fn start(gateway: &Arc<Gateway>, count: usize) -> io::Result<Workers> {
        let count = count.max(1);
        gateway.spread.begin(count);
        let number = |number| u16::try_from(number).unwrap_or(u16::MAX);
        let all: Vec<Worker> =
            (0..count).map(|place| Worker::new(gateway.clone(), number(place))).collect::<io::Result<_>>()?;
        let mailboxes: Arc<[Arc<Mailbox>]> = all.iter().map(|worker| worker.mailbox().clone()).collect();
        let occupancies: Vec<_> = all.iter().map(|worker| worker.occupancy().clone()).collect();
        let mut workers = Workers {
            mailboxes: mailboxes.clone(),
            threads: Vec::new(),
            gateway: gateway.clone(),
            spread: None,
            next: 0,
        };
        for (number, worker) in all.into_iter().enumerate() {
            let thread = std::thread::Builder::new().name(format!("worker-{number}"));
            let mailboxes = mailboxes.clone();
            workers.threads.push(thread.spawn(move || worker.run(&mailboxes))?);
        }
        if count > 1 {
            let gateway = gateway.clone();
            let thread = std::thread::Builder::new().name("spread".into());
            workers.spread = Some(thread.spawn(move || {
                let requests = || gateway.server.shared.counters.commands.load(Ordering::Relaxed);
                gateway.spread.run(&occupancies, requests);
            })?);
        }
        Ok(workers)
    }

    /// Assigns an accepted stream, already counted as connected, to the next worker in turn of those that serve.
    pub fn assign(&mut self, stream: TcpStream) {
        self.next = (self.next + 1) % self.gateway.spread.serving().clamp(1, self.mailboxes.len().max(1));
        if let Some(mailbox) = self.mailboxes.get(self.next) {
            mailbox.assign(stream);
        }
    }

    /// Tells all threads to end and waits for them.
    pub fn stop(self) {
        self.gateway.spread.stop();
        if let Some(thread) = self.spread
            && thread.join().is_err()
        {
            warn!("the thread that spreads the load panicked");
        }
        self.mailboxes.iter().for_each(Mailbox::stop);
        for thread in self.threads {
            if thread.join().is_err() {
                warn!("a worker panicked");
            }
        }
        // A worker may have been given some when it had ended.
        for mut connection in self.mailboxes.iter().flat_map(|mailbox| mailbox.take_moved()) {
            connection.close(&self.gateway.server);
            self.gateway.connected.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

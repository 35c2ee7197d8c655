//! The mailbox of a worker: new connections from the acceptor, connections of other workers, and wake-ups from other threads.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use edgecask_core::driver::Driver;
use parking_lot::Mutex;
use tracing::warn;

use crate::connection::Connection;

/// The messages of other threads to one worker.
pub struct Mailbox {
    waker: mio::Waker,
    /// Accepted streams. `maxclients` bounds them; the acceptor checks it before it assigns a stream.
    accepted: Mutex<Vec<TcpStream>>,
    /// Connections that other workers have given to this one.
    moved: Mutex<Vec<Connection>>,
    /// Connections, by slot and CLIENT ID, for which other connections have left something. A connection is listed once
    /// until its session has run.
    woken: Mutex<Vec<(usize, u64)>>,
    /// Sessions that were away for a request that took long, with the slots of their connections.
    returned: Mutex<Vec<(usize, Box<Driver>)>>,
    /// Whether the worker may be waiting for events, so that it must be woken.
    is_asleep: AtomicBool,
    is_stopping: AtomicBool,
}

/// Wakes one connection of a worker.
struct ConnectionWaker {
    mailbox: Arc<Mailbox>,
    slot: usize,
    id: u64,
}

impl Mailbox {
    /// The mailbox of the worker whose event loop `waker` wakes.
    pub fn new(waker: mio::Waker) -> Mailbox {
        Mailbox {
            waker,
            accepted: Mutex::default(),
            moved: Mutex::default(),
            woken: Mutex::default(),
            returned: Mutex::default(),
            is_asleep: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
        }
    }

    /// Gives the worker an accepted stream, which is already counted as connected.
    pub fn assign(self: &Arc<Mailbox>, stream: TcpStream) {
        self.accepted.lock().push(stream);
        self.wake_by_ref();
    }

    /// The streams assigned since the last call.
    pub fn take_accepted(&self) -> Vec<TcpStream> {
        std::mem::take(&mut *self.accepted.lock())
    }

    /// Gives the worker a connection of another one.
    pub fn take_in(self: &Arc<Mailbox>, connection: Connection) {
        self.moved.lock().push(connection);
        self.wake_by_ref();
    }

    /// The connections that it was given since the last call.
    pub fn take_moved(&self) -> Vec<Connection> {
        std::mem::take(&mut *self.moved.lock())
    }

    /// A waker for the connection in a slot, with its CLIENT ID.
    pub fn waker_of(self: &Arc<Mailbox>, slot: usize, id: u64) -> Waker {
        Waker::from(Arc::new(ConnectionWaker { mailbox: self.clone(), slot, id }))
    }

    /// The connections woken since the last call.
    pub fn take_woken(&self) -> Vec<(usize, u64)> {
        std::mem::take(&mut *self.woken.lock())
    }

    /// Gives back a session that was away.
    pub fn give_back(self: &Arc<Mailbox>, slot: usize, driver: Box<Driver>) {
        self.returned.lock().push((slot, driver));
        self.wake_by_ref();
    }

    /// The sessions that were given back since the last call.
    pub fn take_returned(&self) -> Vec<(usize, Box<Driver>)> {
        std::mem::take(&mut *self.returned.lock())
    }

    /// Says that the worker is about to wait; false if a connection was woken meanwhile, so that it must not.
    pub fn fall_asleep(&self) -> bool {
        self.is_asleep.store(true, Ordering::SeqCst);
        self.woken.lock().is_empty()
    }

    /// Says that the worker waits no longer.
    pub fn wake_up(&self) {
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    /// Tells the worker to end.
    pub fn stop(self: &Arc<Mailbox>) {
        self.is_stopping.store(true, Ordering::Release);
        self.wake_by_ref();
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

impl Wake for ConnectionWaker {
    fn wake(self: Arc<ConnectionWaker>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<ConnectionWaker>) {
        self.mailbox.woken.lock().push((self.slot, self.id));
        // A worker that is not asleep looks before it falls asleep.
        if self.mailbox.is_asleep.load(Ordering::SeqCst) {
            self.mailbox.wake_by_ref();
        }
    }
}

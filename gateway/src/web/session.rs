//! The session of a web task: with its task, or away for a request that takes long ([`crate::long_runs`]).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use edgecask_core::driver::Driver;
use edgecask_core::server::hub::Inbox;
use tokio::sync::oneshot::{self, Receiver};

use crate::clock;
use crate::gateway::Gateway;

/// A session that is closed wherever it is dropped.
pub struct OpenSession {
    /// Its server.
    pub gateway: Arc<Gateway>,
    /// It, with its timetable.
    pub driver: Driver,
}

impl OpenSession {
    /// Runs the requests that have come.
    pub fn run(&mut self) {
        self.driver.set_logged_max(self.gateway.brake.turn_bytes());
        self.driver.run(&self.gateway.server, clock::now());
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.driver.close(&self.gateway.server);
    }
}

/// A session that is away. If its task ends meanwhile, the session ends once its request has.
pub struct Away {
    inbox: Arc<Inbox>,
    returned: Receiver<Box<OpenSession>>,
    is_back: bool,
}

impl Away {
    /// Has the next request run where it may take its time.
    pub fn begin(mut session: Box<OpenSession>) -> Away {
        let (give_back, returned) = oneshot::channel();
        let inbox = session.driver.session().inbox().clone();
        let gateway = session.gateway.clone();
        gateway.long_runs.hand_over(Box::new(move |gateway| {
            session.driver.run_at_length(&gateway.server, clock::now());
            // If nobody takes it, it is dropped.
            let _ = give_back.send(session);
        }));
        Away { inbox, returned, is_back: false }
    }

    /// Whether the connection is to be closed without waiting for the session.
    pub fn must_close(&self) -> bool {
        self.inbox.must_close()
    }

    /// Waits for the session; None if the server ends, or what ran it has failed.
    pub fn poll_back(&mut self, context: &mut Context<'_>) -> Poll<Option<Box<OpenSession>>> {
        let back = Pin::new(&mut self.returned).poll(context);
        self.is_back |= back.is_ready();
        back.map(Result::ok)
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        if !self.is_back {
            // Nobody is there to take the replies.
            self.inbox.close();
        }
    }
}

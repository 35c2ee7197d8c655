//! What a connection waits for besides its own requests: a key, the end of a pause, its engine, another process.

use std::sync::Arc;

use crate::server::hub::Waiter;
use crate::server::peers::Slot;
use crate::server::{Client, Shared};

/// Why requests that have come do not run yet.
#[derive(Default)]
pub(super) struct Waiting {
    /// The command that the connection is blocked in.
    waiter: Option<Arc<Waiter>>,
    /// Unix time in milliseconds until which a pause holds the next request back.
    held_until_ms: Option<u64>,
    /// Whether the engine must fetch something before the request, or a wake-up, can go on.
    is_suspended: bool,
    /// Whether that is for the blocked command, which the connection runs again by itself: its time does not end meanwhile.
    runs_again: bool,
    /// Unix time in milliseconds at which the request runs again that waits for another client's transaction of SQL, which wakes the
    /// session if it ends before.
    again_ms: Option<u64>,
}

/// Requests that run in another process.
pub(super) struct Forwarding {
    /// How many.
    pub(super) count: usize,
    /// Where what became of them is put.
    pub(super) slot: Slot,
}

impl Waiting {
    /// Whether requests must wait.
    pub(super) fn is_on(&self) -> bool {
        self.waiter.is_some() || self.held_until_ms.is_some() || self.is_suspended || self.again_ms.is_some()
    }

    /// Whether its engine must fetch something first.
    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Unix time in milliseconds at which the host is to call again though nothing has come.
    pub(super) fn wake_at_ms(&self) -> Option<u64> {
        let waiter = self.waiter.as_ref().filter(|_| !self.runs_again);
        waiter.and_then(|waiter| waiter.wait.until_ms).or(self.held_until_ms).or(self.again_ms)
    }

    /// The command that the connection is blocked in.
    pub(super) fn waiter(&self) -> Option<&Arc<Waiter>> {
        self.waiter.as_ref()
    }

    /// The session runs: a pause or an engine may let it go on now.
    pub(super) fn try_again(&mut self, shared: &Shared, client: &Client) {
        if self.held_until_ms.take().is_some() {
            shared.hub.pauses.release();
            client.card.lock().is_blocked = self.waiter.is_some();
        }
        if self.again_ms.take().is_some() {
            client.card.lock().is_blocked = self.waiter.is_some();
        }
        self.is_suspended = false;
        self.runs_again = false;
    }

    /// A command waits for a key.
    pub(super) fn block(&mut self, client: &Client, waiter: Arc<Waiter>) {
        client.card.lock().is_blocked = true;
        self.waiter = Some(waiter);
    }

    /// A pause holds the next request back.
    pub(super) fn hold(&mut self, shared: &Shared, client: &Client, until_ms: u64) {
        shared.hub.pauses.hold();
        client.card.lock().is_blocked = true;
        self.held_until_ms = Some(until_ms);
    }

    /// Another client's transaction of SQL must end first.
    pub(super) fn wait_for_sql(&mut self, client: &Client, again_ms: u64) {
        client.card.lock().is_blocked = true;
        self.again_ms = Some(again_ms);
    }

    /// The engine must fetch something first.
    pub(super) fn suspend(&mut self) {
        self.is_suspended = true;
    }

    /// The engine must fetch something before the blocked command has run again.
    pub(super) fn suspend_blocked(&mut self) {
        self.is_suspended = true;
        self.runs_again = true;
    }

    /// Whether the blocked command is running again.
    pub(super) fn runs_again(&self) -> bool {
        self.runs_again
    }

    /// The answer to the blocked command has come: the command has run now.
    pub(super) fn end(&mut self, client: &Client) -> Option<Arc<Waiter>> {
        client.card.lock().is_blocked = false;
        self.waiter.take()
    }

    /// Ends a wait whose time has passed; None if it has none, or another connection serves it just now and its answer is
    /// in the inbox.
    pub(super) fn end_if_late(
        &mut self,
        shared: &Shared,
        client: &Client,
        now_ms: u64,
    ) -> Option<Arc<Waiter>> {
        let waiter =
            self.waiter.as_ref().filter(|waiter| waiter.wait.until_ms.is_some_and(|at| at <= now_ms))?;
        if !end(shared, waiter) {
            return None;
        }
        self.end(client)
    }

    /// The connection ends.
    pub(super) fn leave(&mut self, shared: &Shared) {
        if self.held_until_ms.take().is_some() {
            shared.hub.pauses.release();
        }
        if let Some(waiter) = self.waiter.take() {
            end(shared, &waiter);
        }
    }
}

/// Ends a wait; false if it had ended. If it was called, or was about to look, the next in line is called instead.
fn end(shared: &Shared, waiter: &Waiter) -> bool {
    let mut state = waiter.state();
    if state.is_over {
        return false;
    }
    state.is_over = true;
    let was_called = waiter.take_call() | std::mem::take(&mut state.is_running);
    drop(state);
    shared.hub.waiting.remove(&shared.hub.interest, waiter);
    if was_called {
        waiter.wait.keys.iter().for_each(|key| shared.hub.waiting.call(waiter.db, key, 0));
    }
    true
}

//! A connection that its owner has alone.

use crate::link::Link;
use crate::pool::Checkout;
use crate::request::{Any, Request};
use crate::words::Words;

/// A connection of the pool for its owner alone: commands may change its state, and go out one after the other or together.
///
/// It goes back to the pool when it is dropped, unless a request is still on it or a command was sent that changes its state
/// (SELECT, WATCH, CLIENT …): then it is closed.
pub struct Connection {
    checkout: Checkout,
    timeout_ms: u64,
}

impl Connection {
    pub(crate) fn new(checkout: Checkout, timeout_ms: u64) -> Connection {
        Connection { checkout, timeout_ms }
    }

    /// Any command by its name, as [`Client::cmd`](crate::Client::cmd). The connection is closed when it is dropped.
    pub fn cmd(&self, name: &str) -> Request<&Connection, Any, edgecask_core::resp::Value> {
        self.checkout.keep_from_others();
        Request::new(self, Words::new(name))
    }

    /// A request of words that are there already, as [`Connection::cmd`].
    pub fn request(&self, words: Words) -> Request<&Connection, Any, edgecask_core::resp::Value> {
        self.checkout.keep_from_others();
        Request::new(self, words)
    }

    pub(crate) fn keep_from_others(&self) {
        self.checkout.keep_from_others();
    }

    /// Its state is as it was: it may go back to the pool.
    pub(crate) fn give_back(&self) {
        self.checkout.allow_others();
    }

    pub(crate) fn link(&self) -> &Link {
        &self.checkout
    }

    pub(crate) fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }
}

//! Requests that another process runs for clients of this one.
//!
//! Writers of one key at several processes only meet each other in the cluster. So for some time after they have met, their requests go to
//! the owner of the key, where they share transactions like those of its own clients ([`crate::ordered`]).
//!
//! ```text
//! client -> requests -> Forward(number, ..) ---- link ----> a session of the owner runs them
//!                       the client goes on <---- link ---- Forwarded(number, replies)
//! ```
//!
//! If the link ends before the replies have come, nobody knows whether the requests have run.

use std::sync::Arc;

use parking_lot::Mutex;

use super::LinkId;
use crate::engine::Db;
use crate::resp::Protocol;
use crate::server::hub::Inbox;

/// As whom requests of a client of another process run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The database that the client has selected.
    pub db: Db,
    /// In which its replies are encoded.
    pub protocol: Protocol,
    /// The name of its user.
    pub user: Vec<u8>,
}

/// Requests of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// Its CLIENT ID, which is unique within its process.
    pub client: u64,
    /// As whom they run.
    pub visitor: Visitor,
    /// How many there are.
    pub count: u32,
    /// They, encoded one behind the other.
    pub requests: Vec<u8>,
}

/// What became of requests that were forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forwarded {
    /// They have run: their replies, one behind the other.
    Replied(Vec<u8>),
    /// They have not run, and are to run where they came from.
    Refused,
    /// Nobody knows.
    Lost,
}

/// Where what became of them is put for the client's session.
pub(crate) type Slot = Arc<Mutex<Option<Forwarded>>>;

/// Requests that are with a peer.
pub(super) struct Pending {
    pub(super) link: LinkId,
    slot: Slot,
    client: Arc<Inbox>,
}

impl Pending {
    pub(super) fn new(link: LinkId, client: Arc<Inbox>) -> (Pending, Slot) {
        let slot = Slot::default();
        (Pending { link, slot: slot.clone(), client }, slot)
    }

    /// They have ended: the client's session runs.
    pub(super) fn end(self, outcome: Forwarded) {
        *self.slot.lock() = Some(outcome);
        self.client.wake();
    }
}

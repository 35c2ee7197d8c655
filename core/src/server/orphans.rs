//! Commits that the engine had taken over and not ended when their connections ended: others must hear of them all the same.

use parking_lot::Mutex;

use super::feed::Entry;
use crate::engine::Ticket;

/// All of them, each with what joins the feed with it.
#[derive(Debug, Default)]
pub struct Orphans(Mutex<Vec<(Ticket, Entry)>>);

impl Orphans {
    /// Adds one.
    pub(crate) fn add(&self, ticket: Ticket, entry: Entry) {
        self.0.lock().push((ticket, entry));
    }

    /// Takes all of them out.
    pub(crate) fn take(&self) -> Vec<(Ticket, Entry)> {
        std::mem::take(&mut *self.0.lock())
    }
}

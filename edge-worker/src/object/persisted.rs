//! State that an object persists in rows beside its settings, so that it survives a sleep: the time of the last save, and the
//! positions of HSCAN and similar walks that REST requests began. The positions of sockets are part of their attachments.

use std::sync::atomic::Ordering;

use edgecask_core::server::Shared;

use super::Object;
use crate::host::Host;
use crate::limits::{WALKS_KEPT_BYTES, WALKS_KEPT_MAX};
use crate::storage::RowStorage;

/// The unix time in seconds of the last SAVE, or of the object's beginning: u64, little-endian.
const SAVE_TIME_NAME: &str = "saved-at";

/// Scan positions, as the core freezes them.
const WALKS_NAME: &str = "walks";

/// Restores the state that an earlier life has persisted; returns the time of the last save.
pub(super) fn restore<H: Host>(shared: &Shared, storage: &RowStorage<H>) -> Option<u64> {
    let walks = storage.state(WALKS_NAME).unwrap_or_default();
    shared.scan_positions.lock().thaw(&walks);
    let saved_at_s = u64::from_le_bytes(storage.state(SAVE_TIME_NAME)?.try_into().ok()?);
    shared.saved_at_s.store(saved_at_s, Ordering::Relaxed);
    Some(saved_at_s)
}

impl<H: Host> Object<H> {
    /// Persists the time of the last save, if it has changed.
    pub(super) fn persist_save_time(&mut self) {
        let saved_at_s = self.server.shared.saved_at_s.load(Ordering::Relaxed);
        if self.saved_at_s.replace(saved_at_s) != Some(saved_at_s) {
            self.storage.put_state(SAVE_TIME_NAME, &saved_at_s.to_le_bytes());
        }
    }

    /// Persists the positions of the latest walks.
    pub(super) fn persist_walks(&self) {
        let positions = self.server.shared.scan_positions.lock();
        let walks = positions.freeze(positions.latest().take(WALKS_KEPT_MAX), WALKS_KEPT_BYTES);
        self.storage.put_state(WALKS_NAME, &walks);
    }
}

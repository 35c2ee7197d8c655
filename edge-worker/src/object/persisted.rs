//! What an object keeps of its memory in rows, beside its settings, so that a sleep does not forget it: when it was last saved,
//! and where the walks of HSCAN and its like stand that requests began. Those of sockets are kept with the sockets.

use std::sync::atomic::Ordering;

use edgecask_core::server::Shared;

use super::Object;
use crate::host::Host;
use crate::limits::{WALKS_KEPT_BYTES, WALKS_KEPT_MAX};
use crate::storage::RowStorage;

/// The unix time in seconds of the last SAVE, or of the object's beginning: u64, little-endian.
const SAVE_TIME_NAME: &str = "saved-at";

/// Positions, as the core freezes them.
const WALKS_NAME: &str = "walks";

/// Has what an earlier life kept back; gives the time of the last save.
pub(super) fn recall<H: Host>(shared: &Shared, storage: &RowStorage<H>) -> Option<u64> {
    let walks = storage.own(WALKS_NAME).unwrap_or_default();
    shared.scan_positions.lock().thaw(&walks);
    let saved_at_s = u64::from_le_bytes(storage.own(SAVE_TIME_NAME)?.try_into().ok()?);
    shared.saved_at_s.store(saved_at_s, Ordering::Relaxed);
    Some(saved_at_s)
}

impl<H: Host> Object<H> {
    /// Keeps the time of the last save, if there was one since it was kept.
    pub(super) fn keep_save_time(&mut self) {
        let saved_at_s = self.server.shared.saved_at_s.load(Ordering::Relaxed);
        if self.saved_at_s.replace(saved_at_s) != Some(saved_at_s) {
            self.storage.put_own(SAVE_TIME_NAME, &saved_at_s.to_le_bytes());
        }
    }

    /// Keeps where the latest walks stand.
    pub(super) fn keep_walks(&self) {
        let positions = self.server.shared.scan_positions.lock();
        let walks = positions.freeze(positions.latest().take(WALKS_KEPT_MAX), WALKS_KEPT_BYTES);
        self.storage.put_own(WALKS_NAME, &walks);
    }
}

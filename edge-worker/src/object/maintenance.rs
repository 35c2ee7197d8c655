//! Background work on the store, on the object's alarm: collecting expired keys, evicting, merging, hints, garbage.

use std::sync::atomic::Ordering;

use edgecask_core::bitcask::Bitcask;
use edgecask_core::engine::{Engine, Reader, Scope};
use edgecask_core::executor::{Indexing, Room};
use edgecask_core::server::Server;

use super::Object;
use crate::host::Host;
use crate::limits::{
    CHECKPOINT_BYTES, EXPIRE_STEP_KEYS, EXPIRY_PERIOD_MS, GARBAGE_STEP, MAINTENANCE_DELAY_MS,
    MAINTENANCE_NEXT_MS, MERGE_STEP_BYTES,
};

/// So many records replayed at a start are worth hints for the next one.
const REPLAYED_MANY: u64 = 10_000;

/// A delta of an index with so many documents becomes a segment before the object rests: reading them again when it wakes would take
/// more than ten milliseconds.
const SEALED_DOCUMENTS_MIN: u32 = 256;

/// An event that finds memory short freezes a delta and stores it, and once more what became one meanwhile.
const STORE_STEPS: usize = 4;

/// When maintenance is next due, and the state of its work.
#[derive(Debug, Default)]
pub(super) struct Maintenance {
    pub(super) due_ms: Option<u64>,
    /// Log bytes that are covered by hints.
    hinted: u64,
    wants_hints: bool,
    was_merging: bool,
    /// Whether the next alarm may be one that an earlier life has set.
    is_fresh: bool,
}

impl Maintenance {
    /// Maintenance of a store that was opened now. An object that woke only to answer must not be kept awake.
    pub(super) fn after_start(replayed_records: u64, server: &Server<Bitcask>, now_ms: u64) -> Maintenance {
        let wants_hints = replayed_records >= REPLAYED_MANY;
        let due_ms = if wants_hints { Some(now_ms + MAINTENANCE_DELAY_MS) } else { next_ms(server, now_ms) };
        Maintenance { due_ms, wants_hints, is_fresh: true, ..Maintenance::default() }
    }

    /// The alarm has fired. If it woke the object, maintenance runs now instead of waiting for the next alarm.
    pub(super) fn on_alarm(&mut self, now_ms: u64) {
        if std::mem::take(&mut self.is_fresh) {
            self.due_ms = Some(now_ms);
        }
    }

    /// The log has grown, or searches have earned a merge. Where memory is short it does not wait: documents take less of it as segments.
    pub(super) fn on_work(&mut self, now_ms: u64, is_short: bool) {
        let soon_ms = now_ms + if is_short { MAINTENANCE_NEXT_MS } else { MAINTENANCE_DELAY_MS };
        self.due_ms = Some(self.due_ms.map_or(soon_ms, |due_ms| due_ms.min(soon_ms)));
    }
}

impl<H: Host> Object<H> {
    /// Makes segments of documents that are held in memory, which take less of it as such. An error means that the store is full or
    /// broken, which the next write reports.
    pub(super) fn store_documents(&mut self) {
        self.server.shared.search.seal_deltas(SEALED_DOCUMENTS_MIN);
        for _ in 0..STORE_STEPS {
            if !Indexing::store_step(&self.server).unwrap_or(false) {
                return;
            }
        }
    }

    /// Does a bounded step of each kind of work, if it is due.
    pub(super) fn maintain(&mut self, now_ms: u64) {
        if self.maintenance.due_ms.is_none_or(|due_ms| due_ms > now_ms) {
            return;
        }
        let (engine, shared) = (&self.server.engine, &self.server.shared);
        shared.sample_rates(now_ms);
        let mut has_more = false;
        // An error here means that the store is full or broken, which the next write reports.
        if shared.expires_actively.load(Ordering::Relaxed)
            && let Ok(expired) = self.expiry.step(&self.server, now_ms, EXPIRE_STEP_KEYS)
        {
            has_more |= expired.has_more && expired.keys > 0;
        }
        has_more |= self.eviction.step(&self.server, now_ms) == Room::Evicting;
        shared.evict_clients(now_ms);
        has_more |= engine.drain_garbage(GARBAGE_STEP) >= GARBAGE_STEP;
        // When a merge has ended, another one may be due.
        let is_merging = engine.merge_step(MERGE_STEP_BYTES).is_ok_and(|step| step.is_unfinished);
        has_more |= std::mem::replace(&mut self.maintenance.was_merging, is_merging) || is_merging;
        has_more |= engine.hint_step().unwrap_or(false);
        // What a sleep would lose of indexes is little: it is read again when the object wakes.
        self.server.shared.search.seal_deltas(SEALED_DOCUMENTS_MIN);
        has_more |= self.indexing.step(&self.server, now_ms).unwrap_or(false);
        let is_far = engine.appended() >= self.maintenance.hinted + CHECKPOINT_BYTES;
        if !has_more && (is_far || self.maintenance.wants_hints) {
            self.maintenance.hinted = engine.appended();
            self.maintenance.wants_hints = false;
            self.checkpoint(now_ms);
        }
        self.maintenance.due_ms =
            if has_more { Some(now_ms + MAINTENANCE_NEXT_MS) } else { next_ms(&self.server, now_ms) };
    }
}

/// When there may be work again though nothing is written: a key or an index goes.
fn next_ms(server: &Server<Bitcask>, now_ms: u64) -> Option<u64> {
    let expires = has_expiring(&server.engine, server.shared.settings.databases());
    let expiry_ms = expires.then_some(now_ms + EXPIRY_PERIOD_MS);
    let idle_ms = server.shared.search.idle_at_ms().map(|idle_ms| idle_ms.max(now_ms + MAINTENANCE_NEXT_MS));
    expiry_ms.into_iter().chain(idle_ms).min()
}

/// Whether a key of any database may expire.
fn has_expiring(engine: &Bitcask, databases: u32) -> bool {
    let Ok(mut guard) = engine.begin(Scope::Everything) else { return false };
    (0..databases).any(|db| guard.expiring_count(db).is_ok_and(|count| count > 0))
}

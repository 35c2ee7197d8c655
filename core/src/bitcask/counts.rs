//! Counters of an open store, for INFO and metrics. Nothing here decides anything.

use std::sync::atomic::{AtomicU64, Ordering};

use super::files::File;
use super::keydir::Shard;
use super::merge::Merge;
use super::{Bitcask, files};
use crate::engine::EngineError;

/// Counters since the store was opened, and the last counts of the keydir.
#[derive(Default)]
pub(super) struct Counts {
    merges: AtomicU64,
    /// Locks that transactions took which they had not asked for at their beginning.
    pub(super) lock_extensions: AtomicU64,
    merged_bytes: AtomicU64,
    /// Bytes that the merge under way has to read, and has read.
    merge_input_bytes: AtomicU64,
    merge_read_bytes: AtomicU64,
    keydir: Keydir,
}

/// The keydir, as far as it is counted without walking it.
#[derive(Default)]
struct Keydir {
    collections: AtomicU64,
    garbage: AtomicU64,
}

/// The same while it is being counted.
#[derive(Default)]
pub(super) struct KeydirCount {
    collections: u64,
    garbage: u64,
}

impl KeydirCount {
    /// Adds a shard.
    pub(super) fn add(&mut self, shard: &Shard) {
        self.collections += shard.collections.len() as u64;
        self.garbage += shard.garbage.len() as u64;
    }
}

impl Counts {
    /// Takes note of what there was in all shards.
    pub(super) fn note_keydir(&self, count: &KeydirCount) {
        self.keydir.collections.store(count.collections, Ordering::Relaxed);
        self.keydir.garbage.store(count.garbage, Ordering::Relaxed);
    }

    /// Takes note of a step that read and wrote so many bytes and left the merge so.
    pub(super) fn note_merge(&self, merge: &Merge, bytes: u64) {
        let (input_bytes, read_bytes) = merge.progress();
        let before = self.merge_input_bytes.swap(input_bytes, Ordering::Relaxed);
        self.merge_read_bytes.store(read_bytes, Ordering::Relaxed);
        self.merged_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before > 0 && matches!(merge, Merge::Idle) {
            self.merges.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A merge was given up.
    pub(super) fn forget_merge(&self) {
        self.merge_input_bytes.store(0, Ordering::Relaxed);
        self.merge_read_bytes.store(0, Ordering::Relaxed);
    }
}

impl Bitcask {
    /// Bytes of all datafiles, and those of them that are in use.
    pub fn space(&self) -> (u64, u64) {
        let files = self.log.files();
        let total = |count: fn(&File) -> u64| files.values().map(|file| count(file)).sum::<u64>();
        let used = total(File::len);
        (used, used.saturating_sub(total(File::dead)))
    }

    /// The same without the dead bytes that merge cannot free at the moment: those of datafiles that it cannot read, or for
    /// whose output there is no room.
    pub fn space_to_merge(&self) -> (u64, u64) {
        let room_bytes = self.log.free_for_merge().unwrap_or(u64::MAX);
        let (mut used, mut live) = (0, 0);
        for file in self.log.files().values() {
            let its_live = file.len().saturating_sub(file.dead());
            let is_stuck = file.is_damaged() || its_live > room_bytes;
            used += if is_stuck { its_live } else { file.len() };
            live += its_live;
        }
        (used, live)
    }

    /// The body of [`Admin::report`](crate::engine::Admin::report). Takes no shard's lock: its caller may hold them.
    pub(super) fn counted(&self) -> Vec<(&'static str, u64)> {
        let files = self.log.files();
        let total = |count: fn(&File) -> u64| files.values().map(|file| count(file)).sum::<u64>();
        let (len, dead) = (total(files::File::len), total(files::File::dead));
        let blobs = self.blobs.count();
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let merge_input_bytes = get(&self.counts.merge_input_bytes);
        let mut all = vec![
            ("datafiles", files.len() as u64),
            ("datafile_bytes", len),
            ("datafile_live_bytes", len.saturating_sub(dead)),
            ("datafile_dead_bytes", dead),
            ("datafile_tombstone_bytes", total(files::File::tombstones)),
            ("blobs", blobs.live),
            ("blob_bytes", blobs.live_bytes),
            ("blobs_dead", blobs.dead),
            ("log_appended_bytes", self.appended()),
            ("log_unsynced_bytes", self.appended().saturating_sub(self.synced())),
            ("log_syncs", self.log.syncs()),
            ("lock_extensions", get(&self.counts.lock_extensions)),
            ("log_read_only", u64::from(self.log.check_poison().is_err())),
            ("log_full", u64::from(matches!(self.log.refusal(), Some(EngineError::Full(_))))),
            ("merges", get(&self.counts.merges)),
            ("merged_bytes", get(&self.counts.merged_bytes)),
            ("merge_in_progress", u64::from(merge_input_bytes > 0)),
            ("merge_input_bytes", merge_input_bytes),
            ("merge_read_bytes", get(&self.counts.merge_read_bytes)),
            ("keydir_collections", get(&self.counts.keydir.collections)),
            ("keydir_garbage", get(&self.counts.keydir.garbage)),
        ];
        all.extend(self.scrub.facts());
        all
    }
}

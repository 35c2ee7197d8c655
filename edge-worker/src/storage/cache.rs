//! Chunks that were read or written lately. A chunk never changes, so a cached one is valid until the chunk is removed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::limits::CACHE_MAX_BYTES;

/// The memory of a cached chunk besides its bytes, about.
const ENTRY_BYTES: usize = 96;

/// A bounded number of chunks; chunks that were not read since they were cached are evicted first (second chance).
#[derive(Default)]
pub(super) struct Cache {
    chunks: BTreeMap<u64, Cached>,
    /// Numbers in the order of eviction.
    order: VecDeque<u64>,
    bytes: usize,
}

struct Cached {
    bytes: Arc<[u8]>,
    was_read: bool,
}

impl Cache {
    /// The chunk that holds the byte with this number, and its own number.
    pub(super) fn get(&mut self, at: u64) -> Option<(u64, Arc<[u8]>)> {
        let (number, cached) = self.chunks.range_mut(..=at).next_back()?;
        if at - number >= cached.bytes.len() as u64 {
            return None;
        }
        cached.was_read = true;
        Some((*number, cached.bytes.clone()))
    }

    /// Adds a chunk.
    pub(super) fn put(&mut self, number: u64, bytes: Arc<[u8]>) {
        self.bytes += bytes.len() + ENTRY_BYTES;
        if let Some(before) = self.chunks.insert(number, Cached { bytes, was_read: false }) {
            self.bytes -= before.bytes.len() + ENTRY_BYTES;
        } else {
            self.order.push_back(number);
        }
        while self.bytes > CACHE_MAX_BYTES
            && let Some(number) = self.order.pop_front()
        {
            let Some(cached) = self.chunks.get_mut(&number) else { continue };
            if std::mem::take(&mut cached.was_read) {
                self.order.push_back(number);
            } else if let Some(gone) = self.chunks.remove(&number) {
                self.bytes -= gone.bytes.len() + ENTRY_BYTES;
            }
        }
    }

    /// Forgets the chunks with numbers from `from` to below `to`.
    pub(super) fn remove(&mut self, from: u64, to: u64) {
        let numbers: Vec<u64> = self.chunks.range(from..to).map(|(number, _)| *number).collect();
        for number in &numbers {
            if let Some(gone) = self.chunks.remove(number) {
                self.bytes -= gone.bytes.len() + ENTRY_BYTES;
            }
        }
        if !numbers.is_empty() {
            self.order.retain(|number| !(from..to).contains(number));
        }
    }
}

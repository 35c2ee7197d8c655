//! Chunks that were read or written lately. They never change, so what is kept is right until the chunk is removed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::limits::CACHE_MAX_BYTES;

/// What a kept chunk costs besides its bytes, about.
const ENTRY_BYTES: usize = 96;

/// A bounded number of chunks; those that nobody asked for go first.
#[derive(Default)]
pub(super) struct Cache {
    chunks: BTreeMap<u64, Kept>,
    /// In the order in which they may go.
    order: VecDeque<u64>,
    bytes: usize,
}

struct Kept {
    bytes: Arc<[u8]>,
    was_read: bool,
}

impl Cache {
    /// The chunk that holds the byte with this number, and its own number.
    pub(super) fn get(&mut self, at: u64) -> Option<(u64, Arc<[u8]>)> {
        let (number, kept) = self.chunks.range_mut(..=at).next_back()?;
        if at - number >= kept.bytes.len() as u64 {
            return None;
        }
        kept.was_read = true;
        Some((*number, kept.bytes.clone()))
    }

    /// Keeps a chunk.
    pub(super) fn put(&mut self, number: u64, bytes: Arc<[u8]>) {
        self.bytes += bytes.len() + ENTRY_BYTES;
        if let Some(before) = self.chunks.insert(number, Kept { bytes, was_read: false }) {
            self.bytes -= before.bytes.len() + ENTRY_BYTES;
        } else {
            self.order.push_back(number);
        }
        while self.bytes > CACHE_MAX_BYTES
            && let Some(number) = self.order.pop_front()
        {
            let Some(kept) = self.chunks.get_mut(&number) else { continue };
            if std::mem::take(&mut kept.was_read) {
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

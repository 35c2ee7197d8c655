//! Counts what a graph takes in memory.

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashTable;

use super::{Result, Unable};
use crate::ffi::{heap_bytes, heap_limit};
use crate::limits::GRAPH_BYTES_MAX;
use crate::shared::has_memory_to_grow;

/// Bytes that all graphs together hold: SQLite does not know of them, and what it may have is bounded together with them.
static HELD_BYTES: AtomicU64 = AtomicU64::new(0);

/// Bytes of a list's first elements.
const FIRST_BYTES: usize = 256;

/// A table that holds no more need not ask what is left: most hold some nodes.
const SMALL_BYTES: usize = 16 * 1024;

/// What one table holds.
#[derive(Debug, Default)]
pub(super) struct Memory {
    held_bytes: usize,
}

impl Memory {
    /// Counts more bytes.
    ///
    /// # Errors
    /// The graph would take more than it may, or there are not so many.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        let held_bytes = self.held_bytes.saturating_add(bytes);
        if held_bytes > GRAPH_BYTES_MAX {
            let most = GRAPH_BYTES_MAX >> 20;
            return Err(Unable::text(format!("the graph takes more than {most} MiB of memory")));
        }
        if held_bytes > SMALL_BYTES {
            let limit = heap_limit();
            let all = HELD_BYTES.load(Ordering::Relaxed).saturating_add(heap_bytes());
            if !has_memory_to_grow(bytes) || (limit > 0 && all.saturating_add(bytes as u64) > limit) {
                return Err(Unable::NoMemory);
            }
        }
        self.held_bytes = held_bytes;
        HELD_BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    /// So many elements more for a list of this length: it doubles.
    fn step<T>(len: usize) -> usize {
        len.max(FIRST_BYTES / size_of::<T>().max(1)).max(1)
    }

    /// Appends to a list.
    ///
    /// # Errors
    /// As for [`take`](Self::take).
    pub fn push<T>(&mut self, list: &mut Vec<T>, value: T) -> Result<()> {
        if list.len() == list.capacity() {
            let more = Memory::step::<T>(list.len());
            self.take(more * size_of::<T>())?;
            list.try_reserve_exact(more).map_err(|_| Unable::NoMemory)?;
        }
        list.push(value);
        Ok(())
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// As for [`take`](Self::take).
    pub fn extend(&mut self, list: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
        if list.capacity() - list.len() < bytes.len() {
            let more = Memory::step::<u8>(list.len()).max(bytes.len());
            self.take(more)?;
            list.try_reserve_exact(more).map_err(|_| Unable::NoMemory)?;
        }
        list.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds to a heap.
    ///
    /// # Errors
    /// As for [`take`](Self::take).
    pub fn push_heap<T: Ord>(&mut self, heap: &mut BinaryHeap<T>, value: T) -> Result<()> {
        if heap.len() == heap.capacity() {
            let more = Memory::step::<T>(heap.len());
            self.take(more * size_of::<T>())?;
            heap.try_reserve_exact(more).map_err(|_| Unable::NoMemory)?;
        }
        heap.push(value);
        Ok(())
    }

    /// Has room for one more in a table of hashes.
    ///
    /// # Errors
    /// As for [`take`](Self::take).
    pub fn reserve<T>(&mut self, table: &mut HashTable<T>, hash: impl Fn(&T) -> u64) -> Result<()> {
        if table.len() == table.capacity() {
            let more = Memory::step::<T>(table.len());
            // A slot has a byte beside it, and an eighth of them stay free.
            self.take(more * (size_of::<T>() + 1) * 8 / 7)?;
            table.try_reserve(more, hash).map_err(|_| Unable::NoMemory)?;
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        HELD_BYTES.fetch_sub(self.held_bytes as u64, Ordering::Relaxed);
    }
}

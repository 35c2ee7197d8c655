//! Whether the store is still being read, and how far: a home may serve connections before it has opened its store.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The state of loading, as INFO tells of it.
#[derive(Debug, Default)]
pub struct Loading {
    is_on: AtomicBool,
    began_at_ms: AtomicU64,
    total_bytes: AtomicU64,
    loaded_bytes: AtomicU64,
}

impl Loading {
    /// From now on commands that need data are refused. So many bytes are to be read.
    pub fn begin(&self, total_bytes: u64, now_ms: u64) {
        self.began_at_ms.store(now_ms, Ordering::Relaxed);
        self.total_bytes.store(total_bytes, Ordering::Relaxed);
        self.is_on.store(true, Ordering::Release);
    }

    /// So many bytes are done by now.
    pub fn reached(&self, loaded_bytes: u64) {
        self.loaded_bytes.store(loaded_bytes, Ordering::Relaxed);
    }

    /// All commands run from now on.
    pub fn end(&self) {
        self.is_on.store(false, Ordering::Release);
    }

    /// Whether commands that need data are refused.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Unix time in milliseconds of the beginning, bytes to read, and bytes done.
    pub fn progress(&self) -> (u64, u64, u64) {
        let get = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (get(&self.began_at_ms), get(&self.total_bytes), get(&self.loaded_bytes))
    }
}

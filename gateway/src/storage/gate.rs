//! A lock for state that is read on every request and replaced a few times in its life.
//!
//! Each slot holds its own copy of the state behind its own lock, on its own cache line, and a thread always uses the
//! same slot: readers on different processors do not slow each other down. A writer holds every slot while it replaces the
//! state, so that no reader is left anywhere.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How many readers can enter without sharing a cache line. Costs 64 bytes each, per open file.
const SLOTS: usize = 8;

static NEXT_SLOT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static SLOT: usize = NEXT_SLOT.fetch_add(1, Ordering::Relaxed) % SLOTS;
}

#[repr(align(64))]
struct Slot<T>(RwLock<T>);

/// State with many readers and a rare writer.
pub struct Gate<T> {
    slots: [Slot<T>; SLOTS],
}

/// Exclusive access to the gate.
pub struct Exclusive<'g, T> {
    slots: [RwLockWriteGuard<'g, T>; SLOTS],
}

impl<T: Clone> Gate<T> {
    /// A gate around `state`.
    pub fn new(state: T) -> Gate<T> {
        Gate { slots: std::array::from_fn(|_| Slot(RwLock::new(state.clone()))) }
    }

    /// Enters as a reader. A thread that is inside may enter again.
    pub fn enter(&self) -> RwLockReadGuard<'_, T> {
        // A thread without its local storage is ending; any slot will do.
        let slot = SLOT.try_with(|slot| *slot).unwrap_or(0);
        self.slots[slot].0.read_recursive()
    }

    /// Waits until all readers have left, and keeps new ones out. Slots are taken in order, so two writers cannot deadlock;
    /// a thread that is inside must not call it.
    pub fn close(&self) -> Exclusive<'_, T> {
        Exclusive { slots: std::array::from_fn(|slot| self.slots[slot].0.write()) }
    }
}

impl<T: Clone> Exclusive<'_, T> {
    /// Replaces the state for all later readers.
    pub fn replace(&mut self, state: &T) {
        self.slots.iter_mut().for_each(|slot| slot.clone_from(state));
    }
}

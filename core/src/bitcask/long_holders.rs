//! Shards that one transaction keeps locked for long, and the transactions that wait for these.
//!
//! A transaction that takes its time marks its shards. Another one that finds a shard locked looks at the mark: without one
//! the lock is free within microseconds, and its thread waits for it. With one the thread has better things to do: the
//! transaction leaves a waker here, and is begun again when the holder has ended.
//!
//! Holders that overlap could keep one that waits for several shards waiting without end. So one that was woken in vain some
//! times has precedence: a transaction that is going to hold one of its shards for long lets it pass.
//!
//! Why no wake-up is lost: a holder takes its marks off, unlocks its shards, and only then wakes those who wait. One that waits is
//! in the list before it tries the locks for the last time. If the holder has looked at the list before, its locks were
//! free before that try; if it looks later, it finds the waker.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

#[cfg(not(target_arch = "wasm32"))]
use parking_lot::Condvar;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use super::Bitcask;
use super::keydir::{SHARDS, Shard};
use crate::engine::Ticket;
#[cfg(not(target_arch = "wasm32"))]
use crate::limits::{LOCK_LOOK_PERIOD, PRECEDENCE_PERIOD};

/// Locked shards with their numbers.
pub(super) type Locked<'s> = SmallVec<[(usize, MutexGuard<'s, Shard>); 2]>;

/// So many tries in vain give precedence: the first ones are usual where several wait for the same holder.
const TRIES_IN_VAIN: u32 = 3;

/// Shards, a bit each.
pub(super) type ShardSet = u64;

const _: () = assert!(SHARDS <= ShardSet::BITS as usize);

/// The marks and the list. On a cache line of its own: the marks are looked at by every thread that meets a locked shard.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct LongHolders {
    /// Invariant: a bit is set only while its shard is locked, by the transaction that has set it.
    held: AtomicU64,
    /// The shards of those that have precedence.
    preceded: AtomicU64,
    /// The shards of all that wait.
    waited: AtomicU64,
    waiting: Mutex<Waiting>,
    /// Tells those that let others pass that a holder has ended, or that one which had precedence has its locks.
    #[cfg(not(target_arch = "wasm32"))]
    passed: Condvar,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    /// Bounded by the number of sessions: each waits for one transaction at most.
    by_ticket: BTreeMap<Ticket, Waiter>,
}

struct Waiter {
    shards: ShardSet,
    waker: Waker,
    /// How often it has tried and found one of them locked.
    in_vain: u32,
}

impl Waiter {
    fn has_precedence(&self) -> bool {
        self.in_vain >= TRIES_IN_VAIN
    }

    /// Whether it has precedence over one that is about to hold these shards.
    #[cfg(not(target_arch = "wasm32"))]
    fn precedes(&self, shards: ShardSet) -> bool {
        self.has_precedence() && self.shards & shards != 0
    }
}

impl LongHolders {
    /// The caller has locked these shards and keeps them for long.
    pub(super) fn hold(&self, shards: ShardSet) {
        self.held.fetch_or(shards, Ordering::Release);
    }

    /// The caller is about to unlock the shards that it has marked.
    pub(super) fn release(&self, shards: ShardSet) {
        self.held.fetch_and(!shards, Ordering::Release);
    }

    /// Whether a shard is kept for long.
    fn is_held(&self, at: usize) -> bool {
        self.held.load(Ordering::Acquire) >> at & 1 == 1
    }

    /// Has the waker woken whenever one of these shards may be free, until the ticket is forgotten.
    pub(super) fn wait(&self, shards: ShardSet, waker: Waker) -> Ticket {
        let mut waiting = self.waiting.lock();
        waiting.last += 1;
        let ticket = Ticket(waiting.last);
        waiting.by_ticket.insert(ticket, Waiter { shards, waker, in_vain: 0 });
        self.count_waiters(&waiting);
        ticket
    }

    /// One that waits has tried again and must go on waiting.
    #[cold]
    pub(super) fn note_in_vain(&self, ticket: Ticket) {
        let mut waiting = self.waiting.lock();
        if let Some(waiter) = waiting.by_ticket.get_mut(&ticket) {
            waiter.in_vain = waiter.in_vain.saturating_add(1);
        }
        self.count_preceded(&waiting);
    }

    /// Ends what [`LongHolders::wait`] began.
    pub(super) fn forget(&self, ticket: Ticket) {
        let mut waiting = self.waiting.lock();
        if waiting.by_ticket.remove(&ticket).is_some() {
            self.count_preceded(&waiting);
            self.count_waiters(&waiting);
            #[cfg(not(target_arch = "wasm32"))]
            self.passed.notify_all();
        }
    }

    fn count_waiters(&self, waiting: &Waiting) {
        let all = waiting.by_ticket.values().fold(0, |all, waiter| all | waiter.shards);
        self.waited.store(all, Ordering::Release);
    }

    /// Whether somebody waits for one of these shards.
    #[inline]
    pub(super) fn is_waited_for(&self, shards: ShardSet) -> bool {
        self.waited.load(Ordering::Acquire) & shards != 0
    }

    /// Keeps the calling thread, which has just unlocked these shards, until all have passed that waited for one of them. One that
    /// does not come is not waited for.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn let_all_pass(&self, shards: ShardSet) {
        let mut waiting = self.waiting.lock();
        let newest = waiting.last;
        let waits = |waiting: &Waiting| {
            waiting.by_ticket.iter().any(|(ticket, waiter)| ticket.0 <= newest && waiter.shards & shards != 0)
        };
        while waits(&waiting) {
            if self.passed.wait_for(&mut waiting, PRECEDENCE_PERIOD).timed_out() {
                break;
            }
        }
    }

    /// Without threads nobody could pass.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn let_all_pass(&self, _shards: ShardSet) {}

    fn count_preceded(&self, waiting: &Waiting) {
        let preceding = waiting.by_ticket.values().filter(|waiter| waiter.has_precedence());
        self.preceded.store(preceding.fold(0, |all, waiter| all | waiter.shards), Ordering::Release);
    }

    /// Keeps the calling thread, which is about to hold these shards for long and holds none yet, until those that have
    /// precedence have had them. One that does not come for locks that are free loses it: its session may be waiting for its
    /// peer.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn let_pass(&self, shards: ShardSet) {
        if self.preceded.load(Ordering::Acquire) & shards == 0 {
            return;
        }
        let mut waiting = self.waiting.lock();
        loop {
            let held = self.held.load(Ordering::Acquire);
            let mut preceding =
                waiting.by_ticket.values().filter(|waiter| waiter.precedes(shards)).peekable();
            if preceding.peek().is_none() {
                return;
            }
            let may_come = preceding.all(|waiter| waiter.shards & held == 0);
            if self.passed.wait_for(&mut waiting, PRECEDENCE_PERIOD).timed_out() && may_come {
                break;
            }
        }
        let late = waiting.by_ticket.values_mut().filter(|waiter| waiter.precedes(shards));
        late.for_each(|waiter| waiter.in_vain = 0);
        self.count_preceded(&waiting);
    }

    /// Without threads nobody could pass.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn let_pass(&self, _shards: ShardSet) {}

    /// Wakes those that wait for one of these shards. The caller has unlocked them.
    pub(super) fn wake(&self, shards: ShardSet) {
        let wakers: Vec<Waker> = {
            let waiting = self.waiting.lock();
            let concerned = waiting.by_ticket.values().filter(|waiter| waiter.shards & shards != 0);
            #[cfg(not(target_arch = "wasm32"))]
            self.passed.notify_all();
            concerned.map(|waiter| waiter.waker.clone()).collect()
        };
        // Without the lock: a waker takes locks of its own.
        wakers.iter().for_each(Waker::wake_by_ref);
    }
}

impl Bitcask {
    /// Locks a shard; None if a transaction keeps it for long.
    #[inline]
    pub(super) fn lock_soon(&self, at: usize) -> Option<MutexGuard<'_, Shard>> {
        match self.shards[at].try_lock() {
            None => self.lock_contended(at),
            free => free,
        }
    }

    /// Waits for a locked shard, in short turns, since its holder may turn out to keep it for long meanwhile.
    #[cold]
    #[cfg(not(target_arch = "wasm32"))]
    fn lock_contended(&self, at: usize) -> Option<MutexGuard<'_, Shard>> {
        loop {
            if self.long_holders.is_held(at) {
                return None;
            }
            if let Some(shard) = self.shards[at].try_lock_for(LOCK_LOOK_PERIOD) {
                return Some(shard);
            }
        }
    }

    /// Without threads nobody else could unlock it, and there is no clock.
    #[cold]
    #[cfg(target_arch = "wasm32")]
    fn lock_contended(&self, at: usize) -> Option<MutexGuard<'_, Shard>> {
        (!self.long_holders.is_held(at)).then(|| self.shards[at].lock())
    }

    /// Locks shards, by number and each once, in this order; None, and none of them is locked, if one is kept for long.
    pub(super) fn lock_all_soon(&self, wanted: &[usize]) -> Option<Locked<'_>> {
        wanted.iter().map(|at| self.lock_soon(*at).map(|shard| (*at, shard))).collect()
    }
}

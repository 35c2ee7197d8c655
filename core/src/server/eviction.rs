//! What a server knows of its memory: how much of it connections take, whether there is too much, and which keys are the
//! next to go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::settings::Policy;
use crate::engine::Db;
use crate::limits::EVICTION_POOL_KEYS;

/// The memory of a server, the store's own aside.
#[derive(Debug)]
pub struct Memory {
    /// Bytes that connections take, as they said last.
    pub clients_bytes: Arc<AtomicU64>,
    /// Keys that went to make room.
    pub evicted_keys: AtomicU64,
    /// Connections that were closed to make room.
    pub evicted_clients: AtomicU64,
    /// Unix time in milliseconds since when there has been too much; 0 if there is not.
    exceeded_since_ms: AtomicU64,
    /// For how many milliseconds there was too much before that.
    exceeded_ms: AtomicU64,
    /// The next keys to go.
    pub(crate) pool: Mutex<EvictionPool>,
}

impl Memory {
    /// Nothing is in use. The seed decides which keys are looked at.
    pub(super) fn new(seed: u64) -> Memory {
        Memory {
            clients_bytes: Arc::default(),
            evicted_keys: AtomicU64::new(0),
            evicted_clients: AtomicU64::new(0),
            exceeded_since_ms: AtomicU64::new(0),
            exceeded_ms: AtomicU64::new(0),
            pool: Mutex::new(EvictionPool {
                candidates: Vec::new(),
                policy: None,
                last_db: 0,
                random: fastrand::Rng::with_seed(seed),
            }),
        }
    }

    /// Notes whether there is too much.
    pub(crate) fn note_exceeded(&self, is_exceeded: bool, now_ms: u64) {
        let since_ms = self.exceeded_since_ms.load(Ordering::Relaxed);
        if is_exceeded == (since_ms > 0) {
            return;
        }
        let since = if is_exceeded { now_ms.max(1) } else { 0 };
        let swapped =
            self.exceeded_since_ms.compare_exchange(since_ms, since, Ordering::Relaxed, Ordering::Relaxed);
        if !is_exceeded && swapped.is_ok() {
            self.exceeded_ms.fetch_add(now_ms.saturating_sub(since_ms), Ordering::Relaxed);
        }
    }

    /// Milliseconds for which there has been too much: since the start, and of these the ones that have not ended.
    pub fn exceeded_ms(&self, now_ms: u64) -> (u64, u64) {
        let present = match self.exceeded_since_ms.load(Ordering::Relaxed) {
            0 => 0,
            since_ms => now_ms.saturating_sub(since_ms),
        };
        (self.exceeded_ms.load(Ordering::Relaxed) + present, present)
    }

    /// Sets to zero what CONFIG RESETSTAT does.
    pub(super) fn reset(&self) {
        for counter in [&self.evicted_keys, &self.evicted_clients, &self.exceeded_since_ms, &self.exceeded_ms]
        {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

/// A key that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The larger, the sooner it goes.
    pub(crate) rank: u64,
    pub(crate) db: Db,
    pub(crate) key: Vec<u8>,
}

/// The best candidates of all that were looked at lately, as in Redis: an order by a few keys looked at for each that goes
/// comes close to the order of all keys if the runners-up are remembered.
#[derive(Debug)]
pub(crate) struct EvictionPool {
    /// Ascending by rank.
    candidates: Vec<Candidate>,
    /// The policy by which they were ranked.
    policy: Option<Policy>,
    /// The database from which a key went last.
    pub(crate) last_db: Db,
    pub(crate) random: fastrand::Rng,
}

impl EvictionPool {
    /// Forgets candidates that another policy has ranked.
    pub(crate) fn follow(&mut self, policy: Policy) {
        if self.policy.replace(policy) != Some(policy) {
            self.candidates.clear();
        }
    }

    /// Takes a key, unless it is full and all the others are to go before it.
    pub(crate) fn offer(&mut self, rank: u64, db: Db, key: &[u8]) {
        let mut at = self.candidates.partition_point(|candidate| candidate.rank < rank);
        if self.candidates.len() >= EVICTION_POOL_KEYS {
            if at == 0 {
                return;
            }
            self.candidates.remove(0);
            at -= 1;
        }
        self.candidates.insert(at, Candidate { rank, db, key: key.to_vec() });
    }

    /// Takes the next key to go out.
    pub(crate) fn take(&mut self) -> Option<Candidate> {
        self.candidates.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::settings::First;

    #[test]
    fn worse_candidate_goes_first() {
        let memory = Memory::new(1);
        let mut pool = memory.pool.lock();
        for rank in [5, 9, 1, 7, 3, 2, 8].into_iter().chain(20..30) {
            pool.offer(rank, 0, &[rank as u8]);
        }
        // One of 17 found no place: the worst.
        let ranks: Vec<u64> = std::iter::from_fn(|| pool.take()).map(|candidate| candidate.rank).collect();
        assert_eq!(ranks, [29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 9, 8, 7, 5, 3, 2]);
    }

    #[test]
    fn candidate_of_another_policy_goes() {
        let memory = Memory::new(1);
        let mut pool = memory.pool.lock();
        let policy = Policy { only_expiring: true, first: First::LeastRecent };
        pool.follow(policy);
        pool.offer(1, 0, b"a");
        pool.follow(policy);
        assert!(pool.take().is_some());
        pool.offer(1, 0, b"a");
        pool.follow(Policy { only_expiring: false, ..policy });
        assert_eq!(pool.take(), None);
    }

    #[test]
    fn time_with_too_much_memory_is_lost() {
        let memory = Memory::new(1);
        memory.note_exceeded(false, 50);
        memory.note_exceeded(true, 100);
        memory.note_exceeded(true, 130);
        assert_eq!(memory.exceeded_ms(150), (50, 50));
        memory.note_exceeded(false, 160);
        memory.note_exceeded(true, 200);
        assert_eq!(memory.exceeded_ms(205), (65, 5));
        memory.reset();
        assert_eq!(memory.exceeded_ms(300), (0, 0));
    }
}
